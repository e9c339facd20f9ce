// Unit tests of what workload files share: parameters, random inputs, constants and textures, comparison of floats.
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
  assert_true(workload_set(&run, &sample, "threads", "1024", &diags));
  assert_int_equal(run.param[1], 1024);
  assert_false(workload_set(&run, &sample, "threads", "1025", &diags));
  assert_string_equal(diags.items[0].text, "threads = 1025: must be 1 to 1024");
  assert_int_equal(run.param[1], 1024);
  static const char *const no_numbers[] = {
      "-1", "-18446744073709551615", "18446744073709551617", "99999999999999999999999", "", "1.5", "64 ", "0x", "+64"};
  for (size_t i = 0; i < COUNT_OF(no_numbers); i++) {
    Diags refused = {0};
    assert_false(workload_set(&run, &sample, "threads", no_numbers[i], &refused));
    assert_non_null(strstr(refused.items[0].text, ": must be "));
    diags_free(&refused);
  }
  assert_false(workload_set(&run, &sample, "thread", "1", &diags));
  assert_string_equal(diags.items[1].text, "workload sample has no parameter 'thread'; did you mean 'threads'?");
  assert_false(workload_set(&run, &sample, "iterations", "1", &diags));
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

// out[i] = texel i's second element + weight[i]
static const char kernel_ptx[] = ".version 6.0\n.target sm_70\n.address_size 64\n"
                                 ".const .align 4 .b32 weight[4];\n"
                                 ".entry add(.param .u64 image, .param .u64 out) {\n"
                                 "  .reg .b32 %r<9>;\n  .reg .b64 %a<6>;\n"
                                 "  ld.param.u64 %a1, [image];\n  ld.param.u64 %a2, [out];\n  mov.u32 %r1, %tid.x;\n"
                                 "  tex.1d.v4.s32.s32 {%r2, %r3, %r4, %r5}, [%a1, {%r1}];\n"
                                 "  mul.wide.u32 %a3, %r1, 4;\n  mov.u64 %a4, weight;\n  add.s64 %a4, %a4, %a3;\n"
                                 "  ld.const.u32 %r6, [%a4];\n  add.s32 %r7, %r3, %r6;\n"
                                 "  add.s64 %a5, %a2, %a3;\n  st.global.u32 [%a5], %r7;\n  ret;\n}\n";

static void constants_and_textures_reach_kernels(void **state) {
  (void)state;
  Diags diags = {0};
  DeviceOptions options = {0};
  Device *device = device_new(&options, &diags);
  assert_non_null(device);
  PtxSource source = {"kernel.ptx", kernel_ptx, sizeof kernel_ptx - 1};
  WorkloadRun run = {.device = device, .module = device_load_ptx(device, &source, 1, &diags)};
  if (run.module == NULL) fail_msg("%s", diags.items[0].text);
  const int32_t weight[5] = {1000, 2000, 3000, 4000, 0};
  assert_false(workload_constant(&run, "height", weight, 4));
  assert_false(workload_constant(&run, "weight", weight, 20));
  assert_string_equal(device_error(device), "'weight' has 16 bytes, not 20");
  assert_true(workload_constant(&run, "weight", weight, 16));
  const int16_t texels[6] = {1, -2, 3, -4, 5, -6};
  DeviceAddress buffer = workload_buffer(&run, texels, sizeof texels), out = workload_buffer(&run, NULL, 16);
  uint64_t image = workload_texture(&run, buffer, ELEMENT_S16, 2, 3);
  assert_int_equal(workload_texture(&run, 0, ELEMENT_S16, 2, 3), 0);
  const uint32_t grid[3] = {1, 1, 1}, block[3] = {4, 1, 1};
  const void *arguments[] = {&image, &out};
  if (!workload_launch(&run, "add", grid, block, 0, arguments, 2)) fail_msg("%s", device_error(device));
  int32_t got[4];
  assert_true(device_read(device, got, out, sizeof got));
  const int32_t expected[4] = {998, 1996, 2994, 4000}; // the last texel does not exist
  assert_memory_equal(got, expected, sizeof got);
  assert_false(workload_refuse(&run, "%d texels", 3));
  assert_string_equal(device_error(device), "3 texels");
  device_free(device);
  diags_free(&diags);
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

static const char *names_of(Arena *arena, const char *text) {
  WorkloadList list = {0};
  Diags diags = {0};
  if (!workload_list_add(&list, arena, text, &diags)) fail_msg("%s: %s", text, diags.items[0].text);
  const char *names = "";
  for (uint32_t i = 0; i < list.count; i++) names = arena_format(arena, "%s%s%s", names, i == 0 ? "" : " ", list.items[i]->name);
  diags_free(&diags);
  return names;
}

static void lists_name_workloads_and_sets(void **state) {
  (void)state;
  Arena *arena = arena_new();
  assert_string_equal(names_of(arena, "scan"), "scan");
  assert_string_equal(names_of(arena, "scan,bfs,scan"), "scan bfs"); // in the order given, each once
  const char *mixed = names_of(arena, "matmul,@rise.compute,vecadd");
  assert_memory_equal(mixed, "matmul blackscholes ", 20);
  assert_string_equal(mixed + strlen(mixed) - 7, " vecadd");
  WorkloadList all = {0};
  Diags diags = {0};
  assert_true(workload_list_add(&all, arena, "@all", &diags));
  assert_int_equal(all.count, workload_count);
  assert_false(workload_list_add(&all, arena, "@rise.memroy,scna,,x", &diags));
  assert_int_equal(diags.count, 4);
  assert_string_equal(diags.items[0].text, "no set '@rise.memroy'; did you mean '@rise.memory'?");
  assert_string_equal(diags.items[1].text, "no workload 'scna'; did you mean 'scan'?");
  assert_string_equal(diags.items[3].text, "no workload 'x'; 'redoubt list workloads' shows what is built in");
  assert_true(is_workload_list("@x") && is_workload_list("a,b") && !is_workload_list("a"));
  diags_free(&diags);
  arena_free(arena);
}

static const uint32_t rise_categories =
    1u << SET_RISE_MEMORY | 1u << SET_RISE_IMBALANCE | 1u << SET_RISE_DIVERGENT | 1u << SET_RISE_COMPUTE;
static const uint32_t papers[] = {1u << SET_RISE, 1u << SET_HINTS, 1u << SET_SHIELD};

// In a paper one abbreviation is one workload and one workload is one member.
static void members_are_unambiguous(void **state) {
  (void)state;
  for (uint32_t i = 0; i < workload_member_count; i++) {
    const WorkloadMember *a = &workload_members[i];
    uint32_t of_papers = 0;
    for (size_t p = 0; p < COUNT_OF(papers); p++) of_papers += (a->sets & papers[p]) != 0 ? 1 : 0;
    assert_int_equal(of_papers, 1);
    if (workload_find(a->workload) == NULL) fail_msg("sets.c: no workload %s", a->workload);
    assert_int_equal((a->sets & papers[0]) != 0, (a->sets & rise_categories) != 0); // every program of RISE has a category
    for (uint32_t k = 0; k < i; k++) {
      const WorkloadMember *b = &workload_members[k];
      bool same_paper = false;
      for (size_t p = 0; p < COUNT_OF(papers); p++) same_paper = same_paper || (a->sets & b->sets & papers[p]) != 0;
      if (!same_paper) continue;
      assert_string_not_equal(a->workload, b->workload);
      if (a->abbreviation != NULL) assert_string_not_equal(a->abbreviation, b->abbreviation);
    }
  }
}

static uint32_t members_of(WorkloadSetId set) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < workload_member_count; i++) count += workload_members[i].sets >> set & 1;
  return count;
}

