// redoubt study FILE, redoubt reproduce NAME: runs a study file's cells, measures, judges its claims, and shows what was found.
#include "cli/study.h"
#include "cli/cli.h"
#include "cli/cluster.h"
#include "cli/cores.h"
#include "cli/energy.h"
#include "cli/folder_lock.h"
#include "cli/interrupt.h"
#include "cli/out_file.h"
#include "cli/progress.h"
#include "cli/screen.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct StudyWishes {
  const char *output;
  bool list, quick;
  bool beyond;  // what the paper left open: another study file
  bool of_many; // one study of several: what it says stands in its files only
  CellWishes cells;
  Files files;
} StudyWishes;

// ---- Which cells -----------------------------------------------------------------------------------------------------

static const char *const *set_members(const char *name, Arena *arena) {
  WorkloadList list = {0};
  Diags ignored = {0};
  bool known = workload_list_add(&list, arena, name, &ignored);
  diags_free(&ignored);
  if (!known) return NULL;
  const char **names = ARENA_ARRAY(arena, const char *, list.count + 1);
  for (uint32_t i = 0; i < list.count; i++) names[i] = list.items[i]->name;
  return names;
}

// How long a cell takes that has not been run: as those that have, of the same part and target, or of the same part. Below 0: nobody knows.
static double expected_seconds(const StudyWishes *wishes, const StudyCells *cells, const StudyCell *cell) {
  double sums[2] = {0};
  uint32_t counts[2] = {0};
  for (uint32_t i = 0; i < cells->items.count; i++) {
    const StudyCell *other = &cells->items.items[i];
    double seconds = other->part == cell->part ? cell_seconds(other, wishes->output) : -1;
    if (seconds < 0) continue;
    bool is_near = strcmp(other->target, cell->target) == 0;
    sums[is_near] += seconds;
    counts[is_near]++;
  }
  if (counts[1] > 0) return sums[1] / counts[1];
  return counts[0] > 0 ? sums[0] / counts[0] : -1;
}

static void list_cells(const StudyWishes *wishes, const StudyFile *study, const StudyCells *cells) {
  uint32_t done = 0, unknown = 0;
  double left = 0;
  Text text = {0};
  for (uint32_t i = 0; i < cells->items.count; i++) {
    const StudyCell *cell = &cells->items.items[i];
    bool is_done = cell_is_done(cell, wishes->output);
    double seconds = is_done ? cell_seconds(cell, wishes->output) : expected_seconds(wishes, cells, cell);
    done += is_done;
    unknown += !is_done && seconds < 0;
    if (!is_done && seconds > 0) left += seconds;
    text_add(&text, is_done ? "done " : "     ");
    if (seconds < 0) text_add(&text, "%10s  ", "?");
    else text_add(&text, "%s%7.1f s  ", is_done ? " " : "~", seconds);
    study_command(cell, &text);
    text_add(&text, "\n");
  }
  text_add(&text, "%u cells, %u of them done", cells->items.count, done);
  if (left > 0) {
    text_add(&text, "; those that are like a cell that was run will take about ");
    duration_format(left / wishes->cells.jobs, &text);
    text_add(&text, " with %u processes", wishes->cells.jobs);
  }
  const char *cost = study_value(&study->parts.items[0], "cost");
  if (unknown > 0 && cost != NULL) text_add(&text, "\nthe whole study: %s", cost);
  text_add(&text, "\n");
  screen_print(text.at);
  text_free(&text);
}

// ---- What was found ----------------------------------------------------------------------------------------------------

static bool write_one(const StudyWishes *wishes, const char *name, const Text *text, Diags *diags) {
  return out_text(&wishes->files, arena_format(wishes->files.arena, "%s/%s", wishes->output, name), text, diags);
}

static bool write_table(const StudyWishes *wishes, const StudyPart *part, const StudyTable *table, Diags *diags) {
  if (table->columns.count == 0) return true;
  Text text = {0};
  study_table_csv(table, &text);
  bool good = write_one(wishes, arena_format(wishes->files.arena, "%s.csv", part->name), &text, diags);
  text_free(&text);
  return good;
}

