// Instructions as hardware stores them. The layout is ours: the extension says nothing of one.
#include "shader/shader.h"

// Bits are taken and given from the first word's lowest bit on.
typedef struct Bits {
  uint32_t *word;
  uint32_t at;
} Bits;

static void put(Bits *bits, uint32_t count, uint32_t value) {
  for (uint32_t i = 0; i < count; i++, bits->at++) bits->word[bits->at / 32] |= (value >> i & 1) << bits->at % 32;
}

static uint32_t get(Bits *bits, uint32_t count) {
  uint32_t value = 0;
  for (uint32_t i = 0; i < count; i++, bits->at++) value |= (bits->word[bits->at / 32] >> bits->at % 32 & 1) << i;
  return value;
}

void shader_encode(const ShaderInstr *instr, ShaderWord *word) {
  *word = (ShaderWord){0};
  Bits bits = {word->word, 0};
  put(&bits, 6, instr->op);
  put(&bits, 2, instr->precision);
  put(&bits, 1, instr->saturates);
  put(&bits, 1, instr->sets_code);
  put(&bits, 3, instr->file);
  put(&bits, 8, instr->index);
  put(&bits, 4, instr->mask);
  put(&bits, 4, instr->test);
  for (uint32_t i = 0; i < 4; i++) put(&bits, 2, instr->test_swizzle[i]);
  put(&bits, 4, instr->texture);
  put(&bits, 3, instr->shape);
  put(&bits, 13, instr->jump);
  for (uint32_t i = 0; i < 3; i++) {
    const ShaderSource *source = &instr->source[i];
    put(&bits, 3, source->file);
    put(&bits, 8, source->index);
    for (uint32_t k = 0; k < 4; k++) put(&bits, 2, source->swizzle[k]);
    put(&bits, 1, source->negate);
    put(&bits, 1, source->absolute);
    put(&bits, 1, source->is_indexed);
  }
}

// Fields that an instruction does not use may hold anything.
static bool is_legal(const ShaderInstr *instr) {
  if (instr->op >= SHADER_OPS) return false;
  const ShaderOpInfo *info = &shader_op_info[instr->op];
  bool has_result = info->kind != SHADER_FLOW && info->kind != SHADER_KILL;
  bool good = info->kind != SHADER_TEXTURE || (instr->shape <= SHAPE_RECT && instr->shape != SHAPE_3D && instr->shape != SHAPE_CUBE);
  if (has_result) good = good && instr->precision <= PRECISION_FIXED && (instr->file <= SHADER_HALF || instr->file == SHADER_OUTPUT);
  for (uint32_t i = 0; i < info->sources; i++) good = good && instr->source[i].file <= SHADER_CONSTANT;
  return good;
}

bool shader_decode(const ShaderWord *word, ShaderInstr *instr) {
  ShaderWord copy = *word;
  Bits bits = {copy.word, 0};
  *instr = (ShaderInstr){0};
  instr->op = (uint16_t)get(&bits, 6);
  instr->precision = (uint16_t)get(&bits, 2);
  instr->saturates = get(&bits, 1) != 0;
  instr->sets_code = get(&bits, 1) != 0;
  instr->file = (uint8_t)get(&bits, 3);
  instr->index = (uint8_t)get(&bits, 8);
  instr->mask = (uint8_t)get(&bits, 4);
  instr->test = (uint8_t)get(&bits, 4);
  for (uint32_t i = 0; i < 4; i++) instr->test_swizzle[i] = (uint8_t)get(&bits, 2);
  instr->texture = (uint8_t)get(&bits, 4);
  instr->shape = (uint8_t)get(&bits, 3);
  instr->jump = (uint16_t)get(&bits, 13);
  for (uint32_t i = 0; i < 3; i++) {
    ShaderSource *source = &instr->source[i];
    source->file = (uint8_t)get(&bits, 3);
    source->index = (uint8_t)get(&bits, 8);
    for (uint32_t k = 0; k < 4; k++) source->swizzle[k] = (uint8_t)get(&bits, 2);
    source->negate = get(&bits, 1) != 0;
    source->absolute = get(&bits, 1) != 0;
    source->is_indexed = get(&bits, 1) != 0;
  }
  return is_legal(instr);
}
