// Motion search: SADs of small blocks over a search window, then of larger blocks by two merging kernels.
// The window of +-16, the merges' blocks of 32 x 4 and 32 threads and the texture are the papers' program's. So are blocks of 61
// threads with 18 displacements each, from memory, not checked.
#include "device/workload.h"

enum { RANGE = 16, SIDE = 2 * RANGE + 1, THREADS = 61 }; // as in kernel.cu

// The block sizes, in the order in which they are computed. A macroblock has 256 / (width * height) of each.
typedef enum Shape { SHAPE_4X4, SHAPE_8X4, SHAPE_4X8, SHAPE_8X8, SHAPE_16X8, SHAPE_8X16, SHAPE_16X16, SHAPE_COUNT } Shape;
static const struct {
  const char *name;
  uint8_t width, height;
} shapes[SHAPE_COUNT] = {{"sad_4x4", 4, 4},   {"sad_8x4", 8, 4},   {"sad_4x8", 4, 8},    {"sad_8x8", 8, 8},
                         {"sad_16x8", 16, 8}, {"sad_8x16", 8, 16}, {"sad_16x16", 16, 16}};

typedef struct Data {
  uint8_t *current, *reference;
  uint16_t *expected[SHAPE_COUNT]; // made by the first check
  DeviceAddress device_current, sads[SHAPE_COUNT];
  uint64_t texture;
  int32_t width, height, pitch; // pitch: of a row of the reference frame
  int32_t reach, positions;     // displacements along y: -reach to reach; in all
} Data;

static uint64_t macroblocks(const Data *data) { return (uint64_t)data->width / 16 * (uint64_t)data->height / 16; }

static uint64_t sad_count(const Data *data, Shape shape) {
  return macroblocks(data) * 256 / shapes[shape].width / shapes[shape].height * (uint64_t)(data->positions + 1);
}

// A smooth scene without end: random grey at every eighth point, between them in proportion.
static uint32_t scene(uint64_t seed, uint32_t x, uint32_t y) {
  uint32_t corner[2][2];
  for (uint32_t j = 0; j < 2; j++) {
    for (uint32_t i = 0; i < 2; i++) corner[j][i] = (uint8_t)random_draw(seed, (uint64_t)(y / 8 + j) << 32 | (x / 8 + i), 0);
  }
  uint32_t u = x % 8, v = y % 8;
  return ((corner[0][0] * (8 - u) + corner[0][1] * u) * (8 - v) + (corner[1][0] * (8 - u) + corner[1][1] * u) * v) / 64;
}

// The current frame shows the reference frame's scene, moved and with noise.
static void draw_frames(WorkloadRun *run, Data *data) {
  enum { MOVE_X = 5, MOVE_Y = 1, NOISE = 8 };
  uint32_t pitch = (uint32_t)data->pitch, rows = (uint32_t)(data->height + 2 * data->reach);
  data->reference = ARENA_ARRAY(run->arena, uint8_t, (uint64_t)pitch * rows);
  for (uint32_t i = 0; i < pitch * rows; i++) data->reference[i] = (uint8_t)scene(run->seed, i % pitch, i / pitch);
  uint32_t width = (uint32_t)data->width, count = width * (uint32_t)data->height;
  data->current = ARENA_ARRAY(run->arena, uint8_t, count);
  for (uint32_t i = 0; i < count; i++) {
    uint32_t grey = scene(run->seed, i % width + RANGE + MOVE_X, i / width + (uint32_t)data->reach + MOVE_Y);
    data->current[i] = (uint8_t)min_u64(255, grey + random_below(random_draw(run->seed, i, 1), NOISE));
  }
}

static bool prepare(WorkloadRun *run) {
  Data *data = run->data = ARENA_NEW(run->arena, Data);
  data->width = 16 * (int32_t)run->param[0];
  data->height = 16 * (int32_t)run->param[1];
  data->reach = (int32_t)run->param[2];
  data->pitch = data->width + 2 * RANGE;
  data->positions = SIDE * (2 * data->reach + 1);
  draw_frames(run, data);
  uint32_t texels = (uint32_t)data->pitch * (uint32_t)(data->height + 2 * data->reach);
  data->device_current = workload_buffer(run, data->current, (uint64_t)data->width * (uint64_t)data->height);
  data->texture = workload_texture(run, workload_buffer(run, data->reference, texels), ELEMENT_U8, 1, texels);
  if (!data->device_current || !data->texture) return false;
  for (Shape shape = 0; shape < SHAPE_COUNT; shape++) {
    data->sads[shape] = workload_buffer(run, NULL, sad_count(data, shape) * 2);
    if (!data->sads[shape]) return false;
    workload_output(run, shapes[shape].name, data->sads[shape], ELEMENT_U16, sad_count(data, shape));
  }
  return true;
}

