// The SIMT machine: SMs and memory system to the cycle, with the real bits in every latch, line and packet.
//
// `Simt` holds the block with all state (state.h), typed pointers into it, and the outside world (spec, program, memory, hooks).
// Only the block changes from cycle to cycle. A cycle goes through the stages back to front, so that what a stage
// takes from the one before it has been there since the last cycle: see machine_cycle in simt.c.
#ifndef REDOUBT_SIMT_H
#define REDOUBT_SIMT_H

#include "hook/hook.h"
#include "machine/parts/access.h"
#include "machine/parts/rows.h"
#include "machine/simt/state.h"
#include "machine/snapshot.h"

typedef struct Simt Simt;

#define ALWAYS_INLINE __attribute__((always_inline)) // calls cost more than what they do: there are some fifty for each instruction

// Host bytes behind physical addresses (backing.c).
struct Backing {
  Memory *memory;
  uint8_t *local; // of all resident threads: see local_address
  uint64_t local_bytes;
  uint64_t local_warp_bytes; // of one warp
  uint64_t *const_written;   // 1: somebody has written to BANK_CONST
  uint64_t *local_touched;   // bytes of each warp's local memory, from its start, that may not be zero
  const Program *program;
  const uint8_t *banks[BANK_COUNT];
  uint32_t bank_bytes[BANK_COUNT];
  uint64_t bank_base[BANK_COUNT], code_base; // in the windows of banks and of code
  bool splits_code;                          // instructions are smaller than ours (code.h)
};
static inline uint64_t bank_address(const Backing *backing, uint32_t bank, uint32_t offset) {
  return physical_address(PHYSICAL_BANKS, (uint64_t)bank << BANK_SHIFT | (backing->bank_base[bank] + offset));
}

// A power of two in size: events find theirs by shifts.
typedef union WhoCell {
  Who who;
  uint8_t room[64];
} WhoCell;
_Static_assert(sizeof(WhoCell) == 64, "a Who fits");

// Classes of config/timing.def.
typedef enum Timing {
  TIMING_OF_UNIT,
#define TIMING(name, units, starts, help) TIMING_##name,
#include "config/timing.def"
#undef TIMING
  TIMING_COUNT
} Timing;

// Where a block of a cluster was found in a cycle.
typedef struct ClusterPlace {
  uint64_t cycle;
  uint64_t linear; // index in the grid
  uint32_t sm, block_slot;
} ClusterPlace;
enum { CLUSTER_PLACES = 64 };

// What an access of the instruction cache gives; follows from the Spec.
typedef struct FetchShape {
  ByteMask line;                  // all bytes of a line
  uint32_t last;                  // instructions of a line - 1
  uint8_t counts[LINE_BYTES / 8]; // from place i of a line on: instructions that one access gives
} FetchShape;

struct Simt {
  const Spec *spec;
  SimtDims dims;
  RegionTable regions;
  StateLayout state_layout;
  uint8_t *block;
  size_t block_bytes;
  SimtState at; // typed pointers into the block
  HookChain hooks;
  uint32_t wants;     // hook_chain_wants
  bool listens;       // any hook wants anything
  Hook *listener;     // hook_chain_listener
  Hook walker;        // for it
  ResultEvent result; // see part_show
  PartOwner result_owner[SIMT_PLAN_OWNERS];
  uint32_t actions; // hook_chain_actions
  HookMachine hook_machine;
  bool is_still;         // after the last cycle: nothing will ever happen again, unless a hook changes a cell
  Who who;               // of the event that is being told; see below
  Who nobody;            // launch alone is known
  struct Mirror *mirror; // of a clone that was copied to: its block and the original's
  WhoCell
      *whos; // [SM][SIMT_MOST_WARPS]: launch, SM, block, block slot and warp are filled in when the block starts; NULL: there are no hooks
  WhoCell *sm_whos;        // of each SM: nobody in particular there
  uint32_t *levels_told;   // of each warp's stack: as hooks know it; NULL: nobody wants to
  size_t own_bytes;        // of the block; what follows is the schemes'
  bool keeps_instructions; // a scheme has state of single instructions
  // Of the current launch
  const MachineEnvironment *environment;
  const Launch *launch;
  const Program *program;
  const LaneFunction *functions;
  const RowFunctions *rows;
  BlockLayout layout; // threads, warps, registers of a block; the block's own memory layout is not used
  Backing backing;
  uint32_t blocks_per_sm;                      // of this kernel
  uint32_t warp_registers;                     // rows per warp
  ClusterPlace cluster_places[CLUSTER_PLACES]; // [index in the grid % CLUSTER_PLACES]; no state, see cluster.c
  uint32_t unit_latency[UNIT_COUNT], unit_interval[UNIT_COUNT];
  FetchShape fetch;
  bool has_collector_classes;                                         // see collect_class_is_full
  uint32_t class_latency[TIMING_COUNT], class_interval[TIMING_COUNT]; // of classes that have times of their own; 0: the unit's. See facts.h
  MachineEnvironment cloned_environment;                              // of a clone: the original's, with its own memory
  Trap trap;                                                          // details of the first trap
  struct Facts *facts;                                                // of the program's instructions; see facts.h
  const Instr *facts_of;
  uint64_t facts_hash;
  uint32_t facts_count;
  Arena *arena;
};

