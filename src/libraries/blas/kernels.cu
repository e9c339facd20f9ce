// The kernels of Redoubt's cuBLAS. docs/libraries.md says in which order each of them adds; the results follow from that bit by bit.
// `make ptx` makes kernels.ptx of it with clang; no CUDA toolkit is needed.
#include "../../../workloads/cuda.h"
#include "arguments.h"

#define KERNEL extern "C" __global__ void
#define INLINE static __device__ __forceinline__

typedef long long Index;
struct Half {
  unsigned short bits;
};
struct Bfloat {
  unsigned short bits;
};

// ---- Numbers ---------------------------------------------------------------------------------------

INLINE double wide(double x) { return x; }
INLINE float wide(float x) { return x; }
INLINE float wide(Half x) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(x.bits));
  return value;
}
INLINE float wide(Bfloat x) { return __builtin_bit_cast(float, (unsigned)x.bits << 16); }

INLINE void put(double *to, double x) { *to = x; }
INLINE void put(float *to, float x) { *to = x; }
INLINE void put(Half *to, float x) { asm("cvt.rn.f16.f32 %0, %1;" : "=h"(to->bits) : "f"(x)); }
INLINE void put(Bfloat *to, float x) { // to the nearest, halves to even; there is no instruction for it below sm_80
  unsigned bits = __builtin_bit_cast(unsigned, x);
  bool is_nan = (bits & 0x7fffffff) > 0x7f800000;
  to->bits = is_nan ? 0x7fff : (unsigned short)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

INLINE float multiply_add(float a, float b, float c) { return __nvvm_fma_rn_f(a, b, c); }
INLINE double multiply_add(double a, double b, double c) { return __nvvm_fma_rn_d(a, b, c); }
// Never fused with what comes after it.
INLINE float multiply(float a, float b) { return __nvvm_mul_rn_f(a, b); }
INLINE double multiply(double a, double b) { return __nvvm_mul_rn_d(a, b); }
INLINE float absolute(float x) { return __builtin_fabsf(x); }
INLINE double absolute(double x) { return __builtin_fabs(x); }

// alpha and beta. They are loaded by name: the compiler would copy the arguments to local memory to have one pointer for both places.
INLINE double scalar(const BlasScalar &s, double) {
  double value = __builtin_bit_cast(double, s.bits);
  if (s.at) asm volatile("ld.f64 %0, [%1];" : "=d"(value) : "l"(s.at));
  return value;
}
INLINE float scalar(const BlasScalar &s, float) {
  unsigned bits = (unsigned)s.bits;
  if (s.at && s.kind == BLAS_F16) asm volatile("ld.u16 %0, [%1];" : "=r"(bits) : "l"(s.at));
  else if (s.at) asm volatile("ld.u32 %0, [%1];" : "=r"(bits) : "l"(s.at));
  return s.kind == BLAS_F16 ? wide(Half{(unsigned short)bits}) : __builtin_bit_cast(float, bits);
}

// What is stored, of a finished sum. What beta = 0 says is not read, and without a product there is nothing to add.
template <typename Sum, typename Out> INLINE void finish(Out *c, Sum sum, bool has_product, Sum alpha, Sum beta) {
  Sum product = multiply(alpha, sum);
  if (beta == 0) put(c, has_product ? product : 0);
  else if (has_product) put(c, multiply_add(beta, wide(*c), product));
  else put(c, multiply(beta, wide(*c)));
}

INLINE Index block_z(void) { return __nvvm_read_ptx_sreg_ctaid_z(); }

// A matrix or vector of a batch.
template <typename T> INLINE T *of_batch(T *first, bool arrays, Index step, Index which) {
  return arrays ? ((T *const *)first)[which] : first + step * which;
}

// ---- gemm ------------------------------------------------------------------------------------------

// Elements that a thread brings to a tile: tile[k][i] = op(matrix)(first + i, k). Threads beside each other read elements beside each other.
enum { LOADS = BLAS_TILE * BLAS_DEPTH / (BLAS_SIDE * BLAS_SIDE) };
template <typename In> struct Loader {
  const In *at[LOADS];
  unsigned i[LOADS], k[LOADS];
  bool inside[LOADS]; // of the matrix, as to i
  Index advance;      // from a tile to the next along k
};

template <typename In> INLINE void begin_loads(Loader<In> &loader, const In *matrix, Index leading, bool along_k, Index first, Index count) {
  unsigned thread = threadIdx.y * BLAS_SIDE + threadIdx.x;
#pragma unroll
  for (unsigned e = 0; e < LOADS; e++) {
    unsigned place = e * BLAS_SIDE * BLAS_SIDE + thread;
    unsigned i = along_k ? place / BLAS_DEPTH : place % BLAS_TILE, k = along_k ? place % BLAS_DEPTH : place / BLAS_TILE;
    loader.at[e] = matrix + (along_k ? k + (first + i) * leading : first + i + k * leading);
    loader.i[e] = i;
    loader.k[e] = k;
    loader.inside[e] = first + i < count;
  }
  loader.advance = along_k ? BLAS_DEPTH : BLAS_DEPTH * leading;
}

// The next tile, of `depth` steps; 0 outside of the matrix.
template <typename In, typename Sum> INLINE void load_tile(Sum (*tile)[BLAS_TILE + 1], Loader<In> &loader, unsigned depth) {
#pragma unroll
  for (unsigned e = 0; e < LOADS; e++) {
    Sum value = 0;
    if (loader.inside[e] && loader.k[e] < depth) value = wide(*loader.at[e]);
    tile[loader.k[e]][loader.i[e]] = value;
    loader.at[e] += loader.advance;
  }
}

template <typename Sum> struct Four {
  Sum at[2][2];
};

template <typename Sum> INLINE void step(Four<Sum> &sum, const Sum *a, const Sum *b) {
#pragma unroll
  for (unsigned i = 0; i < 2; i++) {
#pragma unroll
    for (unsigned j = 0; j < 2; j++)
      sum.at[i][j] = multiply_add(a[threadIdx.x + i * BLAS_SIDE], b[threadIdx.y + j * BLAS_SIDE], sum.at[i][j]);
  }
}

// The tile whose first element is (row, column).
template <typename In, typename Sum> INLINE void multiply_tile(Four<Sum> &sum, const In *a, const In *b, const BlasGemm &g, Index row, Index column) {
  __shared__ Sum a_tile[BLAS_DEPTH][BLAS_TILE + 1], b_tile[BLAS_DEPTH][BLAS_TILE + 1];
  Loader<In> a_loader, b_loader;
  begin_loads(a_loader, a, g.a_leading, g.a_transposed, row, g.m);
  begin_loads(b_loader, b, g.b_leading, !g.b_transposed, column, g.n);
  for (Index left = g.k; left > 0; left -= BLAS_DEPTH) {
    unsigned depth = left < BLAS_DEPTH ? (unsigned)left : BLAS_DEPTH;
    load_tile(a_tile, a_loader, depth);
    load_tile(b_tile, b_loader, depth);
    __syncthreads();
    if (depth == BLAS_DEPTH) {
#pragma unroll
      for (unsigned k = 0; k < BLAS_DEPTH; k++) step(sum, a_tile[k], b_tile[k]);
    } else {
#pragma unroll 1
      for (unsigned k = 0; k < depth; k++) step(sum, a_tile[k], b_tile[k]);
    }
    __syncthreads();
  }
}

template <typename In, typename Out, typename Sum> INLINE void gemm(const BlasGemm &g) {
  Sum alpha = scalar(g.alpha, Sum()), beta = scalar(g.beta, Sum());
  bool has_product = alpha != 0 && g.k > 0;
  Index row = (Index)blockIdx.x * BLAS_TILE, column = g.first_column + (Index)blockIdx.y * BLAS_TILE, z = g.first_batch + block_z();
  Four<Sum> sum = {};
  if (has_product) {
    const In *a = of_batch((const In *)g.a, g.arrays, g.a_step, z), *b = of_batch((const In *)g.b, g.arrays, g.b_step, z);
    multiply_tile(sum, a, b, g, row, column);
  }
  Out *c = of_batch((Out *)g.c, g.arrays, g.c_step, z);
#pragma unroll
  for (unsigned i = 0; i < 4; i++) {
    Index r = row + threadIdx.x + i / 2 * BLAS_SIDE, s = column + threadIdx.y + i % 2 * BLAS_SIDE;
    bool wanted = g.triangle == BLAS_ALL || (g.triangle == BLAS_LOWER ? r >= s : r <= s);
    if (r < g.m && s < g.n && wanted) finish(&c[r + s * g.c_leading], sum.at[i / 2][i % 2], has_product, alpha, beta);
  }
}

KERNEL cublas_sgemm(BlasGemm g) { gemm<float, float, float>(g); }
KERNEL cublas_dgemm(BlasGemm g) { gemm<double, double, double>(g); }
KERNEL cublas_hgemm(BlasGemm g) { gemm<Half, Half, float>(g); }      // f16, sums in f32
KERNEL cublas_hsgemm(BlasGemm g) { gemm<Half, float, float>(g); }    // f16 -> f32
KERNEL cublas_bgemm(BlasGemm g) { gemm<Bfloat, Bfloat, float>(g); }  // bf16, sums in f32
KERNEL cublas_bsgemm(BlasGemm g) { gemm<Bfloat, float, float>(g); }  // bf16 -> f32

// ---- gemv ------------------------------------------------------------------------------------------

template <typename T> INLINE void gemv_n(const BlasGemv &g) {
  T alpha = scalar(g.alpha, T()), beta = scalar(g.beta, T()), sum = 0;
  bool has_product = alpha != 0;
  Index row = (Index)blockIdx.x * BLAS_ROWS + threadIdx.x, z = g.first_batch + block_z();
  if (row >= g.m) return;
  const T *a = of_batch((const T *)g.a, g.arrays, g.a_step, z), *x = of_batch((const T *)g.x, g.arrays, g.x_step, z) + g.x_first;
  for (Index j = 0; has_product && j < g.n; j++) sum = multiply_add(a[row + j * g.leading], x[j * g.x_stride], sum);
  finish(of_batch((T *)g.y, g.arrays, g.y_step, z) + g.y_first + row * g.y_stride, sum, has_product, alpha, beta);
}

template <typename T> INLINE void gemv_t(const BlasGemv &g) {
  __shared__ T sums[BLAS_COLUMNS][BLAS_LANES];
  T alpha = scalar(g.alpha, T()), beta = scalar(g.beta, T()), sum = 0, *own = sums[threadIdx.y];
  bool has_product = alpha != 0;
  Index column = (Index)blockIdx.x * BLAS_COLUMNS + threadIdx.y, z = g.first_batch + block_z();
  const T *a = of_batch((const T *)g.a, g.arrays, g.a_step, z), *x = of_batch((const T *)g.x, g.arrays, g.x_step, z) + g.x_first;
  for (Index i = threadIdx.x; has_product && column < g.n && i < g.m; i += BLAS_LANES)
    sum = multiply_add(a[i + column * g.leading], x[i * g.x_stride], sum);
  own[threadIdx.x] = sum;
  for (unsigned half = BLAS_LANES / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) own[threadIdx.x] += own[threadIdx.x + half];
  }
  if (threadIdx.x == 0 && column < g.n)
    finish(of_batch((T *)g.y, g.arrays, g.y_step, z) + g.y_first + column * g.y_stride, own[0], has_product, alpha, beta);
}

