// Graphs: adding nodes of each type, their parameters, instantiation, launch, update.
#include "cudart/graph.h"

// ---- Graphs -----------------------------------------------------------------------------------------------------

CUDART(cudaGraphCreate, Graph **graph, uint32_t flags) {
  Runtime *runtime = runtime_enter();
  if (graph == NULL || flags != 0) return runtime_leave(runtime, cudaErrorInvalidValue);
  *graph = graph_new(runtime);
  return runtime_leave(runtime, cudaSuccess);
}

CUDART(cudaGraphDestroy, Graph *graph) {
  Runtime *runtime = runtime_enter();
  if (!handle_is(runtime, graph, HANDLE_GRAPH) || graph->owned) return runtime_leave(runtime, cudaErrorInvalidValue);
  if (graph_is_captured(runtime, graph)) return runtime_leave(runtime, cudaErrorStreamCaptureUnsupported);
  graph_free(runtime, graph);
  return runtime_leave(runtime, cudaSuccess);
}

CUDART(cudaGraphClone, Graph **clone, Graph *graph) {
  Runtime *runtime = runtime_enter();
  if (clone == NULL || !handle_is(runtime, graph, HANDLE_GRAPH)) return runtime_leave(runtime, cudaErrorInvalidValue);
  Graph *made;
  CudaError error = graph_clone(runtime, graph, 0, &made);
  if (error == cudaSuccess) *clone = made;
  return runtime_leave(runtime, error);
}

CUDART(cudaGraphNodeFindInClone, GraphNode **node, GraphNode *origin, Graph *clone) {
  Runtime *runtime = runtime_enter();
  bool good = node != NULL && handle_is(runtime, clone, HANDLE_GRAPH) && handle_is(runtime, origin, HANDLE_NODE);
  GraphNode *found = good ? graph_clone_of(clone, origin) : NULL;
  if (found != NULL) *node = found;
  return runtime_leave(runtime, found == NULL ? cudaErrorInvalidValue : cudaSuccess);
}

// ---- Adding nodes -----------------------------------------------------------------------------------------------

static CudaError add(GraphNode **node, Graph *graph, GraphNode *const *dependencies, size_t count, const Operation *operation) {
  Runtime *runtime = runtime_enter();
  bool good = node != NULL && handle_is(runtime, graph, HANDLE_GRAPH) && operation != NULL;
  if (!good) return runtime_leave(runtime, cudaErrorInvalidValue);
  return runtime_leave(runtime, graph_add(runtime, graph, operation, dependencies, count, node));
}

static bool pack_kernel(Operation *operation, const KernelNodeParams *params) {
  if (params == NULL) return false;
  *operation = (Operation){.params = {.type = NODE_KERNEL, .of.kernel = *params}};
  return true;
}
static bool pack_copy(Operation *operation, const Copy3D *params) {
  if (params == NULL) return false;
  *operation = (Operation){.params = {.type = NODE_MEMCPY, .of.copy.copy = *params}};
  return true;
}
static bool pack_set(Operation *operation, const MemsetParams *params) {
  if (params == NULL) return false;
  *operation = (Operation){.params = {.type = NODE_MEMSET, .of.set = *params}};
  return true;
}
static bool pack_host(Operation *operation, const HostNodeParams *params) {
  if (params == NULL) return false;
  *operation = (Operation){.params = {.type = NODE_HOST, .of.host = *params}};
  return true;
}
static Copy3D copy_1d(void *to, const void *from, size_t bytes, int kind) {
  void *source = pointer_of(address_of(from));
  return (Copy3D){.source = {source, bytes, bytes, 1}, .destination = {to, bytes, bytes, 1}, .extent = {bytes, 1, 1}, .kind = kind};
}

CUDART(cudaGraphAddKernelNode, GraphNode **node, Graph *graph, GraphNode *const *dependencies, size_t count,
       const KernelNodeParams *params) {
  Operation operation;
  return add(node, graph, dependencies, count, pack_kernel(&operation, params) ? &operation : NULL);
}

CUDART(cudaGraphAddMemcpyNode, GraphNode **node, Graph *graph, GraphNode *const *dependencies, size_t count, const Copy3D *params) {
  Operation operation;
  return add(node, graph, dependencies, count, pack_copy(&operation, params) ? &operation : NULL);
}

