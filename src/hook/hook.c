// The chain of hooks: its order, how verdicts combine, and the regions that schemes add to a machine's block.
// Invariant: chain->hooks is sorted by HookClass, hooks of one class in the order they were added.
#include "hook/hook.h"

enum { REGION_ALIGN = 64, MAX_REGIONS = REGION_NONE };

// ---- The chain -----------------------------------------------------------------------------------
bool hook_chain_add(HookChain *chain, Hook *hook) {
  if (chain->count == MAX_HOOKS) return false;
  uint32_t place = chain->count;
  while (place > 0 && chain->hooks[place - 1]->kind > hook->kind) {
    chain->hooks[place] = chain->hooks[place - 1];
    place--;
  }
  chain->hooks[place] = hook;
  chain->count++;
  return true;
}

uint32_t hook_chain_wants(const HookChain *chain) {
  uint32_t wants = 0;
  for (uint32_t i = 0; i < chain->count; i++) {
    const Hook *hook = chain->hooks[i];
#define EVENT(name, ID, Event, direction, verdicts, moment) wants |= hook->name != NULL ? (uint32_t)WANT_##ID : 0;
#define MOMENT(name, ID, moment) wants |= hook->name != NULL ? (uint32_t)WANT_##ID : 0;
#include "hook/hook.def"
#undef EVENT
#undef MOMENT
    if (hook->result != NULL && hook->replays) wants |= WANT_REPLAY;
  }
  return wants;
}

// ---- Verdicts ------------------------------------------------------------------------------------
#define MAY(verdict) (1u << VERDICT_##verdict)
typedef enum Direction { NEITHER, LEAVES, ENTERS } Direction;

typedef struct EventInfo {
  const char *name;
  Direction direction;
  uint32_t verdicts; // bit v: verdict v is legal beside PASS
  bool is_moment;    // no event, no verdict
  const char *moment;
} EventInfo;

static const EventInfo event_info[HOOK_EVENTS] = {
#define EVENT(name, ID, Event, direction, verdicts, moment) [HOOK_EVENT_##ID] = {#name, direction, verdicts, false, moment},
#define MOMENT(name, ID, moment) [HOOK_EVENT_##ID] = {#name, NEITHER, 0, true, moment},
#include "hook/hook.def"
#undef EVENT
#undef MOMENT
};

static const char *const verdict_name[VERDICT_COUNT] = {"PASS", "FIXED", "STALL", "HOLD", "REPLAY", "HALT"};

static void add_verdicts(uint32_t verdicts, Text *out) {
  text_add(out, "PASS");
  for (Verdict verdict = VERDICT_FIXED; verdict < VERDICT_COUNT; verdict++) {
    if ((verdicts >> verdict & 1) != 0) text_add(out, ", %s", verdict_name[verdict]);
  }
}

// The first that says something illegal is named.
static __attribute__((noinline, cold)) void refuse(HookMachine *machine, const Hook *hook, const EventInfo *info, Verdict verdict) {
#ifdef REDOUBT_STRICT
  ASSERT(!"a verdict that is not legal for its event: see hook.def");
#endif
  if (machine->refused.hook == NULL) machine->refused = (Refusal){hook, info->name, verdict};
}

void hook_refusal_format(const Refusal *refused, Text *out) {
  uint32_t verdicts = 0;
  for (uint32_t i = 0; i < HOOK_EVENTS; i++) verdicts |= strcmp(event_info[i].name, refused->event) == 0 ? event_info[i].verdicts : 0;
  const char *said = (uint32_t)refused->verdict < VERDICT_COUNT ? verdict_name[refused->verdict] : "something unknown";
  text_add(out, "'%s' answered %s to the event '%s', which allows ", refused->hook->name, said, refused->event);
  add_verdicts(verdicts, out);
}

// What one hook has said, beside what others said before it.
static inline Verdict combine(Verdict so_far, HookMachine *machine, const Hook *hook, HookEventId event, Verdict verdict) {
  if (verdict == VERDICT_PASS || hook->kind == HOOK_OBSERVER) return so_far;
  const EventInfo *info = &event_info[event];
  if ((uint32_t)verdict >= VERDICT_COUNT || (info->verdicts >> verdict & 1) == 0) {
    refuse(machine, hook, info, verdict);
    return so_far;
  }
  return verdict < so_far ? so_far : verdict;
}

