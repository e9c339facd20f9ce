// Heat on a chip: explicit steps of the heat equation with a power source. A launch takes several steps (a pyramid): a block
// reads its tile once, and each step is right for one ring of cells less. Blocks overlap, so that what remains of them covers
// the chip. Lanes at the rim of a block idle in every step.
#include "../cuda.h"

enum { TILE = 16 };

static __device__ int min(int a, int b) { return a < b ? a : b; }

// At most (TILE - 1) / 2 steps.
extern "C" __global__ void hotspot_steps(const float *temperature, const float *power, float *next, int width, int height, int steps, float conductance, float leak, float ambient) {
  __shared__ float now[TILE][TILE];
  __shared__ float source[TILE][TILE];
  __shared__ float after[TILE][TILE];
  int tx = (int)threadIdx.x, ty = (int)threadIdx.y;
  int inner = TILE - 2 * steps; // cells of a side that are right after the last step
  int x0 = (int)blockIdx.x * inner - steps, y0 = (int)blockIdx.y * inner - steps;
  int x = x0 + tx, y = y0 + ty, cell = y * width + x;
  bool on_chip = x >= 0 && x < width && y >= 0 && y < height;
  if (on_chip) {
    now[ty][tx] = temperature[cell];
    source[ty][tx] = power[cell];
  }
  __syncthreads();

  // Neighbours; no heat flows over the edges of the chip.
  int west = x > 0 ? tx - 1 : tx, east = x < width - 1 ? tx + 1 : tx;
  int north = y > 0 ? ty - 1 : ty, south = y < height - 1 ? ty + 1 : ty;
  // How many steps this cell goes along: as many as there are rings of cells around it.
  int life = on_chip ? min(min(tx, TILE - 1 - tx), min(ty, TILE - 1 - ty)) : 0;
  for (int step = 0;; step++) {
    if (step < life) {
      float here = now[ty][tx];
      float flow = now[ty][west] + now[ty][east] + now[north][tx] + now[south][tx] - 4.0f * here;
      after[ty][tx] = here + conductance * flow + source[ty][tx] + leak * (ambient - here);
    }
    __syncthreads();
    if (step == steps - 1) break;
    if (step < life) now[ty][tx] = after[ty][tx];
    __syncthreads();
  }
  if (steps <= life) next[cell] = after[ty][tx];
}
