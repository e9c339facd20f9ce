// What becomes of each fault: without mechanisms, with each of them, with all of them. Campaigns on the same faults are walked side by
// side, fault by fault, so that the union of mechanisms is counted and not assumed.
#include "report/fmeda_internal.h"

#include <math.h>
#include <stdlib.h>

// ---- One fault in one run ----------------------------------------------------------------------------

typedef enum Harm { HARM_NONE, HARM_STOPPED, HARM_DONE } Harm; // right results; found or put right; the goal is violated

static FailureMode mode_of(uint8_t outcome) {
  switch (outcome) {
  case OUTCOME_MASKED: return MODE_NONE;
  case OUTCOME_PERFORMANCE: return MODE_LATE;
  case OUTCOME_TOLERATED:
  case OUTCOME_SDC_ORDER:
  case OUTCOME_SDC_TOLERABLE: return MODE_TOLERABLE;
  case OUTCOME_SDC_CRITICAL:
  case OUTCOME_SDC: return MODE_WRONG;
  case OUTCOME_DUE_HANG:
  case OUTCOME_TIMEOUT: return MODE_HANG;
  case OUTCOME_DETECTED:
  case OUTCOME_CORRECTED: return MODE_FOUND;
  default: return MODE_TRAP;
  }
}

// From the strike to the detection. Where it is not noted: as long as a run may take.
static double detection_seconds(const Fmeda *fmeda, const Source *source, const Mark *mark) {
  const Report *report = source->journal->report;
  uint64_t end = mark->outcome == OUTCOME_DETECTED && mark->cycles > 0 ? mark->cycles : report->cycles * report->meta->timeout;
  return end <= mark->cycle || fmeda->clock_hz <= 0 ? 0 : (double)(end - mark->cycle) / fmeda->clock_hz;
}

static bool is_in_time(const Fmeda *fmeda, double seconds) {
  return fmeda->options->ftti <= 0 || seconds + fmeda->options->reaction <= fmeda->options->ftti;
}

// Without the platform's mechanisms.
static Harm raw_harm(const Fmeda *fmeda, const Source *source, const Mark *mark) {
  switch (mode_of(mark->outcome)) {
  case MODE_NONE:
  case MODE_LATE: return HARM_NONE;
  case MODE_TOLERABLE: return fmeda->options->tolerable_is_safe ? HARM_NONE : HARM_DONE;
  case MODE_FOUND:
    if (mark->outcome == OUTCOME_CORRECTED) return HARM_STOPPED;
    return is_in_time(fmeda, detection_seconds(fmeda, source, mark)) ? HARM_STOPPED : HARM_DONE;
  default: return HARM_DONE;
  }
}

static bool platform_stops(const Fmeda *fmeda, const Source *source, const Mark *mark) {
  FailureMode mode = mode_of(mark->outcome);
  bool is_watched = (mode == MODE_TRAP && fmeda->options->traps) || (mode == MODE_HANG && fmeda->options->watchdog);
  return is_watched && is_in_time(fmeda, detection_seconds(fmeda, source, mark));
}

static Harm harm_of(const Fmeda *fmeda, const Source *source, const Mark *mark) {
  return platform_stops(fmeda, source, mark) ? HARM_STOPPED : raw_harm(fmeda, source, mark);
}

// A test tells by its results, or by having none.
static bool is_flagged(const Mark *mark) {
  FailureMode mode = mode_of(mark->outcome);
  return mode != MODE_NONE && mode != MODE_LATE && mark->outcome != OUTCOME_CORRECTED;
}

// Somebody is told of the fault, so that it does not stay.
static bool is_told(const Fmeda *fmeda, const Source *source, const Mark *mark) {
  if (mark->outcome == OUTCOME_CORRECTED) return !fmeda->options->silent;
  return mark->outcome == OUTCOME_DETECTED || platform_stops(fmeda, source, mark);
}

// ---- Side by side ------------------------------------------------------------------------------------

typedef struct Walk {
  const Source *source;
  uint32_t at;
} Walk;

// The next fault of the source's structure, from that number within it on; NULL: no more.
static const Mark *walk_to(Walk *walk, uint64_t number) {
  const MarkVec *marks = walk->source->marks;
  while (walk->at < marks->count) {
    const Mark *mark = &marks->items[walk->at];
    if (mark->region == walk->source->region && mark->number >= number) return mark;
    walk->at++;
  }
  return NULL;
}

