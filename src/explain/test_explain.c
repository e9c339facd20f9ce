// Single faults: outcomes and explanations that must agree with one another, whatever the machine's timing is.
#include "explain/explain_internal.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

typedef struct Bed {
  Arena *arena;
  Spec spec;
  Target *target;
  Diags diags;
} Bed;

static void bed_open(Bed *bed, const char *workload) {
  *bed = (Bed){.arena = arena_new()};
  assert_true(spec_load(&bed->spec, bed->arena, "fermi-gtx480", &bed->diags));
  assert_true(spec_set(&bed->spec, "sm.count", "2", NULL, 0, &bed->diags));
  WorkloadChoice choice = {.workload = workload_find(workload), .size = SIZE_TINY, .seed = 1};
  bed->target = target_workload(bed->arena, &choice, &bed->spec, &bed->diags);
  assert_non_null(bed->target);
}

static void bed_close(Bed *bed) {
  diags_free(&bed->diags);
  arena_free(bed->arena);
}

static FaultRun *bed_run(Bed *bed, const char *fault, bool explain) {
  FaultRunOptions options = {.faults = &fault, .fault_count = 1, .timeout = 10, .explain = explain};
  FaultRun *run = ARENA_NEW(bed->arena, FaultRun);
  if (!fault_run(bed->target, &options, bed->arena, run, &bed->diags)) fail_msg("%s: %s", fault, bed->diags.items[0].text);
  return run;
}

// ---- The log ---------------------------------------------------------------------------------------

static void test_log(void **state) {
  (void)state;
  ValueLog log = {0};
  assert_null(value_log_get(&log, 7));
  for (uint32_t i = 0; i < 200000; i++) value_log_put(&log, hash_bytes(&i, sizeof i, 0), i, ~i);
  value_log_put(&log, 0, 5, 6); // a key like any other
  for (uint32_t i = 0; i < 200000; i++) {
    const LoggedValue *value = value_log_get(&log, hash_bytes(&i, sizeof i, 0));
    assert_true(value != NULL && value->pc == i && value->hash == ~i);
  }
  assert_int_equal(value_log_get(&log, 0)->pc, 5);
  assert_null(value_log_get(&log, 12345));
  assert_false(log.full);
  value_log_free(&log);
}

// ---- What explanations say -------------------------------------------------------------------------

static bool is_masked_by_fate(Fate fate) {
  return fate == FATE_NOT_STRUCK || fate == FATE_OVERWRITTEN || fate == FATE_RESET || fate == FATE_DEAD || fate == FATE_NO_CELL;
}

static void check_consistent(const FaultRun *run) {
  const Access *access = &run->accesses[0];
  bool sdc = strcmp(outcome_info[run->judgement.outcome].group, "sdc") == 0;
  if (is_masked_by_fate(access->fate)) {
    assert_int_equal(run->judgement.outcome, OUTCOME_MASKED);
    assert_int_equal(run->different, 0);
  }
  if (access->fate == FATE_READ) {
    assert_true(access->at.pc != UINT32_MAX && access->at.text[0] != '\0' && access->reads > 0);
    assert_false(access->unused);
  }
  if (access->fate == FATE_OVERWRITTEN) assert_true(access->at.pc != UINT32_MAX);
  if (sdc) {
    assert_true(run->different > 0 && run->different_global > 0 && run->output != NULL && run->judgement.wrong > 0);
    assert_true(run->steps[0].at.cycle >= access->at.cycle && run->steps[0].known);
  }
  assert_true(sdc || run->output == NULL);
  assert_true(run->step_count <= COUNT_OF(run->steps) && (run->step_count > 0) == (run->different > 0));
}

