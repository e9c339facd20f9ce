// The allocator of device memory: addresses, validity to the byte and by granule, reuse, limits.
#include "machine/test_assembler.h"

static Memory *open_memory(uint64_t granule, bool same_address) {
  MemoryOptions options = {.base = GLOBAL_BASE64, .capacity = 16 << 20, .granule = granule, .same_address = same_address};
  Diags diags = {0};
  Memory *memory = memory_new(&options, &diags);
  diags_free(&diags);
  return memory;
}

static void test_validity_to_the_byte(void **state) {
  (void)state;
  Memory *memory = open_memory(1, false);
  uint64_t a = memory_alloc(memory, 100, 1), b = memory_alloc(memory, 1000, 4096), start, bytes, first, last;
  assert_int_equal(a, GLOBAL_BASE64);
  assert_int_equal(b % 4096, 0);
  assert_true(b >= a + 100 + 256);
  assert_non_null(memory_at(memory, a, 100));
  assert_null(memory_at(memory, a, 101));
  assert_non_null(memory_at(memory, a + 99, 1));
  assert_null(memory_at(memory, a + 100, 1));
  assert_null(memory_at(memory, a - 1, 1));
  assert_null(memory_at(memory, 0, 1));
  assert_null(memory_at(memory, UINT64_MAX, 1));
  assert_null(memory_at(memory, a, UINT64_MAX));
  assert_true(memory_find(memory, b + 999, &start, &bytes));
  assert_int_equal(start, b);
  assert_int_equal(bytes, 1000);
  assert_false(memory_find(memory, b + 1000, &start, &bytes));
  assert_true(memory_range(memory, a + 5, &first, &last));
  assert_int_equal(first, a);
  assert_int_equal(last, a + 100);
  assert_true(memory_near(memory, b - 8, &start, &bytes));
  assert_int_equal(start, b);
  assert_true(memory_near(memory, a + 104, &start, &bytes));
  assert_int_equal(start, a);
  assert_int_equal(memory_in_use(memory), 1100);
  memory_free(memory);
}

static void test_reuse_reads_zero(void **state) {
  (void)state;
  const uint64_t sizes[] = {1, 4096, 3 << 20};
  for (size_t i = 0; i < COUNT_OF(sizes); i++) {
    Memory *memory = open_memory(1, false);
    uint64_t a = memory_alloc(memory, sizes[i], 1);
    memset(memory_at(memory, a, sizes[i]), 0xAB, sizes[i]);
    assert_true(memory_release(memory, a));
    assert_null(memory_at(memory, a, 1));
    assert_false(memory_release(memory, a));
    uint64_t b = memory_alloc(memory, sizes[i], 1);
    assert_int_equal(a, b);
    const uint8_t *bytes = memory_at(memory, b, sizes[i]);
    for (uint64_t k = 0; k < sizes[i]; k++) assert_int_equal(bytes[k], 0);
    memory_free(memory);
  }
}

static void test_holes_are_filled(void **state) {
  (void)state;
  Memory *memory = open_memory(1, false);
  uint64_t at[8];
  for (int i = 0; i < 8; i++) at[i] = memory_alloc(memory, 4096, 1);
  assert_true(memory_release(memory, at[2]));
  assert_true(memory_release(memory, at[3]));
  assert_true(memory_release(memory, at[5]));
  assert_int_equal(memory_alloc(memory, 8192, 1), at[2]); // two freed neighbours are one hole
  assert_int_equal(memory_alloc(memory, 4096, 1), at[5]);
  assert_true(memory_alloc(memory, 4096, 1) > at[7]);
  assert_false(memory_release(memory, at[0] + 1));
  assert_int_equal(memory_alloc(memory, 17 << 20, 1), 0);
  assert_int_equal(memory_alloc(memory, UINT64_MAX, 1), 0);
  uint64_t used = memory_in_use(memory), last = 0;
  for (uint64_t next; (next = memory_alloc(memory, 1 << 20, 1)) != 0; last = next) assert_true(next > last);
  assert_true(memory_in_use(memory) > used + (14 << 20));
  memory_free(memory);
}

