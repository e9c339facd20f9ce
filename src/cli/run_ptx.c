// redoubt run FILE.ptx: one launch of a kernel, without any host code.
#include "cli/run.h"

#include <inttypes.h>
#include <stdio.h>

enum { NAMES_SHOWN = 8 };

static const Function *only_kernel(const Program *program, Diags *diags) {
  const Function *kernel = NULL;
  uint32_t count = 0;
  Text names = {0};
  for (uint32_t i = 0; i < program->function_count; i++) {
    if (!program->functions[i].is_kernel) continue;
    kernel = &program->functions[i];
    if (count < NAMES_SHOWN) text_add(&names, "%s%s", count == 0 ? "" : ", ", kernel->name);
    count++;
  }
  if (count == 0) diags_add(diags, program->file, 0, 0, "holds no kernel");
  if (count > 1)
    diags_add(diags, program->file, 0, 0, "holds %u kernels; choose one with --kernel: %s%s", count, names.at,
              count > NAMES_SHOWN ? ", ..." : "");
  text_free(&names);
  return count == 1 ? kernel : NULL;
}

static const Function *find_kernel(const Program *program, const char *name, Diags *diags) {
  if (name == NULL) return only_kernel(program, diags);
  const Function *found = program_function(program, name);
  if (found != NULL && found->is_kernel) return found;
  found = NULL;
  const char *names[256];
  uint32_t count = 0, matches = 0;
  for (uint32_t i = 0; i < program->function_count; i++) {
    const Function *function = &program->functions[i];
    if (!function->is_kernel) continue;
    if (count < COUNT_OF(names)) names[count++] = function->name;
    if (!symbol_is_called(function->name, name)) continue;
    found = function;
    matches++;
  }
  if (matches == 1) return found;
  const char *near = count == 1 ? names[0] : text_nearest(name, names, count);
  if (matches > 1) {
    diags_add(diags, program->file, 0, 0, "%u kernels are called '%s'; give the whole name, such as '%s'", matches, name, found->name);
  } else if (near != NULL) {
    diags_add(diags, program->file, 0, 0, "no kernel '%s'; did you mean '%s'?", name, near);
  } else {
    diags_add(diags, program->file, 0, 0, "no kernel '%s' among its %u", name, count);
  }
  return NULL;
}

// ---- Arguments -------------------------------------------------------------------------------------

// What a kernel takes, for messages: "4 arguments (8, 8, 8 and 4 bytes)".
static void describe_params(const Function *kernel, Text *out) {
  text_add(out, "%u argument%s", kernel->param_count, kernel->param_count == 1 ? "" : "s");
  for (uint32_t i = 0; i < kernel->param_count; i++) text_add(out, "%s%u", i == 0 ? " (of " : ", ", kernel->params[i].bytes);
  if (kernel->param_count > 0) text_add(out, " bytes)");
}

static bool check_arguments(const Function *kernel, const Argument *arguments, uint32_t count, uint32_t address_bytes, Diags *diags) {
  if (count != kernel->param_count) {
    Text wanted = {0};
    describe_params(kernel, &wanted);
    diags_add(diags, NULL, 0, 0, "kernel '%s' takes %s, %u given with --arg", kernel->name, wanted.at, count);
    text_free(&wanted);
    return false;
  }
  bool ok = true;
  for (uint32_t i = 0; i < count; i++) {
    const Argument *argument = &arguments[i];
    bool is_address = argument->is_array || argument->alias != NULL;
    uint64_t bytes = is_address ? address_bytes : argument->element == NULL ? argument->count : argument->element->bytes;
    if (bytes == kernel->params[i].bytes) continue;
    ok = diags_add(diags, NULL, 0, 0, "--arg %s: %s %" PRIu64 " bytes, but parameter %u of '%s' has %u", argument->text,
                   is_address ? "an address has" : "has", bytes, i + 1, kernel->name, kernel->params[i].bytes);
  }
  return ok;
}

static bool place_arrays(Device *device, Argument *arguments, uint32_t count, const void **pointers) {
  for (uint32_t i = 0; i < count; i++) {
    Argument *argument = &arguments[i];
    pointers[i] = argument->alias != NULL ? (const void *)&argument->alias->address
                  : argument->is_array    ? (const void *)&argument->address
                                          : argument->contents;
    if (!argument->is_array) continue;
    uint64_t bytes = argument->count * argument->element->bytes;
    argument->address = device_alloc(device, bytes);
    if (argument->address == 0) return false;
    if (argument->zeros) memory_note_write(device_memory(device), argument->address, bytes);
    if (argument->contents != NULL && !device_write(device, argument->address, argument->contents, bytes)) return false;
  }
  return true;
}

