// Loads, stores and their addresses.
//
// A load from a constant place of the parameter or constant bank is a move from that bank, and its
// register then carries the constant as a fact. Parameters of device functions and arguments
// of calls lie in the frame, so their ld.param and st.param are local accesses.
#include "ptx/lower_async.h"

#include <stdio.h>

enum { MOST_REFERENCE = 1 << 24 }; // bytes of a bank that a reference can name

// ---- Addresses ---------------------------------------------------------------------------------
static bool has_wide_address(Space space) { return space == SPACE_GENERIC || space == SPACE_GLOBAL; }

void address_move(Address *address, int64_t bytes) { address->offset = (int64_t)((uint64_t)address->offset + (uint64_t)bytes); }

// An address by name. The space that the variable lives in decides where the instruction does not
// say it (ld.f32 %f, [name] of old PTX).
static bool name_address(Fn *fn, const PtxOperand *base, PtxSpace space, Address *address) {
  Home home;
  if (!base->variable || !variable_home(fn, base, &home)) {
    return base->variable ? false : complain(fn, base->place, "'%.*s' is no variable", (int)base->text.length, base->text.at);
  }
  address_move(address, base->addend);
  switch (home.kind) {
  case HOME_FRAME:
  case HOME_ARGUMENT:
    address->space = SPACE_LOCAL;
    address->base = VREF(frame_pointer(fn));
    address_move(address, (int64_t)home.offset + (home.kind == HOME_ARGUMENT ? MIR_ARGUMENTS : 0));
    return true;
  case HOME_SHARED: address->space = SPACE_SHARED; break;
  case HOME_PARAM:
  case HOME_CONST:
    address->space = home.kind == HOME_PARAM ? SPACE_PARAM : SPACE_CONST;
    address->constant = true;
    address->reference = (uint32_t)(home.kind == HOME_PARAM ? BANK_PARAM : BANK_CONST) << 24;
    break;
  default: {
    Value value = {.fact = {FACT_CONSTANT, 0, (uint32_t)BANK_SYMBOL << 24 | 8 * home.symbol}};
    unsigned width = fn->lower->mir->address_bits / 32;
    if (space == PTX_SPACE_NONE) address->space = SPACE_GLOBAL;
    address->base = value_register(fn, &value, width);
    address->address32 = width == 1;
    return true;
  }
  }
  address_move(address, home.offset);
  if (address->constant) address->reference |= (uint32_t)address->offset & (MOST_REFERENCE - 1);
  return true;
}

static void register_address(Fn *fn, const PtxOperand *base, Address *address) {
  const RegisterState *state = &fn->registers[base->reg];
  uint32_t reg = base->reg;
  if (!base->part && state->base_block == fn->block + 1) {
    address_move(address, state->base_offset);
    reg = state->base_register;
    state = &fn->registers[reg];
  }
  if (!base->part && state->fact.kind == FACT_IMMEDIATE && !has_wide_address(address->space)) {
    address_move(address, (int64_t)state->fact.bits);
    return;
  }
  address->base = register_ref(fn, reg, base->part ? base->part - 1u : 0);
  address->address32 = state->width == 1 || fn->lower->mir->address_bits == 32;
}

static Space machine_space(const Fn *fn, PtxSpace space) {
  switch (space) {
  case PTX_SPACE_GLOBAL: return SPACE_GLOBAL;
  case PTX_SPACE_SHARED: return SPACE_SHARED;
  case PTX_SPACE_LOCAL: return SPACE_LOCAL;
  case PTX_SPACE_CONST: return SPACE_CONST;
  case PTX_SPACE_PARAM: return fn->ptx->is_entry ? SPACE_PARAM : SPACE_LOCAL;
  default: return SPACE_GENERIC;
  }
}

