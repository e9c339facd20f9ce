// What following and trials give each other, through a file and back.
#include "settle/follow.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

enum { WORDS = 37 };

static LaunchMemory kept_of(uint32_t launch) {
  LaunchMemory kept = {.launch = launch, .blocks = 5, .base = 4096, .words = WORDS, .line_words = 32};
  kept.after = calloc(WORDS, sizeof *kept.after);
  kept.uses = calloc(WORDS, sizeof *kept.uses);
  assert_true(kept.after != NULL && kept.uses != NULL);
  for (uint32_t i = 0; i < WORDS; i++) {
    kept.after[i] = launch * 1000 + i;
    kept.uses[i] = (KeptUse){i, launch};
  }
  return kept;
}

static void fill(Following *following, Arena *arena) {
  *following = (Following){0};
  for (uint32_t i = 1; i <= 2; i++) *VEC_PUSH(&following->kept, arena) = kept_of(i);
  Unfinished unfinished = {.id = 7, .late = 90};
  words_add(&unfinished.words, 4100, 11);
  *VEC_PUSH(&unfinished.open, arena) = (OpenWord){4104, 3, 2};
  *VEC_PUSH(&following->unfinished, arena) = unfinished;
  Returned words = {.id = 8, .launch = 2, .late = 12}, trap = {.id = 9, .launch = 1, .late = 13, .trap = {.kind = TRAP_MISALIGNED}};
  for (uint32_t i = 0; i < 3; i++) words_add(&words.words, 8192 + 4 * i, i);
  *VEC_PUSH(&following->returned, arena) = words;
  *VEC_PUSH(&following->returned, arena) = trap;
}

static void assert_same(const Following *a, const Following *b) {
  assert_int_equal(a->kept.count, b->kept.count);
  for (uint32_t i = 0; i < a->kept.count; i++) {
    const LaunchMemory *x = &a->kept.items[i], *y = &b->kept.items[i];
    assert_true(x->launch == y->launch && x->blocks == y->blocks && x->base == y->base && x->words == y->words);
    assert_memory_equal(x->after, y->after, WORDS * sizeof *x->after);
    assert_memory_equal(x->uses, y->uses, WORDS * sizeof *x->uses);
  }
  assert_int_equal(a->unfinished.count, b->unfinished.count);
  const Unfinished *open = &b->unfinished.items[0];
  assert_true(open->id == 7 && open->late == 90 && open->words.count == 1 && open->words.items[0].value == 11);
  assert_true(open->open.count == 1 && open->open.items[0].address == 4104 && open->open.items[0].own_stores == 2);
  assert_int_equal(a->returned.count, b->returned.count);
  assert_true(b->returned.items[0].words.count == 3 && b->returned.items[0].words.items[2].address == 8200);
  assert_true(b->returned.items[1].trap.kind == TRAP_MISALIGNED && b->returned.items[1].words.count == 0);
}

static void test_file(void **state) {
  (void)state;
  Arena *arena = arena_new();
  Following made, read = {0};
  char path[] = P_tmpdir "/redoubt-following-XXXXXX";
  int file = mkstemp(path);
  assert_true(file >= 0);
  assert_false(following_load(&read, arena, path)); // empty
  fill(&made, arena);
  assert_true(following_save(&made, path));
  assert_true(following_load(&read, arena, path));
  assert_same(&made, &read);
  following_free(&read);
  // A file that is cut off is not believed, wherever.
  off_t bytes = lseek(file, 0, SEEK_END);
  for (off_t left = 8; left < bytes; left += 104) {
    Following cut = {0};
    assert_int_equal(ftruncate(file, bytes - left), 0);
    assert_false(following_load(&cut, arena, path));
    assert_true(cut.kept.count == 0 && cut.unfinished.count == 0 && cut.returned.count == 0);
  }
  close(file);
  unlink(path);
  following_free(&made);
  arena_free(arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_file)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
