// Bulk copies (sm_90): cp.async.bulk and cp.reduce.async.bulk between global and shared memory; st.bulk (sm_100).
//
// A copy is carried out at once by the thread that asks for it, 16 bytes at a time, which the memory model allows; its
// bytes are then counted at the mbarrier, or belong to a group that has nothing to wait for. Hardware has an engine beside
// the SM for it: here the thread's warp spends the time. A copy to several blocks of a cluster is made for one after the other,
// in the order of their ranks. Copies that are described by a tensor map are not there.
#include "ptx/lower_async.h"

#include <stdio.h>

enum { CHUNK_BYTES = 16, FILL_BYTES = 8 };

typedef struct Bulk Bulk;
struct Bulk {
  Address target, source;
  Value bytes;                            // of 64 bits
  Vref to, from;                          // running addresses: one register in shared memory, two in global
  void (*work)(Fn *fn, const Bulk *bulk); // what is done at each step
  uint32_t step;                          // bytes that it moves on by
  Op op;                                  // reductions: the atomic operation,
  unsigned width;                         // and the registers of an element
  Vref mask;                              // .cp_mask: which of 16 bytes are copied
};

static PtxSpace space_of(Slice part) {
  bool shared = slice_is(part, "shared::cta") || slice_is(part, "shared::cluster") || slice_is(part, "shared");
  return shared ? PTX_SPACE_SHARED : slice_is(part, "global") ? PTX_SPACE_GLOBAL : PTX_SPACE_NONE;
}

// The address in registers of its own, which the loop moves on.
static Vref running(Fn *fn, Address *address) {
  unsigned width = address->space == SPACE_SHARED || address->address32 ? 1 : 2;
  Value start = value_of_vref(address_register(fn, address), width);
  Vref at = VREF(temp(fn, width));
  move_value(fn, false, at, width, &start);
  return at;
}

static void step_on(Fn *fn, Vref at, const Address *address, uint32_t bytes) {
  bool narrow = address->space == SPACE_SHARED || address->address32;
  Value before = value_of_vref(at, narrow ? 1 : 2), step = value_of_bits(bytes);
  emit_alu(fn, narrow ? OP_ADD_B32 : row(fn, "add.b64"), at, &before, &step, NULL);
}

static MirInstr *access(Fn *fn, Op op, const Address *address, Vref at) {
  MirInstr *out = emit(fn, op);
  out->a = at;
  if (address->address32) out->mods |= MOD_ADDRESS32 & op_legal_mods(op);
  return out;
}

// 16 bytes from one running address to the other.
static void copy_chunk(Fn *fn, const Bulk *bulk) {
  Vref words[4];
  for (unsigned i = 0; i < COUNT_OF(words); i++) words[i] = VREF(temp(fn, 1));
  bool from_shared = bulk->source.space == SPACE_SHARED, to_shared = bulk->target.space == SPACE_SHARED;
  MirInstr *load = access(fn, row(fn, from_shared ? "ld.shared.b32" : "ld.global.b32"), &bulk->source, bulk->from);
  memcpy(load->d, words, sizeof words);
  load->mods |= (uint16_t)(2u << MOD_VECTOR_SHIFT);
  if (!from_shared) load->mods |= MOD_CACHE_GLOBAL; // the engine reads the L2
  MirInstr *store = access(fn, row(fn, to_shared ? "st.shared.b32" : "st.global.b32"), &bulk->target, bulk->to);
  memcpy(store->d, words, sizeof words);
  store->mods |= (uint16_t)(2u << MOD_VECTOR_SHIFT);
}