static bool write_results(const StudyWishes *wishes, const StudyOutcome *outcome, Diags *diags) {
  Text text = {0};
  study_as_text(outcome, &text);
  if (!wishes->of_many) screen_print(text.at);
  bool good = write_one(wishes, "study.txt", &text, diags);
  text_free(&text);
  study_as_html(outcome, &text);
  good = good && write_one(wishes, "index.html", &text, diags);
  text_free(&text);
  char *json = study_as_json(outcome);
  text_add(&text, "%s\n", json);
  free(json);
  good = good && write_one(wishes, "study.json", &text, diags);
  text_free(&text);
  for (uint32_t i = 0; i < outcome->claims.count && good; i++)
    good = write_table(wishes, outcome->claims.items[i].part, &outcome->claims.items[i].table, diags);
  for (uint32_t i = 0; i < outcome->shown.count && good; i++)
    good = write_table(wishes, outcome->shown.items[i].part, &outcome->shown.items[i].table, diags);
  if (good && !wishes->of_many)
    message_note(wishes->files.quiet,
                 "%s/index.html: the page; study.json, study.db and a CSV file for each claim, table and chart are beside it",
                 wishes->output);
  return good;
}

static bool show_results(const StudyWishes *wishes, const StudyFile *study, const StudyCells *cells, StudyOutcome *outcome, Diags *diags) {
  int lock = folder_lock_wait(wishes->output, LOCK_PAGE, wishes->files.quiet);
  StudyResults *results = study_collect(study, cells, wishes->output, diags);
  bool good = results != NULL && study_judge_all(study, cells, wishes->quick, results, wishes->files.arena, outcome, diags) &&
              write_results(wishes, outcome, diags);
  study_results_close(results);
  folder_unlock(lock);
  return good;
}

// ---- One study ---------------------------------------------------------------------------------------------------------

static bool make_folder(const char *path, Diags *diags) {
  if (mkdir(path, 0777) == 0 || errno == EEXIST) return true;
  return diags_add(diags, path, 0, 0, "cannot be made: %s", strerror(errno));
}

// Nothing, or what a study that has just begun makes first.
static bool is_empty(const char *folder) {
  DIR *there = opendir(folder);
  bool empty = there != NULL || errno == ENOENT;
  for (const struct dirent *entry; empty && there != NULL && (entry = readdir(there)) != NULL;)
    empty = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 || strcmp(entry->d_name, "cells") == 0;
  if (there != NULL) closedir(there);
  return empty;
}

// A folder that holds something else is not ours to write into.
static bool is_for_results(const char *folder, Arena *arena, Diags *diags) {
  if (access(arena_format(arena, "%s/cells", folder), F_OK) == 0 || is_empty(folder)) return true;
  return diags_add(diags, folder, 0, 0, "is there and holds no results of a study: name another folder with -o");
}

// Names of what a run tells as numbers, NULL after the last.
static const char *const *run_columns(Arena *arena) {
  const char **names = ARENA_ARRAY(arena, const char *, STAT_COUNT + ENERGY_FIGURES + 2);
  uint32_t count = 0;
  for (int i = 0; i < STAT_COUNT; i++) names[count++] = stat_info[i].name;
  for (int i = 0; i < ENERGY_FIGURES; i++) names[count++] = energy_figure_name[i];
  names[count] = "host_seconds";
  return names;
}

