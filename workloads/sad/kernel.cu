// Motion search of H.264: the sum of absolute differences (SAD) of every 4 x 4 block of the current frame with the reference frame
// at displacements of up to 16 pixels (33 x 33), then the sums of larger blocks by adding those of their parts. The SADs of a block
// lie together, two to a word: a SAD of 256 pixels of 8 bits still fits 16 bits, so that words add without a carry.
#include "../cuda.h"

enum {
  SIDE = 33,   // displacements of -16 to 16 along x
  THREADS = 61 // 18 displacements a thread when there are 33 along y too
};

// A block of threads per 4 x 4 block. The reference frame is larger by the reach of the displacements on each side and comes as a
// texture of `pitch` a row. The SADs lie by macroblock of 16 x 16, in it by quarters of 8 x 8, in them by their four blocks. The
// number of positions is odd, and each block has room for one more.
extern "C" __global__ void sad_4x4(const unsigned char *current, Texture reference, unsigned short *sads, unsigned width, unsigned pitch, unsigned positions) {
  __shared__ int block[16];
  unsigned t = threadIdx.x, bx = blockIdx.x, by = blockIdx.y;
  if (t < 16) block[t] = current[(4 * by + t / 4) * width + 4 * bx + t % 4];
  __syncthreads();
  int pixels[16];
  for (int i = 0; i < 16; i++) pixels[i] = block[i];
  unsigned macroblock = by / 4 * (width / 16) + bx / 4;
  unsigned quarter = by / 2 % 2 * 2 + bx / 2 % 2, part = by % 2 * 2 + bx % 2;
  unsigned short *out = sads + ((macroblock * 4 + quarter) * 4 + part) * (positions + 1);
  for (unsigned position = t; position < positions; position += THREADS) {
    unsigned texel = (4 * by + position / SIDE) * pitch + 4 * bx + position % SIDE;
    int sum = 0;
#pragma unroll
    for (unsigned i = 0; i < 16; i++) {
      int difference = pixels[i] - (int)fetch_uint(reference, (int)(texel + i / 4 * pitch + i % 4));
      sum += difference < 0 ? -difference : difference;
    }
    out[position] = (unsigned short)sum;
  }
}

// A warp adds four blocks, which lie together, to two that are twice as wide, two that are twice as high, and one that is both.
static __device__ void merge(const unsigned *parts, unsigned *wide, unsigned *high, unsigned *whole, int words) {
  for (int i = (int)threadIdx.x; i < words; i += 32) {
    unsigned a = parts[i], b = parts[i + words], c = parts[i + 2 * words], d = parts[i + 3 * words];
    wide[i] = a + b;
    wide[i + words] = c + d;
    high[i] = a + c;
    high[i + words] = b + d;
    whole[i] = a + b + c + d;
  }
}

// A block of threads per macroblock, a warp per quarter: blocks of 8 x 4, 4 x 8 and 8 x 8.
extern "C" __global__ void sad_merge_8(const unsigned *sads_4x4, unsigned *sads_8x4, unsigned *sads_4x8, unsigned *sads_8x8, int words) {
  int at = (int)((blockIdx.y * gridDim.x + blockIdx.x) * 4 + threadIdx.y) * words;
  merge(sads_4x4 + 4 * at, sads_8x4 + 2 * at, sads_4x8 + 2 * at, sads_8x8 + at, words);
}

// A warp per macroblock: blocks of 16 x 8, 8 x 16 and 16 x 16.
extern "C" __global__ void sad_merge_16(const unsigned *sads_8x8, unsigned *sads_16x8, unsigned *sads_8x16, unsigned *sads_16x16, int words) {
  int at = (int)(blockIdx.y * gridDim.x + blockIdx.x) * words;
  merge(sads_8x8 + 4 * at, sads_16x8 + 2 * at, sads_8x16 + 2 * at, sads_16x16 + at, words);
}
