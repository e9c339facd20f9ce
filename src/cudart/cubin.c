// Cubins are ELF files of 64 bits, little endian. A section of the type INFO_TYPE is a list of attributes: a byte of format, a byte that names the
// attribute, two bytes that are the value or, in format FORMAT_SIZED, the bytes of the value that follows. The attribute
// REGISTER_COUNT has a symbol's index and the count. The section's link names the symbol table, whose link names the texts.
// Found by changing one thing at a time in kernels compiled by nvcc 13.0. Offsets and sizes are the file's, so each is checked.
#include "cudart/cubin.h"

#include <elf.h>

enum { CUDA_ELF = 190, INFO_TYPE = 0x70000000, FORMAT_SIZED = 4, REGISTER_COUNT = 0x2f, RECORD_HEAD = 4, MOST_REGISTERS = 255 };

typedef struct Cubin {
  const uint8_t *bytes;
  uint64_t count;
  uint64_t sections_at, sections;
} Cubin;

// A stretch of the file; NULL: it is not inside.
static const uint8_t *stretch(const Cubin *cubin, uint64_t at, uint64_t bytes) {
  return at <= cubin->count && bytes <= cubin->count - at ? cubin->bytes + at : NULL;
}

static bool section_at(const Cubin *cubin, uint64_t index, Elf64_Shdr *section) {
  const uint8_t *at = index >= cubin->sections ? NULL : stretch(cubin, cubin->sections_at + index * sizeof *section, sizeof *section);
  if (at == NULL) return false;
  memcpy(section, at, sizeof *section);
  return true;
}

// A symbol's name; NULL: the table does not lead to one.
static const char *symbol_name(const Cubin *cubin, uint32_t table, uint32_t index) {
  Elf64_Shdr symbols, texts;
  if (!section_at(cubin, table, &symbols) || !section_at(cubin, symbols.sh_link, &texts)) return NULL;
  Elf64_Sym symbol;
  if (index >= symbols.sh_size / sizeof symbol || stretch(cubin, symbols.sh_offset, symbols.sh_size) == NULL) return NULL;
  memcpy(&symbol, cubin->bytes + symbols.sh_offset + index * sizeof symbol, sizeof symbol);
  const uint8_t *text = stretch(cubin, texts.sh_offset, texts.sh_size);
  if (text == NULL || symbol.st_name >= texts.sh_size) return NULL;
  uint64_t room = texts.sh_size - symbol.st_name;
  return memchr(text + symbol.st_name, 0, room) == NULL ? NULL : (const char *)text + symbol.st_name;
}

static bool read_attributes(const Cubin *cubin, const Elf64_Shdr *section, Arena *arena, CubinKernels *kernels) {
  const uint8_t *at = stretch(cubin, section->sh_offset, section->sh_size);
  for (uint64_t room = at == NULL ? 0 : section->sh_size; room >= RECORD_HEAD;) {
    uint16_t bytes;
    memcpy(&bytes, at + 2, sizeof bytes);
    uint64_t used = RECORD_HEAD + (at[0] == FORMAT_SIZED ? bytes : 0u);
    if (used > room) return false;
    uint32_t value[2] = {0};
    if (at[0] == FORMAT_SIZED && at[1] == REGISTER_COUNT && bytes == sizeof value) {
      memcpy(value, at + RECORD_HEAD, sizeof value);
      const char *name = symbol_name(cubin, section->sh_link, value[0]);
      if (name == NULL || value[1] == 0 || value[1] > MOST_REGISTERS) return false;
      *VEC_PUSH(kernels, arena) = (CubinKernel){name, value[1]};
    }
    at += used;
    room -= used;
  }
  return at != NULL;
}

bool cubin_kernels(const uint8_t *bytes, size_t count, Arena *arena, CubinKernels *kernels) {
  Elf64_Ehdr head;
  if (count < sizeof head) return false;
  memcpy(&head, bytes, sizeof head);
  bool is_cubin = memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 && head.e_ident[EI_CLASS] == ELFCLASS64 &&
                  head.e_ident[EI_DATA] == ELFDATA2LSB && head.e_machine == CUDA_ELF && head.e_shentsize == sizeof(Elf64_Shdr);
  Cubin cubin = {bytes, count, head.e_shoff, head.e_shnum};
  bool good = is_cubin && head.e_shoff <= count;
  for (uint64_t i = 0; i < cubin.sections && good; i++) {
    Elf64_Shdr section;
    good = section_at(&cubin, i, &section);
    if (good && section.sh_type == INFO_TYPE && section.sh_size != 0) good = read_attributes(&cubin, &section, arena, kernels);
  }
  return good;
}
