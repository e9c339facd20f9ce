// Options of `redoubt run`. What describes a target, its machine and its files serves campaigns too: their structs begin with
// RunOptions.
#include "cli/cores.h"
#include "cli/run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

// ---- Values ------------------------------------------------------------------------------------------

static bool of_ptx(const OptionUse *use) { return ((RunOptions *)use->wishes)->ptx_given = true; }

// "16", "4,4,1", "4x4": up to three numbers from 1.
static bool take_dimensions(const OptionUse *use) {
  uint32_t *dimensions = option_field(use);
  const char *at = use->text;
  of_ptx(use);
  for (int i = 0; i < 3; i++) dimensions[i] = 1;
  for (int i = 0; i < 3; i++) {
    char *end;
    errno = 0;
    unsigned long long value = strtoull(at, &end, 10);
    bool is_number = at[0] >= '0' && at[0] <= '9';
    if (!is_number || (*end != '\0' && *end != ',' && *end != 'x')) break;
    if (value == 0) return option_wrong(use, "every dimension must be at least 1");
    if (errno != 0 || value > UINT32_MAX) return option_wrong(use, "too large");
    dimensions[i] = (uint32_t)value;
    if (*end == '\0') return true;
    at = end + 1;
  }
  return option_wrong(use, "not a size; write 16, 4,4 or 4x4x2");
}

bool option_size(const OptionUse *use) {
  RunOptions *options = use->wishes;
  options->size_given = true;
  for (uint32_t i = 0; i < SIZE_COUNT; i++) {
    if (strcmp(workload_size_text[i], use->text) != 0) continue;
    options->size = (WorkloadSize)i;
    return true;
  }
  return option_wrong(use, "must be tiny, small, default or large");
}

static bool take_param(const OptionUse *use) {
  RunOptions *options = use->wishes;
  options->size_given = true;
  return key_value_split(VEC_PUSH(&options->params, use->arena), use->arena, use->text) || option_wrong(use, "write NAME=VALUE");
}

static bool take_kernel(const OptionUse *use) { return of_ptx(use) && option_text(use); }
static bool take_shared(const OptionUse *use) { return of_ptx(use) && option_u32(use); }
static bool take_cooperative(const OptionUse *use) { return of_ptx(use) && option_flag(use); }

static bool take_argument(const OptionUse *use) {
  RunOptions *options = use->wishes;
  *VEC_PUSH(&options->arguments, use->arena) = use->text;
  return of_ptx(use);
}

static bool set_limit(const OptionUse *use, const char *key) {
  RunOptions *options = use->wishes;
  *VEC_PUSH(&options->machine.settings, use->arena) = (KeyValue){key, use->text};
  return true;
}

static bool take_max_registers(const OptionUse *use) { return set_limit(use, "limit.registers"); }
static bool take_max_instructions(const OptionUse *use) { return set_limit(use, "limit.instructions"); }

static bool take_output(const OptionUse *use) {
  RunOptions *options = use->wishes;
  *VEC_PUSH(&options->outputs, use->arena) = use->text;
  return true;
}

static bool take_ignored(const OptionUse *use) {
  RunOptions *options = use->wishes;
  *VEC_PUSH(&options->ignored, use->arena) = use->text;
  return true;
}

static bool take_fault(const OptionUse *use) {
  RunOptions *options = use->wishes;
  *VEC_PUSH(&options->faults, use->arena) = use->text;
  return true;
}

bool option_json(const OptionUse *use) {
  RunOptions *options = use->wishes;
  options->json = true;
  return option_text(use);
}

bool option_csv(const OptionUse *use) {
  RunOptions *options = use->wishes;
  options->csv = true;
  return option_text(use);
}

static bool take_image(const OptionUse *use) {
  RunOptions *options = use->wishes;
  options->images.given = true;
  return option_text(use);
}

static bool take_cmem_bytes(const OptionUse *use) {
  RunOptions *options = use->wishes;
  options->images.given = true;
  return option_u32(use);
}