// *is_judged: all cells are done, and the outcome says what was found.
static int run_cells(const StudyWishes *wishes, const StudyFile *study, const StudyCells *cells, StudyOutcome *outcome, bool *is_judged,
                     Diags *diags) {
  Arena *arena = wishes->files.arena;
  if (!is_for_results(wishes->output, arena, diags) || !make_folder(wishes->output, diags) ||
      !make_folder(arena_format(arena, "%s/cells", wishes->output), diags) ||
      !make_folder(arena_format(arena, "%s/times", wishes->output), diags))
    return message_diags(diags);
  bool is_shown = false, on_cluster = wishes->cells.cluster != NULL;
  int code = on_cluster ? cells_on_cluster(cells, &wishes->cells, &is_shown) : cells_run(cells, &wishes->cells);
  if (is_shown || (on_cluster && code != EXIT_OK)) return code; // that has been said
  if (code != EXIT_OK) {
    message_error("the study is not finished; the same command goes on where it stopped");
    return code;
  }
  uint32_t left = 0;
  for (uint32_t i = 0; i < cells->items.count; i++) left += !cell_is_done(&cells->items.items[i], wishes->output);
  if (left == 0) {
    *is_judged = show_results(wishes, study, cells, outcome, diags);
    return *is_judged ? EXIT_OK : message_diags(diags);
  }
  message_note(wishes->files.quiet,
               "this shard is done; %u cells of others are not: put all files of %s/cells together and run the study without --shard", left,
               wishes->output);
  return EXIT_OK;
}

// What runs this study alone, and judges it if its cells are there.
static void note_command(const StudyFile *study, StudyWishes *wishes) {
  const char **words = ARENA_ARRAY(wishes->files.arena, const char *, 8);
  uint32_t count = 0;
  words[count++] = study->builtin != NULL ? "reproduce" : "study";
  words[count++] = study->builtin != NULL ? study->builtin : study->path;
  words[count++] = "-o";
  words[count++] = wishes->output;
  if (wishes->quick) words[count++] = "--quick";
  if (wishes->beyond) words[count++] = "--beyond";
  wishes->cells.command = words;
  wishes->cells.command_count = count;
}

static int study_of(const StudyFile *study, StudyWishes *wishes, StudyOutcome *outcome, bool *is_judged, Diags *diags) {
  Arena *arena = wishes->files.arena;
  StudyCells *cells = ARENA_NEW(arena, StudyCells);
  // Another build of the program may give other results, so that its cells are other cells.
  StudyChoice choice = {.quick = wishes->quick, .program = own_hash(), .set = set_members};
  const char *name = study->builtin != NULL ? study->builtin : "study";
  if (wishes->output == NULL)
    wishes->output = arena_format(arena, "%s%s-%s", name, wishes->beyond ? "-beyond" : "", wishes->quick ? "quick" : "results");
  wishes->cells.folder = wishes->output;
  note_command(study, wishes);
  *is_judged = false;
  if (!study_cells(study, &choice, arena, cells, diags)) return message_diags(diags);
  if (!study_check(study, cells, run_columns(arena), diags)) return message_diags(diags);
  if (!cells_can_run(study, cells)) return EXIT_BAD_INPUT;
  if (wishes->list) list_cells(wishes, study, cells);
  return wishes->list ? EXIT_OK : run_cells(wishes, study, cells, outcome, is_judged, diags);
}

static int one_study(StudyFile *study, StudyWishes *wishes, Diags *diags) {
  if (study == NULL) return message_diags(diags);
  StudyOutcome outcome;
  bool is_judged;
  int code = study_of(study, wishes, &outcome, &is_judged, diags);
  study_close(study);
  return code;
}

// ---- All that are built in ------------------------------------------------------------------------------------------------

static bool write_index(const StudyWishes *wishes, const StudyIndex *index, Diags *diags) {
  IndexRows rows = {0};
  study_index_rows(index, wishes->files.arena, &rows);
  Text text = {0};
  study_index_text(index, &rows, &text);
  screen_print(text.at);
  text_free(&text);
  study_index_csv(&rows, &text);
  bool good = write_one(wishes, "claims.csv", &text, diags);
  text_free(&text);
  study_index_markdown(index, &rows, &text);
  good = good && write_one(wishes, "claims.md", &text, diags);
  text_free(&text);
  study_index_html(index, &rows, &text);
  good = good && write_one(wishes, "index.html", &text, diags);
  text_free(&text);
  if (good) message_note(wishes->files.quiet, "%s/index.html: every claim, and a page for each study", wishes->output);
  return good;
}

