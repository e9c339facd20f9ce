// The library's side of a campaign on a CUDA program; see app.h.
#include "campaign/app.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct AppProcess {
  AppExchange *exchange;
  Arena *arena;
  Target target; // only its device
  Device *device;
  // Without faults
  Golden golden;
  Hook *watch;
  Pruner *pruner;
  // With one
  Hook hook;
  bool struck;
  uint32_t first, checkpoint;
};

static Device *device_of(Target *target) { return ((AppProcess *)target->own)->device; }

// ---- A fault ---------------------------------------------------------------------------------------

static _Noreturn void stop_here(AppProcess *process, AppStop stop, uint64_t corrected) {
  process->exchange->stop = stop;
  process->exchange->corrected = corrected;
  _exit(0);
}

static void wait_for_checkpoint(AppProcess *process, uint64_t cycle) {
  const AppExchange *exchange = process->exchange;
  uint32_t at = process->checkpoint;
  while (at < exchange->checkpoint_count && exchange->checkpoints[at].cycle <= cycle) at++;
  process->checkpoint = at;
  bool more = exchange->can_settle && at < exchange->checkpoint_count;
  process->hook.next_cycle = more ? exchange->checkpoints[at].cycle : exchange->limit;
}

static void strike_cycle(Hook *hook, HookMachine *machine) {
  AppProcess *process = hook->own;
  const AppExchange *exchange = process->exchange;
  if (machine->cycle >= exchange->limit) stop_here(process, APP_TIMED_OUT, 0);
  if (!process->struck && exchange->can_settle) {
    fault_strike(machine, &exchange->fault);
    process->struck = true;
    wait_for_checkpoint(process, machine->cycle);
    process->first = process->checkpoint;
    return;
  }
  const Checkpoint *here = &exchange->checkpoints[process->checkpoint];
  if (process->checkpoint < exchange->checkpoint_count && here->cycle == machine->cycle && target_hash(&process->target) == here->hash) {
    stop_here(process, APP_SETTLED, *machine->corrected + target_stat(&process->target, STAT_CORRECTED));
  }
  process->checkpoint += process->checkpoint - process->first; // ever more seldom, as in inject.c
  wait_for_checkpoint(process, machine->cycle);
}

static bool add_strike(AppProcess *process, HookChain *chain) {
  const AppExchange *exchange = process->exchange;
  process->hook = (Hook){.name = "strike", .kind = HOOK_FAULT, .own = process, .cycle = strike_cycle};
  process->hook.next_cycle = exchange->can_settle ? exchange->strike_at : exchange->limit;
  process->checkpoint = exchange->can_settle ? 0 : exchange->checkpoint_count;
  bool room = hook_chain_add(chain, &process->hook);
  return room && (exchange->can_settle || hook_chain_add(chain, fault_hook(process->arena, &exchange->fault)));
}

// ---- No fault --------------------------------------------------------------------------------------

// Which cells there are is known from a machine like the one that the device will have.
static bool add_watch(AppProcess *process, HookChain *chain, const Spec *spec, Diags *diags) {
  AppExchange *exchange = process->exchange;
  Machine *like = machine_new(spec, chain, diags);
  if (like == NULL) return false;
  process->golden.arena = process->arena;
  process->watch = golden_watch(&process->golden, &process->target, machine_regions(like));
  bool room = hook_chain_add(chain, process->watch);
  if (exchange->draw_count > 0) {
    process->pruner = pruner_new(process->arena, &process->golden.table, exchange->draws, exchange->draw_count);
    room = room && hook_chain_add(chain, pruner_hook(process->pruner));
  }
  machine_free(like);
  return room || diags_add(diags, NULL, 0, 0, "too many protections for a campaign");
}

static void tell_golden(AppProcess *process) {
  AppExchange *exchange = process->exchange;
  Golden *golden = &process->golden;
  golden_measure(process->watch, golden);
  if (process->pruner != NULL) pruner_finish(process->pruner);
  exchange->checkpoint_count = golden->checkpoint_count;
  memcpy(exchange->checkpoints, golden->checkpoints, sizeof golden->checkpoints);
  exchange->cycles = golden->cycles;
  exchange->program_hash = golden->program_hash;
  exchange->memory_bytes = memory_in_use(device_memory(process->device));
  exchange->used_rf = golden->used_rf;
  exchange->used_shared = golden->used_shared;
  exchange->launch_count = golden->launches.count;
  for (uint32_t i = 0; i < golden->launches.count && i < APP_MOST_LAUNCHES; i++) {
    const GoldenRow *row = &golden->launches.items[i];
    AppLaunch *launch = &exchange->launches[i];
    *launch = (AppLaunch){"", row->began_at, row->cycles, row->thread_instructions, row->warp_instructions};
    snprintf(launch->kernel, sizeof launch->kernel, "%s", row->kernel);
  }
}

// ---- Begin and end ---------------------------------------------------------------------------------

static AppExchange *map_exchange(const char *path) {
  int file = open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) return NULL;
  struct stat info;
  void *bytes = MAP_FAILED;
  if (fstat(file, &info) == 0 && (size_t)info.st_size >= sizeof(AppExchange))
    bytes = mmap(NULL, (size_t)info.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (bytes == MAP_FAILED) return NULL;
  AppExchange *exchange = bytes;
  return exchange->bytes == sizeof *exchange ? exchange : NULL;
}

AppProcess *app_process_new(const char *path, HookChain *chain, const Spec *spec, Diags *diags) {
  AppExchange *exchange = path == NULL ? NULL : map_exchange(path);
  if (exchange == NULL || spec->machine_model == MODEL_FUNCTIONAL) return NULL;
  AppProcess *process = calloc(1, sizeof *process);
  ASSERT(process != NULL);
  process->exchange = exchange;
  process->arena = arena_new();
  process->target = (Target){.own = process, .device = device_of, .spec = spec};
  bool good = exchange->mode == APP_STRIKE ? add_strike(process, chain) : add_watch(process, chain, spec, diags);
  exchange->inside = 1; // the call that makes the device
  if (good) return process;
  arena_free(process->arena);
  free(process);
  return NULL;
}

void app_process_device(AppProcess *process, Device *device) {
  if (process == NULL) return;
  process->device = device;
  process->exchange->has_time = device_machine(device) != NULL;
}

void app_process_enter(AppProcess *process) {
  if (process != NULL) process->exchange->inside++;
}

void app_process_leave(AppProcess *process) {
  if (process != NULL && process->exchange->inside > 0) process->exchange->inside--;
}

void app_process_finish(AppProcess *process) {
  if (process == NULL || process->device == NULL || device_machine(process->device) == NULL) return;
  AppExchange *exchange = process->exchange;
  if (exchange->mode == APP_GOLDEN) tell_golden(process);
  for (uint32_t i = device_launch_count(process->device); i-- > 0;) {
    TrapKind kind = device_launch_record(process->device, i)->trap.kind;
    if (kind != TRAP_NONE) exchange->trap = kind;
  }
  exchange->seen = device_seen(process->device);
  exchange->corrected = target_stat(&process->target, STAT_CORRECTED);
  exchange->run_cycles = target_cycles(&process->target);
  exchange->finished = 1;
}
