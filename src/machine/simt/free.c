// Which places hold nothing (FREE rows of state.def): entries of the warp table without a warp, levels above the top of a stack, buffers, collectors,
// latches, queue entries, miss registers and tags that nobody uses, marks of registers that the kernel does not have. A fault there
// is gone when the place is taken: whoever takes it writes all its cells, and until then nobody reads them.
#include "machine/simt/simt.h"

static bool warp_is_free(const Simt *m, uint64_t row) {
  uint64_t sm = row / m->dims.warps, slot = row % m->dims.warps / max_u32(m->layout.warps, 1);
  return slot >= m->dims.blocks || (m->at.sms[sm].slots >> slot & 1) == 0;
}

static bool level_is_free(const Simt *m, uint64_t row) { return row % m->dims.stack >= m->at.warps[row / m->dims.stack].warp.stack.depth; }

static bool buffer_is_free(const Simt *m, uint64_t row) {
  const SimtWarp *warp = &m->at.warps[row / m->dims.buffer];
  uint64_t place = (row + m->dims.buffer - warp->head % m->dims.buffer) % m->dims.buffer;
  return place >= warp->buffered;
}

static bool collector_is_free(const Simt *m, uint64_t row) {
  return (m->at.sms[row / m->dims.collectors].collect_used >> row % m->dims.collectors & 1) == 0;
}

static bool flight_is_free(const Simt *m, uint64_t row) {
  return (m->at.sms[row / SIMT_FLIGHTS].flights_used >> row % SIMT_FLIGHTS & 1) == 0;
}

static bool plan_is_free(const Simt *m, uint64_t row) {
  uint64_t number = row % m->dims.plans;
  return (m->at.sms[row / m->dims.plans].plans_used[number / 64] >> number % 64 & 1) == 0;
}

static bool ticket_is_free(const Simt *m, uint64_t row) {
  uint64_t number = row % m->dims.tickets;
  return (m->at.sms[row / m->dims.tickets].tickets_used[number / 64] >> number % 64 & 1) == 0;
}

static bool memop_is_free(const Simt *m, uint64_t row) {
  uint64_t index = row % m->dims.memops;
  return (m->at.sms[row / m->dims.memops].memory_used[index / 64] >> index % 64 & 1) == 0;
}

static bool packet_is_free(const NetworkBuffer *buffers, uint32_t room, uint64_t row) {
  const PacketQueue *queue = &buffers[row / room].queue;
  return (row + room - queue->head % room) % room >= queue->count;
}

static bool request_is_free(const Simt *m, uint64_t row) {
  const DramController *controller = &m->at.controllers[row / m->dims.dram_queue];
  return ((controller->waiting | controller->moving) >> row % m->dims.dram_queue & 1) == 0;
}

// Of a scoreboard: no instruction names such a register or predicate.
static bool mark_is_free(const Simt *m, uint32_t unit, uint32_t bit) {
  return unit < 4 ? unit * 64 + bit >= m->warp_registers : bit > PRED_TRUE;
}

static bool line_is_free(const CacheLine *line) { return !cache_line_valid(line) && line->used != CACHE_PINNED; }

static bool action_is_free(const Simt *m, uint64_t row) {
  const Actor *actor = &m->at.actors[row / SIMT_ACTIONS];
  return (row + SIMT_ACTIONS - actor->head % SIMT_ACTIONS) % SIMT_ACTIONS >= actor->count;
}

bool simt_is_free(const HookMachine *machine, const Site *site) {
  const Simt *m = (const Simt *)(const void *)((const uint8_t *)machine - offsetof(Simt, hook_machine));
  const uint64_t row = site->row;
  const uint32_t unit = site->unit, bit = site->bit;
  if (site->region >= SIMT_PLAIN_REGIONS && m->dims.acts == 0) return false; // a scheme's own
  switch (site->region) {
#define ARRAY(...)
#define CELLS(...)
#define MEMORY_CELLS(...)
#define OUTPUTS(...)
#define FREE(ID, expression) \
  case REGION_##ID:          \
    return expression;
#include "machine/simt/state.def"
#undef ARRAY
#undef CELLS
#undef MEMORY_CELLS
#undef OUTPUTS
#undef FREE
  default: return false;
  }
}
