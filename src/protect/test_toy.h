// A toy machine for tests of protections: a few regions in one block, events made by hand.
#ifndef REDOUBT_PROTECT_TEST_TOY_H
#define REDOUBT_PROTECT_TEST_TOY_H

#include "protect/protect.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

typedef struct Toy {
  Arena *arena;
  Diags diags;
  HookChain chain;
  RegionTable table;
  HookMachine machine;
  uint64_t corrected, detected, repeated, tally[TALLY_COUNT];
} Toy;

// False: the protection was refused; toy->diags tells.
static inline bool toy_open(Toy *toy, const RegionTable *own, const HookShape *shape, const char *protection) {
  *toy = (Toy){.arena = arena_new()};
  Hook *hook = protect_new(protection, toy->arena, &toy->diags);
  if (hook == NULL || (hook->fit != NULL && !hook->fit(hook, 0, &toy->diags))) return false;
  hook_chain_add(&toy->chain, hook);
  HookLayout *layout = hook_layout_begin(toy->arena, own, shape);
  if (!hook_layout_attach(layout, &toy->chain, &toy->diags)) return false;
  toy->table = hook_layout_finish(layout);
  assert_true(region_table_check(&toy->table, &toy->diags));
  size_t bytes = (size_t)align_up(toy->table.block_bytes, 64);
  toy->machine = (HookMachine){.block = aligned_alloc(64, bytes),
                               .regions = &toy->table,
                               .corrected = &toy->corrected,
                               .detected = &toy->detected,
                               .repeated = &toy->repeated,
                               .tally = toy->tally};
  memset(toy->machine.block, 0, bytes);
  return true;
}

static inline void toy_close(Toy *toy) {
  free(toy->machine.block);
  diags_free(&toy->diags);
  arena_free(toy->arena);
}

static inline void toy_refused(const RegionTable *own, const HookShape *shape, const char *protection, const char *said) {
  Toy toy;
  assert_false(toy_open(&toy, own, shape, protection));
  assert_int_equal(toy.diags.count, 1);
  if (strstr(toy.diags.items[0].text, said) == NULL) fail_msg("'%s' does not contain '%s'", toy.diags.items[0].text, said);
  toy_close(&toy);
}

static inline uint8_t *toy_row(const Toy *toy, uint16_t region, uint64_t row) {
  const Region *item = &toy->table.items[region];
  return toy->machine.block + item->base + row * item->row_bytes;
}

static inline void toy_flip(const Toy *toy, const Site *site) {
  toy->machine.block[site_byte(&toy->table.items[site->region], site)] ^= site_mask(site);
}

#endif
