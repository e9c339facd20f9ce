// One pass over a journal: tallies by structure, kernel, launch, time and PTX line; what is estimated from them.
#include "report/report_internal.h"
#include "journal/statistics.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

// ---- What is derived -------------------------------------------------------------------------------

Estimate report_estimate(const Report *report, const Tally *tally, Measure measure) {
  return report->withheld ? (Estimate){0} : tally_estimate(tally, measure, report->confidence);
}

bool report_draws_used(const Report *report) { return strcmp(report->meta->draw, "used") == 0; }

Estimate structure_used(const Report *report, const StructureSummary *structure, Measure measure) {
  return structure->is_read_known ? report_estimate(report, &structure->used, measure) : (Estimate){0};
}

Estimate structure_used_share(const Report *report, const StructureSummary *structure) {
  uint64_t read = structure->used.total, total = structure->tally.total;
  if (report->withheld || total == 0 || !structure->is_read_known) return (Estimate){0};
  bool is_exact = report_draws_used(report) && (read == total || read == 0);
  Interval interval = is_exact ? (Interval){read > 0, read > 0} : wilson_interval(read, total, report->confidence);
  return (Estimate){true, structure->drawn * (double)read / (double)total, structure->drawn * interval.low,
                    structure->drawn * interval.high};
}

static Estimate of_share(const Report *report, const StructureSummary *structure, Measure measure, double share, const char **why) {
  Estimate used = estimate_times(report_estimate(report, &structure->tally, measure), share > 0 ? 1 / share : 0);
  *why = NULL;
  if (!used.is_known || used.high <= 1) return used;
  *why = used.value > 1 ? "it would be more than 100%: cells matter that no resident block owns, or it is chance"
                        : "its interval would reach beyond 100%: too few faults struck that part";
  return (Estimate){0};
}

Estimate structure_resident(const Report *report, const StructureSummary *structure, Measure measure, const char **why) {
  return of_share(report, structure, measure, structure->resident, why);
}

Estimate structure_needed(const Report *report, const StructureSummary *structure, Measure measure, const char **why) {
  return of_share(report, structure, measure, structure->needed, why);
}

static double structure_rate(const Report *report, const StructureSummary *structure) {
  return (double)structure->bits / (1 << 20) * structure->fit_per_mbit * report_boards(report);
}

Estimate structure_fit(const Report *report, const StructureSummary *structure, Measure measure) {
  return estimate_rate(report_estimate(report, &structure->tally, measure), structure_rate(report, structure),
                       structure_rate_factor(report, structure));
}

double report_bits(const Report *report) {
  double bits = 0;
  for (uint32_t i = 0; i < report->structures.count; i++) bits += (double)report->structures.items[i].bits;
  return bits;
}

double report_struck_bits(const Report *report) {
  double bits = 0;
  for (uint32_t i = 0; i < report->structures.count; i++) {
    const StructureSummary *structure = &report->structures.items[i];
    bits += structure->tally.total > 0 ? (double)structure->bits : 0;
  }
  return bits;
}

// Structures are sampled apart, so their errors are independent.
static void add_part(EstimateSum *sum, Estimate part, double weight) {
  if (part.is_known) estimate_sum_add(sum, weight, part.value, (Interval){part.low, part.high});
}

static Estimate sum_estimate(const EstimateSum *sum, bool is_known) {
  Interval interval = estimate_sum_interval(sum);
  return is_known ? (Estimate){true, sum->value, interval.low < 0 ? 0 : interval.low, interval.high} : (Estimate){0};
}

// Of all faults.
Estimate report_chip(const Report *report, Measure measure) {
  EstimateSum sum = {0};
  double weights = 0;
  for (uint32_t pass = 0; pass < 2; pass++) {
    for (uint32_t i = 0; i < report->structures.count; i++) {
      const StructureSummary *structure = &report->structures.items[i];
      double weight = structure->weight * (double)structure->tally.total;
      if (pass == 0) weights += weight;
      else if (weights > 0) add_part(&sum, report_estimate(report, &structure->tally, measure), weight / weights);
    }
  }
  return sum_estimate(&sum, weights > 0 && !report->withheld);
}

