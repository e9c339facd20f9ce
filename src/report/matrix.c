// Many journals at once: a row for each program, a column for each way it was struck (protection, and whatever else differs), a table
// for each measure, and means. A cell is a campaign.
#include "report/pairs.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct Matrix {
  Arena *arena;
  Report *const *reports;
  uint32_t count;
  const char **rows, **columns; // names
  uint32_t row_count, column_count;
  const Report **cells; // [row][column]; NULL: no such campaign
  uint32_t baseline;    // column without protection; column_count: none
  struct Gain *gains;   // likewise, by row and column
} Matrix;

static const Report *cell_at(const Matrix *matrix, uint32_t row, uint32_t column) {
  return matrix->cells[row * matrix->column_count + column];
}

// ---- Rows and columns --------------------------------------------------------------------------------

typedef const char *(*NameOf)(const JournalMeta *meta);
static const char *target_of(const JournalMeta *meta) { return meta->target; }
static const char *arguments_of(const JournalMeta *meta) { return meta->arguments; }
static const char *protection_of(const JournalMeta *meta) { return meta->protection; }
static const char *machine_of(const JournalMeta *meta) { return meta->machine; }
static const char *model_of(const JournalMeta *meta) { return meta->model; }
static const char *structures_of(const JournalMeta *meta) { return meta->structures; }
static const char *window_of(const JournalMeta *meta) { return meta->window; }

static bool all_same(const Matrix *matrix, NameOf name) {
  bool same = true;
  for (uint32_t i = 1; i < matrix->count; i++) same &= strcmp(name(matrix->reports[i]->meta), name(matrix->reports[0]->meta)) == 0;
  return same;
}

// One program with other arguments is another row.
static const char *row_name(const Matrix *matrix, const JournalMeta *meta) {
  bool is_other = false;
  for (uint32_t i = 0; i < matrix->count; i++) {
    const JournalMeta *other = matrix->reports[i]->meta;
    is_other |= strcmp(other->target, meta->target) == 0 && strcmp(other->arguments, meta->arguments) != 0;
  }
  if (!is_other) return target_of(meta);
  Text text = {0};
  text_add(&text, "%s ", meta->target);
  for (const char *c = arguments_of(meta); *c != '\0'; c++) text_add(&text, "%c", *c == '\n' ? ' ' : *c);
  while (text.length > 0 && text.at[text.length - 1] == ' ') text.length--;
  const char *name = arena_copy_text(matrix->arena, text.at, text.length);
  text_free(&text);
  return name;
}

// The protection, and what else is not the same everywhere.
static const char *column_name(const Matrix *matrix, const JournalMeta *meta) {
  const NameOf others[] = {machine_of, model_of, structures_of, window_of};
  const char *name = protection_of(meta);
  for (size_t i = 0; i < COUNT_OF(others); i++) {
    if (!all_same(matrix, others[i])) name = arena_format(matrix->arena, "%s %s", name, others[i](meta));
  }
  return name;
}

static uint32_t place_of(const char **names, uint32_t *count, const char *name) {
  for (uint32_t i = 0; i < *count; i++) {
    if (strcmp(names[i], name) == 0) return i;
  }
  names[*count] = name;
  return (*count)++;
}

