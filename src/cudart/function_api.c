// Kernels as the host sees them: attributes and occupancy.
#include "cudart/runtime.h"

enum { DEFAULT_SHARED = 48 << 10, MOST_CARVEOUT = 100 };

static int most_threads(const Runtime *runtime, const Function *function) {
  const Spec *spec = &runtime->environment.spec;
  uint64_t most = spec->block_threads;
  const uint32_t *bound = function->max_threads;
  if (bound[0] != 0) most = min_u64(most, (uint64_t)bound[0] * max_u32(bound[1], 1) * max_u32(bound[2], 1));
  // A kernel that needs more than its block can have is compiled again with fewer, down to DEVICE_LEAST_REGISTERS.
  if (function->registers != 0)
    most = min_u64(most, spec->sm_registers / min_u32(function->registers, DEVICE_LEAST_REGISTERS) / WARP_LANES * WARP_LANES);
  return (int)most;
}

static int most_dynamic_shared(const Kernel *kernel) {
  int fixed = DEFAULT_SHARED - (int)min_u32(kernel->function->shared_bytes, DEFAULT_SHARED);
  return kernel->max_dynamic_shared > fixed ? kernel->max_dynamic_shared : fixed;
}

CUDART(cudaFuncGetAttributes, FuncAttributes *attributes, const void *host) {
  Runtime *runtime = runtime_enter();
  Kernel *kernel;
  if (attributes == NULL) return runtime_leave(runtime, cudaErrorInvalidValue);
  CudaError error = kernel_load(runtime, host, &kernel);
  if (error != cudaSuccess) return runtime_leave(runtime, error);
  const Function *function = kernel->function;
  int version = (int)kernel->binary->arch;
  *attributes = (FuncAttributes){.shared_bytes = function->shared_bytes,
                                 .const_bytes = module_program(kernel->binary->module)->const_bytes,
                                 .local_bytes = function->stack_bytes,
                                 .max_threads_per_block = most_threads(runtime, function),
                                 .registers = (int)device_registers(&runtime->environment.spec, function),
                                 .ptx_version = version,
                                 .binary_version = version,
                                 .max_dynamic_shared = most_dynamic_shared(kernel),
                                 .carveout = kernel->carveout};
  const uint32_t *cluster = kernel->cluster[0] != 0 ? kernel->cluster : function->cluster;
  for (int i = 0; i < 3; i++) attributes->cluster[1 + i] = (int)cluster[i];
  attributes->cluster[5] = kernel->non_portable;
  return runtime_leave(runtime, cudaSuccess);
}

static CudaError set_attribute(Runtime *runtime, const void *host, int attribute, int value) {
  Kernel *kernel;
  CudaError error = kernel_load(runtime, host, &kernel);
  if (error != cudaSuccess) return error;
  if (attribute == FUNC_ATTRIBUTE_CARVEOUT) {
    if (value < -1 || value > MOST_CARVEOUT) return cudaErrorInvalidValue;
    kernel->carveout = value;
    return cudaSuccess;
  }
  if (attribute >= FUNC_ATTRIBUTE_CLUSTER && attribute < FUNC_ATTRIBUTE_CLUSTER + 3) {
    if (value < 0 || kernel->function->cluster[0] != 0) return cudaErrorInvalidValue; // what it was compiled for stays
    kernel->cluster[attribute - FUNC_ATTRIBUTE_CLUSTER] = (uint32_t)value;
    return cudaSuccess;
  }
  if (attribute == FUNC_ATTRIBUTE_NON_PORTABLE) kernel->non_portable = value != 0;
  if (attribute == FUNC_ATTRIBUTE_NON_PORTABLE || attribute == FUNC_ATTRIBUTE_CLUSTER_POLICY) return cudaSuccess;
  if (attribute != FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED)
    return attribute < FUNC_ATTRIBUTE_COUNT ? cudaErrorNotSupported : cudaErrorInvalidValue;
  uint64_t most = runtime->environment.spec.block_shared - min_u64(kernel->function->shared_bytes, runtime->environment.spec.block_shared);
  if (value < 0 || (uint64_t)value > most) return cudaErrorInvalidValue;
  kernel->max_dynamic_shared = value;
  return cudaSuccess;
}

