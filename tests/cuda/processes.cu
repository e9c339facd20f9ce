// A host that forks before and after it used the device: parent and child each keep their own view of it.
#include "check.h"
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>

__device__ int global_value = 1;

__global__ void add(int *data, int value) { data[threadIdx.x] += value + global_value; }

static int run(int *data, int value) {
  int host[32];
  add<<<1, 32>>>(data, value);
  if (cudaDeviceSynchronize() != cudaSuccess || cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost) != cudaSuccess) return -1;
  for (int i = 1; i < 32; i++)
    if (host[i] != host[0]) return -1;
  return host[0];
}

static int status_of(pid_t child) {
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int main() {
  pid_t early = fork();
  if (early == 0) {
    int *data = device_array<int>(32);
    _exit(run(data, 10) == 11 ? 42 : 1);
  }
  EXPECT(status_of(early) == 42);

  int *data = device_array<int>(32);
  EXPECT(run(data, 4) == 5);
  pid_t late = fork();
  if (late == 0) {
    int *own = device_array<int>(32);
    _exit(run(own, 7) == 8 && run(own, 1) == 10 ? 43 : 1);
  }
  EXPECT(run(data, 1) == 7);
  EXPECT(status_of(late) == 43);
  EXPECT(run(data, 1) == 9);

  // A child that runs another program must not disturb the parent either.
  pid_t other = fork();
  if (other == 0) {
    execl("/bin/true", "true", (char *)nullptr);
    _exit(1);
  }
  EXPECT(status_of(other) == 0);
  EXPECT(run(data, 0) == 10);
  return verdict();
}
