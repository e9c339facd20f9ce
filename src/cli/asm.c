// redoubt asm, redoubt disasm: G80 assembly to machine words and back.
#include "cli/cli.h"
#include "cli/out_file.h"
#include "sass/sass.h"

typedef void (*Writer)(const SassProgram *program, Text *out);

static bool convert(Files *files, const char *path, const char *output, Writer writer, Diags *diags) {
  files_read(files, path);
  if (!files_write(files, output, diags)) return false;
  SassProgram *program = sass_read(path, diags);
  if (program == NULL) return false;
  Text text = {0};
  writer(program, &text);
  bool good = out_text(files, output, &text, diags);
  text_free(&text);
  sass_program_free(program);
  return good;
}

typedef struct AsmWishes {
  const char *output;
} AsmWishes;

static int convert_named(const Command *command, Writer writer, int argc, char **argv) {
  AsmWishes wishes = {0};
  Operands operands;
  Diags diags = {0};
  Arena *arena = arena_new();
  int code = EXIT_OK;
  if (options_parse(command, &wishes, arena, argc, argv, &operands)) {
    Files files = {.arena = arena, .quiet = operands.quiet};
    if (!convert(&files, operands.items[0], wishes.output, writer, &diags)) code = message_diags(&diags);
  } else {
    code = operands.exit_code;
  }
  arena_free(arena);
  diags_free(&diags);
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