CUDART(cudaFuncSetAttribute, const void *host, int attribute, int value) {
  Runtime *runtime = runtime_enter();
  return runtime_leave(runtime, set_attribute(runtime, host, attribute, value));
}

CUDART(cudaKernelSetAttributeForDevice, const void *host, int attribute, int value, int device) {
  Runtime *runtime = runtime_enter();
  return runtime_leave(runtime, device == 0 ? set_attribute(runtime, host, attribute, value) : cudaErrorInvalidDevice);
}

static CudaError know_kernel(const void *host, bool good) {
  Runtime *runtime = runtime_enter();
  if (!good) return runtime_leave(runtime, cudaErrorInvalidValue);
  return runtime_leave(runtime, kernel_find(runtime, host) == NULL ? cudaErrorInvalidDeviceFunction : cudaSuccess);
}
CUDART(cudaFuncSetCacheConfig, const void *host, int config) { return know_kernel(host, config >= 0 && config <= 3); }
CUDART(cudaFuncSetSharedMemConfig, const void *host, int config) { return know_kernel(host, config >= 0 && config <= 2); }

CUDART(cudaFuncGetName, const char **name, const void *host) {
  Runtime *runtime = runtime_enter();
  const Kernel *kernel = kernel_find(runtime, host);
  if (name == NULL || kernel == NULL) return runtime_leave(runtime, cudaErrorInvalidValue);
  *name = kernel->name;
  return runtime_leave(runtime, cudaSuccess);
}

CUDART(cudaFuncGetParamInfo, const void *host, size_t index, size_t *offset, size_t *bytes) {
  Runtime *runtime = runtime_enter();
  Kernel *kernel;
  CudaError error = kernel_load(runtime, host, &kernel);
  if (error != cudaSuccess) return runtime_leave(runtime, error);
  if (index >= kernel->function->param_count) return runtime_leave(runtime, cudaErrorInvalidValue);
  if (offset != NULL) *offset = kernel->function->params[index].offset;
  if (bytes != NULL) *bytes = kernel->function->params[index].bytes;
  return runtime_leave(runtime, cudaSuccess);
}

// ---- Occupancy ------------------------------------------------------------------------------------------------

// Programs make a grid of no blocks of the answer 0, and its error says nothing of the cause.
static void say_shared(const Runtime *runtime, Kernel *kernel) {
  const Spec *spec = &runtime->environment.spec;
  if (kernel->function->shared_bytes <= spec->block_shared || kernel->said_shared) return;
  kernel->said_shared = true;
  runtime_say("kernel %s cannot run on %s: it needs %u bytes of shared memory, a block has %llu", SHORT_NAME(kernel->name), spec->machine,
              kernel->function->shared_bytes, (unsigned long long)spec->block_shared);
}

CUDART(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, int *blocks, const void *host, int threads, size_t shared_bytes,
       uint32_t flags) {
  (void)flags;
  Runtime *runtime = runtime_enter();
  Kernel *kernel;
  if (blocks == NULL || threads <= 0) return runtime_leave(runtime, cudaErrorInvalidValue);
  CudaError error = kernel_load(runtime, host, &kernel);
  if (error != cudaSuccess) return runtime_leave(runtime, error);
  uint32_t shared = (uint32_t)min_u64(shared_bytes, UINT32_MAX);
  bool bounded = threads > most_threads(runtime, kernel->function);
  say_shared(runtime, kernel);
  const Function *function = bounded ? NULL : device_fitting(kernel->binary->module, kernel->function, (uint64_t)threads);
  *blocks = bounded ? 0 : (int)device_occupancy(runtime->device, function, (uint32_t)threads, shared);
  return runtime_leave(runtime, cudaSuccess);
}

CUDART(cudaOccupancyMaxActiveBlocksPerMultiprocessor, int *blocks, const void *host, int threads, size_t shared_bytes) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, host, threads, shared_bytes, 0);
}

