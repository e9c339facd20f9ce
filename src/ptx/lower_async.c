// Asynchronous copies and mbarrier objects.
//
// Copies are carried out at once, which the memory model allows; groups then have nothing to wait for.
// An mbarrier is a 64-bit word, opaque to programs: pending arrivals in bits 19..0, the count that the next
// phase starts with in bits 39..20, the transaction count plus 2^20 in bits 60..40, the number of the phase above.
// Arriving, expecting and completing transactions are atomic adds. Whoever leaves no pending arrival and no
// transaction adds once more, which sets the pending arrivals anew and begins the next phase.
#include "ptx/lower_async.h"

#define MBARRIER_NO_TX (UINT64_C(1) << (MBARRIER_TX + 20)) // a transaction count of zero
#define MBARRIER_OPEN ((UINT64_C(0x1FFFFF) << MBARRIER_TX) | MBARRIER_MASK)

// ---- cp.async ----------------------------------------------------------------------------------
// A predicate that also holds the instruction's own guard.
Vref under_guard(Fn *fn, Vref predicate) {
  if (!fn->instr->has_guard) return predicate;
  Vref both = VREF(temp(fn, 0)), guard = register_ref(fn, fn->instr->guard, 0);
  MirInstr *out = emit(fn, row(fn, "and.pred"));
  out->pd[0] = both;
  out->a = predicate;
  out->ps = guard;
  out->ps_negated = fn->instr->guard_negated;
  return both;
}

static void load_word(Fn *fn, const Address *source, Vref d, uint32_t offset, Vref predicate) {
  Address word = *source;
  address_move(&word, offset);
  settle_address(fn, &word);
  MirInstr *out = predicate.vreg == VREG_NONE ? emit_guarded(fn, row(fn, "ld.global.b32")) : emit(fn, row(fn, "ld.global.b32"));
  if (predicate.vreg != VREG_NONE) out->guard = predicate;
  out->d[0] = d;
  out->a = word.base;
  out->imm = (uint32_t)(int32_t)word.offset;
  if (source->address32) out->mods |= MOD_ADDRESS32;
}

// Word i when only `size` bytes are to be copied: zero beyond them.
static void load_part(Fn *fn, const Address *source, const Value *size, Vref d, uint32_t word) {
  Value zero = value_of_bits(0), first = value_of_bits(4 * word), eight = value_of_bits(3);
  Vref inside = VREF(temp(fn, 0)), left = VREF(temp(fn, 1)), bits = VREF(temp(fn, 1)), mask = VREF(temp(fn, 1));
  emit_alu(fn, row(fn, "setp.gt.u32"), VREF_NONE, size, &first, NULL)->pd[0] = inside;
  move_value(fn, false, d, 1, &zero);
  load_word(fn, source, d, 4 * word, under_guard(fn, inside));
  // Bytes left of this word, at least 0, as a mask of bits.
  emit_alu(fn, row(fn, "sub.b32"), left, size, &first, NULL);
  Value left_value = value_of_vref(left, 1);
  emit_alu(fn, row(fn, "max.s32"), left, &left_value, &zero, NULL);
  emit_alu(fn, row(fn, "shl.b32"), bits, &left_value, &eight, NULL);
  Value bits_value = value_of_vref(bits, 1), data = value_of_vref(d, 1), mask_value = value_of_vref(mask, 1);
  emit_alu(fn, row(fn, "bmsk.clamp.b32"), mask, &zero, &bits_value, NULL);
  emit_alu(fn, row(fn, "and.b32"), d, &data, &mask_value, NULL);
}

