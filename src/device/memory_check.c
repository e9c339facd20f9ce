// Reads of what nobody wrote, and accesses outside of allocations; see memory_check.h.
//
// Marks of global memory are kept by Memory. Those of shared and local memory are kept here, for each block that has begun
// and not ended: a byte per byte, as far as the highest that was written.
#include "device/memory_check.h"
#include "device/race_check.h"
#include "machine/parts/cluster.h"

#include <inttypes.h>
#include <stdlib.h>

const char *const finding_name[FINDING_KINDS] = {"uninitialised read", "read outside", "write outside", "race"};

enum { MOST_WARPS = 1 << 24 }; // of a launch, for which threads are counted

typedef struct Marks {
  uint8_t *bytes;
  uint64_t count;
} Marks;

typedef struct BlockMarks {
  uint32_t block;
  bool in_use;
  Marks shared;
  Marks *threads; // local memory
} BlockMarks;

typedef struct Entry {
  MemoryFinding finding;
  uint32_t *lanes; // by warp of the launch: threads that were counted; NULL: none in this launch
} Entry;

struct MemoryCheck {
  Arena *arena;
  Memory *memory;
  const Launch *launch;
  MachineWatch watch;
  WatchedStep now;
  VEC(BlockMarks) blocks;
  uint32_t last_block; // index into blocks
  VEC(Entry) entries;
  bool marks_memory; // CHECK_MEMORY
  RaceCheck *races;  // NULL: not asked for
};

// ---- Marks of blocks -------------------------------------------------------------------------------
static uint32_t threads_of(const Launch *launch) { return launch->block[0] * launch->block[1] * launch->block[2]; }
static uint32_t warps_of(const Launch *launch) { return (threads_of(launch) + WARP_LANES - 1) / WARP_LANES; }

static BlockMarks *marks_of_block(MemoryCheck *check, uint32_t block) {
  uint32_t unused = UINT32_MAX;
  if (check->last_block < check->blocks.count) {
    BlockMarks *last = &check->blocks.items[check->last_block];
    if (last->in_use && last->block == block) return last;
  }
  for (uint32_t i = 0; i < check->blocks.count; i++) {
    const BlockMarks *marks = &check->blocks.items[i];
    if (!marks->in_use) unused = i;
    if (!marks->in_use || marks->block != block) continue;
    check->last_block = i;
    return &check->blocks.items[i];
  }
  if (unused == UINT32_MAX) {
    unused = check->blocks.count;
    VEC_PUSH(&check->blocks, check->arena);
  }
  check->last_block = unused;
  check->blocks.items[unused] = (BlockMarks){.block = block, .in_use = true};
  return &check->blocks.items[unused];
}

static void free_block(BlockMarks *marks, uint32_t threads) {
  free(marks->shared.bytes);
  for (uint32_t i = 0; marks->threads != NULL && i < threads; i++) free(marks->threads[i].bytes);
  free(marks->threads);
  *marks = (BlockMarks){0};
}

static void on_ended(void *context, uint32_t block) {
  MemoryCheck *check = context;
  for (uint32_t i = 0; i < check->blocks.count; i++) {
    BlockMarks *marks = &check->blocks.items[i];
    if (marks->in_use && marks->block == block) free_block(marks, warps_of(check->launch) * WARP_LANES);
  }
}

// `owner`: the block whose shared memory it is.
static Marks *marks_of_space(MemoryCheck *check, Space space, uint32_t owner) {
  BlockMarks *marks = marks_of_block(check, owner);
  if (space == SPACE_SHARED) return &marks->shared;
  if (marks->threads == NULL) marks->threads = calloc((size_t)warps_of(check->launch) * WARP_LANES, sizeof *marks->threads);
  ASSERT(marks->threads != NULL);
  return &marks->threads[check->now.warp * WARP_LANES + check->watch.lane];
}

static void note_write(Marks *marks, uint64_t address, uint32_t bytes) {
  if (address + bytes > marks->count) {
    uint64_t count = align_up(max_u64(address + bytes, 2 * marks->count), 64);
    marks->bytes = realloc(marks->bytes, count);
    ASSERT(marks->bytes != NULL);
    memset(marks->bytes + marks->count, 0, count - marks->count);
    marks->count = count;
  }
  memset(marks->bytes + address, 1, bytes);
}

static bool was_written(const Marks *marks, uint64_t address, uint32_t bytes) {
  return address + bytes <= marks->count && memchr(marks->bytes + address, 0, bytes) == NULL;
}

// ---- Findings --------------------------------------------------------------------------------------
static void place_of(const uint32_t size[3], uint64_t linear, uint32_t place[3]) {
  place[0] = (uint32_t)(linear % size[0]);
  place[1] = (uint32_t)(linear / size[0] % size[1]);
  place[2] = (uint32_t)(linear / size[0] / size[1]);
}

static const char *copy_text(MemoryCheck *check, const char *text) {
  return text == NULL ? NULL : arena_copy_text(check->arena, text, strlen(text));
}

