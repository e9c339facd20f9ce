// Facts of instructions; see facts.h.
#include "machine/simt/facts.h"

#include <stdlib.h>
#include <string.h>

// ---- Classes of times --------------------------------------------------------------------------------

typedef struct TimingClass {
  uint32_t units; // a bit for each
  const char *starts;
} TimingClass;

#define IN(unit) (1u << UNIT_##unit)
static const TimingClass timing_classes[TIMING_COUNT] = {
#define TIMING(name, units, starts, help) [TIMING_##name] = {units, starts},
#include "config/timing.def"
#undef TIMING
};
#undef IN

// Is one of the words, which are parted by spaces, how the text begins?
static bool begins_with_one(const char *text, const char *words) {
  while (*words != 0) {
    size_t length = strcspn(words, " ");
    if (strncmp(text, words, length) == 0) return true;
    words += length;
    words += *words == ' ' ? 1 : 0;
  }
  return false;
}

Timing timing_of(Op op) {
  const OpInfo *info = &op_info[op];
  for (uint32_t i = TIMING_OF_UNIT + 1; i < TIMING_COUNT; i++) {
    if ((timing_classes[i].units >> info->unit & 1) != 0 && begins_with_one(info->text, timing_classes[i].starts)) return (Timing)i;
  }
  return TIMING_OF_UNIT;
}

