// What a machine with time has to say of a kernel, for people: a line per subject, lines without anything to say left out.
#include "cli/run.h"

#include "campaign/golden.h"
#include "machine/ratio.h"

#include <inttypes.h>

typedef struct Part { // a ratio with the words around it, as a part of a line
  RatioId ratio;
  const char *before, *after;
  double factor;
  int digits;
} Part;

static uint64_t of(const Stats *stats, StatId stat) { return stats->value[stat]; }

// One number of a line; `*parts` counts them, for the commas. Zeros are not shown.
static void add_number(Text *line, uint32_t *parts, const Part *part, double value) {
  if (value == 0) return;
  text_add(line, "%s%s%.*f%s", (*parts)++ == 0 ? "" : ", ", part->before, part->digits, value * part->factor, part->after);
}

static void add_parts(Text *line, const Stats *stats, const Part *parts, size_t count) {
  uint32_t shown = 0;
  for (size_t i = 0; i < count; i++) {
    double value;
    if (ratio_value(parts[i].ratio, stats, &value)) add_number(line, &shown, &parts[i], value);
  }
}

// What would have come after a colon or comma may not be known of this machine.
static void add_line(Text *out, const char *title, Text *line) {
  while (line->length > 0 && strchr(" ,:", line->at[line->length - 1]) != NULL) line->at[--line->length] = '\0';
  if (line->length > 0) text_add(out, "  %-14s %s\n", title, line->at);
  text_free(line);
  *line = (Text){0};
}

static void add_occupancy(const LaunchRecord *launch, const Spec *spec, Text *out) {
  Text line = {0};
  Resident resident = resident_of(launch);
  Occupancy occupancy = occupancy_of(spec, &resident);
  if (occupancy.is_known) occupancy_text(&occupancy, &line);
  if (occupancy_is_low(&occupancy)) text_add(&line, " (low: under %.0f%%)", 100 * OCCUPANCY_LEAST);
  add_line(out, "occupancy", &line);
}

static void add_time(const Stats *stats, const Spec *spec, Text *out) {
  Text line = {0};
  text_add(&line, "%" PRIu64 " cycles, %.4f ms at %g MHz", of(stats, STAT_CYCLES), simulated_milliseconds(stats, spec),
           (double)spec->clock_core_khz / 1000);
  add_line(out, "time", &line);
  static const Part ipc[] = {{RATIO_THREAD_IPC, "", " thread instructions", 1, 3},
                             {RATIO_WARP_IPC, "", " warp instructions a cycle", 1, 3}};
  add_parts(&line, stats, ipc, COUNT_OF(ipc));
  add_line(out, "IPC", &line);
}

static void add_idle(const Stats *stats, Text *out) {
  static const Part reasons[] = {{RATIO_IDLE_MEMORY, "memory ", "%", 100, 1},
                                 {RATIO_IDLE_EMPTY, "imbalance ", "%", 100, 1},
                                 {RATIO_IDLE_BARRIER, "barriers ", "%", 100, 1},
                                 {RATIO_IDLE_FETCH, "fetch ", "%", 100, 1},
                                 {RATIO_IDLE_PIPELINE, "pipeline ", "%", 100, 1}};
  Text line = {0};
  double value;
  if (ratio_value(RATIO_IDLE_FULL, stats, &value) && value > 0) {
    text_add(&line, "%.1f%% of SM cycles: ", 100 * value);
    add_parts(&line, stats, reasons, COUNT_OF(reasons));
  }
  add_line(out, "fully idle", &line);
  static const Part partly[] = {{RATIO_PARTIAL_TIME, "", "% of issue slots", 100, 1},
                                {RATIO_PARTIAL_ISSUES, "", "% of issues for 1 to 31 threads", 100, 1},
                                {RATIO_PARTIAL_SP, "", "% of SM cycles with SPs at work and lanes idle", 100, 1}};
  add_parts(&line, stats, partly, COUNT_OF(partly));
  add_line(out, "partly idle", &line);
}

typedef struct UnitName {
  StatId stat;
  const char *name;
} UnitName;

static void add_units(const Stats *stats, Text *out) {
  static const UnitName units[] = {{STAT_UNIT_ALU, "alu"}, {STAT_UNIT_FP32, "fp32"},     {STAT_UNIT_FP64, "fp64"},
                                   {STAT_UNIT_SFU, "sfu"}, {STAT_UNIT_TENSOR, "tensor"}, {STAT_UNIT_LDST, "ld/st"}};
  uint64_t total = 0;
  for (size_t i = 0; i < COUNT_OF(units); i++) total += of(stats, units[i].stat);
  Text line = {0};
  for (size_t i = 0; i < COUNT_OF(units) && total > 0; i++) {
    if (of(stats, units[i].stat) == 0) continue;
    text_add(&line, "%s%s %.1f%%", line.length == 0 ? "" : ", ", units[i].name, 100 * (double)of(stats, units[i].stat) / (double)total);
  }
  add_line(out, "units", &line);
}

// Warp instructions by how many threads execute, in halves of what is left: 32, 16 to 31, 8 to 15, ... 1, 0.
static void add_divergence(const Stats *stats, Text *out) {
  uint64_t total = 0;
  for (int n = 0; n <= WARP_LANES; n++) total += of(stats, STAT_ACTIVE_0 + (StatId)n);
  Text line = {0};
  for (int first = WARP_LANES, last = WARP_LANES; last >= 0; last = first - 1, first /= 2) {
    uint64_t count = 0;
    for (int n = first; n <= last; n++) count += of(stats, STAT_ACTIVE_0 + (StatId)n);
    if (count == 0) continue;
    text_add(&line, line.length == 0 ? "active threads %d" : ", %d", first);
    if (last > first) text_add(&line, "-%d", last);
    text_add(&line, ": %.1f%%", 100 * (double)count / (double)total);
  }
  add_line(out, "divergence", &line);
}

