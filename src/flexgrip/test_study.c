// The study's shortcuts give what simulation from the beginning to the end gives; results do not depend on the number of
// processes; intervals and phases are what they should be.
#include "flexgrip/study_internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static Golden *make_golden(const StudyConfig *config, StudyStructure structure) {
  Diags diags = {0};
  Golden *golden = golden_new(config, structure, true, &diags);
  assert_non_null(golden);
  assert_int_equal(diags.count, 0);
  diags_free(&diags);
  return golden;
}

// Both ways for faults 0..count-1 of a stream; how many faults were not masked.
static uint32_t compare(Golden *golden, StudyModel model, uint64_t stream, uint32_t count) {
  static StudyFault faults[2000];
  static StudyFound found[COUNT_OF(faults)];
  uint32_t effects = 0;
  assert_in_range(count, 1, COUNT_OF(faults));
  for (uint32_t i = 0; i < count; i++) faults[i] = study_draw(golden, model, stream, i);
  memset(found, 0xff, sizeof found);
  for (uint32_t slice = 0; slice < 3; slice++) study_settle(golden, faults, count, slice, 3, found);
  for (uint32_t i = 0; i < count; i++) {
    StudyOutcome outcome = study_brute(golden, &faults[i]);
    if (outcome != found[i].outcome) {
      Text text = {0};
      site_format(golden_regions(golden), &faults[i].site, &text);
      fail_msg("fault %u: %s before cycle %llu: %s from the start, %s by shortcuts", i, text.at, (unsigned long long)faults[i].cycle,
               study_outcome_name[outcome], study_outcome_name[found[i].outcome % STUDY_OUTCOMES]);
    }
    effects += outcome != EFFECT_MASKED;
  }
  return effects;
}

static void shortcuts_are_exact_over_time(void **state) {
  (void)state;
  static const uint32_t campaigns[] = {0, 3, 9, 15}; // vecadd on 1 and 2 SMs, gray on 1, nn on 2
  for (uint32_t i = 0; i < COUNT_OF(campaigns); i++) {
    Golden *golden = make_golden(&study_configs[campaigns[i]], STRUCTURE_SCHEDULER);
    assert_true(compare(golden, MODEL_UPSET, 100 + i, i == 2 ? 150 : 400) > 0);
    golden_free(golden);
  }
}

// Most faults strike while the scheduler waits; here all strike around its events, where the shortcuts have to decide.
static void shortcuts_are_exact_around_events(void **state) {
  (void)state;
  for (uint32_t campaign = 1; campaign < 4; campaign += 2) {
    Golden *golden = make_golden(&study_configs[campaign], STRUCTURE_SCHEDULER);
    uint32_t effects = 0;
    for (uint32_t i = 0; i < 600; i++) {
      StudyFault fault = study_draw(golden, MODEL_UPSET, 7, i);
      StudyFound found;
      uint64_t event = golden->edges.items[random_below(random_draw(8, i, 0), golden->edges.count)];
      fault.cycle = event + random_below(random_draw(8, i, 1), 4) - 1;
      if (fault.cycle < golden->start || fault.cycle >= golden->end) continue;
      study_settle(golden, &fault, 1, 0, 1, &found);
      assert_int_equal(found.outcome, study_brute(golden, &fault));
      effects += found.outcome != EFFECT_MASKED;
    }
    assert_true(effects > 20);
    golden_free(golden);
  }
}

static void other_structures_are_exact(void **state) {
  (void)state;
  for (uint32_t structure = 1; structure < STRUCTURE_COUNT; structure++) {
    Golden *golden = make_golden(&study_configs[2], (StudyStructure)structure);
    compare(golden, MODEL_UPSET, 50 + structure, 120);
    golden_free(golden);
  }
}

static void stuck_bits_are_exact(void **state) {
  (void)state;
  for (uint32_t sms = 1; sms <= 2; sms++) {
    Diags diags = {0};
    Golden *golden = golden_new(&study_configs[sms == 1 ? 1 : 3], STRUCTURE_SCHEDULER, false, &diags);
    assert_non_null(golden);
    compare(golden, MODEL_STUCK_0, 20 + sms, 150);
    assert_true(compare(golden, MODEL_STUCK_1, 30 + sms, 150) > 0);
    golden_free(golden);
    diags_free(&diags);
  }
}

static void stuck_bits_act(void **state) {
  (void)state;
  Golden *golden = make_golden(&study_configs[0], STRUCTURE_SCHEDULER);
  StudyFault fault = {.cycle = golden->start, .model = MODEL_STUCK_1};
  fault.site.region = region_find(golden_regions(golden), "bs_kernel_done");
  assert_int_equal(study_class(study_simulate(golden, &fault)), CLASS_SDC); // done at once: no results
  fault.model = MODEL_STUCK_0;
  assert_int_equal(study_class(study_simulate(golden, &fault)), CLASS_DUE); // never done
  fault.site.region = region_find(golden_regions(golden), "bs_rdy");
  assert_int_equal(study_simulate(golden, &fault), EFFECT_MASKED); // nobody reads it
  golden_free(golden);
  golden = make_golden(&study_configs[2], STRUCTURE_CONTROLLER); // blocks have one layer: what z is does not matter
  fault = (StudyFault){.site = {.row = 1, .unit = 2, .bit = 10}, .model = MODEL_STUCK_1};
  fault.site.region = region_find(golden_regions(golden), "ctl_thread");
  assert_int_equal(study_simulate(golden, &fault), EFFECT_MASKED);
  golden_free(golden);
}

