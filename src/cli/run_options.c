// Options of `redoubt run`.
#include "cli/run.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

enum {
  OPTION_SIZE = 256,
  OPTION_PARAM,
  OPTION_SEED,
  OPTION_KERNEL,
  OPTION_GRID,
  OPTION_BLOCK,
  OPTION_SHARED,
  OPTION_COOPERATIVE,
  OPTION_ARG,
  OPTION_DUMP,
  OPTION_JSON,
  OPTION_CSV,
  OPTION_STATS,
  OPTION_PROTECT,
  OPTION_TRACE,
  OPTION_TRACE_CYCLES,
  OPTION_MACHINE,
  OPTION_SET,
  OPTION_MAX_REGISTERS,
  OPTION_MAX_INSTRUCTIONS,
  OPTION_REPEAT,
  OPTION_FAULT,
  OPTION_EXPLAIN,
  OPTION_TIMEOUT,
  OPTION_OUTPUT,
  OPTION_GMEM_IN,
  OPTION_GMEM_OUT,
  OPTION_CMEM_IN,
  OPTION_CMEM_BYTES,
  OPTION_HELP,
};

static const struct option long_options[] = {
    {"size", required_argument, NULL, OPTION_SIZE},
    {"param", required_argument, NULL, OPTION_PARAM},
    {"seed", required_argument, NULL, OPTION_SEED},
    {"kernel", required_argument, NULL, OPTION_KERNEL},
    {"grid", required_argument, NULL, OPTION_GRID},
    {"block", required_argument, NULL, OPTION_BLOCK},
    {"shared", required_argument, NULL, OPTION_SHARED},
    {"cooperative", no_argument, NULL, OPTION_COOPERATIVE},
    {"arg", required_argument, NULL, OPTION_ARG},
    {"dump", required_argument, NULL, OPTION_DUMP},
    {"json", optional_argument, NULL, OPTION_JSON},
    {"csv", optional_argument, NULL, OPTION_CSV},
    {"stats", required_argument, NULL, OPTION_STATS},
    {"protect", required_argument, NULL, OPTION_PROTECT},
    {"trace", required_argument, NULL, OPTION_TRACE},
    {"trace-cycles", required_argument, NULL, OPTION_TRACE_CYCLES},
    {"machine", required_argument, NULL, OPTION_MACHINE},
    {"set", required_argument, NULL, OPTION_SET},
    {"max-registers", required_argument, NULL, OPTION_MAX_REGISTERS},
    {"max-instructions", required_argument, NULL, OPTION_MAX_INSTRUCTIONS},
    {"repeat", required_argument, NULL, OPTION_REPEAT},
    {"fault", required_argument, NULL, OPTION_FAULT},
    {"explain", no_argument, NULL, OPTION_EXPLAIN},
    {"timeout", required_argument, NULL, OPTION_TIMEOUT},
    {"output", required_argument, NULL, OPTION_OUTPUT},
    {"gmem-in", required_argument, NULL, OPTION_GMEM_IN},
    {"gmem-out", required_argument, NULL, OPTION_GMEM_OUT},
    {"cmem-in", required_argument, NULL, OPTION_CMEM_IN},
    {"cmem-bytes", required_argument, NULL, OPTION_CMEM_BYTES},
    {"help", no_argument, NULL, OPTION_HELP},
    {0},
};

typedef struct Parsing {
  RunOptions *options;
  Arena *arena;
  SpecWishes machine; // --machine, --set and its short forms
} Parsing;

static bool usage(const char *format, ...) __attribute__((format(printf, 1, 2)));
static bool usage(const char *format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  message_usage("run", "%s", text);
  return false;
}

static bool parse_count(const char *option, const char *text, uint64_t least, uint64_t most, uint64_t *value) {
  char *end;
  errno = 0;
  *value = strtoull(text, &end, 0);
  if (text[0] < '0' || text[0] > '9' || *end != '\0') return usage("%s %s: not a whole number", option, text);
  if (errno == 0 && *value >= least && *value <= most) return true;
  return usage("%s %s: must be %llu to %llu", option, text, (unsigned long long)least, (unsigned long long)most);
}

