// Matrix fragments between memory and registers; which bytes belong where is isa/matrix.h's affair.
#include "machine/parts/fragment.h"
#include "isa/matrix.h"

enum { MOST_REGISTERS = 8 };

// A lane's fragment as bytes: register r at [4 * r].
typedef struct Fragment {
  uint8_t bytes[4 * MOST_REGISTERS];
} Fragment;

static uint64_t piece_address(const Access *access, const MatrixPlan *plan, unsigned piece, unsigned lane) {
  uint64_t base = access_address(access, matrix_source(plan, piece, lane));
  uint64_t address = base + (uint64_t)matrix_offset(plan, piece, lane);
  return access->wide ? address : (uint32_t)address;
}

static MatrixPlan plan_of(const Access *access, Op op, uint32_t imm, const uint32_t *stride) {
  MatrixPlan plan;
  matrix_plan(op, imm, stride[__builtin_ctz(access->active)], &plan);
  return plan;
}

static unsigned registers_of(Op op) { return min_u32(type_info[op_info[op].d].registers, MOST_REGISTERS); }

static bool load(const Access *access, Op op, uint32_t imm, const uint32_t *stride, uint32_t *rows, FragmentWay way) {
  MatrixPlan plan = plan_of(access, op, imm, stride);
  Fragment fragments[WARP_LANES]; // the rows may hold addresses of lanes that are still to come
  memset(fragments, 0, sizeof fragments);
  for (uint32_t left = access->active; left != 0; left &= left - 1) {
    unsigned lane = (unsigned)__builtin_ctz(left);
    for (unsigned i = 0; i < plan.count; i++) {
      const MatrixPiece *piece = &plan.pieces[i];
      uint8_t *to = &fragments[lane].bytes[4 * piece->reg + piece->byte];
      if (!way.move(way.context, lane, piece_address(access, &plan, i, lane), piece->bytes, to)) return false;
    }
  }
  for (uint32_t left = access->active; left != 0; left &= left - 1) {
    unsigned lane = (unsigned)__builtin_ctz(left);
    for (unsigned k = 0; k < registers_of(op); k++) memcpy(&rows[k * WARP_LANES + lane], &fragments[lane].bytes[4 * k], 4);
  }
  return true;
}

static bool store(const Access *access, Op op, uint32_t imm, const uint32_t *stride, const uint32_t *rows, FragmentWay way) {
  MatrixPlan plan = plan_of(access, op, imm, stride);
  for (uint32_t left = access->active; left != 0; left &= left - 1) {
    unsigned lane = (unsigned)__builtin_ctz(left);
    Fragment fragment = {{0}};
    for (unsigned k = 0; k < registers_of(op); k++) memcpy(&fragment.bytes[4 * k], &rows[k * WARP_LANES + lane], 4);
    for (unsigned i = 0; i < plan.count; i++) {
      const MatrixPiece *piece = &plan.pieces[i];
      uint8_t *from = &fragment.bytes[4 * piece->reg + piece->byte];
      if (!way.move(way.context, lane, piece_address(access, &plan, i, lane), piece->bytes, from)) return false;
    }
  }
  return true;
}

bool fragment_load_by(const Access *access, const Instr *instr, const uint32_t *stride, uint32_t *rows, FragmentWay way) {
  return load(access, (Op)instr->op, instr->imm, stride, rows, way);
}

bool fragment_store_by(const Access *access, const Instr *instr, const uint32_t *stride, const uint32_t *rows, FragmentWay way) {
  return store(access, (Op)instr->op, instr->imm, stride, rows, way);
}

// ---- Straight to memory --------------------------------------------------------------------------------
typedef struct Straight {
  const MemoryView *view;
  Space space;
  AccessViolation *violation;
} Straight;

static bool read_piece(void *context, unsigned lane, uint64_t address, uint32_t bytes, uint8_t *data) {
  const Straight *at = context;
  return lane_read(at->view, at->space, address, bytes, lane, data, at->violation);
}

static bool write_piece(void *context, unsigned lane, uint64_t address, uint32_t bytes, uint8_t *data) {
  const Straight *at = context;
  return lane_write(at->view, at->space, address, bytes, lane, data, at->violation);
}

bool fragment_load(const MemoryView *view, const Access *access, Op op, uint32_t imm, const uint32_t *stride, uint32_t *rows,
                   AccessViolation *violation) {
  Straight straight = {view, access->space, violation};
  return load(access, op, imm, stride, rows, (FragmentWay){read_piece, &straight});
}

bool fragment_store(const MemoryView *view, const Access *access, Op op, uint32_t imm, const uint32_t *stride, const uint32_t *rows,
                    AccessViolation *violation) {
  Straight straight = {view, access->space, violation};
  return store(access, op, imm, stride, rows, (FragmentWay){write_piece, &straight});
}
