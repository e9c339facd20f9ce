// Journals of test kernels put side by side. See grade.h.
#include "report/grade.h"
#include "report/report_internal.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// ---- Read --------------------------------------------------------------------------------------------

// The signature is another, or there is none. A right one that comes late tells nothing.
static bool is_detected(uint8_t outcome) {
  const char *group = outcome_info[outcome % OUTCOME_COUNT].group;
  return strcmp(group, "sdc") == 0 || strcmp(group, "due") == 0;
}

static bool check_journal(const Report *report, const Report *first, Diags *diags) {
  const char *path = journal_path(report->journal);
  const JournalMeta *a = report->meta, *b = first->meta;
  if (!report_is_whole(report, diags)) return false;
  if (report->all.counts[OUTCOME_INTERNAL] > 0) return diags_add(diags, path, 0, 0, "has simulations that failed in Redoubt itself");
  if (strncmp(a->model, "stuck", 5) != 0 && strncmp(a->model, "duty", 4) != 0)
    return diags_add(diags, path, 0, 0, "is of model %s, which is over at once: tests find faults that last", a->model);
  if (report_draws_used(report))
    return diags_add(
        diags, path, 0, 0,
        "draws its faults from what its kernel uses, and kernels are graded on the same faults: repeat the campaigns with --draw all");
  if (a->shards > 1 || a->end > 0) return diags_add(diags, path, 0, 0, "is one shard of a campaign; 'redoubt merge' puts them together");
  if (strcmp(a->machine, b->machine) == 0 && strcmp(a->settings, b->settings) == 0 && strcmp(a->protection, b->protection) == 0)
    return true;
  return diags_add(diags, path, 0, 0, "is of another machine or protection than %s", journal_path(first->journal));
}

static bool is_same_kernel(const Report *a, const Report *b) {
  return strcmp(a->meta->target, b->meta->target) == 0 && strcmp(a->meta->arguments, b->meta->arguments) == 0;
}

// Kernels are told apart by their arguments where their names are the same.
static const char *kernel_name(const Grade *grade, Report *const *reports, uint32_t count, const Report *report) {
  for (uint32_t i = 0; i < count; i++) {
    bool is_other = strcmp(reports[i]->meta->target, report->meta->target) == 0 && !is_same_kernel(reports[i], report);
    if (is_other) return arena_format(grade->arena, "%s [%s]", report->meta->target, journal_path(report->journal));
  }
  return report->meta->target;
}

// Which kernel each journal is of, in the order of the journals.
static bool find_kernels(Grade *grade, Report *const *reports, uint32_t count, uint32_t *kernel_of, Diags *diags) {
  for (uint32_t i = 0; i < count; i++) {
    uint32_t first = 0;
    while (!is_same_kernel(reports[first], reports[i])) first++;
    if (first < i) {
      kernel_of[i] = kernel_of[first];
      continue;
    }
    if (grade->kernels.count == GRADE_KERNELS) return diags_add(diags, NULL, 0, 0, "more than %d kernels", GRADE_KERNELS);
    kernel_of[i] = grade->kernels.count;
    GradeKernel *kernel = VEC_PUSH(&grade->kernels, grade->arena);
    kernel->name = kernel_name(grade, reports, count, reports[i]);
    kernel->cycles = reports[i]->cycles;
    kernel->bit = UINT64_C(1) << kernel_of[i];
  }
  return true;
}

typedef struct ModelJournals { // of one model, one for each kernel
  const Report *by_kernel[GRADE_KERNELS];
} ModelJournals;

static bool collect_model(const Grade *grade, Report *const *reports, uint32_t count, const uint32_t *kernel_of, const char *model,
                          ModelJournals *of, Diags *diags) {
  *of = (ModelJournals){0};
  for (uint32_t i = 0; i < count; i++) {
    if (strcmp(reports[i]->meta->model, model) != 0) continue;
    const Report **place = &of->by_kernel[kernel_of[i]];
    if (*place != NULL) {
      return diags_add(diags, journal_path(reports[i]->journal), 0, 0, "is of the same kernel and model as %s: take one of them",
                       journal_path((*place)->journal));
    }
    *place = reports[i];
  }
  for (uint32_t k = 0; k < grade->kernels.count; k++) {
    if (of->by_kernel[k] == NULL)
      return diags_add(diags, NULL, 0, 0, "kernel %s has no journal of model %s", grade->kernels.items[k].name, model);
  }
  return true;
}

