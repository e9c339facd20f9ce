// c = a * b in several number formats. a is n x k row by row, b is given as its transpose (n x k row by row), c is n x n floats.
// Tensor kernels: a warp makes 16 x 8 elements. Every format takes 32 bytes of k at a step, and one layout of words serves all: lane
// 4g + t has word t and word t + 4 of rows g and g + 8 of a, and of row g of b. `words` are those of a row of a and of b.
// The checksum of Huang and Abraham (1984): the sums of c's rows are a times the sums of b's rows, those of its columns likewise.
#include "../cuda.h"

enum { TILE = 16, STEP = 8, WARPS = 4, SHARES = 8, F32 = 0, HALF = 1, TF32 = 2, F16 = 3, BF16 = 4, E4M3 = 5, E5M2 = 6, F16_F16 = 7 };

#define PRODUCT(instruction)                                                                                            \
  asm volatile(instruction " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"                           \
               : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])                                                 \
               : "r"(x[0]), "r"(y[0]), "r"(x[4]), "r"(y[4]), "r"(z[0]), "r"(z[4]))

#define TENSOR(name, instruction)                                                                                        \
  extern "C" __global__ void name(const unsigned *a, const unsigned *b, float *c, unsigned n, unsigned words) {          \
    unsigned lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;                                                        \
    unsigned row = blockIdx.y * 16 + g, column = (blockIdx.x * WARPS + threadIdx.x / 32) * 8;                            \
    float sum[4] = {0.0f, 0.0f, 0.0f, 0.0f};                                                                             \
    const unsigned *x = a + row * words + t, *y = x + 8 * words, *z = b + (column + g) * words + t;                      \
    for (unsigned i = 0; i < words; i += STEP, x += STEP, y += STEP, z += STEP) PRODUCT(instruction);                    \
    float *to = c + row * n + column + 2 * t;                                                                            \
    to[0] = sum[0], to[1] = sum[1], to[8 * n] = sum[2], to[8 * n + 1] = sum[3];                                          \
  }
TENSOR(gemm_tf32, "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32")
TENSOR(gemm_f16, "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32")
TENSOR(gemm_bf16, "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32")
TENSOR(gemm_e4m3, "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32")
TENSOR(gemm_e5m2, "mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e5m2.f32")

static __device__ __forceinline__ float half_to_float(unsigned bits) {
  float value;
  asm("{ .reg .b16 h; cvt.u16.u32 h, %1; cvt.f32.f16 %0, h; }" : "=f"(value) : "r"(bits));
  return value;
}

// Half-precision accumulators: two elements of c in a register.
extern "C" __global__ void gemm_f16_f16(const unsigned *a, const unsigned *b, float *c, unsigned n, unsigned words) {
  unsigned lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  unsigned row = blockIdx.y * 16 + g, column = (blockIdx.x * WARPS + threadIdx.x / 32) * 8, sum[2] = {0, 0};
  const unsigned *x = a + row * words + t, *y = x + 8 * words, *z = b + (column + g) * words + t;
  for (unsigned i = 0; i < words; i += STEP, x += STEP, y += STEP, z += STEP)
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};"
                 : "+r"(sum[0]), "+r"(sum[1])
                 : "r"(x[0]), "r"(y[0]), "r"(x[4]), "r"(y[4]), "r"(z[0]), "r"(z[4]));
  float *to = c + row * n + column + 2 * t;
  to[0] = half_to_float(sum[0] & 0xFFFF), to[1] = half_to_float(sum[0] >> 16);
  to[8 * n] = half_to_float(sum[1] & 0xFFFF), to[8 * n + 1] = half_to_float(sum[1] >> 16);
}

// Ordinary units: tiles in shared memory, as the workload matmul.
extern "C" __global__ void gemm_f32(const float *a, const float *b, float *c, unsigned n, unsigned k) {
  __shared__ float a_tile[TILE][TILE], b_tile[TILE][TILE + 1];
  unsigned row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
  float sum = 0.0f;
  for (unsigned tile = 0; tile < k; tile += TILE) {
    a_tile[threadIdx.y][threadIdx.x] = a[row * k + tile + threadIdx.x];
    b_tile[threadIdx.y][threadIdx.x] = b[(blockIdx.x * TILE + threadIdx.y) * k + tile + threadIdx.x];
    __syncthreads();
#pragma unroll
    for (unsigned i = 0; i < TILE; i++) sum = fmaf(a_tile[threadIdx.y][i], b_tile[threadIdx.x][i], sum);
    __syncthreads();
  }
  c[row * n + column] = sum;
}

