// What a run did: a table and a summary for people, JSON and CSV for scripts.
#include "cli/run.h"

#include "campaign/golden.h"
#include "cli/gpgpusim.h"
#include "cli/json_file.h"
#include "cli/screen.h"
#include "machine/ratio.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_ROWS = 10, LEAST_NAME_WIDTH = 8, MOST_NAME_WIDTH = 96 };

static const char *const check_text[] = {[CHECK_NONE] = "none", [CHECK_PASSED] = "passed", [CHECK_FAILED] = "failed"};

static void add_launch(LaunchRecord *total, const LaunchRecord *launch) {
  for (int k = 0; k < STAT_COUNT; k++) total->stats.value[k] += launch->stats.value[k];
  total->register_rows += launch->register_rows;
  total->host_seconds += launch->host_seconds;
}

static bool has_time(const Run *run) { return machine_can(&run->options->spec, MACHINE_HAS_TIME); }

LaunchRecord result_total(const RunResult *result) {
  LaunchRecord total = {.kernel = "total"};
  for (uint32_t i = 0; i < result->launches.count; i++) {
    const LaunchRecord *launch = &result->launches.items[i];
    add_launch(&total, launch);
    if (launch->trap.kind != TRAP_NONE) total.trap.kind = launch->trap.kind;
  }
  return total;
}

// ---- Table ---------------------------------------------------------------------------------------

static void dimensions_text(const uint32_t dimensions[3], char *out, size_t size) {
  int used = 3;
  while (used > 1 && dimensions[used - 1] <= 1) used--;
  if (used == 1) snprintf(out, size, "%u", dimensions[0]);
  if (used == 2) snprintf(out, size, "%ux%u", dimensions[0], dimensions[1]);
  if (used == 3) snprintf(out, size, "%ux%ux%u", dimensions[0], dimensions[1], dimensions[2]);
}

// Machines without time count warp instructions as cycles, which nobody should read as time: they have no such column.
static void add_row(Text *out, const LaunchRecord *launch, int name_width, bool is_total, bool timed, const char *check) {
  char grid[40] = "", block[40] = "";
  if (!is_total) {
    dimensions_text(launch->grid, grid, sizeof grid);
    dimensions_text(launch->block, block, sizeof block);
  }
  if (launch->trap.kind != TRAP_NONE) check = trap_info[launch->trap.kind].name;
  text_add(out, "%-*.*s %12s %10s %18" PRIu64 " %16" PRIu64, name_width, name_width, SHORT_NAME(launch->kernel), grid, block,
           launch->stats.value[STAT_THREAD_INSTRUCTIONS], launch->stats.value[STAT_WARP_INSTRUCTIONS]);
  if (timed) text_add(out, " %14" PRIu64, launch->stats.value[STAT_CYCLES]);
  text_add(out, " %9.3f  %s\n", launch->host_seconds, check);
}

static uint64_t cycles_of(const RunResult *result, uint32_t launch) { return result->launches.items[launch].stats.value[STAT_CYCLES]; }

static bool is_in(const uint32_t *launches, uint32_t count, uint32_t launch) {
  for (uint32_t i = 0; i < count; i++) {
    if (launches[i] == launch) return true;
  }
  return false;
}

// The longest launches; of equally long ones the first. How many.
static uint32_t choose_longest(const RunResult *result, uint32_t longest[MOST_ROWS]) {
  uint32_t count = result->launches.count, chosen = 0;
  for (; chosen < min_u32(MOST_ROWS, count); chosen++) {
    uint32_t best = count;
    for (uint32_t i = 0; i < count; i++) {
      bool is_longer = best == count || cycles_of(result, i) > cycles_of(result, best);
      if (is_longer && !is_in(longest, chosen, i)) best = i;
    }
    longest[chosen] = best;
  }
  return chosen;
}

