// Offers of lane slots, what hooks make of them, and repeats; see plan.h.
#include "machine/simt/plan.h"
#include "machine/simt/operand.h"

// ---- Offers ------------------------------------------------------------------------------------------

void offer_begin(Offer *offer, uint32_t sm, const Uop *uop, const Instr *instr) {
  const OpInfo *info = &op_info[instr->op];
  memset(offer, 0, sizeof *offer);
  offer->sm = sm;
  offer->warp = uop->warp;
  offer->pc = uop->pc;
  offer->issue = uop->issue;
  offer->instr = instr;
  offer->word = uop->word;
  offer->part = uop->part;
  offer->is_wide = is_warp_wide(info);
  offer->port = port_of(instr);
  offer->is_memory = offer->port == PORT_LDST || offer->port == PORT_GATHER;
  offer->is_fixed = info->kind == KIND_MATRIX && offer->is_memory; // fragments are the whole warp's
  offer->copies = 1;
  offer->next = offer->sp = PART_ANY;
}

uint32_t offer_owner(Offer *offer, uint32_t warp, uint64_t issue, uint16_t ticket) {
  if (offer->owners == SIMT_PLAN_OWNERS) return SIMT_PLAN_OWNERS;
  offer->owner[offer->owners] = (PlanOwner){.issue = issue, .ticket = ticket, .warp = (uint8_t)warp};
  return offer->owners++;
}

static void fill_put(Fill *fill, uint32_t slot, uint32_t owner, uint32_t warp, uint32_t thread, uint32_t ps, uint32_t pa) {
  part_put(&fill->part, slot, warp, thread, false);
  fill->owner_of[slot] = (uint8_t)owner;
  fill->origin[slot] = (uint8_t)slot;
  fill->ps |= (ps & 1) << slot;
  fill->pa |= (pa & 1) << slot;
}

// The first owner's threads on these lane slots of a part that is empty: whole rows, without a look at each. The threads' numbers are the caller's.
static void fill_slots(const Simt *m, Offer *offer, uint32_t slots, uint32_t warp) {
  Fill *fill = &offer->fill;
  uint8_t taken[WARP_LANES];
  m->rows->bytes_from(slots, taken);
  for (uint32_t i = 0; i < WARP_LANES; i++) fill->part.warp[i] = taken[i] & (uint8_t)warp;
  for (uint32_t i = 0; i < WARP_LANES; i++) fill->part.thread[i] &= taken[i];
  for (uint32_t i = 0; i < WARP_LANES; i++) fill->origin[i] = taken[i] & part_identity[i];
  offer->offered = offer->taken = fill->part.filled = slots;
}

// All threads of the warp that issues, each on its home lane; the part is empty. False: two have the same, so a fault has struck one.
static bool fill_homes(const Simt *m, Offer *offer, const uint8_t home[WARP_LANES], uint32_t threads, uint32_t ps, uint32_t pa) {
  Fill *fill = &offer->fill;
  uint32_t slots = m->rows->bits_to(threads, home);
  if (count_ones(slots) != count_ones(threads)) return false;
  for (uint32_t left = threads; left != 0; left &= left - 1) {
    uint32_t thread = (uint32_t)__builtin_ctz(left);
    fill->part.thread[home[thread] % WARP_LANES] = (uint8_t)thread;
  }
  fill_slots(m, offer, slots, offer->owner[0].warp);
  fill->ps = m->rows->bits_from(ps, fill->part.thread) & slots;
  fill->pa = m->rows->bits_from(pa, fill->part.thread) & slots;
  return true;
}

