// What became of hints, and the disabling unit.
//
// A hint is useful when the partner wanted what it named, after it was delivered: a block of instructions is fetched, a load of the partner joins
// the request for its line while it is under way, a line is read. Whether the hint had brought it is counted apart (gained), and
// so are lines that were brought and went unused (wasted): those are the machine's events of prefetched lines.
//
// Each partner has an up/down counter per type. Useful hints count up; hints that come too late and lines that go unused count down. The top
// bit says whether the type is worth its effort. At the end of a period, types whose top bit is 0 are off for the next period, and
// all counters go back to their middle. If more than half of the types are off, the faulty SM is made equal to its partner.
#include "protect/hints.h"

// ---- Counters ------------------------------------------------------------------------------------------

static uint64_t *counter_of(const Hints *own, const HookMachine *machine, uint32_t partner, HintType type) {
  return hints_at(own, machine, CELLS_COUNTER, (uint64_t)partner * HINT_TYPES + type);
}

static bool top_bit(const Hints *own, const HookMachine *machine, uint32_t partner, HintType type) {
  return (*counter_of(own, machine, partner, type) & HINT_COUNTER_MIDDLE) != 0;
}

bool hints_type_is_on(const Hints *own, const HookMachine *machine, uint32_t partner, HintType type) {
  if (partner >= own->sms || (own->types >> type & 1) == 0) return false;
  if (own->disable == DISABLE_NEVER) return true;
  return own->disable == DISABLE_NOW ? top_bit(own, machine, partner, type) : (*hints_at(own, machine, CELLS_ON, partner) >> type & 1) != 0;
}

void hints_up(const Hints *own, const HookMachine *machine, uint32_t partner, HintType type, uint32_t by) {
  uint64_t *counter = counter_of(own, machine, partner, type);
  *counter = min_u64(*counter + by, (1 << HINT_COUNTER_BITS) - 1);
}

void hints_down(const Hints *own, const HookMachine *machine, uint32_t partner, HintType type) {
  uint64_t *counter = counter_of(own, machine, partner, type);
  *counter -= *counter > 0;
}

// ---- Useful, gained, wasted ----------------------------------------------------------------------------

void hints_aged(const Hints *own, const HookMachine *machine, uint32_t faulty, TallyId first, uint64_t by) {
  uint64_t since = *hints_at(own, machine, CELLS_SINCE, faulty), age = (machine->cycle - min_u64(since, machine->cycle)) / own->period;
  hook_tally(machine, (TallyId)((uint32_t)first + min_u64(age, 7)), by);
}

static void useful(const Hints *own, const HookMachine *machine, uint32_t partner, HintType type, uint32_t by) {
  hints_count(machine, TALLY_HINTS_USEFUL_ICACHE, type, by);
  hints_up(own, machine, partner, type, by);
  for (uint32_t sm = partner / own->tpc_sms * own->tpc_sms; sm < own->sms; sm++) {
    if (own->partner[sm] != partner || !hints_is_faulty(own, sm)) continue;
    hints_aged(own, machine, sm, TALLY_HINTS_AGED_USEFUL_0, by);
    return;
  }
}

static uint64_t *watch_of(const Hints *own, const HookMachine *machine, uint32_t partner, HintWatch kind, uint64_t key) {
  uint64_t line = kind == WATCH_CODE ? key : key >> 7, entry = (line ^ line >> 8) % HINT_WATCHES;
  return hints_at(own, machine, CELLS_WATCH, ((uint64_t)partner * WATCH_KINDS + kind) * HINT_WATCHES + entry);
}

void hints_watch(const Hints *own, const HookMachine *machine, uint32_t partner, HintWatch kind, uint64_t key) {
  uint64_t *watch = watch_of(own, machine, partner, kind, key);
  if (watch[0] != 1 + key) watch[1] = 0; // hints for another address: what became of them is not known any more
  watch[0] = 1 + key;
  watch[1] += watch[1] < 0xFFFF;
}

