// From a broken lane to a healed machine, by itself: detection, diagnosis, map, Warped-Shield. Ours; we know of no published system that closes this
// loop on a GPU.
//
// Detection: full redundancy as in dmr.c (Tan and Fu, PACT 2012), the second copy `rotate` lanes further, so that a broken lane meets different
// threads in different copies. A mismatch issues a third copy on yet other lanes, and the three vote per thread: what one lane, or one transient, spoils is never written.
// Copies keep to lanes that are healthy, and new to each of their threads, in whatever cluster of the same turn: else shuffling could bring all copies of a
// thread to the one healthy lane of its cluster, and when that breaks they would agree on a wrong value.
// With detect=rise only what RISE's idle time allows (rise.c: full, that is rp and is) is computed twice: nearly free, but a broken lane writes wrong values until
// it is found, and it is found only where there is idle time.
// Diagnosis: of a thread that was outvoted in a copy, the lane of that copy gets a vote, at most one for each instruction. A lane that has `threshold`
// votes of the current `window` of cycles is broken: it goes into the map, and shield (shield.c) keeps threads away from it from then on. A transient gives one vote
// and is forgotten.
// Trial: what a lane of the map would compute is still looked at, for `trials` windows: a shadow of some thread runs on it and is compared with its thread; it is
// never written. Wrong in every window: permanent. Wrong in some: intermittent; it stays in the map. Wrong in none: it comes back into use.
// The last healthy lane of a cluster is never taken out, nor one of the last three of a unit; the vote goes on putting its results right.
// Not covered: what dmr.c does not cover. Address units are compared and voted on, but not mapped, since accesses cannot be divided. Two wrong copies of one thread of
// one instruction that agree in every bit: they outvote the third, or the third is never computed. Two lanes that break at once at the distance of the copies
// can do so, and two transients; a predicate has one bit, so there two wrong copies always agree. Units with fewer than three healthy lanes: copies share lanes there.
// State: the buffer of dmr (heal.tag, heal.mask, heal.rows) or the structures of RISE, per held copy and thread its lane and a digest of its results (heal.note), the map (heal.sp, ...), and per lane its
// votes and trial (heal.vote.sp, ...).
// Cost: that of dmr (or of RISE) and of shield. Votes and trials take no time: shadows run in lane slots that are idle.
#include "protect/rise.h"
#include "protect/shield.h"

#include <stdio.h>

enum {
  DEFAULT_ENTRIES = 32,
  DEFAULT_THRESHOLD = 4,
  DEFAULT_WINDOW = 1024,
  DEFAULT_TRIALS = 16,
  MOST_TRIALS = 31,
  LEAST_PROBES = 4,
  VOTERS = 3
};

typedef struct Heal {
  Shield shield;
  bool is_rise;                 // detect=rise
  Hook *rise;                   // says what is computed twice; NULL: every instruction
  Redundancy every;             // the buffer, if it is every instruction
  const Redundancy *redundancy; // the buffer in use: that, or the one of RISE
  uint64_t entries;
  uint32_t rotate;
  uint64_t threshold, window, trials;
  uint16_t notes;               // region: per held copy and thread
  uint16_t votes[SHIELD_UNITS]; // regions: per lane; REGION_NONE: no such unit, or not mapped
} Heal;

// ---- Lanes -------------------------------------------------------------------------------------------

typedef enum LaneKind { LANE_USED, LANE_ON_TRIAL, LANE_PERMANENT, LANE_INTERMITTENT } LaneKind;
// What is known of a lane. It lies packed in a unit of its region, so that every bit of it is a cell.
typedef struct LaneState {
  uint32_t kind, votes, noisy, quiet, probes, wrong;
  uint32_t stamp; // window of the votes, or of the trial
} LaneState;
enum { KIND_BITS = 2, VOTE_BITS = 6, COUNT_BITS = 5, PROBE_BITS = 4, WRONG_BITS = 1, STAMP_BITS = 24 };
enum { LANE_BITS = KIND_BITS + VOTE_BITS + 2 * COUNT_BITS + PROBE_BITS + WRONG_BITS + STAMP_BITS };

