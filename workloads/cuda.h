// The little of CUDA C that the workloads use, so that clang compiles them without a CUDA toolkit.
// nvcc brings all of it itself.
#pragma once
#ifndef __NVCC__

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))

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
static inline __device__ float exp2_approximate(float x) { return __nvvm_ex2_approx_f(x); }
static inline __device__ float log2_approximate(float x) { return __nvvm_lg2_approx_f(x); }

#else

static inline __device__ float exp2_approximate(float x) { return exp2f(x); }
static inline __device__ float log2_approximate(float x) { return log2f(x); }

#endif
