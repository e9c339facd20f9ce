// Which journals belong together, and what there is of each structure. See fmeda.h.
#include "report/fmeda_internal.h"

#include <inttypes.h>
#include <stdlib.h>

const char *const fmeda_types[FMEDA_TYPES + 1] = {"transient", "permanent", "together"};
const char *const failure_modes[FAILURE_MODES] = {"no effect", "late", "tolerable output", "wrong output", "error trap", "hang", "found"};
const char *const fault_classes[FAULT_CLASSES] = {"not_used", "harmless", "detected", "residual", "latent"};
const char *const fmeda_roles[ROLE_TEST + 1] = {"no mechanism", "mechanism", "second faults", "test"};

typedef struct CellPlan {
  CellSources sources;
} CellPlan;
typedef VEC(CellPlan) PlanVec;

// ---- Journals ----------------------------------------------------------------------------------------

static FmedaType type_of(const char *model) {
  return strncmp(model, "stuck", 5) == 0 || strncmp(model, "duty", 4) == 0 ? FMEDA_PERMANENT : FMEDA_TRANSIENT;
}

static bool is_bare(const JournalMeta *meta) { return strcmp(meta->protection, "none") == 0 || meta->protection[0] == '\0'; }

static uint64_t content_hash(const Journal *journal) {
  Text text = {0};
  journal_dump(journal, &text);
  uint64_t hash = hash_bytes(text.at, text.length, 0);
  text_free(&text);
  return hash;
}

static bool of_other_faults(const char *path, bool is_test, Diags *diags) {
  return diags_add(diags, path, 0, 0, "draws its faults from what its own runs use, and %s: repeat both campaigns with --draw all",
                   is_test ? "a test is judged on the faults of the program"
                           : "second faults are held against the same ones without the first");
}

static bool check_journal(const Report *report, const Report *first, bool is_test, Diags *diags) {
  const JournalMeta *a = report->meta, *b = first->meta;
  const char *path = journal_path(report->journal);
  uint64_t internal = report->all.counts[OUTCOME_INTERNAL];
  if (!report_is_whole(report, diags)) return false;
  if (internal > 0)
    return diags_add(diags, path, 0, 0, "%" PRIu64 " simulations failed in Redoubt itself: no figure of it can be trusted", internal);
  if (a->shards > 1 || a->end > 0) return diags_add(diags, path, 0, 0, "is one shard of a campaign; 'redoubt merge' puts them together");
  if (strcmp(a->machine, b->machine) != 0 || strcmp(a->settings, b->settings) != 0)
    return diags_add(diags, path, 0, 0, "is of another machine than %s: its name or a setting differs", journal_path(first->journal));
  bool is_paired = is_test || a->standing[0] != '\0'; // with the same faults in other campaigns
  if (is_paired && report_draws_used(report)) return of_other_faults(path, is_test, diags);
  if (is_test || (strcmp(a->target, b->target) == 0 && strcmp(a->arguments, b->arguments) == 0)) return true;
  return diags_add(diags, path, 0, 0, "is of another program than %s, or of other arguments; tests of a library go with --test",
                   journal_path(first->journal));
}

static bool add_journals(Fmeda *fmeda, Report *const *reports, uint32_t count, uint32_t test_count, Diags *diags) {
  for (uint32_t i = 0; i < count; i++) {
    bool is_test = i >= count - test_count;
    if (!check_journal(reports[i], reports[0], is_test, diags)) return false;
    const JournalMeta *meta = reports[i]->meta;
    FmedaJournal *journal = VEC_PUSH(&fmeda->journals, fmeda->arena);
    *journal = (FmedaJournal){.report = reports[i], .content = content_hash(reports[i]->journal), .mechanism = ""};
    journal->role = is_test ? ROLE_TEST : meta->standing[0] != '\0' ? ROLE_SECOND : is_bare(meta) ? ROLE_BASE : ROLE_MECHANISM;
    if (journal->role == ROLE_TEST) journal->mechanism = arena_format(fmeda->arena, "test %s", meta->target);
    else if (journal->role != ROLE_BASE) journal->mechanism = meta->protection;
  }
  return true;
}

typedef struct MarkReader {
  MarkVec *marks;
  Arena *arena;
} MarkReader;

