// Products: gemm and gemv, one or a batch.
#include "libraries/blas/blas.h"

enum { MOST_GRID = 65535 }; // in y and z; more takes another launch

// ---- gemm ------------------------------------------------------------------------------------------

typedef struct GemmKernel {
  BlasTypes types;
  const char *letters;
} GemmKernel;
static const GemmKernel gemm_kernels[] = {
    {{BLAS_F32, BLAS_F32, BLAS_F32}, "s"},   {{BLAS_F64, BLAS_F64, BLAS_F64}, "d"},  {{BLAS_F16, BLAS_F16, BLAS_F16}, "h"},
    {{BLAS_F16, BLAS_F16, BLAS_F32}, "h"},   {{BLAS_F16, BLAS_F32, BLAS_F32}, "hs"}, {{BLAS_BF16, BLAS_BF16, BLAS_F32}, "b"},
    {{BLAS_BF16, BLAS_F32, BLAS_F32}, "bs"},
};

static const GemmKernel *kernel_of(BlasTypes types) {
  for (size_t i = 0; i < sizeof gemm_kernels / sizeof gemm_kernels[0]; i++) {
    const BlasTypes *own = &gemm_kernels[i].types;
    if (own->in == types.in && own->out == types.out && own->scale == types.scale) return &gemm_kernels[i];
  }
  return NULL;
}

static bool gemm_is_right(const BlasProduct *p) {
  int64_t a_rows = p->a_operation == BLAS_N ? p->m : p->k, b_rows = p->b_operation == BLAS_N ? p->k : p->n;
  return blas_is_operation(p->a_operation) && blas_is_operation(p->b_operation) && p->m >= 0 && p->n >= 0 && p->k >= 0 && p->batch >= 0 &&
         p->a.stride >= at_least(1, a_rows) && p->b.stride >= at_least(1, b_rows) && p->c.stride >= at_least(1, p->m) && p->alpha != NULL &&
         p->beta != NULL;
}

BlasStatus blas_gemm(const Blas *blas, BlasTypes types, const BlasProduct *p) {
  if (!blas_is(blas)) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (!gemm_is_right(p)) return CUBLAS_STATUS_INVALID_VALUE;
  if (p->m == 0 || p->n == 0 || p->batch == 0) return CUBLAS_STATUS_SUCCESS;
  BlasScalar alpha = blas_scalar(blas, types.scale, p->alpha);
  if (p->c.at == NULL || (p->k > 0 && (blas_misses(&alpha, p->a.at) || blas_misses(&alpha, p->b.at)))) return CUBLAS_STATUS_INVALID_VALUE;
  BlasGemm g = {.a = p->a.at,
                .b = p->b.at,
                .c = (void *)(uintptr_t)p->c.at,
                .m = p->m,
                .n = p->n,
                .k = p->k,
                .a_leading = p->a.stride,
                .b_leading = p->b.stride,
                .c_leading = p->c.stride,
                .a_step = p->a_step,
                .b_step = p->b_step,
                .c_step = p->c_step,
                .alpha = alpha,
                .beta = blas_scalar(blas, types.scale, p->beta),
                .a_transposed = p->a_operation != BLAS_N,
                .b_transposed = p->b_operation != BLAS_N,
                .arrays = p->arrays,
                .triangle = p->triangle};
  CudaGrid block = {BLAS_SIDE, BLAS_SIDE, 1};
  BlasStatus status = CUBLAS_STATUS_SUCCESS;
  for (; g.first_batch < p->batch && status == CUBLAS_STATUS_SUCCESS; g.first_batch += MOST_GRID) {
    for (g.first_column = 0; g.first_column < p->n && status == CUBLAS_STATUS_SUCCESS; g.first_column += (int64_t)MOST_GRID * BLAS_TILE) {
      CudaGrid grid = {(unsigned)in_parts(p->m, BLAS_TILE), (unsigned)at_most(in_parts(p->n - g.first_column, BLAS_TILE), MOST_GRID),
                       (unsigned)at_most(p->batch - g.first_batch, MOST_GRID)};
      status = blas_launch(blas, kernel_of(types)->letters, "gemm", grid, block, &g);
    }
  }
  return status;
}

static int kind_of(int type) {
  switch (type) {
  case TYPE_R_32F: return BLAS_F32;
  case TYPE_R_64F: return BLAS_F64;
  case TYPE_R_16F: return BLAS_F16;
  case TYPE_R_16BF: return BLAS_BF16;
  default: return -1;
  }
}

