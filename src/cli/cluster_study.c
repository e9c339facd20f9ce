// The cells of a study as tasks of a cluster. Results go where the study itself would have put them.
#include "cli/cell_seal.h"
#include "cli/cli.h"
#include "cli/cluster.h"
#include "cli/folder_lock.h"
#include "cli/study.h"

#include <unistd.h>

enum { USUAL_TASKS = 256 };

// ---- Seals -------------------------------------------------------------------------------------------------------------

static CellName name_of(const ClusterPlan *plan, uint32_t task) {
  const ClusterOutput *output = &plan->outputs.items[plan->tasks.items[task].output];
  return (CellName){.path = output->file,
                    .is_run = output->is_run,
                    .words = (const char *const *)output->words.items,
                    .word_count = output->words.count,
                    .program = plan->program_hash};
}

bool cluster_seal_cell(const ClusterPlan *plan, uint32_t task, const char *result, Diags *diags) {
  CellName name = name_of(plan, task);
  return cell_seal(&name, result, diags);
}

bool cluster_is_cell(const ClusterPlan *plan, uint32_t task) {
  CellName name = name_of(plan, task);
  Text why = {0};
  bool good = cell_state(&name, &why) == CELL_DONE;
  text_free(&why);
  return good;
}

// ---- The plan ----------------------------------------------------------------------------------------------------------

static void add_outputs(ClusterPlan *plan, const StudyCells *cells, const char *folder) {
  for (uint32_t i = 0; i < cells->items.count; i++) {
    const StudyCell *cell = &cells->items.items[i];
    ClusterOutput *output = VEC_PUSH(&plan->outputs, plan->arena);
    for (uint32_t k = 0; k < cell->words.count; k++) *VEC_PUSH(&output->words, plan->arena) = cell->words.items[k];
    output->file =
        arena_format(plan->arena, "%s%s%s/%s", folder[0] == '/' ? "" : plan->work, folder[0] == '/' ? "" : "/", folder, cell->file);
    output->is_run = cell->part->section == SECTION_RUN;
  }
}

// A task for each cell that is not done. Short ones share a process: sites ask for few jobs.
static void add_tasks(ClusterPlan *plan, const StudyCells *cells, const char *folder) {
  for (uint32_t i = 0; i < cells->items.count; i++) {
    if (!cell_is_done(&cells->items.items[i], folder)) *VEC_PUSH(&plan->tasks, plan->arena) = (ClusterTask){.output = i, .enough = ""};
  }
  uint32_t most = plan->options.tasks > 0 ? plan->options.tasks : USUAL_TASKS;
  plan->bundle = max_u32((plan->tasks.count + most - 1) / most, 1);
}

static ClusterPlan *plan_of(const StudyCells *cells, const CellWishes *wishes, Arena *arena, Diags *diags) {
  char **words = (char **)(uintptr_t)wishes->command;
  const char *folder = arena_format(arena, "%s/cluster", wishes->folder);
  ClusterPlan *plan = cluster_plan_begin(folder, wishes->cluster, (int)wishes->command_count, words, arena, diags);
  if (plan == NULL) return NULL;
  plan->is_study = true;
  for (uint32_t i = 0; i < wishes->command_count; i++) *VEC_PUSH(&plan->finish, arena) = wishes->command[i];
  *VEC_PUSH(&plan->finish, arena) = "--quiet";
  add_outputs(plan, cells, wishes->folder);
  return plan;
}

// The plan of an earlier time that came to its end is of no use for what is missing now.
static ClusterPlan *open_plan(ClusterPlan *wanted, bool *is_new, Diags *diags) {
  Diags ignored = {0};
  bool is_there = !wanted->options.dry_run && access(cluster_plan_file(wanted, "plan.json"), F_OK) == 0;
  const ClusterPlan *there = is_there ? cluster_plan_read(wanted->folder, wanted->arena, &ignored) : NULL;
  diags_free(&ignored);
  if (there != NULL && there->state == CLUSTER_DONE) folder_remove(there->folder);
  return cluster_plan_open(wanted, is_new, diags);
}

int cells_on_cluster(const StudyCells *cells, const CellWishes *wishes, bool *is_shown) {
  Arena *arena = arena_new();
  Diags diags = {0};
  bool is_new = false;
  uint32_t left = 0;
  int code = EXIT_OK;
  *is_shown = false;
  int lock = folder_lock_wait(wishes->folder, LOCK_CLUSTER, wishes->quiet);
  for (uint32_t i = 0; i < cells->items.count; i++) left += !cell_is_done(&cells->items.items[i], wishes->folder);
  ClusterPlan *plan = left == 0 ? NULL : plan_of(cells, wishes, arena, &diags);
  if (plan != NULL) plan = open_plan(plan, &is_new, &diags);
  if (plan == NULL) {
    code = left == 0 ? EXIT_OK : message_diags(&diags);
  } else {
    if (is_new) add_tasks(plan, cells, wishes->folder);
    *is_shown = plan->options.dry_run;
    if (!*is_shown) cells_remove_misfits(cells, wishes->folder);
    code = plan->options.dry_run ? cluster_show_scripts(plan) : cluster_watch(plan, wishes->quiet);
  }
  folder_unlock(lock);
  diags_free(&diags);
  arena_free(arena);
  return code;
}
