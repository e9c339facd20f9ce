// Control flow of warps: branches, calls, exits, barriers, warp-wide synchronisation, fences, calls out of the kernel. They are carried
// out when they issue, on the SIMT stack and the block's barriers; what they mean is what functional/special.c says.
//
// Lanes of one warp make progress independently of each other: a warp that only spins lets its other lanes
// have a turn (branch_spins), and lanes that wait for others that can never come go on without them (control_front).
// Any bits of stack, warp table and registers are legal: depths are clipped, empty entries dropped, targets checked.
#include "machine/parts/cluster.h"
#include "machine/parts/system.h"
#include "machine/simt/execute.h"

#include <stdio.h>

enum {
  POLL_LIMIT = 64,      // looks at memory without a change of one's own before others have a turn
  SPIN_ROTATE = 4096,   // backward branches before another leaf of the warp has its turn
  SPIN_RELEASE = 16384, // before lanes that wait to reconverge go on without the spinning ones
  MOST_SLEEP_NS = 1000000,
  ROW_REGISTERS = 2, // widest operand
};

// The instruction that issues.
typedef struct Control {
  Simt *m;
  uint32_t sm, number; // of the warp
  SimtWarp *at;
  SimtStack *stack;
  SimtEntry *entries;
  Block *block;
  const Instr *instr;
  const OpInfo *info;
  uint32_t pc, active; // active: guard applied
} Control;

static unsigned first_lane(uint32_t lanes) { return lanes == 0 ? 0 : (unsigned)__builtin_ctz(lanes); }
static SimtEntry *top_of(const Control *c) { return &c->entries[c->stack->depth - 1]; }

static ControlResult trap(const Control *c, TrapKind kind, uint32_t lanes) {
  simt_trap(c->m, c->sm, c->number, c->pc, kind, lanes);
  return CONTROL_DONE;
}

// The top goes on after this instruction.
static ControlResult go_on(const Control *c) {
  top_of(c)->pc = c->pc + 1;
  return CONTROL_DONE;
}

// ---- Operands --------------------------------------------------------------------------------------

static void broadcast(uint32_t *rows, unsigned registers, uint64_t value) {
  for (unsigned lane = 0; lane < WARP_LANES; lane++) row_set(rows, lane, registers, value);
}

// Operand a, b or c (number 0, 1, 2) of all lanes.
static void read_operand(const Control *c, unsigned operand, uint32_t rows[ROW_REGISTERS * WARP_LANES]) {
  Simt *m = c->m;
  const Instr *instr = c->instr;
  const uint8_t names[] = {instr->a, instr->b, instr->c};
  const TypeId types[] = {c->info->a, c->info->b, c->info->c};
  unsigned registers = type_info[types[operand]].registers == 2 ? 2 : 1;
  memset(rows, 0, ROW_REGISTERS * WARP_LANES * sizeof *rows);
  if (instr->select == SELECT_IMM_A + operand) {
    broadcast(rows, registers, imm_value(types[operand], instr->imm));
  } else if (instr->select == SELECT_CONST_A + operand) {
    uint32_t bytes = (type_info[types[operand]].bits + 7u) / 8u;
    broadcast(rows, registers, constant_value(m, c->sm, instr->imm >> 24, instr->imm & 0xFFFFFF, bytes));
  } else if (names[operand] != REG_ZERO) {
    for (unsigned k = 0; k < registers; k++) {
      uint32_t row = register_row(m, c->sm, c->number, (uint32_t)names[operand] + k);
      RegisterRow *lanes = register_at(m, c->sm, row);
      const Who *who = cells_warp(m, c->sm, c->number, c->pc, c->at->issued - 1);
      cells_read(m, who, REGION_RF, (uint64_t)c->sm * m->dims.register_rows + row, c->active, lanes);
      memcpy(&rows[k * WARP_LANES], lanes, sizeof *lanes);
    }
  }
}

// ---- Barriers --------------------------------------------------------------------------------------

