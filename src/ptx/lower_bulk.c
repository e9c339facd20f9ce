// Bulk copies (sm_90): cp.async.bulk and cp.reduce.async.bulk between global and shared memory.
//
// A copy is carried out at once by the thread that asks for it, 16 bytes at a time, which the memory model allows; its
// bytes are then counted at the mbarrier, or belong to a group that has nothing to wait for. Hardware has an engine beside
// the SM for it: here the thread's warp spends the time. Copies that are described by a tensor map are not there.
#include "ptx/lower_async.h"

#include <stdio.h>

enum { CHUNK_BYTES = 16 };

typedef struct Bulk {
  Address target, source;
  Value bytes;   // of 64 bits
  Vref to, from; // running addresses: one register in shared memory, two in global
} Bulk;

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

// One element of `width` registers from the source, reduced into the target.
static void reduce_element(Fn *fn, const Bulk *bulk, Op op, unsigned width) {
  Vref value = VREF(temp(fn, width));
  const char *load = bulk->source.space == SPACE_SHARED ? (width == 2 ? "ld.shared.b64" : "ld.shared.b32")
                                                        : (width == 2 ? "ld.global.b64" : "ld.global.b32");
  access(fn, row(fn, load), &bulk->source, bulk->from)->d[0] = value;
  access(fn, op, &bulk->target, bulk->to)->b = value;
}

static void branch_to(Fn *fn, uint32_t label, Vref predicate, bool negated) {
  MirInstr *out = emit(fn, OP_BRA);
  out->target = label;
  out->guard = predicate;
  out->guard_negated = negated;
  start_block(fn);
}

// All of the copy. `op` is OP_COUNT, or the atomic operation of a reduction on elements of `width` registers.
static void copy_all(Fn *fn, Bulk *bulk, Op op, unsigned width) {
  uint32_t again = new_label(fn), end = new_label(fn), step = op == OP_COUNT ? CHUNK_BYTES : 4 * width;
  Vref left = VREF(temp(fn, 1)), some = VREF(temp(fn, 0)), wanted = VREF(temp(fn, 0));
  Value zero = value_of_bits(0), bytes = bulk->bytes.in_register ? value_of_vref(bulk->bytes.ref, 1) : bulk->bytes;
  bulk->to = running(fn, &bulk->target);
  bulk->from = running(fn, &bulk->source);
  move_value(fn, false, left, 1, &bytes);
  Value left_value = value_of_vref(left, 1), chunk = value_of_bits(step);
  emit_alu(fn, row(fn, "setp.ge.u32"), VREF_NONE, &left_value, &chunk, NULL)->pd[0] = wanted;
  branch_to(fn, end, under_guard(fn, wanted), true);
  place_label(fn, again);
  if (op == OP_COUNT) copy_chunk(fn, bulk);
  else reduce_element(fn, bulk, op, width);
  step_on(fn, bulk->to, &bulk->target, step);
  step_on(fn, bulk->from, &bulk->source, step);
  emit_alu(fn, row(fn, "sub.b32"), left, &left_value, &chunk, NULL);
  emit_alu(fn, row(fn, "setp.ne.b32"), VREF_NONE, &left_value, &zero, NULL)->pd[0] = some;
  branch_to(fn, again, some, false);
  place_label(fn, end);
}

// The atomic row of a reduction: the parts after the completion mechanism name it.
static bool reduction(Fn *fn, const PtxInstr *instr, const Bulk *bulk, Op *op, unsigned *width) {
  static const char *const operations[] = {"add", "min", "max", "inc", "dec", "and", "or", "xor"};
  char text[64];
  PtxType type = last_type(instr);
  const char *operation = NULL;
  for (size_t i = 0; i < COUNT_OF(operations); i++) operation = has_part(instr, operations[i]) ? operations[i] : operation;
  uint32_t bits = ptx_type_bits(type);
  if (operation == NULL || (bits != 32 && bits != 64)) return unsupported(fn, instr);
  *width = bits / 32;
  const char *space = bulk->target.space == SPACE_SHARED ? "shared" : "global", *noftz = has_part(instr, "noftz") ? ".noftz" : "";
  snprintf(text, sizeof text, "atom.%s.%s%s.%s", space, operation, noftz, ptx_type_text(type));
  return find_row(fn->lower, text, op) || unsupported(fn, instr);
}

// cp[.reduce].async.bulk.target.source.completion [target], [source], bytes [, [mbarrier]] [, hints].
static bool lower_transfer(Fn *fn, const PtxInstr *instr, uint32_t first, bool reduces) {
  Bulk bulk = {0};
  Address barrier;
  Op op = OP_COUNT;
  unsigned width = 1;
  bool counts = has_part(instr, "mbarrier::complete_tx::bytes");
  if (instr->part_count < first + 3 || !(counts || has_part(instr, "bulk_group"))) return unsupported(fn, instr);
  PtxSpace to = space_of(instr->parts[first]), from = space_of(instr->parts[first + 1]);
  if (to == PTX_SPACE_NONE || from == PTX_SPACE_NONE || has_part(instr, "multicast::cluster") || has_part(instr, "cp_mask"))
    return unsupported(fn, instr);
  if (!expect_operands(fn, instr, counts ? 4 : 3, 6)) return false;
  const PtxOperand *operands = instr->operands;
  if (!read_address(fn, &operands[0], to, &bulk.target) || !read_address(fn, &operands[1], from, &bulk.source)) return false;
  if (!read_bytes(fn, &operands[2], &bulk.bytes)) return false;
  if (reduces && !reduction(fn, instr, &bulk, &op, &width)) return false;
  if (counts && !read_address(fn, &operands[3], PTX_SPACE_SHARED, &barrier)) return false;
  copy_all(fn, &bulk, op, width);
  if (!counts) return true;
  settle_address(fn, &barrier);
  complete_transactions(fn, &barrier, &bulk.bytes);
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
