// One of two relocatable units: the library links their PTX.
extern __device__ int offset;
__device__ int twice(int x);
static __device__ int own = 1; // the other unit has one of the same name

extern "C" __global__ void linked(int *out) { out[threadIdx.x] = twice(static_cast<int>(threadIdx.x)) + offset + own; }
