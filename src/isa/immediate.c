// Immediates: how 32 bits in an instruction stand for a value of the operand's type.
// 64-bit integers sign-extend, f64 takes the bits as its upper half, narrow types take the low bits.
#include "isa/isa.h"

uint64_t imm_value(TypeId type, uint32_t imm) {
  if (type == TYPE_f64) return (uint64_t)imm << 32;
  if (type_info[type].bits == 64) return (uint64_t)(int64_t)(int32_t)imm;
  if (type_info[type].bits >= 32) return imm;
  return imm & ((1u << type_info[type].bits) - 1);
}

bool imm_fits(TypeId type, uint64_t value, uint32_t *imm) {
  unsigned bits = type_info[type].bits;
  if (bits == 0 || bits > 64) return false;
  if (bits < 64) value &= (UINT64_C(1) << bits) - 1;
  uint32_t candidate = type == TYPE_f64 ? (uint32_t)(value >> 32) : (uint32_t)value;
  if (imm_value(type, candidate) != value) return false;
  *imm = candidate;
  return true;
}
