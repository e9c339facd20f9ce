// A campaign from its options to its journal.
#include "campaign/campaign.h"
#include "campaign/campaign_internal.h"
#include "campaign/golden_store.h"
#include "campaign/settler.h"
#include "campaign/used.h"
#include "base/process.h"
#include "journal/statistics.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static const double DEFAULT_MARGIN = 0.01;
enum { LOOK_UP_CYCLES = 4096 };

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
static bool use_is_known(const Campaign *at) {
  return at->population.kernel != NULL || at->population.cycles + at->population.first_cycle == at->golden.cycles;
}

static double drawn_share(const Campaign *at, uint32_t structure) { return at->used == NULL ? 1 : used_share(at->used, structure); }

// How much of each structure was drawn from, by launch and by time.
static bool put_drawn(Campaign *at) {
  const UsedSpace *used = at->used;
  bool good = true;
  for (uint32_t i = 0; used != NULL && i < used->structure_count && good; i++) {
    uint16_t region = used->structures[i].region;
    for (uint32_t k = 0; k < used->stretch_count && good && used->structures[i].is_told; k++) {
      uint32_t launch = used_stretch(used, k)->launch;
      DrawnRow row = {region, launch, NOTHING, used_share_in_stretch(used, i, k)};
      if (launch != 0) good = journal_put_drawn(at->journal, &row, 1, at->diags);
    }
    for (uint32_t k = 0; k < JOURNAL_SLICES && good && used->structures[i].is_told; k++) {
      DrawnRow row = {region, 0, k, used_share_in_slice(used, i, k)};
      good = journal_put_drawn(at->journal, &row, 1, at->diags);
    }
  }
  return good;
}

static bool put_structures(Campaign *at) {
  StructureRow rows[MOST_STRUCTURES];
  for (uint32_t i = 0; i < at->population.count; i++) {
    const Region *region = &at->golden.table.items[at->population.regions[i]];
    rows[i] = (StructureRow){.region = at->population.regions[i], .name = region->name, .title = region->title};
    const StructurePart *part = &at->population.parts[i];
    part_shape(region, part, &rows[i].rows, &rows[i].units, &rows[i].bits);
    if (!part->is_part && use_is_known(at)) {
      rows[i].used = golden_used(&at->golden, region, at->population.kernel);
      rows[i].needed = golden_needed(&at->golden, region, at->population.kernel);
    }
    rows[i].origin = origin_names[region->origin.kind];
    rows[i].stands_for = region->origin.what;
    rows[i].kind = kind_of(region);
    rows[i].raw_fit_per_mbit = raw_rate(at->target->spec, region, &at->population.pattern);
    rows[i].drawn = drawn_share(at, i);
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
               {NOTE_DATE, origin->date},       {NOTE_COMMAND, origin->command}, {NOTE_HOST, origin->host},
               {NOTE_FOLDER, origin->folder},   {NOTE_PROGRAM, origin->program}};
  bool good = true;
  for (size_t i = 0; i < COUNT_OF(notes) && good; i++) {
    bool is_there = journal_note(journal, notes[i].note)[0] != '\0';
    if (notes[i].value != NULL && !is_there) good = journal_put_note(journal, notes[i].note, notes[i].value, diags);
  }
  return good;
}

static bool put_occupancy(Campaign *at) {
  Occupancy occupancy = golden_occupancy(&at->golden, at->target->spec, at->population.kernel);
  const struct {
    JournalNote note;
    double share;
  } notes[] = {
      {NOTE_OCCUPANCY_SMS, occupancy.sms}, {NOTE_OCCUPANCY_WARPS, occupancy.warps}, {NOTE_OCCUPANCY_REGISTERS, occupancy.registers}};
  bool good = true;
  for (size_t i = 0; i < COUNT_OF(notes) && good; i++) {
    const char *share = occupancy.is_known ? arena_format(at->arena, "%.9g", notes[i].share) : "none";
    good = journal_put_note(at->journal, notes[i].note, share, at->diags);
  }
  return good;
}

// What the run without faults has shown.
static bool put_measured(Campaign *at) {
  const Golden *golden = &at->golden;
  if (!put_occupancy(at)) return false;
  if (golden->uncovered[0] != '\0' && !journal_put_note(at->journal, NOTE_UNCOVERED, golden->uncovered, at->diags)) return false;
  if (golden->idle[0] != '\0' && !journal_put_note(at->journal, NOTE_IDLE, golden->idle, at->diags)) return false;
  if (golden->dynamic_nj + golden->leakage_nj <= 0) return true; // the machine has no power model
  return journal_put_note(at->journal, NOTE_ENERGY_DYNAMIC, arena_format(at->arena, "%.9g", golden->dynamic_nj), at->diags) &&
         journal_put_note(at->journal, NOTE_ENERGY_LEAKAGE, arena_format(at->arena, "%.9g", golden->leakage_nj), at->diags);
}

