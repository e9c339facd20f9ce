// AVF by ACE analysis (Mukherjee et al., MICRO 2003): from one run without faults, which bits matter in which cycles.
//
// An observer: it hears what a machine tells of its structures and follows values through registers, predicates and memory to what the host reads. A
// bit-cycle is ACE (a flip in it may change the result) unless a cause is known why it is not (cause.def). docs/avf.md says why each is sound.
#ifndef REDOUBT_ACE_H
#define REDOUBT_ACE_H

#include "hook/hook.h"

typedef enum AceCause {
#define CAUSE(id, name, is_ace, meaning) ACE_##id,
#include "ace/cause.def"
#undef CAUSE
  ACE_CAUSES
} AceCause;
typedef struct AceCauseInfo {
  const char *name, *meaning;
  bool is_ace;
} AceCauseInfo;
extern const AceCauseInfo ace_causes[ACE_CAUSES];

enum { ACE_WINDOW = 1 << 16, ACE_LEAST_WINDOW = 1 << 6, ACE_MOST_WINDOW = 1 << 22 }; // warp instructions
typedef struct AceOptions {
  // Names with commas between them; NULL: all. What control logic decides by (DECIDED structures) is followed only if it is named, or "all" is: to be
  // told of it takes longer than all else. Else it counts as ACE as long as a launch runs.
  const char *structures;
  uint32_t window; // warp instructions after which what is undecided counts as ACE; 0: ACE_WINDOW
  // Reads count, whoever reads: a protection that checks bits when they leave a structure acts on them though their value does not matter.
  bool all_reads_count;
  // Actions of protections may change who reads and writes memory: then stores to global and local memory always count.
  bool memory_is_output;
} AceOptions;

// What is known of a structure. HELD_ALWAYS: nothing is told of it, so all of it counts, as long as a launch runs. OUTSIDE: there is no number of it.
typedef enum AceTold { ACE_TOLD, ACE_HELD_ALWAYS, ACE_OUTSIDE } AceTold;

// Sums of bit-cycles by cause; of outputs of units also of lane-cycles. A lane that computes for two threads in a cycle gives each half a lane-cycle, so
// that both are counted in parts (ACE_PARTS).
enum { ACE_PARTS = 64 };
typedef struct AceSums {
  uint64_t bits[ACE_CAUSES], lanes[ACE_CAUSES];
} AceSums;

typedef struct AceStructure {
  const char *name;
  uint16_t region;
  AceTold told;
  bool is_output;            // a unit: sums are in ACE_PARTS of a cycle, else in cycles
  bool is_followed;          // its values are followed to those who need them: dead and masked are known
  uint64_t bit_count, lanes; // of all rows
} AceStructure;
typedef struct AceKernel {
  const char *name;
  uint32_t launches;
  uint64_t cycles;
  AceSums *sums; // by structure
} AceKernel;
typedef struct AceLaunch {
  uint32_t kernel;
  uint64_t cycles;
  uint64_t *bits, *undecided; // by structure: ACE bit-cycles, and those of them that are undecided
} AceLaunch;
typedef struct AceLine { // ACE bit-cycles of values that a line has made, or of the results that it sends through a unit
  uint32_t kernel, line;
  uint64_t *bits; // by structure
} AceLine;

typedef struct Ace Ace;
Ace *ace_new(const AceOptions *options); // ace_free
void ace_free(Ace *ace);
Hook *ace_hook(Ace *ace); // serves one machine; structures are known once it is attached

// The run is over: what is known by now is all. `host_sees`: the host may read memory that it was not told to have read.
void ace_end(Ace *ace, bool host_sees);

// What was found, after ace_end.
uint32_t ace_structure_count(const Ace *ace);
const AceStructure *ace_structure(const Ace *ace, uint32_t structure);
uint32_t ace_kernel_count(const Ace *ace);
const AceKernel *ace_kernel(const Ace *ace, uint32_t kernel);
uint64_t ace_cycles(const Ace *ace); // of all launches
uint32_t ace_window(const Ace *ace);
bool ace_all_reads_count(const Ace *ace);
// Sums of a structure over all launches; `empty` is filled in.
AceSums ace_sums(const Ace *ace, uint32_t structure);
uint32_t ace_launch_count(const Ace *ace);
const AceLaunch *ace_launch(const Ace *ace, uint32_t launch);
AceSums ace_kernel_sums(const Ace *ace, uint32_t kernel, uint32_t structure);
uint32_t ace_line_count(const Ace *ace); // by kernel, then by line
const AceLine *ace_line(const Ace *ace, uint32_t index);
// Time in slices of equal length: ACE bit-cycles of a structure in each. Returns how many there are.
enum { ACE_SLICES = 128 };
uint32_t ace_slices(const Ace *ace, uint32_t structure, uint64_t *cycles_each, uint64_t bits[ACE_SLICES]);

// Bits that are asked about, before the run: what is cause of each? Cycles are the machine's; in a unit, what passes the output then.
typedef struct AceProbe {
  Site site;
  uint64_t cycle;
  AceCause cause; // (out)
  bool is_known;  // (out) false: the structure tells nothing, or no launch ran then
  uint64_t id;    // the caller's
} AceProbe;
void ace_ask(Ace *ace, AceProbe *probes, uint32_t count); // before it is attached. Sorts them; they must live as long as the run

// What was found as bytes of this build, and back, with the answers; NULL: they are damaged. One that comes back is only looked at.
void ace_pack(const Ace *ace, Text *out);
Ace *ace_unpack(const char *bytes, size_t count, AceProbe *probes, uint32_t probe_count);

#endif
