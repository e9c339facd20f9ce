// What somebody who watches the functional machine is told; see MachineWatch in machine.h. Memory is told lane by lane, with generic
// addresses resolved; everything whose result could be another on a machine with time is told as lost.
#include "machine/functional/functional.h"
#include "machine/parts/fragment.h"
#include "machine/parts/texture.h"

void watch_keep(Access *access, uint32_t kept[2 * WARP_LANES]) {
  memcpy(kept, access->address, WARP_LANES * sizeof *kept);
  if (access->wide) memcpy(kept + WARP_LANES, access->address + WARP_LANES, WARP_LANES * sizeof *kept);
  access->address = kept;
}

static void tell_touch(MachineWatch *watch, unsigned lane, Space space, uint64_t address, uint32_t bytes, unsigned how) {
  if (space == SPACE_GENERIC) space = generic_resolve(&address);
  watch->lane = lane;
  watch->touch(watch->context, space, address, bytes, how);
}

void watch_tell(const WarpContext *at, const Access *access, unsigned how) {
  uint32_t bytes = (uint32_t)access->element_bytes * access->elements;
  for (uint32_t left = access->active; left != 0; left &= left - 1) {
    unsigned lane = (unsigned)__builtin_ctz(left);
    tell_touch(at->run->watch, lane, access->space, access_address(access, lane), bytes, how);
  }
}

StepResult watch_memory(WarpContext *at, Step *step, Access *access, bool store) {
  uint32_t kept[2 * WARP_LANES];
  AccessViolation violation;
  watch_keep(access, kept);
  bool done = store ? access_store(&at->run->view, access, &step->window, &violation)
                    : access_load(&at->run->view, access, &step->window, &violation);
  if (!done) access->active &= (1u << violation.lane % WARP_LANES) - 1; // lanes before the one that traps have stored
  if (done || store) watch_tell(at, access, store ? WATCH_WRITE : WATCH_READ);
  if (!done) return step_violation(at, &violation, NULL);
  return STEP_NEXT;
}

bool watch_takes(const WarpContext *at, const Step *step, const Access *access, const uint32_t *b) {
  MachineWatch *watch = at->run->watch;
  if (watch->atomic == NULL) return false;
  WatchedAtomic atomic = {.block = (uint32_t)at->block->linear,
                          .warp = at->index,
                          .op = step->op,
                          .mods = step->mods,
                          .imm = step->imm,
                          .bytes = step->element_bytes,
                          .lanes = access->active,
                          .pc = at->pc,
                          .b = b,
                          .function = step->function};
  for (uint32_t left = access->active; left != 0; left &= left - 1) {
    unsigned lane = (unsigned)__builtin_ctz(left);
    Space space = access->space;
    atomic.address[lane] = access_address(access, lane);
    if (space == SPACE_GENERIC) space = generic_resolve(&atomic.address[lane]);
    bool is_good = (atomic.address[lane] & (step->element_bytes - 1u)) == 0 &&
                   memory_at(at->run->environment->memory, atomic.address[lane], step->element_bytes) != NULL;
    if (space == SPACE_GLOBAL && !is_good) return false; // it traps
    atomic.global |= (space == SPACE_GLOBAL ? 1u : 0u) << lane;
  }
  return watch->atomic(watch->context, &atomic);
}

// ---- Rare accesses -----------------------------------------------------------------------------------
// One lane's way to memory that tells what it does.
typedef struct ToldWay {
  const WarpContext *at;
  Space space;
  unsigned lane;
  AccessViolation *violation;
} ToldWay;

static bool read_told(void *context, unsigned lane, uint64_t address, uint32_t bytes, uint8_t *data) {
  const ToldWay *way = context;
  if (!lane_read(&way->at->run->view, way->space, address, bytes, lane, data, way->violation)) return false;
  tell_touch(way->at->run->watch, lane, way->space, address, bytes, WATCH_READ);
  return true;
}

static bool write_told(void *context, unsigned lane, uint64_t address, uint32_t bytes, uint8_t *data) {
  const ToldWay *way = context;
  if (!lane_write(&way->at->run->view, way->space, address, bytes, lane, data, way->violation)) return false;
  tell_touch(way->at->run->watch, lane, way->space, address, bytes, WATCH_WRITE);
  return true;
}

bool watch_fragment(const WarpContext *at, const Access *access, const uint32_t *stride, uint32_t *rows, bool store,
                    AccessViolation *violation) {
  const Instr *instr = &at->run->program->decoded[at->pc];
  ToldWay way = {.at = at, .space = access->space, .violation = violation};
  return store ? fragment_store_by(access, instr, stride, rows, (FragmentWay){write_told, &way})
               : fragment_load_by(access, instr, stride, rows, (FragmentWay){read_told, &way});
}

static bool read_texel_told(void *context, uint64_t address, void *to, uint32_t bytes) {
  const ToldWay *way = context;
  const uint8_t *host = memory_at(way->at->run->environment->memory, address, bytes);
  if (host == NULL) return false;
  memcpy(to, host, bytes);
  tell_touch(way->at->run->watch, way->lane, SPACE_GLOBAL, address, bytes, WATCH_READ);
  return true;
}

static bool write_texel_told(void *context, uint64_t address, const void *from, uint32_t bytes) {
  const ToldWay *way = context;
  uint8_t *host = memory_at(way->at->run->environment->memory, address, bytes);
  if (host == NULL) return false;
  memcpy(host, from, bytes);
  tell_touch(way->at->run->watch, way->lane, SPACE_GLOBAL, address, bytes, WATCH_WRITE);
  return true;
}

bool watch_texture(const WarpContext *at, uint32_t active, const SampleRows *rows, AccessViolation *violation) {
  const Instr *instr = &at->run->program->decoded[at->pc];
  ToldWay way = {.at = at};
  TextureReader reader = {.read = read_texel_told, .write = write_texel_told, .context = &way};
  for (; active != 0; active &= active - 1) {
    way.lane = (unsigned)__builtin_ctz(active);
    if (!sample_lane(at->run->environment, &reader, instr, way.lane, rows, violation)) return false;
  }
  return true;
}

// ---- What is not told --------------------------------------------------------------------------------
static bool tells_time_or_place(uint32_t number) { return number == SREG_SMID || (number >= SREG_CLOCK && number <= SREG_GLOBALTIMER_HI); }

// A barrier orders all warps of the block only if it waits for all of them.
static bool is_whole_barrier(const WarpContext *at, const Step *step, uint32_t active) {
  if ((op_info[step->op].flags & IT_MEMBER_MASK) != 0 || active == 0) return true;
  if (step->op == OP_BAR_ARRIVE) return false;
  const uint32_t *count = at->bases[step->b_base] + step->b;
  for (uint32_t left = active; left != 0; left &= left - 1) {
    uint32_t threads = count[__builtin_ctz(left)];
    if (threads != 0 && threads != at->run->layout.threads) return false;
  }
  return true;
}

void watch_rare(const WarpContext *at, const Step *step, uint32_t active) {
  const MachineWatch *watch = at->run->watch;
  bool is_told;
  switch (op_info[step->op].kind) {
  case KIND_CONTROL:
  case KIND_ATOMIC:
  case KIND_FENCE: is_told = true; break;
  case KIND_BARRIER: is_told = is_whole_barrier(at, step, active); break;
  case KIND_SREG: is_told = !tells_time_or_place(step->imm); break;
  default: is_told = false; break;
  }
  if (!is_told) watch->lost(watch->context);
}
