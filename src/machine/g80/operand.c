// Operands from registers and memories into READ's registers, and results out of WRITE's. A job's lanes are 0..SPs-1 of the
// stage's registers. Every address is reduced to its memory's size, as the hardware's address lines do.
#include "machine/g80/g80_internal.h"

static uint32_t first_lane(const G80Machine *m, const G80Job *job) { return (job->group & (m->groups - 1)) * m->sps; }
static uint32_t group_lanes(const G80Machine *m, const G80Job *job) {
  return m->sps == 32 ? UINT32_MAX : ((1u << m->sps) - 1) << first_lane(m, job);
}

uint32_t guard_mask(const G80Machine *m, uint32_t sm, const SassInstr *instr, const G80Job *job) {
  if (instr->guard_condition == SASS_ALWAYS) return job->current;
  const uint8_t *flags = predicate_row(m, sm, job->warp, instr->guard_register);
  reads_for(m, REGION_ID_predicates, of_warp(sm, job->warp, instr->guard_register), UINT32_MAX, job);
  uint32_t mask = 0;
  for (uint32_t i = 0; i < 32; i++) mask |= (uint32_t)sass_condition(flags[i] & 15u, instr->guard_condition) << i;
  return job->current & mask;
}

static uint32_t memory_get(const uint8_t *memory, uint32_t size, uint32_t address, uint32_t bytes) {
  uint32_t value = 0;
  for (uint32_t i = 0; i < bytes; i++) value |= (uint32_t)memory[(address + i) & (size - 1)] << 8 * i;
  return value;
}

static void memory_put(uint8_t *memory, uint32_t size, uint32_t address, uint32_t value, uint32_t bytes) {
  for (uint32_t i = 0; i < bytes; i++) memory[(address + i) & (size - 1)] = (uint8_t)(value >> 8 * i);
}

uint32_t load_global(const G80Machine *m, const SassInstr *instr, uint32_t address) {
  uint32_t value = memory_get(global_bytes(m), G80_GLOBAL_BYTES, address, instr->access_bytes);
  if (!instr->access_signed) return value;
  return instr->access_bytes == 1 ? (uint32_t)(int8_t)value : instr->access_bytes == 2 ? (uint32_t)(int16_t)value : value;
}

void store_global(const G80Machine *m, const SassInstr *instr, uint32_t address, uint32_t value) {
  memory_put(global_bytes(m), G80_GLOBAL_BYTES, address, value, instr->access_bytes);
}

// A thread's Aa; number 1..4, 0 = none.
static uint32_t offset_of(const G80Machine *m, uint32_t sm, const G80Job *job, uint32_t number, uint32_t lane) {
  if (number != 0) reads_for(m, REGION_ID_address_registers, of_warp(sm, job->warp, number - 1), 1u << (lane & 31), job);
  return number == 0 ? 0 : address_row(m, sm, job->warp, number - 1)[lane & 31];
}

static void read_register(const G80Machine *m, uint32_t sm, const G80Job *job, const SassOperand *operand, uint32_t *out) {
  uint32_t lane = first_lane(m, job);
  const uint32_t *row = register_row(m, sm, job->gpr_base + operand->value) + lane;
  if (!operand->zero) reads_for(m, REGION_ID_rf, register_number(sm, job->gpr_base + operand->value), group_lanes(m, job), job);
  if (operand->zero) {
    memset(out, 0, m->sps * sizeof *out);
  } else if (operand->half == SASS_WHOLE) {
    for (uint32_t i = 0; i < m->sps; i += 8) memcpy(out + i, row + i, 8 * sizeof *out);
  } else {
    for (uint32_t i = 0; i < m->sps; i++) out[i] = sass_half_get(row[i], operand->half);
  }
}

static uint32_t shared_get(const G80Machine *m, uint32_t sm, uint32_t address, uint32_t bytes, const G80Job *job) {
  if (m->tells[REGION_ID_shared]) tell_bytes(m, REGION_ID_shared, sm * G80_SHARED_BYTES, address, bytes, false, job);
  return memory_get(shared_bytes(m, sm), G80_SHARED_BYTES, address, bytes);
}

static uint32_t constant_get(const G80Machine *m, const SassOperand *operand, const G80Job *job) {
  uint32_t bytes = sass_type_bytes(operand->type);
  if (m->tells[REGION_ID_constant]) tell_bytes(m, REGION_ID_constant, 0, operand->value, bytes, false, job);
  return memory_get(m->block + m->table_at[REGION_ID_constant], G80_CONSTANT_BYTES, operand->value, bytes);
}

