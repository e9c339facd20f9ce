// Reissue for direct compute: every block runs twice, what both have stored is compared at the memory partitions, and blocks that differ run again.
//
// Source: Sheaffer, Luebke and Skadron, Graphics Hardware 2007, leave CUDA to future work (sections 3.2, 4.1 and 6): the thread execution manager is to
// reissue a part of the domain, and scattered stores are to be compared. This is our answer to it; the numbers and rules below are ours.
// Modelled: the block dispatcher sends the second copy of a block out before the next block, to another SM. Stores of both copies are held in their SMs,
// since a kernel that updates in place would read what the other copy has written. When both have ended, both send what they hold to the memory
// partitions, where it is compared (reissue_sectors.c). If nothing differs, the first copy writes what it holds. If something does, a copy makes an error
// that would end the launch, or a copy is late, both are abandoned and the block is sent out again. Kernels that cannot run twice are not covered (reissue_cover.c).
// Blocks write in waves: when all that run have agreed. So both copies of a block read the same memory, even if other blocks store there in the same launch.
// A block that stores more than it can hold runs once more, unprotected, and nothing beside it.
// Not modelled: wires between the dispatcher, the SMs and the comparators take no time.
// Cost: the copies' time in the whole machine; every line that is stored goes over the network twice to be compared and once to be written; room for
// held lines in each SM (held.*), comparators and bookkeeping (reissue.*), all of which faults strike. Comparing takes no time.
#include "protect/reissue_blocks.h"

#include <inttypes.h>

enum { LATE_CYCLES = 20000, MOST_LINES = 4096, MOST_SECTORS = 8192 };

static uint64_t *state_of(const Blocks *own, const HookMachine *machine, uint32_t place) {
  return blocks_at(own, machine, CELLS_STATE, place);
}
static bool is(const Blocks *own, const HookMachine *machine, uint32_t place, uint64_t bits) {
  return (*state_of(own, machine, place) & bits) == bits;
}
static uint32_t place_of(const Blocks *own, const Who *who) {
  return who->sm % own->sms * own->block_slots + who->block_slot % own->block_slots;
}
// The other copy; own->places: there is none.
static uint32_t peer_of(const Blocks *own, const HookMachine *machine, uint32_t place) {
  uint64_t peer = *blocks_at(own, machine, CELLS_PEER, place);
  return peer == 0 ? own->places : (uint32_t)min_u64(peer - 1, own->places);
}
// The place by which the pair goes.
static uint32_t pair_of(const Blocks *own, const HookMachine *machine, uint32_t place) {
  return is(own, machine, place, PLACE_MIRROR) ? peer_of(own, machine, place) : place;
}
static uint32_t now_of(const HookMachine *machine) { return (uint32_t)machine->cycle; }

static void wake_by(Hook *hook, HookMachine *machine, uint64_t cycle) {
  if (hook_wakes_at(hook, machine) > cycle) hook_wake(hook, machine, cycle);
}

static bool act(const Blocks *own, HookMachine *machine, uint32_t place, ActionKind kind, ActionHold hold) {
  Action action = {.kind = kind, .sm = place / own->block_slots, .block_slot = place % own->block_slots, .hold = hold};
  action.block = *blocks_at(own, machine, CELLS_BLOCK, place);
  return machine->act(machine, &action);
}

// ---- Blocks that were reissued -------------------------------------------------------------------------

// Its entry; with `make`, a new one if there is none. NULL: there is none, or no room.
static uint64_t *again_of(const Blocks *own, const HookMachine *machine, uint64_t block, bool make) {
  uint64_t *open = NULL;
  for (uint32_t i = 0; i < own->places; i++) {
    uint64_t *entry = blocks_at(own, machine, CELLS_AGAIN, i);
    if (entry[0] == block + 1) return entry;
    if (entry[0] == 0 && open == NULL) open = entry;
  }
  if (make && open != NULL) open[0] = block + 1;
  return make ? open : NULL;
}

// Copies that differ more than once may read what other blocks store meanwhile: the next time no other block runs.
static bool runs_serially(const Blocks *own, const HookMachine *machine, uint64_t block) {
  const uint64_t *entry = again_of(own, machine, block, false);
  return entry != NULL && entry[1] >= SERIAL_FROM && entry[1] != AGAIN_ALONE;
}

