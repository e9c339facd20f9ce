// Parts of instructions: which thread of which warp a lane slot computes (plans), how many parts an instruction has (tickets).
//
// A plain part, lane slot i for thread i of one warp, has plan 0 and its rows are copied whole. Any other has an entry of the SM's plan table,
// which moves with it from the collector to its unit: values lie by lane slot from the collector on, and reading and
// writing registers permutes. Warp-wide instructions collect by thread, since they look across threads; their results lie by lane slot.
// An instruction in several parts has a ticket that counts them; see Ticket.
#ifndef REDOUBT_SIMT_PART_H
#define REDOUBT_SIMT_PART_H

#include "machine/simt/execute.h"

enum { TICKET_GUEST = 0xFFFF }; // of an owner whose threads are only shadows: its own instruction issues apart

static inline Plan *plan_at(const Simt *m, uint32_t sm, uint32_t number) {
  return &m->at.plans[(size_t)sm * m->dims.plans + number % m->dims.plans];
}
static inline Ticket *ticket_at(const Simt *m, uint32_t sm, uint32_t number) {
  return &m->at.tickets[(size_t)sm * m->dims.tickets + number % m->dims.tickets];
}
static inline Rest *rest_of(const Simt *m, uint32_t sm, uint32_t warp) { return &m->at.rests[sm * m->dims.warps + warp]; }
static inline const PlanOwner *plan_owner(const Plan *plan, uint32_t slot) {
  return &plan->owner[plan->owner_of[slot % WARP_LANES] % SIMT_PLAN_OWNERS];
}

// All its lane slots are of its first owner, as nearly always.
static inline bool plan_has_one_owner(const Plan *plan) {
  uint64_t others[WARP_LANES / 8], any = 0;
  memcpy(others, plan->owner_of, sizeof others);
  for (uint32_t i = 0; i < WARP_LANES / 8; i++) any |= others[i];
  return any == 0;
}

// Warp and thread of a lane slot, whatever faults have made of the plan.
static inline uint32_t part_warp(const Simt *m, uint32_t sm, const Uop *uop, uint32_t lane_slot) {
  return (uop->plan == 0 ? uop->warp : plan_owner(plan_at(m, sm, uop->plan), lane_slot)->warp) % m->dims.warps;
}
static inline uint32_t part_thread(const Simt *m, uint32_t sm, const Uop *uop, uint32_t lane_slot) {
  return uop->plan == 0 ? lane_slot : plan_at(m, sm, uop->plan)->thread[lane_slot] % WARP_LANES;
}
// Lane slots that are written in the end.
static inline uint32_t part_written(const Simt *m, uint32_t sm, const Uop *uop) {
  return uop->plan == 0 ? uop->mask : uop->mask & ~plan_at(m, sm, uop->plan)->shadow;
}

extern const uint8_t part_identity[WARP_LANES]; // 0, 1, 2, ...

// 0: none is left.
uint32_t plan_new(Simt *m, uint32_t sm);
void plan_free(Simt *m, uint32_t sm, uint32_t number);
bool plans_have_room(const Simt *m, uint32_t sm); // for a part and its copies
uint32_t ticket_new(Simt *m, uint32_t sm, uint32_t warp);
// The tickets of a part's owners that have one; returns their number.
uint32_t part_tickets(const Simt *m, uint32_t sm, const Uop *uop, uint16_t tickets[SIMT_PLAN_OWNERS]);

