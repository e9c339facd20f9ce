// Two journals side by side, e.g. without and with a protection: what became of each fault, what the protection removes of SDCs and
// DUEs, and what it costs. Faults are paired where that is possible, since pairs tell more. A pair has the same number within the same structure;
// of journals that do not have such numbers, the same number in the campaign.
// - the same fault in both: same bits, same cycle;
// - the same bits at the same fraction of the run, where a protection changes the time. A draw is a fraction of the run's cycles, so
//   equal numbers mean that.
// Differences of pairs have Newcombe's interval for paired proportions, others that for independent ones (statistics.h): unlike Wald's
// both hold for small shares.
#include "report/report_internal.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef enum Pairing { PAIRED_FAULTS, PAIRED_PLACES, UNPAIRED } Pairing;

typedef struct StructurePairs {
  const StructureSummary *a, *b; // b: NULL where the other journal has none of that name
  double pairs;
  PairedCounts counts[MEASURES]; // in both, in A alone, in B alone, in none
} StructurePairs;

typedef struct Pairs {
  const Report *a, *b;
  Pairing pairing;
  uint64_t moved[OUTCOME_COUNT][OUTCOME_COUNT];
  uint64_t same, places, differ; // same number: same bits and cycle; same bits at the same fraction; others
  uint64_t alone_a, alone_b;     // in one journal only
  StructurePairs *structures;
  uint32_t structure_count;
} Pairs;

// ---- Paired ----------------------------------------------------------------------------------------

// Draws are made in the same way from the same numbers.
static bool are_drawn_alike(const JournalMeta *a, const JournalMeta *b) {
  return a->seed == b->seed && strcmp(a->target, b->target) == 0 && strcmp(a->arguments, b->arguments) == 0 &&
         strcmp(a->model, b->model) == 0 && strcmp(a->window, b->window) == 0;
}

static bool is_same_place(const FaultRow *a, const FaultRow *b) {
  size_t length = strcspn(a->fault, "@");
  return strcspn(b->fault, "@") == length && strncmp(a->fault, b->fault, length) == 0;
}

// Of a window that is all of the run this can be checked; within a cycle of either.
static bool is_same_fraction(const Pairs *pairs, const FaultRow *a, const FaultRow *b) {
  double cycles_a = (double)pairs->a->cycles, cycles_b = (double)pairs->b->cycles;
  if (strcmp(pairs->a->meta->window, "all") != 0) return true;
  return fabs((double)a->cycle * cycles_b - (double)b->cycle * cycles_a) <= cycles_a + cycles_b;
}

static void add_pair(Pairs *pairs, StructurePairs *structure, const FaultRow *a, const FaultRow *b, bool alike) {
  bool same = strcmp(a->fault, b->fault) == 0;
  if (!same && !(alike && is_same_place(a, b) && is_same_fraction(pairs, a, b))) {
    pairs->differ++;
    return;
  }
  *(same ? &pairs->same : &pairs->places) += 1;
  pairs->moved[a->outcome][b->outcome]++;
  structure->pairs++;
  for (uint32_t m = 0; m < MEASURES; m++) {
    bool in_a = measure_counts((Measure)m, a->outcome), in_b = measure_counts((Measure)m, b->outcome);
    PairedCounts *counts = &structure->counts[m];
    *(in_a ? in_b ? &counts->both : &counts->first : in_b ? &counts->second : &counts->neither) += 1;
  }
}

// Numbers within structures grow with those of the faults, so one walk finds all pairs: it takes the faults of one number at a time, one of each
// structure.
enum { MOST_IN_TURN = 256 };
typedef struct Turn {
  FaultCursor *from;
  FaultRow next; // after those that are here
  bool has_next;
  uint64_t number;
  uint32_t count;
  FaultRow rows[MOST_IN_TURN];
  Text texts[MOST_IN_TURN]; // of the rows' faults
} Turn;

static uint64_t number_of(const FaultRow *row) { return row->number < 0 ? row->id : (uint64_t)row->number; }

static void turn_next(Turn *turn) {
  turn->count = 0;
  turn->number = turn->has_next ? number_of(&turn->next) : UINT64_MAX;
  while (turn->has_next && turn->count < MOST_IN_TURN && number_of(&turn->next) == turn->number) {
    Text *text = &turn->texts[turn->count];
    text->length = 0;
    text_add(text, "%s", turn->next.fault);
    turn->rows[turn->count] = turn->next;
    turn->rows[turn->count++].fault = text->at;
    turn->has_next = journal_next_fault(turn->from, &turn->next);
  }
}

