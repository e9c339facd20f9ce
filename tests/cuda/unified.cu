// Unified memory: managed variables and allocations, linked structures, zero copy, prefetch and advice.
#include "check.h"
#include <cstring>

__device__ __managed__ int total = 5;
__device__ __managed__ float table[100];

struct Node {
  int value;
  Node *next;
  char name[12];
};

__global__ void walk(Node *list) {
  int sum = 0;
  for (Node *node = list; node; node = node->next) {
    sum += node->value;
    node->name[0] = 'A' + node->value % 26;
  }
  total += sum;
}

__global__ void fill(float *data, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) data[i] = table[i % 100] * i;
}

static Node *make_list(int count) {
  Node *first = nullptr;
  for (int i = 0; i < count; i++) {
    Node *node;
    CHECK(cudaMallocManaged(&node, sizeof(Node)));
    node->value = i, node->next = first;
    std::strcpy(node->name, "?node");
    first = node;
  }
  return first;
}

static void test_list() {
  const int count = 30;
  Node *list = make_list(count);
  walk<<<1, 1>>>(list);
  LAUNCHED();
  EXPECT(total == 5 + count * (count - 1) / 2);
  for (Node *node = list; node;) {
    Node *next = node->next;
    EXPECT(node->name[0] == 'A' + node->value % 26 && !std::strcmp(node->name + 1, "node"));
    CHECK(cudaFree(node));
    node = next;
  }
  total = 100;
  walk<<<1, 1>>>(nullptr);
  LAUNCHED();
  EXPECT(total == 100);
}

static void test_arrays() {
  const int n = 3000;
  float *managed, *mapped, *alias;
  CHECK(cudaMallocManaged(&managed, n * sizeof(float), cudaMemAttachGlobal));
  CHECK(cudaHostAlloc(&mapped, n * sizeof(float), cudaHostAllocMapped | cudaHostAllocWriteCombined));
  CHECK(cudaHostGetDevicePointer(&alias, mapped, 0));
  unsigned flags = 0;
  CHECK(cudaHostGetFlags(&flags, mapped));
  EXPECT(flags & cudaHostAllocMapped);
  for (int i = 0; i < 100; i++) table[i] = i + 0.5f;
  cudaMemLocation device = {cudaMemLocationTypeDevice, 0};
  CHECK(cudaMemAdvise(managed, n * sizeof(float), cudaMemAdviseSetPreferredLocation, device));
  CHECK(cudaMemPrefetchAsync(managed, n * sizeof(float), device, 0));
  fill<<<6, 100>>>(managed, n);
  fill<<<6, 100>>>(alias, n);
  LAUNCHED();
  for (int i = 0; i < n; i++) EXPECT(managed[i] == table[i % 100] * i && mapped[i] == managed[i]);
  CHECK(cudaMemset(managed, 0, n * sizeof(float)));
  CHECK(cudaMemcpy(managed, mapped, n / 2 * sizeof(float), cudaMemcpyDefault));
  EXPECT(managed[7] == table[7] * 7 && managed[n - 1] == 0);
  cudaPointerAttributes attributes;
  CHECK(cudaPointerGetAttributes(&attributes, managed));
  EXPECT(attributes.type == cudaMemoryTypeManaged);
  CHECK(cudaStreamAttachMemAsync(0, managed, 0, cudaMemAttachGlobal));
  CHECK(cudaFree(managed));
  CHECK(cudaFreeHost(mapped));
}

int main() {
  EXPECT(total == 5);
  test_list();
  test_arrays();
  return verdict();
}
