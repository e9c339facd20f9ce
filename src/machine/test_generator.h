// For tests of machines: random structured programs (branches, loops with divergent trip counts, calls, guarded returns and exits).
#ifndef REDOUBT_TEST_GENERATOR_H
#define REDOUBT_TEST_GENERATOR_H

#include "machine/test_assembler.h"

enum { VALUES = 6, FIRST_VALUE = 8, COUNTER = 20, DEPTH = 3, MOST_FUNCTIONS = 2 };

typedef struct Generator {
  Bench *bench;
  uint64_t seed, draws;
  unsigned counters; // loop counters in use
  Instr *calls[32];  // to be directed at a function once that has a place
  uint32_t call_count;
  bool in_function;
} Generator;

static inline uint32_t draw(Generator *to, uint32_t bound) { return (uint32_t)(random_draw(to->seed, to->draws++, 0) % bound); }
static inline unsigned draw_value(Generator *to) { return FIRST_VALUE + draw(to, VALUES); }
static inline bool has_room(const Generator *to) { return to->bench->count < TEST_MOST_CODE - 64; }

static inline void put_arithmetic(Generator *to) {
  static const Op ops[] = {OP_ADD_B32, OP_XOR_B32, OP_MUL_LO_B32, OP_AND_B32, OP_SUB_B32};
  Op op = ops[draw(to, COUNT_OF(ops))];
  unsigned d = draw_value(to), a = draw_value(to);
  if (draw(to, 2) == 0) put_dai(to->bench, op, d, a, draw(to, 1000) + 1);
  else put_dab(to->bench, op, d, a, draw_value(to));
}

// pd = some bits of a value are zero: true for some lanes.
static inline void put_condition(Generator *to, unsigned pd) {
  put_dai(to->bench, OP_AND_B32, 7, draw_value(to), 1u << draw(to, 5));
  put_setp(to->bench, OP_SETP_EQ_B32, pd, 7, 0);
}

static inline void put_statements(Generator *to, unsigned depth);

static inline void put_if(Generator *to, unsigned depth) {
  Bench *bench = to->bench;
  put_condition(to, 0);
  Instr *branch = put_branch(bench, 0, draw(to, 2) == 0, 0, 0);
  put_statements(to, depth - 1);
  if (draw(to, 2) == 0) {
    branch->imm = branch->reconverge = bench->count;
    return;
  }
  Instr *skip = put_branch(bench, PRED_TRUE, false, 0, NO_RECONVERGE);
  branch->imm = bench->count;
  put_statements(to, depth - 1);
  skip->imm = branch->reconverge = bench->count;
}

// Between 0 and 7 turns, by a value of the lane.
static inline void put_loop(Generator *to, unsigned depth) {
  Bench *bench = to->bench;
  unsigned counter = COUNTER + to->counters++;
  put_dai(bench, OP_AND_B32, counter, draw_value(to), 7);
  uint32_t head = bench->count;
  put_setp(bench, OP_SETP_EQ_B32, 1, counter, 0);
  Instr *leave = put_branch(bench, 1, false, 0, 0);
  put_dai(bench, OP_ADD_B32, counter, counter, UINT32_MAX);
  put_statements(to, depth - 1);
  put_branch(bench, PRED_TRUE, false, head, NO_RECONVERGE);
  leave->imm = leave->reconverge = bench->count;
  to->counters--;
}

static inline void put_statement(Generator *to, unsigned depth) {
  Bench *bench = to->bench;
  uint32_t choice = draw(to, 10);
  if (!has_room(to) || depth == 0 || choice < 4) {
    put_arithmetic(to);
  } else if (choice < 6) {
    put_if(to, depth);
  } else if (choice < 8) {
    put_loop(to, depth);
  } else if (choice == 8 && !to->in_function && to->call_count < COUNT_OF(to->calls)) {
    put_condition(to, 2);
    Instr *call = put(bench, OP_CALL);
    call->guard = draw(to, 2) == 0 ? 2 : PRED_TRUE;
    to->calls[to->call_count++] = call;
  } else if (to->in_function) {
    put_condition(to, 3);
    put(bench, OP_RET)->guard = 3;
  } else if (draw(to, 4) == 0) {
    put_dai(bench, OP_AND_B32, 7, draw_value(to), 31);
    put_setp(bench, OP_SETP_EQ_B32, 4, 7, 3);
    put_result(bench, draw_value(to)); // a lane that ends early has left a value
    put_exit(bench)->guard = 4;
  }
}

static inline void put_statements(Generator *to, unsigned depth) {
  for (uint32_t left = 1 + draw(to, 4); left > 0; left--) put_statement(to, depth);
}

static inline void generate(Generator *to) {
  Bench *bench = to->bench;
  put_param64(bench, 2, 0);
  put_sreg(bench, 4, SREG_TID_X);
  put_memory(bench, OP_LD_PARAM_B32, 5, REG_ZERO, 8); // first thread's number
  put_dab(bench, OP_ADD_B32, 4, 4, 5);
  put_dai(bench, OP_SHL_B32, 6, 4, 2);
  put_move(bench, 7, 0);
  put_dab(bench, OP_ADD_B64, 2, 2, 6);
  for (unsigned i = 0; i < VALUES; i++) put_dai(bench, OP_MUL_LO_B32, FIRST_VALUE + i, 4, 2654435761u >> i);
  put_statements(to, DEPTH);
  put_statements(to, DEPTH);
  put_dab(bench, OP_XOR_B32, FIRST_VALUE, FIRST_VALUE, FIRST_VALUE + 1);
  put_dab(bench, OP_XOR_B32, FIRST_VALUE, FIRST_VALUE, FIRST_VALUE + 2);
  put_result(bench, FIRST_VALUE);
  put_exit(bench);
  to->in_function = true;
  to->counters = DEPTH; // callers may be in loops of their own
  uint32_t entries[MOST_FUNCTIONS];
  for (unsigned f = 0; f < MOST_FUNCTIONS; f++) {
    entries[f] = bench->count;
    put_statements(to, 2);
    put(bench, OP_RET);
  }
  for (uint32_t i = 0; i < to->call_count; i++) to->calls[i]->imm = entries[i % MOST_FUNCTIONS];
}

#endif
