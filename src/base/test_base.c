// Unit tests of src/base.
#include "base/base.h"

#include <setjmp.h>
#include <cmocka.h>

static void arenas_zero_and_align(void **state) {
  (void)state;
  Arena *arena = arena_new();
  for (size_t size = 1; size < 100000; size = size * 3 + 1) {
    uint8_t *bytes = arena_alloc(arena, size);
    assert_int_equal((uintptr_t)bytes % 16, 0);
    for (size_t i = 0; i < size; i++) assert_int_equal(bytes[i], 0);
    memset(bytes, 0xAA, size);
  }
  arena_free(arena);
}

static void vectors_grow(void **state) {
  (void)state;
  Arena *arena = arena_new();
  VEC(int) numbers = {0};
  for (int i = 0; i < 1000; i++) *VEC_PUSH(&numbers, arena) = i;
  for (int i = 0; i < 1000; i++) assert_int_equal(numbers.items[i], i);
  arena_free(arena);
}

static void nearest_names(void **state) {
  (void)state;
  const char *const names[] = {"matmul", "vecadd", "bfs"};
  assert_string_equal(text_nearest("matmull", names, 3), "matmul");
  assert_string_equal(text_nearest("vecad", names, 3), "vecadd");
  assert_null(text_nearest("transpose", names, 3));
}

static void diagnostics_read_well(void **state) {
  (void)state;
  Diags diags = {0};
  assert_false(diags_add(&diags, "k.ptx", 3, 7, "unknown instruction '%s'", "foo"));
  assert_false(diags_add(&diags, NULL, 0, 0, "no file"));
  Text text = {0};
  diag_format(&diags.items[0], &text);
  diag_format(&diags.items[1], &text);
  assert_string_equal(text.at, "k.ptx:3:7: error: unknown instruction 'foo'\nerror: no file\n");
  text_free(&text);
  diags_free(&diags);
}

static void draws_depend_on_every_argument(void **state) {
  (void)state;
  uint64_t first = random_draw(1, 2, 3);
  assert_int_equal(first, random_draw(1, 2, 3));
  assert_int_not_equal(first, random_draw(2, 2, 3));
  assert_int_not_equal(first, random_draw(1, 3, 3));
  assert_int_not_equal(first, random_draw(1, 2, 4));
  assert_int_equal(random_below(UINT64_MAX, 10), 9);
  assert_int_equal(random_below(0, 10), 0);
  assert_true(random_unit_f32(UINT64_MAX) < 1.0f);
  assert_true(random_unit_f64(UINT64_MAX) < 1.0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(arenas_zero_and_align),
      cmocka_unit_test(vectors_grow),
      cmocka_unit_test(nearest_names),
      cmocka_unit_test(diagnostics_read_well),
      cmocka_unit_test(draws_depend_on_every_argument),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
