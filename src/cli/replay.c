// redoubt replay JOURNAL ID: one fault of a campaign again, explained. The journal's meta is turned back into the options of
// `redoubt run`, so that there is one way to make a target.
#include "cli/campaign.h"
#include "cli/fault.h"

#include "app/app.h"
#include "cli/reading.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct ReplayWishes {
  const char *journal;
  uint64_t id;
  bool json, verbose;
  const char *json_file; // NULL: stdout
  uint64_t timeout;      // 0: the campaign's
  Files files;
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
  static const char *const options[] = {"size",    "seed",    "kernel",     "grid",   "block",   "shared", "cooperative", "arg",
                                        "gmem-in", "cmem-in", "cmem-bytes", "domain", "texture", "value",  "twice"};
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
  for (uint32_t i = 0; i < application->ignored.count; i++)
    add_word(words, arena, arena_format(arena, "--ignore=%s", application->ignored.items[i]));
  if (application->ignores_output) add_word(words, arena, "--ignore-output");
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
  add_word(&words, arena, arena_format(arena, "--timeout=%" PRIu64, wishes->timeout != 0 ? wishes->timeout : meta->timeout));
  for (const char *line = meta->tolerance; *line != '\0'; line += strcspn(line, "\n") + 1)
    add_word(&words, arena, arena_format(arena, "--tolerance=%.*s", (int)strcspn(line, "\n"), line));
  if (is_application) add_application(&words, arena, &application);
  *VEC_PUSH(&words, arena) = NULL;
  int code;
  bool good = run_options_parse(options, arena, (int)words.count - 1, words.items, &code);
  options->json = wishes->json;
  options->json_file = wishes->json_file;
  options->files = wishes->files;
  return good;
}

// ---- Where its program lies ----------------------------------------------------------------------------------------
// A journal may be looked at in another folder than the one where its campaign was started, and its program may lie beside it by now.

typedef struct Candidate {
  const char *folder, *path; // of the program, from the folder in which the campaign's words are to be understood; "." is this one
  bool is_there, is_same;    // there is a file; it has the hash that the journal knows
} Candidate;

static Candidate place_in(Arena *arena, const char *folder, const char *target, const char *hash) {
  Candidate place = {folder, target[0] == '/' || strcmp(folder, ".") == 0 ? target : arena_format(arena, "%s/%s", folder, target), false,
                     false};
  place.is_there = access(place.path, F_OK) == 0;
  const char *own = place.is_there ? program_file_hash(arena, place.path) : NULL;
  place.is_same = own != NULL && strcmp(own, hash) == 0;
  return place;
}

// The program by its hash; where that is not known, or no file has it, the first file of that name, whose instructions are looked at later.
static const Candidate *choose_candidate(const Candidate *places, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    if (places[i].is_same) return &places[i];
  }
  for (uint32_t i = 0; i < count; i++) {
    if (places[i].is_there) return &places[i];
  }
  return NULL;
}

static const char *folder_of(Arena *arena, const char *path) {
  const char *slash = strrchr(path, '/');
  return slash == NULL ? "." : slash == path ? "/" : arena_format(arena, "%.*s", (int)(slash - path), path);
}

static bool not_found(const char *target, const Candidate *places, uint32_t count) {
  Text looked = {0};
  for (uint32_t i = 0; i < count; i++) text_add(&looked, "%s%s", i == 0 ? "" : ", ", places[i].path);
  message_error("the campaign's program '%s' is not found; looked for %s. Put it there, or call replay in the folder where it lies", target,
                looked.at);
  text_free(&looked);
  return false;
}