// The bytes of 16 whose bit in the mask is set.
static void copy_masked(Fn *fn, const Bulk *bulk) {
  Value mask = value_of_vref(bulk->mask, 1), zero = value_of_bits(0);
  for (uint32_t i = 0; i < CHUNK_BYTES; i++) {
    Vref byte = VREF(temp(fn, 1)), bit = VREF(temp(fn, 1)), wanted = VREF(temp(fn, 0));
    Value place = value_of_bits(UINT64_C(1) << i), bit_value = value_of_vref(bit, 1);
    emit_alu(fn, row(fn, "and.b32"), bit, &mask, &place, NULL);
    emit_alu(fn, row(fn, "setp.ne.b32"), VREF_NONE, &bit_value, &zero, NULL)->pd[0] = wanted;
    MirInstr *load = access(fn, row(fn, "ld.shared.u8"), &bulk->source, bulk->from);
    load->d[0] = byte;
    load->imm = i;
    MirInstr *store = access(fn, row(fn, "st.global.b8"), &bulk->target, bulk->to);
    store->d[0] = byte;
    store->imm = i;
    store->guard = wanted;
  }
}

// One element of `width` registers from the source, reduced into the target.
static void reduce_element(Fn *fn, const Bulk *bulk) {
  Vref value = VREF(temp(fn, bulk->width));
  const char *load = bulk->source.space == SPACE_SHARED ? (bulk->width == 2 ? "ld.shared.b64" : "ld.shared.b32")
                                                        : (bulk->width == 2 ? "ld.global.b64" : "ld.global.b32");
  access(fn, row(fn, load), &bulk->source, bulk->from)->d[0] = value;
  access(fn, bulk->op, &bulk->target, bulk->to)->b = value;
}

static void fill_zero(Fn *fn, const Bulk *bulk) {
  Value zero = value_of_bits(0);
  Vref data = value_register(fn, &zero, 2);
  access(fn, row(fn, bulk->target.space == SPACE_SHARED ? "st.shared.b64" : "st.b64"), &bulk->target, bulk->to)->d[0] = data;
}

static void branch_to(Fn *fn, uint32_t label, Vref predicate, bool negated) {
  MirInstr *out = emit(fn, OP_BRA);
  out->target = label;
  out->guard = predicate;
  out->guard_negated = negated;
  start_block(fn);
}

// All steps of the work.
static void work_through(Fn *fn, Bulk *bulk) {
  uint32_t again = new_label(fn), end = new_label(fn);
  Vref left = VREF(temp(fn, 1)), some = VREF(temp(fn, 0)), wanted = VREF(temp(fn, 0));
  Value bytes = bulk->bytes.in_register ? value_of_vref(bulk->bytes.ref, 1) : bulk->bytes;
  bulk->to = running(fn, &bulk->target);
  if (bulk->work != fill_zero) bulk->from = running(fn, &bulk->source);
  move_value(fn, false, left, 1, &bytes);
  Value left_value = value_of_vref(left, 1), step = value_of_bits(bulk->step);
  emit_alu(fn, row(fn, "setp.ge.u32"), VREF_NONE, &left_value, &step, NULL)->pd[0] = wanted;
  branch_to(fn, end, under_guard(fn, wanted), true);
  place_label(fn, again);
  bulk->work(fn, bulk);
  step_on(fn, bulk->to, &bulk->target, bulk->step);
  if (bulk->work != fill_zero) step_on(fn, bulk->from, &bulk->source, bulk->step);
  emit_alu(fn, row(fn, "sub.b32"), left, &left_value, &step, NULL);
  emit_alu(fn, row(fn, "setp.ge.u32"), VREF_NONE, &left_value, &step, NULL)->pd[0] = some;
  branch_to(fn, again, some, false);
  place_label(fn, end);
}

// The atomic row of a reduction: the parts after the completion mechanism name it.
static bool reduction(Fn *fn, const PtxInstr *instr, Bulk *bulk) {
  static const char *const operations[] = {"add", "min", "max", "inc", "dec", "and", "or", "xor"};
  char text[64];
  PtxType type = last_type(instr);
  const char *operation = NULL;
  for (size_t i = 0; i < COUNT_OF(operations); i++) operation = has_part(instr, operations[i]) ? operations[i] : operation;
  uint32_t bits = ptx_type_bits(type);
  if (operation == NULL || (bits != 32 && bits != 64)) return unsupported(fn, instr);
  bulk->work = reduce_element;
  bulk->width = bits / 32;
  bulk->step = bits / 8;
  const char *space = bulk->target.space == SPACE_SHARED ? "shared" : "global", *noftz = has_part(instr, "noftz") ? ".noftz" : "";
  snprintf(text, sizeof text, "atom.%s.%s%s.%s", space, operation, noftz, ptx_type_text(type));
  return find_row(fn->lower, text, &bulk->op) || unsupported(fn, instr);
}

