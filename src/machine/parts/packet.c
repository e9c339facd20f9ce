// Packets' sizes and queues of packets; see packet.h. Any bits in a queue's head and count, and in a packet, are legal:
// indices are taken modulo the room, counts clipped, and a place that holds nothing is a packet of kind NONE.
#include "isa/isa.h"
#include "machine/parts/packet.h"

enum { HEADER_BYTES = 8 };

// Does the row take a third operand, as compare-and-swap does?
static bool has_third(uint16_t op) { return op < OP_COUNT && op_info[op].c != TYPE_none; }

uint32_t packet_wire_bytes(const Packet *packet) {
  switch ((PacketKind)packet->kind) {
  case PACKET_WRITE:
  case PACKET_READ_REPLY:
  case PACKET_ATOMIC_REPLY: return HEADER_BYTES + bytes_count(packet->bytes);
  case PACKET_ATOMIC: return HEADER_BYTES + bytes_count(packet->bytes) * (has_third(packet->op) ? 2 : 1);
  default: return HEADER_BYTES;
  }
}

void packet_copy(Packet *to, const Packet *from) {
  memcpy(to, from, offsetof(Packet, data));
  bool is_atomic = from->kind == PACKET_ATOMIC;
  bool has_data = from->kind == PACKET_WRITE || from->kind == PACKET_READ_REPLY || from->kind == PACKET_ATOMIC_REPLY || is_atomic;
  if (has_data) memcpy(to->data, from->data, sizeof to->data);
  if ((is_atomic && has_third(from->op)) || from->split != 0) memcpy(to->other, from->other, sizeof to->other);
}

void packet_queue_pop(PacketQueue *queue, Packet *items, uint32_t room) {
  if (queue->count == 0) return;
  uint32_t at = packet_place(queue->head, room);
  bool is_whole = items[at].kind == PACKET_ATOMIC || items[at].split != 0; // only these fill all of it
  if (is_whole) memset(items[at].other, 0, sizeof items[at].other);
  memset(&items[at], 0, offsetof(Packet, other));
  queue->count = min_u32(queue->count, room) - 1;
  queue->head = queue->count == 0 ? 0 : packet_place((uint64_t)at + 1, room); // empty queues are equal
}
