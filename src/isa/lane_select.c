// Which build of the lane functions to use. All builds give the same bits; they differ in speed.
#include "isa/isa_internal.h"

#if defined(__x86_64__) && !defined(REDOUBT_BASELINE_LANES)
#define HAS_LEVELS
// Feature names that both gcc and clang know; every processor with these has the rest of its level.
static bool has_v3(void) {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
}
static bool has_v4(void) {
  return has_v3() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}
#endif

LaneBuild lane_build(unsigned number) {
  if (number == 0) return (LaneBuild){"baseline", lane_functions_baseline, true};
#if defined(HAS_LEVELS)
#if !defined(REDOUBT_SANITIZED)
  if (number == 1) return (LaneBuild){"x86-64-v3", lane_functions_v3, has_v3()};
#endif
  if (number == 2) return (LaneBuild){"x86-64-v4", lane_functions_v4, has_v4()};
#endif
  return (LaneBuild){"absent", NULL, false};
}

unsigned lane_level(void) {
  unsigned best = 0;
  for (unsigned number = 1; number < LANE_BUILDS; number++) best = lane_build(number).runs_here ? number : best;
  return best;
}

const LaneFunction *lane_functions(void) { return lane_build(lane_level()).functions; }
