// Kernels of the committed fat binaries; make.sh builds them, src/cudart/test_registration.c runs them.
__device__ int table[4] = {1, 2, 3, 4};
__constant__ int factor = 3;
__managed__ int calls = 0;

extern "C" __global__ void scale(int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = table[i % 4] * factor;
  if (i == 0) calls++;
}

// What the library chose among several architectures.
extern "C" __global__ void architecture(int *out) { *out = __CUDA_ARCH__ / 10; }

// Parameters of many sizes, at the offsets that PTX gives them.
struct Triple {
  char a;
  double b;
  short c;
};
extern "C" __global__ void gather(char a, double b, short c, Triple t, long long d, double *out) {
  out[0] = a, out[1] = b, out[2] = c, out[3] = t.a, out[4] = t.b, out[5] = t.c, out[6] = static_cast<double>(d);
}

extern "C" __global__ void store(int *where) { *where = 1; }
