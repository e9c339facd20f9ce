// Graphs as programs ask about and run them: nodes, edges, executable graphs.
#include "cudart/graph.h"

// Functions named _v2 and _v3 take data of edges; which generation calls them what is in generation_graph.c.

// ---- Nodes and edges --------------------------------------------------------------------------------------------

// The usual way to list: with no room asked for, only the number; else as many as fit, the rest NULL.
typedef struct Listing {
  GraphNode **nodes;
  size_t room, count;
} Listing;

static void list(Listing *listing, GraphNode *node) {
  if (listing->nodes != NULL && listing->count < listing->room) listing->nodes[listing->count] = node;
  listing->count++;
}

static void list_end(const Listing *listing, size_t *count) {
  for (size_t i = listing->count; listing->nodes != NULL && i < listing->room; i++) listing->nodes[i] = NULL;
  *count = listing->nodes == NULL || listing->count < listing->room ? listing->count : listing->room;
}

static CudaError list_nodes(Graph *graph, GraphNode **nodes, size_t *count, bool roots_only) {
  Runtime *runtime = runtime_enter();
  if (count == NULL || !handle_is(runtime, graph, HANDLE_GRAPH)) return runtime_leave(runtime, cudaErrorInvalidValue);
  Listing listing = {nodes, *count, 0};
  for (uint32_t i = 0; i < graph->count; i++) {
    if (!roots_only || graph->nodes[i]->dependencies.count == 0) list(&listing, graph->nodes[i]);
  }
  list_end(&listing, count);
  return runtime_leave(runtime, cudaSuccess);
}
CUDART(cudaGraphGetNodes, Graph *graph, GraphNode **nodes, size_t *count) { return list_nodes(graph, nodes, count, false); }
CUDART(cudaGraphGetRootNodes, Graph *graph, GraphNode **nodes, size_t *count) { return list_nodes(graph, nodes, count, true); }

static void clear_edges(EdgeData *edges, size_t count) {
  if (edges != NULL) memset(edges, 0, count * sizeof *edges);
}

CUDART(cudaGraphGetEdges_v2, Graph *graph, GraphNode **from, GraphNode **to, EdgeData *edges, size_t *count) {
  Runtime *runtime = runtime_enter();
  if (count == NULL || !handle_is(runtime, graph, HANDLE_GRAPH)) return runtime_leave(runtime, cudaErrorInvalidValue);
  Listing froms = {from, *count, 0}, tos = {to, *count, 0};
  for (uint32_t i = 0; i < graph->count; i++) {
    const NodeSet *wanted = &graph->nodes[i]->dependencies;
    for (uint32_t k = 0; k < wanted->count; k++) {
      list(&froms, wanted->items[k]);
      list(&tos, graph->nodes[i]);
    }
  }
  list_end(&tos, count);
  list_end(&froms, count);
  clear_edges(edges, froms.nodes == NULL ? 0 : *count);
  return runtime_leave(runtime, cudaSuccess);
}

CUDART(cudaGraphNodeGetDependencies_v2, GraphNode *node, GraphNode **nodes, EdgeData *edges, size_t *count) {
  Runtime *runtime = runtime_enter();
  if (count == NULL || !handle_is(runtime, node, HANDLE_NODE)) return runtime_leave(runtime, cudaErrorInvalidValue);
  Listing listing = {nodes, *count, 0};
  for (uint32_t i = 0; i < node->dependencies.count; i++) list(&listing, node->dependencies.items[i]);
  list_end(&listing, count);
  clear_edges(edges, nodes == NULL ? 0 : *count);
  return runtime_leave(runtime, cudaSuccess);
}

CUDART(cudaGraphNodeGetDependentNodes_v2, GraphNode *node, GraphNode **nodes, EdgeData *edges, size_t *count) {
  Runtime *runtime = runtime_enter();
  if (count == NULL || !handle_is(runtime, node, HANDLE_NODE)) return runtime_leave(runtime, cudaErrorInvalidValue);
  Listing listing = {nodes, *count, 0};
  for (uint32_t i = 0; i < node->graph->count; i++) {
    const NodeSet *wanted = &node->graph->nodes[i]->dependencies;
    for (uint32_t k = 0; k < wanted->count; k++) {
      if (wanted->items[k] == node) list(&listing, node->graph->nodes[i]);
    }
  }
  list_end(&listing, count);
  clear_edges(edges, nodes == NULL ? 0 : *count);
  return runtime_leave(runtime, cudaSuccess);
}

