// Launches: checks that CUDA makes before a kernel starts, the launch itself, and what a trap becomes.
#include "cudart/runtime.h"

#include "cudart/size.h"
#include "device/record.h"

#include <stdio.h>
#include <unistd.h>

enum { LAUNCH_NS = 2000, DEFAULT_SHARED = 48 << 10, MOST_GRID_YZ = 65535, MOST_BLOCK_Z = 64, CONFIGURATIONS = 16, MOST_ARGUMENTS = 512 };

// The error an application would see on hardware. All are sticky.
static const CudaError error_of_trap[TRAP_COUNT] = {
    [TRAP_NONE] = cudaSuccess,
    [TRAP_ILLEGAL_ADDRESS] = cudaErrorIllegalAddress,
    [TRAP_MISALIGNED] = cudaErrorMisalignedAddress,
    [TRAP_ILLEGAL_INSTRUCTION] = cudaErrorIllegalInstruction,
    [TRAP_INVALID_PC] = cudaErrorInvalidPc,
    [TRAP_STACK_OVERFLOW] = cudaErrorHardwareStackError,
    [TRAP_ASSERT] = cudaErrorAssert,
    [TRAP_TRAP] = cudaErrorLaunchFailure,
    [TRAP_BARRIER_DEADLOCK] = cudaErrorLaunchTimeout,
    [TRAP_LIMIT] = cudaErrorLaunchTimeout,
    [TRAP_INVALID_TEXTURE] = cudaErrorIllegalAddress,
    [TRAP_STOPPED] = cudaErrorLaunchFailure,
    [TRAP_DETECTED] = cudaErrorECCUncorrectable,
    [TRAP_HANG] = cudaErrorLaunchTimeout,
    [TRAP_LAUNCH_DEPTH] = cudaErrorLaunchMaxDepthExceeded,
    [TRAP_PENDING_LAUNCHES] = cudaErrorLaunchPendingCountExceeded,
    [TRAP_LAUNCHES] = cudaErrorLaunchTimeout,
};

static CudaError check_dimensions(const Runtime *runtime, const LaunchWish *wish) {
  const Spec *spec = &runtime->environment.spec;
  const Dim3 *grid = &wish->grid, *block = &wish->block;
  bool empty = grid->x == 0 || grid->y == 0 || grid->z == 0 || block->x == 0 || block->y == 0 || block->z == 0;
  bool wide = grid->x > INT32_MAX || grid->y > MOST_GRID_YZ || grid->z > MOST_GRID_YZ;
  bool big = block->x > spec->block_threads || block->y > spec->block_threads || block->z > MOST_BLOCK_Z ||
             (uint64_t)block->x * block->y * block->z > spec->block_threads;
  return empty || wide || big ? cudaErrorInvalidConfiguration : cudaSuccess;
}

// NVIDIA's compiler limits the registers of a kernel so that its blocks fit; here the block is known first when it is launched.
static const Function *fit_registers(Kernel *kernel, uint64_t threads) {
  const Function *fitting = device_fitting(kernel->binary->module, kernel->function, threads);
  if (fitting != kernel->function && !kernel->said_registers)
    runtime_say("kernel %s has %u registers instead of %u, so that %llu threads fit into an SM; the rest is in local memory",
                SHORT_NAME(kernel->name), fitting->registers, kernel->function->registers, (unsigned long long)threads);
  kernel->said_registers |= fitting != kernel->function;
  return fitting;
}

// Blocks of a cluster: those of the launch, those that were set for the kernel, those that it was compiled for. Zeros: none.
static void cluster_of(const LaunchWish *wish, const Kernel *kernel, uint32_t cluster[3]) {
  const uint32_t given[] = {wish->cluster.x, wish->cluster.y, wish->cluster.z};
  const uint32_t *from = given[0] != 0 ? given : kernel->cluster[0] != 0 ? kernel->cluster : kernel->function->cluster;
  for (int i = 0; i < 3; i++) cluster[i] = from[0] == 0 ? 0 : max_u32(from[i], 1);
}

