// Simplification before allocation: readers of a copy read its source instead, and results that
// nothing reads are removed.
//
// A unit takes part in forwarding when one unguarded instruction writes it and that instruction
// dominates every read: then, as in SSA form, a copy and its source agree wherever the copy is read.
#include "program/mir_internal.h"

// ---- Forwarding of copies ------------------------------------------------------------------------------
typedef struct Definition {
  uint32_t block, at; // of the one instruction that writes the unit
  uint8_t writes;     // 0, 1, 2 = more
  bool unsound;       // a guarded write, or a read that the write does not dominate
} Definition;

typedef struct Forwarder {
  MirFunction *function;
  const Cfg *cfg;
  const Live *live;
  Definition *definitions; // by unit
  uint32_t *source;        // by unit: the unit it is a copy of; NONE
} Forwarder;

// Never the frame pointer, which nothing writes: instructions that name it mean more by their imm (mir.h).
static bool is_single(const Forwarder *f, uint32_t unit) { return f->definitions[unit].writes == 1 && !f->definitions[unit].unsound; }

static void note_writes(Forwarder *f, uint32_t b, uint32_t i) {
  MirInstr *instr = &f->function->blocks.items[b].instrs.items[i];
  Operand operands[MAX_OPERANDS];
  unsigned count = mir_operands(instr, operands);
  for (unsigned o = 0; o < count; o++) {
    if (!operands[o].written) continue;
    uint32_t unit = unit_of_ref(f->live, *operands[o].ref);
    for (uint32_t u = unit; u < unit + operand_units(&operands[o]); u++) {
      Definition *definition = &f->definitions[u];
      definition->block = b;
      definition->at = i;
      definition->writes = (uint8_t)min_u32(2, definition->writes + 1u);
      definition->unsound |= mir_guarded(instr);
    }
  }
}

static void check_reads(Forwarder *f, uint32_t b, uint32_t i) {
  Operand operands[MAX_OPERANDS];
  unsigned count = mir_operands(&f->function->blocks.items[b].instrs.items[i], operands);
  for (unsigned o = 0; o < count; o++) {
    if (operands[o].written) continue;
    uint32_t unit = unit_of_ref(f->live, *operands[o].ref);
    for (uint32_t u = unit; u < unit + operand_units(&operands[o]); u++) {
      Definition *definition = &f->definitions[u];
      if (definition->writes != 1 || definition->unsound) continue;
      bool above = definition->block == b ? definition->at < i : cfg_dominates(f->cfg, definition->block, b);
      definition->unsound = !above;
    }
  }
}

static void note_copy(Forwarder *f, const MirInstr *instr) {
  if ((mir_flags(instr) & IT_MOVE) == 0 || mir_guarded(instr) || instr->select != SELECT_REGISTERS) return;
  if (instr->a.vreg == VREG_NONE || instr->d[0].vreg == VREG_NONE) return;
  uint32_t to = unit_of_ref(f->live, instr->d[0]), from = unit_of_ref(f->live, instr->a);
  for (unsigned k = 0; k < type_info[op_info[instr->op].d].registers; k++) {
    if (to + k != from + k && is_single(f, to + k) && is_single(f, from + k)) f->source[to + k] = from + k;
  }
}

// The first register of a chain of copies.
static uint32_t origin_of(const Forwarder *f, uint32_t unit) {
  while (f->source[unit] != NONE) unit = f->source[unit];
  return unit;
}

// Reads the origin where all registers of the operand have neighbouring, aligned origins.
static void forward_read(Forwarder *f, const Operand *operand) {
  uint32_t unit = unit_of_ref(f->live, *operand->ref), origin = origin_of(f, unit), registers = operand_units(operand);
  if (origin == unit) return;
  VregId v = f->live->vreg_of[origin];
  uint32_t part = origin - f->live->unit_base[v];
  if (part % min_u32(registers, 4) != 0 || origin + registers > f->live->unit_base[v + 1]) return;
  for (uint32_t k = 1; k < registers; k++) {
    if (origin_of(f, unit + k) != origin + k) return;
  }
  *operand->ref = (Vref){v, (uint8_t)part};
}

