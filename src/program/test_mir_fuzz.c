// Random machine code on virtual registers, run before and after mir_finish at several limits: the
// behaviour must not change. Blocks branch anywhere (irreducible loops included), writes are
// guarded at random, pairs and tuples are written in parts, functions call each other.
#include "program/test_interpreter.h"

typedef struct Generator {
  uint64_t seed, draw;
  MirModule *module;
  Arena *arena;
  MirFunction *f;
  uint32_t block;
  VregId always[24]; // initialised at entry
  uint32_t always_count;
  VregId ready[96]; // may be read here
  uint32_t ready_count;
  VregId predicates[24];
  uint32_t predicate_count;
  VregId fuel;
} Generator;

static uint32_t below(Generator *g, uint32_t bound) { return (uint32_t)random_below(random_draw(g->seed, 7, g->draw++), bound); }

static MirInstr *emit_op(Generator *g, Op op) {
  MirInstr *instr = mir_emit(g->f, g->arena, g->block);
  instr->op = (uint16_t)op;
  instr->line = g->block + 1;
  return instr;
}

static VregId new_vreg(Generator *g) {
  static const uint8_t widths[] = {1, 1, 1, 1, 2, 2, 2, 4, 8};
  return mir_vreg(g->f, g->arena, widths[below(g, COUNT_OF(widths))]);
}

// An operand of `registers` inside one of the vregs; VREF_NONE when none is wide enough.
static Vref pick(Generator *g, const VregId *from, uint32_t count, unsigned registers) {
  for (unsigned tries = 0; tries < 20 && count > 0; tries++) {
    VregId v = from[below(g, count)];
    unsigned width = g->f->vregs.items[v].width;
    if (width < registers) continue;
    unsigned step = registers < 4 ? registers : 4, places = (width - registers) / step + 1;
    return (Vref){v, (uint8_t)(below(g, places) * step)};
  }
  return VREF_NONE;
}

static Vref read_ref(Generator *g, unsigned registers) { return pick(g, g->ready, g->ready_count, registers); }

static Vref predicate(Generator *g) { return VREF(g->predicates[below(g, g->predicate_count)]); }

static void guard_some(Generator *g, MirInstr *instr) {
  if (below(g, 4) != 0) return;
  instr->guard = predicate(g);
  instr->guard_negated = below(g, 2) != 0;
}

// A destination: a register that is always defined, perhaps under a guard; or a new one, whole.
static Vref write_ref(Generator *g, MirInstr *instr, unsigned registers) {
  if (below(g, 3) == 0 && g->ready_count < COUNT_OF(g->ready) && registers > 0 && !instr->guard_negated && instr->guard.vreg == VREG_NONE) {
    VregId fresh = mir_vreg(g->f, g->arena, registers);
    g->ready[g->ready_count++] = fresh;
    return VREF(fresh);
  }
  return pick(g, g->always, g->always_count, registers);
}

static Op random_row(Generator *g) {
  for (;;) {
    Op op = (Op)below(g, OP_COUNT);
    const OpInfo *info = &op_info[op];
    bool simple = info->kind == KIND_ALU && (info->flags & IT_PURE) != 0 && type_info[info->d].registers <= 2 && info->d != TYPE_none;
    if (simple && lane_functions()[op] != NULL) return op;
  }
}