static void results_do_not_depend_on_processes(void **state) {
  (void)state;
  StudyFound first[300];
  for (uint32_t workers = 1; workers <= 3; workers += 2) {
    StudyCampaign campaign = {.config = study_configs[14], .stream = 5, .faults = COUNT_OF(first)};
    Diags diags = {0};
    assert_true(study_run(&campaign, 1, workers, &diags));
    assert_int_equal(campaign.all.total, COUNT_OF(first));
    if (workers == 1) memcpy(first, campaign.found, sizeof first);
    else assert_memory_equal(first, campaign.found, sizeof first);
    study_campaigns_free(&campaign, 1);
    diags_free(&diags);
  }
}

static void phases_cover_the_run(void **state) {
  (void)state;
  Golden *golden = make_golden(&study_configs[1], STRUCTURE_SCHEDULER);
  uint64_t cycles[PHASE_COUNT] = {0}, sum = 0;
  for (uint64_t c = golden->start; c < golden->end; c++) cycles[golden_phase(golden, c)]++;
  for (uint32_t i = 0; i < PHASE_COUNT; i++) {
    assert_int_equal(cycles[i], golden_phase_cycles(golden, (StudyPhase)i));
    sum += cycles[i];
  }
  assert_int_equal(sum, golden_result(golden)->cycles);
  assert_int_equal(golden_result(golden)->pass_count, 4); // 32 blocks, 8 at a time
  golden_free(golden);
}

// Newcombe 1998, table II, method 10: 56/70 - 48/80.
static void differences_have_intervals(void **state) {
  (void)state;
  StudyTally a = {.total = 80, .outcomes[EFFECT_SDC] = 48}, b = {.total = 70, .outcomes[EFFECT_SDC_TIME] = 56};
  Interval interval = study_difference(&a, &b, CLASS_SDC, 0.95);
  assert_float_equal(interval.low, 0.0524, 0.00005);
  assert_float_equal(interval.high, 0.3339, 0.00005);
}

// A trend is claimed only of groups of which at least half of the pairs are clear.
static void verdicts_need_clear_pairs(void **state) {
  (void)state;
  static const struct {
    StudyPairs groups[3];
    StudyVerdict verdict;
  } cases[] = {
      {{{8, 0, 0}, {8, 0, 0}, {6, 0, 0}}, JUDGED_AGREES},  {{{4, 0, 4}, {4, 0, 4}, {3, 0, 3}}, JUDGED_AGREES},
      {{{1, 0, 7}, {0, 0, 8}, {0, 0, 6}}, JUDGED_UNSURE},                                                      // one clear pair of 22
      {{{3, 0, 5}, {3, 0, 5}, {2, 0, 4}}, JUDGED_UNSURE},  {{{0, 3, 5}, {0, 1, 7}, {0, 0, 6}}, JUDGED_UNSURE}, // nor is the opposite
      {{{0, 0, 8}, {0, 0, 8}, {0, 0, 6}}, JUDGED_UNSURE},  {{{7, 0, 1}, {0, 1, 7}, {1, 0, 5}}, JUDGED_PARTLY}, // one group is decided
      {{{7, 0, 1}, {0, 8, 0}, {1, 0, 5}}, JUDGED_PARTLY},  {{{5, 2, 1}, {0, 0, 8}, {0, 0, 6}}, JUDGED_PARTLY},
      {{{2, 2, 4}, {0, 0, 8}, {0, 0, 6}}, JUDGED_DIFFERS}, {{{0, 6, 2}, {1, 0, 7}, {0, 0, 6}}, JUDGED_DIFFERS},
  };
  for (uint32_t i = 0; i < COUNT_OF(cases); i++) {
    StudyVerdict verdict = study_judge_pairs(cases[i].groups, 3);
    if (verdict != cases[i].verdict) fail_msg("case %u: %s", i, study_verdict_name[verdict]);
  }
  assert_int_equal(study_judge_pairs(&(StudyPairs){0, 0, 0}, 1), JUDGED_UNSURE);
}

// That a signal shows no DUE counts only if it was struck often enough to show one.
static void verdicts_need_struck_signals(void **state) {
  (void)state;
  StudySignal all[] = {{{500, 500}, {50, 40}}, {{500, 500}, {30, 0}}, {{1000, 1000}, {0, 0}}};
  assert_int_equal(study_judge_signals(all, 3, 0.95), JUDGED_AGREES);
  StudySignal thin[] = {{{50, 50}, {5, 4}}, {{50, 5}, {3, 0}}, {{10, 10}, {0, 0}}};
  assert_int_equal(study_judge_signals(thin, 3, 0.95), JUDGED_UNSURE);
  StudySignal without_early[] = {{{500, 500}, {50, 40}}, {{500, 500}, {30, 30}}, {{1000, 1000}, {0, 0}}};
  assert_int_equal(study_judge_signals(without_early, 3, 0.95), JUDGED_DIFFERS);
  StudySignal late[] = {{{500, 500}, {50, 40}}, {{500, 500}, {0, 30}}, {{1000, 1000}, {0, 0}}};
  assert_int_equal(study_judge_signals(late, 3, 0.95), JUDGED_DIFFERS);
  assert_int_equal(study_judge_signals(NULL, 0, 0.95), JUDGED_UNSURE);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(shortcuts_are_exact_over_time),
      cmocka_unit_test(shortcuts_are_exact_around_events),
      cmocka_unit_test(other_structures_are_exact),
      cmocka_unit_test(stuck_bits_are_exact),
      cmocka_unit_test(stuck_bits_act),
      cmocka_unit_test(results_do_not_depend_on_processes),
      cmocka_unit_test(phases_cover_the_run),
      cmocka_unit_test(differences_have_intervals),
      cmocka_unit_test(verdicts_need_clear_pairs),
      cmocka_unit_test(verdicts_need_struck_signals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
