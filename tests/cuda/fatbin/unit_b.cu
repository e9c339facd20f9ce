// The other relocatable unit.
__device__ int offset = 100;
static __device__ int own = 1000;
__device__ int twice(int x) { return 2 * x + own; }
