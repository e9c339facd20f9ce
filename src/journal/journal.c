// The journal in SQLite: opened, created, resumed, closed; see journal.h. Every statement that writes runs inside a transaction that
// journal_commit ends.
#include "journal/journal_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

// ---- Errors ----------------------------------------------------------------------------------------

// No room: on the disk, in the user's share of it, or in what a file may hold. SQLite has a code of its own for the first only, and
// its sqlite3_system_errno does not know the cause of a failed commit; errno still does.
static bool is_full(int code, int cause) {
  return code == SQLITE_FULL || (code == SQLITE_IOERR && (cause == ENOSPC || cause == EDQUOT || cause == EFBIG));
}

bool journal_error(const Journal *journal, const char *what, Diags *diags) {
  int cause = errno, code = journal->database == NULL ? SQLITE_NOMEM : sqlite3_errcode(journal->database);
  if (is_full(code, cause) && cause == EFBIG) {
    return diags_add(
        diags, journal->path, 0, 0,
        "may not become larger (ulimit -f); nothing that was reported done is lost: allow more and run the same command again");
  }
  if (is_full(code, cause)) {
    return diags_add(diags, journal->path, 0, 0,
                     "the disk is full; nothing that was reported done is lost: free some room and run the same command again");
  }
  if (code == SQLITE_BUSY) return diags_add(diags, journal->path, 0, 0, "another campaign is writing to this journal");
  if (code == SQLITE_READONLY || code == SQLITE_CANTOPEN) return diags_add(diags, journal->path, 0, 0, "cannot be written");
  if (code == SQLITE_NOTADB) return diags_add(diags, journal->path, 0, 0, "is not a journal of Redoubt");
  if (code == SQLITE_CORRUPT || code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE)
    return diags_add(diags, journal->path, 0, 0, "is damaged; keep a copy and start again under another name");
  return diags_add(diags, journal->path, 0, 0, "%s: %s", what, sqlite3_errmsg(journal->database));
}

bool journal_damaged(const Journal *journal, Diags *diags) { return journal_error(journal, "cannot be read", diags); }

static bool run_sql(Journal *journal, const char *sql, Diags *diags) {
  return sqlite3_exec(journal->database, sql, NULL, NULL, NULL) == SQLITE_OK || journal_error(journal, "cannot be written", diags);
}

void journal_cache(Journal *journal, int kilobytes) {
  char sql[64];
  snprintf(sql, sizeof sql, "PRAGMA cache_size = -%d", kilobytes);
  sqlite3_exec(journal->database, sql, NULL, NULL, NULL); // without it, only slower
}

sqlite3_stmt *journal_prepare(const Journal *journal, const char *sql) {
  sqlite3_stmt *statement = NULL;
  return sqlite3_prepare_v2(journal->database, sql, -1, &statement, NULL) == SQLITE_OK ? statement : NULL;
}

int64_t journal_number(const Journal *journal, const char *sql) {
  sqlite3_stmt *get = journal_prepare(journal, sql);
  int64_t number = get != NULL && sqlite3_step(get) == SQLITE_ROW ? sqlite3_column_int64(get, 0) : -1;
  sqlite3_finalize(get);
  return number;
}

const char *text_at(sqlite3_stmt *statement, int column) {
  const char *text = (const char *)sqlite3_column_text(statement, column);
  return text == NULL ? "" : text;
}

// ---- Meta ------------------------------------------------------------------------------------------

typedef struct MetaRow {
  const char *key, *value;
} MetaRow;
enum { META_ROWS = 20 };

static const char *part_text(const JournalMeta *meta, Arena *arena) {
  return meta->end == 0 ? "" : arena_format(arena, "%" PRIu64 "-%" PRIu64, meta->first, meta->end);
}

static void meta_rows(const JournalMeta *meta, Arena *arena, MetaRow rows[META_ROWS]) {
  const MetaRow all[META_ROWS] = {
      {"target", meta->target},
      {"arguments", meta->arguments},
      {"machine", meta->machine},
      {"settings", meta->settings},
      {"protection", meta->protection},
      {"model", meta->model},
      {"structures", meta->structures},
      {"window", meta->window},
      {"standing fault", meta->standing == NULL ? "" : meta->standing},
      {"tolerance", meta->tolerance == NULL ? "" : meta->tolerance},
      {"sampling", meta->sampling == NULL ? "" : meta->sampling},
      {"draw", meta->draw == NULL || meta->draw[0] == '\0' ? "all" : meta->draw},
      {"program hash", arena_format(arena, "%016" PRIx64, meta->program_hash)},
      {"layout hash", arena_format(arena, "%016" PRIx64, meta->layout_hash)},
      {"seed", arena_format(arena, "%" PRIu64, meta->seed)},
      {"timeout", arena_format(arena, "%" PRIu64, meta->timeout)},
      {"shard", arena_format(arena, "%" PRIu64, meta->shard)},
      {"shards", arena_format(arena, "%" PRIu64, meta->shards)},
      {"part", part_text(meta, arena)},
      {"enough", meta->enough == NULL ? "" : meta->enough},
  };
  memcpy(rows, all, sizeof all);
}

