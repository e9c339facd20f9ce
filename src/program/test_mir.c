// Hand-made cases of mir_finish: situations that allocators are known to get wrong, limits,
// calls, reconvergence points; and post-dominators of random graphs against brute force.
#include "program/mir_internal.h"
#include "program/test_interpreter.h"

// ---- Building ------------------------------------------------------------------------------------------
typedef struct Builder {
  MirModule *module;
  MirFunction *f;
  uint32_t block;
} Builder;

static Builder begin_module(void) {
  Arena *arena = arena_new();
  MirModule *module = ARENA_NEW(arena, MirModule);
  module->arena = arena;
  module->file = "test";
  module->address_bits = 64;
  return (Builder){.module = module};
}

static uint32_t begin_function(Builder *b, const char *name, bool is_kernel, uint32_t blocks) {
  b->f = VEC_PUSH(&b->module->functions, b->module->arena);
  b->f->name = name;
  b->f->is_kernel = is_kernel;
  b->f->frame_pointer = VREG_NONE;
  for (uint32_t i = 0; i < blocks; i++) VEC_PUSH(&b->f->blocks, b->module->arena);
  b->block = 0;
  return b->module->functions.count - 1;
}

static VregId reg(Builder *b, unsigned width) { return mir_vreg(b->f, b->module->arena, width); }

static MirInstr *put(Builder *b, Op op) {
  MirInstr *instr = mir_emit(b->f, b->module->arena, b->block);
  instr->op = (uint16_t)op;
  instr->line = b->block + 1;
  return instr;
}

static MirInstr *put_imm(Builder *b, Vref d, uint32_t value) {
  MirInstr *instr = put(b, OP_MOV_B32);
  instr->d[0] = d;
  instr->select = SELECT_IMM_A;
  instr->imm = value;
  return instr;
}

static MirInstr *put_move(Builder *b, Vref d, Vref a) {
  MirInstr *instr = put(b, OP_MOV_B32);
  instr->d[0] = d;
  instr->a = a;
  return instr;
}

static MirInstr *put_add(Builder *b, Vref d, Vref a, Vref c) {
  MirInstr *instr = put(b, OP_ADD_B32);
  instr->d[0] = d;
  instr->a = a;
  instr->b = c;
  return instr;
}

static MirInstr *put_add_imm(Builder *b, Vref d, Vref a, uint32_t value) {
  MirInstr *instr = put_add(b, d, a, VREF_NONE);
  instr->select = SELECT_IMM_B;
  instr->imm = value;
  return instr;
}

static void put_test(Builder *b, VregId p, Vref a) {
  MirInstr *instr = put(b, OP_SETP_NE_B32);
  instr->pd[0] = VREF(p);
  instr->a = a;
}

static MirInstr *put_load(Builder *b, Vref d, uint32_t at) {
  MirInstr *instr = put(b, OP_LD_SHARED_B32);
  instr->d[0] = d;
  instr->imm = at;
  return instr;
}

static MirInstr *put_store(Builder *b, Vref d, uint32_t at) {
  MirInstr *instr = put(b, OP_ST_SHARED_B32);
  instr->d[0] = d;
  instr->imm = at;
  return instr;
}

static MirInstr *put_branch(Builder *b, uint32_t target, VregId guard, bool negated) {
  MirInstr *instr = put(b, OP_BRA);
  instr->target = target;
  if (guard != VREG_NONE) instr->guard = VREF(guard);
  instr->guard_negated = negated;
  return instr;
}

// Finishes the module and checks that it behaves as before. NULL only when that is wanted.
static Program *finish(Builder *b, uint32_t max_registers) {
  Arena *arena = arena_new();
  Thread *before = ARENA_NEW(arena, Thread), *after = ARENA_NEW(arena, Thread);
  mir_run(b->module, 0, before);
  assert_false(before->broken);
  Diags diags = {0};
  MirOptions options = {.max_registers = max_registers};
  Program *program = mir_finish(b->module, &options, &diags);
  if (program == NULL) fail_msg("%s", diags.items[0].text);
  program_run(program, 0, after);
  assert_true(before->trace_count > 0);
  assert_true(same_behaviour(before, after));
  diags_free(&diags);
  arena_free(arena);
  return program;
}

