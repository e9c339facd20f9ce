// Lowering: snippets against the machine code they must give, bad snippets against their messages, linking,
// variables, and the files of tests/ptx that hold an instance of every instruction.
#include "ptx/lower.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <cmocka.h>

#define HEADER                                                                                                    \
  ".version 8.0\n.target sm_90\n.address_size 64\n.global .texref texture;\n.global .align 8 .b8 variable[16];\n" \
  ".const .align 8 .b8 constant[16];\n.shared .align 8 .b8 shared[64];\n"
#define BODY                                                                                                                        \
  ".visible .entry k(.param .u64 p, .param .u32 n)\n{\n.reg .pred %%p<8>; .reg .b16 %%h<8>; .reg .b32 %%r<16>; .reg .b64 %%rd<8>; " \
  ".reg .f32 %%f<16>; .reg .f64 %%fd<8>; .local .align 8 .b8 local[16];\n%s\n}\n"
enum { SNIPPET_LINE = 11 };

// ---- Help ----------------------------------------------------------------------------------------
typedef struct Lowered {
  MirModule mir;
  Arena *scratch;
  Diags diags;
  bool good;
} Lowered;

static Lowered lower_sources(const char *const *texts, uint32_t count) {
  PtxSource sources[4];
  Lowered lowered = {.mir = {.arena = arena_new()}, .scratch = arena_new()};
  for (uint32_t i = 0; i < count; i++) sources[i] = (PtxSource){i ? "b.ptx" : "a.ptx", texts[i], strlen(texts[i])};
  lowered.good = ptx_lower(sources, count, &lowered.mir, lowered.scratch, &lowered.diags);
  return lowered;
}

static Lowered lower_snippet(const char *snippet) {
  Text text = {0};
  text_add(&text, HEADER BODY, snippet);
  const char *source = text.at;
  Lowered lowered = lower_sources(&source, 1);
  text_free(&text);
  return lowered;
}

static void release(Lowered *lowered) {
  arena_free(lowered->mir.arena);
  arena_free(lowered->scratch);
  diags_free(&lowered->diags);
}

// The instructions of a dump in one line, without lines, blocks and exits.
static void squeeze(const MirFunction *function, Text *out) {
  Text dump = {0};
  mir_dump(function, &dump);
  for (const char *line = strchr(dump.at, '\n'); line && line[1];) {
    line += 1 + strspn(line + 1, " ");
    const char *comment = strstr(line, "  //"), *end = strchr(line, '\n');
    const char *stop = comment && comment < end ? comment : end;
    int length = (int)(stop - line);
    bool plain = strncmp(line, "block", 5) != 0 && !(length == 4 && strncmp(line, "exit", 4) == 0);
    if (plain) text_add(out, "%s%.*s", out->length ? "; " : "", length, line);
    line = end;
  }
  text_free(&dump);
}

// ---- Snippets ------------------------------------------------------------------------------------
typedef struct Snippet {
  const char *source, *expected;
} Snippet;

