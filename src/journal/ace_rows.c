// What ACE analysis found, as tables of a journal (ace.def).
#include "journal/journal_internal.h"

static const struct {
  const char *name, *columns;
} tables[JOURNAL_ACE_TABLES] = {
#define TABLE(id, name, columns, meaning) {name, columns},
#include "journal/ace.def"
#undef TABLE
};

bool journal_begin_ace(Journal *journal, Diags *diags) {
  for (uint32_t i = 0; i < JOURNAL_ACE_TABLES; i++) {
    char *sql = sqlite3_mprintf("DROP TABLE IF EXISTS %s; CREATE TABLE %s (%s)", tables[i].name, tables[i].name, tables[i].columns);
    bool good = sql != NULL && sqlite3_exec(journal->database, sql, NULL, NULL, NULL) == SQLITE_OK;
    sqlite3_free(sql);
    if (!good) return journal_error(journal, "cannot be written", diags);
  }
  return true;
}

static void bind(sqlite3_stmt *put, int at, const Cell *cell) {
  switch (cell->kind) {
  case CELL_NULL: sqlite3_bind_null(put, at); break;
  case CELL_INTEGER: sqlite3_bind_int64(put, at, cell->integer); break;
  case CELL_REAL: sqlite3_bind_double(put, at, cell->real); break;
  case CELL_TEXT: sqlite3_bind_text(put, at, cell->text, -1, SQLITE_TRANSIENT); break;
  }
}

bool journal_put_ace(Journal *journal, JournalAceTable table, const Cell *cells, uint32_t count, Diags *diags) {
  static const char marks[] = "?,?,?,?,?,?,?,?";
  char sql[96];
  sqlite3_snprintf(sizeof sql, sql, "INSERT INTO %s VALUES (%.*s)", tables[table].name, (int)(2 * count - 1), marks);
  sqlite3_stmt *put = journal_prepare(journal, sql);
  bool good = put != NULL;
  for (uint32_t i = 0; i < count && good; i++) bind(put, (int)i + 1, &cells[i]);
  good = good && sqlite3_step(put) == SQLITE_DONE;
  if (!good) journal_error(journal, "cannot be written", diags);
  sqlite3_finalize(put);
  return good;
}

bool journal_has_ace(const Journal *journal) {
  return journal_number(journal, "SELECT count(*) FROM sqlite_master WHERE name = 'ace' AND type = 'table'") == 1;
}
