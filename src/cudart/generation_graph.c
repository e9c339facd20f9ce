// Graph functions whose arguments changed between generations of the interface: data of edges came with suffixed
// names in CUDA 12 and took over the plain names in 13; instantiation and update lost arguments in 12.
#include "cudart/graph.h"

EXPORT CudaError cudaGraphInstantiateWithFlags(GraphExec **exec, Graph *graph, uint64_t flags);
EXPORT CudaError cudaGraphGetEdges_v2(Graph *graph, GraphNode **from, GraphNode **to, EdgeData *edges, size_t *count);
EXPORT CudaError cudaGraphNodeGetDependencies_v2(GraphNode *node, GraphNode **nodes, EdgeData *edges, size_t *count);
EXPORT CudaError cudaGraphNodeGetDependentNodes_v2(GraphNode *node, GraphNode **nodes, EdgeData *edges, size_t *count);
EXPORT CudaError cudaGraphAddDependencies_v2(Graph *graph, GraphNode *const *from, GraphNode *const *to, const EdgeData *edges,
                                             size_t count);
EXPORT CudaError cudaGraphRemoveDependencies_v2(Graph *graph, GraphNode *const *from, GraphNode *const *to, const EdgeData *edges,
                                                size_t count);
EXPORT CudaError cudaGraphAddNode_v2(GraphNode **node, Graph *graph, GraphNode *const *dependencies, const EdgeData *edges, size_t count,
                                     GraphNodeParams *params);
EXPORT CudaError cudaStreamGetCaptureInfo_v3(Stream *handle, int *status, uint64_t *id, Graph **graph, GraphNode *const **dependencies,
                                             const EdgeData **edges, size_t *count);
EXPORT CudaError cudaStreamUpdateCaptureDependencies_v2(Stream *handle, GraphNode **dependencies, const EdgeData *edges, size_t count,
                                                        uint32_t flags);

#if CUDART_GENERATION >= 13
CUDART(cudaGraphGetEdges, Graph *graph, GraphNode **from, GraphNode **to, EdgeData *edges, size_t *count) {
  return cudaGraphGetEdges_v2(graph, from, to, edges, count);
}
CUDART(cudaGraphNodeGetDependencies, GraphNode *node, GraphNode **nodes, EdgeData *edges, size_t *count) {
  return cudaGraphNodeGetDependencies_v2(node, nodes, edges, count);
}
CUDART(cudaGraphNodeGetDependentNodes, GraphNode *node, GraphNode **nodes, EdgeData *edges, size_t *count) {
  return cudaGraphNodeGetDependentNodes_v2(node, nodes, edges, count);
}
CUDART(cudaGraphAddDependencies, Graph *graph, GraphNode *const *from, GraphNode *const *to, const EdgeData *edges, size_t count) {
  return cudaGraphAddDependencies_v2(graph, from, to, edges, count);
}
CUDART(cudaGraphRemoveDependencies, Graph *graph, GraphNode *const *from, GraphNode *const *to, const EdgeData *edges, size_t count) {
  return cudaGraphRemoveDependencies_v2(graph, from, to, edges, count);
}
CUDART(cudaGraphAddNode, GraphNode **node, Graph *graph, GraphNode *const *dependencies, const EdgeData *edges, size_t count,
       GraphNodeParams *params) {
  return cudaGraphAddNode_v2(node, graph, dependencies, edges, count, params);
}
CUDART(cudaStreamGetCaptureInfo, Stream *handle, int *status, uint64_t *id, Graph **graph, GraphNode *const **dependencies,
       const EdgeData **edges, size_t *count) {
  return cudaStreamGetCaptureInfo_v3(handle, status, id, graph, dependencies, edges, count);
}
CUDART(cudaStreamUpdateCaptureDependencies, Stream *handle, GraphNode **dependencies, const EdgeData *edges, size_t count, uint32_t flags) {
  return cudaStreamUpdateCaptureDependencies_v2(handle, dependencies, edges, count, flags);
}
#else
CUDART(cudaGraphGetEdges, Graph *graph, GraphNode **from, GraphNode **to, size_t *count) {
  return cudaGraphGetEdges_v2(graph, from, to, NULL, count);
}
CUDART(cudaGraphNodeGetDependencies, GraphNode *node, GraphNode **nodes, size_t *count) {
  return cudaGraphNodeGetDependencies_v2(node, nodes, NULL, count);
}
CUDART(cudaGraphNodeGetDependentNodes, GraphNode *node, GraphNode **nodes, size_t *count) {
  return cudaGraphNodeGetDependentNodes_v2(node, nodes, NULL, count);
}
CUDART(cudaGraphAddDependencies, Graph *graph, GraphNode *const *from, GraphNode *const *to, size_t count) {
  return cudaGraphAddDependencies_v2(graph, from, to, NULL, count);
}
CUDART(cudaGraphRemoveDependencies, Graph *graph, GraphNode *const *from, GraphNode *const *to, size_t count) {
  return cudaGraphRemoveDependencies_v2(graph, from, to, NULL, count);
}
CUDART(cudaGraphAddNode, GraphNode **node, Graph *graph, GraphNode *const *dependencies, size_t count, GraphNodeParams *params) {
  return cudaGraphAddNode_v2(node, graph, dependencies, NULL, count, params);
}
CUDART(cudaStreamGetCaptureInfo, Stream *handle, int *status, uint64_t *id) {
  return cudaStreamGetCaptureInfo_v3(handle, status, id, NULL, NULL, NULL, NULL);
}
CUDART(cudaStreamGetCaptureInfo_v2, Stream *handle, int *status, uint64_t *id, Graph **graph, GraphNode *const **dependencies,
       size_t *count) {
  return cudaStreamGetCaptureInfo_v3(handle, status, id, graph, dependencies, NULL, count);
}
CUDART_ALIAS(cudaStreamGetCaptureInfo_v2_ptsz, cudaStreamGetCaptureInfo_v2)
CUDART(cudaStreamUpdateCaptureDependencies, Stream *handle, GraphNode **dependencies, size_t count, uint32_t flags) {
  return cudaStreamUpdateCaptureDependencies_v2(handle, dependencies, NULL, count, flags);
}
#endif
CUDART_ALIAS(cudaStreamGetCaptureInfo_ptsz, cudaStreamGetCaptureInfo)
CUDART_ALIAS(cudaStreamUpdateCaptureDependencies_ptsz, cudaStreamUpdateCaptureDependencies)

#if CUDART_GENERATION >= 12
CUDART(cudaGraphInstantiate, GraphExec **exec, Graph *graph, uint64_t flags) { return cudaGraphInstantiateWithFlags(exec, graph, flags); }
CUDART(cudaGraphExecUpdate, GraphExec *exec, Graph *graph, GraphExecUpdateResult *result) { return graph_exec_update(exec, graph, result); }
#else
CUDART(cudaGraphInstantiate, GraphExec **exec, Graph *graph, GraphNode **error_node, char *log, size_t log_bytes) {
  if (error_node != NULL) *error_node = NULL;
  if (log != NULL && log_bytes > 0) log[0] = '\0';
  return cudaGraphInstantiateWithFlags(exec, graph, 0);
}
CUDART(cudaGraphExecUpdate, GraphExec *exec, Graph *graph, GraphNode **error_node, int *result) {
  GraphExecUpdateResult outcome = {0};
  CudaError error = graph_exec_update(exec, graph, &outcome);
  if (error_node != NULL) *error_node = outcome.error_node;
  if (result != NULL) *result = outcome.result;
  return error;
}
#endif
