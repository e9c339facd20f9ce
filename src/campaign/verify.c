// The self-check: some of the faults that a shortcut has decided are decided once more, by a simulation from the beginning to the end, and compared with the
// journal. Which ones follows from the seed, the faults' numbers and how they were settled: neither from workers nor from time.
//
// A protection is taken at its word: that it lets values pass, how long its state lives (hook.h). What was decided on such words is always checked: all of it if
// that is little, else ALWAYS of it and a further one for every RUNS_A_CHECK faults that were simulated to their end. A fault strikes half-way through a run on
// average, so these cost at most a twentieth of the campaign.
#include "campaign/campaign_internal.h"
#include "campaign/settler.h"

#include <inttypes.h>
#include <stdlib.h>

enum { ALWAYS = 200, RUNS_A_CHECK = 40, LOT = 64 };

typedef struct Candidate {
  uint64_t key, id; // those with the least keys are checked
  bool is_verified; // already
} Candidate;
typedef VEC(Candidate) Candidates;

typedef struct Check {
  FaultRow row; // as the journal has it
  Record full;  // what the simulation has come to
  bool is_told, is_alike;
} Check;

typedef struct Verification {
  Campaign *campaign;
  Arena *arena;
  Candidates ways[WAY_COUNT];
  uint64_t simulated; // faults to their end
  Candidates chosen;
  Arena *lot_arena;
  Check *lot;
  uint32_t count;
  bool is_unanswered; // what is compared is what came of detected faults
} Verification;

// ---- Which faults ----------------------------------------------------------------------------------

static bool add_candidate(void *context, const FaultRow *row) {
  Verification *at = context;
  if (row->outcome == OUTCOME_INTERNAL) return true;
  uint64_t words[2] = {at->campaign->options->seed, row->id};
  Candidate candidate = {.key = hash_bytes(words, sizeof words, 0), .id = row->id, .is_verified = row->verified == 1};
  *VEC_PUSH(&at->ways[settled_way[row->settled % SETTLED_COUNT]], at->arena) = candidate;
  at->simulated += row->settled == SETTLED_RUN;
  return true;
}

static int by_key(const void *left, const void *right) {
  const Candidate *a = left, *b = right;
  if (a->key != b->key) return a->key < b->key ? -1 : 1;
  return a->id < b->id ? -1 : a->id > b->id;
}

// Each shard and part checks its share. How many faults a campaign with a margin will have is not known: its parts check as much as a whole one.
static uint64_t share_of(const Campaign *at, uint64_t count, uint64_t total) {
  const CampaignOptions *options = at->options;
  double share = 1.0 / options->shards;
  if (options->end > 0 && options->faults > 0) share = (double)(at->part_end - at->part_first) / (double)max_u64(total, 1);
  double ours = (double)count * share;
  return (uint64_t)ours + ((double)(uint64_t)ours < ours);
}

bool campaign_is_protected(const CampaignOptions *options) {
  return options->protections != NULL && hook_chain_wants(options->protections) != 0;
}

static uint64_t wanted(const Verification *at, Way way, uint64_t total) {
  const CampaignOptions *options = at->campaign->options;
  if (way == WAY_SIMULATED && !options->snapshot) return 0; // they were simulated like that already
  if (options->verify != VERIFY_WORDS) return share_of(at->campaign, options->verify, total);
  if (way != WAY_FOLLOWED || !campaign_is_protected(options)) return 0;
  return share_of(at->campaign, ALWAYS, total) + at->simulated / RUNS_A_CHECK;
}

static void choose(Verification *at, uint64_t total) {
  for (uint32_t way = 0; way < WAY_COUNT; way++) {
    Candidates *all = &at->ways[way];
    if (all->count > 0) qsort(all->items, all->count, sizeof *all->items, by_key);
    uint64_t count = min_u64(wanted(at, (Way)way, total), all->count);
    for (uint64_t i = 0; i < count; i++) {
      if (!all->items[i].is_verified) *VEC_PUSH(&at->chosen, at->arena) = all->items[i];
    }
  }
}

