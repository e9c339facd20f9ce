// The block scheduler: a finite state machine that hands blocks out in batches (reference, "Block scheduler"), for N SMs by
// the thesis's Algorithm 1, with done counting by Algorithm 2.
//
// Clocked: an edge reads registers as they were before it. While nothing changes, edges are not simulated; an SM that
// is done, or somebody who touches the block, wakes the scheduler up. An illegal state code stays where it is.
#include "machine/g80/g80_internal.h"

void scheduler_reset(G80Machine *m) {
  G80Scheduler *s = &m->shared->scheduler;
  *s = (G80Scheduler){.state = BS_IDLE, .smp_reset_out = 1};
}

static void reset_by_host(G80Machine *m) {
  scheduler_reset(m);
  for (uint32_t id = REGION_ID_bs_state; id <= REGION_ID_bs_kernel_done; id++) {
    bool is_each = id == REGION_ID_bs_num_blocks || id == REGION_ID_bs_num_blocks_out;
    for (uint32_t row = 0; row < (is_each ? m->sms : 1); row++) writes(m, (RegionId)id, row);
  }
  for (uint32_t id = REGION_ID_bs_cnt; id <= REGION_ID_bs_smp_done; id++) writes(m, (RegionId)id, 0);
}

static void set_state(const G80Machine *m, SchedulerState state) {
  m->shared->scheduler.state = state;
  writes(m, REGION_ID_bs_state, 0);
}

// The wires settle in the order in which they depend on each other; what is flipped, or changed by whoever is told, passes on. `flips` are the
// bits that were struck in this cycle.
static G80Wires compute_wires(G80Machine *m, const G80Wires *flips) {
  const G80Config *config = &m->shared->config;
  G80Wires *wires = &m->shared->wires;
  uint64_t threads = (uint64_t)(config->block[0] & 0xFFFF) * (config->block[1] & 0xFFFF) * (config->block[2] & 0xFFFF);
  wires->threads_per_block_i = (threads & 0xFFFFFFFFFFFF) ^ flips->threads_per_block_i;
  writes(m, REGION_ID_bs_threads_per_block_i, 0);
  wires->grid_dimension = (config->grid[0] & 0xFFFF) * (config->grid[1] & 0xFFFF) ^ flips->grid_dimension;
  writes(m, REGION_ID_bs_grid_dimension, 0);
  wires->blocks_per_core_all = ((config->blocks_per_core & 15) * m->sms & 0xFFF) ^ flips->blocks_per_core_all;
  writes(m, REGION_ID_bs_kernel_blocks_per_core_in_per_SM, 0);
  wires->blocks_per_gpgpu = ((config->blocks_per_core & 15) * m->sms & 0xFFF) ^ flips->blocks_per_gpgpu;
  writes(m, REGION_ID_bs_blocks_per_gpgpu, 0);
  wires->blocks_remaining = (wires->grid_dimension - (m->shared->scheduler.blocks_scheduled_cnt & 0xFFFF)) ^ flips->blocks_remaining;
  writes(m, REGION_ID_bs_blocks_remaining, 0);
  wires->blocks_remaining_mod_sm = wires->blocks_remaining % m->sms ^ flips->blocks_remaining_mod_sm;
  writes(m, REGION_ID_bs_blocks_remaining_mod_SM, 0);
  return *wires;
}

void scheduler_settle(G80Machine *m, uint64_t cycle) {
  m->shared->settled = compute_wires(m, &(G80Wires){0});
  m->shared->wires_at = cycle;
}

// The wires of this cycle. What differs from the settled values was struck in this very cycle and lasts until the edge.
static G80Wires wires_of(G80Machine *m, uint64_t cycle) {
  const G80Wires *now = &m->shared->wires, *settled = &m->shared->settled;
  G80Wires flips = {0};
  if (m->shared->wires_at == cycle) {
    flips.threads_per_block_i = now->threads_per_block_i ^ settled->threads_per_block_i;
    flips.grid_dimension = now->grid_dimension ^ settled->grid_dimension;
    flips.blocks_remaining = now->blocks_remaining ^ settled->blocks_remaining;
    flips.blocks_per_gpgpu = now->blocks_per_gpgpu ^ settled->blocks_per_gpgpu;
    flips.blocks_remaining_mod_sm = now->blocks_remaining_mod_sm ^ settled->blocks_remaining_mod_sm;
    flips.blocks_per_core_all = now->blocks_per_core_all ^ settled->blocks_per_core_all;
  }
  G80Wires wires = compute_wires(m, &flips);
  m->shared->wires_at = G80_NEVER; // the cycle ends at this edge
  return wires;
}