void timing_prepare(Simt *m) {
  const Spec *spec = m->spec;
#define TIMING(name, units, starts, help) \
  m->class_latency[TIMING_##name] = (uint32_t)spec->latency_##name, m->class_interval[TIMING_##name] = (uint32_t)spec->interval_##name;
#include "config/timing.def"
#undef TIMING
}

// ---- Facts -------------------------------------------------------------------------------------------

static void note_registers(const Instr *instr, Facts *facts) {
  unsigned ones = operand_full_mask(instr), selected = operand_selected(instr);
  facts->value_row = facts->ones_row = NO_ROW;
  for (unsigned operand = 0; operand < VALUE_OPERANDS; operand++) {
    unsigned first = facts->sources.first[operand], count = facts->sources.count[operand];
    uint8_t number = operand == ones || operand == selected ? REG_ZERO : operand_register(instr, operand);
    for (unsigned k = 0; k < count; k++) facts->registers[first + k] = number == REG_ZERO ? REG_ZERO : (uint8_t)(number + k);
    if (count == 0) continue;
    if (operand == ones) {
      facts->ones_row = (uint8_t)first;
    } else if (operand == selected) {
      facts->value_row = (uint8_t)first;
      facts->value_operand = (uint8_t)operand;
    }
  }
}

static void note_rows(Facts *facts) {
  for (unsigned row = 0; row < facts->sources.rows; row++) {
    bool is_register = facts->registers[row] != REG_ZERO;
    *(is_register ? &facts->register_rows : &facts->filled_rows) |= 1u << row;
    if (is_register) facts->highest = max_u32(facts->highest, facts->registers[row]);
    if (row >= SOURCES_AT_ONCE) continue;
    uint32_t shift = row * SOURCE_BITS;
    *(is_register ? &facts->source_registers : &facts->source_others) |= UINT64_C(0xFFFF) << shift;
    if (is_register) facts->source_numbers |= (uint64_t)facts->registers[row] << shift;
  }
}

static uint16_t flags_of(const Instr *instr, const OpInfo *info) {
  bool is_control = info->kind == KIND_CONTROL || info->kind == KIND_BARRIER || info->kind == KIND_FENCE || info->kind == KIND_SYSTEM;
  bool is_far = info->space != SPACE_SHARED && info->space != SPACE_CONST && info->space != SPACE_PARAM;
  bool polls = info->kind == KIND_STORE || info->kind == KIND_ATOMIC || (info->kind == KIND_LOAD && (instr->mods & MOD_VOLATILE) != 0);
  bool drains = info->kind == KIND_FENCE || (info->kind == KIND_SYSTEM && instr->op != OP_NANOSLEEP);
  uint32_t flags =
      (is_control ? FACT_CONTROL : 0) | (drains ? FACT_DRAINS : 0) | (is_warp_wide(info) ? FACT_WIDE : 0) | (polls ? FACT_POLLS : 0);
  if (info->kind == KIND_WARP || info->kind == KIND_MATRIX) flags |= FACT_WHOLE;
  if ((info->flags & IT_READS_MEMORY) != 0 && !is_control && is_far) flags |= FACT_LONG;
  if ((info->flags & (IT_BRANCH | IT_INDIRECT)) == IT_BRANCH) flags |= FACT_BRANCH;
  if (instr->select >= SELECT_CONST_A) flags |= FACT_CONSTANT;
  if (info->kind == KIND_SREG) flags |= FACT_SPECIAL;
  return (uint16_t)flags;
}

static void note_access(const Instr *instr, const OpInfo *info, Facts *facts) {
  bool is_atomic = info->kind == KIND_ATOMIC;
  TypeId type = is_atomic ? info->a : info->d;
  facts->action = is_atomic ? ACTION_ATOMIC : info->kind == KIND_STORE ? ACTION_STORE : ACTION_LOAD;
  facts->element_bytes = (uint8_t)max_u32(min_u32((type_info[type].bits + 7u) / 8u, 8), 1);
  facts->elements = is_atomic ? 1 : (uint8_t)mods_vector_count(instr->mods);
  facts->sign_extend = info->d == TYPE_s8 || info->d == TYPE_s16;
  facts->bypasses = (instr->mods & (MOD_VOLATILE | MOD_CACHE_GLOBAL)) != 0;
}

static void note_constant(const Instr *instr, const OpInfo *info, Facts *facts) {
  if ((facts->flags & FACT_CONSTANT) == 0) return;
  const TypeId types[] = {info->a, info->b, info->c};
  facts->constant_bank = instr->imm >> 24;
  facts->constant_offset = instr->imm & 0xFFFFFF;
  facts->constant_bytes = (type_info[types[instr->select - SELECT_CONST_A]].bits + 7u) / 8u;
}

void facts_make(const Instr *instr, Facts *facts) {
  *facts = (Facts){.sources = operand_sources(instr), .results = operand_results(instr), .port = (uint8_t)port_of(instr)};
  facts->timing = (uint8_t)timing_of(instr->op);
  facts->predicates = (uint8_t)operand_predicates(&op_info[instr->op]);
  operand_marks(instr, true, &facts->uses);
  operand_marks(instr, false, &facts->writes);
  const OpInfo *info = &op_info[instr->op];
  note_registers(instr, facts);
  note_rows(facts);
  facts->unit = (uint8_t)info->unit;
  facts->flags = flags_of(instr, info);
  facts->pa = info->a == TYPE_pred && instr->a < PRED_TRUE ? instr->a : PRED_TRUE;
  const uint8_t read[] = {instr->guard, instr->ps, facts->pa};
  uint32_t predicates = 0;
  for (uint32_t i = 0; i < COUNT_OF(read); i++) predicates |= read[i] < MAX_PREDICATES ? 1u << read[i] : 0;
  facts->predicates_read = (uint16_t)predicates;
  note_constant(instr, info, facts);
  note_access(instr, info, facts);
}

void facts_prepare(Simt *m) {
  const Program *program = m->program;
  if (m->facts_of == program->decoded && m->facts_hash == program->hash && m->facts_count == program->code_count) return;
  facts_free(m);
  Facts *facts = calloc(program->code_count + 1, sizeof *facts);
  ASSERT(facts != NULL);
  for (uint32_t pc = 0; pc < program->code_count; pc++) facts_make(&program->decoded[pc], &facts[pc]);
  m->facts = facts;
  m->facts_of = program->decoded;
  m->facts_hash = program->hash;
  m->facts_count = program->code_count;
}

void facts_free(Simt *m) {
  free(m->facts);
  m->facts = NULL;
  m->facts_count = 0;
}
