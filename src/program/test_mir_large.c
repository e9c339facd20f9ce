// Long functions of shapes that invite quadratic work: the time and memory that mir_finish and its
// graph take stay in proportion to the function. The bounds are some fifty times what is needed;
// quadratic work exceeds them by far.
#include "program/mir_internal.h"

#include <time.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static MirModule *new_module(uint32_t blocks) {
  Arena *arena = arena_new();
  MirModule *module = ARENA_NEW(arena, MirModule);
  module->arena = arena;
  module->file = "test";
  module->address_bits = 64;
  MirFunction *function = VEC_PUSH(&module->functions, arena);
  function->name = "large";
  function->is_kernel = true;
  function->frame_pointer = VREG_NONE;
  for (uint32_t b = 0; b < blocks; b++) VEC_PUSH(&function->blocks, arena);
  return module;
}

static MirInstr *put(MirModule *module, uint32_t block, Op op) {
  MirInstr *instr = mir_emit(&module->functions.items[0], module->arena, block);
  instr->op = (uint16_t)op;
  instr->line = block + 1;
  return instr;
}

// Finishes the module within some seconds of processor time; gives the length of the code.
static uint32_t finish_soon(MirModule *module) {
  enum { SECONDS_MOST = 15 };
  Diags diags = {0};
  clock_t start = clock();
  Program *program = mir_finish(module, NULL, &diags);
  double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
  if (program == NULL) fail_msg("%s", diags.items[0].text);
  if (seconds > SECONDS_MOST) fail_msg("took %.0f s", seconds);
  uint32_t count = program->code_count;
  diags_free(&diags);
  program_free(program);
  return count;
}

enum { JUMPS = 300000 };

static void jumps_to_the_next_block_vanish(void **state) {
  (void)state;
  MirModule *module = new_module(JUMPS + 1);
  for (uint32_t b = 0; b < JUMPS; b++) put(module, b, OP_BRA)->target = b + 1;
  put(module, JUMPS, OP_EXIT);
  assert_int_equal(finish_soon(module), 1);
}

// Every jump but the last leads to one far away, so that no order of the blocks is a good one.
static void chains_of_far_jumps_vanish(void **state) {
  (void)state;
  MirModule *module = new_module(JUMPS + 1);
  uint32_t at = 0;
  for (uint32_t i = 0; i < JUMPS; i++) {
    uint32_t next = (at + 7919) % JUMPS; // a prime that does not divide JUMPS: visits every block
    put(module, at, OP_BRA)->target = i + 1 == JUMPS ? JUMPS : next;
    at = next;
  }
  put(module, JUMPS, OP_TRAP);
  put(module, JUMPS, OP_EXIT);
  assert_int_equal(finish_soon(module), 1);
}

static void rings_of_jumps_stay(void **state) {
  (void)state;
  MirModule *module = new_module(JUMPS);
  for (uint32_t b = 0; b < JUMPS; b++) put(module, b, OP_BRA)->target = (b + 1) % JUMPS;
  assert_in_range(finish_soon(module), 1, 2);
}

// Many ends and many loops without one: each wants a meeting point of its own.
static void many_ends_take_memory_once(void **state) {
  (void)state;
  enum { PLACES = 50000, BYTES_A_BLOCK = 400 };
  for (unsigned endless = 0; endless < 2; endless++) {
    MirModule *module = new_module(2 * PLACES + 1);
    MirFunction *function = &module->functions.items[0];
    VregId p = mir_vreg(function, module->arena, 0);
    for (uint32_t i = 0; i < PLACES; i++) {
      MirInstr *past = put(module, 2 * i, OP_BRA);
      past->guard = VREF(p);
      past->target = 2 * i + 2;
      MirInstr *end = put(module, 2 * i + 1, endless == 0 ? OP_EXIT : OP_BRA);
      if (endless != 0) end->target = 2 * i + 1;
    }
    put(module, 2 * PLACES, OP_EXIT);
    Arena *arena = arena_new();
    Cfg cfg;
    clock_t start = clock();
    cfg_build(&cfg, arena, function);
    const uint32_t *meets = cfg_post_dominators(&cfg, arena, function);
    assert_true((double)(clock() - start) / CLOCKS_PER_SEC < 10);
    for (uint32_t i = 0; i < PLACES; i++) {
      assert_int_equal(meets[2 * i], 2 * i + 2);
      assert_int_equal(meets[2 * i + 1], NONE);
    }
    assert_true(arena_bytes(arena) < (size_t)BYTES_A_BLOCK * cfg.count);
    arena_free(arena);
    arena_free(module->arena);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(jumps_to_the_next_block_vanish),
      cmocka_unit_test(chains_of_far_jumps_vanish),
      cmocka_unit_test(rings_of_jumps_stay),
      cmocka_unit_test(many_ends_take_memory_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
