// Edit distances of pairs of words (Levenshtein), one pair a block. The table of a pair lies in global memory and is filled along
// anti-diagonals: the cells of one are independent and are dealt to the threads, each of which is in another row.
#include "../cuda.h"

struct Pair {
  unsigned a, b;               // where the words begin in the text
  unsigned a_length, b_length; // at least 1
};

static __device__ unsigned smaller(unsigned a, unsigned b) { return a < b ? a : b; }

extern "C" __global__ void levenshtein(const unsigned char *text, const Pair *pairs, unsigned *tables, unsigned *distance, unsigned row) {
  const Pair pair = pairs[blockIdx.x];
  const unsigned char *a = text + pair.a, *b = text + pair.b;
  unsigned *table = tables + blockIdx.x * row * row;
  // Cell (i, j) is the distance of the first i letters of a and the first j of b; diagonal d has those with i + j = d.
  for (unsigned d = 0; d <= pair.a_length + pair.b_length; d++) {
    unsigned first = d > pair.b_length ? d - pair.b_length : 0, last = smaller(d, pair.a_length);
    for (unsigned i = first + threadIdx.x; i <= last; i += blockDim.x) {
      unsigned j = d - i, *cell = table + i * row + j, *above = cell - row;
      if (i == 0 || j == 0)
        *cell = d;
      else
        *cell = smaller(above[-1] + (a[i - 1] != b[j - 1]), smaller(above[0], cell[-1]) + 1);
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) distance[blockIdx.x] = table[pair.a_length * row + pair.b_length];
}
