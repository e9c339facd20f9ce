// Fat binaries and PTX texts become modules: those that nvcc's start-up code registered, when first needed, and those that
// programs load themselves (cudaLibrary*, cuModule*). Nothing is read beyond the file or the mapped memory that holds it.
#include "cudart/cubin.h"
#include "cudart/runtime.h"

#include <errno.h>

enum { DEVICE_ARCH = 75, MOST_FAT_BINARIES = 4096 };
#define FAT_MAGIC UINT32_C(0xBA55ED50)

typedef struct Collection {
  FatBinary *items;
  uint32_t count;
} Collection;

// ---- Reading ------------------------------------------------------------------------------------------

// `limit`: of a file, the bytes from `data` on; 0: memory, as far as it is mapped.
static bool parse_data(const void *data, size_t limit, Arena *arena, FatBinary *fat, Diags *diags) {
  return fatbin_parse(data, limit != 0 ? limit : mapped_bytes(data), arena, fat, diags);
}

// Relocatable fat binaries: a list of pointers that ends with NULL. Nothing from outside need be aligned.
static bool parse_list(const uint8_t *list, Arena *arena, Collection *all, Diags *diags) {
  size_t room = min_u64(mapped_bytes(list) / sizeof(void *), MOST_FAT_BINARIES);
  all->items = ARENA_ARRAY(arena, FatBinary, room);
  for (; all->count < room; all->count++) {
    const void *data;
    memcpy(&data, list + all->count * sizeof data, sizeof data);
    if (data == NULL) return true;
    if (!parse_data(data, 0, arena, &all->items[all->count], diags)) return false;
  }
  return diags_add(diags, NULL, 0, 0, "its list of units has no end");
}

static bool parse_wrapper(const Binary *binary, Arena *arena, Collection *all, Diags *diags) {
  FatBinaryWrapper wrapper = binary->own_wrapper;
  if (binary->wrapper != NULL) {
    if (mapped_bytes(binary->wrapper) < sizeof wrapper) return diags_add(diags, NULL, 0, 0, "its wrapper cannot be read");
    memcpy(&wrapper, binary->wrapper, sizeof wrapper);
  }
  if (wrapper.magic != WRAPPER_MAGIC) return diags_add(diags, NULL, 0, 0, "its wrapper does not begin as wrappers do");
  if (wrapper.version == 2 && wrapper.fat_binaries != NULL) return parse_list(wrapper.fat_binaries, arena, all, diags);
  all->items = ARENA_NEW(arena, FatBinary);
  all->count = 1;
  return parse_data(wrapper.data, binary->limit, arena, all->items, diags);
}

// ---- Loading ------------------------------------------------------------------------------------------

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

// The newest PTX of a unit that a device of `arch` takes. NULL: none, as with NVIDIA's device runtime, whose PTX is for the
// newest architecture.
static const FatEntry *best_entry(const FatBinary *fat, uint32_t arch) {
  const FatEntry *best = NULL;
  for (uint32_t i = 0; i < fat->count; i++) {
    const FatEntry *entry = &fat->items[i];
    if (entry->is_ptx && entry->arch <= arch && (best == NULL || entry->arch > best->arch)) best = entry;
  }
  return best;
}

// The machine code of a unit whose register counts are taken: for the architecture of its PTX, else the newest before it, else the oldest after it.
static const FatEntry *best_code(const FatBinary *fat, uint32_t arch) {
  const FatEntry *best = NULL;
  for (uint32_t i = 0; i < fat->count; i++) {
    const FatEntry *entry = &fat->items[i];
    if (entry->is_ptx) continue;
    bool fits = entry->arch <= arch, best_fits = best != NULL && best->arch <= arch;
    bool is_better = fits ? !best_fits || entry->arch > best->arch : !best_fits && (best == NULL || entry->arch < best->arch);
    if (is_better) best = entry;
  }
  return best;
}

// Machine code that cannot be read gives no counts: the machine then estimates them.
static void give_registers(const Runtime *runtime, Module *module, const Collection *all, uint32_t arch) {
  if (runtime->environment.spec.sm_register_source != REGISTERS_GIVEN) return;
  Arena *scratch = arena_new();
  Diags diags = {0};
  for (uint32_t i = 0; i < all->count; i++) {
    const FatEntry *code = best_code(&all->items[i], arch);
    CubinKernels kernels = {0};
    size_t count;
    if (code == NULL) continue;
    const uint8_t *bytes = fatbin_bytes(code, scratch, &count, &diags);
    if (bytes == NULL || !cubin_kernels(bytes, count, scratch, &kernels))
      runtime_say("the machine code for sm_%u in %s cannot be read: its register counts are estimated", code->arch,
                  program_invocation_short_name);
    for (uint32_t k = 0; k < kernels.count; k++) module_give_registers(module, kernels.items[k].name, kernels.items[k].registers);
  }
  diags_free(&diags);
  arena_free(scratch);
}

