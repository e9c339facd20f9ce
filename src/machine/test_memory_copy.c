// Device memory copied, hashed and streamed: contents, allocations, what later allocations give; wrong streams.
#include "machine/machine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static Memory *open_memory(uint64_t granule, uint64_t capacity) {
  MemoryOptions options = {.base = GLOBAL_BASE64, .capacity = capacity, .granule = granule};
  Diags diags = {0};
  Memory *memory = memory_new(&options, &diags);
  assert_non_null(memory);
  return memory;
}

static Memory *clone_of(const Memory *memory) {
  Diags diags = {0};
  Memory *clone = memory_clone(memory, &diags);
  assert_non_null(clone);
  return clone;
}

// A history of allocations, releases and writes drawn from a seed.
static void live(Memory *memory, uint64_t seed, int steps) {
  uint64_t held[16] = {0};
  for (int i = 0; i < steps; i++) {
    uint64_t *piece = &held[random_below(random_draw(seed, (uint64_t)i, 0), COUNT_OF(held))];
    uint64_t bytes = 1 + random_below(random_draw(seed, (uint64_t)i, 1), 20000);
    bool heap = piece >= &held[12];
    if (*piece != 0) {
      assert_true(heap ? memory_heap_release(memory, *piece) : memory_release(memory, *piece));
      *piece = 0;
    } else {
      *piece = heap ? memory_heap_alloc(memory, bytes, 1 << 20) : memory_alloc(memory, bytes, 256);
      assert_int_not_equal(*piece, 0);
      uint8_t *at = memory_at(memory, *piece, bytes);
      for (uint64_t k = 0; k < bytes; k++) at[k] = (uint8_t)random_draw(seed, (uint64_t)i, 2 + k);
    }
  }
}

static const uint64_t granules[] = {1, 4096};

static void test_clone(void **state) {
  (void)state;
  for (size_t g = 0; g < COUNT_OF(granules); g++) {
    for (uint64_t seed = 0; seed < 10; seed++) {
      Memory *memory = open_memory(granules[g], 4 << 20);
      live(memory, seed, 61);
      Memory *clone = clone_of(memory);
      assert_int_equal(memory_in_use(clone), memory_in_use(memory));
      assert_true(memory_hash(clone, 7) == memory_hash(memory, 7));
      assert_true(memory_hash(clone, 7) != memory_hash(memory, 8));
      for (int i = 0; i < 20; i++) { // the same future
        uint64_t bytes = 100 + 999 * (uint64_t)i, address = memory_alloc(memory, bytes, 256);
        assert_int_equal(address, memory_alloc(clone, bytes, 256));
        assert_memory_equal(memory_at(memory, address, bytes), memory_at(clone, address, bytes), bytes);
      }
      assert_true(memory_hash(clone, 0) == memory_hash(memory, 0));
      memory_free(memory);
      memory_free(clone);
    }
  }
}

static void test_hash_sees_every_byte(void **state) {
  (void)state;
  Memory *memory = open_memory(1, 1 << 20);
  uint64_t a = memory_alloc(memory, 777, 256), b = memory_alloc(memory, 100, 256);
  uint8_t *bytes = memory_at(memory, a, 777);
  uint64_t hash = memory_hash(memory, 0);
  for (uint32_t i = 0; i < 777 * 8; i += 5) {
    bytes[i / 8] ^= (uint8_t)(1u << i % 8);
    assert_true(memory_hash(memory, 0) != hash);
    bytes[i / 8] ^= (uint8_t)(1u << i % 8);
  }
  assert_true(memory_hash(memory, 0) == hash);
  bytes[777] ^= 1; // between allocations: nobody can see it
  assert_true(memory_hash(memory, 0) == hash);
  assert_true(memory_release(memory, b));
  assert_true(memory_hash(memory, 0) != hash);
  memory_free(memory);
}

