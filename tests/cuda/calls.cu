// Calls: recursion, function pointers, virtual functions, a wide switch, structures by value, device malloc and free.
#include "check.h"
#include <vector>

__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

__device__ __noinline__ int ackermann(int m, int n) {
  return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

__global__ void recursive(int *out) { out[threadIdx.x] = fibonacci(threadIdx.x % 12) + ackermann(threadIdx.x & 1, threadIdx.x % 5); }

typedef int (*Binary)(int, int);
__device__ int plus(int a, int b) { return a + b; }
__device__ int minus(int a, int b) { return a - b; }
__device__ int times(int a, int b) { return a * b; }
__device__ Binary operations[] = {plus, minus, times};
__device__ Binary chosen = times;

__global__ void indirect(int *out, Binary given) {
  int i = threadIdx.x;
  out[i] = operations[i % 3](i, 7) + given(i, 2);
}

struct Shape {
  __device__ virtual ~Shape() {}
  __device__ virtual float area() const = 0;
  __device__ virtual int sides() const { return 0; }
};
struct Box : Shape {
  float w, h;
  __device__ Box(float width, float height) : w(width), h(height) {}
  __device__ float area() const override { return w * h; }
  __device__ int sides() const override { return 4; }
};
struct Disc : Shape {
  float r;
  __device__ explicit Disc(float radius) : r(radius) {}
  __device__ float area() const override { return 3.0f * r * r; }
};

__global__ void construct(Shape **shapes) {
  int i = threadIdx.x;
  shapes[i] = i % 2 ? (Shape *)new Box(i, 2) : new Disc(i);
}

__global__ void measure(Shape **shapes, float *out) {
  out[threadIdx.x] = shapes[threadIdx.x]->area() + 1000 * shapes[threadIdx.x]->sides();
  delete shapes[threadIdx.x];
}

#define ROUTE_CASE(k, expression) \
  case k: return expression;
__host__ __device__ __noinline__ int route(int key, int x) {
  switch (key) {
    ROUTE_CASE(0, x + 1)
    ROUTE_CASE(1, x * 3) ROUTE_CASE(2, x ^ 55) ROUTE_CASE(3, x - 9) ROUTE_CASE(4, x << 2) ROUTE_CASE(5, x | 64) ROUTE_CASE(6, ~x)
        ROUTE_CASE(7, x & 0x33) ROUTE_CASE(8, x / 3) ROUTE_CASE(9, x % 5) ROUTE_CASE(10, x * x) ROUTE_CASE(11, -x)
            ROUTE_CASE(12, x + key * 5) ROUTE_CASE(13, x >> 1) ROUTE_CASE(15, 7 - x)
  }
  return -1;
}

__global__ void switching(int *out) { out[threadIdx.x] = route(threadIdx.x % 18, threadIdx.x); }

struct Parameters {
  char tag;
  double weights[3];
  short counts[5];
  struct {
    int x, y;
  } inner;
  int *out;
};

__device__ __noinline__ Parameters changed(Parameters p) {
  p.inner.x += p.counts[2], p.weights[1] *= 2;
  return p;
}

__global__ void by_value(Parameters p, char4 bytes) {
  Parameters q = changed(p);
  p.out[threadIdx.x] = q.inner.x + q.inner.y + (int)q.weights[1] + q.tag + bytes.w * threadIdx.x + p.counts[threadIdx.x % 5];
}

__global__ void allocate(int *out) {
  int *list = (int *)malloc((threadIdx.x + 1) * sizeof(int));
  for (int i = 0; i <= threadIdx.x; i++) list[i] = i;
  int sum = 0;
  for (int i = threadIdx.x; i >= 0; i--) sum += list[i];
  free(list);
  out[threadIdx.x] = sum;
}

int main() {
  const int n = 64;
  int *out = device_array<int>(n), host[n], fib[] = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89};
  CHECK(cudaDeviceSetLimit(cudaLimitStackSize, 16 * 1024));
  recursive<<<1, n>>>(out);
  LAUNCHED();
  host_copy(host, out, n);
  for (int i = 0; i < n; i++) EXPECT(host[i] == fib[i % 12] + (i & 1 ? i % 5 + 2 : i % 5 + 1));
  Binary given;
  CHECK(cudaMemcpyFromSymbol(&given, chosen, sizeof given));
  indirect<<<1, n>>>(out, given);
  LAUNCHED();
  host_copy(host, out, n);
  for (int i = 0; i < n; i++) EXPECT(host[i] == (i % 3 == 0 ? i + 7 : i % 3 == 1 ? i - 7 : i * 7) + i * 2);
  Shape **shapes = device_array<Shape *>(n);
  float *areas = device_array<float>(n), area[n];
  construct<<<1, n>>>(shapes);
  measure<<<1, n>>>(shapes, areas);
  LAUNCHED();
  host_copy(area, areas, n);
  for (int i = 0; i < n; i++) EXPECT(area[i] == (i % 2 ? i * 2.0f + 4000 : 3.0f * i * i));
  switching<<<1, n>>>(out);
  LAUNCHED();
  host_copy(host, out, n);
  for (int i = 0; i < n; i++) EXPECT(host[i] == route(i % 18, i));
  Parameters p = {'a', {1, 2.5, 3}, {10, 20, 30, 40, 50}, {100, 200}, out};
  by_value<<<1, n>>>(p, make_char4(1, 2, 3, -4));
  LAUNCHED();
  host_copy(host, out, n);
  for (int i = 0; i < n; i++) EXPECT(host[i] == 130 + 200 + 5 + 'a' - 4 * i + 10 * (i % 5 + 1));
  allocate<<<1, n>>>(out);
  LAUNCHED();
  host_copy(host, out, n);
  for (int i = 0; i < n; i++) EXPECT(host[i] == i * (i + 1) / 2);
  return verdict();
}
