#include "libraries/cuda.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_PATH = 4096, MOST_LINE = 1024 };

void library_say(const char *format, ...) {
  char line[MOST_LINE];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  fflush(stdout);
  dprintf(STDERR_FILENO, "redoubt: %s\n", line);
}

// ---- The runtime -----------------------------------------------------------------------------------

typedef struct RuntimeFile {
  int generation;
  const char *name;
} RuntimeFile;
static const RuntimeFile runtime_files[] = {{13, "libcudart.so.13"}, {12, "libcudart.so.12"}, {11, "libcudart.so.11.0"}};
enum { RUNTIME_FILES = sizeof runtime_files / sizeof runtime_files[0] };

// Libraries of Redoubt's lie in one folder. By its whole path, a file is the same one under any name, libcuda.so.1 too.
static void *open_runtime(const char *name, int flags) {
  char path[MOST_PATH];
  Dl_info about;
  if (dladdr(&runtime_files, &about) == 0 || about.dli_fname == NULL) return NULL;
  const char *slash = strrchr(about.dli_fname, '/');
  int folder = slash == NULL ? 0 : (int)(slash + 1 - about.dli_fname);
  snprintf(path, sizeof path, "%.*s%s", folder, about.dli_fname, name);
  return dlopen(path, RTLD_NOW | RTLD_LOCAL | flags);
}

// That of the library's own generation first, if the program has it; then any that it has.
static void *loaded_runtime(int generation) {
  void *handle = NULL;
  for (int others = 0; others < 2; others++) {
    for (int i = 0; i < RUNTIME_FILES && handle == NULL; i++) {
      if ((runtime_files[i].generation != generation) == others) handle = open_runtime(runtime_files[i].name, RTLD_NOLOAD);
    }
  }
  return handle;
}

static void *new_runtime(int generation) {
  for (int i = 0; i < RUNTIME_FILES; i++) {
    if (runtime_files[i].generation == generation) return open_runtime(runtime_files[i].name, 0);
  }
  return NULL;
}

#define FIND(name) ((cuda.name = (__typeof__(cuda.name))dlsym(handle, #name)) != NULL)

const Cuda *cuda_of_process(int generation) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  static Cuda cuda;
  static bool there;
  pthread_mutex_lock(&lock);
  if (!there) {
    void *handle = loaded_runtime(generation);
    bool is_new = handle == NULL;
    if (is_new) handle = new_runtime(generation);
    there = handle != NULL && FIND(__cudaReplacesStatic) && FIND(__cudaLoadPtx) && FIND(cudaLibraryGetKernel) && FIND(cudaLaunchKernel) &&
            FIND(cudaMalloc) && FIND(cudaFree) && FIND(cudaMemcpyAsync) && FIND(cudaMemcpy2DAsync) && FIND(cudaMemsetAsync) &&
            FIND(cudaStreamSynchronize) && FIND(cudaRuntimeGetVersion);
    if (there && is_new) cuda.__cudaReplacesStatic(); // it is asked for, although no object needs it by name
    if (!there) library_say("the CUDA runtime library cannot be loaded: run the program with 'redoubt run -- PROGRAM'");
  }
  pthread_mutex_unlock(&lock);
  return there ? &cuda : NULL;
}

// ---- Kernels ---------------------------------------------------------------------------------------

static bool load(Kernels *kernels, const Cuda *cuda) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&lock);
  bool good = kernels->loaded != NULL || cuda->__cudaLoadPtx(&kernels->loaded, kernels->file, kernels->text) == 0;
  pthread_mutex_unlock(&lock);
  return good;
}

bool kernels_launch(Kernels *kernels, const Cuda *cuda, const char *name, CudaGrid grid, CudaGrid block, void *argument, void *stream) {
  void *kernel, *arguments[] = {argument};
  return load(kernels, cuda) && cuda->cudaLibraryGetKernel(&kernel, kernels->loaded, name) == 0 &&
         cuda->cudaLaunchKernel(kernel, grid, block, arguments, 0, stream) == 0;
}

// ---- Handles ---------------------------------------------------------------------------------------

static pthread_mutex_t handles_lock = PTHREAD_MUTEX_INITIALIZER; // threads of a program make handles at the same time

bool handles_add(Handles *handles, const void *handle) {
  pthread_mutex_lock(&handles_lock);
  if (handles->count == handles->room) {
    size_t room = handles->room * 2 + 8;
    const void **items = realloc(handles->items, room * sizeof *items);
    if (items != NULL) handles->items = items, handles->room = room;
  }
  bool good = handles->count < handles->room;
  if (good) handles->items[handles->count++] = handle;
  pthread_mutex_unlock(&handles_lock);
  return good;
}

// Its place; `count`: it is not there.
static size_t place_of(const Handles *handles, const void *handle) {
  size_t i = 0;
  while (i < handles->count && handles->items[i] != handle) i++;
  return i;
}

void handles_remove(Handles *handles, const void *handle) {
  pthread_mutex_lock(&handles_lock);
  size_t place = place_of(handles, handle);
  if (place < handles->count) handles->items[place] = handles->items[--handles->count];
  pthread_mutex_unlock(&handles_lock);
}

bool handles_have(const Handles *handles, const void *handle) {
  pthread_mutex_lock(&handles_lock);
  bool any = place_of(handles, handle) < handles->count;
  pthread_mutex_unlock(&handles_lock);
  return any;
}
