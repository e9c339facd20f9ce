// The PTX parser: snippets against the structure they must give, bad snippets and the files of tests/ptx/bad
// against their messages, and every prefix and many mutations of the corpus against crashes.
#include "ptx/ast.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#define HEADER ".version 7.8\n.target sm_75\n.address_size 64\n"

// ---- The tree as text ----------------------------------------------------------------------------
static void show_slice(Text *out, Slice slice) { text_add(out, "%.*s", (int)slice.length, slice.at == NULL ? "" : slice.at); }

static void show_items(const PtxFunction *function, const PtxOperand *operand, const char *open, const char *close, Text *out);

static void show_operand(const PtxFunction *function, const PtxOperand *operand, Text *out) {
  if (operand->negated) text_add(out, "not ");
  switch (operand->kind) {
  case PTX_REG:
    text_add(out, "R");
    show_slice(out, function->registers.items[operand->reg].name);
    if (operand->part > 0) text_add(out, "#%u", operand->part);
    if (operand->selector.length > 0) text_add(out, "~");
    show_slice(out, operand->selector);
    break;
  case PTX_SREG_OPERAND:
    text_add(out, "S");
    show_slice(out, operand->text);
    break;
  case PTX_INT: text_add(out, operand->is_unsigned ? "%lluu" : "%lld", (long long)operand->bits); break;
  case PTX_FLOAT32: text_add(out, "f%08llx", (unsigned long long)operand->bits); break;
  case PTX_FLOAT64: text_add(out, "d%016llx", (unsigned long long)operand->bits); break;
  case PTX_NAME:
    text_add(out, operand->variable != NULL ? "V" : "N");
    show_slice(out, operand->text);
    if (operand->addend != 0) text_add(out, "%+lld", (long long)operand->addend);
    break;
  case PTX_ADDRESS:
    show_items(function, operand, "[", "", out);
    if (operand->addend != 0) text_add(out, "%+lld", (long long)operand->addend);
    text_add(out, "]");
    break;
  case PTX_VECTOR: show_items(function, operand, "{", "}", out); break;
  case PTX_TEXTURE: show_items(function, operand, "T[", "]", out); break;
  case PTX_LABEL:
    text_add(out, "L%u", operand->label);
    show_slice(out, function->labels.items[operand->label].name);
    break;
  case PTX_SINK: text_add(out, "_"); break;
  case PTX_PAIR: show_items(function, operand, "<", ">", out); break;
  case PTX_LIST: show_items(function, operand, "(", ")", out); break;
  }
}

static void show_items(const PtxFunction *function, const PtxOperand *operand, const char *open, const char *close, Text *out) {
  text_add(out, "%s", open);
  for (uint32_t i = 0; i < operand->item_count; i++) {
    if (i > 0) text_add(out, ",");
    show_operand(function, &operand->items[i], out);
  }
  text_add(out, "%s", close);
}

static void show_instr(const PtxFunction *function, const PtxInstr *instr, Text *out) {
  if (instr->has_guard) {
    text_add(out, "@%s", instr->guard_negated ? "!" : "");
    show_slice(out, function->registers.items[instr->guard].name);
    text_add(out, " ");
  }
  for (uint32_t i = 0; i < instr->part_count; i++) {
    if (i > 0) text_add(out, "/");
    show_slice(out, instr->parts[i]);
  }
  for (uint32_t i = 0; i < instr->operand_count; i++) {
    text_add(out, i == 0 ? " " : ", ");
    show_operand(function, &instr->operands[i], out);
  }
}

