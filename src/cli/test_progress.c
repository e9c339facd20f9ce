// What a campaign shows while it runs: numbers, time left, and lines that fit the terminal.
#include "cli/progress.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static CampaignProgress sample(void) {
  CampaignProgress progress = {.done = 1000, .total = 4000};
  progress.counts[OUTCOME_MASKED] = 900;
  progress.counts[OUTCOME_SDC_CRITICAL] = 40;
  progress.counts[OUTCOME_SDC_TOLERABLE] = 20;
  progress.counts[OUTCOME_TIMEOUT] = 40;
  progress.sample = 500;
  progress.sample_counts[OUTCOME_MASKED] = 420;
  progress.sample_counts[OUTCOME_SDC_CRITICAL] = 50;
  progress.sample_counts[OUTCOME_SDC_TOLERABLE] = 10;
  progress.sample_counts[OUTCOME_TIMEOUT] = 20;
  return progress;
}

static Text format(const CampaignProgress *progress, uint64_t simulated, uint32_t columns) {
  ProgressView view = {.progress = progress, .confidence = 0.95, .seconds = 20, .settled = 800, .simulated = simulated, .columns = columns};
  Text text = {0};
  uint32_t lines = progress_format(&view, &text), feeds = 0;
  for (size_t i = 0; i < text.length; i++) feeds += text.at[i] == '\n';
  assert_int_equal(lines, feeds); // what the cursor moves up by
  return text;
}

static void assert_shows(const Text *text, const char *what) {
  if (strstr(text->at, what) == NULL) fail_msg("no '%s' in:\n%s", what, text->at);
}

static void test_rate_and_table(void **state) {
  (void)state;
  CampaignProgress progress = sample();
  Text text = format(&progress, 0, 80);
  // 800 faults in 20 s, 3,000 to go
  assert_shows(&text, "1000 of 4000 faults (25.0%), 40/s, about 75 s left\n");
  // Counts are of all that is done, shares over the faults that are complete: done are mostly those that were quickly settled.
  assert_shows(&text, "(at 95%, first 500 faults)\n");
  assert_shows(&text, "  masked              900  84.0 (80.5 to 87.0) %\n"); // Wilson's at 95%
  assert_shows(&text, "  sdc                  60  12.0 (9.44 to 15.1) %\n"); // both kinds
  assert_shows(&text, "  due                  40  4.00 (2.60 to 6.10) %\n"); // a timeout is one
  assert_null(strstr(text.at, "detected"));
  text_free(&text);
}

// Faults that need no simulation are settled at once: only simulations tell how long the rest takes.
static void test_time_left_is_that_of_simulations(void **state) {
  (void)state;
  CampaignProgress progress = sample();
  progress.simulations = 500;
  Text text = format(&progress, 10, 80);
  assert_shows(&text, "40/s, about 16 min 40 s left\n"); // 10 in 20 s, 500 to go
  text_free(&text);
  text = format(&progress, 0, 80);
  assert_null(strstr(text.at, "left")); // not known yet
  text_free(&text);
}

static void test_end(void **state) {
  (void)state;
  CampaignProgress progress = sample();
  progress.total = progress.done;
  Text text = format(&progress, 0, 80);
  assert_shows(&text, "1000 of 1000 faults (100.0%), 40/s, took 20 s\n");
  text_free(&text);
  progress.total = 4000; // sure enough before the last
  ProgressView view = {.progress = &progress, .confidence = 0.95, .seconds = 20, .settled = 800, .ended = true};
  progress_format(&view, &text);
  assert_shows(&text, "1000 of 4000 faults (25.0%), 40/s, took 20 s\n");
  text_free(&text);
}

static void test_lines_fit_the_terminal(void **state) {
  (void)state;
  CampaignProgress progress = sample();
  progress.done = progress.total = UINT64_C(100000000000);
  for (uint32_t columns = 2; columns < 100; columns++) {
    Text text = format(&progress, 0, columns);
    for (const char *line = text.at; *line != '\0'; line += strcspn(line, "\n") + 1) assert_true(strcspn(line, "\n") < columns);
    text_free(&text);
  }
}

static void test_durations(void **state) {
  (void)state;
  static const struct {
    double seconds;
    const char *text;
  } cases[] = {{0, "0 s"}, {99.4, "99 s"}, {100, "1 min 40 s"}, {3599, "59 min 59 s"}, {7800, "2 h 10 min"}, {1e300, "277777 h 46 min"}};
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    Text text = {0};
    duration_format(cases[i].seconds, &text);
    assert_string_equal(text.at, cases[i].text);
    text_free(&text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rate_and_table),
      cmocka_unit_test(test_time_left_is_that_of_simulations),
      cmocka_unit_test(test_end),
      cmocka_unit_test(test_lines_fit_the_terminal),
      cmocka_unit_test(test_durations),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
