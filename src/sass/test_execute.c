// What instructions compute: values, flags, halves, literals, timing classes. Expected values come from the reference's
// sentences and IEEE, written out here.
#include "sass/sass.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static SassInstr instr_of(const char *text) {
  Diags diags = {0};
  SassProgram *program = sass_assemble("test.sass", text, strlen(text), &diags);
  for (uint32_t i = 0; i < diags.count; i++) print_message("%s: %s\n", text, diags.items[i].text);
  assert_non_null(program);
  SassInstr instr;
  sass_decode(program->words[0], program->count > 1 ? program->words[1] : 0, &instr);
  sass_program_free(program);
  diags_free(&diags);
  return instr;
}

typedef struct Result {
  uint32_t d, flags;
} Result;

// The same operands in all lanes; lanes must agree.
static Result run(const char *text, uint32_t a, uint32_t b, uint32_t c) {
  SassInstr instr = instr_of(text);
  SassLanes lanes = {0};
  for (unsigned i = 0; i < WARP_LANES; i++) {
    lanes.a[i] = instr.a.kind == SASS_IMMEDIATE ? instr.a.value : a;
    lanes.b[i] = instr.b.kind == SASS_IMMEDIATE ? instr.b.value : b;
    lanes.c[i] = c;
  }
  lanes.carry = UINT32_MAX;
  sass_execute(&instr, lane_functions(), &lanes);
  for (unsigned i = 1; i < WARP_LANES; i++) {
    assert_int_equal(lanes.d[i], lanes.d[0]);
    assert_int_equal(lanes.flags[i], lanes.flags[0]);
  }
  uint32_t d = instr.d.half == SASS_WHOLE ? lanes.d[0] : lanes.d[0] & 0xFFFF;
  return (Result){d, lanes.flags[0]};
}

enum { Z = SASS_FLAG_ZERO, S = SASS_FLAG_SIGN, C = SASS_FLAG_CARRY, O = SASS_FLAG_OVERFLOW };

typedef struct Case {
  const char *text;
  uint32_t a, b, c, d, flags;
} Case;

static void run_cases(const Case *cases, size_t count) {
  for (size_t i = 0; i < count; i++) {
    Result result = run(cases[i].text, cases[i].a, cases[i].b, cases[i].c);
    if (result.d != cases[i].d || result.flags != cases[i].flags) {
      print_message("%s: %08x flags %x, expected %08x flags %x\n", cases[i].text, result.d, result.flags, cases[i].d, cases[i].flags);
    }
    assert_int_equal(result.d, cases[i].d);
    assert_int_equal(result.flags, cases[i].flags);
  }
}

