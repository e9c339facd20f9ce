// Networks: exact latency by flits and hops, fair arbiters, back-pressure, and random traffic that arrives once, whole
// and in order.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "machine/parts/network.h"

typedef struct Arrival {
  uint64_t at;
  uint32_t sink;
  Packet packet;
} Arrival;

enum { MOST_ARRIVALS = 20000, MOST_SINKS = 64 };
typedef struct Rig {
  NetworkShape shape;
  Network network;
  bool room[MOST_SINKS];
  uint64_t now;
  uint32_t arrivals;
  Arrival *arrived;
} Rig;

static void *zeroed(size_t count, size_t bytes) {
  void *at = calloc(count, bytes);
  assert_non_null(at);
  return at;
}

static void rig_open(Rig *rig, NetworkShape shape) {
  memset(rig, 0, sizeof *rig);
  rig->shape = shape;
  rig->network = (Network){.shape = &rig->shape,
                           .control = zeroed(1, sizeof(NetworkControl)),
                           .buffers = zeroed(shape.buffer_count, sizeof(NetworkBuffer)),
                           .front_at = zeroed(shape.buffer_count, sizeof(uint64_t)),
                           .packets = zeroed(shape.buffer_count * shape.buffer, sizeof(Packet)),
                           .ready_at = zeroed(shape.buffer_count * shape.buffer, sizeof(uint64_t))};
  rig->arrived = zeroed(MOST_ARRIVALS, sizeof(Arrival));
  for (uint32_t i = 0; i < MOST_SINKS; i++) rig->room[i] = true;
}

static void rig_close(Rig *rig) {
  free(rig->network.control);
  free(rig->network.buffers);
  free(rig->network.front_at);
  free(rig->network.packets);
  free(rig->network.ready_at);
  free(rig->arrived);
}

static void take(void *context, uint32_t sink, const Packet *packet) {
  Rig *rig = context;
  assert_true(rig->room[sink]);
  assert_true(rig->arrivals < MOST_ARRIVALS);
  rig->arrived[rig->arrivals++] = (Arrival){.at = rig->now, .sink = sink, .packet = *packet};
}

static bool has_room(void *context, uint32_t sink) { return ((const Rig *)context)->room[sink]; }

static bool step(Rig *rig, uint64_t *next) {
  bool moved = network_cycle(&rig->network, rig->now, &(NetworkOutlet){has_room, take, rig}, next);
  assert_true(*next > rig->now);
  return moved;
}

static void run_to(Rig *rig, uint64_t end) {
  uint64_t next;
  for (; rig->now < end; rig->now++) step(rig, &next);
}

// A request of `flits` flits of 32 bytes.
static Packet packet_of(uint32_t flits, uint16_t tag) {
  Packet packet = {.kind = flits == 1 ? PACKET_READ : PACKET_WRITE, .tag = tag, .bytes = bytes_from(0, (flits - 1) * 32)};
  assert_int_equal((packet_wire_bytes(&packet) + 31) / 32, flits);
  return packet;
}

static void send(Rig *rig, uint32_t source, uint32_t sink, Packet packet) {
  assert_true(network_can_send(&rig->network, source));
  network_send(&rig->network, source, sink, &packet, rig->now);
}

// ---- Crossbar ----------------------------------------------------------------------------------------
static void crossbar_latency(void **state) {
  (void)state;
  for (uint32_t flits = 1; flits <= 5; flits++) {
    Rig rig;
    rig_open(&rig, network_shape(NETWORK_CROSSBAR, 4, 3, 32, 7, 2));
    rig.now = 100;
    send(&rig, 1, 2, packet_of(flits, 9));
    uint64_t next;
    assert_false(step(&rig, &next));
    assert_int_equal(next, 100 + 7 + flits - 1);
    rig.now = next - 1;
    assert_false(step(&rig, &next));
    assert_int_equal(rig.arrivals, 0);
    rig.now = next;
    assert_true(step(&rig, &next));
    assert_int_equal(rig.arrivals, 1);
    assert_int_equal(rig.arrived[0].sink, 2);
    assert_int_equal(rig.arrived[0].packet.tag, 9);
    assert_true(network_is_empty(&rig.network));
    rig.now++;
    assert_false(step(&rig, &next));
    assert_true(next == UINT64_MAX);
    rig_close(&rig);
  }
}

