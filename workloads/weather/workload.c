// Clouds and rain in columns of air: a long kernel with many registers, a thread per column. column.h is the physics.
// 72 blocks of 8 x 8 columns and neither shared nor constant memory as in the papers' program; the physics is simpler and ours.
#include "device/workload.h"

#include "column.h"

enum { SIDE = 8, FIELDS = 6, AIR_FIELDS = 3 }; // blocks of 8 x 8; state and air as in kernel.cu
static const char *const field_names[FIELDS] = {"temperature", "vapour", "cloud", "ice", "rain", "snow"};

typedef struct Data {
  float *state, *air; // as at the start, field by field, in them level by level
  DeviceAddress device_state, device_air, ground;
  int32_t width, height, levels, parts;
  uint32_t steps;
  float seconds;
} Data;

static uint64_t columns_of(const Data *data) { return (uint64_t)data->width * (uint64_t)data->height; }
static uint64_t cells_of(const Data *data) { return columns_of(data) * (uint64_t)data->levels; }

// Between 0 and 1, smooth over the map: random at every eighth column, between them in proportion.
static float storm(uint64_t seed, uint32_t x, uint32_t y, uint64_t stream) {
  float corner[2][2], u = (float)(x % 8) / 8.0f, v = (float)(y % 8) / 8.0f;
  for (uint32_t j = 0; j < 2; j++) {
    for (uint32_t i = 0; i < 2; i++) corner[j][i] = random_unit_f32(random_draw(seed, (uint64_t)(y / 8 + j) << 32 | (x / 8 + i), stream));
  }
  float top = corner[0][0] + (corner[0][1] - corner[0][0]) * u, bottom = corner[1][0] + (corner[1][1] - corner[1][0]) * u;
  return top + (bottom - top) * v;
}

// A column of a moist summer day, every 500 m: 6.5 K colder each km, vapour less by a fifth each level. Where it is stormy there is
// more vapour, and there are clouds and what falls from them.
static void fill_column(const Data *data, uint64_t seed, uint64_t column) {
  uint64_t columns = columns_of(data), cells = cells_of(data);
  uint32_t x = (uint32_t)(column % (uint64_t)data->width), y = (uint32_t)(column / (uint64_t)data->width);
  float wet = storm(seed, x, y, 0), strength = storm(seed, x, y, 1) - 0.4f, thickness = 500.0f;
  float pressure = 100000.0f, surface = 296.0f + 6.0f * storm(seed, x, y, 2), vapour = 0.008f + 0.01f * wet;
  for (int32_t k = 0; k < data->levels; k++) {
    uint64_t i = (uint64_t)k * columns + column;
    float temperature = surface - 0.0065f * thickness * (float)k, chance = random_unit_f32(random_draw(seed, i, 3));
    float density = pressure / (287.0f * temperature), clouds = strength > 0.0f ? strength * chance : 0.0f;
    bool high = temperature < 265.0f;
    const float fields[FIELDS] = {temperature,
                                  vapour * (0.9f + 0.2f * chance),
                                  high && k % 3 != 0 ? 0.0f : 0.003f * clouds,
                                  high ? 0.0008f * clouds : 0.0f,
                                  high ? 0.0f : 0.004f * clouds * wet,
                                  temperature < 275.0f ? 0.003f * clouds * wet : 0.0f};
    for (uint32_t f = 0; f < FIELDS; f++) data->state[f * cells + i] = fields[f];
    data->air[i] = density;
    data->air[cells + i] = pressure;
    data->air[2 * cells + i] = thickness;
    pressure -= 9.81f * density * thickness;
    vapour *= 0.8f;
  }
}

static bool prepare(WorkloadRun *run) {
  Data *data = run->data = ARENA_NEW(run->arena, Data);
  data->width = (int32_t)run->param[0];
  data->height = (int32_t)run->param[1];
  data->levels = (int32_t)run->param[2];
  data->steps = (uint32_t)run->param[3];
  data->parts = 2;
  data->seconds = 60.0f;
  uint64_t columns = columns_of(data), cells = cells_of(data);
  data->state = ARENA_ARRAY(run->arena, float, FIELDS *cells);
  data->air = ARENA_ARRAY(run->arena, float, AIR_FIELDS *cells);
  for (uint64_t column = 0; column < columns; column++) fill_column(data, run->seed, column);
  data->device_state = workload_buffer(run, data->state, FIELDS * cells * 4);
  data->device_air = workload_buffer(run, data->air, AIR_FIELDS * cells * 4);
  data->ground = workload_buffer(run, NULL, 2 * columns * 4);
  for (uint32_t f = 0; f < FIELDS; f++) workload_output(run, field_names[f], data->device_state + f * cells * 4, ELEMENT_F32, cells);
  workload_output(run, "ground", data->ground, ELEMENT_F32, 2 * columns);
  return data->device_state && data->device_air && data->ground;
}

