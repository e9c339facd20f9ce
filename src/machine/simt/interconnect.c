// The way between SMs and memory partitions: the SMs' output queues, the two networks, the slices' queues, the SMs'
// reply queues. Back-pressure runs from the last of them to the first.
#include "machine/simt/memop.h"

enum { LONG_ACCESS = 1000 }; // cycles: STAT_MEMORY_LONG

static void tell_request_place(void *context, uint64_t place, const Packet *packet, bool taken) {
  Simt *m = context;
  (taken ? simt_take : simt_release)(m, who_packet(m, packet), REGION_NETWORK, REGION_WORD_REQUEST, place);
}

static void tell_reply_place(void *context, uint64_t place, const Packet *packet, bool taken) {
  Simt *m = context;
  (taken ? simt_take : simt_release)(m, who_packet(m, packet), REGION_NETWORK_REPLY, REGION_WORD_REPLY, place);
}

static Network request_network(Simt *m) {
  return (Network){.shape = &m->dims.request,
                   .control = m->at.request_control,
                   .buffers = m->at.request_buffers,
                   .front_at = m->at.request_fronts,
                   .packets = m->at.request_packets,
                   .ready_at = m->at.request_ready,
                   .place = places_are_wanted(m) ? tell_request_place : NULL,
                   .context = m};
}

static Network reply_network(Simt *m) {
  return (Network){.shape = &m->dims.reply,
                   .control = m->at.replies_control,
                   .buffers = m->at.replies_buffers,
                   .front_at = m->at.replies_fronts,
                   .packets = m->at.replies_packets,
                   .ready_at = m->at.replies_ready,
                   .place = places_are_wanted(m) ? tell_reply_place : NULL,
                   .context = m};
}

uint32_t partition_of(const Simt *m, uint64_t address) {
  return (uint32_t)((address & PHYSICAL_MASK) / m->spec->dram_interleave % m->dims.partitions);
}

// False: a hook says not now.
static bool request_passes(Simt *m, uint32_t sm, Packet *packet, uint32_t *join) {
  PacketStory story;
  const MemoryEvent *event = packet_story(m, packet, MEMORY_REQUEST, &story);
  story.event.join = join;
  if (simt_obey(m, event->who, hook_tell_request(m->listener, &m->hook_machine, event)) != VERDICT_STALL) return true;
  sm_wake(m, sm, simt_now(m) + 1);
  return false;
}

bool sm_send(Simt *m, uint32_t sm, Packet *packet) {
  PacketQueue *queue = &m->at.out_queues[sm];
  Packet *items = &m->at.out_packets[sm * m->dims.out];
  uint64_t now = simt_now(m);
  bool is_free = oracle_takes(m, packet);
  if (is_free ? !oracle_has_room(m, sm) : packet_queue_full(queue, m->dims.out)) return false;
  const Packet *last = packet_queue_at(queue, items, m->dims.out, queue->count - 1); // of this cycle, unless nothing was sent in it yet
  packet->sent_at = now;
  packet->since = (uint32_t)now;
  packet->turn = last != NULL && last->sent_at == now ? (uint8_t)(last->turn + 1) : 0;
  packet->sm = (uint16_t)sm;
  packet->partition = (uint16_t)partition_of(m, packet->address);
  uint32_t join = WHO_NO_INDEX;
  if (__builtin_expect((m->wants & WANT_REQUEST) != 0, 0) && !request_passes(m, sm, packet, &join)) return false;
  if (is_free) {
    oracle_load(m, sm, packet);
    return true;
  }
  if (__builtin_expect(m->dims.acts != 0, 0)) {
    if (join != WHO_NO_INDEX && join_other(m, sm, packet, join)) return true;
    join_sent(m, sm, packet);
  }
  packet_copy(packet_queue_push(queue, items, m->dims.out), packet);
  m->at.core->packets++;
  m->at.core->sent_from[sm / 64] |= UINT64_C(1) << sm % 64;
  sm_wake(m, sm, now + 1); // the networks look at the queues again next cycle
  return true;
}

// ---- Requests --------------------------------------------------------------------------------------

static void deliver_request(void *context, uint32_t sink, const Packet *packet) {
  Simt *m = context;
  PartitionState *partition = &m->at.partitions[sink];
  Packet *items = &m->at.partition_inputs[sink * m->dims.l2_inputs];
  Packet *place = packet_queue_push(&partition->input, items, m->dims.l2_inputs);
  if (place == NULL) return; // only when a flip has filled the queue since it was asked
  packet_copy(place, packet);
  packet_enters(place, STAGE_SLICE, simt_now(m));
  uint64_t ready_at = simt_now(m) + m->spec->l2_latency;
  m->at.partition_times[sink * m->dims.l2_inputs + (uint32_t)(place - items)].ready_at = ready_at;
  slice_wake(m, sink, ready_at);
}

