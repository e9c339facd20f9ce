// For tests of campaigns: random kernels as PTX. Arithmetic, divergent branches, loops, gathers, stores of words and parts of them,
// shared memory with and without barriers, atomics, local memory, exchange within warps, threads that end early.
#ifndef REDOUBT_TEST_KERNELS_H
#define REDOUBT_TEST_KERNELS_H

#include "base/base.h"

enum { KERNEL_VALUES = 6, KERNEL_MOST_STATEMENTS = 60 };

typedef struct KernelWriter {
  Text *to;
  uint64_t seed, draws;
  uint32_t words; // of a buffer: a power of two
  uint32_t block; // threads: a power of two
  uint32_t labels, statements;
  bool meets; // blocks may use the same words of memory
} KernelWriter;

static inline uint32_t pick(KernelWriter *at, uint32_t bound) { return (uint32_t)(random_draw(at->seed, at->draws++, 1) % bound); }
static inline uint32_t pick_value(KernelWriter *at) { return pick(at, KERNEL_VALUES); }

#define PTX(...) text_add(at->to, __VA_ARGS__)

static inline void write_arithmetic(KernelWriter *at) {
  static const char *const ops[] = {"add.u32", "sub.u32", "mul.lo.u32", "xor.b32", "and.b32", "or.b32", "min.u32", "max.s32", "add.u32"};
  uint32_t d = pick_value(at), a = pick_value(at), b = pick_value(at), choice = pick(at, 14);
  if (choice < COUNT_OF(ops)) PTX("  %s %%v%u, %%v%u, %%v%u;\n", ops[choice], d, a, b);
  else if (choice == 9) PTX("  shl.b32 %%v%u, %%v%u, %u;\n", d, a, pick(at, 31));
  else if (choice == 10) PTX("  shr.u32 %%v%u, %%v%u, %u;\n", d, a, pick(at, 31));
  else if (choice == 11) PTX("  mad.lo.u32 %%v%u, %%v%u, %u, %%v%u;\n", d, a, pick(at, 1000), b);
  else if (choice == 12) PTX("  setp.lt.u32 %%p2, %%v%u, %%v%u;\n  selp.b32 %%v%u, %%v%u, %u, %%p2;\n", a, b, d, b, pick(at, 99));
  else PTX("  cvt.rn.f32.u32 %%f0, %%v%u;\n  sqrt.rn.f32 %%f0, %%f0;\n  mov.b32 %%v%u, %%f0;\n", a, d);
}

// %ra = buffer + 4 * (some index), which only the thread itself uses if `own`.
static inline void write_address(KernelWriter *at, const char *buffer, bool own) {
  uint32_t choice = own ? 0 : 1 + pick(at, 3);
  if (choice == 0) PTX("  mov.u32 %%a, %%gid;\n");
  else if (choice == 1) PTX("  and.b32 %%a, %%v%u, %u;\n", pick_value(at), at->words - 1);
  else if (choice == 2) PTX("  add.u32 %%a, %%gid, %u;\n  and.b32 %%a, %%a, %u;\n", pick(at, at->words), at->words - 1);
  else PTX("  and.b32 %%a, %%v%u, 15;\n", pick_value(at));
  PTX("  mul.wide.u32 %%ra, %%a, 4;\n  add.u64 %%ra, %%ra, %%%s;\n", buffer);
}

static inline void write_load(KernelWriter *at) {
  static const char *const types[] = {"u32", "u32", "u32", "u16", "s8"};
  bool from_input = pick(at, 3) != 0;
  write_address(at, from_input ? "in" : "mid", !from_input && !(at->meets && pick(at, 8) == 0));
  PTX("  ld.global.%s %%v%u, [%%ra];\n", types[pick(at, COUNT_OF(types))], pick_value(at));
}

static inline void write_store(KernelWriter *at) {
  static const char *const types[] = {"u32", "u32", "u32", "u16", "u8"};
  write_address(at, pick(at, 2) == 0 ? "mid" : "out", !(at->meets && pick(at, 8) == 0));
  PTX("  st.global.%s [%%ra], %%v%u;\n", types[pick(at, COUNT_OF(types))], pick_value(at));
}