CUDART(cudaOccupancyAvailableDynamicSMemPerBlock, size_t *bytes, const void *host, int blocks, int threads) {
  Runtime *runtime = runtime_enter();
  Kernel *kernel;
  if (bytes == NULL || blocks <= 0 || threads <= 0) return runtime_leave(runtime, cudaErrorInvalidValue);
  CudaError error = kernel_load(runtime, host, &kernel);
  if (error != cudaSuccess) return runtime_leave(runtime, error);
  const Spec *spec = &runtime->environment.spec;
  uint64_t each = min_u64(spec->sm_shared / (uint64_t)blocks, spec->block_shared), fixed = align_up(kernel->function->shared_bytes, 16);
  *bytes = each > fixed ? (each - fixed) & ~(size_t)15 : 0;
  return runtime_leave(runtime, cudaSuccess);
}

// What a launch asks of clusters, and what fits.
typedef struct ClusterFit {
  uint64_t blocks;   // that fit on the device at once. Clusters take any SMs, so that only their number counts
  uint32_t cluster;  // blocks of a cluster, as the kernel or the launch has it
  uint32_t required; // as the kernel alone has it; 0: it leaves that open
  uint32_t most;     // that a cluster may have
} ClusterFit;

static uint32_t cluster_size(const uint32_t sides[3]) {
  return (uint32_t)min_u64((uint64_t)max_u32(sides[0], 1) * max_u32(sides[1], 1) * max_u32(sides[2], 1), UINT32_MAX);
}

static CudaError fit_clusters(const void *host, const LaunchConfig *config, ClusterFit *fit) {
  Runtime *runtime = runtime_enter();
  Kernel *kernel;
  if (config == NULL || (config->attribute_count != 0 && config->attributes == NULL)) return runtime_leave(runtime, cudaErrorInvalidValue);
  CudaError error = kernel_load(runtime, host, &kernel);
  if (error != cudaSuccess) return runtime_leave(runtime, error);
  const uint32_t *sides = kernel->cluster[0] != 0 ? kernel->cluster : kernel->function->cluster;
  fit->required = sides[0] != 0 ? cluster_size(sides) : 0;
  fit->cluster = max_u32(fit->required, 1);
  fit->most = kernel->non_portable ? MOST_CLUSTER_BLOCKS : MOST_PORTABLE;
  for (uint32_t i = 0; i < config->attribute_count; i++) {
    Dim3 given = config->attributes[i].value.cluster;
    if (config->attributes[i].id == LAUNCH_ATTRIBUTE_CLUSTER) fit->cluster = cluster_size((uint32_t[]){given.x, given.y, given.z});
  }
  uint64_t threads = (uint64_t)config->block.x * config->block.y * config->block.z;
  uint32_t shared = (uint32_t)min_u64(config->dynamic_shared_bytes, UINT32_MAX);
  bool bounded = threads == 0 || threads > (uint64_t)most_threads(runtime, kernel->function);
  const Function *function = bounded ? NULL : device_fitting(kernel->binary->module, kernel->function, threads);
  fit->blocks = bounded ? 0 : device_occupancy(runtime->device, function, (uint32_t)threads, shared) * runtime->environment.spec.sm_count;
  return runtime_leave(runtime, cudaSuccess);
}

CUDART(cudaOccupancyMaxActiveClusters, int *clusters, const void *host, const LaunchConfig *config) {
  ClusterFit fit;
  if (clusters == NULL) return runtime_leave(runtime_enter(), cudaErrorInvalidValue);
  CudaError error = fit_clusters(host, config, &fit);
  if (error == cudaSuccess) *clusters = fit.cluster > MOST_CLUSTER_BLOCKS ? 0 : (int)(fit.blocks / fit.cluster);
  return error;
}

// The cluster that the launch names does not count; the one that the kernel needs does.
CUDART(cudaOccupancyMaxPotentialClusterSize, int *size, const void *host, const LaunchConfig *config) {
  ClusterFit fit;
  if (size == NULL) return runtime_leave(runtime_enter(), cudaErrorInvalidValue);
  CudaError error = fit_clusters(host, config, &fit);
  if (error == cudaSuccess) *size = fit.required != 0 ? (int)fit.required : (int)min_u64(fit.blocks, fit.most);
  return error;
}