bool read_address(Fn *fn, const PtxOperand *operand, PtxSpace space, Address *address) {
  *address = (Address){.space = machine_space(fn, space), .base = VREF_NONE};
  if (operand->kind != PTX_ADDRESS || operand->item_count != 1) {
    return complain(fn, operand->place, "an address in brackets is needed here");
  }
  const PtxOperand *base = &operand->items[0];
  address->offset = operand->addend;
  switch (base->kind) {
  case PTX_NAME: return name_address(fn, base, space, address);
  case PTX_INT: address_move(address, (int64_t)base->bits); return true;
  case PTX_REG:
    if (fn->registers[base->reg].width == 1 || fn->registers[base->reg].width == 2) {
      register_address(fn, base, address);
      return true;
    }
    break;
  default: break;
  }
  return complain(fn, base->place, "an address is a register, a variable or a number");
}

void settle_address(Fn *fn, Address *address) {
  if (address->offset == (int32_t)address->offset) return;
  Value offset = value_of_bits((uint64_t)address->offset);
  bool wide = has_wide_address(address->space) && !address->address32;
  if (!has_wide_address(address->space)) {
    address->offset = (int32_t)(uint32_t)address->offset;
    return;
  }
  VregId sum = temp(fn, wide ? 2 : 1);
  Value base = value_of_vref(address->base, wide ? 2 : 1);
  if (address->base.vreg == VREG_NONE) {
    move_value(fn, false, VREF(sum), wide ? 2 : 1, &offset);
  } else {
    emit_alu(fn, wide ? row(fn, "add.b64") : OP_ADD_B32, VREF(sum), &base, &offset, NULL);
  }
  address->base = VREF(sum);
  address->offset = 0;
}

Vref address_register(Fn *fn, Address *address) {
  if (address->offset == 0 && address->base.vreg != VREG_NONE) return address->base;
  bool wide = has_wide_address(address->space) && !address->address32;
  Value base = value_of_vref(address->base, wide ? 2 : 1), offset = value_of_bits((uint64_t)address->offset);
  VregId sum = temp(fn, wide ? 2 : 1);
  if (address->base.vreg == VREG_NONE) {
    move_value(fn, false, VREF(sum), wide ? 2 : 1, &offset);
  } else {
    emit_alu(fn, wide ? row(fn, "add.b64") : OP_ADD_B32, VREF(sum), &base, &offset, NULL);
  }
  address->base = VREF(sum);
  address->offset = 0;
  return address->base;
}

// ---- The parts of a memory opcode ------------------------------------------------------------------
typedef struct PartMeaning {
  const char *text;
  PtxSpace space;
  uint16_t mods;
  uint8_t vector;
} PartMeaning;
static const PartMeaning part_meanings[] = {
    {"global", PTX_SPACE_GLOBAL, 0, 0},
    {"shared", PTX_SPACE_SHARED, 0, 0},
    {"shared::cta", PTX_SPACE_SHARED, 0, 0},
    {"shared::cluster", PTX_SPACE_SHARED, 0, 0},
    {"local", PTX_SPACE_LOCAL, 0, 0},
    {"const", PTX_SPACE_CONST, 0, 0},
    {"param", PTX_SPACE_PARAM, 0, 0},
    {"param::entry", PTX_SPACE_PARAM, 0, 0},
    {"param::func", PTX_SPACE_PARAM, 0, 0},
    {"volatile", PTX_SPACE_NONE, MOD_VOLATILE, 0},
    {"relaxed", PTX_SPACE_NONE, MOD_VOLATILE, 0},
    {"acquire", PTX_SPACE_NONE, MOD_VOLATILE | MOD_ORDERED, 0},
    {"release", PTX_SPACE_NONE, MOD_VOLATILE | MOD_ORDERED, 0},
    {"acq_rel", PTX_SPACE_NONE, MOD_VOLATILE | MOD_ORDERED, 0},
    {"mmio", PTX_SPACE_NONE, MOD_VOLATILE, 0},
    {"cv", PTX_SPACE_NONE, MOD_VOLATILE, 0},
    {"wt", PTX_SPACE_NONE, MOD_VOLATILE, 0},
    {"cg", PTX_SPACE_NONE, MOD_CACHE_GLOBAL, 0},
    {"cs", PTX_SPACE_NONE, MOD_STREAMING, 0},
    {"lu", PTX_SPACE_NONE, MOD_STREAMING, 0},
    {"nc", PTX_SPACE_NONE, MOD_NON_COHERENT, 0},
    {"ca", PTX_SPACE_NONE, 0, 0},
    {"wb", PTX_SPACE_NONE, 0, 0},
    {"weak", PTX_SPACE_NONE, 0, 0},
    {"cta", PTX_SPACE_NONE, 0, 0},
    {"cluster", PTX_SPACE_NONE, 0, 0},
    {"gpu", PTX_SPACE_NONE, 0, 0},
    {"sys", PTX_SPACE_NONE, 0, 0},
    {"gl", PTX_SPACE_NONE, 0, 0},
    {"unified", PTX_SPACE_NONE, 0, 0},
    {"noftz", PTX_SPACE_NONE, 0, 0},
    {"v2", PTX_SPACE_NONE, 0, 2},
    {"v4", PTX_SPACE_NONE, 0, 4},
    {"v8", PTX_SPACE_NONE, 0, 8},
};

