// L2 slices and DRAM controllers against a flat memory in which every request takes effect when it arrives: exact, because
// requests for one line are performed in the order of their arrival. Also latencies, evictions, partial allocations, what hooks
// are told, and flips.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "machine/simt/partition.h"

enum { LINES = 96, REQUESTS = 6000 };

typedef struct Rig {
  Arena *arena;
  Spec spec;
  Simt m;
  Region regions[SIMT_REGIONS];
  Program program;
  InstrWord code[16];
  uint8_t bank[200];
  Memory *memory;
  uint64_t base; // of the device memory used
  uint64_t bytes;
  uint64_t local_touched, const_written;
  uint32_t replies;
  Packet *reply; // by tag
  uint64_t *reply_at;
  uint32_t *times_replied;
} Rig;

static Rig *rig_new(const char *const settings[][2], uint32_t count) {
  Arena *arena = arena_new();
  Rig *rig = ARENA_NEW(arena, Rig);
  Diags diags = {0};
  rig->arena = arena;
  spec_default(&rig->spec);
  rig->spec.sm_count = 2;
  rig->spec.dram_controllers = 2;
  for (uint32_t i = 0; i < count; i++) assert_true(spec_set(&rig->spec, settings[i][0], settings[i][1], "test", 0, &diags));
  rig->memory = memory_new(&(MemoryOptions){.base = GLOBAL_BASE64, .capacity = 1 << 20, .granule = 1}, &diags);
  assert_non_null(rig->memory);
  Simt *m = &rig->m;
  m->spec = &rig->spec;
  m->functions = lane_functions();
  m->rows = row_functions();
  simt_dims(&rig->spec, &m->dims);
  m->regions = (RegionTable){rig->regions, SIMT_REGIONS, simt_layout(&m->dims, rig->regions)};
  m->block_bytes = m->regions.block_bytes;
  m->block = arena_alloc(arena, m->block_bytes);
  simt_bind(&m->dims, m->block, &m->at);
  m->hook_machine = (HookMachine){.block = m->block, .regions = &m->regions, .spec = m->spec};
  rig->bytes = LINES * LINE_BYTES;
  rig->base = memory_alloc(rig->memory, rig->bytes, 4096);
  for (uint32_t i = 0; i < 16; i++) rig->code[i] = (InstrWord){i, ~(uint64_t)i};
  for (uint32_t i = 0; i < sizeof rig->bank; i++) rig->bank[i] = (uint8_t)(i * 7);
  rig->program = (Program){.code = rig->code, .code_count = 16};
  m->backing = (Backing){.memory = rig->memory,
                         .local = arena_alloc(arena, 4096),
                         .local_bytes = 4096,
                         .local_warp_bytes = 1024,
                         .local_touched = &rig->local_touched,
                         .const_written = &rig->const_written,
                         .program = &rig->program,
                         .splits_code = m->dims.split != 0};
  m->backing.banks[BANK_CONST] = rig->bank;
  m->backing.bank_bytes[BANK_CONST] = sizeof rig->bank;
  rig->reply = ARENA_ARRAY(arena, Packet, REQUESTS);
  rig->reply_at = ARENA_ARRAY(arena, uint64_t, REQUESTS);
  rig->times_replied = ARENA_ARRAY(arena, uint32_t, REQUESTS);
  return rig;
}

static void rig_free(Rig *rig) {
  memory_free(rig->memory);
  arena_free(rig->arena);
}

// As the interconnect does. False: the slice's queue is full.
static bool put(Rig *rig, const Packet *packet) {
  Simt *m = &rig->m;
  uint32_t sink = partition_of(m, packet->address);
  Packet *items = &m->at.partition_inputs[sink * m->dims.l2_inputs];
  Packet *place = packet_queue_push(&m->at.partitions[sink].input, items, m->dims.l2_inputs);
  if (place == NULL) return false;
  *place = *packet;
  m->at.partition_times[sink * m->dims.l2_inputs + (uint32_t)(place - items)].ready_at = simt_now(m) + m->spec->l2_latency;
  slice_wake(m, sink, simt_now(m) + m->spec->l2_latency);
  return true;
}

static void take_reply(Rig *rig, uint32_t partition) {
  Simt *m = &rig->m;
  Packet *items = &m->at.partition_outputs[partition * m->dims.l2_queue];
  const Packet *front = packet_queue_front(&m->at.partitions[partition].output, items, m->dims.l2_queue);
  if (front == NULL) return;
  uint32_t tag = front->tag % REQUESTS;
  rig->reply[tag] = *front;
  rig->reply_at[tag] = simt_now(m);
  rig->times_replied[tag]++;
  rig->replies++;
  packet_queue_pop(&m->at.partitions[partition].output, items, m->dims.l2_queue);
  slice_wake(m, partition, 0);
}

