// Fragment programs: what is refused and where, what each instruction gives, and how masks, conditions and branches work.
#include "shader/shader.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static ShaderProgram *parse(const char *body, Diags *diags) {
  Text text = {0};
  text_add(&text, "!!FP1.0\n%s\nEND\n", body);
  ShaderProgram *program = shader_parse("s.fp", text.at, text.length, diags);
  text_free(&text);
  return program;
}

// ---- What is refused -------------------------------------------------------------------------------------------------

static void test_refused(void **state) {
  (void)state;
  static const struct {
    const char *body;
    int line;
    const char *message;
  } cases[] = {
      {"MOVE R0, R1;", 2, "no instruction 'MOVE'"},
      {"DECLARE a234567890123456789012345678901234567890123456789012345678901234;", 2, "a name or number has at most 63 characters"},
      {"MOV R32, R1;", 2, "only 32 of these"},
      {"MOV R0, H64;", 2, "only 64 of these"},
      {"MOV R0;", 2, "',' is missing"},
      {"MOV R0, R1", 3, "';' is missing"},
      {"\nADD R0, R1;", 3, "',' is missing"},
      {"MOV R0.yx, R1;", 2, "no write mask"},
      {"MOV R0, R1.xy;", 2, "no swizzle"},
      {"MOV R0, speed;", 2, "neither a register nor a constant"},
      {"MOV f[COL0], R1;", 2, "takes no result"},
      {"MOV o[COL], R1;", 2, "no output 'o[COL]'"},
      {"MOV R0, f[POS];", 2, "no input 'f[POS]'"},
      {"MOV R0(ABOVE), R1;", 2, "a condition is missing"},
      {"TEX R0, R1, TEX16, 2D;", 2, "only 16 of these"},
      {"TEX R0, R1, TEX0, 4D;", 2, "no shape '4D'"},
      {"MOV R0, {1, 2, 3, 4, 5};", 2, "at most four"},
      {"DEFINE a;", 2, "wants '= {...}'"},
      {"DECLARE a;\nDECLARE a;", 3, "is there already"},
      {"ENDIF;", 2, "ENDIF without IF"},
      {"ELSE;", 2, "ELSE without IF"},
      {"REP R0;\nENDLOOP;\nENDREP;", 3, "ENDLOOP without LOOP"},
      {"IF GT.x;\nMOV R0, R1;", 2, "IF has no end"},
      {"BRK;", 2, "BRK outside a loop"},
      {"CAL there;", 2, "no label 'there'"},
      {"a:\na:", 3, "is in line 2 already"},
      {"KILR GT;", 2, "no instruction 'KILR'"},
      {"REP R0; REP R0; REP R0; REP R0; REP R0; ENDREP; ENDREP; ENDREP; ENDREP; ENDREP;", 2, "nested more than 4"},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    Diags diags = {0};
    assert_null(parse(cases[i].body, &diags));
    assert_true(diags.count > 0);
    if (strstr(diags.items[0].text, cases[i].message) == NULL || diags.items[0].line != cases[i].line)
      fail_msg("case %zu: line %d: %s", i, diags.items[0].line, diags.items[0].text);
    diags_free(&diags);
  }
  Diags diags = {0};
  assert_null(shader_parse("s.fp", "!!VP1.0 END", 11, &diags));
  assert_null(shader_parse("s.fp", "!!FP1.0 MOV R0, R1;", 19, &diags));
  assert_non_null(strstr(diags.items[1].text, "END is missing"));
  diags_free(&diags);
}

// ---- What is computed --------------------------------------------------------------------------------------------------

typedef struct Thread { // with all its registers
  ShaderThread thread;
  ShaderVector temp[SHADER_TEMPS], input[SHADER_INPUTS], constants[SHADER_MOST_CONSTANTS];
  ShaderHalves half[SHADER_HALVES];
} Thread;

static ShaderState begin(const ShaderProgram *program, Thread *thread) {
  ShaderState state = {&thread->thread, thread->temp, thread->input, thread->half, thread->constants};
  shader_begin(&state);
  shader_constants(program, thread->constants);
  return state;
}

