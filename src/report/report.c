// One pass over a journal: tallies by structure, kernel, launch, time and PTX line.
#include "report/report.h"

#include <inttypes.h>
#include <stdio.h>

const char *const report_groups[REPORT_GROUPS] = {"masked", "performance", "sdc", "due", "detected", "corrected", "internal"};

// ---- Tallies ---------------------------------------------------------------------------------------

void tally_add(Tally *tally, uint8_t outcome, double weight) {
  tally->total++;
  tally->counts[outcome % OUTCOME_COUNT]++;
  tally->weight += weight;
  tally->squares += weight * weight;
  tally->weights[outcome % OUTCOME_COUNT] += weight;
}

uint64_t tally_group(const Tally *tally, const char *group) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < OUTCOME_COUNT; i++) sum += strcmp(outcome_info[i].group, group) == 0 ? tally->counts[i] : 0;
  return sum;
}

bool outcome_is_vulnerable(uint8_t outcome) {
  const char *group = outcome_info[outcome % OUTCOME_COUNT].group;
  return strcmp(group, "sdc") == 0 || strcmp(group, "due") == 0 || strcmp(group, "detected") == 0;
}

uint64_t tally_vulnerable(const Tally *tally) {
  return tally_group(tally, "sdc") + tally_group(tally, "due") + tally_group(tally, "detected");
}

double tally_share(const Tally *tally, const char *group) {
  double sum = 0;
  for (uint32_t i = 0; i < OUTCOME_COUNT; i++) sum += strcmp(outcome_info[i].group, group) == 0 ? tally->weights[i] : 0;
  return tally->weight <= 0 ? 0 : sum / tally->weight;
}

double tally_avf(const Tally *tally) { return tally_share(tally, "sdc") + tally_share(tally, "due") + tally_share(tally, "detected"); }

Interval tally_interval(const Tally *tally, double share, double confidence) {
  return wilson_share(share, tally->squares <= 0 ? 0 : tally->weight * tally->weight / tally->squares, confidence);
}

// ---- What is derived -------------------------------------------------------------------------------

double structure_fit(const StructureSummary *structure, double avf) {
  return (double)structure->bits / (1 << 20) * structure->fit_per_mbit * avf;
}

// Of a structure that no fault has struck, those of the others tell as much as is known.
ChipSummary report_chip(const Report *report) {
  ChipSummary chip = {0};
  for (uint32_t i = 0; i < report->structures.count && report->all.total > 0; i++) {
    const StructureSummary *structure = &report->structures.items[i];
    double avf = tally_avf(structure->tally.total > 0 ? &structure->tally : &report->all);
    chip.avf += avf * (double)structure->bits;
    chip.bits += (double)structure->bits;
    chip.fit += structure_fit(structure, avf);
  }
  if (chip.bits > 0) chip.avf /= chip.bits;
  return chip;
}

double report_cycles_between_sdc(const Report *report) {
  double wrong = tally_share(&report->all, "sdc");
  return wrong <= 0 ? 0 : (double)report->cycles / wrong;
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
  to->used = row->used;
  to->fit_per_mbit = row->raw_fit_per_mbit;
  return true;
}

static uint32_t kernel_named(Report *report, const char *name) {
  for (uint32_t i = 0; i < report->kernels.count; i++) {
    if (strcmp(report->kernels.items[i].name, name) == 0) return i;
  }
  KernelSummary *kernel = VEC_PUSH(&report->kernels, report->arena);
  kernel->name = keep(report, name);
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

// The line's tally; a line seen for the first time is put where the order wants it.
static Tally *line_tally(Report *report, uint32_t line) {
  uint32_t low = 0, high = report->lines.count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (report->lines.items[middle].line < line) low = middle + 1;
    else high = middle;
  }
  if (low == report->lines.count || report->lines.items[low].line != line) {
    (void)VEC_PUSH(&report->lines, report->arena);
    LineSummary *at = &report->lines.items[low];
    memmove(at + 1, at, (report->lines.count - 1 - low) * sizeof *at);
    *at = (LineSummary){.line = line};
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
      if (strcmp(report->kernels.items[launch->kernel].name, window + 7) != 0) continue;
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

static bool count_faults(void *context, uint16_t region, uint64_t faults) {
  Report *report = context;
  for (uint32_t i = 0; i < report->structures.count; i++) {
    StructureSummary *structure = &report->structures.items[i];
    if (structure->region == region && faults > 0) structure->weight = (double)structure->bits / (double)faults;
  }
  report->counted += faults;
  return true;
}

// A structure's faults together weigh what its share of the bits is.
static void set_weights(Report *report) {
  double bits = 0;
  uint32_t struck = 0;
  for (uint32_t i = 0; i < report->structures.count; i++) {
    const StructureSummary *structure = &report->structures.items[i];
    bits += structure->weight > 0 ? (double)structure->bits : 0;
    struck += structure->weight > 0;
  }
  for (uint32_t i = 0; i < report->structures.count && bits > 0; i++) {
    StructureSummary *structure = &report->structures.items[i];
    structure->weight = struck == 1 ? 1 : structure->weight * (double)report->counted / bits;
  }
}

static void add_fault(Report *report, const FaultRow *row) {
  StructureSummary *structure = NULL;
  uint32_t number = 0;
  while (number < report->structures.count && report->structures.items[number].region != row->region) number++;
  if (number < report->structures.count) structure = &report->structures.items[number];
  double weight = structure == NULL ? 1 : structure->weight;
  tally_add(&report->all, row->outcome, weight);
  report->settled[row->settled % SETTLED_COUNT]++;
  LaunchSummary *launch = find_launch(report, row->launch);
  if (structure != NULL) tally_add(&structure->tally, row->outcome, 1);
  if (launch != NULL) {
    KernelSummary *kernel = &report->kernels.items[launch->kernel];
    tally_add(&launch->tally, row->outcome, weight);
    tally_add(&kernel->tally, row->outcome, weight);
    if (structure != NULL) tally_add(&kernel->by_structure[number], row->outcome, 1);
  }
  if (row->cycle >= report->from && row->cycle < report->until)
    tally_add(&report->slices[slice_of_cycle(report, row->cycle)], row->outcome, weight);
  if (row->line != 0) tally_add(line_tally(report, row->line), row->outcome, weight);
}

Report *report_read(const Journal *journal, double confidence, Diags *diags) {
  Arena *arena = arena_new();
  Report *report = ARENA_NEW(arena, Report);
  report->arena = arena;
  report->journal = journal;
  report->meta = journal_meta(journal);
  report->confidence = confidence;
  bool good = journal_each_structure(journal, add_structure, report) && journal_each_golden(journal, add_launch, report) &&
              journal_each_count(journal, count_faults, report);
  set_weights(report);
  for (uint32_t i = 0; i < report->kernels.count; i++)
    report->kernels.items[i].by_structure = ARENA_ARRAY(arena, Tally, report->structures.count + 1);
  if (good) {
    set_window(report);
    FaultCursor *cursor = journal_faults(journal);
    for (FaultRow row; journal_next_fault(cursor, &row);) add_fault(report, &row);
    good = journal_end_faults(cursor);
  }
  if (good) return report;
  journal_damaged(journal, diags);
  report_free(report);
  return NULL;
}

void report_free(Report *report) {
  if (report != NULL) arena_free(report->arena);
}
