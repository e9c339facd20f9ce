// Machine code on virtual registers: building it, its operands, its printed form.
#include "program/mir_internal.h"

void mir_rest(MirInstr *instr) {
  memset(instr, 0, sizeof *instr);
  instr->guard = instr->ps = instr->a = instr->b = instr->c = VREF_NONE;
  for (unsigned i = 0; i < 2; i++) instr->pd[i] = VREF_NONE;
  for (unsigned i = 0; i < 4; i++) instr->d[i] = VREF_NONE;
}

MirInstr *mir_emit(MirFunction *function, Arena *arena, uint32_t block) {
  ASSERT(block < function->blocks.count);
  MirInstr *instr = VEC_PUSH(&function->blocks.items[block].instrs, arena);
  mir_rest(instr);
  return instr;
}

VregId mir_vreg(MirFunction *function, Arena *arena, unsigned width) {
  ASSERT(width <= 8);
  Vreg *vreg = VEC_PUSH(&function->vregs, arena);
  vreg->width = (uint8_t)width;
  return function->vregs.count - 1;
}

static Vref *operand_ref(MirInstr *instr, unsigned operand) {
  switch (operand) {
  case OPERAND_A: return &instr->a;
  case OPERAND_B: return &instr->b;
  case OPERAND_C: return &instr->c;
  case OPERAND_PS: return &instr->ps;
  case OPERAND_GUARD: return &instr->guard;
  case OPERAND_PD:
  case OPERAND_PD + 1: return &instr->pd[operand - OPERAND_PD];
  default: ASSERT(operand < OPERAND_A); return &instr->d[operand];
  }
}

unsigned mir_operands(MirInstr *instr, Operand operands[MAX_OPERANDS]) {
  OperandUse uses[MAX_OPERANDS];
  unsigned listed = op_operands((Op)instr->op, instr->mods, (OperandSelect)instr->select, uses);
  unsigned count = 0;
  for (unsigned i = 0; i < listed; i++) {
    Vref *ref = operand_ref(instr, uses[i].operand);
    if (ref->vreg == VREG_NONE) continue;
    operands[count++] = (Operand){ref, uses[i].operand, uses[i].predicate ? 0 : uses[i].registers, uses[i].written};
  }
  return count;
}

// ---- Printing ------------------------------------------------------------------------------------
static void dump_ref(const MirFunction *function, Vref ref, Text *out) {
  if (ref.vreg == VREG_NONE) {
    text_add(out, "_");
    return;
  }
  static const char kinds[9] = {'p', 'r', 'd', '?', 'q', '?', '?', '?', 'o'};
  text_add(out, "%%%c%u", kinds[function->vregs.items[ref.vreg].width], (unsigned)ref.vreg);
  if (ref.part != 0) text_add(out, ".%u", (unsigned)ref.part);
}

static void dump_instr(const MirFunction *function, const MirInstr *source, Text *out) {
  MirInstr instr = *source;
  text_add(out, "    ");
  if (mir_guarded(&instr)) {
    text_add(out, "@%s", instr.guard_negated ? "!" : "");
    dump_ref(function, instr.guard, out);
    text_add(out, " ");
  }
  const OpInfo *info = &op_info[instr.op];
  text_add(out, "%s", info->text);
  Operand operands[MAX_OPERANDS];
  unsigned count = mir_operands(&instr, operands);
  for (unsigned pass = 0; pass < 2; pass++) {
    for (unsigned i = 0; i < count; i++) {
      if (operands[i].operand == OPERAND_GUARD || operands[i].written != (pass == 0)) continue;
      text_add(out, operands[i].written ? " =" : " ");
      dump_ref(function, *operands[i].ref, out);
    }
  }
  if (instr.select != SELECT_REGISTERS || instr.imm != 0) text_add(out, " select %u imm 0x%x", instr.select, (unsigned)instr.imm);
  if ((info->flags & (IT_BRANCH | IT_CALLS)) != 0 && (info->flags & IT_INDIRECT) == 0) text_add(out, " -> %u", (unsigned)instr.target);
  text_add(out, "  // line %u\n", (unsigned)instr.line);
}

void mir_dump(const MirFunction *function, Text *out) {
  text_add(out, "%s %s: %u virtual registers, %u bytes of frame\n", function->is_kernel ? "kernel" : "function", function->name,
           (unsigned)function->vregs.count, (unsigned)function->local_bytes);
  for (uint32_t b = 0; b < function->blocks.count; b++) {
    const MirBlock *block = &function->blocks.items[b];
    text_add(out, "  block %u:\n", (unsigned)b);
    for (uint32_t i = 0; i < block->instrs.count; i++) dump_instr(function, &block->instrs.items[i], out);
  }
}
