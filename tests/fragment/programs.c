// What the fragment programs of workloads/fragment compute, written again for the host: programs NAME FRAME. FRAME has the colours (three floats
// for each point) that `redoubt run NAME.fp` has dumped, with the textures that fragment.sh gives: random ones of 64 x 64 texels, seed 1.
#include "base/base.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { EDGE = 64, SEED = 1 };

// A component of a texel, as `--texture N=random:64x64` makes it.
static float texel(uint32_t texture, int x, int y, uint32_t component) {
  uint32_t column = (uint32_t)(x + EDGE) % EDGE, row = (uint32_t)(y + EDGE) % EDGE;
  return random_unit_f32(random_draw(SEED + texture, ((uint64_t)row * EDGE + column) * 4 + component, 0));
}

// The domain is as large as the textures: point (x, y) is texel (x, y). Edges repeat.
static double convolution(int x, int y, uint32_t k) {
  static const double weight[5] = {1, 4, 6, 4, 1};
  double sum = 0;
  for (int j = 0; j < 5; j++) {
    for (int i = 0; i < 5; i++) sum += weight[i] * weight[j] * (double)texel(0, x + i - 2, y + j - 2, k);
  }
  return sum / 256;
}

static double jacobi(int x, int y, uint32_t k) {
  double sum =
      (double)texel(0, x + 1, y, k) + (double)texel(0, x - 1, y, k) + (double)texel(0, x, y + 1, k) + (double)texel(0, x, y - 1, k);
  return (sum - (double)texel(1, x, y, k)) / 4;
}

// A pass of sixteen products, from the first on.
static double matmul(int x, int y, uint32_t k) {
  double sum = (double)texel(2, x, y, k);
  for (int i = 0; i < 16; i++) sum += (double)texel(0, i, y, k) * (double)texel(1, x, i, k);
  return sum;
}

// In single precision, as the points near the edge of the set need.
static double mandelbrot(int x, int y, uint32_t k) {
  (void)k;
  float a = ((float)x + 0.5f) / EDGE - 0.5f, b = ((float)y + 0.5f) / EDGE - 0.5f, u = 0, v = 0;
  volatile float c = a * 3.0f, d = b * 3.0f, square, twice;
  c = c + -0.5f;
  int steps = 0;
  for (; steps < 64; steps++) {
    volatile float uu = u * u, vv = v * v, length = uu + vv;
    if (length > 4) break;
    twice = u * v;
    square = uu - vv;
    u = square + c;
    twice = twice * 2.0f;
    v = twice + d;
  }
  return steps / 64.0;
}

int main(int count, char **words) {
  static const struct {
    const char *name;
    double (*value)(int x, int y, uint32_t k);
  } programs[] = {{"convolution", convolution}, {"jacobi", jacobi}, {"matmul", matmul}, {"mandelbrot", mandelbrot}};
  FILE *file = count == 3 ? fopen(words[2], "rb") : NULL;
  float *frame = calloc((size_t)EDGE * EDGE * 3, sizeof *frame);
  if (file == NULL || frame == NULL || fread(frame, sizeof *frame, (size_t)EDGE * EDGE * 3, file) != (size_t)EDGE * EDGE * 3) return 2;
  fclose(file);
  int code = 2;
  for (size_t p = 0; p < COUNT_OF(programs); p++) {
    if (strcmp(words[1], programs[p].name) != 0) continue;
    code = 0;
    for (int i = 0; i < EDGE * EDGE * 3; i++) {
      double wanted = programs[p].value(i / 3 % EDGE, i / 3 / EDGE, (uint32_t)(i % 3));
      if (fabs(wanted - (double)frame[i]) <= 1e-5 * (1 + fabs(wanted))) continue;
      printf("%s: point %d, %d: %.9g, not %.9g\n", words[1], i / 3 % EDGE, i / 3 / EDGE, (double)frame[i], wanted);
      code = 1;
      break;
    }
  }
  free(frame);
  return code;
}
