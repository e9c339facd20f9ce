// What nvcc's start-up code registers: fat binaries, kernels, variables. A fat binary is decompressed and
// compiled when one of its kernels or variables is first needed, so that programs start at once.
//
// Names are unique within a fat binary only, so kernels and variables are keyed by their host address.
#include "cudart/runtime.h"

#include <errno.h>

enum { DEVICE_ARCH = 75, MOST_FAT_BINARIES = 4096 };
#define FAT_MAGIC UINT32_C(0xBA55ED50)

typedef struct Collection {
  FatBinary *items;
  uint32_t count;
} Collection;

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
  Kernel *kernel = ARENA_NEW(runtime->arena, Kernel);
  *kernel = (Kernel){.host = host, .name = name, .binary = (Binary *)handle, .max_dynamic_shared = -1, .carveout = -1};
  pointer_map_put(&runtime->kernels, host, kernel);
  runtime_leave_quietly(runtime);
}

static void register_variable(void **handle, const void *host, const char *name, void **managed) {
  Runtime *runtime = runtime_enter();
  Binary *binary = (Binary *)handle;
  Variable *variable = ARENA_NEW(runtime->arena, Variable);
  *variable = (Variable){.host = host, .name = name, .managed = managed, .binary = binary, .next = binary->variables};
  binary->variables = variable;
  pointer_map_put(&runtime->variables, host, variable);
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
  CudaError error = binary_load(runtime, (Binary *)handle);
  runtime_leave(runtime, error);
  return error == cudaSuccess;
}

// ---- Loading ----------------------------------------------------------------------------------------

static bool parse_wrapper(const FatBinaryWrapper *wrapper, Arena *arena, Collection *all, Diags *diags) {
  if (wrapper == NULL || wrapper->magic != WRAPPER_MAGIC) return diags_add(diags, NULL, 0, 0, "not a wrapper of a fat binary");
  if (wrapper->version != 2 || wrapper->fat_binaries == NULL) {
    all->items = ARENA_NEW(arena, FatBinary);
    all->count = 1;
    return fatbin_parse(wrapper->data, SIZE_MAX, arena, all->items, diags);
  }
  const void *const *pointers = wrapper->fat_binaries;
  uint32_t count = 0;
  while (pointers[count] != NULL && count < MOST_FAT_BINARIES) count++;
  all->items = ARENA_ARRAY(arena, FatBinary, count);
  all->count = count;
  for (uint32_t i = 0; i < count; i++) {
    if (!fatbin_parse(pointers[i], SIZE_MAX, arena, &all->items[i], diags)) return false;
  }
  return true;
}

// The next architecture to try after `last` (0: the first): the newest that a device of DEVICE_ARCH takes,
// then the older ones, then newer ones from the oldest. 0: no more.
static uint32_t next_arch(const Collection *all, uint32_t last) {
  uint32_t below = 0, above = 0;
  for (uint32_t i = 0; i < all->count; i++) {
    for (uint32_t k = 0; k < all->items[i].count; k++) {
      const FatEntry *entry = &all->items[i].items[k];
      if (!entry->is_ptx) continue;
      bool newer = entry->arch > DEVICE_ARCH;
      if (!newer && (last == 0 || (last <= DEVICE_ARCH && entry->arch < last))) below = max_u32(below, entry->arch);
      if (newer && (last <= DEVICE_ARCH || entry->arch > last) && (above == 0 || entry->arch < above)) above = entry->arch;
    }
  }
  return below != 0 ? below : above;
}

// Campaigns are told of what is loaded.
static Module *load_sources(Runtime *runtime, const PtxSource *sources, uint32_t count, Diags *diags) {
  Module *module = device_load_ptx(runtime->device, sources, count, diags);
  if (module != NULL) app_process_loaded(runtime->environment.campaign, module_program(module), sources, count);
  return module;
}

static Module *load_arch(Runtime *runtime, const Collection *all, uint32_t arch, Arena *arena, Diags *diags) {
  PtxSource *sources = ARENA_ARRAY(arena, PtxSource, all->count);
  uint32_t count = 0;
  for (uint32_t i = 0; i < all->count; i++) {
    const FatEntry *best = NULL;
    for (uint32_t k = 0; k < all->items[i].count; k++) {
      const FatEntry *entry = &all->items[i].items[k];
      if (entry->is_ptx && entry->arch <= arch && (best == NULL || entry->arch > best->arch)) best = entry;
    }
    if (best == NULL) continue; // such as NVIDIA's device runtime, whose PTX is for the newest architecture
    PtxSource *source = &sources[count++];
    source->text = fatbin_text(best, arena, &source->length, diags);
    if (source->text == NULL) return NULL;
    source->file = arena_format(arena, all->count == 1 ? "%s:compute_%u.ptx" : "%s:compute_%u.%u.ptx", program_invocation_short_name,
                                best->arch, count);
  }
  return load_sources(runtime, sources, count, diags);
}

