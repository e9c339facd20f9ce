// Numbers of the types that --arg and --dump know: parsed from text, made from doubles, printed.
// Every conversion rounds once, to nearest even.
#include "cli/run.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

const Element elements[] = {
    {"u8", KIND_OF_UNSIGNED, 1, false},  {"s8", KIND_OF_SIGNED, 1, false},  {"b8", KIND_OF_BITS, 1, false},
    {"u16", KIND_OF_UNSIGNED, 2, false}, {"s16", KIND_OF_SIGNED, 2, false}, {"b16", KIND_OF_BITS, 2, false},
    {"u32", KIND_OF_UNSIGNED, 4, false}, {"s32", KIND_OF_SIGNED, 4, false}, {"b32", KIND_OF_BITS, 4, false},
    {"u64", KIND_OF_UNSIGNED, 8, false}, {"s64", KIND_OF_SIGNED, 8, false}, {"b64", KIND_OF_BITS, 8, false},
    {"f16", KIND_OF_FLOAT, 2, false},    {"bf16", KIND_OF_FLOAT, 2, true},  {"f32", KIND_OF_FLOAT, 4, false},
    {"f64", KIND_OF_FLOAT, 8, false},
};
const uint32_t element_count = COUNT_OF(elements);

const Element *element_find(Slice name) {
  for (uint32_t i = 0; i < element_count; i++) {
    if (slice_is(name, elements[i].name)) return &elements[i];
  }
  return NULL;
}

// A double as a binary float of `exponent_bits` and `fraction_bits` (16 bits in all), to nearest even.
static uint16_t narrow(double value, int exponent_bits, int fraction_bits) {
  uint64_t bits = bits_of_f64(value);
  uint16_t sign = (uint16_t)(bits >> 63 << 15);
  uint16_t infinity = (uint16_t)(((1 << exponent_bits) - 1) << fraction_bits);
  int exponent = (int)(bits >> 52 & 0x7FF);
  uint64_t fraction = bits & ((UINT64_C(1) << 52) - 1);
  if (exponent == 0x7FF) return (uint16_t)(sign | infinity | (fraction != 0 ? 1 << (fraction_bits - 1) : 0));
  if (exponent == 0) return sign; // far below the smallest subnormal
  int bias = (1 << (exponent_bits - 1)) - 1;
  int target = exponent - 1023 + bias; // biased exponent there
  if (target >= (1 << exponent_bits) - 1) return (uint16_t)(sign | infinity);
  uint64_t significand = fraction | UINT64_C(1) << 52;
  int shift = 52 - fraction_bits + (target < 1 ? 1 - target : 0);
  if (shift > 54) return sign;
  uint64_t kept = significand >> shift, rest = significand & ((UINT64_C(1) << shift) - 1), half = UINT64_C(1) << (shift - 1);
  if (rest > half || (rest == half && (kept & 1) != 0)) kept++;
  // A carry out of the fraction runs into the exponent, which is what it should do.
  uint64_t result = target < 1 ? kept : kept + ((uint64_t)(target - 1) << fraction_bits);
  return (uint16_t)(sign | result);
}

// The inverse; exact.
static double widen(uint16_t bits, int exponent_bits, int fraction_bits) {
  uint64_t sign = (uint64_t)(bits >> 15) << 63;
  uint64_t exponent = (uint64_t)(bits >> fraction_bits) & ((1u << exponent_bits) - 1);
  uint64_t fraction = bits & ((1u << fraction_bits) - 1);
  uint64_t bias = (1u << (exponent_bits - 1)) - 1;
  if (exponent == (1u << exponent_bits) - 1) return f64_of(sign | UINT64_C(0x7FF) << 52 | fraction << (52 - fraction_bits));
  if (exponent == 0) {
    double scale = f64_of((1023 + 1 - bias - (uint64_t)fraction_bits) << 52);
    return (sign != 0 ? -1.0 : 1.0) * (double)fraction * scale;
  }
  return f64_of(sign | (exponent - bias + 1023) << 52 | fraction << (52 - fraction_bits));
}

uint64_t element_from_double(const Element *element, double value) {
  if (element->bytes == 8) return bits_of_f64(value);
  if (element->bytes == 4) return bits_of_f32((float)value);
  return element->brain ? narrow(value, 8, 7) : narrow(value, 5, 10);
}

static bool parse_float(const Element *element, const char *text, uint64_t *bits) {
  char *end;
  if (element->bytes == 4) { // rounded once, from the text
    *bits = bits_of_f32(strtof(text, &end));
  } else {
    *bits = element_from_double(element, strtod(text, &end));
  }
  return end != text && *end == '\0';
}

bool element_parse(const Element *element, Slice slice, uint64_t *bits) {
  char text[128];
  if (slice.length == 0 || slice.length >= sizeof text) return false;
  memcpy(text, slice.at, slice.length);
  text[slice.length] = '\0';
  if (element->kind == KIND_OF_FLOAT) return parse_float(element, text, bits);
  bool negative = text[0] == '-';
  const char *digits = text + negative;
  if (digits[0] < '0' || digits[0] > '9' || (negative && element->kind == KIND_OF_UNSIGNED)) return false;
  char *end;
  errno = 0;
  bool hexadecimal = digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
  uint64_t magnitude = strtoull(digits, &end, hexadecimal ? 16 : 10);
  if (errno != 0 || *end != '\0') return false;
  uint64_t all = UINT64_MAX >> (64 - 8 * element->bytes), top = all / 2 + 1;
  bool is_signed = element->kind == KIND_OF_SIGNED && !hexadecimal; // 0xff is also a fine s8
  if (negative ? magnitude > top : magnitude > (is_signed ? top - 1 : all)) return false;
  *bits = (negative ? 0 - magnitude : magnitude) & all;
  return true;
}

static void format_float(const Element *element, uint64_t bits, Text *out) {
  if (element->bytes == 8) {
    text_add(out, "%.17g", f64_of(bits));
  } else if (element->bytes == 4) {
    text_add(out, "%.9g", (double)f32_of((uint32_t)bits));
  } else if (element->brain) {
    text_add(out, "%.4g", widen((uint16_t)bits, 8, 7));
  } else {
    text_add(out, "%.5g", widen((uint16_t)bits, 5, 10));
  }
}

void element_format(const Element *element, const void *at, Text *out) {
  uint64_t bits = 0;
  memcpy(&bits, at, element->bytes);
  unsigned unused = 64 - 8u * element->bytes;
  switch (element->kind) {
  case KIND_OF_UNSIGNED: text_add(out, "%" PRIu64, bits); break;
  case KIND_OF_SIGNED: {
    uint64_t sign = UINT64_C(1) << (63 - unused);
    text_add(out, "%" PRId64, (int64_t)((bits ^ sign) - sign));
    break;
  }
  case KIND_OF_BITS: text_add(out, "0x%0*" PRIx64, 2 * element->bytes, bits); break;
  case KIND_OF_FLOAT: format_float(element, bits, out); break;
  }
}
