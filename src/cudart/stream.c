// Streams: work is done at once, in the order of the calls, or captured into a graph.
#include "cudart/graph.h"

enum { STREAM_LEGACY = 1, STREAM_PER_THREAD = 2, LEAST_PRIORITY = 0, GREATEST_PRIORITY = -5, MOST_HOST_DEPTH = 64 };

Stream *stream_of(Runtime *runtime, Stream *handle) {
  if (address_of(handle) <= STREAM_PER_THREAD) return &runtime->default_stream;
  return handle_is(runtime, handle, HANDLE_STREAM) ? handle : NULL;
}

static CudaError run_kernel(Runtime *runtime, const Operation *operation) {
  const KernelNodeParams *kernel = &operation->params.of.kernel;
  LaunchWish wish = {kernel->function,  kernel->grid,           kernel->block, kernel->shared_bytes,
                     kernel->arguments, operation->cooperative, kernel->extra, operation->cluster};
  return launch_run(runtime, &wish);
}

// It may wait for another thread that calls CUDA, so the lock is given up. It may call CUDA itself, even launch what it is part of:
// not for ever.
static CudaError run_host_function(Runtime *runtime, const HostNodeParams *host) {
  static __thread int depth;
  if (depth == MOST_HOST_DEPTH) return cudaErrorNotPermitted;
  depth++;
  runtime_leave_quietly(runtime);
  host->function(host->data);
  runtime_enter();
  depth--;
  return cudaSuccess;
}

CudaError operation_run(Runtime *runtime, const Operation *operation) {
  if (runtime->sticky != cudaSuccess) return runtime->sticky;
  const GraphNodeParams *params = &operation->params;
  switch (params->type) {
  case NODE_KERNEL: return run_kernel(runtime, operation);
  case NODE_MEMCPY: return copy_3d(runtime, &params->of.copy.copy);
  case NODE_MEMSET: return set_bytes(runtime, &params->of.set);
  case NODE_HOST: return run_host_function(runtime, &params->of.host);
  case NODE_GRAPH: return graph_run(runtime, params->of.graph);
  case NODE_EVENT_RECORD:
    if (!handle_is(runtime, params->of.event, HANDLE_EVENT)) return cudaErrorInvalidResourceHandle;
    event_record_now(runtime, params->of.event);
    return cudaSuccess;
  case NODE_EMPTY:
  case NODE_WAIT_EVENT: // everything before it is done
  case NODE_MEM_ALLOC:  // graphs' memory lasts as long as the process
  case NODE_MEM_FREE: return cudaSuccess;
  default: return cudaErrorNotSupported;
  }
}

CudaError operation_queue(Runtime *runtime, const Operation *operation, Stream *handle) {
  Stream *stream = stream_of(runtime, handle);
  if (stream == NULL) return cudaErrorInvalidResourceHandle;
  return stream->capture != NULL ? graph_capture(runtime, stream, operation) : operation_run(runtime, operation);
}

// ---- Creation and properties ------------------------------------------------------------------------------

static CudaError create(Stream **stream, uint32_t flags, int priority) {
  Runtime *runtime = runtime_enter();
  if (stream == NULL || flags > 1) return runtime_leave(runtime, cudaErrorInvalidValue);
  *stream = handle_new(runtime, HANDLE_STREAM, sizeof **stream);
  if (priority > LEAST_PRIORITY) priority = LEAST_PRIORITY;
  if (priority < GREATEST_PRIORITY) priority = GREATEST_PRIORITY;
  (*stream)->id = ++runtime->ids;
  (*stream)->flags = flags;
  (*stream)->priority = priority;
  return runtime_leave(runtime, cudaSuccess);
}

CUDART(cudaStreamCreate, Stream **stream) { return create(stream, 0, 0); }
CUDART(cudaStreamCreateWithFlags, Stream **stream, uint32_t flags) { return create(stream, flags, 0); }
CUDART(cudaStreamCreateWithPriority, Stream **stream, uint32_t flags, int priority) { return create(stream, flags, priority); }

CUDART(cudaStreamDestroy, Stream *stream) {
  Runtime *runtime = runtime_enter();
  if (!handle_is(runtime, stream, HANDLE_STREAM)) return runtime_leave(runtime, cudaErrorInvalidResourceHandle);
  stream_end_capture(runtime, stream);
  handle_free(runtime, stream);
  return runtime_leave(runtime, cudaSuccess);
}

CUDART(cudaStreamSynchronize, Stream *handle) {
  Runtime *runtime = runtime_enter();
  Stream *stream = stream_of(runtime, handle);
  if (stream == NULL) return runtime_leave(runtime, cudaErrorInvalidResourceHandle);
  return runtime_leave(runtime, stream->capture != NULL ? cudaErrorStreamCaptureUnsupported : cudaSuccess);
}
CUDART_ALIAS(cudaStreamSynchronize_ptsz, cudaStreamSynchronize)
CUDART(cudaStreamQuery, Stream *handle) { return cudaStreamSynchronize(handle); }
CUDART_ALIAS(cudaStreamQuery_ptsz, cudaStreamQuery)

