// Atomic operations of a warp; see atomic.h. Lanes with different addresses are done together: a round takes
// every remaining lane that is the lowest of its address, so that the number of rounds is the depth of the worst
// collision.
#include "machine/parts/atomic.h"

enum { HASH_ENTRIES = 64 };

// The lanes of `left` that are the lowest with their address.
static uint32_t first_of_each(const uint64_t address[WARP_LANES], uint32_t left, unsigned shift) {
  uint8_t entry_lane[HASH_ENTRIES];
  uint64_t used = 0;
  uint32_t chosen = 0;
  for (; left != 0; left &= left - 1) {
    unsigned lane = (unsigned)__builtin_ctz(left);
    uint64_t key = address[lane] >> shift;
    unsigned entry = (unsigned)(key ^ key >> 6) & (HASH_ENTRIES - 1);
    bool taken = false;
    while ((used >> entry & 1) != 0) {
      if (address[entry_lane[entry]] == address[lane]) {
        taken = true;
        break;
      }
      entry = (entry + 1) & (HASH_ENTRIES - 1);
    }
    if (taken) continue;
    used |= UINT64_C(1) << entry;
    entry_lane[entry] = (uint8_t)lane;
    chosen |= 1u << lane;
  }
  return chosen;
}

// Old and new values of one round.
typedef struct Round {
  _Alignas(64) uint32_t old[2 * WARP_LANES];
  uint32_t fresh[2 * WARP_LANES];
} Round;

// Where each lane's datum is. Constant, parameter and local memory take no atomics.
static bool find_places(const MemoryView *view, const Access *access, const uint64_t *address, uint8_t **place, Window *window,
                        AccessViolation *violation) {
  for (uint32_t left = access->active; left != 0; left &= left - 1) {
    unsigned lane = (unsigned)__builtin_ctz(left);
    bool aligned = (address[lane] & (access->element_bytes - 1u)) == 0;
    place[lane] = aligned ? lane_pointer(view, access->space, address[lane], access->element_bytes, true, window) : NULL;
    if (place[lane] != NULL) continue;
    *violation = (AccessViolation){.kind = aligned ? TRAP_ILLEGAL_ADDRESS : TRAP_MISALIGNED,
                                   .space = access->space,
                                   .lane = lane,
                                   .address = address[lane],
                                   .bytes = access->element_bytes};
    return false;
  }
  return true;
}

static void read_old(uint32_t lanes, uint8_t *const *place, unsigned bytes, uint32_t *old) {
  for (; lanes != 0; lanes &= lanes - 1) {
    unsigned lane = (unsigned)__builtin_ctz(lanes);
    uint64_t value = 0;
    if (bytes == 4) {
      memcpy(&old[lane], place[lane], 4);
      continue;
    }
    memcpy(&value, place[lane], bytes);
    row_set(old, lane, bytes == 8 ? 2 : 1, value);
  }
}

static bool write_new(uint32_t lanes, uint8_t *const *place, unsigned bytes, const Round *round) {
  unsigned registers = bytes == 8 ? 2 : 1;
  bool changed = false;
  for (; lanes != 0; lanes &= lanes - 1) {
    unsigned lane = (unsigned)__builtin_ctz(lanes);
    uint64_t value = row_get(round->fresh, lane, registers);
    changed |= value != row_get(round->old, lane, registers);
    memcpy(place[lane], &value, bytes);
  }
  return changed;
}

bool atomic_execute(const MemoryView *view, const Access *access, const AtomicRows *rows, Window *window, bool *changed,
                    AccessViolation *violation) {
  uint64_t address[WARP_LANES];
  uint8_t *place[WARP_LANES];
  unsigned bytes = access->element_bytes;
  for (uint32_t left = access->active; left != 0; left &= left - 1) {
    unsigned lane = (unsigned)__builtin_ctz(left);
    address[lane] = access_address(access, lane);
  }
  if (!find_places(view, access, address, place, window, violation)) return false;
  Round round;
  memset(&round, 0, sizeof round);
  for (uint32_t left = access->active; left != 0;) {
    uint32_t lanes = first_of_each(address, left, (unsigned)__builtin_ctz(bytes));
    read_old(lanes, place, bytes, round.old);
    LaneOp op = {.d = round.fresh, .a = round.old, .b = rows->b, .c = rows->c, .active = lanes, .mods = rows->mods, .imm = rows->imm};
    rows->function(&op);
    *changed |= write_new(lanes, place, bytes, &round);
    left &= ~lanes;
  }
  // Every lane was in one round, so `old` now holds what each has seen; d may be b or c, so it is written last.
  for (uint32_t left = rows->d == NULL ? 0 : access->active; left != 0; left &= left - 1) {
    unsigned lane = (unsigned)__builtin_ctz(left);
    row_set(rows->d, lane, bytes == 8 ? 2 : 1, row_get(round.old, lane, bytes == 8 ? 2 : 1));
  }
  return true;
}