static uint32_t count_ops(const Program *program, uint32_t function, Op op) {
  uint32_t count = 0;
  for (uint32_t i = program->functions[function].entry; i < program->functions[function].end; i++) count += program->decoded[i].op == op;
  return count;
}

// ---- Copies --------------------------------------------------------------------------------------------
// x, y = y, x in a loop: the copies meet in a ring and must not be merged away.
static void swaps_in_loops(void **state) {
  (void)state;
  Builder b = begin_module();
  begin_function(&b, "swap", true, 3);
  VregId x = reg(&b, 1), y = reg(&b, 1), t = reg(&b, 1), n = reg(&b, 1), p = reg(&b, 0);
  put_imm(&b, VREF(x), 1);
  put_imm(&b, VREF(y), 2);
  put_imm(&b, VREF(n), 5);
  b.block = 1;
  put_move(&b, VREF(t), VREF(x));
  put_move(&b, VREF(x), VREF(y));
  put_move(&b, VREF(y), VREF(t));
  put_store(&b, VREF(x), 0);
  put_store(&b, VREF(y), 4);
  put_add_imm(&b, VREF(n), VREF(n), 0xFFFFFFFF);
  put_test(&b, p, VREF(n));
  put_branch(&b, 1, p, false);
  b.block = 2;
  put(&b, OP_EXIT);
  Program *program = finish(&b, 0);
  assert_int_equal(program->functions[0].registers, 4);
  program_free(program);
}

// The lost copy: the old value of the loop variable is read after its successor exists.
static void copies_are_not_lost(void **state) {
  (void)state;
  Builder b = begin_module();
  begin_function(&b, "lost", true, 3);
  VregId i = reg(&b, 1), next = reg(&b, 1), p = reg(&b, 0);
  put_imm(&b, VREF(i), 4);
  b.block = 1;
  put_add_imm(&b, VREF(next), VREF(i), 0xFFFFFFFF);
  put_store(&b, VREF(i), 0);
  put_test(&b, p, VREF(next));
  VregId old = reg(&b, 1);
  put_move(&b, VREF(old), VREF(i));
  put_move(&b, VREF(i), VREF(next));
  put_branch(&b, 1, p, false);
  b.block = 2;
  put_store(&b, VREF(old), 8);
  put(&b, OP_EXIT);
  Program *program = finish(&b, 0);
  program_free(program);
}

// Copies that nothing forbids cost neither instruction nor register.
static void copies_vanish(void **state) {
  (void)state;
  Builder b = begin_module();
  begin_function(&b, "copies", true, 1);
  VregId pair = reg(&b, 2), low = reg(&b, 1), high = reg(&b, 1), c = reg(&b, 1);
  put_load(&b, VREF(low), 0);
  put_load(&b, VREF(high), 4);
  put_move(&b, (Vref){pair, 0}, VREF(low));
  put_move(&b, (Vref){pair, 1}, VREF(high));
  MirInstr *add = put(&b, OP_ADD_B64);
  add->d[0] = add->a = add->b = VREF(pair);
  put_move(&b, VREF(c), (Vref){pair, 1});
  put_store(&b, VREF(c), 8);
  put_store(&b, (Vref){pair, 0}, 12);
  put(&b, OP_EXIT);
  Program *program = finish(&b, 0);
  assert_int_equal(count_ops(program, 0, OP_MOV_B32), 0);
  assert_int_equal(program->functions[0].registers, 2);
  program_free(program);
}

// ---- Guards --------------------------------------------------------------------------------------------
// r = 0; @p r = 1 in a loop: one register, and what a guarded write makes does not live forever.
static void guarded_writes_merge(void **state) {
  (void)state;
  Builder b = begin_module();
  begin_function(&b, "guards", true, 3);
  VregId n = reg(&b, 1), p = reg(&b, 0), q = reg(&b, 0);
  put_imm(&b, VREF(n), 4);
  b.block = 1;
  put_load(&b, VREF(n), 0);
  put_test(&b, q, VREF(n));
  VregId sum = reg(&b, 1);
  put_imm(&b, VREF(sum), 0);
  for (unsigned i = 0; i < 8; i++) {
    // Eight values that exist where q holds only: they need one register, one after the other.
    VregId part = reg(&b, 1);
    put_load(&b, VREF(part), 4 * i)->guard = VREF(q);
    put_add(&b, VREF(sum), VREF(sum), VREF(part))->guard = VREF(q);
    // And eight that opposite guards define.
    VregId either = reg(&b, 1);
    put_imm(&b, VREF(either), i)->guard = VREF(q);
    MirInstr *other = put_imm(&b, VREF(either), i + 1);
    other->guard = VREF(q);
    other->guard_negated = true;
    put_add(&b, VREF(sum), VREF(sum), VREF(either));
  }
  put_store(&b, VREF(sum), 64);
  put_test(&b, p, VREF_NONE); // never: once round is enough, the loop is there for liveness
  put_branch(&b, 1, p, false);
  b.block = 2;
  put(&b, OP_EXIT);
  Program *program = finish(&b, 0);
  assert_int_equal(program->functions[0].registers, 2);
  program_free(program);
}

