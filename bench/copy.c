// What it costs to make a clone equal to its machine again, as trials do: copy WORKLOAD MACHINE SIZE EVERY AHEAD
// Every EVERY cycles of a run a clone is made equal to the machine and runs AHEAD cycles away from it. Processor time, so that a loaded host matters little.
#include "device/workload.h"
#include "machine/mirror.h"
#include "machine/simt/simt.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef struct Copier {
  Hook hook;
  Device *device;
  Machine *clone;
  Memory *memory;
  uint64_t every, ahead;
  double copying, running; // microseconds
  uint32_t copies;
  uint64_t bytes; // copied, but for the first time
} Copier;

static double now_us(void) {
  struct timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return (double)time.tv_sec * 1e6 + (double)time.tv_nsec * 1e-3;
}

static void on_cycle(Hook *hook, HookMachine *machine) {
  Copier *at = hook->own;
  Machine *original = device_machine(at->device);
  if (at->clone == NULL) {
    at->memory = memory_clone(device_memory(at->device), NULL);
    at->clone = machine_clone(original, at->memory, NULL);
  }
  double start = now_us();
  machine_copy(at->clone, original);
  double copied = now_us();
  machine_run(at->clone, machine->cycle + at->ahead);
  at->copying += copied - start;
  at->running += now_us() - copied;
  at->copies++;
  at->bytes += mirror_copied(simt_in(at->clone)->mirror);
  hook->next_cycle = machine->cycle + at->every;
}

static void on_finish(Hook *hook, HookMachine *machine) {
  Copier *at = hook->own;
  (void)machine;
  machine_free(at->clone);
  memory_free(at->memory);
  at->clone = NULL;
  at->memory = NULL;
}

int main(int count, char **words) {
  if (count != 6) return 2;
  Arena *arena = arena_new();
  Diags diags = {0};
  Spec spec;
  Copier at = {.every = strtoull(words[4], NULL, 10), .ahead = strtoull(words[5], NULL, 10)};
  at.hook = (Hook){.name = "copier", .kind = HOOK_OBSERVER, .own = &at, .cycle = on_cycle, .finish = on_finish, .next_cycle = 500};
  HookChain chain = {.hooks = {&at.hook}, .count = 1};
  const Workload *workload = workload_find(words[1]);
  WorkloadSize size = SIZE_TINY;
  while (size < SIZE_COUNT && strcmp(workload_size_text[size], words[3]) != 0) size++;
  if (workload == NULL || size == SIZE_COUNT || !spec_load(&spec, arena, words[2], &diags)) return 2;
  at.device = device_new(&(DeviceOptions){.spec = &spec, .hooks = &chain}, &diags);
  WorkloadRun run = {0};
  if (at.device == NULL || !workload_start(&run, workload, size, at.device, &diags)) return 1;
  double start = now_us();
  if (!workload->prepare(&run) || !workload->launch(&run) || at.copies == 0) return 1;
  double all = now_us() - start;
  printf("%s, %s, %s: %u copies, %.0f KB of %zu KB and %.0f us each; %.0f us for %u cycles of the clone; the whole run %.0f ms\n", words[1],
         words[3], words[2], at.copies, (double)at.bytes / at.copies / 1024, machine_regions(device_machine(at.device))->block_bytes / 1024,
         at.copying / at.copies, at.running / at.copies, (uint32_t)at.ahead, all / 1000);
  return 0;
}
