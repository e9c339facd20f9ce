// Random upsets at a rate: a flip of a bit in every stretch of so many cycles, at a random cycle of it. Every bit of the named structures is as likely as any
// other. Where and when is a pure function of seed and number, so that every run has the same ones.
#include "fault/upsets.h"

#include <errno.h>
#include <stdlib.h>

typedef struct Upsets {
  Hook hook;
  const char *text;  // for messages
  const char *names; // of structures, with commas
  uint64_t every, seed;
  uint64_t bits;     // of all of them
  uint64_t next;     // number of the next one
  uint16_t *regions; // in the order in which they were named
  uint32_t count;
  Arena *arena;
} Upsets;

static uint64_t cycle_of(const Upsets *own, uint64_t number) {
  return number * own->every + random_below(random_draw(own->seed, number, 0), own->every);
}

static void flip_next(Upsets *own, HookMachine *machine) {
  uint64_t bit = random_below(random_draw(own->seed, own->next, 1), own->bits);
  uint32_t i = 0;
  for (; i + 1 < own->count && bit >= region_bits(&machine->regions->items[own->regions[i]]); i++)
    bit -= region_bits(&machine->regions->items[own->regions[i]]);
  Site site = region_site(machine->regions, own->regions[i], bit);
  machine->block[site_byte(&machine->regions->items[own->regions[i]], &site)] ^= site_mask(&site);
  hook_tally(machine, TALLY_UPSETS, 1);
  own->next++;
}

// All that are due: a machine may begin late, and rest between launches.
static void on_cycle(Hook *hook, HookMachine *machine) {
  Upsets *own = hook->own;
  while (cycle_of(own, own->next) <= machine->cycle) flip_next(own, machine);
  hook_wake(hook, machine, cycle_of(own, own->next));
}

static bool attach(Hook *hook, HookLayout *layout, Diags *diags) {
  Upsets *own = hook->own;
  const RegionTable *regions = hook_layout_regions(layout);
  own->regions = ARENA_ARRAY(own->arena, uint16_t, strlen(own->names) + 1);
  for (const char *at = own->names; *at != '\0'; at += *at == ',') {
    size_t length = strcspn(at, ",");
    const char *name = arena_copy_text(own->arena, at, length);
    uint16_t region = region_find(regions, name);
    if (region == REGION_NONE)
      return diags_add(diags, NULL, 0, 0, "--upsets %s: the machine has no structure '%s'; 'redoubt list structures' shows all", own->text,
                       name);
    if (!region_is_on_chip(&regions->items[region]))
      return diags_add(diags, NULL, 0, 0, "--upsets %s: '%s' has no cells on the chip", own->text, name);
    own->bits += region_bits(&regions->items[region]);
    own->regions[own->count++] = region;
    at += length;
  }
  return true;
}

Hook *upsets_new(const char *text, Arena *arena, Diags *diags) {
  Upsets *own = ARENA_NEW(arena, Upsets);
  char *end;
  errno = 0;
  *own = (Upsets){.text = text, .every = strtoull(text, &end, 10), .arena = arena};
  bool good = text[0] >= '0' && text[0] <= '9' && *end == ':' && errno == 0 && own->every > 0;
  size_t length = good ? strcspn(end + 1, ":") : 0;
  if (length > 0) own->names = arena_copy_text(arena, end + 1, length);
  if (length > 0 && end[1 + length] == ':') {
    const char *seed = end + 2 + length;
    own->seed = strtoull(seed, &end, 10);
    good = seed[0] >= '0' && seed[0] <= '9' && *end == '\0' && errno == 0;
  }
  if (!good || length == 0) {
    diags_add(diags, NULL, 0, 0, "--upsets %s: write CYCLES:STRUCTURE,... or CYCLES:STRUCTURE,...:SEED", text);
    return NULL;
  }
  own->hook = (Hook){.name = "upsets", .kind = HOOK_FAULT, .own = own, .attach = attach, .cycle = on_cycle, .next_cycle = cycle_of(own, 0)};
  return &own->hook;
}
