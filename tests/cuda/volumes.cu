// Textures of volumes: three dimensions, layers, the faces of a cube, and levels of detail.
#include "check.h"
#include <cmath>
#include <vector>

static const int W = 16, H = 8, D = 4;

__global__ void sample3(cudaTextureObject_t t, float *out) {
  int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
  out[(z * blockDim.y + y) * blockDim.x + x] = tex3D<float>(t, x + 0.5f, y + 0.5f, z + 0.75f);
}

__global__ void layers(cudaTextureObject_t t, int *out) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = tex2DLayered<int>(t, threadIdx.x % W + 0.5f, threadIdx.x / W + 0.5f, blockIdx.x);
}

__global__ void cube(cudaTextureObject_t t, float *out) {
  const float3 axes[] = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
  float3 d = axes[threadIdx.x];
  out[threadIdx.x] = texCubemap<float>(t, d.x, d.y, d.z);
}

__global__ void levels(cudaTextureObject_t t, float *out) { out[threadIdx.x] = tex2DLod<float>(t, 0.5f, 0.5f, (float)threadIdx.x); }

static cudaTextureObject_t object(const cudaResourceDesc &resource, cudaTextureFilterMode filter, bool normalised) {
  cudaTextureDesc d = {};
  d.addressMode[0] = d.addressMode[1] = d.addressMode[2] = cudaAddressModeClamp;
  d.filterMode = filter, d.normalizedCoords = normalised;
  d.maxMipmapLevelClamp = 10.0f;
  cudaTextureObject_t texture = 0;
  CHECK(cudaCreateTextureObject(&texture, &resource, &d, nullptr));
  return texture;
}

static cudaResourceDesc of_array(cudaArray_t array) {
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeArray, r.res.array.array = array;
  return r;
}

template <typename T> static cudaArray_t volume(const T *data, cudaExtent extent, unsigned flags) {
  cudaChannelFormatDesc format = cudaCreateChannelDesc<T>();
  cudaArray_t array;
  CHECK(cudaMalloc3DArray(&array, &format, extent, flags));
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr((void *)data, extent.width * sizeof(T), extent.width, extent.height);
  copy.dstArray = array, copy.extent = extent, copy.kind = cudaMemcpyHostToDevice;
  CHECK(cudaMemcpy3D(&copy));
  return array;
}

static void test_volumes(float *out, float *host) {
  std::vector<float> values(W * H * D);
  std::vector<int> numbers(W * H * D), seen(W * H * D);
  for (int i = 0; i < W * H * D; i++) values[i] = (float)(i % 23), numbers[i] = i * 3 - 100;
  cudaArray_t solid = volume(values.data(), make_cudaExtent(W, H, D), 0);
  sample3<<<1, dim3(W, H, D)>>>(object(of_array(solid), cudaFilterModeLinear, false), out);
  LAUNCHED();
  host_copy(host, out, W * H * D);
  for (int i = 0; i < W * H * D; i++) {
    int above = i + W * H < W * H * D ? i + W * H : i;
    EXPECT(std::fabs(host[i] - (0.75f * values[i] + 0.25f * values[above])) < 1e-4f);
  }
  cudaArray_t layered = volume(numbers.data(), make_cudaExtent(W, H, D), cudaArrayLayered);
  layers<<<D, W * H>>>(object(of_array(layered), cudaFilterModePoint, false), (int *)out);
  LAUNCHED();
  host_copy(seen.data(), (int *)out, W * H * D);
  EXPECT(seen == numbers);
  std::vector<float> faces(6 * 16);
  for (int i = 0; i < 6 * 16; i++) faces[i] = (float)(i / 16 + 1);
  cudaArray_t box = volume(faces.data(), make_cudaExtent(4, 4, 6), cudaArrayCubemap);
  cube<<<1, 6>>>(object(of_array(box), cudaFilterModeLinear, true), out);
  LAUNCHED();
  host_copy(host, out, 6);
  for (int i = 0; i < 6; i++) EXPECT(host[i] == i + 1);
}

static void test_levels(float *out, float *host) {
  cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaMipmappedArray_t pyramid;
  CHECK(cudaMallocMipmappedArray(&pyramid, &format, make_cudaExtent(8, 8, 0), 4));
  for (int level = 0; level < 4; level++) {
    int side = 8 >> level;
    std::vector<float> image(side * side, 10.0f * (level + 1));
    cudaArray_t array;
    CHECK(cudaGetMipmappedArrayLevel(&array, pyramid, level));
    CHECK(cudaMemcpy2DToArray(array, 0, 0, image.data(), side * 4, side * 4, side, cudaMemcpyHostToDevice));
  }
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeMipmappedArray, r.res.mipmap.mipmap = pyramid;
  cudaTextureObject_t texture = object(r, cudaFilterModePoint, true);
  levels<<<1, 4>>>(texture, out);
  LAUNCHED();
  host_copy(host, out, 4);
  for (int i = 0; i < 4; i++) EXPECT(host[i] == 10.0f * (i + 1));
  CHECK(cudaDestroyTextureObject(texture));
  CHECK(cudaFreeMipmappedArray(pyramid));
}

int main() {
  float host[W * H * D], *out = device_array<float>(W * H * D);
  test_volumes(out, host);
  test_levels(out, host);
  return verdict();
}