// ---- Several blocks of a cluster -----------------------------------------------------------------------
// The same place in the shared memory of the block with this rank.
static Address in_block(Fn *fn, Address *address, const Value *rank) {
  Value at = value_of_vref(address_register(fn, address), 1), mask = value_of_bits((1u << CLUSTER_RANK_SHIFT) - 1);
  Value shift = value_of_bits(CLUSTER_RANK_SHIFT), start = value_of_bits(CLUSTER_OFFSET);
  Vref offset = VREF(temp(fn, 1)), above = VREF(temp(fn, 1)), sum = VREF(temp(fn, 1));
  Value offset_value = value_of_vref(offset, 1), above_value = value_of_vref(above, 1), sum_value = value_of_vref(sum, 1);
  emit_alu(fn, row(fn, "and.b32"), offset, &at, &mask, NULL);
  emit_alu(fn, row(fn, "shl.b32"), above, rank, &shift, NULL);
  emit_alu(fn, OP_ADD_B32, sum, &offset_value, &above_value, NULL);
  emit_alu(fn, OP_ADD_B32, sum, &sum_value, &start, NULL);
  return (Address){.space = SPACE_SHARED, .base = sum};
}

// For every set bit of the mask, from the lowest: the copy to that block, and its bytes at that block's barrier.
static bool copy_to_blocks(Fn *fn, const PtxOperand *mask, Bulk *bulk, Address *barrier) {
  uint32_t again = new_label(fn), end = new_label(fn);
  Vref blocks, left = VREF(temp(fn, 1)), rank = VREF(temp(fn, 1)), some = VREF(temp(fn, 0)), more = VREF(temp(fn, 0));
  if (!read_register(fn, mask, PTX_B16, 1, &blocks)) return false;
  Value given = value_of_vref(blocks, 1), sixteen = value_of_bits(0xFFFF), left_value = value_of_vref(left, 1), zero = value_of_bits(0);
  Value rank_value = value_of_vref(rank, 1), one = value_of_bits(1);
  emit_alu(fn, row(fn, "and.b32"), left, &given, &sixteen, NULL);
  emit_alu(fn, row(fn, "setp.ne.b32"), VREF_NONE, &left_value, &zero, NULL)->pd[0] = some;
  branch_to(fn, end, under_guard(fn, some), true);
  place_label(fn, again);
  Vref reversed = VREF(temp(fn, 1)), less = VREF(temp(fn, 1));
  Value reversed_value = value_of_vref(reversed, 1), less_value = value_of_vref(less, 1);
  emit_alu(fn, row(fn, "brev.b32"), reversed, &left_value, NULL, NULL);
  emit_alu(fn, row(fn, "clz.b32"), rank, &reversed_value, NULL, NULL);
  Bulk one_block = *bulk;
  one_block.target = in_block(fn, &bulk->target, &rank_value);
  Address there = in_block(fn, barrier, &rank_value);
  work_through(fn, &one_block);
  complete_transactions(fn, &there, &bulk->bytes);
  emit_alu(fn, row(fn, "sub.b32"), less, &left_value, &one, NULL);
  emit_alu(fn, row(fn, "and.b32"), left, &left_value, &less_value, NULL);
  emit_alu(fn, row(fn, "setp.ne.b32"), VREF_NONE, &left_value, &zero, NULL)->pd[0] = more;
  branch_to(fn, again, more, false);
  place_label(fn, end);
  return true;
}

