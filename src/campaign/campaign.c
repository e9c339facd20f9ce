// A campaign from its options to its journal.
#include "campaign/campaign.h"
#include "campaign/campaign_internal.h"
#include "campaign/golden_store.h"
#include "campaign/settler.h"
#include "base/process.h"
#include "journal/statistics.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static const double COMMIT_SECONDS = 0.05, DEFAULT_MARGIN = 0.01;
enum { KNOWN_AT_FIRST = 4096, LOOK_AT_CLOCK = 64, COMMIT_EVERY = 1024, LOOK_UP_CYCLES = 4096, NOT_KNOWN = 0xFF };

typedef struct Campaign {
  Target *target;
  const CampaignOptions *options;
  CampaignOptions asked; // these, with what was not said
  Arena *arena;
  Golden golden;
  Population population;
  Journal *journal;
  CampaignProgress progress, told; // so far; when all of it was last on disk
  Draw *draws;                     // of the current batch, in order of id
  uint32_t draw_count;
  uint64_t first_id;
  Arena *batch_arena;
  VEC(Record) detected;               // of the current batch: what would have come of them is not known yet
  bool is_unanswered;                 // which is what is being found out
  uint32_t *class_first, *class_next; // by draw: the first and the next of its class that is to be told, from 1; 0: none
  uint64_t part_first, part_end;      // faults of other numbers are not ours
  uint8_t *known;                     // outcomes by id, from part_first on, that are in the journal; NOT_KNOWN: none
  uint64_t known_count;
  uint64_t sample_end; // faults of ours with smaller numbers are all known
  // By structure, what sequential stopping looks at: of the batches so far, whoever settled them; sure enough when this one began.
  uint64_t settled[MOST_STRUCTURES], bad[MOST_STRUCTURES];
  bool tight[MOST_STRUCTURES];
  uint32_t uncommitted;
  double committed_at; // by a clock, in seconds
  Listener listener;
  bool is_checked; // a second run without faults was the same
  bool stopped;
  Diags *diags;
} Campaign;

// ---- The journal's rows ----------------------------------------------------------------------------

const char *settings_text(Arena *arena, const Spec *spec) {
  Text text = {0};
  for (uint32_t i = 0; i < param_count; i++) text_add(&text, "%s=%" PRIu64 "\n", param_info[i].key, spec_get(spec, i));
  const char *copy = arena_copy_text(arena, text.at, text.length);
  text_free(&text);
  return copy;
}

// How often the campaign's model happens by itself, in FIT per Mbit; 0: no rate is known.
static double raw_rate(const Spec *spec, const Region *region, const Fault *pattern) {
  double single = (double)((region->flags & REGION_OUTSIDE) != 0 ? spec->fit_dram : spec->fit_sram) / 1000;
  if ((region->flags & REGION_OUTPUT) != 0) return 0; // logic
  switch (pattern->model) {
  case FAULT_FLIP: return single;
  case FAULT_ADJACENT:
    if (pattern->arguments[0] == 1) return single;
    if (pattern->arguments[0] == 2) return single * (double)spec->fit_adjacent2 / 1e6;
    return pattern->arguments[0] == 3 ? single * (double)spec->fit_adjacent3 / 1e6 : 0;
  case FAULT_STUCK0:
  case FAULT_STUCK1: return (double)spec->fit_permanent / 1000;
  default: return 0;
  }
}

static uint8_t kind_of(const Region *region) {
  if (region->owned_by_scheme != 0) return KIND_SCHEME;
  if ((region->flags & REGION_OUTPUT) != 0) return KIND_OUTPUT;
  return region_is_on_chip(region) ? KIND_CELLS : KIND_MEMORY;
}

// Of a window in cycles it is not known what is used there.
static double used_share(const Campaign *at, const Region *region) {
  bool is_known = at->population.kernel != NULL || at->population.cycles + at->population.first_cycle == at->golden.cycles;
  return is_known ? golden_used(&at->golden, region, at->population.kernel) : 0;
}

static bool put_structures(Campaign *at) {
  StructureRow rows[MOST_STRUCTURES];
  for (uint32_t i = 0; i < at->population.count; i++) {
    const Region *region = &at->golden.table.items[at->population.regions[i]];
    rows[i] = (StructureRow){.region = at->population.regions[i], .name = region->name, .title = region->title};
    const StructurePart *part = &at->population.parts[i];
    part_shape(region, part, &rows[i].rows, &rows[i].units, &rows[i].bits);
    rows[i].used = part->is_part ? 0 : used_share(at, region);
    rows[i].kind = kind_of(region);
    rows[i].raw_fit_per_mbit = raw_rate(at->target->spec, region, &at->population.pattern);
  }
  return journal_put_structures(at->journal, rows, at->population.count, at->diags);
}

