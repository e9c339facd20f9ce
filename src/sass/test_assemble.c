// Programs: labels, directives, comments, files of words, and what is said about mistakes and where.
#include "sass/sass.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static void test_program(void **state) {
  (void)state;
  static const char text[] = "// a program\n"
                             ".entry demo\n"
                             ".gprs 8\n.shmem 0x100\n.params 3\n.blocks_per_core 2\n.block 16, 4\n.grid 4\n.const 1, -1\n"
                             "start: MVI R1, 1.5; MVI R2, -1.5; # two on a line\n"
                             "/* a comment\n"
                             "   over two lines */ loop:\n"
                             "  MOV32 R1, R2\n"
                             "  SSY end;\n"
                             "  BRA C0.NE, loop;\n"
                             "end: NOP.S; .word 0x12, 0x34\n"
                             "  BRA start;";
  // From MOV32 on: SSY to byte 36, BRA to 16, the words, BRA to 0.
  static const uint32_t words[] = {0x10008404, 0xA0004803, 0x00000000, 0x10002003, 0x00000280, 0xF0000001,
                                   0xE0000002, 0x00000012, 0x00000034, 0x10000003, 0x00000780};
  Diags diags = {0};
  SassProgram *program = sass_assemble("demo.sass", text, strlen(text), &diags);
  assert_int_equal(diags.count, 0);
  assert_non_null(program);
  assert_string_equal(program->name, "demo");
  assert_int_equal(program->gprs, 8);
  assert_int_equal(program->shared_bytes, 256);
  assert_int_equal(program->param_count, 3);
  assert_int_equal(program->blocks_per_core, 2);
  assert_int_equal(program->block[0], 16);
  assert_int_equal(program->block[1], 4);
  assert_int_equal(program->block[2], 1);
  assert_int_equal(program->grid[1], 1);
  assert_int_equal(program->constant_count, 2);
  assert_int_equal(program->constants[1], UINT32_MAX);
  assert_int_equal(program->count, 4 + COUNT_OF(words));
  SassInstr instr;
  sass_decode(program->words[2], program->words[3], &instr);
  assert_int_equal(instr.a.value, 0xBFC00000);
  for (uint32_t i = 0; i < COUNT_OF(words); i++) assert_int_equal(program->words[4 + i], words[i]);
  assert_int_equal(program->lines[0], 10);
  assert_int_equal(program->lines[4], 13);
  sass_program_free(program);
}

static void test_hex(void **state) {
  (void)state;
  static const char text[] = "# words\n10008200\r\n0x1100F004 d00e180d\n80c00780 # a load\n\n";
  Diags diags = {0};
  SassProgram *program = sass_read_hex("a.hex", text, strlen(text), &diags);
  assert_non_null(program);
  assert_int_equal(program->count, 4);
  assert_int_equal(program->lines[3], 4);
  Text listing = {0}, words = {0};
  sass_disassemble(program, &listing);
  assert_string_equal(listing.at, "/* 0000 */ MOV32 R0, R1;\n/* 0004 */ MOV32 R1, g [0x8];\n/* 0008 */ GLD.U32 R3, global14[R12];\n");
  sass_write_hex(program, &words);
  assert_string_equal(words.at, "10008200\n1100f004\nd00e180d\n80c00780\n");
  text_free(&listing);
  text_free(&words);
  sass_program_free(program);
  static const char bad[] = "10008200\n  1000820g\n";
  assert_null(sass_read_hex("b.hex", bad, strlen(bad), &diags));
  assert_int_equal(diags.count, 1);
  assert_int_equal(diags.items[0].line, 2);
  assert_int_equal(diags.items[0].column, 3);
  diags_free(&diags);
}

static void test_cut_instruction(void **state) {
  (void)state;
  Diags diags = {0};
  SassProgram *program = sass_read_hex("a.hex", "30000003", 8, &diags);
  Text listing = {0};
  sass_disassemble(program, &listing);
  assert_string_equal(listing.at, "/* 0000 */ .word 0x30000003;\n");
  text_free(&listing);
  sass_program_free(program);
  diags_free(&diags);
}

