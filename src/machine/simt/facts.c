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

void facts_make(const Instr *instr, Facts *facts) {
  *facts = (Facts){.sources = operand_sources(instr), .results = operand_results(instr), .port = (uint8_t)port_of(instr)};
  facts->timing = (uint8_t)timing_of(instr->op);
  facts->predicates = (uint8_t)operand_predicates(&op_info[instr->op]);
  operand_marks(instr, true, &facts->uses);
  operand_marks(instr, false, &facts->writes);
  note_registers(instr, facts);
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
