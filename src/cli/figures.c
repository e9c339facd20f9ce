// Tables of what several workloads did: a row each, and means; see measure.h.
#include "cli/measure.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>

enum { NAME_WIDTH = 15, LEAST_COLUMN_WIDTH = 10 };

const char *const mean_text[MEAN_KINDS] = {[MEAN_ARITHMETIC] = "arithmetic mean", [MEAN_GEOMETRIC] = "geometric mean"};
static const char *const paper_text[] = {[SET_RISE] = "RISE", [SET_HINTS] = "hints"};

// ---- Values --------------------------------------------------------------------------------------------

const char *figure_name(const Figure *figure) {
  if (figure->kind == FIGURE_ENERGY) return energy_figure_name[figure->energy];
  return figure->kind == FIGURE_COUNT ? stat_info[figure->stat].name : ratio_info[figure->ratio].name;
}

bool figure_value(const Figure *figure, const Stats *stats, double *value) {
  if (figure->is_unknown) return false;
  if (figure->kind == FIGURE_ENERGY) {
    Energy energy = energy_of(figure->power, stats);
    *value = energy_figure(&energy, figure->energy);
    return figure->power->is_there;
  }
  if (figure->kind != FIGURE_COUNT) return ratio_value(figure->ratio, stats, value);
  *value = (double)stats->value[figure->stat];
  return true;
}

bool figure_mean(const Figure *figure, MeanKind mean, const Measured *results, uint32_t count, double *value) {
  bool scales = figure->kind == FIGURE_COUNT || figure->kind == FIGURE_RATE || figure->kind == FIGURE_ENERGY;
  if (mean == (scales ? MEAN_ARITHMETIC : MEAN_GEOMETRIC)) return false;
  double sum = 0, one;
  uint32_t found = 0;
  for (uint32_t i = 0; i < count; i++) {
    if (results[i].code != EXIT_OK || !figure_value(figure, &results[i].total.stats, &one)) continue;
    if (mean == MEAN_GEOMETRIC && one <= 0) return false; // it has no logarithm
    sum += mean == MEAN_GEOMETRIC ? log(one) : one;
    found++;
  }
  if (found == 0) return false;
  *value = mean == MEAN_GEOMETRIC ? exp(sum / found) : sum / found;
  return true;
}

// ---- Names -----------------------------------------------------------------------------------------------

void papers_names(const char *workload, Text *out) {
  size_t before = out->length;
  for (WorkloadSetId set = 0; set < COUNT_OF(paper_text); set++) {
    const WorkloadMember *member = paper_text[set] == NULL ? NULL : workload_member(workload, set);
    if (member == NULL) continue;
    text_add(out, "%s%s %s%s", out->length == before ? "" : ", ", paper_text[set], member->abbreviation, member->doubt == NULL ? "" : "?");
  }
}

// ---- Text ------------------------------------------------------------------------------------------------

static int column_width(const Figure *figure) {
  int least = figure->kind == FIGURE_COUNT ? 16 : LEAST_COLUMN_WIDTH, length = (int)strlen(figure->title) + 1;
  return length > least ? length : least;
}

static void add_value(const Figure *figure, bool exists, double value, Text *out) {
  int width = column_width(figure);
  if (!exists) text_add(out, "%*s", width, "-");
  else if (figure->kind == FIGURE_COUNT) text_add(out, "%*.0f", width, value);
  else if (figure->kind == FIGURE_SHARE) text_add(out, "%*.*f%%", width - 1, figure->digits, 100 * value);
  else text_add(out, "%*.*f", width, figure->digits, value);
}

static const char *check_of(const Measured *result) {
  if (result->total.trap.kind != TRAP_NONE) return trap_info[result->total.trap.kind].name;
  if (result->code == EXIT_INTERNAL) return "internal error";
  return result->code == EXIT_OK ? "passed" : result->launches == 0 ? "refused" : "failed";
}

static void add_row(const FigureTable *table, const Measured *result, Text *out) {
  text_add(out, "%-*s", NAME_WIDTH, result->workload->name);
  for (uint32_t i = 0; i < table->figure_count; i++) {
    double value = 0;
    bool exists = result->launches > 0 && figure_value(&table->figures[i], &result->total.stats, &value);
    add_value(&table->figures[i], exists, value, out);
  }
  if (table->seconds) text_add(out, "%10.3f", result->total.host_seconds);
  text_add(out, "  %s\n", check_of(result));
}

