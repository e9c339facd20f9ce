// What all machines share: memory as programs see it, launches, traps, statistics.
#ifndef REDOUBT_MACHINE_H
#define REDOUBT_MACHINE_H

#include "hook/hook.h"
#include "program/program.h"

// ---- Device memory -------------------------------------------------------------------------
// Device memory: one stretch of bytes, of which allocations are valid. Reads and writes outside a
// valid range are traps. `granule` is how coarse validity is: 1 = to the byte of each allocation,
// 2 MiB = as hardware's pages, where a small overrun goes unnoticed. It says nothing about where allocations lie.
typedef struct Memory Memory;
typedef struct MemoryOptions {
  uint64_t base;     // GLOBAL_BASE32 or GLOBAL_BASE64
  uint64_t capacity; // bytes; address space is reserved, pages are used as touched
  uint64_t granule;  // power of two
  uint64_t lead;     // bytes from `base` on that no allocation takes; by pages they are valid once there is one
  bool same_address; // place the bytes at host address == device address (managed memory)
} MemoryOptions;
Memory *memory_new(const MemoryOptions *options, Diags *diags); // NULL on error
void memory_free(Memory *memory);
uint64_t memory_alloc(Memory *memory, uint64_t bytes, uint64_t align); // 0: none left
bool memory_release(Memory *memory, uint64_t address);                 // false: not the start of an allocation
// The allocation that holds the address: its start and size. False: none.
bool memory_find(const Memory *memory, uint64_t address, uint64_t *start, uint64_t *bytes);
// Host view of [address, address + bytes) if all of it is valid, else NULL.
uint8_t *memory_at(const Memory *memory, uint64_t address, uint64_t bytes);
// The valid range around an address, as device addresses [first, last): for checking many
// accesses at once. False when the address is not valid.
bool memory_range(const Memory *memory, uint64_t address, uint64_t *first, uint64_t *last);
// The allocation nearest to an address that may be in none: for messages. False: there are none.
bool memory_near(const Memory *memory, uint64_t address, uint64_t *start, uint64_t *bytes);
// Ordinary host memory that kernels may use at its host address; only with same_address. False: not possible.
bool memory_register_host(Memory *memory, uint64_t address, uint64_t bytes);
bool memory_unregister_host(Memory *memory, uint64_t address);
// The heap of kernels' malloc and free: allocations that do not exceed `limit` bytes in all.
uint64_t memory_heap_alloc(Memory *memory, uint64_t bytes, uint64_t limit); // 0: none left
bool memory_heap_release(Memory *memory, uint64_t address);                 // false: no block of the heap
// Which bytes of allocations were written, for whoever asks before the first allocation: memory keeps a mark per byte, cleared
// when it is handed out; everyone who writes must say so. Without memory_track all of it counts as written, and marking does nothing.
bool memory_track(Memory *memory); // false: no room
void memory_note_write(Memory *memory, uint64_t address, uint64_t bytes);
// What the host has written since somebody last took it, for machines whose caches outlive launches. Kept from memory_watch_host on.
typedef struct HostWrite {
  uint64_t first, last; // addresses
  bool is_copy;         // else it was allocated or freed, or the host may write there at any time
} HostWrite;
void memory_watch_host(Memory *memory);
const HostWrite *memory_host_writes(const Memory *memory, size_t *count);
void memory_forget_host_writes(Memory *memory);
// The host reads and writes the allocation at this address without a word: managed and pinned memory. Until it is released.
void memory_share(Memory *memory, uint64_t address);
// The next range that the host may write without a word, shared or registered, from number *index on. False: there is none.
bool memory_next_shared(const Memory *memory, size_t *index, uint64_t *first, uint64_t *last);
void memory_note_copy(Memory *memory, uint64_t to, uint64_t from, uint64_t bytes); // marks move with what is copied
bool memory_was_written(const Memory *memory, uint64_t address, uint64_t bytes);   // all of it
uint8_t *memory_bytes(Memory *memory);                                             // host address of `base`
uint64_t memory_base(const Memory *memory);
uint64_t memory_in_use(const Memory *memory);
uint64_t memory_extent(const Memory *memory); // bytes from `base` to the end of the last valid range
uint64_t memory_capacity(const Memory *memory);
// A copy with the same allocations and contents at the same device addresses. NULL: host memory is registered, or no room.
Memory *memory_clone(const Memory *memory, Diags *diags);
// Gives `memory` the allocations and contents of `from`; pages that are equal already cost little. False: made with other options.
bool memory_copy(Memory *memory, const Memory *from);
uint64_t memory_hash(const Memory *memory, uint64_t seed); // of everything programs can see: allocations and contents
// Allocations and contents as a stream of bytes, and back into a memory made with the same options. False: the stream
// failed or does not fit; the memory is then empty.
typedef bool (*MemoryStream)(void *context, void *bytes, size_t count); // takes or gives exactly so many bytes
bool memory_save(const Memory *memory, MemoryStream put, void *context);
bool memory_load(Memory *memory, MemoryStream get, void *context);