static CudaError load_any(Runtime *runtime, Binary *binary, Arena *scratch) {
  Collection all = {0};
  Diags diags = {0}, first = {0};
  if (!parse_wrapper(binary->wrapper, scratch, &all, &diags)) {
    runtime_say_diags(&diags);
    return cudaErrorInvalidKernelImage;
  }
  uint32_t arch = next_arch(&all, 0);
  if (arch == 0) {
    runtime_say("%s carries machine code but no PTX; rebuild it with 'nvcc -cudart shared -arch=sm_75', or add "
                "'-gencode arch=compute_75,code=compute_75'",
                program_invocation_short_name);
    return cudaErrorNoKernelImageForDevice;
  }
  for (bool is_first = true; arch != 0; arch = next_arch(&all, arch), is_first = false) {
    binary->arch = arch;
    binary->module = load_arch(runtime, &all, arch, scratch, is_first ? &first : &diags);
    if (binary->module != NULL) break;
  }
  diags_free(&diags);
  if (binary->module == NULL) {
    runtime_say_diags(&first);
    return cudaErrorInvalidPtx;
  }
  diags_free(&first);
  return cudaSuccess;
}

static void publish_managed(Binary *binary) {
  for (Variable *variable = binary->variables; variable != NULL; variable = variable->next) {
    uint64_t address, bytes;
    if (variable->managed == NULL || !module_symbol(binary->module, variable->name, &address, &bytes)) continue;
    *variable->managed = pointer_of(address);
  }
}

uint64_t variable_hash_managed(const Runtime *runtime, uint64_t seed) {
  const PointerMap *map = &runtime->variables;
  for (uint32_t i = 0; i < map->capacity; i++) {
    const Variable *variable = map->keys[i] == NULL ? NULL : map->values[i];
    uint64_t address, bytes;
    bool there = variable != NULL && variable->managed != NULL && variable->binary->module != NULL &&
                 module_symbol(variable->binary->module, variable->name, &address, &bytes);
    if (there) seed = hash_bytes(pointer_of(address), bytes, seed);
  }
  return seed;
}

CudaError binary_load(Runtime *runtime, Binary *binary) {
  if (binary->loaded) return binary->failure;
  if (runtime_device(runtime) == NULL) return cudaErrorInitializationError;
  binary->loaded = true;
  Arena *scratch = arena_new();
  binary->failure = load_any(runtime, binary, scratch);
  arena_free(scratch);
  if (binary->failure == cudaSuccess) publish_managed(binary);
  return binary->failure;
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

// ---- Images that programs bring themselves ------------------------------------------------------------------

void kernel_extra_arguments(const Function *function, void **extra, void **arguments) {
  enum { END = 0, BUFFER = 1 };
  uint8_t *buffer = NULL;
  for (int i = 0; i < 8 && address_of(extra[i]) != END; i += 2) {
    if (address_of(extra[i]) == BUFFER) buffer = extra[i + 1];
  }
  for (uint32_t i = 0; i < function->param_count; i++) arguments[i] = buffer + function->params[i].offset;
}

CudaError binary_from_image(Runtime *runtime, const void *image, Binary **result) {
  if (image == NULL) return cudaErrorInvalidValue;
  if (runtime_device(runtime) == NULL) return cudaErrorInitializationError;
  uint32_t magic;
  memcpy(&magic, image, sizeof magic);
  Binary *binary = ARENA_NEW(runtime->arena, Binary);
  FatBinaryWrapper *wrapper = ARENA_NEW(runtime->arena, FatBinaryWrapper);
  *wrapper = (FatBinaryWrapper){WRAPPER_MAGIC, 1, image, NULL};
  if (magic == (uint32_t)WRAPPER_MAGIC) binary->wrapper = image;
  else if (magic == FAT_MAGIC) binary->wrapper = wrapper;
  *result = binary;
  if (binary->wrapper != NULL) return binary_load(runtime, binary);
  if (memcmp(image, "\177ELF", 4) == 0) {
    runtime_say("a module of machine code was loaded; build it as PTX (nvcc -ptx, or -fatbin -arch=compute_75)");
    return cudaErrorNoKernelImageForDevice;
  }
  Diags diags = {0};
  PtxSource source = {arena_format(runtime->arena, "%s:module.ptx", program_invocation_short_name), image, strlen(image)};
  binary->loaded = true;
  binary->arch = DEVICE_ARCH;
  binary->module = load_sources(runtime, &source, 1, &diags);
  if (binary->module == NULL) runtime_say_diags(&diags);
  diags_free(&diags);
  return binary->failure = binary->module == NULL ? cudaErrorInvalidPtx : cudaSuccess;
}

void binary_unload(Runtime *runtime, Binary *binary) {
  if (binary->module != NULL) device_unload(runtime->device, binary->module);
  binary->module = NULL;
  binary->failure = cudaErrorInvalidResourceHandle;
  binary->loaded = true;
}

Kernel *binary_kernel(Runtime *runtime, Binary *binary, const char *name) {
  if (binary->module == NULL || name == NULL) return NULL;
  const Function *function = program_function(module_program(binary->module), name);
  if (function == NULL || !function->is_kernel) return NULL;
  Kernel *kernel = ARENA_NEW(runtime->arena, Kernel);
  *kernel = (Kernel){kernel, function->name, binary, function, -1, -1};
  pointer_map_put(&runtime->kernels, kernel, kernel);
  return kernel;
}