// Loads `words` words; `extra` is the source size or the predicate that says to ignore the source.
static bool load_source(Fn *fn, const PtxOperand *extra, const Address *source, uint32_t words, Vref refs[4]) {
  const RegisterState *state = extra ? operand_state(fn, extra) : NULL;
  bool ignore = state && state->width == 0;
  Value size = value_of_bits(4 * words), zero = value_of_bits(0);
  if (extra && !ignore && !read_value(fn, extra, PTX_U32, &size)) return false;
  bool whole = !ignore && size.fact.kind == FACT_IMMEDIATE && size.fact.bits >= 4 * words;
  Vref predicate = VREF_NONE;
  if (ignore) {
    Value told;
    if (!read_predicate(fn, extra, &told)) return false;
    Vref wanted = VREF(temp(fn, 0));
    MirInstr *out = emit(fn, row(fn, "mov.pred"));
    out->pd[0] = wanted;
    out->ps = told.ref;
    out->ps_negated = !told.negated;
    predicate = under_guard(fn, wanted);
  }
  for (uint32_t i = 0; i < words; i++) {
    refs[i] = VREF(temp(fn, 1));
    if (whole) {
      load_word(fn, source, refs[i], 4 * i, VREF_NONE);
    } else if (ignore) {
      move_value(fn, false, refs[i], 1, &zero);
      load_word(fn, source, refs[i], 4 * i, predicate);
    } else {
      load_part(fn, source, &size, refs[i], i);
    }
  }
  return true;
}

static bool lower_copy(Fn *fn, const PtxInstr *instr) {
  Address source, target;
  if (!expect_operands(fn, instr, 3, 5)) return false;
  const PtxOperand *size = &instr->operands[2];
  bool legal = size->kind == PTX_INT && (size->bits == 4 || size->bits == 8 || size->bits == 16);
  if (!legal) return complain(fn, size->place, "4, 8 or 16 bytes can be copied at once");
  bool hint = has_part(instr, "L2::cache_hint");
  const PtxOperand *extra = instr->operand_count > (hint ? 4u : 3u) ? &instr->operands[3] : NULL;
  if (!read_address(fn, &instr->operands[0], PTX_SPACE_SHARED, &target)) return false;
  if (!read_address(fn, &instr->operands[1], PTX_SPACE_GLOBAL, &source)) return false;
  uint32_t words = (uint32_t)size->bits / 4;
  Vref refs[4] = {VREF_NONE, VREF_NONE, VREF_NONE, VREF_NONE};
  settle_address(fn, &source);
  settle_address(fn, &target);
  if (!load_source(fn, extra, &source, words, refs)) return false;
  MirInstr *out = emit_guarded(fn, row(fn, "st.shared.b32"));
  memcpy(out->d, refs, sizeof refs);
  out->a = target.base;
  out->imm = (uint32_t)(int32_t)target.offset;
  out->mods |= (uint16_t)((words == 4 ? 2u : words == 2 ? 1u : 0u) << MOD_VECTOR_SHIFT);
  return true;
}

// ---- mbarrier ----------------------------------------------------------------------------------
bool barrier_address(Fn *fn, const PtxInstr *instr, const PtxOperand *operand, Address *address) {
  bool shared = has_part(instr, "shared") || has_part(instr, "shared::cta") || has_part(instr, "shared::cluster");
  if (!read_address(fn, operand, shared ? PTX_SPACE_SHARED : PTX_SPACE_NONE, address)) return false;
  settle_address(fn, address);
  return true;
}

static void put_barrier(MirInstr *out, const Address *address) {
  out->a = address->base;
  out->imm = (uint32_t)(int32_t)address->offset;
  if (address->address32) out->mods |= MOD_ADDRESS32 & op_legal_mods((Op)out->op);
}

static void add_to_barrier(Fn *fn, const Address *address, Vref old, Vref addend, Vref predicate) {
  Op op = row(fn, address->space == SPACE_SHARED ? "atom.shared.add.u64" : "atom.add.u64");
  MirInstr *out = predicate.vreg == VREG_NONE ? emit_guarded(fn, op) : emit(fn, op);
  if (predicate.vreg != VREG_NONE) out->guard = predicate;
  out->d[0] = old;
  out->b = addend;
  put_barrier(out, address);
}

// 64-bit helpers on temporaries.
static Vref wide(Fn *fn, const char *text, const Value *a, const Value *b) {
  Vref d = VREF(temp(fn, 2));
  emit_alu(fn, row(fn, text), d, a, b, NULL);
  return d;
}

