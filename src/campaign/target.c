// Targets and how their runs are judged.
#include "campaign/target.h"
#include "campaign/order.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// ---- Workloads -------------------------------------------------------------------------------------

typedef struct WorkloadTarget {
  WorkloadChoice choice;
  WorkloadRun run;
  Device *device;
} WorkloadTarget;

static bool set_params(WorkloadRun *run, const WorkloadChoice *choice, Diags *diags) {
  for (uint32_t i = 0; i < choice->param_count; i++) {
    char name[64];
    const char *equals = strchr(choice->params[i], '=');
    size_t length = equals == NULL ? sizeof name : (size_t)(equals - choice->params[i]);
    if (length >= sizeof name) return diags_add(diags, NULL, 0, 0, "parameter '%s': not NAME=NUMBER", choice->params[i]);
    memcpy(name, choice->params[i], length);
    name[length] = '\0';
    if (!workload_set(run, choice->workload, name, equals + 1, diags)) return false;
  }
  return true;
}

static bool workload_target_start(Target *target, const HookChain *hooks, Diags *diags) {
  WorkloadTarget *own = target->own;
  DeviceOptions options = {.spec = target->spec, .hooks = hooks, .launcher = target->launcher};
  if (own->choice.workload->form == FORM_G80) options.address_bits = 32;
  own->device = device_new(&options, diags);
  if (own->device == NULL) return false;
  own->run = (WorkloadRun){.seed = own->choice.seed};
  if (!workload_start(&own->run, own->choice.workload, own->choice.size, own->device, diags)) return false;
  own->run.seed = own->choice.seed;
  if (!set_params(&own->run, &own->choice, diags)) return false;
  if (own->choice.workload->prepare(&own->run)) return true;
  return diags_add(diags, NULL, 0, 0, "%s: %s", target->name, device_error(own->device));
}

static bool workload_target_run(Target *target) {
  WorkloadTarget *own = target->own;
  return own->choice.workload->launch(&own->run);
}

static bool workload_target_check(Target *target) {
  WorkloadTarget *own = target->own;
  return workload_check(&own->run, own->choice.workload);
}

static void workload_target_outputs(Target *target, TargetOutputs *outputs, Arena *arena) {
  WorkloadTarget *own = target->own;
  outputs->count = own->run.output_count;
  for (uint32_t i = 0; i < outputs->count; i++) {
    const WorkloadOutput *from = &own->run.outputs[i];
    TargetOutput *to = &outputs->items[i];
    uint64_t bytes = from->count * element_bytes(from->type);
    *to = (TargetOutput){from->name, from->type, from->count, from->width, arena_alloc(arena, bytes), from->address, NULL};
    device_read(own->device, to->bytes, from->address, bytes);
  }
}

static Device *workload_target_device(Target *target) { return ((WorkloadTarget *)target->own)->device; }

static void workload_target_finish(Target *target) {
  WorkloadTarget *own = target->own;
  workload_finish(&own->run);
  device_free(own->device);
  own->device = NULL;
}

static void add_workload_source(Target *target, Arena *arena, const Workload *workload) {
  const char *text = workload_source(workload);
  if (text == NULL) return;
  target_add_source(target, arena, &(TargetSource){.file = workload->name, .text = text, .length = strlen(text), .kernels = ""});
}

Target *target_workload(Arena *arena, const WorkloadChoice *choice, const Spec *spec, Diags *diags) {
  Target *target = ARENA_NEW(arena, Target);
  WorkloadTarget *own = ARENA_NEW(arena, WorkloadTarget);
  own->choice = *choice;
  Text text = {0};
  text_add(&text, "size=%s\nseed=%llu\n", workload_size_text[choice->size], (unsigned long long)choice->seed);
  for (uint32_t i = 0; i < choice->param_count; i++) text_add(&text, "%s\n", choice->params[i]);
  *target = (Target){.name = choice->workload->name,
                     .arguments = arena_copy_text(arena, text.at, text.length),
                     .spec = spec,
                     .has_check = true,
                     .is_repeatable = true,
                     .own = own,
                     .start = workload_target_start,
                     .run = workload_target_run,
                     .check = workload_target_check,
                     .outputs = workload_target_outputs,
                     .device = workload_target_device,
                     .finish = workload_target_finish};
  text_free(&text);
  add_workload_source(target, arena, choice->workload);
  (void)diags;
  return target;
}

// ---- Sources ---------------------------------------------------------------------------------------

void target_add_source(Target *target, Arena *arena, const TargetSource *source) {
  TargetSource *item = VEC_PUSH(&target->sources, arena);
  *item = *source;
  item->origins = ptx_origins(arena, item->text, item->length);
}

