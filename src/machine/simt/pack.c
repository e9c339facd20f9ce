// Large-warp mode: threads of several warps that are at the same instruction issue as one.
//
// So many consecutive warps of a block form a large warp, one of its rows each. A part of an instruction takes, in every hardware
// lane, the first row with a thread there that has not executed it yet; threads never change lanes. Rows that have come to
// an instruction wait until all that are there can issue it, and a warp goes on when all its threads have. Only instructions
// that work lane by lane are packed: no control flow, nothing warp-wide.
// Narasiman et al., Improving GPU Performance via Large Warps and Two-Level Warp Scheduling, MICRO 2011, section 3.
#include "machine/simt/plan.h"

enum { PACK_MOST_WARPS = 8 };

typedef struct Pack {
  Offer offer;
  uint32_t count;
  Next row[PACK_MOST_WARPS];        // warps that take part; those of the offer's owners
  uint32_t active[PACK_MOST_WARPS]; // threads of each that execute the instruction, in this part or another
} Pack;

typedef enum Join { JOIN_ELSEWHERE, JOIN_WAITS, JOIN_READY } Join;

// Is the warp at the same instruction, and could it issue it?
static Join join_of(Simt *m, const Next *n, Next *row) {
  SimtWarp *at = row->at = simt_warp(m, row->sm, row->warp);
  bool is_there = (m->at.sms[n->sm].present >> row->warp & 1) != 0 && (at->valid & 1) != 0 && at->has_rest == 0;
  if (!is_there || at->block_slot != n->at->block_slot || !control_front(m, row->sm, row->warp)) return JOIN_ELSEWHERE;
  if (simt_entries(m, row->sm, row->warp)[at->warp.stack.depth - 1].pc != n->pc) return JOIN_ELSEWHERE;
  if (at->next_issue_at > simt_now(m)) {
    sm_wake(m, row->sm, at->next_issue_at);
    return JOIN_WAITS;
  }
  if (next_find(m, row) != IDLE_NONE) return JOIN_WAITS;
  const Who *who = cells_warp(m, row->sm, row->warp, WHO_NO_INDEX, WHO_NO_NUMBER);
  if (row->warp != n->warp) cells_read(m, who, REGION_BUFFER, (uint64_t)(row->entry - m->at.buffers), 0xF, &row->entry->word);
  bool is_same = row->entry->word.low == n->entry->word.low && row->entry->word.high == n->entry->word.high;
  if (!is_same) return JOIN_ELSEWHERE; // a damaged word
  row->instr = n->instr;
  row->facts = n->facts;
  return at->to_issue != 0 || next_is_free(m, row) ? JOIN_READY : JOIN_WAITS;
}

static void add_row(Simt *m, Pack *pack, const Next *row) {
  Offer *offer = &pack->offer;
  uint32_t active = row->mask & next_guard(row), left = row->at->to_issue != 0 ? row->at->to_issue : active;
  PredicateBits bits = predicates_of(m, row->sm, row->warp, row->instr);
  if (pack->count == 0) {
    Uop uop = next_uop(m, row, 0);
    uop.issue -= row->at->to_issue != 0 ? 1 : 0;
    uop.part = row->at->parts;
    offer_begin(offer, row->sm, &uop, row->instr);
  }
  uint32_t owner = offer_owner(offer, row->warp, row->at->issued - (row->at->to_issue != 0 ? 1 : 0), row->at->ticket);
  if (offer_threads(m, offer, owner, left, bits.ps, bits.pa, false) == 0) {
    offer->owners--; // another row has all its lanes
    return;
  }
  pack->row[pack->count] = *row;
  pack->active[pack->count++] = active;
}

// Puts the same instruction of the warps of one large warp together. False: some of them cannot issue it yet.
// Changes nothing but what looking changes.
static bool gather(Simt *m, const Next *n, Pack *pack) {
  uint32_t rows = min_u32((uint32_t)m->spec->scheduler_large_warp, PACK_MOST_WARPS), first = n->warp - n->warp % rows;
  pack->count = 0;
  for (uint32_t i = 0; i < rows && first + i < m->dims.warps; i++) {
    Next row = {.sm = n->sm, .scheduler = n->scheduler, .warp = first + i};
    Join join = join_of(m, n, &row);
    if (join == JOIN_WAITS) return false;
    if (join == JOIN_ELSEWHERE) continue;
    if (row.warp != n->warp) predicates_tell(m, row.sm, row.warp, row.pc, row.instr);
    add_row(m, pack, &row);
  }
  return pack->count > 0;
}

// The row's threads of this part leave: its first part begins the instruction, its last one lets the warp go on.
static void row_begins(Simt *m, Offer *offer, uint32_t owner, const Next *row, uint32_t active) {
  SimtWarp *at = row->at;
  uint32_t threads = offer_threads_taken(m, offer, owner);
  if (threads == 0) { // hooks have left it out
    offer->owner[owner].ticket = TICKET_GUEST;
    return;
  }
  if (at->to_issue == 0) {
    next_begins(m, row, count_ones(active));
    scoreboard_mark(m, row->sm, row->warp, row->instr);
    at->to_issue = active;
  }
  at->to_issue &= ~threads;
  if (at->ticket == 0 && (at->to_issue != 0 || offer->copies > 1)) at->ticket = (uint16_t)ticket_new(m, row->sm, row->warp);
  offer->owner[owner].ticket = at->ticket;
  if (at->ticket != 0) {
    Ticket *ticket = ticket_at(m, row->sm, at->ticket);
    ticket->issued = (uint16_t)(ticket->issued + offer->copies);
    ticket->state = at->to_issue != 0 ? TICKET_OPEN : 0;
  }
}

bool pack_issue(Simt *m, const Next *n) {
  Pack pack;
  Offer *offer = &pack.offer;
  if (!gather(m, n, &pack) || !issue_told(m, n, offer->offered, ~offer->offered)) return false;
  if (!offer_plan(m, offer) || !offer_place(m, offer)) return false;
  Uop uop = next_uop(m, &pack.row[0], 0);
  uop.issue = offer->owner[0].issue;
  uop.part = pack.row[0].at->parts++;
  for (uint32_t i = 0; i < pack.count; i++) row_begins(m, offer, i, &pack.row[i], pack.active[i]);
  uop.copies = offer->copies;
  uop.is_early = offer->copies > 1;
  offer_fill(m, offer, &uop);
  next_issues(m, n, count_ones(offer->taken));
  collect_take(m, n->sm, &uop, n->instr);
  offer_wish(m, offer);
  if (uop.copies > 1) rest_repeats(m, n->sm, n->warp, &uop);
  for (uint32_t i = 0; i < pack.count; i++) {
    if (pack.row[i].at->to_issue != 0 || offer->owner[i].ticket == TICKET_GUEST) continue;
    pack.row[i].at->ticket = 0;
    pack.row[i].at->parts = 0;
    next_passes(m, &pack.row[i]);
  }
  return true;
}
