// Register counts of cubins: one made here byte by byte, damaged ones, and the one that nvcc made.
#include "cudart/cubin.h"
#include "cudart/cuda_abi.h"
#include "cudart/fatbin.h"

#include <elf.h>
#include <setjmp.h>
#include <stdlib.h>
#include <cmocka.h>

enum { SECTIONS = 4, INFO = 1, SYMBOLS = 2, TEXTS = 3, INFO_TYPE = 0x70000000 };

// A section of texts, one of symbols (none, "first", "second"), one of attributes: a value of two bytes, the stack of a function, two counts.
typedef struct Made {
  Elf64_Ehdr head;
  Elf64_Shdr sections[SECTIONS];
  char texts[16];
  Elf64_Sym symbols[3];
  uint8_t info[40];
} Made;

static Made make(void) {
  static const uint8_t info[] = {3, 0x1b, 255, 0,                           // a value of two bytes
                                 4, 0x11, 8,   0, 2, 0, 0, 0, 40, 0, 0, 0,  // another attribute
                                 4, 0x2f, 8,   0, 2, 0, 0, 0, 63, 0, 0, 0,  // second: 63
                                 4, 0x2f, 8,   0, 1, 0, 0, 0, 18, 0, 0, 0}; // first: 18
  Made made = {.head = {.e_machine = 190, .e_shoff = offsetof(Made, sections), .e_shentsize = sizeof(Elf64_Shdr), .e_shnum = SECTIONS}};
  memcpy(made.head.e_ident, ELFMAG, SELFMAG);
  made.head.e_ident[EI_CLASS] = ELFCLASS64;
  made.head.e_ident[EI_DATA] = ELFDATA2LSB;
  made.sections[INFO] = (Elf64_Shdr){.sh_type = INFO_TYPE, .sh_offset = offsetof(Made, info), .sh_size = sizeof info, .sh_link = SYMBOLS};
  made.sections[SYMBOLS] =
      (Elf64_Shdr){.sh_type = SHT_SYMTAB, .sh_offset = offsetof(Made, symbols), .sh_size = sizeof made.symbols, .sh_link = TEXTS};
  made.sections[TEXTS] = (Elf64_Shdr){.sh_type = SHT_STRTAB, .sh_offset = offsetof(Made, texts), .sh_size = sizeof made.texts};
  memcpy(made.texts, "\0first\0second", 14);
  made.symbols[1].st_name = 1;
  made.symbols[2].st_name = 7;
  memcpy(made.info, info, sizeof info);
  return made;
}

// Read from memory of exactly that size: the sanitizer sees any read beyond.
static bool read_copy(const void *bytes, size_t count, CubinKernels *kernels, Arena *arena) {
  uint8_t *copy = malloc(count == 0 ? 1 : count);
  assert_non_null(copy);
  memcpy(copy, bytes, count);
  *kernels = (CubinKernels){0};
  bool good = cubin_kernels(copy, count, arena, kernels);
  for (uint32_t i = 0; i < kernels->count; i++)
    kernels->items[i].name = arena_copy_text(arena, kernels->items[i].name, strlen(kernels->items[i].name));
  free(copy);
  return good;
}

static void counts_are_found(void **state) {
  (void)state;
  Arena *arena = arena_new();
  CubinKernels kernels;
  Made made = make();
  assert_true(read_copy(&made, sizeof made, &kernels, arena));
  assert_int_equal(kernels.count, 2);
  assert_string_equal(kernels.items[0].name, "second");
  assert_int_equal(kernels.items[0].registers, 63);
  assert_string_equal(kernels.items[1].name, "first");
  assert_int_equal(kernels.items[1].registers, 18);
  arena_free(arena);
}

