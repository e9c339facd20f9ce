// Everything in a journal as JSON: the summaries, which the page shows too, and every fault.
#include "campaign/statistics.h"
#include "report/report_internal.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { PIECE = 1 << 16 };

json_t *report_string(const char *text) {
  json_t *string = json_string(text);
  if (string != NULL) return string;
  Text plain = {0};
  text_add_bytes(&plain, text, strlen(text));
  for (size_t i = 0; i < plain.length; i++) {
    if ((unsigned char)plain.at[i] >= 0x80) plain.at[i] = '?';
  }
  string = json_string(plain.at);
  text_free(&plain);
  return string;
}

static json_t *count_of(uint64_t count) { return json_integer((json_int_t)count); }
static json_t *hash_of(uint64_t hash) { return json_sprintf("%016" PRIx64, hash); }

// ---- Summaries -------------------------------------------------------------------------------------

static json_t *json_share(uint64_t hits, uint64_t total, double confidence) {
  Interval interval = wilson_interval(hits, total, confidence);
  return json_pack("{s:I, s:f, s:f, s:f}", "faults", (json_int_t)hits, "share", total == 0 ? 0.0 : (double)hits / (double)total, "low",
                   interval.low, "high", interval.high);
}

static json_t *json_tally(const Tally *tally, double confidence) {
  json_t *object = json_object(), *counts = json_object(), *groups = json_object();
  for (uint32_t i = 0; i < OUTCOME_COUNT; i++) json_object_set_new(counts, outcome_info[i].name, count_of(tally->counts[i]));
  for (uint32_t g = 0; g < REPORT_GROUPS; g++) {
    json_object_set_new(groups, report_groups[g], json_share(tally_group(tally, report_groups[g]), tally->total, confidence));
  }
  json_object_set_new(object, "faults", count_of(tally->total));
  json_object_set_new(object, "outcomes", counts);
  json_object_set_new(object, "groups", groups);
  json_object_set_new(object, "avf", json_share(tally_vulnerable(tally), tally->total, confidence));
  return object;
}

static json_t *json_meta(const JournalMeta *meta) {
  json_t *object = json_object();
  const struct {
    const char *key, *value;
  } texts[] = {
      {"target", meta->target}, {"arguments", meta->arguments},   {"machine", meta->machine}, {"settings", meta->settings},
      {"model", meta->model},   {"protection", meta->protection}, {"window", meta->window},   {"structures", meta->structures},
  };
  for (size_t i = 0; i < COUNT_OF(texts); i++) json_object_set_new(object, texts[i].key, report_string(texts[i].value));
  json_object_set_new(object, "program_hash", hash_of(meta->program_hash));
  json_object_set_new(object, "layout_hash", hash_of(meta->layout_hash));
  json_object_set_new(object, "seed", json_sprintf("%" PRIu64, meta->seed)); // text: more than a double holds
  json_object_set_new(object, "timeout", count_of(meta->timeout));
  json_object_set_new(object, "shard", count_of(meta->shard));
  json_object_set_new(object, "shards", count_of(meta->shards));
  return object;
}

static json_t *json_structures(const Report *report) {
  json_t *array = json_array();
  for (uint32_t i = 0; i < report->structures.count; i++) {
    const StructureSummary *structure = &report->structures.items[i];
    double avf = tally_avf(&structure->tally);
    json_t *item = json_tally(&structure->tally, report->confidence);
    json_object_set_new(item, "name", report_string(structure->name));
    json_object_set_new(item, "title", report_string(structure->title));
    json_object_set_new(item, "bits", count_of(structure->bits));
    json_object_set_new(item, "used", json_real(structure->used));
    json_object_set_new(item, "used_avf", json_real(structure->used > 0 ? fmin(avf / structure->used, 1) : 0));
    json_object_set_new(item, "fit_per_mbit", json_real(structure->fit_per_mbit));
    json_object_set_new(item, "fit", json_real(structure_fit(structure, avf)));
    json_array_append_new(array, item);
  }
  return array;
}

static json_t *json_kernels(const Report *report) {
  json_t *array = json_array();
  for (uint32_t i = 0; i < report->kernels.count; i++) {
    json_t *item = json_tally(&report->kernels.items[i].tally, report->confidence);
    json_object_set_new(item, "name", report_string(report->kernels.items[i].name));
    json_object_set_new(item, "launches", count_of(report->kernels.items[i].launches));
    json_object_set_new(item, "cycles", count_of(report->kernels.items[i].cycles));
    json_array_append_new(array, item);
  }
  return array;
}

