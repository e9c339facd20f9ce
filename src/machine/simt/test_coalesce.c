// Requests that lanes become, by generation, and bank conflicts of shared memory: tables of access patterns.
#include "machine/simt/test_pipe.h"

typedef struct Pattern {
  const char *name;
  uint64_t base;
  int64_t stride;    // bytes from lane to lane
  uint32_t bytes;    // per lane
  uint32_t mask;     // lanes
  uint32_t requests; // expected
  uint32_t fetched;  // bytes that they fetch in all
} Pattern;

static void run_patterns(uint32_t coalescer, const Pattern *patterns, size_t count) {
  Spec spec;
  Simt m = {.rows = row_functions(), .spec = &spec};
  spec_default(&spec);
  spec.ldst_coalescer = coalescer;
  for (size_t i = 0; i < count; i++) {
    const Pattern *pattern = &patterns[i];
    uint64_t address[WARP_LANES];
    uint32_t left = pattern->mask, requests = 0, fetched = 0;
    for (unsigned lane = 0; lane < WARP_LANES; lane++) address[lane] = pattern->base + (uint64_t)(pattern->stride * (int64_t)lane);
    while (left != 0) {
      Transaction made = coalesce_next(&m, address, left, pattern->bytes);
      assert_int_not_equal(made.lanes & left, 0);
      assert_int_equal(made.lanes & ~left, 0);
      assert_true(bytes_cover(made.fetch, made.bytes));
      for (uint32_t lanes = made.lanes; lanes != 0; lanes &= lanes - 1) {
        uint64_t at = address[__builtin_ctz(lanes)];
        assert_int_equal(at & ~UINT64_C(127), made.line);
        assert_true(bytes_cover(made.bytes, bytes_from((uint32_t)at & 127, pattern->bytes)));
      }
      left &= ~made.lanes;
      requests++;
      fetched += bytes_count(made.fetch);
    }
    if (requests != pattern->requests || fetched != pattern->fetched) {
      fail_msg("%s: %u requests, %u bytes; expected %u, %u", pattern->name, requests, fetched, pattern->requests, pattern->fetched);
    }
  }
}

static void test_gt200(void **state) {
  (void)state;
  const Pattern patterns[] = {
      {"words in order", 0x1000, 4, 4, UINT32_MAX, 2, 128},
      {"words, one off", 0x1004, 4, 4, UINT32_MAX, 3, 224}, // the first half-warp touches both halves of its segment
      {"words backwards", 0x107C, -4, 4, UINT32_MAX, 2, 128},
      {"one word for all", 0x1010, 0, 4, UINT32_MAX, 2, 64},
      {"every second word", 0x1000, 8, 4, UINT32_MAX, 2, 256},
      {"a line apart", 0x1000, 128, 4, UINT32_MAX, 32, 1024},
      {"bytes", 0x1000, 1, 1, UINT32_MAX, 2, 64},
      {"bytes over 32", 0x1010, 1, 1, UINT32_MAX, 2, 64},
      {"bytes, two apart", 0x1000, 2, 1, UINT32_MAX, 2, 64},
      {"halves", 0x1000, 2, 2, UINT32_MAX, 2, 64},
      {"halves, four apart", 0x1000, 4, 2, UINT32_MAX, 2, 128},
      {"doubles", 0x1000, 8, 8, UINT32_MAX, 2, 256},
      {"quads", 0x1000, 16, 16, UINT32_MAX, 4, 512},
      {"lower half of a segment", 0x1000, 4, 4, 0xFFu, 1, 32},
      {"upper half of a segment", 0x1040, 4, 4, 0xFFFFu, 1, 64},
      {"middle of a segment", 0x1020, 4, 4, 0xFFFFu, 1, 128},
      {"one lane", 0x1074, 4, 4, 1u << 1, 1, 32},
  };
  run_patterns(0, patterns, COUNT_OF(patterns));
}

static void test_fermi(void **state) {
  (void)state;
  const Pattern patterns[] = {
      {"words in order", 0x1000, 4, 4, UINT32_MAX, 1, 128},
      {"words, one off", 0x1004, 4, 4, UINT32_MAX, 2, 160},
      {"one word for all", 0x1010, 0, 4, UINT32_MAX, 1, 32},
      {"every second word", 0x1000, 8, 4, UINT32_MAX, 2, 256},
      {"a line apart", 0x1000, 128, 4, UINT32_MAX, 32, 1024},
      {"bytes", 0x1000, 1, 1, UINT32_MAX, 1, 32},
      {"doubles", 0x1000, 8, 8, UINT32_MAX, 2, 256},
      {"one double for all", 0x1000, 0, 8, UINT32_MAX, 2, 64}, // by half-warp
      {"quads", 0x1000, 16, 16, UINT32_MAX, 4, 512},
      {"one quad for all", 0x1000, 0, 16, UINT32_MAX, 4, 128}, // by quarter
      {"one lane", 0x1074, 4, 4, 1u << 31, 1, 32},
  };
  run_patterns(1, patterns, COUNT_OF(patterns));
}

