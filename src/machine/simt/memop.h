// What the files of an SM's memory pipeline share: addresses of lanes, the bytes of their data, requests and their tags.
//
//   ldst.c      takes instructions, keeps them in program order, makes one request a cycle, writes results back
//   address.c   addresses of the lanes: spaces, validity, physical addresses
//   coalesce.c  lanes to requests
//   l1d.c       the L1 data cache;  shared.c  shared memory;  constant.c  the constant cache
//   gather.c    textures, surfaces, matrix fragments
#ifndef REDOUBT_SIMT_MEMOP_H
#define REDOUBT_SIMT_MEMOP_H

#include "machine/simt/simt.h"

// Set in an address that is an offset in shared memory. No physical address has it, and no flip reaches it.
#define ADDRESS_SHARED (UINT64_C(1) << PHYSICAL_BITS)

// How far an instruction's next request got.
typedef enum MemStep {
  MEMORY_DONE,    // made: its lanes are no longer in `left`
  MEMORY_AGAIN,   // something else had to be done first and was: come again next cycle
  MEMORY_BLOCKED, // a queue or the miss registers are full: whoever makes room wakes the SM
} MemStep;

static inline uint32_t memop_lane_bytes(const MemOp *op) { return (uint32_t)op->element_bytes * op->elements; }
static inline bool memop_is_shared(const MemOp *op, unsigned lane) { return (op->address[lane] & ADDRESS_SHARED) != 0; }
static inline PhysicalWindow address_window(uint64_t address) { return (PhysicalWindow)(address >> PHYSICAL_SHIFT & 3); }
static inline bool memop_is_local(const MemOp *op, unsigned lane) {
  return !memop_is_shared(op, lane) && address_window(op->address[lane]) == PHYSICAL_LOCAL;
}
static inline uint64_t line_of(uint64_t address) { return address & PHYSICAL_MASK & ~(uint64_t)(LINE_BYTES - 1); }
// Bytes of a lane that lie side by side: in local memory the words of a datum are a line apart.
static inline uint32_t memop_run_bytes(const MemOp *op, bool is_local) {
  return is_local ? min_u32(memop_lane_bytes(op), 4) : memop_lane_bytes(op);
}
// Where in its line a lane's bytes begin. Whatever the address, they stay inside the line.
static inline uint32_t memop_offset(const MemOp *op, unsigned lane, uint32_t run_bytes) {
  return (uint32_t)op->address[lane] & (LINE_BYTES - 1) & ~(run_bytes - 1);
}

// Bytes of a lane's datum from its word `word` on, between memory's form and the data rows.
void memop_put(MemOp *op, unsigned lane, uint32_t word, const uint8_t *from, uint32_t bytes);
void memop_get(const MemOp *op, unsigned lane, uint32_t word, uint8_t *to, uint32_t bytes);
// A line has come: the lanes take their bytes, as far as `bytes` has them. `word`: see MemOp.word; 0 but for local memory.
void memop_deliver(const Simt *m, MemOp *op, uint32_t lanes, uint32_t word, const uint32_t *line, ByteMask bytes);
// One of the awaited replies has been delivered.
void memop_replied(Simt *m, uint32_t sm, MemOp *op);
// Loads that must see memory as it is now do not join a request that was made before them.
static inline bool memop_may_join(const MemOp *op) { return (op->mods & (MOD_VOLATILE | MOD_CACHE_GLOBAL | MOD_ORDERED)) == 0; }
static inline void memop_result_at(MemOp *op, uint64_t cycle) { op->ready_at = max_u64(op->ready_at, cycle); }

// Who waits in a miss register: the instruction, one of its lanes, the word of its datum. The lanes that
// are served are those with the same line as that one.
static inline uint32_t waiter_make(uint32_t index, unsigned lane, uint32_t word) { return index | lane << 8 | word << 13; }
static inline MemOp *memop_of_waiter(const Simt *m, uint32_t sm, uint32_t waiter) {
  return &m->at.memops[sm * m->dims.memops + (waiter & 0xFF) % m->dims.memops];
}
// A request of the head of the queue was not taken: it waits for room, or (a hook holds it back) tries again.
MemStep memop_unsent(Simt *m, uint32_t sm);
// A packet has left the SM's queue to the interconnect: there is room.
static inline void memop_room(Simt *m, uint32_t sm) {
  if (m->at.head_waits[sm] == HEAD_WAITS_ROOM) m->at.head_waits[sm] = HEAD_GOES;
}
// Serves a waiter from the line that has come.
void waiter_serve(Simt *m, uint32_t sm, uint32_t waiter, const Packet *packet);

// ---- Requests ----------------------------------------------------------------------------------------
// Tags of loads, stores, atomics and write-backs: kind in the upper two bits.
typedef enum DataTag {
  TAG_MISS,   // number of a miss register of the L1 data cache
  TAG_DIRECT, // number of the instruction and, from bit 7 on, word of the datum; the packet's lanes are served
  TAG_STORE,  // first of eight warps and, from bit 6 on, which of them wait for it
} DataTag;
enum { TAG_SHIFT = 14, TAG_WORD_SHIFT = 7, TAG_WARPS_SHIFT = 6 };
static inline uint16_t tag_make(DataTag kind, uint32_t value) { return (uint16_t)(kind << TAG_SHIFT | value); }