// A pair made of two part writes inside a loop is not live around it.
static void parts_make_wholes(void **state) {
  (void)state;
  Builder b = begin_module();
  begin_function(&b, "parts", true, 3);
  VregId n = reg(&b, 1), p = reg(&b, 0);
  put_imm(&b, VREF(n), 3);
  b.block = 1;
  for (unsigned i = 0; i < 10; i++) {
    VregId pair = reg(&b, 2);
    put_load(&b, (Vref){pair, 0}, 8 * i);
    put_load(&b, (Vref){pair, 1}, 8 * i + 4);
    MirInstr *store = put(&b, OP_ST_SHARED_B64);
    store->d[0] = VREF(pair);
    store->imm = 128 + 8 * i;
  }
  put_add_imm(&b, VREF(n), VREF(n), 0xFFFFFFFF);
  put_test(&b, p, VREF(n));
  put_branch(&b, 1, p, false);
  b.block = 2;
  put(&b, OP_EXIT);
  Program *program = finish(&b, 0);
  assert_int_equal(program->functions[0].registers, 3);
  program_free(program);
}

// ---- Limits --------------------------------------------------------------------------------------------
// `count` values of this width live at once, summed up at the end.
static void put_pressure(Builder *b, uint32_t count) {
  VregId values[64];
  for (uint32_t i = 0; i < count; i++) {
    values[i] = reg(b, 1);
    put_load(b, VREF(values[i]), 4 * i);
  }
  put(b, OP_BAR_SYNC); // nothing moves across
  VregId sum = reg(b, 1);
  put_imm(b, VREF(sum), 0);
  for (uint32_t i = count; i-- > 0;) {
    put_store(b, VREF(values[i]), 4 * i);
    put_add(b, VREF(sum), VREF(sum), VREF(values[i]));
  }
  put_store(b, VREF(sum), 252);
  put(b, OP_EXIT);
}

static void limits_hold(void **state) {
  (void)state;
  static const struct {
    uint32_t option, maxnreg, threads, blocks;
    uint32_t limit; // expected
  } cases[] = {
      {0, 0, 0, 0, 255},    {24, 0, 0, 0, 24},   {0, 20, 0, 0, 20},   {32, 24, 0, 0, 24},  {8, 0, 0, 0, 16},
      {0, 0, 1024, 2, 32},  {0, 0, 1024, 0, 64}, {0, 0, 768, 2, 40},  {0, 0, 1024, 8, 16}, {0, 0, 256, 8, 32},
      {40, 0, 1024, 2, 32}, {0, 0, 100, 16, 32}, {0, 18, 256, 1, 18},
  };
  for (unsigned c = 0; c < COUNT_OF(cases); c++) {
    Builder b = begin_module();
    begin_function(&b, "limits", true, 1);
    b.f->max_registers = cases[c].maxnreg;
    b.f->max_threads[0] = cases[c].threads;
    b.f->min_blocks = cases[c].blocks;
    put_pressure(&b, 60);
    Program *program = finish(&b, cases[c].option);
    const Function *f = &program->functions[0];
    assert_int_equal(f->registers, min_u32(61, cases[c].limit));
    assert_int_equal(f->spill_loads > 0, cases[c].limit < 61);
    assert_int_equal(f->frame_bytes > 0, cases[c].limit < 61);
    program_free(program);
  }
}

