// Bodies of integer and logic rows that do not fit in an expression. Pure, total, free of
// undefined behaviour; branch-free where that lets loops over lanes vectorise.
// Source: PTX ISA manual, "Integer Arithmetic", "Extended-Precision Integer Arithmetic", "Logic and
// Shift", "Data Movement" (prmt) instructions.
#ifndef REDOUBT_ISA_INTEGER_H
#define REDOUBT_ISA_INTEGER_H

#include "isa/isa.h"

// ---- Saturation: operands and result are s32 bits --------------------------------------------------
static inline uint32_t add_sat_s32(uint32_t a, uint32_t b) {
  const uint32_t sum = a + b, limit = 0x7FFFFFFF + (a >> 31);
  return (~(a ^ b) & (a ^ sum)) >> 31 ? limit : sum;
}
static inline uint32_t sub_sat_s32(uint32_t a, uint32_t b) {
  const uint32_t difference = a - b, limit = 0x7FFFFFFF + (a >> 31);
  return ((a ^ b) & (a ^ difference)) >> 31 ? limit : difference;
}

// ---- Products ----------------------------------------------------------------------------------------
static inline uint32_t mul_hi_u32(uint32_t a, uint32_t b) { return (uint32_t)((uint64_t)a * b >> 32); }
static inline uint32_t mul_hi_s32(int32_t a, int32_t b) { return (uint32_t)((uint64_t)((int64_t)a * b) >> 32); }
static inline uint64_t mul_hi_u64(uint64_t a, uint64_t b) { return (uint64_t)((unsigned __int128)a * b >> 64); }
static inline uint64_t mul_hi_s64(int64_t a, int64_t b) { return (uint64_t)((unsigned __int128)((__int128)a * b) >> 64); }

static inline uint64_t mul24_u32(uint32_t a, uint32_t b) { return (uint64_t)(a & 0xFFFFFF) * (b & 0xFFFFFF); }
static inline int64_t sign_extend_24(uint32_t a) { return (int64_t)((int32_t)(a << 8) >> 8); }
static inline uint64_t mul24_s32(uint32_t a, uint32_t b) { return (uint64_t)(sign_extend_24(a) * sign_extend_24(b)); }

// ---- Division ------------------------------------------------------------------------------------------
// 32-bit quotients by double division, which vectorises: a / b that is no integer is at least
// 1 / (q * b) > 2^-33 away from one, relatively, so rounding to 53 bits cannot reach it.
static inline uint32_t div_u32(uint32_t a, uint32_t b) {
  const uint32_t quotient = (uint32_t)((double)a / (double)(b + (b == 0)));
  return b == 0 ? 0xFFFFFFFF : quotient;
}
static inline int32_t div_s32(int32_t a, int32_t b) {
  const bool overflows = a == INT32_MIN && b == -1;
  const int32_t divisor = b == 0 || overflows ? 1 : b; // INT_MIN / 1 is what INT_MIN / -1 wraps to
  const int32_t quotient = (int32_t)((double)a / (double)divisor);
  return b == 0 ? -1 : quotient;
}
static inline uint32_t rem_u32(uint32_t a, uint32_t b) { return b == 0 ? 0xFFFFFFFF : a - div_u32(a, b) * b; }
static inline int32_t rem_s32(int32_t a, int32_t b) { return b == 0 ? -1 : (int32_t)((uint32_t)a - (uint32_t)div_s32(a, b) * (uint32_t)b); }
static inline uint64_t div_u64(uint64_t a, uint64_t b) { return b == 0 ? UINT64_MAX : a / b; }
static inline int64_t div_s64(int64_t a, int64_t b) { return b == 0 ? -1 : a == INT64_MIN && b == -1 ? a : a / b; }
static inline uint64_t rem_u64(uint64_t a, uint64_t b) { return b == 0 ? UINT64_MAX : a % b; }
static inline int64_t rem_s64(int64_t a, int64_t b) { return b == 0 ? -1 : b == -1 ? 0 : a % b; }

