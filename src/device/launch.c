// Launches: what is refused before anything runs, the machine's environment, and the record.
// Limits are those of the machine file; messages name both the number asked for and the limit.
#include "device/attachments.h"
#include "device/device_internal.h"

#include <inttypes.h>
#include <stdio.h>

enum { MOST_BLOCK_Z = 64, MOST_GRID_YZ = 65535, GRID_WORKSPACE_BYTES = 256, NAMES_SHOWN = 64 };
#define MOST_GRID_X UINT32_C(2147483647)

static uint32_t threads_of(const uint32_t block[3]) {
  uint64_t threads = (uint64_t)block[0] * block[1];
  threads = threads > UINT32_MAX ? UINT32_MAX : threads * block[2];
  return threads > UINT32_MAX ? UINT32_MAX : (uint32_t)threads;
}

static bool refuse_unknown_kernel(Device *device, const LaunchRequest *request) {
  const Program *program = request->module->program;
  const char *names[NAMES_SHOWN];
  uint32_t count = 0;
  for (uint32_t i = 0; i < program->function_count && count < NAMES_SHOWN; i++) {
    if (program->functions[i].is_kernel) names[count++] = program->functions[i].name;
  }
  if (count == 0) return device_fail(device, "%s holds no kernel", program->file);
  const char *near = text_nearest(request->kernel, names, count);
  if (near != NULL) return device_fail(device, "no kernel '%s' in %s; did you mean '%s'?", request->kernel, program->file, near);
  return device_fail(device, "no kernel '%s' in %s; the first of its %u is '%s'", request->kernel, program->file, count, names[0]);
}

static bool check_grid(Device *device, const uint32_t grid[3]) {
  if (grid[0] == 0) return device_fail(device, "the grid is empty: it must have at least 1 block in each dimension");
  if (grid[0] > MOST_GRID_X) return device_fail(device, "grid of %u blocks in x: the limit is %u", grid[0], MOST_GRID_X);
  if (grid[1] > MOST_GRID_YZ || grid[2] > MOST_GRID_YZ) {
    return device_fail(device, "grid of %u x %u x %u blocks: the limit in y and z is %d", grid[0], grid[1], grid[2], MOST_GRID_YZ);
  }
  return true;
}

static bool check_block(Device *device, const Function *kernel, const uint32_t block[3]) {
  const Spec *spec = &device->spec;
  if (block[0] == 0) return device_fail(device, "the block is empty: it must have at least 1 thread in each dimension");
  uint32_t threads = threads_of(block), limit = (uint32_t)min_u64(spec->block_threads, spec->sm_threads);
  if (threads > limit) {
    return device_fail(device, "block of %u x %u x %u = %u threads: the limit is %u", block[0], block[1], block[2], threads, limit);
  }
  if (block[2] > MOST_BLOCK_Z) return device_fail(device, "block of %u threads in z: the limit is %d", block[2], MOST_BLOCK_Z);
  const uint32_t *most = kernel->max_threads, *required = kernel->required_threads;
  if (most[0] != 0 && threads > most[0] * max_u32(most[1], 1) * max_u32(most[2], 1)) {
    return device_fail(device, "block of %u threads: kernel '%s' was compiled for at most %u (.maxntid)", threads, SHORT_NAME(kernel->name),
                       most[0] * max_u32(most[1], 1) * max_u32(most[2], 1));
  }
  for (int i = 0; i < 3 && required[0] != 0; i++) {
    if (block[i] == max_u32(required[i], 1)) continue;
    return device_fail(device, "block of %u x %u x %u threads: kernel '%s' was compiled for exactly %u x %u x %u (.reqntid)", block[0],
                       block[1], block[2], SHORT_NAME(kernel->name), required[0], max_u32(required[1], 1), max_u32(required[2], 1));
  }
  uint64_t registers = (uint64_t)kernel->registers * align_up(threads, WARP_LANES);
  if (registers > spec->sm_registers) {
    return device_fail(
        device, "kernel '%s' needs %u registers x %u threads = %" PRIu64 ": an SM has %" PRIu64 " (smaller block, or --max-registers)",
        SHORT_NAME(kernel->name), kernel->registers, threads, registers, spec->sm_registers);
  }
  return true;
}

static uint64_t shared_bytes_of(const Function *kernel, uint32_t dynamic_bytes) {
  return dynamic_bytes == 0 ? kernel->shared_bytes : align_up(kernel->shared_bytes, 16) + dynamic_bytes;
}

