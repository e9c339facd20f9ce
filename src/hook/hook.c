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
    if (hook->launch != NULL) wants |= WANT_LAUNCH;
    if (hook->block != NULL) wants |= WANT_BLOCK;
    if (hook->fetch != NULL) wants |= WANT_FETCH;
    if (hook->issue != NULL) wants |= WANT_ISSUE;
    if (hook->read != NULL || hook->write != NULL) wants |= WANT_CELLS;
    if (hook->result != NULL) wants |= WANT_RESULT;
    if (hook->branch != NULL) wants |= WANT_BRANCH;
    if (hook->memory != NULL) wants |= WANT_MEMORY;
    if (hook->commit != NULL) wants |= WANT_COMMIT;
    if (hook->trap != NULL) wants |= WANT_TRAP;
    if (hook->cycle != NULL) wants |= WANT_CYCLE;
    if (hook->span != NULL) wants |= WANT_SPAN;
    if (hook->result != NULL && hook->replays) wants |= WANT_REPLAY;
  }
  return wants;
}

static Verdict combine(Verdict so_far, const Hook *hook, Verdict verdict) {
  return hook->kind == HOOK_OBSERVER || verdict < so_far ? so_far : verdict;
}

// One function per event: [faults, protections, observers].
#define FORWARDS(name, Event)                                                                     \
  Verdict hooks_##name(const HookChain *chain, HookMachine *machine, Event *event) {              \
    Verdict verdict = VERDICT_PASS;                                                               \
    for (uint32_t i = 0; i < chain->count; i++) {                                                 \
      Hook *hook = chain->hooks[i];                                                               \
      if (hook->name != NULL) verdict = combine(verdict, hook, hook->name(hook, machine, event)); \
    }                                                                                             \
    return verdict;                                                                               \
  }
FORWARDS(launch, const LaunchEvent)
FORWARDS(block, const BlockEvent)
FORWARDS(fetch, FetchEvent)
FORWARDS(issue, IssueEvent)
FORWARDS(read, const CellEvent)
FORWARDS(result, ResultEvent)
FORWARDS(branch, const BranchEvent)
FORWARDS(memory, const MemoryEvent)
FORWARDS(commit, const CommitEvent)
FORWARDS(trap, const TrapEvent)
#undef FORWARDS

// Bits enter cells: [protections, faults] last added first, then observers in their order.
Verdict hooks_write(const HookChain *chain, HookMachine *machine, const CellEvent *event) {
  Verdict verdict = VERDICT_PASS;
  uint32_t observers = chain->count;
  while (observers > 0 && chain->hooks[observers - 1]->kind == HOOK_OBSERVER) observers--;
  for (uint32_t i = observers; i-- > 0;) {
    Hook *hook = chain->hooks[i];
    if (hook->write != NULL) verdict = combine(verdict, hook, hook->write(hook, machine, event));
  }
  for (uint32_t i = observers; i < chain->count; i++) {
    Hook *hook = chain->hooks[i];
    if (hook->write != NULL) hook->write(hook, machine, event);
  }
  return verdict;
}

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

void hooks_span(const HookChain *chain, HookMachine *machine, const SpanEvent *event) {
  for (uint32_t i = 0; i < chain->count; i++) {
    Hook *hook = chain->hooks[i];
    if (hook->span != NULL) hook->span(hook, machine, event);
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
