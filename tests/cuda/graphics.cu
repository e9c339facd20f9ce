// OpenGL buffers in kernels: register, map, write, unmap. The few functions of OpenGL that this takes are played here, so that
// no display is needed; the library finds them in the program by name.
// nvcc: -Xcompiler -rdynamic
#include "check.h"

#include <cstring>
#include <vector>

struct cudaGraphicsResource;
extern "C" cudaError_t cudaGraphicsGLRegisterBuffer(cudaGraphicsResource **resource, unsigned buffer, unsigned flags);

static std::vector<unsigned char> buffers[3];
static unsigned bound = 2;
extern "C" void glBindBuffer(unsigned, unsigned buffer) { bound = buffer; }
extern "C" void glGetIntegerv(unsigned, int *value) { *value = (int)bound; }
extern "C" void glGetBufferParameteriv(unsigned, unsigned, int *value) { *value = (int)buffers[bound].size(); }
extern "C" void glGetBufferSubData(unsigned, long offset, long bytes, void *to) { memcpy(to, buffers[bound].data() + offset, (size_t)bytes); }
extern "C" void glBufferSubData(unsigned, long offset, long bytes, const void *from) { memcpy(buffers[bound].data() + offset, from, (size_t)bytes); }

__global__ void add_one(int *values, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) values[i] += 1;
}

int main() {
  const int count = 1000;
  buffers[1].resize(count * sizeof(int));
  int *values = (int *)buffers[1].data();
  for (int i = 0; i < count; i++) values[i] = i;

  cudaGraphicsResource *resource;
  EXPECT_ERROR(cudaErrorInvalidGraphicsContext, cudaGraphicsGLRegisterBuffer(&resource, 0, 0)); // an empty buffer
  CHECK(cudaGraphicsGLRegisterBuffer(&resource, 1, cudaGraphicsRegisterFlagsNone));
  EXPECT(bound == 2); // as the program left it
  int *mapped;
  size_t bytes;
  EXPECT_ERROR(cudaErrorNotMapped, cudaGraphicsResourceGetMappedPointer((void **)&mapped, &bytes, resource));
  CHECK(cudaGraphicsMapResources(1, &resource, 0));
  EXPECT_ERROR(cudaErrorAlreadyMapped, cudaGraphicsMapResources(1, &resource, 0));
  CHECK(cudaGraphicsResourceGetMappedPointer((void **)&mapped, &bytes, resource));
  EXPECT(bytes == count * sizeof(int));
  add_one<<<(count + 127) / 128, 128>>>(mapped, count);
  EXPECT(values[7] == 7); // not before it is unmapped
  CHECK(cudaGraphicsUnmapResources(1, &resource, 0));
  for (int i = 0; i < count; i++) EXPECT(values[i] == i + 1);

  CHECK(cudaGraphicsResourceSetMapFlags(resource, cudaGraphicsMapFlagsReadOnly));
  CHECK(cudaGraphicsMapResources(1, &resource, 0));
  add_one<<<(count + 127) / 128, 128>>>(mapped, count);
  CHECK(cudaGraphicsUnmapResources(1, &resource, 0));
  EXPECT(values[7] == 8);
  CHECK(cudaGraphicsUnregisterResource(resource));
  EXPECT_ERROR(cudaErrorInvalidResourceHandle, cudaGraphicsUnregisterResource(resource));
  cudaGetLastError();
  return verdict();
}
