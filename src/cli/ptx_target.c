// A kernel of a PTX file as a target of faults: every array passed to it is an output; there is no check of its own.
#include "cli/file_target.h"

static bool place(void *call, Device *device) { return ptx_call_place(call, device); }

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

static void add_outputs(const FileTarget *own, TargetOutputs *outputs, Arena *arena) {
  const PtxCall *call = own->call;
  arguments_as_outputs(call->arguments, call->argument_count, own->device, outputs, arena);
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
  PtxCall *call = ARENA_NEW(arena, PtxCall);
  FileTarget *own = ARENA_NEW(arena, FileTarget);
  if (!source_read(options->target, arena, &own->source, diags)) return NULL;
  Program *program = ptx_call_compile(options, &own->source, diags);
  bool good = program != NULL && ptx_call_parse(call, options, arena, program, diags);
  if (program != NULL) program_free(program);
  if (good && count_arrays(call) > TARGET_MAX_OUTPUTS) {
    good = diags_add(diags, NULL, 0, 0, "at most %d arrays can be compared as outputs", TARGET_MAX_OUTPUTS);
  }
  if (!good) return NULL;
  diags_free(diags);
  *own = (FileTarget){.options = options, .source = own->source, .call = call, .request = &call->request, .compile = ptx_call_compile};
  own->place = place;
  own->outputs = add_outputs;
  return file_target(own, arguments_text(options, call, arena), arena);
}
