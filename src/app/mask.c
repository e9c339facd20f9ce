// Numbers are found in text by their form: digits with a point and an exponent, "inf" and "nan", with the spaces and the sign before them,
// because programs print times in columns. Digits inside a word, as in "kernel2", are no number.
#include "app/mask.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

// ---- Numbers in a line -----------------------------------------------------------------------------

static bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }
static bool is_word(char letter) { return isalpha((unsigned char)letter) || letter == '_'; }

// The end of the digits, point and exponent that begin here; `at` itself: none do.
static size_t end_of_digits(const char *text, size_t at, size_t length) {
  size_t end = at;
  bool is_hex = at + 2 < length && text[at] == '0' && (text[at + 1] == 'x' || text[at + 1] == 'X') && isxdigit((unsigned char)text[at + 2]);
  if (is_hex) {
    for (end = at + 2; end < length && isxdigit((unsigned char)text[end]);) end++;
    return end;
  }
  while (end < length && (is_digit(text[end]) || (text[end] == '.' && end + 1 < length && is_digit(text[end + 1])))) end++;
  if (end == at) return at;
  if (end < length && text[end] == '.') end++; // "5."
  size_t power = end + 1;
  if (power < length && (text[power] == '+' || text[power] == '-')) power++;
  bool has_power = end < length && (text[end] == 'e' || text[end] == 'E') && power < length && is_digit(text[power]);
  for (end = has_power ? power : end; has_power && end < length && is_digit(text[end]);) end++;
  return end;
}

static size_t end_of_name(const char *text, size_t at, size_t length) {
  bool is_name = at + 3 <= length && (strncasecmp(text + at, "inf", 3) == 0 || strncasecmp(text + at, "nan", 3) == 0);
  return is_name && (at + 3 == length || !is_word(text[at + 3])) ? at + 3 : at;
}

typedef struct Span {
  size_t start, end;
} Span;

// The next number from `at` on, with spaces and sign before it.
static bool find_number(const char *text, size_t at, size_t length, Span *number) {
  for (size_t i = at; i < length; i++) {
    bool inside_word = i > 0 && (is_word(text[i - 1]) || (i > at && is_digit(text[i - 1])));
    if (inside_word) continue;
    size_t end = end_of_digits(text, i, length);
    if (end == i) end = end_of_name(text, i, length);
    if (end == i) continue;
    size_t start = i;
    if (start > at && (text[start - 1] == '-' || text[start - 1] == '+')) start--;
    while (start > at && (text[start - 1] == ' ' || text[start - 1] == '\t')) start--;
    *number = (Span){start, end};
    return true;
  }
  return false;
}

// ---- Lines as they are compared --------------------------------------------------------------------

void masked_lines_open(MaskedLines *lines, const AppMask *mask, const char *path) {
  *lines = (MaskedLines){.mask = mask, .file = mask->all ? NULL : fopen(path, "rb")};
}

void masked_lines_close(MaskedLines *lines) {
  free(lines->raw);
  free(lines->line);
  if (lines->file != NULL) fclose(lines->file);
}

static bool is_ignored(const AppMask *mask, const char *line) {
  for (uint32_t i = 0; i < mask->ignored.count; i++) {
    if (regexec(&mask->ignored.items[i], line, 0, NULL, 0) == 0) return true;
  }
  return false;
}

static void add(MaskedLines *lines, const char *bytes, size_t count) {
  memcpy(lines->line + lines->length, bytes, count);
  lines->length += count;
}

// "#" stands for a number that is not compared.
static void mask_numbers(MaskedLines *lines) {
  const AppMask *mask = lines->mask;
  size_t at = 0;
  Span number;
  while (lines->next < mask->numbers.count && mask->numbers.items[lines->next].line < lines->number) lines->next++;
  for (uint32_t i = 0; lines->next < mask->numbers.count && find_number(lines->raw, at, lines->raw_length, &number); i++) {
    const MaskedNumber *next = &mask->numbers.items[lines->next];
    bool masked = next->line == lines->number && next->number == i;
    add(lines, lines->raw + at, (masked ? number.start : number.end) - at);
    if (masked) add(lines, "#", 1);
    lines->next += masked;
    at = number.end;
  }
  add(lines, lines->raw + at, lines->raw_length - at);
}

bool masked_lines_next(MaskedLines *lines) {
  ssize_t length;
  do {
    length = lines->file == NULL ? -1 : getline(&lines->raw, &lines->raw_room, lines->file);
    if (length < 0) return false;
  } while (lines->mask->ignored.count > 0 && is_ignored(lines->mask, lines->raw));
  lines->raw_length = (size_t)length;
  if (lines->line_room < lines->raw_room) { // never longer than it was
    lines->line_room = lines->raw_room;
    lines->line = realloc(lines->line, lines->line_room);
    ASSERT(lines->line != NULL);
  }
  lines->number++;
  lines->length = 0;
  mask_numbers(lines);
  return true;
}

// ---- The mask --------------------------------------------------------------------------------------

bool app_mask_ignore(AppMask *mask, const char *pattern, Diags *diags) {
  regex_t compiled;
  int code = regcomp(&compiled, pattern, REG_EXTENDED | REG_NOSUB);
  if (code == 0) {
    *VEC_PUSH(&mask->ignored, mask->arena) = compiled;
    return true;
  }
  char why[128];
  regerror(code, &compiled, why, sizeof why);
  return diags_add(diags, NULL, 0, 0, "--ignore '%s' is no regular expression: %s", pattern, why);
}