bool memory_part(Slice part, MemoryForm *form) {
  for (size_t i = 0; i < COUNT_OF(part_meanings); i++) {
    const PartMeaning *meaning = &part_meanings[i];
    if (!slice_is(part, meaning->text)) continue;
    if (meaning->space != PTX_SPACE_NONE) form->space = meaning->space;
    if (meaning->vector) form->vector = meaning->vector;
    form->mods |= meaning->mods;
    return true;
  }
  return slice_starts(part, "L1::") || slice_starts(part, "L2::") || slice_starts(part, "const[") || ptx_type_parse(part, &form->type);
}

static bool parse_memory(Fn *fn, const PtxInstr *instr, MemoryForm *form) {
  *form = (MemoryForm){.vector = 1};
  for (uint32_t i = 1; i < instr->part_count; i++) {
    if (is_async_part(instr, instr->parts[i])) continue;
    if (!memory_part(instr->parts[i], form)) return unsupported(fn, instr);
    if (slice_starts(instr->parts[i], "const[")) form->space = PTX_SPACE_CONST;
  }
  if (form->type == PTX_NO_TYPE || form->type == PTX_PRED) return unsupported(fn, instr);
  return true;
}

// ---- Elements ----------------------------------------------------------------------------------
// The registers of a vector operand, or the one register.
static uint32_t elements_of(const PtxOperand *operand, const PtxOperand **items) {
  if (operand->kind != PTX_VECTOR) {
    *items = operand;
    return 1;
  }
  *items = operand->items;
  return operand->item_count;
}

static const char *load_suffix(PtxType type, unsigned register_bits) {
  bool is_signed = type == PTX_S8 || type == PTX_S16;
  switch (ptx_type_bits(type)) {
  case 8: return is_signed ? "s8" : "u8";
  case 16: return is_signed && register_bits > 16 ? "s16" : "u16";
  case 32: return "b32";
  default: return "b64";
  }
}

static bool is_signed_type(PtxType type) { return type == PTX_S8 || type == PTX_S16 || type == PTX_S32 || type == PTX_S64; }

// What a load leaves undone in registers wider than its type: the upper half of a pair, and the
// bits above 16 of a sign-extended byte.
static void extend_loaded(Fn *fn, const RegisterState *state, Vref ref, PtxType type) {
  uint32_t bits = ptx_type_bits(type);
  Value low = value_of_vref(ref, 1);
  if (state->bits == 16 && type == PTX_S8) {
    Value mask = value_of_bits(0xFFFF);
    emit_alu_guarded(fn, row(fn, "and.b32"), ref, &low, &mask, NULL);
  }
  if (state->width != 2 || bits == 64) return;
  Value amount = value_of_bits(is_signed_type(type) ? 31 : 0), zero = value_of_bits(0);
  if (is_signed_type(type)) {
    emit_alu_guarded(fn, row(fn, "shr.s32"), vref_part(ref, 1), &low, &amount, NULL);
  } else {
    move_value(fn, true, vref_part(ref, 1), 1, &zero);
  }
}

