// The L1 data cache of an SM. Global loads are read into it and global stores and atomics, which go past it, throw the line out (write-
// evict); local memory is written back: a store makes its bytes valid and dirty without fetching the rest. As on Fermi.
//
// What a load returns is what memory held when its turn came. A load that finds some of its bytes missing has the line's dirty bytes
// written to the L2 first, so that the reply, which follows them on the same way, has everything. A line that is written while a miss
// is under way makes the miss stale: it serves who waits already, nobody joins it and nothing is filled.
// Lines are allocated when they come. A line that would push dirty bytes out is not kept when the queue to the interconnect
// is full: replies never wait for requests, so the two networks cannot block each other.
#include "machine/simt/memop.h"

static uint64_t row_of(const Simt *m, uint32_t sm, uint32_t index) { return (uint64_t)sm * m->dims.l1d_lines + index; }

// What a miss asks for: the sectors around the bytes.
static ByteMask sectors_of(const Simt *m, ByteMask bytes) {
  uint32_t size = (uint32_t)m->spec->l1d_sector;
  if (size >= LINE_BYTES) return bytes_from(0, LINE_BYTES);
  ByteMask sectors = {{0, 0}};
  for (uint32_t at = 0; at < LINE_BYTES; at += size) {
    ByteMask sector = bytes_from(at, size);
    if (bytes_any(bytes_and(sector, bytes))) sectors = bytes_or(sectors, sector);
  }
  return sectors;
}

// The warp whose local memory the line is of: it must not pass a fence or end while its bytes are on their way.
static uint64_t owner_of(const Simt *m, uint64_t address) { return UINT64_C(1) << local_warp(m, address); }

// Sends the line's dirty bytes down. False: not now.
static bool write_back(Simt *m, uint32_t sm, uint32_t index) {
  Cache cache = l1d_of(m, sm);
  CacheLine *line = &cache.lines[index];
  Packet packet = {.address = cache_line_address(&cache, index) & PHYSICAL_MASK, .bytes = line->dirty, .client = CLIENT_WRITE_BACK};
  if (packet_queue_full(&m->at.out_queues[sm], m->dims.out)) return false;
  cells_read(m, cells_sm(m, sm), REGION_L1D, row_of(m, sm, index), bytes_words_any(line->dirty), cache.data[index].word);
  bytes_copy(packet.data, cache.data[index].word, line->dirty);
  packet_for_warp(m, sm, (uint32_t)__builtin_ctzll(owner_of(m, packet.address)), WHO_NO_INDEX, &packet);
  if (!memory_send_store(m, sm, &packet, owner_of(m, packet.address))) return false;
  line->dirty = (ByteMask){{0, 0}}; // bytes of sectors that are not whole are gone with it
  return true;
}

// ---- Loads -------------------------------------------------------------------------------------------

static void mshr_released(Simt *m, uint32_t sm, uint32_t number) {
  if (places_are_wanted(m)) simt_release(m, who_sm(m, sm), REGION_MSHR, REGION_MSHR, (uint64_t)sm * m->dims.l1d_mshrs + number);
}

// The line holds nothing any more.
static void let_go(Simt *m, uint32_t sm, uint32_t index) {
  line_gone(m, PREFETCH_DATA, row_of(m, sm, index));
  tag_released(m, sm, REGION_L1D_TAG, row_of(m, sm, index));
}

static MemStep ask(Simt *m, uint32_t sm, uint32_t index, const Transaction *transaction) {
  MemOp *op = &m->at.memops[sm * m->dims.memops + index];
  Mshrs mshrs = l1d_mshrs_of(m, sm);
  ByteMask want = sectors_of(m, transaction->bytes);
  uint32_t waiter = waiter_make(index, (unsigned)__builtin_ctz(transaction->lanes), op->word & 7u), number;
  MshrFind found = mshr_want(&mshrs, (uint32_t)m->spec->l1d_merge, transaction->line, want, waiter, &number);
  if (found == MSHR_FULL) {
    m->at.head_waits[sm] = HEAD_WAITS_REGISTER;
    return MEMORY_BLOCKED;
  }
  if (found == MSHR_NEW) {
    if (places_are_wanted(m)) simt_take(m, who_uop(m, sm, &op->uop), REGION_MSHR, REGION_MSHR, (uint64_t)sm * m->dims.l1d_mshrs + number);
    Packet packet;
    memset(&packet, 0, offsetof(Packet, data));
    packet.address = transaction->line;
    packet.bytes = want;
    packet.kind = PACKET_READ;
    packet.client = CLIENT_LOAD;
    packet_for_uop(m, sm, &op->uop, &packet);
    packet.tag = tag_make(TAG_MISS, number);
    packet.joins = m->dims.acts != 0 && memop_may_join(op);
    if (!sm_send(m, sm, &packet)) {
      mshr_released(m, sm, number);
      mshr_end(&mshrs, number);
      return places_are_wanted(m) ? MEMORY_BLOCKED : memop_unsent(m, sm); // who is told of the register's places is told of each try
    }
  }
  simt_count(m, STAT_L1D_ACCESSES, 1);
  simt_count(m, STAT_L1D_MISSES, 1);
  simt_count(m, STAT_L1D_MERGED, found == MSHR_JOINED);
  op->outstanding++;
  return MEMORY_DONE;
}

