// One step of training a neural network: products and a tree of sums per block, the hidden layer's error on the host, then the
// update of all weights. Rows of 17 weights, so that few accesses are aligned.
#include "device/workload.h"

enum { TILE = 16, ROW = TILE + 1 }; // as in kernel.cu

static const float rate = 0.3f, momentum = 0.3f;

typedef struct Data {
  float *input, *weights, *changes;
  float out_weights[ROW]; // from the hidden units to the one output; 0 is the bias
  DeviceAddress device_input, device_weights, device_changes, device_partial, device_delta;
  uint32_t tiles;
} Data;

static uint64_t input_count(const Data *data) { return (uint64_t)data->tiles * TILE; }
static uint64_t weight_count(const Data *data) { return (input_count(data) + 1) * ROW; }

static bool prepare(WorkloadRun *run) {
  Data *data = run->data = ARENA_NEW(run->arena, Data);
  data->tiles = (uint32_t)run->param[0];
  uint64_t inputs = input_count(data), weights = weight_count(data);
  data->input = workload_random_f32(run, inputs + 1, 0, 0.0f, 1.0f);
  data->input[0] = 1.0f;
  data->weights = workload_random_f32(run, weights, 1, -0.02f, 0.02f);
  data->changes = workload_random_f32(run, weights, 2, -0.01f, 0.01f);
  memcpy(data->out_weights, workload_random_f32(run, ROW, 3, -1.0f, 1.0f), sizeof data->out_weights);
  data->device_input = workload_buffer(run, data->input, (inputs + 1) * 4);
  data->device_weights = workload_buffer(run, data->weights, weights * 4);
  data->device_changes = workload_buffer(run, data->changes, weights * 4);
  data->device_partial = workload_buffer(run, NULL, inputs * 4);
  data->device_delta = workload_buffer(run, NULL, ROW * 4);
  workload_output(run, "partial", data->device_partial, ELEMENT_F32, inputs);
  workload_output(run, "weights", data->device_weights, ELEMENT_F32, weights);
  workload_output(run, "changes", data->device_changes, ELEMENT_F32, weights);
  return data->device_input && data->device_weights && data->device_changes && data->device_partial && data->device_delta;
}

// 1 / (1 + e^-x) by arithmetic alone, since libm's exp differs between versions: e^y = (e^(y / 1024))^1024.
static double logistic(double x) {
  double y = -(x < -40 ? -40 : x > 40 ? 40 : x) / 1024;
  double power = 1 + y * (1 + y / 2 * (1 + y / 3 * (1 + y / 4 * (1 + y / 5))));
  for (int i = 0; i < 10; i++) power *= power;
  return 1 / (1 + power);
}

// The error of each hidden unit, from the sums that entered it and the error of the output, whose target is 0.1.
static void hidden_errors(const Data *data, const double sums[ROW], float delta[ROW]) {
  double hidden[ROW], sum = data->out_weights[0];
  for (uint32_t unit = 1; unit < ROW; unit++) {
    hidden[unit] = logistic(sums[unit]);
    sum += data->out_weights[unit] * hidden[unit];
  }
  double out = logistic(sum), out_delta = out * (1 - out) * (0.1 - out);
  delta[0] = 0;
  for (uint32_t unit = 1; unit < ROW; unit++)
    delta[unit] = (float)(hidden[unit] * (1 - hidden[unit]) * data->out_weights[unit] * out_delta);
}

static bool launch(WorkloadRun *run) {
  Data *data = run->data;
  const uint32_t block[3] = {TILE, TILE, 1}, grid[3] = {1, data->tiles, 1};
  const void *forward[] = {&data->device_input, &data->device_weights, &data->device_partial};
  if (!workload_launch(run, "backprop_forward", grid, block, 0, forward, COUNT_OF(forward))) return false;
  float *partial = ARENA_ARRAY(run->arena, float, input_count(data)), delta[ROW];
  if (!device_read(run->device, partial, data->device_partial, input_count(data) * 4)) return false;
  double sums[ROW];
  for (uint32_t unit = 1; unit < ROW; unit++) {
    sums[unit] = data->weights[unit];
    for (uint32_t tile = 0; tile < data->tiles; tile++) sums[unit] += partial[tile * TILE + unit - 1];
  }
  hidden_errors(data, sums, delta);
  if (!device_write(run->device, data->device_delta, delta, sizeof delta)) return false;
  const void *update[] = {&data->device_input, &data->device_delta, &data->device_weights, &data->device_changes, &rate, &momentum};
  return workload_launch(run, "backprop_update", grid, block, 0, update, COUNT_OF(update));
}

static void step_on_host(const Data *data, double *partial, double *weights, double *changes) {
  double sums[ROW];
  float delta[ROW];
  for (uint32_t unit = 1; unit < ROW; unit++) sums[unit] = data->weights[unit];
  for (uint64_t from = 1; from <= input_count(data); from++) {
    for (uint32_t unit = 1; unit < ROW; unit++) {
      double product = (double)data->input[from] * data->weights[from * ROW + unit];
      partial[(from - 1) / TILE * TILE + unit - 1] += product;
      sums[unit] += product;
    }
  }
  hidden_errors(data, sums, delta);
  for (uint64_t at = 0; at < weight_count(data); at++) {
    bool used = at % ROW != 0;
    changes[at] = used ? (double)rate * delta[at % ROW] * data->input[at / ROW] + (double)momentum * data->changes[at] : data->changes[at];
    weights[at] = data->weights[at] + (used ? changes[at] : 0);
  }
}

static bool check_one(WorkloadRun *run, const WorkloadOutput *output, const double *expected) {
  float *got = ARENA_ARRAY(run->arena, float, output->count);
  return device_read(run->device, got, output->address, output->count * 4) &&
         workload_near(run, output->name, got, expected, output->count, 1e-6);
}

static bool check(WorkloadRun *run) {
  Data *data = run->data;
  uint64_t inputs = input_count(data), count = weight_count(data);
  bool missing;
  double *partial = workload_expected(run, inputs + 2 * count, &missing), *weights = partial + inputs, *changes = weights + count;
  if (missing) step_on_host(data, partial, weights, changes);
  return check_one(run, &run->outputs[0], partial) && check_one(run, &run->outputs[1], weights) &&
         check_one(run, &run->outputs[2], changes);
}

const Workload workload_backprop = {
    .name = "backprop",
    .summary = "training of a neural network; tree of sums in shared memory, then update of weights",
    .params = {{"tiles", "groups of 16 inputs; 16 hidden units", {4, 64, 2048, 16384}, 1, 65535}},
    .traits = {{RATIO_IDLE_MEMORY, TRAIT_AT_LEAST, 0.4, "memory-intensive", SIZE_SMALL},
               {RATIO_MEMORY_INTENSITY, TRAIT_AT_LEAST, 200, "memory-intensive", SIZE_SMALL},
               {RATIO_PARTIAL_ISSUES, TRAIT_AT_LEAST, 0.15, "tree reductions", SIZE_SMALL}},
    .prepare = prepare,
    .launch = launch,
    .check = check,
};
