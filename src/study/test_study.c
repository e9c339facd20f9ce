// Study files: what is refused and why, which cells they mean, how numbers are judged, and all of it on made-up results.
#include "study/study.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

// ---- Files that are refused ------------------------------------------------------------------------------------------

static void test_refused(void **state) {
  (void)state;
  static const struct {
    const char *text;
    int line;
    const char *message;
  } cases[] = {
      {"", 1, "begins with [study]"},
      {"[run a]\ntargets = x\n", 1, "begins with [study]"},
      {"[study]\npaper = p\n", 1, "lacks 'title'"},
      {"[study]\ntitle = t\nwrong = 1\n", 3, "has no 'wrong'"},
      {"[study]\ntitle = t\ntitel = 1\n", 3, "did you mean 'title'"},
      {"[study]\ntitle = t\n[runs a]\ntargets = x\n", 3, "no section [runs a]"},
      {"[study]\ntitle = t\n[run]\ntargets = x\n", 3, "wants a name"},
      {"[study]\ntitle = t\n[run 1a]\ntargets = x\n", 3, "wants a name"},
      {"[study]\ntitle = t\n[run a]\ntargets = x\n[measure a]\nsql = SELECT 1\n", 5, "[measure a] has a name that is taken in line 3"},
      {"[study]\ntitle = t\n[table a]\ntitle = t\nsql = SELECT 1\n[chart a]\ntitle = t\n", 6,
       "[chart a] has a name that is taken in line 3"},
      {"[study]\ntitle = t\n[measure m]\nsql\n", 4, "is neither"},
      {"[study]\ntitle = t\n[claim c]\ntext = t\n", 3, "either 'sql' or 'cannot'"},
      {"[study]\ntitle = t\n[measure a2345678901234567890123456789012345678901234]\nsql = SELECT 1\n", 3,
       "a section's kind and name have at most 49 characters"},
      {"[study]\ntitle = t\nconfidence = 2\n", 3, "must be a number between 0.5 and 1"},
      {"[study]\ntitle = t\nconfidence =\n", 3, "must be a number between 0.5 and 1"},
      {"[study]\ntitle = t\n[run a]\ntargets = x\n\n[run a]\nsize = tiny\n", 6, "[run a] is there already, in line 3"},
      {"[study]\ntitle = t\n[study]\npaper = p\n", 3, "[study] is there already, in line 1"},
      {"[study]\ntitle = t\n[run a]\ntargets = x\n  y\ntargets = z\n", 6, "'targets' is there already, in line 4"},
      {"[study]\ntitle = t\n[run a]\nquick.size = x\nsize = y\nquick.size = z\n", 6, "'quick.size' is there already, in line 4"},
      {"[study]\ntitle = t\n[measure m]\nsql = SELECT 1\n  AS a ; DROP TABLE x\n", 5, "what follows ' ;' would be ignored"},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    Diags diags = {0};
    assert_null(study_parse("dir/s.ini", cases[i].text, &diags));
    assert_true(diags.count > 0);
    if (strstr(diags.items[0].text, cases[i].message) == NULL || diags.items[0].line != cases[i].line)
      fail_msg("case %zu: line %d: %s", i, diags.items[0].line, diags.items[0].text);
    assert_string_equal(diags.items[0].file, "dir/s.ini");
    diags_free(&diags);
  }
}

// ---- Cells -------------------------------------------------------------------------------------------------------------

static const char *const *made_up_set(const char *name, Arena *arena) {
  (void)arena;
  static const char *const members[] = {"one", "two", NULL};
  return strcmp(name, "@both") == 0 ? members : NULL;
}

static const char cells_text[] =
    "[study]\ntitle = t\n"
    "[run base]\ntargets = @both other.ptx\nmachines = m1 m2\nsize = default\nquick.size = tiny\noptions = --set a=1\n"
    "[run swept]\nlike = base\ntargets = one\nmachines = m1\nsweep = n: 1 2 3 | word: x 'y z'\n"
    "options = --set n=${n} --set 'w=${word}'\n"
    "[campaign c]\ntargets = one\nmachines = m1\nfaults = 10\nquick.faults = 2\n";

