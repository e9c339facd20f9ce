// Prices of call options by a binomial tree, one option a block. The values of a tree's level lie in global memory; tiles of 128 are
// brought to shared memory, taken back 32 levels there, and the 96 that are still right are written.
#include "../cuda.h"

enum { THREADS = 128, ROUND = 32, KEPT = THREADS - ROUND, MOST_OPTIONS = 512 };

struct Option {
  float price, strike;
  float move;   // log2 of what the price is multiplied with or divided by in a step
  float growth; // log2 of what money grows by in a step
};
__constant__ Option options[MOST_OPTIONS];

extern "C" __global__ void binomial(float *levels, float *value, int steps) {
  __shared__ float even[THREADS], odd[THREADS];
  const Option option = options[blockIdx.x];
  int t = (int)threadIdx.x;
  float up = exp2_approximate(option.move), down = exp2_approximate(-option.move), discount = exp2_approximate(-option.growth);
  float up_share = (1.0f - discount * down) / (up - down), down_share = discount - up_share;
  float *level = levels + blockIdx.x * (unsigned)(steps + 1);
  for (int i = t; i <= steps; i += THREADS) {
    float gain = option.price * exp2_approximate(option.move * (float)(2 * i - steps)) - option.strike;
    level[i] = gain > 0 ? gain : 0;
  }
  for (int top = steps; top > 0; top -= ROUND) {
    for (int base = 0; base <= top - ROUND; base += KEPT) {
      __syncthreads();
      if (base + t <= top) even[t] = level[base + t];
      int last = top - base < THREADS - 1 ? top - base : THREADS - 1;
      for (int step = 0; step < ROUND; step += 2) {
        __syncthreads();
        if (t < last - step) odd[t] = up_share * even[t + 1] + down_share * even[t];
        __syncthreads();
        if (t < last - step - 1) even[t] = up_share * odd[t + 1] + down_share * odd[t];
      }
      __syncthreads();
      if (t <= last - ROUND) level[base + t] = even[t];
    }
  }
  if (t == 0) value[blockIdx.x] = even[0];
}