static uint32_t line_of(const MemoryCheck *check, uint32_t pc) {
  const Program *program = check->launch->program;
  return program->lines != NULL && pc < program->code_count ? program->lines[pc] : 0;
}

static bool same_text(const char *a, const char *b) { return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0); }

static bool same_place(const MemoryCheck *check, uint32_t line, uint32_t pc, uint32_t now) {
  return line == line_of(check, now) && (line != 0 || pc == now);
}

// A race is one, whichever of its sides comes first.
static bool same_places(const MemoryCheck *check, const MemoryFinding *finding, const RaceOther *other) {
  uint32_t now = check->now.pc;
  if (other == NULL) return same_place(check, finding->line, finding->pc, now);
  return (same_place(check, finding->line, finding->pc, now) && same_place(check, finding->other_line, finding->other_pc, other->pc)) ||
         (same_place(check, finding->line, finding->pc, other->pc) && same_place(check, finding->other_line, finding->other_pc, now));
}

// `other`: of a race; NULL otherwise.
static Entry *entry_of(MemoryCheck *check, FindingKind kind, Space space, const RaceOther *other) {
  const Launch *launch = check->launch;
  uint32_t line = line_of(check, check->now.pc), other_line = other == NULL ? 0 : line_of(check, other->pc);
  for (uint32_t i = 0; i < check->entries.count; i++) {
    const MemoryFinding *finding = &check->entries.items[i].finding;
    bool same = finding->kind == kind && finding->space == space && same_places(check, finding, other);
    if (same && same_text(finding->kernel, launch->kernel->name) && same_text(finding->file, launch->program->file))
      return &check->entries.items[i];
  }
  Entry *entry = VEC_PUSH(&check->entries, check->arena);
  *entry = (Entry){.finding = {.kind = kind, .space = space, .line = line, .pc = check->now.pc, .launch = launch->number}};
  if (other != NULL) {
    entry->finding.other_line = other_line;
    entry->finding.other_pc = other->pc;
    entry->finding.other_wrote = other->wrote;
    entry->finding.other_warp = other->warp;
    place_of(launch->grid, other->block, entry->finding.other_block);
  }
  entry->finding.kernel = copy_text(check, launch->kernel->name);
  entry->finding.file = copy_text(check, launch->program->file);
  return entry;
}

static void describe_first(const MemoryCheck *check, MemoryFinding *finding, uint64_t address, uint32_t bytes) {
  finding->address = address;
  finding->bytes = bytes;
  place_of(check->launch->grid, check->now.block, finding->block);
  place_of(check->launch->block, (uint64_t)check->now.warp * WARP_LANES + check->watch.lane, finding->thread);
  if (finding->space == SPACE_GLOBAL) memory_near(check->memory, address, &finding->near_start, &finding->near_bytes);
}

static void count_thread(const MemoryCheck *check, Entry *entry) {
  uint64_t warps = (uint64_t)check->launch->grid[0] * check->launch->grid[1] * check->launch->grid[2] * warps_of(check->launch);
  if (warps > MOST_WARPS) return;
  if (entry->lanes == NULL) entry->lanes = calloc(warps, sizeof *entry->lanes);
  ASSERT(entry->lanes != NULL);
  uint32_t *lanes = &entry->lanes[(uint64_t)check->now.block * warps_of(check->launch) + check->now.warp];
  entry->finding.threads += (*lanes >> check->watch.lane & 1) == 0;
  *lanes |= 1u << check->watch.lane;
}

static void report_as(MemoryCheck *check, Entry *entry, uint64_t address, uint32_t bytes) {
  if (entry->finding.accesses++ == 0) describe_first(check, &entry->finding, address, bytes);
  entry->finding.last_launch = check->launch->number;
  count_thread(check, entry);
}
static void report(MemoryCheck *check, FindingKind kind, Space space, uint64_t address, uint32_t bytes) {
  report_as(check, entry_of(check, kind, space, NULL), address, bytes);
}

// The other side of a race: "with the write in line 20 by block (0,0,0), warp 1".
static void add_other(const MemoryFinding *finding, Text *out) {
  text_add(out, ", with the %s ", finding->other_wrote ? "write" : "read");
  if (finding->other_line != 0) text_add(out, "in line %u", finding->other_line);
  else text_add(out, "at instruction %u", finding->other_pc);
  text_add(out, " by block (%u,%u,%u), warp %u", finding->other_block[0], finding->other_block[1], finding->other_block[2],
           finding->other_warp);
}

void finding_place(const MemoryFinding *finding, Text *out) {
  text_add(out, "%u byte%s at 0x%" PRIx64, finding->bytes, finding->bytes == 1 ? "" : "s", finding->address);
  if (finding->kind == FINDING_RACE) add_other(finding, out);
  if (finding->near_bytes == 0) return;
  uint64_t end = finding->near_start + finding->near_bytes, address = finding->address;
  if (address < finding->near_start) text_add(out, ", %" PRIu64 " bytes before a", finding->near_start - address);
  else if (address >= end) text_add(out, ", %" PRIu64 " bytes past the end of a", address - end);
  else text_add(out, ", %" PRIu64 " bytes into a", address - finding->near_start);
  text_add(out, " %" PRIu64 "-byte allocation", finding->near_bytes);
}