static void show_statement(const PtxFunction *function, const PtxStatement *statement, Text *out) {
  switch (statement->kind) {
  case PTX_INSTR: show_instr(function, &statement->instr, out); break;
  case PTX_LABEL_HERE: text_add(out, "L%u:", statement->label); break;
  case PTX_BRANCH_TARGETS:
    text_add(out, "L%u=targets", statement->label);
    for (uint32_t i = 0; i < statement->targets.count; i++) text_add(out, " L%u", statement->targets.items[i]);
    break;
  case PTX_CALL_PROTOTYPE:
    text_add(out, "L%u=prototype %u %u%s", statement->label, statement->signature->results.count, statement->signature->params.count,
             statement->signature->noreturn ? " noreturn" : "");
    break;
  case PTX_CALL_TARGETS:
    text_add(out, "L%u=functions", statement->label);
    for (uint32_t i = 0; i < statement->functions.count; i++) {
      text_add(out, " ");
      show_slice(out, statement->functions.items[i]);
    }
    break;
  }
  text_add(out, "; ");
}

static void show_variable(const PtxVariable *variable, Text *out) {
  static const char *const linkages[] = {"", "extern ", "visible ", "weak ", "common "};
  static const char *const spaces[] = {"", "reg", "sreg", "const", "global", "local", "param", "shared", "tex"};
  text_add(out, "%s%s.%s ", linkages[variable->linkage], spaces[variable->space], ptx_type_text(variable->type));
  show_slice(out, variable->name);
  text_add(out, " v%u a%u n%llu b%llu", variable->vector, variable->align, (unsigned long long)variable->count,
           (unsigned long long)variable->bytes);
  if (variable->is_array) text_add(out, " array");
  if (variable->is_pointer) text_add(out, " pointer");
  if (variable->managed) text_add(out, " managed");
  for (uint32_t i = 0; i < variable->initials.count; i++) {
    const PtxInitial *initial = &variable->initials.items[i];
    text_add(out, " %llu:%u=", (unsigned long long)initial->offset, initial->bytes);
    if (!initial->is_address) {
      text_add(out, "%llx", (unsigned long long)initial->bits);
      continue;
    }
    text_add(out, "%s&", initial->generic ? "g" : "");
    show_slice(out, initial->symbol);
    if (initial->addend != 0) text_add(out, "%+lld", (long long)initial->addend);
    if (initial->mask != UINT64_MAX) text_add(out, "/%llx", (unsigned long long)initial->mask);
  }
  text_add(out, "; ");
}

static void show_diags(const Diags *diags, Text *out) {
  for (uint32_t i = 0; i < diags->count; i++)
    text_add(out, "%d:%d: %s\n", diags->items[i].line, diags->items[i].column, diags->items[i].text);
}

// ---- Statements ----------------------------------------------------------------------------------
typedef struct Case {
  const char *source, *expected;
} Case;

#define REGISTERS \
  ".reg .pred p, q, %p<4>;.reg .b32 a, b, %r<5>;.reg .b64 %rd<3>;.reg .f32 %f<9>;.reg .v4 .f32 v;.local .align 8 .b8 loc[16];"