static uint32_t stratum_of(Grade *grade, const StructureSummary *structure, const JournalMeta *meta) {
  for (uint32_t i = 0; i < grade->strata.count; i++) {
    const GradeStratum *stratum = &grade->strata.items[i];
    if (strcmp(stratum->structure, structure->name) == 0 && strcmp(stratum->model, meta->model) == 0) return i;
  }
  GradeStratum *stratum = VEC_PUSH(&grade->strata, grade->arena);
  *stratum = (GradeStratum){.structure = structure->name, .model = meta->model, .bits = structure->bits};
  stratum->is_every = strcmp(meta->sampling, "every bit") == 0;
  return grade->strata.count - 1;
}

typedef struct Row {
  GradeFault fault;
  uint32_t stratum;
} Row;
typedef VEC(Row) RowVec;

// One walk along the journals of all kernels.
static bool walk_model(Grade *grade, const ModelJournals *of, RowVec *rows, Arena *arena, Diags *diags) {
  FaultCursor *cursors[GRADE_KERNELS];
  FaultRow first, other;
  uint32_t kernels = grade->kernels.count;
  bool same = true, good = true;
  for (uint32_t k = 0; k < kernels; k++) cursors[k] = journal_faults(of->by_kernel[k]->journal);
  while (same && journal_next_fault(cursors[0], &first)) {
    const StructureSummary *structure = report_structure(of->by_kernel[0], first.region);
    KernelSet set = is_detected(first.outcome);
    for (uint32_t k = 1; k < kernels && same; k++) {
      same = journal_next_fault(cursors[k], &other) && other.id == first.id && strcmp(other.fault, first.fault) == 0;
      if (same) set |= (KernelSet)is_detected(other.outcome) << k;
    }
    same = same && structure != NULL;
    if (!same) break;
    *VEC_PUSH(rows, arena) = (Row){{set, 0}, stratum_of(grade, structure, of->by_kernel[0]->meta)};
  }
  for (uint32_t k = 1; k < kernels && same; k++) same = !journal_next_fault(cursors[k], &other);
  for (uint32_t k = 0; k < kernels; k++) {
    if (!journal_end_faults(cursors[k])) good = journal_damaged(of->by_kernel[k]->journal, diags);
  }
  if (good && !same)
    return diags_add(diags, NULL, 0, 0,
                     "the kernels were not struck by the same faults of model %s: same --structure, --faults, "
                     "--fault-seed and --window cycles:0-1",
                     of->by_kernel[0]->meta->model);
  return good;
}

// Faults of a stratum side by side. Each stands for as many as there are of them.
static void sort_faults(Grade *grade, const RowVec *rows) {
  for (uint32_t i = 0; i < rows->count; i++) grade->strata.items[rows->items[i].stratum].faults++;
  for (uint32_t s = 0; s < grade->strata.count; s++) {
    GradeStratum *stratum = &grade->strata.items[s];
    stratum->first = grade->faults.count;
    for (uint32_t i = 0; i < rows->count; i++) {
      if (rows->items[i].stratum != s) continue;
      *VEC_PUSH(&grade->faults, grade->arena) =
          (GradeFault){rows->items[i].fault.detected_by, (double)stratum->bits / (double)stratum->faults};
    }
  }
}

// ---- Coverage ------------------------------------------------------------------------------------------

KernelSet grade_all(const Grade *grade) { return grade->kernels.count >= 64 ? UINT64_MAX : (UINT64_C(1) << grade->kernels.count) - 1; }

static Estimate stratum_coverage(const Grade *grade, const GradeStratum *stratum, KernelSet kernels) {
  uint64_t hits = 0;
  for (uint64_t i = 0; i < stratum->faults; i++) hits += (grade->faults.items[stratum->first + i].detected_by & kernels) != 0;
  double share = stratum->faults == 0 ? 0 : (double)hits / (double)stratum->faults;
  if (stratum->is_every) return (Estimate){true, share, share, share};
  Interval interval = wilson_interval(hits, stratum->faults, grade->confidence);
  return (Estimate){stratum->faults > 0, share, interval.low, interval.high};
}

