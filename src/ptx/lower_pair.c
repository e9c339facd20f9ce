// Arithmetic of sm_100: two f32 values in one 64-bit register, and minimum and maximum of three operands.
// A pair is computed half by half, by the rows of f32: each half rounds as if it stood alone.
#include "ptx/lower.h"

#include <stdio.h>

enum { MOST_PARTS = 8 };

// The parts of the opcode with f32 in place of f32x2.
static bool half_opcode(Fn *fn, const PtxInstr *instr, Opcode *opcode) {
  Slice parts[MOST_PARTS];
  if (instr->part_count > MOST_PARTS) return unsupported(fn, instr);
  for (uint32_t i = 0; i < instr->part_count; i++) { parts[i] = slice_is(instr->parts[i], "f32x2") ? slice_of("f32") : instr->parts[i]; }
  bool found = opcode_resolve(fn->lower, parts, instr->part_count, opcode);
  return (found && (opcode->mods & MOD_SAT) == 0) || unsupported(fn, instr); // pairs have no .sat
}

static bool lower_pair(Fn *fn, const PtxInstr *instr) {
  Opcode opcode;
  Vref d, halves[3] = {VREF_NONE, VREF_NONE, VREF_NONE};
  if (!half_opcode(fn, instr, &opcode)) return false;
  uint32_t sources = op_info[opcode.op].c != TYPE_none ? 3 : 2;
  if (!expect_operands(fn, instr, 1 + sources, 1 + sources) || !write_register(fn, &instr->operands[0], 2, &d)) return false;
  for (uint32_t i = 0; i < sources; i++) {
    if (!read_register(fn, &instr->operands[1 + i], PTX_B64, 2, &halves[i])) return false;
  }
  for (unsigned half = 0; half < 2; half++) {
    Value values[3];
    for (uint32_t i = 0; i < sources; i++) values[i] = value_of_vref(vref_part(halves[i], half), 1);
    MirInstr *out = emit_alu_guarded(fn, opcode.op, d.vreg == VREG_NONE ? d : vref_part(d, half), &values[0], &values[1],
                                     sources == 3 ? &values[2] : NULL);
    out->mods |= opcode.mods;
  }
  return true;
}

bool lower_arithmetic(Fn *fn, const PtxInstr *instr) {
  return has_part(instr, "f32x2") ? lower_pair(fn, instr) : lower_instr_generic(fn, instr);
}

// min.f32 d, a, b, c is the row min3.f32.
bool lower_extreme(Fn *fn, const PtxInstr *instr) {
  Slice parts[MOST_PARTS];
  Opcode opcode;
  if (instr->operand_count != 4 || last_type(instr) != PTX_F32 || instr->part_count > MOST_PARTS) return lower_instr_generic(fn, instr);
  memcpy(parts, instr->parts, instr->part_count * sizeof *parts);
  parts[0] = slice_of(slice_is(instr->parts[0], "min") ? "min3" : "max3");
  if (!opcode_resolve(fn->lower, parts, instr->part_count, &opcode)) return unsupported(fn, instr);
  return lower_row(fn, instr, &opcode);
}
