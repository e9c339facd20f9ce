// Stores of a block that stay in its SM: newest bytes on top, line by line. The block sees them, nobody else does. There are two ways to keep them.
//
// Held (ACTION_HOLD): a block's stores to global memory do not leave its SM. What is held goes out when the block has ended: sent to be looked at, or written. Or it is
// thrown away. Each block of a launch has an equal share of the SM's lines, dims.held / blocks_per_sm; without room a hook is asked. A line is looked up in no time beside
// the L1: loads still ask memory for the line, and what is held is laid over what comes back. So that a load never sees a store that comes after it, a store waits
// while loads of its block have its line under way. Atomics cannot be held.
//
// Kept (Hook.mirrors): stores of mirrors end in the SM, which keeps the latest dims.mirror_lines lines of them, each for the block that wrote it. A line that finds no room
// takes the place of the oldest one: its bytes are memory's again. A load whose bytes are all there asks nobody; of a datum that is there in part, the rest comes from
// memory, and the parts are put together when the load is complete. An atomic takes its old value from here, as far as it is here, when memory's answer
// has come, and leaves its new one here. What is kept goes with the block. Textures, surfaces and matrix fragments read memory.
//
// Local and shared memory are the block's own and are neither. Of an SM's lines the held ones come first, then those that are kept.
#include "machine/simt/memop.h"
#include "machine/simt/partition.h"

static HeldBlock *held_at(const Simt *m, uint32_t sm, uint32_t block_slot) { return &m->at.held_blocks[sm * m->dims.blocks + block_slot]; }

// A fault may have changed the count.
static uint32_t lines_in(const Simt *m, const HeldBlock *at) { return min_u32(at->lines, held_room(m)); }

static HeldLine *lines_of(const Simt *m, uint32_t sm, uint32_t block_slot) {
  uint32_t room = held_room(m);
  return &m->at.held[(size_t)sm * held_lines(&m->dims) + min_u32(block_slot * room, m->dims.held - room)];
}

// Lines among which those of a block are.
typedef struct Lines {
  HeldLine *lines;
  HeldFor *holder; // whose each of them is; NULL: all are the block's
  uint32_t count, holds;
} Lines;

static Lines held_of(const Simt *m, uint32_t sm, uint32_t block_slot) {
  return (Lines){lines_of(m, sm, block_slot), NULL, lines_in(m, held_at(m, sm, block_slot)), 0};
}

static Lines kept_of(const Simt *m, uint32_t sm, uint32_t block_slot) {
  uint32_t count = m->dims.mirror_lines;
  return (Lines){&m->at.held[(size_t)sm * held_lines(&m->dims) + m->dims.held], &m->at.held_for[(size_t)sm * count], count, 1 + block_slot};
}

static HeldLine *find(const Lines *among, uint64_t line) {
  for (uint32_t i = 0; i < among->count; i++) {
    if (among->lines[i].address == line && (among->holder == NULL || among->holder[i].block_slot == among->holds)) return &among->lines[i];
  }
  return NULL;
}

static void put(HeldLine *line, const uint32_t data[LINE_WORDS], ByteMask bytes) {
  bytes_copy(line->data, data, bytes);
  line->bytes = bytes_or(line->bytes, bytes);
}

static Verdict tell(Simt *m, uint32_t sm, uint32_t block_slot, HeldStage stage) {
  if ((m->wants & WANT_HELD) == 0) return VERDICT_PASS;
  const HeldLine *lines = lines_of(m, sm, block_slot);
  HeldEvent event = {.who = who_block(m, sm, block_slot, m->at.blocks[sm * m->dims.blocks + block_slot].linear),
                     .stage = stage,
                     .mirror = warp_is_mirror(m, sm, block_slot * m->layout.warps),
                     .lines = lines_in(m, held_at(m, sm, block_slot))};
  for (uint32_t i = 0; i < event.lines; i++) event.bytes += bytes_count(lines[i].bytes);
  return simt_obey(m, event.who, hooks_held(&m->hooks, &m->hook_machine, &event));
}

// ---- Stores and loads ----------------------------------------------------------------------------------

static bool gather_wants(const Gather *gather, uint64_t line) {
  bool is_asking = gather->stage == MEM_REQUEST || gather->stage == MEM_WAIT;
  for (uint32_t i = 0; is_asking && i < min_u32(gather->asked, SIMT_GATHER_LINES); i++) {
    if (gather->address[i] == line && gather->arrived < gather->asked) return true;
  }
  return false;
}

