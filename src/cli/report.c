// redoubt report, compare, merge: what journals say.
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
  Report *report = journal == NULL ? NULL : report_read(journal, confidence, diags);
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

typedef struct ReportWishes {
  const char *journal, *page, *csv, *json;
  double confidence;
} ReportWishes;

static bool write_page(const ReportWishes *wishes, const Report *report, Diags *diags) {
  Text text = {0};
  bool complete = report_page(report, wishes->journal, &text);
  OutFile out = out_open(wishes->page);
  if (complete) out_write(&out, text.at, text.length);
  text_free(&text);
  return out_close(&out, complete, report->journal, diags);
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

static int report(const ReportWishes *wishes) {
  Diags diags = {0};
  bool quiet = wishes->page != NULL || wishes->csv != NULL || wishes->json != NULL;
  uint64_t internal = 0; // the tables say so themselves
  if (!quiet) return report_print(wishes->journal, wishes->confidence, &internal, &diags) ? EXIT_OK : message_diags(&diags);
  Journal *journal = journal_read(wishes->journal, &diags);
  Report *report = journal == NULL ? NULL : report_read(journal, wishes->confidence, &diags);
  bool good = report != NULL;
  if (good && wishes->page != NULL) good = write_page(wishes, report, &diags);
  if (good && wishes->csv != NULL) good = write_tables(wishes->csv, report, &diags);
  if (good && wishes->json != NULL) good = write_json(wishes->json, report, &diags);
  report_free(report);
  journal_close(journal);
  return good ? EXIT_OK : message_diags(&diags);
}

static int run_report(int argc, char **argv) {
  ReportWishes wishes = {.confidence = 0.99};
  Operands operands;
  Arena *arena = arena_new();
  int code = EXIT_OK;
  if (options_parse(&command_report, &wishes, arena, argc, argv, &operands)) {
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
  if (good) fputs(text.at, stdout);
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
