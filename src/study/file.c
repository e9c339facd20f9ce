// The study file: sections and keys as study.def has them, parsed by inih.
#include "study/study.h"
#include "journal/statistics.h"

#include <ini.h>
#include <stdlib.h>

const char *const study_section_names[SECTIONS] = {"study", "run", "campaign", "measure", "claim", "table", "chart"};

const StudyKey study_keys[] = {
#define KEY(section, name, is_needed, meaning) {SECTION_##section, #name, is_needed, meaning},
#include "study/study.def"
#undef KEY
};
const uint32_t study_key_count = COUNT_OF(study_keys);

typedef struct Reading {
  StudyFile *study;
  const char *path, *next; // next line to hand to inih
  int line;
  int header;       // line of the last [section]
  int refused;      // the header of a section that was refused: said once
  bool is_indented; // the line goes on with the value before it
  Diags *diags;
} Reading;

// ---- Sections ----------------------------------------------------------------------------------------------

static bool is_name(const char *text) {
  if (*text == '\0' || (*text >= '0' && *text <= '9')) return false;
  return strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.") == strlen(text);
}

static bool find_section(Reading *at, const char *text, StudySection *section, const char **name) {
  size_t length = strcspn(text, " ");
  for (uint32_t i = 0; i < SECTIONS; i++) {
    if (strlen(study_section_names[i]) != length || strncmp(study_section_names[i], text, length) != 0) continue;
    *section = (StudySection)i;
    *name = text[length] == ' ' ? text + length + 1 : "";
    if (i == SECTION_STUDY && **name == '\0') return true;
    if (i != SECTION_STUDY && is_name(*name)) return true;
    return diags_add(at->diags, at->path, at->header, 0,
                     i == SECTION_STUDY ? "[study] takes no name"
                                        : "[%s NAME] wants a name of letters, digits, '_' and '.' that does not begin with a digit",
                     text);
  }
  return diags_add(at->diags, at->path, at->header, 0, "no section [%s]; there are study, run, campaign, measure, claim, table and chart",
                   text);
}

// Names of runs, campaigns and measures are names of tables; those of claims, tables and charts are names of CSV files.
static bool makes_table(StudySection section) {
  return section == SECTION_RUN || section == SECTION_CAMPAIGN || section == SECTION_MEASURE;
}

const StudyPart *study_part(const StudyFile *study, StudySection section, const char *name) {
  for (uint32_t i = 0; i < study->parts.count; i++) {
    const StudyPart *part = &study->parts.items[i];
    if (part->section == section && strcmp(part->name, name) == 0) return part;
  }
  return NULL;
}

static StudyPart *part_of(Reading *at, const char *text) {
  StudyFile *study = at->study;
  StudySection section = SECTION_STUDY;
  const char *name = "";
  if (at->refused == at->header) return NULL;
  at->refused = at->header; // until it proves good
  if (!find_section(at, text, &section, &name)) return NULL;
  StudyPart *last = study->parts.count > 0 ? &study->parts.items[study->parts.count - 1] : NULL;
  bool goes_on = last != NULL && last->line == at->header;
  at->refused = 0;
  if (goes_on) return last;
  for (uint32_t i = 0; i < study->parts.count; i++) {
    const StudyPart *other = &study->parts.items[i];
    bool same = makes_table(other->section) == makes_table(section);
    if (!same || strcmp(other->name, name) != 0) continue;
    at->refused = at->header;
    diags_add(at->diags, at->path, at->header, 0,
              other->section == section ? "[%s] is there already, in line %d" : "[%s] has a name that is taken in line %d", text,
              other->line);
    return NULL;
  }
  StudyPart *part = VEC_PUSH(&study->parts, study->arena);
  *part = (StudyPart){.section = section, .name = arena_copy_text(study->arena, name, strlen(name)), .line = at->header};
  return part;
}

// ---- Keys --------------------------------------------------------------------------------------------------