// Constants and special registers are made again, not stored.
static void constants_are_remade(void **state) {
  (void)state;
  Builder b = begin_module();
  begin_function(&b, "remade", true, 1);
  VregId values[40];
  for (uint32_t i = 0; i < COUNT_OF(values); i++) {
    values[i] = reg(&b, 1);
    MirInstr *made = put_imm(&b, VREF(values[i]), i * 1000);
    if (i % 2 == 0) continue;
    made->op = OP_S2R;
    made->select = SELECT_REGISTERS;
    made->imm = i % SREG_COUNT;
  }
  put(&b, OP_BAR_SYNC);
  for (uint32_t round = 0; round < 2; round++) {
    for (uint32_t i = 0; i < COUNT_OF(values); i++) put_store(&b, VREF(values[i]), 4 * i);
  }
  put(&b, OP_EXIT);
  Program *program = finish(&b, 16);
  assert_true(program->functions[0].registers <= 16);
  assert_int_equal(program->functions[0].spill_loads, 0);
  assert_int_equal(program->functions[0].spill_stores, 0);
  assert_int_equal(program->functions[0].frame_bytes, 0);
  program_free(program);
}

static void predicates_spill_to_registers(void **state) {
  (void)state;
  Builder b = begin_module();
  begin_function(&b, "predicates", true, 1);
  VregId predicates[30], value = reg(&b, 1);
  for (uint32_t i = 0; i < COUNT_OF(predicates); i++) {
    predicates[i] = reg(&b, 0);
    put_load(&b, VREF(value), 4 * i);
    put_add_imm(&b, VREF(value), VREF(value), i % 3 == 0 ? 0 : 1);
    put_test(&b, predicates[i], VREF(value));
  }
  put(&b, OP_BAR_SYNC);
  for (uint32_t i = 0; i < COUNT_OF(predicates); i++) {
    MirInstr *select = put(&b, OP_SELP_B32);
    select->d[0] = VREF(value);
    select->select = SELECT_IMM_A;
    select->imm = i + 1;
    select->ps = VREF(predicates[i]);
    put_store(&b, VREF(value), 4 * i)->guard = VREF(predicates[29 - i]);
  }
  put(&b, OP_EXIT);
  Program *program = finish(&b, 0);
  assert_true(program->functions[0].predicates <= MAX_PREDICATES);
  assert_int_equal(program->functions[0].spill_loads, 0);
  program_free(program);
}

// Tuples of every width at once: validation checks their alignment.
static void tuples_are_aligned(void **state) {
  (void)state;
  Builder b = begin_module();
  begin_function(&b, "tuples", true, 1);
  static const uint8_t widths[] = {1, 8, 1, 2, 4, 1, 2, 8, 1, 4, 2};
  VregId values[COUNT_OF(widths)];
  for (unsigned v = 0; v < COUNT_OF(widths); v++) {
    values[v] = reg(&b, widths[v]);
    for (unsigned part = 0; part < widths[v]; part++) put_load(&b, (Vref){values[v], (uint8_t)part}, 4 * (v + part));
  }
  put(&b, OP_BAR_SYNC);
  for (unsigned v = 0; v < COUNT_OF(widths); v++) {
    for (unsigned part = 0; part + 2 <= widths[v]; part += 2) {
      MirInstr *store = put(&b, OP_ST_SHARED_B64);
      store->d[0] = (Vref){values[v], (uint8_t)part};
      store->imm = 8 * v;
    }
    put_store(&b, (Vref){values[v], (uint8_t)(widths[v] - 1)}, 4 * v);
  }
  put(&b, OP_EXIT);
  Program *program = finish(&b, 0);
  assert_int_equal(program->functions[0].registers, 34); // as many as are live: nothing is wasted
  program_free(program);
}

// ---- Calls ---------------------------------------------------------------------------------------------
static void put_call(Builder *b, uint32_t callee) { put(b, OP_CALL)->target = callee; }

