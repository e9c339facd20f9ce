// A time step of column microphysics (column.h), a thread per column, from the top level down. One long kernel with many
// registers; all data are in global memory, level by level.
#include "../cuda.h"

#include "column.h"

// state: temperature, vapour, cloud, ice, rain and snow, each of levels * columns;
// air: density, pressure and thickness likewise; ground: rain and snow of each column.
extern "C" __global__ void weather_step(float *state, const float *air, float *ground, int width, int height, int levels, float seconds, int parts) {
  int x = (int)(blockIdx.x * blockDim.x + threadIdx.x), y = (int)(blockIdx.y * blockDim.y + threadIdx.y);
  if (x >= width || y >= height) return;
  int columns = width * height, field = levels * columns, column = y * width + x;
  Fall fall = {0.0f, 0.0f, 0.0f};
  for (int i = (levels - 1) * columns + column; i >= 0; i -= columns) {
    Level l = {state[i],
               state[i + field],
               state[i + 2 * field],
               state[i + 3 * field],
               state[i + 4 * field],
               state[i + 5 * field],
               air[i],
               air[i + field],
               air[i + 2 * field]};
    step_level(&l, &fall, seconds, parts);
    state[i] = l.temperature;
    state[i + field] = l.vapour;
    state[i + 2 * field] = l.cloud;
    state[i + 3 * field] = l.ice;
    state[i + 4 * field] = l.rain;
    state[i + 5 * field] = l.snow;
  }
  ground[column] += fall.rain;
  ground[column + columns] += fall.snow + fall.ice;
}