static bool is_empty(const Blocks *own, const HookMachine *machine) {
  uint64_t taken = 0;
  for (uint32_t sm = 0; sm < own->sms; sm++) taken += *blocks_at(own, machine, CELLS_TAKEN, sm);
  return taken == 0;
}

static bool runs_alone(const Blocks *own, const HookMachine *machine, uint64_t block) {
  const uint64_t *entry = again_of(own, machine, block, false);
  return entry != NULL && entry[1] == AGAIN_ALONE;
}

// ---- Steps of a pair -----------------------------------------------------------------------------------

// What the state asks of the machine; false: its queue is full, once more in the next cycle.
static bool tell_place(const Blocks *own, HookMachine *machine, uint32_t place) {
  uint64_t *state = state_of(own, machine, place);
  if ((*state & PLACE_LIVE) == 0) return true;
  bool good = true;
  if ((*state & PLACE_TOLD) == 0) {
    if ((*state & PLACE_GONE) != 0) good = act(own, machine, place, ACTION_ABANDON, HOLD_NONE);
    else if ((*state & PLACE_AGREED) != 0 && own->waves && blocks_core(own, machine)[CORE_WRITING] == 0) return true; // the others first
    else if ((*state & PLACE_AGREED) != 0) good = act(own, machine, place, ACTION_HOLD, HOLD_WRITE);
    else if ((*state & PLACE_SENDING) != 0) good = act(own, machine, place, ACTION_HOLD, HOLD_SEND);
    else return true;
    if (good) *state |= PLACE_TOLD;
  }
  return good;
}

static void tell(Hook *hook, HookMachine *machine, uint32_t place) {
  if (place < ((const Blocks *)hook->own)->places && !tell_place(hook->own, machine, place)) wake_by(hook, machine, machine->cycle + 1);
}

static void mark(Hook *hook, HookMachine *machine, uint32_t place, uint64_t bits) {
  if (place >= ((const Blocks *)hook->own)->places) return;
  uint64_t *state = state_of(hook->own, machine, place);
  *state = (*state & ~(uint64_t)PLACE_TOLD) | bits;
  tell(hook, machine, place);
}

static void give_credit_back(const Blocks *own, const HookMachine *machine, uint32_t pair) {
  uint64_t *lines = blocks_at(own, machine, CELLS_LINES, pair), *core = blocks_core(own, machine);
  core[CORE_CREDIT] -= min_u64(core[CORE_CREDIT], lines[LINES_CREDIT]);
  lines[LINES_CREDIT] = 0;
}

// Both copies go; the block runs again.
static void give_up(Hook *hook, HookMachine *machine, uint32_t pair) {
  const Blocks *own = hook->own;
  uint64_t *core = blocks_core(own, machine);
  if (core[CORE_PENDING] == pair + 1) core[CORE_PENDING] = 0;
  core[CORE_STARTED] -= core[CORE_STARTED] > 0;
  sectors_forget(own, machine, pair);
  give_credit_back(own, machine, pair);
  mark(hook, machine, pair, PLACE_GONE);
  mark(hook, machine, peer_of(own, machine, pair), PLACE_GONE);
}

// False: it has been tried often enough. If nobody answers that, the block runs once more, alone, and what it stores counts.
static bool reissue(Hook *hook, HookMachine *machine, uint32_t pair, TallyId why) {
  const Blocks *own = hook->own;
  uint64_t *again = again_of(own, machine, *blocks_at(own, machine, CELLS_BLOCK, pair), true);
  hook_tally(machine, why, 1);
  if (again != NULL && again[1] >= own->tries && hook->unanswered) {
    ++*machine->detected;
    again[1] = AGAIN_ALONE;
    give_up(hook, machine, pair);
    return true;
  }
  if (again == NULL || again[1] >= own->tries) {
    blocks_core(own, machine)[CORE_HALT] = 1;
    ++*machine->detected;
    return false;
  }
  again[1]++;
  hook_tally(machine, TALLY_REISSUE_REISSUES, 1);
  give_up(hook, machine, pair);
  return true;
}

