// Graphs: captured from streams and built by hand, launched several times, changed, cloned, nested.
#include "check.h"

__global__ void add(int *data, int value) { data[threadIdx.x] += value; }
__global__ void multiply(int *data, int value) { data[threadIdx.x] *= value; }
__global__ void combine(int *out, const int *a, const int *b) { out[threadIdx.x] = a[threadIdx.x] - b[threadIdx.x]; }

static const int N = 64;

static void CUDART_CB count_calls(void *user) { ++*(int *)user; }

static void test_capture(int *data) {
  cudaStream_t first, second;
  cudaEvent_t fork, join;
  cudaGraph_t graph;
  cudaGraphExec_t ready;
  int calls = 0, host[N], *side = device_array<int>(N);
  CHECK(cudaStreamCreate(&first));
  CHECK(cudaStreamCreate(&second));
  CHECK(cudaEventCreate(&fork));
  CHECK(cudaEventCreate(&join));
  CHECK(cudaMemset(data, 0, N * 4));
  CHECK(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
  add<<<1, N, 0, first>>>(data, 3);
  CHECK(cudaEventRecord(fork, first));
  CHECK(cudaStreamWaitEvent(second, fork, 0));
  add<<<1, N, 0, second>>>(side, 1);
  CHECK(cudaEventRecord(join, second));
  multiply<<<1, N, 0, first>>>(data, 2);
  CHECK(cudaStreamWaitEvent(first, join, 0));
  combine<<<1, N, 0, first>>>(data, data, side);
  CHECK(cudaLaunchHostFunc(first, count_calls, &calls));
  CHECK(cudaMemcpyAsync(host, data, N * 4, cudaMemcpyDeviceToHost, first));
  cudaStreamCaptureStatus status;
  CHECK(cudaStreamIsCapturing(first, &status));
  EXPECT(status == cudaStreamCaptureStatusActive);
  CHECK(cudaStreamEndCapture(first, &graph));
  EXPECT(calls == 0);
  size_t nodes = 0;
  CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
  EXPECT(nodes == 6);
  CHECK(cudaGraphInstantiate(&ready, graph, 0));
  int value = 0;
  for (int round = 1; round <= 4; round++) {
    CHECK(cudaGraphLaunch(ready, first));
    CHECK(cudaStreamSynchronize(first));
    value = (value + 3) * 2 - round;
    for (int i = 0; i < N; i++) EXPECT(host[i] == value);
  }
  EXPECT(calls == 4);
  CHECK(cudaGraphExecDestroy(ready));
  CHECK(cudaGraphDestroy(graph));
  CHECK(cudaStreamDestroy(first));
  CHECK(cudaStreamDestroy(second));
  CHECK(cudaFree(side));
}

static void test_built(int *data) {
  cudaGraph_t graph, child, clone;
  cudaGraphExec_t ready;
  cudaGraphNode_t zero, first, second, inside, nested, host_node, back;
  int host[N], value = 5, factor = 7, calls = 0;
  CHECK(cudaGraphCreate(&graph, 0));
  CHECK(cudaGraphCreate(&child, 0));
  cudaMemsetParams clear = {};
  clear.dst = data, clear.elementSize = 4, clear.width = N, clear.height = 1, clear.value = 2;
  CHECK(cudaGraphAddMemsetNode(&zero, graph, nullptr, 0, &clear));
  void *add_arguments[] = {&data, &value}, *multiply_arguments[] = {&data, &factor};
  cudaKernelNodeParams kernel = {};
  kernel.func = (void *)add, kernel.gridDim = dim3(1), kernel.blockDim = dim3(N), kernel.kernelParams = add_arguments;
  CHECK(cudaGraphAddKernelNode(&first, graph, &zero, 1, &kernel));
  CHECK(cudaGraphAddKernelNode(&inside, child, nullptr, 0, &kernel));
  CHECK(cudaGraphAddChildGraphNode(&nested, graph, &first, 1, child));
  kernel.func = (void *)multiply, kernel.kernelParams = multiply_arguments;
  CHECK(cudaGraphAddKernelNode(&second, graph, nullptr, 0, &kernel));
  CHECK(cudaGraphAddDependencies(graph, &nested, &second, nullptr, 1));
  cudaHostNodeParams call = {count_calls, &calls};
  CHECK(cudaGraphAddHostNode(&host_node, graph, &second, 1, &call));
  CHECK(cudaGraphAddMemcpyNode1D(&back, graph, &host_node, 1, host, data, N * 4, cudaMemcpyDeviceToHost));
  CHECK(cudaGraphClone(&clone, graph));
  CHECK(cudaGraphInstantiate(&ready, clone, 0));
  CHECK(cudaGraphLaunch(ready, 0));
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < N; i++) EXPECT(host[i] == (2 + 5 + 5) * 7);
  CHECK(cudaGraphExecDestroy(ready));
  CHECK(cudaGraphInstantiate(&ready, graph, 0));
  factor = 3;
  CHECK(cudaGraphExecKernelNodeSetParams(ready, second, &kernel));
  CHECK(cudaGraphLaunch(ready, 0));
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < N; i++) EXPECT(host[i] == (2 + 5 + 5) * 3);
  EXPECT(calls == 2);
  cudaGraphNodeType type;
  CHECK(cudaGraphNodeGetType(nested, &type));
  EXPECT(type == cudaGraphNodeTypeGraph);
  CHECK(cudaGraphExecDestroy(ready));
  CHECK(cudaGraphDestroy(clone));
  CHECK(cudaGraphDestroy(child));
  CHECK(cudaGraphDestroy(graph));
}

int main() {
  int *data = device_array<int>(N);
  test_capture(data);
  test_built(data);
  return verdict();
}
