// Lines of PTX and where they come from.
#include "ptx/ptx.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static const char two_kernels[] = ".version 7.8\n"                                                     // 1
                                  ".visible .entry one()\n"                                            // 2
                                  "{\n"                                                                // 3
                                  "\t.loc\t1 10 0\n"                                                   // 4
                                  "\tmov.u32 %r1, 1;\n"                                                // 5
                                  "\tld.v2.u32 {%r2, %r3}, [%rd1];\n"                                  // 6
                                  "\t.loc 2 33 7, function_name $L__info_string0, inlined_at 1 11 3\n" // 7
                                  "\t{ // callseq 0, 0 }\n"                                            // 8
                                  "\tcall f;\n"                                                        // 9
                                  "\t} /* not }\n"                                                     // 10
                                  "\t.loc 1 99 0 } */\n"                                               // 11
                                  "\tret;\n"                                                           // 12
                                  "}\n"                                                                // 13
                                  ".visible .entry two()\n"                                            // 14
                                  "{\n"                                                                // 15
                                  "\tmov.u32 %r1, 2;\n"                                                // 16
                                  "\t.loc 7 5 1\n"                                                     // 17
                                  "\tret;\n"                                                           // 18
                                  "}\n"                                                                // 19
                                  "\t.file\t1 \"/home/a b/{kernel.cu\"\n"
                                  "\t.file\t2 \"vector.h\", 1700000000, 4711\n";

static void assert_origin(const PtxOrigins *origins, uint32_t line, const char *file, uint32_t source_line) {
  PtxOrigin origin = ptx_origin(origins, line);
  if (file == NULL) {
    assert_null(origin.file);
    return;
  }
  assert_non_null(origin.file);
  assert_string_equal(origin.file, file);
  assert_int_equal(origin.line, source_line);
}

static void test_lines(void **state) {
  (void)state;
  Arena *arena = arena_new();
  PtxOrigins origins = ptx_origins(arena, two_kernels, sizeof two_kernels - 1);
  assert_int_equal(origins.count, 21);
  assert_origin(&origins, 3, NULL, 0);
  assert_origin(&origins, 5, "/home/a b/{kernel.cu", 10);
  assert_origin(&origins, 6, "/home/a b/{kernel.cu", 10); // braces of a vector end nothing
  assert_origin(&origins, 9, "vector.h", 33);
  assert_origin(&origins, 12, "vector.h", 33); // what is in a comment is not said
  assert_origin(&origins, 13, "vector.h", 33);
  assert_origin(&origins, 14, NULL, 0);
  assert_origin(&origins, 16, NULL, 0); // a function begins anew
  assert_origin(&origins, 18, NULL, 0); // no such file
  assert_origin(&origins, 0, NULL, 0);
  assert_origin(&origins, 22, NULL, 0);
  arena_free(arena);
}

static void test_damaged(void **state) {
  (void)state;
  static const char *const texts[] = {"",      ".loc",    ".loc ",      ".loc 1",  ".loc x y",
                                      ".file", ".file 1", ".file 1 \"", "}}}\n/*", ".loc 99999999999 1 1"};
  Arena *arena = arena_new();
  for (size_t i = 0; i < COUNT_OF(texts); i++) {
    PtxOrigins origins = ptx_origins(arena, texts[i], strlen(texts[i]));
    assert_origin(&origins, 1, NULL, 0);
  }
  arena_free(arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_lines), cmocka_unit_test(test_damaged)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
