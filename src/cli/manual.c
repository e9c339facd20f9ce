// redoubt manual: manual pages, the page of commands in docs/, and what shells need to complete a command line.
#include "cli/manual.h"

#include "cli/cli.h"
#include "cli/out_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

// ---- Manual pages: man(7) --------------------------------------------------------------------------

// Text for troff: a hyphen is one that can be copied, and no line is taken as a request.
static void add_roff(Text *out, const char *text, size_t length) {
  bool at_start = true;
  for (size_t i = 0; i < length; i++) {
    char c = text[i];
    if (at_start && (c == '.' || c == '\'')) text_add(out, "\\&");
    if (c == '\\') text_add(out, "\\e");
    else if (c == '-') text_add(out, "\\-");
    else if (c == '\'') text_add(out, "\\(aq");
    else if (c == '^') text_add(out, "\\(ha");
    else if (c == '~') text_add(out, "\\(ti");
    else text_add_bytes(out, &c, 1);
    at_start = c == '\n';
  }
}

static void add_roff_text(Text *out, const char *text) { add_roff(out, text, strlen(text)); }

// Lines as they are: columns stay columns.
static void add_lines(Text *out, const char *section, const char *lines) {
  text_add(out, ".SH %s\n.nf\n", section);
  add_roff_text(out, lines);
  text_add(out, ".fi\n");
}

static void add_option(const Option *row, Text *out) {
  text_add(out, ".TP\n");
  if (row->letter != 0) text_add(out, "\\fB\\-%c\\fR, ", row->letter);
  text_add(out, "\\fB\\-\\-");
  add_roff_text(out, row->name);
  text_add(out, "\\fR");
  if (row->argument != NULL) {
    text_add(out, row->may_lack ? "[=\\fI" : " \\fI");
    add_roff_text(out, row->argument);
    text_add(out, row->may_lack ? "\\fR]" : "\\fR");
  }
  text_add(out, "\n");
  add_roff_text(out, row->help);
  text_add(out, "\n");
}

static void add_options(const Command *command, Text *out) {
  text_add(out, ".SH OPTIONS\n");
  for (uint32_t g = 0; g < MOST_GROUPS && command->groups[g] != NULL; g++) {
    const OptionGroup *group = command->groups[g];
    if (group->title != NULL) {
      text_add(out, ".SS \"");
      add_roff_text(out, group->title);
      text_add(out, "\"\n");
    }
    for (uint32_t i = 0; i < group->count; i++) add_option(&group->options[i], out);
  }
  if (command->groups[0] != NULL) text_add(out, ".SS \"All commands\"\n");
  for (uint32_t i = 0; i < common_group.count; i++) add_option(&common_group.options[i], out);
}

static void add_title(const char *name, const char *summary, Text *out) {
  text_add(out, ".\\\" Made by 'redoubt manual' from the tables behind --help.\n.TH \"");
  for (const char *c = name; *c != '\0'; c++) text_add(out, "%c", *c >= 'a' && *c <= 'z' ? *c - 32 : *c);
  text_add(out, "\" 1 \"\" \"Redoubt %s\" \"Redoubt\"\n.SH NAME\n", version_number());
  add_roff_text(out, name);
  text_add(out, " \\- ");
  add_roff_text(out, summary);
  text_add(out, "\n");
}

static void main_page(Text *out) {
  add_title("redoubt", "run GPU programs on a simulated GPU, break it on purpose, and say what that does", out);
  text_add(out, ".SH SYNOPSIS\n\\fBredoubt\\fR \\fICOMMAND\\fR [\\fIoptions\\fR]\n.SH DESCRIPTION\n%s\n.SH COMMANDS\n", main_help_about);
  for (uint32_t i = 0; i < command_count; i++) {
    text_add(out, ".TP\n\\fB%s\\fR \\fI", commands[i]->name);
    add_roff_text(out, commands[i]->usage);
    text_add(out, "\\fR\n");
    add_roff_text(out, commands[i]->summary);
    text_add(out, ". See \\fBredoubt\\-%s\\fR(1).\n", commands[i]->name);
  }
  text_add(out, ".TP\n\\fBhelp\\fR \\fICOMMAND\\fR\nmore about a command.\n.TP\n\\fBversion\\fR\nwhich Redoubt this is.\n");
  add_lines(out, "EXAMPLES AND EXIT CODES", main_help_ending);
}

static void command_page(const Command *command, Text *out) {
  char name[64];
  snprintf(name, sizeof name, "redoubt-%s", command->name);
  add_title(name, command->summary, out);
  add_lines(out, "SYNOPSIS", command->synopsis);
  if (command->about != NULL) add_lines(out, "DESCRIPTION", command->about);
  add_options(command, out);
  if (command->ending != NULL) add_lines(out, "NOTES", command->ending);
  text_add(out, ".SH SEE ALSO\n\\fBredoubt\\fR(1)\n");
}

void manual_page(const Command *command, Text *out) {
  if (command == NULL) main_page(out);
  else command_page(command, out);
}

// ---- A page of docs/ -------------------------------------------------------------------------------