static uint32_t cut(uint64_t *bits, uint32_t width) {
  uint32_t value = (uint32_t)(*bits & ((UINT64_C(1) << width) - 1));
  *bits >>= width;
  return value;
}
static void glue(uint64_t *bits, uint32_t value, uint32_t width) { *bits = *bits << width | (value & ((UINT64_C(1) << width) - 1)); }

static uint8_t *lane_at(const Heal *own, const HookMachine *machine, uint32_t unit, uint32_t row, uint32_t lane) {
  const Region *region = &machine->regions->items[own->votes[unit]];
  return machine->block + region->base + row % region->rows * region->row_bytes + lane % region->units * region->unit_bytes;
}

static LaneState lane_get(const Heal *own, const HookMachine *machine, uint32_t unit, uint32_t row, uint32_t lane) {
  uint64_t bits = unit_get(&machine->regions->items[own->votes[unit]], lane_at(own, machine, unit, row, lane));
  LaneState state;
  state.kind = cut(&bits, KIND_BITS);
  state.votes = cut(&bits, VOTE_BITS);
  state.noisy = cut(&bits, COUNT_BITS);
  state.quiet = cut(&bits, COUNT_BITS);
  state.probes = cut(&bits, PROBE_BITS);
  state.wrong = cut(&bits, WRONG_BITS);
  state.stamp = cut(&bits, STAMP_BITS);
  return state;
}

static void lane_set(const Heal *own, const HookMachine *machine, uint32_t unit, uint32_t row, uint32_t lane, const LaneState *state) {
  uint64_t bits = 0;
  glue(&bits, state->stamp, STAMP_BITS);
  glue(&bits, state->wrong, WRONG_BITS);
  glue(&bits, state->probes, PROBE_BITS);
  glue(&bits, state->quiet, COUNT_BITS);
  glue(&bits, state->noisy, COUNT_BITS);
  glue(&bits, state->votes, VOTE_BITS);
  glue(&bits, state->kind, KIND_BITS);
  unit_set(&machine->regions->items[own->votes[unit]], lane_at(own, machine, unit, row, lane), bits);
}

static uint32_t window_now(const Heal *own, const HookMachine *machine) {
  return (uint32_t)(machine->cycle / own->window) & ((1u << STAMP_BITS) - 1);
}

// The lane disagrees with two others.
static void vote_against(const Heal *own, const HookMachine *machine, uint32_t unit, uint32_t sm, uint32_t row, uint32_t lane) {
  if (own->votes[unit] == REGION_NONE || lane >= own->shield.unit[unit].lanes) return;
  LaneState state = lane_get(own, machine, unit, row, lane);
  if (state.kind != LANE_USED) return; // it was under way when the lane went
  uint32_t now = window_now(own, machine);
  if (state.stamp != now) state.votes = 0; // older ones are forgotten: transients
  state.stamp = now;
  state.votes++;
  if (state.votes >= own->threshold) {
    state.votes = 0;
    shield_break(&own->shield, machine, (ShieldUnitId)unit, row, 0, lane, true);
    uint32_t broken = shield_broken(&own->shield, machine, (ShieldUnitId)unit, row, 0), lanes = own->shield.unit[unit].lanes;
    bool is_last = !shield_sm_is_usable(&own->shield, machine, sm) || lanes - count_ones(broken) < VOTERS;
    if (is_last) shield_break(&own->shield, machine, (ShieldUnitId)unit, row, 0, lane, false);
    else state = (LaneState){.kind = LANE_ON_TRIAL, .stamp = now};
  }
  lane_set(own, machine, unit, row, lane, &state);
}

// A window of the trial is over; the last one decides.
static void end_window(const Heal *own, const HookMachine *machine, uint32_t unit, uint32_t row, uint32_t lane, LaneState *state) {
  bool counts = state->wrong != 0 || state->probes >= LEAST_PROBES;
  if (counts && state->wrong != 0) state->noisy++;
  else if (counts) state->quiet++;
  state->probes = state->wrong = 0;
  if (state->noisy + state->quiet < own->trials) return;
  state->kind = state->quiet == 0 ? LANE_PERMANENT : state->noisy > 0 ? LANE_INTERMITTENT : LANE_USED;
  if (state->kind != LANE_USED) return;
  *state = (LaneState){.kind = LANE_USED};
  shield_break(&own->shield, machine, (ShieldUnitId)unit, row, 0, lane, false);
}

