// Events: marks in simulated time.
#include "cudart/runtime.h"

enum { EVENT_NS = 500, EVENT_NO_TIMING = 2, EVENT_FLAGS = 7 };

void event_record_now(Runtime *runtime, Event *event) {
  runtime->clock_ns += EVENT_NS;
  event->recorded = true;
  event->time_ns = runtime->clock_ns;
}

CUDART(cudaEventCreateWithFlags, Event **event, uint32_t flags) {
  Runtime *runtime = runtime_enter();
  if (event == NULL || flags > EVENT_FLAGS) return runtime_leave(runtime, cudaErrorInvalidValue);
  *event = handle_new(runtime, HANDLE_EVENT, sizeof **event);
  (*event)->flags = flags;
  return runtime_leave(runtime, cudaSuccess);
}
CUDART(cudaEventCreate, Event **event) { return cudaEventCreateWithFlags(event, 0); }

CUDART(cudaEventDestroy, Event *event) {
  Runtime *runtime = runtime_enter();
  if (!handle_is(runtime, event, HANDLE_EVENT)) return runtime_leave(runtime, cudaErrorInvalidResourceHandle);
  node_set_clear(&event->tails);
  handle_free(runtime, event);
  return runtime_leave(runtime, cudaSuccess);
}

CUDART(cudaEventRecordWithFlags, Event *event, Stream *handle, uint32_t flags) {
  enum { EXTERNAL = 1 };
  Runtime *runtime = runtime_enter();
  Stream *stream = stream_of(runtime, handle);
  if (stream == NULL || !handle_is(runtime, event, HANDLE_EVENT)) return runtime_leave(runtime, cudaErrorInvalidResourceHandle);
  if (stream->capture != NULL && flags == EXTERNAL) {
    Operation operation = {.params = {.type = NODE_EVENT_RECORD, .of.event = event}};
    return runtime_leave(runtime, graph_capture(runtime, stream, &operation));
  }
  node_set_clear(&event->tails);
  event->capture = stream->capture;
  event->capture_id = stream->capture_id;
  if (stream->capture != NULL) node_set_add_all(&event->tails, &stream->tails);
  else event_record_now(runtime, event);
  return runtime_leave(runtime, cudaSuccess);
}
CUDART_ALIAS(cudaEventRecordWithFlags_ptsz, cudaEventRecordWithFlags)
CUDART(cudaEventRecord, Event *event, Stream *handle) { return cudaEventRecordWithFlags(event, handle, 0); }
CUDART_ALIAS(cudaEventRecord_ptsz, cudaEventRecord)

// In a capture, waiting for a captured event joins the waiting stream to the capture.
static CudaError wait_for(Runtime *runtime, Stream *stream, Event *event, uint32_t flags) {
  if (stream->capture != NULL && flags == 1) {
    Operation operation = {.params = {.type = NODE_WAIT_EVENT, .of.event = event}};
    return graph_capture(runtime, stream, &operation);
  }
  bool captured = event->capture != NULL && capture_is_active(runtime, event->capture_id);
  if (!captured) return stream->capture != NULL && event->recorded ? cudaErrorStreamCaptureIsolation : cudaSuccess;
  if (stream->capture == NULL) stream_join_capture(runtime, stream, event->capture, event->capture_id);
  if (stream->capture != event->capture) return cudaErrorStreamCaptureMerge;
  node_set_add_all(&stream->tails, &event->tails);
  return cudaSuccess;
}

CUDART(cudaStreamWaitEvent, Stream *handle, Event *event, uint32_t flags) {
  Runtime *runtime = runtime_enter();
  Stream *stream = stream_of(runtime, handle);
  if (stream == NULL || !handle_is(runtime, event, HANDLE_EVENT)) return runtime_leave(runtime, cudaErrorInvalidResourceHandle);
  return runtime_leave(runtime, wait_for(runtime, stream, event, flags));
}
CUDART_ALIAS(cudaStreamWaitEvent_ptsz, cudaStreamWaitEvent)

CUDART(cudaEventSynchronize, Event *event) {
  Runtime *runtime = runtime_enter();
  if (!handle_is(runtime, event, HANDLE_EVENT)) return runtime_leave(runtime, cudaErrorInvalidResourceHandle);
  return runtime_leave(runtime, event->capture != NULL ? cudaErrorCapturedEvent : cudaSuccess);
}
CUDART(cudaEventQuery, Event *event) { return cudaEventSynchronize(event); }

CUDART(cudaEventElapsedTime, float *milliseconds, Event *first, Event *last) {
  Runtime *runtime = runtime_enter();
  bool good = handle_is(runtime, first, HANDLE_EVENT) && handle_is(runtime, last, HANDLE_EVENT) && first->recorded && last->recorded &&
              ((first->flags | last->flags) & EVENT_NO_TIMING) == 0;
  if (!good) return runtime_leave(runtime, cudaErrorInvalidResourceHandle);
  if (milliseconds == NULL) return runtime_leave(runtime, cudaErrorInvalidValue);
  app_process_asks_time(runtime->environment.campaign);
  double nanoseconds = (double)last->time_ns - (double)first->time_ns;
  *milliseconds = (float)(nanoseconds * 1e-6);
  return runtime_leave(runtime, cudaSuccess);
}
CUDART_ALIAS(cudaEventElapsedTime_v2, cudaEventElapsedTime)
