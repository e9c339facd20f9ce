// Functions of vectors: axpy, scal, copy, swap, dot, asum, nrm2, amax, amin.
#include "libraries/blas/blas.h"

static const char *const letters[] = {[BLAS_F32] = "s", [BLAS_F64] = "d"};
static const CudaGrid THREADS = {BLAS_THREADS, 1, 1}, LAST_THREADS = {BLAS_BLOCKS, 1, 1}, ONE_BLOCK = {1, 1, 1};

static CudaGrid blocks_of(int64_t n, int64_t most) { return (CudaGrid){(unsigned)at_most(in_parts(n, BLAS_THREADS), most), 1, 1}; }

static void *first_of(BlasOperand vector, int64_t n, int kind) {
  return (uint8_t *)(uintptr_t)vector.at + first_index(n, vector.stride) * bytes_of(kind);
}

static BlasVector vectors(int64_t n, int kind, BlasOperand x, BlasOperand y) {
  return (BlasVector){.n = n, .x = first_of(x, n, kind), .y = first_of(y, n, kind), .x_stride = x.stride, .y_stride = y.stride};
}

// ---- Element by element ----------------------------------------------------------------------------

enum { MOST_BLOCKS = 65535 };

static BlasStatus launch_elements(const Blas *blas, const char *name, int kind, BlasVector *v) {
  return blas_launch(blas, letters[kind], name, blocks_of(v->n, MOST_BLOCKS), THREADS, v);
}

BlasStatus blas_move(const Blas *blas, const char *name, int kind, int64_t n, BlasOperand x, BlasOperand y) {
  if (!blas_is(blas)) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (n <= 0) return CUBLAS_STATUS_SUCCESS;
  if (x.at == NULL || y.at == NULL) return CUBLAS_STATUS_INVALID_VALUE;
  BlasVector v = vectors(n, kind, x, y);
  return launch_elements(blas, name, kind, &v);
}

BlasStatus blas_axpy(const Blas *blas, int kind, int64_t n, const void *alpha, BlasOperand x, BlasOperand y) {
  if (!blas_is(blas)) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (alpha == NULL) return CUBLAS_STATUS_INVALID_VALUE;
  if (n <= 0) return CUBLAS_STATUS_SUCCESS;
  BlasVector v = vectors(n, kind, x, y);
  v.alpha = blas_scalar(blas, kind, alpha);
  if (blas_misses(&v.alpha, x.at) || blas_misses(&v.alpha, y.at)) return CUBLAS_STATUS_INVALID_VALUE;
  return launch_elements(blas, "axpy", kind, &v);
}

BlasStatus blas_scal(const Blas *blas, int kind, int64_t n, const void *alpha, BlasOperand x) {
  if (!blas_is(blas)) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (alpha == NULL) return CUBLAS_STATUS_INVALID_VALUE;
  if (n <= 0 || x.stride <= 0) return CUBLAS_STATUS_SUCCESS; // as BLAS has it
  if (x.at == NULL) return CUBLAS_STATUS_INVALID_VALUE;
  BlasVector v = vectors(n, kind, x, x);
  v.alpha = blas_scalar(blas, kind, alpha);
  return launch_elements(blas, "scal", kind, &v);
}

// ---- Results ---------------------------------------------------------------------------------------

// Where the last kernel puts a result: the program's own place, if that is in device memory.
static void *place_of(const Blas *blas, void *result) {
  return blas->pointer_mode == POINTER_MODE_DEVICE ? result : blas->room + ROOM_RESULT;
}

