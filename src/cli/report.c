// redoubt report, compare, merge: what journals say.
#include "cli/cli.h"
#include "cli/journal.h"
#include "cli/out_file.h"
#include "cli/screen.h"
#include "report/report.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_JOURNALS = 1024 };

bool report_print(const char *path, double confidence, uint64_t *internal, Diags *diags) {
  Journal *journal = journal_read(path, diags);
  Report *report = journal == NULL ? NULL : report_read(journal, confidence, diags);
  if (report != NULL) {
    Text text = {0};
    report_text(report, &text);
    screen_print_outcomes(text.at);
    text_free(&text);
    *internal = report->all.counts[OUTCOME_INTERNAL];
  }
  bool good = report != NULL;
  report_free(report);
  journal_close(journal);
  return good;
}

// ---- Exports ---------------------------------------------------------------------------------------

typedef struct ReportWishes {
  const char *journal, *page, *csv, *json;
  double confidence;
  Files files;
} ReportWishes;

// `complete`: whoever wrote came to the end; if not, and the file is all right, the journal is not.
static bool close_file(OutFile *out, bool complete, const Report *report, Diags *diags) {
  return out_close(out, complete, diags) && (complete || journal_damaged(report->journal, diags));
}

static bool write_page(const ReportWishes *wishes, const Report *report, Diags *diags) {
  OutFile out;
  if (!out_open(&out, &wishes->files, wishes->page, diags)) return false;
  Text text = {0};
  bool complete = report_page(report, wishes->journal, &text);
  if (complete) out_write(&out, text.at, text.length);
  text_free(&text);
  return close_file(&out, complete, report, diags);
}

static bool write_csv(const Files *files, const char *path, const Report *report, CsvTable table, Diags *diags) {
  OutFile out;
  if (!out_open(&out, files, path, diags)) return false;
  bool complete = report_csv(report, table, &(Sink){out_write, &out});
  return close_file(&out, complete, report, diags);
}

