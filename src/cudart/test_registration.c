// The committed fat binaries, registered as nvcc's start-up code does it, and launched: no nvcc needed.
#include "cudart/cuda_abi.h"

#include "base/base.h"

#include <setjmp.h>
#include <cmocka.h>

#define FOLDER "tests/cuda/fatbin/"

// The interface as a program sees it.
void **__cudaRegisterFatBinary(void *wrapper);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaUnregisterFatBinary(void **handle);
void __cudaRegisterFunction(void **handle, const char *host, char *device_function, const char *name, int thread_limit, void *tid,
                            void *bid, void *block, void *grid, int *warp_size);
void __cudaRegisterVar(void **handle, char *host, char *device_address, const char *name, int external, size_t bytes, int constant,
                       int global);
void __cudaRegisterManagedVar(void **handle, void **host, char *device_address, const char *name, int external, size_t bytes, int constant,
                              int global);
char __cudaInitModule(void **handle);
unsigned __cudaPushCallConfiguration(Dim3 grid, Dim3 block, size_t shared_bytes, Stream *stream);
CudaError __cudaPopCallConfiguration(Dim3 *grid, Dim3 *block, size_t *shared_bytes, void *stream);
CudaError __cudaGetKernel(const void **kernel, const void *host);
CudaError __cudaLaunchKernel(const void *kernel, Dim3 grid, Dim3 block, void **arguments, size_t shared_bytes, Stream *stream);
CudaError cudaLaunchKernel(const void *kernel, Dim3 grid, Dim3 block, void **arguments, size_t shared_bytes, Stream *stream);
CudaError cudaMalloc(void **pointer, size_t bytes);
CudaError cudaFree(void *pointer);
CudaError cudaMemcpy(void *to, const void *from, size_t bytes, int kind);
CudaError cudaMemcpyToSymbol(const void *symbol, const void *from, size_t bytes, size_t offset, int kind);
CudaError cudaDeviceSynchronize(void);
CudaError cudaGetLastError(void);
CudaError cudaLibraryLoadFromFile(void **library, const char *path, int *options, void **values, uint32_t count, int *library_options,
                                  void **library_values, uint32_t library_count);
CudaError cudaLibraryGetKernel(void **kernel, void *library, const char *name);
CudaError cudaLibraryGetKernelCount(uint32_t *count, void *library);
CudaError cudaLibraryGetGlobal(void **pointer, size_t *bytes, void *library, const char *name);
CudaError cudaLibraryUnload(void *library);
CudaError cudaDeviceReset(void);
CudaError cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes);
CudaError cudaFuncGetAttributes(FuncAttributes *attributes, const void *host);

// What stands for the host side of a program: the addresses of its stubs and shadows.
typedef struct Host {
  char scale, architecture, gather, store, linked, table, factor;
  void *calls; // the shadow of a managed variable is a pointer
  FatBinaryWrapper wrapper;
  const void *units[3];
  void **handle;
} Host;

static const void *read_file(Arena *arena, const char *name) {
  Diags diags = {0};
  char *bytes = NULL;
  size_t count;
  assert_true(file_read(arena, arena_format(arena, FOLDER "%s.fatbin", name), &bytes, &count, &diags));
  return bytes;
}

static void register_all(Host *host) {
  host->handle = __cudaRegisterFatBinary(&host->wrapper);
  char *const kernels[] = {&host->scale, &host->architecture, &host->gather, &host->store, &host->linked};
  static const char *const names[] = {"scale", "architecture", "gather", "store", "linked"};
  for (size_t i = 0; i < COUNT_OF(kernels); i++) {
    __cudaRegisterFunction(host->handle, kernels[i], kernels[i], names[i], -1, NULL, NULL, NULL, NULL, NULL);
  }
  __cudaRegisterVar(host->handle, &host->table, &host->table, "table", 0, 16, 0, 0);
  __cudaRegisterVar(host->handle, &host->factor, &host->factor, "factor", 0, 4, 1, 0);
  __cudaRegisterManagedVar(host->handle, &host->calls, NULL, "calls", 0, 4, 0, 0);
  __cudaRegisterFatBinaryEnd(host->handle);
}

