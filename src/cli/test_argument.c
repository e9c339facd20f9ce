// Unit tests of --arg: numbers of every type, arrays, generators, and what is refused.
#include "cli/run.h"

#include <setjmp.h>
#include <cmocka.h>

static const uint64_t MOST_BYTES = UINT64_C(1) << 38;

typedef struct NumberCase {
  const char *type, *text;
  uint64_t bits;
  bool refused;
  const char *printed; // NULL: as text
} NumberCase;

static const NumberCase number_cases[] = {
    {"u8", "255", 0xFF, false, NULL},
    {"u8", "256", 0, true, NULL},
    {"u8", "-1", 0, true, NULL},
    {"u8", "", 0, true, NULL},
    {"u8", "0x7f", 0x7F, false, "127"},
    {"u8", "7z", 0, true, NULL},
    {"s8", "-128", 0x80, false, NULL},
    {"s8", "-129", 0, true, NULL},
    {"s8", "127", 0x7F, false, NULL},
    {"s8", "128", 0, true, NULL},
    {"s8", "0xff", 0xFF, false, "-1"},
    {"b16", "-1", 0xFFFF, false, "0xffff"},
    {"s32", "-2147483648", 0x80000000, false, NULL},
    {"s32", "2147483648", 0, true, NULL},
    {"u32", "4294967295", 0xFFFFFFFF, false, NULL},
    {"u64", "18446744073709551615", UINT64_MAX, false, NULL},
    {"u64", "18446744073709551616", 0, true, NULL},
    {"s64", "-9223372036854775808", UINT64_C(1) << 63, false, NULL},
    {"s64", "9223372036854775808", 0, true, NULL},
    {"f32", "0.1", 0x3DCCCCCD, false, "0.100000001"},
    {"f32", "-0", 0x80000000, false, "-0"},
    {"f32", "inf", 0x7F800000, false, NULL},
    {"f32", "1e39", 0x7F800000, false, "inf"},
    {"f32", "abc", 0, true, NULL},
    // Rounded once: through a double, this would land on the halfway point and round down.
    {"f32", "1.00000005960464477540", 0x3F800001, false, "1.00000012"},
    {"f64", "0.1", UINT64_C(0x3FB999999999999A), false, "0.10000000000000001"},
    {"f16", "1", 0x3C00, false, NULL},
    {"f16", "65504", 0x7BFF, false, NULL},
    {"f16", "65519.99", 0x7BFF, false, "65504"},
    {"f16", "65520", 0x7C00, false, "inf"},
    {"f16", "1e300", 0x7C00, false, "inf"},
    {"f16", "-5.960464477539063e-08", 0x8001, false, "-5.9605e-08"},
    {"f16", "2.9802322387695312e-08", 0x0000, false, "0"}, // halfway, to even
    {"f16", "2.9802322387695317e-08", 0x0001, false, "5.9605e-08"},
    {"f16", "8.9406967163085938e-08", 0x0002, false, "1.1921e-07"}, // halfway, to even
    {"f16", "6.1035156e-05", 0x0400, false, "6.1035e-05"},          // rounds up into the normal range
    {"f16", "1.00048828125", 0x3C00, false, "1"},                   // halfway, to even
    {"f16", "1.00146484375", 0x3C02, false, "1.002"},               // halfway, to even
    {"f16", "1.99999", 0x4000, false, "2"},                         // carry into the exponent
    {"bf16", "1", 0x3F80, false, NULL},
    {"bf16", "3.3895314e38", 0x7F7F, false, "3.39e+38"},
    {"bf16", "3.4e38", 0x7F80, false, "inf"},
    {"bf16", "1e-40", 0x0001, false, "9.184e-41"},
    {"bf16", "-1e-45", 0x8000, false, "-0"},
};

static void numbers(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(number_cases); i++) {
    const NumberCase *test = &number_cases[i];
    const Element *element = element_find(slice_of(test->type));
    uint64_t bits = 0;
    bool ok = element_parse(element, slice_of(test->text), &bits);
    if (ok == test->refused || (ok && bits != test->bits)) {
      fail_msg("%s %s: %s, bits 0x%llx", test->type, test->text, ok ? "accepted" : "refused", (unsigned long long)bits);
    }
    if (!ok) continue;
    Text out = {0};
    element_format(element, &bits, &out);
    assert_string_equal(out.at, test->printed == NULL ? test->text : test->printed);
    text_free(&out);
  }
}