// ---- Two halves ----------------------------------------------------------------------------------------
static inline uint32_t add_b16x2(uint32_t a, uint32_t b) { return ((a + b) & 0xFFFF) | ((a & 0xFFFF0000) + (b & 0xFFFF0000)); }
#define EACH_HALF(name, Half, chosen)                            \
  static inline uint32_t name(uint32_t x, uint32_t y) {          \
    uint32_t result = 0;                                         \
    for (unsigned shift = 0; shift < 32; shift += 16) {          \
      const Half a = (Half)(x >> shift), b = (Half)(y >> shift); \
      result |= (uint32_t)(uint16_t)(chosen) << shift;           \
    }                                                            \
    return result;                                               \
  }
EACH_HALF(min_u16x2, uint16_t, a < b ? a : b)
EACH_HALF(max_u16x2, uint16_t, a > b ? a : b)
EACH_HALF(min_s16x2, int16_t, a < b ? a : b)
EACH_HALF(max_s16x2, int16_t, a > b ? a : b)
#undef EACH_HALF

// ---- Bits ------------------------------------------------------------------------------------------------
static inline uint32_t leading_zeros_u32(uint32_t a) { return a == 0 ? 32 : (uint32_t)__builtin_clz(a); }
static inline uint32_t leading_zeros_u64(uint64_t a) { return a == 0 ? 64 : (uint32_t)__builtin_clzll(a); }
static inline uint32_t unsigned_part_s32(int32_t a) { return a < 0 ? ~(uint32_t)a : (uint32_t)a; }
static inline uint64_t unsigned_part_s64(int64_t a) { return a < 0 ? ~(uint64_t)a : (uint64_t)a; }
static inline uint32_t shift_amount(uint32_t zeros, uint32_t bits) { return zeros == bits ? 0xFFFFFFFF : zeros; }

static inline uint32_t reverse_u32(uint32_t a) {
  a = (a >> 1 & 0x55555555) | (a & 0x55555555) << 1;
  a = (a >> 2 & 0x33333333) | (a & 0x33333333) << 2;
  a = (a >> 4 & 0x0F0F0F0F) | (a & 0x0F0F0F0F) << 4;
  return __builtin_bswap32(a);
}
static inline uint64_t reverse_u64(uint64_t a) { return (uint64_t)reverse_u32((uint32_t)a) << 32 | reverse_u32((uint32_t)(a >> 32)); }

// The low n bits set, n up to the width and beyond.
static inline uint32_t ones_u32(uint32_t n) { return n > 31 ? ~0u : (1u << (n & 31)) - 1; }
static inline uint64_t ones_u64(uint32_t n) { return n > 63 ? ~UINT64_C(0) : (UINT64_C(1) << (n & 63)) - 1; }

// bfe: position and length count modulo 256; bits past the top are zeros or the field's sign,
// which is its highest bit that exists; a field of length 0 is 0.
static inline uint32_t extract_u32(uint32_t a, uint32_t position, uint32_t length) {
  position &= 0xFF;
  return (position > 31 ? 0 : a >> (position & 31)) & ones_u32(length & 0xFF);
}
static inline uint64_t extract_u64(uint64_t a, uint32_t position, uint32_t length) {
  position &= 0xFF;
  return (position > 63 ? 0 : a >> (position & 63)) & ones_u64(length & 0xFF);
}
static inline uint32_t extract_s32(uint32_t a, uint32_t position, uint32_t length) {
  position &= 0xFF, length &= 0xFF;
  const uint32_t top = min_u32(position + length - 1, 31);
  const uint32_t sign = length != 0 && (a >> (top & 31) & 1) ? ~0u : 0;
  const uint32_t width = position > 31 ? 0 : min_u32(length, 32 - position);
  return extract_u32(a, position, width) | (sign & ~ones_u32(width));
}
static inline uint64_t extract_s64(uint64_t a, uint32_t position, uint32_t length) {
  position &= 0xFF, length &= 0xFF;
  const uint32_t top = min_u32(position + length - 1, 63);
  const uint64_t sign = length != 0 && (a >> (top & 63) & 1) ? ~UINT64_C(0) : 0;
  const uint32_t width = position > 63 ? 0 : min_u32(length, 64 - position);
  return extract_u64(a, position, width) | (sign & ~ones_u64(width));
}
static inline uint32_t insert_u32(uint32_t a, uint32_t b, uint32_t position, uint32_t length) {
  const uint32_t field = position > 31 ? 0 : ones_u32(length) << (position & 31);
  return (b & ~field) | (a << (position & 31) & field);
}
static inline uint64_t insert_u64(uint64_t a, uint64_t b, uint32_t position, uint32_t length) {
  const uint64_t field = position > 63 ? 0 : ones_u64(length) << (position & 63);
  return (b & ~field) | (a << (position & 63) & field);
}
static inline uint32_t bit_mask(uint32_t position, uint32_t width) { return position > 31 ? 0 : ones_u32(width) << (position & 31); }