// The same in half precision: every multiply-add is rounded to f16.
extern "C" __global__ void gemm_half(const unsigned short *a, const unsigned short *b, float *c, unsigned n, unsigned k) {
  __shared__ unsigned short a_tile[TILE][TILE], b_tile[TILE][TILE + 2];
  unsigned row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
  unsigned short sum = 0;
  for (unsigned tile = 0; tile < k; tile += TILE) {
    a_tile[threadIdx.y][threadIdx.x] = a[row * k + tile + threadIdx.x];
    b_tile[threadIdx.y][threadIdx.x] = b[(blockIdx.x * TILE + threadIdx.y) * k + tile + threadIdx.x];
    __syncthreads();
#pragma unroll
    for (unsigned i = 0; i < TILE; i++) asm("fma.rn.f16 %0, %1, %2, %0;" : "+h"(sum) : "h"(a_tile[threadIdx.y][i]), "h"(b_tile[threadIdx.x][i]));
    __syncthreads();
  }
  c[row * n + column] = half_to_float(sum);
}

// ---- Checksums ----------------------------------------------------------------------------------------

static __device__ __forceinline__ float element(const void *from, unsigned at, unsigned format) {
  const unsigned short *halves = (const unsigned short *)from;
  const unsigned char *bytes = (const unsigned char *)from;
  unsigned pair;
  switch (format) {
  case F32:
  case TF32: return ((const float *)from)[at];
  case BF16: return __nvvm_bitcast_i2f((int)((unsigned)halves[at] << 16));
  case E4M3: asm("{ .reg .b16 h; cvt.u16.u32 h, %1; cvt.rn.f16x2.e4m3x2 %0, h; }" : "=r"(pair) : "r"((unsigned)bytes[at])); break;
  case E5M2: asm("{ .reg .b16 h; cvt.u16.u32 h, %1; cvt.rn.f16x2.e5m2x2 %0, h; }" : "=r"(pair) : "r"((unsigned)bytes[at])); break;
  default: pair = halves[at]; break;
  }
  return half_to_float(pair & 0xFFFF);
}

// Sums over the rows of a and of b, for each k: `sums` has k of a, then k of b. 32 of k in a block, its rows dealt over SHARES threads.
extern "C" __global__ void gemm_sums(const void *a, const void *b, float *sums, unsigned n, unsigned k, unsigned format) {
  __shared__ float parts[SHARES][32];
  unsigned at = blockIdx.x * 32 + threadIdx.x;
  const void *from = at < k ? a : b;
  float sum = 0.0f;
  for (unsigned row = threadIdx.y; row < n; row += SHARES) sum += element(from, row * k + at % k, format);
  parts[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y != 0) return;
  for (unsigned i = 1; i < SHARES; i++) sum += parts[i][threadIdx.x];
  sums[at] = sum;
}

static __device__ __forceinline__ float sum_of_warp(float value) {
  for (unsigned distance = 16; distance > 0; distance /= 2) {
    float other;
    asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 31, -1;" : "=f"(other) : "f"(value), "r"(distance));
    value += other;
  }
  return value;
}

// A warp for each row of c, then for each column: a wrong sum ends the program.
extern "C" __global__ void gemm_check(const void *a, const void *b, const float *c, const float *sums, unsigned n, unsigned k, unsigned format, float tolerance) {
  unsigned at = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32, line = at % n;
  bool is_row = at < n;
  float have = 0.0f, want = 0.0f;
  for (unsigned i = lane; i < n; i += 32) have += is_row ? c[line * n + i] : c[i * n + line];
  for (unsigned i = lane; i < k; i += 32) want = fmaf(element(is_row ? a : b, line * k + i, format), is_row ? sums[k + i] : sums[i], want);
  have = sum_of_warp(have), want = sum_of_warp(want);
  if (!(fabsf(have - want) <= tolerance * fabsf(want))) asm volatile("trap;");
}
