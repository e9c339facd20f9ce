// Device memory: a reserved stretch of host address space, of which allocations are valid.
//
// Allocations are kept sorted by address in one array; holes are what lies between them, so that
// freeing merges by itself. First fit from the lowest hole: addresses depend on nothing but the order
// of calls, never on how accesses are checked, so no cycle does. At least GUARD_BYTES lie between two allocations: where accesses are checked
// to the byte, or somebody watches, a small overrun is always found. Fresh memory reads zero: pages above `touched` never held anything, those
// below are cleared when they are handed out again.
#include "machine/machine.h"
#include "machine/mirror.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { LEAST_ALIGN = 256, GUARD_BYTES = 256, LARGE_BYTES = 1 << 20, PAGE_BYTES = 4096, FEW_BYTES = 1 << 16 };

typedef struct Allocation {
  uint64_t start, bytes; // offset from base
  bool heap;             // made by malloc in a kernel
  bool shared;           // the host uses it without a word
} Allocation;

typedef struct HostRange {
  uint64_t first, last; // host addresses
} HostRange;

struct Memory {
  uint64_t base, capacity, granule, lead;
  uint8_t *bytes;
  uint8_t *written;  // by byte: not 0 if somebody wrote it since it was handed out; NULL: not tracked
  Allocation *items; // by start
  size_t count, room;
  size_t packed;    // no hole of any use lies before items[packed]
  uint64_t touched; // offset; everything from here on still reads zero
  uint64_t in_use, heap_in_use;
  HostRange *hosts; // registered host memory; few
  size_t host_count;
  bool watches_host; // keeps what the host writes
  HostWrite *host_writes;
  size_t host_write_count, host_write_room;
  Mirror *mirror; // of another memory that this one is made equal to again and again
  bool is_copy;   // it has been made equal to another
};

Memory *memory_new(const MemoryOptions *options, Diags *diags) {
  uint64_t capacity = align_up(options->capacity, PAGE_BYTES);
  int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void *wanted = NULL;
  if (options->same_address) {
    flags |= MAP_FIXED_NOREPLACE;
    uintptr_t address = (uintptr_t)options->base;
    memcpy(&wanted, &address, sizeof wanted);
  }
  void *bytes = mmap(wanted, capacity, PROT_READ | PROT_WRITE, flags, -1, 0);
  if (bytes == MAP_FAILED || (wanted != NULL && bytes != wanted)) {
    if (bytes != MAP_FAILED) munmap(bytes, capacity);
    diags_add(diags, NULL, 0, 0, "cannot reserve %llu bytes of address space for device memory%s", (unsigned long long)capacity,
              options->same_address ? " at the address that host and device share" : "");
    return NULL;
  }
  Memory *memory = calloc(1, sizeof *memory);
  ASSERT(memory != NULL);
  *memory = (Memory){.base = options->base, .capacity = capacity, .granule = max_u64(options->granule, 1), .bytes = bytes};
  memory->lead = options->lead;
  return memory;
}

void memory_free(Memory *memory) {
  if (memory == NULL) return;
  mirror_free(memory->mirror);
  munmap(memory->bytes, memory->capacity);
  if (memory->written != NULL) munmap(memory->written, memory->capacity);
  free(memory->items);
  free(memory->hosts);
  free(memory->host_writes);
  free(memory);
}

// Index of the first allocation that starts after the offset.
static size_t find_after(const Memory *memory, uint64_t offset) {
  size_t low = 0, high = memory->count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (memory->items[middle].start <= offset) low = middle + 1;
    else high = middle;
  }
  return low;
}

static void clear_pages(uint8_t *bytes, uint64_t start, uint64_t end) {
  uint64_t first_page = align_up(start, PAGE_BYTES), last_page = end & ~(uint64_t)(PAGE_BYTES - 1);
  if (end - start >= LARGE_BYTES && last_page > first_page && madvise(bytes + first_page, last_page - first_page, MADV_DONTNEED) == 0) {
    memset(bytes + start, 0, first_page - start);
    memset(bytes + last_page, 0, end - last_page);
  } else {
    memset(bytes + start, 0, end - start);
  }
}

