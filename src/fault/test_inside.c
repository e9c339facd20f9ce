// Faults inside the tensor unit: which elements of a result alter, and to what, against plain loops over known matrices.
#include "fault/fault_internal.h"
#include "isa/float.h"
#include "isa/matrix.h"

#include <setjmp.h>
#include <cmocka.h>

enum { SMS = 2, STEPS = 16, LANES = 4, K = 16, CYCLES = 8, NOW = 1000, OUTPUT = 0, PRODUCT = 1, SUM = 2 };
#define INNER REGION_INJECTABLE | REGION_OUTPUT | REGION_INNER
static const Region regions[] = {
    {.name = "unit.tensor",
     .unit = "lane",
     .rows = SMS,
     .units = LANES,
     .bits = 32,
     .flags = REGION_INJECTABLE | REGION_OUTPUT,
     .dims = {{"sm", SMS}},
     .dim_count = 1},
    {.name = "tensor.product",
     .unit = "lane",
     .rows = SMS * STEPS,
     .units = LANES,
     .bits = 32,
     .flags = INNER,
     .dims = {{"sm", SMS}, {"step", STEPS}},
     .dim_count = 2},
    {.name = "tensor.sum",
     .unit = "lane",
     .rows = SMS * STEPS,
     .units = LANES,
     .bits = 32,
     .flags = INNER,
     .dims = {{"sm", SMS}, {"step", STEPS}},
     .dim_count = 2},
};
static const RegionTable table = {.items = regions, .count = COUNT_OF(regions)};

// mma.m16n8k16 on f16: small whole numbers, so that a reference needs no care.
typedef struct Toy {
  uint32_t a[4 * WARP_LANES], b[2 * WARP_LANES], c[4 * WARP_LANES], d[4 * WARP_LANES], clean[4 * WARP_LANES];
  Instr instr;
  ResultInside inside;
  ResultEvent event;
} Toy;

static float a_of(unsigned row, unsigned k) { return (float)((row * 5 + k * 3) % 11) - 5; }
static float b_of(unsigned k, unsigned column) { return (float)((k * 7 + column) % 9) - 4; }
static float c_of(unsigned row, unsigned column) { return (float)(row + column); }

static uint32_t halves(float low, float high) { return f32_to_f16(low, ROUND_RN) | (uint32_t)f32_to_f16(high, ROUND_RN) << 16; }

static void parse(const char *text, MatrixForm *form) {
  Slice parts[16];
  unsigned count = 0;
  for (const char *at = text; at != NULL; at = strchr(at, '.') != NULL ? strchr(at, '.') + 1 : NULL)
    parts[count++] = (Slice){at, (uint32_t)strcspn(at, ".")};
  assert_true(matrix_parse(parts, count, form));
}

static void make_toy(Toy *toy) {
  MatrixForm form;
  memset(toy, 0, sizeof *toy);
  parse("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", &form);
  for (unsigned lane = 0; lane < WARP_LANES; lane++) {
    unsigned g = lane / 4, t = lane % 4;
    for (unsigned r = 0; r < 4; r++) {
      unsigned row = g + r % 2 * 8, k = 2 * t + r / 2 * 8;
      toy->a[r * WARP_LANES + lane] = halves(a_of(row, k), a_of(row, k + 1));
      toy->c[r * WARP_LANES + lane] = bits_of_f32(c_of(g + r / 2 * 8, 2 * t + r % 2));
    }
    for (unsigned r = 0; r < 2; r++) toy->b[r * WARP_LANES + lane] = halves(b_of(2 * t + 8 * r, g), b_of(2 * t + 8 * r + 1, g));
  }
  toy->instr = (Instr){.op = (uint16_t)form.op, .imm = form.imm};
  LaneOp op = {.d = toy->clean, .a = toy->a, .b = toy->b, .c = toy->c, .active = ~0u, .imm = form.imm};
  lane_functions()[form.op](&op);
  memcpy(toy->d, toy->clean, sizeof toy->d);
  toy->inside = (ResultInside){.product = PRODUCT, .sum = SUM, .steps = STEPS, .a = toy->a, .b = toy->b, .c = toy->c};
  toy->event = (ResultEvent){.instr = &toy->instr,
                             .region = OUTPUT,
                             .row = 1,
                             .cycles = CYCLES,
                             .mask = ~0u,
                             .rows = toy->d,
                             .row_count = 4,
                             .inside = &toy->inside};
}

