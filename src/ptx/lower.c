// Lowering of one function: its registers, its blocks, the walk over its statements, and the
// generic path on which an instruction is what its row says.
#include "ptx/lower.h"

#include <stdio.h>

// ---- Complaints --------------------------------------------------------------------------------
bool complain(Fn *fn, PtxPlace place, const char *format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  // The parser has said already what is wrong here.
  const Diags *diags = fn->lower->diags;
  const char *file = fn->lower->modules[fn->module]->file;
  for (uint32_t i = 0; i < fn->lower->parse_errors; i++) {
    const Diag *diag = &diags->items[i];
    if ((uint32_t)diag->line == place.line && (uint32_t)diag->column == place.column && diag->file && !strcmp(diag->file, file))
      return false;
  }
  return diags_add(fn->lower->diags, fn->lower->modules[fn->module]->file, (int)place.line, (int)place.column, "%s", text);
}

bool unsupported(Fn *fn, const PtxInstr *instr) {
  const char *nearest = opcode_nearest(fn->lower, instr->text);
  if (nearest) {
    return complain(fn, instr->place, "unsupported instruction '%.*s' (nearest: '%s')", (int)instr->text.length, instr->text.at, nearest);
  }
  return complain(fn, instr->place, "unsupported instruction '%.*s'", (int)instr->text.length, instr->text.at);
}

bool expect_operands(Fn *fn, const PtxInstr *instr, uint32_t least, uint32_t most) {
  if (instr->operand_count >= least && instr->operand_count <= most) return true;
  if (least == most) {
    return complain(fn, instr->place, "'%.*s' takes %u operand%s, not %u", (int)instr->text.length, instr->text.at, least,
                    least == 1 ? "" : "s", instr->operand_count);
  }
  return complain(fn, instr->place, "'%.*s' takes %u to %u operands, not %u", (int)instr->text.length, instr->text.at, least, most,
                  instr->operand_count);
}

// ---- Opcodes -----------------------------------------------------------------------------------
bool has_part(const PtxInstr *instr, const char *text) {
  for (uint32_t i = 1; i < instr->part_count; i++) {
    if (slice_is(instr->parts[i], text)) return true;
  }
  return false;
}

PtxType last_type(const PtxInstr *instr) {
  PtxType type;
  for (uint32_t i = instr->part_count; i-- > 1;) {
    if (ptx_type_parse(instr->parts[i], &type)) return type;
  }
  return PTX_NO_TYPE;
}

Op row(Fn *fn, const char *text) {
  Op op = OP_COUNT;
  bool found = op_find(fn->lower->index, slice_of(text), &op);
  ASSERT(found);
  return op;
}

// ---- Emission ----------------------------------------------------------------------------------
MirInstr *emit(Fn *fn, Op op) {
  MirInstr *instr = mir_emit(fn->mir, fn->lower->arena, fn->block);
  instr->op = (uint16_t)op;
  instr->line = fn->instr ? fn->instr->place.line : 0;
  return instr;
}

MirInstr *emit_guarded(Fn *fn, Op op) {
  Vref guard = VREF_NONE;
  if (fn->instr && fn->instr->has_guard) guard = register_ref(fn, fn->instr->guard, 0);
  MirInstr *instr = emit(fn, op);
  instr->guard = guard;
  instr->guard_negated = guard.vreg != VREG_NONE && fn->instr->guard_negated;
  return instr;
}

VregId temp(Fn *fn, unsigned width) { return mir_vreg(fn->mir, fn->lower->arena, width); }

VregId frame_pointer(Fn *fn) {
  if (fn->mir->frame_pointer == VREG_NONE) fn->mir->frame_pointer = temp(fn, 1);
  return fn->mir->frame_pointer;
}

void start_block(Fn *fn) {
  fn->block = fn->mir->blocks.count;
  (void)VEC_PUSH(&fn->mir->blocks, fn->lower->arena);
}

uint32_t new_label(Fn *fn) {
  *(uint32_t *)VEC_PUSH(&fn->label_blocks, fn->lower->scratch) = 0;
  return fn->label_blocks.count - 1;
}

void place_label(Fn *fn, uint32_t label) {
  start_block(fn);
  fn->label_blocks.items[label] = fn->block;
}

