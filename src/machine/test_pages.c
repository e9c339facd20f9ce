// Zeroing touched pages leaves nothing behind, and touches no others.
#include "machine/pages.h"
#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

enum { PAGE = 4096, PAGES = 3000 };

static uint8_t *fresh(void) {
  void *at = mmap(NULL, (size_t)PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_ptr_not_equal(at, MAP_FAILED);
  return at;
}

static bool is_zero(const uint8_t *at, size_t bytes) {
  for (size_t i = 0; i < bytes; i++) {
    if (at[i] != 0) return false;
  }
  return true;
}

static void zeroes_what_was_written(void **state) {
  (void)state;
  uint8_t *at = fresh();
  for (size_t page = 0; page < PAGES; page += 1 + page % 7) memset(at + page * PAGE + page % 100, 0xA5, 3000);
  size_t bytes = (size_t)PAGES * PAGE - 1000; // the last page not as a whole
  at[bytes - 1] = at[bytes] = 7;
  pages_zero(at, bytes);
  assert_true(is_zero(at, bytes));
  assert_int_equal(at[bytes], 7);
  munmap(at, (size_t)PAGES * PAGE);
}

static void leaves_untouched_pages(void **state) {
  (void)state;
  uint8_t *at = fresh();
  unsigned char there[PAGES];
  at[5 * PAGE] = at[2000 * PAGE] = 1;
  pages_zero(at, (size_t)PAGES * PAGE);
  assert_int_equal(mincore(at, (size_t)PAGES * PAGE, there), 0);
  uint32_t count = 0;
  for (uint32_t i = 0; i < PAGES; i++) count += there[i] & 1;
  assert_in_range(count, 1, PAGES / 4); // some kernels give several pages at once
  munmap(at, (size_t)PAGES * PAGE);
}

static void copies_what_was_written(void **state) {
  (void)state;
  uint8_t *from = fresh(), *to = fresh();
  unsigned char there[PAGES];
  size_t bytes = (size_t)PAGES * PAGE - 1000;
  for (size_t page = 3; page < PAGES; page += 300) memset(from + page * PAGE + page % 100, 0x5A, 2000);
  from[bytes - 1] = from[bytes] = 7;
  pages_copy(to, from, bytes);
  assert_memory_equal(to, from, bytes);
  assert_int_equal(to[bytes], 0);
  munmap(to, (size_t)PAGES * PAGE);
  to = fresh();
  pages_copy(to, from, bytes); // whose untouched pages have been read by now
  assert_int_equal(mincore(to, (size_t)PAGES * PAGE, there), 0);
  uint32_t count = 0;
  for (uint32_t i = 0; i < PAGES; i++) count += there[i] & 1;
  assert_in_range(count, 1, PAGES / 4);
  munmap(to, (size_t)PAGES * PAGE);
  munmap(from, (size_t)PAGES * PAGE);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(zeroes_what_was_written), cmocka_unit_test(leaves_untouched_pages),
                                     cmocka_unit_test(copies_what_was_written)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
