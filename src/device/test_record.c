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
  if (index % 2 == 1) snprintf(launch.note, sizeof launch.note, "not covered %u", index);
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

static void failures_come_back(void **state) {
  (void)state;
  Text bytes = {0};
  uint32_t refusal[] = {RECORD_REFUSAL, 0};
  pack_all(&bytes, 1);
  record_pack_failure(4, &bytes);
  text_add_bytes(&bytes, refusal, sizeof refusal);
  Arena *arena = arena_new();
  RecordReading reading = {0};
  assert_true(record_unpack(bytes.at, bytes.length, arena, &reading));
  assert_int_equal(reading.failure, 4);
  assert_int_equal(reading.refusals, 1);
  arena_free(arena);
  text_free(&bytes);
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
    assert_string_equal(got->note, wanted.note);
    assert_int_equal(got->trap.kind, wanted.trap.kind);
    assert_int_equal(got->trap.line, wanted.trap.line);
    assert_string_equal(got->trap.note, wanted.trap.note);
    assert_null(got->trap.kernel);
  }
  arena_free(arena);
  text_free(&bytes);
}

static MemoryFinding sample_finding(uint32_t index, uint64_t accesses) {
  return (MemoryFinding){.kind = FINDING_WRITE_OUTSIDE,
                         .space = SPACE_GLOBAL,
                         .kernel = index == 0 ? "first" : "another",
                         .file = index == 0 ? NULL : "file.ptx",
                         .line = 10 + index,
                         .accesses = accesses,
                         .address = 0x1234};
}

// A finding is sent after every launch that adds to it: the last word counts. Processes number their own.
static void findings_come_back(void **state) {
  (void)state;
  Text bytes = {0};
  record_pack_greeting(&bytes);
  const uint32_t sent[][3] = {{7, 0, 5}, {7, 1, 6}, {8, 0, 1}, {7, 0, 50}}; // process, number, accesses
  for (uint32_t i = 0; i < COUNT_OF(sent); i++) {
    MemoryFinding finding = sample_finding(sent[i][1], sent[i][2]);
    record_pack_finding(sent[i][0], sent[i][1], &finding, &bytes);
  }
  Arena *arena = arena_new();
  RecordReading reading = {0};
  assert_true(record_unpack(bytes.at, bytes.length, arena, &reading));
  assert_int_equal(reading.findings.count, 3);
  const MemoryFinding *found = reading.findings.items;
  assert_int_equal(found[0].accesses, 50);
  assert_int_equal(found[1].accesses, 6);
  assert_int_equal(found[2].accesses, 1);
  assert_string_equal(found[0].kernel, "first");
  assert_string_equal(found[0].file, "");
  assert_string_equal(found[1].kernel, "another");
  assert_string_equal(found[1].file, "file.ptx");
  assert_int_equal(found[1].line, 11);
  arena_free(arena);
  text_free(&bytes);
}

static void damage_is_refused(void **state) {
  (void)state;
  Text bytes = {0};
  MemoryFinding finding = sample_finding(1, 1);
  record_pack_finding(1, 1, &finding, &bytes);
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
  const struct CMUnitTest tests[] = {cmocka_unit_test(failures_come_back), cmocka_unit_test(records_come_back),
                                     cmocka_unit_test(findings_come_back), cmocka_unit_test(damage_is_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
