// redoubt run FILE.sass|FILE.hex: G80 machine code, without any host code.
#include "cli/run.h"
#include "cli/screen.h"
#include "machine/g80/g80.h"

#include <inttypes.h>

bool is_g80_file(const char *target) {
  const char *dot = strrchr(target, '.');
  return dot != NULL && (strcmp(dot, ".sass") == 0 || strcmp(dot, ".hex") == 0);
}

// ---- The program ----------------------------------------------------------------------------------

// What the command line says of the program, over what its file says.
static bool set_constants(const RunOptions *options, SassProgram *program, Diags *diags) {
  const G80Images *images = &options->images;
  G80Words words;
  program->constant_bytes = images->cmem_bytes;
  if (images->cmem_in == NULL) return true;
  if (!g80_read_words(program->arena, images->cmem_in, G80_CONSTANT_BYTES / 4, &words, diags)) return false;
  program->constants = words.items;
  program->constant_count = words.count;
  return true;
}

Program *g80_call_compile(const RunOptions *options, const SourceText *source, Diags *diags) {
  SassProgram *program = sass_read_text(options->target, source->text, source->length, diags);
  if (program == NULL) return NULL;
  if (options->shared_bytes != 0) program->shared_bytes = options->shared_bytes;
  program->param_count = max_u32(program->param_count, options->arguments.count);
  if (set_constants(options, program, diags)) return sass_to_program(program);
  sass_program_free(program);
  return NULL;
}

// ---- Parameters and memory --------------------------------------------------------------------------

// "12", "0x1000", "f32:1.5": a 32-bit word.
static bool parse_word(const char *text, uint32_t *word) {
  const char *colon = strchr(text, ':');
  const Element *element = colon == NULL ? element_find(slice_of("u32")) : element_find((Slice){text, (uint32_t)(colon - text)});
  uint64_t bits;
  if (element == NULL || element->bytes != 4 || !element_parse(element, slice_of(colon == NULL ? text : colon + 1), &bits)) return false;
  *word = (uint32_t)bits;
  return true;
}

static bool parse_argument(G80Call *call, const ArgumentContext *context, uint32_t index, const char *text) {
  Argument *argument = &call->arguments[index];
  *argument = (Argument){.text = text, .name = ""};
  if (parse_word(text, &call->words[index])) return true;
  if (strchr(text, '[') == NULL && text[0] != '@')
    return diags_add(context->diags, NULL, 0, 0,
                     "--arg %s: write a number (12, 0x1000), TYPE:NUMBER with a type of 32 bits (f32:1.5), or an array (a:f32[64]=random)",
                     text);
  call->arrays += text[0] != '@';
  return argument_parse(argument, context, text, call->arguments, index);
}

static bool read_image(G80Call *call, const RunOptions *options, Arena *arena, Diags *diags) {
  if (options->images.gmem_in == NULL) return true;
  G80Words words;
  if (call->arrays > 0) return diags_add(diags, NULL, 0, 0, "--gmem-in gives all of memory: there is no place for arrays");
  if (!g80_read_words(arena, options->images.gmem_in, G80_GLOBAL_BYTES / 4, &words, diags)) return false;
  call->image = words.items;
  call->image_words = words.count;
  return true;
}

bool g80_call_parse(G80Call *call, const RunOptions *options, Arena *arena, const Program *program, Diags *diags) {
  const SassProgram *sass = program->sass;
  uint32_t count = options->arguments.count;
  *call = (G80Call){.arguments = ARENA_ARRAY(arena, Argument, count + 1), .argument_count = count};
  if (count > G80_MAX_PARAMS) return diags_add(diags, NULL, 0, 0, "the FlexGripPlus machine takes at most %u parameters", G80_MAX_PARAMS);
  ArgumentContext context = {arena, options->seed, G80_GLOBAL_BYTES, diags};
  bool good = true;
  for (uint32_t i = 0; i < count; i++) good = parse_argument(call, &context, i, options->arguments.items[i]) && good;
  if (!good || !read_image(call, options, arena, diags)) return false;
  for (uint32_t i = 0; i < G80_MAX_PARAMS; i++) call->pointers[i] = &call->words[i];
  call->request = (LaunchRequest){
      .kernel = arena_copy_text(arena, sass->name, strlen(sass->name)), .arguments = call->pointers, .argument_count = sass->param_count};
  for (uint32_t i = 0; i < 3; i++) {
    uint32_t grid = i < 2 ? max_u32(sass->grid[i], 1) : 1, block = sass->block[0] == 0 && i == 0 ? 32 : max_u32(sass->block[i], 1);
    call->request.grid[i] = options->grid[0] != 0 ? options->grid[i] : grid;
    call->request.block[i] = options->block[0] != 0 ? options->block[i] : block;
  }
  return true;
}

