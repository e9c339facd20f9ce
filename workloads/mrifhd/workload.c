// F^H d of magnetic resonance imaging: samples in constant memory, sines and cosines.
// Blocks of 512 threads weight the samples, blocks of 256 sum them for the voxels, up to 512 samples a launch, as in the papers'
// program, which has 32 x 32 x 32 voxels and more samples.
// Traits on fermi-gtx480 at default size: unit_sfu / warp_instructions >= 10%; constant_accesses / warp_instructions >= 10%;
// idle_empty / sm_cycles >= 5% (imbalance: 48 blocks do not divide among the SMs).
#include "device/workload.h"

#include <math.h>

enum { MOST_SAMPLES = 512, WEIGHT_THREADS = 512, SUM_THREADS = 256 };

typedef struct Sample { // as mrifhd_samples in kernel.cu
  float kx, ky, kz, real;
} Sample;

enum { KX, KY, KZ, PHI_REAL, PHI_IMAGINARY, SIGNAL_REAL, SIGNAL_IMAGINARY, X, Y, Z, INPUTS };

typedef struct Data {
  const float *in[INPUTS]; // up to SIGNAL_IMAGINARY of samples, then of voxels
  DeviceAddress device[INPUTS], weighted_real, weighted_imaginary, real, imaginary;
  int32_t voxels, samples, chunk;
} Data;

static uint64_t input_count(const Data *data, uint32_t input) { return (uint64_t)(input < X ? data->samples : data->voxels); }

static bool prepare(WorkloadRun *run) {
  Data *data = run->data = ARENA_NEW(run->arena, Data);
  data->voxels = (int32_t)run->param[0];
  data->samples = (int32_t)run->param[1];
  data->chunk = (int32_t)run->param[2];
  // k of up to 8 periods in the image each way, whose sides are 1; signals around 1.
  static const float most[INPUTS] = {[KX] = 50, [KY] = 50, [KZ] = 50, 1, 1, 1, 1, [X] = 0.5f, [Y] = 0.5f, [Z] = 0.5f};
  bool ok = true;
  for (uint32_t i = 0; i < INPUTS; i++) {
    data->in[i] = workload_random_f32(run, input_count(data, i), i, -most[i], most[i]);
    data->device[i] = workload_buffer(run, data->in[i], input_count(data, i) * 4);
    ok = ok && data->device[i] != 0;
  }
  uint64_t sample_bytes = (uint64_t)data->samples * 4, voxel_bytes = (uint64_t)data->voxels * 4;
  data->weighted_real = workload_buffer(run, NULL, sample_bytes);
  data->weighted_imaginary = workload_buffer(run, NULL, sample_bytes);
  data->real = workload_buffer(run, NULL, voxel_bytes);
  data->imaginary = workload_buffer(run, NULL, voxel_bytes);
  workload_output(run, "real", data->real, ELEMENT_F32, (uint64_t)data->voxels);
  workload_output(run, "imaginary", data->imaginary, ELEMENT_F32, (uint64_t)data->voxels);
  return ok && data->weighted_real && data->weighted_imaginary && data->real && data->imaginary;
}

static bool weight(WorkloadRun *run) {
  Data *data = run->data;
  const uint32_t block[3] = {WEIGHT_THREADS, 1, 1}, grid[3] = {((uint32_t)data->samples + WEIGHT_THREADS - 1) / WEIGHT_THREADS, 1, 1};
  const void *arguments[] = {&data->device[PHI_REAL],
                             &data->device[PHI_IMAGINARY],
                             &data->device[SIGNAL_REAL],
                             &data->device[SIGNAL_IMAGINARY],
                             &data->weighted_real,
                             &data->weighted_imaginary,
                             &data->samples};
  return workload_launch(run, "mrifhd_weight", grid, block, 0, arguments, COUNT_OF(arguments));
}

