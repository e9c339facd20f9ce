// How wrong elements of an output lie.
#include "campaign/target.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

enum { COUNT = 48 };

typedef struct Case {
  const char *what;
  uint64_t width; // of a matrix; 0: an array
  uint32_t wrong[8];
  uint32_t count;
  bool elsewhere; // one more, in another output
  WrongPattern pattern;
} Case;

static const Case cases[] = {
    {"nothing", 0, {0}, 0, false, PATTERN_NONE},
    {"one element", 0, {7}, 1, false, PATTERN_SINGLE},
    {"one element of a matrix", 8, {47}, 1, false, PATTERN_SINGLE},
    {"neighbours", 0, {7, 8, 9}, 3, false, PATTERN_ROW},
    {"neighbours with a gap", 0, {7, 8, 10}, 3, false, PATTERN_SCATTERED},
    {"a row with gaps", 8, {16, 19, 23}, 3, false, PATTERN_ROW},
    {"end of a row, start of the next", 8, {23, 24}, 2, false, PATTERN_SCATTERED},
    {"a column", 8, {3, 11, 43}, 3, false, PATTERN_COLUMN},
    {"a square", 8, {9, 10, 17, 18}, 4, false, PATTERN_BLOCK},
    {"half of a rectangle", 8, {8, 9, 10, 16, 17, 26}, 6, false, PATTERN_BLOCK},
    {"less than half of one", 8, {8, 10, 17, 26}, 4, false, PATTERN_SCATTERED},
    {"in two outputs", 8, {9, 10}, 2, true, PATTERN_SCATTERED},
};

static void patterns_are_told_apart(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    const Case *at = &cases[i];
    uint32_t right[2][COUNT] = {0}, got[2][COUNT] = {0};
    for (uint32_t k = 0; k < at->count; k++) got[0][at->wrong[k]] = 1;
    got[1][0] = at->elsewhere;
    TargetOutputs golden = {.count = 2}, struck = {.count = 2};
    for (uint32_t k = 0; k < 2; k++) {
      golden.items[k] = (TargetOutput){"out", ELEMENT_U32, COUNT, at->width, (uint8_t *)right[k], 0, NULL};
      struck.items[k] = (TargetOutput){"out", ELEMENT_U32, COUNT, at->width, (uint8_t *)got[k], 0, NULL};
    }
    Judgement judgement = {0};
    target_compare(&golden, &struck, &judgement);
    assert_int_equal(judgement.wrong, at->count + at->elsewhere);
    if (target_pattern(&judgement) != at->pattern) fail_msg("%s: %s", at->what, pattern_text[target_pattern(&judgement)]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(patterns_are_told_apart)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
