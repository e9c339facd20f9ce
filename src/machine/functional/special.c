// The rarer instructions of the functional machine: atomics, control flow but plain branches, barriers, warp
// synchronisation, system calls, special registers, textures, matrix fragments.
#include "machine/functional/functional.h"
#include "machine/parts/atomic.h"
#include "machine/parts/fragment.h"
#include "machine/parts/sample.h"
#include "machine/parts/special.h"
#include "machine/parts/system.h"

static unsigned first_lane(uint32_t lanes) { return (unsigned)__builtin_ctz(lanes); }

static const uint32_t *row_a(const WarpContext *at, const Step *step) { return at->bases[step->a_base] + step->a; }
static const uint32_t *row_b(const WarpContext *at, const Step *step) { return at->bases[step->b_base] + step->b; }
static const uint32_t *row_c(const WarpContext *at, const Step *step) { return at->bases[step->c_base] + step->c; }

// ---- Warp-wide instructions ----------------------------------------------------------------------

bool step_members(WarpContext *at, const Step *step, uint32_t *active, uint32_t *others) {
  const OpInfo *info = &op_info[step->op];
  SimtStack *stack = &at->warp->stack;
  SimtEntry *top = &at->entries[stack->depth - 1];
  bool forced = top->state == ENTRY_FORCED;
  top->state = ENTRY_READY;
  if ((info->flags & IT_MEMBER_MASK) == 0 || *active == 0) return true;
  const uint32_t *row = info->c != TYPE_none ? row_c(at, step) : info->b != TYPE_none ? row_b(at, step) : row_a(at, step);
  if ((stack->alive & ~at->mask) == 0) return true;
  uint32_t members = 0; // lanes that run together may name different groups
  for (uint32_t left = *active; left != 0; left &= left - 1) members |= row[first_lane(left)];
  uint32_t missing = members & stack->alive & ~at->mask;
  if (missing == 0) return true;
  SyncPlace place = info->kind == KIND_BARRIER ? SYNC_BARRIER : SYNC_HERE;
  uint32_t waiting = simt_waiting_at(stack, at->entries, at->pc, place) & members;
  if ((missing & ~waiting) != 0 && !forced) {
    front_save(at);
    top->state = ENTRY_AT_WARP_SYNC;
    top->place = (uint8_t)place;
    return false;
  }
  *others = waiting;
  *active |= waiting & (at->warp->predicates[step->guard] ^ step->guard_flip);
  return true;
}

StepResult step_pass(WarpContext *at, uint32_t others) {
  if (others == 0) return STEP_NEXT;
  at->pc++;
  front_save(at);
  simt_pass_sync(&at->warp->stack, at->entries, others);
  return STEP_RELOAD;
}

// ---- Block barriers ------------------------------------------------------------------------------

// The lanes of `active` that name the same barrier and count as its first.
static uint32_t same_barrier(const WarpContext *at, const Step *step, uint32_t active) {
  const uint32_t *number = row_a(at, step), *count = row_b(at, step);
  unsigned first = first_lane(active);
  uint32_t same = 0;
  for (uint32_t left = active; left != 0; left &= left - 1) {
    unsigned lane = first_lane(left);
    if (number[lane] == number[first] && count[lane] == count[first]) same |= 1u << lane;
  }
  return same;
}

// What a reduction gives the lanes that waited: a count, or a predicate.
static void give_result(void *context, uint32_t index, const SimtEntry *entry, const Barrier *barrier) {
  const WarpContext *at = context;
  const Runner *run = at->run;
  const Instr *instr = &run->program->decoded[entry->pc];
  const OpInfo *info = &op_info[instr->op];
  if (info->d == TYPE_u32 && instr->d[0] != REG_ZERO) {
    uint32_t *row = block_registers(&run->layout, at->block, index) + instr->d[0] * WARP_LANES;
    for (uint32_t left = entry->mask; left != 0; left &= left - 1) row[first_lane(left)] = barrier->holds;
  }
  if ((info->flags & IT_PRED_OUT) == 0) return;
  Warp *warp = block_warp(&run->layout, at->block, index);
  uint32_t value = barrier_holds(barrier, (Op)instr->op) ? UINT32_MAX : 0;
  for (unsigned k = 0; k < 2; k++) {
    uint32_t *predicate = &warp->predicates[instr->pd[k] == PRED_TRUE ? PREDICATE_SINK : instr->pd[k]];
    *predicate = (*predicate & ~entry->mask) | ((k == 0 ? value : ~value) & entry->mask);
  }
}

