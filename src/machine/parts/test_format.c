// Formatted output of kernels: every conversion, malformed formats, bad pointers.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "machine/parts/format.h"

// Memory of one page at address 4096: strings and the packed arguments.
typedef struct Page {
  uint8_t bytes[4096];
  uint32_t arguments; // where they start
} Page;

static bool page_byte(void *context, uint64_t address, char *to) {
  Page *page = context;
  if (address < 4096 || address >= 8192) return false;
  memcpy(to, &page->bytes[address - 4096], 1);
  return true;
}

static bool page_argument(void *context, uint32_t offset, uint32_t bytes, void *to) {
  Page *page = context;
  if (page->arguments + offset + bytes > sizeof page->bytes || offset % bytes != 0) return false;
  memcpy(to, &page->bytes[page->arguments + offset], bytes);
  return true;
}

typedef struct FormatCase {
  const char *format;
  uint64_t arguments[4]; // as 8-byte places in memory; see `packed`
  const char *expected;
  uint32_t used;
} FormatCase;

#define F64(x) UINT64_C(x)
static const FormatCase cases[] = {
    {"plain", {0}, "plain", 0},
    {"", {0}, "", 0},
    {"%d", {UINT32_MAX}, "-1", 1},
    {"%i|%u", {UINT64_C(7) << 32 | 0xFFFFFFF9}, "-7|7", 2}, // two 4-byte arguments side by side
    {"%x %X %o", {UINT64_C(0xBEEF) << 32 | 0xDEAD, 8}, "dead BEEF 10", 3},
    {"%lld", {(uint64_t)-5}, "-5", 1},
    {"%ld %lu", {(uint64_t)-5, UINT64_MAX}, "-5 18446744073709551615", 2},
    {"%zu", {1234567890123}, "1234567890123", 1},
    {"%d %lld", {1, 2}, "1 2", 2}, // the second is aligned to 8
    {"%hhd %hd", {UINT64_C(0x18000) << 32 | 0x1FF}, "-1 -32768", 2},
    {"%hhu %hu", {UINT64_C(0x18000) << 32 | 0x1FF}, "255 32768", 2},
    {"%5d|%-5d|%05d", {UINT64_C(42) << 32 | 42, 42}, "   42|42   |00042", 3},
    {"%+d % d %#x", {UINT64_C(3) << 32 | 3, 255}, "+3  3 0xff", 3},
    {"%.3d", {7}, "007", 1},
    {"%*d|%-*d|", {UINT64_C(7) << 32 | 4, UINT64_C(8) << 32 | 3}, "   7|8  |", 4},
    {"%*d|", {UINT64_C(7) << 32 | (uint32_t)-4}, "7   |", 2},
    {"%.*f", {2, F64(0x400921FB54442D18)}, "3.14", 2},
    {"%f %e", {F64(0x3FF8000000000000), F64(0x3FF8000000000000)}, "1.500000 1.500000e+00", 2},
    {"%g %G", {F64(0x3E7AD7F29ABCAF48), F64(0x7FF0000000000000)}, "1e-07 INF", 2},
    {"%a", {F64(0x3FF8000000000000)}, "0x1.8p+0", 1},
    {"%f", {F64(0x7FEFFFFFFFFFFFFF)}, NULL, 1}, // 309 digits
    {"%c%c", {(uint64_t)'b' << 32 | 'a'}, "ab", 2},
    {"%3c|%-3c|", {(uint64_t)'b' << 32 | 'a'}, "  a|b  |", 2},
    {"%s and %s", {4096 + 2048, 4096 + 2048 + 8}, "hello and world", 2},
    {"%8s|%-8s|%.2s", {4096 + 2048, 4096 + 2048, 4096 + 2048}, "   hello|hello   |he", 3},
    {"%s", {0}, "(null)", 1},
    {"%p %p", {0x2000, 0}, "0x2000 (nil)", 2},
    {"100%%", {0}, "100%", 0},
    {"%", {0}, "%", 0},
    {"%5", {0}, "%5", 0},
    {"%y %d", {9}, "%y 9", 1},
    {"%n%d", {9}, "%n9", 1},
    {"%-+ #0-+ #0d", {9}, "+9", 1},
    {"%.d|", {0}, "|", 1},
};

static bool run_format(const char *format, const void *arguments, size_t bytes, Text *out, uint32_t *used) {
  static const uint32_t arguments_at = 3072;
  Page page = {.arguments = arguments_at};
  memcpy(page.bytes + 16, format, strlen(format) + 1);
  memcpy(page.bytes + 2048, "hello\0\0\0world", 14);
  memcpy(page.bytes + arguments_at, arguments, bytes);
  FormatSource source = {.argument = page_argument, .byte = page_byte, .context = &page, .pointer_bytes = 8};
  return format_print(&source, 4096 + 16, out, used);
}

static void test_conversions(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    Text out = {0};
    uint32_t used = 99;
    assert_true(run_format(cases[i].format, cases[i].arguments, sizeof cases[i].arguments, &out, &used));
    const char *got = out.length == 0 ? "" : out.at;
    if (cases[i].expected != NULL && strcmp(got, cases[i].expected) != 0) {
      fail_msg("'%s' gives '%s', not '%s'", cases[i].format, got, cases[i].expected);
    }
    if (cases[i].expected == NULL) assert_int_equal(out.length, 309 + 7);
    if (used != cases[i].used) fail_msg("'%s' used %u arguments", cases[i].format, used);
    text_free(&out);
  }
}

static void test_bad_pointers(void **state) {
  (void)state;
  const struct {
    const char *format;
    uint64_t argument;
  } bad[] = {{"%s", 1}, {"%s", 8191}, {"%.5s", UINT64_MAX}, {"%s", 8192}};
  for (size_t i = 0; i < COUNT_OF(bad); i++) {
    Text out = {0};
    uint32_t used;
    uint64_t argument[1] = {bad[i].argument};
    bool done = run_format(bad[i].format, argument, sizeof argument, &out, &used);
    assert_int_equal(done, bad[i].argument == 8191); // the last byte of the page is a NUL
    text_free(&out);
  }
  FormatSource source = {.argument = page_argument, .byte = page_byte, .context = &(Page){.arguments = 0}, .pointer_bytes = 8};
  Text out = {0};
  uint32_t used;
  assert_false(format_print(&source, 5, &out, &used));
  text_free(&out);
}

// Random bytes as formats: any outcome but a crash; widths stay bounded.
static void test_random_formats(void **state) {
  (void)state;
  static const char alphabet[] = "%%%%*.-+ #0123456789hlLjztdiuxXofeEgGaAcspn$,q";
  for (uint64_t n = 0; n < 20000; n++) {
    char format[24] = {0};
    uint64_t arguments[64];
    for (unsigned i = 0; i < sizeof format - 1; i++) format[i] = alphabet[random_draw(n, i, 0) % (sizeof alphabet - 1)];
    for (unsigned i = 0; i < COUNT_OF(arguments); i++) arguments[i] = random_draw(n, i, 1) >> (random_draw(n, i, 2) % 64);
    Text out = {0};
    uint32_t used;
    (void)run_format(format, arguments, sizeof arguments, &out, &used);
    assert_true(out.length < 200000);
    text_free(&out);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_conversions),
      cmocka_unit_test(test_bad_pointers),
      cmocka_unit_test(test_random_formats),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