// What a slice looks at follows from its registers and queues: how many registers are in use, and no slice sleeps past its oldest request.
static void check_slices(const Simt *m) {
  uint64_t least = UINT64_MAX;
  for (uint32_t i = 0; i < m->dims.partitions; i++) {
    const PartitionState *state = &m->at.partitions[i];
    L2Slice slice = l2_slice((Simt *)(uintptr_t)m, i);
    assert_int_equal(state->pending, mshr_in_use(&slice.mshrs));
    if (slice_front_at(m, i) > simt_now(m)) assert_true(m->at.slices_at[i] <= slice_front_at(m, i));
    least = min_u64(least, m->at.slices_at[i]);
  }
  assert_true(m->at.core->slices_at <= least);
}

// One cycle; replies are taken with probability `drain` / 8. Goes straight to the next cycle in which anything happens.
static void cycle(Rig *rig, uint32_t drain, bool skip) {
  Simt *m = &rig->m;
  uint64_t next = UINT64_MAX;
  memory_cycle(m, &next);
  partitions_cycle(m, &next);
  for (uint32_t i = 0; i < m->dims.partitions; i++) {
    if (m->at.partitions[i].output.count != 0) next = simt_now(m) + 1;
    if (random_draw(77, simt_now(m), i) % 8 < drain) take_reply(rig, i);
  }
  assert_true(next > simt_now(m));
  check_slices(m);
  m->at.core->cycle = skip && next != UINT64_MAX ? next : simt_now(m) + 1;
}

static void run_until_idle(Rig *rig) {
  uint64_t limit = simt_now(&rig->m) + 1000000;
  while (!memory_is_idle(&rig->m)) {
    cycle(rig, 8, true);
    assert_true(simt_now(&rig->m) < limit); // else it hangs
  }
}

static Packet request(Rig *rig, PacketKind kind, uint64_t line, ByteMask bytes, uint32_t tag) {
  Packet packet = {
      .kind = (uint8_t)kind, .address = rig->base + line * LINE_BYTES, .bytes = bytes, .tag = (uint16_t)tag, .sm = 1, .warp = 3};
  return packet;
}

// ---- Time --------------------------------------------------------------------------------------------
static uint64_t alone_bytes(Rig *rig, PacketKind kind, uint64_t line, uint32_t bytes, uint32_t tag) {
  Packet packet = request(rig, kind, line, bytes_from(0, bytes), tag);
  uint64_t began = simt_now(&rig->m);
  assert_true(put(rig, &packet));
  while (rig->times_replied[tag] == 0) cycle(rig, 8, false);
  return rig->reply_at[tag] - began;
}

static uint64_t alone(Rig *rig, PacketKind kind, uint64_t line, uint32_t tag) { return alone_bytes(rig, kind, line, 32, tag); }

static void latencies(void **state) {
  (void)state;
  const char *const settings[][2] = {
      {"l2.latency", "50"}, {"dram.latency", "30"}, {"clock.core_khz", "700000"}, {"clock.memory_khz", "700000"}};
  Rig *rig = rig_new(settings, COUNT_OF(settings));
  const Spec *spec = &rig->spec;
  uint64_t miss = 50 + 1 + spec->dram_rcd + spec->dram_cl + spec->dram_burst_clocks + 30;
  assert_int_equal(alone(rig, PACKET_READ, 0, 0), miss); // one cycle from the slice to the controller
  assert_int_equal(alone(rig, PACKET_READ, 0, 1), 50);
  assert_int_equal(alone(rig, PACKET_WRITE, 2, 2), 50); // needs nothing from below
  assert_int_equal(alone(rig, PACKET_READ, 2, 3), 50);
  uint64_t more = 50 + 1 + spec->dram_cl + spec->dram_burst_clocks + 30; // row open; only the sector that is not there
  assert_int_equal(alone_bytes(rig, PACKET_READ, 0, 64, 4), more);
  assert_int_equal(rig->m.at.stats->value[STAT_L2_ACCESSES], 5);
  assert_int_equal(rig->m.at.stats->value[STAT_L2_MISSES], 2);
  assert_int_equal(rig->reply[1].sm, 1);
  assert_int_equal(rig->reply[1].warp, 3);
  rig_free(rig);
}

// Hits come out one a cycle: the pipeline is as deep as its latency.
static void pipeline_is_full(void **state) {
  (void)state;
  const char *const settings[][2] = {{"l2.latency", "100"}};
  Rig *rig = rig_new(settings, COUNT_OF(settings));
  alone(rig, PACKET_WRITE, 0, 0);
  for (uint32_t tag = 1; tag <= 300;) {
    Packet packet = request(rig, PACKET_READ, 0, bytes_from(0, 32), tag);
    if (put(rig, &packet)) tag++;
    cycle(rig, 8, false);
  }
  run_until_idle(rig);
  assert_int_equal(rig->reply_at[300] - rig->reply_at[1], 299);
  rig_free(rig);
}

