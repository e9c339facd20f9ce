// Integer arithmetic of every width, bit intrinsics, inline PTX, clocks; each result against the same sum on the host.
#include "check.h"
#include <cstdint>
#include <type_traits>
#include <vector>

template <typename T> __host__ __device__ void compute(T a, T b, unsigned shift, T *out) {
  out[0] = (T)(a + b), out[1] = (T)(a - b), out[2] = (T)(a * b), out[3] = b ? (T)(a / b) : (T)0, out[4] = b ? (T)(a % b) : (T)0;
  out[5] = (T)(a & b), out[6] = (T)(a | b), out[7] = (T)(a ^ b), out[8] = (T)~a, out[9] = (T)(a >> shift);
  out[10] = (T)((typename std::make_unsigned<T>::type)a << shift), out[11] = a < b ? a : b, out[12] = (T)(a == b), out[13] = (T)-a;
  out[14] = (T)(double)(a / 16), out[15] = (T)(float)(a / 32);
}
static const int RESULTS = 16;

template <typename T> __global__ void run(const T *a, const T *b, T *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) compute<T>(a[i], b[i], (unsigned)i % (sizeof(T) * 8), out + i * RESULTS);
}

template <typename T> static void test(const char *name) {
  const int n = 200;
  std::vector<T> a(n), b(n), out(n * RESULTS);
  uint64_t state = 88172645463325252ull;
  for (int i = 0; i < n; i++) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    a[i] = (T)state, b[i] = (T)(state >> (i % 50));
    if (b[i] == (T)-1) // the quotient of the least number by -1 is not defined
      b[i] = 3;
  }
  T *da = device_copy(a.data(), n), *db = device_copy(b.data(), n), *result = device_array<T>(n * RESULTS);
  run<T><<<(n + 63) / 64, 64>>>(da, db, result, n);
  LAUNCHED();
  host_copy(out.data(), result, n * RESULTS);
  for (int i = 0; i < n; i++) {
    T expected[RESULTS];
    compute<T>(a[i], b[i], (unsigned)i % (sizeof(T) * 8), expected);
    for (int k = 0; k < RESULTS; k++)
      if (out[i * RESULTS + k] != expected[k] && failures++ < 20)
        std::fprintf(stderr, "%s: result %d of %lld, %lld: %lld, not %lld\n", name, k, (long long)a[i], (long long)b[i],
                     (long long)out[i * RESULTS + k], (long long)expected[k]);
  }
}

__global__ void intrinsics(unsigned *out, unsigned a, unsigned b, unsigned c, unsigned long long wide) {
  out[0] = __popc(a), out[1] = __clz(a), out[2] = __ffs(a), out[3] = __brev(a), out[4] = __byte_perm(a, b, 0x5140);
  out[5] = __umulhi(a, b), out[6] = (unsigned)__mulhi((int)a, (int)b), out[7] = __umul24(a, b), out[8] = __usad(a, b, c);
  out[9] = __funnelshift_l(a, b, 9), out[10] = __funnelshift_r(a, b, 9), out[11] = (unsigned)__dp4a((int)a, (int)b, (int)c);
  out[12] = __popcll(wide), out[13] = __clzll(wide), out[14] = __ffsll(wide), out[15] = (unsigned)(__brevll(wide) >> 32);
  out[16] = (unsigned)__umul64hi(wide, wide), out[17] = __vadd4(a, b), out[18] = __vabsdiffu4(a, b), out[19] = __vmaxs2(a, b);
  out[20] = __uhadd(a, b), out[21] = __urhadd(a, b), out[22] = __vcmpgtu4(a, b), out[23] = __fns(a, 0, 3);
}