static void clear_bytes(Memory *memory, uint64_t start, uint64_t end) {
  end = min_u64(end, memory->touched);
  if (start >= end) return;
  clear_pages(memory->bytes, start, end);
  if (memory->written != NULL) clear_pages(memory->written, start, end);
}

// Where the first free byte after allocation `index - 1` is, for an allocation of that alignment.
static uint64_t hole_start(const Memory *memory, size_t index, uint64_t align) {
  if (index == 0) return align_up(memory->lead, align);
  const Allocation *before = &memory->items[index - 1];
  return align_up(before->start + before->bytes + GUARD_BYTES, align);
}

// ---- What the host does -----------------------------------------------------------------------------
enum { MOST_HOST_WRITES = 1 << 16 };

// Too many become one that reaches over all of them.
static void note_host(Memory *memory, uint64_t address, uint64_t bytes, bool is_copy) {
  if (!memory->watches_host || bytes == 0) return;
  uint64_t end = address + min_u64(bytes, UINT64_MAX - address);
  HostWrite *last = memory->host_write_count == 0 ? NULL : &memory->host_writes[memory->host_write_count - 1];
  if (last != NULL && last->is_copy == is_copy && address == last->last) {
    last->last = end;
    return;
  }
  if (memory->host_write_count == MOST_HOST_WRITES) {
    for (size_t i = 1; i < memory->host_write_count; i++) {
      memory->host_writes[0].first = min_u64(memory->host_writes[0].first, memory->host_writes[i].first);
      memory->host_writes[0].last = max_u64(memory->host_writes[0].last, memory->host_writes[i].last);
    }
    memory->host_writes[0].is_copy = false;
    memory->host_write_count = 1;
  }
  if (memory->host_write_count == memory->host_write_room) {
    memory->host_write_room = memory->host_write_room == 0 ? 64 : 2 * memory->host_write_room;
    memory->host_writes = realloc(memory->host_writes, memory->host_write_room * sizeof *memory->host_writes);
    ASSERT(memory->host_writes != NULL);
  }
  memory->host_writes[memory->host_write_count++] = (HostWrite){address, end, is_copy};
}

void memory_watch_host(Memory *memory) { memory->watches_host = true; }

const HostWrite *memory_host_writes(const Memory *memory, size_t *count) {
  *count = memory->host_write_count;
  return memory->host_writes;
}

void memory_forget_host_writes(Memory *memory) { memory->host_write_count = 0; }

void memory_share(Memory *memory, uint64_t address) {
  size_t after = address < memory->base ? 0 : find_after(memory, address - memory->base);
  if (after > 0) memory->items[after - 1].shared = true;
}

bool memory_next_shared(const Memory *memory, size_t *index, uint64_t *first, uint64_t *last) {
  for (; *index < memory->count; ++*index) {
    const Allocation *item = &memory->items[*index];
    if (!item->shared) continue;
    *first = memory->base + item->start;
    *last = *first + item->bytes;
    ++*index;
    return true;
  }
  size_t host = *index - memory->count;
  if (host >= memory->host_count) return false;
  *first = memory->hosts[host].first;
  *last = memory->hosts[host].last;
  ++*index;
  return true;
}

// ---- Allocations ------------------------------------------------------------------------------------
static uint64_t place(Memory *memory, size_t index, uint64_t start, uint64_t bytes, bool heap) {
  if (memory->count == memory->room) {
    memory->room = memory->room == 0 ? 64 : 2 * memory->room;
    memory->items = realloc(memory->items, memory->room * sizeof *memory->items);
    ASSERT(memory->items != NULL);
  }
  memmove(&memory->items[index + 1], &memory->items[index], (memory->count - index) * sizeof *memory->items);
  memory->items[index] = (Allocation){.start = start, .bytes = bytes, .heap = heap};
  memory->count++;
  memory->in_use += bytes;
  clear_bytes(memory, start, start + bytes);
  uint64_t end = min_u64(align_up(start + bytes, memory->granule), memory->capacity);
  memory->touched = max_u64(memory->touched, end);
  note_host(memory, memory->base + start, bytes, false);
  return memory->base + start;
}

