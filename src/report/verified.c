// What the self-check says of a campaign: of each way to settle faults, how many were decided once more by a full simulation, without a difference.
#include "report/report_internal.h"

#include <inttypes.h>

// Whom shortcuts took at their word.
static bool is_due(const Report *report, Way way) {
  return way == WAY_FOLLOWED && report->ways[way] > 0 && strcmp(report->meta->protection, "none") != 0;
}

// The rule of three.
Estimate report_verified_bound(const Report *report, Way way) {
  uint64_t verified = report->verified[way], faults = report->ways[way];
  double high = verified == faults ? 0 : 3 / (double)max_u64(verified, 3);
  return (Estimate){verified > 0, 0, 0, high};
}

void report_verified_text(const Report *report, Text *out) {
  static const char *const what[WAY_COUNT] = {"that nothing read", "settled by their class", "followed through the program",
                                              "simulated from the run without faults"};
  for (uint32_t way = 0; way < WAY_COUNT; way++) {
    uint64_t faults = report->ways[way], verified = report->verified[way];
    if (verified == 0 && is_due(report, (Way)way))
      text_add(out, "self-check: none of %" PRIu64 " faults %s, on the protection's word, was simulated in full (--verify)\n", faults,
               what[way]);
    if (verified == 0) continue;
    text_add(out, "self-check: %" PRIu64 " of %" PRIu64 " faults %s were simulated in full, too: all alike", verified, faults, what[way]);
    if (verified < faults)
      text_add(out, "; at most %.2g%% of them end otherwise (3/n, at 95%%)", 100 * report_verified_bound(report, (Way)way).high);
    text_add(out, "\n");
  }
}