static bool add_mark(void *context, const FaultRow *row) {
  MarkReader *reader = context;
  *VEC_PUSH(reader->marks, reader->arena) = (Mark){.number = row->number < 0 ? row->id : (uint64_t)row->number,
                                                   .hash = hash_bytes(row->fault, strlen(row->fault), 0),
                                                   .cycle = row->cycle,
                                                   .cycles = row->cycles,
                                                   .region = row->region,
                                                   .outcome = row->outcome,
                                                   .read = (int8_t)row->read};
  return true;
}

static bool read_marks(const Fmeda *fmeda, Arena *arena, MarkVec **marks, Diags *diags) {
  for (uint32_t i = 0; i < fmeda->journals.count; i++) {
    const Journal *journal = fmeda->journals.items[i].report->journal;
    marks[i] = ARENA_NEW(arena, MarkVec);
    if (!journal_each_fault(journal, add_mark, &(MarkReader){marks[i], arena})) return journal_damaged(journal, diags);
  }
  return true;
}

// "clock.core_khz=700000"
static double clock_of(const char *settings) {
  const char *at = strstr(settings, "clock.core_khz=");
  return at == NULL ? 0 : 1000 * strtod(at + strlen("clock.core_khz="), NULL);
}

// ---- Structures ----------------------------------------------------------------------------------------

static uint32_t find_cell(Fmeda *fmeda, PlanVec *plans, Arena *arena, const StructureSummary *structure, const char *model) {
  for (uint32_t i = 0; i < fmeda->cells.count; i++) {
    const FmedaCell *cell = &fmeda->cells.items[i];
    if (strcmp(cell->structure, structure->name) == 0 && strcmp(cell->model, model) == 0) return i;
  }
  VEC_PUSH(plans, arena);
  FmedaCell *cell = VEC_PUSH(&fmeda->cells, fmeda->arena);
  cell->structure = structure->name;
  cell->title = structure->title;
  cell->model = model;
  cell->type = type_of(model);
  cell->bits = structure->bits;
  cell->boards = 1;
  cell->drawn = 1;
  cell->kind = structure->kind;
  cell->rates = structure->fit_per_mbit > 0 ? rates_of(model, structure->kind) : 0;
  cell->fit = cell->machine_fit = (double)structure->bits / (1 << 20) * structure->fit_per_mbit;
  return fmeda->cells.count - 1;
}

// Whoever has one mechanism more has its second board as well.
static void count_boards(FmedaCell *cell, uint32_t boards) {
  if (boards <= cell->boards) return;
  cell->fit *= (double)boards / cell->boards;
  cell->machine_fit = cell->fit;
  cell->boards = boards;
}

static bool is_twice(const Source *there, const FmedaJournal *journal, const char *structure, Diags *diags) {
  if (there->journal == NULL || strcmp(there->journal->mechanism, journal->mechanism) != 0) return false;
  diags_add(diags, journal_path(journal->report->journal), 0, 0,
            "has structure %s under the same model and the same mechanism as %s: take one of them", structure,
            journal_path(there->journal->report->journal));
  return true;
}

static bool add_source(CellSources *sources, Source source, const char *structure, Diags *diags) {
  if (source.journal->role == ROLE_BASE) {
    if (is_twice(&sources->base, source.journal, structure, diags)) return false;
    sources->base = source;
    return true;
  }
  bool is_test = source.journal->role == ROLE_TEST;
  Source *list = is_test ? sources->tests : sources->mechanisms;
  uint32_t *count = is_test ? &sources->test_count : &sources->mechanism_count;
  for (uint32_t i = 0; i < *count; i++) {
    if (is_twice(&list[i], source.journal, structure, diags)) return false;
  }
  if (*count == MOST_SOURCES) return diags_add(diags, NULL, 0, 0, "more than %d mechanisms for structure %s", MOST_SOURCES, structure);
  list[(*count)++] = source;
  return true;
}

// "rf[sm=1,reg=3],shared": of rf a part alone.
static bool is_struck_in_part(const char *structures, const char *name) {
  size_t length = strlen(name);
  for (const char *at = strstr(structures, name); at != NULL; at = strstr(at + 1, name)) {
    if ((at == structures || at[-1] == ',') && at[length] == '[') return true;
  }
  return false;
}

