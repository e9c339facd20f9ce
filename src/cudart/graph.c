// Graphs: building, cloning, running. A node owns copies of its kernel's arguments and of its child graph.
#include "cudart/graph.h"

#include <stdio.h>
#include <stdlib.h>

// ---- Sets of nodes --------------------------------------------------------------------------------------

void node_set_add(NodeSet *set, GraphNode *node) {
  for (uint32_t i = 0; i < set->count; i++) {
    if (set->items[i] == node) return;
  }
  GraphNode **items = realloc(set->items, (set->count + 1) * sizeof *items);
  ASSERT(items != NULL);
  set->items = items;
  items[set->count++] = node;
}

void node_set_add_all(NodeSet *set, const NodeSet *more) {
  for (uint32_t i = 0; i < more->count; i++) node_set_add(set, more->items[i]);
}

void node_set_clear(NodeSet *set) {
  free(set->items);
  *set = (NodeSet){0};
}

static void node_set_drop(NodeSet *set, const GraphNode *node) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < set->count; i++) {
    if (set->items[i] != node) set->items[kept++] = set->items[i];
  }
  set->count = kept;
}

// ---- Operations that own what they point to -----------------------------------------------------------------

// Arguments in one piece: the pointers, then the values they point to.
static CudaError own_arguments(Runtime *runtime, Operation *operation) {
  KernelNodeParams *params = &operation->params.of.kernel;
  Kernel *kernel;
  CudaError error = kernel_load(runtime, params->function, &kernel);
  if (error != cudaSuccess) return error;
  const Function *function = kernel->function;
  size_t pointers = align_up(function->param_count * sizeof(void *), 16);
  uint8_t *block = calloc(1, pointers + function->param_bytes + 16);
  ASSERT(block != NULL);
  void **arguments = (void **)(void *)block, **given = params->arguments;
  bool good = true;
  if (given == NULL && params->extra != NULL) {
    good = kernel_extra_arguments(function, params->extra, arguments);
    given = arguments;
  }
  if (!good || !kernel_arguments_are_there(function, given)) {
    free(block);
    return cudaErrorInvalidValue;
  }
  for (uint32_t i = 0; i < function->param_count; i++) {
    const void *from = given[i];
    arguments[i] = block + pointers + function->params[i].offset;
    memcpy(arguments[i], from, function->params[i].bytes);
  }
  params->arguments = arguments;
  params->extra = NULL;
  operation->argument_bytes = block;
  return cudaSuccess;
}

// `level`: of the graph that a child graph would get.
static CudaError own_operation(Runtime *runtime, const Operation *from, uint32_t level, Operation *to) {
  *to = *from;
  to->argument_bytes = NULL;
  if (from->params.type == NODE_KERNEL) return own_arguments(runtime, to);
  if (from->params.type != NODE_GRAPH) return cudaSuccess;
  CudaError error = graph_clone(runtime, from->params.of.graph, level, &to->params.of.graph);
  if (error == cudaSuccess) to->params.of.graph->owned = true;
  return error;
}

static void disown_operation(Runtime *runtime, Operation *operation) {
  free(operation->argument_bytes);
  if (operation->params.type == NODE_GRAPH) graph_free(runtime, operation->params.of.graph);
}

// What a program asks a node to do, before it is kept. Addresses are checked when it runs.
static bool operation_is_good(const Runtime *runtime, const Operation *operation) {
  const GraphNodeParams *params = &operation->params;
  switch (params->type) {
  case NODE_MEMSET: return set_is_known(&params->of.set);
  case NODE_HOST: return params->of.host.function != NULL;
  case NODE_GRAPH: return handle_is(runtime, params->of.graph, HANDLE_GRAPH);
  case NODE_WAIT_EVENT:
  case NODE_EVENT_RECORD: return handle_is(runtime, params->of.event, HANDLE_EVENT);
  default: return true;
  }
}

// ---- Building -----------------------------------------------------------------------------------------------

Graph *graph_new(Runtime *runtime) { return handle_new(runtime, HANDLE_GRAPH, sizeof(Graph)); }

bool graph_has_nodes(const Runtime *runtime, const Graph *graph, GraphNode *const *nodes, size_t count) {
  if (count > 0 && nodes == NULL) return false;
  for (size_t i = 0; i < count; i++) {
    if (!handle_is(runtime, nodes[i], HANDLE_NODE) || nodes[i]->graph != graph) return false;
  }
  return true;
}