static BlockView view_block(WarpContext *at) {
  const BlockLayout *layout = &at->run->layout;
  return (BlockView){.block = at->block,
                     .warps = layout->warps,
                     .warp = block_warp(layout, at->block, 0),
                     .warp_bytes = sizeof(Warp),
                     .entries = block_entries(layout, at->block, 0),
                     .entries_bytes = layout->stack_capacity * sizeof(SimtEntry),
                     .give = give_result,
                     .context = at};
}

static StepResult step_barrier(WarpContext *at, const Step *step, uint32_t active) {
  if (active == 0) return STEP_NEXT;
  Runner *run = at->run;
  SimtStack *stack = &at->warp->stack;
  uint32_t lanes = same_barrier(at, step, active);
  uint32_t number = row_a(at, step)[first_lane(lanes)], count = row_b(at, step)[first_lane(lanes)];
  if (number >= BLOCK_BARRIERS) return step_trap(at, TRAP_ILLEGAL_INSTRUCTION, lanes);
  run->stats->value[STAT_BARRIERS]++;
  front_save(at);
  // Whoever does not take part goes on: without the guard at the next instruction, with another barrier at this one.
  if (active != at->mask && !simt_split(stack, at->entries, active, at->pc + 1)) return step_trap(at, TRAP_STACK_OVERFLOW, lanes);
  if (lanes != active && !simt_split(stack, at->entries, lanes, at->pc)) return step_trap(at, TRAP_STACK_OVERFLOW, lanes);
  SimtEntry *top = &at->entries[stack->depth - 1];
  if (step->op == OP_BAR_ARRIVE) {
    top->pc++;
  } else {
    top->state = ENTRY_AT_BARRIER;
    top->place = (uint8_t)number;
  }
  uint32_t holds = at->warp->predicates[step->ps] ^ step->ps_flip;
  barrier_arrive(at->block, number, count, at->index, lanes, lanes & holds);
  BlockView view = view_block(at);
  if (barrier_is_complete(&view, number)) {
    run->progress = true;
    barrier_release(&view, number);
  }
  return STEP_RELOAD;
}

static StepResult step_warp_barrier(WarpContext *at, const Step *step, uint32_t active) {
  uint32_t others = 0;
  if (!step_members(at, step, &active, &others)) return STEP_RELOAD;
  return step_pass(at, others);
}

// ---- Control flow ----------------------------------------------------------------------------------

static StepResult step_exit(WarpContext *at, uint32_t active, bool is_return) {
  Runner *run = at->run;
  SimtStack *stack = &at->warp->stack;
  uint32_t before = stack->alive;
  if (active == 0) return STEP_NEXT;
  at->entries[stack->depth - 1].pc = at->pc + 1; // of the lanes whose guard does not hold
  if (is_return) simt_return(stack, at->entries, active);
  else simt_exit(stack, at->entries, active);
  uint32_t ended = before & ~stack->alive;
  if (ended != 0) {
    run->progress = true;
    at->block->alive -= count_ones(ended);
    BlockView view = view_block(at);
    if (at->block->waiting > 0) barrier_recheck(&view);
    cluster_recheck(at);
  }
  return STEP_RELOAD;
}

// Where a lane of an indirect branch or call goes; code_count when that is nowhere.
static uint32_t indirect_target(const WarpContext *at, const Step *step, unsigned lane) {
  uint32_t outside = at->run->program->code_count;
  const OpInfo *info = &op_info[step->op];
  uint64_t value = row_get(row_a(at, step), lane, type_info[info->a].registers);
  if (info->a == TYPE_u32) return value < outside ? (uint32_t)value : outside;
  if (value < CODE_BASE || (value - CODE_BASE) % INSTR_BYTES != 0) return outside;
  value = (value - CODE_BASE) / INSTR_BYTES;
  return value < outside ? (uint32_t)value : outside;
}

