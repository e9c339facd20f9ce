// Plans and tickets of parts, and how rows and masks are permuted; see part.h.
#include "machine/simt/part.h"

const uint8_t part_identity[WARP_LANES] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                                           16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};
const uint8_t part_one_owner[WARP_LANES];

// ---- Tables ----------------------------------------------------------------------------------------

// The first free place from 1 on, which is taken; 0: there is none.
static uint32_t take_place(uint64_t *used, uint32_t count) {
  for (uint32_t word = 0; 64 * word < count; word++) {
    uint64_t free = ~used[word] & (word == 0 ? ~UINT64_C(1) : UINT64_MAX);
    uint32_t place = free == 0 ? count : 64 * word + (uint32_t)__builtin_ctzll(free);
    if (place >= count) continue;
    used[word] |= UINT64_C(1) << place % 64;
    return place;
  }
  return 0;
}

uint32_t plan_new(Simt *m, uint32_t sm) {
  uint32_t number = take_place(m->at.sms[sm].plans_used, m->dims.plans);
  if (number == 0) return 0;
  memset(plan_at(m, sm, number), 0, sizeof(Plan)); // what faults may have left in it
  if (places_are_wanted(m)) simt_take(m, who_sm(m, sm), REGION_PLAN_WARP, REGION_PLAN_SHADOW, (uint64_t)sm * m->dims.plans + number);
  return number;
}

void plan_free(Simt *m, uint32_t sm, uint32_t number) {
  if (number == 0 || number >= m->dims.plans) return;
  bool is_used = (m->at.sms[sm].plans_used[number / 64] >> number % 64 & 1) != 0;
  memset(plan_at(m, sm, number), 0, sizeof(Plan));
  m->at.sms[sm].plans_used[number / 64] &= ~(UINT64_C(1) << number % 64);
  if (is_used && places_are_wanted(m))
    simt_release(m, who_sm(m, sm), REGION_PLAN_WARP, REGION_PLAN_SHADOW, (uint64_t)sm * m->dims.plans + number);
}

bool plans_have_room(const Simt *m, uint32_t sm) {
  uint32_t left = 0;
  for (uint32_t word = 0; 64 * word < m->dims.plans && left < 2; word++) {
    uint64_t free = ~m->at.sms[sm].plans_used[word] & (word == 0 ? ~UINT64_C(1) : UINT64_MAX);
    if (m->dims.plans - 64 * word < 64) free &= (UINT64_C(1) << (m->dims.plans - 64 * word)) - 1;
    left += (free != 0 ? 1u : 0u) + ((free & (free - 1)) != 0 ? 1u : 0u);
  }
  return left >= 2;
}

uint32_t ticket_new(Simt *m, uint32_t sm, uint32_t warp) {
  uint32_t number = take_place(m->at.sms[sm].tickets_used, m->dims.tickets);
  if (number == 0) return 0;
  *ticket_at(m, sm, number) = (Ticket){.warp = (uint8_t)warp};
  if (places_are_wanted(m)) simt_take(m, who_sm(m, sm), REGION_TICKET, REGION_TICKET, (uint64_t)sm * m->dims.tickets + number);
  return number;
}

static void ticket_free(Simt *m, uint32_t sm, uint32_t number) {
  bool is_used = (m->at.sms[sm].tickets_used[number / 64] >> number % 64 & 1) != 0;
  memset(ticket_at(m, sm, number), 0, sizeof(Ticket));
  m->at.sms[sm].tickets_used[number / 64] &= ~(UINT64_C(1) << number % 64);
  if (is_used && places_are_wanted(m))
    simt_release(m, who_sm(m, sm), REGION_TICKET, REGION_TICKET, (uint64_t)sm * m->dims.tickets + number);
}

uint32_t part_tickets(const Simt *m, uint32_t sm, const Uop *uop, uint16_t tickets[SIMT_PLAN_OWNERS]) {
  uint32_t count = 0;
  if (uop->plan == 0) {
    if (uop->ticket != 0) tickets[count++] = uop->ticket;
    return count;
  }
  const Plan *plan = plan_at(m, sm, uop->plan);
  for (uint32_t i = 0; i < min_u64(plan->owners, SIMT_PLAN_OWNERS); i++) {
    uint16_t ticket = plan->owner[i].ticket;
    if (ticket != 0 && ticket != TICKET_GUEST) tickets[count++] = ticket;
  }
  return count;
}

// ---- Lane slots and threads ------------------------------------------------------------------------

