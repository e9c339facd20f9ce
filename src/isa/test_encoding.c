// Encoding and decoding are inverses: for random legal instructions of every row, and for random words,
// which decode to nothing or encode back to themselves. Also the index, immediates and text.
#include "isa/isa.h"

#include <setjmp.h>
#include <stdio.h>

#include <cmocka.h>

// ---- Random instructions ---------------------------------------------------------------------------
typedef struct Random {
  uint64_t index, draw;
} Random;
static uint32_t below(Random *random, uint32_t bound) {
  return (uint32_t)random_below(random_draw(17, random->index, random->draw++), bound);
}

static uint16_t random_mods(Op op, Random *random) {
  uint16_t mods = op_legal_mods(op) & (uint16_t)below(random, 1 << 12);
  if (mods & MOD_VECTOR_MASK && (mods & MOD_VECTOR_MASK) == MOD_VECTOR_MASK && op_info[op].space != SPACE_NONE)
    mods &= (uint16_t) ~(1u << MOD_VECTOR_SHIFT);
  return mods;
}

static bool imm_is_free(const OpInfo *row) {
  if (row->flags & IT_IMM || row->space != SPACE_NONE || row->kind == KIND_MATRIX || row->kind == KIND_TEXTURE) return true;
  return row->flags & (IT_BRANCH | IT_CALLS) && !(row->flags & IT_INDIRECT);
}

static bool takes_selected(const OpInfo *row) {
  if (row->flags & IT_IMM) return false;
  return row->kind == KIND_ALU || row->kind == KIND_WARP || row->kind == KIND_BARRIER || row->kind == KIND_SYSTEM;
}

static void random_operand(Instr *instr, OperandUse use, Random *random) {
  uint8_t number = (uint8_t)below(random, 16);
  if (!use.predicate) number = below(random, 8) == 0 ? REG_ZERO : (uint8_t)below(random, MAX_REGISTERS - use.registers + 1u);
  if (use.operand < OPERAND_A) instr->d[use.operand] = number;
  else if (use.operand == OPERAND_A) instr->a = number;
  else if (use.operand == OPERAND_B) instr->b = number;
  else if (use.operand == OPERAND_C) instr->c = number;
  else if (use.operand < OPERAND_PS) instr->pd[use.operand - OPERAND_PD] = number;
  else if (use.operand == OPERAND_PS) instr->ps = number, instr->ps_negated = below(random, 2);
  else instr->guard = number, instr->guard_negated = below(random, 2);
}

// Turns one register source into an immediate or a constant.
static void random_select(Instr *instr, OperandUse use, Random *random) {
  if (use.operand < OPERAND_A || use.operand > OPERAND_C || use.predicate || use.registers > 2 || below(random, 4)) return;
  if (instr->select != SELECT_REGISTERS) return;
  bool is_const = below(random, 2);
  instr->select = (uint8_t)((is_const ? SELECT_CONST_A : SELECT_IMM_A) + use.operand - OPERAND_A);
  instr->imm = is_const ? below(random, BANK_COUNT) << 24 | below(random, 1 << 24) : below(random, UINT32_MAX);
  *(use.operand == OPERAND_A ? &instr->a : use.operand == OPERAND_B ? &instr->b : &instr->c) = REG_ZERO;
}

static Instr random_instr(Op op, Random *random) {
  const OpInfo *row = &op_info[op];
  Instr instr = instr_rest(op);
  instr.mods = random_mods(op, random);
  OperandUse uses[MAX_OPERANDS];
  unsigned count = op_operands(op, instr.mods, SELECT_REGISTERS, uses);
  for (unsigned i = 0; i < count; i++) {
    random_operand(&instr, uses[i], random);
    if (takes_selected(row)) random_select(&instr, uses[i], random);
  }
  if (imm_is_free(row)) instr.imm = below(random, UINT32_MAX);
  if (row->kind == KIND_SREG) instr.imm = below(random, SREG_COUNT);
  if (row->flags & IT_BRANCH) instr.reconverge = below(random, 1 << 24);
  return instr;
}

static void assert_same_instr(const Instr *x, const Instr *y) {
  const char *text = op_info[x->op].text;
  bool is_same = x->op == y->op && x->mods == y->mods && x->select == y->select && x->guard == y->guard &&
                 x->guard_negated == y->guard_negated && memcmp(x->pd, y->pd, sizeof x->pd) == 0 && x->ps == y->ps &&
                 x->ps_negated == y->ps_negated && memcmp(x->d, y->d, sizeof x->d) == 0 && x->a == y->a && x->b == y->b && x->c == y->c &&
                 x->imm == y->imm && x->reconverge == y->reconverge;
  if (!is_same) fail_msg("%s came back different", text);
}