static bool fill(Matrix *matrix, Diags *diags) {
  uint32_t *places = ARENA_ARRAY(matrix->arena, uint32_t, 2 * matrix->count + 1);
  matrix->rows = ARENA_ARRAY(matrix->arena, const char *, matrix->count + 1);
  matrix->columns = ARENA_ARRAY(matrix->arena, const char *, matrix->count + 1);
  for (uint32_t i = 0; i < matrix->count; i++) {
    places[2 * i] = place_of(matrix->rows, &matrix->row_count, row_name(matrix, matrix->reports[i]->meta));
    places[2 * i + 1] = place_of(matrix->columns, &matrix->column_count, column_name(matrix, matrix->reports[i]->meta));
  }
  matrix->cells = ARENA_ARRAY(matrix->arena, const Report *, matrix->row_count * matrix->column_count + 1);
  matrix->baseline = matrix->column_count;
  for (uint32_t i = 0; i < matrix->count; i++) {
    const Report **cell = &matrix->cells[places[2 * i] * matrix->column_count + places[2 * i + 1]];
    if (*cell != NULL) {
      return diags_add(diags, journal_path(matrix->reports[i]->journal), 0, 0,
                       "is of the same program and protection as %s: they are the same, or differ in the seed, the settings or a shard; "
                       "take one of them",
                       journal_path((*cell)->journal));
    }
    *cell = matrix->reports[i];
    bool is_plain = strcmp(matrix->reports[i]->meta->protection, "none") == 0;
    if (is_plain && matrix->baseline == matrix->column_count) matrix->baseline = places[2 * i + 1];
  }
  return true;
}

// ---- Numbers -----------------------------------------------------------------------------------------

static Estimate cell_measure(const Report *report, Measure measure) {
  return report == NULL ? (Estimate){0} : report_chip(report, measure);
}

// Only programs that every column has: means of different programs cannot be compared.
static bool is_whole_row(const Matrix *matrix, uint32_t row) {
  bool whole = true;
  for (uint32_t i = 0; i < matrix->column_count; i++) whole &= cell_measure(cell_at(matrix, row, i), MEASURE_AVF).is_known;
  return whole;
}

static uint32_t whole_rows(const Matrix *matrix) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < matrix->row_count; i++) count += is_whole_row(matrix, i);
  return count;
}

// The mean over these programs; its interval is that of chance in the faults drawn, not in the choice of programs.
static Estimate mean_of(const Matrix *matrix, uint32_t column, Measure measure) {
  EstimateSum sum = {0};
  uint32_t count = whole_rows(matrix);
  for (uint32_t i = 0; i < matrix->row_count && count > 0; i++) {
    Estimate estimate = cell_measure(cell_at(matrix, i, column), measure);
    if (is_whole_row(matrix, i)) estimate_sum_add(&sum, 1.0 / count, estimate.value, (Interval){estimate.low, estimate.high});
  }
  Interval interval = estimate_sum_interval(&sum);
  return count == 0 ? (Estimate){0} : (Estimate){true, sum.value, fmax(interval.low, 0), interval.high};
}

// Cycles relative to the column without protection; 0: not known.
static double time_ratio(const Matrix *matrix, uint32_t row, uint32_t column) {
  const Report *own = cell_at(matrix, row, column);
  const Report *base = matrix->baseline == matrix->column_count ? NULL : cell_at(matrix, row, matrix->baseline);
  return own == NULL || base == NULL || base->cycles == 0 ? 0 : (double)report_time(own) / (double)report_time(base);
}

static double mean_ratio(const Matrix *matrix, uint32_t column) { // geometric
  double sum = 0;
  uint32_t count = 0;
  for (uint32_t i = 0; i < matrix->row_count; i++) {
    double ratio = time_ratio(matrix, i, column);
    if (ratio <= 0 || !is_whole_row(matrix, i)) continue;
    sum += log(ratio);
    count++;
  }
  return count == 0 ? 0 : exp(sum / count);
}

// What a column costs and removes, net, against the one without protection: as 'redoubt compare' has it.
typedef struct Gain {
  bool is_known;
  Cost cost;
  Estimate points[MEASURES], fit[MEASURES]; // removed
  const char *lacks;
} Gain;

static Gain gain_at(const Matrix *matrix, uint32_t row, uint32_t column) { return matrix->gains[row * matrix->column_count + column]; }

