// SEC-DED for every width of a unit: each single error in data and check bits is corrected in place, each double is detected.
#include "protect/test_toy.h"

static Region make_region(uint32_t bits) {
  return (Region){.name = "rf",
                  .title = "register file",
                  .unit = "lane",
                  .meaning = "",
                  .dims = {{"reg", 2}},
                  .dim_count = 1,
                  .flags = REGION_TRACED | REGION_INJECTABLE | REGION_HASHED,
                  .rows = 2,
                  .units = 4,
                  .bits = bits,
                  .base = 0,
                  .row_bytes = 40, // units may lie apart
                  .unit_bytes = bits > 32 ? 8 : 4};
}

enum { RF = 0, ROW = 1, UNIT = 2 };

static CellEvent row_event(const Toy *toy, uint32_t units) {
  return (CellEvent){.region = RF, .units = units, .row = ROW, .data = toy_row(toy, RF, ROW)};
}

static void write_value(Toy *toy, uint64_t value) {
  uint8_t *unit = toy_row(toy, RF, ROW) + UNIT * toy->table.items[RF].unit_bytes;
  unit_set(&toy->table.items[RF], unit, value);
  CellEvent event = row_event(toy, 1u << UNIT);
  assert_int_equal(hooks_write(&toy->chain, &toy->machine, &event), VERDICT_PASS);
}

static Verdict read_row(Toy *toy) {
  CellEvent event = row_event(toy, 0xF);
  return hooks_read(&toy->chain, &toy->machine, &event);
}

// Bit n of the code word of (ROW, UNIT): data bits, then check bits.
static Site code_bit(const Toy *toy, uint32_t n) {
  uint32_t bits = toy->table.items[RF].bits;
  uint16_t check = region_find(&toy->table, "ecc.rf");
  return n < bits ? (Site){RF, ROW, UNIT, n} : (Site){check, ROW, UNIT, n - bits};
}

static void try_word(Toy *toy, uint64_t value) {
  size_t bytes = toy->table.block_bytes;
  uint32_t length = toy->table.items[RF].bits + toy->table.items[1].bits;
  write_value(toy, value);
  uint8_t *good = malloc(bytes);
  memcpy(good, toy->machine.block, bytes);
  assert_int_equal(read_row(toy), VERDICT_PASS);
  for (uint32_t i = 0; i < length; i++) {
    Site first = code_bit(toy, i);
    toy->corrected = toy->detected = 0;
    toy_flip(toy, &first);
    assert_int_equal(read_row(toy), VERDICT_FIXED);
    assert_int_equal(toy->corrected, 1);
    assert_memory_equal(toy->machine.block, good, bytes); // data and check bits
    for (uint32_t j = i + 1; j < length; j++) {
      Site second = code_bit(toy, j);
      toy_flip(toy, &first);
      toy_flip(toy, &second);
      assert_int_equal(read_row(toy), VERDICT_HALT);
      toy_flip(toy, &first);
      toy_flip(toy, &second);
      assert_memory_equal(toy->machine.block, good, bytes); // and nothing was changed
    }
    assert_int_equal(toy->detected, length - 1 - i);
    assert_int_equal(toy->corrected, 1);
  }
  free(good);
}

static void test_every_width(void **state) {
  (void)state;
  static const struct {
    uint32_t bits, check_bits;
  } known[] = {{1, 3}, {4, 4}, {8, 5}, {11, 5}, {16, 6}, {26, 6}, {27, 7}, {32, 7}, {57, 7}, {58, 8}, {64, 8}};
  uint32_t k = 0;
  for (uint32_t bits = 1; bits <= 64; bits++) {
    Region region = make_region(bits);
    Toy toy;
    assert_true(toy_open(&toy, &(RegionTable){&region, 1, 80}, &(HookShape){.sms = 1, .warps = 1, .block_slots = 1}, "secded:rf"));
    const Region *check = &toy.table.items[1];
    assert_string_equal(check->name, "ecc.rf");
    assert_int_equal(check->rows, 2);
    assert_int_equal(check->units, 4);
    if (k < COUNT_OF(known) && known[k].bits == bits) assert_int_equal(check->bits, known[k++].check_bits);
    assert_int_equal(read_row(&toy), VERDICT_PASS); // never written: zeros are a code word
    try_word(&toy, 0);
    try_word(&toy, UINT64_MAX);
    try_word(&toy, UINT64_C(0x123456789ABCDEF0));
    toy_close(&toy);
  }
  assert_int_equal(k, COUNT_OF(known));
}

