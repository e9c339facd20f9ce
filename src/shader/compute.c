// What the instructions of fragment programs compute; see shader.def. The same bits with every compiler: sums from left to right, and
// the approximate functions of isa/approx.h.
#include "shader/shader.h"

#include "isa/approx.h"

#include <math.h>

static float floor_of(float x) { return __builtin_floorf(x); }

// Whichever is a number, if one is not.
static float least(float a, float b) { return isnan(a) || b < a ? b : a; }
static float most(float a, float b) { return isnan(a) || b > a ? b : a; }

static float vector(ShaderOp op, float a, float b, float c) {
  switch (op) {
  case SHADER_ADD: return a + b;
  case SHADER_SUB: return a - b;
  case SHADER_MUL: return a * b;
  case SHADER_MAD: return a * b + c;
  case SHADER_MOV: return a;
  case SHADER_MIN: return least(a, b);
  case SHADER_MAX: return most(a, b);
  case SHADER_FLR: return floor_of(a);
  case SHADER_FRC: return a - floor_of(a);
  case SHADER_LRP: return a * b + (1.0f - a) * c;
  case SHADER_SEQ: return a == b ? 1.0f : 0.0f;
  case SHADER_SNE: return a != b ? 1.0f : 0.0f;
  case SHADER_SLT: return a < b ? 1.0f : 0.0f;
  case SHADER_SLE: return a <= b ? 1.0f : 0.0f;
  case SHADER_SGT: return a > b ? 1.0f : 0.0f;
  case SHADER_SGE: return a >= b ? 1.0f : 0.0f;
  case SHADER_STR: return 1.0f;
  case SHADER_DIV: return a / b;
  default: return 0.0f;
  }
}

static float power(float a, float b) { return f32_ex2(b * f32_lg2(a)); }

static float scalar(ShaderOp op, float a, float b) {
  switch (op) {
  case SHADER_COS: return f32_cos(a);
  case SHADER_SIN: return f32_sin(a);
  case SHADER_EX2: return f32_ex2(a);
  case SHADER_LG2: return f32_lg2(a);
  case SHADER_RCP: return 1.0f / a;
  case SHADER_RSQ: return f32_rsqrt(a);
  case SHADER_POW: return power(a, b);
  default: return 0.0f;
  }
}

static float dot(const float a[4], const float b[4], uint32_t count) {
  float sum = a[0] * b[0];
  for (uint32_t i = 1; i < count; i++) sum += a[i] * b[i];
  return sum;
}

static void fill(float result[4], float x, float y, float z, float w) {
  result[0] = x;
  result[1] = y;
  result[2] = z;
  result[3] = w;
}

static void light(const float a[4], float result[4]) {
  float diffuse = most(a[0], 0.0f), shine = most(a[1], 0.0f);
  fill(result, 1.0f, diffuse, a[0] > 0.0f ? power(shine, a[3]) : 0.0f, 1.0f);
}

static void whole(ShaderOp op, const float a[4], const float b[4], const float c[4], float result[4]) {
  float scale;
  switch (op) {
  case SHADER_DST: fill(result, 1.0f, a[1] * b[1], a[2], b[3]); return;
  case SHADER_LIT: light(a, result); return;
  case SHADER_RFL:
    scale = 2.0f * dot(a, b, 3) / dot(a, a, 3);
    fill(result, scale * a[0] - b[0], scale * a[1] - b[1], scale * a[2] - b[2], 0.0f);
    return;
  case SHADER_X2D: {
    float x = a[0] + (b[0] * c[0] + b[1] * c[1]), y = a[1] + (b[0] * c[2] + b[1] * c[3]);
    fill(result, x, y, x, y);
    return;
  }
  case SHADER_NRM:
    scale = f32_rsqrt(dot(a, a, 3));
    fill(result, a[0] * scale, a[1] * scale, a[2] * scale, a[3] * scale);
    return;
  case SHADER_DP2: scale = dot(a, b, 2); break;
  case SHADER_DP2A: scale = dot(a, b, 2) + c[0]; break;
  case SHADER_DP3: scale = dot(a, b, 3); break;
  case SHADER_DP4: scale = dot(a, b, 4); break;
  default: scale = 0.0f; break;
  }
  fill(result, scale, scale, scale, scale);
}

void shader_compute(ShaderOp op, const float a[4], const float b[4], const float c[4], float result[4]) {
  if (shader_op_info[op].kind == SHADER_SCALAR) {
    float value = scalar(op, a[0], b[0]);
    fill(result, value, value, value, value);
  } else if (shader_op_info[op].kind == SHADER_WHOLE) {
    whole(op, a, b, c, result);
  } else {
    for (uint32_t i = 0; i < 4; i++) result[i] = vector(op, a[i], op == SHADER_DIV ? b[0] : b[i], c[i]);
  }
}

// Fixed: 12 bits from -2 to 2 less 1/1024, in steps of 1/1024; what is no number becomes 0.
float shader_round(ShaderPrecision precision, float value) {
  if (precision == PRECISION_HALF) return f16_to_f32(f32_to_f16(value, ROUND_RN));
  if (precision != PRECISION_FIXED) return value;
  if (isnan(value)) return 0.0f;
  float bounded = value < -2.0f ? -2.0f : value > 2047.0f / 1024.0f ? 2047.0f / 1024.0f : value;
  return __builtin_rintf(bounded * 1024.0f) / 1024.0f;
}