static void test_integers(void **state) {
  (void)state;
  static const Case cases[] = {
      {"IADD.C0 R1, R2, R3;", 5, 7, 0, 12, 0},
      {"IADD.C0 R1, R2, -R3;", 5, 7, 0, 0xFFFFFFFE, S},
      {"IADD.C0 R1, R2, -R3;", 7, 7, 0, 0, Z | C},
      {"IADD.C0 R1, -R2, R3;", 7, 5, 0, 0xFFFFFFFE, S},
      {"IADD.C0 R1, R2, R3;", 0x7FFFFFFF, 1, 0, 0x80000000, S | O},
      {"IADD.C0 R1, R2, R3;", 0xFFFFFFFF, 1, 0, 0, Z | C},
      {"IADD.U16.C0 R1L, R2L, R3L;", 0x7FFF, 1, 0, 0x8000, S | O},
      {"IADD.U16.C0 R1L, R2L, R3L;", 0xFFFF, 1, 0, 0, Z | C},
      {"IADD.SAT.C0 R1, R2, R3;", 0xFFFFFFFF, 1, 0, 0xFFFFFFFF, S},
      {"IADD.CARRY1.C0 R1, R2, R3;", 5, 7, 0, 13, 0},
      {"IADD32I R1, R2, -0x5;", 7, 0, 0, 2, C},
      {"ISET.S32.C0 R1, R2, R3, LT;", 0xFFFFFFFF, 0, 0, 0xFFFFFFFF, S},
      {"ISET.C0 R1, R2, R3, LT;", 0xFFFFFFFF, 0, 0, 0, Z},
      {"ISET.U16.C0 R1, R2, R3, EQ;", 0x12345678, 0x99995678, 0, 0xFFFFFFFF, S},
      {"ISET.C0 R1, R2, R3, TR;", 1, 2, 0, 0xFFFFFFFF, S},
      {"ISET.C0 R1, R2, R3, FL;", 1, 1, 0, 0, Z},
      {"IMAX.S32 R1, R2, R3;", 0xFFFFFFFF, 3, 0, 3, 0},
      {"IMIN.S32 R1, R2, R3;", 0xFFFFFFFF, 3, 0, 0xFFFFFFFF, S},
      {"IMAX R1, R2, R3;", 0xFFFFFFFF, 3, 0, 0xFFFFFFFF, 0},
      {"SHL R1, R2, 0x20;", 1, 0, 0, 0, Z},
      {"SHR.S32.C0 R1, R2, R3;", 0x80000000, 40, 0, 0xFFFFFFFF, S},
      {"SHR.U16 R1L, R2L, 0x1;", 0x8000, 0, 0, 0x4000, 0},
      {"SHR.S16 R1L, R2L, 0x1;", 0x8000, 0, 0, 0xC000, S},
      {"IMUL.U16.U16 R1, R2L, R3L;", 0xFFFF, 0xFFFF, 0, 0xFFFE0001, 0},
      {"IMUL.S16.S16 R1, R2L, R3L;", 0xFFFF, 2, 0, 0xFFFFFFFE, S},
      {"IMUL.U24.U24 R1, R2, R3;", 0xFF000003, 0x00010000, 0, 0x00030000, 0},
      {"IMAD.U16.C0 R1, R2L, R3L, R4;", 3, 4, 0xFFFFFFFF, 11, C},
      {"IMAD.S16.C0 R1, R2L, R3L, R4;", 0xFFFF, 4, 0, 0xFFFFFFFC, S},
      {"IMAD.U24 R1, R2, R3, R4;", 0x10000, 2, 5, 0x20005, 0},
      {"LOP.AND.C0 R1, R2, ~R3;", 0xFF00FF00, 0x0F00000F, 0, 0xF000FF00, S},
      {"LOP.OR R1, R2, R3;", 1, 2, 0, 3, 0},
      {"LOP.XOR R1, ~R2, R3;", 0xFFFFFFFF, 0, 0, 0, Z},
      {"LOP.PASS_B R1, R2, ~R3;", 5, 0xFFFFFFF0, 0, 15, 0},
      {"LOP.AND R1, R2, 0x7f;", 0x1234, 0, 0, 0x34, 0},
      {"I2I.U32.S16 R1, R2L;", 0x8000, 0, 0, 0xFFFF8000, S},
      {"I2I.U32.U8 R1, R2L;", 0x1FF, 0, 0, 0xFF, 0},
      {"I2I.U32.S32 R1, |R2|;", 0xFFFFFFFB, 0, 0, 5, 0},
      {"I2I.U32.S8 R1, -R2L;", 0x80, 0, 0, 0x80, 0},
      {"I2I.U16.S32 R1L, R2;", 0x12348765, 0, 0, 0x8765, S},
      {"MOV R1, R2;", 0x80000001, 0, 0, 0x80000001, S},
      {"MVI R1, 0x12345678;", 0, 0, 0, 0x12345678, 0},
      {"R2A A1, R2, 0x2;", 3, 0, 0, 12, 0},
      {"R2A A1, R2, 0x7f;", 3, 0, 0, 0, Z},
      {"ADA A1, A2, 0x10;", 3, 0, 0, 19, 0},
      {"ADA A1, A2, -0x3ffc;", 0x4000, 0, 0, 4, 0},
      {"R2C.C1 R2;", 0x1F5, 0, 0, 0x1F5, 5},
  };
  run_cases(cases, COUNT_OF(cases));
}