// Of faults in several structures: each structure counts by what its faults weigh. Where it is known how much of each is drawn from: by its bits.
Estimate mixed_estimate(const Report *report, const MixedTally *mixed, Measure measure) {
  EstimateSum sum = {0};
  double weights = 0;
  for (uint32_t pass = 0; pass < 2; pass++) {
    for (uint32_t i = 0; i < report->structures.count; i++) {
      const StructureSummary *structure = &report->structures.items[i];
      const Tally *part = mixed_part(mixed, i);
      bool is_nothing = mixed->drawn != NULL && mixed->all.total > 0 && mixed->drawn[i] <= 0 && structure->tally.total > 0;
      double weight = mixed->drawn != NULL ? (double)structure->bits : structure->weight * structure->drawn * (double)part->total;
      if (part->total == 0 && !is_nothing) continue;
      if (pass == 0) weights += weight;
      else if (weights > 0)
        add_part(&sum, is_nothing ? (Estimate){.is_known = true} : report_estimate(report, part, measure), weight / weights);
    }
  }
  return sum_estimate(&sum, weights > 0 && !report->withheld);
}

Estimate report_hits(const Report *report, uint32_t structure, uint64_t hits) {
  const StructureSummary *of = &report->structures.items[structure];
  if (report->withheld || of->tally.total == 0) return (Estimate){0};
  Interval interval = wilson_interval(hits, of->tally.total, report->confidence);
  return (Estimate){true, of->drawn * (double)hits / (double)of->tally.total, of->drawn * interval.low, of->drawn * interval.high};
}

// As report_chip. Structures that no fault has struck are left out.
Estimate report_all_hits(const Report *report, const uint64_t *hits) {
  EstimateSum sum = {0};
  double bits = 0;
  for (uint32_t i = 0; i < report->structures.count; i++) {
    const StructureSummary *structure = &report->structures.items[i];
    if (structure->tally.total == 0) continue;
    add_part(&sum, report_hits(report, i, hits[i]), (double)structure->bits);
    bits += (double)structure->bits;
  }
  if (report->withheld || bits <= 0) return (Estimate){0};
  Interval interval = estimate_sum_interval(&sum);
  return (Estimate){true, sum.value / bits, interval.low < 0 ? 0 : interval.low / bits, interval.high / bits};
}

Estimate report_masked(const Report *report) {
  uint64_t *hits = ARENA_ARRAY(report->arena, uint64_t, report->structures.count + 1);
  bool is_drawn = report_draws_used(report);
  for (uint32_t i = 0; i < report->structures.count; i++) {
    const Tally *tally = &report->structures.items[i].tally;
    hits[i] = is_drawn ? tally->total - tally_group(tally, "masked") : tally_group(tally, "masked");
  }
  Estimate share = report_all_hits(report, hits);
  if (!is_drawn || !share.is_known) return share;
  return (Estimate){true, 1 - share.value, 1 - share.high, 1 - share.low}; // of the rest, which holds what is not used
}

Estimate report_outcome(const Report *report, uint8_t outcome) {
  if (outcome == OUTCOME_MASKED) return report_masked(report);
  uint64_t *hits = ARENA_ARRAY(report->arena, uint64_t, report->structures.count + 1);
  for (uint32_t i = 0; i < report->structures.count; i++) hits[i] = report->structures.items[i].tally.counts[outcome % OUTCOME_COUNT];
  return report_all_hits(report, hits);
}

// At the rates as given, the lowest and the highest.
Estimate report_fit(const Report *report, Measure measure) {
  EstimateSum given = {0}, least = {0}, most = {0};
  bool is_known = false;
  for (uint32_t i = 0; i < report->structures.count; i++) {
    const StructureSummary *structure = &report->structures.items[i];
    Estimate share = report_estimate(report, &structure->tally, measure);
    double rate = structure_rate(report, structure), factor = structure_rate_factor(report, structure);
    if (rate <= 0 || !share.is_known) continue;
    add_part(&given, share, rate);
    add_part(&least, share, rate / factor);
    add_part(&most, share, rate * factor);
    is_known = true;
  }
  return is_known ? (Estimate){true, given.value, sum_estimate(&least, true).low, sum_estimate(&most, true).high} : (Estimate){0};
}

double report_note(const Report *report, JournalNote note) { return strtod(journal_note(report->journal, note), NULL); }

bool report_occupancy(const Report *report, Occupancy *occupancy) {
  const char *sms = journal_note(report->journal, NOTE_OCCUPANCY_SMS);
  *occupancy = (Occupancy){.is_known = sms[0] != '\0' && strcmp(sms, "none") != 0,
                           .sms = report_note(report, NOTE_OCCUPANCY_SMS),
                           .warps = report_note(report, NOTE_OCCUPANCY_WARPS),
                           .registers = report_note(report, NOTE_OCCUPANCY_REGISTERS),
                           .sm_count = (uint64_t)setting_of(report->meta->settings, "sm.count")};
  return sms[0] != '\0';
}

