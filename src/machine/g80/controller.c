// The SM controller: sets a pass up before the warps run. Per block a 16-byte header and the parameters in shared memory,
// per thread R0, then the warp pool. It looks at the block scheduler's outputs whenever a step needs them, so that a flip
// of those shows from that step on.
// Cycles: 1 + B(19 + 6p) + 3 + B(3T + 2) + 3 to the warp generation, which takes 3W + B + 3; 3 more to the first issue.
#include "machine/g80/g80_internal.h"

enum { HEADER_CYCLES = 2, HEADER_END_CYCLES = 3, PARAM_CYCLES = 6, THREAD_CYCLES = 3, THREAD_END_CYCLES = 2, PHASE_CYCLES = 3 };

static uint32_t output(const G80Machine *m, RegionId id, uint32_t row, const uint32_t *cell) {
  reads(m, id, row);
  return *cell;
}
#define OUTPUT(name, member, mask) (output(m, REGION_ID_bs_##name, 0, &m->shared->scheduler.member) & (mask))

static uint32_t blocks_of_pass(const G80Machine *m, uint32_t sm) {
  return output(m, REGION_ID_bs_num_blocks_out, sm, &m->shared->scheduler.num_blocks_out[sm]) & 15;
}

static void put_warp_cell(const G80Machine *m, RegionId id, uint32_t sm, uint32_t warp, uint32_t value) {
  *warp_cell(m, id, sm, warp) = value;
  writes(m, id, warp_number(sm, warp));
}

void sm_reset(G80Machine *m, uint32_t sm) {
  G80Sm *s = &m->sm[sm];
  s->controller = (G80Controller){.state = CTL_IDLE};
  s->unit = (G80WarpUnit){0};
  s->poll_mode = POLL_OFF;
  s->controller_at = s->poll_at = s->read_at = s->write_at = s->done_at = s->next = G80_NEVER;
  for (uint32_t i = 0; i < STAGE_COUNT; i++) {
    s->leaves_at[i] = G80_NEVER;
    s->stages[i].busy = 0;
    s->stages[i].lane = 0;
  }
  for (uint32_t i = 0; i < G80_WARPS; i++) {
    put_warp_cell(m, REGION_ID_wp_state, sm, i, WARP_FINISHED);
    put_warp_cell(m, REGION_ID_stack_pointer, sm, i, 0);
  }
  tell_controller(m, sm, true);
  arbiter_forget(m, sm);
}

void controller_start(G80Machine *m, uint32_t sm, uint64_t cycle) {
  G80Controller *c = &m->sm[sm].controller;
  if (c->state != CTL_IDLE || blocks_of_pass(m, sm) == 0) return;
  *c = (G80Controller){.state = CTL_START, .idx = policy_first(m, sm)};
  tell_controller(m, sm, true);
  m->sm[sm].controller_at = m->sm[sm].next = cycle;
}

// idx_i within the pass -> linear index of the block in the grid.
static uint32_t linear_index(const G80Machine *m, const G80Controller *c) {
  return (OUTPUT(block_idx_out, block_idx_out, 0xFFFF) + c->idx) & 0xFFFF;
}

static uint32_t header_word(const G80Machine *m, const G80Controller *c, uint32_t word) {
  uint32_t width = OUTPUT(grid_x_out, grid_out[0], 0xFFFF);
  switch (word) {
  case 1: return OUTPUT(block_x_out, block_out[0], 0xFFFF);
  case 2: return OUTPUT(block_y_out, block_out[1], 0xFFFF);
  case 3: return OUTPUT(block_z_out, block_out[2], 0xFFFF);
  case 4: return width;
  case 5: return OUTPUT(grid_y_out, grid_out[1], 0xFFFF);
  case 6: return width == 0 ? 0 : linear_index(m, c) % width;
  case 7: return width == 0 ? 0 : linear_index(m, c) / width;
  default: return 0;
  }
}