// ---- Access to state ---------------------------------------------------------------------------
static inline SimtWarp *simt_warp(const Simt *m, uint32_t sm, uint32_t warp) { return &m->at.warps[sm * m->dims.warps + warp]; }
static inline SimtEntry *simt_entries(const Simt *m, uint32_t sm, uint32_t warp) {
  return &m->at.entries[((size_t)sm * m->dims.warps + warp) * m->dims.stack];
}
static inline Scoreboard *simt_scoreboard(const Simt *m, uint32_t sm, uint32_t warp) {
  return &m->at.scoreboards[sm * m->dims.warps + warp];
}
static inline BufferEntry *simt_buffer(const Simt *m, uint32_t sm, uint32_t warp) {
  return &m->at.buffers[(sm * m->dims.warps + warp) * m->dims.buffer];
}
// A place of a ring, or any other index that only a fault brings past the end: a division costs more than all the rest.
static inline uint32_t ring_place(uint32_t index, uint32_t room) { return __builtin_expect(index < room, 1) ? index : index % room; }
// The place after the last of a ring's; `index` is below 2 * room. No branch: which way it goes is hard to foresee.
static inline uint32_t ring_next(uint32_t index, uint32_t room) { return index >= room ? index - room : index; }
// Takes number `place` out of a list of `count` bytes; what is behind the list is zero. The rest of the list moves in one piece where it can: its length is
// hard to foresee. Lists have room for two pieces.
enum { LIST_PIECE = 16 };
_Static_assert(SIMT_FLIGHTS >= 2 * LIST_PIECE && (int)SIMT_MOST_COLLECTORS >= 2 * LIST_PIECE, "lists have room for twice a piece");
static inline void list_remove(uint8_t *list, uint32_t count, uint32_t place) {
  uint8_t rest[LIST_PIECE];
  if (__builtin_expect(count - place <= LIST_PIECE && place < LIST_PIECE, 1)) {
    memcpy(rest, &list[place + 1], LIST_PIECE);
    memcpy(&list[place], rest, LIST_PIECE);
    return;
  }
  memmove(&list[place], &list[place + 1], count - 1 - place);
  list[count - 1] = 0;
}
// Zeros for a row of a collector or a latch. A call of memset takes longer, and guesses the size wrong.
static inline void row_clear(uint32_t row[WARP_LANES]) {
  memset(row, 0, WARP_LANES / 2 * sizeof *row);
  memset(row + WARP_LANES / 2, 0, WARP_LANES / 2 * sizeof *row);
}
static inline uint64_t simt_now(const Simt *m) { return m->at.core->cycle; }
static inline void simt_count(Simt *m, StatId stat, uint64_t by) { m->at.stats->value[stat] += by; }

// The SM does something again in that cycle, or earlier.
static inline void sm_wake(Simt *m, uint32_t sm, uint64_t cycle) { m->at.wake_at[sm] = min_u64(m->at.wake_at[sm], cycle); }

// Times of SMs or slices: which of 32 from `first` on have come, and the least of all. No branch for each: which way it goes is hard to
// foresee. Arrays of them have room for whole groups.
enum { TIMES_AT_ONCE = WARP_LANES };
static inline uint32_t times_due(const Simt *m, const uint64_t *times, uint32_t first, uint32_t count) {
  uint32_t group = count - first >= TIMES_AT_ONCE ? UINT32_MAX : (1u << (count - first)) - 1;
  return m->rows->due(&times[first], simt_now(m)) & group;
}
static inline uint64_t times_least(const uint64_t *times, uint32_t count) {
  uint64_t least = UINT64_MAX;
  for (uint32_t i = 0; i < count; i++) least = min_u64(least, times[i]);
  return least;
}

// When the oldest request in a slice's pipeline has come out of it; UINT64_MAX: there is none.
static inline uint64_t slice_front_at(const Simt *m, uint32_t partition) {
  const PacketQueue *input = &m->at.partitions[partition].input;
  if (packet_queue_empty(input)) return UINT64_MAX;
  return m->at.partition_times[partition * m->dims.l2_inputs + packet_place(input->head, m->dims.l2_inputs)].ready_at;
}

// So does the slice. One whose oldest request is there may wait for anything: whatever happens, it looks again at once.
static inline void slice_wake(Simt *m, uint32_t partition, uint64_t cycle) {
  uint64_t at = slice_front_at(m, partition) <= simt_now(m) ? 0 : cycle;
  m->at.slices_at[partition] = min_u64(m->at.slices_at[partition], at);
  m->at.core->slices_at = min_u64(m->at.core->slices_at, at);
}

void simt_meet_hooks(Simt *m); // m->hooks are new: what they want

