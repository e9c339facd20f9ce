// Partial-RISE: a diverged warp lends its idle lanes to threads of another warp that is about to issue the same instruction. Section 3.2; see rise.c.
//
// The first warp, going round from the one that issues, that is ready at the same instruction and has a thread whose home is an idle lane is helped: all
// such threads are computed as shadows beside the diverged warp, on their own lanes. The helped warp issues next and is compared with them. Threads are
// shuffled over the lanes of their warp when it begins, so that two warps whose active threads have the same numbers do not need the same lanes.
// Where a block has less threads than a warp, idle lanes compute threads of the warp itself a second time.
#include "protect/rise.h"

Verdict rise_home(Hook *hook, HookMachine *machine, HomeEvent *event) {
  const Rise *own = hook->own;
  (void)machine;
  uint64_t index = event->who->launch << 40 ^ event->who->block << 8 ^ event->index;
  for (uint32_t left = WARP_LANES; left > 1; left--) { // Fisher and Yates
    uint32_t other = (uint32_t)random_below(random_draw(own->options.seed, index, left), left);
    uint8_t lane = event->home[left - 1];
    event->home[left - 1] = event->home[other];
    event->home[other] = lane;
  }
  return VERDICT_PASS;
}

// ---- Within the warp ---------------------------------------------------------------------------------------

static void double_threads(const Rise *own, const HookMachine *machine, PlanEvent *event) {
  LanePart *part = event->part;
  uint32_t threads = part->filled & ~part->shadow, idle = ~part->filled;
  PartOwner self = {.issue = event->who->issue, .warp = event->who->warp, .block_slot = event->who->block_slot};
  if (threads == 0 || !redundancy_expect(&own->redundancy, machine, event->who->sm, &self)) return;
  while (threads != 0 && idle != 0) {
    uint32_t from = (uint32_t)__builtin_ctz(threads), to = (uint32_t)__builtin_ctz(idle);
    part_put(part, to, part->warp[from], part->thread[from], true);
    threads &= threads - 1;
    idle &= idle - 1;
  }
  hook_tally(machine, TALLY_RISE_HELPED, 1);
}

// ---- Another warp --------------------------------------------------------------------------------------------

static bool is_in(const LanePart *part, uint32_t warp) {
  for (uint32_t left = part->filled; left != 0; left &= left - 1) {
    if (part->warp[__builtin_ctz(left)] == warp) return true;
  }
  return false;
}

static uint32_t home_lanes(const WarpView *view) {
  uint32_t lanes = 0;
  for (uint32_t left = view->threads; left != 0; left &= left - 1) lanes |= 1u << view->home[__builtin_ctz(left)] % PART_SLOTS;
  return lanes;
}

// What a search has found, for the statistics.
typedef struct Found {
  bool any, lane, lanes;
} Found;

// The warp could be helped: at the same instruction, ready, not in redundancy mode.
static bool is_match(const Rise *own, const HookMachine *machine, const PlanEvent *event, uint32_t warp, WarpView *view) {
  const Who *who = event->who;
  if (is_in(event->part, warp) || !machine->look_at(machine, who->sm, warp, view) || !view->is_ready) return false;
  return view->pc == who->pc && view->threads != 0 && !rise_is_redundant(own, machine, who->sm, view->block_slot, warp);
}

static bool help(const Rise *own, const HookMachine *machine, PlanEvent *event, uint32_t warp, const WarpView *view) {
  PartOwner helped = {.issue = view->issue, .warp = warp, .block_slot = view->block_slot};
  uint32_t idle = ~event->part->filled;
  if ((home_lanes(view) & idle) == 0 || !redundancy_expect(&own->redundancy, machine, event->who->sm, &helped)) return false;
  for (uint32_t left = view->threads; left != 0; left &= left - 1) {
    uint32_t thread = (uint32_t)__builtin_ctz(left), lane = view->home[thread] % PART_SLOTS;
    if ((idle >> lane & 1) != 0) part_put(event->part, lane, warp, thread, true);
  }
  event->next = (uint8_t)warp;
  hook_tally(machine, TALLY_RISE_HELPED, 1);
  return true;
}

// Further warps are looked at for the statistics alone, and only where nobody is helped.
static void help_another(const Rise *own, const HookMachine *machine, PlanEvent *event) {
  Found found = {false, false, false};
  bool done = false;
  uint32_t idle = ~event->part->filled;
  for (uint32_t i = 1; i < own->warps && !done; i++) {
    uint32_t warp = (event->who->warp + i) % own->warps;
    WarpView view;
    if (!is_match(own, machine, event, warp, &view)) continue;
    uint32_t lanes = home_lanes(&view);
    found.any = true;
    found.lane |= (lanes & idle) != 0;
    found.lanes |= (lanes & ~idle) == 0;
    done = own->options.helps && help(own, machine, event, warp, &view);
  }
  hook_tally(machine, TALLY_RISE_MATCHED, found.any);
  hook_tally(machine, TALLY_RISE_MATCHED_LANE, found.lane);
  hook_tally(machine, TALLY_RISE_MATCHED_LANES, found.lanes);
}

static bool is_arithmetic(const Instr *instr) {
  const OpInfo *info = &op_info[instr->op];
  return (info->kind == KIND_ALU || info->kind == KIND_SREG) && info->unit != UNIT_SFU && info->unit != UNIT_FP64;
}

void rise_lend(const Rise *own, const HookMachine *machine, PlanEvent *event) {
  if (event->part->filled == UINT32_MAX || event->part->filled == 0 || !is_arithmetic(event->instr)) return;
  if (rise_threads(own, machine) < WARP_LANES) {
    if (!own->options.helps) return; // its lanes are idle without divergence: nothing to be counted
    hook_tally(machine, TALLY_RISE_DIVERGED, 1);
    double_threads(own, machine, event);
    return;
  }
  hook_tally(machine, TALLY_RISE_DIVERGED, 1);
  help_another(own, machine, event);
}
