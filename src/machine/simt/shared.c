// Shared memory of an SM: banks four bytes wide. An access takes as many passes as the busiest bank has different words; lanes that
// want the same word share it. Lanes are taken in groups that would fill the banks once: a warp for 32-bit accesses over 32 banks, half
// of it for 64-bit ones or over 16 banks, and so on.
// Source: CUDA C Programming Guide 4.2, "Shared Memory" of compute capability 1.x and 2.x (F.3.3, F.4.3).
#include "machine/simt/memop.h"

enum { MOST_BANKS = 32 };

// ---- Conflicts ---------------------------------------------------------------------------------------

// Passes of one group of lanes.
static uint32_t group_passes(const uint64_t *address, uint32_t lanes, uint32_t words, uint32_t banks) {
  uint64_t seen[MOST_BANKS][WARP_LANES];
  uint8_t count[MOST_BANKS] = {0};
  uint32_t most = 0;
  for (; lanes != 0; lanes &= lanes - 1) {
    uint64_t first = address[__builtin_ctz(lanes)] / 4;
    for (uint64_t word = first; word < first + words; word++) {
      uint32_t bank = (banks & (banks - 1)) == 0 ? (uint32_t)word & (banks - 1) : (uint32_t)(word % banks), i = 0;
      while (i < count[bank] && seen[bank][i] != word) i++;
      if (i < count[bank]) continue;
      seen[bank][i] = word;
      count[bank]++;
      most = max_u32(most, i + 1);
    }
  }
  return most;
}

static uint32_t words_of(uint32_t lane_bytes) { return max_u32(lane_bytes / 4, 1); }

// Words within one stretch as wide as the banks lie in different ones: the common case. `all` is the extent of all lanes.
static uint32_t passes_of(const Spec *spec, const RowFunctions *rows, RowExtent all, const uint64_t *address, uint32_t lanes,
                          uint32_t lane_bytes, uint32_t *groups) {
  uint32_t banks = (uint32_t)min_u64(spec->shared_banks, MOST_BANKS), words = words_of(lane_bytes), passes = 0;
  uint32_t group = words == 1 ? banks : min_u32(max_u32(banks / words, 1), WARP_LANES);
  if (group == WARP_LANES && all.most / 4 - all.least / 4 + words <= banks) {
    *groups = 1;
    return 1;
  }
  uint32_t mask = group >= WARP_LANES ? UINT32_MAX : (1u << group) - 1;
  *groups = 0;
  for (uint32_t first = 0; first < WARP_LANES; first += group) {
    uint32_t some = lanes & mask << first;
    if (some == 0) continue;
    RowExtent extent = some == lanes ? all : rows->extent(address, some);
    bool is_one_stretch = extent.most / 4 - extent.least / 4 + words <= banks;
    passes += is_one_stretch ? 1 : group_passes(address, some, words, banks);
    ++*groups;
  }
  return passes;
}

uint32_t shared_passes(const Spec *spec, const uint64_t address[WARP_LANES], uint32_t lanes, uint32_t lane_bytes) {
  uint32_t groups;
  if (lanes == 0) return 1;
  const RowFunctions *rows = row_functions();
  return max_u32(passes_of(spec, rows, rows->extent(address, lanes), address, lanes, lane_bytes, &groups), 1);
}

// ---- The bits ----------------------------------------------------------------------------------------

typedef struct Place {
  uint32_t row;  // of the SM's
  uint32_t byte; // in the row
} Place;

static Place place_of(const Simt *m, const MemOp *op, unsigned lane) {
  uint64_t row = (op->address[lane] & PHYSICAL_MASK) / LINE_BYTES;
  if (row >= m->dims.shared_rows) row %= m->dims.shared_rows; // only after a flip
  return (Place){(uint32_t)row, memop_offset(op, lane, memop_lane_bytes(op))};
}

static uint8_t *bytes_at(const Simt *m, uint32_t sm, Place place) {
  SharedRow *row = &m->at.shared[(size_t)sm * m->dims.shared_rows + place.row];
  return (uint8_t *)row->word + place.byte;
}

// Rows of shared memory that an access touches, in the order of their first lanes, and which words of each. A row is found by a table of twice as many
// places as there are lanes: 1 + its number, at or after the place that is the row's own.
enum { TOUCHED_PLACES = 2 * WARP_LANES };
typedef struct Touched {
  uint32_t row[WARP_LANES], units[WARP_LANES];
  uint32_t count;
  uint8_t number[TOUCHED_PLACES];
} Touched;