static bool launch(WorkloadRun *run) {
  Data *data = run->data;
  const uint32_t block[3] = {SIDE, SIDE, 1};
  const uint32_t grid[3] = {((uint32_t)data->width + SIDE - 1) / SIDE, ((uint32_t)data->height + SIDE - 1) / SIDE, 1};
  const void *arguments[] = {&data->device_state, &data->device_air, &data->ground,  &data->width,
                             &data->height,       &data->levels,     &data->seconds, &data->parts};
  for (uint32_t step = 0; step < data->steps; step++) {
    if (!workload_launch(run, "weather_step", grid, block, 0, arguments, COUNT_OF(arguments))) return false;
  }
  return true;
}

// ---- Check ---------------------------------------------------------------------------------------
// The same in double. expected: FIELDS fields of the state, then rain and snow on the ground.
static void step_column(const Data *data, double *expected, uint64_t column) {
  uint64_t columns = columns_of(data), cells = cells_of(data);
  Fall fall = {0};
  for (int32_t k = data->levels; k-- > 0;) {
    uint64_t i = (uint64_t)k * columns + column;
    const float *air = data->air + i;
    double *at = expected + i;
    Level l = {at[0],         at[cells],      at[2 * cells],      at[3 * cells],         at[4 * cells],
               at[5 * cells], (double)air[0], (double)air[cells], (double)air[2 * cells]};
    step_level(&l, &fall, data->seconds, data->parts);
    const double fields[FIELDS] = {l.temperature, l.vapour, l.cloud, l.ice, l.rain, l.snow};
    for (uint32_t f = 0; f < FIELDS; f++) at[f * cells] = fields[f];
  }
  expected[FIELDS * cells + column] += fall.rain;
  expected[FIELDS * cells + columns + column] += fall.snow + fall.ice;
}

// Water is neither made nor lost: what a column holds and what fell from it, in kg/m2, is what it held at the start.
static bool water_is_kept(WorkloadRun *run, const Data *data, const float *state, const float *ground) {
  uint64_t columns = columns_of(data), cells = cells_of(data);
  for (uint64_t column = 0; column < columns; column++) {
    double before = 0, after = (double)ground[column] + (double)ground[columns + column];
    for (uint64_t i = column; i < cells; i += columns) {
      double mass = (double)data->air[i] * (double)data->air[2 * cells + i];
      for (uint32_t f = 1; f < FIELDS; f++) {
        before += mass * (double)data->state[f * cells + i];
        after += mass * (double)state[f * cells + i];
      }
    }
    if (!(fabs(after - before) <= 1e-5 * before))
      return workload_fail(run, "column %llu holds %g kg/m2 of water, and held %g", (unsigned long long)column, after, before);
  }
  return true;
}

// Temperatures within 1e-5 of their value (0.003 K), water within 1e-4 g/kg (or in proportion where there is more than 1 g/kg), on
// the ground within 1e-4 kg/m2. Hundreds of roundings and approximate powers lie behind a value. The greatest error of water seen
// in six steps is 4e-5; it grows with steps, so there are no more.
static bool check(WorkloadRun *run) {
  Data *data = run->data;
  uint64_t columns = columns_of(data), cells = cells_of(data), count = FIELDS * cells + 2 * columns;
  float *got = ARENA_ARRAY(run->arena, float, count);
  bool missing;
  double *expected = workload_expected(run, count, &missing);
  if (!device_read(run->device, got, data->device_state, FIELDS * cells * 4) ||
      !device_read(run->device, got + FIELDS * cells, data->ground, 2 * columns * 4)) {
    return false;
  }
  if (missing) {
    for (uint64_t i = 0; i < FIELDS * cells; i++) expected[i] = (double)data->state[i];
    for (uint32_t step = 0; step < data->steps; step++) {
      for (uint64_t column = 0; column < columns; column++) step_column(data, expected, column);
    }
    for (uint64_t i = cells; i < FIELDS * cells; i++) expected[i] *= 1000.0;
  }
  if (!water_is_kept(run, data, got, got + FIELDS * cells)) return false;
  for (uint64_t i = cells; i < FIELDS * cells; i++) got[i] *= 1000.0f; // in g/kg
  if (!workload_near(run, field_names[0], got, expected, cells, 1e-5)) return false;
  for (uint32_t f = 1; f < FIELDS; f++) {
    if (!workload_near(run, field_names[f], got + f * cells, expected + f * cells, cells, 1e-4)) return false;
  }
  return workload_near(run, "ground", got + FIELDS * cells, expected + FIELDS * cells, 2 * columns, 1e-4);
}

const Workload workload_weather = {
    .name = "weather",
    .summary = "clouds and rain in columns of air; long kernels, arithmetic, many registers",
    .params = {{"width", "columns along x", {16, 24, 72, 144}, 1, 4096},
               {"height", "columns along y", {12, 16, 64, 128}, 1, 4096},
               {"levels", "levels of 500 m", {4, 8, 27, 27}, 1, 40},
               {"steps", "time steps of a minute", {1, 2, 1, 2}, 1, 6}},
    .traits = {{RATIO_ALU_SHARE, TRAIT_AT_LEAST, 0.6, "arithmetic", SIZE_TINY},
               {RATIO_SFU_SHARE, TRAIT_AT_LEAST, 0.1, "powers, roots and divisions", SIZE_TINY},
               {RATIO_OCCUPANCY, TRAIT_AT_MOST, 0.25, "few threads", SIZE_TINY}},
    .prepare = prepare,
    .launch = launch,
    .check = check,
};