static void test_cells(void **state) {
  (void)state;
  Diags diags = {0};
  Arena *arena = arena_new();
  StudyFile *study = study_parse("dir/s.ini", cells_text, &diags);
  assert_non_null(study);
  StudyCells cells, quick, other;
  assert_true(study_cells(study, &(StudyChoice){.set = made_up_set}, arena, &cells, &diags));
  assert_int_equal(cells.items.count, 3 * 2 + 6 + 1);
  static const struct {
    uint32_t cell;
    const char *command;
  } expected[] = {
      {0, "redoubt run one --machine m1 --size default --set a=1"},
      {5, "redoubt run dir/other.ptx --machine m2 --size default --set a=1"},
      {6, "redoubt run one --machine m1 --size default --set a=1 --set n=1 --set w=x"},
      {7, "redoubt run one --machine m1 --size default --set a=1 --set n=1 --set 'w=y z'"},
      {11, "redoubt run one --machine m1 --size default --set a=1 --set n=3 --set 'w=y z'"},
      {12, "redoubt campaign one --machine m1 --faults 10"},
  };
  for (size_t i = 0; i < COUNT_OF(expected); i++) {
    Text text = {0};
    study_command(&cells.items.items[expected[i].cell], &text);
    assert_string_equal(text.at, expected[i].command);
    text_free(&text);
  }
  // Other commands and other programs are other cells; the same are the same.
  assert_true(study_cells(study, &(StudyChoice){.set = made_up_set, .quick = true}, arena, &quick, &diags));
  assert_true(study_cells(study, &(StudyChoice){.set = made_up_set, .program = 1}, arena, &other, &diags));
  for (uint32_t i = 0; i < cells.items.count; i++) {
    assert_true(cells.items.items[i].hash != quick.items.items[i].hash);
    assert_true(cells.items.items[i].hash != other.items.items[i].hash);
    for (uint32_t k = 0; k < i; k++) assert_true(cells.items.items[i].hash != cells.items.items[k].hash);
  }
  study_close(study);
  arena_free(arena);
  diags_free(&diags);
}

static void test_wrong_cells(void **state) {
  (void)state;
  static const struct {
    const char *text, *message;
    int line; // of the key
  } cases[] = {
      {"targets = one\nmachines = m\nsize = tiny\noptions = --protect dmr --size small\n",
       "'--size' in 'options': write it as the key 'size'", 7},
      {"targets = one\nmachines = m\noptions = --mac=other\n", "write it as the key 'machines'", 6},
      {"machines = m\n", "lacks 'targets'", 3},
      {"targets = one\n", "lacks 'machines'", 3},
      {"targets = @none\nmachines = m\n", "no set '@none'", 4},
      {"targets = one\nmachines = m\nlike = x\n", "no other of its kind named 'x'", 6},
      {"targets = one\nmachines = m\nlike = a\n", "leads back to itself", 6},
      {"targets = one\nmachines = m\nsweep = 1 2\n", "a sweep is written", 6},
      {"targets = one\nmachines = m\nsweep = n:\n", "has no values", 6},
      {"targets = one\nmachines = m\noptions = ${n}\n", "no sweep for", 6},
      {"targets = one\nmachines = m\nsweep = n: 1\noptions = ${n\n", "no sweep for", 7},
      {"targets = one\nmachines = m\noptions = 'open\n", "a quote is not closed", 6},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    Diags diags = {0};
    Arena *arena = arena_new();
    StudyFile *study = study_parse("s.ini", arena_format(arena, "[study]\ntitle = t\n[run a]\n%s", cases[i].text), &diags);
    assert_non_null(study);
    StudyCells cells;
    assert_false(study_cells(study, &(StudyChoice){.set = made_up_set}, arena, &cells, &diags));
    if (strstr(diags.items[0].text, cases[i].message) == NULL) fail_msg("case %zu: %s", i, diags.items[0].text);
    assert_int_equal(diags.items[0].line, cases[i].line);
    study_close(study);
    arena_free(arena);
    diags_free(&diags);
  }
}

