// See pairs.h. Faults are paired where that is possible, since pairs tell more. A pair has the same number within the same structure;
// of journals that do not have such numbers, the same number in the campaign.
// - the same fault in both: same bits, same cycle;
// - the same bits at the same fraction of the run, where a protection changes the time. A draw is a fraction of the run's cycles, so
//   equal numbers mean that.
// Faults drawn from what is used (--draw used) are drawn from what each run uses. They are paired only where that is the same in both; else the two are
// independent samples.
// Differences of pairs have Newcombe's interval for paired proportions, others that for independent ones (statistics.h): unlike Wald's
// both hold for small shares. In a sum each structure has a weight in A and one in B: its bits, or its rate. They differ if the chips do.
#include "report/pairs.h"
#include "report/findings.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

// ---- Which faults are pairs ------------------------------------------------------------------------

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
    structure->differ++;
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

// Faults of one number; NULL: one of the two has none of it.
static void pair_turns(Pairs *pairs, const Turn *a, const Turn *b, bool alike) {
  for (uint32_t i = 0; i < pairs->structure_count; i++) {
    StructurePairs *structure = &pairs->structures[i];
    const FaultRow *left = a == NULL ? NULL : turn_row(a, structure->a), *right = b == NULL ? NULL : turn_row(b, structure->b);
    if (left != NULL && right != NULL) add_pair(pairs, structure, left, right, alike);
    else if (structure->presence == STRUCK_IN_BOTH || structure->presence == NOT_COMPARED) {
      pairs->alone_a += left != NULL;
      pairs->alone_b += right != NULL;
    }
  }
}

// From all, or from what is used where that is the same in both, so that each fault is, too.
static bool are_drawn_from_same(const Pairs *pairs) {
  bool is_used = report_draws_used(pairs->a);
  if (is_used != report_draws_used(pairs->b)) return false;
  bool same = !is_used || (pairs->places == 0 && pairs->differ == 0);
  for (uint32_t i = 0; i < pairs->structure_count; i++) {
    const StructurePairs *structure = &pairs->structures[i];
    same &= structure->presence != STRUCK_IN_BOTH || structure->a->drawn == structure->b->drawn;
  }
  return same;
}

static bool pair_up(Pairs *pairs, Diags *diags) {
  bool alike = are_drawn_alike(pairs->a->meta, pairs->b->meta);
  Turn *a = turn_begin(pairs->a->journal), *b = turn_begin(pairs->b->journal);
  while (a->count > 0 || b->count > 0) {
    bool take_a = a->number <= b->number, take_b = b->number <= a->number;
    pair_turns(pairs, take_a ? a : NULL, take_b ? b : NULL, alike);
    if (take_a) turn_next(a);
    if (take_b) turn_next(b);
  }
  bool good_a = turn_end(a), good_b = turn_end(b);
  if (!good_a) return journal_damaged(pairs->a->journal, diags);
  if (!good_b) return journal_damaged(pairs->b->journal, diags);
  // Some pairs among faults that are others would be chance.
  if (pairs->same + pairs->places <= pairs->differ || !are_drawn_from_same(pairs)) pairs->pairing = UNPAIRED;
  else pairs->pairing = pairs->places > 0 ? PAIRED_PLACES : PAIRED_FAULTS;
  return true;
}

bool is_paired(const Pairs *pairs, const StructurePairs *structure) {
  return pairs->pairing != UNPAIRED && structure->presence == STRUCK_IN_BOTH && structure->pairs > structure->differ;
}

// ---- Which structures, and whose ---------------------------------------------------------------------

const char *structure_pairs_name(const StructurePairs *structure) { return structure->a != NULL ? structure->a->name : structure->b->name; }

static const StructureSummary *structure_named(const Report *report, const char *name) {
  for (uint32_t i = 0; i < report->structures.count; i++) {
    if (strcmp(report->structures.items[i].name, name) == 0) return &report->structures.items[i];
  }
  return NULL;
}

static bool is_unprotected(const Report *report) { return strcmp(journal_meta(report->journal)->protection, "none") == 0; }