// The element after a strike: value `step` of `stage` is passed through `and`, `or` and `xor`.
typedef struct Blow {
  uint16_t region;
  unsigned step;
  uint32_t and, or, xor;
} Blow;
static float through(const Blow *blow, uint16_t region, unsigned step, float value) {
  if (blow->region != region || blow->step != step) return value;
  return f32_of(((bits_of_f32(value) & blow->and) | blow->or) ^ blow->xor);
}
static uint32_t struck_element(unsigned lane, unsigned element, const Blow *blow) {
  unsigned row = lane / 4 + element / 2 * 8, column = lane % 4 * 2 + element % 2;
  float sum = c_of(row, column);
  for (unsigned k = 0; k < K; k++) {
    volatile float next = sum + through(blow, PRODUCT, k, a_of(row, k) * b_of(k, column));
    sum = through(blow, SUM, k, next);
  }
  return bits_of_f32(f32_canonical(sum));
}

static void test_transient(void **state) {
  (void)state;
  static Toy toy;
  HookMachine machine = {.regions = &table, .cycle = NOW};
  for (uint32_t draw = 0; draw < 4000; draw++) {
    uint16_t region = draw % 2 == 0 ? PRODUCT : SUM;
    uint32_t step = draw / 2 % STEPS, unit = (uint32_t)random_draw(1, draw, 0) % LANES, bit = (uint32_t)random_draw(1, draw, 1) % 32;
    uint64_t from = NOW - random_draw(1, draw, 2) % CYCLES;
    Fault fault = {.model = FAULT_FLIP,
                   .warp = FAULT_NO_WARP,
                   .is_output = true,
                   .site = {.region = region, .row = 1 * STEPS + step, .unit = unit, .bit = bit},
                   .from = from,
                   .to = from};
    make_toy(&toy);
    ResultBit bits[FAULT_MAX_BITS];
    uint32_t told = fault_result_bits(&table, &fault, NOW, &toy.event, bits);
    Strike strike = {.fault = &fault, .waits = true};
    // Eight turns of four lanes in eight cycles; elements take turns from cycle to cycle.
    uint32_t lane = (uint32_t)(CYCLES - 1 - (NOW - from)) * LANES + unit, element = (uint32_t)(from % 4);
    assert_true(fault_is_passed(&table, &fault, NOW, &toy.event)); // whether the result alters or not
    toy.event.mask = ~(1u << lane);
    assert_false(fault_is_passed(&table, &fault, NOW, &toy.event));
    toy.event.mask = ~0u;
    strike_result(&strike, &machine, &toy.event);
    assert_false(strike.waits);
    Blow blow = {.region = region, .step = step, .and = ~0u, .xor = 1u << bit};
    for (uint32_t i = 0; i < 4 * WARP_LANES; i++) {
      bool is_hit = i == element * WARP_LANES + lane;
      assert_int_equal(toy.d[i], is_hit ? struck_element(lane, element, &blow) : toy.clean[i]);
    }
    for (uint32_t i = 0; i < told; i++) toy.d[bits[i].word * WARP_LANES + bits[i].slot] ^= 1u << bits[i].bit;
    assert_memory_equal(toy.d, toy.clean, sizeof toy.d);
  }
}

static void test_lasting(void **state) {
  (void)state;
  static Toy toy;
  HookMachine machine = {.regions = &table, .cycle = NOW};
  Arena *arena = arena_new();
  for (uint32_t draw = 0; draw < 500; draw++) {
    uint16_t region = draw % 2 == 0 ? PRODUCT : SUM;
    uint32_t step = draw / 2 % STEPS, unit = draw % LANES, bit = draw % 32;
    Fault fault = {.model = draw % 3 == 0 ? FAULT_STUCK0 : FAULT_STUCK1,
                   .is_output = true,
                   .warp = FAULT_NO_WARP,
                   .site = {.region = region, .row = 1 * STEPS + step, .unit = unit, .bit = bit},
                   .to = UINT64_MAX};
    make_toy(&toy);
    bool alters = fault_alters_result(&table, &fault, NOW, &toy.event);
    Hook *hook = fault_hook(arena, &fault);
    hook->result(hook, &machine, &toy.event);
    uint32_t mask = 1u << bit;
    Blow blow = {.region = region, .step = step, .and = ~mask, .or = fault.model == FAULT_STUCK1 ? mask : 0};
    for (uint32_t i = 0; i < 4 * WARP_LANES; i++) {
      bool is_hit = i % WARP_LANES % LANES == unit;
      assert_int_equal(toy.d[i], is_hit ? struck_element(i % WARP_LANES, i / WARP_LANES, &blow) : toy.clean[i]);
    }
    assert_int_equal(alters, memcmp(toy.d, toy.clean, sizeof toy.d) != 0);
  }
  arena_free(arena);
}

