// Spilling: a virtual register gives way to short-lived helpers around each use. Its value lies in
// the frame (predicates: in a register), or is made again where it is needed when one
// instruction without sources makes it.
#include "program/mir_internal.h"

typedef enum SpillKind { SPILL_NOT, SPILL_FRAME, SPILL_PREDICATE, SPILL_REMAKE } SpillKind;

typedef struct SpillPlan {
  Work *work;
  uint8_t *kinds;  // SpillKind by vreg
  VregId *holder;  // SPILL_PREDICATE: the register that holds it
  MirInstr *maker; // SPILL_REMAKE: the instruction that makes it
} SpillPlan;

bool mir_is_remakable(MirInstr *instr) {
  const OpInfo *info = &op_info[instr->op];
  if (mir_guarded(instr) || (info->flags & IT_PURE) == 0 || (info->kind != KIND_ALU && info->kind != KIND_SREG)) return false;
  Operand operands[MAX_OPERANDS];
  unsigned count = mir_operands(instr, operands);
  for (unsigned i = 0; i < count; i++) {
    if (!operands[i].written) return false;
  }
  return count == 1 && instr->d[0].vreg != VREG_NONE && instr->d[0].part == 0;
}

// Registers with one definition, which needs no register, are made again.
static void plan_remakes(SpillPlan *plan, Arena *scratch) {
  MirFunction *function = plan->work->function;
  uint8_t *writes = ARENA_ARRAY(scratch, uint8_t, function->vregs.count);
  for (unsigned pass = 0; pass < 2; pass++) {
    for (uint32_t b = 0; b < function->blocks.count; b++) {
      MirBlock *block = &function->blocks.items[b];
      for (uint32_t i = 0; i < block->instrs.count; i++) {
        MirInstr *instr = &block->instrs.items[i];
        Operand operands[MAX_OPERANDS];
        unsigned count = mir_operands(instr, operands);
        for (unsigned o = 0; o < count; o++) {
          VregId v = operands[o].ref->vreg;
          if (!operands[o].written || plan->kinds[v] == SPILL_NOT || plan->kinds[v] == SPILL_PREDICATE) continue;
          if (pass == 0) writes[v] = (uint8_t)min_u32(2, writes[v] + 1u);
          if (pass == 0 || writes[v] != 1 || !mir_is_remakable(instr) || operands[o].registers != function->vregs.items[v].width) continue;
          plan->kinds[v] = SPILL_REMAKE;
          plan->maker[v] = *instr;
        }
      }
    }
  }
}

// Stores and loads that mir_lower_calls made around calls: pointless for what lies in the frame anyway.
static bool is_own_save(const SpillPlan *plan, const MirInstr *instr) {
  const Work *work = plan->work;
  VregId v = instr->d[0].vreg;
  if (op_info[instr->op].space != SPACE_LOCAL || instr->a.vreg != work->function->frame_pointer || v == VREG_NONE) return false;
  if (plan->kinds[v] != SPILL_FRAME || v >= work->homes.count || work->homes.items[v] == 0) return false;
  return instr->imm == work->homes.items[v] - 1 + 4u * instr->d[0].part;
}

static Vref make_helper(SpillPlan *plan, MirInstrVec *out, const Operand *read, uint32_t line) {
  Work *work = plan->work;
  VregId v = read->ref->vreg;
  VregId helper = work_temp(work, plan->kinds[v] == SPILL_REMAKE ? work->function->vregs.items[v].width : read->registers);
  switch ((SpillKind)plan->kinds[v]) {
  case SPILL_PREDICATE: push_register_to_predicate(work, out, VREF(helper), VREF(plan->holder[v]), line); break;
  case SPILL_FRAME: push_frame_load(work, out, VREF(helper), read->registers, work_home(work, v) + 4u * read->ref->part, line); break;
  case SPILL_REMAKE: {
    MirInstr *made = VEC_PUSH(out, work->arena);
    *made = plan->maker[v];
    made->d[0] = VREF(helper);
    return (Vref){helper, read->ref->part};
  }
  case SPILL_NOT: break;
  }
  return VREF(helper);
}

