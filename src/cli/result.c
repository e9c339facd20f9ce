// What a run did: a table for people, JSON for scripts.
#include "cli/run.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_ROWS = 24, LAST_ROWS = 4, LEAST_NAME_WIDTH = 8, MOST_NAME_WIDTH = 32 };

static const char *const check_text[] = {[CHECK_NONE] = "none", [CHECK_PASSED] = "passed", [CHECK_FAILED] = "failed"};

static LaunchRecord total_of(const RunResult *result) {
  LaunchRecord total = {.kernel = "total"};
  for (uint32_t i = 0; i < result->launches.count; i++) {
    const LaunchRecord *launch = &result->launches.items[i];
    for (int k = 0; k < STAT_COUNT; k++) total.stats.value[k] += launch->stats.value[k];
    total.host_seconds += launch->host_seconds;
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

static void print_row(const LaunchRecord *launch, int name_width, bool is_total, const char *check) {
  char grid[40] = "", block[40] = "";
  if (!is_total) {
    dimensions_text(launch->grid, grid, sizeof grid);
    dimensions_text(launch->block, block, sizeof block);
  }
  if (launch->trap.kind != TRAP_NONE) check = trap_info[launch->trap.kind].name;
  printf("%-*.*s %12s %10s %18" PRIu64 " %16" PRIu64 " %14" PRIu64 " %9.3f  %s\n", name_width, name_width, launch->kernel, grid, block,
         launch->stats.value[STAT_THREAD_INSTRUCTIONS], launch->stats.value[STAT_WARP_INSTRUCTIONS], launch->stats.value[STAT_CYCLES],
         launch->host_seconds, check);
}

static void print_table(const RunResult *result) {
  int width = LEAST_NAME_WIDTH;
  uint32_t count = result->launches.count;
  for (uint32_t i = 0; i < count; i++) {
    int length = (int)strlen(result->launches.items[i].kernel);
    if (length > width) width = length < MOST_NAME_WIDTH ? length : MOST_NAME_WIDTH;
  }
  const char *check = check_text[result->check];
  printf("%-*s %12s %10s %18s %16s %14s %9s  %s\n", width, "kernel", "grid", "block", "thread instr.", "warp instr.", "cycles", "seconds",
         "check");
  for (uint32_t i = 0; i < count; i++) {
    bool skipped = count > MOST_ROWS && i >= MOST_ROWS - LAST_ROWS && i < count - LAST_ROWS;
    if (skipped && i == MOST_ROWS - LAST_ROWS) printf("... %u more launches ...\n", count - MOST_ROWS);
    if (!skipped) print_row(&result->launches.items[i], width, false, check);
  }
  if (count == 1) return;
  LaunchRecord total = total_of(result);
  print_row(&total, width, true, check);
}

// ---- JSON ------------------------------------------------------------------------------------------

static json_t *dimensions_json(const uint32_t dimensions[3]) {
  return json_pack("[I, I, I]", (json_int_t)dimensions[0], (json_int_t)dimensions[1], (json_int_t)dimensions[2]);
}

static json_t *trap_place_json(const Trap *trap) {
  return json_pack("{s:o, s:o, s:I, s:I, s:s}", "block", dimensions_json(trap->block), "thread", dimensions_json(trap->thread), "line",
                   (json_int_t)trap->line, "address", (json_int_t)trap->address, "note", trap->note);
}

static json_t *launch_json(const LaunchRecord *launch, const char *check) {
  json_t *object = json_object();
  json_object_set_new(object, "kernel", json_string(launch->kernel));
  if (launch->grid[0] != 0) {
    json_object_set_new(object, "grid", dimensions_json(launch->grid));
    json_object_set_new(object, "block", dimensions_json(launch->block));
  }
  for (int k = 0; k < STAT_COUNT; k++) json_object_set_new(object, stat_info[k].name, json_integer((json_int_t)launch->stats.value[k]));
  json_object_set_new(object, "host_seconds", json_real(launch->host_seconds));
  json_object_set_new(object, "check", json_string(check));
  json_object_set_new(object, "trap", json_string(trap_info[launch->trap.kind].name));
  if (launch->trap.kind != TRAP_NONE && launch->grid[0] != 0) json_object_set_new(object, "trap_place", trap_place_json(&launch->trap));
  return object;
}

static bool print_json(const Run *run, Diags *diags) {
  const RunResult *result = &run->result;
  const char *check = check_text[result->check];
  json_t *launches = json_array();
  for (uint32_t i = 0; i < result->launches.count; i++) json_array_append_new(launches, launch_json(&result->launches.items[i], check));
  LaunchRecord total = total_of(result);
  json_t *root =
      json_pack("{s:s, s:o, s:o}", "machine", run->options->spec.machine, "launches", launches, "total", launch_json(&total, check));
  const char *path = run->options->json_file;
  FILE *file = path == NULL ? stdout : fopen(path, "w");
  if (file == NULL) {
    json_decref(root);
    return diags_add(diags, path, 0, 0, "cannot be written: %s", strerror(errno));
  }
  bool ok = json_dumpf(root, file, JSON_INDENT(2)) == 0 && fputc('\n', file) != EOF;
  if (path != NULL) ok = fclose(file) == 0 && ok;
  json_decref(root);
  return ok || diags_add(diags, path, 0, 0, "cannot be written to its end");
}

bool result_print(const Run *run, Diags *diags) {
  if (run->options->json && !print_json(run, diags)) return false;
  if (!run->options->json || run->options->json_file != NULL) {
    if (run->result.launches.count > 0) print_table(&run->result);
  }
  return true;
}
