// Edit distances of pairs of words: one pair a block, a barrier per anti-diagonal, and accesses a row apart. Few threads work at the
// ends of the wavefront, and words of different lengths keep blocks busy for different times.
#include "device/workload.h"

enum { THREADS = 64, LETTERS = 26 };

typedef struct Pair { // as in kernel.cu
  uint32_t a, b, a_length, b_length;
} Pair;

typedef struct Data {
  uint8_t *text; // two words of `longest` letters per pair, one after the other
  Pair *pairs;
  DeviceAddress device_text, device_pairs, device_tables, device_distance;
  uint32_t count, longest, row; // row: cells in a row of a table
} Data;

static uint8_t letter(WorkloadRun *run, uint32_t at, uint64_t draw) {
  return (uint8_t)('a' + random_below(random_draw(run->seed, at, draw), LETTERS));
}

// The first word is random; the second is the first with letters replaced, left out and put in.
static void make_pair(WorkloadRun *run, Data *data, uint32_t index) {
  Pair *pair = &data->pairs[index];
  uint32_t shortest = data->longest / 4;
  pair->a = index * 2 * data->longest;
  pair->b = pair->a + data->longest;
  pair->a_length = shortest + (uint32_t)random_below(random_draw(run->seed, index, 0), data->longest - shortest + 1);
  for (uint32_t i = 0; i < pair->a_length; i++) {
    uint32_t at = pair->a + i;
    data->text[at] = letter(run, at, 1);
    uint64_t edit = random_below(random_draw(run->seed, at, 2), 8); // 0: replace, 1: leave out, 2: put one in
    if (edit != 1 && pair->b_length < data->longest)
      data->text[pair->b + pair->b_length++] = edit == 0 ? letter(run, at, 3) : data->text[at];
    if (edit == 2 && pair->b_length < data->longest) data->text[pair->b + pair->b_length++] = letter(run, at, 4);
  }
  if (pair->b_length == 0) data->text[pair->b + pair->b_length++] = letter(run, pair->b, 1);
}

static bool prepare(WorkloadRun *run) {
  Data *data = run->data = ARENA_NEW(run->arena, Data);
  data->count = (uint32_t)run->param[0];
  data->longest = (uint32_t)run->param[1];
  data->row = data->longest + 1;
  uint64_t text_bytes = 2ull * data->count * data->longest;
  data->text = ARENA_ARRAY(run->arena, uint8_t, text_bytes);
  data->pairs = ARENA_ARRAY(run->arena, Pair, data->count);
  for (uint32_t i = 0; i < data->count; i++) make_pair(run, data, i);
  data->device_text = workload_buffer(run, data->text, text_bytes);
  data->device_pairs = workload_buffer(run, data->pairs, data->count * sizeof(Pair));
  data->device_tables = workload_buffer(run, NULL, (uint64_t)data->count * data->row * data->row * 4);
  data->device_distance = workload_buffer(run, NULL, data->count * 4ull);
  workload_output(run, "distance", data->device_distance, ELEMENT_U32, data->count);
  return data->device_text && data->device_pairs && data->device_tables && data->device_distance;
}

static bool launch(WorkloadRun *run) {
  Data *data = run->data;
  const uint32_t block[3] = {THREADS, 1, 1}, grid[3] = {data->count, 1, 1};
  const void *arguments[] = {&data->device_text, &data->device_pairs, &data->device_tables, &data->device_distance, &data->row};
  return workload_launch(run, "levenshtein", grid, block, 0, arguments, COUNT_OF(arguments));
}

// Row by row: row[j] is the distance of the first i letters of a and the first j of b.
static uint32_t distance_on_host(const Data *data, const Pair *pair, uint32_t *row) {
  for (uint32_t j = 0; j <= pair->b_length; j++) row[j] = j;
  for (uint32_t i = 1; i <= pair->a_length; i++) {
    uint32_t diagonal = row[0];
    row[0] = i;
    for (uint32_t j = 1; j <= pair->b_length; j++) {
      uint32_t replaced = diagonal + (data->text[pair->a + i - 1] != data->text[pair->b + j - 1]);
      diagonal = row[j];
      row[j] = min_u32(replaced, min_u32(row[j], row[j - 1]) + 1);
    }
  }
  return row[pair->b_length];
}

static bool check(WorkloadRun *run) {
  Data *data = run->data;
  uint32_t *got = ARENA_ARRAY(run->arena, uint32_t, data->count), *cells = ARENA_ARRAY(run->arena, uint32_t, data->row);
  if (!device_read(run->device, got, data->device_distance, data->count * 4ull)) return false;
  for (uint32_t i = 0; i < data->count; i++) {
    uint32_t expected = distance_on_host(data, &data->pairs[i], cells);
    if (got[i] != expected) return workload_fail(run, "distance[%u] = %u, expected %u", i, got[i], expected);
  }
  return true;
}

const Workload workload_levenshtein = {
    .name = "levenshtein",
    .summary = "edit distances of words; wavefronts through tables in global memory, few active threads at their ends",
    .params = {{"pairs", "pairs of words, one per block", {5, 24, 256, 1024}, 1, 32768},
               {"longest", "letters of the longest words", {16, 32, 40, 64}, 4, 256}},
    .traits = {{RATIO_PARTIAL_ISSUES, TRAIT_AT_LEAST, 0.4, "short diagonals", SIZE_SMALL},
               {RATIO_IDLE_MEMORY, TRAIT_AT_LEAST, 0.5, "tables in global memory", SIZE_DEFAULT},
               {RATIO_DRAM_WAIT, TRAIT_AT_LEAST, 12, "memory-intensive", SIZE_DEFAULT},
               {RATIO_IDLE_EMPTY, TRAIT_AT_LEAST, 0.1, "unequal words", SIZE_SMALL}},
    .prepare = prepare,
    .launch = launch,
    .check = check,
};