static void overflow(Hook *hook, HookMachine *machine, uint32_t pair) {
  const Blocks *own = hook->own;
  uint64_t *again = again_of(own, machine, *blocks_at(own, machine, CELLS_BLOCK, pair), true);
  hook_tally(machine, TALLY_REISSUE_OVERFLOWS, 1);
  if (again != NULL) again[1] = AGAIN_ALONE;
  give_up(hook, machine, pair);
}

// Both copies have ended: they send what they hold, if the comparators have room for it wherever it goes.
static void compare(Hook *hook, HookMachine *machine, uint32_t pair) {
  const Blocks *own = hook->own;
  uint32_t peer = peer_of(own, machine, pair), most = own->sectors / LINE_SECTORS;
  if (peer >= own->places || !is(own, machine, pair, PLACE_LIVE | PLACE_ENDED) || !is(own, machine, peer, PLACE_LIVE | PLACE_ENDED)) return;
  if (((*state_of(own, machine, pair) | *state_of(own, machine, peer)) & (PLACE_SENDING | PLACE_GONE)) != 0) return;
  uint64_t *lines = blocks_at(own, machine, CELLS_LINES, pair), *core = blocks_core(own, machine);
  uint64_t wanted = max_u64(lines[LINES_HELD], blocks_at(own, machine, CELLS_LINES, peer)[LINES_HELD]);
  if (wanted > most) {
    overflow(hook, machine, pair);
    return;
  }
  if (core[CORE_CREDIT] + wanted > most) return;
  core[CORE_CREDIT] += wanted;
  lines[LINES_CREDIT] = wanted;
  mark(hook, machine, pair, PLACE_SENDING);
  mark(hook, machine, peer, PLACE_SENDING);
}

static void compare_all(Hook *hook, HookMachine *machine) {
  const Blocks *own = hook->own;
  for (uint32_t place = 0; place < own->places; place++) {
    if (is(own, machine, place, PLACE_LIVE | PLACE_ENDED) && !is(own, machine, place, PLACE_MIRROR)) compare(hook, machine, place);
  }
}

// A wave is over when all its blocks have agreed. Until then memory stays as it was when the wave began, so that both copies of every block read the
// same, whatever other blocks store.
static void write_wave(Hook *hook, HookMachine *machine) {
  const Blocks *own = hook->own;
  uint64_t *core = blocks_core(own, machine);
  if (!own->waves || core[CORE_WRITING] != 0 || core[CORE_PENDING] != 0) return;
  uint32_t agreed = 0;
  for (uint32_t place = 0; place < own->places; place++) {
    uint64_t state = *state_of(own, machine, place);
    if ((state & (PLACE_LIVE | PLACE_MIRROR)) != PLACE_LIVE) continue;
    if ((state & PLACE_AGREED) == 0) return;
    agreed++;
  }
  if (agreed == 0) return;
  core[CORE_WRITING] = 1;
  for (uint32_t place = 0; place < own->places; place++) tell(hook, machine, place);
}

// Everything has been compared.
static void judge(Hook *hook, HookMachine *machine, uint32_t pair) {
  const Blocks *own = hook->own;
  bool wrong = is(own, machine, pair, PLACE_WRONG) || sectors_are_left(own, machine, pair);
  hook_tally(machine, TALLY_REISSUE_BLOCKS, 1);
  if (wrong) {
    reissue(hook, machine, pair, TALLY_REISSUE_MISMATCHES);
  } else {
    give_credit_back(own, machine, pair);
    mark(hook, machine, pair, PLACE_AGREED);
    mark(hook, machine, peer_of(own, machine, pair), PLACE_AGREED | PLACE_GONE);
    *blocks_at(own, machine, CELLS_PEER, pair) = 0; // another block may take its place
  }
  compare_all(hook, machine);
  write_wave(hook, machine);
}

// ---- The dispatcher ------------------------------------------------------------------------------------

// The next SM with room gets the second copy.
static void send_second(Hook *hook, HookMachine *machine) {
  const Blocks *own = hook->own;
  const uint64_t *core = blocks_core(own, machine);
  uint64_t pending = core[CORE_PENDING];
  if (pending == 0 || pending > own->places) return;
  uint32_t sm = (uint32_t)(pending - 1) / own->block_slots, tries = own->same || own->sms == 1 ? own->sms : own->sms - 1;
  for (uint32_t i = 1; i <= tries; i++) {
    uint32_t other = (sm + i) % own->sms;
    if (*blocks_at(own, machine, CELLS_TAKEN, other) >= core[CORE_SLOTS]) continue;
    Action action = {.kind = ACTION_MIRROR, .sm = other, .hold = HOLD_WAIT};
    action.block = *blocks_at(own, machine, CELLS_BLOCK, pending - 1);
    if (!machine->act(machine, &action)) wake_by(hook, machine, machine->cycle + 1);
    return;
  }
}