KERNEL cublas_sgemv_n(BlasGemv g) { gemv_n<float>(g); }
KERNEL cublas_dgemv_n(BlasGemv g) { gemv_n<double>(g); }
KERNEL cublas_sgemv_t(BlasGemv g) { gemv_t<float>(g); }
KERNEL cublas_dgemv_t(BlasGemv g) { gemv_t<double>(g); }

// ---- Matrices, element by element ------------------------------------------------------------------

template <typename T> INLINE void geam(const BlasSum &g) {
  T alpha = scalar(g.alpha, T()), beta = scalar(g.beta, T());
  Index i = (Index)blockIdx.x * BLAS_SIDE + threadIdx.x;
  if (i >= g.m) return;
  for (Index j = (Index)blockIdx.y * BLAS_SIDE + threadIdx.y; j < g.n; j += (Index)gridDim.y * BLAS_SIDE) {
    T result = 0;
    if (alpha != 0) result = multiply(alpha, ((const T *)g.a)[i * g.a_row + j * g.a_column]);
    if (beta != 0) {
      T b = ((const T *)g.b)[i * g.b_row + j * g.b_column];
      result = alpha != 0 ? multiply_add(beta, b, result) : multiply(beta, b);
    }
    ((T *)g.c)[i + j * g.c_leading] = result;
  }
}
template <typename T> INLINE void ger(const BlasSum &g) {
  T alpha = scalar(g.alpha, T());
  Index i = (Index)blockIdx.x * BLAS_SIDE + threadIdx.x;
  if (i >= g.m || alpha == 0) return;
  for (Index j = (Index)blockIdx.y * BLAS_SIDE + threadIdx.y; j < g.n; j += (Index)gridDim.y * BLAS_SIDE) {
    T *c = (T *)g.c + i + j * g.c_leading;
    *c = multiply_add(((const T *)g.a)[i * g.a_row], multiply(alpha, ((const T *)g.b)[j * g.b_column]), *c);
  }
}

