// What would have come of detected faults: the campaign finds it by letting the run go on. Compared with campaigns in which detections have
// had no effect from the beginning, simulated in full.
#include "campaign/campaign.h"
#include "protect/protect.h"
#include "settle/settle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

enum { FAULTS = 200 };

typedef struct Ends {
  uint32_t count, detected, kinds[OUTCOME_COUNT];
  char faults[FAULTS][128];
  uint8_t outcomes[FAULTS], unanswered[FAULTS];
} Ends;

typedef struct Case {
  const char *machine, *protection, *structures, *workload, *model;
  uint32_t least; // detected faults, of FAULTS / TEST_STEP
} Case;

static bool take(void *context, const FaultRow *row) {
  Ends *ends = context;
  if (row->id >= FAULTS) fail_msg("fault %u", (unsigned)row->id);
  snprintf(ends->faults[row->id], sizeof ends->faults[0], "%s", row->fault);
  ends->outcomes[row->id] = row->outcome;
  ends->unanswered[row->id] = row->unanswered;
  ends->detected += row->outcome == OUTCOME_DETECTED;
  ends->kinds[row->unanswered % OUTCOME_COUNT] += row->unanswered < OUTCOME_COUNT;
  ends->count++;
  return true;
}

static void run(const Case *of, bool answers, bool is_fast, Ends *ends) {
  Arena *arena = arena_new();
  Diags diags = {0};
  Spec spec;
  HookChain chain = {0};
  char path[] = P_tmpdir "/redoubt-unanswered-XXXXXX";
  close(mkstemp(path));
  unlink(path);
  if (!spec_load(&spec, arena, of->machine, &diags) || !spec_set(&spec, "sm.count", "2", NULL, 0, &diags)) fail_msg("%s", of->machine);
  Hook *protection = protect_new(of->protection, arena, &diags);
  assert_non_null(protection);
  assert_true(hook_chain_add(&chain, protection));
  hook_chain_answers(&chain, answers);
  CampaignOptions options = {.settlers = all_settlers,
                             .structures = of->structures,
                             .model = of->model,
                             .window = "all",
                             .protection = of->protection,
                             .protections = &chain,
                             .faults = FAULTS / TEST_STEP,
                             .confidence = 0.99,
                             .seed = 7,
                             .jobs = 2,
                             .shards = 1,
                             .timeout = 4,
                             .prune = is_fast,
                             .snapshot = is_fast,
                             .journal = path};
  WorkloadChoice choice = {.workload = workload_find(of->workload), .size = SIZE_TINY, .seed = 1};
  Target *target = target_workload(arena, &choice, &spec, &diags);
  CampaignEnd end = campaign_run(target, &options, &diags);
  Text text = {0};
  for (uint32_t i = 0; i < diags.count; i++) diag_format(&diags.items[i], &text);
  if (end != CAMPAIGN_COMPLETE) fail_msg("%s on %s: %s", of->protection, of->workload, text.at == NULL ? "" : text.at);
  text_free(&text);
  Journal *journal = journal_read(path, &diags);
  assert_non_null(journal);
  *ends = (Ends){0};
  assert_true(journal_each_fault(journal, take, ends));
  journal_close(journal);
  unlink(path);
  diags_free(&diags);
  arena_free(arena);
}

static void test_as_without_answer(void **state) {
  (void)state;
  const Case cases[] = {
      {"fermi-gtx480", "parity", "rf", "matmul", "flip", 4},
      {"fermi-gtx480", "secded:rf", "rf", "matmul", "adjacent(2)", 4},
      {"fermi-gtx480", "reissue", "unit.sp", "vecadd", "stuck1", 4},
  };
  Ends *fast = calloc(1, sizeof *fast), *slow = calloc(1, sizeof *slow);
  assert_non_null(fast);
  assert_non_null(slow);
  uint32_t kinds[OUTCOME_COUNT] = {0};
  for (size_t c = 0; c < COUNT_OF(cases); c++) {
    run(&cases[c], true, true, fast);
    run(&cases[c], false, false, slow);
    assert_int_equal(fast->count, slow->count);
    if (fast->detected < cases[c].least / TEST_STEP) fail_msg("%s: %u detected", cases[c].protection, fast->detected);
    for (uint32_t i = 0; i < fast->count; i++) {
      if (fast->outcomes[i] != OUTCOME_DETECTED) continue;
      assert_string_equal(fast->faults[i], slow->faults[i]);
      assert_true(fast->unanswered[i] < OUTCOME_COUNT);
      kinds[fast->unanswered[i]]++;
      if (fast->unanswered[i] != slow->outcomes[i])
        fail_msg("%s under %s: %s, in full %s", fast->faults[i], cases[c].protection, outcome_info[fast->unanswered[i]].name,
                 outcome_info[slow->outcomes[i]].name);
    }
    print_message("%s %s: %u of %u detected\n", cases[c].protection, cases[c].workload, fast->detected, fast->count);
  }
  assert_true(kinds[OUTCOME_MASKED] > 0); // what would have come differs
  assert_true(kinds[OUTCOME_SDC_CRITICAL] + kinds[OUTCOME_SDC_TOLERABLE] > 0);
  assert_true(kinds[OUTCOME_DUE_ADDRESS] > 0);
  free(fast);
  free(slow);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_as_without_answer)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
