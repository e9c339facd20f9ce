// compare NAME=FILE.ptx...: runs each workload at its smallest size on the functional machine, with its own PTX and with that of the
// file, and compares. Both must pass the workload's check. Integer outputs must be the same; of floats, which compilers may round
// otherwise, the check's tolerance decides, and the greatest difference is shown.
#include "device/workload.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct Outputs {
  uint8_t *bytes[WORKLOAD_MAX_OUTPUTS];
  WorkloadOutput declared[WORKLOAD_MAX_OUTPUTS];
  uint32_t count;
} Outputs;

static bool fail(const char *workload, const char *compiler, const char *why) {
  printf("%-14s with %s's PTX: %s\n", workload, compiler, why);
  return false;
}

static bool take_outputs(WorkloadRun *run, Arena *arena, Outputs *outputs) {
  outputs->count = run->output_count;
  for (uint32_t i = 0; i < run->output_count; i++) {
    const WorkloadOutput *output = &run->outputs[i];
    uint64_t bytes = output->count * element_bytes(output->type);
    outputs->declared[i] = *output;
    outputs->bytes[i] = arena_alloc(arena, bytes);
    if (!device_read(run->device, outputs->bytes[i], output->address, bytes)) return false;
  }
  return true;
}

// source NULL: the workload's own PTX.
static bool run_with(const Workload *workload, const PtxSource *source, Arena *arena, Outputs *outputs) {
  const char *compiler = source == NULL ? "clang" : "nvcc";
  Diags diags = {0};
  Spec spec;
  spec_default(&spec);
  DeviceOptions options = {.spec = &spec};
  Device *device = device_new(&options, &diags);
  WorkloadRun run = {0};
  bool started = source == NULL ? workload_start(&run, workload, SIZE_TINY, device, &diags)
                                : workload_start_from(&run, workload, SIZE_TINY, device, source, &diags);
  bool good = started || fail(workload->name, compiler, diags.count > 0 ? diags.items[0].text : "cannot be loaded");
  if (good && (!workload->prepare(&run) || !workload->launch(&run))) good = fail(workload->name, compiler, device_error(device));
  if (good && !workload_check(&run, workload)) good = fail(workload->name, compiler, run.failure);
  good = good && take_outputs(&run, arena, outputs);
  workload_finish(&run);
  device_free(device);
  diags_free(&diags);
  return good;
}

static double float_at(const uint8_t *bytes, ElementType type, uint64_t i) {
  float single;
  double twice;
  if (type == ELEMENT_F64) return memcpy(&twice, bytes + 8 * i, 8), twice;
  return memcpy(&single, bytes + 4 * i, 4), (double)single;
}

static bool compare_output(const char *name, const WorkloadOutput *output, const uint8_t *ours, const uint8_t *theirs) {
  uint32_t bytes = element_bytes(output->type);
  bool is_float = output->type == ELEMENT_F32 || output->type == ELEMENT_F64;
  double greatest = 0;
  for (uint64_t i = 0; i < output->count; i++) {
    if (memcmp(ours + i * bytes, theirs + i * bytes, bytes) == 0) continue;
    if (!is_float) {
      printf("%-14s %s[%" PRIu64 "] differs between clang's and nvcc's PTX\n", name, output->name, i);
      return false;
    }
    double a = float_at(ours, output->type, i), difference = fabs(a - float_at(theirs, output->type, i)) / fmax(1, fabs(a));
    if (!(difference <= greatest)) greatest = difference;
  }
  printf("%-14s %-14s %8" PRIu64 " x %s: ", name, output->name, output->count, element_names[output->type]);
  printf(greatest == 0 ? "the same\n" : "within %.2g\n", greatest);
  return true;
}

static bool compare(const char *name, const char *path, Arena *arena) {
  const Workload *workload = workload_find(name);
  Diags diags = {0};
  char *text;
  size_t length;
  if (workload == NULL) return fail(name, "nvcc", "no such workload");
  if (!file_read(arena, path, &text, &length, &diags)) return fail(name, "nvcc", diags.items[0].text);
  const PtxSource source = {path, text, length};
  Outputs ours, theirs;
  if (!run_with(workload, NULL, arena, &ours) || !run_with(workload, &source, arena, &theirs)) return false;
  bool good = true;
  for (uint32_t i = 0; i < ours.count; i++) good = compare_output(name, &ours.declared[i], ours.bytes[i], theirs.bytes[i]) && good;
  return good;
}

int main(int argc, char **argv) {
  bool good = argc > 1;
  for (int i = 1; i < argc; i++) {
    Arena *arena = arena_new();
    size_t length = strcspn(argv[i], "=");
    const char *name = arena_copy_text(arena, argv[i], length);
    good = argv[i][length] == '=' && compare(name, argv[i] + length + 1, arena) && good;
    arena_free(arena);
  }
  return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
