// What the files of `redoubt run` share.
#ifndef REDOUBT_CLI_RUN_H
#define REDOUBT_CLI_RUN_H

#include "campaign/tolerance.h"
#include "cli/cli.h"
#include "cli/energy.h"
#include "cli/out_file.h"
#include "device/attachments.h"

// ---- Options (run_options.c) ---------------------------------------------------------------------
typedef struct DumpWish {
  const char *name, *file; // file NULL: print
  bool done;
} DumpWish;

typedef enum StatsStyle { STATS_SUMMARY, STATS_TABLE, STATS_GPGPUSIM } StatsStyle;

// Memory images of the FlexGripPlus machine: --gmem-in, --gmem-out, --cmem-in, --cmem-bytes.
typedef struct G80Images {
  const char *gmem_in, *gmem_out, *cmem_in; // NULL: not given
  uint32_t cmem_bytes;                      // what the host declares; 0: those of the words
  bool given;
} G80Images;

// All of a fragment program issued twice from the host, and how the results are compared (shader_twice.c).
typedef enum ShaderTwice { TWICE_NOT, TWICE_HOST, TWICE_GPU, TWICE_BOARDS } ShaderTwice;
// Of fragment programs: --domain, --texture, --value, --twice.
typedef struct ShaderWishes {
  ShaderTwice twice;
  uint32_t domain[2]; // zeros: not given
  VEC(const char *) textures, values;
  bool given;
} ShaderWishes;

typedef struct RunOptions {
  SpecWishes machine; // --machine, --set and its short forms
  const char *target; // NULL: not given
  char **application; // after `--`; NULL: none
  WorkloadSize size;
  uint64_t seed;
  VEC(KeyValue) params; // --param
  const char *kernel;
  uint32_t grid[3], block[3]; // zeros: not given
  uint32_t shared_bytes;
  bool cooperative;
  VEC(const char *) arguments;
  bool size_given, ptx_given; // options of only one kind of target were used
  bool block_given;           // --set block.threads
  bool dump_program;
  VEC(DumpWish) dumps;
  bool json;
  const char *json_file; // NULL: stdout
  bool csv;
  const char *csv_file; // NULL: stdout
  StatsStyle stats;
  bool verbose;            // all launches, and a summary of each kernel
  AttachmentWishes wishes; // --protect, --trace
  const char *upsets;      // --upsets; NULL: none
  unsigned check;          // --check: CHECK_MEMORY, CHECK_RACES
  bool check_is_strict;    // findings are wrong results
  G80Images images;
  ShaderWishes shader;
  uint32_t repeat;
  VEC(const char *) faults; // --fault
  bool explain;
  uint64_t timeout;            // --timeout: multiple of the cycles without faults
  OutputTolerances tolerances; // --tolerance
  VEC(const char *) ignored;   // --ignore: lines of its standard output that do not count
  bool ignores_output;         // --ignore-output: nor does any other
  VEC(const char *) outputs;   // --output: files by which an application with faults is judged
  uint32_t processes;          // --jobs: of a set; 0: not given
  Spec spec;
  Files files; // that the run reads and writes
} RunOptions;
extern const OptionGroup run_workload_group, run_ptx_group, run_g80_group, run_shader_group,
    run_machine_group;                           // for structs that begin with RunOptions
OptionTake option_size, option_json, option_csv; // for such structs too
OptionTake option_tolerance;
#define TOLERANCE_HELP                                                                                                               \
  "output BUFFER may be off by X, of each element or in all: then its fault is 'tolerated', no SDC. TYPE as of --arg; without, the " \
  "output's own. Of CUDA programs BUFFER is an --output file or copyN, the N-th copy from the device. Several: repeat it"
void run_options_default(RunOptions *options);
// Once options are taken: the target, the machine, and whether it all goes together. False, after a message: it does not.
bool run_options_complete(RunOptions *options, const Operands *operands, Arena *arena);
// All of that for `redoubt run`; text stays in argv or the arena. False: the command ends with this exit code.
bool run_options_parse(RunOptions *options, Arena *arena, int argc, char **argv, int *exit_code);
int run_main(int argc, char **argv); // run.c

// ---- A run (run.c) -------------------------------------------------------------------------------
typedef enum CheckResult { CHECK_NONE, CHECK_PASSED, CHECK_FAILED } CheckResult;

typedef struct Progress {
  bool enabled; // stderr is a terminal
  bool shown;
  double start, last; // host seconds
} Progress;

// What --observe ace found of a structure, over all launches: numbers of the run's total.
typedef struct AceFigure {
  const char *name; // "ace_sp_ace"
  double value;
} AceFigure;

typedef struct RunResult {
  VEC(LaunchRecord) launches; // of all repeats, names in the run's arena
  CheckResult check;
  VEC(MemoryFinding) findings; // of --check memory; names in the run's arena
  VEC(AceFigure) ace;          // of --observe ace; names in the run's arena
} RunResult;

