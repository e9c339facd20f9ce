// Assembly text to a program, and back. A line holds labels, then a directive or instructions that end with ';' (the last
// one may leave it out); comments as in C, or from '#' to the end of the line.
#include "sass/sass_internal.h"

typedef struct Label {
  Slice name;
  uint32_t address; // bytes
} Label;

// A target that was written as a name.
typedef struct Fixup {
  Slice name;
  uint32_t word; // index of the instruction's first word
  int line, column;
} Fixup;

typedef struct Assembler {
  SassProgram *program;
  Arena *arena;
  const char *file;
  Diags *diags;
  VEC(uint32_t) words;
  VEC(uint32_t) lines;
  VEC(uint32_t) constants;
  VEC(Label) labels;
  VEC(Fixup) fixups;
  int line;
  const char *line_start;
  bool in_comment;
} Assembler;

static bool fail(Assembler *assembler, const char *at, const char *text) {
  return diags_add(assembler->diags, assembler->file, assembler->line, (int)(at - assembler->line_start) + 1, "%s", text);
}

static void add_word(Assembler *assembler, uint32_t word) {
  *VEC_PUSH(&assembler->words, assembler->arena) = word;
  *VEC_PUSH(&assembler->lines, assembler->arena) = (uint32_t)assembler->line;
}

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v'; }

