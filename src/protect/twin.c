// Twin: every arithmetic unit stands twice in its core, and each result is compared before it is written.
//
// Source: Sheaffer, Luebke and Skadron, "A Hardware Redundancy and Recovery Mechanism for Reliable Scientific Computation on Graphics Processors", Graphics Hardware
// 2007, Figure 1 and section 3.1: the redundant ALU that the paper argues against.
// Modelled: both units compute in the same cycle. The result of the first waits in a latch (twin.first) for that of the second; if they differ, nothing is written, the
// operands stay, and the instruction is carried out again in the next cycle. After three times in a row the launch ends as detected: a unit is broken.
// Not modelled: a slower clock, since the comparators lie in the critical path.
// Cost: a second arithmetic unit in every pipeline, which the machine must have (fragment.units=2), its energy, and that of the comparisons. Whoever gives as much
// chip to both designs compares with half of the pipelines.
#include "protect/protect_internal.h"

enum { MOST_TIMES = 3 };

typedef struct Twin {
  uint16_t unit;         // structure: outputs of the units
  uint16_t first, again; // structures of its own
} Twin;

static uint8_t *row_at(const HookMachine *machine, uint16_t structure, uint64_t row) {
  const Region *region = &machine->regions->items[structure];
  return machine->block + region->base + row * region->row_bytes;
}

static Verdict twin_result(Hook *hook, HookMachine *machine, ResultEvent *event) {
  const Twin *own = hook->own;
  if (event->region != own->unit) return VERDICT_PASS;
  const Region *again = &machine->regions->items[own->again];
  uint64_t pipe = event->row / 2, wrong = 0;
  uint8_t *first = row_at(machine, own->first, pipe), *times = row_at(machine, own->again, pipe);
  if (event->row % 2 == 0) {
    memcpy(first, event->rows, 4 * sizeof *event->rows);
    return VERDICT_PASS;
  }
  for (uint32_t i = 0; i < 4; i++) {
    if ((event->mask >> i & 1) == 0) continue;
    hook_tally(machine, TALLY_REDUNDANCY_COMPARED, 1);
    wrong += memcmp(first + i * sizeof *event->rows, &event->rows[i], sizeof *event->rows) != 0;
  }
  event->compared = event->mask;
  if (wrong == 0) return unit_set(again, times, 0), VERDICT_PASS;
  if (unit_get(again, times) >= MOST_TIMES) return ++*machine->detected, VERDICT_HALT;
  unit_set(again, times, unit_get(again, times) + 1);
  ++*machine->corrected;
  ++*machine->repeated;
  return VERDICT_REPEAT;
}

static bool twin_attach(Hook *hook, HookLayout *layout, Diags *diags) {
  Twin *own = hook->own;
  const RegionTable *regions = hook_layout_regions(layout);
  own->unit = region_find(regions, "unit");
  const Region *unit = own->unit == REGION_NONE ? NULL : &regions->items[own->unit];
  if (unit == NULL) return diags_add(diags, NULL, 0, 0, "twin is for machines with arithmetic units of their own, as sheaffer-2007 has");
  if (unit->dim_count != 2 || unit->dims[1].count != 2)
    return diags_add(diags, NULL, 0, 0, "twin needs two arithmetic units in each pipeline: --set fragment.units=2");
  uint32_t pipes = unit->dims[0].count;
  Region first = protect_cells(&(CellsRow){"twin.first", "twin", "component", "results that wait to be compared", 4, 32}, "pipe", pipes);
  Region again = protect_cells(&(CellsRow){"twin.again", "twin", "register", "how often an instruction was repeated", 1, 2}, "pipe", pipes);
  first.unit_bytes = 4;
  again.unit_bytes = 1;
  own->first = hook_add_region(layout, &first, LIFE_LAUNCH, diags);
  own->again = own->first == REGION_NONE ? REGION_NONE : hook_add_region(layout, &again, LIFE_LAUNCH, diags);
  return own->again != REGION_NONE;
}

Hook *twin_new(const ProtectArguments *arguments, Arena *arena, Diags *diags) {
  if (arguments->count > 0) {
    protect_unknown(arguments, arguments->items[0].key, NULL, 0, diags);
    return NULL;
  }
  Hook *hook = ARENA_NEW(arena, Hook);
  *hook = (Hook){.name = "twin", .kind = HOOK_PROTECTION, .own = ARENA_NEW(arena, Twin), .attach = twin_attach, .needs = WANT_RESULT};
  hook->result = twin_result;
  hook->repeats = true;
  hook->next_cycle = UINT64_MAX;
  return hook;
}
