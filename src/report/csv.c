// Everything in a journal as CSV (RFC 4180): one table each for faults, structures, kernels, launches, PTX lines and time.
#include "report/report_internal.h"

#include <inttypes.h>
#include <stdio.h>

enum { PIECE = 1 << 16 };

const char *const csv_names[CSV_COUNT] = {"faults", "campaign", "structures", "kernels", "launches",
                                          "lines",  "time",     "breakdown",  "severity"};

// ---- Faults ----------------------------------------------------------------------------------------

static void add_cell(Text *out, const Cell *cell) {
  switch (cell->kind) {
  case CELL_NULL: break;
  case CELL_INTEGER:
    if (cell->integer >= 0) add_count(out, (uint64_t)cell->integer);
    else text_add(out, "%" PRId64, cell->integer);
    break;
  case CELL_REAL: text_add(out, "%.17g", cell->real); break;
  case CELL_TEXT: text_add_csv_name(out, cell->text); break;
  }
}

// The view `results`, column by column.
static bool add_faults(const Report *report, Writer *writer) {
  Query *query = journal_query(report->journal, "SELECT * FROM results ORDER BY id");
  uint32_t columns = query_columns(query);
  for (uint32_t i = 0; i < columns; i++) text_add(&writer->text, "%s%s", i == 0 ? "" : ",", query_name(query, i));
  add_text(&writer->text, "\n");
  while (writer->good && query_next(query)) {
    for (uint32_t i = 0; i < columns; i++) {
      Cell cell = query_cell(query, i);
      if (i > 0) text_add_bytes(&writer->text, ",", 1);
      add_cell(&writer->text, &cell);
    }
    text_add_bytes(&writer->text, "\n", 1);
    writer_flush(writer, PIECE);
  }
  return query_end(query);
}

// ---- Summaries -------------------------------------------------------------------------------------

static void add_estimate_head(Text *out, const char *key) { text_add(out, ",%s,%s_low,%s_high", key, key, key); }

// Not known: three empty cells.
void csv_estimate(Text *out, Estimate estimate) {
  if (estimate.is_known) text_add(out, ",%.9g,%.9g,%.9g", estimate.value, estimate.low, estimate.high);
  else add_text(out, ",,,");
}

static void add_tally_head(Text *out) {
  text_add(out, "faults");
  for (uint32_t i = 0; i < OUTCOME_COUNT; i++) text_add(out, ",%s", outcome_info[i].name);
  for (uint32_t m = 0; m < MEASURES; m++) add_estimate_head(out, measures[m].key);
  add_text(out, "\n");
}

static void add_counts(Text *out, const Tally *tally) {
  text_add(out, "%" PRIu64, tally->total);
  for (uint32_t i = 0; i < OUTCOME_COUNT; i++) text_add(out, ",%" PRIu64, tally->counts[i]);
}

static void add_tally(const Report *report, Text *out, const Tally *tally) {
  add_counts(out, tally);
  for (uint32_t m = 0; m < MEASURES; m++) csv_estimate(out, report_estimate(report, tally, (Measure)m));
  add_text(out, "\n");
}

static void add_mixed(const Report *report, Text *out, const MixedTally *tally) {
  add_counts(out, &tally->all);
  for (uint32_t m = 0; m < MEASURES; m++) csv_estimate(out, mixed_estimate(report, tally, (Measure)m));
  add_text(out, "\n");
}

static void add_key_estimate(Text *out, const char *prefix, const char *key, Estimate estimate) {
  const char *parts[] = {"", "_low", "_high"};
  double values[] = {estimate.value, estimate.low, estimate.high};
  for (size_t i = 0; i < COUNT_OF(parts); i++) {
    if (estimate.is_known) text_add(out, "%s%s%s,%.9g\n", prefix, key, parts[i], values[i]);
    else text_add(out, "%s%s%s,\n", prefix, key, parts[i]);
  }
}

