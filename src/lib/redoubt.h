/* libredoubt: run GPU programs on a simulated GPU, break it on purpose, and read what that did.
 *
 *   RedoubtError error;
 *   RedoubtMachine *machine = redoubt_machine_open("fermi-gtx480", &error);
 *   RedoubtProgram *program = redoubt_workload_open(machine, "scalarprod", "tiny", NULL, 1, &error);
 *   RedoubtOutcome outcome;
 *   redoubt_inject(program, "flip:rf[sm=0,warp=0,reg=2,lane=7,bit=4]@700", false, &outcome, &error);
 *   printf("%s: %s\n", outcome.name, outcome.meaning);
 *
 * Rules for callers. A function that returns a pointer returns NULL when it fails, one that returns bool returns false, and the
 * error then says why in one line; it may be NULL. NULL for any other pointer is refused so, unless it says what NULL means.
 * Text that a struct points at belongs to the handle that it came from, and lasts until that handle's next call. A handle is
 * for one thread at a time. A machine may be closed before its programs. Campaigns and injections fork processes: call them
 * before you start threads of your own, or from a process without any.
 *
 * This interface is stable: functions are only added, and structs that callers fill begin with their size. Symbols carry the
 * version REDOUBT_1. docs/library.md is the page about it. */
#ifndef REDOUBT_H
#define REDOUBT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define REDOUBT_API __attribute__((visibility("default")))

typedef struct RedoubtMachine RedoubtMachine; /* a GPU as it is described: parameters and protections */
typedef struct RedoubtProgram RedoubtProgram; /* something to run on it, with its inputs */
typedef struct RedoubtResults RedoubtResults; /* the journal of a campaign, being read */

typedef struct RedoubtError {
  char text[1024]; /* one line; "" when there was none */
} RedoubtError;

REDOUBT_API const char *redoubt_version(void); /* "0.1.0" */

/* ---- Machines ---------------------------------------------------------------------------------------------------- */
/* Of the name of a built-in machine ('redoubt list machines') or the path of a machine file. */
REDOUBT_API RedoubtMachine *redoubt_machine_open(const char *name_or_file, RedoubtError *error);
REDOUBT_API void redoubt_machine_close(RedoubtMachine *machine); /* NULL is fine */
/* Changes a parameter ('redoubt list params'). Programs that are open already keep what they were opened with. */
REDOUBT_API bool redoubt_machine_set(RedoubtMachine *machine, const char *key, const char *value, RedoubtError *error);
/* Adds a protection ('redoubt list protections'), such as "secded:rf". */
REDOUBT_API bool redoubt_machine_protect(RedoubtMachine *machine, const char *scheme, RedoubtError *error);

typedef struct RedoubtStructure {
  const char *name, *title, *meaning; /* "rf", "register file", one sentence */
  uint64_t bits;
  bool can_be_protected; /* every access of it is seen, so that ECC may guard it */
} RedoubtStructure;
/* What faults may strike. The array belongs to the machine. */
REDOUBT_API const RedoubtStructure *redoubt_machine_structures(RedoubtMachine *machine, uint32_t *count, RedoubtError *error);

/* ---- Names that are built in; NULL after the last ------------------------------------------------------------------- */
REDOUBT_API const char *redoubt_builtin_machine(uint32_t index);
REDOUBT_API const char *redoubt_builtin_workload(uint32_t index);

/* ---- Programs ------------------------------------------------------------------------------------------------------ */
/* A built-in workload at a size (tiny, small, default, large); params: "n=64 seed=3" or NULL. It checks its own results. */
REDOUBT_API RedoubtProgram *redoubt_workload_open(const RedoubtMachine *machine, const char *name, const char *size, const char *params,
                                                  uint64_t seed, RedoubtError *error);

typedef struct RedoubtArgument {
  const char *type; /* u8 s8 u16 s16 u32 s32 u64 s64 f16 bf16 f32 f64 */
  const char *name; /* of an array, under which outputs are found; NULL: none */
  const void *data; /* the value, or what the array holds at first (NULL: zeros); it is copied */
  uint64_t count;   /* elements of an array, whose address the kernel is given; 0: one value */
} RedoubtArgument;

typedef struct RedoubtLaunch {
  size_t size;                /* sizeof(RedoubtLaunch) */
  const char *kernel;         /* NULL: the only one. The C++ name is enough where it is clear */
  uint32_t grid[3], block[3]; /* 0 counts as 1 */
  uint32_t dynamic_shared_bytes;
  const RedoubtArgument *arguments; /* one for each parameter of the kernel */
  uint32_t argument_count;
} RedoubtLaunch;
/* A kernel of PTX text, launched once. `name` is how messages and journals call the text. Every array is an output. */
REDOUBT_API RedoubtProgram *redoubt_ptx_open(const RedoubtMachine *machine, const char *name, const char *text, const RedoubtLaunch *launch,
                                             RedoubtError *error);
