// Surface loads, stores and reductions: what the surface unit makes of coordinates is one address per lane, so the rest of their way
// is that of global loads, stores and atomics past the L1. Which bytes a lane wants is found by carrying the instruction out on
// a reader that only notes them.
// A lane whose texels have another size than the first lane's (surfaces of different formats in one instruction) traps as misaligned.
#include "isa/texture.h"
#include "machine/parts/sample.h"
#include "machine/simt/memop.h"
#include "machine/simt/operand.h"

typedef struct Note {
  const Memory *memory;
  uint64_t address;
  uint32_t bytes; // 0: none
  uint8_t data[16];
} Note;

static bool note(Note *at, uint64_t address, uint32_t bytes) {
  if (bytes > sizeof at->data || memory_at(at->memory, address, bytes) == NULL) return false;
  at->address = address;
  at->bytes = bytes;
  return true;
}

static bool note_read(void *context, uint64_t address, void *to, uint32_t bytes) {
  memset(to, 0, bytes);
  return note(context, address, bytes);
}

static bool note_write(void *context, uint64_t address, const void *from, uint32_t bytes) {
  Note *at = context;
  if (!note(at, address, bytes)) return false;
  memcpy(at->data, from, bytes);
  return true;
}

// The atomic operation that a reduction is.
static Op reduction(uint32_t imm) {
  bool is_wide = texture_field(imm, TEXTURE_ELEMENT_BYTES, 2) == 3, is_signed = texture_field(imm, TEXTURE_RESULT, 2) == TEXTURE_S32;
  switch (texture_field(imm, TEXTURE_DETAIL, 4)) {
  case SURED_MIN:
    if (is_wide) return is_signed ? OP_ATOM_GLOBAL_MIN_S64 : OP_ATOM_GLOBAL_MIN_U64;
    return is_signed ? OP_ATOM_GLOBAL_MIN_S32 : OP_ATOM_GLOBAL_MIN_U32;
  case SURED_MAX:
    if (is_wide) return is_signed ? OP_ATOM_GLOBAL_MAX_S64 : OP_ATOM_GLOBAL_MAX_U64;
    return is_signed ? OP_ATOM_GLOBAL_MAX_S32 : OP_ATOM_GLOBAL_MAX_U32;
  case SURED_AND: return is_wide ? OP_ATOM_GLOBAL_AND_B64 : OP_ATOM_GLOBAL_AND_B32;
  case SURED_OR: return is_wide ? OP_ATOM_GLOBAL_OR_B64 : OP_ATOM_GLOBAL_OR_B32;
  default: return is_wide ? OP_ATOM_GLOBAL_ADD_U64 : OP_ATOM_GLOBAL_ADD_U32;
  }
}

static void describe(MemOp *op, const Instr *instr, uint32_t bytes) {
  unsigned operation = texture_field(instr->imm, TEXTURE_OPERATION, 4);
  op->op = instr->op;
  op->element_bytes = (uint8_t)min_u32(bytes, 4);
  op->elements = (uint8_t)max_u32(bytes / 4, 1);
  if (operation == TEXTURE_SULD) {
    op->action = ACTION_LOAD;
    op->element_bytes = (uint8_t)(1u << texture_field(instr->imm, TEXTURE_ELEMENT_BYTES, 2));
    op->elements = (uint8_t)max_u32(bytes / op->element_bytes, 1);
  } else if (operation == TEXTURE_SURED || operation == TEXTURE_SURED_P) {
    op->action = ACTION_ATOMIC;
    op->op = (uint16_t)reduction(instr->imm);
    op->element_bytes = (uint8_t)bytes;
    op->elements = 1;
  } else {
    op->action = ACTION_STORE;
  }
}

static bool misfit(Simt *m, uint32_t sm, const MemOp *op, unsigned lane, const Note *at) {
  AccessViolation violation = {.kind = TRAP_MISALIGNED, .space = SPACE_GLOBAL, .lane = lane, .address = at->address, .bytes = at->bytes};
  simt_violation(m, sm, op->uop.warp, op->uop.pc, &violation, NULL);
  return false;
}

// One lane's address and, for stores, bytes. False: it may not.
static bool take_lane(Simt *m, uint32_t sm, MemOp *op, const Instr *instr, const SampleRows *rows, unsigned lane) {
  Note at = {.memory = m->backing.memory};
  TextureReader reader = {note_read, note_write, &at};
  AccessViolation violation;
  if (!sample_lane(m->environment, &reader, instr, lane, rows, &violation)) {
    simt_violation(m, sm, op->uop.warp, op->uop.pc, &violation, NULL);
    return false;
  }
  op->left &= ~(1u << lane);
  if (at.bytes == 0) return true; // outside, and that is allowed
  if (op->element_bytes == 0) describe(op, instr, at.bytes);
  bool fits = at.bytes == memop_lane_bytes(op) && (at.bytes & (at.bytes - 1)) == 0 && (at.address & (at.bytes - 1)) == 0;
  if (!fits) return misfit(m, sm, op, lane, &at);
  op->address[lane] = physical_address(PHYSICAL_GLOBAL, at.address);
  op->left |= 1u << lane;
  if (op->action == ACTION_STORE) memop_put(op, lane, 0, at.data, at.bytes);
  return true;
}

void surface_take(Simt *m, uint32_t sm, Collector *collector, const Instr *instr) {
  MemOp *op = ldst_new(m, sm, &collector->uop);
  if (op != NULL) memset(op->address, 0, sizeof op->address); // what faults may have left in it
  if (op == NULL) return;
  OperandRows at = operand_sources(instr);
  uint32_t unused[SIMT_RESULT_ROWS][WARP_LANES];
  memset(unused, 0, sizeof unused);
  SampleRows rows = {.handle = collector->row[at.first[OPERAND_A]],
                     .coordinates = collector->row[at.first[OPERAND_B]],
                     .gradients = collector->row[at.first[OPERAND_C]]};
  bool is_source = (op_info[instr->op].flags & IT_DATA_IN) != 0;
  for (unsigned k = 0; k < 4; k++) rows.data[k] = is_source ? collector->row[at.first[OPERAND_D + k]] : unused[2 * k];
  for (uint32_t left = op->uop.mask; left != 0 && !simt_has_trapped(m); left &= left - 1) {
    unsigned lane = (unsigned)__builtin_ctz(left);
    if (!take_lane(m, sm, op, instr, &rows, lane)) op->left &= ~(1u << lane);
  }
  if (simt_has_trapped(m)) {
    memset(op, 0, sizeof *op);
    return;
  }
  if (op->element_bytes == 0) describe(op, instr, 4);
  if (op->action == ACTION_ATOMIC) memcpy(op->data, collector->row[at.first[OPERAND_D]], 2 * sizeof op->data[0]);
  if (op->uop.mask != 0) simt_count(m, STAT_TEXTURE_FETCHES, 1);
  ldst_begin(m, sm, op);
}
