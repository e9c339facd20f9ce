// Warp intrinsics: shuffles, votes, matches, reductions and masks, converged and in part of a warp.
// nvcc: -arch=sm_80
#include "check.h"

struct Lane {
  int up, down, exchange, index, segment, any, all, vote_equal;
  unsigned ballot, active, match_any, match_all, sum, least, greatest, both, either, odd;
  int match_predicate, scan, signed_least;
  double real;
  long long wide;
  unsigned half_ballot, half_sum;
};

__global__ void intrinsics(Lane *out) {
  const unsigned full = 0xffffffffu;
  unsigned lane = threadIdx.x & 31;
  int value = (int)threadIdx.x * 3 + 1;
  Lane r = {};
  r.up = __shfl_up_sync(full, value, 3);
  r.down = __shfl_down_sync(full, value, 5);
  r.exchange = __shfl_xor_sync(full, value, 9);
  r.index = __shfl_sync(full, value, (int)(lane * 7 + 2));
  r.segment = __shfl_sync(full, value, 2, 8);
  r.real = __shfl_sync(full, value * 0.5, 31 - lane);
  r.wide = __shfl_xor_sync(full, 0x100000000ll * value, 1);
  r.any = __any_sync(full, lane == 4);
  r.all = __all_sync(full, lane < 32);
  r.ballot = __ballot_sync(full, lane % 3 == 0);
  r.vote_equal = __all_sync(full, lane == 4);
  r.match_any = __match_any_sync(full, lane & 3);
  r.match_all = __match_all_sync(full, threadIdx.x / 32, &r.match_predicate);
  r.sum = __reduce_add_sync(full, lane);
  r.least = __reduce_min_sync(full, lane + 5);
  r.greatest = __reduce_max_sync(full, lane);
  r.signed_least = __reduce_min_sync(full, 3 - (int)lane);
  r.both = __reduce_and_sync(full, lane | 0x100);
  r.either = __reduce_or_sync(full, 1u << lane);
  r.odd = __reduce_xor_sync(full, lane * 5);
  int scan = value;
  for (int step = 1; step < 32; step *= 2) {
    int other = __shfl_up_sync(full, scan, step);
    if (lane >= step) scan += other;
  }
  r.scan = scan;
  if (lane & 1) {
    r.active = __activemask();
    r.half_ballot = __ballot_sync(0xaaaaaaaau, lane > 16);
    r.half_sum = __reduce_add_sync(0xaaaaaaaau, 1u);
  } else {
    r.half_ballot = __ballot_sync(0x55555555u, lane > 16);
    r.half_sum = __reduce_add_sync(0x55555555u, 2u);
  }
  __syncwarp();
  out[threadIdx.x] = r;
}

static int valued(int base, int lane) { return (base + lane) * 3 + 1; }

static void examine(const Lane *lanes, int base) {
  int sum = 0;
  unsigned odd = 0;
  for (int lane = 0; lane < 32; lane++) odd ^= lane * 5;
  for (int lane = 0; lane < 32; lane++) {
    const Lane &r = lanes[base + lane];
    sum += valued(base, lane);
    EXPECT(r.up == valued(base, lane < 3 ? lane : lane - 3));
    EXPECT(r.down == valued(base, lane > 26 ? lane : lane + 5));
    EXPECT(r.exchange == valued(base, lane ^ 9));
    EXPECT(r.index == valued(base, (lane * 7 + 2) & 31));
    EXPECT(r.segment == valued(base, (lane & ~7) + 2));
    EXPECT(r.real == valued(base, 31 - lane) * 0.5);
    EXPECT(r.wide == 0x100000000ll * valued(base, lane ^ 1));
    EXPECT(r.any && r.all && !r.vote_equal);
    EXPECT(r.ballot == 0x49249249u);
    EXPECT(r.match_any == 0x11111111u << (lane & 3));
    EXPECT(r.match_all == 0xffffffffu && r.match_predicate);
    EXPECT(r.sum == 496 && r.least == 5 && r.greatest == 31 && r.signed_least == -28);
    EXPECT(r.both == 0x100 && r.either == 0xffffffffu && r.odd == odd);
    EXPECT(r.scan == sum);
    EXPECT(r.half_ballot == (lane & 1 ? 0xaaaa0000u : 0x55540000u));
    EXPECT(r.half_sum == (lane & 1 ? 16u : 32u));
    EXPECT(!(lane & 1) || (r.active & (1u << lane)));
  }
}

int main() {
  const int n = 96;
  Lane host[n], *out = device_array<Lane>(n);
  intrinsics<<<1, n>>>(out);
  LAUNCHED();
  host_copy(host, out, n);
  for (int base = 0; base < n; base += 32) examine(host, base);
  return verdict();
}