// Lanes with the target of the first go; the others come back to this instruction.
static StepResult step_indirect(WarpContext *at, const Step *step, uint32_t active) {
  SimtStack *stack = &at->warp->stack;
  uint32_t target = indirect_target(at, step, first_lane(active)), lanes = 0;
  if (target >= at->run->program->code_count) return step_trap(at, TRAP_INVALID_PC, active);
  for (uint32_t left = active; left != 0; left &= left - 1) {
    unsigned lane = first_lane(left);
    if (indirect_target(at, step, lane) == target) lanes |= 1u << lane;
  }
  front_save(at);
  bool is_call = (op_info[step->op].flags & IT_CALLS) != 0;
  uint32_t next = at->pc + 1, meet = is_call ? next : step->reconverge;
  bool done = true;
  if (lanes != at->mask) at->run->stats->value[STAT_DIVERGENT_BRANCHES]++;
  // Lanes whose guard fails go on; those with another target stay here until it is their turn.
  if (active != at->mask) done = simt_diverge(stack, at->entries, at->mask & ~active, next, at->pc, meet);
  if (done && lanes != active) done = simt_diverge(stack, at->entries, active & ~lanes, at->pc, at->pc, meet);
  if (!done) return step_trap(at, TRAP_STACK_OVERFLOW, lanes);
  SimtEntry *top = &at->entries[stack->depth - 1];
  if (is_call) done = simt_call(stack, at->entries, lanes, target, next);
  else top->pc = target;
  return done ? STEP_RELOAD : step_trap(at, TRAP_STACK_OVERFLOW, lanes);
}

static StepResult step_control(WarpContext *at, const Step *step, uint32_t active) {
  uint32_t flags = op_info[step->op].flags;
  if (active == 0) return STEP_NEXT;
  if ((flags & IT_INDIRECT) != 0) return step_indirect(at, step, active);
  if ((flags & IT_CALLS) != 0) {
    if (step->target >= at->run->program->code_count) return step_trap(at, TRAP_INVALID_PC, active);
    bool done = simt_call(&at->warp->stack, at->entries, active, step->target, at->pc + 1);
    return done ? STEP_RELOAD : step_trap(at, TRAP_STACK_OVERFLOW, active);
  }
  if ((flags & IT_RETURN) != 0) return step_exit(at, active, true);
  if ((flags & IT_EXITS) != 0) return step_exit(at, active, false);
  if ((flags & IT_TRAPS) != 0) return step_trap(at, TRAP_TRAP, active);
  return STEP_NEXT;
}

// ---- Memory, registers, the outside ------------------------------------------------------------------

static StepResult step_atomic(WarpContext *at, Step *step, uint32_t active) {
  Access access = {.space = (Space)step->space,
                   .element_bytes = step->element_bytes,
                   .elements = 1,
                   .wide = step->wide,
                   .offset = step->imm,
                   .active = active,
                   .address = row_a(at, step)};
  bool has_result = op_info[step->op].d != TYPE_none;
  AtomicRows rows = {.function = step->function,
                     .d = has_result ? at->registers + step->d[0] : NULL,
                     .b = row_b(at, step),
                     .c = row_c(at, step),
                     .mods = step->mods,
                     .imm = step->imm};
  AccessViolation violation;
  bool changed = false;
  uint32_t kept[2 * WARP_LANES];
  if (at->run->watch != NULL) {
    watch_keep(&access, kept);
    if (watch_takes(at, step, &access, rows.b)) return STEP_NEXT;
  }
  bool done = atomic_execute(&at->run->view, &access, &rows, &step->window, &changed, &violation);
  at->run->progress |= changed;
  at->warp->polls = changed ? 0 : at->warp->polls + 1;
  if (done && at->run->watch != NULL) watch_tell(at, &access, WATCH_READ | WATCH_WRITE);
  return done ? STEP_NEXT : step_violation(at, &violation, NULL);
}

