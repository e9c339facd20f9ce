// redoubt list workloads: what is built in, sets, and with --traits what each is like on a machine.
#include "cli/cores.h"
#include "cli/list.h"
#include "cli/measure.h"
#include "cli/screen.h"

#include <inttypes.h>
#include <stdio.h>

// ---- The list ----------------------------------------------------------------------------------------------

static void list_params(const Workload *workload, Text *out) {
  for (uint32_t p = 0; p < workload_param_count(workload); p++) {
    const WorkloadParam *param = &workload->params[p];
    text_add(out, "    %-10s %s:", param->name, param->help);
    for (int size = 0; size < SIZE_COUNT; size++) {
      text_add(out, "%s %" PRIu64 " %s", size == 0 ? "" : ",", param->value[size], workload_size_text[size]);
    }
    text_add(out, "\n");
  }
}

static void list_papers(const Workload *workload, Text *out) {
  Text names = {0};
  papers_names(workload->name, &names);
  if (names.length > 0) text_add(out, "    %-10s %s\n", "papers", names.at);
  text_free(&names);
  names = (Text){0};
  for (WorkloadSetId set = 0; set < SET_COUNT; set++) {
    if (set != SET_ALL && workload_in_set(workload->name, set)) text_add(&names, " @%s", workload_sets[set].name);
  }
  if (names.length > 0) text_add(out, "    %-10s%s\n", "sets", names.at);
  text_free(&names);
}

static void list_members(WorkloadSetId set, Text *out) {
  enum { MOST_COLUMNS = 120 };
  size_t line = out->length; // where this line began
  uint32_t shown = 0;
  for (uint32_t i = 0; i < workload_member_count; i++) {
    const WorkloadMember *member = &workload_members[i];
    if ((member->sets >> set & 1) == 0) continue;
    bool is_full = out->length - line > MOST_COLUMNS - 20;
    text_add(out, "%s", shown == 0 ? "   " : is_full ? ",\n   " : ",");
    if (is_full) line = out->length;
    text_add(out, " %s", member->workload);
    if (member->abbreviation != NULL) text_add(out, " (%s%s)", member->abbreviation, member->doubt == NULL ? "" : "?");
    shown++;
  }
  if (shown > 0) text_add(out, "\n");
}

static void list_sets(Text *out) {
  text_add(out, "\n");
  for (WorkloadSetId set = 0; set < SET_COUNT; set++) {
    text_add(out, "@%-15s %s\n", workload_sets[set].name, workload_sets[set].summary);
    list_members(set, out);
  }
  for (uint32_t i = 0; i < workload_member_count; i++) {
    if (workload_members[i].doubt != NULL) text_add(out, "\n?: %s\n", workload_members[i].doubt);
  }
}

static int list(const WorkloadList *list, bool sets) {
  Text out = {0};
  for (uint32_t i = 0; i < list->count; i++) {
    text_add(&out, "%-14s %s\n", list->items[i]->name, list->items[i]->summary);
    list_params(list->items[i], &out);
    list_papers(list->items[i], &out);
  }
  if (sets) list_sets(&out);
  screen_print(out.at);
  text_free(&out);
  return EXIT_OK;
}

// ---- Traits --------------------------------------------------------------------------------------------------