Estimate grade_coverage(const Grade *grade, const char *structure, const char *model, KernelSet kernels) {
  EstimateSum sum = {0};
  double bits = 0;
  for (int pass = 0; pass < 2; pass++) { // the weights first
    for (uint32_t i = 0; i < grade->strata.count; i++) {
      const GradeStratum *stratum = &grade->strata.items[i];
      if (structure != NULL && strcmp(structure, stratum->structure) != 0) continue;
      if (model != NULL && strcmp(model, stratum->model) != 0) continue;
      Estimate share = stratum_coverage(grade, stratum, kernels);
      if (pass == 0) bits += (double)stratum->bits;
      else estimate_sum_add(&sum, (double)stratum->bits / bits, share.value, (Interval){share.low, share.high});
    }
  }
  Interval interval = estimate_sum_interval(&sum);
  return bits <= 0 ? (Estimate){0} : (Estimate){true, sum.value, fmax(interval.low, 0), fmin(interval.high, 1)};
}

// Of all strata: NULL.
static Estimate chosen_coverage(const Grade *grade, const GradeStratum *stratum) {
  if (!grade->choice.is_reached) return (Estimate){0};
  return stratum == NULL ? grade_coverage(grade, NULL, NULL, grade->choice.kernels)
                         : stratum_coverage(grade, stratum, grade->choice.kernels);
}

static void measure_kernels(Grade *grade) {
  KernelSet all = grade_all(grade), chosen = 0;
  const GradeFault *faults = grade->faults.items;
  uint32_t count = grade->kernels.count;
  double most = grade_covered(faults, grade->faults.count, all);
  for (uint32_t i = 0; i < count; i++) {
    GradeKernel *kernel = &grade->kernels.items[i];
    kernel->coverage = grade_coverage(grade, NULL, NULL, kernel->bit);
    kernel->only = most - grade_covered(faults, grade->faults.count, all & ~kernel->bit);
  }
  for (uint32_t i = 0; i < count; i++) {
    uint32_t best = count;
    double best_share = -1;
    for (uint32_t k = 0; k < count; k++) {
      double share = (chosen >> k & 1) != 0 ? -1 : grade_covered(faults, grade->faults.count, chosen | UINT64_C(1) << k);
      if (share > best_share) best = k, best_share = share;
    }
    chosen |= UINT64_C(1) << best;
    grade->order[i] = best;
    grade->kernels.items[best].together = best_share;
  }
}

// ---- All -------------------------------------------------------------------------------------------------

static bool fill(Grade *grade, Report *const *reports, uint32_t count, Arena *scratch, Diags *diags) {
  uint32_t *kernel_of = ARENA_ARRAY(scratch, uint32_t, count + 1);
  RowVec rows = {0};
  bool good = true;
  for (uint32_t i = 0; i < count && good; i++) good = check_journal(reports[i], reports[0], diags);
  good = good && find_kernels(grade, reports, count, kernel_of, diags);
  for (uint32_t i = 0; i < count && good; i++) {
    const char *model = reports[i]->meta->model;
    uint32_t first = 0;
    while (strcmp(reports[first]->meta->model, model) != 0) first++;
    ModelJournals of;
    if (first == i)
      good = collect_model(grade, reports, count, kernel_of, model, &of, diags) && walk_model(grade, &of, &rows, scratch, diags);
  }
  if (good) sort_faults(grade, &rows);
  return good;
}

Grade *grade_read(Report *const *reports, uint32_t count, const GradeOptions *options, Diags *diags) {
  Arena *arena = arena_new(), *scratch = arena_new();
  Grade *grade = ARENA_NEW(arena, Grade);
  *grade = (Grade){.arena = arena, .confidence = options->confidence, .goal = options->goal, .first = reports[0]};
  bool good = fill(grade, reports, count, scratch, diags);
  if (good) {
    uint64_t cycles[GRADE_KERNELS];
    for (uint32_t i = 0; i < grade->kernels.count; i++) cycles[i] = grade->kernels.items[i].cycles;
    measure_kernels(grade);
    // Without a goal: all that the set can detect.
    if (grade->goal <= 0) grade->goal = grade_covered(grade->faults.items, grade->faults.count, grade_all(grade));
    grade->choice = grade_choose(grade->faults.items, grade->faults.count, cycles, grade->kernels.count, grade->goal, GRADE_EXACT);
  }
  arena_free(scratch);
  if (good) return grade;
  arena_free(arena);
  return NULL;
}

void grade_free(Grade *grade) {
  if (grade != NULL) arena_free(grade->arena);
}