uint32_t device_occupancy(const Device *device, const Function *kernel, uint32_t threads, uint32_t dynamic_shared_bytes) {
  const Spec *spec = &device->spec;
  if (threads == 0 || threads > spec->block_threads) return 0;
  uint64_t rounded = align_up(threads, WARP_LANES);
  uint64_t blocks = min_u64(spec->sm_blocks, spec->sm_threads / rounded);
  if (kernel->registers > 0) blocks = min_u64(blocks, spec->sm_registers / (launch_registers(spec, kernel, threads) * rounded));
  uint64_t shared = shared_bytes_of(kernel, dynamic_shared_bytes);
  if (shared > spec->block_shared) return 0;
  if (shared > 0) blocks = min_u64(blocks, spec->sm_shared / shared);
  return (uint32_t)blocks;
}

static bool check_cooperative(Device *device, const LaunchRequest *request, const Function *kernel) {
  uint64_t blocks = (uint64_t)request->grid[0] * request->grid[1] * request->grid[2];
  uint64_t room = device_occupancy(device, kernel, threads_of(request->block), request->dynamic_shared_bytes) * device->spec.sm_count;
  if (blocks <= room) return true;
  return device_fail(device, "cooperative launch of %" PRIu64 " blocks: %" PRIu64 " fit on the device at once", blocks, room);
}

// The blocks of a cluster run at the same time, wherever they fit. `cluster`: what was asked for, or what the kernel says.
static bool check_cluster(Device *device, const LaunchRequest *request, const Function *kernel, const uint32_t cluster[3]) {
  uint64_t blocks = 1;
  if (cluster[0] == 0) return true;
  for (int i = 0; i < 3; i++) {
    if (kernel->cluster[0] != 0 && cluster[i] != kernel->cluster[i])
      return device_fail(device, "kernel '%s' must be launched in clusters of %u x %u x %u blocks", SHORT_NAME(kernel->name),
                         kernel->cluster[0], kernel->cluster[1], kernel->cluster[2]);
    if (cluster[i] == 0 || request->grid[i] % cluster[i] != 0)
      return device_fail(device, "a grid of %u x %u x %u blocks cannot be cut into clusters of %u x %u x %u", request->grid[0],
                         request->grid[1], request->grid[2], cluster[0], cluster[1], cluster[2]);
    blocks = min_u64(blocks * cluster[i], UINT32_MAX);
  }
  if (blocks > MOST_CLUSTER_BLOCKS)
    return device_fail(device, "a cluster of %" PRIu64 " blocks: the most is %d", blocks, MOST_CLUSTER_BLOCKS);
  if (shared_bytes_of(kernel, request->dynamic_shared_bytes) > UINT64_C(1) << CLUSTER_RANK_SHIFT)
    return device_fail(device, "blocks of a cluster can have %u bytes of shared memory", 1u << CLUSTER_RANK_SHIFT);
  uint64_t room = device_occupancy(device, kernel, threads_of(request->block), request->dynamic_shared_bytes) * device->spec.sm_count;
  if (blocks <= room) return true;
  return device_fail(device, "a cluster of %" PRIu64 " blocks never fits: %" PRIu64 " fit on the device at once", blocks, room);
}

// Fills *kernel. The request's dimensions are already normal (no zeros in y and z).
bool launch_check(Device *device, const LaunchRequest *request, const Function **kernel) {
  const Function *function = program_function(request->module->program, request->kernel);
  if (function == NULL || !function->is_kernel) return refuse_unknown_kernel(device, request);
  *kernel = function;
  if (request->argument_count != function->param_count) {
    return device_fail(device, "kernel '%s' takes %u argument%s, %u given", SHORT_NAME(function->name), function->param_count,
                       function->param_count == 1 ? "" : "s", request->argument_count);
  }
  if (!check_grid(device, request->grid) || !check_block(device, function, request->block)) return false;
  uint64_t shared = shared_bytes_of(function, request->dynamic_shared_bytes);
  if (shared > device->spec.block_shared) {
    return device_fail(device, "kernel '%s' needs %" PRIu64 " bytes of shared memory (%u of them dynamic): the limit is %" PRIu64,
                       SHORT_NAME(function->name), shared, request->dynamic_shared_bytes, device->spec.block_shared);
  }
  const uint32_t *cluster = request->cluster[0] != 0 ? request->cluster : function->cluster;
  if (!check_cluster(device, request, function, cluster)) return false;
  return !request->cooperative || check_cooperative(device, request, function);
}

