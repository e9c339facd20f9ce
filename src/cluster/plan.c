// plan.json: what there is to do, and how often each task was handed out. One process writes it at a time; readers see it whole, old or new.
#include "cluster/cluster.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>

enum { PLAN_VERSION = 1 };
static const char *const state_names[] = {"running", "done", "failed"};

// ---- Names ------------------------------------------------------------------------------------------------------

ClusterPlan *cluster_plan_new(const char *folder, Arena *arena) {
  ClusterPlan *plan = ARENA_NEW(arena, ClusterPlan);
  *plan = (ClusterPlan){.arena = arena, .folder = folder, .bundle = 1, .message = ""};
  return plan;
}

const char *cluster_plan_file(const ClusterPlan *plan, const char *name) { return arena_format(plan->arena, "%s/%s", plan->folder, name); }

static const char *result(const ClusterPlan *plan, uint32_t task, const char *ending) {
  return arena_format(plan->arena, "%s/results/%06u.%s", plan->folder, task, ending);
}

const char *cluster_task_file(const ClusterPlan *plan, uint32_t task) {
  const ClusterTask *one = &plan->tasks.items[task];
  return one->end > 0 ? result(plan, task, "db") : plan->outputs.items[one->output].file;
}

const char *cluster_task_receipt(const ClusterPlan *plan, uint32_t task) { return result(plan, task, "ok"); }
const char *cluster_task_failure(const ClusterPlan *plan, uint32_t task) { return result(plan, task, "failed"); }
const char *cluster_task_unfinished(const ClusterPlan *plan, uint32_t task) { return result(plan, task, "unfinished.db"); }

const char *cluster_task_log(const ClusterPlan *plan, uint32_t task) {
  const ClusterTask *one = &plan->tasks.items[task];
  return cluster_plan_file(plan, arena_format(plan->arena, "logs/%03u-%u.log", one->submission, one->place));
}

// The folder is part of it: the same campaign in two folders is two works.
const char *cluster_plan_name(const ClusterPlan *plan) {
  uint64_t hash = hash_bytes(plan->folder, strlen(plan->folder), plan->identity);
  return arena_format(plan->arena, "redoubt-%08x", (unsigned)(hash >> 32));
}

uint32_t cluster_plan_limit(const ClusterPlan *plan, uint32_t tries) {
  double planned = plan->seconds_per_task * plan->bundle / 60 + 1;
  uint64_t minutes = max_u64(plan->options.minutes, (uint64_t)(planned < 1e6 ? planned : 1e6));
  minutes = plan->options.limit > 0 ? plan->options.limit : 4 * minutes + 10;
  return (uint32_t)min_u64(minutes << min_u32(tries > 0 ? tries - 1 : 0, 8), 100 * 24 * 60);
}

uint64_t cluster_plan_identity(const ClusterPlan *plan) {
  uint64_t hash = plan->program_hash + plan->is_study;
  for (uint32_t i = 0; i < plan->outputs.count; i++) {
    const ClusterOutput *output = &plan->outputs.items[i];
    for (uint32_t k = 0; k < output->words.count; k++) hash = hash_bytes(output->words.items[k], strlen(output->words.items[k]) + 1, hash);
    hash = hash_bytes(output->file, strlen(output->file) + 1, hash);
  }
  return hash;
}

// ---- Written -----------------------------------------------------------------------------------------------------

static json_t *hex(uint64_t value) {
  char text[24];
  sprintf(text, "%016" PRIx64, value);
  return json_string(text);
}

static json_t *whole(uint64_t value) { return json_integer((json_int_t)value); }

// A path need not be UTF-8, JSON must: such a name is refused where it is given.
static json_t *words_of(const ClusterWords *words) {
  json_t *array = json_array();
  for (uint32_t i = 0; i < words->count; i++) json_array_append_new(array, json_string(words->items[i]));
  return array;
}

static json_t *outputs_of(const ClusterPlan *plan) {
  json_t *array = json_array();
  for (uint32_t i = 0; i < plan->outputs.count; i++) {
    const ClusterOutput *output = &plan->outputs.items[i];
    json_t *object = json_object();
    json_object_set_new(object, "words", words_of(&output->words));
    json_object_set_new(object, "file", json_string(output->file));
    json_object_set_new(object, "run", json_boolean(output->is_run));
    json_array_append_new(array, object);
  }
  return array;
}

static json_t *tasks_of(const ClusterPlan *plan) {
  json_t *array = json_array();
  for (uint32_t i = 0; i < plan->tasks.count; i++) {
    const ClusterTask *task = &plan->tasks.items[i];
    json_t *object = json_object();
    json_object_set_new(object, "output", whole(task->output));
    if (task->end > 0) json_object_set_new(object, "first", whole(task->first));
    if (task->end > 0) json_object_set_new(object, "end", whole(task->end));
    if (task->enough != NULL && task->enough[0] != '\0') json_object_set_new(object, "enough", json_string(task->enough));
    json_object_set_new(object, "tries", whole(task->tries));
    json_object_set_new(object, "submission", whole(task->submission));
    json_object_set_new(object, "place", whole(task->place));
    json_array_append_new(array, object);
  }
  return array;
}

