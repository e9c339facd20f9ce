// redoubt grade KERNELS: how many permanent faults a library of test kernels detects, and which of the kernels are enough. A campaign for
// each kernel and model on the same faults, which are there from the first cycle on; then the journals side by side.
#include "cli/campaign.h"
#include "cli/cores.h"
#include "cli/interrupt.h"
#include "cli/reading.h"
#include "cli/screen.h"
#include "report/grade.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { DEFAULT_FAULTS = 1000 };

typedef struct GradeWishes {
  CampaignRun run; // first: its options are shared
  const char *models, *folder, *csv, *json;
  double goal, confidence; // confidence: of the intervals shown; 0: what the journals say
} GradeWishes;

typedef VEC(char *) Paths;

// ---- Campaigns ---------------------------------------------------------------------------------------

// "a,b" as words; the next one, or NULL. `*list` goes on.
static const char *next_word(const char **list, Arena *arena) {
  const char *at = *list;
  size_t length = 0, depth = 0;
  if (*at == '\0') return NULL;
  for (; at[length] != '\0' && (at[length] != ',' || depth > 0); length++)
    depth += at[length] == '(', depth -= at[length] == ')' && depth > 0;
  *list = at + length + (at[length] == ',');
  return arena_copy_text(arena, at, length);
}

static bool is_journal(const char *path) {
  size_t length = strlen(path);
  return length > 3 && strcmp(path + length - 3, ".db") == 0;
}

// One kernel under one model, from the first cycle on.
static int strike(const GradeWishes *wishes, const char *kernel, const char *model, Paths *paths) {
  CampaignRun one = wishes->run; // campaigns note in it what they chose
  const char *slash = strrchr(kernel, '/'), *name = slash == NULL ? kernel : slash + 1;
  one.target.target = kernel;
  one.options.model = model;
  one.options.window = "cycles:0-1";
  one.options.journal = arena_format(one.arena, "%s/%s-%s.db", wishes->folder, name, model);
  one.options.context = &one.screen;
  one.is_part = true;
  *VEC_PUSH(paths, one.arena) = arena_copy_text(one.arena, one.options.journal, strlen(one.options.journal));
  message_note(one.target.files.quiet, "%s, %s: %s", kernel, model, one.options.journal);
  return campaign_one(&one);
}

static int strike_all(const GradeWishes *wishes, const char *kernel, Paths *paths) {
  int code = EXIT_OK;
  const char *models = wishes->models;
  for (const char *model; code == EXIT_OK && (model = next_word(&models, wishes->run.arena)) != NULL;)
    code = strike(wishes, kernel, model, paths);
  return code;
}

// A workload, a set of them, a PTX file; or a journal that another command has left.
static int take_operand(const GradeWishes *wishes, const char *operand, Paths *paths) {
  Arena *arena = wishes->run.arena;
  if (is_journal(operand)) {
    *VEC_PUSH(paths, arena) = arena_copy_text(arena, operand, strlen(operand));
    return EXIT_OK;
  }
  if (mkdir(wishes->folder, 0777) != 0 && errno != EEXIST) {
    message_error("%s: cannot be made: %s", wishes->folder, strerror(errno));
    return EXIT_BAD_INPUT;
  }
  if (!is_workload_list(operand) || is_ptx_file(operand)) return strike_all(wishes, operand, paths);
  Diags diags = {0};
  WorkloadList list = {0};
  int code = EXIT_OK;
  if (!workload_list_add(&list, arena, operand, &diags)) return message_diags(&diags);
  for (uint32_t i = 0; i < list.count && code == EXIT_OK; i++) code = strike_all(wishes, list.items[i]->name, paths);
  return code;
}

// ---- What they say -------------------------------------------------------------------------------------

static bool write_one(const Files *files, const char *path, void (*write)(const Grade *, Text *), const Grade *grade, Diags *diags) {
  Text text = {0};
  if (path == NULL) return true;
  write(grade, &text);
  bool good = out_text(files, path, &text, diags);
  text_free(&text);
  return good;
}

static bool show(const GradeWishes *wishes, const Grade *grade, Diags *diags) {
  const Files *files = &wishes->run.target.files;
  if (wishes->csv == NULL && wishes->json == NULL) {
    Text text = {0};
    grade_text(grade, &text);
    screen_print(text.at);
    text_free(&text);
  }
  return write_one(files, wishes->csv, grade_csv, grade, diags) && write_one(files, wishes->json, grade_json, grade, diags);
}

static int grade_journals(GradeWishes *wishes, const Paths *paths) {
  Diags diags = {0};
  Reading reading = {0};
  Files *files = &wishes->run.target.files;
  for (uint32_t i = 0; i < paths->count; i++) files_journal(files, paths->items[i]);
  bool good = files_write(files, wishes->csv, &diags) && files_write(files, wishes->json, &diags) &&
              reading_open(&reading, paths->items, paths->count, &(ReportOptions){.confidence = wishes->confidence}, &diags);
  bool is_refused = good && !reading_whole(&reading, &diags);
  int code = is_refused ? EXIT_UNFINISHED : EXIT_BAD_INPUT;
  if (good && !is_refused) {
    if (reading_code(&reading) == EXIT_INTERNAL) code = EXIT_INTERNAL;
    Grade *grade = grade_read(reading.reports, reading.count, &(GradeOptions){reading.reports[0]->confidence, wishes->goal}, &diags);
    if (grade != NULL && show(wishes, grade, &diags)) code = EXIT_OK;
    grade_free(grade);
  }
  reading_close(&reading);
  if (code != EXIT_OK) message_diags(&diags);
  return code;
}

