// cuBLAS and cuRAND as NVIDIA's headers declare them, between kernels of the program's own, on a stream that is captured into a graph.
#include <cublas_v2.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <curand.h>

#include <cmath>
#include <cstdio>

enum { SIDE = 40, SIZE = SIDE * SIDE };

__global__ void scale(float *x, __half *narrow, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  x[i] *= 0.5f;
  narrow[i] = __float2half(x[i]);
}

#define GOOD(call)                                            \
  do {                                                        \
    int error = (int)(call);                                  \
    if (error != 0) {                                         \
      printf("line %d: %s is %d\n", __LINE__, #call, error);  \
      return 1;                                               \
    }                                                         \
  } while (0)

int main() {
  float *a, *b, *c, one = 1, zero = 0, norm;
  __half *narrow;
  GOOD(cudaMallocManaged(&a, SIZE * sizeof *a));
  GOOD(cudaMallocManaged(&b, SIZE * sizeof *b));
  GOOD(cudaMallocManaged(&c, SIZE * sizeof *c));
  GOOD(cudaMalloc(&narrow, SIZE * sizeof *narrow));
  curandGenerator_t generator;
  GOOD(curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_PHILOX4_32_10));
  GOOD(curandSetPseudoRandomGeneratorSeed(generator, 7ULL));
  GOOD(curandGenerateUniform(generator, a, SIZE));
  cublasHandle_t handle;
  cudaStream_t stream;
  GOOD(cublasCreate(&handle));
  GOOD(cudaStreamCreate(&stream));
  GOOD(cublasSetStream(handle, stream));
  cudaGraph_t graph;
  cudaGraphExec_t ready;
  GOOD(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  scale<<<(SIZE + 255) / 256, 256, 0, stream>>>(a, narrow, SIZE);
  GOOD(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_T, SIDE, SIDE, SIDE, &one, a, SIDE, a, SIDE, &zero, b, SIDE));
  GOOD(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_T, SIDE, SIDE, SIDE, &one, narrow, CUDA_R_16F, SIDE, narrow, CUDA_R_16F, SIDE, &zero, c, CUDA_R_32F,
                    SIDE, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
  GOOD(cudaStreamEndCapture(stream, &graph));
  GOOD(cudaGraphInstantiate(&ready, graph, 0));
  GOOD(cudaGraphLaunch(ready, stream));
  GOOD(cudaStreamSynchronize(stream));
  for (int i = 0; i < SIZE; i++) {
    float sum = 0, narrow_sum = 0;
    for (int k = 0; k < SIDE; k++) {
      float x = a[i % SIDE + k * SIDE], y = a[i / SIDE + k * SIDE];
      sum = fmaf(x, y, sum);
      narrow_sum = fmaf(__half2float(__float2half(x)), __half2float(__float2half(y)), narrow_sum);
    }
    if (b[i] != sum || c[i] != narrow_sum) {
      printf("element %d: %g and %g instead of %g and %g\n", i, b[i], c[i], sum, narrow_sum);
      return 1;
    }
  }
  GOOD(cublasSnrm2(handle, SIZE, b, 1, &norm));
  GOOD(cublasDestroy(handle));
  GOOD(curandDestroyGenerator(generator));
  puts(norm > 0 ? "PASS" : "FAIL");
}