static const Mark *walk_at(Walk *walk, uint64_t number) {
  const Mark *mark = walk_to(walk, number);
  return mark != NULL && mark->number == number ? mark : NULL;
}

// Of its structure: how much its faults are drawn from.
static double drawn_of(const Source *source) {
  const StructureSummary *structure = report_structure(source->journal->report, source->region);
  return structure == NULL ? 1 : structure->drawn;
}

// Equal numbers mean equal faults. Some equal ones among others would be chance. Those drawn from what is used are equal where that is the same.
static bool are_same_faults(const Source *a, const Source *b) {
  if (drawn_of(a) != drawn_of(b)) return false;
  Walk left = {a, 0}, right = {b, 0};
  uint64_t same = 0;
  for (const Mark *mark = walk_to(&left, 0); mark != NULL; mark = walk_to(&left, mark->number + 1)) {
    const Mark *other = walk_at(&right, mark->number);
    if (other == NULL) continue;
    if (other->hash != mark->hash) return false;
    same++;
  }
  return same > 0;
}

// The campaigns that can be paired with the one without mechanisms, and where each of them is.
typedef struct Pairing {
  Walk base, mechanisms[MOST_SOURCES], tests[MOST_SOURCES];
  uint32_t mechanism_count, test_count;
  const Mark *at_base, *at_mechanism[MOST_SOURCES], *at_test[MOST_SOURCES]; // of the current fault
} Pairing;

static Pairing pairing_make(const CellSources *sources) {
  Pairing pairing = {.base = {&sources->base, 0}};
  for (uint32_t i = 0; i < sources->mechanism_count; i++) {
    if (are_same_faults(&sources->base, &sources->mechanisms[i]))
      pairing.mechanisms[pairing.mechanism_count++] = (Walk){&sources->mechanisms[i], 0};
  }
  for (uint32_t i = 0; i < sources->test_count; i++) {
    if (are_same_faults(&sources->base, &sources->tests[i])) pairing.tests[pairing.test_count++] = (Walk){&sources->tests[i], 0};
  }
  return pairing;
}

// The next fault that all of them have.
static bool pairing_next(Pairing *pairing) {
  uint64_t number = pairing->at_base == NULL ? 0 : pairing->at_base->number + 1;
  while ((pairing->at_base = walk_to(&pairing->base, number)) != NULL) {
    bool all = true;
    number = pairing->at_base->number;
    for (uint32_t i = 0; i < pairing->mechanism_count; i++)
      all &= (pairing->at_mechanism[i] = walk_at(&pairing->mechanisms[i], number)) != NULL;
    for (uint32_t i = 0; i < pairing->test_count; i++) all &= (pairing->at_test[i] = walk_at(&pairing->tests[i], number)) != NULL;
    if (all) return true;
    number++;
  }
  return false;
}

// ---- Classes -------------------------------------------------------------------------------------------

typedef struct Together { // what all runs of one fault say
  bool any_done, any_stopped, all_done, told, flagged;
} Together;

static Together put_together(const Fmeda *fmeda, const Pairing *pairing) {
  const FmedaOptions *options = fmeda->options;
  Together all = {.all_done = true};
  bool is_bare = pairing->mechanism_count == 0;
  for (uint32_t i = 0; i < pairing->mechanism_count + is_bare; i++) {
    const Source *source = is_bare ? pairing->base.source : pairing->mechanisms[i].source;
    const Mark *mark = is_bare ? pairing->at_base : pairing->at_mechanism[i];
    Harm harm = harm_of(fmeda, source, mark);
    all.any_done |= harm == HARM_DONE;
    all.any_stopped |= harm == HARM_STOPPED;
    all.all_done &= harm == HARM_DONE;
    all.told |= is_told(fmeda, source, mark);
  }
  for (uint32_t i = 0; i < pairing->test_count; i++) {
    bool flagged = is_flagged(pairing->at_test[i]);
    all.told |= flagged;
    all.flagged |= flagged && is_in_time(fmeda, options->test_interval);
  }
  return all;
}

// A bit that the run without faults does not read says nothing of one that another program reads.
static FaultClass harmless_class(const Mark *mark) { return mark->read == 1 ? CLASS_HARMLESS : CLASS_UNUSED; }