static void forward_instr(Forwarder *f, MirInstr *instr) {
  Operand operands[MAX_OPERANDS];
  unsigned count = mir_operands(instr, operands);
  for (unsigned o = 0; o < count; o++) {
    if (!operands[o].written && operands[o].registers > 0) forward_read(f, &operands[o]);
  }
}

typedef void (*Visit)(Forwarder *f, uint32_t b, uint32_t i);

static void visit_copy(Forwarder *f, uint32_t b, uint32_t i) { note_copy(f, &f->function->blocks.items[b].instrs.items[i]); }
static void visit_forward(Forwarder *f, uint32_t b, uint32_t i) { forward_instr(f, &f->function->blocks.items[b].instrs.items[i]); }

static void forward_copies(Work *work) {
  Arena *scratch = arena_new();
  MirFunction *function = work->function;
  Cfg cfg;
  Live live;
  cfg_build(&cfg, scratch, function);
  live_number_units(&live, scratch, function);
  Forwarder f = {.function = function, .cfg = &cfg, .live = &live};
  f.definitions = ARENA_ARRAY(scratch, Definition, live.unit_count);
  f.source = ARENA_ARRAY(scratch, uint32_t, live.unit_count);
  memset(f.source, 0xFF, sizeof(uint32_t) * live.unit_count);
  static const Visit passes[] = {note_writes, check_reads, visit_copy, visit_forward};
  for (unsigned pass = 0; pass < COUNT_OF(passes); pass++) {
    for (uint32_t b = 0; b < function->blocks.count; b++) {
      for (uint32_t i = 0; i < function->blocks.items[b].instrs.count; i++) passes[pass](&f, b, i);
    }
  }
  arena_free(scratch);
}

// ---- Dead code -----------------------------------------------------------------------------------------
static bool results_dead(const LiveScan *scan, const Operand *operands, unsigned count) {
  for (unsigned i = 0; i < count; i++) {
    if (!operands[i].written) continue;
    uint32_t unit = unit_of_ref(scan->live, *operands[i].ref);
    for (unsigned k = 0; k < operand_units(&operands[i]); k++) {
      if (live_has(scan, unit + k)) return false;
    }
  }
  return true;
}

// One sweep upwards over every block; true when something went.
static bool remove_dead(Work *work) {
  Arena *scratch = arena_new();
  MirFunction *function = work->function;
  Cfg cfg;
  Live live;
  LiveScan scan;
  cfg_build(&cfg, scratch, function);
  live_build(&live, scratch, function, &cfg);
  live_scan_init(&scan, scratch, &live);
  bool changed = false;
  for (uint32_t b = 0; b < function->blocks.count; b++) {
    MirBlock *block = &function->blocks.items[b];
    live_scan_begin(&scan, b);
    uint32_t kept = block->instrs.count;
    for (uint32_t i = block->instrs.count; i-- > 0;) {
      MirInstr *instr = &block->instrs.items[i];
      Operand operands[MAX_OPERANDS];
      unsigned count = mir_operands(instr, operands);
      if ((mir_flags(instr) & IT_PURE) != 0 && results_dead(&scan, operands, count)) continue;
      live_scan_step(&scan, instr, operands, count);
      block->instrs.items[--kept] = *instr;
    }
    if (kept == 0) continue;
    changed = true;
    memmove(block->instrs.items, block->instrs.items + kept, sizeof(MirInstr) * (block->instrs.count - kept));
    block->instrs.count -= kept;
  }
  arena_free(scratch);
  return changed;
}

void mir_fold(Work *work) {
  forward_copies(work);
  enum { MOST_SWEEPS = 8 }; // each removes whole chains inside blocks; more are only needed across loops
  for (unsigned sweep = 0; sweep < MOST_SWEEPS && remove_dead(work); sweep++) {}
}
