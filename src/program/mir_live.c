// Liveness of units: every 32-bit register of a virtual register by itself, and predicates.
//
// A guarded write ends a range only where the value is needed under that very guard; it turns
// "needed always" into "needed where the guard fails", so that a pair of opposite guarded
// writes is a definition. A unit that no write reaches is not live, whatever reads it.
#include "program/mir_internal.h"

// ---- Walking up a block ----------------------------------------------------------------------------
void live_scan_init(LiveScan *scan, Arena *arena, const Live *live) {
  memset(scan, 0, sizeof *scan);
  scan->live = live;
  scan->dense[0] = ARENA_ARRAY(arena, uint32_t, live->unit_count);
  scan->dense[1] = ARENA_ARRAY(arena, uint32_t, live->unit_count);
  scan->where = ARENA_ARRAY(arena, uint32_t, live->unit_count);
  scan->need = ARENA_ARRAY(arena, Need, live->unit_count);
  scan->version = ARENA_ARRAY(arena, uint32_t, live->unit_count);
}

static void add_live(LiveScan *scan, uint32_t unit, Need need) {
  unsigned kind = scan->live->is_predicate[unit];
  scan->where[unit] = scan->count[kind];
  scan->dense[kind][scan->count[kind]++] = unit;
  scan->need[unit] = need;
}

static void remove_live(LiveScan *scan, uint32_t unit) {
  unsigned kind = scan->live->is_predicate[unit];
  uint32_t last = scan->dense[kind][--scan->count[kind]];
  scan->dense[kind][scan->where[unit]] = last;
  scan->where[last] = scan->where[unit];
}

void live_scan_begin(LiveScan *scan, uint32_t block) {
  const Live *live = scan->live;
  scan->count[0] = scan->count[1] = 0;
  if (live->out == NULL) return;
  const uint64_t *out = live->out + (size_t)block * live->words;
  for (uint32_t w = 0; w < live->words; w++) {
    for (uint64_t rest = out[w]; rest != 0; rest &= rest - 1)
      add_live(scan, live->unit_of[w * 64 + (uint32_t)__builtin_ctzll(rest)], (Need){NEED_ALWAYS, 0});
  }
}

// The condition under which an instruction runs.
static Need guard_of(const LiveScan *scan, const MirInstr *instr) {
  if (instr->guard.vreg == VREG_NONE) return (Need){NEED_ALWAYS, 0};
  uint32_t unit = scan->live->unit_base[instr->guard.vreg];
  return (Need){unit << 1 | instr->guard_negated, scan->version[unit]};
}

static bool is_stale(const LiveScan *scan, Need need) {
  return need.guard == NEED_ALWAYS || need.version != scan->version[need.guard >> 1];
}

// What is needed above a write under `guard`, given what is needed below it. False: nothing.
static bool need_above_write(const LiveScan *scan, Need *need, Need guard) {
  if (guard.guard == NEED_ALWAYS) return false;
  if (is_stale(scan, *need)) {
    *need = (Need){guard.guard ^ 1, guard.version};
    return true;
  }
  return need->guard != guard.guard;
}

static void step_write(LiveScan *scan, uint32_t unit, Need guard, bool never_runs) {
  if (!live_has(scan, unit) || never_runs) return;
  if (!need_above_write(scan, &scan->need[unit], guard)) remove_live(scan, unit);
}

static void step_read(LiveScan *scan, uint32_t unit, Need guard) {
  if (!live_has(scan, unit)) {
    add_live(scan, unit, guard);
  } else if (is_stale(scan, scan->need[unit]) || scan->need[unit].guard != guard.guard) {
    scan->need[unit] = (Need){NEED_ALWAYS, 0};
  }
}

// Predicates that an instruction writes make conditions on their old value incomparable.
static void bump_versions(LiveScan *scan, const Operand *operands, unsigned count) {
  for (unsigned i = 0; i < count; i++) {
    if (operands[i].written && operands[i].registers == 0) scan->version[unit_of_ref(scan->live, *operands[i].ref)]++;
  }
}

