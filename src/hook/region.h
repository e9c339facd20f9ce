// Which bits exist. A machine's state.def declares its structures; laid out for one Spec, each row
// of the table is a Region: cells at fixed places of the machine's block.
//
// A region is `rows` rows of `units` units of `bits` bits. A row is what the hardware accesses at once: a register
// of a warp (32 lanes of 32 bits), a cache line (32 words), a queue entry. Fault sites, ECC words, def-use and AVF
// denominators are all (region, row, unit, bit).
#ifndef REDOUBT_REGION_H
#define REDOUBT_REGION_H

#include "base/base.h"

enum { REGION_MAX_DIMS = 4, REGION_MAX_UNITS = 32, REGION_NONE = 0xFFFF };

enum {
  REGION_HASHED = 1u << 0,     // part of what machine_hash covers: decides what happens next
  REGION_INJECTABLE = 1u << 1, // hardware cells: faults may strike, any value of them is legal
  REGION_STAT = 1u << 2,       // counters: never decide anything
  REGION_TRACED = 1u << 3,     // every access of it is told to hooks (CellEvent), so it can carry ECC and be pruned
  REGION_OUTSIDE = 1u << 4,    // cells in device memory, not in the block: `base` counts from the memory's first byte
  REGION_LOOKED_AT = 1u << 5,  // TRACED, but logic also looks at the bits between the accesses that are told: no def-use
  REGION_OUTPUT = 1u << 6,     // no cells: the outputs of a functional unit, which hold a result while it is told (ResultEvent)
  REGION_PLACES = 1u << 7,     // taking and releasing its rows is told to hooks (HoldEvent)
  REGION_DECIDED =
      1u << 8, // cells of control logic: what their bits decide is told to hooks while HookMachine.is_told says so (DecideEvent)
  REGION_INNER = 1u << 10,    // OUTPUT, and inside a unit: values that its results are made of (ResultEvent.inside)
  REGION_TAKEN_OUT = 1u << 9, // LOOKED_AT, and a read takes the bits out: nobody looks at them until they are written again
  // OUTSIDE, and can carry ECC: a launch tells all accesses, first what the host has written, last what it may read. Its check bits have the flag too: they
  // lie in the block, and stand for cells beside the memory.
  REGION_GUARDED = 1u << 12,
  REGION_KEPT = 1u << 11, // not put to rest at a launch's end: what it holds, and a fault in it, is there in the next launch
};

// What a structure is to programs. Whoever needs "the registers" asks for the role: names are for users.
typedef enum RegionRole {
  REGION_ROLE_NONE,
  REGION_ROLE_REGISTERS,    // of warps: a row per register, a unit per lane
  REGION_ROLE_PREDICATES,   // of warps: a row per warp, a unit per predicate, a bit per lane
  REGION_ROLE_SHARED,       // shared memory of blocks
  REGION_ROLE_INSTRUCTIONS, // encoded instructions, on their way or in a cache
} RegionRole;
enum { REGION_ROLE_SHIFT = 16, REGION_FLAGS = 0xFFFF };
// In a table of structures the role stands beside the flags.
#define REGION_AS(role) ((uint32_t)REGION_ROLE_##role << REGION_ROLE_SHIFT)

// Which cells of a real GPU a structure is. State.def says it of each, with what it stands for.
typedef enum OriginKind {
  ORIGIN_MODELLED,   // such a GPU has these cells; the machine file gives their number, with its source
  ORIGIN_STANDS_FOR, // such a GPU does the same with other cells: those that `what` names
  ORIGIN_SIMULATOR,  // no such GPU has them, as `what` says: "all" leaves them out
  ORIGIN_COUNT
} OriginKind;
extern const char *const origin_names[ORIGIN_COUNT]; // "modelled", ...
typedef struct RegionOrigin {
  OriginKind kind;
  const char *what; // NULL: nothing more to say
} RegionOrigin;
#define MODELLED ((RegionOrigin){ORIGIN_MODELLED, NULL})
#define STANDS_FOR(what) ((RegionOrigin){ORIGIN_STANDS_FOR, what})
#define SIMULATORS_OWN(what) ((RegionOrigin){ORIGIN_SIMULATOR, what})

// How long the state of a scheme lives: when the machine zeroes it.
typedef enum RegionLife {
  LIFE_OWN,         // the machine's own region, not a scheme's
  LIFE_INSTRUCTION, // a row per instruction of a warp: zeroed before an instruction with the same row issues, and at the launch's end
  LIFE_LAUNCH,      // zeroed when the launch has ended: check bits of cells that are put to rest then, buffers of what is under way
  LIFE_CELLS,       // never: check bits of cells that are KEPT. They follow from what those hold, and tell nothing else
  LIFE_MACHINE,     // never: a fault map, a cache, a wake-up
} RegionLife;

