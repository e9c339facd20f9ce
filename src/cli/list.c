// redoubt list WHAT: the tables that the program is made of, for people and as markdown for docs/.
#include "cli/list.h"
#include "study/study.h"

#include "cli/cores.h"
#include "cli/gpgpusim.h"
#include "cli/json_file.h"
#include "cli/screen.h"
#include "device/attachments.h"
#include "fault/fault.h"
#include "hook/hook.h"
#include "journal/journal.h"
#include "machine/ratio.h"
#include "power/power.h"
#include "protect/protect.h"
#include "shader/shader.h"

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
  text_add(out, "\n## Ratios\n\nMachines count; only reports divide. `ratios` in the JSON output of a machine with time holds these\n"
                "and `simulated_milliseconds`. A ratio to 0 is left out.\n\n");
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
  text_add(out, "\n%-16s %-11s %-9s %s\n", "outcome", "group", "part", "meaning");
  for (uint32_t i = 0; i < OUTCOME_COUNT; i++) {
    text_add(out, "%-16s %-11s %-9s %s\n", outcome_info[i].name, outcome_info[i].group, outcome_info[i].part, outcome_info[i].meaning);
  }
}

static void list_study(Text *out) {
  for (uint32_t i = 0; i < study_key_count; i++) {
    const StudyKey *key = &study_keys[i];
    text_add(out, "%-10s %-11s %s%s\n", study_section_names[key->section], key->name, key->is_needed ? "(needed) " : "", key->meaning);
  }
}

static void study_keys_page(Text *out) {
  text_add(out, "# Keys of study files\n\nMade from `src/study/study.def` by `redoubt list study --markdown`. [studies.md](studies.md) "
                "says how a study is written.\n"
                "Every key may also stand as `quick.KEY`: what `--quick` takes instead.\n\n| section | key | meaning |\n|---|---|---|\n");
  for (uint32_t i = 0; i < study_key_count; i++) {
    const StudyKey *key = &study_keys[i];
    text_add(out, "| `[%s]` | `%s`%s | ", study_section_names[key->section], key->name, key->is_needed ? ", needed" : "");
    for (const char *at = key->meaning; *at != '\0'; at++) text_add(out, *at == '|' ? "\\%c" : "%c", *at);
    text_add(out, " |\n");
  }
}

static void list_shader(Text *out) {
  for (uint32_t i = 0; i < SHADER_OPS; i++) text_add(out, "%-8s %s\n", shader_op_info[i].name, shader_op_info[i].meaning);
}

typedef struct ListTable {
  const char *name, *other_name;
  void (*list)(Text *out);
  void (*page)(Text *out); // NULL: no page in docs/
} ListTable;

static const ListTable tables[] = {
    {"machines", NULL, list_machines, NULL},
    {"instructions", NULL, list_instructions, instructions_page},
    {"params", "parameters", list_params, params_markdown},
    {"stats", "statistics", list_stats, stats_page},
    {"power", "energies", power_list, power_markdown},
    {"traps", NULL, list_traps, NULL},
    {"faults", NULL, list_faults, NULL},
    {"protections", NULL, protections_list, NULL},
    {"events", NULL, hook_events_list, hook_events_markdown},
    {"study", "study-keys", list_study, study_keys_page},
    {"shader", NULL, list_shader, NULL},
};

// ---- Structures: those of one machine, with what protections add ------------------------------------

static json_t *region_json(const Region *region) {
  json_t *dims = json_array();
  for (uint32_t i = 0; i < region->dim_count; i++)
    json_array_append_new(dims, json_pack("{s:s, s:I}", "name", region->dims[i].name, "count", (json_int_t)region->dims[i].count));
  bool is_simulators = region->origin.kind == ORIGIN_SIMULATOR, stands = region->origin.kind == ORIGIN_STANDS_FOR;
  return json_pack("{s:s, s:s, s:s, s:s, s:s?, s:s?, s:b, s:b, s:o, s:s, s:I, s:I, s:I, s:b}", "name", region->name, "title", region->title,
                   "meaning", region->meaning, "origin", origin_names[region->origin.kind], "stands_for",
                   stands ? region->origin.what : NULL, "why_not", is_simulators ? region->origin.what : NULL, "in_all",
                   region_is_hardware(region), "cells", (region->flags & REGION_OUTPUT) == 0, "dimensions", dims, "unit", region->unit,
                   "units", (json_int_t)region->units, "bits_per_unit", (json_int_t)region->bits, "bits", (json_int_t)region_bits(region),
                   "ecc", region_can_carry_ecc(region));
}

