// The parameter table and how values reach a Spec: defaults, machine files (inih), --set.
// Invariant: a Spec that any function here returned true for holds only values in range.
#include "config/config.h"

#include <errno.h>
#include <ini.h>
#include <inttypes.h>
#include <stdlib.h>

const ParamInfo param_info[] = {
#define PARAM_U64(section, name, initial, least, most, unit, help) {#section "." #name, unit, help, NULL, initial, least, most},
#define PARAM_CHOICE(section, name, initial, choices, help) {#section "." #name, "", help, choices, initial, 0, UINT32_MAX},
#include "config/config.def"
#undef PARAM_U64
#undef PARAM_CHOICE
};
const uint32_t param_count = COUNT_OF(param_info);

// Where each parameter lies in a Spec: 8 bytes for numbers, 4 for choices.
static const uint16_t param_offset[] = {
#define PARAM_U64(section, name, initial, least, most, unit, help) offsetof(Spec, section##_##name),
#define PARAM_CHOICE(section, name, initial, choices, help) offsetof(Spec, section##_##name),
#include "config/config.def"
#undef PARAM_U64
#undef PARAM_CHOICE
};

static void store(Spec *spec, uint32_t param, uint64_t value) {
  uint8_t *place = (uint8_t *)spec + param_offset[param];
  uint32_t choice = (uint32_t)value;
  if (param_info[param].choices == NULL) {
    memcpy(place, &value, sizeof value);
  } else {
    memcpy(place, &choice, sizeof choice);
  }
}

uint64_t spec_get(const Spec *spec, uint32_t param) {
  const uint8_t *place = (const uint8_t *)spec + param_offset[param];
  uint64_t value;
  uint32_t choice;
  if (param_info[param].choices == NULL) {
    memcpy(&value, place, sizeof value);
    return value;
  }
  memcpy(&choice, place, sizeof choice);
  return choice;
}

void spec_default(Spec *spec) {
  *spec = (Spec){.machine = "functional"};
  for (uint32_t i = 0; i < param_count; i++) store(spec, i, param_info[i].initial);
}

// ---- Values ----------------------------------------------------------------------------------

// Decimal or 0x..., with K, M, G, T for powers of 1024. False: not a number of 64 bits.
static bool parse_number(const char *text, uint64_t *value) {
  char *end;
  if (text[0] < '0' || text[0] > '9') return false;
  errno = 0;
  bool hexadecimal = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
  unsigned long long number = strtoull(text, &end, hexadecimal ? 16 : 10);
  if (errno != 0) return false;
  static const char suffixes[] = "KMGT";
  const char *suffix = *end == '\0' ? NULL : strchr(suffixes, *end);
  if (suffix != NULL) {
    unsigned shift = 10 * (unsigned)(suffix - suffixes + 1);
    if (number > UINT64_MAX >> shift) return false;
    number <<= shift;
    end++;
  }
  *value = number;
  return *end == '\0';
}

// The index of a word in "a|b|c", or -1.
static int choice_index(const char *choices, const char *word) {
  size_t length = strlen(word);
  for (int index = 0;; index++) {
    size_t here = strcspn(choices, "|");
    if (here == length && memcmp(choices, word, length) == 0) return index;
    if (choices[here] == '\0') return -1;
    choices += here + 1;
  }
}

static bool unknown_key(const char *key, const char *file, int line, Diags *diags) {
  const char *keys[COUNT_OF(param_info)];
  for (uint32_t i = 0; i < param_count; i++) keys[i] = param_info[i].key;
  const char *near = text_nearest(key, keys, param_count);
  if (near != NULL) return diags_add(diags, file, line, 0, "unknown parameter '%s'; did you mean '%s'?", key, near);
  return diags_add(diags, file, line, 0, "unknown parameter '%s'; 'redoubt list params' shows all", key);
}

bool spec_set(Spec *spec, const char *key, const char *value, const char *file, int line, Diags *diags) {
  uint32_t param = 0;
  while (param < param_count && strcmp(param_info[param].key, key) != 0) param++;
  if (param == param_count) return unknown_key(key, file, line, diags);
  const ParamInfo *info = &param_info[param];
  if (info->choices != NULL) {
    int choice = choice_index(info->choices, value);
    if (choice < 0) return diags_add(diags, file, line, 0, "%s = %s: must be one of %s", key, value, info->choices);
    store(spec, param, (uint64_t)choice);
    return true;
  }
  uint64_t number;
  if (!parse_number(value, &number)) return diags_add(diags, file, line, 0, "%s = %s: not a whole number", key, value);
  if (number < info->least || number > info->most) {
    return diags_add(diags, file, line, 0, "%s = %s: must be %" PRIu64 " to %" PRIu64 " %s", key, value, info->least, info->most,
                     info->unit);
  }
  store(spec, param, number);
  return true;
}

// ---- Machine files -----------------------------------------------------------------------------

typedef struct Reading {
  Spec *spec;
  Diags *diags;
  const char *file;
  const char *text, *next; // next line to hand to inih
  int line;                // of the line handed out last
} Reading;

static char *next_line(char *line, int size, void *stream) {
  Reading *reading = stream;
  if (*reading->next == '\0') return NULL;
  size_t length = strcspn(reading->next, "\n");
  bool ended = reading->next[length] == '\n';
  reading->line++;
  size_t kept = length < (size_t)size - 2 ? length : (size_t)size - 2;
  memcpy(line, reading->next, kept);
  line[kept] = '\n';
  line[kept + 1] = '\0';
  reading->next += length + ended;
  return line;
}