// Another SM, another cycle, a lane without a thread: nothing.
static void test_misses(void **state) {
  (void)state;
  static Toy toy;
  HookMachine machine = {.regions = &table, .cycle = NOW};
  Fault fault = {.model = FAULT_FLIP,
                 .warp = FAULT_NO_WARP,
                 .is_output = true,
                 .site = {.region = SUM, .row = STEPS + K - 1, .unit = 1, .bit = 31},
                 .from = NOW,
                 .to = NOW};
  const struct {
    uint64_t row, from;
    uint32_t mask;
    bool hits;
  } cases[] = {
      {1, NOW, ~0u, true}, {0, NOW, ~0u, false}, {1, NOW - CYCLES, ~0u, false}, {1, NOW + 1, ~0u, false}, {1, NOW, ~(1u << 29), false}};
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    make_toy(&toy);
    toy.event.row = cases[i].row;
    toy.event.mask = cases[i].mask;
    fault.from = cases[i].from;
    Strike strike = {.fault = &fault, .waits = true};
    strike_result(&strike, &machine, &toy.event);
    assert_int_equal(memcmp(toy.d, toy.clean, sizeof toy.d) != 0, cases[i].hits);
  }
}

// Every model, any instruction word, any operands: nothing outside the result is touched (address sanitizer), and the same twice.
static void test_anything(void **state) {
  (void)state;
  static uint32_t rows[3][8 * WARP_LANES], d[2][8 * WARP_LANES];
  static MatrixInside product;
  HookMachine machine = {.regions = &table, .cycle = NOW};
  Arena *arena = arena_new();
  uint32_t changed = 0;
  for (uint32_t draw = 0; draw < 6000; draw++) {
    Instr instr = {.op = (uint16_t)(random_draw(3, draw, 0) % OP_COUNT),
                   .imm = (uint32_t)random_draw(3, draw, 1) & (draw % 2 == 0 ? ~0u : 0x3303F)};
    // Every second one is a product that exists; the others are what a damaged word may be.
    LaneOp lanes = {.a = rows[0], .b = rows[1], .c = rows[2], .imm = instr.imm};
    for (uint32_t tries = 0; tries < 2 * OP_COUNT; tries++, instr.op = (uint16_t)((instr.op + 1) % OP_COUNT)) {
      if (op_info[instr.op].kind != KIND_MATRIX || op_info[instr.op].space != SPACE_NONE) continue;
      if (draw % 2 == 0 || matrix_look_inside((Op)instr.op, &lanes, &product)) break;
    }
    for (uint32_t i = 0; i < COUNT_OF(rows[0]); i++)
      for (uint32_t k = 0; k < 3; k++) rows[k][i] = (uint32_t)random_draw(4 + k, draw, i);
    ResultInside inside = {.product = PRODUCT, .sum = SUM, .steps = STEPS, .a = rows[0], .b = rows[1], .c = rows[2]};
    Fault fault = {.model = (FaultModel)(random_draw(3, draw, 2) % FAULT_MODELS),
                   .is_output = true,
                   .warp = FAULT_NO_WARP,
                   .arguments = {3, 5},
                   .to = UINT64_MAX};
    fault.site = region_site(&table, draw % 2 == 0 ? PRODUCT : SUM, random_draw(3, draw, 3) % (STEPS * LANES * 32));
    fault.from = NOW - random_draw(3, draw, 4) % CYCLES;
    for (uint32_t twice = 0; twice < 2; twice++) {
      ResultEvent event = {.instr = &instr,
                           .region = OUTPUT,
                           .cycles = CYCLES,
                           .mask = (uint32_t)random_draw(3, draw, 5),
                           .rows = d[twice],
                           .row_count = type_info[op_info[instr.op].d].registers,
                           .inside = &inside};
      memset(d[twice], 0, sizeof d[twice]);
      Hook *hook = fault_hook(arena, &fault);
      hook->result(hook, &machine, &event);
      for (uint32_t i = 0; i < event.row_count * WARP_LANES; i++) changed += d[twice][i] != 0;
    }
    assert_memory_equal(d[0], d[1], sizeof d[0]);
  }
  assert_true(changed > 1000);
  arena_free(arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_transient), cmocka_unit_test(test_lasting), cmocka_unit_test(test_misses),
                                     cmocka_unit_test(test_anything)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