static bool find_gain(const Matrix *matrix, uint32_t row, uint32_t column, Gain *gain, Diags *diags) {
  const Report *own = cell_at(matrix, row, column);
  const Report *base = matrix->baseline == matrix->column_count ? NULL : cell_at(matrix, row, matrix->baseline);
  Pairs pairs;
  if (own == NULL || base == NULL || own == base || !have_common(base, own)) return true;
  if (!pairs_read(&pairs, base, own, diags)) return false;
  *gain = (Gain){.is_known = true, .cost = pairs_cost(&pairs), .lacks = net_lacks(&pairs)};
  for (uint32_t m = 0; m < MEASURES; m++) {
    gain->points[m] = net_change(&pairs, (Measure)m, UNIT_POINTS).removed;
    gain->fit[m] = net_change(&pairs, (Measure)m, UNIT_FIT).removed;
  }
  return true;
}

static bool find_gains(Matrix *matrix, Diags *diags) {
  bool good = true;
  matrix->gains = ARENA_ARRAY(matrix->arena, Gain, matrix->row_count * matrix->column_count + 1);
  for (uint32_t row = 0; row < matrix->row_count; row++) {
    for (uint32_t i = 0; i < matrix->column_count && good; i++)
      good = find_gain(matrix, row, i, &matrix->gains[row * matrix->column_count + i], diags);
  }
  return good;
}

// ---- Text --------------------------------------------------------------------------------------------

enum { CELL_WIDTH = 24, LEAST_ROW = 14, LEAST_COLUMN = 16 };

static int row_width(const Matrix *matrix) {
  int width = LEAST_ROW;
  for (uint32_t i = 0; i < matrix->row_count; i++) width = (int)max_u32((uint32_t)width, (uint32_t)strlen(matrix->rows[i]));
  return width;
}

static int column_width(const Matrix *matrix) {
  int width = LEAST_COLUMN;
  for (uint32_t i = 0; i < matrix->column_count; i++) width = (int)max_u32((uint32_t)width, (uint32_t)strlen(matrix->columns[i]));
  return width;
}

static void add_line(const Matrix *matrix, const char *name, Measure measure, uint32_t row, Text *out) {
  text_add(out, "%-*s", row_width(matrix), name);
  for (uint32_t i = 0; i < matrix->column_count; i++) {
    bool is_mean = row == matrix->row_count;
    Estimate estimate = is_mean ? mean_of(matrix, i, measure) : cell_measure(cell_at(matrix, row, i), measure);
    char text[ESTIMATE_TEXT];
    text_add(out, "  %-*s", CELL_WIDTH, estimate_text(estimate, AS_PERCENT, text));
  }
  while (out->at[out->length - 1] == ' ') out->length--;
  text_add(out, "\n");
}

static void add_columns(const Matrix *matrix, const char *title, Text *out) {
  text_add(out, "\n%-*s", row_width(matrix), title);
  for (uint32_t i = 0; i < matrix->column_count; i++) text_add(out, "  %-*s", CELL_WIDTH, matrix->columns[i]);
  while (out->at[out->length - 1] == ' ') out->length--;
  text_add(out, "\n");
}

static void add_times(const Matrix *matrix, Text *out) {
  if (matrix->baseline == matrix->column_count) return;
  add_columns(matrix, "time", out);
  for (uint32_t row = 0; row <= matrix->row_count; row++) {
    text_add(out, "%-*s", row_width(matrix), row == matrix->row_count ? "geometric mean" : matrix->rows[row]);
    for (uint32_t i = 0; i < matrix->column_count; i++) {
      double ratio = row == matrix->row_count ? mean_ratio(matrix, i) : time_ratio(matrix, row, i);
      if (ratio > 0) text_add(out, "  %-*.4f", CELL_WIDTH, ratio);
      else text_add(out, "  %-*s", CELL_WIDTH, "-");
    }
    while (out->at[out->length - 1] == ' ') out->length--;
    text_add(out, "\n");
  }
  text_add(out, "Cycles relative to the column '%s'.\n", matrix->columns[matrix->baseline]);
}

static void add_removed(Estimate removed, bool is_fit, Text *out) {
  char text[ESTIMATE_TEXT];
  text_add(out, "  %-24s", estimate_text(removed, is_fit ? AS_NUMBER : AS_PERCENT, text));
}

