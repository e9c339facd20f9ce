// redoubt run --fault: single faults, their outcome and why.
#include "cli/fault.h"

#include "app/app.h"
#include "cli/app.h"
#include "cli/energy.h"
#include "cli/json_file.h"
#include "cli/screen.h"
#include "cli/interrupt.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <sys/mman.h>

Target *run_as_target(const RunOptions *options, Arena *arena, Diags *diags) {
  const Workload *workload = workload_find(options->target);
  if (workload == NULL && is_shader_file(options->target)) return shader_target(options, arena, diags);
  if (workload == NULL) return is_g80_file(options->target) ? g80_target(options, arena, diags) : ptx_target(options, arena, diags);
  const char **params = ARENA_ARRAY(arena, const char *, options->params.count + 1);
  for (uint32_t i = 0; i < options->params.count; i++) {
    params[i] = arena_format(arena, "%s=%s", options->params.items[i].key, options->params.items[i].value);
  }
  WorkloadChoice choice = {workload, options->size, params, options->params.count, options->seed};
  return target_workload(arena, &choice, &options->spec, diags);
}

// ---- Text ----------------------------------------------------------------------------------------------------------

static void add_summary(const FaultRun *run, bool has_elements, Text *out) {
  const Judgement *judgement = &run->judgement;
  for (uint32_t i = 0; i < run->fault_count; i++) text_add(out, "fault           %s\n", run->faults[i]);
  text_add(out, "outcome         %s: %s\n", outcome_info[judgement->outcome].name, outcome_info[judgement->outcome].meaning);
  if (judgement->note[0] != '\0') text_add(out, "                %s\n", judgement->note);
  text_add(out, "cycles          %" PRIu64 ", without faults %" PRIu64 "\n", judgement->cycles, run->golden_cycles);
  if (judgement->wrong == 0 || !has_elements) return;
  text_add(out, "wrong elements  %" PRIu64 ", largest relative error ", judgement->wrong);
  if (isinf(judgement->worst)) text_add(out, "infinite\n");
  else text_add(out, "%.3g\n", judgement->worst);
}

// ---- JSON ----------------------------------------------------------------------------------------------------------

static json_t *place_json(const Place *place) {
  json_t *object = json_pack("{s:I, s:I}", "cycle", (json_int_t)place->cycle, "launch", (json_int_t)place->launch);
  if (place->sm != UINT32_MAX) json_object_set_new(object, "sm", json_integer(place->sm));
  if (place->warp != UINT32_MAX) json_object_set_new(object, "warp", json_integer(place->warp));
  if (place->pc == UINT32_MAX) return object;
  json_object_set_new(object, "pc", json_integer(place->pc));
  json_object_set_new(object, "line", json_integer(place->line));
  json_object_set_new(object, "instruction", json_string(place->text));
  if (place->ptx.length > 0) json_object_set_new(object, "ptx", json_stringn(place->ptx.at, place->ptx.length));
  if (place->origin.file == NULL) return object;
  json_object_set_new(object, "file", json_string(place->origin.file));
  json_object_set_new(object, "file_line", json_integer(place->origin.line));
  return object;
}

static json_t *step_json(const Step *step) {
  static const char *const kinds[] = {[STEP_REGISTER] = "register",
                                      [STEP_PREDICATE] = "predicate",
                                      [STEP_STORE_DATA] = "store-data",
                                      [STEP_STORE_ADDRESS] = "store-address",
                                      [STEP_PATH] = "path"};
  json_t *object = json_pack("{s:s, s:o, s:i}", "kind", kinds[step->kind], "at", place_json(&step->at), "number", (int)step->number);
  if (!step->known) return object;
  json_object_set_new(object, "lane", json_integer(step->lane));
  json_object_set_new(object, "lanes", json_integer(__builtin_popcount(step->lanes)));
  json_object_set_new(object, "expected", step->should_idle ? json_null() : json_integer(step->expected));
  json_object_set_new(object, "got", step->idle ? json_null() : json_integer(step->got));
  if (step->address != 0) json_object_set_new(object, "address", json_integer((json_int_t)step->address));
  return object;
}