static Value field(Fn *fn, Vref word, unsigned shift) {
  Value value = value_of_vref(word, 2), amount = value_of_bits(shift), mask = value_of_bits(MBARRIER_MASK);
  if (shift) value = value_of_vref(wide(fn, "shr.b64", &value, &amount), 2);
  return value_of_vref(wide(fn, "and.b64", &value, &mask), 2);
}

static bool read_count(Fn *fn, const PtxOperand *operand, Value *count) {
  Vref low;
  *count = value_of_bits(1);
  if (!operand) return true;
  if (operand_is_literal(operand)) {
    *count = value_of_bits(operand->bits & MBARRIER_MASK);
    return true;
  }
  if (!read_register(fn, operand, PTX_U32, 1, &low)) return false;
  Value narrow = value_of_vref(low, 1);
  Vref both = VREF(temp(fn, 2));
  emit_alu(fn, row(fn, "cvt.u64.u32"), both, &narrow, NULL, NULL);
  *count = value_of_vref(both, 2);
  return true;
}

// count | count << 20: an arrival that also leaves, or a fresh barrier.
static Value doubled(Fn *fn, const Value *count) {
  Value amount = value_of_bits(MBARRIER_COUNT);
  if (!count->in_register) return value_of_bits(count->fact.bits | count->fact.bits << MBARRIER_COUNT);
  Value shifted = value_of_vref(wide(fn, "shl.b64", count, &amount), 2);
  return value_of_vref(wide(fn, "or.b64", count, &shifted), 2);
}

static Value transactions(Fn *fn, const Value *bytes) {
  Value amount = value_of_bits(MBARRIER_TX);
  if (!bytes->in_register) return value_of_bits(bytes->fact.bits << MBARRIER_TX);
  return value_of_vref(wide(fn, "shl.b64", bytes, &amount), 2);
}

// Adds to the barrier; if nothing is open afterwards, the next phase begins. `old`: what was there before.
static Vref change_barrier(Fn *fn, const Address *address, const Value *addend) {
  Vref old = VREF(temp(fn, 2)), last = VREF(temp(fn, 0));
  add_to_barrier(fn, address, old, value_register(fn, addend, 2), VREF_NONE);
  Value before = value_of_vref(old, 2), open = value_of_bits(MBARRIER_OPEN), none = value_of_bits(MBARRIER_NO_TX);
  Vref after = wide(fn, "add.b64", &before, addend);
  Value after_value = value_of_vref(after, 2), phase = value_of_bits(UINT64_C(1) << MBARRIER_PHASE);
  Value left = value_of_vref(wide(fn, "and.b64", &after_value, &open), 2), next = field(fn, after, MBARRIER_COUNT);
  emit_alu(fn, row(fn, "setp.eq.b64"), VREF_NONE, &left, &none, NULL)->pd[0] = last;
  Vref begun = wide(fn, "add.b64", &next, &phase); // before the guard's code: C leaves the order of two arguments to the compiler
  add_to_barrier(fn, address, VREF_NONE, begun, under_guard(fn, last));
  return old;
}

bool read_bytes(Fn *fn, const PtxOperand *operand, Value *bytes) { return read_count(fn, operand, bytes); }

void complete_transactions(Fn *fn, const Address *address, const Value *bytes) {
  Value done = transactions(fn, bytes), zero = value_of_bits(0);
  Value minus = value_of_vref(wide(fn, "sub.b64", &zero, &done), 2);
  (void)change_barrier(fn, address, &minus);
}

bool counts_at_barrier(const PtxInstr *instr) { return has_part(instr, "mbarrier::complete_tx::bytes"); }

bool count_at_barrier(Fn *fn, const PtxInstr *instr, uint32_t bytes) {
  Address barrier;
  Value done = value_of_bits(bytes);
  if (!counts_at_barrier(instr)) return true;
  if (!barrier_address(fn, instr, &instr->operands[2], &barrier)) return false;
  complete_transactions(fn, &barrier, &done);
  return true;
}