KERNEL cublas_sgeam(BlasSum g) { geam<float>(g); }
KERNEL cublas_dgeam(BlasSum g) { geam<double>(g); }
KERNEL cublas_sger(BlasSum g) { ger<float>(g); }
KERNEL cublas_dger(BlasSum g) { ger<double>(g); }

// ---- trsm: a thread solves for one vector ------------------------------------------------------------

INLINE float divide(float a, float b) { return __nvvm_div_rn_f(a, b); }
INLINE double divide(double a, double b) { return __nvvm_div_rn_d(a, b); }

template <typename T> INLINE void trsm(const BlasSolve &g) {
  T alpha = scalar(g.alpha, T());
  Index which = (Index)blockIdx.x * BLAS_SOLVERS + threadIdx.x;
  if (which >= g.count) return;
  const T *a = (const T *)g.a;
  T *x = (T *)g.b + which * g.b_next;
  for (Index done = 0; done < g.size; done++) {
    Index i = g.backward ? g.size - 1 - done : done;
    if (alpha == 0) {
      x[i * g.b_row] = 0;
      continue;
    }
    T sum = multiply(alpha, x[i * g.b_row]);
    for (Index step = 0; step < done; step++) {
      Index k = g.backward ? g.size - 1 - step : step;
      sum = multiply_add(-a[i * g.a_row + k * g.a_column], x[k * g.b_row], sum);
    }
    x[i * g.b_row] = g.unit ? sum : divide(sum, a[i * g.a_row + i * g.a_column]);
  }
}

