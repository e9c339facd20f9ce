// The constant cache of an SM: kernel parameters, module constants and symbols' addresses, as operands of any instruction and as
// loads. It is only read, so lines never become stale. A load serves one address a cycle; lanes with different ones follow each other.
// Operands ask before their instruction issues (constant_ready) and wait for the line in the warp table.
#include "machine/simt/memop.h"

// Waiters of miss registers: warps whose operand it is, or memory instructions (waiter_make).
enum { WAITER_WARP = 1u << 31 };

static uint64_t row_of(const Simt *m, uint32_t sm, uint32_t index) { return (uint64_t)sm * m->dims.constant_lines + index; }

// Data of the line; NULL: it is not there.
static uint32_t *find(Simt *m, uint32_t sm, uint64_t address, uint32_t *index) {
  Cache cache = constant_of(m, sm);
  CacheFind found = cache_find(&cache, address, bytes_from(0, LINE_BYTES), index);
  if (found != CACHE_HIT) return NULL;
  cache_touch(&cache, *index);
  line_used(m, PREFETCH_CONSTANT, row_of(m, sm, *index));
  return cache.data[*index].word;
}

bool constant_prefetch(Simt *m, uint32_t sm, uint64_t address) {
  const PrefetchWay way = {PREFETCH_CONSTANT, PHYSICAL_BANKS, constant_of(m, sm), constant_mshrs_of(m, sm)};
  uint32_t number;
  return memory_prefetch(m, sm, &way, address, &number);
}

// Asks for a line. False: not now.
static bool ask(Simt *m, uint32_t sm, uint64_t line, uint32_t waiter) {
  Mshrs mshrs = constant_mshrs_of(m, sm);
  uint32_t number;
  ByteMask whole = bytes_from(0, LINE_BYTES);
  MshrFind found = mshr_want(&mshrs, MSHR_MOST_WAITERS, line, whole, waiter, &number);
  if (found == MSHR_FULL) return false;
  if (found == MSHR_NEW) {
    Packet packet;
    memset(&packet, 0, offsetof(Packet, data));
    packet.address = line;
    packet.bytes = whole;
    packet.kind = PACKET_READ;
    packet.client = CLIENT_CONSTANT;
    if ((waiter & WAITER_WARP) == 0) packet_for_uop(m, sm, &memop_of_waiter(m, sm, waiter)->uop, &packet);
    else packet_for_warp(m, sm, waiter & ~WAITER_WARP, WHO_NO_INDEX, &packet);
    packet.tag = (uint16_t)number;
    if (!sm_send(m, sm, &packet)) {
      mshr_end(&mshrs, number);
      return false;
    }
  }
  simt_count(m, STAT_CONSTANT_MISSES, 1);
  return true;
}

// ---- Operands ----------------------------------------------------------------------------------------

bool constant_is_there(const Simt *m, uint32_t sm, uint32_t bank, uint32_t offset, uint32_t bytes) {
  if (bank >= BANK_COUNT || bytes == 0) return true;
  uint64_t first = line_of(bank_address(&m->backing, bank, offset)), last = line_of(bank_address(&m->backing, bank, offset + bytes - 1));
  Cache cache = constant_of(m, sm);
  for (uint64_t line = first; line <= last; line += LINE_BYTES) {
    uint32_t index;
    if (cache_find(&cache, line, bytes_from(0, LINE_BYTES), &index) != CACHE_HIT) return false;
  }
  return true;
}

bool constant_ready(Simt *m, uint32_t sm, uint32_t warp, uint32_t bank, uint32_t offset, uint32_t bytes) {
  if (bank >= BANK_COUNT || bytes == 0) return true;
  uint64_t first = line_of(bank_address(&m->backing, bank, offset)), last = line_of(bank_address(&m->backing, bank, offset + bytes - 1));
  for (uint64_t line = first; line <= last; line += LINE_BYTES) {
    uint32_t index;
    if (find(m, sm, line, &index) != NULL) continue;
    SimtWarp *at = simt_warp(m, sm, warp % m->dims.warps);
    if (at->waits_constant != 0) return false;
    if (ask(m, sm, line, WAITER_WARP | warp)) at->waits_constant = 1;
    else sm_wake(m, sm, simt_now(m) + 1);
    return false;
  }
  return true;
}

