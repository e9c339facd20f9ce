// Which line of which source file a line of PTX comes from: compilers say so with .file and .loc (nvcc -lineinfo; PTX ISA, "Debugging
// Directives"). A .loc holds for what follows it, to the next one or the end of its function. Of what was inlined, it names the line
// itself, not the call. A .file may come after the lines that name it.
#include "ptx/ptx.h"

#include <stdlib.h>

typedef struct SourceFile {
  uint32_t number;
  const char *path;
} SourceFile;

typedef struct Location {
  uint32_t file, line; // line 0: none
} Location;

typedef struct Scan {
  Arena *arena;
  VEC(SourceFile) files;
  VEC(Location) lines;
  Location now;
  uint32_t depth;  // of braces
  bool in_comment; // of more than one line
} Scan;

// Numbers after the directive; 0: there are no more.
static uint32_t take_number(Slice *rest) {
  uint64_t value = 0;
  while (rest->length > 0 && (rest->at[0] == ' ' || rest->at[0] == '\t')) *rest = (Slice){rest->at + 1, rest->length - 1};
  for (; rest->length > 0 && rest->at[0] >= '0' && rest->at[0] <= '9'; *rest = (Slice){rest->at + 1, rest->length - 1})
    value = min_u64(10 * value + (uint64_t)(rest->at[0] - '0'), UINT32_MAX);
  return (uint32_t)value;
}

static bool begins(Slice line, const char *word, Slice *rest) {
  uint32_t length = (uint32_t)strlen(word);
  if (line.length <= length || memcmp(line.at, word, length) != 0 || (line.at[length] != ' ' && line.at[length] != '\t')) return false;
  *rest = (Slice){line.at + length, line.length - length};
  return true;
}

static void take_file(Scan *at, Slice rest) {
  uint32_t number = take_number(&rest);
  const char *open = memchr(rest.at, '"', rest.length);
  const char *close = open == NULL ? NULL : memchr(open + 1, '"', (size_t)(rest.at + rest.length - open - 1));
  if (close == NULL) return;
  *VEC_PUSH(&at->files, at->arena) = (SourceFile){number, arena_copy_text(at->arena, open + 1, (size_t)(close - open - 1))};
}

// Braces outside of comments and strings.
static void count_braces(Scan *at, Slice line) {
  bool in_string = false;
  for (uint32_t i = 0; i < line.length; i++) {
    char letter = line.at[i], next = i + 1 < line.length ? line.at[i + 1] : '\0';
    if (at->in_comment) {
      at->in_comment = letter != '*' || next != '/';
      i += !at->in_comment;
      continue;
    }
    if (letter == '"') in_string = !in_string;
    if (in_string) continue;
    if (letter == '/' && next == '/') return;
    at->in_comment = letter == '/' && next == '*';
    i += at->in_comment;
    if (letter == '{') at->depth++;
    if (letter == '}' && at->depth > 0 && --at->depth == 0) at->now = (Location){0};
  }
}

static void take_line(Scan *at, Slice line) {
  Slice rest;
  while (line.length > 0 && (line.at[0] == ' ' || line.at[0] == '\t')) line = (Slice){line.at + 1, line.length - 1};
  if (!at->in_comment && begins(line, ".file", &rest)) take_file(at, rest);
  if (!at->in_comment && begins(line, ".loc", &rest)) {
    uint32_t file = take_number(&rest);
    at->now = (Location){file, take_number(&rest)};
  }
  *VEC_PUSH(&at->lines, at->arena) = at->now;
  count_braces(at, line);
}

static const char *path_of(const Scan *at, uint32_t number) {
  for (uint32_t i = 0; i < at->files.count; i++) {
    if (at->files.items[i].number == number) return at->files.items[i].path;
  }
  return NULL;
}

PtxOrigins ptx_origins(Arena *arena, const char *text, size_t length) {
  Scan at = {.arena = arena};
  for (const char *end = text + length; text < end;) {
    const char *feed = memchr(text, '\n', (size_t)(end - text));
    take_line(&at, (Slice){text, (uint32_t)((feed == NULL ? end : feed) - text)});
    text = feed == NULL ? end : feed + 1;
  }
  PtxOrigin *items = ARENA_ARRAY(arena, PtxOrigin, at.lines.count);
  for (uint32_t i = 0; i < at.lines.count; i++) {
    const Location *location = &at.lines.items[i];
    const char *file = location->line == 0 ? NULL : path_of(&at, location->file);
    if (file != NULL) items[i] = (PtxOrigin){file, location->line};
  }
  return (PtxOrigins){items, at.lines.count};
}

PtxOrigin ptx_origin(const PtxOrigins *origins, uint32_t line) {
  return line == 0 || line > origins->count ? (PtxOrigin){0} : origins->items[line - 1];
}
