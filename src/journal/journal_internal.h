// What the files of the journal share.
#ifndef REDOUBT_JOURNAL_INTERNAL_H
#define REDOUBT_JOURNAL_INTERNAL_H

#include "journal/journal.h"

#include <sqlite3.h>

struct Journal {
  sqlite3 *database;
  const char *path;
  Arena *arena;
  JournalMeta meta;
  sqlite3_stmt *put, *has;
};

// What went wrong last, as a diagnostic; always false.
bool journal_error(const Journal *journal, const char *what, Diags *diags);
// Whether it is of this campaign; if not, says what differs.
bool journal_same_meta(const Journal *journal, const JournalMeta *meta, Diags *diags);

#endif