static bool launch(WorkloadRun *run) {
  Data *data = run->data;
  const uint32_t across = (uint32_t)run->param[0], down = (uint32_t)run->param[1];
  const uint32_t small_grid[3] = {4 * across, 4 * down, 1}, grid[3] = {across, down, 1};
  const uint32_t search[3] = {THREADS, 1, 1}, merge_8[3] = {32, 4, 1}, merge_16[3] = {32, 1, 1};
  const DeviceAddress *sads = data->sads;
  int32_t words = (data->positions + 1) / 2;
  const void *small[] = {&data->device_current, &data->texture, &sads[SHAPE_4X4], &data->width, &data->pitch, &data->positions};
  const void *middle[] = {&sads[SHAPE_4X4], &sads[SHAPE_8X4], &sads[SHAPE_4X8], &sads[SHAPE_8X8], &words};
  const void *large[] = {&sads[SHAPE_8X8], &sads[SHAPE_16X8], &sads[SHAPE_8X16], &sads[SHAPE_16X16], &words};
  return workload_launch(run, "sad_4x4", small_grid, search, 0, small, COUNT_OF(small)) &&
         workload_launch(run, "sad_merge_8", grid, merge_8, 0, middle, COUNT_OF(middle)) &&
         workload_launch(run, "sad_merge_16", grid, merge_16, 0, large, COUNT_OF(large));
}

// ---- Check ---------------------------------------------------------------------------------------
// Of a block whose upper left pixel is (x, y), displaced by (position % SIDE - RANGE, position / SIDE - reach).
static uint16_t sad_of(const Data *data, Shape shape, int32_t x, int32_t y, int32_t position) {
  int32_t sum = 0;
  for (int32_t v = 0; v < shapes[shape].height; v++) {
    const uint8_t *now = data->current + (y + v) * data->width + x;
    const uint8_t *then = data->reference + (y + v + position / SIDE) * data->pitch + x + position % SIDE;
    for (int32_t u = 0; u < shapes[shape].width; u++) sum += now[u] > then[u] ? now[u] - then[u] : then[u] - now[u];
  }
  return (uint16_t)sum;
}

// The upper left pixel of a macroblock's `part`-th block: quarters first, blocks in them next, rows before columns in both.
static void place_of(Shape shape, int32_t part, int32_t *x, int32_t *y) {
  int32_t w = shapes[shape].width, h = shapes[shape].height;
  bool small = w <= 8 && h <= 8; // lies in a quarter
  int32_t side = small ? 8 : 16, across = side / w, each = across * (side / h), quarter = small ? part / each : 0;
  *x = quarter % 2 * 8 + part % each % across * w;
  *y = quarter / 2 * 8 + part % each / across * h;
}

static void sads_on_host(const Data *data, Shape shape, uint16_t *expected) {
  int32_t across = data->width / 16, parts = 256 / shapes[shape].width / shapes[shape].height;
  for (int32_t m = 0; m < (int32_t)macroblocks(data); m++) {
    for (int32_t part = 0; part < parts; part++) {
      int32_t x, y;
      place_of(shape, part, &x, &y);
      uint16_t *block = expected + ((uint64_t)m * (uint64_t)parts + (uint64_t)part) * (uint64_t)(data->positions + 1); // its last stays 0
      for (int32_t i = 0; i < data->positions; i++) block[i] = sad_of(data, shape, m % across * 16 + x, m / across * 16 + y, i);
    }
  }
}

static bool check(WorkloadRun *run) {
  Data *data = run->data;
  for (Shape shape = 0; shape < SHAPE_COUNT; shape++) {
    uint64_t count = sad_count(data, shape);
    if (data->expected[shape] == NULL) {
      data->expected[shape] = ARENA_ARRAY(run->lasting, uint16_t, count);
      sads_on_host(data, shape, data->expected[shape]);
    }
    uint16_t *got = ARENA_ARRAY(run->arena, uint16_t, count);
    if (!device_read(run->device, got, data->sads[shape], count * 2)) return false;
    uint64_t i = 0;
    while (i < count && got[i] == data->expected[shape][i]) i++;
    if (i < count)
      return workload_fail(run, "%s[%llu] = %u, expected %u", shapes[shape].name, (unsigned long long)i, got[i], data->expected[shape][i]);
  }
  return true;
}

const Workload workload_sad = {
    .name = "sad",
    .summary = "motion search of H.264; blocks of 61 threads, texture, then merges with a warp per row",
    .params = {{"across", "macroblocks of 16 x 16 pixels in a row", {1, 2, 6, 22}, 1, 120},
               {"down", "rows of macroblocks", {1, 2, 4, 18}, 1, 120},
               {"reach", "pixels of the search up and down", {2, 8, 16, 16}, 0, 16}},
    .traits = {{RATIO_PARTIAL_ISSUES, TRAIT_AT_LEAST, 0.4, "61 threads do not fill two warps", SIZE_TINY},
               {RATIO_TEXTURE_SHARE, TRAIT_AT_LEAST, 0.1, "the reference frame is a texture", SIZE_TINY}},
    .prepare = prepare,
    .launch = launch,
    .check = check,
};
