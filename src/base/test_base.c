// Unit tests of src/base.
#include "base/base.h"

#include <setjmp.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

static void arenas_zero_and_align(void **state) {
  (void)state;
  Arena *arena = arena_new();
  for (size_t size = 1; size < 100000; size = size * 3 + 1) {
    uint8_t *bytes = arena_alloc(arena, size);
    assert_int_equal((uintptr_t)bytes % 16, 0);
    for (size_t i = 0; i < size; i++) assert_int_equal(bytes[i], 0);
    memset(bytes, 0xAA, size);
  }
  arena_free(arena);
}

static void vectors_grow(void **state) {
  (void)state;
  Arena *arena = arena_new();
  VEC(int) numbers = {0};
  for (int i = 0; i < 1000; i++) *VEC_PUSH(&numbers, arena) = i;
  for (int i = 0; i < 1000; i++) assert_int_equal(numbers.items[i], i);
  arena_free(arena);
}

// A file is hashed in parts as it is read.
static void files_hash_as_bytes(void **state) {
  (void)state;
  char path[] = "/tmp/redoubt-hash-XXXXXX";
  static uint8_t bytes[200000];
  uint64_t hash;
  int file = mkstemp(path);
  assert_true(file >= 0);
  for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)random_draw(1, i, 0);
  for (size_t count = 0, written = 0; count <= sizeof bytes; count = count * 7 + 1) {
    assert_int_equal(write(file, bytes + written, count - written), count - written);
    written = count;
    assert_true(file_hash(path, &hash));
    assert_int_equal(hash, hash_bytes(bytes, count, 0));
  }
  close(file);
  unlink(path);
  assert_false(file_hash(path, &hash));
}

static void nearest_names(void **state) {
  (void)state;
  const char *const names[] = {"matmul", "vecadd", "bfs"};
  assert_string_equal(text_nearest("matmull", names, 3), "matmul");
  assert_string_equal(text_nearest("vecad", names, 3), "vecadd");
  assert_null(text_nearest("transpose", names, 3));
  const char *const machines[] = {"functional", "fermi-gtx480", "turing-rtx2060"};
  assert_string_equal(text_nearest("gtx480", machines, 3), "fermi-gtx480");
  assert_string_equal(text_nearest("turing", machines, 3), "turing-rtx2060");
  assert_null(text_nearest("tx", machines, 3));
  assert_null(text_nearest("", machines, 3));
}

static void check_csv(const char *cell, const char *expected) {
  Text text = {0};
  text_add_csv(&text, cell);
  assert_string_equal(text.at, expected);
  text_free(&text);
}

static void csv_cells_are_text(void **state) {
  (void)state;
  check_csv("", "\"\"");
  check_csv("vecadd", "\"vecadd\"");
  check_csv("a,\"b\"", "\"a,\"\"b\"\"\"");
  check_csv("\"", "\"\"\"\"");
  check_csv("=1+1", "\"'=1+1\"");
  check_csv("+1", "\"'+1\"");
  check_csv("-1", "\"'-1\"");
  check_csv("@SUM(A1)", "\"'@SUM(A1)\"");
  check_csv("\t=1", "\"'\t=1\"");
  check_csv("a=1", "\"a=1\"");
  Text names = {0};
  const char *const cells[] = {"l1d.data", "fermi-gtx480", "", "a b", "-1", "=x"};
  for (size_t i = 0; i < COUNT_OF(cells); i++) {
    text_add_csv_name(&names, cells[i]);
    text_add(&names, ";");
  }
  assert_string_equal(names.at, "l1d.data;fermi-gtx480;;\"a b\";\"'-1\";\"'=x\";");
  text_free(&names);
}

static void check_visible(const char *text, size_t count, const char *kept, const char *expected) {
  Text visible = {0};
  text_add_visible(&visible, text, count, kept);
  assert_string_equal(visible.at, expected);
  text_free(&visible);
}

static void control_characters_are_shown(void **state) {
  (void)state;
  check_visible("plain", 5, "", "plain");
  check_visible("\x1b[31m", 5, "", "\\x1b[31m");
  check_visible("a\nb\tc\rd", 7, "\n\t", "a\nb\tc\\x0dd");
  check_visible("a\nb", 3, "", "a\\x0ab");
  check_visible("a\0b\x7f", 4, "\n", "a\\x00b\\x7f");
  check_visible("Gr\xc3\xb6\xc3\x9f"
                "e \xe2\x82\xac \xf0\x9f\x98\x80",
                16, "",
                "Gr\xc3\xb6\xc3\x9f"
                "e \xe2\x82\xac \xf0\x9f\x98\x80");
  check_visible("\xc2\x9b"
                "31m",
                5, "", "\\xc2\\x9b31m");                                                       // C1 as UTF-8
  check_visible("\x9b\xff\xc3", 3, "", "\\x9b\\xff\\xc3");                                     // no UTF-8, and one cut off
  check_visible("\xc0\x9b\xe0\x82\x9b", 5, "", "\\xc0\\x9b\\xe0\\x82\\x9b");                   // overlong
  check_visible("\xed\xa0\x80\xf4\x90\x80\x80", 7, "", "\\xed\\xa0\\x80\\xf4\\x90\\x80\\x80"); // surrogate, past the end
}