// The machine's memory begins at 0, the device's where no address is 0: the kernel is given what lies between.
static bool place_arrays(G80Call *call, Device *device) {
  uint64_t base = memory_base(device_memory(device));
  for (uint32_t i = 0; i < call->argument_count; i++) {
    Argument *argument = &call->arguments[i];
    if (argument->alias != NULL) call->words[i] = (uint32_t)(argument->alias->address - base);
    if (!argument->is_array) continue;
    uint64_t bytes = argument->count * argument->element->bytes;
    argument->address = device_alloc(device, bytes);
    if (argument->address == 0) return false;
    call->words[i] = (uint32_t)(argument->address - base);
    if (argument->contents != NULL && !device_write(device, argument->address, argument->contents, bytes)) return false;
  }
  return true;
}

bool g80_call_place(G80Call *call, Device *device) {
  if (call->arrays > 0) return place_arrays(call, device);
  call->memory = device_alloc(device, G80_GLOBAL_BYTES);
  return call->memory != 0 && device_write(device, call->memory, call->image, 4 * (uint64_t)call->image_words);
}

// ---- Results ---------------------------------------------------------------------------------------

static bool write_memory(const RunOptions *options, Device *device, Diags *diags) {
  if (options->images.gmem_out == NULL) return true;
  Text text = {0};
  const Memory *memory = device_memory(device);
  g80_write_words(memory_bytes(device_memory(device)), (uint32_t)min_u64(memory_extent(memory), G80_GLOBAL_BYTES), &text);
  bool good = out_text(&options->files, options->images.gmem_out, &text, diags);
  text_free(&text);
  return good;
}

static const char *outcome_name(TrapKind kind) {
  return kind == TRAP_NONE ? "done" : kind == TRAP_LIMIT ? "timeout" : trap_info[kind].name;
}

static void add_json(const LaunchRecord *launch, uint64_t start_ns, uint64_t end_ns, Text *out) {
  const uint64_t *stats = launch->stats.value;
  text_add(out,
           "{\n  \"outcome\": \"%s\",\n  \"start_ns\": %" PRIu64 ",\n  \"kernel_done_ns\": %" PRIu64 ",\n  \"cycles\": %" PRIu64
           ",\n  \"passes\": %" PRIu64 ",\n  \"warp_instructions\": %" PRIu64 ",\n  \"thread_instructions\": %" PRIu64 "\n}\n",
           outcome_name(launch->trap.kind), start_ns, end_ns, stats[STAT_CYCLES], stats[STAT_BLOCK_PASSES], stats[STAT_WARP_INSTRUCTIONS],
           stats[STAT_THREAD_INSTRUCTIONS]);
}

static void add_table(const LaunchRecord *launch, uint64_t start_ns, uint64_t end_ns, Text *out) {
  const uint64_t *stats = launch->stats.value;
  switch (launch->trap.kind) {
  case TRAP_NONE: text_add(out, "done\n"); break;
  case TRAP_HANG: text_add(out, "hangs: nothing can happen any more\n"); break;
  case TRAP_LIMIT: text_add(out, "timeout: g80.cycle_limit\n"); break;
  default: text_add(out, "%s: %s\n", trap_info[launch->trap.kind].name, trap_info[launch->trap.kind].text);
  }
  text_add(out, "  start                %12" PRIu64 " ns\n", start_ns);
  text_add(out, "  kernel done          %12" PRIu64 " ns\n", end_ns);
  text_add(out, "  cycles               %12" PRIu64 "\n", stats[STAT_CYCLES]);
  text_add(out, "  passes               %12" PRIu64 "\n", stats[STAT_BLOCK_PASSES]);
  text_add(out, "  warp instructions    %12" PRIu64 "\n", stats[STAT_WARP_INSTRUCTIONS]);
  text_add(out, "  thread instructions  %12" PRIu64 "\n", stats[STAT_THREAD_INSTRUCTIONS]);
}