// Algorithm 1: full SMs while blocks abound, then an even share; SMs below the remainder take one more.
static void calc_blocks(G80Machine *m, const G80Wires *wires) {
  G80Scheduler *s = &m->shared->scheduler;
  uint32_t most = m->shared->config.blocks_per_core & 15;
  for (uint32_t i = 0; i < m->sms; i++) {
    uint32_t share =
        wires->blocks_remaining / m->sms + (policy_rank(m, i, s->blocks_scheduled_cnt & 0xFFFF) < wires->blocks_remaining_mod_sm ? 1 : 0);
    bool full = m->outside ? wires->blocks_remaining >= (wires->blocks_per_core_all & 0xFFF) : wires->blocks_remaining >= most;
    s->num_blocks[i] = full ? most : m->outside ? share : wires->blocks_remaining;
    writes(m, REGION_ID_bs_num_blocks, i);
  }
  s->smp_reset_out = 0;
  writes(m, REGION_ID_bs_smp_reset_out, 0);
  set_state(m, BS_CHECK_BLOCKS);
}

static void finish_kernel(G80Machine *m) {
  G80Scheduler *s = &m->shared->scheduler;
  s->kernel_done = s->rdy = 1;
  writes(m, REGION_ID_bs_kernel_done, 0);
  writes(m, REGION_ID_bs_rdy, 0);
  set_state(m, BS_IDLE);
}

static void latch_outputs(G80Machine *m, const G80Wires *wires) {
  G80Scheduler *s = &m->shared->scheduler;
  const G80Config *c = &m->shared->config;
  for (uint32_t i = 0; i < m->sms; i++) s->num_blocks_out[i] = s->num_blocks[i] & 15;
  s->threads_per_block_out = (uint32_t)(wires->threads_per_block_i & 0xFFF);
  s->shmem_base_addr_out = 0;
  s->shmem_size_out = ((c->parameter_size & 0xFFFF) + c->shmem_size + c->dyn_shmem_size + 16 + 255) & ~255u;
  s->parameter_size_out = c->parameter_size & 0xFFFF;
  s->gprs_size_out = c->num_gprs & 511;
  for (uint32_t i = 0; i < 3; i++) s->block_out[i] = c->block[i] & 0xFFFF;
  for (uint32_t i = 0; i < 2; i++) s->grid_out[i] = c->grid[i] & 0xFFFF;
  s->block_idx_out = s->blocks_scheduled_cnt & 0xFFFF;
  s->shmem_params_out = s->cmem_params_out = 0;
  set_state(m, BS_SCHEDULE_BLOCKS);
  if (!m->tells_cells) return;
  for (uint32_t i = 0; i < m->sms; i++) writes(m, REGION_ID_bs_num_blocks_out, i);
  writes(m, REGION_ID_bs_threads_per_block_out, 0);
  for (uint32_t id = REGION_ID_bs_shmem_base_addr_out; id <= REGION_ID_bs_cmem_params_out; id++) writes(m, (RegionId)id, 0);
}

static bool any_blocks(const G80Machine *m) {
  bool any = false;
  for (uint32_t i = 0; i < m->sms; i++) any = any || m->shared->scheduler.num_blocks[i] != 0;
  return any;
}

static void check_blocks(G80Machine *m, const G80Wires *wires) {
  if (any_blocks(m)) latch_outputs(m, wires);
  else set_state(m, BS_IDLE); // without kernel_done: nobody will start it again
}

// What the state looks at, before it does.
static void tell_inputs(const G80Machine *m, uint32_t state) {
  reads(m, REGION_ID_bs_smp_reset_out, 0);
  reads(m, REGION_ID_bs_smp_en_out, 0);
  reads(m, REGION_ID_cfg_host_reset, 0);
  reads(m, REGION_ID_cfg_en, 0);
  for (uint32_t i = 0; i < m->sms; i++) reads(m, REGION_ID_bs_num_blocks, i);
  if (m->outside) reads(m, REGION_ID_bs_smp_done, 0);
  for (uint32_t i = 0; i < m->sms; i++) reads(m, REGION_ID_ctl_done, i);
  if (state == BS_CALC_BLOCKS) {
    reads(m, REGION_ID_cfg_grid_x, 0);
    reads(m, REGION_ID_cfg_grid_y, 0);
    reads(m, REGION_ID_cfg_blocks_per_core, 0);
    reads(m, REGION_ID_bs_blocks_scheduled_cnt, 0);
  } else if (state == BS_CHECK_BLOCKS && any_blocks(m)) {
    for (uint32_t id = REGION_ID_cfg_num_gprs; id <= REGION_ID_cfg_grid_y; id++) reads(m, (RegionId)id, 0);
    reads(m, REGION_ID_bs_blocks_scheduled_cnt, 0);
  } else if (state == BS_SCHEDULE_BLOCKS) {
    reads(m, REGION_ID_bs_blocks_scheduled_cnt, 0);
  }
}