// A load of the block waits for the line.
static bool is_under_way(const Simt *m, uint32_t sm, uint32_t block_slot, uint64_t line) {
  for (uint32_t i = 0; i < m->dims.memops; i++) {
    const MemOp *op = &m->at.memops[sm * m->dims.memops + i];
    if (op->stage != MEM_WAIT || op->action == ACTION_STORE || op->outstanding == 0 || block_slot_of_warp(m, op->uop.warp) != block_slot)
      continue;
    for (uint32_t left = op->uop.mask; left != 0; left &= left - 1) {
      if (line_of(op->address[__builtin_ctz(left)]) == line && !memop_is_shared(op, (unsigned)__builtin_ctz(left))) return true;
    }
  }
  for (uint32_t left = m->at.sms[sm].gathers_used; left != 0; left &= left - 1) {
    const Gather *gather = &m->at.gathers[sm * m->dims.gathers + (uint32_t)__builtin_ctz(left) % m->dims.gathers];
    if (block_slot_of_warp(m, gather->uop.warp) == block_slot && gather_wants(gather, line)) return true;
  }
  return false;
}

// Asked again in the next cycle, unless a hook lets it go.
static HeldTake cannot(Simt *m, uint32_t sm, uint32_t block_slot) {
  if (tell(m, sm, block_slot, HELD_FULL) != VERDICT_STALL) return HELD_GOES;
  sm_wake(m, sm, simt_now(m) + 1);
  return HELD_BLOCKED;
}

HeldTake held_store(Simt *m, uint32_t sm, uint32_t warp, const Packet *packet) {
  uint32_t block_slot = block_slot_of_warp(m, warp);
  HeldBlock *at = held_at(m, sm, block_slot);
  if (is_under_way(m, sm, block_slot, packet->address)) return HELD_BLOCKED; // its reply wakes the SM
  Lines held = held_of(m, sm, block_slot);
  HeldLine *line = find(&held, packet->address);
  if (line == NULL) {
    if (at->lines >= held_room(m)) return cannot(m, sm, block_slot);
    line = &lines_of(m, sm, block_slot)[at->lines++];
    *line = (HeldLine){.address = packet->address};
  }
  put(line, packet->data, packet->bytes);
  simt_count(m, STAT_HELD_STORES, 1);
  return HELD_TAKEN;
}

HeldTake held_atomic(Simt *m, uint32_t sm, uint32_t warp) { return cannot(m, sm, block_slot_of_warp(m, warp)); }

const uint32_t *held_overlay(const Simt *m, uint32_t sm, uint32_t warp, uint64_t line, const uint32_t *data, uint32_t scratch[LINE_WORDS]) {
  uint32_t block_slot = block_slot_of_warp(m, warp);
  Lines among = held_of(m, sm, block_slot);
  const HeldLine *held = find(&among, line);
  if (held == NULL) return data;
  memcpy(scratch, data, LINE_BYTES);
  bytes_copy(scratch, held->data, held->bytes);
  return scratch;
}

// ---- What mirrors keep ---------------------------------------------------------------------------------

static bool is_kept(const Simt *m, uint32_t sm, uint32_t warp) { return m->dims.mirror_lines != 0 && warp_is_mirror(m, sm, warp); }

static HeldLine *find_or_take(Simt *m, uint32_t sm, uint32_t warp, uint64_t line) {
  Lines kept = kept_of(m, sm, block_slot_of_warp(m, warp));
  HeldLine *at = find(&kept, line);
  if (at != NULL) return at;
  Actor *actor = simt_actor(m, sm);
  uint32_t oldest = actor->kept_next % kept.count;
  actor->kept_next = (actor->kept_next + 1) % kept.count;
  simt_count(m, STAT_VIEW_EVICTIONS, kept.holder[oldest].block_slot != 0);
  kept.holder[oldest].block_slot = kept.holds;
  kept.lines[oldest] = (HeldLine){.address = line};
  return &kept.lines[oldest];
}

static void forget_kept(Simt *m, uint32_t sm, uint32_t block_slot) {
  Lines kept = kept_of(m, sm, block_slot);
  for (uint32_t i = 0; i < kept.count; i++) {
    if (kept.holder[i].block_slot != kept.holds) continue;
    kept.lines[i] = (HeldLine){0};
    kept.holder[i].block_slot = 0;
  }
}

