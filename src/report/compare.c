// Two journals side by side, e.g. without and with a protection: what B changes net, what became of each fault, what the protection removes of SDCs and
// DUEs by structure, and what it costs. pairs.c has the numbers.
#include "report/findings.h"
#include "report/pairs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

// ---- Text --------------------------------------------------------------------------------------------

enum { SHARE_WIDTH = 24, NET_WIDTH = 22 };

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
  const char *const names[] = {"program", "arguments", "machine", "settings of the machine", "model", "structures", "window",
                               "seed",    "tolerance", "draw"};
  bool is_program = strcmp(a->target, b->target) == 0, is_machine = strcmp(a->machine, b->machine) == 0;
  const bool differ[] = {!is_program,
                         is_program && strcmp(a->arguments, b->arguments) != 0,
                         !is_machine,
                         is_machine && strcmp(a->settings, b->settings) != 0,
                         strcmp(a->model, b->model) != 0,
                         strcmp(a->structures, b->structures) != 0,
                         strcmp(a->window, b->window) != 0,
                         a->seed != b->seed,
                         strcmp(a->tolerance, b->tolerance) != 0,
                         report_draws_used(pairs->a) != report_draws_used(pairs->b)};
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
  bool is_of_used = report_draws_used(pairs->a) || report_draws_used(pairs->b);
  if (is_of_used && pairs->pairing == UNPAIRED)
    text_add(out,
             "faults were drawn from what each run uses, which is not the same: with --draw all both have the same faults, in pairs\n");
  if (is_of_used && pairs->pairing != UNPAIRED)
    text_add(out, "drawn from what is used, the same in both: every share is of all bits and cycles\n");
  if (pairs->pairing == UNPAIRED) return;
  text_add(out, "%" PRIu64 " pairs\n", pairs->same + pairs->places);
  if (pairs->alone_a + pairs->alone_b > 0)
    text_add(out, "%" PRIu64 " faults in A alone, %" PRIu64 " in B alone: not compared\n", pairs->alone_a, pairs->alone_b);
  if (pairs->differ > 0)
    text_add(out, "%" PRIu64 " have the same number within their structure but strike other bits: not compared\n", pairs->differ);
  for (uint32_t i = 0; i < pairs->structure_count; i++) {
    const StructurePairs *structure = &pairs->structures[i];
    if (structure->presence == STRUCK_IN_BOTH && !is_paired(pairs, structure))
      text_add(out, "not paired is %s: its faults are others in B\n", structure_pairs_name(structure));
  }
}

// ---- Net ---------------------------------------------------------------------------------------------

static const char *const net_names[2][MEASURES] = {{"SDC-AVF", "DUE-AVF", "AVF", "SDC with order"},
                                                   {"SDC FIT", "DUE FIT", "SDC and DUE FIT", "SDC with order"}};

// What the hurried reader wants to know. An interval that holds 0 shows nothing.
static const char *verdict_of(Estimate removed) {
  return removed.low > 0 ? "less in B" : removed.high < 0 ? "more in B" : "no difference shown";
}

static bool is_shown(const Pairs *pairs, uint32_t measure) {
  return measure_is_shown((Measure)measure, &pairs->a->all) || measure_is_shown((Measure)measure, &pairs->b->all);
}

static void add_net_rows(const Pairs *pairs, ChangeUnit unit, Text *out) {
  bool is_fit = unit == UNIT_FIT;
  text_add(out, "%-19s  %-*s  %-*s  %s\n", is_fit ? "net, per 10^9 hours" : "net, % of A's bits", NET_WIDTH, "A", NET_WIDTH, "B",
           "removed by B");
  for (uint32_t m = 0; m < MEASURES; m++) {
    if (!is_shown(pairs, m)) continue;
    Change change = net_change(pairs, (Measure)m, unit);
    const Estimate estimates[] = {change.a, change.b, change.removed};
    text_add(out, "  %-17s", net_names[is_fit][m]);
    for (size_t i = 0; i < COUNT_OF(estimates); i++) {
      char text[ESTIMATE_TEXT];
      text_add(out, "  %-*s", NET_WIDTH, estimate_text(estimates[i], is_fit ? AS_NUMBER : AS_PERCENT, text));
    }
    text_add(out, "  %s\n", verdict_of(change.removed));
  }
}

