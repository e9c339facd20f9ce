// What nvcc's start-up code registers: fat binaries, kernels, variables. A fat binary is decompressed and
// compiled (binary.c) when one of its kernels or variables is first needed, so that programs start at once.
//
// Names are unique within a fat binary only, so kernels and variables are keyed by their host address.
#include "cudart/runtime.h"

EXPORT void **__cudaRegisterFatBinary(void *wrapper);
EXPORT void __cudaRegisterFatBinaryEnd(void **handle);
EXPORT void __cudaUnregisterFatBinary(void **handle);
EXPORT void __cudaRegisterFunction(void **handle, const char *host, char *device_function, const char *name, int thread_limit, void *tid,
                                   void *bid, void *block, void *grid, int *warp_size);
EXPORT void __cudaRegisterVar(void **handle, char *host, char *device_address, const char *name, int external, size_t bytes, int constant,
                              int global);
EXPORT void __cudaRegisterManagedVar(void **handle, void **host, char *device_address, const char *name, int external, size_t bytes,
                                     int constant, int global);
EXPORT char __cudaInitModule(void **handle);

void **__cudaRegisterFatBinary(void *wrapper) {
  Runtime *runtime = runtime_enter();
  Binary *binary = ARENA_NEW(runtime->arena, Binary);
  binary->wrapper = wrapper;
  binary->registered = true;
  handle_add(runtime, HANDLE_REGISTERED, binary);
  runtime_leave_quietly(runtime);
  return (void **)binary;
}

void __cudaRegisterFatBinaryEnd(void **handle) { (void)handle; }

// Called while the process ends: its memory goes with it, and destructors may still use the device.
void __cudaUnregisterFatBinary(void **handle) { (void)handle; }

void __cudaRegisterFunction(void **handle, const char *host, char *device_function, const char *name, int thread_limit, void *tid,
                            void *bid, void *block, void *grid, int *warp_size) {
  (void)device_function, (void)thread_limit, (void)tid, (void)bid, (void)block, (void)grid, (void)warp_size;
  Runtime *runtime = runtime_enter();
  if (host != NULL && name != NULL && handle_is(runtime, handle, HANDLE_REGISTERED)) {
    Kernel *kernel = ARENA_NEW(runtime->arena, Kernel);
    *kernel = (Kernel){.host = host, .name = name, .binary = (Binary *)handle, .max_dynamic_shared = -1, .carveout = -1};
    pointer_map_put(&runtime->kernels, host, kernel);
  }
  runtime_leave_quietly(runtime);
}

static void register_variable(void **handle, const void *host, const char *name, void **managed) {
  Runtime *runtime = runtime_enter();
  if (host != NULL && name != NULL && handle_is(runtime, handle, HANDLE_REGISTERED)) {
    Binary *binary = (Binary *)handle;
    Variable *variable = ARENA_NEW(runtime->arena, Variable);
    *variable = (Variable){.host = host, .name = name, .managed = managed, .binary = binary, .next = binary->variables};
    binary->variables = variable;
    pointer_map_put(&runtime->variables, host, variable);
  }
  runtime_leave_quietly(runtime);
}

void __cudaRegisterVar(void **handle, char *host, char *device_address, const char *name, int external, size_t bytes, int constant,
                       int global) {
  (void)device_address, (void)external, (void)bytes, (void)constant, (void)global;
  register_variable(handle, host, name, NULL);
}

void __cudaRegisterManagedVar(void **handle, void **host, char *device_address, const char *name, int external, size_t bytes, int constant,
                              int global) {
  (void)device_address, (void)external, (void)bytes, (void)constant, (void)global;
  register_variable(handle, host, name, host);
}

// Called before the host touches a managed variable: its pointer must be there by now.
char __cudaInitModule(void **handle) {
  Runtime *runtime = runtime_enter();
  bool known = handle_is(runtime, handle, HANDLE_REGISTERED);
  CudaError error = known ? binary_load(runtime, (Binary *)handle) : cudaErrorInvalidResourceHandle;
  runtime_leave(runtime, error);
  return error == cudaSuccess;
}

// ---- Look-up ------------------------------------------------------------------------------------------

Kernel *kernel_find(Runtime *runtime, const void *host) { return pointer_map_get(&runtime->kernels, host); }

CudaError kernel_load(Runtime *runtime, const void *host, Kernel **kernel) {
  *kernel = kernel_find(runtime, host);
  if (*kernel == NULL) return cudaErrorInvalidDeviceFunction;
  if ((*kernel)->function != NULL) return cudaSuccess;
  CudaError error = binary_load(runtime, (*kernel)->binary);
  if (error != cudaSuccess) return error;
  (*kernel)->function = program_function(module_program((*kernel)->binary->module), (*kernel)->name);
  return (*kernel)->function == NULL ? cudaErrorInvalidDeviceFunction : cudaSuccess;
}

CudaError variable_find(Runtime *runtime, const void *host, uint64_t *address, uint64_t *bytes) {
  Variable *variable = pointer_map_get(&runtime->variables, host);
  if (variable == NULL) return cudaErrorInvalidSymbol;
  CudaError error = binary_load(runtime, variable->binary);
  if (error != cudaSuccess) return error;
  return module_symbol(variable->binary->module, variable->name, address, bytes) ? cudaSuccess : cudaErrorInvalidSymbol;
}

// ---- For campaigns --------------------------------------------------------------------------------------

void variable_each_managed(const Runtime *runtime, AppHostRange each, void *context) {
  const PointerMap *map = &runtime->variables;
  for (uint32_t i = 0; i < map->capacity; i++) {
    const Variable *variable = map->keys[i] == NULL ? NULL : map->values[i];
    uint64_t address, bytes;
    bool there = variable != NULL && variable->managed != NULL && variable->binary->module != NULL &&
                 module_symbol(variable->binary->module, variable->name, &address, &bytes);
    if (there) each(context, address, bytes);
  }
}