static FaultClass class_of(const Fmeda *fmeda, const FmedaCell *cell, const Pairing *pairing) {
  Together all = put_together(fmeda, pairing);
  bool is_dangerous = raw_harm(fmeda, pairing->base.source, pairing->at_base) == HARM_DONE;
  bool is_residual = is_dangerous ? all.all_done : all.any_done && !all.any_stopped;
  if (is_residual && !all.flagged) return CLASS_RESIDUAL;
  if (!is_dangerous) return harmless_class(pairing->at_base);
  return cell->type == FMEDA_PERMANENT && !all.told ? CLASS_LATENT : CLASS_DETECTED;
}

static void classify_paired(const Fmeda *fmeda, FmedaCell *cell, Pairing pairing) {
  Walk all = pairing.base;
  cell->drawn = drawn_of(pairing.base.source);
  cell->undrawn = CLASS_UNUSED;
  for (const Mark *mark = walk_to(&all, 0); mark != NULL; mark = walk_to(&all, mark->number + 1)) cell->left_out++;
  while (pairing_next(&pairing)) {
    FaultClass class = class_of(fmeda, cell, &pairing);
    ModeRow *mode = &cell->modes[mode_of(pairing.at_base->outcome)];
    cell->faults++;
    cell->left_out--;
    cell->counts[class]++;
    cell->unrecorded += class == CLASS_UNUSED && pairing.at_base->read < 0;
    mode->faults++;
    mode->left += class == CLASS_RESIDUAL;
  }
  cell->measured[cell->measured_count++] = pairing.base.source->journal;
  for (uint32_t i = 0; i < pairing.mechanism_count && cell->measured_count < COUNT_OF(cell->measured); i++)
    cell->measured[cell->measured_count++] = pairing.mechanisms[i].source->journal;
  for (uint32_t i = 0; i < pairing.test_count && cell->measured_count < COUNT_OF(cell->measured); i++)
    cell->measured[cell->measured_count++] = pairing.tests[i].source->journal;
}

// One campaign by itself: what would have happened without its mechanism is not known fault by fault.
static void classify_alone(const Fmeda *fmeda, FmedaCell *cell, const Source *source) {
  Walk walk = {source, 0};
  bool stays_undrawn = cell->type == FMEDA_PERMANENT && cell->is_own_state && fmeda->options->count_unused;
  cell->drawn = drawn_of(source);
  cell->undrawn = stays_undrawn ? CLASS_LATENT : CLASS_UNUSED;
  for (const Mark *mark = walk_to(&walk, 0); mark != NULL; mark = walk_to(&walk, mark->number + 1)) {
    Harm harm = harm_of(fmeda, source, mark);
    bool stays = cell->type == FMEDA_PERMANENT && !is_told(fmeda, source, mark);
    FaultClass class = harm == HARM_DONE ? CLASS_RESIDUAL : harm == HARM_STOPPED ? CLASS_DETECTED : harmless_class(mark);
    bool may_meet = class == CLASS_HARMLESS || (class == CLASS_UNUSED && (mark->read < 0 || fmeda->options->count_unused));
    if (stays && (class == CLASS_DETECTED || (may_meet && cell->is_own_state))) class = CLASS_LATENT;
    ModeRow *mode = &cell->modes[mode_of(mark->outcome)];
    cell->faults++;
    cell->counts[class]++;
    cell->unrecorded += class == CLASS_UNUSED && mark->read < 0;
    mode->faults++;
    mode->left += class == CLASS_RESIDUAL;
  }
  cell->measured[cell->measured_count++] = source->journal;
}

// ---- Coverage --------------------------------------------------------------------------------------------

static void coverage_share(Coverage *coverage, uint64_t faults, double drawn, double confidence) {
  coverage->danger = share_scaled(share_estimate(coverage->dangerous, faults, confidence), drawn);
  coverage->leaves = share_scaled(share_estimate(coverage->left, faults, confidence), drawn);
  coverage->share = share_estimate(coverage->dangerous - coverage->left, coverage->dangerous, confidence);
}

enum { PLATFORM_TRAPS, PLATFORM_WATCHDOG, PLATFORMS };
static const char *const platform_names[PLATFORMS] = {"platform: traps", "platform: watchdog"};