PartGroup part_group(const Simt *m, uint32_t sm, const Uop *uop, uint32_t slots) {
  const Plan *plan = plan_at(m, sm, uop->plan);
  PartGroup group = {.warp = part_warp(m, sm, uop, (uint32_t)__builtin_ctz(slots))};
  if (plan_has_one_owner(plan)) {
    group.slots = slots;
  } else {
    for (uint32_t left = slots; left != 0; left &= left - 1) {
      uint32_t i = (uint32_t)__builtin_ctz(left);
      if (part_warp(m, sm, uop, i) == group.warp) group.slots |= 1u << i;
    }
  }
  return group;
}

uint32_t part_bits_to_threads(const Simt *m, const Plan *plan, uint32_t slots, uint32_t bits) {
  return m->rows->bits_to(slots & bits, plan->thread);
}

uint32_t part_bits_to_slots(const Simt *m, const Plan *plan, uint32_t slots, uint32_t bits) {
  return m->rows->bits_from(bits, plan->thread) & slots;
}

void part_threads(const Simt *m, const Plan *plan, uint32_t slots, PartThreads *threads) {
  memset(threads->slot, 0, sizeof threads->slot);
  for (uint32_t left = slots; left != 0; left &= left - 1) {
    uint32_t i = (uint32_t)__builtin_ctz(left);
    threads->slot[plan->thread[i] % WARP_LANES] = (uint8_t)i;
  }
  threads->all = m->rows->bits_to(slots, plan->thread);
}

void part_row_to_threads(const Simt *m, const PartThreads *threads, const uint32_t from[WARP_LANES], uint32_t to[WARP_LANES]) {
  m->rows->permute(from, threads->slot, threads->all, to);
}

void part_row_to_slots(const Simt *m, const Plan *plan, uint32_t slots, const uint32_t from[WARP_LANES], uint32_t to[WARP_LANES]) {
  m->rows->permute(from, plan->thread, slots, to);
}

bool part_has_warp(const Simt *m, uint32_t sm, const Uop *uop, uint32_t warp) {
  if (uop->warp == warp) return true;
  if (uop->plan == 0) return false;
  const Plan *plan = plan_at(m, sm, uop->plan);
  for (uint32_t i = 0; i < min_u64(plan->owners, SIMT_PLAN_OWNERS); i++) {
    if (plan->owner[i].warp == warp) return true;
  }
  return false;
}

uint64_t part_planned_warps(const Simt *m, uint32_t sm, const Uop *uop, uint32_t slots) {
  uint64_t warps = 0;
  if (slots != 0 && plan_has_one_owner(plan_at(m, sm, uop->plan))) slots &= -slots;
  for (; slots != 0; slots &= slots - 1) warps |= UINT64_C(1) << part_warp(m, sm, uop, (uint32_t)__builtin_ctz(slots));
  return warps;
}

// ---- What hooks see ----------------------------------------------------------------------------------

static PartOwner owner_view(const Simt *m, uint32_t sm, uint32_t warp, uint64_t issue) {
  return (PartOwner){.issue = issue, .warp = warp, .block_slot = simt_warp(m, sm, warp % m->dims.warps)->block_slot};
}

void part_show_plain(Simt *m) {
  m->result.owner = m->result_owner;
  m->result.owner_of = part_one_owner;
  m->result.thread = part_identity;
  m->result.owners = 1;
  m->result.shadow = 0;
  m->result.inside = NULL;
}

void part_show_planned(Simt *m, uint32_t sm, const Uop *uop) {
  const Plan *plan = plan_at(m, sm, uop->plan);
  uint32_t seen = plan->owners == 1 && plan_has_one_owner(plan) ? 1 : SIMT_PLAN_OWNERS;
  for (uint32_t i = 0; i < seen; i++) m->result_owner[i] = owner_view(m, sm, plan->owner[i].warp, plan->owner[i].issue);
  m->result.owner_of = plan->owner_of;
  m->result.thread = plan->thread;
  m->result.owners = (uint32_t)min_u64(plan->owners, SIMT_PLAN_OWNERS);
  m->result.shadow = plan->shadow & uop->mask;
}

// ---- The end of a part -------------------------------------------------------------------------------

static void ticket_returns(Simt *m, uint32_t sm, uint32_t number, const Instr *instr) {
  Ticket *ticket = ticket_at(m, sm, number);
  ticket->returned++;
  if ((ticket->state & TICKET_OPEN) != 0 || ticket->returned < ticket->issued) return;
  scoreboard_clear(m, sm, ticket->warp % m->dims.warps, instr);
  ticket_free(m, sm, number);
}

