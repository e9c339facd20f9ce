// The DRAM controller: row hit, miss and conflict in exact cycles, bursts, turning the bus round, who overtakes whom, order
// of requests for one line, and random requests against a plain memory.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "machine/parts/dram.h"

// Times in core cycles of a memory whose clock is the core's.
enum { RCD = 12, RP = 11, CL = 10, WL = 4, RAS = 28, RC = 40, CCD = 2, WR = 9, CDLR = 5, RRD = 6, BURST = 2, LATENCY = 7 };

static DramShape plain_shape(void) {
  return (DramShape){.policy = DRAM_FR_FCFS,
                     .queue = 32,
                     .banks = 8,
                     .row_bytes = 1024,
                     .controllers = 2,
                     .interleave_bytes = 256,
                     .read_bytes = 32,
                     .burst_bytes = 32,
                     .t_rcd = RCD * DRAM_TIME_SCALE,
                     .t_rp = RP * DRAM_TIME_SCALE,
                     .t_cl = CL * DRAM_TIME_SCALE,
                     .t_wl = WL * DRAM_TIME_SCALE,
                     .t_ras = RAS * DRAM_TIME_SCALE,
                     .t_rc = RC * DRAM_TIME_SCALE,
                     .t_ccd = CCD * DRAM_TIME_SCALE,
                     .t_wr = WR * DRAM_TIME_SCALE,
                     .t_cdlr = CDLR * DRAM_TIME_SCALE,
                     .t_rrd = RRD * DRAM_TIME_SCALE,
                     .t_burst = BURST * DRAM_TIME_SCALE,
                     .latency = LATENCY};
}

enum { MOST_DONE = 20000 };
typedef struct Rig {
  DramShape shape;
  DramController controller;
  DramBank banks[DRAM_MOST_BANKS];
  DramRequest queue[DRAM_MOST_QUEUE];
  Dram dram;
  uint64_t now;
  uint32_t done; // finished requests: their tags and times
  uint16_t tag[MOST_DONE];
  uint64_t at[MOST_DONE];
  bool refuse;
  uint8_t *memory; // random test: bytes of the lines
  uint8_t *seen;   // random test: what request `tag` read
} Rig;

static Rig *rig_new(DramShape shape) {
  Rig *rig = calloc(1, sizeof *rig);
  assert_non_null(rig);
  rig->shape = shape;
  rig->dram = (Dram){.shape = &rig->shape, .controller = &rig->controller, .banks = rig->banks, .queue = rig->queue};
  return rig;
}

static bool finished(void *context, const DramRequest *request) {
  Rig *rig = context;
  if (rig->refuse) return false;
  rig->tag[rig->done] = request->packet.tag;
  rig->at[rig->done++] = rig->now;
  return true;
}

// The masks by which commands are chosen follow from the queue and the banks.
static void check_masks(const Rig *rig) {
  const DramController *at = &rig->controller;
  uint64_t of_bank[DRAM_MOST_BANKS] = {0}, hits = 0, writing = 0, banks = 0;
  for (uint32_t i = 0; i < rig->shape.queue; i++) {
    const DramRequest *request = &rig->queue[i];
    if ((at->waiting >> i & 1) == 0) continue;
    of_bank[request->bank] |= UINT64_C(1) << i;
    banks |= UINT64_C(1) << request->bank;
    hits |= (uint64_t)(rig->banks[request->bank].open_row == request->row + 1) << i;
    writing |= (uint64_t)(request->packet.kind == PACKET_WRITE) << i;
  }
  assert_memory_equal(at->of_bank, of_bank, sizeof of_bank);
  assert_int_equal(at->wanted_banks, banks);
  assert_int_equal(at->hits, hits);
  assert_int_equal(at->writing, writing);
}

static void run_to(Rig *rig, uint64_t end) {
  uint64_t next;
  for (; rig->now < end; rig->now++) {
    dram_cycle(&rig->dram, rig->now, finished, rig, &next);
    assert_true(next > rig->now);
    check_masks(rig);
  }
}

// An address of controller 0 by bank and row as the tests want them; column in bytes.
static uint64_t address_of(const DramShape *shape, uint32_t bank, uint64_t row, uint32_t column) {
  for (uint64_t local = row * shape->banks * shape->row_bytes;; local += shape->row_bytes) {
    uint64_t byte = local + column;
    uint64_t address = byte / shape->interleave_bytes * shape->controllers * shape->interleave_bytes + byte % shape->interleave_bytes;
    DramPlace place = dram_place(shape, address);
    assert_int_equal(place.row, row);
    assert_int_equal(place.controller, 0);
    if (place.bank == bank) return address;
  }
}

