// redoubt fmeda JOURNAL...: figures for a safety case.
#include "cli/cli.h"
#include "cli/out_file.h"
#include "cli/reading.h"
#include "cli/screen.h"
#include "report/fmeda.h"

#include <stdlib.h>

typedef struct FmedaWishes {
  const char *page, *csv, *json;
  VEC(char *) tests; // journals of test programs
  FmedaOptions options;
  Files files;
} FmedaWishes;

// ---- Options ---------------------------------------------------------------------------------------

static bool take_test(const OptionUse *use) {
  FmedaWishes *wishes = use->wishes;
  *VEC_PUSH(&wishes->tests, use->arena) = arena_copy_text(use->arena, use->text, strlen(use->text));
  return true;
}

// "traps,watchdog"
static bool take_platform(const OptionUse *use) {
  FmedaWishes *wishes = use->wishes;
  for (const char *at = use->text; *at != '\0';) {
    size_t length = strcspn(at, ",");
    if (length == 5 && strncmp(at, "traps", 5) == 0) wishes->options.traps = true;
    else if (length == 8 && strncmp(at, "watchdog", 8) == 0) wishes->options.watchdog = true;
    else return option_wrong(use, "must be traps, watchdog, or both with a comma between them");
    at += length + (at[length] == ',');
  }
  return true;
}

// "10ms": a number and s, ms, us or ns.
static bool take_time(const OptionUse *use) {
  static const struct {
    const char *unit;
    double seconds;
  } units[] = {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}};
  double *seconds = option_field(use);
  char *end;
  double value = strtod(use->text, &end);
  for (size_t i = 0; i < COUNT_OF(units); i++) {
    if (end == use->text || strcmp(end, units[i].unit) != 0 || !(value >= 0 && value <= 1e9)) continue;
    *seconds = value * units[i].seconds;
    return true;
  }
  return option_wrong(use, "must be a time with its unit: 10ms, 500us, 1s");
}

static bool take_lifetime(const OptionUse *use) { return option_real(use, 1, 1e7, option_field(use)); }

// "permanent:unit.sp=12.5", "permanent:unit.sp=12.5x4": up to four times larger or smaller
static bool take_rate(const OptionUse *use) {
  FmedaWishes *wishes = use->wishes;
  size_t type = strcspn(use->text, ":");
  const char *name = use->text + type + (use->text[type] == ':');
  size_t length = strcspn(name, "=");
  char *end;
  double fit = name[length] == '=' ? strtod(name + length + 1, &end) : -1;
  double factor = fit > 0 && *end == 'x' ? strtod(end + 1, &end) : 1;
  bool good = length > 0 && fit > 0 && fit < 1e15 && *end == '\0' && factor >= 1 && factor <= MOST_RATE_FACTOR;
  for (uint32_t i = 0; i < FMEDA_TYPES && good; i++) {
    if (strlen(fmeda_types[i]) != type || strncmp(fmeda_types[i], use->text, type) != 0) continue;
    *VEC_PUSH(&wishes->options.rates, use->arena) = (FmedaRate){(FmedaType)i, arena_copy_text(use->arena, name, length), fit, factor};
    return true;
  }
  return option_wrong(
      use, "must be TYPE:STRUCTURE=FIT or FITxFACTOR, TYPE transient or permanent, FACTOR 1 to 1000, such as permanent:unit.sp=12.5x4");
}

// "rf,permanent:unit.sp"
static bool take_scope(const OptionUse *use) {
  FmedaWishes *wishes = use->wishes;
  for (const char *at = use->text; *at != '\0';) {
    size_t length = strcspn(at, ","), type_length = strcspn(at, ":,");
    uint32_t type = FMEDA_TYPES;
    const char *name = at;
    if (at[type_length] == ':') {
      for (type = 0; type < FMEDA_TYPES; type++) {
        if (strlen(fmeda_types[type]) == type_length && strncmp(fmeda_types[type], at, type_length) == 0) break;
      }
      if (type == FMEDA_TYPES)
        return option_wrong(use, "must be structures, as in rf,permanent:unit.sp; before a colon stands transient or permanent");
      name += type_length + 1;
    }
    size_t name_length = length - (size_t)(name - at);
    if (name_length == 0) return option_wrong(use, "must be structures with commas between them, as in rf,permanent:unit.sp");
    *VEC_PUSH(&wishes->options.scope, use->arena) = (FmedaScope){type, arena_copy_text(use->arena, name, name_length)};
    at += length;
    if (*at == ',' && *++at == '\0') return option_wrong(use, "must not end with a comma");
  }
  return wishes->options.scope.count > 0 || option_wrong(use, "must name structures, as in rf,permanent:unit.sp");
}

