// See sql_bounds.h. SQLite asks now and then whether to go on. Values are short, so that it asks often.
#include "study/sql_bounds.h"
#include "base/process.h"

#include <sys/resource.h>

enum { STEPS = 100 }; // of SQLite's machine, between two looks at the clock

// The clock costs next to nothing; the processor's time is asked for once the clock says that it may be over.
static int is_over(void *context) {
  const SqlBounds *bounds = context;
  return clock_seconds() > bounds->clock && process_seconds(RUSAGE_SELF) > bounds->used;
}

void sql_bound(sqlite3 *database, SqlBounds *bounds) {
  sqlite3_limit(database, SQLITE_LIMIT_LENGTH, SQL_VALUE_BYTES);
  sqlite3_progress_handler(database, STEPS, is_over, bounds);
  sql_begin(bounds);
}

void sql_begin(SqlBounds *bounds) {
  bounds->clock = clock_seconds() + bounds->seconds;
  bounds->used = process_seconds(RUSAGE_SELF) + bounds->seconds;
}

const char *sql_remedy(int code, const SqlBounds *bounds, Arena *arena) {
  if (code == SQLITE_TOOBIG) return arena_format(arena, ": a value may have %d bytes", SQL_VALUE_BYTES);
  if (code != SQLITE_INTERRUPT) return "";
  return arena_format(arena, " after %g s of processor time: does it end? Look at recursion, and at joins without a condition",
                      bounds->seconds);
}
