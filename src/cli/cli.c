// Which command was meant.
#include "cli/cli.h"

#include <stdio.h>

const Command *const commands[] = {&command_run,    &command_avf,       &command_check,  &command_campaign, &command_report,
                                   &command_export, &command_compare,   &command_fmeda,  &command_grade,    &command_merge,
                                   &command_study,  &command_reproduce, &command_replay, &command_list,     &command_asm,
                                   &command_disasm, &command_status,    &command_task,   &command_gather,   &command_manual};
const uint32_t command_count = COUNT_OF(commands);

const Command *command_find(const char *name) {
  for (size_t i = 0; i < COUNT_OF(commands); i++) {
    if (strcmp(commands[i]->name, name) == 0) return commands[i];
  }
  return NULL;
}

int command_unknown(const char *name) {
  const char *names[COUNT_OF(commands) + 2] = {"help", "version"};
  for (size_t i = 0; i < COUNT_OF(commands); i++) names[i + 2] = commands[i]->name;
  const char *near = text_nearest(name, names, COUNT_OF(names));
  if (near != NULL) return message_usage("", "unknown command '%s'; did you mean '%s'?", name, near);
  return message_usage("", "unknown command '%s'", name);
}

// ---- Help ------------------------------------------------------------------------------------------

const char main_help_about[] = "Redoubt runs GPU programs on a simulated GPU; no GPU and no GPU toolkit are needed.";
const char main_help_ending[] = "Try first:\n"
                                "  redoubt run vecadd\n"
                                "  redoubt run scalarprod --machine fermi-gtx480\n"
                                "  redoubt campaign scalarprod --machine fermi-gtx480 --structure rf --faults 500\n"
                                "  redoubt list\n"
                                "\n"
                                "Exit codes: 0 all went well, 1 results are wrong, 2 bad usage or input,\n"
                                "            3 the simulated program trapped, 4 internal error, 5 a journal is unfinished.\n";

static void print_main_help(void) {
  printf("%s\n\n", main_help_about);
  for (size_t i = 0; i < COUNT_OF(commands); i++) {
    const Command *command = commands[i];
    int used = printf("  redoubt %s %s", command->name, command->usage);
    printf("%*s%s\n", used < 26 ? 26 - used : 1, "", command->summary);
  }
  printf("  redoubt help COMMAND    more about a command\n"
         "  redoubt version\n"
         "\n%s",
         main_help_ending);
}

static int print_help(int argc, char **argv) {
  if (argc < 2) {
    print_main_help();
    return EXIT_OK;
  }
  const Command *command = command_find(argv[1]);
  if (command == NULL) return command_unknown(argv[1]);
  Text text = {0};
  command_help(command, &text);
  fputs(text.at, stdout);
  text_free(&text);
  return EXIT_OK;
}

static int flush_output(int code) {
  if (fflush(stdout) == 0 && !ferror(stdout)) return code;
  message_error("cannot write the output");
  return code == EXIT_OK ? EXIT_INTERNAL : code;
}

int cli_main(int argc, char **argv) {
  if (argc < 2) {
    print_main_help();
    return flush_output(EXIT_BAD_INPUT);
  }
  const char *name = argv[1];
  if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0)
    return flush_output(print_help(argc - 1, argv + 1));
  if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0 || strcmp(name, "version") == 0) {
    printf("redoubt %s (commit %s)\n", version_number(), version_commit());
    return flush_output(EXIT_OK);
  }
  const Command *command = command_find(name);
  if (command == NULL) return command_unknown(name);
  return flush_output(command->run(argc - 1, argv + 1));
}
