// Instructions reordered inside a block where that needs fewer registers: a list scheduler that
// works upwards from the block's end, always taking what keeps the fewest registers live.
//
// Compilers order code for short waits, so a block keeps its order unless it needs more registers
// than leave room for every warp of an SM (20 on Fermi, 32 later), or than the function may use.
// Accesses to memory that may be the same, and whatever acts beyond its results, stay in order;
// nothing crosses a guarded exit that might trap.
#include "program/mir_internal.h"

enum {
  ROOMY_REGISTERS = 20,
  LONGEST_BLOCK = 1 << 16, // instructions; longer ones keep their order
  MOST_CANDIDATES = 256,   // looked at for each place, fewer in long blocks
  MOST_LOOKS = 1 << 20,    // at candidates in one block
  MOST_ACCESSES = 1 << 10, // compared with each other
};

typedef struct Link {
  uint32_t to, next; // list in Scheduler.links; NONE ends it
} Link;

typedef VEC(uint32_t) IndexVec;

typedef struct Scheduler {
  Work *work;
  Arena *arena; // of the block at hand
  const Live *live;
  MirBlock *block;
  uint32_t count;       // instructions that may move; a last branch or end stays behind them
  uint32_t *first_link; // by instruction: those that must come before it
  VEC(Link) links;
  // Building the order constraints, by unit: last writer, readers since.
  uint32_t *writer, *readers;
  VEC(Link) reader_links;
  IndexVec touched; // units with a writer or reader in this block
} Scheduler;

// ---- What must stay in order ---------------------------------------------------------------------------
typedef enum Role { ROLE_FREE, ROLE_LOAD, ROLE_STORE, ROLE_ORDERED } Role;

static Role role_of(const MirInstr *instr) {
  const OpInfo *info = &op_info[instr->op];
  if ((info->kind == KIND_ALU || info->kind == KIND_SREG) && (info->flags & IT_PURE) != 0) return ROLE_FREE;
  bool plain = (instr->mods & MOD_VOLATILE) == 0;
  if (info->kind == KIND_LOAD && plain) return ROLE_LOAD;
  if (info->kind == KIND_STORE && plain) return ROLE_STORE;
  return ROLE_ORDERED;
}

// May accesses to these spaces meet in memory, one of them a store?
static bool spaces_meet(const MirInstr *a, const MirInstr *b) {
  Space left = op_info[a->op].space, right = op_info[b->op].space;
  if (left == right) return true;
  bool left_fixed = left == SPACE_CONST || left == SPACE_PARAM, right_fixed = right == SPACE_CONST || right == SPACE_PARAM;
  return !left_fixed && !right_fixed && (left == SPACE_GENERIC || right == SPACE_GENERIC);
}

static void must_follow(Scheduler *s, uint32_t later, uint32_t earlier) {
  if (later == earlier) return;
  *VEC_PUSH(&s->links, s->arena) = (Link){earlier, s->first_link[later]};
  s->first_link[later] = s->links.count - 1;
}

static void note_unit(Scheduler *s, uint32_t i, uint32_t unit, bool written) {
  if (s->writer[unit] == NONE && s->readers[unit] == NONE) *VEC_PUSH(&s->touched, s->arena) = unit;
  if (s->writer[unit] != NONE) must_follow(s, i, s->writer[unit]);
  if (!written) {
    *VEC_PUSH(&s->reader_links, s->arena) = (Link){i, s->readers[unit]};
    s->readers[unit] = s->reader_links.count - 1;
    return;
  }
  for (uint32_t r = s->readers[unit]; r != NONE; r = s->reader_links.items[r].next) must_follow(s, i, s->reader_links.items[r].to);
  s->readers[unit] = NONE;
  s->writer[unit] = i;
}

static void constrain_registers(Scheduler *s, uint32_t i) {
  MirInstr *instr = &s->block->instrs.items[i];
  Operand operands[MAX_OPERANDS];
  unsigned count = mir_operands(instr, operands);
  for (unsigned pass = 0; pass < 2; pass++) { // reads, then writes
    for (unsigned o = 0; o < count; o++) {
      if (operands[o].written != (pass == 1)) continue;
      uint32_t unit = unit_of_ref(s->live, *operands[o].ref);
      for (uint32_t u = unit; u < unit + operand_units(&operands[o]); u++) note_unit(s, i, u, pass == 1);
    }
  }
}