static void print_table(const RunResult *result, bool timed, bool all) {
  int width = LEAST_NAME_WIDTH;
  uint32_t count = result->launches.count, longest[MOST_ROWS], chosen = choose_longest(result, longest);
  for (uint32_t i = 0; i < count; i++) {
    int length = (int)strlen(SHORT_NAME(result->launches.items[i].kernel));
    bool is_shown = all || is_in(longest, chosen, i);
    if (is_shown && length > width) width = length < MOST_NAME_WIDTH ? length : MOST_NAME_WIDTH;
  }
  const char *check = check_text[result->check];
  Text out = {0};
  text_add(&out, "%-*s %12s %10s %18s %16s", width, "kernel", "grid", "block", "thread instr.", "warp instr.");
  if (timed) text_add(&out, " %14s", "cycles");
  text_add(&out, " %9s  %s\n", "seconds", "check");
  for (uint32_t i = 0; i < count; i++) {
    if (all || is_in(longest, chosen, i)) add_row(&out, &result->launches.items[i], width, false, timed, check);
  }
  LaunchRecord total = result_total(result);
  if (count > 1) add_row(&out, &total, width, true, timed, check);
  if (count > MOST_ROWS && !all) text_add(&out, "The longest %d of %u launches; -v shows all.\n", MOST_ROWS, count);
  screen_print_outcomes(out.at);
  text_free(&out);
}

// ---- Summaries of machines with time -----------------------------------------------------------------

// The launches of one kernel together. Returns their number; 0: an earlier launch was of the same kernel.
static uint32_t kernel_sum(const RunResult *result, uint32_t first, LaunchRecord *sum) {
  const char *kernel = result->launches.items[first].kernel;
  for (uint32_t i = 0; i < first; i++) {
    if (strcmp(result->launches.items[i].kernel, kernel) == 0) return 0;
  }
  uint32_t launches = 0;
  *sum = (LaunchRecord){.kernel = kernel};
  for (uint32_t i = first; i < result->launches.count; i++) {
    if (strcmp(result->launches.items[i].kernel, kernel) != 0) continue;
    add_launch(sum, &result->launches.items[i]);
    launches++;
  }
  return launches;
}

static void print_text(Text *text) {
  if (text->at != NULL) screen_print(text->at);
  text_free(text);
}

// One, of all launches; before it, if it is wanted, one for each of several kernels.
static void print_summaries(const Run *run, const RunPower *power) {
  const RunResult *result = &run->result;
  const Spec *spec = &run->options->spec;
  Text each = {0}, out = {0};
  uint32_t kernels = 0;
  for (uint32_t i = 0; i < result->launches.count; i++) {
    LaunchRecord sum;
    uint32_t launches = kernel_sum(result, i, &sum);
    if (launches == 0) continue;
    kernels++;
    text_add(&each, "\n%s on %s", SHORT_NAME(sum.kernel), spec->machine);
    text_add(&each, launches > 1 ? ", %u launches\n" : "\n", launches);
    summary_format(&sum, spec, &power->model, &each);
  }
  if (kernels == 1 || run->options->verbose) text_add(&out, "%s", each.at == NULL ? "" : each.at);
  if (kernels > 1) {
    LaunchRecord total = result_total(result);
    text_add(&out, "\n%u kernels on %s, %u launches\n", kernels, spec->machine, result->launches.count);
    summary_format(&total, spec, &power->model, &out);
  }
  text_free(&each);
  print_text(&out);
}

static void say_no_upsets(const Run *run) {
  if (run->options->upsets == NULL || result_total(&run->result).stats.value[STAT_UPSETS] > 0) return;
  message_note(run->options->files.quiet, "--upsets %s: no bit was flipped, since the run was over before the first", run->options->upsets);
}

void result_say_idle(const RunOptions *options, const char *whose, const Stats *total) {
  Attachments attachments;
  AttachmentWishes wishes = {.protections = options->wishes.protections};
  Diags diags = {0};
  Text idle = {0};
  if (wishes.protections == NULL || !attachments_open(&attachments, &wishes, &diags)) return;
  protections_idle(&attachments.chain, total, &idle);
  attachments_close(&attachments, &diags);
  if (idle.length > 0) message_note(false, "warning: %sthe protection never acted: %s", whose, idle.at);
  text_free(&idle);
}

