// Slices, growing text, text for spreadsheets and terminals, nearest names, whole files.
#include "base/base.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

bool slice_is(Slice slice, const char *text) { return strlen(text) == slice.length && memcmp(slice.at, text, slice.length) == 0; }

bool slice_equal(Slice a, Slice b) { return a.length == b.length && (a.length == 0 || memcmp(a.at, b.at, a.length) == 0); }

bool slice_starts(Slice slice, const char *prefix) {
  size_t length = strlen(prefix);
  return slice.length >= length && memcmp(slice.at, prefix, length) == 0;
}

static void reserve(Text *text, size_t more) {
  size_t needed = text->length + more + 1;
  if (needed <= text->capacity) return;
  size_t capacity = text->capacity == 0 ? 256 : 2 * text->capacity;
  if (capacity < needed) capacity = needed;
  text->at = realloc(text->at, capacity);
  ASSERT(text->at != NULL);
  text->capacity = capacity;
}

// Most texts are short: there is room, and one pass is enough.
enum { SHORT_TEXT = 120 };

void text_add(Text *text, const char *format, ...) {
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  reserve(text, SHORT_TEXT);
  size_t room = text->capacity - text->length;
  int length = vsnprintf(text->at + text->length, room, format, arguments);
  va_end(arguments);
  ASSERT(length >= 0);
  if ((size_t)length >= room) {
    reserve(text, (size_t)length);
    vsnprintf(text->at + text->length, (size_t)length + 1, format, again);
  }
  va_end(again);
  text->length += (size_t)length;
}

void text_add_bytes(Text *text, const void *bytes, size_t count) {
  reserve(text, count);
  if (count > 0) memcpy(text->at + text->length, bytes, count);
  text->length += count;
  text->at[text->length] = '\0';
}

void text_free(Text *text) {
  free(text->at);
  *text = (Text){0};
}

// ---- Text for others to read ---------------------------------------------------------------------

// OWASP, "CSV injection": what a cell may not begin with.
static bool is_formula(const char *cell) { return cell[0] != '\0' && strchr("=+-@\t\r\n", cell[0]) != NULL; }

void text_add_csv(Text *text, const char *cell) {
  text_add_bytes(text, is_formula(cell) ? "\"'" : "\"", is_formula(cell) ? 2 : 1);
  for (size_t part; *cell != '\0'; cell += part) {
    part = strcspn(cell, "\"");
    text_add_bytes(text, cell, part);
    if (cell[part] != '"') continue;
    text_add_bytes(text, "\"\"", 2);
    part++;
  }
  text_add_bytes(text, "\"", 1);
}

void text_add_csv_name(Text *text, const char *cell) {
  static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-";
  size_t length = strlen(cell);
  if (is_formula(cell) || strspn(cell, plain) != length) text_add_csv(text, cell);
  else text_add_bytes(text, cell, length);
}

// Bytes of the UTF-8 character that begins here; 0: none does.
static size_t utf8_length(const unsigned char *at, size_t left) {
  size_t length = at[0] < 0x80                    ? 1
                  : at[0] >= 0xC2 && at[0] < 0xE0 ? 2
                  : at[0] >= 0xE0 && at[0] < 0xF0 ? 3
                  : at[0] >= 0xF0 && at[0] < 0xF5 ? 4
                                                  : 0;
  if (length > left) return 0;
  for (size_t i = 1; i < length; i++) {
    if ((at[i] & 0xC0) != 0x80) return 0;
  }
  if (length < 3) return length;
  uint32_t code = (at[0] & (0x7Fu >> length)) << 12 | (at[1] & 0x3Fu) << 6 | (at[2] & 0x3Fu);
  if (length == 4) code = code << 6 | (at[3] & 0x3Fu);
  bool good = length == 3 ? code >= 0x800 && (code < 0xD800 || code > 0xDFFF) : code >= 0x10000 && code <= 0x10FFFF;
  return good ? length : 0;
}

// C0, DEL and C1.
static bool is_control(const unsigned char *at, size_t length) {
  return length == 1 ? at[0] < 0x20 || at[0] == 0x7F : length == 2 && at[0] == 0xC2 && at[1] < 0xA0;
}

