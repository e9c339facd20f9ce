// What --cluster says.
#include "cluster/cluster.h"

#include <stdlib.h>

const char *const cluster_kind_names[CLUSTER_KINDS] = {"", "local", "slurm", "folder"};

typedef enum ValueKind { VALUE_NUMBER, VALUE_TEXT } ValueKind;
typedef struct Value {
  const char *name;
  ValueKind kind;
  size_t offset;
  uint32_t least, most;
} Value;
#define NUMBER(name, field, least, most) \
  { name, VALUE_NUMBER, offsetof(ClusterOptions, field), least, most }
#define TEXT(name, field) \
  { name, VALUE_TEXT, offsetof(ClusterOptions, field), 0, 0 }
static const Value values[] = {
    NUMBER("cpus", cpus, 1, 256),
    NUMBER("minutes", minutes, 1, 10000),
    NUMBER("tasks", tasks, 1, 1000000),
    NUMBER("throttle", throttle, 1, 1000000),
    NUMBER("tries", tries, 1, 100),
    NUMBER("poll", poll, 1, 3600),
    NUMBER("limit", limit, 1, 100000),
    TEXT("partition", partition),
    TEXT("account", account),
    TEXT("qos", qos),
    TEXT("memory", memory),
    TEXT("scratch", scratch),
    TEXT("folder", folder),
};

const char cluster_options_help[] = "cpus, minutes, tasks, throttle, tries, limit, poll, partition, account, qos, memory, scratch, folder, "
                                    "sbatch=--WORD, dry-run";

static bool take_number(const Value *value, const char *text, ClusterOptions *options, Diags *diags) {
  char *end;
  unsigned long number = strtoul(text, &end, 10);
  bool good = *text >= '0' && *text <= '9' && *end == '\0' && number >= value->least && number <= value->most;
  if (!good)
    return diags_add(diags, NULL, 0, 0, "--cluster: %s=%s: must be a number from %u to %u", value->name, text, value->least, value->most);
  *(uint32_t *)(void *)((char *)options + value->offset) = (uint32_t)number;
  return true;
}

// The text stands in a line of a script.
static bool take_text(const Value *value, const char *text, ClusterOptions *options, Diags *diags) {
  if (*text == '\0' || strpbrk(text, "\n\"\\") != NULL)
    return diags_add(diags, NULL, 0, 0, "--cluster: %s=%s: must be a plain text", value->name, text);
  *(const char **)(void *)((char *)options + value->offset) = text;
  return true;
}

static bool unknown(const char *word, Diags *diags) {
  const char *names[COUNT_OF(values) + 2] = {"dry-run", "sbatch"};
  for (size_t i = 0; i < COUNT_OF(values); i++) names[i + 2] = values[i].name;
  const char *near = text_nearest(word, names, COUNT_OF(names));
  if (near != NULL) return diags_add(diags, NULL, 0, 0, "--cluster: there is no option '%s'; did you mean '%s'?", word, near);
  return diags_add(diags, NULL, 0, 0, "--cluster: there is no option '%s', but %s", word, cluster_options_help);
}

static bool take_word(char *word, Arena *arena, ClusterOptions *options, Diags *diags) {
  char *equal = strchr(word, '=');
  if (options->kind == CLUSTER_LOCAL && equal == NULL && *word >= '0' && *word <= '9')
    return take_number(&(Value){"N", VALUE_NUMBER, offsetof(ClusterOptions, processes), 1, 256}, word, options, diags);
  if (strcmp(word, "dry-run") == 0) {
    options->dry_run = options->kind == CLUSTER_SLURM;
    return options->dry_run || diags_add(diags, NULL, 0, 0, "--cluster: dry-run is for slurm");
  }
  if (equal == NULL) return unknown(word, diags);
  *equal = '\0';
  const char *text = equal + 1;
  if (strcmp(word, "sbatch") == 0) {
    const char **place = VEC_PUSH(&options->extra, arena);
    ClusterOptions taken = {0};
    if (!take_text(&(Value){"sbatch", VALUE_TEXT, offsetof(ClusterOptions, partition), 0, 0}, text, &taken, diags)) return false;
    *place = taken.partition;
    return true;
  }
  for (size_t i = 0; i < COUNT_OF(values); i++) {
    if (strcmp(values[i].name, word) == 0)
      return (values[i].kind == VALUE_NUMBER ? take_number : take_text)(&values[i], text, options, diags);
  }
  return unknown(word, diags);
}

static bool take_kind(const char *text, size_t length, ClusterOptions *options, Diags *diags) {
  for (uint32_t i = CLUSTER_LOCAL; i < CLUSTER_KINDS; i++) {
    const char *name = cluster_kind_names[i];
    if (strlen(name) != length || strncmp(name, text, length) != 0) continue;
    options->kind = (ClusterKind)i;
    return true;
  }
  return diags_add(diags, NULL, 0, 0, "--cluster %s: must begin with slurm, local or folder", text);
}

bool cluster_options_parse(const char *text, Arena *arena, ClusterOptions *options, Diags *diags) {
  *options = (ClusterOptions){.processes = 1, .cpus = 1, .minutes = 10, .tries = 3, .poll = 10};
  size_t length = strcspn(text, ":");
  if (!take_kind(text, length, options, diags)) return false;
  char *rest = arena_copy_text(arena, text + length, strlen(text + length)), *save = NULL;
  if (*rest == ':') rest++;
  for (char *word = strtok_r(rest, ",", &save); word != NULL; word = strtok_r(NULL, ",", &save)) {
    if (!take_word(word, arena, options, diags)) return false;
  }
  return true;
}