REDOUBT_API void redoubt_program_close(RedoubtProgram *program); /* NULL is fine */

/* ---- Running without faults ------------------------------------------------------------------------------------------ */
typedef struct RedoubtRun {
  uint64_t cycles; /* of all launches; on the functional machine, which has no time: warp instructions, as warp_instructions says */
  uint64_t thread_instructions, warp_instructions;
  uint32_t launches;
  bool trapped; /* the program came to an early end; `note` says why */
  bool passed;  /* not trapped, and right as far as the program can check itself */
  const char *note;
} RedoubtRun;
REDOUBT_API bool redoubt_run(RedoubtProgram *program, RedoubtRun *run, RedoubtError *error);

typedef struct RedoubtOutput {
  const char *name, *type;
  const void *data; /* of the last redoubt_run */
  uint64_t count;
  uint64_t width; /* elements in a row of a matrix; 0: an array */
} RedoubtOutput;
REDOUBT_API uint32_t redoubt_output_count(const RedoubtProgram *program);
REDOUBT_API bool redoubt_output(const RedoubtProgram *program, uint32_t index, RedoubtOutput *output);

/* ---- One fault --------------------------------------------------------------------------------------------------------- */
typedef struct RedoubtOutcome {
  const char *name;    /* "sdc-critical" */
  const char *group;   /* masked, performance, sdc, due, corrected */
  const char *meaning; /* one sentence */
  const char *note;    /* of a trap: which, and where; "" otherwise */
  const char *why;     /* with `explain`: where the bit went and how it reached the output; "" otherwise */
  uint64_t cycles, fault_free_cycles;
  uint64_t wrong_elements;
  double largest_error; /* relative, among them */
} RedoubtOutcome;
/* A run with a fault ('redoubt list faults' says how one is written), judged against a run without. */
REDOUBT_API bool redoubt_inject(RedoubtProgram *program, const char *fault, bool explain, RedoubtOutcome *outcome, RedoubtError *error);

/* ---- Campaigns ----------------------------------------------------------------------------------------------------------- */
typedef struct RedoubtCampaign {
  size_t size;            /* sizeof(RedoubtCampaign) */
  const char *journal;    /* file; an unfinished one is resumed */
  const char *structures; /* "rf,shared"; NULL: rf */
  const char *model;      /* NULL: flip */
  const char *window;     /* NULL: all */
  uint64_t faults;        /* how many, up to 1000000000; 0: until the margin is reached */
  double margin;          /* 0.0001 to 0.5; 0: 0.01 */
  double confidence;      /* between 0.5 and 1; 0: 0.99 */
  uint64_t seed;
  uint32_t jobs; /* simulations at one time, up to 256; 0: 1 */
  /* Told now and then, and at the end; false stops the campaign, which can be resumed. NULL: nobody is told. */
  bool (*progress)(void *context, uint64_t done, uint64_t total);
  void *context;
} RedoubtCampaign;
typedef enum RedoubtEnd { REDOUBT_COMPLETE, REDOUBT_STOPPED, REDOUBT_FAILED } RedoubtEnd;
REDOUBT_API RedoubtEnd redoubt_campaign(RedoubtProgram *program, const RedoubtCampaign *campaign, RedoubtError *error);

/* ---- Reading what a campaign found ------------------------------------------------------------------------------------ */
REDOUBT_API RedoubtResults *redoubt_results_open(const char *journal, RedoubtError *error);
REDOUBT_API void redoubt_results_close(RedoubtResults *results); /* NULL is fine */
REDOUBT_API bool redoubt_results_complete(const RedoubtResults *results);

typedef struct RedoubtFault {
  uint64_t id;
  const char *fault;     /* as redoubt_inject takes it */
  const char *structure; /* "rf" */
  const char *outcome, *group;
  const char *note;
  uint64_t cycle; /* at which it struck */
  uint64_t wrong_elements;
  double largest_error;
} RedoubtFault;
/* The faults in order. False after the last, and when the file is damaged: the error's text is "" only at the end. */
REDOUBT_API bool redoubt_results_next(RedoubtResults *results, RedoubtFault *fault, RedoubtError *error);
REDOUBT_API void redoubt_results_rewind(RedoubtResults *results);

typedef struct RedoubtShare {
  uint64_t count, total;
  double share, low, high; /* with Wilson's interval at the confidence that was asked for */
} RedoubtShare;
/* How many faults of a structure are of a group such as "sdc". NULL: of the only structure of the campaign. False for a campaign
 * that is not complete: its shares are biased. */
REDOUBT_API bool redoubt_results_share(RedoubtResults *results, const char *structure, const char *group, double confidence,
                                       RedoubtShare *share, RedoubtError *error);

#ifdef __cplusplus
}
#endif
#endif
