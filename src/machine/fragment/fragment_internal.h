// The fragment processor's state and stages. All that changes is the block: a FragCore, then arrays whose sizes the Spec decides.
// Whatever bits cells hold, nothing is read or written outside.
#ifndef REDOUBT_FRAGMENT_INTERNAL_H
#define REDOUBT_FRAGMENT_INTERNAL_H

#include "machine/fragment/fragment.h"
#include "machine/parts/cache.h"
#include "machine/snapshot.h"

enum {
  FRAG_LINE = 64,         // bytes of a line of all caches
  FRAG_CONTEXTS = 16,     // at most, of a pipeline: waiters are a mask of 32 bits, for two pipelines
  FRAG_ADDRESS_BITS = 27, // 128 MB
};

typedef enum FragStatus { CONTEXT_FREE, CONTEXT_READY, CONTEXT_WAITS, CONTEXT_DONE } FragStatus;

typedef struct FragPlace {
  uint16_t x, y;
} FragPlace;
typedef struct FragEntry { // of the fragment queue
  FragPlace place;
  uint8_t valid, copy, starts, spare; // starts: a new group begins here
} FragEntry;
typedef struct FragContext {
  ShaderThread thread;
  FragPlace place;
  uint32_t texel; // CONTEXT_WAITS: from the memory's first byte
  uint8_t copy, spare[3];
} FragContext;
typedef struct FragState { // of a context; beside one another, since every cycle looks at all of them
  uint8_t status;          // FragStatus, in two bits
} FragState;
typedef struct FragPipe {
  uint8_t current, spare[7];
} FragPipe;
typedef struct FragMiss { // of a texture cache
  uint32_t address;       // of the line
  uint32_t waiters;       // contexts; of the second pipeline behind those of the first
  uint8_t valid, spare[7];
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
  FragPlace place, from; // where it goes; which fragment it is of
  uint64_t at;
} FragResult;
typedef struct FragRing { // what has come is taken in the same order
  uint32_t head, count;
} FragRing;

typedef struct FragIssue { // the point that goes out
  FragPlace place;
  uint8_t left, copy; // copies that are still to go; number of the next one
  uint8_t is_apart;   // it came out of turn: a group of its own
  uint8_t spare;
} FragIssue;
typedef struct FragRaster {
  uint16_t bounds[2]; // of the rectangle
  uint16_t at[2];     // the quad of the next point; y beyond the bounds: all are issued
  uint16_t corner;    // of the quad
  uint8_t grouped;    // fragments of the group that goes out
  uint8_t was_apart;  // and another has come between them
  FragIssue issue;
} FragRaster;
typedef struct FragRop { // a raster operation that waits for what the frame holds
  FragRing landing;      // its results
  uint32_t address;
  uint8_t waits, spare[3];
} FragRop;

typedef struct FragCore {
  uint64_t cycle, start;
  FragRaster raster;
  uint32_t frame;     // of raster operations: the frame's address
  uint16_t frame_row; // and points of a row
  uint8_t next_pipe, is_running, halted, is_drained, is_over, is_set_up;
  uint32_t flush; // raster operations give back what their caches hold: the next line
  FragRing asked, flying, result;
  uint32_t queue_head, queue_tail; // of the fragment queue
  uint32_t outcome;                // TrapKind
  uint64_t memory_at;              // when memory takes the next line
  uint64_t writes;                 // lines that raster operations have sent to memory and that wait for their turn
  uint64_t corrected, detected, repeated;
} FragCore;

typedef struct FragDims {
  uint32_t pipes, contexts, queue, misses, asked, rops, width, memory_width, memory_latency, flying, group, memory_interval;
  uint32_t sharing; // pipelines of a texture cache
  uint32_t store, units;
  CacheShape cache, tcache; // of raster operations, where each byte is valid by itself; of textures
  bool is_perfect, has_perfect_textures;
  bool lockstep; // pipelines go in pairs: the copies of a point are carried out in the same cycles
} FragDims;

// The arrays of the block, in their order.
typedef enum FragArray {
  ARRAY_CORE,
  ARRAY_CONSTANTS,
  ARRAY_STORE,
  ARRAY_QUEUE,
  ARRAY_TEMP,
  ARRAY_HALF,
  ARRAY_INPUT,
  ARRAY_CONTEXTS,
  ARRAY_STATES,
  ARRAY_PIPES,
  ARRAY_TCACHE_TAGS,
  ARRAY_TCACHE,
  ARRAY_TCACHE_DATA,
  ARRAY_MISSES,
  ARRAY_ASKED,
  ARRAY_FLYING,
  ARRAY_RESULT,
  ARRAY_LANDING,
  ARRAY_ROPS,
  ARRAY_RCACHE_TAGS,
  ARRAY_RCACHE,
  ARRAY_RCACHE_DATA,
  ARRAY_STATS,
  FRAG_ARRAYS
} FragArray;

