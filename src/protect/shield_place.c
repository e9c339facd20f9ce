// Where threads go that meet broken lanes: thread shuffling, warp deformation, inter-SP warp shuffling; see shield.c. And where further copies go, for heal.c.
//
// Lanes stand in clusters of four, and a warp passes a unit in turns (the two halves of a warp on a double-clocked SP). A thread stays in its
// cluster and in its turn; with `pool` it may take its cluster's lane slots in every turn. So a warp falls into groups that do not touch each
// other, and a group of n threads with h healthy lane slots needs ceil(n / h) sub-warps. All groups fill up in each sub-warp, so the warp needs
// what its worst group needs, and no rule that keeps threads in their groups could do with fewer.
#include "protect/shield.h"

// Lane slots of a cluster in the turns from `turn` on: in one turn, or (pool) in all.
typedef struct Ground {
  uint32_t lanes, width, clusters, turns;
  uint32_t healthy; // lane slots
} Ground;

static uint32_t spread(const Ground *ground, uint32_t lanes_mask, uint32_t first, uint32_t count) {
  uint32_t slots = 0;
  for (uint32_t turn = first; turn < first + count; turn++) {
    uint32_t shift = turn * ground->lanes;
    if (shift < PART_SLOTS) slots |= lanes_mask << shift;
  }
  return slots;
}

static Ground ground_of(uint32_t lanes, uint32_t healthy) {
  lanes = max_u32(min_u32(lanes, PART_SLOTS), 1);
  Ground ground = {.lanes = lanes, .width = min_u32(SHIELD_CLUSTER, lanes), .turns = (PART_SLOTS + lanes - 1) / lanes};
  ground.clusters = (lanes + ground.width - 1) / ground.width;
  uint32_t all = lanes == PART_SLOTS ? UINT32_MAX : (1u << lanes) - 1;
  ground.healthy = spread(&ground, healthy & all, 0, ground.turns);
  return ground;
}

static uint32_t cluster_lanes(const Ground *ground, uint32_t cluster) {
  uint32_t first = cluster * ground->width, width = min_u32(ground->width, ground->lanes - first);
  return ((1u << width) - 1) << first;
}

// The lane slots of a cluster in a turn, or (pool) in all turns.
typedef struct Group {
  uint32_t slots;
  uint32_t cluster, turn;
} Group;

static uint32_t group_slots(const ShieldRule *rule, const Ground *ground, const Group *group) {
  uint32_t lanes = cluster_lanes(ground, group->cluster), shift = group->turn * ground->lanes;
  return rule->pool ? spread(ground, lanes, 0, ground->turns) : shift < PART_SLOTS ? lanes << shift : 0;
}

static Group first_group(const ShieldRule *rule, const Ground *ground) {
  Group group = {.cluster = 0};
  group.slots = group_slots(rule, ground, &group);
  return group;
}

// False: that was the last.
static bool next_group(const ShieldRule *rule, const Ground *ground, Group *group) {
  if (++group->cluster == ground->clusters) {
    group->cluster = 0;
    if (rule->pool || ++group->turn == ground->turns) return false;
  }
  group->slots = group_slots(rule, ground, group);
  return true;
}

// ---- How many sub-warps ------------------------------------------------------------------------------

// Of a group: its threads, those of them whose lane slot is healthy, and healthy lane slots.
static uint32_t group_needs(const ShieldRule *rule, uint32_t threads, uint32_t at_home, uint32_t healthy) {
  if (threads == at_home) return threads == 0 ? 0 : 1;
  if (healthy == 0 || !(rule->shuffle || rule->deform)) return SHIELD_NEVER;
  if (rule->shuffle && threads <= healthy) return 1;
  if (!rule->deform) return SHIELD_NEVER;
  if (rule->shuffle) return (threads + healthy - 1) / healthy;
  return (at_home > 0 ? 1 : 0) + (threads - at_home + healthy - 1) / healthy; // nobody joins those that are at home
}

// Set bits of each four, four bits each.
static uint32_t ones_by_four(uint32_t bits) {
  bits -= bits >> 1 & 0x55555555;
  return (bits & 0x33333333) + (bits >> 2 & 0x33333333);
}

