// The DRAM controllers: each takes one request a cycle from the slices above it, in turn, and gives data back to them. Bytes move
// between the backing memory and the packet when the controller has finished the request.
#include "machine/simt/partition.h"

static Dram dram_of(const Simt *m, uint32_t controller) {
  return (Dram){.shape = &m->dims.dram,
                .controller = &m->at.controllers[controller],
                .banks = &m->at.banks[controller * m->dims.banks],
                .queue = &m->at.dram_queue[controller * m->dims.dram_queue]};
}

static void tell_served(Simt *m, const DramRequest *request) {
  const Packet *packet = &request->packet;
  uint32_t partition = packet->partition % m->dims.partitions;
  bool is_write = packet->kind == PACKET_WRITE;
  uint64_t now = simt_now(m);
  if ((m->wants & WANT_SERVICE) != 0) {
    MemoryEvent event = {.who = who_packet(m, packet),
                         .stage = MEMORY_SERVICE,
                         .partition = partition,
                         .address = packet->address,
                         .bytes = bytes_count(packet->bytes),
                         .write = is_write,
                         .waited = now - min_u64(request->arrived_at, now)};
    simt_obey(m, event.who, hooks_service(&m->hooks, &m->hook_machine, &event));
  }
  if ((m->wants & WANT_SPAN) == 0) return;
  SpanEvent span = {.who = &m->nobody,
                    .track = "dram",
                    .instance = partition / m->dims.slices,
                    .what = is_write ? "write" : "read",
                    .start = min_u64(request->arrived_at, now),
                    .end = now};
  hooks_span(&m->hooks, &m->hook_machine, &span);
}

static bool finished(void *context, const DramRequest *request) {
  Simt *m = context;
  if (request->packet.kind == PACKET_WRITE) {
    backing_write(&m->backing, request->packet.address, request->packet.bytes, request->packet.data);
  } else {
    Packet filled = request->packet;
    backing_read(&m->backing, filled.address, filled.bytes, filled.data);
    l2_fill(m, &filled);
  }
  if ((m->wants & (WANT_SERVICE | WANT_SPAN)) != 0) tell_served(m, request);
  return true;
}

// One request from the slices above. True: there are more, and room for them.
static bool take_one(Simt *m, uint32_t controller, Dram *dram) {
  uint32_t first = (uint32_t)(dram->controller->arrivals % m->dims.slices), room = m->dims.l2_queue;
  bool taken = false;
  for (uint32_t i = 0; i < m->dims.slices; i++) {
    uint32_t partition = controller * m->dims.slices + (first + i) % m->dims.slices;
    PacketQueue *queue = &m->at.partitions[partition].below;
    Packet *items = &m->at.partition_belows[partition * room];
    const Packet *packet = packet_queue_front(queue, items, room);
    if (packet == NULL || !dram_can_take(dram)) continue;
    if (taken) return true;
    dram_take(dram, packet, simt_now(m));
    packet_queue_pop(queue, items, room);
    m->at.partitions[partition].next_at = 0;
    taken = true;
    if (!packet_queue_empty(queue) && dram_can_take(dram)) return true;
  }
  return false;
}

bool memory_cycle(Simt *m, uint64_t *next) {
  uint64_t now = simt_now(m);
  bool moved = false;
  for (uint32_t i = 0; i < m->dims.controllers; i++) {
    Dram dram = dram_of(m, i);
    if (take_one(m, i, &dram)) *next = min_u64(*next, now + 1);
    uint64_t dram_next;
    moved |= dram_cycle(&dram, now, finished, m, &dram_next);
    *next = min_u64(*next, dram_next);
  }
  return moved;
}

bool memory_is_idle(const Simt *m) {
  for (uint32_t i = 0; i < m->dims.controllers; i++) {
    Dram dram = dram_of(m, i);
    if (!dram_is_empty(&dram)) return false;
  }
  for (uint32_t i = 0; i < m->dims.partitions; i++) {
    const PartitionState *state = &m->at.partitions[i];
    if (state->pending != 0 || state->input.count != 0 || state->output.count != 0 || state->below.count != 0) return false;
  }
  return m->at.core->packets == 0;
}
