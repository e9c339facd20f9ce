// G80 machine code as a target of faults: every array passed to it is an output; without arrays, global memory is.
#include "cli/file_target.h"
#include "machine/g80/g80.h"
#include "sass/sass.h"

static bool place(void *call, Device *device) { return g80_call_place(call, device); }

static void add_outputs(const FileTarget *own, TargetOutputs *outputs, Arena *arena) {
  const G80Call *call = own->call;
  if (call->arrays == 0) {
    TargetOutput *all = &outputs->items[outputs->count++];
    *all = (TargetOutput){.name = "global", .type = ELEMENT_U32, .count = G80_GLOBAL_BYTES / 4, .address = call->memory};
    all->bytes = arena_alloc(arena, G80_GLOBAL_BYTES);
    device_read(own->device, all->bytes, all->address, G80_GLOBAL_BYTES);
  }
  arguments_as_outputs(call->arguments, call->argument_count, own->device, outputs, arena);
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
  G80Call *call = ARENA_NEW(arena, G80Call);
  FileTarget *own = ARENA_NEW(arena, FileTarget);
  if (!source_read(options->target, arena, &own->source, diags)) return NULL;
  Program *program = g80_call_compile(options, &own->source, diags);
  bool good = program != NULL && g80_call_parse(call, options, arena, program, diags);
  if (program != NULL) program_free(program);
  if (!good) return NULL;
  *own = (FileTarget){.options = options, .source = own->source, .call = call, .request = &call->request, .compile = g80_call_compile};
  own->place = place;
  own->outputs = add_outputs;
  return file_target(own, arguments_text(options, call, arena), arena);
}
