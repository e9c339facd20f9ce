// How a campaign ends: its tables, and the commands that a newcomer would type next.
#include "cli/campaign.h"
#include "cli/reading.h"
#include "cli/screen.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

static const double SHORT_SECONDS = 10; // shown with a tenth

// ---- Failures of Redoubt itself --------------------------------------------------------------------

// One by one: the first few.
typedef struct Failures {
  uint64_t count;
} Failures;
enum { FAILURES_SHOWN = 10 };

static bool show_failure(void *context, const FaultRow *row) {
  Failures *failures = context;
  if (row->outcome != OUTCOME_INTERNAL) return true;
  if (failures->count++ < FAILURES_SHOWN)
    message_error("INTERNAL ERROR: fault %llu, %s: %s", (unsigned long long)row->id, row->fault, row->note);
  return true;
}

void campaign_say_internal(const CampaignRun *run) {
  Diags ignored = {0};
  Failures failures = {0};
  Journal *journal = journal_read(run->options.journal, &ignored);
  if (journal != NULL) journal_each_fault(journal, show_failure, &failures);
  journal_close(journal);
  diags_free(&ignored);
  message_error("INTERNAL ERROR: %llu simulations failed in Redoubt itself, not by their fault: no figure of this campaign can be trusted. "
                "They are in %s and are tried again by the same command; please report them",
                (unsigned long long)failures.count, run->options.journal);
}

// ---- What to type next -----------------------------------------------------------------------------

// In the words of a shell.
static const char *shell_word(Arena *arena, const char *word) {
  Text text = {0};
  text_add_shell_word(&text, word);
  const char *copy = arena_copy_text(arena, text.at, text.length);
  text_free(&text);
  return copy;
}

// What one may want to see, and what shows it: this program, as it was called, with these words.
static void say_command(const CampaignRun *run, const char *what, const char *words) {
  message_note(false, "  %-37s  %s %s", what, shell_word(run->arena, program_invocation_name), words);
}

// "plain.html" beside "plain.db".
static const char *page_beside(Arena *arena, const char *journal) {
  size_t length = strlen(journal);
  bool has_ending = length > 3 && strcmp(journal + length - 3, ".db") == 0;
  return arena_format(arena, "%.*s.html", (int)(has_ending ? length - 3 : length), journal);
}

// A fault that did something: the worst that there is.
static void say_replay(const CampaignRun *run, const Report *report, const char *journal) {
  static const struct {
    const char *group, *part, *did;
  } kinds[] = {{"sdc", "", "made a wrong result"},  {"due", "crash", "ended the program"},        {"due", "hang", "hung the program"},
               {"due", "detected", "was detected"}, {"order", "", "only added in another order"}, {"corrected", "", "was corrected"}};
  for (size_t k = 0; k < COUNT_OF(kinds); k++) {
    uint64_t first = UINT64_MAX;
    for (uint32_t i = 0; i < OUTCOME_COUNT; i++) {
      bool is_meant = strcmp(outcome_info[i].group, kinds[k].group) == 0 && strcmp(outcome_info[i].part, kinds[k].part) == 0;
      if (report->all.counts[i] > 0 && is_meant) first = min_u64(first, report->first[i]);
    }
    if (first == UINT64_MAX) continue;
    say_command(run, arena_format(run->arena, "how fault %llu %s", (unsigned long long)first, kinds[k].did),
                arena_format(run->arena, "replay %s %llu", journal, (unsigned long long)first));
    return;
  }
}

static void say_head(void) {
  message_note(false, "%s", "");
  message_note(false, "Next:");
}

static void say_next(const CampaignRun *run, const Report *report) {
  const JournalMeta *meta = report->meta;
  const char *path = run->options.journal, *journal = shell_word(run->arena, path);
  if (run->target.files.quiet || run->is_one_of_many) return;
  say_head();
  say_replay(run, report, journal);
  say_command(run, "all numbers, with their intervals", arena_format(run->arena, "report %s", journal));
  say_command(run, "a page with charts and every fault",
              arena_format(run->arena, "report %s -o %s", journal, shell_word(run->arena, page_beside(run->arena, path))));
  if (meta->shards > 1 || meta->end > 0)
    say_command(run, "together with the other parts", arena_format(run->arena, "merge ALL.db %s OTHER.db", journal));
  else if (strcmp(meta->protection, "none") != 0)
    say_command(run, "beside the same without --protect", arena_format(run->arena, "compare PLAIN.db %s", journal));
  else say_command(run, "beside the same with --protect SCHEME", arena_format(run->arena, "compare %s PROTECTED.db", journal));
}

void campaign_say_next_of_many(const CampaignRun *run, const char *folder) {
  if (run->target.files.quiet) return;
  say_head();
  say_command(run, "programs side by side",
              arena_format(run->arena, "report %s/*-%s.db", shell_word(run->arena, folder), run->target.spec.machine));
}

// ---- What it found, and what that took ---------------------------------------------------------------

// Of this process: an earlier one may have settled a part.
static void say_cost(const CampaignRun *run) {
  const ProgressScreen *screen = &run->screen;
  if (screen->began == 0 || run->target.files.quiet) return; // the work was done elsewhere
  uint64_t settled = screen->last.done - screen->last.before;
  Text text = {0};
  text_add(&text, "cost       ");
  double seconds = host_seconds() - screen->began;
  if (seconds < SHORT_SECONDS) text_add(&text, "%.1f s", seconds);
  else duration_format(seconds, &text);
  text_add(&text, " for %" PRIu64 " faults with -j %u", settled, run->options.jobs);
  if (screen->last.before > 0) text_add(&text, "; the other %" PRIu64 " were there already", screen->last.before);
  message_note(false, "%s", text.at);
  text_free(&text);
}

static int show(const CampaignRun *run, const Report *report) {
  Text text = {0};
  if (run->verbose) report_text(report, &text);
  else report_brief_text(report, &text);
  if (run->verbose) report_settled_text(report, &text);
  screen_print_outcomes(text.at);
  text_free(&text);
  say_cost(run);
  // It has settled all its faults, but may still hold failures: of an earlier run with more faults.
  if (report->all.counts[OUTCOME_INTERNAL] > 0) return EXIT_INTERNAL;
  say_next(run, report);
  return EXIT_OK;
}

int campaign_show(const CampaignRun *run, Diags *diags) {
  Journal *journal = journal_read(run->options.journal, diags);
  Report *report = journal == NULL ? NULL : report_read(journal, &(ReportOptions){.confidence = run->options.confidence}, diags);
  int code = report == NULL ? message_diags(diags) : show(run, report);
  report_free(report);
  journal_close(journal);
  return code;
}
