// Curves of a time line; see counters.h.
#include "observe/counters.h"

typedef enum CounterKind {
  COUNTER_RATE, // of a statistic, per cycle
  COUNTER_HITS, // accesses and misses: share of hits in per cent
  COUNTER_USED, // rows of structures that are not free
  COUNTER_SET,  // rows whose first bit is set
} CounterKind;

static const struct {
  const char *name;
  CounterKind kind;
  const char *sources[2]; // statistics or structures; NULL: one is enough
} table[COUNTERS] = {
    {"IPC", COUNTER_RATE, {"warp_instructions", NULL}},
    {"active warps", COUNTER_SET, {"warp.valid", NULL}},
    {"L1 miss registers", COUNTER_USED, {"mshr", NULL}},
    {"interconnect packets", COUNTER_USED, {"network.address", "network.reply"}},
    {"DRAM queue", COUNTER_USED, {"dramq.address", NULL}},
    {"L1 hit rate in %", COUNTER_HITS, {"l1d_accesses", "l1d_misses"}},
    {"L2 hit rate in %", COUNTER_HITS, {"l2_accesses", "l2_misses"}},
};
const char *counter_name(uint32_t counter) { return table[counter].name; }

static const uint64_t *statistic(const HookMachine *machine, const char *name) {
  return machine->stat == NULL || name == NULL ? NULL : machine->stat(machine, name);
}

static uint64_t count_rows(const HookMachine *machine, const char *name, CounterKind kind, bool *known) {
  uint16_t index = machine->regions == NULL || name == NULL ? REGION_NONE : region_find(machine->regions, name);
  if (index == REGION_NONE || (kind == COUNTER_USED && machine->is_free == NULL)) return 0;
  const Region *region = &machine->regions->items[index];
  uint64_t count = 0;
  for (uint64_t row = 0; row < region->rows; row++) {
    Site site = {.region = index, .row = row};
    if (kind == COUNTER_USED) count += !machine->is_free(machine, &site);
    else count += (machine->block[site_byte(region, &site)] & site_mask(&site)) != 0;
  }
  *known = true;
  return count;
}

void counters_begin(Counters *counters, const HookMachine *machine) {
  *counters = (Counters){.cycle = machine->cycle};
  for (uint32_t i = 0; i < COUNTERS; i++) {
    for (uint32_t k = 0; k < 2; k++) {
      const uint64_t *value = statistic(machine, table[i].sources[k]);
      if (value != NULL) counters->seen[i][k] = *value;
    }
  }
}

// A statistic's change since the last sample.
static bool change(Counters *counters, const HookMachine *machine, uint32_t i, uint32_t k, uint64_t *by) {
  const uint64_t *value = statistic(machine, table[i].sources[k]);
  if (value == NULL) return false;
  *by = *value - min_u64(counters->seen[i][k], *value);
  counters->seen[i][k] = *value;
  return true;
}

static CounterSample sample_rate(Counters *counters, const HookMachine *machine, uint32_t i) {
  uint64_t count = 0, cycles = machine->cycle - min_u64(counters->cycle, machine->cycle);
  bool known = change(counters, machine, i, 0, &count) && cycles > 0;
  return (CounterSample){known, counters->cycle, known ? (double)count / (double)cycles : 0};
}

static CounterSample sample_hits(Counters *counters, const HookMachine *machine, uint32_t i) {
  uint64_t accesses = 0, misses = 0;
  bool known = change(counters, machine, i, 0, &accesses) && change(counters, machine, i, 1, &misses) && accesses > 0;
  return (CounterSample){known, counters->cycle, known ? 100 * (1 - (double)min_u64(misses, accesses) / (double)accesses) : 0};
}

static CounterSample sample_places(const HookMachine *machine, uint32_t i) {
  CounterSample sample = {.at = machine->cycle};
  for (uint32_t k = 0; k < 2; k++) sample.value += (double)count_rows(machine, table[i].sources[k], table[i].kind, &sample.known);
  return sample;
}

void counters_sample(Counters *counters, const HookMachine *machine, CounterSample samples[COUNTERS]) {
  for (uint32_t i = 0; i < COUNTERS; i++) {
    samples[i] = table[i].kind == COUNTER_RATE   ? sample_rate(counters, machine, i)
                 : table[i].kind == COUNTER_HITS ? sample_hits(counters, machine, i)
                                                 : sample_places(machine, i);
  }
  counters->cycle = machine->cycle;
}
