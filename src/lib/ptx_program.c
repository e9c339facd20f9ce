// A kernel of PTX text with its arguments, as a target: every array is an output, and it has no check of its own.
#include "lib/lib_internal.h"

#include <inttypes.h>
#include <stdio.h>

typedef struct KernelArgument {
  ElementType type;
  const char *name;
  const void *data; // NULL: zeros
  uint64_t count;   // 0: one value
  DeviceAddress address;
} KernelArgument;

typedef struct PtxProgram {
  PtxSource source;
  MirOptions limits;
  LaunchRequest request;
  KernelArgument *arguments;
  const void **pointers;
  uint32_t count;
  Device *device;
} PtxProgram;

// ---- As a target -----------------------------------------------------------------------------------

static bool place(PtxProgram *own) {
  for (uint32_t i = 0; i < own->count; i++) {
    KernelArgument *argument = &own->arguments[i];
    own->pointers[i] = argument->count > 0 ? (const void *)&argument->address : argument->data;
    if (argument->count == 0) continue;
    uint64_t bytes = argument->count * element_bytes(argument->type);
    argument->address = device_alloc(own->device, bytes);
    if (argument->address == 0) return false;
    bool good = argument->data == NULL ? device_set(own->device, argument->address, 0, bytes)
                                       : device_write(own->device, argument->address, argument->data, bytes);
    if (!good) return false;
  }
  return true;
}

static bool start(Target *target, const HookChain *hooks, Diags *diags) {
  PtxProgram *own = target->own;
  Program *program = ptx_compile(&own->source, 1, &own->limits, diags);
  if (program == NULL) return false;
  DeviceOptions options = {.spec = target->spec, .hooks = hooks, .launcher = target->launcher, .address_bits = program->address_bits};
  own->device = device_new(&options, diags);
  if (own->device == NULL) {
    program_free(program);
    return false;
  }
  own->request.module = device_load_program(own->device, program, diags);
  if (own->request.module == NULL) return false;
  return place(own) || diags_add(diags, NULL, 0, 0, "%s: %s", target->name, device_error(own->device));
}

static bool run(Target *target) {
  PtxProgram *own = target->own;
  return device_launch(own->device, &own->request);
}

static bool check(Target *target) {
  (void)target;
  return true;
}

static void read_outputs(Target *target, TargetOutputs *outputs, Arena *arena) {
  PtxProgram *own = target->own;
  outputs->count = 0;
  for (uint32_t i = 0; i < own->count; i++) {
    const KernelArgument *argument = &own->arguments[i];
    if (argument->count == 0) continue;
    uint64_t bytes = argument->count * element_bytes(argument->type);
    TargetOutput *output = &outputs->items[outputs->count++];
    *output = (TargetOutput){.name = argument->name, .type = argument->type, .count = argument->count, .address = argument->address};
    output->bytes = arena_alloc(arena, bytes);
    device_read(own->device, output->bytes, output->address, bytes);
  }
}

static Device *device_of(Target *target) { return ((PtxProgram *)target->own)->device; }

static void finish(Target *target) {
  PtxProgram *own = target->own;
  if (own->device != NULL) device_free(own->device);
  own->device = NULL;
}

// ---- What the caller gave --------------------------------------------------------------------------

static bool copy_argument(Arena *arena, uint64_t memory_bytes, const RedoubtArgument *from, uint32_t index, KernelArgument *to,
                          Diags *diags) {
  uint32_t type = 0;
  while (type < ELEMENT_COUNT && (from->type == NULL || strcmp(element_names[type], from->type) != 0)) type++;
  if (type == ELEMENT_COUNT)
    return diags_add(diags, NULL, 0, 0, "argument %u: type '%s' is not known", index + 1, from->type == NULL ? "" : from->type);
  if (from->count == 0 && from->data == NULL) return diags_add(diags, NULL, 0, 0, "argument %u: a value needs data", index + 1);
  if (from->count > memory_bytes / element_bytes((ElementType)type))
    return diags_add(diags, NULL, 0, 0, "argument %u: %" PRIu64 " elements do not fit into the memory of %" PRIu64 " bytes (memory.bytes)",
                     index + 1, from->count, memory_bytes);
  uint64_t bytes = (from->count == 0 ? 1 : from->count) * element_bytes((ElementType)type);
  *to = (KernelArgument){.type = (ElementType)type, .count = from->count};
  to->name = from->name != NULL ? arena_copy_text(arena, from->name, strlen(from->name)) : arena_format(arena, "argument %u", index + 1);
  if (from->data == NULL) return true;
  void *copy = arena_alloc(arena, bytes);
  memcpy(copy, from->data, bytes);
  to->data = copy;
  return true;
}

// NULL finds the only one.
static const Function *find_kernel(const Program *program, const char *name, Diags *diags) {
  const Function *found = NULL;
  uint32_t count = 0;
  for (uint32_t i = 0; i < program->function_count; i++) {
    const Function *function = &program->functions[i];
    if (!function->is_kernel) continue;
    if (name != NULL && strcmp(function->name, name) == 0) return function;
    if (name != NULL && !symbol_is_called(function->name, name)) continue;
    found = function;
    count++;
  }
  if (count == 1) return found;
  diags_add(diags, program->file, 0, 0, "%u kernels are called '%s'", count, name == NULL ? "" : name);
  return NULL;
}

