// For tests of actions: toy schemes that call for them, and runs of workloads and small programs under such a scheme.
#ifndef REDOUBT_DEVICE_TEST_ACTIONS_H
#define REDOUBT_DEVICE_TEST_ACTIONS_H

#include "device/workload.h"
#include "ptx/ptx.h"

#include <setjmp.h>
#include <stdio.h>
#include <cmocka.h>

enum { TOY_SMS = 4, TOY_SLOTS = 64, TOY_NO_BLOCK = UINT32_MAX };

// Lives outside the machine's block, which a real scheme must not: tests do not clone it.
typedef struct Toy {
  Hook hook;
  uint64_t seed, draws;
  uint64_t every;                                     // cycles between two calls of `act`
  bool (*act)(struct Toy *toy, HookMachine *machine); // false: no more
  bool sends;
  Device **device; // to move its block; may be NULL
  uint32_t most;   // of what `act` counts
  // What it was told
  uint32_t resident[TOY_SMS][TOY_SLOTS]; // 1 + linear index of blocks; 0: none
  uint32_t mirror[TOY_SMS][TOY_SLOTS];   // the same of mirrors
  uint64_t started, ended, stopped, mirrors_started, mirrors_ended, mirrors_stopped, traps;
  uint64_t done[ACTION_KINDS], left_out[ACTION_KINDS];
  uint64_t prefetched[3]; // by PrefetchStage
} Toy;

static inline uint32_t toy_draw(Toy *toy, uint32_t bound) { return (uint32_t)random_below(random_draw(toy->seed, toy->draws++, 0), bound); }

static inline void toy_note_block(Toy *toy, const BlockEvent *event) {
  const Who *who = event->who;
  uint32_t *place = event->mirror ? &toy->mirror[who->sm][who->block_slot] : &toy->resident[who->sm][who->block_slot];
  bool starts = !event->done && !event->stopped;
  *place = starts ? 1 + (uint32_t)who->block : 0;
  if (event->mirror) {
    toy->mirrors_started += starts;
    toy->mirrors_ended += event->done;
    toy->mirrors_stopped += event->stopped;
  } else {
    toy->started += starts;
    toy->ended += event->done;
    toy->stopped += event->stopped;
  }
}

static inline Verdict toy_action(Hook *hook, HookMachine *machine, const ActionEvent *event) {
  Toy *toy = hook->own;
  (void)machine;
  if (event->done) toy->done[event->action->kind]++;
  else toy->left_out[event->action->kind]++;
  return VERDICT_PASS;
}

static inline Verdict toy_prefetch(Hook *hook, HookMachine *machine, const PrefetchEvent *event) {
  Toy *toy = hook->own;
  (void)machine;
  toy->prefetched[event->stage]++;
  return VERDICT_PASS;
}

// Odd SMs run mirrors of the blocks of their even neighbours, and nothing else.
static inline Verdict toy_mirror_odd(Hook *hook, HookMachine *machine, const BlockEvent *event) {
  (void)hook;
  if (event->done || event->stopped || event->mirror) return VERDICT_PASS;
  if (event->who->sm % 2 == 1) return VERDICT_STALL;
  machine->act(machine, &(Action){.kind = ACTION_MIRROR, .sm = event->who->sm + 1, .block = event->who->block});
  return VERDICT_PASS;
}

static inline Verdict toy_trap(Hook *hook, HookMachine *machine, const TrapEvent *event) {
  Toy *toy = hook->own;
  (void)machine, (void)event;
  toy->traps++;
  return VERDICT_PASS;
}

static inline void toy_cycle(Hook *hook, HookMachine *machine) {
  Toy *toy = hook->own;
  if (toy->act(toy, machine)) hook_wake(hook, machine, machine->cycle + toy->every);
}

static inline void toy_open(Toy *toy, uint32_t needs) {
  toy->hook = (Hook){.name = "toy", .kind = HOOK_PROTECTION, .own = toy, .actions = needs, .next_cycle = UINT64_MAX};
  toy->hook.action = toy_action;
  toy->hook.trap = toy_trap;
  if (toy->act == NULL) return;
  toy->hook.cycle = toy_cycle;
  toy->hook.next_cycle = toy->every;
}

// ---- Runs ----------------------------------------------------------------------------------------------
typedef struct ToyResult {
  TrapKind trap;
  bool done;
  uint64_t cycles, blocks, mirror_instructions, corrected, repeated, joined_loads, shared_replies, output_hash;
} ToyResult;

