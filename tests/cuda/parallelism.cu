// Kernels that launch kernels: recursion by launches, streams of their own, copies and allocation on the device.
// nvcc: -rdc=true
#include "check.h"
#include <algorithm>
#include <vector>

static const int LEAF = 16;

__global__ void insertion_sort(int *data, int count) {
  for (int i = 1; i < count; i++) {
    int value = data[i], k = i;
    for (; k > 0 && data[k - 1] > value; k--) data[k] = data[k - 1];
    data[k] = value;
  }
}

__global__ void quicksort(int *data, int count) {
  if (count <= LEAF) {
    insertion_sort<<<1, 1>>>(data, count);
    return;
  }
  int pivot = data[count / 2], left = 0, right = count - 1;
  while (left <= right) {
    while (data[left] < pivot) left++;
    while (data[right] > pivot) right--;
    if (left <= right) {
      int swap = data[left];
      data[left++] = data[right], data[right--] = swap;
    }
  }
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  if (right > 0) quicksort<<<1, 1, 0, stream>>>(data, right + 1);
  if (left < count - 1) quicksort<<<1, 1>>>(data + left, count - left);
  cudaStreamDestroy(stream);
}

__global__ void note(int *log, int value) { log[atomicAdd(&log[0], 1) + 1] = value; }

struct Big {
  double values[20];
};

__global__ void sums(Big big, char scale, double *out) {
  __shared__ double partial[32];
  extern __shared__ double more[];
  partial[threadIdx.x] = threadIdx.x < 20 ? big.values[threadIdx.x] * scale : 0;
  more[threadIdx.x] = 1;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int i = 0; i < 32; i++) *out += partial[i] + more[i];
}

// Order within a stream: earlier children come first, and their own children before their siblings.
__global__ void tree(int *log, int name, int depth) {
  note<<<1, 1>>>(log, name);
  if (depth == 0) return;
  tree<<<1, 1>>>(log, name * 10 + 1, depth - 1);
  tree<<<1, 1>>>(log, name * 10 + 2, depth - 1);
}

__global__ void various(int *copy, const int *source, double *out, int *status) {
  Big big;
  for (int i = 0; i < 20; i++) big.values[i] = i;
  sums<<<1, 32, 32 * sizeof(double)>>>(big, 2, out);
  cudaMemcpyAsync(copy, source, 10 * sizeof(int), cudaMemcpyDeviceToDevice, 0);
  int *scratch = nullptr;
  status[0] = cudaMalloc(&scratch, 400);
  scratch[99] = 5;
  status[1] = scratch[99];
  status[2] = cudaFree(scratch);
  status[3] = cudaGetLastError();
}

// One thread that leaves many launches waiting.
__global__ void many(int *log, int count) {
  for (int i = 0; i < count; i++) note<<<1, 1>>>(log, i);
}

int main() {
  const int n = 2000;
  std::vector<int> host(n), sorted;
  for (int i = 0; i < n; i++) host[i] = (int)(i * 7919ll % 3001);
  sorted = host;
  std::sort(sorted.begin(), sorted.end());
  int *data = device_copy(host.data(), n);
  quicksort<<<1, 1>>>(data, n);
  LAUNCHED();
  host_copy(host.data(), data, n);
  EXPECT(host == sorted);

  const int expected[] = {7, 1, 11, 111, 112, 12, 121, 122};
  int log[8], *list = device_array<int>(32);
  tree<<<1, 1>>>(list, 1, 2);
  LAUNCHED();
  host_copy(log, list, 8);
  EXPECT(log[0] == expected[0]);
  for (int i = 1; i < 8; i++) EXPECT(log[i] == expected[i]);

  double *out = device_array<double>(1), total = 0;
  int *copy = device_array<int>(10), *status = device_array<int>(4), seen[10], states[4];
  various<<<1, 1>>>(copy, data, out, status);
  LAUNCHED();
  host_copy(&total, out, 1);
  host_copy(seen, copy, 10);
  host_copy(states, status, 4);
  EXPECT(total == 2 * 190 + 32);
  for (int i = 0; i < 10; i++) EXPECT(seen[i] == sorted[i]);
  EXPECT(states[0] == 0 && states[1] == 5 && states[2] == 0 && states[3] == 0);

  // More than wait by default.
  const int waiting = 3000;
  int *notes = device_array<int>(waiting + 1), count = 0;
  size_t limit = 0;
  EXPECT(cudaDeviceGetLimit(&limit, cudaLimitDevRuntimePendingLaunchCount) == cudaSuccess && limit == 2048);
  EXPECT(cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, waiting) == cudaSuccess);
  many<<<1, 1>>>(notes, waiting);
  LAUNCHED();
  host_copy(&count, notes, 1);
  EXPECT(count == waiting);
  EXPECT(cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, waiting - 1) == cudaSuccess);
  many<<<1, 1>>>(notes, waiting);
  EXPECT(cudaDeviceSynchronize() == cudaErrorLaunchPendingCountExceeded);
  return verdict();
}