// Structures whose accesses are told row by row, beside registers: what can carry ECC.
typedef enum FragLooked {
  LOOKED_RASTER,
  LOOKED_CORNER,
  LOOKED_BOUNDS,
  LOOKED_FRAME,
  LOOKED_ROW,
  LOOKED_TCACHE,
  LOOKED_RCACHE,
  LOOKED_STORE,
  FRAG_LOOKED
} FragLooked;

typedef struct FragStats { // decide nothing
  uint64_t instructions, reads, shared_reads, misses, merged, rop_accesses, rop_misses, memory_reads, memory_writes, busy, killed, repeats;
  uint64_t ended;              // fragments, of copies the first
  uint64_t tally[TALLY_COUNT]; // what schemes count
  struct {
    uint64_t at; // cycle + 1
    uint32_t pipe, line;
  } looked_up; // lockstep: the latest texture read
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
  uint16_t unit_region;              // outputs of the arithmetic units
  uint16_t looked[FRAG_LOOKED];
  HookChain hooks;
  HookMachine machine;
  uint32_t wants;
  FragCore *core;
  ShaderVector *constants, *temp, *input;
  ShaderHalves *half;
  ShaderWord *store;
  FragStats *stats;
  FragEntry *queue;
  FragContext *contexts;
  FragState *states;
  FragPipe *pipes;
  CacheTag *tcache_tags, *rcache_tags;
  CacheLine *tcache, *rcache;
  CacheData *tcache_data, *rcache_data;
  FragMiss *misses;
  FragAsked *asked, *flying;
  FragResult *result, *landing;
  FragRop *rops;
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
// Of a context whose number is below dims.contexts: no division, since every cycle asks this of all contexts.
static inline FragStatus status_of(const Fragment *m, uint32_t pipe, uint32_t number) {
  return (FragStatus)(m->states[pipe * m->dims.contexts + number].status & 3);
}
static inline void set_status(Fragment *m, uint32_t pipe, uint32_t number, FragStatus status) {
  m->states[pipe * m->dims.contexts + number].status = (uint8_t)status;
}
// The context after this one, round and round.
static inline uint32_t next_context(const Fragment *m, uint32_t number) { return number + 1 < m->dims.contexts ? number + 1 : 0; }
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
bool rops_give_back(Fragment *m);          // rop.c: and at the end their caches go to memory
bool results_cross(Fragment *m);           // rop.c: the crossbar hands results to raster operations
bool pipelines_work(Fragment *m);          // pipeline.c: one instruction of each pipeline
bool contexts_fill(Fragment *m);           // raster.c: fragments go to free contexts
bool rasteriser_fills(Fragment *m);        // raster.c: new fragments into the queue
uint64_t fragment_next(const Fragment *m); // the next cycle in which something arrives; UINT64_MAX: none

// ---- tell.c: hooks hear of registers and instructions; `pc` is of the instruction that has ended ---------------------------
void tell_begin(Fragment *m, uint32_t pipe, uint32_t number);                           // all registers are zero
void tell_reads(Fragment *m, uint32_t pipe, uint32_t number, const ShaderInstr *instr); // of the instruction that is next
void tell_end(Fragment *m, uint32_t pipe, uint32_t number, uint32_t pc, const ShaderInstr *instr);
// What the arithmetic units of a pipeline have computed; hooks may change it. False: the instruction is to be carried out again.
bool tell_result(Fragment *m, uint32_t pipe, uint32_t number, const ShaderInstr *instr, float result[4]);
// pipeline.c: the instruction at an address, from the program store; `room` is for one that a fault has changed. NULL: there is none, or none that is legal.
const ShaderInstr *fetched(Fragment *m, uint32_t pc, ShaderInstr *room);

// Bits of a row leave it or have entered it; `units` are those that count.
void tell_row(Fragment *m, FragLooked which, uint64_t row, uint32_t units, bool is_write);
// The same of device memory: bytes at an address, within a line. And of all that a launch uses: what the host has written, or may read.
void tell_memory(Fragment *m, uint32_t address, uint32_t bytes, bool is_write);
void tell_whole_memory(Fragment *m, bool is_write);
// A fragment is about to go to a context (false: a hook does not want that now), or has left it.
bool tell_fragment(Fragment *m, uint32_t pipe, uint32_t number, FragPlace place, uint32_t copy);
void tell_fragment_end(Fragment *m, uint32_t pipe, uint32_t number);

// texture.c: true: the texel is there. False: the context waits, or tries again (its status says).
bool texture_reads(Fragment *m, uint32_t pipe, uint32_t number, const ShaderRead *read, float texel[4]);
bool rops_take(Fragment *m, const FragContext *context);                              // rop.c: false: the crossbar is full
void rop_filled(Fragment *m, uint32_t rop, uint32_t address);                         // rop.c: a line of the frame has come
bool crossbar_asks(Fragment *m, uint32_t from, uint32_t miss, uint32_t line_address); // texture.c: false: it is full
void rops_flush(Fragment *m);                                                         // rop.c: what their caches hold goes to memory
uint8_t *frame_bytes(const Fragment *m, uint32_t address, uint32_t bytes);            // of memory; NULL: outside, only after a fault

#endif