// What a reduction gives the lanes that waited: a count, or a predicate.
static void give_result(void *context, uint32_t index, const SimtEntry *entry, const Barrier *barrier) {
  const Control *c = context;
  Simt *m = c->m;
  if (entry->pc >= m->program->code_count) return;
  const Instr *instr = &m->program->decoded[entry->pc];
  const OpInfo *info = &op_info[instr->op];
  if (info->kind != KIND_BARRIER) return; // a damaged pc
  uint32_t number = (c->number - c->at->index + index) % m->dims.warps;
  SimtWarp *warp = simt_warp(m, c->sm, number);
  const Who *who = cells_warp(m, c->sm, number, WHO_NO_INDEX, WHO_NO_NUMBER);
  if (info->d == TYPE_u32 && instr->d[0] != REG_ZERO) {
    uint32_t row = register_row(m, c->sm, number, instr->d[0]);
    RegisterRow *lanes = register_at(m, c->sm, row);
    for (uint32_t left = entry->mask; left != 0; left &= left - 1) lanes->lane[first_lane(left)] = barrier->holds;
    cells_written(m, who, REGION_RF, (uint64_t)c->sm * m->dims.register_rows + row, entry->mask, lanes);
  }
  if ((info->flags & IT_PRED_OUT) == 0) return;
  uint32_t value = barrier_holds(barrier, (Op)instr->op) ? UINT32_MAX : 0, units = 0;
  for (unsigned k = 0; k < 2; k++) {
    if (instr->pd[k] < MAX_PREDICATES) units |= 1u << instr->pd[k];
  }
  cells_read(m, who, REGION_PREDICATES, c->sm * m->dims.warps + number, units, warp->warp.predicates);
  for (unsigned k = 0; k < 2; k++) {
    uint32_t *predicate = &warp->warp.predicates[instr->pd[k] < MAX_PREDICATES ? instr->pd[k] : PREDICATE_SINK];
    *predicate = (*predicate & ~entry->mask) | ((k == 0 ? value : ~value) & entry->mask);
  }
  cells_written(m, who, REGION_PREDICATES, c->sm * m->dims.warps + number, units, warp->warp.predicates);
}

static uint32_t first_warp(const Simt *m, const SimtWarp *at) { return (uint32_t)at->block_slot * m->layout.warps % m->dims.warps; }

// The block's warps, as a set.
static uint64_t warps_of(const Simt *m, const SimtWarp *at) {
  uint64_t all = m->layout.warps >= SIMT_MOST_WARPS ? UINT64_MAX : (UINT64_C(1) << m->layout.warps) - 1;
  return all << first_warp(m, at);
}

static BlockView view_block(Control *c) {
  uint32_t first = first_warp(c->m, c->at);
  return (BlockView){.block = c->block,
                     .warps = min_u32(c->m->layout.warps, c->m->dims.warps - first),
                     .warp = &simt_warp(c->m, c->sm, first)->warp,
                     .warp_bytes = sizeof(SimtWarp),
                     .entries = simt_entries(c->m, c->sm, first),
                     .entries_bytes = c->m->dims.stack * sizeof(SimtEntry),
                     .give = give_result,
                     .context = c};
}

// Warps of the block may have become ready.
static void wake_block(const Control *c) {
  front_awake(c->m, c->sm, warps_of(c->m, c->at));
  sm_wake(c->m, c->sm, simt_now(c->m) + 1);
}

// The lanes that name the same barrier and count as the first active one.
static uint32_t same_barrier(const Control *c, const uint32_t *number, const uint32_t *count) {
  unsigned first = first_lane(c->active);
  uint32_t same = 0;
  for (uint32_t left = c->active; left != 0; left &= left - 1) {
    unsigned lane = first_lane(left);
    if (number[lane] == number[first] && count[lane] == count[first]) same |= 1u << lane;
  }
  return same;
}

