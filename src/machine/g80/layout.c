// Lays the block out for a number of SMs and SPs, and names its cells: state.def becomes a RegionTable.
// Invariant: every region lies inside the block, and a cell's spare bits stay 0 unless hardware wrote them so.
#include "machine/g80/g80_internal.h"

enum {
  REGISTER = REGION_HASHED | REGION_INJECTABLE,
  TOLD = REGISTER | REGION_TRACED,
  LOOKED = TOLD | REGION_LOOKED_AT,
  SIGNAL = REGION_INJECTABLE | REGION_TRACED | REGION_LOOKED_AT,
  THESIS = 1 << 30,
  THESIS_TOLD = TOLD | THESIS,
  THESIS_LOOKED = LOOKED | THESIS,
  THESIS_SIGNAL = SIGNAL | THESIS,
};

typedef enum RowKind { ROW_ONE, ROW_EACH, ROW_PARAMS, ROW_PORT, ROW_SM, ROW_SM_BYTES, ROW_TABLE, ROW_MEMORY } RowKind;
typedef struct Row {
  const char *name, *title, *row, *unit;
  RowKind kind;
  uint32_t flags, rows, units, bits, bytes;
  size_t offset;
} Row;

static const Row rows[] = {
#define ONE(name, member, bits, flags, title) \
  {#name, title, "", "register", ROW_ONE, (uint32_t)(flags), 1, 1, bits, 4, offsetof(G80Shared, member)},
#define EACH(name, member, bits, flags, title) \
  {#name, title, "", "register", ROW_EACH, (uint32_t)(flags), 1, 1, bits, 4, offsetof(G80Shared, member)},
#define PARAMS(name, member, bits, flags, title) \
  {#name, title, "word", "register", ROW_PARAMS, (uint32_t)(flags), 16, 1, bits, 4, offsetof(G80Shared, member)},
#define PORT(name, member, bits, flags, title) \
  {#name, title, "port", "register", ROW_PORT, (uint32_t)(flags) | THESIS, PORT_COUNT, 1, bits, 4, offsetof(G80Port, member)},
#define SM(name, member, units, unit, bits, flags, title) \
  {#name, title, "", unit, ROW_SM, (uint32_t)(flags), 1, units, bits, 4, offsetof(G80Sm, member)},
#define SM_BYTES(name, member, units, unit, bits, flags, title) \
  {#name, title, "", unit, ROW_SM_BYTES, (uint32_t)(flags), 1, units, bits, 1, offsetof(G80Sm, member)},
#define TABLE(name, count, row, units, unit, bits, bytes, flags, title) \
  {#name, title, row, unit, ROW_TABLE, (uint32_t)(flags), count, units, bits, bytes, 0},
#define MEMORY(name, count, row, bits, bytes, flags, title) \
  {#name, title, row, "cell", ROW_MEMORY, (uint32_t)(flags), count, 1, bits, bytes, 0},
#include "machine/g80/state.def"
#undef ONE
#undef EACH
#undef PARAMS
#undef PORT
#undef SM
#undef SM_BYTES
#undef TABLE
#undef MEMORY
};

static size_t sms_at(void) { return align_up(sizeof(G80Shared), 64); }
static size_t sm_bytes(void) { return sizeof(G80Sm); } // G80Machine.sm is an array

// Registers of the lanes are as many as the SM has SPs.
static uint32_t units_of(const G80Machine *m, const Row *row) {
  bool lanes = (row->kind == ROW_SM || row->kind == ROW_SM_BYTES) && row->units == 32;
  return lanes ? m->sps : row->units;
}

static void place(const G80Machine *m, const Row *row, size_t table_at, Region *region) {
  *region = (Region){.name = row->name,
                     .title = row->title,
                     .unit = row->unit,
                     .meaning = row->title,
                     .flags = row->flags & REGION_FLAGS,
                     .origin = MODELLED,
                     .role = (RegionRole)((row->flags & ~(uint32_t)THESIS) >> REGION_ROLE_SHIFT),
                     .units = units_of(m, row),
                     .bits = row->bits == 0 ? m->sms : row->bits,
                     .unit_bytes = row->bytes,
                     .row_bytes = row->bytes * row->units,
                     .base = row->offset};
  bool per_sm = row->kind == ROW_EACH || row->kind == ROW_SM || row->kind == ROW_SM_BYTES || row->kind == ROW_TABLE;
  if (per_sm) region->dims[region->dim_count++] = (RegionDim){"sm", m->sms};
  if (row->rows > 1) region->dims[region->dim_count++] = (RegionDim){row->row, row->rows};
  region->rows = (per_sm ? m->sms : 1) * (uint64_t)row->rows;
  if (row->kind == ROW_PORT) {
    region->base += offsetof(G80Shared, ports);
    region->row_bytes = sizeof(G80Port);
  } else if (row->kind == ROW_SM || row->kind == ROW_SM_BYTES) {
    region->base += sms_at();
    region->row_bytes = sm_bytes();
  } else if (row->kind == ROW_TABLE || row->kind == ROW_MEMORY) {
    region->base = table_at;
  }
}

// Everything but signals and counters decides what happens next.
static void hash_all(G80Machine *m, size_t own_bytes) {
  ByteRange *hashed = ARENA_ARRAY(m->arena, ByteRange, 3);
  hashed[0] = (ByteRange){0, G80_SHARED_HASHED};
  hashed[1] = (ByteRange){sms_at(), own_bytes - sms_at()};
  hashed[2] = (ByteRange){own_bytes, m->regions.block_bytes - own_bytes};
  m->layout = (StateLayout){.regions = &m->regions, .hashed = hashed, .hashed_count = m->regions.block_bytes > own_bytes ? 3 : 2};
}

static bool attach_hooks(G80Machine *m, const RegionTable *own, Diags *diags) {
  enum { TOLD_EVENTS = WANT_LAUNCH | WANT_BLOCK | WANT_CELLS | WANT_COMMIT | WANT_TRAP | WANT_PHASE | WANT_CYCLE | WANT_FINISH };
  HookShape shape = {.sms = m->sms, .warps = G80_WARPS, .block_slots = G80_BLOCK_SLOTS, .untold = ~(uint32_t)TOLD_EVENTS};
  HookLayout *layout = hook_layout_begin(m->arena, own, &shape);
  if (!hook_layout_attach(layout, &m->hooks->chain, diags)) return false;
  m->regions = hook_layout_finish(layout);
  m->own_bytes = own->block_bytes;
  hash_all(m, own->block_bytes);
  return true;
}

bool layout_build(G80Machine *m, Diags *diags) {
  Region *items = ARENA_ARRAY(m->arena, Region, COUNT_OF(rows));
  uint32_t count = 0;
  size_t at = align_up(sms_at() + m->sms * sm_bytes(), 64);
  _Static_assert(COUNT_OF(rows) == REGION_ID_COUNT, "one row per region");
  for (uint32_t i = 0; i < COUNT_OF(rows); i++) {
    m->region_index[i] = REGION_NONE;
    if ((rows[i].flags & THESIS) != 0 && !m->outside) continue;
    Region *region = &items[count];
    place(m, &rows[i], at, region);
    m->region_index[i] = (uint16_t)count++;
    m->table_at[i] = region->base;
    bool is_by_sm = region->dim_count > 0 && strcmp(region->dims[0].name, "sm") == 0;
    m->rows_of_sm[i] = is_by_sm ? (uint32_t)(region->rows / m->sms) : 0;
    if (rows[i].kind == ROW_TABLE || rows[i].kind == ROW_MEMORY) at = align_up(at + region->rows * region->row_bytes, 64);
  }
  m->hashed_from_sms = sms_at();
  RegionTable own = {items, count, at};
  return attach_hooks(m, &own, diags);
}
