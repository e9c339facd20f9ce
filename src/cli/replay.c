// redoubt replay JOURNAL ID: one fault of a campaign again, explained. The journal's meta is turned back into the options of
// `redoubt run`, so that there is one way to make a target.
#include "cli/fault.h"

#include "campaign/app.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct ReplayWishes {
  const char *journal;
  uint64_t id;
  const char *json, *timeout; // options as given; NULL: not
  bool help;
} ReplayWishes;

typedef VEC(char *) Words;

static void add_word(Words *words, Arena *arena, const char *text) { *VEC_PUSH(words, arena) = arena_copy_text(arena, text, strlen(text)); }

// ---- The campaign's run as options of `redoubt run` ----------------------------------------------------------------

// Settings hold the number of a choice; options take its name.
static const char *setting_value(const char *key, const char *value, Arena *arena) {
  for (uint32_t i = 0; i < param_count; i++) {
    if (strcmp(param_info[i].key, key) != 0 || param_info[i].choices == NULL) continue;
    const char *name = param_info[i].choices;
    for (unsigned long left = strtoul(value, NULL, 10); left > 0 && strchr(name, '|') != NULL; left--) name = strchr(name, '|') + 1;
    return arena_copy_text(arena, name, strcspn(name, "|"));
  }
  return value;
}

static void add_machine(Words *words, Arena *arena, const JournalMeta *meta) {
  const char *machine = builtin_machines[0].name; // where the campaign's was a file: every parameter follows
  for (uint32_t i = 0; i < builtin_machine_count; i++) {
    if (strcmp(builtin_machines[i].name, meta->machine) == 0) machine = meta->machine;
  }
  add_word(words, arena, "--machine");
  add_word(words, arena, machine);
  for (const char *line = meta->settings; *line != '\0';) {
    size_t length = strcspn(line, "\n");
    KeyValue pair;
    if (key_value_split(&pair, arena, arena_copy_text(arena, line, length))) {
      add_word(words, arena, "--set");
      add_word(words, arena, arena_format(arena, "%s=%s", pair.key, setting_value(pair.key, pair.value, arena)));
    }
    line += length + (line[length] == '\n');
  }
  if (strcmp(meta->protection, "none") == 0) return;
  add_word(words, arena, "--protect");
  add_word(words, arena, meta->protection);
}

// "size=tiny", "seed=1", "kernel=NAME", "cooperative": options of that name; of a workload, the rest are its parameters.
static void add_argument(Words *words, Arena *arena, const char *line, bool is_workload) {
  static const char *const options[] = {"size", "seed", "kernel", "grid", "block", "shared", "cooperative", "arg"};
  size_t length = strcspn(line, "=");
  for (size_t i = 0; i < COUNT_OF(options); i++) {
    bool own = !is_workload || i < 2;
    if (!own || strlen(options[i]) != length || strncmp(options[i], line, length) != 0) continue;
    add_word(words, arena, arena_format(arena, "--%s", line));
    return;
  }
  add_word(words, arena, "--param");
  add_word(words, arena, line);
}

static void add_target(Words *words, Arena *arena, const JournalMeta *meta) {
  add_word(words, arena, meta->target);
  for (const char *line = meta->arguments; *line != '\0';) {
    size_t length = strcspn(line, "\n");
    add_argument(words, arena, arena_copy_text(arena, line, length), workload_find(meta->target) != NULL);
    line += length + (line[length] == '\n');
  }
}

// Last of all: what follows "--" is the application's.
static void add_application(Words *words, Arena *arena, const AppWishes *application) {
  for (uint32_t i = 0; i < application->outputs.count; i++)
    add_word(words, arena, arena_format(arena, "--output=%s", application->outputs.items[i]));
  add_word(words, arena, "--");
  for (uint32_t i = 0; i < application->arguments.count; i++) add_word(words, arena, application->arguments.items[i]);
}