static bool is_name(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$'; }

static const char *skip_space(const char *at, const char *end) {
  while (at < end && is_space(*at)) at++;
  return at;
}

// ---- Directives ------------------------------------------------------------------------------------------------------
typedef struct Arguments {
  uint32_t values[64];
  uint32_t count;
  const char *places[64];
} Arguments;

static bool parse_arguments(Assembler *assembler, const char *at, const char *end, Arguments *arguments) {
  arguments->count = 0;
  for (;;) {
    at = skip_space(at, end);
    const char *start = at;
    while (at < end && *at != ',' && !is_space(*at)) at++;
    Slice word = {start, (uint32_t)(at - start)};
    uint32_t value;
    bool negative;
    if (!number_parse(word, &value, &negative)) return fail(assembler, start, "expected a number");
    if (arguments->count == COUNT_OF(arguments->values)) return fail(assembler, start, "too many numbers on one line");
    arguments->places[arguments->count] = start;
    arguments->values[arguments->count++] = negative ? 0 - value : value;
    at = skip_space(at, end);
    if (at == end) return true;
    if (*at != ',') return fail(assembler, at, "expected ','");
    at++;
  }
}

typedef enum DirectiveKind { DIRECTIVE_NAME, DIRECTIVE_WORDS, DIRECTIVE_CONSTANTS, DIRECTIVE_NUMBERS } DirectiveKind;

typedef struct Directive {
  const char *name;
  DirectiveKind kind;
  size_t offset;              // of DIRECTIVE_NUMBERS in SassProgram
  uint32_t least, most;       // numbers given
  uint32_t smallest, largest; // each of them
} Directive;

static const Directive directives[] = {
    {".entry", DIRECTIVE_NAME, 0, 1, 1, 0, 0},
    {".word", DIRECTIVE_WORDS, 0, 1, 64, 0, UINT32_MAX},
    {".const", DIRECTIVE_CONSTANTS, 0, 1, 64, 0, UINT32_MAX},
    {".gprs", DIRECTIVE_NUMBERS, offsetof(SassProgram, gprs), 1, 1, 1, 128},
    {".shmem", DIRECTIVE_NUMBERS, offsetof(SassProgram, shared_bytes), 1, 1, 0, 16384},
    {".params", DIRECTIVE_NUMBERS, offsetof(SassProgram, param_count), 1, 1, 0, SASS_MAX_PARAMS},
    {".blocks_per_core", DIRECTIVE_NUMBERS, offsetof(SassProgram, blocks_per_core), 1, 1, 1, 15},
    {".block", DIRECTIVE_NUMBERS, offsetof(SassProgram, block), 1, 3, 1, 1024},
    {".grid", DIRECTIVE_NUMBERS, offsetof(SassProgram, grid), 1, 2, 1, 65535},
};

static bool unknown_directive(Assembler *assembler, Slice name) {
  const char *names[COUNT_OF(directives)];
  for (size_t i = 0; i < COUNT_OF(directives); i++) names[i] = directives[i].name;
  char word[64] = {0};
  memcpy(word, name.at, name.length < sizeof word ? name.length : sizeof word - 1);
  const char *near = text_nearest(word, names, COUNT_OF(names));
  int column = (int)(name.at - assembler->line_start) + 1;
  if (near == NULL) return diags_add(assembler->diags, assembler->file, assembler->line, column, "unknown directive '%s'", word);
  return diags_add(assembler->diags, assembler->file, assembler->line, column, "unknown directive '%s'; did you mean '%s'?", word, near);
}

static bool set_name(Assembler *assembler, const char *at, const char *end) {
  at = skip_space(at, end);
  const char *stop = at;
  while (stop < end && is_name(*stop)) stop++;
  if (stop == at) return fail(assembler, at, "expected the kernel's name");
  if (skip_space(stop, end) != end) return fail(assembler, stop, "expected the end of the line");
  assembler->program->name = arena_copy_text(assembler->arena, at, (size_t)(stop - at));
  return true;
}

static bool set_numbers(Assembler *assembler, const Directive *directive, const Arguments *arguments) {
  for (uint32_t i = 0; i < arguments->count; i++) {
    uint32_t value = arguments->values[i];
    if (directive->kind == DIRECTIVE_WORDS) add_word(assembler, value);
    if (directive->kind == DIRECTIVE_CONSTANTS) *VEC_PUSH(&assembler->constants, assembler->arena) = value;
    if (directive->kind == DIRECTIVE_NUMBERS) memcpy((char *)assembler->program + directive->offset + 4 * i, &value, 4);
  }
  for (uint32_t i = arguments->count; i < directive->most && directive->kind == DIRECTIVE_NUMBERS; i++) {
    const uint32_t one = 1; // dimensions that are not given
    memcpy((char *)assembler->program + directive->offset + 4 * i, &one, 4);
  }
  return assembler->constants.count <= SASS_CONSTANT_WORDS || fail(assembler, arguments->places[0], "constant memory holds 2048 words");
}

static bool assemble_directive(Assembler *assembler, const char *at, const char *end) {
  const char *stop = at + 1;
  while (stop < end && is_name(*stop)) stop++;
  Slice name = {at, (uint32_t)(stop - at)};
  const Directive *directive = NULL;
  for (size_t i = 0; i < COUNT_OF(directives); i++) {
    if (slice_is(name, directives[i].name)) directive = &directives[i];
  }
  if (directive == NULL) return unknown_directive(assembler, name);
  if (directive->kind == DIRECTIVE_NAME) return set_name(assembler, stop, end);
  Arguments arguments;
  if (!parse_arguments(assembler, stop, end, &arguments)) return false;
  if (arguments.count < directive->least || arguments.count > directive->most) return fail(assembler, at, "wrong number of values");
  for (uint32_t i = 0; i < arguments.count; i++) {
    if (arguments.values[i] >= directive->smallest && arguments.values[i] <= directive->largest) continue;
    int column = (int)(arguments.places[i] - assembler->line_start) + 1;
    return diags_add(assembler->diags, assembler->file, assembler->line, column, "%s takes %u to %u", directive->name, directive->smallest,
                     directive->largest);
  }
  return set_numbers(assembler, directive, &arguments);
}

// ---- Lines -----------------------------------------------------------------------------------------------------------
static bool assemble_instruction(Assembler *assembler, const char *at, const char *end) {
  Statement statement = {.file = assembler->file, .line = assembler->line};
  SassInstr instr;
  Slice label;
  if (!statement_parse(at, end, assembler->line_start, &statement, assembler->diags)) return false;
  if (!statement_bind(&statement, &instr, &label, assembler->diags)) return false;
  if (label.length > 0) {
    Fixup *fixup = VEC_PUSH(&assembler->fixups, assembler->arena);
    *fixup = (Fixup){label, assembler->words.count, assembler->line, (int)(label.at - assembler->line_start) + 1};
  }
  add_word(assembler, instr.low);
  if (instr.bytes == 8) add_word(assembler, instr.high);
  return true;
}

static const Label *find_label(const Assembler *assembler, Slice name) {
  for (uint32_t i = 0; i < assembler->labels.count; i++) {
    if (slice_equal(assembler->labels.items[i].name, name)) return &assembler->labels.items[i];
  }
  return NULL;
}

// Takes the labels at the start of a line; gives what follows them.
static const char *take_labels(Assembler *assembler, const char *at, const char *end) {
  for (;;) {
    at = skip_space(at, end);
    const char *stop = at;
    while (stop < end && is_name(*stop)) stop++;
    const char *colon = skip_space(stop, end);
    if (stop == at || colon == end || *colon != ':') return at;
    Slice name = {at, (uint32_t)(stop - at)};
    if (at[0] >= '0' && at[0] <= '9') {
      fail(assembler, at, "labels do not begin with a digit");
    } else if (find_label(assembler, name) != NULL) {
      fail(assembler, at, "this label is already defined");
    } else {
      *VEC_PUSH(&assembler->labels, assembler->arena) = (Label){name, 4 * assembler->words.count};
    }
    at = colon + 1;
  }
}

static void assemble_line(Assembler *assembler, const char *at, const char *end) {
  at = take_labels(assembler, at, end);
  while (at < end) {
    const char *stop = memchr(at, ';', (size_t)(end - at));
    if (stop == NULL) stop = end;
    at = skip_space(at, stop);
    const char *last = stop;
    while (last > at && is_space(last[-1])) last--;
    if (at < last) {
      if (*at == '.') {
        assemble_directive(assembler, at, last);
      } else {
        assemble_instruction(assembler, at, last);
      }
    }
    at = stop < end ? skip_space(stop + 1, end) : end;
  }
}

// Blanks comments of a line in place, so that columns stay.
static void blank_comments(Assembler *assembler, char *at, char *end) {
  for (; at < end; at++) {
    bool opens = at + 1 < end && at[0] == '/' && at[1] == '*';
    bool closes = at + 1 < end && at[0] == '*' && at[1] == '/';
    if (assembler->in_comment) {
      assembler->in_comment = !closes;
      if (closes) at[1] = ' ';
      *at = ' ';
    } else if (opens) {
      assembler->in_comment = true;
      at[0] = at[1] = ' ';
      at++;
    } else if (*at == '#' || (at + 1 < end && at[0] == '/' && at[1] == '/')) {
      memset(at, ' ', (size_t)(end - at));
    }
  }
}

static void resolve_labels(Assembler *assembler) {
  for (uint32_t i = 0; i < assembler->fixups.count; i++) {
    const Fixup *fixup = &assembler->fixups.items[i];
    const Label *label = find_label(assembler, fixup->name);
    if (label == NULL) {
      diags_add(assembler->diags, assembler->file, fixup->line, fixup->column, "no label '%.*s'", (int)fixup->name.length, fixup->name.at);
      continue;
    }
    uint32_t *word = &assembler->words.items[fixup->word];
    *word = (uint32_t)field_put(*word, FIELD_TARGET, label->address);
  }
}

SassProgram *sass_assemble(const char *file, const char *text, size_t length, Diags *diags) {
  Arena *arena = arena_new();
  SassProgram *program = ARENA_NEW(arena, SassProgram);
  Assembler assembler = {.program = program, .arena = arena, .diags = diags};
  uint32_t errors = diags->count;
  program->arena = arena;
  assembler.file = program->file = arena_copy_text(arena, file, strlen(file));
  program->name = "kernel";
  char *copy = arena_copy_text(arena, text, length);
  for (char *at = copy, *end = copy + length; at < end;) {
    char *stop = memchr(at, '\n', (size_t)(end - at));
    if (stop == NULL) stop = end;
    assembler.line++;
    assembler.line_start = at;
    blank_comments(&assembler, at, stop);
    assemble_line(&assembler, at, stop);
    at = stop + 1;
  }
  resolve_labels(&assembler);
  program->words = assembler.words.items;
  program->lines = assembler.lines.items;
  program->count = assembler.words.count;
  program->constants = assembler.constants.items;
  program->constant_count = assembler.constants.count;
  if (program->count > SASS_MAX_WORDS) diags_add(diags, file, 0, 0, "instruction memory holds %u words", (unsigned)SASS_MAX_WORDS);
  if (diags->count == errors) return program;
  sass_program_free(program);
  return NULL;
}
