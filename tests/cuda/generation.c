// Each generation of the library, as a program of that generation sees it: symbols, version, layout of cudaDeviceProp.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int cudaRuntimeGetVersion(int *version);
int cudaGetDeviceProperties(void *properties, int device);
int cudaMalloc(void **pointer, size_t bytes);
int cudaFree(void *pointer);
int cudaMemcpy(void *to, const void *from, size_t bytes, int kind);
int cudaMemset(void *pointer, int value, size_t bytes);

static void expect(int condition, const char *what) {
  if (condition) return;
  printf("not so: %s\n", what);
  exit(1);
}

static int int_at(const char *bytes, size_t offset) {
  int value;
  memcpy(&value, bytes + offset, sizeof value);
  return value;
}

int main(void) {
  // Offsets in cudaDeviceProp: CUDA 13 dropped clockRate and deviceOverlap, which stood before some of these.
  enum { WARP = 308, CLOCK = 348, MAJOR = 360, SM_COUNT = GENERATION == 13 ? 384 : 388 };
  static char properties[4096];
  int version = 0;
  expect(cudaRuntimeGetVersion(&version) == 0 && version / 1000 == GENERATION, "version");
  expect(cudaGetDeviceProperties(properties, 0) == 0, "cudaGetDeviceProperties");
  expect(strncmp(properties, "Redoubt ", 8) == 0, "name");
  expect(int_at(properties, WARP) == 32, "warpSize");
  expect(GENERATION == 13 || int_at(properties, CLOCK) > 0, "clockRate");
  expect(int_at(properties, MAJOR) == 7 && int_at(properties, MAJOR + 4) == 5, "compute capability");
  expect(int_at(properties, SM_COUNT) == 30, "multiProcessorCount");
  char *device, back[100];
  expect(cudaMalloc((void **)&device, sizeof back) == 0 && cudaMemset(device, 0x5A, sizeof back) == 0, "memset");
  expect(cudaMemcpy(back, device, sizeof back, 2) == 0 && back[0] == 0x5A && back[99] == 0x5A, "copy");
  expect(cudaFree(device) == 0 && cudaFree(device) == 1, "free");
  printf("PASS\n");
  return 0;
}