// Programs that read a little before their first allocation run on hardware, and with granules as large as its pages.
static void test_room_before_the_first(void **state) {
  (void)state;
  MemoryOptions options = {.base = GLOBAL_BASE64, .capacity = 16 << 20, .granule = 2 << 20, .lead = 65536};
  Memory *memory = memory_new(&options, NULL);
  uint64_t first = memory_alloc(memory, 100, 0);
  assert_non_null(memory_at(memory, first - 2048, 4));
  assert_non_null(memory_at(memory, first + 2048, 4));
  assert_null(memory_at(memory, GLOBAL_BASE64 - 4, 4));
  uint64_t start, bytes;
  assert_false(memory_find(memory, first - 2048, &start, &bytes)); // no allocation
  assert_true(memory_release(memory, first));
  assert_int_equal(memory_alloc(memory, 200, 0), first);
  memory_free(memory);
  options.granule = 1; // to the byte
  memory = memory_new(&options, NULL);
  assert_int_equal(memory_alloc(memory, 100, 0), first);
  assert_null(memory_at(memory, first - 1, 1));
  memory_free(memory);
}

// Where allocations lie does not depend on how accesses are checked, through allocations of all sizes, frees and the heap.
static void test_places_without_checks(void **state) {
  (void)state;
  enum { MOST = 200 };
  static const uint64_t granules[] = {1, 256, 65536, 2 << 20};
  static uint64_t first[MOST];
  for (size_t g = 0; g < COUNT_OF(granules); g++) {
    Memory *memory = open_memory(granules[g], false);
    for (uint64_t i = 0, at[MOST] = {0}; i < MOST; i++) {
      uint64_t number = hash_bytes(&i, sizeof i, 0);
      bool is_heap = i % 3 == 0;
      at[i] =
          is_heap ? memory_heap_alloc(memory, number % 5000, 1 << 20) : memory_alloc(memory, number % 50000, number % 2 == 0 ? 4096 : 1);
      if (g == 0) first[i] = at[i];
      assert_int_equal(at[i], first[i]);
      uint64_t old = i / 2;
      if (i % 4 == 1 && at[old] != 0 && (old % 3 == 0 ? memory_heap_release(memory, at[old]) : memory_release(memory, at[old])))
        at[old] = 0;
    }
    memory_free(memory);
  }
}

static void test_granules(void **state) {
  (void)state;
  Memory *memory = open_memory(65536, false);
  uint64_t a = memory_alloc(memory, 100, 1), first, last;
  assert_non_null(memory_at(memory, a + 60000, 4));
  assert_null(memory_at(memory, a + 65536, 1));
  uint64_t b = memory_alloc(memory, 65536, 65536);
  assert_int_equal(b, a + 65536);
  assert_true(memory_range(memory, a, &first, &last));
  assert_int_equal(first, a);
  assert_int_equal(last, b + 65536);
  assert_true(memory_release(memory, a));
  assert_null(memory_at(memory, a, 1));
  assert_true(memory_range(memory, b + 5, &first, &last));
  assert_int_equal(first, b);
  memory_free(memory);
}

static void test_same_address(void **state) {
  (void)state;
  Memory *memory = open_memory(1, true);
  assert_non_null(memory);
  uint64_t a = memory_alloc(memory, 64, 1);
  assert_int_equal((uintptr_t)memory_at(memory, a, 64), a);
  assert_null(open_memory(1, true)); // taken
  memory_free(memory);
}

static void test_registered_host_memory(void **state) {
  (void)state;
  static uint8_t host[1000];
  uint64_t address = (uintptr_t)host, first, last;
  Memory *apart = open_memory(1, false);
  assert_false(memory_register_host(apart, address, sizeof host)); // device addresses are not host addresses there
  memory_free(apart);
  for (uint64_t granule = 1; granule <= 65536; granule *= 65536) {
    Memory *memory = open_memory(granule, true);
    assert_null(memory_at(memory, address, 1));
    assert_false(memory_register_host(memory, address, 0));
    assert_false(memory_register_host(memory, memory_base(memory) - 8, 16)); // reaches into device memory
    assert_true(memory_register_host(memory, address, sizeof host));
    assert_true(memory_at(memory, address + 999, 1) == host + 999);
    assert_null(memory_at(memory, address + 999, 2)); // to the byte, whatever the granule
    assert_true(memory_range(memory, address + 5, &first, &last));
    assert_int_equal(first, address);
    assert_int_equal(last, address + sizeof host);
    assert_true(memory_unregister_host(memory, address));
    assert_false(memory_unregister_host(memory, address));
    assert_null(memory_at(memory, address, 1));
    memory_free(memory);
  }
}