// ---- The command -----------------------------------------------------------------------------------

static const char *table_path(const FmedaWishes *wishes, uint32_t table) {
  return arena_format(wishes->files.arena, "%s/%s.csv", wishes->csv, fmeda_tables[table]);
}

static bool check_files(FmedaWishes *wishes, char **paths, uint32_t count, Diags *diags) {
  Files *files = &wishes->files;
  for (uint32_t i = 0; i < count; i++) files_journal(files, paths[i]);
  bool good = files_write(files, wishes->page, diags) && files_write(files, wishes->json, diags);
  if (!good || wishes->csv == NULL || !is_folder(wishes->csv)) return good && files_write(files, wishes->csv, diags);
  for (uint32_t i = 0; i < FMEDA_TABLES && good; i++) good = files_write(files, table_path(wishes, i), diags);
  return good;
}

static bool write_text(const Files *files, const char *path, Text *text, Diags *diags) {
  bool good = out_text(files, path, text, diags);
  text_free(text);
  return good;
}

// Into a file the table of failure modes; into a folder all tables.
static bool write_tables(const FmedaWishes *wishes, const Fmeda *fmeda, Diags *diags) {
  bool to_folder = is_folder(wishes->csv), good = true;
  Files silent = {.arena = wishes->files.arena, .quiet = true};
  for (uint32_t i = 0; i < (to_folder ? FMEDA_TABLES : 1) && good; i++) {
    Text text = {0};
    fmeda_csv(fmeda, (FmedaTable)i, &text);
    good = write_text(to_folder ? &silent : &wishes->files, to_folder ? table_path(wishes, i) : wishes->csv, &text, diags);
  }
  if (good && to_folder) message_note(wishes->files.quiet, "wrote %d tables into %s", FMEDA_TABLES, wishes->csv);
  return good;
}

static bool show(const FmedaWishes *wishes, const Fmeda *fmeda, Diags *diags) {
  Text text = {0}, page = {0}, json = {0};
  bool good = true;
  if (wishes->page == NULL && wishes->csv == NULL && wishes->json == NULL) {
    fmeda_text(fmeda, &text);
    screen_print(text.at);
    text_free(&text);
  }
  if (wishes->page != NULL) {
    fmeda_page(fmeda, &page);
    good = write_text(&wishes->files, wishes->page, &page, diags);
  }
  if (good && wishes->csv != NULL) good = write_tables(wishes, fmeda, diags);
  if (good && wishes->json != NULL) {
    fmeda_json(fmeda, &json);
    good = write_text(&wishes->files, wishes->json, &json, diags);
  }
  return good;
}

static int fmeda(FmedaWishes *wishes, char **paths, uint32_t count, Arena *arena) {
  uint32_t all = count + wishes->tests.count;
  char **names = ARENA_ARRAY(arena, char *, all + 1);
  for (uint32_t i = 0; i < all; i++) names[i] = i < count ? paths[i] : wishes->tests.items[i - count];
  Diags diags = {0};
  Reading reading = {0};
  ReportOptions options = {.confidence = wishes->options.confidence};
  bool good = check_files(wishes, names, all, &diags) && reading_open(&reading, names, all, &options, &diags);
  bool is_refused = good && !reading_whole(&reading, &diags);
  int code = is_refused ? EXIT_UNFINISHED : EXIT_BAD_INPUT;
  if (good && !is_refused) {
    code = reading_code(&reading) == EXIT_INTERNAL ? EXIT_INTERNAL : EXIT_BAD_INPUT;
    wishes->options.confidence = reading.reports[0]->confidence;
    Fmeda *figures = fmeda_read(reading.reports, all, wishes->tests.count, &wishes->options, &diags);
    if (figures != NULL && show(wishes, figures, &diags)) code = EXIT_OK;
    fmeda_free(figures);
  }
  reading_close(&reading);
  if (code != EXIT_OK) message_diags(&diags);
  return code;
}

