// Caches at N-1 and N lines of a set, byte masks against a byte-by-byte model, miss registers, and any bits in all of them.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "machine/parts/cache.h"
#include "machine/parts/packet.h"

static const ByteMask whole = {{UINT64_MAX, UINT64_MAX}};

static ByteMask random_mask(uint64_t seed, uint64_t index) {
  ByteMask mask = {{random_draw(seed, index, 0), random_draw(seed, index, 1)}};
  if (index % 3 == 1) mask = bytes_or(mask, (ByteMask){{random_draw(seed, index, 2), random_draw(seed, index, 3)}});
  if (index % 3 == 2) mask = bytes_from((uint32_t)random_draw(seed, index, 2) % 128, (uint32_t)random_draw(seed, index, 3) % 200);
  return mask;
}

static bool has_byte(ByteMask mask, uint32_t i) { return (mask.half[i / 64] >> i % 64 & 1) != 0; }

static void masks_agree_with_bytes(void **state) {
  (void)state;
  for (uint64_t n = 0; n < 3000; n++) {
    ByteMask mask = random_mask(1, n);
    uint8_t from[LINE_BYTES], to[LINE_BYTES];
    for (uint32_t i = 0; i < LINE_BYTES; i++) {
      from[i] = (uint8_t)(i + 1);
      to[i] = 0;
    }
    bytes_copy(to, from, mask);
    uint32_t count = 0, any = 0, all = UINT32_MAX;
    for (uint32_t i = 0; i < LINE_BYTES; i++) {
      bool set = has_byte(mask, i);
      count += set ? 1 : 0;
      any |= (set ? 1u : 0u) << i / 4;
      if (!set) all &= ~(1u << i / 4);
      assert_int_equal(to[i], set ? i + 1 : 0);
    }
    assert_int_equal(bytes_count(mask), count);
    assert_int_equal(bytes_words_any(mask), any);
    assert_int_equal(bytes_words_all(mask), all);
  }
}

static void ranges_are_clipped(void **state) {
  (void)state;
  for (uint32_t first = 0; first < 130; first++) {
    for (uint32_t count = 0; count < 132; count++) {
      ByteMask mask = bytes_from(first, count);
      for (uint32_t i = 0; i < LINE_BYTES; i++) assert_int_equal(has_byte(mask, i), i >= first && i < first + count);
    }
  }
}

enum { MOST_LINES = 64 };
typedef struct Toy {
  CacheShape shape;
  CacheTag tags[MOST_LINES];
  CacheLine lines[MOST_LINES];
  CacheData data[MOST_LINES];
  uint64_t misses;
} Toy;

static Cache cache_in(Toy *toy) { return (Cache){&toy->shape, toy->tags, toy->lines, toy->data}; }

static void toy_access(Toy *toy, uint64_t address) {
  Cache cache = cache_in(toy);
  uint32_t index;
  if (cache_find(&cache, address, bytes_from(0, toy->shape.line_bytes), &index) != CACHE_HIT) {
    toy->misses++;
    index = cache_victim(&cache, address);
    cache_begin(&cache, index, address);
    cache_hold(&cache, index, bytes_from(0, toy->shape.line_bytes));
  }
  cache_touch(&cache, index);
  assert_int_equal(cache_line_address(&cache, index), address / toy->shape.line_bytes * toy->shape.line_bytes);
}

// Cycling through as many lines of one set as it has ways misses once each; one more line and least recently used never hits.
static void misses_at_n_and_n_plus_1(void **state) {
  (void)state;
  const CacheShape shapes[] = {{8, 4, 128, 128}, {6, 4, 128, 32}, {1, 16, 128, 1}, {16, 1, 64, 64}, {3, 7, 32, 32}};
  for (uint32_t s = 0; s < COUNT_OF(shapes); s++) {
    for (uint32_t extra = 0; extra < 2; extra++) {
      Toy toy = {.shape = shapes[s]};
      uint32_t distinct = shapes[s].ways + extra, rounds = 10;
      for (uint32_t r = 0; r < rounds; r++) {
        for (uint32_t i = 0; i < distinct; i++)
          toy_access(&toy, (uint64_t)(i * shapes[s].sets + 2 % shapes[s].sets) * shapes[s].line_bytes);
      }
      assert_int_equal(toy.misses, extra == 0 ? distinct : distinct * rounds);
    }
  }
}