// Of cublasComputeType_t. Types that allow less precision than f32 are computed in f32.
static int scale_of(int compute) {
  enum { COMPUTE_16F = 64, COMPUTE_16F_PEDANTIC, COMPUTE_32F = 68, COMPUTE_32F_PEDANTIC, COMPUTE_64F, COMPUTE_64F_PEDANTIC };
  enum { COMPUTE_32F_FAST_16F = 74, COMPUTE_32F_FAST_16BF, COMPUTE_32F_FAST_TF32 = 77, COMPUTE_32F_EMULATED };
  switch (compute) {
  case COMPUTE_16F:
  case COMPUTE_16F_PEDANTIC: return BLAS_F16;
  case COMPUTE_32F:
  case COMPUTE_32F_PEDANTIC:
  case COMPUTE_32F_FAST_16F:
  case COMPUTE_32F_FAST_16BF:
  case COMPUTE_32F_FAST_TF32:
  case COMPUTE_32F_EMULATED: return BLAS_F32;
  case COMPUTE_64F:
  case COMPUTE_64F_PEDANTIC: return BLAS_F64;
  default: return -1;
  }
}

bool blas_types(const char *function, int compute, int a, int b, int c, BlasTypes *types) {
  *types = (BlasTypes){kind_of(a), kind_of(c), scale_of(compute)};
  static bool said;
  if (a == b && kernel_of(*types) != NULL) return true;
  if (said) return false;
  said = true;
  library_say(
      "%s is not offered for the types %d, %d and %d with compute type %d: it returns CUBLAS_STATUS_NOT_SUPPORTED (docs/libraries.md)",
      function, a, b, c, compute);
  return false;
}

// ---- gemv ------------------------------------------------------------------------------------------

static bool gemv_is_right(const BlasProduct *p) {
  return blas_is_operation(p->a_operation) && p->m >= 0 && p->n >= 0 && p->batch >= 0 && p->a.stride >= at_least(1, p->m) &&
         p->b.stride != 0 && p->c.stride != 0 && p->alpha != NULL && p->beta != NULL;
}

BlasStatus blas_gemv(const Blas *blas, int kind, const BlasProduct *p) {
  if (!blas_is(blas)) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (!gemv_is_right(p)) return CUBLAS_STATUS_INVALID_VALUE;
  if (p->m == 0 || p->n == 0 || p->batch == 0) return CUBLAS_STATUS_SUCCESS;
  BlasScalar alpha = blas_scalar(blas, kind, p->alpha);
  if (p->c.at == NULL || blas_misses(&alpha, p->a.at) || blas_misses(&alpha, p->b.at)) return CUBLAS_STATUS_INVALID_VALUE;
  bool transposed = p->a_operation != BLAS_N;
  int64_t x_count = transposed ? p->m : p->n, y_count = transposed ? p->n : p->m;
  BlasGemv g = {.a = p->a.at,
                .x = p->b.at,
                .y = (void *)(uintptr_t)p->c.at,
                .m = p->m,
                .n = p->n,
                .leading = p->a.stride,
                .x_stride = p->b.stride,
                .y_stride = p->c.stride,
                .a_step = p->a_step,
                .x_step = p->b_step,
                .y_step = p->c_step,
                .alpha = alpha,
                .beta = blas_scalar(blas, kind, p->beta),
                .arrays = p->arrays,
                .x_first = first_index(x_count, p->b.stride),
                .y_first = first_index(y_count, p->c.stride)};
  CudaGrid grid = {(unsigned)(transposed ? in_parts(p->n, BLAS_COLUMNS) : in_parts(p->m, BLAS_ROWS)), 1, 1};
  CudaGrid block = transposed ? (CudaGrid){BLAS_LANES, BLAS_COLUMNS, 1} : (CudaGrid){BLAS_ROWS, 1, 1};
  BlasStatus status = CUBLAS_STATUS_SUCCESS;
  for (; g.first_batch < p->batch && status == CUBLAS_STATUS_SUCCESS; g.first_batch += MOST_GRID) {
    grid.z = (unsigned)at_most(p->batch - g.first_batch, MOST_GRID);
    status = blas_launch(blas, kind == BLAS_F32 ? "s" : "d", transposed ? "gemv_t" : "gemv_n", grid, block, &g);
  }
  return status;
}
