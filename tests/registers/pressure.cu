// Kernels that need many registers, for compare.sh. pressure.ptx is what nvcc 13 makes of them:
//   nvcc -ptx -arch=sm_75 pressure.cu
// An 8x8 register tile, a hash with its whole message schedule, a 16-point transform, a deep
// stencil, bodies in double precision: code that compilers order for speed, not for few registers.

extern "C" __global__ void tile_product(const float *a, const float *b, float *c, int n) {
  __shared__ float a_tile[8][128], b_tile[8][128];
  int column = threadIdx.x % 16, row = threadIdx.x / 16, top = blockIdx.y * 128, left = blockIdx.x * 128;
  float sums[8][8] = {};
  for (int k = 0; k < n; k += 8) {
    for (int i = 0; i < 4; i++) {
      int id = threadIdx.x + i * 256;
      a_tile[id % 8][id / 8] = a[(top + id / 8) * n + k + id % 8];
      b_tile[id / 128][id % 128] = b[(k + id / 128) * n + left + id % 128];
    }
    __syncthreads();
#pragma unroll
    for (int step = 0; step < 8; step++) {
      float x[8], y[8];
#pragma unroll
      for (int i = 0; i < 8; i++) {
        x[i] = a_tile[step][row * 8 + i];
        y[i] = b_tile[step][column * 8 + i];
      }
#pragma unroll
      for (int i = 0; i < 64; i++) sums[i / 8][i % 8] += x[i / 8] * y[i % 8];
    }
    __syncthreads();
  }
  for (int i = 0; i < 64; i++) c[(top + row * 8 + i / 8) * n + left + column * 8 + i % 8] = sums[i / 8][i % 8];
}

__device__ __forceinline__ unsigned rotate(unsigned x, int n) { return x >> n | x << (32 - n); }
__constant__ unsigned round_constants[64];

extern "C" __global__ void message_hash(const unsigned *in, unsigned *out) {
  unsigned w[64], id = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll
  for (int i = 0; i < 16; i++) w[i] = in[id * 16 + i];
#pragma unroll
  for (int i = 16; i < 64; i++) {
    unsigned s0 = rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ w[i - 15] >> 3;
    unsigned s1 = rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ w[i - 2] >> 10;
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
  unsigned s[8] = {1, 2, 3, 4, 5, 6, 7, 8};
#pragma unroll
  for (int i = 0; i < 64; i++) {
    unsigned sum1 = rotate(s[4], 6) ^ rotate(s[4], 11) ^ rotate(s[4], 25), choice = (s[4] & s[5]) ^ (~s[4] & s[6]);
    unsigned t1 = s[7] + sum1 + choice + round_constants[i] + w[i];
    unsigned t2 = (rotate(s[0], 2) ^ rotate(s[0], 13) ^ rotate(s[0], 22)) + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
#pragma unroll
    for (int k = 7; k > 0; k--) s[k] = s[k - 1];
    s[4] += t1;
    s[0] = t1 + t2;
  }
  out[id] = s[0] ^ s[1] ^ s[2] ^ s[3] ^ s[4] ^ s[5] ^ s[6] ^ s[7];
}

extern "C" __global__ void transform16(float2 *data) {
  int id = threadIdx.x + blockIdx.x * blockDim.x;
  float2 x[16];
#pragma unroll
  for (int i = 0; i < 16; i++) x[i] = data[id + i * 1024];
#pragma unroll
  for (int half = 1; half < 16; half *= 2) {
#pragma unroll
    for (int i = 0; i < 16; i++) {
      if (i & half) continue;
      float2 a = x[i], b = x[i | half];
      float turn_x = 0.125f * i, turn_y = 1.0f - turn_x, u = a.x - b.x, v = a.y - b.y;
      x[i] = make_float2(a.x + b.x, a.y + b.y);
      x[i | half] = make_float2(u * turn_x - v * turn_y, u * turn_y + v * turn_x);
    }
  }
#pragma unroll
  for (int i = 0; i < 16; i++) data[id + i * 1024] = x[i];
}

extern "C" __global__ void stencil25(const float *in, float *out, int nx, int ny, int nz) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 4 || y < 4 || x >= nx - 4 || y >= ny - 4) return;
  float line[9];
  for (int i = 0; i < 9; i++) line[i] = in[(i * ny + y) * nx + x];
  for (int z = 4; z < nz - 4; z++) {
    float sum = line[4] * 0.5f;
    const float *here = in + (z * ny + y) * nx + x;
#pragma unroll
    for (int r = 1; r <= 4; r++) sum += (line[4 - r] + line[4 + r] + here[-r] + here[r] + here[-r * nx] + here[r * nx]) * 0.1f * r;
    out[(z * ny + y) * nx + x] = sum;
#pragma unroll
    for (int i = 0; i < 8; i++) line[i] = line[i + 1];
    line[8] = in[((z + 5) * ny + y) * nx + x];
  }
}

extern "C" __global__ void bodies(const double *place, double *speed, int n, double step) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  double x = place[4 * i], y = place[4 * i + 1], z = place[4 * i + 2], ax = 0, ay = 0, az = 0;
  for (int j = 0; j < n; j++) {
    double dx = place[4 * j] - x, dy = place[4 * j + 1] - y, dz = place[4 * j + 2] - z;
    double r2 = dx * dx + dy * dy + dz * dz + 1e-9, pull = place[4 * j + 3] / (r2 * sqrt(r2));
    ax += dx * pull;
    ay += dy * pull;
    az += dz * pull;
  }
  speed[4 * i] += ax * step;
  speed[4 * i + 1] += ay * step;
  speed[4 * i + 2] += az * step;
}
