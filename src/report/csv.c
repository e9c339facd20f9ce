// Everything in a journal as CSV (RFC 4180): one table each for faults, structures, kernels, launches, PTX lines and time.
#include "report/report_internal.h"

#include <inttypes.h>
#include <math.h>

enum { PIECE = 1 << 16 };

const char *const csv_names[CSV_COUNT] = {"faults", "campaign", "structures", "kernels", "launches", "lines", "time"};

// ---- Faults ----------------------------------------------------------------------------------------

static void add_named(Text *out, const char *text) {
  text_add_bytes(out, ",", 1);
  add_text(out, text);
}

static void add_counted(Text *out, uint64_t count) {
  text_add_bytes(out, ",", 1);
  add_count(out, count);
}

static void add_fault(const Report *report, Text *out, const FaultRow *row) {
  const StructureSummary *structure = report_structure(report, row->region);
  add_count(out, row->id);
  text_add_bytes(out, ",", 1);
  text_add_csv(out, row->fault);
  text_add_bytes(out, ",", 1);
  text_add_csv_name(out, structure == NULL ? "" : structure->name);
  add_counted(out, row->cycle);
  add_counted(out, row->launch);
  add_counted(out, row->line);
  add_named(out, outcome_info[row->outcome].name);
  add_named(out, outcome_info[row->outcome].group);
  add_named(out, settled_text[row->settled]);
  add_counted(out, row->class_of);
  add_counted(out, row->cycles);
  add_counted(out, row->wrong);
  if (row->worst == 0) add_text(out, ",0,"); // of nearly all faults
  else text_add(out, ",%.17g,", row->worst);
  text_add_csv(out, row->note);
  text_add_bytes(out, "\n", 1);
}

static bool add_faults(const Report *report, Writer *writer) {
  text_add(&writer->text, "id,fault,structure,cycle,launch,line,outcome,group,settled,class_of,cycles,wrong,worst,note\n");
  FaultCursor *cursor = journal_faults(report->journal);
  for (FaultRow row; writer->good && journal_next_fault(cursor, &row);) {
    add_fault(report, &writer->text, &row);
    writer_flush(writer, PIECE);
  }
  return journal_end_faults(cursor);
}

// ---- Summaries -------------------------------------------------------------------------------------

static void add_tally_head(Text *out) {
  text_add(out, "faults");
  for (uint32_t i = 0; i < OUTCOME_COUNT; i++) text_add(out, ",%s", outcome_info[i].name);
  text_add(out, ",avf,avf_low,avf_high\n");
}

static void add_tally(const Report *report, Text *out, const Tally *tally) {
  Interval avf = tally_interval(tally, tally_avf(tally), report->confidence);
  text_add(out, "%" PRIu64, tally->total);
  for (uint32_t i = 0; i < OUTCOME_COUNT; i++) text_add(out, ",%" PRIu64, tally->counts[i]);
  text_add(out, ",%.9g,%.9g,%.9g\n", tally_avf(tally), avf.low, avf.high);
}

static void add_campaign(const Report *report, Text *out) {
  const JournalMeta *meta = report->meta;
  const struct {
    const char *key, *value;
  } rows[] = {
      {"target", meta->target}, {"arguments", meta->arguments},   {"machine", meta->machine}, {"settings", meta->settings},
      {"model", meta->model},   {"protection", meta->protection}, {"window", meta->window},   {"structures", meta->structures},
  };
  ChipSummary chip = report_chip(report);
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
  text_add(out, "confidence,%.9g\ncycles,%" PRIu64 "\nfaults,%" PRIu64 "\n", report->confidence, report->cycles, report->all.total);
  for (uint32_t i = 0; i < SETTLED_COUNT; i++) text_add(out, "settled_%s,%" PRIu64 "\n", settled_text[i], report->settled[i]);
  text_add(out, "weighted_avf,%.9g\nbits,%.0f\nfit,%.9g\ncycles_between_sdc,%.9g\n", chip.avf, chip.bits, chip.fit,
           report_cycles_between_sdc(report));
}

static void add_structures(const Report *report, Text *out) {
  text_add(out, "structure,title,bits,used,used_avf,fit_per_mbit,fit,");
  add_tally_head(out);
  for (uint32_t i = 0; i < report->structures.count; i++) {
    const StructureSummary *at = &report->structures.items[i];
    double avf = tally_avf(&at->tally);
    text_add_csv_name(out, at->name);
    text_add_bytes(out, ",", 1);
    text_add_csv(out, at->title);
    text_add(out, ",%" PRIu64 ",%.9g,%.9g,%.9g,%.9g,", at->bits, at->used, at->used > 0 ? fmin(avf / at->used, 1) : 0, at->fit_per_mbit,
             structure_fit(at, avf));
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
      text_add_bytes(out, ",", 1);
      text_add_csv_name(out, is_all ? "all" : report->structures.items[k].name);
      text_add(out, ",%u,%" PRIu64 ",", at->launches, at->cycles);
      add_tally(report, out, is_all ? &at->tally : &at->by_structure[k]);
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
    add_tally(report, out, &at->tally);
  }
}

static void add_lines(const Report *report, Text *out) {
  text_add(out, "line,");
  add_tally_head(out);
  for (uint32_t i = 0; i < report->lines.count; i++) {
    text_add(out, "%u,", report->lines.items[i].line);
    add_tally(report, out, &report->lines.items[i].tally);
  }
}

static void add_time(const Report *report, Text *out) {
  text_add(out, "cycle,end,");
  add_tally_head(out);
  for (uint32_t i = 0; i < REPORT_SLICES; i++) {
    text_add(out, "%" PRIu64 ",%" PRIu64 ",", report_slice_start(report, i), report_slice_start(report, i + 1));
    add_tally(report, out, &report->slices[i]);
  }
}

bool report_csv(const Report *report, CsvTable table, const Sink *sink) {
  static void (*const tables[CSV_COUNT])(const Report *, Text *) = {
      [CSV_CAMPAIGN] = add_campaign, [CSV_STRUCTURES] = add_structures, [CSV_KERNELS] = add_kernels,
      [CSV_LAUNCHES] = add_launches, [CSV_LINES] = add_lines,           [CSV_TIME] = add_time,
  };
  Writer writer = {.sink = sink, .good = true};
  bool good = true;
  if (table == CSV_FAULTS) good = add_faults(report, &writer);
  else tables[table](report, &writer.text);
  return writer_end(&writer) && good;
}
