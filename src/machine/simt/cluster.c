// Clusters of the SIMT machine: where their blocks are, their barrier, and accesses to the shared memory of another SM.
// An address of another block's shared memory has the number of its SM plus one above its offset there (CLUSTER_HOME_SHIFT). Such an access
// takes the banks' passes there and latency.cluster on top; the network between the SMs has no queues of its own.
#include "machine/parts/cluster.h"
#include "machine/simt/memop.h"

enum { CLUSTER_HOME_SHIFT = 32, CLUSTER_HOME_MASK = 0xFFFF };

static uint64_t home_of(uint64_t address) { return address >> CLUSTER_HOME_SHIFT & CLUSTER_HOME_MASK; }

static bool is_here(const Simt *m, uint64_t linear, uint32_t sm, uint32_t block_slot) {
  return (m->at.sms[sm].block_slots >> block_slot & 1) != 0 && m->at.blocks[sm * m->dims.blocks + block_slot].linear == linear;
}

static bool search_block(const Simt *m, uint64_t linear, uint32_t *sm, uint32_t *block_slot) {
  for (*sm = 0; *sm < m->dims.sms; ++*sm) {
    for (uint64_t left = m->at.sms[*sm].block_slots; left != 0; left &= left - 1) {
      *block_slot = (uint32_t)__builtin_ctzll(left) % m->dims.blocks;
      if (m->at.blocks[*sm * m->dims.blocks + *block_slot].linear == linear) return true;
    }
  }
  return false;
}

// The block with this index in the grid. False: it does not run. All lanes of all warps ask for the same few blocks, so that the first search of a
// cycle serves them. It is not kept longer: a fault may have sent a block out twice, and which one is found must not depend on the past.
static bool find_block(Simt *m, uint64_t linear, uint32_t *sm, uint32_t *block_slot) {
  ClusterPlace *known = &m->cluster_places[linear % CLUSTER_PLACES];
  bool is_known = known->cycle == simt_now(m) && known->linear == linear && known->sm < m->dims.sms && known->block_slot < m->dims.blocks;
  if (is_known && is_here(m, linear, known->sm, known->block_slot)) {
    *sm = known->sm, *block_slot = known->block_slot;
    return true;
  }
  if (!search_block(m, linear, sm, block_slot)) return false;
  *known = (ClusterPlace){simt_now(m), linear, *sm, *block_slot};
  return true;
}

bool cluster_has_room(const Simt *m) {
  const SimtCore *core = m->at.core;
  if (!launch_has_clusters(m->launch) || core->next_block % cluster_blocks(m->launch) != 0) return true;
  uint64_t places = (uint64_t)m->blocks_per_sm * m->dims.sms;
  return places - min_u64(core->resident, places) >= cluster_blocks(m->launch);
}

// ---- The barrier -------------------------------------------------------------------------------------

// The place of a block in the machine.
typedef struct ClusterPlaces {
  uint32_t sm[MOST_CLUSTER_BLOCKS], block_slot[MOST_CLUSTER_BLOCKS];
} ClusterPlaces;

static ClusterView view_cluster(Simt *m, const Block *block, ClusterPlaces *places) {
  uint32_t size = min_u32(cluster_blocks(m->launch), MOST_CLUSTER_BLOCKS);
  uint64_t end = (cluster_number(m->launch, block->index) + 1) * size;
  ClusterView view = {.count = size, .is_whole = m->at.core->next_block >= end};
  for (uint32_t i = 0; i < size; i++) {
    uint32_t *sm = &places->sm[i], *block_slot = &places->block_slot[i];
    if (!find_block(m, cluster_member(m->launch, block->index, i), sm, block_slot)) continue;
    uint32_t first = *block_slot * m->layout.warps % m->dims.warps;
    view.blocks[i] = (BlockView){.block = &m->at.blocks[*sm * m->dims.blocks + *block_slot],
                                 .warps = min_u32(m->layout.warps, m->dims.warps - first),
                                 .warp = &simt_warp(m, *sm, first)->warp,
                                 .warp_bytes = sizeof(SimtWarp),
                                 .entries = simt_entries(m, *sm, first),
                                 .entries_bytes = m->dims.stack * sizeof(SimtEntry),
                                 .give = cluster_gives_nothing};
  }
  return view;
}

// The word that all have arrived takes its time to the warps.
static void wake_warps(Simt *m, uint32_t sm, uint32_t block_slot, uint64_t at) {
  uint64_t warps = 0;
  for (uint32_t i = 0; i < m->layout.warps; i++) {
    uint32_t number = (block_slot * m->layout.warps + i) % m->dims.warps;
    SimtWarp *warp = simt_warp(m, sm, number);
    warp->next_issue_at = max_u64(warp->next_issue_at, at);
    warps |= UINT64_C(1) << number;
  }
  front_awake(m, sm, warps);
  sm_wake(m, sm, simt_now(m) + 1);
}