uint32_t offer_threads(const Simt *m, Offer *offer, uint32_t owner, uint32_t threads, uint32_t ps, uint32_t pa, bool may_move) {
  uint32_t warp = offer->owner[owner].warp, found = 0;
  const SimtWarp *at = simt_warp(m, offer->sm, warp);
  if (owner == 0 && at->shuffled == 0) { // nearly always
    Fill *fill = &offer->fill;
    offer->is_plain = true;
    offer->offered = offer->taken = fill->part.filled = threads;
    memset(fill->part.warp, (int)warp, sizeof fill->part.warp);
    memcpy(fill->part.thread, part_identity, sizeof fill->part.thread);
    memcpy(fill->origin, part_identity, sizeof fill->origin);
    fill->ps = ps & threads;
    fill->pa = pa & threads;
    return threads;
  }
  offer->is_plain = false;
  if (owner == 0 && offer->fill.part.filled == 0 && fill_homes(m, offer, at->home, threads, ps, pa)) return threads;
  for (uint32_t left = threads; left != 0; left &= left - 1) {
    uint32_t thread = (uint32_t)__builtin_ctz(left), slot = at->shuffled != 0 ? at->home[thread] % WARP_LANES : thread;
    uint32_t taken = offer->fill.part.filled;
    if ((taken >> slot & 1) != 0 && (!may_move || taken == UINT32_MAX)) continue;
    if ((taken >> slot & 1) != 0) slot = (uint32_t)__builtin_ctz(~taken); // a fault has put two threads on one lane
    fill_put(&offer->fill, slot, owner, warp, thread, ps >> thread, pa >> thread);
    found |= 1u << thread;
  }
  offer->offered = offer->taken = offer->fill.part.filled;
  return found;
}

void offer_again(const Simt *m, Offer *offer, const Uop *uop, uint32_t slots) {
  const Plan *plan = uop->plan == 0 ? NULL : plan_at(m, offer->sm, uop->plan);
  offer->is_plain = plan == NULL;
  if (plan == NULL) {
    offer_owner(offer, uop->warp, uop->issue, uop->ticket);
  } else {
    offer->owners = (uint32_t)min_u64(plan->owners, SIMT_PLAN_OWNERS);
    memcpy(offer->owner, plan->owner, sizeof offer->owner);
  }
  if (plan == NULL || plan_has_one_owner(plan)) {
    Fill *fill = &offer->fill;
    memcpy(fill->part.thread, plan == NULL ? part_identity : plan->thread, sizeof fill->part.thread);
    for (uint32_t i = 0; i < WARP_LANES; i++) fill->part.thread[i] %= WARP_LANES;
    fill_slots(m, offer, slots, part_warp(m, offer->sm, uop, 0));
    fill->ps = uop->ps & slots;
    fill->pa = uop->pa & slots;
    return;
  }
  for (uint32_t left = slots; left != 0; left &= left - 1) {
    uint32_t i = (uint32_t)__builtin_ctz(left), owner = plan->owner_of[i] % SIMT_PLAN_OWNERS;
    fill_put(&offer->fill, i, owner, part_warp(m, offer->sm, uop, i), part_thread(m, offer->sm, uop, i), uop->ps >> i, uop->pa >> i);
  }
  offer->offered = offer->taken = offer->fill.part.filled;
}

uint32_t offer_threads_taken(const Simt *m, const Offer *offer, uint32_t owner) {
  uint32_t threads = 0, slots = offer->fill.part.filled & ~offer->fill.part.shadow;
  if (offer->is_plain) return offer->fill.part.filled;
  if (offer->owners == 1) return m->rows->bits_to(slots, offer->fill.part.thread);
  for (uint32_t left = slots; left != 0; left &= left - 1) {
    uint32_t i = (uint32_t)__builtin_ctz(left);
    if (offer->fill.owner_of[i] == owner) threads |= 1u << offer->fill.part.thread[i] % WARP_LANES;
  }
  return threads;
}

// ---- What hooks have made of it ----------------------------------------------------------------------

// The lane slot of this thread; WARP_LANES: it is not there.
static uint32_t find_thread(const LanePart *part, uint32_t among, uint32_t warp, uint32_t thread, uint32_t guess) {
  if ((among >> guess & 1) != 0 && part->warp[guess] == warp && part->thread[guess] == thread) return guess;
  for (uint32_t left = among; left != 0; left &= left - 1) {
    uint32_t i = (uint32_t)__builtin_ctz(left);
    if (part->warp[i] == warp && part->thread[i] == thread) return i;
  }
  return WARP_LANES;
}

// A thread of another warp that is about to issue the same instruction. False: there is no such.
static bool invite(Simt *m, Offer *offer, Fill *fill, uint32_t slot, uint32_t warp, uint32_t thread) {
  uint32_t owner = 0;
  WarpView view;
  if (offer->is_wide || offer->is_fixed || warp >= m->dims.warps || thread >= WARP_LANES || warp == offer->warp) return false;
  if (!warp_look(m, offer->sm, warp, &view) || !view.is_ready || view.pc != offer->pc) return false;
  bool is_same = view.word.low == offer->word.low && view.word.high == offer->word.high && (view.threads >> thread & 1) != 0;
  if (!is_same) return false;
  while (owner < offer->owners && offer->owner[owner].warp != warp) owner++;
  if (owner == offer->owners) {
    owner = offer_owner(offer, warp, view.issue, TICKET_GUEST);
    if (owner == SIMT_PLAN_OWNERS) return false;
    predicates_tell(m, offer->sm, warp, offer->pc, offer->instr);
  }
  if (offer->owner[owner].ticket != TICKET_GUEST) return false; // it is of this instruction, and not offered
  PredicateBits bits = predicates_of(m, offer->sm, warp, offer->instr);
  fill_put(fill, slot, owner, warp, thread, bits.ps >> thread, bits.pa >> thread);
  fill->origin[slot] = PART_ANY;
  return true;
}

