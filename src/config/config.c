// The parameter table and how values reach a Spec: defaults, machine files (inih), --set.
// Invariant: a Spec that any function here returned true for holds only values in range.
#include "config/config.h"

#include <ini.h>
#include <inttypes.h>
#include <stdio.h>
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
  const char *end = text;
  uint64_t number;
  if (!text_number(&end, true, &number)) return false;
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

// param_count: there is none.
static uint32_t param_of(const char *key) {
  uint32_t param = 0;
  while (param < param_count && strcmp(param_info[param].key, key) != 0) param++;
  return param;
}

static bool unknown_key(const char *key, const char *file, int line, Diags *diags) {
  const char *keys[COUNT_OF(param_info)];
  for (uint32_t i = 0; i < param_count; i++) keys[i] = param_info[i].key;
  const char *near = text_nearest(key, keys, param_count);
  if (near != NULL) return diags_add(diags, file, line, 0, "unknown parameter '%s'; did you mean '%s'?", key, near);
  return diags_add(diags, file, line, 0, "unknown parameter '%s'; 'redoubt list params' shows all", key);
}

bool spec_set(Spec *spec, const char *key, const char *value, const char *file, int line, Diags *diags) {
  uint32_t param = param_of(key);
  if (param == param_count) return unknown_key(key, file, line, diags);
  const ParamInfo *info = &param_info[param];
  spec->model_is_named = spec->model_is_named || strcmp(key, "machine.model") == 0;
  if (info->choices != NULL) {
    int choice = choice_index(info->choices, value);
    if (choice < 0) return diags_add(diags, file, line, 0, "%s = %s: must be one of %s", key, value, info->choices);
    store(spec, param, (uint64_t)choice);
    return true;
  }
  uint64_t number;
  if (!parse_number(value, &number))
    return diags_add(diags, file, line, 0, "%s = %s: must be a whole number from %" PRIu64 " to %" PRIu64 " %s", key, value, info->least,
                     info->most, info->unit);
  if (number < info->least || number > info->most) {
    return diags_add(diags, file, line, 0, "%s = %s: must be %" PRIu64 " to %" PRIu64 " %s", key, value, info->least, info->most,
                     info->unit);
  }
  store(spec, param, number);
  return true;
}

// ---- Machine files -----------------------------------------------------------------------------

typedef struct Place {
  int line, column; // from 1; 0: not known
} Place;

typedef struct Reading {
  Spec *spec;
  Diags *diags;
  const char *file;
  const char *text, *next;            // next line to hand to inih
  const char *handed;                 // the line handed out last
  int line;                           // its number
  Place set_in[COUNT_OF(param_info)]; // where a parameter was set; 0: nowhere
} Reading;

