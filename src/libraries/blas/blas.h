// What the files of cuBLAS share: the types of its interface, the handle, and how kernels are launched.
// Numbers of enumerations and prototypes are those of the interface of cuBLAS.
#ifndef REDOUBT_LIBRARIES_BLAS_H
#define REDOUBT_LIBRARIES_BLAS_H

#include "libraries/blas/arguments.h"
#include "libraries/cuda.h"

#include <string.h>

typedef enum BlasStatus {
#define STATUS(name, number, text) CUBLAS_STATUS_##name = number,
#include "libraries/blas/status.def"
#undef STATUS
} BlasStatus;

typedef enum BlasOperation { BLAS_N, BLAS_T, BLAS_C } BlasOperation;
enum { POINTER_MODE_HOST, POINTER_MODE_DEVICE };
enum { TYPE_R_32F = 0, TYPE_R_64F = 1, TYPE_R_16F = 2, TYPE_R_16BF = 14 }; // of cudaDataType

typedef struct Blas { // cublasHandle_t
  const Cuda *cuda;
  void *stream;
  uint8_t *room; // in device memory: partial sums, then one result, then the largest element
  int pointer_mode, atomics_mode, math_mode, sm_target;
} Blas;
enum { ROOM_PARTIALS = 0, ROOM_RESULT = BLAS_BLOCKS * 16, ROOM_LARGEST = ROOM_RESULT + 16, ROOM_BYTES = ROOM_LARGEST + 16 };

#define API(name, ...)                         \
  LIBRARY_EXPORT BlasStatus name(__VA_ARGS__); \
  BlasStatus name(__VA_ARGS__)

bool blas_is(const Blas *blas); // a handle that lives

static inline int64_t bytes_of(int kind) { return kind == BLAS_F64 ? 8 : kind == BLAS_F32 ? 4 : 2; }
static inline int64_t at_least(int64_t a, int64_t b) { return a > b ? a : b; }
static inline int64_t at_most(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t in_parts(int64_t n, int64_t part) { return (n + part - 1) / part; }

static inline bool blas_is_operation(int operation) { return operation == BLAS_N || operation == BLAS_T || operation == BLAS_C; }

// The index of the element where a vector of a stride below 0 begins.
static inline int64_t first_index(int64_t n, int64_t stride) { return stride < 0 ? (1 - n) * stride : 0; }

// alpha or beta, as the pointer mode says; the pointer is not NULL.
BlasScalar blas_scalar(const Blas *blas, int kind, const void *pointer);
// Known to be 0: what it multiplies is not read and may be missing. Of one in device memory nothing is known yet.
bool blas_is_zero(const BlasScalar *scalar);
// A vector or matrix is missing that a number, which is not 0, multiplies.
static inline bool blas_misses(const BlasScalar *scalar, const void *at) {
  return at == NULL && scalar->at == NULL && !blas_is_zero(scalar);
}

// "cublas_", the letter of the kind, the name.
BlasStatus blas_launch(const Blas *blas, const char *letter, const char *name, CudaGrid grid, CudaGrid block, void *argument);

// ---- Functions by the type of their elements (vectors.c, products.c); strides and sizes are 64 bits wide ----------------------
typedef struct BlasOperand { // a vector or matrix of the program's
  const void *at;
  int64_t stride; // or leading dimension
} BlasOperand;

BlasStatus blas_move(const Blas *blas, const char *name, int kind, int64_t n, BlasOperand x, BlasOperand y); // copy, swap
BlasStatus blas_axpy(const Blas *blas, int kind, int64_t n, const void *alpha, BlasOperand x, BlasOperand y);
BlasStatus blas_scal(const Blas *blas, int kind, int64_t n, const void *alpha, BlasOperand x);
BlasStatus blas_dot(const Blas *blas, int kind, int64_t n, BlasOperand x, BlasOperand y, void *result);
BlasStatus blas_asum(const Blas *blas, int kind, int64_t n, BlasOperand x, void *result);
BlasStatus blas_nrm2(const Blas *blas, int kind, int64_t n, BlasOperand x, void *result);
typedef struct BlasChoice { // amax or amin
  bool wide, least;
} BlasChoice;
BlasStatus blas_amax(const Blas *blas, int kind, int64_t n, BlasOperand x, void *result, BlasChoice choice);

typedef struct BlasTypes { // of a product
  int in, out, scale;
} BlasTypes;
typedef struct BlasProduct { // c = alpha * op(a) * op(b) + beta * c; of gemv, b and c are vectors
  int a_operation, b_operation;
  int64_t m, n, k;
  BlasOperand a, b, c;
  const void *alpha, *beta;
  int64_t a_step, b_step, c_step, batch;
  bool arrays;
  int triangle; // of c: BLAS_ALL, ...
} BlasProduct;
BlasStatus blas_gemm(const Blas *blas, BlasTypes types, const BlasProduct *product);
BlasStatus blas_gemv(const Blas *blas, int kind, const BlasProduct *product);           // op(a) * b; k is not looked at
BlasStatus blas_syrk(const Blas *blas, int kind, int fill, const BlasProduct *product); // op(a) * op(a)^T; m and b are not looked at
BlasStatus blas_geam(const Blas *blas, int kind, const BlasProduct *product);           // alpha * op(a) + beta * op(b)
BlasStatus blas_ger(const Blas *blas, int kind, const BlasProduct *product);            // c + alpha * a * b^T, of vectors
typedef struct BlasTriangle { // cublasSideMode_t, cublasFillMode_t, cublasOperation_t, cublasDiagType_t
  int side, fill, operation, diagonal;
} BlasTriangle;
BlasStatus blas_trsm(const Blas *blas, int kind, BlasTriangle triangle, const BlasProduct *product); // b becomes the result
// Which kernel has these types of NVIDIA's; false, after a line that names the function: none.
bool blas_types(const char *function, int compute, int a, int b, int c, BlasTypes *types);

#endif