static bool is_for_index(const StudyWishes *wishes, Diags *diags) {
  Arena *arena = wishes->files.arena;
  for (uint32_t i = 0; i < builtin_study_file_count; i++) {
    if (access(arena_format(arena, "%s/%s/cells", wishes->output, builtin_study_files[i].study), F_OK) == 0) return true;
  }
  return is_for_results(wishes->output, arena, diags) && make_folder(wishes->output, diags);
}

// A study that fails does not keep the others from being run; a signal does. The code of the first that failed.
static int every_study(StudyWishes *wishes, Diags *diags) {
  Arena *arena = wishes->files.arena;
  if (wishes->output == NULL) wishes->output = wishes->quick ? "reproduce-quick" : "reproduce-results";
  if (!wishes->list && !is_for_index(wishes, diags)) return message_diags(diags);
  StudyIndex index = {.quick = wishes->quick, .commit = version_commit()};
  VEC(StudyFile *) opened = {0};
  int code = EXIT_OK;
  for (uint32_t i = 0; i < builtin_study_file_count && code < EXIT_SIGNAL; i++) {
    const char *name = builtin_study_files[i].study;
    if (strcmp(builtin_study_files[i].name, "study.ini") != 0) continue;
    StudyFile *study = study_builtin(name, "study.ini", diags);
    ASSERT(study != NULL); // a test reads every one
    *VEC_PUSH(&opened, arena) = study;
    StudyWishes own = *wishes;
    own.of_many = true;
    own.output = arena_format(arena, "%s/%s", wishes->output, name);
    message_note(wishes->files.quiet || wishes->list, "study %s", name);
    StudyOutcome outcome;
    bool is_judged;
    int own_code = study_of(study, &own, &outcome, &is_judged, diags);
    if (is_judged) *VEC_PUSH(&index.studies, arena) = outcome;
    if (code == EXIT_OK || own_code >= EXIT_SIGNAL) code = own_code;
  }
  bool has_index = !wishes->list && code < EXIT_SIGNAL; // of what is known so far
  if (has_index && !write_index(wishes, &index, diags)) code = message_diags(diags);
  for (uint32_t i = 0; i < opened.count; i++) study_close(opened.items[i]);
  return code;
}

// ---- The commands ----------------------------------------------------------------------------------------------------------

static void list_builtin(Text *out) {
  for (uint32_t i = 0; i < builtin_study_file_count; i++) {
    if (strcmp(builtin_study_files[i].name, "study.ini") != 0) continue;
    Diags diags = {0};
    StudyFile *study = study_builtin(builtin_study_files[i].study, "study.ini", &diags);
    ASSERT(study != NULL); // a test reads every one
    const StudyPart *head = &study->parts.items[0];
    const char *shows = study_value(head, "shows"), *cost = study_value(head, "cost");
    text_add(out, "%-10s %s\n", study->builtin, study_value(head, "title"));
    if (shows != NULL) text_add(out, "           %s\n", shows);
    if (cost != NULL) text_add(out, "           cost: %s\n", cost);
    study_close(study);
  }
}

// The command on a file, or on a study that is built in.
static int run_with(const Command *command, bool is_builtin, int argc, char **argv) {
  StudyWishes wishes = {.cells = {.jobs = host_cores(), .shards = 1}};
  Operands operands;
  Arena *arena = arena_new();
  Diags diags = {0};
  bool good = options_parse(command, &wishes, arena, argc, argv, &operands);
  wishes.files = (Files){.arena = arena, .quiet = operands.quiet};
  wishes.cells.quiet = operands.quiet;
  int code = operands.exit_code;
  if (good && is_builtin && strcmp(operands.items[0], "all") == 0) code = every_study(&wishes, &diags);
  else if (good)
    code = one_study(is_builtin ? study_builtin(operands.items[0], wishes.beyond ? "beyond.ini" : "study.ini", &diags)
                                : study_read(operands.items[0], &diags),
                     &wishes, &diags);
  arena_free(arena);
  return code;
}

