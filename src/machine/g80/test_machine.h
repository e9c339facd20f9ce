// What the machine's tests share: making machines, and a vector addition with its check.
#ifndef REDOUBT_G80_TEST_MACHINE_H
#define REDOUBT_G80_TEST_MACHINE_H

#include "machine/g80/g80.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

enum { FAR_CYCLE = 10000000 };

static inline SassProgram program_of(const uint32_t *words, uint32_t count) {
  return (SassProgram){.name = "test", .words = words, .count = count};
}

static inline Machine *make(const Spec *spec, const SassProgram *program, const G80Launch *launch) {
  Diags diags = {0};
  Machine *machine = g80_launch(spec, NULL, program, launch, &diags);
  assert_int_equal(diags.count, 0);
  diags_free(&diags);
  assert_non_null(machine);
  return machine;
}

// A kernel of workloads/g80; 0 registers: as its file says.
static inline Machine *make_kernel(const Spec *spec, const char *name, const G80Launch *launch) {
  Diags diags = {0};
  Arena *arena = arena_new();
  SassProgram *program = sass_read(arena_format(arena, "workloads/g80/%s/kernel.sass", name), &diags);
  assert_non_null(program);
  G80Launch all;
  g80_launch_default(&all, spec, program);
  all.grid[0] = launch->grid[0];
  all.grid[1] = launch->grid[1];
  memcpy(all.block, launch->block, sizeof all.block);
  memcpy(all.params, launch->params, sizeof all.params);
  all.blocks_per_core = launch->blocks_per_core;
  if (launch->gprs != 0) all.gprs = launch->gprs;
  all.global = launch->global;
  all.global_bytes = launch->global_bytes;
  Machine *machine = make(spec, program, &all);
  sass_program_free(program);
  arena_free(arena);
  diags_free(&diags);
  return machine;
}

// c[i] = a[i] + b[i] for i = block * threads + thread: parameters a, b, c and a fourth that it does not use.
static const uint32_t vecadd[] = {
    0x10004205, 0x0023c780, // MOV.U16 R0H, g [0x1].U16
    0xa0000005, 0x04000780, // I2I.U32.U16 R1, R0L
    0x60014c01, 0x00204780, // IMAD.U16 R0, g [0x6].U16, R0H, R1
    0x30020009, 0xc4100780, // SHL R2, R0, 0x2
    0x2102e800,             // IADD32 R0, g [0x4], R2
    0x2102ea0c,             // IADD32 R3, g [0x5], R2
    0xd00e0005, 0x80c00780, // GLD.U32 R1, global14[R0]
    0xd00e0601, 0x80c00780, // GLD.U32 R0, global14[R3]
    0x20008204,             // IADD32 R1, R1, R0
    0x2102ec00,             // IADD32 R0, g [0x6], R2
    0xd00e0005, 0xa0c00780, // GST.U32 global14[R0], R1
    0x30000003, 0x00000780, // RET
};

typedef struct Vecadd {
  uint32_t blocks, threads;
  bool floats; // by workloads/g80/vecadd, which has 10 parameters
} Vecadd;

static inline uint32_t vecadd_input(const Vecadd *v, uint32_t i) {
  uint32_t number = i < v->blocks * v->threads ? i * 3 + 1 : 1000000 - i;
  return v->floats ? bits_of_f32((float)number) : number;
}

static inline Machine *make_vecadd(const Spec *spec, const Vecadd *v) {
  static uint32_t image[2 * 4096];
  uint32_t count = v->blocks * v->threads;
  for (uint32_t i = 0; i < 2 * count; i++) image[i] = vecadd_input(v, i);
  G80Launch launch = {.grid = {v->blocks, 1}, .block = {v->threads, 1, 1}, .blocks_per_core = 8, .gprs = 8};
  launch.param_count = v->floats ? 10 : 4;
  launch.params[1] = 4 * count;
  launch.params[2] = 8 * count;
  launch.global = (const uint8_t *)image;
  launch.global_bytes = 8 * count;
  launch.cycle_limit = spec->g80_cycle_limit;
  SassProgram program = program_of(vecadd, COUNT_OF(vecadd));
  return v->floats ? make_kernel(spec, "vecadd", &launch) : make(spec, &program, &launch);
}

static inline bool vecadd_right(const Vecadd *v, const Machine *machine) {
  G80Result result;
  g80_result(machine, &result);
  uint32_t count = v->blocks * v->threads;
  bool right = result.outcome == G80_DONE;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t word, a = vecadd_input(v, i), b = vecadd_input(v, count + i);
    memcpy(&word, result.global + 8 * count + 4 * i, 4);
    right = right && word == (v->floats ? bits_of_f32(f32_of(a) + f32_of(b)) : a + b);
  }
  return right;
}

#endif
