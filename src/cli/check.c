// redoubt check FILE.ptx...: every line that cannot be run, before running.
#include "cli/cli.h"

#include <getopt.h>
#include <stdio.h>

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

static int check_file(const char *path) {
  Arena *arena = arena_new();
  Diags diags = {0};
  PtxSource source = {.file = path};
  char *text;
  bool ok = file_read(arena, path, &text, &source.length, &diags);
  source.text = ok ? text : "";
  ok = ok && ptx_check(&source, &diags);
  int code = EXIT_OK;
  if (ok) {
    uint32_t kernels = count_kernels(&source);
    printf("%s: ok (%u kernel%s)\n", path, kernels, kernels == 1 ? "" : "s");
  } else {
    code = message_diags(&diags);
  }
  diags_free(&diags);
  arena_free(arena);
  return code;
}

int command_check(int argc, char **argv) {
  static const struct option options[] = {{"help", no_argument, NULL, 'h'}, {0}};
  opterr = 0;
  optind = 0;
  int option;
  while ((option = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
    if (option != 'h') return message_usage("check", "unknown option '%s'", argv[optind - 1]);
    help_check();
    return EXIT_OK;
  }
  if (optind == argc) return message_usage("check", "no file given");
  int code = EXIT_OK;
  for (int i = optind; i < argc; i++) {
    int result = check_file(argv[i]);
    if (result != EXIT_OK) code = result;
  }
  return code;
}
