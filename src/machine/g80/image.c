// Memory images as the RTL's test benches read and write them: a 32-bit word a line, in hexadecimal.
#include "machine/g80/g80.h"

static bool digit_of(char c, uint32_t *value) {
  if (c >= '0' && c <= '9') *value = (uint32_t)(c - '0');
  else if (c >= 'a' && c <= 'f') *value = (uint32_t)(c - 'a') + 10;
  else if (c >= 'A' && c <= 'F') *value = (uint32_t)(c - 'A') + 10;
  else return false;
  return true;
}

// 1 to 8 digits, with or without 0x.
static bool word_of(Slice text, uint32_t *word) {
  if (slice_starts(text, "0x")) text = (Slice){text.at + 2, text.length - 2};
  *word = 0;
  for (uint32_t i = 0; i < text.length; i++) {
    uint32_t digit;
    if (!digit_of(text.at[i], &digit)) return false;
    *word = *word << 4 | digit;
  }
  return text.length >= 1 && text.length <= 8;
}

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

bool g80_read_words(Arena *arena, const char *path, uint32_t most, G80Words *words, Diags *diags) {
  char *text;
  size_t length;
  *words = (G80Words){0};
  if (!file_read(arena, path, &text, &length, diags)) return false;
  words->items = ARENA_ARRAY(arena, uint32_t, length / 2 + 1);
  int line = 1;
  for (size_t at = 0; at < length;) {
    if (is_space(text[at])) {
      line += text[at++] == '\n';
      continue;
    }
    Slice token = {text + at, 0};
    while (at < length && !is_space(text[at])) at++, token.length++;
    if (!word_of(token, &words->items[words->count])) {
      return diags_add(diags, path, line, 0, "\"%.*s\" is no 32-bit word in hexadecimal", (int)min_u32(token.length, 40), token.at);
    }
    if (++words->count > most) return diags_add(diags, path, line, 0, "more than %u words", most);
  }
  return true;
}

static uint32_t word_at(const uint8_t *bytes, uint32_t index) {
  uint32_t word;
  memcpy(&word, bytes + 4 * (size_t)index, sizeof word);
  return word;
}

void g80_write_words(const uint8_t *bytes, uint32_t byte_count, Text *out) {
  uint32_t count = byte_count / 4;
  while (count > 0 && word_at(bytes, count - 1) == 0) count--;
  for (uint32_t i = 0; i < count; i++) text_add(out, "%08x\n", word_at(bytes, i));
}
