// The LIBOR market model: Monte Carlo with a path per thread, rates and their history in local memory.
// 64 blocks of 64 threads and 80 forward rates as in the papers, whose paths have 40 steps. The portfolio is 15 swaptions of five
// terms and three strikes; a path gives its price and the price's answer to a shift of all initial rates.
// Traits on fermi-gtx480 at default size: (loads_local + stores_local) / warp_instructions >= 5%; constant_accesses /
// warp_instructions >= 5%; idle_memory / sm_cycles >= 30%; resident_warps / sm_cycles <= 12 of 48 (few threads).
#include "device/workload.h"

#include <inttypes.h>
#include <math.h>

enum { MOST_RATES = 80, MOST_STEPS = 40, SWAPTIONS = 15, MOST_TERMS = 40 }; // as in kernel.cu
enum { THREADS = 64 };

typedef struct Data {
  float *normals; // of step s and path p at s * paths + p
  float initial[MOST_RATES], volatility[MOST_RATES], strikes[SWAPTIONS];
  int32_t terms[SWAPTIONS];
  float period;
  int32_t rates, steps, longest, paths;
  uint32_t blocks;
  DeviceAddress device_normals, price, greek, exercised;
} Data;

// Sums of twelve uniform numbers, less their mean: nearly normal, and the same on every host.
static float *draw_normals(WorkloadRun *run, uint64_t count) {
  float *normals = ARENA_ARRAY(run->arena, float, count);
  for (uint64_t i = 0; i < count; i++) {
    normals[i] = -6.0f;
    for (uint64_t draw = 0; draw < 12; draw++) normals[i] += random_unit_f32(random_draw(run->seed, i, draw));
  }
  return normals;
}

static void describe_market(Data *data) {
  static const int32_t terms[5] = {4, 8, 20, 28, 40};
  static const float strikes[3] = {0.045f, 0.05f, 0.055f};
  for (int32_t i = 0; i < data->rates; i++) {
    data->initial[i] = 0.05f;
    data->volatility[i] = 0.2f;
  }
  for (int32_t i = 0; i < SWAPTIONS; i++) {
    int32_t scaled = terms[i / 3] * data->longest / MOST_TERMS;
    data->terms[i] = scaled < 1 ? 1 : scaled;
    data->strikes[i] = strikes[i % 3];
  }
}

static bool fill_constants(WorkloadRun *run, const Data *data) {
  const float root_period = 0.5f; // of a quarter of a year
  return workload_constant(run, "libor_initial", data->initial, sizeof data->initial) &&
         workload_constant(run, "libor_volatility", data->volatility, sizeof data->volatility) &&
         workload_constant(run, "libor_terms", data->terms, sizeof data->terms) &&
         workload_constant(run, "libor_strikes", data->strikes, sizeof data->strikes) &&
         workload_constant(run, "libor_period", &data->period, sizeof data->period) &&
         workload_constant(run, "libor_root_period", &root_period, sizeof root_period) &&
         workload_constant(run, "libor_rates", &data->rates, sizeof data->rates) &&
         workload_constant(run, "libor_steps", &data->steps, sizeof data->steps) &&
         workload_constant(run, "libor_longest", &data->longest, sizeof data->longest);
}

static bool prepare(WorkloadRun *run) {
  Data *data = run->data = ARENA_NEW(run->arena, Data);
  data->blocks = (uint32_t)run->param[0];
  data->rates = (int32_t)run->param[1];
  data->steps = (int32_t)run->param[2];
  data->paths = (int32_t)(data->blocks * THREADS);
  data->period = 0.25f;
  if (data->steps >= data->rates) return workload_refuse(run, "steps = %d: must be fewer than the %d rates", data->steps, data->rates);
  data->longest = data->rates - data->steps < MOST_TERMS ? data->rates - data->steps : MOST_TERMS;
  describe_market(data);
  uint64_t paths = (uint64_t)data->paths, normals = (uint64_t)data->steps * paths;
  data->normals = draw_normals(run, normals);
  data->device_normals = workload_buffer(run, data->normals, normals * 4);
  data->price = workload_buffer(run, NULL, paths * 4);
  data->greek = workload_buffer(run, NULL, paths * 4);
  data->exercised = workload_buffer(run, NULL, paths * 4);
  workload_output(run, "price", data->price, ELEMENT_F32, paths);
  workload_output(run, "greek", data->greek, ELEMENT_F32, paths);
  workload_output(run, "exercised", data->exercised, ELEMENT_U32, paths);
  return data->device_normals && data->price && data->greek && data->exercised && fill_constants(run, data);
}

static bool launch(WorkloadRun *run) {
  Data *data = run->data;
  const uint32_t block[3] = {THREADS, 1, 1}, grid[3] = {data->blocks, 1, 1};
  const void *arguments[] = {&data->device_normals, &data->price, &data->greek, &data->exercised, &data->paths};
  return workload_launch(run, "libor_paths", grid, block, 0, arguments, COUNT_OF(arguments));
}

// ---- The same in double precision ------------------------------------------------------------------

// Rates at each one's own fixing, or at expiry for those that fix later; and how each answers to a shift of all initial rates.
// The sensitivity goes forward with the path here and backward in the kernel: neither can repeat the other's mistake.
static void follow_path(const Data *data, int32_t path, double rate[MOST_RATES], double shift[MOST_RATES]) {
  double period = data->period;
  for (int32_t i = 0; i < data->rates; i++) {
    rate[i] = data->initial[i];
    shift[i] = 1;
  }
  for (int32_t step = 0; step < data->steps; step++) {
    double shock = 0.5 * data->normals[step * data->paths + path], drift = 0, drift_shift = 0;
    for (int32_t i = step + 1; i < data->rates; i++) {
      double volatility = data->volatility[i - step - 1], weight = period * volatility, growth = 1 + period * rate[i];
      drift += weight * rate[i] / growth;
      drift_shift += weight * shift[i] / (growth * growth);
      double factor = exp(weight * drift + volatility * (shock - 0.5 * weight));
      shift[i] = factor * (shift[i] + rate[i] * weight * drift_shift);
      rate[i] *= factor;
    }
  }
}

