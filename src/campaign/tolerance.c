// See tolerance.h.
#include "campaign/tolerance.h"
#include "isa/float_half.h"

#include <math.h>
#include <stdlib.h>

// ---- As text ---------------------------------------------------------------------------------------

static bool find_type(const char *text, size_t length, ElementType *type) {
  for (uint32_t i = 0; i < ELEMENT_COUNT; i++) {
    const char *name = element_names[i];
    if (strlen(name) != length || strncmp(name, text, length) != 0) continue;
    *type = (ElementType)i;
    return true;
  }
  return false;
}

static const char *take_bound(OutputTolerance *tolerance, const char *text) {
  char *end;
  tolerance->is_relative = strncmp(text, "rel=", 4) == 0;
  if (!tolerance->is_relative && strncmp(text, "abs=", 4) != 0) return "must end with rel=X or abs=X, as in c:f32:rel=1e-6";
  tolerance->bound = strtod(text + 4, &end);
  if (text[4] == '\0' || *end != '\0' || !isfinite(tolerance->bound) || tolerance->bound < 0)
    return "rel= and abs= take a number that is finite and not negative";
  return NULL;
}

const char *tolerance_add(OutputTolerances *tolerances, Arena *arena, const char *text) {
  OutputTolerance tolerance = {0};
  const char *last = strrchr(text, ':');
  if (last == NULL || last == text) return "must be BUFFER:TYPE:rel=X or BUFFER:TYPE:abs=X";
  const char *wrong = take_bound(&tolerance, last + 1);
  if (wrong != NULL) return wrong;
  size_t length = (size_t)(last - text);
  const char *colon = memrchr(text, ':', length);
  if (colon != NULL && !find_type(colon + 1, (size_t)(last - colon - 1), &tolerance.type)) colon = NULL;
  tolerance.has_type = colon != NULL;
  tolerance.name = arena_copy_text(arena, text, colon != NULL ? (size_t)(colon - text) : length);
  if (tolerance.name[0] == '\0') return "must begin with the name of an output";
  if (tolerance_of(tolerances, tolerance.name) != NULL) return "is the second one for that output";
  if (tolerances->count == MOST_TOLERANCES) return "is one too many: at most 16";
  tolerances->items[tolerances->count++] = tolerance;
  return NULL;
}

const OutputTolerance *tolerance_of(const OutputTolerances *tolerances, const char *name) {
  for (uint32_t i = 0; i < tolerances->count; i++) {
    if (strcmp(tolerances->items[i].name, name) == 0) return &tolerances->items[i];
  }
  return NULL;
}

const char *tolerances_text(const OutputTolerances *tolerances, Arena *arena) {
  const char *text = "";
  for (uint32_t i = 0; i < tolerances->count; i++) {
    const OutputTolerance *at = &tolerances->items[i];
    text = arena_format(arena, "%s%s%s%s:%s=%.17g\n", text, at->name, at->has_type ? ":" : "", at->has_type ? element_names[at->type] : "",
                        at->is_relative ? "rel" : "abs", at->bound);
  }
  return text;
}

// ---- Elements ------------------------------------------------------------------------------------------

static uint64_t bits_of(ElementType type, const uint8_t *bytes) {
  uint64_t bits = 0;
  memcpy(&bits, bytes, element_bytes(type));
  return bits;
}

double element_number(ElementType type, const uint8_t *bytes) {
  uint64_t bits = bits_of(type, bytes);
  switch (type) {
  case ELEMENT_F16: return (double)f16_to_f32((uint16_t)bits);
  case ELEMENT_BF16: return (double)bf16_to_f32((uint16_t)bits);
  case ELEMENT_F32: return (double)f32_of((uint32_t)bits);
  case ELEMENT_F64: return f64_of(bits);
  case ELEMENT_S8: return (double)(int8_t)bits;
  case ELEMENT_S16: return (double)(int16_t)bits;
  case ELEMENT_S32: return (double)(int32_t)bits;
  case ELEMENT_S64: return (double)(int64_t)bits;
  default: return (double)bits;
  }
}

static bool is_signed(ElementType type) { return type == ELEMENT_S8 || type == ELEMENT_S16 || type == ELEMENT_S32 || type == ELEMENT_S64; }
static bool is_float(ElementType type) { return type == ELEMENT_F16 || type == ELEMENT_BF16 || type == ELEMENT_F32 || type == ELEMENT_F64; }

// Of integers all digits count: as numbers, large ones would seem alike.
static double distance(ElementType type, const uint8_t *golden, const uint8_t *got) {
  if (is_float(type)) return fabs(element_number(type, got) - element_number(type, golden));
  uint64_t a = bits_of(type, golden), b = bits_of(type, got);
  unsigned spare = 64 - 8 * element_bytes(type);
  if (is_signed(type)) { // sign-extended, and then as unsigned numbers in the same order
    a = (uint64_t)((int64_t)(a << spare) >> spare) ^ UINT64_C(1) << 63;
    b = (uint64_t)((int64_t)(b << spare) >> spare) ^ UINT64_C(1) << 63;
  }
  return (double)(a > b ? a - b : b - a);
}

static bool accepts_element(const OutputTolerance *tolerance, const uint8_t *golden, const uint8_t *got) {
  if (memcmp(golden, got, element_bytes(tolerance->type)) == 0) return true;
  double right = element_number(tolerance->type, golden), off = distance(tolerance->type, golden, got);
  if (tolerance->bound <= 0 || !isfinite(right) || !isfinite(element_number(tolerance->type, got))) return false;
  return off <= (tolerance->is_relative ? tolerance->bound * fabs(right) : tolerance->bound);
}

bool tolerance_accepts(const OutputTolerance *tolerance, const uint8_t *golden, const uint8_t *got, uint64_t bytes) {
  uint32_t size = element_bytes(tolerance->type);
  bool good = bytes % size == 0;
  for (uint64_t at = 0; at < bytes && good; at += size) good = accepts_element(tolerance, golden + at, got + at);
  return good;
}
