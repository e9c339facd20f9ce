// What a time line shows as curves, sampled now and then from what a machine tells of itself: its statistics so far, and which places
// of its structures are free. A machine that lacks a structure or a statistic lacks the curve.
#ifndef REDOUBT_COUNTERS_H
#define REDOUBT_COUNTERS_H

#include "hook/hook.h"

enum { COUNTERS = 7 };
const char *counter_name(uint32_t counter);

typedef struct Counters {
  uint64_t cycle; // of the last sample
  uint64_t seen[COUNTERS][2];
} Counters;

void counters_begin(Counters *counters, const HookMachine *machine); // a launch begins
typedef struct CounterSample {
  bool known;  // false: the machine has no such thing, or nothing happened that could be counted
  uint64_t at; // cycle from which the value holds: now for places in use, the last sample for rates
  double value;
} CounterSample;
void counters_sample(Counters *counters, const HookMachine *machine, CounterSample samples[COUNTERS]);

#endif
