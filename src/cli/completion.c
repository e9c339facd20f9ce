// Completions of bash, zsh and fish. Commands, options and their help come from the tables behind --help; what values may be comes from
// the tables of the program: machines, workloads, protections, fault models, structures.
#include "cli/manual.h"

#include "cli/cli.h"
#include "fault/fault.h"
#include "protect/protect.h"
#include "study/study.h"

// ---- What a value or an operand may be ---------------------------------------------------------------

static void add_word(Text *out, const char *word) { text_add(out, "%s%s", out->length == 0 ? "" : " ", word); }

static void add_machines(Text *out) {
  for (uint32_t i = 0; i < builtin_machine_count; i++) add_word(out, builtin_machines[i].name);
}

static void add_targets(Text *out) {
  for (uint32_t i = 0; i < workload_count; i++) add_word(out, workloads[i]->name);
  for (uint32_t i = 0; i < g80_workload_count; i++) add_word(out, g80_workloads[i]->name);
  for (uint32_t i = 0; i < SET_COUNT; i++) text_add(out, " @%s", workload_sets[i].name);
}

static void add_sizes(Text *out) {
  for (uint32_t i = 0; i < SIZE_COUNT; i++) add_word(out, workload_size_text[i]);
}

static void add_schemes(Text *out) {
  for (uint32_t i = 0; i < protect_count; i++) add_word(out, protect_info(i)->name);
}

static void add_models(Text *out) {
  for (uint32_t i = 0; i < FAULT_MODELS; i++) add_word(out, fault_models[i].name);
}

static void add_structures(Text *out) {
  Diags diags = {0};
  Arena *arena = arena_new();
  Spec spec;
  bool good = spec_load(&spec, arena, "fermi-gtx480", &diags);
  ASSERT(good);
  HookChain none = {0};
  Machine *machine = machine_new(&spec, &none, &diags);
  ASSERT(machine != NULL);
  const RegionTable *regions = machine_regions(machine);
  for (uint32_t i = 0; i < regions->count; i++) {
    if ((regions->items[i].flags & REGION_INJECTABLE) != 0) add_word(out, regions->items[i].name);
  }
  add_word(out, "all");
  machine_free(machine);
  arena_free(arena);
}

static void add_params(Text *out) {
  for (uint32_t i = 0; i < param_count; i++) {
    add_word(out, param_info[i].key);
    text_add(out, "=");
  }
}

static void add_studies(Text *out) {
  for (uint32_t i = 0; i < builtin_study_file_count; i++) {
    if (strcmp(builtin_study_files[i].name, "study.ini") == 0) add_word(out, builtin_study_files[i].study);
  }
}

static void add_commands(Text *out) {
  for (uint32_t i = 0; i < command_count; i++) add_word(out, commands[i]->name);
}

// The first word of each line of its help that has one.
static void add_tables(Text *out) {
  for (const char *line = command_list.about; line != NULL && *line != '\0'; line = strchr(line, '\n') + 1) {
    if (strncmp(line, "  ", 2) != 0 || line[2] == ' ') continue;
    size_t length = strcspn(line + 2, " ");
    text_add(out, "%s%.*s", out->length == 0 ? "" : " ", (int)length, line + 2);
  }
}

typedef struct Value {
  const char *name; // of the option, or of the command whose operand it is
  void (*add)(Text *out);
  const char *words; // where no function adds them
  bool is_list;      // words with commas between them
  bool or_file;
} Value;

static const Value values[] = {
    {"machine", .add = add_machines, .or_file = true},
    {"size", .add = add_sizes},
    {"protect", .add = add_schemes},
    {"structure", .add = add_structures, .is_list = true},
    {"model", .add = add_models},
    {"set", .add = add_params},
    {"stats", .words = "summary table gpgpusim"},
    {"check", .words = "memory memory=strict"},
    {"by", .words = "bit opcode register lane sm warp kernel pattern elements error", .is_list = true},
    {"table", .words = "faults campaign structures kernels launches lines time breakdown severity"},
    {"window", .words = "all"},
    {"completion", .words = "bash zsh fish"},
};