static bool write_regions(const RegionTable *table, const RunOptions *run, Diags *diags) {
  json_t *root = json_array();
  for (uint32_t i = 0; i < table->count; i++) {
    if ((table->items[i].flags & REGION_INJECTABLE) != 0) json_array_append_new(root, region_json(&table->items[i]));
  }
  bool good = write_json_file(&run->files, run->json_file, root, diags);
  json_decref(root);
  return good;
}

static int print_regions(const Spec *spec, const HookChain *chain, const ListOptions *options) {
  bool markdown = options->markdown;
  Diags diags = {0};
  Machine *machine = machine_new(spec, chain, &diags);
  if (machine == NULL) return message_diags(&diags);
  if (options->run.json) {
    bool good = write_regions(machine_regions(machine), &options->run, &diags);
    machine_free(machine);
    return good ? EXIT_OK : message_diags(&diags);
  }
  Text out = {0};
  (markdown ? regions_markdown : regions_list)(machine_regions(machine), &out);
  if (out.at != NULL) screen_print(out.at);
  text_free(&out);
  machine_free(machine);
  return EXIT_OK;
}

static int list_structures(const ListOptions *options) {
  const SpecWishes *wishes = &options->run.machine;
  const char *protections = options->run.wishes.protections;
  Arena *arena = arena_new();
  Diags diags = {0};
  Spec spec;
  int code = EXIT_BAD_INPUT;
  Attachments attachments;
  AttachmentWishes attached = {.protections = protections};
  if (!spec_wishes_load(&spec, arena, wishes, &diags)) {
    message_diags(&diags);
  } else if (!machine_can(&spec, MACHINE_HAS_TIME)) {
    spec_say_model(&spec, false);
    message_usage("list", "machine '%s' has no time, and so no structures; try --machine fermi-gtx480", spec.machine);
  } else if (!attachments_open(&attachments, &attached, &diags)) {
    message_diags(&diags);
  } else {
    code = print_regions(&spec, &attachments.chain, options);
    attachments_close(&attachments, &diags);
  }
  arena_free(arena);
  return code;
}

static int unknown_table(const char *word) {
  const char *names[2 * COUNT_OF(tables) + 2] = {"structures", "workloads"};
  size_t count = 2;
  for (size_t i = 0; i < COUNT_OF(tables); i++) {
    names[count++] = tables[i].name;
    if (tables[i].other_name != NULL) names[count++] = tables[i].other_name;
  }
  const char *near = text_nearest(word, names, count);
  if (near != NULL) return message_usage("list", "cannot list '%s'; did you mean '%s'?", word, near);
  Text known = {0};
  text_add(&known, "workloads, structures");
  for (size_t i = 0; i < COUNT_OF(tables); i++) text_add(&known, ", %s", tables[i].name);
  int code = message_usage("list", "cannot list '%s', but %s", word, known.at);
  text_free(&known);
  return code;
}

static int print_table(const ListTable *table, bool markdown) {
  if (markdown && table->page == NULL) return message_usage("list", "'%s' has no --markdown form", table->name);
  Text out = {0};
  (markdown ? table->page : table->list)(&out);
  if (out.at != NULL) screen_print(out.at);
  text_free(&out);
  return EXIT_OK;
}

static int list_named(const Operands *operands, ListOptions *options) {
  const char *name = operands->items[0];
  RunOptions *run = &options->run;
  if (strcmp(name, "workloads") == 0) return list_workloads(options, operands);
  if (operands->count > 1) return message_usage("list", "one table at a time, not '%s' and '%s'", name, operands->items[1]);
  if (options->traits || run->size_given || run->csv || run->processes > 0)
    return message_usage("list", "--traits, --size, --csv and --jobs are for 'list workloads'");
  bool for_structures = run->machine.machine != NULL || run->machine.settings.count > 0 || run->wishes.protections != NULL;
  if (run->machine.machine == NULL) run->machine.machine = "fermi-gtx480";
  if (strcmp(name, "structures") == 0) return list_structures(options);
  if (run->json) return message_usage("list", "--json is for 'list workloads' and 'list structures'");
  if (for_structures) return message_usage("list", "--machine, --set and --protect are for 'list structures'");
  for (size_t i = 0; i < COUNT_OF(tables); i++) {
    bool other = tables[i].other_name != NULL && strcmp(tables[i].other_name, name) == 0;
    if (other || strcmp(tables[i].name, name) == 0) return print_table(&tables[i], options->markdown);
  }
  return unknown_table(name);
}