static void every_row_comes_back(void **state) {
  (void)state;
  for (unsigned op = 0; op < OP_COUNT; op++)
    for (uint64_t round = 0; round < 200; round++) {
      Random random = {op * 1000 + round, 0};
      Instr instr = random_instr((Op)op, &random), back;
      if (!instr_decode(instr_encode(&instr), &back)) fail_msg("%s, round %d: legal but does not decode", op_info[op].text, (int)round);
      assert_same_instr(&instr, &back);
    }
}

// Flipping any one bit of a legal word gives an illegal word or another canonical one.
static void single_flips_stay_canonical(void **state) {
  (void)state;
  unsigned legal = 0, illegal = 0;
  for (unsigned op = 0; op < OP_COUNT; op++)
    for (unsigned bit = 0; bit < 128; bit++) {
      Random random = {op, 0};
      Instr instr = random_instr((Op)op, &random), back;
      InstrWord word = instr_encode(&instr);
      *(bit < 64 ? &word.low : &word.high) ^= UINT64_C(1) << bit % 64;
      if (!instr_decode(word, &back)) {
        illegal++;
        continue;
      }
      legal++;
      InstrWord again = instr_encode(&back);
      assert_true(again.low == word.low && again.high == word.high);
    }
  assert_true(legal > 0 && illegal > 0);
}

// Random words with a known operation, so that many of them come close to legal; and wholly random ones.
static void random_words_are_canonical_or_illegal(void **state) {
  (void)state;
  unsigned legal = 0;
  for (uint64_t i = 0; i < 1500000; i++) {
    InstrWord word = {random_draw(3, i, 0), random_draw(3, i, 1)};
    if (i % 4) word.low = (word.low & ~UINT64_C(0xFFF00FFF)) | random_below(random_draw(3, i, 2), OP_COUNT);
    if (i % 4 >= 2) word.low |= UINT64_C(0xFFFF00) << 40, word.high |= UINT64_C(0xFFFFFFFF) << 32;
    if (i % 4 == 3) word.high &= UINT64_C(0xFFFFFFFF00000000), word.low &= ~UINT64_C(0xE0000);
    Instr instr;
    if (!instr_decode(word, &instr)) continue;
    legal++;
    InstrWord again = instr_encode(&instr);
    if (again.low != word.low || again.high != word.high) fail_msg("%s: decodes, but not to the same word", op_info[instr.op].text);
  }
  assert_true(legal > 10000);
}

// ---- Words that must not decode ------------------------------------------------------------------------
static bool decodes(const Instr *instr) {
  Instr back;
  return instr_decode(instr_encode(instr), &back);
}

static Instr add_instr(void) {
  Instr instr = instr_rest(OP_ADD_B32);
  instr.d[0] = 1, instr.a = 2, instr.b = 3;
  return instr;
}

static void illegal_words_do_not_decode(void **state) {
  (void)state;
  Instr instr = add_instr();
  assert_true(decodes(&instr));
  instr.c = 4; // an unused register not at rest
  assert_false(decodes(&instr));
  instr = add_instr(), instr.mods = MOD_FTZ;
  assert_false(decodes(&instr));
  instr = add_instr(), instr.imm = 1;
  assert_false(decodes(&instr));
  instr = add_instr(), instr.pd[0] = 1;
  assert_false(decodes(&instr));
  instr = add_instr(), instr.select = SELECT_IMM_B; // b must rest
  assert_false(decodes(&instr));
  instr.b = REG_ZERO;
  assert_true(decodes(&instr));
  instr.select = SELECT_IMM_C; // add has no c
  assert_false(decodes(&instr));
  instr.select = SELECT_CONST_B, instr.imm = BANK_COUNT << 24;
  assert_false(decodes(&instr));
  instr = instr_rest(OP_ADD_B64), instr.d[0] = 254, instr.a = instr.b = 0; // the pair would be r254:r255
  assert_false(decodes(&instr));
  instr.d[0] = 253;
  assert_true(decodes(&instr));
  instr = instr_rest(OP_LD_GLOBAL_B32), instr.mods = MOD_VECTOR_MASK; // vectors have 1, 2 or 4 elements
  assert_false(decodes(&instr));
  instr = instr_rest(OP_S2R), instr.imm = SREG_COUNT;
  assert_false(decodes(&instr));
  InstrWord unknown = {OP_COUNT, 0};
  assert_false(instr_decode(unknown, &instr));
}