// On whose behalf events are told. Each of these fills m->who, or the warp's own, and returns it; it stands until the next of them.
static inline const Who *who_sm(const Simt *m, uint32_t sm) { return &m->sm_whos[sm].who; } // nobody in particular
const Who *who_block(Simt *m, uint32_t sm, uint32_t block_slot, uint64_t linear);
static inline const Who *who_warp(Simt *m, uint32_t sm, uint32_t warp, uint32_t pc, uint64_t issue) {
  Who *who = &m->whos[sm * SIMT_MOST_WARPS + (warp < m->dims.warps ? warp : warp % m->dims.warps)].who;
  who->pc = pc;
  who->issue = issue;
  return who;
}
// The same of warps whose number no fault can strike: those that a scheduler has picked, and of uops.
static inline Who *who_cell(const Simt *m, uint32_t sm, uint32_t warp) { return &m->whos[(size_t)sm * SIMT_MOST_WARPS + warp].who; }
static inline const Who *who_scheduled(const Simt *m, uint32_t sm, uint32_t warp, uint32_t pc, uint64_t issue) {
  Who *who = who_cell(m, sm, warp);
  who->pc = pc;
  who->issue = issue;
  return who;
}
static inline const Who *who_uop(const Simt *m, uint32_t sm, const Uop *uop) {
  return who_scheduled(m, sm, uop->warp, uop->pc, uop->issue);
}
const Who *who_packet(Simt *m, const Packet *packet);
// A request is for an instruction, or for a warp that wants the instruction at `pc`.
void packet_for_uop(const Simt *m, uint32_t sm, const Uop *uop, Packet *packet);
void packet_for_warp(const Simt *m, uint32_t sm, uint32_t warp, uint32_t pc, Packet *packet);
void packet_for_nobody(Packet *packet, ActionCache cache); // a prefetch
// What hooks are told of a packet: `own` alone waits for it, until somebody says who does. The event points into the packet and lives as long as it.
typedef struct PacketStory {
  MemoryEvent event;
  uint32_t stages[MEMORY_STAGES];
  Who own;
  Who waiters[MSHR_MOST_WAITERS];
} PacketStory;
const MemoryEvent *packet_story(Simt *m, Packet *packet, MemoryMoment moment, PacketStory *story);
// Of accesses to cells: NULL when nobody wants to be told of them. Threads of several warps have no issue number in common.
static inline bool cells_are_wanted(const Simt *m) { return __builtin_expect((m->wants & WANT_CELLS) != 0, 0); }
static inline const Who *cells_sm(const Simt *m, uint32_t sm) { return cells_are_wanted(m) ? who_sm(m, sm) : NULL; }
static inline const Who *cells_warp(Simt *m, uint32_t sm, uint32_t warp, uint32_t pc, uint64_t issue) {
  return cells_are_wanted(m) ? who_warp(m, sm, warp, pc, issue) : NULL;
}
static inline const Who *cells_uop(Simt *m, uint32_t sm, const Uop *uop) {
  return cells_are_wanted(m) ? who_scheduled(m, sm, uop->warp, uop->pc, uop->plan != 0 ? WHO_NO_NUMBER : uop->issue) : NULL;
}

// Hardware cells are read and written through these, whoever does it: they tell the hooks. `data` is unit 0 of the row.
void simt_tell_read(Simt *m, const Who *who, SimtRegion region, uint64_t row, uint32_t units, void *data);
void simt_tell_write(Simt *m, const Who *who, SimtRegion region, uint64_t row, uint32_t units, void *data);
static inline void cells_read(Simt *m, const Who *who, SimtRegion region, uint64_t row, uint32_t units, void *data) {
  if (cells_are_wanted(m)) simt_tell_read(m, who, region, row, units, data);
}
static inline void cells_written(Simt *m, const Who *who, SimtRegion region, uint64_t row, uint32_t units, void *data) {
  if (cells_are_wanted(m)) simt_tell_write(m, who, region, row, units, data);
}
// The same without a call, when they are wanted: for the cells that are told with every instruction.
void simt_cells_answered(Simt *m, const CellEvent *event, HookEventId id, Verdict said); // not PASS
ALWAYS_INLINE static inline void tell_read_here(Simt *m, const Who *who, SimtRegion region, uint64_t row, uint32_t units, void *data) {
  CellEvent event = {.who = who, .region = (uint16_t)region, .units = units, .row = row, .data = data};
  Verdict said = m->listener->read(m->listener, &m->hook_machine, &event);
  if (__builtin_expect(said != VERDICT_PASS, 0)) simt_cells_answered(m, &event, HOOK_EVENT_READ, said);
}
ALWAYS_INLINE static inline void tell_write_here(Simt *m, const Who *who, SimtRegion region, uint64_t row, uint32_t units, void *data) {
  CellEvent event = {.who = who, .region = (uint16_t)region, .units = units, .row = row, .data = data};
  Verdict said = m->listener->write(m->listener, &m->hook_machine, &event);
  if (__builtin_expect(said != VERDICT_PASS, 0)) simt_cells_answered(m, &event, HOOK_EVENT_WRITE, said);
}

// The caches of an SM.
static inline Cache cache_at(const CacheShape *shape, CacheTag *tags, CacheLine *lines, CacheData *data, size_t first) {
  return (Cache){.shape = shape, .tags = tags + first, .lines = lines + first, .data = data + first};
}
static inline Cache l1d_of(const Simt *m, uint32_t sm) {
  return cache_at(&m->dims.l1d, m->at.l1d_tags, m->at.l1d, m->at.l1d_data, (size_t)sm * m->dims.l1d_lines);
}
static inline Cache constant_of(const Simt *m, uint32_t sm) {
  return cache_at(&m->dims.constant, m->at.constant_tags, m->at.constant, m->at.constant_data, (size_t)sm * m->dims.constant_lines);
}
static inline Cache texture_of(const Simt *m, uint32_t sm) {
  return cache_at(&m->dims.texture, m->at.texture_tags, m->at.texture, m->at.texture_data, (size_t)sm * m->dims.texture_lines);
}
static inline Cache icache_of(const Simt *m, uint32_t sm) {
  return cache_at(&m->dims.icache, m->at.icache_tags, m->at.icache, m->at.icache_data, (size_t)sm * m->dims.icache_lines);
}
static inline Mshrs mshrs_at(const Simt *m, MshrLine *lines, Mshr *registers, MshrUse *use, uint32_t owner, uint32_t count) {
  size_t first = (size_t)owner * count;
  return (Mshrs){.rows = m->rows, .lines = lines + first, .registers = registers + first, .use = use + owner, .count = count};
}
static inline Mshrs l1d_mshrs_of(const Simt *m, uint32_t sm) {
  return mshrs_at(m, m->at.l1d_misses, m->at.l1d_mshrs, m->at.l1d_mshr_use, sm, m->dims.l1d_mshrs);
}
static inline Mshrs constant_mshrs_of(const Simt *m, uint32_t sm) {
  return mshrs_at(m, m->at.constant_misses, m->at.constant_mshrs, m->at.constant_mshr_use, sm, SIMT_CONSTANT_MSHRS);
}
static inline Mshrs texture_mshrs_of(const Simt *m, uint32_t sm) {
  return mshrs_at(m, m->at.texture_misses, m->at.texture_mshrs, m->at.texture_mshr_use, sm, SIMT_TEXTURE_MSHRS);
}
static inline Mshrs icache_mshrs_of(const Simt *m, uint32_t sm) {
  return mshrs_at(m, m->at.icache_misses, m->at.icache_mshrs, m->at.icache_mshr_use, sm, m->dims.icache_mshrs);
}
static inline Cache icache2_of(const Simt *m, uint32_t tpc) {
  return cache_at(&m->dims.icache2, m->at.icache2_tags, m->at.icache2, m->at.icache2_data, (size_t)tpc * m->dims.icache2_lines);
}