// What is wrong in any case is found before a cell runs.
static void test_checked(void **state) {
  (void)state;
  static const struct {
    const char *text, *message; // NULL: good
    int line;
  } cases[] = {
      {"[claim c]\ntext = t\nsql = SELEC 1 AS value\n", "[claim c]: near", 14},
      {"[claim c]\ntext = t\nsql = SELECT cycle AS value FROM a\n", "[claim c]: no such column: cycle", 14},
      {"[measure m]\nsql = SELECT sdcs FROM s\n", "[measure m]: no such column: sdcs", 13},
      {"[table m]\ntitle = t\nsql = SELECT * FROM printed\n", "no such table: printed (neither a run", 14},
      {"[table m]\ntitle = t\nsql = SELECT 1; SELECT 2\n", "'sql' is one SELECT", 14},
      {"[measure m]\nsql = SELECT 1 AS one; SELECT 2\n", "'sql' is one SELECT", 13},
      {"[measure m]\nsql = DROP TABLE a\n", "'sql' is one SELECT", 13},
      {"[claim c]\ntext = t\npublished = some\nsql = SELECT 1 AS value\n", "a published number is written", 14},
      {"[claim c]\ntext = t\nsql = SELECT 1 AS number\n", "gives no column 'value'", 14},
      {"[chart c]\ntitle = t\nkind = pie\nsql = SELECT 1\n", "a chart's kind is", 14},
      {"[measure m]\nsql = SELECT n, sum(cycles) AS value, right, trap, avf_low, phase, settled FROM a JOIN s USING (target) JOIN s_phases "
       "USING "
       "(target) JOIN s_faults USING (target)\n[claim c]\ntext = t\nsql = SELECT value FROM m;\n",
       NULL, 0},
      {"[run b]\nlike = a\noptions = --observe ace --fault x\n[claim c]\ntext = t\nsql = SELECT ace_rf_dead AS value, golden_cycles, "
       "wrong_elements FROM b\n",
       NULL, 0},
      {"[claim c]\ntext = t\nsql = SELECT ace_rf_dead AS value FROM a\n", "no such column: ace_rf_dead", 14},
  };
  static const char *const columns[] = {"cycles", "n", NULL};
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    Diags diags = {0};
    Arena *arena = arena_new();
    StudyCells cells;
    const char *text = "[study]\ntitle = t\n[run a]\ntargets = one\nmachines = m\nsweep = n: 1 2\noptions = ${n}\n"
                       "[campaign s]\ntargets = one\nmachines = m\n\n";
    StudyFile *study = study_parse("nowhere/s.ini", arena_format(arena, "%s%s", text, cases[i].text), &diags);
    assert_non_null(study);
    assert_true(study_cells(study, &(StudyChoice){.set = made_up_set}, arena, &cells, &diags));
    bool good = study_check(study, &cells, columns, &diags);
    if (good != (cases[i].message == NULL)) fail_msg("case %zu: %s", i, diags.count > 0 ? diags.items[0].text : "passes");
    if (!good && (strstr(diags.items[0].text, cases[i].message) == NULL || diags.items[0].line != cases[i].line))
      fail_msg("case %zu: line %d: %s", i, diags.items[0].line, diags.items[0].text);
    study_close(study);
    arena_free(arena);
    diags_free(&diags);
  }
}

// ---- Findings ------------------------------------------------------------------------------------------------------------

static void test_figures(void **state) {
  (void)state;
  static const struct {
    const char *published, *tolerance;
    Ours ours;
    Finding finding;
  } cases[] = {
      {"1.5", "0.1", {1.6, 1.6, 1.6}, FINDING_AGREES},         {"1.5", "0.1", {1.61, 1.61, 1.61}, FINDING_DIFFERS},
      {"1.5", "0", {1.5, 1.5, 1.5}, FINDING_AGREES},           {"-0.5", "10%", {-0.55, -0.55, -0.55}, FINDING_AGREES},
      {"-0.5", "10%", {-0.56, -0.56, -0.56}, FINDING_DIFFERS}, {"1.5", "0.1", {1.5, 1.45, 1.55}, FINDING_AGREES},
      {"1.5", "0.1", {1.58, 1.5, 1.66}, FINDING_AGREES},    // reaches over the end, but is no wider than the range
      {"1.5", "0.1", {1.5, 1.2, 1.8}, FINDING_NOT_DECIDED}, // too wide
      {"1.5", "0.1", {1.65, 1.55, 1.75}, FINDING_NOT_DECIDED}, {"1.5", "0.1", {1.8, 1.7, 1.9}, FINDING_DIFFERS},
      {"<1.5", "0", {1.4, 1.4, 1.4}, FINDING_AGREES},          {"<1.5", "0", {1.4, 1.3, 1.6}, FINDING_NOT_DECIDED},
      {"<=1.36", "0", {1.5, 1.5, 1.5}, FINDING_DIFFERS},       {">0.5", "0", {0.6, 0.6, 0.6}, FINDING_AGREES},
      {">=0.5", "0", {0.4, 0.3, 0.45}, FINDING_DIFFERS},       {"1.16..1.19", "0", {1.17, 1.17, 1.17}, FINDING_AGREES},
      {"1.16..1.19", "0.01", {1.2, 1.2, 1.2}, FINDING_AGREES}, {"1.16..1.19", "0", {1.3, 1.3, 1.3}, FINDING_DIFFERS},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    Published published;
    Tolerance tolerance;
    assert_true(published_parse(cases[i].published, &published));
    assert_true(tolerance_parse(cases[i].tolerance, &tolerance));
    Finding finding = finding_of_figure(&cases[i].ours, &published, tolerance);
    if (finding != cases[i].finding) fail_msg("case %zu: %s", i, finding_names[finding]);
  }
  static const char *const wrong[] = {"", "x", "1..", "2..1", "1.5x", "<", "1.5 1.6"};
  for (size_t i = 0; i < COUNT_OF(wrong); i++) {
    Published published;
    assert_false(published_parse(wrong[i], &published));
  }
  Tolerance tolerance;
  assert_false(tolerance_parse("-1", &tolerance));
  assert_false(tolerance_parse("5 %%", &tolerance));
}

