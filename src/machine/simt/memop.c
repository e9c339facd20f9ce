// Lanes' data between memory's form and register rows, and requests; see memop.h.
#include "machine/parts/access_element.h"
#include "machine/simt/memop.h"

// ---- Data --------------------------------------------------------------------------------------------

// Words of a datum and rows of registers are the same, but for elements smaller than a register, which take a row each.
void memop_put(MemOp *op, unsigned lane, uint32_t word, const uint8_t *from, uint32_t bytes) {
  uint32_t size = op->element_bytes;
  if (size >= 4) {
    for (uint32_t i = 0; 4 * i < bytes; i++) memcpy(&op->data[(word + i) % SIMT_MEMORY_ROWS][lane], from + 4 * i, 4);
    return;
  }
  uint32_t first = word * (4 / size);
  for (uint32_t i = 0; i * size < bytes; i++) {
    uint32_t *row = op->data[(first + i) % SIMT_MEMORY_ROWS];
    if (size == 1) element_in(row, lane, from + i, 1, op->sign_extend != 0);
    else element_in(row, lane, from + 2 * i, 2, op->sign_extend != 0);
  }
}

void memop_get(const MemOp *op, unsigned lane, uint32_t word, uint8_t *to, uint32_t bytes) {
  uint32_t size = op->element_bytes;
  if (size >= 4) {
    for (uint32_t i = 0; 4 * i < bytes; i++) memcpy(to + 4 * i, &op->data[(word + i) % SIMT_MEMORY_ROWS][lane], 4);
    return;
  }
  uint32_t first = word * (4 / size);
  for (uint32_t i = 0; i * size < bytes; i++) {
    const uint32_t *row = op->data[(first + i) % SIMT_MEMORY_ROWS];
    if (size == 1) element_out(row, lane, to + i, 1);
    else element_out(row, lane, to + 2 * i, 2);
  }
}

void memop_deliver(const Simt *m, MemOp *op, uint32_t lanes, uint32_t word, const uint32_t *line, ByteMask bytes) {
  lanes &= ~op->kept;
  if (op->element_bytes == 4 && op->elements == 1) {
    m->rows->deliver(line, bytes_words_any(bytes), op->address, lanes, op->data[word % SIMT_MEMORY_ROWS]);
    return;
  }
  for (; lanes != 0; lanes &= lanes - 1) {
    unsigned lane = (unsigned)__builtin_ctz(lanes);
    uint32_t run = memop_run_bytes(op, memop_is_local(op, lane)), at = memop_offset(op, lane, run);
    if ((bytes.half[at / 64] >> at % 64 & 1) == 0) continue;
    memop_put(op, lane, word, (const uint8_t *)line + at, run);
  }
}

// ---- Waiting -----------------------------------------------------------------------------------------

void memop_replied(Simt *m, uint32_t sm, MemOp *op) {
  if (op->outstanding == 0 || --op->outstanding != 0 || op->stage != MEM_WAIT) return;
  SmState *state = &m->at.sms[sm];
  const MemOp *ops = &m->at.memops[sm * m->dims.memops];
  op->stage = MEM_DONE;
  if (__builtin_expect(m->dims.mirror_lines != 0, 0)) kept_complete(m, sm, op);
  memop_result_at(op, simt_now(m));
  uint64_t place = state->done_count++;
  for (; place > 0 && ops[state->done_queue[place - 1]].ready_at > op->ready_at; place--) {
    state->done_queue[place] = state->done_queue[place - 1];
  }
  state->done_queue[place] = (uint8_t)(op - ops);
  sm_wake(m, sm, max_u64(op->ready_at, simt_now(m)));
}