typedef struct ArgumentCase {
  const char *text;
  const char *name; // NULL: refused
  const char *type; // NULL for bytes
  bool is_array;
  uint64_t count;
  uint64_t first, last; // bits of the first and last element
} ArgumentCase;

static const ArgumentCase argument_cases[] = {
    {"u32:1024", "", "u32", false, 1, 1024, 1024},
    {"n:u32=5", "n", "u32", false, 1, 5, 5},
    {"u32=5", "", "u32", false, 1, 5, 5},
    {"x:f32=-1.5", "x", "f32", false, 1, 0xBFC00000, 0xBFC00000},
    {"bytes:00ff", "", NULL, false, 2, 0x00, 0xFF},
    {"s:bytes=0A0b0C", "s", NULL, false, 3, 0x0A, 0x0C},
    {"out:f32[1024]", "out", "f32", true, 1024, 0, 0},
    {"out:f32[8*4]", "out", "f32", true, 32, 0, 0},
    {"f32[3]", "", "f32", true, 3, 0, 0},
    {"big:f32[60000000000]=zeros", "big", "f32", true, UINT64_C(60000000000), 0, 0},
    {"in:f32[4]=ramp", "in", "f32", true, 4, 0, 0x40400000},
    {"in:u8[300]=ramp", "in", "u8", true, 300, 0, 299 - 256},
    {"in:s32[3]=ramp(10,-5)", "in", "s32", true, 3, 10, 0},
    {"in:f64[3]=ramp( 1 , 0.5 )", "in", "f64", true, 3, UINT64_C(0x3FF0000000000000), UINT64_C(0x4000000000000000)},
    {"in:f16[2]=ones", "in", "f16", true, 2, 0x3C00, 0x3C00},
    {"in:u16[2]=fill(7)", "in", "u16", true, 2, 7, 7},
    {"in:u32[]={1,2,3}", "in", "u32", true, 3, 1, 3},
    {"in:u32[4]={1, 2}", "in", "u32", true, 4, 1, 0},
    {"in:u32[5]=random(9,9)", "in", "u32", true, 5, 9, 9},
    {"in:s8[5]=random(-3,-3)", "in", "s8", true, 5, 0xFD, 0xFD},
    {"u32:f32[2]", "u32", "f32", true, 2, 0, 0}, // a name may look like a type
    // Refused:
    {"u32", NULL, NULL, false, 0, 0, 0},
    {"u32:", NULL, NULL, false, 0, 0, 0},
    {"u32:1.5", NULL, NULL, false, 0, 0, 0},
    {"n:u32", NULL, NULL, false, 0, 0, 0},
    {"n:u33=1", NULL, NULL, false, 0, 0, 0},
    {"", NULL, NULL, false, 0, 0, 0},
    {":", NULL, NULL, false, 0, 0, 0},
    {"=", NULL, NULL, false, 0, 0, 0},
    {"@", NULL, NULL, false, 0, 0, 0},
    {"bytes:0", NULL, NULL, false, 0, 0, 0},
    {"bytes:0g", NULL, NULL, false, 0, 0, 0},
    {"bytes:", NULL, NULL, false, 0, 0, 0},
    {"f32[", NULL, NULL, false, 0, 0, 0},
    {"f32[]", NULL, NULL, false, 0, 0, 0},
    {"f32[0]", NULL, NULL, false, 0, 0, 0},
    {"f32[-1]", NULL, NULL, false, 0, 0, 0},
    {"f32[4294967296*4294967296]", NULL, NULL, false, 0, 0, 0},
    {"f32[99999999999999]", NULL, NULL, false, 0, 0, 0},
    {"f32[2]={1,2,3}", NULL, NULL, false, 0, 0, 0},
    {"f32[2]={1,,3}", NULL, NULL, false, 0, 0, 0},
    {"f32[]={}", NULL, NULL, false, 0, 0, 0},
    {"f32[2]=ramp(1)", NULL, NULL, false, 0, 0, 0},
    {"f32[2]=ramp(1,2", NULL, NULL, false, 0, 0, 0},
    {"f32[2]=(", NULL, NULL, false, 0, 0, 0},
    {"f32[2]=random(2,1)", NULL, NULL, false, 0, 0, 0},
    {"s32[2]=random(1,-1)", NULL, NULL, false, 0, 0, 0},
    {"u32[2]=fill(x)", NULL, NULL, false, 0, 0, 0},
    {"u32[2]=file:no/such/file", NULL, NULL, false, 0, 0, 0},
};