static bool put_source(Campaign *at) {
  const TargetSources *sources = &at->target->sources;
  bool good = true;
  for (uint32_t i = 0; i < at->golden.launches.count; i++) {
    GoldenRow *launch = &at->golden.launches.items[i];
    const TargetSource *source = target_source_of(sources, launch->kernel);
    if (source != NULL) launch->source = (uint32_t)(source - sources->items) + 1;
  }
  for (uint32_t i = 0; i < sources->count && good; i++)
    good = journal_put_source(at->journal, i + 1, sources->items[i].file, sources->items[i].text, at->diags);
  return good;
}

static bool put_count(Campaign *at, JournalNote note, uint64_t value) {
  return journal_put_note(at->journal, note, arena_format(at->arena, "%" PRIu64, value), at->diags);
}

// [[launch, sm, "name", first cycle], ...] as JSON, where SM -1 is all of the machine; names need no escaping. "": none were told.
static const char *phases_text(Campaign *at) {
  Text text = {0};
  for (uint32_t i = 0; i < at->golden.phases.count; i++) {
    const GoldenPhase *phase = &at->golden.phases.items[i];
    text_add(&text, "%s[%u,%" PRId64 ",\"%s\",%" PRIu64 "]", i == 0 ? "[" : ",", phase->launch, phase->sm, phase->name, phase->at);
  }
  if (text.length > 0) text_add(&text, "]");
  const char *copy = text.length > 0 ? arena_copy_text(at->arena, text.at, text.length) : "";
  text_free(&text);
  return copy;
}

bool campaign_put_origin(Journal *journal, const CampaignOrigin *origin, Diags *diags) {
  const struct {
    JournalNote note;
    const char *value;
  } notes[] = {{NOTE_VERSION, origin->version}, {NOTE_COMMIT, origin->commit},   {NOTE_BINARY, origin->binary},
               {NOTE_DATE, origin->date},       {NOTE_COMMAND, origin->command}, {NOTE_HOST, origin->host}};
  bool good = true;
  for (size_t i = 0; i < COUNT_OF(notes) && good; i++) {
    bool is_there = journal_note(journal, notes[i].note)[0] != '\0';
    if (notes[i].value != NULL && !is_there) good = journal_put_note(journal, notes[i].note, notes[i].value, diags);
  }
  return good;
}

// What the run without faults has shown.
static bool put_measured(Campaign *at) {
  const Golden *golden = &at->golden;
  if (golden->uncovered[0] != '\0' && !journal_put_note(at->journal, NOTE_UNCOVERED, golden->uncovered, at->diags)) return false;
  if (golden->idle[0] != '\0' && !journal_put_note(at->journal, NOTE_IDLE, golden->idle, at->diags)) return false;
  if (golden->dynamic_nj + golden->leakage_nj <= 0) return true; // the machine has no power model
  return journal_put_note(at->journal, NOTE_ENERGY_DYNAMIC, arena_format(at->arena, "%.9g", golden->dynamic_nj), at->diags) &&
         journal_put_note(at->journal, NOTE_ENERGY_LEAKAGE, arena_format(at->arena, "%.9g", golden->leakage_nj), at->diags);
}

// What the machine is made of is always the same.
static bool put_notes(Campaign *at) {
  bool good = campaign_put_origin(at->journal, &at->options->origin, at->diags);
  uint64_t scheme = 0, chip = 0, elements = 0;
  for (uint32_t i = 0; i < at->golden.table.count; i++) {
    const Region *region = &at->golden.table.items[i];
    if (!region_is_on_chip(region)) continue;
    *(region->owned_by_scheme != 0 ? &scheme : &chip) += region_bits(region);
  }
  for (uint32_t i = 0; i < at->golden.outputs.count; i++) elements += at->golden.outputs.items[i].count;
  if (good && at->golden.phases.count > 0) good = journal_put_note(at->journal, NOTE_PHASES, phases_text(at), at->diags);
  return good && put_measured(at) && put_count(at, NOTE_SCHEME_BITS, scheme) && put_count(at, NOTE_CHIP_BITS, chip) &&
         put_count(at, NOTE_OUTPUT_ELEMENTS, elements);
}