// ---- A lot of them ---------------------------------------------------------------------------------

// As the row says it: what is not known of the one is not compared.
static bool is_alike(const Campaign *at, const FaultRow *row, const Record *full) {
  bool knows_worst = full->wrong > 0 && (full->pattern != PATTERN_NONE || full->worst > 0);
  double worst = knows_worst ? full->worst : 0;
  return row->outcome == full->outcome && row->cycles == rows_cycles(at, full) && row->wrong == full->wrong &&
         row->pattern == full->pattern && memcmp(&row->worst, &worst, sizeof worst) == 0 && strcmp(row->note, full->note) == 0;
}

static bool take(void *context, const Record *told) {
  Verification *at = context;
  for (uint32_t i = 0; i < at->count; i++) {
    Check *check = &at->lot[i];
    if (check->row.id != told->id) continue;
    check->full = *told;
    check->is_told = true;
    check->is_alike = at->is_unanswered ? check->row.unanswered == told->outcome : is_alike(at->campaign, &check->row, told);
    at->campaign->progress.checked += !at->is_unanswered;
    at->campaign->told = at->campaign->progress;
  }
  return campaign_report(at->campaign);
}

static bool goes_on(void *context) { return campaign_report(((Verification *)context)->campaign); }

// Those of the lot that are compared now, from the beginning to the end.
static bool simulate_lot(Verification *at) {
  Campaign *campaign = at->campaign;
  CampaignOptions options = *campaign->options;
  options.prune = options.snapshot = false;
  Listener listener = {take, goes_on, at};
  Draw *draws = ARENA_ARRAY(at->lot_arena, Draw, at->count + 1);
  uint32_t count = 0;
  for (uint32_t i = 0; i < at->count; i++) {
    const FaultRow *row = &at->lot[i].row;
    if (at->is_unanswered && (row->outcome != OUTCOME_DETECTED || row->unanswered >= OUTCOME_COUNT)) continue;
    Fault fault;
    if (!fault_parse(&campaign->golden.table, row->fault, &fault, campaign->diags)) return false;
    draws[count++] = draw_new(row->id, &fault);
  }
  Settling settling = {.target = campaign->target, .options = &options, .golden = &campaign->golden, .draws = draws, .count = count};
  settling.arena = at->lot_arena;
  settling.listener = &listener;
  settling.diags = campaign->diags;
  return count == 0 || campaign_simulate(campaign, &settling, draws, count);
}

// ---- What differs ----------------------------------------------------------------------------------

// What else than a wrong shortcut of ours may be the cause.
static void add_suspects(const Campaign *at, const FaultRow *row, Text *out) {
  static const char *const words[WAY_COUNT] = {
      [WAY_UNREAD] = "cells that it reads or changes without being told of the access",
      [WAY_CLASS] = "cells that it reads or changes without being told of the access, and state that it keeps outside the machine's block",
      [WAY_FOLLOWED] = "LIFE_CELLS, for a structure that holds more than check bits",
      [WAY_SIMULATED] = "state that it keeps outside the machine's block",
  };
  if (!campaign_is_protected(at->options)) {
    text_add(out, "Please report this error of Redoubt");
    return;
  }
  const char *look = row->settled == SETTLED_FOLLOWED ? "Hook.passes_values" : words[settled_way[row->settled % SETTLED_COUNT]];
  text_add(out, "Look at the protection '%s': %s (docs/howto/scheme.md); if that is right, please report this error of Redoubt",
           at->options->protection, look);
}

