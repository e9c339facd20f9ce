// How many processors this process may use: its affinity, and the quota of its control groups (containers, batch systems).
#ifndef REDOUBT_CLI_CORES_H
#define REDOUBT_CLI_CORES_H

#include "cli/options.h"

uint32_t host_cores(void); // at least 1
// The least quota of the control groups that `groups` (as /proc/self/cgroup) names under `root` (as /sys/fs/cgroup), in whole
// processors, rounded up; 0: there is none.
uint32_t cgroup_cores(const char *groups, const char *root);
// -j N, into a uint32_t: never more than the processors, which is said.
OptionTake option_jobs;

#endif