static void begin_place(const Blocks *own, const HookMachine *machine, const Who *who, uint64_t state) {
  uint32_t place = place_of(own, who);
  *state_of(own, machine, place) = state;
  *blocks_at(own, machine, CELLS_BLOCK, place) = who->block;
  *blocks_at(own, machine, CELLS_PEER, place) = 0;
  blocks_at(own, machine, CELLS_TIME, place)[0] = now_of(machine);
  blocks_at(own, machine, CELLS_LINES, place)[LINES_HELD] = blocks_at(own, machine, CELLS_LINES, place)[LINES_CREDIT] = 0;
  ++*blocks_at(own, machine, CELLS_TAKEN, who->sm % own->sms);
}

static Verdict second_starts(Hook *hook, HookMachine *machine, const Who *who) {
  const Blocks *own = hook->own;
  uint64_t *core = blocks_core(own, machine), pending = core[CORE_PENDING];
  uint32_t place = place_of(own, who);
  bool is_wanted = pending != 0 && pending <= own->places && *blocks_at(own, machine, CELLS_BLOCK, pending - 1) == who->block;
  if (!is_wanted) return VERDICT_STALL; // the first copy has been given up meanwhile
  begin_place(own, machine, who, PLACE_LIVE | PLACE_MIRROR);
  *blocks_at(own, machine, CELLS_PEER, place) = pending;
  *blocks_at(own, machine, CELLS_PEER, pending - 1) = place + 1;
  core[CORE_PENDING] = 0;
  return VERDICT_PASS;
}

// Memory has changed since the last blocks began: no SM may have old lines that another has not. False: not now.
static bool read_anew(const Blocks *own, HookMachine *machine) {
  bool all = true;
  for (uint32_t sm = 0; sm < own->sms; sm++) all &= machine->act(machine, &(Action){.kind = ACTION_HOLD, .sm = sm, .hold = HOLD_FRESH});
  return all;
}

static Verdict first_starts(Hook *hook, HookMachine *machine, const Who *who) {
  const Blocks *own = hook->own;
  uint64_t *core = blocks_core(own, machine);
  uint32_t place = place_of(own, who);
  if (core[CORE_PENDING] != 0) return VERDICT_STALL; // the second copy of a block goes before the next block
  if (core[CORE_SERIAL] != 0 || core[CORE_WRITING] != 0) return VERDICT_STALL;
  bool is_alone = runs_alone(own, machine, who->block), is_serial = is_alone || runs_serially(own, machine, who->block);
  if (is_serial && !is_empty(own, machine)) return VERDICT_STALL;
  if (own->waves && !is_serial && core[CORE_STARTED] > 0 && core[CORE_STARTED] >= core[CORE_SLOTS] * own->sms / 2) return VERDICT_STALL;
  if (is_alone) {
    begin_place(own, machine, who, 0);
    core[CORE_SERIAL] = place + 1;
    return VERDICT_PASS;
  }
  if (core[CORE_STALE] != 0 && !read_anew(own, machine)) return VERDICT_STALL;
  core[CORE_STALE] = 0;
  Action action = {.kind = ACTION_HOLD, .sm = who->sm, .block_slot = who->block_slot, .hold = HOLD_WAIT};
  if (!machine->act(machine, &action)) return VERDICT_STALL;
  begin_place(own, machine, who, PLACE_LIVE);
  core[CORE_PENDING] = place + 1;
  core[CORE_STARTED]++;
  if (is_serial) core[CORE_SERIAL] = place + 1;
  hook_tally(machine, TALLY_REISSUE_SERIAL, is_serial);
  send_second(hook, machine);
  return VERDICT_PASS;
}