void waiter_serve(Simt *m, uint32_t sm, uint32_t waiter, const Packet *packet) {
  MemOp *op = memop_of_waiter(m, sm, waiter);
  unsigned lane = waiter >> 8 & (WARP_LANES - 1);
  if (op->stage != MEM_REQUEST && op->stage != MEM_WAIT) return;
  uint64_t line = line_of(op->address[lane]);
  uint32_t lanes = m->rows->matching(op->address, line_of(UINT64_MAX), line);
  uint32_t scratch[LINE_WORDS];
  const uint32_t *data = held_view(m, sm, op->uop.warp, packet->address, packet->data, scratch);
  memop_deliver(m, op, lanes & op->uop.mask, waiter >> 13 & 7, data, packet->bytes);
  memop_replied(m, sm, op);
}

void warps_begin_memory(Simt *m, uint32_t sm, uint64_t warps) {
  for (; warps != 0; warps &= warps - 1) simt_warp(m, sm, (uint32_t)__builtin_ctzll(warps))->loads++;
}

void warps_end_memory(Simt *m, uint32_t sm, uint64_t warps) {
  for (; warps != 0; warps &= warps - 1) {
    SimtWarp *warp = simt_warp(m, sm, (uint32_t)__builtin_ctzll(warps));
    warp->loads -= warp->loads > 0;
  }
}

MemStep memop_unsent(Simt *m, uint32_t sm) {
  // Actions may bring what it waits for by other ways.
  if (m->dims.acts == 0 && packet_queue_full(&m->at.out_queues[sm], m->dims.out)) m->at.head_waits[sm] = HEAD_WAITS_ROOM;
  return MEMORY_BLOCKED;
}

// ---- Requests ----------------------------------------------------------------------------------------

bool memory_prefetch(Simt *m, uint32_t sm, const PrefetchWay *way, uint64_t address, uint32_t *number) {
  Packet packet = {.address = line_of(address), .bytes = bytes_from(0, LINE_BYTES), .kind = PACKET_READ};
  uint32_t at = 0;
  bool has_lines = cache_lines(way->lines.shape) > 0;
  if ((!has_lines && way->cache != PREFETCH_DATA) || address_window(packet.address) != way->window) return false;
  if (has_lines && cache_find(&way->lines, packet.address, packet.bytes, &at) == CACHE_HIT) return false;
  if (mshr_prefetch(&way->mshrs, packet.address, packet.bytes, number) != MSHR_NEW) return false;
  packet.tag = (uint16_t)*number; // TAG_MISS, where tags have kinds
  packet_for_nobody(&packet, way->cache);
  if (sm_send(m, sm, &packet)) return true;
  mshr_end(&way->mshrs, *number);
  return false;
}

bool memory_send_store(Simt *m, uint32_t sm, Packet *packet, uint64_t warps) {
  if (warps == 0) warps = 1;
  uint32_t base = (uint32_t)__builtin_ctzll(warps);
  warps &= UINT64_C(0xFF) << base; // those packed together are neighbours
  packet->kind = PACKET_WRITE;
  if (packet->client == CLIENT_NONE) packet->client = CLIENT_STORE;
  packet->warp = (uint16_t)base;
  packet->tag = tag_make(TAG_STORE, base | (uint32_t)(warps >> base) << TAG_WARPS_SHIFT);
  WriteWay way = write_way(m, sm, base, packet->address, true);
  if (way == WRITE_HELD) {
    HeldTake take = held_store(m, sm, base, packet);
    if (take != HELD_GOES) return take == HELD_TAKEN;
    way = write_way(m, sm, base, packet->address, false);
  }
  if (way == WRITE_ENDS && m->dims.mirror_lines != 0) kept_store(m, sm, packet);
  if (way == WRITE_ENDS) return true; // counts as answered
  if (m->dims.mirror_free != 0 && warp_is_mirror(m, sm, base)) {
    oracle_store(m, packet);
    return true;
  }
  packet->quiet = way == WRITE_QUIET;
  if (!sm_send(m, sm, packet)) return false;
  m->at.sms[sm].stores_out++;
  for (; warps != 0; warps &= warps - 1) simt_warp(m, sm, (uint32_t)__builtin_ctzll(warps))->stores++;
  return true;
}
