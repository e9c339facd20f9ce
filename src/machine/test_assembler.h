// For tests of machines: a program assembled by hand and a launch of it. Every instruction goes through its
// encoding, so that only what can be encoded is tested.
#ifndef REDOUBT_TEST_ASSEMBLER_H
#define REDOUBT_TEST_ASSEMBLER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "machine/machine.h"

enum { TEST_MOST_CODE = 256, TEST_OUT_BYTES = 1 << 16, TEST_REGISTERS = 32 };

typedef struct Bench {
  Instr code[TEST_MOST_CODE];
  InstrWord words[TEST_MOST_CODE];
  uint32_t lines[TEST_MOST_CODE];
  uint32_t count;
  Function kernel;
  Program program;
  Launch launch;
  Memory *memory;
  MachineEnvironment environment;
  uint64_t out;       // parameter 0: a buffer of TEST_OUT_BYTES
  uint8_t params[64]; // parameter 0 is at 0
  Stats stats;
  Trap trap;
  Text printed;
} Bench;

static inline void bench_print(void *context, const char *bytes, size_t count) {
  text_add_bytes(&((Bench *)context)->printed, bytes, count);
}

static inline void bench_open(Bench *bench) {
  memset(bench, 0, sizeof *bench);
  MemoryOptions options = {.base = GLOBAL_BASE64, .capacity = 64 << 20, .granule = 1};
  Diags diags = {0};
  bench->memory = memory_new(&options, &diags);
  assert_non_null(bench->memory);
  bench->out = memory_alloc(bench->memory, TEST_OUT_BYTES, 256);
  memcpy(bench->params, &bench->out, 8);
  bench->environment = (MachineEnvironment){.memory = bench->memory,
                                            .stack_bytes = 4096,
                                            .heap_bytes = 1 << 20,
                                            .sm_count = 4,
                                            .instruction_limit = 10000000,
                                            .print = bench_print,
                                            .print_context = bench};
  bench->kernel =
      (Function){.name = "kernel", .is_kernel = true, .registers = TEST_REGISTERS, .predicates = 15, .param_bytes = sizeof bench->params};
  bench->launch = (Launch){.grid = {1, 1, 1}, .block = {32, 1, 1}, .number = 1};
}

static inline void bench_close(Bench *bench) {
  text_free(&bench->printed);
  memory_free(bench->memory);
}

// ---- Assembling: each returns the instruction, for what the arguments do not say ------------------
static inline Instr *put(Bench *bench, Op op) {
  assert_true(bench->count < TEST_MOST_CODE);
  bench->code[bench->count] = instr_rest(op);
  return &bench->code[bench->count++];
}
static inline Instr *put_dab(Bench *bench, Op op, unsigned d, unsigned a, unsigned b) {
  Instr *instr = put(bench, op);
  instr->d[0] = (uint8_t)d, instr->a = (uint8_t)a, instr->b = (uint8_t)b;
  return instr;
}
static inline Instr *put_dai(Bench *bench, Op op, unsigned d, unsigned a, uint32_t imm) { // b = imm
  Instr *instr = put(bench, op);
  instr->d[0] = (uint8_t)d, instr->a = (uint8_t)a, instr->select = SELECT_IMM_B, instr->imm = imm;
  return instr;
}
static inline Instr *put_move(Bench *bench, unsigned d, uint32_t imm) {
  Instr *instr = put(bench, OP_MOV_B32);
  instr->d[0] = (uint8_t)d, instr->select = SELECT_IMM_A, instr->imm = imm;
  return instr;
}
static inline Instr *put_sreg(Bench *bench, unsigned d, uint32_t number) {
  Instr *instr = put(bench, OP_S2R);
  instr->d[0] = (uint8_t)d, instr->imm = number;
  return instr;
}
static inline Instr *put_param64(Bench *bench, unsigned d, uint32_t offset) {
  Instr *instr = put(bench, OP_MOV_B64);
  instr->d[0] = (uint8_t)d, instr->select = SELECT_CONST_A, instr->imm = (uint32_t)BANK_PARAM << 24 | offset;
  return instr;
}
static inline Instr *put_setp(Bench *bench, Op op, unsigned pd, unsigned a, uint32_t imm) {
  Instr *instr = put(bench, op);
  instr->pd[0] = (uint8_t)pd, instr->a = (uint8_t)a, instr->select = SELECT_IMM_B, instr->imm = imm;
  return instr;
}
static inline Instr *put_memory(Bench *bench, Op op, unsigned data, unsigned address, uint32_t offset) {
  Instr *instr = put(bench, op);
  instr->d[0] = (uint8_t)data, instr->a = (uint8_t)address, instr->imm = offset;
  return instr;
}
static inline Instr *put_branch(Bench *bench, unsigned guard, bool negated, uint32_t target, uint32_t reconverge) {
  Instr *instr = put(bench, OP_BRA);
  instr->guard = (uint8_t)guard, instr->guard_negated = negated, instr->imm = target, instr->reconverge = reconverge;
  return instr;
}
static inline Instr *put_exit(Bench *bench) { return put(bench, OP_EXIT); }

