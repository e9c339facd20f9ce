// The inner loop of the functional machine: one warp until it ends, waits, or has used its quantum.
//
// The loop keeps the top of the SIMT stack in WarpContext. An instruction costs one look at its Step, one
// guard, and one call that works on all 32 lanes.
#include "machine/functional/functional.h"

enum {
  POLL_LIMIT = 32,      // looks at memory without a change of one's own before others have a turn
  SPIN_ROTATE = 4096,   // backward branches before another leaf of the warp has its turn
  SPIN_RELEASE = 16384, // before lanes that wait to reconverge go on without the spinning ones
  SPIN_COMPARE = 32,    // before the warp's registers are compared with what they were one round of its loop ago
  SPIN_ROUND = 64,      // within which it must have come back to the same branch
};

// Takes the top of the stack, or another leaf if that one waits. False: nothing can run.
static bool front_load(WarpContext *at) {
  SimtStack *stack = &at->warp->stack;
  while (stack->depth > 0) {
    SimtEntry *top = &at->entries[stack->depth - 1];
    if (entry_is_ready(top)) {
      if (top->pc == top->reconverge) {
        stack->depth--;
        continue;
      }
      at->pc = top->pc;
      at->mask = top->mask;
      at->reconverge = top->reconverge;
      at->threads = count_ones(top->mask);
      return true;
    }
    if (simt_rotate(stack, at->entries, false)) continue;
    // Who waits for lanes of its own warp goes on without them if nothing else can bring them.
    bool at_barrier = simt_has_state(stack, at->entries, ENTRY_AT_BARRIER);
    if (!at_barrier && simt_force(stack, at->entries)) continue;
    if (at_barrier && simt_release_waiting(stack, at->entries)) continue;
    at->warp->waits = true;
    return false;
  }
  return false;
}

// ---- Waiting -----------------------------------------------------------------------------------------

static uint64_t hash_warp(const WarpContext *at) {
  uint64_t hash = hash_bytes(at->registers, (size_t)at->run->launch->kernel->registers * WARP_LANES * sizeof(uint32_t), at->mask);
  return hash_bytes(at->warp->predicates, MAX_PREDICATES * sizeof(uint32_t), hash);
}

// A warp that comes back to a branch with all its registers as they were gets nowhere until somebody else writes to memory, whatever
// kind of load it waits with. Loops that do get somewhere are looked at less and less often.
static bool stands_still(WarpContext *at) {
  uint64_t key = (uint64_t)at->block->linear * BLOCK_MAX_WARPS + at->index + 1;
  SpinNote *note = &at->run->spins[key % SPIN_NOTES];
  if (note->key != key) *note = (SpinNote){.key = key, .wait = SPIN_COMPARE};
  note->count++;
  if (!note->is_compared) {
    if (note->count < note->wait) return false;
    note->hash = hash_warp(at);
    note->pc = at->pc;
    note->count = 0;
    note->is_compared = true;
    return false;
  }
  if (note->pc == at->pc && note->hash == hash_warp(at)) {
    note->count = 0;
    return true;
  }
  if (note->pc != at->pc && note->count < SPIN_ROUND) return false;
  note->is_compared = false;
  note->count = 0;
  note->wait = min_u32(2 * note->wait, SPIN_ROTATE);
  return false;
}

// At a backward branch. True: the stack has changed, or others shall have a turn.
static bool branch_spins(WarpContext *at) {
  Warp *warp = at->warp;
  SimtStack *stack = &warp->stack;
  bool stands = stands_still(at), polls = warp->polls >= POLL_LIMIT || stands;
  at->run->polled |= stands;
  if (++warp->spins % SPIN_ROTATE != 0 && !polls) return false;
  front_save(at);
  warp->polls = 0;
  if (simt_rotate(stack, at->entries, true)) return true;
  if (polls || warp->spins >= SPIN_RELEASE) {
    warp->spins = 0;
    if (simt_release_waiting(stack, at->entries)) return true;
    if (simt_force(stack, at->entries)) return simt_rotate(stack, at->entries, true);
  }
  at->gives_way = polls;
  return polls;
}

// False: the stack is full.
static inline bool step_branch(WarpContext *at, const Step *step, uint32_t taken, bool *reload) {
  uint32_t next = at->pc + 1;
  if (taken == 0) {
    at->pc = next;
  } else if (taken == at->mask) {
    bool backward = step->target <= at->pc;
    at->pc = step->target;
    if (backward) *reload = branch_spins(at);
  } else {
    at->run->stats->value[STAT_DIVERGENT_BRANCHES]++;
    *reload = true;
    return simt_diverge(&at->warp->stack, at->entries, taken, step->target, next, step->reconverge);
  }
  return true;
}

static inline void fill_lane_op(const WarpContext *at, const Step *step, uint32_t active, LaneOp *op) {
  op->d = at->registers + step->d[0];
  op->a = at->bases[step->a_base] + step->a;
  op->b = at->bases[step->b_base] + step->b;
  op->c = at->bases[step->c_base] + step->c;
  op->active = active;
  op->mods = step->mods;
  op->imm = step->imm;
}

static inline void step_alu(const WarpContext *at, const Step *step, uint32_t active) {
  LaneOp op;
  fill_lane_op(at, step, active, &op);
  step->function(&op);
}

static inline void step_predicated(const WarpContext *at, const Step *step, uint32_t active) {
  uint32_t *predicates = at->warp->predicates;
  LaneOp op;
  fill_lane_op(at, step, active, &op);
  op.ps = predicates[step->ps] ^ step->ps_flip;
  op.pa = predicates[step->pa];
  op.pd[0] = predicates[step->pd[0]];
  op.pd[1] = predicates[step->pd[1]];
  step->function(&op);
  predicates[step->pd[0]] = op.pd[0];
  predicates[step->pd[1]] = op.pd[1];
}