typedef struct Ask {
  uint32_t bank;
  uint64_t row;
  uint32_t column, bytes;
  bool write;
} Ask;

static void ask(Rig *rig, Ask what, uint16_t tag) {
  Packet packet = {.kind = what.write ? PACKET_WRITE : PACKET_READ,
                   .address = address_of(&rig->shape, what.bank, what.row, what.column),
                   .bytes = bytes_from(0, what.bytes),
                   .tag = tag};
  assert_true(dram_can_take(&rig->dram));
  dram_take(&rig->dram, &packet, rig->now);
}

// ---- Exact times ---------------------------------------------------------------------------------------
static void closed_hit_conflict(void **state) {
  (void)state;
  Rig *rig = rig_new(plain_shape());
  ask(rig, (Ask){.bank = 3, .row = 5, .bytes = 32}, 0); // closed: activate, read
  run_to(rig, 100);
  assert_int_equal(rig->done, 1);
  assert_int_equal(rig->at[0], RCD + CL + BURST + LATENCY);
  ask(rig, (Ask){.bank = 3, .row = 5, .column = 128, .bytes = 32}, 1); // hit: read
  run_to(rig, 200);
  assert_int_equal(rig->at[1], 100 + CL + BURST + LATENCY);
  ask(rig, (Ask){.bank = 3, .row = 6, .bytes = 32}, 2); // conflict: precharge, activate, read
  run_to(rig, 300);
  assert_int_equal(rig->at[2], 200 + RP + RCD + CL + BURST + LATENCY);
  assert_int_equal(rig->controller.row_hits, 1);
  assert_int_equal(rig->controller.row_misses, 2);
  assert_int_equal(rig->controller.reads, 3);
  assert_int_equal(rig->controller.waited, RCD + 0 + RP + RCD);
  assert_true(dram_is_empty(&rig->dram));
  free(rig);
}

// A conflict right after the activation waits for tRAS, then tRP, and for tRC.
static void row_cycle_time(void **state) {
  (void)state;
  for (uint32_t longer = 0; longer < 2; longer++) {
    DramShape shape = plain_shape();
    uint64_t row_cycle = longer == 1 ? RC : RAS; // RAS + RP = 39: tRC decides, or does not
    shape.t_rc = (uint32_t)row_cycle * DRAM_TIME_SCALE;
    Rig *rig = rig_new(shape);
    ask(rig, (Ask){.bank = 1, .row = 1, .bytes = 32}, 0);
    ask(rig, (Ask){.bank = 1, .row = 2, .bytes = 32}, 1);
    run_to(rig, 200);
    uint64_t activate = max_u64(RAS + RP, row_cycle);
    assert_int_equal(rig->at[1], activate + RCD + CL + BURST + LATENCY);
    free(rig);
  }
}

// Different banks overlap: activations tRRD apart, so their data too.
static void banks_overlap(void **state) {
  (void)state;
  Rig *rig = rig_new(plain_shape());
  for (uint16_t i = 0; i < 4; i++) ask(rig, (Ask){.bank = i, .row = 9, .bytes = 32}, i);
  run_to(rig, 200);
  for (uint32_t i = 0; i < 4; i++) assert_int_equal(rig->at[i], RRD * i + RCD + CL + BURST + LATENCY);
  free(rig);
}

// A request takes as many bursts as it touches chunks; the next hit follows when the bus is free.
static void bursts_take_the_bus(void **state) {
  (void)state;
  for (uint32_t chunks = 1; chunks <= 4; chunks++) {
    Rig *rig = rig_new(plain_shape());
    ask(rig, (Ask){.bank = 0, .row = 1, .bytes = chunks * 32 - 31}, 0); // one byte of the last chunk counts
    ask(rig, (Ask){.bank = 0, .row = 1, .column = 128, .bytes = 128}, 1);
    run_to(rig, 200);
    assert_int_equal(rig->at[0], RCD + CL + chunks * BURST + LATENCY);
    assert_int_equal(rig->at[1], RCD + CL + (chunks + 4) * BURST + LATENCY);
    free(rig);
  }
}

