// Our mathematical functions of SQL beside SQLite's own, where this one has them, and by values that are known.
#include "study/sql_bounds.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void test_functions(void **state) {
  (void)state;
  static const char *const asked[] = {"abs(log10(1000) - 3) < 1e-12",
                                      "abs(log(100) - 2) < 1e-12",
                                      "abs(log2(8) - 3) < 1e-12",
                                      "abs(ln(exp(2)) - 2) < 1e-12",
                                      "abs(pow(2, 10) - 1024) < 1e-12",
                                      "abs(power(4, 0.5) - 2) < 1e-12",
                                      "abs(sqrt(16) - 4) < 1e-12",
                                      "abs(ceil(1.5) - 2) < 1e-12",
                                      "abs(floor('-1.5') + 2) < 1e-12",
                                      "log10(0) IS NULL",
                                      "ln(-1) IS NULL",
                                      "sqrt(-1) IS NULL",
                                      "pow(NULL, 2) IS NULL",
                                      "pow(2, 'x') IS NULL",
                                      "exp('x') IS NULL",
                                      "pow(-8, 1.0 / 3) IS NULL",
                                      "log10(NULL) IS NULL",
                                      "abs(log2('8') - 3) < 1e-12"};
  for (int ours = 0; ours < 2; ours++) {
    if (!ours && !sqlite3_compileoption_used("ENABLE_MATH_FUNCTIONS")) continue;
    sqlite3 *database;
    assert_int_equal(sqlite3_open(":memory:", &database), SQLITE_OK);
    assert_true(!ours || sql_add_mathematics(database));
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
      sqlite3_stmt *statement;
      char *text = sqlite3_mprintf("SELECT %s", asked[i]);
      assert_int_equal(sqlite3_prepare_v2(database, text, -1, &statement, NULL), SQLITE_OK);
      assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
      if (sqlite3_column_int(statement, 0) != 1) fail_msg("%s: not so%s", text, ours ? "" : " in SQLite");
      sqlite3_finalize(statement);
      sqlite3_free(text);
    }
    sqlite3_close(database);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_functions)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
