// When memory instructions issued in the golden run, by launch, block and warp; see follow.h.
#include "settle/follow.h"

#include <stdio.h>

enum { MOST_MOMENTS = 1 << 24, CYCLE_PARTS = 8 }; // CYCLE_PARTS: the most schedulers

typedef VEC(Moment) MomentVec;

typedef struct LaunchTimes {
  uint64_t began_at;
  uint32_t blocks, block_warps;
  MomentVec *warps; // by block and warp
} LaunchTimes;
typedef VEC(LaunchTimes) LaunchTimesVec;

struct Timeline {
  Residents residents; // first: of the hook
  Hook hook;
  Arena *arena;
  LaunchTimesVec launches; // by number
  uint32_t schedulers;     // of an SM
  uint64_t moments;
  uint64_t longest;                      // of all, from issue to write-back
  uint64_t longest_store, longest_write; // stores: from issue to the last request; from request to reply
};

static Verdict on_launch(Hook *hook, HookMachine *machine, const LaunchEvent *event) {
  Timeline *at = hook->own;
  residents_launch(hook, machine, event);
  at->schedulers = machine_accesses(machine->spec).schedulers;
  LaunchTimes *launch = VEC_PUSH(&at->launches, at->arena);
  *launch = (LaunchTimes){.began_at = machine->cycle, .blocks = event->grid[0] * event->grid[1] * event->grid[2]};
  launch->block_warps = at->residents.block_warps;
  launch->warps = ARENA_ARRAY(at->arena, MomentVec, launch->blocks * launch->block_warps);
  return VERDICT_PASS;
}

static Verdict on_commit(Hook *hook, HookMachine *machine, const CommitEvent *event) {
  Timeline *at = hook->own;
  Kind kind = op_info[event->instr->op].kind;
  bool is_access = kind == KIND_LOAD || kind == KIND_STORE || kind == KIND_ATOMIC;
  if (!is_access || at->launches.count == 0 || at->moments >= MOST_MOMENTS) return VERDICT_PASS;
  LaunchTimes *launch = &at->launches.items[at->launches.count - 1];
  uint32_t block = residents_of(&at->residents, event->who->sm, event->who->warp / launch->block_warps);
  if (block >= launch->blocks) return VERDICT_PASS;
  MomentVec *warp = &launch->warps[block * launch->block_warps + event->who->warp % launch->block_warps];
  uint64_t time = (event->issued_at - launch->began_at) * CYCLE_PARTS + event->who->warp % at->schedulers;
  if (time >= UINT32_MAX) at->moments = MOST_MOMENTS; // longer than can be told
  Moment moment = {.issue = (uint32_t)event->who->issue, .time = (uint32_t)time};
  uint32_t place = warp->count;
  VEC_PUSH(warp, at->arena);
  for (; place > 0 && warp->items[place - 1].issue > moment.issue; place--) warp->items[place] = warp->items[place - 1];
  warp->items[place] = moment;
  at->moments++;
  at->longest = max_u64(at->longest, machine->cycle - event->issued_at);
  if (kind == KIND_STORE) at->longest_store = max_u64(at->longest_store, machine->cycle - event->issued_at);
  return VERDICT_PASS;
}

static Verdict on_response(Hook *hook, HookMachine *machine, const MemoryEvent *event) {
  Timeline *at = hook->own;
  (void)machine;
  bool is_store = event->who->client == CLIENT_STORE || (event->who->client == CLIENT_WRITE_BACK && event->who->sm != WHO_NO_INDEX);
  if (is_store) at->longest_write = max_u64(at->longest_write, event->waited);
  return VERDICT_PASS;
}

Timeline *timeline_new(Arena *arena) {
  Timeline *at = ARENA_NEW(arena, Timeline);
  at->arena = arena;
  at->hook = residents_hook("timeline", &at->residents, arena);
  at->hook.launch = on_launch;
  at->hook.commit = on_commit;
  at->hook.response = on_response;
  return at;
}

Hook *timeline_hook(Timeline *timeline) { return &timeline->hook; }
static uint32_t span_of(uint64_t cycles) { return (uint32_t)min_u64(cycles * CYCLE_PARTS, UINT32_MAX / 8); }
uint32_t timeline_longest(const Timeline *timeline) { return span_of(timeline->longest); }
uint32_t timeline_longest_store(const Timeline *timeline) { return span_of(timeline->longest_store + timeline->longest_write); }

bool timeline_moment(const Timeline *timeline, const MomentKey *key, uint32_t number, Moment *moment) {
  if (timeline == NULL || timeline->moments >= MOST_MOMENTS || key->launch == 0 || key->launch > timeline->launches.count) return false;
  const LaunchTimes *launch = &timeline->launches.items[key->launch - 1];
  if (key->block >= launch->blocks || key->warp >= launch->block_warps) return false;
  const MomentVec *warp = &launch->warps[key->block * launch->block_warps + key->warp];
  if (number >= warp->count) return false;
  *moment = warp->items[number];
  return true;
}

// ---- From one process to another -----------------------------------------------------------------------

// Of nothing there are no bytes to point at.
static bool put(FILE *file, const void *bytes, size_t size, size_t count) {
  return count == 0 || fwrite(bytes, size, count, file) == count;
}
static bool get(FILE *file, void *bytes, size_t size, size_t count) { return count == 0 || fread(bytes, size, count, file) == count; }

static bool save_launch(const LaunchTimes *launch, FILE *file) {
  bool good = put(file, launch, sizeof *launch, 1);
  for (uint32_t i = 0; i < launch->blocks * launch->block_warps && good; i++) {
    const MomentVec *warp = &launch->warps[i];
    good = put(file, &warp->count, sizeof warp->count, 1) && put(file, warp->items, sizeof *warp->items, warp->count);
  }
  return good;
}

bool timeline_save(const Timeline *timeline, const char *path) {
  FILE *file = fopen(path, "wb");
  if (file == NULL) return false;
  bool good = put(file, timeline, sizeof *timeline, 1);
  for (uint32_t i = 0; i < timeline->launches.count && good; i++) good = save_launch(&timeline->launches.items[i], file);
  return fclose(file) == 0 && good;
}

static bool load_launch(LaunchTimes *launch, Arena *arena, FILE *file) {
  bool good = get(file, launch, sizeof *launch, 1);
  if (!good) return false;
  launch->warps = ARENA_ARRAY(arena, MomentVec, launch->blocks * launch->block_warps);
  for (uint32_t i = 0; i < launch->blocks * launch->block_warps && good; i++) {
    MomentVec *warp = &launch->warps[i];
    uint32_t count = 0;
    good = get(file, &count, sizeof count, 1) && count <= MOST_MOMENTS;
    Moment *items = ARENA_ARRAY(arena, Moment, good ? count : 0);
    good = good && get(file, items, sizeof *items, count);
    *warp = (MomentVec){.items = items, .count = good ? count : 0};
  }
  return good;
}

Timeline *timeline_load(Arena *arena, const char *path) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) return NULL;
  Timeline kept, *timeline = timeline_new(arena);
  bool good = get(file, &kept, sizeof kept, 1);
  if (good) {
    timeline->moments = kept.moments;
    timeline->longest = kept.longest;
    timeline->longest_store = kept.longest_store;
    timeline->longest_write = kept.longest_write;
  }
  for (uint32_t i = 0; good && i < kept.launches.count; i++) good = load_launch(VEC_PUSH(&timeline->launches, arena), arena, file);
  fclose(file);
  return good ? timeline : NULL;
}
