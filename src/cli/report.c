// redoubt report, export, compare, merge: what journals say.
#include "cli/cli.h"
#include "cli/journal.h"
#include "report/report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { MOST_JOURNALS = 1024 };

bool report_print(const char *path, double confidence, uint64_t *internal, Diags *diags) {
  Journal *journal = journal_read(path, diags);
  Report *report = journal == NULL ? NULL : report_read(journal, &(ReportOptions){.confidence = confidence}, diags);
  if (report != NULL) {
    Text text = {0};
    report_text(report, &text);
    fputs(text.at, stdout);
    text_free(&text);
    *internal = report->all.counts[OUTCOME_INTERNAL];
  }
  bool good = report != NULL;
  report_free(report);
  journal_close(journal);
  return good;
}

// ---- Exports ---------------------------------------------------------------------------------------

typedef struct OutFile {
  const char *path;
  FILE *file;
  bool good;
} OutFile;

static OutFile out_open(const char *path) {
  OutFile out = {.path = path, .file = fopen(path, "wb")};
  out.good = out.file != NULL;
  return out;
}

static bool out_write(void *context, const char *bytes, size_t count) {
  OutFile *out = context;
  out->good = out->good && fwrite(bytes, 1, count, out->file) == count;
  return out->good;
}

// `complete`: whoever wrote came to the end; if not, and the file is all right, the journal is not.
static bool out_close(OutFile *out, bool complete, const Journal *journal, Diags *diags) {
  int error = errno;
  if (out->file != NULL && fclose(out->file) != 0 && out->good) {
    out->good = false;
    error = errno;
  }
  if (!out->good) return diags_add(diags, out->path, 0, 0, "cannot be written: %s", strerror(error));
  return complete || journal_damaged(journal, diags);
}

// ---- One journal, or many --------------------------------------------------------------------------

typedef struct ReportWishes {
  const char *page, *csv, *json, *by;
  ReportOptions options;
} ReportWishes;

// Journals and what they say; all of them or none.
typedef struct Reading {
  Arena *arena;
  Journal **journals;
  Report **reports;
  uint32_t count;
} Reading;

static bool reading_open(Reading *reading, char **paths, uint32_t count, const ReportOptions *options, Diags *diags) {
  *reading = (Reading){.arena = arena_new(), .count = count};
  reading->journals = ARENA_ARRAY(reading->arena, Journal *, count + 1);
  reading->reports = ARENA_ARRAY(reading->arena, Report *, count + 1);
  bool good = true;
  for (uint32_t i = 0; i < count && good; i++) {
    reading->journals[i] = journal_read(paths[i], diags);
    good = reading->journals[i] != NULL;
    if (good) reading->reports[i] = report_read(reading->journals[i], options, diags);
    good = good && reading->reports[i] != NULL;
  }
  return good;
}

static void reading_close(Reading *reading) {
  for (uint32_t i = 0; i < reading->count; i++) {
    report_free(reading->reports[i]);
    journal_close(reading->journals[i]);
  }
  arena_free(reading->arena);
}

// A journal whose figures cannot be trusted, or that has none to show, is no success.
static int reading_code(const Reading *reading) {
  int code = EXIT_OK;
  for (uint32_t i = 0; i < reading->count; i++) {
    if (reading->reports[i]->withheld && code == EXIT_OK) code = EXIT_UNFINISHED;
    if (reading->reports[i]->all.counts[OUTCOME_INTERNAL] > 0) code = EXIT_INTERNAL;
  }
  return code;
}

static bool write_text(const char *path, const Text *text, bool complete, const Journal *journal, Diags *diags) {
  OutFile out = out_open(path);
  if (complete && out.good) out_write(&out, text->at, text->length);
  return out_close(&out, complete, journal, diags);
}

static bool write_page(const char *path, const Report *report, Diags *diags) {
  Text text = {0};
  bool complete = report_page(report, journal_path(report->journal), &text);
  bool good = write_text(path, &text, complete, report->journal, diags);
  text_free(&text);
  return good;
}

static bool write_csv(const char *path, const Report *report, CsvTable table, Diags *diags) {
  OutFile out = out_open(path);
  bool complete = out.good && report_csv(report, table, &(Sink){out_write, &out});
  return out_close(&out, complete, report->journal, diags);
}

