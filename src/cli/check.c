// redoubt check FILE...: every line of PTX files and fragment programs that cannot be run, before running.
#include "cli/cli.h"
#include "cli/run.h"
#include "cli/screen.h"
#include "shader/shader.h"

// Kernels of a file that has no problem.
static uint32_t count_kernels(const PtxSource *source) {
  Diags diags = {0};
  MirOptions options = {0};
  Program *program = ptx_compile(source, 1, &options, &diags);
  uint32_t kernels = 0;
  for (uint32_t i = 0; program != NULL && i < program->function_count; i++) kernels += program->functions[i].is_kernel;
  if (program != NULL) program_free(program);
  diags_free(&diags);
  return kernels;
}

static int check_shader(const char *path, bool quiet) {
  Arena *arena = arena_new();
  Diags diags = {0};
  SourceText source;
  ShaderProgram *program = shader_text(path, arena, &source, &diags) ? shader_parse(path, source.text, source.length, &diags) : NULL;
  int code = program != NULL ? EXIT_OK : message_diags(&diags);
  if (program != NULL && !quiet) {
    uint32_t instructions = program->count - 1, reads = program->texture_reads; // END is none
    screen_print(arena_format(arena, "%s: ok (%u instruction%s, %u texture read%s)\n", path, instructions, instructions == 1 ? "" : "s",
                              reads, reads == 1 ? "" : "s"));
  }
  shader_free(program);
  arena_free(arena);
  return code;
}

static int check_file(const char *path, bool quiet) {
  Arena *arena = arena_new();
  Diags diags = {0};
  PtxSource source = {.file = path};
  char *text;
  bool ok = file_read(arena, path, &text, &source.length, &diags);
  source.text = ok ? text : "";
  ok = ok && ptx_check(&source, &diags);
  int code = EXIT_OK;
  if (ok && !quiet) {
    uint32_t kernels = count_kernels(&source);
    screen_print(arena_format(arena, "%s: ok (%u kernel%s)\n", path, kernels, kernels == 1 ? "" : "s"));
  }
  if (!ok) code = message_diags(&diags);
  diags_free(&diags);
  arena_free(arena);
  return code;
}

static int check_files(int argc, char **argv) {
  Operands operands;
  Arena *arena = arena_new();
  bool good = options_parse(&command_check, NULL, arena, argc, argv, &operands);
  int code = good ? EXIT_OK : operands.exit_code;
  for (uint32_t i = 0; good && i < operands.count; i++) {
    bool is_shader = is_shader_file(operands.items[i]);
    int result = is_shader ? check_shader(operands.items[i], operands.quiet) : check_file(operands.items[i], operands.quiet);
    if (result != EXIT_OK) code = result;
  }
  arena_free(arena);
  return code;
}

const Command command_check = {
    .name = "check",
    .usage = "FILE...",
    .summary = "say what in a PTX file or fragment program cannot be run, line by line",
    .synopsis = "redoubt check FILE.ptx|FILE.fp...\n",
    .about = "Says, for every line that cannot be run, what is wrong with it: file, line, column and text.\n",
    .ending = "Exit codes: 0 every file can be run, 2 some line of some file cannot.\n"
              "\n"
              "Example:\n"
              "  redoubt check kernels/*.ptx\n",
    .operand = "file",
    .wanted = "no file given",
    .least_operands = 1,
    .most_operands = UINT32_MAX,
    .run = check_files,
};