static bool take_dump(const OptionUse *use) {
  RunOptions *options = use->wishes;
  const char *text = use->text;
  if (strcmp(text, "program") == 0) return options->dump_program = true;
  DumpWish *wish = VEC_PUSH(&options->dumps, use->arena);
  size_t length = strcspn(text, "=");
  wish->name = arena_copy_text(use->arena, text, length);
  if (text[length] == '=') wish->file = text + length + 1;
  return length > 0 && (wish->file == NULL || wish->file[0] != '\0') ? true : option_wrong(use, "write NAME or NAME=FILE");
}

static bool take_stats(const OptionUse *use) {
  static const char *const styles[] = {[STATS_SUMMARY] = "summary", [STATS_TABLE] = "table", [STATS_GPGPUSIM] = "gpgpusim"};
  RunOptions *options = use->wishes;
  for (uint32_t i = 0; i < COUNT_OF(styles); i++) {
    if (strcmp(styles[i], use->text) != 0) continue;
    options->stats = (StatsStyle)i;
    return true;
  }
  return option_wrong(use, "must be summary, table or gpgpusim");
}

static bool take_check(const OptionUse *use) {
  RunOptions *options = use->wishes;
  static const char *const names[] = {"memory", "races", "memory=strict", "races=strict"};
  for (unsigned i = 0; i < COUNT_OF(names); i++) {
    if (strcmp(use->text, names[i]) != 0) continue;
    options->check |= i % 2 == 0 ? CHECK_MEMORY : CHECK_RACES;
    options->check_is_strict |= i >= 2;
    return true;
  }
  return option_wrong(use, "must be memory or races, or memory=strict or races=strict");
}

// "1000:2000", "1000:": cycles that a trace shows.
static bool take_trace_cycles(const OptionUse *use) {
  AttachmentWishes *wishes = option_field(use);
  const char *text = use->text, *colon = strchr(text, ':');
  char *end;
  errno = 0;
  wishes->trace_from = strtoull(text, &end, 10);
  bool ok = colon != NULL && end == colon && text[0] >= '0' && text[0] <= '9';
  bool open_end = ok && colon[1] == '\0';
  if (ok && !open_end) {
    wishes->trace_to = strtoull(colon + 1, &end, 10);
    ok = colon[1] >= '0' && colon[1] <= '9' && *end == '\0' && wishes->trace_to > wishes->trace_from;
  }
  return (ok && errno == 0) || option_wrong(use, "write FROM:TO, such as 1000:2000, or FROM: for all the rest");
}

static bool take_trace_every(const OptionUse *use) {
  uint64_t *every = option_field(use);
  char *end;
  errno = 0;
  *every = strtoull(use->text, &end, 10);
  if (strcmp(use->text, "never") == 0) *every = UINT64_MAX;
  else if (use->text[0] < '1' || use->text[0] > '9' || *end != '\0' || errno != 0) return option_wrong(use, "a number of cycles, or never");
  return true;
}

// ---- Tables ------------------------------------------------------------------------------------------

static bool take_domain(const OptionUse *use) {
  ShaderWishes *shader = option_field(use);
  bool good = pair_parse(use->text, 'x', shader->domain);
  shader->given = true;
  return (good && shader->domain[0] > 0 && shader->domain[1] > 0) || option_wrong(use, "is written WxH, as 128x128, each from 1 to 4096");
}

static bool take_texture(const OptionUse *use) {
  RunOptions *options = use->wishes;
  *VEC_PUSH(&options->shader.textures, use->arena) = use->text;
  return options->shader.given = true;
}

static bool take_value(const OptionUse *use) {
  RunOptions *options = use->wishes;
  *VEC_PUSH(&options->shader.values, use->arena) = use->text;
  return options->shader.given = true;
}

