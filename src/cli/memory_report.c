// What --check found: a table for people, JSON for scripts, and what it means for the exit code.
#include "cli/run.h"
#include "cli/screen.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>

enum { MOST_SHOWN = 50, LEAST_KERNEL_WIDTH = 8, MOST_KERNEL_WIDTH = 32 };

static bool is_same(const MemoryFinding *a, const MemoryFinding *b) {
  return a->kind == b->kind && a->space == b->space && a->line == b->line && a->pc == b->pc && a->other_pc == b->other_pc &&
         strcmp(a->kernel, b->kernel) == 0;
}

static const char *copy_text(Run *run, const char *text) {
  return arena_copy_text(run->arena, text == NULL ? "" : text, text == NULL ? 0 : strlen(text));
}

// With --repeat every run finds the same.
void memory_report_take(Run *run, const MemoryFinding *finding) {
  for (uint32_t i = 0; i < run->result.findings.count && run->options->repeat > 1; i++) {
    if (is_same(&run->result.findings.items[i], finding)) return;
  }
  MemoryFinding *copy = VEC_PUSH(&run->result.findings, run->arena);
  *copy = *finding;
  copy->kernel = copy_text(run, finding->kernel);
  copy->file = copy_text(run, finding->file);
}

int memory_report_exit(const Run *run, int code) {
  bool is_wrong = run->options->check_is_strict && run->result.findings.count > 0;
  return code == EXIT_OK && is_wrong ? EXIT_CHECK_FAILED : code;
}

static void add_finding(Text *out, const MemoryFinding *finding, int width) {
  Text place = {0};
  char line[16] = "-", threads[24] = "-";
  finding_place(finding, &place);
  if (finding->line != 0) snprintf(line, sizeof line, "%u", finding->line);
  if (finding->threads != 0) snprintf(threads, sizeof threads, "%" PRIu64, finding->threads);
  text_add(out, "%-18s  %-6s  %-*.*s %6s %12" PRIu64 " %10s  %s; block (%u,%u,%u), thread (%u,%u,%u)\n", finding_name[finding->kind],
           space_text[finding->space], width, width, SHORT_NAME(finding->kernel), line, finding->accesses, threads, place.at,
           finding->block[0], finding->block[1], finding->block[2], finding->thread[0], finding->thread[1], finding->thread[2]);
  text_free(&place);
}

static const char *title_of(const Run *run) {
  static const char *const titles[] = {"", "memory check", "race check", "memory and race check"}; // by CHECK_MEMORY and CHECK_RACES
  return titles[run->options->check & (CHECK_MEMORY | CHECK_RACES)];
}

void memory_report_print(const Run *run) {
  uint32_t count = run->result.findings.count;
  const MemoryFinding *findings = run->result.findings.items;
  if (count == 0) {
    Text nothing = {0};
    text_add(&nothing, "\n%s: nothing found\n", title_of(run));
    screen_print(nothing.at);
    text_free(&nothing);
    return;
  }
  int width = LEAST_KERNEL_WIDTH;
  for (uint32_t i = 0; i < count; i++) {
    int length = (int)strlen(SHORT_NAME(findings[i].kernel));
    if (length > width) width = length < MOST_KERNEL_WIDTH ? length : MOST_KERNEL_WIDTH;
  }
  Text out = {0};
  text_add(&out, "\n%s: %u place%s\n", title_of(run), count, count == 1 ? "" : "s");
  text_add(&out, "%-18s  %-6s  %-*s %6s %12s %10s  %s\n", "what", "space", width, "kernel", "line", "accesses", "threads", "the first");
  for (uint32_t i = 0; i < count && i < MOST_SHOWN; i++) add_finding(&out, &findings[i], width);
  if (count > MOST_SHOWN) text_add(&out, "... %u more places: --json=FILE has them ...\n", count - MOST_SHOWN);
  screen_print(out.at);
  text_free(&out);
}

static json_t *triple(const uint32_t v[3]) { return json_pack("[I, I, I]", (json_int_t)v[0], (json_int_t)v[1], (json_int_t)v[2]); }

static json_t *finding_json(const MemoryFinding *finding) {
  json_t *object =
      json_pack("{s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:I}", "what", finding_name[finding->kind], "space", space_text[finding->space],
                "kernel", finding->kernel, "file", finding->file, "line", (json_int_t)finding->line, "pc", (json_int_t)finding->pc,
                "launch", (json_int_t)finding->launch, "accesses", (json_int_t)finding->accesses, "bytes", (json_int_t)finding->bytes);
  json_object_set_new(object, "name", symbol_json(finding->kernel));
  json_object_set_new(object, "threads", finding->threads == 0 ? json_null() : json_integer((json_int_t)finding->threads));
  json_object_set_new(object, "address", json_integer((json_int_t)finding->address));
  json_object_set_new(object, "block", triple(finding->block));
  json_object_set_new(object, "thread", triple(finding->thread));
  if (finding->kind == FINDING_RACE)
    json_object_set_new(object, "with",
                        json_pack("{s:s, s:I, s:I, s:o, s:I}", "how", finding->other_wrote ? "write" : "read", "line",
                                  (json_int_t)finding->other_line, "pc", (json_int_t)finding->other_pc, "block",
                                  triple(finding->other_block), "warp", (json_int_t)finding->other_warp));
  if (finding->near_bytes == 0) return object;
  json_object_set_new(object, "allocation",
                      json_pack("{s:I, s:I}", "address", (json_int_t)finding->near_start, "bytes", (json_int_t)finding->near_bytes));
  return object;
}

json_t *memory_report_json(const Run *run) {
  json_t *list = json_array();
  for (uint32_t i = 0; i < run->result.findings.count; i++) json_array_append_new(list, finding_json(&run->result.findings.items[i]));
  return list;
}
