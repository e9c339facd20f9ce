// Quotas of control groups, from made-up files of both versions.
#include "cli/cores.h"

#include <sched.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <cmocka.h>

typedef struct Scene {
  Arena *arena;
  char *root;
} Scene;

// Folders on the way are made.
static void put(Scene *scene, const char *name, const char *text) {
  char *path = arena_format(scene->arena, "%s/%s", scene->root, name);
  for (char *slash = path + strlen(scene->root); (slash = strchr(slash + 1, '/')) != NULL;) {
    *slash = '\0';
    mkdir(path, 0777);
    *slash = '/';
  }
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

static uint32_t cores(Scene *scene) { return cgroup_cores(arena_format(scene->arena, "%s/groups", scene->root), scene->root); }

static int open_scene(void **state) {
  Scene *scene = calloc(1, sizeof *scene);
  scene->arena = arena_new();
  const char *folder = getenv("TMPDIR");
  scene->root = mkdtemp(arena_format(scene->arena, "%s/redoubt-cores-XXXXXX", folder == NULL ? "/tmp" : folder));
  *state = scene;
  return scene->root == NULL;
}

static int close_scene(void **state) {
  Scene *scene = *state;
  char *command = arena_format(scene->arena, "rm -rf '%s'", scene->root);
  int code = system(command);
  arena_free(scene->arena);
  free(scene);
  return code;
}

static void test_second(void **state) {
  Scene *scene = *state;
  assert_int_equal(cores(scene), 0); // no control groups at all
  put(scene, "groups", "0::/slice/job\n");
  assert_int_equal(cores(scene), 0);
  put(scene, "slice/job/cpu.max", "max 100000\n");
  assert_int_equal(cores(scene), 0);
  put(scene, "slice/job/cpu.max", "250000 100000\n");
  assert_int_equal(cores(scene), 3); // two and a half
  put(scene, "slice/cpu.max", "200000 100000\n");
  assert_int_equal(cores(scene), 2); // the group above holds both
  put(scene, "slice/job/cpu.max", "10000 100000\n");
  assert_int_equal(cores(scene), 1);
  put(scene, "slice/job/cpu.max", "nonsense\n");
  assert_int_equal(cores(scene), 2);
}

static void test_container(void **state) {
  Scene *scene = *state;
  put(scene, "groups", "0::/../../host/path\n");
  put(scene, "cpu.max", "400000 100000\n");
  assert_int_equal(cores(scene), 4);
}

static void test_first(void **state) {
  Scene *scene = *state;
  put(scene, "groups", "11:memory:/job\n4:cpu,cpuacct:/job\n1:name=systemd:/job\n0::/\n");
  put(scene, "cpu,cpuacct/job/cpu.cfs_quota_us", "-1\n");
  put(scene, "cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
  assert_int_equal(cores(scene), 0);
  put(scene, "cpu,cpuacct/job/cpu.cfs_quota_us", "600000\n");
  assert_int_equal(cores(scene), 6);
  put(scene, "memory/job/cpu.cfs_quota_us", "100000\n"); // of no meaning there
  put(scene, "memory/job/cpu.cfs_period_us", "100000\n");
  assert_int_equal(cores(scene), 6);
  put(scene, "groups", "5:cpuset:/job\n4:cpu:/job\n");
  put(scene, "cpu/cpu.cfs_quota_us", "150000\n");
  put(scene, "cpu/cpu.cfs_period_us", "50000\n");
  assert_int_equal(cores(scene), 3);
}

// Bound to one processor, -j takes one, however many are wished for.
static void test_host(void **state) {
  (void)state;
  assert_in_range(host_cores(), 1, 1 << 16);
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET((size_t)sched_getcpu(), &one);
  assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
  assert_int_equal(host_cores(), 1);
  uint32_t jobs = 0;
  static const Option row = {"jobs", 'j', "N", "processes", .take = option_jobs, .least = 1, .most = 256};
  OptionUse use = {.option = &row, .name = "-j", .text = "7", .wishes = &jobs, .command = "campaign"};
  assert_true(option_jobs(&use));
  assert_int_equal(jobs, 1);
  use.text = "0";
  assert_false(option_jobs(&use));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_second, open_scene, close_scene),
      cmocka_unit_test_setup_teardown(test_container, open_scene, close_scene),
      cmocka_unit_test_setup_teardown(test_first, open_scene, close_scene),
      cmocka_unit_test(test_host),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