static Host *start(Arena *arena, const char *file) {
  Host *host = ARENA_NEW(arena, Host);
  host->wrapper = (FatBinaryWrapper){WRAPPER_MAGIC, 1, read_file(arena, file), NULL};
  register_all(host);
  return host;
}

// k<<<grid, block>>>(...) as nvcc 13 writes it.
static CudaError launch(const void *stub, uint32_t grid, uint32_t block, void **arguments) {
  Dim3 grid_got, block_got;
  size_t shared;
  Stream *stream;
  const void *kernel;
  assert_int_equal(__cudaPushCallConfiguration((Dim3){grid, 1, 1}, (Dim3){block, 1, 1}, 0, NULL), 0);
  assert_int_equal(__cudaGetKernel(&kernel, stub), cudaSuccess);
  assert_int_equal(__cudaPopCallConfiguration(&grid_got, &block_got, &shared, &stream), cudaSuccess);
  return __cudaLaunchKernel(kernel, grid_got, block_got, arguments, shared, stream);
}

static void run_scale(Host *host, int factor, int calls) {
  enum { COUNT = 1000 };
  int *device, got[COUNT], count = COUNT;
  assert_int_equal(cudaMalloc((void **)&device, sizeof got), cudaSuccess);
  assert_int_equal(launch(&host->scale, 4, 256, (void *[]){&device, &count}), cudaSuccess);
  assert_int_equal(cudaMemcpy(got, device, sizeof got, DEVICE_TO_HOST), cudaSuccess);
  for (int i = 0; i < COUNT; i++) assert_int_equal(got[i], (i % 4 + 1) * factor);
  assert_int_equal(*(int *)host->calls, calls);
  assert_int_equal(cudaFree(device), cudaSuccess);
}

static void every_compression_runs(void **state) {
  static const char *const files[] = {"zstd", "lz4", "plain", "several", "newer"};
  Arena *arena = *state;
  for (size_t i = 0; i < COUNT_OF(files); i++) {
    Host *host = start(arena, files[i]);
    assert_int_equal(__cudaInitModule(host->handle), 1);
    assert_int_equal(*(int *)host->calls, 0);
    run_scale(host, 3, 1);
    int factor = 7;
    assert_int_equal(cudaMemcpyToSymbol(&host->factor, &factor, sizeof factor, 0, HOST_TO_DEVICE), cudaSuccess);
    run_scale(host, 7, 2);
    assert_int_equal(cudaMemcpyToSymbol(&host->factor, &factor, sizeof factor, 1, HOST_TO_DEVICE), cudaErrorInvalidValue);
    assert_int_equal(cudaMemcpyToSymbol(&host->scale, &factor, sizeof factor, 0, HOST_TO_DEVICE), cudaErrorInvalidSymbol);
    assert_int_equal(cudaGetLastError(), cudaErrorInvalidSymbol);
    __cudaUnregisterFatBinary(host->handle);
  }
}

static int chosen(Arena *arena, const char *file) {
  Host *host = start(arena, file);
  int *device, got = 0;
  assert_int_equal(cudaMalloc((void **)&device, 4), cudaSuccess);
  assert_int_equal(cudaLaunchKernel(&host->architecture, (Dim3){1, 1, 1}, (Dim3){1, 1, 1}, (void *[]){&device}, 0, NULL), cudaSuccess);
  assert_int_equal(cudaMemcpy(&got, device, 4, COPY_DEFAULT), cudaSuccess);
  assert_int_equal(cudaFree(device), cudaSuccess);
  FuncAttributes attributes;
  assert_int_equal(cudaFuncGetAttributes(&attributes, &host->architecture), cudaSuccess);
  assert_int_equal(attributes.ptx_version, got);
  return got;
}