// ---- Textures and surfaces -----------------------------------------------------------------
typedef enum TexelKind { TEXEL_UNSIGNED, TEXEL_SIGNED, TEXEL_FLOAT } TexelKind;
typedef enum AddressMode { ADDRESS_WRAP, ADDRESS_CLAMP, ADDRESS_MIRROR, ADDRESS_BORDER } AddressMode; // CUDA's order
typedef enum TextureShape { TEXTURE_1D, TEXTURE_2D, TEXTURE_3D, TEXTURE_CUBE } TextureShape;

typedef struct TextureLevel {
  uint64_t address;                // of the first texel in device memory
  uint32_t width, height, depth;   // texels; 0 for absent dimensions
  uint64_t row_pitch, slice_pitch; // bytes
} TextureLevel;

typedef struct Texture { // a texture or surface object; handles are 1 + index into the table
  bool in_use;
  TextureShape shape;
  bool linear_memory;      // tex1Dfetch from plain memory: no filtering, out of range reads 0
  uint32_t layers;         // 0 = not layered; cube maps: faces are slices 6 * layer + face
  uint8_t channel_bits[4]; // x, y, z, w; 0 = absent
  TexelKind kind;
  AddressMode address_mode[3];
  bool linear_filter, normalized_coords, read_as_float, srgb; // read_as_float: integers -> 0..1 or -1..1
  float border[4];
  bool mip_linear;
  float lod_bias, lod_min, lod_max;
  uint32_t level_count; // 1 without mipmaps
  TextureLevel levels[16];
} Texture;

// ---- Launches ------------------------------------------------------------------------------
typedef struct Launch {
  const Program *program;
  const Function *kernel;
  uint32_t grid[3], block[3];
  uint32_t cluster[3]; // blocks of a cluster, which divide the grid; zeros: the launch has no clusters
  uint32_t dynamic_shared_bytes;
  const uint8_t *params; // kernel->param_bytes of them
  bool cooperative;
  uint64_t grid_workspace; // cooperative: device address for %envreg1/2 (cooperative groups' barrier)
  uint64_t number;         // %gridid, from 1
} Launch;

// Why a launch ended early. Simulated events, never failures of the simulator.
typedef enum TrapKind {
#define TRAP(id, name, text) TRAP_##id,
#include "machine/trap.def"
#undef TRAP
  TRAP_COUNT
} TrapKind;
typedef struct TrapInfo {
  const char *name, *text;
} TrapInfo;
extern const TrapInfo trap_info[TRAP_COUNT];

typedef struct Trap {
  TrapKind kind; // TRAP_NONE: all went well
  const char *kernel, *function;
  uint32_t block[3], thread[3];
  uint32_t pc, line;
  Space space;
  uint64_t address;
  uint32_t bytes;
  char note[256]; // assertion text, allocation nearby, and so on
} Trap;
void trap_format(const Trap *trap, const Program *program, Text *out); // one line