static bool write_meta(Journal *journal, const JournalMeta *meta, Diags *diags) {
  MetaRow rows[META_ROWS];
  meta_rows(meta, journal->arena, rows);
  sqlite3_stmt *put = journal_prepare(journal, "INSERT INTO meta VALUES (?1, ?2)");
  bool good = put != NULL;
  for (uint32_t i = 0; i < META_ROWS && good; i++) {
    sqlite3_bind_text(put, 1, rows[i].key, -1, SQLITE_TRANSIENT);
    sqlite3_bind_text(put, 2, rows[i].value, -1, SQLITE_TRANSIENT);
    good = sqlite3_step(put) == SQLITE_DONE;
    sqlite3_reset(put);
  }
  if (!good) journal_error(journal, "cannot be written", diags);
  sqlite3_finalize(put);
  return good;
}

static const char *meta_value(const Journal *journal, const char *key) {
  sqlite3_stmt *get = journal_prepare(journal, "SELECT value FROM meta WHERE key = ?1");
  const char *value = NULL;
  if (get != NULL) sqlite3_bind_text(get, 1, key, -1, SQLITE_STATIC);
  if (get != NULL && sqlite3_step(get) == SQLITE_ROW) value = arena_copy_text(journal->arena, text_at(get, 0), strlen(text_at(get, 0)));
  sqlite3_finalize(get);
  return value;
}

static const char *meta_text(const Journal *journal, const char *key) {
  const char *value = meta_value(journal, key);
  return value == NULL ? "" : value;
}

static uint64_t meta_number(const Journal *journal, const char *key, int base) { return strtoull(meta_text(journal, key), NULL, base); }

static void read_meta(Journal *journal) {
  journal->meta = (JournalMeta){.target = meta_text(journal, "target"),
                                .arguments = meta_text(journal, "arguments"),
                                .machine = meta_text(journal, "machine"),
                                .settings = meta_text(journal, "settings"),
                                .protection = meta_text(journal, "protection"),
                                .model = meta_text(journal, "model"),
                                .structures = meta_text(journal, "structures"),
                                .window = meta_text(journal, "window"),
                                .standing = meta_text(journal, "standing fault"),
                                .tolerance = meta_text(journal, "tolerance"),
                                .sampling = meta_text(journal, "sampling"),
                                .draw = meta_text(journal, "draw"),
                                .program_hash = meta_number(journal, "program hash", 16),
                                .layout_hash = meta_number(journal, "layout hash", 16),
                                .seed = meta_number(journal, "seed", 10),
                                .timeout = meta_number(journal, "timeout", 10),
                                .shard = meta_number(journal, "shard", 10),
                                .shards = meta_number(journal, "shards", 10),
                                .enough = meta_text(journal, "enough")};
  if (sscanf(meta_text(journal, "part"), "%" SCNu64 "-%" SCNu64, &journal->meta.first, &journal->meta.end) != 2)
    journal->meta.first = journal->meta.end = 0;
}

// ---- Notes -----------------------------------------------------------------------------------------

const char *const note_keys[NOTE_COUNT] = {
#define NOTE(id, key, meaning) key,
#include "journal/note.def"
#undef NOTE
};

bool journal_put_note(Journal *journal, JournalNote note, const char *value, Diags *diags) {
  sqlite3_stmt *put = journal_prepare(journal, "INSERT OR REPLACE INTO meta VALUES (?1, ?2)");
  bool good = put != NULL;
  if (good) {
    sqlite3_bind_text(put, 1, note_keys[note], -1, SQLITE_STATIC);
    sqlite3_bind_text(put, 2, value, -1, SQLITE_TRANSIENT);
    good = sqlite3_step(put) == SQLITE_DONE;
  }
  if (!good) journal_error(journal, "cannot be written", diags);
  sqlite3_finalize(put);
  return good;
}