// A kernel as the program names it, whichever of its names was given.
static const char *window_text(const Campaign *at) {
  const char *kernel = at->population.kernel;
  return kernel == NULL ? at->options->window : arena_format(at->arena, "kernel:%s", kernel);
}

static bool open_journal(Campaign *at) {
  const CampaignOptions *options = at->options;
  JournalMeta meta = {.target = at->target->name,
                      .arguments = at->target->arguments,
                      .machine = at->target->spec->machine,
                      .settings = settings_text(at->arena, at->target->spec),
                      .protection = options->protection,
                      .model = options->model,
                      .structures = options->structures,
                      .window = window_text(at),
                      .standing = options->standing == NULL ? "" : options->standing,
                      .sampling = options->every     ? "every bit"
                                  : options->by_bits ? "by bits"
                                                     : "by structure",
                      .program_hash = at->golden.program_hash,
                      .layout_hash = at->golden.layout_hash,
                      .seed = options->seed,
                      .timeout = options->timeout,
                      .shard = options->shard,
                      .shards = options->shards,
                      .first = options->first,
                      .end = options->end,
                      .enough = options->enough == NULL ? "" : options->enough};
  at->journal = journal_open(options->journal, &meta, at->diags);
  if (at->journal == NULL) return false;
  return put_notes(at) && put_structures(at) && put_source(at) &&
         journal_put_golden(at->journal, at->golden.launches.items, at->golden.launches.count, at->diags) &&
         journal_commit(at->journal, at->diags);
}

static uint32_t launch_at(const Golden *golden, uint64_t cycle) {
  for (uint32_t i = 0; i < golden->launches.count; i++) {
    const GoldenRow *launch = &golden->launches.items[i];
    if (cycle >= launch->began_at && cycle < launch->began_at + launch->cycles) return launch->launch;
  }
  return 0;
}

// This shard's or part's, and of a structure of which not enough is known.
static bool is_ours(const Campaign *at, uint64_t id) {
  return id >= at->part_first && id < at->part_end && id % at->options->shards == at->options->shard &&
         !at->tight[population_structure(&at->population, id)];
}

// The outcome of a fault that is in the journal, or NOT_KNOWN.
static uint8_t known_outcome(const Campaign *at, uint64_t id) {
  uint64_t place = id - at->part_first;
  return id >= at->part_first && place < at->known_count ? at->known[place] : NOT_KNOWN;
}

// A fault is in the journal now.
static void know(Campaign *at, uint64_t id, uint8_t outcome) {
  uint64_t place = id - at->part_first;
  if (place >= at->known_count) {
    uint64_t count = max_u64(KNOWN_AT_FIRST, 2 * (place + 1));
    at->known = realloc(at->known, count);
    ASSERT(at->known != NULL);
    memset(at->known + at->known_count, NOT_KNOWN, count - at->known_count);
    at->known_count = count;
  }
  at->known[place] = outcome;
}

// The fair sample grows up to the next fault that is missing. Those that are left out because enough is known of their structure are not.
static void extend_sample(Campaign *at, uint64_t end) {
  for (; at->sample_end < end; at->sample_end++) {
    uint64_t id = at->sample_end;
    uint8_t known = known_outcome(at, id);
    if (known == NOT_KNOWN && is_ours(at, id)) return;
    if (known == NOT_KNOWN) continue;
    at->progress.sample++;
    at->progress.sample_counts[known % OUTCOME_COUNT]++;
  }
}

// Tells what is on disk.
static bool report(Campaign *at) {
  if (at->options->progress != NULL && !at->options->progress(at->options->context, &at->told)) at->stopped = true;
  return !at->stopped;
}

static bool goes_on(void *context) { return report(context); }

static bool commit(Campaign *at) {
  at->uncommitted = 0;
  at->committed_at = clock_seconds();
  if (!journal_commit(at->journal, at->diags)) return false;
  extend_sample(at, at->first_id + at->draw_count);
  at->told = at->progress;
  return true;
}

static bool is_good(uint32_t outcome) {
  return outcome == OUTCOME_MASKED || outcome == OUTCOME_PERFORMANCE || outcome == OUTCOME_CORRECTED;
}

static void count_settled(Campaign *at, uint64_t id, uint32_t outcome) {
  uint32_t structure = population_structure(&at->population, id);
  at->settled[structure]++;
  at->bad[structure] += !is_good(outcome);
}