// The column that says otherwise.
static void add_difference(const Campaign *at, const FaultRow *row, const Record *full, bool is_unanswered, Text *out) {
  uint8_t before = is_unanswered ? row->unanswered : row->outcome;
  uint64_t cycles = rows_cycles(at, full);
  if (full->outcome == OUTCOME_INTERNAL) text_add(out, "could not be simulated: %s", full->note);
  else if (before != full->outcome)
    text_add(out, "is '%s'%s, but simulated from the beginning to the end '%s'", outcome_info[before].name,
             is_unanswered ? " if nobody answers the detection" : "", outcome_info[full->outcome].name);
  else if (row->cycles != cycles) text_add(out, "takes %" PRIu64 " cycles, but simulated in full %" PRIu64, row->cycles, cycles);
  else if (row->wrong != full->wrong)
    text_add(out, "makes %" PRIu64 " elements wrong, but simulated in full %" PRIu64, row->wrong, full->wrong);
  else if (strcmp(row->note, full->note) != 0) text_add(out, "ends with '%s', but simulated in full with '%s'", row->note, full->note);
  else text_add(out, "has other wrong elements than when it is simulated in full");
}

// The journal says it, too: nobody goes on with it, and reports show it first.
static bool say_difference(Campaign *at, const Check *check, bool is_unanswered) {
  Text text = {0};
  text_add(&text, "fault %" PRIu64 " (%s, settled by: %s) ", check->row.id, check->row.fault,
           settled_text[check->row.settled % SETTLED_COUNT]);
  add_difference(at, &check->row, &check->full, is_unanswered, &text);
  text_add(&text, ". ");
  add_suspects(at, &check->row, &text);
  bool is_found = check->full.outcome != OUTCOME_INTERNAL; // else it may be tried again
  bool good = !is_found || (journal_put_note(at->journal, NOTE_DIFFERS, text.at, at->diags) && rows_commit(at));
  if (good) diags_add(at->diags, NULL, 0, 0, "SELF-CHECK FAILED, no figure of this campaign can be trusted: %s", text.at);
  text_free(&text);
  at->differs = true;
  return false;
}

static bool compare_lot(Verification *at) {
  if (!simulate_lot(at)) return false;
  for (uint32_t i = 0; i < at->count; i++) {
    if (at->lot[i].is_told && !at->lot[i].is_alike) return say_difference(at->campaign, &at->lot[i], at->is_unanswered);
  }
  return !at->campaign->stopped;
}

static bool put_verified(Verification *at) {
  Campaign *campaign = at->campaign;
  bool good = true;
  for (uint32_t i = 0; i < at->count && good; i++) {
    at->lot[i].row.verified = 1;
    good = journal_put_fault(campaign->journal, &at->lot[i].row, campaign->diags);
  }
  return good && journal_commit(campaign->journal, campaign->diags) && campaign_report(campaign);
}

static bool check_lot(Verification *at, const Candidate *chosen) {
  Campaign *campaign = at->campaign;
  at->lot_arena = arena_new();
  at->lot = ARENA_ARRAY(at->lot_arena, Check, at->count);
  bool good = true;
  for (uint32_t i = 0; i < at->count && good; i++) {
    at->lot[i] = (Check){0};
    good = journal_find_fault(campaign->journal, chosen[i].id, &at->lot[i].row, at->lot_arena) ||
           journal_damaged(campaign->journal, campaign->diags);
  }
  at->is_unanswered = false;
  good = good && compare_lot(at);
  if (good) {
    at->is_unanswered = true;
    target_answers(campaign->target, campaign->options->protections, false);
    good = compare_lot(at);
    target_answers(campaign->target, campaign->options->protections, true);
  }
  good = good && put_verified(at);
  arena_free(at->lot_arena);
  return good;
}

bool campaign_verify(Campaign *campaign, uint64_t total) {
  Verification at = {.campaign = campaign, .arena = arena_new()};
  bool good = journal_each_fault(campaign->journal, add_candidate, &at) || journal_damaged(campaign->journal, campaign->diags);
  if (good) choose(&at, total);
  campaign->progress.checks = at.chosen.count;
  campaign->told = campaign->progress;
  for (uint32_t first = 0; first < at.chosen.count && good; first += LOT) {
    at.count = min_u32(LOT, at.chosen.count - first);
    good = check_lot(&at, at.chosen.items + first);
  }
  arena_free(at.arena);
  return good;
}