static const StudyKey *find_key(Reading *at, const StudyPart *part, const char *name) {
  const char *names[16];
  size_t count = 0;
  for (uint32_t i = 0; i < study_key_count; i++) {
    if (study_keys[i].section != part->section) continue;
    if (strcmp(study_keys[i].name, name) == 0) return &study_keys[i];
    if (count < COUNT_OF(names)) names[count++] = study_keys[i].name;
  }
  const char *near = text_nearest(name, names, count);
  diags_add(at->diags, at->path, at->line, 0, "a [%s] has no '%s'%s%s%s", study_section_names[part->section], name,
            near != NULL ? "; did you mean '" : "", near != NULL ? near : "", near != NULL ? "'?" : "");
  return NULL;
}

// inih tells a value that goes on in further, indented lines piece by piece under the same name.
static void add_value(Reading *at, StudyPart *part, const StudyValue *value) {
  Arena *arena = at->study->arena;
  for (uint32_t i = 0; i < part->values.count; i++) {
    StudyValue *known = &part->values.items[i];
    if (known->key != value->key || known->is_quick != value->is_quick) continue;
    if (at->is_indented && i + 1 == part->values.count) known->text = arena_format(arena, "%s %s", known->text, value->text);
    else
      diags_add(at->diags, at->path, at->line, 0, "'%s%s' is there already, in line %d", value->is_quick ? "quick." : "", value->key->name,
                known->line);
    return;
  }
  *VEC_PUSH(&part->values, arena) = *value;
}

static int on_value(void *context, const char *section, const char *name, const char *text) {
  Reading *at = context;
  StudyPart *part = part_of(at, section);
  if (part == NULL) return 1;
  bool is_quick = strncmp(name, "quick.", 6) == 0;
  const StudyKey *key = find_key(at, part, is_quick ? name + 6 : name);
  if (key != NULL) add_value(at, part, &(StudyValue){key, arena_copy_text(at->study->arena, text, strlen(text)), is_quick, at->line});
  return 1;
}

static const StudyValue *find_value(const StudyPart *part, const char *key, bool is_quick) {
  for (uint32_t i = 0; i < part->values.count; i++) {
    const StudyValue *value = &part->values.items[i];
    if (value->is_quick == is_quick && strcmp(value->key->name, key) == 0) return value;
  }
  return NULL;
}

const char *study_value(const StudyPart *part, const char *key) {
  const StudyValue *value = find_value(part, key, false);
  return value != NULL ? value->text : NULL;
}

int study_line(const StudyPart *part, const char *key) {
  const StudyValue *value = find_value(part, key, false);
  if (value == NULL) value = find_value(part, key, true);
  return value != NULL ? value->line : part->line;
}

// ---- Checks ------------------------------------------------------------------------------------------------

static bool check_part(const StudyFile *study, const StudyPart *part, Diags *diags) {
  bool good = true;
  for (uint32_t i = 0; i < study_key_count; i++) {
    const StudyKey *key = &study_keys[i];
    if (key->section != part->section || !key->is_needed || study_value(part, key->name) != NULL) continue;
    good = diags_add(diags, study->path, part->line, 0, "[%s%s%s] lacks '%s': %s", study_section_names[part->section],
                     *part->name != '\0' ? " " : "", part->name, key->name, key->meaning);
  }
  if (part->section == SECTION_CLAIM && (study_value(part, "sql") == NULL) == (study_value(part, "cannot") == NULL))
    good = diags_add(diags, study->path, part->line, 0, "[claim %s] wants either 'sql' or 'cannot'", part->name);
  return good;
}

static bool check_study(StudyFile *study, Diags *diags) {
  if (study->parts.count == 0 || study->parts.items[0].section != SECTION_STUDY)
    return diags_add(diags, study->path, 1, 0, "a study begins with [study] and its title");
  bool good = true;
  for (uint32_t i = 0; i < study->parts.count; i++) good = check_part(study, &study->parts.items[i], diags) && good;
  const char *confidence = study_value(&study->parts.items[0], "confidence");
  char *end = NULL;
  study->confidence = confidence != NULL ? strtod(confidence, &end) : 0.95;
  bool is_number = confidence == NULL || (*confidence != '\0' && *end == '\0');
  if (!is_number || !confidence_is_possible(study->confidence))
    good = diags_add(diags, study->path, study_line(&study->parts.items[0], "confidence"), 0, "confidence %s: %s", confidence,
                     confidence_rule);
  return good;
}

// ---- Reading -----------------------------------------------------------------------------------------------

enum { MOST_HEADER = 49 }; // inih keeps no more