static json_t *explanation_json(const FaultRun *run) {
  json_t *accesses = json_array(), *steps = json_array();
  for (uint32_t i = 0; i < run->fault_count; i++) {
    const Access *access = &run->accesses[i];
    bool placed = access->fate == FATE_READ || access->fate == FATE_OVERWRITTEN || access->fate == FATE_RESET ||
                  access->fate == FATE_RESULT || (access->fate == FATE_IDLE && access->reads > 0);
    json_t *object =
        json_pack("{s:s, s:I, s:b}", "fate", fate_text[access->fate], "reads", (json_int_t)access->reads, "unused", (int)access->unused);
    if (placed) json_object_set_new(object, "at", place_json(&access->at));
    json_array_append_new(accesses, object);
  }
  for (uint32_t i = 0; i < run->step_count; i++) json_array_append_new(steps, step_json(&run->steps[i]));
  return json_pack("{s:o, s:o, s:I, s:I}", "accesses", accesses, "steps", steps, "different", (json_int_t)run->different,
                   "different_stores", (json_int_t)run->different_stores);
}

// Statistics of the run with the faults, and what studies want beside them.
static json_t *total_json(const RunOptions *options, const FaultRun *run) {
  json_t *object = json_object();
  Arena *scratch = arena_new();
  RunPower power = run_power(&options->spec, options->wishes.protections, scratch);
  for (int k = 0; k < STAT_COUNT; k++) json_object_set_new(object, stat_info[k].name, json_integer((json_int_t)run->stats.value[k]));
  json_object_set_new(object, "golden_cycles", json_integer((json_int_t)run->golden_cycles));
  json_object_set_new(object, "wrong_elements", json_integer((json_int_t)run->judgement.wrong));
  energy_json(&power, &run->stats, false, object);
  arena_free(scratch);
  return object;
}

// JSON has no infinity. Of the output of a CUDA program it is not known what is an element, nor how wrong it is.
static json_t *error_json(const Judgement *judgement, bool has_elements) {
  if (!has_elements && judgement->wrong > 0) return json_null();
  return isinf(judgement->worst) ? json_string("infinite") : json_real(judgement->worst);
}

static bool write_json(const RunOptions *options, const FaultRun *run, bool explain, Diags *diags) {
  const Judgement *judgement = &run->judgement;
  json_t *faults = json_array();
  for (uint32_t i = 0; i < run->fault_count; i++) json_array_append_new(faults, json_string(run->faults[i]));
  json_t *root =
      json_pack("{s:s, s:s, s:o, s:s, s:I, s:I, s:I, s:s}", "target",
                options->application != NULL ? options->application[0] : options->target, "machine", options->spec.machine, "faults",
                faults, "outcome", outcome_info[judgement->outcome].name, "golden_cycles", (json_int_t)run->golden_cycles, "cycles",
                (json_int_t)judgement->cycles, "wrong_elements", (json_int_t)judgement->wrong, "note", judgement->note);
  json_object_set_new(root, "largest_relative_error", error_json(judgement, options->application == NULL));
  if (run->has_stats) json_object_set_new(root, "total", total_json(options, run));
  if (explain) json_object_set_new(root, "explanation", explanation_json(run));
  bool good = write_json_file(&options->files, options->json_file, root, diags);
  json_decref(root);
  return good;
}

// ---- The run -------------------------------------------------------------------------------------------------------

static void print(const RunOptions *options, const FaultRun *result, bool explain) {
  Text text = {0};
  add_summary(result, options->application == NULL, &text);
  if (explain) text_add(&text, "\n");
  if (explain) explanation_format(result, &text);
  screen_print_outcomes(text.at);
  text_free(&text);
}

// ---- Pictures of a frame -------------------------------------------------------------------------------------------

static size_t frame_bytes(const RunOptions *options) {
  uint32_t width, height;
  shader_domain(options, &width, &height);
  return (size_t)width * height * 16;
}