static bool take_twice(const OptionUse *use) {
  ShaderWishes *shader = option_field(use);
  shader->given = true;
  return shader_twice_of(use->text, &shader->twice) || option_wrong(use, "host, gpu or boards");
}

static const Option workload_options[] = {
    {"size", 0, "SIZE", "tiny, small, default or large", .take = option_size},
    {"param", 0, "NAME=NUMBER", "change one of its parameters", .take = take_param},
    {"seed", 0, "NUMBER", "random inputs from this seed (default 1)", .take = option_u64, .offset = offsetof(RunOptions, seed),
     .most = UINT64_MAX},
};
const OptionGroup run_workload_group = OPTION_GROUP("Workloads ('redoubt list workloads')", workload_options);

static const Option ptx_options[] = {
    {"kernel", 0, "NAME", "which kernel; not needed when the file has one", .take = take_kernel, .offset = offsetof(RunOptions, kernel)},
    {"grid", 0, "X[,Y[,Z]]", "blocks (default 1); 4x4 is the same as 4,4", .take = take_dimensions, .offset = offsetof(RunOptions, grid)},
    {"block", 0, "X[,Y[,Z]]", "threads per block (default 1, or what .reqntid says)", .take = take_dimensions,
     .offset = offsetof(RunOptions, block)},
    {"shared", 0, "BYTES", "dynamic shared memory", .take = take_shared, .offset = offsetof(RunOptions, shared_bytes), .most = UINT32_MAX},
    {"cooperative", 0, NULL, "a cooperative launch: grid-wide barriers work", .take = take_cooperative,
     .offset = offsetof(RunOptions, cooperative)},
    {"arg", 0, "ARGUMENT", "one per kernel parameter, in order; 'redoubt run --help' ends with how they are written",
     .take = take_argument},
};
const OptionGroup run_ptx_group = OPTION_GROUP("PTX files", ptx_options);

static const Option shader_options[] = {
    {"domain", 0, "WxH", "fragments (default 64x64)", .take = take_domain, .offset = offsetof(RunOptions, shader)},
    {"texture", 0, "N=WHAT", "texture N: random:WxH, zeros:WxH or a PNG file; may be repeated", .take = take_texture},
    {"value", 0, "NAME=X,Y,Z,W", "of a parameter that the program declares; may be repeated", .take = take_value},
    {"twice", 0, "WHERE",
     "all of it twice, without hardware for that; compared by the host, on the gpu, or of two boards by the host; a third time if they "
     "differ",
     .take = take_twice, .offset = offsetof(RunOptions, shader)},
};
const OptionGroup run_shader_group = OPTION_GROUP("Fragment programs (.fp)", shader_options);

static const Option machine_options[] = {
    {"machine", 0, "NAME|FILE", "the simulated GPU ('redoubt list machines'; default: functional to run, fermi-gtx480 for campaigns)",
     .take = option_text, .offset = offsetof(RunOptions, machine.machine)},
    {"set", 0, "KEY=VALUE", "change a parameter of the machine ('redoubt list params')", .take = option_setting,
     .offset = offsetof(RunOptions, machine)},
    {"max-registers", 0, "N", "registers per thread; more are spilled to local memory", .take = take_max_registers},
    {"max-instructions", 0, "N", "warp instructions per launch before it counts as endless", .take = take_max_instructions},
    {"protect", 0, "SCHEME", "attach a protection ('redoubt list protections'); several: repeat it", .take = option_words,
     .offset = offsetof(RunOptions, wishes.protections)},
    {"upsets", 0, "CYCLES:LIST[:SEED]", "in every so many cycles a random bit of these structures flips; the results are then checked",
     .take = option_text, .offset = offsetof(RunOptions, upsets)},
    {"output", 0, "FILE",
     "with faults and a CUDA program: a file that it writes, judged besides its standard output and what it copies back, and yours again "
     "afterwards; "
     "one run follows the other then; may be repeated",
     .take = take_output},
    {"ignore", 0, "PATTERN",
     "with faults and a CUDA program: lines of its standard output that match this regular expression are not compared; may be repeated",
     .take = take_ignored},
    {"ignore-output", 0, NULL, "with faults and a CUDA program: its standard output is not compared", .take = option_flag,
     .offset = offsetof(RunOptions, ignores_output)},
};
const OptionGroup run_machine_group = OPTION_GROUP("The machine and the program", machine_options);