// Lines of the note: "parity.rf=491520". False past the last.
typedef struct CellsLine {
  const char *name;
  uint32_t length;
  double bits;
} CellsLine;
static bool next_cells(const char **at, CellsLine *line) {
  if (**at == '\0') return false;
  line->name = *at;
  line->length = (uint32_t)strcspn(*at, "=\n");
  const char *number = *at + line->length;
  line->bits = *number == '=' ? strtod(number + 1, NULL) : 0;
  *at += strcspn(*at, "\n");
  *at += **at == '\n';
  return true;
}

typedef enum Answer { NO, YES, NOT_KNOWN } Answer;
static Answer has_cells(const Report *report, const char *name, size_t length) {
  const char *at = journal_note(report->journal, NOTE_CELLS);
  if (*at == '\0') return NOT_KNOWN;
  for (CellsLine line; next_cells(&at, &line);) {
    if (line.length == length && memcmp(line.name, name, length) == 0) return YES;
  }
  return NO;
}

// Older journals know only that there are none of a protection.
static bool adds_nothing(const Report *report) {
  return is_unprotected(report) || journal_note(report->journal, NOTE_SCHEME_BITS)[0] == '0';
}

// Of a structure that one side alone has struck; NULL: the other one has no such cells.
static const char *why_not(const StructureSummary *own, const Report *report, const Report *other) {
  Answer answer = has_cells(other, own->name, strlen(own->name));
  if (answer == NO || (answer == NOT_KNOWN && own->kind == KIND_SCHEME && adds_nothing(other))) return NULL;
  if (answer == NOT_KNOWN && own->kind == KIND_SCHEME) return "its journal does not say which cells the other one's protection adds";
  if (own->kind == KIND_NOT_KNOWN && is_unprotected(other) && !is_unprotected(report))
    return "its journal is older than version 5 and does not say whether the protection adds these cells";
  return "it was not struck in the other one, which has it, too";
}

static void list_structure(Pairs *pairs, const StructureSummary *a, const StructureSummary *b) {
  bool has_a = a != NULL && a->tally.total > 0, has_b = b != NULL && b->tally.total > 0;
  StructurePairs *at = &pairs->structures[pairs->structure_count++];
  *at = (StructurePairs){.a = a, .b = b, .presence = STRUCK_IN_BOTH};
  if (has_a && has_b) return;
  at->presence = NOT_COMPARED;
  if ((a != NULL && !has_a) || (b != NULL && !has_b)) at->why = "no fault has struck it in one of them";
  else at->why = has_a ? why_not(a, pairs->a, pairs->b) : why_not(b, pairs->b, pairs->a);
  if (at->why == NULL) at->presence = has_a ? ADDED_BY_A : ADDED_BY_B;
}

static void list_structures(Pairs *pairs) {
  const Report *a = pairs->a, *b = pairs->b;
  pairs->structures = ARENA_ARRAY(a->arena, StructurePairs, a->structures.count + b->structures.count + 1);
  for (uint32_t i = 0; i < a->structures.count; i++)
    list_structure(pairs, &a->structures.items[i], structure_named(b, a->structures.items[i].name));
  for (uint32_t i = 0; i < b->structures.count; i++) {
    if (structure_named(a, b->structures.items[i].name) == NULL) list_structure(pairs, NULL, &b->structures.items[i]);
  }
}

// Of cells whose names are not recorded it may be known how many were struck.
static Unstruck unstruck_of_older(const Report *report) {
  double bits = report_note(report, NOTE_SCHEME_BITS);
  if (adds_nothing(report)) return (Unstruck){.is_known = true, .names = ""};
  bool is_known = bits > 0;
  for (uint32_t i = 0; i < report->structures.count; i++) {
    const StructureSummary *structure = &report->structures.items[i];
    is_known = is_known && structure->kind != KIND_NOT_KNOWN;
    if (structure->kind == KIND_SCHEME && structure->tally.total > 0) bits -= (double)structure->bits;
  }
  return (Unstruck){.is_known = is_known, .names = "", .bits = is_known ? fmax(bits, 0) : 0};
}