static void emit_alu(Generator *g) {
  static const Op common[] = {OP_MOV_B32, OP_MOV_B64, OP_ADD_B32, OP_ADD_B64, OP_MOV_B32, OP_MOV_B64, OP_SELP_B32, OP_SETP_NE_B32};
  Op op = below(g, 2) == 0 ? common[below(g, COUNT_OF(common))] : random_row(g);
  const OpInfo *info = &op_info[op];
  MirInstr made = *emit_op(g, op);
  g->f->blocks.items[g->block].instrs.count--;
  guard_some(g, &made);
  const TypeId types[3] = {info->a, info->b, info->c};
  Vref *sources[3] = {&made.a, &made.b, &made.c};
  for (unsigned s = 0; s < 3; s++) {
    if (types[s] == TYPE_pred) *sources[s] = predicate(g);
    else if (types[s] != TYPE_none) *sources[s] = read_ref(g, type_info[types[s]].registers);
  }
  unsigned chosen = below(g, 8);
  if (chosen < 3 && types[chosen] != TYPE_none && types[chosen] != TYPE_pred && (info->flags & IT_IMM) == 0) {
    made.select = (uint8_t)((below(g, 2) == 0 ? SELECT_IMM_A : SELECT_CONST_A) + chosen);
    made.imm = made.select >= SELECT_CONST_A ? below(g, 8) * 8 : below(g, 1 << 20);
    *sources[chosen] = VREF_NONE;
  }
  if ((info->flags & (IT_PRED_IN | IT_CARRY_IN)) != 0) made.ps = predicate(g);
  if ((info->flags & (IT_PRED_OUT | IT_CARRY_OUT)) != 0) made.pd[0] = predicate(g);
  if ((info->flags & IT_PRED_OUT) != 0 && below(g, 2) == 0) made.pd[1] = predicate(g);
  if (made.pd[1].vreg == made.pd[0].vreg) made.pd[1] = VREF_NONE;
  if (type_info[info->d].registers > 0) made.d[0] = write_ref(g, &made, type_info[info->d].registers);
  *mir_emit(g->f, g->arena, g->block) = made;
}

static void emit_memory(Generator *g) {
  bool load = below(g, 2) == 0, wide = below(g, 2) == 0;
  unsigned vector = below(g, 3), elements = 1u << vector;
  static const Op ops[2][2] = {{OP_ST_SHARED_B32, OP_ST_SHARED_B64}, {OP_LD_SHARED_B32, OP_LD_SHARED_B64}};
  MirInstr made = *emit_op(g, ops[load][wide]);
  g->f->blocks.items[g->block].instrs.count--;
  guard_some(g, &made);
  made.mods = (uint16_t)(vector << MOD_VECTOR_SHIFT);
  made.imm = below(g, SHARED_BYTES / 32) * 32;
  Vref written[4];
  for (unsigned e = 0; e < elements; e++) {
    made.d[e] = load ? write_ref(g, &made, wide ? 2 : 1) : read_ref(g, wide ? 2 : 1);
    written[e] = made.d[e];
    // Two elements into the same register are not PTX.
    for (unsigned k = 0; load && k < e; k++) {
      if (written[k].vreg == written[e].vreg) made.d[e] = written[e] = VREF_NONE;
    }
  }
  *mir_emit(g->f, g->arena, g->block) = made;
}

// Values that exist under a guard only; opposite guards that make a whole definition.
static void emit_guard_idiom(Generator *g) {
  Vref p = predicate(g);
  VregId fresh = mir_vreg(g->f, g->arena, 1);
  bool negated = below(g, 2) != 0, both = below(g, 2) != 0;
  for (unsigned n = 0; n < (both ? 2u : 1u); n++) {
    MirInstr *move = emit_op(g, OP_MOV_B32);
    move->guard = p;
    move->guard_negated = negated != (n == 1);
    move->d[0] = VREF(fresh);
    move->a = read_ref(g, 1);
  }
  MirInstr *store = emit_op(g, OP_ST_SHARED_B32);
  store->imm = below(g, SHARED_BYTES / 4) * 4;
  store->d[0] = VREF(fresh);
  if (!both) {
    store->guard = p;
    store->guard_negated = negated;
  } else if (g->ready_count < COUNT_OF(g->ready)) {
    g->ready[g->ready_count++] = fresh;
  }
}

