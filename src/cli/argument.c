// --arg: kernel arguments as people write them.
//   [NAME:]TYPE[COUNT][=GENERATOR]   an array in device memory
//   TYPE:VALUE  NAME:TYPE=VALUE      a number
//   bytes:HEX   NAME:bytes=HEX       a struct by value
//   @NAME                            an earlier array once more
#include "cli/run.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

typedef struct Parser {
  Argument *argument;
  const ArgumentContext *context;
  uint32_t index; // from 0
} Parser;

static bool fail(const Parser *parser, const char *why) {
  return diags_add(parser->context->diags, NULL, 0, 0, "--arg %s: %s", parser->argument->text, why);
}

// ---- Contents ----------------------------------------------------------------------------------

static void put(Argument *argument, uint64_t index, uint64_t bits) {
  memcpy(argument->contents + index * argument->element->bytes, &bits, argument->element->bytes);
}

static bool fill_constant(Parser *parser, uint64_t bits) {
  for (uint64_t i = 0; i < parser->argument->count; i++) put(parser->argument, i, bits);
  return true;
}

static double double_of(const Element *element, uint64_t bits) {
  return element->bytes == 8 ? f64_of(bits) : element->bytes == 4 ? (double)f32_of((uint32_t)bits) : 0;
}

// The f64 type reads numbers for floats of any width, so that sums round once.
static bool float_operands(const Slice *operand, double value[2]) {
  const Element *f64 = element_find(slice_of("f64"));
  for (int i = 0; i < 2; i++) {
    uint64_t bits;
    if (!element_parse(f64, operand[i], &bits)) return false;
    value[i] = double_of(f64, bits);
  }
  return true;
}

static bool fill_ramp(Parser *parser, const Slice *operand) {
  Argument *argument = parser->argument;
  const Element *element = argument->element;
  if (element->kind == KIND_OF_FLOAT) {
    double value[2];
    if (!float_operands(operand, value)) return fail(parser, "ramp(START,STEP) needs two numbers");
    for (uint64_t i = 0; i < argument->count; i++) put(argument, i, element_from_double(element, value[0] + (double)i * value[1]));
    return true;
  }
  uint64_t value[2];
  const Element *wide = element_find(slice_of("b64"));
  for (int i = 0; i < 2; i++) {
    if (!element_parse(wide, operand[i], &value[i])) return fail(parser, "ramp(START,STEP) needs two whole numbers");
  }
  for (uint64_t i = 0; i < argument->count; i++) put(argument, i, value[0] + i * value[1]);
  return true;
}

static bool fill_random_floats(Parser *parser, double low, double high) {
  Argument *argument = parser->argument;
  for (uint64_t i = 0; i < argument->count; i++) {
    double unit = random_unit_f64(random_draw(parser->context->seed, i, parser->index));
    put(argument, i, element_from_double(argument->element, low + (high - low) * unit));
  }
  return true;
}

static bool fill_random(Parser *parser, const Slice *operand, uint32_t operands) {
  Argument *argument = parser->argument;
  const Element *element = argument->element;
  if (element->kind == KIND_OF_FLOAT) {
    double value[2] = {0, 1};
    if (operands == 2 && (!float_operands(operand, value) || !(value[0] <= value[1])))
      return fail(parser, "random(LOW,HIGH) needs two numbers, LOW <= HIGH");
    return fill_random_floats(parser, value[0], value[1]);
  }
  uint64_t low = 0, high = UINT64_MAX;
  if (operands == 2) {
    bool ok = element_parse(element, operand[0], &low) && element_parse(element, operand[1], &high);
    uint64_t sign = element->kind == KIND_OF_SIGNED ? UINT64_C(1) << (8 * element->bytes - 1) : 0;
    if (!ok || (low ^ sign) > (high ^ sign)) return fail(parser, "random(LOW,HIGH) needs two numbers of the type, LOW <= HIGH");
    uint64_t mask = UINT64_MAX >> (64 - 8 * element->bytes);
    high = (high - low) & mask; // the span; sums below wrap to the type
  }
  for (uint64_t i = 0; i < argument->count; i++) {
    uint64_t bits = random_draw(parser->context->seed, i, parser->index);
    put(argument, i, high == UINT64_MAX ? bits : low + random_below(bits, high + 1));
  }
  return true;
}

// Splits "a,b,c" at the commas; returns how many there are, storing at most `most`.
static uint64_t split_list(Slice list, Slice *items, uint64_t most) {
  uint64_t count = 0;
  const char *end = list.at + list.length;
  for (const char *at = list.at; list.length > 0;) {
    const char *comma = memchr(at, ',', (size_t)(end - at));
    const char *stop = comma == NULL ? end : comma;
    const char *first = at, *last = stop;
    while (first < last && *first == ' ') first++;
    while (first < last && last[-1] == ' ') last--;
    if (count < most) items[count] = (Slice){first, (uint32_t)(last - first)};
    count++;
    if (comma == NULL) break;
    at = comma + 1;
  }
  return count;
}