static CudaError change_edges(Graph *graph, GraphNode *const *from, GraphNode *const *to, size_t count, bool add) {
  Runtime *runtime = runtime_enter();
  bool good =
      handle_is(runtime, graph, HANDLE_GRAPH) && graph_has_nodes(runtime, graph, from, count) && graph_has_nodes(runtime, graph, to, count);
  for (size_t i = 0; good && i < count; i++) {
    NodeSet *set = &to[i]->dependencies;
    if (add) node_set_add(set, from[i]);
    for (uint32_t k = 0; !add && k < set->count; k++) {
      if (set->items[k] == from[i]) set->items[k--] = set->items[--set->count];
    }
  }
  return runtime_leave(runtime, good ? cudaSuccess : cudaErrorInvalidValue);
}
CUDART(cudaGraphAddDependencies_v2, Graph *graph, GraphNode *const *from, GraphNode *const *to, const EdgeData *edges, size_t count) {
  (void)edges;
  return change_edges(graph, from, to, count, true);
}
CUDART(cudaGraphRemoveDependencies_v2, Graph *graph, GraphNode *const *from, GraphNode *const *to, const EdgeData *edges, size_t count) {
  (void)edges;
  return change_edges(graph, from, to, count, false);
}

CUDART(cudaGraphDestroyNode, GraphNode *node) {
  Runtime *runtime = runtime_enter();
  if (!handle_is(runtime, node, HANDLE_NODE)) return runtime_leave(runtime, cudaErrorInvalidValue);
  if (graph_is_captured(runtime, node->graph)) return runtime_leave(runtime, cudaErrorStreamCaptureUnsupported);
  graph_remove(runtime, node);
  return runtime_leave(runtime, cudaSuccess);
}

// ---- Executable graphs ------------------------------------------------------------------------------------------

CUDART(cudaGraphInstantiateWithFlags, GraphExec **exec, Graph *graph, uint64_t flags) {
  Runtime *runtime = runtime_enter();
  if (exec == NULL || !handle_is(runtime, graph, HANDLE_GRAPH)) return runtime_leave(runtime, cudaErrorInvalidValue);
  if (!graph_is_acyclic(graph)) return runtime_leave(runtime, cudaErrorInvalidValue);
  Graph *own;
  CudaError error = graph_clone(runtime, graph, 0, &own);
  if (error != cudaSuccess) return runtime_leave(runtime, error);
  own->owned = true;
  *exec = handle_new(runtime, HANDLE_EXEC, sizeof **exec);
  (*exec)->graph = own;
  (*exec)->flags = flags;
  return runtime_leave(runtime, cudaSuccess);
}

CUDART(cudaGraphInstantiateWithParams, GraphExec **exec, Graph *graph, GraphInstantiateParams *params) {
  if (params == NULL) return runtime_leave(runtime_enter(), cudaErrorInvalidValue);
  CudaError error = cudaGraphInstantiateWithFlags(exec, graph, params->flags);
  params->error_node = NULL;
  params->result = error == cudaSuccess ? 0 : 1;
  return error;
}
CUDART_ALIAS(cudaGraphInstantiateWithParams_ptsz, cudaGraphInstantiateWithParams)

CUDART(cudaGraphExecGetFlags, GraphExec *exec, uint64_t *flags) {
  Runtime *runtime = runtime_enter();
  bool good = flags != NULL && handle_is(runtime, exec, HANDLE_EXEC);
  if (good) *flags = exec->flags;
  return runtime_leave(runtime, good ? cudaSuccess : cudaErrorInvalidValue);
}

CUDART(cudaGraphExecDestroy, GraphExec *exec) {
  Runtime *runtime = runtime_enter();
  if (!handle_is(runtime, exec, HANDLE_EXEC)) return runtime_leave(runtime, cudaErrorInvalidValue);
  graph_free(runtime, exec->graph);
  handle_free(runtime, exec);
  return runtime_leave(runtime, cudaSuccess);
}