// A function that stores its argument and calls itself with one less.
static void recursion_works(void **state) {
  (void)state;
  Builder b = begin_module();
  begin_function(&b, "kernel", true, 1);
  b.f->frame_pointer = reg(&b, 1);
  VregId n = reg(&b, 1), kept = reg(&b, 2), fp = b.f->frame_pointer;
  put_imm(&b, VREF(n), 5);
  put_load(&b, (Vref){kept, 0}, 0);
  put_load(&b, (Vref){kept, 1}, 4);
  MirInstr *argument = put(&b, OP_ST_LOCAL_B32);
  argument->a = VREF(fp);
  argument->imm = MIR_ARGUMENTS;
  argument->d[0] = VREF(n);
  put_call(&b, 1);
  put_store(&b, (Vref){kept, 1}, 8);
  put(&b, OP_EXIT);
  *VEC_PUSH(&b.f->callees, b.module->arena) = 1;
  begin_function(&b, "down", false, 2);
  fp = b.f->frame_pointer = reg(&b, 1);
  b.f->local_bytes = 4;
  b.f->shared_bytes = 40;
  b.f->barriers = 3;
  VregId m = reg(&b, 1), less = reg(&b, 1), p = reg(&b, 0);
  MirInstr *load = put(&b, OP_LD_LOCAL_B32);
  load->a = VREF(fp);
  load->d[0] = VREF(m);
  put_test(&b, p, VREF(m));
  MirInstr *leave = put(&b, OP_RET);
  leave->guard = VREF(p);
  leave->guard_negated = true;
  b.block = 1;
  put_add_imm(&b, VREF(less), VREF(m), 0xFFFFFFFF);
  argument = put(&b, OP_ST_LOCAL_B32);
  argument->a = VREF(fp);
  argument->imm = MIR_ARGUMENTS;
  argument->d[0] = VREF(less);
  put_call(&b, 1);
  put_store(&b, VREF(m), 12);
  put_pressure(&b, 20);
  b.f->blocks.items[1].instrs.items[b.f->blocks.items[1].instrs.count - 1].op = OP_RET;
  *VEC_PUSH(&b.f->callees, b.module->arena) = 1;
  Program *program = finish(&b, 0);
  const Function *kernel = &program->functions[0], *down = &program->functions[1];
  assert_true(kernel->recursive && down->recursive);
  assert_int_equal(kernel->registers, down->registers);
  assert_true(down->registers > 20);
  assert_int_equal(kernel->stack_bytes, kernel->frame_bytes + down->stack_bytes);
  assert_int_equal(kernel->shared_bytes, 40);
  assert_int_equal(kernel->barriers, 3);
  assert_true(program_function(program, "down") == down);
  assert_true(program_function_at(program, down->entry) == down && program_function_at(program, down->entry - 1) == kernel);
  assert_null(program_function_at(program, program->code_count));
  program_free(program);
}

static void missing_functions_are_named(void **state) {
  (void)state;
  Builder b = begin_module();
  begin_function(&b, "kernel", true, 1);
  put_call(&b, 1);
  put(&b, OP_EXIT);
  begin_function(&b, "nowhere", false, 0);
  b.f->is_external = true;
  Diags diags = {0};
  assert_null(mir_finish(b.module, NULL, &diags));
  assert_int_equal(diags.count, 1);
  assert_non_null(strstr(diags.items[0].text, "nowhere"));
  assert_int_equal(diags.items[0].line, 1);
  diags_free(&diags);
  arena_free(b.module->arena);
}

// ---- Reconvergence -------------------------------------------------------------------------------------
// A graph of up to eight blocks: two successors each, -1 = none; a block with none exits.
typedef struct GraphCase {
  const char *name;
  int successors[8][2];
  int meets[8]; // expected post-dominator; -1 none
} GraphCase;

static void make_graph(Builder *b, const int successors[][2], uint32_t count) {
  begin_function(b, "graph", true, count);
  VregId p = reg(b, 0), r = reg(b, 1);
  b->block = 0;
  put_load(b, VREF(r), 0);
  for (uint32_t k = 0; k < count; k++) {
    b->block = k;
    put_test(b, p, VREF(r));
    put_store(b, VREF(r), 4 * k);
    if (successors[k][0] < 0) {
      put(b, OP_EXIT);
      continue;
    }
    // The second successor by a table, so that it need not be the next block.
    if (successors[k][1] < 0) {
      put_branch(b, (uint32_t)successors[k][0], VREG_NONE, false);
      continue;
    }
    put(b, OP_BRX)->a = VREF(r);
    for (unsigned s = 0; s < 2; s++) *VEC_PUSH(&b->f->blocks.items[k].indirect_targets, b->module->arena) = (uint32_t)successors[k][s];
  }
}