static Turn *turn_begin(const Journal *journal) {
  Turn *turn = calloc(1, sizeof *turn);
  ASSERT(turn != NULL);
  turn->from = journal_faults(journal);
  turn->has_next = journal_next_fault(turn->from, &turn->next);
  turn_next(turn);
  return turn;
}

static bool turn_end(Turn *turn) {
  bool good = journal_end_faults(turn->from);
  for (uint32_t i = 0; i < MOST_IN_TURN; i++) text_free(&turn->texts[i]);
  free(turn);
  return good;
}

static const FaultRow *turn_row(const Turn *turn, const StructureSummary *structure) {
  for (uint32_t i = 0; structure != NULL && i < turn->count; i++) {
    if (turn->rows[i].region == structure->region) return &turn->rows[i];
  }
  return NULL;
}

// Faults of one number.
static void pair_turns(Pairs *pairs, const Turn *a, const Turn *b, bool alike) {
  uint64_t both = 0;
  for (uint32_t i = 0; i < pairs->structure_count; i++) {
    StructurePairs *structure = &pairs->structures[i];
    const FaultRow *left = turn_row(a, structure->a), *right = turn_row(b, structure->b);
    if (left == NULL || right == NULL) continue;
    add_pair(pairs, structure, left, right, alike);
    both++;
  }
  pairs->alone_a += a->count - both;
  pairs->alone_b += b->count - both;
}

static bool pair_up(Pairs *pairs, Diags *diags) {
  bool alike = are_drawn_alike(pairs->a->meta, pairs->b->meta);
  Turn *a = turn_begin(pairs->a->journal), *b = turn_begin(pairs->b->journal);
  while (a->count > 0 || b->count > 0) {
    if (a->number == b->number) pair_turns(pairs, a, b, alike);
    else *(a->number < b->number ? &pairs->alone_a : &pairs->alone_b) += a->number < b->number ? a->count : b->count;
    bool take_a = a->number <= b->number, take_b = b->number <= a->number;
    if (take_a) turn_next(a);
    if (take_b) turn_next(b);
  }
  bool good_a = turn_end(a), good_b = turn_end(b);
  if (!good_a) return journal_damaged(pairs->a->journal, diags);
  if (!good_b) return journal_damaged(pairs->b->journal, diags);
  // Some pairs among faults that are others would be chance.
  if (pairs->same + pairs->places <= pairs->differ) pairs->pairing = UNPAIRED;
  else pairs->pairing = pairs->places > 0 ? PAIRED_PLACES : PAIRED_FAULTS;
  return true;
}

static const StructureSummary *structure_named(const Report *report, const char *name) {
  for (uint32_t i = 0; i < report->structures.count; i++) {
    if (strcmp(report->structures.items[i].name, name) == 0) return &report->structures.items[i];
  }
  return NULL;
}

static void list_structures(Pairs *pairs) {
  pairs->structures = ARENA_ARRAY(pairs->a->arena, StructurePairs, pairs->a->structures.count + 1);
  for (uint32_t i = 0; i < pairs->a->structures.count; i++) {
    const StructureSummary *structure = &pairs->a->structures.items[i];
    pairs->structures[pairs->structure_count++] = (StructurePairs){.a = structure, .b = structure_named(pairs->b, structure->name)};
  }
}

// ---- What is removed ---------------------------------------------------------------------------------

typedef struct Change {
  Estimate a, b, removed; // removed: A less B
} Change;

static Estimate share_of_pairs(double hits, double pairs, double confidence) {
  Interval interval = wilson_share(hits / pairs, pairs, confidence);
  return (Estimate){true, hits / pairs, interval.low, interval.high};
}

