// What the kernels of cuBLAS are given: one struct each, the same for the host (C) and for kernels.cu.
#ifndef REDOUBT_LIBRARIES_BLAS_ARGUMENTS_H
#define REDOUBT_LIBRARIES_BLAS_ARGUMENTS_H

enum {                // sizes that decide the order of sums
  BLAS_TILE = 32,     // a block computes so many rows and columns of a product
  BLAS_SIDE = 16,     // its threads in each direction: a thread has 2 x 2 elements
  BLAS_DEPTH = 16,    // steps of a product whose factors are in shared memory
  BLAS_ROWS = 128,    // threads of a block of gemv_n, one for each row
  BLAS_LANES = 32,    // threads that share a column in gemv_t
  BLAS_COLUMNS = 8,   // columns of a block of gemv_t
  BLAS_SOLVERS = 64,  // threads of a block of trsm, one for each vector
  BLAS_THREADS = 256, // of a block of the vector functions
  BLAS_BLOCKS = 64,   // the most blocks of a sum
};

enum { BLAS_F32, BLAS_F64, BLAS_F16, BLAS_BF16 };

// alpha or beta. In device pointer mode it is read from memory when the kernel runs.
typedef struct BlasScalar {
  const void *at;          // in device memory; NULL: `bits` has it
  unsigned long long bits; // the number's own bits, lowest first
  long long kind;          // BLAS_F32, ...
} BlasScalar;

typedef struct BlasGemm { // c = alpha * op(a) * op(b) + beta * c, column-major
  const void *a, *b;
  void *c;
  long long m, n, k, a_leading, b_leading, c_leading;
  long long a_step, b_step, c_step;    // elements from a matrix of the batch to the next
  long long first_column, first_batch; // of this launch: a grid has room for 65,535
  BlasScalar alpha, beta;
  int a_transposed, b_transposed;
  long long arrays;   // a, b and c are arrays of pointers, one for each of the batch
  long long triangle; // the part of c that is computed
} BlasGemm;

enum { BLAS_ALL, BLAS_LOWER, BLAS_UPPER }; // of a matrix

typedef struct BlasSum { // c = alpha * a + beta * b (geam), c = c + alpha * a * b (ger): element by element
  const void *a, *b;
  void *c;
  long long m, n, a_row, a_column, b_row, b_column, c_leading; // strides from a row or column to the next
  BlasScalar alpha, beta;
} BlasSum;

typedef struct BlasSolve { // a * x = alpha * b for each of `count` vectors b, which become x
  const void *a;
  void *b;
  long long size, count, a_row, a_column, b_row, b_next; // strides
  BlasScalar alpha;
  long long backward; // a is upper triangular: the last row first
  long long unit;     // its diagonal counts as 1 and is not read
} BlasSolve;

typedef struct BlasGemv { // y = alpha * op(a) * x + beta * y; a has m rows and n columns
  const void *a, *x;
  void *y;
  long long m, n, leading, x_stride, y_stride; // strides in elements; x and y point to the first element used
  long long a_step, x_step, y_step, first_batch;
  BlasScalar alpha, beta;
  long long arrays;
  long long x_first, y_first; // of the first element used, from the pointer that the program gives
} BlasGemv;

typedef struct BlasVector { // functions of one or two vectors
  const void *x;
  void *y;
  long long n, x_stride, y_stride;
  BlasScalar alpha;
  void *partials;      // BLAS_BLOCKS numbers; indices after them
  void *result;        // in device memory
  long long blocks;    // for the last kernel of a sum: how many partials there are
  long long wide;      // amax: the result has 64 bits
  long long least;     // amin instead of amax
  const void *largest; // nrm2 in f64: bits of the largest absolute value
} BlasVector;

#endif