const Argument *argument_find(const Argument *arguments, uint32_t count, const char *name) {
  for (uint32_t i = 0; i < count; i++) {
    if (arguments[i].is_array && strcmp(arguments[i].name, name) == 0) return &arguments[i];
  }
  return NULL;
}

bool arguments_dumpable(const RunOptions *options, const Argument *arguments, uint32_t count, Diags *diags) {
  bool ok = true;
  for (uint32_t k = 0; k < options->dumps.count; k++) {
    const char *name = options->dumps.items[k].name;
    if (argument_find(arguments, count, name) == NULL)
      ok = diags_add(diags, NULL, 0, 0, "--dump %s: no --arg is an array of that name", name);
  }
  return ok;
}

// ---- The launch --------------------------------------------------------------------------------------

bool source_read(const char *target, Arena *arena, SourceText *source, Diags *diags) {
  char *text;
  if (!file_read(arena, target, &text, &source->length, diags)) return false;
  source->text = text;
  return true;
}

Program *ptx_call_compile(const RunOptions *options, const SourceText *source, Diags *diags) {
  PtxSource ptx = {.file = options->target, .text = source->text, .length = source->length};
  MirOptions limits = {(uint32_t)options->spec.limit_registers, (uint32_t)options->spec.sm_registers};
  return ptx_compile(&ptx, 1, &limits, diags);
}

bool ptx_call_parse(PtxCall *call, const RunOptions *options, Arena *arena, const Program *program, Diags *diags) {
  const Function *kernel = find_kernel(program, options->kernel, diags);
  uint32_t count = options->arguments.count;
  *call = (PtxCall){.arguments = ARENA_ARRAY(arena, Argument, count), .argument_count = count};
  call->pointers = ARENA_ARRAY(arena, const void *, count);
  ArgumentContext context = {arena, options->seed, options->spec.memory_bytes, diags};
  bool ok = kernel != NULL;
  for (uint32_t i = 0; i < count; i++) {
    ok = argument_parse(&call->arguments[i], &context, options->arguments.items[i], call->arguments, i) && ok;
  }
  if (!ok || !check_arguments(kernel, call->arguments, count, program->address_bits / 8, diags)) return false;
  call->request = (LaunchRequest){.kernel = arena_copy_text(arena, kernel->name, strlen(kernel->name)),
                                  .dynamic_shared_bytes = options->shared_bytes,
                                  .arguments = call->pointers,
                                  .argument_count = count,
                                  .cooperative = options->cooperative};
  for (int i = 0; i < 3; i++) {
    call->request.grid[i] = max_u32(options->grid[i], 1);
    call->request.block[i] = options->block[0] != 0 ? options->block[i] : max_u32(kernel->required_threads[i], 1);
  }
  return true;
}

bool ptx_call_place(PtxCall *call, Device *device) { return place_arrays(device, call->arguments, call->argument_count, call->pointers); }

static int launch_and_dump(Run *run, PtxCall *call, Device *device) {
  const RunOptions *options = run->options;
  bool ok = ptx_call_place(call, device) && device_launch(device, &call->request);
  run_clear_progress(run);
  int code = ok ? EXIT_OK : run_device_failed(run, device);
  if (code == EXIT_BAD_INPUT) return code;
  Diags diags = {0};
  for (uint32_t k = 0; k < options->dumps.count; k++) {
    const Argument *array = argument_find(call->arguments, call->argument_count, options->dumps.items[k].name);
    dump_array(&options->dumps.items[k], &options->files, device, array->address, array->element, array->count, &diags);
  }
  return diags.count > 0 ? message_diags(&diags) : code;
}

// Takes the program over.
static int run_program(Run *run, Program *program) {
  const RunOptions *options = run->options;
  Diags diags = {0};
  PtxCall call;
  bool ok = ptx_call_parse(&call, options, run->arena, program, &diags);
  ok = ok && arguments_dumpable(options, call.arguments, call.argument_count, &diags);
  if (!ok) {
    program_free(program);
    return message_diags(&diags);
  }
  Device *device = run_device(run, program->address_bits);
  if (device == NULL) {
    program_free(program);
    return EXIT_BAD_INPUT;
  }
  call.request.module = device_load_program(device, program, &diags);
  int code = call.request.module == NULL ? message_diags(&diags) : launch_and_dump(run, &call, device);
  return run_finish(run, device) || code != EXIT_OK ? code : EXIT_BAD_INPUT;
}

int run_ptx(Run *run) {
  Diags diags = {0};
  SourceText source;
  Program *program =
      source_read(run->options->target, run->arena, &source, &diags) ? ptx_call_compile(run->options, &source, &diags) : NULL;
  if (program == NULL) return message_diags(&diags);
  diags_free(&diags);
  if (!run->options->dump_program) return run_program(run, program);
  bool ok = dump_program(program);
  program_free(program);
  return ok ? EXIT_OK : EXIT_INTERNAL;
}