static const Value operands[] = {
    {"run", .add = add_targets, .or_file = true},
    {"campaign", .add = add_targets, .or_file = true},
    {"list", .add = add_tables},
    {"reproduce", .add = add_studies},
    {"manual", .add = add_commands},
};
static const Value any_file = {.or_file = true}, nothing = {0};

static const Value *value_of(const Option *row) {
  for (size_t i = 0; i < COUNT_OF(values); i++) {
    if (strcmp(values[i].name, row->name) == 0) return &values[i];
  }
  bool is_file = strstr(row->argument, "FILE") != NULL || strstr(row->argument, "FOLDER") != NULL;
  return is_file ? &any_file : &nothing;
}

static const Value *operand_of(const Command *command) {
  for (size_t i = 0; i < COUNT_OF(operands); i++) {
    if (strcmp(operands[i].name, command->name) == 0) return &operands[i];
  }
  return &any_file;
}

static void add_words(const Value *value, Text *out) {
  if (value->add != NULL) value->add(out);
  else if (value->words != NULL) text_add(out, "%s", value->words);
  else text_add(out, "%s", "");
}

typedef void RowVisit(const Command *command, const Option *row, Text *out);
static void each_row(const Command *command, RowVisit *visit, Text *out) {
  for (uint32_t g = 0; g < MOST_GROUPS && command->groups[g] != NULL; g++) {
    for (uint32_t i = 0; i < command->groups[g]->count; i++) visit(command, &command->groups[g]->options[i], out);
  }
  for (uint32_t i = 0; i < common_group.count; i++) visit(command, &common_group.options[i], out);
}

static void add_names(const Command *command, const Option *row, Text *out) {
  (void)command;
  if (row->letter != 0) text_add(out, " -%c", row->letter);
  text_add(out, " --%s%s", row->name, row->argument != NULL && row->may_lack ? "=" : "");
}

// ---- bash --------------------------------------------------------------------------------------------

static const char bash_begin[] = "# Completions of redoubt for bash. Made by 'redoubt manual --completion bash'.\n"
                                 "_redoubt_words() { # WORDS that begin as the current one\n"
                                 "  COMPREPLY+=($(compgen -W \"$1\" -- \"$cur\"))\n"
                                 "  [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[=:] ]] && compopt -o nospace 2>/dev/null\n"
                                 "  return 0\n"
                                 "}\n"
                                 "_redoubt_list() { # WORDS with commas between them\n"
                                 "  local before=\n"
                                 "  [[ $cur == *,* ]] && before=${cur%,*},\n"
                                 "  COMPREPLY+=($(compgen -P \"$before\" -W \"$1\" -- \"${cur##*,}\"))\n"
                                 "}\n"
                                 "_redoubt_files() {\n"
                                 "  local IFS=$'\\n'\n"
                                 "  compopt -o filenames 2>/dev/null\n"
                                 "  COMPREPLY+=($(compgen -f -- \"$cur\"))\n"
                                 "}\n"
                                 "_redoubt() {\n"
                                 "  local cur=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD-1]} i\n"
                                 "  COMPREPLY=()\n"
                                 "  # '=' is a word of its own: --json=FILE is three.\n"
                                 "  if [[ $cur == = ]]; then cur=\n"
                                 "  elif [[ $option == = ]]; then option=${COMP_WORDS[COMP_CWORD-2]}\n"
                                 "  fi\n"
                                 "  for ((i = 2; i < COMP_CWORD; i++)); do\n"
                                 "    [[ ${COMP_WORDS[i]} == -- ]] && { _redoubt_files; return; }\n"
                                 "  done\n";

static void add_bash_value(const Value *value, Text *out) {
  if (value->add != NULL || value->words != NULL) {
    text_add(out, value->is_list ? " _redoubt_list '" : " _redoubt_words '");
    Text words = {0};
    add_words(value, &words);
    text_add(out, "%s';", words.at);
    text_free(&words);
  }
  if (value->or_file) text_add(out, " _redoubt_files;");
}