static ControlResult block_barrier(Control *c) {
  uint32_t number_row[ROW_REGISTERS * WARP_LANES], count_row[ROW_REGISTERS * WARP_LANES];
  if (c->active == 0) return go_on(c);
  read_operand(c, 0, number_row);
  read_operand(c, 1, count_row);
  uint32_t lanes = same_barrier(c, number_row, count_row), mask = top_of(c)->mask;
  uint32_t number = number_row[first_lane(lanes)], count = count_row[first_lane(lanes)];
  if (number >= BLOCK_BARRIERS) return trap(c, TRAP_ILLEGAL_INSTRUCTION, lanes);
  simt_count(c->m, STAT_BARRIERS, 1);
  // Whoever does not take part goes on: without the guard at the next instruction, with another barrier at this one.
  bool fits = c->active == mask || simt_split(c->stack, c->entries, c->active, c->pc + 1);
  fits = fits && (lanes == c->active || simt_split(c->stack, c->entries, lanes, c->pc));
  if (!fits) return trap(c, TRAP_STACK_OVERFLOW, lanes);
  SimtEntry *top = top_of(c);
  if (c->instr->op == OP_BAR_ARRIVE) {
    top->pc++;
  } else {
    top->state = ENTRY_AT_BARRIER;
    top->place = (uint8_t)number;
  }
  uint32_t holds = c->at->warp.predicates[c->instr->ps % PREDICATE_SLOTS] ^ (c->instr->ps_negated ? UINT32_MAX : 0);
  barrier_arrive(c->block, number, count, c->at->index % BLOCK_MAX_WARPS, lanes, lanes & holds);
  BlockView view = view_block(c);
  if (!barrier_is_complete(&view, number)) return CONTROL_WAITS;
  barrier_release(&view, number);
  wake_block(c);
  return CONTROL_DONE;
}

// Blocks of a cluster meet: see cluster.c.
static ControlResult cluster_barrier(Control *c) {
  Barrier *barrier = &c->block->barriers[BLOCK_CLUSTER_BARRIER];
  uint32_t warp = c->at->index % BLOCK_MAX_WARPS, mask = top_of(c)->mask;
  bool waits = c->instr->op == OP_BARRIER_CLUSTER_WAIT;
  // Whoever has arrived and is not marked any more has seen the others arrive.
  if (c->active == 0 || (waits && (barrier->arrived[warp] & c->active) == 0)) return go_on(c);
  simt_count(c->m, STAT_BARRIERS, waits);
  if (c->active != mask && !simt_split(c->stack, c->entries, c->active, c->pc + 1)) return trap(c, TRAP_STACK_OVERFLOW, c->active);
  SimtEntry *top = top_of(c);
  if (waits) {
    top->state = ENTRY_AT_BARRIER;
    top->place = BLOCK_CLUSTER_BARRIER;
    return CONTROL_WAITS;
  }
  top->pc++;
  barrier_arrive(c->block, BLOCK_CLUSTER_BARRIER, 0, warp, c->active, 0);
  cluster_check_barrier(c->m, c->block);
  return CONTROL_DONE;
}

// ---- Warp-wide instructions ------------------------------------------------------------------------

static uint32_t members_of(const Control *c) {
  uint32_t rows[ROW_REGISTERS * WARP_LANES], members = 0; // lanes that run together may name different groups
  if ((c->instr->mods & MOD_FULL_MASK) != 0) return UINT32_MAX;
  read_operand(c, c->info->c != TYPE_none ? 2 : c->info->b != TYPE_none ? 1 : 0, rows);
  for (uint32_t left = c->active; left != 0; left &= left - 1) members |= rows[first_lane(left)];
  return members;
}

