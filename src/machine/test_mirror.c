// Whatever is written on either side, a copy makes both equal; and where the kernel helps, only what was written is copied.
#include "machine/mirror.h"
#include "machine/snapshot.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <cmocka.h>

enum { PAGES = 3000, BYTES = PAGES * MIRROR_PAGE, ROUNDS = 40 };

static uint8_t *open_stretch(void) {
  void *at = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_true(at != MAP_FAILED);
  return at;
}

static void scribble(uint8_t *at, uint64_t seed, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) at[random_below(random_draw(seed, i, 0), BYTES)] ^= (uint8_t)(1 + random_draw(seed, i, 1) % 255);
}

static bool make_equal(Mirror *mirror, uint8_t *to, const uint8_t *from) {
  if (mirror_copy(mirror)) return true;
  pages_copy(to, from, BYTES);
  mirror_start(mirror);
  return false;
}

// What is known of pages says the same as the pages themselves, hashes that were kept included.
static void assert_known(Mirror *mirror, const uint8_t *to) {
  static const uint8_t zeros[MIRROR_PAGE];
  static const RegionTable table = {NULL, 0, BYTES};
  static const ByteRange all = {0, BYTES};
  static const StateLayout layout = {.regions = &table, .hashed = &all, .hashed_count = 1};
  WatchedPages pages;
  if (!mirror_pages(mirror, &pages)) return;
  for (uint32_t page = 0; page < PAGES; page++) {
    bool is_zero = memcmp(to + (size_t)page * MIRROR_PAGE, zeros, MIRROR_PAGE) == 0;
    assert_true(is_zero || page_is_in(pages.touched, page));
  }
  uint64_t hash = state_hash(&layout, to, NULL);
  for (uint32_t i = 0; i < 2; i++) assert_int_equal(state_hash(&layout, to, &pages), hash);
}

static void test_copies(void **state) {
  (void)state;
  uint8_t *to = open_stretch(), *from = open_stretch();
  scribble(from, 99, 500);
  Mirror *mirror = mirror_new(to, from, BYTES);
  assert_false(make_equal(mirror, to, from));
  bool is_told = false;
  for (uint32_t i = 0; i < ROUNDS; i++) {
    uint32_t count = i % 7 * 30;
    scribble(to, 2 * i, count);
    scribble(from, 2 * i + 1, count);
    assert_known(mirror, to);
    is_told = make_equal(mirror, to, from);
    if (i % 3 == 0) assert_known(mirror, to);
    assert_memory_equal(to, from, BYTES);
    assert_true(mirror_copied(mirror) <= (size_t)2 * count * MIRROR_PIECE);
  }
  print_message("%s\n", is_told ? "the kernel tells what has changed" : "everything is copied");
  mirror_free(mirror);
  munmap(to, BYTES);
  munmap(from, BYTES);
}

// Pages that are written again and again are no longer watched, until nothing in them differs any more: what is known stays right all the while.
static void test_hot_pages(void **state) {
  (void)state;
  uint8_t *to = open_stretch(), *from = open_stretch();
  Mirror *mirror = mirror_new(to, from, BYTES);
  make_equal(mirror, to, from);
  for (uint32_t i = 0; i < 3 * ROUNDS; i++) {
    for (size_t page = 0; page < 200; page++) { // the same ones for a while, then others
      size_t at = (page * 3 + i / ROUNDS * 100) % PAGES * MIRROR_PAGE + i;
      (page % 2 == 0 ? to : from)[at] = (uint8_t)(i + 1);
      if (page % 4 == 0) from[at] = to[at]; // alike
    }
    if (i % 2 == 0) assert_known(mirror, to);
    scribble(i % 3 == 0 ? from : to, i, 3);
    assert_known(mirror, to);
    make_equal(mirror, to, from);
    assert_memory_equal(to, from, BYTES);
    if (i % 5 == 0) assert_known(mirror, to);
  }
  mirror_free(mirror);
  munmap(to, BYTES);
  munmap(from, BYTES);
}

// Two mirrors of one original: the second has to do without help.
static void test_two_mirrors(void **state) {
  (void)state;
  uint8_t *first = open_stretch(), *second = open_stretch(), *from = open_stretch();
  Mirror *one = mirror_new(first, from, BYTES), *other = mirror_new(second, from, BYTES);
  assert_true(mirror_is_of(one, first, from, BYTES) && !mirror_is_of(one, second, from, BYTES) && !mirror_is_of(NULL, first, from, BYTES));
  for (uint32_t i = 0; i < 6; i++) {
    scribble(from, i, 50);
    scribble(first, 10 + i, 50);
    scribble(second, 20 + i, 50);
    make_equal(i % 2 == 0 ? one : other, i % 2 == 0 ? first : second, from);
    assert_memory_equal(i % 2 == 0 ? first : second, from, BYTES);
  }
  mirror_free(one);
  scribble(from, 31, 50);
  make_equal(other, second, from);
  assert_memory_equal(second, from, BYTES);
  mirror_free(other);
  munmap(first, BYTES);
  munmap(second, BYTES);
  munmap(from, BYTES);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_copies), cmocka_unit_test(test_hot_pages), cmocka_unit_test(test_two_mirrors)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