typedef struct Price { // doubles alone: see workload_expected
  double value, greek;
  double value_parts, greek_parts; // what they are the sums of, all taken as positive
  double exercised;                // a bit for each swaption
} Price;

// `given`: the swaptions that the device exercised; counts for swaps whose value rounding may turn.
static Price price_path(const Data *data, int32_t path, uint32_t given) {
  double rate[MOST_RATES], shift[MOST_RATES], bond[MOST_TERMS], annuity[MOST_TERMS], bond_shift[MOST_TERMS], annuity_shift[MOST_TERMS];
  follow_path(data, path, rate, shift);
  double period = data->period, b = 1, b_shift = 0, s = 0, s_shift = 0;
  for (int32_t i = 0; i < data->longest; i++) {
    double growth = 1 + period * rate[data->steps + i];
    b_shift = (b_shift - b * period * shift[data->steps + i] / growth) / growth;
    b /= growth;
    bond[i] = b;
    bond_shift[i] = b_shift;
    annuity[i] = s += period * b;
    annuity_shift[i] = s_shift += period * b_shift;
  }
  Price price = {0};
  for (int32_t i = 0; i < SWAPTIONS; i++) {
    int32_t last = data->terms[i] - 1;
    double swap = bond[last] + data->strikes[i] * annuity[last] - 1;
    bool taken = fabs(swap) < 1e-5 ? (given >> i & 1) != 0 : swap < 0;
    if (!taken) continue;
    price.value -= 100 * swap;
    price.value_parts += 100 * (bond[last] + data->strikes[i] * annuity[last] + 1);
    price.greek -= 100 * (bond_shift[last] + data->strikes[i] * annuity_shift[last]);
    price.greek_parts += 100 * (fabs(bond_shift[last]) + data->strikes[i] * fabs(annuity_shift[last]));
    price.exercised += 1u << i;
  }
  for (int32_t step = 0; step < data->steps; step++) {
    double growth = 1 + period * rate[step];
    price.greek = (price.greek - price.value * period * shift[step] / growth) / growth;
    price.greek_parts += price.value * period * fabs(shift[step]) / growth;
    price.value /= growth;
  }
  return price;
}

// Rounding is measured by the parts that a sum has, because they cancel in part; nothing exercised must give zeros.
static bool near(WorkloadRun *run, const char *name, uint64_t path, double got, double expected, double parts) {
  const double tolerance = 1e-5;
  if (fabs(got - expected) <= tolerance * parts) return true; // false for NaN
  return workload_fail(run, "%s[%" PRIu64 "] is %.9g, expected %.9g within %g", name, path, got, expected, tolerance * parts);
}

// Where a swap's value is so near to zero that rounding decides, the device's decision counts; see price_path.
static bool check(WorkloadRun *run) {
  Data *data = run->data;
  uint64_t paths = (uint64_t)data->paths;
  float *price = ARENA_ARRAY(run->arena, float, paths), *greek = ARENA_ARRAY(run->arena, float, paths);
  uint32_t *exercised = ARENA_ARRAY(run->arena, uint32_t, paths);
  if (!device_read(run->device, price, data->price, paths * 4) || !device_read(run->device, greek, data->greek, paths * 4) ||
      !device_read(run->device, exercised, data->exercised, paths * 4)) {
    return false;
  }
  bool missing;
  Price *known = (Price *)workload_expected(run, paths * (sizeof(Price) / sizeof(double)), &missing);
  for (uint64_t i = 0; i < paths && missing; i++) known[i] = price_path(data, (int32_t)i, exercised[i]);
  for (uint64_t i = 0; i < paths; i++) {
    Price expected = known[i].exercised == exercised[i] ? known[i] : price_path(data, (int32_t)i, exercised[i]);
    if (expected.exercised != exercised[i]) {
      return workload_fail(run, "exercised[%" PRIu64 "] = 0x%x, expected 0x%x", i, exercised[i], (unsigned)expected.exercised);
    }
    if (!near(run, "price", i, price[i], expected.value, expected.value_parts) ||
        !near(run, "greek", i, greek[i], expected.greek, expected.greek_parts)) {
      return false;
    }
  }
  return true;
}

const Workload workload_libor = {
    .name = "libor",
    .summary = "LIBOR market model by Monte Carlo; arrays in local memory, few threads",
    .params = {{"blocks", "blocks of 64 threads, a path each", {2, 8, 64, 512}, 1, 8192},
               {"rates", "forward rates", {10, 40, 80, 80}, 2, MOST_RATES},
               {"steps", "time steps to expiry", {2, 3, 4, 40}, 1, MOST_STEPS}},
    .traits = {{RATIO_LOCAL_SHARE, TRAIT_AT_LEAST, 0.05, "rates of a path in local memory", SIZE_TINY},
               {RATIO_IDLE_MEMORY, TRAIT_AT_LEAST, 0.3, "waits for local memory", SIZE_DEFAULT},
               {RATIO_RESIDENT_WARPS, TRAIT_AT_MOST, 12, "few threads", SIZE_TINY}},
    .prepare = prepare,
    .launch = launch,
    .check = check,
};