void hints_wanted(const Hints *own, const HookMachine *machine, uint32_t partner, HintWatch kind, uint64_t key) {
  uint64_t *watch = watch_of(own, machine, partner, kind, key);
  if (watch[0] != 1 + key || watch[1] == 0) return;
  useful(own, machine, partner, kind == WATCH_CODE ? HINT_ICACHE : HINT_L2, (uint32_t)watch[1]);
  watch[0] = watch[1] = 0;
}

// ---- Loads that join -----------------------------------------------------------------------------------
// A load that waits for one of the other SM: which words of the line it asks for, and where in the program. The second unit of its cells:
enum { LOAD_SM_AT = 8, LOAD_FIRST_AT = 14, LOAD_LAST_AT = 19, LOAD_STAMP_AT = 24, LOAD_STAMP_BITS = 24, LOAD_MOST = 255 };

static uint32_t field(uint64_t word, unsigned at, unsigned bits) { return (uint32_t)(word >> at & ((UINT64_C(1) << bits) - 1)); }

static void load_waits(uint64_t *watch, uint32_t sm, uint64_t range, uint32_t stamp) {
  uint64_t line = hint_line(range), count = watch[0] == 1 + line ? watch[1] & LOAD_MOST : 0;
  watch[0] = 1 + line;
  watch[1] = min_u64(count + 1, LOAD_MOST) | (uint64_t)sm << LOAD_SM_AT | (uint64_t)hint_first_word(range) << LOAD_FIRST_AT |
             (uint64_t)hint_last_word(range) << LOAD_LAST_AT | (uint64_t)field(stamp, 0, LOAD_STAMP_BITS) << LOAD_STAMP_AT;
}

// A load meets one that waits: it lies within that one's words, and less than the threshold before or behind it.
static bool load_meets(const Hints *own, const uint64_t *watch, uint64_t range, uint32_t stamp) {
  if (watch[0] != 1 + hint_line(range) || (watch[1] & LOAD_MOST) == 0) return false;
  uint32_t ahead = field(field(watch[1], LOAD_STAMP_AT, LOAD_STAMP_BITS) - (uint64_t)stamp, 0, LOAD_STAMP_BITS);
  bool in_range = hint_first_word(range) >= field(watch[1], LOAD_FIRST_AT, 5) && hint_last_word(range) <= field(watch[1], LOAD_LAST_AT, 5);
  return in_range && min_u32(ahead, (1u << LOAD_STAMP_BITS) - ahead) < own->threshold;
}

static void load_has_met(uint64_t *watch) {
  watch[1]--;
  if ((watch[1] & LOAD_MOST) == 0) watch[0] = watch[1] = 0;
}

bool hints_meets(const Hints *own, const HookMachine *machine, const Hint *hint) {
  uint32_t partner = own->partner[hint->sm];
  uint64_t *watch = watch_of(own, machine, partner, WATCH_ASKED, hint_line(hint->specific));
  if (!load_meets(own, watch, hint->specific, hint->stamp)) return false;
  load_has_met(watch);
  useful(own, machine, partner, HINT_MERGE, 1);
  return true;
}

void hints_offer(const Hints *own, const HookMachine *machine, const Hint *hint) {
  uint64_t *watch = watch_of(own, machine, own->partner[hint->sm], WATCH_MERGE, hint_line(hint->specific));
  load_waits(watch, hint->sm, hint->specific, hint->stamp);
}

bool hints_is_offered(const Hints *own, const HookMachine *machine, const Hint *hint) {
  uint64_t line = hint_line(hint->specific);
  return watch_of(own, machine, own->partner[hint->sm % HINT_MOST_SMS] % own->sms, WATCH_MERGE, line)[0] == 1 + line;
}

void hints_merge(const Hints *own, const HookMachine *machine, const MemoryEvent *event) {
  const Who *who = event->who;
  uint64_t range = hints_range_of(event), line = hint_line(range);
  if (own->asks || event->address >> 48 != 0 || !hints_type_is_on(own, machine, who->sm, HINT_MERGE))
    return; // local memory is the SM's own
  uint64_t *watch = watch_of(own, machine, who->sm, WATCH_MERGE, line);
  uint32_t stamp = own->order == ORDER_PC || who->issue == WHO_NO_NUMBER ? who->pc : (uint32_t)who->issue;
  if (!load_meets(own, watch, range, stamp)) {
    load_waits(watch_of(own, machine, who->sm, WATCH_ASKED, line), who->sm, range, stamp);
    return;
  }
  if (event->join != NULL) *event->join = field(watch[1], LOAD_SM_AT, HINT_SM_BITS);
  load_has_met(watch);
  useful(own, machine, who->sm, HINT_MERGE, 1);
}

