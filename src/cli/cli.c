// Which command was meant.
#include "cli/cli.h"

#include <stdio.h>

typedef struct Command {
  const char *name;
  int (*run)(int argc, char **argv);
  void (*help)(void);
} Command;

static const Command commands[] = {
    {"run", command_run, help_run},
    {"check", command_check, help_check},
    {"campaign", command_campaign, help_campaign},
    {"replay", command_replay, help_replay},
    {"report", command_report, help_report},
    {"compare", command_compare, help_compare},
    {"merge", command_merge, help_merge},
    {"reproduce", command_reproduce, help_reproduce},
    {"list", command_list, help_list},
    {"asm", command_asm, help_asm},
    {"disasm", command_disasm, help_disasm},
};

static const Command *find_command(const char *name) {
  for (size_t i = 0; i < COUNT_OF(commands); i++) {
    if (strcmp(commands[i].name, name) == 0) return &commands[i];
  }
  return NULL;
}

static int unknown_command(const char *name) {
  const char *names[COUNT_OF(commands) + 2] = {"help", "version"};
  for (size_t i = 0; i < COUNT_OF(commands); i++) names[i + 2] = commands[i].name;
  const char *near = text_nearest(name, names, COUNT_OF(names));
  if (near != NULL) return message_usage("", "unknown command '%s'; did you mean '%s'?", name, near);
  return message_usage("", "unknown command '%s'", name);
}

static int command_help(int argc, char **argv) {
  if (argc < 2) {
    help_main();
    return EXIT_OK;
  }
  const Command *command = find_command(argv[1]);
  if (command == NULL) return unknown_command(argv[1]);
  command->help();
  return EXIT_OK;
}

static int flush_output(int code) {
  if (fflush(stdout) == 0 && !ferror(stdout)) return code;
  message_error("cannot write the output");
  return code == EXIT_OK ? EXIT_INTERNAL : code;
}

int cli_main(int argc, char **argv) {
  if (argc < 2) {
    help_main();
    return flush_output(EXIT_BAD_INPUT);
  }
  const char *name = argv[1];
  if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0)
    return flush_output(command_help(argc - 1, argv + 1));
  if (strcmp(name, "--version") == 0 || strcmp(name, "version") == 0) {
    puts("redoubt " REDOUBT_VERSION);
    return flush_output(EXIT_OK);
  }
  const Command *command = find_command(name);
  if (command == NULL) return unknown_command(name);
  return flush_output(command->run(argc - 1, argv + 1));
}
