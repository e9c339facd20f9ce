// Programs that carry the static CUDA runtime, which is nvcc's default. The dynamic linker tells this library (LD_AUDIT) of every object
// that it maps, before any code of that object runs: the executable, its libraries, and what it loads later. In an object that has
// the runtime's functions, each of them becomes a jump to the function of the same name in Redoubt's replacement (island.h).
// Objects that load the shared runtime are left as they are.
//
// Functions are found by their symbols. A stripped object has none: that is told in one line, and a stripped executable is not run.
// The process has this library in a name space of its own, with its own C library: nothing of the program changes its behaviour.
#include "app/image.h"
#include "cudart/static/island.h"
#include "cudart/static/object.h"
#include "device/record.h"

#include <ctype.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BAD_INPUT = 2, MOST_PATH = 4096, SHORTEST_GAP = ISLAND_JUMP_BYTES };

// ---- Which library takes over ----------------------------------------------------------------------

typedef struct Generation {
  IslandLibrary library;
  Object exports; // of its file; read when first needed
  const char *file;
} Generation;

static Generation generations[] = {{.file = "libcudart.so.13"}, {.file = "libcudart.so.12"}, {.file = "libcudart.so.11.0"}};

// The folder of this library, which has the others too: as `redoubt run` has named it. dladdr cannot be asked this early before glibc 2.34.
static const char *own_folder(void) {
  static char folder[MOST_PATH];
  static const char name[] = "/libredoubt-static.so";
  if (folder[0] != '\0') return folder;
  for (const char *from = getenv("LD_AUDIT"); from != NULL && *from != '\0';) {
    size_t length = strcspn(from, ":");
    size_t before = length >= sizeof name - 1 ? length - (sizeof name - 1) : 0;
    if (before > 0 && before < sizeof folder && strncmp(from + before, name, sizeof name - 1) == 0) {
      memcpy(folder, from, before);
      return folder;
    }
    from += length + (from[length] == ':');
  }
  return NULL;
}

// By what the interface had at the time: CUDA 12 has the second form of a function that 13 has dropped, 11 has texture references.
static Generation *generation_of(const Object *object) {
  uint32_t which = 0;
  if (object_function(object, "cudaGetDeviceProperties_v2") != NULL) which = 1;
  else if (object_function(object, "cudaBindTexture") != NULL) which = 2;
  Generation *generation = &generations[which];
  const char *folder = own_folder();
  if (generation->library.path != NULL || folder == NULL) return folder == NULL ? NULL : generation;
  char *path;
  if (asprintf(&path, "%s/%s", folder, generation->file) < 0 || !object_read(&generation->exports, path)) return NULL;
  generation->library.path = path;
  return generation;
}

// ---- Replacing -------------------------------------------------------------------------------------

static bool is_runtime_name(const char *name) {
  if (strncmp(name, "__", 2) == 0) name += 2;
  return strncmp(name, "cuda", 4) == 0 && isupper((unsigned char)name[4]);
}

static int by_name(const void *one, const void *other) {
  return strcmp(((const ObjectFunction *)one)->name, ((const ObjectFunction *)other)->name);
}

// Without its version, in memory that stays.
static const char *plain_name(const char *symbol) { return strndup(symbol, strcspn(symbol, "@")); }

static bool is_exported(const Generation *generation, const char *name) {
  ObjectFunction wanted = {.name = name};
  return bsearch(&wanted, generation->exports.functions, generation->exports.count, sizeof wanted, by_name) != NULL;
}

// Bytes from one function to whatever comes next.
static uint64_t room_of(const Object *object, uint32_t index) {
  for (uint32_t i = index + 1; i < object->count; i++) {
    if (object->functions[i].at > object->functions[index].at) return object->functions[i].at - object->functions[index].at;
  }
  return UINT64_MAX;
}

typedef struct Wish { // a function to be replaced
  uint64_t at;
  const char *name;
} Wish;