// A shadow on a lane of the map was right or wrong.
static void try_lane(const Heal *own, const HookMachine *machine, uint32_t unit, uint32_t row, uint32_t lane, bool is_wrong) {
  LaneState state = lane_get(own, machine, unit, row, lane);
  if (state.kind != LANE_ON_TRIAL) return;
  uint32_t now = window_now(own, machine);
  if (state.stamp != now) end_window(own, machine, unit, row, lane, &state);
  state.stamp = state.kind == LANE_ON_TRIAL ? now : state.stamp;
  if (state.kind == LANE_ON_TRIAL) {
    state.probes = min_u32(state.probes + 1, (1u << PROBE_BITS) - 1);
    state.wrong |= is_wrong ? 1u : 0u;
  }
  lane_set(own, machine, unit, row, lane, &state);
}

static uint32_t unit_of(const Heal *own, uint16_t region) {
  for (uint32_t u = 0; u < SHIELD_UNITS; u++) {
    if (own->shield.unit[u].output == region) return u;
  }
  return SHIELD_UNITS;
}

// ---- Notes: which lane computed a thread in a copy that is held, and a digest of what --------------------

enum { HELD_COPIES = 2, NOTE_SLOT_BITS = 6, NOTE_ROW_BITS = 5, NOTE_DIGEST_AT = NOTE_SLOT_BITS + NOTE_ROW_BITS };

static uint32_t *notes_at(const Heal *own, const HookMachine *machine, uint32_t sm, uint32_t entry, uint32_t copy) {
  const Region *region = &machine->regions->items[own->notes];
  uint64_t row = ((uint64_t)sm * own->redundancy->entries + entry) * HELD_COPIES + copy;
  return (uint32_t *)(void *)(machine->block + region->base + row % region->rows * region->row_bytes);
}

// Of each lane slot's results.
static void make_digests(const ResultEvent *event, uint32_t digests[WARP_LANES]) {
  uint64_t sum[WARP_LANES] = {0};
  for (uint32_t r = 0; r < event->row_count; r++) {
    for (uint32_t i = 0; i < WARP_LANES; i++) sum[i] = (sum[i] ^ event->rows[r * WARP_LANES + i]) * UINT64_C(0x9E3779B97F4A7C15);
  }
  for (uint32_t k = 0; k < 2 && event->predicates != NULL; k++) {
    for (uint32_t i = 0; i < WARP_LANES; i++) sum[i] = (sum[i] ^ (event->predicates[k] >> i & 1)) * UINT64_C(0x9E3779B97F4A7C15);
  }
  for (uint32_t i = 0; i < WARP_LANES; i++) digests[i] = (uint32_t)(sum[i] >> 43) << NOTE_DIGEST_AT;
}

// By thread; 0: not computed.
static void make_notes(const ResultEvent *event, uint32_t notes[WARP_LANES]) {
  uint32_t digests[WARP_LANES], row = (uint32_t)event->row & ((1u << NOTE_ROW_BITS) - 1);
  make_digests(event, digests);
  memset(notes, 0, WARP_LANES * sizeof notes[0]);
  for (uint32_t left = event->mask & ~event->shadow; left != 0; left &= left - 1) {
    uint32_t slot = (uint32_t)__builtin_ctz(left);
    notes[event->thread[slot] % WARP_LANES] = digests[slot] | row << NOTE_SLOT_BITS | (slot + 1);
  }
}

// WARP_LANES and more: not computed.
static uint32_t note_slot(uint32_t note) { return (note & ((1u << NOTE_SLOT_BITS) - 1)) - 1; }

// The lane of a note gets a vote, unless it has had one for this instruction.
static void blame(const Heal *own, const HookMachine *machine, const ResultEvent *event, uint32_t note, uint32_t voted[SHIELD_MOST_SPS]) {
  uint32_t unit = unit_of(own, event->region), slot = note_slot(note);
  if (unit == SHIELD_UNITS || slot >= WARP_LANES) return;
  uint32_t per_sm = unit == SHIELD_SP ? own->shield.sps : 1, lane = slot % own->shield.unit[unit].lanes;
  for (uint32_t i = 0; i < per_sm; i++) {
    uint32_t row = event->who->sm * per_sm + i;
    bool is_row = (row & ((1u << NOTE_ROW_BITS) - 1)) == (note >> NOTE_SLOT_BITS & ((1u << NOTE_ROW_BITS) - 1));
    if (!is_row || (voted[i] >> lane & 1) != 0) continue;
    voted[i] |= 1u << lane;
    vote_against(own, machine, unit, event->who->sm, row, lane);
  }
}

