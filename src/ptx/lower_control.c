// Branches, returns, barriers.
#include "ptx/lower.h"

// The label an operand names, or NULL where the parser has already said that there is none.
const PtxLabel *operand_label(const Fn *fn, const PtxOperand *operand) {
  bool known = operand->kind == PTX_LABEL && operand->label < fn->ptx->labels.count;
  return known ? &fn->ptx->labels.items[operand->label] : NULL;
}

bool lower_bra(Fn *fn, const PtxInstr *instr) {
  if (!expect_operands(fn, instr, 1, 1)) return false;
  const PtxOperand *target = &instr->operands[0];
  const PtxLabel *label = operand_label(fn, target);
  if (label == NULL || !label->defined) { return complain(fn, target->place, "a branch needs a label of this function"); }
  MirInstr *out = emit_guarded(fn, OP_BRA);
  out->target = target->label;
  start_block(fn);
  return true;
}

// brx.idx index, targets: `targets` names a .branchtargets list.
bool lower_brx(Fn *fn, const PtxInstr *instr) {
  if (!expect_operands(fn, instr, 2, 2)) return false;
  const PtxOperand *list = &instr->operands[1];
  const PtxLabel *label = operand_label(fn, list);
  int32_t statement = label != NULL ? label->statement : -1;
  if (statement < 0 || fn->ptx->statements.items[statement].kind != PTX_BRANCH_TARGETS) {
    return complain(fn, list->place, "the name of a .branchtargets list is needed here");
  }
  Vref index;
  if (!read_register(fn, &instr->operands[0], PTX_U32, 1, &index)) return false;
  const PtxStatement *targets = &fn->ptx->statements.items[statement];
  MirInstr *out = emit_guarded(fn, OP_BRX);
  out->a = index;
  MirBlock *block = &fn->mir->blocks.items[fn->block];
  for (uint32_t i = 0; i < targets->targets.count; i++) {
    if (targets->targets.items[i] >= fn->ptx->labels.count) continue; // the parser has complained
    *(uint32_t *)VEC_PUSH(&block->indirect_targets, fn->lower->arena) = targets->targets.items[i];
  }
  start_block(fn);
  return true;
}

bool lower_ret(Fn *fn, const PtxInstr *instr) {
  if (!expect_operands(fn, instr, 0, 0)) return false;
  lower_return(fn, false);
  if (!instr->has_guard) start_block(fn);
  return true;
}

bool lower_exit(Fn *fn, const PtxInstr *instr) {
  if (!expect_operands(fn, instr, 0, 0)) return false;
  lower_return(fn, true);
  if (!instr->has_guard) start_block(fn);
  return true;
}

bool lower_trap(Fn *fn, const PtxInstr *instr) {
  if (!expect_operands(fn, instr, 0, 0)) return false;
  (void)emit_guarded(fn, OP_TRAP);
  if (!instr->has_guard) start_block(fn);
  return true;
}

// ---- Barriers ----------------------------------------------------------------------------------
static void note_barrier(Fn *fn, const Value *number) {
  uint32_t used = number->fact.kind == FACT_IMMEDIATE ? (uint32_t)min_u64(number->fact.bits + 1, 16) : 16;
  fn->mir->barriers = max_u32(fn->mir->barriers, used);
}

static bool read_barrier(Fn *fn, const PtxInstr *instr, uint32_t first, uint32_t count, Value *number, Value *threads) {
  *number = *threads = value_of_bits(0);
  if (count > 0 && !read_value(fn, &instr->operands[first], PTX_U32, number)) return false;
  if (count > 1 && !read_value(fn, &instr->operands[first + 1], PTX_U32, threads)) return false;
  note_barrier(fn, number);
  return true;
}

// bar.red.popc.u32 d, a[, b], p; bar.red.and.pred q, a[, b], p
static bool lower_bar_reduce(Fn *fn, const PtxInstr *instr) {
  bool popc = has_part(instr, "popc");
  const char *text = popc ? "bar.red.popc.u32" : has_part(instr, "and") ? "bar.red.and.pred" : "bar.red.or.pred";
  Value number, threads, predicate;
  Vref d;
  if (!expect_operands(fn, instr, 3, 4)) return false;
  uint32_t last = instr->operand_count - 1;
  if (!write_register(fn, &instr->operands[0], popc ? 1 : 0, &d) || !read_predicate(fn, &instr->operands[last], &predicate)) return false;
  if (!read_barrier(fn, instr, 1, last - 1, &number, &threads)) return false;
  MirInstr *out = emit_alu_guarded(fn, row(fn, text), popc ? d : VREF_NONE, &number, &threads, NULL);
  if (!popc) out->pd[0] = d;
  out->ps = predicate.ref;
  out->ps_negated = predicate.negated;
  return true;
}

bool lower_bar(Fn *fn, const PtxInstr *instr) {
  if (has_part(instr, "warp")) {
    Vref mask = VREF_NONE;
    Value value;
    if (!expect_operands(fn, instr, 1, 1) || !read_value(fn, &instr->operands[0], PTX_B32, &value)) return false;
    bool full = value.fact.kind == FACT_IMMEDIATE && (uint32_t)value.fact.bits == UINT32_MAX;
    if (!full) mask = value_register(fn, &value, 1);
    MirInstr *out = emit_guarded(fn, OP_BAR_WARP_SYNC);
    out->a = mask;
    if (full) out->mods |= MOD_FULL_MASK;
    return true;
  }
  if (has_part(instr, "cluster")) return lower_cluster_barrier(fn, instr);
  if (has_part(instr, "red")) return lower_bar_reduce(fn, instr);
  Value number, threads;
  bool arrive = has_part(instr, "arrive");
  if (!arrive && !has_part(instr, "sync")) return unsupported(fn, instr);
  if (!expect_operands(fn, instr, arrive ? 2 : 0, 2)) return false;
  if (!read_barrier(fn, instr, 0, instr->operand_count, &number, &threads)) return false;
  (void)emit_alu_guarded(fn, arrive ? OP_BAR_ARRIVE : OP_BAR_SYNC, VREF_NONE, &number, &threads, NULL);
  return true;
}