Unstruck unstruck_cells(const Report *report, const Report *other) {
  const char *at = journal_note(report->journal, NOTE_CELLS);
  Unstruck unstruck = {.is_known = true, .names = ""};
  Text names = {0};
  bool is_same_machine = strcmp(report->meta->machine, other->meta->machine) == 0; // else nothing is added to anything
  if (is_unprotected(report) || !is_same_machine) return unstruck;
  if (*at == '\0' || journal_note(other->journal, NOTE_CELLS)[0] == '\0') return unstruck_of_older(report);
  for (CellsLine line; next_cells(&at, &line);) {
    const char *name = arena_copy_text(report->arena, line.name, line.length);
    const StructureSummary *struck = structure_named(report, name);
    bool is_struck = struck != NULL && struck->tally.total > 0; // or a part of it, which stands for it
    if (line.bits <= 0 || is_struck || has_cells(other, name, line.length) != NO) continue;
    text_add(&names, "%s%s", names.length == 0 ? "" : ",", name);
    unstruck.bits += line.bits;
  }
  if (names.length > 0) unstruck.names = arena_copy_text(report->arena, names.at, names.length);
  text_free(&names);
  return unstruck;
}

static void add_lacking(const Report *report, const Report *other, Text *out) {
  Unstruck unstruck = unstruck_cells(report, other);
  const char *protection = report->meta->protection, *before = out->length == 0 ? "" : "; ";
  if (!unstruck.is_known) text_add(out, "%swhether %s adds further cells is not recorded", before, protection);
  if (unstruck.bits > 0)
    text_add(out, "%swithout cells of %s that were not struck: %s", before, protection,
             unstruck.names[0] == '\0' ? "names not recorded" : unstruck.names);
}

const char *net_lacks(const Pairs *pairs) {
  Text text = {0};
  Names names = {0};
  add_lacking(pairs->a, pairs->b, &text);
  add_lacking(pairs->b, pairs->a, &text);
  for (uint32_t i = 0; i < pairs->structure_count; i++) {
    if (pairs->structures[i].presence == NOT_COMPARED) names_add(&names, structure_pairs_name(&pairs->structures[i]), MOST_NAMES);
  }
  const char *left = names_end(pairs->a->arena, &names);
  if (left[0] != '\0') text_add(&text, "%sleft out, since they cannot be compared: %s", text.length == 0 ? "" : "; ", left);
  const char *all = text.length == 0 ? "" : arena_copy_text(pairs->a->arena, text.at, text.length);
  text_free(&text);
  return all;
}

// ---- What changes ------------------------------------------------------------------------------------

typedef struct Weights {
  double a, b;
} Weights;

// Of a part of a structure against another part, or all of it: both stand for A's.
static bool stands_for_other(const Pairs *pairs, const StructurePairs *structure) {
  bool is_part = strchr(pairs->a->meta->structures, '[') != NULL || strchr(pairs->b->meta->structures, '[') != NULL;
  return is_part && structure->presence == STRUCK_IN_BOTH && structure->a->bits != structure->b->bits;
}

static Weights bits_of(const Pairs *pairs, const StructurePairs *structure) {
  Weights bits = {structure->a == NULL ? 0 : (double)structure->a->bits * report_boards(pairs->a),
                  structure->b == NULL ? 0 : (double)structure->b->bits * report_boards(pairs->b)};
  if (stands_for_other(pairs, structure)) bits.b = bits.a;
  return bits;
}

static double rate_of(const StructureSummary *structure) { return structure == NULL ? 0 : structure->fit_per_mbit / (1 << 20); }

// Rates of two models are those of two kinds of events: they have no difference.
bool structure_has_fit(const Pairs *pairs, const StructurePairs *structure) {
  if (structure->presence == NOT_COMPARED || strcmp(pairs->a->meta->model, pairs->b->meta->model) != 0) return false;
  bool has_a = rate_of(structure->a) > 0, has_b = rate_of(structure->b) > 0;
  if (structure->presence == STRUCK_IN_BOTH) return has_a && has_b && !stands_for_other(pairs, structure);
  return structure->presence == ADDED_BY_A ? has_a : has_b;
}