static bool is_chosen(const Wish *wishes, uint32_t count, uint64_t at) {
  for (uint32_t i = 0; i < count; i++) {
    if (wishes[i].at == at) return true;
  }
  return false;
}

// Functions that the library has. Those that it does not have (of a newer runtime) are known by their place: among the others.
static uint32_t choose(const Object *object, const Generation *generation, Wish *wishes) {
  uint64_t lowest = UINT64_MAX, highest = 0;
  uint32_t count = 0;
  for (int others = 0; others < 2; others++) {
    for (uint32_t i = 0; i < object->count; i++) {
      uint64_t at = object->functions[i].at;
      if (!is_runtime_name(object->functions[i].name) || is_chosen(wishes, count, at) || room_of(object, i) < SHORTEST_GAP) continue;
      const char *name = plain_name(object->functions[i].name);
      bool known = is_exported(generation, name), among = at > lowest && at < highest;
      if (others ? known || !among : !known) continue;
      if (!others && at < lowest) lowest = at;
      if (!others && at > highest) highest = at;
      wishes[count++] = (Wish){at, name};
    }
  }
  return count;
}

static void jump_to(uint8_t *from, const uint8_t *to) {
  int32_t distance = (int32_t)(to - (from + ISLAND_JUMP_BYTES));
  from[0] = 0xe9; // jmp X(%rip)
  memcpy(from + 1, &distance, sizeof distance);
}

static bool replace(uint64_t base, const Wish *wishes, uint32_t count, Generation *generation) {
  uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), lowest = UINT64_MAX, highest = 0;
  for (uint32_t i = 0; i < count; i++) {
    if (wishes[i].at < lowest) lowest = wishes[i].at;
    if (wishes[i].at > highest) highest = wishes[i].at;
  }
  uint8_t *from = (uint8_t *)(uintptr_t)((base + lowest) / page * page);
  size_t bytes = (size_t)((base + highest + ISLAND_JUMP_BYTES + page - 1) / page * page - (uint64_t)(uintptr_t)from);
  Island island;
  if (!island_new(&island, base + lowest, count) || mprotect(from, bytes, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) return false;
  for (uint32_t i = 0; i < count; i++) {
    jump_to((uint8_t *)(uintptr_t)(base + wishes[i].at), island_entry(&island, &generation->library, wishes[i].name));
  }
  return island_seal(&island) && mprotect(from, bytes, PROT_READ | PROT_EXEC) == 0;
}

static bool take_over(uint64_t base, const Object *object) {
  Generation *generation = generation_of(object);
  Wish *wishes = generation == NULL ? NULL : calloc(object->count, sizeof *wishes);
  if (wishes == NULL) return false;
  qsort(generation->exports.functions, generation->exports.count, sizeof(ObjectFunction), by_name);
  uint32_t count = choose(object, generation, wishes);
  bool good = count > 0 && replace(base, wishes, count, generation);
  free(wishes);
  return good;
}

// ---- What cannot be helped -------------------------------------------------------------------------

// `redoubt run` learns that it need not say anything more.
static _Noreturn void refuse_program(void) {
  const char *records = getenv("REDOUBT_RECORDS");
  int file = records == NULL ? -1 : open(records, O_WRONLY | O_APPEND | O_CLOEXEC);
  uint32_t refusal[] = {RECORD_REFUSAL, 0};
  if (file >= 0 && write(file, refusal, sizeof refusal) < 0) close(file);
  _exit(BAD_INPUT);
}

