// The FMEDA for other programs: CSV, one table each; JSON with all of it; a page. Every row says which journals it comes from, and the
// manifest says what made them.
#include "report/fmeda_internal.h"

#include <inttypes.h>
#include <stdlib.h>

const char *const fmeda_tables[FMEDA_TABLES] = {"fmeda", "coverage", "metrics", "findings", "manifest"};

// "[1] [3]": as the manifest counts them.
static void add_journals(const Fmeda *fmeda, const FmedaCell *cell, Text *out) {
  for (uint32_t i = 0; i < cell->measured_count; i++)
    text_add(out, "%s[%u]", i == 0 ? "" : " ", (uint32_t)(cell->measured[i] - fmeda->journals.items) + 1);
}

static const char *journals_text(const Fmeda *fmeda, const FmedaCell *cell) {
  Text text = {0};
  add_journals(fmeda, cell, &text);
  const char *copy = arena_copy_text(fmeda->arena, text.length == 0 ? "" : text.at, text.length);
  text_free(&text);
  return copy;
}

// ---- CSV ---------------------------------------------------------------------------------------------

static void add_cell_head(const FmedaCell *cell, Text *out) {
  text_add_csv_name(out, cell->structure);
  text_add(out, ",%s,", fmeda_types[cell->type]);
  text_add_csv_name(out, cell->model);
}

static void add_rate(double fit, Text *out) {
  if (fit > 0) text_add(out, ",%.9g", fit);
  else add_text(out, ",");
}

static void add_names(const char *const *names, size_t count, Text *out) {
  for (size_t i = 0; i < count; i++) text_add(out, ",%s,%s_low,%s_high", names[i], names[i], names[i]);
}

// Whoever copies a row takes along what is to be said beside it: of its structure, of its fault type, of all.
static void add_caveats(const Fmeda *fmeda, const FmedaCell *cell, Text *out) {
  Text text = {0};
  for (uint32_t i = 0; i < fmeda->findings.items.count; i++) {
    const Finding *finding = &fmeda->findings.items.items[i];
    const char *const abouts[] = {cell->structure, fmeda_types[cell->type], "scope"};
    bool is_meant = false;
    for (size_t k = 0; k < COUNT_OF(abouts); k++) is_meant |= strcmp(finding->about, abouts[k]) == 0;
    if (is_meant) text_add(&text, "%s%s: %s", text.length == 0 ? "" : " ", severity_names[finding->severity], finding->text);
  }
  if (text.length > 0) text_add_csv(out, text.at);
  text_free(&text);
}

// A row for each failure mode, and one for the structure as a whole: there the shares of what becomes of faults stand.
static void add_modes(const Fmeda *fmeda, Text *out) {
  static const char *const mode_names[] = {"share", "coverage"};
  add_text(out, "structure,fault_type,model,failure_mode,bits,raw_fit,rate_from,rate_factor,faults,residual_faults");
  add_names(mode_names, COUNT_OF(mode_names), out);
  add_names(fault_classes, FAULT_CLASSES, out);
  add_text(out, ",in_figures,findings,journals\n");
  for (uint32_t i = 0; i < fmeda->cells.count; i++) {
    const FmedaCell *cell = &fmeda->cells.items[i];
    for (uint32_t m = 0; m <= FAILURE_MODES; m++) {
      bool is_all = m == FAILURE_MODES;
      if (!is_all && cell->modes[m].faults == 0) continue;
      add_cell_head(cell, out);
      text_add(out, ",%s,%" PRIu64, is_all ? "all" : failure_modes[m], cell->bits);
      add_rate(is_all ? cell->fit : cell->fit * cell->modes[m].share.value, out);
      text_add(out, ",%s", cell->fit <= 0 ? "" : cell->is_given ? "given" : "machine");
      if (cell->fit > 0) text_add(out, ",%.9g", cell_rate_factor(fmeda, cell));
      else add_text(out, ",");
      text_add(out, ",%" PRIu64 ",%" PRIu64, is_all ? cell->faults : cell->modes[m].faults,
               is_all ? cell->counts[CLASS_RESIDUAL] : cell->modes[m].left);
      csv_estimate(out, is_all ? (Estimate){true, 1, 1, 1} : cell->modes[m].share);
      csv_estimate(out, is_all ? cell->together.share : cell->modes[m].coverage);
      for (uint32_t c = 0; c < FAULT_CLASSES; c++) csv_estimate(out, is_all ? cell->shares[c] : (Estimate){0});
      text_add(out, ",%s,", cell->is_outside ? "no: outside the scope" : cell->fit <= 0 ? "no: no rate" : "yes");
      add_caveats(fmeda, cell, out);
      text_add(out, ",%s\n", journals_text(fmeda, cell));
    }
  }
}

