// The machine's block. One row of state.def per structure; here are the C types behind the rows.
//
// The block is [G80Shared][G80Sm x SMs][tables]: tables (state.def, TABLE and MEMORY) are arrays whose first index is the
// SM. Cells are wider in the block than in hardware; readers mask. Fields called *_at or next are the simulator's
// clockwork: times of events, no cells of the hardware.
#ifndef REDOUBT_G80_STATE_H
#define REDOUBT_G80_STATE_H

#include "machine/g80/g80.h"

enum {
  G80_MAX_SMS = 32,
  G80_WARPS = 32,
  G80_REGISTERS = 512,
  G80_STACK = 32,
  G80_BLOCK_SLOTS = 16,
  G80_SHARED_BYTES = 16384,
  G80_SYSTEM_WORDS = 65536,
};

// ---- Block scheduler (reference, "Block scheduler"; thesis 3.1) ------------------------------------------------------
typedef enum SchedulerState { BS_IDLE, BS_CALC_BLOCKS, BS_CHECK_BLOCKS, BS_SCHEDULE_BLOCKS, BS_SCHEDULE_WAIT } SchedulerState;

typedef struct G80Scheduler {
  uint32_t state;
  uint32_t num_blocks[G80_MAX_SMS];
  uint32_t blocks_scheduled_cnt, threads_per_block_out;
  uint32_t num_blocks_out[G80_MAX_SMS];
  uint32_t shmem_base_addr_out, shmem_size_out, parameter_size_out, gprs_size_out;
  uint32_t block_out[3], grid_out[2], block_idx_out;
  uint32_t shmem_params_out, cmem_params_out; // unconnected
  uint32_t smp_reset_out, smp_en_out, rdy, kernel_done;
  uint32_t cnt, cnt_b, smp_done; // Algorithm 2
} G80Scheduler;

// Signals without a register: they follow from registers and inputs within a cycle.
typedef struct G80Wires {
  uint64_t threads_per_block_i; // 48 bits
  uint32_t grid_dimension, blocks_remaining, blocks_per_gpgpu, blocks_remaining_mod_sm, blocks_per_core_all;
} G80Wires;

// The configuration block: the scheduler's inputs.
typedef struct G80Config {
  uint32_t host_reset, en;
  uint32_t blocks_per_core, num_gprs, shmem_size, parameter_size, dyn_shmem_size;
  uint32_t block[3], grid[2];
  uint32_t params[16];
} G80Config;

// ---- Arbiters (thesis 3.3) -------------------------------------------------------------------------------------------
typedef enum ArbiterState { ARBITER_IDLE, ARBITER_REQUESTED, ARBITER_WAITING_ACK } ArbiterState;
typedef enum PortId { PORT_GLOBAL_A, PORT_GLOBAL_B, PORT_CONSTANT, PORT_SYSTEM, PORT_CONFIG, PORT_COUNT } PortId;
typedef struct G80Port {
  uint64_t next; // cycle of the FSM's next step
  uint32_t state, pointer;
  uint32_t request, grant, stall, ack, served; // a bit per SM
} G80Port;

typedef struct G80Shared {
  uint64_t cycle;          // the next cycle to be simulated
  uint64_t start;          // of SMP_Processing
  uint64_t ended_at;       // G80_NEVER while it runs
  uint64_t host_at;        // the host raises en
  uint64_t scheduler_next; // next edge at which the scheduler's registers can change
  uint64_t wires_at;       // cycle the wires were settled for
  uint32_t outcome;        // G80Outcome
  uint32_t halted;         // 1: a hook wants the launch to end
  uint32_t pass_count;
  G80Scheduler scheduler;
  G80Config config;
  G80Port ports[PORT_COUNT];
  // From here on: not hashed.
  G80Wires wires, settled; // as flips may have left them; as they were computed
  G80Pass passes[G80_MAX_PASSES];
  uint64_t warp_instructions, thread_instructions, jobs, blocks;
  uint64_t corrected, detected, repeated; // counted by hooks
  uint64_t tally[TALLY_COUNT];            // what schemes count
} G80Shared;
#define G80_SHARED_HASHED offsetof(G80Shared, wires)