// "all" among names of structures.
static bool names_all(const char *names) {
  for (const char *at = names; at != NULL; at = strchr(at, ','), at = at == NULL ? NULL : at + 1) {
    if (strncmp(at, "all", 3) == 0 && (at[3] == ',' || at[3] == '\0')) return true;
  }
  return false;
}

// Cells that no such GPU has are struck by name alone.
static bool put_left_out(Campaign *at) {
  Text text = {0};
  for (uint32_t i = 0; i < at->golden.table.count && names_all(at->options->structures); i++) {
    const Region *region = &at->golden.table.items[i];
    bool is_struck = false;
    for (uint32_t k = 0; k < at->population.count; k++) is_struck |= at->population.regions[k] == i;
    if (is_struck || !region_is_on_chip(region) || region_is_hardware(region) || region_bits(region) == 0) continue;
    text_add(&text, "%s%s (%" PRIu64 " bits)", text.length == 0 ? "" : ", ", region->name, region_bits(region));
  }
  bool good = text.length == 0 || journal_put_note(at->journal, NOTE_LEFT_OUT, text.at, at->diags);
  text_free(&text);
  return good;
}

// Bits that "all" takes. Check bits beside device memory belong to those of a campaign that strikes memory.
static uint64_t cell_bits(const Campaign *at, const Region *region) {
  bool strikes_memory = false;
  for (uint32_t i = 0; i < at->population.count; i++)
    strikes_memory |= (at->golden.table.items[at->population.regions[i]].flags & REGION_OUTSIDE) != 0;
  return region_is_hardware(region) || (region->owned_by_scheme != 0 && strikes_memory) ? region_bits(region) : 0;
}

// What there is to strike, so that comparisons know what one side alone has.
static bool put_cells(Campaign *at) {
  Text text = {0};
  for (uint32_t i = 0; i < at->golden.table.count; i++) {
    const Region *region = &at->golden.table.items[i];
    bool is_there = (region->flags & REGION_INJECTABLE) != 0 && region_bits(region) > 0 && region->origin.kind != ORIGIN_SIMULATOR;
    if (is_there) text_add(&text, "%s=%" PRIu64 "\n", region->name, cell_bits(at, region));
  }
  bool good = text.length == 0 || journal_put_note(at->journal, NOTE_CELLS, text.at, at->diags);
  text_free(&text);
  return good;
}

// What the machine is made of is always the same.
static bool put_notes(Campaign *at) {
  bool good = campaign_put_origin(at->journal, &at->options->origin, at->diags) && put_left_out(at);
  uint64_t scheme = 0, chip = 0, elements = 0;
  for (uint32_t i = 0; i < at->golden.table.count; i++) {
    const Region *region = &at->golden.table.items[i];
    if (!region_is_hardware(region)) continue;
    *(region->owned_by_scheme != 0 ? &scheme : &chip) += region_bits(region);
  }
  for (uint32_t i = 0; i < at->golden.outputs.count; i++) elements += at->golden.outputs.items[i].count;
  if (good && at->golden.phases.count > 0) good = journal_put_note(at->journal, NOTE_PHASES, phases_text(at), at->diags);
  return good && put_measured(at) && put_cells(at) && put_count(at, NOTE_SCHEME_BITS, scheme) && put_count(at, NOTE_CHIP_BITS, chip) &&
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
                      .draw = options->from_used ? "used" : "all",
                      .program_hash = at->golden.program_hash,
                      .layout_hash = at->golden.layout_hash,
                      .seed = options->seed,
                      .timeout = options->timeout,
                      .tolerance = tolerances_text(&options->tolerances, at->arena),
                      .shard = options->shard,
                      .shards = options->shards,
                      .first = options->first,
                      .end = options->end,
                      .enough = options->enough == NULL ? "" : options->enough};
  at->journal = journal_open(options->journal, &meta, at->diags);
  if (at->journal == NULL) return false;
  const char *differs = journal_note(at->journal, NOTE_DIFFERS);
  if (differs[0] != '\0')
    return diags_add(at->diags, options->journal, 0, 0,
                     "its self-check has failed, so it cannot be gone on with; begin another journal. %s", differs);
  return put_notes(at) && put_structures(at) && put_drawn(at) && put_source(at) &&
         journal_put_golden(at->journal, at->golden.launches.items, at->golden.launches.count, at->diags) &&
         journal_commit(at->journal, at->diags);
}