// Campaigns are told of what is loaded.
static Module *load_sources(Runtime *runtime, const PtxSource *sources, uint32_t count, Diags *diags) {
  Module *module = device_load_ptx(runtime->device, sources, count, diags);
  if (module != NULL) app_process_loaded(runtime->environment.campaign, module_program(module), sources, count);
  return module;
}

// The module of one architecture. NULL: `*damaged` when the texts cannot be had, else they do not compile.
static Module *load_arch(Runtime *runtime, const Collection *all, uint32_t arch, bool *damaged, Diags *diags) {
  Arena *texts = arena_new();
  PtxSource *sources = ARENA_ARRAY(texts, PtxSource, all->count);
  uint32_t count = 0;
  *damaged = false;
  for (uint32_t i = 0; i < all->count && !*damaged; i++) {
    const FatEntry *best = best_entry(&all->items[i], arch);
    if (best == NULL) continue;
    PtxSource *source = &sources[count++];
    source->text = fatbin_text(best, texts, &source->length, diags);
    source->file = arena_format(texts, all->count == 1 ? "%s:compute_%u.ptx" : "%s:compute_%u.%u.ptx", program_invocation_short_name,
                                best->arch, count);
    *damaged = source->text == NULL;
  }
  Module *module = *damaged ? NULL : load_sources(runtime, sources, count, diags);
  arena_free(texts);
  return module;
}

static CudaError say_damaged(Diags *diags) {
  runtime_say("a fat binary of %s is damaged: %s; none of its kernels can run: rebuild the program", program_invocation_short_name,
              diags->count == 0 ? "it cannot be read" : diags->items[0].text);
  diags_free(diags);
  return cudaErrorInvalidKernelImage;
}

static CudaError load_any(Runtime *runtime, Binary *binary, Arena *scratch) {
  Collection all = {0};
  Diags first = {0};
  if (!parse_wrapper(binary, scratch, &all, &first)) return say_damaged(&first);
  uint32_t arch = next_arch(&all, 0);
  if (arch == 0) {
    runtime_say("%s carries machine code but no PTX; rebuild it with 'nvcc -arch=sm_75', or add "
                "'-gencode arch=compute_75,code=compute_75'",
                program_invocation_short_name);
    return cudaErrorNoKernelImageForDevice;
  }
  bool first_damaged = false;
  for (bool is_first = true; arch != 0 && binary->module == NULL; arch = next_arch(&all, arch), is_first = false) {
    Diags others = {0};
    bool damaged;
    binary->arch = arch;
    binary->module = load_arch(runtime, &all, arch, &damaged, is_first ? &first : &others);
    if (binary->module != NULL) give_registers(runtime, binary->module, &all, arch);
    if (is_first) first_damaged = damaged;
    diags_free(&others);
  }
  if (binary->module == NULL && first_damaged) return say_damaged(&first);
  if (binary->module == NULL) runtime_say_diags(&first);
  diags_free(&first);
  return binary->module == NULL ? cudaErrorInvalidPtx : cudaSuccess;
}

static void publish_managed(Binary *binary) {
  for (Variable *variable = binary->variables; variable != NULL; variable = variable->next) {
    uint64_t address, bytes;
    if (variable->managed == NULL || !module_symbol(binary->module, variable->name, &address, &bytes)) continue;
    *variable->managed = pointer_of(address);
  }
}

static void kernels_are_missing(Runtime *runtime) {
  runtime->kernels_missing = true;
  runtime_failed(runtime);
}

CudaError binary_load(Runtime *runtime, Binary *binary) {
  if (binary->loaded) return binary->failure;
  if (runtime_device(runtime) == NULL) return cudaErrorInitializationError;
  binary->loaded = true;
  Arena *scratch = arena_new();
  binary->failure = load_any(runtime, binary, scratch);
  arena_free(scratch);
  if (binary->failure == cudaSuccess) publish_managed(binary);
  if (binary->failure != cudaSuccess && binary->registered) kernels_are_missing(runtime);
  return binary->failure;
}

// ---- Images that programs bring themselves ------------------------------------------------------------------

static CudaError load_text(Runtime *runtime, Binary *binary, const char *file, const char *text, size_t length) {
  Diags diags = {0};
  PtxSource source = {file, text, length};
  binary->arch = DEVICE_ARCH;
  binary->module = load_sources(runtime, &source, 1, &diags);
  if (binary->module == NULL) runtime_say_diags(&diags);
  diags_free(&diags);
  return binary->module == NULL ? cudaErrorInvalidPtx : cudaSuccess;
}

