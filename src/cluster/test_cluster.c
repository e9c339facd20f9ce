// Plans, cuts, receipts and options of a cluster.
#include "cluster/cluster.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

typedef struct Scene {
  char folder[32];
  Arena *arena;
  Diags diags;
} Scene;

static int set_up(void **state) {
  Scene *scene = calloc(1, sizeof *scene);
  snprintf(scene->folder, sizeof scene->folder, P_tmpdir "/redoubt-cluster-XXXXXX");
  assert_non_null(mkdtemp(scene->folder));
  scene->arena = arena_new();
  assert_int_equal(mkdir(arena_format(scene->arena, "%s/results", scene->folder), 0777), 0);
  *state = scene;
  return 0;
}

static int tear_down(void **state) {
  Scene *scene = *state;
  char command[64];
  snprintf(command, sizeof command, "rm -rf '%s'", scene->folder);
  assert_int_equal(system(command), 0);
  diags_free(&scene->diags);
  arena_free(scene->arena);
  free(scene);
  return 0;
}

// ---- Options -----------------------------------------------------------------------------------------------------

static void options_are_read(void **state) {
  Scene *scene = *state;
  ClusterOptions options;
  assert_true(cluster_options_parse("slurm", scene->arena, &options, &scene->diags));
  assert_true(options.kind == CLUSTER_SLURM && options.cpus == 1 && options.minutes == 10 && options.tasks == 0 && !options.dry_run);
  assert_true(cluster_options_parse("slurm:partition=long,cpus=4,throttle=50,sbatch=--nice=10,sbatch=--exclusive,dry-run", scene->arena,
                                    &options, &scene->diags));
  assert_true(options.cpus == 4 && options.throttle == 50 && options.extra.count == 2 && options.dry_run);
  assert_string_equal(options.partition, "long");
  assert_string_equal(options.extra.items[0], "--nice=10");
  assert_true(cluster_options_parse("local:3,tasks=7", scene->arena, &options, &scene->diags));
  assert_true(options.kind == CLUSTER_LOCAL && options.processes == 3 && options.tasks == 7);
  assert_int_equal(scene->diags.count, 0);
}

static void wrong_options_are_named(void **state) {
  Scene *scene = *state;
  static const char *const cases[][2] = {
      {"slrm", "must begin with slurm, local or folder"},    {"slurm:cpu=2", "did you mean 'cpus'"},
      {"slurm:cpus=none", "must be a number from 1 to 256"}, {"slurm:cpus=0", "must be a number from 1 to 256"},
      {"slurm:partition=", "must be a plain text"},          {"slurm:sbatch=--comment=\"x", "must be a plain text"},
      {"local:2,dry-run", "dry-run is for slurm"},           {"slurm:4", "there is no option '4'"}};
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    ClusterOptions options;
    Diags diags = {0};
    assert_false(cluster_options_parse(cases[i][0], scene->arena, &options, &diags));
    assert_int_equal(diags.count, 1);
    if (strstr(diags.items[0].text, cases[i][1]) == NULL) fail_msg("%s: '%s'", cases[i][0], diags.items[0].text);
    diags_free(&diags);
  }
}

// A task that ran out of time has twice as much the next time.
static void time_doubles(void **state) {
  Scene *scene = *state;
  ClusterPlan *plan = cluster_plan_new(scene->folder, scene->arena);
  assert_true(cluster_options_parse("slurm:minutes=5", scene->arena, &plan->options, &scene->diags));
  assert_int_equal(cluster_plan_limit(plan, 1), 30);
  assert_int_equal(cluster_plan_limit(plan, 3), 120);
  plan->seconds_per_task = 3600; // longer than was wished
  assert_int_equal(cluster_plan_limit(plan, 1), 4 * 61 + 10);
}

// ---- Cuts ---------------------------------------------------------------------------------------------------------

static void assert_tiles(const ClusterPlan *plan, uint64_t first, uint64_t end) {
  for (uint32_t i = 0; i < plan->tasks.count; i++) {
    assert_int_equal(plan->tasks.items[i].first, first);
    assert_true(plan->tasks.items[i].end > first);
    first = plan->tasks.items[i].end;
  }
  assert_int_equal(first, end);
}