static void fill_environment(const Device *device, const Module *module, MachineEnvironment *environment) {
  const Program *program = module->program;
  uint64_t limit = device->spec.limit_instructions; // children start only below it
  *environment = (MachineEnvironment){
      .memory = device->memory,
      .textures = device->textures.items,
      .texture_count = device->textures.count,
      .const_bank = program->const_bytes == 0 ? NULL : memory_at(device->memory, module->const_address, program->const_bytes),
      .symbol_bank = module->symbol_bank,
      .code_address = module->code_at,
      .const_address = program->const_bytes == 0 ? 0 : module->const_address - memory_base(device->memory),
      .symbol_address = module->symbols_at,
      .sm_count = (uint32_t)device->spec.sm_count,
      .stack_bytes = device->stack_bytes,
      .heap_bytes = device->heap_bytes + (module->launch_list != 0 ? launch_list_bytes(device) : 0),
      .instruction_limit = limit == 0 ? 0 : limit - device->executed,
      .interleave = (uint32_t)device->spec.functional_interleave,
      .print = device->options.print,
      .print_context = device->options.print_context,
      .progress = device->options.progress,
      .progress_context = device->options.progress_context,
  };
}

static const uint8_t *pack_arguments(Arena *arena, const LaunchRequest *request, const Function *kernel) {
  uint8_t *packed = arena_alloc(arena, kernel->param_bytes);
  for (uint32_t i = 0; i < kernel->param_count; i++) {
    const Param *param = &kernel->params[i];
    if (param->bytes > 0) memcpy(packed + param->offset, request->arguments[i], param->bytes);
  }
  return packed;
}

// Which of the protections do not cover the kernel, or not all of the launch.
static void note_covers(const Device *device, const Launch *launch, const Stats *stats, char note[LAUNCH_NOTE_BYTES]) {
  const HookChain *hooks = device->machine == NULL ? NULL : device->options.hooks;
  for (uint32_t i = 0; hooks != NULL && i < hooks->count && note[0] == '\0'; i++) {
    const Hook *hook = hooks->hooks[i];
    Text why = {0};
    if (hook->covers != NULL && !hook->covers(hook, launch->program, launch->kernel->name, &why))
      snprintf(note, LAUNCH_NOTE_BYTES, "%s does not cover it: %s", hook->name, why.at == NULL ? "" : why.at);
    else if (hook->lacks != NULL) hook->lacks(hook, &stats->value[STAT_COUNT - TALLY_COUNT], &why);
    if (note[0] == '\0' && why.length > 0) snprintf(note, LAUNCH_NOTE_BYTES, "%s: %s", hook->name, why.at);
    text_free(&why);
  }
}

static void record_launch(Device *device, const Launch *launch, const Stats *stats, double seconds) {
  LaunchRecord *record = VEC_PUSH(&device->records, device->arena);
  device->executed += stats->value[STAT_WARP_INSTRUCTIONS];
  device->trap.kernel = device_name_copy(device, device->trap.kernel);
  device->trap.function = device_name_copy(device, device->trap.function);
  *record = (LaunchRecord){
      .kernel = device_name_copy(device, launch->kernel->name), .stats = *stats, .trap = device->trap, .host_seconds = seconds};
  const Function *code = program_function(launch->program, launch->kernel->name);
  record->registers = launch->kernel->registers;
  record->needs = code == NULL ? 0 : min_u32(code->registers, record->registers);
  record->register_rows = stats->value[STAT_RESIDENT_WARPS] * launch->kernel->registers;
  memcpy(record->grid, launch->grid, sizeof record->grid);
  memcpy(record->block, launch->block, sizeof record->block);
  note_covers(device, launch, stats, record->note);
}

bool launch_report_trap(Device *device, const Program *program) {
  if (device->trap.kind == TRAP_NONE) return true;
  Text text = {0};
  trap_format(&device->trap, program, &text);
  size_t length = text.at == NULL ? 0 : strcspn(text.at, "\n");
  device_fail(device, "%.*s", (int)length, length == 0 ? "" : text.at);
  text_free(&text);
  return false;
}

static void run_launch(Device *device, const MachineEnvironment *environment, const Launch *launch, Stats *stats) {
  const Launcher *launcher = device->options.launcher;
  if (launcher != NULL) {
    launcher->launch(launcher->context, environment, launch, stats, &device->trap);
    return;
  }
  MachineEnvironment own = *environment;
  if (device->check != NULL) own.watch = memory_check_begin(device->check, launch);
  machine_begin(device->machine, &own, launch);
  machine_run(device->machine, UINT64_MAX);
  machine_end(device->machine, stats, &device->trap);
  if (device->check != NULL) memory_check_end(device->check);
}