static void test_turing(void **state) {
  (void)state;
  const Pattern patterns[] = {
      {"words in order", 0x1000, 4, 4, UINT32_MAX, 1, 128}, {"words, one off", 0x1004, 4, 4, UINT32_MAX, 2, 160},
      {"first and last", 0x1000, 4, 4, 0x80000001u, 1, 64}, {"one double for all", 0x1000, 0, 8, UINT32_MAX, 1, 32},
      {"doubles", 0x1000, 8, 8, UINT32_MAX, 2, 256},        {"quads", 0x1000, 16, 16, UINT32_MAX, 4, 512},
      {"a line apart", 0x1000, 128, 4, 0xFFu, 8, 256},
  };
  run_patterns(2, patterns, COUNT_OF(patterns));
}

// ---- Shared memory -------------------------------------------------------------------------------------

typedef struct Conflict {
  const char *name;
  uint64_t banks;
  uint64_t stride;
  uint32_t bytes, mask, passes;
} Conflict;

static void test_conflicts(void **state) {
  (void)state;
  const Conflict conflicts[] = {
      {"in order", 32, 4, 4, UINT32_MAX, 1},
      {"broadcast", 32, 0, 4, UINT32_MAX, 1},
      {"two words apart", 32, 8, 4, UINT32_MAX, 2},
      {"three words apart", 32, 12, 4, UINT32_MAX, 1},
      {"sixteen words apart", 32, 64, 4, UINT32_MAX, 16},
      {"a row apart", 32, 128, 4, UINT32_MAX, 32},
      {"a row apart, half the lanes", 32, 128, 4, 0x55555555, 16},
      {"a row and a word apart", 32, 132, 4, UINT32_MAX, 1},
      {"bytes in order", 32, 1, 1, UINT32_MAX, 1},
      {"halves in order", 32, 2, 2, UINT32_MAX, 1},
      {"doubles in order", 32, 8, 8, UINT32_MAX, 2},
      {"one double for all", 32, 0, 8, UINT32_MAX, 2},
      {"doubles, two apart", 32, 16, 8, UINT32_MAX, 4},
      {"quads in order", 32, 16, 16, UINT32_MAX, 4},
      {"quads, one lane", 32, 16, 16, 1, 1},
      {"sixteen banks in order", 16, 4, 4, UINT32_MAX, 2},
      {"sixteen banks, half-warp", 16, 4, 4, 0xFFFF, 1},
      {"sixteen banks, two words apart", 16, 8, 4, UINT32_MAX, 4},
      {"sixteen banks, row apart", 16, 64, 4, UINT32_MAX, 32},
      {"nobody", 32, 4, 4, 0, 1},
  };
  Spec spec;
  Simt m = {.rows = row_functions(), .spec = &spec};
  spec_default(&spec);
  for (size_t i = 0; i < COUNT_OF(conflicts); i++) {
    const Conflict *conflict = &conflicts[i];
    uint64_t address[WARP_LANES];
    spec.shared_banks = conflict->banks;
    for (unsigned lane = 0; lane < WARP_LANES; lane++) address[lane] = conflict->stride * lane;
    uint32_t passes = shared_passes(m.spec, address, conflict->mask, conflict->bytes);
    if (passes != conflict->passes) fail_msg("%s: %u passes, expected %u", conflict->name, passes, conflict->passes);
  }
}

// n lanes in one bank with different words: n passes, for every n.
static void test_conflict_degrees(void **state) {
  (void)state;
  Spec spec;
  Simt m = {.rows = row_functions(), .spec = &spec};
  spec_default(&spec);
  for (uint32_t n = 1; n <= WARP_LANES; n++) {
    uint64_t address[WARP_LANES];
    for (unsigned lane = 0; lane < WARP_LANES; lane++) address[lane] = lane < n ? 128 * lane : 4;
    assert_int_equal(shared_passes(m.spec, address, UINT32_MAX, 4), n);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_gt200),
      cmocka_unit_test(test_fermi),
      cmocka_unit_test(test_turing),
      cmocka_unit_test(test_conflicts),
      cmocka_unit_test(test_conflict_degrees),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
