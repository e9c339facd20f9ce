// See cores.h. Version 2 of control groups: "0::/a/b" in /proc/self/cgroup, quota and period in a/b/cpu.max; version 1:
// "4:cpu,cpuacct:/a/b", cpu.cfs_quota_us and cpu.cfs_period_us in cpu,cpuacct/a/b. A group is bounded by those above it too. In a
// container the path may be one of the host that cannot be seen; its own group is then at the root.
#include "cli/cores.h"

#include "base/process.h"
#include "cli/cli.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_CORES = 1 << 16 };

// ---- Control groups ----------------------------------------------------------------------------------

static bool read_line(const char *path, char *line, size_t size) {
  FILE *file = fopen(path, "re");
  if (file == NULL) return false;
  bool good = fgets(line, (int)size, file) != NULL;
  fclose(file);
  return good;
}

// 0: no quota.
static uint32_t cores_of(double quota, double period) {
  if (!(quota > 0) || !(period > 0) || quota / period > MOST_CORES) return 0;
  double whole = quota / period;
  uint32_t cores = (uint32_t)whole;
  return whole > cores ? cores + 1 : cores;
}

static uint32_t group_quota(Arena *arena, const char *folder, bool is_second) {
  char line[64], period[64] = "100000";
  if (is_second) {
    double quota = 0, every = 0;
    bool good = read_line(arena_format(arena, "%s/cpu.max", folder), line, sizeof line) && sscanf(line, "%lf %lf", &quota, &every) == 2;
    return good ? cores_of(quota, every) : 0; // "max 100000": none
  }
  if (!read_line(arena_format(arena, "%s/cpu.cfs_quota_us", folder), line, sizeof line)) return 0;
  if (!read_line(arena_format(arena, "%s/cpu.cfs_period_us", folder), period, sizeof period)) return 0;
  return cores_of(strtod(line, NULL), strtod(period, NULL));
}

static uint32_t least(uint32_t a, uint32_t b) { return a == 0 || (b != 0 && b < a) ? b : a; }

// The group and all above it.
static uint32_t path_quota(Arena *arena, const char *root, const char *group, bool is_second) {
  char *path = arena_copy_text(arena, group, strlen(group));
  uint32_t cores = group_quota(arena, root, is_second);
  for (char *slash; path[0] == '/' && path[1] != '\0'; *slash = '\0') {
    cores = least(cores, group_quota(arena, arena_format(arena, "%s%s", root, path), is_second));
    slash = strrchr(path, '/');
  }
  return cores;
}

static bool has_cpu(const char *controllers) {
  for (const char *at = controllers; *at != '\0'; at += strcspn(at, ",") + (at[strcspn(at, ",")] == ',')) {
    if (strcspn(at, ",") == 3 && strncmp(at, "cpu", 3) == 0) return true;
  }
  return false;
}

// "ID:CONTROLLERS:/PATH"
static uint32_t line_quota(Arena *arena, const char *root, char *line) {
  char *controllers = strchr(line, ':'), *path = controllers == NULL ? NULL : strchr(controllers + 1, ':');
  line[strcspn(line, "\n")] = '\0';
  if (path == NULL) return 0;
  *controllers++ = '\0';
  *path++ = '\0';
  if (strcmp(line, "0") == 0 && controllers[0] == '\0') return path_quota(arena, root, path, true);
  if (!has_cpu(controllers)) return 0;
  uint32_t joined = path_quota(arena, arena_format(arena, "%s/%s", root, controllers), path, false);
  return joined != 0 ? joined : path_quota(arena, arena_format(arena, "%s/cpu", root), path, false);
}

uint32_t cgroup_cores(const char *groups, const char *root) {
  FILE *file = fopen(groups, "re");
  if (file == NULL) return 0;
  Arena *arena = arena_new();
  char line[4096];
  uint32_t cores = 0;
  while (fgets(line, sizeof line, file) != NULL) cores = least(cores, line_quota(arena, root, line));
  fclose(file);
  arena_free(arena);
  return cores;
}

// ---- This process ------------------------------------------------------------------------------------

static uint32_t affinity_cores(void) {
  size_t bytes = CPU_ALLOC_SIZE(MOST_CORES);
  cpu_set_t *set = CPU_ALLOC(MOST_CORES);
  ASSERT(set != NULL);
  int count = sched_getaffinity(0, bytes, set) == 0 ? CPU_COUNT_S(bytes, set) : 1;
  CPU_FREE(set);
  return count < 1 ? 1 : (uint32_t)count;
}

uint32_t host_cores(void) { return least(affinity_cores(), cgroup_cores("/proc/self/cgroup", "/sys/fs/cgroup")); }

bool option_jobs(const OptionUse *use) {
  uint32_t *jobs = option_field(use), cores = min_u32(host_cores(), MOST_JOBS);
  if (!option_u32(use)) return false;
  if (*jobs > cores)
    message_note(false, "%s %s: this process may use %u processor%s: %u at a time", use->name, use->text, cores, cores == 1 ? "" : "s",
                 cores);
  *jobs = min_u32(*jobs, cores);
  return true;
}