const char *journal_note(const Journal *journal, JournalNote note) { return meta_text(journal, note_keys[note]); }

static bool put_number(Journal *journal, JournalNote note, uint64_t value, Diags *diags) {
  return journal_put_note(journal, note, arena_format(journal->arena, "%" PRIu64, value), diags);
}

bool journal_begin(Journal *journal, const JournalPlan *plan, Diags *diags) {
  return put_number(journal, NOTE_ASKED_FAULTS, plan->faults, diags) &&
         journal_put_note(journal, NOTE_ASKED_MARGIN, arena_format(journal->arena, "%.9g", plan->margin), diags) &&
         journal_put_note(journal, NOTE_ASKED_CONFIDENCE, arena_format(journal->arena, "%.9g", plan->confidence), diags) &&
         journal_reached(journal, 0, false, diags);
}

bool journal_reached(Journal *journal, uint64_t below, bool complete, Diags *diags) {
  return put_number(journal, NOTE_SETTLED_BELOW, below, diags) && put_number(journal, NOTE_COMPLETE, complete, diags);
}

// Faults that a shard or a part has below a number.
static uint64_t part_below(const JournalMeta *meta, uint64_t below) {
  if (meta->end > 0) return max_u64(meta->first, min_u64(below, meta->end)) - meta->first;
  uint64_t shards = max_u64(meta->shards, 1);
  return below / shards + (below % shards > meta->shard);
}

// Beyond what is known to be settled: as far as no number is missing.
static uint64_t extend_below(const Journal *journal, uint64_t below) {
  below = max_u64(below, journal->meta.first);
  uint64_t shards = max_u64(journal->meta.shards, 1), next = below + (journal->meta.shard + shards - below % shards) % shards;
  sqlite3_stmt *get = journal_prepare(journal, "SELECT id FROM faults WHERE id >= ?1 ORDER BY id");
  if (get != NULL) sqlite3_bind_int64(get, 1, (sqlite3_int64)below);
  bool any = false;
  while (get != NULL && sqlite3_step(get) == SQLITE_ROW && (uint64_t)sqlite3_column_int64(get, 0) == next) {
    next += shards;
    any = true;
  }
  sqlite3_finalize(get);
  return any ? next : below;
}

static uint64_t rows_below(const Journal *journal, uint64_t below) {
  uint64_t rows = 0;
  sqlite3_stmt *get = journal_prepare(journal, "SELECT count(*) FROM faults WHERE id < ?1");
  if (get != NULL) sqlite3_bind_int64(get, 1, (sqlite3_int64)min_u64(below, INT64_MAX));
  if (get != NULL && sqlite3_step(get) == SQLITE_ROW) rows = (uint64_t)sqlite3_column_int64(get, 0);
  sqlite3_finalize(get);
  return rows;
}

JournalState journal_state(const Journal *journal) {
  const JournalMeta *meta = &journal->meta;
  JournalState state = {.complete = meta_number(journal, note_keys[NOTE_COMPLETE], 10) == 1};
  uint64_t settled = meta_number(journal, note_keys[NOTE_SETTLED_BELOW], 10);
  bool has_margin = strtod(meta_text(journal, note_keys[NOTE_ASKED_MARGIN]), NULL) > 0;
  state.asked = part_below(meta, meta_number(journal, note_keys[NOTE_ASKED_FAULTS], 10));
  state.done = journal_fault_count(journal);
  // Rows that somebody has removed are wanted again. With a margin it is not known which numbers were wanted.
  if (!has_margin && rows_below(journal, settled) < part_below(meta, settled)) {
    settled = 0;
    state.complete = false;
  }
  state.below = extend_below(journal, settled);
  state.sample = rows_below(journal, state.below);
  if (!has_margin && state.asked > 0 && state.sample >= state.asked) state.complete = true; // ended before it could say so
  // Journals of version 3 do not know; without a gap they are taken for whole.
  if (state.asked == 0) state.complete = state.sample == state.done;
  return state;
}

// ---- Identity --------------------------------------------------------------------------------------

// The line at `at` of a text, for people: of a damaged file it may hold what a terminal would obey.
static const char *shown_line(Arena *arena, const char *text, size_t at) {
  char *line = arena_copy_text(arena, text + at, strcspn(text + at, "\n"));
  for (char *c = line; *c != '\0'; c++) {
    if ((unsigned char)*c < 0x20 || *c == 0x7f) *c = '?';
  }
  return line;
}