// A node without dependencies.
static CudaError add_node(Runtime *runtime, Graph *graph, const Operation *operation, GraphNode **result) {
  if (runtime->graph_nodes >= runtime->most_graph_nodes) return cudaErrorMemoryAllocation;
  Operation owned;
  CudaError error = own_operation(runtime, operation, graph->level + 1, &owned);
  if (error != cudaSuccess) return error;
  GraphNode *node = handle_new(runtime, HANDLE_NODE, sizeof *node);
  runtime->graph_nodes++;
  node->graph = graph;
  node->index = graph->count;
  node->operation = owned;
  if (graph->count == graph->capacity) {
    graph->capacity = graph->capacity == 0 ? 16 : 2 * graph->capacity;
    graph->nodes = realloc(graph->nodes, graph->capacity * sizeof(GraphNode *));
    ASSERT(graph->nodes != NULL);
  }
  graph->nodes[graph->count++] = node;
  *result = node;
  return cudaSuccess;
}

CudaError graph_add(Runtime *runtime, Graph *graph, const Operation *operation, GraphNode *const *dependencies, size_t count,
                    GraphNode **result) {
  bool good = graph_has_nodes(runtime, graph, dependencies, count) && operation_is_good(runtime, operation);
  if (!good) return cudaErrorInvalidValue;
  GraphNode *node;
  CudaError error = add_node(runtime, graph, operation, &node);
  if (error != cudaSuccess) return error;
  for (size_t i = 0; i < count; i++) node_set_add(&node->dependencies, dependencies[i]);
  if (result != NULL) *result = node;
  return cudaSuccess;
}

CudaError graph_node_set(Runtime *runtime, GraphNode *node, const Operation *operation) {
  bool good = node->operation.params.type == operation->params.type && operation_is_good(runtime, operation);
  if (!good) return cudaErrorInvalidValue;
  Operation owned;
  CudaError error = own_operation(runtime, operation, node->graph->level + 1, &owned);
  if (error != cudaSuccess) return error;
  disown_operation(runtime, &node->operation);
  node->operation = owned;
  return cudaSuccess;
}

static void free_node(Runtime *runtime, GraphNode *node) {
  disown_operation(runtime, &node->operation);
  node_set_clear(&node->dependencies);
  handle_free(runtime, node);
  runtime->graph_nodes--;
}

void graph_remove(Runtime *runtime, GraphNode *node) {
  Graph *graph = node->graph;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < graph->count; i++) {
    node_set_drop(&graph->nodes[i]->dependencies, node);
    if (graph->nodes[i] == node) continue;
    graph->nodes[i]->index = kept;
    graph->nodes[kept++] = graph->nodes[i];
  }
  graph->count = kept;
  free_node(runtime, node);
}

bool graph_is_captured(const Runtime *runtime, const Graph *graph) {
  const Stream *stream = runtime->capturing;
  while (stream != NULL && stream->capture != graph) stream = stream->next_capturing;
  return stream != NULL;
}

void graph_free(Runtime *runtime, Graph *graph) {
  graph->doomed = graph->running > 0; // a host function of its own, or another thread while that runs
  if (graph->doomed) return;
  for (Stream *stream = runtime->capturing, *next; stream != NULL; stream = next) {
    next = stream->next_capturing;
    if (stream->capture == graph) stream_end_capture(runtime, stream);
  }
  for (uint32_t i = 0; i < graph->count; i++) free_node(runtime, graph->nodes[i]);
  free(graph->nodes);
  handle_free(runtime, graph);
}

GraphNode *graph_clone_of(const Graph *clone, const GraphNode *origin) {
  for (uint32_t i = 0; i < clone->count; i++) {
    if (clone->nodes[i]->origin == origin) return clone->nodes[i];
  }
  return NULL;
}

static CudaError copy_nodes(Runtime *runtime, const Graph *graph, Graph *clone) {
  for (uint32_t i = 0; i < graph->count; i++) {
    GraphNode *node = NULL;
    CudaError error = add_node(runtime, clone, &graph->nodes[i]->operation, &node);
    if (error != cudaSuccess) return error; // too many, or its kernel's module was unloaded
    node->origin = graph->nodes[i];
    node->disabled = graph->nodes[i]->disabled;
  }
  for (uint32_t i = 0; i < graph->count; i++) {
    const NodeSet *wanted = &graph->nodes[i]->dependencies;
    for (uint32_t k = 0; k < wanted->count; k++) node_set_add(&clone->nodes[i]->dependencies, clone->nodes[wanted->items[k]->index]);
  }
  return cudaSuccess;
}