static const Case statements[] = {
    {"mov.u32 %r1, %tid.x;", "mov/u32 R%r1, S%tid.x; "},
    {"mov.u32 a, %envreg31; mov.u64 %rd1, %clock64;", "mov/u32 Ra, S%envreg31; mov/u64 R%rd1, S%clock64; "},
    {"ld.global.v4.f32 {%f1,%f2,%f3,%f4}, [%rd1+16];", "ld/global/v4/f32 {R%f1,R%f2,R%f3,R%f4}, [R%rd1+16]; "},
    {"st.global.L1::no_allocate.L2::128B.u32 [%rd1+-4], a;", "st/global/L1::no_allocate/L2::128B/u32 [R%rd1-4], Ra; "},
    {"st.local.u32 [loc-4+8], a; ld.u32 a, [64];", "st/local/u32 [Vloc+4], Ra; ld/u32 Ra, [64]; "},
    {"setp.lt.and.s32 p|q, a, b, !%p1;", "setp/lt/and/s32 <Rp,Rq>, Ra, Rb, not R%p1; "},
    {"setp.lt.s32 _|q, a, 3;", "setp/lt/s32 <_,Rq>, Ra, 3; "},
    {"@%p1 bra L; @!q bra.uni L; L: bar.sync 0;", "@%p1 bra L0L; @!q bra/uni L0L; L0:; bar/sync 0; "},
    {"tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [t, {%f1, %f2}];", "tex/2d/v4/f32/f32 {R%f1,R%f2,R%f3,R%f4}, T[Vt,{R%f1,R%f2}]; "},
    {"tex.1d.v4.f32.s32 {%f1,_,_,_}|p, [t, t, a];", "tex/1d/v4/f32/s32 <{R%f1,_,_,_},Rp>, T[Vt,Vt,Ra]; "},
    {"txq.width.b32 a, [t]; txq.width.b32 a, [%rd1];", "txq/width/b32 Ra, [Vt]; txq/width/b32 Ra, [R%rd1]; "},
    {"vadd.s32.u32.u32 a, b.b0, -%r1.h1, %r2;", "vadd/s32/u32/u32 Ra, Rb~b0, not R%r1~h1, R%r2; "},
    {"vset4.u32.u32.lt a.b3210, b.b7654, b, a;", "vset4/u32/u32/lt Ra~b3210, Rb~b7654, Rb, Ra; "},
    {"mov.f32 v.x, v.a; mov.f32 %f1, v.g;", "mov/f32 Rv#1, Rv#4; mov/f32 R%f1, Rv#2; "},
    {"mov.b64 {a, _}, %rd1; mov.b32 a, {1, -1};", "mov/b64 {Ra,_}, R%rd1; mov/b32 Ra, {1,-1}; "},
    {"mov.u64 %rd1, g+4; mov.u64 %rd1, g[2]; ld.global.u32 a, g[1];",
     "mov/u64 R%rd1, Vg+4; mov/u64 R%rd1, Vg+8; ld/global/u32 Ra, [Vg+4]; "},
    {"mov.u64 %rd1, f; mov.u64 %rd1, later;", "mov/u64 R%rd1, Nf; mov/u64 R%rd1, Nlater; "},
    {"add .s32 a , b , 0x10U ;;", "add/s32 Ra, Rb, 16u; "},
    {"call f;", "call Nf; "},
    {"call.uni (a), f, (b, 3);", "call/uni (Ra), Nf, (Rb,3); "},
    {"call (), f, ((1+2)*3); call f, ();", "call (), Nf, (9); call Nf, (); "},
    {"P: .callprototype (.param .b32 _) _ (.param .b64 _, .param .align 8 .b8 _[12]) .noreturn; call (a), %rd1, (b), P;",
     "L0=prototype 1 2 noreturn; call (Ra), R%rd1, (Rb), L0P; "},
    {"P: .callprototype ()_ (); C: .calltargets f, later; call %rd1, (b), C;",
     "L0=prototype 0 0; L1=functions f later; call R%rd1, (Rb), L1C; "},
    {"T: .branchtargets A, B, A; brx.idx a, T; A: B: ret;", "L0=targets L1 L2 L1; brx/idx Ra, L0T; L1:; L2:; ret; "},
    {"{ .reg .b32 a; mov.u32 a, b; } mov.u32 a, b;", "mov/u32 Ra, Rb; mov/u32 Ra, Rb; "},
    {"{ L: bra L; } { bra L; L: } L: { { bra L; } }", "L0:; bra L0L; bra L1L; L1:; L2:; bra L2L; "},
    {"L: { bra L; L: }", "L0:; bra L1L; L1:; "},
    {".reg .b32 %x1<3>; mov.u32 %x10, %x12;", "mov/u32 R%x10, R%x12; "},
    {".loc 1 2 3\n.loc 1 2 3, function_name $x, inlined_at 1 2 3\n.pragma \"nounroll\";\nret;", "ret; "},
    {"# 3 \"x.cu\"\nret; // end\n/* ; */ exit;", "ret; exit; "},
    {"mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%f1}, {a}, {b}, {%f2};",
     "mma/sync/aligned/m8n8k4/row/col/f32/f16/f16/f32 {R%f1}, {Ra}, {Rb}, {R%f2}; "},
    {"cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [a], [%rd1, {b}], [%r1];",
     "cp/async/bulk/tensor/1d/shared::cluster/global/mbarrier::complete_tx::bytes [Ra], T[R%rd1,{Rb}], [R%r1]; "},
};