// ---- The generic path: operands in the order d, a, b, c ----------------------------------------------
// Whether a register has the width that the instruction's operand needs.
static bool check_width(Fn *fn, const Opcode *opcode, const PtxOperand *operand, TypeId type) {
  if (operand->kind != PTX_REG) return true;
  unsigned needed = type_info[type].bits, bits = fn->registers[operand->reg].bits;
  if (opcode->narrow_bits && needed == 32 && bits == opcode->narrow_bits) return true;
  if (bits == needed || (needed == 8 && bits > 8 && bits <= 32)) return true;
  const PtxRegister *reg = &fn->ptx->registers.items[operand->reg];
  return complain(fn, operand->place, "'%.*s' is a .%s register, but '%.*s' needs %u bits here", (int)reg->name.length, reg->name.at,
                  ptx_type_text(reg->type), (int)fn->instr->text.length, fn->instr->text.at, needed);
}

static bool write_destination(Fn *fn, const Opcode *opcode, const PtxOperand *operand, MirInstr *out) {
  const OpInfo *info = &op_info[opcode->op];
  const PtxOperand *predicate = NULL;
  unsigned width = type_info[info->d].registers;
  if (operand->kind == PTX_PAIR && info->flags & IT_PRED_OUT) {
    predicate = &operand->items[1];
    operand = &operand->items[0];
  }
  if (width == 0) {
    if (predicate && !write_predicate(fn, predicate, &out->pd[1])) return false;
    return write_predicate(fn, operand, &out->pd[0]);
  }
  if (predicate && !write_predicate(fn, predicate, &out->pd[0])) return false;
  return check_width(fn, opcode, operand, info->d) && write_register(fn, operand, width, &out->d[0]);
}

// The PTX type by which an operand's literal is read.
static PtxType literal_type(const Opcode *opcode, TypeId type) {
  if (ptx_type_bits(opcode->type) == type_info[type].bits || opcode->narrow_bits) return opcode->type;
  switch (type_info[type].bits) {
  case 64: return type == TYPE_f64 ? PTX_F64 : PTX_B64;
  case 32: return type == TYPE_f32 ? PTX_F32 : PTX_B32;
  case 16: return PTX_B16;
  default: return PTX_B32;
  }
}

// A predicate in an operand that has no room for a negation.
static bool read_source_predicate(Fn *fn, const PtxOperand *operand, Value *value) {
  if (!read_predicate(fn, operand, value)) return false;
  if (!value->negated) return true;
  Vref inverse = VREF(temp(fn, 0));
  MirInstr *out = emit(fn, row(fn, "not.pred"));
  out->pd[0] = inverse;
  out->ps = value->ref;
  *value = (Value){.in_register = true, .ref = inverse};
  return true;
}

bool read_source(Fn *fn, const Opcode *opcode, const PtxOperand *operand, unsigned source, Sources *sources) {
  const OpInfo *info = &op_info[opcode->op];
  TypeId type = source == 0 ? info->a : source == 1 ? info->b : info->c;
  sources->used[source] = true;
  if (type == TYPE_pred) return read_source_predicate(fn, operand, &sources->value[source]);
  if (!read_value(fn, operand, literal_type(opcode, type), &sources->value[source])) return false;
  return check_width(fn, opcode, operand, type);
}

// CC.CF: one predicate for the whole function.
static VregId carry_flag(Fn *fn) {
  if (fn->carry == VREG_NONE) fn->carry = temp(fn, 0);
  return fn->carry;
}

// Targets before sm_20 flush subnormal f32 numbers always.
uint16_t legacy_flush(const Fn *fn, const Opcode *opcode) {
  bool old = fn->lower->modules[fn->module]->sm < 20 && opcode->type == PTX_F32;
  return old ? MOD_FTZ & op_legal_mods(opcode->op) : 0;
}

static unsigned source_count(const OpInfo *info) {
  return info->c != TYPE_none ? 3 : info->b != TYPE_none ? 2 : info->a != TYPE_none ? 1 : 0;
}

