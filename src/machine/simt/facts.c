// Facts of instructions; see facts.h.
#include "machine/simt/facts.h"

#include <stdlib.h>

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
