// Cells: every run and campaign of a study with every target, machine and value of its sweeps. A cell is a command line; its result is
// kept under a hash of all that decides it, so that what has been run once is never run again.
#include "study/study.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

typedef VEC(const char *) Words;

// A run or campaign with what it takes from others by `like`.
typedef struct Plan {
  const StudyPart *part;
  const char *targets, *machines, *size, *faults, *sweep, *options, *may_fail;
} Plan;

typedef struct Expansion {
  const StudyFile *study;
  const StudyChoice *choice;
  StudyCells *cells;
  Diags *diags;
  Plan plan;
  Words values[STUDY_SWEEPS];
  const char *names[STUDY_SWEEPS];
  uint32_t sweep_count;
} Expansion;

// Of what a key of the section says.
static bool complain(const Expansion *at, const char *key, const char *format, const char *what) {
  char text[512];
  snprintf(text, sizeof text, format, what);
  return diags_add(at->diags, at->study->path, study_line(at->plan.part, key), 0, "[%s %s]: %s",
                   study_section_names[at->plan.part->section], at->plan.part->name, text);
}

// ---- What the keys say ---------------------------------------------------------------------------------------

static const char *value_of(const StudyPart *part, const char *key, bool quick) {
  for (uint32_t i = 0; i < part->values.count && quick; i++) {
    const StudyValue *value = &part->values.items[i];
    if (value->is_quick && strcmp(value->key->name, key) == 0) return value->text;
  }
  return study_value(part, key);
}

static const char *own_or(const char *own, const char *other) { return own != NULL ? own : other; }

enum { MOST_LIKE = 16 };

static bool read_plan(Expansion *at, const StudyPart *part, uint32_t depth, Plan *plan) {
  bool quick = at->choice->quick;
  *plan = (Plan){.part = part, .options = ""};
  const char *like = study_value(part, "like");
  if (like != NULL) {
    const StudyPart *other = study_part(at->study, part->section, like);
    if (other == NULL) return complain(at, "like", "there is no other of its kind named '%s'", like);
    if (depth == MOST_LIKE) return complain(at, "like", "'like = %s' leads back to itself, or through too many", like);
    if (!read_plan(at, other, depth + 1, plan)) return false;
    plan->part = part;
  }
  plan->targets = own_or(value_of(part, "targets", quick), plan->targets);
  plan->machines = own_or(value_of(part, "machines", quick), plan->machines);
  plan->size = own_or(value_of(part, "size", quick), plan->size);
  plan->sweep = own_or(value_of(part, "sweep", quick), plan->sweep);
  plan->faults = part->section == SECTION_CAMPAIGN ? own_or(value_of(part, "faults", quick), plan->faults) : NULL;
  plan->may_fail = part->section == SECTION_RUN ? own_or(value_of(part, "may_fail", quick), plan->may_fail) : NULL;
  const char *own = value_of(part, "options", quick);
  if (own != NULL) plan->options = arena_format(at->cells->arena, "%s %s", plan->options, own);
  return true;
}

// Words as a shell splits them, with single and double quotes but nothing else of a shell.
static bool split(Expansion *at, const char *key, const char *text, Words *words) {
  Arena *arena = at->cells->arena;
  for (const char *next = text; *(next += strspn(next, " \t")) != '\0';) {
    Text word = {0};
    char quote = '\0';
    for (; *next != '\0' && (quote != '\0' || (*next != ' ' && *next != '\t')); next++) {
      if (quote == '\0' && (*next == '\'' || *next == '"')) quote = *next;
      else if (*next == quote) quote = '\0';
      else text_add_bytes(&word, next, 1);
    }
    *VEC_PUSH(words, arena) = arena_copy_text(arena, word.length > 0 ? word.at : "", word.length);
    text_free(&word);
    if (quote != '\0') return complain(at, key, "a quote is not closed: %s", text);
  }
  return true;
}

// "thr: 32 64 | period: 1000 2000"
static bool read_sweeps(Expansion *at) {
  Arena *arena = at->cells->arena;
  at->sweep_count = 0;
  for (const char *next = at->plan.sweep; next != NULL && *next != '\0';) {
    size_t length = strcspn(next, "|"), name_at = strspn(next, " "), name_length = strcspn(next + name_at, ": |");
    const char *colon = memchr(next, ':', length);
    if (colon == NULL || name_length == 0) return complain(at, "sweep", "a sweep is written NAME: VALUE VALUE ..., not '%s'", next);
    if (at->sweep_count == STUDY_SWEEPS) return complain(at, "sweep", "too many sweeps: %s", at->plan.sweep);
    Words *values = &at->values[at->sweep_count];
    *values = (Words){0};
    at->names[at->sweep_count++] = arena_copy_text(arena, next + name_at, name_length);
    if (!split(at, "sweep", arena_copy_text(arena, colon + 1, (size_t)(next + length - colon - 1)), values)) return false;
    if (values->count == 0) return complain(at, "sweep", "the sweep of '%s' has no values", at->names[at->sweep_count - 1]);
    next += length + (next[length] == '|');
  }
  return true;
}

