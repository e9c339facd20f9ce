// Parity on the register file: every single error of data and parity bits is detected, double errors are not, lanes that are not read do
// not matter, and a machine without a fitting register file is refused.
#include "protect/test_toy.h"

enum { RF, ROWS = 3, ROW = 1 };
static const Region rf = {.name = "rf",
                          .role = REGION_ROLE_REGISTERS,
                          .title = "register file",
                          .unit = "lane",
                          .meaning = "toy",
                          .dims = {{"reg", ROWS}},
                          .dim_count = 1,
                          .flags = REGION_HASHED | REGION_INJECTABLE | REGION_TRACED,
                          .rows = ROWS,
                          .units = WARP_LANES,
                          .bits = 32,
                          .row_bytes = 4 * WARP_LANES,
                          .unit_bytes = 4};
static const RegionTable table = {&rf, 1, ROWS * 4 * WARP_LANES};
static const HookShape shape = {.sms = 1, .warps = 1, .block_slots = 1};

static const Who nobody = {0};

static CellEvent event_of(const Toy *toy, uint32_t lanes) {
  return (CellEvent){.who = &nobody, .region = RF, .units = lanes, .row = ROW, .data = toy_row(toy, RF, ROW)};
}

static void write_lanes(Toy *toy, uint32_t lanes, uint32_t seed) {
  CellEvent event = event_of(toy, lanes);
  for (uint32_t lane = 0; lane < WARP_LANES; lane++) {
    uint32_t word = (uint32_t)random_draw(seed, lane, 0);
    if ((lanes >> lane & 1) != 0) memcpy(event.data + 4 * lane, &word, sizeof word);
  }
  assert_int_equal(hooks_write(&toy->chain, &toy->machine, &event), VERDICT_PASS);
}

static Verdict read_lanes(Toy *toy, uint32_t lanes) {
  CellEvent event = event_of(toy, lanes);
  return hooks_read(&toy->chain, &toy->machine, &event);
}

static void errors_are_detected(void **state) {
  (void)state;
  Toy toy;
  assert_true(toy_open(&toy, &table, &shape, "parity"));
  uint16_t bits = region_find(&toy.table, "parity.rf");
  assert_int_equal(region_bits(&toy.table.items[bits]), ROWS * WARP_LANES);
  assert_int_equal(read_lanes(&toy, UINT32_MAX), VERDICT_PASS); // a zeroed block is consistent
  write_lanes(&toy, UINT32_MAX, 1);
  write_lanes(&toy, 0x00FF00F0, 2); // some lanes alone
  assert_int_equal(read_lanes(&toy, UINT32_MAX), VERDICT_PASS);
  assert_int_equal(toy.tally[TALLY_CHECK_BITS], 3 * WARP_LANES + 12); // two reads and two writes
  uint64_t expected = 0;
  for (uint16_t region = RF; region <= bits; region++) {
    for (uint32_t unit = 0; unit < toy.table.items[region].units; unit++) {
      for (uint32_t bit = 0; bit < 32; bit++) {
        Site site = {.region = region, .row = ROW, .unit = unit, .bit = bit};
        uint32_t lane = 1u << (region == RF ? unit : bit);
        toy_flip(&toy, &site);
        assert_int_equal(read_lanes(&toy, lane), VERDICT_HALT);
        assert_int_equal(read_lanes(&toy, ~lane), VERDICT_PASS); // nobody looks at it
        assert_int_equal(toy.detected, ++expected);
        toy_flip(&toy, &site);
      }
    }
  }
  assert_int_equal(read_lanes(&toy, UINT32_MAX), VERDICT_PASS);
  toy_close(&toy);
}

static void pairs_of_errors_are_not(void **state) {
  (void)state;
  Toy toy;
  assert_true(toy_open(&toy, &table, &shape, "parity"));
  write_lanes(&toy, UINT32_MAX, 3);
  for (uint32_t bit = 1; bit < 32; bit++) {
    Site first = {.region = RF, .row = ROW, .unit = 7, .bit = 0}, second = first;
    second.bit = bit;
    toy_flip(&toy, &first);
    toy_flip(&toy, &second);
    assert_int_equal(read_lanes(&toy, UINT32_MAX), VERDICT_PASS);
    second.unit = 8; // in two lanes they are
    toy_flip(&toy, &second);
    assert_int_equal(read_lanes(&toy, UINT32_MAX), VERDICT_HALT);
    write_lanes(&toy, UINT32_MAX, 3); // what is written anew is right again
    assert_int_equal(read_lanes(&toy, UINT32_MAX), VERDICT_PASS);
  }
  toy_close(&toy);
}

static void others_are_refused(void **state) {
  (void)state;
  Region other = rf;
  other.role = REGION_ROLE_NONE;
  toy_refused(&(RegionTable){&other, 1, table.block_bytes}, &shape, "parity", "has no register file");
  other = rf;
  other.flags &= ~(uint32_t)REGION_TRACED;
  toy_refused(&(RegionTable){&other, 1, table.block_bytes}, &shape, "parity", "not 32 lanes of 32 bits");
  toy_refused(&table, &shape, "parity:rf", "unknown option 'rf'");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(errors_are_detected),
      cmocka_unit_test(pairs_of_errors_are_not),
      cmocka_unit_test(others_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