static int run_study(int argc, char **argv) { return run_with(&command_study, false, argc, argv); }

static int list_studies(void) {
  Text text = {0};
  list_builtin(&text);
  bool good = screen_print(text.at);
  text_free(&text);
  return good ? EXIT_OK : EXIT_INTERNAL;
}

static int run_reproduce(int argc, char **argv) { return argc < 2 ? list_studies() : run_with(&command_reproduce, true, argc, argv); }

static bool take_shard(const OptionUse *use) {
  CellWishes *cells = option_field(use);
  uint32_t pair[2] = {0};
  bool good = pair_parse(use->text, '/', pair);
  cells->shard = pair[0];
  cells->shards = pair[1];
  return (good && cells->shard < cells->shards) || option_wrong(use, "is written I/N, I from 0 and below N");
}

static const Option options[] = {
    {"output", 'o', "FOLDER", "where results go, and from where a study goes on (default study-results)", .take = option_text,
     .offset = offsetof(StudyWishes, output)},
    {"quick", 0, NULL, "what the study says under quick.KEY instead of KEY: a first look", .take = option_flag,
     .offset = offsetof(StudyWishes, quick)},
    {"list", 0, NULL, "only show the cells: the command of each, whether it is done, how long it took or will take", .take = option_flag,
     .offset = offsetof(StudyWishes, list)},
    {"shard", 0, "I/N", "only every N-th cell, I from 0; cells of all shards go into one folder", .take = take_shard,
     .offset = offsetof(StudyWishes, cells)},
    {"jobs", 'j', "N", "processes (default and most: the processors that this process may use); results do not depend on it",
     .take = option_jobs, .offset = offsetof(StudyWishes, cells.jobs), .least = 1, .most = 256},
    {"cluster", 0, "WHERE", "cells as tasks: slurm[:OPTION,...], local:N, folder; options as for 'redoubt campaign', docs/cluster.md",
     .take = option_text, .offset = offsetof(StudyWishes, cells.cluster)},
};
static const OptionGroup group = OPTION_GROUP(NULL, options);
static const Option beyond_options[] = {
    {"beyond", 0, NULL, "instead, what the paper left open", .take = option_flag, .offset = offsetof(StudyWishes, beyond)},
};
static const OptionGroup beyond_group = OPTION_GROUP(NULL, beyond_options);

const Command command_study = {
    .name = "study",
    .usage = "FILE",
    .summary = "runs, campaigns and claims that a text file names",
    .synopsis = "redoubt study FILE.ini [options]    a study: what to run, what to measure, what was published\n",
    .about = "A study goes on where it stopped, after Ctrl-C and kill -9 too. A cell that has been run is never run again\n"
             "unless its command, a file that it names, or this program has changed.\n",
    .groups = {&group},
    .ending = "docs/studies.md says how a study is written; 'redoubt list study' has every key.\n",
    .operand = "study file",
    .wanted = "which study? Name its file",
    .least_operands = 1,
    .most_operands = 1,
    .run = run_study,
};

const Command command_reproduce = {
    .name = "reproduce",
    .usage = "[STUDY]",
    .summary = "a published study again, every number beside the published one",
    .synopsis = "redoubt reproduce                     which studies are built in, what they show and cost\n"
                "redoubt reproduce STUDY [options]     one of them, as 'redoubt study' runs a file\n"
                "redoubt reproduce all [options]       every one, and an index of all claims of all papers\n"
                "redoubt reproduce STUDY --beyond      what its paper left open, where there is such a study\n",
    .groups = {&group, &beyond_group},
    .ending = "The files are those of studies/; docs/studies.md and docs/reproduce.md say more.\n",
    .operand = "study",
    .wanted = "which study? 'redoubt reproduce' lists them",
    .least_operands = 1,
    .most_operands = 1,
    .run = run_reproduce,
};
