// Simplification before allocation: results that nothing reads are removed.
#include "program/mir_internal.h"

static bool is_removable(const MirInstr *instr) { return (mir_flags(instr) & OP_PURE) != 0; }

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
      if (is_removable(instr) && results_dead(&scan, operands, count)) continue;
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
  while (remove_dead(work)) {}
}
