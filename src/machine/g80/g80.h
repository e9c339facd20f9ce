// The FlexGripPlus machine: the G80 model with N SMs, its block scheduler, and arbiters in front of what SMs share.
//
// It runs G80 machine code. State is one pointer-free block whose cells are named by a RegionTable (state.def), so that a
// fault is a flipped bit of the block between two cycles. Time is counted in clock cycles c; edge c lies at 10c - 5 ns.
// Devices make it by machine_new, as any machine; g80_launch is for those who study this one, and have no device.
// Sources: the FlexGripPlus micro-architecture notes and instruction reference (one SM, read from its RTL); Faggiano, "An
// extended RT-level model of an NVIDIA GPU for safety-critical applications", 2022 (block scheduler for N SMs, arbiters).
// docs/flexgrip.md tells what is modelled, and how exactly.
#ifndef REDOUBT_G80_H
#define REDOUBT_G80_H

#include "machine/machine.h"
#include "sass/sass.h"

#define G80_NEVER UINT64_MAX
enum { G80_CLOCK_NS = 10, G80_GLOBAL_BYTES = 1 << 18, G80_CONSTANT_BYTES = 8192, G80_MAX_PARAMS = 15 };

// What the host configures. Pointers are read by g80_launch only.
typedef struct G80Launch {
  uint32_t grid[2], block[3];
  uint32_t blocks_per_core; // 1..15 resident blocks per SM
  uint32_t gprs;            // registers per thread
  uint32_t shared_bytes;    // per block, without the header and the parameters
  uint32_t param_count;
  uint32_t params[G80_MAX_PARAMS];
  const uint32_t *constants; // words of constant memory, from address 0
  uint32_t constant_count;
  uint32_t constant_bytes; // what the host declares; enters the start time only. 0: those of the words, 32 at least
  const uint8_t *global;   // first bytes of global memory; the rest is 0
  uint32_t global_bytes;
  uint64_t cycle_limit; // the run ends as a timeout at this cycle; 0: none
} G80Launch;
// What the program says of its launch, the machine's defaults where it says nothing.
void g80_launch_default(G80Launch *launch, const Spec *spec, const SassProgram *program);

typedef enum G80Outcome {
  G80_RUNNING,
  G80_DONE,    // the block scheduler raised kernel_done
  G80_HANG,    // nothing can happen any more
  G80_TIMEOUT, // cycle_limit
  G80_HALTED,  // a protection found what it cannot repair
  G80_STOPPED, // on request
} G80Outcome;

enum { G80_MAX_PASSES = 64 };
typedef struct G80Pass { // one batch of blocks, cycles
  uint64_t run;          // smp_run: the SMs start
  uint64_t generate;     // last SM has its shared memory and registers set up
  uint64_t issue;        // last SM's first issue
  uint64_t done;         // smp_done as the block scheduler sees it
} G80Pass;

typedef struct G80Result {
  G80Outcome outcome;
  uint64_t start_ns, kernel_done_ns; // of SMP_Processing; kernel_done_ns = now, when not done
  uint64_t cycles;                   // from start to end
  uint32_t pass_count;               // passes beyond G80_MAX_PASSES are counted only
  G80Pass passes[G80_MAX_PASSES];
  uint64_t warp_instructions, thread_instructions, jobs;
  const uint8_t *global; // G80_GLOBAL_BYTES; lives as long as the machine
} G80Result;

// Memory images: a 32-bit word a line in hexadecimal, as the RTL's test benches have them.
typedef struct G80Words {
  uint32_t *items; // in the arena
  uint32_t count;
} G80Words;
bool g80_read_words(Arena *arena, const char *path, uint32_t most, G80Words *words, Diags *diags);
void g80_write_words(const uint8_t *bytes, uint32_t byte_count, Text *out); // zero words at the end are left out

// A machine that has begun a launch. NULL after errors. The program may go after the call. Everything else is done by machine_run and
// its like; clones (with no memory) must go before the machine they were made from.
Machine *g80_launch(const Spec *spec, const HookChain *hooks, const SassProgram *program, const G80Launch *launch, Diags *diags);
void g80_result(const Machine *machine, G80Result *result); // of such a machine, so far

#endif