static void whole_cache_holds_its_lines(void **state) {
  (void)state;
  Toy toy = {.shape = cache_shape(6 * 4 * 128, 4, 128, 32)};
  assert_int_equal(cache_lines(&toy.shape), 24);
  for (uint32_t r = 0; r < 3; r++) {
    for (uint64_t i = 0; i < 24; i++) toy_access(&toy, 0x10000 + i * 128 + i % 128);
  }
  assert_int_equal(toy.misses, 24);
}

static void shapes_and_tags(void **state) {
  (void)state;
  CacheShape none = cache_shape(0, 4, 128, 128);
  uint32_t index = 7;
  assert_int_equal(cache_lines(&none), 0);
  assert_int_equal(cache_find(&(Cache){.shape = &none}, 0, whole, &index), CACHE_MISS);
  CacheShape shape = cache_shape(16384, 4, 128, 128); // 32 sets
  assert_int_equal(shape.sets, 32);
  assert_int_equal(cache_tag_bits(&shape, PHYSICAL_BITS), 50 - 7 - 5);
  CacheShape odd = cache_shape(12288, 24, 128, 128); // 4 sets
  assert_int_equal(odd.sets, 4);
  CacheShape small = cache_shape(256, 32, 128, 128); // fewer lines than ways
  assert_int_equal(small.ways, 2);
  assert_int_equal(small.sets, 1);
}

// A byte is there if its sector is valid or it is dirty; a sector of which all bytes have come is valid.
static void partial_lines(void **state) {
  (void)state;
  static const struct {
    uint32_t sector, first, count, valid; // a run of bytes comes; valid bits that it makes
    bool dirty;
    uint32_t there; // bytes
  } cases[] = {{32, 32, 32, 1, false, 32},  {32, 40, 24, 0, false, 0},    {32, 40, 24, 0, true, 24},  {32, 31, 34, 1, true, 34},
               {32, 0, 128, 4, false, 128}, {64, 64, 64, 1, false, 64},   {64, 0, 127, 1, true, 127}, {128, 0, 127, 0, false, 0},
               {128, 0, 127, 0, true, 127}, {128, 0, 128, 1, false, 128}, {1, 5, 7, 7, false, 7}};
  for (uint32_t i = 0; i < COUNT_OF(cases); i++) {
    Toy toy = {.shape = {4, 2, 128, cases[i].sector}};
    Cache cache = cache_in(&toy);
    uint32_t index = cache_victim(&cache, 512), found;
    ByteMask bytes = bytes_from(cases[i].first, cases[i].count);
    cache_begin(&cache, index, 512);
    if (cases[i].dirty) toy.lines[index].dirty = bytes;
    cache_hold(&cache, index, bytes);
    assert_int_equal(bytes_count(toy.lines[index].valid), cases[i].valid);
    ByteMask there = cache_bytes(&toy.shape, &toy.lines[index]);
    assert_int_equal(bytes_count(there), cases[i].there);
    assert_true(bytes_cover(bytes, there));
    CacheFind expected = cases[i].there == 0 ? CACHE_MISS : cases[i].there == cases[i].count ? CACHE_HIT : CACHE_PARTIAL;
    assert_int_equal(cache_find(&cache, 512 + 40, bytes, &found), expected);
    if (cases[i].there > 0)
      assert_int_equal(cache_find(&cache, 512, bytes_from(127, 1), &found), has_byte(there, 127) ? CACHE_HIT : CACHE_PARTIAL);
    assert_int_equal(cache_find(&cache, 1024, bytes, &found), CACHE_MISS);
  }
}

// The rest of a sector that was written in part makes it whole, and it stays when nothing is dirty any more.
static void sectors_become_whole(void **state) {
  (void)state;
  Toy toy = {.shape = {4, 2, 128, 32}};
  Cache cache = cache_in(&toy);
  toy.lines[0].dirty = bytes_from(40, 8);
  cache_hold(&cache, 0, bytes_from(40, 8));
  cache_hold(&cache, 0, bytes_but(bytes_from(32, 32), toy.lines[0].dirty));
  toy.lines[0].dirty = (ByteMask){{0, 0}};
  assert_int_equal(bytes_count(cache_bytes(&toy.shape, &toy.lines[0])), 32);
}