// Goes to the folder in which the campaign's words mean what they meant. False, after a message: the program is nowhere.
static bool go_to_program(const Journal *journal, ReplayWishes *wishes, Arena *arena) {
  const JournalMeta *meta = journal_meta(journal);
  AppWishes application;
  bool is_application = target_app_read(meta->arguments, arena, &application);
  const char *target = is_application ? application.arguments.items[0] : meta->target;
  const char *folder = journal_note(journal, NOTE_FOLDER), *hash = journal_note(journal, NOTE_PROGRAM);
  bool is_named = is_application ? strchr(target, '/') != NULL : workload_find(target) == NULL;
  if (!is_named) return true; // built in, or found by its name alone
  const char *folders[] = {".", folder, folder_of(arena, wishes->journal)};
  Candidate places[COUNT_OF(folders)];
  uint32_t count = 0;
  for (size_t i = 0; i < COUNT_OF(folders); i++) {
    bool is_new = folders[i][0] != '\0' && (i == 0 || target[0] != '/');
    for (uint32_t k = 0; k < count; k++) is_new = is_new && strcmp(places[k].folder, folders[i]) != 0;
    if (is_new) places[count++] = place_in(arena, folders[i], target, hash);
  }
  const Candidate *place = choose_candidate(places, count);
  if (place == NULL) return is_shader_file(target) || not_found(target, places, count); // some fragment programs are built in
  if (strcmp(place->folder, ".") == 0) return true;
  char *here = getcwd(NULL, 0);
  if (wishes->json_file != NULL && wishes->json_file[0] != '/' && strcmp(wishes->json_file, "-") != 0 && here != NULL)
    wishes->json_file = arena_format(arena, "%s/%s", here, wishes->json_file);
  free(here);
  if (chdir(place->folder) != 0) return message_error("%s: %s", place->folder, strerror(errno)), false;
  message_note(wishes->files.quiet, "the program is not here: %s is taken, as in the campaign", place->path);
  return true;
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

// Is it what the campaign found?
static int compare(const FaultRow *row, const FaultRun *run, const ReplayWishes *wishes) {
  const Judgement *judgement = &run->judgement;
  const char *outcome = outcome_info[row->outcome % OUTCOME_COUNT].name;
  bool same_time = row->cycles == 0 || row->cycles == judgement->cycles; // kept of runs with right output only
  bool same = row->outcome == judgement->outcome && same_time && row->wrong == judgement->wrong;
  bool quiet = wishes->json && wishes->json_file == NULL;
  if (same && !quiet) {
    printf("the journal says the same");
    if (wishes->verbose) printf("; settled there by: %s", settled_text[row->settled % SETTLED_COUNT]);
    printf("\n");
  }
  if (same) return EXIT_OK;
  message_error("the journal says otherwise: %s, %" PRIu64 " cycles, %" PRIu64 " wrong elements", outcome, row->cycles, row->wrong);
  return EXIT_INTERNAL;
}

static int replay_row(const Journal *journal, const FaultRow *row, ReplayWishes *wishes, Arena *arena) {
  const JournalMeta *meta = journal_meta(journal);
  if (!go_to_program(journal, wishes, arena)) return EXIT_BAD_INPUT;
  RunOptions *options = ARENA_NEW(arena, RunOptions);
  if (!options_of(options, arena, meta, wishes)) return EXIT_BAD_INPUT;
  FaultWishes fault = {&row->fault, 1, options->timeout, true, meta};
  FaultRun *run = ARENA_NEW(arena, FaultRun);
  int code = fault_report(options, &fault, arena, run);
  return code == EXIT_OK ? compare(row, run, wishes) : code;
}

static int replay(ReplayWishes *wishes, Arena *arena) {
  Diags diags = {0};
  files_journal(&wishes->files, wishes->journal);
  if (!files_write(&wishes->files, wishes->json_file, &diags)) return message_diags(&diags);
  Journal *journal = journal_read(wishes->journal, &diags);
  if (journal == NULL) return message_diags(&diags);
  FaultRow row;
  int code = EXIT_BAD_INPUT;
  if (journal_find_fault(journal, wishes->id, &row, arena)) code = replay_row(journal, &row, wishes, arena);
  else message_error("%s: holds no fault %" PRIu64 "; it has %" PRIu64, wishes->journal, wishes->id, journal_fault_count(journal));
  journal_close(journal);
  return code;
}

static int run_replay(int argc, char **argv) {
  ReplayWishes wishes = {0};
  Operands operands;
  Arena *arena = arena_new();
  int code = EXIT_BAD_INPUT;
  if (!options_parse(&command_replay, &wishes, arena, argc, argv, &operands)) {
    code = operands.exit_code;
  } else if (parse_id(operands.items[1], &wishes.id)) {
    wishes.journal = operands.items[0];
    wishes.files = (Files){.arena = arena, .quiet = operands.quiet};
    code = replay(&wishes, arena);
  }
  arena_free(arena);
  return code;
}

static bool take_json(const OptionUse *use) {
  ReplayWishes *wishes = use->wishes;
  wishes->json = true;
  return option_text(use);
}

static const Option options[] = {
    {"json", 0, "FILE", "the same as JSON, to the terminal or FILE", .take = take_json, .offset = offsetof(ReplayWishes, json_file),
     .may_lack = true},
    {"timeout", 0, "N", "N times the fault-free cycles count as endless (default: the campaign's)", .take = option_u64,
     .offset = offsetof(ReplayWishes, timeout), .least = 1, .most = 1000000},
    {"verbose", 'v', NULL, VERBOSE_HELP, .take = option_flag, .offset = offsetof(ReplayWishes, verbose)},
};
static const OptionGroup group = OPTION_GROUP(NULL, options);

const Command command_replay = {
    .name = "replay",
    .usage = "DB ID",
    .summary = "one fault of a campaign again, explained",
    .synopsis = "redoubt replay JOURNAL ID [options]\n",
    .about = "One fault of a campaign again: its outcome, which must be the journal's, and why. See docs/faults.md.\n"
             "The program is looked for here, where the campaign was started, and beside the journal; it is known by its hash.\n",
    .groups = {&group},
    .ending = "Exit codes: 0 the same outcome, 2 bad input or another program or machine, 4 another outcome, or an internal error.\n",
    .wanted = "name a journal and the number of a fault",
    .least_operands = 2,
    .most_operands = 2,
    .run = run_replay,
};
