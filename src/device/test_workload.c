// Unit tests of what workload files share: parameters, random inputs, comparison of floats.
#include "device/workload.h"

#include <setjmp.h>
#include <cmocka.h>

static bool nothing(WorkloadRun *run) {
  (void)run;
  return true;
}
static const Workload sample = {.name = "sample",
                                .params = {{"n", "elements", {1, 2, 3, 4}, 1, 100}, {"threads", "per block", {32, 32, 32, 32}, 1, 1024}},
                                .prepare = nothing,
                                .launch = nothing,
                                .check = nothing};

static void parameters_are_checked(void **state) {
  (void)state;
  WorkloadRun run = {0};
  Diags diags = {0};
  assert_int_equal(workload_param_count(&sample), 2);
  assert_true(workload_set(&run, &sample, "threads", 1024, &diags));
  assert_int_equal(run.param[1], 1024);
  assert_false(workload_set(&run, &sample, "threads", 1025, &diags));
  assert_string_equal(diags.items[0].text, "threads = 1025: must be 1 to 1024");
  assert_int_equal(run.param[1], 1024);
  assert_false(workload_set(&run, &sample, "thread", 1, &diags));
  assert_string_equal(diags.items[1].text, "workload sample has no parameter 'thread'; did you mean 'threads'?");
  assert_false(workload_set(&run, &sample, "iterations", 1, &diags));
  assert_string_equal(diags.items[2].text, "workload sample has no parameter 'iterations'; it has n, threads");
  diags_free(&diags);
}

static void inputs_depend_on_seed_and_stream(void **state) {
  (void)state;
  WorkloadRun run = {.arena = arena_new(), .seed = 1};
  const float *a = workload_random_f32(&run, 100, 0, -2, 2), *again = workload_random_f32(&run, 100, 0, -2, 2);
  const float *other_stream = workload_random_f32(&run, 100, 1, -2, 2);
  run.seed = 2;
  const float *other_seed = workload_random_f32(&run, 100, 0, -2, 2);
  assert_memory_equal(a, again, 400);
  assert_memory_not_equal(a, other_stream, 400);
  assert_memory_not_equal(a, other_seed, 400);
  for (int i = 0; i < 100; i++) assert_true(a[i] >= -2 && a[i] <= 2);
  arena_free(run.arena);
}

typedef struct NearCase {
  float got;
  double expected, tolerance;
  bool near;
} NearCase;

static const NearCase near_cases[] = {
    {1.0f, 1.0, 0, true},
    {1.0f, 1.0000001, 0, false},
    {0.001f, 0, 0.001001, true},
    {0.002f, 0, 0.001, false},
    {1000.5f, 1000.0, 0.001, true},
    {1002.0f, 1000.0, 0.001, false},
    {-1000.5f, -1000.0, 0.001, true},
    {-1.0f, 1.0, 0.5, false},
    {__builtin_nanf(""), 0, 1e30, false},
    {__builtin_inff(), 1, 1e30, false},
    {-0.0f, 0.0, 0, true},
};

static void floats_are_compared(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(near_cases); i++) {
    const NearCase *test = &near_cases[i];
    WorkloadRun run = {0};
    const float got[2] = {7, test->got};
    const double expected[2] = {7, test->expected};
    bool near = workload_near(&run, "c", got, expected, 2, test->tolerance);
    if (near != test->near) fail_msg("case %zu", i);
    if (!near) assert_non_null(strstr(run.failure, "c[1] is "));
  }
}

static void workloads_are_complete(void **state) {
  (void)state;
  for (uint32_t i = 0; i < workload_count; i++) {
    const Workload *workload = workloads[i];
    assert_ptr_equal(workload_find(workload->name), workload);
    assert_non_null(workload->summary);
    assert_non_null(strstr(workload_ptx[i], ".entry"));
    for (uint32_t p = 0; p < workload_param_count(workload); p++) {
      for (int size = 0; size < SIZE_COUNT; size++) {
        assert_in_range(workload->params[p].value[size], workload->params[p].least, workload->params[p].most);
      }
    }
  }
  assert_null(workload_find("no such workload"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(parameters_are_checked),
      cmocka_unit_test(inputs_depend_on_seed_and_stream),
      cmocka_unit_test(floats_are_compared),
      cmocka_unit_test(workloads_are_complete),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