// Fixes the array's size; its contents take memory only when they are not all zeros.
static bool set_count(Parser *parser, uint64_t count) {
  Argument *argument = parser->argument;
  argument->count = count;
  if (count == 0) return fail(parser, "an array needs at least one element");
  if (count > parser->context->most_bytes / argument->element->bytes) return fail(parser, "the array is larger than device memory");
  return true;
}

// The arena takes it as our own bug when there is no memory; here it is the user's wish.
static bool allocate_contents(Parser *parser) {
  Argument *argument = parser->argument;
  uint64_t bytes = argument->count * argument->element->bytes;
  void *volatile probe = malloc(bytes); // volatile: compilers drop a malloc that is only freed
  if (probe == NULL) return fail(parser, "the array is too large for this computer's memory");
  free(probe);
  argument->contents = arena_alloc(parser->context->arena, bytes);
  return true;
}

static bool fill_list(Parser *parser, Slice list, bool sized) {
  Argument *argument = parser->argument;
  uint64_t count = split_list(list, NULL, 0);
  Slice *items = ARENA_ARRAY(parser->context->arena, Slice, count);
  split_list(list, items, count);
  if (!sized && !set_count(parser, count)) return false;
  if (count > argument->count) return fail(parser, "more values than elements");
  if (!allocate_contents(parser)) return false;
  for (uint64_t i = 0; i < count; i++) {
    uint64_t bits;
    if (!element_parse(argument->element, items[i], &bits)) {
      return diags_add(parser->context->diags, NULL, 0, 0, "--arg %s: '%.*s' is no %s", argument->text, (int)items[i].length, items[i].at,
                       argument->element->name);
    }
    put(argument, i, bits);
  }
  return true;
}

static bool fill_file(Parser *parser, const char *path, bool sized) {
  Argument *argument = parser->argument;
  char *bytes;
  size_t length;
  if (!file_read(parser->context->arena, path, &bytes, &length, parser->context->diags)) return false;
  uint32_t each = argument->element->bytes;
  if (!sized && length % each != 0) return diags_add(parser->context->diags, path, 0, 0, "has %zu bytes, no multiple of %u", length, each);
  if (!sized && !set_count(parser, length / each)) return false;
  if (length != argument->count * each) {
    return diags_add(parser->context->diags, path, 0, 0, "has %zu bytes, '%s' needs %" PRIu64, length, argument->text,
                     argument->count * each);
  }
  argument->contents = (uint8_t *)bytes;
  return true;
}

// NAME or NAME(OPERANDS)
static bool fill_named(Parser *parser, const char *generator) {
  size_t name_length = strcspn(generator, "(");
  Slice name = {generator, (uint32_t)name_length};
  Slice operand[2] = {slice_of("0"), slice_of("1")};
  uint64_t operands = 0;
  size_t length = strlen(generator);
  if (generator[name_length] == '(') {
    if (generator[length - 1] != ')') return fail(parser, "')' is missing");
    operands = split_list((Slice){generator + name_length + 1, (uint32_t)(length - name_length - 2)}, operand, 2);
  }
  uint64_t bits;
  if (slice_is(name, "ones") && operands == 0 && element_parse(parser->argument->element, slice_of("1"), &bits))
    return fill_constant(parser, bits);
  if (slice_is(name, "fill") && operands == 1) {
    return element_parse(parser->argument->element, operand[0], &bits) ? fill_constant(parser, bits)
                                                                       : fail(parser, "fill(V) needs a number of the type");
  }
  if (slice_is(name, "ramp") && (operands == 0 || operands == 2)) return fill_ramp(parser, operand);
  if (slice_is(name, "random") && (operands == 0 || operands == 2)) return fill_random(parser, operand, (uint32_t)operands);
  return fail(parser, "unknown contents; zeros, ones, fill(V), ramp, ramp(START,STEP), random, random(LOW,HIGH), {V,...} or file:PATH");
}

// ---- Shapes ------------------------------------------------------------------------------------

// "1024" or "64*64". False: not a number.
static bool parse_count(Slice text, uint64_t *count) {
  char buffer[64];
  if (text.length == 0 || text.length >= sizeof buffer) return false;
  memcpy(buffer, text.at, text.length);
  buffer[text.length] = '\0';
  *count = 1;
  for (char *at = buffer;;) {
    char *end;
    errno = 0;
    uint64_t factor = strtoull(at, &end, 0);
    if (at[0] < '0' || at[0] > '9' || errno != 0 || (*end != '\0' && *end != '*')) return false;
    if (__builtin_mul_overflow(*count, factor, count)) return false;
    if (*end == '\0') return true;
    at = end + 1;
  }
}