__global__ void assembly(unsigned *out, unsigned a, unsigned b, unsigned long long *clocks) {
  unsigned lane, sum, high, flag;
  long long begin = clock64();
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
  asm("{\n\t.reg .u32 t;\n\tadd.cc.u32 %0, %2, %3;\n\taddc.u32 %1, 0, 0;\n\t}" : "=r"(sum), "=r"(high) : "r"(a), "r"(b));
  asm("{\n\t.reg .pred p;\n\tsetp.hi.u32 p, %1, %2;\n\tselp.u32 %0, 11, 22, p;\n\t}" : "=r"(flag) : "r"(a), "r"(b));
  unsigned blended, field;
  asm("lop3.b32 %0, %1, %2, %3, 0xe8;" : "=r"(blended) : "r"(a), "r"(b), "r"(0x0f0f0f0fu));
  asm("bfe.u32 %0, %1, 5, 11;" : "=r"(field) : "r"(a));
  unsigned *mine = out + threadIdx.x * 6;
  mine[0] = lane, mine[1] = sum, mine[2] = high, mine[3] = flag, mine[4] = blended, mine[5] = field;
  __syncthreads();
  clocks[threadIdx.x] = (unsigned long long)(clock64() - begin) * (clock() != 0x7fffffff);
}

int main() {
  test<int8_t>("int8"), test<uint8_t>("uint8"), test<int16_t>("int16"), test<uint16_t>("uint16");
  test<int32_t>("int32"), test<uint32_t>("uint32"), test<int64_t>("int64"), test<uint64_t>("uint64");
  const unsigned a = 0x8f31c2a4u, b = 0x1e77d903u;
  const unsigned long long wide = 0x00f0123456789a10ull;
  unsigned host[64 * 6], *out = device_array<unsigned>(64 * 6);
  intrinsics<<<1, 1>>>(out, a, b, 1000, wide);
  LAUNCHED();
  host_copy(host, out, 24);
  auto byte = [](unsigned x, int i) { return (int)(x >> (8 * i) & 255); };
  int dot = 1000;
  unsigned sums = 0, differences = 0, greater = 0;
  for (int i = 0; i < 4; i++) {
    dot += (int8_t)byte(a, i) * (int8_t)byte(b, i);
    sums |= (unsigned)(byte(a, i) + byte(b, i) & 255) << (8 * i);
    differences |= (unsigned)std::abs(byte(a, i) - byte(b, i)) << (8 * i);
    greater |= (byte(a, i) > byte(b, i) ? 255u : 0u) << (8 * i);
  }
  unsigned reversed = 0;
  for (int i = 0; i < 32; i++) reversed |= (a >> i & 1) << (31 - i);
  const unsigned expected[] = {(unsigned)__builtin_popcount(a),
                               0,
                               3,
                               reversed,
                               (unsigned)(byte(a, 0) | byte(b, 0) << 8 | byte(a, 1) << 16 | byte(b, 1) << 24),
                               (unsigned)((uint64_t)a * b >> 32),
                               (unsigned)((int64_t)(int)a * (int)b >> 32),
                               (unsigned)((uint64_t)(a & 0xffffff) * (b & 0xffffff)),
                               a - b + 1000,
                               b << 9 | a >> 23,
                               a >> 9 | b << 23,
                               (unsigned)dot,
                               (unsigned)__builtin_popcountll(wide),
                               8,
                               5,
                               0x08591e6au,
                               (unsigned)(((unsigned __int128)wide * wide) >> 64),
                               sums,
                               differences,
                               0x1e77d903u & 0xffff0000u | 0xd903u,
                               (unsigned)(((uint64_t)a + b) / 2),
                               (unsigned)(((uint64_t)a + b + 1) / 2),
                               greater,
                               7};
  for (int i = 0; i < 24; i++)
    if (i != 15 && host[i] != expected[i] && failures++ < 20) std::fprintf(stderr, "intrinsic %d: %#x, not %#x\n", i, host[i], expected[i]);
  EXPECT(host[15] == 0x08591e6au);
  unsigned long long clocks[64], *times = device_array<unsigned long long>(64);
  assembly<<<1, 64>>>(out, 0xfffffff0u, 0x35u, times);
  LAUNCHED();
  host_copy(host, out, 64 * 6);
  host_copy(clocks, times, 64);
  for (int i = 0; i < 64; i++) {
    const unsigned *m = host + i * 6, left = 0xfffffff0u, right = 0x35u, third = 0x0f0f0f0fu;
    EXPECT(m[0] == (unsigned)i % 32 && m[1] == 0x25 && m[2] == 1 && m[3] == 11);
    EXPECT(m[4] == ((left & right) | (left & third) | (right & third)) && m[5] == (left >> 5 & 0x7ff));
    EXPECT(clocks[i] > 0);
  }
  return verdict();
}
