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
  uint64_t below;    // faults with larger numbers are not read
  sqlite3_stmt *put; // a fault; NULL: read only
};

// What went wrong last, as a diagnostic; always false.
bool journal_error(const Journal *journal, const char *what, Diags *diags);
// Whether it is of this campaign; if not, says what differs.
bool journal_same_meta(const Journal *journal, const JournalMeta *meta, Diags *diags);
void journal_cache(Journal *journal, int kilobytes);                    // how much of the file may stay in memory
sqlite3_stmt *journal_prepare(const Journal *journal, const char *sql); // NULL: journal_error says why
bool journal_has_drawn(const Journal *journal);                         // the table of DrawnRows: older journals have none
int64_t journal_number(const Journal *journal, const char *sql);        // its first column; -1: none
const char *text_at(sqlite3_stmt *statement, int column);               // "" for NULL

// ---- The file's format (schema.c) ----------------------------------------------------------------------
enum {
#define COLUMN(name, type, meaning) COLUMN_##name,
#include "journal/fault.def"
#undef COLUMN
  COLUMNS
};
extern const char fault_insert[]; // INSERT with a parameter for each column, and a comma too many
extern const char fault_select[]; // SELECT every column FROM faults, to be gone on with
bool schema_create(Journal *journal, Diags *diags);
bool schema_check(const Journal *journal, Diags *diags); // a journal, of a version that can be read, in plain tables of bearable size
int schema_version(const Journal *journal);
bool schema_migrate(Journal *journal, Diags *diags);   // to this version, if it is older
bool schema_look_back(Journal *journal, Diags *diags); // one of version 4 or 5 is read as if it were of this, and not changed

#endif