// One line each: all that can be listed.
#define TABLE_LINES                                                                       \
  "  machines       simulated GPUs that are built in\n"                                   \
  "  workloads      built-in programs, their parameters at each size, the papers' sets\n" \
  "  structures     hardware cells of a machine that faults can strike, in bits\n"        \
  "  faults         fault models, how a fault is written, and outcomes\n"                 \
  "  protections    schemes that can be attached to a machine, and what they cost\n"      \
  "  events         where schemes meet a machine, and what they may answer\n"             \
  "  instructions   every instruction and what it does\n"                                 \
  "  params         parameters of machines: default, meaning, range\n"                    \
  "  stats          what a run counts\n"                                                  \
  "  power          what a run's energy is made of, and which statistics count it\n"      \
  "  traps          how a launch can end early\n"                                         \
  "  study          what a study file may say\n"                                          \
  "  shader         instructions of fragment programs (.fp)\n"

static int list_tables(bool has_options) {
  if (has_options) return message_usage("list", "list what? Name a table before its options");
  screen_print("'redoubt list WHAT' shows one of these:\n" TABLE_LINES);
  return EXIT_OK;
}

static int run_list(int argc, char **argv) {
  ListOptions options = {0};
  Operands operands;
  Arena *arena = options.arena = arena_new();
  run_options_default(&options.run);
  options.run.machine.machine = NULL;
  bool good = options_parse(&command_list, &options, arena, argc, argv, &operands);
  int code = operands.exit_code;
  if (good) code = operands.count == 0 ? list_tables(argc > 1) : list_named(&operands, &options);
  arena_free(arena);
  return code;
}

static const Option options[] = {
    {"markdown", 0, NULL, "structures, events, instructions, params, stats, power or study as docs/ holds them", .take = option_flag,
     .offset = offsetof(ListOptions, markdown)},
};
static const OptionGroup group = OPTION_GROUP(NULL, options);

static const Option machine_options[] = {
    {"machine", 0, "NAME|FILE", "of this machine (default: fermi-gtx480 for structures, " TRAIT_MACHINE " for traits)", .take = option_text,
     .offset = offsetof(ListOptions, run.machine.machine)},
    {"set", 0, "KEY=VALUE", "with a parameter of the machine changed", .take = option_setting,
     .offset = offsetof(ListOptions, run.machine)},
    {"protect", 0, "SCHEME", "structures with those that a protection adds; several: repeat it", .take = option_words,
     .offset = offsetof(ListOptions, run.wishes.protections)},
};
static const OptionGroup machine_group = OPTION_GROUP("Structures, and traits of workloads", machine_options);

static const Option trait_options[] = {
    {"traits", 0, NULL,
     "run the workloads and show what each is like; docs/workloads.md says what the columns mean. Exit code 1: a promised trait does not "
     "hold",
     .take = option_flag, .offset = offsetof(ListOptions, traits)},
    {"size", 0, "SIZE", "tiny, small, default or large", .take = option_size},
    {"jobs", 'j', "N", "workloads at one time (default and most: the processors that this process may use)", .take = option_jobs,
     .offset = offsetof(ListOptions, run.processes), .least = 1, .most = 256},
    {"json", 0, "FILE", "as JSON, to the terminal or FILE: every statistic, ratio and trait; of structures every row", .take = option_json,
     .offset = offsetof(ListOptions, run.json_file), .may_lack = true},
    {"csv", 0, "FILE", "as CSV", .take = option_csv, .offset = offsetof(ListOptions, run.csv_file), .may_lack = true},
};
static const OptionGroup trait_group = OPTION_GROUP("Workloads", trait_options);

const Command command_list = {
    .name = "list",
    .usage = "WHAT",
    .summary = "what there is: machines, workloads, structures, faults, protections, ...",
    .synopsis = "redoubt list WHAT [options]\n"
                "redoubt list workloads [--traits] [options] [NAME|@SET...]\n",
    .about = TABLE_LINES
    "In the list of structures 'ecc' stands where every access is seen, so that they can be protected; 'modelled' where such a\n"
    "GPU has these cells; 'stands for' where it has others in their place; 'simulator' where it has none, which 'all' leaves out.\n",
    .groups = {&group, &machine_group, &trait_group},
    .operand = "table",
    .least_operands = 0,
    .most_operands = UINT32_MAX,
    .run = run_list,
};