// As many as the papers print.
static void sets_have_the_papers_sizes(void **state) {
  (void)state;
  assert_int_equal(members_of(SET_RISE), 27);
  assert_int_equal(members_of(SET_RISE_MEMORY), 12);
  assert_int_equal(members_of(SET_RISE_IMBALANCE), 13);
  assert_int_equal(members_of(SET_RISE_DIVERGENT), 11);
  assert_int_equal(members_of(SET_RISE_COMPUTE), 4);
  assert_int_equal(members_of(SET_HINTS), 10);
  assert_string_equal(workload_member("bfs", SET_HINTS)->abbreviation, "BFS");
  assert_non_null(workload_member("nn", SET_RISE)->doubt);
  assert_null(workload_member("vecadd", SET_RISE));
  assert_true(workload_in_set("vecadd", SET_ALL));
}

static void traits_are_bounds_of_ratios(void **state) {
  (void)state;
  const WorkloadTrait least = {RATIO_CONTROL_SHARE, TRAIT_AT_LEAST, 0.25, "control", SIZE_TINY};
  const WorkloadTrait most = {RATIO_CONTROL_SHARE, TRAIT_AT_MOST, 0.25, "little control", SIZE_TINY};
  static const struct {
    uint64_t control;
    bool at_least, at_most;
  } cases[] = {{24, false, true}, {25, true, true}, {26, true, false}};
  double value;
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    Stats stats = {0};
    stats.value[STAT_WARP_INSTRUCTIONS] = 100;
    stats.value[STAT_INSTRUCTIONS_CONTROL] = cases[i].control;
    assert_int_equal(workload_trait_holds(&least, &stats, &value), cases[i].at_least);
    assert_int_equal(workload_trait_holds(&most, &stats, &value), cases[i].at_most);
    assert_true(value == (double)cases[i].control / 100);
  }
  const Stats nothing_ran = {0};
  assert_false(workload_trait_holds(&most, &nothing_ran, &value));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(parameters_are_checked),      cmocka_unit_test(inputs_depend_on_seed_and_stream),
      cmocka_unit_test(floats_are_compared),         cmocka_unit_test(constants_and_textures_reach_kernels),
      cmocka_unit_test(workloads_are_complete),      cmocka_unit_test(lists_name_workloads_and_sets),
      cmocka_unit_test(members_are_unambiguous),     cmocka_unit_test(sets_have_the_papers_sizes),
      cmocka_unit_test(traits_are_bounds_of_ratios),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