// A group of lane slots whose registers are those of one warp.
typedef struct PartGroup {
  uint32_t warp;
  uint32_t slots;
} PartGroup;
// The group of the lowest of `slots`, which are not empty.
PartGroup part_group(const Simt *m, uint32_t sm, const Uop *uop, uint32_t slots);
// Bits of lane slots as bits of threads, and the other way round.
uint32_t part_bits_to_threads(const Simt *m, const Plan *plan, uint32_t slots, uint32_t bits);
uint32_t part_bits_to_slots(const Simt *m, const Plan *plan, uint32_t slots, uint32_t bits);
void part_row_to_slots(const Simt *m, const Plan *plan, uint32_t slots, const uint32_t from[WARP_LANES], uint32_t to[WARP_LANES]);
// The other way round: which lane slot each thread of some lane slots is in.
typedef struct PartThreads {
  uint32_t all;             // that are there
  uint8_t slot[WARP_LANES]; // of each; 0: it is not there
} PartThreads;
void part_threads(const Simt *m, const Plan *plan, uint32_t slots, PartThreads *threads);
void part_row_to_threads(const Simt *m, const PartThreads *threads, const uint32_t from[WARP_LANES], uint32_t to[WARP_LANES]);

bool part_has_warp(const Simt *m, uint32_t sm, const Uop *uop, uint32_t warp);
uint64_t part_planned_warps(const Simt *m, uint32_t sm, const Uop *uop, uint32_t slots);
static inline uint64_t part_warps(const Simt *m, uint32_t sm, const Uop *uop, uint32_t slots) {
  return uop->plan == 0 ? UINT64_C(1) << uop->warp % m->dims.warps : part_planned_warps(m, sm, uop, slots);
}

// Results as hooks see them: m->result, with what every result event says of its part, who computed it and which copy it is. The rest is the caller's.
// What is the same for all plain parts stands there from part_show_plain on.
void part_show_plain(Simt *m);
void part_show_planned(Simt *m, uint32_t sm, const Uop *uop);
static inline ResultEvent *part_show(Simt *m, uint32_t sm, const Uop *uop, const Who *who) {
  ResultEvent *event = &m->result;
  event->who = who;
  event->mask = uop->mask;
  event->copy = uop->copy;
  event->copies = uop->copies;
  event->part = uop->part;
  event->is_last = uop->has_more == 0;
  event->compared = 0;
  m->result_owner[0] = (PartOwner){.issue = uop->issue, .warp = uop->warp, .block_slot = who->block_slot};
  if (__builtin_expect(uop->plan != 0, 0)) part_show_planned(m, sm, uop);
  return event;
}
static inline Verdict part_tell(Simt *m, const Uop *uop, ResultEvent *event) {
  Verdict verdict = simt_obey(m, event->who, hook_tell_result(m->listener, &m->hook_machine, event));
  if (__builtin_expect(uop->plan != 0, 0)) part_show_plain(m);
  return verdict;
}

// A part has returned; the last one of an instruction clears the scoreboard. `is_held`: nothing of it was written.
void part_counts_return(Simt *m, uint32_t sm, const Uop *uop, const Instr *instr, bool is_held);
static inline void part_returns(Simt *m, uint32_t sm, const Uop *uop, const Instr *instr, bool is_held) {
  if ((uop->plan | uop->ticket) != 0) part_counts_return(m, sm, uop, instr, is_held);
  else if (!is_held) scoreboard_clear(m, sm, uop->warp % m->dims.warps, instr);
}
// A fault has sent it where no unit takes it: copies that are to come stand in for it.
void part_is_lost(Simt *m, uint32_t sm, Uop *uop);
static inline void part_ends(Simt *m, uint32_t sm, Uop *uop) { // its plan is free again
  if (uop->plan == 0) return;
  plan_free(m, sm, uop->plan);
  uop->plan = 0;
}
// Other copies of its threads have not read all their operands yet.
bool part_has_readers(const Simt *m, uint32_t sm, const Uop *uop);

// A warp-wide instruction whose threads are dealt over parts reads its operands once: the first part leaves them here for the others.
void part_keep_operands(Simt *m, uint32_t sm, const Collector *collector);
// Memory instructions go on by thread once their addresses are known: parts of one warp become plain. Rows: the collector's and `rows`.
void part_to_threads(Simt *m, uint32_t sm, Collector *collector, uint32_t (*rows)[WARP_LANES], uint32_t row_count);

#endif
