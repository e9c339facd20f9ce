// cuBLAS against products on the host, in the order of additions that docs/libraries.md names, bit for bit.
#include "blas.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;
#define EXPECT(fact)                                                          \
  do {                                                                        \
    if (!(fact) && failures++ < 20) printf("line %d: %s\n", __LINE__, #fact); \
  } while (0)

// Numbers with all bits of their fraction in use, both signs, sizes that lie far apart. The same in every run.
static uint32_t random_state = 12345;
static uint32_t random_bits(void) {
  random_state = random_state * 1664525 + 1013904223;
  return random_state >> 8;
}
static double random_number(void) {
  return ldexp((double)random_bits() + random_bits() / 16777216.0, (int)(random_bits() % 12) - 30) - 0.02;
}

static void *to_device(const void *from, size_t bytes) {
  void *to = NULL;
  EXPECT(cudaMalloc(&to, bytes) == 0);
  EXPECT(cudaMemcpy(to, from, bytes, 1) == 0);
  return to;
}

static int largest(int a, int b) { return a > b ? a : b; }

#define REAL float
#define FMA fmaf
#define ROOT(x, scale) ((float)sqrt(x))
#define SQUARES double // in which squares are added
#define NRM2_SCALE(largest) 1.0
#define F(name) cublasS##name##_v2
#define B(name) cublasS##name
#define I(name) cublasIs##name##_v2
#define W(name) cublasS##name##_v2_64
#define IW(name) cublasIs##name##_v2_64
#define L(name) s_##name
#include "blas_real.inc"
#undef REAL
#undef FMA
#undef ROOT
#undef SQUARES
#undef NRM2_SCALE
#undef F
#undef B
#undef I
#undef W
#undef IW
#undef L

#define REAL double
#define FMA fma
#define ROOT(x, scale) (sqrt(x) / (scale))
#define SQUARES double
#define NRM2_SCALE(largest) ((largest) == 0 ? 1.0 : ldexp(1, -ilogb(largest)))
#define F(name) cublasD##name##_v2
#define B(name) cublasD##name
#define I(name) cublasId##name##_v2
#define W(name) cublasD##name##_v2_64
#define IW(name) cublasId##name##_v2_64
#define L(name) d_##name
#include "blas_real.inc"

// ---- f16 and bf16 ----------------------------------------------------------------------------------

typedef struct Format {
  int fraction, least, bias; // bits after the point, exponent of the smallest normal number
  int type;
} Format;
static const Format f16 = {10, -14, 15, R_16F}, bf16 = {7, -126, 127, R_16BF};

static float value_of(const Format *format, Half bits) {
  int field = (bits & 0x7fff) >> format->fraction, fraction = bits & ((1 << format->fraction) - 1);
  float value = field == 0 ? ldexpf((float)fraction, format->least - format->fraction)
                           : ldexpf((float)(fraction + (1 << format->fraction)), field - format->bias - format->fraction);
  return bits & 0x8000 ? -value : value;
}
// To the nearest number of the format, as a float; what is too large for it is not asked.
static float rounded(const Format *format, float x) {
  int exponent = x == 0 ? 0 : ilogbf(x);
  double step = ldexp(1, (exponent < format->least ? format->least : exponent) - format->fraction);
  return (float)(nearbyint(x / step) * step);
}

static void test_small_types(Handle *handle, const Format *format, bool wide_result, int compute) {
  enum { M = 35, COLUMNS = 33, K = 40 };
  static Half a[M * K], b[K * COLUMNS], c[M * COLUMNS], got[M * COLUMNS];
  static float wide_c[M * COLUMNS], wide_got[M * COLUMNS];
  unsigned exponent = (unsigned)format->bias << format->fraction, mask = (1u << format->fraction) - 1;
  for (int i = 0; i < M * K; i++) a[i] = (Half)((exponent - ((random_bits() & 3) << format->fraction)) | (random_bits() & (mask | 0x8000)));
  for (int i = 0; i < K * COLUMNS; i++) b[i] = (Half)(exponent | (random_bits() & (mask | 0x8000)));
  for (int i = 0; i < M * COLUMNS; i++) c[i] = (Half)(exponent | (random_bits() & mask)), wide_c[i] = (float)random_number();
  void *on_a = to_device(a, sizeof a), *on_b = to_device(b, sizeof b);
  void *on_c = wide_result ? to_device(wide_c, sizeof wide_c) : to_device(c, sizeof c);
  float alpha = 1.5f, beta = -0.25f;
  Half half_alpha = 0x3e00, half_beta = 0xb400;
  bool in_half = compute == COMPUTE_16F;
  int status = cublasGemmEx(handle, T, N, M, COLUMNS, K, in_half ? (void *)&half_alpha : &alpha, on_a, format->type, K, on_b, format->type,
                            K, in_half ? (void *)&half_beta : &beta, on_c, wide_result ? R_32F : format->type, M, compute, -1);
  EXPECT(status == SUCCESS);
  EXPECT(cudaMemcpy(wide_result ? (void *)wide_got : got, on_c, wide_result ? sizeof wide_got : sizeof got, 2) == 0);
  int wrong = 0;
  for (int i = 0; i < M * COLUMNS; i++) {
    float sum = 0;
    for (int k = 0; k < K; k++) sum = fmaf(value_of(format, a[i % M * K + k]), value_of(format, b[i / M * K + k]), sum);
    float expected = fmaf(beta, wide_result ? wide_c[i] : value_of(format, c[i]), alpha * sum);
    if (!wide_result) expected = rounded(format, expected);
    wrong += (wide_result ? wide_got[i] : value_of(format, got[i])) != expected;
  }
  EXPECT(wrong == 0);
  if (format == &f16 && !wide_result) { // the same through the function with a name of its own
    EXPECT(cudaMemcpy(on_c, c, sizeof c, 1) == 0);
    EXPECT(cublasHgemm(handle, T, N, M, COLUMNS, K, &half_alpha, on_a, K, on_b, K, &half_beta, on_c, M) == SUCCESS);
    EXPECT(cudaMemcpy(c, on_c, sizeof c, 2) == 0);
    EXPECT(memcmp(c, got, sizeof c) == 0);
  }
  EXPECT(cudaFree(on_a) == 0 && cudaFree(on_b) == 0 && cudaFree(on_c) == 0);
}

// Products that lie in the middle between two numbers of the format: 1.5 times odd fractions.
static void test_ties(Handle *handle, const Format *format) {
  enum { COUNT = 128 };
  Half a[COUNT], b = (Half)(format->bias << format->fraction | 1 << (format->fraction - 1)), got[COUNT];
  for (int i = 0; i < COUNT; i++) a[i] = (Half)(format->bias << format->fraction | i);
  float one = 1, zero = 0;
  void *on_a = to_device(a, sizeof a), *on_b = to_device(&b, sizeof b), *on_c = to_device(a, sizeof a);
  EXPECT(cublasGemmEx(handle, N, N, COUNT, 1, 1, &one, on_a, format->type, COUNT, on_b, format->type, 1, &zero, on_c, format->type, COUNT,
                      COMPUTE_32F, -1) == SUCCESS);
  EXPECT(cudaMemcpy(got, on_c, sizeof got, 2) == 0);
  for (int i = 0; i < COUNT; i++) EXPECT(value_of(format, got[i]) == rounded(format, value_of(format, a[i]) * 1.5f));
  EXPECT(cudaFree(on_a) == 0 && cudaFree(on_b) == 0 && cudaFree(on_c) == 0);
}

// ---- The handle ------------------------------------------------------------------------------------

static void test_handle(Handle *handle) {
  int value = -1;
  void *stream = NULL, *same = NULL;
  EXPECT(cublasCreate_v2(NULL) == INVALID_VALUE);
  EXPECT(cublasSetStream_v2(NULL, NULL) == NOT_INITIALIZED && cublasDestroy_v2(NULL) == NOT_INITIALIZED);
  Handle *none = (Handle *)(uintptr_t)0x1234, *dead;
  EXPECT(cublasSetStream_v2(none, NULL) == NOT_INITIALIZED && cublasDestroy_v2(none) == NOT_INITIALIZED);
  EXPECT(cublasSgemm_v2(none, N, N, 1, 1, 1, NULL, NULL, 1, NULL, 1, NULL, NULL, 1) == NOT_INITIALIZED);
  EXPECT(cublasCreate_v2(&dead) == SUCCESS && cublasDestroy_v2(dead) == SUCCESS && cublasDestroy_v2(dead) == NOT_INITIALIZED);
  EXPECT(cudaStreamCreate(&stream) == 0);
  EXPECT(cublasSetStream_v2(handle, stream) == SUCCESS && cublasGetStream_v2(handle, &same) == SUCCESS && same == stream);
  EXPECT(cublasSetMathMode(handle, 1) == SUCCESS && cublasGetMathMode(handle, &value) == SUCCESS && value == 1);
  EXPECT(cublasGetPointerMode_v2(handle, &value) == SUCCESS && value == HOST);
  EXPECT(cublasSetPointerMode_v2(handle, 7) == INVALID_VALUE);
  EXPECT(cublasSetWorkspace_v2(handle, NULL, 0) == SUCCESS && cublasSetWorkspace_v2(handle, (void *)(uintptr_t)260, 64) == INVALID_VALUE);
  EXPECT(cublasGetVersion_v2(handle, &value) == SUCCESS && value == GENERATION * 10000);
  EXPECT(cublasGetProperty(0, &value) == SUCCESS && value == GENERATION);
  EXPECT(strcmp(cublasGetStatusName(INVALID_VALUE), "CUBLAS_STATUS_INVALID_VALUE") == 0);
  EXPECT(strlen(cublasGetStatusString(INVALID_VALUE)) > 0);
  EXPECT(cublasSsymm_v2(handle) == NOT_SUPPORTED && cublasSsymm_v2(handle) == NOT_SUPPORTED);
  float scalar = 1;
  EXPECT(cublasGemmEx(handle, N, N, 1, 1, 1, &scalar, &scalar, R_8I, 1, &scalar, R_8I, 1, &scalar, &scalar, R_32F, 1, COMPUTE_32I, 0) ==
         NOT_SUPPORTED);
}

// Vectors and matrices that are missing. What a 0 multiplies is not read and may be.
static void test_missing(Handle *handle) {
  float numbers[] = {1, 2, 3, 4}, one = 1, zero = 0, got[4], *there = to_device(numbers, sizeof numbers);
  EXPECT(cublasSgemm_v2(handle, N, N, 2, 2, 2, &one, NULL, 2, there, 2, &zero, there, 2) == INVALID_VALUE);
  EXPECT(cublasSgemm_v2(handle, N, N, 2, 2, 2, &one, there, 2, NULL, 2, &zero, there, 2) == INVALID_VALUE);
  EXPECT(cublasSgemm_v2(handle, N, N, 2, 2, 2, &zero, NULL, 2, NULL, 2, &zero, NULL, 2) == INVALID_VALUE);
  EXPECT(cublasSgemv_v2(handle, N, 2, 2, &one, NULL, 2, there, 1, &zero, there, 1) == INVALID_VALUE);
  EXPECT(cublasSaxpy_v2(handle, 2, &one, NULL, 1, there, 1) == INVALID_VALUE && cublasSscal_v2(handle, 2, &one, NULL, 1) == INVALID_VALUE);
  EXPECT(cublasSdot_v2(handle, 2, there, 1, NULL, 1, got) == INVALID_VALUE && cublasSasum_v2(handle, 2, NULL, 1, got) == INVALID_VALUE);
  EXPECT(cublasSaxpy_v2(handle, -8, &one, NULL, 1, NULL, 1) == SUCCESS); // of vectors: nothing to do, as BLAS has it
  EXPECT(cublasSgemm_v2(handle, N, N, 2, 2, 2, &zero, NULL, 2, NULL, 2, &one, there, 2) == SUCCESS);
  EXPECT(cublasSgemm_v2(handle, N, N, 2, 2, 0, &one, NULL, 2, NULL, 2, &one, there, 2) == SUCCESS);
  EXPECT(cudaMemcpy(got, there, sizeof got, 2) == 0 && memcmp(got, numbers, sizeof got) == 0);
  EXPECT(cudaFree(there) == 0);
}

// The first version, with numbers that are exact in any order.
static void test_first_version(void) {
  float a[] = {1, 2, 3, 4}, b[] = {5, 6, 7, 8}, got[4], *on_a, *on_b; // columns: (1 2) (3 4)
  double c[] = {3, -4, 0, 1}, more[4], *on_c;
  EXPECT(cublasShutdown() == NOT_INITIALIZED && cublasAlloc(4, 4, (void **)&on_a) == NOT_INITIALIZED);
  cublasDscal(1, 2, more, 1);
  EXPECT(cublasGetError() == NOT_INITIALIZED && cublasGetError() == SUCCESS);
  EXPECT(cublasInit() == SUCCESS && cublasInit() == SUCCESS && cublasSetKernelStream(NULL) == SUCCESS);
  EXPECT(cublasAlloc(4, 4, (void **)&on_a) == SUCCESS && cublasAlloc(4, 4, (void **)&on_b) == SUCCESS);
  EXPECT(cublasAlloc(4, 8, (void **)&on_c) == SUCCESS && cublasAlloc(-1, 8, (void **)&on_c) == INVALID_VALUE);
  EXPECT(cublasSetVector(4, 4, a, 1, on_a, 1) == SUCCESS && cublasSetVector(4, 4, b, 1, on_b, 1) == SUCCESS);
  EXPECT(cublasSetVector(4, 8, c, 1, on_c, 1) == SUCCESS);
  EXPECT(cublasSdot(4, on_a, 1, on_b, 1) == 70 && cublasIsamax(4, on_a, 1) == 4 && cublasIdamin(4, on_c, 1) == 3);
  EXPECT(cublasDnrm2(2, on_c, 1) == 5 && cublasDasum(4, on_c, 1) == 8);
  cublasSgemm('n', 'T', 2, 2, 2, 1, on_a, 2, on_a, 2, -1, on_b, 2); // a a^T - b
  EXPECT(cublasGetVector(4, 4, on_b, 1, got, 1) == SUCCESS && got[0] == 5 && got[1] == 8 && got[2] == 7 && got[3] == 12);
  cublasSgemv('t', 2, 2, 1, on_a, 2, on_a, 1, 0, on_b, 1); // a^T (1 2)
  cublasSaxpy(2, 2, on_a, 1, on_b, 1);
  EXPECT(cublasGetVector(2, 4, on_b, 1, got, 1) == SUCCESS && got[0] == 7 && got[1] == 15);
  cublasSger(2, 2, 1, on_a, 1, on_a, 1, on_b, 2);
  cublasScopy(1, on_a, 1, on_b + 1, 1);
  EXPECT(cublasGetVector(3, 4, on_b, 1, got, 1) == SUCCESS && got[0] == 8 && got[1] == 1 && got[2] == 9);
  cublasStrsm('L', 'u', 'N', 'N', 2, 1, 4, on_a, 2, on_b, 2); // (1 3; 0 4) x = (32 4)
  EXPECT(cublasGetVector(2, 4, on_b, 1, got, 1) == SUCCESS && got[0] == 29 && got[1] == 1);
  cublasDsyrk('L', 'T', 1, 2, 1, on_c, 2, 0, on_c + 2, 1); // 9 + 16
  cublasDscal(1, 2, on_c + 2, 1);
  cublasDswap(1, on_c, 1, on_c + 2, 1);
  EXPECT(cublasGetVector(4, 8, on_c, 1, more, 1) == SUCCESS && more[0] == 50 && more[1] == -4 && more[2] == 3 && more[3] == 1);
  EXPECT(cublasGetError() == SUCCESS);
  cublasSgemm('x', 'T', 2, 2, 2, 1, on_a, 2, on_a, 2, 1, on_b, 2);
  EXPECT(cublasGetError() == INVALID_VALUE && cublasGetError() == SUCCESS);
  EXPECT(cublasFree(on_a) == SUCCESS && cublasFree(on_b) == SUCCESS && cublasFree(on_c) == SUCCESS && cublasShutdown() == SUCCESS);
}

static void test_copies(void) {
  float from[24], back[24] = {0};
  for (int i = 0; i < 24; i++) from[i] = (float)i;
  float *on_device = to_device(back, sizeof back);
  EXPECT(cublasSetVector(4, sizeof(float), from, 3, on_device, 2) == SUCCESS); // 0 3 6 9
  EXPECT(cublasGetVector(4, sizeof(float), on_device, 2, back, 1) == SUCCESS);
  for (int i = 0; i < 4; i++) EXPECT(back[i] == (float)(3 * i));
  EXPECT(cublasSetMatrix(2, 3, sizeof(float), from, 5, on_device, 4) == SUCCESS);
  EXPECT(cublasGetMatrix(2, 3, sizeof(float), on_device, 4, back, 2) == SUCCESS);
  for (int i = 0; i < 6; i++) EXPECT(back[i] == (float)(i / 2 * 5 + i % 2));
  EXPECT(cublasSetVector(-1, 4, from, 1, on_device, 1) == INVALID_VALUE && cublasSetVector(1, 0, from, 1, on_device, 1) == INVALID_VALUE);
  EXPECT(cublasSetVector(2, 4, from, 0, on_device, 1) == INVALID_VALUE && cublasSetMatrix(3, 1, 4, from, 2, on_device, 3) == INVALID_VALUE);
  EXPECT(cublasSetVector(0, 4, from, 1, on_device, 1) == SUCCESS);
  EXPECT(cudaFree(on_device) == 0);
}

int main(void) {
  Handle *handle;
  if (cublasCreate_v2(&handle) != SUCCESS) return 1;
  test_handle(handle);
  test_missing(handle);
  test_copies();
  test_first_version();
  s_test(handle);
  d_test(handle);
  test_small_types(handle, &f16, false, COMPUTE_32F);
  test_small_types(handle, &f16, false, COMPUTE_16F);
  test_small_types(handle, &f16, true, COMPUTE_32F);
  test_small_types(handle, &bf16, false, COMPUTE_32F);
  test_small_types(handle, &bf16, true, COMPUTE_TF32);
  test_ties(handle, &f16);
  test_ties(handle, &bf16);
  EXPECT(cublasDestroy_v2(handle) == SUCCESS);
  puts(failures == 0 ? "PASS" : "FAIL");
  return failures != 0;
}
