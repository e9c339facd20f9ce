// redoubt run WORKLOAD: prepare, launch, check, dump.
#include "cli/run.h"

#include <errno.h>
#include <stdlib.h>

static bool apply_params(const RunOptions *options, WorkloadRun *workload_run, const Workload *workload, Diags *diags) {
  workload_run->seed = options->seed;
  bool ok = true;
  for (uint32_t i = 0; i < options->params.count; i++) {
    const KeyValue *pair = &options->params.items[i];
    ok = workload_set(workload_run, workload, pair->key, pair->value, diags) && ok;
  }
  return ok;
}

static const Element *element_of(ElementType type) { return element_find(slice_of(element_names[type])); }

static bool means(const DumpWish *wish, const WorkloadOutput *output) {
  return strcmp(wish->name, "outputs") == 0 || strcmp(wish->name, output->name) == 0;
}

static bool check_dump_names(const RunOptions *options, const WorkloadRun *workload_run, Diags *diags) {
  const char *names[WORKLOAD_MAX_OUTPUTS + 1];
  for (uint32_t i = 0; i < workload_run->output_count; i++) names[i] = workload_run->outputs[i].name;
  bool ok = true;
  for (uint32_t k = 0; k < options->dumps.count; k++) {
    const char *wanted = options->dumps.items[k].name;
    bool found = false;
    for (uint32_t i = 0; i < workload_run->output_count; i++) found = found || means(&options->dumps.items[k], &workload_run->outputs[i]);
    if (found && strcmp(wanted, "outputs") == 0 && options->dumps.items[k].file != NULL)
      ok = diags_add(diags, NULL, 0, 0, "--dump outputs prints all of them; for a file name one, such as --dump %s=FILE", names[0]);
    if (found) continue;
    const char *near = text_nearest(wanted, names, workload_run->output_count);
    if (near == NULL && workload_run->output_count > 0) near = names[0];
    ok = diags_add(diags, NULL, 0, 0, "--dump %s: no such output; did you mean '%s'?", wanted, near == NULL ? "program" : near);
  }
  return ok;
}

static bool dump_outputs(const RunOptions *options, WorkloadRun *workload_run, Diags *diags) {
  bool ok = true;
  for (uint32_t k = 0; k < options->dumps.count; k++) {
    for (uint32_t i = 0; i < workload_run->output_count; i++) {
      const WorkloadOutput *output = &workload_run->outputs[i];
      if (!means(&options->dumps.items[k], output)) continue;
      DumpWish wish = options->dumps.items[k];
      wish.name = output->name;
      const Element *element = element_of(output->type);
      ok = dump_array(&wish, &options->files, workload_run->device, output->address, element, output->count, diags) && ok;
    }
  }
  return ok;
}

// For observers: what a host program does with its outputs.
static void read_outputs(Run *run, const WorkloadRun *workload_run) {
  for (uint32_t i = 0; i < workload_run->output_count; i++) {
    const WorkloadOutput *output = &workload_run->outputs[i];
    uint64_t bytes = output->count * element_bytes(output->type);
    device_read(workload_run->device, arena_alloc(run->arena, bytes), output->address, bytes);
  }
  run->outputs_were_read = true;
}

static int run_prepared(Run *run, WorkloadRun *workload_run, const Workload *workload) {
  Diags diags = {0};
  if (!workload->launch(workload_run)) {
    run->result.check = CHECK_FAILED;
    return run_device_failed(run, workload_run->device);
  }
  run_clear_progress(run);
  int code = EXIT_OK;
  if (run->result.check == CHECK_NONE) run->result.check = CHECK_PASSED;
  if (!workload_check(workload_run, workload)) {
    run->result.check = CHECK_FAILED;
    code = EXIT_CHECK_FAILED;
    const char *why = workload_run->failure[0] != '\0' ? workload_run->failure : device_error(workload_run->device);
    message_error("%s: wrong result: %s", workload->name, why);
  }
  if (run->attachments.ace != NULL) read_outputs(run, workload_run);
  return dump_outputs(run->options, workload_run, &diags) ? code : message_diags(&diags);
}

static int run_started(Run *run, WorkloadRun *workload_run, const Workload *workload) {
  Diags diags = {0};
  if (!apply_params(run->options, workload_run, workload, &diags)) return message_diags(&diags);
  if (run->options->dump_program) return dump_program(module_program(workload_run->module)) ? EXIT_OK : EXIT_INTERNAL;
  if (!workload->prepare(workload_run)) return run_device_failed(run, workload_run->device);
  if (!check_dump_names(run->options, workload_run, &diags)) return message_diags(&diags);
  return run_prepared(run, workload_run, workload);
}

int run_workload(Run *run, const Workload *workload) {
  Device *device = run_device(run, workload->form == FORM_G80 ? 32 : 64);
  if (device == NULL) return EXIT_BAD_INPUT;
  Diags diags = {0};
  WorkloadRun workload_run;
  int code;
  if (workload_start(&workload_run, workload, run->options->size, device, &diags)) {
    code = run_started(run, &workload_run, workload);
  } else {
    code = message_diags(&diags);
  }
  workload_finish(&workload_run);
  return run_finish(run, device) || code != EXIT_OK ? code : EXIT_BAD_INPUT;
}