// An entry begins or ends to hold something: rows `row` of the structures `first` to `last`. Whoever is wanted says for whom.
static inline bool places_are_wanted(const Simt *m) { return __builtin_expect((m->wants & (WANT_TAKE | WANT_RELEASE)) != 0, 0); }
void simt_take(Simt *m, const Who *who, SimtRegion first, SimtRegion last, uint64_t row);
void simt_release(Simt *m, const Who *who, SimtRegion first, SimtRegion last, uint64_t row);
// Control logic has used, or written, a cell of a DECIDED structure.
static inline bool decisions_are_wanted(const Simt *m) { return __builtin_expect((m->wants & WANT_DECIDE) != 0, 0); }
void simt_decided(Simt *m, const Who *who, const DecideEvent *event); // all but `who` is filled in
// A line of a cache gets another address: whatever it held is gone.
static inline void tag_replaced(Simt *m, uint32_t sm, SimtRegion tags, uint64_t row, bool held_something) {
  if (!places_are_wanted(m)) return;
  if (held_something) simt_release(m, who_sm(m, sm), tags, tags, row);
  simt_take(m, who_sm(m, sm), tags, tags, row);
}
static inline void tag_released(Simt *m, uint32_t sm, SimtRegion tags, uint64_t row) {
  if (places_are_wanted(m)) simt_release(m, who_sm(m, sm), tags, tags, row);
}
// What events are told with is not in the block: who the warps are, and what hooks have been told of their stacks.
void simt_name_warp(Simt *m, uint32_t sm, uint32_t warp);          // a block has started
void simt_name_warps(Simt *m);                                     // the block, or the hooks, are new
void simt_name_sms(Simt *m);                                       // the launch is new
void simt_tell_levels(Simt *m, uint32_t sm, uint64_t block_slots); // of stacks of these blocks: what has changed since it was told last

// The launch ends with this trap; the first one counts. `lane` is a thread of the warp.
void simt_trap(Simt *m, uint32_t sm, uint32_t warp, uint32_t pc, TrapKind kind, uint32_t lanes);
void simt_violation(Simt *m, uint32_t sm, uint32_t warp, uint32_t pc, const AccessViolation *violation, const char *note);
static inline bool simt_has_trapped(const Simt *m) { return m->at.core->trapped != TRAP_NONE; }
// A verdict that ends the launch does so here; returns the verdict.
void simt_halt(Simt *m, const Who *who);
static inline Verdict simt_obey(Simt *m, const Who *who, Verdict verdict) {
  if (__builtin_expect(verdict == VERDICT_HALT, 0)) simt_halt(m, who);
  return verdict;
}

// The launch ends whoever the trap is of: a mirror's alone never does.
void simt_end(Simt *m, uint32_t sm, uint32_t warp, uint32_t pc, TrapKind kind, uint32_t lanes);