// Two packets for one sink follow each other by the flits of the first; for different sinks they do not meet.
static void crossbar_links_are_held(void **state) {
  (void)state;
  for (uint32_t same = 0; same < 2; same++) {
    Rig rig;
    rig_open(&rig, network_shape(NETWORK_CROSSBAR, 2, 2, 32, 4, 4));
    send(&rig, 0, 0, packet_of(3, 0));
    send(&rig, 1, same == 1 ? 0 : 1, packet_of(3, 1));
    run_to(&rig, 40);
    assert_int_equal(rig.arrivals, 2);
    assert_int_equal(rig.arrived[0].at, 4 + 2);
    assert_int_equal(rig.arrived[1].at, same == 1 ? 4 + 2 + 3 : 4 + 2);
    rig_close(&rig);
  }
  Rig rig; // one input sends one packet at a time, whatever the outputs
  rig_open(&rig, network_shape(NETWORK_CROSSBAR, 2, 2, 32, 4, 4));
  send(&rig, 0, 0, packet_of(3, 0));
  send(&rig, 0, 1, packet_of(3, 1));
  run_to(&rig, 40);
  assert_int_equal(rig.arrived[1].at, 4 + 2 + 3);
  rig_close(&rig);
}

// Every source floods: shares of a sink differ by one packet at most, and the sink never rests.
static void check_fairness(NetworkShape shape, uint32_t flits) {
  Rig rig;
  rig_open(&rig, shape);
  uint32_t cycles = 3000, counts[32] = {0};
  uint64_t next;
  for (; rig.now < cycles; rig.now++) {
    for (uint32_t s = 0; s < shape.sources; s++) {
      Packet packet = packet_of(flits, (uint16_t)s);
      if (network_can_send(&rig.network, s)) network_send(&rig.network, s, 0, &packet, rig.now);
    }
    step(&rig, &next);
  }
  for (uint32_t i = 0; i < rig.arrivals; i++) counts[rig.arrived[i].packet.tag]++;
  for (uint32_t s = 1; s < shape.sources; s++) assert_true(counts[s] + 1 >= counts[0] && counts[0] + 1 >= counts[s]);
  assert_int_equal(rig.arrivals, (cycles - 1 - (shape.latency + flits - 1)) / flits + 1);
  rig_close(&rig);
}

static void crossbar_is_fair(void **state) {
  (void)state;
  check_fairness(network_shape(NETWORK_CROSSBAR, 15, 12, 32, 8, 4), 1);
  check_fairness(network_shape(NETWORK_CROSSBAR, 15, 12, 32, 8, 4), 5);
  check_fairness(network_shape(NETWORK_CROSSBAR, 7, 1, 32, 3, 1), 2);
}

// A sink without room stops those who send to it, no one else; it loses nothing.
static void full_sink_stops_its_sources_only(void **state) {
  (void)state;
  for (uint32_t kind = 0; kind < 2; kind++) {
    Rig rig;
    rig_open(&rig, network_shape((NetworkKind)kind, 2, 2, 32, 2, 3));
    rig.room[0] = false;
    uint32_t sent[2] = {0};
    uint64_t next;
    for (; rig.now < 200; rig.now++) {
      for (uint32_t s = 0; s < 2; s++) {
        Packet packet = packet_of(1, (uint16_t)sent[s]);
        if (!network_can_send(&rig.network, s)) continue;
        network_send(&rig.network, s, s, &packet, rig.now);
        sent[s]++;
      }
      step(&rig, &next);
    }
    assert_true(sent[0] < 12); // its buffers, then nothing
    assert_true(sent[1] > 190);
    for (uint32_t i = 0; i < rig.arrivals; i++) assert_int_equal(rig.arrived[i].sink, 1);
    uint32_t before = rig.arrivals;
    rig.room[0] = true;
    run_to(&rig, 260);
    assert_int_equal(rig.arrivals - before, sent[0] + sent[1] - before);
    assert_true(network_is_empty(&rig.network));
    rig_close(&rig);
  }
}