static bool is_file(const char *target) {
  const char *dot = strrchr(target, '.');
  return dot != NULL && (strcmp(dot, ".ptx") == 0 || strcmp(dot, ".sass") == 0 || strcmp(dot, ".hex") == 0 || strcmp(dot, ".ini") == 0);
}

// Files are named from where the study lies.
static const char *from_study(const Expansion *at, const char *name) {
  if (!is_file(name) || name[0] == '/') return name;
  return arena_format(at->cells->arena, "%s/%s", at->study->folder, name);
}

static bool read_targets(Expansion *at, Words *targets) {
  Words named = {0};
  if (at->plan.targets == NULL) return complain(at, "targets", "lacks '%s'", "targets");
  if (!split(at, "targets", at->plan.targets, &named)) return false;
  for (uint32_t i = 0; i < named.count; i++) {
    const char *name = named.items[i];
    if (name[0] != '@') {
      *VEC_PUSH(targets, at->cells->arena) = from_study(at, name);
      continue;
    }
    const char *const *members = at->choice->set(name, at->cells->arena);
    if (members == NULL) return complain(at, "targets", "no set '%s'; 'redoubt list workloads' names them", name);
    for (; *members != NULL; members++) *VEC_PUSH(targets, at->cells->arena) = *members;
  }
  return named.count > 0 || complain(at, "targets", "lacks '%s'", "targets");
}

// ---- Cells -----------------------------------------------------------------------------------------------------

static void add_word(Expansion *at, StudyCell *cell, const char *word) { *VEC_PUSH(&cell->words, at->cells->arena) = word; }

// ${NAME} becomes the value of that sweep.
static const char *substitute(Expansion *at, const StudyCell *cell, const char *word) {
  Text text = {0};
  bool good = true;
  for (const char *next; good && (next = strstr(word, "${")) != NULL;) {
    text_add_bytes(&text, word, (size_t)(next - word));
    size_t length = strcspn(next + 2, "}");
    const char *value = NULL;
    for (uint32_t i = 0; i < cell->sweep_count; i++) {
      if (strlen(cell->sweeps[i].name) == length && strncmp(cell->sweeps[i].name, next + 2, length) == 0) value = cell->sweeps[i].value;
    }
    good = value != NULL && next[2 + length] == '}';
    if (!good) complain(at, "options", "no sweep for '%s'", next);
    if (good) text_add_bytes(&text, value, strlen(value));
    word = next + 2 + length + (next[2 + length] == '}');
  }
  text_add(&text, "%s", word);
  const char *result = good ? arena_copy_text(at->cells->arena, text.at, text.length) : NULL;
  text_free(&text);
  return result;
}

// The contents of files that a command names decide its result too.
static uint64_t hash_file(const char *path, uint64_t hash) {
  Arena *arena = arena_new();
  Diags ignored = {0};
  char *bytes;
  size_t count;
  struct stat info;
  if (stat(path, &info) == 0 && S_ISREG(info.st_mode) && file_read(arena, path, &bytes, &count, &ignored))
    hash = hash_bytes(bytes, count, hash);
  diags_free(&ignored);
  arena_free(arena);
  return hash;
}

static void finish_cell(Expansion *at, StudyCell *cell) {
  uint64_t hash = at->choice->program;
  for (uint32_t i = 0; i < cell->words.count; i++) {
    const char *word = cell->words.items[i], *value = strchr(word, '=');
    hash = hash_bytes(word, strlen(word) + 1, hash);
    hash = hash_file(value != NULL ? value + 1 : word, hash);
  }
  cell->program = at->choice->program;
  cell->hash = hash;
  cell->file =
      arena_format(at->cells->arena, "cells/%016llx.%s", (unsigned long long)hash, cell->part->section == SECTION_RUN ? "json" : "db");
}

// "sms,blocks: 1,16 2,32": names that go together. False: a value has not as many parts.
static bool add_sweeps(Expansion *at, StudyCell *cell, const char *names, const char *values) {
  Arena *arena = at->cells->arena;
  for (bool more = true; more;) {
    size_t name = strcspn(names, ",");
    more = names[name] == ',';
    size_t value = more ? strcspn(values, ",") : strlen(values);
    if (cell->sweep_count == STUDY_SWEEPS) return complain(at, "sweep", "too many sweeps: %s", at->plan.sweep);
    cell->sweeps[cell->sweep_count++] = (StudySweep){arena_copy_text(arena, names, name), arena_copy_text(arena, values, value)};
    if (more && values[value] != ',')
      return complain(at, "sweep", "a value for each of several names that go together: %s", at->plan.sweep);
    names += name + more;
    values += value + more;
  }
  return true;
}