// Libraries beside the runtime, which are machine code: told once each, by the name that the program asks for or, if they are linked
// statically, by a function of theirs.
typedef struct Outside {
  const char *library, *function, *name;
} Outside;
static const Outside outside[] = {{"libcublasLt", NULL, "cuBLASLt"},
                                  {"libcublas", "cublasCreate_v2", "cuBLAS"},
                                  {"libnvblas", NULL, "NVBLAS"},
                                  {"libcufft", "cufftCreate", "cuFFT"},
                                  {"libcudnn", "cudnnCreate", "cuDNN"},
                                  {"libcusparse", "cusparseCreate", "cuSPARSE"},
                                  {"libcusolver", "cusolverDnCreate", "cuSOLVER"},
                                  {"libcurand", "curandCreateGenerator", "cuRAND's host interface"},
                                  {"libcutensor", "cutensorCreate", "cuTENSOR"},
                                  {"libnpp", "nppGetLibVersion", "NPP"},
                                  {"libnvjpeg", "nvjpegCreateSimple", "nvJPEG"},
                                  {"libnvinfer", NULL, "TensorRT"},
                                  {"libnccl", "ncclCommInitRank", "NCCL"},
                                  {"libnvshmem", NULL, "NVSHMEM"},
                                  {"libcudss", "cudssCreate", "cuDSS"}};

static void say_outside(const Outside *library, const char *name) {
  static bool said[sizeof outside / sizeof outside[0]];
  if (said[library - outside]) return;
  said[library - outside] = true;
  dprintf(
      STDERR_FILENO,
      "redoubt: %s (%s) is NVIDIA's machine code without PTX, which Redoubt does not simulate: its calls will fail; Redoubt has libraries "
      "of its own in place of the shared libcublas and libcurand of CUDA 11, 12 and 13\n",
      name, library->name);
}

static void look_for_outside(const Object *object, const char *name) {
  for (size_t i = 0; i < sizeof outside / sizeof outside[0]; i++) {
    if (outside[i].function != NULL && object_function(object, outside[i].function) != NULL) say_outside(&outside[i], name);
  }
}

// A library of ours that takes the place of one of NVIDIA's: NULL, none has this file's name. The text is the caller's to free.
static char *own_library(const char *file) {
  const char *folder = own_folder();
  char *path;
  if (folder == NULL || strncmp(file, "lib", 3) != 0 || asprintf(&path, "%s/%s", folder, file) < 0) return NULL;
  if (access(path, R_OK) == 0) return path;
  free(path);
  return NULL;
}

// Names that an object asks our libraries for and that they do not have. The dynamic linker would end the program with a line of its own,
// at once or at the first call.
typedef struct Offered {
  const char *file, *prefix, *name;
  Object exports; // read when first needed
} Offered;
static Offered offered[] = {{.file = "libcublasLt.so.13", .prefix = "cublasLt", .name = "cuBLASLt"},
                            {.file = "libcublas.so.13", .prefix = "cublas", .name = "cuBLAS"},
                            {.file = "libcurand.so.10", .prefix = "curand", .name = "cuRAND"}};

static bool is_lacking(Offered *library, const char *name) {
  char *path = library->exports.file == NULL ? own_library(library->file) : NULL;
  if (path != NULL) object_read(&library->exports, path);
  free(path);
  return library->exports.file != NULL && object_function(&library->exports, name) == NULL;
}

static Offered *offered_for(const char *name) {
  for (size_t i = 0; i < sizeof offered / sizeof offered[0]; i++) {
    size_t length = strlen(offered[i].prefix);
    if (strncmp(name, offered[i].prefix, length) == 0 && isupper((unsigned char)name[length])) return &offered[i];
  }
  return NULL;
}

static void look_for_lacking(const Object *object, const char *name) {
  const char *first = NULL;
  Offered *of = NULL;
  uint32_t count = 0;
  for (uint32_t i = 0; i < object->asked_count; i++) {
    Offered *library = offered_for(object->asked[i]);
    if (library == NULL || object_function(object, object->asked[i]) != NULL || !is_lacking(library, object->asked[i])) continue;
    if (count++ == 0) first = object->asked[i], of = library;
  }
  if (count == 0) return;
  char more[32] = "";
  if (count > 1) snprintf(more, sizeof more, " and %u other functions", count - 1);
  dprintf(STDERR_FILENO, "redoubt: %s asks for %s%s, which Redoubt's %s does not have: it cannot start, or it ends at the call\n", name,
          first, more, of->name);
}

// ---- The dynamic linker's calls --------------------------------------------------------------------

