// European option prices by Black and Scholes; the normal distribution by Hastings' polynomial.
#include "../cuda.h"

static __device__ float exp_of(float x) { return exp2_approximate(x * 1.44269504f); }
static __device__ float log_of(float x) { return log2_approximate(x) * 0.69314718f; }

static __device__ float cumulative_normal(float d) {
  float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
  float tail = 0.39894228f * exp_of(-0.5f * d * d) *
               (k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
  return d > 0.0f ? 1.0f - tail : tail;
}

extern "C" __global__ void blackscholes(const float *price, const float *strike, const float *years, float *call, float *put, float rate, float volatility, unsigned n) {
  unsigned step = gridDim.x * blockDim.x;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
    float root = sqrtf(years[i]);
    float d1 = (log_of(price[i] / strike[i]) + (rate + 0.5f * volatility * volatility) * years[i]) / (volatility * root);
    float d2 = d1 - volatility * root;
    float discounted = strike[i] * exp_of(-rate * years[i]);
    float n1 = cumulative_normal(d1), n2 = cumulative_normal(d2);
    call[i] = price[i] * n1 - discounted * n2;
    put[i] = discounted * (1.0f - n2) - price[i] * (1.0f - n1);
  }
}