// What was in the place of a line is there again if a flip makes it valid: its tag and its data.
static void lines_begin_without_bytes(void **state) {
  (void)state;
  Toy toy = {.shape = {4, 2, 128, 128}};
  Cache cache = cache_in(&toy);
  uint32_t found;
  memset(&toy.data[3], 0x5A, sizeof toy.data[3]);
  toy.lines[3] = (CacheLine){.order = 1, .valid = {{1, 0}}, .dirty = whole};
  cache_begin(&cache, 3, 0x1280);
  assert_int_equal(cache_line_address(&cache, 3), 0x1280);
  assert_int_equal(toy.lines[3].order, 1);
  assert_false(cache_line_valid(&toy.lines[3]));
  assert_int_equal(cache_find(&cache, 0x1280, whole, &found), CACHE_MISS);
  toy.lines[3].valid.half[0] ^= 1;
  assert_int_equal(cache_find(&cache, 0x1280, whole, &found), CACHE_HIT);
  assert_int_equal(toy.data[3].word[31], 0x5A5A5A5A);
  cache_empty(&toy.lines[3]);
  assert_int_equal(toy.lines[3].order, 1);
  assert_int_equal(cache_find(&cache, 0x1280, whole, &found), CACHE_MISS);
}

// Any flip of the order leaves an order: places within the bits that there are, and a way that is not the last used as victim. Without a flip it
// is that of use, as a list would keep it.
static void any_order_is_legal(void **state) {
  (void)state;
  const uint32_t ways[] = {2, 3, 4, 7, 8, 16, 24};
  for (uint32_t w = 0; w < COUNT_OF(ways); w++) {
    for (uint32_t flips = 0; flips < 2; flips++) {
      Toy toy = {.shape = {1, ways[w], 128, 128}};
      Cache cache = cache_in(&toy);
      uint32_t bits = cache_order_bits(&toy.shape), last[MOST_LINES] = {0};
      assert_true(1u << bits >= ways[w] && (ways[w] <= 2 || 1u << (bits - 1) < ways[w]));
      for (uint32_t i = 0; i < ways[w]; i++) toy_access(&toy, (uint64_t)i * 128), last[i] = i + 1;
      for (uint32_t n = 0; n < 500; n++) {
        uint32_t used = (uint32_t)random_draw(8, n, 0) % ways[w];
        if (flips != 0) toy.lines[random_draw(8, n, 1) % ways[w]].order ^= 1u << random_draw(8, n, 2) % bits;
        cache_touch(&cache, used);
        last[used] = ways[w] + n + 1;
        uint32_t victim = cache_victim(&cache, 1u << 20), oldest = 0;
        for (uint32_t i = 0; i < ways[w]; i++) {
          assert_true(toy.lines[i].order >> bits == 0);
          if (last[i] < last[oldest]) oldest = i;
        }
        assert_true(victim < ways[w]);
        if (flips == 0) assert_int_equal(victim, oldest);
      }
    }
  }
}

// A pinned line is no victim, valid or not, until all are pinned.
static void pinned_lines_stay(void **state) {
  (void)state;
  Toy toy = {.shape = {1, 3, 128, 128}};
  Cache cache = cache_in(&toy);
  toy.lines[0].pinned = 1; // reserved, still without data
  assert_int_equal(cache_victim(&cache, 0), 1);
  for (uint32_t i = 1; i < 3; i++) {
    cache_begin(&cache, i, i * 128);
    cache_hold(&cache, i, whole);
    cache_touch(&cache, i);
  }
  toy.lines[1].pinned = 1;
  assert_int_equal(cache_victim(&cache, 0), 2);
  toy.lines[2].pinned = 1;
  assert_int_equal(toy.lines[cache_victim(&cache, 0)].pinned, 1);
}

enum { MOST_REGISTERS = 70 };
typedef struct Registers {
  MshrLine lines[MOST_REGISTERS + MSHRS_BEHIND];
  MshrUse use;
  Mshr registers[MOST_REGISTERS];
} Registers;

static Mshrs registers_in(Registers *own, uint32_t count) { return (Mshrs){row_functions(), own->lines, own->registers, &own->use, count}; }

// A register without a waiter takes waiters like any other.
static void registers_without_a_waiter(void **state) {
  (void)state;
  Registers own = {0};
  Mshrs mshrs = registers_in(&own, 2);
  uint32_t index;
  assert_int_equal(mshr_prefetch(&mshrs, 0x1000, whole, &index), MSHR_NEW);
  assert_int_equal(index, 0);
  assert_int_equal(own.registers[0].prefetch, 1);
  assert_int_equal(mshr_waiters(&own.registers[0]), 0);
  assert_int_equal(mshr_prefetch(&mshrs, 0x1000, bytes_from(0, 32), &index), MSHR_JOINED); // under way
  assert_int_equal(mshr_waiters(&own.registers[0]), 0);
  assert_int_equal(mshr_want(&mshrs, 3, 0x1000, bytes_from(8, 4), 10, &index), MSHR_JOINED);
  assert_int_equal(own.registers[0].waiter[0], 10);
  assert_int_equal(mshr_want(&mshrs, 3, 0x2000, whole, 11, &index), MSHR_NEW);
  assert_int_equal(own.registers[1].prefetch, 0);
  assert_int_equal(mshr_prefetch(&mshrs, 0x2000, whole, &index), MSHR_JOINED);
  assert_int_equal(mshr_prefetch(&mshrs, 0x3000, whole, &index), MSHR_FULL);
}

