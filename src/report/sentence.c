// What a campaign found, in one sentence for whoever reads nothing else: how many faults of what did nothing, made a wrong result, ended the program.
#include "report/findings.h"
#include "journal/occupancy.h"
#include "report/report_internal.h"

#include <inttypes.h>
#include <stdio.h>

enum { MOST_STRUCTURES = 3 }; // that are named; the others are counted

// 12345: "12,345".
static void add_grouped(Text *out, uint64_t count) {
  if (count >= 1000) {
    add_grouped(out, count / 1000);
    text_add(out, ",%03" PRIu64, count % 1000);
  } else {
    text_add(out, "%" PRIu64, count);
  }
}

// The largest structures first: `named` have been.
static const StructureSummary *next_largest(const Report *report, const StructureSummary *const *named, uint32_t count) {
  const StructureSummary *largest = NULL;
  for (uint32_t i = 0; i < report->structures.count; i++) {
    const StructureSummary *at = &report->structures.items[i];
    bool is_named = at->tally.total == 0;
    for (uint32_t k = 0; k < count; k++) is_named |= named[k] == at;
    if (!is_named && (largest == NULL || at->bits > largest->bits)) largest = at;
  }
  return largest;
}

// " in rf", " in rf, shared, l2 and 7 more structures, weighted by their bits,"
static void add_where(const Report *report, Text *out) {
  const StructureSummary *named[MOST_STRUCTURES];
  uint32_t struck = 0, count = 0;
  for (uint32_t i = 0; i < report->structures.count; i++) struck += report->structures.items[i].tally.total > 0;
  for (; count < struck && count < MOST_STRUCTURES; count++) {
    named[count] = next_largest(report, named, count);
    bool is_last = count + 1 == struck;
    text_add(out, "%s%s", count == 0 ? " in " : is_last ? " and " : ", ", named[count]->name);
  }
  if (struck > count) text_add(out, " and %u more structures", struck - count);
  if (struck > 1) text_add(out, ", weighted by their bits");
}

// "2,000 bit flips in rf", "500 permanent faults (stuck1) in unit.sp and rf, weighted by their bits"
static void add_what(const Report *report, Text *out) {
  const char *model = report->meta->model, *plural = report->all.total == 1 ? "" : "s";
  if (report_draws_used(report)) text_add(out, "all");
  else add_grouped(out, report->all.total);
  if (strcmp(model, "flip") == 0) text_add(out, " bit flip%s", plural);
  else if (strncmp(model, "stuck", 5) == 0 || strncmp(model, "duty", 4) == 0) text_add(out, " permanent fault%s (%s)", plural, model);
  else text_add(out, " fault%s (%s)", plural, model);
  add_where(report, out);
  const char *window = report->meta->window;
  if (strncmp(window, "kernel:", 7) == 0) text_add(out, " while %s runs", SHORT_NAME(window + 7));
  else if (strcmp(window, "all") != 0) text_add(out, ", window %s", window);
  if (!report_draws_used(report)) return;
  text_add(out, ", as ");
  add_grouped(out, report->all.total);
  text_add(out, " drawn from the ");
  text_add(out, "%s%% of bits and cycles that are used show", percent_text(1 - report->all.undrawn).at);
}

typedef struct Clause {
  const char *what; // group of outcomes; "detected": that part of the DUEs, which then are without it
  const char *says;
  bool always; // also where no fault did so: whoever reads must not wonder
} Clause;

static uint64_t clause_hits(const Tally *tally, const char *what) {
  uint64_t detected = tally_part(tally, "detected");
  if (strcmp(what, "detected") == 0) return detected;
  return tally_group(tally, what) - (strcmp(what, "due") == 0 ? detected : 0);
}

static Estimate clause_share(const Report *report, const char *what) {
  if (strcmp(what, "masked") == 0) return report_masked(report);
  uint64_t *hits = ARENA_ARRAY(report->arena, uint64_t, report->structures.count + 1);
  for (uint32_t i = 0; i < report->structures.count; i++) hits[i] = clause_hits(&report->structures.items[i].tally, what);
  return report_all_hits(report, hits);
}

