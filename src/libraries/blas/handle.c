// The handle of cuBLAS, and copies between host and device.
#include "libraries/blas/blas.h"

#include <stdio.h>
#include <stdlib.h>

extern const char blas_ptx[];
static Kernels kernels = {.file = "libcublas:kernels.ptx", .text = blas_ptx};

static Handles handles;

bool blas_is(const Blas *blas) { return handles_have(&handles, blas); }

BlasScalar blas_scalar(const Blas *blas, int kind, const void *pointer) {
  BlasScalar scalar = {.kind = kind};
  if (blas->pointer_mode == POINTER_MODE_DEVICE) scalar.at = pointer;
  else memcpy(&scalar.bits, pointer, (size_t)bytes_of(kind));
  return scalar;
}

bool blas_is_zero(const BlasScalar *scalar) {
  uint64_t sign = UINT64_C(1) << (8 * bytes_of((int)scalar->kind) - 1);
  return scalar->at == NULL && (scalar->bits & ~sign) == 0;
}

BlasStatus blas_launch(const Blas *blas, const char *letter, const char *name, CudaGrid grid, CudaGrid block, void *argument) {
  char kernel[64];
  snprintf(kernel, sizeof kernel, "cublas_%s%s", letter, name);
  bool good = kernels_launch(&kernels, blas->cuda, kernel, grid, block, argument, blas->stream);
  return good ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

// ---- Making and setting ----------------------------------------------------------------------------

API(cublasCreate_v2, Blas **handle) {
  if (handle == NULL) return CUBLAS_STATUS_INVALID_VALUE;
  *handle = NULL;
  const Cuda *cuda = cuda_of_process(CUBLAS_GENERATION);
  if (cuda == NULL) return CUBLAS_STATUS_NOT_INITIALIZED;
  Blas *blas = calloc(1, sizeof *blas);
  void *room = NULL;
  if (blas == NULL || cuda->cudaMalloc(&room, ROOM_BYTES) != 0) {
    free(blas);
    return CUBLAS_STATUS_ALLOC_FAILED;
  }
  if (!handles_add(&handles, blas)) {
    cuda->cudaFree(room);
    free(blas);
    return CUBLAS_STATUS_ALLOC_FAILED;
  }
  *blas = (Blas){.cuda = cuda, .room = room};
  *handle = blas;
  return CUBLAS_STATUS_SUCCESS;
}

API(cublasDestroy_v2, Blas *blas) {
  if (!blas_is(blas)) return CUBLAS_STATUS_NOT_INITIALIZED;
  blas->cuda->cudaFree(blas->room);
  handles_remove(&handles, blas);
  free(blas);
  return CUBLAS_STATUS_SUCCESS;
}

API(cublasSetStream_v2, Blas *blas, void *stream) {
  if (!blas_is(blas)) return CUBLAS_STATUS_NOT_INITIALIZED;
  blas->stream = stream;
  return CUBLAS_STATUS_SUCCESS;
}

API(cublasGetStream_v2, Blas *blas, void **stream) {
  if (!blas_is(blas)) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (stream == NULL) return CUBLAS_STATUS_INVALID_VALUE;
  *stream = blas->stream;
  return CUBLAS_STATUS_SUCCESS;
}

// Kernels need none: it is checked and not used.
API(cublasSetWorkspace_v2, Blas *blas, void *workspace, size_t bytes) {
  enum { ALIGNMENT = 256 };
  if (!blas_is(blas)) return CUBLAS_STATUS_NOT_INITIALIZED;
  bool good = (workspace != NULL || bytes == 0) && (uintptr_t)workspace % ALIGNMENT == 0;
  return good ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

// A mode that is a number of the handle: one function sets it, one gets it.
#define MODE(set_name, get_name, field, least, most)                           \
  API(set_name, Blas *blas, int value) {                                       \
    if (!blas_is(blas)) return CUBLAS_STATUS_NOT_INITIALIZED;                  \
    if (value < (least) || value > (most)) return CUBLAS_STATUS_INVALID_VALUE; \
    blas->field = value;                                                       \
    return CUBLAS_STATUS_SUCCESS;                                              \
  }                                                                            \
  API(get_name, Blas *blas, int *value) {                                      \
    if (!blas_is(blas)) return CUBLAS_STATUS_NOT_INITIALIZED;                  \
    if (value == NULL) return CUBLAS_STATUS_INVALID_VALUE;                     \
    *value = blas->field;                                                      \
    return CUBLAS_STATUS_SUCCESS;                                              \
  }
MODE(cublasSetPointerMode_v2, cublasGetPointerMode_v2, pointer_mode, POINTER_MODE_HOST, POINTER_MODE_DEVICE)
MODE(cublasSetAtomicsMode, cublasGetAtomicsMode, atomics_mode, 0, 1)
MODE(cublasSetMathMode, cublasGetMathMode, math_mode, 0, 31) // remembered; results do not depend on it
MODE(cublasSetSmCountTarget, cublasGetSmCountTarget, sm_target, 0, INT32_MAX)

// ---- About the library -----------------------------------------------------------------------------

enum { PROPERTY_MAJOR, PROPERTY_MINOR, PROPERTY_PATCH };

API(cublasGetProperty, int property, int *value) {
  if (value == NULL || property < PROPERTY_MAJOR || property > PROPERTY_PATCH) return CUBLAS_STATUS_INVALID_VALUE;
  *value = property == PROPERTY_MAJOR ? CUBLAS_GENERATION : 0;
  return CUBLAS_STATUS_SUCCESS;
}

API(cublasGetVersion_v2, Blas *blas, int *version) {
  enum { MAJOR = 10000 };
  (void)blas; // need not be one
  if (version == NULL) return CUBLAS_STATUS_INVALID_VALUE;
  *version = CUBLAS_GENERATION * MAJOR;
  return CUBLAS_STATUS_SUCCESS;
}

LIBRARY_EXPORT size_t cublasGetCudartVersion(void);
size_t cublasGetCudartVersion(void) {
  int version = 0;
  const Cuda *cuda = cuda_of_process(CUBLAS_GENERATION);
  return cuda != NULL && cuda->cudaRuntimeGetVersion(&version) == 0 ? (size_t)version : 0;
}

typedef struct StatusText {
  BlasStatus status;
  const char *name, *text;
} StatusText;
static const StatusText statuses[] = {
#define STATUS(name, number, text) {number, "CUBLAS_STATUS_" #name, text},
#include "libraries/blas/status.def"
#undef STATUS
};

static const StatusText *status_text(BlasStatus status) {
  static const StatusText unknown = {0, "CUBLAS_STATUS_UNKNOWN", "no status of cuBLAS"};
  for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++) {
    if (statuses[i].status == status) return &statuses[i];
  }
  return &unknown;
}

LIBRARY_EXPORT const char *cublasGetStatusName(BlasStatus status);
const char *cublasGetStatusName(BlasStatus status) { return status_text(status)->name; }
LIBRARY_EXPORT const char *cublasGetStatusString(BlasStatus status);
const char *cublasGetStatusString(BlasStatus status) { return status_text(status)->text; }

// Nothing is logged.
API(cublasLoggerConfigure, int on, int to_output, int to_error, const char *file) {
  (void)on, (void)to_output, (void)to_error, (void)file;
  return CUBLAS_STATUS_SUCCESS;
}
static void *logger;
API(cublasSetLoggerCallback, void *callback) {
  logger = callback;
  return CUBLAS_STATUS_SUCCESS;
}
API(cublasGetLoggerCallback, void **callback) {
  if (callback == NULL) return CUBLAS_STATUS_INVALID_VALUE;
  *callback = logger;
  return CUBLAS_STATUS_SUCCESS;
}

// ---- Copies ----------------------------------------------------------------------------------------

typedef struct Side {
  const void *at;
  int64_t pitch; // in elements
} Side;

// `columns` pieces of `rows` elements that lie beside each other.
static BlasStatus copy(int64_t rows, int64_t columns, int64_t size, Side from, Side to, void *stream, bool waits) {
  if (rows < 0 || columns < 0 || size <= 0 || from.pitch < at_least(1, rows) || to.pitch < at_least(1, rows))
    return CUBLAS_STATUS_INVALID_VALUE;
  if (rows == 0 || columns == 0) return CUBLAS_STATUS_SUCCESS;
  const Cuda *cuda = cuda_of_process(CUBLAS_GENERATION);
  if (cuda == NULL) return CUBLAS_STATUS_NOT_INITIALIZED;
  bool whole = from.pitch == rows && to.pitch == rows; // without gaps
  int error = whole ? cuda->cudaMemcpyAsync((void *)(uintptr_t)to.at, from.at, (size_t)(rows * columns * size), CUDA_COPY_DEFAULT, stream)
                    : cuda->cudaMemcpy2DAsync((void *)(uintptr_t)to.at, (size_t)(to.pitch * size), from.at, (size_t)(from.pitch * size),
                                              (size_t)(rows * size), (size_t)columns, CUDA_COPY_DEFAULT, stream);
  if (error == 0 && waits) error = cuda->cudaStreamSynchronize(stream);
  return error == 0 ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_MAPPING_ERROR;
}

#define INDEX int
#define WIDE(name) name
#include "libraries/blas/copies.inc"
#undef INDEX
#undef WIDE
#define INDEX int64_t
#define WIDE(name) name##_64
#include "libraries/blas/copies.inc"