// Answers a question about a stream: `value` gets `of`'s answer.
#define STREAM_QUESTION(name, Type, answer)                                            \
  CUDART(name, Stream *handle, Type *value) {                                          \
    Runtime *runtime = runtime_enter();                                                \
    const Stream *stream = stream_of(runtime, handle);                                 \
    if (stream == NULL) return runtime_leave(runtime, cudaErrorInvalidResourceHandle); \
    if (value == NULL) return runtime_leave(runtime, cudaErrorInvalidValue);           \
    *value = (answer);                                                                 \
    return runtime_leave(runtime, cudaSuccess);                                        \
  }
STREAM_QUESTION(cudaStreamGetPriority, int, stream->priority)
CUDART_ALIAS(cudaStreamGetPriority_ptsz, cudaStreamGetPriority)
STREAM_QUESTION(cudaStreamGetFlags, uint32_t, stream->flags)
CUDART_ALIAS(cudaStreamGetFlags_ptsz, cudaStreamGetFlags)
STREAM_QUESTION(cudaStreamGetId, uint64_t, stream->id)
CUDART_ALIAS(cudaStreamGetId_ptsz, cudaStreamGetId)
STREAM_QUESTION(cudaStreamGetDevice, int, 0)
CUDART_ALIAS(cudaStreamGetDevice_ptsz, cudaStreamGetDevice)
STREAM_QUESTION(cudaStreamIsCapturing, int, stream->capture != NULL)
CUDART_ALIAS(cudaStreamIsCapturing_ptsz, cudaStreamIsCapturing)

CUDART(cudaDeviceGetStreamPriorityRange, int *least, int *greatest) {
  if (least != NULL) *least = LEAST_PRIORITY;
  if (greatest != NULL) *greatest = GREATEST_PRIORITY;
  return cudaSuccess;
}

// Attributes are hints for caches and schedulers: kept and handed back.
static CudaError access_attribute(Stream *handle, int id, void *value, bool set) {
  Runtime *runtime = runtime_enter();
  Stream *stream = stream_of(runtime, handle);
  if (stream == NULL) return runtime_leave(runtime, cudaErrorInvalidResourceHandle);
  if (value == NULL || id < 0 || (size_t)id >= COUNT_OF(stream->attributes)) return runtime_leave(runtime, cudaErrorInvalidValue);
  LaunchAttribute *attribute = &stream->attributes[id];
  if (set) memcpy(&attribute->value, value, sizeof attribute->value);
  else memcpy(value, &attribute->value, sizeof attribute->value);
  return runtime_leave(runtime, cudaSuccess);
}
CUDART(cudaStreamSetAttribute, Stream *handle, int id, const void *value) {
  return access_attribute(handle, id, pointer_of(address_of(value)), true);
}
CUDART_ALIAS(cudaStreamSetAttribute_ptsz, cudaStreamSetAttribute)
CUDART(cudaStreamGetAttribute, Stream *handle, int id, void *value) { return access_attribute(handle, id, value, false); }
CUDART_ALIAS(cudaStreamGetAttribute_ptsz, cudaStreamGetAttribute)

CUDART(cudaStreamCopyAttributes, Stream *to_handle, Stream *from_handle) {
  Runtime *runtime = runtime_enter();
  Stream *to = stream_of(runtime, to_handle), *from = stream_of(runtime, from_handle);
  if (to == NULL || from == NULL) return runtime_leave(runtime, cudaErrorInvalidResourceHandle);
  memmove(to->attributes, from->attributes, sizeof to->attributes);
  return runtime_leave(runtime, cudaSuccess);
}
CUDART_ALIAS(cudaStreamCopyAttributes_ptsz, cudaStreamCopyAttributes)

CUDART(cudaStreamAttachMemAsync, Stream *handle, void *pointer, size_t bytes, uint32_t flags) {
  (void)bytes, (void)flags;
  Runtime *runtime = runtime_enter();
  if (stream_of(runtime, handle) == NULL) return runtime_leave(runtime, cudaErrorInvalidResourceHandle);
  return runtime_leave(runtime, pointer == NULL ? cudaErrorInvalidValue : cudaSuccess);
}
CUDART_ALIAS(cudaStreamAttachMemAsync_ptsz, cudaStreamAttachMemAsync)

// ---- Host functions -------------------------------------------------------------------------------------------

CUDART(cudaLaunchHostFunc, Stream *handle, HostFunction function, void *data) {
  Runtime *runtime = runtime_enter();
  Operation operation = {.params = {.type = NODE_HOST, .of.host = {function, data}}};
  return runtime_leave(runtime, function == NULL ? cudaErrorInvalidValue : operation_queue(runtime, &operation, handle));
}
CUDART_ALIAS(cudaLaunchHostFunc_ptsz, cudaLaunchHostFunc)

CUDART(cudaStreamAddCallback, Stream *handle, StreamCallback callback, void *data, uint32_t flags) {
  Runtime *runtime = runtime_enter();
  Stream *stream = stream_of(runtime, handle);
  if (stream == NULL) return runtime_leave(runtime, cudaErrorInvalidResourceHandle);
  if (callback == NULL || flags != 0) return runtime_leave(runtime, cudaErrorInvalidValue);
  if (stream->capture != NULL) return runtime_leave(runtime, cudaErrorStreamCaptureUnsupported);
  CudaError status = runtime->sticky;
  runtime_leave_quietly(runtime);
  callback(handle, status, data);
  runtime_enter();
  return runtime_leave(runtime, cudaSuccess);
}
CUDART_ALIAS(cudaStreamAddCallback_ptsz, cudaStreamAddCallback)