static bool check_element(Fn *fn, const PtxOperand *item, PtxType type, bool is_load) {
  if (item->kind == PTX_SINK && is_load) return true;
  if (item->kind != PTX_REG) {
    if (is_load) return complain(fn, item->place, "the destination must be a register");
    return true;
  }
  const PtxRegister *reg = &fn->ptx->registers.items[item->reg];
  if (fn->registers[item->reg].width && fn->registers[item->reg].bits >= ptx_type_bits(type)) return true;
  return complain(fn, item->place, "'%.*s' is a .%s register, too narrow for .%s", (int)reg->name.length, reg->name.at,
                  ptx_type_text(reg->type), ptx_type_text(type));
}

static Op memory_row(Fn *fn, const char *base, Space space, const char *suffix) {
  char text[48];
  const char *dot = space == SPACE_GENERIC ? "" : ".";
  snprintf(text, sizeof text, "%s.%s%s%s", base, space == SPACE_GENERIC ? "" : space_text[space], dot, suffix);
  return row(fn, text);
}

static uint16_t vector_mods(unsigned count) { return (uint16_t)((count == 4 ? 2u : count == 2 ? 1u : 0u) << MOD_VECTOR_SHIFT); }

static void put_address(MirInstr *out, const Address *address) {
  out->a = address->base;
  out->imm = (uint32_t)(int32_t)address->offset;
  if (address->address32 && has_wide_address(address->space)) out->mods |= MOD_ADDRESS32;
}

// ---- Loads -------------------------------------------------------------------------------------
// A load from a constant place of a bank: moves, one per element.
static bool load_constants(Fn *fn, const MemoryForm *form, const PtxOperand *items, uint32_t count, const Address *address) {
  unsigned bytes = ptx_type_bits(form->type) / 8;
  for (uint32_t i = 0; i < count; i++) {
    if (items[i].kind == PTX_SINK) continue;
    Value value = {.fact = {FACT_CONSTANT, 0, address->reference + i * bytes}};
    const RegisterState *state = &fn->registers[items[i].reg];
    Vref ref = register_ref(fn, items[i].reg, items[i].part ? items[i].part - 1u : 0);
    move_value(fn, true, ref, bytes / 4, &value);
    extend_loaded(fn, state, ref, form->type);
    if (state->width == bytes / 4) set_fact(fn, &items[i], value.fact);
  }
  return true;
}

static void emit_load(Fn *fn, const MemoryForm *form, const PtxOperand *items, uint32_t count, Address *address) {
  unsigned register_bits = items[0].kind == PTX_REG ? fn->registers[items[0].reg].bits : 32;
  Vref refs[4] = {VREF_NONE, VREF_NONE, VREF_NONE, VREF_NONE};
  for (uint32_t i = 0; i < count; i++) {
    if (items[i].kind == PTX_REG) refs[i] = register_ref(fn, items[i].reg, items[i].part ? items[i].part - 1u : 0);
  }
  settle_address(fn, address);
  MirInstr *out = emit_guarded(fn, memory_row(fn, "ld", address->space, load_suffix(form->type, register_bits)));
  out->mods = (uint16_t)((form->mods & op_legal_mods((Op)out->op)) | vector_mods(count));
  out->hidden = form->space == PTX_SPACE_PARAM;
  memcpy(out->d, refs, sizeof refs);
  put_address(out, address);
  for (uint32_t i = 0; i < count; i++) {
    if (items[i].kind == PTX_REG) extend_loaded(fn, &fn->registers[items[i].reg], refs[i], form->type);
  }
}

// 128-bit registers: two 64-bit halves.
static bool move_b128(Fn *fn, const PtxInstr *instr, const MemoryForm *form, bool is_load, const PtxOperand *data, Address *address) {
  Vref ref;
  if (form->vector != 1) return unsupported(fn, instr);
  if (!write_register(fn, data, 4, &ref)) return false;
  settle_address(fn, address);
  MirInstr *out = emit_guarded(fn, memory_row(fn, is_load ? "ld" : "st", address->space, "b64"));
  out->mods = (uint16_t)((form->mods & op_legal_mods((Op)out->op)) | vector_mods(2));
  out->d[0] = ref;
  out->d[1] = vref_part(ref, 2);
  put_address(out, address);
  return true;
}

