// A fragment program as a target of faults: the frame is its output, four floats for each fragment.
#include "cli/file_target.h"

static bool place(void *call, Device *device) { return shader_call_place(call, device); }

static bool run(Target *target) {
  const FileTarget *own = target->own;
  ShaderCall *call = own->call;
  call->unanswered = target->unanswered;
  bool done = shader_call_run(call, own->device);
  target->repaired = done && call->differed ? 1 : 0;
  target->gave_up = call->gave_up;
  return done;
}

static void add_frame(const FileTarget *own, TargetOutputs *outputs, Arena *arena) {
  const ShaderCall *call = own->call;
  TargetOutput *frame = &outputs->items[outputs->count++];
  uint64_t count = (uint64_t)call->width * call->height * 4;
  *frame = (TargetOutput){.name = "frame", .type = ELEMENT_F32, .count = count, .width = 4 * (uint64_t)call->width, .address = call->frame};
  frame->bytes = arena_alloc(arena, count * 4);
  device_read(own->device, frame->bytes, frame->address, count * 4);
}

// As `redoubt run` takes them, one per line: replay reads it back.
static const char *arguments_text(const RunOptions *options, const ShaderCall *call, Arena *arena) {
  Text text = {0};
  text_add(&text, "seed=%llu\ndomain=%ux%u\n", (unsigned long long)options->seed, call->width, call->height);
  for (uint32_t i = 0; i < options->shader.textures.count; i++) text_add(&text, "texture=%s\n", options->shader.textures.items[i]);
  for (uint32_t i = 0; i < options->shader.values.count; i++) text_add(&text, "value=%s\n", options->shader.values.items[i]);
  if (options->shader.twice != TWICE_NOT) text_add(&text, "twice=%s\n", shader_twice_name(options->shader.twice));
  const char *copy = arena_copy_text(arena, text.at, text.length);
  text_free(&text);
  return copy;
}

Target *shader_target(const RunOptions *options, Arena *arena, Diags *diags) {
  ShaderCall *call = ARENA_NEW(arena, ShaderCall);
  FileTarget *own = ARENA_NEW(arena, FileTarget);
  if (!shader_text(options->target, arena, &own->source, diags)) return NULL;
  Program *program = shader_call_compile(options, &own->source, diags);
  bool good = program != NULL && shader_call_parse(call, options, arena, diags);
  if (program != NULL) program_free(program);
  if (!good) return NULL;
  *own = (FileTarget){.options = options, .source = own->source, .call = call, .request = &call->request, .compile = shader_call_compile};
  own->place = place;
  own->outputs = add_frame;
  Target *target = file_target(own, arguments_text(options, call, arena), arena);
  target->run = run;
  return target;
}