// The copies have voted, and the event holds what they agree on.
static void diagnose(const Heal *own, const HookMachine *machine, const ResultEvent *event, uint32_t entry,
                     const uint32_t third[WARP_LANES]) {
  uint32_t agreed[WARP_LANES], voted[SHIELD_MOST_SPS] = {0};
  make_notes(event, agreed);
  for (uint32_t thread = 0; thread < WARP_LANES; thread++) {
    if (agreed[thread] == 0) continue;
    for (uint32_t copy = 0; copy <= HELD_COPIES; copy++) {
      uint32_t note = copy == HELD_COPIES ? third[thread] : notes_at(own, machine, event->who->sm, entry, copy)[thread];
      if (note != 0 && (note ^ agreed[thread]) >> NOTE_DIGEST_AT != 0) blame(own, machine, event, note, voted);
    }
  }
}

static void forget(const Heal *own, const HookMachine *machine, const ResultEvent *event, uint32_t entry) {
  for (uint32_t copy = 0; copy < HELD_COPIES; copy++) {
    uint32_t *notes = notes_at(own, machine, event->who->sm, entry, copy);
    for (uint32_t left = event->mask & ~event->shadow; left != 0; left &= left - 1)
      notes[event->thread[__builtin_ctz(left)] % WARP_LANES] = 0;
  }
}

// ---- Trials --------------------------------------------------------------------------------------------

// Shadows of threads of the part go to lanes of the map that are on trial.
static void add_probes(const Heal *own, const HookMachine *machine, PlaceEvent *event) {
  uint32_t unit = shield_unit_of(event->instr), sps = max_u32(event->sps, 1), threads = event->part->filled & ~event->part->shadow;
  if (own->votes[unit] == REGION_NONE || threads == 0 || event->is_whole) return;
  for (uint32_t sp = 0; sp < sps; sp++) {
    uint32_t row = event->who->sm * sps + sp;
    if (event->sp != PART_ANY && event->sp != sp) continue;
    for (uint32_t left = shield_broken(&own->shield, machine, (ShieldUnitId)unit, row, 0); left != 0; left &= left - 1) {
      uint32_t lane = (uint32_t)__builtin_ctz(left), from = (uint32_t)__builtin_ctz(threads);
      bool is_idle = lane < PART_SLOTS && (event->part->filled >> lane & 1) == 0;
      if (is_idle && lane_get(own, machine, unit, row, lane).kind == LANE_ON_TRIAL)
        part_put(event->part, lane, event->part->warp[from], event->part->thread[from], true);
    }
  }
}

static bool differs(const ResultEvent *event, uint32_t a, uint32_t b) {
  for (uint32_t r = 0; r < event->row_count; r++) {
    if (event->rows[r * WARP_LANES + a] != event->rows[r * WARP_LANES + b]) return true;
  }
  for (uint32_t k = 0; k < 2 && event->predicates != NULL; k++) {
    if (((event->predicates[k] >> a ^ event->predicates[k] >> b) & 1) != 0) return true;
  }
  return false;
}

static void look_at_probes(const Heal *own, const HookMachine *machine, const ResultEvent *event) {
  uint32_t unit = unit_of(own, event->region);
  if (event->shadow == 0 || unit == SHIELD_UNITS || own->votes[unit] == REGION_NONE) return;
  uint32_t lanes = own->shield.unit[unit].lanes, broken = shield_broken(&own->shield, machine, (ShieldUnitId)unit, (uint32_t)event->row, 0);
  for (uint32_t left = event->mask & event->shadow; left != 0; left &= left - 1) {
    uint32_t slot = (uint32_t)__builtin_ctz(left);
    for (uint32_t others = event->mask & ~event->shadow; others != 0; others &= others - 1) {
      uint32_t other = (uint32_t)__builtin_ctz(others);
      bool is_own = event->thread[other] == event->thread[slot] && event->owner_of[other] == event->owner_of[slot];
      if (is_own && (broken >> slot % lanes & 1) != 0)
        try_lane(own, machine, unit, (uint32_t)event->row, slot % lanes, differs(event, slot, other));
    }
  }
}

