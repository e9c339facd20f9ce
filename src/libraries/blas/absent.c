// The rest of the interface: exported, so that programs load, and named when called.
#include "libraries/blas/blas.h"

#define ABSENT(name) LIBRARY_ABSENT(name, CUBLAS_STATUS_NOT_SUPPORTED, "CUBLAS_STATUS_NOT_SUPPORTED")
#include "libraries/blas/absent.def"
