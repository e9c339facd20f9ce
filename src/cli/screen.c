// See screen.h. Colours follow no-color.org.
#include "cli/screen.h"

#include "journal/journal.h"

#include <stdlib.h>
#include <unistd.h>

bool screen_has_colours(FILE *file) {
  const char *unwanted = getenv("NO_COLOR"), *kind = getenv("TERM");
  bool dumb = kind == NULL || kind[0] == '\0' || strcmp(kind, "dumb") == 0;
  return (unwanted == NULL || unwanted[0] == '\0') && !dumb && isatty(fileno(file)) != 0;
}

static const char *const colour_codes[] = {
    [COLOUR_NONE] = "0", [COLOUR_GOOD] = "32", [COLOUR_BAD] = "1;31", [COLOUR_DOUBTFUL] = "33", [COLOUR_CAUGHT] = "36",
};

static void add_in_colour(Text *text, Colour colour, const char *word, size_t length) {
  text_add(text, "\033[%sm%.*s\033[0m", colour_codes[colour], (int)length, word);
}

void text_add_coloured(Text *text, FILE *file, Colour colour, const char *plain) {
  size_t length = strlen(plain);
  if (length > 0 && colour != COLOUR_NONE && screen_has_colours(file)) add_in_colour(text, colour, plain, length);
  else text_add_bytes(text, plain, length);
}

// ---- Tables ----------------------------------------------------------------------------------------

static Colour group_colour(const char *group) {
  static const struct {
    const char *group;
    Colour colour;
  } colours[] = {{"masked", COLOUR_GOOD},  {"sdc", COLOUR_BAD},          {"order", COLOUR_DOUBTFUL}, {"tolerated", COLOUR_DOUBTFUL},
                 {"due", COLOUR_DOUBTFUL}, {"corrected", COLOUR_CAUGHT}, {"internal", COLOUR_BAD}};
  for (size_t i = 0; i < COUNT_OF(colours); i++) {
    if (strcmp(colours[i].group, group) == 0) return colours[i].colour;
  }
  return COLOUR_NONE;
}

static Colour word_colour(Slice word) {
  if (slice_is(word, "passed")) return COLOUR_GOOD;
  if (slice_is(word, "failed")) return COLOUR_BAD;
  for (uint32_t i = 0; i < OUTCOME_COUNT; i++) {
    if (i == OUTCOME_DETECTED && slice_is(word, "detected")) return COLOUR_CAUGHT;
    if (slice_is(word, outcome_info[i].name) || slice_is(word, outcome_info[i].group)) return group_colour(outcome_info[i].group);
  }
  return COLOUR_NONE;
}

static void add_words(Text *out, const char *text) {
  static const char between[] = " :,\n";
  while (*text != '\0') {
    size_t length = strcspn(text, between);
    Colour colour = word_colour((Slice){text, (uint32_t)length});
    if (colour == COLOUR_NONE) text_add_bytes(out, text, length);
    else add_in_colour(out, colour, text, length);
    text += length;
    size_t gap = strspn(text, between);
    text_add_bytes(out, text, gap);
    text += gap;
  }
}

static bool print(const Text *text) { return text->length == 0 || fwrite(text->at, 1, text->length, stdout) == text->length; }

static bool print_visible(const char *text, bool with_colours) {
  Text visible = {0}, coloured = {0};
  text_add_visible(&visible, text, strlen(text), "\n\t");
  if (with_colours) add_words(&coloured, visible.at == NULL ? "" : visible.at);
  bool good = print(with_colours ? &coloured : &visible);
  text_free(&visible);
  text_free(&coloured);
  return good;
}

bool screen_print(const char *text) { return print_visible(text, false); }
bool screen_print_outcomes(const char *text) { return print_visible(text, screen_has_colours(stdout)); }
