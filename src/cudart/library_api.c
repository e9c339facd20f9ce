// Modules that a program loads by itself through the runtime: cudaLibrary*.
#include "cudart/runtime.h"

CUDART(cudaLibraryLoadData, Binary **library, const void *code, int *options, void **values, uint32_t count, int *library_options,
       void **library_values, uint32_t library_count) {
  (void)options, (void)values, (void)count, (void)library_options, (void)library_values, (void)library_count;
  Runtime *runtime = runtime_enter();
  return runtime_leave(runtime, library == NULL ? cudaErrorInvalidValue : binary_from_image(runtime, code, library));
}

CUDART(cudaLibraryLoadFromFile, Binary **library, const char *path, int *options, void **values, uint32_t count, int *library_options,
       void **library_values, uint32_t library_count) {
  (void)options, (void)values, (void)count, (void)library_options, (void)library_values, (void)library_count;
  Runtime *runtime = runtime_enter();
  Diags diags = {0};
  char *bytes;
  size_t size;
  if (library == NULL || path == NULL) return runtime_leave(runtime, cudaErrorInvalidValue);
  bool found = file_read(runtime->arena, path, &bytes, &size, &diags);
  diags_free(&diags);
  return runtime_leave(runtime, found ? binary_from_image(runtime, bytes, library) : cudaErrorFileNotFound);
}

CUDART(cudaLibraryUnload, Binary *library) {
  Runtime *runtime = runtime_enter();
  if (library != NULL) binary_unload(runtime, library);
  return runtime_leave(runtime, library == NULL ? cudaErrorInvalidResourceHandle : cudaSuccess);
}

CUDART(cudaLibraryGetKernel, Kernel **kernel, Binary *library, const char *name) {
  Runtime *runtime = runtime_enter();
  if (kernel == NULL || library == NULL) return runtime_leave(runtime, cudaErrorInvalidValue);
  *kernel = binary_kernel(runtime, library, name);
  return runtime_leave(runtime, *kernel == NULL ? cudaErrorSymbolNotFound : cudaSuccess);
}

CUDART(cudaLibraryGetGlobal, void **pointer, size_t *bytes, Binary *library, const char *name) {
  Runtime *runtime = runtime_enter();
  uint64_t address, size;
  bool found = library != NULL && library->module != NULL && name != NULL && module_symbol(library->module, name, &address, &size);
  if (found && pointer != NULL) *pointer = pointer_of(address);
  if (found && bytes != NULL) *bytes = size;
  return runtime_leave(runtime, found ? cudaSuccess : cudaErrorSymbolNotFound);
}
CUDART_ALIAS(cudaLibraryGetManaged, cudaLibraryGetGlobal)

CUDART(cudaLibraryEnumerateKernels, Kernel **kernels, uint32_t room, Binary *library) {
  Runtime *runtime = runtime_enter();
  bool good = kernels != NULL && library != NULL && library->module != NULL;
  if (!good) return runtime_leave(runtime, cudaErrorInvalidValue);
  const Program *program = module_program(library->module);
  uint32_t count = 0;
  for (uint32_t i = 0; i < program->function_count && count < room; i++) {
    if (program->functions[i].is_kernel) kernels[count++] = binary_kernel(runtime, library, program->functions[i].name);
  }
  return runtime_leave(runtime, cudaSuccess);
}

CUDART(cudaLibraryGetKernelCount, uint32_t *count, Binary *library) {
  Runtime *runtime = runtime_enter();
  bool good = count != NULL && library != NULL && library->module != NULL;
  if (!good) return runtime_leave(runtime, cudaErrorInvalidValue);
  const Program *program = module_program(library->module);
  *count = 0;
  for (uint32_t i = 0; i < program->function_count; i++) *count += program->functions[i].is_kernel;
  return runtime_leave(runtime, cudaSuccess);
}