static void add_coverage_row(const FmedaCell *cell, const Coverage *coverage, Text *out) {
  add_cell_head(cell, out);
  add_text(out, ",");
  text_add_csv_name(out, coverage->mechanism);
  if (coverage->is_paired) text_add(out, ",yes,%" PRIu64 ",%" PRIu64 ",%" PRIu64, coverage->dangerous, coverage->left, coverage->induced);
  else text_add(out, ",no,%" PRIu64 ",,", coverage->dangerous);
  csv_estimate(out, coverage->share);
  text_add(out, ",%s\n", coverage->share.is_known ? coverage_class(coverage->share.low) : "");
}

static void add_coverage(const Fmeda *fmeda, Text *out) {
  add_text(out,
           "structure,fault_type,model,mechanism,same_faults,dangerous,left,made_dangerous,coverage,coverage_low,coverage_high,class\n");
  for (uint32_t i = 0; i < fmeda->cells.count; i++) {
    const FmedaCell *cell = &fmeda->cells.items[i];
    for (uint32_t k = 0; k < cell->coverages.count; k++) add_coverage_row(cell, &cell->coverages.items[k], out);
    if (cell->together.mechanism != NULL) add_coverage_row(cell, &cell->together, out);
  }
}

static void add_metric(const Fmeda *fmeda, MetricId metric, uint32_t type, Text *out) {
  const MetricInfo *info = &fmeda_metrics[metric];
  Text reasons = {0};
  text_add(out, "%s,%s,%s", info->name, fmeda_types[type], info->is_share ? "1" : "FIT");
  csv_estimate(out, fmeda->sums[type].metrics[metric]);
  for (uint32_t a = 0; a < ASILS; a++) {
    Standing standing = fmeda_standing(fmeda, metric, type, (Asil)a);
    text_add(out, ",%s", standing == STANDING_UNKNOWN ? "" : standing_text[standing]);
  }
  add_text(out, ",");
  text_add_csv(out, fmeda->scope);
  add_text(out, ",");
  fmeda_reasons(fmeda, metric, type, &reasons);
  if (reasons.length > 0) text_add_csv(out, reasons.at);
  add_text(out, "\n");
  text_free(&reasons);
}

static void add_metrics(const Fmeda *fmeda, Text *out) {
  static const char *const no_standing = ",,,,,\n";
  add_text(out, "metric,faults,unit,value,low,high,asil_b,asil_c,asil_d,scope,withheld_because\n");
  for (uint32_t m = 0; m < METRICS; m++) {
    for (uint32_t i = 0; i <= FMEDA_TYPES; i++) {
      if (fmeda_has_row(fmeda, (MetricId)m, i)) add_metric(fmeda, (MetricId)m, i, out);
    }
  }
  for (uint32_t i = 0; i <= FMEDA_TYPES; i++) {
    const FmedaSums *sums = &fmeda->sums[i];
    Estimate raw = {sums->is_known, sums->raw, sums->raw, sums->raw};
    text_add(out, "raw rate,%s,FIT", fmeda_types[i]);
    csv_estimate(out, raw);
    add_text(out, no_standing);
    for (uint32_t c = 0; c < FAULT_CLASSES; c++) {
      text_add(out, "%s rate,%s,FIT", fault_classes[c], fmeda_types[i]);
      csv_estimate(out, sums->classes[c]);
      add_text(out, no_standing);
    }
  }
}

static void add_findings(const Fmeda *fmeda, Text *out) { findings_csv(&fmeda->findings, out); }

static const JournalNote manifest_notes[] = {NOTE_VERSION, NOTE_COMMIT, NOTE_BINARY, NOTE_DATE, NOTE_HOST, NOTE_COMMAND};