// "16", "4,4,1", "4x4": up to three numbers from 1.
static bool parse_dimensions(const char *option, const char *text, uint32_t dimensions[3]) {
  const char *at = text;
  for (int i = 0; i < 3; i++) dimensions[i] = 1;
  for (int i = 0; i < 3; i++) {
    char *end;
    errno = 0;
    unsigned long long value = strtoull(at, &end, 10);
    bool is_number = at[0] >= '0' && at[0] <= '9';
    if (!is_number || (*end != '\0' && *end != ',' && *end != 'x')) break;
    if (value == 0) return usage("%s %s: every dimension must be at least 1", option, text);
    if (errno != 0 || value > UINT32_MAX) return usage("%s %s: too large", option, text);
    dimensions[i] = (uint32_t)value;
    if (*end == '\0') return true;
    at = end + 1;
  }
  return usage("%s %s: not a size; write 16, 4,4 or 4x4x2", option, text);
}

static bool split_pair(Parsing *parsing, const char *option, const char *text, KeyValue *pair) {
  return key_value_split(pair, parsing->arena, text) || usage("%s %s: write NAME=VALUE", option, text);
}

static bool parse_size(RunOptions *options, const char *text) {
  for (uint32_t i = 0; i < SIZE_COUNT; i++) {
    if (strcmp(workload_size_text[i], text) != 0) continue;
    options->size = (WorkloadSize)i;
    return true;
  }
  return usage("--size %s: must be tiny, small, default or large", text);
}

static bool parse_dump(Parsing *parsing, const char *text) {
  if (strcmp(text, "program") == 0) return parsing->options->dump_program = true;
  DumpWish *wish = VEC_PUSH(&parsing->options->dumps, parsing->arena);
  size_t length = strcspn(text, "=");
  wish->name = arena_copy_text(parsing->arena, text, length);
  if (text[length] == '=') wish->file = text + length + 1;
  return length > 0 && (wish->file == NULL || wish->file[0] != '\0') ? true : usage("--dump %s: write NAME or NAME=FILE", text);
}

static bool parse_stats(RunOptions *options, const char *text) {
  static const char *const styles[] = {[STATS_SUMMARY] = "summary", [STATS_TABLE] = "table", [STATS_GPGPUSIM] = "gpgpusim"};
  for (uint32_t i = 0; i < COUNT_OF(styles); i++) {
    if (strcmp(styles[i], text) != 0) continue;
    options->stats = (StatsStyle)i;
    return true;
  }
  return usage("--stats %s: must be summary, table or gpgpusim", text);
}

// "1000:2000", "1000:": cycles that a trace shows.
static bool parse_trace_cycles(AttachmentWishes *wishes, const char *text) {
  const char *colon = strchr(text, ':');
  char *end;
  errno = 0;
  wishes->trace_from = strtoull(text, &end, 10);
  bool ok = colon != NULL && end == colon && text[0] >= '0' && text[0] <= '9';
  bool open_end = ok && colon[1] == '\0';
  if (ok && !open_end) {
    wishes->trace_to = strtoull(colon + 1, &end, 10);
    ok = colon[1] >= '0' && colon[1] <= '9' && *end == '\0' && wishes->trace_to > wishes->trace_from;
  }
  return (ok && errno == 0) || usage("--trace-cycles %s: write FROM:TO, such as 1000:2000, or FROM: for all the rest", text);
}

static bool take_attachment(Parsing *parsing, int option, const char *text) {
  AttachmentWishes *wishes = &parsing->options->wishes;
  switch (option) {
  case OPTION_PROTECT:
    wishes->protections = wishes->protections == NULL ? text : arena_format(parsing->arena, "%s %s", wishes->protections, text);
    return true;
  case OPTION_TRACE: wishes->trace = text; return true;
  default: return parse_trace_cycles(wishes, text);
  }
}