// A pair or tuple made of parts, some of them copies.
static void emit_pack(Generator *g) {
  if (g->ready_count == COUNT_OF(g->ready)) return;
  unsigned width = 2u << below(g, 3);
  VregId tuple = mir_vreg(g->f, g->arena, width);
  for (unsigned part = 0; part < width; part++) {
    MirInstr *move = emit_op(g, OP_MOV_B32);
    move->d[0] = (Vref){tuple, (uint8_t)part};
    move->a = read_ref(g, 1);
  }
  g->ready[g->ready_count++] = tuple;
}

static void emit_local(Generator *g) {
  bool load = below(g, 2) == 0;
  MirInstr made = *emit_op(g, load ? OP_LD_LOCAL_B32 : OP_ST_LOCAL_B32);
  g->f->blocks.items[g->block].instrs.count--;
  made.a = VREF(g->f->frame_pointer);
  made.imm = 16 + 4 * below(g, 4);
  made.d[0] = load ? write_ref(g, &made, 1) : read_ref(g, 1);
  *mir_emit(g->f, g->arena, g->block) = made;
}

// Argument word 0, depth word 1, result word 2 of the callee's frame.
static void emit_call(Generator *g, uint32_t callee, Vref depth) {
  MirInstr *store = emit_op(g, OP_ST_LOCAL_B32);
  store->a = VREF(g->f->frame_pointer);
  store->imm = MIR_ARGUMENTS;
  store->d[0] = read_ref(g, 1);
  store = emit_op(g, OP_ST_LOCAL_B32);
  store->a = VREF(g->f->frame_pointer);
  store->imm = MIR_ARGUMENTS + 4;
  store->d[0] = depth;
  MirInstr *call = emit_op(g, OP_CALL);
  call->target = callee;
  bool guarded = below(g, 3) == 0;
  if (guarded) call->guard = predicate(g);
  MirInstr load = *emit_op(g, OP_LD_LOCAL_B32);
  g->f->blocks.items[g->block].instrs.count--;
  load.guard = g->f->blocks.items[g->block].instrs.items[g->f->blocks.items[g->block].instrs.count - 1].guard;
  load.a = VREF(g->f->frame_pointer);
  load.imm = MIR_ARGUMENTS + 8;
  load.d[0] = guarded ? pick(g, g->always, g->always_count, 1) : write_ref(g, &load, 1);
  *mir_emit(g->f, g->arena, g->block) = load;
}

// Leaves the function once the fuel is spent, so that every walk ends.
static void emit_fuel(Generator *g, Op leave) {
  VregId empty = mir_vreg(g->f, g->arena, 0);
  MirInstr *add = emit_op(g, OP_ADD_B32);
  add->d[0] = add->a = VREF(g->fuel);
  add->select = SELECT_IMM_B;
  add->imm = 0xFFFFFFFF;
  MirInstr *test = emit_op(g, OP_SETP_NE_B32);
  test->pd[0] = VREF(empty);
  test->a = VREF(g->fuel);
  MirInstr *end = emit_op(g, leave);
  end->guard = VREF(empty);
  end->guard_negated = true;
}

static void emit_branch(Generator *g, uint32_t blocks) {
  unsigned kind = below(g, 8);
  if (kind == 0) return;
  if (kind == 1) {
    VregId index = mir_vreg(g->f, g->arena, 1);
    MirInstr *mask = emit_op(g, OP_AND_B32);
    mask->d[0] = VREF(index);
    mask->a = read_ref(g, 1);
    mask->select = SELECT_IMM_B;
    mask->imm = 3;
    emit_op(g, OP_BRX)->a = VREF(index);
    for (unsigned t = 0; t < 4; t++) *VEC_PUSH(&g->f->blocks.items[g->block].indirect_targets, g->arena) = below(g, blocks);
    return;
  }
  MirInstr *branch = emit_op(g, OP_BRA);
  branch->target = below(g, blocks);
  if (kind == 2) return;
  branch->guard = predicate(g);
  branch->guard_negated = below(g, 2) != 0;
}