// select 1..3: immediate as a, b, c; 4..6: constant (bank << 24 | offset) as a, b, c.
// clang-format off
static const Snippet snippets[] = {
    {"add.s32 %r1, %r2, %r3;",
     "add.b32 =%r0 %r1 %r2"},
    {"add.s32 %r1, 5, %r3;",
     "add.b32 =%r0 %r1 select 1 imm 0x5"},
    {"sub.s32 %r1, 5, -7;",
     "mov.b32 =%r1 select 1 imm 0xfffffff9; sub.b32 =%r0 %r1 select 1 imm 0x5"},
    {"add.s64 %rd1, %rd2, 0x123456789;",
     "mov.b32 =%d2 select 1 imm 0x23456789; mov.b32 =%d2.1 select 1 imm 0x1; add.b64 =%d0 %d1 %d2"},
    {"add.f32 %f1, %f2, 0f3F800000;",
     "add.rn.f32 =%r0 %r1 select 2 imm 0x3f800000"},
    {"add.ftz.sat.f32 %f1, %f2, %f3;",
     "add.rn.f32 =%r0 %r1 %r2"},
    {"fma.rn.f64 %fd1, %fd2, 0d3FF0000000000000, 0d3FF0000000000001;",
     "mov.b32 =%d2 select 1 imm 0x1; mov.b32 =%d2.1 select 1 imm 0x3ff00000; fma.rn.f64 =%d0 %d1 %d2 select 2 imm 0x3ff00000"},
    {"and.b16 %h1, %h2, -2;",
     "and.b32 =%r0 %r1 select 2 imm 0xfffe"},
    {"not.b16 %h1, %h2;",
     "not.b16 =%r0 %r1"},
    {"selp.f32 %f1, %f2, 0f00000000, %p1;",
     "selp.b32 =%r0 %r1 %p2 select 2 imm 0x0"},
    {"slct.u16.s32 %h1, %h2, %h3, %r1;",
     "slct.b32.s32 =%r0 %r1 %r2 %r3"},
    {"@!%p1 mov.u32 %r1, 7;",
     "@!%p1 mov.b32 =%r0 select 1 imm 0x7"},
    {"mov.u32 %r1, 7; add.s32 %r2, %r3, %r1;",
     "mov.b32 =%r0 select 1 imm 0x7; add.b32 =%r1 %r2 select 2 imm 0x7"},
    {"mov.u32 %r1, 7; @%p1 mov.u32 %r1, 8; add.s32 %r2, %r3, %r1;",
     "mov.b32 =%r0 select 1 imm 0x7; @%p1 mov.b32 =%r0 select 1 imm 0x8; add.b32 =%r2 %r3 %r0"},
    {"ld.param.u64 %rd1, [p]; cvta.to.global.u64 %rd2, %rd1; add.s64 %rd3, %rd2, %rd4;",
     "mov.b64 =%d0 select 4 imm 0x0; mov.b64 =%d1 select 4 imm 0x0; add.b64 =%d2 %d3 select 4 imm 0x0"},
    {"ld.param.u32 %r1, [n]; setp.ge.s32 %p1, %r2, %r1;",
     "mov.b32 =%r0 select 4 imm 0x8; setp.ge.s32 =%p1 %r2 select 5 imm 0x8"},
    {"ld.param.u8 %h1, [n+1];",
     "ld.param.u8 =%r0 select 0 imm 0x9"},
    {"ld.global.s8 %h1, [%rd1];",
     "ld.global.s8 =%r1 %d0; and.b32 =%r1 %r1 select 2 imm 0xffff"},
    {"ld.global.s16 %r1, [%rd1];",
     "ld.global.s16 =%r1 %d0"},
    {"ld.global.s32 %rd1, [%rd2+8];",
     "ld.global.b32 =%d1 %d0 select 0 imm 0x8; shr.s32 =%d1.1 %d1 select 2 imm 0x1f"},
    {"ld.global.u32 %rd1, [%rd2+-8];",
     "ld.global.b32 =%d1 %d0 select 0 imm 0xfffffff8; mov.b32 =%d1.1 select 1 imm 0x0"},
    {"ld.volatile.global.v2.u32 {%r1, _}, [%rd1];",
     "ld.global.b32 =%r1 %d0"},
    {"st.global.u8 [%rd1], 0;",
     "st.global.b8 %d0"},
    {"st.global.v2.f32 [%rd1+4], {%f1, 0f3F800000};",
     "mov.b32 =%r2 select 1 imm 0x3f800000; st.global.b32 %r1 %r2 %d0 select 0 imm 0x4"},
    {"ld.global.u64 %rd2, [%rd3]; add.s64 %rd1, %rd2, 16; ld.global.u32 %r1, [%rd1+4];",
     "ld.global.b64 =%d1 %d0; add.b64 =%d2 %d1 select 2 imm 0x10; ld.global.b32 =%r3 %d1 select 0 imm 0x14"},
    {"ld.global.u64 %rd2, [%rd3]; add.s64 %rd1, %rd2, 16; $L: ld.global.u32 %r1, [%rd1+4]; bra $L;",
     "ld.global.b64 =%d1 %d0; add.b64 =%d2 %d1 select 2 imm 0x10; ld.global.b32 =%r3 %d2 select 0 imm 0x4; bra -> 1"},
    {"mov.u64 %rd1, shared; ld.shared.u32 %r1, [%rd1+4];",
     "mov.b64 =%d0 select 1 imm 0x0; ld.shared.b32 =%r1 select 0 imm 0x4"},
    {"mov.u64 %rd1, variable; mov.u64 %rd2, variable+4;",
     "mov.b64 =%d0 select 4 imm 0x2000008; mov.b64 =%d3 select 1 imm 0x4; add.b64 =%d2 %d3 select 4 imm 0x2000008; mov.b64 =%d1 %d2"},
    {"ld.const.f32 %f1, [constant+4]; add.f32 %f2, %f3, %f1;",
     "mov.b32 =%r0 select 4 imm 0x1000004; add.rn.f32 =%r1 %r2 select 5 imm 0x1000004"},
    {"mov.u64 %rd1, local; st.local.u32 [local+4], %r1;",
     "add.b32 =%r2 %r1 select 2 imm 0x0; mov.b32 =%d3 %r2; mov.b32 =%d3.1 select 1 imm 0x0; mov.b64 =%d0 %d3; st.local.b32 %r4 %r1 select 0 imm 0x4"},
    {"cvta.shared.u64 %rd1, %rd2; cvta.to.local.u64 %rd3, %rd4;",
     "add.b64 =%d0 %d1 select 2 imm 0x1000000; add.b64 =%d2 %d3 select 2 imm 0xfe000000"},
    {"mov.b64 %rd1, {%r1, %r2};",
     "mov.b32 =%d0 %r1; mov.b32 =%d0.1 %r2"},
    {"mov.b32 {%h1, %h2}, %r1;",
     "and.b32 =%r1 %r0 select 2 imm 0xffff; shr.b32 =%r2 %r0 select 2 imm 0x10"},
    {"mov.u32 %r1, %tid.x;",
     "mov.sreg.u32 =%r1; mov.b32 =%r0 %r1"},
    {"mov.u64 %rd1, %clock64;",
     "mov.clock.u64 =%d1 select 0 imm 0x19; mov.b64 =%d0 %d1"},
    {"mov.pred %p1, 0;",
     "mov.pred =%p0"},
    {"and.pred %p1, %p2, %p3;",
     "and.pred =%p0 %p1 %p2"},
    {"setp.lt.and.s32 %p1|%p2, %r1, 4, !%p3;",
     "setp.lt.s32 =%p2 =%p3 %r5 select 2 imm 0x4; and.pred =%p6 %p3 %p4; and.pred =%p0 %p2 %p4; mov.pred =%p1 %p6"},
    {"setp.hi.u32 %p1, %r1, %r2;",
     "setp.gt.u32 =%p0 %r1 %r2"},
    {"set.eq.f32.u32 %f1, %r1, %r2;",
     "setp.eq.b32 =%p1 %r2 %r3; selp.b32 =%r0 %p1 select 1 imm 0x3f800000"},
    {"add.cc.u32 %r1, %r2, %r3; addc.u32 %r4, %r5, 0;",
     "add.cc.b32 =%r0 =%p3 %r1 %r2; addc.b32 =%r4 %r5 %p3 select 2 imm 0x0"},
    {"cvt.u32.u64 %r1, %rd1;",
     "mov.b32 =%r0 %d1"},
    {"cvt.s8.s32 %h1, %r1;",
     "cvt.s8.s32 =%r0 %r1; and.b32 =%r0 %r0 select 2 imm 0xffff"},
    {"cvt.s16.s32 %rd1, %r1;",
     "cvt.s16.s32 =%d0 %r1; cvt.s32.s16 =%d0 %d0; shr.s32 =%d0.1 %d0 select 2 imm 0x1f"},
    {"bfi.b32 %r1, %r2, %r3, 8, 4;",
     "bfi.b32 =%r0 %r1 %r2 select 3 imm 0x408"},
    {"bfi.b32 %r1, %r2, %r3, %r4, 4;",
     "mov.b32 =%r5 select 1 imm 0x4440; prmt.b32 =%r4 %r3 %r5 select 2 imm 0x4; bfi.b32 =%r0 %r1 %r2 %r4"},
    {"lop3.b32 %r1, %r2, %r3, 0, 0x96;",
     "lop3.b32 =%r0 %r1 %r2 select 0 imm 0x96"},
    {"shfl.sync.down.b32 %r1|%p1, %r2, 4, 31, -1;",
     "shfl.sync.down.b32 =%r0 =%p1 %r2 select 2 imm 0x1f04"},
    {"shfl.idx.b32 %r1, %r2, %r3, 31;",
     "and.b32 =%r3 %r2 select 2 imm 0x1f; or.b32 =%r4 %r3 select 2 imm 0x1f00; shfl.sync.idx.b32 =%r0 %r1 %r4"},
    {"vote.sync.ballot.b32 %r1, !%p1, %r2;",
     "vote.sync.ballot.b32 =%r0 %r2 %p1"},
    {"vote.ballot.b32 %r1, %p1;",
     "vote.sync.ballot.b32 =%r0 %p1"},
    {"match.all.sync.b32 %r1|%p1, %r2, -1;",
     "match.all.sync.b32 =%r0 =%p1 %r2"},
    {"bar.sync 0; bar.red.and.pred %p1, 1, %p2;",
     "bar.sync select 1 imm 0x0; bar.red.and.pred =%p0 %p1 select 1 imm 0x1"},
    {"bar.warp.sync -1;",
     "bar.warp.sync"},
    {"atom.global.add.s32 %r1, [%rd1+4], 1;",
     "mov.b32 =%r2 select 1 imm 0x1; atom.global.add.u32 =%r1 %d0 %r2 select 0 imm 0x4"},
    {"atom.add.release.gpu.u32 %r1, [%rd1], %r2;",
     "atom.add.u32 =%r1 %d0 %r2"},
    {"red.shared.max.s32 [shared], %r1;",
     "atom.shared.max.s32 %r0"},
    {"atom.shared.cas.b64 %rd1, [shared+8], 0, %rd2;",
     "atom.shared.cas.b64 =%d0 %d1 select 0 imm 0x8"},
    {"@%p1 bra $L; mov.u32 %r1, 1; $L: mov.u32 %r2, 2;",
     "@%p0 bra -> 2; mov.b32 =%r1 select 1 imm 0x1; mov.b32 =%r2 select 1 imm 0x2"},
    {"vadd4.u32.u32.u32.sat %r1, %r2, %r3, %r4;",
     "vadd4 =%r0 %r1 %r2 %r3 select 0 imm 0xffac6880"},
    {"tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5, %f6}];",
     "tex.x2 =%r1 =%r2 =%r3 =%r4 %d5 %d0 select 0 imm 0x310"},
    {"tex.1d.v4.u32.s32 {%r1, %r2, %r3, %r4}, [texture, {%r5}];",
     "mov.b64 =%d4 select 4 imm 0x2000000; tex.x1 =%r0 =%r1 =%r2 =%r3 %d4 %r5"},
    {"tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5, %f5}];",
     "mov.b32 =%d6 %r5; mov.b32 =%d6.1 %r5; tex.x2 =%r0 =%r1 =%r2 =%r3 %d4 %d6 select 0 imm 0x310"},
    {"ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1, %r2, %r3, %r4}, [shared]; mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%r5, %r6}, {%r1, %r2}, {%r3}, {%r5, %r6};",
     "mov.b32 =%r2 select 1 imm 0x0; fragment.load.shared.x4 =%q0 %r2 select 0 imm 0x80000002; mma.d2.a2.b1.c2 =%d1 %q0 %q0.2 %d1 select 0 imm 0x30e"},
    {"mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%r1, %r2}, {%r3, %r4}, {%r5}, {%r2, %r1};",
     "mov.b32 =%d2 %d0.1; mov.b32 =%d2.1 %d0; mma.d2.a2.b1.c2 =%d0 %d1 %r3 %d2 select 0 imm 0x30e"},
    {"isspacep.shared %p1, %rd1;",
     "sub.b64 =%d2 %d1 select 2 imm 0x1000000; setp.lt.u64 =%p0 %d2 select 2 imm 0x1000000"},
    {"prefetch.global.L2 [%rd1]; griddepcontrol.wait;",
     ""},
    {"membar.gl; fence.acq_rel.sys;",
     "membar.gl; membar.sys"},
};

