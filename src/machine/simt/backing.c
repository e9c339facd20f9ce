// The bytes behind physical addresses: device memory, local memory of the resident threads, code, constant banks. Any address
// is legal, because packets can be damaged on their way: what is not there reads zero and is not written. Code and constant
// banks are not written either.
#include "machine/simt/simt.h"

static const uint32_t zero_line[LINE_WORDS];

// A stretch of host bytes, seen from an offset that may lie outside it.
typedef struct Stretch {
  const uint8_t *bytes; // at the offset; NULL: nothing is there
  ByteMask there;       // of the line at the offset
} Stretch;

static Stretch stretch_at(const void *bytes, uint64_t count, uint64_t offset) {
  if (bytes == NULL || offset >= count) return (Stretch){0};
  return (Stretch){(const uint8_t *)bytes + offset, bytes_from(0, (uint32_t)min_u64(count - offset, LINE_BYTES))};
}

// Local memory, code and banks each lie in one stretch.
static Stretch find_stretch(const Backing *backing, uint64_t address) {
  uint64_t offset = address & ((UINT64_C(1) << PHYSICAL_SHIFT) - 1);
  uint64_t bank = offset >> BANK_SHIFT;
  switch ((PhysicalWindow)(address >> PHYSICAL_SHIFT & 3)) {
  case PHYSICAL_LOCAL: return stretch_at(backing->local, backing->local_bytes, offset);
  case PHYSICAL_CODE:
    return stretch_at(backing->program->code, (uint64_t)backing->program->code_count * INSTR_BYTES, offset - backing->code_base);
  case PHYSICAL_BANKS:
    if (bank >= BANK_COUNT) return (Stretch){0};
    offset = (offset & ((UINT64_C(1) << BANK_SHIFT) - 1)) - backing->bank_base[bank];
    return stretch_at(backing->banks[bank], backing->bank_bytes[bank], offset);
  default: return (Stretch){0};
  }
}

static bool is_global(uint64_t address) { return (address >> PHYSICAL_SHIFT & 3) == PHYSICAL_GLOBAL; }

// Valid bytes of device memory from `offset` of the line on, and how many: allocations may begin and end within a line.
static uint8_t *global_run(const Backing *backing, uint64_t line, uint32_t offset, uint32_t *count) {
  uint64_t first, last, at = line + offset;
  *count = 1;
  if (!memory_range(backing->memory, at, &first, &last)) return NULL;
  *count = (uint32_t)min_u64(last - at, LINE_BYTES - offset);
  return memory_at(backing->memory, at, *count);
}

// Reads or writes the bytes of a line of device memory, run by run.
static void global_transfer(const Backing *backing, uint64_t line, ByteMask bytes, uint32_t *to, const uint32_t *from) {
  for (uint32_t offset = 0, count; offset < LINE_BYTES; offset += count) {
    bool is_wanted = (bytes.half[offset / 64] >> offset % 64 & 1) != 0;
    uint8_t *host = is_wanted ? global_run(backing, line, offset, &count) : NULL;
    if (!is_wanted) count = 1;
    ByteMask part = bytes_and(bytes, bytes_from(offset, count));
    if (host == NULL) {
      if (to != NULL) bytes_copy(to, zero_line, part);
    } else if (to != NULL) {
      bytes_copy(to, host - offset, part);
    } else {
      bytes_copy(host - offset, from, part);
    }
  }
}

bool backing_splits(const Backing *backing, uint64_t address) {
  return backing->splits_code && (address >> PHYSICAL_SHIFT & 3) == PHYSICAL_CODE;
}

