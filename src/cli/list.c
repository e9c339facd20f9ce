// redoubt list WHAT: the tables that the program is made of, for people and as markdown for docs/.
#include "cli/cli.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>

static const char *const unit_text[UNIT_COUNT] = {
    [UNIT_ALU] = "alu",   [UNIT_FP32] = "fp32", [UNIT_FP64] = "fp64", [UNIT_SFU] = "sfu",       [UNIT_IMUL] = "imul",
    [UNIT_IDIV] = "idiv", [UNIT_LDST] = "ldst", [UNIT_TEX] = "tex",   [UNIT_TENSOR] = "tensor", [UNIT_BRANCH] = "branch",
};

// ---- One function per table: as text, and as a page of docs/ -------------------------------------

static void list_machines(Text *out) {
  for (uint32_t i = 0; i < builtin_machine_count; i++) {
    const char *text = builtin_machines[i].text;
    if (strncmp(text, "# ", 2) == 0) text += 2;
    const char *colon = strstr(text, ": ");
    if (colon != NULL) text = colon + 2;
    text_add(out, "%-16s %.*s\n", builtin_machines[i].name, (int)strcspn(text, ".\n"), text);
  }
}

static void list_workloads(Text *out) {
  for (uint32_t i = 0; i < workload_count; i++) {
    const Workload *workload = workloads[i];
    text_add(out, "%-14s %s\n", workload->name, workload->summary);
    for (uint32_t p = 0; p < workload_param_count(workload); p++) {
      const WorkloadParam *param = &workload->params[p];
      text_add(out, "    %-10s %s:", param->name, param->help);
      for (int size = 0; size < SIZE_COUNT; size++) {
        text_add(out, "%s %" PRIu64 " %s", size == 0 ? "" : ",", param->value[size], workload_size_text[size]);
      }
      text_add(out, "\n");
    }
  }
}

static void list_instructions(Text *out) {
  for (uint32_t i = 0; i < OP_COUNT; i++) {
    const OpInfo *op = &op_info[i];
    text_add(out, "%-32s %-8s %s\n", op->text, unit_text[op->unit], op->meaning);
  }
}

static void instructions_page(Text *out) {
  instructions_markdown(out);
  text_add(out, "\n## Special registers\n\n| register | meaning |\n|---|---|\n");
  for (uint32_t i = 0; i < SREG_COUNT; i++) text_add(out, "| `%s` | %s |\n", sreg_info[i].text, sreg_info[i].meaning);
}

static void list_params(Text *out) {
  for (uint32_t i = 0; i < param_count; i++) {
    const ParamInfo *info = &param_info[i];
    if (info->choices != NULL) {
      text_add(out, "%-20s %-14s %s\n", info->key, info->choices, info->help);
    } else {
      text_add(out, "%-20s %-14" PRIu64 " %s; %" PRIu64 " to %" PRIu64 " %s\n", info->key, info->initial, info->help, info->least,
               info->most, info->unit);
    }
  }
}

static void list_stats(Text *out) {
  for (uint32_t i = 0; i < STAT_COUNT; i++) text_add(out, "%-22s %-14s %s\n", stat_info[i].name, stat_info[i].unit, stat_info[i].meaning);
}

static void stats_page(Text *out) {
  text_add(out,
           "# Statistics\n\nMade from `src/machine/stat.def` by `redoubt list stats --markdown`. Raw integers, per launch and in total;\n"
           "`redoubt run --json` gives all of them.\n\n| statistic | unit | meaning |\n|---|---|---|\n");
  for (uint32_t i = 0; i < STAT_COUNT; i++)
    text_add(out, "| `%s` | %s | %s |\n", stat_info[i].name, stat_info[i].unit, stat_info[i].meaning);
  text_add(out, "\n## Traps\n\nHow a launch can end early, as `trap` in the JSON output says it.\n\n| trap | meaning |\n|---|---|\n");
  for (uint32_t i = 0; i < TRAP_COUNT; i++) text_add(out, "| `%s` | %s |\n", trap_info[i].name, trap_info[i].text);
}

static void list_traps(Text *out) {
  for (uint32_t i = 0; i < TRAP_COUNT; i++) text_add(out, "%-22s %s\n", trap_info[i].name, trap_info[i].text);
}

typedef struct ListTable {
  const char *name, *other_name;
  void (*list)(Text *out);
  void (*page)(Text *out); // NULL: no page in docs/
} ListTable;

static const ListTable tables[] = {
    {"machines", NULL, list_machines, NULL},
    {"workloads", NULL, list_workloads, NULL},
    {"instructions", NULL, list_instructions, instructions_page},
    {"params", "parameters", list_params, params_markdown},
    {"stats", "statistics", list_stats, stats_page},
    {"traps", NULL, list_traps, NULL},
};

static int unknown_table(const char *word) {
  const char *names[2 * COUNT_OF(tables)];
  size_t count = 0;
  for (size_t i = 0; i < COUNT_OF(tables); i++) {
    names[count++] = tables[i].name;
    if (tables[i].other_name != NULL) names[count++] = tables[i].other_name;
  }
  const char *near = text_nearest(word, names, count);
  if (near != NULL) return message_usage("list", "cannot list '%s'; did you mean '%s'?", word, near);
  return message_usage("list", "cannot list '%s'", word);
}

static int print_table(const ListTable *table, bool markdown) {
  if (markdown && table->page == NULL) return message_usage("list", "'%s' has no --markdown form", table->name);
  Text out = {0};
  (markdown ? table->page : table->list)(&out);
  if (out.at != NULL) fputs(out.at, stdout);
  text_free(&out);
  return EXIT_OK;
}

int command_list(int argc, char **argv) {
  static const struct option options[] = {{"help", no_argument, NULL, 'h'}, {"markdown", no_argument, NULL, 'm'}, {0}};
  bool markdown = false;
  opterr = 0;
  optind = 0;
  int option;
  while ((option = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
    if (option == 'h') {
      help_list();
      return EXIT_OK;
    }
    if (option != 'm') return message_usage("list", "unknown option '%s'", argv[optind - 1]);
    markdown = true;
  }
  if (optind + 1 != argc) return message_usage("list", "%s", optind == argc ? "list what?" : "one table at a time");
  for (size_t i = 0; i < COUNT_OF(tables); i++) {
    bool other = tables[i].other_name != NULL && strcmp(tables[i].other_name, argv[optind]) == 0;
    if (other || strcmp(tables[i].name, argv[optind]) == 0) return print_table(&tables[i], markdown);
  }
  return unknown_table(argv[optind]);
}
