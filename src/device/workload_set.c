// Which workloads are meant: names and sets (workloads/sets.c).
#include "device/workload.h"

const WorkloadMember *workload_member(const char *workload, WorkloadSetId set) {
  for (uint32_t i = 0; i < workload_member_count; i++) {
    const WorkloadMember *member = &workload_members[i];
    if ((member->sets >> set & 1) != 0 && strcmp(member->workload, workload) == 0) return member;
  }
  return NULL;
}

bool workload_in_set(const char *workload, WorkloadSetId set) { return set == SET_ALL || workload_member(workload, set) != NULL; }

bool is_workload_list(const char *text) { return text[0] == '@' || strchr(text, ',') != NULL; }

static void take(WorkloadList *list, Arena *arena, const Workload *workload) {
  for (uint32_t i = 0; i < list->count; i++) {
    if (list->items[i] == workload) return;
  }
  *VEC_PUSH(list, arena) = workload;
}

static bool unknown_set(const char *name, Diags *diags) {
  const char *names[SET_COUNT];
  for (int i = 0; i < SET_COUNT; i++) names[i] = workload_sets[i].name;
  const char *near = text_nearest(name, names, SET_COUNT);
  if (near != NULL) return diags_add(diags, NULL, 0, 0, "no set '@%s'; did you mean '@%s'?", name, near);
  return diags_add(diags, NULL, 0, 0, "no set '@%s'; 'redoubt list workloads' shows the sets", name);
}

static bool unknown_workload(const char *name, Arena *arena, Diags *diags) {
  const char **names = ARENA_ARRAY(arena, const char *, workload_count);
  for (uint32_t i = 0; i < workload_count; i++) names[i] = workloads[i]->name;
  const char *near = text_nearest(name, names, workload_count);
  if (near != NULL) return diags_add(diags, NULL, 0, 0, "no workload '%s'; did you mean '%s'?", name, near);
  return diags_add(diags, NULL, 0, 0, "no workload '%s'; 'redoubt list workloads' shows what is built in", name);
}

// In the order of the table, so that a paper's programs come as it lists them.
static bool take_set(WorkloadList *list, Arena *arena, const char *name, Diags *diags) {
  WorkloadSetId set = 0;
  while (set < SET_COUNT && strcmp(workload_sets[set].name, name) != 0) set++;
  if (set == SET_COUNT) return unknown_set(name, diags);
  for (uint32_t i = 0; i < workload_member_count; i++) {
    if ((workload_members[i].sets >> set & 1) == 0) continue;
    const Workload *workload = workload_find(workload_members[i].workload);
    ASSERT(workload != NULL); // a test holds it
    take(list, arena, workload);
  }
  for (uint32_t i = 0; i < workload_count && set == SET_ALL; i++) take(list, arena, workloads[i]);
  return true;
}

static bool take_word(WorkloadList *list, Arena *arena, const char *word, Diags *diags) {
  if (word[0] == '@') return take_set(list, arena, word + 1, diags);
  const Workload *workload = workload_find(word);
  if (workload == NULL) return unknown_workload(word, arena, diags);
  take(list, arena, workload);
  return true;
}

bool workload_list_add(WorkloadList *list, Arena *arena, const char *text, Diags *diags) {
  bool ok = true;
  for (;;) {
    size_t length = strcspn(text, ",");
    ok = take_word(list, arena, arena_copy_text(arena, text, length), diags) && ok;
    if (text[length] == '\0') return ok;
    text += length + 1;
  }
}