// Column and text of every message, in order.
static const Snippet bad_snippets[] = {
    {"frobnicate.u32 %r1, %r2;",
     "1: unsupported instruction 'frobnicate.u32'"},
    {"add.s23 %r1, %r2, %r3;",
     "1: unsupported instruction 'add.s23' (nearest: 'add.b16')"},
    {"add.s32 %r1, %r2;",
     "1: 'add.s32' takes 3 operands, not 2"},
    {"add.s32 %rd1, %r2, %r3;",
     "9: '%rd1' is a .b64 register, but 'add.s32' needs 32 bits here"},
    {"add.s32 %r1, %rd2, %r3;",
     "14: '%rd2' is a .b64 register, but 'add.s32' needs 32 bits here"},
    {"add.f64 %fd1, %f1, %fd2;",
     "15: '%f1' is a .f32 register, but 'add.f64' needs 64 bits here"},
    {"add.s16 %h1, %r1, %h2;",
     "14: '%r1' is a .b32 register, but 'add.s16' needs 16 bits here"},
    {"mov.u32 %r1, %rd1;",
     "14: 'mov.u32' needs a source of 32 bits"},
    {"mov.u32 5, %r1;",
     "9: the destination must be a register"},
    {"ld.global.u32 %h1, [%rd1];",
     "15: '%h1' is a .b16 register, too narrow for .u32"},
    {"ld.global.v2.u32 %r1, [%rd1];",
     "18: 'ld.global.v2.u32' takes 2 elements, not 1"},
    {"ld.global.u32 %r1, %rd1;",
     "20: an address in brackets is needed here"},
    {"ld.global.pred %p1, [%rd1];",
     "1: unsupported instruction 'ld.global.pred' (nearest: 'ld.global.u8')"},
    {"st.const.u32 [constant], %r1;",
     "14: this memory is read-only"},
    {"st.param.u32 [n], %r1;",
     "14: this memory is read-only"},
    {"setp.lt.s32 %r1, %r2, %r3;",
     "13: '%r1' is a .b32 register, but a predicate is needed here"},
    {"selp.b32 %r1, %r2, %r3, %r4;",
     "25: '%r4' is a .b32 register, but a predicate is needed here"},
    {"@%r1 mov.u32 %r2, 1;",
     "2: the guard '%r1' is a .b32 register; it must be .pred"},
    {"call nowhere, ();",
     "6: unknown name 'nowhere'"},
    {"call (%r1), vprintf, (%rd1);",
     "13: unknown name 'vprintf'"},
    {"mov.u64 %rd1, nothing;",
     "15: unknown name 'nothing'"},
    {"bra 5;",
     "5: a branch needs a label of this function"},
    {"lop3.b32 %r1, %r2, %r3, %r4, 256;",
     "30: the table is a number from 0 to 255"},
    {"cp.async.ca.shared.global [shared], [%rd1], 5;",
     "45: 4, 8 or 16 bytes can be copied at once"},
    {"atom.global.add.b32 %r1, [%rd1];",
     "1: 'atom.global.add.b32' takes 3 to 4 operands, not 2"},
    {"atom.global.frob.b32 %r1, [%rd1], %r2;",
     "1: unsupported instruction 'atom.global.frob.b32' (nearest: 'atom.global.or.b32')"},
    {"tex.2d.v4.f32.f32 {%f1, %f2}, [%rd1, {%f5, %f6}];",
     "19: 4 registers are needed here, not 2"},
    {"mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%r1}, {%r3, %r4}, {%r5}, {%r2, %r1};",
     "50: this fragment has 2 registers, not 1"},
    {"mma.sp.sync.aligned.m16n8k32.row.col.f16.f16.f16.f16 {%r1, %r2}, {%r3, %r4, %r5, %r6}, {%r3, %r4, %r5, %r6}, {%r1, %r2}, %r7, 2;",
     "127: the sparsity selector must be a constant from 0 to 1"},
    {"mma.sync.aligned.m16n8k99.row.col.f16.f16.f16.f16 {%r1}, {%r3, %r4}, {%r5}, {%r2, %r1};",
     "1: unsupported instruction 'mma.sync.aligned.m16n8k99.row.col.f16.f16.f16.f16'"},
    {"mapa.shared::cluster.u16 %r1, %r2, %r3;",
     "1: unsupported instruction 'mapa.shared::cluster.u16'"},
    {"cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1, {%r1}], [%r2];",
     "1: 'cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes': copies that a tensor map describes are not supported"},
    {"add.rn.sat.f32x2 %rd1, %rd2, %rd3;", "1: unsupported instruction 'add.rn.sat.f32x2' (nearest: 'add.rn.f32')"},
    {"add.rn.f32x2 %rd1, %rd2, %r3;", "26: '%r3' is a .b32 register, but a value of 64 bits is needed here"},
    {"mov.u32 %r1, %nothing;",
     "14: unknown register '%nothing'"},
    {"wgmma.fence.sync.aligned;",
     "1: unsupported instruction 'wgmma.fence.sync.aligned'"},
    {"frob.a %r1; frob.b %r1;",
     "1: unsupported instruction 'frob.a' / 13: unsupported instruction 'frob.b'"},
    {"add.ftz.s32 %r1, %r2, %r3;",
     "1: unsupported instruction 'add.ftz.s32' (nearest: 'add.rz.f32')"},
    {"vadd4.u32.u32.u32 %r1, %r2.b9, %r3, %r4;",
     "27: register '%r2' has no part 'b9'"},
    {"cvt.u32.f32 %r1, %f1;",
     "1: unsupported instruction 'cvt.u32.f32' (nearest: 'cvt.u32.u32')"},
    {"bar.sync 0, 64, 5;",
     "1: 'bar.sync' takes 0 to 2 operands, not 3"},
    {"brx.idx %r1, $L; $L:",
     "14: the name of a .branchtargets list is needed here"},
    {"shfl.sync.down.b32 %r1, %rd2, 4, 31, -1;",
     "25: '%rd2' is a .b64 register, but 'shfl.sync.down.b32' needs 32 bits here"},
};
// clang-format on