static void test_consistent(void **state) {
  (void)state;
  Bed bed;
  bed_open(&bed, "vecadd");
  uint32_t fates[FATE_COUNT] = {0}, groups[OUTCOME_COUNT] = {0};
  for (uint32_t reg = 0; reg < 8; reg++) {
    for (uint32_t cycle = 600; cycle < 1300; cycle += 100) {
      const char *fault = arena_format(bed.arena, "flip:rf[sm=0,warp=0,reg=%u,lane=%u,bit=%u]@%u", reg, cycle / 100, reg + 2, cycle);
      const FaultRun *run = bed_run(&bed, fault, true);
      check_consistent(run);
      fates[run->accesses[0].fate]++;
      groups[run->judgement.outcome]++;
      const FaultRun *plain = bed_run(&bed, fault, false);
      assert_int_equal(plain->judgement.outcome, run->judgement.outcome); // watching changes nothing
      assert_int_equal(plain->judgement.cycles, run->judgement.cycles);
      assert_int_equal(plain->judgement.wrong, run->judgement.wrong);
    }
  }
  assert_true(fates[FATE_READ] > 0 && fates[FATE_OVERWRITTEN] > 0 && fates[FATE_RESET] > 0);
  assert_true(groups[OUTCOME_MASKED] > 0 && groups[OUTCOME_SDC_CRITICAL] > 0);
  bed_close(&bed);
}

static void test_fates(void **state) {
  (void)state;
  Bed bed;
  bed_open(&bed, "vecadd");
  assert_int_equal(bed_run(&bed, "flip:rf[sm=0,reg=1,lane=0,bit=0]@99999999", true)->accesses[0].fate, FATE_NOT_STRUCK);
  const FaultRun *run = bed_run(&bed, "flip:rf[sm=0,reg=1023,lane=0,bit=0]@700", true);
  assert_true(run->accesses[0].fate == FATE_DEAD && run->accesses[0].unused);
  assert_int_equal(bed_run(&bed, "flip:rf[sm=0,warp=0,reg=1000,lane=0,bit=0]@700", true)->accesses[0].fate, FATE_NO_CELL);
  assert_int_equal(bed_run(&bed, "flip:stack.pc[sm=0,warp=40,level=3,bit=0]@700", true)->accesses[0].fate, FATE_NOT_TOLD);
  bed_close(&bed);
}

// A lane whose output is stuck spoils the threads that pass it and no others; a transient strikes one result, or says when there is one.
static void test_output(void **state) {
  (void)state;
  Bed bed;
  bed_open(&bed, "vecadd");
  const FaultRun *run = bed_run(&bed, "stuck1:unit.sp[sm=0,sp=0,lane=9,bit=22]@0-", true);
  assert_true(run->accesses[0].fate == FATE_RESULT && run->accesses[0].reads > 1);
  assert_true(run->different > 0 && run->step_count > 0);
  assert_int_equal(run->steps[0].lanes & ~(1u << 9 | 1u << 25), 0);
  assert_int_equal(run->steps[0].got ^ run->steps[0].expected, 1u << 22);
  uint64_t cycle = run->accesses[0].at.cycle;
  char text[80];
  snprintf(text, sizeof text, "flip:unit.sp[sm=0,sp=0,lane=9,bit=22]@%" PRIu64, cycle);
  run = bed_run(&bed, text, true);
  assert_true(run->accesses[0].fate == FATE_RESULT && run->accesses[0].at.cycle == cycle);
  assert_true(run->different > 0 && (run->steps[0].lanes == 1u << 9 || run->steps[0].lanes == 1u << 25));
  assert_int_equal(run->steps[0].got ^ run->steps[0].expected, 1u << 22);
  run = bed_run(&bed, "flip:unit.sp[sm=0,sp=0,lane=9,bit=22]@0", true);
  assert_true(run->accesses[0].fate == FATE_IDLE && run->accesses[0].reads == 1 && run->accesses[0].at.cycle == cycle);
  assert_true(run->different == 0 && run->judgement.outcome == OUTCOME_MASKED);
  run = bed_run(&bed, "flip:unit.fp64[sm=0,lane=0,bit=22]@0", true);
  assert_true(run->accesses[0].fate == FATE_IDLE && run->accesses[0].reads == 0);
  bed_close(&bed);
}