// What nearly always is asked: threads of the one owner that were offered, each once, in other lane slots; some may stay behind. False: it is not that.
static bool settle_moved(const Simt *m, Offer *offer, const LanePart *asked) {
  const RowFunctions *rows = m->rows;
  const Fill *was = &offer->fill;
  uint32_t filled = asked->filled, there = rows->bits_to(was->part.filled, was->part.thread), wanted = rows->bits_to(filled, asked->thread);
  if (offer->owners != 1 || (was->part.shadow | asked->shadow) != 0 || (wanted & ~there) != 0) return false;
  if (count_ones(there) != count_ones(was->part.filled) || count_ones(wanted) != count_ones(filled)) return false; // one stands twice
  uint8_t slot_of[WARP_LANES] = {0}, from[WARP_LANES] = {0}; // of each thread: where it was offered; of each lane slot: likewise
  uint32_t others = 0;                                       // not what was offered
  Fill now = {.part = {.filled = filled}};
  for (uint32_t left = was->part.filled; left != 0; left &= left - 1) {
    uint32_t i = (uint32_t)__builtin_ctz(left);
    slot_of[was->part.thread[i] % WARP_LANES] = (uint8_t)i;
  }
  for (uint32_t left = filled; left != 0; left &= left - 1) {
    uint32_t i = (uint32_t)__builtin_ctz(left), slot = slot_of[asked->thread[i] % WARP_LANES];
    from[i] = (uint8_t)slot;
    now.part.warp[i] = was->part.warp[slot];
    now.part.thread[i] = was->part.thread[slot];
    now.origin[i] = was->origin[slot];
    others |= (asked->warp[i] ^ was->part.warp[slot]) | (asked->thread[i] ^ was->part.thread[slot]);
  }
  if (others != 0) return false;
  now.ps = rows->bits_from(was->ps, from) & filled;
  now.pa = rows->bits_from(was->pa, from) & filled;
  offer->taken = rows->bits_to(filled, now.origin);
  offer->fill = now;
  return true;
}

// Makes what hooks have left in `asked` a legal part of what was in offer->fill.
static void settle(Simt *m, Offer *offer, const LanePart *asked, bool may_invite) {
  const Fill *was = &offer->fill;
  offer->is_plain = false;
  if (settle_moved(m, offer, asked)) return;
  Fill now;
  memset(&now, 0, sizeof now);
  uint32_t real = was->part.filled & ~was->part.shadow, used = 0;
  offer->taken = 0;
  for (uint32_t left = asked->filled; left != 0; left &= left - 1) {
    uint32_t slot = (uint32_t)__builtin_ctz(left), warp = asked->warp[slot], thread = asked->thread[slot];
    bool is_shadow = (asked->shadow >> slot & 1) != 0;
    uint32_t from = find_thread(&was->part, real, warp, thread, slot);
    if (from == WARP_LANES) {
      is_shadow = true;
      from = find_thread(&was->part, was->part.filled, warp, thread, slot);
    }
    if (from == WARP_LANES && (!may_invite || !invite(m, offer, &now, slot, warp, thread))) continue;
    if (from != WARP_LANES) {
      fill_put(&now, slot, was->owner_of[from], warp, thread, was->ps >> from, was->pa >> from);
      now.origin[slot] = was->origin[from];
      is_shadow |= (used >> from & 1) != 0; // a second place of the thread
    }
    if (is_shadow) now.part.shadow |= 1u << slot;
    else used |= 1u << from, offer->taken |= 1u << now.origin[slot] % WARP_LANES;
  }
  // A shadow of the instruction's own threads stands beside its thread: in another part it could read what that part has written.
  for (uint32_t left = now.part.shadow; left != 0; left &= left - 1) {
    uint32_t slot = (uint32_t)__builtin_ctz(left);
    bool is_alone = now.origin[slot] != PART_ANY && (offer->taken >> now.origin[slot] % WARP_LANES & 1) == 0;
    if (is_alone) part_take_out(&now.part, 1u << slot);
  }
  offer->fill = now;
}