bool lower_row(Fn *fn, const PtxInstr *instr, const Opcode *opcode) {
  const OpInfo *info = &op_info[opcode->op];
  unsigned count = source_count(info);
  bool writes = info->d != TYPE_none || info->flags & IT_PRED_OUT;
  bool selector = (info->flags & IT_PRED_IN) != 0;
  uint32_t expected = writes + count + selector;
  if (!expect_operands(fn, instr, expected, expected)) return false;
  MirInstr shape = {.pd = {VREF_NONE, VREF_NONE}, .ps = VREF_NONE, .d = {VREF_NONE, VREF_NONE, VREF_NONE, VREF_NONE}};
  Sources sources = {0};
  Value predicate = {.ref = VREF_NONE};
  bool good = !writes || write_destination(fn, opcode, &instr->operands[0], &shape);
  for (unsigned source = 0; source < count; source++) {
    good = read_source(fn, opcode, &instr->operands[writes + source], source, &sources) && good;
  }
  if (selector) good = read_predicate(fn, &instr->operands[expected - 1], &predicate) && good;
  if (!good) return false;
  settle_sources(fn, opcode->op, &sources);
  VregId carry = info->flags & (IT_CARRY_IN | IT_CARRY_OUT) ? carry_flag(fn) : VREG_NONE;
  MirInstr *out = emit_guarded(fn, opcode->op);
  out->mods = opcode->mods | legacy_flush(fn, opcode);
  out->d[0] = shape.d[0];
  out->pd[0] = shape.pd[0];
  out->pd[1] = shape.pd[1];
  out->ps = predicate.ref;
  out->ps_negated = predicate.negated;
  put_sources(out, &sources);
  if (info->flags & IT_CARRY_IN) out->ps = VREF(carry);
  if (info->flags & IT_CARRY_OUT) out->pd[0] = VREF(carry);
  return true;
}

bool lower_instr_generic(Fn *fn, const PtxInstr *instr) {
  Opcode opcode;
  if (!opcode_resolve(fn->lower, instr->parts, instr->part_count, &opcode)) return unsupported(fn, instr);
  return lower_row(fn, instr, &opcode);
}

// ---- Registers ---------------------------------------------------------------------------------
static void count_definitions(Fn *fn, const PtxOperand *operand, uint32_t statement) {
  if (operand->kind == PTX_REG) {
    RegisterState *state = &fn->registers[operand->reg];
    if (!state->definitions++) state->first_definition = statement;
  } else if (operand->kind == PTX_VECTOR || operand->kind == PTX_PAIR || operand->kind == PTX_LIST) {
    for (uint32_t i = 0; i < operand->item_count; i++) count_definitions(fn, &operand->items[i], statement);
  }
}

static void prepare_registers(Fn *fn) {
  const PtxFunction *ptx = fn->ptx;
  fn->registers = ARENA_ARRAY(fn->lower->scratch, RegisterState, ptx->registers.count + 1);
  for (uint32_t i = 0; i < ptx->registers.count; i++) {
    PtxType type = ptx->registers.items[i].type;
    fn->registers[i].ref = VREF_NONE;
    fn->registers[i].width = (uint8_t)type_width(type);
    fn->registers[i].bits = (uint16_t)ptx_type_bits(type);
  }
  // Operand 0 is written or, where it is only read, counted as if it were: that only forgoes a fact.
  for (uint32_t i = 0; i < ptx->statements.count; i++) {
    const PtxStatement *statement = &ptx->statements.items[i];
    if (statement->kind == PTX_INSTR && statement->instr.operand_count) count_definitions(fn, &statement->instr.operands[0], i);
  }
}

// ---- Parameters, variables, directives ------------------------------------------------------------
void place_in_frame(Fn *fn, const PtxVariable *variable) {
  uint32_t align = variable->align ? variable->align : 1;
  uint32_t offset = (uint32_t)align_up(fn->mir->local_bytes, align);
  fn->mir->local_bytes = offset + (uint32_t)variable->bytes;
  fn->mir->local_align = max_u32(fn->mir->local_align, align);
  home_set(&fn->homes, variable, (Home){.kind = HOME_FRAME, .offset = offset});
}