static char *next_line(char *line, int size, void *stream) {
  Reading *reading = stream;
  if (*reading->next == '\0') return NULL;
  size_t length = strcspn(reading->next, "\n"), meant = strcspn(reading->next, "#;\n"), most = (size_t)size - 2;
  bool ended = reading->next[length] == '\n';
  reading->line++;
  reading->handed = reading->next;
  if (meant > most) diags_add(reading->diags, reading->file, reading->line, (int)most + 1, "line is longer than %zu characters", most);
  size_t kept = meant > most ? 0 : min_u64(length, most);
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

// Where the key stands in its line, and where its value.
static int key_column(const Reading *reading) { return 1 + (int)strspn(reading->handed, " \t"); }

static int value_column(const Reading *reading) {
  size_t at = strcspn(reading->handed, "=:\n");
  at += reading->handed[at] == '=' || reading->handed[at] == ':';
  return 1 + (int)(at + strspn(reading->handed + at, " \t"));
}

// Of two values for one parameter, nobody knows which was meant.
static void note_place(Reading *reading, const char *key) {
  Place *place = &reading->set_in[param_of(key)];
  if (place->line != 0)
    diags_add(reading->diags, reading->file, reading->line, key_column(reading), "%s is set already, in line %d", key, place->line);
  *place = (Place){reading->line, value_column(reading)};
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
  const char *full = section_length == 0 ? key + 1 : key;
  bool is_known = param_of(full) < param_count;
  if (spec_set(reading->spec, full, cleaned, reading->file, reading->line, reading->diags)) note_place(reading, full);
  else reading->diags->items[reading->diags->count - 1].column = is_known ? value_column(reading) : key_column(reading);
  return 1; // go on: every wrong line is reported
}

// ---- Relations between parameters that no range of one of them can say -------------------------

typedef struct Relations {
  const Spec *spec;
  const char *file;
  const Place *set_in; // by parameter; NULL: not known
  Diags *diags;
  bool ok;
} Relations;

// Where the file sets it, or else the other one, which goes before its default; at no place, if neither is set.
static Place place_of(const Relations *relations, const char *key, const char *other) {
  if (relations->set_in == NULL) return (Place){0};
  Place at = relations->set_in[param_of(key)];
  return at.line == 0 && other != NULL ? relations->set_in[param_of(other)] : at;
}

// `other` may be NULL: a second parameter that decides.
static void require_of_two(Relations *relations, bool holds, const char *key, const char *other, uint64_t value, const char *rule) {
  if (holds) return;
  Place at = place_of(relations, key, other);
  relations->ok = diags_add(relations->diags, relations->file, at.line, at.column, "%s = %" PRIu64 ": %s", key, value, rule);
}

static void require(Relations *relations, bool holds, const char *key, uint64_t value, const char *rule) {
  require_of_two(relations, holds, key, NULL, value, rule);
}

static bool is_power_of_two(uint64_t value) { return value != 0 && (value & (value - 1)) == 0; }

static bool is_line(uint64_t bytes) { return bytes == 32 || bytes == 64 || bytes == 128; }

// A cache is sets * ways lines; `bytes` 0 = there is none.
static void require_cache(Relations *relations, const char *name, uint64_t bytes, uint64_t ways, uint64_t line) {
  if (bytes % (ways * line) == 0 || !is_line(line)) return; // a wrong line has been told already
  char key[32], other[32];
  snprintf(key, sizeof key, "%s.bytes", name);
  snprintf(other, sizeof other, "%s.ways", name);
  Place at = place_of(relations, key, other);
  relations->ok = diags_add(relations->diags, relations->file, at.line, at.column,
                            "%s.bytes = %" PRIu64 ": must be a multiple of %" PRIu64 ": %s.ways (%" PRIu64 ") lines of %" PRIu64 " bytes",
                            name, bytes, ways * line, name, ways, line);
}

static void require_line(Relations *relations, const char *key, uint64_t bytes) {
  require(relations, is_line(bytes), key, bytes, "must be 32, 64 or 128");
}

enum { SIMT_WARP = 32, SIMT_MOST_THREADS = 64 * SIMT_WARP, SIMT_LINE = 128 };

static void check_simt_sm(Relations *relations) {
  const Spec *spec = relations->spec;
  require(relations, spec->sm_threads % SIMT_WARP == 0, "sm.threads", spec->sm_threads, "must be a multiple of 32, the warp size");
  require(relations, spec->sm_threads <= SIMT_MOST_THREADS, "sm.threads", spec->sm_threads,
          "the simt machine takes at most 2048 (64 warps)");
  require(relations, spec->sm_registers % SIMT_WARP == 0, "sm.registers", spec->sm_registers, "must be a multiple of 32: rows of 32 lanes");
  require(relations, SIMT_WARP % spec->sm_sp_lanes == 0, "sm.sp_lanes", spec->sm_sp_lanes, "must be 4, 8, 16 or 32");
  require_of_two(relations, spec->sm_schedulers <= spec->sm_threads / SIMT_WARP, "sm.schedulers", "sm.threads", spec->sm_schedulers,
                 "more than the SM has warps (sm.threads / 32)");
  require(relations, spec->shared_banks == 16 || spec->shared_banks == 32, "shared.banks", spec->shared_banks, "must be 16 or 32");
  require_line(relations, "icache.line", spec->icache_line);
  require_of_two(relations, is_power_of_two(spec->front_fetch_bytes) && spec->front_fetch_bytes <= spec->icache_line, "front.fetch_bytes",
                 "icache.line", spec->front_fetch_bytes, "must be a power of two, at most icache.line");
  require(relations, spec->front_instruction == 8 || spec->front_instruction == 16, "front.instruction", spec->front_instruction,
          "must be 8 or 16");
  require_of_two(relations, spec->front_decode <= spec->front_fetch_bytes / spec->front_instruction, "front.decode", "front.fetch_bytes",
                 spec->front_decode, "more than one fetch brings (front.fetch_bytes / front.instruction)");
  require_of_two(relations, spec->front_decode <= spec->front_buffer, "front.decode", "front.buffer", spec->front_decode,
                 "more than front.buffer holds");
  require_of_two(relations, spec->collector_layout != BANKS_OF_SUBCORES || spec->collector_banks % spec->sm_schedulers == 0,
                 "collector.banks", "sm.schedulers", spec->collector_banks,
                 "must be a multiple of sm.schedulers where collector.layout is subcores");
  require_cache(relations, "icache", spec->icache_bytes, spec->icache_ways, spec->icache_line);
  require_cache(relations, "icache2", spec->icache2_bytes, spec->icache2_ways, spec->icache_line);
  require_cache(relations, "constant", spec->constant_bytes, spec->constant_ways, SIMT_LINE);
  require_cache(relations, "texture", spec->texture_bytes, spec->texture_ways, SIMT_LINE);
  require_cache(relations, "l1d", spec->l1d_bytes, spec->l1d_ways, SIMT_LINE);
  require_line(relations, "l1d.sector", spec->l1d_sector);
}

static void check_simt_memory(Relations *relations) {
  const Spec *spec = relations->spec;
  require_cache(relations, "l2", spec->l2_bytes, spec->l2_ways, SIMT_LINE);
  require_line(relations, "l2.sector", spec->l2_sector);
  require(relations, is_power_of_two(spec->dram_interleave), "dram.interleave", spec->dram_interleave, "must be a power of two");
  require_of_two(relations, spec->dram_banks % spec->dram_groups == 0, "dram.groups", "dram.banks", spec->dram_groups,
                 "must divide dram.banks");
  require(relations, is_power_of_two(spec->dram_row), "dram.row", spec->dram_row, "must be a power of two");
  require(relations, is_power_of_two(spec->dram_burst), "dram.burst", spec->dram_burst, "must be a power of two");
  require_of_two(relations, spec->dram_rc >= spec->dram_ras, "dram.rc", "dram.ras", spec->dram_rc,
                 "less than dram.ras, which is part of it");
}

static bool check_relations(const Spec *spec, const char *file, const Place *set_in, Diags *diags) {
  Relations relations = {spec, file, set_in, diags, true};
  require(&relations, is_power_of_two(spec->sm_register_unit), "sm.register_unit", spec->sm_register_unit, "must be a power of two");
  require(&relations, is_power_of_two(spec_granule(spec)), "memory.granule", spec->memory_granule, "must be a power of two");
  if (spec->block_shared > spec->sm_shared) {
    Place at = place_of(&relations, "block.shared", "sm.shared");
    relations.ok = diags_add(diags, file, at.line, at.column, "block.shared = %" PRIu64 ": more than sm.shared (%" PRIu64 ")",
                             spec->block_shared, spec->sm_shared);
  }
  if (spec->machine_model == MODEL_SIMT) {
    check_simt_sm(&relations);
    check_simt_memory(&relations);
  }
  return relations.ok;
}

uint64_t spec_granule(const Spec *spec) {
  enum { HARDWARE_PAGE = 2 << 20 };
  if (spec->memory_granule != 0) return spec->memory_granule;
  return spec->machine_model == MODEL_SIMT ? HARDWARE_PAGE : 1;
}

bool spec_check(const Spec *spec, const char *file, Diags *diags) { return check_relations(spec, file, NULL, diags); }

static bool read_text(Spec *spec, const char *file, const char *text, Diags *diags) {
  Reading reading = {.spec = spec, .diags = diags, .file = file, .text = text, .next = text};
  uint32_t before = diags->count;
  int bad_line = ini_parse_stream(next_line, &reading, on_value, &reading);
  if (bad_line > 0) diags_add(diags, file, bad_line, 0, "not a [section], key = value or # comment");
  return diags->count == before && check_relations(spec, file, reading.set_in, diags);
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
    spec->model_is_named = true;
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
      const char *initial = info->choices;
      for (uint64_t left = info->initial; left > 0; left--) initial += strcspn(initial, "|") + 1;
      text_add(out, "| `%s` | %.*s | | | one of %s | %s |\n", info->key, (int)strcspn(initial, "|"), initial, info->choices, info->help);
    } else {
      text_add(out, "| `%s` | %" PRIu64 " | %" PRIu64 " | %" PRIu64 " | %s | %s |\n", info->key, info->initial, info->least, info->most,
               info->unit, info->help);
    }
  }
}