// ---- Events --------------------------------------------------------------------------------------------

static Verdict on_plan(Hook *hook, HookMachine *machine, PlanEvent *event) {
  const Heal *own = hook->own;
  if (own->rise != NULL) return own->rise->plan(own->rise, machine, event);
  if (event->copy > 0 || !redundancy_covers(event->instr)) return VERDICT_PASS;
  if (!redundancy_reserve(own->redundancy, machine, event)) return VERDICT_STALL;
  event->copies = 2;
  return VERDICT_PASS;
}

// The lanes that the copies held so far were on, for each thread where it is offered.
static void lanes_so_far(const Heal *own, const HookMachine *machine, const PlaceEvent *event, uint32_t lanes[PART_SLOTS]) {
  uint32_t entry = redundancy_entry(own->redundancy, machine, event->who, event->instr, event->number);
  for (uint32_t copy = 0; copy < HELD_COPIES && entry < own->redundancy->entries; copy++) {
    const uint32_t *notes = notes_at(own, machine, event->who->sm, entry, copy);
    for (uint32_t left = event->part->filled; left != 0; left &= left - 1) {
      uint32_t i = (uint32_t)__builtin_ctz(left), slot = note_slot(notes[event->part->thread[i] % WARP_LANES]);
      if (slot < WARP_LANES) lanes[i] |= 1u << slot % event->lanes;
    }
  }
}

// A further copy goes to lanes that none of its threads has been on, so that no lane has two votes. Where nothing is broken, all of them go on alike.
static bool place_copy(const Heal *own, const HookMachine *machine, PlaceEvent *event) {
  uint32_t by = event->is_repeat && event->copy > 1 ? own->rotate : own->rotate * event->copy, avoid[PART_SLOTS] = {0};
  if (event->is_repeat) lanes_so_far(own, machine, event, avoid);
  bool is_apart = (event->is_repeat || !shield_is_clear(&own->shield, machine, event)) &&
                  shield_place_apart(&own->shield, machine, event, redundancy_shift(by, event->lanes), avoid);
  if (is_apart) return true;
  redundancy_rotate(event, by);
  return shield_place(&own->shield, machine, event);
}

static Verdict on_place(Hook *hook, HookMachine *machine, PlaceEvent *event) {
  const Heal *own = hook->own;
  bool is_placed = event->copy > 0 ? place_copy(own, machine, event) : shield_place(&own->shield, machine, event);
  if (!is_placed && event->is_repeat) return VERDICT_PASS; // it began before the lane went: the other two can still outvote it
  if (!is_placed) ++*machine->detected;
  if (is_placed && event->copy == 0) add_probes(own, machine, event);
  if (is_placed && own->rise != NULL) return own->rise->place(own->rise, machine, event);
  return is_placed ? VERDICT_PASS : VERDICT_HALT;
}

static Verdict on_result(Hook *hook, HookMachine *machine, ResultEvent *event) {
  const Heal *own = hook->own;
  look_at_probes(own, machine, event);
  if (event->copies < 2) return VERDICT_PASS;
  uint32_t entry = redundancy_entry(own->redundancy, machine, event->who, event->instr, event->part), notes[WARP_LANES];
  bool is_noted = entry < own->redundancy->entries && event->owners == 1;
  if (is_noted) make_notes(event, notes);
  if (is_noted && event->copy < HELD_COPIES) {
    uint32_t *at = notes_at(own, machine, event->who->sm, entry, event->copy);
    for (uint32_t thread = 0; thread < WARP_LANES; thread++) at[thread] = notes[thread] != 0 ? notes[thread] : at[thread];
  }
  Verdict verdict = own->rise != NULL ? own->rise->result(own->rise, machine, event) : redundancy_result(own->redundancy, machine, event);
  if (is_noted && verdict == VERDICT_FIXED) diagnose(own, machine, event, entry, notes);
  if (is_noted && verdict != VERDICT_HOLD && verdict != VERDICT_REPEAT) forget(own, machine, event, entry);
  return verdict;
}

