// Memory accesses of a warp: addresses of the lanes, spaces and windows, validity, alignment, and the
// transfer between memory and register rows. Used by loads, stores, atomics, textures, matrix
// fragments and system calls, on every machine.
//
// A transfer first looks at all lanes at once: where every active lane falls into one valid window
// it is checked once and moved in bulk. Anything else goes lane by lane, and the first
// lane that may not do what it wants is the violation.
#ifndef REDOUBT_PARTS_ACCESS_H
#define REDOUBT_PARTS_ACCESS_H

#include "machine/parts/block.h"

typedef struct MemoryView MemoryView;
typedef struct Access Access;
typedef struct Window Window;

// Transfers of a full warp whose lanes all fall into one valid window of a space but local. False: nothing was done.
typedef struct BulkFunctions {
  bool (*load)(const MemoryView *view, const Access *access, Window *window);
  bool (*store)(const MemoryView *view, const Access *access, Window *window);
} BulkFunctions;
const BulkFunctions *bulk_functions(void); // the fastest that this processor can run

// What a warp can reach. Pointers into the outside world and into the current block.
struct MemoryView {
  const BulkFunctions *bulk;
  Memory *memory;
  uint8_t *global; // host address of device address global_base
  uint64_t global_base;
  uint8_t *shared;
  uint32_t shared_bytes;
  const Launch *launch;  // with clusters: says which ranks there are; NULL: none
  uint8_t *const *peers; // shared memory of the cluster's blocks, by rank; NULL: of a block that does not run
  uint8_t *local;        // of the current warp
  uint32_t local_bytes;
  uint32_t *local_touched;
  const uint8_t *banks[BANK_COUNT];
  uint32_t bank_bytes[BANK_COUNT];
};

// A valid stretch of device addresses [first, last). Remembered per instruction, since one
// instruction mostly stays in one buffer; zeros = none.
struct Window {
  uint64_t first, last;
};

struct Access {
  Space space;
  uint8_t element_bytes; // 1, 2, 4, 8
  uint8_t elements;      // 1, 2, 4
  bool sign_extend;
  bool wide;               // the address is a pair of registers
  uint32_t offset;         // added to the address; signed
  uint32_t active;         // lanes
  const uint32_t *address; // rows
  uint32_t *data[4];       // rows of each element; 64-bit elements take two
};

typedef struct AccessViolation {
  TrapKind kind;
  Space space;
  unsigned lane;
  uint64_t address;
  uint32_t bytes;
} AccessViolation;

bool access_load(const MemoryView *view, const Access *access, Window *window, AccessViolation *violation);
bool access_store(const MemoryView *view, const Access *access, Window *window, AccessViolation *violation);

static inline uint64_t access_address(const Access *access, unsigned lane) {
  if (!access->wide) return (uint32_t)(access->address[lane] + access->offset);
  uint64_t base = access->address[lane] | (uint64_t)access->address[WARP_LANES + lane] << 32;
  return base + (uint64_t)(int64_t)(int32_t)access->offset;
}

// One lane's bytes, 1..16 of them, aligned to their number rounded up to a power of two at most 8. The violation's lane is filled, too.
bool lane_read(const MemoryView *view, Space space, uint64_t address, uint32_t bytes, unsigned lane, void *to, AccessViolation *violation);
bool lane_write(const MemoryView *view, Space space, uint64_t address, uint32_t bytes, unsigned lane, const void *from,
                AccessViolation *violation);

// Host address of a lane's bytes in any space but local, or NULL. Writable says that constant and parameter memory will not do.
uint8_t *lane_pointer(const MemoryView *view, Space space, uint64_t address, uint32_t bytes, bool writable, Window *window);
// Space and address inside it that a generic address means.
Space generic_resolve(uint64_t *address);

#endif