// ---- Text --------------------------------------------------------------------------------------------------

// Where every bit was struck there is no chance, and no interval.
static const char *share_text(Estimate share, char text[ESTIMATE_TEXT]) {
  if (share.is_known && share.low == share.high) snprintf(text, ESTIMATE_TEXT, "%s", percent_text(share.value).at);
  else estimate_text(share, AS_PERCENT, text);
  return text;
}

static int kernel_width(const Grade *grade) {
  int width = 16;
  for (uint32_t i = 0; i < grade->kernels.count; i++) {
    int length = (int)strlen(grade->kernels.items[i].name);
    width = length > width ? length : width;
  }
  return width;
}

static void add_choice(const Grade *grade, Text *out) {
  const GradeChoice *choice = &grade->choice;
  char text[ESTIMATE_TEXT];
  if (!choice->is_reached) {
    text_add(out, "\nNo set of these kernels detects %.4g%%.\n", 100 * grade->goal);
    return;
  }
  text_add(out, "\nTo detect %.4g%%: %u of %u kernels\n", 100 * grade->goal, choice->count, grade->kernels.count);
  uint64_t cycles = 0;
  for (uint32_t i = 0; i < grade->kernels.count; i++) {
    const GradeKernel *kernel = &grade->kernels.items[i];
    if ((choice->kernels & kernel->bit) == 0) continue;
    text_add(out, "  %s\n", kernel->name);
    cycles += kernel->cycles;
  }
  text_add(out, "They detect %s %% in %" PRIu64 " cycles.\n", share_text(grade_coverage(grade, NULL, NULL, choice->kernels), text), cycles);
  if (choice->is_smallest) text_add(out, "No smaller set does, of these faults.\n");
  else text_add(out, "Chosen greedily: no set of fewer than %u can do it.\n", choice->least);
  bool is_drawn = false;
  for (uint32_t i = 0; i < grade->strata.count; i++) is_drawn |= !grade->strata.items[i].is_every;
  if (is_drawn)
    text_add(out, "The set was chosen on the faults that it is judged by, which flatters it:\ngrade it again with another --fault-seed.\n");
}

void grade_text(const Grade *grade, Text *out) {
  char text[ESTIMATE_TEXT], all[ESTIMATE_TEXT];
  int width = kernel_width(grade);
  text_add(out, "%u kernels on %s; intervals at %.4g%%\n", grade->kernels.count, grade->first->meta->machine, 100 * grade->confidence);
  text_add(out, "detected: another signature, or none (trap, hang)\n");
  text_add(out, "\n%-*s %10s  %-22s %8s  %s\n", width, "kernel", "cycles", "detects %", "alone %", "so far %");
  for (uint32_t i = 0; i < grade->kernels.count; i++) {
    const GradeKernel *kernel = &grade->kernels.items[grade->order[i]];
    text_add(out, "%-*s %10" PRIu64 "  %-22s %8.2f  %.2f\n", width, kernel->name, kernel->cycles, share_text(kernel->coverage, text),
             100 * kernel->only, 100 * kernel->together);
  }
  text_add(out, "\n%-14s %-8s %9s %9s  %-21s %s\n", "structure", "model", "bits", "faults", "all kernels %", "chosen %");
  for (uint32_t i = 0; i < grade->strata.count; i++) {
    const GradeStratum *stratum = &grade->strata.items[i];
    text_add(out, "%-14s %-8s %9" PRIu64 " %9" PRIu64 "  %-21s %s\n", stratum->structure, stratum->model, stratum->bits, stratum->faults,
             share_text(stratum_coverage(grade, stratum, grade_all(grade)), all), share_text(chosen_coverage(grade, stratum), text));
  }
  text_add(out, "%-14s %-8s %9s %9u  %-21s %s\n", "all, by bits", "", "", grade->faults.count,
           share_text(grade_coverage(grade, NULL, NULL, grade_all(grade)), all), share_text(chosen_coverage(grade, NULL), text));
  add_choice(grade, out);
}

// ---- CSV and JSON --------------------------------------------------------------------------------------------

static const char *column_name(const Grade *grade, uint32_t column) {
  if (column < grade->kernels.count) return grade->kernels.items[column].name;
  return column == grade->kernels.count ? "all kernels" : "chosen kernels";
}