static void the_right_architecture_is_chosen(void **state) {
  Arena *arena = *state;
  assert_int_equal(chosen(arena, "zstd"), 75);
  assert_int_equal(chosen(arena, "several"), 75); // the newest that the device takes
  assert_int_equal(chosen(arena, "newer"), 80);   // else the nearest
}

static void parameters_lie_where_ptx_says(void **state) {
  struct Triple {
    char a;
    double b;
    short c;
  } triple = {11, 12.5, -13};
  Arena *arena = *state;
  Host *host = start(arena, "plain");
  char a = -1;
  double b = 2.25, got[7], *device;
  short c = -300;
  long long d = 1LL << 40;
  assert_int_equal(cudaMalloc((void **)&device, sizeof got), cudaSuccess);
  assert_int_equal(launch(&host->gather, 1, 1, (void *[]){&a, &b, &c, &triple, &d, &device}), cudaSuccess);
  assert_int_equal(cudaMemcpy(got, device, sizeof got, DEVICE_TO_HOST), cudaSuccess);
  const double wanted[7] = {-1, 2.25, -300, 11, 12.5, -13, (double)(1LL << 40)};
  assert_memory_equal(got, wanted, sizeof got);
}

static void relocatable_units_are_linked(void **state) {
  Arena *arena = *state;
  Host *host = ARENA_NEW(arena, Host);
  host->units[0] = read_file(arena, "unit_a");
  host->units[1] = read_file(arena, "unit_b");
  host->wrapper = (FatBinaryWrapper){WRAPPER_MAGIC, 2, NULL, host->units};
  register_all(host);
  int *device, got[32];
  assert_int_equal(cudaMalloc((void **)&device, sizeof got), cudaSuccess);
  assert_int_equal(launch(&host->linked, 1, 32, (void *[]){&device}), cudaSuccess);
  assert_int_equal(cudaMemcpy(got, device, sizeof got, DEVICE_TO_HOST), cudaSuccess);
  for (int i = 0; i < 32; i++) assert_int_equal(got[i], 2 * i + 1000 + 100 + 1);
}

static void libraries_are_loaded_from_files(void **state) {
  (void)state;
  void *library, *kernel, *factor, *none;
  size_t bytes = 0;
  uint32_t kernels = 0;
  assert_int_equal(cudaLibraryLoadFromFile(&library, FOLDER "nowhere", NULL, NULL, 0, NULL, NULL, 0), cudaErrorFileNotFound);
  assert_int_equal(cudaLibraryLoadFromFile(&library, FOLDER "lz4.fatbin", NULL, NULL, 0, NULL, NULL, 0), cudaSuccess);
  assert_int_equal(cudaLibraryGetKernelCount(&kernels, library), cudaSuccess);
  assert_int_equal(kernels, 4);
  assert_int_equal(cudaLibraryGetKernel(&none, library, "nowhere"), cudaErrorSymbolNotFound);
  assert_int_equal(cudaLibraryGetKernel(&kernel, library, "scale"), cudaSuccess);
  assert_int_equal(cudaLibraryGetGlobal(&factor, &bytes, library, "factor"), cudaSuccess);
  assert_int_equal(bytes, 4);
  int five = 5, count = 4, got[4], *device;
  assert_int_equal(cudaMemcpy(factor, &five, 4, HOST_TO_DEVICE), cudaSuccess);
  assert_int_equal(cudaMalloc((void **)&device, sizeof got), cudaSuccess);
  assert_int_equal(launch(kernel, 1, 32, (void *[]){&device, &count}), cudaSuccess);
  assert_int_equal(cudaMemcpy(got, device, sizeof got, DEVICE_TO_HOST), cudaSuccess);
  for (int i = 0; i < 4; i++) assert_int_equal(got[i], 5 * (i + 1));
  assert_int_equal(cudaLibraryUnload(library), cudaSuccess);
  assert_int_equal(cudaGetLastError(), cudaErrorSymbolNotFound);
}