static void add_campaign(const Report *report, Text *out) {
  const JournalMeta *meta = report->meta;
  const struct {
    const char *key, *value;
  } rows[] = {
      {"target", meta->target},     {"arguments", meta->arguments},   {"machine", meta->machine},
      {"settings", meta->settings}, {"model", meta->model},           {"protection", meta->protection},
      {"window", meta->window},     {"structures", meta->structures}, {"draw", report_draws_used(report) ? "used" : "all"},
  };
  text_add(out, "key,value\n");
  for (size_t i = 0; i < COUNT_OF(rows); i++) {
    text_add(out, "%s,", rows[i].key);
    text_add_csv(out, rows[i].value);
    text_add_bytes(out, "\n", 1);
  }
  text_add(out,
           "seed,%" PRIu64 "\ntimeout,%" PRIu64 "\nprogram_hash,%016" PRIx64 "\nlayout_hash,%016" PRIx64 "\nshard,%" PRIu64
           "\nshards,%" PRIu64 "\n",
           meta->seed, meta->timeout, meta->program_hash, meta->layout_hash, meta->shard, meta->shards);
  text_add(out, "confidence,%.9g\ncycles,%" PRIu64 "\nboards,%u\nfaults,%" PRIu64 "\n", report->confidence, report->cycles,
           report_boards(report), report->all.total);
  for (uint32_t i = 0; i < SETTLED_COUNT; i++) text_add(out, "settled_%s,%" PRIu64 "\n", settled_text[i], report->settled[i]);
  for (uint32_t i = 0; i < WAY_COUNT; i++)
    text_add(out, "way_%s,%" PRIu64 "\nverified_%s,%" PRIu64 "\n", way_text[i], report->ways[i], way_text[i], report->verified[i]);
  text_add(out, "bits,%.0f\nstruck_bits,%.0f\ncomplete,%d\nasked,%" PRIu64 "\ndone,%" PRIu64 "\nshares_withheld,%d\n", report_bits(report),
           report_struck_bits(report), report->state.complete, report->state.asked, report->state.done, report->withheld);
  for (uint32_t i = 0; i < NOTE_COUNT; i++) {
    const char *value = journal_note(report->journal, (JournalNote)i);
    if (i == NOTE_COMPLETE) continue; // it stands above, checked
    text_add(out, "%s,", note_keys[i]);
    text_add_csv(out, value);
    add_text(out, "\n");
  }
  for (uint32_t m = 0; m < MEASURES; m++) {
    add_key_estimate(out, "weighted_", measures[m].key, report_chip(report, (Measure)m));
    add_key_estimate(out, "fit_", measures[m].key, report_fit(report, (Measure)m));
  }
  Text without = {0}; // structures that were struck and have no rate
  for (uint32_t i = 0; i < report->structures.count; i++) {
    if (structure_lacks_rate(&report->structures.items[i])) text_add(&without, " %s", report->structures.items[i].name);
  }
  Text intervals = {0};
  report_rates_text(report, &intervals);
  add_text(out, "fit_intervals,"); // what they hold
  text_add_csv(out, intervals.at);
  add_text(out, "\n");
  text_free(&intervals);
  add_text(out, "fit_without,");
  if (without.length > 0) text_add_csv_name(out, without.at + 1);
  add_text(out, "\n");
  text_free(&without);
  add_key_estimate(out, "", "cycles_between_sdc", report_cycles_between_sdc(report));
}

static void add_known(Text *out, double value) { // 0: not known
  if (value > 0) text_add(out, ",%.9g", value);
  else add_text(out, ",");
}

static void add_structures(const Report *report, Text *out) {
  add_text(out, "structure,title,origin,stands_for,bits,resident,needed,drawn,fit_per_mbit,fit_factor");
  add_estimate_head(out, "used");
  add_estimate_head(out, "used_avf");
  add_estimate_head(out, "resident_avf");
  add_estimate_head(out, "needed_avf");
  for (uint32_t m = 0; m < MEASURES; m++) {
    char key[32];
    snprintf(key, sizeof key, "fit_%s", measures[m].key);
    add_estimate_head(out, key);
  }
  add_text(out, ",");
  add_tally_head(out);
  for (uint32_t i = 0; i < report->structures.count; i++) {
    const StructureSummary *at = &report->structures.items[i];
    const char *why;
    text_add_csv_name(out, at->name);
    add_text(out, ",");
    text_add_csv(out, at->title);
    add_text(out, ",");
    text_add_csv(out, at->origin);
    add_text(out, ",");
    text_add_csv(out, at->stands_for);
    text_add(out, ",%" PRIu64, at->bits);
    add_known(out, at->resident);
    add_known(out, at->needed);
    text_add(out, ",%.9g", at->drawn);
    add_known(out, at->fit_per_mbit);
    add_known(out, at->fit_per_mbit > 0 ? structure_rate_factor(report, at) : 0);
    csv_estimate(out, structure_used_share(report, at));
    csv_estimate(out, structure_used(report, at, MEASURE_AVF));
    csv_estimate(out, structure_resident(report, at, MEASURE_AVF, &why));
    csv_estimate(out, structure_needed(report, at, MEASURE_AVF, &why));
    for (uint32_t m = 0; m < MEASURES; m++) csv_estimate(out, structure_fit(report, at, (Measure)m));
    add_text(out, ",");
    add_tally(report, out, &at->tally);
  }
}

