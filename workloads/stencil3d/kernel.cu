// One step of a 7-point stencil in three dimensions (explicit diffusion); values at the faces of the box stay. A block owns
// 16 x 16 columns and sweeps up through the planes. The plane it is at lies in shared memory with its halo, which lanes at the
// rim of the tile bring; the values below and above are in registers.
#include "../cuda.h"

enum { TILE = 16 };

extern "C" __global__ void stencil3d(const float *u, float *next, int width, int height, int depth, float centre, float around) {
  __shared__ float plane[TILE + 2][TILE + 2];
  int tx = (int)threadIdx.x + 1, ty = (int)threadIdx.y + 1;
  int x = (int)blockIdx.x * TILE + tx, y = (int)blockIdx.y * TILE + ty; // faces need no threads of their own
  bool exists = x < width && y < height, inside = x < width - 1 && y < height - 1;
  int cell = y * width + x, step = width * height;
  float below = exists ? u[cell] : 0.0f, here = exists ? u[cell + step] : 0.0f;
  for (int z = 1; z < depth - 1; z++) {
    cell += step;
    plane[ty][tx] = here;
    if (inside) {
      if (tx == 1) plane[ty][0] = u[cell - 1];
      if (tx == TILE) plane[ty][TILE + 1] = u[cell + 1];
      if (ty == 1) plane[0][tx] = u[cell - width];
      if (ty == TILE) plane[TILE + 1][tx] = u[cell + width];
    }
    __syncthreads();
    float above = exists ? u[cell + step] : 0.0f;
    if (inside) {
      float beside = plane[ty][tx - 1] + plane[ty][tx + 1] + plane[ty - 1][tx] + plane[ty + 1][tx];
      next[cell] = centre * here + around * (beside + below + above);
    }
    __syncthreads();
    below = here;
    here = above;
  }
}