// Two boards for half of the cycles leak as much as one for all of them, so it holds for both.
double report_energy(const Report *report) { return report_note(report, NOTE_ENERGY_DYNAMIC) + report_note(report, NOTE_ENERGY_LEAKAGE); }

// Of a part of the run the AVF is not that of all its cycles.
Estimate report_cycles_between_sdc(const Report *report) {
  if (strcmp(report->meta->window, "all") != 0) return (Estimate){0};
  return estimate_inverse(report_chip(report, MEASURE_SDC), (double)report_time(report));
}

bool report_is_whole(const Report *report, Diags *diags) {
  if (!report->withheld) return true;
  if (report->state.sample == 0) {
    return diags_add(diags, journal_path(report->journal), 0, 0,
                     "is unfinished: %" PRIu64 " of %" PRIu64 " faults, and a part is biased; finish the campaign", report->state.done,
                     report->state.asked);
  }
  return diags_add(diags, journal_path(report->journal), 0, 0,
                   "is unfinished: %" PRIu64 " of %" PRIu64 " faults, and a part is biased; finish the campaign, or take the first %" PRIu64
                   " faults, which are complete, with --partial",
                   report->state.done, report->state.asked, report->state.sample);
}

void report_state_text(const Report *report, Text *out) {
  const JournalState *state = &report->state;
  unsigned long long done = (unsigned long long)state->done, sample = (unsigned long long)state->sample;
  if (state->complete && state->done > state->sample) {
    text_add(out, "%llu further faults are left out: an earlier, larger campaign was not finished\n", done - sample);
  }
  if (state->complete) return;
  text_add(out, "unfinished: %llu of ", done);
  if (state->asked > 0) text_add(out, "%s%llu faults", report->is_at_most ? "at most " : "", (unsigned long long)state->asked);
  else text_add(out, "an unknown number of faults");
  if (!report->withheld) {
    text_add(out, "; what follows is over the first %llu, which are complete\n", sample);
    return;
  }
  text_add(out, ", biased: what is quickly settled comes first.\nSo no shares are shown. The same campaign run again goes on");
  if (sample == 0) text_add(out, ".\n--partial cannot help yet: the first fault is not settled\n");
  else text_add(out, ";\n--partial shows shares over the first %llu faults, which are complete\n", sample);
}

const StructureSummary *report_structure(const Report *report, uint16_t region) {
  for (uint32_t i = 0; i < report->structures.count; i++) {
    if (report->structures.items[i].region == region) return &report->structures.items[i];
  }
  return NULL;
}

// ---- Reading ---------------------------------------------------------------------------------------

static const char *keep(Report *report, const char *text) { return arena_copy_text(report->arena, text, strlen(text)); }

static bool add_structure(void *context, const StructureRow *row) {
  Report *report = context;
  StructureSummary *to = VEC_PUSH(&report->structures, report->arena);
  to->name = keep(report, row->name);
  to->title = keep(report, row->title);
  to->region = row->region;
  to->bits = row->rows * row->units * row->bits;
  to->resident = row->used;
  to->drawn = report_draws_used(report) ? row->drawn : 1;
  to->needed = row->needed;
  to->origin = keep(report, row->origin);
  to->stands_for = keep(report, row->stands_for);
  to->fit_per_mbit = row->raw_fit_per_mbit;
  to->kind = row->kind;
  to->is_read_known = true;
  return true;
}

static uint32_t kernel_named(Report *report, const char *symbol) {
  for (uint32_t i = 0; i < report->kernels.count; i++) {
    if (strcmp(report->kernels.items[i].symbol, symbol) == 0) return i;
  }
  KernelSummary *kernel = VEC_PUSH(&report->kernels, report->arena);
  kernel->name = kernel->symbol = keep(report, symbol);
  return report->kernels.count - 1;
}

static bool add_launch(void *context, const GoldenRow *row) {
  Report *report = context;
  uint32_t kernel = kernel_named(report, row->kernel);
  report->kernels.items[kernel].launches++;
  report->kernels.items[kernel].cycles += row->cycles;
  report->cycles = max_u64(report->cycles, row->began_at + row->cycles);
  LaunchSummary *launch = VEC_PUSH(&report->launches, report->arena);
  launch->launch = row->launch;
  launch->kernel = kernel;
  launch->source = row->source;
  launch->began_at = row->began_at;
  launch->cycles = row->cycles;
  launch->thread_instructions = row->thread_instructions;
  launch->warp_instructions = row->warp_instructions;
  return true;
}