static void shared_put(G80Machine *m, uint32_t sm, uint32_t address, uint32_t value, uint32_t bytes) {
  uint8_t *memory = shared_bytes(m, sm);
  for (uint32_t i = 0; i < bytes; i++) memory[(address + i) & (G80_SHARED_BYTES - 1)] = (uint8_t)(value >> 8 * i);
  if (m->tells[REGION_ID_shared]) tell_bytes(m, REGION_ID_shared, sm * G80_SHARED_BYTES, address, bytes, true, NULL);
}

// The next block of the pass, or the end of the loop over blocks.
static bool next_block(G80Machine *m, uint32_t sm) {
  G80Controller *c = &m->sm[sm].controller;
  c->block = (c->block + 1) & 15;
  c->idx = (c->idx + policy_step(m)) & 0xFFFF;
  return c->block < blocks_of_pass(m, sm);
}

static void first_block(const G80Machine *m, uint32_t sm) {
  G80Controller *c = &m->sm[sm].controller;
  c->block = 0;
  c->idx = policy_first(m, sm);
}

static void end_block_header(G80Machine *m, uint32_t sm) {
  G80Controller *c = &m->sm[sm].controller;
  c->param = 0;
  c->shared_base = (c->shared_base + OUTPUT(shmem_size_out, shmem_size_out, UINT32_MAX)) & (G80_SHARED_BYTES - 1);
  c->state = next_block(m, sm) ? CTL_HEADER_0 : CTL_BLOCKS_DONE;
}

static uint32_t write_param(G80Machine *m, uint32_t sm) {
  G80Controller *c = &m->sm[sm].controller;
  reads(m, REGION_ID_cfg_params, c->param & 15);
  shared_put(m, sm, c->shared_base + 16 + 4 * (c->param & 0xFFFF), m->shared->config.params[c->param & 15], 4);
  c->param = (c->param + 1) & 0xFFFF;
  if (c->param >= OUTPUT(parameter_size_out, parameter_size_out, 0xFFFF)) end_block_header(m, sm);
  return PARAM_CYCLES;
}

static uint32_t warps_of_block(const G80Machine *m) { return (OUTPUT(threads_per_block_out, threads_per_block_out, 0xFFF) + 31) / 32; }

// Where a block's registers begin. The thesis's machine takes idx_i, which steps by the number of SMs, for the block's
// place in the register file; its 9 bits run over, and blocks of one SM share registers (thesis, 4.1.2).
static void locate_registers(G80Machine *m, uint32_t sm) {
  G80Controller *c = &m->sm[sm].controller;
  if (!m->thesis_registers) return;
  c->register_base = c->idx * warps_of_block(m) * OUTPUT(gprs_size_out, gprs_size_out, 511) & (G80_REGISTERS - 1);
}

static void begin_threads(G80Machine *m, uint32_t sm) {
  G80Controller *c = &m->sm[sm].controller;
  first_block(m, sm);
  c->register_base = c->lane = 0;
  c->thread[0] = c->thread[1] = c->thread[2] = 0;
  locate_registers(m, sm);
}

static void next_warp_registers(G80Machine *m, G80Controller *c) {
  c->lane = 0;
  c->register_base = (c->register_base + OUTPUT(gprs_size_out, gprs_size_out, 511)) & (G80_REGISTERS - 1);
}

static uint32_t write_thread(G80Machine *m, uint32_t sm) {
  G80Controller *c = &m->sm[sm].controller;
  uint32_t x = c->thread[0] & 0xFFFF, y = c->thread[1] & 0xFFFF, z = c->thread[2] & 0xFFFF;
  register_row(m, sm, c->register_base)[c->lane & 31] = x | y << 16 | z << 26;
  writes_for(m, REGION_ID_rf, register_number(sm, c->register_base), 1u << (c->lane & 31), NULL);
  c->lane = (c->lane + 1) & 31;
  if (c->lane == 0) next_warp_registers(m, c);
  c->thread[0] = x + 1;
  if (x + 1 < OUTPUT(block_x_out, block_out[0], 0xFFFF)) return THREAD_CYCLES;
  c->thread[0] = 0;
  c->thread[1] = y + 1;
  if (y + 1 < OUTPUT(block_y_out, block_out[1], 0xFFFF)) return THREAD_CYCLES;
  c->thread[1] = 0;
  c->thread[2] = z + 1;
  if (z + 1 < OUTPUT(block_z_out, block_out[2], 0xFFFF)) return THREAD_CYCLES;
  c->thread[2] = 0;
  c->state = CTL_THREAD_END;
  return THREAD_CYCLES;
}