static void fill_block(Generator *g, uint32_t block, uint32_t blocks, bool kernel, VregId depth) {
  g->block = block;
  g->ready_count = g->always_count;
  memcpy(g->ready, g->always, sizeof g->always);
  emit_fuel(g, kernel ? OP_EXIT : OP_RET);
  for (uint32_t n = below(g, 14); n > 0; n--) {
    switch (below(g, 12)) {
    case 0:
    case 1: emit_memory(g); break;
    case 2: emit_guard_idiom(g); break;
    case 3: emit_pack(g); break;
    case 4: emit_local(g); break;
    case 5: {
      if (below(g, 4) != 0) break;
      VregId less = mir_vreg(g->f, g->arena, 1);
      MirInstr *add = emit_op(g, OP_ADD_B32);
      add->d[0] = VREF(less);
      add->a = VREF(depth);
      add->select = SELECT_IMM_B;
      add->imm = 0xFFFFFFFF;
      emit_call(g, kernel ? 1 + below(g, 2) : 2, VREF(less));
      break;
    }
    default: emit_alu(g); break;
    }
  }
  emit_branch(g, blocks);
}

// Registers that are always defined, predicates too.
static void fill_entry(Generator *g, bool kernel, VregId depth) {
  g->block = 0;
  MirInstr *start = emit_op(g, OP_MOV_B32);
  start->d[0] = VREF(g->fuel);
  start->select = SELECT_IMM_A;
  start->imm = kernel ? 30 : 5;
  // Everything that may be read is written first: the result, the local variables.
  for (uint32_t offset = kernel ? 16 : 8; offset < 32; offset += offset == 8 ? 8 : 4) {
    MirInstr *store = emit_op(g, OP_ST_LOCAL_B32);
    store->a = VREF(g->f->frame_pointer);
    store->imm = offset;
    store->d[0] = VREF(g->fuel);
  }
  MirInstr *load_depth = emit_op(g, kernel ? OP_MOV_B32 : OP_LD_LOCAL_B32);
  load_depth->d[0] = VREF(depth);
  if (kernel) {
    load_depth->select = SELECT_IMM_A;
    load_depth->imm = 3;
  } else {
    load_depth->a = VREF(g->f->frame_pointer);
    load_depth->imm = 4;
    VregId spent = mir_vreg(g->f, g->arena, 0);
    MirInstr *test = emit_op(g, OP_SETP_NE_B32);
    test->pd[0] = VREF(spent);
    test->a = VREF(depth);
    MirInstr *leave = emit_op(g, OP_RET);
    leave->guard = VREF(spent);
    leave->guard_negated = true;
  }
  for (uint32_t i = 0; i < g->always_count; i++) {
    for (unsigned part = 0; part < g->f->vregs.items[g->always[i]].width; part++) {
      MirInstr *move = emit_op(g, part == 0 && i % 3 == 0 ? OP_S2R : OP_MOV_B32);
      move->d[0] = (Vref){g->always[i], (uint8_t)part};
      move->imm = below(g, 16) * (move->op == OP_S2R ? 1 : 0x1234567);
      if (move->op == OP_MOV_B32) move->select = SELECT_IMM_A;
    }
  }
  for (uint32_t i = 0; i < g->predicate_count; i++) {
    MirInstr *set = emit_op(g, OP_SETP_NE_B32);
    set->pd[0] = VREF(g->predicates[i]);
    set->select = SELECT_IMM_A;
    set->imm = below(g, 2);
  }
}

