// Global alignment of two sequences: a launch per anti-diagonal of tiles, first ever more blocks, then ever fewer; half-filled warps.
#include "device/workload.h"

enum { TILE = 16, LETTERS = 20 }; // TILE as in kernel.cu

typedef struct Data {
  int32_t *similarity; // of letter x of one sequence and letter y of the other: [y][x]
  DeviceAddress device_score, device_similarity;
  uint32_t tiles, side; // side = letters of each sequence
  int32_t penalty;      // of a gap
} Data;

// Equal letters score 4 to 9, others -4 to 3: the range of the usual tables for proteins.
static int32_t score_of(WorkloadRun *run, uint64_t a, uint64_t b) {
  uint64_t bits = random_draw(run->seed, a < b ? a * LETTERS + b : b * LETTERS + a, 2);
  return a == b ? 4 + (int32_t)random_below(bits, 6) : (int32_t)random_below(bits, 8) - 4;
}

static void compare_letters(WorkloadRun *run, Data *data) {
  int32_t table[LETTERS][LETTERS];
  for (uint32_t a = 0; a < LETTERS; a++) {
    for (uint32_t b = 0; b < LETTERS; b++) table[a][b] = score_of(run, a, b);
  }
  for (uint32_t y = 0; y < data->side; y++) {
    uint64_t a = random_below(random_draw(run->seed, y, 0), LETTERS);
    for (uint32_t x = 0; x < data->side; x++)
      data->similarity[y * data->side + x] = table[a][random_below(random_draw(run->seed, x, 1), LETTERS)];
  }
}

// The edges of the table: nothing but gaps.
static void fill_edges(const Data *data, int32_t *score) {
  for (uint32_t i = 0; i <= data->side; i++) score[i] = score[i * (data->side + 1)] = -(int32_t)i * data->penalty;
}

static uint64_t cell_count(const Data *data) { return (uint64_t)(data->side + 1) * (data->side + 1); }

static bool prepare(WorkloadRun *run) {
  Data *data = run->data = ARENA_NEW(run->arena, Data);
  data->tiles = (uint32_t)run->param[0];
  data->side = data->tiles * TILE;
  data->penalty = 10;
  data->similarity = ARENA_ARRAY(run->arena, int32_t, (uint64_t)data->side * data->side);
  compare_letters(run, data);
  int32_t *score = ARENA_ARRAY(run->arena, int32_t, cell_count(data));
  fill_edges(data, score);
  data->device_score = workload_buffer(run, score, cell_count(data) * 4);
  data->device_similarity = workload_buffer(run, data->similarity, (uint64_t)data->side * data->side * 4);
  workload_output_matrix(run, "score", data->device_score, ELEMENT_S32, data->side + 1, data->side + 1);
  return data->device_score && data->device_similarity;
}

static bool launch(WorkloadRun *run) {
  Data *data = run->data;
  const uint32_t block[3] = {TILE, 1, 1};
  const void *arguments[] = {&data->device_score, &data->device_similarity, &data->side, &data->penalty};
  for (uint32_t diagonal = 1; diagonal < 2 * data->tiles; diagonal++) {
    bool upper = diagonal <= data->tiles;
    const uint32_t grid[3] = {upper ? diagonal : 2 * data->tiles - diagonal, 1, 1};
    const char *kernel = upper ? "needleman_upper" : "needleman_lower";
    if (!workload_launch(run, kernel, grid, block, 0, arguments, COUNT_OF(arguments))) return false;
  }
  return true;
}

static int32_t larger(int32_t a, int32_t b) { return a > b ? a : b; }

static bool check(WorkloadRun *run) {
  Data *data = run->data;
  uint64_t row = data->side + 1;
  int32_t *got = ARENA_ARRAY(run->arena, int32_t, cell_count(data)), *expected = ARENA_ARRAY(run->arena, int32_t, cell_count(data));
  if (!device_read(run->device, got, data->device_score, cell_count(data) * 4)) return false;
  fill_edges(data, expected);
  for (uint64_t i = 0; i < cell_count(data); i++) {
    uint64_t x = i % row, y = i / row;
    if (x > 0 && y > 0) {
      int32_t both = expected[i - row - 1] + data->similarity[(y - 1) * data->side + x - 1];
      expected[i] = larger(both, larger(expected[i - 1], expected[i - row]) - data->penalty);
    }
    if (got[i] != expected[i]) return workload_fail(run, "score[%u][%u] = %d, expected %d", (uint32_t)y, (uint32_t)x, got[i], expected[i]);
  }
  return true;
}

const Workload workload_needleman = {
    .name = "needleman",
    .summary = "alignment of sequences; wavefronts of tiles in shared memory, half-filled warps, a launch per diagonal",
    .params = {{"tiles", "tiles of 16 x 16 along each side", {3, 8, 64, 128}, 1, 512}},
    .traits = {{RATIO_ACTIVE_THREADS, TRAIT_AT_MOST, 16, "blocks of 16 threads", SIZE_TINY},
               {RATIO_IDLE_EMPTY, TRAIT_AT_LEAST, 0.15, "few tiles on short diagonals", SIZE_SMALL},
               {RATIO_DRAM_WAIT, TRAIT_AT_LEAST, 15, "memory-intensive", SIZE_DEFAULT}},
    .prepare = prepare,
    .launch = launch,
    .check = check,
};