// While only a sink is full, the network asks for no cycle of its own, but is ready in the very cycle room appears.
static void waits_for_sink_without_cycles(void **state) {
  (void)state;
  Rig rig;
  rig_open(&rig, network_shape(NETWORK_CROSSBAR, 2, 2, 32, 2, 3));
  rig.room[1] = false;
  send(&rig, 0, 1, packet_of(1, 5));
  uint64_t next;
  rig.now = 2;
  assert_false(step(&rig, &next));
  assert_true(next == UINT64_MAX);
  rig.now = 50;
  rig.room[1] = true;
  assert_true(step(&rig, &next));
  assert_int_equal(rig.arrivals, 1);
  rig_close(&rig);
}

// ---- Mesh --------------------------------------------------------------------------------------------
static uint32_t hops(const NetworkShape *shape, uint32_t source, uint32_t sink) {
  MeshSpot a = shape->source_spot[source], b = shape->sink_spot[sink];
  return (uint32_t)(abs(a.column - b.column) + abs(a.row - b.row));
}

// Alone, a packet takes one latency per router it passes, and its further flits once.
static void mesh_latency_by_hops(void **state) {
  (void)state;
  NetworkShape shape = network_shape(NETWORK_MESH, 28, 8, 32, 3, 2);
  assert_int_equal(shape.columns, 6);
  assert_int_equal(shape.grid_rows, 6);
  uint32_t longest = 0;
  for (uint32_t source = 0; source < shape.sources; source++) {
    for (uint32_t sink = 0; sink < shape.sinks; sink++) {
      uint32_t flits = 1 + (source + sink) % 5, steps = hops(&shape, source, sink);
      Rig rig;
      rig_open(&rig, shape);
      send(&rig, source, sink, packet_of(flits, 1));
      run_to(&rig, 100);
      assert_int_equal(rig.arrivals, 1);
      assert_int_equal(rig.arrived[0].sink, sink);
      assert_int_equal(rig.arrived[0].at, (steps + 1) * 3 + flits - 1);
      longest = max_u32(longest, steps);
      rig_close(&rig);
    }
  }
  assert_true(longest >= 7);
}

// Every node has a place of its own, the same in both directions.
static void mesh_places(void **state) {
  (void)state;
  NetworkShape out = network_shape(NETWORK_MESH, 28, 8, 32, 3, 2), back = network_shape(NETWORK_MESH, 8, 28, 32, 3, 2);
  bool taken[6][6] = {0};
  for (uint32_t i = 0; i < 36; i++) {
    MeshSpot a = i < 28 ? out.source_spot[i] : out.sink_spot[i - 28], b = i < 28 ? back.sink_spot[i] : back.source_spot[i - 28];
    assert_memory_equal(&a, &b, sizeof a);
    assert_true(a.row < 6 && a.column < 6 && !taken[a.row][a.column]);
    taken[a.row][a.column] = true;
  }
}

// A link between routers is held for the flits of a packet: one row of routers, two sources left of one sink.
static void mesh_links_are_held(void **state) {
  (void)state;
  NetworkShape shape = network_shape(NETWORK_MESH, 3, 1, 32, 2, 4);
  uint32_t far = 0;
  for (uint32_t s = 0; s < 3; s++) far = hops(&shape, s, 0) > hops(&shape, far, 0) ? s : far;
  Rig rig;
  rig_open(&rig, shape);
  for (uint16_t i = 0; i < 4; i++) send(&rig, far, 0, packet_of(4, i));
  run_to(&rig, 100);
  assert_int_equal(rig.arrivals, 4);
  for (uint32_t i = 0; i < 4; i++) assert_int_equal(rig.arrived[i].at, (hops(&shape, far, 0) + 1) * 2 + 3 + 4 * i);
  rig_close(&rig);
}

// ---- Random traffic ------------------------------------------------------------------------------------
typedef struct Traffic {
  uint64_t seed;
  uint32_t sent; // packets so far
  uint16_t next_out[64][64], next_in[64][64];
} Traffic;

