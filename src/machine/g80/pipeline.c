// The five stages of an SM. Each holds one job = (warp, lane group); a stage whose work is done hands its job over when
// the next one is free. Done-times (micro-architecture notes, "Pipeline timing"; k counts jobs):
//   F[k] = max(I + fetch, D[k-1]+1)   D[k] = max(F[k]+2, R[k-1]+1)   R[k] = max(D[k]+Rb, E[k-1]+2)
//   E[k] = max(R[k]+Eb, W[k-1]+2)     W[k] = E[k]+Wb
// Values travel with the job: operands are read when READ ends, results computed when EXECUTE ends, written when WRITE ends.
#include "machine/g80/g80_internal.h"

enum { FETCH_HALF = 3, FETCH_LONG = 4, FETCH_AGAIN = 2, DECODE_CYCLES = 2, BARRIER_HOLD = 28 };
static const uint8_t gap[STAGE_COUNT] = {0, 1, 1, 2, 2}; // from a stage's last job leaving to the next one entering

static uint64_t after(uint64_t cycle, uint32_t cycles) { return cycles == CYCLES_FOR_EVER ? G80_NEVER : cycle + cycles; }

// SPs come in eights.
static void copy_lanes(const G80Machine *m, uint32_t *to, const uint32_t *from) {
  for (uint32_t i = 0; i < m->sps; i += 8) memcpy(to + i, from + i, 8 * sizeof *to);
}

static bool has_addresses(const SassInstr *instr) { return instr->action >= SASS_DO_LOAD_GLOBAL && instr->action <= SASS_DO_STORE_SHARED; }

// The memoised decoding, if the word is still the one that was loaded.
const SassInstr *job_instr(G80Machine *m, const G80Job *job) {
  uint32_t index = job->pc >> 2;
  if (index < m->decoded_count) {
    const SassInstr *instr = &m->decoded[index];
    if (instr->low == job->low && (instr->bytes == 4 || instr->high == job->high)) return instr;
  }
  sass_decode(job->low, job->high, &m->scratch);
  return &m->scratch;
}

// ---- FETCH -----------------------------------------------------------------------------------------------------------
static uint32_t fetch_word(const G80Machine *m, uint32_t pc, const G80Job *job) {
  reads_for(m, REGION_ID_system, (pc >> 2) & (G80_SYSTEM_WORDS - 1), 1, job);
  return table_words(m, REGION_ID_system)[(pc >> 2) & (G80_SYSTEM_WORDS - 1)];
}

static bool last_group(const G80Machine *m, const G80Job *job) { return (job->group & (m->groups - 1)) == m->groups - 1; }

static uint32_t pool(const G80Machine *m, RegionId id, uint32_t sm, uint32_t warp) {
  reads(m, id, warp_number(sm, warp));
  return *warp_cell(m, id, sm, warp);
}

void pipeline_issue(G80Machine *m, uint32_t sm, uint32_t warp, uint64_t cycle) {
  G80Sm *s = &m->sm[sm];
  G80Stage *fetch = &s->stages[STAGE_FETCH];
  G80Job *job = &fetch->job;
  uint32_t pc = pool(m, REGION_ID_wp_pc, sm, warp), mask = pool(m, REGION_ID_wp_current, sm, warp);
  *job = (G80Job){.warp = warp, .pc = pc, .current = mask, .active = mask, .next_mask = mask};
  job->cta = pool(m, REGION_ID_wp_cta, sm, warp) & 15;
  job->shared_base = pool(m, REGION_ID_wp_shared_base, sm, warp) & (G80_SHARED_BYTES - 1);
  job->gpr_base = pool(m, REGION_ID_wp_gpr_base, sm, warp) & (G80_REGISTERS - 1);
  job->low = fetch_word(m, pc, job);
  uint32_t bytes = sass_word_bytes(job->low);
  if (bytes == 8) job->high = fetch_word(m, pc + 4, job);
  job->next_pc = pc + bytes;
  fetch->busy = 1;
  fetch->ready_at = cycle + (bytes == 8 ? FETCH_LONG : FETCH_HALF);
  if (m->outside) access_fetch(m, sm, cycle);
  if (m->groups == 1) warp_unit_issued(m, sm, cycle);
  m->shared->warp_instructions++;
  m->shared->thread_instructions += (uint32_t)__builtin_popcount(mask);
}

