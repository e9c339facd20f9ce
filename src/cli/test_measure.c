// Unit tests of several workloads measured side by side, and of the tables made of it.
#include "cli/measure.h"

#include <setjmp.h>
#include <cmocka.h>

// ---- Processes -------------------------------------------------------------------------------------------

static void number_of_processes_changes_nothing(void **state) {
  (void)state;
  Arena *arena = arena_new();
  Diags diags = {0};
  RunOptions options = {.size = SIZE_TINY, .seed = 1, .repeat = 1};
  assert_true(spec_load(&options.spec, arena, "gt200-rise", &diags));
  WorkloadList list = {0};
  assert_true(workload_list_add(&list, arena, "vecadd,scan,reduction,matmul,bfs", &diags));
  Measured *one = measure(&options, &list, 1), *many = measure(&options, &list, 3);
  assert_non_null(one);
  assert_non_null(many);
  for (uint32_t i = 0; i < list.count; i++) {
    assert_ptr_equal(many[i].workload, list.items[i]);
    assert_int_equal(many[i].code, EXIT_OK);
    assert_int_equal(many[i].check, CHECK_PASSED);
    assert_int_equal(many[i].launches, one[i].launches);
    assert_memory_equal(&many[i].total.stats, &one[i].total.stats, sizeof(Stats));
    assert_true(one[i].total.stats.value[STAT_CYCLES] > 0);
  }
  assert_int_equal(measured_failures(many, list.count), EXIT_OK);
  measured_free(one, list.count);
  measured_free(many, list.count);
  diags_free(&diags);
  arena_free(arena);
}

// A process that dies is a failure like others. Here for want of a workload.
static void crashes_are_told(void **state) {
  (void)state;
  Arena *arena = arena_new();
  RunOptions options = {.size = SIZE_TINY, .seed = 1, .repeat = 1};
  spec_default(&options.spec);
  WorkloadList list = {0};
  *VEC_PUSH(&list, arena) = NULL;
  *VEC_PUSH(&list, arena) = workload_find("scan");
  Measured *results = measure(&options, &list, 2);
  assert_int_equal(results[0].code, EXIT_INTERNAL);
  assert_true(results[0].message[0] != '\0');
  assert_int_equal(results[1].code, EXIT_OK);
  measured_free(results, list.count);
  arena_free(arena);
}

static void the_worst_exit_code_counts(void **state) {
  (void)state;
  static const struct {
    int codes[3], expected;
  } cases[] = {
      {{EXIT_OK, EXIT_OK, EXIT_OK}, EXIT_OK},
      {{EXIT_OK, EXIT_BAD_INPUT, EXIT_OK}, EXIT_BAD_INPUT},
      {{EXIT_BAD_INPUT, EXIT_CHECK_FAILED, EXIT_OK}, EXIT_CHECK_FAILED},
      {{EXIT_TRAPPED, EXIT_CHECK_FAILED, EXIT_BAD_INPUT}, EXIT_TRAPPED},
      {{EXIT_TRAPPED, EXIT_INTERNAL, EXIT_OK}, EXIT_INTERNAL},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    Measured results[3] = {0};
    for (int k = 0; k < 3; k++) results[k] = (Measured){.workload = workloads[k], .code = cases[i].codes[k]};
    assert_int_equal(measured_failures(results, 3), cases[i].expected);
  }
}

// ---- Tables ----------------------------------------------------------------------------------------------

// Three that passed, and one that trapped and must not count.
static void made_up(Measured results[4]) {
  static const uint64_t cycles[] = {100, 1000, 10000, 7}, idle[] = {50, 250, 0, 7};
  for (int i = 0; i < 4; i++) {
    results[i] = (Measured){.workload = workloads[i], .launches = 1, .check = CHECK_PASSED};
    results[i].total.stats.value[STAT_CYCLES] = cycles[i];
    results[i].total.stats.value[STAT_SM_CYCLES] = cycles[i];
    results[i].total.stats.value[STAT_IDLE_FULL] = idle[i];
    results[i].total.stats.value[STAT_THREAD_INSTRUCTIONS] = 2 * cycles[i];
  }
  results[3].code = EXIT_TRAPPED;
  results[3].total.trap.kind = TRAP_LIMIT;
}