// Carries `body` out with inputs f[TEX0] = a, f[TEX1] = b, f[TEX2] = c; texture i has the texel (i, x, y, z). Returns how it ended.
static ShaderStep run(const char *body, float inputs[3][4], Thread *thread) {
  Diags diags = {0};
  ShaderProgram *program = parse(body, &diags);
  if (program == NULL) fail_msg("%s: %s", body, diags.items[0].text);
  ShaderState at = begin(program, thread);
  for (uint32_t i = 0; i < 3; i++) memcpy(thread->input[INPUT_TEX0 + i], inputs[i], sizeof thread->input[0]);
  ShaderStep step = STEP_ON;
  for (uint32_t steps = 0; (step == STEP_ON || step == STEP_READS) && steps < 10000; steps++) {
    ShaderRead read;
    step = shader_step(program, &at, &read);
    float texel[4] = {(float)read.texture, read.at[0], read.at[1], read.at[2]};
    if (step == STEP_READS) shader_read(program, &at, texel);
  }
  shader_free(program);
  return step;
}

typedef struct Case {
  const char *body;
  float result[4]; // of o[COLR]
} Case;

static void test_computed(void **state) {
  (void)state;
  float inputs[3][4] = {{1, -2, 3, 4}, {0.5f, 2, -1, 8}, {10, 20, 30, 40}};
  static const Case cases[] = {
      {"MOV o[COLR], f[TEX0];", {1, -2, 3, 4}},
      {"MOV o[COLR], -|f[TEX0].wzyx|;", {-4, -3, -2, -1}},
      {"MOV o[COLR], f[TEX0].y;", {-2, -2, -2, -2}},
      {"ADD o[COLR], f[TEX0], f[TEX1];", {1.5f, 0, 2, 12}},
      {"SUB o[COLR], f[TEX0], f[TEX1];", {0.5f, -4, 4, -4}},
      {"MUL o[COLR], f[TEX0], f[TEX1];", {0.5f, -4, -3, 32}},
      {"MAD o[COLR], f[TEX0], f[TEX1], f[TEX2];", {10.5f, 16, 27, 72}},
      {"MIN o[COLR], f[TEX0], f[TEX1];", {0.5f, -2, -1, 4}},
      {"MAX o[COLR], f[TEX0], f[TEX1];", {1, 2, 3, 8}},
      {"FLR o[COLR], {1.5, -1.5, 2, 0};", {1, -2, 2, 0}},
      {"FRC o[COLR], {1.5, -1.25, 2, 0};", {0.5f, 0.75f, 0, 0}},
      {"LRP o[COLR], {0.25}.x, f[TEX0], f[TEX2];", {7.75f, 14.5f, 23.25f, 31}},
      {"SEQ o[COLR], f[TEX0], {1, 2, 3, 5};", {1, 0, 1, 0}},
      {"SNE o[COLR], f[TEX0], {1, 2, 3, 5};", {0, 1, 0, 1}},
      {"SLT o[COLR], f[TEX0], f[TEX1];", {0, 1, 0, 1}},
      {"SLE o[COLR], f[TEX0], {1, -3, 4, 4};", {1, 0, 1, 1}},
      {"SGT o[COLR], f[TEX0], {1, -3, 4, 4};", {0, 1, 0, 0}},
      {"SGE o[COLR], f[TEX0], {1, -3, 4, 4};", {1, 1, 0, 1}},
      {"STR o[COLR], R0, R0;", {1, 1, 1, 1}},
      {"SFL o[COLR], R0, R0;", {0, 0, 0, 0}},
      {"RCP o[COLR], f[TEX0].w;", {0.25f, 0.25f, 0.25f, 0.25f}},
      {"RSQ o[COLR], f[TEX0].w;", {0.5f, 0.5f, 0.5f, 0.5f}},
      {"EX2 o[COLR], f[TEX0].z;", {8, 8, 8, 8}},
      {"LG2 o[COLR], f[TEX1].w;", {3, 3, 3, 3}},
      {"POW o[COLR], f[TEX0].w, f[TEX1].x;", {2, 2, 2, 2}},
      {"COS o[COLR], 0;", {1, 1, 1, 1}},
      {"SIN o[COLR], 0;", {0, 0, 0, 0}},
      {"DIV o[COLR], f[TEX2], f[TEX0].w;", {2.5f, 5, 7.5f, 10}},
      {"DP2 o[COLR], f[TEX0], f[TEX1];", {-3.5f, -3.5f, -3.5f, -3.5f}},
      {"DP2A o[COLR], f[TEX0], f[TEX1], f[TEX2];", {6.5f, 6.5f, 6.5f, 6.5f}},
      {"DP3 o[COLR], f[TEX0], f[TEX1];", {-6.5f, -6.5f, -6.5f, -6.5f}},
      {"DP4 o[COLR], f[TEX0], f[TEX1];", {25.5f, 25.5f, 25.5f, 25.5f}},
      {"DST o[COLR], f[TEX0], f[TEX1];", {1, -4, 3, 8}},
      {"LIT o[COLR], {0.5, 2, 0, 3};", {1, 0.5f, 8, 1}},
      {"LIT o[COLR], {-0.5, 2, 0, 3};", {1, 0, 0, 1}},
      {"RFL o[COLR].xyz, {0, 0, 1}, {1, 2, 3};", {-1, -2, 3, 0}},
      {"X2D o[COLR], {1, 2}, {3, 4}, {1, 0, 0, 1};", {4, 6, 4, 6}},
      {"NRM o[COLR], {3, 0, 4, 10};", {0.6f, 0, 0.8f, 2}},
      {"TEX o[COLR], f[TEX0], TEX3, 2D;", {3, 1, -2, 3}},
      {"TXP o[COLR], f[TEX0], TEX5, 2D;", {5, 0.25f, -0.5f, 0.75f}},
      // Masks, precision, saturation
      {"MOV o[COLR].xz, f[TEX0];", {1, 0, 3, 0}},
      {"MOV_SAT o[COLR], f[TEX0];", {1, 0, 1, 1}},
      {"MOVX o[COLR], {3, -3, 0.00048828125, 0.0005};", {2047.0f / 1024, -2, 0, 1.0f / 1024}},
      {"MOVH o[COLR], {0.333333333};", {0.33325195f, 0, 0, 1}},
      {"MOV H0, {0.333333333}.x; MOV o[COLR], H0;", {0.33325195f, 0.33325195f, 0.33325195f, 0.33325195f}},
      // Conditions: NaN is neither
      {"MOVC RC, f[TEX0]; MOV o[COLR](GT), 7;", {7, 0, 7, 7}},
      {"MOVC RC, f[TEX0]; MOV o[COLR](LT.y), 7;", {7, 7, 7, 7}},
      {"RSQC RC, -1; MOV o[COLR](NE), 7; MOV o[COLR].x(GE), 8; MOV o[COLR].y(LE), 8;", {7, 7, 7, 7}},
      {"MOVC R0(FL), f[TEX0]; MOV o[COLR](EQ), 7;", {7, 7, 7, 7}},
      // Branches
      {"MOVC RC, f[TEX0]; IF LT.x; MOV o[COLR], 1; ELSE; MOV o[COLR], 2; ENDIF;", {2, 2, 2, 2}},
      {"MOVC RC, f[TEX0]; IF (LT); MOV o[COLR], 1; ELSE; MOV o[COLR], 2; ENDIF;", {1, 1, 1, 1}},
      {"REP f[TEX0].w; ADD R0, R0, 1; ENDREP; MOV o[COLR], R0;", {4, 4, 4, 4}},
      {"REP f[TEX0].y; ADD R0, R0, 1; ENDREP; MOV o[COLR], R0;", {0, 0, 0, 0}},
      {"REP 3; REP 5; ADD R0, R0, 1; SGTC RC, R0, 6; BRK GT.x; ENDREP; ENDREP; MOV o[COLR], R0;", {8, 8, 8, 8}},
      {"LOOP {3, 0, 1}; ADD R0, R0, f[TEX[A0.x]]; ENDLOOP; MOV o[COLR], R0;", {11.5f, 20, 32, 52}},
      {"LOOP {2, 0, 1}; ADD R0, R0, f[TEX[A0.x+1]]; ENDLOOP; MOV o[COLR], R0;", {10.5f, 22, 29, 48}},
      {"LOOP {2, 7, 1}; ADD R0, R0, f[TEX[A0.x]]; ENDLOOP; MOV o[COLR], R0;", {0, 0, 0, 0}},
      {"CAL more; CAL more; MOV o[COLR], R0; RET; more: ADD R0, R0, 1; RET;", {2, 2, 2, 2}},
      {"REP 2; CAL more; ENDREP; MOV o[COLR], R0; RET; more: REP 9; ADD R0, R0, 1; RET; ENDREP; RET;", {2, 2, 2, 2}},
      {"DEFINE half = {0.5, 0.25}; DECLARE two = {2, 2, 2, 2}; MUL o[COLR], half, two;", {1, 0.5f, 0, 2}},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    Thread thread;
    ShaderStep step = run(cases[i].body, inputs, &thread);
    if (step != STEP_ENDED) fail_msg("%s: ended by %d", cases[i].body, (int)step);
    for (uint32_t k = 0; k < 4; k++) {
      if (thread.thread.output[OUTPUT_COLOR][k] != cases[i].result[k])
        fail_msg("%s: component %u is %.9g", cases[i].body, k, (double)thread.thread.output[OUTPUT_COLOR][k]);
    }
  }
}

