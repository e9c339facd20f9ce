// Graph functions whose arguments changed between generations of the interface.
#include "cudart/graph.h"

EXPORT CudaError cudaGraphInstantiateWithFlags(GraphExec **exec, Graph *graph, uint64_t flags);

#if CUDART_GENERATION >= 12
CUDART(cudaGraphInstantiate, GraphExec **exec, Graph *graph, uint64_t flags) { return cudaGraphInstantiateWithFlags(exec, graph, flags); }
#else
CUDART(cudaGraphInstantiate, GraphExec **exec, Graph *graph, GraphNode **error_node, char *log, size_t log_bytes) {
  if (error_node != NULL) *error_node = NULL;
  if (log != NULL && log_bytes > 0) log[0] = '\0';
  return cudaGraphInstantiateWithFlags(exec, graph, 0);
}
#endif