static LaunchSummary *find_launch(Report *report, uint32_t number) {
  uint32_t low = 0, high = report->launches.count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (report->launches.items[middle].launch < number) low = middle + 1;
    else high = middle;
  }
  return low < report->launches.count && report->launches.items[low].launch == number ? &report->launches.items[low] : NULL;
}

// Where the structure's part is, or would be.
static uint32_t part_place(const MixedTally *tally, uint32_t structure) {
  uint32_t low = 0, high = tally->parts.count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (tally->parts.items[middle].structure < structure) low = middle + 1;
    else high = middle;
  }
  return low;
}

const Tally *mixed_part(const MixedTally *tally, uint32_t structure) {
  static const Tally none;
  uint32_t place = part_place(tally, structure);
  bool is_there = place < tally->parts.count && tally->parts.items[place].structure == structure;
  return is_there ? &tally->parts.items[place].tally : &none;
}

// A fault in a structure; past the last: in none that the journal has.
static void mixed_add(Report *report, MixedTally *tally, uint8_t outcome, uint32_t structure) {
  bool is_known = structure < report->structures.count;
  tally_add(&tally->all, outcome, 1, is_known ? report->structures.items[structure].weight * report->structures.items[structure].drawn : 1);
  if (!is_known) return;
  uint32_t place = part_place(tally, structure);
  if (place == tally->parts.count || tally->parts.items[place].structure != structure) {
    (void)VEC_PUSH(&tally->parts, report->arena);
    TallyPart *at = &tally->parts.items[place];
    memmove(at + 1, at, (tally->parts.count - 1 - place) * sizeof *at);
    *at = (TallyPart){.structure = structure};
  }
  tally_add(&tally->parts.items[place].tally, outcome, 1, 1);
}

// The line's tally; a line seen for the first time is put where the order wants it.
static MixedTally *line_tally(Report *report, uint32_t source, uint32_t line) {
  uint32_t low = 0, high = report->lines.count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    const LineSummary *at = &report->lines.items[middle];
    if (at->source < source || (at->source == source && at->line < line)) low = middle + 1;
    else high = middle;
  }
  bool is_there = low < report->lines.count && report->lines.items[low].line == line && report->lines.items[low].source == source;
  if (!is_there) {
    (void)VEC_PUSH(&report->lines, report->arena);
    LineSummary *at = &report->lines.items[low];
    memmove(at + 1, at, (report->lines.count - 1 - low) * sizeof *at);
    *at = (LineSummary){.source = source, .line = line};
  }
  return &report->lines.items[low].tally;
}

// The cycles of the window; of a kernel those from its first launch to the end of its last.
static void set_window(Report *report) {
  const char *window = report->meta->window;
  report->until = report->cycles;
  if (strncmp(window, "kernel:", 7) == 0) {
    uint64_t first = report->cycles, last = 0;
    for (uint32_t i = 0; i < report->launches.count; i++) {
      const LaunchSummary *launch = &report->launches.items[i];
      if (strcmp(report->kernels.items[launch->kernel].symbol, window + 7) != 0) continue;
      first = min_u64(first, launch->began_at);
      last = max_u64(last, launch->began_at + launch->cycles);
    }
    if (first < last) report->from = first, report->until = last;
  }
  uint64_t first, last;
  if (sscanf(window, "cycles:%" SCNu64 "-%" SCNu64, &first, &last) == 2 && first < last) report->from = first, report->until = last;
}

uint64_t report_slice_start(const Report *report, uint32_t slice) {
  return report->from + (report->until - report->from) * slice / REPORT_SLICES;
}

// The last slice that starts at or before the cycle.
static uint32_t slice_of_cycle(const Report *report, uint64_t cycle) {
  uint32_t slice = (uint32_t)min_u64((cycle - report->from) * REPORT_SLICES / (report->until - report->from), REPORT_SLICES - 1);
  while (slice + 1 < REPORT_SLICES && report_slice_start(report, slice + 1) <= cycle) slice++;
  return slice;
}

// How many faults each structure has, and so what each of them weighs; how many in all.
static bool count_faults(Report *report, uint64_t *counted) {
  Query *query = journal_query(report->journal, "SELECT structure, count(*) FROM results GROUP BY structure");
  *counted = 0;
  while (query_next(query)) {
    uint64_t faults = (uint64_t)query_cell(query, 1).integer;
    for (uint32_t i = 0; i < report->structures.count; i++) {
      StructureSummary *structure = &report->structures.items[i];
      if (strcmp(structure->name, query_cell(query, 0).text) == 0) structure->weight = (double)structure->bits / (double)faults;
    }
    *counted += faults;
  }
  return query_end(query);
}

