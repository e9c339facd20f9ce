// The frame: places for values in local memory, frame pointers, and what calls need. Every value
// that lives across a call is stored before it and loaded after it; each virtual register has
// one place, which a later spill of it shares.
#include "program/mir_internal.h"

bool work_is_temp(const Work *work, VregId vreg) { return vreg < work->is_temp.count && work->is_temp.items[vreg]; }

VregId work_temp(Work *work, unsigned width) {
  VregId vreg = mir_vreg(work->function, work->arena, width);
  while (work->is_temp.count <= vreg) VEC_PUSH(&work->is_temp, work->arena);
  work->is_temp.items[vreg] = true;
  return vreg;
}

uint32_t work_home(Work *work, VregId vreg) {
  while (work->homes.count <= vreg) VEC_PUSH(&work->homes, work->arena);
  if (work->homes.items[vreg] == 0) {
    uint32_t bytes = 4 * max_u32(1, work->function->vregs.items[vreg].width);
    work->frame_bytes = (uint32_t)align_up(work->frame_bytes, min_u32(bytes, 16));
    work->homes.items[vreg] = work->frame_bytes + 1;
    work->frame_bytes += bytes;
  }
  return work->homes.items[vreg] - 1;
}

void work_need_frame(Work *work) {
  MirFunction *function = work->function;
  if (function->frame_pointer == VREG_NONE) function->frame_pointer = mir_vreg(function, work->arena, 1);
  if (!function->is_kernel) work->reserve_r0 = true;
}

MirInstr *push_instr(Work *work, MirInstrVec *out, Op op, uint32_t line) {
  MirInstr *instr = VEC_PUSH(out, work->arena);
  mir_rest(instr);
  instr->op = (uint16_t)op;
  instr->line = line;
  return instr;
}

// One access of 1, 2 or 4 registers; four go as two pairs.
static MirInstr *push_access(Work *work, MirInstrVec *out, bool load, Vref d, unsigned registers, uint32_t offset, uint32_t line) {
  static const Op ops[2][2] = {{OP_ST_LOCAL_B32, OP_ST_LOCAL_B64}, {OP_LD_LOCAL_B32, OP_LD_LOCAL_B64}};
  MirInstr *instr = push_instr(work, out, ops[load][registers > 1], line);
  instr->a = VREF(work->function->frame_pointer);
  instr->imm = offset;
  instr->d[0] = d;
  instr->hidden = true;
  if (registers == 4) {
    instr->mods = 1u << MOD_VECTOR_SHIFT;
    instr->d[1] = (Vref){d.vreg, (uint8_t)(d.part + 2)};
  }
  return instr;
}

void push_frame_load(Work *work, MirInstrVec *out, Vref d, unsigned registers, uint32_t offset, uint32_t line) {
  for (unsigned k = 0; k < registers; k += 4) {
    push_access(work, out, true, (Vref){d.vreg, (uint8_t)(d.part + k)}, registers - k < 4 ? registers : 4, offset + 4 * k, line);
    work->spill_loads++;
  }
}

void push_frame_store(Work *work, MirInstrVec *out, Vref d, unsigned registers, uint32_t offset, const MirInstr *like) {
  for (unsigned k = 0; k < registers; k += 4) {
    MirInstr *store =
        push_access(work, out, false, (Vref){d.vreg, (uint8_t)(d.part + k)}, registers - k < 4 ? registers : 4, offset + 4 * k, like->line);
    store->guard = like->guard;
    store->guard_negated = like->guard_negated;
    work->spill_stores++;
  }
}

// ---- Calls ---------------------------------------------------------------------------------------------
void push_predicate_to_register(Work *work, MirInstrVec *out, Vref d, Vref predicate, uint32_t line) {
  MirInstr *instr = push_instr(work, out, OP_SELP_B32, line);
  instr->d[0] = d;
  instr->select = SELECT_IMM_A;
  instr->imm = 1;
  instr->ps = predicate;
}

void push_register_to_predicate(Work *work, MirInstrVec *out, Vref predicate, Vref a, uint32_t line) {
  MirInstr *instr = push_instr(work, out, OP_SETP_NE_B32, line);
  instr->pd[0] = predicate;
  instr->a = a;
}

static void push_frame_step(Work *work, MirInstrVec *out, bool back, uint32_t line) {
  bool is_kernel = work->function->is_kernel;
  if (is_kernel && back) return; // a kernel's frame starts at 0 whatever r0 holds
  MirInstr *add = push_instr(work, out, OP_ADD_B32, line);
  add->d[0] = VREF(is_kernel ? work->callee_frame : work->function->frame_pointer);
  add->a = VREF(work->function->frame_pointer);
  add->select = SELECT_IMM_B;
  add->imm = back ? 0u - MIR_ARGUMENTS : MIR_ARGUMENTS;
}