static void schedule_blocks(G80Machine *m, uint64_t cycle) {
  G80Shared *shared = m->shared;
  G80Scheduler *s = &shared->scheduler;
  uint32_t count = s->blocks_scheduled_cnt;
  for (uint32_t i = 0; i < m->sms; i++) count += s->num_blocks[i] & 0xFFFF;
  s->blocks_scheduled_cnt = count & 0xFFFF;
  s->smp_en_out = 1;
  writes(m, REGION_ID_bs_blocks_scheduled_cnt, 0);
  writes(m, REGION_ID_bs_smp_en_out, 0);
  set_state(m, BS_SCHEDULE_WAIT);
  if (shared->pass_count < G80_MAX_PASSES) shared->passes[shared->pass_count] = (G80Pass){.run = cycle};
  shared->pass_count++;
}

static void wait_for_sms(G80Machine *m, bool smp_done, uint64_t cycle) {
  G80Shared *shared = m->shared;
  G80Scheduler *s = &shared->scheduler;
  s->smp_en_out = 0;
  writes(m, REGION_ID_bs_smp_en_out, 0);
  if (!smp_done) return;
  s->smp_reset_out = 1;
  writes(m, REGION_ID_bs_smp_reset_out, 0);
  set_state(m, BS_CALC_BLOCKS);
  uint32_t pass = shared->pass_count - 1;
  if (pass < G80_MAX_PASSES) shared->passes[pass].done = cycle - 1;
  tell_phase(m, WHO_NO_INDEX, "exchange", cycle - 1);
}

static bool sm_is_done(const G80Machine *m, uint32_t sm, uint64_t cycle) {
  return (m->sm[sm].controller.done & 1) != 0 && cycle > m->sm[sm].done_since;
}

// Algorithm 2. In the released machine the one SM's line goes to the scheduler without a register between.
static bool count_done(G80Machine *m, uint64_t cycle) {
  G80Scheduler *s = &m->shared->scheduler;
  if (!m->outside) return sm_is_done(m, 0, cycle);
  bool before = (s->smp_done & 1) != 0;
  uint32_t done = 0, active = 0;
  for (uint32_t i = 0; i < m->sms; i++) {
    done += sm_is_done(m, i, cycle);
    active += s->num_blocks[i] != 0;
  }
  s->cnt = done;
  s->cnt_b = active;
  s->smp_done = done == active && done != 0;
  writes(m, REGION_ID_bs_smp_done, 0);
  writes(m, REGION_ID_bs_cnt, 0);
  writes(m, REGION_ID_bs_cnt_b, 0);
  return before;
}

// What the SMs see at this edge: the lines as they were before it.
static void drive_sms(G80Machine *m, bool reset, bool enable, uint64_t cycle) {
  for (uint32_t i = 0; i < m->sms; i++) {
    if (reset) sm_reset(m, i);
    if (!reset && enable) controller_start(m, i, cycle);
  }
}

void scheduler_edge(G80Machine *m, uint64_t cycle) {
  G80Shared *shared = m->shared;
  G80Scheduler *s = &shared->scheduler;
  if (m->tells_cells) {
    reads(m, REGION_ID_bs_state, 0);
    tell_inputs(m, s->state & 7);
  }
  G80Scheduler before = *s;
  uint32_t en = shared->config.en & 1;
  G80Wires wires = wires_of(m, cycle);
  bool reset = (s->smp_reset_out & 1) != 0, enable = (s->smp_en_out & 1) != 0;
  bool smp_done = count_done(m, cycle);
  shared->config.en = 0; // a pulse
  writes(m, REGION_ID_cfg_en, 0);
  switch (s->state & 7) {
  case BS_IDLE:
    if (en != 0) set_state(m, BS_CALC_BLOCKS);
    break;
  case BS_CALC_BLOCKS:
    if ((s->blocks_scheduled_cnt & 0xFFFF) < wires.grid_dimension) calc_blocks(m, &wires);
    else finish_kernel(m);
    break;
  case BS_CHECK_BLOCKS: check_blocks(m, &wires); break;
  case BS_SCHEDULE_BLOCKS: schedule_blocks(m, cycle); break;
  case BS_SCHEDULE_WAIT: wait_for_sms(m, smp_done, cycle); break;
  default: break; // illegal: stays
  }
  if ((shared->config.host_reset & 1) != 0) reset_by_host(m);
  drive_sms(m, reset, enable, cycle);
  bool changed = en != 0 || memcmp(&before, s, sizeof before) != 0;
  for (uint32_t i = 0; i < m->sms; i++) changed = changed || ((m->sm[i].controller.done & 1) != 0 && m->sm[i].done_since == cycle);
  shared->scheduler_next = changed ? cycle + 1 : G80_NEVER;
}