// Tests add to structures that the program's own campaigns have.
static bool has_cell(const Fmeda *fmeda, const char *structure, const char *model) {
  bool found = false;
  for (uint32_t i = 0; i < fmeda->cells.count && !found; i++)
    found = strcmp(fmeda->cells.items[i].structure, structure) == 0 && strcmp(fmeda->cells.items[i].model, model) == 0;
  return found;
}

static bool add_cells(Fmeda *fmeda, PlanVec *plans, Arena *arena, MarkVec *const *marks, Diags *diags) {
  for (uint32_t i = 0; i < fmeda->journals.count; i++) {
    const FmedaJournal *journal = &fmeda->journals.items[i];
    const Report *report = journal->report;
    for (uint32_t k = 0; k < report->structures.count && journal->role != ROLE_SECOND; k++) {
      const StructureSummary *structure = &report->structures.items[k];
      if (structure->tally.total == 0) continue;
      if (journal->role == ROLE_TEST && !has_cell(fmeda, structure->name, report->meta->model)) continue;
      uint32_t cell = find_cell(fmeda, plans, arena, structure, report->meta->model);
      if (fmeda->cells.items[cell].bits != structure->bits)
        return diags_add(diags, journal_path(report->journal), 0, 0, "strikes another part of structure %s than the other journals",
                         structure->name);
      fmeda->cells.items[cell].is_part |= is_struck_in_part(report->meta->structures, structure->name);
      if (journal->role != ROLE_TEST) count_boards(&fmeda->cells.items[cell], report_boards(report));
      Source source = {journal, marks[i], structure->region};
      if (!add_source(&plans->items[cell].sources, source, structure->name, diags)) return false;
    }
  }
  return true;
}

// ---- Rates -----------------------------------------------------------------------------------------------

// A structure's rate is shared by the models of its type that were struck: stuck at 0 and at 1.
static uint32_t models_of(const Fmeda *fmeda, const FmedaCell *like) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < fmeda->cells.count; i++)
    count += fmeda->cells.items[i].type == like->type && strcmp(fmeda->cells.items[i].structure, like->structure) == 0;
  return count;
}

static bool give_rates(Fmeda *fmeda, Diags *diags) {
  if (fmeda->options->rates.count > MOST_RATES - RATES)
    return diags_add(diags, NULL, 0, 0, "--rate: more than %u of them", (unsigned)(MOST_RATES - RATES));
  for (uint32_t r = 0; r < fmeda->options->rates.count; r++) {
    const FmedaRate *rate = &fmeda->options->rates.items[r];
    bool found = false;
    for (uint32_t i = 0; i < fmeda->cells.count; i++) {
      FmedaCell *cell = &fmeda->cells.items[i];
      if (cell->type != rate->type || strcmp(cell->structure, rate->structure) != 0) continue;
      found = cell->is_given = true;
      cell->fit = rate->fit / models_of(fmeda, cell);
      cell->rates = UINT64_C(1) << (RATES + r);
    }
    if (!found)
      return diags_add(diags, NULL, 0, 0, "--rate %s:%s: no journal has %s faults of that structure", fmeda_types[rate->type],
                       rate->structure, fmeda_types[rate->type]);
  }
  return rates_check(fmeda, diags);
}

// ---- Second faults -----------------------------------------------------------------------------------------

// The same campaign without the first fault; its place, or the number of journals.
static uint32_t partner_of(const Fmeda *fmeda, const JournalMeta *meta) {
  uint32_t i = 0;
  for (; i < fmeda->journals.count; i++) {
    const JournalMeta *other = fmeda->journals.items[i].report->meta;
    if (fmeda->journals.items[i].role == ROLE_MECHANISM && strcmp(other->protection, meta->protection) == 0 &&
        strcmp(other->model, meta->model) == 0 && strcmp(other->structures, meta->structures) == 0 && other->seed == meta->seed)
      return i;
  }
  return i;
}

// "stuck1:dmr.mask[...]@0-"
static bool is_first_of(const FmedaCell *cell, const char *fault) {
  size_t model = strlen(cell->model), name = strlen(cell->structure);
  return strncmp(fault, cell->model, model) == 0 && fault[model] == ':' && strncmp(fault + model + 1, cell->structure, name) == 0 &&
         fault[model + 1 + name] == '[';
}

