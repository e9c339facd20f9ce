// What users' SQL may cost: a slip in a study must end, with a message.
#ifndef REDOUBT_STUDY_SQL_BOUNDS_H
#define REDOUBT_STUDY_SQL_BOUNDS_H

#include "base/base.h"

#include <sqlite3.h>

enum {
  SQL_VALUE_BYTES = 100000,    // of one value, and of one row
  SQL_TABLE_BYTES = 256 << 20, // of a table that is shown or judged
  SQL_CHECK_SECONDS = 2,       // of processor time, for one `sql`: over tables without rows
  SQL_SECONDS = 60,            // over the results
};

typedef struct SqlBounds {
  double seconds;     // of processor time, for one `sql`
  double clock, used; // when it may be over: of the clock, of the processor's time
} SqlBounds;
void sql_bound(sqlite3 *database, SqlBounds *bounds); // from now on; `bounds` lasts as long as the database
void sql_begin(SqlBounds *bounds);                    // an `sql` begins
// What to add to SQLite's message: how to mend it; "": that says enough.
const char *sql_remedy(int code, const SqlBounds *bounds, Arena *arena);

// The mathematical functions of SQL, where sqlite3_compileoption_used("ENABLE_MATH_FUNCTIONS") says that there are none. (sql_mathematics.c)
bool sql_add_mathematics(sqlite3 *database);

#endif