// True: the members are there; *others are those of them that waited in other entries. False: the top has begun to wait.
static bool members_met(Control *c, uint32_t *others) {
  SimtEntry *top = top_of(c);
  bool forced = top->state == ENTRY_FORCED;
  top->state = ENTRY_READY;
  *others = 0;
  if ((c->info->flags & IT_MEMBER_MASK) == 0 || c->active == 0 || (c->stack->alive & ~top->mask) == 0) return true;
  uint32_t members = members_of(c), missing = members & c->stack->alive & ~top->mask;
  if (missing == 0) return true;
  SyncPlace place = c->info->kind == KIND_BARRIER ? SYNC_BARRIER : SYNC_HERE;
  uint32_t waiting = simt_waiting_at(c->stack, c->entries, c->pc, place) & members;
  if ((missing & ~waiting) != 0 && !forced) {
    top->state = ENTRY_AT_WARP_SYNC;
    top->place = (uint8_t)place;
    return false;
  }
  *others = waiting;
  uint32_t guard = c->at->warp.predicates[c->instr->guard % PREDICATE_SLOTS] ^ (c->instr->guard_negated ? UINT32_MAX : 0);
  c->active |= waiting & guard;
  return true;
}

static ControlResult warp_wide(Control *c) {
  uint32_t others;
  if (!members_met(c, &others)) return CONTROL_WAITS;
  go_on(c);
  if (others != 0) simt_pass_sync(c->stack, c->entries, others);
  return c->info->kind == KIND_BARRIER ? CONTROL_DONE : CONTROL_GO_ON;
}

// ---- Branches, calls, exits ------------------------------------------------------------------------

// At a backward branch that all lanes take: others of the warp shall have a turn now and then.
static void branch_spins(const Control *c) {
  Warp *warp = &c->at->warp;
  bool polls = warp->polls >= POLL_LIMIT;
  if (++warp->spins % SPIN_ROTATE != 0 && !polls) return;
  warp->polls = 0;
  if (simt_rotate(c->stack, c->entries, true)) return;
  if (!polls && warp->spins < SPIN_RELEASE) return;
  warp->spins = 0;
  if (simt_release_waiting(c->stack, c->entries)) return;
  if (simt_force(c->stack, c->entries)) simt_rotate(c->stack, c->entries, true);
}

static bool tell_branch(const Control *c, uint32_t target, uint32_t taken) {
  Simt *m = c->m;
  if ((m->wants & WANT_BRANCH) == 0) return true;
  const Who *who = who_warp(m, c->sm, c->number, c->pc, c->at->issued - 1);
  BranchEvent event = {.who = who, .target = target, .mask = top_of(c)->mask, .taken = taken};
  simt_obey(m, who, hooks_branch(&m->hooks, &m->hook_machine, &event));
  return !simt_has_trapped(m);
}

static ControlResult branch(const Control *c) {
  SimtEntry *top = top_of(c);
  uint32_t target = min_u32(c->instr->imm, c->m->program->code_count);
  if (!tell_branch(c, target, c->active)) return CONTROL_DONE;
  if (c->active == 0) return go_on(c);
  if (c->active == top->mask) {
    top->pc = target;
    if (target <= c->pc) branch_spins(c);
    return CONTROL_DONE;
  }
  simt_count(c->m, STAT_DIVERGENT_BRANCHES, 1);
  c->at->warp.spins = c->at->warp.polls = 0; // some go elsewhere: no mere waiting
  bool fits = simt_diverge(c->stack, c->entries, c->active, target, c->pc + 1, c->instr->reconverge);
  return fits ? CONTROL_DONE : trap(c, TRAP_STACK_OVERFLOW, c->active);
}

static ControlResult exit_lanes(Control *c, bool is_return) {
  uint32_t before = c->stack->alive;
  go_on(c); // lanes whose guard does not hold
  if (is_return) simt_return(c->stack, c->entries, c->active);
  else simt_exit(c->stack, c->entries, c->active);
  uint32_t ended = before & ~c->stack->alive;
  if (ended == 0) return CONTROL_DONE;
  c->block->alive -= min_u32(count_ones(ended), c->block->alive);
  SmState *state = &c->m->at.sms[c->sm];
  if (c->block->waiting > 0) {
    BlockView view = view_block(c);
    barrier_recheck(&view);
    wake_block(c);
  }
  if (launch_has_clusters(c->m->launch) || c->block->barriers[BLOCK_CLUSTER_BARRIER].any > 0) cluster_check_barrier(c->m, c->block);
  if (c->block->alive == 0) state->ending |= UINT64_C(1) << (c->at->block_slot % c->m->dims.blocks);
  if (c->stack->alive != 0) return CONTROL_DONE;
  c->at->valid = 0;
  state->present &= ~(UINT64_C(1) << c->number);
  state->fetch_wants &= ~(UINT64_C(1) << c->number);
  return CONTROL_DONE;
}