// Where a fault strikes and who reads it, as columns.
static void fill_place(const Campaign *at, const Draw *draw, FaultRow *row) {
  const Site *site = &draw->fault.site;
  const Region *region = &at->golden.table.items[site->region];
  uint64_t left = site->row;
  row->row = (int64_t)site->row;
  row->unit = site->unit;
  row->bit = site->bit;
  if (strcmp(region->unit, "lane") == 0) row->lane = site->unit;
  for (uint32_t i = region->dim_count; i-- > 0; left /= max_u32(region->dims[i].count, 1)) {
    int64_t number = (int64_t)(left % max_u32(region->dims[i].count, 1));
    if (strcmp(region->dims[i].name, "sm") == 0) row->sm = number;
    if (strcmp(region->dims[i].name, "warp") == 0) row->warp = number;
    if (strcmp(region->dims[i].name, "lane") == 0) row->lane = number;
    if (strcmp(region->dims[i].name, "reg") == 0) row->reg = number;
  }
  // The register file's rows are dealt to warps as the launch's kernel needs them.
  uint32_t registers = row->launch == 0 ? 0 : at->golden.launches.items[row->launch - 1].registers;
  if (region->role == REGION_ROLE_REGISTERS && row->reg >= 0) {
    row->warp = registers == 0 ? NOTHING : row->reg / registers;
    row->reg = registers == 0 ? NOTHING : row->reg % registers;
  }
  if (draw->reader.launch != 0) row->block = draw->reader.block;
  if (draw->pc == UINT32_MAX) return;
  row->pc = draw->pc;
  row->line = draw->line;
  if (draw->op < OP_COUNT) row->opcode = op_info[draw->op].text;
}

// How long a run with wrong results took is known only where no fault is followed without time.
static bool knows_time(const Campaign *at, uint32_t outcome) {
  bool ends = is_good(outcome) || outcome == OUTCOME_DETECTED;
  return ends || (strcmp(outcome_info[outcome].group, "sdc") == 0 && !machine_can(at->target->spec, MACHINE_IS_FOLLOWED));
}

// A row more is not committed yet. A commit waits for the disk: it takes as long as a hundred rows.
static bool is_commit_due(Campaign *at) {
  if (++at->uncommitted % LOOK_AT_CLOCK != 0) return false;
  return at->uncommitted >= COMMIT_EVERY || clock_seconds() - at->committed_at >= COMMIT_SECONDS;
}

// Writes a fault's row; what progress is told is committed first.
static bool put_row(Campaign *at, const Draw *draw, const Record *record) {
  Text text = {0};
  fault_format(&at->golden.table, &draw->fault, &text);
  FaultRow row = fault_row();
  row.id = draw->id;
  row.number = (int64_t)population_number(&at->population, draw->id);
  row.fault = text.at;
  row.model = at->options->model;
  row.region = draw->fault.site.region;
  row.cycle = draw->fault.from;
  row.launch = launch_at(&at->golden, draw->fault.from);
  fill_place(at, draw, &row);
  row.outcome = (uint8_t)record->outcome;
  row.settled = (uint8_t)record->settled;
  row.class_of = draw->class_of;
  row.cycles = knows_time(at, record->outcome) ? record->cycles : 0;
  row.wrong = record->wrong;
  row.worst = record->worst;
  row.pattern = (uint8_t)record->pattern;
  row.note = record->note;
  row.read = draw->read;
  if (record->unanswered > 0) row.unanswered = (uint8_t)(record->unanswered - 1);
  bool good = journal_put_fault(at->journal, &row, at->diags);
  text_free(&text);
  at->progress.done++;
  at->progress.counts[record->outcome]++;
  at->progress.settled[record->settled]++;
  know(at, draw->id, (uint8_t)record->outcome);
  count_settled(at, draw->id, record->outcome);
  return good && (!is_commit_due(at) || (commit(at) && report(at)));
}

// ---- A batch ---------------------------------------------------------------------------------------

// Ours, and not in the journal since an earlier run.
static bool is_left(const Campaign *at, uint64_t id) { return is_ours(at, id) && known_outcome(at, id) == NOT_KNOWN; }

// Of a detected fault it is asked next what would have come of it. What the run that goes on shows is told of the detected one.
static bool is_asked_further(Campaign *at, const Record *record, Record *whole) {
  *whole = *record;
  if (!at->is_unanswered && record->outcome == OUTCOME_DETECTED) {
    *VEC_PUSH(&at->detected, at->batch_arena) = *record;
    return true;
  }
  for (uint32_t i = 0; at->is_unanswered && i < at->detected.count; i++) {
    if (at->detected.items[i].id != record->id || record->outcome == OUTCOME_INTERNAL) continue;
    *whole = at->detected.items[i];
    if (record->outcome != OUTCOME_DETECTED) whole->unanswered = 1 + record->outcome;
  }
  return false;
}

