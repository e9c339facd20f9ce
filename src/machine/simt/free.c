// Which places hold nothing (FREE rows of state.def): entries of the warp table without a warp, levels above the top of a stack, buffers, collectors,
// latches, queue entries, miss registers and tags that nobody uses, marks of registers that the kernel does not have. A fault there
// is gone when the place is taken: whoever takes it writes all its cells, and until then nobody reads them.
// Of the schedulers' own cells: whether anything asks them before they are written.
#include "machine/simt/plan.h"

static bool warp_is_free(const Simt *m, uint64_t row) {
  uint64_t sm = row / m->dims.warps, block_slot = row % m->dims.warps / max_u32(m->layout.warps, 1);
  return block_slot >= m->dims.blocks || (m->at.sms[sm].block_slots >> block_slot & 1) == 0;
}

static bool level_is_free(const Simt *m, uint64_t row) {
  return row % m->dims.levels >= m->at.warps[row / m->dims.levels].warp.stack.depth;
}

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

static bool line_is_free(const CacheLine *line) { return !cache_line_valid(line) && line->pinned == 0; }

// ---- Cells of the schedulers ---------------------------------------------------------------------------

static bool all_blocks_are_out(const Simt *m) { return m->at.core->next_block >= m->at.core->block_total && m->dims.acts == 0; }

// All blocks are out, and a bit more does not change that; one less might.
static bool count_is_free(const Simt *m, uint32_t bit) { return all_blocks_are_out(m) && (m->at.core->next_block >> bit & 1) == 0; }

static bool turn_is_free(const Simt *m) {
  return m->spec->dispatch_policy != DISPATCH_ROUND_ROBIN || (m->dims.keeps_turn == 0 && all_blocks_are_out(m));
}

// The first block of an empty SM sets it; some policies never ask for it.
static bool last_is_free(const Simt *m, uint64_t sm, uint32_t scheduler) {
  bool is_asked = m->spec->scheduler_policy != SCHEDULE_FAIR && m->spec->scheduler_policy != SCHEDULE_FRFS;
  return scheduler >= m->dims.schedulers || m->at.sms[sm].resident == 0 || (!is_asked && !plan_is_asked(m));
}

bool simt_is_told(const HookMachine *machine, const Site *site) {
  const Simt *m = (const Simt *)(const void *)((const uint8_t *)machine - offsetof(Simt, hook_machine));
  const SimtCore *core = m->at.core;
  switch (site->region) {
  case REGION_SCHEDULER_LAST: return !plan_is_asked(m); // else the last warp is asked first whether it has a rest
  case REGION_SCHEDULER_ACTIVE: return true;
  case REGION_BLOCKS_NEXT:
  case REGION_BLOCKS_SM: return m->dims.acts == 0 && core->next_block < core->block_total;
  case REGION_BLOCKS_DONE: return m->dims.acts == 0 && (core->blocks_done ^ UINT64_C(1) << site->bit) < core->block_total;
  default: return false;
  }
}

static bool action_is_free(const Simt *m, uint64_t row) {
  const Actor *actor = &m->at.actors[row / SIMT_ACTIONS];
  return (row + SIMT_ACTIONS - actor->head % SIMT_ACTIONS) % SIMT_ACTIONS >= actor->count;
}

// Lines of a block slot are taken from its first on, and cleared then.
static bool held_is_free(const Simt *m, uint64_t row) {
  uint32_t room = held_room(m), sm = (uint32_t)(row / held_lines(&m->dims)), line = (uint32_t)(row % held_lines(&m->dims));
  if (line >= m->dims.held)
    return m->at.held_for[sm * m->dims.mirror_lines + line - m->dims.held].block_slot == 0; // the holder is asked first
  uint32_t block_slot = line / room;
  return block_slot >= m->dims.blocks || line % room >= m->at.held_blocks[sm * m->dims.blocks + block_slot].lines;
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
