// The smallest set of kernels for a coverage. Of few kernels every set is looked at: with the weight of the faults that exactly the kernels
// of a set detect, sums over subsets give the weight that a set leaves out, for all sets at once. Of many, the kernel that adds most is taken
// until it is enough, and those that have become needless are dropped; how far from the best that may be is said.
#include "report/grade.h"

#include <stdlib.h>

// Sums of weights differ in their last digits.
static const double SLACK = 1e-9;

static double total_weight(const GradeFault *faults, uint64_t count) {
  double sum = 0;
  for (uint64_t i = 0; i < count; i++) sum += faults[i].weight;
  return sum;
}

static double weight_of(const GradeFault *faults, uint64_t count, KernelSet kernels) {
  double sum = 0;
  for (uint64_t i = 0; i < count; i++) sum += (faults[i].detected_by & kernels) != 0 ? faults[i].weight : 0;
  return sum;
}

double grade_covered(const GradeFault *faults, uint64_t count, KernelSet kernels) {
  double total = total_weight(faults, count);
  return total <= 0 ? 0 : weight_of(faults, count, kernels) / total;
}

static uint64_t cycles_of(const uint64_t *cycles, uint32_t kernels, KernelSet set) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < kernels; i++) sum += (set >> i & 1) != 0 ? cycles[i] : 0;
  return sum;
}

static KernelSet all_of(uint32_t kernels) { return kernels >= 64 ? UINT64_MAX : (UINT64_C(1) << kernels) - 1; }

static GradeChoice choose_exactly(const GradeFault *faults, uint64_t count, const uint64_t *cycles, uint32_t kernels, double needed) {
  uint64_t sets = UINT64_C(1) << kernels;
  double *missed = calloc(sets, sizeof *missed); // by faults that only kernels of this set detect
  ASSERT(missed != NULL);
  for (uint64_t i = 0; i < count; i++) missed[faults[i].detected_by] += faults[i].weight;
  for (uint32_t k = 0; k < kernels; k++) {
    for (uint64_t set = 0; set < sets; set++) missed[set] += (set >> k & 1) != 0 ? missed[set ^ (UINT64_C(1) << k)] : 0;
  }
  double total = missed[sets - 1];
  GradeChoice best = {.is_smallest = true};
  uint64_t best_cycles = 0;
  for (uint64_t set = 0; set < sets; set++) {
    if (total - missed[(sets - 1) ^ set] < needed) continue;
    uint32_t size = (uint32_t)__builtin_popcountll(set);
    uint64_t length = cycles_of(cycles, kernels, set);
    if (best.is_reached && (size > best.count || (size == best.count && length >= best_cycles))) continue;
    best = (GradeChoice){.kernels = set, .count = size, .is_reached = true, .is_smallest = true, .least = size};
    best_cycles = length;
  }
  free(missed);
  return best;
}

static uint32_t best_addition(const GradeFault *faults, uint64_t count, const uint64_t *cycles, uint32_t kernels, KernelSet chosen) {
  uint32_t best = kernels;
  double most = 0;
  for (uint32_t i = 0; i < kernels; i++) {
    KernelSet bit = UINT64_C(1) << i;
    double weight = (chosen & bit) != 0 ? 0 : weight_of(faults, count, chosen | bit);
    if ((chosen & bit) != 0 || (best < kernels && (weight < most || (weight == most && cycles[i] >= cycles[best])))) continue;
    best = i;
    most = weight;
  }
  return best;
}

static int by_size(const void *left, const void *right) {
  double a = *(const double *)left, b = *(const double *)right;
  return a > b ? -1 : a < b;
}

// So many at least: even if no two of the best detected the same fault.
static uint32_t least_kernels(const GradeFault *faults, uint64_t count, uint32_t kernels, double needed) {
  double weights[GRADE_KERNELS], sum = 0;
  uint32_t least = 0;
  for (uint32_t i = 0; i < kernels; i++) weights[i] = weight_of(faults, count, UINT64_C(1) << i);
  qsort(weights, kernels, sizeof *weights, by_size);
  while (least < kernels && sum < needed) sum += weights[least++];
  return least;
}

static GradeChoice choose_greedily(const GradeFault *faults, uint64_t count, const uint64_t *cycles, uint32_t kernels, double needed) {
  KernelSet chosen = 0;
  while (weight_of(faults, count, chosen) < needed) {
    uint32_t next = best_addition(faults, count, cycles, kernels, chosen);
    if (next == kernels) break;
    chosen |= UINT64_C(1) << next;
  }
  if (weight_of(faults, count, chosen) < needed) return (GradeChoice){0};
  for (uint32_t i = 0; i < kernels; i++) {
    KernelSet without = chosen & ~(UINT64_C(1) << i);
    if (weight_of(faults, count, without) >= needed) chosen = without;
  }
  GradeChoice choice = {.kernels = chosen, .count = (uint32_t)__builtin_popcountll(chosen), .is_reached = true};
  choice.least = least_kernels(faults, count, kernels, needed);
  choice.is_smallest = choice.least == choice.count;
  return choice;
}

GradeChoice grade_choose(const GradeFault *faults, uint64_t count, const uint64_t *cycles, uint32_t kernels, double goal, uint32_t exact) {
  double total = total_weight(faults, count), needed = goal * total - SLACK * total;
  ASSERT(kernels <= GRADE_KERNELS && exact <= GRADE_EXACT);
  if (weight_of(faults, count, all_of(kernels)) < needed) return (GradeChoice){0};
  return kernels <= exact ? choose_exactly(faults, count, cycles, kernels, needed)
                          : choose_greedily(faults, count, cycles, kernels, needed);
}