static StepResult step_fragment(WarpContext *at, Step *step, uint32_t active) {
  Runner *run = at->run;
  Access access = {.space = (Space)step->space, .wide = step->wide, .active = active, .address = row_a(at, step)};
  AccessViolation violation;
  uint32_t *rows = at->registers + step->d[0];
  bool store = (op_info[step->op].flags & IT_DATA_IN) != 0;
  run->progress |= store;
  bool is_told = run->watch != NULL && run->watch->touches_rare, done;
  if (is_told) done = watch_fragment(at, &access, row_b(at, step), rows, store, &violation);
  else
    done = store ? fragment_store(&run->view, &access, (Op)step->op, step->imm, row_b(at, step), rows, &violation)
                 : fragment_load(&run->view, &access, (Op)step->op, step->imm, row_b(at, step), rows, &violation);
  return done ? STEP_NEXT : step_violation(at, &violation, NULL);
}

static StepResult step_texture(WarpContext *at, const Step *step, uint32_t active) {
  SampleRows rows = {.handle = row_a(at, step), .coordinates = row_b(at, step), .gradients = row_c(at, step)};
  for (unsigned k = 0; k < 4; k++) rows.data[k] = at->registers + step->d[k];
  at->run->progress |= (op_info[step->op].flags & IT_WRITES_MEMORY) != 0;
  AccessViolation violation;
  const MachineWatch *watch = at->run->watch;
  bool done = watch != NULL && watch->touches_rare
                  ? watch_texture(at, active, &rows, &violation)
                  : sample_execute(at->run->environment, (Op)step->op, step->imm, active, &rows, &violation);
  return done ? STEP_NEXT : step_violation(at, &violation, NULL);
}

static StepResult step_sreg(WarpContext *at, const Step *step, uint32_t active) {
  const Runner *run = at->run;
  uint32_t sms = max_u32(run->environment->sm_count, 1);
  SpecialContext context = {.launch = run->launch,
                            .layout = &run->layout,
                            .block = at->block,
                            .warp = at->index,
                            .sm = at->block->linear % sms,
                            .sm_count = sms,
                            .clock = run->executed,
                            .nanoseconds = run->executed};
  special_read(&context, step->imm, type_info[op_info[step->op].d].registers, active, at->registers + step->d[0]);
  return STEP_NEXT;
}

static StepResult step_system(WarpContext *at, const Step *step, uint32_t active) {
  Runner *run = at->run;
  if (step->op == OP_NANOSLEEP) return STEP_YIELD;
  SystemContext context = {
      .view = &run->view, .environment = run->environment, .launch = run->launch, .block = at->block->index, .warp = at->index};
  bool heap_changed = false;
  AccessViolation violation;
  char note[256] = "";
  bool done = system_execute(&context, (Op)step->op, active, row_a(at, step), &heap_changed, &violation, note);
  run->progress = true;
  for (uint32_t i = 0; i < run->program->code_count && heap_changed; i++) run->steps[i].window = (Window){0, 0};
  return done ? STEP_NEXT : step_violation(at, &violation, note);
}

StepResult step_special(WarpContext *at, Step *step, uint32_t active) {
  const OpInfo *info = &op_info[step->op];
  if (info->kind == KIND_CONTROL) return step_control(at, step, active);
  if (step->op == OP_BARRIER_CLUSTER_ARRIVE || step->op == OP_BARRIER_CLUSTER_WAIT) return step_cluster_barrier(at, step, active);
  if (info->kind == KIND_BARRIER) {
    return (info->flags & IT_MEMBER_MASK) != 0 ? step_warp_barrier(at, step, active) : step_barrier(at, step, active);
  }
  if (active == 0) return STEP_NEXT;
  at->run->stats->value[step->stat]++;
  at->run->polled |= info->kind == KIND_ATOMIC || info->kind == KIND_FENCE || info->kind == KIND_SYSTEM;
  switch (info->kind) {
  case KIND_ATOMIC: return step_atomic(at, step, active);
  case KIND_MATRIX: return step_fragment(at, step, active);
  case KIND_TEXTURE: return step_texture(at, step, active);
  case KIND_SREG: return step_sreg(at, step, active);
  case KIND_SYSTEM: return step_system(at, step, active);
  case KIND_FENCE: return STEP_NEXT;
  default: return step_trap(at, TRAP_ILLEGAL_INSTRUCTION, active);
  }
}