// inih takes ';' alone for comments after a value; machine files use '#' everywhere.
static void cut_comment(char *value) {
  size_t end = strcspn(value, "#;");
  while (end > 0 && (value[end - 1] == ' ' || value[end - 1] == '\t')) end--;
  value[end] = '\0';
}

static int on_value(void *context, const char *section, const char *name, const char *value) {
  Reading *reading = context;
  char key[256], cleaned[256];
  size_t section_length = strlen(section), name_length = strlen(name), value_length = strlen(value);
  if (section_length + name_length + 2 > sizeof key || value_length + 1 > sizeof cleaned) {
    diags_add(reading->diags, reading->file, reading->line, 0, "line is too long");
    return 1;
  }
  memcpy(key, section, section_length);
  key[section_length] = '.';
  memcpy(key + section_length + 1, name, name_length + 1);
  memcpy(cleaned, value, value_length + 1);
  cut_comment(cleaned);
  spec_set(reading->spec, section_length == 0 ? key + 1 : key, cleaned, reading->file, reading->line, reading->diags);
  return 1; // go on: every wrong line is reported
}

// Relations between parameters that no range of one of them can say.
static bool check_relations(const Spec *spec, const char *file, Diags *diags) {
  if ((spec->memory_granule & (spec->memory_granule - 1)) != 0) {
    return diags_add(diags, file, 0, 0, "memory.granule = %" PRIu64 ": must be a power of two", spec->memory_granule);
  }
  if (spec->block_shared > spec->sm_shared) {
    return diags_add(diags, file, 0, 0, "block.shared = %" PRIu64 ": more than sm.shared (%" PRIu64 ")", spec->block_shared,
                     spec->sm_shared);
  }
  return true;
}

bool spec_check(const Spec *spec, const char *file, Diags *diags) { return check_relations(spec, file, diags); }

static bool read_text(Spec *spec, const char *file, const char *text, Diags *diags) {
  Reading reading = {spec, diags, file, text, text, 0};
  uint32_t before = diags->count;
  int bad_line = ini_parse_stream(next_line, &reading, on_value, &reading);
  if (bad_line > 0) diags_add(diags, file, bad_line, 0, "not a [section], key = value or # comment");
  return diags->count == before && check_relations(spec, file, diags);
}

// "dir/tesla.ini" -> "tesla"
static const char *file_stem(Arena *arena, const char *path) {
  const char *slash = strrchr(path, '/');
  const char *name = slash == NULL ? path : slash + 1;
  const char *dot = strrchr(name, '.');
  return arena_copy_text(arena, name, dot == NULL ? strlen(name) : (size_t)(dot - name));
}

static bool is_path(const char *name) {
  size_t length = strlen(name);
  return strchr(name, '/') != NULL || (length > 4 && strcmp(name + length - 4, ".ini") == 0);
}

static bool unknown_machine(const char *name, Diags *diags) {
  const char *names[64];
  uint32_t count = min_u32(builtin_machine_count, COUNT_OF(names));
  for (uint32_t i = 0; i < count; i++) names[i] = builtin_machines[i].name;
  const char *near = text_nearest(name, names, count);
  if (near != NULL) return diags_add(diags, NULL, 0, 0, "no machine '%s'; did you mean '%s'?", name, near);
  return diags_add(diags, NULL, 0, 0, "no machine '%s'; 'redoubt list machines' shows the built-in ones, files end in .ini", name);
}

bool spec_load(Spec *spec, Arena *arena, const char *name_or_path, Diags *diags) {
  spec_default(spec);
  for (uint32_t i = 0; i < builtin_machine_count; i++) {
    if (strcmp(builtin_machines[i].name, name_or_path) != 0) continue;
    spec->machine = builtin_machines[i].name;
    return read_text(spec, arena_format(arena, "machines/%s.ini", name_or_path), builtin_machines[i].text, diags);
  }
  if (!is_path(name_or_path)) return unknown_machine(name_or_path, diags);
  char *text;
  size_t length;
  if (!file_read(arena, name_or_path, &text, &length, diags)) return false;
  if (strlen(text) != length) return diags_add(diags, name_or_path, 0, 0, "is not a text file");
  spec->machine = file_stem(arena, name_or_path);
  return read_text(spec, name_or_path, text, diags);
}

// ---- Documentation -----------------------------------------------------------------------------

void params_markdown(Text *out) {
  text_add(out, "# Parameters\n\nMade from `src/config/config.def` by `redoubt list params --markdown`. A machine file (`machines/*.ini`)\n"
                "or `--set key=value` gives values; K, M, G and T after a number mean powers of 1024.\n\n"
                "| parameter | default | least | most | unit | meaning |\n|---|---|---|---|---|---|\n");
  for (uint32_t i = 0; i < param_count; i++) {
    const ParamInfo *info = &param_info[i];
    if (info->choices != NULL) {
      text_add(out, "| `%s` | %.*s | | | one of %s | %s |\n", info->key, (int)strcspn(info->choices, "|"), info->choices, info->choices,
               info->help);
    } else {
      text_add(out, "| `%s` | %" PRIu64 " | %" PRIu64 " | %" PRIu64 " | %s | %s |\n", info->key, info->initial, info->least, info->most,
               info->unit, info->help);
    }
  }
}
