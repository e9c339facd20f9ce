// What the files of src/fault share.
#ifndef REDOUBT_FAULT_INTERNAL_H
#define REDOUBT_FAULT_INTERNAL_H

#include "fault/fault.h"

// A hook with its fault: hook->own points at one of these.
typedef struct FaultHook {
  Hook hook;
  Fault fault;
  Strike strike; // of transients in outputs
} FaultHook;

// Each fills the functions of the hook.
void flip_hook(FaultHook *at);                            // flip.c: cells that change once
void stuck_hook(FaultHook *at);                           // stuck.c: cells that do not change any more
void output_hook(FaultHook *at);                          // output.c: outputs of functional units
bool stuck_is_active(const Fault *fault, uint64_t cycle); // of models that last

// inside.c: values inside a unit. `moment`: what is there in the fault's cycle; NULL: all that passes.
enum { RESULT_MAX_ROWS = 8 };
bool inside_has(const ResultEvent *event, uint16_t region);
bool inside_meets(const RegionTable *regions, const Fault *fault, const ResultEvent *event);
// A value passes what is struck, whether the result alters or not.
bool inside_passes(const RegionTable *regions, const Fault *fault, const OutputMoment *moment, const ResultEvent *event);
// Whether the result alters; `damaged` (NULL: nobody wants it) has rows to change.
bool inside_damage(const RegionTable *regions, const Fault *fault, const OutputMoment *moment, const ResultEvent *event,
                   ResultEvent *damaged);
// The bits of the result that alter, the first FAULT_MAX_BITS of them.
uint32_t inside_bits(const RegionTable *regions, const Fault *fault, const OutputMoment *moment, const ResultEvent *event,
                     ResultBit bits[FAULT_MAX_BITS]);

bool pattern_parse(const char *text, Fault *fault, Diags *diags); // pattern.c: a file's name, or bits
void pattern_format(const Fault *fault, Text *out);
uint32_t pattern_bits(const Region *region, const Fault *fault, Site site, Site bits[FAULT_MAX_BITS]);

// The byte of the block or of memory that holds the bit.
static inline uint8_t *fault_byte(const HookMachine *machine, const Site *site) {
  const Region *region = &machine->regions->items[site->region];
  return ((region->flags & REGION_OUTSIDE) != 0 ? machine->memory : machine->block) + site_byte(region, site);
}

#endif
