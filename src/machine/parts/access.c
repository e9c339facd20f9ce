// Memory accesses of a warp; see access.h.
#include "machine/parts/access_element.h"
#include "machine/parts/cluster.h"

// ---- One lane ------------------------------------------------------------------------------------

static uint8_t *peer_pointer(const MemoryView *view, uint64_t address, uint32_t bytes) {
  uint32_t rank;
  uint64_t offset;
  if (view->launch == NULL || !cluster_place(view->launch, address, &rank, &offset)) return NULL;
  uint8_t *shared = launch_has_clusters(view->launch) ? view->peers[rank] : view->shared;
  return shared == NULL || offset > view->shared_bytes - bytes ? NULL : shared + offset;
}

Space generic_resolve(uint64_t *address) {
  uint64_t at = *address;
  if (at >= GLOBAL_BASE32) return SPACE_GLOBAL;
  if (at >= SHARED_WINDOW && at < SHARED_WINDOW + WINDOW_BYTES) return *address = at - SHARED_WINDOW, SPACE_SHARED;
  if (at >= LOCAL_WINDOW && at < LOCAL_WINDOW + 2 * WINDOW_BYTES) return *address = at - LOCAL_WINDOW, SPACE_LOCAL;
  if (at >= CONST_WINDOW && at < CONST_WINDOW + WINDOW_BYTES) return *address = at - CONST_WINDOW, SPACE_CONST;
  if (at >= PARAM_WINDOW && at < PARAM_WINDOW + WINDOW_BYTES) return *address = at - PARAM_WINDOW, SPACE_PARAM;
  if (at >= CLUSTER_WINDOW && at < CLUSTER_WINDOW + 2 * WINDOW_BYTES) return *address = at - SHARED_WINDOW, SPACE_SHARED;
  return SPACE_GLOBAL;
}

static uint8_t *bank_pointer(const MemoryView *view, unsigned bank, uint64_t address, uint32_t bytes) {
  if (view->bank_bytes[bank] < bytes || address > view->bank_bytes[bank] - bytes) return NULL;
  return (uint8_t *)(uintptr_t)view->banks[bank] + address; // callers that may write have been turned away before
}

static uint8_t *global_pointer(const MemoryView *view, uint64_t address, uint32_t bytes, Window *window) {
  if (address < window->first || address >= window->last || window->last - address < bytes) {
    if (!memory_range(view->memory, address, &window->first, &window->last)) return NULL;
    if (window->last - address < bytes) return NULL;
  }
  return view->global + (address - view->global_base);
}

uint8_t *lane_pointer(const MemoryView *view, Space space, uint64_t address, uint32_t bytes, bool writable, Window *window) {
  if (space == SPACE_GENERIC) space = generic_resolve(&address);
  switch (space) {
  case SPACE_GLOBAL: return global_pointer(view, address, bytes, window);
  case SPACE_SHARED:
    if (view->shared_bytes < bytes) return NULL;
    return address > view->shared_bytes - bytes ? peer_pointer(view, address, bytes) : view->shared + address;
  case SPACE_CONST: return writable ? NULL : bank_pointer(view, BANK_CONST, address, bytes);
  case SPACE_PARAM: return writable ? NULL : bank_pointer(view, BANK_PARAM, address, bytes);
  default: return NULL;
  }
}

// A byte of local memory of a lane; the rest of its aligned 32-bit word follows it.
static uint8_t *local_pointer(const MemoryView *view, uint64_t address, unsigned lane) {
  return view->local + ((address & ~UINT64_C(3)) * WARP_LANES + lane * 4u + (address & 3));
}

static bool set_fault(AccessViolation *violation, TrapKind kind, Space space, uint64_t address, uint32_t bytes, unsigned lane) {
  *violation = (AccessViolation){.kind = kind, .space = space, .lane = lane, .address = address, .bytes = bytes};
  return false;
}

// Copies between a lane's memory and `data`, after all checks. The one place that decides what is valid.
static bool lane_transfer(const MemoryView *view, Space space, uint64_t address, uint32_t bytes, uint32_t align, unsigned lane,
                          uint8_t *data, bool write, Window *window, AccessViolation *violation) {
  if ((address & (align - 1)) != 0) return set_fault(violation, TRAP_MISALIGNED, space, address, bytes, lane);
  uint64_t inside = address;
  Space actual = space == SPACE_GENERIC ? generic_resolve(&inside) : space;
  if (actual != SPACE_LOCAL) {
    uint8_t *host = lane_pointer(view, actual, inside, bytes, write, window);
    if (host == NULL) return set_fault(violation, TRAP_ILLEGAL_ADDRESS, space, address, bytes, lane);
    if (write) memcpy(host, data, bytes);
    else memcpy(data, host, bytes);
    return true;
  }
  if (view->local_bytes < bytes || inside > view->local_bytes - bytes) {
    return set_fault(violation, TRAP_ILLEGAL_ADDRESS, space, address, bytes, lane);
  }
  if (write) *view->local_touched = max_u32(*view->local_touched, (uint32_t)align_up(inside + bytes, 4));
  for (uint32_t done = 0; done < bytes;) {
    uint32_t step = min_u32(bytes - done, 4 - (uint32_t)((inside + done) & 3));
    uint8_t *host = local_pointer(view, inside + done, lane);
    if (write) memcpy(host, data + done, step);
    else memcpy(data + done, host, step);
    done += step;
  }
  return true;
}

