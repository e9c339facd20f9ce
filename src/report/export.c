// Everything in a journal as CSV and JSON.
#include "campaign/statistics.h"
#include "report/report_internal.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

static void add_quoted(Text *out, const char *text) {
  text_add(out, "\"");
  for (; *text != '\0'; text++) text_add(out, *text == '"' ? "\"\"" : "%c", *text);
  text_add(out, "\"");
}

static bool csv_row(void *context, const FaultRow *row) {
  Text *out = context;
  text_add(out, "%" PRIu64 ",", row->id);
  add_quoted(out, row->fault);
  text_add(out, ",%" PRIu64 ",%u,%u,%s,%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%.9g,", row->cycle, row->launch, row->line,
           outcome_info[row->outcome].name, settled_text[row->settled], row->class_of, row->cycles, row->wrong, row->worst);
  add_quoted(out, row->note);
  text_add(out, "\n");
  return true;
}

bool report_csv(const Journal *journal, Text *out) {
  text_add(out, "id,fault,cycle,launch,line,outcome,settled,class_of,cycles,wrong,worst,note\n");
  return journal_each_fault(journal, csv_row, out);
}

static json_t *json_tally(const Tally *tally, double confidence) {
  json_t *object = json_object(), *counts = json_object();
  for (uint32_t i = 0; i < OUTCOME_COUNT; i++)
    json_object_set_new(counts, outcome_info[i].name, json_integer((json_int_t)tally->counts[i]));
  Interval avf = wilson_interval(tally_vulnerable(tally), tally->total, confidence);
  json_object_set_new(object, "faults", json_integer((json_int_t)tally->total));
  json_object_set_new(object, "outcomes", counts);
  json_object_set_new(object, "avf", json_real(tally->total == 0 ? 0 : (double)tally_vulnerable(tally) / (double)tally->total));
  json_object_set_new(object, "avf_low", json_real(avf.low));
  json_object_set_new(object, "avf_high", json_real(avf.high));
  return object;
}

static json_t *json_meta(const JournalMeta *meta) {
  return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:I}", "target", meta->target, "arguments", meta->arguments, "machine",
                   meta->machine, "protection", meta->protection, "model", meta->model, "structures", meta->structures, "window",
                   meta->window, "seed", (json_int_t)meta->seed);
}

bool report_fault_json(void *context, const FaultRow *row) {
  json_t *object = json_pack("{s:I, s:s, s:I, s:i, s:i, s:s, s:s, s:I, s:I, s:s}", "id", (json_int_t)row->id, "fault", row->fault, "cycle",
                             (json_int_t)row->cycle, "launch", (int)row->launch, "line", (int)row->line, "outcome",
                             outcome_info[row->outcome].name, "settled", settled_text[row->settled], "cycles", (json_int_t)row->cycles,
                             "wrong", (json_int_t)row->wrong, "note", row->note);
  if (isfinite(row->worst)) json_object_set_new(object, "worst", json_real(row->worst));
  json_array_append_new(context, object);
  return true;
}

json_t *report_summary(const Report *report) {
  json_t *object = json_object(), *structures = json_array(), *kernels = json_array(), *lines = json_array(), *slices = json_array();
  json_object_set_new(object, "campaign", json_meta(report->meta));
  json_object_set_new(object, "confidence", json_real(report->confidence));
  json_object_set_new(object, "cycles", json_integer((json_int_t)report->cycles));
  json_object_set_new(object, "all", json_tally(&report->all, report->confidence));
  for (uint32_t i = 0; i < report->structure_count; i++) {
    const StructureSummary *structure = &report->structures[i];
    json_t *item = json_tally(&structure->tally, report->confidence);
    json_object_set_new(item, "name", json_string(structure->name));
    json_object_set_new(item, "title", json_string(structure->title));
    json_object_set_new(item, "bits", json_integer((json_int_t)structure->bits));
    json_object_set_new(item, "used", json_real(structure->used));
    json_object_set_new(item, "fit_per_mbit", json_real(structure->fit_per_mbit));
    json_array_append_new(structures, item);
  }
  for (uint32_t i = 0; i < report->kernel_count; i++) {
    json_t *item = json_tally(&report->kernels[i].tally, report->confidence);
    json_object_set_new(item, "name", json_string(report->kernels[i].name));
    json_array_append_new(kernels, item);
  }
  for (uint32_t i = 0; i < report->line_count; i++) {
    json_t *item = json_tally(&report->lines[i].tally, report->confidence);
    json_object_set_new(item, "line", json_integer((json_int_t)report->lines[i].line));
    json_array_append_new(lines, item);
  }
  for (uint32_t i = 0; i < REPORT_SLICES; i++) {
    json_t *item = json_tally(&report->slices[i], report->confidence);
    json_object_set_new(item, "cycle", json_integer((json_int_t)(report->cycles * i / REPORT_SLICES)));
    json_array_append_new(slices, item);
  }
  json_object_set_new(object, "structures", structures);
  json_object_set_new(object, "kernels", kernels);
  json_object_set_new(object, "lines", lines);
  json_object_set_new(object, "time", slices);
  return object;
}

bool report_json(const Report *report, Text *out) {
  json_t *object = report_summary(report), *faults = json_array();
  journal_each_fault(report->journal, report_fault_json, faults);
  json_object_set_new(object, "faults", faults);
  char *text = json_dumps(object, JSON_INDENT(1) | JSON_SORT_KEYS);
  json_decref(object);
  if (text == NULL) return false;
  text_add_bytes(out, text, strlen(text));
  text_add_bytes(out, "\n", 1);
  free(text);
  return true;
}