// Memory and effects: every access after the last ordered instruction, loads and stores of spaces
// that meet in order.
static void constrain_effects(Scheduler *s) {
  IndexVec since = {0}; // accesses since the last ordered instruction
  uint32_t ordered = NONE;
  for (uint32_t i = 0; i < s->count; i++) {
    const MirInstr *instr = &s->block->instrs.items[i];
    Role role = role_of(instr);
    if (role == ROLE_FREE) continue;
    if (since.count == MOST_ACCESSES) role = ROLE_ORDERED;
    if (ordered != NONE) must_follow(s, i, ordered);
    for (uint32_t k = since.count; k-- > 0;) {
      const MirInstr *other = &s->block->instrs.items[since.items[k]];
      bool stores = role != ROLE_LOAD || role_of(other) == ROLE_STORE;
      if (role == ROLE_ORDERED || (stores && spaces_meet(instr, other))) must_follow(s, i, since.items[k]);
    }
    if (role == ROLE_ORDERED) {
      ordered = i;
      since.count = 0;
    } else {
      *VEC_PUSH(&since, s->arena) = i;
    }
  }
}

static void build_constraints(Scheduler *s) {
  s->links.count = s->reader_links.count = s->touched.count = 0;
  s->first_link = ARENA_ARRAY(s->arena, uint32_t, s->count);
  memset(s->first_link, 0xFF, sizeof(uint32_t) * s->count);
  for (uint32_t i = 0; i < s->count; i++) constrain_registers(s, i);
  for (uint32_t k = 0; k < s->touched.count; k++) s->writer[s->touched.items[k]] = s->readers[s->touched.items[k]] = NONE;
  constrain_effects(s);
}

// ---- Pressure ------------------------------------------------------------------------------------------
typedef struct Pressure {
  bool *live;               // by unit
  uint32_t now[2], most[2]; // registers, predicates
} Pressure;

static void pressure_begin(const Scheduler *s, Pressure *p, uint32_t b) {
  const Live *live = s->live;
  memset(p->live, 0, live->unit_count);
  memset(p->now, 0, sizeof p->now);
  memset(p->most, 0, sizeof p->most);
  const uint64_t *out = live->out + (size_t)b * live->words;
  for (uint32_t w = 0; w < live->words; w++) {
    for (uint64_t rest = out[w]; rest != 0; rest &= rest - 1) {
      uint32_t unit = live->unit_of[w * 64 + (uint32_t)__builtin_ctzll(rest)];
      p->live[unit] = true;
      p->now[live->is_predicate[unit]]++;
    }
  }
}

// Registers that become live minus those that end, were the instruction put next (upwards).
static int pressure_change(const Scheduler *s, const Pressure *p, MirInstr *instr) {
  Operand operands[MAX_OPERANDS];
  unsigned count = mir_operands(instr, operands);
  int change = 0;
  for (unsigned o = 0; o < count; o++) {
    if (operands[o].registers == 0) continue;
    uint32_t unit = unit_of_ref(s->live, *operands[o].ref);
    for (uint32_t u = unit; u < unit + operand_units(&operands[o]); u++) {
      if (operands[o].written) change -= p->live[u] && !mir_guarded(instr);
      else change += !p->live[u];
    }
  }
  return change;
}

static void pressure_step(const Scheduler *s, Pressure *p, MirInstr *instr) {
  Operand operands[MAX_OPERANDS];
  unsigned count = mir_operands(instr, operands);
  uint32_t dead[2] = {0, 0};
  for (unsigned pass = 0; pass < 2; pass++) {
    for (unsigned o = 0; o < count; o++) {
      if (operands[o].written != (pass == 0)) continue;
      unsigned kind = operands[o].registers == 0;
      uint32_t unit = unit_of_ref(s->live, *operands[o].ref);
      for (uint32_t u = unit; u < unit + operand_units(&operands[o]); u++) {
        if (pass == 0 && !p->live[u]) dead[kind]++;
        bool next = pass == 1 || (p->live[u] && mir_guarded(instr));
        p->now[kind] = p->now[kind] + next - p->live[u];
        p->live[u] = next;
      }
    }
    if (pass == 0) {
      for (unsigned kind = 0; kind < 2; kind++) p->most[kind] = max_u32(p->most[kind], p->now[kind] + dead[kind]);
    }
  }
  for (unsigned kind = 0; kind < 2; kind++) p->most[kind] = max_u32(p->most[kind], p->now[kind]);
}

// ---- Scheduling ----------------------------------------------------------------------------------------
// How to choose among instructions whose users are all placed. What frees a register, or costs
// none, always goes first; the tastes differ in what comes then.
typedef enum Taste {
  TASTE_SOURCE_ORDER, // the latest in the source
  TASTE_DEPTH_FIRST,  // the newest candidate: what the instruction just placed needs
  TASTE_CHEAPEST,     // the one that costs the fewest registers
  TASTE_OLDEST,       // the candidate that has waited longest
  TASTE_COUNT
} Taste;

static bool is_better(Taste taste, int change, int best_change, uint32_t at, uint32_t best_at) {
  if (change <= 0 || best_change <= 0 || taste == TASTE_CHEAPEST) return change < best_change;
  return taste == TASTE_OLDEST || (taste == TASTE_SOURCE_ORDER && at > best_at);
}