static inline void touch(Touched *touched, uint32_t row, uint32_t units) {
  uint32_t place = row % TOUCHED_PLACES;
  while (touched->number[place] != 0 && touched->row[touched->number[place] - 1] != row) place = (place + 1) % TOUCHED_PLACES;
  if (touched->number[place] == 0) {
    touched->row[touched->count] = row;
    touched->units[touched->count] = 0;
    touched->number[place] = (uint8_t)++touched->count;
  }
  touched->units[touched->number[place] - 1] |= units;
}

// Words of one row.
typedef struct OneRow {
  uint32_t row, units;
} OneRow;

// The words of one row that all lanes touch, `words` of them from first[lane] on. Four at a time: it is run for every access that is told.
static uint32_t units_of_row(const uint32_t first[WARP_LANES], uint32_t words) {
  uint32_t units = 0;
  for (unsigned lane = 0; lane < WARP_LANES; lane += 4)
    units |= words << first[lane] % LINE_WORDS | words << first[lane + 1] % LINE_WORDS | words << first[lane + 2] % LINE_WORDS |
             words << first[lane + 3] % LINE_WORDS;
  return units;
}

// Mostly all lanes touch one row.
static void touch_lanes(Touched *touched, const MemOp *op, uint32_t lanes) {
  uint32_t first[WARP_LANES], bytes = memop_lane_bytes(op), others = 0;
  uint32_t words = (uint32_t)((UINT64_C(1) << words_of(bytes)) - 1), skipped = ~((bytes - 1) / 4);
  for (unsigned lane = 0; lane < WARP_LANES; lane++) first[lane] = (uint32_t)op->address[lane] / 4 & skipped;
  for (unsigned lane = 0; lane < WARP_LANES; lane++) others |= first[lane] ^ first[0];
  touched->count = 0;
  memset(touched->number, 0, sizeof touched->number);
  if (lanes == UINT32_MAX && others < LINE_WORDS) {
    touch(touched, first[0] / LINE_WORDS, units_of_row(first, words));
    return;
  }
  for (; lanes != 0; lanes &= lanes - 1) {
    unsigned lane = (unsigned)__builtin_ctz(lanes);
    touch(touched, first[lane] / LINE_WORDS, words << first[lane] % LINE_WORDS);
  }
}

static inline void tell_row(Simt *m, const Who *who, uint32_t sm, OneRow at, bool is_write) {
  uint64_t row = (uint64_t)sm * m->dims.shared_rows + ring_place(at.row, m->dims.shared_rows); // further on only after a flip
  if (is_write) tell_write_here(m, who, REGION_SHARED, row, at.units, m->at.shared[row].word);
  else tell_read_here(m, who, REGION_SHARED, row, at.units, m->at.shared[row].word);
}

static __attribute__((noinline)) void tell_lanes(Simt *m, uint32_t sm, const MemOp *op, uint32_t lanes, bool is_write) {
  const Who *who = cells_uop(m, sm, &op->uop);
  Touched touched;
  touch_lanes(&touched, op, lanes);
  for (uint32_t i = 0; i < touched.count; i++) tell_row(m, who, sm, (OneRow){touched.row[i], touched.units[i]}, is_write);
}

static inline void tell(Simt *m, uint32_t sm, const MemOp *op, uint32_t lanes, const OneRow *one, bool is_write) {
  if (!cells_are_wanted(m)) return;
  if (one != NULL) tell_row(m, cells_uop(m, sm, &op->uop), sm, *one, is_write);
  else tell_lanes(m, sm, op, lanes, is_write);
}

// What is known of an access.
typedef struct Reach {
  uint64_t last;     // highest address
  const OneRow *one; // its row; NULL: not known, or several
} Reach;

// Every lane wants one word, and all of them are there.
static bool has_plain_words(const Simt *m, const MemOp *op, uint64_t last) {
  if (op->element_bytes != 4 || op->elements != 1) return false;
  return (last & PHYSICAL_MASK) < (uint64_t)m->dims.shared_rows * LINE_BYTES && last >> PHYSICAL_BITS == 1;
}

static void load(Simt *m, uint32_t sm, MemOp *op, uint32_t lanes, Reach reach) {
  uint32_t bytes = memop_lane_bytes(op);
  tell(m, sm, op, lanes, reach.one, false);
  if (has_plain_words(m, op, reach.last)) {
    m->rows->gather(m->at.shared[(size_t)sm * m->dims.shared_rows].word, op->address, PHYSICAL_MASK, lanes, op->data[0]);
    return;
  }
  for (; lanes != 0; lanes &= lanes - 1) {
    unsigned lane = (unsigned)__builtin_ctz(lanes);
    memop_put(op, lane, 0, bytes_at(m, sm, place_of(m, op, lane)), bytes);
  }
}