static uint32_t natural_align(uint32_t bytes) { return bytes >= 8 ? 8 : bytes >= 4 ? 4 : bytes >= 2 ? 2 : 1; }

bool lane_read(const MemoryView *view, Space space, uint64_t address, uint32_t bytes, unsigned lane, void *to, AccessViolation *violation) {
  Window window = {0, 0};
  return lane_transfer(view, space, address, bytes, natural_align(bytes), lane, to, false, &window, violation);
}

bool lane_write(const MemoryView *view, Space space, uint64_t address, uint32_t bytes, unsigned lane, const void *from,
                AccessViolation *violation) {
  Window window = {0, 0};
  uint8_t copy[16];
  memcpy(copy, from, bytes);
  return lane_transfer(view, space, address, bytes, natural_align(bytes), lane, copy, true, &window, violation);
}

// ---- Some lanes ------------------------------------------------------------------------------------

static void lane_in(const Access *access, unsigned lane, const uint8_t *from) {
  for (unsigned k = 0; k < access->elements; k++) {
    const uint8_t *at = from + k * access->element_bytes;
    switch (access->element_bytes) {
    case 1: element_in(access->data[k], lane, at, 1, access->sign_extend); break;
    case 2: element_in(access->data[k], lane, at, 2, access->sign_extend); break;
    case 4: element_in(access->data[k], lane, at, 4, false); break;
    default: element_in(access->data[k], lane, at, 8, false); break;
    }
  }
}

static void lane_out(const Access *access, unsigned lane, uint8_t *to) {
  for (unsigned k = 0; k < access->elements; k++) {
    uint8_t *at = to + k * access->element_bytes;
    switch (access->element_bytes) {
    case 1: element_out(access->data[k], lane, at, 1); break;
    case 2: element_out(access->data[k], lane, at, 2); break;
    case 4: element_out(access->data[k], lane, at, 4); break;
    default: element_out(access->data[k], lane, at, 8); break;
    }
  }
}

// Local memory: lanes that use the same aligned offset, as spills do, move whole rows.
static bool local_rows(const MemoryView *view, const Access *access, bool write) {
  if (access->space != SPACE_LOCAL || access->element_bytes < 4 || access->active != UINT32_MAX) return false;
  uint32_t bytes = (uint32_t)access->element_bytes * access->elements, at = access->address[0] + access->offset, apart = 0;
  for (unsigned lane = 0; lane < WARP_LANES; lane++) apart |= access->address[lane] ^ access->address[0];
  if (apart != 0 || (at & (bytes - 1)) != 0 || view->local_bytes < bytes || at > view->local_bytes - bytes) return false;
  uint8_t *host = view->local + (size_t)at * WARP_LANES;
  unsigned rows = access->element_bytes / 4;
  if (write) *view->local_touched = max_u32(*view->local_touched, at + bytes);
  for (unsigned k = 0; k < access->elements; k++) {
    size_t size = (size_t)rows * 4 * WARP_LANES;
    if (write) memcpy(host + k * size, access->data[k], size);
    else memcpy(access->data[k], host + k * size, size);
  }
  return true;
}

// The common case of few lanes: 32-bit words in the window of last time.
static inline bool in_window(const Window *window, uint64_t address, uint32_t bytes) {
  return address >= window->first && address < window->last && window->last - address >= bytes && (address & (bytes - 1)) == 0;
}

bool access_load(const MemoryView *view, const Access *access, Window *window, AccessViolation *violation) {
  uint32_t bytes = (uint32_t)access->element_bytes * access->elements;
  if (access->active == UINT32_MAX && access->space != SPACE_LOCAL && view->bulk->load(view, access, window)) return true;
  if (local_rows(view, access, false)) return true;
  bool is_word = bytes == 4 && access->elements == 1;
  for (uint32_t left = access->active; left != 0; left &= left - 1) {
    unsigned lane = (unsigned)__builtin_ctz(left);
    uint64_t address = access_address(access, lane);
    uint8_t data[32];
    if (in_window(window, address, bytes)) {
      const uint8_t *host = view->global + (address - view->global_base);
      if (is_word) memcpy(&access->data[0][lane], host, 4);
      else lane_in(access, lane, host);
      continue;
    }
    if (!lane_transfer(view, access->space, address, bytes, bytes, lane, data, false, window, violation)) return false;
    lane_in(access, lane, data);
  }
  return true;
}

bool access_store(const MemoryView *view, const Access *access, Window *window, AccessViolation *violation) {
  uint32_t bytes = (uint32_t)access->element_bytes * access->elements;
  if (access->active == UINT32_MAX && access->space != SPACE_LOCAL && view->bulk->store(view, access, window)) return true;
  if (local_rows(view, access, true)) return true;
  for (uint32_t left = access->active; left != 0; left &= left - 1) {
    unsigned lane = (unsigned)__builtin_ctz(left);
    uint64_t address = access_address(access, lane);
    uint8_t data[32];
    if (in_window(window, address, bytes)) {
      lane_out(access, lane, view->global + (address - view->global_base));
      continue;
    }
    lane_out(access, lane, data);
    if (!lane_transfer(view, access->space, address, bytes, bytes, lane, data, true, window, violation)) return false;
  }
  return true;
}