// Where a lane of an indirect branch or call goes; code_count when that is nowhere.
static uint32_t indirect_target(const Control *c, const uint32_t *rows, unsigned lane) {
  uint32_t outside = c->m->program->code_count;
  uint64_t value = row_get(rows, lane, type_info[c->info->a].registers);
  if (c->info->a == TYPE_u32) return value < outside ? (uint32_t)value : outside;
  if (value < CODE_BASE || (value - CODE_BASE) % INSTR_BYTES != 0) return outside;
  value = (value - CODE_BASE) / INSTR_BYTES;
  return value < outside ? (uint32_t)value : outside;
}

// Lanes with the target of the first go; the others come back to this instruction.
static ControlResult indirect(const Control *c) {
  uint32_t rows[ROW_REGISTERS * WARP_LANES], lanes = 0, mask = top_of(c)->mask;
  read_operand(c, 0, rows);
  uint32_t target = indirect_target(c, rows, first_lane(c->active));
  if (target >= c->m->program->code_count) return trap(c, TRAP_INVALID_PC, c->active);
  for (uint32_t left = c->active; left != 0; left &= left - 1) {
    unsigned lane = first_lane(left);
    if (indirect_target(c, rows, lane) == target) lanes |= 1u << lane;
  }
  if (!tell_branch(c, target, lanes)) return CONTROL_DONE;
  bool is_call = (c->info->flags & IT_CALLS) != 0, fits = true;
  uint32_t next = c->pc + 1, meet = is_call ? next : c->instr->reconverge;
  if (lanes != mask) simt_count(c->m, STAT_DIVERGENT_BRANCHES, 1);
  // Lanes whose guard fails go on; those with another target stay here until it is their turn.
  if (c->active != mask) fits = simt_diverge(c->stack, c->entries, mask & ~c->active, next, c->pc, meet);
  if (fits && lanes != c->active) fits = simt_diverge(c->stack, c->entries, c->active & ~lanes, c->pc, c->pc, meet);
  if (fits && is_call) fits = simt_call(c->stack, c->entries, lanes, target, next);
  else if (fits) top_of(c)->pc = target;
  return fits ? CONTROL_DONE : trap(c, TRAP_STACK_OVERFLOW, lanes);
}

static ControlResult flow(Control *c) {
  uint32_t flags = c->info->flags, target = c->instr->imm;
  if ((flags & IT_BRANCH) != 0 && (flags & IT_INDIRECT) == 0) return branch(c);
  if (c->active == 0) return go_on(c);
  if ((flags & IT_INDIRECT) != 0) return indirect(c);
  if ((flags & IT_CALLS) != 0) {
    if (target >= c->m->program->code_count) return trap(c, TRAP_INVALID_PC, c->active);
    bool fits = simt_call(c->stack, c->entries, c->active, target, c->pc + 1);
    return fits ? CONTROL_DONE : trap(c, TRAP_STACK_OVERFLOW, c->active);
  }
  if ((flags & IT_RETURN) != 0) return exit_lanes(c, true);
  if ((flags & IT_EXITS) != 0) return exit_lanes(c, false);
  if ((flags & IT_TRAPS) != 0) return trap(c, TRAP_TRAP, c->active);
  return go_on(c);
}

// ---- Calls out of the kernel -----------------------------------------------------------------------