static CudaError check_cluster(const LaunchWish *wish, const Kernel *kernel) {
  const uint32_t grid[] = {wish->grid.x, wish->grid.y, wish->grid.z};
  uint32_t cluster[3];
  uint64_t blocks = 1;
  cluster_of(wish, kernel, cluster);
  for (int i = 0; i < 3 && cluster[0] != 0; i++) {
    if (grid[i] % cluster[i] != 0) return cudaErrorInvalidClusterSize;
    blocks = min_u64(blocks * cluster[i], UINT32_MAX);
  }
  return blocks > (kernel->non_portable ? (uint64_t)MOST_CLUSTER_BLOCKS : MOST_PORTABLE) ? cudaErrorInvalidClusterSize : cudaSuccess;
}

static CudaError check_resources(const Runtime *runtime, const LaunchWish *wish, Kernel *kernel) {
  const Spec *spec = &runtime->environment.spec;
  const Function *function = kernel->function;
  uint64_t threads = (uint64_t)wish->block.x * wish->block.y * wish->block.z;
  const uint32_t *most = function->max_threads;
  if (most[0] != 0 && threads > (uint64_t)most[0] * max_u32(most[1], 1) * max_u32(most[2], 1)) return cudaErrorLaunchOutOfResources;
  uint64_t allowed = kernel->max_dynamic_shared >= 0 ? (uint64_t)kernel->max_dynamic_shared : 0;
  allowed = max_u64(allowed, DEFAULT_SHARED - min_u64(function->shared_bytes, DEFAULT_SHARED));
  if (wish->shared_bytes > allowed || wish->shared_bytes + function->shared_bytes > spec->block_shared) return cudaErrorInvalidValue;
  function = fit_registers(kernel, threads);
  if (function->registers * align_up(threads, WARP_LANES) > spec->sm_registers) {
    runtime_say("kernel %s needs %u registers for each of %llu threads, an SM has %llu; --max-registers spills some",
                SHORT_NAME(kernel->name), function->registers, (unsigned long long)threads, (unsigned long long)spec->sm_registers);
    return cudaErrorLaunchOutOfResources;
  }
  if (check_cluster(wish, kernel) != cudaSuccess) return cudaErrorInvalidClusterSize;
  uint64_t blocks = (uint64_t)wish->grid.x * wish->grid.y * wish->grid.z;
  uint64_t fit = device_occupancy(runtime->device, function, (uint32_t)threads, (uint32_t)wish->shared_bytes) * spec->sm_count;
  return wish->cooperative && blocks > fit ? cudaErrorCooperativeLaunchTooLarge : cudaSuccess;
}

static void report_launch(Runtime *runtime, uint32_t index) {
  const LaunchRecord *record = device_launch_record(runtime->device, index);
  runtime->clock_ns += LAUNCH_NS + record->stats.value[STAT_CYCLES];
  Text bytes = {0};
  record_pack_launch(record, &bytes);
  runtime_record(runtime, &bytes);
  text_free(&bytes);
}

// Pointers into the buffer that holds all arguments: extra = {1, buffer, 2, &size, 0}.
bool kernel_extra_arguments(const Function *function, void **extra, void **arguments) {
  enum { END = 0, BUFFER = 1, SIZE = 2, MOST_ITEMS = 8 };
  uint8_t *buffer = NULL;
  size_t bytes = SIZE_MAX; // not said
  for (int i = 0; i < MOST_ITEMS && address_of(extra[i]) != END; i += 2) {
    if (address_of(extra[i]) == BUFFER) buffer = extra[i + 1];
    if (address_of(extra[i]) == SIZE && extra[i + 1] != NULL) memcpy(&bytes, extra[i + 1], sizeof bytes);
  }
  for (uint32_t i = 0; i < function->param_count; i++) {
    if (buffer == NULL || !size_is_within(function->params[i].offset, function->params[i].bytes, bytes)) return false;
    arguments[i] = buffer + function->params[i].offset;
  }
  return true;
}

bool kernel_arguments_are_there(const Function *function, void *const *arguments) {
  if (arguments == NULL) return function->param_count == 0;
  for (uint32_t i = 0; i < function->param_count; i++) {
    if (arguments[i] == NULL && function->params[i].bytes > 0) return false;
  }
  return true;
}