static uint64_t allocate(Memory *memory, uint64_t bytes, uint64_t align, bool heap) {
  bytes = max_u64(bytes, 1);
  align = max_u64(align, LEAST_ALIGN);
  if (bytes > memory->capacity || align > memory->capacity) return 0;
  bool at_start = true; // still in the part without useful holes
  for (size_t index = memory->packed; index <= memory->count; index++) {
    uint64_t start = hole_start(memory, index, align);
    uint64_t guard = index < memory->count ? GUARD_BYTES : 0;
    uint64_t end = index < memory->count ? memory->items[index].start : memory->capacity;
    if (start <= end && end - start >= bytes + guard) {
      if (at_start) memory->packed = index;
      return place(memory, index, start, bytes, heap);
    }
    at_start = at_start && (start > end || end - start < LEAST_ALIGN + guard);
    if (at_start) memory->packed = index;
  }
  return 0;
}

uint64_t memory_alloc(Memory *memory, uint64_t bytes, uint64_t align) { return allocate(memory, bytes, align, false); }

static bool release(Memory *memory, uint64_t address, bool heap) {
  if (address < memory->base) return false;
  uint64_t offset = address - memory->base;
  size_t after = find_after(memory, offset);
  if (after == 0) return false;
  Allocation *item = &memory->items[after - 1];
  if (item->start != offset || item->heap != heap) return false;
  memory->in_use -= item->bytes;
  note_host(memory, address, item->bytes, false);
  if (heap) memory->heap_in_use -= item->bytes;
  memmove(item, item + 1, (memory->count - after) * sizeof *item);
  memory->count--;
  if (memory->packed > after - 1) memory->packed = after - 1;
  return true;
}

bool memory_release(Memory *memory, uint64_t address) { return release(memory, address, false); }

uint64_t memory_heap_alloc(Memory *memory, uint64_t bytes, uint64_t limit) {
  if (bytes == 0 || bytes > limit || memory->heap_in_use > limit - bytes) return 0;
  uint64_t address = allocate(memory, bytes, LEAST_ALIGN, true);
  if (address != 0) memory->heap_in_use += bytes;
  return address;
}

bool memory_heap_release(Memory *memory, uint64_t address) { return release(memory, address, true); }

bool memory_find(const Memory *memory, uint64_t address, uint64_t *start, uint64_t *bytes) {
  if (address < memory->base) return false;
  uint64_t offset = address - memory->base;
  size_t after = find_after(memory, offset);
  if (after == 0) return false;
  const Allocation *item = &memory->items[after - 1];
  if (offset - item->start >= item->bytes) return false;
  *start = memory->base + item->start;
  *bytes = item->bytes;
  return true;
}

bool memory_near(const Memory *memory, uint64_t address, uint64_t *start, uint64_t *bytes) {
  if (memory->count == 0) return false;
  uint64_t offset = address < memory->base ? 0 : address - memory->base;
  size_t after = find_after(memory, offset);
  const Allocation *below = after > 0 ? &memory->items[after - 1] : NULL;
  const Allocation *above = after < memory->count ? &memory->items[after] : NULL;
  const Allocation *item = below;
  if (below == NULL || (above != NULL && above->start - offset < offset - (below->start + below->bytes))) item = above;
  if (below != NULL && offset - below->start < below->bytes) item = below;
  *start = memory->base + item->start;
  *bytes = item->bytes;
  return true;
}