// ---- Walking the chain -----------------------------------------------------------------------------
// LEAVES and NEITHER: [faults, protections, observers].
#define FORWARDS(name, ID, first)                                                                                         \
  for (uint32_t i = (first); i < chain->count; i++) {                                                                     \
    Hook *hook = chain->hooks[i];                                                                                         \
    if (hook->name != NULL) verdict = combine(verdict, machine, hook, HOOK_EVENT_##ID, hook->name(hook, machine, event)); \
  }
// ENTERS: [protections, faults] last added first, then observers in their order.
#define BACKWARDS(name, ID)                                                                                               \
  uint32_t observers = chain->count;                                                                                      \
  while (observers > 0 && chain->hooks[observers - 1]->kind == HOOK_OBSERVER) observers--;                                \
  for (uint32_t i = observers; i-- > 0;) {                                                                                \
    Hook *hook = chain->hooks[i];                                                                                         \
    if (hook->name != NULL) verdict = combine(verdict, machine, hook, HOOK_EVENT_##ID, hook->name(hook, machine, event)); \
  }                                                                                                                       \
  FORWARDS(name, ID, observers)
#define WALK_NEITHER(name, ID) FORWARDS(name, ID, 0)
#define WALK_LEAVES(name, ID) FORWARDS(name, ID, 0)
#define WALK_ENTERS(name, ID) BACKWARDS(name, ID)

#define EVENT(name, ID, Event, direction, verdicts, moment)                          \
  Verdict hooks_##name(const HookChain *chain, HookMachine *machine, Event *event) { \
    Verdict verdict = VERDICT_PASS;                                                  \
    WALK_##direction(name, ID) return verdict;                                       \
  }
#define MOMENT(name, ID, moment)
#include "hook/hook.def"
#undef EVENT
#undef MOMENT
#undef FORWARDS
#undef BACKWARDS

uint64_t hooks_next_cycle(const HookChain *chain) {
  uint64_t next = UINT64_MAX;
  for (uint32_t i = 0; i < chain->count; i++) {
    if (chain->hooks[i]->cycle != NULL) next = min_u64(next, chain->hooks[i]->next_cycle);
  }
  return next;
}

uint64_t hooks_next_change(const HookChain *chain) {
  uint64_t next = UINT64_MAX;
  for (uint32_t i = 0; i < chain->count; i++) {
    const Hook *hook = chain->hooks[i];
    if (hook->cycle != NULL && hook->kind != HOOK_OBSERVER && !hook->only_looks) next = min_u64(next, hook->next_cycle);
  }
  return next;
}

void hooks_cycle(const HookChain *chain, HookMachine *machine) {
  for (uint32_t i = 0; i < chain->count; i++) {
    Hook *hook = chain->hooks[i];
    if (hook->cycle == NULL || hook->next_cycle > machine->cycle) continue;
    hook->next_cycle = UINT64_MAX;
    hook->cycle(hook, machine);
  }
}

void hooks_finish(const HookChain *chain, HookMachine *machine) {
  for (uint32_t i = 0; i < chain->count; i++) {
    Hook *hook = chain->hooks[i];
    if (hook->finish != NULL) hook->finish(hook, machine);
  }
}

void hooks_rebuild(const HookChain *chain, const HookMachine *machine) {
  for (uint32_t i = 0; i < chain->count; i++) {
    Hook *hook = chain->hooks[i];
    if (hook->rebuild != NULL) hook->rebuild(hook, machine);
  }
}

// ---- The table of docs/hooks.md --------------------------------------------------------------------
void hook_events_list(Text *out) {
  for (uint32_t i = 0; i < HOOK_EVENTS; i++) {
    const EventInfo *info = &event_info[i];
    text_add(out, "%-10s %s", info->name, info->moment);
    if (!info->is_moment) {
      text_add(out, ": ");
      add_verdicts(info->verdicts, out);
    }
    text_add(out, "\n");
  }
}

void hook_events_markdown(Text *out) {
  static const char *const direction_name[] = {"", "leave", "enter"};
  text_add(out, "| event | when | bits | verdicts |\n|---|---|---|---|\n");
  for (uint32_t i = 0; i < HOOK_EVENTS; i++) {
    const EventInfo *info = &event_info[i];
    text_add(out, "| `%s` | %s | %s | ", info->name, info->moment, direction_name[info->direction]);
    if (!info->is_moment) add_verdicts(info->verdicts, out);
    text_add(out, " |\n");
  }
}

// ---- Layout --------------------------------------------------------------------------------------
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

uint16_t hook_add_region(HookLayout *layout, const Region *wanted, Diags *diags) {
  ASSERT(wanted->bits >= 1 && wanted->bits <= 64 && wanted->units >= 1 && wanted->units <= REGION_MAX_UNITS);
  ASSERT(wanted->dim_count <= REGION_MAX_DIMS && wanted->unit_bytes * 8 >= wanted->bits);
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
  region.flags = REGION_HASHED | REGION_INJECTABLE;
  region.base = (size_t)align_up(layout->table.block_bytes, REGION_ALIGN);
  region.row_bytes = region.units * region.unit_bytes;
  region.owned_by_scheme = layout->owner;
  *VEC_PUSH(&layout->regions, layout->arena) = region;
  refresh(layout, (size_t)align_up(region.base + region.rows * region.row_bytes, REGION_ALIGN));
  return (uint16_t)(layout->regions.count - 1);
}

bool hook_layout_attach(HookLayout *layout, const HookChain *chain, Diags *diags) {
  for (uint32_t i = 0; i < chain->count; i++) {
    Hook *hook = chain->hooks[i];
    layout->owner = i + 1;
    if (hook->attach != NULL && !hook->attach(hook, layout, diags)) return false;
  }
  return true;
}
