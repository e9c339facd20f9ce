// cuBLASLt: build systems link it beside cuBLAS. Programs that do so load, and a call of it is named.
#include "libraries/cuda.h"

enum { CUBLAS_STATUS_NOT_SUPPORTED = 15 };
#define ABSENT(name) LIBRARY_ABSENT(name, CUBLAS_STATUS_NOT_SUPPORTED, "CUBLAS_STATUS_NOT_SUPPORTED")
#include "libraries/blaslt/absent.def"
