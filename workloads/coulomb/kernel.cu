// Coulomb potential of point charges on a plane of a grid: the sum of charge / distance over the atoms, which lie in
// constant memory. A thread computes eight points of a row, 16 apart, so that the stores of a half-warp are contiguous.
#include "../cuda.h"

enum { BLOCK_X = 16, POINTS = 8, MOST_ATOMS = 4000 };

__constant__ float4 coulomb_atoms[MOST_ATOMS]; // x, y, square of the distance to the plane, charge

extern "C" __global__ void coulomb_plane(float *potential, float spacing, int count) {
  int column = (int)(blockIdx.x * BLOCK_X * POINTS + threadIdx.x), row = (int)(blockIdx.y * blockDim.y + threadIdx.y);
  float x = spacing * column, y = spacing * row, step = spacing * BLOCK_X;
  float sum[POINTS] = {0};
  for (int i = 0; i < count; i++) {
    float4 atom = coulomb_atoms[i];
    float dx = x - atom.x, dy = y - atom.y;
    float off_row = fmaf(dy, dy, atom.z);
    for (int point = 0; point < POINTS; point++) {
      sum[point] = fmaf(atom.w, reciprocal_root_approximate(fmaf(dx, dx, off_row)), sum[point]);
      dx += step;
    }
  }
  float *out = potential + row * (int)(gridDim.x * BLOCK_X * POINTS) + column;
  for (int point = 0; point < POINTS; point++) out[point * BLOCK_X] += sum[point];
}