static inline StepResult step_memory(WarpContext *at, Step *step, uint32_t active, bool store) {
  Access access = {
      .space = (Space)step->space,
      .element_bytes = step->element_bytes,
      .elements = step->elements,
      .sign_extend = step->sign_extend,
      .wide = step->wide,
      .offset = step->imm,
      .active = active,
      .address = at->bases[step->a_base] + step->a,
  };
  for (unsigned k = 0; k < step->elements; k++) access.data[k] = at->registers + step->d[k];
  AccessViolation violation;
  at->run->stats->value[step->stat]++;
  if (store) at->run->progress = true, at->warp->polls = 0;
  else if ((step->mods & MOD_VOLATILE) != 0) at->run->polled = true, at->warp->polls++;
  if (at->run->watch != NULL) return watch_memory(at, step, &access, store);
  bool done = store ? access_store(&at->run->view, &access, &step->window, &violation)
                    : access_load(&at->run->view, &access, &step->window, &violation);
  return done ? STEP_NEXT : step_violation(at, &violation, NULL);
}

static StepResult step_warp(WarpContext *at, const Step *step, uint32_t active) {
  uint32_t others = 0;
  if (!step_members(at, step, &active, &others)) return STEP_RELOAD;
  if (active != 0) step_predicated(at, step, active);
  return step_pass(at, others);
}

static void open_warp(WarpContext *at, Runner *run, Block *block, uint32_t index) {
  *at = (WarpContext){.run = run, .block = block, .index = index};
  at->warp = block_warp(&run->layout, block, index);
  at->entries = block_entries(&run->layout, block, index);
  at->registers = block_registers(&run->layout, block, index);
  at->bases[BASE_REGISTERS] = at->registers;
  at->bases[BASE_CONSTANTS] = run->constants;
  run->view.shared = block_shared(&run->layout, block);
  run->view.local = block_local(&run->layout, block, index);
  run->view.local_touched = &block->local_touched;
}

// A step of the kinds that the loop does not inline.
static StepResult step_rare(WarpContext *at, Step *step, uint32_t active) {
  if (at->run->watch != NULL && step->kind == STEP_SPECIAL) watch_rare(at, step, active);
  switch (step->kind) {
  case STEP_WARP: return step_warp(at, step, active);
  case STEP_SPECIAL: return step_special(at, step, active);
  case STEP_ILLEGAL: return step_trap(at, TRAP_ILLEGAL_INSTRUCTION, at->mask);
  default: return step_trap(at, TRAP_INVALID_PC, at->mask);
  }
}

// One instruction; the loop below has already looked at its guard.
static inline StepResult step_execute(WarpContext *at, Step *step, uint32_t active) {
  bool reload = false;
  switch (step->kind) {
  case STEP_ALU:
    if (active != 0) step_alu(at, step, active);
    return STEP_NEXT;
  case STEP_PREDICATED:
    if (active != 0) step_predicated(at, step, active);
    return STEP_NEXT;
  case STEP_LOAD: return active == 0 ? STEP_NEXT : step_memory(at, step, active, false);
  case STEP_STORE: return active == 0 ? STEP_NEXT : step_memory(at, step, active, true);
  case STEP_BRANCH:
    if (!step_branch(at, step, active, &reload)) return step_trap(at, TRAP_STACK_OVERFLOW, active);
    return reload ? STEP_RELOAD : STEP_BRANCHED;
  default: return step_rare(at, step, active);
  }
}

// False: the watcher has seen enough.
static bool tell_step(const WarpContext *at, uint32_t active) {
  Runner *run = at->run;
  WatchedStep step = {
      .block = at->block->linear, .warp = at->index, .epoch = at->block->barrier_count, .pc = at->pc, .mask = at->mask, .active = active};
  run->pc = at->pc;
  run->watch->step(run->watch->context, &step);
  if (!run->watch->stop) return true;
  *run->trap = (Trap){.kind = TRAP_STOPPED};
  return false;
}

WarpEnd warp_run(Runner *run, Block *block, uint32_t warp, uint32_t quantum) {
  WarpContext at;
  open_warp(&at, run, block, warp);
  if (!front_load(&at)) return at.warp->stack.depth == 0 ? WARP_ENDED : WARP_WAITS;
  const uint32_t *predicates = at.warp->predicates;
  uint64_t last = run->executed + quantum;
  const bool is_watched = run->watch != NULL;
  WarpEnd end = WARP_SPENT;
  while (run->executed < last && end == WARP_SPENT) {
    Step *step = &run->steps[at.pc];
    if (step->kind == STEP_UNPREPARED) step_prepare(run, at.pc);
    uint32_t active = at.mask & (predicates[step->guard] ^ step->guard_flip);
    if (is_watched && !tell_step(&at, active)) return WARP_TRAPPED;
    run->executed++;
    run->thread_executed += active == at.mask || step->kind == STEP_BRANCH ? at.threads : count_ones(active);
    StepResult result = step_execute(&at, step, active);
    if (result == STEP_TRAP) return WARP_TRAPPED;
    if (result == STEP_YIELD) end = WARP_YIELDED;
    at.pc += result == STEP_NEXT || result == STEP_YIELD;
    if (result != STEP_RELOAD) {
      if (at.pc != at.reconverge) continue;
      front_save(&at);
    }
    if (!front_load(&at)) return at.warp->stack.depth == 0 ? WARP_ENDED : WARP_WAITS;
    if (at.gives_way) end = WARP_YIELDED;
  }
  front_save(&at);
  return end;
}