static bool take_target_option(Parsing *parsing, int option, const char *text) {
  RunOptions *options = parsing->options;
  uint64_t number;
  switch (option) {
  case OPTION_SIZE: options->size_given = true; return parse_size(options, text);
  case OPTION_PARAM: options->size_given = true; return split_pair(parsing, "--param", text, VEC_PUSH(&options->params, parsing->arena));
  case OPTION_KERNEL:
    options->ptx_given = true;
    options->kernel = text;
    return true;
  case OPTION_GRID: options->ptx_given = true; return parse_dimensions("--grid", text, options->grid);
  case OPTION_BLOCK: options->ptx_given = true; return parse_dimensions("--block", text, options->block);
  case OPTION_COOPERATIVE: options->ptx_given = true; return options->cooperative = true;
  case OPTION_ARG:
    options->ptx_given = true;
    *VEC_PUSH(&options->arguments, parsing->arena) = text;
    return true;
  case OPTION_SHARED:
    options->ptx_given = true;
    if (!parse_count("--shared", text, 0, UINT32_MAX, &number)) return false;
    options->shared_bytes = (uint32_t)number;
    return true;
  default: return false;
  }
}

static bool take_image_option(G80Images *images, int option, const char *text) {
  uint64_t number;
  images->given = true;
  switch (option) {
  case OPTION_GMEM_IN: images->gmem_in = text; return true;
  case OPTION_GMEM_OUT: images->gmem_out = text; return true;
  case OPTION_CMEM_IN: images->cmem_in = text; return true;
  default:
    if (!parse_count("--cmem-bytes", text, 0, UINT32_MAX, &number)) return false;
    images->cmem_bytes = (uint32_t)number;
    return true;
  }
}

static bool take_fault_option(Parsing *parsing, int option, const char *text) {
  RunOptions *options = parsing->options;
  switch (option) {
  case OPTION_FAULT: *VEC_PUSH(&options->faults, parsing->arena) = text; return true;
  case OPTION_EXPLAIN: return options->explain = true;
  case OPTION_OUTPUT: *VEC_PUSH(&options->outputs, parsing->arena) = text; return true;
  default: return parse_count("--timeout", text, 1, 1000000, &options->timeout);
  }
}

static bool take_option(Parsing *parsing, int option, const char *text) {
  RunOptions *options = parsing->options;
  uint64_t number;
  switch (option) {
  case OPTION_SEED: return parse_count("--seed", text, 0, UINT64_MAX, &options->seed);
  case OPTION_DUMP: return parse_dump(parsing, text);
  case OPTION_JSON:
    options->json = true;
    options->json_file = text;
    return true;
  case OPTION_CSV:
    options->csv = true;
    options->csv_file = text;
    return true;
  case OPTION_STATS: return parse_stats(options, text);
  case OPTION_PROTECT:
  case OPTION_TRACE:
  case OPTION_TRACE_CYCLES: return take_attachment(parsing, option, text);
  case OPTION_MACHINE: parsing->machine.machine = text; return true;
  case OPTION_SET: return split_pair(parsing, "--set", text, VEC_PUSH(&parsing->machine.settings, parsing->arena));
  case OPTION_MAX_REGISTERS: *VEC_PUSH(&parsing->machine.settings, parsing->arena) = (KeyValue){"limit.registers", text}; return true;
  case OPTION_MAX_INSTRUCTIONS: *VEC_PUSH(&parsing->machine.settings, parsing->arena) = (KeyValue){"limit.instructions", text}; return true;
  case OPTION_REPEAT:
    if (!parse_count("--repeat", text, 1, 1000000, &number)) return false;
    options->repeat = (uint32_t)number;
    return true;
  case OPTION_FAULT:
  case OPTION_EXPLAIN:
  case OPTION_OUTPUT:
  case OPTION_TIMEOUT: return take_fault_option(parsing, option, text);
  case OPTION_GMEM_IN:
  case OPTION_GMEM_OUT:
  case OPTION_CMEM_IN:
  case OPTION_CMEM_BYTES: return take_image_option(&options->images, option, text);
  case OPTION_HELP: return options->help = true;
  default: return take_target_option(parsing, option, text);
  }
}

