// redoubt asm, redoubt disasm: G80 assembly to machine words and back.
#include "cli/cli.h"
#include "sass/sass.h"

#include <getopt.h>
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

static int command(int argc, char **argv, void (*help)(void), Writer writer) {
  static const struct option options[] = {{"help", no_argument, NULL, 'h'}, {"output", required_argument, NULL, 'o'}, {0}};
  const char *output = NULL;
  opterr = 0;
  optind = 0;
  int option;
  while ((option = getopt_long(argc, argv, ":ho:", options, NULL)) != -1) {
    switch (option) {
    case 'h': help(); return EXIT_OK;
    case 'o': output = optarg; break;
    case ':': return message_usage(argv[0], "option '%s' needs a value", argv[optind - 1]);
    default: return message_usage(argv[0], "unknown option '%s'", argv[optind - 1]);
    }
  }
  if (optind == argc) return message_usage(argv[0], "no file given");
  if (optind + 1 < argc) return message_usage(argv[0], "one file at a time, '%s' is one too many", argv[optind + 1]);
  return convert(argv[optind], output, writer);
}

int command_asm(int argc, char **argv) { return command(argc, argv, help_asm, sass_write_hex); }

int command_disasm(int argc, char **argv) { return command(argc, argv, help_disasm, sass_disassemble); }
