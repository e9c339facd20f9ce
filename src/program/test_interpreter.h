// For tests: one thread, run once on virtual registers (MirModule) and once on physical ones
// (Program). What a program stores to shared memory, in order, is its behaviour; both must agree.
#ifndef REDOUBT_TEST_INTERPRETER_H
#define REDOUBT_TEST_INTERPRETER_H

#include "program/mir.h"

#include <setjmp.h>
#include <cmocka.h>

enum { SHARED_BYTES = 256, LOCAL_BYTES = 1 << 16, TRACE_MOST = 4096, STEPS_MOST = 200000, DEPTH_MOST = 64, PARAM_BYTES = 64 };

// Register and predicate numbers of an instruction, virtual or physical; -1 = RZ, PT.
typedef struct Numbers {
  int d[4], a, b, c, pd[2], ps, guard, pa;
} Numbers;

typedef struct Thread {
  uint32_t *registers;
  uint8_t *predicates;
  uint8_t shared[SHARED_BYTES], local[LOCAL_BYTES];
  uint64_t trace[TRACE_MOST];
  uint32_t trace_count, steps;
  bool broken; // ran too long or left memory: a bug of the test or of the code under test
} Thread;

static inline void put_row(uint32_t *row, const uint32_t *from, unsigned registers) {
  for (unsigned r = 0; r < registers; r++) row[WARP_LANES * r] = from[r];
}

static inline void load_register(const Thread *thread, uint32_t *row, int number, unsigned registers) {
  static const uint32_t zeros[8] = {0};
  put_row(row, number < 0 ? zeros : &thread->registers[number], registers);
}

static inline void load_source(const Thread *thread, uint32_t *row, unsigned operand, int number, TypeId type, unsigned select,
                               uint32_t imm) {
  if (type == TYPE_none || type == TYPE_pred) return;
  unsigned registers = type_info[type].registers;
  if (select == SELECT_IMM_A + operand || select == SELECT_CONST_A + operand) {
    // Constants: a value that depends on the reference alone.
    uint64_t value = select >= SELECT_CONST_A ? imm * UINT64_C(0x9E3779B97F4A7C15) : imm_value(type, imm);
    row_set(row, 0, registers, value);
    return;
  }
  load_register(thread, row, number, registers);
}

static inline bool predicate_of(const Thread *thread, int number) { return number < 0 || thread->predicates[number] != 0; }

static inline void run_alu(Thread *thread, unsigned op, uint16_t mods, unsigned select, uint32_t imm, bool ps_negated, const Numbers *n) {
  const OpInfo *info = &op_info[op];
  uint32_t d[8 * WARP_LANES] = {0}, a[8 * WARP_LANES] = {0}, b[8 * WARP_LANES] = {0}, c[8 * WARP_LANES] = {0};
  load_source(thread, a, 0, n->a, info->a, select, imm);
  load_source(thread, b, 1, n->b, info->b, select, imm);
  load_source(thread, c, 2, n->c, info->c, select, imm);
  LaneOp lane = {.d = d, .a = a, .b = b, .c = c, .active = 1, .mods = mods, .imm = imm};
  lane.ps = predicate_of(thread, n->ps) != ps_negated;
  lane.pa = predicate_of(thread, n->pa);
  for (unsigned i = 0; i < 2; i++) lane.pd[i] = n->pd[i] < 0 ? 0 : thread->predicates[n->pd[i]];
  lane_functions()[op](&lane);
  for (unsigned r = 0; r < type_info[info->d].registers && n->d[0] >= 0; r++) thread->registers[n->d[0] + (int)r] = d[WARP_LANES * r];
  for (unsigned i = 0; i < 2; i++) {
    if (n->pd[i] >= 0) thread->predicates[n->pd[i]] = lane.pd[i] & 1;
  }
}