// What protections have to say of kernels, once for each.
static void print_notes(const Run *run) {
  const RunResult *result = &run->result;
  for (uint32_t i = 0; i < result->launches.count; i++) {
    const LaunchRecord *launch = &result->launches.items[i], *before = result->launches.items;
    while (before < launch && (before->note[0] == '\0' || strcmp(before->kernel, launch->kernel) != 0)) before++;
    if (launch->note[0] == '\0' || before < launch) continue;
    message_note(run->options->files.quiet, "kernel %s: %s", SHORT_NAME(launch->kernel), launch->note);
  }
  LaunchRecord total = result_total(result);
  if (result->launches.count > 0) result_say_idle(run->options, "", &total.stats);
}

static void print_gpgpusim(const Run *run) {
  Text out = {0};
  LaunchRecord so_far = {0};
  for (uint32_t i = 0; i < run->result.launches.count; i++) {
    const LaunchRecord *launch = &run->result.launches.items[i];
    add_launch(&so_far, launch);
    gpgpusim_launch(launch->kernel, i + 1, &launch->stats, &so_far.stats, &out);
  }
  print_text(&out);
}

// ---- JSON ------------------------------------------------------------------------------------------

static json_t *dimensions_json(const uint32_t dimensions[3]) {
  return json_pack("[I, I, I]", (json_int_t)dimensions[0], (json_int_t)dimensions[1], (json_int_t)dimensions[2]);
}

static json_t *trap_place_json(const Trap *trap) {
  return json_pack("{s:o, s:o, s:I, s:I, s:s}", "block", dimensions_json(trap->block), "thread", dimensions_json(trap->thread), "line",
                   (json_int_t)trap->line, "address", (json_int_t)trap->address, "note", trap->note);
}

void stats_json(const Stats *stats, bool timed, json_t *object) {
  for (int k = 0; k < STAT_COUNT; k++) {
    bool is_known = timed || k != STAT_CYCLES;
    json_object_set_new(object, stat_info[k].name, is_known ? json_integer((json_int_t)stats->value[k]) : json_null());
  }
}

json_t *ratios_json(const Stats *stats, const Spec *spec) {
  json_t *object = json_object();
  double value;
  for (int i = 0; i < RATIO_COUNT; i++) {
    if (ratio_value((RatioId)i, stats, &value)) json_object_set_new(object, ratio_info[i].name, json_real(value));
  }
  json_object_set_new(object, "simulated_milliseconds", json_real(simulated_milliseconds(stats, spec)));
  return object;
}

json_t *symbol_json(const char *symbol) {
  Text name = {0};
  text_add_symbol(&name, symbol, SYMBOL_WHOLE);
  json_t *json = json_string(name.at);
  text_free(&name);
  return json;
}

// null: the machine does not tell.
static json_t *occupancy_json(const Spec *spec, const LaunchRecord *launch) {
  Resident resident = resident_of(launch);
  Occupancy occupancy = occupancy_of(spec, &resident);
  if (!occupancy.is_known) return json_null();
  return json_pack("{s:f, s:f, s:f, s:b}", "sms", occupancy.sms, "warps", occupancy.warps, "registers", occupancy.registers, "low",
                   (int)occupancy_is_low(&occupancy));
}

static json_t *launch_json(const Run *run, const RunPower *power, const LaunchRecord *launch) {
  json_t *object = json_object();
  json_object_set_new(object, "kernel", json_string(launch->kernel));
  if (launch->grid[0] != 0) {
    json_object_set_new(object, "name", symbol_json(launch->kernel));
    json_object_set_new(object, "grid", dimensions_json(launch->grid));
    json_object_set_new(object, "block", dimensions_json(launch->block));
  }
  stats_json(&launch->stats, has_time(run), object);
  json_object_set_new(object, "host_seconds", json_real(launch->host_seconds));
  if (has_time(run)) json_object_set_new(object, "ratios", ratios_json(&launch->stats, &run->options->spec));
  if (has_time(run)) json_object_set_new(object, "occupancy", occupancy_json(&run->options->spec, launch));
  if (has_time(run)) energy_json(power, &launch->stats, launch->grid[0] == 0, object);
  json_object_set_new(object, "check", json_string(check_text[run->result.check]));
  if (launch->note[0] != '\0') json_object_set_new(object, "note", json_string(launch->note));
  json_object_set_new(object, "trap", json_string(trap_info[launch->trap.kind].name));
  if (launch->trap.kind != TRAP_NONE && launch->grid[0] != 0) json_object_set_new(object, "trap_place", trap_place_json(&launch->trap));
  return object;
}