// What lives across the call at hand, unit by unit.
static void push_saves(Work *work, const LiveScan *scan, MirInstrVec *out, const MirInstr *call, bool restore) {
  const Live *live = scan->live;
  MirInstr plain;
  mir_rest(&plain);
  plain.line = call->line;
  for (unsigned kind = 0; kind < 2; kind++) {
    for (uint32_t i = 0; i < scan->count[kind]; i++) {
      uint32_t unit = scan->dense[kind][i];
      VregId v = live->vreg_of[unit];
      if (v == work->function->frame_pointer) continue;
      Vref ref = {v, (uint8_t)(unit - live->unit_base[v])};
      uint32_t offset = work_home(work, v) + 4u * ref.part;
      Vref word = kind == 1 ? VREF(work_temp(work, 1)) : ref;
      if (kind == 1 && !restore) push_predicate_to_register(work, out, word, ref, call->line);
      if (restore) push_frame_load(work, out, word, 1, offset, call->line);
      else push_frame_store(work, out, word, 1, offset, &plain);
      if (kind == 1 && restore) push_register_to_predicate(work, out, ref, word, call->line);
    }
  }
}

static bool is_call(const MirInstr *instr) { return (mir_flags(instr) & IT_CALLS) != 0; }

// Copies of the block's instructions from `from` to `to`, in order.
static void push_range(Work *work, MirInstrVec *out, const MirBlock *block, uint32_t from, uint32_t to) {
  for (uint32_t i = from; i < to; i++) *VEC_PUSH(out, work->arena) = block->instrs.items[i];
}

// Blocks are walked upwards; each call's surroundings are kept until the block is put together.
typedef struct CallSite {
  uint32_t at;
  MirInstrVec before, after;
} CallSite;

static void lower_block_calls(Work *work, LiveScan *scan, uint32_t b, Arena *scratch) {
  MirBlock *block = &work->function->blocks.items[b];
  VEC(CallSite) sites = {0};
  live_scan_begin(scan, b);
  for (uint32_t i = block->instrs.count; i-- > 0;) {
    MirInstr *instr = &block->instrs.items[i];
    if (is_call(instr)) {
      CallSite *site = VEC_PUSH(&sites, scratch);
      site->at = i;
      push_saves(work, scan, &site->before, instr, false);
      push_frame_step(work, &site->before, false, instr->line);
      push_frame_step(work, &site->after, true, instr->line);
      push_saves(work, scan, &site->after, instr, true);
    }
    Operand operands[MAX_OPERANDS];
    unsigned count = mir_operands(instr, operands);
    live_scan_step(scan, instr, operands, count);
  }
  if (sites.count == 0) return;
  MirInstrVec out = {0};
  uint32_t from = 0;
  for (uint32_t s = sites.count; s-- > 0;) {
    CallSite *site = &sites.items[s];
    push_range(work, &out, block, from, site->at);
    for (uint32_t i = 0; i < site->before.count; i++) *VEC_PUSH(&out, work->arena) = site->before.items[i];
    *VEC_PUSH(&out, work->arena) = block->instrs.items[site->at];
    for (uint32_t i = 0; i < site->after.count; i++) *VEC_PUSH(&out, work->arena) = site->after.items[i];
    from = site->at + 1;
  }
  push_range(work, &out, block, from, block->instrs.count);
  block->instrs.items = out.items;
  block->instrs.count = out.count;
  block->instrs.capacity = out.capacity;
}

void mir_lower_calls(Work *work) {
  MirFunction *function = work->function;
  for (uint32_t b = 0; b < function->blocks.count; b++) {
    for (uint32_t i = 0; i < function->blocks.items[b].instrs.count; i++)
      work->has_calls |= is_call(&function->blocks.items[b].instrs.items[i]);
  }
  if (!work->has_calls) return;
  work_need_frame(work);
  work->reserve_r0 = true;
  if (function->is_kernel) work->callee_frame = mir_vreg(function, work->arena, 1);
  Arena *scratch = arena_new();
  Cfg cfg;
  Live live;
  LiveScan scan;
  cfg_build(&cfg, scratch, function);
  live_build(&live, scratch, function, &cfg);
  live_scan_init(&scan, scratch, &live);
  for (uint32_t b = 0; b < function->blocks.count; b++) lower_block_calls(work, &scan, b, scratch);
  arena_free(scratch);
}
