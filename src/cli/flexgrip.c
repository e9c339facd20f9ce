// redoubt reproduce flexgrip: the FlexGripPlus thesis's study, run again, with every number beside the published one.
#include "cli/cli.h"
#include "cli/cores.h"
#include "cli/out_file.h"
#include "cli/screen.h"
#include "flexgrip/study.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

typedef struct ReproduceWishes {
  const char *csv, *page;
  bool beyond;
  StudyOptions options; // faults 0: not given
  Files files;
} ReproduceWishes;

// ---- Files -----------------------------------------------------------------------------------------

static bool make_folder(const char *folder, Diags *diags) {
  if (mkdir(folder, 0777) == 0 || errno == EEXIST) return true;
  return diags_add(diags, folder, 0, 0, "cannot be made: %s", strerror(errno));
}

static bool write_in(const ReproduceWishes *wishes, const char *name, const Text *text, Diags *diags) {
  return out_text(&wishes->files, arena_format(wishes->files.arena, "%s/%s", wishes->csv, name), text, diags);
}

static bool write_tables(const Study *study, const ReproduceWishes *wishes, Diags *diags) {
  if (!make_folder(wishes->csv, diags)) return false;
  bool good = true;
  for (uint32_t i = 0; i < study_table_count && good; i++) {
    Text text = {0};
    study_tables[i].write(study, &text);
    good = write_in(wishes, study_tables[i].file, &text, diags);
    text_free(&text);
  }
  return good;
}

// ---- The command -----------------------------------------------------------------------------------

static bool reproduce(const ReproduceWishes *wishes, Diags *diags) {
  double began = host_seconds();
  Study *study = study_new(&wishes->options, diags);
  if (study == NULL) return false;
  Text text = {0};
  study_text(study, &text);
  screen_print(text.at);
  printf("\n%.1f s with %u processes\n", host_seconds() - began, wishes->options.workers);
  text_free(&text);
  bool good = wishes->csv == NULL || write_tables(study, wishes, diags);
  if (good && wishes->page != NULL) {
    reproduce_page(study, &text);
    good = out_text(&wishes->files, wishes->page, &text, diags);
    text_free(&text);
  }
  study_free(study);
  return good;
}

static bool reproduce_beyond(const ReproduceWishes *wishes, Diags *diags) {
  double began = host_seconds();
  Text text = {0}, csv = {0};
  bool good = study_beyond(&wishes->options, &text, &csv, diags);
  if (good) {
    screen_print(text.at);
    printf("\n%.1f s with %u processes\n", host_seconds() - began, wishes->options.workers);
  }
  if (good && wishes->csv != NULL) good = make_folder(wishes->csv, diags) && write_in(wishes, "beyond.csv", &csv, diags);
  text_free(&text);
  text_free(&csv);
  return good;
}

static int reproduce_wished(ReproduceWishes *wishes) {
  if (wishes->beyond && wishes->page != NULL) return message_usage("reproduce", "--beyond makes no page; it takes --csv");
  if (wishes->options.faults == 0) wishes->options.faults = wishes->beyond ? STUDY_BEYOND_FAULTS : STUDY_FAULTS;
  Diags diags = {0};
  bool good = wishes->beyond ? reproduce_beyond(wishes, &diags) : reproduce(wishes, &diags);
  return good ? EXIT_OK : message_diags(&diags);
}

int run_flexgrip(int argc, char **argv) {
  ReproduceWishes wishes = {.options = {.seed = 1, .confidence = 0.95, .workers = host_cores()}};
  Operands operands;
  Arena *arena = arena_new();
  bool good = options_parse(&command_flexgrip, &wishes, arena, argc, argv, &operands);
  wishes.files = (Files){.arena = arena, .quiet = operands.quiet};
  int code = good ? reproduce_wished(&wishes) : operands.exit_code;
  arena_free(arena);
  return code;
}

static const Option options[] = {
    {"beyond", 0, NULL, "instead, what the study left open: stuck-at faults, other structures, 1 to 16 SMs", .take = option_flag,
     .offset = offsetof(ReproduceWishes, beyond)},
    {"output", 'o', "FILE", "also a page with the thesis's figures 21 to 24, drawn from what was found", .take = option_text,
     .offset = offsetof(ReproduceWishes, page)},
    {"csv", 0, "FOLDER", "also tables: campaigns, every fault, phases, signals, claims, times", .take = option_text,
     .offset = offsetof(ReproduceWishes, csv)},
    {"jobs", 'j', "N", "processes (default and most: the processors that this process may use); results do not depend on it",
     .take = option_jobs, .offset = offsetof(ReproduceWishes, options.workers), .least = 1, .most = 256},
    {"seed", 0, "N", "of the faults (default 1)", .take = option_u64, .offset = offsetof(ReproduceWishes, options.seed),
     .most = UINT64_MAX},
    {"faults", 0, "N", "per campaign (default 6970, as the thesis; 300 with --beyond)", .take = option_u32,
     .offset = offsetof(ReproduceWishes, options.faults), .least = 1, .most = 1000000},
    {"confidence", 0, "C", "of the intervals (default 0.95)", .take = option_confidence,
     .offset = offsetof(ReproduceWishes, options.confidence)},
};
static const OptionGroup group = OPTION_GROUP(NULL, options);

const Command command_flexgrip = {
    .name = "reproduce",
    .usage = "STUDY",
    .summary = "run a published study again and compare",
    .synopsis = "redoubt reproduce flexgrip [options]    a published study, run again: every number beside the published one\n",
    .groups = {&group},
    .ending = "docs/reproduce.md says what is repeated, how outcomes are classified and which agreement was fitted.\n",
    .operand = "study",
    .wanted = "which study?",
    .least_operands = 1,
    .most_operands = 1,
    .run = run_flexgrip,
};