// Of each mechanism alone, of the platform's, and of all together, from one walk.
static void cover_paired(const Fmeda *fmeda, FmedaCell *cell, Pairing pairing) {
  Coverage mechanisms[MOST_SOURCES] = {0}, tests[MOST_SOURCES] = {0}, platforms[PLATFORMS] = {0}, all = {.is_paired = true};
  const bool wanted[PLATFORMS] = {fmeda->options->traps, fmeda->options->watchdog};
  const FailureMode watched[PLATFORMS] = {MODE_TRAP, MODE_HANG};
  uint64_t faults = 0;
  for (; pairing_next(&pairing); faults++) {
    bool is_dangerous = raw_harm(fmeda, pairing.base.source, pairing.at_base) == HARM_DONE;
    all.dangerous += is_dangerous;
    all.left += is_dangerous && class_of(fmeda, cell, &pairing) == CLASS_RESIDUAL;
    all.induced += !is_dangerous && class_of(fmeda, cell, &pairing) == CLASS_RESIDUAL;
    for (uint32_t i = 0; i < pairing.mechanism_count; i++) {
      bool is_done = raw_harm(fmeda, pairing.mechanisms[i].source, pairing.at_mechanism[i]) == HARM_DONE;
      mechanisms[i].left += is_dangerous && is_done;
      mechanisms[i].induced += !is_dangerous && is_done;
    }
    for (uint32_t i = 0; i < pairing.test_count; i++)
      tests[i].left += is_dangerous && !(is_flagged(pairing.at_test[i]) && is_in_time(fmeda, fmeda->options->test_interval));
    for (uint32_t i = 0; i < PLATFORMS; i++) {
      bool is_stopped = mode_of(pairing.at_base->outcome) == watched[i] && platform_stops(fmeda, pairing.base.source, pairing.at_base);
      platforms[i].left += is_dangerous && !is_stopped;
    }
  }
  for (uint32_t i = 0; i < pairing.mechanism_count; i++) mechanisms[i].mechanism = pairing.mechanisms[i].source->journal->mechanism;
  for (uint32_t i = 0; i < pairing.test_count; i++) tests[i].mechanism = pairing.tests[i].source->journal->mechanism;
  for (uint32_t i = 0; i < PLATFORMS; i++) platforms[i].mechanism = wanted[i] ? platform_names[i] : NULL;
  const struct {
    Coverage *items;
    uint32_t count;
  } kinds[] = {{mechanisms, pairing.mechanism_count}, {tests, pairing.test_count}, {platforms, PLATFORMS}};
  double missed = 1;
  for (size_t k = 0; k < COUNT_OF(kinds); k++) {
    for (uint32_t i = 0; i < kinds[k].count; i++) {
      Coverage *coverage = &kinds[k].items[i];
      if (coverage->mechanism == NULL) continue;
      coverage->is_paired = true;
      coverage->dangerous = all.dangerous;
      coverage_share(coverage, faults, cell->drawn, fmeda->options->confidence);
      *VEC_PUSH(&cell->coverages, fmeda->arena) = *coverage;
      cell->best = fmax(cell->best, coverage->share.value);
      missed *= 1 - coverage->share.value;
    }
  }
  cell->independent = 1 - missed;
  if (cell->coverages.count == 0) return;
  all.mechanism = "all together";
  coverage_share(&all, faults, cell->drawn, fmeda->options->confidence);
  cell->together = all;
}

// Of other faults than those without mechanisms: from the two shares alone.
static void cover_alone(const Fmeda *fmeda, FmedaCell *cell, const Source *base, const Source *source) {
  const Source *const both[2] = {base, source};
  uint64_t faults[2] = {0}, done[2] = {0};
  double confidence = fmeda->options->confidence;
  for (uint32_t i = 0; i < 2; i++) {
    Walk walk = {both[i], 0};
    for (const Mark *mark = walk_to(&walk, 0); mark != NULL; mark = walk_to(&walk, mark->number + 1)) {
      faults[i]++;
      done[i] += raw_harm(fmeda, both[i], mark) == HARM_DONE;
    }
  }
  Coverage coverage = {.mechanism = source->journal->mechanism, .dangerous = done[0]};
  coverage.danger = share_scaled(share_estimate(done[0], faults[0], confidence), drawn_of(base));
  coverage.leaves = share_scaled(share_estimate(done[1], faults[1], confidence), drawn_of(source));
  if (done[0] > 0 && faults[1] > 0) {
    Estimate a = coverage.leaves, b = coverage.danger;
    Interval ratio = ratio_interval(a.value, (Interval){a.low, a.high}, b.value, (Interval){b.low, b.high});
    coverage.share = (Estimate){true, 1 - a.value / b.value, fmax(1 - ratio.high, -1), 1 - ratio.low};
  }
  *VEC_PUSH(&cell->coverages, fmeda->arena) = coverage;
}

// ---- A structure -------------------------------------------------------------------------------------------

