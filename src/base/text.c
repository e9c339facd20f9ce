// Slices, growing text, nearest names, whole files.
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

void text_add(Text *text, const char *format, ...) {
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  int length = vsnprintf(NULL, 0, format, arguments);
  va_end(arguments);
  ASSERT(length >= 0);
  reserve(text, (size_t)length);
  vsnprintf(text->at + text->length, (size_t)length + 1, format, again);
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

enum { LONGEST_WORD = 64 };

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
  return nearest;
}

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
