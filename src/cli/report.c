// redoubt report, export, compare, merge: what journals say.
#include "cli/avf.h"
#include "cli/cli.h"
#include "cli/out_file.h"
#include "cli/reading.h"
#include "cli/screen.h"
#include "report/report.h"

#include <stdio.h>
#include <unistd.h>

// ---- One journal, or many --------------------------------------------------------------------------

typedef struct ReportWishes {
  const char *page, *csv, *json, *by;
  bool verbose;
  ReportOptions options;
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
  bool complete = report_page(report, journal_path(report->journal), &text);
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

static bool write_json(const Files *files, const char *path, const Report *report, Diags *diags) {
  OutFile out;
  if (!out_open(&out, files, path, diags)) return false;
  bool complete = report_json(report, &(Sink){out_write, &out});
  return close_file(&out, complete, report, diags);
}

static bool write_matrix(const Files *files, const char *path, const Reading *reading, MatrixForm form, Diags *diags) {
  Text text = {0};
  bool good = report_matrix(reading->reports, reading->count, form, &text, diags);
  if (good && path == NULL) screen_print(text.at);
  if (good && path != NULL) good = out_text(files, path, &text, diags);
  text_free(&text);
  return good;
}

// No file that is written may be a journal, or another one of them.
static bool check_files(ReportWishes *wishes, char **paths, uint32_t count, Diags *diags) {
  Files *files = &wishes->files;
  for (uint32_t i = 0; i < count; i++) files_journal(files, paths[i]);
  bool good = files_write(files, wishes->page, diags) && files_write(files, wishes->json, diags);
  if (!good || wishes->csv == NULL || !is_folder(wishes->csv)) return good && files_write(files, wishes->csv, diags);
  for (uint32_t i = 0; i < CSV_COUNT && good; i++) good = files_write(files, table_path(wishes, i), diags);
  return good;
}

// The place in `breakdowns` of the first name of a list.
static bool breakdown_named(const char *names, size_t length, uint32_t *which, Diags *diags) {
  for (*which = 0; *which < breakdown_count; ++*which) {
    const char *name = breakdowns[*which].name;
    if (strlen(name) == length && strncmp(name, names, length) == 0) return true;
  }
  Text known = {0};
  for (uint32_t i = 0; i < breakdown_count; i++) text_add(&known, "%s%s", i == 0 ? "" : ", ", breakdowns[i].name);
  diags_add(diags, NULL, 0, 0, "--by '%.*s': must be one of %s", (int)length, names, known.at);
  text_free(&known);
  return false;
}

// "bit,opcode": tables by these. Nothing is printed if one of them is not known.
static bool add_breakdowns(const Report *report, const char *names, Text *out, Diags *diags) {
  bool good = true, more = true;
  while (good && more) {
    size_t length = strcspn(names, ",");
    uint32_t which;
    good = breakdown_named(names, length, &which, diags) && report_breakdown_text(report, which, out, diags);
    more = names[length] == ',';
    names += length + more;
  }
  return good;
}

static bool print_breakdowns(const Report *report, const char *names, Diags *diags) {
  Text text = {0};
  bool good = add_breakdowns(report, names, &text, diags);
  if (good) screen_print_outcomes(text.at);
  text_free(&text);
  return good;
}

// Of ACE analysis alone: 'redoubt avf' has no faults.
static bool is_of_ace(const Report *report) { return report->all.total == 0 && journal_has_ace(report->journal); }

static bool show_one(const ReportWishes *wishes, const Report *report, Diags *diags) {
  AvfShown ace = {&wishes->files, wishes->page, wishes->csv, wishes->json, wishes->csv != NULL, wishes->json != NULL};
  if (is_of_ace(report)) return avf_show(&ace, report->journal, diags);
  bool is_quiet = wishes->page != NULL || wishes->csv != NULL || wishes->json != NULL, good = true;
  Text text = {0};
  if (!is_quiet && wishes->by == NULL) report_text(report, &text);
  if (text.length > 0 && wishes->verbose) report_settled_text(report, &text);
  if (text.length > 0) screen_print_outcomes(text.at);
  text_free(&text);
  if (wishes->by != NULL) good = print_breakdowns(report, wishes->by, diags);
  if (good && wishes->page != NULL) good = write_page(wishes, report, diags);
  if (good && wishes->csv != NULL) good = write_tables(wishes, report, diags);
  if (good && wishes->json != NULL) good = write_json(&wishes->files, wishes->json, report, diags);
  return good;
}

static bool show_many(const ReportWishes *wishes, const Reading *reading, Diags *diags) {
  bool is_quiet = wishes->page != NULL || wishes->csv != NULL || wishes->json != NULL, good = true;
  if (wishes->by != NULL) return diags_add(diags, NULL, 0, 0, "--by is for one journal at a time");
  if (!is_quiet) good = write_matrix(&wishes->files, NULL, reading, MATRIX_TEXT, diags);
  if (good && wishes->page != NULL) good = write_matrix(&wishes->files, wishes->page, reading, MATRIX_PAGE, diags);
  if (good && wishes->csv != NULL) good = write_matrix(&wishes->files, wishes->csv, reading, MATRIX_CSV, diags);
  if (good && wishes->json != NULL) good = write_matrix(&wishes->files, wishes->json, reading, MATRIX_JSON, diags);
  return good;
}

static int report(ReportWishes *wishes, char **paths, uint32_t count) {
  Diags diags = {0};
  Reading reading = {0};
  bool has_files = wishes->page != NULL || wishes->csv != NULL || wishes->json != NULL;
  bool good = check_files(wishes, paths, count, &diags) && reading_open(&reading, paths, count, &wishes->options, &diags);
  bool is_refused = good && count > 1 && !reading_whole(&reading, &diags);
  good = good && !is_refused && (count == 1 ? show_one(wishes, reading.reports[0], &diags) : show_many(wishes, &reading, &diags));
  int code = good ? reading_code(&reading) : is_refused ? EXIT_UNFINISHED : EXIT_BAD_INPUT;
  if (good && (has_files || count > 1)) reading_say_internal(&reading);
  if (good && code == EXIT_UNFINISHED && has_files)
    message_error("%s is unfinished: no shares are given; --partial gives those of the first faults", paths[0]);
  reading_close(&reading);
  if (!good) message_diags(&diags);
  return code;
}

static int run_report(int argc, char **argv) {
  ReportWishes wishes = {0};
  Operands operands;
  Arena *arena = arena_new();
  int code;
  if (options_parse(&command_report, &wishes, arena, argc, argv, &operands)) {
    wishes.files = (Files){.arena = arena, .quiet = operands.quiet};
    code = report(&wishes, operands.items, operands.count);
  } else {
    code = operands.exit_code;
  }
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
    {"confidence", 0, "C", CONFIDENCE_HELP, .take = option_confidence, .offset = offsetof(ReportWishes, options.confidence)},
    {"verbose", 'v', NULL, VERBOSE_HELP, .take = option_flag, .offset = offsetof(ReportWishes, verbose)},
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
  Files files;
} ExportWishes;

// The table's place; CSV_COUNT: none of that name.
static uint32_t table_named(const char *name) {
  uint32_t i = 0;
  while (i < CSV_COUNT && strcmp(csv_names[i], name) != 0) i++;
  return i;
}

static bool export_one(const ExportWishes *wishes, const Report *report, Diags *diags) {
  uint32_t table = table_named(wishes->table);
  if (wishes->json) return write_json(&wishes->files, wishes->file, report, diags);
  if (table < CSV_COUNT) return write_csv(&wishes->files, wishes->file, report, (CsvTable)table, diags);
  const char *near = text_nearest(wishes->table, csv_names, CSV_COUNT);
  if (near != NULL) return diags_add(diags, NULL, 0, 0, "there is no table '%s'; did you mean '%s'?", wishes->table, near);
  Text known = {0};
  for (uint32_t i = 0; i < CSV_COUNT; i++) text_add(&known, "%s%s", i == 0 ? "" : i + 1 < CSV_COUNT ? ", " : " and ", csv_names[i]);
  diags_add(diags, NULL, 0, 0, "there is no table '%s', but %s", wishes->table, known.at);
  text_free(&known);
  return false;
}

static int export(ExportWishes *wishes, char **paths) {
  Diags diags = {0};
  Reading reading = {0};
  files_journal(&wishes->files, paths[0]);
  bool good = files_write(&wishes->files, wishes->file, &diags) && reading_open(&reading, paths, 1, &wishes->options, &diags);
  good = good && export_one(wishes, reading.reports[0], &diags);
  int code = good ? reading_code(&reading) : EXIT_BAD_INPUT;
  if (good) reading_say_internal(&reading);
  if (code == EXIT_UNFINISHED) message_error("%s is unfinished: its rows are no fair sample, and summaries hold no shares", paths[0]);
  reading_close(&reading);
  if (!good) message_diags(&diags);
  return code;
}

static int run_export(int argc, char **argv) {
  ExportWishes wishes = {.table = "faults"};
  Operands operands;
  Arena *arena = arena_new();
  int code;
  if (options_parse(&command_export, &wishes, arena, argc, argv, &operands)) {
    wishes.files = (Files){.arena = arena, .quiet = operands.quiet};
    code = export(&wishes, operands.items);
  } else {
    code = operands.exit_code;
  }
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
    {"confidence", 0, "C", CONFIDENCE_HELP, .take = option_confidence, .offset = offsetof(ExportWishes, options.confidence)},
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
    .ending = "Exit codes: 0 written, 2 bad usage or input, 4 a simulation failed in Redoubt itself, 5 unfinished: written, but biased.\n",
    .operand = "journal",
    .wanted = "name a journal",
    .least_operands = 1,
    .most_operands = 1,
    .run = run_export,
};

// ---- Two journals, or one and several others ---------------------------------------------------------

static bool compare_all(const Reading *reading, Diags *diags) {
  bool good = true;
  for (uint32_t i = 1; i < reading->count && good; i++) {
    const Report *first = reading->reports[0], *other = reading->reports[i];
    Text text = {0};
    if (is_of_ace(first) && is_of_ace(other)) {
      good = avf_show_two(first->journal, other->journal, diags);
      continue;
    }
    good = report_compare(first, other, &text, diags);
    if (good && i > 1) screen_print("\n");
    if (good) screen_print_outcomes(text.at);
    text_free(&text);
  }
  return good;
}

typedef struct CompareWishes {
  const char *csv, *json;
  ReportOptions options;
  Files files;
} CompareWishes;

static bool write_comparison(const Files *files, const char *path, const Reading *reading, bool is_json, Diags *diags) {
  if (path == NULL) return true;
  if (is_of_ace(reading->reports[0]))
    return diags_add(diags, NULL, 0, 0, "--csv and --json compare campaigns; these journals are of ACE analysis");
  Text text = {0};
  bool good = is_json ? report_compare_json(reading->reports, reading->count, &text, diags)
                      : report_compare_csv(reading->reports, reading->count, &text, diags);
  good = good && out_text(files, path, &text, diags);
  text_free(&text);
  return good;
}

static bool compare_as_wished(const CompareWishes *wishes, const Reading *reading, Diags *diags) {
  if (wishes->csv == NULL && wishes->json == NULL) return compare_all(reading, diags);
  return write_comparison(&wishes->files, wishes->csv, reading, false, diags) &&
         write_comparison(&wishes->files, wishes->json, reading, true, diags);
}

static int compare(CompareWishes *wishes, char **paths, uint32_t count) {
  Diags diags = {0};
  Reading reading = {0};
  int code = EXIT_BAD_INPUT;
  for (uint32_t i = 0; i < count; i++) files_journal(&wishes->files, paths[i]);
  if (files_write(&wishes->files, wishes->csv, &diags) && files_write(&wishes->files, wishes->json, &diags) &&
      reading_open(&reading, paths, count, &wishes->options, &diags)) {
    code = reading_whole(&reading, &diags) ? EXIT_OK : EXIT_UNFINISHED;
    if (code == EXIT_OK) code = compare_as_wished(wishes, &reading, &diags) ? reading_code(&reading) : EXIT_BAD_INPUT;
    if (code == EXIT_INTERNAL) reading_say_internal(&reading);
  }
  reading_close(&reading);
  if (diags.count > 0) message_diags(&diags);
  return code;
}

static int run_compare(int argc, char **argv) {
  CompareWishes wishes = {0};
  Operands operands;
  Arena *arena = arena_new();
  int code;
  if (options_parse(&command_compare, &wishes, arena, argc, argv, &operands)) {
    wishes.files = (Files){.arena = arena, .quiet = operands.quiet};
    code = compare(&wishes, operands.items, operands.count);
  } else {
    code = operands.exit_code;
  }
  arena_free(arena);
  return code;
}

static const Option compare_options[] = {
    {"csv", 0, "FILE", "as CSV: a row for each measure and structure", .take = option_text, .offset = offsetof(CompareWishes, csv)},
    {"json", 0, "FILE", "the same as JSON", .take = option_text, .offset = offsetof(CompareWishes, json)},
    {"partial", 0, NULL, "of unfinished campaigns: the first faults, as far as they are complete", .take = option_flag,
     .offset = offsetof(CompareWishes, options.partial)},
    {"confidence", 0, "C", CONFIDENCE_HELP, .take = option_confidence, .offset = offsetof(CompareWishes, options.confidence)},
};
static const OptionGroup compare_group = OPTION_GROUP(NULL, compare_options);

const Command command_compare = {
    .name = "compare",
    .usage = "A B...",
    .summary = "what a protection removes and costs: one campaign against others",
    .synopsis = "redoubt compare A.db B.db [C.db...]\n",
    .about = "One campaign against others, e.g. without and with --protect: what changes net, the protection's own cells\n"
             "included, what that costs, what became of each fault, and what is removed of each structure's AVF, with\n"
             "intervals. Faults are paired where they can be: the same faults, or the same bits at the same fraction of the run.\n",
    .groups = {&compare_group},
    .ending = "Exit codes: 0 compared, 2 bad usage or input, 4 a simulation failed in Redoubt itself, 5 a journal is unfinished.\n",
    .wanted = "name two journals",
    .least_operands = 2,
    .most_operands = MOST_JOURNALS,
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