static int grade(GradeWishes *wishes, const Operands *operands) {
  Paths paths = {0};
  int code = EXIT_OK;
  for (uint32_t i = 0; i < operands->count && code == EXIT_OK; i++) code = take_operand(wishes, operands->items[i], &paths);
  return code == EXIT_OK ? grade_journals(wishes, &paths) : code;
}

static int run_grade(int argc, char **argv) {
  GradeWishes *wishes = calloc(1, sizeof *wishes);
  ASSERT(wishes != NULL);
  campaign_default(&wishes->run, argc, argv);
  wishes->models = "stuck0,stuck1";
  wishes->folder = "grade";
  wishes->run.options.faults = DEFAULT_FAULTS; // a margin would end the campaigns of different kernels at different faults
  Operands operands;
  int code = EXIT_BAD_INPUT;
  bool good = options_parse(&command_grade, wishes, wishes->run.arena, argc, argv, &operands);
  if (wishes->confidence > 0) wishes->run.options.confidence = wishes->confidence;
  if (wishes->run.options.structures == NULL) wishes->run.options.structures = "unit.sp";
  if (!good) code = operands.exit_code;
  else if (campaign_complete(&wishes->run, &operands)) code = grade(wishes, &operands);
  arena_free(wishes->run.arena);
  free(wishes);
  return code;
}

static bool take_goal(const OptionUse *use) { return option_real(use, 0.001, 1, option_field(use)); }

#define FIELD(name) offsetof(GradeWishes, run.options.name)
static const Option grade_options[] = {
    {"structure", 0, "LIST", "what is struck ('redoubt list structures'; default unit.sp); several: repeat it, or commas",
     .take = option_list, .offset = FIELD(structures)},
    {"model", 0, "LIST", "how (default stuck0,stuck1)", .take = option_text, .offset = offsetof(GradeWishes, models)},
    {"faults", 0, "N", "how many faults for each model (default 1000), dealt evenly over the structures; all: every bit once",
     .take = option_faults, .offset = FIELD(faults), .most = UINT64_MAX},
    {"coverage", 0, "C", "find the smallest set of kernels that detects this share (default: all that any of them detects)",
     .take = take_goal, .offset = offsetof(GradeWishes, goal)},
    {"fault-seed", 0, "N", "other faults, but the same inputs (default: --seed, which changes both)", .take = option_fault_seed,
     .offset = FIELD(seed), .most = UINT64_MAX},
    {"confidence", 0, "C", CONFIDENCE_HELP, .take = option_confidence, .offset = offsetof(GradeWishes, confidence)},
    {"timeout", 0, "N", "a run of N times the fault-free cycles counts as endless (default 10)", .take = option_campaign_whole,
     .offset = FIELD(timeout), .most = UINT64_MAX},
};
#undef FIELD
static const OptionGroup grade_group = OPTION_GROUP("Faults", grade_options);

static const Option file_options[] = {
    {"journals", 'o', "FOLDER", "where the journals are kept and resumed (default grade)", .take = option_text,
     .offset = offsetof(GradeWishes, folder)},
    {"csv", 0, "FILE", "coverage of every structure by every kernel", .take = option_text, .offset = offsetof(GradeWishes, csv)},
    {"json", 0, "FILE", "all of it", .take = option_text, .offset = offsetof(GradeWishes, json)},
    {"jobs", 'j', "N", "simulations at one time (default and most: the processors that this process may use)", .take = option_jobs,
     .offset = offsetof(GradeWishes, run.options.jobs), .least = 1, .most = 256},
    {"progress", 0, NULL, "say how far it is every ten seconds, if there is no terminal", .take = option_flag,
     .offset = offsetof(GradeWishes, run.screen.wanted)},
};
static const OptionGroup file_group = OPTION_GROUP("The work", file_options);

const Command command_grade = {
    .name = "grade",
    .usage = "KERNELS",
    .summary = "permanent faults that test kernels detect, and the smallest set of them",
    .synopsis = "redoubt grade KERNEL... [options]     workloads, sets (@SET), PTX files: a campaign for each, on the same faults\n"
                "redoubt grade JOURNAL.db... [options] or journals of such campaigns (--window cycles:0-1, the same seed)\n",
    .about = "A fault is detected if a kernel's outputs, its signature, differ from those without faults, or do not come at all.\n"
             "See docs/safety.md.\n",
    .groups = {&grade_group, &file_group, &run_machine_group, &run_workload_group, &run_ptx_group, &run_shader_group},
    .ending = "Example:\n"
              "  redoubt grade scan,reduction,matmul --size tiny --structure unit.sp,unit.agu --faults 400 --coverage 0.9\n"
              "\n"
              "Exit codes: 0 graded, 2 bad usage or input, 4 internal error, 5 a journal is unfinished, 130 stopped by Ctrl-C.\n",
    .operand = "kernel",
    .wanted = "name kernels or journals",
    .least_operands = 1,
    .most_operands = MOST_JOURNALS,
    .run = run_grade,
};