static void add_gain_row(const Matrix *matrix, uint32_t row, uint32_t column, bool is_fit, Text *out) {
  Gain gain = gain_at(matrix, row, column);
  const Estimate *removed = is_fit ? gain.fit : gain.points;
  text_add(out, "%-*s  %-*s %+7.2f%%", row_width(matrix), matrix->rows[row], column_width(matrix), matrix->columns[column],
           100 * gain.cost.time);
  if (gain.cost.has_bits) text_add(out, " %+7.2f%%", 100 * gain.cost.share_of_bits);
  else text_add(out, " %8s", "-");
  if (gain.cost.has_energy) text_add(out, " %+7.2f%%", 100 * gain.cost.energy);
  else text_add(out, " %8s", "-");
  add_removed(removed[MEASURE_SDC], is_fit, out);
  add_removed(removed[MEASURE_DUE], is_fit, out);
  while (out->at[out->length - 1] == ' ') out->length--;
  text_add(out, "\n");
}

// One line for each program and protection: what it costs, and what it removes net. FIT where every one has it.
static void add_gains(const Matrix *matrix, Text *out) {
  uint32_t known = 0, with_fit = 0;
  for (uint32_t i = 0; i < matrix->row_count * matrix->column_count; i++) {
    known += matrix->gains[i].is_known;
    with_fit += matrix->gains[i].is_known && matrix->gains[i].fit[MEASURE_AVF].is_known;
  }
  if (known == 0) return;
  bool is_fit = known == with_fit;
  text_add(out, "\n%-*s  %-*s %8s %8s %8s  %-24s  %s\n", row_width(matrix), "cost and gain", column_width(matrix), "", "time", "bits",
           "energy", is_fit ? "SDC FIT removed" : "SDC-AVF removed, points", is_fit ? "DUE FIT removed" : "DUE-AVF removed, points");
  for (uint32_t row = 0; row < matrix->row_count; row++) {
    for (uint32_t i = 0; i < matrix->column_count; i++) {
      if (gain_at(matrix, row, i).is_known) add_gain_row(matrix, row, i, is_fit, out);
    }
  }
  for (uint32_t row = 0; row < matrix->row_count; row++) {
    for (uint32_t i = 0; i < matrix->column_count; i++) {
      Gain gain = gain_at(matrix, row, i);
      const char *lacks = gain.is_known ? gain.lacks : "";
      if (lacks[0] != '\0') text_add(out, "%s, %s: %s\n", matrix->rows[row], matrix->columns[i], lacks);
    }
  }
  text_add(out,
           "Net, against '%s', as 'redoubt compare' has it: faults are paired where they are the same, and cells that a protection adds\n"
           "count. A negative number is added.%s\n",
           matrix->columns[matrix->baseline], is_fit ? "" : " Points are of the bits without protection.");
}

// Columns of one program hold the same bits.
static bool strike_alike(const Matrix *matrix) {
  bool alike = true;
  for (uint32_t row = 0; row < matrix->row_count; row++) {
    double bits = 0;
    for (uint32_t i = 0; i < matrix->column_count; i++) {
      const Report *cell = cell_at(matrix, row, i);
      if (cell == NULL) continue;
      alike &= bits <= 0 || report_struck_bits(cell) == bits;
      bits = report_struck_bits(cell);
    }
  }
  return alike;
}

static bool is_shown(const Matrix *matrix, uint32_t measure) {
  bool any = false;
  for (uint32_t i = 0; i < matrix->count && !any; i++) any = measure_is_shown((Measure)measure, &matrix->reports[i]->all);
  return any;
}