// Packets that this cycle has left where they are have waited for it. One that leaves at its first chance has not waited.
static void count_waiting(Simt *m, const PacketQueue *queue, uint32_t room) {
  simt_count(m, STAT_NETWORK_WAIT, min_u32(queue->count, room));
}

static void send_request(Simt *m, Network *network, uint32_t sm) {
  uint64_t now = simt_now(m);
  PacketQueue *queue = &m->at.out_queues[sm];
  Packet *items = &m->at.out_packets[sm * m->dims.out], *front = packet_queue_front(queue, items, m->dims.out);
  if (front == NULL || !network_can_send(network, sm)) return;
  packet_enters(front, STAGE_NETWORK, now);
  if (__builtin_expect(m->dims.acts != 0, 0)) join_left(m, sm, front);
  simt_count(m, STAT_NETWORK_REQUESTS, 1);
  simt_count(m, STAT_NETWORK_BYTES, packet_wire_bytes(front));
  network_send(network, sm, front->partition % m->dims.partitions, front, now);
  packet_queue_pop(queue, items, m->dims.out);
  memop_room(m, sm);
  if (packet_queue_empty(queue)) m->at.core->sent_from[sm / 64] &= ~(UINT64_C(1) << sm % 64);
  sm_wake(m, sm, now + 1);
}

static void send_requests(Simt *m, Network *network) {
  for (uint32_t w = 0; w * 64 < m->dims.sms; w++) {
    for (uint64_t left = m->at.core->sent_from[w]; left != 0; left &= left - 1) {
      uint32_t sm = w * 64 + (uint32_t)__builtin_ctzll(left);
      send_request(m, network, sm);
      count_waiting(m, &m->at.out_queues[sm], m->dims.out);
    }
  }
}

static bool slice_has_room(void *context, uint32_t sink) {
  const Simt *m = context;
  return !packet_queue_full(&m->at.partitions[sink].input, m->dims.l2_inputs);
}

// ---- Replies ---------------------------------------------------------------------------------------

static void deliver_reply(void *context, uint32_t sink, const Packet *packet) {
  Simt *m = context;
  if (__builtin_expect(m->dims.acts != 0, 0)) join_delivered(m, sink, packet);
  Packet *place = packet_queue_push(&m->at.reply_queues[sink], &m->at.reply_waiting[sink * SIMT_REPLIES], SIMT_REPLIES);
  if (place != NULL) packet_copy(place, packet);
  sm_wake(m, sink, simt_now(m));
}

static void send_reply(Simt *m, Network *network, uint32_t partition) {
  uint32_t room = m->dims.l2_queue;
  PacketQueue *queue = &m->at.partitions[partition].output;
  Packet *items = &m->at.partition_outputs[partition * room];
  const Packet *front = packet_queue_front(queue, items, room);
  if (front == NULL || !network_can_send(network, partition)) return;
  simt_count(m, STAT_NETWORK_REPLIES, 1);
  simt_count(m, STAT_NETWORK_BYTES, packet_wire_bytes(front));
  bool was_full = packet_queue_full(queue, room);
  network_send(network, partition, front->sm % m->dims.sms, front, simt_now(m));
  packet_queue_pop(queue, items, room);
  if (packet_queue_empty(queue)) m->at.core->replied_from[partition / 64] &= ~(UINT64_C(1) << partition % 64);
  slice_wake(m, partition, was_full ? 0 : UINT64_MAX);
}

static void send_replies(Simt *m, Network *network) {
  for (uint32_t w = 0; w * 64 < m->dims.partitions; w++) {
    for (uint64_t left = m->at.core->replied_from[w]; left != 0; left &= left - 1) {
      uint32_t partition = w * 64 + (uint32_t)__builtin_ctzll(left);
      send_reply(m, network, partition);
      count_waiting(m, &m->at.partitions[partition].output, m->dims.l2_queue);
    }
  }
}

static bool sm_has_room(void *context, uint32_t sink) {
  const Simt *m = context;
  return !packet_queue_full(&m->at.reply_queues[sink], SIMT_REPLIES);
}

static void count_reply(Simt *m, const Packet *packet) {
  if (packet->kind != PACKET_READ_REPLY) return;
  uint64_t latency = simt_now(m) - min_u64(packet->sent_at, simt_now(m));
  simt_count(m, STAT_MEMORY_LATENCY, latency);
  if (latency > LONG_ACCESS) simt_count(m, STAT_MEMORY_LONG, 1);
  simt_count(m, STAT_MEMORY_READS, 1);
}

// Who waits for it, before they are served.
// Whose reply it is: a prefetch goes to the cache that it is for.
static Client reply_client(const Packet *packet) {
  if (packet->client != CLIENT_PREFETCH) return (Client)packet->client;
  switch (packet->prefetch) {
  case 1 + PREFETCH_INSTRUCTION: return CLIENT_INSTRUCTION;
  case 1 + PREFETCH_CONSTANT: return CLIENT_CONSTANT;
  case 1 + PREFETCH_TEXTURE: return CLIENT_TEXTURE;
  default: return CLIENT_LOAD;
  }
}

