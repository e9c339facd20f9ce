// Ways to place queens so that none attacks another: the host has placed the first rows in every way; a thread takes such a board and
// counts by backtracking how the rows left can be filled. Its stack lies in shared memory, a bit per column in each word.
#include "../cuda.h"

enum { THREADS = 96, MOST_ROWS = 10 };

struct Board {
  unsigned columns;     // taken
  unsigned left, right; // attacked in the next row along the diagonals
};

// The stacks of a block's threads, a row of the board each; a thread's lie at the same index in all four arrays.
struct Stacks {
  unsigned columns[THREADS][MOST_ROWS], left[THREADS][MOST_ROWS], right[THREADS][MOST_ROWS], queen[THREADS][MOST_ROWS];
};

extern "C" __global__ void nqueens(const Board *boards, unsigned count, int rows, unsigned all, unsigned *solutions) {
  __shared__ Stacks stacks;
  __shared__ unsigned sum[THREADS];
  unsigned t = threadIdx.x, i = blockIdx.x * THREADS + t, found = 0;
  if (i < count) {
    unsigned columns = boards[i].columns, left = boards[i].left, right = boards[i].right, queen = 1;
    int row = 0;
    for (;;) {
      if (queen > all) { // every column was tried: move the queen of the row before
        if (row == 0) break;
        row--;
        columns = stacks.columns[t][row];
        left = stacks.left[t][row];
        right = stacks.right[t][row];
        queen = stacks.queen[t][row] << 1;
      } else if (queen & (columns | left | right)) {
        queen <<= 1;
      } else if (row == rows - 1) {
        found++;
        queen <<= 1;
      } else {
        stacks.columns[t][row] = columns;
        stacks.left[t][row] = left;
        stacks.right[t][row] = right;
        stacks.queen[t][row] = queen;
        columns |= queen;
        left = (left | queen) << 1;
        right = (right | queen) >> 1;
        row++;
        queen = 1;
      }
    }
  }
  sum[t] = found;
  for (unsigned half = THREADS / 2; half >= 3; half /= 2) {
    __syncthreads();
    if (t < half) sum[t] += sum[t + half];
  }
  __syncthreads();
  if (t == 0) solutions[blockIdx.x] = sum[0] + sum[1] + sum[2];
}