KERNEL cublas_strsm(BlasSolve g) { trsm<float>(g); }
KERNEL cublas_dtrsm(BlasSolve g) { trsm<double>(g); }

// ---- Vectors, element by element -------------------------------------------------------------------

INLINE Index first_element(void) { return (Index)blockIdx.x * BLAS_THREADS + threadIdx.x; }
INLINE Index next_element(Index i) { return i + (Index)gridDim.x * BLAS_THREADS; }

template <typename T> INLINE void axpy(const BlasVector &v) {
  T alpha = scalar(v.alpha, T()), *y = (T *)v.y;
  const T *x = (const T *)v.x;
  if (alpha == 0) return;
  for (Index i = first_element(); i < v.n; i = next_element(i)) y[i * v.y_stride] = multiply_add(alpha, x[i * v.x_stride], y[i * v.y_stride]);
}
template <typename T> INLINE void scal(const BlasVector &v) {
  T alpha = scalar(v.alpha, T()), *x = (T *)v.y;
  for (Index i = first_element(); i < v.n; i = next_element(i)) x[i * v.y_stride] = multiply(alpha, x[i * v.y_stride]);
}
template <typename T> INLINE void copy(const BlasVector &v) {
  const T *x = (const T *)v.x;
  T *y = (T *)v.y;
  for (Index i = first_element(); i < v.n; i = next_element(i)) y[i * v.y_stride] = x[i * v.x_stride];
}
template <typename T> INLINE void swap(const BlasVector &v) {
  T *x = (T *)v.x, *y = (T *)v.y;
  for (Index i = first_element(); i < v.n; i = next_element(i)) {
    T mine = x[i * v.x_stride];
    x[i * v.x_stride] = y[i * v.y_stride];
    y[i * v.y_stride] = mine;
  }
}

KERNEL cublas_saxpy(BlasVector v) { axpy<float>(v); }
KERNEL cublas_daxpy(BlasVector v) { axpy<double>(v); }
KERNEL cublas_sscal(BlasVector v) { scal<float>(v); }
KERNEL cublas_dscal(BlasVector v) { scal<double>(v); }
KERNEL cublas_scopy(BlasVector v) { copy<float>(v); }
KERNEL cublas_dcopy(BlasVector v) { copy<double>(v); }
KERNEL cublas_sswap(BlasVector v) { swap<float>(v); }
KERNEL cublas_dswap(BlasVector v) { swap<double>(v); }