// An abandoned block goes out again. Any SM's queue will do.
static void send_again(const Blocks *own, HookMachine *machine, uint64_t block) {
  for (uint32_t sm = 0; sm < own->sms; sm++) {
    if (machine->act(machine, &(Action){.kind = ACTION_REDISPATCH, .sm = sm, .block = block})) return;
  }
  blocks_core(own, machine)[CORE_HALT] = 1;
}

// The place is free.
static void place_ends(Hook *hook, HookMachine *machine, const Who *who) {
  const Blocks *own = hook->own;
  uint32_t place = place_of(own, who);
  uint64_t *taken = blocks_at(own, machine, CELLS_TAKEN, who->sm % own->sms), state = *state_of(own, machine, place);
  *taken -= *taken > 0;
  if ((state & (PLACE_LIVE | PLACE_MIRROR | PLACE_GONE)) == (PLACE_LIVE | PLACE_GONE)) send_again(own, machine, who->block);
  bool is_over = (state & PLACE_MIRROR) == 0 && ((state & PLACE_LIVE) == 0 || (state & PLACE_AGREED) != 0);
  uint64_t *again = is_over ? again_of(own, machine, who->block, false) : NULL;
  if (again != NULL && again[1] != AGAIN_ALONE) ++*machine->corrected;
  if (again != NULL) again[0] = again[1] = 0;
  *state_of(own, machine, place) = 0;
  uint64_t *core = blocks_core(own, machine);
  if (core[CORE_SERIAL] == place + 1) core[CORE_SERIAL] = 0;
  if (core[CORE_WRITING] != 0 && is_empty(own, machine)) core[CORE_WRITING] = core[CORE_STARTED] = 0;
  if (is_empty(own, machine)) core[CORE_STALE] = 1;
  send_second(hook, machine);
  write_wave(hook, machine);
}

static Verdict halted(const Blocks *own, const HookMachine *machine) {
  return blocks_core(own, machine)[CORE_HALT] != 0 ? VERDICT_HALT : VERDICT_PASS;
}

// ---- Events --------------------------------------------------------------------------------------------

static const char NO_ROOM[] =
    "one block of it fits at once, and copies need room for two: raise sm.count, or sm.blocks, sm.registers, sm.shared";

// Only with `strict`: others run without.
static bool admits(const Hook *hook, const Program *program, const LaunchEvent *event, Diags *diags) {
  const Blocks *own = hook->own;
  Text why = {0};
  bool covers = reissue_covers(hook, program, event->kernel, &why);
  if (covers && own->sms == 1 && event->block_slots == 1) {
    covers = false;
    text_add(&why, "%s", NO_ROOM);
  }
  if (!covers)
    diags_add(diags, NULL, 0, 0, "reissue:strict does not run kernel '%s': %s; without 'strict' it runs unprotected",
              SHORT_NAME(event->kernel), why.at == NULL ? "" : why.at);
  text_free(&why);
  return covers;
}

// What the kernel's code does not tell: whether two copies fit, and whether they could hold what they store.
static void lacks(const Hook *hook, const uint64_t tallies[TALLY_COUNT], Text *why) {
  const Blocks *own = hook->own;
  uint64_t alone = tallies[TALLY_REISSUE_OVERFLOWS];
  if (tallies[TALLY_REISSUE_REFUSED] > 0) text_add(why, "it runs unprotected: %s", NO_ROOM);
  else if (alone > 0)
    text_add(why, "%" PRIu64 " blocks ran alone and unprotected: they store more than fits; raise its lines (now %u) or sectors (now %u)",
             alone, own->lines, own->sectors);
}

static Verdict on_launch(Hook *hook, HookMachine *machine, const LaunchEvent *event) {
  const Blocks *own = hook->own;
  uint64_t *core = blocks_core(own, machine);
  Text why = {0};
  bool covers = reissue_covers(hook, machine->program, event->kernel, &why) && (uint64_t)event->block_slots * own->sms > 1;
  text_free(&why);
  core[CORE_COVERS] = covers;
  core[CORE_SLOTS] = event->block_slots;
  if (covers) return VERDICT_PASS;
  hook_tally(machine, TALLY_REISSUE_REFUSED, 1);
  if (!own->strict) return VERDICT_PASS;
  ++*machine->detected;
  return VERDICT_HALT;
}

