// Transfers of a full warp that falls into one valid window: checked once, moved in bulk. Built for three levels of
// the processor; all give the same bits.
#include "machine/parts/access_element.h"

#define INLINE static inline __attribute__((always_inline))

// How the addresses of a full warp lie.
typedef struct Spread {
  uint64_t least;       // lowest address
  uint64_t reach;       // bytes from there to the end of the last access; 0: the warp must go lane by lane
  bool uniform, linear; // all equal; each `bytes` after the one before
} Spread;

// Lowest and highest of addresses that follow no simple rule, and whether all are aligned.
INLINE bool find_ends(const Access *access, uint32_t bytes, uint32_t *lowest, uint32_t *highest) {
  uint32_t least = UINT32_MAX, most = 0, bits = 0;
  for (uint32_t i = 0; i < WARP_LANES; i++) {
    uint32_t at = access->address[i];
    least = at < least ? at : least;
    most = at > most ? at : most;
    bits |= at + access->offset;
  }
  *lowest = least;
  *highest = most;
  return (bits & (bytes - 1)) == 0;
}

INLINE Spread spread_of(const Access *access, uint32_t bytes) {
  const uint32_t *low = access->address, *high = low + WARP_LANES;
  uint32_t first = low[0], apart = 0, uneven = 0, upper = 0;
  for (uint32_t i = 0; i < WARP_LANES; i++) {
    uint32_t distance = low[i] - first;
    apart |= distance;
    uneven |= distance ^ i * bytes;
  }
  if (access->wide) {
    for (uint32_t i = 0; i < WARP_LANES; i++) upper |= high[i] ^ high[0];
  }
  Spread spread = {.uniform = apart == 0, .linear = uneven == 0};
  uint32_t least = first, most = first;
  bool fits = ((first + access->offset) & (bytes - 1)) == 0;
  if (spread.linear) {
    most = first + (WARP_LANES - 1) * bytes;
    fits = fits && most >= first;
  } else if (!spread.uniform) {
    fits = find_ends(access, bytes, &least, &most);
  }
  if (!fits || upper != 0) return spread;
  spread.reach = (uint64_t)most - least + bytes;
  if (access->wide) {
    spread.least = ((uint64_t)high[0] << 32 | least) + (uint64_t)(int64_t)(int32_t)access->offset;
  } else { // narrow addresses wrap: whoever straddles the wrap goes lane by lane
    spread.least = (uint32_t)(least + access->offset);
    if (spread.least + spread.reach > UINT64_C(1) << 32) spread.reach = 0;
  }
  return spread;
}

// Host address of spread.least if all of the spread is valid.
INLINE uint8_t *spread_pointer(const MemoryView *view, const Access *access, const Spread *spread, bool write, Window *window) {
  if (spread->least >= window->first && spread->least < window->last && window->last - spread->least >= spread->reach) {
    return view->global + (spread->least - view->global_base);
  }
  if (spread->reach > UINT32_MAX) return NULL;
  return lane_pointer(view, access->space, spread->least, (uint32_t)spread->reach, write, window);
}

// Destination rows may be the address rows themselves.
INLINE bool overlaps_address(const Access *access) {
  const uint32_t *from = access->address, *to = from + WARP_LANES;
  size_t rows = access->element_bytes == 8 ? 2 : 1;
  for (unsigned k = 0; k < access->elements; k++) {
    if (access->data[k] < to && access->data[k] + rows * WARP_LANES > from) return true;
  }
  return false;
}

INLINE void rows_in(const Access *access, const uint32_t *address, const uint8_t *host, uint32_t least, unsigned bytes, bool sign) {
  for (unsigned k = 0; k < access->elements; k++) {
    uint32_t *row = access->data[k];
    for (unsigned lane = 0; lane < WARP_LANES; lane++)
      element_in(row, lane, host + (uint32_t)(address[lane] - least) + k * bytes, bytes, sign);
  }
}