static uint32_t end_threads(G80Machine *m, uint32_t sm) {
  G80Controller *c = &m->sm[sm].controller;
  if (c->lane != 0) next_warp_registers(m, c);
  bool more = next_block(m, sm);
  if (more) locate_registers(m, sm);
  c->state = more ? CTL_THREAD : CTL_THREADS_DONE;
  return THREAD_END_CYCLES;
}

static void begin_generation(G80Machine *m, uint32_t sm, uint64_t cycle) {
  G80Sm *s = &m->sm[sm];
  begin_threads(m, sm);
  s->controller.shared_base = OUTPUT(shmem_base_addr_out, shmem_base_addr_out, G80_SHARED_BYTES - 1);
  s->controller.warp = 0;
  s->controller.state = CTL_GENERATE;
  s->unit = (G80WarpUnit){0};
  uint32_t pass = m->shared->pass_count - 1;
  if (pass < G80_MAX_PASSES) m->shared->passes[pass].generate = max_u64(m->shared->passes[pass].generate, cycle + PHASE_CYCLES);
}

static void put_warp(G80Machine *m, uint32_t sm, uint64_t cycle) {
  G80Sm *s = &m->sm[sm];
  G80Controller *c = &s->controller;
  uint32_t warp = s->unit.warps & (G80_WARPS - 1);
  put_warp_cell(m, REGION_ID_wp_state, sm, warp, WARP_READY);
  put_warp_cell(m, REGION_ID_wp_shared_base, sm, warp, c->shared_base & (G80_SHARED_BYTES - 1));
  put_warp_cell(m, REGION_ID_wp_cta, sm, warp, c->block & 15);
  put_warp_cell(m, REGION_ID_wp_gpr_base, sm, warp, c->register_base & (G80_REGISTERS - 1));
  put_warp_cell(m, REGION_ID_wp_npc, sm, warp, 0);
  put_warp_cell(m, REGION_ID_wp_pc, sm, warp, 0);
  put_warp_cell(m, REGION_ID_wp_initial, sm, warp, UINT32_MAX);
  put_warp_cell(m, REGION_ID_wp_current, sm, warp, UINT32_MAX);
  put_warp_cell(m, REGION_ID_stack_pointer, sm, warp, 0);
  s->changed_at[warp] = cycle;
  s->unit.warps = min_u32((s->unit.warps & 63) + 1, G80_WARPS);
  next_warp_registers(m, c);
}

static void begin_run(G80Machine *m, uint32_t sm, uint64_t cycle) {
  G80Sm *s = &m->sm[sm];
  s->controller.state = CTL_RUN;
  s->unit.pointer = 0;
  s->poll_mode = POLL_POLLING;
  s->poll_at = s->poll_grid = cycle + PHASE_CYCLES;
  for (uint32_t i = 0; i < STAGE_COUNT; i++) s->stages[i].last_at = cycle;
  uint32_t pass = m->shared->pass_count - 1;
  if (pass < G80_MAX_PASSES) m->shared->passes[pass].issue = max_u64(m->shared->passes[pass].issue, s->poll_at);
  tell_phase(m, sm, "processing", s->poll_at);
}

// One warp, or the step from one block to the next.
static uint32_t generate(G80Machine *m, uint32_t sm, uint64_t cycle) {
  G80Controller *c = &m->sm[sm].controller;
  uint32_t cycles = 0, warps = warps_of_block(m);
  if (c->warp < warps) {
    if (c->warp == 0) tell_block(m, sm, c->block & 15, false);
    put_warp(m, sm, cycle);
    c->warp = (c->warp + 1) & 127;
    cycles += THREAD_CYCLES;
  }
  if (c->warp != 0 && c->warp < warps) return cycles;
  c->warp = 0;
  cycles += 1;
  c->shared_base = (c->shared_base + OUTPUT(shmem_size_out, shmem_size_out, UINT32_MAX)) & (G80_SHARED_BYTES - 1);
  if (next_block(m, sm)) {
    locate_registers(m, sm);
    return cycles;
  }
  cycles += PHASE_CYCLES;
  begin_run(m, sm, cycle + cycles);
  return cycles;
}

