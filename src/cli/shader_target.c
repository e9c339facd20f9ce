// A fragment program as a target of faults: the frame is its output, four floats for each fragment.
#include "cli/fault.h"
#include "machine/fragment/fragment.h"

typedef struct ShaderTarget {
  const RunOptions *options;
  ShaderCall call;
  Device *device;
} ShaderTarget;

static bool target_start(Target *target, const HookChain *hooks, Diags *diags) {
  ShaderTarget *own = target->own;
  Program *program = shader_call_compile(own->options, diags);
  if (program == NULL) return false;
  DeviceOptions options = {.spec = target->spec, .hooks = hooks, .launcher = target->launcher, .address_bits = program->address_bits};
  own->device = device_new(&options, diags);
  if (own->device == NULL) return program_free(program), false;
  own->call.request.module = device_load_program(own->device, program, diags);
  if (own->call.request.module == NULL) return false;
  if (shader_call_place(&own->call, own->device)) return true;
  return diags_add(diags, NULL, 0, 0, "%s: %s", target->name, device_error(own->device));
}

static bool target_run(Target *target) {
  ShaderTarget *own = target->own;
  return device_launch(own->device, &own->call.request);
}

static bool target_check(Target *target) {
  (void)target;
  return true;
}

static void target_outputs(Target *target, TargetOutputs *outputs, Arena *arena) {
  ShaderTarget *own = target->own;
  TargetOutput *frame = &outputs->items[0];
  uint64_t count = (uint64_t)own->call.width * own->call.height * 4;
  *frame = (TargetOutput){
      .name = "frame", .type = ELEMENT_F32, .count = count, .width = 4 * (uint64_t)own->call.width, .address = own->call.frame};
  frame->bytes = arena_alloc(arena, count * 4);
  device_read(own->device, frame->bytes, frame->address, count * 4);
  outputs->count = 1;
}

static Device *target_device(Target *target) { return ((ShaderTarget *)target->own)->device; }

static void target_finish(Target *target) {
  ShaderTarget *own = target->own;
  if (own->device != NULL) device_free(own->device);
  own->device = NULL;
}

// As `redoubt run` takes them, one per line: replay reads it back.
static const char *arguments_text(const RunOptions *options, const ShaderCall *call, Arena *arena) {
  Text text = {0};
  text_add(&text, "seed=%llu\ndomain=%ux%u\n", (unsigned long long)options->seed, call->width, call->height);
  for (uint32_t i = 0; i < options->shader.textures.count; i++) text_add(&text, "texture=%s\n", options->shader.textures.items[i]);
  for (uint32_t i = 0; i < options->shader.values.count; i++) text_add(&text, "value=%s\n", options->shader.values.items[i]);
  const char *copy = arena_copy_text(arena, text.at, text.length);
  text_free(&text);
  return copy;
}

Target *shader_target(const RunOptions *options, Arena *arena, Diags *diags) {
  ShaderTarget *own = ARENA_NEW(arena, ShaderTarget);
  own->options = options;
  Program *program = shader_call_compile(options, diags);
  bool good = program != NULL && shader_call_parse(&own->call, options, arena, diags);
  if (program != NULL) program_free(program);
  char *source;
  size_t length;
  if (!good || !file_read(arena, options->target, &source, &length, diags)) return NULL;
  Target *target = ARENA_NEW(arena, Target);
  *target = (Target){.name = options->target,
                     .arguments = arguments_text(options, &own->call, arena),
                     .spec = &options->spec,
                     .own = own,
                     .start = target_start,
                     .run = target_run,
                     .check = target_check,
                     .outputs = target_outputs,
                     .device = target_device,
                     .finish = target_finish};
  TargetSource text = {.file = options->target, .text = source, .length = length, .kernels = ""};
  target_add_source(target, arena, &text);
  return target;
}
