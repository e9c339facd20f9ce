// What mirrors see of their own stores: a buffer beside an SM whose stores end there (Hook.mirrors).
//
// A store or atomic of a mirror has no effect in memory. Without this buffer its block would not see it either. Here each SM keeps the latest lines that
// its mirrors have written, each for the block that wrote it. A load whose bytes are all there asks nobody; of a datum that is there in part,
// the rest comes from memory, and the parts are put together when the load is complete. An atomic takes its old value from here, as far as it
// is here, when memory's answer has come, and leaves its new one here.
//
// A line that finds no room takes the place of the oldest one: its bytes are memory's again. What is there for a block goes with the block.
// Textures, surfaces and matrix fragments read memory.
#include "machine/simt/memop.h"
#include "machine/simt/partition.h"

static ViewLine *lines_of(const Simt *m, uint32_t sm) { return &m->at.views[(size_t)sm * m->dims.mirror_lines]; }
static uint32_t holder_of(const Simt *m, uint32_t warp) { return 1 + block_slot_of_warp(m, warp); }
static bool is_kept(const Simt *m, uint32_t sm, uint32_t warp) { return m->dims.mirror_lines != 0 && warp_is_mirror(m, sm, warp); }

static ViewLine *find(const Simt *m, uint32_t sm, uint32_t holder, uint64_t line) {
  ViewLine *lines = lines_of(m, sm);
  for (uint32_t i = 0; i < m->dims.mirror_lines; i++) {
    if (lines[i].holder == holder && lines[i].address == line) return &lines[i];
  }
  return NULL;
}

static ViewLine *find_or_take(Simt *m, uint32_t sm, uint32_t holder, uint64_t line) {
  ViewLine *at = find(m, sm, holder, line);
  if (at != NULL) return at;
  Actor *actor = simt_actor(m, sm);
  at = &lines_of(m, sm)[actor->view_next % m->dims.mirror_lines];
  actor->view_next = (actor->view_next + 1) % m->dims.mirror_lines;
  simt_count(m, STAT_VIEW_EVICTIONS, at->holder != 0);
  *at = (ViewLine){.address = line, .holder = holder};
  return at;
}

void view_forget(Simt *m, uint32_t sm, uint32_t block_slot) {
  ViewLine *lines = lines_of(m, sm);
  for (uint32_t i = 0; i < m->dims.mirror_lines; i++) {
    if (lines[i].holder == 1 + block_slot) lines[i] = (ViewLine){0};
  }
}

// ---- Stores and loads ----------------------------------------------------------------------------------

void view_store(Simt *m, uint32_t sm, const Packet *packet) {
  if (!is_kept(m, sm, packet->warp)) return;
  ViewLine *at = find_or_take(m, sm, holder_of(m, packet->warp), packet->address);
  bytes_copy(at->data, packet->data, packet->bytes);
  at->bytes = bytes_or(at->bytes, packet->bytes);
}

bool view_load(Simt *m, uint32_t sm, MemOp *op, uint64_t line, uint32_t lanes) {
  if (op->action != ACTION_LOAD || !is_kept(m, sm, op->uop.warp)) return false;
  const ViewLine *at = find(m, sm, holder_of(m, op->uop.warp), line);
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

void view_complete(Simt *m, uint32_t sm, MemOp *op) {
  if (op->action != ACTION_LOAD || !is_kept(m, sm, op->uop.warp)) return;
  uint32_t bytes = memop_lane_bytes(op), holder = holder_of(m, op->uop.warp);
  for (uint32_t left = op->uop.mask & ~op->kept; left != 0; left &= left - 1) {
    unsigned lane = (unsigned)__builtin_ctz(left);
    if (memop_is_shared(op, lane) || address_window(op->address[lane]) != PHYSICAL_GLOBAL) continue;
    const ViewLine *at = find(m, sm, holder, line_of(op->address[lane]));
    uint32_t offset = memop_offset(op, lane, bytes);
    if (at == NULL || !bytes_any(bytes_and(at->bytes, bytes_from(offset, bytes)))) continue;
    uint32_t line[LINE_WORDS] = {0};
    memop_get(op, lane, 0, (uint8_t *)line + offset, bytes);
    bytes_copy(line, at->data, bytes_and(at->bytes, bytes_from(offset, bytes)));
    memop_put(op, lane, 0, (const uint8_t *)line + offset, bytes);
  }
}

// ---- Atomics -------------------------------------------------------------------------------------------

void view_atomic(Simt *m, uint32_t sm, const MemOp *op, const Packet *reply, uint32_t old[LINE_WORDS]) {
  memcpy(old, reply->data, sizeof reply->data);
  if (reply->kind != PACKET_READ_REPLY || !is_kept(m, sm, op->uop.warp)) return;
  ViewLine *at = find_or_take(m, sm, holder_of(m, op->uop.warp), reply->address);
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
  bytes_copy(at->data, fresh, reply->bytes);
  at->bytes = bytes_or(at->bytes, reply->bytes);
}
