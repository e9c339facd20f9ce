// Everything dirty to memory, at once and without taking time: at the end of a launch, and when a system call needs memory as it is.
// From memory upwards: what is nearer to it is older. Requests that are still between the SMs and the lines have not been
// performed and stay as they are; writes under way to DRAM are done now and carry nothing any more.
#include "machine/simt/partition.h"

// Physical addresses, [first, last).
typedef struct Range {
  uint64_t first, last;
} Range;
static const Range everything = {0, UINT64_MAX};
static bool is_in(const Range *range, uint64_t address) { return address >= range->first && address < range->last; }

// Lines that hold nothing are not written: most pages of a large cache are never touched.
static void line_empty(CacheLine *line) {
  if (bytes_any(bytes_or(line->valid, line->dirty))) line->valid = line->dirty = (ByteMask){{0, 0}};
}

static void write_now(Simt *m, Packet *packet, const Range *range) {
  if (packet->kind != PACKET_WRITE || !is_in(range, packet->address)) return;
  backing_write(&m->backing, packet->address, packet->bytes, packet->data);
  packet->bytes = (ByteMask){{0, 0}};
}

// Requests in a controller, oldest first.
static void flush_controller(Simt *m, uint32_t index, const Range *range) {
  DramRequest *queue = &m->at.dram_queue[index * m->dims.dram_queue];
  uint64_t left = m->at.controllers[index].waiting | m->at.controllers[index].moving;
  while (left != 0) {
    uint32_t oldest = (uint32_t)__builtin_ctzll(left);
    for (uint64_t rest = left & (left - 1); rest != 0; rest &= rest - 1) {
      uint32_t entry = (uint32_t)__builtin_ctzll(rest);
      if (queue[entry].order < queue[oldest].order) oldest = entry;
    }
    write_now(m, &queue[oldest].packet, range);
    left &= ~(UINT64_C(1) << oldest);
  }
}

static void flush_slice(Simt *m, uint32_t index, const Range *range) {
  L2Slice slice = l2_slice(m, index);
  uint32_t room = m->dims.l2_queue;
  for (uint32_t i = 0; i < room; i++) {
    Packet *packet = packet_queue_at(&slice.state->below, &m->at.partition_belows[index * room], room, i);
    if (packet != NULL) write_now(m, packet, range);
  }
  for (uint32_t i = 0; i < m->dims.l2_mshrs; i++) {
    if (is_in(range, slice.mshrs[i].address)) slice.mshrs[i].stale = slice.mshrs[i].waiters;
  }
  for (uint32_t line = 0; line < m->dims.l2_lines; line++) {
    CacheLine *at = &slice.lines[line];
    uint32_t data[LINE_WORDS];
    if (range != &everything && !is_in(range, l2_line_address(&slice, line))) continue;
    if (bytes_any(at->dirty)) {
      l2_line_read(&slice, NULL, line, at->dirty, data);
      backing_write(&m->backing, l2_line_address(&slice, line), at->dirty, data);
    }
    if (at->used == CACHE_PINNED) { // data that requests have waited for: they keep it
      at->dirty = (ByteMask){{0, 0}};
      continue;
    }
    bool is_emptied = cache_line_valid(at) && m->dims.l2.sets > 0;
    if (is_emptied && places_are_wanted(m))
      simt_release(m, &m->nobody, REGION_L2_TAG, REGION_L2_TAG, (uint64_t)index * m->dims.l2_lines + line);
    line_gone(m, PREFETCH_L2, (uint64_t)index * m->dims.l2_lines + line);
    line_empty(at);
  }
}

static void flush_l1d(Simt *m, uint32_t sm, const Range *range) {
  CacheLine *lines = &m->at.l1d[(size_t)sm * m->dims.l1d_lines];
  for (uint32_t line = 0; line < m->dims.l1d_lines; line++) {
    CacheLine *at = &lines[line];
    uint64_t row = (uint64_t)sm * m->dims.l1d_lines + line, address = cache_line_address(&m->dims.l1d, lines, line);
    if (range != &everything && !is_in(range, address)) continue;
    if (bytes_any(at->dirty)) {
      cells_read(m, cells_sm(m, sm), REGION_L1D, row, bytes_words_any(at->dirty), at->data);
      // Dirty lines are of the SM's own local memory: one that the SM may not write has a damaged tag.
      bool may = write_way(m, sm, local_warp(m, address), address, false) == WRITE_GOES;
      if (may) backing_write(&m->backing, address, at->dirty, at->data);
    }
    if (cache_line_valid(at)) tag_released(m, sm, REGION_L1D_TAG, row);
    line_gone(m, PREFETCH_DATA, row);
    line_empty(at);
  }
}

// Of caches that hold nothing dirty; `per` lines belong to an SM.
static void empty_lines(Simt *m, ActionCache cache, CacheLine *lines, uint32_t per, SimtRegion tags) {
  for (uint32_t i = 0; i < m->dims.sms * per; i++) {
    if (cache_line_valid(&lines[i])) tag_released(m, i / per, tags, i);
    line_gone(m, cache, i);
    line_empty(&lines[i]);
  }
}

static void flush(Simt *m, const Range *range) {
  const SimtDims *d = &m->dims;
  for (uint32_t i = 0; i < d->controllers; i++) flush_controller(m, i, range);
  for (uint32_t i = 0; i < d->partitions; i++) flush_slice(m, i, range);
  for (uint32_t sm = 0; sm < d->sms; sm++) flush_l1d(m, sm, range);
}

void caches_flush_range(Simt *m, uint64_t first, uint64_t last) {
  Range range = {first, last};
  flush(m, &range);
}

void caches_flush(Simt *m) {
  const SimtDims *d = &m->dims;
  flush(m, &everything);
  empty_lines(m, PREFETCH_CONSTANT, m->at.constant, d->constant_lines, REGION_CONSTANT_TAG);
  empty_lines(m, PREFETCH_TEXTURE, m->at.texture, d->texture_lines, REGION_TEXTURE_TAG);
  empty_lines(m, PREFETCH_INSTRUCTION, m->at.icache, d->icache_lines, REGION_ICACHE_TAG);
  for (size_t i = 0; i < (size_t)d->tpcs * d->icache2_lines; i++) line_empty(&m->at.icache2[i]);
}