static bool defines(const TargetSource *source, const char *kernel) {
  size_t length = strlen(kernel);
  for (const char *name = source->kernels; *name != '\0'; name += strcspn(name, "\n") + 1) {
    if (strcspn(name, "\n") == length && strncmp(name, kernel, length) == 0) return true;
  }
  return source->kernels[0] == '\0' && source->program == 0;
}

const TargetSource *target_source_of(const TargetSources *sources, const char *kernel) {
  for (uint32_t i = 0; i < sources->count; i++) {
    if (defines(&sources->items[i], kernel)) return &sources->items[i];
  }
  return NULL;
}

const TargetSource *target_source_at(const TargetSources *sources, uint64_t program, uint32_t index) {
  for (uint32_t i = 0; i < sources->count; i++) {
    const TargetSource *source = &sources->items[i];
    if (source->program == 0 || (source->program == program && source->index == index)) return source;
  }
  return NULL;
}

Slice target_source_line(const TargetSource *source, uint32_t line) {
  const char *text = source->text;
  for (uint32_t i = 1; i < line && text != NULL; i++) {
    text = strchr(text, '\n');
    if (text != NULL) text++;
  }
  if (text == NULL || line == 0) return (Slice){"", 0};
  text += strspn(text, " \t");
  return (Slice){text, (uint32_t)strcspn(text, ";\n")};
}

// ---- Judging ---------------------------------------------------------------------------------------

uint64_t target_stat(Target *target, StatId stat) {
  Device *device = target->device(target);
  uint64_t sum = 0;
  for (uint32_t i = 0; i < device_launch_count(device); i++) sum += device_launch_record(device, i)->stats.value[stat];
  return sum;
}

uint64_t target_corrected(Target *target) { return target_stat(target, STAT_CORRECTED) + target->repaired; }

uint64_t target_hash_with(Target *target, const Machine *machine) {
  Device *device = target->device(target);
  uint64_t parts[2] = {machine_hash(machine), target->seen != NULL ? target->seen(target) : device_seen(device)};
  return hash_bytes(parts, sizeof parts, 0);
}

uint64_t target_hash(Target *target) { return target_hash_with(target, device_machine(target->device(target))); }

uint64_t target_cycles(Target *target) {
  Device *device = target->device(target);
  bool has_time = device_machine(device) != NULL && machine_can(device_spec(device), MACHINE_HAS_TIME);
  return has_time ? machine_now(device_machine(device)) : target_stat(target, STAT_CYCLES);
}

Outcome target_trap_outcome(TrapKind kind) {
  switch (kind) {
  case TRAP_ILLEGAL_ADDRESS: return OUTCOME_DUE_ADDRESS;
  case TRAP_MISALIGNED: return OUTCOME_DUE_MISALIGNED;
  case TRAP_ILLEGAL_INSTRUCTION:
  case TRAP_INVALID_PC: return OUTCOME_DUE_INSTRUCTION;
  case TRAP_HANG:
  case TRAP_BARRIER_DEADLOCK: return OUTCOME_DUE_HANG;
  case TRAP_ASSERT: return OUTCOME_DUE_ASSERT;
  case TRAP_LIMIT:
  case TRAP_STOPPED: return OUTCOME_TIMEOUT;
  case TRAP_DETECTED: return OUTCOME_DETECTED;
  case TRAP_NONE: return OUTCOME_DUE_HOST; // a launch was refused: the host code saw wrong data
  default: return OUTCOME_DUE_TRAP;
  }
}

double target_element(const TargetOutput *output, uint64_t index) {
  return element_number(output->type, output->bytes + index * element_bytes(output->type));
}

static double relative_error(double golden, double got) {
  double scale = fabs(golden);
  if (isnan(got) || isinf(got) || isnan(golden)) return INFINITY;
  return scale == 0 ? fabs(got) : fabs(got - golden) / scale;
}

static void widen_area(WrongArea *area, const TargetOutput *output, uint64_t index, bool is_first) {
  uint64_t row = output->width == 0 ? 0 : index / output->width, column = output->width == 0 ? index : index % output->width;
  if (is_first) *area = (WrongArea){output, false, row, row, column, column};
  area->in_several |= area->output != output;
  area->least_row = min_u64(area->least_row, row);
  area->most_row = max_u64(area->most_row, row);
  area->least_column = min_u64(area->least_column, column);
  area->most_column = max_u64(area->most_column, column);
}

// All elements of the tolerance's type that these bytes are in.
static bool is_tolerated(const TargetOutput *golden, const TargetOutput *got, uint64_t at, uint32_t bytes) {
  const OutputTolerance *tolerance = golden->tolerance;
  if (tolerance == NULL) return false;
  uint64_t size = element_bytes(tolerance->type), first = at / size * size, all = golden->count * element_bytes(golden->type);
  uint64_t end = min_u64(align_up(at + bytes, size), all);
  return tolerance_accepts(tolerance, golden->bytes + first, got->bytes + first, end - first);
}