// fns: walks from bit `base` upwards (offset > 0) or downwards (offset < 0); offset 0 asks for `base` itself.
static inline uint32_t find_nth_set(uint32_t mask, uint32_t base, int32_t offset) {
  if (base > 31) return 0xFFFFFFFF;
  if (offset == 0) return mask >> base & 1 ? base : 0xFFFFFFFF;
  uint32_t count = offset < 0 ? 0u - (uint32_t)offset : (uint32_t)offset;
  for (int position = (int)base; position >= 0 && position<32; position += offset> 0 ? 1 : -1)
    if (mask >> position & 1 && --count == 0) return (uint32_t)position;
  return 0xFFFFFFFF;
}

// lop3: bit (a << 2 | b << 1 | c) of the table, for each bit position.
static inline uint32_t logic3(uint32_t a, uint32_t b, uint32_t c, uint32_t table) {
#define TABLE_BIT(i) (0u - (table >> (i)&1))
  const uint32_t not_a_not_b = (TABLE_BIT(1) & c) | (TABLE_BIT(0) & ~c), not_a_b = (TABLE_BIT(3) & c) | (TABLE_BIT(2) & ~c);
  const uint32_t a_not_b = (TABLE_BIT(5) & c) | (TABLE_BIT(4) & ~c), a_b = (TABLE_BIT(7) & c) | (TABLE_BIT(6) & ~c);
#undef TABLE_BIT
  return (a & ((b & a_b) | (~b & a_not_b))) | (~a & ((b & not_a_b) | (~b & not_a_not_b)));
}

// prmt: the special modes as selectors, one for each value of c & 3, lowest first.
#define BYTES_F4E UINT64_C(0x6543543243213210)
#define BYTES_B4E UINT64_C(0x0123701267015670)
#define BYTES_RC8 UINT64_C(0x3333222211110000)
#define BYTES_ECL UINT64_C(0x3333322232113210)
#define BYTES_ECR UINT64_C(0x3210221011100000)
#define BYTES_RC16 UINT64_C(0x3232101032321010)
static inline uint32_t permute_bytes(uint32_t a, uint32_t b, uint64_t selectors) {
  const uint64_t bytes = (uint64_t)b << 32 | a;
  uint32_t result = 0;
  for (unsigned i = 0; i < 4; i++) {
    const uint32_t selector = (uint32_t)(selectors >> 4 * i) & 15;
    const uint32_t byte = (uint32_t)(bytes >> 8 * (selector & 7)) & 0xFF;
    const uint32_t sign = byte >> 7 ? 0xFF : 0;
    result |= (selector & 8 ? sign : byte) << 8 * i;
  }
  return result;
}

// ---- Dot products: sums modulo 2^32 ------------------------------------------------------------------------
static inline uint32_t byte_of(uint32_t value, unsigned i, bool is_signed) {
  const uint8_t byte = (uint8_t)(value >> 8 * i);
  return is_signed ? (uint32_t)(int32_t)(int8_t)byte : byte;
}
static inline uint32_t dot4(uint32_t a, bool a_signed, uint32_t b, bool b_signed) {
  uint32_t sum = 0;
  for (unsigned i = 0; i < 4; i++) sum += byte_of(a, i, a_signed) * byte_of(b, i, b_signed);
  return sum;
}
static inline uint32_t dot2(uint32_t a, bool a_signed, uint32_t b, bool b_signed) {
  const uint32_t low = a_signed ? (uint32_t)(int32_t)(int16_t)a : a & 0xFFFF;
  const uint32_t high = a_signed ? (uint32_t)((int32_t)a >> 16) : a >> 16;
  return low * byte_of(b, 0, b_signed) + high * byte_of(b, 1, b_signed);
}

#endif