// Launched into a stream that is captured, a graph becomes a child graph.
CUDART(cudaGraphLaunch, GraphExec *exec, Stream *stream) {
  Runtime *runtime = runtime_enter();
  if (!handle_is(runtime, exec, HANDLE_EXEC)) return runtime_leave(runtime, cudaErrorInvalidValue);
  Operation operation = {.params = {.type = NODE_GRAPH, .of.graph = exec->graph}};
  CudaError pending = runtime->sticky;
  CudaError error = operation_queue(runtime, &operation, stream);
  if (pending != cudaSuccess || (error != cudaSuccess && error != runtime->sticky)) return runtime_leave(runtime, error);
  runtime_leave_quietly(runtime); // a trap shows at the next call, as with kernels
  return cudaSuccess;
}
CUDART_ALIAS(cudaGraphLaunch_ptsz, cudaGraphLaunch)

CUDART(cudaGraphUpload, GraphExec *exec, Stream *stream) {
  Runtime *runtime = runtime_enter();
  bool good = handle_is(runtime, exec, HANDLE_EXEC) && stream_of(runtime, stream) != NULL;
  return runtime_leave(runtime, good ? cudaSuccess : cudaErrorInvalidValue);
}
CUDART_ALIAS(cudaGraphUpload_ptsz, cudaGraphUpload)

static CudaError access_enabled(GraphExec *exec, const GraphNode *origin, uint32_t *enabled, bool set) {
  Runtime *runtime = runtime_enter();
  GraphNode *node = handle_is(runtime, exec, HANDLE_EXEC) ? graph_clone_of(exec->graph, origin) : NULL;
  if (node == NULL || enabled == NULL) return runtime_leave(runtime, cudaErrorInvalidValue);
  if (set) node->disabled = *enabled == 0;
  else *enabled = !node->disabled;
  return runtime_leave(runtime, cudaSuccess);
}
CUDART(cudaGraphNodeSetEnabled, GraphExec *exec, GraphNode *node, uint32_t enabled) { return access_enabled(exec, node, &enabled, true); }
CUDART(cudaGraphNodeGetEnabled, GraphExec *exec, GraphNode *node, uint32_t *enabled) { return access_enabled(exec, node, enabled, false); }

// Takes over another graph's parameters if its nodes and edges are the same, one by one.
static int update_result(Runtime *runtime, GraphExec *exec, const Graph *graph, GraphNode **culprit) {
  enum { UPDATED = 0, TOPOLOGY_CHANGED = 2, TYPE_CHANGED = 3, PARAMETERS_CHANGED = 5 };
  const Graph *own = exec->graph;
  if (own->count != graph->count) return TOPOLOGY_CHANGED;
  for (uint32_t i = 0; i < graph->count; i++) {
    *culprit = graph->nodes[i];
    if (own->nodes[i]->dependencies.count != graph->nodes[i]->dependencies.count) return TOPOLOGY_CHANGED;
    if (own->nodes[i]->operation.params.type != graph->nodes[i]->operation.params.type) return TYPE_CHANGED;
  }
  for (uint32_t i = 0; i < graph->count; i++) {
    *culprit = graph->nodes[i];
    if (graph_node_set(runtime, own->nodes[i], &graph->nodes[i]->operation) != cudaSuccess) return PARAMETERS_CHANGED;
    own->nodes[i]->origin = graph->nodes[i];
  }
  *culprit = NULL;
  return UPDATED;
}

CudaError graph_exec_update(GraphExec *exec, Graph *graph, GraphExecUpdateResult *result) {
  Runtime *runtime = runtime_enter();
  if (!handle_is(runtime, exec, HANDLE_EXEC) || !handle_is(runtime, graph, HANDLE_GRAPH))
    return runtime_leave(runtime, cudaErrorInvalidValue);
  GraphNode *culprit = NULL;
  int outcome = update_result(runtime, exec, graph, &culprit);
  if (result != NULL) *result = (GraphExecUpdateResult){outcome, culprit, NULL};
  return runtime_leave(runtime, outcome == 0 ? cudaSuccess : cudaErrorGraphExecUpdateFailure);
}

// The same text that `dot` draws: one line per node and edge.
CUDART(cudaGraphDebugDotPrint, Graph *graph, const char *path, uint32_t flags) {
  (void)flags;
  Runtime *runtime = runtime_enter();
  bool good = path != NULL && handle_is(runtime, graph, HANDLE_GRAPH);
  return runtime_leave(runtime, good && graph_write_dot(graph, path) ? cudaSuccess : cudaErrorInvalidValue);
}