static bool carries_data(const Packet *packet) { return packet->kind != PACKET_READ && packet->kind != PACKET_WRITE_REPLY; }

static Packet random_packet(Traffic *traffic, uint32_t source, uint32_t sink) {
  uint64_t bits = random_draw(traffic->seed, traffic->sent, 0);
  Packet packet = {.kind = (uint8_t)(PACKET_READ + bits % 6), .sm = (uint16_t)source, .partition = (uint16_t)sink};
  packet.tag = traffic->next_out[source][sink]++;
  packet.sent_at = traffic->sent;
  packet.address = bits & PHYSICAL_MASK;
  packet.bytes = bytes_from((uint32_t)(bits >> 8) % 128, (uint32_t)(bits >> 16) % 129);
  for (uint32_t i = 0; i < LINE_WORDS && carries_data(&packet); i++) {
    packet.data[i] = (uint32_t)random_draw(traffic->seed, traffic->sent, i + 1);
  }
  traffic->sent++;
  return packet;
}

static void check_arrival(Traffic *traffic, const Arrival *arrival) {
  const Packet *packet = &arrival->packet;
  assert_int_equal(packet->partition, arrival->sink);
  assert_int_equal(packet->tag, traffic->next_in[packet->sm][arrival->sink]++); // in order, none twice, none left out
  assert_int_equal(packet->address, random_draw(traffic->seed, packet->sent_at, 0) & PHYSICAL_MASK);
  for (uint32_t i = 0; i < LINE_WORDS; i++) {
    assert_int_equal(packet->data[i], carries_data(packet) ? (uint32_t)random_draw(traffic->seed, packet->sent_at, i + 1) : 0);
  }
}

// What a cycle looks at follows from the packets: when each buffer's front may leave, over which link, and who holds any.
static void check_fronts(const Rig *rig) {
  const Network *network = &rig->network;
  uint32_t room = rig->shape.buffer;
  for (uint32_t b = 0; b < rig->shape.buffer_count; b++) {
    const NetworkBuffer *buffer = &network->buffers[b];
    bool has_some = !packet_queue_empty(&buffer->queue);
    uint32_t front = b * room + buffer->queue.head % room;
    uint64_t at = has_some ? max_u64(network->ready_at[front], buffer->input_free_at) : 0;
    assert_int_equal(network->control->active[b / 64] >> b % 64 & 1, has_some);
    assert_int_equal(network->front_at[b], at);
    if (rig->shape.kind == NETWORK_CROSSBAR) assert_int_equal(buffer->link, has_some ? network->packets[front].sink : 0);
  }
}

static void random_traffic(NetworkShape shape, uint64_t seed, uint32_t load) {
  Rig rig;
  rig_open(&rig, shape);
  Traffic *traffic = zeroed(1, sizeof *traffic);
  traffic->seed = seed;
  uint64_t next = 0;
  while (traffic->sent < 4000 || !network_is_empty(&rig.network)) {
    for (uint32_t s = 0; s < shape.sources && traffic->sent < 4000; s++) {
      uint64_t bits = random_draw(seed + 1, rig.now, s);
      if (bits % 100 >= load || !network_can_send(&rig.network, s)) continue;
      uint32_t sink = (uint32_t)(bits >> 20) % shape.sinks;
      Packet packet = random_packet(traffic, s, sink);
      network_send(&rig.network, s, sink, &packet, rig.now);
    }
    for (uint32_t i = 0; i < shape.sinks; i++) rig.room[i] = random_draw(seed + 2, rig.now, i) % 4 != 0;
    step(&rig, &next);
    check_fronts(&rig);
    rig.now++;
    assert_true(rig.now < 1000000); // no deadlock
  }
  assert_int_equal(rig.arrivals, traffic->sent);
  for (uint32_t i = 0; i < rig.arrivals; i++) check_arrival(traffic, &rig.arrived[i]);
  free(traffic);
  rig_close(&rig);
}

