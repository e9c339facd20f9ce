// Everything dirty to memory, at once and without taking time: at the end of a launch, and when a system call needs memory as it is.
// At the end of a launch some caches keep what they hold (config.def, launch.*); see also host.c.
// From memory upwards: what is nearer to it is older. Requests that are still between the SMs and the lines have not been
// performed and stay as they are; writes under way to DRAM are done now and carry nothing any more.
#include "machine/simt/partition.h"

// Physical addresses, [first, last).
typedef struct Range {
  uint64_t first, last;
  bool ends;  // nobody waits for anything any more: the launch has ended
  bool keeps; // and caches keep what may be in them for the next one
} Range;
static const Range everything = {0, UINT64_MAX, false, false}, at_end = {0, UINT64_MAX, true, true}, at_trap = {0, UINT64_MAX, true, false};
static bool is_whole(const Range *range) { return range->last == UINT64_MAX; }
static bool is_in(const Range *range, uint64_t address) { return address >= range->first && address < range->last; }

// Lines that hold nothing are not written: most pages of a large cache are never touched.
static void line_empty(CacheLine *line) {
  if (cache_line_valid(line)) cache_empty(line);
}

// At a launch's end the order of use goes with the lines: nothing of such a cache is there in the next launch.
static void forget_order(CacheLine *lines, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (lines[i].order != 0) lines[i].order = 0;
  }
}

