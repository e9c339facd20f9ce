// Surface objects: written and read in one, two and three dimensions and in layers, seen again through textures and copies.
#include "check.h"
#include <vector>

static const int W = 24, H = 10, D = 3;

__global__ void paint(cudaSurfaceObject_t surface) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < W && y < H) surf2Dwrite(make_float4(x, y, x + y, x * y), surface, x * sizeof(float4), y);
}

__global__ void invert(cudaSurfaceObject_t from, cudaSurfaceObject_t to) {
  int x = threadIdx.x, y = blockIdx.x;
  unsigned char value;
  surf2Dread(&value, from, x, y);
  surf2Dwrite((unsigned char)(255 - value), to, x, y);
}

__global__ void edges(cudaSurfaceObject_t surface, int *out) {
  out[0] = surf2Dread<unsigned char>(surface, -1, 2, cudaBoundaryModeZero);
  out[1] = surf2Dread<unsigned char>(surface, W + 5, 2, cudaBoundaryModeClamp);
  out[2] = surf2Dread<unsigned char>(surface, W - 1, 2);
  surf2Dwrite((unsigned char)1, surface, W + 9, 3, cudaBoundaryModeZero);
}

__global__ void fill(cudaSurfaceObject_t line, cudaSurfaceObject_t solid, cudaSurfaceObject_t layered) {
  int x = threadIdx.x, z = blockIdx.x;
  surf1Dwrite((short)(x * 5), line, x * sizeof(short));
  for (int y = 0; y < H; y++) {
    surf3Dwrite(x + 100 * y + 10000 * z, solid, x * sizeof(int), y, z);
    surf2DLayeredwrite(make_int2(x - y, z), layered, x * sizeof(int2), y, z);
  }
}

__global__ void sampled(cudaTextureObject_t texture, float *out) {
  out[blockIdx.x * W + threadIdx.x] = tex2D<float4>(texture, threadIdx.x + 0.5f, blockIdx.x + 0.5f).z;
}

static cudaSurfaceObject_t surface_of(cudaArray_t array) {
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeArray, r.res.array.array = array;
  cudaSurfaceObject_t surface = 0;
  CHECK(cudaCreateSurfaceObject(&surface, &r));
  return surface;
}

template <typename T> static cudaArray_t storage(size_t width, size_t height, size_t depth, unsigned flags) {
  cudaChannelFormatDesc format = cudaCreateChannelDesc<T>();
  cudaArray_t array;
  CHECK(cudaMalloc3DArray(&array, &format, make_cudaExtent(width, height, depth), flags | cudaArraySurfaceLoadStore));
  return array;
}

template <typename T> static std::vector<T> contents(cudaArray_t array, int width, int height, int depth) {
  std::vector<T> host(width * height * depth);
  cudaMemcpy3DParms copy = {};
  copy.srcArray = array;
  copy.dstPtr = make_cudaPitchedPtr(host.data(), width * sizeof(T), width, height);
  copy.extent = make_cudaExtent(width, height, depth), copy.kind = cudaMemcpyDeviceToHost;
  CHECK(cudaMemcpy3D(&copy));
  return host;
}

static void test_paint() {
  cudaArray_t array = storage<float4>(W, H, 0, 0);
  cudaSurfaceObject_t surface = surface_of(array);
  paint<<<dim3(2, 2), dim3(16, 8)>>>(surface);
  LAUNCHED();
  std::vector<float4> host(W * H);
  CHECK(cudaMemcpy2DFromArray(host.data(), W * sizeof(float4), array, 0, 0, W * sizeof(float4), H, cudaMemcpyDeviceToHost));
  for (int i = 0; i < W * H; i++)
    EXPECT(host[i].x == i % W && host[i].y == i / W && host[i].z == i % W + i / W && host[i].w == (i % W) * (i / W));
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeArray, r.res.array.array = array;
  cudaTextureDesc d = {};
  cudaTextureObject_t texture;
  CHECK(cudaCreateTextureObject(&texture, &r, &d, nullptr));
  float *out = device_array<float>(W * H);
  std::vector<float> seen(W * H);
  sampled<<<H, W>>>(texture, out);
  LAUNCHED();
  host_copy(seen.data(), out, W * H);
  for (int i = 0; i < W * H; i++) EXPECT(seen[i] == i % W + i / W);
  CHECK(cudaDestroySurfaceObject(surface));
  CHECK(cudaDestroyTextureObject(texture));
  CHECK(cudaFreeArray(array));
}

static void test_bytes() {
  std::vector<unsigned char> in(W * H), out(W * H);
  for (int i = 0; i < W * H; i++) in[i] = (unsigned char)(i * 3);
  cudaArray_t a = storage<unsigned char>(W, H, 0, 0), b = storage<unsigned char>(W, H, 0, 0);
  CHECK(cudaMemcpy2DToArray(a, 0, 0, in.data(), W, W, H, cudaMemcpyHostToDevice));
  invert<<<H, W>>>(surface_of(a), surface_of(b));
  LAUNCHED();
  CHECK(cudaMemcpy2DFromArray(out.data(), W, b, 0, 0, W, H, cudaMemcpyDeviceToHost));
  for (int i = 0; i < W * H; i++) EXPECT(out[i] == 255 - in[i]);
  int *seen = device_array<int>(3), host[3];
  edges<<<1, 1>>>(surface_of(a), seen);
  LAUNCHED();
  host_copy(host, seen, 3);
  EXPECT(host[0] == 0 && host[1] == in[3 * W - 1] && host[2] == in[3 * W - 1]);
}

int main() {
  test_paint();
  test_bytes();
  cudaArray_t line = storage<short>(W, 0, 0, 0), solid = storage<int>(W, H, D, 0), layered = storage<int2>(W, H, D, cudaArrayLayered);
  fill<<<D, W>>>(surface_of(line), surface_of(solid), surface_of(layered));
  LAUNCHED();
  std::vector<short> a = contents<short>(line, W, 1, 1);
  std::vector<int> b = contents<int>(solid, W, H, D);
  std::vector<int2> c = contents<int2>(layered, W, H, D);
  for (int z = 0; z < D; z++)
    for (int y = 0; y < H; y++)
      for (int x = 0; x < W; x++) {
        int i = (z * H + y) * W + x;
        EXPECT(a[x] == x * 5 && b[i] == x + 100 * y + 10000 * z && c[i].x == x - y && c[i].y == z);
      }
  return verdict();
}