static void test_floats(void **state) {
  (void)state;
  enum { ONE = 0x3F800000, TWO = 0x40000000, HALF = 0x3F000000, INF = 0x7F800000, MINUS = INT32_MIN };
  static const Case cases[] = {
      {"FADD.C0 R1, R2, R3;", ONE, ONE, 0, TWO, 0},
      {"FADD.C0 R1, R2, -R3;", ONE, TWO, 0, 0xBF800000, S},
      {"FADD.C0 R1, -R2, -R3;", ONE, ONE, 0, 0xC0000000, S},
      {"FADD.C0 R1, R2, -R3;", ONE, ONE, 0, 0, Z},
      {"FADD.C0 R1, R2, R3;", INF, ONE, 0, INF, 0},
      {"FADD.C0 R1, R2, -R3;", INF, INF, 0, 0x7FFFFFFF, Z | S},
      {"FADD R1, R2, R33;", ONE, 0x33C00000, 0, 0x3F800001, 0}, // rounds up: 1 + 1.5 * 2^-24, whatever the register
      {"FADD32I R1, -R2, 1.0;", TWO, 0, 0, 0xBF800000, S},
      {"FMUL R1, R2, R3;", 0x3F800001, 0x3F800001, 0, 0x3F800002, 0},
      {"FMUL.TRUNC R1, R2, R3;", 0x3FFFFFFF, 0x3FFFFFFF, 0, 0x407FFFFE, 0},
      {"FMUL R1, -R2, R3;", ONE, TWO, 0, 0xC0000000, S},
      {"FMAD R1, R2, R3, R4;", ONE, TWO, ONE, 0x40400000, 0},
      {"FMAD R1, R2, R3, -R4;", 0x3F800001, 0x3F800001, 0x3F800002, 0x28800000, 0}, // fused: 2^-46 is left
      {"FMAD R1, R2, R3, R4;", 0, HALF, 0, 0, Z},
      {"FSET.C0 R1, R2, R3, GT;", 0x3F800001, 0x3F900000, 0, 0, Z},
      {"FSET.C0 R1, R2, R3, LT;", 0xBF800000, 0xC0000000, 0, 0, Z},
      {"FSET.C0 R1, R2, R3, EQ;", 0x80000000, 0, 0, 0xFFFFFFFF, S},
      {"FSET.C0 R1, |R2|, |R3|, GT;", 0xC0000000, ONE, 0, 0xFFFFFFFF, S},
      {"FSET.C0 R1, R2, R3, NE;", 0x7FC00000, 0x7FC00000, 0, 0xFFFFFFFF, S},
      {"I2F.F32.U32 R1, R2;", 0x7FFFFFFF, 0, 0, 0x4F000000, 0},
      {"I2F.F32.S16 R1, R2L;", 0xFFFF, 0, 0, 0xBF800000, S},
      {"F2I.U32.F32.TRUNC R1, R2;", 0x3FF00000, 0, 0, 1, 0},
      {"F2I.S32.F32 R1, R2;", 0x3FF00000, 0, 0, 2, 0},
      {"F2I.S32.F32.FLOOR R1, R2;", 0xBFC00000, 0, 0, 0xFFFFFFFE, S},
      {"F2I.S32.F32.CEIL R1, R2;", 0xBFC00000, 0, 0, 0xFFFFFFFF, S},
      {"F2F.F32.F32 R1, |R2|;", 0xBF800000, 0, 0, ONE, 0},
      {"F2F.F32.F32 R1, -R2;", ONE, 0, 0, 0xBF800000, S},
      {"RCP R1, R2;", TWO, 0, 0, HALF, 0},
      {"RCP R1, R2;", 0, 0, 0, INF, 0},
      {"RSQ R1, R2;", 0x40800000, 0, 0, HALF, 0},
      {"LG2 R1, R2;", 0x41000000, 0, 0, 0x40400000, 0},
      {"EX2 R1, R2;", 0x40400000, 0, 0, 0x41000000, 0},
      {"RRO R1, R2, EX2;", ONE, 0, 0, ONE, 0},
      {"SIN R1, R2;", 0, 0, 0, 0, Z},
      {"COS R1, R2;", 0, 0, 0, ONE, 0},
  };
  run_cases(cases, COUNT_OF(cases));
}

// Fields at the values that mean something else.
static void test_special_fields(void **state) {
  (void)state;
  SassInstr instr = instr_of("MOV R10, R124;");
  assert_true(instr.a.zero);
  assert_int_equal(instr.gpr_reads, 1);
  assert_int_equal(instr.zero_reads, 1);
  instr = instr_of("IADD R1, R2, R124;"); // the literal rule: R2 + 124
  assert_int_equal(instr.b.kind, SASS_IMMEDIATE);
  assert_int_equal(instr.b.value, 124);
  assert_int_equal(instr.gpr_reads, 1);
  instr = instr_of("IADD R1, g [A1+0x2], R124;"); // but not with an address register
  assert_int_equal(instr.b.kind, SASS_GPR);
  assert_true(instr.b.zero);
  instr = instr_of("IMAD.U16 R1, R2L, R3L, R124;");
  assert_int_equal(instr.b.kind, SASS_IMMEDIATE);
  assert_int_equal(instr.b.value, 6);
  assert_true(instr.c.zero);
  instr = instr_of("ISET.C0 o[0x7f], R1, R124, EQ;"); // which obeys no literal rule
  assert_true(instr.b.zero);
  assert_int_equal(instr.write, SASS_WRITE_DISCARD);
  assert_true(instr.sets_predicate);
  instr = instr_of("FMAD R1, R2, R3, R124;"); // six bits of the register's number
  assert_int_equal(instr.c.value, 60);
  assert_false(instr.c.zero);
  instr = instr_of("MOV.U16 R63H, R62L;"); // fields 127 and 124
  assert_int_equal(instr.write, SASS_WRITE_DISCARD);
  assert_true(instr.a.zero);
  instr = instr_of("LOP.AND.U16 R0H, R0H, c[0x1][0x3];");
  assert_int_equal(instr.b.value, 6);
  assert_int_equal(instr.b.type, SASS_U16);
  assert_int_equal(instr.write, SASS_WRITE_GPR16);
}