void figures_text(const FigureTable *table, Text *out) {
  text_add(out, "%-*s", NAME_WIDTH, "workload");
  for (uint32_t i = 0; i < table->figure_count; i++) text_add(out, "%*s", column_width(&table->figures[i]), table->figures[i].title);
  if (table->seconds) text_add(out, "%10s", "seconds");
  text_add(out, "  check\n");
  for (uint32_t i = 0; i < table->count; i++) add_row(table, &table->results[i], out);
  for (MeanKind mean = 0; mean < MEAN_KINDS && table->count > 1; mean++) {
    text_add(out, "%-*s", NAME_WIDTH, mean_text[mean]);
    for (uint32_t i = 0; i < table->figure_count; i++) {
      double value = 0;
      bool exists = figure_mean(&table->figures[i], mean, table->results, table->count, &value);
      if (exists) add_value(&table->figures[i], exists, value, out);
      else text_add(out, "%*s", column_width(&table->figures[i]), "");
    }
    text_add(out, "\n");
  }
}

// ---- CSV -------------------------------------------------------------------------------------------------

// Counts to the last digit, all others to nine, which no library's logarithm changes.
static void add_field(const Figure *figure, bool exists, double value, Text *out) {
  if (!exists) text_add(out, ",");
  else if (figure->kind == FIGURE_COUNT && value == floor(value)) text_add(out, ",%.0f", value);
  else text_add(out, ",%.9g", value);
}

void figures_csv(const FigureTable *table, const char *machine, const char *size, Text *out) {
  text_add(out, "workload,machine,size,check,launches,host_seconds");
  for (uint32_t i = 0; i < table->figure_count; i++) text_add(out, ",%s", figure_name(&table->figures[i]));
  text_add(out, "\n");
  for (uint32_t r = 0; r < table->count; r++) {
    const Measured *result = &table->results[r];
    text_add(out, "%s,%s,%s,%s,%u,%.9g", result->workload->name, machine, size, check_of(result), result->launches,
             result->total.host_seconds);
    for (uint32_t i = 0; i < table->figure_count; i++) {
      double value = 0;
      bool exists = result->launches > 0 && figure_value(&table->figures[i], &result->total.stats, &value);
      add_field(&table->figures[i], exists, value, out);
    }
    text_add(out, "\n");
  }
  for (MeanKind mean = 0; mean < MEAN_KINDS && table->count > 1; mean++) {
    text_add(out, "%s,%s,%s,,,", mean_text[mean], machine, size);
    for (uint32_t i = 0; i < table->figure_count; i++) {
      double value = 0;
      bool exists = figure_mean(&table->figures[i], mean, table->results, table->count, &value);
      add_field(&table->figures[i], exists, value, out);
    }
    text_add(out, "\n");
  }
}

// ---- Traits ------------------------------------------------------------------------------------------------

uint32_t traits_judge(const Measured *results, uint32_t count, WorkloadSize size, Text *out) {
  uint32_t broken = 0;
  for (uint32_t i = 0; i < count; i++) {
    const Workload *workload = results[i].workload;
    for (uint32_t t = 0; t < workload_trait_count(workload) && results[i].code == EXIT_OK; t++) {
      const WorkloadTrait *trait = &workload->traits[t];
      double value;
      if (size < trait->from) continue;
      bool holds = workload_trait_holds(trait, &results[i].total.stats, &value);
      text_add(out, "%-14s %s %.4g, %s %g: %s (%s)\n", workload->name, ratio_info[trait->ratio].name, value,
               trait->bound == TRAIT_AT_LEAST ? "at least" : "at most", trait->value, holds ? "holds" : "DOES NOT HOLD", trait->why);
      broken += holds ? 0 : 1;
    }
  }
  return broken;
}

// ---- Everything, for scripts -------------------------------------------------------------------------------