static void test_snippets(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(snippets); i++) {
    Lowered lowered = lower_snippet(snippets[i].source);
    Text out = {0};
    text_add(&out, "%s", "");
    if (!lowered.good) print_error("%s: %s\n", snippets[i].source, lowered.diags.items[0].text);
    assert_true(lowered.good);
    squeeze(&lowered.mir.functions.items[0], &out);
    if (strcmp(out.at, snippets[i].expected) != 0) print_error("%s\n", snippets[i].source);
    assert_string_equal(out.at, snippets[i].expected);
    text_free(&out);
    release(&lowered);
  }
}

static void test_bad_snippets(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(bad_snippets); i++) {
    Lowered lowered = lower_snippet(bad_snippets[i].source);
    Text out = {0};
    for (uint32_t k = 0; k < lowered.diags.count; k++) {
      assert_int_equal(lowered.diags.items[k].line, SNIPPET_LINE);
      text_add(&out, "%s%d: %s", k ? " / " : "", lowered.diags.items[k].column, lowered.diags.items[k].text);
    }
    assert_false(lowered.good);
    if (strcmp(out.at, bad_snippets[i].expected) != 0) print_error("%s\n", bad_snippets[i].source);
    assert_string_equal(out.at, bad_snippets[i].expected);
    text_free(&out);
    release(&lowered);
  }
}

