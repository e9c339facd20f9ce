// Accesses to what the SMs share, in machines whose arbiters stand outside the SMs (thesis 3.2): global memory through port
// A in READ and port B in WRITE, constants, the program in FETCH. A request is made per thread, as the byte-wide memories
// serve one thread at a time; the multiplexer lets the granted SM through.
//
// An access that has been granted takes a cycle per byte and two more. READ, whose state machines the thesis left as they
// were, acknowledges a cycle before the end; WRITE, which was given states for it, with the last byte. An access that
// nobody disturbs takes as long as in the released RTL.
#include "machine/g80/g80_internal.h"

enum { ADDRESS_CYCLES = 13, LOAD_END = 8, STORE_BEGIN = 5, STORE_END = 8 };

static const SassOperand *constant_operand(const SassInstr *instr) {
  const SassOperand *operands[] = {&instr->a, &instr->b, &instr->c};
  for (uint32_t i = 0; i < COUNT_OF(operands); i++) {
    if (operands[i]->kind == SASS_CONSTANT) return operands[i];
  }
  return NULL;
}

void access_fetch(G80Machine *m, uint32_t sm, uint64_t cycle) {
  m->sm[sm].stages[STAGE_FETCH].ready_at = G80_NEVER;
  arbiter_request(m, PORT_SYSTEM, sm, cycle);
}

void access_begin_read(G80Machine *m, uint32_t sm, const SassInstr *instr, uint64_t cycle) {
  G80Sm *s = &m->sm[sm];
  G80Stage *read = &s->stages[STAGE_READ];
  const SassOperand *constant = constant_operand(instr);
  if (instr->read == SASS_READ_GLOBAL) {
    uint32_t first = (read->job.group & (m->groups - 1)) == 0 ? m->predicate_cycles + (instr->join ? 4 : 0) : 0;
    operands_read(m, sm, instr);
    read->ready_at = G80_NEVER;
    s->read_at = cycle + ADDRESS_CYCLES + first;
  } else if (constant != NULL) { // the constant is the last thing to come
    s->read_at = read->ready_at - 3 - sass_type_bytes(constant->type);
    read->ready_at = G80_NEVER;
  }
}

void access_begin_write(G80Machine *m, uint32_t sm, const SassInstr *instr, uint64_t cycle) {
  if (instr->write != SASS_WRITE_GLOBAL) return;
  m->sm[sm].stages[STAGE_WRITE].ready_at = G80_NEVER;
  m->sm[sm].write_at = cycle + STORE_BEGIN;
}

// On to the next active lane of the group, a cycle for each that is not; true: there is one, now.
static bool next_lane(const G80Machine *m, G80Stage *stage, uint64_t *at, uint32_t end_cycles) {
  uint32_t active = group_mask(m, &stage->job, stage->job.active);
  uint32_t lane = stage->lane & 63, skipped = 0;
  while (lane < m->sps && (active >> lane & 1) == 0) lane++, skipped++;
  stage->lane = lane;
  if (lane >= m->sps) {
    stage->ready_at = *at + skipped + end_cycles;
    *at = G80_NEVER;
    return false;
  }
  if (skipped != 0) {
    *at += skipped;
    return false;
  }
  *at = G80_NEVER;
  return true;
}

void access_read(G80Machine *m, uint32_t sm, uint64_t cycle) {
  G80Sm *s = &m->sm[sm];
  G80Stage *read = &s->stages[STAGE_READ];
  s->read_at = cycle;
  if (job_instr(m, &read->job)->read != SASS_READ_GLOBAL) {
    s->read_at = G80_NEVER;
    arbiter_request(m, PORT_CONSTANT, sm, cycle);
  } else if (next_lane(m, read, &s->read_at, LOAD_END)) {
    arbiter_request(m, PORT_GLOBAL_A, sm, cycle);
  }
}

void access_write(G80Machine *m, uint32_t sm, uint64_t cycle) {
  G80Sm *s = &m->sm[sm];
  s->write_at = cycle;
  if (next_lane(m, &s->stages[STAGE_WRITE], &s->write_at, STORE_END)) arbiter_request(m, PORT_GLOBAL_B, sm, cycle);
}

static uint64_t granted_load(G80Machine *m, uint32_t sm, uint64_t cycle) {
  G80Sm *s = &m->sm[sm];
  G80Stage *read = &s->stages[STAGE_READ];
  const SassInstr *instr = job_instr(m, &read->job);
  if (instr->read != SASS_READ_GLOBAL) return cycle + 1; // a flipped bit: no load any more
  uint32_t lane = read->lane & 31;
  s->read.c[lane] = load_global(m, instr, s->address[lane]);
  return cycle + 1 + instr->access_bytes;
}

static uint64_t granted_store(G80Machine *m, uint32_t sm, uint64_t cycle) {
  G80Sm *s = &m->sm[sm];
  const G80Stage *write = &s->stages[STAGE_WRITE];
  const SassInstr *instr = job_instr(m, &write->job);
  uint32_t lane = write->lane & 31;
  if (instr->write != SASS_WRITE_GLOBAL) return cycle + 1;
  store_global(m, instr, s->write_address[lane], s->write.c[lane]);
  return cycle + instr->access_bytes;
}

uint64_t access_granted(G80Machine *m, PortId port, uint32_t sm, uint64_t cycle) {
  const G80Job *fetched = &m->sm[sm].stages[STAGE_FETCH].job, *reading = &m->sm[sm].stages[STAGE_READ].job;
  switch (port) {
  case PORT_GLOBAL_A: return granted_load(m, sm, cycle);
  case PORT_GLOBAL_B: return granted_store(m, sm, cycle);
  case PORT_SYSTEM: return cycle + sass_word_bytes(fetched->low) / 4;
  case PORT_CONSTANT: {
    const SassOperand *constant = constant_operand(job_instr(m, reading));
    return cycle + 1 + (constant == NULL ? 1 : sass_type_bytes(constant->type));
  }
  default: return cycle + 1;
  }
}

// The SM goes on: with the next lane, or with what the stage does after its access.
void access_released(G80Machine *m, PortId port, uint32_t sm, uint64_t cycle) {
  G80Sm *s = &m->sm[sm];
  G80Stage *read = &s->stages[STAGE_READ], *write = &s->stages[STAGE_WRITE];
  switch (port) {
  case PORT_GLOBAL_A:
    read->lane++;
    s->read_at = cycle;
    break;
  case PORT_GLOBAL_B:
    write->lane++;
    s->write_at = cycle + 1;
    break;
  case PORT_CONSTANT: read->ready_at = cycle; break;
  case PORT_SYSTEM: s->stages[STAGE_FETCH].ready_at = cycle; break;
  default: controller_released(m, sm, cycle); break;
  }
  sm_schedule(s);
}