void live_scan_step(LiveScan *scan, const MirInstr *instr, const Operand *operands, unsigned count) {
  bump_versions(scan, operands, count);
  Need guard = guard_of(scan, instr);
  bool never_runs = instr->guard.vreg == VREG_NONE && instr->guard_negated;
  for (unsigned i = 0; i < count; i++) {
    if (!operands[i].written) continue;
    uint32_t unit = unit_of_ref(scan->live, *operands[i].ref);
    for (unsigned k = 0; k < operand_units(&operands[i]); k++) step_write(scan, unit + k, guard, never_runs);
  }
  for (unsigned i = 0; i < count; i++) {
    if (operands[i].written) continue;
    uint32_t unit = unit_of_ref(scan->live, *operands[i].ref);
    Need need = operands[i].operand == OPERAND_GUARD ? (Need){NEED_ALWAYS, 0} : guard;
    for (unsigned k = 0; k < operand_units(&operands[i]); k++) step_read(scan, unit + k, need);
  }
}

// ---- Sets per block ----------------------------------------------------------------------------------
typedef struct Exposed {
  uint32_t block, unit;
} Exposed;
typedef VEC(Exposed) ExposedVec;

void live_number_units(Live *live, Arena *arena, const MirFunction *function) {
  memset(live, 0, sizeof *live);
  live->vreg_count = function->vregs.count;
  live->unit_base = ARENA_ARRAY(arena, uint32_t, live->vreg_count + 1);
  for (uint32_t v = 0; v < live->vreg_count; v++) live->unit_base[v + 1] = live->unit_base[v] + max_u32(1, function->vregs.items[v].width);
  live->unit_count = live->unit_base[live->vreg_count];
  live->vreg_of = ARENA_ARRAY(arena, uint32_t, live->unit_count);
  bool *is_predicate = ARENA_ARRAY(arena, bool, live->unit_count);
  for (uint32_t v = 0; v < live->vreg_count; v++) {
    for (uint32_t u = live->unit_base[v]; u < live->unit_base[v + 1]; u++) {
      live->vreg_of[u] = v;
      is_predicate[u] = function->vregs.items[v].width == 0;
    }
  }
  live->is_predicate = is_predicate;
}

// Units that some block reads before it writes them get a bit in the sets.
static void find_exposed(Live *live, Arena *arena, MirFunction *function, ExposedVec *exposed) {
  LiveScan scan;
  live_scan_init(&scan, arena, live);
  live->global_of = ARENA_ARRAY(arena, uint32_t, live->unit_count);
  memset(live->global_of, 0xFF, sizeof(uint32_t) * live->unit_count);
  for (uint32_t b = 0; b < function->blocks.count; b++) {
    MirBlock *block = &function->blocks.items[b];
    live_scan_begin(&scan, b);
    for (uint32_t i = block->instrs.count; i-- > 0;) {
      Operand operands[MAX_OPERANDS];
      unsigned count = mir_operands(&block->instrs.items[i], operands);
      live_scan_step(&scan, &block->instrs.items[i], operands, count);
    }
    for (unsigned kind = 0; kind < 2; kind++) {
      for (uint32_t k = 0; k < scan.count[kind]; k++) {
        uint32_t unit = scan.dense[kind][k];
        *VEC_PUSH(exposed, arena) = (Exposed){b, unit};
        if (live->global_of[unit] == NONE) live->global_of[unit] = live->global_count++;
      }
    }
  }
  live->unit_of = ARENA_ARRAY(arena, uint32_t, live->global_count);
  for (uint32_t u = 0; u < live->unit_count; u++) {
    if (live->global_of[u] != NONE) live->unit_of[live->global_of[u]] = u;
  }
  live->words = (live->global_count + 63) / 64;
}

static void set_bit(uint64_t *set, uint32_t bit) { set[bit / 64] |= UINT64_C(1) << bit % 64; }

typedef struct BlockSets {
  uint64_t *gen, *kill, *defs; // by block: read first, surely written, perhaps written
} BlockSets;