static const Option g80_options[] = {
    {"gmem-in", 0, "FILE", "global memory before the run, a 32-bit word a line in hexadecimal", .take = take_image,
     .offset = offsetof(RunOptions, images.gmem_in)},
    {"gmem-out", 0, "FILE", "the same after the run", .take = take_image, .offset = offsetof(RunOptions, images.gmem_out)},
    {"cmem-in", 0, "FILE", "constant memory", .take = take_image, .offset = offsetof(RunOptions, images.cmem_in)},
    {"cmem-bytes", 0, "N", "its size as the host declares it, which delays the start", .take = take_cmem_bytes,
     .offset = offsetof(RunOptions, images.cmem_bytes), .most = UINT32_MAX},
};
const OptionGroup run_g80_group = OPTION_GROUP("G80 code (.sass, .hex; --grid, --block, --shared and --arg go with it too)", g80_options);

static const Option result_options[] = {
    {"dump", 0, "NAME[=FILE]",
     "print an array after the run, or write its raw bytes to FILE; NAME is an --arg's name or a workload's output; 'outputs' prints all "
     "outputs of a workload. 'program': print the "
     "lowered program (encoding, registers, source lines), do not run it",
     .take = take_dump},
    {"json", 0, "FILE", "results as JSON, to the terminal or FILE: every statistic, and ratios", .take = option_json,
     .offset = offsetof(RunOptions, json_file), .may_lack = true},
    {"csv", 0, "FILE", "results as CSV: every statistic, a row per launch and a total", .take = option_csv,
     .offset = offsetof(RunOptions, csv_file), .may_lack = true},
    {"stats", 0, "STYLE",
     "what is said of machines with time: summary (default), table, gpgpusim (name = value lines under GPGPU-Sim's names)",
     .take = take_stats},
    {"verbose", 'v', NULL, "every launch, and a summary of each kernel (default: the ten longest launches, and one summary)",
     .take = option_flag, .offset = offsetof(RunOptions, verbose)},
    {"trace", 0, "FILE", "write a time line for Perfetto or Chrome (ui.perfetto.dev); with --fault, of the run with the faults",
     .take = option_text, .offset = offsetof(RunOptions, wishes.trace)},
    {"trace-every", 0, "N|never", "sample its curves (IPC, warps, queues, hit rates) every N cycles (default 200)",
     .take = take_trace_every, .offset = offsetof(RunOptions, wishes.trace_every)},
    {"trace-cycles", 0, "FROM:TO", "only these cycles of it", .take = take_trace_cycles, .offset = offsetof(RunOptions, wishes)},
    {"observe", 0, "ace[:LIST]",
     "which bit-cycles matter (ACE), of all structures or of LIST such as rf,unit.sp: numbers 'ace_...' of the total in JSON; 'redoubt "
     "avf' "
     "shows more",
     .take = option_text, .offset = offsetof(RunOptions, wishes.observe)},
    {"check", 0, "WHAT[=strict]",
     "memory: report reads of memory that nobody wrote and accesses outside of allocations that the machine lets pass; races: report "
     "races of warps in shared and global memory, with both lines; functional machine; may be repeated. "
     "strict: the exit code is 1 if there are any",
     .take = take_check},
    {"jobs", 'j', "N", "of a set: workloads at one time (default and most: the processors that this process may use)", .take = option_jobs,
     .offset = offsetof(RunOptions, processes), .least = 1, .most = 256},
    {"repeat", 0, "N", "run everything N times, each on a fresh device", .take = option_u32, .offset = offsetof(RunOptions, repeat),
     .least = 1, .most = 1000000},
};
static const OptionGroup result_group = OPTION_GROUP("Results", result_options);