static void miss_registers(void **state) {
  (void)state;
  Registers own = {0};
  Mshrs mshrs = registers_in(&own, 2);
  uint32_t index;
  ByteMask low = bytes_from(0, 32), high = bytes_from(64, 32);
  assert_int_equal(mshr_want(&mshrs, 3, 0x1000, low, 10, &index), MSHR_NEW);
  assert_int_equal(index, 0);
  assert_int_equal(mshr_want(&mshrs, 3, 0x1000, bytes_from(4, 4), 11, &index), MSHR_JOINED);
  assert_int_equal(mshr_want(&mshrs, 3, 0x1000, low, 12, &index), MSHR_JOINED); // N waiters
  assert_int_equal(mshr_want(&mshrs, 3, 0x1000, low, 13, &index), MSHR_FULL);   // N + 1
  assert_int_equal(mshr_waiters(&own.registers[0]), 3);
  assert_int_equal(own.registers[0].waiter[0], 10);
  assert_int_equal(own.registers[0].waiter[2], 12);
  assert_int_equal(mshr_want(&mshrs, 3, 0x1000, high, 14, &index), MSHR_NEW); // bytes that nobody has asked for
  assert_int_equal(index, 1);
  assert_int_equal(mshr_in_use(&mshrs), 2);
  assert_int_equal(mshr_want(&mshrs, 3, 0x2000, low, 15, &index), MSHR_FULL); // no register left
  mshr_mark_stale(&mshrs, 0x1000);
  mshr_end(&mshrs, 1);
  assert_int_equal(mshr_want(&mshrs, 3, 0x1000, low, 16, &index), MSHR_NEW); // stale: not merged with
  assert_int_equal(index, 1);
  assert_int_equal(own.registers[0].stale, 1);
  assert_int_equal(own.registers[1].stale, 0);
}

// Beyond 32 and 64 registers, the first that fits is taken, whatever lies behind the last.
static void many_registers(void **state) {
  (void)state;
  Registers own = {0};
  Mshrs mshrs = registers_in(&own, MOST_REGISTERS);
  uint32_t index;
  for (uint32_t i = MOST_REGISTERS; i < COUNT_OF(own.lines); i++) own.lines[i].address = 0x80; // not theirs
  for (uint32_t i = 0; i < MOST_REGISTERS; i++) {
    assert_int_equal(mshr_want(&mshrs, 4, (uint64_t)i * 128, whole, i, &index), MSHR_NEW);
    assert_int_equal(index, i);
    assert_int_equal(mshr_of_line(&mshrs, (uint64_t)i * 128), i);
  }
  assert_int_equal(mshr_want(&mshrs, 4, MOST_REGISTERS * 128, whole, 0, &index), MSHR_FULL);
  assert_true(mshr_open(&mshrs) >= MOST_REGISTERS);
  assert_true(mshr_of_line(&mshrs, MOST_REGISTERS * 128) >= MOST_REGISTERS);
  const uint32_t free[] = {69, 64, 63, 32, 31};
  for (uint32_t i = 0; i < COUNT_OF(free); i++) {
    mshr_end(&mshrs, free[i]);
    assert_int_equal(mshr_open(&mshrs), free[i]);
    assert_false(mshr_valid(&mshrs, free[i]));
    assert_true(mshr_of_line(&mshrs, (uint64_t)free[i] * 128) >= MOST_REGISTERS);
    own.lines[free[i]].address = (uint64_t)free[i] * 128; // as a fault may leave it: not in use all the same
    assert_false(mshr_join_only(&mshrs, 4, (uint64_t)free[i] * 128, whole, 0, &index));
  }
  assert_int_equal(mshr_in_use(&mshrs), MOST_REGISTERS - COUNT_OF(free));
  mshr_mark_stale(&mshrs, 68 * 128);
  assert_int_equal(own.registers[68].stale, 1);
  assert_int_equal(mshr_want(&mshrs, 4, 68 * 128, whole, 0, &index), MSHR_NEW);
  assert_int_equal(index, 31);
}