static inline void run_memory(Thread *thread, unsigned op, uint16_t mods, uint32_t imm, const Numbers *n) {
  const OpInfo *info = &op_info[op];
  bool local = info->space == SPACE_LOCAL, store = info->kind == KIND_STORE;
  uint8_t *memory = local ? thread->local : thread->shared;
  uint32_t size = local ? LOCAL_BYTES : SHARED_BYTES, bytes = type_info[info->d].bits / 8u;
  uint32_t address = (n->a < 0 ? 0 : thread->registers[n->a]) + imm;
  uint32_t elements = mods_vector_count(mods);
  if (address > size - bytes * elements || address % (bytes * elements) != 0) {
    thread->broken = true;
    return;
  }
  for (unsigned e = 0; e < elements; e++, address += bytes) {
    uint64_t value = 0;
    for (unsigned r = 0; store && r < bytes / 4; r++) value |= (uint64_t)(n->d[e] < 0 ? 0 : thread->registers[n->d[e] + (int)r]) << 32 * r;
    if (store) memcpy(memory + address, &value, bytes);
    else memcpy(&value, memory + address, bytes);
    for (unsigned r = 0; !store && n->d[e] >= 0 && r < bytes / 4; r++) thread->registers[n->d[e] + (int)r] = (uint32_t)(value >> 32 * r);
    if (store && !local && thread->trace_count < TRACE_MOST) thread->trace[thread->trace_count++] = value ^ (uint64_t)address << 48;
  }
}

// Everything but control flow.
static inline void run_data(Thread *thread, unsigned op, uint16_t mods, unsigned select, uint32_t imm, bool ps_negated, const Numbers *n) {
  switch (op_info[op].kind) {
  case KIND_ALU: run_alu(thread, op, mods, select, imm, ps_negated, n); break;
  case KIND_SREG:
    for (int r = 0; r < (int)type_info[op_info[op].d].registers; r++) thread->registers[n->d[0] + r] = imm * 77 + 5 + (uint32_t)r;
    break;
  case KIND_LOAD:
  case KIND_STORE: run_memory(thread, op, mods, imm, n); break;
  default: break;
  }
}

// ---- On virtual registers ----------------------------------------------------------------------------
typedef struct MirRun {
  const MirModule *module;
  Thread *thread;
  uint32_t *bases; // of the running function: first unit of each vreg
  Arena *arena;
} MirRun;

static inline int virtual_number(const MirRun *run, Vref ref) {
  return ref.vreg == VREG_NONE ? -1 : (int)(run->bases[ref.vreg] + ref.part);
}
static inline int virtual_predicate(Vref ref) { return ref.vreg == VREG_NONE ? -1 : (int)ref.vreg; }

static inline Numbers virtual_numbers(const MirRun *run, const MirInstr *i) {
  bool pred_a = op_info[i->op].a == TYPE_pred;
  Numbers n = {.a = pred_a ? -1 : virtual_number(run, i->a), .b = virtual_number(run, i->b), .c = virtual_number(run, i->c)};
  n.pa = pred_a ? virtual_predicate(i->a) : -1;
  n.ps = virtual_predicate(i->ps);
  n.guard = virtual_predicate(i->guard);
  for (unsigned k = 0; k < 4; k++) n.d[k] = virtual_number(run, i->d[k]);
  for (unsigned k = 0; k < 2; k++) n.pd[k] = virtual_predicate(i->pd[k]);
  return n;
}

// False when the thread ended.
static inline bool mir_run_function(MirRun *outer, uint32_t index, uint32_t frame, uint32_t depth) {
  const MirFunction *f = &outer->module->functions.items[index];
  Thread *thread = outer->thread;
  MirRun run = *outer;
  run.bases = ARENA_ARRAY(run.arena, uint32_t, f->vregs.count + 1);
  for (uint32_t v = 0; v < f->vregs.count; v++) run.bases[v + 1] = run.bases[v] + max_u32(1, f->vregs.items[v].width);
  uint32_t *registers = ARENA_ARRAY(run.arena, uint32_t, run.bases[f->vregs.count] + 1);
  uint8_t *predicates = ARENA_ARRAY(run.arena, uint8_t, f->vregs.count + 1);
  if (f->frame_pointer != VREG_NONE) registers[run.bases[f->frame_pointer]] = frame;
  uint32_t step = (uint32_t)align_up(f->local_bytes, 16), b = 0, i = 0;
  while (b < f->blocks.count) {
    thread->registers = registers;
    thread->predicates = predicates;
    const MirBlock *block = &f->blocks.items[b];
    if (i == block->instrs.count) {
      b++;
      i = 0;
      continue;
    }
    const MirInstr *instr = &block->instrs.items[i++];
    if (++thread->steps > STEPS_MOST || depth > DEPTH_MOST) thread->broken = true;
    if (thread->broken) return false;
    Numbers n = virtual_numbers(&run, instr);
    if (predicate_of(thread, n.guard) == instr->guard_negated) continue;
    uint32_t flags = op_info[instr->op].flags;
    if ((flags & (IT_EXITS | IT_TRAPS)) != 0) return false;
    if ((flags & IT_RETURN) != 0) return true;
    if ((flags & IT_CALLS) != 0) {
      if (!mir_run_function(&run, instr->target, frame + step, depth + 1)) return false;
      continue;
    }
    if ((flags & IT_BRANCH) != 0) {
      b = (flags & IT_INDIRECT) != 0 ? block->indirect_targets.items[thread->registers[n.a]] : instr->target;
      i = 0;
      continue;
    }
    bool arguments = instr->a.vreg != VREG_NONE && instr->a.vreg == f->frame_pointer && (int32_t)instr->imm >= MIR_ARGUMENTS;
    run_data(thread, instr->op, instr->mods, instr->select, arguments ? instr->imm - MIR_ARGUMENTS + step : instr->imm, instr->ps_negated,
             &n);
  }
  return true;
}