// Write: data after tWL; a read after it waits for tCDLR, a precharge for tWR.
static void writes(void **state) {
  (void)state;
  Rig *rig = rig_new(plain_shape());
  ask(rig, (Ask){.bank = 0, .row = 1, .bytes = 32, .write = true}, 0);
  ask(rig, (Ask){.bank = 0, .row = 1, .column = 128, .bytes = 32}, 1);
  run_to(rig, 200);
  uint64_t data_end = RCD + WL + BURST;
  assert_int_equal(rig->at[0], data_end + LATENCY);
  assert_int_equal(rig->at[1], data_end + CDLR + CL + BURST + LATENCY);
  ask(rig, (Ask){.bank = 0, .row = 1, .bytes = 128, .write = true}, 2);
  ask(rig, (Ask){.bank = 0, .row = 2, .bytes = 32}, 3);
  run_to(rig, 400);
  data_end = 200 + WL + 4 * BURST;
  assert_int_equal(rig->at[2], data_end + LATENCY);
  assert_int_equal(rig->at[3], data_end + WR + RP + RCD + CL + BURST + LATENCY);
  assert_int_equal(rig->controller.writes, 2);
  free(rig);
}

// With a memory clock of 4/3 the core's, 1,000 hits of two bursts take 1,000 * 4 * 3/4 cycles: nothing is lost by rounding.
static void clocks_do_not_cost_bandwidth(void **state) {
  (void)state;
  DramShape shape = plain_shape();
  shape.t_burst = shape.t_ccd = 2 * 3 * DRAM_TIME_SCALE / 4;
  Rig *rig = rig_new(shape);
  uint32_t sent = 0;
  uint64_t next, end = 0;
  for (; rig->done < 1000; rig->now++) {
    for (; sent < 1000 && dram_can_take(&rig->dram); sent++) {
      ask(rig, (Ask){.bank = 0, .row = 1, .column = sent % 8 * 128, .bytes = 64}, (uint16_t)sent);
    }
    dram_cycle(&rig->dram, rig->now, finished, rig, &next);
    end = rig->now;
  }
  assert_int_equal(end, RCD + CL + 3000 + LATENCY);
  free(rig);
}

// Four bursts of one line in a bank wait for each other by t_ccdl; a bank of another group has the bus in between, one of the same group waits.
static void groups_have_a_spacing_of_their_own(void **state) {
  (void)state;
  enum { CCDL = 3 };
  for (uint32_t other = 1; other <= 2; other++) { // bank 1 is in bank 0's group, bank 2 is not
    DramShape shape = plain_shape();
    shape.groups = 4;
    shape.t_ccdl = CCDL * DRAM_TIME_SCALE;
    Rig *rig = rig_new(shape);
    ask(rig, (Ask){.bank = 0, .row = 1, .bytes = 32}, 0);
    ask(rig, (Ask){.bank = other, .row = 1, .bytes = 32}, 1);
    run_to(rig, 100);
    ask(rig, (Ask){.bank = 0, .row = 1, .bytes = 128}, 2);
    ask(rig, (Ask){.bank = other, .row = 1, .bytes = 128}, 3);
    run_to(rig, 200);
    assert_int_equal(rig->at[2], 100 + CL + 3 * CCDL + BURST + LATENCY);
    assert_int_equal(rig->at[3], rig->at[2] + (other == 1 ? 4u * CCDL : 4u * CCD));
    free(rig);
  }
}

// Reads of sectors that are fetched apart take a burst each, and leave half of it; writes fill theirs.
static void sectors_apart_take_a_burst_each(void **state) {
  (void)state;
  DramShape shape = plain_shape();
  shape.burst_bytes = 64;
  Rig *rig = rig_new(shape);
  ask(rig, (Ask){.bank = 0, .row = 1, .bytes = 128}, 0);
  run_to(rig, 100);
  assert_int_equal(rig->at[0], RCD + CL + 4 * BURST + LATENCY);
  ask(rig, (Ask){.bank = 0, .row = 1, .bytes = 128, .write = true}, 1);
  run_to(rig, 200);
  assert_int_equal(rig->at[1], 100 + WL + 2 * BURST + LATENCY);
  free(rig);
}

// ---- Order -------------------------------------------------------------------------------------------------
static void hits_overtake(void **state) {
  (void)state;
  const uint16_t expected[2][3] = {{0, 2, 1}, {0, 1, 2}};
  for (uint32_t policy = 0; policy < 2; policy++) {
    DramShape shape = plain_shape();
    shape.policy = (DramPolicy)policy;
    Rig *rig = rig_new(shape);
    ask(rig, (Ask){.bank = 2, .row = 1, .bytes = 32}, 0);
    ask(rig, (Ask){.bank = 2, .row = 2, .bytes = 32}, 1);
    ask(rig, (Ask){.bank = 2, .row = 1, .column = 512, .bytes = 32}, 2);
    run_to(rig, 400);
    assert_memory_equal(rig->tag, expected[policy], sizeof expected[policy]);
    assert_int_equal(rig->controller.row_hits, policy == DRAM_FR_FCFS ? 1 : 0);
    free(rig);
  }
}