// Where faults are paired, A and B are shares of the pairs: one journal may hold more faults, and removed is A less B.
static Change change_of(const Pairs *pairs, const StructurePairs *structure, Measure measure) {
  double confidence = pairs->a->confidence;
  Change change = {0};
  if (pairs->pairing != UNPAIRED) {
    const PairedCounts *counts = &structure->counts[measure];
    if (structure->pairs <= 0) return change;
    Interval interval = paired_interval(*counts, confidence);
    change.a = share_of_pairs(counts->both + counts->first, structure->pairs, confidence);
    change.b = share_of_pairs(counts->both + counts->second, structure->pairs, confidence);
    change.removed = (Estimate){true, (counts->first - counts->second) / structure->pairs, interval.low, interval.high};
    return change;
  }
  change.a = tally_estimate(&structure->a->tally, measure, confidence);
  if (structure->b != NULL) change.b = tally_estimate(&structure->b->tally, measure, confidence);
  if (change.a.is_known && change.b.is_known) {
    Interval interval = difference_interval(change.a.value, (Interval){change.a.low, change.a.high}, change.b.value,
                                            (Interval){change.b.low, change.b.high});
    change.removed = (Estimate){true, change.a.value - change.b.value, interval.low, interval.high};
  }
  return change;
}

typedef double (*WeightOf)(const Pairs *, const StructurePairs *);
static double bits_weight(const Pairs *pairs, const StructurePairs *structure) {
  (void)pairs;
  return (double)structure->a->bits;
}

// Other sizes or other models have other rates: the FIT of a difference of AVFs is then not known.
static double rate_weight(const Pairs *pairs, const StructurePairs *structure) {
  const StructureSummary *a = structure->a, *b = structure->b;
  if (report_boards(pairs->a) != report_boards(pairs->b)) return 0;
  if (b == NULL || a->bits != b->bits || a->fit_per_mbit != b->fit_per_mbit) return 0;
  return (double)a->bits / (1 << 20) * a->fit_per_mbit * report_boards(pairs->a);
}

static void sum_add(EstimateSum *sum, double factor, Estimate part) {
  estimate_sum_add(sum, factor, part.value, (Interval){part.low, part.high});
}

static Estimate sum_end(const EstimateSum *sum) {
  Interval interval = estimate_sum_interval(sum);
  return (Estimate){true, sum->value, interval.low, interval.high};
}

// Each structure that both have, by a weight: its bits, or its rate.
static Change sum_changes(const Pairs *pairs, Measure measure, WeightOf weight, double scale) {
  EstimateSum a = {0}, b = {0}, removed = {0};
  bool any = false;
  for (uint32_t i = 0; i < pairs->structure_count; i++) {
    Change change = change_of(pairs, &pairs->structures[i], measure);
    double factor = weight(pairs, &pairs->structures[i]) * scale;
    if (!change.removed.is_known || factor <= 0) continue;
    any = true;
    sum_add(&a, factor, change.a);
    sum_add(&b, factor, change.b);
    sum_add(&removed, factor, change.removed);
  }
  return any ? (Change){sum_end(&a), sum_end(&b), sum_end(&removed)} : (Change){0};
}

static Estimate fit_removed(const Pairs *pairs, Measure measure) { return sum_changes(pairs, measure, rate_weight, 1).removed; }

static Change chip_change(const Pairs *pairs, Measure measure) {
  double bits = 0;
  for (uint32_t i = 0; i < pairs->structure_count; i++) {
    bool is_known = change_of(pairs, &pairs->structures[i], measure).removed.is_known;
    bits += is_known ? (double)pairs->structures[i].a->bits : 0;
  }
  return bits > 0 ? sum_changes(pairs, measure, bits_weight, 1 / bits) : (Change){0};
}

// ---- Text --------------------------------------------------------------------------------------------

enum { SHARE_WIDTH = 24 };

static void add_journal(Text *out, const char *name, const Report *report) {
  const JournalMeta *meta = report->meta;
  text_add(out, "%s: %s on %s, protection %s, model %s: %" PRIu64 " faults, %" PRIu64 " cycles\n", name, meta->target, meta->machine,
           meta->protection, meta->model, report->all.total, report_time(report));
  report_idle_text(report, "   ", out);
  report_state_text(report, out);
}

