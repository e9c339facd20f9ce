// A kernel of a PTX file as a target of faults: every array passed to it is an output; there is no check of its own.
#include "cli/fault.h"

#include <stdio.h>

typedef struct PtxTarget {
  const RunOptions *options;
  Arena *arena;
  PtxCall call;
  Device *device;
} PtxTarget;

static bool ptx_target_start(Target *target, const HookChain *hooks, Diags *diags) {
  PtxTarget *own = target->own;
  Arena *scratch = arena_new();
  Program *program = ptx_call_compile(own->options, scratch, NULL, diags);
  bool good = program != NULL;
  if (good) {
    DeviceOptions options = {.spec = target->spec, .hooks = hooks, .launcher = target->launcher, .address_bits = program->address_bits};
    own->device = device_new(&options, diags);
    if (own->device == NULL) program_free(program);
    else own->call.request.module = device_load_program(own->device, program, diags);
    good = own->device != NULL && own->call.request.module != NULL;
  }
  if (good && !ptx_call_place(&own->call, own->device))
    good = diags_add(diags, NULL, 0, 0, "%s: %s", target->name, device_error(own->device));
  arena_free(scratch);
  return good;
}

static bool ptx_target_run(Target *target) {
  PtxTarget *own = target->own;
  return device_launch(own->device, &own->call.request);
}

static bool ptx_target_check(Target *target) {
  (void)target;
  return true;
}

// Untyped bits are compared as unsigned numbers.
static TargetOutput output_of(const Argument *array) {
  const Element *element = array->element;
  TargetOutput output = {.name = array->name[0] == '\0' ? array->text : array->name, .address = array->address, .count = array->count};
  for (uint32_t i = 0; i < ELEMENT_COUNT; i++) {
    bool is_bits = element->kind == KIND_OF_BITS && element_names[i][0] == 'u' && element_bytes((ElementType)i) == element->bytes;
    if (is_bits || strcmp(element_names[i], element->name) == 0) output.type = (ElementType)i;
  }
  return output;
}

void arguments_as_outputs(const Argument *arguments, uint32_t count, Device *device, TargetOutputs *outputs, Arena *arena) {
  for (uint32_t i = 0; i < count; i++) {
    if (!arguments[i].is_array) continue;
    TargetOutput *output = &outputs->items[outputs->count++];
    *output = output_of(&arguments[i]);
    uint64_t bytes = output->count * element_bytes(output->type);
    output->bytes = arena_alloc(arena, bytes);
    device_read(device, output->bytes, output->address, bytes);
  }
}

static void ptx_target_outputs(Target *target, TargetOutputs *outputs, Arena *arena) {
  PtxTarget *own = target->own;
  outputs->count = 0;
  arguments_as_outputs(own->call.arguments, own->call.argument_count, own->device, outputs, arena);
}

static Device *ptx_target_device(Target *target) { return ((PtxTarget *)target->own)->device; }

static void ptx_target_finish(Target *target) {
  PtxTarget *own = target->own;
  if (own->device != NULL) device_free(own->device);
  own->device = NULL;
}

// As `redoubt run` takes them, one per line: replay reads it back.
static const char *arguments_text(const RunOptions *options, const PtxCall *call, Arena *arena) {
  Text text = {0};
  const uint32_t *grid = call->request.grid, *block = call->request.block;
  text_add(&text, "kernel=%s\nseed=%llu\n", call->request.kernel, (unsigned long long)options->seed);
  text_add(&text, "grid=%u,%u,%u\nblock=%u,%u,%u\n", grid[0], grid[1], grid[2], block[0], block[1], block[2]);
  if (options->shared_bytes > 0) text_add(&text, "shared=%u\n", options->shared_bytes);
  if (options->cooperative) text_add(&text, "cooperative\n");
  for (uint32_t i = 0; i < options->arguments.count; i++) text_add(&text, "arg=%s\n", options->arguments.items[i]);
  const char *copy = arena_copy_text(arena, text.at, text.length);
  text_free(&text);
  return copy;
}

static uint32_t count_arrays(const PtxCall *call) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < call->argument_count; i++) count += call->arguments[i].is_array;
  return count;
}

Target *ptx_target(const RunOptions *options, Arena *arena, Diags *diags) {
  PtxTarget *own = ARENA_NEW(arena, PtxTarget);
  *own = (PtxTarget){.options = options, .arena = arena};
  const char *source = NULL;
  Program *program = ptx_call_compile(options, arena, &source, diags);
  bool good = program != NULL && ptx_call_parse(&own->call, options, arena, program, diags);
  if (program != NULL) program_free(program);
  if (good && count_arrays(&own->call) > TARGET_MAX_OUTPUTS) {
    good = diags_add(diags, NULL, 0, 0, "at most %d arrays can be compared as outputs", TARGET_MAX_OUTPUTS);
  }
  if (!good) return NULL;
  diags_free(diags);
  Target *target = ARENA_NEW(arena, Target);
  *target = (Target){.name = options->target,
                     .arguments = arguments_text(options, &own->call, arena),
                     .spec = &options->spec,
                     .own = own,
                     .start = ptx_target_start,
                     .run = ptx_target_run,
                     .check = ptx_target_check,
                     .outputs = ptx_target_outputs,
                     .device = ptx_target_device,
                     .finish = ptx_target_finish};
  TargetSource text = {.file = options->target, .text = source, .length = strlen(source), .kernels = ""};
  target_add_source(target, arena, &text);
  return target;
}