static void test_trends(void **state) {
  (void)state;
  assert_int_equal(finding_of_trend(&(Ours){1, 1, 1}), FINDING_AGREES);
  assert_int_equal(finding_of_trend(&(Ours){0, 0, 0}), FINDING_DIFFERS);
  assert_int_equal(finding_of_trend(&(Ours){1, -1, 3}), FINDING_NOT_DECIDED);
  assert_int_equal(finding_of_trend(&(Ours){-2, -3, -1}), FINDING_DIFFERS);
  const Finding yes = FINDING_AGREES, no = FINDING_DIFFERS, open = FINDING_NOT_DECIDED;
  assert_int_equal(finding_of_all((Finding[]){yes, yes}, 2), FINDING_AGREES);
  assert_int_equal(finding_of_all((Finding[]){yes, no}, 2), FINDING_IN_PART);
  assert_int_equal(finding_of_all((Finding[]){yes, open}, 2), FINDING_IN_PART);
  assert_int_equal(finding_of_all((Finding[]){no, open}, 2), FINDING_DIFFERS);
  assert_int_equal(finding_of_all((Finding[]){open, open}, 2), FINDING_NOT_DECIDED);
  assert_int_equal(finding_of_all(NULL, 0), FINDING_CANNOT);
}

// ---- Made-up results -----------------------------------------------------------------------------------------------------

static void write_file(const char *path, const char *text) {
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  assert_int_equal(fclose(file), 0);
}

// A trend is claimed only of groups of which at least half of the pairs are clear.
static void test_groups(void **state) {
  (void)state;
  static const struct {
    uint32_t follow, oppose, level;
    Finding finding;
  } cases[] = {{8, 0, 0, FINDING_AGREES},  {4, 0, 4, FINDING_AGREES},  {3, 0, 5, FINDING_NOT_DECIDED}, {0, 3, 5, FINDING_NOT_DECIDED},
               {5, 2, 1, FINDING_IN_PART}, {2, 2, 4, FINDING_DIFFERS}, {0, 6, 2, FINDING_DIFFERS},     {0, 0, 0, FINDING_NOT_DECIDED}};
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    Finding all[8];
    uint32_t count = 0;
    for (uint32_t k = 0; k < cases[i].follow; k++) all[count++] = FINDING_AGREES;
    for (uint32_t k = 0; k < cases[i].oppose; k++) all[count++] = FINDING_DIFFERS;
    for (uint32_t k = 0; k < cases[i].level; k++) all[count++] = FINDING_NOT_DECIDED;
    Finding found = finding_of_group(all, count);
    if (found != cases[i].finding) fail_msg("case %zu: %s", i, finding_names[found]);
  }
}