CudaError graph_clone(Runtime *runtime, const Graph *graph, uint32_t level, Graph **clone) {
  if (level > MOST_GRAPH_LEVELS) return cudaErrorInvalidValue;
  *clone = graph_new(runtime);
  (*clone)->level = level;
  CudaError error = copy_nodes(runtime, graph, *clone);
  if (error == cudaSuccess) return cudaSuccess;
  graph_free(runtime, *clone);
  *clone = NULL;
  return error;
}

// ---- Running ------------------------------------------------------------------------------------------------

// Visits nodes so that each comes after what it depends on, in the order of their making otherwise. False: a cycle.
static bool in_order(const Graph *graph, CudaError (*visit)(Runtime *runtime, GraphNode *node), Runtime *runtime, CudaError *error) {
  bool *done = calloc(max_u32(graph->count, 1), sizeof *done);
  ASSERT(done != NULL);
  uint32_t left = graph->count;
  bool moved = true;
  while (left > 0 && moved && *error == cudaSuccess) {
    moved = false;
    for (uint32_t i = 0; i < graph->count && *error == cudaSuccess; i++) {
      bool ready = !done[i];
      const NodeSet *wanted = &graph->nodes[i]->dependencies;
      for (uint32_t k = 0; ready && k < wanted->count; k++) ready = done[wanted->items[k]->index];
      if (!ready) continue;
      done[i] = moved = true;
      left--;
      if (visit != NULL) *error = visit(runtime, graph->nodes[i]);
    }
  }
  free(done);
  return left == 0;
}

bool graph_is_acyclic(const Graph *graph) {
  CudaError error = cudaSuccess;
  for (uint32_t i = 0; i < graph->count; i++) {
    const GraphNodeParams *params = &graph->nodes[i]->operation.params;
    if (params->type == NODE_GRAPH && !graph_is_acyclic(params->of.graph)) return false;
  }
  return in_order(graph, NULL, NULL, &error);
}

static CudaError run_node(Runtime *runtime, GraphNode *node) {
  return node->disabled ? cudaSuccess : operation_run(runtime, &node->operation);
}

CudaError graph_run(Runtime *runtime, Graph *graph) {
  CudaError error = cudaSuccess;
  graph->running++;
  in_order(graph, run_node, runtime, &error);
  graph->running--;
  if (graph->doomed) graph_free(runtime, graph);
  return error;
}

CudaError graph_capture(Runtime *runtime, Stream *stream, const Operation *operation) {
  GraphNode *node;
  CudaError error = graph_add(runtime, stream->capture, operation, stream->tails.items, stream->tails.count, &node);
  if (error != cudaSuccess) return error;
  node_set_clear(&stream->tails);
  node_set_add(&stream->tails, node);
  return cudaSuccess;
}

// ---- Drawing ------------------------------------------------------------------------------------------------

bool graph_write_dot(const Graph *graph, const char *path) {
  static const char *const names[] = {
      [NODE_KERNEL] = "kernel",   [NODE_MEMCPY] = "memcpy", [NODE_MEMSET] = "memset",         [NODE_HOST] = "host",
      [NODE_GRAPH] = "graph",     [NODE_EMPTY] = "empty",   [NODE_WAIT_EVENT] = "wait event", [NODE_EVENT_RECORD] = "event record",
      [NODE_MEM_ALLOC] = "alloc", [NODE_MEM_FREE] = "free"};
  FILE *file = fopen(path, "w");
  if (file == NULL) return false;
  fputs("digraph {\n", file);
  for (uint32_t i = 0; i < graph->count; i++) {
    const GraphNode *node = graph->nodes[i];
    fprintf(file, "  n%llx [label=\"%s\"]\n", (unsigned long long)address_of(node), names[node->operation.params.type]);
    for (uint32_t k = 0; k < node->dependencies.count; k++) {
      fprintf(file, "  n%llx -> n%llx\n", (unsigned long long)address_of(node->dependencies.items[k]),
              (unsigned long long)address_of(node));
    }
  }
  fputs("}\n", file);
  return fclose(file) == 0;
}