typedef struct Run {
  RunOptions *options;
  Arena *arena; // lives as long as the command
  Progress progress;
  RunResult result;
  Attachments attachments; // of the device that runs
  OutFile trace;           // where --trace goes
  bool is_part;            // of another command, which shows what it wants; then `ace` is kept for it
  Ace *ace;                // of a CUDA program: what --observe ace found; the Run's owner frees it
  bool outputs_were_read;  // by the host, all of them
} Run;

bool is_ptx_file(const char *target);                                 // no workload, but a file
int run_check_target(const RunOptions *options, const char *command); // EXIT_OK: a workload or a PTX file, with options for it
bool run_takes_ptx(const RunOptions *options);                        // false, after a message: the machine runs other code
// A device for this run, with printing, progress and clock; NULL after a message.
Device *run_device(Run *run, uint32_t address_bits);
// The file of --trace, if it is wanted: the wishes of the options with where it is to be written. `whole`: there is something in it.
bool trace_file_open(OutFile *trace, const RunOptions *options, AttachmentWishes *wishes, Diags *diags);
bool trace_file_close(OutFile *trace, bool whole, Diags *diags);
// Takes over a device's launches and frees it with what was attached; false, after a message: a trace was not written.
bool run_finish(Run *run, Device *device);
// The exit code for a device call that failed: says why.
int run_device_failed(Run *run, const Device *device);
void run_clear_progress(Run *run);

void ace_figures_take(Run *run, const Ace *ace); // ace_figures.c: of --observe ace

int run_workload(Run *run, const Workload *workload);                   // run_workload.c
int run_ptx(Run *run);                                                  // run_ptx.c
int run_set(Run *run);                                                  // run_set.c: several workloads
int run_g80(Run *run);                                                  // run_g80.c
bool is_g80_file(const char *target);                                   // .sass, .hex
bool g80_machine_given(const RunOptions *options, const char *command); // else it has said that G80 code needs one
bool g80_check_target(const RunOptions *options, const char *command);  // false, after a message: options or machine are not for G80 code
int run_application(Run *run);                                          // run_app.c

// ---- Element types, arguments, dumps (argument.c, element.c, dump.c) ------------------------------
typedef enum ElementKind { KIND_OF_UNSIGNED, KIND_OF_SIGNED, KIND_OF_BITS, KIND_OF_FLOAT } ElementKind;
typedef struct Element {
  const char *name;
  ElementKind kind;
  uint8_t bytes;
  bool brain; // bf16
} Element;
extern const Element elements[];
extern const uint32_t element_count;
const Element *element_find(Slice name);                                // NULL: none
bool element_parse(const Element *element, Slice text, uint64_t *bits); // a number as people write it
uint64_t element_from_double(const Element *element, double value);     // floats only
void element_format(const Element *element, const void *at, Text *out);

typedef struct Argument {
  const char *text;       // as the user wrote it
  const char *name;       // "" when it has none
  const Element *element; // NULL for bytes: and @name
  bool is_array;
  const struct Argument *alias; // @name: the array meant
  uint64_t count;               // elements, or bytes
  uint8_t *contents;            // initial bytes; NULL = zeros
  bool zeros;                   // asked for: to --check memory they are written, those of an array without contents are not
  DeviceAddress address;        // arrays, once placed
} Argument;
typedef struct ArgumentContext {
  Arena *arena;
  uint64_t seed;       // of random contents
  uint64_t most_bytes; // largest array
  Diags *diags;
} ArgumentContext;
// Parses one --arg; `earlier` are the index arguments before it, which @name may mean.
bool argument_parse(Argument *argument, const ArgumentContext *context, const char *text, const Argument *earlier, uint32_t index);

// ---- A kernel of a PTX file with its arguments (run_ptx.c) ---------------------------------------
typedef struct PtxCall {
  Argument *arguments;
  uint32_t argument_count;
  const void **pointers; // at the arguments, once placed
  LaunchRequest request; // but for the module
} PtxCall;
// The text of a file that is a target.
typedef struct SourceText {
  const char *text;
  size_t length;
} SourceText;
bool source_read(const char *target, Arena *arena, SourceText *source, Diags *diags);
// NULL, with diagnostics: it cannot be run.
Program *ptx_call_compile(const RunOptions *options, const SourceText *source, Diags *diags);
bool ptx_call_parse(PtxCall *call, const RunOptions *options, Arena *arena, const Program *program, Diags *diags);
bool ptx_call_place(PtxCall *call, Device *device); // arrays into device memory; false: the device says why
const Argument *argument_find(const Argument *arguments, uint32_t count, const char *name);                  // the array; NULL: none
bool arguments_dumpable(const RunOptions *options, const Argument *arguments, uint32_t count, Diags *diags); // every --dump names one

