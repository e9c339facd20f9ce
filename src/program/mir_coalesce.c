// Copies merged away: two virtual registers become one when a copy connects them and their live
// ranges never overlap. Works unit by unit, so that a register may become half of a pair.
//
// A range is a sorted list of half-open segments over code positions: instruction i reads at 2i
// and writes at 2i + 1.
#include "program/mir_internal.h"

typedef struct Segment {
  uint32_t start, end;
} Segment;
typedef VEC(Segment) Range;

typedef struct Coalescer {
  Work *work;
  Arena *arena;
  const Cfg *cfg;
  const Live *live;
  Range *ranges;   // by unit of leaders; segments from last to first
  VregId *leader;  // by vreg
  uint8_t *offset; // by vreg: place of its first unit inside its leader
} Coalescer;

// ---- Ranges --------------------------------------------------------------------------------------------
static void add_segment(Coalescer *c, uint32_t unit, uint32_t start, uint32_t end) {
  Range *range = &c->ranges[unit];
  if (range->count > 0 && range->items[range->count - 1].start <= end) {
    range->items[range->count - 1].start = min_u32(start, range->items[range->count - 1].start);
    return;
  }
  *VEC_PUSH(range, c->arena) = (Segment){start, end};
}

static void range_instr(Coalescer *c, LiveScan *scan, uint32_t *open, MirInstr *instr, uint32_t at) {
  Operand operands[MAX_OPERANDS];
  unsigned count = mir_operands(instr, operands);
  uint32_t written[32], read[64];
  unsigned written_count = 0, read_count = 0;
  for (unsigned i = 0; i < count; i++) {
    uint32_t unit = unit_of_ref(c->live, *operands[i].ref);
    for (uint32_t u = unit; u < unit + operand_units(&operands[i]); u++) {
      bool live = live_has(scan, u);
      if (operands[i].written) {
        if (live) written[written_count++] = u;
        else add_segment(c, u, 2 * at + 1, 2 * at + 2);
      } else if (!live) {
        read[read_count++] = u;
      }
    }
  }
  live_scan_step(scan, instr, operands, count);
  for (unsigned i = 0; i < written_count; i++) {
    if (!live_has(scan, written[i])) add_segment(c, written[i], 2 * at + 1, open[written[i]]);
  }
  for (unsigned i = 0; i < read_count; i++) open[read[i]] = 2 * at + 1;
}

static void build_ranges(Coalescer *c) {
  MirFunction *function = c->work->function;
  LiveScan scan;
  live_scan_init(&scan, c->arena, c->live);
  uint32_t *open = ARENA_ARRAY(c->arena, uint32_t, c->live->unit_count);
  uint32_t at = 0;
  for (uint32_t b = 0; b < function->blocks.count; b++) at += function->blocks.items[b].instrs.count;
  for (uint32_t b = function->blocks.count; b-- > 0;) {
    MirBlock *block = &function->blocks.items[b];
    live_scan_begin(&scan, b);
    for (unsigned kind = 0; kind < 2; kind++) {
      for (uint32_t i = 0; i < scan.count[kind]; i++) open[scan.dense[kind][i]] = 2 * at;
    }
    for (uint32_t i = block->instrs.count; i-- > 0;) range_instr(c, &scan, open, &block->instrs.items[i], --at);
    for (unsigned kind = 0; kind < 2; kind++) {
      for (uint32_t i = 0; i < scan.count[kind]; i++) add_segment(c, scan.dense[kind][i], 2 * at, open[scan.dense[kind][i]]);
    }
  }
}

static bool ranges_meet(const Range *a, const Range *b) {
  uint32_t i = 0, j = 0;
  while (i < a->count && j < b->count) {
    if (a->items[i].start >= b->items[j].end) i++;
    else if (b->items[j].start >= a->items[i].end) j++;
    else return true;
  }
  return false;
}

// The union of two ranges that do not meet.
static Range merge_ranges(Coalescer *c, const Range *a, const Range *b) {
  Range merged = {.items = ARENA_ARRAY(c->arena, Segment, a->count + b->count), .capacity = a->count + b->count};
  uint32_t i = 0, j = 0;
  while (i < a->count || j < b->count) {
    bool from_a = j == b->count || (i < a->count && a->items[i].start > b->items[j].start);
    Segment next = from_a ? a->items[i++] : b->items[j++];
    Segment *last = merged.count > 0 ? &merged.items[merged.count - 1] : NULL;
    if (last != NULL && next.end == last->start) last->start = next.start;
    else merged.items[merged.count++] = next;
  }
  return merged;
}