// ---- Operands ------------------------------------------------------------------------------------------
typedef struct UseCase {
  Op op;
  uint16_t mods;
  const char *uses; // operand letters with register counts; lower-case p = predicates; ! = written
} UseCase;

static void add_use(OperandUse use, Text *out) {
  static const char *const names[] = {"d0", "d1", "d2", "d3", "a", "b", "c", "pd0", "pd1", "ps", "guard"};
  if (use.operand == OPERAND_GUARD) return;
  text_add(out, "%s%s%s", out->length ? " " : "", names[use.operand], use.written ? "!" : "");
  if (use.predicate) text_add(out, ":p");
  else text_add(out, ":%u", use.registers);
}

static void rows_use_the_right_operands(void **state) {
  (void)state;
  static const UseCase cases[] = {
      {OP_ADD_B64, 0, "d0!:2 a:2 b:2"},
      {OP_LD_GLOBAL_B64, 1 << MOD_VECTOR_SHIFT, "d0!:2 d1!:2 a:2"},
      {OP_LD_GLOBAL_B32, 2 << MOD_VECTOR_SHIFT | MOD_ADDRESS32, "d0!:1 d1!:1 d2!:1 d3!:1 a:1"},
      {OP_ST_SHARED_B32, 1 << MOD_VECTOR_SHIFT, "d0:1 d1:1 a:1"},
      {OP_ATOM_GLOBAL_CAS_B32, 0, "d0!:1 a:2 b:1 c:1"},
      {OP_ATOM_GLOBAL_CAS_B64, MOD_ADDRESS32, "d0!:2 a:1 b:2 c:2"},
      {OP_ATOM_SHARED_ADD_U64, 0, "d0!:2 a:1 b:2"},
      {OP_SETP_LT_S32, 0, "a:1 b:1 pd0!:p pd1!:p"},
      {OP_MADC_LO_CC_B32, 0, "d0!:1 a:1 b:1 c:1 pd0!:p ps:p"},
      {OP_SELP_B64, 0, "d0!:2 a:2 b:2 ps:p"},
      {OP_AND_PRED, 0, "a:p pd0!:p pd1!:p ps:p"},
      {OP_SHFL_SYNC_UP_B32, 0, "d0!:1 a:1 b:1 c:1 pd0!:p pd1!:p"},
      {OP_SHFL_SYNC_UP_B32, MOD_FULL_MASK, "d0!:1 a:1 b:1 pd0!:p pd1!:p"},
      {OP_VOTE_SYNC_BALLOT_B32, MOD_FULL_MASK, "d0!:1 ps:p"},
      {OP_BAR_WARP_SYNC, MOD_FULL_MASK, ""},
      {OP_MATCH_ANY_SYNC_B64, 0, "d0!:1 a:2 b:1"},
      {OP_BRA, 0, ""},
      {OP_CALL_INDIRECT, 0, "a:2"},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    OperandUse uses[MAX_OPERANDS];
    Text text = {0};
    text_add(&text, "%s", "");
    unsigned count = op_operands(cases[i].op, cases[i].mods, SELECT_REGISTERS, uses);
    for (unsigned k = 0; k < count; k++) add_use(uses[k], &text);
    assert_string_equal(text.at, cases[i].uses);
    text_free(&text);
  }
}

// ---- Immediates, index, text ----------------------------------------------------------------------------
static void immediates_stand_for_values(void **state) {
  (void)state;
  static const struct {
    TypeId type;
    uint64_t value;
    bool fits;
    uint32_t imm;
  } cases[] = {
      {TYPE_u32, 0xFFFFFFFF, true, 0xFFFFFFFF},
      {TYPE_u64, 0x7FFFFFFF, true, 0x7FFFFFFF},
      {TYPE_u64, 0x80000000, false, 0},
      {TYPE_s64, UINT64_C(0xFFFFFFFF80000000), true, 0x80000000},
      {TYPE_s64, UINT64_C(0xFFFFFFFF7FFFFFFF), false, 0},
      {TYPE_f64, UINT64_C(0x3FF0000000000000), true, 0x3FF00000},
      {TYPE_f64, UINT64_C(0x3FF0000000000001), false, 0},
      {TYPE_f32, 0x3F800000, true, 0x3F800000},
      {TYPE_s16, UINT64_C(0xFFFFFFFFFFFFFFFF), true, 0xFFFF},
      {TYPE_u8, 0x1FF, true, 0xFF},
      {TYPE_none, 0, false, 0},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    uint32_t imm = 0;
    assert_int_equal(imm_fits(cases[i].type, cases[i].value, &imm), cases[i].fits);
    if (cases[i].fits) assert_int_equal(imm, cases[i].imm);
  }
  assert_true(imm_value(TYPE_s64, 0xFFFFFFFF) == UINT64_MAX);
  assert_true(imm_value(TYPE_f64, 0xBFF00000) == UINT64_C(0xBFF0000000000000));
  assert_true(imm_value(TYPE_u16, 0x12345678) == 0x5678);
}