static void add_kernels(const Report *report, Text *out) {
  text_add(out, "kernel,structure,launches,cycles,");
  add_tally_head(out);
  for (uint32_t i = 0; i < report->kernels.count; i++) {
    const KernelSummary *at = &report->kernels.items[i];
    for (uint32_t k = 0; k <= report->structures.count; k++) {
      bool is_all = k == report->structures.count;
      text_add_csv(out, at->name);
      text_add(out, ",%s,%u,%" PRIu64 ",", is_all ? "all" : report->structures.items[k].name, at->launches, at->cycles);
      if (is_all) add_mixed(report, out, &at->tally);
      else add_tally(report, out, mixed_part(&at->tally, k));
    }
  }
}

static void add_launches(const Report *report, Text *out) {
  text_add(out, "launch,kernel,began_at,cycles,thread_instructions,warp_instructions,");
  add_tally_head(out);
  for (uint32_t i = 0; i < report->launches.count; i++) {
    const LaunchSummary *at = &report->launches.items[i];
    text_add(out, "%u,", at->launch);
    text_add_csv(out, report->kernels.items[at->kernel].name);
    text_add(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",", at->began_at, at->cycles, at->thread_instructions,
             at->warp_instructions);
    add_mixed(report, out, &at->tally);
  }
}

static void add_lines(const Report *report, Text *out) {
  text_add(out, "source,line,");
  add_tally_head(out);
  for (uint32_t i = 0; i < report->lines.count; i++) {
    text_add(out, "%u,%u,", report->lines.items[i].source, report->lines.items[i].line);
    add_mixed(report, out, &report->lines.items[i].tally);
  }
}

static void add_time(const Report *report, Text *out) {
  text_add(out, "cycle,end,");
  add_tally_head(out);
  for (uint32_t i = 0; i < REPORT_SLICES; i++) {
    text_add(out, "%" PRIu64 ",%" PRIu64 ",", report_slice_start(report, i), report_slice_start(report, i + 1));
    add_mixed(report, out, &report->slices[i]);
  }
}

// Outcomes by places and readers, or the SDCs by how wrong they are.
static bool add_breakdowns(const Report *report, bool errors, Text *out) {
  Diags ignored = {0}; // who asked is told that the journal is damaged
  bool good = true;
  text_add(out, errors ? "by,structure,key,sdcs,share,share_low,share_high\n" : "by,structure,key,of,");
  if (!errors) add_tally_head(out);
  for (uint32_t i = 0; i < breakdown_count && good; i++) {
    Breakdown breakdown;
    if ((breakdowns[i].kind == BY_ERROR) != errors) continue;
    good = report_breakdown(report, i, &breakdown, &ignored);
    for (uint32_t k = 0; k < breakdown.rows.count && good; k++) {
      const BreakdownRow *row = &breakdown.rows.items[k];
      text_add(out, "%s,", breakdowns[i].name);
      text_add_csv_name(out, row->structure);
      add_text(out, ",");
      text_add_csv_name(out, row->key);
      add_text(out, ",");
      if (!errors) add_text(out, report_draws_used(report) ? "used," : "all,");
      if (!errors) add_tally(report, out, &row->tally);
      if (errors) add_count(out, row->tally.total);
      if (errors) csv_estimate(out, breakdown_share(report, row));
      if (errors) add_text(out, "\n");
    }
  }
  diags_free(&ignored);
  return good;
}

bool report_csv(const Report *report, CsvTable table, const Sink *sink) {
  static void (*const tables[CSV_COUNT])(const Report *, Text *) = {
      [CSV_CAMPAIGN] = add_campaign, [CSV_STRUCTURES] = add_structures, [CSV_KERNELS] = add_kernels,
      [CSV_LAUNCHES] = add_launches, [CSV_LINES] = add_lines,           [CSV_TIME] = add_time,
  };
  Writer writer = {.sink = sink, .good = true};
  bool good = true;
  if (table == CSV_FAULTS) good = add_faults(report, &writer);
  else if (table >= CSV_BREAKDOWN) good = add_breakdowns(report, table == CSV_SEVERITY, &writer.text);
  else tables[table](report, &writer.text);
  return writer_end(&writer) && good;
}
