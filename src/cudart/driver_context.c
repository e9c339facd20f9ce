// The driver's contexts. There is one device and one address space, so a context is a name: all share memory, modules and streams.
// Each thread has a stack of them. A thread that never made one is in the primary context, as after a call of the runtime.
#include "cudart/runtime.h"

#include "cudart/driver.h"

enum { MOST_CONTEXTS = 64 };

struct Context {
  bool primary;
};

static __thread Context *stack[MOST_CONTEXTS];
static __thread uint32_t depth;

Context *context_primary(Runtime *runtime) {
  if (runtime->primary_context == NULL) {
    runtime->primary_context = handle_new(runtime, HANDLE_CONTEXT, sizeof(Context));
    runtime->primary_context->primary = true;
  }
  return runtime->primary_context;
}

static CudaError push(Runtime *runtime, Context *context) {
  if (!handle_is(runtime, context, HANDLE_CONTEXT)) return DRIVER_INVALID_CONTEXT;
  if (depth == MOST_CONTEXTS) return cudaErrorMemoryAllocation;
  stack[depth++] = context;
  return cudaSuccess;
}

static CudaError create(Context **context, DriverDevice device) {
  Runtime *runtime = runtime_enter();
  if (context == NULL) return runtime_leave(runtime, cudaErrorInvalidValue);
  if (device != 0) return runtime_leave(runtime, cudaErrorInvalidDevice);
  Context *made = handle_new(runtime, HANDLE_CONTEXT, sizeof *made);
  CudaError error = push(runtime, made);
  if (error == cudaSuccess) *context = made;
  else handle_free(runtime, made);
  return runtime_leave(runtime, error);
}
CUDART(cuCtxCreate_v2, Context **context, uint32_t flags, DriverDevice device) {
  (void)flags;
  return create(context, device);
}
CUDART(cuCtxCreate_v4, Context **context, void *parameters, uint32_t flags, DriverDevice device) {
  (void)parameters, (void)flags;
  return create(context, device);
}

CUDART(cuCtxCreate_v3, Context **context, void *parameters, int count, uint32_t flags, DriverDevice device) {
  (void)parameters, (void)count, (void)flags;
  return create(context, device);
}

CUDART(cuCtxDestroy_v2, Context *context) {
  Runtime *runtime = runtime_enter();
  bool good = handle_is(runtime, context, HANDLE_CONTEXT) && !context->primary;
  if (!good) return runtime_leave(runtime, DRIVER_INVALID_CONTEXT);
  handle_free(runtime, context);
  if (depth > 0 && stack[depth - 1] == context) depth--;
  return runtime_leave(runtime, cudaSuccess);
}

CUDART(cuCtxPushCurrent_v2, Context *context) {
  Runtime *runtime = runtime_enter();
  return runtime_leave(runtime, push(runtime, context));
}

CUDART(cuCtxPopCurrent_v2, Context **context) {
  Runtime *runtime = runtime_enter();
  if (depth == 0) return runtime_leave(runtime, DRIVER_INVALID_CONTEXT);
  depth--;
  if (context != NULL) *context = stack[depth];
  return runtime_leave(runtime, cudaSuccess);
}

// Takes the place of the uppermost; NULL only removes that.
CUDART(cuCtxSetCurrent, Context *context) {
  Runtime *runtime = runtime_enter();
  if (context != NULL && !handle_is(runtime, context, HANDLE_CONTEXT)) return runtime_leave(runtime, DRIVER_INVALID_CONTEXT);
  if (depth > 0) depth--;
  return runtime_leave(runtime, context == NULL ? cudaSuccess : push(runtime, context));
}

CUDART(cuCtxGetCurrent, Context **context) {
  Runtime *runtime = runtime_enter();
  if (context == NULL) return runtime_leave(runtime, cudaErrorInvalidValue);
  bool there = depth > 0 && handle_is(runtime, stack[depth - 1], HANDLE_CONTEXT);
  if (depth > 0 && !there) return runtime_leave(runtime, cudaErrorContextIsDestroyed); // by another thread
  *context = there ? stack[depth - 1] : context_primary(runtime);
  return runtime_leave(runtime, cudaSuccess);
}

