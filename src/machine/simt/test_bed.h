// For tests of the memory pipeline: one SM's load/store unit, with instructions handed over directly, before memory that answers late.
#ifndef REDOUBT_SIMT_TEST_BED_H
#define REDOUBT_SIMT_TEST_BED_H

#include "machine/simt/memop.h"
#include "machine/simt/facts.h"
#include "machine/simt/test_pipe.h"

enum {
  GLOBAL_BYTES = 1024,
  SHARED_BYTES = 512,
  LOCAL_BYTES = 64,
  BANK_BYTES = 256,
  UNDER_WAY = 64, // replies
};

typedef struct Reply {
  Packet packet;
  uint64_t at; // cycle; 0: none
} Reply;

typedef struct Bed {
  Pipe pipe;
  uint64_t buffer; // device address
  uint8_t bank[BANK_BYTES];
  uint64_t seed, draws;
  uint64_t delay; // of replies; 0: random
  uint32_t busy;  // the warp that most instructions are of: its local memory sees much
  bool stops;     // memory takes nothing
  bool flips;     // bits flip while instructions are under way
  bool forgets;   // the head of the queue never knows what it waits for
  uint32_t reads; // packets that reached memory
  Reply replies[UNDER_WAY];
  // The same, carried out at once
  Memory *memory;
  uint8_t shared[SHARED_BYTES];
  uint8_t *local;
  uint32_t touched;
  uint32_t registers[8][PIPE_REGISTERS][WARP_LANES];
} Bed;

static inline uint32_t draw(Bed *bed, uint32_t bound) { return (uint32_t)random_below(random_draw(bed->seed, 0, bed->draws++), bound); }

// ---- Making and unmaking -------------------------------------------------------------------------------

static inline void bed_open(Bed *bed, uint64_t seed) {
  memset(bed, 0, sizeof *bed);
  bed->seed = seed;
  pipe_open(&bed->pipe);
}

static inline void bed_build(Bed *bed) {
  Pipe *pipe = &bed->pipe;
  Simt *m = &pipe->m;
  pipe_build(pipe);
  Diags diags = {0};
  bed->memory = memory_new(&(MemoryOptions){.base = GLOBAL_BASE64, .capacity = 1 << 20, .granule = 1}, &diags);
  bed->buffer = memory_alloc(pipe->memory, GLOBAL_BYTES, 256);
  assert_int_equal(memory_alloc(bed->memory, GLOBAL_BYTES, 256), bed->buffer);
  m->layout = (BlockLayout){.threads = 256, .warps = 8, .shared_bytes = SHARED_BYTES, .local_bytes = LOCAL_BYTES};
  m->backing.local_warp_bytes = LOCAL_BYTES * WARP_LANES;
  m->backing.local_bytes = m->backing.local_warp_bytes * m->dims.warps;
  m->backing.local = arena_alloc(pipe->arena, m->backing.local_bytes);
  m->backing.local_touched = &m->at.core->local_touched;
  m->backing.const_written = &m->at.core->const_written;
  m->backing.program = &pipe->program;
  bed->local = arena_alloc(pipe->arena, m->backing.local_bytes);
  for (uint32_t i = 0; i < BANK_BYTES; i++) bed->bank[i] = (uint8_t)(i * 37 + 11);
  m->backing.banks[BANK_CONST] = bed->bank;
  m->backing.bank_bytes[BANK_CONST] = BANK_BYTES;
  m->unit_latency[UNIT_LDST] = (uint32_t)pipe->spec.latency_address;
  m->unit_interval[UNIT_LDST] = (uint32_t)pipe->spec.interval_ldst;
  m->at.core->cycle = 100;
  uint8_t *bytes = memory_at(pipe->memory, bed->buffer, GLOBAL_BYTES);
  for (uint32_t i = 0; i < GLOBAL_BYTES; i++) bytes[i] = (uint8_t)draw(bed, 256);
  memcpy(memory_at(bed->memory, bed->buffer, GLOBAL_BYTES), bytes, GLOBAL_BYTES);
}

static inline void bed_close(Bed *bed) {
  memory_free(bed->memory);
  pipe_close(&bed->pipe);
}

// ---- Memory beyond the SM ------------------------------------------------------------------------------

static inline void do_atomic(const Simt *m, const Packet *request, Packet *reply) {
  uint32_t size = (type_info[op_info[request->op].a].bits + 7u) / 8u, line[LINE_WORDS];
  backing_read(&m->backing, request->address, request->bytes, line);
  memcpy(reply->data, line, sizeof line);
  for (uint32_t at = 0; at < LINE_BYTES; at += size) {
    if ((request->bytes.half[at / 64] >> at % 64 & 1) == 0) continue;
    uint32_t d[64] = {0}, a[64] = {0}, b[64] = {0}, c[64] = {0};
    uint64_t old = 0, operand = 0, third = 0;
    memcpy(&old, (uint8_t *)line + at, size);
    memcpy(&operand, (const uint8_t *)request->data + at, size);
    memcpy(&third, (const uint8_t *)request->other + at, size);
    row_set(a, 0, 2, old), row_set(b, 0, 2, operand), row_set(c, 0, 2, third);
    LaneOp op = {.d = d, .a = a, .b = b, .c = c, .active = 1, .mods = request->mods};
    m->functions[request->op](&op);
    uint64_t fresh = row_get(d, 0, 2);
    memcpy((uint8_t *)line + at, &fresh, size);
  }
  backing_write(&m->backing, request->address, request->bytes, line);
}