uint32_t shield_needs(const ShieldRule *rule, const LanePart *part, uint32_t lanes, uint32_t healthy) {
  Ground ground = ground_of(lanes, healthy);
  uint32_t threads = part->filled & ~part->shadow, at_home = threads & ground.healthy, most = 1;
  if (threads == at_home) return 1;
  if (!rule->pool && ground.width == SHIELD_CLUSTER && ground.lanes % SHIELD_CLUSTER == 0) { // groups are the fours of the lane slots
    uint32_t own = ones_by_four(threads), home = ones_by_four(at_home), good = ones_by_four(ground.healthy);
    for (; own != 0; own >>= SHIELD_CLUSTER, home >>= SHIELD_CLUSTER, good >>= SHIELD_CLUSTER)
      most = max_u32(most, group_needs(rule, own & 7, home & 7, good & 7));
    return most;
  }
  Group group = first_group(rule, &ground);
  do {
    uint32_t own = threads & group.slots;
    most = max_u32(most, group_needs(rule, count_ones(own), count_ones(own & at_home), count_ones(ground.healthy & group.slots)));
  } while (next_group(rule, &ground, &group));
  return most;
}

// ---- The next of them ----------------------------------------------------------------------------------

// The lane slot nearest in time: of the same turn, if it is free.
static uint32_t pick(const Ground *ground, uint32_t idle, uint32_t slot) {
  uint32_t turn = slot / ground->lanes;
  uint32_t all = ground->lanes == PART_SLOTS ? UINT32_MAX : (1u << ground->lanes) - 1, same = idle & spread(ground, all, turn, 1);
  return (uint32_t)__builtin_ctz(same != 0 ? same : idle);
}

// Those of `from` go to idle lane slots as far as there are any. `pool`: these are of several turns.
static void move(const Ground *ground, const LanePart *was, LanePart *now, uint32_t from, uint32_t *idle, bool pool) {
  for (uint32_t left = from; left != 0 && *idle != 0; left &= left - 1) {
    uint32_t slot = (uint32_t)__builtin_ctz(left), to = pool ? pick(ground, *idle, slot) : (uint32_t)__builtin_ctz(*idle);
    part_put(now, to, was->warp[slot], was->thread[slot], (was->shadow >> slot & 1) != 0);
    *idle &= ~(1u << to);
  }
}

// Those who are not at home.
static void deal_group(const ShieldRule *rule, const Ground *ground, uint32_t group, const LanePart *was, LanePart *now) {
  uint32_t threads = was->filled & ~was->shadow & group, shadows = was->filled & was->shadow & group;
  uint32_t at_home = threads & ground->healthy, idle = ground->healthy & group & ~at_home;
  if (rule->shuffle || (rule->deform && at_home == 0)) move(ground, was, now, threads & ~at_home, &idle, rule->pool);
  // Shadows are nobody's result: they take what is left.
  now->filled |= shadows & idle;
  now->shadow |= shadows & idle;
  uint32_t others = shadows & ~idle;
  idle &= ~shadows;
  if (rule->shuffle) move(ground, was, now, others, &idle, rule->pool);
}

void shield_deal(const ShieldRule *rule, LanePart *part, uint32_t lanes, uint32_t healthy) {
  Ground ground = ground_of(lanes, healthy);
  const LanePart was = *part;
  if ((was.filled & ~ground.healthy) == 0) return;
  part_take_out(part, ~(was.filled & ~was.shadow & ground.healthy));
  uint32_t others = was.filled & ~part->filled;
  Group group = first_group(rule, &ground);
  do {
    if ((others & group.slots) != 0) deal_group(rule, &ground, group.slots, &was, part);
  } while (next_group(rule, &ground, &group));
}

// ---- Which SP ------------------------------------------------------------------------------------------

ShieldUnitId shield_unit_of(const Instr *instr) {
  const OpInfo *info = &op_info[instr->op];
  bool is_access = info->kind == KIND_LOAD || info->kind == KIND_STORE || info->kind == KIND_ATOMIC || info->kind == KIND_TEXTURE;
  if (is_access || (info->kind == KIND_MATRIX && info->space != SPACE_NONE)) return SHIELD_AGU;
  switch (info->unit) {
  case UNIT_SFU: return SHIELD_SFU;
  case UNIT_FP64: return SHIELD_FP64;
  case UNIT_TENSOR: return SHIELD_TENSOR;
  default: return SHIELD_SP;
  }
}

// The SPs that a part may take, as the map shows them.
typedef struct Choice {
  uint32_t count, preferred;
  uint32_t healthy[SHIELD_MOST_SPS], needs[SHIELD_MOST_SPS];
  uint32_t common; // lanes that are healthy in all
  bool is_whole;   // nothing is broken
} Choice;