static inline void thread_begin(Thread *thread) {
  memset(thread, 0, sizeof *thread);
  for (unsigned i = 0; i < SHARED_BYTES; i++) thread->shared[i] = (uint8_t)(i * 37 + 11);
}

static inline void mir_run(const MirModule *module, uint32_t kernel, Thread *thread) {
  thread_begin(thread);
  MirRun run = {.module = module, .thread = thread, .arena = arena_new()};
  mir_run_function(&run, kernel, 0, 0);
  arena_free(run.arena);
}

// ---- On physical registers ---------------------------------------------------------------------------
static inline Numbers physical_numbers(const Instr *i) {
  bool pred_a = op_info[i->op].a == TYPE_pred;
  Numbers n = {.a = i->a == REG_ZERO || pred_a ? -1 : i->a, .b = i->b == REG_ZERO ? -1 : i->b, .c = i->c == REG_ZERO ? -1 : i->c};
  n.pa = !pred_a || i->a == PRED_TRUE ? -1 : i->a;
  n.ps = i->ps == PRED_TRUE ? -1 : i->ps;
  n.guard = i->guard == PRED_TRUE ? -1 : i->guard;
  for (unsigned k = 0; k < 4; k++) n.d[k] = i->d[k] == REG_ZERO ? -1 : i->d[k];
  for (unsigned k = 0; k < 2; k++) n.pd[k] = i->pd[k] == PRED_TRUE ? -1 : i->pd[k];
  return n;
}

static inline void scramble(Thread *thread, uint32_t first, uint32_t seed) {
  for (uint32_t r = first; r < 256; r++) thread->registers[r] = 0xDEAD0000u + r * 7 + seed;
  for (uint32_t p = 0; p < 16; p++) thread->predicates[p] = (seed + p) & 1;
}

// Registers hold rubbish at entry and after calls, but for r0.
static inline void program_run(const Program *program, uint32_t kernel, Thread *thread) {
  uint32_t registers[256 + 8] = {0}, returns[DEPTH_MOST], depth = 0;
  uint8_t predicates[16] = {0};
  thread_begin(thread);
  thread->registers = registers;
  thread->predicates = predicates;
  scramble(thread, 0, 3);
  const Function *function = &program->functions[kernel];
  for (uint32_t pc = function->entry;;) {
    if (pc >= program->code_count || ++thread->steps > 4 * STEPS_MOST) thread->broken = true;
    if (thread->broken) return;
    const Instr *instr = &program->decoded[pc++];
    Numbers n = physical_numbers(instr);
    if (predicate_of(thread, n.guard) == instr->guard_negated) continue;
    uint32_t flags = op_info[instr->op].flags;
    if ((flags & (IT_EXITS | IT_TRAPS)) != 0 || ((flags & IT_RETURN) != 0 && depth == 0)) return;
    if ((flags & IT_RETURN) != 0) {
      pc = returns[--depth];
      scramble(thread, 1, pc);
    } else if ((flags & IT_CALLS) != 0) {
      if (depth == DEPTH_MOST) thread->broken = true;
      if (thread->broken) return;
      returns[depth++] = pc;
      pc = instr->imm;
    } else if ((flags & IT_BRANCH) != 0) {
      pc = (flags & IT_INDIRECT) != 0 ? thread->registers[n.a] : instr->imm;
    } else {
      run_data(thread, instr->op, instr->mods, instr->select, instr->imm, instr->ps_negated, &n);
    }
  }
}

static inline bool same_behaviour(const Thread *a, const Thread *b) {
  return !a->broken && !b->broken && a->trace_count == b->trace_count && memcmp(a->trace, b->trace, sizeof(uint64_t) * a->trace_count) == 0;
}

#endif
