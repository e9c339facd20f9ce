// Errors: names, texts, the calling thread's last one.
#include "cudart/runtime.h"

typedef struct ErrorText {
  CudaError code;
  const char *name, *text;
} ErrorText;

static const ErrorText errors[] = {
#define CUDA_ERROR(code, name, text) {name, #name, text},
#include "cudart/error.def"
#undef CUDA_ERROR
};

static const ErrorText *find(CudaError code) {
  for (size_t i = 0; i < COUNT_OF(errors); i++) {
    if (errors[i].code == code) return &errors[i];
  }
  return NULL;
}

EXPORT const char *cudaGetErrorName(CudaError error);
const char *cudaGetErrorName(CudaError error) {
  const ErrorText *found = find(error);
  return found == NULL ? "unrecognized error code" : found->name;
}

EXPORT const char *cudaGetErrorString(CudaError error);
const char *cudaGetErrorString(CudaError error) {
  const ErrorText *found = find(error);
  return found == NULL ? "unrecognized error code" : found->text;
}

CUDART(cudaGetLastError, void) { return runtime_last_error(true); }
CUDART(cudaPeekAtLastError, void) { return runtime_last_error(false); }