static void spill_reads(SpillPlan *plan, MirInstrVec *out, MirInstr *instr, Operand *operands, unsigned count) {
  Vref before[MAX_OPERANDS];
  for (unsigned i = 0; i < count; i++) {
    before[i] = *operands[i].ref;
    if (operands[i].written || plan->kinds[before[i].vreg] == SPILL_NOT) continue;
    unsigned same = 0; // an operand that names the same value shares the helper
    while (same < i && (operands[same].written || before[same].vreg != before[i].vreg || before[same].part != before[i].part ||
                        operands[same].registers != operands[i].registers))
      same++;
    *operands[i].ref = same < i ? *operands[same].ref : make_helper(plan, out, &operands[i], instr->line);
  }
}

// An instruction that writes its own guard: what follows it can no longer run under that guard.
static bool writes_guard(const MirInstr *instr, const Operand *operands, unsigned count) {
  for (unsigned i = 0; i < count; i++) {
    if (operands[i].written && operands[i].registers == 0 && operands[i].ref->vreg == instr->guard.vreg) return true;
  }
  return false;
}

// Keeps what a helper was given; `like` says under which guard.
static void push_keep(SpillPlan *plan, MirInstrVec *out, const Operand *written, VregId helper, const MirInstr *like) {
  Work *work = plan->work;
  VregId v = written->ref->vreg;
  if (plan->kinds[v] == SPILL_FRAME) {
    push_frame_store(work, out, VREF(helper), written->registers, work_home(work, v) + 4u * written->ref->part, like);
    return;
  }
  push_predicate_to_register(work, out, VREF(plan->holder[v]), VREF(helper), like->line);
  MirInstr *select = &out->items[out->count - 1];
  select->guard = like->guard;
  select->guard_negated = like->guard_negated;
}

static void spill_instr(SpillPlan *plan, MirInstrVec *out, MirInstr instr) {
  Operand operands[MAX_OPERANDS];
  unsigned count = mir_operands(&instr, operands);
  for (unsigned i = 0; i < count; i++) {
    if (operands[i].written && plan->kinds[operands[i].ref->vreg] == SPILL_REMAKE) return;
  }
  if (is_own_save(plan, &instr)) return;
  spill_reads(plan, out, &instr, operands, count);
  MirInstr like = instr;
  bool preload = writes_guard(&instr, operands, count); // then the helper starts with the old value and is kept always
  if (preload) mir_rest(&like);
  like.line = instr.line;
  VregId helpers[MAX_OPERANDS];
  for (unsigned i = 0; i < count; i++) {
    if (!operands[i].written || plan->kinds[operands[i].ref->vreg] == SPILL_NOT) continue;
    helpers[i] = preload ? make_helper(plan, out, &operands[i], instr.line).vreg : work_temp(plan->work, operands[i].registers);
  }
  uint32_t at = out->count;
  VEC_PUSH(out, plan->work->arena);
  for (unsigned i = 0; i < count; i++) {
    if (!operands[i].written || plan->kinds[operands[i].ref->vreg] == SPILL_NOT) continue;
    push_keep(plan, out, &operands[i], helpers[i], &like);
    *operands[i].ref = VREF(helpers[i]);
  }
  out->items[at] = instr;
}

void mir_spill(Work *work, const VregId *vregs, uint32_t count) {
  Arena *scratch = arena_new();
  MirFunction *function = work->function;
  uint32_t vreg_count = function->vregs.count;
  // Helpers made below have numbers past vreg_count but are never looked up here.
  SpillPlan plan = {.work = work};
  plan.kinds = ARENA_ARRAY(scratch, uint8_t, vreg_count);
  plan.holder = ARENA_ARRAY(scratch, VregId, vreg_count);
  plan.maker = ARENA_ARRAY(scratch, MirInstr, vreg_count);
  bool frame = false;
  for (uint32_t i = 0; i < count; i++) {
    bool predicate = function->vregs.items[vregs[i]].width == 0;
    plan.kinds[vregs[i]] = predicate ? SPILL_PREDICATE : SPILL_FRAME;
    if (predicate) plan.holder[vregs[i]] = mir_vreg(function, work->arena, 1);
  }
  plan_remakes(&plan, scratch);
  for (uint32_t i = 0; i < count; i++) frame |= plan.kinds[vregs[i]] == SPILL_FRAME;
  if (frame) work_need_frame(work);
  for (uint32_t b = 0; b < function->blocks.count; b++) {
    MirBlock *block = &function->blocks.items[b];
    MirInstrVec out = {0};
    for (uint32_t i = 0; i < block->instrs.count; i++) spill_instr(&plan, &out, block->instrs.items[i]);
    block->instrs.items = out.items;
    block->instrs.count = out.count;
    block->instrs.capacity = out.capacity;
  }
  arena_free(scratch);
}
