// The rest of the interface: exported, so that programs load, and refused when called.
#include "cudart/runtime.h"

static CudaError refuse(const char *name, bool *said) {
  Runtime *runtime = runtime_enter();
  if (!*said)
    runtime_say("%s is not supported: it returns %s", name,
                strncmp(name, "cuda", 4) == 0 ? "cudaErrorNotSupported" : "CUDA_ERROR_NOT_SUPPORTED");
  *said = true;
  return runtime_leave(runtime, cudaErrorNotSupported);
}

// Arguments are not looked at, so the prototypes need none.
#define UNSUPPORTED(name)        \
  CUDART(name, void) {           \
    static bool said;            \
    return refuse(#name, &said); \
  }
#include "cudart/unsupported.def"
#include "cudart/driver_unsupported.def"
#undef UNSUPPORTED

// The same for functions of a static runtime that this library has not even heard of (static/audit.c).
static CudaError refuse_unknown(const char *name) {
  enum { MOST_SAID = 256 };
  static const char *said[MOST_SAID];
  bool known = false;
  uint32_t count = 0;
  Runtime *runtime = runtime_enter();
  for (; count < MOST_SAID && said[count] != NULL && !known; count++) known = said[count] == name;
  if (!known && count < MOST_SAID) said[count] = name;
  refuse(name, &known);
  return runtime_leave(runtime, cudaErrorNotSupported);
}

// Called when this library takes the place of a static runtime: whoever carries that is simulated.
EXPORT CudaError (*__cudaReplacesStatic(void))(const char *name);
CudaError (*__cudaReplacesStatic(void))(const char *name) {
  runtime_greet();
  return refuse_unknown;
}

// Hooks of NVIDIA's own libraries and of host compilers newer than any that we know: nothing to do.
EXPORT void __cudaRegisterHostVar(void);
void __cudaRegisterHostVar(void) {}
EXPORT void __cudaRegisterUnifiedTable(void);
void __cudaRegisterUnifiedTable(void) {}
EXPORT void *__cudaGetProcAddress(void);
void *__cudaGetProcAddress(void) { return NULL; }
