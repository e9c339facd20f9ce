// Address generation of memory instructions: what each lane's address means, whether it is valid, and where it is physically.
// The rules are those of parts/access.c. Physical addresses of global memory are device addresses; each block's shared memory starts at
// a multiple of 128 bytes in its SM's; local memory interleaves the words of a warp's lanes (local_address).
#include "machine/simt/memop.h"
#include "machine/simt/part.h"

typedef struct Translation {
  Simt *m;
  const Uop *uop;
  uint32_t sm;
  Space space;     // as the instruction names it
  uint32_t bytes;  // per lane
  bool may_bank;   // constant and parameter memory will do
  bool may_local;  // local memory will do
  bool may_remote; // shared memory of other blocks will do
  const Block *block;
  uint32_t shared;      // where the block's shared memory starts in the SM's
  uint64_t first, last; // a valid stretch of device addresses
} Translation;

static uint32_t lane_warp(const Translation *t, unsigned lane) { return part_warp(t->m, t->sm, t->uop, lane); }
static uint32_t lane_thread(const Translation *t, unsigned lane) { return part_thread(t->m, t->sm, t->uop, lane); }

static bool in_global(Translation *t, uint64_t address) {
  if (address >= t->first && address < t->last && t->last - address >= t->bytes) return true;
  if (!memory_range(t->m->backing.memory, address, &t->first, &t->last)) {
    t->first = t->last = 0;
    return false;
  }
  return t->last - address >= t->bytes;
}

static bool in_bank(const Translation *t, uint32_t bank, uint64_t address, uint64_t *physical) {
  uint32_t size = t->m->backing.banks[bank] == NULL ? 0 : t->m->backing.bank_bytes[bank];
  *physical = bank_address(&t->m->backing, bank, (uint32_t)address);
  return t->may_bank && size >= t->bytes && address <= size - t->bytes;
}

static bool lane_translate(Translation *t, unsigned lane, uint64_t address, uint64_t *physical) {
  const BlockLayout *layout = &t->m->layout;
  Space space = t->space == SPACE_GENERIC ? generic_resolve(&address) : t->space;
  switch (space) {
  case SPACE_GLOBAL: *physical = physical_address(PHYSICAL_GLOBAL, address); return in_global(t, address);
  case SPACE_SHARED:
    *physical = ADDRESS_SHARED | (t->shared + (address & UINT32_MAX));
    if (layout->shared_bytes >= t->bytes && address <= layout->shared_bytes - t->bytes) return true;
    return t->may_remote && cluster_translate(t->m, t->block, address, t->bytes, t->shared, physical);
  case SPACE_LOCAL:
    if (!t->may_local || layout->local_bytes < t->bytes || address > layout->local_bytes - t->bytes) return false;
    *physical = local_address(t->m, t->sm, lane_warp(t, lane), lane_thread(t, lane), address);
    return true;
  case SPACE_CONST: return in_bank(t, BANK_CONST, address, physical);
  case SPACE_PARAM: return in_bank(t, BANK_PARAM, address, physical);
  default: return false;
  }
}

// The one valid stretch of addresses in which all lanes of an access lie, as nearly always: that of the address `at`. False: there is none.
static bool stretch_of(Translation *t, uint64_t at, RowStretch *stretch) {
  *stretch = (RowStretch){.align = t->bytes - 1, .rest = at};
  if (t->space == SPACE_SHARED) {
    uint32_t size = t->m->layout.shared_bytes;
    stretch->last = size - t->bytes;
    stretch->to = ADDRESS_SHARED | t->shared;
    return size >= t->bytes;
  }
  bool is_global = t->space == SPACE_GLOBAL || (t->space == SPACE_GENERIC && at >= GLOBAL_BASE32);
  if (!is_global || !in_global(t, at) || t->first < GLOBAL_BASE32 || t->last >> PHYSICAL_SHIFT != 0) return false;
  stretch->first = t->first;
  stretch->last = t->last - t->bytes;
  stretch->to = physical_address(PHYSICAL_GLOBAL, t->first);
  return true;
}

static inline Translation translation(Simt *m, uint32_t sm, const AddressQuery *query) {
  const SimtWarp *warp = simt_warp(m, sm, ring_place(query->uop->warp, m->dims.warps));
  return (Translation){.m = m,
                       .uop = query->uop,
                       .sm = sm,
                       .space = query->space,
                       .bytes = query->bytes,
                       .may_bank = query->action == ACTION_LOAD,
                       .may_local = query->action != ACTION_ATOMIC && !query->no_local,
                       .may_remote = !query->no_remote,
                       .block = &m->at.blocks[sm * m->dims.blocks + ring_place(warp->block_slot, m->dims.blocks)],
                       .shared = ring_place(warp->block_slot, m->dims.blocks) * (uint32_t)align_up(m->layout.shared_bytes, LINE_BYTES)};
}

// False: the lane may not.
static bool check_lane(Translation *t, unsigned lane, uint64_t address, uint64_t *physical) {
  bool is_aligned = (address & (t->bytes - 1)) == 0;
  *physical = 0;
  if (is_aligned && lane_translate(t, lane, address, physical)) return true;
  AccessViolation violation = {.kind = is_aligned ? TRAP_ILLEGAL_ADDRESS : TRAP_MISALIGNED,
                               .space = t->space,
                               .lane = lane_thread(t, lane),
                               .address = address,
                               .bytes = t->bytes};
  simt_violation(t->m, t->sm, lane_warp(t, lane), t->uop->pc, &violation, NULL);
  return false;
}

bool address_of_one(Simt *m, uint32_t sm, const AddressQuery *query, unsigned lane, uint64_t address, uint64_t *physical) {
  Translation t = translation(m, sm, query);
  return check_lane(&t, lane, address, physical);
}

bool address_translate(Simt *m, uint32_t sm, const Instr *instr, const uint32_t address[2][WARP_LANES], MemOp *op) {
  AddressQuery query = {&op->uop, op_info[instr->op].space, memop_lane_bytes(op), (MemAction)op->action, false, false};
  if (op->left == 0) return true;
  Translation t = translation(m, sm, &query);
  unsigned some = (unsigned)__builtin_ctz(op->left);
  RowStretch stretch;
  bool has_stretch = stretch_of(&t, address[0][some] | (uint64_t)address[1][some] << 32, &stretch);
  if (!has_stretch) memset(op->address, 0, sizeof op->address); // what faults may have left in it
  else if (m->rows->translate(address, op->left, &stretch, op->address)) return true;
  for (uint32_t left = op->left; left != 0; left &= left - 1) {
    unsigned lane = (unsigned)__builtin_ctz(left);
    if (check_lane(&t, lane, address[0][lane] | (uint64_t)address[1][lane] << 32, &op->address[lane])) continue;
    if (simt_has_trapped(m)) return false;
    op->left &= ~(1u << lane);
  }
  return true;
}

bool address_place(Simt *m, uint32_t sm, Space space, const uint32_t *low, const uint32_t *high, uint32_t offset, MemOp *op) {
  AddressQuery query = {&op->uop, space, memop_lane_bytes(op), (MemAction)op->action, false, false};
  Translation t = translation(m, sm, &query);
  if (op->left == 0) return false;
  unsigned some = (unsigned)__builtin_ctz(op->left);
  uint64_t wide = (uint64_t)(int64_t)(int32_t)offset;
  RowStretch stretch;
  uint64_t at = high == NULL ? low[some] + offset : (low[some] | (uint64_t)high[some] << 32) + wide;
  return stretch_of(&t, at, &stretch) && m->rows->place(low, high, wide, op->left, &stretch, op->address);
}
