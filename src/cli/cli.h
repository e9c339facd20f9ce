// The `redoubt` command. One file per command; only this folder prints or exits.
#ifndef REDOUBT_CLI_H
#define REDOUBT_CLI_H

#include "cli/options.h"
#include "device/workload.h"

typedef enum ExitCode {
  EXIT_OK = 0,
  EXIT_CHECK_FAILED = 1, // the program ran to its end, its results are wrong
  EXIT_BAD_INPUT = 2,    // usage, files, values, refused launches
  EXIT_TRAPPED = 3,      // the simulated program trapped
  EXIT_INTERNAL = 4,     // a bug or missing resource of Redoubt itself
  EXIT_UNFINISHED = 5,   // a journal that is not complete: no shares are shown
} ExitCode;

// Which Redoubt this is (version.c).
const char *version_number(void); // "0.1.0"
const char *version_commit(void); // "b04363f9c1d2", with "-dirty" when files were changed; "unknown" outside a checkout

// The whole program: argv as main's.
int cli_main(int argc, char **argv);

extern const Command command_run, command_avf, command_check, command_campaign, command_replay, command_report, command_export,
    command_compare, command_fmeda, command_grade, command_merge, command_reproduce, command_study, command_list, command_asm,
    command_disasm, command_manual, command_status, command_task, command_gather;

// ---- The machine that is meant (spec_wishes.c): --machine and --set ------------------------------
typedef struct KeyValue {
  const char *key, *value;
} KeyValue;

typedef struct SpecWishes {
  const char *machine;
  VEC(KeyValue) settings; // --set, in order; applied after the machine
} SpecWishes;
bool key_value_split(KeyValue *pair, Arena *arena, const char *text); // "key=value"; false: it is not
OptionTake option_setting;                                            // --set, into a SpecWishes
bool spec_wishes_load(Spec *spec, Arena *arena, const SpecWishes *wishes, Diags *diags);
void spec_say_model(const Spec *spec, bool quiet); // the kind of machine that was taken where none was named

// ---- Messages (message.c): all to stderr, one line each ------------------------------------------
void message_note(bool quiet, const char *format, ...) __attribute__((format(printf, 2, 3)));          // what went well; --quiet: nothing
void message_error(const char *format, ...) __attribute__((format(printf, 1, 2)));                     // "redoubt: ..."
int message_usage(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3))); // + hint; EXIT_BAD_INPUT
int message_diags(Diags *diags);                                                                       // every one; frees; EXIT_BAD_INPUT
double host_seconds(void);                                                                             // monotonic clock
double cpu_seconds(void); // that this thread has worked: what a launch costs, whatever else the host does

#endif
