// A program whose work is a product of cuBLAS's, for campaigns: a checksum of its bits is the output.
#include "blas.h"

#include <stdio.h>

enum { SIDE = 24, SIZE = SIDE * SIDE };

int main(void) {
  static float a[SIZE], b[SIZE], c[SIZE];
  uint32_t state = 1, sum = 0;
  for (int i = 0; i < SIZE; i++) {
    state = state * 1664525 + 1013904223;
    a[i] = (float)(state >> 8) / 16777216;
    b[i] = a[i] - 0.5f;
  }
  float *on_a, *on_b, *on_c, one = 1, zero = 0;
  Handle *handle;
  if (cudaMalloc((void **)&on_a, sizeof a) != 0 || cudaMalloc((void **)&on_b, sizeof b) != 0 || cudaMalloc((void **)&on_c, sizeof c) != 0 ||
      cublasCreate_v2(&handle) != SUCCESS)
    return 1;
  cublasSetMatrix(SIDE, SIDE, sizeof *a, a, SIDE, on_a, SIDE);
  cublasSetMatrix(SIDE, SIDE, sizeof *b, b, SIDE, on_b, SIDE);
  if (cublasSgemm_v2(handle, N, T, SIDE, SIDE, SIDE, &one, on_a, SIDE, on_b, SIDE, &zero, on_c, SIDE) != SUCCESS) return 1;
  if (cublasGetMatrix(SIDE, SIDE, sizeof *c, on_c, SIDE, c, SIDE) != SUCCESS) return 1;
  for (int i = 0; i < SIZE; i++) {
    union {
      float value;
      uint32_t bits;
    } element = {c[i]};
    sum = sum * 31 + element.bits;
  }
  printf("%08x\n", sum);
  return cublasDestroy_v2(handle);
}
