// A campaign cut into tasks. Faults are settled in batches, and each batch costs runs without faults whatever part of it is wanted: so a task has
// whole batches, or an even share of one.
#include "cluster/cluster.h"

#include <math.h>

enum { LEAST_FAULTS = 64 };

ClusterCost cost_of(double seconds_1, uint64_t faults_1, double seconds_2, uint64_t faults_2) {
  double more = faults_2 > faults_1 ? (seconds_2 - seconds_1) / (double)(faults_2 - faults_1) : 0;
  ClusterCost cost = {.each = fmax(more, 1e-6)};
  cost.fixed = fmax(seconds_1 - cost.each * (double)faults_1, 0);
  return cost;
}

// The nearest size that deals batches evenly.
static uint64_t even(uint64_t faults, uint64_t batch) {
  if (faults >= batch) return faults / batch * batch;
  uint64_t shares = (batch + faults - 1) / faults;
  return (batch + shares - 1) / shares;
}

// A second and further batch of a task cost as much as the first, but for one run without faults: about two thirds of what is fixed.
uint64_t cluster_task_faults(const ClusterCost *cost, double seconds, uint64_t batch) {
  double whole = cost->fixed * 2 / 3 + cost->each * (double)batch;
  double first = cost->fixed / 3;
  uint64_t faults;
  if (seconds >= first + 2 * whole) faults = (uint64_t)((seconds - first) / whole) * batch;
  else faults = (uint64_t)fmax((seconds - cost->fixed) / cost->each, LEAST_FAULTS);
  return even(max_u64(faults, LEAST_FAULTS), batch);
}

uint64_t cluster_task_faults_of(uint64_t total, uint32_t tasks, uint64_t batch) {
  uint64_t faults = max_u64((total + tasks - 1) / tasks, 1);
  return faults > batch ? (faults + batch - 1) / batch * batch : faults;
}

void cluster_plan_cut(ClusterPlan *plan, uint64_t first, uint64_t end, uint64_t size, uint64_t batch, const char *enough) {
  while (first < end) {
    uint64_t stop = first + size, border = (first / batch + 1) * batch;
    if (size < batch) stop = min_u64(stop, border); // a task of less than a batch needs one batch alone
    ClusterTask *task = VEC_PUSH(&plan->tasks, plan->arena);
    *task = (ClusterTask){.first = first, .end = min_u64(stop, end), .enough = enough};
    first = task->end;
  }
}