static bool take_record(void *context, const Record *told) {
  Campaign *at = context;
  Record whole, *record = &whole;
  bool good = true;
  at->draws[told->id - at->first_id].is_told = true;
  if (is_asked_further(at, told, &whole)) return !at->stopped;
  const Draw *draw = &at->draws[record->id - at->first_id];
  for (uint32_t i = at->class_first[draw->class_of - at->first_id]; i != 0 && good; i = at->class_next[i - 1]) { // it, and all of its class
    const Draw *other = &at->draws[i - 1];
    if (!is_left(at, other->id)) continue;
    Record same = *record;
    same.id = other->id;
    if (other->settled == SETTLED_CLASS) same.settled = SETTLED_CLASS;
    good = put_row(at, other, &same);
  }
  bool is_due = clock_seconds() - at->committed_at >= COMMIT_SECONDS; // many may come at once
  if (record->settled != SETTLED_FOLLOWED && at->progress.simulations > 0) at->progress.simulations--;
  if (!is_due) return good && !at->stopped;
  return good && commit(at) && report(at);
}

// Those whose outcome is still to be found, by class, in order of id.
static void list_classes(Campaign *at, Arena *arena) {
  at->class_first = ARENA_ARRAY(arena, uint32_t, at->draw_count + 1);
  at->class_next = ARENA_ARRAY(arena, uint32_t, at->draw_count + 1);
  for (uint32_t i = at->draw_count; i > 0; i--) {
    const Draw *draw = &at->draws[i - 1];
    if (draw->settled < SETTLED_CLASS) continue;
    uint32_t *first = &at->class_first[draw->class_of - at->first_id];
    at->class_next[i - 1] = *first;
    *first = i;
  }
}

// What the golden run has shown to change nothing.
static bool put_seen(Campaign *at) {
  for (uint32_t i = 0; i < at->draw_count; i++) {
    const Draw *draw = &at->draws[i];
    if (draw->settled >= SETTLED_CLASS || !is_left(at, draw->id)) continue;
    Record record = {.id = draw->id, .outcome = OUTCOME_MASKED, .settled = draw->settled, .cycles = at->golden.cycles};
    if (!put_row(at, draw, &record)) return false;
  }
  return true;
}

// One simulation for each class that has a fault of ours left to settle.
static uint32_t choose_live(const Campaign *at, Draw *live) {
  uint32_t count = 0;
  uint8_t *wanted = calloc(at->draw_count + 1, 1);
  ASSERT(wanted != NULL);
  for (uint32_t i = 0; i < at->draw_count; i++) {
    const Draw *draw = &at->draws[i];
    if (draw->settled >= SETTLED_CLASS && is_left(at, draw->id)) wanted[draw->class_of - at->first_id] = 1;
  }
  for (uint32_t i = 0; i < at->draw_count; i++) {
    if (wanted[i] != 0) live[count++] = at->draws[i];
  }
  free(wanted);
  qsort(live, count, sizeof *live, draw_by_strike);
  return count;
}

// In a golden run that may be long: whoever wants to stop hears that he is heard.
static void on_look_up(Hook *hook, HookMachine *machine) {
  report(hook->own);
  hook->next_cycle = machine->cycle + LOOK_UP_CYCLES;
}

static bool check_same(const Campaign *at, const Golden *again) {
  const Golden *golden = &at->golden;
  uint32_t count = min_u32(golden->checkpoint_count, again->checkpoint_count), i = 0;
  while (i < count && golden->checkpoints[i].hash == again->checkpoints[i].hash) i++;
  if (i == count && golden->checkpoint_count == again->checkpoint_count && golden->cycles == again->cycles) return true;
  if (at->target->golden == NULL)
    return diags_add(at->diags, NULL, 0, 0, "internal error: two runs without faults differ; the campaign cannot be trusted");
  uint64_t cycle = i < count ? golden->checkpoints[i].cycle : golden->cycles;
  return diags_add(at->diags, NULL, 0, 0,
                   "%s: two runs without faults differ: the device's state is not the same in cycle %" PRIu64
                   ", so the program gives it something that changes from run to run. What faults do could not be told from that",
                   at->target->name, cycle);
}