// What makes a comparison one of other things than protections. Settings belong to the machine, and so does the program to its arguments.
static void add_differences(const Pairs *pairs, Text *out) {
  const JournalMeta *a = pairs->a->meta, *b = pairs->b->meta;
  const char *const names[] = {"program", "arguments", "machine",  "settings of the machine", "model", "structures",
                               "window",  "seed",      "tolerance"};
  bool is_program = strcmp(a->target, b->target) == 0, is_machine = strcmp(a->machine, b->machine) == 0;
  const bool differ[] = {!is_program,
                         is_program && strcmp(a->arguments, b->arguments) != 0,
                         !is_machine,
                         is_machine && strcmp(a->settings, b->settings) != 0,
                         strcmp(a->model, b->model) != 0,
                         strcmp(a->structures, b->structures) != 0,
                         strcmp(a->window, b->window) != 0,
                         a->seed != b->seed,
                         strcmp(a->tolerance, b->tolerance) != 0};
  const char *before = "they differ in: ";
  for (size_t i = 0; i < COUNT_OF(differ); i++) {
    if (!differ[i]) continue;
    text_add(out, "%s%s", before, names[i]);
    before = ", ";
  }
  if (before[0] == ',') text_add(out, "\n");
}

static void add_pairing(const Pairs *pairs, Text *out) {
  const char *const texts[] = {
      [PAIRED_FAULTS] = "paired: the same faults in both",
      [PAIRED_PLACES] = "paired: the same bits at the same fraction of the run, since the runs take different times",
      [UNPAIRED] = "not paired: the faults of the two differ; the intervals are those of independent samples",
  };
  text_add(out, "%s\n", texts[pairs->pairing]);
  if (pairs->pairing == UNPAIRED) return;
  text_add(out, "%" PRIu64 " pairs\n", pairs->same + pairs->places);
  if (pairs->alone_a + pairs->alone_b > 0)
    text_add(out, "%" PRIu64 " faults in A alone, %" PRIu64 " in B alone: not compared\n", pairs->alone_a, pairs->alone_b);
  if (pairs->differ > 0)
    text_add(out, "%" PRIu64 " have the same number within their structure but strike other bits: not compared\n", pairs->differ);
}

static void add_moves(const Pairs *pairs, Text *out) {
  text_add(out, "\n%-16s -> %-16s %9s\n", "in A", "in B", "faults");
  for (uint32_t i = 0; i < OUTCOME_COUNT; i++) {
    for (uint32_t k = 0; k < OUTCOME_COUNT; k++) {
      if (pairs->moved[i][k] == 0) continue;
      text_add(out, "%-16s -> %-16s %9" PRIu64 "\n", outcome_info[i].name, outcome_info[k].name, pairs->moved[i][k]);
    }
  }
}

static uint64_t moved_between(const Pairs *pairs, const char *from, const char *to) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < OUTCOME_COUNT; i++) {
    for (uint32_t k = 0; k < OUTCOME_COUNT; k++) {
      bool is_meant = strcmp(outcome_info[i].group, from) == 0 && strcmp(outcome_info[k].group, to) == 0;
      sum += is_meant ? pairs->moved[i][k] : 0;
    }
  }
  return sum;
}

static uint64_t moved_to_detected(const Pairs *pairs, const char *from) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < OUTCOME_COUNT; i++) sum += strcmp(outcome_info[i].group, from) == 0 ? pairs->moved[i][OUTCOME_DETECTED] : 0;
  return sum;
}

// Harm that becomes loud is not removed. Pairs, not weighted.
static void add_fates(const Pairs *pairs, Text *out) {
  static const char *const harms[2] = {"sdc", "due"}, *const names[2] = {"SDC", "DUE"};
  uint64_t new_sdc = 0, new_due = 0;
  for (uint32_t i = 0; i < 2; i++) {
    const char *harm = harms[i], *other = harms[1 - i];
    uint64_t stays = moved_between(pairs, harm, harm), turns = moved_between(pairs, harm, other), all = 0;
    for (uint32_t g = 0; g < REPORT_GROUPS; g++) all += moved_between(pairs, harm, report_groups[g]);
    if (all == 0) continue;
    text_add(out, "%s%" PRIu64 " %ss in A: %" PRIu64 " removed by B, %" PRIu64 " turned into %ss, %" PRIu64 " left", i == 0 ? "\n" : "",
             all, names[i], all - stays - turns, turns, names[1 - i], stays);
    if (moved_to_detected(pairs, harm) > 0) text_add(out, "; %" PRIu64 " of them detected in B", moved_to_detected(pairs, harm));
    text_add(out, "\n");
  }
  for (uint32_t g = 0; g < REPORT_GROUPS; g++) {
    bool is_good = strcmp(report_groups[g], "sdc") != 0 && strcmp(report_groups[g], "due") != 0;
    new_sdc += is_good ? moved_between(pairs, report_groups[g], "sdc") : 0;
    new_due += is_good ? moved_between(pairs, report_groups[g], "due") : 0;
  }
  if (new_sdc + new_due > 0) text_add(out, "added by B where A has no harm: %" PRIu64 " SDCs, %" PRIu64 " DUEs\n", new_sdc, new_due);
}

