// cuBLAS as NVIDIA documents it, as far as the tests call it: they need no CUDA toolkit.
#ifndef REDOUBT_TEST_BLAS_H
#define REDOUBT_TEST_BLAS_H

#include <stddef.h>
#include <stdint.h>

typedef struct Handle Handle;
typedef uint16_t Half;
enum { SUCCESS = 0, NOT_INITIALIZED = 1, INVALID_VALUE = 7, NOT_SUPPORTED = 15 };
enum { N, T, C };
enum { HOST, DEVICE };
enum { R_32F = 0, R_64F = 1, R_16F = 2, R_8I = 3, R_16BF = 14 };
enum { COMPUTE_16F = 64, COMPUTE_32F = 68, COMPUTE_64F = 70, COMPUTE_32I = 72, COMPUTE_TF32 = 77 };

int cudaMalloc(void **pointer, size_t bytes);
int cudaFree(void *pointer);
int cudaMemcpy(void *to, const void *from, size_t bytes, int kind);
int cudaStreamCreate(void **stream);
int cudaDeviceSynchronize(void);

int cublasCreate_v2(Handle **handle);
int cublasDestroy_v2(Handle *handle);
int cublasSetStream_v2(Handle *handle, void *stream);
int cublasGetStream_v2(Handle *handle, void **stream);
int cublasSetPointerMode_v2(Handle *handle, int mode);
int cublasGetPointerMode_v2(Handle *handle, int *mode);
int cublasSetMathMode(Handle *handle, int mode);
int cublasGetMathMode(Handle *handle, int *mode);
int cublasSetWorkspace_v2(Handle *handle, void *workspace, size_t bytes);
int cublasGetVersion_v2(Handle *handle, int *version);
int cublasGetProperty(int property, int *value);
const char *cublasGetStatusName(int status);
const char *cublasGetStatusString(int status);
int cublasSetVector(int n, int size, const void *x, int x_stride, void *y, int y_stride);
int cublasGetVector(int n, int size, const void *x, int x_stride, void *y, int y_stride);
int cublasSetMatrix(int rows, int columns, int size, const void *a, int a_leading, void *b, int b_leading);
int cublasGetMatrix(int rows, int columns, int size, const void *a, int a_leading, void *b, int b_leading);

#define REAL_FUNCTIONS(S, s, REAL)                                                                                                     \
  int cublas##S##gemm_v2(Handle *, int, int, int, int, int, const REAL *, const REAL *, int, const REAL *, int, const REAL *, REAL *,  \
                         int);                                                                                                         \
  int cublas##S##gemm_v2_64(Handle *, int, int, int64_t, int64_t, int64_t, const REAL *, const REAL *, int64_t, const REAL *, int64_t, \
                            const REAL *, REAL *, int64_t);                                                                            \
  int cublas##S##gemmBatched(Handle *, int, int, int, int, int, const REAL *, const REAL *const *, int, const REAL *const *, int,      \
                             const REAL *, REAL *const *, int, int);                                                                   \
  int cublas##S##gemmStridedBatched(Handle *, int, int, int, int, int, const REAL *, const REAL *, int, long long, const REAL *, int,  \
                                    long long, const REAL *, REAL *, int, long long, int);                                             \
  int cublas##S##gemv_v2(Handle *, int, int, int, const REAL *, const REAL *, int, const REAL *, int, const REAL *, REAL *, int);      \
  int cublas##S##gemvBatched(Handle *, int, int, int, const REAL *, const REAL *const *, int, const REAL *const *, int, const REAL *,  \
                             REAL *const *, int, int);                                                                                 \
  int cublas##S##gemvStridedBatched(Handle *, int, int, int, const REAL *, const REAL *, int, long long, const REAL *, int, long long, \
                                    const REAL *, REAL *, int, long long, int);                                                        \
  int cublas##S##ger_v2(Handle *, int, int, const REAL *, const REAL *, int, const REAL *, int, REAL *, int);                          \
  int cublas##S##geam(Handle *, int, int, int, int, const REAL *, const REAL *, int, const REAL *, const REAL *, int, REAL *, int);    \
  int cublas##S##syrk_v2(Handle *, int, int, int, int, const REAL *, const REAL *, int, const REAL *, REAL *, int);                    \
  int cublas##S##trsm_v2(Handle *, int, int, int, int, int, int, const REAL *, const REAL *, int, REAL *, int);                        \
  int cublas##S##axpy_v2(Handle *, int, const REAL *, const REAL *, int, REAL *, int);                                                 \
  int cublas##S##scal_v2(Handle *, int, const REAL *, REAL *, int);                                                                    \
  int cublas##S##copy_v2(Handle *, int, const REAL *, int, REAL *, int);                                                               \
  int cublas##S##swap_v2(Handle *, int, REAL *, int, REAL *, int);                                                                     \
  int cublas##S##dot_v2(Handle *, int, const REAL *, int, const REAL *, int, REAL *);                                                  \
  int cublas##S##asum_v2(Handle *, int, const REAL *, int, REAL *);                                                                    \
  int cublas##S##nrm2_v2(Handle *, int, const REAL *, int, REAL *);                                                                    \
  int cublasI##s##amax_v2(Handle *, int, const REAL *, int, int *);                                                                    \
  int cublasI##s##amin_v2(Handle *, int, const REAL *, int, int *);                                                                    \
  int cublasI##s##amax_v2_64(Handle *, int64_t, const REAL *, int64_t, int64_t *);
REAL_FUNCTIONS(S, s, float)
REAL_FUNCTIONS(D, d, double)

int cublasHgemm(Handle *, int, int, int, int, int, const Half *, const Half *, int, const Half *, int, const Half *, Half *, int);
int cublasGemmEx(Handle *, int, int, int, int, int, const void *, const void *, int, int, const void *, int, int, const void *, void *, int,
                 int, int, int);
int cublasSsymm_v2(Handle *);

// The first version.
int cublasInit(void);
int cublasShutdown(void);
int cublasGetError(void);
int cublasAlloc(int n, int size, void **pointer);
int cublasFree(void *pointer);
int cublasSetKernelStream(void *stream);
float cublasSdot(int, const float *, int, const float *, int);
double cublasDnrm2(int, const double *, int);
double cublasDasum(int, const double *, int);
int cublasIsamax(int, const float *, int);
int cublasIdamin(int, const double *, int);
void cublasSaxpy(int, float, const float *, int, float *, int);
void cublasDscal(int, double, double *, int);
void cublasScopy(int, const float *, int, float *, int);
void cublasDswap(int, double *, int, double *, int);
void cublasSger(int, int, float, const float *, int, const float *, int, float *, int);
void cublasSgemv(char, int, int, float, const float *, int, const float *, int, float, float *, int);
void cublasSgemm(char, char, int, int, int, float, const float *, int, const float *, int, float, float *, int);
void cublasDsyrk(char, char, int, int, double, const double *, int, double, double *, int);
void cublasStrsm(char, char, char, char, int, int, float, const float *, int, float *, int);

#endif