static void parts_follow_the_cost(void **state) {
  Scene *scene = *state;
  enum { BATCH = 16384 };
  ClusterCost cost = cost_of(3.6, 16, 10.8, 256); // 0.03 s a fault, 3.12 s to begin
  assert_true(cost.each > 0.0299 && cost.each < 0.0301 && cost.fixed > 3.11 && cost.fixed < 3.13);
  assert_int_equal(cluster_task_faults(&cost, 60, BATCH), 1821); // 1,896 fit in; nine even shares of a batch
  assert_int_equal(cluster_task_faults(&cost, 3600, BATCH), 7 * BATCH);
  assert_int_equal(cluster_task_faults(&cost, 1, BATCH), 64); // no time at all: not less
  ClusterCost odd = cost_of(2, 16, 1, 256);                   // the second was quicker
  assert_true(odd.each > 0 && odd.fixed <= 2);
  ClusterPlan *plan = cluster_plan_new(scene->folder, scene->arena);
  cluster_plan_cut(plan, 0, 100000, 1821, BATCH, "");
  assert_tiles(plan, 0, 100000);
  for (uint32_t i = 0; i < plan->tasks.count; i++) // none needs two batches
    assert_int_equal(plan->tasks.items[i].first / BATCH, (plan->tasks.items[i].end - 1) / BATCH);
}

static void a_number_of_tasks_is_kept(void **state) {
  Scene *scene = *state;
  ClusterPlan *plan = cluster_plan_new(scene->folder, scene->arena);
  cluster_plan_cut(plan, 0, 3000, cluster_task_faults_of(3000, 7, 16384), 16384, "");
  assert_int_equal(plan->tasks.count, 7);
  assert_tiles(plan, 0, 3000);
  ClusterPlan *large = cluster_plan_new(scene->folder, scene->arena);
  cluster_plan_cut(large, 0, 100000000, cluster_task_faults_of(100000000, 1000, 16384), 16384, "");
  assert_tiles(large, 0, 100000000);
  assert_in_range(large->tasks.count, 800, 1000);
}

// ---- Plans --------------------------------------------------------------------------------------------------------

static ClusterPlan *plan_of(Scene *scene) {
  ClusterPlan *plan = cluster_plan_new(scene->folder, scene->arena);
  plan->command = "redoubt campaign 'a b'";
  plan->work = "/some/folder";
  plan->program = "/usr/bin/redoubt";
  plan->program_hash = 0xfedcba9876543210;
  plan->options_text = "slurm:throttle=3,memory=2G,account=me";
  assert_true(cluster_options_parse(plan->options_text, scene->arena, &plan->options, &scene->diags));
  ClusterOutput *output = VEC_PUSH(&plan->outputs, scene->arena);
  *VEC_PUSH(&output->words, scene->arena) = "campaign";
  *VEC_PUSH(&output->words, scene->arena) = "it's";
  output->file = "/some/folder/all.db";
  cluster_plan_cut(plan, 0, 50, 20, 16384, "");
  plan->tasks.items[1].tries = 2;
  plan->tasks.items[1].submission = 4;
  plan->tasks.items[2].enough = "rf";
  plan->identity = cluster_plan_identity(plan);
  return plan;
}

static void a_plan_comes_back(void **state) {
  Scene *scene = *state;
  ClusterPlan *plan = plan_of(scene);
  plan->state = CLUSTER_FAILED;
  plan->message = "why";
  assert_true(cluster_plan_write(plan, &scene->diags));
  const ClusterPlan *back = cluster_plan_read(scene->folder, scene->arena, &scene->diags);
  assert_non_null(back);
  assert_true(back->identity == plan->identity && back->program_hash == plan->program_hash && back->state == CLUSTER_FAILED);
  assert_true(cluster_plan_identity(back) == plan->identity && back->options.throttle == 3);
  assert_string_equal(back->message, "why");
  assert_string_equal(back->outputs.items[0].words.items[1], "it's");
  assert_int_equal(back->tasks.count, 3);
  assert_true(back->tasks.items[1].first == 20 && back->tasks.items[1].end == 40 && back->tasks.items[1].tries == 2);
  assert_string_equal(back->tasks.items[2].enough, "rf");
  assert_string_equal(cluster_plan_name(back), cluster_plan_name(plan));
}

static void a_damaged_plan_is_refused(void **state) {
  Scene *scene = *state;
  static const char *const texts[] = {"{", "[]", "{\"version\": 2}", "{\"version\": 1, \"tasks\": [{\"output\": 5}], \"outputs\": []}"};
  for (size_t i = 0; i < COUNT_OF(texts); i++) {
    Diags diags = {0};
    Text text = {0};
    text_add(&text, "%s", texts[i]);
    assert_true(text_publish(arena_format(scene->arena, "%s/plan.json", scene->folder), &text, &diags));
    assert_null(cluster_plan_read(scene->folder, scene->arena, &diags));
    assert_true(diags.count > 0);
    text_free(&text);
    diags_free(&diags);
  }
}

// ---- Results ------------------------------------------------------------------------------------------------------

