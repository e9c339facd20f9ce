// The list of ways to settle faults, before and after the golden run that they watch.
#include "campaign/settler.h"

bool settlers_watch(const Settler *const *settlers, uint32_t wanted, const WatchedDraws *watched, Hook *hooks[MOST_SETTLERS],
                    HookChain *chain) {
  bool room = true;
  for (uint32_t i = 0; settlers[i] != NULL; i++) {
    bool watches = (wanted >> i & 1) != 0 && settlers[i]->watch != NULL;
    hooks[i] = watches ? settlers[i]->watch(watched) : NULL;
    if (hooks[i] != NULL) room = room && hook_chain_add(chain, hooks[i]);
  }
  return room;
}

void settlers_seen(const Settler *const *settlers, uint32_t wanted, const WatchedDraws *watched, Hook *hooks[MOST_SETTLERS]) {
  for (uint32_t i = 0; settlers[i] != NULL; i++) {
    if ((wanted >> i & 1) != 0 && settlers[i]->seen != NULL) settlers[i]->seen(watched, hooks[i]);
  }
}

uint32_t settlers_in_program(const Settler *const *settlers) {
  uint32_t wanted = 0;
  for (uint32_t i = 0; settlers[i] != NULL; i++) {
    if (settlers[i]->in_program) wanted |= 1u << i;
  }
  return wanted;
}

int draw_by_strike(const void *left, const void *right) {
  const Draw *a = left, *b = right;
  if (a->strike_at != b->strike_at) return a->strike_at < b->strike_at ? -1 : 1;
  return a->id < b->id ? -1 : a->id > b->id;
}