// The constant part of DRAM's latency takes no place in the controller's queue, so it costs no bandwidth.
static void latency_costs_no_bandwidth(void **state) {
  (void)state;
  uint64_t took[2];
  for (uint32_t i = 0; i < 2; i++) {
    const char *const settings[][2] = {{"dram.latency", i == 0 ? "0" : "100"}, {"dram.queue", "8"}, {"l2.mshrs", "128"}, {"l2.queue", "8"}};
    Rig *rig = rig_new(settings, COUNT_OF(settings));
    uint32_t tag = 0;
    for (uint64_t line = 0; line < LINES; line++) { // all that controller 0 has, in four parts each
      for (uint32_t part = 0; part < 4; part++) {
        Packet packet = request(rig, PACKET_READ, line, bytes_from(part * 32, 32), tag);
        if (partition_of(&rig->m, packet.address) >= rig->m.dims.slices) break;
        while (!put(rig, &packet)) cycle(rig, 8, false);
        tag++;
      }
    }
    run_until_idle(rig);
    assert_int_equal(rig->replies, LINES / 2 * 4);
    took[i] = simt_now(&rig->m);
    rig_free(rig);
  }
  assert_true(took[1] >= took[0] + 100 && took[1] < took[0] + 400); // once or a few times, not for each
}

// Requests for one line that never cease do not keep another miss from being served.
static void hot_line_starves_no_one(void **state) {
  (void)state;
  const char *const settings[][2] = {{"l2.latency", "10"}};
  Rig *rig = rig_new(settings, COUNT_OF(settings));
  const uint64_t lines_asked[] = {0, 8}; // of one slice
  for (uint32_t i = 0; i < 2; i++) {
    Packet packet = request(rig, PACKET_READ, lines_asked[i], bytes_from(0, 32), i);
    assert_true(put(rig, &packet));
    cycle(rig, 8, false);
  }
  for (uint32_t tag = 2; tag < 1000; cycle(rig, 8, false)) {
    Packet packet = request(rig, PACKET_READ, 0, bytes_from(0, 32), tag);
    if (put(rig, &packet)) tag++;
  }
  run_until_idle(rig);
  assert_true(rig->reply_at[1] > rig->reply_at[0] && rig->reply_at[1] < rig->reply_at[0] + 20);
  rig_free(rig);
}

// ---- Evictions -------------------------------------------------------------------------------------------
// A set of N ways takes N written lines; one more sends one of them to DRAM. A slice of S sets takes S times as many.
static void evictions_at_n_and_n_plus_1(void **state) {
  (void)state;
  const char *const settings[][2] = {{"l2.bytes", "2048"}, {"l2.ways", "4"}}; // 4 sets
  for (uint32_t extra = 0; extra < 2; extra++) {
    Rig *rig = rig_new(settings, COUNT_OF(settings));
    uint32_t sent = 0;
    for (uint64_t line = 0; sent < 16 + extra; line++) { // lines of slice 0
      Packet packet = request(rig, PACKET_WRITE, line, bytes_from(0, 4), sent);
      if (partition_of(&rig->m, packet.address) != 0) continue;
      assert_true(put(rig, &packet));
      sent++;
      run_until_idle(rig);
    }
    assert_int_equal(rig->m.at.stats->value[STAT_L2_WRITEBACKS], extra);
    assert_int_equal(rig->m.at.controllers[0].writes, extra);
    rig_free(rig);
  }
}

// A hit makes a line the last to go.
static void least_recently_used_goes(void **state) {
  (void)state;
  const char *const settings[][2] = {{"l2.bytes", "256"}, {"l2.ways", "2"}}; // one set
  Rig *rig = rig_new(settings, COUNT_OF(settings));
  const uint64_t order[] = {0, 1, 0, 8, 0, 1}; // lines of slice 0; the fourth evicts line 1, the last misses
  assert_int_equal(partition_of(&rig->m, rig->base + 8 * LINE_BYTES), partition_of(&rig->m, rig->base));
  for (uint32_t i = 0; i < COUNT_OF(order); i++) alone(rig, PACKET_READ, order[i], i);
  assert_int_equal(rig->m.at.stats->value[STAT_L2_MISSES], 4);
  rig_free(rig);
}

// ---- Random requests ---------------------------------------------------------------------------------------
typedef struct Model {
  uint8_t memory[LINES * LINE_BYTES];
  uint8_t expected[REQUESTS][LINE_BYTES]; // what the reply to each request holds
  ByteMask bytes[REQUESTS];
  uint8_t kind[REQUESTS];
} Model;

