// Opcodes of the texture and surface instructions -> row, imm and operand counts.
// Source: PTX ISA manual, "Texture Instructions" and "Surface Instructions", syntax sections.
#include "isa/texture.h"
#include "isa/parts.h"

// The position of the next part in a list of names; -1: none of them.
static int next_of(Parts *parts, const char *const *names, unsigned count) {
  for (unsigned i = 0; i < count; i++)
    if (next_is(parts, names[i])) return (int)i;
  return -1;
}

static const char *const geometries[GEOMETRY_COUNT] = {"1d", "2d", "3d", "a1d", "a2d", "cube", "acube"};
static const uint8_t coordinate_counts[GEOMETRY_COUNT] = {1, 2, 3, 2, 3, 3, 4};
static const uint8_t dimension_counts[GEOMETRY_COUNT] = {1, 2, 3, 1, 2, 3, 3};

static bool next_geometry(Parts *parts, TextureForm *form) {
  int geometry = next_of(parts, geometries, GEOMETRY_COUNT);
  if (geometry < 0) return false;
  form->imm |= (uint32_t)geometry << TEXTURE_GEOMETRY;
  form->coordinates = coordinate_counts[geometry];
  form->dimensions = dimension_counts[geometry];
  return true;
}

// ---- Rows by width of b ----------------------------------------------------------------------------
#define WIDTHS(id) \
  { OP_##id##_X1, OP_##id##_X2, OP_##id##_X4, OP_##id##_X8 }
static const Op tex_rows[4] = WIDTHS(TEX);
static const Op grad_rows[4] = WIDTHS(TEX_GRAD);
static const Op load_rows[2][4] = {WIDTHS(SULD), WIDTHS(SULD_B64)};
static const Op store_rows[2][4] = {WIDTHS(SUST), WIDTHS(SUST_B64)};
static const Op reduce_rows[2][4] = {WIDTHS(SURED), WIDTHS(SURED_B64)};
#undef WIDTHS
static Op row_for(const Op rows[4], unsigned registers) { return rows[registers <= 1 ? 0 : registers == 2 ? 1 : registers <= 4 ? 2 : 3]; }

void texture_extend(TextureForm *form, bool has_offset, bool has_compare) {
  form->imm |= (has_offset ? TEXTURE_HAS_OFFSET : 0u) | (has_compare ? TEXTURE_HAS_COMPARE : 0u);
  form->b_registers = (uint8_t)(form->coordinates + (form->has_lod ? 1 : 0) + (has_offset ? form->dimensions : 0) + (has_compare ? 1 : 0));
  form->op = row_for(form->has_gradients ? grad_rows : tex_rows, form->b_registers);
}

// ---- tex, tld4 ---------------------------------------------------------------------------------------
// .v4.u32 .v4.s32 .v4.f32, or .v2.f16x2 and its like .v4.f16; then the type of the coordinates.
static bool next_sample_types(Parts *parts, bool float_only, TextureForm *form) {
  static const char *const results[] = {"u32", "s32", "f32", "f16x2"};
  bool is_pair = next_is(parts, "v2");
  if (!is_pair && !next_is(parts, "v4")) return false;
  int result = next_of(parts, results, COUNT_OF(results));
  if (result < 0 || (result == TEXTURE_F16X2) != is_pair) return false;
  bool is_float = next_is(parts, "f32");
  if (!is_float && (float_only || !next_is(parts, "s32"))) return false;
  form->imm |= (uint32_t)result << TEXTURE_RESULT | (is_float ? TEXTURE_COORDINATES_F32 : 0u);
  form->results = is_pair ? 2 : 4;
  return true;
}

static bool parse_tex(Parts *parts, TextureForm *form) {
  TextureOperation operation = TEXTURE_TEX;
  if (next_is(parts, "level")) operation = TEXTURE_TEX_LEVEL;
  else if (next_is(parts, "grad")) operation = TEXTURE_TEX_GRAD;
  else next_is(parts, "base");
  form->imm = operation << TEXTURE_OPERATION;
  form->has_lod = operation == TEXTURE_TEX_LEVEL;
  form->has_gradients = operation == TEXTURE_TEX_GRAD;
  if (!next_geometry(parts, form) || !next_sample_types(parts, false, form)) return false;
  texture_extend(form, false, false);
  return true;
}

static bool parse_gather(Parts *parts, TextureForm *form) {
  static const char *const components[] = {"r", "g", "b", "a"};
  int component = next_of(parts, components, COUNT_OF(components));
  if (component < 0 || !next_geometry(parts, form) || !next_sample_types(parts, true, form)) return false;
  unsigned geometry = texture_field(form->imm, TEXTURE_GEOMETRY, 3);
  if (geometry != GEOMETRY_2D && geometry != GEOMETRY_A2D && geometry != GEOMETRY_CUBE && geometry != GEOMETRY_ACUBE) return false;
  form->imm |= (uint32_t)TEXTURE_TLD4 << TEXTURE_OPERATION | (uint32_t)component << TEXTURE_COMPONENT;
  texture_extend(form, false, false);
  return true;
}

// ---- txq, suq ------------------------------------------------------------------------------------------
static bool parse_query(Parts *parts, TextureOperation operation, TextureForm *form) {
  static const char *const queries[QUERY_COUNT] = {
      "width",        "height",      "depth",       "channel_data_type", "channel_order", "normalized_coords", "force_unnormalized_coords",
      "filter_mode",  "addr_mode_0", "addr_mode_1", "addr_mode_2",       "array_size",    "num_mipmap_levels", "num_samples",
      "memory_layout"};
  form->has_lod = operation == TEXTURE_TXQ && next_is(parts, "level");
  int query = next_of(parts, queries, QUERY_COUNT);
  if (query < 0 || !next_is(parts, "b32")) return false;
  form->imm = (uint32_t)operation << TEXTURE_OPERATION | (uint32_t)query << TEXTURE_DETAIL | (form->has_lod ? TEXTURE_HAS_LOD : 0u);
  form->op = form->has_lod ? OP_TXQ_LEVEL : OP_TXQ;
  form->results = 1;
  form->b_registers = form->has_lod ? 1 : 0;
  return true;
}

// ---- suld, sust, sured -----------------------------------------------------------------------------------
static bool next_outside(Parts *parts, TextureForm *form) {
  static const char *const modes[] = {"trap", "clamp", "zero"};
  int mode = next_of(parts, modes, COUNT_OF(modes));
  if (mode < 0 && parts->left) return false;
  form->imm |= (uint32_t)(mode < 0 ? SURFACE_TRAP : mode) << TEXTURE_COMPONENT;
  return true;
}

// Cache operators say nothing about the result.
static void skip_cache(Parts *parts) {
  static const char *const operators[] = {"ca", "cg", "cs", "cv", "wb", "wt"};
  next_of(parts, operators, COUNT_OF(operators));
}

static bool next_vector(Parts *parts, TextureForm *form) {
  uint32_t log_count = next_is(parts, "v2") ? 1 : next_is(parts, "v4") ? 2 : 0;
  form->imm |= log_count << TEXTURE_ELEMENTS;
  form->results = (uint8_t)(1u << log_count);
  return true;
}

static bool surface_geometry(Parts *parts, TextureForm *form) {
  return next_geometry(parts, form) && texture_field(form->imm, TEXTURE_GEOMETRY, 3) <= GEOMETRY_A2D;
}

// suld.b, sust.b and sust.p
static bool parse_surface(Parts *parts, bool is_store, TextureForm *form) {
  static const char *const bits[] = {"b8", "b16", "b32", "b64"}, *const numbers[] = {"u32", "s32", "f32", "b32"};
  bool is_formatted = is_store && next_is(parts, "p");
  if (!is_formatted && !next_is(parts, "b")) return false;
  form->is_store = is_store;
  form->imm = (uint32_t)(is_formatted ? TEXTURE_SUST_P : is_store ? TEXTURE_SUST : TEXTURE_SULD) << TEXTURE_OPERATION;
  if (!surface_geometry(parts, form)) return false;
  skip_cache(parts);
  next_vector(parts, form);
  int type = is_formatted ? next_of(parts, numbers, COUNT_OF(numbers)) : next_of(parts, bits, COUNT_OF(bits));
  if (type < 0 || !next_outside(parts, form)) return false;
  if (is_formatted) form->imm |= (uint32_t)(type == 3 ? TEXTURE_U32 : type) << TEXTURE_RESULT | 2u << TEXTURE_ELEMENT_BYTES;
  else form->imm |= (uint32_t)type << TEXTURE_ELEMENT_BYTES;
  form->wide_data = !is_formatted && type == 3;
  if (form->wide_data && form->results > 2) return false;
  form->b_registers = form->coordinates;
  form->op = row_for((is_store ? store_rows : load_rows)[form->wide_data], form->b_registers);
  return true;
}

static bool parse_reduction(Parts *parts, TextureForm *form) {
  static const char *const operations[] = {"add", "min", "max", "and", "or"};
  static const char *const types[] = {"u32", "s32", "b32", "u64", "s64", "b64"};
  bool is_formatted = next_is(parts, "p");
  if (!is_formatted && !next_is(parts, "b")) return false;
  int operation = next_of(parts, operations, COUNT_OF(operations));
  form->imm = (uint32_t)(is_formatted ? TEXTURE_SURED_P : TEXTURE_SURED) << TEXTURE_OPERATION;
  if (operation < 0 || !surface_geometry(parts, form)) return false;
  int type = next_of(parts, types, COUNT_OF(types));
  if (type < 0 || !next_outside(parts, form)) return false;
  form->wide_data = type >= 3;
  form->is_store = true;
  form->results = 1;
  form->imm |= (uint32_t)operation << TEXTURE_DETAIL | (type % 3 == 1 ? (uint32_t)TEXTURE_S32 : (uint32_t)TEXTURE_U32) << TEXTURE_RESULT |
               (form->wide_data ? 3u : 2u) << TEXTURE_ELEMENT_BYTES;
  form->b_registers = form->coordinates;
  form->op = row_for(reduce_rows[form->wide_data], form->b_registers);
  return true;
}

bool texture_parse(const Slice *parts, unsigned count, TextureForm *form) {
  Parts rest = {parts, count};
  *form = (TextureForm){0};
  bool fine = false;
  if (next_is(&rest, "tex")) fine = parse_tex(&rest, form);
  else if (next_is(&rest, "tld4")) fine = parse_gather(&rest, form);
  else if (next_is(&rest, "txq")) fine = parse_query(&rest, TEXTURE_TXQ, form);
  else if (next_is(&rest, "suq")) fine = parse_query(&rest, TEXTURE_SUQ, form);
  else if (next_is(&rest, "suld")) fine = parse_surface(&rest, false, form);
  else if (next_is(&rest, "sust")) fine = parse_surface(&rest, true, form);
  else if (next_is(&rest, "sured")) fine = parse_reduction(&rest, form);
  return fine && rest.left == 0;
}
