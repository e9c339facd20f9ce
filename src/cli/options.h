// One way to take options in every command. A command declares what it takes in tables; parsing, "did you mean" and help come from
// them, and so can manual pages and completions.
#ifndef REDOUBT_CLI_OPTIONS_H
#define REDOUBT_CLI_OPTIONS_H

#include "base/base.h"

// One option as the user gave it.
typedef struct OptionUse {
  const struct Option *option;
  const char *name; // "--grid" or "-j", for messages
  const char *text; // its value; NULL: none
  void *wishes;     // the command's struct
  Arena *arena;     // for what must outlive the call; text itself stays in argv
  const char *command;
} OptionUse;
// Stores the value in the wishes. False, after a message: it is wrong.
typedef bool OptionTake(const OptionUse *use);

typedef struct Option {
  const char *name;     // long, without "--"
  char letter;          // short; 0: none
  const char *argument; // its value as the help names it, such as FILE; NULL: takes none
  const char *help;     // one line; the help breaks it
  OptionTake *take;
  size_t offset;        // where in the wishes, for the takers below
  uint64_t least, most; // option_u32, option_u64
  bool may_lack;        // --name or --name=VALUE
} Option;

// Takers for common types of fields.
OptionTake option_flag, option_off;       // bool: set, cleared
OptionTake option_text;                   // const char *
OptionTake option_words, option_list;     // const char *: every use adds a word, after a space or a comma; none is empty
OptionTake option_u32, option_u64;        // whole numbers from least to most; 0x1f is one
OptionTake option_confidence;             // double, as statistics.h has it
void *option_field(const OptionUse *use); // what the row's offset means
// For takers: "--grid x: why". Always false.
bool option_wrong(const OptionUse *use, const char *format, ...) __attribute__((format(printf, 2, 3)));
// "128x64", with 'x' between: digits alone, each number below 2^32. No rest may follow.
bool pair_parse(const char *text, char between, uint32_t pair[2]);
double option_value(const OptionUse *use); // as a number; NaN: it is none
bool option_real(const OptionUse *use, double least, double most, double *value);

// Options that stand together in the help and may serve several commands.
typedef struct OptionGroup {
  const char *title; // NULL: none
  const Option *options;
  uint32_t count;
} OptionGroup;
#define OPTION_GROUP(title, table) \
  { title, table, COUNT_OF(table) }

enum { MOST_GROUPS = 8 };

typedef struct Command {
  const char *name, *usage, *summary;     // a line of 'redoubt help': run, TARGET, what it does
  const char *synopsis;                   // ways to call it, a line each
  const char *about;                      // what else to know before the options; NULL: nothing
  const OptionGroup *groups[MOST_GROUPS]; // NULL after the last
  const char *ending;                     // examples, exit codes; NULL: none
  const char *operand;                    // what one operand is: "journal"
  const char *wanted;                     // said when there are too few: "name two journals"
  uint32_t least_operands, most_operands;
  bool takes_application;            // what follows "--" is another program's
  int (*run)(int argc, char **argv); // argv[0] is the command's name; the exit code
} Command;
extern const Command *const commands[]; // cli.c
extern const uint32_t command_count;
extern const OptionGroup common_group;                   // what every command takes
const Command *command_find(const char *name);           // NULL: there is none
int command_unknown(const char *name);                   // a message; EXIT_BAD_INPUT
extern const char main_help_about[], main_help_ending[]; // around the commands in 'redoubt help'

// What a command line holds beside options.
typedef struct Operands {
  char **items;
  uint32_t count;
  char **application; // after "--", NULL-ended; NULL: there is no "--"
  bool quiet;         // --quiet: do not say what went well
  int exit_code;      // when there is nothing to do
} Operands;
// Fills the wishes. False: the help was wanted and printed, or a message was; operands->exit_code says how to end.
bool options_parse(const Command *command, void *wishes, Arena *arena, int argc, char **argv, Operands *operands);
void command_help(const Command *command, Text *out);

#endif