static void parse_statements(const char *source, Text *out) {
  static const char before[] = HEADER ".global .texref t;\n.global .u32 g[4];\n.func f;\n.entry k()\n{\n" REGISTERS "\n";
  static const char after[] = "\n}\n.func later;\n";
  Arena *arena = arena_new();
  Diags diags = {0};
  char *text = arena_format(arena, "%s%s%s", before, source, after);
  const PtxModule *module = ptx_parse(arena, NULL, text, strlen(text), &diags);
  show_diags(&diags, out);
  const PtxFunction *function = module->functions.items[1];
  for (uint32_t i = 0; i < function->statements.count; i++) show_statement(function, &function->statements.items[i], out);
  diags_free(&diags);
  arena_free(arena);
}

static void check_text(const char *what, const Text *out, const char *expected) {
  const char *got = out->at == NULL ? "" : out->at;
  if (strcmp(got, expected) != 0) fail_msg("%s\n   gave %s\nwanted %s", what, got, expected);
}

static void test_statements(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(statements); i++) {
    Text out = {0};
    parse_statements(statements[i].source, &out);
    check_text(statements[i].source, &out, statements[i].expected);
    text_free(&out);
  }
}

// ---- Constant expressions ------------------------------------------------------------------------
static const Case constants[] = {
    {"0", "0"},
    {"010", "8"},
    {"0b101", "5"},
    {"0x7fffffffffffffff", "9223372036854775807"},
    {"0xFFFFFFFFFFFFFFFF", "18446744073709551615u"},
    {"-9223372036854775808", "9223372036854775808u"},
    {"-1", "-1"},
    {"3U - 4U", "18446744073709551615u"},
    {"2 + 3 * 4 - 1", "13"},
    {"(2 + 3) * WARP_SZ", "160"},
    {"7 / -2", "-3"},
    {"-7 % 3", "-1"},
    {"(.s64)0x8000000000000000 / -1", "-9223372036854775808"},
    {"(.s64)0x8000000000000000 % -1", "0"},
    {"1 << 63 >> 63", "-1"},
    {"1U << 63 >> 63", "1u"},
    {"1 << 64", "0"},
    {"-8 >> 99", "-1"},
    {"-8 >> 0", "-8"},
    {"~0 & 0xF0 | 1 ^ 3", "242"},
    {"!5 + !0", "1"},
    {"1 < 2 == 1 && 0 || 3 >= 4", "0"},
    {"-1 < 1U", "0"},
    {"5 > 3 ? 10 : 1 ? 20 : 30", "10"},
    {"0 ? 10 : 0 ? 20 : 30", "30"},
    {"(.u64)-1", "18446744073709551615u"},
    {"(.s64)-1.9", "-1"},
    {"(.u64)-1.9", "0u"},
    {"(.s64)1e300", "9223372036854775807"},
    {"(.u64)1e300", "18446744073709551615u"},
    {"0f3F800000", "f3f800000"},
    {"-0f3F800000", "fbf800000"},
    {"0d3ff0000000000000", "d3ff0000000000000"},
    {"0f3F800000 + 1", "d4000000000000000"},
    {"1.5", "d3ff8000000000000"},
    {"-2.5e-1", "dbfd0000000000000"},
    {"1e1", "d4024000000000000"},
    {"0.1", "d3fb999999999999a"},
    {"1.0 < 2", "1"},
    {"1 != 2 && 2 <= 2 && 3 > 2 && 2.0 != 1", "1"},
    {"1.5 * 2 - 1", "d4000000000000000"},
    {"3 / 2.0", "d3ff8000000000000"},
    {"0f7FC00000 == 0f7FC00000", "0"},
};

static void test_constants(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(constants); i++) {
    char source[128], expected[128];
    Text out = {0};
    snprintf(source, sizeof source, "mov.u64 a, %s;", constants[i].source);
    snprintf(expected, sizeof expected, "mov/u64 Ra, %s; ", constants[i].expected);
    parse_statements(source, &out);
    check_text(source, &out, expected);
    text_free(&out);
  }
}