static const uint32_t *addresses_get(const G80Machine *m, uint32_t sm, const G80Job *job, uint32_t number) {
  reads_for(m, REGION_ID_address_registers, of_warp(sm, job->warp, number - 1), group_lanes(m, job), job);
  return address_row(m, sm, job->warp, number - 1) + first_lane(m, job);
}

static void read_shared(const G80Machine *m, uint32_t sm, const SassInstr *instr, const SassOperand *operand, uint32_t *out) {
  const G80Job *job = &m->sm[sm].stages[STAGE_READ].job;
  uint32_t bytes = sass_type_bytes(operand->type), base = job->shared_base + operand->value;
  uint32_t active = group_mask(m, job, job->active), lane = first_lane(m, job);
  uint32_t all = instr->address == 0 ? shared_get(m, sm, base, bytes, job) : 0;
  for (uint32_t i = 0; i < m->sps; i++) {
    out[i] = all;
    if (instr->address != 0 && (active >> i & 1) != 0) {
      out[i] = shared_get(m, sm, base + offset_of(m, sm, job, instr->address, lane + i), bytes, job);
    }
  }
}

static void fill(const G80Machine *m, uint32_t *out, uint32_t value) {
  for (uint32_t i = 0; i < m->sps; i++) out[i] = value;
}

static void read_operand(const G80Machine *m, uint32_t sm, const SassInstr *instr, const SassOperand *operand, uint32_t *out) {
  const G80Job *job = &m->sm[sm].stages[STAGE_READ].job;
  switch (operand->kind) {
  case SASS_GPR: read_register(m, sm, job, operand, out); break;
  case SASS_SHARED: read_shared(m, sm, instr, operand, out); break;
  case SASS_CONSTANT: fill(m, out, constant_get(m, operand, job)); break;
  case SASS_IMMEDIATE: fill(m, out, operand->value); break;
  case SASS_ADDRESS: memcpy(out, addresses_get(m, sm, job, operand->value), m->sps * sizeof *out); break;
  default: break;
  }
}

// The sources that no operand names.
static void read_special(G80Machine *m, uint32_t sm, const SassInstr *instr) {
  G80Sm *s = &m->sm[sm];
  const G80Job *job = &s->stages[STAGE_READ].job;
  uint32_t lane = first_lane(m, job);
  if (instr->action == SASS_DO_FROM_ADDRESS || instr->action == SASS_DO_ADD_ADDRESS) { // Aa; none means A4
    uint32_t number = instr->address == 0 ? 4 : instr->address;
    memcpy(s->read.a, addresses_get(m, sm, job, number), m->sps * sizeof(uint32_t));
  }
  const uint8_t *flags = predicate_row(m, sm, job->warp, instr->guard_register) + lane;
  if (instr->action == SASS_DO_FROM_FLAGS || instr->reads_carry)
    reads_for(m, REGION_ID_predicates, of_warp(sm, job->warp, instr->guard_register), group_lanes(m, job), job);
  if (instr->action == SASS_DO_FROM_FLAGS) {
    for (uint32_t i = 0; i < m->sps; i++) s->read.a[i] = flags[i] & 15u;
  }
  s->read.carry = 0;
  for (uint32_t i = 0; instr->reads_carry && i < m->sps; i++) s->read.carry |= (uint32_t)((flags[i] & SASS_FLAG_CARRY) != 0) << i;
}

static void read_addresses(G80Machine *m, uint32_t sm, const SassInstr *instr) {
  G80Sm *s = &m->sm[sm];
  const G80Job *job = &s->stages[STAGE_READ].job;
  uint32_t lane = first_lane(m, job), active = group_mask(m, job, job->active);
  bool shared = instr->action == SASS_DO_STORE_SHARED;
  for (uint32_t i = 0; i < m->sps; i++) {
    uint32_t base = shared ? job->shared_base + instr->shared_offset : s->read.a[i];
    s->address[i] = base + offset_of(m, sm, job, instr->address, lane + i);
  }
  if (instr->action != SASS_DO_LOAD_GLOBAL || m->outside) return;
  for (uint32_t i = 0; i < m->sps; i++) s->read.c[i] = (active >> i & 1) != 0 ? load_global(m, instr, s->address[i]) : 0;
}

void operands_read(G80Machine *m, uint32_t sm, const SassInstr *instr) {
  G80Sm *s = &m->sm[sm];
  read_operand(m, sm, instr, &instr->a, s->read.a);
  read_operand(m, sm, instr, &instr->b, s->read.b);
  read_operand(m, sm, instr, &instr->c, s->read.c);
  if (instr->action >= SASS_DO_LOAD_GLOBAL && instr->action <= SASS_DO_STORE_SHARED) {
    read_addresses(m, sm, instr);
  } else {
    read_special(m, sm, instr);
  }
}