static Choice look(const Shield *shield, const HookMachine *machine, const PlaceEvent *event) {
  ShieldUnitId unit = shield_unit_of(event->instr);
  uint32_t pipe = shield_pipe_of(shield, event->instr), sps = event->sps == 0 ? 1 : event->sps;
  Choice choice = {.count = min_u32(sps, SHIELD_MOST_SPS), .common = UINT32_MAX, .is_whole = true};
  choice.preferred = event->who->warp % choice.count;
  for (uint32_t sp = 0; sp < choice.count; sp++) {
    choice.healthy[sp] = ~shield_broken(shield, machine, unit, event->who->sm * choice.count + sp, pipe);
    choice.common &= choice.healthy[sp];
    choice.is_whole &= choice.healthy[sp] == UINT32_MAX;
  }
  return choice;
}

static bool fits(const PlaceEvent *event, uint32_t needs) { return needs != SHIELD_NEVER && (!event->is_whole || needs == 1); }

static uint32_t threads_now(const ShieldRule *rule, const LanePart *part, uint32_t lanes, uint32_t healthy) {
  LanePart next = *part;
  shield_deal(rule, &next, lanes, healthy);
  return count_ones(next.filled & ~next.shadow);
}

// No SP can take all threads, whatever the number of sub-warps: the one that takes most goes first, and the others do the rest.
static uint32_t most_threads(const ShieldRule *rule, const PlaceEvent *event, const Choice *choice) {
  uint32_t best = choice->count, most = 0;
  for (uint32_t sp = 0; sp < choice->count && rule->deform && !event->is_whole; sp++) {
    uint32_t threads = threads_now(rule, event->part, event->lanes, choice->healthy[sp]);
    if (threads > most) best = sp, most = threads;
  }
  return best;
}

// The SP with the fewest sub-warps; of several, the one that the machine prefers. count: none will do.
static uint32_t fewest(const ShieldRule *rule, const PlaceEvent *event, const Choice *choice) {
  uint32_t best = choice->count;
  for (uint32_t i = 0; i < choice->count; i++) {
    uint32_t sp = (choice->preferred + i) % choice->count;
    if (fits(event, choice->needs[sp]) && (best == choice->count || choice->needs[sp] < choice->needs[best])) best = sp;
  }
  return best == choice->count ? most_threads(rule, event, choice) : best;
}

// PART_ANY: whichever is free, on lanes that are healthy in all of them. count: there is no way.
static uint32_t choose(const ShieldRule *rule, const PlaceEvent *event, Choice *choice) {
  uint32_t least = SHIELD_NEVER;
  for (uint32_t sp = 0; sp < choice->count; sp++) {
    choice->needs[sp] = shield_needs(rule, event->part, event->lanes, choice->healthy[sp]);
    least = min_u32(least, choice->needs[sp]);
  }
  if (choice->count == 1) return fits(event, choice->needs[0]) ? PART_ANY : 1;
  if (event->sp < choice->count) return fits(event, choice->needs[event->sp]) ? event->sp : choice->count; // another scheme has bound it
  uint32_t anywhere = shield_needs(rule, event->part, event->lanes, choice->common);
  if (fits(event, anywhere) && anywhere == least) return PART_ANY;
  if (rule->intersp) return fewest(rule, event, choice);
  return fits(event, choice->needs[choice->preferred]) ? choice->preferred : choice->count;
}

// Another scheme has moved a repeat to lanes where it does not fit: its threads fitted where they live.
static void go_home(LanePart *part) {
  const LanePart was = *part;
  LanePart now = {.filled = 0};
  for (uint32_t left = was.filled; left != 0; left &= left - 1) {
    uint32_t slot = (uint32_t)__builtin_ctz(left), home = was.thread[slot] % PART_SLOTS;
    bool is_shadow = (was.shadow >> slot & 1) != 0;
    if ((now.filled >> home & 1) == 0) part_put(&now, home, was.warp[slot], was.thread[slot], is_shadow);
    else if (!is_shadow) return; // threads of several warps
  }
  *part = now;
}