static int run_fmeda(int argc, char **argv) {
  FmedaWishes wishes = {.options = {.lifetime = 10000}};
  Operands operands;
  Arena *arena = arena_new();
  int code;
  if (options_parse(&command_fmeda, &wishes, arena, argc, argv, &operands)) {
    wishes.files = (Files){.arena = arena, .quiet = operands.quiet};
    code = fmeda(&wishes, operands.items, operands.count, arena);
  } else {
    code = operands.exit_code;
  }
  arena_free(arena);
  return code;
}

#define FIELD(name) offsetof(FmedaWishes, options.name)
static const Option goal_options[] = {
    {"scope", 0, "LIST",
     "structures that the figures are about: rf,permanent:unit.sp (before a colon: the fault type); without it, the chip",
     .take = take_scope},
    {"count-unused", 0, NULL, "bits that the program does not use count as safe in SPFM and LFM; without it, they stay out",
     .take = option_flag, .offset = FIELD(count_unused)},
    {"platform", 0, "LIST", "mechanisms that the system has beside the chip's: traps (errors that the machine reports), watchdog (hangs)",
     .take = take_platform},
    {"tolerable-safe", 0, NULL, "wrong results that the program's own check accepts violate nothing", .take = option_flag,
     .offset = FIELD(tolerable_is_safe)},
    {"silent", 0, NULL, "corrections are not reported: permanent faults that are corrected stay latent", .take = option_flag,
     .offset = FIELD(silent)},
    {"ftti", 0, "TIME", "fault-tolerant time interval, such as 10ms: what is found later counts as residual", .take = take_time,
     .offset = FIELD(ftti)},
    {"reaction", 0, "TIME", "of it, what the reaction to a detection takes (default 0s)", .take = take_time, .offset = FIELD(reaction)},
    {"test", 0, "JOURNAL", "of a test program, on the same faults ('redoubt grade' leaves such journals); may be repeated",
     .take = take_test},
    {"test-interval", 0, "TIME", "between two runs of the tests (default 0s)", .take = take_time, .offset = FIELD(test_interval)},
    {"rate", 0, "TYPE:STRUCTURE=FIT",
     "raw rate of a structure, in place of the machine file's; TYPE is transient or permanent; FITx4: it may be 4 times larger or smaller",
     .take = take_rate},
    {"lifetime", 0, "HOURS", "for two faults in one life (default 10000)", .take = take_lifetime, .offset = FIELD(lifetime)},
    {"confidence", 0, "C", CONFIDENCE_HELP, .take = option_confidence, .offset = FIELD(confidence)},
};
#undef FIELD
static const OptionGroup goal_group = OPTION_GROUP("What counts", goal_options);

static const Option file_options[] = {
    {"page", 'o', "FILE", "one page, which needs no network", .take = option_text, .offset = offsetof(FmedaWishes, page)},
    {"csv", 0, "FILE", "a row for each failure mode; into an existing folder: all tables, with the manifest", .take = option_text,
     .offset = offsetof(FmedaWishes, csv)},
    {"json", 0, "FILE", "all of it", .take = option_text, .offset = offsetof(FmedaWishes, json)},
};
static const OptionGroup file_group = OPTION_GROUP("Files", file_options);

const Command command_fmeda = {
    .name = "fmeda",
    .usage = "DB...",
    .summary = "figures for a safety case: failure modes, coverage, SPFM, LFM, PMHF",
    .synopsis = "redoubt fmeda JOURNAL... [options]\n",
    .about = "Journals of one program on one machine: of transient and permanent faults, without mechanisms (--protect none) and\n"
             "with them, on the same faults (the same seed, structures, model and window). See docs/safety.md for what each word\n"
             "means, a whole example, and what is not claimed. Rates come from the journals (fit.* of the machine) or --rate.\n",
    .groups = {&goal_group, &file_group},
    .ending = "Example:\n"
              "  redoubt fmeda plain.db ecc.db stuck.db --platform traps,watchdog --ftti 10ms -o fmeda.html --csv FOLDER\n"
              "\n"
              "Exit codes: 0 shown, 2 bad usage or input, 4 a simulation failed in Redoubt itself, 5 a journal is unfinished.\n",
    .operand = "journal",
    .wanted = "name journals",
    .least_operands = 1,
    .most_operands = MOST_JOURNALS,
    .run = run_fmeda,
};
