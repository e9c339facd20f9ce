// The block: its arrays for one Spec, and the names of its cells (state.def).
#include "machine/fragment/fragment_internal.h"

enum { CELL = REGION_HASHED | REGION_INJECTABLE, TOLD = CELL | REGION_TRACED };

typedef struct CellsRow {
  const char *name;
  FragArray array;
  size_t offset, row_bytes, unit_bytes;
  const char *row;
  uint32_t rows, units;
  const char *unit;
  uint32_t bits, flags;
  const char *title, *meaning;
  RegionOrigin origin;
} CellsRow;

// Arrays of vectors: `whole` is the vector.
typedef struct ShaderVectorCell {
  float whole[4];
} ShaderVectorCell;
typedef struct ShaderHalvesCell {
  uint16_t whole[4];
} ShaderHalvesCell;
#define ShaderVector ShaderVectorCell
#define ShaderHalves ShaderHalvesCell
static const CellsRow rows[] = {
#define CELLS(name, array, Element, member, row, rows, units, unit, bits, flags, title, meaning, origin) \
  {#name,                                                                                                \
   ARRAY_##array,                                                                                        \
   offsetof(Element, member),                                                                            \
   sizeof(Element),                                                                                      \
   sizeof(((Element *)0)->member) / (units),                                                             \
   row,                                                                                                  \
   rows,                                                                                                 \
   units,                                                                                                \
   unit,                                                                                                 \
   bits,                                                                                                 \
   flags,                                                                                                \
   title,                                                                                                \
   meaning,                                                                                              \
   origin},
#undef MODELLED // initialisers of a static table are no compound literals
#undef STANDS_FOR
#define MODELLED \
  { ORIGIN_MODELLED, NULL }
#define STANDS_FOR(what) \
  { ORIGIN_STANDS_FOR, what }
#include "machine/fragment/state.def"
#undef CELLS
};
#undef ShaderVector
#undef ShaderHalves

enum { OTHERS = 2 }; // regions without cells in the block

// ---- Sizes ---------------------------------------------------------------------------------------------------------

static void take_spec(Fragment *m) {
  const Spec *spec = m->spec;
  FragDims *dims = &m->dims;
  dims->pipes = (uint32_t)spec->fragment_pipelines;
  dims->contexts = (uint32_t)spec->fragment_contexts;
  dims->queue = (uint32_t)spec->fragment_queue;
  dims->sharing = min_u32((uint32_t)spec->fragment_cache_pipelines, dims->pipes);
  dims->misses = (uint32_t)spec->fragment_texture_queue;
  dims->asked = (uint32_t)spec->fragment_crossbar_queue;
  dims->width = (uint32_t)spec->fragment_crossbar_width;
  dims->memory_width = (uint32_t)spec->fragment_memory_width;
  dims->memory_latency = (uint32_t)spec->fragment_memory_latency;
  dims->rops = (uint32_t)spec->fragment_rops;
  dims->group = min_u32((uint32_t)spec->fragment_group, min_u32(dims->contexts, dims->queue));
  dims->memory_interval = (uint32_t)spec->fragment_memory_interval;
  dims->store = (uint32_t)spec->fragment_store;
  dims->units = (uint32_t)spec->fragment_units;
  dims->is_perfect = spec->fragment_perfect == 1;
  dims->has_perfect_textures = spec->fragment_perfect != 0;
  dims->cache = cache_shape(spec->fragment_cache_bytes, spec->fragment_cache_ways, FRAG_LINE, 1);
  dims->tcache = cache_shape(spec->fragment_cache_bytes, spec->fragment_cache_ways, FRAG_LINE, FRAG_LINE);
  dims->flying = dims->memory_width * (dims->memory_latency + 4);
}

