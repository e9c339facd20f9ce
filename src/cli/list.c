// redoubt list WHAT: the tables that the program is made of, for people and as markdown for docs/.
#include "cli/cli.h"

#include "journal/journal.h"
#include "cli/ratio.h"
#include "device/attachments.h"
#include "fault/fault.h"
#include "protect/protect.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>

static const char *const unit_text[UNIT_COUNT] = {
    [UNIT_ALU] = "alu",   [UNIT_FP32] = "fp32", [UNIT_FP64] = "fp64", [UNIT_SFU] = "sfu",       [UNIT_IMUL] = "imul",
    [UNIT_IDIV] = "idiv", [UNIT_LDST] = "ldst", [UNIT_TEX] = "tex",   [UNIT_TENSOR] = "tensor", [UNIT_BRANCH] = "branch",
};

// ---- One function per table: as text, and as a page of docs/ -------------------------------------

// Characters of the first sentence on the first line, without its full stop.
static size_t first_sentence(const char *text) {
  size_t length = strcspn(text, "\n");
  for (size_t i = 0; i < length; i++) {
    if (text[i] == '.' && (i + 1 == length || text[i + 1] == ' ')) return i;
  }
  return length;
}

static void list_machines(Text *out) {
  for (uint32_t i = 0; i < builtin_machine_count; i++) {
    const char *text = builtin_machines[i].text;
    if (strncmp(text, "# ", 2) == 0) text += 2;
    const char *colon = strstr(text, ": ");
    if (colon != NULL) text = colon + 2;
    text_add(out, "%-16s %.*s\n", builtin_machines[i].name, (int)first_sentence(text), text);
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
           "`redoubt run --json` and `--csv` give all of them.\n\n| statistic | unit | meaning |\n|---|---|---|\n");
  for (uint32_t i = 0; i < STAT_COUNT; i++)
    text_add(out, "| `%s` | %s | %s |\n", stat_info[i].name, stat_info[i].unit, stat_info[i].meaning);
  text_add(out, "\n## Traps\n\nHow a launch can end early, as `trap` in the JSON output says it.\n\n| trap | meaning |\n|---|---|\n");
  for (uint32_t i = 0; i < TRAP_COUNT; i++) text_add(out, "| `%s` | %s |\n", trap_info[i].name, trap_info[i].text);
  text_add(
      out,
      "\n## Ratios\n\nMachines count; only reports divide. `ratios` in the JSON output of a machine with time holds these, `occupancy`\n"
      "(`resident_warps_mean` / warps an SM can hold) and `simulated_milliseconds`. A ratio to 0 is left out.\n\n");
  ratios_markdown(out);
  text_add(out, "\n## GPGPU-Sim's names\n\n`redoubt run --stats gpgpusim` prints `name = value` lines under the names that GPGPU-Sim uses, "
                "for scripts made\n"
                "for its output. What is counted is Redoubt's: instructions are those of lowered code on physical registers, where\n"
                "GPGPU-Sim counts PTX instructions.\n\n");
  gpgpusim_markdown(out);
}

static void list_traps(Text *out) {
  for (uint32_t i = 0; i < TRAP_COUNT; i++) text_add(out, "%-22s %s\n", trap_info[i].name, trap_info[i].text);
}

static void list_faults(Text *out) {
  text_add(out, "%-16s %-10s %s\n", "model", "lasts", "what");
  for (uint32_t i = 0; i < FAULT_MODELS; i++) {
    const FaultModelInfo *model = &fault_models[i];
    char name[32];
    snprintf(name, sizeof name, model->arguments[0] == '\0' ? "%s" : "%s(%s)", model->name, model->arguments);
    text_add(out, "%-16s %-10s %s\n", name, model->permanent ? "FROM-TO" : "once", model->summary);
  }
  text_add(out, "\nMODEL:SITE@CYCLE, e.g. flip:rf[sm=3,warp=5,reg=12,lane=7,bit=4]@12345; those that last: @FROM-TO or @FROM-\n");
  text_add(out, "\n%-16s %-10s %s\n", "outcome", "group", "meaning");
  for (uint32_t i = 0; i < OUTCOME_COUNT; i++) {
    text_add(out, "%-16s %-10s %s\n", outcome_info[i].name, outcome_info[i].group, outcome_info[i].meaning);
  }
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
    {"faults", NULL, list_faults, NULL},
    {"protections", NULL, protections_list, NULL},
};