static inline void write_shared_index(KernelWriter *at) {
  uint32_t choice = pick(at, 3), last = 4 * at->block - 4;
  if (choice == 0) PTX("  shl.b32 %%a, %%v%u, 2;\n  and.b32 %%a, %%a, %u;\n", pick_value(at), last);
  else if (choice == 1) PTX("  add.u32 %%a, %%me4, %u;\n  and.b32 %%a, %%a, %u;\n", 4 * pick(at, at->block), last);
  else PTX("  sub.u32 %%a, %u, %%me4;\n", last);
  PTX("  mov.u32 %%s, shared;\n  add.u32 %%a, %%a, %%s;\n");
}

// With barriers around it, but for some.
static inline void write_exchange(KernelWriter *at) {
  bool is_safe = pick(at, 10) != 0;
  PTX("  mov.u32 %%s, shared;\n  add.u32 %%a, %%me4, %%s;\n");
  if (!is_safe) write_shared_index(at);
  PTX("  st.shared.u32 [%%a], %%v%u;\n", pick_value(at));
  if (is_safe || pick(at, 2) == 0) PTX("  bar.sync 0;\n");
  write_shared_index(at);
  if (pick(at, 20) == 0) PTX("  atom.shared.add.u32 %%v%u, [%%a], %%v%u;\n", pick_value(at), pick_value(at));
  else PTX("  ld.shared.u32 %%v%u, [%%a];\n", pick_value(at));
  if (is_safe || pick(at, 2) == 0) PTX("  bar.sync 0;\n");
}

static inline void write_rare(KernelWriter *at) {
  uint32_t choice = pick(at, 12);
  if (choice < 3) {
    write_address(at, "hist", false);
    PTX("  red.global.add.u32 [%%ra], %%v%u;\n", pick_value(at));
  } else if (choice < 5) {
    PTX("  and.b32 %%a, %%v%u, 28;\n  mov.u32 %%s, local;\n  add.u32 %%a, %%a, %%s;\n", pick_value(at));
    PTX("  st.local.u32 [%%a], %%v%u;\n  ld.local.u32 %%v%u, [%%s+%u];\n", pick_value(at), pick_value(at), 4 * pick(at, 8));
  } else if (choice < 7) {
    PTX("  shfl.sync.bfly.b32 %%v%u, %%v%u, %u, 31, -1;\n", pick_value(at), pick_value(at), 1u << pick(at, 5));
  } else if (choice < 9) {
    PTX("  and.b32 %%a, %%v%u, 31;\n  setp.eq.u32 %%p3, %%a, 5;\n  @%%p3 ret;\n", pick_value(at));
  } else if (choice == 9) {
    PTX("  and.b32 %%a, %%v%u, 60;\n  mov.u32 %%s, table;\n  add.u32 %%a, %%a, %%s;\n  ld.const.u32 %%v%u, [%%a];\n", pick_value(at),
        pick_value(at));
  } else if (choice == 10) {
    PTX("  and.b32 %%a, %%gid, -4;\n  mul.wide.u32 %%ra, %%a, 4;\n  add.u64 %%ra, %%ra, %%in;\n");
    PTX("  ld.global.v4.u32 {%%v0, %%v1, %%v2, %%v3}, [%%ra];\n");
  } else {
    PTX("  div.u32 %%v%u, %%v%u, %%v%u;\n", pick_value(at), pick_value(at), pick_value(at));
  }
}

static inline void write_statements(KernelWriter *at, uint32_t depth, bool together);

static inline void write_if(KernelWriter *at, uint32_t depth) {
  uint32_t label = at->labels++;
  PTX("  and.b32 %%a, %%v%u, %u;\n  setp.eq.u32 %%p0, %%a, 0;\n  @%%p0 bra else%u;\n", pick_value(at), 1u << pick(at, 5), label);
  write_statements(at, depth - 1, false);
  PTX("  bra.uni end%u;\nelse%u:\n", label, label);
  if (pick(at, 2) == 0) write_statements(at, depth - 1, false);
  PTX("end%u:\n", label);
}