static void random_traffic_arrives(void **state) {
  (void)state;
  for (uint32_t load = 5; load <= 100; load += 95) {
    random_traffic(network_shape(NETWORK_CROSSBAR, 15, 12, 32, 8, 8), 11, load);
    random_traffic(network_shape(NETWORK_CROSSBAR, 8, 28, 16, 1, 1), 12, load);
    random_traffic(network_shape(NETWORK_MESH, 28, 8, 32, 3, 2), 13, load);
    random_traffic(network_shape(NETWORK_MESH, 8, 28, 32, 1, 1), 14, load);
    random_traffic(network_shape(NETWORK_MESH, 5, 6, 8, 2, 1), 15, load);
    random_traffic(network_shape(NETWORK_MESH, 1, 1, 32, 2, 1), 16, load);
  }
}

// Skipping to *next gives the same arrivals as going cycle by cycle.
static void skipping_changes_nothing(void **state) {
  (void)state;
  for (uint32_t kind = 0; kind < 2; kind++) {
    Rig rigs[2];
    for (uint32_t r = 0; r < 2; r++) {
      Rig *rig = &rigs[r];
      rig_open(rig, network_shape((NetworkKind)kind, 6, 4, 32, 5, 2));
      uint32_t sent = 0;
      while (sent < 300 || !network_is_empty(&rig->network)) {
        uint64_t next, send_at = sent < 300 ? (uint64_t)sent / 3 * 17 : UINT64_MAX;
        for (; sent < 300 && send_at <= rig->now && network_can_send(&rig->network, sent % 6); sent++) {
          send(rig, sent % 6, sent * 7 % 4, packet_of(1 + sent % 5, (uint16_t)sent));
        }
        step(rig, &next);
        rig->now = r == 0 ? rig->now + 1 : min_u64(next, max_u64(send_at, rig->now + 1));
      }
    }
    assert_int_equal(rigs[0].arrivals, 300);
    assert_int_equal(rigs[0].arrivals, rigs[1].arrivals);
    assert_memory_equal(rigs[0].arrived, rigs[1].arrived, 300 * sizeof(Arrival));
    rig_close(&rigs[0]);
    rig_close(&rigs[1]);
  }
}

// Any bits in queues, arbiters and packets: nothing leaves its array, nothing loops.
static void any_bits_are_legal(void **state) {
  (void)state;
  for (uint32_t kind = 0; kind < 2; kind++) {
    Rig rig;
    rig_open(&rig, network_shape((NetworkKind)kind, 6, 4, 32, 2, 3));
    const NetworkShape *shape = &rig.shape;
    uint64_t next;
    for (uint64_t n = 0; n < 5000; n++, rig.now++) {
      rig.arrivals = 0;
      uint32_t source = (uint32_t)(n % 6);
      if (network_can_send(&rig.network, source)) send(&rig, source, (uint32_t)(n % 4), packet_of(1, 0));
      uint64_t bits = random_draw(21, n, 0);
      NetworkBuffer *buffer = &rig.network.buffers[bits % shape->buffer_count];
      uint32_t *fields[] = {&buffer->queue.head, &buffer->queue.count, &buffer->next};
      *fields[(bits >> 20) % 3] ^= 1u << (bits >> 32) % 32;
      uint8_t *packet = (uint8_t *)&rig.network.packets[(bits >> 40) % (shape->buffer_count * 3)];
      packet[(bits >> 48) % sizeof(Packet)] ^= (uint8_t)(1u << bits % 8);
      step(&rig, &next);
    }
    rig_close(&rig);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(crossbar_latency),
      cmocka_unit_test(crossbar_links_are_held),
      cmocka_unit_test(crossbar_is_fair),
      cmocka_unit_test(full_sink_stops_its_sources_only),
      cmocka_unit_test(waits_for_sink_without_cycles),
      cmocka_unit_test(mesh_latency_by_hops),
      cmocka_unit_test(mesh_places),
      cmocka_unit_test(mesh_links_are_held),
      cmocka_unit_test(random_traffic_arrives),
      cmocka_unit_test(skipping_changes_nothing),
      cmocka_unit_test(any_bits_are_legal),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
