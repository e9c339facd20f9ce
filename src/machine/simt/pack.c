// Large-warp mode: threads of several warps that are at the same instruction issue as one.
//
// So many consecutive warps of a block form a large warp, one of its rows each. A part of an instruction takes, in every hardware
// lane, the first row with a thread there that has not executed it yet; threads never change lanes. Rows that have come to
// an instruction wait until all that are there can issue it, and a warp goes on when all its threads have. Only instructions
// that work lane by lane are packed: no control flow, nothing warp-wide.
// Narasiman et al., Improving GPU Performance via Large Warps and Two-Level Warp Scheduling, MICRO 2011, section 3.
#include "machine/simt/issue.h"

typedef enum Join { JOIN_ELSEWHERE, JOIN_WAITS, JOIN_READY } Join;

// Is the warp at the same instruction, and could it issue it?
static Join join_of(Simt *m, const Next *n, Next *row) {
  SimtWarp *at = row->at = simt_warp(m, row->sm, row->warp);
  bool is_there = (m->at.sms[n->sm].present >> row->warp & 1) != 0 && (at->valid & 1) != 0 && at->replay == 0;
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
  row->info = n->info;
  return at->pending_lanes != 0 || next_is_free(m, row) ? JOIN_READY : JOIN_WAITS;
}

static void add_row(Simt *m, Pack *pack, const Next *row) {
  uint32_t active = row->mask & next_guard(row), left = row->at->pending_lanes != 0 ? row->at->pending_lanes : active;
  uint32_t taken = left & ~pack->slot.mask;
  if (taken == 0) return;
  Slot own = next_slot(m, row, taken);
  Slot *slot = &pack->slot;
  if (pack->count == 0) *slot = own;
  slot->packed |= pack->count > 0 || taken != active;
  slot->mask |= taken;
  slot->ps = (slot->ps & ~taken) | (own.ps & taken);
  slot->pa = (slot->pa & ~taken) | (own.pa & taken);
  for (uint32_t lanes = taken; lanes != 0; lanes &= lanes - 1) slot->warp_of[__builtin_ctz(lanes)] = (uint8_t)row->warp;
  pack->row[pack->count] = *row;
  pack->active[pack->count] = active;
  pack->taken[pack->count++] = taken;
}

bool pack_gather(Simt *m, const Next *n, Pack *pack) {
  uint32_t rows = min_u32((uint32_t)m->spec->scheduler_large_warp, PACK_MOST_WARPS), first = n->warp - n->warp % rows;
  pack->count = 0;
  pack->slot = (Slot){.mask = 0};
  for (uint32_t i = 0; i < rows && first + i < m->dims.warps; i++) {
    Next row = {.sm = n->sm, .scheduler = n->scheduler, .warp = first + i};
    Join join = join_of(m, n, &row);
    if (join == JOIN_WAITS) return false;
    if (join == JOIN_ELSEWHERE) continue;
    if (row.warp != n->warp) next_predicates(m, &row);
    add_row(m, pack, &row);
  }
  return pack->count > 0;
}

void pack_begin(Simt *m, const Pack *pack) {
  for (uint32_t i = 0; i < pack->count; i++) {
    const Next *row = &pack->row[i];
    SimtWarp *at = row->at;
    if (at->pending_lanes == 0) {
      next_begins(m, row, count_lanes(pack->active[i]));
      scoreboard_mark(m, row->sm, row->warp, row->instr);
      at->pending_lanes = pack->active[i];
    }
    at->pending_lanes &= ~pack->taken[i];
    if (at->pending_lanes == 0) next_passes(m, row);
  }
}