static void check_symbol(const char *symbol, const char *brief, const char *whole) {
  Text text = {0};
  assert_string_equal(SHORT_NAME(symbol), brief);
  text_add_symbol(&text, symbol, SYMBOL_WHOLE);
  assert_string_equal(text.at, whole);
  assert_true(symbol_is_called(symbol, brief) && symbol_is_called(symbol, whole) && symbol_is_called(symbol, symbol));
  text_free(&text);
}

static void kernels_have_names_for_people(void **state) {
  (void)state;
  check_symbol("_Z5saxpyifPKfPf", "saxpy", "saxpy(int, float, float const*, float*)");
  check_symbol("_Z6reduceIfLi256EEvPKT_PS0_i", "reduce<float, 256>", "void reduce<float, 256>(float const*, float*, int)");
  check_symbol("vecadd", "vecadd", "vecadd");
  check_symbol("_Zwrong", "_Zwrong", "_Zwrong");
  check_symbol("", "", "");
  assert_true(symbol_is_called("_Z6reduceIfLi256EEvPKT_PS0_i", "reduce"));
  assert_false(symbol_is_called("_Z6reduceIfLi256EEvPKT_PS0_i", "red"));
  assert_false(symbol_is_called("_Z5saxpyifPKfPf", "sax"));
  Text mangled = {0}, name = {0}; // names that differ after some hundred letters
  text_add(&name, "n%0400dx", 0);
  text_add(&mangled, "_Z402%sPf", name.at);
  assert_true(symbol_is_called(mangled.at, name.at));
  name.at[name.length - 1] = 'y';
  assert_false(symbol_is_called(mangled.at, name.at));
  text_free(&mangled);
  text_free(&name);
  char word[200] = "";
  memset(word, 'k', sizeof word - 1);
  assert_int_equal(strlen(SHORT_NAME(word)), sizeof(SymbolText) - 1);
  assert_non_null(strstr(SHORT_NAME(word), "kkk..."));
}

static void shells_take_words_whole(void **state) {
  (void)state;
  const char *const words[] = {"plain.db", "a b", "", "it's", "$HOME/*", "a\nb", "--x=1,2"};
  Text text = {0};
  for (size_t i = 0; i < COUNT_OF(words); i++) {
    text_add_shell_word(&text, words[i]);
    text_add(&text, ";");
  }
  assert_string_equal(text.at, "plain.db;'a b';'';'it'\\''s';'$HOME/*';'a\nb';--x=1,2;");
  text_free(&text);
}

static void diagnostics_read_well(void **state) {
  (void)state;
  Diags diags = {0};
  assert_false(diags_add(&diags, "k.ptx", 3, 7, "unknown instruction '%s'", "foo"));
  assert_false(diags_add(&diags, NULL, 0, 0, "no file"));
  Text text = {0};
  diag_format(&diags.items[0], &text);
  diag_format(&diags.items[1], &text);
  assert_string_equal(text.at, "k.ptx:3:7: error: unknown instruction 'foo'\nerror: no file\n");
  text_free(&text);
  diags_free(&diags);
}

static void draws_depend_on_every_argument(void **state) {
  (void)state;
  uint64_t first = random_draw(1, 2, 3);
  assert_int_equal(first, random_draw(1, 2, 3));
  assert_int_not_equal(first, random_draw(2, 2, 3));
  assert_int_not_equal(first, random_draw(1, 3, 3));
  assert_int_not_equal(first, random_draw(1, 2, 4));
  assert_int_equal(random_below(UINT64_MAX, 10), 9);
  assert_int_equal(random_below(0, 10), 0);
  assert_true(random_unit_f32(UINT64_MAX) < 1.0f);
  assert_true(random_unit_f64(UINT64_MAX) < 1.0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(arenas_zero_and_align),   cmocka_unit_test(vectors_grow),
      cmocka_unit_test(nearest_names),           cmocka_unit_test(files_hash_as_bytes),
      cmocka_unit_test(csv_cells_are_text),      cmocka_unit_test(control_characters_are_shown),
      cmocka_unit_test(shells_take_words_whole), cmocka_unit_test(kernels_have_names_for_people),
      cmocka_unit_test(diagnostics_read_well),   cmocka_unit_test(draws_depend_on_every_argument),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