typedef bool (*Wanted)(const Pairs *pairs, const StructurePairs *structure);
static bool is_in_both(const Pairs *pairs, const StructurePairs *structure) {
  (void)pairs;
  return structure->presence == STRUCK_IN_BOTH;
}
static bool is_of_a(const Pairs *pairs, const StructurePairs *structure) {
  (void)pairs;
  return structure->presence == ADDED_BY_A;
}
static bool is_of_b(const Pairs *pairs, const StructurePairs *structure) {
  (void)pairs;
  return structure->presence == ADDED_BY_B;
}
static bool lacks_fit(const Pairs *pairs, const StructurePairs *structure) {
  return structure->presence != NOT_COMPARED && !structure_has_fit(pairs, structure);
}

// "before rf, shared and 3 more"; nothing where there is none.
static uint32_t add_names(const Pairs *pairs, Wanted is_wanted, const char *before, Text *out) {
  Names names = {0};
  for (uint32_t i = 0; i < pairs->structure_count; i++) {
    if (is_wanted(pairs, &pairs->structures[i])) names_add(&names, structure_pairs_name(&pairs->structures[i]), MOST_NAMES);
  }
  uint32_t count = names.count;
  const char *text = names_end(pairs->a->arena, &names);
  if (count > 0) text_add(out, "%s%s", before, text);
  return count;
}

// One side's own cells that it has not struck.
static void add_unstruck(const Report *report, const Report *other, char side, Text *out) {
  Unstruck unstruck = unstruck_cells(report, other);
  const char *const structures = journal_meta(report->journal)->structures;
  if (!unstruck.is_known)
    text_add(out, "  whether the protection of %c adds further cells is not recorded: the journal is of an older Redoubt\n", side);
  if (unstruck.bits <= 0) return;
  text_add(out, "  NOT IN IT: %s (%.0f bits), which %c adds and its campaign did not strike: their harm is not counted.\n",
           unstruck.names[0] == '\0' ? "cells without a recorded name" : unstruck.names, unstruck.bits, side);
  if (unstruck.names[0] != '\0') text_add(out, "  --structure %s,%s or --structure all strikes them\n", structures, unstruck.names);
}

static void add_left_out(const Pairs *pairs, Text *out) {
  for (uint32_t i = 0; i < pairs->structure_count; i++) {
    const StructurePairs *structure = &pairs->structures[i];
    if (structure->presence == NOT_COMPARED)
      text_add(out, "  left out: %s, struck in %s: %s\n", structure_pairs_name(structure),
               structure->a == NULL   ? "B"
               : structure->b == NULL ? "A"
                                      : "A and B",
               structure->why);
  }
}

// Percent, with its sign.
static void add_short_cost(const Pairs *pairs, Text *out) {
  Cost cost = pairs_cost(pairs);
  text_add(out, "  B costs %+.2f%% time", 100 * cost.time);
  if (cost.has_bits) text_add(out, ", %+.3f%% bits", 100 * cost.share_of_bits);
  if (cost.has_energy) text_add(out, ", %+.2f%% energy", 100 * cost.energy);
  text_add(out, "\n");
}

static bool has_any_fit(const Pairs *pairs) { return net_change(pairs, MEASURE_AVF, UNIT_FIT).removed.is_known; }

// What is not sure of the rates is so in A and in B alike.
static void add_rates(const Pairs *pairs, Text *out) {
  Text text = {0};
  report_rates_text(pairs->b, &text);
  if (text.length > 0) text_add(out, "  %s\n", text.at);
  text_free(&text);
}