// ---- Instructions --------------------------------------------------------------------------------------
// Operands after the addresses and the count of bytes: the barrier, the mask of blocks, a cache policy, the mask of bytes.
static bool finish_transfer(Fn *fn, const PtxInstr *instr, Bulk *bulk) {
  Address barrier;
  bool counts = has_part(instr, "mbarrier::complete_tx::bytes"), blocks = has_part(instr, "multicast::cluster");
  bool bytes = has_part(instr, "cp_mask"), hint = has_part(instr, "L2::cache_hint");
  uint32_t needed = 3u + counts + blocks + bytes + hint;
  if (!expect_operands(fn, instr, needed, needed)) return false;
  const PtxOperand *operands = instr->operands;
  if (bytes) {
    if (counts || blocks || bulk->work != copy_chunk || bulk->target.space != SPACE_GLOBAL || bulk->source.space != SPACE_SHARED)
      return unsupported(fn, instr);
    if (!read_register(fn, &operands[needed - 1], PTX_B16, 1, &bulk->mask)) return false;
    bulk->work = copy_masked;
  }
  if (counts && !read_address(fn, &operands[3], PTX_SPACE_SHARED, &barrier)) return false;
  if (blocks && (!counts || bulk->target.space != SPACE_SHARED)) return unsupported(fn, instr);
  if (blocks) return copy_to_blocks(fn, &operands[4], bulk, &barrier);
  work_through(fn, bulk);
  if (!counts) return true;
  settle_address(fn, &barrier);
  complete_transactions(fn, &barrier, &bulk->bytes);
  return true;
}

// cp[.reduce].async.bulk.target.source.completion [target], [source], bytes [, [mbarrier]] [, masks and hints].
static bool lower_transfer(Fn *fn, const PtxInstr *instr, uint32_t first, bool reduces) {
  Bulk bulk = {.work = copy_chunk, .step = CHUNK_BYTES};
  bool completes = has_part(instr, "mbarrier::complete_tx::bytes") || has_part(instr, "bulk_group");
  if (instr->part_count < first + 3 || !completes) return unsupported(fn, instr);
  PtxSpace to = space_of(instr->parts[first]), from = space_of(instr->parts[first + 1]);
  if (to == PTX_SPACE_NONE || from == PTX_SPACE_NONE) return unsupported(fn, instr);
  if (!expect_operands(fn, instr, 3, 6)) return false;
  const PtxOperand *operands = instr->operands;
  if (!read_address(fn, &operands[0], to, &bulk.target) || !read_address(fn, &operands[1], from, &bulk.source)) return false;
  if (!read_bytes(fn, &operands[2], &bulk.bytes)) return false;
  if (reduces && !reduction(fn, instr, &bulk)) return false;
  return finish_transfer(fn, instr, &bulk);
}

// st.bulk{.weak}{.shared::cta} [target], bytes, 0.
bool lower_fill(Fn *fn, const PtxInstr *instr) {
  Bulk bulk = {.work = fill_zero, .step = FILL_BYTES};
  bool shared = has_part(instr, "shared::cta");
  if (!expect_operands(fn, instr, 3, 3)) return false;
  const PtxOperand *operands = instr->operands;
  if (!operand_is_literal(&operands[2]) || operands[2].bits != 0) return complain(fn, operands[2].place, "st.bulk stores zeros");
  if (!read_address(fn, &operands[0], shared ? PTX_SPACE_SHARED : PTX_SPACE_NONE, &bulk.target)) return false;
  if (!read_value(fn, &operands[1], PTX_U64, &bulk.bytes)) return false;
  work_through(fn, &bulk);
  return true;
}

bool lower_bulk(Fn *fn, const PtxInstr *instr) {
  bool reduces = slice_is(instr->parts[1], "reduce");
  uint32_t first = reduces ? 4 : 3; // after cp.async.bulk or cp.reduce.async.bulk
  if (has_part(instr, "tensor") || instr->part_count <= first) {
    return complain(fn, instr->place, "'%.*s': copies that a tensor map describes are not supported", (int)instr->text.length,
                    instr->text.at);
  }
  Slice what = instr->parts[first];
  if (slice_is(what, "commit_group")) return expect_operands(fn, instr, 0, 0);
  if (slice_is(what, "wait_group")) return expect_operands(fn, instr, 1, 1);
  if (slice_is(what, "prefetch")) return expect_operands(fn, instr, 2, 3);
  return lower_transfer(fn, instr, first, reduces);
}
