// What is still to issue of an instruction that has left its warp's buffer: threads that found no place in the parts so far, and
// copies of the threads of the last one. They take the warp's next issue slots; see Rest.
#include "machine/simt/operand.h"
#include "machine/simt/plan.h"

void rest_begin(Simt *m, const Next *n, const Uop *uop, uint32_t copies) {
  Rest *rest = rest_of(m, n->sm, n->warp);
  *rest = (Rest){.uop = *uop, .left = uop->mask, .members = uop->mask, .ps = uop->ps, .pa = uop->pa, .copies = (uint8_t)copies};
  rest->uop.mask = 0;
  n->at->has_rest = 1;
}

void rest_empty(Simt *m, const Next *n, uint32_t copies) {
  if (copies <= 1 || (n->at->valid & 1) == 0) return;
  *rest_of(m, n->sm, n->warp) = (Rest){.empty = copies - 1};
  n->at->has_rest = 1;
}

void rest_repeats(Simt *m, uint32_t sm, uint32_t warp, const Uop *uop) {
  Rest *rest = rest_of(m, sm, warp);
  rest->uop = *uop;
  rest->uop.copy = 1;
  rest->again = part_written(m, sm, uop);
  if (uop->plan != 0) {
    rest->uop.plan = (uint16_t)plan_new(m, sm);
    if (rest->uop.plan != 0) memcpy(plan_at(m, sm, rest->uop.plan), plan_at(m, sm, uop->plan), sizeof(Plan));
  }
  simt_warp(m, sm, warp)->has_rest = 1;
}

bool rest_waits(const Simt *m, const Next *n) {
  const Rest *rest = rest_of(m, n->sm, n->warp);
  if (rest->empty != 0 || rest->ticket == 0 || n->instr == NULL || (n->facts->flags & FACT_WIDE) == 0) return false;
  const Ticket *ticket = ticket_at(m, n->sm, rest->ticket);
  return (ticket->state & (TICKET_DEALT | TICKET_KEPT)) == TICKET_DEALT;
}

// ---- Tickets -------------------------------------------------------------------------------------------

// Threads issue for the first time.
static void count_first(Simt *m, const Next *n, Rest *rest, Offer *offer) {
  rest->left &= ~offer_threads_taken(m, offer, 0);
  if (rest->ticket == 0 && (offer->copies > 1 || rest->left != 0)) rest->ticket = (uint16_t)ticket_new(m, n->sm, n->warp);
  offer->owner[0].ticket = rest->ticket;
  if (rest->ticket == 0) return;
  Ticket *ticket = ticket_at(m, n->sm, rest->ticket);
  ticket->issued = (uint16_t)(ticket->issued + offer->copies);
  ticket->state = (uint8_t)(ticket->state & ~TICKET_OPEN);
  if (rest->left != 0) ticket->state |= TICKET_OPEN | TICKET_DEALT;
}

// Threads issue again; where not all of them find room there is one more part.
static void count_again(Simt *m, uint32_t sm, Rest *rest, const Offer *offer) {
  rest->again &= ~offer->taken;
  for (uint32_t i = 0; i < offer->owners && rest->again != 0; i++) {
    uint16_t number = offer->owner[i].ticket;
    if (number == 0 || number == TICKET_GUEST) continue;
    ticket_at(m, sm, number)->issued++;
    ticket_at(m, sm, number)->state |= TICKET_DEALT;
  }
}

// ---- Parts ---------------------------------------------------------------------------------------------

static void collect(Simt *m, uint32_t sm, const Uop *uop, const Instr *instr) {
  bool is_kept = uop->ticket != 0 && is_warp_wide(&op_info[instr->op]) && (ticket_at(m, sm, uop->ticket)->state & TICKET_KEPT) != 0;
  if (!is_kept) {
    collect_take(m, sm, uop, instr);
    return;
  }
  const FlightOperands *kept = &m->at.kept[sm * m->dims.schedulers + scheduler_of_warp(m, uop->warp)];
  collect_known(m, sm, uop, kept, operand_sources(instr).rows);
}