static size_t array_bytes(const Fragment *m, FragArray array) {
  const FragDims *d = &m->dims;
  size_t contexts = (size_t)d->pipes * d->contexts, lines = cache_lines(&d->cache);
  switch (array) {
  case ARRAY_CORE: return sizeof(FragCore);
  case ARRAY_CONSTANTS: return SHADER_MOST_CONSTANTS * sizeof(float[4]);
  case ARRAY_STORE: return d->store * sizeof(ShaderWord);
  case ARRAY_QUEUE: return d->queue * sizeof(FragEntry);
  case ARRAY_TEMP: return contexts * SHADER_TEMPS * sizeof(float[4]);
  case ARRAY_HALF: return contexts * SHADER_HALVES * sizeof(uint16_t[4]);
  case ARRAY_INPUT: return contexts * SHADER_INPUTS * sizeof(float[4]);
  case ARRAY_CONTEXTS: return contexts * sizeof(FragContext);
  case ARRAY_STATES: return contexts * sizeof(FragState);
  case ARRAY_PIPES: return d->pipes * sizeof(FragPipe);
  case ARRAY_TCACHE_TAGS: return d->pipes / d->sharing * lines * sizeof(CacheTag);
  case ARRAY_TCACHE: return d->pipes / d->sharing * lines * sizeof(CacheLine);
  case ARRAY_TCACHE_DATA: return d->pipes / d->sharing * lines * sizeof(CacheData);
  case ARRAY_MISSES: return (size_t)d->pipes / d->sharing * d->misses * sizeof(FragMiss);
  case ARRAY_ASKED: return d->asked * sizeof(FragAsked);
  case ARRAY_FLYING: return d->flying * sizeof(FragAsked);
  case ARRAY_RESULT: return d->asked * sizeof(FragResult);
  case ARRAY_LANDING: return (size_t)d->rops * d->misses * sizeof(FragResult);
  case ARRAY_ROPS: return d->rops * sizeof(FragRop);
  case ARRAY_RCACHE_TAGS: return d->rops * lines * sizeof(CacheTag);
  case ARRAY_RCACHE: return d->rops * lines * sizeof(CacheLine);
  case ARRAY_RCACHE_DATA: return d->rops * lines * sizeof(CacheData);
  case ARRAY_STATS: return sizeof(FragStats);
  case FRAG_ARRAYS: break;
  }
  return 0;
}

static bool is_of_tcache(FragArray array) { return array >= ARRAY_TCACHE_TAGS && array <= ARRAY_TCACHE_DATA; }
static bool is_of_rcache(FragArray array) { return array >= ARRAY_RCACHE_TAGS && array <= ARRAY_RCACHE_DATA; }

// The dimensions of an array, outermost first.
static void name_dims(const Fragment *m, const CellsRow *row, Region *region) {
  const FragDims *d = &m->dims;
  uint32_t lines = cache_lines(&d->cache);
  bool by_context = row->array == ARRAY_TEMP || row->array == ARRAY_HALF || row->array == ARRAY_INPUT || row->array == ARRAY_CONTEXTS ||
                    row->array == ARRAY_STATES;
  bool by_pipe = by_context || row->array == ARRAY_PIPES, by_cache = is_of_tcache(row->array) || row->array == ARRAY_MISSES;
  uint32_t entries = 0;
  if (by_pipe) region->dims[region->dim_count++] = (RegionDim){"pipe", d->pipes};
  if (by_cache) region->dims[region->dim_count++] = (RegionDim){d->sharing == 1 ? "pipe" : "cache", d->pipes / d->sharing};
  if (by_context) region->dims[region->dim_count++] = (RegionDim){"context", d->contexts};
  if (is_of_rcache(row->array) || row->array == ARRAY_ROPS || row->array == ARRAY_LANDING)
    region->dims[region->dim_count++] = (RegionDim){"rop", d->rops};
  if (is_of_tcache(row->array) || is_of_rcache(row->array)) entries = lines;
  if (row->array == ARRAY_MISSES) entries = d->misses;
  if (row->array == ARRAY_ASKED || row->array == ARRAY_RESULT) entries = d->asked;
  if (row->array == ARRAY_FLYING) entries = d->flying;
  if (row->array == ARRAY_LANDING) entries = d->misses;
  if (row->array == ARRAY_CONSTANTS) entries = SHADER_MOST_CONSTANTS;
  if (row->array == ARRAY_STORE) entries = d->store;
  if (row->array == ARRAY_QUEUE) entries = d->queue;
  if (row->rows > 0) entries = row->rows;
  if (entries > 0) region->dims[region->dim_count++] = (RegionDim){*row->row != '\0' ? row->row : "entry", entries};
  region->rows = 1;
  for (uint32_t i = 0; i < region->dim_count; i++) region->rows *= region->dims[i].count;
}

static void note_looked(Fragment *m, const char *name, uint16_t region) {
  static const char *const names[FRAG_LOOKED] = {"raster",  "raster.corner", "raster.bounds", "rop.frame",
                                                 "rop.row", "tcache",        "rcache",        "store"};
  for (uint32_t i = 0; i < FRAG_LOOKED; i++) {
    if (strcmp(names[i], name) == 0) m->looked[i] = region;
  }
}