static void add_manifest(const Fmeda *fmeda, Text *out) {
  add_text(out,
           "number,journal,role,mechanism,target,machine,model,structures,window,sampling,draw,first_fault,seed,faults,cycles,content_hash,"
           "program_hash,layout_hash,settings_hash");
  for (size_t n = 0; n < COUNT_OF(manifest_notes); n++) {
    add_text(out, ",");
    for (const char *c = note_keys[manifest_notes[n]]; *c != '\0'; c++) text_add(out, "%c", *c == ' ' ? '_' : *c);
  }
  add_text(out, "\n");
  for (uint32_t i = 0; i < fmeda->journals.count; i++) {
    const FmedaJournal *journal = &fmeda->journals.items[i];
    const JournalMeta *meta = journal->report->meta;
    const char *const texts[] = {journal_path(journal->report->journal),
                                 fmeda_roles[journal->role],
                                 journal->mechanism,
                                 meta->target,
                                 meta->machine,
                                 meta->model,
                                 meta->structures,
                                 meta->window,
                                 meta->sampling,
                                 report_draws_used(journal->report) ? "used" : "all",
                                 meta->standing};
    text_add(out, "%u", i + 1);
    for (size_t k = 0; k < COUNT_OF(texts); k++) {
      add_text(out, ",");
      text_add_csv_name(out, texts[k]);
    }
    text_add(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%016" PRIx64 ",%016" PRIx64 ",%016" PRIx64 ",%016" PRIx64, meta->seed,
             journal->report->all.total, journal->report->cycles, journal->content, meta->program_hash, meta->layout_hash,
             hash_bytes(meta->settings, strlen(meta->settings), 0));
    for (size_t n = 0; n < COUNT_OF(manifest_notes); n++) {
      add_text(out, ",");
      text_add_csv_name(out, journal_note(journal->report->journal, manifest_notes[n]));
    }
    add_text(out, "\n");
  }
}

void fmeda_csv(const Fmeda *fmeda, FmedaTable table, Text *out) {
  void (*const writers[FMEDA_TABLES])(const Fmeda *, Text *) = {add_modes, add_coverage, add_metrics, add_findings, add_manifest};
  writers[table](fmeda, out);
}

// ---- JSON --------------------------------------------------------------------------------------------

static json_t *count_of(uint64_t value) { return json_integer((json_int_t)value); }
static json_t *rate_of(double fit) { return fit > 0 ? json_real(fit) : json_null(); }
static json_t *hash_of(const Fmeda *fmeda, uint64_t hash) { return json_string(arena_format(fmeda->arena, "%016" PRIx64, hash)); }

static json_t *coverage_json(const Coverage *coverage) {
  if (coverage->mechanism == NULL) return json_null();
  json_t *object = json_object();
  json_object_set_new(object, "mechanism", report_string(coverage->mechanism));
  json_object_set_new(object, "same_faults", json_boolean(coverage->is_paired));
  json_object_set_new(object, "dangerous", count_of(coverage->dangerous));
  json_object_set_new(object, "left", coverage->is_paired ? count_of(coverage->left) : json_null());
  json_object_set_new(object, "made_dangerous", coverage->is_paired ? count_of(coverage->induced) : json_null());
  json_object_set_new(object, "coverage", json_estimate(coverage->share));
  json_object_set_new(object, "class", coverage->share.is_known ? json_string(coverage_class(coverage->share.low)) : json_null());
  return object;
}

