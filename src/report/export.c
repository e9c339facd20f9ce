// Everything in a journal as JSON: the summaries, which the page shows too, and every fault.
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

static json_t *json_share(const Tally *tally, uint64_t faults, double share, double confidence) {
  Interval interval = tally_interval(tally, share, confidence);
  return json_pack("{s:I, s:f, s:f, s:f}", "faults", (json_int_t)faults, "share", share, "low", interval.low, "high", interval.high);
}

static json_t *json_tally(const Tally *tally, double confidence) {
  json_t *object = json_object(), *counts = json_object(), *groups = json_object();
  for (uint32_t i = 0; i < OUTCOME_COUNT; i++) json_object_set_new(counts, outcome_info[i].name, count_of(tally->counts[i]));
  for (uint32_t g = 0; g < REPORT_GROUPS; g++) {
    const char *group = report_groups[g];
    json_object_set_new(groups, group, json_share(tally, tally_group(tally, group), tally_share(tally, group), confidence));
  }
  json_object_set_new(object, "faults", count_of(tally->total));
  json_object_set_new(object, "outcomes", counts);
  json_object_set_new(object, "groups", groups);
  json_object_set_new(object, "avf", json_share(tally, tally_vulnerable(tally), tally_avf(tally), confidence));
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
    const KernelSummary *kernel = &report->kernels.items[i];
    json_t *item = json_tally(&kernel->tally, report->confidence), *structures = json_array();
    json_object_set_new(item, "name", report_string(kernel->name));
    json_object_set_new(item, "launches", count_of(kernel->launches));
    json_object_set_new(item, "cycles", count_of(kernel->cycles));
    for (uint32_t k = 0; k < report->structures.count; k++) {
      json_t *part = json_tally(&kernel->by_structure[k], report->confidence);
      json_object_set_new(part, "name", report_string(report->structures.items[k].name));
      json_array_append_new(structures, part);
    }
    json_object_set_new(item, "structures", structures);
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

static void add_json(Text *out, json_t *value, size_t flags) {
  char *text = json_dumps(value, flags | JSON_ENCODE_ANY);
  ASSERT(text != NULL);
  add_text(out, text);
  free(text);
  json_decref(value);
}

// Nearly all texts can stand as they are.
static void add_string(Text *out, const char *text) {
  size_t length = 0;
  for (unsigned char c; (c = (unsigned char)text[length]) >= 0x20 && c < 0x7f && c != '"' && c != '\\';) length++;
  if (text[length] != '\0') {
    add_json(out, report_string(text), 0);
    return;
  }
  text_add_bytes(out, "\"", 1);
  text_add_bytes(out, text, length);
  text_add_bytes(out, "\"", 1);
}

static void add_real(Text *out, double value, size_t flags) {
  if (value == 0) add_text(out, "0.0");                                        // of nearly all faults
  else add_json(out, isfinite(value) ? json_real(value) : json_null(), flags); // JSON has no infinity
}

static void add_named_count(Text *out, const char *name, uint64_t count) {
  add_text(out, name);
  add_count(out, count);
}

static void add_named_string(Text *out, const char *name, const char *text) {
  add_text(out, name);
  add_string(out, text);
}

void report_fault(const Report *report, const FaultRow *row, size_t reals, Text *out) {
  const StructureSummary *structure = report_structure(report, row->region);
  add_named_count(out, "{\"id\":", row->id);
  add_named_count(out, ",\"cycle\":", row->cycle);
  add_named_count(out, ",\"launch\":", row->launch);
  add_named_count(out, ",\"line\":", row->line);
  add_named_string(out, ",\"outcome\":", outcome_info[row->outcome].name);
  add_named_string(out, ",\"settled\":", settled_text[row->settled]);
  add_named_count(out, ",\"class_of\":", row->class_of);
  add_named_count(out, ",\"cycles\":", row->cycles);
  add_named_count(out, ",\"wrong\":", row->wrong);
  add_named_string(out, ",\"fault\":", row->fault);
  add_named_string(out, ",\"structure\":", structure == NULL ? "" : structure->name);
  add_text(out, ",\"worst\":");
  add_real(out, row->worst, reals);
  add_named_string(out, ",\"note\":", row->note);
  text_add_bytes(out, "}", 1);
}

// The faults come last and one by one: put between the summaries and their closing brace.
bool report_json(const Report *report, const Sink *sink) {
  Writer writer = {.sink = sink, .good = true};
  add_json(&writer.text, report_summary(report), JSON_INDENT(1) | JSON_SORT_KEYS);
  writer.text.length -= strlen("\n}");
  text_add(&writer.text, ",\n \"faults\": [");
  FaultCursor *cursor = journal_faults(report->journal);
  const char *between = "\n  ";
  for (FaultRow row; writer.good && journal_next_fault(cursor, &row); between = ",\n  ") {
    add_text(&writer.text, between);
    report_fault(report, &row, 0, &writer.text);
    writer_flush(&writer, PIECE);
  }
  bool good = journal_end_faults(cursor);
  text_add(&writer.text, "\n ]\n}\n");
  return writer_end(&writer) && good;
}
