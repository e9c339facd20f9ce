// Option prices: special functions, divisions, square roots, no divergence.
#include "device/workload.h"

typedef struct Data {
  const float *price, *strike, *years;
  DeviceAddress device_price, device_strike, device_years, device_call, device_put;
  uint32_t n;
  float rate, volatility;
} Data;

static bool prepare(WorkloadRun *run) {
  Data *data = run->data = ARENA_NEW(run->arena, Data);
  data->n = (uint32_t)run->param[0];
  data->rate = 0.02f;
  data->volatility = 0.30f;
  data->price = workload_random_f32(run, data->n, 0, 5.0f, 30.0f);
  data->strike = workload_random_f32(run, data->n, 1, 1.0f, 100.0f);
  data->years = workload_random_f32(run, data->n, 2, 0.25f, 10.0f);
  data->device_price = workload_buffer(run, data->price, data->n * 4ull);
  data->device_strike = workload_buffer(run, data->strike, data->n * 4ull);
  data->device_years = workload_buffer(run, data->years, data->n * 4ull);
  data->device_call = workload_buffer(run, NULL, data->n * 4ull);
  data->device_put = workload_buffer(run, NULL, data->n * 4ull);
  workload_output(run, "call", data->device_call, ELEMENT_F32, data->n);
  workload_output(run, "put", data->device_put, ELEMENT_F32, data->n);
  return data->device_price && data->device_strike && data->device_years && data->device_call && data->device_put;
}

static bool launch(WorkloadRun *run) {
  Data *data = run->data;
  const uint32_t block[3] = {128, 1, 1}, grid[3] = {(uint32_t)run->param[1], 1, 1};
  const void *arguments[] = {&data->device_price, &data->device_strike, &data->device_years, &data->device_call,
                             &data->device_put,   &data->rate,          &data->volatility,   &data->n};
  return workload_launch(run, "blackscholes", grid, block, 0, arguments, COUNT_OF(arguments));
}

static double cumulative_normal(double d) { return 0.5 * __builtin_erfc(-d * 0.70710678118654752440); }

// Hastings' polynomial is good to 7.5e-8; prices reach 100, so 2e-4 is a few times its error and float's.
static bool check(WorkloadRun *run) {
  Data *data = run->data;
  float *call = ARENA_ARRAY(run->arena, float, data->n), *put = ARENA_ARRAY(run->arena, float, data->n);
  if (!device_read(run->device, call, data->device_call, data->n * 4ull) ||
      !device_read(run->device, put, data->device_put, data->n * 4ull)) {
    return false;
  }
  for (uint32_t i = 0; i < data->n; i++) {
    double s = data->price[i], x = data->strike[i], t = data->years[i], r = data->rate, v = data->volatility;
    double root = __builtin_sqrt(t), d1 = (__builtin_log(s / x) + (r + 0.5 * v * v) * t) / (v * root), d2 = d1 - v * root;
    double discounted = x * __builtin_exp(-r * t);
    double expected_call = s * cumulative_normal(d1) - discounted * cumulative_normal(d2);
    double expected_put = discounted * cumulative_normal(-d2) - s * cumulative_normal(-d1);
    if (!(__builtin_fabs(call[i] - expected_call) < 2e-4))
      return workload_fail(run, "call[%u] = %g, expected %g", i, (double)call[i], expected_call);
    if (!(__builtin_fabs(put[i] - expected_put) < 2e-4))
      return workload_fail(run, "put[%u] = %g, expected %g", i, (double)put[i], expected_put);
  }
  return true;
}

const Workload workload_blackscholes = {
    .name = "blackscholes",
    .summary = "option prices; special functions and divisions",
    .params = {{"n", "options", {700, 8192, 491520, 1 << 20}, 1, 1u << 28},
               {"blocks", "blocks of 128 threads", {4, 32, 480, 480}, 1, 65535}},
    .traits = {{RATIO_ALU_SHARE, TRAIT_AT_LEAST, 0.7, "arithmetic", SIZE_TINY},
               {RATIO_SFU_SHARE, TRAIT_AT_LEAST, 0.08, "special functions", SIZE_TINY}},
    .prepare = prepare,
    .launch = launch,
    .check = check,
};