// A journal is resumed only by the campaign that began it.
bool journal_same_meta(const Journal *journal, const JournalMeta *meta, Diags *diags) {
  MetaRow rows[META_ROWS];
  meta_rows(meta, journal->arena, rows);
  for (uint32_t i = 0; i < META_ROWS; i++) {
    const char *there = meta_text(journal, rows[i].key);
    if (strcmp(rows[i].key, "draw") == 0 && there[0] == '\0') there = "all"; // older journals do not say
    if (strcmp(there, rows[i].value) == 0) continue;
    if (strcmp(rows[i].key, "sampling") == 0 && there[0] == '\0')
      return diags_add(diags, journal->path, 0, 0,
                       "was made by an older Redoubt, which drew other faults: it can be read and replayed, but not gone on with; choose "
                       "another file with -o");
    size_t at = 0;
    while (there[at] != '\0' && there[at] == rows[i].value[at]) at++;
    while (at > 0 && there[at - 1] != '\n') at--;
    return diags_add(diags, journal->path, 0, 0,
                     "belongs to another campaign: its %s is '%s', not '%s'; choose another file with -o, or repeat the first command",
                     rows[i].key, shown_line(journal->arena, there, at), shown_line(journal->arena, rows[i].value, at));
  }
  return true;
}

// ---- Opened and closed -----------------------------------------------------------------------------