static MemoryView view_memory(const Control *c) {
  Simt *m = c->m;
  uint32_t rows = (m->layout.shared_bytes + LINE_BYTES - 1) / LINE_BYTES;
  uint32_t row = c->sm * m->dims.shared_rows + (uint32_t)c->at->block_slot * rows % max_u32(m->dims.shared_rows, 1);
  uint64_t local = local_address(m, c->sm, c->number, 0, 0) & ((UINT64_C(1) << PHYSICAL_SHIFT) - 1);
  MemoryView view = {.bulk = bulk_functions(),
                     .memory = m->backing.memory,
                     .global = memory_bytes(m->backing.memory),
                     .global_base = memory_base(m->backing.memory),
                     .shared = (uint8_t *)&m->at.shared[row],
                     .shared_bytes = m->layout.shared_bytes,
                     .local = m->backing.local == NULL ? NULL : m->backing.local + local,
                     .local_bytes = m->layout.local_bytes,
                     .local_touched = &c->block->local_touched};
  memcpy(view.banks, m->backing.banks, sizeof view.banks);
  memcpy(view.bank_bytes, m->backing.bank_bytes, sizeof view.bank_bytes);
  return view;
}

static ControlResult sleep_warp(const Control *c) {
  uint32_t rows[ROW_REGISTERS * WARP_LANES];
  read_operand(c, 0, rows);
  uint64_t wanted = min_u32(rows[first_lane(c->active)], MOST_SLEEP_NS);
  c->at->next_issue_at = simt_now(c->m) + max_u64(wanted * c->m->spec->clock_core_khz / 1000000, c->m->spec->latency_branch);
  c->at->warp.polls++;
  return go_on(c);
}

// The warp has drained; what it wrote may still be in caches.
static ControlResult call_out(const Control *c) {
  Simt *m = c->m;
  if (c->active == 0) return go_on(c);
  if (c->instr->op == OP_NANOSLEEP) return sleep_warp(c);
  if (warp_is_mirror(m, c->sm, c->number)) return c->instr->op == OP_SYS_ASSERTFAIL ? trap(c, TRAP_ASSERT, c->active) : go_on(c);
  uint32_t areas[ROW_REGISTERS * WARP_LANES];
  read_operand(c, 0, areas);
  caches_flush(m);
  MemoryView view = view_memory(c);
  SystemContext context = {
      .view = &view, .environment = m->environment, .launch = m->launch, .block = c->block->index, .warp = c->at->index};
  bool heap_changed = false;
  AccessViolation violation;
  char note[256] = "";
  if (!system_execute(&context, (Op)c->instr->op, c->active, areas, &heap_changed, &violation, note)) {
    simt_violation(m, c->sm, c->number, c->pc, &violation, note);
    return CONTROL_DONE;
  }
  m->at.core->local_touched = max_u64(m->at.core->local_touched, (uint64_t)c->block->local_touched * WARP_LANES);
  return go_on(c);
}

// ---- For the issue stage ---------------------------------------------------------------------------

// The warp has drained. What other SMs have written before must be seen after it, so global lines of the L1 go; within a block
// the SM's own cache is coherent.
static ControlResult fence(Control *c) {
  if (c->instr->op != OP_MEMBAR_CTA) l1d_invalidate(c->m, c->sm);
  return go_on(c);
}

ControlResult control_issue(Simt *m, uint32_t sm, uint32_t warp, const Instr *instr, uint32_t pc, uint32_t *mask) {
  SimtWarp *at = simt_warp(m, sm, warp);
  Control c = {.m = m,
               .sm = sm,
               .number = warp,
               .at = at,
               .stack = &at->warp.stack,
               .entries = simt_entries(m, sm, warp),
               .block = &m->at.blocks[sm * m->dims.blocks + at->block_slot % m->dims.blocks],
               .instr = instr,
               .info = &op_info[instr->op],
               .pc = pc,
               .active = *mask};
  ControlResult result;
  at->next_issue_at = simt_now(m) + (c.info->unit == UNIT_BRANCH ? m->spec->latency_branch : 1);
  switch (c.info->kind) {
  case KIND_CONTROL: result = flow(&c); break;
  case KIND_BARRIER:
    if (instr->op == OP_BARRIER_CLUSTER_ARRIVE || instr->op == OP_BARRIER_CLUSTER_WAIT) {
      result = cluster_barrier(&c);
      break;
    }
    result = (c.info->flags & IT_MEMBER_MASK) != 0 ? warp_wide(&c) : block_barrier(&c);
    break;
  case KIND_SYSTEM: result = call_out(&c); break;
  case KIND_FENCE: result = fence(&c); break;
  default: result = warp_wide(&c); break;
  }
  *mask = c.active;
  return result;
}

