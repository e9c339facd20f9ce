// The fundamental types of PTX: spelling and width.
#include "ptx/ast.h"

static const struct {
  const char *text;
  uint32_t bits;
} types[PTX_TYPE_COUNT] = {
    [PTX_NO_TYPE] = {"", 0},
    [PTX_PRED] = {"pred", 1},
    [PTX_B8] = {"b8", 8},
    [PTX_B16] = {"b16", 16},
    [PTX_B32] = {"b32", 32},
    [PTX_B64] = {"b64", 64},
    [PTX_B128] = {"b128", 128},
    [PTX_U8] = {"u8", 8},
    [PTX_U16] = {"u16", 16},
    [PTX_U32] = {"u32", 32},
    [PTX_U64] = {"u64", 64},
    [PTX_S8] = {"s8", 8},
    [PTX_S16] = {"s16", 16},
    [PTX_S32] = {"s32", 32},
    [PTX_S64] = {"s64", 64},
    [PTX_F16] = {"f16", 16},
    [PTX_F16X2] = {"f16x2", 32},
    [PTX_BF16] = {"bf16", 16},
    [PTX_BF16X2] = {"bf16x2", 32},
    [PTX_TF32] = {"tf32", 32},
    [PTX_E4M3X2] = {"e4m3x2", 16},
    [PTX_E5M2X2] = {"e5m2x2", 16},
    [PTX_F32] = {"f32", 32},
    [PTX_F64] = {"f64", 64},
    [PTX_TEXREF] = {"texref", 64},
    [PTX_SAMPLERREF] = {"samplerref", 64},
    [PTX_SURFREF] = {"surfref", 64},
};

uint32_t ptx_type_bits(PtxType type) { return types[type].bits; }

const char *ptx_type_text(PtxType type) { return types[type].text; }

bool ptx_type_parse(Slice text, PtxType *type) {
  for (int i = PTX_PRED; i < PTX_TYPE_COUNT; i++) {
    if (!slice_is(text, types[i].text)) continue;
    *type = (PtxType)i;
    return true;
  }
  return false;
}