static void every_spelling_is_found_and_is_unique(void **state) {
  (void)state;
  Arena *arena = arena_new();
  OpIndex *index = op_index_new(arena);
  for (unsigned i = 0; i < OP_COUNT; i++) {
    Op op;
    assert_true(op_find(index, slice_of(op_info[i].text), &op));
    if (op != i) fail_msg("'%s' names two rows", op_info[i].text);
  }
  Op op;
  assert_false(op_find(index, slice_of("add"), &op));
  assert_false(op_find(index, slice_of(""), &op));
  arena_free(arena);
}

static void instructions_read_like_ptx(void **state) {
  (void)state;
  Instr add = instr_rest(OP_FMA_RN_F32);
  add.mods = MOD_FTZ | MOD_SAT, add.d[0] = 4, add.a = 5, add.c = 6, add.select = SELECT_CONST_B, add.imm = 8;
  add.guard = 1, add.guard_negated = true;
  Instr load = instr_rest(OP_LD_GLOBAL_B32);
  load.mods = 1 << MOD_VECTOR_SHIFT | MOD_NON_COHERENT, load.d[0] = 2, load.d[1] = 3, load.a = 8, load.imm = (uint32_t)-16;
  Instr store = instr_rest(OP_ST_SHARED_B64);
  store.d[0] = 6, store.a = 1;
  Instr branch = instr_rest(OP_BRA);
  branch.imm = 12, branch.reconverge = 40, branch.guard = 0;
  Instr sreg = instr_rest(OP_S2R);
  sreg.d[0] = 0, sreg.imm = SREG_TID_X;
  Instr set = instr_rest(OP_SETP_LT_S32);
  set.pd[0] = 2, set.a = 1, set.select = SELECT_IMM_B, set.imm = 10;
  Instr logic = instr_rest(OP_AND_PRED);
  logic.pd[0] = 1, logic.a = 2, logic.ps = 3, logic.ps_negated = true;
  const struct {
    const Instr *instr;
    const char *text;
  } cases[] = {
      {&add, "@!p1 fma.rn.ftz.sat.f32 r4, r5, c[0][0x8], r6"},
      {&load, "ld.global.nc.v2.b32 r2, r3, [r8:r9-16]"},
      {&store, "st.shared.b64 [r1], r6:r7"},
      {&branch, "@p0 bra 12 (meet at 40)"},
      {&sreg, "mov.sreg.u32 r0, %tid.x"},
      {&set, "setp.lt.s32 p2, r1, 0xa"},
      {&logic, "and.pred p1, p2, !p3"},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    Text text = {0};
    instr_format(cases[i].instr, &text);
    assert_string_equal(text.at, cases[i].text);
    text_free(&text);
  }
}

static void every_row_is_in_the_manual(void **state) {
  (void)state;
  Text text = {0};
  instructions_markdown(&text);
  for (unsigned op = 0; op < OP_COUNT; op++) {
    char cell[128];
    snprintf(cell, sizeof cell, "| `%s` |", op_info[op].text);
    if (!strstr(text.at, cell)) fail_msg("%s is missing", op_info[op].text);
  }
  text_free(&text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_row_comes_back),
      cmocka_unit_test(single_flips_stay_canonical),
      cmocka_unit_test(random_words_are_canonical_or_illegal),
      cmocka_unit_test(illegal_words_do_not_decode),
      cmocka_unit_test(rows_use_the_right_operands),
      cmocka_unit_test(immediates_stand_for_values),
      cmocka_unit_test(every_spelling_is_found_and_is_unique),
      cmocka_unit_test(instructions_read_like_ptx),
      cmocka_unit_test(every_row_is_in_the_manual),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
