// The little of CUDA C that the workloads use, so that clang compiles them without a CUDA toolkit.
// nvcc brings all of it itself.
#pragma once
#ifndef __NVCC__

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __forceinline__ __inline__ __attribute__((always_inline))

#define BUILTIN_VECTOR(type, name, sreg)                                                     \
  struct type {                                                                              \
    __declspec(property(get = read_x)) unsigned x;                                           \
    __declspec(property(get = read_y)) unsigned y;                                           \
    static inline __device__ unsigned read_x() { return __nvvm_read_ptx_sreg_##sreg##_x(); } \
    static inline __device__ unsigned read_y() { return __nvvm_read_ptx_sreg_##sreg##_y(); } \
  };                                                                                         \
  extern const __device__ __attribute__((weak)) type name
BUILTIN_VECTOR(ThreadIndex, threadIdx, tid);
BUILTIN_VECTOR(BlockIndex, blockIdx, ctaid);
BUILTIN_VECTOR(BlockSize, blockDim, ntid);
BUILTIN_VECTOR(GridSize, gridDim, nctaid);

static inline __device__ unsigned atomicAdd(unsigned *where, unsigned value) {
  return (unsigned)__nvvm_atom_add_gen_i((int *)where, (int)value);
}
static inline __device__ float sqrtf(float x) { return __nvvm_sqrt_rn_f(x); }
static inline __device__ float fabsf(float x) { return __builtin_fabsf(x); }
static inline __device__ float fminf(float a, float b) { return __nvvm_fmin_f(a, b); }
static inline __device__ float fmaxf(float a, float b) { return __nvvm_fmax_f(a, b); }
static inline __device__ float fmaf(float a, float b, float c) { return __nvvm_fma_rn_f(a, b, c); }
static inline __device__ float floorf(float x) { return __nvvm_floor_f(x); }
static inline __device__ float exp2_approximate(float x) { return __nvvm_ex2_approx_f(x); }
static inline __device__ float log2_approximate(float x) { return __nvvm_lg2_approx_f(x); }
static inline __device__ float sine_approximate(float x) { return __nvvm_sin_approx_f(x); }
static inline __device__ float cosine_approximate(float x) { return __nvvm_cos_approx_f(x); }
static inline __device__ float reciprocal_root_approximate(float x) { return __nvvm_rsqrt_approx_f(x); }

struct __attribute__((aligned(16))) float4 {
  float x, y, z, w;
};
struct __attribute__((aligned(16))) uint4 {
  unsigned x, y, z, w;
};

#else

static inline __device__ float exp2_approximate(float x) { return exp2f(x); }
static inline __device__ float log2_approximate(float x) { return log2f(x); }
static inline __device__ float sine_approximate(float x) { return __sinf(x); }
static inline __device__ float cosine_approximate(float x) { return __cosf(x); }
static inline __device__ float reciprocal_root_approximate(float x) { return rsqrtf(x); }

#endif

// A texture as workload_texture makes it, fetched by a texel's index. Use only the elements that its texels have.
typedef unsigned long long Texture;

static inline __device__ float4 fetch_float4(Texture texture, int texel) {
  float4 value;
  asm("tex.1d.v4.f32.s32 {%0, %1, %2, %3}, [%4, {%5}];"
      : "=f"(value.x), "=f"(value.y), "=f"(value.z), "=f"(value.w)
      : "l"(texture), "r"(texel));
  return value;
}
static inline __device__ float fetch_float(Texture texture, int texel) { return fetch_float4(texture, texel).x; }

static inline __device__ uint4 fetch_uint4(Texture texture, int texel) {
  uint4 value;
  asm("tex.1d.v4.u32.s32 {%0, %1, %2, %3}, [%4, {%5}];"
      : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
      : "l"(texture), "r"(texel));
  return value;
}
static inline __device__ unsigned fetch_uint(Texture texture, int texel) { return fetch_uint4(texture, texel).x; }
