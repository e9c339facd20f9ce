// Instructions of a whole warp: shuffles, votes, matches, reductions, elections. Their forms without
// .sync are the same rows with all lanes as members.
#include "ptx/lower.h"

#include <stdio.h>

// Puts the member mask into the row's last source, or leaves it out when it names all lanes.
static bool read_mask(Fn *fn, const PtxInstr *instr, uint32_t operand, unsigned source, Sources *sources, uint16_t *mods) {
  Value mask;
  *mods = MOD_FULL_MASK;
  if (!has_part(instr, "sync")) return true;
  if (!read_value(fn, &instr->operands[operand], PTX_B32, &mask)) return false;
  if (instr->operands[operand].kind == PTX_REG && mask.width != 1) {
    return complain(fn, instr->operands[operand].place, "the member mask has 32 bits");
  }
  if (mask.fact.kind == FACT_IMMEDIATE && (uint32_t)mask.fact.bits == UINT32_MAX) return true;
  *mods = 0;
  sources->value[source] = mask;
  sources->used[source] = true;
  return true;
}

static bool write_results(Fn *fn, const PtxOperand *operand, Vref *d, Vref *p) {
  *p = VREF_NONE;
  if (operand->kind != PTX_PAIR) return write_register(fn, operand, 1, d);
  return write_register(fn, &operand->items[0], 1, d) && write_predicate(fn, &operand->items[1], p);
}

// ---- shfl --------------------------------------------------------------------------------------
// The row's b: lane or delta in bits 4..0, PTX's c in bits 20..8.
static Value pack_lane(Fn *fn, const Value *lane, const Value *clamp) {
  bool lane_known = lane->fact.kind == FACT_IMMEDIATE, clamp_known = clamp->fact.kind == FACT_IMMEDIATE;
  Value five = value_of_bits(31), eight = value_of_bits(8);
  Value low = value_of_bits(lane->fact.bits & 31), high = value_of_bits((clamp->fact.bits & 0x1FFF) << 8);
  if (lane_known && clamp_known) return value_of_bits(low.fact.bits | high.fact.bits);
  if (!lane_known) {
    Vref masked = VREF(temp(fn, 1));
    emit_alu(fn, row(fn, "and.b32"), masked, lane, &five, NULL);
    low = value_of_vref(masked, 1);
  }
  if (!clamp_known) {
    Vref shifted = VREF(temp(fn, 1));
    emit_alu(fn, row(fn, "shl.b32"), shifted, clamp, &eight, NULL);
    high = value_of_vref(shifted, 1);
  } else if (high.fact.bits == 0) {
    return low;
  }
  Vref both = VREF(temp(fn, 1));
  emit_alu(fn, row(fn, "or.b32"), both, &low, &high, NULL);
  return value_of_vref(both, 1);
}

bool lower_shfl(Fn *fn, const PtxInstr *instr) {
  static const char *const modes[] = {"up", "down", "bfly", "idx"};
  bool sync = has_part(instr, "sync");
  if (!expect_operands(fn, instr, sync ? 5 : 4, sync ? 5 : 4)) return false;
  char text[32] = "";
  for (size_t i = 0; i < COUNT_OF(modes); i++) {
    if (has_part(instr, modes[i])) snprintf(text, sizeof text, "shfl.sync.%s.b32", modes[i]);
  }
  if (!text[0] || ptx_type_bits(last_type(instr)) != 32) return unsupported(fn, instr);
  Vref d, p;
  Value lane, clamp;
  Sources sources = {.used = {true, true, false}};
  uint16_t mods;
  Opcode opcode = {.op = row(fn, text), .type = PTX_B32};
  if (!write_results(fn, &instr->operands[0], &d, &p) || !read_source(fn, &opcode, &instr->operands[1], 0, &sources) ||
      !read_value(fn, &instr->operands[2], PTX_U32, &lane) || !read_value(fn, &instr->operands[3], PTX_U32, &clamp) ||
      !read_mask(fn, instr, 4, 2, &sources, &mods)) {
    return false;
  }
  sources.value[1] = pack_lane(fn, &lane, &clamp);
  settle_sources(fn, row(fn, text), &sources);
  MirInstr *out = emit_guarded(fn, row(fn, text));
  out->mods = mods;
  out->d[0] = d;
  out->pd[0] = p;
  put_sources(out, &sources);
  return true;
}

// ---- vote --------------------------------------------------------------------------------------
bool lower_vote(Fn *fn, const PtxInstr *instr) {
  static const struct {
    const char *part, *row;
  } modes[] = {
      {"all", "vote.sync.all.pred"}, {"any", "vote.sync.any.pred"}, {"uni", "vote.sync.uni.pred"}, {"ballot", "vote.sync.ballot.b32"}};
  const char *text = NULL;
  for (size_t i = 0; i < COUNT_OF(modes); i++) {
    if (has_part(instr, modes[i].part)) text = modes[i].row;
  }
  bool sync = has_part(instr, "sync"), ballot = has_part(instr, "ballot");
  if (!text) return unsupported(fn, instr);
  if (!expect_operands(fn, instr, sync ? 3 : 2, sync ? 3 : 2)) return false;
  Vref d;
  Value predicate;
  Sources sources = {0};
  uint16_t mods;
  if (!write_register(fn, &instr->operands[0], ballot ? 1 : 0, &d) || !read_predicate(fn, &instr->operands[1], &predicate) ||
      !read_mask(fn, instr, 2, 0, &sources, &mods)) {
    return false;
  }
  settle_sources(fn, row(fn, text), &sources);
  MirInstr *out = emit_guarded(fn, row(fn, text));
  out->mods = mods;
  if (ballot) out->d[0] = d;
  if (!ballot) out->pd[0] = d;
  out->ps = predicate.ref;
  out->ps_negated = predicate.negated;
  put_sources(out, &sources);
  return true;
}

// ---- match, redux, elect: d[|p], a, mask -------------------------------------------------------------
bool lower_members(Fn *fn, const PtxInstr *instr) {
  Opcode opcode;
  if (!opcode_resolve(fn->lower, instr->parts, instr->part_count, &opcode)) return unsupported(fn, instr);
  const OpInfo *info = &op_info[opcode.op];
  bool has_value = info->b != TYPE_none;
  Vref d, p;
  Sources sources = {0};
  uint16_t mods;
  if (!expect_operands(fn, instr, 2u + has_value, 2u + has_value)) return false;
  if (!write_results(fn, &instr->operands[0], &d, &p)) return false;
  if (has_value && !read_source(fn, &opcode, &instr->operands[1], 0, &sources)) return false;
  if (!read_mask(fn, instr, 1u + has_value, has_value, &sources, &mods)) return false;
  settle_sources(fn, opcode.op, &sources);
  MirInstr *out = emit_guarded(fn, opcode.op);
  out->mods = mods;
  out->d[0] = d;
  out->pd[0] = p;
  put_sources(out, &sources);
  return true;
}
