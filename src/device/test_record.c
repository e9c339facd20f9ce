// Launch records: what is packed comes out again; bytes that are cut off or damaged are refused without harm.
#include "device/record.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

static LaunchRecord sample(uint32_t index) {
  LaunchRecord launch = {.kernel = index % 2 == 0 ? "even" : "a_longer_name", .grid = {index + 1, 2, 3}, .block = {64, 1, 1}};
  for (int i = 0; i < STAT_COUNT; i++) launch.stats.value[i] = (uint64_t)index << 33 | (uint64_t)i;
  launch.host_seconds = 0.5 * index;
  if (index % 3 == 2) {
    launch.trap = (Trap){.kind = TRAP_ILLEGAL_ADDRESS, .kernel = launch.kernel, .line = 17 + index, .address = 0x40};
    snprintf(launch.trap.note, sizeof launch.trap.note, "note %u", index);
  }
  return launch;
}

static void pack_all(Text *bytes, uint32_t count) {
  record_pack_greeting(bytes);
  for (uint32_t i = 0; i < count; i++) {
    LaunchRecord launch = sample(i);
    record_pack_launch(&launch, bytes);
  }
}

static void records_come_back(void **state) {
  (void)state;
  enum { COUNT = 10 };
  Text bytes = {0};
  pack_all(&bytes, COUNT);
  Arena *arena = arena_new();
  RecordReading reading = {0};
  assert_true(record_unpack(bytes.at, bytes.length, arena, &reading));
  assert_int_equal(reading.greetings, 1);
  assert_int_equal(reading.launches.count, COUNT);
  for (uint32_t i = 0; i < COUNT; i++) {
    LaunchRecord wanted = sample(i), *got = &reading.launches.items[i];
    assert_string_equal(got->kernel, wanted.kernel);
    assert_memory_equal(got->grid, wanted.grid, sizeof wanted.grid);
    assert_memory_equal(got->block, wanted.block, sizeof wanted.block);
    assert_memory_equal(&got->stats, &wanted.stats, sizeof wanted.stats);
    assert_true(got->host_seconds == wanted.host_seconds);
    assert_int_equal(got->trap.kind, wanted.trap.kind);
    assert_int_equal(got->trap.line, wanted.trap.line);
    assert_string_equal(got->trap.note, wanted.trap.note);
    assert_null(got->trap.kernel);
  }
  arena_free(arena);
  text_free(&bytes);
}

static void damage_is_refused(void **state) {
  (void)state;
  Text bytes = {0};
  pack_all(&bytes, 3);
  for (size_t cut = 0; cut <= bytes.length; cut++) {
    char *copy = malloc(cut == 0 ? 1 : cut);
    assert_non_null(copy);
    memcpy(copy, bytes.at, cut);
    Arena *arena = arena_new();
    RecordReading reading = {0};
    bool whole = record_unpack(copy, cut, arena, &reading);
    if (cut == bytes.length) assert_true(whole);
    if (!whole) assert_true(reading.launches.count < 3);
    arena_free(arena);
    free(copy);
  }
  for (uint64_t flip = 0; flip < 2000; flip++) {
    Arena *arena = arena_new();
    RecordReading reading = {0};
    uint64_t bit = random_below(random_draw(9, flip, 0), 8 * bytes.length);
    bytes.at[bit / 8] = (char)(bytes.at[bit / 8] ^ (1 << bit % 8));
    record_unpack(bytes.at, bytes.length, arena, &reading);
    bytes.at[bit / 8] = (char)(bytes.at[bit / 8] ^ (1 << bit % 8));
    arena_free(arena);
  }
  text_free(&bytes);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(records_come_back), cmocka_unit_test(damage_is_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