// A row stays open while anybody wants it, though an older request wants another row of the bank and could have it.
static void open_rows_are_used_up(void **state) {
  (void)state;
  Rig *rig = rig_new(plain_shape());
  ask(rig, (Ask){.bank = 2, .row = 1, .bytes = 32}, 0);
  run_to(rig, 100);
  ask(rig, (Ask){.bank = 2, .row = 2, .bytes = 32}, 1);
  for (uint16_t i = 2; i < 6; i++) ask(rig, (Ask){.bank = 2, .row = 1, .column = 128u * i, .bytes = 32}, i);
  run_to(rig, 400);
  const uint16_t expected[] = {0, 2, 3, 4, 5, 1};
  assert_memory_equal(rig->tag, expected, sizeof expected);
  assert_int_equal(rig->controller.row_hits, 4);
  free(rig);
}

// Commands may fall between core cycles: two halves make a whole.
static void commands_between_cycles(void **state) {
  (void)state;
  DramShape shape = plain_shape();
  shape.t_rp += DRAM_TIME_SCALE / 2;
  shape.t_rcd += DRAM_TIME_SCALE / 2;
  Rig *rig = rig_new(shape);
  ask(rig, (Ask){.bank = 3, .row = 5, .bytes = 32}, 0);
  run_to(rig, 100);
  assert_int_equal(rig->at[0], RCD + 1 + CL + BURST + LATENCY); // half a cycle is rounded up at the end
  ask(rig, (Ask){.bank = 3, .row = 6, .bytes = 32}, 1);
  run_to(rig, 200);
  assert_int_equal(rig->at[1], 100 + RP + RCD + 1 + CL + BURST + LATENCY);
  free(rig);
}

// While a read must wait for the bus to turn round, younger writes to open rows go on; not one to the same line.
static void same_line_keeps_order(void **state) {
  (void)state;
  for (uint32_t same = 0; same < 2; same++) {
    Rig *rig = rig_new(plain_shape());
    ask(rig, (Ask){.bank = 0, .row = 1, .bytes = 32, .write = true}, 0);
    ask(rig, (Ask){.bank = 0, .row = 1, .column = 128, .bytes = 32}, 1);
    ask(rig, (Ask){.bank = 0, .row = 1, .column = same == 1 ? 128 : 256, .bytes = 32, .write = true}, 2);
    run_to(rig, 200);
    assert_int_equal(rig->done, 3);
    assert_int_equal(rig->tag[1], same == 1 ? 1 : 2);
    free(rig);
  }
}

static void queue_of_n(void **state) {
  (void)state;
  Rig *rig = rig_new(plain_shape());
  for (uint16_t i = 0; i < 32; i++) ask(rig, (Ask){.bank = i % 8, .row = i, .bytes = 32}, i);
  assert_false(dram_can_take(&rig->dram));
  run_to(rig, 3000);
  assert_int_equal(rig->done, 32);
  const DramRequest empty[32] = {0};
  assert_memory_equal(rig->queue, empty, sizeof empty);
  free(rig);
}

// A refused request stays, is offered each cycle, and nothing finishes before it.
static void refused_requests_stay(void **state) {
  (void)state;
  Rig *rig = rig_new(plain_shape());
  rig->refuse = true;
  ask(rig, (Ask){.bank = 0, .row = 1, .bytes = 32}, 0);
  ask(rig, (Ask){.bank = 0, .row = 1, .column = 128, .bytes = 32}, 1);
  run_to(rig, 100);
  assert_int_equal(rig->done, 0);
  rig->refuse = false;
  run_to(rig, 110);
  assert_int_equal(rig->done, 2);
  assert_int_equal(rig->tag[0], 0);
  assert_int_equal(rig->at[0], 100);
  assert_int_equal(rig->at[1], 101);
  free(rig);
}

static bool evicts(void *context, const DramRequest *request) {
  Rig *rig = context;
  assert_true(dram_can_take(&rig->dram));
  if (request->packet.kind == PACKET_READ) ask(rig, (Ask){.bank = 7, .row = 3, .bytes = 128, .write = true}, 99);
  return finished(context, request);
}