// ---- Sums over a vector ----------------------------------------------------------------------------

// Of all threads of a block, which are a power of two; for thread 0.
template <typename T> INLINE T sum_of_block(T mine, unsigned threads) {
  __shared__ T sums[BLAS_THREADS];
  sums[threadIdx.x] = mine;
  for (unsigned half = threads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
  }
  return sums[0];
}

template <typename T> INLINE void put_partial(const BlasVector &v, T mine) {
  T sum = sum_of_block(mine, BLAS_THREADS);
  if (threadIdx.x == 0) ((T *)v.partials)[blockIdx.x] = sum;
}

template <typename T> INLINE void dot(const BlasVector &v) {
  const T *x = (const T *)v.x, *y = (const T *)v.y;
  T sum = 0;
  for (Index i = first_element(); i < v.n; i = next_element(i)) sum = multiply_add(x[i * v.x_stride], y[i * v.y_stride], sum);
  put_partial(v, sum);
}
template <typename T> INLINE void asum(const BlasVector &v) {
  const T *x = (const T *)v.x;
  T sum = 0;
  for (Index i = first_element(); i < v.n; i = next_element(i)) sum += absolute(x[i * v.x_stride]);
  put_partial(v, sum);
}

// The sum of the partials, by one block of BLAS_BLOCKS threads; those that are not there count as 0.
template <typename T> INLINE T sum_of_partials(const BlasVector &v) {
  return sum_of_block(threadIdx.x < v.blocks ? ((const T *)v.partials)[threadIdx.x] : 0, BLAS_BLOCKS);
}
template <typename T> INLINE void last_sum(const BlasVector &v) {
  T sum = sum_of_partials<T>(v);
  if (threadIdx.x == 0) *(T *)v.result = sum;
}

KERNEL cublas_sdot(BlasVector v) { dot<float>(v); }
KERNEL cublas_ddot(BlasVector v) { dot<double>(v); }
KERNEL cublas_sasum(BlasVector v) { asum<float>(v); }
KERNEL cublas_dasum(BlasVector v) { asum<double>(v); }
KERNEL cublas_ssum(BlasVector v) { last_sum<float>(v); }
KERNEL cublas_dsum(BlasVector v) { last_sum<double>(v); }

// ---- nrm2: without overflow or underflow on the way --------------------------------------------------

// In f32, squares are added in f64, which has room for all of them.
KERNEL cublas_snrm2(BlasVector v) {
  const float *x = (const float *)v.x;
  double sum = 0;
  for (Index i = first_element(); i < v.n; i = next_element(i)) sum = multiply_add((double)x[i * v.x_stride], (double)x[i * v.x_stride], sum);
  put_partial(v, sum);
}
KERNEL cublas_snrm2_root(BlasVector v) {
  double sum = sum_of_partials<double>(v);
  if (threadIdx.x == 0) *(float *)v.result = (float)__nvvm_sqrt_rn_d(sum);
}

