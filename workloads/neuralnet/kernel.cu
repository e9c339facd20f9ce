// A convolutional network for digits of 29 x 29 pixels, a launch per layer, an image per row of blocks: 6 maps of 13 x 13, then
// maps of 5 x 5, both by 5 x 5 convolutions with stride 2, then two layers that are fully connected. A neuron is a thread;
// blocks of 13 x 13, 5 x 5 and 1 leave warps partly filled. Each neuron's weights begin with its bias.
#include "../cuda.h"

enum {
  IMAGE = 29,
  MAP1 = 13,
  MAPS1 = 6,
  MAP2 = 5,
  KERNEL = 25,
  BATCH = 5,
};

// Where the 25 inputs of a convolution lie, from the first.
#define ROWS(pitch, row) (row) * (pitch), (row) * (pitch) + 1, (row) * (pitch) + 2, (row) * (pitch) + 3, (row) * (pitch) + 4
__constant__ int template1[KERNEL] = {ROWS(IMAGE, 0), ROWS(IMAGE, 1), ROWS(IMAGE, 2), ROWS(IMAGE, 3), ROWS(IMAGE, 4)};
__constant__ int template2[KERNEL] = {ROWS(MAP1, 0), ROWS(MAP1, 1), ROWS(MAP1, 2), ROWS(MAP1, 3), ROWS(MAP1, 4)};

// 1.7159 tanh(2/3 x), after LeCun.
static __device__ float activation(float x) {
  float e = exp2_approximate(x * (4.0f / 3.0f * 1.44269504f));
  return 1.7159f * (1.0f - 2.0f / (e + 1.0f));
}

extern "C" __global__ void neuralnet_1(const float *images, const float *weights, float *out) {
  int x = (int)threadIdx.x, y = (int)threadIdx.y, map = (int)blockIdx.x, image = (int)blockIdx.y;
  const float *in = images + image * IMAGE * IMAGE + 2 * y * IMAGE + 2 * x;
  const float *w = weights + map * (KERNEL + 1);
  float sum = w[0];
  for (int i = 0; i < KERNEL; i++) sum += in[template1[i]] * w[1 + i];
  out[((image * MAPS1 + map) * MAP1 + y) * MAP1 + x] = activation(sum);
}

extern "C" __global__ void neuralnet_2(const float *maps, const float *weights, float *out) {
  int x = (int)threadIdx.x, y = (int)threadIdx.y, map = (int)blockIdx.x, image = (int)blockIdx.y;
  const float *in = maps + image * MAPS1 * MAP1 * MAP1 + 2 * y * MAP1 + 2 * x;
  const float *w = weights + map * (MAPS1 * KERNEL + 1);
  float sum = *w++;
  for (int i = 0; i < KERNEL; i++) {
    const float *at = in + template2[i];
    for (int m = 0; m < MAPS1; m++) sum += at[m * MAP1 * MAP1] * w[m * KERNEL + i];
  }
  out[((image * (int)gridDim.x + map) * MAP2 + y) * MAP2 + x] = activation(sum);
}

// A block is one thread. gridDim.x neurons, each with weights for `count` inputs.
extern "C" __global__ void neuralnet_full(const float *inputs, const float *weights, float *out, int count) {
  int neuron = (int)blockIdx.x, image = (int)blockIdx.y, i = 0;
  const float *in = inputs + image * count;
  const float *w = weights + neuron * (count + 1);
  float sum = *w++;
  for (; i + BATCH <= count; i += BATCH) {
    float a[BATCH], b[BATCH]; // loads first, so that they wait for memory together
    for (int k = 0; k < BATCH; k++) a[k] = in[i + k];
    for (int k = 0; k < BATCH; k++) b[k] = w[i + k];
    for (int k = 0; k < BATCH; k++) sum += a[k] * b[k];
  }
  for (; i < count; i++) sum += in[i] * w[i];
  out[image * (int)gridDim.x + neuron] = activation(sum);
}
