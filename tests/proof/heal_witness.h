// What a protection lets be written, beside what the units have computed before a fault, and the transients that met it.
//
// `witness_before` is called by the fault before it spoils a result, `witness_struck` when it has, `witness_after` by an observer behind the protection.
// A written value that is not what the units have computed is an escape. A vote of three can be wrong in one way: two copies of one thread of one instruction
// were struck, and both gave the bits that were written. Any other escape is unexplained.
#ifndef REDOUBT_PROOF_HEAL_WITNESS_H
#define REDOUBT_PROOF_HEAL_WITNESS_H

#include "broken.h"

enum { WITNESS_ROWS = 8, WITNESS_STRIKES = 8 };

typedef struct ThreadName { // a thread of an instruction; copies share it
  uint64_t launch, block, issue;
  uint32_t sm, warp, pc, thread;
} ThreadName;

typedef struct ThreadValue {
  uint32_t rows[WITNESS_ROWS], predicates[2];
} ThreadValue;

typedef struct Strike {
  ThreadName name;
  ThreadValue value; // that it gave
  uint32_t copy;
} Strike;

typedef struct Witness {
  uint32_t rows[WITNESS_ROWS][WARP_LANES], predicates[2]; // as the units have computed them
  uint64_t repeated, detected;                            // so often, before this result
  Strike strike[WITNESS_STRIKES];                         // the last ones
  uint64_t strikes, met;                                  // met: strikes of a thread of which another copy had been struck
  uint64_t agreed, unexplained;                           // escapes: after two strikes that gave the same bits; others
} Witness;

static inline ThreadName thread_name(const ResultEvent *event, uint32_t slot) {
  const Who *who = event->who;
  return (ThreadName){who->launch, who->block, who->issue, who->sm, who->warp, who->pc, event->thread[slot]};
}

static inline bool is_same_thread(const ThreadName *a, const ThreadName *b) {
  return a->launch == b->launch && a->block == b->block && a->issue == b->issue && a->sm == b->sm && a->warp == b->warp && a->pc == b->pc &&
         a->thread == b->thread;
}

static inline ThreadValue thread_value(const ResultEvent *event, uint32_t slot) {
  ThreadValue value = {{0}, {0}};
  for (uint32_t r = 0; r < min_u32(event->row_count, WITNESS_ROWS); r++) value.rows[r] = event->rows[r * WARP_LANES + slot];
  for (uint32_t k = 0; k < 2 && event->predicates != NULL; k++) value.predicates[k] = event->predicates[k] >> slot & 1;
  return value;
}

static inline bool is_same_value(const ThreadValue *a, const ThreadValue *b) { return memcmp(a, b, sizeof *a) == 0; }

static inline void witness_before(Witness *witness, const HookMachine *machine, const ResultEvent *event) {
  for (uint32_t r = 0; r < min_u32(event->row_count, WITNESS_ROWS); r++)
    memcpy(witness->rows[r], event->rows + r * WARP_LANES, sizeof witness->rows[r]);
  for (uint32_t k = 0; k < 2 && event->predicates != NULL; k++) witness->predicates[k] = event->predicates[k];
  witness->repeated = *machine->repeated;
  witness->detected = *machine->detected;
}

static inline void witness_struck(Witness *witness, const ResultEvent *event, uint32_t slot) {
  Strike strike = {.name = thread_name(event, slot), .value = thread_value(event, slot), .copy = event->copy};
  bool is_met = false;
  for (uint32_t i = 0; i < WITNESS_STRIKES; i++) {
    const Strike *other = &witness->strike[i];
    is_met |= i < witness->strikes && other->copy != strike.copy && is_same_thread(&other->name, &strike.name);
  }
  witness->met += is_met ? 1 : 0;
  witness->strike[witness->strikes++ % WITNESS_STRIKES] = strike;
}

// Of how many copies a strike has made this value.
static inline uint32_t witness_copies(const Witness *witness, const ThreadName *name, const ThreadValue *value) {
  uint32_t copies = 0;
  for (uint32_t i = 0; i < min_u64(witness->strikes, WITNESS_STRIKES); i++) {
    const Strike *strike = &witness->strike[i];
    if (is_same_thread(&strike->name, name) && is_same_value(&strike->value, value)) copies |= 1u << strike->copy;
  }
  return count_ones(copies);
}

// A result that is neither held nor asked for again is written.
static inline void witness_after(Witness *witness, const HookMachine *machine, const ResultEvent *event) {
  bool is_held = event->copies > 1 && event->copy == 0;
  if (is_held || *machine->repeated != witness->repeated || *machine->detected != witness->detected) return;
  for (uint32_t left = event->mask & ~event->shadow; left != 0; left &= left - 1) {
    uint32_t slot = (uint32_t)__builtin_ctz(left);
    ThreadName name = thread_name(event, slot);
    ThreadValue value = thread_value(event, slot), own = {{0}, {0}};
    for (uint32_t r = 0; r < min_u32(event->row_count, WITNESS_ROWS); r++) own.rows[r] = witness->rows[r][slot];
    for (uint32_t k = 0; k < 2 && event->predicates != NULL; k++) own.predicates[k] = witness->predicates[k] >> slot & 1;
    if (is_same_value(&value, &own)) continue;
    if (witness_copies(witness, &name, &value) >= 2) witness->agreed++;
    else witness->unexplained++;
  }
}

#endif