// New value of a datum, written without the lane functions.
static uint64_t new_value(Op op, uint64_t old, uint64_t b, uint64_t c) {
  switch (op) {
  case OP_ATOM_GLOBAL_ADD_U32: return (uint32_t)(old + b);
  case OP_ATOM_GLOBAL_MIN_S32: return (int32_t)old < (int32_t)b ? old : b;
  case OP_ATOM_GLOBAL_EXCH_B64: return b;
  case OP_ATOM_GLOBAL_CAS_B16: return old == b ? c : old;
  default: return old == b ? c : old; // CAS_B64
  }
}

static void model_atomic(const Packet *packet, uint8_t *line) {
  uint32_t size = type_info[op_info[packet->op].d].bits / 8u;
  for (uint32_t at = 0; at < LINE_BYTES; at += size) {
    if (!bytes_cover(packet->bytes, bytes_from(at, size))) continue;
    uint64_t old = 0, b = 0, c = 0;
    memcpy(&old, line + at, size);
    memcpy(&b, (const uint8_t *)packet->data + at, size);
    memcpy(&c, (const uint8_t *)packet->other + at, size);
    uint64_t value = new_value((Op)packet->op, old, b, c);
    memcpy(line + at, &value, size);
  }
}

static void model_request(Model *model, const Packet *packet, uint64_t line) {
  uint8_t *at = &model->memory[line * LINE_BYTES];
  model->kind[packet->tag] = packet->kind;
  model->bytes[packet->tag] = packet->bytes;
  if (packet->kind != PACKET_WRITE) memcpy(model->expected[packet->tag], at, LINE_BYTES);
  if (packet->kind == PACKET_WRITE) bytes_copy(at, packet->data, packet->bytes);
  if (packet->kind == PACKET_ATOMIC) model_atomic(packet, at);
}

// Few lines, so that requests meet: two out of three go to four of them.
static Packet random_request(Rig *rig, uint32_t tag, uint64_t *line) {
  static const uint16_t ops[] = {OP_ATOM_GLOBAL_ADD_U32, OP_ATOM_GLOBAL_MIN_S32, OP_ATOM_GLOBAL_EXCH_B64, OP_ATOM_GLOBAL_CAS_B16,
                                 OP_ATOM_GLOBAL_CAS_B64};
  uint64_t bits = random_draw(5, tag, 0), more = random_draw(5, tag, 1);
  *line = bits % 3 == 0 ? (bits >> 8) % LINES : (bits >> 8) % 4 * 2;
  PacketKind kind = (PacketKind)(PACKET_READ + (bits >> 32) % 3);
  ByteMask bytes = bytes_from((uint32_t)more % 128, 1 + (uint32_t)(more >> 8) % 64);
  if (more >> 60 == 0) bytes = (ByteMask){{random_draw(5, tag, 2), random_draw(5, tag, 3)}};
  Packet packet = request(rig, kind, *line, bytes, tag);
  if (kind == PACKET_READ) return packet;
  for (uint32_t i = 0; i < LINE_WORDS; i++) packet.data[i] = (uint32_t)random_draw(5, tag, 4 + i) & 3; // small: swaps succeed
  if (kind == PACKET_WRITE) return packet;
  packet.op = ops[(bits >> 40) % COUNT_OF(ops)];
  uint32_t size = type_info[op_info[packet.op].d].bits / 8u, first = (uint32_t)more % 128 / 8 * 8;
  packet.bytes = bytes_from(first, max_u32((uint32_t)(more >> 8) % 64 / size, 1) * size);
  for (uint32_t i = 0; i < LINE_WORDS; i++) packet.other[i] = (uint32_t)random_draw(5, tag, 40 + i) & 3;
  return packet;
}

static void compare_replies(const Rig *rig, const Model *model) {
  assert_int_equal(rig->replies, REQUESTS);
  for (uint32_t tag = 0; tag < REQUESTS; tag++) {
    const Packet *reply = &rig->reply[tag];
    assert_int_equal(rig->times_replied[tag], 1);
    assert_int_equal(reply->kind, model->kind[tag] + PACKET_READ_REPLY - PACKET_READ);
    if (model->kind[tag] == PACKET_WRITE) continue;
    uint8_t seen[LINE_BYTES] = {0}, expected[LINE_BYTES] = {0};
    bytes_copy(seen, reply->data, model->bytes[tag]);
    bytes_copy(expected, model->expected[tag], model->bytes[tag]);
    assert_memory_equal(seen, expected, LINE_BYTES);
  }
}