// Any bits are legal: indices stay inside, nothing loops.
static void any_bits_are_legal(void **state) {
  (void)state;
  Toy toy = {.shape = {5, 3, 128, 32}};
  Cache cache = cache_in(&toy);
  Registers own;
  Mshrs mshrs = registers_in(&own, 4);
  for (uint64_t n = 0; n < 2000; n++) {
    uint64_t *words = (uint64_t *)(void *)toy.lines;
    for (size_t i = 0; i < 15 * sizeof(CacheLine) / 8; i++) words[i] = random_draw(2, n, i);
    uint64_t *registers = (uint64_t *)(void *)&own;
    for (size_t i = 0; i < sizeof own / 8; i++) registers[i] = random_draw(3, n, i);
    own.use = (MshrUse){{random_draw(7, n, 0) & 0xF}}; // no cell
    for (size_t i = 0; i < 15; i++) toy.tags[i].tag = random_draw(6, n, i);
    uint64_t address = random_draw(4, n, 0);
    uint32_t index = 0;
    if (n % 2 == 0) toy.tags[n % 15].tag = cache_tag(&toy.shape, address);
    (void)cache_find(&cache, address, random_mask(5, n), &index);
    assert_true(index < 15);
    assert_true(cache_victim(&cache, address) < 15);
    (void)cache_line_address(&cache, (uint32_t)(n % 15));
    if (n % 2 == 0) own.lines[n % 4].address = address;
    index = 0;
    (void)mshr_want(&mshrs, MSHR_MOST_WAITERS, address, bytes_from(0, 4), 1, &index);
    assert_true(index < 4);
    mshr_mark_stale(&mshrs, address);
    assert_true(mshr_in_use(&mshrs) <= 4);
  }
}

enum { ROOM = 3 };
static void queues(void **state) {
  (void)state;
  Packet items[ROOM] = {0};
  PacketQueue queue = {0};
  assert_null(packet_queue_front(&queue, items, ROOM));
  for (uint16_t i = 0; i < 10; i++) {
    packet_queue_push(&queue, items, ROOM)->tag = i;
    packet_queue_push(&queue, items, ROOM)->tag = (uint16_t)(i + 100);
    assert_false(packet_queue_full(&queue, ROOM));
    packet_queue_push(&queue, items, ROOM)->tag = (uint16_t)(i + 200);
    assert_true(packet_queue_full(&queue, ROOM));
    assert_null(packet_queue_push(&queue, items, ROOM));
    for (uint16_t k = 0; k < 3; k++) {
      assert_int_equal(packet_queue_front(&queue, items, ROOM)->tag, i + 100 * k);
      packet_queue_pop(&queue, items, ROOM);
      if (k == 1) packet_queue_push(&queue, items, ROOM)->tag = 7;
    }
    assert_int_equal(packet_queue_front(&queue, items, ROOM)->tag, 7);
    packet_queue_pop(&queue, items, ROOM);
    assert_true(packet_queue_empty(&queue));
    const Packet zero[ROOM] = {0};
    assert_memory_equal(items, zero, sizeof items);
    assert_int_equal(queue.head, 0);
  }
  for (uint64_t n = 0; n < 1000; n++) { // any bits
    queue = (PacketQueue){(uint32_t)random_draw(6, n, 0), (uint32_t)random_draw(6, n, 1)};
    Packet *front = packet_queue_front(&queue, items, ROOM);
    assert_true(front >= items && front < items + ROOM);
    assert_null(packet_queue_push(&queue, items, ROOM));
    packet_queue_pop(&queue, items, ROOM);
    assert_true(queue.count < ROOM);
    Packet *to = packet_queue_push(&queue, items, ROOM);
    assert_true(to >= items && to < items + ROOM);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(masks_agree_with_bytes),      cmocka_unit_test(ranges_are_clipped), cmocka_unit_test(misses_at_n_and_n_plus_1),
      cmocka_unit_test(whole_cache_holds_its_lines), cmocka_unit_test(shapes_and_tags),    cmocka_unit_test(partial_lines),
      cmocka_unit_test(sectors_become_whole),        cmocka_unit_test(any_order_is_legal), cmocka_unit_test(lines_begin_without_bytes),
      cmocka_unit_test(pinned_lines_stay),           cmocka_unit_test(miss_registers),     cmocka_unit_test(many_registers),
      cmocka_unit_test(registers_without_a_waiter),  cmocka_unit_test(any_bits_are_legal), cmocka_unit_test(queues),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