// ---- Merging -------------------------------------------------------------------------------------------
// The leader's coordinates of an operand.
static Vref find_leader(Coalescer *c, Vref ref) {
  VregId v = ref.vreg;
  uint32_t part = ref.part;
  while (c->leader[v] != v) {
    part += c->offset[v];
    v = c->leader[v];
  }
  return (Vref){v, (uint8_t)part};
}

static unsigned vreg_width(const Coalescer *c, VregId v) { return max_u32(1, c->work->function->vregs.items[v].width); }

static bool may_merge(const Coalescer *c, VregId v) {
  return v != c->work->function->frame_pointer && v != c->work->callee_frame && !work_is_temp(c->work, v);
}

// Lays `small` into `large` from unit `at` on, if their ranges allow it.
static bool merge(Coalescer *c, VregId large, VregId small, int at) {
  unsigned width = vreg_width(c, small), step = width < 4 ? width : 4;
  if (at < 0 || (unsigned)at + width > vreg_width(c, large) || (unsigned)at % step != 0) return false;
  if (width == vreg_width(c, large) && at != 0) return false;
  uint32_t to = c->live->unit_base[large] + (uint32_t)at, from = c->live->unit_base[small];
  for (unsigned k = 0; k < width; k++) {
    if (ranges_meet(&c->ranges[to + k], &c->ranges[from + k])) return false;
  }
  for (unsigned k = 0; k < width; k++) c->ranges[to + k] = merge_ranges(c, &c->ranges[to + k], &c->ranges[from + k]);
  c->leader[small] = large;
  c->offset[small] = (uint8_t)at;
  return true;
}

static void try_copy(Coalescer *c, const MirInstr *instr) {
  Vref d = find_leader(c, instr->d[0]), a = find_leader(c, instr->a);
  if (d.vreg == a.vreg || !may_merge(c, d.vreg) || !may_merge(c, a.vreg)) return;
  if (vreg_width(c, d.vreg) >= vreg_width(c, a.vreg)) merge(c, d.vreg, a.vreg, d.part - a.part);
  else merge(c, a.vreg, d.vreg, a.part - d.part);
}

static bool is_copy(const MirInstr *instr) {
  return (mir_flags(instr) & IT_MOVE) != 0 && instr->select == SELECT_REGISTERS && instr->a.vreg != VREG_NONE &&
         instr->d[0].vreg != VREG_NONE;
}

static void rewrite_block(Coalescer *c, MirBlock *block) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < block->instrs.count; i++) {
    MirInstr *instr = &block->instrs.items[i];
    Operand operands[MAX_OPERANDS];
    unsigned count = mir_operands(instr, operands);
    for (unsigned o = 0; o < count; o++) *operands[o].ref = find_leader(c, *operands[o].ref);
    if (is_copy(instr) && instr->d[0].vreg == instr->a.vreg && instr->d[0].part == instr->a.part) continue;
    block->instrs.items[kept++] = *instr;
  }
  block->instrs.count = kept;
}

// Copies in the deepest loops first.
void mir_coalesce(Work *work) {
  Arena *scratch = arena_new();
  MirFunction *function = work->function;
  Cfg cfg;
  Live live;
  cfg_build(&cfg, scratch, function);
  live_build(&live, scratch, function, &cfg);
  Coalescer c = {.work = work, .arena = scratch, .cfg = &cfg, .live = &live};
  c.ranges = ARENA_ARRAY(scratch, Range, live.unit_count);
  c.leader = ARENA_ARRAY(scratch, VregId, live.vreg_count);
  c.offset = ARENA_ARRAY(scratch, uint8_t, live.vreg_count);
  for (VregId v = 0; v < live.vreg_count; v++) c.leader[v] = v;
  build_ranges(&c);
  uint32_t deepest = 0;
  for (uint32_t b = 0; b < cfg.count; b++) deepest = max_u32(deepest, cfg.depth[b]);
  for (uint32_t depth = deepest + 1; depth-- > 0;) {
    for (uint32_t b = 0; b < cfg.count; b++) {
      MirBlock *block = &function->blocks.items[b];
      for (uint32_t i = 0; cfg.depth[b] == depth && i < block->instrs.count; i++) {
        if (is_copy(&block->instrs.items[i])) try_copy(&c, &block->instrs.items[i]);
      }
    }
  }
  for (uint32_t b = 0; b < cfg.count; b++) rewrite_block(&c, &function->blocks.items[b]);
  arena_free(scratch);
}
