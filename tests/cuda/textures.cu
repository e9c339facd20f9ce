// Texture objects: linear memory, pitched, one and two dimensions; point and linear; the addressing modes.
#include "check.h"
#include <cmath>
#include <vector>

static const int W = 16, H = 8;

__global__ void fetch(cudaTextureObject_t linear, cudaTextureObject_t bytes, float *out) {
  int i = threadIdx.x;
  float4 four = tex1Dfetch<float4>(bytes, i);
  out[i] = tex1Dfetch<float>(linear, i) + four.x * 255 + four.w * 255;
}

__global__ void sample1(cudaTextureObject_t t, float *out) { out[threadIdx.x] = tex1D<float>(t, threadIdx.x * 0.75f - 2.0f); }

__global__ void sample2(cudaTextureObject_t t, float *out, float scale_x, float scale_y, float shift) {
  out[threadIdx.y * blockDim.x + threadIdx.x] = tex2D<float>(t, threadIdx.x * scale_x + shift, threadIdx.y * scale_y + shift);
}

__global__ void gather2(cudaTextureObject_t t, float4 *out) { out[threadIdx.x] = tex2Dgather<float4>(t, threadIdx.x + 1.0f, 2.0f, 0); }

static cudaTextureObject_t object(const cudaResourceDesc &resource, cudaTextureFilterMode filter, cudaTextureAddressMode mode,
                                  bool normalised, cudaTextureReadMode read = cudaReadModeElementType) {
  cudaTextureDesc d = {};
  d.addressMode[0] = d.addressMode[1] = d.addressMode[2] = mode;
  d.filterMode = filter, d.readMode = read, d.normalizedCoords = normalised;
  d.borderColor[0] = 9.0f;
  cudaTextureObject_t texture = 0;
  CHECK(cudaCreateTextureObject(&texture, &resource, &d, nullptr));
  return texture;
}

static cudaResourceDesc of_array(cudaArray_t array) {
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeArray, r.res.array.array = array;
  return r;
}

static void test_linear_memory(float *out, float *host) {
  float values[64];
  uchar4 pixels[64];
  for (int i = 0; i < 64; i++) values[i] = i * 0.5f, pixels[i] = make_uchar4(i, 0, 0, 2 * i);
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeLinear;
  r.res.linear.devPtr = device_copy(values, 64), r.res.linear.sizeInBytes = sizeof values;
  r.res.linear.desc = cudaCreateChannelDesc<float>();
  cudaTextureObject_t a = object(r, cudaFilterModePoint, cudaAddressModeClamp, false);
  r.res.linear.devPtr = device_copy(pixels, 64), r.res.linear.sizeInBytes = sizeof pixels;
  r.res.linear.desc = cudaCreateChannelDesc<uchar4>();
  cudaTextureObject_t b = object(r, cudaFilterModePoint, cudaAddressModeClamp, false, cudaReadModeNormalizedFloat);
  fetch<<<1, 64>>>(a, b, out);
  LAUNCHED();
  host_copy(host, out, 64);
  for (int i = 0; i < 64; i++) EXPECT(std::fabs(host[i] - (i * 0.5f + 3 * i)) < 0.001f);
  CHECK(cudaDestroyTextureObject(a));
  CHECK(cudaDestroyTextureObject(b));
}

