// Breadth-first search over a random graph: divergent, scattered loads, one launch a level until
// the device says that nothing changed.
#include "device/workload.h"

typedef struct Data {
  uint32_t *first_edge, *edge;
  DeviceAddress device_first, device_edge, device_level, device_changed;
  uint32_t vertices, edges;
} Data;

// Every vertex but 0 has an edge from a lower one, so that all are reached; the others are random.
static void make_graph(WorkloadRun *run, Data *data) {
  uint32_t *from = ARENA_ARRAY(run->arena, uint32_t, data->edges), *to = ARENA_ARRAY(run->arena, uint32_t, data->edges);
  for (uint32_t e = 0; e < data->edges; e++) {
    bool tree = e + 1 < data->vertices;
    uint32_t bound = tree ? (e + 1 < 64 ? 1 : (e + 1) / 2) : data->vertices;
    from[e] = (uint32_t)random_below(random_draw(run->seed, e, 0), bound);
    to[e] = tree ? e + 1 : (uint32_t)random_below(random_draw(run->seed, e, 1), data->vertices);
  }
  data->first_edge = ARENA_ARRAY(run->arena, uint32_t, data->vertices + 1);
  data->edge = ARENA_ARRAY(run->arena, uint32_t, data->edges);
  for (uint32_t e = 0; e < data->edges; e++) data->first_edge[from[e] + 1]++;
  for (uint32_t v = 0; v < data->vertices; v++) data->first_edge[v + 1] += data->first_edge[v];
  uint32_t *next = ARENA_ARRAY(run->arena, uint32_t, data->vertices);
  memcpy(next, data->first_edge, data->vertices * sizeof *next);
  for (uint32_t e = 0; e < data->edges; e++) data->edge[next[from[e]]++] = to[e];
}

static bool prepare(WorkloadRun *run) {
  Data *data = run->data = ARENA_NEW(run->arena, Data);
  data->vertices = (uint32_t)run->param[0];
  data->edges = data->vertices * (uint32_t)run->param[1];
  make_graph(run, data);
  int32_t *level = ARENA_ARRAY(run->arena, int32_t, data->vertices);
  for (uint32_t v = 1; v < data->vertices; v++) level[v] = -1;
  data->device_first = workload_buffer(run, data->first_edge, (data->vertices + 1) * 4ull);
  data->device_edge = workload_buffer(run, data->edge, data->edges * 4ull);
  data->device_level = workload_buffer(run, level, data->vertices * 4ull);
  data->device_changed = workload_buffer(run, NULL, 4);
  workload_output(run, "level", data->device_level, ELEMENT_S32, data->vertices);
  return data->device_first && data->device_edge && data->device_level && data->device_changed;
}

// At most one launch a vertex, whatever a broken device answers.
static bool launch(WorkloadRun *run) {
  Data *data = run->data;
  const uint32_t block[3] = {256, 1, 1}, grid[3] = {(data->vertices + 255) / 256, 1, 1};
  uint32_t changed = 1;
  for (int32_t depth = 0; changed != 0 && depth < (int32_t)data->vertices; depth++) {
    const void *arguments[] = {&data->device_first,   &data->device_edge, &data->device_level,
                               &data->device_changed, &data->vertices,    &depth};
    if (!device_set(run->device, data->device_changed, 0, 4) ||
        !workload_launch(run, "bfs_level", grid, block, 0, arguments, COUNT_OF(arguments)) ||
        !device_read(run->device, &changed, data->device_changed, 4)) {
      return false;
    }
  }
  return true;
}

static bool check(WorkloadRun *run) {
  Data *data = run->data;
  int32_t *got = ARENA_ARRAY(run->arena, int32_t, data->vertices), *expected = ARENA_ARRAY(run->arena, int32_t, data->vertices);
  uint32_t *queue = ARENA_ARRAY(run->arena, uint32_t, data->vertices), tail = 1;
  if (!device_read(run->device, got, data->device_level, data->vertices * 4ull)) return false;
  for (uint32_t v = 1; v < data->vertices; v++) expected[v] = -1;
  for (uint32_t head = 0; head < tail; head++) {
    uint32_t v = queue[head];
    for (uint32_t e = data->first_edge[v]; e < data->first_edge[v + 1]; e++) {
      if (expected[data->edge[e]] >= 0) continue;
      expected[data->edge[e]] = expected[v] + 1;
      queue[tail++] = data->edge[e];
    }
  }
  for (uint32_t v = 0; v < data->vertices; v++) {
    if (got[v] != expected[v]) return workload_fail(run, "level[%u] = %d, expected %d", v, got[v], expected[v]);
  }
  return true;
}

const Workload workload_bfs = {
    .name = "bfs",
    .summary = "breadth-first search; divergent, scattered loads, host loop",
    .params = {{"vertices", "vertices of the graph", {500, 4096, 65536, 1 << 19}, 2, 1u << 26},
               {"degree", "edges per vertex", {4, 6, 6, 8}, 1, 32}},
    .traits = {{RATIO_ACTIVE_THREADS, TRAIT_AT_MOST, 14, "divergent edge loops", SIZE_TINY},
               {RATIO_LOAD_TRANSACTIONS, TRAIT_AT_LEAST, 3, "scattered loads", SIZE_TINY},
               {RATIO_DRAM_WAIT, TRAIT_AT_LEAST, 6, "memory-intensive", SIZE_SMALL}},
    .prepare = prepare,
    .launch = launch,
    .check = check,
};