// Puts the chunk's samples into constant memory, with the signals that the device has weighted.
static bool fill_chunk(WorkloadRun *run, int32_t first, int32_t count) {
  Data *data = run->data;
  Sample samples[MOST_SAMPLES];
  float real[MOST_SAMPLES], imaginary[MOST_SAMPLES];
  uint64_t offset = (uint64_t)first * 4, bytes = (uint64_t)count * 4;
  if (!device_read(run->device, real, data->weighted_real + offset, bytes) ||
      !device_read(run->device, imaginary, data->weighted_imaginary + offset, bytes)) {
    return false;
  }
  for (int32_t i = 0; i < count; i++)
    samples[i] = (Sample){data->in[KX][first + i], data->in[KY][first + i], data->in[KZ][first + i], real[i]};
  return workload_constant(run, "mrifhd_samples", samples, (uint64_t)count * sizeof(Sample)) &&
         workload_constant(run, "mrifhd_imaginary", imaginary, bytes);
}

static bool launch(WorkloadRun *run) {
  Data *data = run->data;
  if (!weight(run)) return false;
  const uint32_t block[3] = {SUM_THREADS, 1, 1}, grid[3] = {((uint32_t)data->voxels + SUM_THREADS - 1) / SUM_THREADS, 1, 1};
  for (int32_t first = 0; first < data->samples; first += data->chunk) {
    int32_t count = data->samples - first < data->chunk ? data->samples - first : data->chunk;
    const void *arguments[] = {&data->device[X], &data->device[Y], &data->device[Z], &data->real, &data->imaginary, &data->voxels, &count};
    if (!fill_chunk(run, first, count) || !workload_launch(run, "mrifhd_sum", grid, block, 0, arguments, COUNT_OF(arguments))) return false;
  }
  return true;
}

static void sum_on_host(const Data *data, int32_t voxel, double *real, double *imaginary) {
  const float *const *in = data->in;
  for (int32_t k = 0; k < data->samples; k++) {
    double weighted_real = (double)in[PHI_REAL][k] * in[SIGNAL_REAL][k] + (double)in[PHI_IMAGINARY][k] * in[SIGNAL_IMAGINARY][k];
    double weighted_imaginary = (double)in[PHI_REAL][k] * in[SIGNAL_IMAGINARY][k] - (double)in[PHI_IMAGINARY][k] * in[SIGNAL_REAL][k];
    double angle = (double)in[KX][k] * in[X][voxel] + (double)in[KY][k] * in[Y][voxel] + (double)in[KZ][k] * in[Z][voxel];
    double cosine = cos(angle), sine = sin(angle);
    *real += weighted_real * cosine - weighted_imaginary * sine;
    *imaginary += weighted_imaginary * cosine + weighted_real * sine;
  }
}

// Angles of up to 75 radians have errors of up to 1e-5, and each sample adds its own.
static bool check(WorkloadRun *run) {
  Data *data = run->data;
  uint64_t voxels = (uint64_t)data->voxels;
  float *real = ARENA_ARRAY(run->arena, float, voxels), *imaginary = ARENA_ARRAY(run->arena, float, voxels);
  bool missing;
  double *expected = workload_expected(run, 2 * voxels, &missing);
  if (!device_read(run->device, real, data->real, voxels * 4) || !device_read(run->device, imaginary, data->imaginary, voxels * 4)) {
    return false;
  }
  for (uint64_t i = 0; i < voxels && missing; i++) sum_on_host(data, (int32_t)i, &expected[i], &expected[voxels + i]);
  return workload_near(run, "real", real, expected, voxels, 1e-3) &&
         workload_near(run, "imaginary", imaginary, expected + voxels, voxels, 1e-3);
}

const Workload workload_mrifhd = {
    .name = "mrifhd",
    .summary = "F^H d of magnetic resonance imaging; sines and cosines, samples in constant memory",
    .params = {{"voxels", "voxels, 256 a block", {700, 4096, 12288, 32768}, 1, 1u << 24},
               {"samples", "samples in k-space, 512 a block", {14, 64, 512, 3072}, 1, 1u << 20},
               {"chunk", "most samples of a launch", {8, 512, 512, 512}, 1, MOST_SAMPLES}},
    .traits = {{RATIO_SFU_SHARE, TRAIT_AT_LEAST, 0.1, "sines and cosines", SIZE_TINY},
               {RATIO_IDLE_EMPTY, TRAIT_AT_LEAST, 0.1, "blocks do not fill the SMs evenly", SIZE_DEFAULT}},
    .prepare = prepare,
    .launch = launch,
    .check = check,
};
