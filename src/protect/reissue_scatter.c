// Reissue for programs that scatter: a result goes to a place that the program has computed (the paper's future work, section 4.1).
//
// A full/empty bit of a word of the frame is of no use here: it does not say which point has written the word, a wrong address leaves a wrong result where nobody else
// writes, and several points may write one word by right. So the toggled bits are those of the points that compute, and the frame is written only when both copies
// agree. The first result of a point sets its bit and waits in a buffer (reissue.held) with its address. The second is compared with it, value and address, and clears
// the bit. If all is equal it is written. If not, the point goes back. So does one whose place in the buffer another point takes. A bit that is set at the end has lost a
// result: its point is issued again.
#include "protect/reissue.h"

// Its place in the buffer: points that are under way together follow one another in the order of the rasteriser.
static uint64_t entry_of(const Reissue *own, const MergeEvent *event) {
  uint64_t quad = (uint64_t)(event->from_y / 2) * ((event->width + 1) / 2) + event->from_x / 2;
  return (quad * 4 + event->from_y % 2 * 2 + event->from_x % 2) % own->entries;
}

static bool send_back(Hook *hook, HookMachine *machine, const MergeEvent *event, uint32_t x, uint32_t y) {
  MergeEvent source = *event;
  source.x = x;
  source.y = y;
  return reissue_send(hook, machine, &source);
}

// A place for the first result of a point. The point whose result waits there goes back; one without a bit is left over from a fault. False: not now.
static bool make_room(Hook *hook, HookMachine *machine, const MergeEvent *event, uint64_t entry) {
  const Reissue *own = hook->own;
  if (reissue_get(machine, own->held_valid, entry, 0) == 0) return true;
  uint64_t x = reissue_get(machine, own->held_point, entry, 0), y = reissue_get(machine, own->held_point, entry, 1),
           point = y * event->width + x;
  if (x >= event->width || point >= own->points || !reissue_bit(machine, own->full, point)) return true;
  if (!send_back(hook, machine, event, (uint32_t)x, (uint32_t)y)) return false;
  reissue_set_bit(machine, own->full, point, false);
  return true;
}

static bool is_same(const Reissue *own, const HookMachine *machine, const MergeEvent *event, uint64_t entry) {
  bool same = reissue_get(machine, own->held_word, entry, 0) == event->x && reissue_get(machine, own->held_word, entry, 1) == event->y;
  for (uint32_t i = 0; i < 4 && same; i++) same = reissue_get(machine, own->held, entry, i) == event->value[i];
  return same;
}

static bool waits_there(const Reissue *own, const HookMachine *machine, const MergeEvent *event, uint64_t entry) {
  return reissue_get(machine, own->held_valid, entry, 0) != 0 && reissue_get(machine, own->held_point, entry, 0) == event->from_x &&
         reissue_get(machine, own->held_point, entry, 1) == event->from_y;
}

static void keep(const Reissue *own, const HookMachine *machine, const MergeEvent *event, uint64_t entry) {
  for (uint32_t i = 0; i < 4; i++) reissue_set(machine, own->held, entry, i, event->value[i]);
  reissue_set(machine, own->held_word, entry, 0, event->x);
  reissue_set(machine, own->held_word, entry, 1, event->y);
  reissue_set(machine, own->held_point, entry, 0, event->from_x);
  reissue_set(machine, own->held_point, entry, 1, event->from_y);
  reissue_set(machine, own->held_valid, entry, 0, 1);
}

Verdict reissue_scatter(Hook *hook, HookMachine *machine, const MergeEvent *event) {
  const Reissue *own = hook->own;
  uint64_t point = (uint64_t)event->from_y * event->width + event->from_x, entry = entry_of(own, event);
  if (point >= own->points) return VERDICT_DROP; // a fault: there is no such point
  if (!reissue_bit(machine, own->full, point)) {
    if (!make_room(hook, machine, event, entry)) return VERDICT_HOLD;
    keep(own, machine, event, entry);
    reissue_set_bit(machine, own->full, point, true);
    return VERDICT_DROP;
  }
  bool is_there = waits_there(own, machine, event, entry), same = is_there && is_same(own, machine, event, entry);
  if (!same && !send_back(hook, machine, event, event->from_x, event->from_y)) return VERDICT_HOLD;
  hook_tally(machine, TALLY_REISSUE_COMPARED, 1);
  if (is_there) reissue_set(machine, own->held_valid, entry, 0, 0);
  reissue_set_bit(machine, own->full, point, false);
  return same ? VERDICT_PASS : VERDICT_DROP;
}

void reissue_scatter_ends(const Reissue *own, const HookMachine *machine) {
  for (uint32_t i = 0; i < own->entries; i++) reissue_set(machine, own->held_valid, i, 0, 0);
}
