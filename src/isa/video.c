// Bodies of the video instructions. Values are widened to 64 bits (128 where a shift or product
// needs it), so nothing overflows before the clamp; results are cut to 32 bits at the end.
// Source: PTX ISA manual, "Scalar Video Instructions" and "SIMD Video Instructions".
#include "isa/video.h"

__extension__ typedef __int128 Wide;

static int64_t extend(uint32_t value, unsigned bits, bool is_signed) {
  uint32_t top = 1u << (bits - 1);
  uint32_t low = bits == 32 ? value : value & ((top << 1) - 1);
  return is_signed && (low & top) ? (int64_t)low - ((int64_t)top << 1) : (int64_t)low;
}

static Wide clamp(Wide value, unsigned bits, bool is_signed) {
  Wide low = is_signed ? -((Wide)1 << (bits - 1)) : 0;
  Wide high = is_signed ? ((Wide)1 << (bits - 1)) - 1 : ((Wide)1 << bits) - 1;
  return value < low ? low : value > high ? high : value;
}

static unsigned part_bits(unsigned part) { return part == VIDEO_WHOLE || part > VIDEO_H1 ? 32 : part >= VIDEO_H0 ? 16 : 8; }
static unsigned part_shift(unsigned part) {
  return part_bits(part) == 32 ? 0 : part >= VIDEO_H0 ? 16 * (part - VIDEO_H0) : 8 * (part - VIDEO_B0);
}
static int64_t take_part(uint32_t value, unsigned part, bool is_signed) {
  return extend(value >> part_shift(part), part_bits(part), is_signed);
}

static bool compare(unsigned comparison, int64_t a, int64_t b) {
  switch (comparison) {
  case VIDEO_NE: return a != b;
  case VIDEO_LT: return a < b;
  case VIDEO_LE: return a <= b;
  case VIDEO_GT: return a > b;
  case VIDEO_GE: return a >= b;
  default: return a == b;
  }
}

// Shifts by more than 32 act like shifts by 32, or count modulo 32 when wrapping.
static Wide shift(VideoOperation operation, int64_t a, int64_t b, bool wrap) {
  unsigned amount = wrap ? (unsigned)b & 31 : (uint32_t)b > 32 ? 32 : (unsigned)b;
  if (operation == VIDEO_OP_SHL) return (Wide)a * ((Wide)1 << amount);
  return a >> amount;
}

static Wide combine(VideoOperation operation, int64_t a, int64_t b, uint32_t imm) {
  switch (operation) {
  case VIDEO_OP_ADD: return (Wide)a + b;
  case VIDEO_OP_SUB: return (Wide)a - b;
  case VIDEO_OP_ABSDIFF: return a > b ? (Wide)a - b : (Wide)b - a;
  case VIDEO_OP_MIN: return a < b ? a : b;
  case VIDEO_OP_MAX: return a > b ? a : b;
  case VIDEO_OP_AVERAGE: return (a + b + (a + b >= 0)) >> 1; // halves round away from zero
  case VIDEO_OP_SHL:
  case VIDEO_OP_SHR: return shift(operation, a, b, imm & VIDEO_WRAP);
  case VIDEO_OP_SET: return compare((imm >> VIDEO_COMPARE) & 7, a, b);
  default: return compare((unsigned)operation - VIDEO_OP_SET_EQ, a, b);
  }
}

static uint32_t secondary(unsigned operation, uint32_t value, uint32_t c, bool is_signed) {
  bool less = is_signed ? (int32_t)value < (int32_t)c : value < c;
  switch (operation) {
  case VIDEO_ADD: return value + c;
  case VIDEO_MIN: return less ? value : c;
  case VIDEO_MAX: return less ? c : value;
  default: return value;
  }
}

uint32_t video_scalar(VideoOperation operation, uint32_t a, uint32_t b, uint32_t c, uint32_t imm, bool saturate) {
  bool d_signed = imm & VIDEO_D_SIGNED;
  unsigned d_part = (imm >> VIDEO_D_PART) & 7, bits = part_bits(d_part);
  int64_t wide_a = take_part(a, (imm >> VIDEO_A_PART) & 7, imm & VIDEO_A_SIGNED);
  int64_t wide_b = take_part(b, (imm >> VIDEO_B_PART) & 7, imm & VIDEO_B_SIGNED);
  Wide wide = combine(operation, wide_a, wide_b, imm);
  uint32_t value = (uint32_t)(saturate ? clamp(wide, bits, d_signed) : wide);
  if (bits == 32) return secondary((imm >> VIDEO_SECONDARY) & 3, value, c, d_signed);
  uint32_t mask = ((1u << bits) - 1) << part_shift(d_part);
  return (c & ~mask) | (value << part_shift(d_part) & mask);
}

uint32_t video_multiply(uint32_t a, uint32_t b, uint32_t c, uint32_t imm, bool saturate) {
  static const uint8_t scales[4] = {0, 7, 15, 0};
  bool negate_product = imm & VIDEO_NEGATE_PRODUCT, negate_c = imm & VIDEO_NEGATE_C;
  bool is_signed = (imm & (VIDEO_A_SIGNED | VIDEO_B_SIGNED)) || negate_product || negate_c;
  Wide sum =
      (Wide)take_part(a, (imm >> VIDEO_A_PART) & 7, imm & VIDEO_A_SIGNED) * take_part(b, (imm >> VIDEO_B_PART) & 7, imm & VIDEO_B_SIGNED);
  if (imm & VIDEO_PLUS_ONE) {
    sum += 1;
  } else if (negate_product) {
    sum = -sum;
  } else if (negate_c) {
    c = ~c;
    sum += 1;
  }
  sum += extend(c, 32, is_signed);
  sum >>= scales[(imm >> VIDEO_SCALE) & 3];
  return (uint32_t)(saturate ? clamp(sum, 32, is_signed) : sum);
}

// Lane i of the eight bytes or four halves of b:a that the selectors name.
static int64_t take_lane(uint32_t a, uint32_t b, unsigned selector, unsigned lanes, bool is_signed) {
  unsigned bits = 32 / lanes;
  uint32_t from = selector & lanes ? b : a;
  return extend(from >> (selector & (lanes - 1)) * bits, bits, is_signed);
}

uint32_t video_simd(VideoOperation operation, unsigned lanes, uint32_t a, uint32_t b, uint32_t c, uint32_t imm, bool saturate) {
  bool d_signed = imm & VIDEO_D_SIGNED;
  unsigned bits = 32 / lanes;
  uint32_t d = c;
  for (unsigned i = 0; i < lanes; i++) {
    if (!(imm >> (VIDEO_MASK + i) & 1)) continue;
    int64_t wide_a = take_lane(a, b, imm >> (VIDEO_A_LANES + 3 * i), lanes, imm & VIDEO_A_SIGNED);
    int64_t wide_b = take_lane(a, b, imm >> (VIDEO_B_LANES + 3 * i), lanes, imm & VIDEO_B_SIGNED);
    Wide wide = combine(operation, wide_a, wide_b, imm);
    uint32_t value = (uint32_t)(saturate ? clamp(wide, bits, d_signed) : wide);
    uint32_t mask = ((1u << bits) - 1) << i * bits;
    d = imm & VIDEO_ACCUMULATE ? d + value : (d & ~mask) | (value << i * bits & mask);
  }
  return d;
}