// Into a file every fault; into a folder all tables.
static bool write_tables(const char *path, const Report *report, Diags *diags) {
  struct stat about;
  bool is_folder = stat(path, &about) == 0 && S_ISDIR(about.st_mode);
  if (!is_folder) return write_csv(path, report, CSV_FAULTS, diags);
  Arena *arena = arena_new();
  bool good = true;
  for (uint32_t i = 0; i < CSV_COUNT && good; i++) {
    good = write_csv(arena_format(arena, "%s/%s.csv", path, csv_names[i]), report, (CsvTable)i, diags);
  }
  arena_free(arena);
  return good;
}

static bool write_json(const char *path, const Report *report, Diags *diags) {
  OutFile out = out_open(path);
  bool complete = out.good && report_json(report, &(Sink){out_write, &out});
  return out_close(&out, complete, report->journal, diags);
}

static bool write_matrix(const char *path, const Reading *reading, MatrixForm form, Diags *diags) {
  Text text = {0};
  bool good = report_matrix(reading->reports, reading->count, form, &text, diags);
  if (good && path == NULL) fputs(text.at, stdout);
  if (good && path != NULL) good = write_text(path, &text, true, reading->journals[0], diags);
  text_free(&text);
  return good;
}

// "bit,opcode": tables by these.
static bool print_breakdowns(const Report *report, const char *names, Diags *diags) {
  bool good = true;
  for (size_t length; *names != '\0' && good; names += length + (names[length] == ',')) {
    uint32_t which = 0;
    Text text = {0};
    length = strcspn(names, ",");
    while (which < breakdown_count && (strlen(breakdowns[which].name) != length || strncmp(breakdowns[which].name, names, length) != 0))
      which++;
    if (which == breakdown_count) {
      Text known = {0};
      for (uint32_t i = 0; i < breakdown_count; i++) text_add(&known, "%s%s", i == 0 ? "" : ", ", breakdowns[i].name);
      good = diags_add(diags, NULL, 0, 0, "--by %.*s: must be one of %s", (int)length, names, known.at);
      text_free(&known);
    } else {
      good = report_breakdown_text(report, which, &text, diags);
      if (good && text.length > 0) fputs(text.at, stdout);
    }
    text_free(&text);
  }
  return good;
}

static bool show_one(const ReportWishes *wishes, const Report *report, Diags *diags) {
  bool is_quiet = wishes->page != NULL || wishes->csv != NULL || wishes->json != NULL, good = true;
  Text text = {0};
  if (!is_quiet && wishes->by == NULL) report_text(report, &text);
  if (text.length > 0) fputs(text.at, stdout);
  text_free(&text);
  if (wishes->by != NULL) good = print_breakdowns(report, wishes->by, diags);
  if (good && wishes->page != NULL) good = write_page(wishes->page, report, diags);
  if (good && wishes->csv != NULL) good = write_tables(wishes->csv, report, diags);
  if (good && wishes->json != NULL) good = write_json(wishes->json, report, diags);
  return good;
}

static bool show_many(const ReportWishes *wishes, const Reading *reading, Diags *diags) {
  bool is_quiet = wishes->page != NULL || wishes->csv != NULL || wishes->json != NULL, good = true;
  if (wishes->by != NULL) return diags_add(diags, NULL, 0, 0, "--by is for one journal at a time");
  if (!is_quiet) good = write_matrix(NULL, reading, MATRIX_TEXT, diags);
  if (good && wishes->page != NULL) good = write_matrix(wishes->page, reading, MATRIX_PAGE, diags);
  if (good && wishes->csv != NULL) good = write_matrix(wishes->csv, reading, MATRIX_CSV, diags);
  if (good && wishes->json != NULL) good = write_matrix(wishes->json, reading, MATRIX_JSON, diags);
  return good;
}

static int report(const ReportWishes *wishes, char **paths, uint32_t count) {
  Diags diags = {0};
  Reading reading;
  bool good = reading_open(&reading, paths, count, &wishes->options, &diags);
  good = good && (count == 1 ? show_one(wishes, reading.reports[0], &diags) : show_many(wishes, &reading, &diags));
  int code = good ? reading_code(&reading) : EXIT_BAD_INPUT;
  reading_close(&reading);
  if (!good) message_diags(&diags);
  return code;
}

