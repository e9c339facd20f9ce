// The interface of cuBLAS, function by function: the templates (real.inc, gemm.inc, any.inc) for each type, with indices of 32 and of
// 64 bits.
#include "libraries/blas/blas.h"

#define NAMED(name, suffix) NAMED_AGAIN(name, suffix)
#define NAMED_AGAIN(name, suffix) name##suffix

typedef struct AnyTypes { // numbers of cudaDataType_t and cublasComputeType_t
  int a, b, c, compute;
} AnyTypes;
enum { COMPUTE_32F = 68 };

static BlasStatus any_gemm(const char *function, const Blas *blas, AnyTypes any, const BlasProduct *product) {
  BlasTypes types;
  if (!blas_is(blas)) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (!blas_types(function, any.compute, any.a, any.b, any.c, &types)) return CUBLAS_STATUS_NOT_SUPPORTED;
  return blas_gemm(blas, types, product);
}

#define INDEX int
#define SUFFIX
#include "libraries/blas/api.inc"
#undef INDEX
#undef SUFFIX
#define INDEX int64_t
#define SUFFIX _64
#include "libraries/blas/api.inc"