static void trap_deadlock(Simt *m, uint32_t sm, uint32_t warp) {
  const SimtWarp *at = simt_warp(m, sm, warp);
  const SimtEntry *top = &simt_entries(m, sm, warp)[at->warp.stack.depth - 1];
  const Block *block = &m->at.blocks[sm * m->dims.blocks + at->block_slot % m->dims.blocks];
  const Barrier *barrier = &block->barriers[top->place <= BLOCK_CLUSTER_BARRIER ? top->place : 0];
  AccessViolation violation = {.kind = TRAP_BARRIER_DEADLOCK, .lane = first_lane(top->mask)};
  char note[64] = "";
  if (top->state == ENTRY_AT_BARRIER) {
    uint32_t expected = barrier->expected != 0 ? barrier->expected : block->alive;
    snprintf(note, sizeof note, "barrier %u has %u of %u threads", top->place, barrier->any, expected);
  }
  simt_violation(m, sm, warp, top->pc, &violation, note);
}

// All living warps of the block wait. Those that only wait for lanes of their own warp are let go; else nobody can ever go on.
static void block_waits(Simt *m, uint32_t sm, uint32_t warp) {
  const SimtWarp *at = simt_warp(m, sm, warp);
  uint64_t living = warps_of(m, at) & m->at.sms[sm].present;
  for (uint64_t left = living; left != 0; left &= left - 1) {
    if (!simt_warp(m, sm, (uint32_t)__builtin_ctzll(left))->warp.waits) return;
  }
  for (uint64_t left = living; left != 0; left &= left - 1) {
    uint32_t number = (uint32_t)__builtin_ctzll(left);
    Warp *other = &simt_warp(m, sm, number)->warp;
    other->stack.depth = min_u32(other->stack.depth, m->dims.stack);
    if (!simt_force(&other->stack, simt_entries(m, sm, number))) continue;
    other->waits = false;
    front_awake(m, sm, UINT64_C(1) << number);
    sm_wake(m, sm, simt_now(m) + 1);
    return;
  }
  // Other blocks of the cluster may come. If not, the machine finds that nothing can happen any more.
  const Block *block = &m->at.blocks[sm * m->dims.blocks + at->block_slot % m->dims.blocks];
  if (launch_has_clusters(m->launch) && block->barriers[BLOCK_CLUSTER_BARRIER].any > 0) return;
  trap_deadlock(m, sm, warp);
}

bool control_front(Simt *m, uint32_t sm, uint32_t warp) {
  Warp *at = &simt_warp(m, sm, warp)->warp;
  SimtStack *stack = &at->stack;
  SimtEntry *entries = simt_entries(m, sm, warp);
  stack->capacity = m->dims.stack;
  stack->depth = min_u32(stack->depth, stack->capacity);
  while (stack->depth > 0) {
    SimtEntry *top = &entries[stack->depth - 1];
    if (entry_is_ready(top)) {
      if (top->pc != top->reconverge && top->mask != 0) {
        at->waits = false;
        return true;
      }
      *top = (SimtEntry){0};
      stack->depth--;
      at->spins = at->polls = 0;
      continue;
    }
    if (simt_rotate(stack, entries, false)) continue;
    // Who waits for lanes of its own warp goes on without them if nothing else can bring them.
    bool at_barrier = simt_has_state(stack, entries, ENTRY_AT_BARRIER);
    if (!at_barrier && simt_force(stack, entries)) continue;
    if (at_barrier && simt_release_waiting(stack, entries)) continue;
    at->waits = true;
    block_waits(m, sm, warp);
    if (at->waits) return false;
  }
  return false;
}