uint32_t figures_all(Figure figures[FIGURES_MOST], bool timed, const PowerModel *power) {
  uint32_t count = 0;
  for (StatId stat = 0; stat < STAT_COUNT; stat++)
    figures[count++] = (Figure){.kind = FIGURE_COUNT, .stat = stat, .is_unknown = !timed && stat == STAT_CYCLES};
  for (RatioId ratio = 0; ratio < RATIO_COUNT; ratio++) {
    bool is_rate = ratio == RATIO_THREAD_IPC || ratio == RATIO_WARP_IPC;
    figures[count++] = (Figure){.kind = is_rate ? FIGURE_RATE : FIGURE_NUMBER, .ratio = ratio, .is_unknown = !timed && is_rate};
  }
  for (EnergyFigure i = 0; i < ENERGY_FIGURES; i++) figures[count++] = (Figure){.kind = FIGURE_ENERGY, .energy = i, .power = power};
  return count;
}

static json_t *means_json(const Measured *results, uint32_t count, bool timed, const PowerModel *power) {
  Figure figures[FIGURES_MOST];
  uint32_t figure_count = figures_all(figures, timed, power);
  json_t *means = json_object();
  for (MeanKind mean = 0; mean < MEAN_KINDS; mean++) {
    json_t *values = json_object();
    for (uint32_t i = 0; i < figure_count; i++) {
      double value;
      if (figure_mean(&figures[i], mean, results, count, &value)) json_object_set_new(values, figure_name(&figures[i]), json_real(value));
    }
    json_object_set_new(means, mean == MEAN_ARITHMETIC ? "arithmetic" : "geometric", values);
  }
  return means;
}

static json_t *names_json(const char *workload) {
  json_t *names = json_object();
  for (WorkloadSetId set = 0; set < COUNT_OF(paper_text); set++) {
    const WorkloadMember *member = paper_text[set] == NULL ? NULL : workload_member(workload, set);
    if (member != NULL) json_object_set_new(names, workload_sets[set].name, json_string(member->abbreviation));
  }
  return names;
}

static json_t *traits_json(const Workload *workload, const Stats *stats) {
  json_t *traits = json_array();
  for (uint32_t i = 0; i < workload_trait_count(workload); i++) {
    const WorkloadTrait *trait = &workload->traits[i];
    double value;
    bool holds = workload_trait_holds(trait, stats, &value);
    json_array_append_new(traits, json_pack("{s:s, s:s, s:f, s:f, s:b, s:s, s:s}", "ratio", ratio_info[trait->ratio].name, "bound",
                                            trait->bound == TRAIT_AT_LEAST ? "at least" : "at most", "limit", trait->value, "value", value,
                                            "holds", holds, "from_size", workload_size_text[trait->from], "why", trait->why));
  }
  return traits;
}

static json_t *measured_json(const Measured *result, const Spec *spec, const RunPower *power) {
  json_t *object = json_pack("{s:s, s:o, s:s, s:i, s:I, s:f}", "workload", result->workload->name, "names",
                             names_json(result->workload->name), "check", check_of(result), "exit_code", result->code, "launches",
                             (json_int_t)result->launches, "host_seconds", result->total.host_seconds);
  if (result->message[0] != '\0') json_object_set_new(object, "message", json_string(result->message));
  if (result->launches == 0) return object;
  const Stats *stats = &result->total.stats;
  stats_json(stats, machine_can(spec, MACHINE_HAS_TIME), object);
  if (!machine_can(spec, MACHINE_HAS_TIME)) return object;
  json_object_set_new(object, "ratios", ratios_json(stats, spec));
  energy_json(power, stats, true, object);
  if (strcmp(spec->machine, TRAIT_MACHINE) == 0) json_object_set_new(object, "traits", traits_json(result->workload, stats));
  return object;
}

json_t *figures_json(const Measured *results, uint32_t count, const Spec *spec, const RunPower *power, const char *size) {
  json_t *list = json_array();
  for (uint32_t i = 0; i < count; i++) json_array_append_new(list, measured_json(&results[i], spec, power));
  return json_pack("{s:s, s:s, s:o, s:o}", "machine", spec->machine, "size", size, "workloads", list, "means",
                   means_json(results, count, machine_can(spec, MACHINE_HAS_TIME), &power->model));
}
