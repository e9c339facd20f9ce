// K-means clustering. A round is three launches: each point finds the nearest centre (features through a texture, centres in
// constant memory); each block sums the features of its points for every cluster; one block makes new centres of the sums.
// A launch before the rounds turns the features round, so that points that lie side by side are read side by side.
// Products and sums are written as the operations that they are to be, so that a host can do the same to the bit.
#include "../cuda.h"

enum { THREADS = 256, MOST_CENTRES = 2048 }; // MOST_CENTRES: clusters times features

__constant__ float kmeans_centres[MOST_CENTRES]; // of cluster c and feature f at c * features + f

// by_point: feature f of point p at p * features + f. by_feature: at f * points + p.
extern "C" __global__ void kmeans_turn(const float *by_point, float *by_feature, int points, int features) {
  int point = (int)(blockIdx.x * THREADS + threadIdx.x);
  if (point >= points) return;
  for (int i = 0; i < features; i++) by_feature[i * points + point] = by_point[point * features + i];
}

extern "C" __global__ void kmeans_nearest(Texture by_feature, int *members, int points, int features, int clusters) {
  int point = (int)(blockIdx.x * THREADS + threadIdx.x);
  if (point >= points) return;
  int best = 0;
  float least = 3.4e38f;
  for (int cluster = 0; cluster < clusters; cluster++) {
    float distance = 0.0f; // its square
    for (int i = 0; i < features; i++) {
      float difference = fetch_float(by_feature, i * points + point) - kmeans_centres[cluster * features + i];
      distance = fmaf(difference, difference, distance);
    }
    if (distance < least) {
      least = distance;
      best = cluster;
    }
  }
  members[point] = best;
}

// sums: of block b, cluster c, feature f at (b * clusters + c) * features + f; counts: of block b, cluster c at b * clusters + c.
extern "C" __global__ void kmeans_sum(Texture by_point, const int *members, float *sums, int *counts, int points, int features, int clusters) {
  __shared__ int member[THREADS];
  int first = (int)(blockIdx.x * THREADS), t = (int)threadIdx.x;
  int mine = points - first < THREADS ? points - first : THREADS;
  if (t < mine) member[t] = members[first + t];
  __syncthreads();
  for (int i = t; i < clusters * features; i += THREADS) {
    int cluster = i / features, feature = i % features, count = 0;
    float sum = 0.0f;
    for (int point = 0; point < mine; point++) {
      if (member[point] != cluster) continue;
      sum += fetch_float(by_point, (first + point) * features + feature);
      count++;
    }
    sums[(int)blockIdx.x * clusters * features + i] = sum;
    if (feature == 0) counts[(int)blockIdx.x * clusters + cluster] = count;
  }
}

// A cluster without points keeps its centre.
extern "C" __global__ void kmeans_centre(const float *sums, const int *counts, float *centres, int blocks, int features, int clusters) {
  for (int i = (int)threadIdx.x; i < clusters * features; i += THREADS) {
    float sum = 0.0f;
    int count = 0;
    for (int block = 0; block < blocks; block++) {
      sum += sums[block * clusters * features + i];
      count += counts[block * clusters + i / features];
    }
    if (count > 0) centres[i] = sum / (float)count;
  }
}