static void add_bash_row(const Command *command, const Option *row, Text *out) {
  if (row->argument == NULL) return;
  text_add(out, "  %s,--%s", command->name, row->name);
  if (row->letter != 0) text_add(out, " | %s,-%c", command->name, row->letter);
  text_add(out, ")");
  add_bash_value(value_of(row), out);
  text_add(out, row->may_lack ? " [[ $option == \"${COMP_WORDS[COMP_CWORD-1]}\" && $cur != = ]] || return 0 ;;\n" : " return ;;\n");
}

void completion_bash(Text *out) {
  text_add(out, "%s  if ((COMP_CWORD == 1)); then\n    _redoubt_words 'help version", bash_begin);
  for (uint32_t i = 0; i < command_count; i++) text_add(out, " %s", commands[i]->name);
  text_add(out, "'\n    return\n  fi\n  case ${COMP_WORDS[1]},$option in\n");
  for (uint32_t i = 0; i < command_count; i++) each_row(commands[i], add_bash_row, out);
  text_add(out, "  esac\n  COMPREPLY=()\n  case ${COMP_WORDS[1]} in\n  help) _redoubt_words '");
  for (uint32_t i = 0; i < command_count; i++) text_add(out, "%s ", commands[i]->name);
  text_add(out, "' ;;\n");
  for (uint32_t i = 0; i < command_count; i++) {
    text_add(out, "  %s) if [[ $cur == -* ]]; then _redoubt_words '", commands[i]->name);
    each_row(commands[i], add_names, out);
    text_add(out, "'; else");
    add_bash_value(operand_of(commands[i]), out);
    text_add(out, " fi ;;\n");
  }
  text_add(out, "  esac\n}\ncomplete -F _redoubt redoubt\n");
}

// ---- zsh ---------------------------------------------------------------------------------------------

// Inside single quotes of an _arguments specification.
static void add_zsh_text(Text *out, const char *text) {
  for (const char *c = text; *c != '\0'; c++) {
    if (*c == '\'') text_add(out, "'\\''");
    else if (*c == '[' || *c == ']' || *c == ':' || *c == '\\') text_add(out, "\\%c", *c);
    else text_add(out, "%c", *c);
  }
}

// What may stand there, as the last part of a specification.
static void add_zsh_value(const Value *value, Text *out) {
  Text words = {0};
  add_words(value, &words);
  if (words.length > 0 && value->is_list) text_add(out, "_values -s , value %s", words.at);
  else if (words.length > 0 && words.at[words.length - 1] == '=') text_add(out, "{compadd -S \"\" -- %s}", words.at);
  else if (words.length > 0 && value->or_file) text_add(out, "{compadd -- %s; _files}", words.at);
  else if (words.length > 0) text_add(out, "{compadd -- %s}", words.at);
  else if (value->or_file) text_add(out, "_files");
  text_free(&words);
}

static void add_zsh_row(const Command *command, const Option *row, Text *out) {
  (void)command;
  const char *ends[] = {row->argument == NULL ? "" : row->may_lack ? "=-" : "=", row->argument == NULL ? "" : "+"};
  for (int i = 0; i < 2; i++) { // --name and -n
    if (i == 1 && row->letter == 0) continue;
    text_add(out, i == 0 ? " \\\n      '*--%s%s[" : " \\\n      '*-%.1s%s[", i == 0 ? row->name : &row->letter, ends[i]);
    add_zsh_text(out, row->help);
    text_add(out, "]");
    if (row->argument != NULL) {
      text_add(out, row->may_lack ? "::" : ":");
      add_zsh_text(out, row->argument);
      text_add(out, ":");
      add_zsh_value(value_of(row), out);
    }
    text_add(out, "'");
  }
}

