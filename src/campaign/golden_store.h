// Golden runs in files, for campaigns that differ only in their faults: the cells of a study, a sweep over structures.
#ifndef REDOUBT_GOLDEN_STORE_H
#define REDOUBT_GOLDEN_STORE_H

#include "campaign/golden.h"

typedef struct GoldenStore {
  const char *folder;     // made if it is not there
  const char *protection; // as users gave it
  const char *binary;     // hash of the program that runs the campaign: another one may give another run
} GoldenStore;
// Of all that decides the run. 0: more than can be told does, or something is not known.
uint64_t golden_key(const GoldenStore *store, Target *target);
// False: it is not there, or not whole. golden->arena is there.
bool golden_load(const GoldenStore *store, Target *target, const HookChain *protections, Golden *golden);
void golden_save(const GoldenStore *store, Target *target, Golden *golden); // if that fails, the next campaign runs it again

#endif