// Parameters and local memory are the launch's own. Constants that it has written are not as caches have them.
static bool outlives_launch(const Simt *m, uint64_t address) {
  uint64_t bank = (address & ((UINT64_C(1) << PHYSICAL_SHIFT) - 1)) >> BANK_SHIFT;
  switch ((PhysicalWindow)(address >> PHYSICAL_SHIFT & 3)) {
  case PHYSICAL_LOCAL: return false;
  case PHYSICAL_BANKS: return bank == BANK_SYMBOL || (bank == BANK_CONST && m->at.core->const_written == 0);
  default: return true;
  }
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

// A line that waits for data will never have it: the request is gone with the launch.
static bool stays(const Simt *m, const L2Slice *slice, uint32_t line, const Range *range) {
  const CacheLine *at = &slice->cache.lines[line];
  bool can = range->keeps && m->dims.keeps_l2 != 0 && bytes_any(at->valid) && at->pinned == 0; // without its dirty bytes
  return can && outlives_launch(m, l2_line_address(slice, line));
}

static void write_slice(Simt *m, uint32_t index, const Range *range) {
  L2Slice slice = l2_slice(m, index);
  uint32_t room = m->dims.l2_queue;
  for (uint32_t i = 0; i < room; i++) {
    Packet *packet = packet_queue_at(&slice.state->below, &m->at.partition_belows[index * room], room, i);
    if (packet != NULL) write_now(m, packet, range);
  }
  for (uint32_t i = 0; i < m->dims.l2_mshrs; i++) {
    if (is_in(range, slice.mshrs.lines[i].address)) slice.mshrs.registers[i].stale = slice.mshrs.registers[i].waiters;
  }
  for (uint32_t line = 0; line < m->dims.l2_lines; line++) {
    ByteMask dirty = slice.cache.lines[line].dirty;
    uint32_t data[LINE_WORDS];
    if (!bytes_any(dirty) || (!is_whole(range) && !is_in(range, l2_line_address(&slice, line)))) continue;
    l2_line_read(&slice, NULL, line, dirty, data);
    backing_write(&m->backing, l2_line_address(&slice, line), dirty, data);
  }
}

static void empty_slice(Simt *m, uint32_t index, const Range *range) {
  L2Slice slice = l2_slice(m, index);
  for (uint32_t line = 0; line < m->dims.l2_lines; line++) {
    CacheLine *at = &slice.cache.lines[line];
    if (!is_whole(range) && !is_in(range, l2_line_address(&slice, line))) continue;
    bool is_pinned = at->pinned != 0;
    if (is_pinned && !range->ends) { // data that requests have waited for: they keep it
      at->dirty = (ByteMask){{0, 0}};
      continue;
    }
    line_gone(m, PREFETCH_L2, (uint64_t)index * m->dims.l2_lines + line);
    if (stays(m, &slice, line, range)) {
      at->dirty = (ByteMask){{0, 0}};
      continue;
    }
    l2_line_drop(&slice, line);
  }
}

static void flush_l1d(Simt *m, uint32_t sm, const Range *range) {
  Cache cache = l1d_of(m, sm);
  for (uint32_t line = 0; line < m->dims.l1d_lines; line++) {
    CacheLine *at = &cache.lines[line];
    uint64_t row = (uint64_t)sm * m->dims.l1d_lines + line, address = cache_line_address(&cache, line);
    if (!is_whole(range) && !is_in(range, address)) continue;
    if (bytes_any(at->dirty)) {
      cells_read(m, cells_sm(m, sm), REGION_L1D, row, bytes_words_any(at->dirty), cache.data[line].word);
      // Dirty lines are of the SM's own local memory: one that the SM may not write has a damaged tag.
      bool may = write_way(m, sm, local_warp(m, address), address, false) == WRITE_GOES;
      if (may) backing_write(&m->backing, address, at->dirty, cache.data[line].word);
    }
    if (cache_line_valid(at)) tag_released(m, sm, REGION_L1D_TAG, row);
    line_gone(m, PREFETCH_DATA, row);
    line_empty(at);
  }
}

// Of caches that hold nothing dirty; `per` lines belong to an SM. `kept`: those of them stay that outlive a launch.
typedef struct CleanCache {
  ActionCache name;
  Cache (*of)(const Simt *m, uint32_t sm);
  uint32_t per;
  SimtRegion tags;
  bool kept;
} CleanCache;

static void empty_lines(Simt *m, uint32_t sm, const CleanCache *clean) {
  Cache cache = clean->of(m, sm);
  for (uint32_t i = 0; i < clean->per; i++) {
    uint64_t row = (uint64_t)sm * clean->per + i;
    line_gone(m, clean->name, row);
    if (!cache_line_valid(&cache.lines[i])) continue;
    if (clean->kept && outlives_launch(m, cache_line_address(&cache, i))) continue;
    tag_released(m, sm, clean->tags, row);
    line_empty(&cache.lines[i]);
  }
}

static void flush(Simt *m, const Range *range) {
  const SimtDims *d = &m->dims;
  for (uint32_t i = 0; i < d->controllers; i++) flush_controller(m, i, range);
  for (uint32_t i = 0; i < d->partitions; i++) write_slice(m, i, range);
  for (uint32_t i = 0; i < d->partitions; i++) empty_slice(m, i, range); // what may stay depends on what was written
  for (uint32_t sm = 0; sm < d->sms; sm++) flush_l1d(m, sm, range);
}

void caches_flush_range(Simt *m, uint64_t first, uint64_t last) {
  Range range = {.first = first, .last = last};
  flush(m, &range);
}

static void flush_all(Simt *m, const Range *range) {
  const SimtDims *d = &m->dims;
  bool keeps_constant = range->keeps && d->keeps_constant != 0, keeps_icache = range->keeps && d->keeps_icache != 0;
  flush(m, range);
  const CleanCache clean[] = {{PREFETCH_CONSTANT, constant_of, d->constant_lines, REGION_CONSTANT_TAG, keeps_constant},
                              {PREFETCH_TEXTURE, texture_of, d->texture_lines, REGION_TEXTURE_TAG, false},
                              {PREFETCH_INSTRUCTION, icache_of, d->icache_lines, REGION_ICACHE_TAG, keeps_icache}};
  for (uint32_t i = 0; i < COUNT_OF(clean); i++) {
    for (uint32_t sm = 0; sm < d->sms; sm++) empty_lines(m, sm, &clean[i]);
  }
  for (size_t i = 0; i < (size_t)d->tpcs * d->icache2_lines && !keeps_icache; i++) line_empty(&m->at.icache2[i]);
  if (!range->ends) return;
  forget_order(m->at.l1d, (size_t)d->sms * d->l1d_lines);
  forget_order(m->at.texture, (size_t)d->sms * d->texture_lines);
  if (!keeps_constant) forget_order(m->at.constant, (size_t)d->sms * d->constant_lines);
  if (!keeps_icache) forget_order(m->at.icache, (size_t)d->sms * d->icache_lines);
  if (!keeps_icache) forget_order(m->at.icache2, (size_t)d->tpcs * d->icache2_lines);
  if (!range->keeps || d->keeps_l2 == 0) forget_order(m->at.l2, (size_t)d->partitions * d->l2_lines);
}

void caches_flush(Simt *m) { flush_all(m, &everything); }

// After a trap all caches are empty: what was under way is lost, and nobody knows what of it was performed.
void caches_end_launch(Simt *m) { flush_all(m, simt_has_trapped(m) ? &at_trap : &at_end); }
