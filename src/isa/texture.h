// Texture and surface instructions: how their opcodes are packed into imm. What they do is in
// machine/parts/texture.h, which all machines call.
//   operands   d[0..3] results, or the data to store (sust, sured); a = handle; b = coordinates, one
//              32-bit register each; c = gradients (tex.grad)
//   b holds    layer index first (a1d, a2d, acube), x, y, z, then lod (tex.level), then the texel offsets
//              (one per dimension), then the depth reference
//   c holds    dP/dx in registers 0..3, dP/dy in 4..7
// Source: PTX ISA manual, "Texture Instructions" and "Surface Instructions".
#ifndef REDOUBT_ISA_TEXTURE_H
#define REDOUBT_ISA_TEXTURE_H

#include "isa/isa.h"

typedef enum TextureOperation {
  TEXTURE_TEX,
  TEXTURE_TEX_LEVEL,
  TEXTURE_TEX_GRAD,
  TEXTURE_TLD4,
  TEXTURE_TXQ,
  TEXTURE_SULD,
  TEXTURE_SUST,
  TEXTURE_SUST_P,
  TEXTURE_SURED,
  TEXTURE_SUQ,
  TEXTURE_SURED_P
} TextureOperation;
typedef enum TextureGeometry {
  GEOMETRY_1D,
  GEOMETRY_2D,
  GEOMETRY_3D,
  GEOMETRY_A1D,
  GEOMETRY_A2D,
  GEOMETRY_CUBE,
  GEOMETRY_ACUBE,
  GEOMETRY_COUNT
} TextureGeometry;
typedef enum TextureResult { TEXTURE_U32, TEXTURE_S32, TEXTURE_F32, TEXTURE_F16X2 } TextureResult;
typedef enum SurfaceOutside { SURFACE_TRAP, SURFACE_CLAMP, SURFACE_ZERO } SurfaceOutside;
typedef enum TextureQuery {
  QUERY_WIDTH,
  QUERY_HEIGHT,
  QUERY_DEPTH,
  QUERY_CHANNEL_DATA_TYPE,
  QUERY_CHANNEL_ORDER,
  QUERY_NORMALIZED_COORDS,
  QUERY_FORCE_UNNORMALIZED,
  QUERY_FILTER_MODE,
  QUERY_ADDR_MODE_0,
  QUERY_ADDR_MODE_1,
  QUERY_ADDR_MODE_2,
  QUERY_ARRAY_SIZE,
  QUERY_NUM_MIPMAP_LEVELS,
  QUERY_NUM_SAMPLES,
  QUERY_MEMORY_LAYOUT,
  QUERY_COUNT
} TextureQuery;
typedef enum SurfaceReduction { SURED_ADD, SURED_MIN, SURED_MAX, SURED_AND, SURED_OR } SurfaceReduction;

// imm: [3:0] TextureOperation [6:4] TextureGeometry [8:7] TextureResult [9] coordinates are f32
//      [11:10] tld4 component or SurfaceOutside [13:12] log2 of elements [15:14] log2 of bytes of an element
//      [19:16] TextureQuery or SurfaceReduction [20] offsets given [21] depth reference given
//      [22] query takes a lod in b
enum {
  TEXTURE_OPERATION = 0,
  TEXTURE_GEOMETRY = 4,
  TEXTURE_RESULT = 7,
  TEXTURE_COORDINATES_F32 = 1u << 9,
  TEXTURE_COMPONENT = 10,
  TEXTURE_ELEMENTS = 12,
  TEXTURE_ELEMENT_BYTES = 14,
  TEXTURE_DETAIL = 16,
  TEXTURE_HAS_OFFSET = 1u << 20,
  TEXTURE_HAS_COMPARE = 1u << 21,
  TEXTURE_HAS_LOD = 1u << 22,
};
static inline unsigned texture_field(uint32_t imm, unsigned shift, unsigned bits) { return (imm >> shift) & ((1u << bits) - 1); }

typedef struct TextureForm {
  Op op;
  uint32_t imm;
  uint8_t results; // d operands in use: results, or data for stores (sust, sured: is_store)
  bool is_store;
  bool wide_data;      // each d operand is a 64-bit pair
  uint8_t coordinates; // registers of b that PTX's coordinate vector fills (it may list more: ignore those)
  bool has_lod;        // tex.level, txq.level: the lod operand goes to the register after the coordinates
  bool has_gradients;  // tex.grad: two vectors of `dimensions` components each
  uint8_t dimensions;  // 1..3: gradients and offsets have that many components
  uint8_t b_registers; // 32-bit registers of b in all (0, or up to 8): its tuple is the row's b column
} TextureForm;

// From the opcode's dot parts, parts[0] being "tex", "tld4", "txq", "suld", "sust", "sured" or "suq".
// False: no supported texture opcode.
bool texture_parse(const Slice *parts, unsigned count, TextureForm *form);
// For a tex or tld4 with an offset vector and/or a depth reference operand: sets imm, op and b_registers.
void texture_extend(TextureForm *form, bool has_offset, bool has_compare);

#endif