static bool check_elements(Fn *fn, const PtxInstr *instr, const MemoryForm *form, const PtxOperand *items, uint32_t count, bool is_load) {
  bool good = true;
  if (count != form->vector) {
    return complain(fn, items[0].place, "'%.*s' takes %u element%s, not %u", (int)instr->text.length, instr->text.at, form->vector,
                    form->vector == 1 ? "" : "s", count);
  }
  for (uint32_t i = 0; i < count; i++) good = check_element(fn, &items[i], form->type, is_load) && good;
  return good;
}

bool lower_load(Fn *fn, const PtxInstr *instr) {
  MemoryForm form;
  Address address;
  const PtxOperand *items;
  if (!parse_memory(fn, instr, &form) || !expect_operands(fn, instr, 2, 3)) return false;
  uint32_t count = elements_of(&instr->operands[0], &items);
  if (!read_address(fn, &instr->operands[1], form.space, &address)) return false;
  if (form.type == PTX_B128) return move_b128(fn, instr, &form, true, &instr->operands[0], &address);
  if (!check_elements(fn, instr, &form, items, count, true)) return false;
  unsigned bytes = ptx_type_bits(form.type) / 8;
  bool in_bank = address.offset >= 0 && address.offset <= MOST_REFERENCE - (int64_t)(count * bytes);
  if (address.constant && bytes >= 4 && address.offset % (int64_t)bytes == 0 && in_bank) {
    return load_constants(fn, &form, items, count, &address);
  }
  for (uint32_t i = 0; i < count; i += 4) {
    emit_load(fn, &form, items + i, min_u32(count - i, 4), &address);
    address_move(&address, 4 * (int64_t)bytes);
  }
  return true;
}

// ---- Stores ------------------------------------------------------------------------------------
static bool emit_store(Fn *fn, const MemoryForm *form, const PtxOperand *items, uint32_t count, Address *address) {
  static const char *const suffixes[] = {"b8", "b16", "b32", "b64"};
  unsigned bytes = ptx_type_bits(form->type) / 8;
  Vref refs[4] = {VREF_NONE, VREF_NONE, VREF_NONE, VREF_NONE};
  for (uint32_t i = 0; i < count; i++) {
    if (!read_register(fn, &items[i], form->type, bytes == 8 ? 2 : 1, &refs[i])) return false;
  }
  settle_address(fn, address);
  MirInstr *out = emit_guarded(fn, memory_row(fn, "st", address->space, suffixes[__builtin_ctz(bytes)]));
  out->mods = (uint16_t)((form->mods & op_legal_mods((Op)out->op)) | vector_mods(count));
  memcpy(out->d, refs, sizeof refs);
  put_address(out, address);
  return true;
}

// st, and st.async [address], value {, [mbarrier]}: the store is made at once, which the memory model allows.
bool lower_store(Fn *fn, const PtxInstr *instr) {
  MemoryForm form;
  Address address;
  const PtxOperand *items;
  if (instr->part_count > 1 && slice_is(instr->parts[1], "bulk")) return lower_fill(fn, instr);
  if (!parse_memory(fn, instr, &form) || !expect_operands(fn, instr, counts_at_barrier(instr) ? 3 : 2, 3)) return false;
  uint32_t count = elements_of(&instr->operands[1], &items);
  if (!read_address(fn, &instr->operands[0], form.space, &address)) return false;
  if (address.space == SPACE_CONST || address.space == SPACE_PARAM) {
    return complain(fn, instr->operands[0].place, "this memory is read-only");
  }
  if (form.type == PTX_B128) return move_b128(fn, instr, &form, false, &instr->operands[1], &address);
  if (!check_elements(fn, instr, &form, items, count, false)) return false;
  for (uint32_t i = 0; i < count; i += 4) {
    if (!emit_store(fn, &form, items + i, min_u32(count - i, 4), &address)) return false;
    address_move(&address, 4 * (int64_t)(ptx_type_bits(form.type) / 8));
  }
  return count_at_barrier(fn, instr, count * ptx_type_bits(form.type) / 8);
}
