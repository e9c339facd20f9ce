// Shared by the files of the FlexGripPlus machine. Everything that changes in a run is in the block (state.h); the rest
// of G80Machine is fixed when the machine is made.
#ifndef REDOUBT_G80_INTERNAL_H
#define REDOUBT_G80_INTERNAL_H

#include "machine/g80/state.h"

// Regions by name, in the order of state.def; TABLE and MEMORY rows have an array of their own.
typedef enum RegionId {
#define ONE(name, ...) REGION_ID_##name,
#define EACH(name, ...) REGION_ID_##name,
#define PARAMS(name, ...) REGION_ID_##name,
#define PORT(name, ...) REGION_ID_##name,
#define SM(name, ...) REGION_ID_##name,
#define SM_BYTES(name, ...) REGION_ID_##name,
#define TABLE(name, ...) REGION_ID_##name,
#define MEMORY(name, ...) REGION_ID_##name,
#include "machine/g80/state.def"
#undef ONE
#undef EACH
#undef PARAMS
#undef PORT
#undef SM
#undef SM_BYTES
#undef TABLE
#undef MEMORY
  REGION_ID_COUNT
} RegionId;

// Cycles that the thesis does not give; chosen once (docs/DEVIATIONS.md).
typedef struct ArbiterTiming {
  uint32_t grant; // from a request to the grant when nobody else wants the port
  uint32_t turn;  // from an acknowledge to the next grant of the same round
  uint32_t walk;  // for each SM not in the round that is passed over
} ArbiterTiming;

struct G80Machine {
  Arena *arena; // NULL in clones
  uint8_t *block;
  size_t block_bytes, hashed_from_sms;
  uint32_t sms, sps, groups, predicate_cycles;
  bool outside;          // arbiters outside the SMs, as in the thesis
  bool thesis_registers; // thesis_register_addressing
  uint32_t block_cycles; // calibration constant
  ArbiterTiming arbiter;
  uint64_t cycle_limit;
  RegionTable regions;
  uint16_t region_index[REGION_ID_COUNT]; // REGION_NONE: not in this machine
  size_t table_at[REGION_ID_COUNT];       // TABLE and MEMORY rows: from the block's first byte
  G80Shared *shared;
  G80Sm *sm;
  const SassInstr *decoded; // of the program's words as they were loaded
  uint32_t decoded_count;
  SassInstr scratch; // of a word that is no longer what was loaded
  const LaneFunction *functions;
  size_t stuck_byte;  // of the block
  uint8_t stuck_mask; // 0: nothing is stuck
  uint8_t stuck_bits; // what it is stuck at
  G80Watch watch;
  void *watch_own;
};

// ---- Cells -----------------------------------------------------------------------------------------------------------
static inline uint32_t *table_words(const G80Machine *m, RegionId id) { return (uint32_t *)(void *)(m->block + m->table_at[id]); }
static inline uint32_t *warp_cell(const G80Machine *m, RegionId id, uint32_t sm, uint32_t warp) {
  return table_words(m, id) + sm * G80_WARPS + (warp & (G80_WARPS - 1));
}
static inline uint32_t *register_row(const G80Machine *m, uint32_t sm, uint32_t number) {
  return table_words(m, REGION_ID_rf) + (size_t)(sm * G80_REGISTERS + (number & (G80_REGISTERS - 1))) * 32;
}
static inline uint8_t *predicate_row(const G80Machine *m, uint32_t sm, uint32_t warp, uint32_t number) {
  return m->block + m->table_at[REGION_ID_predicates] + (size_t)((sm * G80_WARPS + (warp & 31)) * 4 + (number & 3)) * 32;
}
static inline uint32_t *address_row(const G80Machine *m, uint32_t sm, uint32_t warp, uint32_t number) {
  return table_words(m, REGION_ID_address_registers) + (size_t)((sm * G80_WARPS + (warp & 31)) * 4 + (number & 3)) * 32;
}
static inline uint8_t *shared_bytes(const G80Machine *m, uint32_t sm) {
  return m->block + m->table_at[REGION_ID_shared] + (size_t)sm * G80_SHARED_BYTES;
}
static inline uint8_t *global_bytes(const G80Machine *m) { return m->block + m->table_at[REGION_ID_global]; }

static inline void watch_access(const G80Machine *m, RegionId id, uint32_t row, bool write, uint64_t cycle) {
  if (m->watch != NULL) m->watch(m->watch_own, cycle, m->region_index[id], row, write);
}

// True: the stuck cell had to be put back.
static inline bool force_stuck(G80Machine *m) {
  uint8_t *byte = m->block + m->stuck_byte;
  uint8_t before = *byte;
  *byte = (uint8_t)((before & ~m->stuck_mask) | m->stuck_bits);
  return *byte != before;
}