// ---- Actions of schemes (action.c) ---------------------------------------------------------------
// Only machines with hooks that need actions have any of this (dims.acts); on others each of these is one test.
bool simt_act(HookMachine *machine, const Action *action); // HookMachine.act
void actions_cycle(Simt *m, const uint8_t *due);           // carries out the oldest due[sm] of each SM
bool actions_wait(const Simt *m);                          // something is queued for the next cycle
bool actions_hold(const Simt *m);                          // a block is to run again: the launch is not over
static inline Actor *simt_actor(const Simt *m, uint32_t sm) { return &m->at.actors[sm]; }
static inline uint32_t block_slot_of_warp(const Simt *m, uint32_t warp) { return warp / max_u32(m->layout.warps, 1) % m->dims.blocks; }
// Either of two cells makes a block of a fenced SM a mirror: one that is struck lets nothing out.
static inline uint64_t actor_mirrors(const Actor *actor) { return (actor->fenced & 1) != 0 ? UINT64_MAX : actor->mirrors; }
static inline bool warp_is_mirror(const Simt *m, uint32_t sm, uint32_t warp) {
  return __builtin_expect(m->dims.acts != 0, 0) && (actor_mirrors(&m->at.actors[sm]) >> block_slot_of_warp(m, warp) & 1) != 0;
}
// Its block was abandoned: what still comes back for it is thrown away.
static inline bool warp_is_stopping(const Simt *m, uint32_t sm, uint32_t warp) {
  return __builtin_expect(m->dims.acts != 0, 0) && (m->at.actors[sm].stopping >> block_slot_of_warp(m, warp) & 1) != 0;
}
// How far a write of these warps may go. QUIET: to its partition, without effect there.
typedef enum WriteWay { WRITE_GOES, WRITE_QUIET, WRITE_ENDS, WRITE_HELD } WriteWay;
WriteWay action_write_way(const Simt *m, uint32_t sm, uint32_t warp, uint64_t address, bool may_hold);
static inline WriteWay write_way(const Simt *m, uint32_t sm, uint32_t warp, uint64_t address, bool may_hold) {
  return __builtin_expect(m->dims.acts == 0, 1) ? WRITE_GOES : action_write_way(m, sm, warp, address, may_hold);
}
// Stores that are held in their SM (held.c).
typedef enum HeldTake { HELD_TAKEN, HELD_BLOCKED, HELD_GOES } HeldTake; // GOES: a hook lets it go as if nothing were held
HeldTake held_store(Simt *m, uint32_t sm, uint32_t warp, const Packet *packet);
HeldTake held_atomic(Simt *m, uint32_t sm, uint32_t warp);
bool held_action(Simt *m, uint32_t sm, uint32_t block_slot, ActionHold step);
void held_begin(Simt *m, uint32_t sm, uint32_t block_slot, ActionHold step); // of a block that starts: NONE, KEEP or WAIT
void held_forget(Simt *m, uint32_t sm, uint32_t block_slot);                 // the lines alone, held and kept
void held_cycle(Simt *m, uint32_t sm);                                       // sends at most one line
bool held_lets_end(Simt *m, uint32_t sm, uint32_t block_slot); // nothing of the block is under way; false: it must stay where it is
// What mirrors keep of their own stores (held.c).
void kept_store(Simt *m, uint32_t sm, const Packet *packet);                    // it ends in the SM
bool kept_load(Simt *m, uint32_t sm, MemOp *op, uint64_t line, uint32_t lanes); // true: all these lanes have their data
void kept_complete(Simt *m, uint32_t sm, MemOp *op);                            // what a load has read is there, without what is only here
void kept_atomic(Simt *m, uint32_t sm, const MemOp *op, const Packet *reply, uint32_t old[LINE_WORDS]);
// Lines of an SM for both. Lines that each block of the launch may hold.
static inline uint32_t held_lines(const SimtDims *dims) { return dims->held + dims->mirror_lines; }
static inline uint32_t held_room(const Simt *m) { return max_u32(m->dims.held / max_u32(m->blocks_per_sm, 1), 1); }
static inline bool block_is_held(const Simt *m, uint32_t sm, uint32_t block_slot) {
  uint32_t mode = m->dims.held == 0 ? 0 : m->at.held_blocks[sm * m->dims.blocks + block_slot].mode;
  return mode == HELD_MODE_KEEPS || mode == HELD_MODE_WAITS;
}
// A line as the warp's block sees it: `data`, or a copy of it in `scratch` with what the block holds of it.
const uint32_t *held_overlay(const Simt *m, uint32_t sm, uint32_t warp, uint64_t line, const uint32_t *data, uint32_t scratch[LINE_WORDS]);
static inline const uint32_t *held_view(const Simt *m, uint32_t sm, uint32_t warp, uint64_t line, const uint32_t *data,
                                        uint32_t scratch[LINE_WORDS]) {
  return __builtin_expect(m->dims.held == 0, 1) ? data : held_overlay(m, sm, warp, line, data, scratch);
}
// Loads that another SM's reply answers, too (join.c).
void join_sent(Simt *m, uint32_t sm, const Packet *packet);                  // the SM has sent it
void join_left(Simt *m, uint32_t sm, const Packet *packet);                  // the network has it
bool join_other(Simt *m, uint32_t sm, const Packet *packet, uint32_t other); // false: nothing to join
void join_delivered(Simt *m, uint32_t sm, const Packet *packet);             // the network gives the reply to the SM
void join_replied(Simt *m, uint32_t sm, const Packet *packet);               // the SM has taken it
void join_synchronised(Simt *m, uint32_t sm);                                // the SM must not see what is older than this
void sm_give_reply(Simt *m, uint32_t sm, const Packet *packet);              // interconnect.c
// Loads of mirrors that cost nothing (oracle.c).
static inline bool oracle_takes(const Simt *m, const Packet *packet) {
  return __builtin_expect(m->dims.mirror_free != 0, 0) && packet->quiet != 0 && packet->kind == PACKET_READ && packet->prefetch == 0 &&
         (packet->client == CLIENT_LOAD || packet->client == CLIENT_ATOMIC);
}
bool oracle_has_room(const Simt *m, uint32_t sm);
void oracle_load(Simt *m, uint32_t sm, const Packet *packet);
void oracle_store(Simt *m, const Packet *packet);
void oracle_cycle(Simt *m, uint32_t sm); // those whose time has come are answered
// Lines of caches that were prefetched (action_cache.c); `line` is the line's row of its structure.
void prefetch_filled(Simt *m, ActionCache cache, uint64_t line, bool is_wanted); // is_wanted: somebody waits for it already
// The same of a line that no cache keeps: those who wait have it, and nobody after them.
void prefetch_passed(Simt *m, ActionCache cache, uint32_t sm, uint64_t address, bool is_wanted);
void prefetch_used(Simt *m, ActionCache cache, uint64_t line);
void prefetch_gone(Simt *m, ActionCache cache, uint64_t line);
static inline void line_used(Simt *m, ActionCache cache, uint64_t line) {
  if (__builtin_expect(m->dims.acts != 0, 0)) prefetch_used(m, cache, line);
}
static inline void line_gone(Simt *m, ActionCache cache, uint64_t line) {
  if (__builtin_expect(m->dims.acts != 0, 0)) prefetch_gone(m, cache, line);
}
bool fetch_prefetch(Simt *m, uint32_t sm, uint64_t address); // false: it cannot be, or is there or under way already (so for all)
bool l1d_prefetch(Simt *m, uint32_t sm, uint64_t address);
bool constant_prefetch(Simt *m, uint32_t sm, uint64_t address);
bool texture_prefetch(Simt *m, uint32_t sm, uint64_t address);
bool l2_prefetch(Simt *m, uint32_t sm, uint64_t address);
// Blocks (action_block.c, dispatch.c). False: it cannot be.
bool dispatch_mirror(Simt *m, const Action *action);
bool block_abandon(Simt *m, uint32_t sm, uint32_t block_slot);
bool block_again(Simt *m, uint64_t linear);
bool owed_next(const Simt *m, uint64_t *linear); // the next block that goes out once more
void owed_started(Simt *m, uint64_t linear);
void owed_gone(Simt *m, uint64_t linear); // nothing of an abandoned block is under way any more
typedef enum CopyStep { COPY_DONE, COPY_REFUSED, COPY_WAITS } CopyStep;
CopyStep block_copy(Simt *m, uint32_t sm, uint32_t block_slot, const Action *action);
// The block in this block slot, which was abandoned, leaves the pipelines.
void collect_abandon(Simt *m, uint32_t sm, uint32_t block_slot);
void parts_abandon(Simt *m, uint32_t sm, uint32_t block_slot); // what is still to issue of its instructions
void writeback_abandon(Simt *m, uint32_t sm, uint32_t block_slot);
void ldst_abandon(Simt *m, uint32_t sm, uint32_t block_slot);
void gather_abandon(Simt *m, uint32_t sm, uint32_t block_slot);
bool block_is_quiet(const Simt *m, uint32_t sm, uint32_t block_slot); // issue.c: nothing of the block is under way

