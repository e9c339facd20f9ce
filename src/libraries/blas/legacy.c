// The first version of cuBLAS's interface, which older suites use: one handle for the process, characters for choices, results as values of
// functions, errors kept until cublasGetError asks.
#include "libraries/blas/blas.h"

#include <ctype.h>

BlasStatus cublasCreate_v2(Blas **handle);
BlasStatus cublasDestroy_v2(Blas *handle);

static Blas *handle; // NULL: cublasInit was not called
static BlasStatus kept;

static void note(BlasStatus status) {
  if (status != CUBLAS_STATUS_SUCCESS) kept = status;
}

// Its place among the letters, of any case; -1: none of them, which the functions refuse.
static int number_of(char letter, const char *letters) {
  const char *found = letter == '\0' ? NULL : strchr(letters, toupper((unsigned char)letter));
  return found == NULL ? -1 : (int)(found - letters);
}
static int operation_of(char letter) { return number_of(letter, "NTC"); }

API(cublasInit, void) { return handle != NULL ? CUBLAS_STATUS_SUCCESS : cublasCreate_v2(&handle); }

API(cublasShutdown, void) {
  if (handle == NULL) return CUBLAS_STATUS_NOT_INITIALIZED;
  BlasStatus status = cublasDestroy_v2(handle);
  handle = NULL;
  return status;
}

API(cublasGetError, void) {
  BlasStatus status = kept;
  kept = CUBLAS_STATUS_SUCCESS;
  return status;
}

API(cublasSetKernelStream, void *stream) {
  if (handle == NULL) return CUBLAS_STATUS_NOT_INITIALIZED;
  handle->stream = stream;
  return CUBLAS_STATUS_SUCCESS;
}

API(cublasAlloc, int n, int size, void **pointer) {
  if (handle == NULL) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (n <= 0 || size <= 0 || pointer == NULL) return CUBLAS_STATUS_INVALID_VALUE;
  return handle->cuda->cudaMalloc(pointer, (size_t)n * (size_t)size) == 0 ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_ALLOC_FAILED;
}

API(cublasFree, void *pointer) {
  if (handle == NULL) return CUBLAS_STATUS_NOT_INITIALIZED;
  return handle->cuda->cudaFree(pointer) == 0 ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INTERNAL_ERROR;
}

// A function that returns a value instead of a status.
#define VALUE(type, name, ...)           \
  LIBRARY_EXPORT type name(__VA_ARGS__); \
  type name(__VA_ARGS__)

#define REAL float
#define KIND BLAS_F32
#define F(name) cublasS##name
#define I(name) cublasIs##name
#include "libraries/blas/legacy.inc"
#undef REAL
#undef KIND
#undef F
#undef I
#define REAL double
#define KIND BLAS_F64
#define F(name) cublasD##name
#define I(name) cublasId##name
#include "libraries/blas/legacy.inc"