bool cluster_plan_write(const ClusterPlan *plan, Diags *diags) {
  json_t *root = json_object();
  json_object_set_new(root, "version", whole(PLAN_VERSION));
  json_object_set_new(root, "state", json_string(state_names[plan->state]));
  json_object_set_new(root, "message", json_string(plan->message));
  json_object_set_new(root, "kind", json_string(plan->is_study ? "study" : "campaign"));
  json_object_set_new(root, "command", json_string(plan->command));
  json_object_set_new(root, "work", json_string(plan->work));
  json_object_set_new(root, "program", json_string(plan->program));
  json_object_set_new(root, "program_hash", hex(plan->program_hash));
  json_object_set_new(root, "identity", hex(plan->identity));
  json_object_set_new(root, "cluster", json_string(plan->options_text));
  json_object_set_new(root, "bundle", whole(plan->bundle));
  json_object_set_new(root, "seconds_per_task", json_real(plan->seconds_per_task));
  json_object_set_new(root, "submissions", whole(plan->submissions));
  json_object_set_new(root, "rounds", whole(plan->rounds));
  json_object_set_new(root, "finish", words_of(&plan->finish));
  json_object_set_new(root, "outputs", outputs_of(plan));
  json_object_set_new(root, "tasks", tasks_of(plan));
  char *text = json_dumps(root, JSON_INDENT(1));
  json_decref(root);
  if (text == NULL) return diags_add(diags, plan->folder, 0, 0, "a name of the plan is no UTF-8, which plan.json cannot hold");
  Text out = {0};
  text_add(&out, "%s\n", text);
  free(text);
  bool good = text_publish(cluster_plan_file(plan, "plan.json"), &out, diags);
  text_free(&out);
  return good;
}

// ---- Read ---------------------------------------------------------------------------------------------------------

static const char *text_of(const ClusterPlan *plan, const json_t *object, const char *key) {
  const char *text = json_string_value(json_object_get(object, key));
  return text == NULL ? "" : arena_copy_text(plan->arena, text, strlen(text));
}

static uint64_t number_of(const json_t *object, const char *key) {
  json_int_t number = json_integer_value(json_object_get(object, key));
  return number < 0 ? 0 : (uint64_t)number;
}

static uint64_t hex_of(const json_t *object, const char *key) {
  const char *text = json_string_value(json_object_get(object, key));
  return text == NULL ? 0 : strtoull(text, NULL, 16);
}

static void read_words(ClusterPlan *plan, const json_t *array, ClusterWords *words) {
  for (size_t i = 0; i < json_array_size(array); i++) {
    const char *word = json_string_value(json_array_get(array, i));
    if (word != NULL) *VEC_PUSH(words, plan->arena) = arena_copy_text(plan->arena, word, strlen(word));
  }
}

static void read_outputs(ClusterPlan *plan, const json_t *array) {
  for (size_t i = 0; i < json_array_size(array); i++) {
    const json_t *object = json_array_get(array, i);
    ClusterOutput *output = VEC_PUSH(&plan->outputs, plan->arena);
    output->file = text_of(plan, object, "file");
    output->is_run = json_is_true(json_object_get(object, "run"));
    read_words(plan, json_object_get(object, "words"), &output->words);
  }
}

static bool read_tasks(ClusterPlan *plan, const json_t *array) {
  bool good = true;
  for (size_t i = 0; i < json_array_size(array); i++) {
    const json_t *object = json_array_get(array, i);
    ClusterTask *task = VEC_PUSH(&plan->tasks, plan->arena);
    task->output = (uint32_t)number_of(object, "output");
    task->first = number_of(object, "first");
    task->end = number_of(object, "end");
    task->enough = text_of(plan, object, "enough");
    task->tries = (uint32_t)number_of(object, "tries");
    task->submission = (uint32_t)number_of(object, "submission");
    task->place = (uint32_t)number_of(object, "place");
    good &= task->output < plan->outputs.count && (task->end == 0 || task->first < task->end);
  }
  return good;
}

static bool read_all(ClusterPlan *plan, const json_t *root, Diags *diags) {
  const char *state = text_of(plan, root, "state");
  while (plan->state < CLUSTER_FAILED && strcmp(state_names[plan->state], state) != 0) plan->state++;
  plan->message = text_of(plan, root, "message");
  plan->is_study = strcmp(text_of(plan, root, "kind"), "study") == 0;
  plan->command = text_of(plan, root, "command");
  plan->work = text_of(plan, root, "work");
  plan->program = text_of(plan, root, "program");
  plan->program_hash = hex_of(root, "program_hash");
  plan->identity = hex_of(root, "identity");
  plan->options_text = text_of(plan, root, "cluster");
  plan->bundle = max_u32((uint32_t)number_of(root, "bundle"), 1);
  plan->seconds_per_task = json_number_value(json_object_get(root, "seconds_per_task"));
  plan->submissions = (uint32_t)number_of(root, "submissions");
  plan->rounds = (uint32_t)number_of(root, "rounds");
  read_words(plan, json_object_get(root, "finish"), &plan->finish);
  read_outputs(plan, json_object_get(root, "outputs"));
  return read_tasks(plan, json_object_get(root, "tasks")) && plan->tasks.count > 0 &&
         cluster_options_parse(plan->options_text, plan->arena, &plan->options, diags);
}

ClusterPlan *cluster_plan_read(const char *folder, Arena *arena, Diags *diags) {
  ClusterPlan *plan = cluster_plan_new(folder, arena);
  const char *path = cluster_plan_file(plan, "plan.json");
  char *bytes;
  size_t count;
  if (!file_read(arena, path, &bytes, &count, diags)) return NULL;
  json_error_t error = {.text = "other"};
  json_t *root = json_loadb(bytes, count, 0, &error);
  bool good = root != NULL && number_of(root, "version") == PLAN_VERSION && read_all(plan, root, diags);
  json_decref(root);
  if (!good) diags_add(diags, path, 0, 0, "is not a plan of this Redoubt, or is damaged");
  return good ? plan : NULL;
}
