// For tests of collectors, units and write-back: these stages alone, on one SM, with instructions issued by hand. A cycle runs the stages
// as the machine does; what is issued after it is taken up in the next.
#ifndef REDOUBT_SIMT_TEST_PIPE_H
#define REDOUBT_SIMT_TEST_PIPE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "machine/simt/execute.h"
#include "machine/simt/operand.h"

enum { PIPE_CODE = 16, PIPE_REGISTERS = 64 };

typedef struct Pipe {
  Arena *arena;
  Spec spec;
  Simt m;
  Instr decoded[PIPE_CODE];
  InstrWord code[PIPE_CODE];
  Function kernel;
  Program program;
  Launch launch;
  Region regions[SIMT_REGIONS];
  Memory *memory;
  uint32_t lines[PIPE_CODE];
  uint64_t issues;
} Pipe;

// Change the spec between the two.
static inline void pipe_open(Pipe *pipe) {
  memset(pipe, 0, sizeof *pipe);
  pipe->arena = arena_new();
  spec_default(&pipe->spec);
  pipe->spec.sm_count = 1;
  pipe->spec.sm_threads = 256;
}

static inline void pipe_build(Pipe *pipe) {
  Simt *m = &pipe->m;
  pipe->kernel = (Function){.name = "kernel", .is_kernel = true, .registers = PIPE_REGISTERS};
  pipe->program = (Program){.code = pipe->code, .decoded = pipe->decoded, .lines = pipe->lines};
  pipe->launch = (Launch){.program = &pipe->program, .kernel = &pipe->kernel, .grid = {1, 1, 1}, .block = {256, 1, 1}, .number = 1};
  m->spec = &pipe->spec;
  m->functions = lane_functions();
  m->rows = row_functions();
  m->program = &pipe->program;
  m->launch = &pipe->launch;
  m->warp_registers = PIPE_REGISTERS;
  Diags diags = {0};
  pipe->memory = memory_new(&(MemoryOptions){.base = GLOBAL_BASE64, .capacity = 1 << 20, .granule = 1}, &diags);
  assert_non_null(pipe->memory);
  m->backing.memory = pipe->memory;
  simt_dims(&pipe->spec, &m->dims);
  m->regions = (RegionTable){pipe->regions, SIMT_REGIONS, simt_layout(&m->dims, pipe->regions)};
  m->block_bytes = m->regions.block_bytes;
  m->arena = pipe->arena;
  m->block = arena_alloc(pipe->arena, m->block_bytes);
  simt_bind(&m->dims, m->block, &m->at);
  m->hook_machine = (HookMachine){.block = m->block, .regions = &m->regions, .spec = m->spec, .program = m->program};
  for (unsigned unit = 0; unit < UNIT_COUNT; unit++) m->unit_latency[unit] = m->unit_interval[unit] = 1;
  for (uint32_t i = 0; i < m->dims.warps; i++) {
    SimtWarp *warp = simt_warp(m, 0, i);
    warp->valid = 1;
    warp->index = (uint8_t)i;
    warp->register_base = (uint16_t)(i * PIPE_REGISTERS);
    warp->warp.predicates[PRED_TRUE] = UINT32_MAX;
  }
}

static inline void pipe_close(Pipe *pipe) {
  memory_free(pipe->memory);
  arena_free(pipe->arena);
}

static inline void pipe_hook(Pipe *pipe, Hook *hook) {
  assert_true(hook_chain_add(&pipe->m.hooks, hook));
  simt_meet_hooks(&pipe->m);
  simt_name_warps(&pipe->m);
}

static inline uint32_t *pipe_register(Pipe *pipe, uint32_t warp, uint32_t number) {
  return register_at(&pipe->m, 0, register_row(&pipe->m, 0, warp, number))->lane;
}

// Adds an instruction to the program; its pc.
static inline uint32_t pipe_put(Pipe *pipe, const Instr *instr) {
  uint32_t pc = pipe->program.code_count++;
  assert_true(pc < PIPE_CODE);
  pipe->code[pc] = instr_encode(instr);
  assert_true(instr_decode(pipe->code[pc], &pipe->decoded[pc]));
  return pc;
}

static inline uint32_t pipe_put_dabc(Pipe *pipe, Op op, const uint8_t dabc[4]) {
  Instr instr = instr_rest(op);
  instr.d[0] = dabc[0], instr.a = dabc[1], instr.b = dabc[2], instr.c = dabc[3];
  return pipe_put(pipe, &instr);
}

static inline Uop pipe_uop(Pipe *pipe, uint32_t pc, uint32_t warp, uint32_t mask) {
  const Instr *instr = &pipe->decoded[pc];
  const uint32_t *predicates = simt_warp(&pipe->m, 0, warp)->warp.predicates;
  Uop uop = {.word = pipe->code[pc], .issue = pipe->issues++, .pc = pc, .mask = mask, .warp = (uint8_t)warp, .copies = 1};
  uop.issued_at = simt_now(&pipe->m);
  uop.ps = predicates[instr->ps] ^ (instr->ps_negated ? UINT32_MAX : 0);
  if (op_info[instr->op].a == TYPE_pred) uop.pa = predicates[instr->a % 16];
  return uop;
}

static inline void pipe_take(Pipe *pipe, const Uop *uop) {
  Simt *m = &pipe->m;
  assert_true(collect_has_room(m, 0, &pipe->decoded[uop->pc]));
  scoreboard_mark(m, 0, uop->warp, &pipe->decoded[uop->pc]);
  collect_take(m, 0, uop, &pipe->decoded[uop->pc]);
}

static inline void pipe_issue(Pipe *pipe, uint32_t pc, uint32_t warp, uint32_t mask) {
  Uop uop = pipe_uop(pipe, pc, warp, mask);
  pipe_take(pipe, &uop);
}

static inline void pipe_step(Pipe *pipe) {
  Simt *m = &pipe->m;
  m->at.core->cycle++;
  m->at.wake_at[0] = UINT64_MAX;
  writeback_cycle(m, 0);
  execute_cycle(m, 0);
  collect_cycle(m, 0);
}

static inline bool pipe_is_empty(const Pipe *pipe) {
  const SmState *state = &pipe->m.at.sms[0];
  return state->collect_count == 0 && state->flight_count == 0;
}

// Steps until nothing is under way; the number of steps. The SM has asked to be woken for each of them that did something.
static inline uint32_t pipe_drain(Pipe *pipe) {
  uint32_t steps = 0;
  while (!pipe_is_empty(pipe)) {
    assert_true(steps++ < 10000);
    assert_true(pipe->m.at.wake_at[0] != UINT64_MAX);
    pipe_step(pipe);
  }
  return steps;
}

static inline uint64_t pipe_stat(const Pipe *pipe, StatId stat) { return pipe->m.at.stats->value[stat]; }

#endif
