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

json_t *json_estimate(Estimate estimate) { // null: not known; JSON has no infinity
  if (!estimate.is_known) return json_null();
  json_t *object = json_object();
  const char *const keys[] = {"value", "low", "high"};
  const double values[] = {estimate.value, estimate.low, estimate.high};
  for (size_t i = 0; i < COUNT_OF(keys); i++)
    json_object_set_new(object, keys[i], isfinite(values[i]) ? json_real(values[i]) : json_null());
  return object;
}

// Counts, and shares with intervals of what matters.
static json_t *json_tally(const Report *report, const Tally *tally) {
  json_t *object = json_object(), *counts = json_object(), *groups = json_object();
  for (uint32_t i = 0; i < OUTCOME_COUNT; i++) json_object_set_new(counts, outcome_info[i].name, count_of(tally->counts[i]));
  for (uint32_t g = 0; g < REPORT_GROUPS; g++) {
    json_t *group = json_pack("{s:I}", "faults", (json_int_t)tally_group(tally, report_groups[g]));
    bool known = !report->withheld && tally->total > 0;
    json_object_set_new(group, "share", known ? json_real(tally_share(tally, report_groups[g])) : json_null());
    json_object_set_new(groups, report_groups[g], group);
  }
  json_object_set_new(object, "faults", count_of(tally->total));
  json_object_set_new(object, "outcomes", counts);
  json_object_set_new(object, "groups", groups);
  for (uint32_t m = 0; m < MEASURES; m++)
    json_object_set_new(object, measures[m].key, json_estimate(report_estimate(report, tally, (Measure)m)));
  return object;
}

static json_t *json_mixed(const Report *report, const MixedTally *tally) {
  json_t *object = json_tally(report, &tally->all);
  for (uint32_t m = 0; m < MEASURES; m++)
    json_object_set_new(object, measures[m].key, json_estimate(mixed_estimate(report, tally, (Measure)m)));
  return object;
}

static json_t *json_meta(const JournalMeta *meta) {
  json_t *object = json_object();
  const struct {
    const char *key, *value;
  } texts[] = {
      {"target", meta->target},
      {"arguments", meta->arguments},
      {"machine", meta->machine},
      {"settings", meta->settings},
      {"model", meta->model},
      {"protection", meta->protection},
      {"window", meta->window},
      {"structures", meta->structures},
      {"standing_fault", meta->standing},
      {"sampling", meta->sampling},
      {"draw", strcmp(meta->draw, "used") == 0 ? "used" : "all"},
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
    json_t *item = json_tally(report, &structure->tally);
    json_object_set_new(item, "name", report_string(structure->name));
    json_object_set_new(item, "title", report_string(structure->title));
    json_object_set_new(item, "bits", count_of(structure->bits));
    const char *why;
    json_object_set_new(item, "resident", structure->resident > 0 ? json_real(structure->resident) : json_null());
    json_object_set_new(item, "drawn", json_real(structure->drawn));
    json_object_set_new(item, "used", json_estimate(structure_used_share(report, structure)));
    json_object_set_new(item, "used_avf", json_estimate(structure_used(report, structure, MEASURE_AVF)));
    json_object_set_new(item, "resident_avf", json_estimate(structure_resident(report, structure, MEASURE_AVF, &why)));
    json_object_set_new(item, "resident_avf_unknown", why == NULL ? json_null() : json_string(why));
    json_object_set_new(item, "needed", structure->needed > 0 ? json_real(structure->needed) : json_null());
    json_object_set_new(item, "needed_avf", json_estimate(structure_needed(report, structure, MEASURE_AVF, &why)));
    json_object_set_new(item, "origin", structure->origin[0] == '\0' ? json_null() : report_string(structure->origin));
    json_object_set_new(item, "stands_for", structure->stands_for[0] == '\0' ? json_null() : report_string(structure->stands_for));
    json_object_set_new(item, "fit_per_mbit", structure->fit_per_mbit > 0 ? json_real(structure->fit_per_mbit) : json_null());
    json_object_set_new(item, "fit_factor",
                        structure->fit_per_mbit > 0 ? json_real(structure_rate_factor(report, structure)) : json_null());
    json_t *fit = json_object();
    for (uint32_t m = 0; m < MEASURES; m++)
      json_object_set_new(fit, measures[m].key, json_estimate(structure_fit(report, structure, (Measure)m)));
    json_object_set_new(item, "fit", fit);
    json_array_append_new(array, item);
  }
  return array;
}