static void add_lanes(const Stats *stats, Text *out) {
  uint64_t instructions = of(stats, STAT_UNIT_ALU) + of(stats, STAT_UNIT_FP32);
  int least = 0, most = 0;
  for (int n = 1; n < WARP_LANES; n++) {
    if (of(stats, STAT_LANE_0 + (StatId)n) < of(stats, STAT_LANE_0 + (StatId)least)) least = n;
    if (of(stats, STAT_LANE_0 + (StatId)n) > of(stats, STAT_LANE_0 + (StatId)most)) most = n;
  }
  Text line = {0};
  if (instructions > 0) {
    text_add(&line, "%.1f%% (lane %d) to %.1f%% (lane %d) of the SPs' instructions",
             100 * (double)of(stats, STAT_LANE_0 + (StatId)least) / (double)instructions, least,
             100 * (double)of(stats, STAT_LANE_0 + (StatId)most) / (double)instructions, most);
  }
  add_line(out, "lanes used", &line);
}

// Hit rates, with how often each cache was asked.
static void add_caches(const Stats *stats, Text *out) {
  static const struct {
    RatioId misses;
    StatId accesses;
    const char *name;
  } caches[] = {{RATIO_L1D, STAT_L1D_ACCESSES, "L1D"},
                {RATIO_L2, STAT_L2_ACCESSES, "L2"},
                {RATIO_ICACHE, STAT_ICACHE_ACCESSES, "instructions"},
                {RATIO_ICACHE2, STAT_ICACHE2_ACCESSES, "second level"},
                {RATIO_CONSTANT, STAT_CONSTANT_ACCESSES, "constants"},
                {RATIO_TEXTURE, STAT_TEXTURE_ACCESSES, "textures"}};
  Text line = {0};
  for (size_t i = 0; i < COUNT_OF(caches); i++) {
    double misses;
    if (!ratio_value(caches[i].misses, stats, &misses)) continue;
    text_add(&line, "%s%s %.1f%% of %" PRIu64, line.length == 0 ? "" : ", ", caches[i].name, 100 * (1 - misses),
             of(stats, caches[i].accesses));
  }
  add_line(out, "cache hits", &line);
}

static void add_memory(const Stats *stats, Text *out) {
  static const Part coalescing[] = {{RATIO_LOAD_TRANSACTIONS, "", " requests per load", 1, 2},
                                    {RATIO_STORE_TRANSACTIONS, "", " per store", 1, 2},
                                    {RATIO_ATOMIC_TRANSACTIONS, "", " per atomic", 1, 2}};
  static const Part conflicts[] = {{RATIO_SHARED_CONFLICTS, "shared memory ", " further passes per access", 1, 2},
                                   {RATIO_REGISTER_CONFLICTS, "registers ", "% of reads put off", 100, 1}};
  static const Part times[] = {{RATIO_MEMORY_LATENCY, "", " cycles mean read latency", 1, 1},
                               {RATIO_NETWORK_WAIT, "", " cycles wait for the interconnect", 1, 1}};
  static const Part dram[] = {{RATIO_DRAM_ROWS, "", "% row hits", 100, 1}, {RATIO_DRAM_WAIT, "", " cycles mean queue wait", 1, 1}};
  Text line = {0};
  add_parts(&line, stats, coalescing, COUNT_OF(coalescing));
  add_line(out, "coalescing", &line);
  add_parts(&line, stats, conflicts, COUNT_OF(conflicts));
  add_line(out, "bank conflicts", &line);
  add_caches(stats, out);
  add_parts(&line, stats, times, COUNT_OF(times));
  add_line(out, "memory", &line);
  if (of(stats, STAT_DRAM_READS) + of(stats, STAT_DRAM_WRITES) > 0) {
    text_add(&line, "%" PRIu64 " reads, %" PRIu64 " writes, ", of(stats, STAT_DRAM_READS), of(stats, STAT_DRAM_WRITES));
    add_parts(&line, stats, dram, COUNT_OF(dram));
  }
  add_line(out, "DRAM", &line);
}

static void add_protection(const Stats *stats, Text *out) {
  static const UnitName counts[] = {{STAT_PARTS, "further parts of divided instructions"},
                                    {STAT_MOVED, "issued on other lanes"},
                                    {STAT_BOUND, "issued to a chosen SP"},
                                    {STAT_COPIES, "copies issued"},
                                    {STAT_REPEATED, "repeated"},
                                    {STAT_DETECTED, "detected"},
                                    {STAT_CORRECTED, "corrected"}};
  Text line = {0};
  for (size_t i = 0; i < COUNT_OF(counts); i++) {
    if (of(stats, counts[i].stat) == 0) continue;
    text_add(&line, "%s%" PRIu64 " %s", line.length == 0 ? "" : ", ", of(stats, counts[i].stat), counts[i].name);
  }
  add_line(out, "protection", &line);
  if (of(stats, STAT_UPSETS) > 0) text_add(&line, "%" PRIu64 " bits flipped (--upsets)", of(stats, STAT_UPSETS));
  add_line(out, "upsets", &line);
}

void summary_format(const LaunchRecord *launch, const Spec *spec, const PowerModel *power, Text *out) {
  const Stats *stats = &launch->stats;
  add_time(stats, spec, out);
  add_occupancy(launch, spec, out);
  add_idle(stats, out);
  add_units(stats, out);
  add_divergence(stats, out);
  add_lanes(stats, out);
  add_memory(stats, out);
  if (power != NULL) energy_summary(power, stats, out);
  add_protection(stats, out);
}
