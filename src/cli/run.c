// redoubt run TARGET: one run of a workload or of a kernel in a PTX file.
#include "cli/fault.h"
#include "cli/run.h"
#include "fault/upsets.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

// ---- The device of a run ---------------------------------------------------------------------------

static void print_bytes(void *context, const char *bytes, size_t count) {
  Run *run = context;
  run_clear_progress(run);
  const RunOptions *options = run->options;
  bool for_scripts = (options->json && options->json_file == NULL) || (options->csv && options->csv_file == NULL);
  fwrite(bytes, 1, count, for_scripts ? stderr : stdout);
}

void run_clear_progress(Run *run) {
  if (!run->progress.shown) return;
  fputs("\r\033[K", stderr);
  fflush(stderr);
  run->progress.shown = false;
}

static bool show_progress(void *context, const Stats *so_far) {
  Run *run = context;
  if (!run->progress.enabled) return true;
  double now = host_seconds();
  if (now - run->progress.start < 1.0 || now - run->progress.last < 0.2) return true;
  run->progress.last = now;
  run->progress.shown = true;
  fprintf(stderr, "\r\033[K%.0f s: %" PRIu64 " blocks, %" PRIu64 " million thread instructions", now - run->progress.start,
          so_far->value[STAT_BLOCKS], so_far->value[STAT_THREAD_INSTRUCTIONS] / 1000000);
  if (machine_can(&run->options->spec, MACHINE_HAS_TIME))
    fprintf(stderr, ", %" PRIu64 " thousand cycles", so_far->value[STAT_CYCLES] / 1000);
  fflush(stderr);
  return true;
}

// Workloads, PTX files and CUDA programs are lowered to instructions that the G80 model does not have.
bool run_takes_ptx(const RunOptions *options) {
  ProgramForm form = machine_form(&options->spec);
  if (form == FORM_REDOUBT) return true;
  message_error("machine '%s' runs %s, not PTX", options->spec.machine, program_form_text[form]);
  return false;
}

bool trace_file_open(OutFile *trace, const RunOptions *options, AttachmentWishes *wishes, Diags *diags) {
  *wishes = options->wishes;
  *trace = (OutFile){0};
  if (wishes->trace == NULL) return true;
  if (!out_open(trace, &options->files, wishes->trace, diags)) return false;
  wishes->trace = out_name(trace);
  wishes->trace_as = trace->path;
  return true;
}

bool trace_file_close(OutFile *trace, bool whole, Diags *diags) { return trace->file == NULL || out_close(trace, whole, diags); }

static bool attach(Run *run, Diags *diags) {
  AttachmentWishes wishes;
  if (!trace_file_open(&run->trace, run->options, &wishes, diags)) return false;
  bool good = attachments_open(&run->attachments, &wishes, diags);
  if (good && run->options->upsets != NULL) {
    Hook *upsets = upsets_new(run->options->upsets, run->arena, diags);
    good = upsets != NULL && hook_chain_add(&run->attachments.chain, upsets);
    if (!good) attachments_close(&run->attachments, diags);
  }
  if (!good) trace_file_close(&run->trace, false, diags);
  return good;
}

Device *run_device(Run *run, uint32_t address_bits) {
  Diags diags = {0};
  if (!attach(run, &diags)) {
    message_diags(&diags);
    return NULL;
  }
  DeviceOptions options = {.spec = &run->options->spec,
                           .hooks = &run->attachments.chain,
                           .address_bits = address_bits,
                           .check = run->options->check,
                           .print = print_bytes,
                           .print_context = run,
                           .progress = show_progress,
                           .progress_context = run,
                           .clock = cpu_seconds};
  Device *device = device_new(&options, &diags);
  if (device == NULL) {
    attachments_close(&run->attachments, &diags);
    trace_file_close(&run->trace, false, &diags);
    message_diags(&diags);
  }
  return device;
}

bool run_finish(Run *run, Device *device) {
  run_clear_progress(run);
  for (uint32_t i = 0; i < device_launch_count(device); i++) {
    LaunchRecord *launch = VEC_PUSH(&run->result.launches, run->arena);
    *launch = *device_launch_record(device, i);
    launch->kernel = arena_copy_text(run->arena, launch->kernel, strlen(launch->kernel));
    launch->trap.kernel = launch->trap.function = NULL;
  }
  const MemoryCheck *check = device_check(device);
  for (uint32_t i = 0; i < memory_check_count(check); i++) memory_report_take(run, memory_check_finding(check, i));
  if (run->attachments.ace != NULL) {
    ace_end(run->attachments.ace, !run->outputs_were_read);
    ace_figures_take(run, run->attachments.ace);
  }
  device_free(device);
  Diags diags = {0};
  bool good = attachments_close(&run->attachments, &diags);
  good = trace_file_close(&run->trace, good && run->result.launches.count > 0, &diags) && good;
  if (!good) message_diags(&diags);
  return good;
}

int run_device_failed(Run *run, const Device *device) {
  run_clear_progress(run);
  message_error("%s", device_error(device));
  return device_trap(device)->kind == TRAP_NONE ? EXIT_BAD_INPUT : EXIT_TRAPPED;
}

// ---- The target ------------------------------------------------------------------------------------

bool is_ptx_file(const char *target) {
  size_t length = strlen(target);
  return strchr(target, '/') != NULL || (length > 4 && strcmp(target + length - 4, ".ptx") == 0) || access(target, F_OK) == 0;
}