static double bits_compared(const Pairs *pairs) {
  double bits = 0;
  for (uint32_t i = 0; i < pairs->structure_count; i++) {
    if (pairs->structures[i].presence != NOT_COMPARED) bits += bits_of(pairs, &pairs->structures[i]).a;
  }
  return bits;
}

// Raw rates are known within a factor, and the same rate holds in A and in B: all at what is given, the least, or the most. Those of device memory and
// of the chip go each their own way.
enum { RATES_GIVEN, RATE_CORNERS = 5 }; // the others: 1, and 1 more if the chip's is the most, and 2 more if memory's is

static double rate_scale(const Pairs *pairs, const StructurePairs *structure, uint32_t corner) {
  if (corner == RATES_GIVEN) return 1;
  double in_a = structure->a == NULL ? 1 : structure_rate_factor(pairs->a, structure->a);
  double factor = fmax(in_a, structure->b == NULL ? 1 : structure_rate_factor(pairs->b, structure->b));
  bool is_memory = (structure->a != NULL ? structure->a : structure->b)->kind == KIND_MEMORY;
  bool is_most = ((corner - 1) >> (is_memory ? 1 : 0) & 1) != 0;
  return is_most ? factor : 1 / factor;
}

static Weights weights_of(const Pairs *pairs, const StructurePairs *structure, ChangeUnit unit, uint32_t corner) {
  Weights weights = bits_of(pairs, structure);
  if (unit == UNIT_SHARE) return (Weights){1, 1};
  if (unit == UNIT_FIT) {
    double scale = rate_scale(pairs, structure, corner);
    return (Weights){weights.a * rate_of(structure->a) * scale, weights.b * rate_of(structure->b) * scale};
  }
  double all = bits_compared(pairs);
  return all > 0 ? (Weights){weights.a / all, weights.b / all} : (Weights){0, 0};
}

static Estimate share_of_pairs(double hits, double pairs, double confidence) {
  Interval interval = wilson_share(hits / pairs, pairs, confidence);
  return (Estimate){true, hits / pairs, interval.low, interval.high};
}

static Estimate less(Estimate a, Estimate b, Interval interval) { return (Estimate){true, a.value - b.value, interval.low, interval.high}; }

// Cells that are not there do no harm, and that is exact.
static Estimate side_estimate(const StructureSummary *structure, Measure measure, double weight, double confidence) {
  if (structure == NULL) return (Estimate){.is_known = true};
  return estimate_times(tally_estimate(&structure->tally, measure, confidence), weight);
}

// Where faults are paired, A and B are shares of the pairs: one journal may hold more faults, and removed is A less B.
static Change change_at(const Pairs *pairs, const StructurePairs *structure, Measure measure, ChangeUnit unit, uint32_t corner) {
  double confidence = pairs->a->confidence;
  Weights weights = weights_of(pairs, structure, unit, corner);
  if (structure->presence == NOT_COMPARED || (unit == UNIT_FIT && !structure_has_fit(pairs, structure))) return (Change){0};
  if (is_paired(pairs, structure)) {
    const PairedCounts *counts = &structure->counts[measure];
    weights = (Weights){weights.a * structure->a->drawn, weights.b * structure->b->drawn}; // what was left undrawn is masked
    Estimate a = estimate_times(share_of_pairs(counts->both + counts->first, structure->pairs, confidence), weights.a);
    Estimate b = estimate_times(share_of_pairs(counts->both + counts->second, structure->pairs, confidence), weights.b);
    return (Change){a, b, less(a, b, paired_interval(*counts, weights.a, weights.b, confidence))};
  }
  Estimate a = side_estimate(structure->a, measure, weights.a, confidence), b = side_estimate(structure->b, measure, weights.b, confidence);
  if (!a.is_known || !b.is_known) return (Change){0};
  return (Change){a, b, less(a, b, difference_interval(a.value, (Interval){a.low, a.high}, b.value, (Interval){b.low, b.high}))};
}

static void sum_add(EstimateSum *sum, Estimate part) { estimate_sum_add(sum, 1, part.value, (Interval){part.low, part.high}); }