// Who may settle faults of this batch, as bits.
static uint32_t choose_settlers(const Settling *settling) {
  const Settler *const *settlers = settling->options->settlers;
  uint32_t wanted = 0;
  for (uint32_t i = 0; settlers[i] != NULL; i++) {
    ASSERT(i < MOST_SETTLERS);
    if (settlers[i]->is_for(settling)) wanted |= 1u << i;
  }
  return wanted;
}

// The golden run again, with those looking on who want to; it must be the same run. In a program of its own, they are there.
static bool run_watched(Campaign *at, const WatchedDraws *watched, uint32_t wanted, Hook *hooks[MOST_SETTLERS]) {
  Golden again = {.arena = watched->arena};
  bool elsewhere = at->target->golden != NULL, is_seen_there = (wanted & settlers_in_program(at->options->settlers)) != 0;
  Hook look_up = {.name = "look-up", .kind = HOOK_OBSERVER, .own = at, .cycle = on_look_up, .next_cycle = LOOK_UP_CYCLES};
  HookChain watchers = {.hooks = {&look_up}, .count = 1}, chain;
  bool room = standing_chain(at->options->protections, at->golden.standing, watched->arena, &chain);
  if (!elsewhere) room = settlers_watch(at->options->settlers, wanted, watched, hooks, &watchers) && room;
  if (!room) return diags_add(at->diags, NULL, 0, 0, "too many protections for a campaign");
  bool ran = elsewhere ? at->target->golden(at->target, at->draws, is_seen_there ? at->draw_count : 0, &again, &at->listener, at->diags)
                       : golden_run(at->target, &chain, &watchers, &again, at->diags);
  if (!ran || at->stopped || !check_same(at, &again)) return false;
  if (!elsewhere) settlers_seen(at->options->settlers, wanted, watched, hooks);
  return true;
}

static bool any_watches(const Settler *const *settlers, uint32_t wanted) {
  bool any = false;
  for (uint32_t i = 0; settlers[i] != NULL; i++) any |= (wanted >> i & 1) != 0 && (settlers[i]->watch != NULL || settlers[i]->seen != NULL);
  return any;
}

// What an earlier run has settled of it is counted; true if that is all.
static bool is_known(Campaign *at, uint64_t first, uint32_t count) {
  bool all = true;
  for (uint64_t id = first; id < first + count; id++) {
    if (is_left(at, id)) all = false;
    else if (is_ours(at, id)) count_settled(at, id, known_outcome(at, id));
  }
  return all;
}

// What the rest will cost, if it is like this batch.
static void expect(Campaign *at, uint32_t simulations) {
  uint64_t left = at->progress.total - min_u64(at->progress.done, at->progress.total);
  uint64_t ours = min_u64(at->first_id + at->draw_count, at->part_end) - max_u64(at->first_id, at->part_first);
  uint64_t here = min_u64(left, ours / at->options->shards);
  uint64_t later = here == 0 ? 0 : (left - here) * simulations / here;
  at->progress.simulations = simulations + later;
  at->progress.is_expected = true;
}

// Each way settles what it can of what those before it have left.
static bool settle_live(Campaign *at, Settling *settling, uint32_t wanted, Hook *hooks[MOST_SETTLERS]) {
  const Settler *const *settlers = at->options->settlers;
  Draw *live = ARENA_ARRAY(settling->arena, Draw, at->draw_count + 1);
  uint32_t count = choose_live(at, live);
  list_classes(at, settling->arena);
  bool good = put_seen(at);
  for (uint32_t i = 0; settlers[i] != NULL && good; i++) {
    if ((wanted >> i & 1) == 0 || settlers[i]->settle == NULL) continue;
    expect(at, count);
    good = commit(at) && report(at) && settlers[i]->settle(settling, hooks[i], live, &count) && !at->stopped;
  }
  for (uint32_t i = 0; settlers[i] != NULL; i++) {
    if (settlers[i]->finish != NULL) settlers[i]->finish(settling);
  }
  return good;
}