static void a_reset_frees_memory(void **state) {
  (void)state;
  size_t before, during, after, total;
  void *pointers[100];
  assert_int_equal(cudaDeviceReset(), cudaSuccess);
  assert_int_equal(cudaMemGetInfo(&before, &total), cudaSuccess);
  for (size_t i = 0; i < COUNT_OF(pointers); i++) assert_int_equal(cudaMalloc(&pointers[i], 1000 + i), cudaSuccess);
  assert_int_equal(cudaMemGetInfo(&during, &total), cudaSuccess);
  assert_true(during + 100000 <= before);
  assert_int_equal(cudaDeviceReset(), cudaSuccess);
  assert_int_equal(cudaMemGetInfo(&after, &total), cudaSuccess);
  assert_int_equal(after, before);
  assert_int_equal(cudaFree(pointers[0]), cudaErrorInvalidValue);
  assert_int_equal(cudaGetLastError(), cudaErrorInvalidValue);
}

static void what_cannot_run_is_refused(void **state) {
  Arena *arena = *state;
  Host *host = start(arena, "machine-code");
  int *device = NULL, count = 1;
  assert_int_equal(launch(&host->scale, 1, 1, (void *[]){&device, &count}), cudaErrorNoKernelImageForDevice);
  assert_int_equal(cudaGetLastError(), cudaErrorNoKernelImageForDevice);
  assert_int_equal(cudaGetLastError(), cudaSuccess);
  host = start(arena, "plain");
  assert_int_equal(launch(&host->linked, 1, 1, (void *[]){&device}), cudaErrorInvalidDeviceFunction); // not in this binary
  assert_int_equal(launch(arena, 1, 1, NULL), cudaErrorInvalidDeviceFunction);                        // no kernel at all
  assert_int_equal(launch(&host->scale, 0, 1, NULL), cudaErrorInvalidConfiguration);
  assert_int_equal(launch(&host->scale, 1, 1025, NULL), cudaErrorInvalidConfiguration);
  assert_int_equal(cudaGetLastError(), cudaErrorInvalidConfiguration);
  assert_int_equal(cudaDeviceSynchronize(), cudaSuccess); // none of these is sticky
}

// Last: nothing runs after a trap.
static void traps_are_sticky(void **state) {
  Arena *arena = *state;
  Host *host = start(arena, "plain");
  int *wild = (int *)(uintptr_t)0x7000000000000000;
  assert_int_equal(launch(&host->store, 1, 1, (void *[]){&wild}), cudaSuccess); // launches do not wait
  assert_int_equal(cudaGetLastError(), cudaSuccess);
  assert_int_equal(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  assert_int_equal(cudaGetLastError(), cudaErrorIllegalAddress);
  assert_int_equal(cudaGetLastError(), cudaErrorIllegalAddress);
  void *pointer;
  assert_int_equal(cudaMalloc(&pointer, 4), cudaErrorIllegalAddress);
  assert_int_equal(launch(&host->store, 1, 1, (void *[]){&wild}), cudaErrorIllegalAddress);
}

// One arena for all: the library keeps what is registered, as it does a program's, until the process ends.
static int set_up(void **state) {
  *state = arena_new();
  return 0;
}
static int tear_down(void **state) {
  arena_free(*state);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_compression_runs),          cmocka_unit_test(the_right_architecture_is_chosen),
      cmocka_unit_test(parameters_lie_where_ptx_says),   cmocka_unit_test(relocatable_units_are_linked),
      cmocka_unit_test(libraries_are_loaded_from_files), cmocka_unit_test(a_reset_frees_memory),
      cmocka_unit_test(what_cannot_run_is_refused),      cmocka_unit_test(traps_are_sticky),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