// Modifiers are not in the dump.
static void test_modifiers(void **state) {
  (void)state;
  static const struct {
    const char *source;
    unsigned mods;
  } cases[] = {
      {"add.ftz.sat.f32 %f1, %f2, %f3;", MOD_FTZ | MOD_SAT},
      {"add.sat.s32 %r1, %r2, %r3;", MOD_SAT},
      {"setp.lt.ftz.f32 %p1, %f1, %f2;", MOD_FTZ},
      {"cvt.rni.ftz.f32.f32 %f1, %f2;", MOD_FTZ},
      {"cvt.sat.u8.s32 %h1, %r2;", MOD_SAT},
      {"ld.volatile.global.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1];", MOD_VOLATILE | 2u << MOD_VECTOR_SHIFT},
      {"ld.acquire.gpu.u32 %r1, [%rd1];", MOD_VOLATILE | MOD_ORDERED},
      {"ld.global.cg.v2.u32 {%r1, %r2}, [%rd1];", MOD_CACHE_GLOBAL | 1u << MOD_VECTOR_SHIFT},
      {"ld.global.nc.L1::evict_last.u32 %r1, [%rd1];", MOD_NON_COHERENT},
      {"st.global.cs.u32 [%rd1], %r1;", MOD_STREAMING},
      {"ld.global.u32 %r1, [%r2];", MOD_ADDRESS32},
      {"atom.add.release.gpu.u32 %r1, [%rd1], %r2;", MOD_VOLATILE | MOD_ORDERED},
      {"shfl.sync.idx.b32 %r1, %r2, 0, 31, -1;", MOD_FULL_MASK},
      {"vote.sync.any.pred %p1, %p2, %r1;", 0},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    Lowered lowered = lower_snippet(cases[i].source);
    assert_true(lowered.good);
    if (lowered.mir.functions.items[0].blocks.items[0].instrs.items[0].mods != cases[i].mods) print_error("%s\n", cases[i].source);
    assert_int_equal(lowered.mir.functions.items[0].blocks.items[0].instrs.items[0].mods, cases[i].mods);
    release(&lowered);
  }
}

