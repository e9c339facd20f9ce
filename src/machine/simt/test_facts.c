// Facts of instructions: those of the program's own stand in the table, all others are worked out, and both say the same.
#include "machine/simt/facts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

// d = r4.., a = r10.., b = r20.., c = r30..
static Instr instr_of(Op op) {
  Instr instr = instr_rest(op);
  instr.d[0] = 4, instr.a = 10, instr.b = 20, instr.c = 30;
  return instr;
}

static void rows_have_their_registers(void **state) {
  (void)state;
  for (uint32_t op = 0; op < OP_COUNT; op++) {
    Instr instr = instr_of((Op)op);
    Facts facts;
    facts_make(&instr, &facts);
    for (unsigned operand = OPERAND_A; operand <= OPERAND_C; operand++) {
      for (unsigned k = 0; k < facts.sources.count[operand]; k++) {
        assert_int_equal(facts.registers[facts.sources.first[operand] + k], operand_register(&instr, operand) + k);
      }
    }
    assert_int_equal(facts.port, port_of(&instr));
    assert_int_equal(facts.results.rows, operand_results(&instr).rows);
    assert_int_equal(facts.value_row, NO_ROW);
  }
}

// What the collector adds a warp's first row to, all sources at once.
static void source_words_say_what_the_rows_say(void **state) {
  (void)state;
  const uint8_t selects[] = {SELECT_REGISTERS, SELECT_IMM_A, SELECT_IMM_B, SELECT_CONST_A};
  for (uint32_t i = 0; i < OP_COUNT * COUNT_OF(selects); i++) {
    Instr instr = instr_of((Op)(i % OP_COUNT));
    Facts facts;
    instr.select = selects[i / OP_COUNT];
    if (instr.select == SELECT_CONST_A && op_info[instr.op].a == TYPE_none) continue;
    facts_make(&instr, &facts);
    for (uint32_t row = 0; row < SOURCES_AT_ONCE; row++) {
      uint32_t shift = row * SOURCE_BITS, used = row < facts.sources.rows, is_register = facts.register_rows >> row & 1;
      assert_int_equal(facts.source_registers >> shift & 0xFFFF, is_register ? 0xFFFF : 0);
      assert_int_equal(facts.source_others >> shift & 0xFFFF, used && !is_register ? SOURCE_NONE : 0);
      assert_int_equal(facts.source_numbers >> shift & 0xFFFF, is_register ? facts.registers[row] : 0);
    }
  }
}

static void an_immediate_has_no_register(void **state) {
  (void)state;
  Instr instr = instr_of(OP_ADD_B32);
  Facts facts;
  instr.select = SELECT_IMM_B;
  facts_make(&instr, &facts);
  assert_int_equal(facts.value_row, facts.sources.first[OPERAND_B]);
  assert_int_equal(facts.value_operand, OPERAND_B);
  assert_int_equal(facts.registers[facts.value_row], REG_ZERO);
  assert_int_equal(facts.registers[facts.sources.first[OPERAND_A]], 10);
}

static void a_damaged_word_is_worked_out(void **state) {
  (void)state;
  Instr code[3] = {instr_of(OP_ADD_B32), instr_of(OP_ADD_B64), instr_of(OP_ADD_B32)}, damaged = code[1];
  Program program = {.decoded = code, .code_count = 3, .hash = 1};
  Simt m = {.program = &program};
  Facts scratch;
  memset(&scratch, 0, sizeof scratch);
  facts_prepare(&m);
  assert_ptr_equal(facts_at(&m, &code[1], &scratch), &m.facts[1]);
  damaged.d[0] = 77;
  const Facts *facts = facts_at(&m, &damaged, &scratch);
  assert_ptr_equal(facts, &scratch);
  assert_int_equal(facts->writes.registers[1], UINT64_C(3) << (77 - 64));
  assert_int_equal(m.facts[1].writes.registers[0], UINT64_C(3) << 4);
  code[0].d[0] = 9; // another program in the same place
  program.hash = 2;
  facts_prepare(&m);
  assert_int_equal(m.facts[0].writes.registers[0], UINT64_C(1) << 9);
  facts_free(&m);
}

static void instructions_are_in_their_classes(void **state) {
  (void)state;
  const struct {
    Op op;
    Timing timing;
  } cases[] = {
      {OP_ADD_B32, TIMING_add},
      {OP_SUB_B64, TIMING_add},
      {OP_SHL_B32, TIMING_shift},
      {OP_SELP_B32, TIMING_compare},
      {OP_AND_B32, TIMING_logic},
      {OP_MOV_B32, TIMING_logic},
      {OP_S2R, TIMING_logic},
      {OP_CVT_S64_S32, TIMING_logic},
      {OP_MUL_LO_B32, TIMING_OF_UNIT},
      {OP_MAD_LO_B32, TIMING_imad},
      {OP_DIV_U32, TIMING_OF_UNIT},
      {OP_REM_U32, TIMING_rem},
      {OP_ADD_RN_F32, TIMING_OF_UNIT},
      {OP_FMA_RN_F32, TIMING_fma},
      {OP_DIV_RN_F32, TIMING_fdiv},
      {OP_DIV_APPROX_F32, TIMING_OF_UNIT},
      {OP_RCP_APPROX_F32, TIMING_OF_UNIT},
      {OP_CVT_RN_F32_S32, TIMING_convert},
      {OP_ADD_RN_F64, TIMING_OF_UNIT},
      {OP_FMA_RN_F64, TIMING_fp64_fma},
      {OP_DIV_RN_F64, TIMING_fp64_div},
      {OP_MIN_F64, TIMING_fp64_minmax},
      {OP_BRA, TIMING_OF_UNIT},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    if (timing_of(cases[i].op) != cases[i].timing) fail_msg("%s: class %d", op_info[cases[i].op].text, timing_of(cases[i].op));
  }
}

static void a_class_without_times_has_its_units(void **state) {
  (void)state;
  Simt m = {.unit_latency = {[UNIT_FP32] = 4}, .unit_interval = {[UNIT_FP32] = 2}};
  Instr fma_instr = instr_of(OP_FMA_RN_F32), add_instr = instr_of(OP_ADD_RN_F32);
  Facts fma, add;
  facts_make(&fma_instr, &fma);
  facts_make(&add_instr, &add);
  assert_int_equal(latency_of(&m, &fma), 4);
  assert_int_equal(interval_of(&m, &fma), 2);
  Spec spec = {.latency_fma = 9, .interval_fma = 3};
  m.spec = &spec;
  timing_prepare(&m);
  assert_int_equal(latency_of(&m, &fma), 9);
  assert_int_equal(interval_of(&m, &fma), 3);
  assert_int_equal(latency_of(&m, &add), 4);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_have_their_registers),           cmocka_unit_test(instructions_are_in_their_classes),
      cmocka_unit_test(a_class_without_times_has_its_units), cmocka_unit_test(an_immediate_has_no_register),
      cmocka_unit_test(source_words_say_what_the_rows_say),  cmocka_unit_test(a_damaged_word_is_worked_out)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