MemStep l1d_load(Simt *m, uint32_t sm, uint32_t index, const Transaction *transaction) {
  MemOp *op = &m->at.memops[sm * m->dims.memops + index];
  Cache cache = l1d_of(m, sm);
  uint32_t at = 0;
  CacheFind found = cache_find(&cache, transaction->line, transaction->bytes, &at);
  if (found == CACHE_HIT) {
    if (cells_are_wanted(m))
      cells_read(m, cells_uop(m, sm, &op->uop), REGION_L1D, row_of(m, sm, at), bytes_words_any(transaction->bytes), cache.data[at].word);
    uint32_t scratch[LINE_WORDS];
    const uint32_t *data = held_view(m, sm, op->uop.warp, transaction->line, cache.data[at].word, scratch);
    memop_deliver(m, op, transaction->lanes, op->word, data, transaction->bytes);
    line_used(m, PREFETCH_DATA, row_of(m, sm, at));
    cache_touch(&cache, at);
    memop_result_at(op, simt_now(m) + m->spec->l1d_latency);
    simt_count(m, STAT_L1D_ACCESSES, 1);
    return MEMORY_DONE;
  }
  if (found == CACHE_PARTIAL && bytes_any(cache.lines[at].dirty)) {
    if (!write_back(m, sm, at)) return MEMORY_BLOCKED;
    if (!cache_line_valid(&cache.lines[at])) let_go(m, sm, at);
    return MEMORY_AGAIN;
  }
  return ask(m, sm, index, transaction);
}

bool l1d_prefetch(Simt *m, uint32_t sm, uint64_t address) {
  const PrefetchWay way = {PREFETCH_DATA, PHYSICAL_GLOBAL, l1d_of(m, sm), l1d_mshrs_of(m, sm)};
  uint32_t number;
  if (!memory_prefetch(m, sm, &way, address, &number)) return false;
  if (places_are_wanted(m)) simt_take(m, who_sm(m, sm), REGION_MSHR, REGION_MSHR, (uint64_t)sm * m->dims.l1d_mshrs + number);
  return true;
}

bool l1d_join(Simt *m, uint32_t sm, uint32_t index, const Transaction *transaction) {
  MemOp *op = &m->at.memops[sm * m->dims.memops + index];
  Mshrs mshrs = l1d_mshrs_of(m, sm);
  uint32_t waiter = waiter_make(index, (unsigned)__builtin_ctz(transaction->lanes), op->word & 7u), number;
  if (!mshr_join_only(&mshrs, (uint32_t)m->spec->l1d_merge, transaction->line, transaction->bytes, waiter, &number)) return false;
  op->outstanding++;
  return true;
}

// ---- Stores ------------------------------------------------------------------------------------------

static void mark_stale(Simt *m, uint32_t sm, uint64_t line) {
  Mshrs mshrs = l1d_mshrs_of(m, sm);
  mshr_mark_stale(&mshrs, line);
  m->at.head_waits[sm] = HEAD_GOES;
}

static void empty(Simt *m, uint32_t sm, uint32_t index) {
  cache_empty(&l1d_of(m, sm).lines[index]);
  let_go(m, sm, index);
}

void l1d_written(Simt *m, uint32_t sm, uint64_t line) {
  if (m->dims.l1d_lines == 0) {
    if (m->dims.acts != 0) mark_stale(m, sm, line); // a prefetch may be under way
    return;
  }
  uint32_t at = 0;
  ByteMask none = {{0, 0}};
  Cache cache = l1d_of(m, sm);
  if (cache_find(&cache, line, none, &at) != CACHE_MISS) { empty(m, sm, at); }
  mark_stale(m, sm, line);
}

// A line for the address: the one that is there, or a cleared one. False: what is in its place cannot leave now.
static bool allocate(Simt *m, uint32_t sm, uint64_t address, uint32_t *index) {
  Cache cache = l1d_of(m, sm);
  ByteMask none = {{0, 0}};
  if (cache_find(&cache, address, none, index) != CACHE_MISS) return true;
  *index = cache_victim(&cache, address);
  const CacheLine *line = &cache.lines[*index];
  bool was_valid = cache_line_valid(line);
  if (bytes_any(line->dirty) && !write_back(m, sm, *index)) return false;
  tag_replaced(m, sm, REGION_L1D_TAG, row_of(m, sm, *index), was_valid);
  line_gone(m, PREFETCH_DATA, row_of(m, sm, *index));
  cache_begin(&cache, *index, address);
  return true;
}

// Words of which a write changes some bytes and keeps others that count: they are read first.
static void tell_kept(Simt *m, uint32_t sm, uint32_t index, ByteMask written) {
  if (!cells_are_wanted(m)) return;
  Cache cache = l1d_of(m, sm);
  uint32_t kept = bytes_words_any(bytes_but(cache_bytes(cache.shape, &cache.lines[index]), written)) & bytes_words_any(written);
  if (kept != 0) cells_read(m, cells_sm(m, sm), REGION_L1D, row_of(m, sm, index), kept, cache.data[index].word);
}