static uint32_t unit_lanes(const Simt *m, Port port) {
  switch (port) {
  case PORT_SFU: return m->dims.sfu_lanes;
  case PORT_FP64: return m->dims.fp64_lanes;
  case PORT_TENSOR: return m->dims.tensor_lanes;
  case PORT_LDST:
  case PORT_GATHER: return m->dims.ldst_lanes;
  default: return m->dims.sp_lanes;
  }
}

static const Who *offer_who(Simt *m, const Offer *offer) { return who_scheduled(m, offer->sm, offer->warp, offer->pc, offer->issue); }

static bool is_refused(Simt *m, const Offer *offer, Verdict verdict) {
  if (__builtin_expect(verdict == VERDICT_PASS, 1)) return simt_has_trapped(m);
  verdict = simt_obey(m, offer_who(m, offer), verdict);
  if (verdict == VERDICT_STALL) sm_wake(m, offer->sm, simt_now(m) + 1);
  return verdict == VERDICT_STALL || simt_has_trapped(m);
}

bool offer_plan(Simt *m, Offer *offer) {
  if ((m->wants & WANT_PLAN) == 0) return true;
  LanePart part = offer->fill.part;
  PlanEvent event = {.who = offer_who(m, offer),
                     .scheduler = scheduler_of_warp(m, offer->warp),
                     .instr = offer->instr,
                     .unit = op_info[offer->instr->op].unit,
                     .number = offer->part,
                     .copy = offer->copy,
                     .is_repeat = offer->is_repeat,
                     .copies = offer->copies,
                     .next = PART_ANY,
                     .part = &part};
  if (is_refused(m, offer, hooks_plan(&m->hooks, &m->hook_machine, &event))) return false;
  offer->next = event.next;
  if (offer->copy == 0) offer->copies = (uint8_t)min_u32(max_u32(event.copies, 1), PLAN_MOST_COPIES);
  if (offer->is_wide || offer->is_fixed || memcmp(&part, &offer->fill.part, sizeof part) == 0) return true;
  Fill was = offer->fill;
  uint32_t owners = offer->owners;
  settle(m, offer, &part, !offer->is_repeat); // of a repeat the operands are kept: guests have none there
  bool is_divided = offer->taken != offer->offered;
  if (is_divided && (offer->is_memory || offer->is_repeat || offer->taken == 0)) {
    offer->fill = was;
    offer->owners = owners;
    offer->taken = offer->offered;
  }
  return true;
}

bool offer_place(Simt *m, Offer *offer) {
  if (offer->is_fixed) return true;
  if (!plans_have_room(m, offer->sm)) { // faults in the schedulers may have begun more instructions than they should
    sm_wake(m, offer->sm, simt_now(m) + 1);
    return false;
  }
  if ((m->wants & WANT_PLACE) == 0) return true;
  LanePart part = offer->fill.part;
  PlaceEvent event = {.who = offer_who(m, offer),
                      .scheduler = scheduler_of_warp(m, offer->warp),
                      .instr = offer->instr,
                      .unit = op_info[offer->instr->op].unit,
                      .number = offer->part,
                      .copy = offer->copy,
                      .is_repeat = offer->is_repeat,
                      .is_whole = offer->is_memory || offer->is_repeat,
                      .sps = offer->port == PORT_SP ? (uint8_t)m->spec->sm_sps : 0,
                      .sp = PART_ANY,
                      .lanes = unit_lanes(m, offer->port),
                      .part = &part};
  if (is_refused(m, offer, hooks_place(&m->hooks, &m->hook_machine, &event))) return false;
  offer->sp = event.sps != 0 && event.sp < event.sps ? event.sp : PART_ANY;
  offer->late = event.late;
  if (memcmp(&part, &offer->fill.part, sizeof part) == 0) return true;
  Fill was = offer->fill;
  uint32_t taken = offer->taken;
  settle(m, offer, &part, false);
  if (event.is_whole && offer->taken != taken) {
    offer->fill = was;
    offer->taken = taken;
  }
  if (offer->taken == 0) sm_wake(m, offer->sm, simt_now(m) + 1);
  return offer->taken != 0;
}

