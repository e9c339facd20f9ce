// A plain interpreter of G80 programs, one block after the other, for tests of kernels: no time, no faults, warps of a
// block in turn between barriers. Reference, sections 1, 3, 7 and 8.
#ifndef REDOUBT_SASS_TEST_INTERPRETER_H
#define REDOUBT_SASS_TEST_INTERPRETER_H

#include "sass/sass.h"

enum { GLOBAL_BYTES = 1 << 18, SHARED_BYTES = 1 << 14, CONST_BYTES = 1 << 13, STACK_DEPTH = 32, MAX_BLOCK_WARPS = 32 };
typedef enum Token { TOKEN_SYNC, TOKEN_DIVERGE, TOKEN_CALL } Token;

typedef struct StackEntry {
  uint32_t mask, pc;
  Token token;
} StackEntry;

typedef struct TestWarp {
  uint32_t registers[128][WARP_LANES], address[5][WARP_LANES];
  uint8_t flags[4][WARP_LANES];
  uint32_t pc, mask;
  StackEntry stack[STACK_DEPTH];
  unsigned depth;
  bool finished, waits;
} TestWarp;

typedef struct Interpreter {
  const SassProgram *program;
  uint8_t global[GLOBAL_BYTES], shared[SHARED_BYTES], constant[CONST_BYTES];
  TestWarp warps[MAX_BLOCK_WARPS];
  unsigned warp_count;
  uint64_t budget; // warp instructions
} Interpreter;

typedef struct TestLaunch {
  uint32_t block[3], grid[2];
  uint32_t params[SASS_MAX_PARAMS];
  uint32_t param_count;
} TestLaunch;

static inline uint32_t bytes_get(const uint8_t *memory, uint32_t size, uint32_t at, unsigned count) {
  uint32_t value = 0;
  for (unsigned i = 0; i < count; i++) value |= (uint32_t)memory[(at + i) & (size - 1)] << 8 * i;
  return value;
}

static inline void bytes_set(uint8_t *memory, uint32_t size, uint32_t at, unsigned count, uint32_t value) {
  for (unsigned i = 0; i < count; i++) memory[(at + i) & (size - 1)] = (uint8_t)(value >> 8 * i);
}

static inline uint32_t operand_get(const Interpreter *in, const TestWarp *warp, const SassInstr *instr, const SassOperand *operand,
                                   unsigned lane) {
  unsigned bytes = sass_type_bytes(operand->type);
  uint32_t offset = instr->address != 0 ? warp->address[instr->address][lane] : 0;
  switch (operand->kind) {
  case SASS_GPR: return operand->zero ? 0 : sass_half_get(warp->registers[operand->value][lane], operand->half);
  case SASS_SHARED: return bytes_get(in->shared, SHARED_BYTES, operand->value + offset, bytes);
  case SASS_CONSTANT: return bytes_get(in->constant, CONST_BYTES, operand->value, bytes);
  case SASS_ADDRESS: return warp->address[operand->value][lane];
  default: return operand->value;
  }
}

static inline uint32_t guard_mask(const TestWarp *warp, const SassInstr *instr) {
  uint32_t mask = 0;
  for (unsigned lane = 0; lane < WARP_LANES; lane++) {
    bool holds = sass_condition(warp->flags[instr->guard_register][lane], instr->guard_condition);
    mask |= (uint32_t)holds << lane;
  }
  return mask & warp->mask;
}

static inline void warp_push(TestWarp *warp, uint32_t mask, Token token, uint32_t pc) {
  if (warp->depth < STACK_DEPTH) warp->stack[warp->depth++] = (StackEntry){mask, pc, token};
}

static inline void interpret_control(TestWarp *warp, const SassInstr *instr, uint32_t mask, uint32_t next) {
  warp->pc = next;
  switch (instr->action) {
  case SASS_DO_BRANCH:
    if (mask == 0) break;
    if (mask != warp->mask) warp_push(warp, warp->mask & ~mask, TOKEN_DIVERGE, next);
    warp->mask = mask;
    warp->pc = instr->target;
    break;
  case SASS_DO_SSY: warp_push(warp, warp->mask, TOKEN_SYNC, instr->target); break;
  case SASS_DO_CALL:
    warp_push(warp, warp->mask, TOKEN_CALL, next);
    warp->pc = instr->target;
    break;
  case SASS_DO_RETURN:
    if (warp->depth == 0) {
      warp->mask &= ~mask;
      warp->finished = warp->mask == 0;
    } else {
      warp->depth--;
      warp->mask = warp->stack[warp->depth].mask;
      warp->pc = warp->stack[warp->depth].pc;
    }
    break;
  case SASS_DO_BARRIER: warp->waits = true; break;
  default: warp->finished = true; break; // hangs, and what no kernel here uses
  }
}

static inline void interpret_memory(Interpreter *in, TestWarp *warp, const SassInstr *instr, unsigned lane) {
  uint32_t offset = instr->address != 0 ? warp->address[instr->address][lane] : 0;
  uint32_t at = operand_get(in, warp, instr, &instr->a, lane) + offset;
  uint32_t data = operand_get(in, warp, instr, &instr->c, lane);
  unsigned bytes = instr->access_bytes;
  if (instr->action == SASS_DO_STORE_SHARED) {
    bytes_set(in->shared, SHARED_BYTES, instr->shared_offset + offset, bytes, data);
  } else if (instr->action == SASS_DO_STORE_GLOBAL) {
    bytes_set(in->global, GLOBAL_BYTES, at, bytes, data);
  } else if (instr->write != SASS_WRITE_DISCARD) {
    uint32_t value = bytes_get(in->global, GLOBAL_BYTES, at, bytes);
    uint32_t sign = instr->access_signed ? UINT32_C(1) << (8 * bytes - 1) : 0;
    warp->registers[instr->d.value][lane] = (value ^ sign) - sign;
  }
}

