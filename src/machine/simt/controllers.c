// The DRAM controllers: each takes one request a cycle from the slices above it, in turn, and gives data back to them. Bytes move
// between the backing memory and the packet when the controller has finished the request.
#include "machine/simt/partition.h"

// A controller has chosen a request. `waited` is its time in the queue.
static void tell_service(Simt *m, DramRequest *request) {
  Packet *packet = &request->packet, *first = NULL;
  PacketStory story;
  bool is_read = packet->kind == PACKET_READ;
  packet_story(m, packet, MEMORY_SERVICE, &story);
  if (is_read) { // whose time that is, those who wait know
    story.waiters[0] = story.own;
    story.event.who = story.event.waiters = story.waiters;
    story.event.waiter_count = l2_waiters(m, packet, &first, story.waiters);
    if (first != NULL) {
      memcpy(story.stages, first->spent, sizeof story.stages);
      story.stages[first->stage % MEMORY_STAGES] += (uint32_t)simt_now(m) - first->since;
    }
  }
  story.event.write = !is_read;
  story.event.waited = simt_now(m) - min_u64(request->arrived_at, simt_now(m));
  story.event.entry = (uint64_t)(request - m->at.dram_queue);
  simt_obey(m, story.event.who, hook_tell_service(m->listener, &m->hook_machine, &story.event));
}

static void serve(void *context, DramRequest *request) {
  Simt *m = context;
  if (request->packet.kind == PACKET_READ) l2_fetch_enters(m, &request->packet, STAGE_DRAM);
  else packet_enters(&request->packet, STAGE_DRAM, simt_now(m));
  if ((m->wants & WANT_SERVICE) != 0) tell_service(m, request);
}

static void tell_entry(void *context, const DramRequest *request, bool taken) {
  Simt *m = context;
  uint64_t row = (uint64_t)(request - m->at.dram_queue);
  (taken ? simt_take : simt_release)(m, who_packet(m, &request->packet), REGION_DRAM_QUEUE, REGION_WORD_DRAM, row);
}

static Dram dram_of(Simt *m, uint32_t controller) {
  return (Dram){.shape = &m->dims.dram,
                .controller = &m->at.controllers[controller],
                .banks = &m->at.banks[controller * m->dims.banks],
                .queue = &m->at.dram_queue[controller * m->dims.dram_queue],
                .serve = serve,
                .place = places_are_wanted(m) ? tell_entry : NULL,
                .context = m};
}

static void tell_span(Simt *m, const DramRequest *request) {
  uint64_t now = simt_now(m);
  SpanEvent span = {.who = who_packet(m, &request->packet),
                    .track = "dram",
                    .instance = request->packet.partition % m->dims.partitions / m->dims.slices,
                    .what = request->packet.kind == PACKET_WRITE ? "write" : "read",
                    .start = min_u64(request->arrived_at, now),
                    .end = now};
  hook_tell_span(m->listener, &m->hook_machine, &span);
}

// What a slice gave back is in DRAM.
static void tell_given_back(Simt *m, const DramRequest *request) {
  Packet packet = request->packet;
  PacketStory story;
  const MemoryEvent *event = packet_story(m, &packet, MEMORY_RESPONSE, &story);
  simt_obey(m, event->who, hook_tell_response(m->listener, &m->hook_machine, event));
}

static bool finished(void *context, const DramRequest *request) {
  Simt *m = context;
  if (request->packet.kind == PACKET_WRITE) {
    backing_write(&m->backing, request->packet.address, request->packet.bytes, request->packet.data);
    if ((m->wants & WANT_RESPONSE) != 0 && request->packet.sm == PACKET_NO_SM) tell_given_back(m, request);
  } else {
    uint32_t data[LINE_WORDS] = {0};
    backing_read(&m->backing, request->packet.address, request->packet.bytes, data);
    l2_fill(m, &request->packet, data);
  }
  if ((m->wants & WANT_SPAN) != 0) tell_span(m, request);
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
    Packet *packet = packet_queue_front(queue, items, room);
    if (packet == NULL || !dram_can_take(dram)) continue;
    if (taken) return true;
    if (packet->kind == PACKET_READ) l2_fetch_enters(m, packet, STAGE_CONTROLLER);
    else packet_enters(packet, STAGE_CONTROLLER, simt_now(m));
    bool was_full = packet_queue_full(queue, room);
    dram_take(dram, packet, simt_now(m));
    packet_queue_pop(queue, items, room);
    slice_wake(m, partition, was_full ? 0 : UINT64_MAX);
    taken = true;
    if (!packet_queue_empty(queue) && dram_can_take(dram)) return true;
  }
  return false;
}

// When it has something to do: at once if there is something above it.
static uint64_t controller_next(const Simt *m, uint32_t controller) {
  uint32_t above = 0;
  for (uint32_t i = 0; i < m->dims.slices; i++) above |= m->at.partitions[controller * m->dims.slices + i].below.count;
  return above != 0 ? 0 : m->at.controllers[controller].wake_at;
}

bool memory_cycle(Simt *m, uint64_t *next) {
  uint64_t now = simt_now(m), least = UINT64_MAX;
  bool moved = false;
  if (now < m->at.core->controllers_at) {
    *next = min_u64(*next, m->at.core->controllers_at);
    return false;
  }
  for (uint32_t i = 0; i < m->dims.controllers; i++) {
    uint64_t at = controller_next(m, i);
    if (now < at) {
      *next = min_u64(*next, at);
      least = min_u64(least, at);
      continue;
    }
    Dram dram = dram_of(m, i);
    if (take_one(m, i, &dram)) *next = min_u64(*next, now + 1);
    uint64_t dram_next;
    moved |= dram_cycle(&dram, now, finished, m, &dram_next);
    *next = min_u64(*next, dram_next);
    least = min_u64(least, controller_next(m, i));
  }
  m->at.core->controllers_at = least;
  return moved;
}

bool memory_is_idle(const Simt *m) {
  for (uint32_t i = 0; i < m->dims.controllers; i++) {
    if (!dram_is_empty(&(Dram){.controller = &m->at.controllers[i]})) return false;
  }
  for (uint32_t i = 0; i < m->dims.partitions; i++) {
    const PartitionState *state = &m->at.partitions[i];
    if (state->pending != 0 || state->input.count != 0 || state->output.count != 0 || state->below.count != 0) return false;
  }
  return m->at.core->packets == 0;
}