bool cluster_check_barrier(Simt *m, const Block *block) {
  ClusterPlaces places;
  ClusterView view = view_cluster(m, block, &places);
  if (!cluster_barrier_is_complete(&view)) return false;
  cluster_barrier_release(&view);
  for (uint32_t i = 0; i < view.count; i++) {
    if (view.blocks[i].block != NULL) wake_warps(m, places.sm[i], places.block_slot[i], simt_now(m) + m->spec->latency_cluster);
  }
  return true;
}

// ---- Shared memory of other blocks -------------------------------------------------------------------

bool cluster_translate(Simt *m, const Block *block, uint64_t address, uint32_t bytes, uint32_t own, uint64_t *physical) {
  uint32_t rank, sm, block_slot;
  uint64_t offset;
  if (!cluster_place(m->launch, address, &rank, &offset)) return false;
  if (m->layout.shared_bytes < bytes || offset > m->layout.shared_bytes - bytes) return false;
  if (!launch_has_clusters(m->launch)) {
    *physical = ADDRESS_SHARED | (own + offset);
    return true;
  }
  if (!find_block(m, cluster_member(m->launch, block->index, rank), &sm, &block_slot)) return false;
  uint64_t start = (uint64_t)block_slot * align_up(m->layout.shared_bytes, LINE_BYTES);
  *physical = ADDRESS_SHARED | (uint64_t)(sm + 1) << CLUSTER_HOME_SHIFT | (start + offset);
  return true;
}

// A lane's bytes in the SM `home`. Any address is legal: flips stay inside.
typedef struct RemotePlace {
  uint64_t row; // of all SMs'
  uint32_t byte, units;
} RemotePlace;

static RemotePlace place_of(const Simt *m, const MemOp *op, unsigned lane, uint32_t home) {
  uint32_t bytes = memop_lane_bytes(op), byte = memop_offset(op, lane, bytes);
  uint64_t row = (op->address[lane] & UINT32_MAX) / LINE_BYTES % m->dims.shared_rows;
  uint32_t words = (1u << max_u32(bytes / 4, 1)) - 1;
  return (RemotePlace){(uint64_t)home * m->dims.shared_rows + row, byte, words << byte / 4};
}

static void access_lane(Simt *m, uint32_t sm, MemOp *op, unsigned lane, uint32_t home) {
  RemotePlace place = place_of(m, op, lane, home);
  const Who *who = cells_uop(m, sm, &op->uop);
  uint32_t bytes = memop_lane_bytes(op), *words = m->at.shared[place.row].word;
  uint8_t *at = (uint8_t *)words + place.byte;
  if (op->action != ACTION_STORE || bytes < 4) cells_read(m, who, REGION_SHARED, place.row, place.units, words);
  if (op->action == ACTION_LOAD) {
    memop_put(op, lane, 0, at, bytes);
    return;
  }
  if (op->action == ACTION_STORE) {
    memop_get(op, lane, 0, at, bytes);
  } else {
    uint32_t old[2][WARP_LANES] = {{0}}, fresh[2][WARP_LANES] = {{0}};
    unsigned registers = op->element_bytes == 8 ? 2 : 1;
    uint64_t value = 0;
    memcpy(&value, at, op->element_bytes);
    row_set(old[0], lane, registers, value);
    LaneOp function = {.d = fresh[0], .a = old[0], .b = op->data[0], .c = op->other[0], .active = 1u << lane, .mods = op->mods};
    if (op->op < OP_COUNT && m->functions[op->op] != NULL) m->functions[op->op](&function);
    value = row_get(fresh[0], lane, registers);
    memcpy(at, &value, op->element_bytes);
    row_set(op->data[0], lane, registers, row_get(old[0], lane, registers));
  }
  cells_written(m, who, REGION_SHARED, place.row, place.units, words);
}

uint32_t cluster_own_lanes(const MemOp *op, uint32_t lanes) {
  uint32_t own = 0;
  for (uint32_t left = lanes; left != 0; left &= left - 1) {
    unsigned lane = (unsigned)__builtin_ctz(left);
    if (home_of(op->address[lane]) == 0) own |= 1u << lane;
  }
  return own;
}

uint32_t cluster_access(Simt *m, uint32_t sm, MemOp *op, uint32_t lanes, uint32_t *cycles) {
  uint64_t offset[WARP_LANES] = {0}, home = home_of(op->address[__builtin_ctz(lanes)]);
  uint32_t some = 0, there = (uint32_t)(home - 1) % m->dims.sms;
  for (uint32_t left = lanes; left != 0; left &= left - 1) {
    unsigned lane = (unsigned)__builtin_ctz(left);
    if (home_of(op->address[lane]) != home) continue;
    offset[lane] = op->address[lane] & UINT32_MAX;
    some |= 1u << lane;
  }
  for (uint32_t left = some; left != 0; left &= left - 1) access_lane(m, sm, op, (unsigned)__builtin_ctz(left), there);
  *cycles = shared_passes(m->spec, offset, some, memop_lane_bytes(op)) + (uint32_t)m->spec->latency_cluster;
  return some;
}
