// Made-up journals with what they say, for tests: in memory, complete, of one launch.
#ifndef REDOUBT_TEST_SHELF_H
#define REDOUBT_TEST_SHELF_H

#include "report/report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_MADE = 16 };

typedef struct Shelf {
  Journal *journals[MOST_MADE];
  Report *reports[MOST_MADE];
  uint32_t count;
} Shelf;

// Lines are wrapped anywhere: every stretch of blanks is one blank.
static inline void assert_says(const char *text, const char *words) {
  size_t length = 0;
  char *flat = malloc(strlen(text) + 1);
  assert_non_null(flat);
  for (const char *at = text; *at != '\0'; at++) {
    bool is_blank = *at == ' ' || *at == '\n';
    if (!is_blank || (length > 0 && flat[length - 1] != ' ')) flat[length++] = is_blank ? ' ' : *at;
  }
  flat[length] = '\0';
  if (strstr(flat, words) == NULL) fail_msg("'%s' does not say '%s'", flat, words);
  free(flat);
}

static inline void assert_near(double got, double expected, double tolerance) {
  if (!(fabs(got - expected) <= tolerance)) fail_msg("%.12g instead of %.12g", got, expected);
}

// `count`: of faults that will be put into it.
static inline Journal *shelf_begin(const JournalMeta *meta, const StructureRow *structures, uint32_t structure_count, uint64_t cycles,
                                   uint64_t count) {
  Diags diags = {0};
  Journal *journal = journal_open(":memory:", meta, &diags);
  assert_non_null(journal);
  GoldenRow launch = {.launch = 1, .kernel = "kernel", .cycles = cycles};
  assert_true(journal_put_golden(journal, &launch, 1, &diags) && journal_put_structures(journal, structures, structure_count, &diags));
  assert_true(journal_begin(journal, &(JournalPlan){count, 0, 0.99}, &diags));
  return journal;
}

static inline void shelf_note(Journal *journal, JournalNote note, uint64_t value) {
  Diags diags = {0};
  char text[24];
  snprintf(text, sizeof text, "%llu", (unsigned long long)value);
  assert_true(value == 0 || journal_put_note(journal, note, text, &diags));
}

static inline void shelf_put(Journal *journal, const FaultRow *row) {
  Diags diags = {0};
  assert_true(journal_put_fault(journal, row, &diags));
}

static inline void shelf_end(Shelf *shelf, Journal *journal, uint64_t count) {
  Diags diags = {0};
  assert_true(journal_reached(journal, count, true, &diags) && journal_commit(journal, &diags));
  assert_true(shelf->count < MOST_MADE);
  shelf->journals[shelf->count] = journal;
  shelf->reports[shelf->count] = report_read(journal, &(ReportOptions){.confidence = 0.95}, &diags);
  assert_non_null(shelf->reports[shelf->count++]);
}

static inline void shelf_clear(Shelf *shelf) {
  for (uint32_t i = 0; i < shelf->count; i++) {
    report_free(shelf->reports[i]);
    journal_close(shelf->journals[i]);
  }
}

#endif