// inih takes " ;" for the beginning of a comment and would drop all that follows, such as the rest of an SQL text.
static void look_at_line(Reading *at, const char *line) {
  const char *start = line + strspn(line, " \t");
  if (*start == '#' || *start == ';') return;
  at->is_indented = start > line;
  if (*line == '[') at->header = at->line;
  bool is_cut = *line == '[' && strcspn(line + 1, "]") > MOST_HEADER;
  if (is_cut) diags_add(at->diags, at->path, at->line, 0, "a section's kind and name have at most %d characters", MOST_HEADER);
  for (const char *mark = start; (mark = strchr(mark, ';')) != NULL; mark++) {
    if (mark[-1] != ' ' && mark[-1] != '\t') continue;
    diags_add(at->diags, at->path, at->line, 0,
              "what follows ' ;' would be ignored: leave the ';' out, and write comments in lines of their own");
    return;
  }
}

// Lines are handed over one at a time, so that their number is known; '#' begins a comment at the start of a line.
static char *next_line(char *line, int size, void *context) {
  Reading *at = context;
  if (*at->next == '\0') return NULL;
  size_t length = strcspn(at->next, "\n");
  size_t kept = length < (size_t)size - 2 ? length : (size_t)size - 2;
  if (kept < length)
    diags_add(at->diags, at->path, at->line + 1, 0, "the line is longer than %d characters; break it, and indent what follows", size - 2);
  memcpy(line, at->next, kept);
  line[kept] = '\n';
  line[kept + 1] = '\0';
  at->next += length + (at->next[length] == '\n');
  at->line++;
  look_at_line(at, line);
  return line;
}

StudyFile *study_parse(const char *path, const char *text, Diags *diags) {
  Arena *arena = arena_new();
  StudyFile *study = ARENA_NEW(arena, StudyFile);
  const char *slash = strrchr(path, '/');
  *study = (StudyFile){.arena = arena, .path = arena_copy_text(arena, path, strlen(path))};
  study->folder = slash != NULL ? arena_copy_text(arena, path, (size_t)(slash - path)) : ".";
  Reading at = {.study = study, .path = study->path, .next = text, .diags = diags};
  uint32_t before = diags->count;
  int bad_line = ini_parse_stream(next_line, &at, on_value, &at);
  if (bad_line > 0) diags_add(diags, study->path, bad_line, 0, "is neither [section], 'key = value' nor an indented line that goes on");
  if (diags->count == before && check_study(study, diags)) return study;
  study_close(study);
  return NULL;
}

StudyFile *study_read(const char *path, Diags *diags) {
  Arena *arena = arena_new();
  char *bytes;
  size_t count;
  StudyFile *study = NULL;
  if (file_read(arena, path, &bytes, &count, diags)) {
    if (strlen(bytes) == count) study = study_parse(path, bytes, diags);
    else diags_add(diags, path, 0, 0, "is no text");
  }
  arena_free(arena);
  return study;
}

StudyFile *study_builtin(const char *name, const char *wanted, Diags *diags) {
  const char *names[64] = {NULL};
  size_t count = 0;
  for (uint32_t i = 0; i < builtin_study_file_count; i++) {
    const BuiltinStudyFile *file = &builtin_study_files[i];
    if (strcmp(file->name, wanted) != 0) continue;
    if (count < COUNT_OF(names)) names[count++] = file->study;
    if (strcmp(file->study, name) != 0) continue;
    Arena *arena = arena_new();
    StudyFile *study = study_parse(arena_format(arena, "studies/%s/%s", name, wanted), file->text, diags);
    arena_free(arena);
    if (study != NULL) study->builtin = file->study;
    return study;
  }
  const char *near = text_nearest(name, names, count);
  if (strcmp(wanted, "study.ini") != 0) {
    diags_add(diags, NULL, 0, 0, "nothing is built in that goes beyond '%s'", name);
    return NULL;
  }
  diags_add(diags, NULL, 0, 0, "no study '%s'%s%s%s; 'redoubt reproduce' lists them", name, near != NULL ? "; did you mean '" : "",
            near != NULL ? near : "", near != NULL ? "'?" : "");
  return NULL;
}

void study_close(StudyFile *study) {
  if (study != NULL) arena_free(study->arena);
}
