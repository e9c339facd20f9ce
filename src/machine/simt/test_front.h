// For tests of the front end: block scheduler, fetch, schedulers, issue and control flow with the units behind them, but no memory system.
// Instruction misses that reach memory are answered by hand, `memory_latency` cycles after they were asked.
#ifndef REDOUBT_SIMT_TEST_FRONT_H
#define REDOUBT_SIMT_TEST_FRONT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "machine/simt/execute.h"

enum { FRONT_CODE = 128, FRONT_REGISTERS = 16, FRONT_KEPT = 64 };

typedef struct Front {
  Arena *arena;
  Spec spec;
  Simt m;
  Instr decoded[FRONT_CODE];
  InstrWord code[FRONT_CODE];
  Function kernel;
  Program program;
  Launch launch;
  MachineEnvironment environment;
  Region regions[SIMT_REGIONS];
  uint64_t memory_latency;
  RegisterRow kept[FRONT_KEPT]; // first registers of SM 0, as its last block had them before it ended
} Front;

// One SM, one scheduler; change spec, program, launch and environment between the two.
static inline void front_open(Front *front) {
  memset(front, 0, sizeof *front);
  front->arena = arena_new();
  spec_default(&front->spec);
  front->spec.sm_count = 1;
  front->spec.sm_threads = 256;
  front->spec.sm_registers = 16384;
  front->spec.sm_schedulers = 1;
  front->memory_latency = 50;
  front->kernel = (Function){.name = "kernel", .is_kernel = true, .registers = FRONT_REGISTERS, .predicates = 8};
  front->launch = (Launch){.grid = {1, 1, 1}, .block = {32, 1, 1}, .number = 1};
}

static inline void front_build(Front *front) {
  Simt *m = &front->m;
  front->kernel.end = front->program.code_count;
  front->program.code = front->code;
  front->program.decoded = front->decoded;
  front->program.functions = &front->kernel;
  front->program.function_count = 1;
  front->launch.program = &front->program;
  front->launch.kernel = &front->kernel;
  m->spec = &front->spec;
  m->functions = lane_functions();
  m->rows = row_functions();
  m->program = &front->program;
  m->launch = &front->launch;
  m->environment = &front->environment;
  m->warp_registers = FRONT_REGISTERS;
  simt_dims(&front->spec, &m->dims);
  block_layout(&m->layout, &front->launch, 0);
  m->blocks_per_sm = min_u32(m->dims.blocks, m->dims.warps / m->layout.warps);
  m->regions = (RegionTable){front->regions, SIMT_REGIONS, simt_layout(&m->dims, front->regions)};
  m->block_bytes = m->regions.block_bytes;
  m->arena = front->arena;
  m->block = arena_alloc(front->arena, m->block_bytes);
  simt_bind(&m->dims, m->block, &m->at);
  fetch_prepare(m);
  m->backing.program = &front->program;
  m->backing.splits_code = m->dims.split != 0;
  m->hook_machine = (HookMachine){.block = m->block, .regions = &m->regions, .spec = m->spec, .program = m->program};
  for (unsigned unit = 0; unit < UNIT_COUNT; unit++) m->unit_latency[unit] = m->unit_interval[unit] = 1;
  m->unit_latency[UNIT_ALU] = (uint32_t)front->spec.latency_alu;
  m->at.core->cycle = 1;
  m->at.core->block_total = (uint64_t)front->launch.grid[0] * front->launch.grid[1] * front->launch.grid[2];
  for (uint32_t sm = 0; sm < m->dims.sms; sm++) m->at.wake_at[sm] = UINT64_MAX;
}

static inline void front_close(Front *front) { arena_free(front->arena); }

static inline void front_hook(Front *front, Hook *hook) {
  assert_true(hook_chain_add(&front->m.hooks, hook));
  simt_meet_hooks(&front->m);
  simt_name_warps(&front->m);
}

