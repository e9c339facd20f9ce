// ELF files, read with distrust: a file may be cut off or hold any bytes.
#include "cudart/static/object.h"

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const registration = "__cudaRegisterFatBinary";

bool object_name_is(const char *symbol, const char *name) {
  size_t length = strlen(name);
  return strncmp(symbol, name, length) == 0 && (symbol[length] == '\0' || symbol[length] == '@');
}

static bool map_file(Object *object, const char *path) {
  int file = open(path, O_RDONLY | O_CLOEXEC);
  struct stat about;
  bool good = file >= 0 && fstat(file, &about) == 0 && S_ISREG(about.st_mode) && (size_t)about.st_size >= sizeof(Elf64_Ehdr);
  void *mapped = good ? mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, file, 0) : MAP_FAILED;
  if (file >= 0) close(file);
  if (mapped == MAP_FAILED) return false;
  *object = (Object){.file = mapped, .bytes = (size_t)about.st_size};
  return true;
}

// The bytes of a section; NULL: they are not all in the file.
static const void *section_bytes(const Object *object, const Elf64_Shdr *section) {
  bool inside =
      section->sh_type != SHT_NOBITS && section->sh_offset <= object->bytes && section->sh_size <= object->bytes - section->sh_offset;
  return inside ? object->file + section->sh_offset : NULL;
}

// NULL: there are none, or they lie outside the file.
static const Elf64_Shdr *find_sections(const Object *object, uint32_t *count) {
  const Elf64_Ehdr *head = (const Elf64_Ehdr *)object->file;
  bool is_elf =
      memcmp(head->e_ident, ELFMAG, SELFMAG) == 0 && head->e_ident[EI_CLASS] == ELFCLASS64 && head->e_shentsize == sizeof(Elf64_Shdr);
  bool inside = is_elf && head->e_shoff % _Alignof(Elf64_Shdr) == 0 && head->e_shoff <= object->bytes &&
                head->e_shnum <= (object->bytes - head->e_shoff) / sizeof(Elf64_Shdr);
  *count = inside ? head->e_shnum : 0;
  return inside && head->e_shoff != 0 ? (const Elf64_Shdr *)(object->file + head->e_shoff) : NULL;
}

// Text that ends with a zero inside its section; "" otherwise.
static const char *text_at(const char *texts, uint64_t bytes, uint64_t at) {
  if (texts == NULL || at >= bytes || memchr(texts + at, '\0', bytes - at) == NULL) return "";
  return texts + at;
}

static void take_symbols(Object *object, const Elf64_Shdr *sections, uint32_t section_count, const Elf64_Shdr *table) {
  const Elf64_Sym *symbols = section_bytes(object, table);
  const Elf64_Shdr *strings = table->sh_link < section_count ? &sections[table->sh_link] : NULL;
  const char *texts = strings == NULL ? NULL : section_bytes(object, strings);
  uint64_t count = table->sh_size / sizeof *symbols;
  if (symbols == NULL || texts == NULL || table->sh_offset % _Alignof(Elf64_Sym) != 0) return;
  ObjectFunction *more = realloc(object->functions, (object->count + count) * sizeof *more);
  if (more == NULL) return;
  object->functions = more;
  if (table->sh_type == SHT_DYNSYM && object->asked == NULL) object->asked = calloc(count, sizeof *object->asked);
  for (uint64_t i = 0; i < count; i++) {
    const char *name = text_at(texts, strings->sh_size, symbols[i].st_name);
    if (object_name_is(name, registration)) object->asks_runtime = true;
    bool defined = ELF64_ST_TYPE(symbols[i].st_info) == STT_FUNC && symbols[i].st_shndx != SHN_UNDEF && symbols[i].st_value != 0;
    if (defined) object->functions[object->count++] = (ObjectFunction){name, symbols[i].st_value};
    bool asked = table->sh_type == SHT_DYNSYM && symbols[i].st_shndx == SHN_UNDEF && ELF64_ST_BIND(symbols[i].st_info) == STB_GLOBAL;
    if (asked && object->asked != NULL && object->asked_count < count) object->asked[object->asked_count++] = name;
  }
}

static int by_address(const void *one, const void *other) {
  const ObjectFunction *a = one, *b = other;
  return a->at < b->at ? -1 : a->at > b->at;
}

bool object_read(Object *object, const char *path) {
  if (!map_file(object, path)) return false;
  uint32_t count;
  const Elf64_Shdr *sections = find_sections(object, &count);
  const Elf64_Ehdr *head = (const Elf64_Ehdr *)object->file;
  if (sections == NULL || head->e_shstrndx >= count) {
    object_free(object);
    return false;
  }
  const Elf64_Shdr *names = &sections[head->e_shstrndx];
  const char *texts = section_bytes(object, names);
  for (uint32_t i = 0; i < count; i++) {
    const char *name = text_at(texts, names->sh_size, sections[i].sh_name);
    if (strcmp(name, ".nvFatBinSegment") == 0) object->has_kernels = true;
    bool is_table = sections[i].sh_type == SHT_SYMTAB || sections[i].sh_type == SHT_DYNSYM;
    if (is_table) take_symbols(object, sections, count, &sections[i]);
  }
  if (object->count > 0) qsort(object->functions, object->count, sizeof *object->functions, by_address);
  return true;
}

void object_free(Object *object) {
  if (object->file != NULL) munmap((void *)(uintptr_t)object->file, object->bytes);
  free(object->functions);
  free(object->asked);
  *object = (Object){0};
}

const ObjectFunction *object_function(const Object *object, const char *name) {
  for (uint32_t i = 0; i < object->count; i++) {
    if (object_name_is(object->functions[i].name, name)) return &object->functions[i];
  }
  return NULL;
}