static uint32_t header_step(G80Machine *m, uint32_t sm) {
  G80Controller *c = &m->sm[sm].controller;
  uint32_t word = c->state - CTL_HEADER_0;
  shared_put(m, sm, c->shared_base + 2 * word, header_word(m, c, word), 2);
  c->state++;
  return HEADER_CYCLES;
}

static uint32_t header_end(G80Machine *m, uint32_t sm) {
  G80Controller *c = &m->sm[sm].controller;
  c->param = 0;
  c->state = CTL_PARAM;
  if (OUTPUT(parameter_size_out, parameter_size_out, 0xFFFF) == 0) end_block_header(m, sm);
  return HEADER_END_CYCLES + m->block_cycles;
}

static uint32_t step(G80Machine *m, uint32_t sm, uint64_t cycle) {
  G80Controller *c = &m->sm[sm].controller;
  uint32_t state = c->state & 31;
  if (state >= CTL_HEADER_0 && state <= CTL_HEADER_7) return header_step(m, sm);
  switch (state) {
  case CTL_START:
    c->shared_base = OUTPUT(shmem_base_addr_out, shmem_base_addr_out, G80_SHARED_BYTES - 1);
    c->state = CTL_HEADER_0;
    return 0;
  case CTL_HEADER_END: return header_end(m, sm);
  case CTL_PARAM: return write_param(m, sm);
  case CTL_BLOCKS_DONE:
    begin_threads(m, sm);
    c->state = CTL_THREAD;
    return PHASE_CYCLES;
  case CTL_THREAD: return write_thread(m, sm);
  case CTL_THREAD_END: return end_threads(m, sm);
  case CTL_THREADS_DONE: begin_generation(m, sm, cycle); return PHASE_CYCLES;
  case CTL_GENERATE: return generate(m, sm, cycle);
  default: return CYCLES_FOR_EVER; // idle, running, done; illegal codes stay
  }
}

// The configuration port has answered; a parameter's 6 cycles count from the request, if nobody else wanted the port.
void controller_released(G80Machine *m, uint32_t sm, uint64_t cycle) {
  tell_controller(m, sm, false);
  m->sm[sm].controller_at = cycle + write_param(m, sm) - m->arbiter.grant - 2;
  tell_controller(m, sm, true);
}

void controller_step(G80Machine *m, uint32_t sm, uint64_t cycle) {
  G80Sm *s = &m->sm[sm];
  tell_controller(m, sm, false);
  if (m->outside && (s->controller.state & 31) == CTL_PARAM) {
    s->controller_at = G80_NEVER;
    arbiter_request(m, PORT_CONFIG, sm, cycle);
    return;
  }
  uint32_t cycles = step(m, sm, cycle);
  bool over = cycles == CYCLES_FOR_EVER || (s->controller.state & 31) == CTL_RUN;
  s->controller_at = over ? G80_NEVER : cycle + cycles;
  tell_controller(m, sm, true);
}

// The blocks of the pass leave the SM.
static void end_blocks(const G80Machine *m, uint32_t sm) {
  const G80Controller *c = &m->sm[sm].controller;
  for (uint32_t i = 0; i < (c->block & 15); i++) tell_block(m, sm, i, true);
}

void controller_done(G80Machine *m, uint32_t sm, uint64_t cycle) {
  G80Sm *s = &m->sm[sm];
  s->done_at = G80_NEVER;
  end_blocks(m, sm);
  s->controller.state = CTL_DONE;
  s->controller.done = 1;
  tell_controller(m, sm, true);
  s->done_since = cycle;
  m->shared->scheduler_next = min_u64(m->shared->scheduler_next, cycle + 1);
}