static void known_graphs_meet(void **state) {
  (void)state;
  static const GraphCase cases[] = {
      {"diamond", {{1, 2}, {3, -1}, {3, -1}, {-1, -1}}, {3, 3, 3, -1}},
      {"loop", {{1, -1}, {1, 2}, {-1, -1}}, {1, 2, -1}},
      {"early exit", {{1, 2}, {-1, -1}, {3, 4}, {4, -1}, {-1, -1}}, {2, -1, 4, 4, -1}},
      {"nested", {{1, 5}, {2, 3}, {4, -1}, {4, -1}, {5, -1}, {-1, -1}}, {5, 4, 4, 4, 5, -1}},
      {"irreducible", {{1, 2}, {2, 3}, {1, 3}, {-1, -1}}, {3, 3, 3, -1}},
      {"endless", {{1, 2}, {3, -1}, {3, -1}, {0, -1}}, {3, 3, 3, -1}},
      {"endless beside an end", {{1, 2}, {1, -1}, {-1, -1}}, {2, -1, -1}},
      {"two ends", {{1, 4}, {2, 3}, {-1, -1}, {-1, -1}, {-1, -1}}, {4, -1, -1, -1, -1}},
  };
  for (unsigned c = 0; c < COUNT_OF(cases); c++) {
    Builder b = begin_module();
    uint32_t count = 0;
    while (count < 8 && (cases[c].successors[count][0] != 0 || cases[c].successors[count][1] != 0 || count == 0)) count++;
    make_graph(&b, cases[c].successors, count);
    Cfg cfg;
    cfg_build(&cfg, b.module->arena, b.f);
    const uint32_t *meets = cfg_post_dominators(&cfg, b.module->arena, b.f);
    for (uint32_t k = 0; k < count; k++) {
      if ((int)meets[k] != cases[c].meets[k]) fail_msg("%s: block %u meets at %d", cases[c].name, (unsigned)k, (int)meets[k]);
    }
    arena_free(b.module->arena);
  }
}

static bool reaches(const int successors[][2], int from, int to, int without, bool *seen) {
  if (from == to) return true;
  if (from == without || seen[from]) return false;
  seen[from] = true;
  for (unsigned s = 0; s < 2; s++) {
    if (successors[from][s] >= 0 && reaches(successors, successors[from][s], to, without, seen)) return true;
  }
  return false;
}

static bool can_reach(const int successors[][2], int from, int to, int without) {
  bool seen[16] = {false};
  return reaches(successors, from, to, without, seen);
}

// Towards the last end: x is on all paths that get there, and the nearest such.
static int brute_force_meet(const int successors[][2], int count, int block, int end) {
  for (int x = 0; x < count; x++) {
    if (x == block || !can_reach(successors, block, x, -1) || !can_reach(successors, x, end, -1)) continue;
    if (x != end && can_reach(successors, block, end, x)) continue;
    bool nearest = true;
    for (int y = 0; y < count; y++) {
      bool also = y != block && y != x && can_reach(successors, block, y, -1) && (y == end || !can_reach(successors, block, end, y)) &&
                  can_reach(successors, y, end, -1);
      if (also && y != end && !can_reach(successors, block, x, y)) nearest = false;
    }
    if (nearest) return x;
  }
  return -1;
}

static void random_graphs_meet(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 2000; seed++) {
    int successors[10][2], count = 3 + (int)random_below(random_draw(1, seed, 0), 7), end = count - 1;
    for (int k = 0; k < count; k++) {
      for (unsigned s = 0; s < 2; s++) successors[k][s] = (int)random_below(random_draw(2, seed, (uint64_t)k * 2 + s), (uint64_t)count);
      if (random_below(random_draw(3, seed, (uint64_t)k), 4) == 0) successors[k][1] = -1;
    }
    successors[end][0] = successors[end][1] = -1;
    Builder b = begin_module();
    make_graph(&b, (const int(*)[2])successors, (uint32_t)count);
    Cfg cfg;
    cfg_build(&cfg, b.module->arena, b.f);
    const uint32_t *meets = cfg_post_dominators(&cfg, b.module->arena, b.f);
    for (int k = 0; k < end; k++) {
      const int(*graph)[2] = (const int(*)[2])successors;
      if (!can_reach(graph, 0, k, -1) || !can_reach(graph, k, end, -1)) continue;
      int expected = brute_force_meet(graph, count, k, end);
      if ((int)meets[k] != expected) fail_msg("seed %d: block %d meets at %d, not %d", (int)seed, k, (int)meets[k], expected);
    }
    arena_free(b.module->arena);
  }
}