static Estimate sum_end(const EstimateSum *sum, bool is_difference) {
  Interval interval = estimate_sum_interval(sum);
  return (Estimate){true, sum->value, is_difference ? interval.low : fmax(interval.low, 0), interval.high};
}

static Change net_at(const Pairs *pairs, Measure measure, ChangeUnit unit, uint32_t corner) {
  EstimateSum a = {0}, b = {0}, removed = {0};
  bool any = false;
  for (uint32_t i = 0; i < pairs->structure_count; i++) {
    Change change = change_at(pairs, &pairs->structures[i], measure, unit, corner);
    if (!change.removed.is_known) continue;
    any = true;
    sum_add(&a, change.a);
    sum_add(&b, change.b);
    sum_add(&removed, change.removed);
  }
  return any ? (Change){sum_end(&a, false), sum_end(&b, false), sum_end(&removed, true)} : (Change){0};
}

static void widen(Estimate *estimate, Estimate other) {
  estimate->low = fmin(estimate->low, other.low);
  estimate->high = fmax(estimate->high, other.high);
}

// An interval in FIT holds all rates within their factors.
static void widen_by_rates(Change *change, Change at_corner) {
  widen(&change->a, at_corner.a);
  widen(&change->b, at_corner.b);
  widen(&change->removed, at_corner.removed);
}

Change structure_change(const Pairs *pairs, const StructurePairs *structure, Measure measure, ChangeUnit unit) {
  Change change = change_at(pairs, structure, measure, unit, RATES_GIVEN);
  for (uint32_t corner = 1; unit == UNIT_FIT && change.removed.is_known && corner < RATE_CORNERS; corner++)
    widen_by_rates(&change, change_at(pairs, structure, measure, unit, corner));
  return change;
}

Change net_change(const Pairs *pairs, Measure measure, ChangeUnit unit) {
  Change change = net_at(pairs, measure, unit, RATES_GIVEN);
  for (uint32_t corner = 1; unit == UNIT_FIT && change.removed.is_known && corner < RATE_CORNERS; corner++)
    widen_by_rates(&change, net_at(pairs, measure, unit, corner));
  return change;
}

// Bits of all that there is. Of journals that list no cells the chip's own may be counted otherwise.
static double bits_added(const Report *a, const Report *b) {
  bool are_listed = journal_note(a->journal, NOTE_CELLS)[0] != '\0' && journal_note(b->journal, NOTE_CELLS)[0] != '\0';
  double chip = are_listed ? report_note(b, NOTE_CHIP_BITS) - report_note(a, NOTE_CHIP_BITS) : 0;
  return report_scheme_bits(b) - report_scheme_bits(a) + chip;
}

Cost pairs_cost(const Pairs *pairs) {
  const Report *a = pairs->a, *b = pairs->b;
  double chip = report_note(a, NOTE_CHIP_BITS), energy = report_energy(a);
  Cost cost = {.time = (double)report_time(b) / (double)max_u64(report_time(a), 1) - 1, .bits = bits_added(a, b)};
  cost.has_bits = chip > 0;
  if (cost.has_bits) cost.share_of_bits = cost.bits / chip;
  cost.has_energy = energy > 0 && report_energy(b) > 0;
  if (cost.has_energy) cost.energy = report_energy(b) / energy - 1;
  return cost;
}

// ---- All ---------------------------------------------------------------------------------------------

bool have_common(const Report *a, const Report *b) {
  bool any = false;
  for (uint32_t i = 0; i < a->structures.count; i++) any |= structure_named(b, a->structures.items[i].name) != NULL;
  return any;
}

bool pairs_read(Pairs *pairs, const Report *a, const Report *b, Diags *diags) {
  *pairs = (Pairs){.a = a, .b = b};
  if (!report_is_whole(a, diags) || !report_is_whole(b, diags)) return false;
  if (!have_common(a, b)) return diags_add(diags, NULL, 0, 0, "the journals have no structure in common: there is nothing to compare");
  list_structures(pairs);
  return pair_up(pairs, diags);
}