static void add_params(Fn *fn) {
  const PtxSignature *signature = &fn->ptx->signature;
  uint32_t count = signature->params.count + signature->results.count;
  uint32_t *offsets = ARENA_ARRAY(fn->lower->scratch, uint32_t, count + 1);
  uint32_t param_bytes, all_bytes;
  layout_signature(signature, offsets, &param_bytes, &all_bytes);
  for (uint32_t i = 0; i < count; i++) {
    bool result = i >= signature->params.count;
    const PtxVariable *variable = result ? &signature->results.items[i - signature->params.count] : &signature->params.items[i];
    home_set(&fn->homes, variable, (Home){.kind = fn->ptx->is_entry ? HOME_PARAM : HOME_FRAME, .offset = offsets[i]});
    if (result) continue;
    Param *param = VEC_PUSH(&fn->mir->params, fn->lower->arena);
    param->name = arena_copy_text(fn->lower->arena, variable->name.at, variable->name.length);
    param->offset = offsets[i];
    param->bytes = (uint32_t)variable->bytes;
    param->align = variable->align;
    bool integer = variable->type == PTX_U64 || variable->type == PTX_B64 || variable->type == PTX_S64;
    if (fn->lower->mir->address_bits == 32) integer = variable->type == PTX_U32 || variable->type == PTX_B32;
    param->is_pointer = variable->is_pointer || (integer && !variable->is_array);
  }
  fn->mir->param_bytes = fn->ptx->is_entry ? param_bytes : all_bytes;
  if (!fn->ptx->is_entry) fn->mir->local_bytes = all_bytes;
  fn->mir->local_align = 16;
}

static void add_variables(Fn *fn) {
  for (uint32_t i = 0; i < fn->ptx->variables.count; i++) {
    const PtxVariable *variable = fn->ptx->variables.items[i];
    if (variable->space == PTX_SPACE_LOCAL) {
      place_in_frame(fn, variable);
    } else if (variable->space != PTX_SPACE_PARAM) {
      add_static_variable(fn->lower, fn->module, variable);
    }
  }
  place_arguments(fn);
}

static void copy_directives(Fn *fn) {
  fn->mir->max_registers = fn->ptx->max_registers;
  fn->mir->min_blocks = fn->ptx->min_blocks;
  memcpy(fn->mir->max_threads, fn->ptx->max_threads, sizeof fn->mir->max_threads);
  memcpy(fn->mir->cluster, fn->ptx->cluster, sizeof fn->mir->cluster);
  memcpy(fn->mir->required_threads, fn->ptx->required_threads, sizeof fn->mir->required_threads);
}

// ---- The body ----------------------------------------------------------------------------------
static void lower_statement(Fn *fn, const PtxStatement *statement) {
  if (statement->kind == PTX_LABEL_HERE) {
    place_label(fn, statement->label);
    return;
  }
  if (statement->kind != PTX_INSTR) return;
  const PtxInstr *instr = &statement->instr;
  fn->instr = instr;
  if (instr->has_guard && fn->registers[instr->guard].width != 0) {
    if (!fn->lower->parse_errors) complain(fn, instr->place, "the guard must be a predicate");
    return;
  }
  Handler handler = handler_find(instr->parts[0]);
  (handler ? handler : lower_instr_generic)(fn, instr);
}

// Branch targets were labels so far.
static void resolve_labels(Fn *fn) {
  for (uint32_t b = 0; b < fn->mir->blocks.count; b++) {
    MirBlock *block = &fn->mir->blocks.items[b];
    for (uint32_t i = 0; i < block->instrs.count; i++) {
      MirInstr *instr = &block->instrs.items[i];
      uint32_t flags = op_info[instr->op].flags;
      if (flags & IT_BRANCH && !(flags & IT_INDIRECT)) instr->target = fn->label_blocks.items[instr->target];
    }
    for (uint32_t i = 0; i < block->indirect_targets.count; i++) {
      block->indirect_targets.items[i] = fn->label_blocks.items[block->indirect_targets.items[i]];
    }
  }
}

void lower_function(Lower *lower, uint32_t function) {
  const LinkedFunction *linked = &lower->functions.items[function];
  Fn fn = {.lower = lower, .module = linked->module, .function = function, .ptx = linked->ptx, .carry = VREG_NONE};
  fn.mir = &lower->mir->functions.items[function];
  fn.homes.map.arena = lower->scratch;
  for (uint32_t i = 0; i < fn.ptx->labels.count; i++) (void)new_label(&fn);
  prepare_registers(&fn);
  copy_directives(&fn);
  add_params(&fn);
  add_variables(&fn);
  bind_tuples(&fn);
  start_block(&fn);
  lower_entry(&fn);
  for (uint32_t i = 0; i < fn.ptx->statements.count; i++) {
    fn.statement = i;
    lower_statement(&fn, &fn.ptx->statements.items[i]);
  }
  // A body that runs off its end returns.
  fn.instr = NULL;
  lower_return(&fn, false);
  resolve_labels(&fn);
}