static bool host_range(const Memory *memory, uint64_t address, uint64_t *first, uint64_t *last) {
  for (size_t i = 0; i < memory->host_count; i++) {
    *first = memory->hosts[i].first;
    *last = memory->hosts[i].last;
    if (address >= *first && address < *last) return true;
  }
  return false;
}

bool memory_register_host(Memory *memory, uint64_t address, uint64_t bytes) {
  bool same_address = (uint64_t)(uintptr_t)memory->bytes == memory->base;
  bool overlaps = address < memory->base + memory->capacity && address + bytes > memory->base;
  if (!same_address || bytes == 0 || bytes > UINT64_MAX - address || overlaps || address < GLOBAL_BASE32) return false;
  HostRange *hosts = realloc(memory->hosts, (memory->host_count + 1) * sizeof *hosts);
  ASSERT(hosts != NULL);
  memory->hosts = hosts;
  hosts[memory->host_count++] = (HostRange){address, address + bytes};
  return true;
}

bool memory_unregister_host(Memory *memory, uint64_t address) {
  for (size_t i = 0; i < memory->host_count; i++) {
    if (memory->hosts[i].first != address) continue;
    note_host(memory, address, memory->hosts[i].last - address, false);
    memory->hosts[i] = memory->hosts[--memory->host_count];
    return true;
  }
  return false;
}

bool memory_range(const Memory *memory, uint64_t address, uint64_t *first, uint64_t *last) {
  if (host_range(memory, address, first, last)) return true;
  if (memory->granule == 1) {
    uint64_t bytes;
    if (!memory_find(memory, address, first, &bytes)) return false;
    *last = *first + bytes;
    return true;
  }
  if (address < memory->base || address - memory->base >= memory->capacity) return false;
  // Only allocations that reach into the granule of the address can make it valid.
  uint64_t mask = ~(memory->granule - 1), granule = (address - memory->base) & mask;
  size_t index = find_after(memory, granule + memory->granule - 1);
  if (index == 0) return false;
  const Allocation *item = &memory->items[index - 1];
  if (item->start + item->bytes <= granule) return false;
  uint64_t start = item->start & mask, end = align_up(item->start + item->bytes, memory->granule);
  for (size_t i = index - 1; i > 0; i--) { // neighbours whose granules touch this one's
    const Allocation *before = &memory->items[i - 1];
    if (align_up(before->start + before->bytes, memory->granule) < start) break;
    start = before->start & mask;
  }
  for (size_t i = index; i < memory->count && (memory->items[i].start & mask) <= end; i++) {
    end = align_up(memory->items[i].start + memory->items[i].bytes, memory->granule);
  }
  *first = memory->base + start;
  *last = memory->base + min_u64(end, memory->capacity);
  return true;
}

uint8_t *memory_at(const Memory *memory, uint64_t address, uint64_t bytes) {
  uint64_t first, last;
  if (!memory_range(memory, address, &first, &last) || bytes > last - address) return NULL;
  return memory->bytes + (address - memory->base);
}

