// A file as a target of faults; see file_target.h. There is no check of its own.
#include "cli/file_target.h"

static bool start(Target *target, const HookChain *hooks, Diags *diags) {
  FileTarget *own = target->own;
  Program *program = own->compile(own->options, &own->source, diags);
  if (program == NULL) return false;
  DeviceOptions options = {.spec = target->spec, .hooks = hooks, .launcher = target->launcher, .address_bits = program->address_bits};
  own->device = device_new(&options, diags);
  if (own->device == NULL) return program_free(program), false;
  own->request->module = device_load_program(own->device, program, diags);
  if (own->request->module == NULL) return false;
  if (own->place(own->call, own->device)) return true;
  return diags_add(diags, NULL, 0, 0, "%s: %s", target->name, device_error(own->device));
}

static bool run(Target *target) {
  FileTarget *own = target->own;
  return device_launch(own->device, own->request);
}

static bool check(Target *target) {
  (void)target;
  return true;
}

static void outputs_of(Target *target, TargetOutputs *outputs, Arena *arena) {
  const FileTarget *own = target->own;
  outputs->count = 0;
  own->outputs(own, outputs, arena);
}

static Device *device_of(Target *target) { return ((FileTarget *)target->own)->device; }

static void finish(Target *target) {
  FileTarget *own = target->own;
  if (own->device != NULL) device_free(own->device);
  own->device = NULL;
}

// The program, memory and parameters with which a run begins.
static uint64_t inputs_of(Target *target) {
  FileTarget *own = target->own;
  Diags ignored = {0};
  uint64_t hash = 0;
  if (start(target, NULL, &ignored)) {
    const LaunchRequest *request = own->request;
    const Program *program = module_program(request->module);
    const Function *kernel = program_function(program, request->kernel);
    hash = memory_hash(device_memory(own->device), hash_bytes(own->source.text, own->source.length, program->hash));
    for (uint32_t i = 0; kernel != NULL && i < kernel->param_count && i < request->argument_count; i++)
      hash = hash_bytes(request->arguments[i], kernel->params[i].bytes, hash);
    hash = hash_bytes(request->grid, sizeof request->grid, hash_bytes(request->block, sizeof request->block, hash));
  }
  finish(target);
  diags_free(&ignored);
  return hash;
}

Target *file_target(FileTarget *own, const char *arguments, Arena *arena) {
  Target *target = ARENA_NEW(arena, Target);
  *target = (Target){.name = own->options->target,
                     .arguments = arguments,
                     .spec = &own->options->spec,
                     .own = own,
                     .start = start,
                     .run = run,
                     .check = check,
                     .outputs = outputs_of,
                     .device = device_of,
                     .finish = finish,
                     .inputs = inputs_of};
  TargetSource text = {.file = own->options->target, .text = own->source.text, .length = own->source.length, .kernels = ""};
  target_add_source(target, arena, &text);
  return target;
}
