// Every build of the row functions against loops over single lanes.
// TEST_IN_RELEASE: there the compiler makes vectors of the loops.
#include "machine/parts/rows.h"

#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { ROUNDS = 400 };

static uint64_t draws;
static uint64_t draw(void) { return random_draw(7, draws++, 0); }

typedef struct Input {
  uint64_t address[WARP_LANES];
  uint32_t low[WARP_LANES], high[WARP_LANES], lanes;
} Input;

// Addresses near each other, or anywhere; all, no, or some lanes.
static Input input(void) {
  Input in;
  uint64_t base = draw(), spread = draw() % 3 == 0 ? UINT64_MAX : (UINT64_C(1) << draw() % 14) - 1;
  in.lanes = draw() % 3 == 0 ? UINT32_MAX : (uint32_t)draw();
  for (unsigned i = 0; i < WARP_LANES; i++) {
    in.address[i] = base ^ (draw() & spread);
    in.low[i] = draw() % 4 == 0 ? UINT32_MAX - (uint32_t)(draw() % 8) : (uint32_t)draw();
    in.high[i] = (uint32_t)draw();
  }
  return in;
}

static bool has(const Input *in, unsigned lane) { return (in->lanes >> lane & 1) != 0; }

static void check_addresses(const RowFunctions *rows, const Input *in) {
  uint32_t sum[2][WARP_LANES];
  uint64_t offset = (uint64_t)(int64_t)(int32_t)draw(), place[WARP_LANES];
  rows->add(in->low, in->high, offset, in->lanes, sum);
  bool is_good = true;
  RowStretch stretch = {.first = UINT64_C(1) << 62, .last = UINT64_MAX - 40, .to = 12345, .align = draw() % 2 == 0 ? 0 : 1};
  stretch.rest = stretch.first + 4;
  for (unsigned i = 0; i < WARP_LANES; i++) {
    uint64_t wanted = has(in, i) ? (in->low[i] | (uint64_t)in->high[i] << 32) + offset : 0;
    assert_int_equal(sum[0][i] | (uint64_t)sum[1][i] << 32, wanted);
    uint64_t at = has(in, i) ? wanted : stretch.rest;
    is_good = is_good && at >= stretch.first && at <= stretch.last && (at & stretch.align) == 0;
  }
  assert_int_equal(rows->translate((const uint32_t(*)[WARP_LANES])sum, in->lanes, &stretch, place), is_good);
  for (unsigned i = 0; i < WARP_LANES; i++) {
    uint64_t at = has(in, i) ? sum[0][i] | (uint64_t)sum[1][i] << 32 : stretch.rest;
    assert_int_equal(place[i], at - stretch.first + stretch.to);
  }
  uint64_t both[WARP_LANES];
  assert_int_equal(rows->place(in->low, in->high, offset, in->lanes, &stretch, both), is_good);
  assert_memory_equal(both, place, sizeof both);
  RowStretch first = {.first = 0, .last = draw() % 2 == 0 ? UINT32_MAX : (uint32_t)draw(), .to = 77, .align = stretch.align, .rest = 4};
  is_good = true;
  for (unsigned i = 0; i < WARP_LANES; i++) {
    uint64_t at = has(in, i) ? in->low[i] + (uint32_t)offset : 4;
    is_good = is_good && at <= first.last && (at & first.align) == 0;
    place[i] = at + 77;
  }
  assert_int_equal(rows->place(in->low, NULL, offset, in->lanes, &first, both), is_good);
  assert_memory_equal(both, place, sizeof both);
  rows->add(in->low, NULL, offset, in->lanes, sum);
  uint64_t again[WARP_LANES];
  assert_int_equal(rows->translate((const uint32_t(*)[WARP_LANES])sum, in->lanes, &first, again), is_good);
  assert_memory_equal(again, both, sizeof again);
  for (unsigned i = 0; i < WARP_LANES; i++) {
    assert_int_equal(sum[0][i], has(in, i) ? in->low[i] + (uint32_t)offset : 0);
    assert_int_equal(sum[1][i], 0);
  }
}

static void check_times(const RowFunctions *rows) {
  uint64_t times[WARP_LANES], now = draw() % 2 == 0 ? draw() % 100 : draw();
  uint32_t due = 0;
  for (unsigned i = 0; i < WARP_LANES; i++) {
    uint64_t bits = draw();
    times[i] = bits % 4 == 0 ? UINT64_MAX : bits % 4 == 1 ? now : bits >> draw() % 64;
    due |= (times[i] <= now ? 1u : 0u) << i;
  }
  assert_int_equal(rows->due(times, now), due);
}

