// Packets' sizes and queues of packets; see packet.h. Any bits in a queue's head and count, and in a packet, are legal:
// indices are taken modulo the room, counts clipped, and a place that holds nothing is a packet of kind NONE.
#include "isa/isa.h"
#include "machine/parts/packet.h"

enum { HEADER_BYTES = 8 };

// Does the row take a third operand, as compare-and-swap does?
static bool has_third(uint16_t op) { return op < OP_COUNT && op_info[op].c != TYPE_none; }

static bool carries_data(const Packet *packet) {
  return (1u << min_u32(packet->kind, PACKET_KINDS) &
          (1u << PACKET_WRITE | 1u << PACKET_ATOMIC | 1u << PACKET_READ_REPLY | 1u << PACKET_ATOMIC_REPLY)) != 0;
}

uint32_t packet_wire_bytes(const Packet *packet) {
  uint32_t bytes = carries_data(packet) ? UINT32_MAX : 0; // a mask: which kind it is, is hard to foresee
  bool is_twice = packet->kind == PACKET_ATOMIC && has_third(packet->op);
  return HEADER_BYTES + (bytes & bytes_count(packet->bytes) * (is_twice ? 2 : 1));
}

void packet_copy(Packet *to, const Packet *from) {
  memcpy(to, from, offsetof(Packet, data));
  bool is_atomic = from->kind == PACKET_ATOMIC;
  if (carries_data(from)) memcpy(to->data, from->data, sizeof to->data);
  if ((is_atomic && has_third(from->op)) || from->split != 0) memcpy(to->other, from->other, sizeof to->other);
}

void packet_queue_pop(PacketQueue *queue, Packet *items, uint32_t room) {
  if (queue->count == 0) return;
  uint32_t at = packet_place(queue->head, room);
  bool is_whole = items[at].kind == PACKET_ATOMIC || items[at].split != 0; // only these fill all of it
  if (is_whole) memset(items[at].other, 0, sizeof items[at].other);
  memset(&items[at], 0, offsetof(Packet, other));
  queue->count = min_u32(queue->count, room) - 1;
  uint32_t stays = queue->count == 0 || at + 1 == room ? 0 : UINT32_MAX; // empty queues are equal
  queue->head = (at + 1) & stays;
}