static json_t *json_kernels(const Report *report) {
  json_t *array = json_array();
  for (uint32_t i = 0; i < report->kernels.count; i++) {
    const KernelSummary *kernel = &report->kernels.items[i];
    json_t *item = json_mixed(report, &kernel->tally), *structures = json_array();
    json_object_set_new(item, "name", report_string(kernel->name));
    json_object_set_new(item, "symbol", report_string(kernel->symbol));
    json_object_set_new(item, "launches", count_of(kernel->launches));
    json_object_set_new(item, "cycles", count_of(kernel->cycles));
    for (uint32_t k = 0; k < report->structures.count; k++) {
      json_t *part = json_tally(report, mixed_part(&kernel->tally, k));
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
                             "warp_instructions", (json_int_t)at->warp_instructions, "faults", (json_int_t)at->tally.all.total,
                             "vulnerable", (json_int_t)tally_hits(&at->tally.all, MEASURE_AVF));
    json_object_set_new(item, "kernel", report_string(report->kernels.items[at->kernel].name));
    json_array_append_new(array, item);
  }
  return array;
}

static json_t *json_lines(const Report *report) {
  json_t *array = json_array();
  for (uint32_t i = 0; i < report->lines.count; i++) {
    json_t *item = json_mixed(report, &report->lines.items[i].tally);
    json_object_set_new(item, "line", count_of(report->lines.items[i].line));
    json_object_set_new(item, "source", count_of(report->lines.items[i].source));
    json_array_append_new(array, item);
  }
  return array;
}

static json_t *json_time(const Report *report) {
  json_t *array = json_array();
  for (uint32_t i = 0; i < REPORT_SLICES; i++) {
    json_t *item = json_mixed(report, &report->slices[i]);
    json_object_set_new(item, "cycle", count_of(report_slice_start(report, i)));
    json_object_set_new(item, "end", count_of(report_slice_start(report, i + 1)));
    json_array_append_new(array, item);
  }
  return array;
}

// PTX that lines count in.
static json_t *json_sources(const Report *report) {
  json_t *array = json_array();
  Query *query = journal_query(report->journal, "SELECT source, name, text FROM sources ORDER BY source");
  while (query_next(query)) {
    json_t *item = json_pack("{s:I}", "source", (json_int_t)query_cell(query, 0).integer);
    json_object_set_new(item, "name", report_string(query_cell(query, 1).text));
    json_object_set_new(item, "text", report_string(query_cell(query, 2).text));
    json_array_append_new(array, item);
  }
  query_end(query);
  return array;
}

static json_t *json_breakdowns(const Report *report) {
  static const char *const kinds[] = {[BY_PLACE] = "place", [BY_READER] = "reader", [BY_ERROR] = "error"};
  json_t *object = json_object();
  Diags ignored = {0};
  for (uint32_t i = 0; i < breakdown_count; i++) {
    Breakdown breakdown;
    json_t *rows = json_array();
    bool good = report_breakdown(report, i, &breakdown, &ignored);
    for (uint32_t k = 0; good && k < breakdown.rows.count; k++) {
      const BreakdownRow *row = &breakdown.rows.items[k];
      bool is_error = breakdowns[i].kind == BY_ERROR;
      json_t *item = is_error ? json_pack("{s:I}", "sdcs", (json_int_t)row->tally.total) : json_tally(report, &row->tally);
      if (is_error) json_object_set_new(item, "share", json_estimate(breakdown_share(report, row)));
      json_object_set_new(item, "structure", report_string(row->structure));
      json_object_set_new(item, "key", report_string(row->key));
      json_array_append_new(rows, item);
    }
    json_t *item = json_pack("{s:s, s:s, s:I, s:o}", "title", breakdowns[i].title, "kind", kinds[breakdowns[i].kind], "without",
                             (json_int_t)breakdown.without, "rows", rows);
    json_object_set_new(object, breakdowns[i].name, item);
  }
  diags_free(&ignored);
  return object;
}