// ---- What the machine tells ------------------------------------------------------------------------
static void on_step(void *context, const WatchedStep *step) {
  MemoryCheck *check = context;
  check->now = *step;
  if (check->races != NULL) race_check_step(check->races, step);
}

static void on_lost(void *context) { (void)context; }

static void touch_global(MemoryCheck *check, uint64_t address, uint32_t bytes, unsigned how) {
  Memory *memory = check->memory;
  uint64_t start, size;
  if (address < memory_base(memory) || address - memory_base(memory) >= memory_capacity(memory)) return; // registered host memory
  bool inside = memory_find(memory, address, &start, &size) && bytes <= start + size - address;
  if (!inside && (how & WATCH_READ) != 0) report(check, FINDING_READ_OUTSIDE, SPACE_GLOBAL, address, bytes);
  if (!inside && (how & WATCH_WRITE) != 0) report(check, FINDING_WRITE_OUTSIDE, SPACE_GLOBAL, address, bytes);
  if (inside && (how & WATCH_READ) != 0 && !memory_was_written(memory, address, bytes))
    report(check, FINDING_UNWRITTEN, SPACE_GLOBAL, address, bytes);
  if (inside && (how & WATCH_WRITE) != 0) memory_note_write(memory, address, bytes);
}

static bool is_shown(const MemoryCheck *check) {
  const bool *hidden = check->launch->program->hidden;
  return hidden == NULL || !hidden[check->now.pc];
}

// The block whose shared memory an access is to, and the place in it: another one of the cluster, where the address says so.
static uint32_t owner_of(const MemoryCheck *check, Space space, uint64_t address, uint64_t *place) {
  uint32_t rank, index[3];
  *place = address;
  if (space != SPACE_SHARED || !cluster_place(check->launch, address, &rank, place)) return check->now.block;
  place_of(check->launch->grid, check->now.block, index);
  return (uint32_t)cluster_member(check->launch, index, rank);
}

static void on_touch(void *context, Space space, uint64_t address, uint32_t bytes, unsigned how) {
  MemoryCheck *check = context;
  RaceOther other;
  uint64_t place;
  uint32_t owner = owner_of(check, space, address, &place);
  if (check->races != NULL && race_check_touch(check->races, space, owner, place, bytes, how, &other) && is_shown(check))
    report_as(check, entry_of(check, FINDING_RACE, space, &other), address, bytes);
  if (!check->marks_memory) return;
  if (space == SPACE_GLOBAL) {
    touch_global(check, address, bytes, how);
  } else if (space == SPACE_SHARED || space == SPACE_LOCAL) {
    Marks *marks = marks_of_space(check, space, owner);
    if ((how & WATCH_READ) != 0 && is_shown(check) && !was_written(marks, place, bytes))
      report(check, FINDING_UNWRITTEN, space, address, bytes);
    if ((how & WATCH_WRITE) != 0) note_write(marks, place, bytes);
  }
}

// ---- The check -------------------------------------------------------------------------------------
MemoryCheck *memory_check_new(Memory *memory, unsigned what) {
  if ((what & CHECK_MEMORY) != 0 && !memory_track(memory)) return NULL;
  Arena *arena = arena_new();
  MemoryCheck *check = ARENA_NEW(arena, MemoryCheck);
  check->arena = arena;
  check->memory = memory;
  check->marks_memory = (what & CHECK_MEMORY) != 0;
  if ((what & CHECK_RACES) != 0) check->races = race_check_new(arena);
  check->watch =
      (MachineWatch){.context = check, .touches_rare = true, .step = on_step, .touch = on_touch, .lost = on_lost, .ended = on_ended};
  return check;
}

void memory_check_free(MemoryCheck *check) {
  if (check != NULL) arena_free(check->arena);
}

MachineWatch *memory_check_begin(MemoryCheck *check, const Launch *launch) {
  check->launch = launch;
  if (check->races != NULL) race_check_begin(check->races, launch);
  return &check->watch;
}

void memory_check_end(MemoryCheck *check) {
  for (uint32_t i = 0; i < check->blocks.count; i++) free_block(&check->blocks.items[i], warps_of(check->launch) * WARP_LANES);
  for (uint32_t i = 0; i < check->entries.count; i++) {
    free(check->entries.items[i].lanes);
    check->entries.items[i].lanes = NULL;
  }
  if (check->races != NULL) race_check_end(check->races);
  check->launch = NULL;
}

uint32_t memory_check_count(const MemoryCheck *check) { return check == NULL ? 0 : check->entries.count; }
const MemoryFinding *memory_check_finding(const MemoryCheck *check, uint32_t index) { return &check->entries.items[index].finding; }
