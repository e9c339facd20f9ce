// redoubt report, compare, merge: what journals say.
#include "cli/cli.h"
#include "cli/journal.h"
#include "report/report.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST_JOURNALS = 1024 };

bool report_print(const char *path, double confidence, Diags *diags) {
  Journal *journal = journal_read(path, diags);
  if (journal == NULL) return false;
  Report *report = report_read(journal, confidence);
  Text text = {0};
  report_text(report, &text);
  fputs(text.at, stdout);
  text_free(&text);
  report_free(report);
  journal_close(journal);
  return true;
}

static bool write_file(const char *path, const Text *text, Diags *diags) {
  FILE *file = fopen(path, "wb");
  bool good = file != NULL && fwrite(text->at, 1, text->length, file) == text->length;
  good = file != NULL && fclose(file) == 0 && good;
  return good || diags_add(diags, path, 0, 0, "cannot be written");
}

typedef struct ReportWishes {
  const char *journal, *page, *csv, *json;
  double confidence;
} ReportWishes;

static bool parse_report(ReportWishes *wishes, int argc, char **argv) {
  *wishes = (ReportWishes){.confidence = 0.99};
  for (int i = 1; i < argc; i++) {
    const char *value = i + 1 < argc ? argv[i + 1] : NULL;
    bool is_option = argv[i][0] == '-';
    if (is_option && value == NULL) return message_usage("report", "%s needs a value", argv[i]) == EXIT_OK;
    if (strcmp(argv[i], "-o") == 0) wishes->page = argv[++i];
    else if (strcmp(argv[i], "--csv") == 0) wishes->csv = argv[++i];
    else if (strcmp(argv[i], "--json") == 0) wishes->json = argv[++i];
    else if (strcmp(argv[i], "--confidence") == 0) wishes->confidence = atof(argv[++i]);
    else if (is_option) return message_usage("report", "unknown option '%s'", argv[i]) == EXIT_OK;
    else if (wishes->journal == NULL) wishes->journal = argv[i];
    else return message_usage("report", "one journal at a time: '%s' is the second", argv[i]) == EXIT_OK;
  }
  if (wishes->journal == NULL) return message_usage("report", "name a journal") == EXIT_OK;
  if (wishes->confidence > 0.5 && wishes->confidence < 1) return true;
  return message_usage("report", "--confidence must be between 0.5 and 1") == EXIT_OK;
}

static bool write_exports(const ReportWishes *wishes, const Journal *journal, const Report *report, Diags *diags) {
  bool good = true;
  Text text = {0};
  if (wishes->page != NULL) {
    report_page(report, wishes->journal, &text);
    good = write_file(wishes->page, &text, diags);
    text_free(&text);
  }
  text = (Text){0};
  if (good && wishes->csv != NULL) good = report_csv(journal, &text) && write_file(wishes->csv, &text, diags);
  text_free(&text);
  text = (Text){0};
  if (good && wishes->json != NULL) good = report_json(report, &text) && write_file(wishes->json, &text, diags);
  text_free(&text);
  return good;
}

int command_report(int argc, char **argv) {
  ReportWishes wishes;
  Diags diags = {0};
  if (!parse_report(&wishes, argc, argv)) return EXIT_BAD_INPUT;
  bool quiet = wishes.page != NULL || wishes.csv != NULL || wishes.json != NULL;
  if (!quiet) return report_print(wishes.journal, wishes.confidence, &diags) ? EXIT_OK : message_diags(&diags);
  Journal *journal = journal_read(wishes.journal, &diags);
  if (journal == NULL) return message_diags(&diags);
  Report *report = report_read(journal, wishes.confidence);
  bool good = write_exports(&wishes, journal, report, &diags);
  report_free(report);
  journal_close(journal);
  return good ? EXIT_OK : message_diags(&diags);
}

int command_compare(int argc, char **argv) {
  Diags diags = {0};
  if (argc != 3) return message_usage("compare", "name two journals");
  Journal *a = journal_read(argv[1], &diags), *b = a == NULL ? NULL : journal_read(argv[2], &diags);
  Text text = {0};
  bool good = b != NULL && report_compare(a, b, 0.99, &text, &diags);
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