static inline void interpret_lanes(Interpreter *in, TestWarp *warp, const SassInstr *instr, uint32_t mask) {
  SassLanes lanes = {0};
  for (unsigned lane = 0; lane < WARP_LANES; lane++) {
    lanes.a[lane] = operand_get(in, warp, instr, &instr->a, lane);
    lanes.b[lane] = operand_get(in, warp, instr, &instr->b, lane);
    lanes.c[lane] = operand_get(in, warp, instr, &instr->c, lane);
    if ((warp->flags[instr->guard_register][lane] & SASS_FLAG_CARRY) != 0) lanes.carry |= UINT32_C(1) << lane;
    if (instr->action == SASS_DO_FROM_FLAGS) lanes.a[lane] = warp->flags[instr->guard_register][lane];
  }
  sass_execute(instr, lane_functions(), &lanes);
  for (unsigned lane = 0; lane < WARP_LANES; lane++) {
    if ((mask >> lane & 1) == 0) continue;
    if (instr->d.kind == SASS_ADDRESS) warp->address[instr->d.value][lane] = lanes.d[lane];
    if (instr->d.kind == SASS_GPR && instr->write != SASS_WRITE_DISCARD) {
      uint32_t *place = &warp->registers[instr->d.value][lane];
      *place = sass_half_put(*place, lanes.d[lane], instr->d.half);
    }
    if (instr->sets_predicate) warp->flags[instr->predicate][lane] = lanes.flags[lane];
  }
}

static inline void interpret_join(TestWarp *warp) {
  if (warp->depth == 0) {
    warp->mask = UINT32_MAX;
    return;
  }
  const StackEntry *top = &warp->stack[--warp->depth];
  warp->mask = top->mask;
  if (top->token != TOKEN_SYNC && warp->depth > 0) warp->pc = top->pc;
}

static inline void interpret_one(Interpreter *in, TestWarp *warp) {
  uint32_t at = warp->pc / 4;
  const SassProgram *program = in->program;
  if (at >= program->count || in->budget == 0) {
    warp->finished = true;
    return;
  }
  in->budget--;
  SassInstr instr;
  sass_decode(program->words[at], at + 1 < program->count ? program->words[at + 1] : 0, &instr);
  uint32_t mask = guard_mask(warp, &instr);
  uint32_t next = warp->pc + instr.bytes;
  warp->pc = next;
  if (instr.format == SASS_CONTROL) {
    interpret_control(warp, &instr, mask, next);
  } else if (instr.access_bytes != 0) {
    for (unsigned lane = 0; lane < WARP_LANES; lane++)
      if ((mask >> lane & 1) != 0) interpret_memory(in, warp, &instr, lane);
  } else if (instr.action < SASS_DO_LOAD_GLOBAL) {
    interpret_lanes(in, warp, &instr, mask);
  }
  if (instr.join) interpret_join(warp);
}

// Runs the warps of a block until all have ended; a barrier that not all reach ends the block too.
static inline bool interpret_block(Interpreter *in) {
  for (;;) {
    bool any = false, waiting = false;
    for (unsigned i = 0; i < in->warp_count; i++) {
      TestWarp *warp = &in->warps[i];
      while (!warp->finished && !warp->waits) interpret_one(in, warp), any = true;
      waiting = waiting || warp->waits;
    }
    if (!waiting) return in->budget > 0;
    if (!any) return false;
    for (unsigned i = 0; i < in->warp_count; i++) {
      if (in->warps[i].finished) return false;
      in->warps[i].waits = false;
    }
  }
}

static inline void block_start(Interpreter *in, const TestLaunch *launch, uint32_t index) {
  const uint32_t header[8] = {0,
                              launch->block[0],
                              launch->block[1],
                              launch->block[2],
                              launch->grid[0],
                              launch->grid[1],
                              index % launch->grid[0],
                              index / launch->grid[0]};
  for (unsigned i = 0; i < 8; i++) bytes_set(in->shared, SHARED_BYTES, 2 * i, 2, header[i]);
  for (unsigned i = 0; i < launch->param_count; i++) bytes_set(in->shared, SHARED_BYTES, 16 + 4 * i, 4, launch->params[i]);
  uint32_t threads = launch->block[0] * launch->block[1] * launch->block[2];
  in->warp_count = (threads + WARP_LANES - 1) / WARP_LANES;
  for (unsigned i = 0; i < in->warp_count; i++) {
    TestWarp *warp = &in->warps[i];
    *warp = (TestWarp){.mask = UINT32_MAX};
    for (unsigned lane = 0; lane < WARP_LANES; lane++) {
      uint32_t thread = i * WARP_LANES + lane;
      if (thread >= threads) continue;
      uint32_t row = thread / launch->block[0];
      warp->registers[0][lane] = thread % launch->block[0] | row % launch->block[1] << 16 | row / launch->block[1] << 26;
    }
  }
}

static inline bool interpret(Interpreter *in, const TestLaunch *launch) {
  in->budget = 10000000;
  for (uint32_t i = 0; i < in->program->constant_count; i++) bytes_set(in->constant, CONST_BYTES, 4 * i, 4, in->program->constants[i]);
  for (uint32_t block = 0; block < launch->grid[0] * launch->grid[1]; block++) {
    block_start(in, launch, block);
    if (!interpret_block(in)) return false;
  }
  return true;
}

#endif