// Statistics: one row each in stat.def, raw integers; ratios are for reports.
typedef enum StatId {
#define STAT(id, name, unit, meaning) STAT_##id,
#include "machine/stat.def"
#undef STAT
  STAT_COUNT
} StatId;
typedef struct StatInfo {
  const char *name, *unit, *meaning;
} StatInfo;
extern const StatInfo stat_info[STAT_COUNT];
typedef struct Stats {
  uint64_t value[STAT_COUNT];
} Stats;

// Somebody who watches the functional machine: each warp instruction before it is carried out, and each lane's access to memory
// after it. `lost` says that results may depend on what is not told: time, textures, the outside.
typedef struct WatchedStep {
  uint32_t block, warp; // linear index; index in the block
  uint32_t epoch;       // barriers that the block has passed
  uint32_t pc, mask, active;
} WatchedStep;
enum { WATCH_READ = 1, WATCH_WRITE = 2 };
// An atomic instruction that is about to be carried out. `address` and `b`, its operand, by lane, as registers hold them.
typedef struct WatchedAtomic {
  uint32_t block, warp; // as of WatchedStep
  uint16_t op, mods;
  uint32_t imm, bytes; // bytes: of an element
  uint32_t lanes;      // that take part
  uint32_t global;     // of them: those whose address is in global memory
  uint32_t pc;
  uint64_t address[WARP_LANES];
  const uint32_t *b;
  LaneFunction function;
} WatchedAtomic;
typedef struct MachineWatch {
  void *context;
  bool stop;         // set by the watcher: the launch ends with TRAP_STOPPED
  bool touches_rare; // set by the watcher: textures and matrix fragments are told in touches too
  uint32_t lane;     // of the touch that is told
  void (*step)(void *context, const WatchedStep *step);
  void (*touch)(void *context, Space space, uint64_t address, uint32_t bytes, unsigned how); // of the step told last
  void (*lost)(void *context);
  void (*ended)(void *context, uint32_t block); // the block has no instruction left; may be NULL
  bool (*atomic)(void *context,
                 const WatchedAtomic *atomic); // may be NULL. True: the watcher sees to it, now or later; it is told in no touch
} MachineWatch;

// What a machine works on; owned by the device. Pointers here are the outside world, not state.
typedef struct MachineEnvironment {
  Memory *memory;
  const Texture *textures;
  uint32_t texture_count;
  const uint8_t *const_bank;                                     // BANK_CONST of the program
  const uint8_t *symbol_bank;                                    // BANK_SYMBOL of the program
  uint64_t code_address, const_address, symbol_address;          // where caches know them by: no two programs of a device share any
  uint64_t stack_bytes;                                          // local stack of recursive kernels, per thread
  uint64_t heap_bytes;                                           // for malloc() in kernels
  uint32_t sm_count;                                             // what %nsmid and %smid go by; 0 counts as 1
  uint64_t instruction_limit;                                    // warp instructions per launch before TRAP_LIMIT; 0 = none
  uint32_t interleave;                                           // functional machine: instructions per turn of a warp; 0 = many
  void (*print)(void *context, const char *bytes, size_t count); // printf of kernels, in order
  void *print_context;
  bool (*progress)(void *context, const Stats *so_far); // now and then; false = stop (TRAP_STOPPED)
  void *progress_context;
  MachineWatch *watch; // of the functional machine; NULL: nobody
} MachineEnvironment;

// What the functional machine does: right results, no timing. Blocks run in order, one at a time, and
// together only when one waits for another. `trap` tells how the launch ended.
void functional_run(const MachineEnvironment *environment, const Launch *launch, Stats *stats, Trap *trap);