// A timeout of one run may be the end of the other where they are given different times.
static void add_timeouts(const Pairs *pairs, Text *out) {
  const JournalMeta *a = pairs->a->meta, *b = pairs->b->meta;
  uint64_t timeouts = 0;
  if (a->timeout == b->timeout) return;
  for (uint32_t i = 0; i < OUTCOME_COUNT; i++) timeouts += pairs->moved[OUTCOME_TIMEOUT][i] + pairs->moved[i][OUTCOME_TIMEOUT];
  timeouts -= pairs->moved[OUTCOME_TIMEOUT][OUTCOME_TIMEOUT];
  if (timeouts == 0) return;
  text_add(out,
           "runs count as endless at %" PRIu64 " times the fault-free cycles in A, at %" PRIu64 " times in B: %" PRIu64
           " of these faults depend on it\n",
           a->timeout, b->timeout, timeouts);
}

static void add_share(Estimate estimate, Text *out) {
  char text[ESTIMATE_TEXT];
  text_add(out, "  %-*s", SHARE_WIDTH, estimate_text(estimate, AS_PERCENT, text));
}

static void add_removed(Estimate removed, EstimateForm form, Text *out) {
  char text[ESTIMATE_TEXT];
  text_add(out, "  %-28s", estimate_text(removed, form, text));
}

static void add_change_row(const char *name, const Change *change, Estimate fit, Text *out) {
  text_add(out, "  %-18s", name);
  add_share(change->a, out);
  add_share(change->b, out);
  add_removed(change->removed, AS_PERCENT, out);
  if (fit.is_known) add_removed(fit, AS_NUMBER, out);
  while (out->at[out->length - 1] == ' ') out->length--;
  text_add(out, "\n");
}

static void add_changes(const Pairs *pairs, Text *out) {
  for (uint32_t m = 0; m < MEASURES; m++) {
    uint32_t shown = 0;
    bool has_fit = fit_removed(pairs, (Measure)m).is_known;
    text_add(out, "\n%-20s  %-*s  %-*s  %s\n", measures[m].title, SHARE_WIDTH, "A %", SHARE_WIDTH, "B %",
             has_fit ? "removed, in points            FIT removed" : "removed, in points");
    for (uint32_t i = 0; i < pairs->structure_count; i++) {
      const StructurePairs *structure = &pairs->structures[i];
      Change change = change_of(pairs, structure, (Measure)m);
      double rate = rate_weight(pairs, structure);
      if (!change.removed.is_known) continue;
      add_change_row(structure->a->name, &change, estimate_times(change.removed, rate), out);
      shown++;
    }
    if (shown < 2) continue;
    Change all = chip_change(pairs, (Measure)m);
    add_change_row("all, by bits", &all, fit_removed(pairs, (Measure)m), out);
  }
  text_add(out, "Intervals at %.4g%%. Removed is A less B: a negative number is added by B.\n", 100 * pairs->a->confidence);
}

static void add_per_cost(const Pairs *pairs, const char *cost, double percent, Text *out) {
  if (percent <= 0) return;
  for (uint32_t m = 0; m < MEASURES; m++) {
    Estimate removed = estimate_times(chip_change(pairs, (Measure)m).removed, 100 / percent);
    if (!removed.is_known) continue;
    char text[ESTIMATE_TEXT];
    text_add(out, "  %s removed per 1%% of %s: %s points\n", measures[m].title, cost, estimate_text(removed, AS_NUMBER, text));
  }
}

// Of the runs without faults. Its sign says what the protection does: one that saves time may save energy too.
// In percent; 0 where it is not known.
static double add_energy(const Pairs *pairs, Text *out) {
  double a = report_energy(pairs->a), b = report_energy(pairs->b);
  if (a <= 0 || b <= 0) {
    text_add(out, "  energy: not known: the machine file gives no energies (power.*)\n");
    return 0;
  }
  text_add(out, "  energy: %.6g instead of %.6g nJ (%+.2f%%), by the power model:\n    dynamic %.6g and %.6g, leakage %.6g and %.6g\n", b,
           a, 100 * (b / a - 1), report_note(pairs->b, NOTE_ENERGY_DYNAMIC), report_note(pairs->a, NOTE_ENERGY_DYNAMIC),
           report_note(pairs->b, NOTE_ENERGY_LEAKAGE), report_note(pairs->a, NOTE_ENERGY_LEAKAGE));
  return 100 * (b / a - 1);
}