// ---- SM --------------------------------------------------------------------------------------------------------------
// The SM controller's 19 states. HEADER_0..7 write the block's eight 16-bit header words.
typedef enum ControllerState {
  CTL_IDLE,
  CTL_START,
  CTL_HEADER_0,
  CTL_HEADER_7 = CTL_HEADER_0 + 7,
  CTL_HEADER_END,
  CTL_PARAM,
  CTL_BLOCKS_DONE,
  CTL_THREAD,
  CTL_THREAD_END,
  CTL_THREADS_DONE,
  CTL_GENERATE,
  CTL_RUN,
  CTL_DONE,
  CTL_STATE_COUNT
} ControllerState;

typedef struct G80Controller {
  uint32_t state;
  uint32_t block, idx;  // of the pass: 0.., and idx_i: from the SM's id in steps of the number of SMs
  uint32_t shared_base; // of the block
  uint32_t param;
  uint32_t thread[3], lane; // counters of the register set-up
  uint32_t register_base;
  uint32_t warp; // of the block, being generated
  uint32_t done; // smp_done
} G80Controller;

typedef enum WarpState { WARP_READY, WARP_ACTIVE, WARP_WAITING_FENCE, WARP_FINISHED } WarpState;
typedef struct G80WarpUnit {
  uint32_t pointer, warps; // next warp to poll; warps in the pool
} G80WarpUnit;

// What travels with a job = (warp, lane group) from stage to stage.
typedef struct G80Job {
  uint32_t warp, group, cta;
  uint32_t pc, low, high;
  uint32_t current;            // the warp's mask at issue
  uint32_t active;             // current and guard
  uint32_t next_pc, next_mask; // what WRITE stores in the warp pool
  uint32_t ends;               // 1: the warp is FINISHED then
  uint32_t returns;            // 1: a RET that found the stack not empty
  uint32_t shared_base, gpr_base;
} G80Job;

typedef struct G80Stage {
  uint64_t ready_at; // the stage's own work is done; G80_NEVER: it waits for a port
  uint64_t last_at;  // when the previous job left
  uint32_t busy;
  uint32_t lane; // of a serial access: the next lane of the group
  G80Job job;
} G80Stage;

typedef enum StageId { STAGE_FETCH, STAGE_DECODE, STAGE_READ, STAGE_EXECUTE, STAGE_WRITE, STAGE_COUNT } StageId;

// What the warp unit is about to do.
typedef enum PollMode {
  POLL_OFF,     // no warp can issue
  POLL_POLLING, // at poll_at
  POLL_ISSUING, // lane groups of the last warp are still to enter FETCH
  POLL_PARKED,  // at an ACTIVE warp
  POLL_CHOSEN,  // a warp waits for FETCH
} PollMode;

typedef struct G80Sm {
  uint64_t next;                   // earliest of the times below
  uint64_t leaves_at[STAGE_COUNT]; // when each stage's job can leave
  uint64_t controller_at;          // next step of the controller
  uint64_t poll_at;                // next poll; G80_NEVER unless POLL_POLLING
  uint64_t poll_grid;              // polls happen at even distances from here
  uint64_t read_at, write_at;      // next step of a serial access
  uint64_t done_at;                // when the controller will see that all warps have finished
  uint64_t done_since;             // edge that raised done: the scheduler sees it from the next edge on
  uint64_t changed_at[G80_WARPS];  // last change of each warp's state
  uint32_t poll_mode;              // PollMode
  G80Controller controller;
  G80WarpUnit unit;
  G80Stage stages[STAGE_COUNT];
  SassLanes read, execute, write; // operands and results in the stages' registers; lanes 0..SPs-1
  uint32_t address[32];           // of stores and loads in READ
  uint32_t execute_address[32], write_address[32];
} G80Sm;

#endif