// ---- Variables -----------------------------------------------------------------------------------
static const Case variables[] = {
    {".global .u32 x;", "global.u32 x v1 a4 n1 b4; "},
    {".visible .const .align 16 .v4 .f32 x[2];", "visible const.f32 x v4 a16 n2 b32 array; "},
    {".const[3] .f64 x, y;", "const.f64 x v1 a8 n1 b8; const.f64 y v1 a8 n1 b8; "},
    {".extern .shared .align 16 .b8 x[];", "extern shared.b8 x v1 a16 n0 b0 array; "},
    {".global .attribute(.managed, .unified(1,2)) .u32 x;", "global.u32 x v1 a4 n1 b4 managed; "},
    {".global .u32 x[2][3];", "global.u32 x v1 a4 n6 b24 array; "},
    {".global .u32 x = -1;", "global.u32 x v1 a4 n1 b4 0:4=ffffffff; "},
    {".global .u16 x[4] = {1, 2, 3, 4};", "global.u16 x v1 a2 n4 b8 array 0:8=4000300020001; "},
    {".global .u32 x[] = {1, 2, 3};", "global.u32 x v1 a4 n3 b12 array 0:8=200000001 8:4=3; "},
    {".global .u32 x[2][2] = {{1}, {2, 3}};", "global.u32 x v1 a4 n4 b16 array 0:4=1 8:8=300000002; "},
    {".global .u32 x[2][2] = {1, 2, 3, 4,};", "global.u32 x v1 a4 n4 b16 array 0:8=200000001 8:8=400000003; "},
    {".global .u64 x[][2] = {{1}, {}, {2}};", "global.u64 x v1 a8 n6 b48 array 0:8=1 32:8=2; "},
    {".global .v2 .u32 x[2] = {{1, 2}, {3}};", "global.u32 x v2 a8 n2 b16 array 0:8=200000001 8:4=3; "},
    {".global .v2 .f32 x = {1.0, 0f40000000};", "global.f32 x v2 a8 n1 b8 0:8=400000003f800000; "},
    {".global .f64 x = 1;", "global.f64 x v1 a8 n1 b8 0:8=3ff0000000000000; "},
    {".global .f64 x = 0f3F800000;", "global.f64 x v1 a8 n1 b8 0:8=3ff0000000000000; "},
    {".global .b32 x = 0f3F800000;", "global.b32 x v1 a4 n1 b4 0:4=3f800000; "},
    {".global .u64 x[3] = {g, g+4, generic(g)-8};", "global.u64 x v1 a8 n3 b24 array 0:8=&g 8:8=&g+4 16:8=g&g-8; "},
    {".global .u8 x[4] = {0xFF(g), 0xFF00(g+4), 7, 8};", "global.u8 x v1 a1 n4 b4 array 0:1=&g/ff 1:1=&g+4/ff00 2:2=807; "},
    {".global .u64 x = f;", "global.u64 x v1 a8 n1 b8 0:8=&f; "},
    {".extern .global .u32 x; .global .u32 x = 3; .extern .global .u32 x;", "global.u32 x v1 a4 n1 b4 0:4=3; "},
    {".global .samplerref x = { filter_mode = nearest, addr_mode_0 = wrap };", "global.samplerref x v1 a8 n1 b8; "},
    {".tex .u64 x;", "tex.u64 x v1 a8 n1 b8; "},
    {".weak .global .b8 x[0];", "weak global.b8 x v1 a1 n0 b0 array; "},
};

static void test_variables(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(variables); i++) {
    Arena *arena = arena_new();
    Diags diags = {0};
    Text out = {0};
    char *text = arena_format(arena, HEADER ".global .u32 g; .func f;\n%s", variables[i].source);
    const PtxModule *module = ptx_parse(arena, NULL, text, strlen(text), &diags);
    show_diags(&diags, &out);
    for (uint32_t k = 1; k < module->variables.count; k++) show_variable(module->variables.items[k], &out);
    check_text(variables[i].source, &out, variables[i].expected);
    text_free(&out);
    diags_free(&diags);
    arena_free(arena);
  }
}