static int unknown_target(const char *target, const char *command) {
  const char *names[64];
  uint32_t count = min_u32(workload_count, COUNT_OF(names));
  for (uint32_t i = 0; i < count; i++) names[i] = workloads[i]->name;
  const char *near = text_nearest(target, names, count);
  if (near != NULL) return message_usage(command, "no workload '%s'; did you mean '%s'?", target, near);
  return message_usage(command, "no workload and no file '%s'; 'redoubt list workloads' shows what is built in", target);
}

static bool is_program(const char *path) {
  char magic[4] = "";
  FILE *file = fopen(path, "rbe");
  bool is_elf = file != NULL && fread(magic, 1, sizeof magic, file) == sizeof magic && memcmp(magic, "\177ELF", sizeof magic) == 0;
  if (file != NULL) fclose(file);
  return is_elf;
}

static bool is_cuda_source(const char *path) {
  const char *dot = strrchr(path, '.');
  return dot != NULL && strcmp(dot, ".cu") == 0 && access(path, F_OK) == 0;
}

// What people have at hand and is no PTX yet: says what to do with it.
static int other_file(const char *path, const char *command) {
  const char *here = strchr(path, '/') == NULL ? "./" : "", *slash = strrchr(path, '/'), *name = slash == NULL ? path : slash + 1;
  if (is_program(path))
    return message_usage(command, "'%s' is a program: put it after --, as in 'redoubt %s -- %s%s'", path, command, here, path);
  if (!is_cuda_source(path)) return EXIT_OK;
  int length = (int)(strrchr(name, '.') - name);
  return message_usage(command,
                       "'%s' is CUDA source: compile it with 'nvcc -o %.*s %s', then 'redoubt %s -- ./%.*s'; "
                       "or a kernel alone with 'nvcc -ptx %s', then 'redoubt %s %.*s.ptx'",
                       path, length, name, path, command, length, name, path, command, length, name);
}

int run_check_target(const RunOptions *options, const char *command) {
  const Workload *workload = workload_find(options->target);
  if (workload == NULL && is_g80_file(options->target)) return g80_check_target(options, command) ? EXIT_OK : EXIT_BAD_INPUT;
  if (workload == NULL && is_shader_file(options->target)) return shader_check_target(options, command) ? EXIT_OK : EXIT_BAD_INPUT;
  int other = workload == NULL ? other_file(options->target, command) : EXIT_OK;
  if (other != EXIT_OK) return other;
  if (options->shader.given) return message_usage(command, "--domain, --texture, --value and --twice are for fragment programs (.fp)");
  if (options->images.given)
    return message_usage(command, "--gmem-in, --gmem-out, --cmem-in and --cmem-bytes are for G80 code (.sass, .hex)");
  if (workload == NULL && !is_ptx_file(options->target)) return unknown_target(options->target, command);
  if (workload != NULL && options->ptx_given)
    return message_usage(command, "--kernel, --grid, --block, --shared, --cooperative and --arg are for PTX files");
  if (workload == NULL && options->size_given) return message_usage(command, "--size and --param are for workloads");
  if (options->outputs.count > 0) return message_usage(command, "--output is for CUDA programs");
  if (options->ignored.count > 0 || options->ignores_output)
    return message_usage(command, "--ignore and --ignore-output are for CUDA programs");
  if (workload != NULL && workload->form == FORM_G80) return g80_machine_given(options, command) ? EXIT_OK : EXIT_BAD_INPUT;
  return run_takes_ptx(options) ? EXIT_OK : EXIT_BAD_INPUT;
}

static int run_target(Run *run) {
  const RunOptions *options = run->options;
  if (options->target[0] == '@' || (is_workload_list(options->target) && !is_ptx_file(options->target))) return run_set(run);
  if (options->processes > 0) return message_usage("run", "--jobs is for sets of workloads, such as @rise");
  const Workload *workload = workload_find(options->target);
  int bad = run_check_target(options, "run");
  if (bad != EXIT_OK) return bad;
  if (options->faults.count > 0) return run_with_faults(options, run->arena);
  if (workload == NULL && is_g80_file(options->target)) return run_g80(run);
  run->progress.start = host_seconds();
  int code = EXIT_OK;
  for (uint32_t i = 0; i < options->repeat && code == EXIT_OK; i++) {
    for (uint32_t k = 0; k < options->dumps.count; k++) options->dumps.items[k].done = false;
    code = workload != NULL ? run_workload(run, workload) : is_shader_file(options->target) ? run_shader(run) : run_ptx(run);
  }
  Diags diags = {0};
  if (!options->dump_program && code != EXIT_BAD_INPUT && !result_print(run, &diags)) code = message_diags(&diags);
  return memory_report_exit(run, code);
}

int run_main(int argc, char **argv) {
  Arena *arena = arena_new();
  RunOptions options;
  Run run = {.options = &options, .arena = arena, .progress.enabled = isatty(STDERR_FILENO) != 0};
  int code;
  if (run_options_parse(&options, arena, argc, argv, &code)) {
    if (options.application != NULL) code = run_application(&run);
    else if (options.target == NULL) code = message_usage("run", "run what? A workload's name or a PTX file");
    else code = run_target(&run);
  }
  arena_free(arena);
  return code;
}
