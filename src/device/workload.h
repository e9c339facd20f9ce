// A workload: a kernel with its inputs, launches, outputs and CPU check, in one small C file
// (workloads/NAME/workload.c). `redoubt run NAME`, tests, benchmarks and campaigns use them.
// The file defines `const Workload workload_NAME`; the build embeds its kernel.ptx (workload_ptx).
#ifndef REDOUBT_WORKLOAD_H
#define REDOUBT_WORKLOAD_H

#include "device/device.h"
#include "machine/ratio.h"

enum { WORKLOAD_MAX_PARAMS = 8, WORKLOAD_MAX_OUTPUTS = 8, WORKLOAD_MAX_TRAITS = 4 };
typedef enum WorkloadSize { SIZE_TINY, SIZE_SMALL, SIZE_DEFAULT, SIZE_LARGE, SIZE_COUNT } WorkloadSize;

typedef struct WorkloadParam {
  const char *name, *help;
  uint64_t value[SIZE_COUNT]; // at tiny (tests), small, default, large (bench)
  uint64_t least, most;
} WorkloadParam;

typedef enum ElementType {
#define ELEMENT(id, name, bytes) ELEMENT_##id,
#include "device/element.def"
#undef ELEMENT
  ELEMENT_COUNT
} ElementType;
extern const char *const element_names[ELEMENT_COUNT];

// A declared output: what decides whether a fault mattered.
typedef struct WorkloadOutput {
  const char *name;
  DeviceAddress address;
  ElementType type;
  uint64_t count;
  uint64_t width; // elements in a row of a matrix; 0: an array
} WorkloadOutput;

typedef struct WorkloadRun {
  Device *device;
  Module *module;
  Arena *arena;                        // of this run; in check() of that check alone
  Arena *lasting;                      // in check(): of the run
  double *expected;                    // see workload_expected
  uint64_t param[WORKLOAD_MAX_PARAMS]; // in the order of Workload.params
  uint64_t seed;
  WorkloadOutput outputs[WORKLOAD_MAX_OUTPUTS];
  uint32_t output_count;
  void *data;        // the workload's own: addresses, host copies
  char failure[256]; // what check() found
} WorkloadRun;

// What papers lean on in this program, as a bound of a ratio on the machine TRAIT_MACHINE. Tests hold it (tests/CMakeLists.txt, `make traits`).
#define TRAIT_MACHINE "gt200-rise"
typedef enum TraitBound { TRAIT_AT_LEAST, TRAIT_AT_MOST } TraitBound;
typedef struct WorkloadTrait {
  RatioId ratio;
  TraitBound bound;
  double value;
  const char *why;   // in a few words
  WorkloadSize from; // smallest size at which it holds
} WorkloadTrait;

typedef struct Workload {
  const char *name, *summary;
  ProgramForm form;                          // FORM_REDOUBT: kernel.ptx; FORM_G80: kernel.sass
  WorkloadParam params[WORKLOAD_MAX_PARAMS]; // ends at the first without a name
  WorkloadTrait traits[WORKLOAD_MAX_TRAITS]; // ends at the first without a reason
  bool (*prepare)(WorkloadRun *run);         // allocate, fill from the seed, declare outputs
  bool (*launch)(WorkloadRun *run);          // every launch, and host code between them
  bool (*check)(WorkloadRun *run);           // outputs against a CPU computation, within the declared tolerance
} Workload;

extern const Workload *const workloads[]; // by name
extern const char *const workload_ptx[];  // kernel.ptx of each, embedded
extern const uint32_t workload_count;
// Those in G80 machine code (workloads/g80), named g80.NAME. They are not in the list above: other machines cannot run them.
extern const Workload *const g80_workloads[];
extern const char *const g80_workload_sass[];
extern const uint32_t g80_workload_count;
const char *workload_source(const Workload *workload);           // its kernel's text; NULL: it is not built in
const Workload *workload_find(const char *name);                 // of both; NULL: none
bool workload_check(WorkloadRun *run, const Workload *workload); // its check(), as often as wanted
// What check() compares with, kept from one check to the next. *missing: it is the first, and they are to be filled in (they are zero).
double *workload_expected(WorkloadRun *run, uint64_t count, bool *missing);