static int run_report(int argc, char **argv) {
  ReportWishes wishes = {.options.confidence = 0.99};
  Operands operands;
  Arena *arena = arena_new();
  bool good = options_parse(&command_report, &wishes, arena, argc, argv, &operands);
  int code = good ? report(&wishes, operands.items, operands.count) : operands.exit_code;
  arena_free(arena);
  return code;
}

static const Option report_options[] = {
    {"output", 'o', "FILE", "one page with charts, which needs no network", .take = option_text, .offset = offsetof(ReportWishes, page)},
    {"csv", 0, "FILE", "every fault as CSV; into an existing folder: all tables. Of several journals: the matrix", .take = option_text,
     .offset = offsetof(ReportWishes, csv)},
    {"json", 0, "FILE", "summaries and every fault as JSON. Of several journals: the matrix", .take = option_text,
     .offset = offsetof(ReportWishes, json)},
    {"by", 0, "LIST", "tables by bit, opcode, register, lane, sm, warp, kernel, and of SDCs by pattern, elements, error",
     .take = option_text, .offset = offsetof(ReportWishes, by)},
    {"partial", 0, NULL, "of an unfinished campaign: shares over the first faults, as far as they are complete", .take = option_flag,
     .offset = offsetof(ReportWishes, options.partial)},
    {"confidence", 0, "C", "of the intervals (default 0.99)", .take = option_confidence,
     .offset = offsetof(ReportWishes, options.confidence)},
};
static const OptionGroup report_group = OPTION_GROUP(NULL, report_options);

const Command command_report = {
    .name = "report",
    .usage = "DB...",
    .summary = "what campaigns found: tables, or one page with charts (-o page.html)",
    .synopsis = "redoubt report JOURNAL                  tables: outcomes with intervals, AVF, FIT\n"
                "redoubt report JOURNAL -o PAGE.html     one page with charts, which needs no network\n"
                "redoubt report JOURNAL JOURNAL...       a matrix: programs by protections, with means\n",
    .groups = {&report_group},
    .ending = "Exit codes: 0 shown, 2 bad usage or input, 4 a simulation failed in Redoubt itself, 5 unfinished: no shares are shown.\n",
    .wanted = "name a journal",
    .least_operands = 1,
    .most_operands = MOST_JOURNALS,
    .run = run_report,
};

// ---- Rows for other programs -------------------------------------------------------------------------

typedef struct ExportWishes {
  const char *table, *file;
  bool json;
  ReportOptions options;
} ExportWishes;

// The table's place; CSV_COUNT: none of that name.
static uint32_t table_named(const char *name) {
  uint32_t i = 0;
  while (i < CSV_COUNT && strcmp(csv_names[i], name) != 0) i++;
  return i;
}

static bool export_one(const ExportWishes *wishes, const Report *report, Diags *diags) {
  const char *path = wishes->file == NULL ? "/dev/stdout" : wishes->file;
  uint32_t table = table_named(wishes->table);
  if (wishes->json) return write_json(path, report, diags);
  if (table < CSV_COUNT) return write_csv(path, report, (CsvTable)table, diags);
  const char *near = text_nearest(wishes->table, csv_names, CSV_COUNT);
  return diags_add(diags, NULL, 0, 0, "there is no table '%s'%s%s", wishes->table, near == NULL ? "" : "; did you mean ",
                   near == NULL ? "" : near);
}

static int export(const ExportWishes *wishes, char **paths) {
  Diags diags = {0};
  Reading reading;
  bool good = reading_open(&reading, paths, 1, &wishes->options, &diags) && export_one(wishes, reading.reports[0], &diags);
  int code = good ? reading_code(&reading) : EXIT_BAD_INPUT;
  if (code == EXIT_UNFINISHED) message_error("%s is unfinished: its rows are no fair sample, and summaries hold no shares", paths[0]);
  reading_close(&reading);
  if (!good) message_diags(&diags);
  return code;
}

static int run_export(int argc, char **argv) {
  ExportWishes wishes = {.table = "faults", .options.confidence = 0.99};
  Operands operands;
  Arena *arena = arena_new();
  bool good = options_parse(&command_export, &wishes, arena, argc, argv, &operands);
  int code = good ? export(&wishes, operands.items) : operands.exit_code;
  arena_free(arena);
  return code;
}