static void impossible_cubins_are_refused(void **state) {
  (void)state;
  Arena *arena = arena_new();
  CubinKernels kernels;
  for (int i = 0; i < 10; i++) {
    Made made = make();
    switch (i) {
    case 0: made.head.e_machine = 62; break; // code of another processor
    case 1: made.head.e_ident[EI_CLASS] = ELFCLASS32; break;
    case 2: made.head.e_shoff = UINT64_MAX; break;
    case 3: made.head.e_shnum = SECTIONS + 20; break; // sections beyond the end
    case 4: made.sections[INFO].sh_size = UINT64_MAX; break;
    case 5: made.sections[INFO].sh_link = 9; break;   // no such table of symbols
    case 6: made.symbols[2].st_name = 16; break;      // a name beyond the texts
    case 7: made.sections[TEXTS].sh_size = 13; break; // a name without an end
    case 8: made.info[24] = 0; break;                 // no registers
    default: made.info[20] = 200; break;              // no such symbol
    }
    assert_false(read_copy(&made, sizeof made, &kernels, arena));
  }
  Made made = make();
  for (size_t cut = 0; cut < sizeof made; cut++) assert_false(read_copy(&made, cut, &kernels, arena));
  for (uint64_t flip = 0; flip < 20000; flip++) {
    Made copy = made;
    for (uint64_t i = 0; i <= flip % 3; i++) {
      uint64_t bit = random_below(random_draw(7, i, flip), 8 * sizeof copy);
      ((uint8_t *)&copy)[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    read_copy(&copy, sizeof copy, &kernels, arena); // whatever it says: nothing is read beyond
  }
  arena_free(arena);
}

// As nvcc 13.0 made it (tests/cuda/fatbin/make.sh). The counts are those that `ptxas -v` tells.
static void counts_of_nvcc_are_found(void **state) {
  (void)state;
  Arena *arena = arena_new();
  Diags diags = {0};
  FatBinary fat = {0};
  CubinKernels kernels = {0};
  char *file;
  size_t count;
  assert_true(file_read(arena, "tests/cuda/fatbin/machine-code.fatbin", &file, &count, &diags));
  assert_true(fatbin_parse(file, count, arena, &fat, &diags));
  const uint8_t *code = fatbin_bytes(&fat.items[0], arena, &count, &diags);
  assert_non_null(code);
  assert_true(cubin_kernels(code, count, arena, &kernels));
  static const CubinKernel told[] = {{"scale", 10}, {"architecture", 4}, {"gather", 18}, {"store", 4}};
  assert_int_equal(kernels.count, COUNT_OF(told));
  for (uint32_t i = 0; i < COUNT_OF(told); i++) {
    uint32_t k = 0;
    while (k < kernels.count && strcmp(kernels.items[k].name, told[i].name) != 0) k++;
    assert_true(k < kernels.count);
    assert_int_equal(kernels.items[k].registers, told[i].registers);
  }
  arena_free(arena);
}

CudaError cudaLibraryLoadData(void **library, const void *code, int *options, void **values, uint32_t count, int *library_options,
                              void **library_values, uint32_t library_count);
CudaError cudaLibraryGetKernel(void **kernel, void *library, const char *name);
CudaError cudaFuncGetAttributes(FuncAttributes *attributes, const void *host);

// PTX and machine code of one source in one fat binary, as nvcc -arch=sm_75 makes it. With damage: a bit of the machine code's attributes.
static const void *both(Arena *arena, bool damaged) {
  enum { HEADER = 16 };
  Text image = {0};
  Diags diags = {0};
  static const char *const files[] = {"tests/cuda/fatbin/plain.fatbin", "tests/cuda/fatbin/machine-code.fatbin"};
  for (size_t i = 0; i < COUNT_OF(files); i++) {
    char *file;
    size_t count;
    assert_true(file_read(arena, files[i], &file, &count, &diags));
    text_add_bytes(&image, i == 0 ? file : file + HEADER, i == 0 ? count : count - HEADER);
    if (damaged && i == 1) memset(memmem(image.at, image.length, ELFMAG, SELFMAG), 0, 1);
  }
  uint64_t size = image.length - HEADER;
  memcpy(image.at + 8, &size, sizeof size);
  uint8_t *kept = arena_alloc(arena, image.length);
  memcpy(kept, image.at, image.length);
  text_free(&image);
  return kept;
}

static int registers_of(const void *image, const char *name) {
  void *library, *kernel;
  FuncAttributes attributes;
  assert_int_equal(cudaLibraryLoadData(&library, image, NULL, NULL, 0, NULL, NULL, 0), cudaSuccess);
  assert_int_equal(cudaLibraryGetKernel(&kernel, library, name), cudaSuccess);
  assert_int_equal(cudaFuncGetAttributes(&attributes, kernel), cudaSuccess);
  return attributes.registers;
}

static void kernels_have_the_given_registers(void **state) {
  (void)state;
  Arena *arena = arena_new();
  assert_int_equal(registers_of(both(arena, false), "gather"), 18);
  assert_int_equal(registers_of(both(arena, false), "scale"), 10);
  assert_int_equal(registers_of(both(arena, false), "store"), 4);
  assert_true(registers_of(both(arena, true), "store") > 6); // a line says that the machine code cannot be read
  arena_free(arena);
}

// The library reads its settings when it is loaded: this comes before.
__attribute__((constructor(101))) static void choose_given(void) { setenv("REDOUBT_SET", "sm.register_source=given", 1); }

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(counts_are_found),
      cmocka_unit_test(impossible_cubins_are_refused),
      cmocka_unit_test(counts_of_nvcc_are_found),
      cmocka_unit_test(kernels_have_the_given_registers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