// Tells what is on disk.
bool campaign_report(Campaign *at) {
  if (at->options->progress != NULL && !at->options->progress(at->options->context, &at->told)) at->stopped = true;
  return !at->stopped;
}

static bool goes_on(void *context) { return campaign_report(context); }

// ---- A batch ---------------------------------------------------------------------------------------

// One simulation for each class that has a fault of ours left to settle.
static uint32_t choose_live(const Campaign *at, Draw *live) {
  uint32_t count = 0;
  uint8_t *wanted = calloc(at->draw_count + 1, 1);
  ASSERT(wanted != NULL);
  for (uint32_t i = 0; i < at->draw_count; i++) {
    const Draw *draw = &at->draws[i];
    if (draw->settled >= SETTLED_CLASS && rows_is_left(at, draw->id)) wanted[draw->class_of - at->first_id] = 1;
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
  campaign_report(hook->own);
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
static bool run_watched(Campaign *at, const WatchedDraws *watched, uint32_t wanted, UsedSpace *used, Hook *hooks[MOST_SETTLERS]) {
  Golden again = {.arena = watched->arena};
  bool elsewhere = at->target->golden != NULL, is_seen_there = (wanted & settlers_in_program(at->options->settlers)) != 0;
  Hook look_up = {.name = "look-up", .kind = HOOK_OBSERVER, .own = at, .cycle = on_look_up, .next_cycle = LOOK_UP_CYCLES};
  HookChain watchers = {.hooks = {&look_up}, .count = 1}, chain;
  bool room = standing_chain(at->options->protections, at->golden.standing, watched->arena, &chain);
  if (!elsewhere) room = settlers_watch(at->options->settlers, wanted, watched, hooks, &watchers) && room;
  if (!elsewhere && used != NULL) room = hook_chain_add(&watchers, used_watch(used, watched->table, watched->arena)) && room;
  if (!room) return diags_add(at->diags, NULL, 0, 0, "too many protections for a campaign");
  bool ran =
      elsewhere ? at->target->golden(at->target, watched->draws, is_seen_there ? watched->count : 0, used, &again, &at->listener, at->diags)
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
    if (rows_is_left(at, id)) all = false;
    else if (rows_is_ours(at, id)) rows_count_settled(at, id, rows_outcome(at, id));
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
  rows_list_classes(at, settling->arena);
  bool good = rows_put_seen(at);
  for (uint32_t i = 0; settlers[i] != NULL && good; i++) {
    if ((wanted >> i & 1) == 0 || settlers[i]->settle == NULL) continue;
    expect(at, count);
    good = rows_commit(at) && campaign_report(at) && settlers[i]->settle(settling, hooks[i], live, &count) && !at->stopped;
  }
  for (uint32_t i = 0; settlers[i] != NULL; i++) {
    if (settlers[i]->finish != NULL) settlers[i]->finish(settling);
  }
  return good;
}

bool campaign_simulate(Campaign *at, Settling *settling, Draw *live, uint32_t count) {
  const Settler *const *settlers = at->options->settlers;
  bool good = true;
  for (uint32_t i = 0; settlers[i] != NULL && good; i++) {
    if (!settlers[i]->simulates || !settlers[i]->is_for(settling)) continue;
    good = campaign_report(at) && settlers[i]->settle(settling, NULL, live, &count) && !at->stopped;
  }
  for (uint32_t i = 0; settlers[i] != NULL; i++) {
    if (settlers[i]->finish != NULL) settlers[i]->finish(settling);
  }
  return good;
}

// Those that were detected, once more: the detection has no effect now, and the run goes on. The journal says both.
static bool settle_unanswered(Campaign *at, const Settling *answered) {
  if (at->detected.count == 0) return true;
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
  bool good = rows_commit(at) && campaign_simulate(at, &settling, live, count);
  target_answers(at->target, at->options->protections, true);
  at->is_unanswered = false;
  return good;
}

// Where faults are drawn from what is used: a run without faults finds the places of a batch. Without a structure whose accesses are told there is
// nothing to find.
static bool find_used(Campaign *at, uint64_t first, uint32_t count) {
  if (!at->options->from_used || (at->used != NULL && at->used->first_id == first && at->used->seek_count == count)) return true;
  arena_free(at->used_arena);
  at->used_arena = arena_new();
  at->used = used_new(&at->population, &at->golden.table, first, count, at->used_arena);
  at->population.used = at->used;
  if (!used_any_told(at->used)) return true;
  WatchedDraws nobody = {.arena = arena_new(), .table = &at->golden.table};
  Hook *hooks[MOST_SETTLERS] = {NULL};
  bool good = run_watched(at, &nobody, 0, at->used, hooks);
  at->is_checked |= good;
  arena_free(nobody.arena);
  return good;
}

// Def-use looks on at another run: a fault that was drawn from what is used is read there, and where nothing is used none is.
static bool check_used(const Campaign *at, uint32_t wanted) {
  for (uint32_t i = 0; at->used != NULL && i < at->draw_count; i++) {
    const Draw *draw = &at->draws[i];
    const UsedSeek *seek = used_seek(at->used, draw->id);
    const UsedStructure *structure = &at->used->structures[seek->structure];
    if (!structure->is_told || draw->read < 0 || wanted == 0) continue;
    bool is_read = draw->read == 1;
    if (is_read == seek->is_found || (structure->by_row && seek->is_found)) continue;
    return diags_add(at->diags, NULL, 0, 0,
                     "internal error: fault %" PRIu64
                     " was drawn from what is %s, and a run without faults %s it; the campaign cannot be trusted",
                     draw->id, seek->is_found ? "used" : "not used", is_read ? "reads" : "does not read");
  }
  return true;
}

static bool run_batch(Campaign *at, uint64_t first, uint32_t count) {
  at->first_id = first;
  at->draw_count = count;
  if (is_known(at, first, count)) return true;
  if (!find_used(at, first, count)) return false;
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
  bool good = (!runs || run_watched(at, &watched, wanted, NULL, hooks)) && check_used(at, wanted);
  at->is_checked |= good;
  good = good && settle_live(at, &settling, wanted, hooks) && settle_unanswered(at, &settling);
  good = rows_commit(at) && good;
  arena_free(arena);
  return good && !at->stopped && campaign_report(at);
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
    at->tight[i] = wilson_is_tight(at->bad[i], at->settled[i], drawn_share(at, i), options->margin, options->confidence);
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
  at->progress.before++;
  rows_know(at, row->id, row->outcome);
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
  uint64_t below = at->part_first;
  bool is_sure = false;
  for (uint64_t first = at->part_first / batch * batch; first < at->part_end && good && !is_sure; first += batch) {
    uint32_t count = (uint32_t)min_u64(batch, total - first);
    leave_out_tight(at, max_u64(first, at->part_first), min_u64(first + count, at->part_end));
    good = run_batch(at, first, count);
    is_sure = find_tight(at);
    below = min_u64(first + count, at->part_end);
    good = good && journal_reached(at->journal, below, false, at->diags) && rows_commit(at);
  }
  good = good && campaign_verify(at, total) && journal_reached(at->journal, below, true, at->diags) && rows_commit(at);
  if (good && is_sure) at->progress.total = at->told.total = at->progress.done;
  return good && campaign_report(at);
}

// Of the batch that comes first: the journal says how much of each structure is drawn from.
static bool find_first_used(Campaign *at) {
  uint64_t total = faults_wanted(at), batch = journal_batch(at->options->faults == 0, at->population.count);
  uint64_t first = min_u64(at->options->first, total - 1) / batch * batch;
  return find_used(at, first, (uint32_t)min_u64(batch, total - first));
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
  return target->golden(target, NULL, 0, NULL, &at->golden, &at->listener, at->diags);
}

// A CUDA program has no outputs here: its target knows how far its results may be off.
static bool tolerate(Campaign *at) {
  return at->target->golden != NULL || target_tolerate(&at->golden.outputs, &at->asked.tolerances, at->arena, at->diags);
}

CampaignEnd campaign_run(Target *target, const CampaignOptions *options, Diags *diags) {
  if (!campaign_check(options, diags)) return CAMPAIGN_FAILED;
  Campaign *at = calloc(1, sizeof *at);
  ASSERT(at != NULL);
  *at = (Campaign){.target = target, .options = &at->asked, .asked = *options, .arena = arena_new(), .diags = diags};
  if (options->faults == 0 && options->margin == 0) at->asked.margin = DEFAULT_MARGIN;
  at->listener = (Listener){rows_take, goes_on, at};
  at->golden.arena = at->arena;
  bool good = campaign_report(at) && run_golden(at) && tolerate(at) && population_make(&at->population, &at->golden, at->options, diags) &&
              is_part_there(at) && find_first_used(at) && open_journal(at);
  good = good && run_faults(at);
  CampaignEnd end = good ? CAMPAIGN_COMPLETE : at->stopped ? CAMPAIGN_STOPPED : at->differs ? CAMPAIGN_DIFFERS : CAMPAIGN_FAILED;
  if (good && at->progress.counts[OUTCOME_INTERNAL] > 0) end = CAMPAIGN_INTERNAL;
  journal_close(at->journal);
  arena_free(at->used_arena);
  arena_free(at->arena);
  free(at->known);
  free(at);
  return end;
}