INLINE void rows_out(const Access *access, uint8_t *host, uint32_t least, unsigned bytes) {
  for (unsigned lane = 0; lane < WARP_LANES; lane++) {
    uint8_t *to = host + (uint32_t)(access->address[lane] - least);
    for (unsigned k = 0; k < access->elements; k++) element_out(access->data[k], lane, to + k * bytes, bytes);
  }
}

INLINE void words_in(const Access *access, const uint8_t *host, uint32_t least, const Spread *spread) {
  uint32_t *row = access->data[0], value;
  if (spread->linear) {
    memcpy(row, host, 4 * WARP_LANES);
  } else if (spread->uniform) {
    memcpy(&value, host, 4);
    for (unsigned lane = 0; lane < WARP_LANES; lane++) row[lane] = value;
  } else {
    rows_in(access, access->address, host, least, 4, false); // lane by lane, so the row may be that of the addresses
  }
}

INLINE bool bulk_load(const MemoryView *view, const Access *access, Window *window) {
  Spread spread = spread_of(access, (uint32_t)access->element_bytes * access->elements);
  const uint8_t *host = spread.reach == 0 ? NULL : spread_pointer(view, access, &spread, false, window);
  if (host == NULL) return false;
  uint32_t least = (uint32_t)spread.least - access->offset, copy[WARP_LANES];
  if (access->element_bytes == 4 && access->elements == 1) {
    words_in(access, host, least, &spread);
    return true;
  }
  const uint32_t *address = access->address;
  if (overlaps_address(access)) address = memcpy(copy, address, sizeof copy);
  switch (access->element_bytes) {
  case 1: rows_in(access, address, host, least, 1, access->sign_extend); break;
  case 2: rows_in(access, address, host, least, 2, access->sign_extend); break;
  case 4: rows_in(access, address, host, least, 4, false); break;
  default: rows_in(access, address, host, least, 8, false); break;
  }
  return true;
}

INLINE bool bulk_store(const MemoryView *view, const Access *access, Window *window) {
  Spread spread = spread_of(access, (uint32_t)access->element_bytes * access->elements);
  uint8_t *host = spread.reach == 0 ? NULL : spread_pointer(view, access, &spread, true, window);
  if (host == NULL) return false;
  uint32_t least = (uint32_t)spread.least - access->offset;
  switch (access->element_bytes) {
  case 1: rows_out(access, host, least, 1); break;
  case 2: rows_out(access, host, least, 2); break;
  case 4:
    if (access->elements == 1 && spread.linear) memcpy(host, access->data[0], 4 * WARP_LANES);
    else rows_out(access, host, least, 4);
    break;
  default: rows_out(access, host, least, 8); break;
  }
  return true;
}

#define LEVEL(name, attribute)                                                                       \
  attribute static bool load_##name(const MemoryView *view, const Access *access, Window *window) {  \
    return bulk_load(view, access, window);                                                          \
  }                                                                                                  \
  attribute static bool store_##name(const MemoryView *view, const Access *access, Window *window) { \
    return bulk_store(view, access, window);                                                         \
  }
LEVEL(baseline, )
#ifdef __x86_64__
#define V3 "avx2,fma,f16c,bmi,bmi2,lzcnt,movbe,popcnt" // x86-64-v3 and v4 by their parts: gcc 10 and clang 11 do not know the names
#define V4 V3 ",avx512f,avx512bw,avx512cd,avx512dq,avx512vl"
LEVEL(v3, __attribute__((target(V3))))
LEVEL(v4, __attribute__((target(V4))))
#endif

const BulkFunctions *bulk_functions(void) {
  static const BulkFunctions baseline = {load_baseline, store_baseline};
#ifdef __x86_64__
  static const BulkFunctions v3 = {load_v3, store_v3}, v4 = {load_v4, store_v4};
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512cd")) {
    return &v4;
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma")) return &v3;
#endif
  return &baseline;
}