// ---- Calls ---------------------------------------------------------------------------------------
#define CALLEE ".func (.param .b32 result) f(.param .b32 a, .param .b64 b) { ret; }\n"

static void expect_function(const char *source, uint32_t function, const char *expected) {
  Lowered lowered = lower_sources(&source, 1);
  Text out = {0};
  if (!lowered.good) print_error("%s\n", lowered.diags.items[0].text);
  assert_true(lowered.good);
  squeeze(&lowered.mir.functions.items[function], &out);
  assert_string_equal(out.at, expected);
  text_free(&out);
  release(&lowered);
}

static void test_calls(void **state) {
  (void)state;
  // Arguments go straight to the argument area: a at 0, b at 8, the result at 16.
  expect_function(HEADER CALLEE ".entry k() { .reg .b32 %r<4>; .reg .b64 %rd<2>;\n{ .param .b32 x; .param .b64 y; .param .b32 z;\n"
                                "st.param.b32 [x], %r1; st.param.b64 [y], %rd1; call.uni (z), f, (x, y); ld.param.b32 %r2, [z]; } }",
                  1,
                  "st.local.b32 %r1 %r0 select 0 imm 0x1000000; st.local.b64 %d2 %r0 select 0 imm 0x1000008; call -> 0; "
                  "ld.local.b32 =%r3 %r0 select 0 imm 0x1000010");
  // An argument written long before its call lies in the frame and is copied.
  expect_function(HEADER CALLEE ".entry k() { .reg .b32 %r<4>; .param .b32 x; .param .b64 y; .param .b32 z;\n"
                                "st.param.b32 [x], %r1; $L: call (z), f, (x, y); ld.param.b32 %r2, [z]; bra $L; }",
                  1,
                  "st.local.b32 %r1 %r0; ld.local.b32 =%r2 %r0; st.local.b32 %r2 %r0 select 0 imm 0x1000000; call -> 0; "
                  "ld.local.b32 =%r3 %r0 select 0 imm 0x1000010; bra -> 1");
  // Parameters in registers, as old PTX has them.
  expect_function(".version 1.4\n.target sm_10\n.func (.reg .u32 %r1) g(.reg .u32 %r2) { add.u32 %r1, %r2, 1; ret; }\n", 0,
                  "ld.local.b32 =%r0 %r1; add.b32 =%r2 %r0 select 2 imm 0x1; st.local.b32 %r2 %r1 select 0 imm 0x4; ret; "
                  "st.local.b32 %r2 %r1 select 0 imm 0x4; ret");
  // System calls take the address of the argument area.
  expect_function(HEADER ".extern .func (.param .b64 r) malloc(.param .b64 s);\n.entry k() { .reg .b64 %rd<3>;\n"
                         "{ .param .b64 s; .param .b64 r; st.param.b64 [s], %rd1; call (r), malloc, (s); ld.param.b64 %rd2, [r]; } }",
                  0,
                  "st.local.b64 %d1 %r0 select 0 imm 0x1000000; add.b32 =%r2 %r0 select 2 imm 0x1000000; sys.malloc %r2; ld.local.b64 =%d3 "
                  "%r0 select 0 imm 0x1000008");
}

