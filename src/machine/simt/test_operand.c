// Operand layouts of every row and modifier against op_operands, the one place that knows what a row uses.
#include "machine/simt/operand.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void check_layout(Op op, uint16_t mods) {
  Instr instr = instr_rest(op);
  instr.mods = mods;
  OperandRows sources = operand_sources(&instr);
  OperandResults results = operand_results(&instr);
  OperandUse uses[MAX_OPERANDS];
  unsigned count = op_operands(op, mods, SELECT_REGISTERS, uses), read = 0, written = 0, predicates = 0;
  for (unsigned i = 0; i < count; i++) {
    if (uses[i].operand >= OPERAND_PD && uses[i].operand < OPERAND_PS) predicates |= 1u << (uses[i].operand - OPERAND_PD);
    if (uses[i].predicate || uses[i].operand >= VALUE_OPERANDS) continue;
    if (uses[i].written) {
      assert_int_equal(uses[i].operand * results.registers, written);
      assert_int_equal(results.registers, uses[i].registers);
      written += uses[i].registers;
    } else {
      assert_int_equal(sources.first[uses[i].operand], read);
      assert_int_equal(sources.count[uses[i].operand], uses[i].registers);
      read += uses[i].registers;
    }
  }
  if (operand_full_mask(&instr) < VALUE_OPERANDS) {
    assert_int_equal(sources.first[operand_full_mask(&instr)], read);
    assert_int_equal(sources.count[operand_full_mask(&instr)], 1);
    read++;
  }
  assert_int_equal(sources.rows, read);
  assert_int_equal(results.rows, written);
  assert_int_equal(operand_predicates(&op_info[op]), predicates);
  assert_true(read <= SIMT_SOURCE_ROWS);
  assert_true(written <= SIMT_RESULT_ROWS);
}

static void note(Scoreboard *marks, const Instr *instr, const OperandUse *use) {
  const uint8_t names[MAX_OPERANDS] = {instr->d[0], instr->d[1],  instr->d[2],  instr->d[3], instr->a,    instr->b,
                                       instr->c,    instr->pd[0], instr->pd[1], instr->ps,   instr->guard};
  uint8_t name = names[use->operand];
  if (use->predicate && name != PRED_TRUE) marks->predicates |= UINT64_C(1) << name;
  for (unsigned i = 0; !use->predicate && name != REG_ZERO && i < use->registers; i++) {
    marks->registers[(name + i) / 64] |= UINT64_C(1) << (name + i) % 64;
  }
}

// Random registers and predicates in the operands that the row uses, at rest everywhere else.
static Instr random_operands(Op op, uint16_t mods, uint64_t *draws) {
  Instr instr = instr_rest(op);
  OperandUse uses[MAX_OPERANDS];
  instr.mods = mods;
  unsigned count = op_operands(op, mods, SELECT_REGISTERS, uses);
  for (unsigned i = 0; i < count; i++) {
    uint8_t *const places[MAX_OPERANDS] = {&instr.d[0], &instr.d[1],  &instr.d[2],  &instr.d[3], &instr.a,    &instr.b,
                                           &instr.c,    &instr.pd[0], &instr.pd[1], &instr.ps,   &instr.guard};
    uint64_t bits = random_draw(3, op, (*draws)++);
    uint64_t number = random_below(bits, uses[i].predicate ? PRED_TRUE + 1 : MAX_REGISTERS - uses[i].registers + 1);
    *places[uses[i].operand] = (uint8_t)(!uses[i].predicate && bits % 8 == 0 ? REG_ZERO : number);
  }
  return instr;
}

static void check_marks(Op op, uint16_t mods, uint64_t *draws) {
  Instr instr = random_operands(op, mods, draws);
  OperandUse uses[MAX_OPERANDS];
  unsigned count = op_operands(op, mods, SELECT_REGISTERS, uses);
  Scoreboard written = {{0}, 0}, all = {{0}, 0};
  for (unsigned i = 0; i < count; i++) {
    note(&all, &instr, &uses[i]);
    if (uses[i].written) note(&written, &instr, &uses[i]);
  }
  Scoreboard marks;
  operand_marks(&instr, false, &marks);
  assert_memory_equal(&marks, &written, sizeof marks);
  operand_marks(&instr, true, &marks);
  assert_memory_equal(&marks, &all, sizeof marks);
}

static void marks_agree_with_the_table(void **state) {
  (void)state;
  uint64_t draws = 0;
  for (unsigned op = 0; op < OP_COUNT; op++) {
    for (uint32_t mods = 0; mods < 1u << 12; mods++) {
      if ((mods & ~(uint32_t)op_legal_mods((Op)op)) == 0) check_marks((Op)op, (uint16_t)mods, &draws);
    }
  }
}

static void layouts_agree_with_the_table(void **state) {
  (void)state;
  for (unsigned op = 0; op < OP_COUNT; op++) {
    for (uint32_t mods = 0; mods < 1u << 12; mods++) {
      if ((mods & ~(uint32_t)op_legal_mods((Op)op)) == 0) check_layout((Op)op, (uint16_t)mods);
    }
  }
}

static void selected_slot_follows_the_select_field(void **state) {
  (void)state;
  Instr instr = instr_rest(OP_MAD_LO_B32);
  assert_int_equal(operand_selected(&instr), VALUE_OPERANDS);
  const unsigned operands[SELECT_COUNT] = {VALUE_OPERANDS, OPERAND_A, OPERAND_B, OPERAND_C, OPERAND_A, OPERAND_B, OPERAND_C};
  for (unsigned select = 1; select < SELECT_COUNT; select++) {
    instr.select = (uint8_t)select;
    assert_int_equal(operand_selected(&instr), operands[select]);
  }
}

static void registers_beyond_the_kernels_are_impossible(void **state) {
  (void)state;
  Instr instr = instr_rest(OP_ADD_RN_F64);
  instr.d[0] = 6, instr.a = 0, instr.b = REG_ZERO;
  assert_true(operand_is_possible(&instr, 8));
  assert_false(operand_is_possible(&instr, 7)); // R6 and R7
  instr.d[0] = 2, instr.b = 8;
  assert_false(operand_is_possible(&instr, 8));
  assert_true(operand_is_possible(&instr, 10));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(layouts_agree_with_the_table),
      cmocka_unit_test(marks_agree_with_the_table),
      cmocka_unit_test(selected_slot_follows_the_select_field),
      cmocka_unit_test(registers_beyond_the_kernels_are_impossible),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