static bool print_json(const Run *run, const RunPower *power, Diags *diags) {
  const RunResult *result = &run->result;
  json_t *launches = json_array();
  for (uint32_t i = 0; i < result->launches.count; i++)
    json_array_append_new(launches, launch_json(run, power, &result->launches.items[i]));
  LaunchRecord total = result_total(result);
  json_t *all = launch_json(run, power, &total);
  for (uint32_t i = 0; i < result->ace.count; i++)
    json_object_set_new(all, result->ace.items[i].name, json_real(result->ace.items[i].value));
  json_t *root = json_pack("{s:s, s:o, s:o}", "machine", run->options->spec.machine, "launches", launches, "total", all);
  if (run->options->check != 0) json_object_set_new(root, "memory_check", memory_report_json(run));
  bool good = write_json_file(&run->options->files, run->options->json_file, root, diags);
  json_decref(root);
  return good;
}

// ---- CSV -------------------------------------------------------------------------------------------------

static void add_csv_row(const Run *run, const RunPower *power, const LaunchRecord *launch, Text *out) {
  char grid[40] = "", block[40] = "";
  if (launch->grid[0] != 0) {
    dimensions_text(launch->grid, grid, sizeof grid);
    dimensions_text(launch->block, block, sizeof block);
  }
  text_add_csv(out, launch->kernel); // may hold commas and quotes
  text_add(out, ",");
  text_add_csv_name(out, run->options->spec.machine);
  text_add(out, ",%s,%s,%s,%s,%.9g", grid, block, check_text[run->result.check], trap_info[launch->trap.kind].name, launch->host_seconds);
  for (int k = 0; k < STAT_COUNT; k++) {
    if (k == STAT_CYCLES && !has_time(run)) text_add(out, ",");
    else text_add(out, ",%" PRIu64, launch->stats.value[k]);
  }
  Energy energy = energy_of(&power->model, &launch->stats);
  for (EnergyFigure i = 0; i < ENERGY_FIGURES; i++) {
    if (power->model.is_there) text_add(out, ",%.9g", energy_figure(&energy, i));
    else text_add(out, ",");
  }
  Text name = {0};
  if (launch->grid[0] != 0) text_add_symbol(&name, launch->kernel, SYMBOL_WHOLE);
  text_add(out, ",");
  if (name.length > 0) text_add_csv(out, name.at);
  text_free(&name);
  text_add(out, "\n");
}

static bool print_csv(const Run *run, const RunPower *power, Diags *diags) {
  Text out = {0};
  text_add(&out, "kernel,machine,grid,block,check,trap,host_seconds");
  for (int k = 0; k < STAT_COUNT; k++) text_add(&out, ",%s", stat_info[k].name);
  for (EnergyFigure i = 0; i < ENERGY_FIGURES; i++) text_add(&out, ",%s", energy_figure_name[i]);
  text_add(&out, ",name\n");
  for (uint32_t i = 0; i < run->result.launches.count; i++) add_csv_row(run, power, &run->result.launches.items[i], &out);
  LaunchRecord total = result_total(&run->result);
  add_csv_row(run, power, &total, &out);
  bool good = out_text(&run->options->files, run->options->csv_file, &out, diags);
  text_free(&out);
  return good;
}

static void print_for_people(const Run *run, const RunPower *power) {
  const RunOptions *options = run->options;
  print_notes(run);
  say_no_upsets(run);
  bool for_scripts = (options->json && options->json_file == NULL) || (options->csv && options->csv_file == NULL);
  if (for_scripts || run->result.launches.count == 0) return;
  if (options->stats == STATS_GPGPUSIM) {
    print_gpgpusim(run);
    return;
  }
  print_table(&run->result, has_time(run), options->verbose);
  if (has_time(run) && options->stats == STATS_SUMMARY) print_summaries(run, power);
  if (options->check != 0) memory_report_print(run);
}

bool result_print(const Run *run, Diags *diags) {
  RunPower power = run_power(&run->options->spec, run->options->wishes.protections, run->arena);
  print_for_people(run, &power);
  return (!run->options->json || print_json(run, &power, diags)) && (!run->options->csv || print_csv(run, &power, diags));
}
