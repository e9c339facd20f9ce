// What travels between SMs and memory partitions: requests and replies, with their data.
#ifndef REDOUBT_PARTS_PACKET_H
#define REDOUBT_PARTS_PACKET_H

#include "hook/hook.h"
#include "machine/parts/cache.h"

typedef enum PacketKind {
  PACKET_NONE, // an empty place
  PACKET_READ,
  PACKET_WRITE,
  PACKET_ATOMIC,
  PACKET_READ_REPLY,
  PACKET_WRITE_REPLY, // acknowledges: counted for fences
  PACKET_ATOMIC_REPLY,
  PACKET_KINDS
} PacketKind;

// Physical addresses, 50 bits: a window in bits 48..49 and an offset.
enum { PHYSICAL_SHIFT = 48, PHYSICAL_BITS = 50, BANK_SHIFT = 44 };
typedef enum PhysicalWindow {
  PHYSICAL_GLOBAL,
  PHYSICAL_LOCAL,
  PHYSICAL_CODE,
  PHYSICAL_BANKS
} PhysicalWindow; // BANKS: bank << BANK_SHIFT | offset
#define PHYSICAL_MASK ((UINT64_C(1) << PHYSICAL_BITS) - 1)
static inline uint64_t physical_address(PhysicalWindow window, uint64_t offset) {
  return (uint64_t)window << PHYSICAL_SHIFT | (offset & ((UINT64_C(1) << PHYSICAL_SHIFT) - 1));
}

// A line's worth of a request. Atomics: word positions in `bytes` are operated on, each once; operand b lies in `data` and
// c (compare-and-swap) in `other`, both at the position of their datum; the reply's data are the old values.
typedef struct Packet {
  uint64_t address; // physical, of the 128-byte line
  uint64_t sent_at; // cycle the request left the SM
  ByteMask bytes;   // READ: wanted; WRITE and ATOMIC: that data holds
  uint8_t kind;
  uint8_t client;                // Client: who sent the request and gets the reply
  uint16_t sm;                   // that asked; PACKET_NO_SM: an L2 slice gives bytes back
  uint16_t partition;            // who serves
  uint16_t tag;                  // the asker's own: comes back untouched
  uint32_t lanes;                // atomics: which lanes of the instruction it serves
  uint16_t op, mods;             // atomics: row of isa.def and its modifiers
  uint16_t warp;                 // for hooks, as all that follows
  uint16_t sink;                 // the network's: where it is going
  uint8_t block_slot;            // of the instruction that asked
  uint8_t turn;                  // number among the requests that its SM sent in that cycle
  uint8_t stage;                 // MemoryStage it is in
  uint8_t passed;                // hooks have let it pass at its partition
  uint64_t block;                // linear index
  uint32_t pc, issue;            // UINT32_MAX: not known
  uint32_t word;                 // the schemes'
  uint32_t since;                // low bits of the cycle in which the stage began
  uint32_t spent[MEMORY_STAGES]; // cycles in the stages before
  uint8_t quiet;                 // WRITE, ATOMIC: is answered, and changes nothing; READ: of a mirror
  uint8_t prefetch;              // READ: nobody waits for it: 1 + ActionCache that it is for
  uint8_t joins;                 // READ of a load: may have the reply to a request that was made before it
  uint8_t split;                 // READ_REPLY: `other` holds the other half of each instruction (simt/code.h)
  uint32_t data[LINE_WORDS];
  uint32_t other[LINE_WORDS];
} Packet;
enum { PACKET_NO_SM = UINT16_MAX };

// The packet leaves its stage in that cycle and enters another.
static inline void packet_enters(Packet *packet, MemoryStage stage, uint64_t cycle) {
  packet->spent[packet->stage % MEMORY_STAGES] += (uint32_t)cycle - packet->since;
  packet->stage = (uint8_t)stage;
  packet->since = (uint32_t)cycle;
}

static inline bool packet_is_reply(const Packet *packet) { return packet->kind >= PACKET_READ_REPLY; }
// Bytes on the wire: a header of 8 and the data that this kind carries. Receivers ignore kinds they do not know.
uint32_t packet_wire_bytes(const Packet *packet);
// Copies what a packet carries into a cleared place; the data words of kinds without data stay behind.
void packet_copy(Packet *to, const Packet *from);

// A first-in first-out queue of packets: head and count beside an array of `room` packets somewhere in the block.
typedef struct PacketQueue {
  uint32_t head, count; // readers mask: any bits are legal
} PacketQueue;
// All take the queue's own array and its room; indices are taken modulo room, counts clipped to it.
static inline uint32_t packet_place(uint64_t index, uint32_t room) {
  uint64_t once = index - (index >= room ? room : 0); // no branch for the usual ways round
  return (uint32_t)(__builtin_expect(once < room, 1) ? once : index % room);
}
static inline bool packet_queue_full(const PacketQueue *queue, uint32_t room) { return queue->count >= room; }
static inline bool packet_queue_empty(const PacketQueue *queue) { return queue->count == 0; }
static inline Packet *packet_queue_front(const PacketQueue *queue, Packet *items, uint32_t room) { // NULL: empty
  return queue->count == 0 ? NULL : &items[packet_place(queue->head, room)];
}
// From the front; NULL: there are fewer.
static inline Packet *packet_queue_at(const PacketQueue *queue, Packet *items, uint32_t room, uint32_t index) {
  return index >= min_u32(queue->count, room) ? NULL : &items[packet_place((uint64_t)queue->head + index, room)];
}
// The place to fill; NULL: full.
static inline Packet *packet_queue_push(PacketQueue *queue, Packet *items, uint32_t room) {
  if (packet_queue_full(queue, room)) return NULL;
  uint32_t at = packet_place((uint64_t)queue->head + queue->count, room);
  queue->count++;
  return &items[at];
}
void packet_queue_pop(PacketQueue *queue, Packet *items, uint32_t room); // clears the place: equal states have equal bytes

#endif
