// Faults in the outputs of functional units. A warp leaves a unit in turns of as many threads as the unit has lanes, and a result wider
// than the outputs word by word. A transient strikes what is on its lane's output in its cycle: of all that the unit then puts out,
// one thread's word, or nothing. One that lasts strikes every result of its lane meanwhile. Which thread is on a lane is the part's
// affair: results lie by lane slot. Comparisons put out one bit, or two: bits 0 and 1.
#include "fault/fault_internal.h"

static uint32_t width_of(const Region *region) { return (region->bits + 31) / 32; } // in words
static uint32_t groups_of(const Region *region, const ResultEvent *event) {
  return max_u32((event->row_count + width_of(region) - 1) / width_of(region), 1);
}

// Where the fault's bits are in a result, in this turn of the threads and this group of its words.
static uint32_t result_bits(const RegionTable *regions, const Fault *fault, const ResultEvent *event, uint32_t turn, uint32_t group,
                            ResultBit bits[FAULT_MAX_BITS]) {
  const Region *region = &regions->items[event->region];
  HookMachine nowhere = {.regions = regions};
  Site sites[FAULT_MAX_BITS];
  uint32_t count = fault_bits(regions, &nowhere, fault, sites), found = 0;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t slot = turn * region->units + sites[i].unit;
    if (sites[i].row != event->row || slot >= WARP_LANES || (event->mask >> slot & 1) == 0) continue;
    ResultBit bit = {.slot = slot, .word = group * width_of(region) + sites[i].bit / 32, .bit = sites[i].bit % 32};
    bit.is_predicate = event->row_count == 0;
    bool is_there = bit.is_predicate ? event->predicates != NULL && sites[i].bit < 2 : bit.word < event->row_count;
    if (is_there) bits[found++] = bit;
  }
  return found;
}

uint32_t fault_result_bits(const RegionTable *regions, const Fault *fault, uint64_t cycle, const ResultEvent *event,
                           ResultBit bits[FAULT_MAX_BITS]) {
  OutputMoment moment;
  bool is_inside = inside_has(event, fault->site.region);
  if (event->region != fault->site.region && !is_inside) return 0;
  if (!result_at(&regions->items[fault->site.region], event, cycle, fault->from, &moment)) return 0;
  if (is_inside) return inside_bits(regions, fault, &moment, event, bits);
  return result_bits(regions, fault, event, moment.turn, moment.group, bits);
}

bool fault_meets(const RegionTable *regions, const Fault *fault, const ResultEvent *event) {
  if (inside_has(event, fault->site.region)) return inside_meets(regions, fault, event);
  if (event->region != fault->site.region || event->row != fault->site.row) return false;
  ResultBit bits[FAULT_MAX_BITS];
  uint32_t found = 0, turns = result_turns(&regions->items[event->region], event);
  for (uint32_t turn = 0; turn < turns && found == 0; turn++) found = result_bits(regions, fault, event, turn, 0, bits);
  return found > 0;
}

bool fault_is_passed(const RegionTable *regions, const Fault *fault, uint64_t cycle, const ResultEvent *event) {
  OutputMoment moment;
  bool is_inside = inside_has(event, fault->site.region);
  if (event->region != fault->site.region && !is_inside) return false;
  bool lasts = fault_lasts(fault);
  if (lasts ? !stuck_is_active(fault, cycle) : !result_at(&regions->items[fault->site.region], event, cycle, fault->from, &moment))
    return false;
  if (is_inside) return inside_passes(regions, fault, lasts ? NULL : &moment, event);
  ResultBit bits[FAULT_MAX_BITS];
  return lasts ? fault_meets(regions, fault, event) : result_bits(regions, fault, event, moment.turn, moment.group, bits) > 0;
}

static bool is_set(const ResultEvent *event, const ResultBit *bit) {
  if (bit->is_predicate) return (event->predicates[bit->bit] >> bit->slot & 1) != 0;
  return (event->rows[bit->word * WARP_LANES + bit->slot] >> bit->bit & 1) != 0;
}

static void damage(FaultModel model, ResultEvent *event, const ResultBit *bit) {
  uint32_t *word = bit->is_predicate ? &event->predicates[bit->bit] : &event->rows[bit->word * WARP_LANES + bit->slot];
  uint32_t mask = 1u << (bit->is_predicate ? bit->slot : bit->bit);
  if (!fault_models[model].permanent) *word ^= mask;
  else if (model == FAULT_STUCK0) *word &= ~mask;
  else *word |= mask;
}

// The value that is there is struck, whether the result alters or not.
static void strike_inside(Strike *strike, const HookMachine *machine, ResultEvent *event) {
  const Fault *fault = strike->fault;
  const Region *region = &machine->regions->items[fault->site.region];
  OutputMoment moment;
  if (!result_at(region, event, machine->cycle, fault->from, &moment) || !inside_meets(machine->regions, fault, event)) return;
  inside_damage(machine->regions, fault, &moment, event, event);
  strike->waits = false;
}

void strike_result(Strike *strike, const HookMachine *machine, ResultEvent *event) {
  ResultBit bits[FAULT_MAX_BITS];
  if (!strike->waits) return;
  if (inside_has(event, strike->fault->site.region)) {
    strike_inside(strike, machine, event);
    return;
  }
  uint32_t count = fault_result_bits(machine->regions, strike->fault, machine->cycle, event, bits);
  for (uint32_t i = 0; i < count; i++) damage(strike->fault->model, event, &bits[i]);
  if (count > 0) strike->waits = false;
}

bool strike_is_over(const Strike *strike, uint64_t cycle) { return !strike->waits || cycle >= strike->fault->from + FAULT_OUTPUT_CYCLES; }

// Every result that passes while a fault lasts.
static bool hold(const RegionTable *regions, const Fault *fault, const ResultEvent *event, ResultEvent *damaged) {
  const Region *region = &regions->items[event->region];
  uint32_t turns = result_turns(region, event), all = turns * groups_of(region, event);
  bool alters = false;
  for (uint32_t i = 0; i < all; i++) {
    ResultBit bits[FAULT_MAX_BITS];
    uint32_t count = result_bits(regions, fault, event, i % turns, i / turns, bits);
    for (uint32_t k = 0; k < count; k++) {
      alters |= is_set(event, &bits[k]) == (fault->model == FAULT_STUCK0);
      if (damaged != NULL) damage(fault->model, damaged, &bits[k]);
    }
  }
  return alters;
}

bool fault_alters_result(const RegionTable *regions, const Fault *fault, uint64_t cycle, const ResultEvent *event) {
  if (!stuck_is_active(fault, cycle)) return false;
  if (inside_has(event, fault->site.region)) return inside_damage(regions, fault, NULL, event, NULL);
  return event->region == fault->site.region && hold(regions, fault, event, NULL);
}

static Verdict on_result(Hook *hook, HookMachine *machine, ResultEvent *event) {
  FaultHook *at = hook->own;
  const Fault *fault = &at->fault;
  bool is_inside = inside_has(event, fault->site.region);
  if (event->region != fault->site.region && !is_inside) return VERDICT_PASS;
  if (!fault_lasts(fault)) strike_result(&at->strike, machine, event);
  else if (!stuck_is_active(fault, machine->cycle)) return VERDICT_PASS;
  else if (is_inside) inside_damage(machine->regions, fault, NULL, event, event);
  else hold(machine->regions, fault, event, event);
  return VERDICT_PASS;
}

void output_hook(FaultHook *at) {
  at->strike = (Strike){.fault = &at->fault, .waits = true};
  at->hook.result = on_result;
}