// The place of a finished request is free for what its owner must evict, though the queue was full.
static void finished_request_leaves_room(void **state) {
  (void)state;
  DramShape shape = plain_shape();
  shape.queue = 1;
  Rig *rig = rig_new(shape);
  ask(rig, (Ask){.bank = 0, .row = 1, .bytes = 32}, 5);
  uint64_t next;
  for (; rig->now < 200; rig->now++) dram_cycle(&rig->dram, rig->now, evicts, rig, &next);
  assert_int_equal(rig->done, 2);
  assert_int_equal(rig->tag[0], 5);
  assert_int_equal(rig->tag[1], 99);
  free(rig);
}

// ---- Addresses ---------------------------------------------------------------------------------------------
// Every line has a place of its own; consecutive chunks go round the controllers; far streams meet in different banks.
static void places(void **state) {
  (void)state;
  const uint32_t banks[] = {8, 16, 1, 5};
  for (uint32_t b = 0; b < COUNT_OF(banks); b++) {
    DramShape shape = plain_shape();
    shape.banks = banks[b];
    shape.controllers = 3;
    uint32_t per_row[3 * 16 * 4] = {0}; // bytes / 128 that each (controller, bank, row) has
    uint64_t bytes = (uint64_t)shape.controllers * shape.banks * 4 * shape.row_bytes;
    for (uint64_t address = 0; address < bytes; address += 128) {
      DramPlace place = dram_place(&shape, address);
      assert_int_equal(place.controller, address / 256 % 3);
      assert_true(place.bank < shape.banks && place.row < 4);
      per_row[(place.controller * shape.banks + place.bank) * 4 + place.row]++;
    }
    for (uint32_t i = 0; i < 3 * shape.banks * 4; i++) assert_int_equal(per_row[i], shape.row_bytes / 128);
    (void)dram_place(&shape, UINT64_MAX);
  }
  DramShape shape = plain_shape();
  uint32_t used = 0;
  for (uint64_t i = 0; i < 8; i++) used |= 1u << dram_place(&shape, i << 20).bank;
  assert_int_equal(used, 0xFF);
}

// ---- Random requests -----------------------------------------------------------------------------------------
enum { LINES = 12, REQUESTS = 6000 };

static bool random_finished(void *context, const DramRequest *request) {
  Rig *rig = context;
  const Packet *packet = &request->packet;
  if (random_draw(31, rig->now, 0) % 8 == 0) return false;
  uint8_t *line = &rig->memory[packet->lanes * LINE_BYTES];
  if (packet->kind == PACKET_WRITE) {
    bytes_copy(line, packet->data, packet->bytes);
  } else {
    bytes_copy(&rig->seen[(size_t)packet->tag * LINE_BYTES], line, packet->bytes);
  }
  rig->tag[rig->done++] = packet->tag;
  return true;
}

// Reads must see the writes before them to their line and none after, whatever the controller does.
static void random_requests(void **state) {
  (void)state;
  Rig *rig = rig_new(plain_shape());
  uint8_t model[LINES * LINE_BYTES] = {0};
  uint8_t *expected = calloc(REQUESTS, LINE_BYTES);
  rig->memory = calloc(LINES, LINE_BYTES);
  rig->seen = calloc(REQUESTS, LINE_BYTES);
  uint64_t next = 0;
  for (uint32_t sent = 0; rig->done < REQUESTS; rig->now = next) {
    for (; sent < REQUESTS && dram_can_take(&rig->dram); sent++) {
      uint64_t bits = random_draw(30, sent, 0);
      if (bits % 16 == 0 && !dram_is_empty(&rig->dram)) break;
      Packet packet = {.kind = bits >> 8 & 1 ? PACKET_WRITE : PACKET_READ, .tag = (uint16_t)sent, .lanes = (uint32_t)(bits >> 16) % LINES};
      packet.bytes = bytes_from((uint32_t)(bits >> 32) % 128, (uint32_t)(bits >> 40) % 128);
      packet.address = address_of(&rig->shape, packet.lanes % 3, packet.lanes / 6, packet.lanes / 3 % 2 * 128);
      for (uint32_t i = 0; i < LINE_WORDS; i++) packet.data[i] = sent * 64 + i;
      uint8_t *line = &model[packet.lanes * LINE_BYTES];
      if (packet.kind == PACKET_WRITE) {
        bytes_copy(line, packet.data, packet.bytes);
      } else {
        bytes_copy(&expected[(size_t)sent * LINE_BYTES], line, packet.bytes);
      }
      dram_take(&rig->dram, &packet, rig->now);
    }
    dram_cycle(&rig->dram, rig->now, random_finished, rig, &next);
    if (sent < REQUESTS) next = rig->now + 1;
    assert_true(rig->now < 10000000);
  }
  assert_memory_equal(rig->seen, expected, (size_t)REQUESTS * LINE_BYTES);
  assert_memory_equal(rig->memory, model, sizeof model);
  assert_true(rig->controller.row_hits > rig->controller.row_misses);
  assert_true(dram_is_empty(&rig->dram));
  free(expected);
  free(rig->memory);
  free(rig->seen);
  free(rig);
}