static void test_copy_onto_a_used_memory(void **state) {
  (void)state;
  for (size_t g = 0; g < COUNT_OF(granules); g++) {
    Memory *small = open_memory(granules[g], 4 << 20), *large = open_memory(granules[g], 4 << 20);
    live(small, 1, 11);
    live(large, 2, 91);
    Memory *keep = clone_of(large);
    assert_true(memory_copy(large, small));
    assert_true(memory_hash(large, 0) == memory_hash(small, 0));
    uint64_t address = memory_alloc(large, 1 << 20, 256); // reads zero although something else was there
    const uint8_t *bytes = memory_at(large, address, 1 << 20);
    for (uint32_t i = 0; i < 1 << 20; i++) assert_int_equal(bytes[i], 0);
    assert_true(memory_copy(large, keep));
    assert_true(memory_hash(large, 0) == memory_hash(keep, 0));
    Memory *other = open_memory(granules[g], 8 << 20);
    assert_false(memory_copy(other, small));
    memory_free(small);
    memory_free(large);
    memory_free(keep);
    memory_free(other);
  }
}

static void test_registered_host_memory_is_not_copied(void **state) {
  (void)state;
  MemoryOptions options = {.base = GLOBAL_BASE64, .capacity = 1 << 20, .granule = 1, .same_address = true};
  Diags diags = {0};
  Memory *memory = memory_new(&options, &diags);
  static uint8_t bytes[64];
  if (memory == NULL || !memory_register_host(memory, (uint64_t)(uintptr_t)bytes, sizeof bytes)) skip();
  assert_null(memory_clone(memory, &diags));
  assert_int_equal(diags.count, 1);
  diags_free(&diags);
  memory_free(memory);
}

// ---- Streams ---------------------------------------------------------------------------------------
typedef struct Tape {
  Text text;
  size_t at, end;
} Tape;

static bool put(void *context, void *bytes, size_t count) {
  Tape *tape = context;
  text_add_bytes(&tape->text, bytes, count);
  return true;
}

static bool get(void *context, void *bytes, size_t count) {
  Tape *tape = context;
  if (count > tape->end - tape->at) return false;
  memcpy(bytes, tape->text.at + tape->at, count);
  tape->at += count;
  return true;
}

static void test_streams(void **state) {
  (void)state;
  for (size_t g = 0; g < COUNT_OF(granules); g++) {
    Memory *memory = open_memory(granules[g], 4 << 20), *other = open_memory(granules[g], 4 << 20);
    live(memory, 3, 61);
    live(other, 4, 31);
    Tape tape = {0};
    assert_true(memory_save(memory, put, &tape));
    tape.end = tape.text.length;
    assert_true(memory_load(other, get, &tape));
    assert_int_equal(tape.at, tape.end);
    assert_true(memory_hash(other, 0) == memory_hash(memory, 0));
    assert_int_equal(memory_alloc(other, 5000, 256), memory_alloc(memory, 5000, 256));
    assert_int_equal(memory_heap_alloc(other, 50, 1 << 20), memory_heap_alloc(memory, 50, 1 << 20));
    for (size_t end = 0; end < tape.text.length; end += 1 + tape.text.length / 50) {
      tape.at = 0;
      tape.end = end;
      assert_false(memory_load(other, get, &tape));
    }
    for (uint32_t i = 0; i < 400 * 8; i++) { // any bit of the head and of the list of allocations: never outside the memory
      tape.at = 0;
      tape.end = tape.text.length;
      tape.text.at[i / 8] = (char)(tape.text.at[i / 8] ^ 1 << i % 8);
      memory_load(other, get, &tape);
      tape.text.at[i / 8] = (char)(tape.text.at[i / 8] ^ 1 << i % 8);
    }
    text_free(&tape.text);
    memory_free(memory);
    memory_free(other);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_clone),
      cmocka_unit_test(test_hash_sees_every_byte),
      cmocka_unit_test(test_copy_onto_a_used_memory),
      cmocka_unit_test(test_registered_host_memory_is_not_copied),
      cmocka_unit_test(test_streams),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