// What an image is shows in its first bytes. A file (`limit` not 0) holds no wrapper: that is a struct of pointers.
static CudaError load_image(Runtime *runtime, Binary *binary, const void *image, size_t limit) {
  size_t room = limit != 0 ? limit : mapped_bytes(image);
  uint32_t magic = 0;
  if (room == 0) return cudaErrorInvalidKernelImage;
  memcpy(&magic, image, min_u64(sizeof magic, room));
  if (magic == FAT_MAGIC || (magic == (uint32_t)WRAPPER_MAGIC && limit == 0)) {
    binary->own_wrapper = (FatBinaryWrapper){WRAPPER_MAGIC, 1, image, NULL};
    binary->limit = limit;
    binary->wrapper = magic == FAT_MAGIC ? NULL : image;
    return binary_load(runtime, binary);
  }
  binary->loaded = true;
  if (memcmp(&magic, "\177ELF", sizeof magic) == 0) {
    runtime_say("a module of machine code was loaded; build it as PTX (nvcc -ptx, or -fatbin -arch=compute_75)");
    return cudaErrorNoKernelImageForDevice;
  }
  const char *file = arena_format(runtime->arena, "%s:module.ptx", program_invocation_short_name);
  return load_text(runtime, binary, file, image, strnlen(image, room));
}

static CudaError keep(Runtime *runtime, Binary *binary, Binary **result) {
  if (binary->failure != cudaSuccess) kernels_are_missing(runtime);
  if (binary->failure != cudaSuccess) return binary->failure;
  handle_add(runtime, HANDLE_BINARY, binary);
  *result = binary;
  return cudaSuccess;
}

CudaError binary_from_image(Runtime *runtime, const void *image, size_t limit, Binary **result) {
  if (image == NULL || result == NULL) return cudaErrorInvalidValue;
  if (runtime_device(runtime) == NULL) return cudaErrorInitializationError;
  Binary *binary = ARENA_NEW(runtime->arena, Binary);
  binary->failure = load_image(runtime, binary, image, limit);
  return keep(runtime, binary, result);
}

CudaError binary_from_text(Runtime *runtime, const char *file, const char *text, Binary **result) {
  if (file == NULL || text == NULL || result == NULL) return cudaErrorInvalidValue;
  if (runtime_device(runtime) == NULL) return cudaErrorInitializationError;
  Binary *binary = ARENA_NEW(runtime->arena, Binary);
  binary->loaded = true;
  binary->failure = load_text(runtime, binary, file, text, strlen(text));
  return keep(runtime, binary, result);
}

CudaError binary_from_file(Runtime *runtime, const char *path, Binary **result) {
  if (path == NULL || result == NULL) return cudaErrorInvalidValue;
  Arena *scratch = arena_new();
  Diags diags = {0};
  char *bytes;
  size_t count;
  CudaError error = cudaErrorFileNotFound;
  if (file_read(scratch, path, &bytes, &count, &diags))
    error = count == 0 ? cudaErrorInvalidKernelImage : binary_from_image(runtime, bytes, count, result);
  diags_free(&diags);
  arena_free(scratch);
  return error;
}

// Its kernels are no kernels any more; a handle is never given out twice, so that old ones stay unknown.
CudaError binary_unload(Runtime *runtime, Binary *binary) {
  if (!handle_is(runtime, binary, HANDLE_BINARY)) return cudaErrorInvalidResourceHandle;
  handle_drop(runtime, binary);
  for (Kernel *kernel = binary->kernels; kernel != NULL; kernel = kernel->next) pointer_map_take(&runtime->kernels, kernel);
  device_unload(runtime->device, binary->module);
  binary->module = NULL;
  binary->kernels = NULL;
  binary->failure = cudaErrorInvalidResourceHandle;
  return cudaSuccess;
}

Kernel *binary_kernel(Runtime *runtime, Binary *binary, const char *name) {
  if (name == NULL) return NULL;
  const Function *function = program_function(module_program(binary->module), name);
  if (function == NULL || !function->is_kernel) return NULL;
  for (Kernel *kernel = binary->kernels; kernel != NULL; kernel = kernel->next) {
    if (kernel->function == function) return kernel;
  }
  Kernel *kernel = ARENA_NEW(runtime->arena, Kernel);
  *kernel = (Kernel){.host = kernel, .name = function->name, .binary = binary, .function = function, .next = binary->kernels};
  kernel->max_dynamic_shared = kernel->carveout = -1;
  binary->kernels = kernel;
  pointer_map_put(&runtime->kernels, kernel, kernel);
  return kernel;
}

bool binary_symbol(Runtime *runtime, const Binary *binary, const char *name, uint64_t *address, uint64_t *bytes) {
  return name != NULL && handle_is(runtime, binary, HANDLE_BINARY) && module_symbol(binary->module, name, address, bytes);
}
