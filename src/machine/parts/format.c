// Formatted output of kernels' printf; see format.h. Arguments lie as CUDA packs them: in order, each
// aligned to its size; float arrives as double. Each conversion is rebuilt with a checked length
// modifier and handed to snprintf, so that nothing in the format can reach outside.
#include "machine/parts/format.h"

#include <stdio.h>

enum { MOST_STRING_BYTES = 1 << 20, MOST_WIDTH = 4096 };

typedef struct Formatter {
  const FormatSource *source;
  Text *out;
  uint32_t offset; // of the next argument
  uint32_t used;   // arguments
} Formatter;

// One conversion, parsed.
typedef struct Conversion {
  char flags[8];
  int width, precision;  // -1 = not given
  uint32_t bytes;        // of an integer argument
  uint32_t narrow_bytes; // h, hh: so many bytes of it count; 0 = all
  char letter;
} Conversion;

bool format_string(const FormatSource *source, uint64_t address, uint32_t most, Text *out) {
  if (address == 0) {
    if (most >= 6) text_add(out, "(null)");
    return true;
  }
  for (uint32_t i = 0; i < most; i++) {
    char c;
    if (!source->byte(source->context, address + i, &c)) return false;
    if (c == '\0') break;
    text_add_bytes(out, &c, 1);
  }
  return true;
}

static bool take(Formatter *to, uint32_t bytes, uint64_t *value) {
  uint8_t data[8] = {0};
  to->offset = (uint32_t)align_up(to->offset, bytes);
  if (!to->source->argument(to->source->context, to->offset, bytes, data)) return false;
  memcpy(value, data, 8);
  to->offset += bytes;
  to->used++;
  return true;
}

// A number of the format itself, or `*`. Large ones are clamped: they only ask for padding.
static bool take_number(Formatter *to, const char **at, int *number) {
  if (**at == '*') {
    uint64_t value;
    if (!take(to, 4, &value)) return false;
    int32_t given = (int32_t)(uint32_t)value;
    *number = given > MOST_WIDTH ? MOST_WIDTH : given < -MOST_WIDTH ? -MOST_WIDTH : given;
    (*at)++;
    return true;
  }
  int value = 0;
  for (; **at >= '0' && **at <= '9'; (*at)++) value = value >= MOST_WIDTH ? MOST_WIDTH : value * 10 + (**at - '0');
  *number = value;
  return true;
}

static bool add_flag(Conversion *conversion, char flag) {
  size_t count = strlen(conversion->flags);
  if (strchr(conversion->flags, flag) == NULL) conversion->flags[count] = flag; // five flags at most
  return true;
}

static void parse_length(Conversion *conversion, const char **at, uint32_t pointer_bytes) {
  conversion->bytes = 4;
  if (**at == 'h') {
    conversion->narrow_bytes = 2;
    if (*++*at == 'h') conversion->narrow_bytes = 1, ++*at;
  } else if (**at == 'l') {
    conversion->bytes = pointer_bytes;
    if (*++*at == 'l') conversion->bytes = 8, ++*at;
  } else if (**at == 'z' || **at == 't') {
    conversion->bytes = pointer_bytes;
    ++*at;
  } else if (**at == 'j' || **at == 'q') {
    conversion->bytes = 8;
    ++*at;
  } else if (**at == 'L') {
    ++*at;
  }
}

// From after the `%` to after the letter.
static bool parse_conversion(Formatter *to, const char **at, Conversion *conversion) {
  *conversion = (Conversion){.width = -1, .precision = -1};
  while (**at != '\0' && strchr("-+ #0", **at) != NULL) add_flag(conversion, *(*at)++);
  if (**at == '*' || (**at >= '1' && **at <= '9')) {
    if (!take_number(to, at, &conversion->width)) return false;
    if (conversion->width < 0) {
      conversion->width = -conversion->width;
      add_flag(conversion, '-');
    }
  }
  if (**at == '.') {
    ++*at;
    if (!take_number(to, at, &conversion->precision)) return false;
    if (conversion->precision < 0) conversion->precision = -1;
  }
  parse_length(conversion, at, to->source->pointer_bytes);
  conversion->letter = **at;
  if (**at != '\0') ++*at;
  return true;
}

// The conversion as snprintf takes it, with `length` as its length modifier.
static void rebuild(const Conversion *conversion, const char *length, char letter, char spec[64]) {
  int used = snprintf(spec, 64, "%%%s", conversion->flags);
  if (conversion->width >= 0) used += snprintf(spec + used, 64 - (size_t)used, "%d", conversion->width);
  if (conversion->precision >= 0) used += snprintf(spec + used, 64 - (size_t)used, ".%d", conversion->precision);
  snprintf(spec + used, 64 - (size_t)used, "%s%c", length, letter);
}