static Verdict on_block(Hook *hook, HookMachine *machine, const BlockEvent *event) {
  const Blocks *own = hook->own;
  if (blocks_core(own, machine)[CORE_COVERS] == 0 || event->stopped) return VERDICT_PASS;
  if (event->done) {
    place_ends(hook, machine, event->who);
    return halted(own, machine);
  }
  return event->mirror ? second_starts(hook, machine, event->who) : first_starts(hook, machine, event->who);
}

static Verdict on_action(Hook *hook, HookMachine *machine, const ActionEvent *event) {
  if (event->action->kind == ACTION_MIRROR && !event->done) send_second(hook, machine);
  return halted(hook->own, machine);
}

static uint64_t deadline(const Blocks *own, const HookMachine *machine, uint32_t ended, uint32_t other);

static void has_ended(Hook *hook, HookMachine *machine, uint32_t place, const HeldEvent *event) {
  const Blocks *own = hook->own;
  uint32_t other = peer_of(own, machine, place);
  *state_of(own, machine, place) |= PLACE_ENDED;
  blocks_at(own, machine, CELLS_TIME, place)[1] = now_of(machine);
  blocks_at(own, machine, CELLS_LINES, place)[LINES_HELD] = event->lines;
  hook_tally(machine, TALLY_REISSUE_HELD, event->bytes);
  if (other < own->places && !is(own, machine, other, PLACE_ENDED)) wake_by(hook, machine, deadline(own, machine, place, other));
  uint32_t pair = pair_of(own, machine, place);
  if (pair < own->places) compare(hook, machine, pair);
}

static void was_sent(Hook *hook, HookMachine *machine, uint32_t place) {
  const Blocks *own = hook->own;
  uint32_t other = peer_of(own, machine, place), pair = pair_of(own, machine, place);
  *state_of(own, machine, place) |= PLACE_SENT;
  if (other < own->places && pair < own->places && is(own, machine, other, PLACE_SENT)) judge(hook, machine, pair);
}

static Verdict on_held(Hook *hook, HookMachine *machine, const HeldEvent *event) {
  const Blocks *own = hook->own;
  uint32_t place = place_of(own, event->who), pair = pair_of(own, machine, place);
  if (!is(own, machine, place, PLACE_LIVE) || pair >= own->places) return VERDICT_PASS;
  bool is_gone = is(own, machine, place, PLACE_GONE);
  if (event->stage == HELD_FULL) {
    if (!is_gone) overflow(hook, machine, pair);
    return VERDICT_STALL;
  }
  if (is_gone) return halted(own, machine);
  if (event->stage == HELD_ENDED) has_ended(hook, machine, place, event);
  else was_sent(hook, machine, place);
  return halted(own, machine);
}

static Verdict on_arrival(Hook *hook, HookMachine *machine, const MemoryEvent *event) {
  const Blocks *own = hook->own;
  const Who *who = event->who;
  if (who->client != CLIENT_STORE || event->data == NULL || who->sm >= own->sms || who->block_slot >= own->block_slots) return VERDICT_PASS;
  uint32_t place = place_of(own, who);
  uint64_t state = *state_of(own, machine, place);
  if ((state & (PLACE_SENDING | PLACE_SENT | PLACE_GONE)) != PLACE_SENDING) return VERDICT_PASS;
  uint32_t pair = pair_of(own, machine, place);
  if (pair < own->places && !sectors_compare(own, machine, pair, event)) *state_of(own, machine, pair) |= PLACE_WRONG;
  return VERDICT_PASS;
}

static Verdict on_trap(Hook *hook, HookMachine *machine, const TrapEvent *event) {
  const Blocks *own = hook->own;
  const Who *who = event->who;
  if (!event->of_thread || who->sm >= own->sms || who->block_slot >= own->block_slots) return VERDICT_PASS;
  uint32_t place = place_of(own, who), pair = pair_of(own, machine, place);
  if (!is(own, machine, place, PLACE_LIVE) || pair >= own->places) return VERDICT_PASS;
  if (is(own, machine, place, PLACE_GONE)) return VERDICT_FIXED; // it will be abandoned before anything else happens
  if (reissue(hook, machine, pair, TALLY_REISSUE_TRAPS)) return VERDICT_FIXED;
  blocks_core(own, machine)[CORE_HALT] = 0; // the program's own error
  --*machine->detected;
  return VERDICT_PASS;
}

