// A picture of spheres and planes: divergent, arithmetic, the scene in constant memory.
// 256 x 256 pixels and blocks of 16 x 8 as in the papers' program; the scene is ours.
#include "device/workload.h"

#include "trace.h"

enum { BLOCK_X = 16, BLOCK_Y = 8 };

typedef struct Data {
  Scene scene;
  uint32_t *expected; // made by the first check
  DeviceAddress picture;
  uint32_t width, height;
} Data;

// Spheres of many sizes hang above a floor before a wall; every second is a good mirror.
static void make_scene(WorkloadRun *run, Scene *scene) {
  scene->eye = (Vector){0.0f, 2.5f, -7.0f};
  scene->light = (Vector){-6.0f, 9.0f, -6.0f};
  scene->bounces = (int)run->param[2];
  scene->sphere_count = (int)run->param[1];
  const float *drawn = workload_random_f32(run, 7 * MOST_SPHERES, 0, 0.0f, 1.0f);
  for (int i = 0; i < scene->sphere_count; i++, drawn += 7) {
    float radius = 0.5f + 0.8f * drawn[0];
    scene->spheres[i] = (Sphere){.centre = {-4.0f + 8.0f * drawn[1], radius + 4.0f * drawn[6], -2.0f + 7.0f * drawn[2]},
                                 .radius = radius,
                                 .colour = {0.2f + 0.8f * drawn[3], 0.2f + 0.8f * drawn[4], 0.2f + 0.8f * drawn[5]},
                                 .mirror = i % 2 == 0 ? 0.8f : 0.25f};
  }
  scene->planes[0] = (Plane){.normal = {0.0f, 1.0f, 0.0f}, .offset = 0.0f, .colour = {0.9f, 0.9f, 0.8f}, .mirror = 0.15f};
  scene->planes[1] = (Plane){.normal = {0.0f, 0.0f, -1.0f}, .offset = -12.25f, .colour = {0.8f, 0.4f, 0.3f}, .mirror = 0.0f};
}

static bool prepare(WorkloadRun *run) {
  Data *data = run->data = ARENA_NEW(run->arena, Data);
  data->width = data->height = (uint32_t)run->param[0];
  make_scene(run, &data->scene);
  uint64_t pixels = (uint64_t)data->width * data->height;
  data->picture = workload_buffer(run, NULL, pixels * 4);
  workload_output(run, "picture", data->picture, ELEMENT_U32, pixels);
  return data->picture && workload_constant(run, "scene", &data->scene, sizeof data->scene);
}

static bool launch(WorkloadRun *run) {
  Data *data = run->data;
  const uint32_t block[3] = {BLOCK_X, BLOCK_Y, 1};
  const uint32_t grid[3] = {(data->width + BLOCK_X - 1) / BLOCK_X, (data->height + BLOCK_Y - 1) / BLOCK_Y, 1};
  const void *arguments[] = {&data->picture, &data->width, &data->height};
  return workload_launch(run, "raytrace", grid, block, 0, arguments, COUNT_OF(arguments));
}

// Exact: trace.h says why that is possible.
static bool check(WorkloadRun *run) {
  Data *data = run->data;
  uint32_t w = data->width, count = w * data->height;
  uint32_t *got = ARENA_ARRAY(run->arena, uint32_t, count);
  if (!device_read(run->device, got, data->picture, count * 4ull)) return false;
  if (data->expected == NULL) {
    data->expected = ARENA_ARRAY(run->lasting, uint32_t, count);
    for (uint32_t i = 0; i < count; i++) data->expected[i] = trace_pixel(&data->scene, i % w, i / w, w, data->height);
  }
  for (uint32_t i = 0; i < count; i++) {
    if (got[i] != data->expected[i]) return workload_fail(run, "picture[%u] = %08x, expected %08x", i, got[i], data->expected[i]);
  }
  return true;
}

const Workload workload_raytrace = {
    .name = "raytrace",
    .summary = "spheres and planes by ray tracing; shadows and bounded reflection, divergent arithmetic",
    .params = {{"side", "pixels along each side", {34, 96, 256, 512}, 1, 4096},
               {"spheres", "spheres", {3, 8, 8, 16}, 0, MOST_SPHERES},
               {"bounces", "reflections that are followed", {2, 4, 4, 4}, 0, 16}},
    .traits = {{RATIO_ALU_SHARE, TRAIT_AT_LEAST, 0.7, "arithmetic", SIZE_TINY},
               {RATIO_PARTIAL_ISSUES, TRAIT_AT_LEAST, 0.12, "divergent rays", SIZE_TINY},
               {RATIO_IDLE_FULL, TRAIT_AT_MOST, 0.25, "computation", SIZE_DEFAULT}},
    .prepare = prepare,
    .launch = launch,
    .check = check,
};