// Single blocks of a launch, carried out again on the memory as it is, with bits of the block's state changed on the way. Only
// for blocks that wait for no other; the environment's watch is told as usual, and must be there if there is a flip.
typedef enum RerunPlace {
  RERUN_REGISTER,   // change[l] is of lane l of register `row`
  RERUN_PREDICATES, // change[p] of predicate p, a bit per lane
  RERUN_SHARED,     // change[w] of word w of 128-byte row `row` of shared memory
  RERUN_NOWHERE,    // in what no instruction finds as it is: the end is RERUN_UNKNOWN
} RerunPlace;
typedef struct RerunFlip {
  uint32_t warp;   // index in the block
  uint64_t before; // instructions that the warp carries out first
  uint32_t pc;     // of the one that follows, or (is_past) of the one before: a check
  bool is_past;
  RerunPlace place;
  uint32_t row;
  uint32_t change[WARP_LANES]; // bits that turn over
} RerunFlip;
// In which order warps meet in memory: when the warp's next access comes, at or after its instruction number `count`, and in *left how many
// instructions there are before it. The warp with the earliest goes first; it stops before the access, since on the way to it a barrier
// may have let earlier ones go.
typedef struct RerunOrder {
  void *context;
  uint64_t (*next)(void *context, uint32_t warp, uint64_t count, uint32_t *left);
} RerunOrder;
typedef enum RerunEnd {
  RERUN_ENDED,
  RERUN_TRAPPED, // an address that is not allocated or not aligned, whatever the order of the warps
  RERUN_ENDLESS, // a warp has carried out as many instructions as were allowed, and none trapped
  RERUN_UNKNOWN, // depends on the order, another trap, the watcher has stopped it, or the flip did not find its place
} RerunEnd;
typedef struct Rerun Rerun;
// All must outlive it; without an order warps take turns.
Rerun *rerun_new(const MachineEnvironment *environment, const Launch *launch, const RerunOrder *order);
void rerun_free(Rerun *rerun);
RerunEnd rerun_block(Rerun *rerun, uint64_t linear, const RerunFlip *flip, uint64_t most); // flip may be NULL; most: instructions of a warp
const Trap *rerun_trap(const Rerun *rerun);
const uint8_t *rerun_shared(const Rerun *rerun, uint32_t *bytes); // the block's shared memory as it is now

// ---- Machines ------------------------------------------------------------------------------
// A machine lives as long as its device and runs one launch after the other. Which one it is follows from the Spec; others ask what it
// can do (machine_can, machine_form), never which it is. A new machine is a folder that hands out a MachineKind, and a line in machines.c.
//
// On machines with time the clock goes on from launch to launch. All that changes while one runs is its block (and device memory): clone,
// hash, save and fault injection work on that.
typedef struct Machine Machine;

enum {                              // what a machine can do
  MACHINE_HAS_TIME = 1u << 0,       // counts cycles, calls hooks, has cells that faults strike; all from machine_now down is there
  MACHINE_TELLS_ACCESSES = 1u << 1, // some structures are TRACED: they can carry check bits, and faults in them be pruned
  MACHINE_TELLS_FREE = 1u << 2,     // HookMachine.is_free knows places that hold nothing
  MACHINE_IS_FOLLOWED = 1u << 3,    // registers, predicates and shared memory are as programs name them: faults in them can be followed
                                    // through the program alone, without time
  MACHINE_IS_WATCHED = 1u << 4,     // tells each lane's accesses to MachineEnvironment.watch
};
bool machine_can(const Spec *spec, uint32_t abilities); // all of them

// How a machine that IS_FOLLOWED carries out accesses to memory: all that those must know who follow a program without time.
typedef struct MachineAccesses {
  uint32_t line_words; // of its caches, a power of two: who reads of a line has all of it
  bool joins_lanes;    // up to four bytes of each lane of a warp go out in one request per line
  bool keeps_caches;   // some outlive launches: how long a launch takes depends on those before it
  // That an instruction may cost at most, if no other warp is in its way: a memory instruction whose lanes all miss, behind a full queue of DRAM.
  uint64_t longest;
  uint32_t schedulers; // of an SM: warp w belongs to number w % schedulers, and in a cycle they issue one after the other
  // Passes that a load or store of these lanes in shared memory takes: all that its time depends on. Addresses are offsets.
  uint32_t (*shared_passes)(const Spec *spec, const uint64_t address[WARP_LANES], uint32_t lanes, uint32_t lane_bytes);
} MachineAccesses;
MachineAccesses machine_accesses(const Spec *spec); // of a machine that can be followed
ProgramForm machine_form(const Spec *spec);         // of the programs that it runs