static Journal *open_database(const char *path, int flags, Diags *diags) {
  struct stat about;
  if (stat(path, &about) == 0 && S_ISDIR(about.st_mode)) {
    diags_add(diags, path, 0, 0, "is a folder, not a journal: name the journals in it");
    return NULL;
  }
  Journal *journal = calloc(1, sizeof *journal);
  ASSERT(journal != NULL);
  journal->arena = arena_new();
  journal->below = INT64_MAX;
  journal->path = arena_copy_text(journal->arena, path, strlen(path));
  // There are no threads.
  if (sqlite3_open_v2(path, &journal->database, flags | SQLITE_OPEN_NOMUTEX, NULL) == SQLITE_OK) {
    sqlite3_busy_timeout(journal->database, 2000);
    sqlite3_db_config(journal->database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL); // a file from somebody else runs nothing of its own
    sqlite3_db_config(journal->database, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    return journal;
  }
  if ((flags & SQLITE_OPEN_READONLY) != 0 && access(path, F_OK) != 0) diags_add(diags, path, 0, 0, "no such file");
  else journal_error(journal, "cannot be opened", diags);
  journal_close(journal);
  return NULL;
}

static bool prepare_statements(Journal *journal, Diags *diags) {
  int length = (int)strlen(fault_insert) - 1;
  sqlite3_prepare_v2(journal->database, fault_insert, length, &journal->put, NULL);
  return journal->put != NULL || journal_error(journal, "cannot be used", diags);
}

// Numbers of faults are nearly dense, since campaigns settle them in batches: who resumes makes room for all up to the largest.
static bool are_numbers_sound(const Journal *journal) {
  enum { MOST_HOLES = 1 << 16 };
  int64_t count = journal_number(journal, "SELECT count(*) FROM faults"), largest = journal_number(journal, "SELECT max(id) FROM faults");
  int64_t least = journal_number(journal, "SELECT min(id) FROM faults");
  if (count < 0 || least < 0 || largest < 0) return count == 0;
  uint64_t before = min_u64(strtoull(meta_text(journal, "part"), NULL, 10), (uint64_t)largest);
  return ((uint64_t)largest - before) / max_u64(meta_number(journal, "shards", 10), 1) <= 2 * (uint64_t)count + MOST_HOLES;
}

// Words in the rows that nobody wrote.
static bool are_words_sound(const Journal *journal) {
  FaultCursor *cursor = journal_faults(journal);
  for (FaultRow row; journal_next_fault(cursor, &row);) continue;
  return journal_end_faults(cursor);
}

// A resumed journal must be whole: what is missing from a damaged one would be simulated again, and the rest be believed.
static bool is_sound(const Journal *journal, Diags *diags) {
  sqlite3_stmt *get = journal_prepare(journal, "PRAGMA quick_check(1)");
  bool good = get != NULL && sqlite3_step(get) == SQLITE_ROW && strcmp(text_at(get, 0), "ok") == 0;
  sqlite3_finalize(get);
  good = good && are_numbers_sound(journal);
  return good || diags_add(diags, journal->path, 0, 0, "is damaged; keep a copy and start again under another name");
}

// A file that is not ours is not touched. FULL: what was committed outlives a power failure.
static bool begin_writing(Journal *journal, const JournalMeta *meta, Diags *diags) {
  bool is_new = journal_number(journal, "SELECT count(*) FROM sqlite_master") == 0;
  if (!is_new && !(schema_check(journal, diags) && is_sound(journal, diags) && journal_same_meta(journal, meta, diags))) return false;
  if (!run_sql(journal, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;", diags)) return false;
  if (!run_sql(journal, "BEGIN IMMEDIATE", diags)) return false;
  if (is_new && !(schema_create(journal, diags) && write_meta(journal, meta, diags))) return false;
  if (!is_new && !schema_migrate(journal, diags)) return false;
  if (!run_sql(journal, "COMMIT", diags)) return false;
  read_meta(journal);
  if (!are_words_sound(journal)) return journal_error(journal, "cannot be read", diags);
  return prepare_statements(journal, diags) && run_sql(journal, "BEGIN IMMEDIATE", diags);
}

Journal *journal_open(const char *path, const JournalMeta *meta, Diags *diags) {
  Journal *journal = open_database(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, diags);
  if (journal == NULL) return NULL;
  if (begin_writing(journal, meta, diags)) return journal;
  if (journal->put == NULL && sqlite3_get_autocommit(journal->database) == 0)
    sqlite3_exec(journal->database, "ROLLBACK", NULL, NULL, NULL); // half a migration is none
  journal_close(journal);
  return NULL;
}

bool journal_replace_note(const char *path, JournalNote note, const char *value, Diags *diags) {
  Journal *journal = open_database(path, SQLITE_OPEN_READWRITE, diags);
  bool good = journal != NULL && schema_check(journal, diags) && journal_put_note(journal, note, value, diags);
  journal_close(journal);
  return good;
}

// What is read only is not changed: a journal of version 3 is brought up to date in memory.
static bool copy_to_memory(Journal *journal, Diags *diags) {
  sqlite3 *memory = NULL;
  bool good = sqlite3_open(":memory:", &memory) == SQLITE_OK;
  sqlite3_backup *backup = good ? sqlite3_backup_init(memory, "main", journal->database, "main") : NULL;
  good = backup != NULL && sqlite3_backup_step(backup, -1) == SQLITE_DONE;
  good = sqlite3_backup_finish(backup) == SQLITE_OK && good;
  sqlite3_close(journal->database);
  journal->database = memory;
  return good || journal_error(journal, "cannot be read", diags);
}

Journal *journal_read(const char *path, Diags *diags) {
  Journal *journal = open_database(path, SQLITE_OPEN_READONLY, diags);
  if (journal == NULL) return NULL;
  bool good = schema_check(journal, diags);
  int version = good ? schema_version(journal) : JOURNAL_VERSION;
  if (version == 4 || version == 5) good = schema_look_back(journal, diags);
  else if (version < 4) good = copy_to_memory(journal, diags) && schema_migrate(journal, diags);
  if (good) read_meta(journal);
  good = good && journal_limit(journal, INT64_MAX, diags);
  if (good) return journal;
  journal_close(journal);
  return NULL;
}

void journal_close(Journal *journal) {
  if (journal == NULL) return;
  bool is_writer = journal->put != NULL;
  sqlite3_finalize(journal->put);
  if (journal->database != NULL && sqlite3_get_autocommit(journal->database) == 0)
    sqlite3_exec(journal->database, "COMMIT", NULL, NULL, NULL);
  // A journal at rest is one plain file, which can be read where nothing may be written. Where that fails it stays as it is.
  if (is_writer) sqlite3_exec(journal->database, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL);
  sqlite3_close(journal->database);
  arena_free(journal->arena);
  free(journal);
}

const JournalMeta *journal_meta(const Journal *journal) { return &journal->meta; }

// Without a transaction there is nothing to commit: what ended it has been told.
bool journal_commit(Journal *journal, Diags *diags) {
  if (sqlite3_get_autocommit(journal->database) != 0) return false;
  return run_sql(journal, "COMMIT; BEGIN IMMEDIATE", diags);
}

uint64_t journal_fault_count(const Journal *journal) {
  int64_t count = journal_number(journal, "SELECT count(*) FROM faults");
  return count < 0 ? 0 : (uint64_t)count;
}

const char *journal_path(const Journal *journal) { return journal->path; }
