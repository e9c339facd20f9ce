// Broken lanes for proofs: a fault that spoils every result of lanes that a map names, an observer that counts threads on them, and runs of workloads with both.
#ifndef REDOUBT_PROOF_BROKEN_H
#define REDOUBT_PROOF_BROKEN_H

#include "device/workload.h"
#include "protect/protect.h"
#include "protect/shield.h"

#include <stdio.h>
#include <stdlib.h>

enum { UNLIMITED = 0 };
typedef enum Spoil { SPOIL_RANDOM, SPOIL_STUCK0, SPOIL_STUCK1, SPOILS } Spoil;

typedef struct Broken {
  Hook hook, watch;
  Shield map;  // which lanes, as shield reads it from the same text
  Spoil spoil; // what they put out
  uint64_t seed, draws;
  uint64_t last;      // cycle after which the launch is ended; UNLIMITED
  uint64_t met, seen; // results with a thread on such a lane, as the fault and as the observer counts
} Broken;

// Lane slots of a result on broken lanes.
static inline uint32_t broken_slots(const Broken *broken, const ResultEvent *event) {
  for (uint32_t u = 0; u < SHIELD_UNITS; u++) {
    const ShieldUnit *unit = &broken->map.unit[u];
    if (unit->output != event->region) continue;
    uint32_t lanes = unit->given[event->row * broken->map.pipes + shield_pipe_of(&broken->map, event->instr)], slots = 0;
    for (uint32_t slot = 0; slot < WARP_LANES; slot++) slots |= (lanes >> slot % unit->lanes & 1) << slot;
    return slots & event->mask;
  }
  return 0;
}

static inline uint32_t broken_word(Broken *broken, uint32_t word) {
  uint32_t bit = 1u << broken->seed % 32;
  if (broken->spoil == SPOIL_STUCK0) return word & ~bit;
  if (broken->spoil == SPOIL_STUCK1) return word | bit;
  return (uint32_t)random_draw(broken->seed, broken->draws++, 0);
}

static inline Verdict broken_result(Hook *hook, HookMachine *machine, ResultEvent *event) {
  Broken *broken = hook->own;
  uint32_t slots = broken_slots(broken, event);
  if (broken->last != UNLIMITED && machine->cycle > broken->last) return VERDICT_HALT;
  broken->met += slots != 0;
  for (uint32_t left = slots; left != 0; left &= left - 1) {
    uint32_t slot = (uint32_t)__builtin_ctz(left);
    for (uint32_t r = 0; r < event->row_count; r++) {
      event->rows[r * WARP_LANES + slot] = broken_word(broken, event->rows[r * WARP_LANES + slot]);
    }
    for (uint32_t k = 0; k < 2 && event->predicates != NULL; k++) {
      uint32_t value =
          broken->spoil == SPOIL_RANDOM ? (uint32_t)random_draw(broken->seed, broken->draws++, 1) & 1 : broken->spoil == SPOIL_STUCK1;
      event->predicates[k] = (event->predicates[k] & ~(1u << slot)) | value << slot;
    }
  }
  return VERDICT_PASS;
}

static inline Verdict broken_seen(Hook *hook, HookMachine *machine, ResultEvent *event) {
  Broken *broken = hook->own;
  (void)machine;
  broken->seen += broken_slots(broken, event) != 0;
  return VERDICT_PASS;
}

static inline bool broken_attach(Hook *hook, HookLayout *layout, Diags *diags) {
  return shield_attach(&((Broken *)hook->own)->map, layout, diags);
}

typedef struct Outcome {
  bool is_done;
  TrapKind trap;
  uint64_t hash; // of the outputs
  Stats stats;
} Outcome;

// Says what is wrong and ends the program.
static inline void broken_die(const char *what, const Diags *diags) {
  fprintf(stderr, "proof: %s%s%s\n", what, diags->count > 0 ? ": " : "", diags->count > 0 ? diags->items[0].text : "");
  exit(1);
}

// A workload with these hooks; NULL entries are left out.
static inline Outcome broken_run(const Workload *workload, const Spec *spec, Hook *const *hooks, uint32_t count) {
  Arena *arena = arena_new();
  Diags diags = {0};
  HookChain chain = {0};
  for (uint32_t i = 0; i < count; i++) {
    if (hooks[i] != NULL) hook_chain_add(&chain, hooks[i]);
  }
  DeviceOptions options = {.spec = spec, .hooks = &chain};
  Device *device = device_new(&options, &diags);
  if (device == NULL) broken_die(workload->name, &diags);
  WorkloadRun work = {0};
  if (!workload_start(&work, workload, SIZE_TINY, device, &diags) || !workload->prepare(&work)) broken_die(workload->name, &diags);
  Outcome outcome = {.is_done = workload->launch(&work)};
  outcome.trap = device_trap(device)->kind;
  for (uint32_t i = 0; i < device_launch_count(device); i++) {
    for (uint32_t k = 0; k < STAT_COUNT; k++) outcome.stats.value[k] += device_launch_record(device, i)->stats.value[k];
  }
  for (uint32_t i = 0; i < work.output_count && outcome.is_done; i++) {
    uint64_t bytes = work.outputs[i].count * element_bytes(work.outputs[i].type);
    uint8_t *copy = arena_alloc(arena, bytes + 1);
    if (device_read(device, copy, work.outputs[i].address, bytes)) outcome.hash = hash_bytes(copy, bytes, outcome.hash);
  }
  workload_finish(&work);
  device_free(device);
  diags_free(&diags);
  arena_free(arena);
  return outcome;
}

// Lanes as the options of shield name them: "map=random,seed=3".
static inline void broken_make(Broken *broken, const char *options, Spoil spoil, uint64_t seed, Arena *arena) {
  Diags diags = {0};
  Text text = {0};
  text_add(&text, "shield:%s", options);
  const Hook *shield = protect_new(text.at, arena, &diags);
  if (shield == NULL) broken_die(text.at, &diags);
  *broken = (Broken){.spoil = spoil, .seed = seed, .map = *(const Shield *)shield->own};
  broken->map.name = "broken";
  broken->hook = (Hook){.name = "broken", .kind = HOOK_FAULT, .own = broken, .attach = broken_attach, .result = broken_result};
  broken->watch = (Hook){.name = "watch", .kind = HOOK_OBSERVER, .own = broken, .result = broken_seen};
  broken->hook.next_cycle = broken->watch.next_cycle = UINT64_MAX;
  text_free(&text);
  diags_free(&diags);
}

#endif
