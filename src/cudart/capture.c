// Stream capture: between begin and end, work becomes nodes of a graph. Other streams join by waiting for an
// event recorded in the capture.
//
// While a graph is captured neither it nor its nodes can be destroyed, so that the tails of streams, and of events of a capture
// that is still active, are nodes.
#include "cudart/graph.h"

static void start_capture(Runtime *runtime, Stream *stream, Graph *graph, uint64_t id) {
  stream->capture = graph;
  stream->capture_id = id;
  stream->next_capturing = runtime->capturing;
  runtime->capturing = stream;
}

bool capture_is_active(const Runtime *runtime, uint64_t id) {
  const Stream *stream = runtime->capturing;
  while (stream != NULL && stream->capture_id != id) stream = stream->next_capturing;
  return stream != NULL;
}

void stream_join_capture(Runtime *runtime, Stream *stream, Graph *graph, uint64_t id) { start_capture(runtime, stream, graph, id); }

// The stream leaves its capture, if it is in one.
void stream_end_capture(Runtime *runtime, Stream *stream) {
  Stream **link = &runtime->capturing;
  while (*link != NULL && *link != stream) link = &(*link)->next_capturing;
  if (*link == stream) *link = stream->next_capturing;
  node_set_clear(&stream->tails);
  stream->capture = NULL;
  stream->capture_id = 0;
  stream->capture_origin = false;
  stream->next_capturing = NULL;
}

static CudaError begin(Runtime *runtime, Stream *handle, Graph *graph, GraphNode *const *dependencies, size_t count) {
  Stream *stream = stream_of(runtime, handle);
  if (stream == NULL) return cudaErrorInvalidResourceHandle;
  if (stream->capture != NULL) return cudaErrorIllegalState;
  if (address_of(handle) <= 1) return cudaErrorStreamCaptureUnsupported; // the legacy stream
  if (graph != NULL && !graph_has_nodes(runtime, graph, dependencies, count)) return cudaErrorInvalidValue;
  if (graph == NULL) graph = graph_new(runtime);
  start_capture(runtime, stream, graph, ++runtime->ids);
  stream->capture_origin = true;
  for (size_t i = 0; i < count; i++) node_set_add(&stream->tails, dependencies[i]);
  return cudaSuccess;
}

CUDART(cudaStreamBeginCapture, Stream *handle, int mode) {
  Runtime *runtime = runtime_enter();
  return runtime_leave(runtime, mode < 0 || mode > 2 ? cudaErrorInvalidValue : begin(runtime, handle, NULL, NULL, 0));
}
CUDART_ALIAS(cudaStreamBeginCapture_ptsz, cudaStreamBeginCapture)

CUDART(cudaStreamBeginCaptureToGraph, Stream *handle, Graph *graph, GraphNode *const *dependencies, const EdgeData *edges, size_t count,
       int mode) {
  (void)edges, (void)mode;
  Runtime *runtime = runtime_enter();
  bool good = handle_is(runtime, graph, HANDLE_GRAPH);
  return runtime_leave(runtime, good ? begin(runtime, handle, graph, dependencies, count) : cudaErrorInvalidValue);
}
CUDART_ALIAS(cudaStreamBeginCaptureToGraph_ptsz, cudaStreamBeginCaptureToGraph)

// Streams that joined must have been waited for: nothing may depend on their last nodes alone.
static bool all_joined(const Runtime *runtime, const Stream *origin) {
  for (const Stream *other = runtime->capturing; other != NULL; other = other->next_capturing) {
    if (other == origin || other->capture != origin->capture) continue;
    for (uint32_t i = 0; i < other->tails.count; i++) {
      const GraphNode *tail = other->tails.items[i];
      bool followed = false;
      for (uint32_t k = 0; k < origin->tails.count; k++) followed = followed || origin->tails.items[k] == tail;
      for (uint32_t n = 0; !followed && n < tail->graph->count; n++) {
        const NodeSet *wanted = &tail->graph->nodes[n]->dependencies;
        for (uint32_t k = 0; k < wanted->count; k++) followed = followed || wanted->items[k] == tail;
      }
      if (!followed) return false;
    }
  }
  return true;
}

static CudaError end(Runtime *runtime, Stream *handle, Graph **graph) {
  Stream *stream = stream_of(runtime, handle);
  if (stream == NULL) return cudaErrorInvalidResourceHandle;
  if (stream->capture == NULL) return cudaErrorIllegalState;
  if (!stream->capture_origin) return cudaErrorStreamCaptureUnmatched;
  bool joined = all_joined(runtime, stream);
  Graph *captured = stream->capture;
  for (Stream *other = runtime->capturing, *next; other != NULL; other = next) {
    next = other->next_capturing;
    if (other->capture == captured) stream_end_capture(runtime, other);
  }
  if (graph != NULL) *graph = joined ? captured : NULL;
  return joined ? cudaSuccess : cudaErrorStreamCaptureUnjoined;
}

CUDART(cudaStreamEndCapture, Stream *handle, Graph **graph) {
  Runtime *runtime = runtime_enter();
  return runtime_leave(runtime, end(runtime, handle, graph));
}
CUDART_ALIAS(cudaStreamEndCapture_ptsz, cudaStreamEndCapture)

CUDART(cudaStreamGetCaptureInfo_v3, Stream *handle, int *status, uint64_t *id, Graph **graph, GraphNode *const **dependencies,
       const EdgeData **edges, size_t *count) {
  Runtime *runtime = runtime_enter();
  const Stream *stream = stream_of(runtime, handle);
  if (stream == NULL) return runtime_leave(runtime, cudaErrorInvalidResourceHandle);
  if (status == NULL) return runtime_leave(runtime, cudaErrorInvalidValue);
  *status = stream->capture != NULL;
  if (stream->capture == NULL) return runtime_leave(runtime, cudaSuccess);
  if (id != NULL) *id = stream->capture_id;
  if (graph != NULL) *graph = stream->capture;
  if (dependencies != NULL) *dependencies = stream->tails.items;
  if (edges != NULL) *edges = NULL;
  if (count != NULL) *count = stream->tails.count;
  return runtime_leave(runtime, cudaSuccess);
}
CUDART_ALIAS(cudaStreamGetCaptureInfo_v3_ptsz, cudaStreamGetCaptureInfo_v3)

CUDART(cudaStreamUpdateCaptureDependencies_v2, Stream *handle, GraphNode **dependencies, const EdgeData *edges, size_t count,
       uint32_t flags) {
  (void)edges;
  enum { ADD = 0, SET = 1 };
  Runtime *runtime = runtime_enter();
  Stream *stream = stream_of(runtime, handle);
  if (stream == NULL) return runtime_leave(runtime, cudaErrorInvalidResourceHandle);
  if (stream->capture == NULL) return runtime_leave(runtime, cudaErrorIllegalState);
  bool good = flags <= SET && graph_has_nodes(runtime, stream->capture, dependencies, count);
  if (!good) return runtime_leave(runtime, cudaErrorInvalidValue);
  if (flags == SET) node_set_clear(&stream->tails);
  for (size_t i = 0; i < count; i++) node_set_add(&stream->tails, dependencies[i]);
  return runtime_leave(runtime, cudaSuccess);
}
CUDART_ALIAS(cudaStreamUpdateCaptureDependencies_v2_ptsz, cudaStreamUpdateCaptureDependencies_v2)

CUDART(cudaThreadExchangeStreamCaptureMode, int *mode) {
  static __thread int current;
  if (mode == NULL || *mode < 0 || *mode > 2) return cudaErrorInvalidValue;
  int last = current;
  current = *mode;
  *mode = last;
  return cudaSuccess;
}
