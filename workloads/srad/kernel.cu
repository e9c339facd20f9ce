// Speckle-reducing anisotropic diffusion (Yu and Acton 2002): a step computes the differences to the four neighbours and a coefficient
// of diffusion for each pixel, then moves the pixels. Beyond an edge of the image lies the pixel at the edge.
#include "../cuda.h"

enum { TILE = 16 };

// The tile with a rim of one pixel in shared memory; the rim's corners are not used.
extern "C" __global__ void srad_coefficient(const float *image, float *north, float *south, float *west, float *east, float *coefficient, int side,
                                            float speckle) {
  __shared__ float tile[TILE + 2][TILE + 2];
  int tx = (int)threadIdx.x + 1, ty = (int)threadIdx.y + 1;
  int x = (int)(blockIdx.x * TILE + threadIdx.x), y = (int)(blockIdx.y * TILE + threadIdx.y), at = y * side + x;
  tile[ty][tx] = image[at];
  if (ty == 1) tile[0][tx] = image[y > 0 ? at - side : at];
  if (ty == TILE) tile[TILE + 1][tx] = image[y < side - 1 ? at + side : at];
  if (tx == 1) tile[ty][0] = image[x > 0 ? at - 1 : at];
  if (tx == TILE) tile[ty][TILE + 1] = image[x < side - 1 ? at + 1 : at];
  __syncthreads();
  float here = tile[ty][tx];
  float to_north = tile[ty - 1][tx] - here, to_south = tile[ty + 1][tx] - here;
  float to_west = tile[ty][tx - 1] - here, to_east = tile[ty][tx + 1] - here;
  float gradient = (to_north * to_north + to_south * to_south + to_west * to_west + to_east * to_east) / (here * here);
  float laplacian = (to_north + to_south + to_west + to_east) / here;
  float base = 1.0f + 0.25f * laplacian;
  float variation = (0.5f * gradient - 0.0625f * laplacian * laplacian) / (base * base);
  float c = 1.0f / (1.0f + (variation - speckle) / (speckle * (1.0f + speckle)));
  north[at] = to_north;
  south[at] = to_south;
  west[at] = to_west;
  east[at] = to_east;
  coefficient[at] = c < 0 ? 0 : c > 1 ? 1 : c;
}

// The tile with one more row and column of coefficients in shared memory.
extern "C" __global__ void srad_update(float *image, const float *north, const float *south, const float *west, const float *east,
                                       const float *coefficient, int side, float rate) {
  __shared__ float tile[TILE + 1][TILE + 1];
  int tx = (int)threadIdx.x, ty = (int)threadIdx.y;
  int x = (int)(blockIdx.x * TILE + threadIdx.x), y = (int)(blockIdx.y * TILE + threadIdx.y), at = y * side + x;
  tile[ty][tx] = coefficient[at];
  if (ty == TILE - 1) tile[TILE][tx] = coefficient[y < side - 1 ? at + side : at];
  if (tx == TILE - 1) tile[ty][TILE] = coefficient[x < side - 1 ? at + 1 : at];
  __syncthreads();
  float here = tile[ty][tx];
  float divergence = here * (north[at] + west[at]) + tile[ty + 1][tx] * south[at] + tile[ty][tx + 1] * east[at];
  image[at] += 0.25f * rate * divergence;
}