Verdict hints_prefetch(Hook *hook, HookMachine *machine, const PrefetchEvent *event) {
  static const HintType types[PREFETCH_CACHES] = {HINT_ICACHE, HINT_MERGE, HINT_OTHER, HINT_OTHER, HINT_L2};
  const Hints *own = hints_own(hook);
  HintType type = types[event->cache % PREFETCH_CACHES];
  uint32_t sm = event->who->sm, partner = hints_is_faulty(own, sm) ? own->partner[sm] : sm;
  if (!hints_is_helped(own, partner)) return VERDICT_PASS;
  switch (event->stage) {
  case PREFETCH_FILLED: hints_count(machine, TALLY_HINTS_USED_ICACHE, type, 1); break;
  case PREFETCH_USED:
    hints_count(machine, TALLY_HINTS_GAINED_ICACHE, type, 1);
    if (type == HINT_MERGE || type == HINT_OTHER) useful(own, machine, partner, type, 1);
    if (type == HINT_MERGE) hints_wanted(own, machine, partner, WATCH_LINE, event->address); // its load asks nobody else
    break;
  default: hints_count(machine, TALLY_HINTS_WASTED_ICACHE, type, 1); hints_down(own, machine, partner, type);
  }
  return VERDICT_PASS;
}

// ---- Periods -------------------------------------------------------------------------------------------

static void reset(const Hints *own, const HookMachine *machine, uint32_t partner) {
  for (uint32_t type = 0; type < HINT_TYPES; type++) *counter_of(own, machine, partner, (HintType)type) = HINT_COUNTER_MIDDLE;
}

void hints_begin(const Hints *own, const HookMachine *machine) {
  for (uint32_t sm = 0; sm < own->sms; sm++) {
    reset(own, machine, sm);
    *hints_at(own, machine, CELLS_ON, sm) = own->types;
    *hints_at(own, machine, CELLS_SINCE, sm) = machine->cycle;
  }
}

static void end_of_period(const Hints *own, HookMachine *machine, uint32_t partner) {
  uint32_t off = 0, count = (uint32_t)__builtin_popcount(own->types);
  uint64_t on = own->types;
  for (uint32_t type = 0; type < HINT_TYPES; type++) {
    if ((own->types >> type & 1) == 0 || top_bit(own, machine, partner, (HintType)type)) continue;
    on &= ~(UINT64_C(1) << type);
    off++;
  }
  *hints_at(own, machine, CELLS_ON, partner) = on;
  reset(own, machine, partner);
  hook_tally(machine, TALLY_HINTS_PERIODS, 1);
  if (own->disable == DISABLE_NEVER) return;
  hook_tally(machine, TALLY_HINTS_OFF, off);
  if (2 * off > count) hints_resynchronise(own, machine, partner);
}

uint64_t hints_period(const Hints *own, HookMachine *machine, uint32_t tpc) {
  uint64_t *turn = hints_at(own, machine, CELLS_TURN, tpc), *begin = hints_at(own, machine, CELLS_PERIOD, tpc);
  if (turn[1] == 0) return UINT64_MAX; // no hints, no period
  uint64_t elapsed = (machine->cycle - *begin) & HINT_MOST_PERIOD;
  if (elapsed < own->period) return machine->cycle + own->period - elapsed;
  turn[1] = 0;
  *begin = machine->cycle & HINT_MOST_PERIOD;
  for (uint32_t sm = tpc * own->tpc_sms; sm < min_u32((tpc + 1) * own->tpc_sms, own->sms); sm++) {
    if (hints_is_helped(own, sm)) end_of_period(own, machine, sm);
  }
  return UINT64_MAX;
}
