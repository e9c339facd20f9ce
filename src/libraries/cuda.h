// How the libraries beside the CUDA runtime (cuBLAS, cuRAND) reach the simulated GPU: through Redoubt's CUDA runtime library, the one
// that the program uses. They hold no device of their own: allocations, launches, streams and captures are the runtime's, so that
// faults, protections, campaigns and statistics see their kernels as they see the program's.
#ifndef REDOUBT_LIBRARIES_CUDA_H
#define REDOUBT_LIBRARIES_CUDA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LIBRARY_EXPORT __attribute__((visibility("default")))

typedef struct CudaGrid {
  unsigned x, y, z;
} CudaGrid;

enum { CUDA_COPY_DEFAULT = 4 }; // the runtime finds out which side is which

// Functions of the runtime. All but the first return 0 when all is well.
typedef struct Cuda {
  void *(*__cudaReplacesStatic)(void);
  int (*__cudaLoadPtx)(void **library, const char *file, const char *text);
  int (*cudaLibraryGetKernel)(void **kernel, void *library, const char *name);
  int (*cudaLaunchKernel)(const void *kernel, CudaGrid grid, CudaGrid block, void **arguments, size_t shared_bytes, void *stream);
  int (*cudaMalloc)(void **pointer, size_t bytes);
  int (*cudaFree)(void *pointer);
  int (*cudaMemcpyAsync)(void *to, const void *from, size_t bytes, int kind, void *stream);
  int (*cudaMemcpy2DAsync)(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, int kind,
                           void *stream);
  int (*cudaMemsetAsync)(void *to, int value, size_t bytes, void *stream);
  int (*cudaStreamSynchronize)(void *stream);
  int (*cudaRuntimeGetVersion)(int *version);
} Cuda;

// The runtime of this process. If none is loaded yet, that of `generation` (11, 12, 13) is. NULL, after a line on standard error: none.
const Cuda *cuda_of_process(int generation);

// The kernels of a library: PTX, loaded at the first launch.
typedef struct Kernels {
  const char *file; // the name by which explanations know it
  const char *text;
  void *loaded; // by the runtime; NULL: not yet
} Kernels;

// One launch with one argument, a struct. False: it failed.
bool kernels_launch(Kernels *kernels, const Cuda *cuda, const char *name, CudaGrid grid, CudaGrid block, void *argument, void *stream);

// Handles that live. A program may pass anything for one: what is not in the table is not looked at.
typedef struct Handles {
  const void **items;
  size_t count, room;
} Handles;
bool handles_add(Handles *handles, const void *handle); // false: no memory
void handles_remove(Handles *handles, const void *handle);
bool handles_have(const Handles *handles, const void *handle);

// One line on standard error, after "redoubt: ".
void library_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

// What a function that is not offered does: its name is said at the first call.
#define LIBRARY_ABSENT(name, code, code_name)                                                         \
  LIBRARY_EXPORT int name(void);                                                                      \
  int name(void) {                                                                                    \
    static bool said;                                                                                 \
    if (!said) library_say("%s is not offered: it returns %s (docs/libraries.md)", #name, code_name); \
    said = true;                                                                                      \
    return code;                                                                                      \
  }

#endif
