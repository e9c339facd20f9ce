// The printed program, with the physical registers live at each instruction.
#include "program/program_internal.h"

typedef struct RegisterSet {
  uint64_t words[4]; // registers
  uint32_t predicates;
} RegisterSet;

// What an instruction reads and surely writes.
static void note_uses(const Instr *instr, RegisterSet *reads, RegisterSet *writes) {
  OperandUse uses[MAX_OPERANDS];
  unsigned count = op_operands((Op)instr->op, instr->mods, (OperandSelect)instr->select, uses);
  bool guarded = instr->guard != PRED_TRUE || instr->guard_negated;
  memset(reads, 0, sizeof *reads);
  memset(writes, 0, sizeof *writes);
  for (unsigned i = 0; i < count; i++) {
    if (!instr_operand_used(instr, &uses[i]) || (uses[i].written && guarded)) continue;
    RegisterSet *set = uses[i].written ? writes : reads;
    unsigned number = instr_operand(instr, uses[i].operand);
    if (uses[i].predicate) set->predicates |= 1u << number;
    for (unsigned r = number; r < number + uses[i].registers; r++) set->words[r / 64] |= UINT64_C(1) << r % 64;
  }
}

static bool add_set(RegisterSet *to, const RegisterSet *from) {
  RegisterSet old = *to;
  for (unsigned w = 0; w < 4; w++) to->words[w] |= from->words[w];
  to->predicates |= from->predicates;
  return memcmp(old.words, to->words, sizeof old.words) != 0 || old.predicates != to->predicates;
}

// Live before instruction i, from what is live before its successors.
static bool step(const Program *program, const Function *function, uint32_t pc, RegisterSet *live) {
  const Instr *instr = &program->decoded[pc];
  uint32_t flags = op_info[instr->op].flags;
  bool always = instr->guard == PRED_TRUE && !instr->guard_negated;
  RegisterSet after = {{0}, 0}, reads, writes;
  if (!always || (flags & (IT_BRANCH | IT_RETURN | IT_EXITS | IT_TRAPS)) == 0) {
    if (pc + 1 < function->end) add_set(&after, &live[pc + 1 - function->entry]);
  }
  if ((flags & (IT_BRANCH | IT_INDIRECT)) == IT_BRANCH) add_set(&after, &live[instr->imm - function->entry]);
  if ((flags & IT_BRANCH) != 0 && (flags & IT_INDIRECT) != 0) {
    // Any of the function's jump table entries, which are its last instructions.
    for (uint32_t t = function->end; t-- > function->entry && program->decoded[t].op == OP_BRA && program->decoded[t].guard == PRED_TRUE;)
      add_set(&after, &live[t - function->entry]);
  }
  note_uses(instr, &reads, &writes);
  for (unsigned w = 0; w < 4; w++) after.words[w] &= ~writes.words[w];
  after.predicates &= ~writes.predicates;
  add_set(&after, &reads);
  return add_set(&live[pc - function->entry], &after);
}

void program_live_counts(const Program *program, const Function *function, Arena *arena, PhysicalLive *counts) {
  uint32_t count = function->end - function->entry;
  RegisterSet *live = ARENA_ARRAY(arena, RegisterSet, count);
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t pc = function->end; pc-- > function->entry;) changed |= step(program, function, pc, live);
  }
  counts->registers = ARENA_ARRAY(arena, uint16_t, count);
  counts->predicates = ARENA_ARRAY(arena, uint16_t, count);
  for (uint32_t i = 0; i < count; i++) {
    unsigned registers = 0;
    for (unsigned w = 0; w < 4; w++) registers += (unsigned)__builtin_popcountll(live[i].words[w]);
    counts->registers[i] = (uint16_t)registers;
    counts->predicates[i] = (uint16_t)__builtin_popcount(live[i].predicates);
  }
}

static void dump_function(const Program *program, const Function *function, Text *out) {
  text_add(out, "%s %s: %u registers, %u predicates, %u bytes of frame, %u of stack%s, %u of shared memory, %u of parameters, %u barriers",
           function->is_kernel ? "kernel" : "function", function->name, (unsigned)function->registers, (unsigned)function->predicates,
           (unsigned)function->frame_bytes, (unsigned)function->stack_bytes, function->recursive ? " and more" : "",
           (unsigned)function->shared_bytes, (unsigned)function->param_bytes, (unsigned)function->barriers);
  text_add(out, ", %u spill loads, %u spill stores\n", (unsigned)function->spill_loads, (unsigned)function->spill_stores);
  Arena *arena = arena_new();
  PhysicalLive live;
  program_live_counts(program, function, arena, &live);
  for (uint32_t pc = function->entry; pc < function->end; pc++) {
    Text line = {0};
    instr_format(&program->decoded[pc], &line);
    text_add(out, "%6u: %016llx%016llx  %-56s // ", (unsigned)pc, (unsigned long long)program->code[pc].high,
             (unsigned long long)program->code[pc].low, line.at == NULL ? "" : line.at);
    if (program->lines[pc] != 0) text_add(out, "line %u, ", (unsigned)program->lines[pc]);
    text_add(out, "live: %u\n", (unsigned)live.registers[pc - function->entry]);
    text_free(&line);
  }
  arena_free(arena);
}

void program_dump(const Program *program, Text *out) {
  text_add(out, "// %s: %u instructions, %u symbols, %u bytes of constants, hash %016llx\n", program->file == NULL ? "-" : program->file,
           (unsigned)program->code_count, (unsigned)program->symbol_count, (unsigned)program->const_bytes,
           (unsigned long long)program->hash);
  for (uint32_t f = 0; f < program->function_count; f++) {
    if (f > 0) text_add(out, "\n");
    dump_function(program, &program->functions[f], out);
  }
}