// ---- G80 machine code with its parameters (run_g80.c) ----------------------------------------------
enum { G80_CALL_WORDS = 15 };
typedef struct G80Call {
  Argument *arguments; // arrays, or nothing where the word is a number
  uint32_t argument_count, arrays;
  uint32_t words[G80_CALL_WORDS]; // as the kernel gets them, once placed
  const void *pointers[G80_CALL_WORDS];
  const uint32_t *image; // of global memory
  uint32_t image_words;
  DeviceAddress memory;  // all of it, if there are no arrays
  LaunchRequest request; // but for the module
} G80Call;
Program *g80_call_compile(const RunOptions *options, const SourceText *source, Diags *diags); // the file with what the options say of it
bool g80_call_parse(G80Call *call, const RunOptions *options, Arena *arena, const Program *program, Diags *diags);
bool g80_call_place(G80Call *call, Device *device);

// ---- A fragment program with its domain and textures (run_shader.c) -------------------------------
enum { SHADER_CALL_TEXTURES = 16 };
typedef struct ShaderTexels {
  float *pixels; // four for each texel, row by row
  uint32_t width, height;
} ShaderTexels;
typedef struct ShaderComparison ShaderComparison; // on the GPU: parameters and launch of compare.fp
typedef struct ShaderCall {
  uint32_t width, height;
  ShaderTexels texture[SHADER_CALL_TEXTURES];
  struct FragmentParams *params; // as the program gets them, once placed
  const void *pointers[1];
  DeviceAddress frame;
  LaunchRequest request; // but for the module
  // --twice. Frames of the first, second and third computation: the first is `frame`, which has the result.
  ShaderTwice twice;
  DeviceAddress frames[3], marks;
  struct FragmentParams *second; // of the second computation
  ShaderComparison *comparison;
  bool unanswered;        // it does not give up, but goes on with the first result
  bool differed, gave_up; // of the last run: two computations differed; no two of three agreed
} ShaderCall;
// A picture or the floats of a frame: color, depth, or (`other` is not NULL) the difference of two.
bool shader_dump(const DumpWish *wish, const RunOptions *options, const uint8_t *frame, const uint8_t *other, Diags *diags);
bool shader_dumps_known(const RunOptions *options, Diags *diags);
void shader_domain(const RunOptions *options, uint32_t *width, uint32_t *height);
int run_shader(Run *run);
typedef struct BuiltinShader {
  const char *name, *text;
} BuiltinShader;
extern const BuiltinShader builtin_shaders[]; // workloads/fragment
extern const uint32_t builtin_shader_count;
bool shader_text(const char *target, Arena *arena, SourceText *source, Diags *diags); // of a file, or of one that comes with the command
bool is_shader_file(const char *target);                                              // .fp
bool shader_check_target(const RunOptions *options, const char *command); // false, after a message: options or machine are not for it
Program *shader_call_compile(const RunOptions *options, const SourceText *source, Diags *diags);
bool shader_call_parse(ShaderCall *call, const RunOptions *options, Arena *arena, Diags *diags);
bool shader_call_place(ShaderCall *call, Device *device);
bool shader_textures_place(const ShaderCall *call, struct FragmentParams *params, Device *device);
bool shader_textures_write(const ShaderCall *call, Device *device); // once more to where they are

// ---- All of it twice (shader_twice.c) ---------------------------------------------------------------
bool shader_twice_of(const char *text, ShaderTwice *twice); // false: there is no such way
const char *shader_twice_name(ShaderTwice twice);           // not of TWICE_NOT
uint64_t shader_frame_bytes(const ShaderCall *call);        // that it takes in memory
bool shader_twice_place(ShaderCall *call, Device *device);  // what it needs besides
bool shader_call_run(ShaderCall *call, Device *device);     // all launches; false: a trap, or (gave_up) no two results agree

bool dump_array(const DumpWish *wish, const Files *files, Device *device, DeviceAddress address, const Element *element, uint64_t count,
                Diags *diags);
bool dump_program(const Program *program);

// ---- Results (result.c) ---------------------------------------------------------------------------
bool result_print(const Run *run, Diags *diags);    // table, JSON or CSV
LaunchRecord result_total(const RunResult *result); // all launches together
// On stderr, after `whose`: which of the protections never acted.
void result_say_idle(const RunOptions *options, const char *whose, const Stats *total);
// Every statistic. Machines without time have no cycles: null.
void stats_json(const Stats *stats, bool timed, struct json_t *object);
struct json_t *ratios_json(const Stats *stats, const Spec *spec);
struct json_t *symbol_json(const char *symbol); // of a kernel, as people write it
// ---- What --check found (memory_report.c) ---------------------------------------------------
void memory_report_take(Run *run, const MemoryFinding *finding); // a copy
int memory_report_exit(const Run *run, int code);                // strict: findings are wrong results
void memory_report_print(const Run *run);                        // table
struct json_t *memory_report_json(const Run *run);
// summary.c: for machines with time, of a launch or several added up; power: NULL: nothing is said of energy
void summary_format(const LaunchRecord *launch, const Spec *spec, const PowerModel *power, Text *out);

#endif