// Asks for a whole line of a first-level cache that nobody waits for; *number is its miss register. False: it cannot be, or is there or under way.
typedef struct PrefetchWay {
  ActionCache cache;
  PhysicalWindow window; // that the cache holds
  Cache lines;
  Mshrs mshrs;
} PrefetchWay;
_Static_assert(TAG_MISS == 0, "a tag of TAG_MISS is the number of the miss register");
bool memory_prefetch(Simt *m, uint32_t sm, const PrefetchWay *way, uint64_t address, uint32_t *number);
// Memory instructions that are under way, counted in each of their warps.
void warps_begin_memory(Simt *m, uint32_t sm, uint64_t warps);
void warps_end_memory(Simt *m, uint32_t sm, uint64_t warps);
// Sends a WRITE that these warps wait for before they pass a fence; whom it is for has been said. One that is to have no effect may end here.
// False: not now.
bool memory_send_store(Simt *m, uint32_t sm, Packet *packet, uint64_t warps);
// Tells the hooks the addresses of the lane slots, which they may change. False: this part shall not be carried out.
bool address_tell(Simt *m, uint32_t sm, Uop *uop, const Instr *instr, uint32_t address[2][WARP_LANES]);
// Low and high words of each lane's address: operand and offset.
void address_of_lanes(const Simt *m, const Collector *collector, const Instr *instr, uint32_t offset, uint32_t address[2][WARP_LANES]);

// ---- Parts of the pipeline ---------------------------------------------------------------------------
// Addresses of the lanes in `op` from their virtual ones; lanes that may not do what they want leave op->left. False: the launch
// has ended because of one.
bool address_translate(Simt *m, uint32_t sm, const Instr *instr, const uint32_t address[2][WARP_LANES], MemOp *op);
// The same from operands and offset, where nobody has to be told of virtual addresses and all lanes are in one valid stretch. False: they are
// not, and nothing has happened but to op->address.
bool address_place(Simt *m, uint32_t sm, Space space, const uint32_t *low, const uint32_t *high, uint32_t offset, MemOp *op);

// The same for one access of one lane. False: it may not, and the launch has ended unless a hook keeps it going.
typedef struct AddressQuery {
  const Uop *uop;
  Space space;
  uint32_t bytes;
  MemAction action;
  bool no_local, no_remote; // local memory, shared memory of other blocks will not do
} AddressQuery;
bool address_of_one(Simt *m, uint32_t sm, const AddressQuery *query, unsigned lane, uint64_t address, uint64_t *physical);

// Clusters (cluster.c). The physical address of shared memory of another block of the block's cluster. False: there is none. `own`: where the
// block's own shared memory starts.
bool cluster_translate(Simt *m, const Block *block, uint64_t address, uint32_t bytes, uint32_t own, uint64_t *physical);
uint32_t cluster_own_lanes(const MemOp *op, uint32_t lanes); // those whose address is in the block's own shared memory
// The access of the lanes that want the same block's shared memory as the first; returns them, and how long it takes.
uint32_t cluster_access(Simt *m, uint32_t sm, MemOp *op, uint32_t lanes, uint32_t *cycles);

// A place for an instruction with this uop, or NULL. Whoever asked fills it and calls ldst_begin, or clears it.
MemOp *ldst_new(Simt *m, uint32_t sm, const Uop *uop);
void ldst_begin(Simt *m, uint32_t sm, MemOp *op); // takes its place in program order
// Surfaces (surface.c): loads, stores and atomics of one address per lane.
void surface_take(Simt *m, uint32_t sm, Collector *collector, const Instr *instr);

MemStep l1d_load(Simt *m, uint32_t sm, uint32_t index, const Transaction *transaction);
// Without an L1: a load joins a prefetch of its line that is under way. False: there is none.
bool l1d_join(Simt *m, uint32_t sm, uint32_t index, const Transaction *transaction);
MemStep l1d_store_local(Simt *m, uint32_t sm, MemOp *op, const Transaction *transaction);
void l1d_written(Simt *m, uint32_t sm, uint64_t line); // a store or atomic goes past the cache
void l1d_reply(Simt *m, uint32_t sm, const Packet *packet);
uint32_t l1d_waiters(Simt *m, uint32_t sm, const Packet *packet, Who waiters[MSHR_MOST_WAITERS]);

// Carries the lanes in shared memory out. Returns how many cycles that keeps the unit busy.
uint32_t shared_access(Simt *m, uint32_t sm, MemOp *op, uint32_t lanes, RowExtent extent); // of their addresses
MemStep constant_load(Simt *m, uint32_t sm, uint32_t index);

// Entries of the ring from here on are gathers, that is matrix fragments: they keep their place in the order of memory instructions.
enum { RING_GATHERS = 128 };
void ldst_enqueue(Simt *m, uint32_t sm, uint32_t entry);
MemStep gather_request(Simt *m, uint32_t sm, uint32_t gather); // DONE: it may leave the ring

#endif