void manual_markdown(Text *out) {
  text_add(out,
           "# Commands\n\nMade from the tables of `src/cli` by `redoubt manual --markdown`: the same as `redoubt help COMMAND` and the "
           "manual pages say.\n\n| command | what |\n|---|---|\n");
  for (uint32_t i = 0; i < command_count; i++)
    text_add(out, "| [`redoubt %s %s`](#%s) | %s |\n", commands[i]->name, commands[i]->usage, commands[i]->name, commands[i]->summary);
  for (uint32_t i = 0; i < command_count; i++) {
    text_add(out, "\n## %s\n\n```text\n", commands[i]->name);
    command_help(commands[i], out);
    text_add(out, "```\n");
  }
}

// ---- The command -----------------------------------------------------------------------------------

typedef struct ManualWishes {
  bool markdown;
  const char *shell, *folder;
} ManualWishes;

typedef struct Shell {
  const char *name, *file; // file: as the shell wants it to be called
  void (*write)(Text *out);
} Shell;
static const Shell shells[] = {
    {"bash", "redoubt.bash", completion_bash}, {"zsh", "_redoubt", completion_zsh}, {"fish", "redoubt.fish", completion_fish}};

static const Shell *find_shell(const char *name) {
  for (size_t i = 0; i < COUNT_OF(shells); i++) {
    if (strcmp(shells[i].name, name) == 0) return &shells[i];
  }
  return NULL;
}

static bool take_shell(const OptionUse *use) {
  if (find_shell(use->text) == NULL) return option_wrong(use, "must be bash, zsh or fish");
  return option_text(use);
}

static bool write_file(const Files *files, const char *folder, const char *name, Text *text, Diags *diags) {
  bool good = out_text(files, arena_format(files->arena, "%s/%s", folder, name), text, diags);
  text_free(text);
  *text = (Text){0};
  return good;
}

static int write_folder(const char *folder, Arena *arena) {
  Diags diags = {0};
  Files files = {.arena = arena, .quiet = true};
  Text text = {0};
  if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
    message_error("%s: cannot be made: %s", folder, strerror(errno));
    return EXIT_BAD_INPUT;
  }
  manual_page(NULL, &text);
  bool good = write_file(&files, folder, "redoubt.1", &text, &diags);
  for (uint32_t i = 0; i < command_count && good; i++) {
    manual_page(commands[i], &text);
    good = write_file(&files, folder, arena_format(arena, "redoubt-%s.1", commands[i]->name), &text, &diags);
  }
  for (size_t i = 0; i < COUNT_OF(shells) && good; i++) {
    shells[i].write(&text);
    good = write_file(&files, folder, shells[i].file, &text, &diags);
  }
  return good ? EXIT_OK : message_diags(&diags);
}

static int print_manual(const Operands *operands, const ManualWishes *wishes, Arena *arena) {
  int kinds = wishes->markdown + (wishes->shell != NULL) + (wishes->folder != NULL);
  if (kinds > 1) return message_usage("manual", "--markdown, --completion and --folder do not go together");
  if (kinds > 0 && operands->count > 0) return message_usage("manual", "'%s' is one too many", operands->items[0]);
  if (wishes->folder != NULL) return write_folder(wishes->folder, arena);
  const Command *command = operands->count == 0 ? NULL : command_find(operands->items[0]);
  if (operands->count > 0 && command == NULL) return command_unknown(operands->items[0]);
  Text text = {0};
  if (wishes->markdown) manual_markdown(&text);
  else if (wishes->shell != NULL) find_shell(wishes->shell)->write(&text);
  else manual_page(command, &text);
  fputs(text.at, stdout);
  text_free(&text);
  return EXIT_OK;
}

static int run_manual(int argc, char **argv) {
  ManualWishes wishes = {0};
  Operands operands;
  Arena *arena = arena_new();
  bool good = options_parse(&command_manual, &wishes, arena, argc, argv, &operands);
  int code = good ? print_manual(&operands, &wishes, arena) : operands.exit_code;
  arena_free(arena);
  return code;
}

static const Option options[] = {
    {"completion", 0, "SHELL", "instead, what bash, zsh or fish needs to complete command lines", .take = take_shell,
     .offset = offsetof(ManualWishes, shell)},
    {"markdown", 0, NULL, "instead, every command as the page that docs/ holds", .take = option_flag,
     .offset = offsetof(ManualWishes, markdown)},
    {"folder", 0, "FOLDER", "write all manual pages and completions into a folder, as an installation takes them", .take = option_text,
     .offset = offsetof(ManualWishes, folder)},
};
static const OptionGroup group = OPTION_GROUP(NULL, options);

const Command command_manual = {
    .name = "manual",
    .usage = "COMMAND",
    .summary = "the manual page of a command; completions of bash, zsh and fish",
    .synopsis = "redoubt manual [COMMAND]                 the manual page, as man reads it\n"
                "redoubt manual --completion SHELL        what a shell needs to complete command lines\n",
    .about = "'make install' and the Debian package put all of this into its place. Without an installation:\n"
             "\n"
             "  redoubt manual campaign | man -l -\n"
             "  . <(redoubt manual --completion bash)\n",
    .groups = {&group},
    .operand = "command",
    .most_operands = 1,
    .run = run_manual,
};