// Memory that the run's process shares with this one.
static uint8_t *share_frame(const RunOptions *options) {
  if (options->dumps.count == 0) return NULL;
  void *frame = mmap(NULL, frame_bytes(options), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return frame == MAP_FAILED ? NULL : frame;
}

static bool dump_frame(const RunOptions *options, const FaultRun *result, uint8_t *frame, Diags *diags) {
  if (frame == NULL) return options->dumps.count == 0 || diags_add(diags, NULL, 0, 0, "no memory for the frame");
  bool good = true;
  for (uint32_t i = 0; i < options->dumps.count && good; i++)
    good = shader_dump(&options->dumps.items[i], options, frame, result->outputs.items[0].bytes, diags);
  munmap(frame, frame_bytes(options));
  return good;
}

static bool run_and_print(const RunOptions *options, const FaultWishes *wishes, const HookChain *protections, AppInterrupts *interrupts,
                          FaultRun *result, Diags *diags, Arena *arena) {
  bool is_application = options->application != NULL;
  if (is_application) interrupt_hold(); // its files have to be put back
  Target *target = is_application ? app_target(options, protections, interrupts, arena, diags) : run_as_target(options, arena, diags);
  FaultRunOptions run = {.protections = protections,
                         .faults = wishes->faults,
                         .fault_count = wishes->count,
                         .timeout = wishes->timeout,
                         .tolerances = &options->tolerances,
                         .explain = wishes->explain,
                         .trace = options->wishes.trace == NULL ? NULL : &options->wishes};
  if (wishes->meta != NULL && wishes->meta->standing[0] != '\0') run.standing = wishes->meta->standing;
  if (wishes->meta != NULL) run.program_hash = wishes->meta->program_hash, run.layout_hash = wishes->meta->layout_hash;
  if (options->dumps.count > 0 && !shader_dumps_known(options, diags)) return false;
  run.got = share_frame(options);
  run.got_bytes = run.got == NULL ? 0 : frame_bytes(options);
  bool good = target != NULL && fault_run(target, &run, arena, result, diags);
  if (is_application) target_app_free(target); // before anything is printed: nobody may listen any more
  if (is_application) interrupt_release();
  bool for_scripts = options->json && options->json_file == NULL;
  if (good && !for_scripts) print(options, result, wishes->explain);
  good = good && dump_frame(options, result, run.got, diags);
  if (good && options->json) good = write_json(options, result, wishes->explain, diags);
  return good;
}

static bool run_protected(const RunOptions *options, const FaultWishes *wishes, AppInterrupts *interrupts, FaultRun *result, Diags *diags,
                          Arena *arena) {
  Attachments attachments;
  AttachmentWishes protections = options->wishes;
  protections.trace = NULL; // that is of one run only: its process writes the file
  if (!attachments_open(&attachments, &protections, diags)) return false;
  bool good = run_and_print(options, wishes, &attachments.chain, interrupts, result, diags, arena);
  return attachments_close(&attachments, diags) && good;
}

int fault_report(const RunOptions *options, const FaultWishes *wishes, Arena *arena, FaultRun *result) {
  Diags diags = {0};
  AppInterrupts interrupts = {0};
  OutFile trace;
  RunOptions aside = *options; // its trace is written there
  if (!trace_file_open(&trace, options, &aside.wishes, &diags)) return message_diags(&diags);
  bool good = run_protected(&aside, wishes, &interrupts, result, &diags, arena);
  good = trace_file_close(&trace, good, &diags) && good;
  if (interrupts.taken != 0) message_error("stopped");
  if (!good) return message_diags(&diags), interrupts.taken != 0 ? EXIT_SIGNAL + interrupts.taken : EXIT_BAD_INPUT;
  if (result->judgement.outcome != OUTCOME_INTERNAL) return EXIT_OK;
  message_error("INTERNAL ERROR: the simulation failed in Redoubt itself, not by its fault: %s", result->judgement.note);
  return EXIT_INTERNAL;
}

int run_with_faults(const RunOptions *options, Arena *arena) {
  FaultWishes wishes = {options->faults.items, options->faults.count, options->timeout, options->explain, NULL};
  return fault_report(options, &wishes, arena, ARENA_NEW(arena, FaultRun));
}