static bool unknown_option(const char *text) {
  const char *names[COUNT_OF(long_options)];
  size_t count = 0;
  for (size_t i = 0; long_options[i].name != NULL; i++) names[count++] = long_options[i].name;
  char word[64];
  snprintf(word, sizeof word, "%.*s", (int)strcspn(text, "="), text);
  const char *near = strncmp(word, "--", 2) == 0 ? text_nearest(word + 2, names, count) : NULL;
  if (near != NULL) return usage("unknown option '%s'; did you mean '--%s'?", word, near);
  return usage("unknown option '%s'", word);
}

static bool check_faults(const RunOptions *options) {
  if (options->faults.count == 0) return !options->explain || usage("--explain needs --fault: what should be explained?");
  if (options->spec.machine_model != MODEL_SIMT) return usage("--fault needs a machine with time, such as --machine fermi-gtx480");
  if (options->repeat > 1) return usage("--fault and --repeat do not go together: every run with a fault is the same");
  if (options->dumps.count > 0 || options->dump_program || options->csv)
    return usage("--fault prints an outcome: --dump and --csv do not go with it");
  if (options->wishes.trace != NULL) return usage("--fault runs the program several times: --trace does not go with it");
  return true;
}

// Options that need others, or a machine with time.
static bool check_together(const RunOptions *options) {
  const AttachmentWishes *wishes = &options->wishes;
  bool has_time = options->spec.machine_model == MODEL_SIMT;
  if ((wishes->protections != NULL || wishes->trace != NULL) && !has_time)
    return usage("--protect and --trace need a machine with time, such as --machine fermi-gtx480");
  if (options->stats == STATS_GPGPUSIM && !has_time)
    return usage("--stats gpgpusim needs a machine with time, such as --machine fermi-gtx480");
  if (wishes->trace == NULL && (wishes->trace_from != 0 || wishes->trace_to != 0)) return usage("--trace-cycles needs --trace FILE");
  if (wishes->trace != NULL && options->repeat > 1) return usage("--trace and --repeat do not go together: there is one file");
  if (options->json && options->csv && options->json_file == NULL && options->csv_file == NULL)
    return usage("--json and --csv cannot both go to the terminal: give one a file");
  return check_faults(options);
}

static bool load_spec(Parsing *parsing) {
  Diags diags = {0};
  const SpecWishes *wishes = &parsing->machine;
  for (uint32_t i = 0; i < wishes->settings.count; i++) {
    if (strcmp(wishes->settings.items[i].key, "memory.granule") == 0) parsing->options->granule_given = true;
  }
  if (spec_wishes_load(&parsing->options->spec, parsing->arena, wishes, &diags)) return true;
  message_diags(&diags);
  return false;
}

bool run_options_parse(RunOptions *options, Arena *arena, int argc, char **argv) {
  *options = (RunOptions){.size = SIZE_DEFAULT, .seed = 1, .repeat = 1, .timeout = 10};
  Parsing parsing = {.options = options, .arena = arena, .machine.machine = "functional"};
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--") != 0) continue;
    options->application = argv + i + 1;
    argc = i;
  }
  opterr = 0;
  optind = 0;
  int option;
  while ((option = getopt_long(argc, argv, ":h", long_options, NULL)) != -1) {
    if (option == ':') return usage("option '%s' needs a value", argv[optind - 1]);
    if (option == '?') return unknown_option(argv[optind - 1]);
    if (!take_option(&parsing, option == 'h' ? OPTION_HELP : option, optarg)) return false;
    if (options->help) return true;
  }
  if (optind < argc) options->target = argv[optind];
  if (optind + 1 < argc) return usage("one target at a time, not '%s' and '%s'", argv[optind], argv[optind + 1]);
  return load_spec(&parsing) && check_together(options);
}