// Adds an instruction; its pc. The caller may go on filling the rest of `decoded` until front_encode.
static inline Instr *front_put(Front *front, Op op) {
  assert_true(front->program.code_count < FRONT_CODE);
  Instr *instr = &front->decoded[front->program.code_count++];
  *instr = instr_rest(op);
  return instr;
}
static inline Instr *front_put_move(Front *front, uint8_t d, uint32_t value) {
  Instr *instr = front_put(front, OP_MOV_B32);
  instr->d[0] = d, instr->select = SELECT_IMM_A, instr->imm = value;
  return instr;
}
static inline Instr *front_put_add(Front *front, uint8_t d, uint8_t a, uint32_t value) {
  Instr *instr = front_put(front, OP_ADD_B32);
  instr->d[0] = d, instr->a = a, instr->select = SELECT_IMM_B, instr->imm = value;
  return instr;
}
static inline Instr *front_put_branch(Front *front, uint8_t guard, bool negated, uint32_t target, uint32_t reconverge) {
  Instr *instr = front_put(front, OP_BRA);
  instr->guard = guard, instr->guard_negated = negated, instr->imm = target, instr->reconverge = reconverge;
  return instr;
}
// Every instruction goes through its encoding, so that only what can be encoded is tested.
static inline void front_encode(Front *front) {
  for (uint32_t i = 0; i < front->program.code_count; i++) {
    front->code[i] = instr_encode(&front->decoded[i]);
    if (!instr_decode(front->code[i], &front->decoded[i])) fail_msg("instruction %u has no encoding", i);
  }
}

// Answers the oldest request of an SM when its time has come.
static inline void front_memory(Front *front, uint32_t sm) {
  Simt *m = &front->m;
  Packet *items = &m->at.out_packets[sm * m->dims.out];
  const Packet *asked = packet_queue_front(&m->at.out_queues[sm], items, m->dims.out);
  if (asked == NULL || asked->sent_at + front->memory_latency > simt_now(m)) return;
  assert_int_equal(asked->kind, PACKET_READ);
  assert_int_equal(asked->client, CLIENT_INSTRUCTION);
  assert_int_equal(asked->address >> PHYSICAL_SHIFT, PHYSICAL_CODE);
  Packet reply = *asked;
  reply.kind = PACKET_READ_REPLY;
  backing_read(&m->backing, asked->address, asked->bytes, reply.data);
  if (m->dims.split != 0) backing_rest(&m->backing, asked->address, asked->bytes, reply.other);
  packet_queue_pop(&m->at.out_queues[sm], items, m->dims.out);
  assert_true(fetch_reply(m, sm, &reply));
}

// One cycle, as machine_cycle has it; SMs that sleep are not called. True: some SM issued.
static inline bool front_step(Front *front) {
  Simt *m = &front->m;
  bool issued = false;
  dispatch_cycle(m);
  for (uint32_t sm = 0; sm < m->dims.sms; sm++) {
    front_memory(front, sm);
    if (m->at.wake_at[sm] > simt_now(m)) continue;
    m->at.wake_at[sm] = UINT64_MAX;
    writeback_cycle(m, sm);
    execute_cycle(m, sm);
    collect_cycle(m, sm);
    if (sm == 0 && m->at.sms[0].resident > 0) memcpy(front->kept, m->at.registers, sizeof front->kept);
    issued |= issue_cycle(m, sm);
    fetch_cycle(m, sm);
  }
  m->at.core->cycle++;
  return issued;
}

static inline bool front_is_over(const Front *front) {
  const SimtCore *core = front->m.at.core;
  return core->blocks_done >= core->block_total || core->trapped != TRAP_NONE;
}

// To the end; the cycle in which that came.
static inline uint64_t front_run(Front *front) {
  while (!front_is_over(front)) {
    assert_true(simt_now(&front->m) < 100000);
    front_step(front);
  }
  return simt_now(&front->m);
}

// Steps until something issues; the cycle in which it did.
static inline uint64_t front_next_issue(Front *front) {
  for (;;) {
    uint64_t now = simt_now(&front->m);
    assert_true(now < 100000);
    if (front_step(front)) return now;
  }
}

static inline uint64_t front_stat(const Front *front, StatId stat) { return front->m.at.stats->value[stat]; }

#endif