static void add_net(const Pairs *pairs, Text *out) {
  bool has_fit = has_any_fit(pairs);
  Text without = {0};
  uint32_t lacking = add_names(pairs, lacks_fit, "", &without);
  text_add(out, "\n");
  if (has_fit) add_net_rows(pairs, UNIT_FIT, out);
  if (has_fit) add_rates(pairs, out);
  if (has_fit && lacking > 0) text_add(out, "  in no FIT, since no rate is known: %s\n", without.at);
  if (!has_fit || lacking > 0) add_net_rows(pairs, UNIT_POINTS, out);
  text_free(&without);
  add_names(pairs, is_in_both, "  over ", out);
  add_names(pairs, is_of_b, "; and what B alone has: ", out);
  add_names(pairs, is_of_a, "; and what A alone has: ", out);
  text_add(out, "\n");
  add_unstruck(pairs->a, pairs->b, 'A', out);
  add_unstruck(pairs->b, pairs->a, 'B', out);
  add_left_out(pairs, out);
  add_short_cost(pairs, out);
  text_add(out, "\n");
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

// Of cells that one side does not have there is no share.
static Change shown_change(const Pairs *pairs, const StructurePairs *structure, Measure measure) {
  Change change = structure_change(pairs, structure, measure, UNIT_SHARE);
  if (structure->a == NULL) change.a.is_known = false;
  if (structure->b == NULL) change.b.is_known = false;
  return change;
}

// By bits alone; where the chips differ, as a part of A's bits.
static const char *all_name(const Pairs *pairs) {
  for (uint32_t i = 0; i < pairs->structure_count; i++) {
    const StructurePairs *structure = &pairs->structures[i];
    bool is_alike =
        structure->presence == NOT_COMPARED || (structure->presence == STRUCK_IN_BOTH && structure->a->bits == structure->b->bits);
    if (!is_alike) return "all, of A's bits";
  }
  return report_boards(pairs->a) == report_boards(pairs->b) ? "all, by bits" : "all, of A's bits";
}

static void add_changes(const Pairs *pairs, Text *out) {
  for (uint32_t m = 0; m < MEASURES; m++) {
    if (!is_shown(pairs, m)) continue;
    uint32_t shown = 0;
    Change net = net_change(pairs, (Measure)m, UNIT_POINTS);
    Estimate fit = net_change(pairs, (Measure)m, UNIT_FIT).removed;
    text_add(out, "\n%-20s  %-*s  %-*s  %s\n", measures[m].title, SHARE_WIDTH, "A %", SHARE_WIDTH, "B %",
             fit.is_known ? "removed, in points            FIT removed" : "removed, in points");
    for (uint32_t i = 0; i < pairs->structure_count; i++) {
      const StructurePairs *structure = &pairs->structures[i];
      Change change = shown_change(pairs, structure, (Measure)m);
      if (!change.removed.is_known) continue;
      add_change_row(structure_pairs_name(structure), &change, structure_change(pairs, structure, (Measure)m, UNIT_FIT).removed, out);
      shown++;
    }
    if (shown > 1) add_change_row(all_name(pairs), &net, fit, out);
  }
  text_add(out, "Intervals at %.4g%%. Removed is A less B: a negative number is added by B.\n", 100 * pairs->a->confidence);
  if (strcmp(all_name(pairs), "all, by bits") != 0)
    text_add(
        out,
        "Of A's bits: harm in cells that one of them alone has counts as that in all others, so that more cells make no AVF smaller.\n");
}

static void add_per_cost(const Pairs *pairs, const char *cost, double percent, Text *out) {
  if (percent <= 0) return;
  for (uint32_t m = 0; m < MEASURES; m++) {
    if (!is_shown(pairs, m)) continue;
    Estimate removed = estimate_times(net_change(pairs, (Measure)m, UNIT_POINTS).removed, 100 / percent);
    if (!removed.is_known) continue;
    char text[ESTIMATE_TEXT];
    text_add(out, "  %s removed per 1%% of %s: %s points\n", measures[m].title, cost, estimate_text(removed, AS_NUMBER, text));
  }
}

// Of the runs without faults. Its sign says what the protection does: one that saves time may save energy too.
static void add_energy(const Pairs *pairs, const Cost *cost, Text *out) {
  if (!cost->has_energy) {
    text_add(out, "  energy: not known: the machine file gives no energies (power.*)\n");
    return;
  }
  text_add(out, "  energy: %.6g instead of %.6g nJ (%+.2f%%), by the power model:\n    dynamic %.6g and %.6g, leakage %.6g and %.6g\n",
           report_energy(pairs->b), report_energy(pairs->a), 100 * cost->energy, report_note(pairs->b, NOTE_ENERGY_DYNAMIC),
           report_note(pairs->a, NOTE_ENERGY_DYNAMIC), report_note(pairs->b, NOTE_ENERGY_LEAKAGE),
           report_note(pairs->a, NOTE_ENERGY_LEAKAGE));
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
  Cost cost = pairs_cost(pairs);
  text_add(out, "\ncost of B against A\n");
  text_add(out, "  time: %" PRIu64 " instead of %" PRIu64 " cycles (%+.2f%%)\n", report_time(pairs->b), report_time(pairs->a),
           100 * cost.time);
  add_boards(pairs, out);
  if (cost.has_bits) text_add(out, "  bits: %+.0f (%+.3f%% of the chip's)\n", cost.bits, 100 * cost.share_of_bits);
  add_energy(pairs, &cost, out);
  add_per_cost(pairs, "time", 100 * cost.time, out);
  add_per_cost(pairs, "bits", 100 * cost.share_of_bits, out);
  add_per_cost(pairs, "energy", 100 * cost.energy, out);
}

// ---- CSV and JSON ------------------------------------------------------------------------------------

// Each structure under a measure; after the last, all of them: the net change.
typedef struct ChangeRow {
  const char *structure;
  Change change, fit;
  const char *note; // why it is compared otherwise than others, or not; "": it is like others
} ChangeRow;

static const char *note_of(const StructurePairs *structure) {
  switch (structure->presence) {
  case ADDED_BY_A: return "A alone has it";
  case ADDED_BY_B: return "B alone has it";
  case NOT_COMPARED: return structure->why;
  default: return "";
  }
}

// False: past the last.
static bool row_at(const Pairs *pairs, Measure measure, uint32_t number, ChangeRow *row) {
  if (number > pairs->structure_count) return false;
  if (number == pairs->structure_count) {
    *row = (ChangeRow){"all", net_change(pairs, measure, UNIT_POINTS), net_change(pairs, measure, UNIT_FIT), net_lacks(pairs)};
    return true;
  }
  const StructurePairs *structure = &pairs->structures[number];
  *row = (ChangeRow){structure_pairs_name(structure), shown_change(pairs, structure, measure),
                     structure_change(pairs, structure, measure, UNIT_FIT), note_of(structure)};
  return true;
}

static void add_csv(const Pairs *pairs, Text *out) {
  for (uint32_t m = 0; m < MEASURES; m++) {
    ChangeRow row;
    for (uint32_t i = 0; row_at(pairs, (Measure)m, i, &row); i++) {
      const Estimate estimates[] = {row.change.a, row.change.b, row.change.removed, row.fit.a, row.fit.b, row.fit.removed};
      text_add_csv(out, journal_path(pairs->a->journal));
      add_text(out, ",");
      text_add_csv(out, journal_path(pairs->b->journal));
      text_add(out, ",%s,%s", measures[m].key, row.structure);
      for (size_t k = 0; k < COUNT_OF(estimates); k++) csv_estimate(out, estimates[k]);
      text_add(out, ",%.9g,", pairs->a->confidence);
      text_add_csv_name(out, row.note);
      text_add(out, "\n");
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

// As shares.
static json_t *cost_json(const Pairs *pairs) {
  Cost cost = pairs_cost(pairs);
  json_t *object = json_pack("{s:f}", "time", cost.time);
  json_object_set_new(object, "bits", cost.has_bits ? json_real(cost.share_of_bits) : json_null());
  json_object_set_new(object, "energy", cost.has_energy ? json_real(cost.energy) : json_null());
  return object;
}

static json_t *pairs_json(const Pairs *pairs) {
  static const char *const pairings[] = {[PAIRED_FAULTS] = "faults", [PAIRED_PLACES] = "places", [UNPAIRED] = "none"};
  json_t *object = json_object(), *rows = json_array();
  for (uint32_t m = 0; m < MEASURES; m++) {
    ChangeRow row;
    for (uint32_t i = 0; row_at(pairs, (Measure)m, i, &row); i++) {
      json_t *item = json_pack("{s:s, s:o}", "measure", measures[m].key, "structure", report_string(row.structure));
      json_object_set_new(item, "a", json_estimate(row.change.a));
      json_object_set_new(item, "b", json_estimate(row.change.b));
      json_object_set_new(item, "removed", json_estimate(row.change.removed));
      json_object_set_new(item, "fit_a", json_estimate(row.fit.a));
      json_object_set_new(item, "fit_b", json_estimate(row.fit.b));
      json_object_set_new(item, "fit_removed", json_estimate(row.fit.removed));
      json_object_set_new(item, "note", report_string(row.note));
      json_array_append_new(rows, item);
    }
  }
  json_object_set_new(object, "a", side_json(pairs->a));
  json_object_set_new(object, "b", side_json(pairs->b));
  json_object_set_new(object, "confidence", json_real(pairs->a->confidence));
  json_object_set_new(object, "paired", json_string(pairings[pairs->pairing]));
  json_object_set_new(object, "pairs", json_integer((json_int_t)(pairs->pairing == UNPAIRED ? 0 : pairs->same + pairs->places)));
  json_object_set_new(object, "changes", rows);
  json_object_set_new(object, "cost", cost_json(pairs));
  return object;
}

// ---- All ---------------------------------------------------------------------------------------------

bool report_compare(const Report *a, const Report *b, Text *out, Diags *diags) {
  Pairs pairs;
  if (!pairs_read(&pairs, a, b, diags)) return false;
  add_journal(out, "A", a);
  add_journal(out, "B", b);
  add_differences(&pairs, out);
  add_net(&pairs, out);
  add_pairing(&pairs, out);
  if (pairs.pairing != UNPAIRED) add_timeouts(&pairs, out);
  if (pairs.pairing != UNPAIRED) add_moves(&pairs, out);
  if (pairs.pairing != UNPAIRED) add_fates(&pairs, out);
  add_changes(&pairs, out);
  add_cost(&pairs, out);
  return true;
}

bool report_compare_csv(Report *const *reports, uint32_t count, Text *out, Diags *diags) {
  static const char *const estimates[] = {"a", "b", "removed", "fit_a", "fit_b", "fit_removed"};
  add_text(out, "a_journal,b_journal,measure,structure");
  for (size_t i = 0; i < COUNT_OF(estimates); i++) text_add(out, ",%s,%s_low,%s_high", estimates[i], estimates[i], estimates[i]);
  add_text(out, ",confidence,note\n");
  for (uint32_t i = 1; i < count; i++) {
    Pairs pairs;
    if (!pairs_read(&pairs, reports[0], reports[i], diags)) return false;
    add_csv(&pairs, out);
  }
  return true;
}

bool report_compare_json(Report *const *reports, uint32_t count, Text *out, Diags *diags) {
  json_t *array = json_array();
  bool good = true;
  for (uint32_t i = 1; i < count && good; i++) {
    Pairs pairs;
    good = pairs_read(&pairs, reports[0], reports[i], diags);
    if (good) json_array_append_new(array, pairs_json(&pairs));
  }
  char *json = json_dumps(array, JSON_INDENT(1) | JSON_SORT_KEYS);
  ASSERT(json != NULL);
  text_add(out, "%s\n", json);
  free(json);
  json_decref(array);
  return good;
}
