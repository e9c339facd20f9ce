// Modules that a program loads by itself through the runtime: cudaLibrary*.
#include "cudart/runtime.h"

CUDART(cudaLibraryLoadData, Binary **library, const void *code, int *options, void **values, uint32_t count, int *library_options,
       void **library_values, uint32_t library_count) {
  (void)options, (void)values, (void)count, (void)library_options, (void)library_values, (void)library_count;
  Runtime *runtime = runtime_enter();
  return runtime_leave(runtime, binary_from_image(runtime, code, 0, library));
}

// For src/libraries: PTX that is known by its own file's name in explanations.
CUDART(__cudaLoadPtx, Binary **library, const char *file, const char *text) {
  Runtime *runtime = runtime_enter();
  return runtime_leave(runtime, binary_from_text(runtime, file, text, library));
}

CUDART(cudaLibraryLoadFromFile, Binary **library, const char *path, int *options, void **values, uint32_t count, int *library_options,
       void **library_values, uint32_t library_count) {
  (void)options, (void)values, (void)count, (void)library_options, (void)library_values, (void)library_count;
  Runtime *runtime = runtime_enter();
  return runtime_leave(runtime, binary_from_file(runtime, path, library));
}

CUDART(cudaLibraryUnload, Binary *library) {
  Runtime *runtime = runtime_enter();
  return runtime_leave(runtime, binary_unload(runtime, library));
}

// A library's handle, and a place for the answer.
static CudaError check_question(const Runtime *runtime, const Binary *library, const void *answer) {
  if (!handle_is(runtime, library, HANDLE_BINARY)) return cudaErrorInvalidResourceHandle;
  return answer == NULL ? cudaErrorInvalidValue : cudaSuccess;
}

CUDART(cudaLibraryGetKernel, Kernel **kernel, Binary *library, const char *name) {
  Runtime *runtime = runtime_enter();
  CudaError error = check_question(runtime, library, kernel);
  if (error != cudaSuccess) return runtime_leave(runtime, error);
  Kernel *found = binary_kernel(runtime, library, name);
  if (found != NULL) *kernel = found;
  return runtime_leave(runtime, found == NULL ? cudaErrorSymbolNotFound : cudaSuccess);
}

CUDART(cudaLibraryGetGlobal, void **pointer, size_t *bytes, Binary *library, const char *name) {
  Runtime *runtime = runtime_enter();
  uint64_t address, size;
  if (!handle_is(runtime, library, HANDLE_BINARY)) return runtime_leave(runtime, cudaErrorInvalidResourceHandle);
  bool found = binary_symbol(runtime, library, name, &address, &size);
  if (found && pointer != NULL) *pointer = pointer_of(address);
  if (found && bytes != NULL) *bytes = size;
  return runtime_leave(runtime, found ? cudaSuccess : cudaErrorSymbolNotFound);
}
CUDART_ALIAS(cudaLibraryGetManaged, cudaLibraryGetGlobal)

CUDART(cudaLibraryEnumerateKernels, Kernel **kernels, uint32_t room, Binary *library) {
  Runtime *runtime = runtime_enter();
  CudaError error = check_question(runtime, library, kernels);
  if (error != cudaSuccess) return runtime_leave(runtime, error);
  const Program *program = module_program(library->module);
  uint32_t count = 0;
  for (uint32_t i = 0; i < program->function_count && count < room; i++) {
    if (program->functions[i].is_kernel) kernels[count++] = binary_kernel(runtime, library, program->functions[i].name);
  }
  return runtime_leave(runtime, cudaSuccess);
}

CUDART(cudaLibraryGetKernelCount, uint32_t *count, Binary *library) {
  Runtime *runtime = runtime_enter();
  CudaError error = check_question(runtime, library, count);
  if (error != cudaSuccess) return runtime_leave(runtime, error);
  const Program *program = module_program(library->module);
  *count = 0;
  for (uint32_t i = 0; i < program->function_count; i++) *count += program->functions[i].is_kernel;
  return runtime_leave(runtime, cudaSuccess);
}
