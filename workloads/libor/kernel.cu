// The LIBOR market model by Monte Carlo: a thread moves up to 80 forward rates along one path, prices a portfolio of swaptions
// there, and finds how the price answers to a shift of all initial rates by going back along the path (adjoints).
// Sources: Glasserman and Zhao, "Fast Greeks by simulation in forward LIBOR models", 1999 (the scheme); Giles and Glasserman,
// "Smoking adjoints", 2006 (the way back). A thread's rates are arrays in local memory; what all paths share is constant.
#include "../cuda.h"

enum { MOST_RATES = 80, MOST_STEPS = 40, SWAPTIONS = 15, MOST_TERMS = 40 };

__constant__ float libor_initial[MOST_RATES], libor_volatility[MOST_RATES];
__constant__ int libor_terms[SWAPTIONS]; // periods of each swap
__constant__ float libor_strikes[SWAPTIONS];
__constant__ float libor_period, libor_root_period;       // in years, and its root
__constant__ int libor_rates, libor_steps, libor_longest; // how many rates, steps to expiry, periods of the longest swap

static __device__ float exp_of(float x) { return exp2_approximate(x * 1.44269504f); }
static __device__ float growth_of(float rate) { return 1.0f + libor_period * rate; }

// The rates before each step and after the last, a row each. A step leaves the rates that are fixed by then alone; returns
// today's price of money at expiry.
static __device__ float go_forward(float *history, const float *normals, int path, int paths) {
  for (int i = 0; i < libor_rates; i++) history[i] = libor_initial[i];
  float discount = 1.0f;
  for (int step = 0; step < libor_steps; step++) {
    const float *rates = history + step * MOST_RATES;
    float *next = history + (step + 1) * MOST_RATES;
    float shock = libor_root_period * normals[step * paths + path], drift = 0.0f;
    discount /= growth_of(rates[step]);
    for (int i = step + 1; i < libor_rates; i++) {
      float rate = rates[i], volatility = libor_volatility[i - step - 1], weight = libor_period * volatility;
      drift += weight * rate / growth_of(rate);
      next[i] = rate * exp_of(weight * drift + volatility * (shock - 0.5f * weight));
    }
  }
  return discount;
}

// Prices at expiry: bonds that pay 1 after each period, and the swaptions on them. `rates` are those from then on.
static __device__ float price_of(const float *rates, float *bond, unsigned *exercised) {
  float annuity[MOST_TERMS], b = 1.0f, a = 0.0f;
  for (int i = 0; i < libor_longest; i++) {
    b /= growth_of(rates[i]);
    a += libor_period * b;
    bond[i] = b;
    annuity[i] = a;
  }
  float price = 0.0f;
  *exercised = 0;
  for (int i = 0; i < SWAPTIONS; i++) {
    int last = libor_terms[i] - 1;
    float swap = bond[last] + libor_strikes[i] * annuity[last] - 1.0f;
    if (swap < 0.0f) {
      price -= 100.0f * swap;
      *exercised |= 1u << i;
    }
  }
  return price;
}

// How today's price answers to each of the rates from expiry on: price_of in reverse.
static __device__ void price_back(const float *rates, const float *bond, unsigned exercised, float discount, float *changes) {
  float of_bond[MOST_TERMS], of_annuity[MOST_TERMS];
  for (int i = 0; i < libor_longest; i++) of_bond[i] = of_annuity[i] = 0.0f;
  for (int i = 0; i < SWAPTIONS; i++) {
    if ((exercised >> i & 1) == 0) continue;
    of_bond[libor_terms[i] - 1] -= 100.0f * discount;
    of_annuity[libor_terms[i] - 1] -= 100.0f * discount * libor_strikes[i];
  }
  float later_bond = 0.0f, later_annuity = 0.0f;
  for (int i = libor_longest - 1; i >= 0; i--) {
    float growth = growth_of(rates[i]);
    later_annuity += of_annuity[i];
    later_bond = (later_bond + of_bond[i] + libor_period * later_annuity) / growth;
    changes[i] = -libor_period * later_bond * bond[i];
  }
}

// How the price answers to each rate before the first step, given how it does to each after the last: go_forward in reverse.
static __device__ void go_back(const float *history, float price, float *changes) {
  for (int step = libor_steps - 1; step >= 0; step--) {
    const float *rates = history + step * MOST_RATES, *next = rates + MOST_RATES;
    float later = 0.0f;
    for (int i = libor_rates - 1; i > step; i--) {
      float weight = libor_period * libor_volatility[i - step - 1], growth = growth_of(rates[i]);
      float change = changes[i] * next[i];
      later += weight * change;
      changes[i] = change / rates[i] + later * weight / (growth * growth);
    }
    changes[step] = -price * libor_period / growth_of(rates[step]);
  }
}

extern "C" __global__ void libor_paths(const float *normals, float *price, float *greek, unsigned *exercised, int paths) {
  int path = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (path >= paths) return;
  float history[(MOST_STEPS + 1) * MOST_RATES], bond[MOST_TERMS], changes[MOST_RATES];
  unsigned which;
  float discount = go_forward(history, normals, path, paths);
  const float *expiry = history + libor_steps * MOST_RATES + libor_steps;
  float value = discount * price_of(expiry, bond, &which);
  for (int i = libor_steps + libor_longest; i < libor_rates; i++) changes[i] = 0.0f;
  price_back(expiry, bond, which, discount, changes + libor_steps);
  go_back(history, value, changes);
  float sum = 0.0f;
  for (int i = 0; i < libor_rates; i++) sum += changes[i];
  price[path] = value;
  greek[path] = sum;
  exercised[path] = which;
}