static json_t *cell_json(const Fmeda *fmeda, const FmedaCell *cell) {
  json_t *object = json_object(), *modes = json_array(), *coverages = json_array();
  for (uint32_t m = 0; m < FAILURE_MODES; m++) {
    const ModeRow *mode = &cell->modes[m];
    if (mode->faults == 0) continue;
    json_t *row = json_object();
    json_object_set_new(row, "mode", json_string(failure_modes[m]));
    json_object_set_new(row, "faults", count_of(mode->faults));
    json_object_set_new(row, "share", json_estimate(mode->share));
    json_object_set_new(row, "raw_fit", rate_of(cell->fit * mode->share.value));
    json_object_set_new(row, "coverage", json_estimate(mode->coverage));
    json_array_append_new(modes, row);
  }
  for (uint32_t i = 0; i < cell->coverages.count; i++) json_array_append_new(coverages, coverage_json(&cell->coverages.items[i]));
  json_object_set_new(object, "structure", report_string(cell->structure));
  json_object_set_new(object, "title", report_string(cell->title));
  json_object_set_new(object, "type", json_string(fmeda_types[cell->type]));
  json_object_set_new(object, "model", report_string(cell->model));
  json_object_set_new(object, "bits", count_of(cell->bits));
  json_object_set_new(object, "raw_fit", rate_of(cell->fit));
  json_object_set_new(object, "rate_is_given", json_boolean(cell->is_given));
  json_object_set_new(object, "rate_factor", cell->fit > 0 ? json_real(cell_rate_factor(fmeda, cell)) : json_null());
  json_object_set_new(object, "faults", count_of(cell->faults));
  json_object_set_new(object, "own_state", json_boolean(cell->is_own_state));
  json_object_set_new(object, "outside_scope", json_boolean(cell->is_outside));
  json_object_set_new(object, "use_not_recorded", count_of(cell->unrecorded));
  for (uint32_t c = 0; c < FAULT_CLASSES; c++) json_object_set_new(object, fault_classes[c], json_estimate(cell->shares[c]));
  json_object_set_new(object, "modes", modes);
  json_object_set_new(object, "coverages", coverages);
  json_object_set_new(object, "union", coverage_json(&cell->together));
  json_object_set_new(object, "union_at_least", cell->together.mechanism == NULL ? json_null() : json_real(cell->best));
  json_object_set_new(object, "union_if_independent", cell->together.mechanism == NULL ? json_null() : json_real(cell->independent));
  json_object_set_new(object, "first_faults", count_of(cell->first_tried));
  json_object_set_new(object, "first_faults_harmful", count_of(cell->first_bad));
  json_object_set_new(object, "first_faults_without_information", count_of(cell->first_idle));
  json_object_set_new(object, "fault_pairs", count_of(cell->pairs));
  json_object_set_new(object, "fault_pairs_harmful", count_of(cell->bad_pairs));
  json_object_set_new(object, "journals", json_string(journals_text(fmeda, cell)));
  return object;
}

static json_t *metric_json(const Fmeda *fmeda, MetricId metric, uint32_t type) {
  json_t *row = json_object();
  Text reasons = {0};
  json_object_set_new(row, "metric", json_string(fmeda_metrics[metric].name));
  json_object_set_new(row, "faults", json_string(fmeda_types[type]));
  json_object_set_new(row, "is_share", json_boolean(fmeda_metrics[metric].is_share));
  json_object_set_new(row, "estimate", json_estimate(fmeda->sums[type].metrics[metric]));
  for (uint32_t a = 0; a < ASILS; a++) {
    Standing standing = fmeda_standing(fmeda, metric, type, (Asil)a);
    json_object_set_new(row, asil_names[a], standing == STANDING_UNKNOWN ? json_null() : json_string(standing_text[standing]));
  }
  fmeda_reasons(fmeda, metric, type, &reasons);
  json_object_set_new(row, "scope", report_string(fmeda->scope));
  json_object_set_new(row, "withheld_because", reasons.length == 0 ? json_null() : report_string(reasons.at));
  text_free(&reasons);
  return row;
}

static json_t *metrics_json(const Fmeda *fmeda) {
  json_t *array = json_array();
  for (uint32_t m = 0; m < METRICS; m++) {
    for (uint32_t i = 0; i <= FMEDA_TYPES; i++) {
      if (fmeda_has_row(fmeda, (MetricId)m, i)) json_array_append_new(array, metric_json(fmeda, (MetricId)m, i));
    }
  }
  return array;
}

static json_t *sums_json(const Fmeda *fmeda) {
  json_t *object = json_object();
  for (uint32_t i = 0; i <= FMEDA_TYPES; i++) {
    const FmedaSums *sums = &fmeda->sums[i];
    json_t *row = json_object();
    json_object_set_new(row, "raw", sums->is_known ? json_real(sums->raw) : json_null());
    json_object_set_new(row, "used", json_estimate(sums->used));
    for (uint32_t c = 0; c < FAULT_CLASSES; c++) json_object_set_new(row, fault_classes[c], json_estimate(sums->classes[c]));
    json_object_set_new(row, "dual", json_estimate(sums->dual));
    if (i < FMEDA_TYPES) json_object_set_new(row, "union", json_estimate(fmeda_union(fmeda, (FmedaType)i)));
    json_object_set_new(object, fmeda_types[i], row);
  }
  return object;
}

static json_t *scope_json(const Fmeda *fmeda) {
  json_t *object = json_object();
  json_object_set_new(object, "declared", json_boolean(fmeda->options->scope.count > 0));
  json_object_set_new(object, "text", report_string(fmeda->scope));
  for (uint32_t i = 0; i < FMEDA_TYPES; i++) {
    const char *key = arena_format(fmeda->arena, "%s_share_of_chip", fmeda_types[i]);
    json_object_set_new(object, key, fmeda->chip_share[i] < 0 ? json_null() : json_real(fmeda->chip_share[i]));
  }
  return object;
}

