// Protections by name: one file per published scheme, one row per scheme in protect.c.
#ifndef REDOUBT_PROTECT_H
#define REDOUBT_PROTECT_H

#include "hook/hook.h"

typedef struct ProtectInfo {
  const char *name;
  const char *usage;   // as users write it, with its arguments
  const char *summary; // what it does
  const char *cost;    // what is charged for it, and what is not
  const char *source;  // where it was published
} ProtectInfo;
extern const uint32_t protect_count;
const ProtectInfo *protect_info(uint32_t index);

// "dmr", "dmr:entries=16", "secded:rf,shared". The hook lives in the arena; it may be attached to one machine. NULL, with one
// diagnostic: not understood. "none" is a hook that wants nothing.
Hook *protect_new(const char *text, Arena *arena, Diags *diags);
void protections_list(Text *out); // `redoubt list protections`

#endif