// ---- layout.c --------------------------------------------------------------------------------------------------------
void layout_build(G80Machine *m); // regions, block_bytes; needs sms, sps, outside

// ---- scheduler.c -----------------------------------------------------------------------------------------------------
void scheduler_reset(G80Machine *m);
void scheduler_edge(G80Machine *m, uint64_t cycle);   // one clock edge; sets scheduler_next
void scheduler_settle(G80Machine *m, uint64_t cycle); // the wires, for whoever looks at or strikes them

// ---- controller.c ----------------------------------------------------------------------------------------------------
void sm_reset(G80Machine *m, uint32_t sm);
void controller_start(G80Machine *m, uint32_t sm, uint64_t cycle);
void controller_step(G80Machine *m, uint32_t sm, uint64_t cycle);
void controller_released(G80Machine *m, uint32_t sm, uint64_t cycle); // the configuration port has answered
void controller_done(G80Machine *m, uint32_t sm, uint64_t cycle);

// ---- warp_unit.c -----------------------------------------------------------------------------------------------------
void warp_unit_poll(G80Machine *m, uint32_t sm, uint64_t cycle);
void warp_unit_written(G80Machine *m, uint32_t sm, const G80Job *job, uint64_t cycle);                  // the last lane group has written
bool warp_unit_barrier(G80Machine *m, uint32_t sm, const G80Job *job, uint64_t cycle, uint32_t *warps); // true: released
void warp_unit_issued(G80Machine *m, uint32_t sm, uint64_t cycle);
void warp_unit_fetch_free(G80Machine *m, uint32_t sm, uint64_t cycle);
void warp_unit_rearm(G80Machine *m, uint32_t sm, uint64_t cycle); // cells may have changed by hand

// ---- pipeline.c, access.c --------------------------------------------------------------------------------------------
void pipeline_issue(G80Machine *m, uint32_t sm, uint32_t warp, uint64_t cycle);
void sm_schedule(G80Sm *s); // s->next from everything that can happen in the SM
void pipeline_step(G80Machine *m, uint32_t sm, uint64_t cycle);
const SassInstr *job_instr(G80Machine *m, const G80Job *job);
// Serial accesses through a port that SMs share.
void access_begin_read(G80Machine *m, uint32_t sm, const SassInstr *instr, uint64_t cycle);
void access_begin_write(G80Machine *m, uint32_t sm, const SassInstr *instr, uint64_t cycle);
void access_fetch(G80Machine *m, uint32_t sm, uint64_t cycle);
void access_read(G80Machine *m, uint32_t sm, uint64_t cycle);
void access_write(G80Machine *m, uint32_t sm, uint64_t cycle);
void access_released(G80Machine *m, PortId port, uint32_t sm, uint64_t cycle);
uint64_t access_granted(G80Machine *m, PortId port, uint32_t sm, uint64_t cycle); // the cycle of its acknowledge

// ---- arbiter.c -------------------------------------------------------------------------------------------------------
void arbiter_request(G80Machine *m, PortId port, uint32_t sm, uint64_t cycle);
void arbiter_step(G80Machine *m, PortId port, uint64_t cycle);
void arbiter_forget(G80Machine *m, uint32_t sm); // the SM is reset

// ---- timing.c --------------------------------------------------------------------------------------------------------
uint32_t read_cycles(const G80Machine *m, const SassInstr *instr, const G80Job *job);
uint32_t execute_cycles(const G80Machine *m, const SassInstr *instr, const G80Sm *s);
uint32_t write_cycles(const G80Machine *m, const SassInstr *instr, const G80Job *job);
enum { CYCLES_FOR_EVER = UINT32_MAX };
static inline uint32_t group_mask(const G80Machine *m, const G80Job *job, uint32_t mask) {
  uint32_t shift = (job->group & (m->groups - 1)) * m->sps;
  return mask >> shift & (m->sps == 32 ? UINT32_MAX : (1u << m->sps) - 1);
}

// ---- operand.c, flow.c -----------------------------------------------------------------------------------------------
uint32_t guard_mask(const G80Machine *m, uint32_t sm, const SassInstr *instr, const G80Job *job);
void operands_read(G80Machine *m, uint32_t sm, const SassInstr *instr);
void result_write(G80Machine *m, uint32_t sm, const SassInstr *instr);
uint32_t load_global(const G80Machine *m, const SassInstr *instr, uint32_t address);
void store_global(const G80Machine *m, const SassInstr *instr, uint32_t address, uint32_t value);
// Extra cycles of EXECUTE are in the result: whether the stack was pushed or popped.
typedef enum FlowEffect { FLOW_NONE, FLOW_PUSHED, FLOW_POPPED } FlowEffect;
FlowEffect flow_execute(G80Machine *m, uint32_t sm, const SassInstr *instr, G80Job *job);
void flow_join(G80Machine *m, uint32_t sm, G80Job *job);

#endif
