// Patterns that users bring: several bits around the site flip together, as an accelerated test or a layout study found them.
// A file has a line "row unit bit" for each, counted from the site, '#' begins a comment. In a fault's text the bits themselves
// stand, "0.0.0+0.1.0+1.0.-3", so that the text alone says what it does.
#include "fault/fault_internal.h"

#include <stdio.h>
#include <stdlib.h>

enum { FARTHEST = 1 << 20 };

static bool wrong(Diags *diags, const char *file, int line, const char *what) {
  return diags_add(diags, file, line, 0, "%s; a pattern has a line 'row unit bit' per bit, counted from the site", what);
}

static bool add_offset(Fault *fault, const long numbers[3]) {
  for (uint32_t i = 0; i < 3; i++) {
    if (numbers[i] < -FARTHEST || numbers[i] > FARTHEST) return false;
  }
  FaultOffset offset = {(int32_t)numbers[0], (int32_t)numbers[1], (int32_t)numbers[2]};
  for (uint32_t i = 0; i < fault->pattern_count; i++) {
    const FaultOffset *other = &fault->pattern[i];
    if (other->row == offset.row && other->unit == offset.unit && other->bit == offset.bit) return true; // once is enough
  }
  if (fault->pattern_count == FAULT_MAX_BITS) return false;
  fault->pattern[fault->pattern_count++] = offset;
  return true;
}

// Three numbers with `between` between them; `at` ends behind them.
static bool read_offset(const char **at, const char *between, long numbers[3]) {
  for (uint32_t i = 0; i < 3; i++) {
    if (i > 0) {
      if (strspn(*at, between) == 0) return false;
      *at += strspn(*at, between);
    }
    char *end;
    numbers[i] = strtol(*at, &end, 10);
    if (end == *at) return false;
    *at = end;
  }
  return true;
}

static bool parse_inline(const char *text, Fault *fault, Diags *diags) {
  long numbers[3];
  for (const char *at = text;; at++) {
    if (!read_offset(&at, ".", numbers) || (*at != '+' && *at != '\0') || !add_offset(fault, numbers)) {
      return diags_add(diags, NULL, 0, 0, "pattern '%s': not bits like 0.0.0+0.1.0+1.0.-3, at most %d", text, FAULT_MAX_BITS);
    }
    if (*at == '\0') return true;
  }
}

static bool parse_file(const char *path, const char *text, Fault *fault, Diags *diags) {
  for (int line = 1; *text != '\0'; line++) {
    const char *at = text + strspn(text, " \t\r");
    const char *next = text + strcspn(text, "\n");
    bool empty = at >= next || *at == '#' || *at == '\n';
    long numbers[3];
    if (!empty) {
      if (!read_offset(&at, " \t", numbers)) return wrong(diags, path, line, "not three whole numbers");
      at += strspn(at, " \t\r");
      if (*at != '\n' && *at != '\0' && *at != '#') return wrong(diags, path, line, "more than three numbers");
      if (!add_offset(fault, numbers)) return wrong(diags, path, line, "too many bits (at most 64), or one too far away");
    }
    text = *next == '\n' ? next + 1 : next;
  }
  return fault->pattern_count > 0 || wrong(diags, path, 0, "names no bit");
}

bool pattern_parse(const char *text, Fault *fault, Diags *diags) {
  if (text[0] == '\0') return diags_add(diags, NULL, 0, 0, "model pattern takes (FILE)");
  if (text[strspn(text, "0123456789.+-")] == '\0') return parse_inline(text, fault, diags);
  Arena *arena = arena_new();
  char *bytes;
  size_t count;
  bool good = file_read(arena, text, &bytes, &count, diags) && parse_file(text, bytes, fault, diags);
  arena_free(arena);
  return good;
}

void pattern_format(const Fault *fault, Text *out) {
  for (uint32_t i = 0; i < fault->pattern_count; i++) {
    const FaultOffset *offset = &fault->pattern[i];
    text_add(out, "%s%d.%d.%d", i == 0 ? "" : "+", offset->row, offset->unit, offset->bit);
  }
}

// Bits that would lie outside the region are left out, as at the edge of an array of cells.
uint32_t pattern_bits(const Region *region, const Fault *fault, Site site, Site bits[FAULT_MAX_BITS]) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < fault->pattern_count; i++) {
    const FaultOffset *offset = &fault->pattern[i];
    int64_t row = (int64_t)site.row + offset->row, unit = (int64_t)site.unit + offset->unit, bit = (int64_t)site.bit + offset->bit;
    bool inside = row >= 0 && (uint64_t)row < region->rows && unit >= 0 && unit < region->units && bit >= 0 && bit < region->bits;
    if (inside) bits[count++] = (Site){.region = site.region, .row = (uint64_t)row, .unit = (uint32_t)unit, .bit = (uint32_t)bit};
  }
  return count;
}