// docs/workloads.md defines each.
static const Figure figures[] = {
    {.title = "thread instr.", .kind = FIGURE_COUNT, .stat = STAT_THREAD_INSTRUCTIONS},
    {.title = "blocks/SM", .kind = FIGURE_NUMBER, .ratio = RATIO_BLOCKS_PER_SM, .digits = 1},
    {.title = "occupancy", .kind = FIGURE_SHARE, .ratio = RATIO_OCCUPANCY, .digits = 1},
    {.title = "fully idle", .kind = FIGURE_SHARE, .ratio = RATIO_IDLE_FULL, .digits = 1},
    {.title = "partly idle", .kind = FIGURE_SHARE, .ratio = RATIO_PARTIAL_TIME, .digits = 1},
    {.title = "active", .kind = FIGURE_NUMBER, .ratio = RATIO_ACTIVE_THREADS, .digits = 1},
    {.title = "memory/1000", .kind = FIGURE_NUMBER, .ratio = RATIO_MEMORY_INTENSITY, .digits = 1},
    {.title = "DRAM wait", .kind = FIGURE_NUMBER, .ratio = RATIO_DRAM_WAIT, .digits = 1},
    {.title = "imiss/1000", .kind = FIGURE_NUMBER, .ratio = RATIO_ICACHE_INTENSITY, .digits = 2},
    {.title = "ALU", .kind = FIGURE_SHARE, .ratio = RATIO_ALU_SHARE, .digits = 1},
    {.title = "SFU", .kind = FIGURE_SHARE, .ratio = RATIO_SFU_SHARE, .digits = 1},
    {.title = "memory", .kind = FIGURE_SHARE, .ratio = RATIO_MEMORY_SHARE, .digits = 1},
    {.title = "control", .kind = FIGURE_SHARE, .ratio = RATIO_CONTROL_SHARE, .digits = 1},
};

// Traits are promised of the machine as its file has it.
static bool are_promised(const RunOptions *options) {
  return strcmp(options->spec.machine, TRAIT_MACHINE) == 0 && options->machine.settings.count == 0;
}

static int print_traits(const RunOptions *options, const Measured *results, uint32_t count) {
  Diags diags = {0};
  const FigureTable table = {.results = results, .count = count, .figures = figures, .figure_count = COUNT_OF(figures)};
  Arena *arena = arena_new();
  RunPower power = run_power(&options->spec, options->wishes.protections, arena);
  bool shown = measured_print(options, &table, &table, &power, &diags);
  arena_free(arena);
  if (!shown) return message_diags(&diags);
  Text lines = {0};
  uint32_t broken = are_promised(options) ? traits_judge(results, count, options->size, &lines) : 0;
  bool for_scripts = (options->json && options->json_file == NULL) || (options->csv && options->csv_file == NULL);
  if (lines.length > 0) fprintf(for_scripts ? stderr : stdout, "\n%s", lines.at);
  text_free(&lines);
  int code = measured_failures(results, count);
  if (broken == 0 || code != EXIT_OK) return code;
  message_error("%u traits do not hold", broken);
  return EXIT_CHECK_FAILED;
}

static int measure_traits(RunOptions *options, const WorkloadList *list) {
  if (!machine_can(&options->spec, MACHINE_HAS_TIME))
    return message_usage("list", "--traits needs a machine with time, such as --machine " TRAIT_MACHINE);
  Measured *results = measure(options, list, options->processes > 0 ? options->processes : host_cores());
  if (results == NULL) return EXIT_INTERNAL;
  int code = print_traits(options, results, list->count);
  measured_free(results, list->count);
  return code;
}

// ---- The command -----------------------------------------------------------------------------------------------

int list_workloads(ListOptions *options, const Operands *operands) {
  RunOptions *run = &options->run;
  bool measures = run->machine.machine != NULL || run->machine.settings.count > 0 || run->size_given || run->json || run->csv;
  if (options->markdown) return message_usage("list", "'workloads' has no --markdown form");
  if ((measures || run->processes > 0) && !options->traits)
    return message_usage("list", "--machine, --set, --size, --json, --csv and --jobs measure: they need --traits");
  Diags diags = {0};
  WorkloadList chosen = {0};
  bool good = true, all = operands->count == 1;
  for (uint32_t i = 1; i < operands->count; i++) good = workload_list_add(&chosen, options->arena, operands->items[i], &diags) && good;
  for (uint32_t i = 0; i < workload_count && all; i++) *VEC_PUSH(&chosen, options->arena) = workloads[i];
  for (uint32_t i = 0; i < g80_workload_count && all && !options->traits; i++) *VEC_PUSH(&chosen, options->arena) = g80_workloads[i];
  if (run->machine.machine == NULL) run->machine.machine = TRAIT_MACHINE;
  if (!good) return message_diags(&diags);
  const Operands none = {.quiet = operands->quiet};
  if (!run_options_complete(run, &none, options->arena)) return EXIT_BAD_INPUT;
  return options->traits ? measure_traits(run, &chosen) : list(&chosen, all);
}
