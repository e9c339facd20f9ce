// What the programs of this folder share: calls that must succeed, values that must hold, and the verdict.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

static int failures;

#define CHECK(call)                                                                                      \
  do {                                                                                                   \
    cudaError_t check_error = (call);                                                                    \
    if (check_error != cudaSuccess) {                                                                    \
      std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorName(check_error)); \
      failures++;                                                                                        \
    }                                                                                                    \
  } while (0)

#define EXPECT(condition)                                                                               \
  do {                                                                                                  \
    if (!(condition)) {                                                                                 \
      if (failures++ < 20) std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
    }                                                                                                   \
  } while (0)

#define EXPECT_ERROR(expected, call)                                                                                  \
  do {                                                                                                                \
    cudaError_t check_error = (call);                                                                                 \
    if (check_error != (expected)) {                                                                                  \
      std::fprintf(stderr, "%s:%d: %s: %s instead of %s\n", __FILE__, __LINE__, #call, cudaGetErrorName(check_error), \
                   cudaGetErrorName(expected));                                                                       \
      failures++;                                                                                                     \
    }                                                                                                                 \
  } while (0)

// A launch that must be taken and must end well.
#define LAUNCHED()                  \
  do {                              \
    CHECK(cudaGetLastError());      \
    CHECK(cudaDeviceSynchronize()); \
  } while (0)

template <typename T> static T *device_array(size_t count) {
  T *pointer = nullptr;
  CHECK(cudaMalloc(&pointer, count * sizeof(T)));
  CHECK(cudaMemset(pointer, 0, count * sizeof(T)));
  return pointer;
}

template <typename T> static T *device_copy(const T *source, size_t count) {
  T *pointer = device_array<T>(count);
  CHECK(cudaMemcpy(pointer, source, count * sizeof(T), cudaMemcpyHostToDevice));
  return pointer;
}

template <typename T> static void host_copy(T *destination, const T *source, size_t count) {
  CHECK(cudaMemcpy(destination, source, count * sizeof(T), cudaMemcpyDeviceToHost));
}

static int verdict() {
  std::puts(failures ? "FAIL" : "PASS");
  return failures != 0;
}
