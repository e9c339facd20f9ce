// Atomics on global memory, with many collisions: a histogram of 256 bins over pseudo-random bytes. Prints whether it is right.
#include <cstdio>
#include <cstdlib>

__global__ void histogram(const unsigned *words, unsigned n, unsigned *bins) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    unsigned word = words[i];
    for (unsigned k = 0; k < 4; k++) atomicAdd(&bins[word >> 8 * k & 255], 1u);
  }
}

int main(int count, char **arguments) {
  unsigned n = count > 1 ? (unsigned)atoi(arguments[1]) : 65536, state = 1;
  unsigned *words = (unsigned *)malloc(n * sizeof *words), bins[256], expected[256] = {0};
  for (unsigned i = 0; i < n; i++) {
    state = state * 1664525u + 1013904223u;
    words[i] = state ^ state >> 13;
    for (unsigned k = 0; k < 4; k++) expected[words[i] >> 8 * k & 255]++;
  }
  unsigned *device_words, *device_bins;
  cudaMalloc(&device_words, n * sizeof *words);
  cudaMalloc(&device_bins, sizeof bins);
  cudaMemcpy(device_words, words, n * sizeof *words, cudaMemcpyHostToDevice);
  cudaMemset(device_bins, 0, sizeof bins);
  histogram<<<60, 256>>>(device_words, n, device_bins);
  cudaMemcpy(bins, device_bins, sizeof bins, cudaMemcpyDeviceToHost);
  unsigned wrong = 0;
  for (unsigned i = 0; i < 256; i++) wrong += bins[i] != expected[i];
  printf("%u bins wrong\n", wrong);
  return wrong != 0;
}
