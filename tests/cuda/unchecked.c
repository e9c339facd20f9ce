// A program that looks at no error and ends with exit code 0: unchecked FATBIN registers the file as its fat binary, as nvcc's
// start-up code does, and launches a kernel of it.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Dim3 {
  uint32_t x, y, z;
} Dim3;
typedef struct Wrapper {
  int32_t magic, version;
  const void *data;
  void *more;
} Wrapper;

void **__cudaRegisterFatBinary(void *wrapper);
void __cudaRegisterFunction(void **handle, const char *host, char *device_function, const char *name, int thread_limit, void *tid,
                            void *bid, void *block, void *grid, int *warp_size);
int cudaMalloc(void **pointer, size_t bytes);
int cudaLaunchKernel(const void *kernel, Dim3 grid, Dim3 block, void **arguments, size_t shared_bytes, void *stream);

int main(int argc, char **argv) {
  static char bytes[1 << 16], stub;
  FILE *file = argc > 1 ? fopen(argv[1], "rb") : NULL;
  if (file == NULL || fread(bytes, 1, sizeof bytes, file) == 0) return 9;
  fclose(file);
  Wrapper wrapper = {0x466243B1, 1, bytes, NULL};
  void **handle = __cudaRegisterFatBinary(&wrapper), *memory = NULL;
  __cudaRegisterFunction(handle, &stub, &stub, "scale", -1, NULL, NULL, NULL, NULL, NULL);
  int count = 4;
  cudaMalloc(&memory, 16);
  cudaLaunchKernel(&stub, (Dim3){1, 1, 1}, (Dim3){4, 1, 1}, (void *[]){&memory, &count}, 0, NULL);
  printf("the program's last line\n");
  return 0;
}