// Which text a line is in, by kernel and by program.
static void test_sources(void **state) {
  (void)state;
  Arena *arena = arena_new();
  Target target = {0};
  const char *first = "one\n  two ; rest\n", *second = ".file 1 \"b.cu\"\n.loc 1 7 0\nthree";
  target_add_source(&target, arena, &(TargetSource){"a.ptx", first, strlen(first), 11, 0, "sum\nsummit\n", {0}});
  target_add_source(&target, arena, &(TargetSource){"b.ptx", second, strlen(second), 11, 1, "um\n", {0}});
  assert_string_equal(target_source_of(&target.sources, "summit")->file, "a.ptx");
  assert_string_equal(target_source_of(&target.sources, "um")->file, "b.ptx");
  assert_null(target_source_of(&target.sources, "su"));
  const TargetSource *source = target_source_at(&target.sources, 11, 1);
  assert_string_equal(source->file, "b.ptx");
  assert_null(target_source_at(&target.sources, 12, 1));
  assert_string_equal(ptx_origin(&source->origins, 3).file, "b.cu");
  assert_int_equal(ptx_origin(&source->origins, 3).line, 7);
  assert_true(slice_is(target_source_line(source, 3), "three"));
  assert_true(slice_is(target_source_line(&target.sources.items[0], 2), "two "));
  assert_int_equal(target_source_line(source, 4).length, 0);
  arena_free(arena);
}

static void test_text(void **state) {
  (void)state;
  Bed bed;
  bed_open(&bed, "vecadd");
  const FaultRun *run = bed_run(&bed, "stuck1:unit.sp[sm=0,sp=0,lane=9,bit=22]@0-", true);
  Text text = {0};
  explanation_format(run, &text);
  assert_non_null(strstr(text.at, ": mov.u32 %r"));
  assert_non_null(strstr(text.at, "first difference from the run without faults"));
  assert_non_null(strstr(text.at, ": lane 9 0x"));
  assert_non_null(strstr(text.at, "[line "));
  text_free(&text);
  bed_close(&bed);
}

// ---- Refusals --------------------------------------------------------------------------------------

static void refused(const FaultRunOptions *options, const char *said) {
  Bed bed;
  bed_open(&bed, "vecadd");
  FaultRun *run = ARENA_NEW(bed.arena, FaultRun);
  assert_false(fault_run(bed.target, options, bed.arena, run, &bed.diags));
  assert_int_equal(bed.diags.count, 1);
  if (strstr(bed.diags.items[0].text, said) == NULL) fail_msg("'%s' does not contain '%s'", bed.diags.items[0].text, said);
  bed_close(&bed);
}

static void test_refusals(void **state) {
  (void)state;
  static const char *const good[] = {"flip:rf[sm=0,reg=0,lane=0,bit=0]@1", "flip:rf[sm=0,reg=0,lane=0,bit=0]@1",
                                     "flip:rf[sm=0,reg=0,lane=0,bit=0]@1", "flip:rf[sm=0,reg=0,lane=0,bit=0]@1",
                                     "flip:rf[sm=0,reg=0,lane=0,bit=0]@1"};
  static const char *const bad[] = {"flip:rf[sm=2,reg=0,lane=0,bit=0]@1"};
  refused(&(FaultRunOptions){.faults = bad, .fault_count = 1, .timeout = 10}, "sm=2 is out of range: 0 to 1");
  refused(&(FaultRunOptions){.faults = good, .fault_count = 5, .timeout = 10}, "at most 4");
  refused(&(FaultRunOptions){.faults = good, .fault_count = 1, .timeout = 10, .program_hash = 1}, "not the one of the journal");
  refused(&(FaultRunOptions){.faults = good, .fault_count = 1, .timeout = 10, .layout_hash = 1}, "not laid out as in the journal");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_log),     cmocka_unit_test(test_consistent), cmocka_unit_test(test_fates),    cmocka_unit_test(test_output),
      cmocka_unit_test(test_sources), cmocka_unit_test(test_text),       cmocka_unit_test(test_refusals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