// kill: what stays needed above the block of a unit that is needed always below it.
static void find_kills(Live *live, Arena *arena, MirFunction *function, BlockSets *sets) {
  LiveScan scan;
  live_scan_init(&scan, arena, live);
  uint32_t *stamp = ARENA_ARRAY(arena, uint32_t, live->unit_count);
  for (uint32_t b = 0; b < function->blocks.count; b++) {
    MirBlock *block = &function->blocks.items[b];
    for (uint32_t i = block->instrs.count; i-- > 0;) {
      MirInstr *instr = &block->instrs.items[i];
      Operand operands[MAX_OPERANDS];
      unsigned count = mir_operands(instr, operands);
      bump_versions(&scan, operands, count);
      Need guard = guard_of(&scan, instr);
      if (instr->guard.vreg == VREG_NONE && instr->guard_negated) continue;
      for (unsigned o = 0; o < count; o++) {
        if (!operands[o].written) continue;
        uint32_t unit = unit_of_ref(live, *operands[o].ref);
        for (uint32_t u = unit; u < unit + operand_units(&operands[o]); u++) {
          if (live->global_of[u] == NONE) continue;
          if (stamp[u] != b + 1) scan.need[u] = (Need){NEED_ALWAYS, 0};
          stamp[u] = b + 1;
          set_bit(sets->defs + (size_t)b * live->words, live->global_of[u]);
          if (!need_above_write(&scan, &scan.need[u], guard)) set_bit(sets->kill + (size_t)b * live->words, live->global_of[u]);
        }
      }
    }
  }
}

// Units that some write reaches, at the start and end of every block.
static void find_defined(const Live *live, const Cfg *cfg, const uint64_t *defs, uint32_t frame_global, uint64_t *in, uint64_t *out) {
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t i = 0; i < cfg->order_count; i++) {
      uint32_t b = cfg->order[i];
      uint64_t *block_in = in + (size_t)b * live->words, *block_out = out + (size_t)b * live->words;
      if (b == 0 && frame_global != NONE) set_bit(block_in, frame_global);
      for (uint32_t e = cfg->pred_start[b]; e < cfg->pred_start[b + 1]; e++) {
        const uint64_t *from = out + (size_t)cfg->pred[e] * live->words;
        for (uint32_t w = 0; w < live->words; w++) block_in[w] |= from[w];
      }
      for (uint32_t w = 0; w < live->words; w++) {
        uint64_t now = block_in[w] | defs[(size_t)b * live->words + w];
        changed |= now != block_out[w];
        block_out[w] = now;
      }
    }
  }
}

static void solve(Live *live, const Cfg *cfg, const BlockSets *sets, const uint64_t *defined_in, const uint64_t *defined_out) {
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t i = cfg->order_count; i-- > 0;) {
      uint32_t b = cfg->order[i];
      size_t base = (size_t)b * live->words;
      uint64_t *out = live->out + base, *in = live->in + base;
      for (uint32_t e = cfg->succ_start[b]; e < cfg->succ_start[b + 1]; e++) {
        const uint64_t *from = live->in + (size_t)cfg->succ[e] * live->words;
        for (uint32_t w = 0; w < live->words; w++) out[w] |= from[w] & defined_out[base + w];
      }
      for (uint32_t w = 0; w < live->words; w++) {
        uint64_t now = (sets->gen[base + w] | (out[w] & ~sets->kill[base + w])) & defined_in[base + w];
        changed |= now != in[w];
        in[w] = now;
      }
    }
  }
}

void live_build(Live *live, Arena *arena, MirFunction *function, const Cfg *cfg) {
  live_number_units(live, arena, function);
  ExposedVec exposed = {0};
  find_exposed(live, arena, function, &exposed);
  size_t size = (size_t)cfg->count * live->words;
  BlockSets sets = {ARENA_ARRAY(arena, uint64_t, size), ARENA_ARRAY(arena, uint64_t, size), ARENA_ARRAY(arena, uint64_t, size)};
  for (uint32_t i = 0; i < exposed.count; i++)
    set_bit(sets.gen + (size_t)exposed.items[i].block * live->words, live->global_of[exposed.items[i].unit]);
  find_kills(live, arena, function, &sets);
  uint64_t *defined_in = ARENA_ARRAY(arena, uint64_t, size), *defined_out = ARENA_ARRAY(arena, uint64_t, size);
  uint32_t frame = function->frame_pointer == VREG_NONE ? NONE : live->global_of[live->unit_base[function->frame_pointer]];
  find_defined(live, cfg, sets.defs, frame, defined_in, defined_out);
  live->in = ARENA_ARRAY(arena, uint64_t, size);
  live->out = ARENA_ARRAY(arena, uint64_t, size);
  solve(live, cfg, &sets, defined_in, defined_out);
}