// ---- Modules and functions -----------------------------------------------------------------------
static void test_module(void **state) {
  (void)state;
  static const char text[] =
      ".version 8.5\n.target sm_90a, texmode_independent, debug\n.address_size 64\n"
      ".file 1 \"a.cu\", 1, 2\n.section .debug_info { .b8 1, 2 .b32 .debug_abbrev }\n"
      ".weak .func (.reg .f32 %res) f (.reg .f32 %arg, .param .align 8 .b8 s[16]) .noreturn { add.f32 %res, %arg, %arg; }\n"
      ".visible .entry k(.param .u64 .ptr .global .align 4 p, .param .u32 n) .maxntid 128, 2 .minnctapersm 3 .maxnreg 40 "
      ".reqntid 64 .reqnctapercluster 2, 1, 1 .explicitcluster .pragma \"x\"; { ret; }\n.alias g, f;\n";
  Arena *arena = arena_new();
  Diags diags = {0};
  const PtxModule *module = ptx_parse(arena, "a.ptx", text, sizeof text - 1, &diags);
  assert_int_equal(diags.count, 0);
  assert_int_equal(module->version_major * 10 + module->version_minor, 85);
  assert_int_equal(module->sm, 90);
  assert_int_equal(module->address_bits, 64);
  assert_int_equal(module->aliases.count, 1);
  assert_true(slice_is(module->aliases.items[0].target, "f"));
  const PtxFunction *f = module->functions.items[0], *k = module->functions.items[1];
  assert_true(f->noreturn && f->signature.noreturn && !f->is_entry && f->linkage == PTX_WEAK);
  assert_true(slice_is(f->registers.items[f->signature.results.items[0].reg].name, "%res"));
  assert_true(slice_is(f->registers.items[f->signature.params.items[0].reg].name, "%arg"));
  assert_int_equal(f->signature.params.items[1].bytes, 16);
  assert_true(k->is_entry && k->has_body && k->linkage == PTX_VISIBLE);
  assert_true(k->signature.params.items[0].is_pointer && k->signature.params.items[0].align == 8);
  assert_int_equal(k->max_threads[0] * 100 + k->max_threads[1] * 10 + k->max_threads[2], 12821);
  assert_int_equal(k->required_threads[0] * k->required_threads[1] * k->required_threads[2], 64);
  assert_int_equal(k->min_blocks * 100 + k->max_registers, 340);
  diags_free(&diags);
  arena_free(arena);
}

// Before PTX 1.4 parameters stand in the body, and nothing says how wide an address is.
static void test_old_ptx(void **state) {
  (void)state;
  static const char body[] = ".target sm_10\n.entry k\n{\n.param .u64 a;\n.param .u32 b;\n.reg .u64 %rd<3>;\n.reg .u32 %r<3>;\n"
                             "ld.param.u64 %rd1, [a];\nld.global.u32 %r1, [%rd1+8];\nexit;\n}\n";
  static const struct {
    const char *version;
    uint32_t params, variables;
  } cases[] = {{"1.1", 2, 0}, {"1.4", 0, 2}};
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    Arena *arena = arena_new();
    Diags diags = {0};
    char *text = arena_format(arena, ".version %s\n%s", cases[i].version, body);
    const PtxModule *module = ptx_parse(arena, NULL, text, strlen(text), &diags);
    const PtxFunction *k = module->functions.items[0];
    assert_int_equal(diags.count, 0);
    assert_int_equal(module->address_bits, 64);
    assert_int_equal(k->signature.params.count, cases[i].params);
    assert_int_equal(k->variables.count, cases[i].variables);
    const PtxVariable *a = cases[i].params > 0 ? &k->signature.params.items[0] : k->variables.items[0];
    assert_ptr_equal(k->statements.items[0].instr.operands[1].items[0].variable, a);
    diags_free(&diags);
    arena_free(arena);
  }
}

