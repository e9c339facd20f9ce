// Outputs of functional units, in lane-cycles and bit-cycles: a lane slot that computes matters if the result of its thread does. Results that a
// scheme compares do not: a flip is found. Of a result only bits count that somebody looks at who matters.
#include "ace/ace_internal.h"

#include <stdlib.h>

static void add(Tally *tally, uint16_t region, AceCause cause, uint64_t lanes, uint64_t bits) {
  AceSums *sums = &tally->at->sums[tally->of_region[region]];
  sums->lanes[cause] += lanes;
  sums->bits[cause] += bits;
}

// Bits of a result that matter, summed over the groups in which its words pass.
static uint32_t needed_bits(const Node *node, const Pass *pass) {
  uint32_t bits = 0;
  if (pass->words == 0) return count_ones(node->predicates_needed & 3);
  if (pass->words > NODE_WORDS) return 32u * pass->words;
  for (uint32_t i = 0; i < pass->words; i++) bits += count_ones(node->care[i]);
  return bits;
}

static void retire_pass(Flow *flow, const Node *node, const Pass *pass) {
  Tally *tally = flow->tally;
  uint32_t bits = tally->regions->items[pass->region].bits, weight = pass->weight;
  uint32_t live = pass->threads & node->live, sure = live & node->sure, dead = pass->threads & ~node->live;
  uint64_t needed = needed_bits(node, pass), per_lane = (needed * weight + pass->groups - 1) / pass->groups;
  if (per_lane > (uint64_t)bits * weight) per_lane = (uint64_t)bits * weight;
  uint64_t masked = (uint64_t)bits * weight - per_lane, unsure = live & ~sure;
  add(tally, pass->region, ACE_DATA, (uint64_t)count_ones(sure) * weight, count_ones(sure) * per_lane);
  add(tally, pass->region, ACE_UNDECIDED, (uint64_t)count_ones((uint32_t)unsure) * weight, count_ones((uint32_t)unsure) * per_lane);
  add(tally, pass->region, ACE_MASKED, 0, count_ones(live) * masked);
  for (uint32_t k = 0; k < 2; k++) {
    uint32_t some = dead & (k == 0 ? ~node->read : node->read);
    add(tally, pass->region, k == 0 ? ACE_DEAD : ACE_DEAD_LATER, (uint64_t)count_ones(some) * weight,
        (uint64_t)count_ones(some) * weight * bits);
  }
  tally_slice_at(tally, pass->region, pass->time, count_ones(live) * per_lane);
  tally_line(tally, pass->region, node->pc, count_ones(live) * per_lane);
}

static AceCause cause_of(const Node *node, const Waiting *waiting) {
  uint32_t lane = waiting->thread;
  if ((node->live >> lane & 1) == 0) return (node->read >> lane & 1) != 0 ? ACE_DEAD_LATER : ACE_DEAD;
  uint32_t care = waiting->is_predicate ? node->predicates_needed : waiting->word < NODE_WORDS ? node->care[waiting->word] : UINT32_MAX;
  if ((care >> waiting->bit & 1) == 0) return ACE_MASKED;
  return (node->sure >> lane & 1) != 0 ? ACE_DATA : ACE_UNDECIDED;
}

void unit_retire(Flow *flow, const Node *node) {
  for (uint32_t i = 0; i < node->pass_count; i++) retire_pass(flow, node, &node->passes[i]);
  for (uint32_t i = node->asked; i != 0; i = flow->waiting[i - 1].next)
    flow->waiting[i - 1].probe->cause = cause_of(node, &flow->waiting[i - 1]);
}

// ---- A result -------------------------------------------------------------------------------------------

typedef struct Slots { // lane slots of a result
  uint32_t compared, unread, own, others;
  uint32_t threads; // of `own`
} Slots;

static Slots slots_of(const ResultEvent *event) {
  Slots slots = {.compared = event->mask & event->compared, .unread = event->mask & event->shadow & ~event->compared};
  for (uint32_t left = event->mask & ~slots.compared & ~slots.unread; left != 0; left &= left - 1) {
    uint32_t slot = (uint32_t)__builtin_ctz(left);
    bool is_own = event->owner_of == NULL || event->owner_of[slot] == 0;
    uint32_t thread = event->thread == NULL ? slot : event->thread[slot] % WARP_LANES;
    if (is_own) {
      slots.own |= 1u << slot;
      slots.threads |= 1u << thread;
    } else {
      slots.others |= 1u << slot;
    }
  }
  return slots;
}

static void wait_for(Flow *flow, Node *node, AceProbe *probe, const Waiting *waiting) {
  if (flow->waiting_count == flow->waiting_room) {
    flow->waiting_room = flow->waiting_room == 0 ? 64 : 2 * flow->waiting_room;
    flow->waiting = realloc(flow->waiting, flow->waiting_room * sizeof *flow->waiting);
    ASSERT(flow->waiting != NULL);
  }
  flow->waiting[flow->waiting_count] = *waiting;
  flow->waiting[flow->waiting_count].probe = probe;
  flow->waiting[flow->waiting_count].next = node->asked;
  node->asked = ++flow->waiting_count;
}

