// The ray tracer itself, compiled both for the GPU and for the CPU's check. One wrong rounding would send a ray past a sphere that
// it should hit, so both must do the same float operations in the same order. Therefore no sum has a product among its terms,
// other than by fmaf: compilers that fuse and compilers that do not make the same of it. Divisions and square roots are exactly
// rounded on both sides.
#ifndef RAYTRACE_TRACE_H
#define RAYTRACE_TRACE_H

#if defined(__CUDA__) || defined(__CUDACC__) // clang, nvcc
#define TRACER static __device__
#else
#include <math.h>
#include <stdbool.h>
#define TRACER static inline
#endif

enum { MOST_SPHERES = 32, PLANES = 2 };

typedef struct Vector {
  float x, y, z;
} Vector;

typedef struct Sphere {
  Vector centre;
  float radius;
  Vector colour;
  float mirror; // share of the light that is reflected, not scattered
} Sphere;

// The points p with normal * p = offset; squares of two colours, one half as bright as the other.
typedef struct Plane {
  Vector normal;
  float offset;
  Vector colour;
  float mirror;
} Plane;

typedef struct Scene {
  Vector eye, light;
  int sphere_count, bounces;
  Sphere spheres[MOST_SPHERES];
  Plane planes[PLANES];
} Scene;

// What a ray meets first.
typedef struct Hit {
  float distance;
  Vector normal, colour;
  float mirror;
} Hit;

#define NEAREST 0.001f // nothing nearer than this is seen: a ray leaves the surface it starts from
#define FARTHEST 60.0f

TRACER float dot(Vector a, Vector b) { return fmaf(a.x, b.x, fmaf(a.y, b.y, a.z * b.z)); }
TRACER Vector scaled(Vector a, float by) {
  Vector r = {a.x * by, a.y * by, a.z * by};
  return r;
}
TRACER Vector difference(Vector a, Vector b) {
  Vector r = {a.x - b.x, a.y - b.y, a.z - b.z};
  return r;
}
TRACER Vector along(Vector from, Vector direction, float way) {
  Vector r = {fmaf(direction.x, way, from.x), fmaf(direction.y, way, from.y), fmaf(direction.z, way, from.z)};
  return r;
}
TRACER Vector unit(Vector a) { return scaled(a, 1.0f / sqrtf(dot(a, a))); }
TRACER float positive(float a) { return a > 0.0f ? a : 0.0f; }

// How far along the ray the sphere is met; FARTHEST: it is not. `direction` has length 1.
TRACER float meet_sphere(const Sphere *sphere, Vector from, Vector direction) {
  Vector to = difference(sphere->centre, from);
  float middle = dot(to, direction);
  float gap = fmaf(-sphere->radius, sphere->radius, dot(to, to));
  float inside = fmaf(middle, middle, -gap);
  if (inside <= 0.0f) return FARTHEST;
  float half = sqrtf(inside);
  if (middle - half > NEAREST) return middle - half;
  return middle + half > NEAREST ? middle + half : FARTHEST;
}

TRACER float meet_plane(const Plane *plane, Vector from, Vector direction) {
  float towards = dot(plane->normal, direction);
  if (towards == 0.0f) return FARTHEST;
  float distance = (plane->offset - dot(plane->normal, from)) / towards;
  return distance > NEAREST ? distance : FARTHEST;
}

// False: nothing but sky.
TRACER bool meet(const Scene *scene, Vector from, Vector direction, Hit *hit) {
  int sphere = -1, plane = -1; // which is the nearest; -1: none
  hit->distance = FARTHEST;
  for (int i = 0; i < scene->sphere_count; i++) {
    float distance = meet_sphere(&scene->spheres[i], from, direction);
    if (distance < hit->distance) {
      hit->distance = distance;
      sphere = i;
    }
  }
  for (int i = 0; i < PLANES; i++) {
    float distance = meet_plane(&scene->planes[i], from, direction);
    if (distance < hit->distance) {
      hit->distance = distance;
      plane = i;
    }
  }
  Vector at = along(from, direction, hit->distance);
  if (plane >= 0) {
    int odd = ((int)floorf(at.x + 0.5f) + (int)floorf(at.y + 0.5f) + (int)floorf(at.z + 0.5f)) & 1;
    hit->normal = scene->planes[plane].normal;
    hit->colour = scaled(scene->planes[plane].colour, odd ? 0.5f : 1.0f);
    hit->mirror = scene->planes[plane].mirror;
  } else if (sphere >= 0) {
    hit->normal = scaled(difference(at, scene->spheres[sphere].centre), 1.0f / scene->spheres[sphere].radius);
    hit->colour = scene->spheres[sphere].colour;
    hit->mirror = scene->spheres[sphere].mirror;
  }
  return plane >= 0 || sphere >= 0;
}

// Is there a sphere between the point and the light? Planes cast no shadow: all is on their bright side.
TRACER bool in_shadow(const Scene *scene, Vector at, Vector direction, float distance) {
  for (int i = 0; i < scene->sphere_count; i++) {
    if (meet_sphere(&scene->spheres[i], at, direction) < distance) return true;
  }
  return false;
}

TRACER unsigned channel(float value) { return value >= 1.0f ? 255u : (unsigned)fmaf(positive(value), 255.0f, 0.5f); }

// The colour of the pixel (column, row) of a picture of width x height: red in the lowest byte, opaque.
TRACER unsigned trace_pixel(const Scene *scene, unsigned column, unsigned row, unsigned width, unsigned height) {
  float across = 2.0f / (float)width, down = 2.0f / (float)height;
  Vector screen = {fmaf((float)column + 0.5f, across, -1.0f), 1.0f - fmaf((float)row + 0.5f, down, 0.0f), 1.6f};
  Vector from = scene->eye, direction = unit(screen), sum = {0.0f, 0.0f, 0.0f};
  float weight = 1.0f;
  for (int bounce = 0; bounce <= scene->bounces && weight > 0.02f; bounce++) {
    Hit hit;
    if (!meet(scene, from, direction, &hit)) {
      Vector sky = {0.5f, 0.7f, 1.0f};
      sum = along(sum, sky, weight * fmaf(0.5f, direction.y, 0.5f));
      break;
    }
    Vector at = along(from, direction, hit.distance), to_light = difference(scene->light, at);
    float distance = sqrtf(dot(to_light, to_light));
    Vector light = scaled(to_light, 1.0f / distance);
    Vector mirrored = along(direction, hit.normal, -2.0f * dot(direction, hit.normal));
    Vector off = along(at, hit.normal, NEAREST);
    float diffuse = positive(dot(hit.normal, light)), shine = 0.0f;
    if (diffuse > 0.0f && in_shadow(scene, off, light, distance)) diffuse = 0.0f;
    if (diffuse > 0.0f) {
      float s = positive(dot(mirrored, light));
      s *= s;
      s *= s;
      s *= s;
      shine = s * s;
    }
    float own = weight * (1.0f - hit.mirror);
    sum = along(sum, hit.colour, own * fmaf(0.8f, diffuse, 0.15f));
    Vector white = {0.5f, 0.5f, 0.5f};
    sum = along(sum, white, weight * shine);
    weight *= hit.mirror;
    from = off;
    direction = mirrored;
  }
  return channel(sum.x) | channel(sum.y) << 8 | channel(sum.z) << 16 | 255u << 24;
}

#endif
