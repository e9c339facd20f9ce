// The fragment processor's state and stages. All that changes is the block: a FragCore, then arrays whose sizes the Spec decides.
// Whatever bits cells hold, nothing is read or written outside.
#ifndef REDOUBT_FRAGMENT_INTERNAL_H
#define REDOUBT_FRAGMENT_INTERNAL_H

#include "machine/fragment/fragment.h"
#include "machine/parts/cache.h"
#include "machine/snapshot.h"

enum {
  FRAG_LINE = 64,         // bytes of a line of all caches
  FRAG_CONTEXTS = 16,     // at most, of a pipeline: waiters are a mask of 16 bits
  FRAG_ADDRESS_BITS = 27, // 128 MB
};

typedef enum FragStatus { CONTEXT_FREE, CONTEXT_READY, CONTEXT_WAITS, CONTEXT_DONE } FragStatus;

typedef struct FragPlace {
  uint16_t x, y;
} FragPlace;
typedef struct FragEntry { // of the fragment queue
  FragPlace place;
  uint8_t valid, spare[3];
} FragEntry;
typedef struct FragContext {
  ShaderThread thread;
  FragPlace place;
  uint32_t texel; // CONTEXT_WAITS: from the memory's first byte
  uint8_t status, spare[3];
} FragContext;
typedef struct FragPipe {
  uint8_t current, spare[7];
} FragPipe;
typedef struct FragMiss { // of a texture cache
  uint32_t address;       // of the line
  uint16_t waiters;       // contexts
  uint8_t valid, spare;
} FragMiss;
typedef struct FragAsked { // an entry of the crossbar to memory
  uint32_t address;
  uint16_t miss; // number in the queue of `from`; unused for writes
  uint8_t from;  // pipeline
  uint8_t spare;
  uint64_t at; // when it can go on
} FragAsked;
typedef struct FragResult { // of the crossbar to raster operations
  uint32_t value[4];
  FragPlace place;
  uint32_t spare;
  uint64_t at;
} FragResult;
typedef struct FragRing { // what has come is taken in the same order
  uint32_t head, count;
} FragRing;

typedef struct FragCore {
  uint64_t cycle, start;
  uint16_t raster[2]; // the next fragment; y = height: all are issued
  uint8_t is_running, halted, spare[2];
  FragRing asked, flying, result, landing;
  uint32_t queue_head, queue_tail; // of the fragment queue
  uint32_t outcome;                // TrapKind
  uint64_t left;                   // fragments that have no result yet
  uint64_t writes;                 // lines that raster operations have sent to memory and that wait for their turn
  uint64_t corrected, detected, repeated;
} FragCore;

typedef struct FragDims {
  uint32_t pipes, contexts, queue, misses, asked, rops, width, memory_width, memory_latency, flying;
  CacheShape cache;
  bool is_perfect;
} FragDims;

// The arrays of the block, in their order.
typedef enum FragArray {
  ARRAY_CORE,
  ARRAY_CONSTANTS,
  ARRAY_QUEUE,
  ARRAY_TEMP,
  ARRAY_HALF,
  ARRAY_INPUT,
  ARRAY_CONTEXTS,
  ARRAY_PIPES,
  ARRAY_TCACHE,
  ARRAY_MISSES,
  ARRAY_ASKED,
  ARRAY_FLYING,
  ARRAY_RESULT,
  ARRAY_LANDING,
  ARRAY_RCACHE,
  ARRAY_STATS,
  FRAG_ARRAYS
} FragArray;

typedef struct FragStats { // decide nothing
  uint64_t instructions, reads, misses, merged, rop_accesses, rop_misses, memory_reads, memory_writes, busy, killed;
} FragStats;

typedef struct Fragment {
  Machine base;
  Arena *arena;
  const Spec *spec;
  FragDims dims;
  uint8_t *block;
  size_t own_bytes;
  size_t array_at[FRAG_ARRAYS];
  RegionTable regions;
  StateLayout layout;
  uint16_t temp_region, half_region; // whose accesses are told
  HookChain hooks;
  HookMachine machine;
  uint32_t wants;
  FragCore *core;
  ShaderVector *constants, *temp, *input;
  ShaderHalves *half;
  FragStats *stats;
  FragEntry *queue;
  FragContext *contexts;
  FragPipe *pipes;
  CacheLine *tcache, *rcache;
  FragMiss *misses;
  FragAsked *asked, *flying;
  FragResult *result, *landing;
  const MachineEnvironment *environment;
  const Launch *launch;
  const ShaderProgram *shader;
  FragmentParams params;
  uint32_t width, height;
  Memory *memory;
  Trap trap;
} Fragment;

static inline Fragment *fragment_of(Machine *machine) { return (Fragment *)machine; }
static inline const Fragment *fragment_in(const Machine *machine) { return (const Fragment *)machine; }
static inline ShaderState state_of(const Fragment *m, uint32_t pipe, uint32_t number) {
  size_t at = pipe * m->dims.contexts + number % m->dims.contexts;
  return (ShaderState){&m->contexts[at].thread, &m->temp[at * SHADER_TEMPS], &m->input[at * SHADER_INPUTS], &m->half[at * SHADER_HALVES],
                       m->constants};
}
static inline FragContext *context_at(const Fragment *m, uint32_t pipe, uint32_t number) {
  return &m->contexts[pipe * m->dims.contexts + number % m->dims.contexts];
}

// ---- layout.c: the block, and names of its cells -------------------------------------------------------------------
bool fragment_layout(Fragment *m, Diags *diags);
void fragment_bind(Fragment *m);
bool fragment_is_free(const HookMachine *machine, const Site *site);

// ---- The stages, in the order of a cycle; each returns whether it did anything -----------------------------------------
bool memory_replies(Fragment *m);          // texture.c: lines come back
bool memory_takes(Fragment *m);            // texture.c: the crossbar hands requests to memory
bool rops_work(Fragment *m);               // rop.c: raster operations write results
bool results_cross(Fragment *m);           // rop.c: the crossbar hands results to raster operations
bool pipelines_work(Fragment *m);          // pipeline.c: one instruction of each pipeline
bool contexts_fill(Fragment *m);           // pipeline.c: fragments go to free contexts
bool rasteriser_fills(Fragment *m);        // pipeline.c: new fragments into the queue
uint64_t fragment_next(const Fragment *m); // the next cycle in which something arrives; UINT64_MAX: none

// ---- tell.c: hooks hear of registers and instructions; `pc` is of the instruction that has ended ---------------------------
void tell_begin(Fragment *m, uint32_t pipe, uint32_t number); // all registers are zero
void tell_reads(Fragment *m, uint32_t pipe, uint32_t number); // of the instruction that is next
void tell_end(Fragment *m, uint32_t pipe, uint32_t number, uint32_t pc);

// texture.c: true: the texel is there. False: the context waits, or tries again (its status says).
bool texture_reads(Fragment *m, uint32_t pipe, uint32_t number, const ShaderRead *read, float texel[4]);
bool rops_take(Fragment *m, const FragContext *context);                   // rop.c: false: the crossbar is full
void rops_flush(Fragment *m);                                              // rop.c: what their caches hold goes to memory
uint8_t *frame_bytes(const Fragment *m, uint32_t address, uint32_t bytes); // of memory; NULL: outside, only after a fault

#endif
