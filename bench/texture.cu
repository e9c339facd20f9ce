// 4 million texture fetches and little else: texture LINEAR BYTES NORMALIZED (each 0 or 1).
#include <cstdio>
#include <cstdlib>
#include <vector>

const int side = 512, rounds = 16;

__global__ void look(cudaTextureObject_t texture, float *out, float scale) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  float sum = 0;
  for (int i = 0; i < rounds; i++) sum += tex2D<float>(texture, (x + i + 0.3f) * scale, (y + 2 * i + 0.7f) * scale);
  out[y * side + x] = sum;
}

int main(int argc, char **argv) {
  if (argc < 4) return 2;
  bool linear = atoi(argv[1]) != 0, bytes = atoi(argv[2]) != 0, normalized = atoi(argv[3]) != 0;
  size_t row = side * (bytes ? 1 : sizeof(float));
  std::vector<float> floats(side * side);
  std::vector<unsigned char> small(side * side);
  for (int i = 0; i < side * side; i++) floats[i] = small[i] = static_cast<unsigned char>(i * 7);
  cudaChannelFormatDesc channels = bytes ? cudaCreateChannelDesc<unsigned char>() : cudaCreateChannelDesc<float>();
  cudaArray_t array;
  cudaMallocArray(&array, &channels, side, side);
  const void *pixels = bytes ? static_cast<const void *>(small.data()) : floats.data();
  cudaMemcpy2DToArray(array, 0, 0, pixels, row, row, side, cudaMemcpyHostToDevice);
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc sampling = {};
  sampling.filterMode = linear ? cudaFilterModeLinear : cudaFilterModePoint;
  sampling.readMode = bytes ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
  sampling.addressMode[0] = sampling.addressMode[1] = normalized ? cudaAddressModeWrap : cudaAddressModeClamp;
  sampling.normalizedCoords = normalized;
  cudaTextureObject_t texture;
  cudaCreateTextureObject(&texture, &resource, &sampling, nullptr);
  float *out;
  cudaMalloc(&out, side * side * sizeof(float));
  look<<<dim3(side / 32, side / 8), dim3(32, 8)>>>(texture, out, normalized ? 1.0f / side : 1.0f);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  std::puts("done");
}
