// redoubt run @SET: several workloads, a row each, and means.
#include "cli/cores.h"
#include "cli/json_file.h"
#include "cli/measure.h"
#include "cli/screen.h"

#include <stdio.h>

// What a table of a machine with time shows, and what one of the functional machine does.
static const Figure timed[] = {
    {.title = "thread instr.", .kind = FIGURE_COUNT, .stat = STAT_THREAD_INSTRUCTIONS},
    {.title = "cycles", .kind = FIGURE_COUNT, .stat = STAT_CYCLES},
    {.title = "IPC", .kind = FIGURE_RATE, .ratio = RATIO_THREAD_IPC, .digits = 1},
    {.title = "occupancy", .kind = FIGURE_SHARE, .ratio = RATIO_OCCUPANCY, .digits = 1},
    {.title = "fully idle", .kind = FIGURE_SHARE, .ratio = RATIO_IDLE_FULL, .digits = 1},
    {.title = "memory", .kind = FIGURE_SHARE, .ratio = RATIO_IDLE_MEMORY, .digits = 1},
    {.title = "no block", .kind = FIGURE_SHARE, .ratio = RATIO_IDLE_EMPTY, .digits = 1},
    {.title = "partly idle", .kind = FIGURE_SHARE, .ratio = RATIO_PARTIAL_TIME, .digits = 1},
};
static const Figure untimed[] = {
    {.title = "thread instr.", .kind = FIGURE_COUNT, .stat = STAT_THREAD_INSTRUCTIONS},
    {.title = "warp instr.", .kind = FIGURE_COUNT, .stat = STAT_WARP_INSTRUCTIONS},
};

// Options that mean something for one target only. NULL: none was given.
static const char *option_for_one(const RunOptions *options) {
  if (options->params.count > 0) return "--param";
  if (options->ptx_given) return "--kernel, --grid, --block, --shared, --cooperative and --arg";
  if (options->images.given) return "--gmem-in, --gmem-out, --cmem-in and --cmem-bytes";
  if (options->dump_program || options->dumps.count > 0) return "--dump";
  if (options->wishes.trace != NULL) return "--trace";
  if (options->faults.count > 0 || options->outputs.count > 0) return "--fault and --output";
  if (options->check != 0) return "--check";
  if (options->repeat > 1) return "--repeat";
  return options->stats == STATS_GPGPUSIM ? "--stats gpgpusim" : NULL;
}

static void say_idle(const RunOptions *options, const Measured *results, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    char whose[80];
    snprintf(whose, sizeof whose, "%s: ", results[i].workload->name);
    if (results[i].launches > 0) result_say_idle(options, whose, &results[i].total.stats);
  }
}

bool measured_print(const RunOptions *options, const FigureTable *table, const FigureTable *csv, const RunPower *power, Diags *diags) {
  const char *size = workload_size_text[options->size];
  bool for_scripts = (options->json && options->json_file == NULL) || (options->csv && options->csv_file == NULL), ok = true;
  Text text = {0};
  if (!for_scripts) {
    figures_text(table, &text);
    ok = screen_print_outcomes(text.at);
    text_free(&text);
    text = (Text){0};
  }
  if (options->json) {
    json_t *root = figures_json(table->results, table->count, &options->spec, power, size);
    ok = write_json_file(&options->files, options->json_file, root, diags) && ok;
    json_decref(root);
  }
  if (options->csv) {
    figures_csv(csv, options->spec.machine, size, &text);
    ok = out_text(&options->files, options->csv_file, &text, diags) && ok;
    text_free(&text);
  }
  return ok;
}

static bool print(const RunOptions *options, const Measured *results, uint32_t count, const RunPower *power, Diags *diags) {
  bool has_time = machine_can(&options->spec, MACHINE_HAS_TIME);
  Figure all[FIGURES_MOST];
  FigureTable csv = {results, count, all, figures_all(all, has_time, &power->model), true}, table = csv;
  table.figures = has_time ? timed : untimed;
  table.figure_count = has_time ? COUNT_OF(timed) : COUNT_OF(untimed);
  return measured_print(options, &table, &csv, power, diags);
}

int run_set(Run *run) {
  RunOptions *options = run->options;
  const char *refused = option_for_one(options);
  if (refused != NULL) return message_usage("run", "%s: not for sets of workloads", refused);
  Diags diags = {0};
  WorkloadList list = {0};
  if (!workload_list_add(&list, run->arena, options->target, &diags)) return message_diags(&diags);
  if (!run_takes_ptx(options)) return EXIT_BAD_INPUT;
  Measured *results = measure(options, &list, options->processes > 0 ? options->processes : host_cores());
  if (results == NULL) return EXIT_INTERNAL;
  RunPower power = run_power(&options->spec, options->wishes.protections, run->arena);
  int code = print(options, results, list.count, &power, &diags) ? measured_failures(results, list.count) : message_diags(&diags);
  say_idle(options, results, list.count);
  measured_free(results, list.count);
  return code;
}