// Names that go together take their values together.
static void test_swept_together(void **state) {
  (void)state;
  Diags diags = {0};
  Arena *arena = arena_new();
  StudyCells cells;
  StudyFile *study = study_parse("s.ini",
                                 "[study]\ntitle = t\n[run a]\ntargets = w\nmachines = m\nsweep = x,y: 1,2 3,4 | z: 5 6\n"
                                 "options = --x ${x} --y ${y} --z ${z}\nmay_fail = yes\n",
                                 &diags);
  assert_non_null(study);
  assert_true(study_cells(study, &(StudyChoice){.set = made_up_set}, arena, &cells, &diags));
  assert_int_equal(cells.items.count, 4);
  Text text = {0};
  study_command(&cells.items.items[2], &text);
  assert_string_equal(text.at, "redoubt run w --machine m --x 3 --y 4 --z 5");
  assert_true(cells.items.items[2].may_fail);
  text_free(&text);
  study_close(study);
  study = study_parse("s.ini", "[study]\ntitle = t\n[run a]\ntargets = w\nmachines = m\nsweep = x,y: 1\n", &diags);
  assert_non_null(study);
  assert_false(study_cells(study, &(StudyChoice){.set = made_up_set}, arena, &cells, &diags));
  study_close(study);
  arena_free(arena);
  diags_free(&diags);
}

static const char judged_text[] =
    "[study]\ntitle = Made up\n"
    "[run a]\ntargets = one two\nmachines = m\nsweep = n: 1 2\noptions = ${n}\n"
    "[measure total]\nsql = SELECT target AS name, sum(cycles) AS value FROM a GROUP BY target\n"
    "[claim sum]\ntext = t\npublished = 100\ntolerance = 1\nsql = SELECT sum(value) AS value FROM total\n"
    "[claim each]\ntext = t\nsql = SELECT name, value, said AS published FROM total JOIN paper USING (name)\n"
    "[claim mean]\ntext = t\npublished = 20\ntolerance = 0.001\nsql = SELECT geomean(cycles) AS value FROM a WHERE n = 1\n"
    "[claim trend]\ntext = t\nsql = SELECT wilson_low(5, 10) AS value, wilson_low(5, 10) AS low, wilson_high(5, 10) AS high\n"
    "[claim pairs]\ntext = t\nsql = SELECT 'x' AS kind, 1 AS value UNION ALL SELECT 'x', 2 UNION ALL SELECT 'x', -1 UNION ALL SELECT '', "
    "-5\n"
    "[claim apart]\ntext = t\npublished = 0.2\ntolerance = 0.0001\nsql = SELECT 0.2 AS value, difference_low(48, 80, 56, 70) AS low,"
    " difference_high(48, 80, 56, 70) AS high\n"
    "[claim right]\ntext = t\npublished = 3\nsql = SELECT sum(right) AS value FROM a WHERE trap = 'none'\n"
    "[claim never]\ntext = t\ncannot = because\n";

// The same results in the quick form: values everywhere, and a judgement nowhere.
static void check_unjudged(StudyFile *study, const StudyCells *cells, StudyResults *results, Arena *arena, Diags *diags) {
  static const char *const judgements[] = {"agree", "differs", "not decided", "cannot be compared"};
  StudyOutcome outcome;
  assert_true(study_judge_all(study, cells, true, results, arena, &outcome, diags));
  study->builtin = "made";
  StudyIndex index = {.quick = true, .commit = "b04363f9c1d2"};
  IndexRows rows = {0}, own = {0};
  *VEC_PUSH(&index.studies, arena) = outcome;
  study_index_rows(&index, arena, &rows);
  for (uint32_t i = 0; i < rows.count; i++) {
    if (strcmp(rows.items[i].study, "made") == 0) *VEC_PUSH(&own, arena) = rows.items[i];
  }
  char *json = study_as_json(&outcome);
  Text texts[5] = {{0}};
  study_as_text(&outcome, &texts[0]);
  text_add(&texts[1], "%s", json);
  study_index_csv(&own, &texts[2]);
  study_index_markdown(&index, &own, &texts[3]);
  study_index_text(&index, &own, &texts[4]);
  for (size_t i = 0; i < COUNT_OF(texts); i++) {
    for (size_t k = 0; k < COUNT_OF(judgements); k++) {
      if (strstr(texts[i].at, judgements[k]) != NULL) fail_msg("text %zu says '%s': %s", i, judgements[k], texts[i].at);
    }
    assert_non_null(strstr(texts[i].at, "not judged"));
    text_free(&texts[i]);
  }
  assert_string_equal(own.items[0].ours, "100");
  assert_string_equal(own.items[1].ours, "30 to 70 in 2 rows");
  assert_string_equal(own.items[7].reason, "because");
  free(json);
}