// A loop's header dominates the block that jumps back to it; its blocks get there without the header.
static uint32_t brute_force_depth(const int graph[][2], int count, int block) {
  uint32_t depth = 0;
  for (int header = 0; header < count; header++) {
    bool inside = false;
    for (int latch = 0; latch < count; latch++) {
      bool jumps_back = (graph[latch][0] == header || graph[latch][1] == header) && can_reach(graph, 0, latch, -1) &&
                        (latch == header || header == 0 || !can_reach(graph, 0, latch, header));
      inside |= jumps_back && (block == header || (latch != header && can_reach(graph, block, latch, header)));
    }
    depth += inside && can_reach(graph, 0, header, -1);
  }
  return depth;
}

static void random_graphs_have_dominators_and_loops(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 2000; seed++) {
    int graph[10][2], count = 3 + (int)random_below(random_draw(4, seed, 0), 8);
    for (int k = 0; k < count * 2; k++) {
      uint64_t where = random_below(random_draw(5, seed, (uint64_t)k), (uint64_t)count);
      graph[k / 2][k % 2] = k % 2 == 1 && random_below(random_draw(6, seed, (uint64_t)k), 3) == 0 ? -1 : (int)where;
    }
    Builder b = begin_module();
    make_graph(&b, (const int(*)[2])graph, (uint32_t)count);
    Cfg cfg;
    cfg_build(&cfg, b.module->arena, b.f);
    for (int k = 0; k < count; k++) {
      if (!can_reach((const int(*)[2])graph, 0, k, -1)) continue;
      uint32_t depth = brute_force_depth((const int(*)[2])graph, count, k);
      if (cfg.depth[k] != depth) fail_msg("seed %d: block %d in %u loops, not %u", (int)seed, k, cfg.depth[k], depth);
      for (int above = 0; above < count; above++) {
        bool expected = above == k || above == 0 || !can_reach((const int(*)[2])graph, 0, k, above);
        if (!can_reach((const int(*)[2])graph, 0, above, -1)) continue;
        if (cfg_dominates(&cfg, (uint32_t)above, (uint32_t)k) != expected) fail_msg("seed %d: %d over %d", (int)seed, above, k);
      }
    }
    arena_free(b.module->arena);
  }
}

// A loop that is left by a guarded exit only: branches inside it meet inside it.
static void branches_meet_in_a_loop_that_exits(void **state) {
  (void)state;
  Builder b = begin_module();
  begin_function(&b, "loop", true, 5);
  VregId r = reg(&b, 1), p = reg(&b, 0), q = reg(&b, 0);
  put_load(&b, VREF(r), 0);
  put_test(&b, p, VREF(r));
  put_test(&b, q, VREF(r));
  put_branch(&b, 3, VREG_NONE, false);
  b.block = 1; // the loop's end, laid out before its start
  put_store(&b, VREF(r), 4);
  b.block = 2;
  put_store(&b, VREF(r), 8);
  put(&b, OP_EXIT)->guard = VREF(q);
  b.block = 3;
  put_branch(&b, 2, p, false);
  b.block = 4;
  put_store(&b, VREF(r), 12);
  put_branch(&b, 1, VREG_NONE, false);
  Cfg cfg;
  cfg_build(&cfg, b.module->arena, b.f);
  const uint32_t *meets = cfg_post_dominators(&cfg, b.module->arena, b.f);
  assert_int_equal(meets[3], 2);
  assert_int_equal(meets[4], 1);
  arena_free(b.module->arena);
}

