// Reissue with three copies: the first result is in the frame. A second that differs waits in a small buffer for the third, and the majority wins. Three
// different ones, or a second that finds no place, send the point back as two copies do.
#include "protect/reissue.h"

enum { VOTE_TAKEN = 1 << 24 };

static bool find_vote(const Reissue *own, const HookMachine *machine, uint64_t wanted, uint64_t *entry) {
  for (*entry = 0; *entry < own->votes; ++*entry) {
    if (reissue_get(machine, own->vote_point, *entry, 0) == wanted) return true;
  }
  return false;
}

static bool keep_second(const Reissue *own, const HookMachine *machine, uint64_t point, const uint32_t value[4]) {
  uint64_t entry;
  if (!find_vote(own, machine, 0, &entry)) return false;
  reissue_set(machine, own->vote_point, entry, 0, VOTE_TAKEN | point);
  for (uint32_t i = 0; i < 4; i++) reissue_set(machine, own->vote, entry, i, value[i]);
  return true;
}

static Verdict send_back(Hook *hook, HookMachine *machine, const MergeEvent *event, uint64_t point) {
  const Reissue *own = hook->own;
  if (!reissue_send(hook, machine, event)) return VERDICT_HOLD;
  reissue_set_bit(machine, own->full, point, false);
  reissue_set_bit(machine, own->second, point, false);
  return VERDICT_DROP;
}

Verdict reissue_vote(Hook *hook, HookMachine *machine, MergeEvent *event, uint64_t point) {
  const Reissue *own = hook->own;
  bool same = memcmp(event->value, event->old, 4 * sizeof *event->old) == 0;
  uint64_t entry;
  if (!reissue_bit(machine, own->second, point)) {
    if (!same && !keep_second(own, machine, point, event->value)) return send_back(hook, machine, event, point);
    hook_tally(machine, TALLY_REISSUE_COMPARED, 1);
    reissue_set_bit(machine, own->second, point, true);
    return VERDICT_DROP;
  }
  bool disagreed = find_vote(own, machine, VOTE_TAKEN | point, &entry);
  bool as_second = disagreed;
  for (uint32_t i = 0; i < 4 && as_second; i++) as_second = reissue_get(machine, own->vote, entry, i) == event->value[i];
  if (disagreed && !same && !as_second) { // three different ones
    Verdict verdict = send_back(hook, machine, event, point);
    if (verdict == VERDICT_DROP) reissue_set(machine, own->vote_point, entry, 0, 0);
    return verdict;
  }
  hook_tally(machine, TALLY_REISSUE_COMPARED, 1);
  if (disagreed || !same) {
    ++*machine->corrected;
    hook_tally(machine, TALLY_REISSUE_OUTVOTED, 1);
  }
  if (disagreed) reissue_set(machine, own->vote_point, entry, 0, 0);
  return as_second ? VERDICT_PASS : VERDICT_DROP; // the first is in the frame already
}
