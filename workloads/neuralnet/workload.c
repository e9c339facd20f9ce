// Digit recognition by a network of four layers; a launch each, of blocks of 13 x 13, 5 x 5 and 1 threads.
// 28 images and these blocks are the papers'. The weights are random: what the network says means nothing, what it computes is the
// same work.
#include "device/workload.h"

enum { IMAGE = 29, MAP1 = 13, MAPS1 = 6, MAP2 = 5, KERNEL = 25, DIGITS = 10, LAYERS = 4 }; // as in kernel.cu

// A neuron takes `inputs` of the layer below it. Neurons of a map share weights.
typedef struct Layer {
  const char *kernel, *name;
  uint32_t maps, side, inputs; // neurons: maps * side * side
  const float *weights;        // of each map: a bias, then one per input
  DeviceAddress device_weights, out;
} Layer;

typedef struct Data {
  Layer layers[LAYERS];
  float *images;
  DeviceAddress device_images;
  uint32_t image_count;
} Data;

static uint64_t neurons(const Layer *layer) { return (uint64_t)layer->maps * layer->side * layer->side; }

// Digits are thick strokes on a dark ground: a line and a ring per image, placed at random.
static float pixel(const uint64_t draw, int32_t x, int32_t y) {
  int32_t slope = (int32_t)(draw % 5) - 2, offset = (int32_t)(draw / 5 % 15) + 7;
  int32_t cx = (int32_t)(draw >> 16 & 15) + 7, cy = (int32_t)(draw >> 24 & 15) + 7, radius = (int32_t)(draw >> 32 & 3) + 4;
  int32_t line = 2 * (x - offset) - slope * (y - IMAGE / 2);
  int32_t ring = (x - cx) * (x - cx) + (y - cy) * (y - cy) - radius * radius;
  return (line >= -3 && line <= 3) || (ring >= -8 && ring <= 8) ? 1.0f : -0.1f;
}

static void draw_images(WorkloadRun *run, Data *data) {
  uint64_t pixels = IMAGE * IMAGE;
  data->images = ARENA_ARRAY(run->arena, float, data->image_count *pixels);
  for (uint64_t i = 0; i < data->image_count * pixels; i++) {
    data->images[i] = pixel(random_draw(run->seed, i / pixels, LAYERS), (int32_t)(i % pixels % IMAGE), (int32_t)(i % pixels / IMAGE));
  }
}

// Weights are drawn from a range that falls with the number of inputs, so that neurons are not driven to their limits.
static bool prepare_layer(WorkloadRun *run, Data *data, uint32_t index) {
  static const float ranges[LAYERS] = {0.4f, 0.15f, 0.05f, 0.2f};
  Layer *layer = &data->layers[index];
  uint64_t count = (uint64_t)layer->maps * (layer->inputs + 1);
  layer->weights = workload_random_f32(run, count, index, -ranges[index], ranges[index]);
  layer->device_weights = workload_buffer(run, layer->weights, count * 4);
  layer->out = workload_buffer(run, NULL, data->image_count * neurons(layer) * 4);
  workload_output(run, layer->name, layer->out, ELEMENT_F32, data->image_count * neurons(layer));
  return layer->device_weights && layer->out;
}

static bool prepare(WorkloadRun *run) {
  Data *data = run->data = ARENA_NEW(run->arena, Data);
  data->image_count = (uint32_t)run->param[0];
  uint32_t maps2 = (uint32_t)run->param[1], hidden = (uint32_t)run->param[2];
  data->layers[0] = (Layer){.kernel = "neuralnet_1", .name = "maps1", .maps = MAPS1, .side = MAP1, .inputs = KERNEL};
  data->layers[1] = (Layer){.kernel = "neuralnet_2", .name = "maps2", .maps = maps2, .side = MAP2, .inputs = MAPS1 * KERNEL};
  data->layers[2] = (Layer){.kernel = "neuralnet_full", .name = "hidden", .maps = hidden, .side = 1, .inputs = maps2 * MAP2 * MAP2};
  data->layers[3] = (Layer){.kernel = "neuralnet_full", .name = "digits", .maps = DIGITS, .side = 1, .inputs = hidden};
  draw_images(run, data);
  data->device_images = workload_buffer(run, data->images, (uint64_t)data->image_count * IMAGE * IMAGE * 4);
  if (!data->device_images) return false;
  for (uint32_t i = 0; i < LAYERS; i++) {
    if (!prepare_layer(run, data, i)) return false;
  }
  return true;
}