static bool parse_array(Parser *parser, Slice count_text, const char *generator) {
  parser->argument->is_array = true;
  bool sized = count_text.length > 0;
  uint64_t count = 0;
  if (sized && !parse_count(count_text, &count)) return fail(parser, "the number of elements must be a whole number");
  if (sized && !set_count(parser, count)) return false;
  if (generator != NULL && strncmp(generator, "file:", 5) == 0) return fill_file(parser, generator + 5, sized);
  size_t length = generator == NULL ? 0 : strlen(generator);
  if (length >= 2 && generator[0] == '{' && generator[length - 1] == '}')
    return fill_list(parser, (Slice){generator + 1, (uint32_t)length - 2}, sized);
  if (!sized) return fail(parser, "[] needs {V,...} or file:PATH to know its size");
  parser->argument->zeros = generator != NULL && strcmp(generator, "zeros") == 0;
  if (generator == NULL || parser->argument->zeros) return true;
  return allocate_contents(parser) && fill_named(parser, generator);
}

static bool parse_scalar(Parser *parser, const char *value) {
  Argument *argument = parser->argument;
  uint64_t bits;
  if (!element_parse(argument->element, slice_of(value), &bits)) {
    return diags_add(parser->context->diags, NULL, 0, 0, "--arg %s: '%s' is no %s", argument->text, value, argument->element->name);
  }
  argument->count = 1;
  argument->contents = arena_alloc(parser->context->arena, sizeof bits);
  memcpy(argument->contents, &bits, sizeof bits);
  return true;
}

static int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static bool parse_bytes(Parser *parser, const char *value) {
  Argument *argument = parser->argument;
  size_t length = strlen(value);
  if (length == 0 || length % 2 != 0) return fail(parser, "bytes need an even number of hexadecimal digits");
  argument->count = length / 2;
  argument->contents = arena_alloc(parser->context->arena, length / 2);
  for (size_t i = 0; i < length / 2; i++) {
    int high = hex_digit(value[2 * i]), low = hex_digit(value[2 * i + 1]);
    if (high < 0 || low < 0) return fail(parser, "bytes are hexadecimal digits");
    argument->contents[i] = (uint8_t)(high << 4 | low);
  }
  return true;
}

static bool parse_alias(Parser *parser, const Argument *earlier) {
  Argument *argument = parser->argument;
  for (uint32_t i = 0; i < parser->index; i++) {
    if (!earlier[i].is_array || strcmp(earlier[i].name, argument->text + 1) != 0) continue;
    argument->alias = earlier[i].alias == NULL ? &earlier[i] : earlier[i].alias;
    return true;
  }
  return fail(parser, "no earlier array of that name");
}

static bool unknown_type(Parser *parser, Slice type) {
  const char *names[32];
  uint32_t count = 0;
  for (; count < element_count; count++) names[count] = elements[count].name;
  names[count++] = "bytes";
  const char *word = arena_copy_text(parser->context->arena, type.at, type.length);
  const char *near = text_nearest(word, names, count);
  if (near == NULL) return fail(parser, "write TYPE:VALUE, NAME:TYPE=VALUE or NAME:TYPE[COUNT]=CONTENTS");
  return diags_add(parser->context->diags, NULL, 0, 0, "--arg %s: unknown type '%s'; did you mean '%s'?", parser->argument->text, word,
                   near);
}

// A type with what may follow it: "f32[10]", "u32", "bytes".
static bool parse_typed(Parser *parser, Slice typed, const char *value) {
  const char *bracket = memchr(typed.at, '[', typed.length);
  Slice type = {typed.at, bracket == NULL ? typed.length : (uint32_t)(bracket - typed.at)};
  if (bracket == NULL && slice_is(type, "bytes")) return value == NULL ? fail(parser, "bytes of what value?") : parse_bytes(parser, value);
  parser->argument->element = element_find(type);
  if (parser->argument->element == NULL) return unknown_type(parser, type);
  if (bracket == NULL) return value == NULL ? fail(parser, "a number needs a value, an array a [COUNT]") : parse_scalar(parser, value);
  const char *end = typed.at + typed.length - 1;
  if (*end != ']') return fail(parser, "']' is missing");
  return parse_array(parser, (Slice){bracket + 1, (uint32_t)(end - bracket - 1)}, value);
}

bool argument_parse(Argument *argument, const ArgumentContext *context, const char *text, const Argument *earlier, uint32_t index) {
  *argument = (Argument){.text = text, .name = ""};
  Parser parser = {argument, context, index};
  if (text[0] == '@') return parse_alias(&parser, earlier);
  size_t head = strcspn(text, "=");
  const char *value = text[head] == '=' ? text + head + 1 : NULL;
  const char *colon = memchr(text, ':', head);
  if (colon == NULL) return parse_typed(&parser, (Slice){text, (uint32_t)head}, value);
  Slice left = {text, (uint32_t)(colon - text)}, right = {colon + 1, (uint32_t)(text + head - colon - 1)};
  bool left_is_type = element_find(left) != NULL || slice_is(left, "bytes");
  if (left_is_type && value == NULL && memchr(right.at, '[', right.length) == NULL) return parse_typed(&parser, left, colon + 1);
  argument->name = arena_copy_text(context->arena, left.at, left.length);
  return parse_typed(&parser, right, value);
}
