// Separable convolution of an image with a kernel of radius 8: along the rows, then along the columns; zeros outside the image.
// A block stages its part of the image and a halo in shared memory; a thread computes eight pixels. Weights are constant.
#include "../cuda.h"

enum { RADIUS = 8, RESULTS = 8 };                   // results of a thread
enum { ROWS_X = 16, ROWS_Y = 4, COLUMNS_X = 16, COLUMNS_Y = 8 }; // the blocks' shapes

__constant__ float convolution_weights[2 * RADIUS + 1];

extern "C" __global__ void convolution_rows(const float *in, float *out, int width) {
  // A strip as wide as the results and one block's width on either side, of which the radius is used.
  __shared__ float strip[ROWS_Y][(RESULTS + 2) * ROWS_X];
  int tx = (int)threadIdx.x, ty = (int)threadIdx.y;
  int x0 = ((int)blockIdx.x * RESULTS - 1) * ROWS_X + tx, y = (int)blockIdx.y * ROWS_Y + ty;
  const float *row = in + y * width;
#pragma unroll
  for (int i = 0; i < RESULTS + 2; i++) {
    int x = x0 + i * ROWS_X;
    bool inside = (i > 0 || x >= 0) && (i <= RESULTS || x < width);
    strip[ty][tx + i * ROWS_X] = inside ? row[x] : 0.0f;
  }
  __syncthreads();
#pragma unroll 1 // eight times the code would not fit the instruction cache
  for (int i = 1; i <= RESULTS; i++) {
    float sum = 0.0f;
#pragma unroll
    for (int j = -RADIUS; j <= RADIUS; j++) sum += convolution_weights[RADIUS - j] * strip[ty][tx + i * ROWS_X + j];
    out[y * width + x0 + i * ROWS_X] = sum;
  }
}

extern "C" __global__ void convolution_columns(const float *in, float *out, int width, int height) {
  // The strip lies on its side; one more word a column spreads the columns over the banks.
  __shared__ float strip[COLUMNS_X][(RESULTS + 2) * COLUMNS_Y + 1];
  int tx = (int)threadIdx.x, ty = (int)threadIdx.y;
  int x = (int)blockIdx.x * COLUMNS_X + tx, y0 = ((int)blockIdx.y * RESULTS - 1) * COLUMNS_Y + ty;
#pragma unroll
  for (int i = 0; i < RESULTS + 2; i++) {
    int y = y0 + i * COLUMNS_Y;
    bool inside = (i > 0 || y >= 0) && (i <= RESULTS || y < height);
    strip[tx][ty + i * COLUMNS_Y] = inside ? in[y * width + x] : 0.0f;
  }
  __syncthreads();
#pragma unroll 1 // eight times the code would not fit the instruction cache
  for (int i = 1; i <= RESULTS; i++) {
    float sum = 0.0f;
#pragma unroll
    for (int j = -RADIUS; j <= RADIUS; j++) sum += convolution_weights[RADIUS - j] * strip[tx][ty + i * COLUMNS_Y + j];
    out[(y0 + i * COLUMNS_Y) * width + x] = sum;
  }
}
