// Prices of European call options by a binomial tree (Cox, Ross and Rubinstein 1979): one option a block, the options in constant
// memory, many barriers, and fewer threads at work towards the root.
#include "device/workload.h"

#include <math.h>

enum { THREADS = 128, ROUND = 32, MOST_OPTIONS = 512 }; // as in kernel.cu

typedef struct Option { // as in kernel.cu
  float price, strike, move, growth;
} Option;

typedef struct Data {
  Option *options;
  DeviceAddress device_levels, device_value;
  uint32_t count;
  int32_t steps;
} Data;

// Price and strike about 100, a quarter to ten years, volatility 0.3, interest 0.02.
static void make_option(WorkloadRun *run, Option *option, uint32_t index, int32_t steps) {
  const double log2_e = 1.4426950408889634;
  double years = 0.25 + 9.75 * random_unit_f64(random_draw(run->seed, index, 0)), step = years / steps;
  option->price = (float)(50 + 100 * random_unit_f64(random_draw(run->seed, index, 1)));
  option->strike = (float)(50 + 100 * random_unit_f64(random_draw(run->seed, index, 2)));
  option->move = (float)(0.3 * sqrt(step) * log2_e);
  option->growth = (float)(0.02 * step * log2_e);
}

static bool prepare(WorkloadRun *run) {
  Data *data = run->data = ARENA_NEW(run->arena, Data);
  data->count = (uint32_t)run->param[0];
  data->steps = (int32_t)run->param[1] * ROUND;
  data->options = ARENA_ARRAY(run->arena, Option, data->count);
  for (uint32_t i = 0; i < data->count; i++) make_option(run, &data->options[i], i, data->steps);
  if (!workload_constant(run, "options", data->options, data->count * sizeof(Option))) return false;
  data->device_levels = workload_buffer(run, NULL, data->count * (uint64_t)(data->steps + 1) * 4);
  data->device_value = workload_buffer(run, NULL, data->count * 4ull);
  workload_output(run, "value", data->device_value, ELEMENT_F32, data->count);
  return data->device_levels && data->device_value;
}

static bool launch(WorkloadRun *run) {
  Data *data = run->data;
  const uint32_t block[3] = {THREADS, 1, 1}, grid[3] = {data->count, 1, 1};
  const void *arguments[] = {&data->device_levels, &data->device_value, &data->steps};
  return workload_launch(run, "binomial", grid, block, 0, arguments, COUNT_OF(arguments));
}

static double value_on_host(const Option *option, int32_t steps, double *level) {
  double up = exp2(option->move), down = 1 / up, growth = exp2(option->growth);
  double up_share = (growth - down) / (up - down) / growth, down_share = 1 / growth - up_share;
  for (int32_t i = 0; i <= steps; i++) level[i] = fmax(option->price * exp2((double)option->move * (2 * i - steps)) - option->strike, 0);
  for (int32_t top = steps; top > 0; top--) {
    for (int32_t i = 0; i < top; i++) level[i] = up_share * level[i + 1] + down_share * level[i];
  }
  return level[0];
}

static bool check(WorkloadRun *run) {
  Data *data = run->data;
  float *got = ARENA_ARRAY(run->arena, float, data->count);
  double *level = ARENA_ARRAY(run->arena, double, (uint32_t)data->steps + 1);
  bool missing;
  double *expected = workload_expected(run, data->count, &missing);
  if (!device_read(run->device, got, data->device_value, data->count * 4ull)) return false;
  for (uint32_t i = 0; i < data->count && missing; i++) expected[i] = value_on_host(&data->options[i], data->steps, level);
  return workload_near(run, "value", got, expected, data->count, 1e-6 * data->steps); // every step rounds
}

const Workload workload_binomial = {
    .name = "binomial",
    .summary = "option prices by binomial trees; a block per option, constant memory, many barriers",
    .params = {{"options", "options, one per block", {3, 16, 256, MOST_OPTIONS}, 1, MOST_OPTIONS},
               {"rounds", "each of 32 time steps", {2, 4, 8, 16}, 1, 256}},
    .traits = {{RATIO_IDLE_EMPTY, TRAIT_AT_LEAST, 0.1, "blocks do not fill the SMs evenly", SIZE_SMALL},
               {RATIO_BARRIER_SHARE, TRAIT_AT_LEAST, 0.08, "a barrier each step", SIZE_SMALL}},
    .prepare = prepare,
    .launch = launch,
    .check = check,
};
