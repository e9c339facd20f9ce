// Everything dirty to memory, at once and without taking time: at the end of a launch, and when a system call needs memory as it is.
// From memory upwards: what is nearer to it is older. Requests that are still between the SMs and the lines have not been
// performed and stay as they are; writes under way to DRAM are done now and carry nothing any more.
#include "machine/simt/partition.h"

static void write_now(Simt *m, Packet *packet) {
  if (packet->kind != PACKET_WRITE) return;
  backing_write(&m->backing, packet->address, packet->bytes, packet->data);
  packet->bytes = (ByteMask){{0, 0}};
}

// Requests in a controller, oldest first.
static void flush_controller(Simt *m, uint32_t index) {
  DramRequest *queue = &m->at.dram_queue[index * m->dims.dram_queue];
  uint64_t left = m->at.controllers[index].waiting | m->at.controllers[index].moving;
  while (left != 0) {
    uint32_t oldest = (uint32_t)__builtin_ctzll(left);
    for (uint64_t rest = left & (left - 1); rest != 0; rest &= rest - 1) {
      uint32_t entry = (uint32_t)__builtin_ctzll(rest);
      if (queue[entry].order < queue[oldest].order) oldest = entry;
    }
    write_now(m, &queue[oldest].packet);
    left &= ~(UINT64_C(1) << oldest);
  }
}

static void flush_slice(Simt *m, uint32_t index) {
  L2Slice slice = l2_slice(m, index);
  uint32_t room = m->dims.l2_queue;
  for (uint32_t i = 0; i < room; i++) {
    Packet *packet = packet_queue_at(&slice.state->below, &m->at.partition_belows[index * room], room, i);
    if (packet != NULL) write_now(m, packet);
  }
  for (uint32_t i = 0; i < m->dims.l2_mshrs; i++) slice.mshrs[i].stale = slice.mshrs[i].waiters;
  for (uint32_t line = 0; line < m->dims.l2_lines; line++) {
    CacheLine *at = &slice.lines[line];
    uint32_t data[LINE_WORDS];
    if (bytes_any(at->dirty)) {
      l2_line_read(&slice, NULL, line, at->dirty, data);
      backing_write(&m->backing, l2_line_address(&slice, line), at->dirty, data);
    }
    at->dirty = (ByteMask){{0, 0}};
    bool is_emptied = at->used != CACHE_PINNED && cache_line_valid(at) && m->dims.l2.sets > 0;
    if (is_emptied && places_are_wanted(m))
      simt_release(m, &m->nobody, REGION_L2_TAG, REGION_L2_TAG, (uint64_t)index * m->dims.l2_lines + line);
    if (at->used != CACHE_PINNED) at->valid = at->dirty; // else data that requests have waited for: they keep it
  }
}

static void flush_l1d(Simt *m, uint32_t sm) {
  CacheLine *lines = &m->at.l1d[(size_t)sm * m->dims.l1d_lines];
  for (uint32_t line = 0; line < m->dims.l1d_lines; line++) {
    CacheLine *at = &lines[line];
    if (bytes_any(at->dirty)) {
      cells_read(m, cells_sm(m, sm), REGION_L1D, (uint64_t)sm * m->dims.l1d_lines + line, bytes_words_any(at->dirty), at->data);
      backing_write(&m->backing, cache_line_address(&m->dims.l1d, lines, line), at->dirty, at->data);
    }
    if (cache_line_valid(at)) tag_released(m, sm, REGION_L1D_TAG, (uint64_t)sm * m->dims.l1d_lines + line);
    at->valid = at->dirty = (ByteMask){{0, 0}};
  }
}

// Of caches that hold nothing dirty; `per` lines belong to an SM.
static void empty_lines(Simt *m, CacheLine *lines, uint32_t per, SimtRegion tags) {
  for (uint32_t i = 0; i < m->dims.sms * per; i++) {
    if (cache_line_valid(&lines[i])) tag_released(m, i / per, tags, i);
    lines[i].valid = lines[i].dirty = (ByteMask){{0, 0}};
  }
}

void caches_flush(Simt *m) {
  const SimtDims *d = &m->dims;
  for (uint32_t i = 0; i < d->controllers; i++) flush_controller(m, i);
  for (uint32_t i = 0; i < d->partitions; i++) flush_slice(m, i);
  for (uint32_t sm = 0; sm < d->sms; sm++) flush_l1d(m, sm);
  empty_lines(m, m->at.constant, d->constant_lines, REGION_CONSTANT_TAG);
  empty_lines(m, m->at.texture, d->texture_lines, REGION_TEXTURE_TAG);
  empty_lines(m, m->at.icache, d->icache_lines, REGION_ICACHE_TAG);
  for (size_t i = 0; i < (size_t)d->tpcs * d->icache2_lines; i++) m->at.icache2[i].valid = m->at.icache2[i].dirty = (ByteMask){{0, 0}};
}