static void test_ends(void **state) {
  (void)state;
  float inputs[3][4] = {{1, -2, 3, 4}};
  Thread thread;
  assert_int_equal(run("MOVC RC, f[TEX0]; KIL LT.y;", inputs, &thread), STEP_KILLED);
  assert_int_equal(run("MOVC RC, f[TEX0]; KIL LT.x;", inputs, &thread), STEP_ENDED);
  assert_int_equal(run("a: CAL a;", inputs, &thread), STEP_WRONG); // calls that never come back
  assert_int_equal(run("MOV o[DEPR], f[TEX0].z;", inputs, &thread), STEP_ENDED);
  assert_true(thread.thread.output[OUTPUT_DEPTH][2] == 3.0f);
}

static void test_parameters(void **state) {
  (void)state;
  Diags diags = {0};
  ShaderProgram *program = parse("DECLARE scale; MUL R0, p[3], scale; TEX R1, R0, TEX2, 2D; TEX R1, R0, TEX4, RECT;", &diags);
  assert_non_null(program);
  const float value[4] = {1, 2, 3, 4};
  assert_true(shader_set(program, "scale", value));
  assert_true(shader_set(program, "p[3]", value));
  assert_false(shader_set(program, "p[4]", value));
  assert_int_equal(program->texture_reads, 2);
  assert_int_equal(program->textures, 1u << 2 | 1u << 4);
  Thread thread;
  ShaderRead read;
  ShaderState at = begin(program, &thread);
  assert_int_equal(shader_step(program, &at, &read), STEP_ON);
  assert_true(thread.temp[0][3] == 16.0f);
  shader_free(program);
}

