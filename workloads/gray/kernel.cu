// RGB image to gray levels with the weights of ITU-R BT.601, one pixel a thread.
#include "../cuda.h"

extern "C" __global__ void gray(const unsigned char *rgb, unsigned char *level, unsigned width, unsigned height) {
  unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  unsigned pixel = y * width + x;
  float value = 0.299f * (float)rgb[3 * pixel] + 0.587f * (float)rgb[3 * pixel + 1] + 0.114f * (float)rgb[3 * pixel + 2];
  level[pixel] = (unsigned char)(value + 0.5f);
}