CUDART(cudaGraphAddMemcpyNode1D, GraphNode **node, Graph *graph, GraphNode *const *dependencies, size_t count, void *to, const void *from,
       size_t bytes, int kind) {
  Copy3D copy = copy_1d(to, from, bytes, kind);
  return cudaGraphAddMemcpyNode(node, graph, dependencies, count, &copy);
}

static CudaError symbol_copy(Copy3D *copy, void *memory, const void *symbol, size_t bytes, size_t offset, int kind, bool to_symbol) {
  Runtime *runtime = runtime_enter();
  uint64_t address = 0, size = 0;
  CudaError error = variable_find(runtime, symbol, &address, &size);
  if (error == cudaSuccess && (offset > size || bytes > size - offset)) error = cudaErrorInvalidValue;
  void *place = pointer_of(address + offset);
  *copy = to_symbol ? copy_1d(place, memory, bytes, kind) : copy_1d(memory, place, bytes, kind);
  return runtime_leave(runtime, error);
}

CUDART(cudaGraphAddMemcpyNodeToSymbol, GraphNode **node, Graph *graph, GraphNode *const *dependencies, size_t count, const void *symbol,
       const void *from, size_t bytes, size_t offset, int kind) {
  Copy3D copy;
  CudaError error = symbol_copy(&copy, pointer_of(address_of(from)), symbol, bytes, offset, kind, true);
  return error != cudaSuccess ? error : cudaGraphAddMemcpyNode(node, graph, dependencies, count, &copy);
}

CUDART(cudaGraphAddMemcpyNodeFromSymbol, GraphNode **node, Graph *graph, GraphNode *const *dependencies, size_t count, void *to,
       const void *symbol, size_t bytes, size_t offset, int kind) {
  Copy3D copy;
  CudaError error = symbol_copy(&copy, to, symbol, bytes, offset, kind, false);
  return error != cudaSuccess ? error : cudaGraphAddMemcpyNode(node, graph, dependencies, count, &copy);
}

CUDART(cudaGraphAddMemsetNode, GraphNode **node, Graph *graph, GraphNode *const *dependencies, size_t count, const MemsetParams *params) {
  Operation operation;
  return add(node, graph, dependencies, count, pack_set(&operation, params) ? &operation : NULL);
}

CUDART(cudaGraphAddHostNode, GraphNode **node, Graph *graph, GraphNode *const *dependencies, size_t count, const HostNodeParams *params) {
  Operation operation;
  return add(node, graph, dependencies, count, pack_host(&operation, params) ? &operation : NULL);
}

CUDART(cudaGraphAddChildGraphNode, GraphNode **node, Graph *graph, GraphNode *const *dependencies, size_t count, Graph *child) {
  Operation operation = {.params = {.type = NODE_GRAPH, .of.graph = child}};
  return add(node, graph, dependencies, count, child != graph ? &operation : NULL);
}

CUDART(cudaGraphAddEmptyNode, GraphNode **node, Graph *graph, GraphNode *const *dependencies, size_t count) {
  Operation operation = {.params = {.type = NODE_EMPTY}};
  return add(node, graph, dependencies, count, &operation);
}

CUDART(cudaGraphAddEventRecordNode, GraphNode **node, Graph *graph, GraphNode *const *dependencies, size_t count, Event *event) {
  Operation operation = {.params = {.type = NODE_EVENT_RECORD, .of.event = event}};
  return add(node, graph, dependencies, count, &operation);
}

CUDART(cudaGraphAddEventWaitNode, GraphNode **node, Graph *graph, GraphNode *const *dependencies, size_t count, Event *event) {
  Operation operation = {.params = {.type = NODE_WAIT_EVENT, .of.event = event}};
  return add(node, graph, dependencies, count, &operation);
}

CUDART(cudaGraphAddMemAllocNode, GraphNode **node, Graph *graph, GraphNode *const *dependencies, size_t count, MemAllocNodeParams *params) {
  Runtime *runtime = runtime_enter();
  bool good =
      node != NULL && params != NULL && handle_is(runtime, graph, HANDLE_GRAPH) && graph_has_nodes(runtime, graph, dependencies, count);
  CudaError error = good ? graph_memory_new(runtime, &params->pointer, params->bytes) : cudaErrorInvalidValue;
  if (error != cudaSuccess) return runtime_leave(runtime, error);
  Operation operation = {.params = {.type = NODE_MEM_ALLOC}};
  operation.params.of.alloc = *params;
  return runtime_leave(runtime, graph_add(runtime, graph, &operation, dependencies, count, node));
}

