// What workload files and those who run them share.
#include "device/workload.h"

#include "device/device_internal.h"
#include "sass/sass.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

const char *const workload_size_text[SIZE_COUNT] = {"tiny", "small", "default", "large"};

const char *const element_names[ELEMENT_COUNT] = {
#define ELEMENT(id, name, bytes) name,
#include "device/element.def"
#undef ELEMENT
};

uint32_t element_bytes(ElementType type) {
  static const uint8_t bytes_of[ELEMENT_COUNT] = {
#define ELEMENT(id, name, bytes) bytes,
#include "device/element.def"
#undef ELEMENT
  };
  return bytes_of[type];
}

const Workload *workload_find(const char *name) {
  for (uint32_t i = 0; i < workload_count; i++) {
    if (strcmp(workloads[i]->name, name) == 0) return workloads[i];
  }
  for (uint32_t i = 0; i < g80_workload_count; i++) {
    if (strcmp(g80_workloads[i]->name, name) == 0) return g80_workloads[i];
  }
  return NULL;
}

const char *workload_source(const Workload *workload) {
  bool is_g80 = workload->form == FORM_G80;
  const Workload *const *all = is_g80 ? g80_workloads : workloads;
  uint32_t count = is_g80 ? g80_workload_count : workload_count;
  for (uint32_t i = 0; i < count; i++) {
    if (all[i] == workload) return is_g80 ? g80_workload_sass[i] : workload_ptx[i];
  }
  return NULL;
}

uint32_t workload_param_count(const Workload *workload) {
  uint32_t count = 0;
  while (count < WORKLOAD_MAX_PARAMS && workload->params[count].name != NULL) count++;
  return count;
}

uint32_t workload_trait_count(const Workload *workload) {
  uint32_t count = 0;
  while (count < WORKLOAD_MAX_TRAITS && workload->traits[count].why != NULL) count++;
  return count;
}

bool workload_trait_holds(const WorkloadTrait *trait, const Stats *stats, double *value) {
  *value = 0;
  if (!ratio_value(trait->ratio, stats, value)) return false;
  return trait->bound == TRAIT_AT_LEAST ? *value >= trait->value : *value <= trait->value;
}

// The module is there: parameters at that size.
static bool start_loaded(WorkloadRun *run, const Workload *workload, WorkloadSize size, Device *device, Module *module) {
  *run = (WorkloadRun){.device = device, .seed = 1, .module = module};
  if (module == NULL) return false;
  run->arena = arena_new();
  for (uint32_t i = 0; i < workload_param_count(workload); i++) run->param[i] = workload->params[i].value[size];
  return true;
}

static Module *load_g80(const Workload *workload, const char *text, Device *device, Diags *diags) {
  SassProgram *sass = sass_assemble(workload->name, text, strlen(text), diags);
  return sass == NULL ? NULL : device_load_program(device, sass_to_program(sass), diags);
}

bool workload_start(WorkloadRun *run, const Workload *workload, WorkloadSize size, Device *device, Diags *diags) {
  *run = (WorkloadRun){.device = device};
  const char *text = workload_source(workload);
  if (text == NULL) return diags_add(diags, NULL, 0, 0, "workload %s is not built in", workload->name);
  if (workload->form == FORM_G80) return start_loaded(run, workload, size, device, load_g80(workload, text, device, diags));
  char file[128];
  snprintf(file, sizeof file, "workloads/%s/kernel.ptx", workload->name);
  PtxSource source = {device_name_copy(device, file), text, strlen(text)};
  return workload_start_from(run, workload, size, device, &source, diags);
}

bool workload_start_from(WorkloadRun *run, const Workload *workload, WorkloadSize size, Device *device, const PtxSource *source,
                         Diags *diags) {
  return start_loaded(run, workload, size, device, device_load_ptx(device, source, 1, diags));
}

bool workload_set(WorkloadRun *run, const Workload *workload, const char *name, const char *value, Diags *diags) {
  uint32_t count = workload_param_count(workload);
  const char *names[WORKLOAD_MAX_PARAMS] = {0};
  for (uint32_t i = 0; i < count; i++) {
    const WorkloadParam *param = &workload->params[i];
    names[i] = param->name;
    if (strcmp(param->name, name) != 0) continue;
    const char *end = value;
    uint64_t number;
    bool is_number = text_number(&end, true, &number) && *end == '\0';
    if (!is_number || number < param->least || number > param->most)
      return diags_add(diags, NULL, 0, 0, "%s = %s: must be %" PRIu64 " to %" PRIu64, name, value, param->least, param->most);
    run->param[i] = number;
    return true;
  }
  const char *near = text_nearest(name, names, count);
  if (near != NULL)
    return diags_add(diags, NULL, 0, 0, "workload %s has no parameter '%s'; did you mean '%s'?", workload->name, name, near);
  Text all = {0};
  for (uint32_t i = 0; i < count; i++) text_add(&all, "%s%s", i == 0 ? "" : ", ", names[i]);
  diags_add(diags, NULL, 0, 0, "workload %s has no parameter '%s'; it has %s", workload->name, name, count == 0 ? "none" : all.at);
  text_free(&all);
  return false;
}

void workload_finish(WorkloadRun *run) {
  arena_free(run->arena);
  run->arena = NULL;
}

DeviceAddress workload_buffer(WorkloadRun *run, const void *from, uint64_t bytes) {
  DeviceAddress address = device_alloc(run->device, bytes);
  if (address == 0) return 0;
  bool ok = from == NULL ? device_set(run->device, address, 0, bytes) : device_write(run->device, address, from, bytes);
  return ok ? address : 0;
}

