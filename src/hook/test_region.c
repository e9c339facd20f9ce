// Sites: numbering, text and back, what is said about wrong ones; the checker of tables.
#include "hook/region.h"

#include <stdio.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static const Region toy_items[] = {
    {.name = "rf",
     .title = "register file",
     .unit = "lane",
     .meaning = "registers",
     .dims = {{"sm", 3}, {"reg", 5}},
     .dim_count = 2,
     .flags = REGION_INJECTABLE | REGION_HASHED | REGION_TRACED,
     .rows = 15,
     .units = 4,
     .bits = 32,
     .base = 0,
     .row_bytes = 16,
     .unit_bytes = 4},
    {.name = "state",
     .title = "state",
     .unit = "entry",
     .meaning = "of the machine",
     .dims = {{"sm", 3}},
     .dim_count = 1,
     .flags = REGION_INJECTABLE,
     .rows = 3,
     .units = 1,
     .bits = 3,
     .base = 240,
     .row_bytes = 1,
     .unit_bytes = 1},
    {.name = "go",
     .title = "go",
     .unit = "",
     .meaning = "one bit",
     .rows = 1,
     .units = 1,
     .bits = 1,
     .base = 243,
     .row_bytes = 1,
     .unit_bytes = 1},
    {.name = "l1d",
     .title = "L1 data cache",
     .unit = "word",
     .meaning = "absent here",
     .dims = {{"line", 0}},
     .dim_count = 1,
     .units = 32,
     .bits = 32,
     .base = 244,
     .row_bytes = 128,
     .unit_bytes = 4},
};
static const RegionTable toy = {toy_items, COUNT_OF(toy_items), 244};

static void assert_formats(const Site *site, const char *expected) {
  Text text = {0};
  site_format(&toy, site, &text);
  assert_string_equal(text.at, expected);
  text_free(&text);
}

static void assert_refused(const char *text, const char *said) {
  Diags diags = {0};
  Site site;
  assert_false(site_parse(&toy, text, &site, &diags));
  assert_int_equal(diags.count, 1);
  if (strstr(diags.items[0].text, said) == NULL) fail_msg("'%s' does not contain '%s'", diags.items[0].text, said);
  diags_free(&diags);
}

static void test_every_bit_round_trips(void **state) {
  (void)state;
  Diags diags = {0};
  for (uint16_t r = 0; r < toy.count; r++) {
    for (uint64_t n = 0; n < region_bits(&toy.items[r]); n++) {
      Site site = region_site(&toy, r, n), back;
      Text text = {0};
      site_format(&toy, &site, &text);
      assert_true(site_parse(&toy, text.at, &back, &diags));
      assert_int_equal(back.region, site.region);
      assert_int_equal(back.row, site.row);
      assert_int_equal(back.unit, site.unit);
      assert_int_equal(back.bit, site.bit);
      assert_int_equal((site.row * toy.items[r].units + site.unit) * toy.items[r].bits + site.bit, n);
      text_free(&text);
    }
  }
  assert_int_equal(diags.count, 0);
}

static void test_text_of_sites(void **state) {
  (void)state;
  assert_formats(&(Site){0, 2 * 5 + 4, 3, 31}, "rf[sm=2,reg=4,lane=3,bit=31]");
  assert_formats(&(Site){1, 1, 0, 2}, "state[sm=1,bit=2]");
  assert_formats(&(Site){2, 0, 0, 0}, "go[bit=0]");
  Site site;
  Diags diags = {0};
  assert_true(site_parse(&toy, "rf[ bit=0x1f, lane=3 ,reg=4,sm=2]", &site, &diags));
  assert_formats(&site, "rf[sm=2,reg=4,lane=3,bit=31]");
  assert_int_equal(site_byte(&toy.items[0], &site), 14 * 16 + 3 * 4 + 3);
  assert_int_equal(site_mask(&site), 0x80);
  assert_true(site_parse(&toy, "go", &site, &diags)); // every key can only be 0
  assert_int_equal(site.region, 2);
  diags_free(&diags);
}

static void test_wrong_sites(void **state) {
  (void)state;
  assert_refused("rg[sm=0]", "no structure 'rg'; did you mean 'rf'?");
  assert_refused("texturecache[sm=0]", "'redoubt list structures' shows all");
  assert_refused("rf[sm=3,reg=0,lane=0,bit=0]", "sm=3 is out of range: 0 to 2");
  assert_refused("rf[sm=99999999999999999999,reg=0,lane=0,bit=0]", "out of range: 0 to 2");
  assert_refused("rf[sm=0,reg=0,lane=0,bit=32]", "bit=32 is out of range: 0 to 31");
  assert_refused("rf[sm=0,bit=1]", "rf needs also reg (0 to 4), lane (0 to 3)");
  assert_refused("rf", "rf needs also sm (0 to 2), reg (0 to 4), lane (0 to 3), bit (0 to 31)");
  assert_refused("rf[]", "rf needs also sm");
  assert_refused("rf[sm=0,reg=0,lane=0,bits=0]", "rf has no 'bits'; did you mean 'bit'?");
  assert_refused("rf[warp=0]", "rf has no 'warp', but sm, reg, lane, bit");
  assert_refused("rf[sm=0,sm=0,reg=0,lane=0,bit=0]", "sm is given twice");
  assert_refused("rf[sm=-1,reg=0,lane=0,bit=0]", "sm=-1 is not a whole number");
  assert_refused("rf[sm=,reg=0,lane=0,bit=0]", "not a whole number");
  assert_refused("rf[sm]", "'sm' is not key=value");
  assert_refused("rf[sm=0", "does not end with ']'");
  assert_refused("l1d[line=0,word=0,bit=0]", "this machine has no L1 data cache");
  assert_refused("", "no structure ''");
}