// r2:r3 = out + 4 * (thread in block + block size * block); r4 = thread in block. Leaves r5 in use.
static inline void put_prologue(Bench *bench) {
  put_sreg(bench, 4, SREG_TID_X);
  put_sreg(bench, 5, SREG_CTAID_X);
  put_sreg(bench, 6, SREG_NTID_X);
  put_dab(bench, OP_MAD_LO_B32, 5, 5, 6)->c = 4;
  put_dai(bench, OP_SHL_B32, 5, 5, 2);
  put_dab(bench, OP_CVT_U64_U32, 6, 5, REG_ZERO);
  put_param64(bench, 2, 0);
  put_dab(bench, OP_ADD_B64, 2, 2, 6);
}
static inline void put_result(Bench *bench, unsigned reg) { put_memory(bench, OP_ST_GLOBAL_B32, reg, 2, 0); }

// ---- Running ----------------------------------------------------------------------------------------
static inline void bench_launch_functional(Bench *bench) {
  functional_run(&bench->environment, &bench->launch, &bench->stats, &bench->trap);
}

// The default machine with time, made small so that tests are quick; `change` may be NULL.
static inline void bench_launch_simt(Bench *bench, void (*change)(Spec *spec, uint64_t seed), uint64_t seed) {
  Spec spec;
  spec_default(&spec);
  spec.machine_model = MODEL_SIMT;
  spec.sm_count = bench->environment.sm_count;
  spec.dram_controllers = 2;
  spec.l2_bytes = 4096;
  spec.texture_bytes = 3072;
  spec.texture_pending = 1;
  if (change != NULL) change(&spec, seed);
  Diags diags = {0};
  Machine *machine = machine_new(&spec, NULL, &diags);
  assert_non_null(machine);
  machine_begin(machine, &bench->environment, &bench->launch);
  assert_true(machine_run(machine, UINT64_MAX));
  machine_end(machine, &bench->stats, &bench->trap);
  machine_free(machine);
}

// Where a file's tests run: files in simt/ that take over the functional machine's say TEST_ON_SIMT.
static inline void bench_launch(Bench *bench) {
#ifdef TEST_ON_SIMT
  bench_launch_simt(bench, NULL, 0);
#else
  bench_launch_functional(bench);
#endif
}

static inline void bench_finish(Bench *bench) { // the program is complete
  for (uint32_t i = 0; i < bench->count; i++) {
    bench->words[i] = instr_encode(&bench->code[i]);
    bench->lines[i] = 100 + i;
    Instr decoded;
    if (!instr_decode(bench->words[i], &decoded)) fail_msg("instruction %u (%s) has no encoding", i, op_info[bench->code[i].op].text);
    bench->code[i] = decoded;
  }
  bench->kernel.end = bench->count;
  uint32_t const_bytes = bench->program.const_bytes;
  bench->program = (Program){.file = "test.ptx",
                             .address_bits = 64,
                             .code = bench->words,
                             .decoded = bench->code,
                             .lines = bench->lines,
                             .code_count = bench->count,
                             .functions = &bench->kernel,
                             .function_count = 1,
                             .const_bytes = const_bytes};
  bench->launch.program = &bench->program;
  bench->launch.kernel = &bench->kernel;
  bench->launch.params = bench->params;
}

static inline TrapKind bench_run(Bench *bench) {
  bench_finish(bench);
  bench_launch(bench);
  return bench->trap.kind;
}

static inline uint32_t bench_out(const Bench *bench, uint32_t index) {
  uint32_t value;
  memcpy(&value, memory_at(bench->memory, bench->out + 4 * (uint64_t)index, 4), 4);
  return value;
}

#endif