// Carries a request out at once; its reply comes later.
static inline void serve(Bed *bed, const Packet *request) {
  const Simt *m = &bed->pipe.m;
  Reply *reply = bed->replies;
  while (reply->at != 0) reply++;
  assert_true(reply < &bed->replies[UNDER_WAY]);
  reply->packet = *request;
  reply->at = simt_now(m) + (bed->delay != 0 ? bed->delay : 1 + draw(bed, 40));
  if (request->kind == PACKET_READ) {
    backing_read(&m->backing, request->address, request->bytes, reply->packet.data);
    reply->packet.kind = PACKET_READ_REPLY;
    bed->reads++;
  } else if (request->kind == PACKET_WRITE) {
    backing_write(&m->backing, request->address, request->bytes, request->data);
    reply->packet.kind = PACKET_WRITE_REPLY;
  } else {
    assert_int_equal(request->kind, PACKET_ATOMIC);
    do_atomic(m, request, &reply->packet);
    reply->packet.kind = PACKET_ATOMIC_REPLY;
  }
}

static inline void memory_step(Bed *bed) {
  Simt *m = &bed->pipe.m;
  uint32_t replies = 0;
  for (uint32_t i = 0; i < UNDER_WAY; i++) replies += bed->replies[i].at != 0;
  const Packet *front = packet_queue_front(&m->at.out_queues[0], m->at.out_packets, m->dims.out);
  if (front == NULL || replies == UNDER_WAY || bed->stops || (bed->delay == 0 && draw(bed, 3) == 0)) return;
  serve(bed, front);
  packet_queue_pop(&m->at.out_queues[0], m->at.out_packets, m->dims.out);
  memop_room(m, 0);
  sm_wake(m, 0, simt_now(m) + 1);
}

static inline void give_reply(Bed *bed) {
  Simt *m = &bed->pipe.m;
  uint32_t first = bed->delay != 0 ? 0 : draw(bed, UNDER_WAY);
  for (uint32_t i = 0; i < UNDER_WAY; i++) {
    Reply *reply = &bed->replies[(first + i) % UNDER_WAY];
    if (reply->at == 0 || reply->at > simt_now(m)) continue;
    if (reply->packet.client == CLIENT_CONSTANT) assert_true(constant_reply(m, 0, &reply->packet));
    else if (reply->packet.client == CLIENT_TEXTURE) assert_true(gather_reply(m, 0, &reply->packet));
    else assert_true(ldst_reply(m, 0, &reply->packet));
    reply->at = 0;
    sm_wake(m, 0, simt_now(m));
    return;
  }
}

// The SM sleeps when it says so: a wake-up that is missing shows as a hang.
static inline void bed_step(Bed *bed) {
  Simt *m = &bed->pipe.m;
  m->at.core->cycle++;
  if (bed->forgets) m->at.head_waits[0] = HEAD_GOES;
  give_reply(bed);
  if (m->at.wake_at[0] <= simt_now(m)) {
    m->at.wake_at[0] = UINT64_MAX;
    ldst_cycle(m, 0);
    gather_cycle(m, 0);
  }
  memory_step(bed);
}

static inline bool bed_is_idle(const Bed *bed) {
  const SmState *state = &bed->pipe.m.at.sms[0];
  bool is_idle = (state->memory_used[0] | state->memory_used[1]) == 0 && bed->pipe.m.at.out_queues[0].count == 0;
  is_idle &= state->gathers_used == 0;
  for (uint32_t i = 0; i < UNDER_WAY; i++) is_idle &= bed->replies[i].at == 0;
  return is_idle;
}

static inline void bed_drain(Bed *bed) {
  for (uint32_t steps = 0; !bed_is_idle(bed); steps++) {
    if (steps >= 20000) fail_msg("hangs: seed %llu", (unsigned long long)bed->seed);
    bed_step(bed);
  }
}

// ---- Instructions ----------------------------------------------------------------------------------------

// Fills a collector from the reference's registers and hands it over.
static inline void take(Bed *bed, uint32_t warp, uint32_t pc, uint32_t mask) {
  Simt *m = &bed->pipe.m;
  const Instr *instr = &bed->pipe.decoded[pc];
  OperandRows rows = operand_sources(instr);
  Collector collector = {.uop = pipe_uop(&bed->pipe, pc, warp, mask)};
  collector.uop.valid = 1;
  for (unsigned operand = 0; operand < VALUE_OPERANDS; operand++) {
    uint8_t number = operand_register(instr, operand);
    for (unsigned k = 0; k < rows.count[operand]; k++) {
      if (number != REG_ZERO) memcpy(collector.row[rows.first[operand] + k], bed->registers[warp][number + k], sizeof collector.row[0]);
    }
  }
  bool gathers = port_of(instr) == PORT_GATHER;
  collector.rows = rows.rows;
  for (uint32_t steps = 0; !(gathers ? gather_has_room(m, 0, instr) : ldst_has_room(m, 0)); steps++) {
    assert_true(steps < 20000);
    bed_step(bed);
  }
  if (gathers) gather_take(m, 0, &collector, instr);
  Facts facts;
  facts_make(instr, &facts);
  if (!gathers) ldst_take(m, 0, &collector, instr, &facts);
}

#endif