// A second board is all of the chip once more: in the bits, in the energy, and not in the time.
static void add_boards(const Pairs *pairs, Text *out) {
  const Report *const both[] = {pairs->a, pairs->b};
  for (size_t i = 0; i < COUNT_OF(both); i++) {
    if (report_boards(both[i]) == 1) continue;
    text_add(out, "  %c has two boards, which work at the same time: time is that of one, bits and energy are those of both\n", "AB"[i]);
  }
}

static void add_cost(const Pairs *pairs, Text *out) {
  uint64_t time_a = report_time(pairs->a), time_b = report_time(pairs->b);
  double time = 100 * ((double)time_b / (double)max_u64(time_a, 1) - 1);
  double bits_a = report_scheme_bits(pairs->a), bits_b = report_scheme_bits(pairs->b);
  double chip = report_note(pairs->a, NOTE_CHIP_BITS), share = chip > 0 ? 100 * (bits_b - bits_a) / chip : 0;
  text_add(out, "\ncost of B against A\n");
  text_add(out, "  time: %" PRIu64 " instead of %" PRIu64 " cycles (%+.2f%%)\n", time_b, time_a, time);
  add_boards(pairs, out);
  if (chip > 0) text_add(out, "  bits: %+.0f (%+.3f%% of the chip's)\n", bits_b - bits_a, share);
  double energy = add_energy(pairs, out);
  add_per_cost(pairs, "time", time, out);
  add_per_cost(pairs, "bits", share, out);
  add_per_cost(pairs, "energy", energy, out);
}

// ---- CSV and JSON ------------------------------------------------------------------------------------

// Each structure under a measure; after the last, where there are several, all of them by their bits.
typedef struct ChangeRow {
  const char *structure;
  Change change;
  Estimate fit; // removed
} ChangeRow;

// False: past the last. A structure that cannot be compared has an empty row.
static bool row_at(const Pairs *pairs, Measure measure, uint32_t number, ChangeRow *row) {
  *row = (ChangeRow){0};
  if (number < pairs->structure_count) {
    const StructurePairs *structure = &pairs->structures[number];
    Change change = change_of(pairs, structure, measure);
    if (change.removed.is_known)
      *row = (ChangeRow){structure->a->name, change, estimate_times(change.removed, rate_weight(pairs, structure))};
    return true;
  }
  if (number > pairs->structure_count || pairs->structure_count < 2) return false;
  *row = (ChangeRow){"all", chip_change(pairs, measure), fit_removed(pairs, measure)};
  return true;
}

static void add_csv(const Pairs *pairs, Text *out) {
  for (uint32_t m = 0; m < MEASURES; m++) {
    ChangeRow row;
    for (uint32_t i = 0; row_at(pairs, (Measure)m, i, &row); i++) {
      if (row.structure == NULL) continue;
      const Estimate estimates[] = {row.change.a, row.change.b, row.change.removed, row.fit};
      text_add_csv(out, journal_path(pairs->a->journal));
      add_text(out, ",");
      text_add_csv(out, journal_path(pairs->b->journal));
      text_add(out, ",%s,%s", measures[m].key, row.structure);
      for (size_t k = 0; k < COUNT_OF(estimates); k++) csv_estimate(out, estimates[k]);
      text_add(out, ",%.9g\n", pairs->a->confidence);
    }
  }
}

static json_t *side_json(const Report *report) {
  json_t *object = json_object();
  json_object_set_new(object, "journal", report_string(journal_path(report->journal)));
  json_object_set_new(object, "target", report_string(report->meta->target));
  json_object_set_new(object, "machine", report_string(report->meta->machine));
  json_object_set_new(object, "protection", report_string(report->meta->protection));
  json_object_set_new(object, "model", report_string(report->meta->model));
  json_object_set_new(object, "faults", json_integer((json_int_t)report->all.total));
  json_object_set_new(object, "cycles", json_integer((json_int_t)report_time(report)));
  json_object_set_new(object, "scheme_bits", json_real(report_scheme_bits(report)));
  json_object_set_new(object, "energy_nj", report_energy(report) > 0 ? json_real(report_energy(report)) : json_null());
  return object;
}