bool option_tolerance(const OptionUse *use) {
  const char *wrong = tolerance_add(option_field(use), use->arena, use->text);
  return wrong == NULL || option_wrong(use, "%s", wrong);
}

static const Option fault_options[] = {
    {"fault", 0, "FAULT",
     "break it on purpose, e.g. flip:rf[sm=3,warp=5,reg=12,lane=7,bit=4]@12345, and say what that does ('redoubt list faults'); several "
     "in one run: repeat it",
     .take = take_fault},
    {"explain", 0, NULL, "and why: where the bit went, what differed first, how it reached the output", .take = option_flag,
     .offset = offsetof(RunOptions, explain)},
    {"tolerance", 0, "BUFFER:TYPE:rel=X|abs=X", TOLERANCE_HELP, .take = option_tolerance, .offset = offsetof(RunOptions, tolerances)},
    {"timeout", 0, "N", "N times the fault-free cycles count as endless (default 10)", .take = option_u64,
     .offset = offsetof(RunOptions, timeout), .least = 1, .most = 1000000},
};
static const OptionGroup fault_group = OPTION_GROUP("Faults", fault_options);

const Command command_run = {
    .name = "run",
    .usage = "TARGET",
    .summary = "run a built-in workload, a PTX file or a CUDA program (-- ./app) and show what it did",
    .synopsis = "redoubt run WORKLOAD [options]          a built-in workload, checked against the CPU\n"
                "redoubt run @SET|NAME,NAME... [options]  several workloads: a row each, and means\n"
                "redoubt run FILE.ptx [options]          a kernel from a PTX file, without any host code\n"
                "redoubt run FILE.sass|FILE.hex [options]  G80 machine code, with --machine flexgrip or flexgrip-thesis\n"
                "redoubt run [options] -- ./app ARGS     a CUDA program\n",
    .groups = {&run_workload_group, &run_ptx_group, &run_g80_group, &run_shader_group, &run_machine_group, &result_group, &fault_group},
    .ending =
        "Arguments of PTX kernels:\n"
        "  u32:1024  n:s32=-5  x:f32=0.5       a number, with or without a name\n"
        "  out:f32[1024]                       an array in device memory, zeros; its address is passed\n"
        "  in:f32[1024]=GENERATOR              an array with contents\n"
        "  in:f32[]={1,2,3}  in:u8[]=file:F    its size from the contents\n"
        "  s:bytes=00ff12ab                    a struct by value, as hexadecimal bytes\n"
        "  @in                                 the array named in, once more\n"
        "  types       u8 s8 b8 u16 s16 b16 u32 s32 b32 u64 s64 b64 f16 bf16 f32 f64\n"
        "  generators  zeros, ones, fill(V), ramp, ramp(START,STEP), random, random(LOW,HIGH),\n"
        "              {V,V,...} (the rest zeros), file:PATH (raw bytes)\n"
        "Those of G80 code are numbers: 12, 0x1000, f32:1.5. Registers and blocks per SM that a .sass file does not say:\n"
        "--set g80.gprs=N --set g80.blocks_per_core=N.\n"
        "\n"
        "CUDA programs run as they are, on the simulated GPU, with their own input and output; --json, --csv, --stats,\n"
        "--machine, --set, --protect, --trace, --observe, --check, --max-registers and --max-instructions work for them.\n"
        "Accesses are checked as coarsely as hardware does, by 2 MiB pages; --set memory.granule=1 checks them to the byte. The\n"
        "exit code is the program's. With --fault they run several times, without input, and what they print is compared, not shown.\n"
        "\n"
        "Examples:\n"
        "  redoubt run -- ./app input.txt\n"
        "  redoubt run matmul --param tiles=8\n"
        "  redoubt run @rise --machine gt200-rise --csv=rise.csv\n"
        "  redoubt run vecadd.ptx --grid 16 --block 64 --arg a:f32[1024]=ramp --arg b:f32[1024]=ones \\\n"
        "      --arg c:f32[1024] --arg n:u32=1024 --dump c\n"
        "  redoubt run vecadd --dump program\n"
        "  redoubt run bfs --machine gt200-rise --protect dmr\n"
        "  redoubt run vecadd --size tiny --machine fermi-gtx480 --fault 'flip:rf[sm=0,warp=0,reg=2,lane=7,bit=4]@700' --explain\n"
        "  redoubt run --machine fermi-gtx480 --fault 'flip:rf[sm=0,warp=0,reg=2,lane=7,bit=4]@700' --explain -- ./app input.txt\n"
        "  redoubt run scan --size tiny --machine fermi-gtx480 --trace scan.json\n"
        "\n"
        "What kernels print with printf goes to the output (to stderr when that is JSON).\n"
        "Exit codes: 0 all went well, 1 results are wrong, 2 bad usage or input,\n"
        "            3 the simulated program trapped, 4 internal error.\n",
    .operand = "target",
    .most_operands = 1,
    .takes_application = true,
    .run = run_main,
};