// Those that the launches since number `before` have changed: a program may end in any way.
static void report_findings(Runtime *runtime, uint32_t before) {
  const MemoryCheck *check = device_check(runtime->device);
  Text bytes = {0};
  for (uint32_t i = 0; i < memory_check_count(check); i++) {
    const MemoryFinding *finding = memory_check_finding(check, i);
    if (finding->last_launch > before) record_pack_finding((uint32_t)getpid(), i, finding, &bytes);
  }
  if (bytes.length > 0) runtime_record(runtime, &bytes);
  text_free(&bytes);
}

// All that decides a launch, besides memory.
static uint64_t hash_request(const LaunchRequest *request, const Function *function) {
  uint64_t hash = hash_bytes(request->kernel, strlen(request->kernel), 1);
  const uint32_t shape[] = {request->grid[0],
                            request->grid[1],
                            request->grid[2],
                            request->block[0],
                            request->block[1],
                            request->block[2],
                            request->dynamic_shared_bytes,
                            request->cooperative};
  hash = hash_bytes(shape, sizeof shape, hash);
  if (request->cluster[0] != 0) hash = hash_bytes(request->cluster, sizeof request->cluster, hash);
  for (uint32_t i = 0; i < function->param_count; i++) hash = hash_bytes(request->arguments[i], function->params[i].bytes, hash);
  return hash | 1; // never 0
}

CudaError launch_run(Runtime *runtime, const LaunchWish *wish) {
  if (runtime->sticky != cudaSuccess) return runtime->sticky;
  Kernel *kernel;
  CudaError error = check_dimensions(runtime, wish);
  if (error == cudaSuccess) error = kernel_load(runtime, wish->function, &kernel);
  if (error == cudaSuccess) error = check_resources(runtime, wish, kernel);
  if (error != cudaSuccess) return error;
  void *unpacked[MOST_ARGUMENTS], **arguments = wish->arguments;
  if (arguments == NULL && wish->extra != NULL && kernel->function->param_count <= MOST_ARGUMENTS) {
    if (!kernel_extra_arguments(kernel->function, wish->extra, unpacked)) return cudaErrorInvalidValue;
    arguments = unpacked;
  }
  if (!kernel_arguments_are_there(kernel->function, arguments)) return cudaErrorInvalidValue;
  LaunchRequest request = {.module = kernel->binary->module,
                           .kernel = kernel->name,
                           .grid = {wish->grid.x, wish->grid.y, wish->grid.z},
                           .block = {wish->block.x, wish->block.y, wish->block.z},
                           .dynamic_shared_bytes = (uint32_t)wish->shared_bytes,
                           .arguments = (const void *const *)arguments,
                           .argument_count = kernel->function->param_count,
                           .cooperative = wish->cooperative};
  cluster_of(wish, kernel, request.cluster);
  uint32_t before = device_launch_count(runtime->device);
  if (runtime->environment.campaign != NULL) app_process_launches(runtime->environment.campaign, hash_request(&request, kernel->function));
  bool went_well = device_launch(runtime->device, &request);
  app_process_launched(runtime->environment.campaign);
  for (uint32_t i = before; i < device_launch_count(runtime->device); i++) report_launch(runtime, i); // more: kernels launch kernels
  report_findings(runtime, before);
  if (went_well) return cudaSuccess;
  const char *why = device_error(runtime->device);
  runtime_say("%s", why);
  TrapKind trap = device_trap(runtime->device)->kind;
  if (trap == TRAP_NONE) return cudaErrorLaunchFailure; // refused
  // The program learns of it at its next call, as on hardware, where launches do not wait.
  runtime->sticky = error_of_trap[trap];
  return cudaSuccess;
}

// ---- The API ------------------------------------------------------------------------------------------

static CudaError launch(const LaunchWish *wish, Stream *stream) {
  Runtime *runtime = runtime_enter();
  CudaError pending = runtime->sticky;
  Operation operation = {.params = {.type = NODE_KERNEL}, .cooperative = wish->cooperative, .cluster = wish->cluster};
  operation.params.of.kernel = (KernelNodeParams){pointer_of(address_of(wish->function)),
                                                  wish->grid,
                                                  wish->block,
                                                  (uint32_t)min_u64(wish->shared_bytes, UINT32_MAX),
                                                  wish->arguments,
                                                  NULL};
  CudaError error = operation_queue(runtime, &operation, stream);
  if (pending != cudaSuccess || error != cudaSuccess) return runtime_leave(runtime, error);
  runtime_leave_quietly(runtime);
  return cudaSuccess;
}

