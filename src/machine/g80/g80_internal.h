// Shared by the files of the FlexGripPlus machine. Everything that changes in a run is in the block (state.h); the rest
// of G80Machine is fixed when the machine is made.
#ifndef REDOUBT_G80_INTERNAL_H
#define REDOUBT_G80_INTERNAL_H

#include "machine/g80/state.h"
#include "machine/snapshot.h"

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

typedef struct G80Hooks {
  HookChain chain;
  HookMachine machine;
  bool disturbed; // a hook has changed what was written in this cycle
} G80Hooks;

typedef struct G80Machine {
  Machine base;
  Arena *arena;
  const Spec *spec;
  uint8_t *block;
  size_t own_bytes; // of the block; behind it lies the hooks' state
  size_t hashed_from_sms;
  uint32_t sms, sps, groups, predicate_cycles;
  bool outside;          // arbiters outside the SMs, as in the thesis
  bool loses_requests;   // several SMs behind the arbiter of the released RTL
  bool private_ports;    // each SM has all ports to itself
  bool thesis_registers; // thesis_register_addressing
  uint32_t policy;       // dispatch.policy
  uint64_t policy_seed;  // dispatch.seed
  uint32_t block_cycles; // calibration constant
  ArbiterTiming arbiter;
  uint64_t cycle_limit; // of the launch, as a cycle; G80_NEVER: none
  RegionTable regions;  // the hooks' too
  StateLayout layout;
  uint16_t region_index[REGION_ID_COUNT]; // REGION_NONE: not in this machine
  uint32_t rows_of_sm[REGION_ID_COUNT];   // 0: the SMs share it
  size_t table_at[REGION_ID_COUNT];       // TABLE and MEMORY rows: from the block's first byte
  G80Shared *shared;
  G80Sm *sm;
  const SassInstr *decoded; // of the program's words as they were loaded
  uint32_t decoded_count;
  SassInstr scratch; // of a word that is no longer what was loaded
  const LaneFunction *functions;
  G80Hooks *hooks;
  bool tells_cells, tells_cycles, tells_commits; // to anybody
  bool tells[REGION_ID_COUNT];                   // accesses of a structure
  // Of a launch by a device; else NULL.
  const MachineEnvironment *environment;
  const Launch *launch;
  Memory *memory;
  Arena *program; // what is decoded
  Trap trap;
} G80Machine;

static inline G80Machine *g80_of(Machine *machine) { return (G80Machine *)machine; }
static inline const G80Machine *g80_in(const Machine *machine) { return (const G80Machine *)machine; }

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
static inline uint32_t register_number(uint32_t sm, uint32_t number) { return sm * G80_REGISTERS + (number & (G80_REGISTERS - 1)); }
static inline uint32_t warp_number(uint32_t sm, uint32_t warp) { return sm * G80_WARPS + (warp & (G80_WARPS - 1)); }
static inline uint32_t of_warp(uint32_t sm, uint32_t warp, uint32_t number) {
  return 4 * warp_number(sm, warp) + (number & 3);
} // predicates, addresses
static inline uint8_t *global_bytes(const G80Machine *m) { return m->block + m->table_at[REGION_ID_global]; }

// ---- tell.c: what hooks are told --------------------------------------------------------------------------------------
// Bits are about to leave cells, or have entered them. `job`: on whose behalf; NULL: of no instruction.
void tell_cells(const G80Machine *m, RegionId id, uint32_t row, uint32_t units, bool write, const G80Job *job);
static inline void reads(const G80Machine *m, RegionId id, uint32_t row) {
  if (m->tells[id]) tell_cells(m, id, row, 1, false, NULL);
}
static inline void writes(const G80Machine *m, RegionId id, uint32_t row) {
  if (m->tells[id]) tell_cells(m, id, row, 1, true, NULL);
}
static inline void reads_for(const G80Machine *m, RegionId id, uint32_t row, uint32_t units, const G80Job *job) {
  if (m->tells[id]) tell_cells(m, id, row, units, false, job);
}
static inline void writes_for(const G80Machine *m, RegionId id, uint32_t row, uint32_t units, const G80Job *job) {
  if (m->tells[id]) tell_cells(m, id, row, units, true, job);
}
void tell_bytes(const G80Machine *m, RegionId id, uint32_t first, uint32_t address, uint32_t bytes, bool write, const G80Job *job);
void tell_controller_cells(const G80Machine *m, uint32_t sm, bool write);
static inline void tell_controller(const G80Machine *m, uint32_t sm, bool write) { // all its registers
  if (m->tells_cells) tell_controller_cells(m, sm, write);
}
void tell_loaded(const G80Machine *m); // what the host has written before the launch
void tell_whom(G80Machine *m);         // finds out who wants what
void tell_launch(G80Machine *m);
void tell_block(const G80Machine *m, uint32_t sm, uint32_t block_slot, bool done);
void tell_port_cells(const G80Machine *m, PortId id, bool write);
static inline void tell_port(const G80Machine *m, PortId id, bool write) { // all registers of the arbiter
  if (m->tells_cells) tell_port_cells(m, id, write);
}
void tell_commit(const G80Machine *m, uint32_t sm, const G80Job *job, uint64_t issued_at);
void tell_phase(const G80Machine *m, uint32_t sm, const char *name, uint64_t at); // sm WHO_NO_INDEX: the whole machine
void tell_trap(const G80Machine *m, uint32_t kind);
void tell_cycle(G80Machine *m, uint64_t next); // to those who want this cycle; `next`: of the machine's next event
bool is_free_cell(const HookMachine *machine, const Site *site);

// ---- Which blocks go where (policy.c) ----------------------------------------------------------------------------------
uint32_t policy_rank(const G80Machine *m, uint32_t sm, uint32_t first_block); // of an SM among those of a pass that begins with this block
uint32_t policy_first(const G80Machine *m, uint32_t sm); // place in the pass of the SM's first block, as its controller finds it
uint32_t policy_place(const G80Machine *m, uint32_t sm); // the same, for who only looks on
uint32_t policy_step(const G80Machine *m);               // from one block of an SM to its next

// ---- layout.c --------------------------------------------------------------------------------------------------------
bool layout_build(G80Machine *m, Diags *diags); // regions, the hooks' too; needs sms, sps, outside, hooks

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

// ---- g80.c ------------------------------------------------------------------------------------------------------------
Machine *g80_make(const Spec *spec, const HookChain *hooks, Diags *diags);
void g80_free(Machine *machine);
bool g80_check(const G80Launch *launch, Diags *diags);
bool g80_load(G80Machine *m, const SassProgram *program, const G80Launch *launch, Diags *diags); // the start of a launch
void g80_bind(G80Machine *m);                                                                    // everything that points into the block
bool g80_run(Machine *machine, uint64_t until);

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