// Runs that hang are ended by the limit; nobody would call that "end the program".
static const char *end_of_program(const Report *report) {
  const uint64_t *counts = report->all.counts;
  return counts[OUTCOME_DUE_HANG] + counts[OUTCOME_TIMEOUT] > 0 ? "end or hang the program" : "end the program";
}

// "3.0% (2.2 to 4.1) make a wrong result"; "none (at most 0.33%) make a wrong result".
static void add_clause(const Report *report, const Clause *clause, Text *out) {
  uint64_t hits = clause_hits(&report->all, clause->what);
  Estimate share = clause_share(report, clause->what);
  if (hits == 0) {
    text_add(out, "none (at most %s%%)", percent_limit(share.high, false).at);
  } else if (hits == report->all.total && share.value >= 1) {
    text_add(out, "all (at least %s%%)", percent_limit(share.low, true).at);
  } else {
    text_add(out, "%s%% (%s to %s)", percent_text(share.value).at, percent_limit(share.low, true).at, percent_limit(share.high, false).at);
  }
  text_add(out, " %s", clause->says);
}

// SDCs with and without them: "(with the wrong results: 3.0 (2.2 to 4.1) %)".
static void add_with_order(const Report *report, Text *out) {
  Estimate share = report_chip(report, MEASURE_SDC_ORDER);
  char text[ESTIMATE_TEXT];
  text_add(out, " (with the wrong results: %s %%)", estimate_text(share, AS_PERCENT, text));
}

// Where Redoubt itself has failed no figure can be trusted, and a part of an unfinished campaign is biased: nothing is said.
void report_sentence(const Report *report, Text *out) {
  if (report->withheld || report->all.total == 0 || report->all.counts[OUTCOME_INTERNAL] > 0 || report_struck_bits(report) <= 0) return;
  const Clause clauses[] = {{"masked", "do nothing", true},
                            {"performance", "change only the time that the program takes", false},
                            {"corrected", "are corrected", false},
                            {"detected", "are detected but not repaired", false},
                            {"tolerated", "make a result that is off within the tolerance", false},
                            {"sdc", "make a wrong result", true},
                            {"order", "only add in another order", false},
                            {"due", end_of_program(report), true}};
  Text text = {0};
  text_add(&text, report->state.complete || report_draws_used(report) ? "Of " : "Of the first ");
  add_what(report, &text);
  for (size_t i = 0; i < COUNT_OF(clauses); i++) {
    if (!clauses[i].always && clause_hits(&report->all, clauses[i].what) == 0) continue;
    text_add(&text, i + 1 == COUNT_OF(clauses) ? " and " : ", ");
    add_clause(report, &clauses[i], &text);
    if (strcmp(clauses[i].what, "order") == 0) add_with_order(report, &text);
  }
  text_add(&text, ". In parentheses: intervals at %.4g%%.", 100 * report->confidence);
  text_add_wrapped(out, 0, text.at);
  text_free(&text);
}

// How full the machine was, and what that means for shares. Machines that have no warps do not tell.
void report_occupancy_text(const Report *report, Text *out) {
  Occupancy occupancy;
  if (!report_occupancy(report, &occupancy)) {
    text_add(out, "occupancy  not recorded: the journal is of an older Redoubt\n");
    return;
  }
  if (!occupancy.is_known) return;
  text_add(out, "occupancy  ");
  occupancy_text(&occupancy, out);
  text_add(out, "\n");
  if (!occupancy_is_low(&occupancy)) return;
  Text text = {0};
  text_add(&text,
           "LOW OCCUPANCY, under %.0f%%: faults in what is empty do nothing, so these shares are not those of a program that fills the "
           "machine. A larger input does.",
           100 * OCCUPANCY_LEAST);
  text_add_wrapped(out, 0, text.at);
  text_free(&text);
}

void report_brief_text(const Report *report, Text *out) {
  report_internal(report, out);
  report_conditions(report, out);
  report_sentence(report, out);
  report_occupancy_text(report, out);
}