bool workload_constant(WorkloadRun *run, const char *name, const void *from, uint64_t bytes) {
  DeviceAddress address;
  uint64_t room;
  if (!module_symbol(run->module, name, &address, &room)) return false;
  if (bytes > room) return device_fail(run->device, "'%s' has %" PRIu64 " bytes, not %" PRIu64, name, room, bytes);
  return device_write(run->device, address, from, bytes);
}

static TexelKind texel_kind(ElementType type) {
  switch (type) {
  case ELEMENT_F16:
  case ELEMENT_F32: return TEXEL_FLOAT;
  case ELEMENT_S8:
  case ELEMENT_S16:
  case ELEMENT_S32: return TEXEL_SIGNED;
  default: return TEXEL_UNSIGNED;
  }
}

uint64_t workload_texture(WorkloadRun *run, DeviceAddress from, ElementType type, uint8_t elements, uint32_t texels) {
  ASSERT(element_bytes(type) <= 4 && type != ELEMENT_BF16 && (elements == 1 || elements == 2 || elements == 4));
  if (from == 0) return 0;
  Texture texture = {.shape = TEXTURE_1D, .linear_memory = true, .kind = texel_kind(type), .level_count = 1};
  for (uint8_t i = 0; i < elements; i++) texture.channel_bits[i] = (uint8_t)(8 * element_bytes(type));
  texture.levels[0] = (TextureLevel){.address = from, .width = texels};
  return device_texture_new(run->device, &texture);
}

void workload_output(WorkloadRun *run, const char *name, DeviceAddress address, ElementType type, uint64_t count) {
  ASSERT(run->output_count < WORKLOAD_MAX_OUTPUTS);
  run->outputs[run->output_count++] = (WorkloadOutput){name, address, type, count, 0};
}

void workload_output_matrix(WorkloadRun *run, const char *name, DeviceAddress address, ElementType type, uint64_t rows, uint64_t columns) {
  workload_output(run, name, address, type, rows * columns);
  run->outputs[run->output_count - 1].width = columns;
}

bool workload_launch(WorkloadRun *run, const char *kernel, const uint32_t grid[3], const uint32_t block[3], uint32_t dynamic_shared_bytes,
                     const void *const *arguments, uint32_t argument_count) {
  LaunchRequest request = {.module = run->module,
                           .kernel = kernel,
                           .dynamic_shared_bytes = dynamic_shared_bytes,
                           .arguments = arguments,
                           .argument_count = argument_count};
  memcpy(request.grid, grid, sizeof request.grid);
  memcpy(request.block, block, sizeof request.block);
  return device_launch(run->device, &request);
}

float *workload_random_f32(WorkloadRun *run, uint64_t count, uint64_t stream, float least, float most) {
  float *values = ARENA_ARRAY(run->arena, float, count);
  for (uint64_t i = 0; i < count; i++) values[i] = least + (most - least) * random_unit_f32(random_draw(run->seed, i, stream));
  return values;
}

bool workload_refuse(WorkloadRun *run, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(run->device->error, sizeof run->device->error, format, arguments);
  va_end(arguments);
  return false;
}

bool workload_fail(WorkloadRun *run, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(run->failure, sizeof run->failure, format, arguments);
  va_end(arguments);
  return false;
}

bool workload_check(WorkloadRun *run, const Workload *workload) {
  run->lasting = run->arena;
  run->arena = arena_new();
  bool right = workload->check(run);
  arena_free(run->arena);
  run->arena = run->lasting;
  return right;
}

double *workload_expected(WorkloadRun *run, uint64_t count, bool *missing) {
  *missing = run->expected == NULL;
  if (*missing) run->expected = ARENA_ARRAY(run->lasting, double, count);
  return run->expected;
}

static bool is_far(float got, double expected, double tolerance) {
  double size = fabs(expected);
  return !(fabs((double)got - expected) <= tolerance * (size > 1 ? size : 1)); // true for NaN
}

// Without branches: campaigns do this for each wrong output, of which little is wrong.
static bool any_far(const float *got, const double *expected, uint64_t count, double tolerance) {
  uint64_t far = 0;
  for (uint64_t i = 0; i < count; i++) far |= is_far(got[i], expected[i], tolerance);
  return far != 0;
}

bool workload_near(WorkloadRun *run, const char *name, const float *got, const double *expected, uint64_t count, double tolerance) {
  enum { STRIP = 4096 };
  uint64_t near = 0;
  while (near < count && !any_far(got + near, expected + near, min_u64(STRIP, count - near), tolerance)) near += STRIP;
  for (uint64_t i = near; i < count; i++) {
    if (!is_far(got[i], expected[i], tolerance)) continue;
    return workload_fail(run, "%s[%" PRIu64 "] is %.9g, expected %.9g within %g", name, i, (double)got[i], expected[i], tolerance);
  }
  return true;
}

// The last step's array goes to `expected`.
static void take_steps(const WorkloadRun *run, const WorkloadSteps *steps, double *expected, double *other) {
  double *now = steps->steps % 2 == 0 ? expected : other, *next = now == expected ? other : expected;
  for (uint64_t i = 0; i < steps->count; i++) expected[i] = other[i] = (double)steps->first[i];
  for (uint32_t step = 0; step < steps->steps; step++) {
    steps->step(run->data, now, next);
    double *before = now;
    now = next;
    next = before;
  }
}

bool workload_steps_near(WorkloadRun *run, const WorkloadSteps *steps, double tolerance) {
  float *got = ARENA_ARRAY(run->arena, float, steps->count);
  bool missing;
  double *expected = workload_expected(run, steps->count, &missing);
  if (!device_read(run->device, got, steps->address, steps->count * 4)) return false;
  if (missing) take_steps(run, steps, expected, ARENA_ARRAY(run->arena, double, steps->count));
  return workload_near(run, steps->name, got, expected, steps->count, tolerance);
}
