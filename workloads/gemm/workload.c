// Matrix multiplication in the formats of today, on the tensor unit and on ordinary units, with and without a checksum in software
// (Huang and Abraham, "Algorithm-Based Fault Tolerance for Matrix Operations", IEEE Transactions on Computers, 1984). A wrong checksum ends the program with a trap.
// Inputs are from 0 to 1, rounded to the format, so that checksums do not cancel.
#include "device/workload.h"
#include "isa/float.h"

enum { MULTIPLE = 32, CHECK_THREADS = 64, SUM_SHARES = 8, FORMATS = 8 }; // WARPS of kernel.cu times 8 columns

typedef struct Format {
  const char *kernel;
  uint32_t bytes;   // of an element of a and b
  bool is_tensor;   // which block and grid
  double tolerance; // of an element of c against doubles
  float check;      // of a checksum, relative: some times the rounding of the accumulator
} Format;
// As enumerated in kernel.cu.
static const Format formats[FORMATS] = {
    {"gemm_f32", 4, false, 1e-5, 2e-6f}, {"gemm_half", 2, false, 0.03, 0.01f},    {"gemm_tf32", 4, true, 1e-5, 2e-6f},
    {"gemm_f16", 2, true, 1e-5, 2e-6f},  {"gemm_bf16", 2, true, 1e-5, 2e-6f},     {"gemm_e4m3", 1, true, 1e-5, 2e-6f},
    {"gemm_e5m2", 1, true, 1e-5, 2e-6f}, {"gemm_f16_f16", 2, true, 0.01, 0.002f},
};
enum { F32, HALF, TF32, F16, BF16, E4M3, E5M2, F16_F16 };

typedef struct Data {
  const float *a, *b; // as the format has them; b is the transpose
  DeviceAddress device_a, device_b, device_c, sums;
  uint32_t n, k, format;
  bool checks;
} Data;

// Rounds in place and writes the format's bits.
static void *encode(WorkloadRun *run, float *values, uint64_t count, uint32_t format) {
  uint8_t *bytes = ARENA_ARRAY(run->arena, uint8_t, count * formats[format].bytes);
  for (uint64_t i = 0; i < count; i++) {
    uint32_t bits = bits_of_f32(values[i]);
    switch (format) {
    case TF32: bits = f32_to_tf32(values[i], ROUND_RN), values[i] = f32_of(bits); break;
    case BF16: bits = f32_to_bf16(values[i], ROUND_RN), values[i] = bf16_to_f32((uint16_t)bits); break;
    case E4M3: bits = f32_to_e4m3(values[i]), values[i] = f16_to_f32(e4m3_to_f16((uint8_t)bits)); break;
    case E5M2: bits = f32_to_e5m2(values[i]), values[i] = f16_to_f32(e5m2_to_f16((uint8_t)bits)); break;
    case F32: break;
    default: bits = f32_to_f16(values[i], ROUND_RN), values[i] = f16_to_f32((uint16_t)bits); break;
    }
    memcpy(bytes + i * formats[format].bytes, &bits, formats[format].bytes);
  }
  return bytes;
}

static bool prepare(WorkloadRun *run) {
  Data *data = run->data = ARENA_NEW(run->arena, Data);
  data->n = (uint32_t)run->param[0] * MULTIPLE;
  data->k = (uint32_t)run->param[1] * MULTIPLE;
  data->format = (uint32_t)run->param[2];
  data->checks = run->param[3] != 0;
  uint64_t count = (uint64_t)data->n * data->k, bytes = count * formats[data->format].bytes;
  float *a = workload_random_f32(run, count, 0, 0.0f, 1.0f), *b = workload_random_f32(run, count, 1, 0.0f, 1.0f);
  data->device_a = workload_buffer(run, encode(run, a, count, data->format), bytes);
  data->device_b = workload_buffer(run, encode(run, b, count, data->format), bytes);
  data->device_c = workload_buffer(run, NULL, (uint64_t)data->n * data->n * 4);
  data->sums = data->checks ? workload_buffer(run, NULL, data->k * 8) : 0;
  data->a = a, data->b = b;
  workload_output_matrix(run, "c", data->device_c, ELEMENT_F32, data->n, data->n);
  return data->device_a && data->device_b && data->device_c && (!data->checks || data->sums);
}

static bool launch_checks(WorkloadRun *run, const Data *data) {
  const uint32_t block[3] = {CHECK_THREADS, 1, 1}, of_n[3] = {2 * data->n * 32 / CHECK_THREADS, 1, 1};
  const uint32_t shares[3] = {32, SUM_SHARES, 1}, of_k[3] = {2 * data->k / 32, 1, 1};
  const void *sums[] = {&data->device_a, &data->device_b, &data->sums, &data->n, &data->k, &data->format};
  const void *check[] = {&data->device_a, &data->device_b, &data->device_c, &data->sums,
                         &data->n,        &data->k,        &data->format,   &formats[data->format].check};
  return workload_launch(run, "gemm_sums", of_k, shares, 0, sums, COUNT_OF(sums)) &&
         workload_launch(run, "gemm_check", of_n, block, 0, check, COUNT_OF(check));
}

static bool launch(WorkloadRun *run) {
  const Data *data = run->data;
  const Format *format = &formats[data->format];
  uint32_t words = data->k * format->bytes / 4;
  const uint32_t warps[3] = {128, 1, 1}, strips[3] = {data->n / 32, data->n / 16, 1};
  const uint32_t tile[3] = {16, 16, 1}, tiles[3] = {data->n / 16, data->n / 16, 1};
  const void *arguments[] = {&data->device_a, &data->device_b, &data->device_c, &data->n, format->is_tensor ? &words : &data->k};
  bool good = workload_launch(run, format->kernel, format->is_tensor ? strips : tiles, format->is_tensor ? warps : tile, 0, arguments,
                              COUNT_OF(arguments));
  return good && (!data->checks || launch_checks(run, data));
}

static bool check(WorkloadRun *run) {
  const Data *data = run->data;
  uint64_t count = (uint64_t)data->n * data->n;
  float *got = ARENA_ARRAY(run->arena, float, count);
  bool missing;
  double *expected = workload_expected(run, count, &missing);
  if (!device_read(run->device, got, data->device_c, count * 4)) return false;
  for (uint64_t i = 0; i < count && missing; i++) {
    const float *a = data->a + i / data->n * data->k, *b = data->b + i % data->n * data->k;
    for (uint32_t k = 0; k < data->k; k++) expected[i] += (double)a[k] * (double)b[k];
  }
  return workload_near(run, "c", got, expected, count, formats[data->format].tolerance);
}

const Workload workload_gemm = {
    .name = "gemm",
    .summary = "c = a * b in a chosen number format, on the tensor unit or on ordinary units; a checksum in software if wanted",
    .params = {{"n", "rows and columns of c, in 32", {1, 2, 8, 16}, 1, 128},
               {"k", "length of the inner products, in 32", {1, 2, 8, 16}, 1, 128},
               {"format",
                "0 f32, 1 f16 on ordinary units; tensor unit: 2 tf32, 3 f16, 4 bf16, 5 e4m3, 6 e5m2, 7 f16 with f16 sums",
                {3, 3, 3, 3},
                0,
                7},
               {"abft", "1: sums of rows and columns are checked", {0, 0, 0, 0}, 0, 1}},
    .prepare = prepare,
    .launch = launch,
    .check = check,
};