// ---- WRITE -----------------------------------------------------------------------------------------------------------
static void write_register(G80Machine *m, uint32_t sm, const SassInstr *instr, uint32_t active) {
  G80Sm *s = &m->sm[sm];
  const G80Job *job = &s->stages[STAGE_WRITE].job;
  uint32_t *row = register_row(m, sm, job->gpr_base + instr->d.value) + first_lane(m, job);
  uint32_t number = register_number(sm, job->gpr_base + instr->d.value), lanes = active << first_lane(m, job);
  if (instr->d.half != SASS_WHOLE) reads_for(m, REGION_ID_rf, number, lanes, job);
  if (instr->d.half == SASS_WHOLE && active == group_mask(m, job, UINT32_MAX)) {
    for (uint32_t i = 0; i < m->sps; i += 8) memcpy(row + i, s->write.d + i, 8 * sizeof *row); // SPs come in eights
  } else {
    for (uint32_t i = 0; i < m->sps; i++) {
      if ((active >> i & 1) != 0) row[i] = sass_half_put(row[i], s->write.d[i], instr->d.half);
    }
  }
  writes_for(m, REGION_ID_rf, number, lanes, job);
}

static void write_address(G80Machine *m, uint32_t sm, const SassInstr *instr, uint32_t active) {
  G80Sm *s = &m->sm[sm];
  const G80Job *job = &s->stages[STAGE_WRITE].job;
  uint32_t *row = address_row(m, sm, job->warp, instr->d.value - 1) + first_lane(m, job);
  for (uint32_t i = 0; i < m->sps; i++) {
    if ((active >> i & 1) != 0) row[i] = s->write.d[i];
  }
  writes_for(m, REGION_ID_address_registers, of_warp(sm, job->warp, instr->d.value - 1), active << first_lane(m, job), job);
}

static void write_flags(G80Machine *m, uint32_t sm, const SassInstr *instr, uint32_t active) {
  G80Sm *s = &m->sm[sm];
  const G80Job *job = &s->stages[STAGE_WRITE].job;
  uint8_t *row = predicate_row(m, sm, job->warp, instr->predicate) + first_lane(m, job);
  for (uint32_t i = 0; i < m->sps; i++) {
    if ((active >> i & 1) != 0) row[i] = s->write.flags[i] & 15;
  }
  writes_for(m, REGION_ID_predicates, of_warp(sm, job->warp, instr->predicate), active << first_lane(m, job), job);
}

// One thread after the other, in ascending order: of equal addresses the last wins.
static void write_memory(G80Machine *m, uint32_t sm, const SassInstr *instr, uint32_t active) {
  G80Sm *s = &m->sm[sm];
  uint8_t *shared = shared_bytes(m, sm);
  for (uint32_t i = 0; i < m->sps; i++) {
    if ((active >> i & 1) == 0) continue;
    if (instr->action == SASS_DO_STORE_SHARED) {
      memory_put(shared, G80_SHARED_BYTES, s->write_address[i], s->write.c[i], instr->access_bytes);
      if (m->tells[REGION_ID_shared])
        tell_bytes(m, REGION_ID_shared, sm * G80_SHARED_BYTES, s->write_address[i], instr->access_bytes, true, &s->stages[STAGE_WRITE].job);
    } else {
      store_global(m, instr, s->write_address[i], s->write.c[i]);
    }
  }
}

void result_write(G80Machine *m, uint32_t sm, const SassInstr *instr) {
  const G80Job *job = &m->sm[sm].stages[STAGE_WRITE].job;
  uint32_t active = group_mask(m, job, job->active);
  bool stores = instr->action == SASS_DO_STORE_SHARED || (instr->action == SASS_DO_STORE_GLOBAL && !m->outside);
  if (instr->write == SASS_WRITE_GPR32 || instr->write == SASS_WRITE_GPR16) write_register(m, sm, instr, active);
  if (instr->write == SASS_WRITE_ADDRESS) write_address(m, sm, instr, active);
  if (instr->sets_predicate) write_flags(m, sm, instr, active);
  if (stores) write_memory(m, sm, instr, active);
  if (instr->increment != 0) { // A4, whatever address register the instruction names
    uint32_t *row = address_row(m, sm, job->warp, 3) + first_lane(m, job), lanes = active << first_lane(m, job);
    reads_for(m, REGION_ID_address_registers, of_warp(sm, job->warp, 3), lanes, job);
    for (uint32_t i = 0; i < m->sps; i++) row[i] += (active >> i & 1) != 0 ? instr->increment : 0;
    writes_for(m, REGION_ID_address_registers, of_warp(sm, job->warp, 3), lanes, job);
  }
}
