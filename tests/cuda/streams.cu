// Streams, events and callbacks: order within and between streams, elapsed times, work from several host threads.
#include "check.h"
#include <thread>
#include <vector>

__global__ void multiply_add(int *data, int n, int factor, int summand) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) data[i] = data[i] * factor + summand;
}

static void CUDART_CB on_stream(cudaStream_t, cudaError_t status, void *user) {
  if (status == cudaSuccess) *(int *)user += 1;
}

static void CUDART_CB on_host(void *user) { *(int *)user += 10; }

static void test_order() {
  const int n = 5000;
  std::vector<int> host(n, 3);
  int *data = device_array<int>(n), *pinned;
  CHECK(cudaMallocHost(&pinned, n * sizeof(int)));
  cudaStream_t first, second, third;
  cudaEvent_t ready, start, stop;
  int least = 0, greatest = 0, calls = 0;
  CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  EXPECT(greatest <= least);
  CHECK(cudaStreamCreate(&first));
  CHECK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithPriority(&third, cudaStreamNonBlocking, greatest));
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));
  CHECK(cudaEventCreateWithFlags(&ready, cudaEventDisableTiming));
  CHECK(cudaEventRecord(start, first));
  CHECK(cudaMemcpyAsync(data, host.data(), n * sizeof(int), cudaMemcpyHostToDevice, first));
  multiply_add<<<10, 128, 0, first>>>(data, n, 2, 1);
  CHECK(cudaStreamAddCallback(first, on_stream, &calls, 0));
  CHECK(cudaEventRecord(ready, first));
  CHECK(cudaStreamWaitEvent(second, ready, 0));
  multiply_add<<<4, 96, 0, second>>>(data, n, 5, -2);
  CHECK(cudaLaunchHostFunc(second, on_host, &calls));
  CHECK(cudaEventRecord(ready, second));
  CHECK(cudaStreamWaitEvent(third, ready, 0));
  CHECK(cudaMemcpyAsync(pinned, data, n * sizeof(int), cudaMemcpyDeviceToHost, third));
  CHECK(cudaStreamSynchronize(third));
  CHECK(cudaEventRecord(stop, third));
  CHECK(cudaEventSynchronize(stop));
  EXPECT(cudaEventQuery(stop) == cudaSuccess && cudaStreamQuery(first) == cudaSuccess);
  for (int i = 0; i < n; i++) EXPECT(pinned[i] == (3 * 2 + 1) * 5 - 2);
  float elapsed = -1;
  CHECK(cudaEventElapsedTime(&elapsed, start, stop));
  EXPECT(elapsed > 0);
  EXPECT_ERROR(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&elapsed, start, ready));
  cudaGetLastError();
  CHECK(cudaDeviceSynchronize());
  EXPECT(calls == 11);
  CHECK(cudaEventDestroy(start));
  CHECK(cudaEventDestroy(stop));
  CHECK(cudaEventDestroy(ready));
  CHECK(cudaStreamDestroy(first));
  CHECK(cudaStreamDestroy(second));
  CHECK(cudaStreamDestroy(third));
  CHECK(cudaFreeHost(pinned));
  CHECK(cudaFree(data));
}

static void worker(int index, int *wrong) {
  const int n = 2000;
  std::vector<int> host(n);
  cudaStream_t stream;
  int *data;
  if (cudaSetDevice(0) || cudaStreamCreate(&stream) || cudaMallocAsync(&data, n * sizeof(int), stream)) {
    *wrong = -1;
    return;
  }
  cudaMemsetAsync(data, 0, n * sizeof(int), stream);
  for (int round = 0; round < 10; round++) multiply_add<<<4, 128, 0, stream>>>(data, n, 3, index);
  cudaMemcpyAsync(host.data(), data, n * sizeof(int), cudaMemcpyDeviceToHost, stream);
  cudaFreeAsync(data, stream);
  cudaStreamSynchronize(stream);
  int expected = 0;
  for (int round = 0; round < 10; round++) expected = expected * 3 + index;
  for (int value : host) *wrong += value != expected;
  // Errors belong to the thread that made them.
  *wrong += cudaMalloc(&data, (size_t)1 << 50) != cudaErrorMemoryAllocation;
  cudaStreamDestroy(stream);
}

static void test_threads() {
  std::vector<std::thread> threads;
  int wrong[6] = {};
  for (int i = 0; i < 6; i++) threads.emplace_back(worker, i + 1, &wrong[i]);
  for (auto &thread : threads) thread.join();
  for (int count : wrong) EXPECT(count == 0);
  CHECK(cudaGetLastError());
}

int main() {
  test_order();
  test_threads();
  cudaEvent_t never;
  CHECK(cudaEventCreate(&never));
  CHECK(cudaEventQuery(never));
  CHECK(cudaEventDestroy(never));
  multiply_add<<<1, 32, 0, cudaStreamPerThread>>>(nullptr, 0, 1, 1);
  multiply_add<<<1, 32, 0, cudaStreamLegacy>>>(nullptr, 0, 1, 1);
  LAUNCHED();
  return verdict();
}
