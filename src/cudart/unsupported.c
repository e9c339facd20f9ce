// The rest of the interface: exported, so that programs load, and refused when called.
#include "cudart/runtime.h"

static CudaError refuse(const char *name, bool *said) {
  Runtime *runtime = runtime_enter();
  if (!*said) runtime_say("%s is not supported: it returns cudaErrorNotSupported", name);
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
#undef UNSUPPORTED

// Hooks of NVIDIA's own libraries and of host compilers newer than any that we know: nothing to do.
EXPORT void __cudaRegisterHostVar(void);
void __cudaRegisterHostVar(void) {}
EXPORT void __cudaRegisterUnifiedTable(void);
void __cudaRegisterUnifiedTable(void) {}
EXPORT void *__cudaGetProcAddress(void);
void *__cudaGetProcAddress(void) { return NULL; }