void offer_wish(Simt *m, const Offer *offer) {
  if (offer->next >= m->dims.warps) return;
  m->at.sms[offer->sm].schedulers[scheduler_of_warp(m, offer->next)].wanted = offer->next + 1u;
}

// The copy that was under way is through.
static void next_copy(Simt *m, uint32_t sm, Rest *rest) {
  if (rest->again != 0) return;
  if (++rest->uop.copy < rest->uop.copies) {
    rest->again = part_written(m, sm, &rest->uop);
    return;
  }
  part_ends(m, sm, &rest->uop);
  rest->uop.mask = 0;
}

static void end_if_done(Simt *m, const Next *n, Rest *rest) {
  if (rest->again != 0 || rest->left != 0 || rest->empty != 0) return;
  bool is_kept = rest->ticket != 0 && (ticket_at(m, n->sm, rest->ticket)->state & TICKET_KEPT) != 0;
  if (is_kept) memset(&m->at.kept[n->sm * m->dims.schedulers + scheduler_of_warp(m, n->warp)], 0, sizeof(FlightOperands));
  part_ends(m, n->sm, &rest->uop);
  memset(rest, 0, sizeof *rest);
  n->at->has_rest = 0;
}

void rest_send(Simt *m, const Next *n, Offer *offer) {
  Rest *rest = rest_of(m, n->sm, n->warp);
  bool is_copy = offer->copy > 0;
  Uop uop = rest->uop;
  if (is_copy) count_again(m, n->sm, rest, offer);
  else count_first(m, n, rest, offer);
  uop.valid = 1;
  uop.issued_at = simt_now(m);
  uop.copy = offer->copy;
  uop.copies = is_copy ? rest->uop.copies : offer->copies;
  uop.is_early = uop.copy + 1 < uop.copies;
  uop.has_more = is_copy && rest->again != 0;
  uop.part = is_copy ? rest->uop.part : rest->part++;
  offer_fill(m, offer, &uop);
  collect(m, n->sm, &uop, offer->instr);
  offer_wish(m, offer);
  if (is_copy) next_copy(m, n->sm, rest);
  else if (uop.copies > 1) rest_repeats(m, n->sm, n->warp, &uop);
  end_if_done(m, n, rest);
}

// The next part as it would issue.
static void make_offer(const Simt *m, const Next *n, const Rest *rest, Offer *offer) {
  offer_begin(offer, n->sm, &rest->uop, n->instr);
  offer->members = rest->members;
  offer->wide_ps = rest->ps;
  offer->wide_pa = rest->pa;
  if (rest->again != 0) {
    offer->copy = rest->uop.copy;
    offer_again(m, offer, &rest->uop, rest->again);
  } else {
    offer->part = rest->part;
    offer->copies = rest->copies;
    offer_owner(offer, n->warp, rest->uop.issue, rest->ticket);
    offer_threads(m, offer, 0, rest->left, rest->ps, rest->pa, true);
  }
}

bool rest_part(Simt *m, const Next *n) {
  Rest *rest = rest_of(m, n->sm, n->warp);
  Offer offer;
  make_offer(m, n, rest, &offer);
  // Warp-wide instructions were planned before their members were known.
  bool is_planned = offer.copy == 0 && offer.is_wide && rest->ticket == 0;
  if ((!is_planned && !offer_plan(m, &offer)) || !offer_place(m, &offer)) return false;
  rest_send(m, n, &offer);
  return true;
}

bool rest_issue(Simt *m, const Next *n) {
  Rest *rest = rest_of(m, n->sm, n->warp);
  bool is_copy = rest->empty != 0 || rest->again != 0, is_first = rest->part == 0;
  if (rest->empty != 0) {
    rest->empty--;
    end_if_done(m, n, rest);
  } else if (n->instr == NULL) { // never: no fault strikes its word
    rest->again = rest->left = 0;
    end_if_done(m, n, rest);
  } else if (!rest_part(m, n)) {
    return false;
  }
  simt_count(m, STAT_ISSUED, 1);
  if (is_copy || !is_first) simt_count(m, is_copy ? STAT_COPIES : STAT_PARTS, 1);
  return true;
}
