// F^H d of magnetic resonance imaging: for each voxel at x the sum over all k-space samples of the sample's weighted signal times
// exp(i k x). Source: Stone et al., "Accelerating advanced MRI reconstructions on GPUs", 2008.
// The first kernel weights the signal, a thread per sample. The second sums, a thread per voxel; the samples lie in constant
// memory, up to 512 of them a launch.
#include "../cuda.h"

enum { SAMPLES = 512 };

__constant__ float4 mrifhd_samples[SAMPLES];   // k in radians per unit of x, and the real part of the weighted signal
__constant__ float mrifhd_imaginary[SAMPLES]; // its imaginary part

extern "C" __global__ void mrifhd_weight(const float *phi_real, const float *phi_imaginary, const float *signal_real, const float *signal_imaginary, float *real, float *imaginary, int samples) {
  int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= samples) return;
  real[i] = phi_real[i] * signal_real[i] + phi_imaginary[i] * signal_imaginary[i];
  imaginary[i] = phi_real[i] * signal_imaginary[i] - phi_imaginary[i] * signal_real[i];
}

extern "C" __global__ void mrifhd_sum(const float *x, const float *y, const float *z, float *real, float *imaginary, int voxels, int samples) {
  int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= voxels) return;
  float at_x = x[i], at_y = y[i], at_z = z[i];
  float sum_real = real[i], sum_imaginary = imaginary[i];
#pragma unroll 4
  for (int k = 0; k < samples; k++) {
    float4 sample = mrifhd_samples[k];
    float of_imaginary = mrifhd_imaginary[k];
    float angle = fmaf(sample.x, at_x, fmaf(sample.y, at_y, sample.z * at_z));
    float cosine = cosine_approximate(angle), sine = sine_approximate(angle);
    sum_real = fmaf(sample.w, cosine, fmaf(-of_imaginary, sine, sum_real));
    sum_imaginary = fmaf(of_imaginary, cosine, fmaf(sample.w, sine, sum_imaginary));
  }
  real[i] = sum_real;
  imaginary[i] = sum_imaginary;
}
