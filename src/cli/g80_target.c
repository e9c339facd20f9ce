// G80 machine code as a target of faults: every array passed to it is an output; without arrays, global memory is.
#include "cli/fault.h"
#include "machine/g80/g80.h"
#include "sass/sass.h"

typedef struct G80Target {
  const RunOptions *options;
  G80Call call;
  Device *device;
} G80Target;

static bool g80_target_start(Target *target, const HookChain *hooks, Diags *diags) {
  G80Target *own = target->own;
  Program *program = g80_call_compile(own->options, diags);
  if (program == NULL) return false;
  DeviceOptions options = {.spec = target->spec, .hooks = hooks, .launcher = target->launcher, .address_bits = program->address_bits};
  own->device = device_new(&options, diags);
  if (own->device == NULL) return program_free(program), false;
  own->call.request.module = device_load_program(own->device, program, diags);
  if (own->call.request.module == NULL) return false;
  if (g80_call_place(&own->call, own->device)) return true;
  return diags_add(diags, NULL, 0, 0, "%s: %s", target->name, device_error(own->device));
}

static bool g80_target_run(Target *target) {
  G80Target *own = target->own;
  return device_launch(own->device, &own->call.request);
}

static bool g80_target_check(Target *target) {
  (void)target;
  return true;
}

static void g80_target_outputs(Target *target, TargetOutputs *outputs, Arena *arena) {
  G80Target *own = target->own;
  outputs->count = 0;
  if (own->call.arrays == 0) {
    TargetOutput *all = &outputs->items[outputs->count++];
    *all = (TargetOutput){.name = "global", .type = ELEMENT_U32, .count = G80_GLOBAL_BYTES / 4, .address = own->call.memory};
    all->bytes = arena_alloc(arena, G80_GLOBAL_BYTES);
    device_read(own->device, all->bytes, all->address, G80_GLOBAL_BYTES);
  }
  arguments_as_outputs(own->call.arguments, own->call.argument_count, own->device, outputs, arena);
}

static Device *g80_target_device(Target *target) { return ((G80Target *)target->own)->device; }

static void g80_target_finish(Target *target) {
  G80Target *own = target->own;
  if (own->device != NULL) device_free(own->device);
  own->device = NULL;
}

// As `redoubt run` takes them, one per line: replay reads it back.
static const char *arguments_text(const RunOptions *options, const G80Call *call, Arena *arena) {
  Text text = {0};
  const uint32_t *grid = call->request.grid, *block = call->request.block;
  text_add(&text, "seed=%llu\n", (unsigned long long)options->seed);
  text_add(&text, "grid=%u,%u,%u\nblock=%u,%u,%u\n", grid[0], grid[1], grid[2], block[0], block[1], block[2]);
  if (options->shared_bytes > 0) text_add(&text, "shared=%u\n", options->shared_bytes);
  if (options->images.gmem_in != NULL) text_add(&text, "gmem-in=%s\n", options->images.gmem_in);
  if (options->images.cmem_in != NULL) text_add(&text, "cmem-in=%s\n", options->images.cmem_in);
  if (options->images.cmem_bytes != 0) text_add(&text, "cmem-bytes=%u\n", options->images.cmem_bytes);
  for (uint32_t i = 0; i < options->arguments.count; i++) text_add(&text, "arg=%s\n", options->arguments.items[i]);
  const char *copy = arena_copy_text(arena, text.at, text.length);
  text_free(&text);
  return copy;
}

Target *g80_target(const RunOptions *options, Arena *arena, Diags *diags) {
  G80Target *own = ARENA_NEW(arena, G80Target);
  own->options = options;
  Program *program = g80_call_compile(options, diags);
  bool good = program != NULL && g80_call_parse(&own->call, options, arena, program, diags);
  if (program != NULL) program_free(program);
  char *source;
  size_t length;
  if (!good || !file_read(arena, options->target, &source, &length, diags)) return NULL;
  Target *target = ARENA_NEW(arena, Target);
  *target = (Target){.name = options->target,
                     .arguments = arguments_text(options, &own->call, arena),
                     .spec = &options->spec,
                     .own = own,
                     .start = g80_target_start,
                     .run = g80_target_run,
                     .check = g80_target_check,
                     .outputs = g80_target_outputs,
                     .device = g80_target_device,
                     .finish = g80_target_finish};
  TargetSource text = {.file = options->target, .text = source, .length = length, .kernels = ""};
  target_add_source(target, arena, &text);
  return target;
}