// The next lane group of the same instruction, or the next warp.
static void fetch_again(G80Machine *m, uint32_t sm, uint64_t cycle) {
  G80Stage *fetch = &m->sm[sm].stages[STAGE_FETCH];
  if (last_group(m, &fetch->job)) {
    warp_unit_fetch_free(m, sm, cycle);
    return;
  }
  fetch->job.group = (fetch->job.group + 1) & (m->groups - 1);
  fetch->busy = 1;
  fetch->ready_at = cycle + 1 + FETCH_AGAIN;
  if (last_group(m, &fetch->job)) warp_unit_issued(m, sm, cycle + 1);
}

// ---- READ ------------------------------------------------------------------------------------------------------------
// Lane group 0 finds the mask of the instruction for the whole warp, and pops the stack for a join; the others go by it.
static void enter_read(G80Machine *m, uint32_t sm, const G80Job *arrived, uint64_t cycle) {
  G80Sm *s = &m->sm[sm];
  G80Stage *read = &s->stages[STAGE_READ];
  G80Job *job = &read->job;
  uint32_t active = job->active, next_pc = job->next_pc, next_mask = job->next_mask; // of the group before
  *job = *arrived;
  const SassInstr *instr = job_instr(m, job);
  if ((job->group & (m->groups - 1)) == 0) {
    job->active = guard_mask(m, sm, instr, job);
    if (instr->join) flow_join(m, sm, job);
  } else {
    job->active = active;
    job->next_pc = next_pc;
    job->next_mask = next_mask;
  }
  read->lane = 0;
  read->ready_at = after(cycle, read_cycles(m, instr, job));
  if (m->outside) access_begin_read(m, sm, instr, cycle);
}

// Loads through a shared port have their operands already.
static void leave_read(G80Machine *m, uint32_t sm) {
  const SassInstr *instr = job_instr(m, &m->sm[sm].stages[STAGE_READ].job);
  if (!m->outside || instr->read != SASS_READ_GLOBAL) operands_read(m, sm, instr);
}

// ---- EXECUTE ---------------------------------------------------------------------------------------------------------
static uint32_t flow_cycles(const SassInstr *instr, FlowEffect effect, const G80Job *job, uint32_t cycles) {
  switch ((SassExec)instr->exec) {
  case SASS_EXEC_BRANCH:
  case SASS_EXEC_PUSH: return effect == FLOW_PUSHED ? 7 : cycles;
  case SASS_EXEC_BREAK: return effect == FLOW_POPPED ? 8 : cycles;
  case SASS_EXEC_RETURN: return (job->returns & 1) != 0 ? 5 : cycles;
  default: return cycles;
  }
}

// The control unit acts once per warp instruction, on lane group 0; the other groups carry its decision.
static void enter_execute(G80Machine *m, uint32_t sm, const G80Job *arrived, uint64_t cycle) {
  G80Sm *s = &m->sm[sm];
  G80Stage *execute = &s->stages[STAGE_EXECUTE];
  G80Job before = execute->job;
  execute->job = *arrived;
  const SassInstr *instr = job_instr(m, arrived);
  copy_lanes(m, s->execute.a, s->read.a);
  copy_lanes(m, s->execute.b, s->read.b);
  copy_lanes(m, s->execute.c, s->read.c);
  s->execute.carry = s->read.carry;
  if (has_addresses(instr)) copy_lanes(m, s->execute_address, s->address);
  uint32_t cycles = execute_cycles(m, instr, s);
  if (instr->action >= SASS_DO_BRANCH && instr->action <= SASS_DO_BREAK) {
    FlowEffect effect = FLOW_NONE;
    if ((arrived->group & (m->groups - 1)) == 0) {
      effect = flow_execute(m, sm, instr, &execute->job);
    } else {
      execute->job.next_pc = before.next_pc;
      execute->job.next_mask = before.next_mask;
      execute->job.ends = before.ends;
      execute->job.returns = before.returns;
    }
    cycles = flow_cycles(instr, effect, &execute->job, cycles);
  }
  execute->ready_at = after(cycle, cycles);
}

