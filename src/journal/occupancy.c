// See occupancy.h.
#include "journal/occupancy.h"

#include <inttypes.h>

bool occupancy_is_low(const Occupancy *occupancy) {
  if (!occupancy->is_known) return false;
  bool has_few_warps = occupancy->warps < OCCUPANCY_LEAST && occupancy->registers < OCCUPANCY_LEAST;
  return has_few_warps || occupancy->sms < OCCUPANCY_LEAST;
}

void occupancy_text(const Occupancy *occupancy, Text *out) {
  text_add(out, "%.1f of %" PRIu64 " SMs with blocks, %.1f%% of warps, %.1f%% of registers", occupancy->sms * (double)occupancy->sm_count,
           occupancy->sm_count, 100 * occupancy->warps, 100 * occupancy->registers);
}