CUDART(cudaLaunchKernel, const void *function, Dim3 grid, Dim3 block, void **arguments, size_t shared_bytes, Stream *stream) {
  return launch(&(LaunchWish){function, grid, block, shared_bytes, arguments, false, NULL, {0, 0, 0}}, stream);
}
CUDART_ALIAS(cudaLaunchKernel_ptsz, cudaLaunchKernel)

CUDART(__cudaLaunchKernel, const void *kernel, Dim3 grid, Dim3 block, void **arguments, size_t shared_bytes, Stream *stream) {
  return launch(&(LaunchWish){kernel, grid, block, shared_bytes, arguments, false, NULL, {0, 0, 0}}, stream);
}
CUDART_ALIAS(__cudaLaunchKernel_ptsz, __cudaLaunchKernel)

CUDART(cudaLaunchCooperativeKernel, const void *function, Dim3 grid, Dim3 block, void **arguments, size_t shared_bytes, Stream *stream) {
  return launch(&(LaunchWish){function, grid, block, shared_bytes, arguments, true, NULL, {0, 0, 0}}, stream);
}
CUDART_ALIAS(cudaLaunchCooperativeKernel_ptsz, cudaLaunchCooperativeKernel)

CUDART(cudaLaunchKernelExC, const LaunchConfig *config, const void *function, void **arguments) {
  bool good = config != NULL && (config->attribute_count == 0 || config->attributes != NULL);
  if (!good) return runtime_leave(runtime_enter(), cudaErrorInvalidValue);
  LaunchWish wish = {function, config->grid, config->block, config->dynamic_shared_bytes, arguments, false, NULL, {0, 0, 0}};
  for (uint32_t i = 0; i < config->attribute_count; i++) {
    const LaunchAttribute *attribute = &config->attributes[i];
    if (attribute->id == LAUNCH_ATTRIBUTE_COOPERATIVE) wish.cooperative = attribute->value.number != 0;
    if (attribute->id == LAUNCH_ATTRIBUTE_CLUSTER) wish.cluster = attribute->value.cluster;
  }
  return launch(&wish, config->stream);
}
CUDART_ALIAS(cudaLaunchKernelExC_ptsz, cudaLaunchKernelExC)

// k<<<grid, block, shared, stream>>>(...) is a push, then a call of the stub, which pops. Per thread.
typedef struct Configuration {
  Dim3 grid, block;
  size_t shared_bytes;
  Stream *stream;
} Configuration;
static __thread Configuration pushed[CONFIGURATIONS];
static __thread uint32_t pushed_count;

EXPORT unsigned __cudaPushCallConfiguration(Dim3 grid, Dim3 block, size_t shared_bytes, Stream *stream);
unsigned __cudaPushCallConfiguration(Dim3 grid, Dim3 block, size_t shared_bytes, Stream *stream) {
  if (pushed_count == CONFIGURATIONS) return 1;
  pushed[pushed_count++] = (Configuration){grid, block, shared_bytes, stream};
  return 0;
}

CUDART(__cudaPopCallConfiguration, Dim3 *grid, Dim3 *block, size_t *shared_bytes, void *stream) {
  if (pushed_count == 0) return cudaErrorMissingConfiguration;
  if (grid == NULL || block == NULL || shared_bytes == NULL || stream == NULL) return cudaErrorInvalidValue;
  const Configuration *top = &pushed[--pushed_count];
  *grid = top->grid;
  *block = top->block;
  *shared_bytes = top->shared_bytes;
  memcpy(stream, &top->stream, sizeof top->stream);
  return cudaSuccess;
}

CUDART(__cudaGetKernel, const void **kernel, const void *host) {
  if (kernel == NULL) return runtime_leave(runtime_enter(), cudaErrorInvalidValue);
  *kernel = host;
  return cudaSuccess;
}
CUDART_ALIAS(cudaGetKernel, __cudaGetKernel)
CUDART_ALIAS(cudaGetFuncBySymbol, __cudaGetKernel)
