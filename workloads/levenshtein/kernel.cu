// Edit distances of pairs of words (Levenshtein), one pair a block. The table is filled along anti-diagonals, whose last three lie in
// global memory; the cells of one are independent and are dealt to the threads.
#include "../cuda.h"

struct Pair {
  unsigned a, b;               // where the words begin in the text
  unsigned a_length, b_length; // at least 1
};

extern "C" __global__ void levenshtein(const unsigned char *text, const Pair *pairs, unsigned *rows, unsigned *distance, unsigned row_length) {
  const Pair pair = pairs[blockIdx.x];
  const unsigned char *a = text + pair.a, *b = text + pair.b;
  unsigned *older = rows + blockIdx.x * 3 * row_length, *old = older + row_length, *now = old + row_length;
  // Cell i of diagonal d is the distance of the first i letters of a and the first d - i of b.
  for (unsigned d = 0; d <= pair.a_length + pair.b_length; d++) {
    unsigned first = d > pair.b_length ? d - pair.b_length : 0, last = d < pair.a_length ? d : pair.a_length;
    for (unsigned i = first + threadIdx.x; i <= last; i += blockDim.x) {
      unsigned j = d - i, best;
      if (i == 0 || j == 0) {
        best = d;
      } else {
        best = older[i - 1] + (a[i - 1] != b[j - 1]);
        unsigned shorter = (old[i - 1] < old[i] ? old[i - 1] : old[i]) + 1;
        if (shorter < best) best = shorter;
      }
      now[i] = best;
    }
    unsigned *next = older;
    older = old;
    old = now;
    now = next;
    __syncthreads();
  }
  if (threadIdx.x == 0) distance[blockIdx.x] = old[pair.a_length];
}