static void store(Simt *m, uint32_t sm, MemOp *op, uint32_t lanes, Reach reach) {
  uint32_t bytes = memop_lane_bytes(op);
  if (bytes < 4) tell(m, sm, op, lanes, reach.one, false); // parts of words
  if (has_plain_words(m, op, reach.last)) {
    uint32_t *words = m->at.shared[(size_t)sm * m->dims.shared_rows].word;
    for (uint32_t left = lanes; left != 0; left &= left - 1) {
      unsigned lane = (unsigned)__builtin_ctz(left);
      words[(op->address[lane] & PHYSICAL_MASK) / 4] = op->data[0][lane];
    }
    tell(m, sm, op, lanes, reach.one, true);
    return;
  }
  for (uint32_t left = lanes; left != 0; left &= left - 1) {
    unsigned lane = (unsigned)__builtin_ctz(left);
    memop_get(op, lane, 0, bytes_at(m, sm, place_of(m, op, lane)), bytes);
  }
  tell(m, sm, op, lanes, reach.one, true);
}

// ---- Atomics -----------------------------------------------------------------------------------------

// The lanes of `left` that are the lowest with their place.
static uint32_t first_of_each(const Simt *m, const MemOp *op, uint32_t left) {
  Place taken[WARP_LANES];
  uint32_t count = 0, chosen = 0;
  for (; left != 0; left &= left - 1) {
    unsigned lane = (unsigned)__builtin_ctz(left);
    Place place = place_of(m, op, lane);
    uint32_t i = 0;
    while (i < count && (taken[i].row != place.row || taken[i].byte != place.byte)) i++;
    if (i < count) continue;
    taken[count++] = place;
    chosen |= 1u << lane;
  }
  return chosen;
}

// Lanes with different places, all at once. Afterwards the data rows hold old values.
static void atomic_round(Simt *m, uint32_t sm, MemOp *op, uint32_t lanes) {
  uint32_t old[2][WARP_LANES] = {{0}}, fresh[2][WARP_LANES] = {{0}};
  unsigned bytes = op->element_bytes, registers = bytes == 8 ? 2 : 1;
  tell(m, sm, op, lanes, NULL, false);
  for (uint32_t left = lanes; left != 0; left &= left - 1) {
    unsigned lane = (unsigned)__builtin_ctz(left);
    uint64_t value = 0;
    memcpy(&value, bytes_at(m, sm, place_of(m, op, lane)), bytes);
    row_set(old[0], lane, registers, value);
  }
  LaneOp function = {.d = fresh[0], .a = old[0], .b = op->data[0], .c = op->other[0], .active = lanes, .mods = op->mods};
  if (op->op < OP_COUNT && m->functions[op->op] != NULL) m->functions[op->op](&function);
  for (uint32_t left = lanes; left != 0; left &= left - 1) {
    unsigned lane = (unsigned)__builtin_ctz(left);
    uint64_t value = row_get(fresh[0], lane, registers);
    memcpy(bytes_at(m, sm, place_of(m, op, lane)), &value, bytes);
    row_set(op->data[0], lane, registers, row_get(old[0], lane, registers));
  }
  tell(m, sm, op, lanes, NULL, true);
}

// Lanes take effect in order of their number where they collide. Returns the passes.
static uint32_t atomic(Simt *m, uint32_t sm, MemOp *op, uint32_t lanes) {
  uint32_t passes = 0;
  while (lanes != 0) {
    uint32_t some = first_of_each(m, op, lanes);
    passes += shared_passes(m->spec, op->address, some, op->element_bytes);
    atomic_round(m, sm, op, some);
    lanes &= ~some;
  }
  return passes;
}

uint32_t shared_access(Simt *m, uint32_t sm, MemOp *op, uint32_t lanes, RowExtent extent) {
  // Mostly all lanes want words of the same row: then one look at the addresses is enough to tell them.
  bool is_told = cells_are_wanted(m) && lanes == UINT32_MAX && memop_lane_bytes(op) == 4;
  bool is_one = is_told && extent.least / LINE_BYTES == extent.most / LINE_BYTES;
  OneRow found;
  if (is_one) found = (OneRow){(uint32_t)(extent.least / 4) / LINE_WORDS, m->rows->words_of(op->address)};
  Reach reach = {extent.most, is_one ? &found : NULL};
  uint32_t groups, passes = passes_of(m->spec, m->rows, extent, op->address, lanes, memop_lane_bytes(op), &groups);
  if (op->action == ACTION_ATOMIC) passes = max_u32(atomic(m, sm, op, lanes), groups);
  else if (op->action == ACTION_STORE) store(m, sm, op, lanes, reach);
  else load(m, sm, op, lanes, reach);
  simt_count(m, STAT_SHARED_CONFLICTS, passes - min_u32(groups, passes));
  return max_u32(passes, 1);
}