static bool is_paired(const Pairing *pairing, const Source *source) {
  bool found = false;
  for (uint32_t i = 0; i < pairing->mechanism_count; i++) found |= pairing->mechanisms[i].source == source;
  return found;
}

static double residual_share(const FmedaCell *cell) {
  return cell->faults == 0 ? 1 : cell->drawn * (double)cell->counts[CLASS_RESIDUAL] / (double)cell->faults;
}

// A campaign on other faults counts if it leaves less than those on the same faults do together: a lower bound of what all do.
static void take_better(const Fmeda *fmeda, FmedaCell *cell, const Source *source) {
  FmedaCell other = {.type = cell->type, .is_own_state = cell->is_own_state};
  classify_alone(fmeda, &other, source);
  if (other.faults == 0 || (cell->faults > 0 && residual_share(&other) >= residual_share(cell))) return;
  memcpy(cell->counts, other.counts, sizeof cell->counts);
  cell->unrecorded = other.unrecorded;
  cell->left_out = 0;
  bool has_modes = cell->faults > 0; // of the campaign without mechanisms; how much of each is left is not known
  for (uint32_t i = 0; i < FAILURE_MODES; i++) {
    if (!has_modes) cell->modes[i] = other.modes[i];
    else cell->modes[i].left = cell->modes[i].faults;
  }
  cell->faults = other.faults;
  cell->drawn = other.drawn;
  cell->undrawn = other.undrawn;
  cell->measured[0] = other.measured[0];
  cell->measured_count = 1;
}

// What is not drawn has no effect.
static Estimate mode_share(const FmedaCell *cell, FailureMode mode, double confidence) {
  uint64_t faults = cell->modes[mode].faults;
  if (cell->drawn >= 1) return share_estimate(faults, cell->faults, confidence);
  if (mode != MODE_NONE) return share_scaled(share_estimate(faults, cell->faults, confidence), cell->drawn);
  return share_rest(share_scaled(share_estimate(cell->faults - faults, cell->faults, confidence), cell->drawn));
}

void cell_classify(const Fmeda *fmeda, FmedaCell *cell, const CellSources *sources) {
  Pairing pairing = {0};
  bool has_base = sources->base.journal != NULL;
  cell->is_own_state = cell->kind == KIND_NOT_KNOWN ? !has_base : cell->kind == KIND_SCHEME;
  if (has_base) {
    pairing = pairing_make(sources);
    classify_paired(fmeda, cell, pairing);
    cover_paired(fmeda, cell, pairing);
  }
  for (uint32_t i = 0; i < FAILURE_MODES; i++) { // before a campaign on other faults may take the place
    ModeRow *mode = &cell->modes[i];
    mode->share = mode_share(cell, (FailureMode)i, fmeda->options->confidence);
    bool is_dangerous = i >= MODE_WRONG || (i == MODE_TOLERABLE && !fmeda->options->tolerable_is_safe);
    if (is_dangerous && i != MODE_FOUND)
      mode->coverage = share_estimate(mode->faults - mode->left, mode->faults, fmeda->options->confidence);
  }
  for (uint32_t i = 0; i < sources->mechanism_count; i++) {
    const Source *source = &sources->mechanisms[i];
    if (has_base && is_paired(&pairing, source)) continue;
    if (has_base) cover_alone(fmeda, cell, &sources->base, source);
    const FmedaJournal *before = cell->measured_count > 0 ? cell->measured[0] : NULL;
    take_better(fmeda, cell, source);
    if (has_base && cell->measured[0] == before) continue;
    for (uint32_t m = 0; m < FAILURE_MODES; m++) {
      if (!has_base) cell->modes[m].share = mode_share(cell, (FailureMode)m, fmeda->options->confidence);
      cell->modes[m].coverage = (Estimate){0};
    }
  }
}

void count_second(const Fmeda *fmeda, SecondFaults *second) {
  Walk both = {&second->second, 0}, alone = {&second->alone, 0};
  bool has_partner = second->alone.journal != NULL;
  for (const Mark *mark = walk_to(&both, 0); mark != NULL; mark = walk_to(&both, mark->number + 1)) {
    const Mark *other = has_partner ? walk_at(&alone, mark->number) : NULL;
    bool is_same = other != NULL && other->hash == mark->hash;
    bool was_done = is_same && harm_of(fmeda, &second->alone, other) == HARM_DONE;
    second->pairs++;
    second->bad += harm_of(fmeda, &second->second, mark) == HARM_DONE && !was_done;
    second->met += mark->outcome != OUTCOME_MASKED || mark->read == 1;
  }
}