static void random_against_model(Rig *rig, uint32_t drain, uint32_t flushes) {
  Model *model = calloc(1, sizeof *model);
  assert_non_null(model);
  uint8_t *host = memory_at(rig->memory, rig->base, rig->bytes);
  for (uint64_t i = 0; i < rig->bytes; i++) host[i] = model->memory[i] = (uint8_t)random_draw(6, i, 0);
  uint64_t line;
  Packet packet = random_request(rig, 0, &line);
  for (uint32_t tag = 0; tag < REQUESTS;) {
    bool pause = random_draw(7, simt_now(&rig->m), 0) % 4 == 0;
    if (!pause && put(rig, &packet)) {
      model_request(model, &packet, line);
      packet = random_request(rig, ++tag, &line);
    }
    if (flushes != 0 && random_draw(8, simt_now(&rig->m), 0) % flushes == 0) caches_flush(&rig->m);
    cycle(rig, drain, false);
    assert_true(simt_now(&rig->m) < 20000000);
  }
  run_until_idle(rig);
  compare_replies(rig, model);
  caches_flush(&rig->m);
  assert_memory_equal(host, model->memory, sizeof model->memory);
  free(model);
}

// A small cache, and short queues, so that everything that can be full is full at times.
#define SMALL \
  {"l2.bytes", "1024"}, {"l2.ways", "2"}, {"l2.mshrs", "3"}, {"l2.queue", "2"}, {"l2.latency", "2"}, { "dram.queue", "4" }
static const char *const small[][2] = {SMALL};
static const char *const one_way[][2] = {SMALL, {"l2.ways", "1"}, {"l2.bytes", "128"}, {"l2.mshrs", "2"}, {"l2.queue", "1"}};
static const char *const lines[][2] = {SMALL, {"l2.sector", "128"}, {"dram.policy", "fcfs"}};
static const char *const no_cache[][2] = {SMALL, {"l2.bytes", "0"}};
static const char *const no_cache_tight[][2] = {{"l2.bytes", "0"}, {"l2.mshrs", "1"}, {"l2.queue", "1"}, {"dram.queue", "1"}};
static const char *const plenty[][2] = {{"l2.latency", "10"}};

#define RANDOM_TEST(settings, drain, flushes)         \
  do {                                                \
    Rig *rig = rig_new(settings, COUNT_OF(settings)); \
    random_against_model(rig, (drain), (flushes));    \
    rig_free(rig);                                    \
  } while (0)

static void random_requests(void **state) {
  (void)state;
  RANDOM_TEST(small, 8, 0);
  RANDOM_TEST(small, 1, 0);
  RANDOM_TEST(one_way, 5, 0);
  RANDOM_TEST(lines, 6, 0);
  RANDOM_TEST(no_cache, 8, 0);
  RANDOM_TEST(no_cache_tight, 3, 0);
  RANDOM_TEST(plenty, 8, 0);
}

// Flushing in the middle changes nothing that requests can see.
static void random_requests_with_flushes(void **state) {
  (void)state;
  RANDOM_TEST(small, 6, 20);
  RANDOM_TEST(plenty, 8, 100);
  RANDOM_TEST(no_cache, 6, 20);
  RANDOM_TEST(one_way, 6, 7);
}

// A line on its way to DRAM is in memory after a flush, and does not overwrite what came later.
static void flush_reaches_what_is_under_way(void **state) {
  (void)state;
  for (uint32_t wait = 0; wait < 60; wait++) {
    Rig *rig = rig_new(one_way, COUNT_OF(one_way));
    uint8_t *host = memory_at(rig->memory, rig->base, rig->bytes);
    const uint64_t order[] = {0, 8, 0}; // evicts line 0, then line 8, with line 0 still dirty
    for (uint32_t i = 0; i < COUNT_OF(order); i++) {
      Packet packet = request(rig, PACKET_WRITE, order[i], bytes_from(0, 4), i);
      packet.data[0] = 0x01010101 * (i + 1);
      assert_true(put(rig, &packet));
    }
    while (rig->m.at.stats->value[STAT_L2_ACCESSES] < 3) cycle(rig, 8, false);
    for (uint32_t i = 0; i < wait; i++) cycle(rig, 8, false);
    caches_flush(&rig->m);
    assert_int_equal(host[0], 3);
    assert_int_equal(host[8 * LINE_BYTES], 2);
    host[8 * LINE_BYTES] = 7; // as a system call may
    run_until_idle(rig);
    assert_int_equal(host[0], 3);
    assert_int_equal(host[8 * LINE_BYTES], 7);
    rig_free(rig);
  }
}