// The instruction of a word: the program's own when the bits are those at `pc`, else decoded into *scratch. NULL: no legal
// instruction, or one that names registers the kernel does not have.
const Instr *simt_decode_damaged(const Simt *m, InstrWord word, Instr *scratch);
static inline const Instr *simt_decode(const Simt *m, uint32_t pc, InstrWord word, Instr *scratch) {
  const Program *program = m->program;
  bool is_own = pc < program->code_count && word.low == program->code[pc].low && word.high == program->code[pc].high;
  return __builtin_expect(is_own, 1) ? &program->decoded[pc] : simt_decode_damaged(m, word, scratch);
}

// ---- Grid and blocks (dispatch.c) ----------------------------------------------------------------
bool dispatch_cycle(Simt *m); // sends at most one block out; true: it did
void dispatch_block_ended(Simt *m, uint32_t sm, uint32_t block_slot);
uint64_t dispatch_next(const Simt *m); // earliest cycle in which a block may go out; UINT64_MAX: none, or no room
// Clusters (cluster.c): the next block may go out, since all of its cluster have room; the barrier's threads are let go if all have arrived.
bool cluster_has_room(const Simt *m);
bool cluster_check_barrier(Simt *m, const Block *block);

// ---- Front end -----------------------------------------------------------------------------------
// Warps that wait need not be looked at each cycle: front_sleep notes why, front_awake that something has happened to them.
static inline void front_sleep(Simt *m, uint32_t sm, uint32_t warp, IdleReason why) { m->at.sms[sm].waits[why] |= UINT64_C(1) << warp; }
// front_results: the same where results are in, which changes nothing of a warp that lacks its next instruction.
static inline void front_results(Simt *m, uint32_t sm, uint64_t warps) {
  uint64_t *waits = m->at.sms[sm].waits;
  for (uint32_t i = IDLE_EMPTY + 1; i < IDLE_REASONS; i++) waits[i] &= ~warps;
}
static inline void front_awake(Simt *m, uint32_t sm, uint64_t warps) {
  front_results(m, sm, warps);
  m->at.starved[sm] &= ~warps;
}
void front_disturbed(Simt *m); // somebody outside may have changed the state (a flip): sleeping warps are looked at
bool simt_is_free(const HookMachine *machine, const Site *site);                           // HookMachine.is_free (free.c)
bool simt_is_told(const HookMachine *machine, const Site *site);                           // HookMachine.is_told (free.c)
bool simt_look_at(const HookMachine *machine, uint32_t sm, uint32_t warp, WarpView *view); // HookMachine.look_at (issue.c)
void fetch_prepare(Simt *m);                                                               // fetch.c: at the start
void fetch_cycle(Simt *m, uint32_t sm);                                                    // fetch.c: one access of the instruction cache
bool fetch_reply(Simt *m, uint32_t sm,
                 const Packet *packet); // a line has come; false: not now, it comes again next cycle (so for all replies)