static void test_judged(void **state) {
  (void)state;
  char folder[] = P_tmpdir "/redoubt-study-XXXXXX";
  assert_non_null(mkdtemp(folder));
  Diags diags = {0};
  Arena *arena = arena_new();
  write_file(arena_format(arena, "%s/paper.csv", folder), "# a comment\nname,said\none,30\n\"two\",\"71\"\n");
  assert_int_equal(mkdir(arena_format(arena, "%s/cells", folder), 0777), 0);
  StudyFile *study = study_parse(arena_format(arena, "%s/s.ini", folder), judged_text, &diags);
  assert_non_null(study);
  StudyCells cells;
  assert_true(study_cells(study, &(StudyChoice){.set = made_up_set}, arena, &cells, &diags));
  static const uint64_t cycles[] = {10, 20, 40, 30}; // one: 10 and 20, two: 40 and 30
  for (uint32_t i = 0; i < cells.items.count; i++)
    write_file(arena_format(arena, "%s/%s", folder, cells.items.items[i].file),
               arena_format(arena, "{\"total\": {\"cycles\": %llu, \"n\": 7, \"check\": \"%s\", \"trap\": \"none\"}}",
                            (unsigned long long)cycles[i], i == 2 ? "failed" : "passed"));
  StudyResults *results = study_collect(study, &cells, folder, &diags);
  assert_non_null(results);
  StudyOutcome outcome;
  assert_true(study_judge_all(study, &cells, false, results, arena, &outcome, &diags));
  static const Finding expected[] = {FINDING_AGREES,  FINDING_IN_PART,     FINDING_AGREES, FINDING_AGREES,
                                     FINDING_IN_PART, FINDING_NOT_DECIDED, FINDING_AGREES, FINDING_CANNOT};
  assert_int_equal(outcome.claims.count, COUNT_OF(expected));
  for (size_t i = 0; i < COUNT_OF(expected); i++) {
    if (outcome.claims.items[i].finding != expected[i]) fail_msg("claim %zu: %s", i, finding_names[outcome.claims.items[i].finding]);
  }
  const StudyTable *apart = &outcome.claims.items[5].table; // Newcombe 1998, table II, method 10: 56/70 - 48/80
  assert_float_equal(apart->rows.items[0][study_column(apart, "low")].number, 0.0524, 0.00005);
  assert_float_equal(apart->rows.items[0][study_column(apart, "high")].number, 0.3339, 0.00005);
  Text text = {0};
  study_as_text(&outcome, &text);
  assert_non_null(strstr(text.at, "8 claims: 4 agrees, 2 agrees in part, 1 not decided, 1 cannot be compared; 4 cells"));
  text_free(&text);
  check_unjudged(study, &cells, results, arena, &diags);
  study_results_close(results);
  study_close(study);
  assert_int_equal(system(arena_format(arena, "rm -r %s", folder)), 0);
  arena_free(arena);
  diags_free(&diags);
}

// A claim's numbers are numbers, and an interval begins at its lower end.
static void test_no_figures(void **state) {
  (void)state;
  static const struct {
    const char *sql, *message; // NULL: good
  } cases[] = {
      {"SELECT 'much' AS value", "[claim c]: `value` of row 1 is no number, but 'much'"},
      {"SELECT 1 AS value UNION ALL SELECT 'x'", "`value` of row 2 is no number"},
      {"SELECT 1 AS value, 2 AS low, 0.5 AS high", "[claim c]: `low` of row 1 is 2, above `high`, which is 0.5"},
      {"SELECT 1 AS value, 'a' AS low, 2 AS high", "`low` of row 1 is no number"},
      {"SELECT 1 AS value, 1 AS low, 1 AS high", NULL},
      {"SELECT NULL AS value, NULL AS low, NULL AS high", NULL},
  };
  static const char *const columns[] = {NULL};
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    Diags diags = {0};
    Arena *arena = arena_new();
    StudyCells cells = {.arena = arena};
    StudyOutcome outcome;
    StudyFile *study =
        study_parse("nowhere/s.ini", arena_format(arena, "[study]\ntitle = t\n[claim c]\ntext = t\nsql = %s\n", cases[i].sql), &diags);
    assert_non_null(study);
    StudyResults *results = study_shape(study, &cells, columns, &diags);
    assert_non_null(results);
    bool good = study_judge_all(study, &cells, false, results, arena, &outcome, &diags);
    if (good != (cases[i].message == NULL)) fail_msg("case %zu", i);
    if (!good && (strstr(diags.items[0].text, cases[i].message) == NULL || diags.items[0].line != 5))
      fail_msg("case %zu: line %d: %s", i, diags.items[0].line, diags.items[0].text);
    study_results_close(results);
    study_close(study);
    arena_free(arena);
    diags_free(&diags);
  }
}