static void add_matrix_text(const Matrix *matrix, Text *out) {
  text_add(out, "%u campaigns: %u program%s, %u columns; percent, intervals at %.4g%%\n", matrix->count, matrix->row_count,
           matrix->row_count == 1 ? "" : "s", matrix->column_count, 100 * matrix->reports[0]->confidence);
  for (uint32_t m = 0; m < MEASURES; m++) {
    if (!is_shown(matrix, m)) continue;
    add_columns(matrix, measures[m].title, out);
    for (uint32_t i = 0; i < matrix->row_count; i++) add_line(matrix, matrix->rows[i], (Measure)m, i, out);
    if (matrix->row_count > 1) add_line(matrix, "mean", (Measure)m, matrix->row_count, out);
  }
  if (!strike_alike(matrix)) text_add(out, "\nEach AVF is over the bits that its campaign has struck. These differ between columns.\n");
  add_times(matrix, out);
  add_gains(matrix, out);
  if (matrix->row_count < 2) return;
  text_add(
      out,
      "\nMeans are over the %u programs that every column has. Their intervals are those of the faults drawn: they say nothing of other "
      "programs.\n",
      whole_rows(matrix));
}

// ---- CSV and JSON --------------------------------------------------------------------------------------

static void add_csv_row(const Matrix *matrix, const char *program, uint32_t column, const Report *report, Text *out) {
  text_add_csv(out, program);
  add_text(out, ",");
  text_add_csv(out, matrix->columns[column]);
  add_text(out, ",");
  text_add_csv(out, report == NULL ? "" : journal_path(report->journal));
  if (report != NULL) text_add(out, ",%" PRIu64 ",%" PRIu64, report->all.total, report_time(report));
  else add_text(out, ",,");
  for (uint32_t m = 0; m < MEASURES; m++)
    csv_estimate(out, report == NULL ? mean_of(matrix, column, (Measure)m) : report_chip(report, (Measure)m));
}

static void add_gain_csv(const Gain *gain, Text *out) {
  const Estimate removed[] = {gain->points[MEASURE_SDC], gain->points[MEASURE_DUE], gain->fit[MEASURE_SDC], gain->fit[MEASURE_DUE]};
  if (gain->cost.has_bits) text_add(out, ",%.9g", gain->cost.share_of_bits);
  else add_text(out, ",");
  if (gain->cost.has_energy) text_add(out, ",%.9g", gain->cost.energy);
  else add_text(out, ",");
  for (size_t i = 0; i < COUNT_OF(removed); i++) csv_estimate(out, removed[i]);
  add_text(out, ",");
  text_add_csv_name(out, gain->is_known ? gain->lacks : "");
  add_text(out, "\n");
}

static void add_matrix_csv(const Matrix *matrix, Text *out) {
  add_text(out, "program,column,journal,faults,cycles");
  for (uint32_t m = 0; m < MEASURES; m++) text_add(out, ",%s,%s_low,%s_high", measures[m].key, measures[m].key, measures[m].key);
  add_text(out,
           ",time_ratio,bits_added,energy_added,sdc_removed,sdc_removed_low,sdc_removed_high,due_removed,due_removed_low,due_removed_high,"
           "sdc_fit_removed,sdc_fit_removed_low,sdc_fit_removed_high,due_fit_removed,due_fit_removed_low,due_fit_removed_high,note\n");
  for (uint32_t row = 0; row <= matrix->row_count; row++) {
    for (uint32_t i = 0; i < matrix->column_count; i++) {
      bool is_mean = row == matrix->row_count;
      const Report *report = is_mean ? NULL : cell_at(matrix, row, i);
      if (report == NULL && !is_mean) continue;
      double ratio = is_mean ? mean_ratio(matrix, i) : time_ratio(matrix, row, i);
      add_csv_row(matrix, is_mean ? "mean" : matrix->rows[row], i, report, out);
      Gain gain = is_mean ? (Gain){0} : gain_at(matrix, row, i);
      if (ratio > 0) text_add(out, ",%.9g", ratio);
      else add_text(out, ",");
      add_gain_csv(&gain, out);
    }
  }
}

