// The pipelines with their contexts.
//
// In lockstep (Hook.lockstep) neighbours are a pair with one choice of contexts: both carry out the context of the same number in the same cycle, and neither goes on while
// the other waits for a texel. A context whose neighbour is free, after a fault or for want of a copy, goes on by itself.
//
// A pipeline carries out one instruction a cycle, of the context that has it. A context that waits for a texel, or that has ended, gives the pipeline to
// the next one that is ready, at no cost.
#include "machine/fragment/fragment_internal.h"

// ---- A pipeline ------------------------------------------------------------------------------------------------------------

static void end_fragment(Fragment *m, uint32_t pipe, uint32_t number) {
  tell_fragment_end(m, pipe, number);
  set_status(m, pipe, number, CONTEXT_FREE);
  m->stats->ended += context_at(m, pipe, number)->copy == 0;
}

static void end_thread(Fragment *m, uint32_t pipe, uint32_t number, ShaderStep step) {
  if (step == STEP_ENDED) {
    set_status(m, pipe, number, CONTEXT_DONE);
  } else if (step == STEP_KILLED) {
    end_fragment(m, pipe, number);
    m->stats->killed++;
  } else if (m->core->outcome == TRAP_NONE) {
    m->core->outcome = TRAP_INVALID_PC;
  }
}

// Bits that nobody has changed are decoded already.
const ShaderInstr *fetched(Fragment *m, uint32_t pc, ShaderInstr *room) {
  if (pc >= m->shader->count) return NULL;
  tell_row(m, LOOKED_STORE, pc, 0xF, false);
  if (memcmp(&m->store[pc], &m->shader->words[pc], sizeof *m->store) == 0) return &m->shader->code[pc];
  return shader_decode(&m->store[pc], room) ? room : NULL;
}

// One instruction of a context that is ready.
static void carry_out(Fragment *m, uint32_t pipe, uint32_t number) {
  ShaderState state = state_of(m, pipe, number);
  uint32_t pc = state.thread->pc;
  ShaderInstr room;
  const ShaderInstr *instr = fetched(m, pc, &room);
  if (instr == NULL) {
    if (m->core->outcome == TRAP_NONE) m->core->outcome = pc < m->shader->count ? TRAP_ILLEGAL_INSTRUCTION : TRAP_INVALID_PC;
    return;
  }
  tell_reads(m, pipe, number, instr);
  ShaderRead read;
  ShaderStep step = shader_carry_out(m->shader, instr, &state, &read);
  if (step == STEP_READS) {
    float texel[4];
    if (!texture_reads(m, pipe, number, &read, texel)) return; // it waits, or tries again
    shader_put(instr, &state, texel);
    step = STEP_ON;
  } else if (step == STEP_COMPUTED) {
    if (!tell_result(m, pipe, number, instr, read.at)) return;
    shader_put(instr, &state, read.at);
    step = STEP_ON;
  }
  m->stats->instructions++;
  tell_end(m, pipe, number, pc, instr);
  if (step != STEP_ON) end_thread(m, pipe, number, step);
}

// The context that has the pipeline, or the next one after it that is ready. False: none is.
static bool choose(const Fragment *m, uint32_t pipe, uint32_t *number) {
  *number = m->pipes[pipe].current % m->dims.contexts;
  for (uint32_t i = 0; i < m->dims.contexts; i++, *number = next_context(m, *number)) {
    if (status_of(m, pipe, *number) == CONTEXT_READY) return true;
  }
  return false;
}

static bool hand_over(Fragment *m, uint32_t pipe) {
  bool any = false;
  for (uint32_t i = 0; i < m->dims.contexts; i++) {
    if (status_of(m, pipe, i) != CONTEXT_DONE || !rops_take(m, context_at(m, pipe, i))) continue;
    end_fragment(m, pipe, i);
    any = true;
  }
  return any;
}

// The same for a pair. *ready: which of the two, bit by bit.
static bool choose_both(const Fragment *m, uint32_t pipe, uint32_t *number, uint32_t *ready) {
  *number = m->pipes[pipe].current % m->dims.contexts;
  for (uint32_t i = 0; i < m->dims.contexts; i++, *number = next_context(m, *number)) {
    FragStatus one = status_of(m, pipe, *number), other = status_of(m, pipe + 1, *number);
    *ready = (one == CONTEXT_READY ? 1u : 0) | (other == CONTEXT_READY ? 2u : 0);
    if (*ready != 0 && one != CONTEXT_WAITS && other != CONTEXT_WAITS) return true;
  }
  return false;
}

static bool pair_works(Fragment *m, uint32_t pipe) {
  bool any = hand_over(m, pipe);
  any = hand_over(m, pipe + 1) || any;
  uint32_t number, ready;
  if (!choose_both(m, pipe, &number, &ready)) return any;
  for (uint32_t i = 0; i < 2; i++) {
    if ((ready >> i & 1) == 0) continue;
    m->pipes[pipe + i].current = (uint8_t)number;
    carry_out(m, pipe + i, number);
    m->stats->busy++;
  }
  return true;
}

bool pipelines_work(Fragment *m) {
  bool any = false;
  for (uint32_t pipe = 0; m->dims.lockstep && pipe < m->dims.pipes; pipe += 2) any = pair_works(m, pipe) || any;
  if (m->dims.lockstep) return any;
  for (uint32_t pipe = 0; pipe < m->dims.pipes; pipe++) {
    any = hand_over(m, pipe) || any;
    uint32_t number;
    if (!choose(m, pipe, &number)) continue;
    m->pipes[pipe].current = (uint8_t)number;
    carry_out(m, pipe, number);
    m->stats->busy++;
    any = true;
  }
  return any;
}