// Those that were detected, once more: the detection has no effect now, and the run goes on. The journal says both.
static bool settle_unanswered(Campaign *at, const Settling *answered) {
  if (at->detected.count == 0) return true;
  const Settler *const *settlers = at->options->settlers;
  Settling settling = *answered;
  Draw *live = ARENA_ARRAY(settling.arena, Draw, at->detected.count);
  uint32_t count = at->detected.count;
  settling.following = NULL;
  for (uint32_t i = 0; i < count; i++) {
    Draw *draw = settling_draw(&settling, at->detected.items[i].id);
    draw->is_told = false;
    live[i] = *draw;
  }
  qsort(live, count, sizeof *live, draw_by_strike);
  at->is_unanswered = true;
  target_answers(at->target, at->options->protections, false);
  bool good = true;
  for (uint32_t i = 0; settlers[i] != NULL && good; i++) {
    if (!settlers[i]->simulates || !settlers[i]->is_for(&settling)) continue;
    good = commit(at) && report(at) && settlers[i]->settle(&settling, NULL, live, &count) && !at->stopped;
  }
  for (uint32_t i = 0; settlers[i] != NULL; i++) {
    if (settlers[i]->finish != NULL) settlers[i]->finish(&settling);
  }
  target_answers(at->target, at->options->protections, true);
  at->is_unanswered = false;
  return good;
}

static bool run_batch(Campaign *at, uint64_t first, uint32_t count) {
  at->first_id = first;
  at->draw_count = count;
  if (is_known(at, first, count)) return true;
  Arena *arena = at->batch_arena = arena_new();
  at->detected.items = NULL;
  at->detected.count = at->detected.capacity = 0;
  at->draws = ARENA_ARRAY(arena, Draw, count);
  for (uint32_t i = 0; i < count; i++) {
    Fault fault = population_draw(&at->population, &at->golden.table, first + i);
    at->draws[i] = draw_new(first + i, &fault);
  }
  WatchedDraws watched = {.arena = arena, .table = &at->golden.table, .draws = at->draws, .count = count};
  Settling settling = {.target = at->target, .options = at->options, .golden = &at->golden, .draws = at->draws, .count = count};
  settling.arena = arena;
  settling.listener = &at->listener;
  settling.diags = at->diags;
  Hook *hooks[MOST_SETTLERS] = {NULL};
  uint32_t wanted = choose_settlers(&settling);
  bool runs = !at->is_checked || any_watches(at->options->settlers, wanted);
  bool good = !runs || run_watched(at, &watched, wanted, hooks);
  at->is_checked |= good;
  good = good && settle_live(at, &settling, wanted, hooks) && settle_unanswered(at, &settling);
  good = commit(at) && good;
  arena_free(arena);
  return good && !at->stopped && report(at);
}

// ---- All -------------------------------------------------------------------------------------------

static uint64_t faults_wanted(const Campaign *at) {
  const CampaignOptions *options = at->options;
  if (options->every) return population_total(&at->population);
  if (options->faults > 0) return population_dealt(&at->population, options->faults);
  uint64_t most = 0;
  for (uint32_t i = 0; i < at->population.count; i++)
    most = max_u64(most, sample_size(population_size(&at->population, i), options->margin, options->confidence));
  return most * at->population.count;
}

// True: every structure's interval is narrow enough. Looks at whole batches only: the same faults are settled whether a campaign was
// interrupted or not.
static bool find_tight(Campaign *at) {
  const CampaignOptions *options = at->options;
  if (options->faults > 0 || options->shards > 1 || options->end > 0) return false;
  bool all = true;
  for (uint32_t i = 0; i < at->population.count; i++) {
    at->tight[i] = wilson_is_tight(at->bad[i], at->settled[i], options->margin, options->confidence);
    all &= at->tight[i];
  }
  return all;
}

// Of structures of which enough is known no more faults are needed.
static void leave_out_tight(Campaign *at, uint64_t first, uint64_t end) {
  for (uint64_t id = first; id < end; id++) {
    bool is_needed = !at->tight[population_structure(&at->population, id)] || at->progress.total <= at->progress.done;
    if (!is_needed) at->progress.total--;
  }
  at->told.total = at->progress.total;
}

// Whether a list of names holds this one.
static bool is_listed(const char *names, const char *name) {
  size_t length = strlen(name);
  for (const char *at = names; at != NULL; at = strchr(at, ','), at = at == NULL ? NULL : at + 1) {
    if (strncmp(at, name, length) == 0 && (at[length] == ',' || at[length] == '\0')) return true;
  }
  return false;
}

static void leave_out_enough(Campaign *at) {
  for (uint32_t i = 0; i < at->population.count; i++)
    at->tight[i] = is_listed(at->options->enough, at->golden.table.items[at->population.regions[i]].name);
}

static bool know_row(void *context, const FaultRow *row) {
  Campaign *at = context;
  if (row->outcome == OUTCOME_INTERNAL || row->id < at->part_first) return true; // tried again; not ours
  know(at, row->id, row->outcome);
  at->progress.done++;
  at->progress.counts[row->outcome % OUTCOME_COUNT]++;
  at->progress.settled[row->settled % SETTLED_COUNT]++;
  return true;
}

