// Best global alignment of two sequences (Needleman and Wunsch): the table of scores in tiles of 16 x 16, one block of 16 threads a
// tile. Tiles of one anti-diagonal are independent; so are the cells of an anti-diagonal in a tile.
#include "../cuda.h"

enum { TILE = 16 };

static __device__ int larger(int a, int b) { return a > b ? a : b; }

static __device__ void fill(int (*cell)[TILE + 1], int (*match)[TILE], int x, int y, int penalty) {
  int both = cell[y][x] + match[y][x], gap = larger(cell[y + 1][x], cell[y][x + 1]) - penalty;
  cell[y + 1][x + 1] = larger(both, gap);
}

// Row 0 and column 0 of the table are its edges, so it has side + 1 of each; `similarity` has side.
static __device__ __forceinline__ void tile(int *score, const int *similarity, unsigned side, int penalty, unsigned tile_x, unsigned tile_y) {
  __shared__ int cell[TILE + 1][TILE + 1], match[TILE][TILE];
  int t = (int)threadIdx.x, row = (int)side + 1, column[TILE];
  int *corner = score + tile_y * TILE * row + tile_x * TILE;
  similarity += tile_y * TILE * side + tile_x * TILE;
#pragma unroll
  for (int y = 0; y < TILE; y++) column[y] = similarity[y * (int)side + t];
  if (t == 0) cell[0][0] = corner[0];
  cell[t + 1][0] = corner[(t + 1) * row];
  cell[0][t + 1] = corner[t + 1];
#pragma unroll
  for (int y = 0; y < TILE; y++) match[y][t] = column[y];
  __syncthreads();
  for (int d = 0; d < TILE; d++) {
    if (t <= d) fill(cell, match, t, d - t, penalty);
    __syncthreads();
  }
  for (int d = TILE - 1; d > 0; d--) {
    if (t < d) fill(cell, match, TILE - d + t, TILE - 1 - t, penalty);
    __syncthreads();
  }
#pragma unroll
  for (int y = 1; y <= TILE; y++) corner[y * row + t + 1] = cell[y][t + 1];
}

// The anti-diagonals up to the longest: as many blocks as the diagonal has tiles.
extern "C" __global__ void needleman_upper(int *score, const int *similarity, unsigned side, int penalty) {
  tile(score, similarity, side, penalty, blockIdx.x, gridDim.x - 1 - blockIdx.x);
}

// Those after it.
extern "C" __global__ void needleman_lower(int *score, const int *similarity, unsigned side, int penalty) {
  unsigned last = side / TILE - 1;
  tile(score, similarity, side, penalty, last - blockIdx.x, last + 1 - gridDim.x + blockIdx.x);
}
