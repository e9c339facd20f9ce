// Files of machine code: words in hexadecimal, one a line, and assembly; and the way back to text.
#include "sass/sass_internal.h"

static bool is_hex_digit(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

// The next word of the text: false at its end or at something else, which *at then points to.
static bool next_word(const char **at, const char *end, int *line, const char **line_start, uint32_t *word) {
  while (*at < end && (is_space(**at) || **at == '#')) {
    if (**at == '#') {
      while (*at < end && **at != '\n') (*at)++;
      continue;
    }
    if (**at == '\n') {
      ++*line;
      *line_start = *at + 1;
    }
    (*at)++;
  }
  const char *start = *at;
  if (end - start > 2 && start[0] == '0' && (start[1] == 'x' || start[1] == 'X')) start += 2;
  const char *stop = start;
  uint32_t value = 0;
  for (; stop < end && is_hex_digit(*stop) && stop - start < 9; stop++) {
    value = value << 4 | (uint32_t)(*stop <= '9' ? *stop - '0' : (*stop | 32) - 'a' + 10);
  }
  bool ok = stop > start && stop - start <= 8 && (stop == end || is_space(*stop) || *stop == '#');
  if (ok) {
    *word = value;
    *at = stop;
  }
  return ok;
}

SassProgram *sass_read_hex(const char *file, const char *text, size_t length, Diags *diags) {
  Arena *arena = arena_new();
  SassProgram *program = ARENA_NEW(arena, SassProgram);
  program->arena = arena;
  program->file = arena_copy_text(arena, file, strlen(file));
  program->name = "kernel";
  VEC(uint32_t) words = {0};
  VEC(uint32_t) lines = {0};
  const char *at = text, *end = text + length, *line_start = text;
  int line = 1;
  uint32_t word;
  while (next_word(&at, end, &line, &line_start, &word)) {
    *VEC_PUSH(&words, arena) = word;
    *VEC_PUSH(&lines, arena) = (uint32_t)line;
  }
  program->words = words.items;
  program->lines = lines.items;
  program->count = words.count;
  if (at == end && words.count <= SASS_MAX_WORDS) return program;
  if (at != end) {
    diags_add(diags, file, line, (int)(at - line_start) + 1, "expected a word of up to 8 hexadecimal digits");
  } else {
    diags_add(diags, file, 0, 0, "instruction memory holds %u words", (unsigned)SASS_MAX_WORDS);
  }
  sass_program_free(program);
  return NULL;
}

SassProgram *sass_read_text(const char *path, const char *text, size_t length, Diags *diags) {
  size_t name = strlen(path);
  bool words = name > 4 && strcmp(path + name - 4, ".hex") == 0;
  return words ? sass_read_hex(path, text, length, diags) : sass_assemble(path, text, length, diags);
}

SassProgram *sass_read(const char *path, Diags *diags) {
  Arena *arena = arena_new();
  char *text;
  size_t length;
  SassProgram *program = NULL;
  if (file_read(arena, path, &text, &length, diags)) program = sass_read_text(path, text, length, diags);
  arena_free(arena);
  return program;
}

void sass_disassemble(const SassProgram *program, Text *out) {
  for (uint32_t i = 0; i < program->count;) {
    bool cut = sass_word_bytes(program->words[i]) == 8 && i + 1 == program->count;
    if (cut) {
      text_add(out, "/* %04x */ .word 0x%08x;\n", 4 * i, program->words[i]);
      break;
    }
    SassInstr instr;
    sass_decode(program->words[i], i + 1 < program->count ? program->words[i + 1] : 0, &instr);
    text_add(out, "/* %04x */ ", 4 * i);
    sass_format(&instr, out);
    text_add(out, "\n");
    i += instr.bytes / 4u;
  }
}

void sass_write_hex(const SassProgram *program, Text *out) {
  for (uint32_t i = 0; i < program->count; i++) text_add(out, "%08x\n", program->words[i]);
}

void sass_program_free(SassProgram *program) {
  if (program != NULL) arena_free(program->arena);
}