// Where faults are drawn from what is used, the rest is of one class.
static void finish_drawn(const Fmeda *fmeda, FmedaCell *cell) {
  double confidence = fmeda->options->confidence;
  for (uint32_t i = 0; i < FAULT_CLASSES; i++) {
    uint64_t others = cell->faults - cell->counts[i];
    if (i != (uint32_t)cell->undrawn) cell->shares[i] = share_scaled(cell->shares[i], cell->drawn);
    else cell->shares[i] = share_rest(share_scaled(share_estimate(others, cell->faults, confidence), cell->drawn));
  }
  if (!fmeda->options->count_unused) {
    cell->used = share_scaled(cell->used, cell->drawn);
    cell->rest = share_scaled(cell->rest, cell->drawn);
  } else {
    cell->rest = share_rest(cell->shares[CLASS_RESIDUAL]);
  }
}

void cell_finish(const Fmeda *fmeda, FmedaCell *cell) {
  double confidence = fmeda->options->confidence;
  uint64_t used = cell->faults - (fmeda->options->count_unused ? 0 : cell->counts[CLASS_UNUSED]);
  for (uint32_t i = 0; i < FAULT_CLASSES; i++) cell->shares[i] = share_estimate(cell->counts[i], cell->faults, confidence);
  cell->used =
      used == cell->faults && fmeda->options->count_unused ? (Estimate){true, 1, 1, 1} : share_estimate(used, cell->faults, confidence);
  cell->rest = share_estimate(used - cell->counts[CLASS_RESIDUAL], cell->faults, confidence);
  if (cell->drawn < 1 && cell->faults > 0) finish_drawn(fmeda, cell);
  if (!cell->is_own_state || cell->first_tried == 0) return;
  // Of the faults that nobody notices, those matter with which a second fault does harm.
  Estimate *latent = &cell->shares[CLASS_LATENT], *safe = &cell->shares[CLASS_HARMLESS];
  Estimate harmful = share_estimate(cell->first_bad, cell->first_tried, confidence);
  double value = latent->value * harmful.value;
  safe->value += latent->value - value;
  safe->low = fmax(0, safe->low + latent->low * (1 - harmful.high));
  safe->high = fmin(1, safe->high + latent->high * (1 - harmful.low));
  *latent = (Estimate){latent->is_known, value, latent->low * harmful.low, latent->high * harmful.high};
}

// ---- Detection times -----------------------------------------------------------------------------------------

static int by_size(const void *left, const void *right) {
  double a = *(const double *)left, b = *(const double *)right;
  return a < b ? -1 : a > b;
}

static uint64_t collect_times(const Fmeda *fmeda, MarkVec *const *marks, const char *mechanism, double *times) {
  uint64_t count = 0;
  for (uint32_t i = 0; i < fmeda->journals.count; i++) {
    const FmedaJournal *journal = &fmeda->journals.items[i];
    if (journal->role != ROLE_MECHANISM || strcmp(journal->mechanism, mechanism) != 0) continue;
    Source source = {journal, marks[i], 0};
    for (uint32_t k = 0; k < marks[i]->count; k++) {
      if (marks[i]->items[k].outcome != OUTCOME_DETECTED) continue;
      if (times != NULL) times[count] = detection_seconds(fmeda, &source, &marks[i]->items[k]);
      count++;
    }
  }
  return count;
}

void fmeda_measure_times(Fmeda *fmeda, MarkVec *const *marks) {
  for (uint32_t i = 0; i < fmeda->journals.count; i++) {
    const char *name = fmeda->journals.items[i].mechanism;
    bool is_known = fmeda->journals.items[i].role != ROLE_MECHANISM;
    for (uint32_t k = 0; k < fmeda->times.count; k++) is_known |= strcmp(fmeda->times.items[k].mechanism, name) == 0;
    uint64_t count = is_known ? 0 : collect_times(fmeda, marks, name, NULL);
    if (count == 0) continue;
    double *times = malloc(count * sizeof *times);
    ASSERT(times != NULL);
    collect_times(fmeda, marks, name, times);
    qsort(times, count, sizeof *times, by_size);
    FmedaTimes row = {.mechanism = name, .detected = count, .median = times[count / 2], .most = times[count - 1]};
    for (uint64_t k = 0; k < count; k++) row.late += !is_in_time(fmeda, times[k]);
    *VEC_PUSH(&fmeda->times, fmeda->arena) = row;
    free(times);
  }
}