void fetch_restart(Simt *m, uint32_t sm, uint32_t warp, uint32_t pc); // empties the buffer: control flow has changed
typedef enum DispatchPolicy { DISPATCH_ROUND_ROBIN, DISPATCH_ORDERED, DISPATCH_EVEN_ODD, DISPATCH_RANDOM } DispatchPolicy; // config.def
// schedule.c: the next candidate of a scheduler after `tried` ones were refused; SIMT_MOST_WARPS: none left.
uint32_t schedule_pick(Simt *m, uint32_t sm, uint32_t scheduler, uint64_t ready, uint64_t tried);
// The first of a set that is not empty, going round from the one after `last`.
static inline uint32_t schedule_first_after(uint64_t set, uint32_t last) {
  uint64_t later = set & (UINT64_MAX << (last % SIMT_MOST_WARPS) << 1);
  return (uint32_t)__builtin_ctzll(later != 0 ? later : set);
}
void schedule_issued(Simt *m, uint32_t sm, uint32_t scheduler, uint32_t warp, bool long_latency);
bool issue_cycle(Simt *m, uint32_t sm); // issue.c: all schedulers; true: something issued
// Results are in: clears what the instruction had marked. Source registers are never marked.
void scoreboard_clear(Simt *m, uint32_t sm, uint32_t warp, const Instr *instr);
bool scoreboard_is_free(const Simt *m, uint32_t sm, uint32_t warp, const Instr *instr);
void scoreboard_mark(Simt *m, uint32_t sm, uint32_t warp, const Instr *instr);

// control.c: control flow, barriers, warp-wide synchronisation, system calls; carried out at issue.
typedef enum ControlResult {
  CONTROL_DONE,  // the stack is as it shall be; the buffer was restarted where the flow changed
  CONTROL_GO_ON, // warp-wide instruction whose members are there: *mask is who takes part; issue it like arithmetic
  CONTROL_WAITS, // has to wait: issue nothing
} ControlResult;
ControlResult control_issue(Simt *m, uint32_t sm, uint32_t warp, const Instr *instr, uint32_t pc, uint32_t *mask);
// Brings the top of the stack to a ready entry (reconvergence, rotation). False: the warp waits or has ended.
bool control_front(Simt *m, uint32_t sm, uint32_t warp);

// ---- Execution -------------------------------------------------------------------------------------
// collect.c. Room for one more instruction of this unit class?
bool collect_has_room(const Simt *m, uint32_t sm, const Instr *instr);
// Have the instructions for units of this Port's class taken all collectors that are for it?
bool collect_class_is_full(const Simt *m, uint32_t sm, uint32_t port);
uint32_t collect_repeats(const Simt *m, uint32_t sm); // instructions that a hook wants once more: they go before new ones
static inline bool collect_is_full(const Simt *m, uint32_t sm) {
  uint32_t taken = m->at.sms[sm].collect_count;
  if (__builtin_expect((m->wants & WANT_REPEAT) != 0, 0)) taken += collect_repeats(m, sm);
  return taken >= m->dims.collectors;
}
// Takes an instruction with its predicates read; operands follow over the next cycles. Constant operands must be there (constant_ready).
void collect_take(Simt *m, uint32_t sm, const Uop *uop, const Instr *instr);
void collect_cycle(Simt *m, uint32_t sm); // reads register banks
// execute.c: collectors whose operands are complete go to their unit; results enter the latch.
void execute_cycle(Simt *m, uint32_t sm);
// writeback.c: results whose time has come go to the register file and predicates.
void writeback_cycle(Simt *m, uint32_t sm);
// Writes result rows and predicates (NULL: none) of any instruction: register file, scoreboard, commit. `uop` is the pipeline's own,
// not a copy. Memory instructions have shown hooks their addresses; what other units compute hooks see before this.
void writeback_rows(Simt *m, uint32_t sm, const Uop *uop, const Instr *instr, uint32_t (*rows)[WARP_LANES], uint32_t row_count,
                    const uint32_t *predicates);

// ---- Memory pipeline of an SM -------------------------------------------------------------------------
// The first free place of the load/store queue; dims.memops: none.
static inline uint32_t memop_free(const Simt *m, const SmState *state) {
  for (uint32_t half = 0; half < 2; half++) {
    uint64_t free = ~state->memory_used[half];
    if (free != 0) return min_u32(64 * half + (uint32_t)__builtin_ctzll(free), m->dims.memops);
  }
  return m->dims.memops;
}
static inline bool ldst_has_room(const Simt *m, uint32_t sm) { return memop_free(m, &m->at.sms[sm]) < m->dims.memops; }
static inline bool ldst_can_begin(const Simt *m, uint32_t sm) {
  return ldst_has_room(m, sm) && (m->spec->ldst_queue == 0 || m->at.sms[sm].memory_count < m->spec->ldst_queue);
}
// Whether a warp's next instructions are to be fetched.
static inline bool front_may_fetch(const Simt *m, const SimtWarp *at) {
  return m->spec->front_refill == FRONT_REFILL_EMPTY ? at->buffered == 0 : at->buffered < m->dims.buffer;
}
// ldst.c
typedef struct Facts Facts; // facts.h
void ldst_take(Simt *m, uint32_t sm, Collector *collector, const Instr *instr, const Facts *facts);
void ldst_cycle(Simt *m, uint32_t sm);
bool ldst_reply(Simt *m, uint32_t sm, const Packet *packet);
void l1d_invalidate(Simt *m, uint32_t sm); // l1d.c: nothing global that was read before is read from it again (fences)
// What one request serves, by architecture (coalesce.c).
typedef struct Transaction {
  uint64_t line;  // physical, 128-byte aligned
  ByteMask bytes; // that the lanes use
  ByteMask fetch; // that a read without a cache asks for: whole segments or sectors
  uint32_t lanes;
} Transaction;
// The next request of the lanes in `left`, which is not empty; each lane's bytes are aligned to their number, a power of two.
uint32_t shared_passes(const Spec *spec, const uint64_t address[WARP_LANES], uint32_t lanes, uint32_t lane_bytes); // MachineAccesses
bool coalesce_joins_lanes(const Spec *spec); // up to four bytes of each lane of a warp go out in one request per line
Transaction coalesce_next(const Simt *m, const uint64_t address[WARP_LANES], uint32_t left, uint32_t lane_bytes);
// constant.c. True: the line of a constant operand or parameter load is in the cache; otherwise it has been asked for.
bool constant_ready(Simt *m, uint32_t sm, uint32_t warp, uint32_t bank, uint32_t offset, uint32_t bytes);
bool constant_is_there(const Simt *m, uint32_t sm, uint32_t bank, uint32_t offset, uint32_t bytes); // changes nothing
uint64_t constant_value(Simt *m, uint32_t sm, uint32_t bank, uint32_t offset, uint32_t bytes);      // after constant_ready
bool constant_reply(Simt *m, uint32_t sm, const Packet *packet);
// gather.c: textures, surfaces, matrix fragments.
bool gather_has_room(const Simt *m, uint32_t sm, const Instr *instr);
void gather_take(Simt *m, uint32_t sm, Collector *collector, const Instr *instr);
void gather_cycle(Simt *m, uint32_t sm);
bool gather_reply(Simt *m, uint32_t sm, const Packet *packet);

