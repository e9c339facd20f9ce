// One step of training a neural network with one hidden layer of 16 units: the sums of products that enter the hidden units, and
// the update of their weights. Inputs and units are numbered from 1; row 0 of the weights is the bias, column 0 is not used.
#include "../cuda.h"

enum { TILE = 16, ROW = TILE + 1 };

// A block takes 16 inputs. Their products are summed by a tree in shared memory, one column a hidden unit.
extern "C" __global__ void backprop_forward(const float *input, const float *weights, float *partial) {
  __shared__ float node[TILE], product[TILE][TILE];
  unsigned x = threadIdx.x, y = threadIdx.y;
  unsigned from = blockIdx.y * TILE + y + 1;
  if (x == 0) node[y] = input[from];
  __syncthreads();
  product[y][x] = weights[from * ROW + x + 1];
  __syncthreads();
  product[y][x] *= node[y];
  for (unsigned stride = 1; stride < TILE; stride *= 2) {
    __syncthreads();
    if (y % (2 * stride) == 0) product[y][x] += product[y + stride][x];
  }
  __syncthreads();
  if (x == 0) partial[blockIdx.y * TILE + y] = product[0][y];
}

static __device__ void update(float *weight, float *change, float step, float momentum) {
  *change = step + momentum * *change;
  *weight += *change;
}

extern "C" __global__ void backprop_update(const float *input, const float *delta, float *weights, float *changes, float rate, float momentum) {
  unsigned unit = threadIdx.x + 1;
  unsigned from = blockIdx.y * TILE + threadIdx.y + 1;
  unsigned at = from * ROW + unit;
  update(&weights[at], &changes[at], rate * delta[unit] * input[from], momentum);
  if (blockIdx.y == 0 && threadIdx.y == 0) update(&weights[unit], &changes[unit], rate * delta[unit], momentum);
}
