// The regions that schemes add to a machine's block: where they lie and how long they live.
#include "hook/hook.h"

#include <stdio.h>

enum { REGION_ALIGN = 64, MAX_REGIONS = REGION_NONE };

struct HookLayout {
  Arena *arena;
  HookShape shape;
  VEC(Region) regions;
  RegionTable table; // of `regions`, kept up to date
  uint32_t owner;    // 1 + index of the hook that is attaching
};

static void refresh(HookLayout *layout, size_t block_bytes) {
  layout->table = (RegionTable){layout->regions.items, layout->regions.count, block_bytes};
}

HookLayout *hook_layout_begin(Arena *arena, const RegionTable *own, const HookShape *shape) {
  HookLayout *layout = ARENA_NEW(arena, HookLayout);
  layout->arena = arena;
  layout->shape = *shape;
  for (uint32_t i = 0; i < own->count; i++) *VEC_PUSH(&layout->regions, arena) = own->items[i];
  refresh(layout, own->block_bytes);
  return layout;
}

const RegionTable *hook_layout_regions(const HookLayout *layout) { return &layout->table; }
const HookShape *hook_layout_shape(const HookLayout *layout) { return &layout->shape; }
RegionTable hook_layout_finish(const HookLayout *layout) { return layout->table; }

static const char *keep(Arena *arena, const char *text) { return text == NULL ? "" : arena_copy_text(arena, text, strlen(text)); }

// Rows of one instruction are found by SM, warp and number, so these must be the region's dimensions.
static bool is_by_instruction(const HookShape *shape, const Region *wanted) {
  return wanted->dim_count >= 2 && wanted->dim_count <= 3 && wanted->dims[0].count == shape->sms && wanted->dims[1].count == shape->warps;
}

uint16_t hook_add_region(HookLayout *layout, const Region *wanted, RegionLife life, Diags *diags) {
  ASSERT(wanted->bits >= 1 && wanted->bits <= 64 && wanted->units >= 1 && wanted->units <= REGION_MAX_UNITS);
  ASSERT(wanted->dim_count <= REGION_MAX_DIMS && wanted->unit_bytes * 8 >= wanted->bits);
  ASSERT(life >= LIFE_INSTRUCTION && life <= LIFE_MACHINE && (life != LIFE_INSTRUCTION || is_by_instruction(&layout->shape, wanted)));
  if (region_find(&layout->table, wanted->name) != REGION_NONE || layout->regions.count == MAX_REGIONS) {
    diags_add(diags, NULL, 0, 0, "structure '%s' is there already: the same protection twice?", wanted->name);
    return REGION_NONE;
  }
  Region region = *wanted;
  region.name = keep(layout->arena, wanted->name);
  region.title = keep(layout->arena, wanted->title);
  region.unit = keep(layout->arena, wanted->unit);
  region.meaning = keep(layout->arena, wanted->meaning);
  region.rows = 1;
  for (uint32_t i = 0; i < region.dim_count; i++) {
    region.dims[i].name = keep(layout->arena, wanted->dims[i].name);
    region.rows *= region.dims[i].count;
  }
  region.flags = REGION_HASHED | REGION_INJECTABLE | (wanted->flags & REGION_GUARDED);
  region.life = life;
  region.base = (size_t)align_up(layout->table.block_bytes, REGION_ALIGN);
  region.row_bytes = region.units * region.unit_bytes;
  region.owned_by_scheme = layout->owner;
  *VEC_PUSH(&layout->regions, layout->arena) = region;
  refresh(layout, (size_t)align_up(region.base + region.rows * region.row_bytes, REGION_ALIGN));
  return (uint16_t)(layout->regions.count - 1);
}

// Where a protection's next wake-up lies.
static bool add_wake(HookLayout *layout, Hook *hook, Diags *diags) {
  char name[64];
  hook->wake = 0;
  if (hook->kind != HOOK_PROTECTION || hook->cycle == NULL) return true;
  snprintf(name, sizeof name, "wake.%s", hook->name);
  Region wanted = {.name = name,
                   .title = "wake-up",
                   .unit = "entry",
                   .meaning = "1 + the cycle in which the protection is called next; 0: never",
                   .dims = {{"gpu", 1}},
                   .dim_count = 1,
                   .units = 1,
                   .bits = 64,
                   .unit_bytes = 8};
  uint16_t region = hook_add_region(layout, &wanted, LIFE_MACHINE, diags);
  if (region == REGION_NONE) return false;
  layout->regions.items[region].flags = REGION_HASHED; // the simulator's own note, no hardware
  hook->wake = (uint16_t)(region + 1);
  return true;
}

// An event that the hook cannot do without, and that is never told.
static bool is_served(const HookLayout *layout, const Hook *hook, Diags *diags) {
  static const char *const names[HOOK_EVENTS] = {
#define EVENT(name, ID, Event, direction, verdicts, moment) #name,
#define MOMENT(name, ID, moment) #name,
#include "hook/hook.def"
#undef EVENT
#undef MOMENT
  };
  uint32_t missing = hook->needs & layout->shape.untold;
  if (missing == 0) return true;
  return diags_add(diags, NULL, 0, 0, "'%s' needs the event '%s', which this machine does not tell", hook->name,
                   names[__builtin_ctz(missing)]);
}

bool hook_layout_attach(HookLayout *layout, const HookChain *chain, Diags *diags) {
  uint32_t word_bits = 0;
  for (uint32_t i = 0; i < chain->count; i++) {
    Hook *hook = chain->hooks[i];
    layout->owner = i + 1;
    if (!is_served(layout, hook, diags)) return false;
    if (word_bits + hook->word_bits > HOOK_WORD_BITS)
      return diags_add(diags, NULL, 0, 0, "'%s' finds no room in the scheme word of packets: fewer protections?", hook->name);
    hook->word_shift = (uint8_t)word_bits;
    word_bits += hook->word_bits;
    if (hook->attach != NULL && !hook->attach(hook, layout, diags)) return false;
    if (!add_wake(layout, hook, diags)) return false;
  }
  return true;
}

// ---- Lifetimes -----------------------------------------------------------------------------------
uint64_t hook_instruction_row(const Region *region, uint32_t sm, uint32_t warp, uint64_t issue) {
  uint64_t depth = region->dim_count > 2 ? region->dims[2].count : 1;
  return ((uint64_t)sm * region->dims[1].count + warp) * depth + issue % depth;
}

bool hooks_keep_instructions(const RegionTable *regions) {
  bool any = false;
  for (uint32_t i = 0; i < regions->count && !any; i++) any = regions->items[i].life == LIFE_INSTRUCTION;
  return any;
}

void hooks_instruction_begins(const RegionTable *regions, uint8_t *block, uint32_t sm, uint32_t warp, uint64_t issue) {
  for (uint32_t i = 0; i < regions->count; i++) {
    const Region *region = &regions->items[i];
    if (region->life != LIFE_INSTRUCTION) continue;
    memset(block + region->base + hook_instruction_row(region, sm, warp, issue) * region->row_bytes, 0, region->row_bytes);
  }
}

void hooks_launch_ended(const RegionTable *regions, uint8_t *block) {
  for (uint32_t i = 0; i < regions->count; i++) {
    const Region *region = &regions->items[i];
    bool ends = region->life == LIFE_INSTRUCTION || region->life == LIFE_LAUNCH;
    if (ends) memset(block + region->base, 0, region->rows * region->row_bytes);
  }
}