void part_counts_return(Simt *m, uint32_t sm, const Uop *uop, const Instr *instr, bool is_held) {
  if (uop->plan == 0) {
    ticket_returns(m, sm, uop->ticket, instr);
    return;
  }
  const Plan *plan = plan_at(m, sm, uop->plan);
  for (uint32_t i = 0; i < min_u64(plan->owners, SIMT_PLAN_OWNERS); i++) {
    const PlanOwner *owner = &plan->owner[i];
    if (owner->ticket == TICKET_GUEST) continue;
    if (owner->ticket != 0) ticket_returns(m, sm, owner->ticket, instr);
    else if (!is_held) scoreboard_clear(m, sm, owner->warp % m->dims.warps, instr);
  }
}

void part_is_lost(Simt *m, uint32_t sm, Uop *uop) {
  uint16_t tickets[SIMT_PLAN_OWNERS];
  uint32_t count = uop->copy + 1 < uop->copies ? part_tickets(m, sm, uop, tickets) : 0;
  for (uint32_t i = 0; i < count; i++) ticket_at(m, sm, tickets[i])->issued--;
  part_ends(m, sm, uop);
}

static bool is_same_part(const Uop *a, const Uop *b) { return a->warp == b->warp && a->issue == b->issue && a->part == b->part; }

bool part_has_readers(const Simt *m, uint32_t sm, const Uop *uop) {
  if (uop->copies < 2) return false;
  for (uint64_t left = m->at.sms[sm].present; left != 0; left &= left - 1) {
    uint32_t warp = (uint32_t)__builtin_ctzll(left);
    const Rest *rest = rest_of(m, sm, warp);
    if (simt_warp(m, sm, warp)->has_rest != 0 && rest->again != 0 && is_same_part(&rest->uop, uop)) return true;
  }
  for (uint64_t left = m->at.sms[sm].collect_pending; left != 0; left &= left - 1) {
    if (is_same_part(&collector_at(m, sm, (uint32_t)__builtin_ctzll(left))->uop, uop)) return true;
  }
  return false;
}

void parts_abandon(Simt *m, uint32_t sm, uint32_t block_slot) {
  for (uint32_t i = 0; i < m->layout.warps; i++) {
    Rest *rest = rest_of(m, sm, (block_slot * m->layout.warps + i) % m->dims.warps);
    part_ends(m, sm, &rest->uop);
    memset(rest, 0, sizeof *rest);
  }
  for (uint32_t number = 1; number < m->dims.tickets; number++) {
    bool is_used = (m->at.sms[sm].tickets_used[number / 64] >> number % 64 & 1) != 0;
    if (is_used && block_slot_of_warp(m, ticket_at(m, sm, number)->warp) == block_slot) ticket_free(m, sm, number);
  }
}

// ---- Operands ----------------------------------------------------------------------------------------

void part_keep_operands(Simt *m, uint32_t sm, const Collector *collector) {
  const Uop *uop = &collector->uop;
  if (uop->ticket == 0 || collector->whole == 0) return;
  Ticket *ticket = ticket_at(m, sm, uop->ticket);
  if ((ticket->state & (TICKET_DEALT | TICKET_KEPT)) != TICKET_DEALT) return;
  FlightOperands *kept = &m->at.kept[sm * m->dims.schedulers + scheduler_of_warp(m, uop->warp)];
  memcpy(kept->row, collector->row, min_u32(collector->rows, SIMT_SOURCE_ROWS) * sizeof kept->row[0]);
  ticket->state |= TICKET_KEPT;
}

void part_to_threads(Simt *m, uint32_t sm, Collector *collector, uint32_t (*rows)[WARP_LANES], uint32_t row_count) {
  Uop *uop = &collector->uop;
  if (uop->plan == 0) return;
  Plan *plan = plan_at(m, sm, uop->plan);
  uint32_t slots = part_written(m, sm, uop), written = 0, row[WARP_LANES];
  for (uint32_t i = 0; i < min_u64(plan->owners, SIMT_PLAN_OWNERS); i++) written += plan->owner[i].ticket != TICKET_GUEST ? 1 : 0;
  uop->mask = slots; // shadows end here
  if (written > 1) return;
  PartThreads threads;
  part_threads(m, plan, slots, &threads);
  for (uint32_t r = 0; r < collector->rows + row_count; r++) {
    uint32_t *values = r < collector->rows ? collector->row[r] : rows[r - collector->rows];
    memset(row, 0, sizeof row);
    part_row_to_threads(m, &threads, values, row);
    memcpy(values, row, sizeof row);
  }
  uop->ps = part_bits_to_threads(m, plan, slots, uop->ps);
  uop->pa = part_bits_to_threads(m, plan, slots, uop->pa);
  uop->mask = threads.all;
  part_ends(m, sm, uop);
}