static bool options_of(RunOptions *options, Arena *arena, const JournalMeta *meta, const ReplayWishes *wishes) {
  Words words = {0};
  AppWishes application;
  bool is_application = target_app_read(meta->arguments, arena, &application);
  add_word(&words, arena, "run");
  if (!is_application) add_target(&words, arena, meta);
  add_machine(&words, arena, meta);
  if (wishes->json != NULL) add_word(&words, arena, wishes->json);
  if (wishes->timeout != NULL) add_word(&words, arena, arena_format(arena, "--timeout=%s", wishes->timeout));
  else add_word(&words, arena, arena_format(arena, "--timeout=%" PRIu64, meta->timeout));
  if (is_application) add_application(&words, arena, &application);
  *VEC_PUSH(&words, arena) = NULL;
  return run_options_parse(options, arena, (int)words.count - 1, words.items);
}

// ---- The command ---------------------------------------------------------------------------------------------------

static bool parse_id(const char *text, uint64_t *id) {
  char *end;
  errno = 0;
  *id = strtoull(text, &end, 10);
  if (text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0) return true;
  message_usage("replay", "'%s' is no number of a fault", text);
  return false;
}

static bool parse(ReplayWishes *wishes, int argc, char **argv) {
  const char *id = NULL;
  *wishes = (ReplayWishes){0};
  for (int i = 1; i < argc; i++) {
    bool is_json = strcmp(argv[i], "--json") == 0 || strncmp(argv[i], "--json=", 7) == 0;
    if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) return wishes->help = true;
    if (is_json) wishes->json = argv[i];
    else if (strcmp(argv[i], "--timeout") == 0 && i + 1 < argc) wishes->timeout = argv[++i];
    else if (argv[i][0] == '-') return message_usage("replay", "unknown option '%s'", argv[i]), false;
    else if (wishes->journal == NULL) wishes->journal = argv[i];
    else if (id == NULL) id = argv[i];
    else return message_usage("replay", "one fault at a time, not '%s' and '%s'", id, argv[i]), false;
  }
  if (id == NULL) return message_usage("replay", "name a journal and the number of a fault"), false;
  return parse_id(id, &wishes->id);
}

// Is it what the campaign found?
static int compare(const FaultRow *row, const FaultRun *run, bool quiet) {
  const Verdicts *verdicts = &run->verdicts;
  const char *outcome = outcome_info[row->outcome % OUTCOME_COUNT].name;
  bool same_time = row->cycles == 0 || row->cycles == verdicts->cycles; // kept of runs with right output only
  bool same = row->outcome == verdicts->outcome && same_time && row->wrong == verdicts->wrong;
  if (same && !quiet) printf("the journal says the same; settled there by: %s\n", settled_text[row->settled % SETTLED_COUNT]);
  if (same) return EXIT_OK;
  message_error("the journal says otherwise: %s, %" PRIu64 " cycles, %" PRIu64 " wrong elements", outcome, row->cycles, row->wrong);
  return EXIT_INTERNAL;
}

static int replay_row(const Journal *journal, const FaultRow *row, const ReplayWishes *wishes, Arena *arena) {
  const JournalMeta *meta = journal_meta(journal);
  RunOptions *options = ARENA_NEW(arena, RunOptions);
  if (!options_of(options, arena, meta, wishes)) return EXIT_BAD_INPUT;
  FaultWishes fault = {&row->fault, 1, options->timeout, true, meta};
  FaultRun *run = ARENA_NEW(arena, FaultRun);
  int code = fault_report(options, &fault, arena, run);
  return code == EXIT_OK ? compare(row, run, options->json && options->json_file == NULL) : code;
}

int command_replay(int argc, char **argv) {
  ReplayWishes wishes;
  Diags diags = {0};
  if (!parse(&wishes, argc, argv)) return EXIT_BAD_INPUT;
  if (wishes.help) {
    help_replay();
    return EXIT_OK;
  }
  Journal *journal = journal_read(wishes.journal, &diags);
  if (journal == NULL) return message_diags(&diags);
  Arena *arena = arena_new();
  FaultRow row;
  int code = EXIT_BAD_INPUT;
  if (journal_find_fault(journal, wishes.id, &row, arena)) code = replay_row(journal, &row, &wishes, arena);
  else message_error("%s: holds no fault %" PRIu64 "; it has %" PRIu64, wishes.journal, wishes.id, journal_fault_count(journal));
  arena_free(arena);
  journal_close(journal);
  return code;
}
