// Whether a program is what the machine may rely on. Run after every pass that makes one, so that
// a wrong front end is found here and not as a strange result.
#include "program/program_internal.h"

uint8_t instr_operand(const Instr *instr, unsigned operand) {
  switch (operand) {
  case OPERAND_A: return instr->a;
  case OPERAND_B: return instr->b;
  case OPERAND_C: return instr->c;
  case OPERAND_PS: return instr->ps;
  case OPERAND_GUARD: return instr->guard;
  case OPERAND_PD:
  case OPERAND_PD + 1: return instr->pd[operand - OPERAND_PD];
  default: return instr->d[operand & 3];
  }
}

bool instr_operand_used(const Instr *instr, const OperandUse *use) {
  if (use->predicate) return instr_operand(instr, use->operand) < MAX_PREDICATES;
  if (use->operand >= OPERAND_A && use->operand <= OPERAND_C) {
    unsigned taken = use->operand - OPERAND_A;
    if (instr->select == SELECT_IMM_A + taken || instr->select == SELECT_CONST_A + taken) return false;
  }
  return instr_operand(instr, use->operand) != REG_ZERO;
}

typedef struct Check {
  const Program *program;
  Diags *diags;
  const Function *function;
  uint32_t at;
} Check;

static bool complain(const Check *check, const char *what) {
  return diags_add(check->diags, check->program->file, (int)check->program->lines[check->at], 0, "instruction %u of %s: %s",
                   (unsigned)check->at, check->function->name, what);
}

static bool check_registers(const Check *check, const Instr *instr) {
  OperandUse uses[MAX_OPERANDS];
  unsigned count = op_operands((Op)instr->op, instr->mods, (OperandSelect)instr->select, uses);
  for (unsigned i = 0; i < count; i++) {
    if (!instr_operand_used(instr, &uses[i])) continue;
    uint32_t number = instr_operand(instr, uses[i].operand);
    if (uses[i].predicate && number >= check->function->predicates) return complain(check, "a predicate is past those the function has");
    if (uses[i].predicate) continue;
    if (number + uses[i].registers > check->function->registers) return complain(check, "a register is past those the function has");
    if (number % min_u32(uses[i].registers, 4) != 0) return complain(check, "a register tuple is not aligned");
  }
  return true;
}

static bool is_inside(const Check *check, uint32_t target) { return target >= check->function->entry && target < check->function->end; }

static bool check_targets(const Check *check, const Instr *instr) {
  uint32_t flags = op_info[instr->op].flags;
  bool direct = (flags & IT_INDIRECT) == 0;
  if ((flags & IT_BRANCH) != 0 && direct && !is_inside(check, instr->imm)) return complain(check, "a branch leaves the function");
  if ((flags & IT_BRANCH) != 0 && instr->reconverge != NO_RECONVERGE && !is_inside(check, instr->reconverge))
    return complain(check, "a reconvergence point outside the function");
  if ((flags & IT_CALLS) != 0 && direct) {
    const Function *callee = program_function_at(check->program, instr->imm);
    if (callee == NULL || callee->entry != instr->imm) return complain(check, "a call that leads to no function's entry");
  }
  return true;
}

static bool check_constants(const Check *check, const Instr *instr) {
  if (instr->select < SELECT_CONST_A || instr->select > SELECT_CONST_C) return true;
  const OpInfo *info = &op_info[instr->op];
  TypeId types[3] = {info->a, info->b, info->c};
  uint32_t bank = instr->imm >> 24, offset = instr->imm & 0xFFFFFF;
  uint32_t bytes = (uint32_t)type_info[types[instr->select - SELECT_CONST_A]].bits / 8;
  uint64_t size = bank == BANK_PARAM    ? check->function->is_kernel ? check->function->param_bytes : UINT32_MAX
                  : bank == BANK_CONST  ? check->program->const_bytes
                  : bank == BANK_SYMBOL ? 8u * (uint64_t)check->program->symbol_count
                                        : 0;
  return offset + (uint64_t)bytes <= size || complain(check, "a constant reference past the end of its bank");
}

static bool falls_through(const Instr *instr) {
  bool always = instr->guard == PRED_TRUE && !instr->guard_negated;
  return !always || (op_info[instr->op].flags & (IT_BRANCH | IT_RETURN | IT_EXITS | IT_TRAPS)) == 0;
}

static bool check_instr(const Check *check) {
  const Instr *instr = &check->program->decoded[check->at];
  Instr decoded;
  if (!instr_decode(check->program->code[check->at], &decoded)) return complain(check, "it does not decode");
  InstrWord word = instr_encode(instr);
  if (word.low != check->program->code[check->at].low || word.high != check->program->code[check->at].high)
    return complain(check, "its decoded form is another instruction");
  return check_registers(check, instr) && check_targets(check, instr) && check_constants(check, instr);
}

static bool check_function(const Program *program, const Function *function, uint32_t start, Diags *diags) {
  if (function->entry != start || function->end < start || function->end > program->code_count)
    return diags_add(diags, program->file, 0, 0, "%s does not lie where the function before it ends", function->name);
  Check check = {program, diags, function, function->entry};
  for (; check.at < function->end; check.at++) {
    if (!check_instr(&check)) return false;
  }
  check.at = function->end - 1;
  if (function->end > start && falls_through(&program->decoded[check.at])) return complain(&check, "the function runs past its end");
  return true;
}

static bool check_symbols(const Program *program, Diags *diags) {
  for (uint32_t s = 0; s < program->symbol_count; s++) {
    const Symbol *symbol = &program->symbols[s];
    if (symbol->kind == SYMBOL_FUNCTION && symbol->function >= program->function_count)
      return diags_add(diags, program->file, 0, 0, "symbol %s names no function", symbol->name);
    if (symbol->kind == SYMBOL_VARIABLE && symbol->space == SPACE_CONST && !symbol->external &&
        symbol->const_offset + symbol->bytes > program->const_bytes)
      return diags_add(diags, program->file, 0, 0, "constant %s lies past the end of its bank", symbol->name);
  }
  for (uint32_t r = 0; r < program->relocation_count; r++) {
    const Relocation *relocation = &program->relocations[r];
    if (relocation->owner >= program->symbol_count || relocation->target >= program->symbol_count ||
        relocation->offset + relocation->bytes > program->symbols[relocation->owner].bytes)
      return diags_add(diags, program->file, 0, 0, "an address in initial data lies outside its variable");
  }
  return true;
}

bool program_validate(const Program *program, Diags *diags) {
  uint32_t start = 0;
  for (uint32_t f = 0; f < program->function_count; f++) {
    if (!check_function(program, &program->functions[f], start, diags)) return false;
    start = program->functions[f].end;
  }
  if (start != program->code_count) return diags_add(diags, program->file, 0, 0, "there is code after the last function");
  return check_symbols(program, diags);
}