// The chain's hooks are attached, if the machine has time; they and the spec must outlive the machine. NULL on error.
Machine *machine_new(const Spec *spec, const HookChain *hooks, Diags *diags);
void machine_free(Machine *machine);
// False, with diagnostics: a launch that this machine cannot take, beyond what parameters of the spec say.
bool machine_admits(const Machine *machine, const Launch *launch, Diags *diags);
// Begins a launch; environment and launch must live until machine_end.
void machine_begin(Machine *machine, const MachineEnvironment *environment, const Launch *launch);
bool machine_run(Machine *machine, uint64_t until); // goes on to cycle `until`; true: the launch has ended
void machine_end(Machine *machine, Stats *stats, Trap *trap);

// Of machines with time:
uint64_t machine_now(const Machine *machine); // cycle, since the machine was made
const RegionTable *machine_regions(const Machine *machine);
uint8_t *machine_block(Machine *machine);
// Another machine in the same state, in the middle of the same launch, on another memory (a clone of the first's). It has the first's
// protections with their state, none of its faults and observers, and prints nothing (machine_would_print tells); `given` (NULL: none) are its
// own faults and observers, which must be such as need no attaching.
Machine *machine_clone(const Machine *machine, Memory *memory, const HookChain *given);
void machine_copy(Machine *clone, const Machine *machine); // the clone, and its memory, as machine and memory are now: in the same launch
bool machine_would_print(const Machine *clone);            // it would have printed something, since it was made or copied to
const Trap *machine_trap(const Machine *machine);          // the launch's first so far
// The whole state in the middle of a launch, to a file and back into a machine that has begun the same launch.
// Another machine, program, launch or set of protections is refused with one line; see snapshot.h.
bool machine_save(Machine *machine, const char *path, Diags *diags);
bool machine_load(Machine *machine, const char *path, Diags *diags);
void machine_flush(Machine *machine);                             // caches write back: device memory is what programs would see
void machine_move(Machine *machine);                              // the block to another address: a test that nothing points into it
uint64_t machine_hash(const Machine *machine);                    // of everything that decides what happens next, device memory included
uint64_t machine_digest(const Machine *machine);                  // of a little of that: where it differs, so does all. 0: none is known
bool machine_diff(const Machine *a, const Machine *b, Text *out); // false: no difference; else the first site and how many rows differ

// ---- For those who make machines --------------------------------------------------------------
// One for each kind: the functions above, by their names there. A machine without time leaves NULL what stands below `end`.
typedef struct MachineKind {
  const char *name;                              // as machine.model has it
  ProgramForm form;                              // what it runs
  uint32_t (*abilities)(const Spec *spec);       // MACHINE_*
  uint32_t actions;                              // that it offers to hooks, ACTION_BIT of each
  MachineAccesses (*accesses)(const Spec *spec); // NULL: it cannot be followed
  Machine *(*make)(const Spec *spec, const HookChain *hooks, Diags *diags);
  void (*free)(Machine *machine);
  bool (*admits)(const Machine *machine, const Launch *launch, Diags *diags); // NULL: all
  void (*begin)(Machine *machine, const MachineEnvironment *environment, const Launch *launch);
  bool (*run)(Machine *machine, uint64_t until);
  void (*end)(Machine *machine, Stats *stats, Trap *trap);
  uint64_t (*now)(const Machine *machine);
  const RegionTable *(*regions)(const Machine *machine);
  uint8_t *(*block)(Machine *machine);
  Machine *(*clone)(const Machine *machine, Memory *memory, const HookChain *given);
  void (*copy)(Machine *clone, const Machine *machine);
  const Trap *(*trap)(const Machine *machine);
  bool (*save)(Machine *machine, const char *path, Diags *diags);
  bool (*load)(Machine *machine, const char *path, Diags *diags);
  void (*flush)(Machine *machine);
  void (*move)(Machine *machine);
  uint64_t (*hash)(const Machine *machine);
  uint64_t (*digest)(const Machine *machine); // NULL: there is none
  bool (*diff)(const Machine *a, const Machine *b, Text *out);
} MachineKind;

struct Machine { // the first member of every machine
  const MachineKind *kind;
  bool would_print; // of a clone
};

#endif