bool is_async_part(const PtxInstr *instr, Slice part) {
  bool may = slice_is(instr->parts[0], "st") || slice_is(instr->parts[0], "red");
  if (!may || instr->part_count < 2 || !slice_is(instr->parts[1], "async")) return false;
  return slice_is(part, "async") || slice_is(part, "mbarrier::complete_tx::bytes");
}

// `extra`: the number of arrivals; with `expects`, bytes that are expected beside the one arrival.
static bool lower_arrive(Fn *fn, const PtxInstr *instr, const PtxOperand *state, const PtxOperand *place, const PtxOperand *extra,
                         bool drop) {
  Address address;
  Value count = value_of_bits(1), bytes = value_of_bits(0);
  Vref d = VREF_NONE;
  bool expects = has_part(instr, "expect_tx");
  if (state && !write_register(fn, state, 2, &d)) return false;
  if (!barrier_address(fn, instr, place, &address) || !read_count(fn, extra, expects ? &bytes : &count)) return false;
  Value taken = drop ? doubled(fn, &count) : count, more = transactions(fn, &bytes);
  Value addend = value_of_vref(wide(fn, "sub.b64", &more, &taken), 2), result = value_of_vref(change_barrier(fn, &address, &addend), 2);
  if (d.vreg != VREG_NONE) move_value(fn, true, d, 2, &result);
  return true;
}

// expect_tx, complete_tx [barrier], bytes.
static bool lower_transactions(Fn *fn, const PtxInstr *instr, bool completes) {
  Address address;
  Value bytes;
  if (!expect_operands(fn, instr, 2, 2)) return false;
  if (!barrier_address(fn, instr, &instr->operands[0], &address) || !read_count(fn, &instr->operands[1], &bytes)) return false;
  if (completes) {
    complete_transactions(fn, &address, &bytes);
    return true;
  }
  Value more = transactions(fn, &bytes);
  (void)change_barrier(fn, &address, &more);
  return true;
}

static bool lower_barrier_init(Fn *fn, const PtxInstr *instr) {
  Address address;
  Value count;
  if (!expect_operands(fn, instr, 2, 2)) return false;
  if (!barrier_address(fn, instr, &instr->operands[0], &address) || !read_count(fn, &instr->operands[1], &count)) return false;
  Value counts = doubled(fn, &count), none = value_of_bits(MBARRIER_NO_TX);
  Value word = counts.in_register ? value_of_vref(wide(fn, "or.b64", &counts, &none), 2) : value_of_bits(counts.fact.bits | MBARRIER_NO_TX);
  Vref data = value_register(fn, &word, 2);
  MirInstr *out = emit_guarded(fn, row(fn, address.space == SPACE_SHARED ? "st.shared.b64" : "st.b64"));
  out->d[0] = data;
  put_barrier(out, &address);
  return true;
}

// test_wait, try_wait p, [barrier], state-or-parity [, time]: p = that phase is over.
static bool lower_barrier_wait(Fn *fn, const PtxInstr *instr) {
  Address address;
  Vref p, state, word = VREF(temp(fn, 2));
  bool parity = has_part(instr, "parity");
  if (!expect_operands(fn, instr, 3, 4) || !write_predicate(fn, &instr->operands[0], &p)) return false;
  if (!barrier_address(fn, instr, &instr->operands[1], &address)) return false;
  if (!read_register(fn, &instr->operands[2], parity ? PTX_U32 : PTX_B64, parity ? 1 : 2, &state)) return false;
  MirInstr *load = emit_guarded(fn, row(fn, address.space == SPACE_SHARED ? "ld.shared.b64" : "ld.b64"));
  load->d[0] = word;
  load->mods = MOD_VOLATILE;
  put_barrier(load, &address);
  // The phase's number is at the top of the upper half.
  Value now = value_of_vref(vref_part(word, 1), 1), then = value_of_vref(parity ? state : vref_part(state, 1), 1);
  Value shift = value_of_bits(MBARRIER_PHASE - 32), one = value_of_bits(1);
  Vref phase = VREF(temp(fn, 1)), other = VREF(temp(fn, 1));
  emit_alu(fn, row(fn, "shr.b32"), phase, &now, &shift, NULL);
  Value phase_value = value_of_vref(phase, 1), other_value = value_of_vref(other, 1);
  if (parity) {
    emit_alu(fn, row(fn, "and.b32"), phase, &phase_value, &one, NULL);
    emit_alu(fn, row(fn, "and.b32"), other, &then, &one, NULL);
  } else {
    emit_alu(fn, row(fn, "shr.b32"), other, &then, &shift, NULL);
  }
  emit_alu_guarded(fn, OP_SETP_NE_B32, VREF_NONE, &phase_value, &other_value, NULL)->pd[0] = p;
  // Whoever asks again lets the others run first.
  Value pause = value_of_bits(20);
  emit_alu_guarded(fn, OP_NANOSLEEP, VREF_NONE, &pause, NULL, NULL);
  return true;
}