void completion_zsh(Text *out) {
  text_add(out, "#compdef redoubt\n# Completions of redoubt for zsh. Made by 'redoubt manual --completion zsh'.\n"
                "_redoubt() {\n  local curcontext=$curcontext\n  if ((CURRENT == 2)); then\n    local -a commands\n    commands=(");
  for (uint32_t i = 0; i < command_count; i++) {
    text_add(out, "\n      '%s:", commands[i]->name);
    add_zsh_text(out, commands[i]->summary);
    text_add(out, "'");
  }
  text_add(out, "\n      'help:more about a command' 'version:which Redoubt this is')\n    _describe command commands\n    return\n  fi\n"
                "  local command=$words[2]\n  shift words\n  ((CURRENT--))\n  case $command in\n  help) compadd --");
  for (uint32_t i = 0; i < command_count; i++) text_add(out, " %s", commands[i]->name);
  text_add(out, " ;;\n");
  for (uint32_t i = 0; i < command_count; i++) {
    text_add(out, "  %s)\n    _arguments -s", commands[i]->name);
    each_row(commands[i], add_zsh_row, out);
    text_add(out, " \\\n      '*:%s:", commands[i]->operand == NULL ? "operand" : commands[i]->operand);
    add_zsh_value(operand_of(commands[i]), out);
    text_add(out, "' ;;\n");
  }
  text_add(out, "  esac\n}\nif [[ $funcstack[1] == _redoubt ]]; then _redoubt \"$@\"; else compdef _redoubt redoubt; fi\n");
}

// ---- fish --------------------------------------------------------------------------------------------

static void add_fish_text(Text *out, const char *text) {
  text_add(out, "'");
  for (const char *c = text; *c != '\0'; c++) text_add(out, *c == '\'' || *c == '\\' ? "\\%c" : "%c", *c);
  text_add(out, "'");
}

static void add_fish_value(const Value *value, Text *out) {
  Text words = {0};
  add_words(value, &words);
  if (words.length > 0 && value->is_list) text_add(out, " -a '(__fish_append , %s)'", words.at);
  else if (words.length > 0) text_add(out, " -a '%s'", words.at);
  text_add(out, value->or_file ? " -F" : " -f");
  text_free(&words);
}

static void add_fish_row(const Command *command, const Option *row, Text *out) {
  text_add(out, "complete -c redoubt -n '__redoubt_is %s' -l %s", command->name, row->name);
  if (row->letter != 0) text_add(out, " -s %c", row->letter);
  if (row->argument != NULL) {
    add_fish_value(value_of(row), out);
    if (!row->may_lack) text_add(out, " -r");
  }
  text_add(out, " -d ");
  add_fish_text(out, row->help);
  text_add(out, "\n");
}

void completion_fish(Text *out) {
  text_add(out,
           "# Completions of redoubt for fish. Made by 'redoubt manual --completion fish'.\n"
           "function __redoubt_is\n  set -l words (commandline -opc)\n  test (count $words) -ge 2; and contains -- $words[2] $argv\nend\n"
           "function __redoubt_first\n  test (count (commandline -opc)) -eq 1\nend\n"
           "complete -c redoubt -n __redoubt_first -f\n"
           "complete -c redoubt -n __redoubt_first -a help -d 'more about a command'\n"
           "complete -c redoubt -n __redoubt_first -a version -d 'which Redoubt this is'\n"
           "complete -c redoubt -n '__redoubt_is help' -f -a '");
  for (uint32_t i = 0; i < command_count; i++) text_add(out, "%s%s", i == 0 ? "" : " ", commands[i]->name);
  text_add(out, "'\n");
  for (uint32_t i = 0; i < command_count; i++) {
    text_add(out, "complete -c redoubt -n __redoubt_first -a %s -d ", commands[i]->name);
    add_fish_text(out, commands[i]->summary);
    text_add(out, "\ncomplete -c redoubt -n '__redoubt_is %s'", commands[i]->name);
    add_fish_value(operand_of(commands[i]), out);
    text_add(out, "\n");
    each_row(commands[i], add_fish_row, out);
  }
}