// ---- WRITE -----------------------------------------------------------------------------------------------------------
static void enter_write(G80Machine *m, uint32_t sm, const G80Job *arrived, uint64_t cycle) {
  G80Sm *s = &m->sm[sm];
  G80Stage *write = &s->stages[STAGE_WRITE];
  write->job = *arrived;
  const SassInstr *instr = job_instr(m, arrived);
  if (instr->action <= SASS_DO_TO_FLAGS) sass_execute(instr, m->functions, &s->execute);
  bool loaded = instr->action == SASS_DO_LOAD_GLOBAL;
  copy_lanes(m, s->write.d, loaded ? s->execute.c : s->execute.d);
  if (instr->sets_predicate) memcpy(s->write.flags, s->execute.flags, sizeof s->write.flags);
  if (has_addresses(instr)) {
    copy_lanes(m, s->write.c, s->execute.c);
    copy_lanes(m, s->write_address, s->execute_address);
  }
  write->lane = 0;
  write->ready_at = after(cycle, write_cycles(m, instr, arrived));
  if (m->outside) access_begin_write(m, sm, instr, cycle);
}

static void leave_write(G80Machine *m, uint32_t sm, uint64_t cycle) {
  G80Sm *s = &m->sm[sm];
  G80Stage *write = &s->stages[STAGE_WRITE];
  const SassInstr *instr = job_instr(m, &write->job);
  write->busy = 0;
  write->last_at = cycle;
  m->shared->jobs++;
  result_write(m, sm, instr);
  tell_commit(m, sm, &write->job, s->changed_at[write->job.warp & (G80_WARPS - 1)]);
  if (!last_group(m, &write->job)) return;
  if (instr->action == SASS_DO_BARRIER) {
    uint32_t warps = 0;
    if (warp_unit_barrier(m, sm, &write->job, cycle, &warps) && warps > 1) write->last_at = cycle + BARRIER_HOLD;
  } else {
    warp_unit_written(m, sm, &write->job, cycle);
  }
}

// ---- Handing over ----------------------------------------------------------------------------------------------------
static void leave(G80Machine *m, uint32_t sm, StageId id, uint64_t cycle) {
  G80Sm *s = &m->sm[sm];
  if (id == STAGE_WRITE) {
    leave_write(m, sm, cycle);
    return;
  }
  G80Stage *from = &s->stages[id], *to = &s->stages[id + 1];
  from->busy = 0;
  from->last_at = cycle;
  to->busy = 1;
  switch (id) {
  case STAGE_FETCH:
    to->job = from->job;
    to->ready_at = cycle + DECODE_CYCLES;
    fetch_again(m, sm, cycle);
    break;
  case STAGE_DECODE: enter_read(m, sm, &from->job, cycle); break;
  case STAGE_READ:
    leave_read(m, sm);
    enter_execute(m, sm, &from->job, cycle);
    break;
  default: enter_write(m, sm, &from->job, cycle); break;
  }
}

// When the stage's job can leave; G80_NEVER while the next stage is taken.
static uint64_t leaves_at(const G80Sm *s, StageId id) {
  const G80Stage *stage = &s->stages[id];
  if (stage->busy == 0 || stage->ready_at == G80_NEVER) return G80_NEVER;
  if (id == STAGE_WRITE) return stage->ready_at;
  const G80Stage *next = &s->stages[id + 1];
  return next->busy != 0 ? G80_NEVER : max_u64(stage->ready_at, next->last_at + gap[id + 1]);
}

void sm_schedule(G80Sm *s) {
  uint64_t next = min_u64(min_u64(s->controller_at, s->done_at), s->poll_at);
  next = min_u64(next, min_u64(s->read_at, s->write_at));
  for (uint32_t i = 0; i < STAGE_COUNT; i++) {
    s->leaves_at[i] = leaves_at(s, (StageId)i);
    next = min_u64(next, s->leaves_at[i]);
  }
  s->next = next;
}

// Everything of the SM's pipeline that happens in this cycle, the back of the pipe first. A stage that becomes free now takes
// its next job in a later cycle, so the times found before are still good.
void pipeline_step(G80Machine *m, uint32_t sm, uint64_t cycle) {
  const G80Sm *s = &m->sm[sm];
  if (s->write_at <= cycle) access_write(m, sm, cycle);
  if (s->read_at <= cycle) access_read(m, sm, cycle);
  for (uint32_t i = STAGE_COUNT; i > 0; i--) {
    if (s->leaves_at[i - 1] <= cycle) leave(m, sm, (StageId)(i - 1), cycle);
  }
}