// ---- Sets (workloads/sets.c) ----------------------------------------------------------------------
typedef enum WorkloadSetId {
  SET_RISE,
  SET_RISE_MEMORY,
  SET_RISE_IMBALANCE,
  SET_RISE_DIVERGENT,
  SET_RISE_COMPUTE,
  SET_HINTS,
  SET_SHIELD,
  SET_ALL, // has no members in the table: it is every workload
  SET_COUNT
} WorkloadSetId;
typedef struct WorkloadSet {
  const char *name, *summary; // name: without the @
} WorkloadSet;
extern const WorkloadSet workload_sets[SET_COUNT];
typedef struct WorkloadMember {
  const char *workload;
  const char *abbreviation; // the paper's; NULL: it has none
  uint32_t sets;            // a bit for each set that it is in, all of one paper
  const char *doubt;        // NULL: it is this program; else why that is not certain
} WorkloadMember;
extern const WorkloadMember workload_members[];
extern const uint32_t workload_member_count;
typedef VEC(const Workload *) WorkloadList;
bool is_workload_list(const char *text); // "@rise", "bfs,scan"
// Adds what "bfs,@hints" names to the list, each workload once. False: a name is not known.
bool workload_list_add(WorkloadList *list, Arena *arena, const char *text, Diags *diags);
bool workload_in_set(const char *workload, WorkloadSetId set);
const WorkloadMember *workload_member(const char *workload, WorkloadSetId set); // NULL: it is not in the set

// ---- Traits -------------------------------------------------------------------------------------
uint32_t workload_trait_count(const Workload *workload);
// *value: the ratio, 0 where it does not exist, which is never what was meant: false then.
bool workload_trait_holds(const WorkloadTrait *trait, const Stats *stats, double *value);

// Loads the workload's module and takes its parameters at that size; the caller may then change
// run->param (workload_set checks ranges) before prepare. workload_finish frees what run owns.
bool workload_start(WorkloadRun *run, const Workload *workload, WorkloadSize size, Device *device, Diags *diags);
// The same with other PTX of its kernels, such as another compiler's.
bool workload_start_from(WorkloadRun *run, const Workload *workload, WorkloadSize size, Device *device, const PtxSource *source,
                         Diags *diags);
bool workload_set(WorkloadRun *run, const Workload *workload, const char *name, const char *value, Diags *diags);
void workload_finish(WorkloadRun *run);
uint32_t workload_param_count(const Workload *workload);
extern const char *const workload_size_text[SIZE_COUNT]; // "tiny" ...
uint32_t element_bytes(ElementType type);

// For workload files. All return false / 0 after the device has noted why.
DeviceAddress workload_buffer(WorkloadRun *run, const void *from, uint64_t bytes);            // allocate and fill; from NULL = zeros
bool workload_constant(WorkloadRun *run, const char *name, const void *from, uint64_t bytes); // fill a __constant__ variable, or its start
// A texture that kernels fetch by a texel's index (cuda.h): `texels` of 1, 2 or 4 elements each, which lie in a buffer. Its handle; 0 = failed.
uint64_t workload_texture(WorkloadRun *run, DeviceAddress from, ElementType type, uint8_t elements, uint32_t texels);
void workload_output(WorkloadRun *run, const char *name, DeviceAddress address, ElementType type, uint64_t count);
void workload_output_matrix(WorkloadRun *run, const char *name, DeviceAddress address, ElementType type, uint64_t rows, uint64_t columns);
bool workload_launch(WorkloadRun *run, const char *kernel, const uint32_t grid[3], const uint32_t block[3], uint32_t dynamic_shared_bytes,
                     const void *const *arguments, uint32_t argument_count);
float *workload_random_f32(WorkloadRun *run, uint64_t count, uint64_t stream, float least, float most);
// In prepare(): says why parameters do not go together, as the device's error, and returns false.
bool workload_refuse(WorkloadRun *run, const char *format, ...) __attribute__((format(printf, 2, 3)));
// Notes what is wrong and returns false.
bool workload_fail(WorkloadRun *run, const char *format, ...) __attribute__((format(printf, 2, 3)));
// got against expected with |difference| <= tolerance * max(1, |expected|); a NaN is never near.
bool workload_near(WorkloadRun *run, const char *name, const float *got, const double *expected, uint64_t count, double tolerance);
// Checks a float array that took `steps` steps from `first`: step() takes one on the host, in double, from one array to the other.
// What it does not write stays as it was at first.
typedef struct WorkloadSteps {
  const char *name;
  DeviceAddress address;
  const float *first;
  uint64_t count;
  uint32_t steps;
  void (*step)(const void *data, const double *now, double *next);
} WorkloadSteps;
bool workload_steps_near(WorkloadRun *run, const WorkloadSteps *steps, double tolerance);

#endif