static void find_waiters(Simt *m, uint32_t sm, Packet *packet, PacketStory *story) {
  packet_story(m, packet, MEMORY_RESPONSE, story);
  uint32_t count = 1;
  story->waiters[0] = story->own;
  switch (reply_client(packet)) {
  case CLIENT_INSTRUCTION: count = fetch_waiters(m, sm, packet, story->waiters); break;
  case CLIENT_CONSTANT: count = constant_waiters(m, sm, packet, story->waiters); break;
  case CLIENT_TEXTURE: count = gather_waiters(m, sm, packet, story->waiters); break;
  case CLIENT_LOAD: count = ldst_waiters(m, sm, packet, story->waiters); break;
  default: break;
  }
  for (uint32_t i = 0; i < count; i++) {
    story->waiters[i].client = story->own.client;
    story->waiters[i].request = story->own.request;
  }
  story->event.waiters = story->waiters;
  story->event.waiter_count = count;
}

static void tell_response(Simt *m, PacketStory *story) {
  simt_obey(m, &story->own, hook_tell_response(m->listener, &m->hook_machine, &story->event));
}

static bool give_reply(Simt *m, uint32_t sm, const Packet *packet) {
  switch (reply_client(packet)) {
  case CLIENT_TEXTURE: return gather_reply(m, sm, packet);
  case CLIENT_CONSTANT: return constant_reply(m, sm, packet);
  case CLIENT_INSTRUCTION: return fetch_reply(m, sm, packet);
  default: return ldst_reply(m, sm, packet);
  }
}

// A reply that did not come over the network.
void sm_give_reply(Simt *m, uint32_t sm, const Packet *packet) {
  Packet reply = *packet;
  bool is_told = (m->wants & WANT_RESPONSE) != 0;
  PacketStory story;
  if (is_told) find_waiters(m, sm, &reply, &story);
  give_reply(m, sm, &reply);
  if (reply.quiet == 0) count_reply(m, &reply);
  if (is_told) tell_response(m, &story);
  sm_wake(m, sm, simt_now(m) + 1);
}

void sm_take_reply(Simt *m, uint32_t sm) {
  PacketQueue *queue = &m->at.reply_queues[sm];
  Packet *items = &m->at.reply_waiting[sm * SIMT_REPLIES], *packet = packet_queue_front(queue, items, SIMT_REPLIES);
  if (packet == NULL) return;
  bool is_told = (m->wants & WANT_RESPONSE) != 0;
  PacketStory story;
  if (is_told) find_waiters(m, sm, packet, &story);
  bool taken = give_reply(m, sm, packet);
  sm_wake(m, sm, simt_now(m) + 1);
  if (!taken) return;
  count_reply(m, packet);
  if (__builtin_expect(m->dims.acts != 0, 0)) join_replied(m, sm, packet);
  if (is_told) tell_response(m, &story);
  packet_queue_pop(queue, items, SIMT_REPLIES);
  m->at.core->packets -= m->at.core->packets > 0;
}

// ---- Both --------------------------------------------------------------------------------------------

static bool any_bit(const uint64_t *words, uint32_t bits) {
  uint64_t any = 0;
  for (uint32_t w = 0; w * 64 < bits; w++) any |= words[w];
  return any != 0;
}

// Each network moves its packets, then takes new ones. *next: when it has something to do again; each cycle while packets wait for it.
static bool cycle_of_replies(Simt *m, uint64_t *next) {
  uint64_t now = simt_now(m), moves_at = m->at.replies_control->wake_at;
  bool moved = false, is_fed = any_bit(m->at.core->replied_from, m->dims.partitions);
  if (now >= moves_at || is_fed) {
    Network network = reply_network(m);
    if (now >= moves_at) moved = network_cycle(&network, now, &(NetworkOutlet){sm_has_room, deliver_reply, m}, &moves_at);
    if (is_fed) send_replies(m, &network);
  }
  *next = min_u64(*next, is_fed ? now + 1 : moves_at);
  return moved;
}

static bool cycle_of_requests(Simt *m, uint64_t *next) {
  uint64_t now = simt_now(m), moves_at = m->at.request_control->wake_at;
  bool moved = false, is_fed = any_bit(m->at.core->sent_from, m->dims.sms);
  if (now >= moves_at || is_fed) {
    Network network = request_network(m);
    if (now >= moves_at) moved = network_cycle(&network, now, &(NetworkOutlet){slice_has_room, deliver_request, m}, &moves_at);
    if (is_fed) send_requests(m, &network);
  }
  *next = min_u64(*next, is_fed ? now + 1 : moves_at);
  return moved;
}

bool interconnect_cycle(Simt *m, uint64_t *next) {
  if (m->at.core->packets == 0) return false;
  bool moved = cycle_of_replies(m, next);
  moved |= cycle_of_requests(m, next);
  return moved;
}