// What has no cells in the block: outputs of the arithmetic units, which hold a result while it is told, and device memory.
static void add_others(Fragment *m, Region *unit, Region *memory) {
  uint64_t lead = m->spec->memory_lead;
  *unit = (Region){.name = "unit", .title = "arithmetic units", .unit = "component", .meaning = "outputs", .units = 4, .bits = 32};
  unit->flags = REGION_INJECTABLE | REGION_OUTPUT;
  unit->dims[unit->dim_count++] = (RegionDim){"pipe", m->dims.pipes};
  if (m->dims.units > 1) unit->dims[unit->dim_count++] = (RegionDim){"unit", m->dims.units};
  unit->rows = (uint64_t)m->dims.pipes * m->dims.units;
  *memory = (Region){.name = "dram", .title = "memory", .unit = "word", .units = FRAG_LINE / 4, .bits = 32, .unit_bytes = 4};
  memory->meaning = "textures and the frame, 64 bytes a row; campaigns strike what is allocated";
  memory->flags = REGION_INJECTABLE | REGION_OUTSIDE | REGION_GUARDED;
  memory->base = lead;
  memory->row_bytes = FRAG_LINE;
  memory->rows = (m->spec->memory_bytes - lead) / FRAG_LINE;
  memory->dims[memory->dim_count++] = (RegionDim){"row", (uint32_t)memory->rows};
}

bool fragment_layout(Fragment *m, Diags *diags) {
  take_spec(m);
  if (m->dims.pipes % m->dims.sharing != 0)
    return diags_add(diags, NULL, 0, 0, "fragment.cache_pipelines: an odd number of pipelines cannot share caches by two");
  size_t at = 0;
  for (uint32_t i = 0; i < FRAG_ARRAYS; i++) {
    m->array_at[i] = at;
    at = align_up(at + array_bytes(m, (FragArray)i), 64);
  }
  Region *items = ARENA_ARRAY(m->arena, Region, COUNT_OF(rows) + OTHERS);
  for (uint32_t i = 0; i < COUNT_OF(rows); i++) {
    items[i] = (Region){.name = rows[i].name,
                        .title = rows[i].title,
                        .unit = rows[i].unit,
                        .meaning = rows[i].meaning,
                        .flags = rows[i].flags,
                        .origin = rows[i].origin,
                        .units = rows[i].units,
                        .bits = rows[i].bits,
                        .base = m->array_at[rows[i].array] + rows[i].offset,
                        .row_bytes = rows[i].row_bytes,
                        .unit_bytes = rows[i].unit_bytes};
    // Lines of 64 bytes take the first half of a line's data.
    if (rows[i].units == FRAG_LINE / 4 && rows[i].row_bytes == sizeof(CacheData)) items[i].unit_bytes = 4;
    name_dims(m, &rows[i], &items[i]);
    note_looked(m, rows[i].name, (uint16_t)i);
    bool is_order = strcmp(rows[i].name, "tcache.order") == 0 || strcmp(rows[i].name, "rcache.order") == 0;
    if (is_order) items[i].bits = cache_order_bits(&m->dims.cache);
    if (strcmp(rows[i].name, "tqueue.waiters") == 0) items[i].bits = m->dims.contexts * m->dims.sharing;
    if (rows[i].array == ARRAY_TEMP) m->temp_region = (uint16_t)i;
    if (rows[i].array == ARRAY_HALF) m->half_region = (uint16_t)i;
  }
  add_others(m, &items[COUNT_OF(rows)], &items[COUNT_OF(rows) + 1]);
  m->unit_region = COUNT_OF(rows);
  enum {
    TOLD_EVENTS =
        WANT_LAUNCH | WANT_BLOCK | WANT_POINT | WANT_MERGE | WANT_CELLS | WANT_RESULT | WANT_COMMIT | WANT_TRAP | WANT_CYCLE | WANT_FINISH
  };
  HookShape shape = {.sms = m->dims.pipes, .warps = m->dims.contexts, .block_slots = m->dims.contexts, .untold = ~(uint32_t)TOLD_EVENTS};
  shape.pairs = m->dims.sharing == 2 && m->dims.queue >= 2 * m->dims.group; // both copies of a group fit into the queue
  RegionTable own = {items, COUNT_OF(rows) + OTHERS, at};
  HookLayout *layout = hook_layout_begin(m->arena, &own, &shape);
  if (!hook_layout_attach(layout, &m->hooks, diags)) return false;
  m->dims.lockstep = hook_chain_lockstep(&m->hooks);
  m->regions = hook_layout_finish(layout);
  m->own_bytes = at;
  ByteRange *hashed = ARENA_ARRAY(m->arena, ByteRange, 2);
  hashed[0] = (ByteRange){0, m->array_at[ARRAY_STATS]};
  hashed[1] = (ByteRange){at, m->regions.block_bytes - at};
  m->layout = (StateLayout){.regions = &m->regions, .hashed = hashed, .hashed_count = m->regions.block_bytes > at ? 2 : 1};
  return true;
}

