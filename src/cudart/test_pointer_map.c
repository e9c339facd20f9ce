// The pointer map against a plain array, over random puts, gets and takes.
#include "cudart/runtime.h"

#include <setjmp.h>
#include <stdlib.h>
#include <cmocka.h>

static void map_holds_what_was_put(void **state) {
  (void)state;
  enum { KEYS = 300, STEPS = 20000 };
  static char keys[KEYS];
  void *wanted[KEYS] = {0};
  PointerMap map = {0};
  uint32_t live = 0;
  assert_null(pointer_map_get(&map, keys));
  assert_null(pointer_map_take(&map, keys));
  for (uint64_t step = 0; step < STEPS; step++) {
    uint64_t k = random_below(random_draw(1, step, 0), KEYS), action = random_below(random_draw(1, step, 1), 3);
    if (action == 0) {
      live += wanted[k] == NULL;
      wanted[k] = pointer_of(step + 1);
      pointer_map_put(&map, &keys[k], wanted[k]);
    } else if (action == 1) {
      live -= wanted[k] != NULL;
      assert_ptr_equal(pointer_map_take(&map, &keys[k]), wanted[k]);
      wanted[k] = NULL;
    } else {
      assert_ptr_equal(pointer_map_get(&map, &keys[k]), wanted[k]);
    }
    assert_int_equal(map.count, live);
  }
  for (int k = 0; k < KEYS; k++) assert_ptr_equal(pointer_map_get(&map, &keys[k]), wanted[k]);
  free(map.keys);
  free(map.values);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(map_holds_what_was_put)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