static const Figure columns[] = {
    {.title = "cycles", .kind = FIGURE_COUNT, .stat = STAT_CYCLES},
    {.title = "idle", .kind = FIGURE_SHARE, .ratio = RATIO_IDLE_FULL, .digits = 1},
    {.title = "IPC", .kind = FIGURE_RATE, .ratio = RATIO_THREAD_IPC, .digits = 2},
    {.title = "L1D", .kind = FIGURE_NUMBER, .ratio = RATIO_L1D, .digits = 2},
};

static void means_are_of_those_that_passed(void **state) {
  (void)state;
  Measured results[4];
  made_up(results);
  double value;
  assert_true(figure_mean(&columns[0], MEAN_GEOMETRIC, results, 4, &value));
  assert_true(value > 999.999 && value < 1000.001);
  assert_false(figure_mean(&columns[0], MEAN_ARITHMETIC, results, 4, &value));
  assert_true(figure_mean(&columns[1], MEAN_ARITHMETIC, results, 4, &value));
  assert_true(value == 0.25); // of 0.5, 0.25, 0
  assert_false(figure_mean(&columns[1], MEAN_GEOMETRIC, results, 4, &value));
  assert_true(figure_mean(&columns[2], MEAN_GEOMETRIC, results, 4, &value));
  assert_true(value > 1.9999 && value < 2.0001);
  assert_false(figure_mean(&columns[3], MEAN_ARITHMETIC, results, 4, &value)); // none has it
}

static void assert_has(const Text *text, const char *line) {
  if (strstr(text->at, line) == NULL) fail_msg("no '%s' in\n%s", line, text->at);
}

static void tables_have_a_row_each(void **state) {
  (void)state;
  Measured results[4];
  made_up(results);
  FigureTable table = {results, 4, columns, COUNT_OF(columns), false};
  Text text = {0};
  figures_text(&table, &text);
  assert_has(&text, "workload                 cycles      idle       IPC       L1D  check\n");
  assert_has(&text, "             100     50.0%      2.00         -  passed\n");
  assert_has(&text, "               7    100.0%      2.00         -  instruction-limit\n");
  assert_has(&text, "arithmetic mean                     25.0%");
  assert_has(&text, "geometric mean             1000                2.00");
  text_free(&text);
  text = (Text){0};
  figures_csv(&table, "m", "tiny", &text);
  assert_has(&text, "workload,machine,size,check,launches,host_seconds,cycles,idle_full_share,thread_ipc,l1d_miss_rate\n");
  assert_has(&text, ",m,tiny,passed,1,0,100,0.5,2,\n");
  assert_has(&text, "arithmetic mean,m,tiny,,,,,0.25,,\n");
  text_free(&text);
}

static void traits_are_judged_from_their_size_on(void **state) {
  (void)state;
  const Workload workload = {
      .name = "idler",
      .traits = {{RATIO_IDLE_FULL, TRAIT_AT_LEAST, 0.4, "idle", SIZE_TINY}, {RATIO_IDLE_FULL, TRAIT_AT_MOST, 0.3, "busy", SIZE_DEFAULT}}};
  Measured results[2];
  Measured four[4];
  made_up(four);
  results[0] = four[0]; // half idle
  results[1] = four[3]; // failed: says nothing
  results[0].workload = results[1].workload = &workload;
  Text text = {0};
  assert_int_equal(traits_judge(results, 2, SIZE_SMALL, &text), 0);
  assert_string_equal(text.at, "idler          idle_full_share 0.5, at least 0.4: holds (idle)\n");
  assert_int_equal(traits_judge(results, 2, SIZE_DEFAULT, &text), 1);
  assert_has(&text, "idler          idle_full_share 0.5, at most 0.3: DOES NOT HOLD (busy)\n");
  text_free(&text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(number_of_processes_changes_nothing),
      cmocka_unit_test(crashes_are_told),
      cmocka_unit_test(the_worst_exit_code_counts),
      cmocka_unit_test(means_are_of_those_that_passed),
      cmocka_unit_test(tables_have_a_row_each),
      cmocka_unit_test(traits_are_judged_from_their_size_on),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