static bool add_second(Fmeda *fmeda, uint32_t journal, MarkVec *const *marks, Diags *diags) {
  const Report *report = fmeda->journals.items[journal].report;
  uint32_t partner = partner_of(fmeda, report->meta), cell = 0;
  while (cell < fmeda->cells.count &&
         !(fmeda->cells.items[cell].is_own_state && is_first_of(&fmeda->cells.items[cell], report->meta->standing)))
    cell++;
  if (cell == fmeda->cells.count)
    return diags_add(diags, journal_path(report->journal), 0, 0,
                     "its first fault, %s, is in no mechanism's state of which there is a campaign of single faults under that model",
                     report->meta->standing);
  SecondFaults second = {0};
  for (uint32_t i = 0; i < report->structures.count; i++) {
    second.second = (Source){&fmeda->journals.items[journal], marks[journal], report->structures.items[i].region};
    if (partner < fmeda->journals.count)
      second.alone = (Source){&fmeda->journals.items[partner], marks[partner], report->structures.items[i].region};
    count_second(fmeda, &second);
  }
  FmedaCell *of = &fmeda->cells.items[cell];
  if (second.met == 0) { // in bits that nobody reads a second fault meets nothing
    of->first_idle++;
    return true;
  }
  of->first_tried++;
  of->first_bad += second.bad > 0;
  of->pairs += second.pairs;
  of->bad_pairs += second.bad;
  return true;
}

// ---- All -----------------------------------------------------------------------------------------------------

static int by_type(const void *left, const void *right) {
  const FmedaCell *a = left, *b = right;
  if (a->type != b->type) return a->type < b->type ? -1 : 1;
  int order = strcmp(a->structure, b->structure);
  return order != 0 ? order : strcmp(a->model, b->model);
}

static bool fill(Fmeda *fmeda, Arena *scratch, Diags *diags) {
  PlanVec plans = {0};
  MarkVec **marks = ARENA_ARRAY(scratch, MarkVec *, fmeda->journals.count + 1);
  if (!read_marks(fmeda, scratch, marks, diags) || !add_cells(fmeda, &plans, scratch, marks, diags) || !give_rates(fmeda, diags))
    return false;
  for (uint32_t i = 0; i < fmeda->cells.count; i++) cell_classify(fmeda, &fmeda->cells.items[i], &plans.items[i].sources);
  fmeda_apply_scope(fmeda);
  for (uint32_t i = 0; i < fmeda->journals.count; i++) {
    if (fmeda->journals.items[i].role == ROLE_SECOND && !add_second(fmeda, i, marks, diags)) return false;
  }
  for (uint32_t i = 0; i < fmeda->cells.count; i++) cell_finish(fmeda, &fmeda->cells.items[i]);
  if (fmeda->clock_hz > 0) fmeda_measure_times(fmeda, marks);
  qsort(fmeda->cells.items, fmeda->cells.count, sizeof *fmeda->cells.items, by_type);
  fmeda_sum(fmeda);
  fmeda_find(fmeda);
  return true;
}

Fmeda *fmeda_read(Report *const *reports, uint32_t count, uint32_t test_count, const FmedaOptions *options, Diags *diags) {
  Arena *arena = arena_new(), *scratch = arena_new();
  Fmeda *fmeda = ARENA_NEW(arena, Fmeda);
  *fmeda = (Fmeda){.arena = arena, .options = options, .findings = {.arena = arena}};
  bool good = options->ftti <= 0 || options->reaction < options->ftti ||
              diags_add(diags, NULL, 0, 0, "--reaction %.4g ms leaves nothing of --ftti %.4g ms to find a fault in",
                        1e3 * options->reaction, 1e3 * options->ftti);
  good = good && add_journals(fmeda, reports, count, test_count, diags);
  if (good) {
    fmeda->clock_hz = clock_of(reports[0]->meta->settings);
    if (fmeda->clock_hz <= 0 && options->ftti > 0)
      good = diags_add(diags, NULL, 0, 0, "--ftti: the journals do not say how long a cycle is (clock.core_khz)");
  }
  good = good && fill(fmeda, scratch, diags);
  arena_free(scratch);
  if (good) return fmeda;
  arena_free(arena);
  return NULL;
}

void fmeda_free(Fmeda *fmeda) {
  if (fmeda != NULL) arena_free(fmeda->arena);
}