// Where the journal comes from and how far it is.
static json_t *json_state(const Report *report) {
  Text text = {0};
  report_state_text(report, &text);
  json_t *object =
      json_pack("{s:b, s:I, s:I, s:I, s:b}", "complete", report->state.complete, "asked", (json_int_t)report->state.asked, "done",
                (json_int_t)report->state.done, "sample", (json_int_t)report->state.sample, "shares_withheld", report->withheld);
  json_object_set_new(object, "says", report_string(text.at == NULL ? "" : text.at));
  text_free(&text);
  return object;
}

json_t *json_notes(const Journal *journal) {
  json_t *object = json_object();
  for (uint32_t i = 0; i < NOTE_COUNT; i++) json_object_set_new(object, note_keys[i], report_string(journal_note(journal, (JournalNote)i)));
  return object;
}

// What DUEs consist of, in all and by structure. A journal that cannot be read is told of by whoever reads its faults.
static json_t *json_due(const Report *report) {
  json_t *object = json_object(), *all = json_object(), *structures = json_array();
  Diags ignored = {0};
  DueCounts *counts;
  bool good = report_due(report, &counts, &ignored);
  diags_free(&ignored);
  for (uint32_t row = 0; good && row < DUE_ROWS; row++) {
    json_t *item = json_pack("{s:I}", "faults", (json_int_t)due_faults(report, counts, (DueRow)row));
    json_object_set_new(item, "share", json_estimate(due_of_all(report, counts, (DueRow)row)));
    json_object_set_new(all, due_names[row], item);
  }
  for (uint32_t i = 0; good && i < report->structures.count; i++) {
    json_t *structure = json_object();
    json_object_set_new(structure, "name", report_string(report->structures.items[i].name));
    for (uint32_t row = 0; row < DUE_ROWS; row++) {
      json_t *item = json_pack("{s:I}", "faults", (json_int_t)counts[i].faults[row]);
      json_object_set_new(item, "share", json_estimate(due_of_structure(report, counts, i, (DueRow)row)));
      json_object_set_new(structure, due_names[row], item);
    }
    json_array_append_new(structures, structure);
  }
  json_object_set_new(object, "all", all);
  json_object_set_new(object, "structures", structures);
  return object;
}

// What happened, in one line; "" where no share may be shown.
static json_t *json_sentence(const Report *report) {
  Text text = {0};
  report_sentence(report, &text);
  for (size_t i = 0; i < text.length; i++) text.at[i] = text.at[i] == '\n' ? ' ' : text.at[i];
  while (text.length > 0 && text.at[text.length - 1] == ' ') text.at[--text.length] = '\0';
  json_t *sentence = report_string(text.at == NULL ? "" : text.at);
  text_free(&text);
  return sentence;
}

// null: not recorded, or the machine does not tell.
static json_t *json_occupancy(const Report *report) {
  Occupancy occupancy;
  if (!report_occupancy(report, &occupancy) || !occupancy.is_known) return json_null();
  Text says = {0};
  occupancy_text(&occupancy, &says);
  json_t *object = json_pack("{s:f, s:f, s:f, s:b, s:f, s:s}", "sms", occupancy.sms, "warps", occupancy.warps, "registers",
                             occupancy.registers, "low", (int)occupancy_is_low(&occupancy), "least", OCCUPANCY_LEAST, "says", says.at);
  text_free(&says);
  return object;
}

// By way: faults, those that the self-check has decided once more, and the share of the way that may be wrong for all that.
static json_t *json_verified(const Report *report) {
  json_t *object = json_object();
  for (uint32_t i = 0; i < WAY_COUNT; i++) {
    json_t *way = json_object();
    json_object_set_new(way, "faults", count_of(report->ways[i]));
    json_object_set_new(way, "verified", count_of(report->verified[i]));
    Estimate bound = report_verified_bound(report, (Way)i);
    json_object_set_new(way, "wrong_at_most", bound.is_known ? json_real(bound.high) : json_null());
    json_object_set_new(object, way_text[i], way);
  }
  return object;
}