// One dimension of a region's rows, outermost first: "sm" of 15, "reg" of 1024.
typedef struct RegionDim {
  const char *name;
  uint32_t count;
} RegionDim;

typedef struct Region {
  const char *name;    // as users write it: "rf"
  const char *title;   // "register file"
  const char *unit;    // what a unit is called: "lane", "word", "entry"
  const char *meaning; // one sentence
  RegionDim dims[REGION_MAX_DIMS];
  uint32_t dim_count;
  uint32_t flags;
  RegionRole role;
  RegionOrigin origin;
  uint64_t rows;        // product of the dims
  uint32_t units, bits; // per row; per unit, 1..64, little-endian in memory
  size_t base;          // of row 0, unit 0, bit 0 in the block
  size_t row_bytes;     // from one row to the next
  uint64_t group_rows;  // not 0: rows come in groups of so many, ...
  size_t group_bytes;   // ... and this far from one group to the next: what lies between is no cell
  size_t unit_bytes;    // from one unit to the next
  RegionLife life;
  uint32_t owned_by_scheme; // 1 + index of the hook whose state it is; 0: the machine's
} Region;

// Every access of it is told to hooks, and nobody looks at its bits between those.
static inline bool region_tells_accesses(const Region *region) {
  return (region->flags & (REGION_TRACED | REGION_LOOKED_AT)) == REGION_TRACED;
}

// All regions of one machine; owned by the machine, immutable.
typedef struct RegionTable {
  const Region *items;
  uint32_t count;
  size_t block_bytes;
} RegionTable;

typedef struct Site {
  uint16_t region;
  uint64_t row;
  uint32_t unit, bit;
} Site;

static inline uint64_t region_bits(const Region *region) { return region->rows * region->units * region->bits; }
// Faults may strike it, and it is neither device memory nor without cells.
static inline bool region_is_on_chip(const Region *region) {
  return (region->flags & (REGION_INJECTABLE | REGION_OUTSIDE | REGION_OUTPUT | REGION_GUARDED)) == REGION_INJECTABLE;
}
// Of these, what a real GPU has: "all".
static inline bool region_is_hardware(const Region *region) { return region_is_on_chip(region) && region->origin.kind != ORIGIN_SIMULATOR; }
static inline bool region_can_carry_ecc(const Region *region) {
  return (region->flags & (REGION_TRACED | REGION_OUTSIDE)) == REGION_TRACED ||
         (region->flags & (REGION_GUARDED | REGION_OUTSIDE)) == (REGION_GUARDED | REGION_OUTSIDE);
}
// Where a row begins in the block (or in memory, REGION_OUTSIDE).
static inline size_t region_row_at(const Region *region, uint64_t row) {
  if (region->group_rows == 0) return region->base + row * region->row_bytes;
  return region->base + row / region->group_rows * region->group_bytes + row % region->group_rows * region->row_bytes;
}
// Byte that holds the bit, and its mask there.
static inline size_t site_byte(const Region *region, const Site *site) {
  return region_row_at(region, site->row) + site->unit * region->unit_bytes + site->bit / 8;
}
static inline uint8_t site_mask(const Site *site) { return (uint8_t)(1u << site->bit % 8); }

// REGION_NONE: there is none of that name.
uint16_t region_find(const RegionTable *table, const char *name);
uint32_t region_shared_row(const RegionTable *table);                 // bytes of a row of shared memory; 1: there is none
uint16_t region_with_role(const RegionTable *table, RegionRole role); // the first; REGION_NONE: there is none
// The n-th bit of the region, counted row by row, unit by unit.
Site region_site(const RegionTable *table, uint16_t region, uint64_t number);
// "rf[sm=3,reg=12,lane=7,bit=4]" and back. Keys are the dimensions, the unit's name (left out where a row has one unit)
// and "bit"; parsing takes them in any order, lets those be left out that can only be 0, and names the
// nearest structure or key on error.
void site_format(const RegionTable *table, const Site *site, Text *out);
bool site_parse(const RegionTable *table, const char *text, Site *site, Diags *diags);
// A unit's bits as a number; `unit` points to its first byte.
uint64_t unit_get(const Region *region, const uint8_t *unit);
void unit_set(const Region *region, uint8_t *unit, uint64_t value); // bits above the width are not touched
// What is wrong with a table, for the tests of those who make one: names taken twice, rows that are not the product of the
// dims, cells outside the block or shared by two regions.
bool region_table_check(const RegionTable *table, Diags *diags);
void regions_list(const RegionTable *table, Text *out);     // `redoubt list structures`
void regions_markdown(const RegionTable *table, Text *out); // the same as rows of a table

#endif