// After a flush memory may be changed by others. Whoever asks later sees that, at whatever stage an earlier request is.
static void later_requests_see_what_followed_a_flush(void **state) {
  (void)state;
  for (uint32_t wait = 0; wait < 200; wait++) {
    Rig *rig = rig_new(plenty, COUNT_OF(plenty));
    uint8_t *host = memory_at(rig->memory, rig->base, rig->bytes);
    host[0] = 1;
    Packet first = request(rig, PACKET_READ, 0, bytes_from(0, 4), 0), second = request(rig, PACKET_READ, 0, bytes_from(0, 4), 1);
    assert_true(put(rig, &first));
    for (uint32_t i = 0; i < wait; i++) cycle(rig, 8, false);
    caches_flush(&rig->m);
    host[0] = 2;
    assert_true(put(rig, &second));
    run_until_idle(rig);
    assert_int_equal(rig->replies, 2);
    assert_int_equal(rig->reply[1].data[0] & 0xFF, 2);
    rig_free(rig);
  }
}

// Writes in a controller's queue are done in the order of their arrival, wherever they lie in it.
static void flush_keeps_the_order_of_arrival(void **state) {
  (void)state;
  Rig *rig = rig_new(plenty, COUNT_OF(plenty));
  uint8_t *host = memory_at(rig->memory, rig->base, rig->bytes);
  const uint32_t order[] = {2, 3, 1};
  for (uint32_t i = 0; i < 3; i++) {
    DramRequest *entry = &rig->m.at.dram_queue[i];
    *entry = (DramRequest){.done_at = UINT64_MAX, .order = order[i], .packet = request(rig, PACKET_WRITE, 0, bytes_from(0, 4), i)};
    entry->packet.data[0] = order[i];
  }
  rig->m.at.controllers[0].waiting = 5;
  rig->m.at.controllers[0].moving = 2;
  caches_flush(&rig->m);
  assert_int_equal(host[0], 3);
  rig_free(rig);
}

// ---- What hooks are told -------------------------------------------------------------------------------------
typedef struct Shadow {
  const Simt *m;
  uint32_t (*row)[LINE_WORDS]; // cells as told
  uint64_t reads, writes;
} Shadow;

static Verdict shadow_read(Hook *hook, HookMachine *machine, const CellEvent *event) {
  (void)machine;
  Shadow *shadow = hook->own;
  if (event->region != REGION_L2) return VERDICT_PASS;
  shadow->reads++;
  for (uint32_t left = event->units; left != 0; left &= left - 1) {
    uint32_t unit = (uint32_t)__builtin_ctz(left), value;
    memcpy(&value, event->data + 4 * unit, 4);
    assert_int_equal(value, shadow->row[event->row][unit]);
  }
  return VERDICT_PASS;
}

static Verdict shadow_write(Hook *hook, HookMachine *machine, const CellEvent *event) {
  (void)machine;
  Shadow *shadow = hook->own;
  if (event->region != REGION_L2) return VERDICT_PASS;
  shadow->writes++;
  assert_ptr_equal(event->data, shadow->m->at.l2_data[event->row].word);
  for (uint32_t left = event->units; left != 0; left &= left - 1) {
    uint32_t unit = (uint32_t)__builtin_ctz(left);
    memcpy(&shadow->row[event->row][unit], event->data + 4 * unit, 4);
  }
  return VERDICT_PASS;
}

// Every change of a cell is told, so whoever keeps check bits finds them right at every read.
static void hooks_are_told(void **state) {
  (void)state;
  for (uint32_t cached = 0; cached < 2; cached++) {
    Rig *rig = cached == 1 ? rig_new(small, COUNT_OF(small)) : rig_new(no_cache, COUNT_OF(no_cache));
    Shadow shadow = {.m = &rig->m, .row = arena_alloc(rig->arena, (size_t)rig->m.dims.partitions * rig->m.dims.l2_lines * LINE_BYTES)};
    Hook hook = {.name = "shadow", .kind = HOOK_OBSERVER, .own = &shadow, .read = shadow_read, .write = shadow_write};
    assert_true(hook_chain_add(&rig->m.hooks, &hook));
    simt_meet_hooks(&rig->m);
    random_against_model(rig, 7, 50);
    assert_true(shadow.reads > 1000 && shadow.writes > 1000);
    rig_free(rig);
  }
}

// Words written in part are read first, so that check bits over the whole word can be made.
static void partial_words_are_read_first(void **state) {
  (void)state;
  Rig *rig = rig_new(plenty, COUNT_OF(plenty));
  Shadow shadow = {.m = &rig->m, .row = arena_alloc(rig->arena, (size_t)rig->m.dims.partitions * rig->m.dims.l2_lines * LINE_BYTES)};
  Hook hook = {.name = "shadow", .kind = HOOK_OBSERVER, .own = &shadow, .read = shadow_read, .write = shadow_write};
  assert_true(hook_chain_add(&rig->m.hooks, &hook));
  simt_meet_hooks(&rig->m);
  for (uint32_t bytes = 3; bytes <= 4; bytes++) {
    Packet packet = request(rig, PACKET_WRITE, 0, bytes_from(4, bytes), bytes);
    assert_true(put(rig, &packet));
    run_until_idle(rig);
    assert_int_equal(shadow.reads, 1); // of the first request
    assert_int_equal(shadow.writes, bytes - 2);
  }
  rig_free(rig);
}

