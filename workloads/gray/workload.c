// Gray filter: byte accesses with stride 3, conversions, no reuse.
#include "device/workload.h"

typedef struct Data {
  uint8_t *rgb;
  DeviceAddress device_rgb, device_level;
  uint32_t width, height;
} Data;

static bool prepare(WorkloadRun *run) {
  Data *data = run->data = ARENA_NEW(run->arena, Data);
  data->width = (uint32_t)run->param[0];
  data->height = (uint32_t)run->param[1];
  uint64_t pixels = (uint64_t)data->width * data->height;
  data->rgb = ARENA_ARRAY(run->arena, uint8_t, 3 * pixels);
  for (uint64_t i = 0; i < 3 * pixels; i++) data->rgb[i] = (uint8_t)random_draw(run->seed, i, 0);
  data->device_rgb = workload_buffer(run, data->rgb, 3 * pixels);
  data->device_level = workload_buffer(run, NULL, pixels);
  workload_output_matrix(run, "level", data->device_level, ELEMENT_U8, data->height, data->width);
  return data->device_rgb && data->device_level;
}

static bool launch(WorkloadRun *run) {
  Data *data = run->data;
  const uint32_t block[3] = {16, 16, 1}, grid[3] = {(data->width + 15) / 16, (data->height + 15) / 16, 1};
  const void *arguments[] = {&data->device_rgb, &data->device_level, &data->width, &data->height};
  return workload_launch(run, "gray", grid, block, 0, arguments, COUNT_OF(arguments));
}

// A level may differ by one where the sum lies within a rounding of a half.
static bool check(WorkloadRun *run) {
  Data *data = run->data;
  uint64_t pixels = (uint64_t)data->width * data->height;
  uint8_t *got = ARENA_ARRAY(run->arena, uint8_t, pixels);
  if (!device_read(run->device, got, data->device_level, pixels)) return false;
  for (uint64_t i = 0; i < pixels; i++) {
    const uint8_t *c = &data->rgb[3 * i];
    double exact = 0.299 * c[0] + 0.587 * c[1] + 0.114 * c[2] + 0.5;
    if (got[i] != (uint8_t)exact && got[i] != (uint8_t)(exact - 1e-4) && got[i] != (uint8_t)(exact + 1e-4)) {
      return workload_fail(run, "level[%llu] = %u, expected %u", (unsigned long long)i, got[i], (unsigned)(uint8_t)exact);
    }
  }
  return true;
}

const Workload workload_gray = {
    .name = "gray",
    .summary = "RGB to gray; byte accesses with stride 3",
    .params = {{"width", "pixels", {50, 128, 512, 2048}, 1, 1u << 14}, {"height", "pixels", {30, 128, 512, 2048}, 1, 1u << 14}},
    .prepare = prepare,
    .launch = launch,
    .check = check,
};