bool target_tolerate(TargetOutputs *golden, const OutputTolerances *tolerances, Arena *arena, Diags *diags) {
  for (uint32_t i = 0; i < tolerances->count; i++) {
    const char *name = tolerances->items[i].name, *all = "";
    TargetOutput *output = NULL;
    for (uint32_t k = 0; k < golden->count; k++) {
      if (strcmp(golden->items[k].name, name) == 0) output = &golden->items[k];
      all = arena_format(arena, "%s%s%s", all, k == 0 ? "" : ", ", golden->items[k].name);
    }
    if (output == NULL) return diags_add(diags, NULL, 0, 0, "--tolerance %s: there is no such output; there are: %s", name, all);
    OutputTolerance *tolerance = ARENA_NEW(arena, OutputTolerance);
    *tolerance = tolerances->items[i];
    if (!tolerance->has_type) tolerance->type = output->type;
    uint64_t bytes = output->count * element_bytes(output->type);
    if (bytes % element_bytes(tolerance->type) != 0)
      return diags_add(diags, NULL, 0, 0, "--tolerance %s: its %llu bytes are no whole number of %s", name, (unsigned long long)bytes,
                       element_names[tolerance->type]);
    output->tolerance = tolerance;
  }
  return true;
}

Outcome target_wrong_outcome(Target *target, const Judgement *judgement) {
  if (judgement->beyond == 0) return OUTCOME_TOLERATED;
  if (!target->has_check) return OUTCOME_SDC;
  return target->check(target) ? OUTCOME_SDC_TOLERABLE : OUTCOME_SDC_CRITICAL;
}

void target_compare_element(const TargetOutput *golden, const TargetOutput *got, uint64_t index, Judgement *judgement) {
  uint32_t bytes = element_bytes(golden->type);
  if (memcmp(golden->bytes + index * bytes, got->bytes + index * bytes, bytes) == 0) return;
  double error = relative_error(target_element(golden, index), target_element(got, index));
  judgement->wrong++;
  judgement->beyond += !is_tolerated(golden, got, index * bytes, bytes);
  if (error > judgement->worst) judgement->worst = error;
  widen_area(&judgement->area, golden, index, judgement->wrong == 1);
}

WrongPattern target_pattern(const Judgement *judgement) {
  const WrongArea *area = &judgement->area;
  if (judgement->wrong <= 1) return judgement->wrong == 0 ? PATTERN_NONE : PATTERN_SINGLE;
  uint64_t rows = area->most_row - area->least_row + 1, columns = area->most_column - area->least_column + 1;
  if (area->in_several) return PATTERN_SCATTERED;
  if (area->output->width == 0) return columns == judgement->wrong ? PATTERN_ROW : PATTERN_SCATTERED;
  if (rows == 1) return PATTERN_ROW;
  if (columns == 1) return PATTERN_COLUMN;
  return 2 * judgement->wrong >= rows * columns ? PATTERN_BLOCK : PATTERN_SCATTERED;
}

void target_compare(const TargetOutputs *golden, const TargetOutputs *got, Judgement *judgement) {
  for (uint32_t i = 0; i < golden->count && i < got->count; i++) {
    const TargetOutput *a = &golden->items[i], *b = &got->items[i];
    if (memcmp(a->bytes, b->bytes, a->count * element_bytes(a->type)) == 0) continue;
    for (uint64_t k = 0; k < a->count; k++) target_compare_element(a, b, k, judgement);
  }
}

void target_answers(Target *target, const HookChain *protections, bool answers) {
  target->unanswered = !answers;
  if (protections != NULL) hook_chain_answers(protections, answers);
}

void target_judge(Target *target, bool done, const TargetRight *right, Arena *arena, Judgement *judgement) {
  *judgement = (Judgement){.cycles = target_cycles(target)};
  Device *device = target->device(target);
  if (!done) {
    judgement->outcome = target->gave_up ? OUTCOME_DETECTED : target_trap_outcome(device_trap(device)->kind);
    snprintf(judgement->note, sizeof judgement->note, "%s", device_error(device));
    return;
  }
  TargetOutputs got = {0};
  target->outputs(target, &got, arena);
  target_compare(right->outputs, &got, judgement);
  if (judgement->wrong > 0) {
    judgement->outcome = target_wrong_outcome(target, judgement);
    bool is_sdc = strcmp(outcome_info[judgement->outcome].group, "sdc") == 0;
    if (is_sdc && order_explains(right->order, target, &got)) judgement->outcome = OUTCOME_SDC_ORDER;
  } else if (target_corrected(target) > right->corrected) {
    judgement->outcome = OUTCOME_CORRECTED;
  } else {
    judgement->outcome = judgement->cycles == right->cycles ? OUTCOME_MASKED : OUTCOME_PERFORMANCE;
  }
}