#define AUDIT __attribute__((visibility("default")))
AUDIT unsigned la_version(unsigned version);
AUDIT unsigned la_objopen(struct link_map *map, Lmid_t space, uintptr_t *cookie);
AUDIT void la_preinit(uintptr_t *cookie);
AUDIT char *la_objsearch(const char *name, uintptr_t *cookie, unsigned flag);

unsigned la_version(unsigned version) {
  if (getenv("REDOUBT_RECORDS") != NULL) image_mark();
  return version < LAV_CURRENT ? version : LAV_CURRENT;
}

static void look_at(const struct link_map *map, const char *path, bool is_program) {
  Object object;
  if (!object_read(&object, path)) return;
  bool has_runtime = object_function(&object, "__cudaRegisterFatBinary") != NULL && object_function(&object, "cudaMalloc") != NULL;
  bool stripped = object.has_kernels && !object.asks_runtime;
  char program[MOST_PATH] = "";
  if (is_program && readlink(path, program, sizeof program - 1) < 0) program[0] = '\0';
  const char *name = is_program ? program : path;
  if (has_runtime && !take_over(map->l_addr, &object)) {
    dprintf(STDERR_FILENO, "redoubt: the static CUDA runtime in %s cannot be replaced: link with 'nvcc -cudart shared'\n", name);
    if (is_program) refuse_program();
  } else if (stripped) {
    dprintf(STDERR_FILENO, "redoubt: %s %s the static CUDA runtime and is stripped, so that the runtime cannot be replaced: %s\n", name,
            is_program ? "was linked with" : "carries",
            is_program ? "link it without -s, or with 'nvcc -cudart shared'" : "what it runs on a GPU is not simulated");
    if (is_program) refuse_program();
  }
  look_for_outside(&object, name);
  look_for_lacking(&object, name);
  object_free(&object);
}

static bool has_started; // the program and the libraries that it names are loaded

void la_preinit(uintptr_t *cookie) {
  (void)cookie;
  has_started = true;
}

// The dynamic linker's last place to look for a library.
static bool is_last_place(const char *path, unsigned flag) {
  const char *slash = strrchr(path, '/');
  size_t length = slash == NULL ? 0 : (size_t)(slash - path);
  bool is_last = (length == 8 && strncmp(path, "/usr/lib", length) == 0) || (length == 10 && strncmp(path, "/usr/lib64", length) == 0);
  return flag == LA_SER_DEFAULT && is_last;
}

// A library is looked for, whether it is there or not. One that we have is ours, wherever the program would look. One of NVIDIA's that we
// do not have is named; a program that cannot start without it and does not find it ends here, before the linker's own line.
char *la_objsearch(const char *name, uintptr_t *cookie, unsigned flag) {
  (void)cookie;
  const char *slash = strrchr(name, '/'), *file = slash == NULL ? name : slash + 1;
  char *own = flag == LA_SER_ORIG ? own_library(file) : NULL;
  if (own != NULL) return own; // kept: the dynamic linker has it
  for (size_t i = 0; i < sizeof outside / sizeof outside[0]; i++) {
    if (strncmp(file, outside[i].library, strlen(outside[i].library)) != 0) continue;
    say_outside(&outside[i], file);
    if (!has_started && is_last_place(name, flag) && access(name, R_OK) != 0) refuse_program();
    break;
  }
  return (char *)(uintptr_t)name;
}

// The executable has an empty name. Our own libraries are not looked at.
unsigned la_objopen(struct link_map *map, Lmid_t space, uintptr_t *cookie) {
  (void)cookie;
  const char *folder = own_folder();
  size_t length = folder == NULL ? 0 : strlen(folder);
  bool ours = length > 0 && strncmp(map->l_name, folder, length) == 0 && map->l_name[length] == '/';
  bool is_program = map->l_name[0] == '\0', is_file = strchr(map->l_name, '/') != NULL;
  if (space == LM_ID_BASE && !ours && (is_program || is_file)) look_at(map, is_program ? "/proc/self/exe" : map->l_name, is_program);
  return 0;
}