bool shield_place(const Shield *shield, const HookMachine *machine, PlaceEvent *event) {
  Choice choice = look(shield, machine, event);
  event->late = (uint8_t)min_u32(event->late + shield->crossbar, UINT8_MAX);
  if (choice.is_whole) return true;
  const LanePart was = *event->part;
  uint32_t sp = choose(&shield->rule, event, &choice);
  if (sp == choice.count && event->is_repeat) {
    go_home(event->part);
    sp = choose(&shield->rule, event, &choice);
  }
  if (sp == choice.count) {
    *event->part = was;
    return false;
  }
  shield_deal(&shield->rule, event->part, event->lanes, sp == PART_ANY ? choice.common : choice.healthy[sp]);
  if (sp != PART_ANY) event->sp = (uint8_t)sp;
  bool has_acted = sp != PART_ANY || memcmp(&was, event->part, sizeof was) != 0;
  if (has_acted) event->late = (uint8_t)min_u32(event->late + shield->control, UINT8_MAX);
  return true;
}

// ---- Further copies --------------------------------------------------------------------------------------

// Who takes which lane slot of a turn.
typedef struct Match {
  uint32_t first, lanes;     // lane slots of the turn
  uint32_t by;               // lanes on: where each looks first
  uint32_t may[PART_SLOTS];  // of the thread in each lane slot as offered: those that it may take
  uint8_t taker[PART_SLOTS]; // of each lane slot, as offered; PART_ANY: nobody
} Match;

// The thread takes a lane slot; who has it may have to take another one. False: then somebody would have none.
static bool take(Match *match, uint32_t thread, uint32_t *tried) {
  for (uint32_t k = 0; k < match->lanes; k++) {
    uint32_t to = match->first + (thread - match->first + match->by + k) % match->lanes;
    if ((match->may[thread] & ~*tried & 1u << to) == 0) continue;
    *tried |= 1u << to;
    if (match->taker[to] != PART_ANY && !take(match, match->taker[to], tried)) continue;
    match->taker[to] = (uint8_t)thread;
    return true;
  }
  return false;
}

static LanePart deal_apart(const PlaceEvent *event, uint32_t healthy, uint32_t by, const uint32_t avoid[PART_SLOTS]) {
  const LanePart *was = event->part;
  Ground ground = ground_of(event->lanes, healthy);
  Match match = {.by = by};
  LanePart now = {.filled = 0};
  memset(match.taker, PART_ANY, sizeof match.taker);
  for (uint32_t left = was->filled & ~was->shadow; left != 0; left &= left - 1) {
    uint32_t i = (uint32_t)__builtin_ctz(left), turn = i / ground.lanes, tried = 0;
    match.first = turn * ground.lanes;
    match.lanes = min_u32(ground.lanes, PART_SLOTS - match.first);
    match.may[i] = ground.healthy & ~spread(&ground, avoid[i] | 1u << i % ground.lanes, turn, 1);
    take(&match, i, &tried);
  }
  for (uint32_t to = 0; to < PART_SLOTS; to++) {
    uint32_t from = match.taker[to];
    if (from != PART_ANY) part_put(&now, to, was->warp[from], was->thread[from], false);
  }
  return now;
}

bool shield_is_clear(const Shield *shield, const HookMachine *machine, const PlaceEvent *event) {
  return look(shield, machine, event).is_whole;
}

bool shield_place_apart(const Shield *shield, const HookMachine *machine, PlaceEvent *event, uint32_t by,
                        const uint32_t avoid[PART_SLOTS]) {
  Choice choice = look(shield, machine, event);
  uint32_t all = count_ones(event->part->filled & ~event->part->shadow), most = 0;
  LanePart best = {.filled = 0};
  uint8_t best_sp = PART_ANY;
  for (uint32_t i = 0; i <= choice.count && most < all;
       i++) { // whichever is free, on lanes that are healthy in all; else the SP that takes most
    uint32_t sp = (choice.preferred + i) % choice.count;
    bool is_any = i == 0, is_bound = event->sp < choice.count;
    if (is_bound && (is_any || sp != event->sp)) continue;
    LanePart part = deal_apart(event, is_any ? choice.common : choice.healthy[sp], by, avoid);
    if (count_ones(part.filled) <= most) continue;
    most = count_ones(part.filled);
    best = part;
    best_sp = is_any ? PART_ANY : (uint8_t)sp;
  }
  if (most == 0 || (event->is_whole && most < all)) return false;
  *event->part = best;
  event->sp = best_sp;
  event->late = (uint8_t)min_u32(event->late + shield->crossbar + (choice.is_whole ? 0 : shield->control), UINT8_MAX);
  return true;
}