// ---- Errors --------------------------------------------------------------------------------------
static const Case errors[] = {
    {HEADER ".entry k() { .reg .b32 a; add.s32 a, a\nbra L; L: }", "5:1: expected ';' after the operand, found 'bra'\n"},
    {HEADER ".entry k() { .reg .b32 a; mov.u32 a, }\n", "4:38: expected an operand, found '}'\n"},
    {HEADER ".entry k() { foo.bar ; ret }", "4:28: expected an operand, found '}'\n"},
    {HEADER ".entry k(.param .u32 a .param .u32 b) { ret; }", "4:24: expected ',' between parameters, found '.param'\n"},
    {HEADER ".entry k() { ret; ", "4:19: the file ends inside the body of 'k' that begins at line 4; expected '}'\n"},
    {HEADER ".entry k() { {{ ret; ", "4:22: the file ends inside the block that begins at line 4; expected '}'\n"},
    {HEADER ".entry", "4:7: expected the name of the function, found the end of the file\n"},
    {HEADER "foo\n.entry k() { ret; }", "4:1: expected a directive such as '.entry', found 'foo'\n"},
    {HEADER ".entry k() { ret;\n.extern .func f;\n.entry m() { ret; }",
     "5:1: missing '}' before '.extern': the body of 'k' that begins at line 4 is still open\n"},
    {HEADER ".entry k() { .reg .f64 d; mov.f64 d, 1.0 / 0; }", "4:42: division by zero in a constant expression\n"},
    {".version 7.8\n.target sm_75\n.address_size 48\n", "3:15: expected 32 or 64, found '48'\n"},
};

static void test_errors(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(errors); i++) {
    Arena *arena = arena_new();
    Diags diags = {0};
    Text out = {0};
    ptx_parse(arena, "x.ptx", errors[i].source, strlen(errors[i].source), &diags);
    show_diags(&diags, &out);
    check_text(errors[i].source, &out, errors[i].expected);
    text_free(&out);
    diags_free(&diags);
    arena_free(arena);
  }
}

// ---- Files ---------------------------------------------------------------------------------------
typedef void (*FileCheck)(const char *path, const char *name, const char *text, size_t length);

// Calls `check` for each .ptx file of a folder; how many there were.
static unsigned each_file(const char *folder, FileCheck check) {
  struct dirent **names;
  unsigned files = 0;
  int count = scandir(folder, &names, NULL, alphasort);
  if (count < 0) fail_msg("%s cannot be read", folder);
  for (int i = 0; i < count; i++) {
    const char *dot = strrchr(names[i]->d_name, '.');
    if (dot != NULL && strcmp(dot, ".ptx") == 0) {
      Arena *arena = arena_new();
      Diags diags = {0};
      char *path = arena_format(arena, "%s/%s", folder, names[i]->d_name), *text;
      size_t length;
      assert_true(file_read(arena, path, &text, &length, &diags));
      check(path, names[i]->d_name, text, length);
      files++;
      diags_free(&diags);
      arena_free(arena);
    }
    free(names[i]);
  }
  free(names);
  return files;
}

// The "// expect: LINE:COLUMN: text" lines at the top are what the parser must say, in order and without
// more, unless "// and more" follows.
static void check_bad_file(const char *path, const char *name, const char *text, size_t length) {
  (void)name;
  static const char mark[] = "// expect: ";
  Arena *arena = arena_new();
  Diags diags = {0};
  Text got = {0}, expected = {0};
  uint32_t expects = 0;
  const char *at = text;
  for (; strncmp(at, mark, sizeof mark - 1) == 0; expects++) {
    const char *newline = strchr(at, '\n');
    assert_non_null(newline);
    text_add_bytes(&expected, at + sizeof mark - 1, (size_t)(newline + 1 - at) - (sizeof mark - 1));
    at = newline + 1;
  }
  ptx_parse(arena, path, text, length, &diags);
  if (expects == 0) fail_msg("%s does not say what to expect", path);
  if (strncmp(at, "// and more", 11) == 0 && diags.count > expects) diags.count = expects;
  show_diags(&diags, &got);
  check_text(path, &got, expected.at);
  text_free(&got);
  text_free(&expected);
  diags_free(&diags);
  arena_free(arena);
}

