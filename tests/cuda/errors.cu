// Errors: refused launches are forgotten, device traps stay until the process ends; each trap in a process of its own.
#include "check.h"
#include <cassert>
#include <sys/wait.h>
#include <unistd.h>

__global__ void stores(int *pointer, int value) { *pointer = value; }
__global__ void traps() { asm("trap;"); }
__global__ void asserts(int value) { assert(value == 3 && "three"); }
__global__ void misaligned(char *pointer) { *(int *)(pointer + 1) = 1; }
__global__ void shared_wild(int index) {
  extern __shared__ int memory[];
  memory[index] = index;
}
__global__ void nothing() {}
__global__ void many_arguments(int *out, int a, char b, double c, short d, long long e, float f) {
  *out = a + b + (int)c + d + (int)e + (int)f;
}

// The error that a trap leaves behind must come from every later call, here in a child so that the next case starts clean.
static void in_child(const char *name, cudaError_t expected, void (*provoke)(int *device)) {
  std::fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    int *device = nullptr;
    failures = 0;
    CHECK(cudaMalloc(&device, 64));
    provoke(device);
    EXPECT_ERROR(expected, cudaDeviceSynchronize());
    EXPECT_ERROR(expected, cudaGetLastError());
    EXPECT_ERROR(expected, cudaGetLastError()); // it stays
    EXPECT_ERROR(expected, cudaMalloc(&device, 64));
    EXPECT_ERROR(expected, cudaMemset(device, 0, 4));
    nothing<<<1, 1>>>();
    EXPECT_ERROR(expected, cudaGetLastError());
    _exit(failures != 0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) std::fprintf(stderr, "case %s: status %d\n", name, status), failures++;
}

static void test_traps() {
  in_child("null", cudaErrorIllegalAddress, [](int *) { stores<<<1, 1>>>(nullptr, 1); });
  in_child("wild", cudaErrorIllegalAddress, [](int *) { stores<<<4, 32>>>((int *)0x7ffff0000000, 1); });
  in_child("misaligned", cudaErrorMisalignedAddress, [](int *device) { misaligned<<<1, 1>>>((char *)device); });
  in_child("trap", cudaErrorLaunchFailure, [](int *) { traps<<<1, 1>>>(); });
  in_child("assert", cudaErrorAssert, [](int *) { asserts<<<2, 2>>>(4); });
  in_child("shared", cudaErrorIllegalAddress, [](int *) { shared_wild<<<1, 1, 64>>>(1 << 26); });
}

static void test_refused_launches() {
  int *device = device_array<int>(1), value = 0;
  stores<<<1, 2000>>>(device, 1);
  EXPECT_ERROR(cudaErrorInvalidConfiguration, cudaPeekAtLastError());
  EXPECT_ERROR(cudaErrorInvalidConfiguration, cudaGetLastError());
  CHECK(cudaGetLastError());
  stores<<<0, 32>>>(device, 1);
  EXPECT_ERROR(cudaErrorInvalidConfiguration, cudaGetLastError());
  stores<<<1, dim3(1, 1, 65)>>>(device, 1);
  EXPECT_ERROR(cudaErrorInvalidConfiguration, cudaGetLastError());
  stores<<<dim3(1, 70000), 1>>>(device, 1);
  EXPECT_ERROR(cudaErrorInvalidConfiguration, cudaGetLastError());
  stores<<<1, 1, 1 << 20>>>(device, 1);
  EXPECT(cudaGetLastError() != cudaSuccess);
  EXPECT_ERROR(cudaErrorInvalidDeviceFunction, cudaLaunchKernel((void *)test_traps, dim3(1), dim3(1), nullptr, 0, 0));
  EXPECT_ERROR(cudaErrorInvalidDeviceFunction, cudaGetLastError());
  asserts<<<1, 1>>>(3);
  stores<<<1, 1>>>(device, 5);
  LAUNCHED();
  host_copy(&value, device, 1);
  EXPECT(value == 5);
}

static void test_launch_variants() {
  int *device = device_array<int>(1), value = 0, a = 1;
  char b = 2;
  double c = 3.9;
  short d = 4;
  long long e = 5;
  float f = 6.9f;
  void *arguments[] = {&device, &a, &b, &c, &d, &e, &f};
  CHECK(cudaLaunchKernel((const void *)many_arguments, dim3(1), dim3(1), arguments, 0, 0));
  host_copy(&value, device, 1);
  EXPECT(value == 21);
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(1), config.blockDim = dim3(1);
  CHECK(cudaLaunchKernelEx(&config, many_arguments, device, 10, (char)2, 3.5, (short)4, 5ll, 6.5f));
  CHECK(cudaLaunchKernelExC(&config, (const void *)nothing, nullptr));
  LAUNCHED();
  host_copy(&value, device, 1);
  EXPECT(value == 30);
}

int main() {
  test_traps(); // before this process touches the device, as programs that fork do
  test_refused_launches();
  test_launch_variants();
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMemcpy(nullptr, nullptr, 16, cudaMemcpyDeviceToHost));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGetLastError());
  return verdict();
}