void kept_store(Simt *m, uint32_t sm, const Packet *packet) {
  if (!is_kept(m, sm, packet->warp)) return;
  put(find_or_take(m, sm, packet->warp, packet->address), packet->data, packet->bytes);
}

bool kept_load(Simt *m, uint32_t sm, MemOp *op, uint64_t line, uint32_t lanes) {
  if (op->action != ACTION_LOAD || !is_kept(m, sm, op->uop.warp)) return false;
  Lines kept = kept_of(m, sm, block_slot_of_warp(m, op->uop.warp));
  const HeldLine *at = find(&kept, line);
  if (at == NULL) return false;
  uint32_t bytes = memop_lane_bytes(op);
  for (uint32_t left = lanes; left != 0; left &= left - 1) {
    unsigned lane = (unsigned)__builtin_ctz(left);
    uint32_t offset = memop_offset(op, lane, bytes);
    if (!bytes_cover(at->bytes, bytes_from(offset, bytes))) continue;
    memop_put(op, lane, 0, (const uint8_t *)at->data + offset, bytes);
    op->kept |= 1u << lane;
  }
  if ((lanes & ~op->kept) != 0) return false;
  memop_result_at(op, simt_now(m) + m->spec->l1d_latency);
  simt_count(m, STAT_VIEW_LOADS, 1);
  return true;
}

void kept_complete(Simt *m, uint32_t sm, MemOp *op) {
  if (op->action != ACTION_LOAD || !is_kept(m, sm, op->uop.warp)) return;
  Lines kept = kept_of(m, sm, block_slot_of_warp(m, op->uop.warp));
  uint32_t bytes = memop_lane_bytes(op);
  for (uint32_t left = op->uop.mask & ~op->kept; left != 0; left &= left - 1) {
    unsigned lane = (unsigned)__builtin_ctz(left);
    if (memop_is_shared(op, lane) || address_window(op->address[lane]) != PHYSICAL_GLOBAL) continue;
    const HeldLine *at = find(&kept, line_of(op->address[lane]));
    uint32_t offset = memop_offset(op, lane, bytes);
    if (at == NULL || !bytes_any(bytes_and(at->bytes, bytes_from(offset, bytes)))) continue;
    uint32_t line[LINE_WORDS] = {0};
    memop_get(op, lane, 0, (uint8_t *)line + offset, bytes);
    bytes_copy(line, at->data, bytes_and(at->bytes, bytes_from(offset, bytes)));
    memop_put(op, lane, 0, (const uint8_t *)line + offset, bytes);
  }
}

void kept_atomic(Simt *m, uint32_t sm, const MemOp *op, const Packet *reply, uint32_t old[LINE_WORDS]) {
  memcpy(old, reply->data, sizeof reply->data);
  if (reply->kind != PACKET_READ_REPLY || !is_kept(m, sm, op->uop.warp)) return;
  HeldLine *at = find_or_take(m, sm, op->uop.warp, reply->address);
  bytes_copy(old, at->data, bytes_and(at->bytes, reply->bytes));
  Packet packet = *reply;
  uint32_t registers = op->element_bytes == 8 ? 2 : 1;
  for (uint32_t left = reply->lanes & op->uop.mask; left != 0; left &= left - 1) {
    unsigned lane = (unsigned)__builtin_ctz(left);
    uint32_t offset = memop_offset(op, lane, op->element_bytes);
    uint64_t b = row_get(op->data[0], lane, registers), c = row_get(op->other[0], lane, registers);
    memcpy((uint8_t *)packet.data + offset, &b, op->element_bytes);
    memcpy((uint8_t *)packet.other + offset, &c, op->element_bytes);
  }
  uint32_t fresh[LINE_WORDS];
  memcpy(fresh, old, sizeof fresh);
  l2_atomic_apply(m, &packet, fresh);
  put(at, fresh, reply->bytes);
}

// ---- Beginning and end ---------------------------------------------------------------------------------

void held_forget(Simt *m, uint32_t sm, uint32_t block_slot) {
  forget_kept(m, sm, block_slot);
  if (m->dims.held == 0) return;
  HeldBlock *at = held_at(m, sm, block_slot);
  memset(lines_of(m, sm, block_slot), 0, lines_in(m, at) * sizeof(HeldLine));
  at->lines = at->next = 0;
}

void held_begin(Simt *m, uint32_t sm, uint32_t block_slot, ActionHold step) {
  held_forget(m, sm, block_slot);
  if (m->dims.held == 0) return;
  held_at(m, sm, block_slot)->mode = step == HOLD_KEEP ? HELD_MODE_KEEPS : step == HOLD_WAIT ? HELD_MODE_WAITS : HELD_MODE_NONE;
}

