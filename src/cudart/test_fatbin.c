// Fat binaries: every committed one is read and decompressed; damaged ones are refused without harm.
#include "cudart/fatbin.h"

#include <setjmp.h>
#include <stdlib.h>
#include <cmocka.h>

#define FOLDER "tests/cuda/fatbin/"

typedef struct FatCase {
  const char *file;
  uint32_t entries;
  uint32_t ptx[3]; // architectures of its PTX, in file order
} FatCase;
static const FatCase cases[] = {
    {"zstd", 1, {75}},      {"lz4", 1, {75}},         {"plain", 1, {75}},  {"several", 3, {75, 80, 90}},
    {"newer", 2, {80, 90}}, {"machine-code", 1, {0}}, {"unit_a", 1, {75}}, {"unit_b", 1, {75}},
};

static char *read_file(Arena *arena, const char *name, size_t *count) {
  Diags diags = {0};
  char *bytes = NULL;
  assert_true(file_read(arena, arena_format(arena, FOLDER "%s.fatbin", name), &bytes, count, &diags));
  return bytes;
}

static void entries_are_found(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    Arena *arena = arena_new();
    Diags diags = {0};
    FatBinary fat = {0};
    size_t count, length;
    const char *bytes = read_file(arena, cases[i].file, &count);
    assert_true(fatbin_parse(bytes, count, arena, &fat, &diags));
    assert_int_equal(fat.count, cases[i].entries);
    uint32_t seen = 0;
    for (uint32_t k = 0; k < fat.count; k++) {
      if (!fat.items[k].is_ptx) continue;
      assert_int_equal(fat.items[k].arch, cases[i].ptx[seen++]);
      const char *text = fatbin_text(&fat.items[k], arena, &length, &diags);
      assert_non_null(text);
      assert_non_null(strstr(text, arena_format(arena, ".target sm_%u", fat.items[k].arch)));
      assert_int_equal(strlen(text), length);
    }
    assert_int_equal(seen == 0, cases[i].ptx[0] == 0);
    arena_free(arena);
  }
}

// The same source compressed three ways: the same text.
static void compression_does_not_change_text(void **state) {
  (void)state;
  static const char *const files[] = {"zstd", "lz4", "plain"};
  char *texts[3];
  Arena *arena = arena_new();
  for (size_t i = 0; i < COUNT_OF(files); i++) {
    Diags diags = {0};
    FatBinary fat = {0};
    size_t count, length;
    const char *bytes = read_file(arena, files[i], &count);
    assert_true(fatbin_parse(bytes, count, arena, &fat, &diags));
    texts[i] = fatbin_text(&fat.items[0], arena, &length, &diags);
    assert_non_null(texts[i]);
  }
  assert_string_equal(texts[0], texts[1]);
  assert_string_equal(texts[0], texts[2]);
  arena_free(arena);
}

// Reads everything that a binary offers; true when nothing was wrong.
static bool read_all(const char *bytes, size_t count) {
  Arena *arena = arena_new();
  Diags diags = {0};
  FatBinary fat = {0};
  bool good = fatbin_parse(bytes, count, arena, &fat, &diags);
  for (uint32_t k = 0; k < fat.count; k++) {
    size_t length;
    bool small = fat.items[k].text_bytes < 1 << 20; // a wrong size may ask for much memory
    if (fat.items[k].is_ptx && small) good = fatbin_text(&fat.items[k], arena, &length, &diags) != NULL && good;
  }
  assert_int_equal(good, diags.count == 0);
  diags_free(&diags);
  arena_free(arena);
  return good;
}

static void damage_is_refused(void **state) {
  (void)state;
  Arena *arena = arena_new();
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    size_t count;
    const char *bytes = read_file(arena, cases[i].file, &count);
    assert_true(read_all(bytes, count));
    for (size_t cut = 0; cut < count; cut += 7) {
      char *copy = malloc(cut == 0 ? 1 : cut); // exactly sized: the sanitizer sees any read beyond
      assert_non_null(copy);
      memcpy(copy, bytes, cut);
      assert_false(read_all(copy, cut));
      free(copy);
    }
    for (uint64_t flip = 0; flip < 500; flip++) {
      char *copy = malloc(count);
      assert_non_null(copy);
      memcpy(copy, bytes, count);
      uint64_t bit = random_below(random_draw(3, i, flip), 8 * (flip % 2 == 0 ? 80 : count));
      copy[bit / 8] = (char)(copy[bit / 8] ^ (1 << bit % 8));
      read_all(copy, count);
      free(copy);
    }
  }
  arena_free(arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(entries_are_found),
      cmocka_unit_test(compression_does_not_change_text),
      cmocka_unit_test(damage_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