static void damage_is_found(void **state) {
  Scene *scene = *state;
  ClusterPlan *plan = plan_of(scene);
  const char *from = arena_format(scene->arena, "%s/local", scene->folder), *to = cluster_task_file(plan, 1);
  Text text = {0};
  text_add(&text, "%01000d", 7);
  assert_true(text_publish(from, &text, &scene->diags));
  Receipt receipt = {.faults = 20, .seconds = 1.5, .host = "here"}, back;
  ReceiptStructure *structure = VEC_PUSH(&receipt.structures, scene->arena);
  *structure = (ReceiptStructure){.name = "rf", .counts = {[OUTCOME_MASKED] = 19, [OUTCOME_SDC] = 1}};
  assert_int_equal(result_state(plan, 1, true, scene->arena, &back), RESULT_MISSING);
  assert_true(result_publish(from, to, &receipt, &scene->diags));
  assert_int_equal(result_state(plan, 1, true, scene->arena, &back), RESULT_MISSING); // not signed for
  assert_true(receipt_write(cluster_task_receipt(plan, 1), &receipt, &scene->diags));
  assert_int_equal(result_state(plan, 1, true, scene->arena, &back), RESULT_GOOD);
  assert_true(back.faults == 20 && back.bytes == 1000 && back.structures.count == 1);
  assert_true(back.structures.items[0].counts[OUTCOME_SDC] == 1 && back.structures.items[0].counts[OUTCOME_MASKED] == 19);
  text.at[500] = 'x'; // as long as before
  assert_true(text_publish(to, &text, &scene->diags));
  assert_int_equal(result_state(plan, 1, false, scene->arena, &back), RESULT_GOOD);
  assert_int_equal(result_state(plan, 1, true, scene->arena, &back), RESULT_DAMAGED);
  assert_int_equal(truncate(to, 999), 0);
  assert_int_equal(result_state(plan, 1, false, scene->arena, &back), RESULT_DAMAGED);
  assert_int_equal(unlink(to), 0);
  assert_int_equal(result_state(plan, 1, false, scene->arena, &back), RESULT_DAMAGED);
  text_free(&text);
}

// Each of what a receipt says it is for, changed by one; and one that says nothing, as those of earlier versions.
static void results_of_others_are_found(void **state) {
  Scene *scene = *state;
  ClusterPlan *plan = plan_of(scene);
  Text text = {0};
  text_add(&text, "rows");
  Receipt receipt = {.host = "here"}, back;
  receipt_name(&receipt, plan, 1);
  uint64_t *const fields[] = {&receipt.plan, &receipt.task, &receipt.first, &receipt.end};
  const char *from = arena_format(scene->arena, "%s/local", scene->folder);
  assert_true(text_publish(from, &text, &scene->diags));
  assert_true(result_publish(from, cluster_task_file(plan, 1), &receipt, &scene->diags));
  assert_true(receipt_write(cluster_task_receipt(plan, 1), &receipt, &scene->diags));
  assert_int_equal(result_state(plan, 1, true, scene->arena, &back), RESULT_GOOD);
  for (size_t i = 0; i < COUNT_OF(fields); i++) {
    ++*fields[i];
    assert_true(receipt_write(cluster_task_receipt(plan, 1), &receipt, &scene->diags));
    assert_int_equal(result_state(plan, 1, false, scene->arena, &back), RESULT_OTHER);
    --*fields[i];
  }
  receipt.is_named = false;
  assert_true(receipt_write(cluster_task_receipt(plan, 1), &receipt, &scene->diags));
  assert_int_equal(result_state(plan, 1, true, scene->arena, &back), RESULT_GOOD);
  text_free(&text);
}

// ---- Scripts ------------------------------------------------------------------------------------------------------

static void scripts_say_what_was_asked_for(void **state) {
  Scene *scene = *state;
  ClusterPlan *plan = plan_of(scene);
  Text script = {0}, list = {0};
  script_array(plan, &(ArrayJob){.submission = 2, .count = 3, .tries = 2}, &script);
  static const char *const lines[] = {"#SBATCH --array=0-2%3\n", "#SBATCH --mem=\"2G\"\n", "#SBATCH --account=\"me\"\n",
                                      "#SBATCH --time=100\n", "/submit/002.tasks)\n"};
  for (size_t i = 0; i < COUNT_OF(lines); i++) {
    if (strstr(script.at, lines[i]) == NULL) fail_msg("no '%s' in\n%s", lines[i], script.at);
  }
  plan->bundle = 2;
  assert_int_equal(script_list(plan, (const uint32_t[]){0, 1, 2}, 3, &list), 2);
  assert_string_equal(list.at, "0 2\n1\n");
  assert_int_equal(plan->tasks.items[1].place, 1);
  text_free(&script);
  text_free(&list);
}

int main(void) {
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      CASE(options_are_read),
      CASE(wrong_options_are_named),
      CASE(time_doubles),
      CASE(parts_follow_the_cost),
      CASE(a_number_of_tasks_is_kept),
      CASE(a_plan_comes_back),
      CASE(a_damaged_plan_is_refused),
      CASE(damage_is_found),
      CASE(results_of_others_are_found),
      CASE(scripts_say_what_was_asked_for),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