static uint64_t bits_at(const Argument *argument, uint64_t index) {
  uint64_t bits = 0;
  if (argument->contents == NULL) return 0;
  size_t bytes = argument->element == NULL ? 1 : argument->element->bytes;
  memcpy(&bits, argument->contents + index * bytes, bytes);
  return bits;
}

static void arguments(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(argument_cases); i++) {
    const ArgumentCase *test = &argument_cases[i];
    Arena *arena = arena_new();
    Diags diags = {0};
    Argument argument;
    bool ok = argument_parse(&argument, &(ArgumentContext){arena, 1, MOST_BYTES, &diags}, test->text, NULL, 0);
    if (ok != (test->name != NULL)) fail_msg("%s: %s", test->text, ok ? "accepted" : diags.items[0].text);
    assert_int_equal(diags.count, ok ? 0 : 1);
    if (ok) {
      assert_string_equal(argument.name, test->name);
      assert_int_equal(argument.is_array, test->is_array);
      assert_int_equal(argument.count, test->count);
      if (test->type != NULL) assert_string_equal(argument.element->name, test->type);
      assert_int_equal(bits_at(&argument, 0), test->first);
      assert_int_equal(bits_at(&argument, test->count - 1), test->last);
    }
    diags_free(&diags);
    arena_free(arena);
  }
}

static void random_contents(void **state) {
  (void)state;
  Arena *arena = arena_new();
  Diags diags = {0};
  Argument first, again, other, small;
  assert_true(argument_parse(&first, &(ArgumentContext){arena, 1, MOST_BYTES, &diags}, "f32[1000]=random(-2,3)", NULL, 0));
  assert_true(argument_parse(&again, &(ArgumentContext){arena, 1, MOST_BYTES, &diags}, "f32[1000]=random(-2,3)", NULL, 0));
  assert_true(argument_parse(&other, &(ArgumentContext){arena, 2, MOST_BYTES, &diags}, "f32[1000]=random(-2,3)", NULL, 0));
  assert_memory_equal(first.contents, again.contents, 4000);
  assert_memory_not_equal(first.contents, other.contents, 4000);
  for (uint64_t i = 0; i < 1000; i++) {
    float value = f32_of((uint32_t)bits_at(&first, i));
    assert_true(value >= -2 && value <= 3);
  }
  assert_true(argument_parse(&small, &(ArgumentContext){arena, 1, MOST_BYTES, &diags}, "s8[1000]=random(-3,4)", NULL, 0));
  unsigned seen = 0;
  for (uint64_t i = 0; i < 1000; i++) {
    int value = (int8_t)bits_at(&small, i);
    assert_true(value >= -3 && value <= 4);
    seen |= 1u << (value + 3);
  }
  assert_int_equal(seen, 0xFF);
  diags_free(&diags);
  arena_free(arena);
}

static void aliases(void **state) {
  (void)state;
  Arena *arena = arena_new();
  Diags diags = {0};
  Argument given[3];
  assert_true(argument_parse(&given[0], &(ArgumentContext){arena, 1, MOST_BYTES, &diags}, "a:f32[4]", given, 0));
  assert_true(argument_parse(&given[1], &(ArgumentContext){arena, 1, MOST_BYTES, &diags}, "@a", given, 1));
  assert_ptr_equal(given[1].alias, &given[0]);
  assert_false(argument_parse(&given[2], &(ArgumentContext){arena, 1, MOST_BYTES, &diags}, "@b", given, 2));
  diags_free(&diags);
  arena_free(arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(numbers),
      cmocka_unit_test(arguments),
      cmocka_unit_test(random_contents),
      cmocka_unit_test(aliases),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
