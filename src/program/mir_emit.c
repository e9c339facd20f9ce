// Layout and encoding: blocks in order, jump tables after them, branch targets and reconvergence
// points as instruction indices.
#include "program/mir_internal.h"

typedef struct Emitter {
  const Work *work;
  CodeVec *code;
  uint32_t base;        // first instruction of the function
  uint32_t *start;      // by block, relative to base; [count] = first jump table
  uint32_t *table;      // by block: its jump table, relative
  bool *drop_jump;      // by block: its last instruction jumps to what follows
  const uint32_t *meet; // post-dominators
} Emitter;

static bool is_jump(const MirInstr *instr) { return (mir_flags(instr) & (IT_BRANCH | IT_INDIRECT)) == IT_BRANCH; }

static uint8_t physical(const Work *work, Vref ref) {
  if (ref.vreg == VREG_NONE) return REG_ZERO;
  if (ref.vreg == work->function->frame_pointer) return work->function->is_kernel ? REG_ZERO : 0;
  if (ref.vreg == work->callee_frame) return 0;
  return (uint8_t)(work->colour[ref.vreg] + ref.part);
}

static uint8_t physical_predicate(const Work *work, Vref ref) { return ref.vreg == VREG_NONE ? PRED_TRUE : work->colour[ref.vreg]; }

// A copy of a register to itself, once coloured.
static bool is_idle(const Work *work, const MirInstr *instr) {
  return (mir_flags(instr) & IT_MOVE) != 0 && instr->select == SELECT_REGISTERS &&
         physical(work, instr->d[0]) == physical(work, instr->a) && instr->a.vreg != VREG_NONE;
}

static uint32_t block_size(const Emitter *emitter, uint32_t b) {
  const MirBlock *block = &emitter->work->function->blocks.items[b];
  uint32_t size = 0;
  for (uint32_t i = 0; i < block->instrs.count; i++) size += !is_idle(emitter->work, &block->instrs.items[i]);
  return size - emitter->drop_jump[b];
}

static void lay_out(Emitter *emitter) {
  const MirFunction *function = emitter->work->function;
  uint32_t count = function->blocks.count;
  for (uint32_t b = 0; b < count; b++) {
    const MirBlock *block = &function->blocks.items[b];
    const MirInstr *last = block->instrs.count > 0 ? &block->instrs.items[block->instrs.count - 1] : NULL;
    if (last == NULL || !is_jump(last) || last->target <= b) continue;
    uint32_t between = 0;
    for (uint32_t m = b + 1; m < last->target && between == 0; m++) between += block_size(emitter, m);
    emitter->drop_jump[b] = between == 0;
  }
  uint32_t at = 0;
  for (uint32_t b = 0; b < count; b++) {
    emitter->start[b] = at;
    at += block_size(emitter, b);
  }
  emitter->start[count] = at;
  for (uint32_t b = 0; b < count; b++) {
    emitter->table[b] = at;
    at += function->blocks.items[b].indirect_targets.count;
  }
}

static uint32_t branch_imm(const Emitter *emitter, uint32_t b, const MirInstr *instr, uint32_t *reconverge) {
  *reconverge = NO_RECONVERGE;
  bool diverges = mir_guarded(instr) || (mir_flags(instr) & IT_INDIRECT) != 0;
  if (diverges && emitter->meet[b] != NONE) *reconverge = emitter->base + emitter->start[emitter->meet[b]];
  return is_jump(instr) ? emitter->base + emitter->start[instr->target] : 0;
}

static uint32_t patched_imm(const Emitter *emitter, uint32_t b, const MirInstr *instr) {
  const Work *work = emitter->work;
  if ((mir_flags(instr) & (IT_CALLS | IT_INDIRECT)) == IT_CALLS) return instr->target;
  if (instr->target == TABLE_MARK && op_info[instr->op].kind == KIND_ALU) return emitter->base + emitter->table[b];
  if (instr->a.vreg == VREG_NONE || instr->a.vreg != work->function->frame_pointer) return instr->imm;
  if ((int32_t)instr->imm >= MIR_ARGUMENTS) return instr->imm - MIR_ARGUMENTS + work->frame_bytes;
  bool is_step_back = instr->imm == 0u - MIR_ARGUMENTS && instr->d[0].vreg == work->function->frame_pointer;
  return is_step_back ? 0u - work->frame_bytes : instr->imm;
}