// ---- Windows and edges ---------------------------------------------------------------------------------------
static const uint8_t *read_line(Rig *rig, uint64_t address, uint32_t tag) {
  Packet packet = {.kind = PACKET_READ, .address = address, .bytes = bytes_from(0, LINE_BYTES), .tag = (uint16_t)tag};
  assert_true(put(rig, &packet));
  run_until_idle(rig);
  return (const uint8_t *)rig->reply[tag].data;
}

static void write_line(Rig *rig, uint64_t address, uint32_t tag) {
  Packet packet = {.kind = PACKET_WRITE, .address = address, .bytes = bytes_from(0, LINE_BYTES), .tag = (uint16_t)tag};
  memset(packet.data, 0xEE, sizeof packet.data);
  assert_true(put(rig, &packet));
  run_until_idle(rig);
  caches_flush(&rig->m);
}

// Both halves of every instruction come along, from DRAM and from the line that stays; with an L2 and without. Wires carry the line alone.
static void small_instructions_come_whole(void **state) {
  (void)state;
  static const char *const settings[][2][2] = {{{"front.instruction", "8"}, {"l2.bytes", "65536"}},
                                               {{"front.instruction", "8"}, {"l2.bytes", "0"}}};
  for (uint32_t k = 0; k < COUNT_OF(settings); k++) {
    Rig *rig = rig_new(settings[k], 2);
    for (uint32_t tag = 0; tag < 4; tag++) {
      uint32_t bytes = tag < 2 ? 64 : LINE_BYTES; // a small line of an instruction cache first
      Packet packet = {
          .kind = PACKET_READ, .address = physical_address(PHYSICAL_CODE, 0), .bytes = bytes_from(0, bytes), .tag = (uint16_t)tag};
      assert_true(put(rig, &packet));
      run_until_idle(rig);
      const Packet *reply = &rig->reply[tag];
      assert_int_equal(reply->split, 1);
      assert_int_equal(packet_wire_bytes(reply), 8 + bytes);
      for (uint32_t i = 0; i < bytes / 8; i++) {
        uint64_t cells, rest;
        memcpy(&cells, &reply->data[2 * i], sizeof cells);
        memcpy(&rest, &reply->other[2 * i], sizeof rest);
        InstrWord word = code_join(cells, rest, i);
        assert_memory_equal(&word, &rig->code[i], INSTR_BYTES);
        assert_int_equal(cells, i % 2 == 0 ? rig->code[i].low : rig->code[i].high);
      }
    }
    rig_free(rig);
  }
}

static void windows(void **state) {
  (void)state;
  Rig *rig = rig_new(plenty, COUNT_OF(plenty));
  uint8_t expected[LINE_BYTES];
  assert_memory_equal(read_line(rig, physical_address(PHYSICAL_CODE, 128), 0), &rig->code[8], LINE_BYTES);
  memset(expected, 0, sizeof expected);
  memcpy(expected, rig->bank + 128, 72); // the bank ends within the line
  uint64_t bank = physical_address(PHYSICAL_BANKS, (uint64_t)BANK_CONST << BANK_SHIFT | 128);
  assert_memory_equal(read_line(rig, bank, 1), expected, LINE_BYTES);
  memset(expected, 0, sizeof expected);
  assert_memory_equal(read_line(rig, physical_address(PHYSICAL_BANKS, UINT64_C(3) << BANK_SHIFT), 2), expected, LINE_BYTES);
  assert_memory_equal(read_line(rig, physical_address(PHYSICAL_CODE, 1 << 20), 3), expected, LINE_BYTES);
  write_line(rig, bank, 4); // goes nowhere
  assert_int_equal(rig->bank[130], (uint8_t)(130 * 7));
  write_line(rig, physical_address(PHYSICAL_LOCAL, 1024 + 256), 5);
  memset(expected, 0xEE, sizeof expected);
  assert_memory_equal(rig->m.backing.local + 1024 + 256, expected, LINE_BYTES);
  assert_int_equal(rig->local_touched, 256 + 128);
  write_line(rig, physical_address(PHYSICAL_LOCAL, 4096), 6); // past the end
  assert_int_equal(rig->local_touched, 256 + 128);
  rig_free(rig);
}