// Machine and hooks are asked whether they can serve it, before anything of it happens.
static bool launch_admitted(Device *device, const Launch *launch) {
  Diags diags = {0};
  const HookChain *hooks = device->machine == NULL ? NULL : device->options.hooks;
  bool good = device->machine == NULL || machine_admits(device->machine, launch, &diags);
  if (good && hooks != NULL) {
    Who who = WHO_NOBODY;
    who.launch = launch->number;
    LaunchEvent event = {.who = &who, .kernel = launch->kernel->name, .shared_bytes = launch->dynamic_shared_bytes};
    event.block_slots = device_occupancy(device, launch->kernel, threads_of(launch->block), launch->dynamic_shared_bytes);
    memcpy(event.grid, launch->grid, sizeof event.grid);
    memcpy(event.block, launch->block, sizeof event.block);
    good = hook_chain_admits(hooks, launch->program, &event, &diags);
  }
  if (!good) device_fail(device, "%s", diags.items[0].text);
  diags_free(&diags);
  return good;
}

bool launch_once(Device *device, const LaunchRequest *wanted) {
  device->error[0] = '\0';
  device->trap = (Trap){0};
  LaunchRequest request = *wanted;
  for (int i = 1; i < 3; i++) {
    request.grid[i] = max_u32(request.grid[i], 1);
    request.block[i] = max_u32(request.block[i], 1);
  }
  const Function *kernel = program_function(request.module->program, request.kernel);
  if (kernel != NULL) request.module = module_fitting(request.module, kernel, threads_of(request.block));
  if (!launch_check(device, &request, &kernel)) return false;
  uint64_t workspace = 0;
  if (request.cooperative) {
    workspace = device_alloc(device, GRID_WORKSPACE_BYTES);
    if (workspace == 0 || !device_set(device, workspace, 0, GRID_WORKSPACE_BYTES)) return false;
  }
  Arena *scratch = arena_new();
  Function owning = *kernel; // machines see the registers that a thread owns
  owning.registers = launch_registers(&device->spec, kernel, threads_of(request.block));
  Launch launch = {.program = request.module->program,
                   .kernel = &owning,
                   .dynamic_shared_bytes = request.dynamic_shared_bytes,
                   .params = pack_arguments(scratch, &request, kernel),
                   .cooperative = request.cooperative,
                   .grid_workspace = workspace,
                   .number = 1 + (uint64_t)device->records.count};
  memcpy(launch.grid, request.grid, sizeof launch.grid);
  memcpy(launch.block, request.block, sizeof launch.block);
  memcpy(launch.cluster, request.cluster[0] != 0 ? request.cluster : kernel->cluster, sizeof launch.cluster);
  MachineEnvironment environment;
  fill_environment(device, request.module, &environment);
  if (!launch_admitted(device, &launch)) {
    if (workspace != 0) memory_release(device->memory, workspace);
    arena_free(scratch);
    return false;
  }
  Stats stats = {0};
  double start = device->options.clock == NULL ? 0 : device->options.clock();
  if (environment.const_bank != NULL)
    device_tell_host(device, HOST_SHOWS, request.module->const_address, request.module->program->const_bytes);
  run_launch(device, &environment, &launch, &stats);
  // Managed memory is read without a word; children are started from what kernels have left in memory.
  if (device->options.same_address || request.module->launch_list != 0) device_tell_host(device, HOST_READS, 0, UINT64_MAX);
  double seconds = device->options.clock == NULL ? 0 : device->options.clock() - start;
  record_launch(device, &launch, &stats, seconds);
  arena_free(scratch);
  if (workspace != 0) memory_release(device->memory, workspace);
  return launch_report_trap(device, request.module->program);
}

bool device_launch(Device *device, const LaunchRequest *request) {
  device->executed = 0;
  return launch_once(device, request) && (request->module->launch_list == 0 || launch_children(device, request->module));
}

void device_idle(const Device *device, Text *out) {
  Stats total = {0};
  if (device->machine == NULL || device->options.hooks == NULL || device->records.count == 0) return;
  for (uint32_t i = 0; i < device->records.count; i++) {
    for (int k = 0; k < STAT_COUNT; k++) total.value[k] += device->records.items[i].stats.value[k];
  }
  protections_idle(device->options.hooks, &total, out);
}

uint32_t device_launch_count(const Device *device) { return device->records.count; }
const LaunchRecord *device_launch_record(const Device *device, uint32_t index) { return &device->records.items[index]; }
const Trap *device_trap(const Device *device) { return &device->trap; }
