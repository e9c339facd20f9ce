// Comparisons: setp and set with a boolean combination, which rows do not have. The comparison
// goes to a temporary predicate, which is then combined.
#include "ptx/lower.h"

typedef struct Comparison {
  Slice parts[16]; // as a setp row has them
  uint32_t part_count;
  const char *combine; // "and.pred" and so on; NULL for none
  PtxType result;      // of set
} Comparison;

// The unsigned comparisons of PTX have names of their own.
static Slice plain_comparison(Slice part) {
  static const char *const names[][2] = {{"lo", "lt"}, {"ls", "le"}, {"hi", "gt"}, {"hs", "ge"}};
  for (size_t i = 0; i < COUNT_OF(names); i++) {
    if (slice_is(part, names[i][0])) return slice_of(names[i][1]);
  }
  return part;
}

static const char *combination(Slice part) {
  if (slice_is(part, "and")) return "and.pred";
  if (slice_is(part, "or")) return "or.pred";
  return slice_is(part, "xor") ? "xor.pred" : NULL;
}

static void split_comparison(const PtxInstr *instr, bool is_set, Comparison *comparison) {
  *comparison = (Comparison){.parts = {slice_of("setp")}, .part_count = 1};
  uint32_t types = 0, last = 0;
  for (uint32_t i = 1; i < instr->part_count; i++) {
    PtxType type;
    if (ptx_type_parse(instr->parts[i], &type) && ++types == 1) last = i;
  }
  for (uint32_t i = 1; i < instr->part_count; i++) {
    const char *combine = combination(instr->parts[i]);
    if (combine) comparison->combine = combine;
    if (is_set && i == last && types == 2) {
      (void)ptx_type_parse(instr->parts[i], &comparison->result);
    } else if (!combine) {
      comparison->parts[comparison->part_count++] = plain_comparison(instr->parts[i]);
    }
  }
}

// p = combine(compared, c), or a plain move when there is nothing to combine.
static void combine_into(Fn *fn, const char *combine, Vref d, Vref compared, const Value *c) {
  MirInstr *out = emit_guarded(fn, row(fn, combine));
  out->pd[0] = d;
  out->a = compared;
  out->ps = c->ref;
  out->ps_negated = c->negated;
}

// The comparison itself, of operands [first] and [first + 1].
static bool compare(Fn *fn, const PtxInstr *instr, const Comparison *comparison, uint32_t first, bool guarded, Vref p, Vref q) {
  Opcode opcode;
  Sources sources = {0};
  if (!opcode_resolve(fn->lower, comparison->parts, comparison->part_count, &opcode)) return unsupported(fn, instr);
  if (!(op_info[opcode.op].flags & IT_PRED_OUT)) return unsupported(fn, instr);
  bool good = read_source(fn, &opcode, &instr->operands[first], 0, &sources);
  good = read_source(fn, &opcode, &instr->operands[first + 1], 1, &sources) && good;
  if (!good) return false;
  settle_sources(fn, opcode.op, &sources);
  MirInstr *out = guarded ? emit_guarded(fn, opcode.op) : emit(fn, opcode.op);
  out->mods = opcode.mods;
  out->pd[0] = p;
  out->pd[1] = q;
  put_sources(out, &sources);
  return true;
}