// Their C++ names.
static bool name_kernels(Report *report) {
  Query *query = journal_query(report->journal, "SELECT DISTINCT kernel, name FROM launches WHERE name IS NOT NULL");
  while (query_next(query)) {
    uint32_t kernel = kernel_named(report, query_cell(query, 0).text); // may move the items
    report->kernels.items[kernel].name = keep(report, query_cell(query, 1).text);
  }
  return query_end(query);
}

static bool add_drawn(void *context, const DrawnRow *row) {
  Report *report = context;
  LaunchSummary *launch = find_launch(report, row->launch);
  bool is_slice = row->slice >= 0 && row->slice < REPORT_SLICES;
  MixedTally *tally = is_slice ? &report->slices[row->slice] : launch == NULL ? NULL : &launch->tally;
  for (uint32_t i = 0; i < report->structures.count && tally != NULL; i++) {
    if (report->structures.items[i].region == row->region) tally->drawn[i] = row->drawn;
  }
  return true;
}

static double *drawn_array(const Report *report) {
  double *drawn = ARENA_ARRAY(report->arena, double, report->structures.count + 1);
  for (uint32_t i = 0; i < report->structures.count; i++) drawn[i] = report->structures.items[i].drawn;
  return drawn;
}

// Of a kernel: the mean over the cycles of its launches, as far as they are in the window.
static void set_kernel_drawn(Report *report) {
  for (uint32_t k = 0; k < report->kernels.count; k++) {
    KernelSummary *kernel = &report->kernels.items[k];
    double *drawn = ARENA_ARRAY(report->arena, double, report->structures.count + 1);
    for (uint32_t i = 0; i < report->structures.count; i++) {
      double cycles = 0;
      for (uint32_t l = 0; l < report->launches.count; l++) {
        const LaunchSummary *launch = &report->launches.items[l];
        uint64_t first = max_u64(launch->began_at, report->from), end = min_u64(launch->began_at + launch->cycles, report->until);
        if (launch->kernel != k || end <= first) continue;
        drawn[i] += launch->tally.drawn[i] * (double)(end - first);
        cycles += (double)(end - first);
      }
      drawn[i] = cycles > 0 ? drawn[i] / cycles : 0;
    }
    kernel->tally.drawn = drawn;
  }
}

// How much of each structure is drawn from: in all, in each launch, kernel and slice of time.
static bool set_drawn(Report *report) {
  if (!report_draws_used(report)) return true;
  for (uint32_t i = 0; i < report->structures.count; i++) {
    StructureSummary *structure = &report->structures.items[i];
    structure->tally.undrawn = 1 - structure->drawn;
  }
  for (uint32_t i = 0; i < report->launches.count; i++) report->launches.items[i].tally.drawn = drawn_array(report);
  for (uint32_t i = 0; i < REPORT_SLICES; i++) report->slices[i].drawn = drawn_array(report);
  if (!journal_each_drawn(report->journal, add_drawn, report)) return false;
  set_kernel_drawn(report);
  return true;
}

// Of faults of several structures, by their bits.
static double undrawn_of(const Report *report, const double *drawn) {
  double bits = 0, undrawn = 0;
  for (uint32_t i = 0; i < report->structures.count; i++) {
    const StructureSummary *structure = &report->structures.items[i];
    if (structure->tally.total == 0) continue;
    bits += (double)structure->bits;
    undrawn += (double)structure->bits * (1 - (drawn == NULL ? structure->drawn : drawn[i]));
  }
  return bits > 0 ? undrawn / bits : 0;
}

static void finish_mixed(const Report *report, MixedTally *mixed) {
  if (mixed->drawn == NULL) return;
  mixed->all.undrawn = undrawn_of(report, mixed->drawn);
  for (uint32_t i = 0; i < mixed->parts.count; i++) mixed->parts.items[i].tally.undrawn = 1 - mixed->drawn[mixed->parts.items[i].structure];
}

// Once all faults are there.
static void finish_drawn(Report *report) {
  if (!report_draws_used(report)) return;
  report->all.undrawn = undrawn_of(report, NULL);
  for (uint32_t i = 0; i < report->kernels.count; i++) finish_mixed(report, &report->kernels.items[i].tally);
  for (uint32_t i = 0; i < report->launches.count; i++) finish_mixed(report, &report->launches.items[i].tally);
  for (uint32_t i = 0; i < REPORT_SLICES; i++) finish_mixed(report, &report->slices[i]);
}

