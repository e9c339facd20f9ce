// redoubt run FILE.sass|FILE.hex: G80 machine code on the FlexGripPlus machine, without any host code.
#include "cli/run.h"
#include "cli/screen.h"
#include "machine/g80/g80.h"

#include <inttypes.h>

bool is_g80_file(const char *target) {
  const char *dot = strrchr(target, '.');
  return dot != NULL && (strcmp(dot, ".sass") == 0 || strcmp(dot, ".hex") == 0);
}

// "12", "0x1000", "f32:1.5": a 32-bit word.
static bool parse_word(const char *text, uint32_t *word) {
  const char *colon = strchr(text, ':');
  const Element *element = colon == NULL ? element_find(slice_of("u32")) : element_find((Slice){text, (uint32_t)(colon - text)});
  uint64_t bits;
  if (element == NULL || element->bytes != 4 || !element_parse(element, slice_of(colon == NULL ? text : colon + 1), &bits)) return false;
  *word = (uint32_t)bits;
  return true;
}

static bool set_sizes(const RunOptions *options, G80Launch *launch, Diags *diags) {
  if (options->grid[0] != 0) {
    if (options->grid[2] > 1) return diags_add(diags, NULL, 0, 0, "grids of the FlexGripPlus machine have two dimensions");
    memcpy(launch->grid, options->grid, sizeof launch->grid);
  }
  if (options->block[0] != 0) memcpy(launch->block, options->block, sizeof launch->block);
  if (options->shared_bytes != 0) launch->shared_bytes = options->shared_bytes;
  return true;
}

static bool set_params(const RunOptions *options, G80Launch *launch, Diags *diags) {
  if (options->arguments.count > G80_MAX_PARAMS)
    return diags_add(diags, NULL, 0, 0, "the FlexGripPlus machine takes at most %u parameters", G80_MAX_PARAMS);
  for (uint32_t i = 0; i < options->arguments.count; i++) {
    const char *text = options->arguments.items[i];
    if (!parse_word(text, &launch->params[i]))
      return diags_add(diags, NULL, 0, 0, "--arg %s: write a number (12, 0x1000) or TYPE:NUMBER with a type of 32 bits (f32:1.5)", text);
  }
  launch->param_count = max_u32(launch->param_count, options->arguments.count);
  return true;
}

static bool set_memory(Run *run, G80Launch *launch, Diags *diags) {
  const G80Images *images = &run->options->images;
  G80Words words;
  if (images->gmem_in != NULL) {
    if (!g80_read_words(run->arena, images->gmem_in, G80_GLOBAL_BYTES / 4, &words, diags)) return false;
    launch->global = (const uint8_t *)words.items;
    launch->global_bytes = 4 * words.count;
  }
  if (images->cmem_in != NULL) {
    if (!g80_read_words(run->arena, images->cmem_in, G80_CONSTANT_BYTES / 4, &words, diags)) return false;
    launch->constants = words.items;
    launch->constant_count = words.count;
  }
  launch->constant_bytes = images->cmem_bytes;
  return true;
}

static bool write_memory(const RunOptions *options, const uint8_t *global, Diags *diags) {
  Text text = {0};
  g80_write_words(global, G80_GLOBAL_BYTES, &text);
  bool good = out_text(&options->files, options->images.gmem_out, &text, diags);
  text_free(&text);
  return good;
}

static const char *const outcome_text[] = {"running", "done", "hangs: nothing can happen any more", "timeout: g80.cycle_limit"};

static void add_json(const G80Result *result, Text *out) {
  text_add(out,
           "{\n  \"outcome\": \"%s\",\n  \"start_ns\": %" PRIu64 ",\n  \"kernel_done_ns\": %" PRIu64 ",\n  \"cycles\": %" PRIu64
           ",\n  \"passes\": %" PRIu32 ",\n  \"warp_instructions\": %" PRIu64 ",\n  \"thread_instructions\": %" PRIu64 "\n}\n",
           result->outcome == G80_DONE   ? "done"
           : result->outcome == G80_HANG ? "hang"
                                         : "timeout",
           result->start_ns, result->kernel_done_ns, result->cycles, result->pass_count, result->warp_instructions,
           result->thread_instructions);
}

static void add_table(const G80Result *result, Text *out) {
  text_add(out, "%s\n", outcome_text[result->outcome]);
  text_add(out, "  start                %12" PRIu64 " ns\n", result->start_ns);
  text_add(out, "  kernel done          %12" PRIu64 " ns\n", result->kernel_done_ns);
  text_add(out, "  cycles               %12" PRIu64 "\n", result->cycles);
  text_add(out, "  passes               %12" PRIu32 "\n", result->pass_count);
  text_add(out, "  warp instructions    %12" PRIu64 "\n", result->warp_instructions);
  text_add(out, "  thread instructions  %12" PRIu64 "\n", result->thread_instructions);
}

static bool print_result(const RunOptions *options, const G80Result *result, Diags *diags) {
  Text table = {0}, json = {0};
  add_table(result, &table);
  add_json(result, &json);
  bool good = true;
  if (!options->json || options->json_file != NULL) screen_print(table.at);
  if (options->json) good = out_text(&options->files, options->json_file, &json, diags);
  text_free(&table);
  text_free(&json);
  return good;
}

static int run_machine(Run *run, const SassProgram *program, Diags *diags) {
  const RunOptions *options = run->options;
  G80Launch launch;
  g80_launch_default(&launch, &options->spec, program);
  if (!set_sizes(options, &launch, diags) || !set_params(options, &launch, diags) || !set_memory(run, &launch, diags))
    return EXIT_BAD_INPUT;
  G80Machine *machine = g80_new(&options->spec, program, &launch, diags);
  if (machine == NULL) return EXIT_BAD_INPUT;
  g80_run(machine, G80_NEVER);
  G80Result result;
  g80_result(machine, &result);
  bool good = print_result(options, &result, diags);
  good = good && (options->images.gmem_out == NULL || write_memory(options, result.global, diags));
  g80_free(machine);
  if (!good) return EXIT_BAD_INPUT;
  return result.outcome == G80_DONE ? EXIT_OK : EXIT_TRAPPED;
}

int run_g80(Run *run) {
  const RunOptions *options = run->options;
  if (machine_form(&options->spec) != FORM_G80)
    return message_usage("run", "G80 code needs --machine flexgrip or --machine flexgrip-thesis");
  if (options->dump_program || options->dumps.count > 0)
    return message_usage("run", "--dump is for PTX files; use --gmem-out FILE or 'redoubt disasm'");
  Diags diags = {0};
  SassProgram *program = sass_read(options->target, &diags);
  int code = program == NULL ? EXIT_BAD_INPUT : run_machine(run, program, &diags);
  sass_program_free(program);
  if (diags.count > 0) message_diags(&diags);
  return code;
}
