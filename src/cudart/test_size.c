// Sums and products of sizes at the edges of 64 bits: exact while they fit, SIZE_TOO_BIG from there on.
#include "cudart/size.h"

#include <setjmp.h>
#include <cmocka.h>

#define MAX UINT64_MAX

static const uint64_t edges[] = {0,         1,       2,  511, 512, 513, UINT32_MAX, UINT64_C(1) << 32, UINT64_C(1) << 33, UINT64_C(1) << 63,
                                 MAX - 511, MAX - 1, MAX};

// What 128 bits say, cut to SIZE_TOO_BIG.
static uint64_t cut(unsigned __int128 exact) { return exact > MAX ? SIZE_TOO_BIG : (uint64_t)exact; }

static void sums_and_products_are_exact_or_too_big(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(edges); i++) {
    for (size_t k = 0; k < COUNT_OF(edges); k++) {
      unsigned __int128 a = edges[i], b = edges[k];
      assert_int_equal(size_add(edges[i], edges[k]), cut(a + b));
      assert_int_equal(size_multiply(edges[i], edges[k]), cut(a * b));
    }
  }
}

static void sizes_are_rounded_up(void **state) {
  (void)state;
  assert_int_equal(size_align_up(0, 512), 0);
  assert_int_equal(size_align_up(1, 512), 512);
  assert_int_equal(size_align_up(512, 512), 512);
  assert_int_equal(size_align_up(513, 512), 1024);
  assert_int_equal(size_align_up(MAX - 511, 512), MAX - 511);
  assert_int_equal(size_align_up(MAX - 510, 512), SIZE_TOO_BIG);
  assert_int_equal(size_align_up(MAX - 1, 512), SIZE_TOO_BIG);
  assert_int_equal(size_align_up(MAX, 512), SIZE_TOO_BIG);
  assert_int_equal(size_align_up(MAX, 1), MAX);
}

static void ranges_lie_within(void **state) {
  (void)state;
  assert_true(size_is_within(0, 0, 0));
  assert_true(size_is_within(10, 0, 10));
  assert_true(size_is_within(3, 7, 10));
  assert_false(size_is_within(3, 8, 10));
  assert_false(size_is_within(11, 0, 10));
  assert_false(size_is_within(MAX, 2, 10)); // wraps to 1
  assert_false(size_is_within(2, MAX, 10));
  assert_true(size_is_within(1, MAX - 1, MAX));
  assert_false(size_is_within(2, MAX - 1, MAX));
}

static void boxes_span_their_rows(void **state) {
  (void)state;
  assert_int_equal(size_of_box(4, 3, 2, 10, 100), 100 + 20 + 4);
  assert_int_equal(size_of_box(4, 1, 1, MAX, MAX), 4); // pitches are not used
  assert_int_equal(size_of_box(0, MAX, MAX, MAX, MAX), 0);
  assert_int_equal(size_of_box(MAX, 0, 1, 1, 1), 0);
  assert_int_equal(size_of_box(1, 1, 0, 1, 1), 0);
  assert_int_equal(size_of_box(64, 3, 1, UINT64_C(1) << 63, 0), SIZE_TOO_BIG); // 2 * 2^63 wraps to 0
  assert_int_equal(size_of_box(MAX, 2, 1, 1, 0), SIZE_TOO_BIG);
  assert_int_equal(size_of_box(1, 2, 2, MAX - 1, 1), SIZE_TOO_BIG);
  assert_int_equal(size_of_box(1, 2, 1, MAX - 1, 1), MAX);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sums_and_products_are_exact_or_too_big),
      cmocka_unit_test(sizes_are_rounded_up),
      cmocka_unit_test(ranges_lie_within),
      cmocka_unit_test(boxes_span_their_rows),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