// ---- What goes together ------------------------------------------------------------------------------

static bool usage(const char *text) {
  message_usage("run", "%s", text);
  return false;
}

static bool check_faults(const RunOptions *options) {
  if (options->faults.count == 0) return !options->explain || usage("--explain needs --fault: what should be explained?");
  if (!machine_can(&options->spec, MACHINE_HAS_TIME)) return usage("--fault needs a machine with time, such as --machine fermi-gtx480");
  if (options->repeat > 1) return usage("--fault and --repeat do not go together: every run with a fault is the same");
  bool has_frame = options->application == NULL && options->target != NULL && is_shader_file(options->target);
  if ((options->dumps.count > 0 && !has_frame) || options->dump_program || options->csv)
    return usage("--fault prints an outcome: --dump and --csv do not go with it");
  return true;
}

// Options that need others, or a machine with time.
static bool check_together(const RunOptions *options) {
  const AttachmentWishes *wishes = &options->wishes;
  bool has_time = machine_can(&options->spec, MACHINE_HAS_TIME);
  if ((wishes->protections != NULL || wishes->trace != NULL || wishes->observe != NULL) && !has_time)
    return usage("--protect, --trace and --observe need a machine with time, such as --machine fermi-gtx480");
  if (options->stats == STATS_GPGPUSIM && !has_time)
    return usage("--stats gpgpusim needs a machine with time, such as --machine fermi-gtx480");
  if (options->check != 0 && !machine_can(&options->spec, MACHINE_IS_WATCHED))
    return usage("--check is of the functional machine: leave out --machine, and --fault");
  if (wishes->trace == NULL && (wishes->trace_from != 0 || wishes->trace_to != 0)) return usage("--trace-cycles needs --trace FILE");
  if (wishes->trace == NULL && wishes->trace_every != 0) return usage("--trace-every needs --trace FILE");
  if (wishes->trace != NULL && options->repeat > 1) return usage("--trace and --repeat do not go together: there is one file");
  if (options->json && options->csv && options->json_file == NULL && options->csv_file == NULL)
    return usage("--json and --csv cannot both go to the terminal: give one a file");
  return check_faults(options);
}

static bool load_spec(RunOptions *options, Arena *arena) {
  Diags diags = {0};
  const SpecWishes *wishes = &options->machine;
  for (uint32_t i = 0; i < wishes->settings.count; i++) {
    if (strcmp(wishes->settings.items[i].key, "block.threads") == 0) options->block_given = true;
  }
  bool good = spec_wishes_load(&options->spec, arena, wishes, &diags);
  if (good) spec_say_model(&options->spec, options->files.quiet);
  else message_diags(&diags);
  return good;
}