json_t *report_summary(const Report *report) {
  json_t *object = json_object(), *settled = json_object(), *chip = json_object(), *fit = json_object(),
         *all = json_tally(report, &report->all);
  for (uint32_t i = 0; i < SETTLED_COUNT; i++) json_object_set_new(settled, settled_text[i], count_of(report->settled[i]));
  for (uint32_t m = 0; m < MEASURES; m++) {
    json_object_set_new(chip, measures[m].key, json_estimate(report_chip(report, (Measure)m)));
    json_object_set_new(all, measures[m].key, json_estimate(report_chip(report, (Measure)m)));
    json_object_set_new(fit, measures[m].key, json_estimate(report_fit(report, (Measure)m)));
  }
  json_t *without = json_array();
  for (uint32_t i = 0; i < report->structures.count; i++) {
    const StructureSummary *structure = &report->structures.items[i];
    if (structure_lacks_rate(structure)) json_array_append_new(without, report_string(structure->name));
  }
  json_object_set_new(chip, "fit", fit);
  Text intervals = {0};
  report_rates_text(report, &intervals);
  json_object_set_new(chip, "fit_intervals", json_string(intervals.at)); // what they hold
  text_free(&intervals);
  json_object_set_new(chip, "fit_without", without); // struck, and in no sum of FIT
  json_object_set_new(chip, "bits", json_real(report_bits(report)));
  json_object_set_new(chip, "struck_bits", json_real(report_struck_bits(report)));
  json_object_set_new(object, "sentence", json_sentence(report));
  json_object_set_new(object, "occupancy", json_occupancy(report));
  json_object_set_new(object, "due", json_due(report));
  json_object_set_new(object, "campaign", json_meta(report->meta));
  json_object_set_new(object, "state", json_state(report));
  json_object_set_new(object, "notes", json_notes(report->journal));
  json_object_set_new(object, "confidence", json_real(report->confidence));
  json_object_set_new(object, "cycles", count_of(report->cycles));
  json_object_set_new(object, "boards", count_of(report_boards(report)));
  json_object_set_new(object, "all", all);
  json_object_set_new(object, "settled", settled);
  json_object_set_new(object, "verified", json_verified(report));
  json_object_set_new(object, "chip", chip);
  json_object_set_new(object, "cycles_between_sdc", json_estimate(report_cycles_between_sdc(report)));
  json_object_set_new(object, "structures", json_structures(report));
  json_object_set_new(object, "kernels", json_kernels(report));
  json_object_set_new(object, "launches", json_launches(report));
  json_object_set_new(object, "lines", json_lines(report));
  json_object_set_new(object, "sources", json_sources(report));
  json_object_set_new(object, "breakdowns", json_breakdowns(report));
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

// JSON has no infinity, and null is what is not known.
static void add_real(Text *out, double value, size_t flags) {
  if (value == 0) add_text(out, "0.0"); // of nearly all faults
  else if (isfinite(value)) add_json(out, json_real(value), flags);
  else add_string(out, "infinite");
}

// A row of the view `results`. NULL is null.
void report_result(const Query *query, size_t reals, Text *out) {
  uint32_t columns = query_columns(query);
  for (uint32_t i = 0; i < columns; i++) {
    Cell cell = query_cell(query, i);
    add_text(out, i == 0 ? "{\"" : ",\"");
    add_text(out, query_name(query, i));
    add_text(out, "\":");
    if (cell.kind == CELL_TEXT) add_string(out, cell.text);
    else if (cell.kind == CELL_REAL) add_real(out, cell.real, reals);
    else if (cell.kind == CELL_INTEGER && cell.integer >= 0) add_count(out, (uint64_t)cell.integer);
    else if (cell.kind == CELL_INTEGER) text_add(out, "%" PRId64, cell.integer);
    else add_text(out, "null");
  }
  text_add_bytes(out, "}", 1);
}

// The faults come last and one by one: put between the summaries and their closing brace.
bool report_json(const Report *report, const Sink *sink) {
  Writer writer = {.sink = sink, .good = true};
  add_json(&writer.text, report_summary(report), JSON_INDENT(1) | JSON_SORT_KEYS);
  writer.text.length -= strlen("\n}");
  text_add(&writer.text, ",\n \"faults\": [");
  Query *query = journal_query(report->journal, "SELECT * FROM results ORDER BY id");
  const char *between = "\n  ";
  for (; writer.good && query_next(query); between = ",\n  ") {
    add_text(&writer.text, between);
    report_result(query, 0, &writer.text);
    writer_flush(&writer, PIECE);
  }
  bool good = query_end(query);
  text_add(&writer.text, "\n ]\n}\n");
  return writer_end(&writer) && good;
}
