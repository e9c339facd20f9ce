// redoubt asm, redoubt disasm: G80 assembly to machine words and back.
#include "cli/cli.h"
#include "sass/sass.h"

#include <stdio.h>

static int write_text(const Text *text, const char *path) {
  FILE *file = path == NULL ? stdout : fopen(path, "w");
  if (file == NULL) {
    message_error("cannot write '%s'", path);
    return EXIT_BAD_INPUT;
  }
  size_t written = text->length == 0 ? 0 : fwrite(text->at, 1, text->length, file);
  bool ok = written == text->length;
  if (path != NULL) ok = fclose(file) == 0 && ok;
  if (ok) return EXIT_OK;
  message_error("cannot write '%s'", path == NULL ? "the output" : path);
  return EXIT_INTERNAL;
}

typedef void (*Writer)(const SassProgram *program, Text *out);

static int convert(const char *path, const char *output, Writer writer) {
  Diags diags = {0};
  SassProgram *program = sass_read(path, &diags);
  if (program == NULL) return message_diags(&diags);
  Text text = {0};
  writer(program, &text);
  int code = write_text(&text, output);
  text_free(&text);
  sass_program_free(program);
  diags_free(&diags);
  return code;
}

typedef struct AsmWishes {
  const char *output;
} AsmWishes;

static int convert_named(const Command *command, Writer writer, int argc, char **argv) {
  AsmWishes wishes = {0};
  Operands operands;
  Arena *arena = arena_new();
  bool good = options_parse(command, &wishes, arena, argc, argv, &operands);
  int code = good ? convert(operands.items[0], wishes.output, writer) : operands.exit_code;
  arena_free(arena);
  return code;
}

static int run_asm(int argc, char **argv) { return convert_named(&command_asm, sass_write_hex, argc, argv); }
static int run_disasm(int argc, char **argv) { return convert_named(&command_disasm, sass_disassemble, argc, argv); }

static const Option options[] = {
    {"output", 'o', "FILE", "where the result goes (default: the terminal)", .take = option_text, .offset = offsetof(AsmWishes, output)},
};
static const OptionGroup group = OPTION_GROUP(NULL, options);

const Command command_asm = {
    .name = "asm",
    .usage = "FILE",
    .summary = "assemble G80 code",
    .synopsis = "redoubt asm FILE.sass [-o FILE.hex]\n",
    .about = "Assembles G80 (sm_1.0) code, the instructions of the FlexGripPlus machine, to 32-bit words, one a line,\n"
             "in hexadecimal. docs/sass.md describes the language.\n",
    .groups = {&group},
    .ending = "Exit codes: 0 all went well, 2 the file has errors; each is shown with line and column.\n",
    .operand = "file",
    .wanted = "no file given",
    .least_operands = 1,
    .most_operands = 1,
    .run = run_asm,
};

const Command command_disasm = {
    .name = "disasm",
    .usage = "FILE",
    .summary = "the way back: words of G80 code as assembly",
    .synopsis = "redoubt disasm FILE.hex [-o FILE.sass]\n",
    .about = "Shows words of G80 code as assembly that 'redoubt asm' takes. Words that are no instruction are shown\n"
             "as .word. Bits without any effect are not shown, so they come back at their rest value.\n",
    .groups = {&group},
    .operand = "file",
    .wanted = "no file given",
    .least_operands = 1,
    .most_operands = 1,
    .run = run_disasm,
};