typedef struct Told {
  const ResultEvent *event;
  const Slots *slots;
  Node *node; // NULL: not known, or it has no room
  uint64_t now;
  AceCause cause; // of what matters without a node
} Told;

static void answer(Flow *flow, const Told *told, AceProbe *probe) {
  const ResultEvent *event = told->event;
  const Region *region = &flow->tally->regions->items[event->region];
  OutputMoment at;
  if (probe->is_known || !result_at(region, event, told->now, probe->cycle, &at)) return;
  uint32_t slot = at.turn * region->units + probe->site.unit, word = at.group * at.width + probe->site.bit / 32;
  bool is_there = event->row_count == 0 ? event->predicates != NULL && probe->site.bit < 2 : word < event->row_count;
  if (slot >= WARP_LANES || (event->mask >> slot & 1) == 0) {
    probe->cause = ACE_INACTIVE;
    return;
  }
  probe->cause = ACE_MASKED;
  if (!is_there) return;
  probe->is_known = true; // a transient strikes one result
  uint32_t bit = 1u << slot;
  if ((told->slots->compared & bit) != 0) probe->cause = ACE_COMPARED;
  else if ((told->slots->unread & bit) != 0) probe->cause = ACE_UNREAD;
  else if ((told->slots->own & bit) == 0 || told->node == NULL) probe->cause = told->cause;
  else
    wait_for(flow, told->node, probe,
             &(Waiting){.thread = event->thread == NULL ? slot : event->thread[slot] % WARP_LANES,
                        .word = word,
                        .bit = probe->site.bit % 32,
                        .is_predicate = event->row_count == 0});
}

static void answer_probes(Flow *flow, const Told *told) {
  Tally *tally = flow->tally;
  const ResultEvent *event = told->event;
  for (uint32_t i = tally_first(tally, event->region, event->row); i < tally->probe_count; i++) {
    AceProbe *probe = &tally->probes[i];
    if (probe->site.region != event->region || probe->site.row != event->row || probe->cycle > told->now) return;
    answer(flow, told, probe);
  }
}

void unit_result(Flow *flow, const HookMachine *machine, const ResultEvent *event) {
  Tally *tally = flow->tally;
  if (!tally_wants(tally, event->region)) return;
  const Region *region = &tally->regions->items[event->region];
  OutputMoment at;
  result_at(region, event, machine->cycle, machine->cycle, &at);
  uint32_t weight = ACE_PARTS * event->cycles / at.turns, number = event->instr == NULL ? NOBODY : flow_find(flow, event->who);
  Slots slots = slots_of(event);
  // Who reads the results of a program of another form is not known: each counts.
  const OpInfo *info = event->instr == NULL ? NULL : &op_info[event->instr->op];
  Kind kind = info == NULL ? KIND_ALU : info->kind;
  bool computes = kind == KIND_ALU || kind == KIND_WARP || kind == KIND_SREG || (kind == KIND_MATRIX && info->space == SPACE_NONE);
  Node *node = number == NOBODY || !computes ? NULL : node_at(flow, number);
  if (node != NULL && (node->pass_count == NODE_PASSES || node->is_store)) node = NULL;
  Told told = {event, &slots, node, machine->cycle, computes ? ACE_DATA : ACE_ADDRESS};
  uint32_t inactive = at.turns * region->units - count_ones(event->mask), at_once = node == NULL ? slots.own | slots.others : slots.others;
  const struct {
    AceCause cause;
    uint32_t slots;
  } sums[] = {{ACE_INACTIVE, inactive},
              {ACE_COMPARED, count_ones(slots.compared)},
              {ACE_UNREAD, count_ones(slots.unread)},
              {told.cause, count_ones(at_once)}};
  for (uint32_t i = 0; i < COUNT_OF(sums); i++)
    add(tally, event->region, sums[i].cause, (uint64_t)sums[i].slots * weight, (uint64_t)sums[i].slots * weight * region->bits);
  uint32_t time = tally_time(tally, machine);
  tally_slice_at(tally, event->region, time - 1, (uint64_t)count_ones(at_once) * weight * region->bits);
  tally_line(tally, event->region, event->who->pc, (uint64_t)count_ones(at_once) * weight * region->bits);
  if (node != NULL && slots.threads != 0) {
    node->passes[node->pass_count++] = (Pass){.threads = slots.threads,
                                              .time = time - 1,
                                              .weight = weight,
                                              .region = event->region,
                                              .groups = (uint8_t)at.groups,
                                              .words = (uint8_t)event->row_count};
  }
  if (tally->probe_first[event->region] != 0) answer_probes(flow, &told);
}