// Cycle c is at 10c - 5 ns.
static bool print_result(const RunOptions *options, const LaunchRecord *launch, uint64_t end, Diags *diags) {
  Text table = {0}, json = {0};
  uint64_t start_ns = (end - launch->stats.value[STAT_CYCLES]) * G80_CLOCK_NS - 5, end_ns = end * G80_CLOCK_NS - 5;
  add_table(launch, start_ns, end_ns, &table);
  add_json(launch, start_ns, end_ns, &json);
  bool good = true;
  if (!options->json || options->json_file != NULL) screen_print(table.at);
  if (options->json) good = out_text(&options->files, options->json_file, &json, diags);
  text_free(&table);
  text_free(&json);
  result_say_idle(options, "", &launch->stats);
  return good;
}

// ---- The launch --------------------------------------------------------------------------------------

static int launch_and_print(Run *run, G80Call *call, Device *device, Diags *diags) {
  const RunOptions *options = run->options;
  bool done = g80_call_place(call, device) && device_launch(device, &call->request);
  run_clear_progress(run);
  if (!done && device_trap(device)->kind == TRAP_NONE) return run_device_failed(run, device);
  bool good = print_result(options, device_launch_record(device, 0), machine_now(device_machine(device)), diags);
  for (uint32_t k = 0; k < options->dumps.count && good; k++) {
    const Argument *array = argument_find(call->arguments, call->argument_count, options->dumps.items[k].name);
    good = dump_array(&options->dumps.items[k], &options->files, device, array->address, array->element, array->count, diags);
  }
  if (!good || !write_memory(options, device, diags)) return EXIT_BAD_INPUT;
  return done ? EXIT_OK : EXIT_TRAPPED;
}

// Takes the program over.
static int run_program(Run *run, Program *program, Diags *diags) {
  G80Call call;
  Device *device = NULL;
  bool good = g80_call_parse(&call, run->options, run->arena, program, diags) &&
              arguments_dumpable(run->options, call.arguments, call.argument_count, diags);
  if (good) device = run_device(run, program->address_bits);
  if (device == NULL) return program_free(program), EXIT_BAD_INPUT;
  call.request.module = device_load_program(device, program, diags);
  int code = call.request.module == NULL ? EXIT_BAD_INPUT : launch_and_print(run, &call, device, diags);
  return run_finish(run, device) || code != EXIT_OK ? code : EXIT_BAD_INPUT;
}

bool g80_machine_given(const RunOptions *options, const char *command) {
  if (machine_form(&options->spec) == FORM_G80) return true;
  message_usage(command, "G80 code needs --machine flexgrip or --machine flexgrip-thesis");
  return false;
}

bool g80_check_target(const RunOptions *options, const char *command) {
  const char *wrong = NULL;
  if (!g80_machine_given(options, command)) return false;
  if (options->dump_program) wrong = "--dump program is for PTX files; use 'redoubt disasm'";
  else if (options->size_given) wrong = "--size and --param are for workloads";
  else if (options->kernel != NULL || options->cooperative) wrong = "--kernel and --cooperative are for PTX files";
  else if (options->outputs.count > 0) wrong = "--output is for CUDA programs";
  if (wrong != NULL) message_usage(command, "%s", wrong);
  return wrong == NULL;
}

int run_g80(Run *run) {
  Diags diags = {0};
  run->progress.start = host_seconds();
  SourceText source;
  Program *program =
      source_read(run->options->target, run->arena, &source, &diags) ? g80_call_compile(run->options, &source, &diags) : NULL;
  int code = program == NULL ? EXIT_BAD_INPUT : run_program(run, program, &diags);
  if (diags.count > 0) message_diags(&diags);
  return code;
}