static const Option export_options[] = {
    {"table", 0, "NAME", "faults (default), campaign, structures, kernels, launches, lines, time, breakdown or severity",
     .take = option_text, .offset = offsetof(ExportWishes, table)},
    {"json", 0, NULL, "summaries and every fault as JSON instead", .take = option_flag, .offset = offsetof(ExportWishes, json)},
    {"output", 'o', "FILE", "not to the terminal but into a file", .take = option_text, .offset = offsetof(ExportWishes, file)},
    {"partial", 0, NULL, "of an unfinished campaign: the first faults, as far as they are complete", .take = option_flag,
     .offset = offsetof(ExportWishes, options.partial)},
    {"confidence", 0, "C", "of the intervals (default 0.99)", .take = option_confidence,
     .offset = offsetof(ExportWishes, options.confidence)},
};
static const OptionGroup export_group = OPTION_GROUP(NULL, export_options);

const Command command_export = {
    .name = "export",
    .usage = "DB",
    .summary = "rows of a campaign as CSV or JSON, for other programs",
    .synopsis = "redoubt export JOURNAL [--table NAME] [-o FILE]     CSV\n"
                "redoubt export JOURNAL --json [-o FILE]             JSON\n",
    .about = "A journal is an SQLite file, too: docs/journal.md has its tables and views, with examples in Python and R.\n",
    .groups = {&export_group},
    .operand = "journal",
    .wanted = "name a journal",
    .least_operands = 1,
    .most_operands = 1,
    .run = run_export,
};

// ---- Two journals, or one and several others ---------------------------------------------------------

static int compare(char **paths, uint32_t count, const ReportOptions *options) {
  Diags diags = {0};
  bool good = true;
  for (uint32_t i = 1; i < count && good; i++) {
    Journal *a = journal_read(paths[0], &diags), *b = a == NULL ? NULL : journal_read(paths[i], &diags);
    Text text = {0};
    good = b != NULL && report_compare(a, b, options, &text, &diags);
    if (good) printf("%s%s", i == 1 ? "" : "\n", text.at);
    text_free(&text);
    journal_close(a);
    journal_close(b);
  }
  return good ? EXIT_OK : message_diags(&diags);
}

static int run_compare(int argc, char **argv) {
  ReportOptions options = {.confidence = 0.99};
  Operands operands;
  Arena *arena = arena_new();
  bool good = options_parse(&command_compare, &options, arena, argc, argv, &operands);
  int code = good ? compare(operands.items, operands.count, &options) : operands.exit_code;
  arena_free(arena);
  return code;
}

static const Option compare_options[] = {
    {"partial", 0, NULL, "of unfinished campaigns: the first faults, as far as they are complete", .take = option_flag,
     .offset = offsetof(ReportOptions, partial)},
    {"confidence", 0, "C", "of the intervals (default 0.99)", .take = option_confidence, .offset = offsetof(ReportOptions, confidence)},
};
static const OptionGroup compare_group = OPTION_GROUP(NULL, compare_options);

const Command command_compare = {
    .name = "compare",
    .usage = "A B...",
    .summary = "what a protection removes and costs: one campaign against others",
    .synopsis = "redoubt compare A.db B.db [C.db...]\n",
    .about = "One campaign against others, e.g. without and with --protect: what became of each fault, how much of the\n"
             "SDC-AVF and the DUE-AVF is removed, with intervals, and what that costs. Faults are paired where they can be:\n"
             "the same faults, or the same bits at the same fraction of the run.\n",
    .groups = {&compare_group},
    .wanted = "name two journals",
    .least_operands = 2,
    .most_operands = MOST_JOURNALS,
    .run = run_compare,
};

// ---- Shards ----------------------------------------------------------------------------------------

static int merge(const Operands *operands) {
  Diags diags = {0};
  bool good = journal_merge(operands->items[0], (const char *const *)operands->items + 1, operands->count - 1, &diags);
  return good ? EXIT_OK : message_diags(&diags);
}

static int run_merge(int argc, char **argv) {
  Operands operands;
  Arena *arena = arena_new();
  int code = options_parse(&command_merge, NULL, arena, argc, argv, &operands) ? merge(&operands) : operands.exit_code;
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