// Before the journal is made: a campaign that is refused leaves none.
static bool is_part_there(const Campaign *at) {
  const CampaignOptions *options = at->options;
  uint64_t total = faults_wanted(at);
  if (options->faults == 0 || options->every || options->end <= total) return true;
  return diags_add(at->diags, NULL, 0, 0,
                   "part %" PRIu64 "-%" PRIu64 " goes beyond the faults, which have the numbers 0 to %" PRIu64 " (faults %" PRIu64 ")",
                   options->first, options->end, total - 1, options->faults);
}

static bool run_faults(Campaign *at) {
  uint64_t total = faults_wanted(at);
  uint32_t shard = at->options->shard, shards = at->options->shards;
  if (at->options->faults > 0 && !at->options->every) at->progress.beyond = total - at->options->faults;
  at->progress.golden_cycles = at->golden.cycles;
  at->part_first = at->sample_end = min_u64(at->options->first, total);
  at->part_end = at->options->end > 0 ? min_u64(at->options->end, total) : total;
  at->progress.total = total / shards + (total % shards > shard);
  if (at->options->end > 0) at->progress.total = at->part_end - min_u64(at->part_first, at->part_end);
  leave_out_enough(at);
  const CampaignOptions *options = at->options;
  JournalPlan plan = {total, options->faults > 0 ? 0 : options->margin, options->confidence};
  bool good = journal_each_fault(at->journal, know_row, at) && journal_begin(at->journal, &plan, at->diags);
  at->told = at->progress;
  uint32_t batch = journal_batch(at->options->faults == 0, at->population.count);
  bool is_sure = false;
  for (uint64_t first = at->part_first / batch * batch; first < at->part_end && good && !is_sure; first += batch) {
    uint32_t count = (uint32_t)min_u64(batch, total - first);
    leave_out_tight(at, max_u64(first, at->part_first), min_u64(first + count, at->part_end));
    good = run_batch(at, first, count);
    is_sure = find_tight(at);
    if (good)
      good = journal_reached(at->journal, min_u64(first + count, at->part_end), is_sure || first + count >= at->part_end, at->diags) &&
             commit(at);
  }
  if (good && is_sure) at->progress.total = at->told.total = at->progress.done;
  return good && report(at);
}

static bool run_golden(Campaign *at) {
  Target *target = at->target;
  const CampaignOptions *options = at->options;
  GoldenStore store = {options->golden_folder, options->protection, options->origin.binary};
  bool is_kept = target->golden == NULL && options->standing == NULL && options->golden_folder != NULL;
  if (is_kept && golden_load(&store, target, options->protections, &at->golden)) return true;
  if (is_kept) {
    bool good = golden_run(target, options->protections, NULL, &at->golden, at->diags);
    if (good) golden_save(&store, target, &at->golden);
    return good;
  }
  if (target->golden == NULL) return golden_run_standing(target, options->protections, options->standing, &at->golden, at->diags);
  if (options->standing != NULL) return diags_add(at->diags, NULL, 0, 0, "--with-fault is not for CUDA programs");
  return target->golden(target, NULL, 0, &at->golden, &at->listener, at->diags);
}

CampaignEnd campaign_run(Target *target, const CampaignOptions *options, Diags *diags) {
  if (!campaign_check(options, diags)) return CAMPAIGN_FAILED;
  Campaign *at = calloc(1, sizeof *at);
  ASSERT(at != NULL);
  *at = (Campaign){.target = target, .options = &at->asked, .asked = *options, .arena = arena_new(), .diags = diags};
  if (options->faults == 0 && options->margin == 0) at->asked.margin = DEFAULT_MARGIN;
  at->listener = (Listener){take_record, goes_on, at};
  at->golden.arena = at->arena;
  bool good = report(at) && run_golden(at) && population_make(&at->population, &at->golden, at->options, diags) && is_part_there(at) &&
              open_journal(at);
  good = good && run_faults(at);
  CampaignEnd end = good ? CAMPAIGN_COMPLETE : at->stopped ? CAMPAIGN_STOPPED : CAMPAIGN_FAILED;
  if (good && at->progress.counts[OUTCOME_INTERNAL] > 0) end = CAMPAIGN_INTERNAL;
  journal_close(at->journal);
  arena_free(at->arena);
  free(at->known);
  free(at);
  return end;
}