// ---- Into the pipeline -------------------------------------------------------------------------------

static bool is_plain(const Simt *m, const Offer *offer) {
  const LanePart *part = &offer->fill.part;
  if (offer->owners != 1 || part->shadow != 0 || (offer->is_wide && part->filled != offer->members)) return false;
  return offer->is_plain || (m->rows->differing(part->thread, part_identity) & part->filled) == 0;
}

// A thread is not where it was offered.
static bool has_moved(const Simt *m, const Offer *offer) {
  const LanePart *part = &offer->fill.part;
  return (m->rows->differing(offer->fill.origin, part_identity) & part->filled & ~part->shadow) != 0;
}

void offer_fill(Simt *m, const Offer *offer, Uop *uop) {
  uop->mask = offer->fill.part.filled;
  uop->ps = offer->is_wide ? offer->wide_ps : offer->fill.ps;
  uop->pa = offer->is_wide ? offer->wide_pa : offer->fill.pa;
  uop->ticket = offer->owner[0].ticket;
  uop->bound_to = offer->sp == PART_ANY ? 0 : (uint8_t)(offer->sp + 1);
  uop->late = offer->late;
  uop->plan = 0;
  if (uop->bound_to != 0) simt_count(m, STAT_BOUND, 1);
  if (is_plain(m, offer)) return;
  uop->plan = (uint16_t)plan_new(m, offer->sm);
  if (uop->plan == 0) return; // never: offer_place has seen to it
  if (has_moved(m, offer)) simt_count(m, STAT_MOVED, 1);
  Plan *plan = plan_at(m, offer->sm, uop->plan);
  plan->shadow = offer->fill.part.shadow;
  plan->members = offer->members;
  plan->owners = offer->owners;
  memcpy(plan->owner, offer->owner, offer->owners * sizeof plan->owner[0]);
  memcpy(plan->owner_of, offer->fill.owner_of, sizeof plan->owner_of);
  memcpy(plan->thread, offer->fill.part.thread, sizeof plan->thread);
}

// ---- Repeats -----------------------------------------------------------------------------------------

Again again_asks(Simt *m, uint32_t sm, Uop *uop, const Instr *instr, uint8_t origin[WARP_LANES]) {
  if (!plan_is_asked(m) || instr == NULL) return AGAIN_STAYS;
  Offer offer;
  offer_begin(&offer, sm, uop, instr);
  offer_again(m, &offer, uop, part_written(m, sm, uop));
  offer.copy = uop->copy;
  offer.copies = uop->copies;
  offer.is_repeat = true;
  if (offer.is_wide) {
    offer.members = uop->plan == 0 ? uop->mask : plan_at(m, sm, uop->plan)->members;
    offer.wide_ps = uop->ps;
    offer.wide_pa = uop->pa;
  }
  if (!offer_plan(m, &offer) || !offer_place(m, &offer)) return simt_has_trapped(m) ? AGAIN_STAYS : AGAIN_WAITS;
  memcpy(origin, offer.fill.origin, sizeof offer.fill.origin);
  Uop new = *uop;
  offer_fill(m, &offer, &new);
  *uop = new;
  return AGAIN_MOVES;
}

bool again_goes(Simt *m, uint32_t sm, Flight *flight, const Instr *instr, const FlightOperands *operands) {
  if (m->at.sms[sm].collect_count >= m->dims.collectors) return false;
  Uop uop = flight->uop;
  uint8_t origin[WARP_LANES];
  Again again = again_asks(m, sm, &uop, instr, origin);
  if (again == AGAIN_WAITS) return false;
  if (again == AGAIN_STAYS || is_warp_wide(&op_info[instr->op])) { // warp-wide: operands lie by thread
    bool goes = collect_known(m, sm, &uop, operands, flight->operand_rows);
    if (again == AGAIN_STAYS) flight->uop.plan = 0; // it has moved on
    return goes;
  }
  FlightOperands moved;
  memset(&moved, 0, sizeof moved);
  for (uint32_t r = 0; r < min_u32(flight->operand_rows, SIMT_SOURCE_ROWS); r++) {
    for (uint32_t left = uop.mask; left != 0; left &= left - 1) {
      uint32_t i = (uint32_t)__builtin_ctz(left);
      moved.row[r][i] = operands->row[r][origin[i] % WARP_LANES];
    }
  }
  return collect_known(m, sm, &uop, &moved, flight->operand_rows);
}