static void set_gain(const Gain *gain, json_t *cell) {
  json_object_set_new(cell, "bits_added", gain->cost.has_bits ? json_real(gain->cost.share_of_bits) : json_null());
  json_object_set_new(cell, "energy_added", gain->cost.has_energy ? json_real(gain->cost.energy) : json_null());
  json_object_set_new(cell, "sdc_removed", json_estimate(gain->points[MEASURE_SDC]));
  json_object_set_new(cell, "due_removed", json_estimate(gain->points[MEASURE_DUE]));
  json_object_set_new(cell, "sdc_fit_removed", json_estimate(gain->fit[MEASURE_SDC]));
  json_object_set_new(cell, "due_fit_removed", json_estimate(gain->fit[MEASURE_DUE]));
  json_object_set_new(cell, "lacks", report_string(gain->lacks));
}

static json_t *matrix_json(const Matrix *matrix) {
  json_t *object = json_object(), *cells = json_array(), *columns = json_array(), *rows = json_array();
  for (uint32_t i = 0; i < matrix->column_count; i++) json_array_append_new(columns, report_string(matrix->columns[i]));
  for (uint32_t i = 0; i < matrix->row_count; i++) json_array_append_new(rows, report_string(matrix->rows[i]));
  for (uint32_t row = 0; row <= matrix->row_count; row++) {
    for (uint32_t i = 0; i < matrix->column_count; i++) {
      bool is_mean = row == matrix->row_count;
      const Report *report = is_mean ? NULL : cell_at(matrix, row, i);
      if (report == NULL && !is_mean) continue;
      json_t *cell = json_object();
      double ratio = is_mean ? mean_ratio(matrix, i) : time_ratio(matrix, row, i);
      json_object_set_new(cell, "program", report_string(is_mean ? "mean" : matrix->rows[row]));
      json_object_set_new(cell, "column", report_string(matrix->columns[i]));
      for (uint32_t m = 0; m < MEASURES; m++)
        json_object_set_new(cell, measures[m].key,
                            json_estimate(is_mean ? mean_of(matrix, i, (Measure)m) : report_chip(report, (Measure)m)));
      json_object_set_new(cell, "time_ratio", ratio > 0 ? json_real(ratio) : json_null());
      if (!is_mean && gain_at(matrix, row, i).is_known) set_gain(&matrix->gains[row * matrix->column_count + i], cell);
      if (report != NULL) {
        json_object_set_new(cell, "journal", report_string(journal_path(report->journal)));
        json_object_set_new(cell, "faults", json_integer((json_int_t)report->all.total));
        json_object_set_new(cell, "cycles", json_integer((json_int_t)report_time(report)));
        json_object_set_new(cell, "notes", json_notes(report->journal));
      }
      json_array_append_new(cells, cell);
    }
  }
  json_object_set_new(object, "confidence", json_real(matrix->reports[0]->confidence));
  json_object_set_new(object, "programs", rows);
  json_object_set_new(object, "columns", columns);
  json_object_set_new(object, "programs_in_means", json_integer(whole_rows(matrix)));
  json_object_set_new(object, "cells", cells);
  return object;
}

// ---- All ---------------------------------------------------------------------------------------------

bool report_matrix(Report *const *reports, uint32_t count, MatrixForm form, Text *out, Diags *diags) {
  Matrix matrix = {.arena = arena_new(), .reports = reports, .count = count};
  bool good = true;
  for (uint32_t i = 0; i < count && good; i++) good = report_is_whole(reports[i], diags);
  good = good && fill(&matrix, diags) && find_gains(&matrix, diags);
  if (good && form == MATRIX_TEXT) add_matrix_text(&matrix, out);
  if (good && form == MATRIX_CSV) add_matrix_csv(&matrix, out);
  if (good && form >= MATRIX_JSON) {
    json_t *object = matrix_json(&matrix);
    char *json = json_dumps(object, JSON_INDENT(1) | JSON_SORT_KEYS);
    ASSERT(json != NULL);
    if (form == MATRIX_JSON) text_add(out, "%s\n", json);
    else page_fill(matrix_page_html, json, out);
    free(json);
    json_decref(object);
  }
  arena_free(matrix.arena);
  return good;
}
