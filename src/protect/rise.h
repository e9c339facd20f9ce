// What the files of RISE share: its options, its structures and the parts that rise.c puts together. See rise.c for the paper and the readings.
#ifndef REDOUBT_PROTECT_RISE_H
#define REDOUBT_PROTECT_RISE_H

#include "protect/protect_internal.h"
#include "protect/redundancy.h"

enum {
  RISE_TIMER_BITS = 10, // 3.1.3; it stays at its last count
  RISE_LAST_COUNT = (1 << RISE_TIMER_BITS) - 1,
  RISE_LATENCY_BITS = 16,
  RISE_COUNTER_BITS = 16, // 1,023 cycles times 64 warps; the paper prints no width
};

typedef enum RiseIdle { RISE_AT_START, RISE_FOLLOW, RISE_MIRROR } RiseIdle;

typedef struct RiseOptions {
  bool pending, idle, partial; // which techniques are there
  uint64_t threshold;          // T_thr_pend, cycles
  uint64_t reference;          // T_ref_lat, cycles: a power of two
  uint64_t period;             // of the samples of T_acc_lat, cycles
  uint64_t fixed;              // redundancy cycles of every request that waited longer than the threshold; 0: by Eq. 1
  uint64_t entries, seed, refetch;
  bool is_last;       // T_acc_lat is the latest access of a period; else their mean
  bool by_controller; // each controller has its own T_acc_lat; else one for the chip
  bool by_warp;       // a counter for each warp; else for each block
  bool scales;        // the second branch of Eq. 1 scales T_p
  bool in_order;      // the SMs that run one block more are the first ones; else chosen at random
  bool shuffles, helps;
  RedundancyOrder order;
  RiseIdle when; // which blocks are redundant
} RiseOptions;

typedef struct Rise {
  RiseOptions options;
  Redundancy redundancy;
  uint32_t sms, warps, block_slots, controllers, entries; // entries: of all controllers' buffers
  uint16_t queue;                                         // the machine's structure that the timers belong to
  // structures
  uint16_t timer, latency, sum, samples, turn; // rise_pending.c
  uint16_t counter, fixed, threads;            // rise.c
  uint16_t pick, load, running, left;          // rise_idle.c
  uint16_t until;                              // rise.c: when third issues are through the front end
} Rise;

// ---- Cells -----------------------------------------------------------------------------------------
static inline uint64_t rise_get(const HookMachine *machine, uint16_t region, uint64_t row) {
  const Region *item = &machine->regions->items[region];
  return unit_get(item, machine->block + item->base + row * item->row_bytes);
}
static inline void rise_set(const HookMachine *machine, uint16_t region, uint64_t row, uint64_t value) {
  const Region *item = &machine->regions->items[region];
  unit_set(item, machine->block + item->base + row * item->row_bytes, value);
}
// A structure of one cell of so many bits a row. REGION_NONE: its name is taken.
uint16_t rise_cells(HookLayout *layout, const Region *wanted, Diags *diags);

// ---- Counters --------------------------------------------------------------------------------------
// Row of the counter that a warp of this SM looks at.
static inline uint64_t rise_row(const Rise *own, uint32_t sm, uint32_t block_slot, uint32_t warp) {
  return own->options.by_warp ? (uint64_t)(sm % own->sms) * own->warps + warp % own->warps
                              : (uint64_t)(sm % own->sms) * own->block_slots + block_slot % own->block_slots;
}
static inline uint64_t rise_block_slot(const Rise *own, uint32_t sm, uint32_t block_slot) {
  return (uint64_t)(sm % own->sms) * own->block_slots + block_slot % own->block_slots;
}
static inline uint64_t rise_threads(const Rise *own, const HookMachine *machine) {
  return rise_get(machine, own->threads, 0);
} // of a block
// The warp is in redundancy mode.
bool rise_is_redundant(const Rise *own, const HookMachine *machine, uint32_t sm, uint32_t block_slot, uint32_t warp);

// ---- RP-FRISE: rise_pending.c ------------------------------------------------------------------------
bool rise_pending_attach(Rise *own, HookLayout *layout, Diags *diags);
uint64_t rise_cycles(const RiseOptions *options, uint64_t waited, uint64_t latency); // Eq. 1
Verdict rise_take(Hook *hook, HookMachine *machine, const HoldEvent *event);
Verdict rise_service(Hook *hook, HookMachine *machine, const MemoryEvent *event);
Verdict rise_response(Hook *hook, HookMachine *machine, const MemoryEvent *event);

// ---- IS-FRISE: rise_idle.c ---------------------------------------------------------------------------
bool rise_idle_attach(Rise *own, HookLayout *layout, Diags *diags);
void rise_idle_launch(const Rise *own, const HookMachine *machine, const LaunchEvent *event);
bool rise_idle_takes(const Rise *own, const HookMachine *machine, const BlockEvent *event); // this block runs redundantly
void rise_idle_mirror(const Rise *own, HookMachine *machine, const BlockEvent *event);      // idle=mirror

// ---- Partial-RISE: rise_partial.c ----------------------------------------------------------------------
Verdict rise_home(Hook *hook, HookMachine *machine, HomeEvent *event);
void rise_lend(const Rise *own, const HookMachine *machine, PlanEvent *event); // idle lanes to another warp, or to the warp's own threads

#endif