MemStep l1d_store_local(Simt *m, uint32_t sm, MemOp *op, const Transaction *transaction) {
  uint32_t at, run = memop_run_bytes(op, true);
  if (!allocate(m, sm, transaction->line, &at)) return MEMORY_BLOCKED;
  Cache cache = l1d_of(m, sm);
  CacheLine *line = &cache.lines[at];
  uint32_t *data = cache.data[at].word;
  tell_kept(m, sm, at, transaction->bytes);
  for (uint32_t left = transaction->lanes; left != 0; left &= left - 1) {
    unsigned lane = (unsigned)__builtin_ctz(left);
    memop_get(op, lane, op->word, (uint8_t *)data + memop_offset(op, lane, run), run);
  }
  line->dirty = bytes_or(line->dirty, transaction->bytes);
  cache_hold(&cache, at, transaction->bytes);
  cache_touch(&cache, at);
  cells_written(m, cells_sm(m, sm), REGION_L1D, row_of(m, sm, at), bytes_words_any(transaction->bytes), data);
  mark_stale(m, sm, transaction->line);
  return MEMORY_DONE;
}

// ---- Replies and fences --------------------------------------------------------------------------------

static void fill(Simt *m, uint32_t sm, uint64_t address, const Mshr *mshr, const Packet *packet) {
  uint32_t at;
  if (!allocate(m, sm, address & PHYSICAL_MASK, &at)) return;
  Cache cache = l1d_of(m, sm);
  CacheLine *line = &cache.lines[at];
  ByteMask fresh = bytes_but(packet->bytes, line->dirty);
  tell_kept(m, sm, at, fresh);
  bytes_copy(cache.data[at].word, packet->data, fresh);
  cache_hold(&cache, at, fresh);
  cache_touch(&cache, at);
  if (cells_are_wanted(m)) cells_written(m, cells_sm(m, sm), REGION_L1D, row_of(m, sm, at), bytes_words_any(fresh), cache.data[at].word);
  if (mshr->prefetch != 0) prefetch_filled(m, PREFETCH_DATA, row_of(m, sm, at), mshr_waiters(mshr) > 0);
}

static uint32_t number_of(const Simt *m, const Packet *packet) { return (packet->tag & ((1u << TAG_SHIFT) - 1)) % m->dims.l1d_mshrs; }

uint32_t l1d_waiters(Simt *m, uint32_t sm, const Packet *packet, Who waiters[MSHR_MOST_WAITERS]) {
  Mshrs mshrs = l1d_mshrs_of(m, sm);
  uint32_t number = number_of(m, packet);
  const Mshr *mshr = &mshrs.registers[number];
  uint32_t count = mshr_valid(&mshrs, number) ? mshr_waiters(mshr) : 0;
  for (uint32_t i = 0; i < count; i++) waiters[i] = *who_uop(m, sm, &memop_of_waiter(m, sm, mshr->waiter[i])->uop);
  return count;
}

void l1d_reply(Simt *m, uint32_t sm, const Packet *packet) {
  Mshrs mshrs = l1d_mshrs_of(m, sm);
  uint32_t number = number_of(m, packet);
  if (!mshr_valid(&mshrs, number)) return;
  const Mshr *mshr = &mshrs.registers[number];
  uint64_t address = mshrs.lines[number].address;
  uint32_t waiters = mshr_waiters(mshr);
  for (uint32_t i = 0; i < waiters; i++) {
    memop_result_at(memop_of_waiter(m, sm, mshr->waiter[i]), m->spec->l1d_lookup == 0 ? 0 : simt_now(m) + m->spec->l1d_lookup);
    waiter_serve(m, sm, mshr->waiter[i], packet);
  }
  if (mshr->stale == 0 && m->dims.l1d_lines > 0) fill(m, sm, address, mshr, packet);
  if (mshr->prefetch != 0 && m->dims.l1d_lines == 0) prefetch_passed(m, PREFETCH_DATA, sm, address, waiters > 0);
  mshr_released(m, sm, number);
  mshr_end(&mshrs, number);
  m->at.head_waits[sm] = HEAD_GOES;
}

void l1d_invalidate(Simt *m, uint32_t sm) {
  if (m->dims.acts != 0) join_synchronised(m, sm);
  Cache cache = l1d_of(m, sm);
  for (uint32_t i = 0; i < m->dims.l1d_lines; i++) {
    bool is_local = address_window(cache_line_address(&cache, i)) == PHYSICAL_LOCAL;
    if (!cache_line_valid(&cache.lines[i]) || is_local) continue;
    empty(m, sm, i);
  }
  Mshrs mshrs = l1d_mshrs_of(m, sm);
  for (uint32_t i = 0; i < m->dims.l1d_mshrs; i++) {
    if (mshr_valid(&mshrs, i) && address_window(mshrs.lines[i].address) != PHYSICAL_LOCAL) mshrs.registers[i].stale = 1;
  }
  m->at.head_waits[sm] = HEAD_GOES;
}