// ---- Linking and variables -------------------------------------------------------------------------
static void test_linking(void **state) {
  (void)state;
  static const struct {
    const char *a, *b;
    const char *message; // NULL: fine
  } cases[] = {
      {HEADER ".extern .func (.param .b32 r) f(.param .b32 x);\n.entry k() { .reg .b32 %r<2>; .param .b32 x, r; call (r), f, (x); }",
       ".version 8.0\n.target sm_90\n.address_size 64\n.visible .func (.param .b32 r) f(.param .b32 x) { ret; }", NULL},
      {HEADER ".extern .func f();\n.entry k() { call f; }", ".version 8.0\n.target sm_90\n.address_size 64\n.func f() { ret; }",
       "'f' is declared but defined in no module"},
      {HEADER ".visible .func f() { ret; }", ".version 8.0\n.target sm_90\n.address_size 64\n.visible .func f() { ret; }",
       "second definition of 'f'"},
      {HEADER ".weak .func f() { ret; }", ".version 8.0\n.target sm_90\n.address_size 64\n.visible .func f() { ret; }", NULL},
      {HEADER ".visible .func f() { ret; }", ".version 8.0\n.target sm_90\n.address_size 64\n.weak .func f() { ret; }", NULL},
      {HEADER ".func f() { ret; }", ".version 8.0\n.target sm_90\n.address_size 64\n.func f() { ret; }", NULL},
      {HEADER ".visible .global .u32 v = 1;", ".version 8.0\n.target sm_90\n.address_size 64\n.visible .global .u32 v = 2;",
       "second definition of 'v'"},
      {HEADER ".visible .global .u32 v = 1;", ".version 8.0\n.target sm_90\n.address_size 32\n",
       "32-bit addresses, but 'a.ptx' has 64-bit addresses"},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    Lowered lowered = lower_sources((const char *const[]){cases[i].a, cases[i].b}, 2);
    if (lowered.good != !cases[i].message) print_error("case %zu\n", i);
    assert_int_equal(lowered.good, !cases[i].message);
    if (cases[i].message) assert_string_equal(lowered.diags.items[0].text, cases[i].message);
    release(&lowered);
  }
}

static const Symbol *symbol_named(const MirModule *mir, const char *name) {
  for (uint32_t i = 0; i < mir->symbols.count; i++) {
    if (strcmp(mir->symbols.items[i].name, name) == 0) return &mir->symbols.items[i];
  }
  return NULL;
}

static void test_variables(void **state) {
  (void)state;
  const char *source = HEADER ".global .u32 numbers[3] = {1, 2};\n.func f() { ret; }\n.extern .global .u32 elsewhere;\n"
                              ".global .u64 places[3] = {variable+4, f, generic(numbers)};\n.const .u16 half = 7;\n";
  const char *other = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .global .u32 elsewhere = 9;\n";
  Lowered lowered = lower_sources((const char *const[]){source, other}, 2);
  assert_true(lowered.good);
  const Symbol *numbers = symbol_named(&lowered.mir, "numbers"), *half = symbol_named(&lowered.mir, "half");
  static const uint8_t bytes[12] = {1, 0, 0, 0, 2};
  assert_non_null(numbers);
  assert_memory_equal(numbers->initial, bytes, sizeof bytes);
  assert_int_equal(half->const_offset, 16);
  assert_int_equal(lowered.mir.const_bytes, 18);
  const Symbol *elsewhere = symbol_named(&lowered.mir, "elsewhere");
  assert_false(elsewhere->external);
  assert_int_equal(elsewhere->initial[0], 9);
  assert_int_equal(lowered.mir.relocations.count, 3);
  assert_string_equal(lowered.mir.symbols.items[lowered.mir.relocations.items[0].target].name, "variable");
  assert_int_equal(lowered.mir.relocations.items[0].addend, 4);
  assert_int_equal(lowered.mir.symbols.items[lowered.mir.relocations.items[1].target].kind, SYMBOL_FUNCTION);
  assert_true(lowered.mir.functions.items[0].address_taken);
  assert_int_equal(lowered.mir.relocations.items[2].offset, 16);
  release(&lowered);
}

