// What the host has done to device memory since the last launch, as caches see it when a launch begins. Lines that outlive a launch equal
// memory, so what the host writes must leave them (launch.host_writes: around), or come into the L2 instead (through). Host reads see
// memory: everything dirty was written at the last launch's end.
//
// Managed, pinned and registered memory the host writes without a word: nothing of it stays.
#include "machine/simt/partition.h"

static void drop_constant(Simt *m, uint64_t line) {
  for (uint32_t sm = 0; sm < m->dims.sms; sm++) {
    Cache cache = constant_of(m, sm);
    uint32_t index;
    if (cache_find(&cache, line, (ByteMask){{0, 0}}, &index) == CACHE_MISS) continue;
    tag_released(m, sm, REGION_CONSTANT_TAG, (uint64_t)sm * m->dims.constant_lines + index);
    cache_empty(&cache.lines[index]);
  }
}

static void drop_line(Simt *m, uint64_t line) {
  L2Slice slice = l2_slice(m, partition_of(m, line));
  uint32_t index;
  if (m->dims.keeps_l2 != 0 && l2_find(&slice, line, &index)) l2_line_drop(&slice, index);
}

// Physical lines of [first, last): one by one, or if there are more of them than the L2 has, those that it has.
static void drop_lines(Simt *m, uint64_t first, uint64_t last) {
  uint64_t from = first & ~(uint64_t)(LINE_BYTES - 1);
  if ((last - from) / LINE_BYTES <= (uint64_t)m->dims.partitions * m->dims.l2_lines) {
    for (uint64_t line = from; line < last; line += LINE_BYTES) drop_line(m, line);
    return;
  }
  for (uint32_t i = 0; i < m->dims.partitions; i++) {
    L2Slice slice = l2_slice(m, i);
    for (uint32_t line = 0; line < m->dims.l2_lines && m->dims.keeps_l2 != 0; line++) {
      uint64_t address = l2_line_address(&slice, line);
      if (cache_line_valid(&slice.cache.lines[line]) && address >= from && address < last) l2_line_drop(&slice, line);
    }
  }
}

// Lines of the constant bank that lies in this memory.
static void drop_constants(Simt *m, uint64_t first, uint64_t last) {
  for (uint32_t sm = 0; sm < m->dims.sms; sm++) {
    Cache cache = constant_of(m, sm);
    for (uint32_t i = 0; i < m->dims.constant_lines; i++) {
      uint64_t address = cache_line_address(&cache, i);
      bool is_there = cache_line_valid(&cache.lines[i]) && address + LINE_BYTES > first && address < last;
      if (is_there) drop_constant(m, address);
    }
  }
}

static void drop(Simt *m, uint64_t first, uint64_t last) {
  uint64_t base = memory_base(m->backing.memory), room = UINT64_C(1) << BANK_SHIFT;
  drop_lines(m, physical_address(PHYSICAL_GLOBAL, first), physical_address(PHYSICAL_GLOBAL, first) + (last - first));
  if (first < base || last - base > room) return; // no constant bank lies there
  uint64_t bank = physical_address(PHYSICAL_BANKS, (uint64_t)BANK_CONST << BANK_SHIFT);
  drop_lines(m, bank + (first - base), bank + (last - base));
  drop_constants(m, bank + (first - base), bank + (last - base));
}

// From its end on, so that of a copy larger than the cache its end stays: what has come in is pinned until all have.
static void take_in(Simt *m, const HostWrite *write) {
  uint64_t line = (write->last - 1) & ~(uint64_t)(LINE_BYTES - 1);
  for (;; line -= LINE_BYTES) {
    uint64_t first = max_u64(line, write->first), last = min_u64(line + LINE_BYTES, write->last);
    ByteMask bytes = bytes_from((uint32_t)(first - line), (uint32_t)(last - first));
    uint32_t data[LINE_WORDS] = {0};
    L2Slice slice = l2_slice(m, partition_of(m, physical_address(PHYSICAL_GLOBAL, line)));
    backing_read(&m->backing, physical_address(PHYSICAL_GLOBAL, line), bytes, data);
    l2_take_in(&slice, physical_address(PHYSICAL_GLOBAL, line), bytes, data);
    if (line <= write->first) return;
  }
}

static bool is_on_device(const Simt *m, const HostWrite *write) {
  uint64_t base = memory_base(m->backing.memory);
  return write->first >= base && write->last - base <= memory_extent(m->backing.memory);
}

void caches_meet_host(Simt *m) {
  Memory *memory = m->backing.memory;
  if (memory == NULL || (m->dims.keeps_l2 == 0 && m->dims.keeps_constant == 0)) return;
  size_t count, index = 0;
  const HostWrite *writes = memory_host_writes(memory, &count);
  uint64_t first, last;
  for (size_t i = 0; i < count; i++) drop(m, writes[i].first, writes[i].last);
  bool is_through = m->dims.keeps_l2 != 0 && m->spec->launch_host_writes == LAUNCH_HOST_THROUGH;
  for (size_t i = count; i > 0 && is_through; i--) {
    if (writes[i - 1].is_copy && is_on_device(m, &writes[i - 1])) take_in(m, &writes[i - 1]);
  }
  for (size_t i = 0; i < (size_t)m->dims.partitions * m->dims.l2_lines && is_through; i++) {
    if (m->at.l2[i].pinned != 0) m->at.l2[i].pinned = 0;
  }
  while (memory_next_shared(memory, &index, &first, &last)) drop(m, first, last);
  memory_forget_host_writes(memory);
}