static uint32_t choose(const Scheduler *s, const Pressure *p, const IndexVec *ready, Taste taste) {
  uint32_t most = min_u32(MOST_CANDIDATES, max_u32(8, MOST_LOOKS / s->count)), looks = min_u32(most, ready->count);
  uint32_t last = taste == TASTE_OLDEST ? looks - 1 : ready->count - 1;
  uint32_t best = last;
  int best_change = pressure_change(s, p, &s->block->instrs.items[ready->items[best]]);
  for (uint32_t k = last; k-- > last + 1 - looks;) {
    int change = pressure_change(s, p, &s->block->instrs.items[ready->items[k]]);
    if (!is_better(taste, change, best_change, ready->items[k], ready->items[best])) continue;
    best = k;
    best_change = change;
  }
  return best;
}

// Fills order (first to last) with a schedule and measures its pressure.
static void schedule(Scheduler *s, Pressure *p, uint32_t b, Taste taste, uint32_t *order) {
  uint32_t *waiting = ARENA_ARRAY(s->arena, uint32_t, s->count);
  IndexVec ready = {0};
  for (uint32_t l = 0; l < s->links.count; l++) waiting[s->links.items[l].to]++;
  for (uint32_t i = 0; i < s->count; i++) {
    if (waiting[i] == 0) *VEC_PUSH(&ready, s->arena) = i;
  }
  pressure_begin(s, p, b);
  for (uint32_t i = s->block->instrs.count; i-- > s->count;) pressure_step(s, p, &s->block->instrs.items[i]);
  for (uint32_t left = s->count; left > 0; left--) {
    uint32_t k = choose(s, p, &ready, taste), i = ready.items[k];
    memmove(&ready.items[k], &ready.items[k + 1], sizeof(uint32_t) * (ready.count - k - 1));
    ready.count--;
    order[left - 1] = i;
    pressure_step(s, p, &s->block->instrs.items[i]);
    for (uint32_t l = s->first_link[i]; l != NONE; l = s->links.items[l].next) {
      if (--waiting[s->links.items[l].to] == 0) *VEC_PUSH(&ready, s->arena) = s->links.items[l].to;
    }
  }
}

static void apply_order(Scheduler *s, const uint32_t *order) {
  MirInstr *sorted = ARENA_ARRAY(s->arena, MirInstr, s->count);
  for (uint32_t i = 0; i < s->count; i++) sorted[i] = s->block->instrs.items[order[i]];
  if (s->count > 0) memcpy(s->block->instrs.items, sorted, sizeof(MirInstr) * s->count);
}

static void schedule_block(Scheduler *s, Pressure *p, uint32_t b) {
  s->block = &s->work->function->blocks.items[b];
  s->count = s->block->instrs.count;
  if (s->count < 3 || s->count > LONGEST_BLOCK) return;
  if ((mir_flags(&s->block->instrs.items[s->count - 1]) & (IT_BRANCH | IT_RETURN | IT_EXITS | IT_TRAPS)) != 0) s->count--;
  pressure_begin(s, p, b);
  for (uint32_t i = s->block->instrs.count; i-- > 0;) pressure_step(s, p, &s->block->instrs.items[i]);
  uint32_t best = p->most[0], predicates = max_u32(p->most[1], MAX_PREDICATES - 3);
  if (best <= min_u32(ROOMY_REGISTERS, s->work->limit)) return;
  s->arena = arena_new();
  memset(&s->links, 0, sizeof s->links);
  memset(&s->reader_links, 0, sizeof s->reader_links);
  memset(&s->touched, 0, sizeof s->touched);
  build_constraints(s);
  uint32_t *orders[TASTE_COUNT], chosen = NONE;
  for (uint32_t taste = 0; taste < TASTE_COUNT; taste++) {
    orders[taste] = ARENA_ARRAY(s->arena, uint32_t, s->count);
    schedule(s, p, b, (Taste)taste, orders[taste]);
    if (p->most[0] >= best || p->most[1] > predicates) continue;
    best = p->most[0];
    chosen = taste;
  }
  if (chosen != NONE) apply_order(s, orders[chosen]);
  arena_free(s->arena);
}

void mir_schedule(Work *work) {
  Arena *scratch = arena_new();
  Cfg cfg;
  Live live;
  cfg_build(&cfg, scratch, work->function);
  live_build(&live, scratch, work->function, &cfg);
  Scheduler s = {.work = work, .live = &live};
  s.writer = ARENA_ARRAY(scratch, uint32_t, live.unit_count);
  s.readers = ARENA_ARRAY(scratch, uint32_t, live.unit_count);
  memset(s.writer, 0xFF, sizeof(uint32_t) * live.unit_count);
  memset(s.readers, 0xFF, sizeof(uint32_t) * live.unit_count);
  Pressure pressure = {.live = ARENA_ARRAY(scratch, bool, live.unit_count)};
  for (uint32_t b = 0; b < cfg.count; b++) schedule_block(&s, &pressure, b);
  arena_free(scratch);
}