// A structure's faults together weigh what its share of the bits is.
static void set_weights(Report *report, uint64_t counted) {
  double bits = 0;
  uint32_t struck = 0;
  for (uint32_t i = 0; i < report->structures.count; i++) {
    const StructureSummary *structure = &report->structures.items[i];
    bits += structure->weight > 0 ? (double)structure->bits : 0;
    struck += structure->weight > 0;
  }
  for (uint32_t i = 0; i < report->structures.count && bits > 0; i++) {
    StructureSummary *structure = &report->structures.items[i];
    structure->weight = struck == 1 ? 1 : structure->weight * (double)counted / bits;
  }
}

static void add_fault(Report *report, const FaultRow *row) {
  uint32_t structure = 0;
  while (structure < report->structures.count && report->structures.items[structure].region != row->region) structure++;
  bool is_known = structure < report->structures.count;
  uint64_t *first = &report->first[row->outcome % OUTCOME_COUNT];
  if (report->all.counts[row->outcome % OUTCOME_COUNT] == 0 || row->id < *first) *first = row->id;
  StructureSummary *of = &report->structures.items[structure];
  tally_add(&report->all, row->outcome, 1, is_known ? of->weight * of->drawn : 1);
  if (is_known) tally_add(&of->tally, row->outcome, 1, 1);
  if (is_known && row->read == 1) tally_add(&of->used, row->outcome, 1, 1);
  if (is_known) of->is_read_known &= row->read >= 0;
  report->settled[row->settled % SETTLED_COUNT]++;
  report->ways[settled_way[row->settled % SETTLED_COUNT]]++;
  report->verified[settled_way[row->settled % SETTLED_COUNT]] += row->verified == 1;
  LaunchSummary *launch = find_launch(report, row->launch);
  if (launch != NULL) {
    mixed_add(report, &launch->tally, row->outcome, structure);
    mixed_add(report, &report->kernels.items[launch->kernel].tally, row->outcome, structure);
  }
  if (row->cycle >= report->from && row->cycle < report->until)
    mixed_add(report, &report->slices[slice_of_cycle(report, row->cycle)], row->outcome, structure);
  if (row->line != 0) mixed_add(report, line_tally(report, launch == NULL ? 0 : launch->source, row->line), row->outcome, structure);
}

// Shares of an unfinished journal are biased, but those of the faults before the first that is missing are not.
static bool choose_faults(Report *report, Journal *journal, const ReportOptions *options, Diags *diags) {
  report->state = journal_state(journal);
  report->is_at_most = strtod(journal_note(journal, NOTE_ASKED_MARGIN), NULL) > 0;
  report->withheld = !report->state.complete && (!options->partial || report->state.sample == 0);
  return report->withheld || journal_limit(journal, report->state.below, diags);
}

// Journals of other programs, and damaged ones, may say anything.
static double asked_confidence(const Journal *journal) {
  double asked = strtod(journal_note(journal, NOTE_ASKED_CONFIDENCE), NULL);
  return confidence_is_possible(asked) ? asked : REPORT_CONFIDENCE;
}

Report *report_read(Journal *journal, const ReportOptions *options, Diags *diags) {
  Arena *arena = arena_new();
  Report *report = ARENA_NEW(arena, Report);
  report->arena = arena;
  report->journal = journal;
  report->meta = report_meta(journal_meta(journal), arena);
  report->confidence = options->confidence > 0 ? options->confidence : asked_confidence(journal);
  uint64_t counted = 0;
  bool good = choose_faults(report, journal, options, diags) && journal_each_structure(journal, add_structure, report) &&
              journal_each_golden(journal, add_launch, report) && name_kernels(report) && count_faults(report, &counted);
  set_weights(report, counted);
  if (good) set_window(report);
  good = good && set_drawn(report);
  if (good) {
    FaultCursor *cursor = journal_faults(journal);
    for (FaultRow row; journal_next_fault(cursor, &row);) add_fault(report, &row);
    good = journal_end_faults(cursor);
    finish_drawn(report);
  }
  if (good) return report;
  if (diags->count == 0) journal_damaged(journal, diags);
  report_free(report);
  return NULL;
}

void report_free(Report *report) {
  if (report != NULL) arena_free(report->arena);
}