static void test_mistakes(void **state) {
  (void)state;
  static const struct {
    const char *text;
    int line, column;
    const char *says;
  } cases[] = {
      {"RET;\n  IADDD R1, R2, R3;", 2, 3, "unknown instruction 'IADDD'; did you mean 'IADD'?"},
      {"IADD.U32 R1, R2, R3;", 1, 1, "the suffixes of 'IADD.U32' do not fit the instruction"},
      {"IADD R1, R2;", 1, 1, "IADD takes 3 operands, not 2"},
      {"IADD R1, R2, R3, R4, R5;", 1, 22, "too many operands"},
      {"IADD R1, R2L, R3;", 1, 10, "needs a whole register here, like R1"},
      {"IADD.U16 R1L, R2, R3L;", 1, 15, "needs a half register here, like R1L or R1H"},
      {"IADD32 R1, R64, R3;", 1, 12, "this form of the instruction cannot name so high a register"},
      {"IADD R1, R2, 5;", 1, 14, "this form of the instruction has no place for a number"},
      {"SHL R1, R2, 128;", 1, 13, "numbers here are 0 to 127"},
      {"MOV R1, g [0x20];", 1, 9, "the index of the shared operand is too large"},
      {"MOV R1, g [0x1].U64;", 1, 16, "unknown type of a shared operand; there are .U8, .U16, .S16 and .U32"},
      {"MOV R1, g [x];", 1, 12, "expected a number"},
      {"RCP R1, g [0x1];", 1, 9, "no shared operand is possible here"},
      {"SHL R1, -R2, 1;", 1, 9, "this operand cannot be negated"},
      {"IADD32 R1 (C0.NE), R2, R3;", 1, 12, "this form of the instruction cannot be guarded"},
      {"IADD R1 (C9.NE), R2, R3;", 1, 10, "expected a guard like C0.NE"},
      {"IADD R1 (C0.NE, R2, R3;", 1, 15, "expected ')'"},
      {"ISET.C0 o[0x7f], R1, R2, BIG;", 1, 26, "expected a comparison: LT, EQ, LE, GT, NE, GE, TR or FL"},
      {"ISET.C0 o[0x7e], R1, R2, EQ;", 1, 10, "the one output register is o[0x7f]"},
      {"IMAD32.U16 R1, R2L, R3L, R4;", 1, 26, "the third operand of this form is the destination register"},
      {"IMAD32I.U16 R1, R8L, 0x3, R1;", 1, 1, "these operands cannot be encoded together"},
      {"BRA nowhere;", 1, 5, "no label 'nowhere'"},
      {"BRA 0x80000;", 1, 5, "addresses of instructions have 19 bits"},
      {"a: RET;\na: RET;", 2, 1, "this label is already defined"},
      {"ADA A1, A2, 0x2000;", 1, 13, "amounts are 0 to 0x1fff and -0x2000 to -0x3fff"},
      {"R2A A5, R1, 0;", 1, 5, "expected an address register, A1 to A4"},
      {"GLD.U32 R1, R2;", 1, 13, "expected a place in global memory, like global14[R1]"},
      {".gpr 4", 1, 1, "unknown directive '.gpr'; did you mean '.gprs'?"},
      {".params 16", 1, 9, ".params takes 0 to 15"},
      {".gprs four", 1, 7, "expected a number"},
      {"MVI R1, 0x123456789;", 1, 9, "not a number of 32 bits"},
      {"MVI R1, ;", 1, 8, "expected an operand"},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    Diags diags = {0};
    SassProgram *program = sass_assemble("bad.sass", cases[i].text, strlen(cases[i].text), &diags);
    assert_null(program);
    const Diag *diag = &diags.items[0];
    if (strcmp(diag->text, cases[i].says) != 0 || diag->column != cases[i].column) {
      print_message("%s: %d:%d: %s\n", cases[i].text, diag->line, diag->column, diag->text);
    }
    assert_int_equal(diags.count, 1);
    assert_string_equal(diag->text, cases[i].says);
    assert_int_equal(diag->line, cases[i].line);
    assert_int_equal(diag->column, cases[i].column);
    assert_string_equal(diag->file, "bad.sass");
    diags_free(&diags);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_program),
      cmocka_unit_test(test_hex),
      cmocka_unit_test(test_cut_instruction),
      cmocka_unit_test(test_mistakes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
