// Makes an instruction ready for the functional loop: offsets of its rows, constants spread over 32 lanes, the
// function that carries it out. Done once per launch for each instruction that is met.
#include "machine/functional/functional.h"
#include "machine/parts/legal.h"

// Every instruction has at most one immediate or constant operand, of at most two registers.
static uint32_t add_constant(Runner *run, uint64_t value, unsigned registers) {
  uint32_t offset = run->constant_rows * WARP_LANES;
  for (unsigned lane = 0; lane < WARP_LANES; lane++) row_set(run->constants + offset, lane, registers, value);
  run->constant_rows += registers;
  return offset;
}

// c[bank][offset]; bytes outside the bank read zero, as on hardware.
static uint64_t bank_value(const Runner *run, uint32_t reference, unsigned bytes) {
  unsigned bank = reference >> 24;
  uint32_t offset = reference & 0xFFFFFF;
  uint8_t data[8] = {0};
  if (bank >= BANK_COUNT) return 0;
  uint32_t size = run->view.bank_bytes[bank];
  for (unsigned i = 0; i < bytes && i < sizeof data; i++) {
    if (offset + i < size) data[i] = run->view.banks[bank][offset + i];
  }
  uint64_t value;
  memcpy(&value, data, sizeof value);
  return value;
}

static unsigned type_bytes(TypeId type) { return (type_info[type].bits + 7u) / 8u; }

typedef struct Source {
  uint32_t offset;
  uint8_t base;
} Source;

// Operand 0, 1, 2 = a, b, c.
static Source source_of(Runner *run, const Instr *instr, unsigned operand, uint8_t reg, TypeId type) {
  unsigned registers = type_info[type].registers == 2 ? 2 : 1;
  if (instr->select == SELECT_IMM_A + operand) return (Source){add_constant(run, imm_value(type, instr->imm), registers), BASE_CONSTANTS};
  if (instr->select == SELECT_CONST_A + operand) {
    return (Source){add_constant(run, bank_value(run, instr->imm, type_bytes(type)), registers), BASE_CONSTANTS};
  }
  if (reg == REG_ZERO || type == TYPE_pred) return (Source){0, BASE_CONSTANTS};
  return (Source){(uint32_t)reg * WARP_LANES, BASE_REGISTERS};
}

static void prepare_sources(Runner *run, Step *step, const Instr *instr, const OpInfo *info) {
  TypeId address = step->wide ? TYPE_u64 : TYPE_u32;
  bool has_address = info->kind == KIND_ATOMIC || info->kind == KIND_LOAD || info->kind == KIND_STORE;
  Source a = source_of(run, instr, 0, instr->a, has_address ? address : info->a);
  Source b = source_of(run, instr, 1, instr->b, info->b);
  Source c = source_of(run, instr, 2, instr->c, info->c);
  if ((info->flags & IT_MEMBER_MASK) != 0 && (instr->mods & MOD_FULL_MASK) != 0) {
    Source ones = {ZERO_ROWS * WARP_LANES, BASE_CONSTANTS};
    if (info->c != TYPE_none) c = ones;
    else if (info->b != TYPE_none) b = ones;
    else a = ones;
  }
  step->a = a.offset, step->a_base = a.base;
  step->b = b.offset, step->b_base = b.base;
  step->c = c.offset, step->c_base = c.base;
}

static void prepare_destinations(const Runner *run, Step *step, const Instr *instr, const OpInfo *info) {
  bool is_source = (info->flags & IT_DATA_IN) != 0;
  uint32_t zero = (run->layout.register_rows - (is_source ? RZ_ROWS : 2 * RZ_ROWS)) * WARP_LANES;
  for (unsigned k = 0; k < 4; k++) step->d[k] = instr->d[k] == REG_ZERO ? zero : (uint32_t)instr->d[k] * WARP_LANES;
  step->guard = instr->guard;
  step->guard_flip = instr->guard_negated ? UINT32_MAX : 0;
  step->ps = instr->ps;
  step->ps_flip = instr->ps_negated ? UINT32_MAX : 0;
  step->pa = info->a == TYPE_pred && instr->a < PRED_TRUE ? instr->a : PRED_TRUE;
  for (unsigned k = 0; k < 2; k++) step->pd[k] = instr->pd[k] == PRED_TRUE ? PREDICATE_SINK : instr->pd[k];
}