CUDART(cuCtxGetDevice, DriverDevice *device) { return cuDeviceGet(device, 0); }
CUDART(cuCtxSynchronize, void) { return cudaDeviceSynchronize(); }

CUDART(cuDevicePrimaryCtxRetain, Context **context, DriverDevice device) {
  Runtime *runtime = runtime_enter();
  if (context == NULL) return runtime_leave(runtime, cudaErrorInvalidValue);
  if (device != 0) return runtime_leave(runtime, cudaErrorInvalidDevice);
  runtime->primary_retained++;
  *context = context_primary(runtime);
  return runtime_leave(runtime, cudaSuccess);
}

CUDART(cuDevicePrimaryCtxRelease_v2, DriverDevice device) {
  Runtime *runtime = runtime_enter();
  if (device != 0) return runtime_leave(runtime, cudaErrorInvalidDevice);
  if (runtime->primary_retained == 0) return runtime_leave(runtime, DRIVER_INVALID_CONTEXT);
  runtime->primary_retained--;
  return runtime_leave(runtime, cudaSuccess);
}

// ---- What programs ask of contexts -----------------------------------------------------------------------

static CudaError know_context(const Context *context, bool good) {
  Runtime *runtime = runtime_enter();
  bool known = context == NULL || handle_is(runtime, context, HANDLE_CONTEXT);
  return runtime_leave(runtime, !known ? DRIVER_INVALID_CONTEXT : good ? cudaSuccess : cudaErrorInvalidValue);
}
CUDART(cuCtxGetApiVersion, Context *context, uint32_t *version) {
  if (version != NULL) *version = 3020;
  return know_context(context, version != NULL);
}
CUDART(cuCtxGetId, Context *context, uint64_t *id) {
  if (id != NULL) *id = address_of(context);
  return know_context(context, id != NULL);
}
CUDART(cuCtxGetFlags, uint32_t *flags) {
  if (flags != NULL) *flags = 0;
  return flags == NULL ? cudaErrorInvalidValue : cudaSuccess;
}
CUDART(cuCtxSetFlags, uint32_t flags) {
  (void)flags;
  return cudaSuccess;
}
CUDART(cuCtxGetDevice_v2, DriverDevice *device, Context *context) {
  if (device != NULL) *device = 0;
  return know_context(context, device != NULL);
}
CUDART(cuCtxSynchronize_v2, Context *context) {
  CudaError error = know_context(context, true);
  return error == cudaSuccess ? cudaDeviceSynchronize() : error;
}
CUDART(cuCtxAttach, Context **context, uint32_t flags) {
  (void)flags;
  return cuCtxGetCurrent(context);
}
CUDART(cuCtxDetach, Context *context) { return know_context(context, true); }
CUDART(cuCtxEnablePeerAccess, Context *peer, uint32_t flags) { // there is one device
  CudaError error = know_context(peer, flags == 0);
  return error == cudaSuccess ? cudaErrorPeerAccessUnsupported : error;
}
CUDART(cuCtxDisablePeerAccess, Context *peer) {
  CudaError error = know_context(peer, true);
  return error == cudaSuccess ? cudaErrorPeerAccessNotEnabled : error;
}

CUDART(cuDevicePrimaryCtxGetState, DriverDevice device, uint32_t *flags, int *active) {
  Runtime *runtime = runtime_enter();
  if (device != 0) return runtime_leave(runtime, cudaErrorInvalidDevice);
  if (flags != NULL) *flags = 0;
  if (active != NULL) *active = runtime->primary_retained > 0 || runtime->device != NULL;
  return runtime_leave(runtime, cudaSuccess);
}
CUDART(cuDevicePrimaryCtxSetFlags_v2, DriverDevice device, uint32_t flags) {
  (void)flags;
  return device == 0 ? cudaSuccess : cudaErrorInvalidDevice;
}
CUDART(cuDevicePrimaryCtxReset_v2, DriverDevice device) { return device == 0 ? cudaDeviceReset() : cudaErrorInvalidDevice; }

CUDART(cuStreamGetCtx, Stream *handle, Context **context) {
  Runtime *runtime = runtime_enter();
  bool known = stream_of(runtime, handle) != NULL;
  return runtime_leave(runtime, known ? cuCtxGetCurrent(context) : cudaErrorInvalidResourceHandle);
}