static Instr *append(CodeVec *code, Arena *arena, Op op, uint32_t line) {
  Instr *instr = VEC_PUSH(&code->instrs, arena);
  *VEC_PUSH(&code->lines, arena) = line;
  *VEC_PUSH(&code->hidden, arena) = false;
  *instr = instr_rest(op);
  if ((op_info[op].flags & IT_BRANCH) != 0) instr->reconverge = NO_RECONVERGE;
  return instr;
}

static uint8_t physical_source(const Work *work, TypeId type, Vref ref) {
  return type == TYPE_pred ? physical_predicate(work, ref) : physical(work, ref);
}

static void emit_instr(const Emitter *emitter, Arena *arena, uint32_t b, const MirInstr *mir) {
  const Work *work = emitter->work;
  const OpInfo *info = &op_info[mir->op];
  Instr *instr = append(emitter->code, arena, (Op)mir->op, mir->line);
  emitter->code->hidden.items[emitter->code->hidden.count - 1] = mir->hidden;
  instr->mods = mir->mods;
  instr->select = mir->select;
  instr->guard = physical_predicate(work, mir->guard);
  instr->guard_negated = mir->guard_negated;
  for (unsigned i = 0; i < 2; i++) instr->pd[i] = physical_predicate(work, mir->pd[i]);
  instr->ps = physical_predicate(work, mir->ps);
  instr->ps_negated = mir->ps_negated;
  for (unsigned i = 0; i < 4; i++) instr->d[i] = physical(work, mir->d[i]);
  instr->a = physical_source(work, info->a, mir->a);
  instr->b = physical_source(work, info->b, mir->b);
  instr->c = physical_source(work, info->c, mir->c);
  if ((info->flags & IT_BRANCH) != 0) instr->imm = branch_imm(emitter, b, mir, &instr->reconverge);
  else instr->imm = patched_imm(emitter, b, mir);
}

bool mir_emit_code(Work *work, Arena *scratch, Arena *code_arena, CodeVec *code) {
  MirFunction *function = work->function;
  uint32_t count = function->blocks.count;
  Cfg cfg;
  cfg_build(&cfg, scratch, function);
  Emitter emitter = {.work = work, .code = code, .base = code->instrs.count};
  emitter.start = ARENA_ARRAY(scratch, uint32_t, count + 1);
  emitter.table = ARENA_ARRAY(scratch, uint32_t, count);
  emitter.drop_jump = ARENA_ARRAY(scratch, bool, count);
  emitter.meet = cfg_post_dominators(&cfg, scratch, function);
  lay_out(&emitter);
  for (uint32_t b = 0; b < count; b++) {
    const MirBlock *block = &function->blocks.items[b];
    for (uint32_t i = 0; i < block->instrs.count; i++) {
      bool dropped = emitter.drop_jump[b] && i + 1 == block->instrs.count;
      if (!dropped && !is_idle(work, &block->instrs.items[i])) emit_instr(&emitter, code_arena, b, &block->instrs.items[i]);
    }
  }
  for (uint32_t b = 0; b < count; b++) {
    const MirBlock *block = &function->blocks.items[b];
    for (uint32_t t = 0; t < block->indirect_targets.count; t++) {
      Instr *jump = append(code, code_arena, OP_BRA, block->instrs.items[block->instrs.count - 1].line);
      jump->imm = emitter.base + emitter.start[block->indirect_targets.items[t]];
    }
  }
  if (code->instrs.count < NO_RECONVERGE) return true;
  return diags_add(work->diags, work->module->file, 0, 0, "the program has more than %u instructions", (unsigned)NO_RECONVERGE);
}