bool lower_setp(Fn *fn, const PtxInstr *instr) {
  Comparison comparison;
  split_comparison(instr, false, &comparison);
  uint32_t operands = comparison.combine ? 4 : 3;
  if (!expect_operands(fn, instr, operands, operands)) return false;
  const PtxOperand *d = &instr->operands[0];
  Vref p, q = VREF_NONE;
  if (d->kind == PTX_PAIR) {
    if (!write_predicate(fn, &d->items[0], &p) || !write_predicate(fn, &d->items[1], &q)) return false;
  } else if (!write_predicate(fn, d, &p)) {
    return false;
  }
  if (!comparison.combine) return compare(fn, instr, &comparison, 1, true, p, q);
  Value c;
  Vref compared = VREF(temp(fn, 0)), complement = q.vreg == VREG_NONE ? VREF_NONE : VREF(temp(fn, 0));
  if (!read_predicate(fn, &instr->operands[3], &c)) return false;
  if (!compare(fn, instr, &comparison, 1, false, compared, complement)) return false;
  if (q.vreg == VREG_NONE) {
    combine_into(fn, comparison.combine, p, compared, &c);
    return true;
  }
  // p may be c or the guard, so q is made first into a temporary.
  Vref second = VREF(temp(fn, 0));
  MirInstr *out = emit(fn, row(fn, comparison.combine));
  out->pd[0] = second;
  out->a = complement;
  out->ps = c.ref;
  out->ps_negated = c.negated;
  bool p_guards = fn->instr->has_guard && register_ref(fn, fn->instr->guard, 0).vreg == p.vreg;
  if (!p_guards) combine_into(fn, comparison.combine, p, compared, &c);
  MirInstr *move = emit_guarded(fn, OP_MOV_PRED);
  move->pd[0] = q;
  move->ps = second;
  if (p_guards) combine_into(fn, comparison.combine, p, compared, &c);
  return true;
}

// ---- set ---------------------------------------------------------------------------------------
// What true is as a result.
static uint64_t truth(PtxType type) {
  switch (type) {
  case PTX_F32: return bits_of_f32(1.0f);
  case PTX_F16: return 0x3C00;
  case PTX_BF16: return 0x3F80;
  case PTX_U16:
  case PTX_S16: return 0xFFFF;
  case PTX_F16X2: return 0x3C00;
  case PTX_BF16X2: return 0x3F80;
  default: return UINT32_MAX;
  }
}

static void select_truth(Fn *fn, bool guarded, Vref d, Vref predicate, uint64_t bits) {
  Value yes = value_of_bits(bits), no = value_of_bits(0);
  MirInstr *out = (guarded ? emit_alu_guarded : emit_alu)(fn, OP_SELP_B32, d, &yes, &no, NULL);
  out->ps = predicate;
}

static void combine_temporary(Fn *fn, const char *combine, Vref *predicate, const Value *c) {
  Vref sum = VREF(temp(fn, 0));
  MirInstr *out = emit(fn, row(fn, combine));
  out->pd[0] = sum;
  out->a = *predicate;
  out->ps = c->ref;
  out->ps_negated = c->negated;
  *predicate = sum;
}

bool lower_set(Fn *fn, const PtxInstr *instr) {
  Comparison comparison;
  split_comparison(instr, true, &comparison);
  uint32_t operands = comparison.combine ? 4 : 3;
  Vref d;
  Value c = {.ref = VREF_NONE};
  if (comparison.result == PTX_NO_TYPE || type_width(comparison.result) != 1) return unsupported(fn, instr);
  if (!expect_operands(fn, instr, operands, operands) || !write_register(fn, &instr->operands[0], 1, &d)) return false;
  if (comparison.combine && !read_predicate(fn, &instr->operands[3], &c)) return false;
  PtxType source = last_type(instr);
  bool halves = source == PTX_F16X2 || source == PTX_BF16X2;
  Vref p = VREF(temp(fn, 0)), q = halves ? VREF(temp(fn, 0)) : VREF_NONE;
  if (!compare(fn, instr, &comparison, 1, false, p, q)) return false;
  if (comparison.combine) combine_temporary(fn, comparison.combine, &p, &c);
  if (!halves) {
    select_truth(fn, true, d, p, truth(comparison.result));
    return true;
  }
  if (comparison.combine) combine_temporary(fn, comparison.combine, &q, &c);
  uint64_t half = comparison.result == PTX_F16X2 || comparison.result == PTX_BF16X2 ? truth(comparison.result) : 0xFFFF;
  Vref low = VREF(temp(fn, 1)), high = VREF(temp(fn, 1));
  select_truth(fn, false, low, p, half);
  select_truth(fn, false, high, q, half << 16);
  Value a = value_of_vref(low, 1), b = value_of_vref(high, 1);
  emit_alu_guarded(fn, row(fn, "or.b32"), d, &a, &b, NULL);
  return true;
}
