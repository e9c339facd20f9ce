// Kernels that launch themselves without end, and device code that calls itself too deeply: endless HOW. Each ends with a trap of the
// simulated GPU; the program sees a CUDA error and goes on to its last line.
#include <cstdio>
#include <cstring>

__device__ int sink;

__global__ void again(int level) { again<<<1, 1>>>(level + 1); }                       // ever deeper
__global__ void tail(int turn) { tail<<<1, 1, 0, cudaStreamTailLaunch>>>(turn + 1); } // never deeper
__global__ void both(int level) {                                                     // doubles with each level
  both<<<1, 1>>>(level + 1);
  both<<<1, 1>>>(level + 1);
}
__global__ void leaf() { atomicAdd(&sink, 1); }
__global__ void many() { // each thread, ever again
  for (int i = 0; i < 64; i++) leaf<<<1, 32>>>();
}
__global__ void wide(int level) { wide<<<gridDim.x * 2, 32>>>(level + 1); }

// Not a loop: what it is given is needed after the call.
__noinline__ __device__ int deeper(volatile int *data, int level) {
  int kept = data[level & 31];
  return deeper(data, level + 1) * 3 ^ kept;
}
__noinline__ __device__ int odd(volatile int *data, int level);
__noinline__ __device__ int even(volatile int *data, int level) {
  int kept = data[level & 31];
  return odd(data, level + 1) ^ kept;
}
__noinline__ __device__ int odd(volatile int *data, int level) {
  int kept = data[level & 31];
  return even(data, level + 1) - kept;
}
typedef int (*Function)(volatile int *, int);
__device__ Function by_pointer_target;
__noinline__ __device__ int by_pointer(volatile int *data, int level) {
  int kept = data[level & 31];
  return by_pointer_target(data, level + 1) + kept;
}
__noinline__ __device__ int heavy(volatile int *data, int level) { // a kilobyte for each call
  volatile int own[256];
  for (int i = 0; i < 256; i++) own[i] = data[i & 31] + level;
  return heavy(data, level + 1) + own[level & 255];
}
__noinline__ __device__ int bounded(volatile int *data, int level) {
  int kept = data[level & 31];
  return level == 0 ? 1 : bounded(data, level - 1) * 3 ^ kept;
}
__global__ void recurse(int how, volatile int *data) {
  int value = 0;
  if (how == 0) value = deeper(data, (int)threadIdx.x);
  if (how == 1) value = even(data, 0);
  if (how == 2) {
    by_pointer_target = by_pointer;
    value = by_pointer_target(data, 0);
  }
  if (how == 3) value = heavy(data, 0);
  if (how == 4 && threadIdx.x == 5) value = deeper(data, 0); // one thread alone
  if (how == 5) value = bounded(data, 200 + (int)threadIdx.x);
  if (how == 6) {
    value = bounded(data, 100);
    recurse<<<1, 32>>>(6, data);
  }
  if (value == 12345) sink = value;
}

int main(int argc, char **argv) {
  static const char *const kernels[] = {"again", "tail", "both", "many", "wide"};
  static const char *const calls[] = {"deeper", "even", "pointer", "heavy", "one", "bounded", "mixed"};
  const char *how = argc > 1 ? argv[1] : "";
  int *data = nullptr, which = -1;
  cudaMalloc(&data, 32 * sizeof *data);
  cudaMemset(data, 0, 32 * sizeof *data);
  for (int i = 0; i < 5; i++)
    if (std::strcmp(how, kernels[i]) == 0) which = i;
  if (which == 0) again<<<1, 1>>>(0);
  if (which == 1) tail<<<1, 1>>>(0);
  if (which == 2) both<<<1, 1>>>(0);
  if (which == 3) many<<<8, 32>>>();
  if (which == 4) wide<<<1, 32>>>(0);
  for (int i = 0; i < 7; i++)
    if (std::strcmp(how, calls[i]) == 0) recurse<<<2, 64>>>(i, data);
  cudaError_t error = cudaDeviceSynchronize();
  int back[32];
  cudaError_t later = cudaMemcpy(back, data, sizeof back, cudaMemcpyDeviceToHost);
  std::printf("%s: %s, then %s\n", how, cudaGetErrorName(error), cudaGetErrorName(later));
  return error == cudaSuccess ? 0 : 1;
}
