// Crossbar and mesh; see network.h. Both are input buffers, output links and a round-robin arbiter per link; they differ in
// which link a packet wants next and what lies behind it. Dimension-order routing (all steps in x, then all in y) has no
// cycles of waiting buffers (Dally and Seitz, 1987), and requests and replies have networks of their own, so nothing deadlocks.
//
// Switching is virtual cut-through by whole packets (Kermani and Kleinrock, 1979): a packet moves on when the next buffer
// has a place for it, and then holds the input and the link for as many cycles as it has flits. The time that its flits take
// one after the other is charged once, where it enters; so a packet is in a buffer when its last flit could have come.
//
// Arbitration looks at the state at the start of the cycle: what moves in it frees room for the next.
#include "machine/parts/network.h"

// ---- Shape -----------------------------------------------------------------------------------------
static void place_nodes(NetworkShape *shape) {
  uint32_t nodes = shape->sources + shape->sinks;
  shape->columns = 1;
  while (shape->columns * shape->columns < nodes) shape->columns++;
  shape->grid_rows = (nodes + shape->columns - 1) / shape->columns;
  bool sinks_fewer = shape->sinks <= shape->sources;
  uint32_t few = sinks_fewer ? shape->sinks : shape->sources, placed = 0, others = 0;
  MeshSpot *few_spot = sinks_fewer ? shape->sink_spot : shape->source_spot;
  MeshSpot *other_spot = sinks_fewer ? shape->source_spot : shape->sink_spot;
  for (uint32_t at = 0; at < nodes; at++) {
    MeshSpot spot = {.column = (uint8_t)(at % shape->columns), .row = (uint8_t)(at / shape->columns)};
    bool is_few = placed < few && at == (2 * placed + 1) * nodes / (2 * few);
    if (is_few) {
      few_spot[placed++] = spot;
    } else {
      other_spot[others++] = spot;
    }
  }
}

NetworkShape network_shape(NetworkKind kind, uint32_t sources, uint32_t sinks, uint32_t flit_bytes, uint32_t latency, uint32_t buffer) {
  ASSERT(sources > 0 && sinks > 0 && sources + sinks <= NETWORK_MOST_NODES && flit_bytes > 0 && buffer > 0);
  NetworkShape shape = {.kind = kind, .sources = sources, .sinks = sinks, .flit_bytes = flit_bytes, .latency = latency, .buffer = buffer};
  if (kind == NETWORK_MESH) {
    place_nodes(&shape);
    shape.buffer_count = shape.columns * shape.grid_rows * MESH_PORTS;
  } else {
    shape.buffer_count = max_u32(sources, sinks);
  }
  return shape;
}

// ---- Routing ---------------------------------------------------------------------------------------
static uint32_t sink_of(const NetworkShape *shape, const Packet *packet) {
  return packet->sink < shape->sinks ? packet->sink : packet->sink % shape->sinks;
}

// The link that the packet at the front of this buffer wants.
static uint32_t link_of(const NetworkShape *shape, uint32_t buffer, const Packet *packet) {
  uint32_t sink = sink_of(shape, packet);
  if (shape->kind == NETWORK_CROSSBAR) return sink;
  uint32_t position = buffer / MESH_PORTS, column = position % shape->columns, row = position / shape->columns;
  MeshSpot spot = shape->sink_spot[sink];
  MeshPort port = MESH_LOCAL;
  if (column != spot.column) {
    port = column < spot.column ? MESH_EAST : MESH_WEST;
  } else if (row != spot.row) {
    port = row < spot.row ? MESH_SOUTH : MESH_NORTH;
  }
  return position * MESH_PORTS + port;
}

static bool leads_to_sink(const NetworkShape *shape, uint32_t link) {
  return shape->kind == NETWORK_CROSSBAR || link % MESH_PORTS == MESH_LOCAL;
}

// The buffer behind a link between two routers: the neighbour's input from this side.
static uint32_t buffer_behind(const NetworkShape *shape, uint32_t link) {
  uint32_t position = link / MESH_PORTS;
  switch ((MeshPort)(link % MESH_PORTS)) {
  case MESH_EAST: return (position + 1) * MESH_PORTS + MESH_WEST;
  case MESH_WEST: return (position - 1) * MESH_PORTS + MESH_EAST;
  case MESH_SOUTH: return (position + shape->columns) * MESH_PORTS + MESH_NORTH;
  default: return (position - shape->columns) * MESH_PORTS + MESH_SOUTH;
  }
}

// ---- Buffers ---------------------------------------------------------------------------------------
static uint32_t source_buffer(const NetworkShape *shape, uint32_t source) {
  if (shape->kind == NETWORK_CROSSBAR) return source;
  MeshSpot spot = shape->source_spot[source];
  return (spot.row * shape->columns + spot.column) * MESH_PORTS + MESH_LOCAL;
}