static void clear_notes(const Heal *own, const HookMachine *machine) {
  const Region *region = &machine->regions->items[own->notes];
  memset(machine->block + region->base, 0, region->rows * region->row_bytes);
}

static Verdict on_launch(Hook *hook, HookMachine *machine, const LaunchEvent *event) {
  const Heal *own = hook->own;
  redundancy_clear(own->redundancy, machine);
  clear_notes(own, machine);
  if (own->rise != NULL) own->rise->launch(own->rise, machine, event);
  if (hook_wakes_at(hook, machine) == UINT64_MAX) return VERDICT_PASS;
  shield_begin(&own->shield, machine);
  hook_wake(hook, machine, UINT64_MAX);
  return VERDICT_PASS;
}

static void on_cycle(Hook *hook, HookMachine *machine) { shield_begin(&((const Heal *)hook->own)->shield, machine); }

static Verdict on_block(Hook *hook, HookMachine *machine, const BlockEvent *event) {
  const Heal *own = hook->own;
  if (own->rise != NULL) return own->rise->block(own->rise, machine, event);
  if (event->done) redundancy_clear_block(own->redundancy, machine, event->who->sm, event->who->block_slot);
  return VERDICT_PASS;
}

// What RISE looks at beside: how long requests wait for DRAM.
static Verdict on_take(Hook *hook, HookMachine *machine, const HoldEvent *event) {
  Hook *rise = ((const Heal *)hook->own)->rise;
  return rise->take(rise, machine, event);
}
static Verdict on_service(Hook *hook, HookMachine *machine, const MemoryEvent *event) {
  Hook *rise = ((const Heal *)hook->own)->rise;
  return rise->service(rise, machine, event);
}
static Verdict on_response(Hook *hook, HookMachine *machine, const MemoryEvent *event) {
  Hook *rise = ((const Heal *)hook->own)->rise;
  return rise->response(rise, machine, event);
}

// ---- Made ------------------------------------------------------------------------------------------------

static bool add_votes(Heal *own, HookLayout *layout, uint32_t u, Diags *diags) {
  const ShieldUnit *unit = &own->shield.unit[u];
  char name[64];
  own->votes[u] = REGION_NONE;
  if (unit->output == REGION_NONE || u == SHIELD_AGU) return true;
  const Region outputs = hook_layout_regions(layout)->items[unit->output];
  snprintf(name, sizeof name, "heal.vote.%s", shield_unit_names[u]);
  Region votes = {.name = name,
                  .title = "votes against lanes",
                  .unit = "lane",
                  .meaning = "votes of the window, what its trial has shown",
                  .dim_count = outputs.dim_count,
                  .units = unit->lanes,
                  .bits = LANE_BITS,
                  .unit_bytes = 8};
  memcpy(votes.dims, outputs.dims, sizeof votes.dims);
  own->votes[u] = hook_add_region(layout, &votes, LIFE_MACHINE, diags);
  return own->votes[u] != REGION_NONE;
}

static bool on_attach(Hook *hook, HookLayout *layout, Diags *diags) {
  Heal *own = hook->own;
  if (!shield_attach(&own->shield, layout, diags)) return false;
  if (own->rise == NULL && !redundancy_attach(&own->every, layout, diags)) return false;
  if (own->rise != NULL) {
    own->rise->word_shift = hook->word_shift; // the bits of packets that are heal's are RISE's
    if (!own->rise->attach(own->rise, layout, diags)) return false;
  }
  for (uint32_t u = 0; u < SHIELD_UNITS; u++) {
    if (!add_votes(own, layout, u, diags)) return false;
  }
  Region notes = {.name = "heal.note",
                  .title = "redundancy buffer",
                  .unit = "thread",
                  .meaning = "lane slot and SP of a held result, and a digest of it",
                  .dims = {{"sm", own->redundancy->sms}, {"place", own->redundancy->entries}, {"copy", HELD_COPIES}},
                  .dim_count = 3,
                  .units = WARP_LANES,
                  .bits = 32,
                  .unit_bytes = 4};
  own->notes = hook_add_region(layout, &notes, LIFE_LAUNCH, diags);
  return own->notes != REGION_NONE;
}