static void test_classes(void **state) {
  (void)state;
  SassInstr instr = instr_of("R2G.U32.U32 g[A1+0x4], R2;");
  assert_int_equal(instr.gpr_reads, 2); // R0 as well
  assert_int_equal(instr.shared_offset, 16);
  assert_int_equal(instr_of("R2G.U32.U32 g[0x4], R2;").gpr_reads, 1);
  assert_int_equal(instr_of("GST.U32 global14[R1], R2;").gpr_reads, 1);
  assert_int_equal(instr_of("IMAX R1, R2, R3;").gpr_reads, 1);
  assert_int_equal(instr_of("IADD.CARRY0 R1, R2, R3;").gpr_reads, 1);
  assert_int_equal(instr_of("FMAD R1, R2, R3, R4;").gpr_reads, 3);
  assert_int_equal(instr_of("MVI R1, 0x1;").gpr_reads, 0);
  assert_int_equal(instr_of("R2A A1, R2, 0x0;").exec, SASS_EXEC_MOVE);
  assert_int_equal(instr_of("R2A A1, R2, 0x1;").exec, SASS_EXEC_INTEGER);
  assert_int_equal(instr_of("NOP;").read, SASS_READ_NOP);
  SassInstr fadd = instr_of("FADD R1, R2, -R3;");
  assert_true(sass_fadd_subtracts(&fadd, 0x3F800000, 0x3F800000));
  assert_false(sass_fadd_subtracts(&fadd, 0x3F800000, 0xBF800000));
}

// Section 9: what no instruction has the bits for.
static void test_undecoded(void **state) {
  (void)state;
  static const struct {
    uint32_t low, high;
    unsigned action, read, write;
  } cases[] = {
      {0x00000000, 0, SASS_DO_NOTHING, SASS_READ_OPERANDS, SASS_WRITE_NOTHING},
      {0x50000001, 0x780, SASS_DO_NOTHING, SASS_READ_OPERANDS, SASS_WRITE_NOTHING},
      {0x10000001, 0xA0000780, SASS_DO_NOTHING, SASS_READ_OPERANDS, SASS_WRITE_NOTHING},
      {0x30000005, 0x20000780, SASS_DO_ZERO, SASS_READ_OPERANDS, SASS_WRITE_GPR32},
      {0xC0000005, 0x60000780, SASS_DO_ZERO, SASS_READ_OPERANDS, SASS_WRITE_GPR32},
      {0xB0000005, 0xC0008780, SASS_DO_ZERO, SASS_READ_OPERANDS, SASS_WRITE_GPR32}, // RRO with I[47]
      {0xD0000005, 0x60000780, SASS_DO_HANG_WARP, SASS_READ_OPERANDS, SASS_WRITE_NEVER},
      {0xD0000005, 0xC0000780, SASS_DO_NOTHING, SASS_READ_OPERANDS, SASS_WRITE_NOTHING},
      {0x60000003, 0x780, SASS_DO_HANG, SASS_READ_CONTROL, SASS_WRITE_NOTHING},
      {0xF0000003, 0x780, SASS_DO_NOTHING, SASS_READ_NOP, SASS_WRITE_NOTHING},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    SassInstr instr;
    assert_false(sass_decode(cases[i].low, cases[i].high, &instr));
    assert_int_equal(instr.action, cases[i].action);
    assert_int_equal(instr.read, cases[i].read);
    assert_int_equal(instr.write, cases[i].write);
  }
}

// No word makes arithmetic that cannot be carried out.
static void test_any_word_executes(void **state) {
  (void)state;
  for (uint64_t i = 0; i < 200000; i++) {
    uint64_t word = random_draw(11, i, 0);
    SassInstr instr;
    sass_decode((uint32_t)word, (uint32_t)(word >> 32), &instr);
    if (instr.action > SASS_DO_TO_FLAGS) continue;
    SassLanes lanes;
    for (unsigned lane = 0; lane < WARP_LANES; lane++) {
      lanes.a[lane] = (uint32_t)random_draw(12, i, lane);
      lanes.b[lane] = (uint32_t)random_draw(13, i, lane);
      lanes.c[lane] = (uint32_t)random_draw(14, i, lane);
    }
    lanes.carry = (uint32_t)word;
    sass_execute(&instr, lane_functions(), &lanes);
    for (unsigned lane = 0; lane < WARP_LANES; lane++) assert_in_range(lanes.flags[lane], 0, 15);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_integers), cmocka_unit_test(test_floats),    cmocka_unit_test(test_special_fields),
      cmocka_unit_test(test_classes),  cmocka_unit_test(test_undecoded), cmocka_unit_test(test_any_word_executes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