// ---- Structures: those of one machine, with what protections add ------------------------------------

static int print_regions(const Spec *spec, const HookChain *chain, bool markdown) {
  Diags diags = {0};
  Machine *machine = machine_new(spec, chain, &diags);
  if (machine == NULL) return message_diags(&diags);
  Text out = {0};
  (markdown ? regions_markdown : regions_list)(machine_regions(machine), &out);
  if (out.at != NULL) fputs(out.at, stdout);
  text_free(&out);
  machine_free(machine);
  return EXIT_OK;
}

static int list_structures(const SpecWishes *wishes, const char *protections, bool markdown) {
  Arena *arena = arena_new();
  Diags diags = {0};
  Spec spec;
  int code = EXIT_BAD_INPUT;
  Attachments attachments;
  AttachmentWishes attached = {.protections = protections};
  if (!spec_wishes_load(&spec, arena, wishes, &diags)) {
    message_diags(&diags);
  } else if (spec.machine_model != MODEL_SIMT) {
    message_usage("list", "'%s' is no machine of model simt, whose structures are listed; try --machine fermi-gtx480", spec.machine);
  } else if (!attachments_open(&attachments, &attached, &diags)) {
    message_diags(&diags);
  } else {
    code = print_regions(&spec, &attachments.chain, markdown);
    attachments_close(&attachments, &diags);
  }
  arena_free(arena);
  return code;
}

static int unknown_table(const char *word) {
  const char *names[2 * COUNT_OF(tables) + 1] = {"structures"};
  size_t count = 1;
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

typedef struct ListOptions {
  bool help, markdown;
  bool for_structures; // an option that only structures take was given
  SpecWishes wishes;
  const char *protections;
} ListOptions;

static bool take_list_option(ListOptions *options, Arena *arena, int option, const char *text) {
  options->for_structures = options->for_structures || option == 'M' || option == 's' || option == 'p';
  switch (option) {
  case 'h': options->help = true; return true;
  case 'm': options->markdown = true; return true;
  case 'M': options->wishes.machine = text; return true;
  case 's': return spec_wishes_add(&options->wishes, arena, text);
  case 'p':
    options->protections = options->protections == NULL ? text : arena_format(arena, "%s %s", options->protections, text);
    return true;
  default: return false;
  }
}

static int list_named(const char *name, const ListOptions *options) {
  if (strcmp(name, "structures") == 0) return list_structures(&options->wishes, options->protections, options->markdown);
  if (options->for_structures) return message_usage("list", "--machine, --set and --protect are for 'list structures'");
  for (size_t i = 0; i < COUNT_OF(tables); i++) {
    bool other = tables[i].other_name != NULL && strcmp(tables[i].other_name, name) == 0;
    if (other || strcmp(tables[i].name, name) == 0) return print_table(&tables[i], options->markdown);
  }
  return unknown_table(name);
}

static int list_parsed(int argc, char **argv, Arena *arena) {
  static const struct option known[] = {{"help", no_argument, NULL, 'h'},          {"markdown", no_argument, NULL, 'm'},
                                        {"machine", required_argument, NULL, 'M'}, {"set", required_argument, NULL, 's'},
                                        {"protect", required_argument, NULL, 'p'}, {0}};
  ListOptions options = {.wishes.machine = "fermi-gtx480"};
  opterr = 0;
  optind = 0;
  int option;
  while ((option = getopt_long(argc, argv, ":h", known, NULL)) != -1) {
    if (option == ':') return message_usage("list", "option '%s' needs a value", argv[optind - 1]);
    if (option == '?') return message_usage("list", "unknown option '%s'", argv[optind - 1]);
    if (!take_list_option(&options, arena, option, optarg)) return message_usage("list", "--set %s: write NAME=VALUE", optarg);
  }
  if (options.help) {
    help_list();
    return EXIT_OK;
  }
  if (optind + 1 != argc) return message_usage("list", "%s", optind == argc ? "list what?" : "one table at a time");
  return list_named(argv[optind], &options);
}

int command_list(int argc, char **argv) {
  Arena *arena = arena_new();
  int code = list_parsed(argc, argv, arena);
  arena_free(arena);
  return code;
}
