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

// Of the intervals; `text` NULL: the default.
static bool parse_confidence(const char *command, const char *text, double *confidence) {
  char *end = NULL;
  *confidence = text == NULL ? 0.99 : strtod(text, &end);
  if (text == NULL || (end != text && *end == '\0' && *confidence > 0.5 && *confidence < 1)) return true;
  return message_usage(command, "--confidence %s: must be a number between 0.5 and 1", text) == EXIT_OK;
}

typedef struct ReportWishes {
  const char *journal, *page, *csv, *json;
  double confidence;
} ReportWishes;

static bool parse_report(ReportWishes *wishes, int argc, char **argv) {
  const char *confidence = NULL;
  *wishes = (ReportWishes){0};
  for (int i = 1; i < argc; i++) {
    const char *value = i + 1 < argc ? argv[i + 1] : NULL;
    bool is_option = argv[i][0] == '-';
    if (is_option && value == NULL) return message_usage("report", "%s needs a value", argv[i]) == EXIT_OK;
    if (strcmp(argv[i], "-o") == 0) wishes->page = argv[++i];
    else if (strcmp(argv[i], "--csv") == 0) wishes->csv = argv[++i];
    else if (strcmp(argv[i], "--json") == 0) wishes->json = argv[++i];
    else if (strcmp(argv[i], "--confidence") == 0) confidence = argv[++i];
    else if (is_option) return message_usage("report", "unknown option '%s'", argv[i]) == EXIT_OK;
    else if (wishes->journal == NULL) wishes->journal = argv[i];
    else return message_usage("report", "one journal at a time: '%s' is the second", argv[i]) == EXIT_OK;
  }
  if (wishes->journal == NULL) return message_usage("report", "name a journal") == EXIT_OK;
  return parse_confidence("report", confidence, &wishes->confidence);
}

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

int command_report(int argc, char **argv) {
  ReportWishes wishes;
  Diags diags = {0};
  if (!parse_report(&wishes, argc, argv)) return EXIT_BAD_INPUT;
  bool quiet = wishes.page != NULL || wishes.csv != NULL || wishes.json != NULL;
  uint64_t internal = 0; // the tables say so themselves
  if (!quiet) return report_print(wishes.journal, wishes.confidence, &internal, &diags) ? EXIT_OK : message_diags(&diags);
  Journal *journal = journal_read(wishes.journal, &diags);
  Report *report = journal == NULL ? NULL : report_read(journal, wishes.confidence, &diags);
  bool good = report != NULL;
  if (good && wishes.page != NULL) good = write_page(&wishes, report, &diags);
  if (good && wishes.csv != NULL) good = write_tables(wishes.csv, report, &diags);
  if (good && wishes.json != NULL) good = write_json(wishes.json, report, &diags);
  report_free(report);
  journal_close(journal);
  return good ? EXIT_OK : message_diags(&diags);
}

typedef struct CompareWishes {
  const char *journals[2];
  double confidence;
} CompareWishes;

static bool parse_compare(CompareWishes *wishes, int argc, char **argv) {
  const char *confidence = NULL;
  int count = 0;
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--confidence") == 0 && i + 1 < argc) confidence = argv[++i];
    else if (strcmp(argv[i], "--confidence") == 0) return message_usage("compare", "--confidence needs a value") == EXIT_OK;
    else if (argv[i][0] == '-') return message_usage("compare", "unknown option '%s'", argv[i]) == EXIT_OK;
    else if (count < 2) wishes->journals[count++] = argv[i];
    else return message_usage("compare", "two journals at a time: '%s' is the third", argv[i]) == EXIT_OK;
  }
  if (count < 2) return message_usage("compare", "name two journals") == EXIT_OK;
  return parse_confidence("compare", confidence, &wishes->confidence);
}

int command_compare(int argc, char **argv) {
  CompareWishes wishes = {0};
  Diags diags = {0};
  if (!parse_compare(&wishes, argc, argv)) return EXIT_BAD_INPUT;
  Journal *a = journal_read(wishes.journals[0], &diags), *b = a == NULL ? NULL : journal_read(wishes.journals[1], &diags);
  Text text = {0};
  bool good = b != NULL && report_compare(a, b, wishes.confidence, &text, &diags);
  if (good) fputs(text.at, stdout);
  text_free(&text);
  journal_close(a);
  journal_close(b);
  return good ? EXIT_OK : message_diags(&diags);
}

int command_merge(int argc, char **argv) {
  Diags diags = {0};
  if (argc < 3 || argc - 2 > MOST_JOURNALS) return message_usage("merge", "name the journal to make, then its shards");
  bool good = journal_merge(argv[1], (const char *const *)argv + 2, (uint32_t)argc - 2, &diags);
  return good ? EXIT_OK : message_diags(&diags);
}
