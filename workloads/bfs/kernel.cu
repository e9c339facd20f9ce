// Breadth-first search, one vertex a thread and one launch a level, over a graph in CSR form.
#include "../cuda.h"

extern "C" __global__ void bfs_level(const unsigned *first_edge, const unsigned *edge, int *level, unsigned *changed, unsigned vertices, int depth) {
  unsigned v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= vertices || level[v] != depth) return;
  for (unsigned e = first_edge[v]; e < first_edge[v + 1]; e++) {
    unsigned w = edge[e];
    if (level[w] < 0) {
      level[w] = depth + 1;
      *changed = 1;
    }
  }
}