static uint64_t narrow(uint64_t value, uint32_t bytes, bool is_signed) {
  switch (bytes) {
  case 1: return is_signed ? (uint64_t)(int64_t)(int8_t)(uint8_t)value : (uint8_t)value;
  case 2: return is_signed ? (uint64_t)(int64_t)(int16_t)(uint16_t)value : (uint16_t)value;
  case 4: return is_signed ? (uint64_t)(int64_t)(int32_t)(uint32_t)value : (uint32_t)value;
  default: return value;
  }
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

static bool print_integer(Formatter *to, const Conversion *conversion) {
  char spec[64], buffer[2 * MOST_WIDTH];
  uint64_t value;
  bool is_signed = conversion->letter == 'd' || conversion->letter == 'i';
  if (!take(to, conversion->bytes, &value)) return false;
  value = narrow(value, conversion->narrow_bytes != 0 ? conversion->narrow_bytes : conversion->bytes, is_signed);
  rebuild(conversion, "ll", conversion->letter, spec);
  snprintf(buffer, sizeof buffer, spec, (unsigned long long)value);
  text_add_bytes(to->out, buffer, strlen(buffer));
  return true;
}

static bool print_float(Formatter *to, const Conversion *conversion) {
  char spec[64], buffer[2 * MOST_WIDTH];
  uint64_t value;
  if (!take(to, 8, &value)) return false;
  rebuild(conversion, "", conversion->letter, spec);
  snprintf(buffer, sizeof buffer, spec, f64_of(value));
  text_add_bytes(to->out, buffer, strlen(buffer));
  return true;
}

#pragma GCC diagnostic pop

static void print_padded(Formatter *to, const Conversion *conversion, const char *bytes, size_t count) {
  size_t width = conversion->width > 0 ? (size_t)conversion->width : 0;
  bool left = strchr(conversion->flags, '-') != NULL;
  for (size_t i = count; i < width && !left; i++) text_add_bytes(to->out, " ", 1);
  text_add_bytes(to->out, bytes, count);
  for (size_t i = count; i < width && left; i++) text_add_bytes(to->out, " ", 1);
}

static bool print_string(Formatter *to, const Conversion *conversion) {
  uint64_t address;
  if (!take(to, to->source->pointer_bytes, &address)) return false;
  uint32_t most = conversion->precision >= 0 ? (uint32_t)conversion->precision : MOST_STRING_BYTES;
  Text string = {0};
  bool valid = format_string(to->source, address, most, &string);
  if (valid) print_padded(to, conversion, string.length == 0 ? "" : string.at, string.length);
  text_free(&string);
  return valid;
}

static bool print_conversion(Formatter *to, const Conversion *conversion, const char *start, size_t length) {
  uint64_t value;
  char text[24];
  switch (conversion->letter) {
  case '%': text_add_bytes(to->out, "%", 1); return true;
  case 'd':
  case 'i':
  case 'u':
  case 'x':
  case 'X':
  case 'o': return print_integer(to, conversion);
  case 'f':
  case 'F':
  case 'e':
  case 'E':
  case 'g':
  case 'G':
  case 'a':
  case 'A': return print_float(to, conversion);
  case 's': return print_string(to, conversion);
  case 'c':
    if (!take(to, 4, &value)) return false;
    text[0] = (char)(uint8_t)value;
    print_padded(to, conversion, text, 1);
    return true;
  case 'p':
    if (!take(to, to->source->pointer_bytes, &value)) return false;
    if (value == 0) memcpy(text, "(nil)", 6);
    else snprintf(text, sizeof text, "0x%llx", (unsigned long long)value);
    print_padded(to, conversion, text, strlen(text));
    return true;
  default: text_add_bytes(to->out, start, length); return true;
  }
}

bool format_print(const FormatSource *source, uint64_t format, Text *out, uint32_t *arguments) {
  Formatter to = {.source = source, .out = out};
  Text copy = {0};
  bool valid = format_string(source, format, MOST_STRING_BYTES, &copy);
  const char *at = copy.length == 0 ? "" : copy.at;
  while (valid && *at != '\0') {
    const char *start = at;
    if (*at != '%') {
      while (*at != '\0' && *at != '%') at++;
      text_add_bytes(out, start, (size_t)(at - start));
      continue;
    }
    at++;
    Conversion conversion;
    valid = parse_conversion(&to, &at, &conversion) && print_conversion(&to, &conversion, start, (size_t)(at - start));
  }
  text_free(&copy);
  *arguments = to.used;
  return valid;
}
