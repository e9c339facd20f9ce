// The machine against runs of the RTL, to the nanosecond and to the bit; its state as one block of named cells.
#include "machine/g80/g80.h"
#include "machine/g80/test_vectors.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

enum { RESULTS_AT = 0x1000, FAR_CYCLE = 10000000 };

static SassProgram program_of(const uint32_t *words, uint32_t count) {
  return (SassProgram){.name = "test", .words = words, .count = count};
}

static G80Machine *make(const Spec *spec, const SassProgram *program, const G80Launch *launch) {
  Diags diags = {0};
  G80Machine *machine = g80_new(spec, program, launch, &diags);
  assert_int_equal(diags.count, 0);
  diags_free(&diags);
  assert_non_null(machine);
  return machine;
}

static G80Machine *make_rtl_run(const RtlRun *run) {
  Spec spec;
  spec_default(&spec);
  SassProgram program = program_of(run->words, run->word_count);
  G80Launch launch = {.grid = {1, 1}, .blocks_per_core = 1, .gprs = 32, .shared_bytes = 1024, .param_count = 1, .constant_bytes = 32};
  memcpy(launch.block, run->block, sizeof launch.block);
  return make(&spec, &program, &launch);
}

static void check_rtl_run(const RtlRun *run, const G80Machine *machine) {
  G80Result result;
  g80_result(machine, &result);
  assert_int_equal(result.outcome, G80_DONE);
  assert_int_equal(result.start_ns, run->start_ns);
  assert_int_equal(result.kernel_done_ns, run->done_ns);
  for (uint32_t i = 0; i < G80_GLOBAL_BYTES; i += 4) {
    uint32_t word, index = (i - RESULTS_AT) / 4;
    memcpy(&word, result.global + i, 4);
    assert_int_equal(word, i >= RESULTS_AT && index < run->result_count ? run->results[index] : 0);
  }
}

static void runs_as_the_rtl(void **state) {
  (void)state;
  for (uint32_t i = 0; i < COUNT_OF(rtl_runs); i++) {
    G80Machine *machine = make_rtl_run(&rtl_runs[i]);
    assert_true(g80_run(machine, FAR_CYCLE));
    check_rtl_run(&rtl_runs[i], machine);
    g80_free(machine);
  }
}

// Stopping, moving and looking change nothing.
static void stops_anywhere(void **state) {
  (void)state;
  for (uint32_t i = 0; i < COUNT_OF(rtl_runs); i++) {
    G80Machine *machine = make_rtl_run(&rtl_runs[i]);
    G80Machine *clone = g80_clone(machine);
    for (uint64_t cycle = 150; !g80_run(machine, cycle); cycle += 1 + cycle % 7) {
      g80_copy(clone, machine);
      assert_int_equal(g80_hash(clone), g80_hash(machine));
      g80_copy(machine, clone);
    }
    check_rtl_run(&rtl_runs[i], machine);
    g80_free(clone);
    g80_free(machine);
  }
}

static void stops_at_scheduler_events(void **state) {
  (void)state;
  G80Machine *machine = make_rtl_run(&rtl_runs[0]);
  uint32_t stops = 0;
  while (!g80_run_to_scheduler_event(machine, FAR_CYCLE)) stops++;
  check_rtl_run(&rtl_runs[0], machine);
  assert_in_range(stops, 50, 400); // set-up steps of one block of 64 threads, and the state machine's own
  g80_free(machine);
}

// ---- Vector add, measured in the RTL for 8, 16 and 32 SPs ------------------------------------------------------------
// c[i] = a[i] + b[i] for i = block * threads + thread: parameters a, b, c and a fourth that it does not use.
static const uint32_t vecadd[] = {
    0x10004205, 0x0023c780, // MOV.U16 R0H, g [0x1].U16
    0xa0000005, 0x04000780, // I2I.U32.U16 R1, R0L
    0x60014c01, 0x00204780, // IMAD.U16 R0, g [0x6].U16, R0H, R1
    0x30020009, 0xc4100780, // SHL R2, R0, 0x2
    0x2102e800,             // IADD32 R0, g [0x4], R2
    0x2102ea0c,             // IADD32 R3, g [0x5], R2
    0xd00e0005, 0x80c00780, // GLD.U32 R1, global14[R0]
    0xd00e0601, 0x80c00780, // GLD.U32 R0, global14[R3]
    0x20008204,             // IADD32 R1, R1, R0
    0x2102ec00,             // IADD32 R0, g [0x6], R2
    0xd00e0005, 0xa0c00780, // GST.U32 global14[R0], R1
    0x30000003, 0x00000780, // RET
};

typedef struct VecaddRow {
  uint32_t sps, blocks, threads;
  uint64_t done_ns;
} VecaddRow;
static const VecaddRow vecadd_rows[] = {
    {0, 1, 32, 21465}, {0, 8, 32, 141055}, {0, 16, 32, 280545}, {0, 8, 64, 276335}, {0, 16, 64, 551105},
    {1, 1, 32, 17045}, {1, 8, 32, 105975}, {1, 8, 64, 206215},  {2, 1, 32, 14785},  {2, 8, 32, 88435},
};

static G80Machine *make_vecadd(const Spec *spec, uint32_t blocks, uint32_t threads, uint32_t gprs) {
  uint32_t bytes = blocks * threads * 4;
  static uint32_t image[2 * 65536 / 4];
  for (uint32_t i = 0; i < blocks * threads; i++) {
    image[i] = i * 3 + 1;
    image[blocks * threads + i] = 1000000 - i;
  }
  SassProgram program = program_of(vecadd, COUNT_OF(vecadd));
  G80Launch launch = {
      .grid = {blocks, 1}, .block = {threads, 1, 1}, .blocks_per_core = 8, .gprs = gprs, .param_count = 4, .constant_bytes = 32};
  launch.params[1] = bytes;
  launch.params[2] = 2 * bytes;
  launch.global = (const uint8_t *)image;
  launch.global_bytes = 2 * bytes;
  return make(spec, &program, &launch);
}

static bool vecadd_right(const G80Result *result, uint32_t count) {
  bool right = true;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t word;
    memcpy(&word, result->global + 8 * count + 4 * i, 4);
    right = right && word == i * 3 + 1 + 1000000 - i;
  }
  return right;
}

static void adds_vectors_as_the_rtl(void **state) {
  (void)state;
  for (uint32_t i = 0; i < COUNT_OF(vecadd_rows); i++) {
    const VecaddRow *row = &vecadd_rows[i];
    Spec spec;
    G80Result result;
    spec_default(&spec);
    spec.g80_sps = row->sps;
    G80Machine *machine = make_vecadd(&spec, row->blocks, row->threads, 8);
    assert_true(g80_run(machine, FAR_CYCLE));
    g80_result(machine, &result);
    assert_int_equal(result.start_ns, 1535);
    assert_int_equal(result.kernel_done_ns, row->done_ns);
    assert_true(vecadd_right(&result, row->blocks * row->threads));
    g80_free(machine);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(runs_as_the_rtl),
      cmocka_unit_test(stops_anywhere),
      cmocka_unit_test(stops_at_scheduler_events),
      cmocka_unit_test(adds_vectors_as_the_rtl),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
