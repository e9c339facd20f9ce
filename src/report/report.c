// One pass over a journal: tallies by structure, kernel, time and PTX line.
#include "report/report.h"

#include <stdio.h>
#include <stdlib.h>

void tally_add(Tally *tally, uint8_t outcome) {
  tally->total++;
  tally->counts[outcome % OUTCOME_COUNT]++;
}

uint64_t tally_group(const Tally *tally, const char *group) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < OUTCOME_COUNT; i++) sum += strcmp(outcome_info[i].group, group) == 0 ? tally->counts[i] : 0;
  return sum;
}

uint64_t tally_vulnerable(const Tally *tally) {
  return tally_group(tally, "sdc") + tally_group(tally, "due") + tally_group(tally, "detected");
}

double structure_fit(const StructureSummary *structure, double avf) {
  return (double)structure->bits / (1 << 20) * structure->fit_per_mbit * avf;
}

static bool add_structure(void *context, const StructureRow *row) {
  Report *report = context;
  if (report->structure_count == REPORT_MOST_STRUCTURES) return true;
  StructureSummary *to = &report->structures[report->structure_count++];
  snprintf(to->name, sizeof to->name, "%s", row->name);
  snprintf(to->title, sizeof to->title, "%s", row->title);
  to->region = row->region;
  to->bits = row->rows * row->units * row->bits;
  to->used = row->used;
  to->fit_per_mbit = row->raw_fit_per_mbit;
  return true;
}

static uint32_t kernel_named(Report *report, const char *name) {
  for (uint32_t i = 0; i < report->kernel_count; i++) {
    if (strcmp(report->kernels[i].name, name) == 0) return i;
  }
  if (report->kernel_count == COUNT_OF(report->kernels)) return report->kernel_count - 1; // the last stands for the rest
  snprintf(report->kernels[report->kernel_count].name, sizeof report->kernels[0].name, "%s", name);
  return report->kernel_count++;
}

static bool add_launch(void *context, const GoldenRow *row) {
  Report *report = context;
  uint32_t kernel = kernel_named(report, row->kernel);
  report->kernels[kernel].launches++;
  report->kernels[kernel].cycles += row->cycles;
  report->cycles = row->began_at + row->cycles > report->cycles ? row->began_at + row->cycles : report->cycles;
  if (row->launch < REPORT_MOST_LAUNCHES) report->kernel_of_launch[row->launch] = kernel + 1;
  return true;
}

static Tally *line_tally(Report *report, uint32_t line) {
  for (uint32_t i = 0; i < report->line_count; i++) {
    if (report->lines[i].line == line) return &report->lines[i].tally;
  }
  if (report->line_count == REPORT_MOST_LINES) return NULL;
  report->lines[report->line_count] = (LineSummary){.line = line};
  return &report->lines[report->line_count++].tally;
}

static bool add_fault(void *context, const FaultRow *row) {
  Report *report = context;
  tally_add(&report->all, row->outcome);
  report->settled[row->settled % SETTLED_COUNT]++;
  for (uint32_t i = 0; i < report->structure_count; i++) {
    if (report->structures[i].region == row->region) tally_add(&report->structures[i].tally, row->outcome);
  }
  uint32_t kernel = row->launch < REPORT_MOST_LAUNCHES ? report->kernel_of_launch[row->launch] : 0;
  if (kernel > 0) tally_add(&report->kernels[kernel - 1].tally, row->outcome);
  if (report->cycles > 0) tally_add(&report->slices[min_u64(row->cycle * REPORT_SLICES / report->cycles, REPORT_SLICES - 1)], row->outcome);
  Tally *line = row->line == 0 ? NULL : line_tally(report, row->line);
  if (line != NULL) tally_add(line, row->outcome);
  return true;
}

static int by_line(const void *a, const void *b) {
  uint32_t left = ((const LineSummary *)a)->line, right = ((const LineSummary *)b)->line;
  return left < right ? -1 : left > right;
}

Report *report_read(const Journal *journal, double confidence) {
  Arena *arena = arena_new();
  Report *report = ARENA_NEW(arena, Report);
  report->arena = arena;
  report->journal = journal;
  report->meta = journal_meta(journal);
  report->confidence = confidence;
  report->kernel_of_launch = ARENA_ARRAY(arena, uint32_t, REPORT_MOST_LAUNCHES);
  report->lines = ARENA_ARRAY(arena, LineSummary, REPORT_MOST_LINES);
  journal_each_structure(journal, add_structure, report);
  journal_each_golden(journal, add_launch, report);
  journal_each_fault(journal, add_fault, report);
  qsort(report->lines, report->line_count, sizeof *report->lines, by_line);
  return report;
}

void report_free(Report *report) {
  if (report != NULL) arena_free(report->arena);
}