// Units that the access does not touch are neither checked nor encoded; other regions are no concern.
static void test_only_what_is_accessed(void **state) {
  (void)state;
  Region regions[2] = {make_region(32), make_region(32)};
  regions[1].name = "other";
  regions[1].base = 80;
  Toy toy;
  assert_true(toy_open(&toy, &(RegionTable){regions, 2, 160}, &(HookShape){.sms = 1, .warps = 1, .block_slots = 1}, "secded:rf"));
  Site site = {RF, ROW, UNIT, 5};
  toy_flip(&toy, &site);
  CellEvent others = row_event(&toy, 0xF & ~(1u << UNIT));
  assert_int_equal(hooks_read(&toy.chain, &toy.machine, &others), VERDICT_PASS);
  assert_int_equal(hooks_write(&toy.chain, &toy.machine, &others), VERDICT_PASS);
  assert_int_equal(toy.tally[TALLY_CHECK_BITS], (3 + 3) * 7);
  assert_int_equal(read_row(&toy), VERDICT_FIXED);
  site.region = 1;
  toy_flip(&toy, &site);
  CellEvent unprotected = {.region = 1, .units = 0xF, .row = ROW, .data = toy_row(&toy, 1, ROW)};
  assert_int_equal(hooks_read(&toy.chain, &toy.machine, &unprotected), VERDICT_PASS);
  for (uint32_t unit = 0; unit < 4; unit++) { // one error in each of four units
    site = (Site){RF, ROW, unit, 3 * unit};
    toy_flip(&toy, &site);
  }
  toy.corrected = 0;
  assert_int_equal(read_row(&toy), VERDICT_FIXED);
  assert_int_equal(toy.corrected, 4);
  toy_close(&toy);
}

static void test_names(void **state) {
  (void)state;
  Region regions[4] = {make_region(32), make_region(16), make_region(8), make_region(8)};
  regions[1].name = "shared";
  regions[1].base = 80;
  regions[2].name = "dram";
  regions[2].flags |= REGION_OUTSIDE;
  regions[3].name = "pc";
  regions[3].base = 160;
  regions[3].flags = REGION_INJECTABLE;
  RegionTable own = {regions, 4, 240};
  HookShape shape = {.sms = 1, .warps = 1, .block_slots = 1};
  Toy toy;
  assert_true(toy_open(&toy, &own, &shape, "secded:rf,shared"));
  assert_int_equal(toy.table.count, 6);
  assert_int_not_equal(region_find(&toy.table, "ecc.shared"), REGION_NONE);
  toy_close(&toy);
  assert_true(toy_open(&toy, &own, &shape, "secded:all"));
  assert_int_equal(toy.table.count, 6);
  toy_close(&toy);
  toy_refused(&own, &shape, "secded", "which structures?");
  toy_refused(&own, &shape, "secded:sharde", "no structure 'sharde'; did you mean 'shared'?");
  toy_refused(&own, &shape, "secded:texturecache", "check bits can go on rf, shared");
  toy_refused(&own, &shape, "secded:dram", "'dram' cannot carry check bits: the host writes it too");
  toy_refused(&own, &shape, "secded:pc", "'pc' cannot carry check bits: not every access");
  toy_refused(&own, &shape, "secded:rf,rf", "'rf' is named twice");
  toy_refused(&own, &shape, "secded:rf=1", "unknown option 'rf'");
  regions[1].rows = regions[1].dims[0].count = 0;
  toy_refused(&own, &shape, "secded:shared", "this machine has none");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_width),
      cmocka_unit_test(test_only_what_is_accessed),
      cmocka_unit_test(test_names),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