static Packet *buffer_packets(const Network *network, uint32_t buffer) {
  return &network->packets[(size_t)buffer * network->shape->buffer];
}

// The packet at the front is another: when it may leave, and which way.
static void buffer_front(Network *network, uint32_t buffer) {
  const NetworkShape *shape = network->shape;
  NetworkBuffer *at = &network->buffers[buffer];
  const Packet *front = packet_queue_front(&at->queue, buffer_packets(network, buffer), shape->buffer);
  uint64_t bit = UINT64_C(1) << buffer % 64;
  if (front == NULL) {
    network->control->active[buffer / 64] &= ~bit;
    network->front_at[buffer] = at->link = 0;
    return;
  }
  network->control->active[buffer / 64] |= bit;
  network->front_at[buffer] = max_u64(network->ready_at[front - network->packets], at->input_free_at);
  at->link = link_of(shape, buffer, front);
}

// Returns when the buffer's front may leave.
static uint64_t buffer_push(Network *network, uint32_t buffer, const Packet *packet, uint32_t sink, uint64_t ready_at) {
  Packet *to = packet_queue_push(&network->buffers[buffer].queue, buffer_packets(network, buffer), network->shape->buffer);
  if (to == NULL) return UINT64_MAX; // callers have asked for room
  packet_copy(to, packet);
  to->sink = (uint16_t)sink;
  if (network->place != NULL) network->place(network->context, (uint64_t)(to - network->packets), to, true);
  network->ready_at[to - network->packets] = ready_at;
  if ((network->control->active[buffer / 64] >> buffer % 64 & 1) == 0) buffer_front(network, buffer);
  return network->front_at[buffer];
}

static void buffer_pop(Network *network, uint32_t buffer) {
  PacketQueue *queue = &network->buffers[buffer].queue;
  Packet *items = buffer_packets(network, buffer), *front = packet_queue_front(queue, items, network->shape->buffer);
  network->ready_at[front - network->packets] = 0;
  if (network->place != NULL) network->place(network->context, (uint64_t)(front - network->packets), front, false);
  packet_queue_pop(queue, items, network->shape->buffer);
  buffer_front(network, buffer);
}

static uint32_t flits_of(const NetworkShape *shape, const Packet *packet) {
  return (packet_wire_bytes(packet) + shape->flit_bytes - 1) / shape->flit_bytes;
}

bool network_can_send(const Network *network, uint32_t source) {
  return !packet_queue_full(&network->buffers[source_buffer(network->shape, source)].queue, network->shape->buffer);
}

void network_send(Network *network, uint32_t source, uint32_t sink, const Packet *packet, uint64_t now) {
  uint64_t ready_at = now + network->shape->latency + flits_of(network->shape, packet) - 1;
  uint64_t front_at = buffer_push(network, source_buffer(network->shape, source), packet, sink, ready_at);
  network->control->wake_at = min_u64(network->control->wake_at, front_at);
}

static uint32_t words_of(const NetworkShape *shape) { return (shape->buffer_count + 63) / 64; }

bool network_is_empty(const Network *network) {
  uint64_t any = 0;
  for (uint32_t w = 0; w < words_of(network->shape); w++) any |= network->control->active[w];
  return any == 0;
}

// ---- A cycle ---------------------------------------------------------------------------------------
typedef struct Round { // one cycle's arbitration
  uint64_t now;
  const NetworkOutlet *outlet;
  uint64_t next;                         // earliest time at which a packet that cannot go now may be able to
  bool waits_for_sink;                   // some packet needs only its sink's room
  bool waits_for_other;                  // some packet needs only that another moves
  uint64_t wanted[NETWORK_WORDS];        // bit i: link i has a contender
  uint16_t winner[NETWORK_MOST_BUFFERS]; // of each wanted link: the buffer
} Round;

// Round robin: how far behind the link's turn an input stands; the least goes first. A flipped `next` only makes another first once.
static uint32_t turn(const Network *network, uint32_t link, uint32_t buffer) {
  bool crossbar = network->shape->kind == NETWORK_CROSSBAR;
  uint32_t inputs = crossbar ? network->shape->sources : MESH_PORTS, input = crossbar ? buffer : buffer % MESH_PORTS;
  uint32_t first = network->buffers[link].next;
  return input >= first ? input - first : input + inputs - first;
}