static void test_bad_files(void **state) {
  (void)state;
  assert_true(each_file("tests/ptx/bad", check_bad_file) >= 40);
}

static void test_error_limit(void **state) {
  (void)state;
  Text text = {0};
  Arena *arena = arena_new();
  Diags diags = {0};
  text_add(&text, HEADER ".entry k() {\n");
  for (int i = 0; i < 500; i++) text_add(&text, "mov.u32 %%r%d, 0;\n", i);
  ptx_parse(arena, NULL, text.at, text.length, &diags);
  assert_int_equal(diags.count, 101);
  assert_string_equal(diags.items[100].text, "too many errors");
  text_free(&text);
  diags_free(&diags);
  arena_free(arena);
}

// Many more names than the first table of them holds, in a scope that ends and in one that does not.
static void test_many_names(void **state) {
  (void)state;
  enum { NAMES = 3000 };
  Text text = {0};
  Arena *arena = arena_new();
  Diags diags = {0};
  text_add(&text, HEADER ".entry k() {\n.reg .b32 %%keep<9>;\n{\n");
  for (int i = 0; i < NAMES; i++) text_add(&text, ".reg .b32 n%d_;\nL%d:\n", i, i);
  for (int i = 0; i < NAMES; i++) text_add(&text, "mov.b32 n%d_, %%keep%d;\nbra L%d;\n", i, i % 9, NAMES - 1 - i);
  text_add(&text, "}\nmov.b32 %%keep1, n5_;\n}\n");
  const PtxModule *module = ptx_parse(arena, NULL, text.at, text.length, &diags);
  assert_int_equal(diags.count, 1);
  assert_string_equal(diags.items[0].text, "unknown name 'n5_'");
  const PtxFunction *k = module->functions.items[0];
  assert_int_equal(k->registers.count, NAMES + 9);
  for (uint32_t i = 0; i < NAMES; i++) {
    const PtxStatement *move = &k->statements.items[NAMES + 2 * i], *branch = move + 1;
    assert_int_equal(move->instr.operands[0].reg, i);
    assert_int_equal(branch->instr.operands[0].label, NAMES - 1 - i);
  }
  text_free(&text);
  diags_free(&diags);
  arena_free(arena);
}

static uint32_t count_errors(const char *text, size_t length) {
  Arena *arena = arena_new();
  Diags diags = {0};
  ptx_parse(arena, "x.ptx", text, length, &diags);
  uint32_t count = diags.count;
  diags_free(&diags);
  arena_free(arena);
  return count;
}

// Good files give no error; no prefix and no single changed byte of any file does harm. The copy has
// exactly the size needed, so that a read past the end is seen by the sanitizers.
static void check_corpus_file(const char *path, const char *name, const char *text, size_t length) {
  bool bad = strncmp(name, "bad-", 4) == 0;
  if ((count_errors(text, length) > 0) != bad) fail_msg("%s %s", path, bad ? "gave no error" : "gave errors");
  for (size_t i = 0; i < length; i++) {
    char *copy = malloc(length);
    memcpy(copy, text, length);
    char *prefix = realloc(copy, i + 1);
    count_errors(prefix, i + 1);
    free(prefix);
    copy = malloc(length);
    memcpy(copy, text, length);
    copy[i] = (char)random_draw(7, i, length);
    count_errors(copy, length);
    free(copy);
  }
}

static void test_corpus(void **state) {
  (void)state;
  assert_true(each_file("tests/ptx/fuzz-corpus", check_corpus_file) >= 20);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_statements), cmocka_unit_test(test_constants),   cmocka_unit_test(test_variables),
      cmocka_unit_test(test_module),     cmocka_unit_test(test_old_ptx),     cmocka_unit_test(test_errors),
      cmocka_unit_test(test_bad_files),  cmocka_unit_test(test_error_limit), cmocka_unit_test(test_corpus),
      cmocka_unit_test(test_many_names),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