static inline void toy_spec(Spec *spec, Arena *arena, const char *machine) {
  Diags diags = {0};
  assert_true(spec_load(spec, arena, machine, &diags));
  assert_true(spec_set(spec, "sm.count", "4", NULL, 0, &diags));
  assert_true(spec_set(spec, "dram.controllers", "2", NULL, 0, &diags));
  assert_true(spec_set(spec, "limit.instructions", "2000000", NULL, 0, &diags));
  diags_free(&diags);
}

static inline void toy_sum(const Device *device, ToyResult *result) {
  for (uint32_t i = 0; i < device_launch_count(device); i++) {
    const uint64_t *value = device_launch_record(device, i)->stats.value;
    result->cycles += value[STAT_CYCLES];
    result->blocks += value[STAT_BLOCKS];
    result->mirror_instructions += value[STAT_MIRROR_INSTRUCTIONS];
    result->corrected += value[STAT_CORRECTED] + value[STAT_DETECTED];
    result->repeated += value[STAT_REPEATED];
    result->joined_loads += value[STAT_JOINED_LOADS];
    result->shared_replies += value[STAT_SHARED_REPLIES];
  }
  result->trap = device_trap(device)->kind;
}

// Hooks may be NULL. `device_of`: where the device is while it runs; may be NULL.
static inline ToyResult toy_run(const Workload *workload, const Spec *spec, Hook *scheme, Hook *fault, Device **device_of) {
  Diags diags = {0};
  HookChain chain = {0};
  if (scheme != NULL) assert_true(hook_chain_add(&chain, scheme));
  if (fault != NULL) assert_true(hook_chain_add(&chain, fault));
  DeviceOptions options = {.spec = spec, .hooks = &chain};
  Device *device = device_new(&options, &diags);
  assert_non_null(device);
  if (device_of != NULL) *device_of = device;
  WorkloadRun run = {0};
  assert_true(workload_start(&run, workload, SIZE_TINY, device, &diags));
  assert_true(workload->prepare(&run));
  ToyResult result = {.done = workload->launch(&run)};
  toy_sum(device, &result);
  for (uint32_t i = 0; i < run.output_count && result.done; i++) {
    uint64_t bytes = run.outputs[i].count * element_bytes(run.outputs[i].type);
    uint8_t *copy = arena_alloc(run.arena, bytes + 1);
    assert_true(device_read(device, copy, run.outputs[i].address, bytes));
    result.output_hash = hash_bytes(copy, bytes, result.output_hash);
  }
  workload_finish(&run);
  device_free(device);
  diags_free(&diags);
  return result;
}

// ---- Small programs ------------------------------------------------------------------------------------
typedef struct ToyProgram {
  Device *device;
  Module *module;
  DeviceAddress out;
  HookChain chain;
  uint64_t printed; // characters
} ToyProgram;

static inline void toy_count_print(void *context, const char *bytes, size_t count) {
  (void)bytes;
  *(uint64_t *)context += count;
}

// The program's kernel is called `kernel`; `out` are so many bytes of zeros.
static inline void toy_program_open(ToyProgram *program, const Spec *spec, Hook *hook, const char *text, uint64_t out_bytes) {
  Diags diags = {0};
  *program = (ToyProgram){0};
  assert_true(hook_chain_add(&program->chain, hook));
  DeviceOptions options = {.spec = spec, .hooks = &program->chain, .print = toy_count_print, .print_context = &program->printed};
  program->device = device_new(&options, &diags);
  assert_non_null(program->device);
  PtxSource source = {"test.ptx", text, strlen(text)};
  program->module = device_load_ptx(program->device, &source, 1, &diags);
  if (program->module == NULL) fail_msg("line %d: %s", diags.items[0].line, diags.items[0].text);
  program->out = device_alloc(program->device, out_bytes);
  assert_true(device_set(program->device, program->out, 0, out_bytes));
  diags_free(&diags);
}

static inline bool toy_program_launch(const ToyProgram *program, uint32_t blocks, uint32_t threads, const void *const *arguments,
                                      uint32_t count) {
  LaunchRequest request = {.module = program->module,
                           .kernel = "kernel",
                           .grid = {blocks, 1, 1},
                           .block = {threads, 1, 1},
                           .arguments = arguments,
                           .argument_count = count};
  return device_launch(program->device, &request);
}

#endif