CUDART(cudaGraphAddMemFreeNode, GraphNode **node, Graph *graph, GraphNode *const *dependencies, size_t count, void *pointer) {
  Operation operation = {.params = {.type = NODE_MEM_FREE, .of.free = pointer}};
  return add(node, graph, dependencies, count, pointer == NULL ? NULL : &operation);
}

CUDART(cudaGraphAddNode_v2, GraphNode **node, Graph *graph, GraphNode *const *dependencies, const EdgeData *edges, size_t count,
       GraphNodeParams *params) {
  (void)edges;
  if (params == NULL) return runtime_leave(runtime_enter(), cudaErrorInvalidValue);
  if (params->type == NODE_MEM_ALLOC) return cudaGraphAddMemAllocNode(node, graph, dependencies, count, &params->of.alloc);
  if (params->type == NODE_GRAPH) return cudaGraphAddChildGraphNode(node, graph, dependencies, count, params->of.graph);
  bool known = (params->type >= NODE_KERNEL && params->type <= NODE_EVENT_RECORD) || params->type == NODE_MEM_FREE;
  if (!known) return runtime_leave(runtime_enter(), cudaErrorNotSupported);
  Operation operation = {.params = *params};
  return add(node, graph, dependencies, count, &operation);
}

// ---- Parameters of nodes ----------------------------------------------------------------------------------------

static CudaError set_node(GraphNode *node, const Operation *operation) {
  Runtime *runtime = runtime_enter();
  bool good = handle_is(runtime, node, HANDLE_NODE) && operation != NULL;
  return runtime_leave(runtime, good ? graph_node_set(runtime, node, operation) : cudaErrorInvalidValue);
}

// In an executable graph, nodes are named by the graph it was made from.
static CudaError set_exec(GraphExec *exec, const GraphNode *origin, const Operation *operation) {
  Runtime *runtime = runtime_enter();
  bool good = handle_is(runtime, exec, HANDLE_EXEC) && operation != NULL;
  GraphNode *node = good ? graph_clone_of(exec->graph, origin) : NULL;
  return runtime_leave(runtime, node != NULL ? graph_node_set(runtime, node, operation) : cudaErrorInvalidValue);
}

CUDART(cudaGraphKernelNodeSetParams, GraphNode *node, const KernelNodeParams *params) {
  Operation operation;
  return set_node(node, pack_kernel(&operation, params) ? &operation : NULL);
}
CUDART(cudaGraphMemcpyNodeSetParams, GraphNode *node, const Copy3D *params) {
  Operation operation;
  return set_node(node, pack_copy(&operation, params) ? &operation : NULL);
}
CUDART(cudaGraphMemcpyNodeSetParams1D, GraphNode *node, void *to, const void *from, size_t bytes, int kind) {
  Copy3D copy = copy_1d(to, from, bytes, kind);
  return cudaGraphMemcpyNodeSetParams(node, &copy);
}
CUDART(cudaGraphMemsetNodeSetParams, GraphNode *node, const MemsetParams *params) {
  Operation operation;
  return set_node(node, pack_set(&operation, params) ? &operation : NULL);
}
CUDART(cudaGraphHostNodeSetParams, GraphNode *node, const HostNodeParams *params) {
  Operation operation;
  return set_node(node, pack_host(&operation, params) ? &operation : NULL);
}
CUDART(cudaGraphNodeSetParams, GraphNode *node, GraphNodeParams *params) {
  Operation operation = {0};
  if (params != NULL) operation.params = *params;
  return set_node(node, params == NULL ? NULL : &operation);
}
CUDART(cudaGraphExecKernelNodeSetParams, GraphExec *exec, GraphNode *node, const KernelNodeParams *params) {
  Operation operation;
  return set_exec(exec, node, pack_kernel(&operation, params) ? &operation : NULL);
}
CUDART(cudaGraphExecMemcpyNodeSetParams, GraphExec *exec, GraphNode *node, const Copy3D *params) {
  Operation operation;
  return set_exec(exec, node, pack_copy(&operation, params) ? &operation : NULL);
}
CUDART(cudaGraphExecMemcpyNodeSetParams1D, GraphExec *exec, GraphNode *node, void *to, const void *from, size_t bytes, int kind) {
  Copy3D copy = copy_1d(to, from, bytes, kind);
  return cudaGraphExecMemcpyNodeSetParams(exec, node, &copy);
}
CUDART(cudaGraphExecMemsetNodeSetParams, GraphExec *exec, GraphNode *node, const MemsetParams *params) {
  Operation operation;
  return set_exec(exec, node, pack_set(&operation, params) ? &operation : NULL);
}
CUDART(cudaGraphExecHostNodeSetParams, GraphExec *exec, GraphNode *node, const HostNodeParams *params) {
  Operation operation;
  return set_exec(exec, node, pack_host(&operation, params) ? &operation : NULL);
}
CUDART(cudaGraphExecChildGraphNodeSetParams, GraphExec *exec, GraphNode *node, Graph *child) {
  Operation operation = {.params = {.type = NODE_GRAPH, .of.graph = child}};
  return set_exec(exec, node, &operation);
}
CUDART(cudaGraphExecEventRecordNodeSetEvent, GraphExec *exec, GraphNode *node, Event *event) {
  Operation operation = {.params = {.type = NODE_EVENT_RECORD, .of.event = event}};
  return set_exec(exec, node, &operation);
}
CUDART(cudaGraphExecEventWaitNodeSetEvent, GraphExec *exec, GraphNode *node, Event *event) {
  Operation operation = {.params = {.type = NODE_WAIT_EVENT, .of.event = event}};
  return set_exec(exec, node, &operation);
}
CUDART(cudaGraphExecNodeSetParams, GraphExec *exec, GraphNode *node, GraphNodeParams *params) {
  Operation operation = {0};
  if (params != NULL) operation.params = *params;
  return set_exec(exec, node, params == NULL ? NULL : &operation);
}

