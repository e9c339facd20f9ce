// Thread-block clusters (sm_90): their barrier, and addresses of the shared memory of other blocks.
// Such an address is CLUSTER_WINDOW (as an address of shared memory: CLUSTER_OFFSET) + (rank << CLUSTER_RANK_SHIFT) + the offset in the
// block's shared memory. An address of the block's own shared memory has that offset in the same bits, in both spaces.
#include "ptx/lower.h"

// barrier.cluster.arrive{.release, .relaxed}{.aligned}; barrier.cluster.wait{.acquire}{.aligned}.
bool lower_cluster_barrier(Fn *fn, const PtxInstr *instr) {
  bool arrives = has_part(instr, "arrive");
  if (!arrives && !has_part(instr, "wait")) return unsupported(fn, instr);
  if (!expect_operands(fn, instr, 0, 0)) return false;
  bool orders = !has_part(instr, "relaxed");
  if (arrives && orders) (void)emit_guarded(fn, OP_MEMBAR_GL);
  (void)emit_guarded(fn, arrives ? OP_BARRIER_CLUSTER_ARRIVE : OP_BARRIER_CLUSTER_WAIT);
  if (!arrives && orders) (void)emit_guarded(fn, OP_MEMBAR_GL);
  return true;
}

// The window's start, in the space of the opcode.
static uint32_t window_of(const PtxInstr *instr) {
  return (uint32_t)(has_part(instr, "shared::cluster") ? CLUSTER_OFFSET : CLUSTER_WINDOW);
}

// mapa{.shared::cluster}.type d, a, rank: a is a shared variable, or an address.
bool lower_mapa(Fn *fn, const PtxInstr *instr) {
  unsigned width = ptx_type_bits(last_type(instr)) == 64 ? 2 : 1;
  Vref d;
  Value address, rank, mask = value_of_bits((1u << CLUSTER_RANK_SHIFT) - 1), shift = value_of_bits(CLUSTER_RANK_SHIFT);
  if (ptx_type_bits(last_type(instr)) != 32 * width) return unsupported(fn, instr);
  if (!expect_operands(fn, instr, 3, 3)) return false;
  if (!write_register(fn, &instr->operands[0], width, &d)) return false;
  if (!read_value(fn, &instr->operands[1], last_type(instr), &address) || !read_value(fn, &instr->operands[2], PTX_U32, &rank))
    return false;
  Value start = value_of_bits(window_of(instr)), zero = value_of_bits(0);
  Vref offset = VREF(temp(fn, 1)), above = VREF(temp(fn, 1)), sum = VREF(temp(fn, 1));
  Value low = value_of_vref(value_register(fn, &address, width), 1);
  emit_alu(fn, row(fn, "and.b32"), offset, &low, &mask, NULL);
  emit_alu(fn, row(fn, "shl.b32"), above, &rank, &shift, NULL);
  Value offset_value = value_of_vref(offset, 1), above_value = value_of_vref(above, 1), sum_value = value_of_vref(sum, 1);
  emit_alu(fn, OP_ADD_B32, sum, &offset_value, &above_value, NULL);
  if (d.vreg == VREG_NONE) return true;
  emit_alu_guarded(fn, OP_ADD_B32, vref_part(d, 0), &sum_value, &start, NULL);
  if (width == 2) move_value(fn, true, vref_part(d, 1), 1, &zero);
  return true;
}

// getctarank{.shared::cluster}.type d, a: the block's own rank for its own addresses.
bool lower_getctarank(Fn *fn, const PtxInstr *instr) {
  unsigned width = ptx_type_bits(last_type(instr)) == 64 ? 2 : 1;
  Vref d, own = VREF(temp(fn, 1)), distance = VREF(temp(fn, 1)), rank = VREF(temp(fn, 1)), outside = VREF(temp(fn, 0));
  Value address, start = value_of_bits(window_of(instr)), shift = value_of_bits(CLUSTER_RANK_SHIFT);
  if (ptx_type_bits(last_type(instr)) != 32 * width) return unsupported(fn, instr);
  if (!expect_operands(fn, instr, 2, 2)) return false;
  if (!write_register(fn, &instr->operands[0], 1, &d) || !read_value(fn, &instr->operands[1], last_type(instr), &address)) return false;
  MirInstr *read = emit(fn, OP_S2R);
  read->d[0] = own;
  read->imm = SREG_CLUSTER_CTARANK;
  Value low = value_of_vref(value_register(fn, &address, width), 1), own_value = value_of_vref(own, 1);
  emit_alu(fn, row(fn, "sub.b32"), distance, &low, &start, NULL);
  Value distance_value = value_of_vref(distance, 1), rank_value = value_of_vref(rank, 1);
  emit_alu(fn, row(fn, "setp.ge.u32"), VREF_NONE, &low, &start, NULL)->pd[0] = outside;
  emit_alu(fn, row(fn, "shr.b32"), rank, &distance_value, &shift, NULL);
  MirInstr *select = emit_alu_guarded(fn, row(fn, "selp.b32"), d, &rank_value, &own_value, NULL);
  select->ps = outside;
  return true;
}