// All threads turn as often, or each by a value of its own.
static inline void write_loop(KernelWriter *at, uint32_t depth, bool together) {
  uint32_t label = at->labels++;
  bool is_uniform = together && pick(at, 2) == 0;
  if (is_uniform) PTX("  mov.u32 %%n%u, %u;\n", depth, 1 + pick(at, 4));
  else PTX("  and.b32 %%n%u, %%v%u, 7;\n", depth, pick_value(at));
  PTX("loop%u:\n  setp.eq.u32 %%p1, %%n%u, 0;\n  @%%p1 bra done%u;\n", label, depth, label);
  write_statements(at, depth - 1, is_uniform);
  PTX("  sub.u32 %%n%u, %%n%u, 1;\n  bra.uni loop%u;\ndone%u:\n", depth, depth, label, label);
}

static inline void write_statements(KernelWriter *at, uint32_t depth, bool together) {
  for (uint32_t left = 1 + pick(at, 4); left > 0; left--) {
    uint32_t choice = pick(at, 16);
    bool has_room = at->statements++ < KERNEL_MOST_STATEMENTS;
    if (!has_room || choice < 5) write_arithmetic(at);
    else if (choice < 7) write_load(at);
    else if (choice < 9) write_store(at);
    else if (choice < 11 && together) write_exchange(at);
    else if (choice < 12) write_rare(at);
    else if (choice < 14 && depth > 0) write_if(at, depth);
    else if (depth > 0) write_loop(at, depth, together);
  }
}

static inline void write_kernel(KernelWriter *at, const char *name) {
  PTX(".visible .entry %s(.param .u64 p0, .param .u64 p1, .param .u64 p2) {\n", name);
  PTX("  .reg .u32 %%v<%u>, %%a, %%s, %%me, %%me4, %%gid, %%n<4>;\n  .reg .u64 %%in, %%mid, %%out, %%hist, %%ra;\n", KERNEL_VALUES);
  PTX("  .reg .pred %%p<4>;\n  .reg .f32 %%f0;\n  .shared .align 4 .b8 shared[%u];\n  .local .align 4 .b8 local[32];\n", 4 * at->block);
  PTX("  ld.param.u64 %%in, [p0];\n  ld.param.u64 %%mid, [p1];\n  ld.param.u64 %%out, [p2];\n");
  PTX("  mov.u64 %%hist, histogram;\n  mov.u32 %%me, %%tid.x;\n  mov.u32 %%gid, %%ctaid.x;\n");
  PTX("  mad.lo.u32 %%gid, %%gid, %u, %%me;\n  shl.b32 %%me4, %%me, 2;\n", at->block);
  PTX("  mul.wide.u32 %%ra, %%gid, 4;\n  add.u64 %%ra, %%ra, %%in;\n");
  for (uint32_t i = 0; i < KERNEL_VALUES; i++) {
    if (i % 2 == 0) PTX("  ld.global.u32 %%v%u, [%%ra];\n", i);
    else PTX("  mul.lo.u32 %%v%u, %%gid, %u;\n", i, 2654435761u >> i);
  }
  for (uint32_t i = 0; i < 3; i++) write_statements(at, 2, true);
  PTX("  xor.b32 %%v0, %%v0, %%v%u;\n  mul.wide.u32 %%ra, %%gid, 4;\n  add.u64 %%ra, %%ra, %%out;\n", 1 + pick(at, 5));
  PTX("  st.global.u32 [%%ra], %%v0;\n  ret;\n}\n");
}

#undef PTX

static inline void write_module_head(Text *to, uint32_t words) {
  text_add(to, ".version 6.0\n.target sm_70\n.address_size 64\n.global .align 4 .b8 histogram[%u];\n.const .align 4 .u32 table[16] = {",
           4 * words);
  for (uint32_t i = 0; i < 16; i++) text_add(to, "%s%u", i == 0 ? "" : ", ", i * i * 7919);
  text_add(to, "};\n");
}

#endif