static bool fits(const PtxProgram *own, const Function *kernel, uint32_t address_bytes, Diags *diags) {
  uint32_t arrays = 0;
  for (uint32_t i = 0; i < own->count; i++) {
    const KernelArgument *argument = &own->arguments[i];
    arrays += argument->count > 0;
    uint32_t bytes = argument->count > 0 ? address_bytes : element_bytes(argument->type);
    if (bytes != kernel->params[i].bytes)
      return diags_add(diags, NULL, 0, 0, "argument %u has %u bytes, but parameter %u of '%s' has %u", i + 1, bytes, i + 1,
                       SHORT_NAME(kernel->name), kernel->params[i].bytes);
  }
  if (arrays > TARGET_MAX_OUTPUTS) return diags_add(diags, NULL, 0, 0, "at most %d arrays can be compared as outputs", TARGET_MAX_OUTPUTS);
  return true;
}

// As many as the kernel takes, copied.
static bool take_arguments(PtxProgram *own, Arena *arena, uint64_t memory_bytes, const Function *kernel, const RedoubtLaunch *launch,
                           Diags *diags) {
  own->count = launch->argument_count;
  if (own->count != kernel->param_count)
    return diags_add(diags, NULL, 0, 0, "kernel '%s' takes %u arguments, not %u", SHORT_NAME(kernel->name), kernel->param_count,
                     own->count);
  if (own->count > 0 && launch->arguments == NULL) return diags_add(diags, NULL, 0, 0, "launch.arguments is NULL");
  own->arguments = ARENA_ARRAY(arena, KernelArgument, own->count + 1);
  own->pointers = ARENA_ARRAY(arena, const void *, own->count + 1);
  for (uint32_t i = 0; i < own->count; i++) {
    if (!copy_argument(arena, memory_bytes, &launch->arguments[i], i, &own->arguments[i], diags)) return false;
  }
  return true;
}

// What decides the run, for the journal. Contents of arrays are told by their hash.
static const char *arguments_text(const PtxProgram *own, Arena *arena) {
  Text text = {0};
  const uint32_t *grid = own->request.grid, *block = own->request.block;
  text_add(&text, "kernel=%s\ngrid=%u,%u,%u\nblock=%u,%u,%u\nshared=%u\n", own->request.kernel, grid[0], grid[1], grid[2], block[0],
           block[1], block[2], own->request.dynamic_shared_bytes);
  for (uint32_t i = 0; i < own->count; i++) {
    const KernelArgument *argument = &own->arguments[i];
    uint64_t bytes = (argument->count == 0 ? 1 : argument->count) * element_bytes(argument->type);
    uint64_t hash = argument->data == NULL ? 0 : hash_bytes(argument->data, bytes, 0);
    text_add(&text, "library-arg=%s:%s[%" PRIu64 "]=%016" PRIx64 "\n", argument->name, element_names[argument->type], argument->count,
             hash);
  }
  const char *copy = arena_copy_text(arena, text.at, text.length);
  text_free(&text);
  return copy;
}

// The kernel as the text defines it: its whole name, its threads if it requires some.
static bool take_kernel(PtxProgram *own, Arena *arena, uint64_t memory_bytes, const RedoubtLaunch *launch, Diags *diags) {
  Program *program = ptx_compile(&own->source, 1, &own->limits, diags);
  if (program == NULL) return false;
  const Function *kernel = find_kernel(program, launch->kernel, diags);
  bool good = kernel != NULL && take_arguments(own, arena, memory_bytes, kernel, launch, diags) &&
              fits(own, kernel, program->address_bits / 8, diags);
  if (good) {
    own->request = (LaunchRequest){.kernel = arena_copy_text(arena, kernel->name, strlen(kernel->name)),
                                   .dynamic_shared_bytes = launch->dynamic_shared_bytes,
                                   .arguments = own->pointers,
                                   .argument_count = own->count};
    for (int i = 0; i < 3; i++) {
      own->request.grid[i] = max_u32(launch->grid[i], 1);
      own->request.block[i] = max_u32(launch->block[0] != 0 ? launch->block[i] : kernel->required_threads[i], 1);
    }
  }
  program_free(program);
  return good;
}

Target *lib_ptx_target(RedoubtProgram *program, const char *name, const char *text, const RedoubtLaunch *launch, Diags *diags) {
  Arena *arena = program->arena;
  PtxProgram *own = ARENA_NEW(arena, PtxProgram);
  size_t length = strlen(text);
  own->source =
      (PtxSource){.file = arena_copy_text(arena, name, strlen(name)), .text = arena_copy_text(arena, text, length), .length = length};
  own->limits = (MirOptions){(uint32_t)program->spec.limit_registers, (uint32_t)program->spec.sm_registers};
  if (!take_kernel(own, arena, program->spec.memory_bytes, launch, diags)) return NULL;
  Target *target = ARENA_NEW(arena, Target);
  *target = (Target){.name = own->source.file,
                     .arguments = arguments_text(own, arena),
                     .spec = &program->spec,
                     .own = own,
                     .start = start,
                     .run = run,
                     .check = check,
                     .outputs = read_outputs,
                     .device = device_of,
                     .finish = finish};
  TargetSource source = {.file = own->source.file, .text = own->source.text, .length = own->source.length, .kernels = ""};
  target_add_source(target, arena, &source);
  return target;
}