// ---- Copies that do not end ----------------------------------------------------------------------------

// The cycle from which the other copy is late.
static uint64_t deadline(const Blocks *own, const HookMachine *machine, uint32_t ended, uint32_t other) {
  const uint64_t *first = blocks_at(own, machine, CELLS_TIME, ended), *second = blocks_at(own, machine, CELLS_TIME, other);
  uint32_t took = (uint32_t)first[1] - (uint32_t)first[0], runs = now_of(machine) - (uint32_t)second[0];
  uint64_t may = (uint64_t)took * own->patience + LATE_CYCLES;
  return machine->cycle + (runs < may ? may - runs : 0);
}

static void on_cycle(Hook *hook, HookMachine *machine) {
  const Blocks *own = hook->own;
  uint64_t next = UINT64_MAX;
  hook_wake(hook, machine, UINT64_MAX);
  send_second(hook, machine);
  for (uint32_t place = 0; place < own->places; place++) {
    if (!is(own, machine, place, PLACE_LIVE)) continue;
    tell(hook, machine, place);
    uint32_t other = peer_of(own, machine, place), pair = pair_of(own, machine, place);
    bool waits = is(own, machine, place, PLACE_ENDED) && !is(own, machine, place, PLACE_GONE) && other < own->places &&
                 !is(own, machine, other, PLACE_ENDED) && pair < own->places;
    if (!waits) continue;
    uint64_t until = deadline(own, machine, place, other);
    if (until > machine->cycle) next = min_u64(next, until);
    else reissue(hook, machine, pair, TALLY_REISSUE_LATE);
  }
  wake_by(hook, machine, next);
}

// ---- State ---------------------------------------------------------------------------------------------

static const CellsRow rows[CELLS_COUNT] = {
    [CELLS_STATE] = {"reissue.state", "block dispatcher of reissue", "entry", "how far the copy in a block slot is", 1, PLACE_BITS},
    [CELLS_BLOCK] = {"reissue.block", "block dispatcher of reissue", "entry", "index of its block", 1, 32},
    [CELLS_PEER] = {"reissue.peer", "block dispatcher of reissue", "entry", "where the other copy is", 1, 16},
    [CELLS_TIME] = {"reissue.time", "block dispatcher of reissue", "field", "cycles in which it began and ended", 2, 32},
    [CELLS_LINES] = {"reissue.lines", "block dispatcher of reissue", "field", "lines that it holds; its pair's share of the comparators", 2,
                     13},
    [CELLS_AGAIN] = {"reissue.again", "block dispatcher of reissue", "field", "blocks that were reissued: index, how often", 2, 33},
    [CELLS_TAKEN] = {"reissue.taken", "block dispatcher of reissue", "entry", "block slots of an SM that are taken", 1, 7},
    [CELLS_CORE] = {"reissue.core", "block dispatcher of reissue", "field",
                    "covered, whose copy goes next, lines compared, block slots, halt, who runs alone, wave, stale", CORE_FIELDS, 17},
    [CELLS_FULL] = {"reissue.full", "comparators of reissue", "entry", "full/empty bit of a sector", 1, 1},
    [CELLS_KEY] = {"reissue.key", "comparators of reissue", "entry", "pair and number of the sector", 1, 62},
    [CELLS_MASK] = {"reissue.mask", "comparators of reissue", "entry", "its bytes that were stored", 1, 32},
    [CELLS_DATA] = {"reissue.data", "comparators of reissue", "word", "what was stored", SECTOR_WORDS, 32},
    [CELLS_USED] = {"reissue.used", "comparators of reissue", "entry", "entries in use", 1, 14},
};

static bool add_cells(Blocks *own, HookLayout *layout, BlocksCells cells, Diags *diags) {
  Region wanted = protect_cells(&rows[cells], "sm", own->sms);
  if (cells == CELLS_DATA) wanted.unit_bytes = 4;
  if (cells < CELLS_AGAIN) wanted.dims[wanted.dim_count++] = (RegionDim){"block_slot", own->block_slots};
  if (cells == CELLS_AGAIN) wanted.dims[0] = (RegionDim){"entry", own->places};
  if (cells == CELLS_CORE) wanted.dims[0] = (RegionDim){"gpu", 1};
  if (cells >= CELLS_FULL) wanted.dims[0] = (RegionDim){"slice", own->partitions};
  if (cells >= CELLS_FULL && cells != CELLS_USED) wanted.dims[wanted.dim_count++] = (RegionDim){"entry", own->sectors};
  own->cells[cells] = hook_add_region(layout, &wanted, LIFE_LAUNCH, diags);
  return own->cells[cells] != REGION_NONE;
}