static bool read_detection(Heal *own, const ProtectArguments *arguments, const ProtectArgument *argument, Diags *diags) {
  const char *word = argument->value == NULL ? "" : argument->value;
  own->is_rise = strcmp(word, "rise") == 0;
  return own->is_rise || strcmp(word, "dmr") == 0 || diags_add(diags, NULL, 0, 0, "%s: detect must be dmr or rise", arguments->text);
}

static bool read_option(Heal *own, const ProtectArguments *arguments, const ProtectArgument *argument, Diags *diags) {
  static const char *const known[] = {"entries", "rotate", "threshold", "window", "trials", "detect",   "map",
                                      "density", "seed",   "most",      "where",  "pool",   "crossbar", "control"};
  uint64_t rotate = own->rotate;
  bool good = false, is_shields = false;
  for (size_t i = 6; i < COUNT_OF(known); i++) is_shields |= strcmp(argument->key, known[i]) == 0;
  if (is_shields) return shield_option(&own->shield, arguments, argument, &good, diags) && good;
  if (strcmp(argument->key, "entries") == 0) good = protect_number(arguments, argument, 1, REDUNDANCY_MOST_ENTRIES, &own->entries, diags);
  else if (strcmp(argument->key, "rotate") == 0) good = protect_number(arguments, argument, 1, WARP_LANES - 1, &rotate, diags);
  else if (strcmp(argument->key, "threshold") == 0)
    good = protect_number(arguments, argument, 1, (1u << VOTE_BITS) - 1, &own->threshold, diags);
  else if (strcmp(argument->key, "window") == 0) good = protect_number(arguments, argument, 1, UINT32_MAX, &own->window, diags);
  else if (strcmp(argument->key, "trials") == 0) good = protect_number(arguments, argument, 1, MOST_TRIALS, &own->trials, diags);
  else if (strcmp(argument->key, "detect") == 0) good = read_detection(own, arguments, argument, diags);
  else protect_unknown(arguments, argument->key, known, COUNT_OF(known), diags);
  own->rotate = (uint32_t)rotate;
  return good;
}

static bool choose_detection(Heal *own, Arena *arena, Diags *diags) {
  own->every = (Redundancy){.tag_name = "heal.tag",
                            .mask_name = "heal.mask",
                            .rows_name = "heal.rows",
                            .order = COMPARE_FIRST,
                            .entries = (uint32_t)own->entries};
  own->redundancy = &own->every;
  if (!own->is_rise) return true;
  char text[32];
  snprintf(text, sizeof text, "rise:full,entries=%u", (uint32_t)own->entries);
  own->rise = protect_new(text, arena, diags);
  if (own->rise != NULL) own->redundancy = &((const Rise *)own->rise->own)->redundancy;
  return own->rise != NULL;
}

Hook *heal_new(const ProtectArguments *arguments, Arena *arena, Diags *diags) {
  Heal *own = ARENA_NEW(arena, Heal);
  own->shield = shield_make("heal", arena);
  own->entries = DEFAULT_ENTRIES;
  own->rotate = 1;
  own->threshold = DEFAULT_THRESHOLD;
  own->window = DEFAULT_WINDOW;
  own->trials = DEFAULT_TRIALS;
  for (uint32_t i = 0; i < arguments->count; i++) {
    if (!read_option(own, arguments, &arguments->items[i], diags)) return NULL;
  }
  shield_choose(&own->shield);
  if (!choose_detection(own, arena, diags)) return NULL;
  Hook *hook = ARENA_NEW(arena, Hook);
  *hook = (Hook){.name = "heal",
                 .kind = HOOK_PROTECTION,
                 .own = own,
                 .attach = on_attach,
                 .launch = on_launch,
                 .block = on_block,
                 .plan = on_plan,
                 .place = on_place,
                 .result = on_result,
                 .cycle = on_cycle,
                 .take = own->is_rise ? on_take : NULL,
                 .service = own->is_rise ? on_service : NULL,
                 .response = own->is_rise ? on_response : NULL,
                 .word_bits = own->is_rise ? own->rise->word_bits : 0,
                 .needs = WANT_PLAN | WANT_PLACE | WANT_RESULT | (own->is_rise ? own->rise->needs : 0),
                 .repeats = true,
                 .passes_values = true,
                 .next_cycle = 0};
  return hook;
}