// A result for the host is waited for.
static BlasStatus bring(const Blas *blas, BlasStatus status, void *result, size_t bytes) {
  if (status != CUBLAS_STATUS_SUCCESS || blas->pointer_mode == POINTER_MODE_DEVICE) return status;
  bool good = blas->cuda->cudaMemcpyAsync(result, blas->room + ROOM_RESULT, bytes, CUDA_COPY_DEFAULT, blas->stream) == 0 &&
              blas->cuda->cudaStreamSynchronize(blas->stream) == 0;
  return good ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

// Of no elements.
static BlasStatus put_zero(const Blas *blas, void *result, size_t bytes) {
  if (blas->pointer_mode == POINTER_MODE_HOST) {
    memset(result, 0, bytes);
    return CUBLAS_STATUS_SUCCESS;
  }
  return blas->cuda->cudaMemsetAsync(result, 0, bytes, blas->stream) == 0 ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

typedef struct Reduction { // a kernel for the partial results, one for the last
  const char *letter, *first, *last;
} Reduction;

static BlasStatus reduce(const Blas *blas, Reduction names, BlasVector *v) {
  CudaGrid blocks = blocks_of(v->n, BLAS_BLOCKS);
  v->partials = blas->room + ROOM_PARTIALS;
  v->blocks = blocks.x;
  BlasStatus status = blas_launch(blas, names.letter, names.first, blocks, THREADS, v);
  return status == CUBLAS_STATUS_SUCCESS ? blas_launch(blas, names.letter, names.last, ONE_BLOCK, LAST_THREADS, v) : status;
}

BlasStatus blas_dot(const Blas *blas, int kind, int64_t n, BlasOperand x, BlasOperand y, void *result) {
  size_t bytes = (size_t)bytes_of(kind);
  if (!blas_is(blas)) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (result == NULL) return CUBLAS_STATUS_INVALID_VALUE;
  if (n <= 0) return put_zero(blas, result, bytes);
  if (x.at == NULL || y.at == NULL) return CUBLAS_STATUS_INVALID_VALUE;
  BlasVector v = vectors(n, kind, x, y);
  v.result = place_of(blas, result);
  return bring(blas, reduce(blas, (Reduction){letters[kind], "dot", "sum"}, &v), result, bytes);
}

BlasStatus blas_asum(const Blas *blas, int kind, int64_t n, BlasOperand x, void *result) {
  size_t bytes = (size_t)bytes_of(kind);
  if (!blas_is(blas)) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (result == NULL) return CUBLAS_STATUS_INVALID_VALUE;
  if (n <= 0 || x.stride <= 0) return put_zero(blas, result, bytes);
  if (x.at == NULL) return CUBLAS_STATUS_INVALID_VALUE;
  BlasVector v = vectors(n, kind, x, x);
  v.result = place_of(blas, result);
  return bring(blas, reduce(blas, (Reduction){letters[kind], "asum", "sum"}, &v), result, bytes);
}

BlasStatus blas_nrm2(const Blas *blas, int kind, int64_t n, BlasOperand x, void *result) {
  size_t bytes = (size_t)bytes_of(kind);
  if (!blas_is(blas)) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (result == NULL) return CUBLAS_STATUS_INVALID_VALUE;
  if (n <= 0 || x.stride <= 0) return put_zero(blas, result, bytes);
  if (x.at == NULL) return CUBLAS_STATUS_INVALID_VALUE;
  BlasVector v = vectors(n, kind, x, x);
  v.largest = blas->room + ROOM_LARGEST;
  v.result = place_of(blas, result);
  BlasStatus status = CUBLAS_STATUS_SUCCESS;
  if (kind == BLAS_F64) status = reduce(blas, (Reduction){"d", "nrm2_largest", "nrm2_scale"}, &v);
  if (status == CUBLAS_STATUS_SUCCESS) status = reduce(blas, (Reduction){letters[kind], "nrm2", "nrm2_root"}, &v);
  return bring(blas, status, result, bytes);
}

BlasStatus blas_amax(const Blas *blas, int kind, int64_t n, BlasOperand x, void *result, BlasChoice choice) {
  size_t bytes = choice.wide ? sizeof(int64_t) : sizeof(int);
  if (!blas_is(blas)) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (result == NULL) return CUBLAS_STATUS_INVALID_VALUE;
  if (n <= 0 || x.stride <= 0) return put_zero(blas, result, bytes);
  if (x.at == NULL) return CUBLAS_STATUS_INVALID_VALUE;
  BlasVector v = vectors(n, kind, x, x);
  v.result = place_of(blas, result);
  v.wide = choice.wide;
  v.least = choice.least;
  return bring(blas, reduce(blas, (Reduction){kind == BLAS_F32 ? "is" : "id", "amax", "amax_last"}, &v), result, bytes);
}