static uint8_t memory_stat(const OpInfo *info) {
  bool load = info->kind == KIND_LOAD;
  switch (info->space) {
  case SPACE_GENERIC:
  case SPACE_GLOBAL: return load ? STAT_LOADS_GLOBAL : STAT_STORES_GLOBAL;
  case SPACE_SHARED: return load ? STAT_LOADS_SHARED : STAT_STORES_SHARED;
  case SPACE_LOCAL: return load ? STAT_LOADS_LOCAL : STAT_STORES_LOCAL;
  default: return STAT_WARP_INSTRUCTIONS;
  }
}

static StepKind kind_of(const OpInfo *info) {
  bool predicates =
      (info->flags & (IT_CARRY_IN | IT_CARRY_OUT | IT_PRED_IN | IT_PRED_OUT)) != 0 || info->d == TYPE_pred || info->a == TYPE_pred;
  switch (info->kind) {
  case KIND_ALU: return predicates ? STEP_PREDICATED : STEP_ALU;
  case KIND_LOAD: return STEP_LOAD;
  case KIND_STORE: return STEP_STORE;
  case KIND_WARP: return STEP_WARP;
  case KIND_MATRIX: return info->space == SPACE_NONE ? STEP_WARP : STEP_SPECIAL;
  case KIND_CONTROL: return (info->flags & IT_BRANCH) != 0 && (info->flags & IT_INDIRECT) == 0 ? STEP_BRANCH : STEP_SPECIAL;
  default: return STEP_SPECIAL;
  }
}

static uint8_t stat_of(const OpInfo *info) {
  switch (info->kind) {
  case KIND_LOAD:
  case KIND_STORE: return memory_stat(info);
  case KIND_ATOMIC: return STAT_ATOMICS;
  case KIND_TEXTURE: return STAT_TEXTURE_FETCHES;
  case KIND_MATRIX:
    if (info->space == SPACE_NONE) return STAT_WARP_INSTRUCTIONS;
    if ((info->flags & IT_READS_MEMORY) != 0) return info->space == SPACE_SHARED ? STAT_LOADS_SHARED : STAT_LOADS_GLOBAL;
    return info->space == SPACE_SHARED ? STAT_STORES_SHARED : STAT_STORES_GLOBAL;
  default: return STAT_WARP_INSTRUCTIONS;
  }
}

void step_prepare(Runner *run, uint32_t pc) {
  Step *step = &run->steps[pc];
  if (pc >= run->program->code_count) {
    *step = (Step){.kind = STEP_OUTSIDE, .guard = PRED_TRUE};
    return;
  }
  Instr fetched; // from the word itself: `decoded` is a memo for those who know that it is legal
  if (!instr_decode(run->program->code[pc], &fetched) || !legal_for(&fetched, run->layout.register_rows - 2 * RZ_ROWS)) {
    *step = (Step){.kind = STEP_ILLEGAL, .guard = PRED_TRUE};
    return;
  }
  const Instr *instr = &fetched;
  const OpInfo *info = &op_info[instr->op];
  *step = (Step){.kind = (uint8_t)kind_of(info), .function = run->functions[instr->op], .op = instr->op, .mods = instr->mods};
  step->stat = stat_of(info);
  step->imm = instr->imm;
  step->reconverge = instr->reconverge;
  step->target = min_u32(instr->imm, run->program->code_count);
  step->space = (uint8_t)info->space;
  step->wide = (info->space == SPACE_GENERIC || info->space == SPACE_GLOBAL) && (instr->mods & MOD_ADDRESS32) == 0;
  step->element_bytes = (uint8_t)type_bytes(info->kind == KIND_ATOMIC ? info->a : info->d);
  step->elements = info->kind == KIND_LOAD || info->kind == KIND_STORE ? (uint8_t)mods_vector_count(instr->mods) : 1;
  step->sign_extend = info->d == TYPE_s8 || info->d == TYPE_s16;
  prepare_sources(run, step, instr, info);
  prepare_destinations(run, step, instr, info);
}