static json_t *pairs_json(const Pairs *pairs) {
  static const char *const pairings[] = {[PAIRED_FAULTS] = "faults", [PAIRED_PLACES] = "places", [UNPAIRED] = "none"};
  json_t *object = json_object(), *rows = json_array();
  for (uint32_t m = 0; m < MEASURES; m++) {
    ChangeRow row;
    for (uint32_t i = 0; row_at(pairs, (Measure)m, i, &row); i++) {
      if (row.structure == NULL) continue;
      json_t *item = json_pack("{s:s, s:o}", "measure", measures[m].key, "structure", report_string(row.structure));
      json_object_set_new(item, "a", json_estimate(row.change.a));
      json_object_set_new(item, "b", json_estimate(row.change.b));
      json_object_set_new(item, "removed", json_estimate(row.change.removed));
      json_object_set_new(item, "fit_removed", json_estimate(row.fit));
      json_array_append_new(rows, item);
    }
  }
  json_object_set_new(object, "a", side_json(pairs->a));
  json_object_set_new(object, "b", side_json(pairs->b));
  json_object_set_new(object, "confidence", json_real(pairs->a->confidence));
  json_object_set_new(object, "paired", json_string(pairings[pairs->pairing]));
  json_object_set_new(object, "pairs", json_integer((json_int_t)(pairs->pairing == UNPAIRED ? 0 : pairs->same + pairs->places)));
  json_object_set_new(object, "changes", rows);
  return object;
}

// ---- All ---------------------------------------------------------------------------------------------

// Both must strike something that the other has, too.
static bool has_common(const Pairs *pairs, Diags *diags) {
  for (uint32_t i = 0; i < pairs->structure_count; i++) {
    if (pairs->structures[i].b != NULL) return true;
  }
  return diags_add(diags, NULL, 0, 0, "the journals have no structure in common: there is nothing to compare");
}

static bool pairs_read(Pairs *pairs, Diags *diags) {
  list_structures(pairs);
  return report_is_whole(pairs->a, diags) && report_is_whole(pairs->b, diags) && has_common(pairs, diags) && pair_up(pairs, diags);
}

bool report_compare(const Report *a, const Report *b, Text *out, Diags *diags) {
  Pairs pairs = {.a = a, .b = b};
  if (!pairs_read(&pairs, diags)) return false;
  add_journal(out, "A", a);
  add_journal(out, "B", b);
  add_differences(&pairs, out);
  add_pairing(&pairs, out);
  if (pairs.pairing != UNPAIRED) add_timeouts(&pairs, out);
  if (pairs.pairing != UNPAIRED) add_moves(&pairs, out);
  if (pairs.pairing != UNPAIRED) add_fates(&pairs, out);
  add_changes(&pairs, out);
  add_cost(&pairs, out);
  return true;
}

bool report_compare_csv(Report *const *reports, uint32_t count, Text *out, Diags *diags) {
  static const char *const estimates[] = {"a", "b", "removed", "fit_removed"};
  add_text(out, "a_journal,b_journal,measure,structure");
  for (size_t i = 0; i < COUNT_OF(estimates); i++) text_add(out, ",%s,%s_low,%s_high", estimates[i], estimates[i], estimates[i]);
  add_text(out, ",confidence\n");
  for (uint32_t i = 1; i < count; i++) {
    Pairs pairs = {.a = reports[0], .b = reports[i]};
    if (!pairs_read(&pairs, diags)) return false;
    add_csv(&pairs, out);
  }
  return true;
}

bool report_compare_json(Report *const *reports, uint32_t count, Text *out, Diags *diags) {
  json_t *array = json_array();
  bool good = true;
  for (uint32_t i = 1; i < count && good; i++) {
    Pairs pairs = {.a = reports[0], .b = reports[i]};
    good = pairs_read(&pairs, diags);
    if (good) json_array_append_new(array, pairs_json(&pairs));
  }
  char *json = json_dumps(array, JSON_INDENT(1) | JSON_SORT_KEYS);
  ASSERT(json != NULL);
  text_add(out, "%s\n", json);
  free(json);
  json_decref(array);
  return good;
}
