// Atomics, reductions to memory, fences, and memory hints that have no effect on results.
#include "ptx/lower_async.h"

static bool is_atomic_operation(Slice part) {
  static const char *const names[] = {"add", "min", "max", "inc", "dec", "and", "or", "xor", "exch", "cas"};
  for (size_t i = 0; i < COUNT_OF(names); i++) {
    if (slice_is(part, names[i])) return true;
  }
  return false;
}

// Space, ordering and scope stand in any order between "atom" and the type.
static bool parse_atomic(const PtxInstr *instr, MemoryForm *form, Slice *operation) {
  *form = (MemoryForm){.vector = 1};
  *operation = (Slice){NULL, 0};
  for (uint32_t i = 1; i < instr->part_count; i++) {
    if (is_atomic_operation(instr->parts[i])) {
      *operation = instr->parts[i];
    } else if (!is_async_part(instr, instr->parts[i]) && !memory_part(instr->parts[i], form)) {
      return false;
    }
  }
  return operation->length && form->type != PTX_NO_TYPE && ptx_type_bits(form->type) <= 64;
}

static bool find_atomic(Fn *fn, Space space, Slice operation, PtxType type, Op *op) {
  Opcode opcode;
  Slice parts[5];
  uint32_t count = 0;
  bool half = type == PTX_F16 || type == PTX_F16X2 || type == PTX_BF16 || type == PTX_BF16X2;
  bool add = slice_is(operation, "add");
  if (add && type == PTX_S32) type = PTX_U32;
  if (add && type == PTX_S64) type = PTX_U64;
  parts[count++] = slice_of("atom");
  if (space != SPACE_GENERIC) parts[count++] = slice_of(space_text[space]);
  parts[count++] = operation;
  if (half) parts[count++] = slice_of("noftz");
  parts[count++] = slice_of(ptx_type_text(type));
  if (!opcode_resolve(fn->lower, parts, count, &opcode)) return false;
  *op = opcode.op;
  return op_info[*op].kind == KIND_ATOMIC;
}

typedef struct Atomic {
  Op op;
  MemoryForm form;
  Address address;
} Atomic;

static bool emit_atomic(Fn *fn, const Atomic *atomic, const PtxOperand *d, const PtxOperand *b, const PtxOperand *c) {
  const OpInfo *info = &op_info[atomic->op];
  Vref result = VREF_NONE, first, second = VREF_NONE;
  if (d && !write_register(fn, d, type_info[info->d].registers, &result)) return false;
  if (!read_register(fn, b, atomic->form.type, type_info[info->b].registers, &first)) return false;
  if (c && !read_register(fn, c, atomic->form.type, type_info[info->c].registers, &second)) return false;
  MirInstr *out = emit_guarded(fn, atomic->op);
  out->mods = atomic->form.mods & op_legal_mods(atomic->op);
  if (atomic->address.address32) out->mods |= MOD_ADDRESS32 & op_legal_mods(atomic->op);
  out->d[0] = result;
  out->a = atomic->address.base;
  out->imm = (uint32_t)(int32_t)atomic->address.offset;
  out->b = first;
  out->c = second;
  return true;
}

static bool lower_atomic(Fn *fn, const PtxInstr *instr, bool has_result) {
  Slice operation;
  Atomic atomic;
  if (!parse_atomic(instr, &atomic.form, &operation)) return unsupported(fn, instr);
  bool cas = slice_is(operation, "cas");
  uint32_t operands = 2u + has_result + cas;
  if (!expect_operands(fn, instr, operands, operands + 1)) return false;
  const PtxOperand *list = instr->operands + has_result;
  if (!read_address(fn, &list[0], atomic.form.space, &atomic.address)) return false;
  if (!find_atomic(fn, atomic.address.space, operation, atomic.form.type, &atomic.op)) return unsupported(fn, instr);
  const PtxOperand *d = has_result ? &instr->operands[0] : NULL;
  settle_address(fn, &atomic.address);
  if (atomic.form.vector == 1) return emit_atomic(fn, &atomic, d, &list[1], cas ? &list[2] : NULL);
  // Vectors are atomic element by element only.
  if (list[1].kind != PTX_VECTOR || list[1].item_count != atomic.form.vector || (d && d->kind != PTX_VECTOR)) return unsupported(fn, instr);
  for (uint32_t i = 0; i < list[1].item_count; i++) {
    if (!emit_atomic(fn, &atomic, d ? &d->items[i] : NULL, &list[1].items[i], NULL)) return false;
    address_move(&atomic.address, ptx_type_bits(atomic.form.type) / 8);
    settle_address(fn, &atomic.address);
  }
  return true;
}

bool lower_atom(Fn *fn, const PtxInstr *instr) { return lower_atomic(fn, instr, true); }

// red, and red.async [address], value {, [mbarrier]}, which is made at once.
bool lower_red(Fn *fn, const PtxInstr *instr) {
  if (counts_at_barrier(instr) && !expect_operands(fn, instr, 3, 3)) return false;
  return lower_atomic(fn, instr, false) && count_at_barrier(fn, instr, ptx_type_bits(last_type(instr)) / 8);
}

// ---- Fences ------------------------------------------------------------------------------------
bool lower_fence(Fn *fn, const PtxInstr *instr) {
  if (!expect_operands(fn, instr, 0, 2)) return false;
  Op op = OP_MEMBAR_GL;
  if (has_part(instr, "cta")) op = OP_MEMBAR_CTA;
  if (has_part(instr, "sys")) op = OP_MEMBAR_SYS;
  (void)emit_guarded(fn, op);
  return true;
}

// ---- Hints -------------------------------------------------------------------------------------
bool lower_hint(Fn *fn, const PtxInstr *instr) {
  (void)fn;
  (void)instr;
  return true;
}

// A cache policy is a number that only hints use.
bool lower_createpolicy(Fn *fn, const PtxInstr *instr) {
  Vref d;
  Value zero = value_of_bits(0);
  if (instr->operand_count < 1) return expect_operands(fn, instr, 1, 4);
  if (!write_register(fn, &instr->operands[0], 2, &d)) return false;
  move_value(fn, true, d, 2, &zero);
  return true;
}
