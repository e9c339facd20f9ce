#include "cudart/static/island.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { CODE_BYTES = 32, LAZY_AT = 8, PAGE = 4096, STEP = 1 << 20 };
#define REACH (UINT64_C(3) << 29) // of a jump, less than 2 GiB: the object itself lies between

void static_lazy(void); // entry.S
void static_refuse(void);
void *static_resolve(IslandEntry *entry); // called by it

// ---- The first call --------------------------------------------------------------------------------

// A constructor of the program may be the first to call, so that loading here is as loading in any constructor.
static bool load(IslandLibrary *library) {
  void *handle = dlmopen(LM_ID_BASE, library->path, RTLD_NOW | RTLD_LOCAL);
  if (handle == NULL) {
    dprintf(STDERR_FILENO, "redoubt: the CUDA runtime library cannot be loaded: %s\n", dlerror());
    return false;
  }
  IslandRefusal *(*replaces)(void) = (IslandRefusal * (*)(void)) dlsym(handle, "__cudaReplacesStatic");
  if (replaces == NULL) return false;
  library->refuse = replaces();
  library->handle = handle;
  return true;
}

static int refuse_all(const char *name) {
  (void)name;
  return 999; // cudaErrorUnknown
}

// Where to go on. Threads may come here together: they write the same.
void *static_resolve(IslandEntry *entry) {
  IslandLibrary *library = entry->library;
  if (library->handle == NULL && !load(library)) {
    library->refuse = refuse_all;
    return static_refuse;
  }
  void *function = dlsym(library->handle, entry->name);
  if (function == NULL) {
    entry->lazy = static_refuse;
    return static_refuse;
  }
  entry->target = function;
  return function;
}

// ---- Memory in reach -------------------------------------------------------------------------------

static size_t pages(size_t bytes) { return (bytes + PAGE - 1) / PAGE * PAGE; }

static void *map_at(uint64_t address, size_t bytes) {
  void *wanted = (void *)(uintptr_t)address;
  void *got = mmap(wanted, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  if (got != MAP_FAILED && got != wanted) munmap(got, bytes); // an old kernel takes it for a hint
  return got == wanted ? got : NULL;
}

// Below the object first: above it may be the heap, which must be free to grow.
static void *map_near(uint64_t near, size_t bytes) {
  uint64_t first = near / PAGE * PAGE - pages(bytes);
  void *got = NULL;
  for (uint64_t down = 0; got == NULL && down < REACH && down + PAGE < first; down += STEP) got = map_at(first - down, bytes);
  for (uint64_t up = STEP; got == NULL && up < REACH; up += STEP) got = map_at(near / PAGE * PAGE + up, bytes);
  return got;
}

bool island_new(Island *island, uint64_t near, uint32_t room) {
  size_t code = pages((size_t)room * CODE_BYTES), data = pages(room * sizeof(IslandEntry));
  uint8_t *block = map_near(near, code + data);
  *island = (Island){.code = block, .entries = (IslandEntry *)(block + code), .room = room};
  return block != NULL;
}

bool island_seal(Island *island) { return mprotect(island->code, pages((size_t)island->room * CODE_BYTES), PROT_READ | PROT_EXEC) == 0; }

// ---- Code ------------------------------------------------------------------------------------------

// An instruction of this opcode whose last four bytes lead to `to`, relative to its end.
static uint8_t *put(uint8_t *at, const uint8_t *opcode, size_t bytes, const void *to) {
  memcpy(at, opcode, bytes);
  uint8_t *end = at + bytes + 4;
  int32_t distance = (int32_t)((const uint8_t *)to - end);
  memcpy(at + bytes, &distance, sizeof distance);
  return end;
}

const uint8_t *island_entry(Island *island, IslandLibrary *library, const char *name) {
  static const uint8_t jump[] = {0xff, 0x25}, address[] = {0x4c, 0x8d, 0x1d}; // jmp *X(%rip); lea X(%rip), %r11
  uint8_t *code = island->code + (size_t)island->count * CODE_BYTES;
  IslandEntry *entry = &island->entries[island->count++];
  *entry = (IslandEntry){.target = code + LAZY_AT, .lazy = static_lazy, .name = name, .library = library};
  put(code, jump, sizeof jump, &entry->target);
  uint8_t *next = put(code + LAZY_AT, address, sizeof address, entry);
  put(next, jump, sizeof jump, &entry->lazy);
  return code;
}