static void check_lines(const RowFunctions *rows, const Input *in) {
  uint64_t mask = ~UINT64_C(127), value = in->address[draw() % WARP_LANES] & mask, half[2], wanted[2] = {0, 0};
  uint32_t lanes = 0, bytes = 1u << draw() % 5;
  RowExtent extent = {UINT64_MAX, 0};
  for (unsigned i = 0; i < WARP_LANES; i++) {
    lanes |= ((in->address[i] & mask) == value ? 1u : 0u) << i;
    uint32_t at = (uint32_t)in->address[i] & 127 & ~(bytes - 1);
    if (!has(in, i)) continue;
    wanted[at / 64] |= ((UINT64_C(1) << bytes) - 1) << at % 64;
    extent.least = min_u64(extent.least, in->address[i]);
    extent.most = max_u64(extent.most, in->address[i]);
  }
  assert_int_equal(rows->matching(in->address, mask, value), lanes);
  uint32_t words = 0;
  for (unsigned i = 0; i < WARP_LANES; i++) words |= 1u << in->address[i] / 4 % 32;
  assert_int_equal(rows->words_of(in->address), words);
  rows->bytes_of(in->address, in->lanes, bytes, half);
  assert_memory_equal(half, wanted, sizeof half);
  if (in->lanes == 0) return;
  check_times(rows);
  RowExtent made = rows->extent(in->address, in->lanes);
  assert_int_equal(made.least, extent.least);
  assert_int_equal(made.most, extent.most);
}

static void check_words(const RowFunctions *rows, const Input *in) {
  uint32_t memory[1024], words = draw() % 2 == 0 ? UINT32_MAX : (uint32_t)draw(), delivered[WARP_LANES], gathered[WARP_LANES],
                         blended[WARP_LANES];
  uint64_t counts[WARP_LANES];
  for (unsigned i = 0; i < COUNT_OF(memory); i++) memory[i] = (uint32_t)draw();
  memset(delivered, 0xA5, sizeof delivered);
  memset(gathered, 0xA5, sizeof gathered);
  memset(blended, 0xA5, sizeof blended);
  memset(counts, 0, sizeof counts);
  rows->deliver(memory, words, in->address, in->lanes, delivered);
  rows->gather(memory, in->address, 4095, in->lanes, gathered);
  rows->blend(in->low, in->lanes, blended);
  rows->count(counts, in->lanes);
  for (unsigned i = 0; i < WARP_LANES; i++) {
    uint32_t at = (uint32_t)in->address[i] % 128 / 4;
    assert_int_equal(delivered[i], has(in, i) && (words >> at & 1) != 0 ? memory[at] : 0xA5A5A5A5);
    assert_int_equal(gathered[i], has(in, i) ? memory[in->address[i] % 4096 / 4] : 0xA5A5A5A5);
    assert_int_equal(blended[i], has(in, i) ? in->low[i] : 0xA5A5A5A5);
    assert_int_equal(counts[i], has(in, i) ? 1 : 0);
  }
}

// Places in some order, or any numbers at all, as faults leave them.
static void check_order(const RowFunctions *rows, const Input *in) {
  uint8_t place[WARP_LANES], other[WARP_LANES], taken[WARP_LANES];
  uint32_t permuted[WARP_LANES], bits = (uint32_t)draw(), from = 0, to = 0, differ = 0;
  uint8_t any = draw() % 2 == 0 ? UINT8_MAX : WARP_LANES - 1;
  for (unsigned i = 0; i < WARP_LANES; i++) place[i] = (uint8_t)draw() & any;
  for (unsigned i = 0; i < WARP_LANES; i++) other[i] = draw() % 2 == 0 ? place[i] : (uint8_t)draw();
  memset(permuted, 0xA5, sizeof permuted);
  rows->permute(in->low, place, in->lanes, permuted);
  rows->bytes_from(bits, taken);
  for (unsigned i = 0; i < WARP_LANES; i++) {
    assert_int_equal(permuted[i], has(in, i) ? in->low[place[i] % WARP_LANES] : 0xA5A5A5A5);
    assert_int_equal(taken[i], (bits >> i & 1) != 0 ? UINT8_MAX : 0);
    from |= (bits >> place[i] % WARP_LANES & 1) << i;
    to |= (bits >> i & 1) << place[i] % WARP_LANES;
    differ |= (place[i] != other[i] ? 1u : 0u) << i;
  }
  assert_int_equal(rows->bits_from(bits, place), from);
  assert_int_equal(rows->bits_to(bits, place), to);
  assert_int_equal(rows->differing(place, other), differ);
}

static void builds_agree(void **state) {
  (void)state;
  assert_non_null(row_functions());
  for (unsigned number = 0; number < 3; number++) {
    const RowFunctions *rows = row_build(number);
    for (unsigned round = 0; rows != NULL && round < ROUNDS; round++) {
      Input in = input();
      check_addresses(rows, &in);
      check_lines(rows, &in);
      check_words(rows, &in);
      check_order(rows, &in);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(builds_agree)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