static void test_heap_limit(void **state) {
  (void)state;
  Memory *memory = open_memory(1, false);
  uint64_t a = memory_heap_alloc(memory, 600, 1000);
  assert_int_not_equal(a, 0);
  assert_int_equal(memory_heap_alloc(memory, 600, 1000), 0);
  assert_int_equal(memory_heap_alloc(memory, 0, 1000), 0);
  assert_false(memory_release(memory, a)); // the heap's, not the host's
  assert_true(memory_heap_release(memory, a));
  assert_false(memory_heap_release(memory, a));
  assert_int_equal(memory_heap_alloc(memory, 1000, 1000), a);
  memory_free(memory);
}

// Random allocations and releases against a list: no overlap, every byte as promised.
static void test_random_against_model(void **state) {
  (void)state;
  enum { PIECES = 40 };
  uint64_t start[PIECES] = {0}, size[PIECES] = {0};
  Memory *memory = open_memory(1, false);
  for (uint64_t turn = 0; turn < 4000; turn++) {
    size_t piece = random_draw(1, turn, 0) % PIECES;
    if (start[piece] != 0) {
      assert_true(memory_release(memory, start[piece]));
      start[piece] = 0;
      continue;
    }
    size[piece] = 1 + random_draw(1, turn, 1) % 20000;
    start[piece] = memory_alloc(memory, size[piece], UINT64_C(1) << random_draw(1, turn, 2) % 13);
    assert_int_not_equal(start[piece], 0);
    for (size_t i = 0; i < PIECES; i++) {
      if (i == piece || start[i] == 0) continue;
      assert_true(start[i] + size[i] + 256 <= start[piece] || start[piece] + size[piece] + 256 <= start[i]);
    }
    assert_non_null(memory_at(memory, start[piece], size[piece]));
    assert_null(memory_at(memory, start[piece] + size[piece], 1));
  }
  memory_free(memory);
}

static void test_marks_of_writes(void **state) {
  (void)state;
  Memory *memory = open_memory(65536, false);
  assert_true(memory_track(memory));
  uint64_t a = memory_alloc(memory, 3 << 20, 1), b = memory_alloc(memory, 100, 1);
  assert_false(memory_was_written(memory, a, 1));
  memory_note_write(memory, a + 10, 100);
  assert_true(memory_was_written(memory, a + 10, 100));
  assert_false(memory_was_written(memory, a + 9, 2));
  assert_false(memory_was_written(memory, a + 109, 2));
  memory_note_copy(memory, b, a + 60, 100); // half of it was written
  assert_true(memory_was_written(memory, b, 50));
  assert_false(memory_was_written(memory, b + 50, 1));
  memory_note_copy(memory, b, 0x1234, 100); // from the host
  assert_true(memory_was_written(memory, b, 100));
  memory_note_write(memory, UINT64_MAX - 5, 10); // outside: nothing happens
  memory_note_write(memory, a, 3 << 20);
  assert_true(memory_release(memory, a));
  assert_int_equal(memory_alloc(memory, 3 << 20, 1), a);
  assert_false(memory_was_written(memory, a, 1));
  assert_false(memory_was_written(memory, a + (3 << 20) - 1, 1));
  uint64_t heap = memory_heap_alloc(memory, 64, 1000);
  assert_false(memory_was_written(memory, heap, 64));
  memory_free(memory);
  memory = open_memory(1, false); // nobody asked
  a = memory_alloc(memory, 64, 1);
  memory_note_write(memory, a, 8);
  assert_true(memory_was_written(memory, a, 64));
  memory_free(memory);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_validity_to_the_byte),   cmocka_unit_test(test_reuse_reads_zero), cmocka_unit_test(test_holes_are_filled),
      cmocka_unit_test(test_places_without_checks),  cmocka_unit_test(test_granules),         cmocka_unit_test(test_room_before_the_first),
      cmocka_unit_test(test_same_address),           cmocka_unit_test(test_heap_limit),       cmocka_unit_test(test_random_against_model),
      cmocka_unit_test(test_registered_host_memory), cmocka_unit_test(test_marks_of_writes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
