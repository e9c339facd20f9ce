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

static Context *primary_of(Runtime *runtime) {
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
  *context = there ? stack[depth - 1] : primary_of(runtime);
  return runtime_leave(runtime, cudaSuccess);
}

CUDART(cuCtxGetDevice, DriverDevice *device) { return cuDeviceGet(device, 0); }
CUDART(cuCtxSynchronize, void) { return cudaDeviceSynchronize(); }

CUDART(cuDevicePrimaryCtxRetain, Context **context, DriverDevice device) {
  Runtime *runtime = runtime_enter();
  if (context == NULL) return runtime_leave(runtime, cudaErrorInvalidValue);
  if (device != 0) return runtime_leave(runtime, cudaErrorInvalidDevice);
  runtime->primary_retained++;
  *context = primary_of(runtime);
  return runtime_leave(runtime, cudaSuccess);
}

CUDART(cuDevicePrimaryCtxRelease_v2, DriverDevice device) {
  Runtime *runtime = runtime_enter();
  if (device != 0) return runtime_leave(runtime, cudaErrorInvalidDevice);
  if (runtime->primary_retained == 0) return runtime_leave(runtime, DRIVER_INVALID_CONTEXT);
  runtime->primary_retained--;
  return runtime_leave(runtime, cudaSuccess);
}