// The first columns of a result say what the keys say. An option that says something else would make them lie.
static bool is_key(Expansion *at, const char *word) {
  static const struct {
    const char *option, *key;
    size_t shortest; // as the command line still understands it: --mac
  } known[] = {{"--machine", "machines", 5}, {"--size", "size", 4}, {"--faults", "faults", 8}};
  size_t length = strcspn(word, "=");
  for (size_t i = 0; i < COUNT_OF(known); i++) {
    if (length < known[i].shortest || length > strlen(known[i].option) || strncmp(word, known[i].option, length) != 0) continue;
    const char *text = arena_format(at->cells->arena, "'%s' in 'options': write it as the key '%s'", word, known[i].key);
    return !complain(at, "options", "%s", text);
  }
  return false;
}

static bool add_cell(Expansion *at, const char *target, const char *machine, const uint32_t *chosen) {
  if (at->cells->items.count == STUDY_CELLS) return complain(at, "sweep", "the study has more than 100000 cells%s", "");
  StudyCell *cell = VEC_PUSH(&at->cells->items, at->cells->arena);
  *cell = (StudyCell){.part = at->plan.part, .target = target, .machine = machine, .size = at->plan.size != NULL ? at->plan.size : ""};
  cell->may_fail = at->plan.may_fail != NULL && strcmp(at->plan.may_fail, "yes") == 0;
  for (uint32_t i = 0; i < at->sweep_count; i++) {
    if (!add_sweeps(at, cell, at->names[i], at->values[i].items[chosen[i]])) return false;
  }
  add_word(at, cell, study_section_names[at->plan.part->section]);
  add_word(at, cell, target);
  add_word(at, cell, "--machine");
  add_word(at, cell, machine);
  if (at->plan.size != NULL) add_word(at, cell, "--size"), add_word(at, cell, at->plan.size);
  if (at->plan.faults != NULL) add_word(at, cell, "--faults"), add_word(at, cell, at->plan.faults);
  Words options = {0};
  if (!split(at, "options", at->plan.options, &options)) return false;
  for (uint32_t i = 0; i < options.count; i++) {
    const char *word = substitute(at, cell, options.items[i]);
    if (word == NULL || is_key(at, word)) return false;
    add_word(at, cell, word);
  }
  finish_cell(at, cell);
  return true;
}

static bool add_swept(Expansion *at, const char *target, const char *machine) {
  uint32_t chosen[STUDY_SWEEPS] = {0};
  for (;;) {
    if (!add_cell(at, target, machine, chosen)) return false;
    uint32_t i = at->sweep_count;
    while (i > 0 && ++chosen[i - 1] == at->values[i - 1].count) chosen[--i] = 0;
    if (i == 0) return true;
  }
}

static bool expand(Expansion *at, const StudyPart *part) {
  at->plan = (Plan){.part = part};
  Words targets = {0}, machines = {0};
  if (!read_plan(at, part, 0, &at->plan) || !read_targets(at, &targets) || !read_sweeps(at)) return false;
  if (at->plan.machines == NULL) return complain(at, "machines", "lacks '%s'", "machines");
  if (!split(at, "machines", at->plan.machines, &machines)) return false;
  for (uint32_t t = 0; t < targets.count; t++) {
    for (uint32_t m = 0; m < machines.count; m++) {
      if (!add_swept(at, targets.items[t], from_study(at, machines.items[m]))) return false;
    }
  }
  return true;
}

bool study_cells(const StudyFile *study, const StudyChoice *choice, Arena *arena, StudyCells *cells, Diags *diags) {
  *cells = (StudyCells){.arena = arena};
  Expansion at = {.study = study, .choice = choice, .cells = cells, .diags = diags};
  bool good = true;
  for (uint32_t i = 0; i < study->parts.count; i++) {
    const StudyPart *part = &study->parts.items[i];
    if (part->section == SECTION_RUN || part->section == SECTION_CAMPAIGN) good = expand(&at, part) && good;
  }
  return good;
}

// ---- As a person types it ----------------------------------------------------------------------------------------

void study_words(const char *const *words, uint32_t count, Text *out) {
  text_add(out, "redoubt");
  for (uint32_t i = 0; i < count; i++) {
    const char *word = words[i];
    bool plain = *word != '\0' && strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.,:=/+-@%") == strlen(word);
    text_add(out, plain ? " %s" : " '%s'", word);
  }
}

void study_command(const StudyCell *cell, Text *out) { study_words((const char *const *)cell->words.items, cell->words.count, out); }
