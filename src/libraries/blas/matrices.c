// Functions of matrices besides products: syrk, geam, ger, trsm.
#include "libraries/blas/blas.h"

enum { MOST_GRID = 65535 }; // in y; kernels go on behind it
enum { FILL_LOWER, FILL_UPPER, SIDE_LEFT = 0, SIDE_RIGHT, DIAGONAL_NOT_UNIT = 0, DIAGONAL_UNIT };

static const char *letter_of(int kind) { return kind == BLAS_F32 ? "s" : "d"; }

BlasStatus blas_syrk(const Blas *blas, int kind, int fill, const BlasProduct *p) {
  if (!blas_is(blas)) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (fill != FILL_LOWER && fill != FILL_UPPER) return CUBLAS_STATUS_INVALID_VALUE;
  BlasProduct product = *p;
  product.m = p->n;
  product.b = p->a;
  product.b_operation = p->a_operation == BLAS_N ? BLAS_T : BLAS_N;
  product.batch = 1;
  product.triangle = fill == FILL_LOWER ? BLAS_LOWER : BLAS_UPPER;
  return blas_gemm(blas, (BlasTypes){kind, kind, kind}, &product);
}

static BlasStatus launch_sum(const Blas *blas, int kind, const char *name, BlasSum *sum) {
  CudaGrid grid = {(unsigned)in_parts(sum->m, BLAS_SIDE), (unsigned)at_most(in_parts(sum->n, BLAS_SIDE), MOST_GRID), 1};
  return blas_launch(blas, letter_of(kind), name, grid, (CudaGrid){BLAS_SIDE, BLAS_SIDE, 1}, sum);
}

BlasStatus blas_geam(const Blas *blas, int kind, const BlasProduct *p) {
  bool a_plain = p->a_operation == BLAS_N, b_plain = p->b_operation == BLAS_N;
  if (!blas_is(blas)) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (!blas_is_operation(p->a_operation) || !blas_is_operation(p->b_operation) || p->m < 0 || p->n < 0 || p->alpha == NULL ||
      p->beta == NULL || p->a.stride < at_least(1, a_plain ? p->m : p->n) || p->b.stride < at_least(1, b_plain ? p->m : p->n) ||
      p->c.stride < at_least(1, p->m))
    return CUBLAS_STATUS_INVALID_VALUE;
  if (p->m == 0 || p->n == 0) return CUBLAS_STATUS_SUCCESS;
  BlasSum sum = {.a = p->a.at,
                 .b = p->b.at,
                 .c = (void *)(uintptr_t)p->c.at,
                 .m = p->m,
                 .n = p->n,
                 .a_row = a_plain ? 1 : p->a.stride,
                 .a_column = a_plain ? p->a.stride : 1,
                 .b_row = b_plain ? 1 : p->b.stride,
                 .b_column = b_plain ? p->b.stride : 1,
                 .c_leading = p->c.stride,
                 .alpha = blas_scalar(blas, kind, p->alpha),
                 .beta = blas_scalar(blas, kind, p->beta)};
  if (sum.c == NULL || blas_misses(&sum.alpha, sum.a) || blas_misses(&sum.beta, sum.b)) return CUBLAS_STATUS_INVALID_VALUE;
  return launch_sum(blas, kind, "geam", &sum);
}

BlasStatus blas_ger(const Blas *blas, int kind, const BlasProduct *p) {
  if (!blas_is(blas)) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (p->m < 0 || p->n < 0 || p->alpha == NULL || p->a.stride == 0 || p->b.stride == 0 || p->c.stride < at_least(1, p->m))
    return CUBLAS_STATUS_INVALID_VALUE;
  if (p->m == 0 || p->n == 0) return CUBLAS_STATUS_SUCCESS;
  BlasSum sum = {.a = (const uint8_t *)p->a.at + first_index(p->m, p->a.stride) * bytes_of(kind),
                 .b = (const uint8_t *)p->b.at + first_index(p->n, p->b.stride) * bytes_of(kind),
                 .c = (void *)(uintptr_t)p->c.at,
                 .m = p->m,
                 .n = p->n,
                 .a_row = p->a.stride,
                 .b_column = p->b.stride,
                 .c_leading = p->c.stride,
                 .alpha = blas_scalar(blas, kind, p->alpha)};
  if (blas_misses(&sum.alpha, p->a.at) || blas_misses(&sum.alpha, p->b.at) || blas_misses(&sum.alpha, p->c.at))
    return CUBLAS_STATUS_INVALID_VALUE;
  return launch_sum(blas, kind, "ger", &sum);
}

// x * op(a) = b is op(a)^T * x^T = b^T: rows and columns change their places.
BlasStatus blas_trsm(const Blas *blas, int kind, BlasTriangle triangle, const BlasProduct *p) {
  bool right = triangle.side == SIDE_RIGHT, swapped = (triangle.operation != BLAS_N) != right;
  int64_t size = right ? p->n : p->m;
  if (!blas_is(blas)) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (!blas_is_operation(triangle.operation) || (!right && triangle.side != SIDE_LEFT) ||
      (triangle.fill != FILL_LOWER && triangle.fill != FILL_UPPER) ||
      (triangle.diagonal != DIAGONAL_NOT_UNIT && triangle.diagonal != DIAGONAL_UNIT) || p->m < 0 || p->n < 0 || p->alpha == NULL ||
      p->a.stride < at_least(1, size) || p->b.stride < at_least(1, p->m))
    return CUBLAS_STATUS_INVALID_VALUE;
  if (p->m == 0 || p->n == 0) return CUBLAS_STATUS_SUCCESS;
  BlasSolve solve = {.a = p->a.at,
                     .b = (void *)(uintptr_t)p->b.at,
                     .size = size,
                     .count = right ? p->m : p->n,
                     .a_row = swapped ? p->a.stride : 1,
                     .a_column = swapped ? 1 : p->a.stride,
                     .b_row = right ? p->b.stride : 1,
                     .b_next = right ? 1 : p->b.stride,
                     .alpha = blas_scalar(blas, kind, p->alpha),
                     .backward = (triangle.fill == FILL_UPPER) != swapped,
                     .unit = triangle.diagonal == DIAGONAL_UNIT};
  if (solve.b == NULL || blas_misses(&solve.alpha, solve.a)) return CUBLAS_STATUS_INVALID_VALUE;
  CudaGrid grid = {(unsigned)in_parts(solve.count, BLAS_SOLVERS), 1, 1};
  return blas_launch(blas, letter_of(kind), "trsm", grid, (CudaGrid){BLAS_SOLVERS, 1, 1}, &solve);
}
