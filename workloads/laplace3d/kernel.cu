// One Jacobi step of Laplace's equation in three dimensions; values at the faces of the box stay. A block owns a tile of 32 x 4
// columns and walks up through the planes. Three planes of its tile lie in shared memory, each with its halo.
#include "../cuda.h"

enum { TILE_X = 32, TILE_Y = 4, ROW = TILE_X + 2, PLANE = ROW * (TILE_Y + 2), HALO = 2 * TILE_X + 2 * TILE_Y };

extern "C" __global__ void laplace3d(const float *u, float *next, int width, int height, int depth) {
  __shared__ float planes[3 * PLANE];
  int tx = (int)threadIdx.x, ty = (int)threadIdx.y, t = ty * TILE_X + tx;
  int x0 = (int)blockIdx.x * TILE_X, y0 = (int)blockIdx.y * TILE_Y, x = x0 + tx, y = y0 + ty;
  bool active = x < width && y < height;

  // The halo: the first two warps read the rows above and below the tile, some threads of the third the columns beside it.
  int halo_x = t < 2 * TILE_X ? tx : t % 2 == 0 ? -1 : TILE_X;
  int halo_y = t >= 2 * TILE_X ? (t - 2 * TILE_X) / 2 : ty == 0 ? -1 : TILE_Y;
  bool halo = t < HALO && x0 + halo_x >= 0 && x0 + halo_x < width && y0 + halo_y >= 0 && y0 + halo_y < height;
  int place = (ty + 1) * ROW + tx + 1, halo_place = (halo_y + 1) * ROW + halo_x + 1;
  int cell = y * width + x, halo_cell = (y0 + halo_y) * width + x0 + halo_x;

  if (halo) planes[halo_place] = u[halo_cell];
  if (active) planes[place] = u[cell];
  int below = 2 * PLANE, here = 0, above = PLANE; // where the three planes lie; the first has nothing below it
  bool side = x == 0 || x == width - 1 || y == 0 || y == height - 1;
  for (int z = 0; z < depth; z++) {
    if (z + 1 < depth) {
      halo_cell += width * height;
      if (halo) planes[above + halo_place] = u[halo_cell];
      if (active) planes[above + place] = u[cell + width * height];
    }
    __syncthreads();
    if (active) {
      const float *centre = &planes[here + place];
      float value = *centre;
      if (!side && z > 0 && z < depth - 1) {
        value = (centre[-1] + centre[1] + centre[-ROW] + centre[ROW] + planes[below + place] + planes[above + place]) * (1.0f / 6.0f);
      }
      next[cell] = value;
    }
    __syncthreads();
    cell += width * height;
    int free = below;
    below = here;
    here = above;
    above = free;
  }
}