// One half of each instruction of a line: what the line's cells hold, or what lies beside them.
static void read_halves(const Backing *backing, uint64_t line, ByteMask bytes, bool is_rest, uint32_t data[LINE_WORDS]) {
  uint64_t halves[LINE_BYTES / sizeof(uint64_t)] = {0};
  uint64_t offset = (line & ((UINT64_C(1) << PHYSICAL_SHIFT) - 1)) - backing->code_base, first = offset / sizeof halves[0];
  for (uint32_t i = 0; i < LINE_BYTES / sizeof halves[0] && first + i < backing->program->code_count; i++) {
    InstrWord word = backing->program->code[first + i];
    halves[i] = is_rest ? code_rest(word, first + i) : code_cells(word, first + i);
  }
  bytes_copy(data, halves, bytes);
}

void backing_rest(const Backing *backing, uint64_t address, ByteMask bytes, uint32_t rest[LINE_WORDS]) {
  uint64_t line = address & PHYSICAL_MASK & ~(uint64_t)(LINE_BYTES - 1);
  if (backing_splits(backing, line)) read_halves(backing, line, bytes, true, rest);
  else bytes_copy(rest, zero_line, bytes);
}

void backing_read(const Backing *backing, uint64_t address, ByteMask bytes, uint32_t data[LINE_WORDS]) {
  uint64_t line = address & PHYSICAL_MASK & ~(uint64_t)(LINE_BYTES - 1);
  if (backing_splits(backing, line)) {
    read_halves(backing, line, bytes, false, data);
    return;
  }
  if (!is_global(line)) {
    Stretch stretch = find_stretch(backing, line);
    bytes_copy(data, stretch.bytes, bytes_and(bytes, stretch.there));
    bytes_copy(data, zero_line, bytes_but(bytes, stretch.there));
    return;
  }
  const uint8_t *host = memory_at(backing->memory, line, LINE_BYTES);
  if (host != NULL) {
    bytes_copy(data, host, bytes);
  } else {
    global_transfer(backing, line, bytes, data, NULL);
  }
}

// Notes how far warps have written their local memory, so that copying it need not go further.
static void touch_local(const Backing *backing, uint64_t line) {
  uint64_t warp_bytes = max_u64(backing->local_warp_bytes, 1);
  uint64_t end = (line & ((UINT64_C(1) << PHYSICAL_SHIFT) - 1)) % warp_bytes + LINE_BYTES;
  *backing->local_touched = max_u64(*backing->local_touched, min_u64(end, warp_bytes));
}

// Kernels may write to constants by their addresses in device memory.
static void note_constants(const Backing *backing, uint64_t line) {
  uint64_t bytes = backing->bank_bytes[BANK_CONST], offset = line - memory_base(backing->memory) - backing->bank_base[BANK_CONST];
  if (bytes > 0 && (offset < bytes || -offset < LINE_BYTES)) *backing->const_written = 1;
}

void backing_write(const Backing *backing, uint64_t address, ByteMask bytes, const uint32_t data[LINE_WORDS]) {
  uint64_t line = address & PHYSICAL_MASK & ~(uint64_t)(LINE_BYTES - 1);
  if (is_global(line)) {
    uint8_t *host = memory_at(backing->memory, line, LINE_BYTES);
    note_constants(backing, line);
    if (host != NULL) {
      bytes_copy(host, data, bytes);
    } else {
      global_transfer(backing, line, bytes, NULL, data);
    }
    return;
  }
  if ((line >> PHYSICAL_SHIFT & 3) != PHYSICAL_LOCAL) return;
  Stretch stretch = find_stretch(backing, line);
  if (stretch.bytes == NULL) return;
  uint8_t *host = backing->local + (stretch.bytes - backing->local);
  bytes_copy(host, data, bytes_and(bytes, stretch.there));
  touch_local(backing, line);
}

uint64_t local_address(const Simt *m, uint32_t sm, uint32_t warp, uint32_t lane, uint64_t offset) {
  uint64_t start = ((uint64_t)sm * m->dims.warps + warp) * m->backing.local_warp_bytes;
  return physical_address(PHYSICAL_LOCAL, start + (offset & ~UINT64_C(3)) * WARP_LANES + lane * 4u + (offset & 3));
}
