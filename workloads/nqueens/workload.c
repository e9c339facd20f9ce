// Counting the ways to place queens by backtracking: nearly all branches depend on data, threads of a warp part ways, and boards take
// different times. The stacks fill the shared memory of an early GPU, so that an SM holds one block.
#include "device/workload.h"

enum { THREADS = 96, MOST_ROWS = 10, MOST_PLACED = 6 }; // THREADS and MOST_ROWS as in kernel.cu

typedef struct Board { // as in kernel.cu
  uint32_t columns, left, right;
} Board;

typedef struct Data {
  Board *boards; // with the first rows filled
  DeviceAddress device_boards, device_solutions;
  uint32_t count, blocks;
  uint32_t all; // a bit per column
  int32_t rows; // left to the device
} Data;

static Board with_queen(const Board *board, uint32_t queen) {
  return (Board){board->columns | queen, (board->left | queen) << 1, (board->right | queen) >> 1};
}

// Calls `found` for each way to fill that many more rows.
static void place(const Board *board, uint32_t all, int32_t rows, void (*found)(void *context, const Board *board), void *context) {
  if (rows == 0) {
    found(context, board);
    return;
  }
  uint32_t open = all & ~(board->columns | board->left | board->right);
  for (; open != 0; open &= open - 1) {
    Board next = with_queen(board, open & -open);
    place(&next, all, rows - 1, found, context);
  }
}

static void count_one(void *context, const Board *board) {
  (void)board;
  ++*(uint32_t *)context;
}

static void keep_one(void *context, const Board *board) {
  Data *data = context;
  data->boards[data->count++] = *board;
}

static bool prepare(WorkloadRun *run) {
  Data *data = run->data = ARENA_NEW(run->arena, Data);
  int32_t placed = (int32_t)run->param[0];
  const Board empty = {0};
  uint32_t count = 0;
  data->rows = (int32_t)run->param[1];
  data->all = (1u << (placed + data->rows)) - 1;
  place(&empty, data->all, placed, count_one, &count);
  data->boards = ARENA_ARRAY(run->arena, Board, count);
  place(&empty, data->all, placed, keep_one, data);
  data->blocks = (count + THREADS - 1) / THREADS;
  data->device_boards = workload_buffer(run, data->boards, data->count * sizeof(Board));
  data->device_solutions = workload_buffer(run, NULL, data->blocks * 4ull);
  workload_output(run, "solutions", data->device_solutions, ELEMENT_U32, data->blocks);
  return data->device_boards && data->device_solutions;
}

static bool launch(WorkloadRun *run) {
  Data *data = run->data;
  const uint32_t block[3] = {THREADS, 1, 1}, grid[3] = {data->blocks, 1, 1};
  const void *arguments[] = {&data->device_boards, &data->count, &data->rows, &data->all, &data->device_solutions};
  return workload_launch(run, "nqueens", grid, block, 0, arguments, COUNT_OF(arguments));
}

static bool check(WorkloadRun *run) {
  Data *data = run->data;
  uint32_t *got = ARENA_ARRAY(run->arena, uint32_t, data->blocks);
  bool missing;
  double *expected = workload_expected(run, data->blocks, &missing);
  for (uint32_t i = 0; i < data->count && missing; i++) {
    uint32_t solutions = 0;
    place(&data->boards[i], data->all, data->rows, count_one, &solutions);
    expected[i / THREADS] += solutions;
  }
  if (!device_read(run->device, got, data->device_solutions, data->blocks * 4ull)) return false;
  for (uint32_t i = 0; i < data->blocks; i++) {
    if (got[i] != expected[i]) return workload_fail(run, "solutions[%u] = %u, expected %.0f", i, got[i], expected[i]);
  }
  return true;
}

const Workload workload_nqueens = {
    .name = "nqueens",
    .summary = "counting placements of queens; backtracking in shared memory, control and imbalance",
    .params = {{"placed", "rows that the host fills", {4, 4, 6, 6}, 1, MOST_PLACED},
               {"rows", "rows that the device fills; as many queens as rows in all", {3, 5, 5, 6}, 1, MOST_ROWS}},
    .traits = {{RATIO_CONTROL_SHARE, TRAIT_AT_LEAST, 0.25, "backtracking", SIZE_DEFAULT},
               {RATIO_ACTIVE_THREADS, TRAIT_AT_MOST, 8, "searches of unequal length", SIZE_SMALL}},
    .prepare = prepare,
    .launch = launch,
    .check = check,
};