uint64_t constant_value(Simt *m, uint32_t sm, uint32_t bank, uint32_t offset, uint32_t bytes) {
  uint8_t value[8] = {0};
  uint64_t result;
  bytes = min_u32(bytes, sizeof value);
  if (bank >= BANK_COUNT || bytes == 0) return 0;
  simt_count(m, STAT_CONSTANT_ACCESSES, 1);
  for (uint32_t done = 0; done < bytes;) {
    uint64_t address = bank_address(&m->backing, bank, offset + done);
    uint32_t at = (uint32_t)address & (LINE_BYTES - 1), step = min_u32(bytes - done, LINE_BYTES - at), index;
    uint32_t *line = find(m, sm, address, &index);
    if (line != NULL) {
      cells_read(m, cells_sm(m, sm), REGION_CONSTANT, row_of(m, sm, index), bytes_words_any(bytes_from(at, step)), line);
      memcpy(value + done, (const uint8_t *)line + at, step);
    }
    done += step;
  }
  memcpy(&result, value, sizeof result);
  return result;
}

// ---- Loads -------------------------------------------------------------------------------------------

MemStep constant_load(Simt *m, uint32_t sm, uint32_t index) {
  MemOp *op = &m->at.memops[sm * m->dims.memops + index];
  unsigned first = (unsigned)__builtin_ctz(op->left);
  uint64_t address = op->address[first];
  uint32_t lanes = 0, at = 0, bytes = memop_lane_bytes(op);
  for (unsigned lane = 0; lane < WARP_LANES; lane++) lanes |= (op->address[lane] == address ? 1u : 0u) << lane;
  lanes &= op->left;
  uint32_t *line = find(m, sm, address & PHYSICAL_MASK, &at);
  if (line != NULL) {
    ByteMask used = bytes_from(memop_offset(op, first, bytes), bytes);
    cells_read(m, cells_sm(m, sm), REGION_CONSTANT, row_of(m, sm, at), bytes_words_any(used), line);
    memop_deliver(m, op, lanes, 0, line, used);
    memop_result_at(op, simt_now(m) + m->spec->constant_latency);
  } else {
    if (!ask(m, sm, line_of(address), waiter_make(index, first, 0))) return MEMORY_BLOCKED;
    op->outstanding++;
  }
  simt_count(m, STAT_CONSTANT_ACCESSES, 1);
  op->left &= ~lanes;
  return MEMORY_DONE;
}

uint32_t constant_waiters(Simt *m, uint32_t sm, const Packet *packet, Who waiters[MSHR_MOST_WAITERS]) {
  Mshrs mshrs = constant_mshrs_of(m, sm);
  uint32_t number = packet->tag % SIMT_CONSTANT_MSHRS;
  const Mshr *mshr = &mshrs.registers[number];
  uint32_t count = mshr_valid(&mshrs, number) ? mshr_waiters(mshr) : 0;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t waiter = mshr->waiter[i];
    bool is_load = (waiter & WAITER_WARP) == 0;
    waiters[i] = is_load ? *who_uop(m, sm, &memop_of_waiter(m, sm, waiter)->uop)
                         : *who_warp(m, sm, (waiter & ~WAITER_WARP) % m->dims.warps, WHO_NO_INDEX, WHO_NO_NUMBER);
  }
  return count;
}

bool constant_reply(Simt *m, uint32_t sm, const Packet *packet) {
  Mshrs mshrs = constant_mshrs_of(m, sm);
  uint32_t number = packet->tag % SIMT_CONSTANT_MSHRS;
  if (!mshr_valid(&mshrs, number)) return true;
  const Mshr *mshr = &mshrs.registers[number];
  Cache cache = constant_of(m, sm);
  uint64_t address = mshrs.lines[number].address & PHYSICAL_MASK;
  uint32_t index = cache_victim(&cache, address);
  tag_replaced(m, sm, REGION_CONSTANT_TAG, row_of(m, sm, index), cache_line_valid(&cache.lines[index]));
  line_gone(m, PREFETCH_CONSTANT, row_of(m, sm, index));
  cache_begin(&cache, index, address);
  cache_hold(&cache, index, packet->bytes);
  cache_touch(&cache, index);
  memcpy(cache.data[index].word, packet->data, LINE_BYTES);
  cells_written(m, cells_sm(m, sm), REGION_CONSTANT, row_of(m, sm, index), UINT32_MAX, cache.data[index].word);
  uint32_t waiters = mshr_waiters(mshr);
  if (mshr->prefetch != 0) prefetch_filled(m, PREFETCH_CONSTANT, row_of(m, sm, index), waiters > 0);
  for (uint32_t i = 0; i < waiters; i++) {
    uint32_t waiter = mshr->waiter[i];
    if ((waiter & WAITER_WARP) == 0) waiter_serve(m, sm, waiter, packet);
    else simt_warp(m, sm, (waiter & ~WAITER_WARP) % m->dims.warps)->waits_constant = 0;
  }
  mshr_end(&mshrs, number);
  sm_wake(m, sm, simt_now(m) + 1);
  return true;
}
