// A picture of spheres and planes by ray tracing, a thread per pixel: shadows, mirrors, a bounded number of reflections.
// The scene lies in constant memory. Rays of a warp meet different things, so its threads part.
#include "../cuda.h"

#include "trace.h"

__constant__ Scene scene;

extern "C" __global__ void raytrace(unsigned *picture, unsigned width, unsigned height) {
  unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) picture[y * width + x] = trace_pixel(&scene, x, y, width, height);
}
