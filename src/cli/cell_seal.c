// See cell_seal.h. A journal is known by its rows, not by the bytes of its file, which SQLite may change. Only what is whole gets a seal: a result
// without one may be anything.
#include "cli/cell_seal.h"
#include "cli/campaign.h"
#include "cluster/cluster.h"
#include "study/study.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <unistd.h>

static char *seal_path(const CellName *name, Arena *arena) { return arena_format(arena, "%s.seal", name->path); }

static const char *last_part(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash != NULL ? slash + 1 : path;
}

static json_t *hex(uint64_t value) {
  char text[24];
  snprintf(text, sizeof text, "%016" PRIx64, value);
  return json_string(text);
}

// Bytes that are no UTF-8 cannot stand in JSON.
static json_t *command_of(const CellName *name) {
  Text command = {0}, visible = {0};
  study_words(name->words, name->word_count, &command);
  text_add_visible(&visible, command.at, command.length, "");
  json_t *text = json_string(visible.at);
  text_free(&command);
  text_free(&visible);
  return text;
}

static bool rows_hash(const Journal *journal, const CellName *name, const char *result, uint64_t *hash) {
  return name->is_run ? file_hash(result, hash) : journal_hash(journal, hash);
}

static json_t *seal_of(const CellName *name, uint64_t rows) {
  return json_pack("{s:s, s:o, s:o, s:o}", "cell", last_part(name->path), "command", command_of(name), "program", hex(name->program),
                   "rows", hex(rows));
}

bool cell_seal(const CellName *name, const char *result, Diags *diags) {
  Arena *arena = arena_new();
  Text text = {0};
  uint64_t rows = 0;
  Journal *journal = name->is_run ? NULL : journal_read(result, diags);
  bool good = name->is_run || journal != NULL;
  good = good && (rows_hash(journal, name, result, &rows) || diags_add(diags, result, 0, 0, "cannot be read to the end"));
  journal_close(journal);
  if (good) {
    json_t *seal = seal_of(name, rows);
    char *lines = json_dumps(seal, JSON_INDENT(1) | JSON_SORT_KEYS);
    ASSERT(lines != NULL);
    text_add(&text, "%s\n", lines);
    free(lines);
    json_decref(seal);
    good = text_publish(seal_path(name, arena), &text, diags);
  }
  text_free(&text);
  arena_free(arena);
  return good;
}

void cell_remove(const CellName *name) {
  static const char *const endings[] = {".seal", "", "-wal", "-shm", "-journal"};
  Arena *arena = arena_new();
  for (size_t i = 0; i < COUNT_OF(endings); i++) unlink(arena_format(arena, "%s%s", name->path, endings[i]));
  arena_free(arena);
}

// ---- Looked at ---------------------------------------------------------------------------------------------------------

static CellState misfit(Text *why, const char *what) {
  text_add(why, "%s", what);
  return CELL_MISFIT;
}

static bool says_same(const json_t *seal, const json_t *wanted, const char *key) {
  return json_equal(json_object_get(seal, key), json_object_get(wanted, key)) != 0;
}

static CellState compare(const CellName *name, const Journal *journal, const json_t *seal, Text *why) {
  uint64_t rows = 0;
  bool is_read = rows_hash(journal, name, name->path, &rows);
  json_t *wanted = seal_of(name, rows);
  bool is_ours = says_same(seal, wanted, "cell") && says_same(seal, wanted, "command") && says_same(seal, wanted, "program");
  bool is_same = is_read && says_same(seal, wanted, "rows");
  json_decref(wanted);
  if (!is_ours) return misfit(why, "its seal is of another cell");
  return is_same ? CELL_DONE : misfit(why, is_read ? "it was changed, or belongs to another cell" : "it is damaged");
}

// One that was interrupted goes on, if this cell's command has begun it.
static CellState look_at_unfinished(const CellName *name, const Journal *journal, Text *why) {
  Arena *arena = arena_new();
  uint64_t rows;
  const char *command = command_text(arena, name->words, name->word_count);
  const char *program = arena_format(arena, "%016" PRIx64, name->program), *begun = journal_note(journal, NOTE_COMMAND);
  bool is_ours = strncmp(begun, command, strlen(command)) == 0 && begun[strlen(command)] == ' ' &&
                 strcmp(journal_note(journal, NOTE_BINARY), program) == 0;
  CellState state = CELL_UNFINISHED;
  if (!journal_hash(journal, &rows)) state = misfit(why, "it is damaged");
  else if (!is_ours) state = misfit(why, "another command has begun it");
  else if (journal_state(journal).complete) state = misfit(why, "it has no seal");
  arena_free(arena);
  return state;
}

static CellState look_at(const CellName *name, const json_t *seal, Text *why) {
  if (name->is_run) return seal != NULL ? compare(name, NULL, seal, why) : misfit(why, "it has no seal");
  Diags diags = {0};
  Journal *journal = journal_read(name->path, &diags);
  CellState state;
  if (journal == NULL) state = misfit(why, diags.count > 0 ? diags.items[0].text : "it is no journal");
  else state = seal != NULL ? compare(name, journal, seal, why) : look_at_unfinished(name, journal, why);
  journal_close(journal);
  diags_free(&diags);
  return state;
}

CellState cell_state(const CellName *name, Text *why) {
  if (access(name->path, F_OK) != 0) return CELL_ABSENT;
  Arena *arena = arena_new();
  const char *path = seal_path(name, arena);
  json_t *seal = json_load_file(path, 0, NULL);
  CellState state;
  if (seal == NULL && access(path, F_OK) == 0) state = misfit(why, "its seal is damaged");
  else state = look_at(name, seal, why);
  json_decref(seal);
  arena_free(arena);
  return state;
}