// The buffers of a word whose front may leave by its own times. No branch for each: which way it goes is hard to foresee.
static uint64_t ready_fronts(const Network *network, Round *round, uint32_t word) {
  const uint64_t *front_at = &network->front_at[word * 64];
  uint64_t ready = 0, next = round->next;
  for (uint64_t left = network->control->active[word]; left != 0; left &= left - 1) {
    uint64_t at = front_at[__builtin_ctzll(left)];
    uint64_t is_ready = at <= round->now ? UINT64_MAX : 0;
    ready |= left & -left & is_ready;
    next = min_u64(next, at | is_ready);
  }
  round->next = next;
  return ready;
}

// Where the front of a buffer leaves the network.
static uint32_t sink_of_front(const Network *network, uint32_t buffer) {
  const NetworkBuffer *at = &network->buffers[buffer];
  if (network->shape->kind == NETWORK_CROSSBAR) return at->link;
  return sink_of(network->shape, packet_queue_front(&at->queue, buffer_packets(network, buffer), network->shape->buffer));
}

// A buffer whose front may leave: does its link take it?
static void contend(Network *network, Round *round, uint32_t buffer) {
  const NetworkShape *shape = network->shape;
  uint32_t link = network->buffers[buffer].link;
  if (packet_queue_empty(&network->buffers[buffer].queue)) { // a flipped count
    buffer_front(network, buffer);
    return;
  }
  if (network->buffers[link].link_free_at > round->now) {
    round->next = min_u64(round->next, network->buffers[link].link_free_at);
    return;
  }
  if (leads_to_sink(shape, link)) {
    if (!round->outlet->has_room(round->outlet->context, sink_of_front(network, buffer))) {
      round->waits_for_sink = true;
      return;
    }
  } else if (packet_queue_full(&network->buffers[buffer_behind(shape, link)].queue, shape->buffer)) {
    round->waits_for_other = true;
    return;
  }
  uint64_t bit = UINT64_C(1) << link % 64;
  bool first = (round->wanted[link / 64] & bit) == 0;
  round->waits_for_other |= !first;
  if (first || turn(network, link, buffer) < turn(network, link, round->winner[link])) round->winner[link] = (uint16_t)buffer;
  round->wanted[link / 64] |= bit;
}

static void pass_on(Network *network, Round *round, uint32_t link) {
  const NetworkShape *shape = network->shape;
  const NetworkOutlet *outlet = round->outlet;
  uint32_t buffer = round->winner[link];
  NetworkBuffer *from = &network->buffers[buffer];
  const Packet *packet = packet_queue_front(&from->queue, buffer_packets(network, buffer), shape->buffer);
  uint64_t free_at = round->now + flits_of(shape, packet);
  from->input_free_at = free_at;
  network->buffers[link].link_free_at = free_at;
  bool crossbar = shape->kind == NETWORK_CROSSBAR;
  uint32_t after = (crossbar ? buffer : buffer % MESH_PORTS) + 1;
  network->buffers[link].next = after == (crossbar ? shape->sources : MESH_PORTS) ? 0 : after;
  if (leads_to_sink(shape, link)) {
    outlet->deliver(outlet->context, sink_of_front(network, buffer), packet);
  } else {
    uint64_t front_at = buffer_push(network, buffer_behind(shape, link), packet, packet->sink, round->now + shape->latency);
    round->next = min_u64(round->next, front_at);
  }
  buffer_pop(network, buffer);
  if (!packet_queue_empty(&from->queue)) round->next = min_u64(round->next, network->front_at[buffer]);
}

static bool pass_all(Network *network, Round *round) {
  bool moved = false;
  for (uint32_t w = 0; w < words_of(network->shape); w++) {
    for (uint64_t left = round->wanted[w]; left != 0; left &= left - 1) {
      pass_on(network, round, w * 64 + (uint32_t)__builtin_ctzll(left));
      moved = true;
    }
  }
  return moved;
}

bool network_cycle(Network *network, uint64_t now, const NetworkOutlet *outlet, uint64_t *next) {
  NetworkControl *control = network->control;
  *next = control->wake_at;
  if (now < control->wake_at) return false;
  uint32_t words = words_of(network->shape);
  Round round;
  round.now = now;
  round.outlet = outlet;
  round.next = UINT64_MAX;
  round.waits_for_sink = round.waits_for_other = false;
  round.wanted[0] = 0;
  if (words > 1) memset(round.wanted, 0, words * sizeof round.wanted[0]);
  for (uint32_t w = 0; w < words; w++) {
    for (uint64_t left = ready_fronts(network, &round, w); left != 0; left &= left - 1) {
      contend(network, &round, w * 64 + (uint32_t)__builtin_ctzll(left));
    }
  }
  bool moved = pass_all(network, &round);
  *next = moved ? now + 1 : round.next;
  control->wake_at = round.waits_for_sink || (moved && round.waits_for_other) ? now + 1 : round.next;
  return moved;
}