static void test_plane(const float *image, float *out, float *host) {
  auto at = [&](int x, int y) { return image[y * W + x]; };
  cudaChannelFormatDesc format = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat), seen;
  cudaArray_t array;
  CHECK(cudaMallocArray(&array, &format, W, H, cudaArrayTextureGather));
  CHECK(cudaMemcpy2DToArray(array, 0, 0, image, W * 4, W * 4, H, cudaMemcpyHostToDevice));
  cudaExtent extent;
  unsigned flags;
  CHECK(cudaArrayGetInfo(&seen, &extent, &flags, array));
  EXPECT(seen.x == 32 && seen.f == cudaChannelFormatKindFloat && extent.width == W && extent.height == H);
  struct Case {
    cudaTextureFilterMode filter;
    cudaTextureAddressMode mode;
    bool normalised;
    float scale_x, scale_y, shift;
    float (*expected)(const float *image, int x, int y);
  } cases[] = {
      {cudaFilterModePoint, cudaAddressModeClamp, false, 1, 1, 0.5f, [](const float *m, int x, int y) { return m[y * W + x]; }},
      {cudaFilterModePoint, cudaAddressModeClamp, false, 1, 1, -3.5f,
       [](const float *m, int x, int y) { return m[(y < 4 ? 0 : y - 4) * W + (x < 4 ? 0 : x - 4)]; }},
      {cudaFilterModePoint, cudaAddressModeBorder, false, 1, 1, 8.5f,
       [](const float *m, int x, int y) { return y + 8 < H && x + 8 < W ? m[(y + 8) * W + x + 8] : 9.0f; }},
      {cudaFilterModePoint, cudaAddressModeWrap, true, 2.0f / W, 2.0f / H, 1.0f / 64,
       [](const float *m, int x, int y) { return m[(2 * y % H) * W + 2 * x % W]; }},
      {cudaFilterModePoint, cudaAddressModeMirror, true, 2.0f / W, 2.0f / H, 1.0f / 64,
       [](const float *m, int x, int y) {
         int u = 2 * x, v = 2 * y;
         return m[(v < H ? v : 2 * H - 1 - v) * W + (u < W ? u : 2 * W - 1 - u)];
       }},
      {cudaFilterModeLinear, cudaAddressModeClamp, false, 1, 1, 1.0f,
       [](const float *m, int x, int y) {
         int u = x + 1 < W ? x + 1 : W - 1, v = y + 1 < H ? y + 1 : H - 1;
         return (m[y * W + x] + m[y * W + u] + m[v * W + x] + m[v * W + u]) / 4;
       }},
  };
  for (const Case &c : cases) {
    cudaTextureObject_t t = object(of_array(array), c.filter, c.mode, c.normalised);
    sample2<<<1, dim3(W, H)>>>(t, out, c.scale_x, c.scale_y, c.shift);
    LAUNCHED();
    host_copy(host, out, W * H);
    for (int i = 0; i < W * H; i++) EXPECT(std::fabs(host[i] - c.expected(image, i % W, i / W)) < 1e-4f);
    CHECK(cudaDestroyTextureObject(t));
  }
  cudaTextureObject_t t = object(of_array(array), cudaFilterModePoint, cudaAddressModeClamp, false);
  gather2<<<1, 8>>>(t, (float4 *)out);
  LAUNCHED();
  host_copy(host, out, 32);
  for (int i = 0; i < 8; i++)
    EXPECT(host[i * 4] == at(i, 2) && host[i * 4 + 1] == at(i + 1, 2) && host[i * 4 + 2] == at(i + 1, 1) && host[i * 4 + 3] == at(i, 1));
  CHECK(cudaDestroyTextureObject(t));
  CHECK(cudaFreeArray(array));
}

static void test_line_and_pitch(const float *image, float *out, float *host) {
  cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t line;
  CHECK(cudaMallocArray(&line, &format, W));
  CHECK(cudaMemcpy2DToArray(line, 0, 0, image, W * 4, W * 4, 1, cudaMemcpyHostToDevice));
  cudaTextureObject_t t = object(of_array(line), cudaFilterModeLinear, cudaAddressModeBorder, false);
  sample1<<<1, 32>>>(t, out);
  LAUNCHED();
  host_copy(host, out, 32);
  for (int i = 0; i < 32; i++) {
    float position = i * 0.75f - 2.5f, base = std::floor(position), f = position - base;
    auto at = [&](int x) { return x >= 0 && x < W ? image[x] : 9.0f; };
    EXPECT(std::fabs(host[i] - ((1 - f) * at((int)base) + f * at((int)base + 1))) < 1e-4f);
  }
  cudaResourceDesc r = {};
  size_t pitch;
  r.resType = cudaResourceTypePitch2D;
  CHECK(cudaMallocPitch(&r.res.pitch2D.devPtr, &pitch, W * 4, H));
  CHECK(cudaMemcpy2D(r.res.pitch2D.devPtr, pitch, image, W * 4, W * 4, H, cudaMemcpyHostToDevice));
  r.res.pitch2D.desc = format, r.res.pitch2D.width = W, r.res.pitch2D.height = H, r.res.pitch2D.pitchInBytes = pitch;
  t = object(r, cudaFilterModePoint, cudaAddressModeClamp, true);
  sample2<<<1, dim3(W, H)>>>(t, out, 1.0f / W, 1.0f / H, 1.0f / 64);
  LAUNCHED();
  host_copy(host, out, W * H);
  for (int i = 0; i < W * H; i++) EXPECT(host[i] == image[i]);
}

int main() {
  float image[W * H], host[W * H], *out = device_array<float>(W * H);
  for (int i = 0; i < W * H; i++) image[i] = (float)(i * 7 % 31);
  test_linear_memory(out, host);
  test_plane(image, out, host);
  test_line_and_pitch(image, out, host);
  return verdict();
}