static bool launch(WorkloadRun *run) {
  Data *data = run->data;
  for (uint32_t i = 0; i < LAYERS; i++) {
    Layer *layer = &data->layers[i];
    const uint32_t block[3] = {layer->side, layer->side, 1}, grid[3] = {layer->maps, data->image_count, 1};
    const void *arguments[] = {i == 0 ? &data->device_images : &data->layers[i - 1].out, &layer->device_weights, &layer->out,
                               &layer->inputs};
    bool counts = layer->side == 1; // only such kernels take the number of inputs
    if (!workload_launch(run, layer->kernel, grid, block, 0, arguments, counts ? 4 : 3)) return false;
  }
  return true;
}

// ---- Check ---------------------------------------------------------------------------------------
static double activation(double x) { return 1.7159 * __builtin_tanh(2.0 / 3.0 * x); }

// A convolution of 5 x 5 with stride 2 over all maps of the layer below.
static double convolve(const Layer *layer, const float *in, uint32_t side, uint32_t map, uint32_t x, uint32_t y) {
  const float *w = layer->weights + (uint64_t)map * (layer->inputs + 1);
  double sum = *w++;
  for (uint32_t m = 0; m < layer->inputs / KERNEL; m++) {
    for (uint32_t k = 0; k < KERNEL; k++) sum += (double)in[(m * side + 2 * y + k / 5) * side + 2 * x + k % 5] * (double)*w++;
  }
  return sum;
}

static double connect(const Layer *layer, const float *in, uint32_t neuron) {
  const float *w = layer->weights + (uint64_t)neuron * (layer->inputs + 1);
  double sum = *w++;
  for (uint32_t i = 0; i < layer->inputs; i++) sum += (double)in[i] * (double)w[i];
  return sum;
}

// A layer from what the device has of the layer below: errors do not add up. Sums of up to 1,250 products near 1 are good to
// 1e-5 in float, and the approximate exponential adds less.
static bool check_layer(WorkloadRun *run, const Data *data, uint32_t index, const float *below, const float *got) {
  const Layer *layer = &data->layers[index];
  uint32_t side_below = index == 0 ? IMAGE : data->layers[index - 1].side, area = layer->side * layer->side;
  uint64_t count = neurons(layer), below_count = index == 0 ? IMAGE * IMAGE : neurons(&data->layers[index - 1]);
  double *expected = ARENA_ARRAY(run->arena, double, data->image_count *count);
  for (uint64_t i = 0; i < data->image_count * count; i++) {
    const float *in = below + i / count * below_count;
    uint32_t neuron = (uint32_t)(i % count), at = neuron % area;
    double sum =
        layer->side == 1 ? connect(layer, in, neuron) : convolve(layer, in, side_below, neuron / area, at % layer->side, at / layer->side);
    expected[i] = activation(sum);
  }
  return workload_near(run, layer->name, got, expected, data->image_count * count, 1e-5);
}

static bool check(WorkloadRun *run) {
  Data *data = run->data;
  const float *below = data->images;
  for (uint32_t i = 0; i < LAYERS; i++) {
    uint64_t count = data->image_count * neurons(&data->layers[i]);
    float *got = ARENA_ARRAY(run->arena, float, count);
    if (!device_read(run->device, got, data->layers[i].out, count * 4)) return false;
    if (!check_layer(run, data, i, below, got)) return false;
    below = got;
  }
  return true;
}

const Workload workload_neuralnet = {
    .name = "neuralnet",
    .summary = "digit recognition by four layers; blocks of 13 x 13, 5 x 5 and one thread, partly filled warps",
    // The published network has 50 maps and 100 hidden neurons, which takes half a minute to simulate.
    .params = {{"images", "images of 29 x 29 pixels", {2, 4, 28, 28}, 1, 1000},
               {"maps", "maps of the second layer", {2, 10, 16, 50}, 1, 1000},
               {"hidden", "neurons of the third layer", {6, 20, 20, 100}, 1, 1000}},
    .traits = {{RATIO_PARTIAL_ISSUES, TRAIT_AT_LEAST, 0.75, "partly filled warps", SIZE_SMALL},
               {RATIO_ACTIVE_THREADS, TRAIT_AT_MOST, 16, "blocks of one thread", SIZE_DEFAULT},
               {RATIO_IDLE_MEMORY, TRAIT_AT_LEAST, 0.6, "memory-intensive", SIZE_SMALL},
               {RATIO_DRAM_WAIT, TRAIT_AT_LEAST, 6, "memory-intensive", SIZE_DEFAULT}},
    .prepare = prepare,
    .launch = launch,
    .check = check,
};