void app_mask_free(AppMask *mask) {
  for (uint32_t i = 0; i < mask->ignored.count; i++) regfree(&mask->ignored.items[i]);
  mask->ignored.count = 0;
}

uint64_t app_mask_hash(const AppMask *mask, const char *path, uint64_t seed) {
  MaskedLines lines;
  masked_lines_open(&lines, mask, path);
  while (masked_lines_next(&lines)) seed = hash_bytes(lines.line, lines.length, seed);
  masked_lines_close(&lines);
  return seed;
}

// In order, and once.
static void mask_number(AppMask *mask, MaskedNumber masked) {
  uint32_t at = mask->numbers.count;
  for (; at > 0; at--) {
    const MaskedNumber *before = &mask->numbers.items[at - 1];
    if (before->line == masked.line && before->number == masked.number) return;
    if (before->line < masked.line || (before->line == masked.line && before->number < masked.number)) break;
  }
  VEC_PUSH(&mask->numbers, mask->arena);
  memmove(&mask->numbers.items[at + 1], &mask->numbers.items[at], (mask->numbers.count - 1 - at) * sizeof(MaskedNumber));
  mask->numbers.items[at] = masked;
}

static bool same_bytes(const char *a, size_t a_length, const char *b, size_t b_length) {
  return a_length == b_length && memcmp(a, b, a_length) == 0;
}

// Are the lines the same but for numbers? Adds those that differ.
static bool learn_line(const MaskedLines *a, const MaskedLines *b, MaskedNumbers *different, Arena *arena) {
  size_t at_a = 0, at_b = 0;
  for (uint32_t i = 0;; i++) {
    Span in_a = {a->raw_length, a->raw_length}, in_b = {b->raw_length, b->raw_length};
    bool more_a = find_number(a->raw, at_a, a->raw_length, &in_a), more_b = find_number(b->raw, at_b, b->raw_length, &in_b);
    if (more_a != more_b || !same_bytes(a->raw + at_a, in_a.start - at_a, b->raw + at_b, in_b.start - at_b)) return false;
    if (!more_a) return true;
    bool same = same_bytes(a->raw + in_a.start, in_a.end - in_a.start, b->raw + in_b.start, in_b.end - in_b.start);
    if (!same) *VEC_PUSH(different, arena) = (MaskedNumber){a->number, i};
    at_a = in_a.end;
    at_b = in_b.end;
  }
}

void masked_lines_show(const MaskedLines *lines, bool there, Text *out) {
  enum { SHOWN_CHARACTERS = 60 };
  if (!there) {
    text_add(out, "nothing");
    return;
  }
  size_t length = lines->raw_length;
  bool has_end = length > 0 && lines->raw[length - 1] == '\n';
  while (length > 0 && (lines->raw[length - 1] == '\n' || lines->raw[length - 1] == '\r')) length--;
  text_add(out, "'");
  for (size_t i = 0; i < length && i < SHOWN_CHARACTERS; i++) {
    unsigned char letter = (unsigned char)lines->raw[i];
    text_add(out, "%c", letter < ' ' || letter == 127 ? '?' : letter);
  }
  text_add(out, length > SHOWN_CHARACTERS ? "...'" : "'");
  if (!has_end) text_add(out, " without a line feed");
}

// Goes through two files; false: they differ in more than numbers, or, without a list for those, at all.
static bool compare(const AppMask *mask, const char *const paths[2], const char *name, MaskedNumbers *different, Text *what) {
  MaskedLines a, b;
  masked_lines_open(&a, mask, paths[0]);
  masked_lines_open(&b, mask, paths[1]);
  bool good = true;
  while (good) {
    bool more_a = masked_lines_next(&a), more_b = masked_lines_next(&b);
    if (!more_a && !more_b) break;
    bool same = more_a && more_b && same_bytes(a.line, a.length, b.line, b.length);
    good = same || (different != NULL && more_a && more_b && learn_line(&a, &b, different, mask->arena));
    if (good) continue;
    text_add(what, "line %" PRIu64 " of %s is ", more_a ? a.number : b.number, name);
    masked_lines_show(&a, more_a, what);
    text_add(what, ", then ");
    masked_lines_show(&b, more_b, what);
  }
  masked_lines_close(&a);
  masked_lines_close(&b);
  return good;
}

bool app_first_difference(const char *one, const char *other, const char *name, Text *out) {
  AppMask nothing = {0};
  return !compare(&nothing, (const char *const[]){one, other}, name, NULL, out);
}

bool app_mask_learn(AppMask *mask, const char *before, const char *now, Text *what) {
  MaskedNumbers different = {0};
  bool good = compare(mask, (const char *const[]){before, now}, "standard output", &different, what);
  for (uint32_t i = 0; i < different.count && good; i++) mask_number(mask, different.items[i]);
  return good;
}

void app_mask_tell(AppMask *mask, const char *path, Text *out) {
  enum { MOST_LINES = 3 };
  uint32_t lines_with = 0;
  MaskedLines lines;
  if (mask->said == mask->numbers.count) return;
  mask->said = mask->numbers.count;
  masked_lines_open(&lines, mask, path);
  while (masked_lines_next(&lines)) {
    bool has = same_bytes(lines.line, lines.length, lines.raw, lines.raw_length);
    lines_with += !has;
    if (has || lines_with > MOST_LINES) continue;
    text_add(out, "%s ", lines_with == 1 ? "" : ",");
    masked_lines_show(&lines, true, out);
  }
  if (lines_with > MOST_LINES) text_add(out, " and %u more lines", lines_with - MOST_LINES);
  masked_lines_close(&lines);
}