// ---- The index -------------------------------------------------------------------------------------------------------------

static const IndexRow *row_of(const IndexRows *rows, const char *name) {
  for (uint32_t i = 0; i < rows->count; i++) {
    if (strcmp(rows->items[i].name, name) == 0) return &rows->items[i];
  }
  fail_msg("no row %s", name);
  return NULL;
}

// Claims that a study has judged stand with their findings, all others of the papers as not measured, and none twice.
static void test_index(void **state) {
  (void)state;
  Diags diags = {0};
  Arena *arena = arena_new();
  StudyFile *study =
      study_parse("s.ini", "[study]\ntitle = t\n[claim rise.full.time]\ntext = t\npublished = 1.58\nsql = SELECT 1\n", &diags);
  assert_non_null(study);
  study->builtin = "rise";
  StudyDatum data[] = {{DATUM_NUMBER, 1.5, "1.5"}, {DATUM_NUMBER, 1.4, "1.4"}, {DATUM_NUMBER, 1.6, "1.6"}};
  Finding finding = FINDING_AGREES;
  StudyOutcome outcome = {.study = study};
  StudyJudged *claim = VEC_PUSH(&outcome.claims, arena);
  *claim = (StudyJudged){.part = &study->parts.items[1], .finding = finding, .rows = &finding};
  static const char *const columns[] = {"value", "low", "high"};
  for (size_t i = 0; i < COUNT_OF(columns); i++) *VEC_PUSH(&claim->table.columns, arena) = columns[i];
  *VEC_PUSH(&claim->table.rows, arena) = data;
  StudyIndex none = {0}, one = {.quick = true, .commit = "b04363f9c1d2"};
  *VEC_PUSH(&one.studies, arena) = outcome;
  IndexRows before = {0}, after = {0};
  study_index_rows(&none, arena, &before);
  study_index_rows(&one, arena, &after);
  assert_int_equal(before.count, after.count);
  assert_string_equal(row_of(&before, "rise.full.time")->finding, index_not_run);
  assert_string_equal(row_of(&after, "rise.full.time")->finding, "agrees");
  assert_string_equal(row_of(&after, "rise.full.time")->ours, "1.5 (1.4 to 1.6)");
  assert_string_equal(row_of(&after, "shield.worst")->finding, index_not_run);
  assert_string_equal(row_of(&after, "rise.rp.time")->finding, index_not_measured);
  assert_string_equal(row_of(&after, "sheaffer.hit")->finding, index_not_run);
  Text text = {0};
  study_index_text(&one, &after, &text);
  assert_non_null(strstr(text.at, "1 agrees, "));
  assert_non_null(strstr(text.at, "Quick form"));
  text_free(&text);
  study_index_markdown(&one, &after, &text);
  assert_non_null(strstr(text.at, "\nResults of commit `b04363f9c1d2`.\n"));
  text_free(&text);
  study_close(study);
  arena_free(arena);
  diags_free(&diags);
}

static void test_builtin(void **state) {
  (void)state;
  for (uint32_t i = 0; i < builtin_study_file_count; i++) {
    if (strcmp(builtin_study_files[i].name, "study.ini") != 0) continue;
    Diags diags = {0};
    StudyFile *study = study_builtin(builtin_study_files[i].study, builtin_study_files[i].name, &diags);
    if (study == NULL) fail_msg("%s: %s", builtin_study_files[i].study, diags.items[0].text);
    study_close(study);
    diags_free(&diags);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_refused), cmocka_unit_test(test_cells),   cmocka_unit_test(test_wrong_cells),    cmocka_unit_test(test_figures),
      cmocka_unit_test(test_trends),  cmocka_unit_test(test_groups),  cmocka_unit_test(test_swept_together), cmocka_unit_test(test_judged),
      cmocka_unit_test(test_builtin), cmocka_unit_test(test_checked), cmocka_unit_test(test_no_figures),     cmocka_unit_test(test_index),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
