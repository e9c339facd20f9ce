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
  if (given == NULL && params->extra != NULL) {
    kernel_extra_arguments(function, params->extra, arguments);
    given = arguments;
  }
  if (given == NULL && function->param_count > 0) {
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

static CudaError own_operation(Runtime *runtime, const Operation *from, Operation *to) {
  *to = *from;
  to->argument_bytes = NULL;
  if (from->params.type == NODE_KERNEL) return own_arguments(runtime, to);
  if (from->params.type == NODE_GRAPH) to->params.of.graph = graph_clone(runtime, from->params.of.graph);
  return cudaSuccess;
}

static void disown_operation(Runtime *runtime, Operation *operation) {
  free(operation->argument_bytes);
  if (operation->params.type == NODE_GRAPH) graph_free(runtime, operation->params.of.graph);
}

// ---- Building -----------------------------------------------------------------------------------------------

Graph *graph_new(Runtime *runtime) { return handle_new(runtime, HANDLE_GRAPH, sizeof(Graph)); }

CudaError graph_add(Runtime *runtime, Graph *graph, const Operation *operation, GraphNode *const *dependencies, size_t count,
                    GraphNode **result) {
  for (size_t i = 0; i < count; i++) {
    if (!handle_is(runtime, dependencies[i], HANDLE_NODE) || dependencies[i]->graph != graph) return cudaErrorInvalidValue;
  }
  Operation owned;
  CudaError error = own_operation(runtime, operation, &owned);
  if (error != cudaSuccess) return error;
  GraphNode *node = handle_new(runtime, HANDLE_NODE, sizeof *node);
  node->graph = graph;
  node->operation = owned;
  for (size_t i = 0; i < count; i++) node_set_add(&node->dependencies, dependencies[i]);
  if (graph->count == graph->capacity) {
    graph->capacity = graph->capacity == 0 ? 16 : 2 * graph->capacity;
    graph->nodes = realloc(graph->nodes, graph->capacity * sizeof(GraphNode *));
    ASSERT(graph->nodes != NULL);
  }
  graph->nodes[graph->count++] = node;
  if (result != NULL) *result = node;
  return cudaSuccess;
}

CudaError graph_node_set(Runtime *runtime, GraphNode *node, const Operation *operation) {
  if (node->operation.params.type != operation->params.type) return cudaErrorInvalidValue;
  Operation owned;
  CudaError error = own_operation(runtime, operation, &owned);
  if (error != cudaSuccess) return error;
  disown_operation(runtime, &node->operation);
  node->operation = owned;
  return cudaSuccess;
}

static void free_node(Runtime *runtime, GraphNode *node) {
  disown_operation(runtime, &node->operation);
  node_set_clear(&node->dependencies);
  handle_free(runtime, node);
}

void graph_remove(Runtime *runtime, GraphNode *node) {
  Graph *graph = node->graph;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < graph->count; i++) {
    node_set_drop(&graph->nodes[i]->dependencies, node);
    if (graph->nodes[i] != node) graph->nodes[kept++] = graph->nodes[i];
  }
  graph->count = kept;
  free_node(runtime, node);
}

void graph_free(Runtime *runtime, Graph *graph) {
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

Graph *graph_clone(Runtime *runtime, const Graph *graph) {
  Graph *clone = graph_new(runtime);
  for (uint32_t i = 0; i < graph->count; i++) {
    GraphNode *node = NULL;
    CudaError error = graph_add(runtime, clone, &graph->nodes[i]->operation, NULL, 0, &node);
    ASSERT(error == cudaSuccess && node != NULL); // its kernel is loaded already
    node->origin = graph->nodes[i];
    node->disabled = graph->nodes[i]->disabled;
  }
  for (uint32_t i = 0; i < graph->count; i++) {
    const NodeSet *wanted = &graph->nodes[i]->dependencies;
    for (uint32_t k = 0; k < wanted->count; k++) node_set_add(&clone->nodes[i]->dependencies, graph_clone_of(clone, wanted->items[k]));
  }
  return clone;
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
      for (uint32_t k = 0; ready && k < wanted->count; k++) {
        uint32_t at = 0;
        while (at < graph->count && graph->nodes[at] != wanted->items[k]) at++;
        ready = at < graph->count && done[at];
      }
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
  return in_order(graph, NULL, NULL, &error);
}

static CudaError run_node(Runtime *runtime, GraphNode *node) {
  return node->disabled ? cudaSuccess : operation_run(runtime, &node->operation);
}

CudaError graph_run(Runtime *runtime, Graph *graph) {
  CudaError error = cudaSuccess;
  in_order(graph, run_node, runtime, &error);
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
