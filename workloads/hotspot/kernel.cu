// Heat on a chip: one explicit step of the heat equation with a power source, tile and halo in shared memory.
#include "../cuda.h"

enum { TILE = 16, HALO = TILE + 2 };

extern "C" __global__ void hotspot_step(const float *temperature, const float *power, float *next, int width, int height, float conductance, float leak, float ambient) {
  __shared__ float tile[HALO][HALO];
  int x0 = (int)(blockIdx.x * TILE) - 1, y0 = (int)(blockIdx.y * TILE) - 1;
  for (int i = (int)(threadIdx.y * TILE + threadIdx.x); i < HALO * HALO; i += TILE * TILE) {
    int x = x0 + i % HALO, y = y0 + i / HALO;
    x = x < 0 ? 0 : x >= width ? width - 1 : x;
    y = y < 0 ? 0 : y >= height ? height - 1 : y;
    tile[i / HALO][i % HALO] = temperature[y * width + x];
  }
  __syncthreads();
  int tx = (int)threadIdx.x + 1, ty = (int)threadIdx.y + 1;
  int x = x0 + tx, y = y0 + ty;
  if (x >= width || y >= height) return;
  float here = tile[ty][tx];
  float flow = tile[ty][tx - 1] + tile[ty][tx + 1] + tile[ty - 1][tx] + tile[ty + 1][tx] - 4.0f * here;
  next[y * width + x] = here + conductance * flow + power[y * width + x] + leak * (ambient - here);
}