static bool is_folder(const char *path) {
  struct stat about;
  return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

static const char *table_path(const ReportWishes *wishes, uint32_t table) {
  return arena_format(wishes->files.arena, "%s/%s.csv", wishes->csv, csv_names[table]);
}

// Into a file every fault; into a folder all tables.
static bool write_tables(const ReportWishes *wishes, const Report *report, Diags *diags) {
  if (!is_folder(wishes->csv)) return write_csv(&wishes->files, wishes->csv, report, CSV_FAULTS, diags);
  Files silent = {.arena = wishes->files.arena, .quiet = true};
  for (uint32_t i = 0; i < CSV_COUNT; i++) {
    if (!write_csv(&silent, table_path(wishes, i), report, (CsvTable)i, diags)) return false;
  }
  message_note(wishes->files.quiet, "wrote %d tables into %s", CSV_COUNT, wishes->csv);
  return true;
}

static bool write_json(const ReportWishes *wishes, const Report *report, Diags *diags) {
  OutFile out;
  if (!out_open(&out, &wishes->files, wishes->json, diags)) return false;
  bool complete = report_json(report, &(Sink){out_write, &out});
  return close_file(&out, complete, report, diags);
}

// No file that is written may be the journal, or another one of them.
static bool check_files(ReportWishes *wishes, Diags *diags) {
  Files *files = &wishes->files;
  files_journal(files, wishes->journal);
  bool good = files_write(files, wishes->page, diags) && files_write(files, wishes->json, diags);
  if (!good || wishes->csv == NULL || !is_folder(wishes->csv)) return good && files_write(files, wishes->csv, diags);
  for (uint32_t i = 0; i < CSV_COUNT && good; i++) good = files_write(files, table_path(wishes, i), diags);
  return good;
}

static bool write_files(const ReportWishes *wishes, uint64_t *internal, Diags *diags) {
  Journal *journal = journal_read(wishes->journal, diags);
  Report *report = journal == NULL ? NULL : report_read(journal, wishes->confidence, diags);
  bool good = report != NULL;
  if (good) *internal = report->all.counts[OUTCOME_INTERNAL];
  if (good && wishes->page != NULL) good = write_page(wishes, report, diags);
  if (good && wishes->csv != NULL) good = write_tables(wishes, report, diags);
  if (good && wishes->json != NULL) good = write_json(wishes, report, diags);
  report_free(report);
  journal_close(journal);
  return good;
}

static int report(ReportWishes *wishes) {
  Diags diags = {0};
  uint64_t internal = 0;
  bool has_files = wishes->page != NULL || wishes->csv != NULL || wishes->json != NULL;
  bool good = check_files(wishes, &diags);
  if (good && has_files) good = write_files(wishes, &internal, &diags);
  else if (good) good = report_print(wishes->journal, wishes->confidence, &internal, &diags);
  if (!good) return message_diags(&diags);
  if (internal == 0) return EXIT_OK;
  if (has_files) // tables say so themselves
    message_error("INTERNAL ERROR: %llu simulations of %s failed in Redoubt itself: no figure of this campaign can be trusted",
                  (unsigned long long)internal, wishes->journal);
  return EXIT_INTERNAL;
}

static int run_report(int argc, char **argv) {
  ReportWishes wishes = {.confidence = 0.99};
  Operands operands;
  Arena *arena = arena_new();
  int code;
  if (options_parse(&command_report, &wishes, arena, argc, argv, &operands)) {
    wishes.files = (Files){.arena = arena, .quiet = operands.quiet};
    wishes.journal = operands.items[0];
    code = report(&wishes);
  } else {
    code = operands.exit_code;
  }
  arena_free(arena);
  return code;
}

static const Option report_options[] = {
    {"output", 'o', "FILE", "one page with charts, which needs no network", .take = option_text, .offset = offsetof(ReportWishes, page)},
    {"csv", 0, "FILE", "every fault as CSV; into an existing folder: all tables", .take = option_text,
     .offset = offsetof(ReportWishes, csv)},
    {"json", 0, "FILE", "summaries and every fault as JSON", .take = option_text, .offset = offsetof(ReportWishes, json)},
    {"confidence", 0, "C", "of the intervals (default 0.99)", .take = option_confidence, .offset = offsetof(ReportWishes, confidence)},
};
static const OptionGroup report_group = OPTION_GROUP(NULL, report_options);

const Command command_report = {
    .name = "report",
    .usage = "DB",
    .summary = "what a campaign found: tables, or one page with charts (-o page.html)",
    .synopsis = "redoubt report JOURNAL                  tables: outcomes with intervals, AVF, FIT\n"
                "redoubt report JOURNAL -o PAGE.html     one page with charts, which needs no network\n",
    .groups = {&report_group},
    .ending = "Exit codes: 0 all went well, 2 bad usage or input, 4 simulations of the campaign failed in Redoubt itself.\n",
    .operand = "journal",
    .wanted = "name a journal",
    .least_operands = 1,
    .most_operands = 1,
    .run = run_report,
};

// ---- Two journals ----------------------------------------------------------------------------------

typedef struct CompareWishes {
  double confidence;
} CompareWishes;

static int compare(char **journals, const CompareWishes *wishes) {
  Diags diags = {0};
  Journal *a = journal_read(journals[0], &diags), *b = a == NULL ? NULL : journal_read(journals[1], &diags);
  Text text = {0};
  bool good = b != NULL && report_compare(a, b, wishes->confidence, &text, &diags);
  if (good) screen_print_outcomes(text.at);
  text_free(&text);
  journal_close(a);
  journal_close(b);
  return good ? EXIT_OK : message_diags(&diags);
}

static int run_compare(int argc, char **argv) {
  CompareWishes wishes = {.confidence = 0.99};
  Operands operands;
  Arena *arena = arena_new();
  bool good = options_parse(&command_compare, &wishes, arena, argc, argv, &operands);
  int code = good ? compare(operands.items, &wishes) : operands.exit_code;
  arena_free(arena);
  return code;
}

static const Option compare_options[] = {
    {"confidence", 0, "C", "of the interval (default 0.99)", .take = option_confidence, .offset = offsetof(CompareWishes, confidence)},
};
static const OptionGroup compare_group = OPTION_GROUP(NULL, compare_options);

const Command command_compare = {
    .name = "compare",
    .usage = "A B",
    .summary = "two campaigns with the same faults",
    .synopsis = "redoubt compare A.db B.db\n",
    .about = "Two campaigns with the same faults, e.g. without and with --protect: what became of each fault, and how\n"
             "much the AVF falls, with Newcombe's interval for the paired difference.\n",
    .groups = {&compare_group},
    .wanted = "name two journals",
    .least_operands = 2,
    .most_operands = 2,
    .run = run_compare,
};

// ---- Shards ----------------------------------------------------------------------------------------

// A new journal is written aside. One that is there may hold some of the shards: the others are added to it.
static bool merge_into(const Files *files, const char *path, const char *const *shards, uint32_t count, Diags *diags) {
  if (access(path, F_OK) == 0) return journal_merge(path, shards, count, diags);
  Files silent = {.arena = files->arena, .quiet = true};
  OutFile out;
  if (!out_open(&out, &silent, path, diags)) return false;
  bool good = journal_merge(out_name(&out), shards, count, diags);
  return out_close(&out, good, diags) && good;
}

static bool merge(Files *files, const Operands *operands, Diags *diags) {
  const char *path = operands->items[0], *const *shards = (const char *const *)operands->items + 1;
  uint32_t count = operands->count - 1;
  for (uint32_t i = 0; i < count; i++) files_journal(files, shards[i]);
  if (!files_write(files, path, diags) || !merge_into(files, path, shards, count, diags)) return false;
  message_note(files->quiet, "merged %u shard%s into %s", count, count == 1 ? "" : "s", path);
  return true;
}

static int run_merge(int argc, char **argv) {
  Operands operands;
  Diags diags = {0};
  Arena *arena = arena_new();
  int code = EXIT_OK;
  if (options_parse(&command_merge, NULL, arena, argc, argv, &operands)) {
    Files files = {.arena = arena, .quiet = operands.quiet};
    if (!merge(&files, &operands, &diags)) code = message_diags(&diags);
  } else {
    code = operands.exit_code;
  }
  arena_free(arena);
  return code;
}

const Command command_merge = {
    .name = "merge",
    .usage = "ALL DB...",
    .summary = "put the shards of a campaign together",
    .synopsis = "redoubt merge ALL.db SHARD.db...\n",
    .about = "Puts the journals of 'redoubt campaign --shard I/N' together: the same as one campaign would have written.\n",
    .wanted = "name the journal to make, then its shards",
    .least_operands = 2,
    .most_operands = 1 + MOST_JOURNALS,
    .run = run_merge,
};