// An allocation that ends within a line: only its bytes are written, others read zero.
static void partial_allocations(void **state) {
  (void)state;
  Rig *rig = rig_new(plenty, COUNT_OF(plenty));
  uint64_t start = memory_alloc(rig->memory, 41, 256);
  uint8_t *host = memory_at(rig->memory, start, 41), expected[LINE_BYTES] = {0};
  memset(host, 0xAA, LINE_BYTES); // also behind it, where nothing may look
  memset(expected, 0xAA, 41);
  assert_memory_equal(read_line(rig, start, 0), expected, LINE_BYTES);
  write_line(rig, start, 1);
  for (uint32_t i = 0; i < LINE_BYTES; i++) assert_int_equal(host[i], i < 41 ? 0xEE : 0xAA);
  rig_free(rig);
}

// What is not there reads zero, whatever the buffer held; bytes not asked for keep it.
static void missing_bytes_read_zero(void **state) {
  (void)state;
  Rig *rig = rig_new(plenty, COUNT_OF(plenty));
  uint64_t start = memory_alloc(rig->memory, 41, 256);
  memset(memory_at(rig->memory, start, 41), 0xAA, 41);
  const uint64_t addresses[] = {start, physical_address(PHYSICAL_BANKS, (uint64_t)BANK_CONST << BANK_SHIFT | 128)};
  const uint32_t there[] = {41, 72};
  for (uint32_t i = 0; i < 2; i++) {
    uint32_t data[LINE_WORDS];
    memset(data, 0x55, sizeof data);
    backing_read(&rig->m.backing, addresses[i], bytes_from(0, 100), data);
    const uint8_t *byte = (const uint8_t *)data;
    for (uint32_t k = there[i]; k < 100; k++) assert_int_equal(byte[k], 0);
    for (uint32_t k = 100; k < LINE_BYTES; k++) assert_int_equal(byte[k], 0x55);
    assert_int_equal(byte[40], i == 0 ? 0xAA : (uint8_t)(168 * 7));
  }
  rig_free(rig);
}

// ---- Flips -------------------------------------------------------------------------------------------------------
// Any injectable bit of the memory system flips at any time: requests may be lost or wrong, nothing else.
static void flips_are_legal(void **state) {
  (void)state;
  const SimtRegion targets[] = {REGION_L2, REGION_L2_TAG, REGION_DRAM_QUEUE, REGION_DRAM_QUEUE_ADDRESS};
  for (uint32_t cached = 0; cached < 2; cached++) {
    Rig *rig = cached == 1 ? rig_new(small, COUNT_OF(small)) : rig_new(no_cache, COUNT_OF(no_cache));
    uint64_t line;
    for (uint32_t n = 0; n < 20000; n++) {
      uint64_t bits = random_draw(9, n, 0);
      Packet packet = random_request(rig, n % REQUESTS, &line);
      packet.address ^= bits % 16 == 0 ? UINT64_C(1) << (bits >> 8) % PHYSICAL_BITS : 0;
      packet.op ^= (uint16_t)(bits % 16 == 1 ? 1u << (bits >> 8) % 16 : 0);
      packet.kind ^= (uint8_t)(bits % 64 == 2 ? 1u << (bits >> 8) % 8 : 0);
      put(rig, &packet);
      SimtRegion target = targets[(bits >> 20) % COUNT_OF(targets)];
      const Region *region = &rig->regions[target];
      Site site = region_site(&rig->m.regions, (uint16_t)target, random_draw(9, n, 1) % region_bits(region));
      rig->m.block[site_byte(region, &site)] ^= site_mask(&site);
      cycle(rig, 8, false);
    }
    assert_true(rig->replies > 1000);
    caches_flush(&rig->m);
    rig_free(rig);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(latencies),
      cmocka_unit_test(pipeline_is_full),
      cmocka_unit_test(evictions_at_n_and_n_plus_1),
      cmocka_unit_test(random_requests),
      cmocka_unit_test(random_requests_with_flushes),
      cmocka_unit_test(flush_reaches_what_is_under_way),
      cmocka_unit_test(flush_keeps_the_order_of_arrival),
      cmocka_unit_test(later_requests_see_what_followed_a_flush),
      cmocka_unit_test(latency_costs_no_bandwidth),
      cmocka_unit_test(hot_line_starves_no_one),
      cmocka_unit_test(hooks_are_told),
      cmocka_unit_test(partial_words_are_read_first),
      cmocka_unit_test(least_recently_used_goes),
      cmocka_unit_test(windows),
      cmocka_unit_test(small_instructions_come_whole),
      cmocka_unit_test(partial_allocations),
      cmocka_unit_test(missing_bytes_read_zero),
      cmocka_unit_test(flips_are_legal),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