static json_t *json_launches(const Report *report) {
  json_t *array = json_array();
  for (uint32_t i = 0; i < report->launches.count; i++) {
    const LaunchSummary *at = &report->launches.items[i];
    json_t *item = json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "launch", (json_int_t)at->launch, "began_at", (json_int_t)at->began_at,
                             "cycles", (json_int_t)at->cycles, "thread_instructions", (json_int_t)at->thread_instructions,
                             "warp_instructions", (json_int_t)at->warp_instructions, "faults", (json_int_t)at->tally.total, "vulnerable",
                             (json_int_t)tally_vulnerable(&at->tally));
    json_object_set_new(item, "kernel", report_string(report->kernels.items[at->kernel].name));
    json_array_append_new(array, item);
  }
  return array;
}

static json_t *json_lines(const Report *report) {
  json_t *array = json_array();
  for (uint32_t i = 0; i < report->lines.count; i++) {
    json_t *item = json_tally(&report->lines.items[i].tally, report->confidence);
    json_object_set_new(item, "line", count_of(report->lines.items[i].line));
    json_array_append_new(array, item);
  }
  return array;
}

static json_t *json_time(const Report *report) {
  json_t *array = json_array();
  for (uint32_t i = 0; i < REPORT_SLICES; i++) {
    json_t *item = json_tally(&report->slices[i], report->confidence);
    json_object_set_new(item, "cycle", count_of(report_slice_start(report, i)));
    json_object_set_new(item, "end", count_of(report_slice_start(report, i + 1)));
    json_array_append_new(array, item);
  }
  return array;
}

json_t *report_summary(const Report *report) {
  json_t *object = json_object(), *settled = json_object();
  ChipSummary chip = report_chip(report);
  for (uint32_t i = 0; i < SETTLED_COUNT; i++) json_object_set_new(settled, settled_text[i], count_of(report->settled[i]));
  json_object_set_new(object, "campaign", json_meta(report->meta));
  json_object_set_new(object, "confidence", json_real(report->confidence));
  json_object_set_new(object, "cycles", count_of(report->cycles));
  json_object_set_new(object, "all", json_tally(&report->all, report->confidence));
  json_object_set_new(object, "settled", settled);
  json_object_set_new(object, "chip", json_pack("{s:f, s:f, s:f}", "avf", chip.avf, "bits", chip.bits, "fit", chip.fit));
  json_object_set_new(object, "cycles_between_sdc", json_real(report_cycles_between_sdc(report)));
  json_object_set_new(object, "structures", json_structures(report));
  json_object_set_new(object, "kernels", json_kernels(report));
  json_object_set_new(object, "launches", json_launches(report));
  json_object_set_new(object, "lines", json_lines(report));
  json_object_set_new(object, "time", json_time(report));
  return object;
}

// ---- Faults ----------------------------------------------------------------------------------------

json_t *report_fault(const Report *report, const FaultRow *row) {
  const StructureSummary *structure = report_structure(report, row->region);
  json_t *object = json_pack("{s:I, s:I, s:I, s:I, s:s, s:s, s:I, s:I, s:I}", "id", (json_int_t)row->id, "cycle", (json_int_t)row->cycle,
                             "launch", (json_int_t)row->launch, "line", (json_int_t)row->line, "outcome", outcome_info[row->outcome].name,
                             "settled", settled_text[row->settled], "class_of", (json_int_t)row->class_of, "cycles",
                             (json_int_t)row->cycles, "wrong", (json_int_t)row->wrong);
  json_object_set_new(object, "fault", report_string(row->fault));
  json_object_set_new(object, "structure", report_string(structure == NULL ? "" : structure->name));
  json_object_set_new(object, "worst", isfinite(row->worst) ? json_real(row->worst) : json_null()); // JSON has no infinity
  json_object_set_new(object, "note", report_string(row->note));
  return object;
}

static void add_json(Text *out, const json_t *value, size_t flags) {
  char *text = json_dumps(value, flags);
  ASSERT(text != NULL);
  text_add_bytes(out, text, strlen(text));
  free(text);
}

// The faults come last and one by one: put between the summaries and their closing brace.
bool report_json(const Report *report, const Sink *sink) {
  Writer writer = {.sink = sink, .good = true};
  json_t *summary = report_summary(report);
  add_json(&writer.text, summary, JSON_INDENT(1) | JSON_SORT_KEYS);
  json_decref(summary);
  writer.text.length -= strlen("\n}");
  text_add(&writer.text, ",\n \"faults\": [");
  FaultCursor *cursor = journal_faults(report->journal);
  const char *between = "\n  ";
  for (FaultRow row; writer.good && journal_next_fault(cursor, &row); between = ",\n  ") {
    json_t *fault = report_fault(report, &row);
    text_add(&writer.text, "%s", between);
    add_json(&writer.text, fault, JSON_COMPACT);
    json_decref(fault);
    writer_flush(&writer, PIECE);
  }
  bool good = journal_end_faults(cursor);
  text_add(&writer.text, "\n ]\n}\n");
  return writer_end(&writer) && good;
}
