// Control flow on every number of SPs: loops left by BRK, calls, nested divergence, barriers; and the ways not to end.
#include "machine/g80/test_machine.h"

enum { OUT = 0x1000, THREADS = 64 };

// Assembles and runs one block of 64 threads; thread t's word at 0x1000 + 4t is its result. R10 holds that address.
static const char prologue[] = ".gprs 12\n.params 1\n.block 64\n.grid 1\n"
                               "SHL R10, R0, 0x2;\nIADD32I R10, R10, 0x1000;\n";
static const char epilogue[] = "GST.U32 global14[R10], R1;\nRET;\n";

static G80Outcome run_text(const char *body, const char *end, uint32_t sps, uint32_t results[THREADS]) {
  Diags diags = {0};
  Text text = {0};
  Spec spec;
  G80Launch launch;
  G80Result result;
  text_add(&text, "%s%s%s", prologue, body, end);
  SassProgram *program = sass_assemble("test", text.at, text.length, &diags);
  if (program == NULL) fail_msg("%d: %s", diags.items[0].line, diags.items[0].text);
  spec_default(&spec);
  spec.g80_sps = sps;
  spec.g80_cycle_limit = 200000;
  g80_launch_default(&launch, &spec, program);
  Machine *machine = make(&spec, program, &launch);
  assert_true(machine_run(machine, G80_NEVER));
  g80_result(machine, &result);
  memcpy(results, result.global + OUT, THREADS * sizeof results[0]);
  machine_free(machine);
  sass_program_free(program);
  text_free(&text);
  diags_free(&diags);
  return result.outcome;
}

static void check(const char *body, uint32_t (*expected)(uint32_t)) {
  for (uint32_t sps = 0; sps < 3; sps++) {
    uint32_t results[THREADS];
    assert_int_equal(run_text(body, epilogue, sps, results), G80_DONE);
    for (uint32_t i = 0; i < THREADS; i++) assert_int_equal(results[i], expected(i));
  }
}

// Thread t goes round t % 7 + 1 times: lanes leave at different times, the last one brings all back.
static uint32_t count_up(uint32_t t) { return t % 7 + 101; }
static void loops_are_left(void **state) {
  (void)state;
  check("MVI R5, 0x7;\nMVI R2, 0x0;\nMOV R3, R0;\n"
        "reduce: ISET.S32.C0 o[0x7f], R3, R5, LT;\nSSY small;\nBRA C0.NE, small;\nIADD32I R3, R3, -0x7;\nsmall: NOP.S;\n"
        "IADD32I R2, R2, 0x1;\nMVI R6, 0xa;\nISET.S32.C1 o[0x7f], R2, R6, LT;\nBRA C1.NE, reduce;\n"
        "MVI R1, 0x0;\nPBK out;\n"
        "again: IADD32I R1, R1, 0x1;\nISET.S32.C0 o[0x7f], R1, R3, GT;\nBRK C0.NE;\nBRA again;\n"
        "out: IADD32I R1, R1, 0x64;\n",
        count_up);
}

static uint32_t twice_called(uint32_t t) { return (t + 1) * 2 + 1; }
static void calls_return(void **state) {
  (void)state;
  check("MOV R1, R0;\nCAL.NOINC outer;\nIADD32I R1, R1, 0x1;\nBRA over;\n"
        "outer: IADD32I R1, R1, 0x1;\nCAL.NOINC inner;\nRET;\n"
        "inner: IADD R1, R1, R1;\nRET;\n"
        "over: NOP;\n",
        twice_called);
}

static uint32_t four_ways(uint32_t t) { return (t < 20 ? (t < 5 ? 1 : 2) : (t < 40 ? 3 : 4)) * 10 + 7; }
static void divergence_nests(void **state) {
  (void)state;
  check("MVI R2, 0x14;\nMVI R3, 0x5;\nMVI R4, 0x28;\n"
        "ISET.S32.C0 o[0x7f], R0, R2, LT;\nSSY join;\nBRA C0.NE, low;\n"
        "ISET.S32.C1 o[0x7f], R0, R4, LT;\nSSY high;\nBRA C1.NE, third;\nMVI R1, 0x28;\nBRA high;\n"
        "third: MVI R1, 0x1e;\nhigh: NOP.S;\nBRA join;\n"
        "low: ISET.S32.C1 o[0x7f], R0, R3, LT;\nSSY lower;\nBRA C1.NE, first;\nMVI R1, 0x14;\nBRA lower;\n"
        "first: MVI R1, 0xa;\nlower: NOP.S;\n"
        "join: NOP.S;\nIADD32I R1, R1, 0x7;\n",
        four_ways);
}

static uint32_t neighbour(uint32_t t) { return 63 - t + 500; }
static void barriers_hold(void **state) {
  (void)state;
  check("IADD32I R3, R0, 0x1f4;\nSHL R4, R0, 0x2;\nR2A A1, R4, 0x0;\nR2G.U32.U32 g[A1+0x10], R3;\nBAR.ARV.WAIT b0, 0xfff;\n"
        "MVI R5, 0x3f;\nIADD R5, -R0, R5;\nSHL R5, R5, 0x2;\nR2A A2, R5, 0x0;\nMOV R1, g [A2+0x10];\n",
        neighbour);
}

static uint32_t only_odd(uint32_t t) { return t % 2 == 1 ? t + 1 : 0; }
static void guards_hold_back(void **state) {
  (void)state;
  check("MVI R1, 0x1;\nLOP.AND R2, R0, R1;\nIADD R1, R0, R1;\n"
        "ISET.S32.C0 o[0x7f], R2, R124, EQ;\nRET C0.NE;\n",
        only_odd);
}

static void some_never_end(void **state) {
  (void)state;
  uint32_t results[THREADS];
  // One warp ends, the other waits for it at the barrier.
  assert_int_equal(run_text("MVI R2, 0x20;\nISET.S32.C0 o[0x7f], R0, R2, LT;\nRET C0.NE;\nBAR.ARV.WAIT b0, 0xfff;\n", epilogue, 0, results),
                   G80_HANG);
  assert_int_equal(run_text(".word 0x00000003, 0x00000780;\n", epilogue, 0, results), G80_HANG); // control code 0
  assert_int_equal(run_text(".word 0xd0000001, 0x60000780;\n", epilogue, 0, results), G80_HANG); // LST
  assert_int_equal(run_text("loop: BRA loop;\n", epilogue, 0, results), G80_TIMEOUT);
  assert_int_equal(run_text("", "", 0, results), G80_TIMEOUT); // runs off the program and through it again
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(loops_are_left), cmocka_unit_test(calls_return),     cmocka_unit_test(divergence_nests),
      cmocka_unit_test(barriers_hold),  cmocka_unit_test(guards_hold_back), cmocka_unit_test(some_never_end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