// Every instruction comes back from its bits; whatever the bits are, decoding ends, and no two fields share one.
static void test_words(void **state) {
  (void)state;
  Diags diags = {0};
  ShaderProgram *program = parse("DECLARE scale; MULRC_SAT R3.xz (GT.wzyx), -|H7.wzyx|, scale; TEX R1, R0, TEX15, RECT; REP scale.x; "
                                 "SGTC RC.x, f[TEX7], 0.5; BRK GT.x; ENDREP; MOVX o[DEPR], R31.yyyy;",
                                 &diags);
  assert_non_null(program);
  for (uint32_t i = 0; i < program->count; i++) {
    ShaderInstr instr;
    assert_true(shader_decode(&program->words[i], &instr));
    instr.line = program->code[i].line;
    assert_memory_equal(&instr, &program->code[i], sizeof instr);
    uint32_t used = 0;
    for (uint32_t bit = 0; bit < 128; bit++) {
      ShaderWord struck = program->words[i], back;
      struck.word[bit / 32] ^= 1u << bit % 32;
      shader_decode(&struck, &instr);
      shader_encode(&instr, &back);
      used += memcmp(&back, &struck, sizeof back) == 0;
    }
    assert_int_equal(used, 123);
  }
  shader_free(program);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_refused),    cmocka_unit_test(test_computed), cmocka_unit_test(test_ends),
      cmocka_unit_test(test_parameters), cmocka_unit_test(test_words),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
