// Tolerances of outputs: as text, and which elements they accept. Numbers by hand: 1.0f + 8 * 2^-23 is off by 9.5367e-7.
#include "campaign/tolerance.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

typedef struct TextCase {
  const char *given, *kept; // kept NULL: refused
} TextCase;

static const TextCase texts[] = {
    {"c:f32:rel=1e-6", "c:f32:rel=9.9999999999999995e-07\n"},
    {"c:rel=0.5", "c:rel=0.5\n"},
    {"dir/a:b:abs=2", "dir/a:b:abs=2\n"}, // names may have colons
    {"dir/a:b:f64:abs=2", "dir/a:b:f64:abs=2\n"},
    {"c:abs=0", "c:abs=0\n"},
    {"c:f32", NULL},
    {"c", NULL},
    {":rel=1", NULL},
    {":f32:rel=1", NULL},
    {"c:rel=", NULL},
    {"c:rel=-1", NULL},
    {"c:rel=1x", NULL},
    {"c:rel=inf", NULL},
    {"c:abs=nan", NULL},
};

static void as_text(void **state) {
  (void)state;
  Arena *arena = arena_new();
  for (size_t i = 0; i < COUNT_OF(texts); i++) {
    OutputTolerances one = {0}, again = {0};
    const char *wrong = tolerance_add(&one, arena, texts[i].given);
    if ((wrong == NULL) != (texts[i].kept != NULL)) fail_msg("%s: %s", texts[i].given, wrong == NULL ? "taken" : wrong);
    if (wrong != NULL) continue;
    const char *kept = tolerances_text(&one, arena);
    assert_string_equal(kept, texts[i].kept);
    assert_null(tolerance_add(&again, arena, arena_copy_text(arena, kept, strlen(kept) - 1)));
    assert_string_equal(tolerances_text(&again, arena), kept);
  }
  OutputTolerances twice = {0};
  assert_null(tolerance_add(&twice, arena, "a:rel=1"));
  assert_non_null(tolerance_add(&twice, arena, "a:u8:abs=1"));
  assert_null(tolerance_of(&twice, "b"));
  assert_non_null(tolerance_of(&twice, "a"));
  arena_free(arena);
}

typedef struct Element {
  ElementType type;
  bool is_relative;
  double bound;
  uint64_t golden, got; // bits
  bool is_good;
} Element;

static const Element elements[] = {
    {ELEMENT_F32, true, 9.54e-7, 0x3f800000, 0x3f800008, true},
    {ELEMENT_F32, true, 9.53e-7, 0x3f800000, 0x3f800008, false},
    {ELEMENT_F32, false, 9.54e-7, 0x3f800000, 0x3f800008, true},
    {ELEMENT_F32, false, 9.53e-7, 0x3f800000, 0x3f800008, false},
    {ELEMENT_F32, true, 9.54e-7, 0xbf800000, 0xbf800008, true}, // of the size
    {ELEMENT_F32, true, 1, 0x3f800000, 0xbf800000, false},      // -1 for 1 is off by 2
    {ELEMENT_F32, false, 0, 0x3f800000, 0x3f800001, false},     // 0: every bit counts
    {ELEMENT_F32, false, 0, 0x00000000, 0x80000000, false},     // also that of a zero
    {ELEMENT_F32, true, 1e-9, 0x00000000, 0x80000000, true},    // which is off by nothing
    {ELEMENT_F32, true, 1e9, 0x00000000, 0x00000001, false},    // relative to 0: nothing but 0
    {ELEMENT_F32, false, 1e300, 0x3f800000, 0x7f800000, false}, // infinity
    {ELEMENT_F32, false, 1e300, 0x3f800000, 0x7fc00000, false}, // NaN
    {ELEMENT_F32, false, 1e300, 0x7fc00000, 0x3f800000, false}, // where one should be, too
    {ELEMENT_F32, true, 1e300, 0x7f800000, 0x7f7fffff, false},
    {ELEMENT_F32, false, 0, 0x7fc00000, 0x7fc00000, true}, // but what is the same is right
    {ELEMENT_F16, false, 0.001, 0x3c00, 0x3c01, true},     // 2^-10
    {ELEMENT_F16, false, 0.0009, 0x3c00, 0x3c01, false},
    {ELEMENT_F16, false, 1e300, 0x3c00, 0x7c00, false},
    {ELEMENT_BF16, false, 0.0078125, 0x3f80, 0x3f81, true}, // 2^-7
    {ELEMENT_BF16, false, 0.0078, 0x3f80, 0x3f81, false},
    {ELEMENT_F64, true, 2.3e-16, 0x3ff0000000000000, 0x3ff0000000000001, true}, // 2.22e-16
    {ELEMENT_F64, true, 2.2e-16, 0x3ff0000000000000, 0x3ff0000000000001, false},
    {ELEMENT_U8, false, 255, 0, 255, true},
    {ELEMENT_U8, false, 254, 0, 255, false},
    {ELEMENT_S8, false, 1, 0, 0xff, true}, // -1
    {ELEMENT_S8, false, 254, 0x80, 0x7f, false},
    {ELEMENT_S32, false, 3, 0xfffffffe, 1, true},
    {ELEMENT_S32, false, 2, 0xfffffffe, 1, false},
    {ELEMENT_U64, false, 1, 0xffffffffffffffff, 0xfffffffffffffffe, true}, // doubles could not tell them apart
    {ELEMENT_U64, false, 1, 0xffffffffffffffff, 0xfffffffffffffffd, false},
    {ELEMENT_S64, false, 1e300, 0x8000000000000000, 0x7fffffffffffffff, true},
    {ELEMENT_S64, true, 1, 0x8000000000000000, 0x7fffffffffffffff, false}, // off by 2^64, of 2^63
};

static void of_elements(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(elements); i++) {
    const Element *at = &elements[i];
    OutputTolerance tolerance = {.type = at->type, .is_relative = at->is_relative, .bound = at->bound};
    if (tolerance_accepts(&tolerance, (const uint8_t *)&at->golden, (const uint8_t *)&at->got, element_bytes(at->type)) != at->is_good)
      fail_msg("case %zu is judged otherwise", i);
  }
}

// One that is off too far makes all wrong, wherever it is; and so does half an element.
static void of_several(void **state) {
  (void)state;
  OutputTolerance tolerance = {.type = ELEMENT_U16, .bound = 2};
  for (uint32_t bad = 0; bad <= 5; bad++) {
    uint16_t golden[5] = {10, 20, 30, 40, 50}, got[5] = {11, 18, 30, 42, 49};
    if (bad < 5) got[bad] = (uint16_t)(golden[bad] + 3);
    assert_int_equal(tolerance_accepts(&tolerance, (uint8_t *)golden, (uint8_t *)got, sizeof got), bad == 5);
    assert_false(tolerance_accepts(&tolerance, (uint8_t *)golden, (uint8_t *)got, sizeof got - 1));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(as_text), cmocka_unit_test(of_elements), cmocka_unit_test(of_several)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