// In f64, elements are first divided by a power of two near the largest. Absolute values order as their bits do; NaN is the largest.
typedef unsigned long long Bits;
enum { F64_FRACTION = 52, F64_BIAS = 1023, F64_SPECIAL = 2047 };
INLINE Bits largest_of_block(Bits mine, unsigned threads) {
  __shared__ Bits found[BLAS_THREADS];
  found[threadIdx.x] = mine;
  for (unsigned half = threads / 2; half > 0; half /= 2) {
    __syncthreads();
    Bits other = threadIdx.x < half ? found[threadIdx.x + half] : 0;
    if (threadIdx.x < half && other > found[threadIdx.x]) found[threadIdx.x] = other;
  }
  return found[0];
}
KERNEL cublas_dnrm2_largest(BlasVector v) {
  const double *x = (const double *)v.x;
  Bits largest = 0;
  for (Index i = first_element(); i < v.n; i = next_element(i)) {
    Bits bits = __builtin_bit_cast(Bits, absolute(x[i * v.x_stride]));
    if (bits > largest) largest = bits;
  }
  largest = largest_of_block(largest, BLAS_THREADS);
  if (threadIdx.x == 0) ((Bits *)v.partials)[blockIdx.x] = largest;
}
KERNEL cublas_dnrm2_scale(BlasVector v) {
  Bits largest = largest_of_block(threadIdx.x < v.blocks ? ((const Bits *)v.partials)[threadIdx.x] : 0, BLAS_BLOCKS);
  if (threadIdx.x == 0) *(Bits *)v.largest = largest;
}
// 2 to the power of a number that a normal number can have.
INLINE double power_of_two(int exponent) { return __builtin_bit_cast(double, (Bits)(exponent + F64_BIAS) << F64_FRACTION); }
// The exponent of the largest, within what can be undone. 0 for zero, infinity and NaN, which need no scale.
INLINE int scale_of(const BlasVector &v) {
  int exponent = (int)(*(const Bits *)v.largest >> F64_FRACTION) - F64_BIAS, most = F64_BIAS - 1;
  if (exponent == F64_SPECIAL - F64_BIAS || *(const Bits *)v.largest == 0) return 0;
  return exponent < -most ? -most : exponent > most ? most : exponent;
}
KERNEL cublas_dnrm2(BlasVector v) {
  const double *x = (const double *)v.x;
  double sum = 0, scale = power_of_two(-scale_of(v));
  for (Index i = first_element(); i < v.n; i = next_element(i)) {
    double element = multiply(x[i * v.x_stride], scale);
    sum = multiply_add(element, element, sum);
  }
  put_partial(v, sum);
}
KERNEL cublas_dnrm2_root(BlasVector v) {
  double sum = sum_of_partials<double>(v);
  if (threadIdx.x == 0) *(double *)v.result = multiply(__nvvm_sqrt_rn_d(sum), power_of_two(scale_of(v)));
}

// ---- amax and amin ---------------------------------------------------------------------------------

template <typename T> struct Found { // an element: its absolute value, its index; index -1: none
  T value;
  Index index;
};

// The first of equal ones. NaN only if there is nothing else.
template <typename T> INLINE bool is_better(const Found<T> &a, const Found<T> &b, bool least) {
  if (a.index < 0 || b.index < 0) return a.index >= 0;
  bool a_nan = a.value != a.value, b_nan = b.value != b.value;
  if (a_nan != b_nan) return b_nan;
  if (!a_nan && a.value != b.value) return (a.value > b.value) != least;
  return a.index < b.index;
}
template <typename T> INLINE Found<T> better(const Found<T> &a, const Found<T> &b, bool least) {
  bool is_a = is_better(a, b, least);
  return {is_a ? a.value : b.value, is_a ? a.index : b.index};
}

template <typename T> INLINE Found<T> best_of_block(Found<T> mine, unsigned threads, bool least) {
  __shared__ Found<T> found[BLAS_THREADS];
  found[threadIdx.x] = mine;
  for (unsigned half = threads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) found[threadIdx.x] = better(found[threadIdx.x], found[threadIdx.x + half], least);
  }
  return found[0];
}

template <typename T> INLINE void amax(const BlasVector &v) {
  const T *x = (const T *)v.x;
  Found<T> best = {0, -1};
  for (Index i = first_element(); i < v.n; i = next_element(i)) best = better(best, Found<T>{absolute(x[i * v.x_stride]), i}, v.least);
  best = best_of_block(best, BLAS_THREADS, v.least);
  if (threadIdx.x == 0) ((Found<T> *)v.partials)[blockIdx.x] = best;
}
template <typename T> INLINE void amax_last(const BlasVector &v) { // counted from 1
  Found<T> best = {0, -1};
  if (threadIdx.x < v.blocks) best = ((const Found<T> *)v.partials)[threadIdx.x];
  best = best_of_block(best, BLAS_BLOCKS, v.least);
  if (threadIdx.x != 0) return;
  if (v.wide) *(Index *)v.result = best.index + 1;
  else *(int *)v.result = (int)best.index + 1;
}

KERNEL cublas_isamax(BlasVector v) { amax<float>(v); }
KERNEL cublas_idamax(BlasVector v) { amax<double>(v); }
KERNEL cublas_isamax_last(BlasVector v) { amax_last<float>(v); }
KERNEL cublas_idamax_last(BlasVector v) { amax_last<double>(v); }