// Going straight to *next gives the same times as cycle by cycle.
static void skipping_changes_nothing(void **state) {
  (void)state;
  Rig *rigs[2];
  for (uint32_t r = 0; r < 2; r++) {
    DramShape shape = plain_shape();
    shape.t_burst = 97;
    shape.t_rcd = 1000;
    Rig *rig = rigs[r] = rig_new(shape);
    uint32_t sent = 0;
    while (rig->done < 500) {
      uint64_t next, send_at = sent < 500 ? (uint64_t)sent / 20 * 150 : UINT64_MAX;
      for (; sent < 500 && send_at <= rig->now && dram_can_take(&rig->dram); sent++) {
        uint64_t bits = random_draw(40, sent, 0);
        ask(rig, (Ask){.bank = bits % 8, .row = bits >> 8 & 3, .bytes = 64, .write = (bits >> 16) % 3 == 0}, (uint16_t)sent);
      }
      dram_cycle(&rig->dram, rig->now, finished, rig, &next);
      rig->now = r == 0 ? rig->now + 1 : min_u64(next, max_u64(send_at, rig->now + 1));
    }
  }
  assert_memory_equal(rigs[0]->tag, rigs[1]->tag, 500 * sizeof rigs[0]->tag[0]);
  assert_memory_equal(rigs[0]->at, rigs[1]->at, 500 * sizeof rigs[0]->at[0]);
  free(rigs[0]);
  free(rigs[1]);
}

// Any bits in requests and banks: nothing leaves its array, nothing loops.
static void any_bits_are_legal(void **state) {
  (void)state;
  Rig *rig = rig_new(plain_shape());
  uint64_t next;
  for (uint64_t n = 0; n < 20000; n++, rig->now++) {
    rig->done = 0;
    Packet packet = {.kind = n % 3 == 0 ? PACKET_WRITE : PACKET_READ, .address = random_draw(50, n, 1), .bytes = bytes_from(0, 64)};
    if (dram_can_take(&rig->dram)) dram_take(&rig->dram, &packet, rig->now);
    uint64_t bits = random_draw(50, n, 0);
    uint8_t *request = (uint8_t *)&rig->queue[bits % 32], *bank = (uint8_t *)&rig->banks[(bits >> 8) % 8];
    request[(bits >> 16) % sizeof(DramRequest)] ^= (uint8_t)(1u << (bits >> 40) % 8);
    bank[(bits >> 48) % sizeof(DramBank)] ^= (uint8_t)(1u << (bits >> 43) % 8);
    dram_cycle(&rig->dram, rig->now, finished, rig, &next);
    assert_true(next > rig->now);
  }
  free(rig);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(closed_hit_conflict),
      cmocka_unit_test(row_cycle_time),
      cmocka_unit_test(banks_overlap),
      cmocka_unit_test(bursts_take_the_bus),
      cmocka_unit_test(writes),
      cmocka_unit_test(clocks_do_not_cost_bandwidth),
      cmocka_unit_test(groups_have_a_spacing_of_their_own),
      cmocka_unit_test(sectors_apart_take_a_burst_each),
      cmocka_unit_test(hits_overtake),
      cmocka_unit_test(open_rows_are_used_up),
      cmocka_unit_test(commands_between_cycles),
      cmocka_unit_test(same_line_keeps_order),
      cmocka_unit_test(queue_of_n),
      cmocka_unit_test(refused_requests_stay),
      cmocka_unit_test(finished_request_leaves_room),
      cmocka_unit_test(places),
      cmocka_unit_test(random_requests),
      cmocka_unit_test(skipping_changes_nothing),
      cmocka_unit_test(any_bits_are_legal),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