#define NODE_QUESTION(name, Type, node_type, answer)                                                                  \
  CUDART(name, GraphNode *node, Type *value) {                                                                        \
    Runtime *runtime = runtime_enter();                                                                               \
    bool good = value != NULL && handle_is(runtime, node, HANDLE_NODE) && node->operation.params.type == (node_type); \
    if (good) *value = (answer);                                                                                      \
    return runtime_leave(runtime, good ? cudaSuccess : cudaErrorInvalidValue);                                        \
  }
NODE_QUESTION(cudaGraphKernelNodeGetParams, KernelNodeParams, NODE_KERNEL, node->operation.params.of.kernel)
NODE_QUESTION(cudaGraphMemcpyNodeGetParams, Copy3D, NODE_MEMCPY, node->operation.params.of.copy.copy)
NODE_QUESTION(cudaGraphMemsetNodeGetParams, MemsetParams, NODE_MEMSET, node->operation.params.of.set)
NODE_QUESTION(cudaGraphHostNodeGetParams, HostNodeParams, NODE_HOST, node->operation.params.of.host)
NODE_QUESTION(cudaGraphChildGraphNodeGetGraph, Graph *, NODE_GRAPH, node->operation.params.of.graph)
NODE_QUESTION(cudaGraphEventRecordNodeGetEvent, Event *, NODE_EVENT_RECORD, node->operation.params.of.event)
NODE_QUESTION(cudaGraphEventWaitNodeGetEvent, Event *, NODE_WAIT_EVENT, node->operation.params.of.event)
NODE_QUESTION(cudaGraphMemAllocNodeGetParams, MemAllocNodeParams, NODE_MEM_ALLOC, node->operation.params.of.alloc)
NODE_QUESTION(cudaGraphMemFreeNodeGetParams, void *, NODE_MEM_FREE, node->operation.params.of.free)
NODE_QUESTION(cudaGraphNodeGetType, int, node->operation.params.type, node->operation.params.type)

CUDART(cudaGraphKernelNodeSetAttribute, GraphNode *node, int attribute, const LaunchAttribute *value) {
  Runtime *runtime = runtime_enter();
  bool good = value != NULL && handle_is(runtime, node, HANDLE_NODE) && node->operation.params.type == NODE_KERNEL;
  int number = 0; // the value alone is passed, without the id before it
  if (good) memcpy(&number, value, sizeof number);
  if (good && attribute == LAUNCH_ATTRIBUTE_COOPERATIVE) node->operation.cooperative = number != 0;
  if (good && attribute == LAUNCH_ATTRIBUTE_CLUSTER) memcpy(&node->operation.cluster, value, sizeof node->operation.cluster);
  return runtime_leave(runtime, good ? cudaSuccess : cudaErrorInvalidValue);
}