// Each kernel counts what it and its callees name.
static void test_shared_layout(void **state) {
  (void)state;
  const char *source =
      ".version 8.0\n.target sm_90\n.address_size 64\n.shared .u32 common;\n.shared .align 16 .b8 big[64];\n.shared .u64 own;\n"
      ".extern .shared .align 16 .b8 dynamic[];\n"
      ".func f() { .reg .b32 %r<2>; ld.shared.u32 %r1, [common]; ret; }\n"
      ".entry nothing() { ret; }\n"
      ".entry calls() { .reg .b64 %rd<2>; ld.shared.u64 %rd1, [own]; call f; }\n"
      ".entry plain() { .reg .b64 %rd<2>; ld.shared.u64 %rd1, [own]; ld.shared.u64 %rd1, [big]; ret; }\n"
      ".entry grows() { .reg .b32 %r<2>; .shared .u8 byte; st.shared.u8 [byte], 1; mov.u32 %r1, dynamic; ret; }\n";
  Lowered lowered = lower_sources(&source, 1);
  assert_true(lowered.good);
  const MirFunction *functions = lowered.mir.functions.items;
  assert_int_equal(functions[1].shared_bytes, 0);
  assert_int_equal(functions[2].shared_bytes, 16); // common at 0, own at 8
  assert_int_equal(functions[3].shared_bytes, 80); // own at 0, big at 16
  assert_int_equal(functions[3].shared_align, 16);
  assert_int_equal(functions[4].shared_bytes, 1);
  assert_int_equal(functions[4].blocks.items[0].instrs.items[2].imm, 16); // the dynamic part follows
  release(&lowered);
}

// ---- Whole files ---------------------------------------------------------------------------------
static void compile_file(const char *path) {
  Arena *arena = arena_new();
  Diags diags = {0};
  char *bytes;
  size_t count;
  assert_true(file_read(arena, path, &bytes, &count, &diags));
  PtxSource source = {path, bytes, count};
  MirOptions options = {0};
  Program *program = ptx_compile(&source, 1, &options, &diags);
  for (uint32_t i = 0; i < diags.count; i++) print_error("%s:%d: %s\n", path, diags.items[i].line, diags.items[i].text);
  assert_int_equal(diags.count, 0);
  assert_non_null(program);
  assert_true(ptx_check(&source, &diags));
  program_free(program);
  diags_free(&diags);
  arena_free(arena);
}

static void test_usage_file(void **state) {
  (void)state;
  compile_file("tests/ptx/usage.ptx");
}

static void test_isa_file(void **state) {
  (void)state;
  compile_file("tests/ptx/isa.ptx");
}

// A file of jumps to the next label, as made by a generator: seconds of processor time, not minutes.
static void test_many_jumps(void **state) {
  (void)state;
  enum { JUMPS = 100000, SECONDS_MOST = 15 };
  Text text = {0};
  text_add(&text, ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n");
  for (int i = 0; i < JUMPS; i++) text_add(&text, "bra L%d;\nL%d:\n", i, i);
  text_add(&text, "ret;\n}\n");
  PtxSource source = {"jumps.ptx", text.at, text.length};
  Diags diags = {0};
  clock_t start = clock();
  Program *program = ptx_compile(&source, 1, &(MirOptions){0}, &diags);
  assert_true((double)(clock() - start) / CLOCKS_PER_SEC < SECONDS_MOST);
  assert_non_null(program);
  assert_int_equal(program->code_count, 1);
  program_free(program);
  diags_free(&diags);
  text_free(&text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_snippets),      cmocka_unit_test(test_bad_snippets), cmocka_unit_test(test_modifiers),
      cmocka_unit_test(test_calls),         cmocka_unit_test(test_linking),      cmocka_unit_test(test_variables),
      cmocka_unit_test(test_shared_layout), cmocka_unit_test(test_usage_file),   cmocka_unit_test(test_isa_file),
      cmocka_unit_test(test_many_jumps),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