void text_add_visible(Text *text, const char *bytes, size_t count, const char *kept) {
  const unsigned char *at = (const unsigned char *)bytes, *end = at + count;
  while (at < end) {
    size_t length = utf8_length(at, (size_t)(end - at));
    bool shown = length > 0 && (!is_control(at, length) || (at[0] != '\0' && strchr(kept, at[0]) != NULL));
    if (shown) text_add_bytes(text, at, length);
    for (size_t i = 0; i < (length == 0 ? 1 : length) && !shown; i++) text_add(text, "\\x%02x", at[i]);
    at += length == 0 ? 1 : length;
  }
}

void text_add_shell_word(Text *text, const char *word) {
  bool is_plain = word[0] != '\0' && word[strcspn(word, " \t\n\"'\\$`*?[](){}<>|&;#~!")] == '\0';
  text_add(text, is_plain ? "%s" : "'", word);
  for (const char *c = word; !is_plain && *c != '\0'; c++) text_add(text, *c == '\'' ? "'\\''" : "%c", *c);
  if (!is_plain) text_add(text, "'");
}

// ---- Near names ----------------------------------------------------------------------------------

enum { LONGEST_WORD = 64, SHORTEST_PART = 3 };

// Levenshtein distance; words longer than LONGEST_WORD are never near.
static size_t edit_distance(const char *a, const char *b) {
  size_t a_length = strlen(a), b_length = strlen(b);
  if (a_length > LONGEST_WORD || b_length > LONGEST_WORD) return LONGEST_WORD;
  size_t row[LONGEST_WORD + 1];
  for (size_t j = 0; j <= b_length; j++) row[j] = j;
  for (size_t i = 1; i <= a_length; i++) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b_length; j++) {
      size_t above = row[j];
      size_t best = diagonal + (a[i - 1] != b[j - 1]);
      if (above + 1 < best) best = above + 1;
      if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
      row[j] = best;
      diagonal = above;
    }
  }
  return row[b_length];
}

bool text_number(const char **at, bool hexadecimal, uint64_t *value) {
  const char *text = *at;
  if (text[0] < '0' || text[0] > '9') return false;
  bool is_hexadecimal = hexadecimal && text[0] == '0' && (text[1] | 0x20) == 'x';
  char *end;
  errno = 0;
  *value = strtoull(text, &end, is_hexadecimal ? 16 : 10);
  *at = end;
  return errno == 0;
}

const char *text_nearest(const char *word, const char *const *candidates, size_t count) {
  const char *nearest = NULL;
  size_t best = 1 + strlen(word) / 3;
  for (size_t i = 0; i < count; i++) {
    size_t distance = edit_distance(word, candidates[i]);
    if (distance <= best && (nearest == NULL || distance < best)) {
      best = distance;
      nearest = candidates[i];
    }
  }
  for (size_t i = 0; i < count && nearest == NULL && strlen(word) >= SHORTEST_PART; i++) {
    if (strstr(candidates[i], word) != NULL) nearest = candidates[i];
  }
  return nearest;
}

// ---- Files -----------------------------------------------------------------------------------------

enum { MOST_FILE_BYTES = 1 << 30 };

bool file_read(Arena *arena, const char *path, char **bytes, size_t *count, Diags *diags) {
  struct stat status;
  if (stat(path, &status) == 0 && S_ISDIR(status.st_mode)) { return diags_add(diags, path, 0, 0, "is a directory, not a file"); }
  FILE *file = fopen(path, "rb");
  if (file == NULL) return diags_add(diags, path, 0, 0, "cannot be opened: %s", strerror(errno));
  Text text = {0};
  char buffer[1 << 16];
  size_t got;
  while (text.length <= MOST_FILE_BYTES && (got = fread(buffer, 1, sizeof buffer, file)) > 0) text_add_bytes(&text, buffer, got);
  bool failed = ferror(file) != 0, is_too_large = text.length > MOST_FILE_BYTES; // a device may have no end
  fclose(file);
  if (!failed && !is_too_large) {
    *bytes = arena_copy_text(arena, text.at, text.length);
    *count = text.length;
  }
  text_free(&text);
  if (is_too_large) return diags_add(diags, path, 0, 0, "has more than %d MiB: is that the file that is meant?", MOST_FILE_BYTES >> 20);
  return failed ? diags_add(diags, path, 0, 0, "cannot be read to its end") : true;
}