static void make_function(Generator *g, const char *name, bool kernel) {
  g->f = VEC_PUSH(&g->module->functions, g->arena);
  g->f->name = name;
  g->f->is_kernel = kernel;
  g->f->frame_pointer = mir_vreg(g->f, g->arena, 1);
  g->f->local_bytes = 32;
  g->f->local_align = 16;
  g->f->param_bytes = PARAM_BYTES;
  g->fuel = mir_vreg(g->f, g->arena, 1);
  VregId depth = mir_vreg(g->f, g->arena, 1);
  g->always_count = 4 + below(g, 20);
  for (uint32_t i = 0; i < g->always_count; i++)
    g->always[i] = i == 0 ? mir_vreg(g->f, g->arena, 2) : i == 1 ? mir_vreg(g->f, g->arena, 1) : new_vreg(g);
  g->predicate_count = 2 + below(g, 22);
  for (uint32_t i = 0; i < g->predicate_count; i++) g->predicates[i] = mir_vreg(g->f, g->arena, 0);
  uint32_t blocks = 2 + below(g, 10);
  for (uint32_t b = 0; b < blocks; b++) VEC_PUSH(&g->f->blocks, g->arena);
  fill_entry(g, kernel, depth);
  for (uint32_t b = 1; b < blocks; b++) fill_block(g, b, blocks, kernel, depth);
  // Branches to the entry would start the fuel again.
  for (uint32_t b = 0; b < blocks; b++) {
    MirBlock *block = &g->f->blocks.items[b];
    for (uint32_t i = 0; i < block->instrs.count; i++) {
      if (block->instrs.items[i].op == OP_BRA && block->instrs.items[i].target == 0) block->instrs.items[i].target = 1;
    }
    for (uint32_t t = 0; t < block->indirect_targets.count; t++) {
      if (block->indirect_targets.items[t] == 0) block->indirect_targets.items[t] = 1;
    }
  }
}

static MirModule *generate(uint64_t seed) {
  Arena *arena = arena_new();
  MirModule *module = ARENA_NEW(arena, MirModule);
  module->arena = arena;
  module->file = "fuzz";
  module->address_bits = 64;
  module->const_bytes = 64;
  Generator g = {.seed = seed, .module = module, .arena = arena};
  make_function(&g, "kernel", true);
  make_function(&g, "callee", false);
  make_function(&g, "recursive", false);
  for (uint32_t f = 0; f < 3; f++) {
    for (uint32_t c = f == 0 ? 1 : 2; c < 3; c++) *VEC_PUSH(&module->functions.items[f].callees, arena) = c;
  }
  return module;
}

static void check_seed(uint64_t seed, uint32_t limit, Thread *before, Thread *after) {
  MirModule *module = generate(seed);
  mir_run(module, 0, before);
  assert_false(before->broken);
  Diags diags = {0};
  MirOptions options = {.max_registers = limit};
  Program *program = mir_finish(module, &options, &diags);
  if (program == NULL) fail_msg("seed %llu, limit %u: %s", (unsigned long long)seed, (unsigned)limit, diags.items[0].text);
  for (uint32_t f = 0; f < program->function_count; f++) assert_true(program->functions[f].registers <= limit);
  program_run(program, 0, after);
  if (!same_behaviour(before, after)) {
    uint32_t at = 0;
    while (at < min_u32(before->trace_count, after->trace_count) && before->trace[at] == after->trace[at]) at++;
    fail_msg("seed %llu, limit %u: store %u of %u and %u differs, broken %d", (unsigned long long)seed, (unsigned)limit, (unsigned)at,
             (unsigned)before->trace_count, (unsigned)after->trace_count, after->broken);
  }
  program_free(program);
  diags_free(&diags);
}

static void behaviour_is_kept(void **state) {
  (void)state;
  static const uint32_t limits[] = {16, 24, 255};
  Arena *arena = arena_new();
  Thread *before = ARENA_NEW(arena, Thread), *after = ARENA_NEW(arena, Thread);
  for (uint64_t seed = 1; seed <= 300; seed++) {
    for (unsigned l = 0; l < COUNT_OF(limits); l++) check_seed(seed, limits[l], before, after);
  }
  arena_free(arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(behaviour_is_kept)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