static void test_units(void **state) {
  (void)state;
  uint8_t bytes[8] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};
  for (uint32_t bits = 1; bits <= 64; bits++) {
    Region region = {.bits = bits};
    uint64_t mask = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    memset(bytes, 0xFF, sizeof bytes);
    unit_set(&region, bytes, UINT64_C(0xA5A5A5A5A5A5A5A4));
    assert_true(unit_get(&region, bytes) == (UINT64_C(0xA5A5A5A5A5A5A5A4) & mask));
    uint64_t all;
    memcpy(&all, bytes, 8);
    assert_true((all | mask) == UINT64_MAX);
  }
}

static void assert_table_wrong(Region changed, const char *said) {
  Region items[COUNT_OF(toy_items)];
  memcpy(items, toy_items, sizeof items);
  items[1] = changed;
  RegionTable table = {items, COUNT_OF(items), 244};
  Diags diags = {0};
  assert_false(region_table_check(&table, &diags));
  assert_non_null(strstr(diags.items[0].text, said));
  diags_free(&diags);
}

static void test_table_check(void **state) {
  (void)state;
  Diags diags = {0};
  assert_true(region_table_check(&toy, &diags));
  Region wrong = toy_items[1];
  wrong.base = 239;
  assert_table_wrong(wrong, "belongs to another region");
  wrong.base = 242;
  assert_table_wrong(wrong, "past the block");
  wrong = toy_items[1];
  wrong.name = "rf";
  assert_table_wrong(wrong, "taken twice");
  wrong = toy_items[1];
  wrong.rows = 4;
  assert_table_wrong(wrong, "product");
  wrong = toy_items[1];
  wrong.bits = 65;
  assert_table_wrong(wrong, "65 bits");
  wrong = toy_items[1];
  wrong.row_bytes = 0;
  assert_table_wrong(wrong, "over each other");
  diags_free(&diags);
}

static void test_listings(void **state) {
  (void)state;
  Text text = {0};
  regions_list(&toy, &text);
  assert_non_null(strstr(text.at, "3 sm x 5 reg x 4 lane x 32 bits"));
  assert_non_null(strstr(text.at, "1920          640 ecc")); // bits, and bits of one SM
  assert_non_null(strstr(text.at, "every cell on the chip"));
  regions_markdown(&toy, &text);
  assert_non_null(strstr(text.at, "| `rf` | modelled | register file: registers | 3 sm x 5 reg x 4 lane x 32 bits | 1920 | yes | yes |"));
  assert_non_null(strstr(text.at, "| `go` | modelled | go: one bit | 1 bit | 1 | no | no |"));
  text_free(&text);
}

// What no such GPU has is listed and named, and is not in "all".
static void test_origins(void **state) {
  (void)state;
  Region items[] = {toy_items[0], toy_items[1]};
  const RegionTable table = {items, COUNT_OF(items), 244};
  const struct {
    RegionOrigin origin;
    const char *listed;
    bool is_hardware;
  } cases[] = {{MODELLED, "state: of the machine\n", true},
               {STANDS_FOR("a latch"), "state: of the machine; stands for a latch\n", true},
               {SIMULATORS_OWN("time is free"), "state: of the machine; the simulator's own: time is free\n", false}};
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    char all[64];
    Text text = {0};
    items[1].origin = cases[i].origin;
    assert_true(region_is_on_chip(&items[1]));
    assert_true(region_is_hardware(&items[1]) == cases[i].is_hardware);
    regions_list(&table, &text);
    assert_non_null(strstr(text.at, cases[i].listed));
    assert_non_null(strstr(text.at, origin_names[cases[i].origin.kind]));
    snprintf(all, sizeof all, "all                %12d %12d", cases[i].is_hardware ? 1929 : 1920, cases[i].is_hardware ? 643 : 640);
    assert_non_null(strstr(text.at, all));
    text_free(&text);
  }
}

// Rows in groups: what lies between two groups belongs to nobody.
static void test_groups(void **state) {
  (void)state;
  Region grouped = toy_items[1];
  grouped.dims[1] = (RegionDim){"level", 2};
  grouped.dim_count = 2;
  grouped.rows = 6;
  grouped.base = 10;
  grouped.row_bytes = 4;
  grouped.group_rows = 2;
  grouped.group_bytes = 20;
  static const size_t bytes[] = {10, 14, 30, 34, 50, 54};
  for (uint64_t row = 0; row < grouped.rows; row++) {
    Site site = {.row = row, .bit = 1};
    assert_int_equal(site_byte(&grouped, &site), bytes[row]);
  }
  Region between = toy_items[2];
  between.base = 18; // past the second row of the first group, before the second group
  Region items[] = {grouped, between};
  RegionTable table = {items, COUNT_OF(items), 55};
  Diags diags = {0};
  assert_true(region_table_check(&table, &diags));
  items[1].base = 30;
  assert_false(region_table_check(&table, &diags));
  diags_free(&diags);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_bit_round_trips),
      cmocka_unit_test(test_text_of_sites),
      cmocka_unit_test(test_wrong_sites),
      cmocka_unit_test(test_units),
      cmocka_unit_test(test_table_check),
      cmocka_unit_test(test_listings),
      cmocka_unit_test(test_origins),
      cmocka_unit_test(test_groups),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