// In finished code: guarded branches name the meeting point, guarded exits end no block.
static void branches_name_their_meeting_point(void **state) {
  (void)state;
  Builder b = begin_module();
  begin_function(&b, "diamond", true, 5);
  VregId r = reg(&b, 1), p = reg(&b, 0), q = reg(&b, 0);
  put_load(&b, VREF(r), 0);
  put_test(&b, p, VREF(r));
  put_branch(&b, 2, p, false);
  b.block = 1;
  put_store(&b, VREF(r), 4);
  put_test(&b, q, VREF_NONE);
  put_branch(&b, 4, q, false); // a jump to a bare exit: becomes a guarded exit
  put_branch(&b, 3, VREG_NONE, false);
  b.block = 2;
  put_store(&b, VREF(r), 8);
  b.block = 3;
  put_store(&b, VREF(r), 12);
  b.block = 4;
  put(&b, OP_EXIT);
  Program *program = finish(&b, 0);
  uint32_t branch = NO_RECONVERGE, meeting = NO_RECONVERGE;
  for (uint32_t i = 0; i < program->code_count; i++) {
    const Instr *instr = &program->decoded[i];
    if (instr->op == OP_BRA && instr->guard != PRED_TRUE) branch = i;
    if (instr->op == OP_ST_SHARED_B32 && instr->imm == 12) meeting = i;
  }
  assert_true(branch != NO_RECONVERGE);
  assert_int_equal(program->decoded[branch].reconverge, meeting);
  assert_int_equal(count_ops(program, 0, OP_EXIT), 2);
  Text text = {0};
  program_dump(program, &text);
  assert_non_null(strstr(text.at, "kernel diamond: 1 registers, 1 predicates"));
  assert_non_null(strstr(text.at, "line 1, live: 0\n"));
  assert_non_null(strstr(text.at, "live: 1\n"));
  text_free(&text);
  program_free(program);
}

// ---- Validation ----------------------------------------------------------------------------------------
static void damage_is_found(void **state) {
  (void)state;
  for (unsigned damage = 0; damage < 9; damage++) {
    Builder b = begin_module();
    begin_function(&b, "kernel", true, 2);
    VregId pair = reg(&b, 2), p = reg(&b, 0);
    MirInstr *load = put(&b, OP_LD_SHARED_B64);
    load->d[0] = VREF(pair);
    put_test(&b, p, (Vref){pair, 1});
    put_branch(&b, 1, p, false);
    put_store(&b, VREF(pair), 4);
    b.block = 1;
    MirInstr *store = put(&b, OP_ST_SHARED_B64);
    store->d[0] = VREF(pair);
    store->imm = 16;
    put(&b, OP_EXIT);
    Program *program = finish(&b, 0);
    Program copy = *program;
    Instr *decoded = ARENA_ARRAY(program->arena, Instr, program->code_count);
    InstrWord *words = ARENA_ARRAY(program->arena, InstrWord, program->code_count);
    Function function = program->functions[0];
    memcpy(decoded, program->decoded, sizeof(Instr) * program->code_count);
    memcpy(words, program->code, sizeof(InstrWord) * program->code_count);
    copy.decoded = decoded;
    copy.code = words;
    copy.functions = &function;
    uint32_t branch = 2, last = program->code_count - 1;
    assert_int_equal(decoded[branch].op, OP_BRA);
    if (damage == 1) function.registers = 1;
    if (damage == 2) function.predicates = 0;
    if (damage == 3) decoded[0].d[0] = 1; // an odd pair
    if (damage == 4) decoded[branch].imm = program->code_count;
    if (damage == 5) decoded[branch].reconverge = program->code_count;
    if (damage == 6) function.end--;
    if (damage == 7) decoded[last] = decoded[0];
    for (uint32_t i = 0; i < program->code_count; i++) words[i] = instr_encode(&decoded[i]);
    if (damage == 8) words[1].low ^= 1;
    Diags diags = {0};
    bool fine = program_validate(&copy, &diags);
    if (fine != (damage == 0) || diags.count != (damage == 0 ? 0 : 1)) fail_msg("damage %u: %d", damage, fine);
    diags_free(&diags);
    program_free(program);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(swaps_in_loops),
      cmocka_unit_test(copies_are_not_lost),
      cmocka_unit_test(copies_vanish),
      cmocka_unit_test(guarded_writes_merge),
      cmocka_unit_test(parts_make_wholes),
      cmocka_unit_test(limits_hold),
      cmocka_unit_test(constants_are_remade),
      cmocka_unit_test(predicates_spill_to_registers),
      cmocka_unit_test(tuples_are_aligned),
      cmocka_unit_test(recursion_works),
      cmocka_unit_test(missing_functions_are_named),
      cmocka_unit_test(known_graphs_meet),
      cmocka_unit_test(random_graphs_meet),
      cmocka_unit_test(random_graphs_have_dominators_and_loops),
      cmocka_unit_test(branches_meet_in_a_loop_that_exits),
      cmocka_unit_test(branches_name_their_meeting_point),
      cmocka_unit_test(damage_is_found),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