static bool on_attach(Hook *hook, HookLayout *layout, Diags *diags) {
  Blocks *own = hook->own;
  const HookShape *shape = hook_layout_shape(layout);
  const RegionTable *regions = hook_layout_regions(layout);
  uint16_t slices = region_find(regions, "l2");
  if (slices == REGION_NONE) return diags_add(diags, NULL, 0, 0, "reissue compares at memory partitions; this machine has none");
  own->sms = max_u32(shape->sms, 1);
  own->block_slots = max_u32(shape->block_slots, 1);
  own->places = own->sms * own->block_slots;
  own->partitions = max_u32(regions->items[slices].dims[0].count, 1);
  if (own->places >= UINT16_MAX)
    return diags_add(diags, NULL, 0, 0, "reissue has room for 65,534 block slots; this machine has %u", own->places);
  for (uint32_t cells = 0; cells < CELLS_COUNT; cells++) {
    if (!add_cells(own, layout, (BlocksCells)cells, diags)) return false;
  }
  return true;
}

// ---- Options -------------------------------------------------------------------------------------------

static bool read_argument(const ProtectArguments *arguments, const ProtectArgument *argument, Blocks *own, Diags *diags) {
  static const char *const known[] = {"lines", "sectors", "tries", "patience", "same", "strict", "free"};
  const char *key = argument->key;
  uint32_t *const values[] = {&own->lines, &own->sectors, &own->tries, &own->patience};
  static const uint32_t least[] = {1, LINE_SECTORS, 0, 1}, most[] = {MOST_LINES, MOST_SECTORS, 100, 1000};
  for (uint32_t i = 0; i < COUNT_OF(values); i++) {
    uint64_t wide = 0;
    if (strcmp(key, known[i]) != 0) continue;
    if (!protect_number(arguments, argument, least[i], most[i], &wide, diags)) return false;
    *values[i] = (uint32_t)wide;
    return true;
  }
  bool is_same = strcmp(key, "same") == 0, is_strict = strcmp(key, "strict") == 0, is_free = strcmp(key, "free") == 0;
  if (!is_same && !is_strict && !is_free) return protect_unknown(arguments, key, known, COUNT_OF(known), diags);
  if (argument->value != NULL) return diags_add(diags, NULL, 0, 0, "%s: %s takes no value", arguments->text, key);
  own->same |= is_same;
  own->strict |= is_strict;
  own->waves &= !is_free;
  return true;
}

Hook *reissue_blocks_new(const ProtectArguments *arguments, Arena *arena, Diags *diags) {
  Blocks *own = ARENA_NEW(arena, Blocks);
  *own = (Blocks){.lines = 1024, .sectors = 512, .tries = 3, .patience = 4, .waves = true};
  for (uint32_t i = 0; i < arguments->count; i++) {
    if (!read_argument(arguments, &arguments->items[i], own, diags)) return NULL;
  }
  Hook *hook = ARENA_NEW(arena, Hook);
  *hook = (Hook){.name = "reissue", .kind = HOOK_PROTECTION, .own = own, .attach = on_attach, .next_cycle = UINT64_MAX};
  hook->actions = ACTION_BIT(ACTION_MIRROR) | ACTION_BIT(ACTION_ABANDON) | ACTION_BIT(ACTION_REDISPATCH) | ACTION_BIT(ACTION_HOLD);
  hook->needs = WANT_LAUNCH | WANT_BLOCK | WANT_HELD | WANT_ARRIVAL | WANT_CYCLE;
  hook->held_lines = (uint16_t)own->lines;
  hook->covers = reissue_covers;
  hook->lacks = lacks;
  if (own->strict) hook->admits = admits;
  hook->launch = on_launch;
  hook->block = on_block;
  hook->held = on_held;
  hook->arrival = on_arrival;
  hook->action = on_action;
  hook->trap = on_trap;
  hook->cycle = on_cycle;
  return hook;
}