// ---- Files -------------------------------------------------------------------------------------------

// "in:f32[]=file:PATH", "pattern(PATH):rf[...]": the file that is named after `mark`, up to one of `ends`.
static void read_named(Files *files, const char *text, const char *mark, const char *ends) {
  const char *at = strstr(text, mark);
  if (at == NULL) return;
  at += strlen(mark);
  files_read(files, arena_copy_text(files->arena, at, strcspn(at, ends)));
}

static bool is_builtin(const char *machine) {
  uint32_t i = 0;
  while (i < builtin_machine_count && strcmp(builtin_machines[i].name, machine) != 0) i++;
  return i < builtin_machine_count;
}

// Everything on the command line that is read, then everything that is written.
static bool check_files(RunOptions *options, Diags *diags) {
  Files *files = &options->files;
  if (options->target != NULL && workload_find(options->target) == NULL) files_read(files, options->target);
  if (!is_builtin(options->machine.machine)) files_read(files, options->machine.machine);
  files_read(files, options->images.gmem_in);
  files_read(files, options->images.cmem_in);
  for (uint32_t i = 0; i < options->arguments.count; i++) read_named(files, options->arguments.items[i], "=file:", "");
  for (uint32_t i = 0; i < options->shader.textures.count; i++) read_named(files, options->shader.textures.items[i], "=", "");
  for (uint32_t i = 0; i < options->faults.count; i++) read_named(files, options->faults.items[i], "pattern(", ")");
  for (char **word = options->application; word != NULL && *word != NULL; word++) files_read(files, *word);
  bool good = files_write(files, options->json_file, diags) && files_write(files, options->csv_file, diags);
  good = good && files_write(files, options->wishes.trace, diags) && files_write(files, options->images.gmem_out, diags);
  for (uint32_t i = 0; i < options->dumps.count && good; i++) good = files_write(files, options->dumps.items[i].file, diags);
  Files others = *files;
  others.inputs.count = 0; // a program may read what it writes
  for (uint32_t i = 0; i < options->outputs.count && good; i++) good = files_write(&others, options->outputs.items[i], diags);
  return good;
}

void run_options_default(RunOptions *options) {
  *options = (RunOptions){.size = SIZE_DEFAULT, .seed = 1, .repeat = 1, .timeout = 10, .machine.machine = "functional"};
}

bool run_options_complete(RunOptions *options, const Operands *operands, Arena *arena) {
  options->target = operands->count > 0 ? operands->items[0] : NULL;
  options->application = operands->application;
  options->files = (Files){.arena = arena, .quiet = operands->quiet};
  if (options->json_file != NULL && strcmp(options->json_file, "-") == 0) options->json_file = NULL; // as --json alone
  if (options->csv_file != NULL && strcmp(options->csv_file, "-") == 0) options->csv_file = NULL;
  if (!load_spec(options, arena) || !check_together(options)) return false;
  Diags diags = {0};
  if (check_files(options, &diags)) return true;
  message_diags(&diags);
  return false;
}

// Before a run that may be long.
static bool can_be_written(const RunOptions *options) {
  Diags diags = {0};
  bool good = out_possible(options->json_file, &diags) && out_possible(options->csv_file, &diags);
  good = good && out_possible(options->wishes.trace, &diags) && out_possible(options->images.gmem_out, &diags);
  for (uint32_t i = 0; i < options->dumps.count && good; i++) good = out_possible(options->dumps.items[i].file, &diags);
  if (!good) message_diags(&diags);
  return good;
}

bool run_options_parse(RunOptions *options, Arena *arena, int argc, char **argv, int *exit_code) {
  Operands operands;
  run_options_default(options);
  *exit_code = EXIT_BAD_INPUT;
  if (options_parse(&command_run, options, arena, argc, argv, &operands))
    return run_options_complete(options, &operands, arena) && can_be_written(options);
  *exit_code = operands.exit_code;
  return false;
}