static KernelSet column_set(const Grade *grade, uint32_t column) {
  if (column < grade->kernels.count) return grade->kernels.items[column].bit;
  return column == grade->kernels.count ? grade_all(grade) : grade->choice.kernels;
}

// Every structure and model, and all of them, by every kernel, by all, and by the chosen ones.
void grade_csv(const Grade *grade, Text *out) {
  add_text(out, "structure,model,bits,faults,every_bit,kernels,coverage,coverage_low,coverage_high\n");
  for (uint32_t i = 0; i <= grade->strata.count; i++) {
    const GradeStratum *stratum = i < grade->strata.count ? &grade->strata.items[i] : NULL;
    for (uint32_t k = 0; k < grade->kernels.count + 2; k++) {
      text_add_csv_name(out, stratum == NULL ? "all" : stratum->structure);
      add_text(out, ",");
      text_add_csv_name(out, stratum == NULL ? "all" : stratum->model);
      if (stratum != NULL) text_add(out, ",%" PRIu64 ",%" PRIu64 ",%s,", stratum->bits, stratum->faults, stratum->is_every ? "yes" : "no");
      else text_add(out, ",,%u,,", grade->faults.count);
      text_add_csv_name(out, column_name(grade, k));
      csv_estimate(out, stratum == NULL ? grade_coverage(grade, NULL, NULL, column_set(grade, k))
                                        : stratum_coverage(grade, stratum, column_set(grade, k)));
      add_text(out, "\n");
    }
  }
}

static json_t *kernels_json(const Grade *grade) {
  json_t *array = json_array();
  for (uint32_t i = 0; i < grade->kernels.count; i++) {
    const GradeKernel *kernel = &grade->kernels.items[grade->order[i]];
    json_t *row = json_object();
    json_object_set_new(row, "kernel", report_string(kernel->name));
    json_object_set_new(row, "cycles", json_integer((json_int_t)kernel->cycles));
    json_object_set_new(row, "coverage", json_estimate(kernel->coverage));
    json_object_set_new(row, "alone", json_real(kernel->only));
    json_object_set_new(row, "so_far", json_real(kernel->together));
    json_object_set_new(row, "chosen", json_boolean((grade->choice.kernels & kernel->bit) != 0));
    json_array_append_new(array, row);
  }
  return array;
}

void grade_json(const Grade *grade, Text *out) {
  json_t *object = json_object(), *strata = json_array(), *choice = json_object();
  for (uint32_t i = 0; i < grade->strata.count; i++) {
    const GradeStratum *stratum = &grade->strata.items[i];
    json_t *row = json_object();
    json_object_set_new(row, "structure", report_string(stratum->structure));
    json_object_set_new(row, "model", report_string(stratum->model));
    json_object_set_new(row, "bits", json_integer((json_int_t)stratum->bits));
    json_object_set_new(row, "faults", json_integer((json_int_t)stratum->faults));
    json_object_set_new(row, "every_bit", json_boolean(stratum->is_every));
    json_object_set_new(row, "coverage", json_estimate(stratum_coverage(grade, stratum, grade_all(grade))));
    json_object_set_new(row, "chosen_coverage", json_estimate(chosen_coverage(grade, stratum)));
    json_array_append_new(strata, row);
  }
  json_object_set_new(choice, "goal", json_real(grade->goal));
  json_object_set_new(choice, "reached", json_boolean(grade->choice.is_reached));
  json_object_set_new(choice, "smallest", json_boolean(grade->choice.is_smallest));
  json_object_set_new(choice, "kernels", json_integer(grade->choice.count));
  json_object_set_new(choice, "at_least", json_integer(grade->choice.least));
  json_object_set_new(choice, "coverage", json_estimate(chosen_coverage(grade, NULL)));
  json_object_set_new(object, "machine", report_string(grade->first->meta->machine));
  json_object_set_new(object, "confidence", json_real(grade->confidence));
  json_object_set_new(object, "kernels", kernels_json(grade));
  json_object_set_new(object, "structures", strata);
  json_object_set_new(object, "coverage", json_estimate(grade_coverage(grade, NULL, NULL, grade_all(grade))));
  json_object_set_new(object, "choice", choice);
  char *text = json_dumps(object, JSON_INDENT(1) | JSON_SORT_KEYS);
  ASSERT(text != NULL);
  text_add(out, "%s\n", text);
  free(text);
  json_decref(object);
}