static bool lower_pending_count(Fn *fn, const PtxInstr *instr) {
  Vref d, state;
  if (!expect_operands(fn, instr, 2, 2) || !write_register(fn, &instr->operands[0], 1, &d)) return false;
  if (!read_register(fn, &instr->operands[1], PTX_B64, 2, &state)) return false;
  Value low = value_of_vref(state, 1), mask = value_of_bits(MBARRIER_MASK);
  emit_alu_guarded(fn, row(fn, "and.b32"), d, &low, &mask, NULL);
  return true;
}

bool lower_mbarrier(Fn *fn, const PtxInstr *instr) {
  if (instr->part_count < 2) return unsupported(fn, instr);
  Slice what = instr->parts[1];
  if (slice_is(what, "expect_tx") || slice_is(what, "complete_tx")) return lower_transactions(fn, instr, slice_is(what, "complete_tx"));
  if (slice_is(what, "init")) return lower_barrier_init(fn, instr);
  if (slice_is(what, "inval")) return expect_operands(fn, instr, 1, 1);
  if (slice_is(what, "test_wait") || slice_is(what, "try_wait")) return lower_barrier_wait(fn, instr);
  if (slice_is(what, "pending_count")) return lower_pending_count(fn, instr);
  bool drop = slice_is(what, "arrive_drop");
  if (!drop && !slice_is(what, "arrive")) return unsupported(fn, instr);
  if (!expect_operands(fn, instr, 1, 3)) return false;
  bool has_state = instr->operands[0].kind != PTX_ADDRESS;
  if (has_state && instr->operand_count < 2) return expect_operands(fn, instr, 2, 3);
  const PtxOperand *place = &instr->operands[has_state];
  const PtxOperand *count = instr->operand_count > 1u + has_state ? place + 1 : NULL;
  return lower_arrive(fn, instr, has_state ? &instr->operands[0] : NULL, place, count, drop);
}

bool lower_cp(Fn *fn, const PtxInstr *instr) {
  if (instr->part_count < 3 || !(slice_is(instr->parts[1], "async") || slice_is(instr->parts[1], "reduce"))) return unsupported(fn, instr);
  Slice what = instr->parts[2];
  if (slice_is(what, "bulk") || slice_is(instr->parts[1], "reduce")) return lower_bulk(fn, instr);
  if (slice_is(what, "ca") || slice_is(what, "cg")) return lower_copy(fn, instr);
  if (slice_is(what, "commit_group") || slice_is(what, "wait_all")) return expect_operands(fn, instr, 0, 0);
  if (slice_is(what, "wait_group")) return expect_operands(fn, instr, 1, 1);
  if (!slice_is(what, "mbarrier")) return unsupported(fn, instr);
  if (!expect_operands(fn, instr, 1, 1)) return false;
  // Without .noinc the arrival undoes its own increment; the copies are over already.
  return !has_part(instr, "noinc") || lower_arrive(fn, instr, NULL, &instr->operands[0], NULL, false);
}
