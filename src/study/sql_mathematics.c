// Mathematical functions of SQL where the SQLite at hand was built without them: before 3.35 there are none, and later they are a choice of whoever builds
// it. As SQLite's own: NULL for what is no number, and where there is no result.
#include "base/base.h"
#include "study/sql_bounds.h"

#include <math.h>

typedef double Function(double);

static void apply(sqlite3_context *context, int count, sqlite3_value **values) {
  (void)count;
  Function *const *function = sqlite3_user_data(context);
  int type = sqlite3_value_numeric_type(values[0]);
  if (type != SQLITE_INTEGER && type != SQLITE_FLOAT) return;
  sqlite3_result_double(context, (*function)(sqlite3_value_double(values[0]))); // not a number: NULL
}

static void apply_logarithm(sqlite3_context *context, int count, sqlite3_value **values) { // of 0 and less there is none
  if (sqlite3_value_double(values[0]) > 0) apply(context, count, values);
}

static void apply_power(sqlite3_context *context, int count, sqlite3_value **values) {
  for (int i = 0; i < count; i++) {
    int type = sqlite3_value_numeric_type(values[i]);
    if (type != SQLITE_INTEGER && type != SQLITE_FLOAT) return;
  }
  sqlite3_result_double(context, pow(sqlite3_value_double(values[0]), sqlite3_value_double(values[1])));
}

bool sql_add_mathematics(sqlite3 *database) {
  static const struct {
    const char *name;
    Function *function;
    void (*apply)(sqlite3_context *, int, sqlite3_value **);
  } rows[] = {{"exp", exp, apply},
              {"sqrt", sqrt, apply},
              {"ceil", ceil, apply},
              {"floor", floor, apply},
              {"ln", log, apply_logarithm},
              {"log", log10, apply_logarithm},
              {"log10", log10, apply_logarithm},
              {"log2", log2, apply_logarithm}};
  const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC;
  bool good = true;
  for (size_t i = 0; i < COUNT_OF(rows); i++) {
    void *function = (void *)(uintptr_t)&rows[i].function;
    good = good && sqlite3_create_function(database, rows[i].name, 1, flags, function, rows[i].apply, NULL, NULL) == SQLITE_OK;
  }
  return good && sqlite3_create_function(database, "pow", 2, flags, NULL, apply_power, NULL, NULL) == SQLITE_OK &&
         sqlite3_create_function(database, "power", 2, flags, NULL, apply_power, NULL, NULL) == SQLITE_OK;
}