bool held_action(Simt *m, uint32_t sm, uint32_t block_slot, ActionHold step) {
  if (step == HOLD_FRESH && m->dims.held != 0) {
    l1d_invalidate(m, sm);
    return true;
  }
  bool is_there = block_slot < m->blocks_per_sm && (m->at.sms[sm].block_slots >> block_slot & 1) != 0;
  if (m->dims.held == 0 || !is_there || warp_is_stopping(m, sm, block_slot * m->layout.warps)) return false;
  HeldBlock *at = held_at(m, sm, block_slot);
  bool begins = step == HOLD_KEEP || step == HOLD_WAIT, has_ended = at->mode == HELD_MODE_ENDED;
  if (begins && at->mode > HELD_MODE_WAITS) return false;
  if (begins) {
    at->mode = step == HOLD_KEEP ? HELD_MODE_KEEPS : HELD_MODE_WAITS;
    return true;
  }
  if (!has_ended || step == HOLD_NONE) return false;
  at->mode = step == HOLD_SEND ? HELD_MODE_SENDS : HELD_MODE_WRITES;
  at->next = 0;
  sm_wake(m, sm, simt_now(m));
  return true;
}

// A line goes towards memory, on behalf of the block's first warp. False: not now.
static bool send(Simt *m, uint32_t sm, uint32_t block_slot, const HeldLine *line, bool quiet) {
  uint32_t warp = block_slot * m->layout.warps % m->dims.warps;
  Packet packet = {.address = line->address & PHYSICAL_MASK & ~(uint64_t)(LINE_BYTES - 1), .bytes = line->bytes, .kind = PACKET_WRITE};
  packet_for_warp(m, sm, warp, WHO_NO_INDEX, &packet);
  packet.client = CLIENT_STORE;
  packet.tag = tag_make(TAG_STORE, warp | 1u << TAG_WARPS_SHIFT);
  packet.quiet = quiet;
  memcpy(packet.data, line->data, sizeof packet.data);
  if (!sm_send(m, sm, &packet)) return false;
  m->at.sms[sm].stores_out++;
  simt_warp(m, sm, warp)->stores++;
  if (!quiet) l1d_written(m, sm, packet.address);
  simt_count(m, quiet ? STAT_HELD_SENT : STAT_HELD_WRITTEN, 1);
  return true;
}

static bool goes_out(const HeldBlock *at) { return at->mode == HELD_MODE_SENDS || at->mode == HELD_MODE_WRITES; }

void held_cycle(Simt *m, uint32_t sm) {
  for (uint64_t left = m->at.sms[sm].ending; left != 0; left &= left - 1) {
    uint32_t block_slot = (uint32_t)__builtin_ctzll(left);
    HeldBlock *at = held_at(m, sm, block_slot);
    if (!goes_out(at) || at->next >= lines_in(m, at)) continue;
    if (!send(m, sm, block_slot, &lines_of(m, sm, block_slot)[at->next], at->mode == HELD_MODE_SENDS))
      return; // whoever makes room wakes the SM
    at->next++;
    sm_wake(m, sm, simt_now(m) + 1);
    return;
  }
}

static bool waits(Simt *m, uint32_t sm, uint32_t block_slot, HeldStage stage) {
  held_at(m, sm, block_slot)->mode = HELD_MODE_ENDED;
  tell(m, sm, block_slot, stage);
  return false;
}

bool held_lets_end(Simt *m, uint32_t sm, uint32_t block_slot) {
  HeldBlock *at = held_at(m, sm, block_slot);
  if (warp_is_stopping(m, sm, block_slot * m->layout.warps)) return true;
  switch ((HeldMode)at->mode) {
  case HELD_MODE_KEEPS:
    if (warp_is_mirror(m, sm, block_slot * m->layout.warps)) return true;
    at->mode = HELD_MODE_WRITES;
    at->next = 0;
    sm_wake(m, sm, simt_now(m) + 1);
    return false;
  case HELD_MODE_WAITS: return waits(m, sm, block_slot, HELD_ENDED);
  case HELD_MODE_ENDED: return false;
  case HELD_MODE_SENDS: return at->next < lines_in(m, at) ? false : waits(m, sm, block_slot, HELD_SENT);
  case HELD_MODE_WRITES: return at->next >= lines_in(m, at);
  default: return true; // nothing is held, or a fault says so
  }
}