// ---- What was written ------------------------------------------------------------------------------
bool memory_track(Memory *memory) {
  ASSERT(memory->count == 0 && memory->written == NULL);
  void *marks = mmap(NULL, memory->capacity, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (marks == MAP_FAILED) return false;
  memory->written = marks;
  return true;
}

// The part of a range that lies in device memory at all: registered host memory does not. NULL: none, or nobody tracks.
static uint8_t *marks_at(const Memory *memory, uint64_t address, uint64_t *bytes) {
  if (memory->written == NULL || address < memory->base || address - memory->base >= memory->touched) return NULL;
  *bytes = min_u64(*bytes, memory->touched - (address - memory->base));
  return memory->written + (address - memory->base);
}

void memory_note_write(Memory *memory, uint64_t address, uint64_t bytes) {
  note_host(memory, address, bytes, true);
  uint8_t *marks = marks_at(memory, address, &bytes);
  if (marks != NULL) memset(marks, 1, bytes);
}

void memory_note_copy(Memory *memory, uint64_t to, uint64_t from, uint64_t bytes) {
  note_host(memory, to, bytes, true);
  uint8_t *marks = marks_at(memory, to, &bytes);
  const uint8_t *source = marks_at(memory, from, &bytes);
  if (marks != NULL && source != NULL) memmove(marks, source, bytes);
  else if (marks != NULL) memset(marks, 1, bytes);
}

bool memory_was_written(const Memory *memory, uint64_t address, uint64_t bytes) {
  const uint8_t *marks = marks_at(memory, address, &bytes);
  return marks == NULL || memchr(marks, 0, bytes) == NULL;
}

uint8_t *memory_bytes(Memory *memory) { return memory->bytes; }
uint64_t memory_base(const Memory *memory) { return memory->base; }
uint64_t memory_in_use(const Memory *memory) { return memory->in_use; }
uint64_t memory_extent(const Memory *memory) {
  if (memory->count == 0) return 0;
  const Allocation *last = &memory->items[memory->count - 1];
  return min_u64(align_up(last->start + last->bytes, memory->granule), memory->capacity);
}
uint64_t memory_capacity(const Memory *memory) { return memory->capacity; }

// ---- Copies, hashes, streams -----------------------------------------------------------------------
// What programs can see: with granule 1 the allocations, else also what lies between them.
static size_t visible_count(const Memory *memory) { return memory->granule == 1 ? memory->count : memory->touched > 0; }

static Allocation visible_range(const Memory *memory, size_t index) {
  return memory->granule == 1 ? memory->items[index] : (Allocation){.bytes = memory->touched};
}

static bool same_options(const Memory *a, const Memory *b) {
  return a->base == b->base && a->capacity == b->capacity && a->granule == b->granule && a->lead == b->lead && a->host_count == 0 &&
         b->host_count == 0;
}

static void take_allocations(Memory *memory, const Allocation *items, size_t count) {
  if (count > memory->room) {
    memory->room = count;
    memory->items = realloc(memory->items, count * sizeof *items);
    ASSERT(memory->items != NULL);
  }
  if (count > 0) memcpy(memory->items, items, count * sizeof *items);
  memory->count = count;
  memory->packed = 0;
  memory->in_use = memory->heap_in_use = 0;
  for (size_t i = 0; i < count; i++) {
    memory->in_use += items[i].bytes;
    if (items[i].heap) memory->heap_in_use += items[i].bytes;
  }
}

// Pages that are equal are only read, so that untouched ones stay untouched.
static void copy_pages(uint8_t *to, const uint8_t *from, uint64_t bytes) {
  for (uint64_t at = 0; at < bytes; at += PAGE_BYTES) {
    size_t part = min_u64(PAGE_BYTES, bytes - at);
    if (memcmp(to + at, from + at, part) != 0) memcpy(to + at, from + at, part);
  }
}

// Who is copied a second time will be copied more often: from then on, changes are noted, unless all of it is looked at in less time.
static void copy_contents(Memory *memory, const Memory *from) {
  uint64_t bytes = min_u64(align_up(from->touched, PAGE_BYTES), from->capacity);
  bool is_known = mirror_is_of(memory->mirror, memory->bytes, from->bytes, bytes);
  if (is_known && mirror_copy(memory->mirror)) return;
  for (size_t i = 0; i < visible_count(from); i++) {
    Allocation range = visible_range(from, i);
    copy_pages(memory->bytes + range.start, from->bytes + range.start, range.bytes);
  }
  if (!is_known) {
    mirror_free(memory->mirror);
    memory->mirror = memory->is_copy && bytes > FEW_BYTES ? mirror_new(memory->bytes, from->bytes, bytes) : NULL;
  }
  memory->is_copy = true;
  if (memory->mirror != NULL) mirror_start(memory->mirror);
}

bool memory_copy(Memory *memory, const Memory *from) {
  if (!same_options(memory, from)) return false;
  clear_bytes(memory, from->touched, memory->touched);
  memory->touched = from->touched;
  take_allocations(memory, from->items, from->count);
  copy_contents(memory, from);
  return true;
}

Memory *memory_clone(const Memory *memory, Diags *diags) {
  if (memory->host_count > 0) {
    diags_add(diags, NULL, 0, 0, "device memory cannot be copied while host memory is registered with it");
    return NULL;
  }
  MemoryOptions options = {.base = memory->base, .capacity = memory->capacity, .granule = memory->granule, .lead = memory->lead};
  Memory *clone = memory_new(&options, diags);
  if (clone != NULL) ASSERT(memory_copy(clone, memory));
  return clone;
}

uint64_t memory_hash(const Memory *memory, uint64_t seed) {
  uint64_t hash = hash_bytes(&memory->count, sizeof memory->count, seed);
  for (size_t i = 0; i < memory->count; i++) {
    const uint64_t item[] = {memory->items[i].start, memory->items[i].bytes, memory->items[i].heap};
    hash = hash_bytes(item, sizeof item, hash);
  }
  for (size_t i = 0; i < visible_count(memory); i++) {
    Allocation range = visible_range(memory, i);
    hash = hash_bytes(memory->bytes + range.start, range.bytes, hash);
  }
  return hash;
}

enum { STREAM_WORDS = 5 }; // base, capacity, granule, touched, count
static void stream_head(const Memory *memory, uint64_t head[STREAM_WORDS]) {
  const uint64_t words[STREAM_WORDS] = {memory->base, memory->capacity, memory->granule, memory->touched, memory->count};
  memcpy(head, words, sizeof words);
}

bool memory_save(const Memory *memory, MemoryStream put, void *context) {
  uint64_t head[STREAM_WORDS];
  stream_head(memory, head);
  if (memory->host_count > 0 || !put(context, head, sizeof head)) return false;
  for (size_t i = 0; i < memory->count; i++) {
    uint64_t item[] = {memory->items[i].start, memory->items[i].bytes, memory->items[i].heap};
    if (!put(context, item, sizeof item)) return false;
  }
  for (size_t i = 0; i < visible_count(memory); i++) {
    Allocation range = visible_range(memory, i);
    if (!put(context, memory->bytes + range.start, range.bytes)) return false;
  }
  return true;
}

// Reads the list of allocations; each must lie after the one before it and inside the memory.
static bool load_allocations(Memory *memory, uint64_t count, MemoryStream get, void *context) {
  uint64_t end = 0;
  for (uint64_t i = 0; i < count; i++) {
    uint64_t item[3];
    if (!get(context, item, sizeof item)) return false;
    if (item[0] < end || item[1] == 0 || item[0] > memory->touched || item[1] > memory->touched - item[0]) return false;
    end = item[0] + item[1];
    place(memory, memory->count, item[0], item[1], item[2] != 0);
    if (item[2] != 0) memory->heap_in_use += item[1];
  }
  return true;
}

static bool load_contents(Memory *memory, uint64_t count, MemoryStream get, void *context) {
  if (!load_allocations(memory, count, get, context)) return false;
  for (size_t i = 0; i < visible_count(memory); i++) {
    Allocation range = visible_range(memory, i);
    if (!get(context, memory->bytes + range.start, range.bytes)) return false;
  }
  return true;
}

bool memory_load(Memory *memory, MemoryStream get, void *context) {
  uint64_t head[STREAM_WORDS], own[STREAM_WORDS];
  if (memory->host_count > 0 || !get(context, head, sizeof head)) return false;
  stream_head(memory, own);
  if (memcmp(head, own, 3 * sizeof head[0]) != 0 || head[3] > memory->capacity) return false;
  take_allocations(memory, NULL, 0);
  clear_bytes(memory, 0, memory->touched);
  memory->touched = head[3];
  bool good = load_contents(memory, head[4], get, context);
  if (!good) take_allocations(memory, NULL, 0);
  return good;
}