static json_t *manifest_json(const Fmeda *fmeda) {
  json_t *array = json_array();
  for (uint32_t i = 0; i < fmeda->journals.count; i++) {
    const FmedaJournal *journal = &fmeda->journals.items[i];
    const JournalMeta *meta = journal->report->meta;
    json_t *row = json_object();
    json_object_set_new(row, "journal", report_string(journal_path(journal->report->journal)));
    json_object_set_new(row, "role", json_string(fmeda_roles[journal->role]));
    json_object_set_new(row, "mechanism", report_string(journal->mechanism));
    json_object_set_new(row, "target", report_string(meta->target));
    json_object_set_new(row, "machine", report_string(meta->machine));
    json_object_set_new(row, "model", report_string(meta->model));
    json_object_set_new(row, "structures", report_string(meta->structures));
    json_object_set_new(row, "window", report_string(meta->window));
    json_object_set_new(row, "draw", json_string(report_draws_used(journal->report) ? "used" : "all"));
    json_object_set_new(row, "first_fault", report_string(meta->standing));
    json_object_set_new(row, "seed", count_of(meta->seed));
    json_object_set_new(row, "faults", count_of(journal->report->all.total));
    json_object_set_new(row, "content_hash", hash_of(fmeda, journal->content));
    json_object_set_new(row, "program_hash", hash_of(fmeda, meta->program_hash));
    json_object_set_new(row, "layout_hash", hash_of(fmeda, meta->layout_hash));
    json_object_set_new(row, "settings_hash", hash_of(fmeda, hash_bytes(meta->settings, strlen(meta->settings), 0)));
    json_object_set_new(row, "notes", json_notes(journal->report->journal));
    json_array_append_new(array, row);
  }
  return array;
}

static json_t *options_json(const FmedaOptions *options) {
  return json_pack("{s:f, s:b, s:b, s:b, s:b, s:b, s:f, s:f, s:f, s:f}", "confidence", options->confidence, "traps", (int)options->traps,
                   "watchdog", (int)options->watchdog, "tolerable_is_safe", (int)options->tolerable_is_safe, "silent", (int)options->silent,
                   "count_unused", (int)options->count_unused, "ftti", options->ftti, "reaction", options->reaction, "test_interval",
                   options->test_interval, "lifetime", options->lifetime);
}

static char *all_json(const Fmeda *fmeda, size_t flags) {
  json_t *object = json_object(), *cells = json_array(), *times = json_array();
  for (uint32_t i = 0; i < fmeda->cells.count; i++) json_array_append_new(cells, cell_json(fmeda, &fmeda->cells.items[i]));
  for (uint32_t i = 0; i < fmeda->times.count; i++) {
    const FmedaTimes *row = &fmeda->times.items[i];
    json_array_append_new(times, json_pack("{s:o, s:I, s:I, s:f, s:f}", "mechanism", report_string(row->mechanism), "detected",
                                           (json_int_t)row->detected, "late", (json_int_t)row->late, "median_seconds", row->median,
                                           "longest_seconds", row->most));
  }
  const JournalMeta *meta = fmeda->journals.items[0].report->meta;
  json_object_set_new(object, "target", report_string(meta->target));
  json_object_set_new(object, "machine", report_string(meta->machine));
  json_object_set_new(object, "options", options_json(fmeda->options));
  json_object_set_new(object, "scope", scope_json(fmeda));
  json_object_set_new(object, "findings", findings_json(&fmeda->findings));
  json_object_set_new(object, "structures", cells);
  json_object_set_new(object, "metrics", metrics_json(fmeda));
  json_object_set_new(object, "fit", sums_json(fmeda));
  json_object_set_new(object, "detection_times", times);
  json_object_set_new(object, "manifest", manifest_json(fmeda));
  char *text = json_dumps(object, JSON_SORT_KEYS | flags);
  ASSERT(text != NULL);
  json_decref(object);
  return text;
}

void fmeda_json(const Fmeda *fmeda, Text *out) {
  char *json = all_json(fmeda, JSON_INDENT(1));
  text_add(out, "%s\n", json);
  free(json);
}

void fmeda_page(const Fmeda *fmeda, Text *out) {
  char *json = all_json(fmeda, JSON_COMPACT);
  page_fill(fmeda_page_html, json, out);
  free(json);
}
