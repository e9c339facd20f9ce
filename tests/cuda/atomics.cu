// Every atomic operation, on global and shared memory, with the value returned and the value left.
#include "check.h"
#include <cuda_fp16.h>

struct Cells {
  int add, sub, exch, min, max, inc, dec, cas, bit_and, bit_or, bit_xor, system_add, block_add;
  unsigned umin, umax;
  unsigned long long wide_add, wide_max, wide_cas, wide_exch, wide_and, wide_or, wide_xor;
  long long wide_min;
  float real;
  double real_double;
  half2 pair;
  unsigned short small_cas;
};

__device__ Cells global_cells;

__device__ void work(Cells *cell, int thread) {
  atomicAdd(&cell->add, thread);
  atomicSub(&cell->sub, thread);
  atomicExch(&cell->exch, 77);
  atomicMin(&cell->min, -thread);
  atomicMax(&cell->max, thread);
  atomicMin(&cell->umin, 0xffffffffu - thread);
  atomicMax(&cell->umax, 0x80000000u + thread);
  atomicInc((unsigned *)&cell->inc, 9);
  atomicDec((unsigned *)&cell->dec, 9);
  atomicAnd(&cell->bit_and, ~(1 << (thread & 31)));
  atomicOr(&cell->bit_or, 1 << (thread & 15));
  atomicXor(&cell->bit_xor, thread);
  atomicAdd_system(&cell->system_add, 2);
  atomicAdd_block(&cell->block_add, 3);
  atomicAdd(&cell->wide_add, 0x100000000ull + thread);
  atomicMax(&cell->wide_max, 0x8000000000000000ull + thread);
  atomicMin(&cell->wide_min, -0x100000000ll * thread);
  atomicExch(&cell->wide_exch, 0x123456789abcdefull);
  atomicAnd(&cell->wide_and, ~(1ull << (thread & 63)));
  atomicOr(&cell->wide_or, 1ull << (thread & 63));
  atomicXor(&cell->wide_xor, (unsigned long long)thread << 32);
  atomicAdd(&cell->real, 0.5f);
  atomicAdd(&cell->real_double, 0.25);
  atomicAdd(&cell->pair, __floats2half2_rn(1.0f, 2.0f));
  int seen = cell->cas;
  for (int wanted = seen - 1; wanted != seen;) {
    wanted = seen;
    seen = atomicCAS(&cell->cas, wanted, wanted + 3);
  }
  unsigned long long old = cell->wide_cas, expected;
  do {
    expected = old;
    old = atomicCAS(&cell->wide_cas, expected, expected + 0x100000001ull);
  } while (old != expected);
  unsigned short low = cell->small_cas, last;
  do {
    last = low;
    low = atomicCAS(&cell->small_cas, last, (unsigned short)(last + 1));
  } while (low != last);
}

__global__ void all(Cells *shared_result) {
  __shared__ Cells cells;
  if (threadIdx.x == 0) {
    memset(&cells, 0, sizeof cells);
    cells.umin = 0xffffffffu, cells.bit_and = -1, cells.wide_and = ~0ull;
  }
  __syncthreads();
  work(&cells, threadIdx.x);
  work(&global_cells, threadIdx.x);
  __syncthreads();
  if (threadIdx.x == 0) *shared_result = cells;
}

static void examine(const Cells &cell, int n) {
  int sum = n * (n - 1) / 2, parity = 0;
  for (int i = 0; i < n; i++) parity ^= i;
  EXPECT(cell.add == sum && cell.sub == -sum && cell.exch == 77 && cell.min == 1 - n && cell.max == n - 1);
  EXPECT(cell.umin == 0xffffffffu - (n - 1) && cell.umax == 0x80000000u + n - 1);
  EXPECT(cell.inc == n % 10 && cell.dec == (10 - n % 10) % 10);
  EXPECT(cell.bit_and == 0 && cell.bit_or == 0xffff && cell.bit_xor == parity);
  EXPECT(cell.system_add == 2 * n && cell.block_add == 3 * n && cell.cas == 3 * n && cell.small_cas == n);
  EXPECT(cell.wide_add == 0x100000000ull * n + sum && cell.wide_max == 0x8000000000000000ull + n - 1);
  EXPECT(cell.wide_min == -0x100000000ll * (n - 1) && cell.wide_cas == 0x100000001ull * n);
  EXPECT(cell.wide_exch == 0x123456789abcdefull && cell.wide_and == 0 && cell.wide_or == ~0ull);
  EXPECT(cell.wide_xor == (unsigned long long)parity << 32);
  EXPECT(cell.real == 0.5f * n && cell.real_double == 0.25 * n);
  EXPECT(__half2float(__low2half(cell.pair)) == n && __half2float(__high2half(cell.pair)) == 2.0f * n);
}

__global__ void tickets(unsigned *counter, unsigned *seen, int *histogram) {
  unsigned ticket = atomicAdd(counter, 1u);
  seen[ticket] = 1;
  atomicAdd(&histogram[(ticket * 7) % 16], 1);
}

int main() {
  const int n = 192;
  Cells start = {}, result;
  start.umin = 0xffffffffu, start.bit_and = -1, start.wide_and = ~0ull;
  CHECK(cudaMemcpyToSymbol(global_cells, &start, sizeof start));
  Cells *shared_result = device_array<Cells>(1);
  all<<<1, n>>>(shared_result);
  LAUNCHED();
  host_copy(&result, shared_result, 1);
  examine(result, n);
  CHECK(cudaMemcpyFromSymbol(&result, global_cells, sizeof result));
  examine(result, n);

  const unsigned total = 30 * 100;
  unsigned *counter = device_array<unsigned>(1), *seen = device_array<unsigned>(total), marks[total];
  int *histogram = device_array<int>(16), bins[16], sum = 0;
  tickets<<<30, 100>>>(counter, seen, histogram);
  LAUNCHED();
  host_copy(marks, seen, total);
  host_copy(bins, histogram, 16);
  for (unsigned i = 0; i < total; i++) EXPECT(marks[i] == 1);
  for (int bin : bins) sum += bin;
  EXPECT(sum == (int)total);
  return verdict();
}