void fragment_bind(Fragment *m) {
  uint8_t *at[FRAG_ARRAYS];
  for (uint32_t i = 0; i < FRAG_ARRAYS; i++) at[i] = m->block + m->array_at[i];
  m->core = (FragCore *)(void *)at[ARRAY_CORE];
  m->constants = (ShaderVector *)(void *)at[ARRAY_CONSTANTS];
  m->store = (ShaderWord *)(void *)at[ARRAY_STORE];
  m->queue = (FragEntry *)(void *)at[ARRAY_QUEUE];
  m->temp = (ShaderVector *)(void *)at[ARRAY_TEMP];
  m->half = (ShaderHalves *)(void *)at[ARRAY_HALF];
  m->input = (ShaderVector *)(void *)at[ARRAY_INPUT];
  m->contexts = (FragContext *)(void *)at[ARRAY_CONTEXTS];
  m->states = (FragState *)(void *)at[ARRAY_STATES];
  m->pipes = (FragPipe *)(void *)at[ARRAY_PIPES];
  m->tcache_tags = (CacheTag *)(void *)at[ARRAY_TCACHE_TAGS];
  m->tcache = (CacheLine *)(void *)at[ARRAY_TCACHE];
  m->tcache_data = (CacheData *)(void *)at[ARRAY_TCACHE_DATA];
  m->misses = (FragMiss *)(void *)at[ARRAY_MISSES];
  m->asked = (FragAsked *)(void *)at[ARRAY_ASKED];
  m->flying = (FragAsked *)(void *)at[ARRAY_FLYING];
  m->result = (FragResult *)(void *)at[ARRAY_RESULT];
  m->landing = (FragResult *)(void *)at[ARRAY_LANDING];
  m->rops = (FragRop *)(void *)at[ARRAY_ROPS];
  m->rcache_tags = (CacheTag *)(void *)at[ARRAY_RCACHE_TAGS];
  m->rcache = (CacheLine *)(void *)at[ARRAY_RCACHE];
  m->rcache_data = (CacheData *)(void *)at[ARRAY_RCACHE_DATA];
  m->stats = (FragStats *)(void *)at[ARRAY_STATS];
  HookMachine *machine = &m->machine;
  machine->block = m->block;
  machine->regions = &m->regions;
  machine->corrected = &m->core->corrected;
  machine->detected = &m->core->detected;
  machine->repeated = &m->core->repeated;
  machine->tally = m->stats->tally;
}

// ---- Places that hold nothing ------------------------------------------------------------------------------------------

static bool is_in_ring(const FragRing *ring, uint64_t entry, uint32_t size) {
  return ring->count > 0 && (entry + size - ring->head % size) % size < ring->count;
}

bool fragment_is_free(const HookMachine *machine, const Site *site) {
  const Fragment *m = (const Fragment *)(const void *)((const uint8_t *)machine - offsetof(Fragment, machine));
  const Region *region = &machine->regions->items[site->region];
  if (site->region >= COUNT_OF(rows)) return false; // of a scheme
  const CellsRow *row = &rows[site->region];
  const uint8_t *element = machine->block + region->base - row->offset + site->row * region->row_bytes;
  const FragCore *core = (const FragCore *)(const void *)machine->block;
  uint64_t entries = region->dim_count > 0 ? region->dims[region->dim_count - 1].count : 1;
  switch (row->array) {
  case ARRAY_STORE: return machine->program != NULL && site->row >= machine->program->code_count; // beyond the program's end
  case ARRAY_QUEUE: return strcmp(row->name, "fqueue.valid") != 0 && (((const FragEntry *)(const void *)element)->valid & 1) == 0;
  case ARRAY_CONTEXTS: return (m->states[site->row].status & 3) == CONTEXT_FREE;
  case ARRAY_TCACHE_TAGS:
  case ARRAY_TCACHE_DATA: return !cache_line_valid(&m->tcache[site->row]);
  case ARRAY_RCACHE_TAGS:
  case ARRAY_RCACHE_DATA: return !cache_line_valid(&m->rcache[site->row]);
  case ARRAY_TCACHE:
  case ARRAY_RCACHE: return false; // one that changes makes a line of what is there, or another the victim
  case ARRAY_MISSES: return strcmp(row->name, "tqueue.valid") != 0 && (((const FragMiss *)(const void *)element)->valid & 1) == 0;
  case ARRAY_ASKED: return !is_in_ring(&core->asked, site->row, (uint32_t)entries);
  case ARRAY_FLYING: return !is_in_ring(&core->flying, site->row, (uint32_t)entries);
  case ARRAY_RESULT: return !is_in_ring(&core->result, site->row, (uint32_t)entries);
  case ARRAY_LANDING: return false;
  default: return false;
  }
}