// Physical address of a byte of a thread's local memory: words of the 32 lanes side by side.
uint64_t local_address(const Simt *m, uint32_t sm, uint32_t warp, uint32_t lane, uint64_t offset);
// The warp of its SM whose local memory an address is of.
static inline uint32_t local_warp(const Simt *m, uint64_t address) {
  uint64_t offset = address & ((UINT64_C(1) << PHYSICAL_SHIFT) - 1);
  return (uint32_t)(offset / max_u64(m->backing.local_warp_bytes, 1) % m->dims.warps);
}
// Sends a packet towards memory; false: the queue is full, or a hook says not now. Every packet gets one reply.
bool sm_send(Simt *m, uint32_t sm, Packet *packet);
// Who waits in an SM for the line that a packet brings; how many (interconnect.c asks the clients).
uint32_t fetch_waiters(Simt *m, uint32_t sm, const Packet *packet, Who waiters[MSHR_MOST_WAITERS]);
uint32_t constant_waiters(Simt *m, uint32_t sm, const Packet *packet, Who waiters[MSHR_MOST_WAITERS]);
uint32_t gather_waiters(Simt *m, uint32_t sm, const Packet *packet, Who waiters[MSHR_MOST_WAITERS]);
uint32_t ldst_waiters(Simt *m, uint32_t sm, const Packet *packet, Who waiters[MSHR_MOST_WAITERS]);

// ---- Memory system (partition.c, interconnect.c) -----------------------------------------------------
void sm_take_reply(Simt *m, uint32_t sm);         // gives the oldest reply to whom it is for
bool interconnect_cycle(Simt *m, uint64_t *next); // both networks; replies reach the SMs' reply queues and wake them
uint32_t partition_of(const Simt *m, uint64_t address);
bool partition_cycle(Simt *m, uint32_t partition, uint64_t *next); // an L2 slice
bool partitions_cycle(Simt *m, uint64_t *next);                    // all of them
bool memory_cycle(Simt *m, uint64_t *next);                        // all DRAM controllers
bool memory_is_idle(const Simt *m);                                // nothing under way in networks, slices and controllers
// Everything dirty goes to memory and all caches become empty: launch boundaries, system calls. Takes no time.
void caches_flush(Simt *m);
// The same for physical addresses [first, last) alone.
void caches_flush_range(Simt *m, uint64_t first, uint64_t last);
// A launch has ended: everything dirty goes to memory, and what is not for the next launch goes (flush.c).
void caches_end_launch(Simt *m);
void caches_meet_host(Simt *m); // host.c. A launch begins: what the host has written since the last is no longer in caches, or is now

typedef struct SimtMachine {
  Machine base;
  Simt simt;
} SimtMachine;
static inline Simt *simt_of(Machine *machine) { return &((SimtMachine *)machine)->simt; }
static inline const Simt *simt_in(const Machine *machine) { return &((const SimtMachine *)machine)->simt; }
// Of its MachineKind; clone.c.
uint64_t simt_machine_now(const Machine *machine);
const RegionTable *simt_machine_regions(const Machine *machine);
uint8_t *simt_machine_block(Machine *machine);
Machine *simt_machine_clone(const Machine *machine, Memory *memory, const HookChain *given);
void simt_machine_copy(Machine *clone, const Machine *machine);
const Trap *simt_machine_trap(const Machine *machine);
bool simt_machine_save(Machine *machine, const char *path, Diags *diags);
bool simt_machine_load(Machine *machine, const char *path, Diags *diags);
void simt_machine_move(Machine *machine);
uint64_t simt_machine_hash(const Machine *machine);
uint64_t simt_machine_digest(const Machine *machine);
bool simt_machine_diff(const Machine *a, const Machine *b, Text *out);
void machine_bind(Simt *m); // everything that points into the block, or is told where it is

// ---- The machine ---------------------------------------------------------------------------------------
// One cycle; the next in which something can happen, UINT64_MAX for never (simt.c).
uint64_t machine_cycle(Simt *m);
void simt_account_all(Simt *m); // statistics of time up to now

#endif
