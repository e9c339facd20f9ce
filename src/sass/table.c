// The tables made from sass.def and styles.def, and the names of conditions and comparisons.
#include "sass/sass_internal.h"

#define OPERATION (UINT64_C(15) << 28)
#define SUBOPERATION (UINT64_C(7) << 61)
#define OP(n) ((uint64_t)(n) << 28)
#define SUB(n) ((uint64_t)(n) << 61)
#define BITS(n, value) ((uint64_t)(value) << (n))

const SassRowInfo sass_rows[SASS_ROW_COUNT] = {
#define SASS(id, mnemonic, format, mask, value, rest, layout, action, ops, read, exec, reads, meaning) \
  [SASS_##id] = {#id, mnemonic, SASS_##format, mask, value, SASS_DO_##action, meaning},
#include "sass/sass.def"
#undef SASS
};

// [signed or rounded toward zero][wide]
#define BY_WIDTH(u16, u32, s16, s32)             \
  {                                              \
    {OP_##u16, OP_##u32}, { OP_##s16, OP_##s32 } \
  }
#define BY_ROUNDING(nearest, zero)                         \
  {                                                        \
    {OP_##nearest, OP_##nearest}, { OP_##zero, OP_##zero } \
  }
#define ONE(op)                              \
  {                                          \
    {OP_##op, OP_##op}, { OP_##op, OP_##op } \
  }
#define NO_OP                                    \
  {                                              \
    {OP_COUNT, OP_COUNT}, { OP_COUNT, OP_COUNT } \
  }

const RowDetail sass_row_details[SASS_ROW_COUNT] = {
#define SASS(id, mnemonic, format, mask, value, rest, layout, action, ops, read, exec, reads, meaning) \
  [SASS_##id] = {rest, LAYOUT_##layout, ops, SASS_READ_##read, SASS_EXEC_##exec, reads},
#include "sass/sass.def"
#undef SASS
};
#undef BITS

const uint64_t sass_style_masks[STYLE_COUNT] = {
#define STYLE(id, mask) [STYLE_##id] = (mask),
#include "sass/styles.def"
#undef STYLE
};

const StyleEntry sass_style_entries[] = {
#define ENTRY(style, text, bits) {STYLE_##style, text, bits},
#include "sass/styles.def"
#undef ENTRY
};
const uint32_t sass_style_entry_count = COUNT_OF(sass_style_entries);

const char *const sass_condition_text[32] = {
    "FL", "LT", "EQ", "LE", "GT", "NE", "GE", "NUM", "NAN", "LTU", "EQU", "LEU", "GTU", "NEU", "GEU", "TR",
    "O",  "C",  "A",  "S",  NULL, NULL, NULL, NULL,  NULL,  NULL,  NULL,  NULL,  "NS",  "NA",  "NC",  "NO",
};
const char *const sass_compare_text[8] = {"FL", "LT", "EQ", "LE", "GT", "NE", "GE", "TR"};
const char *const sass_type_text[4] = {".U8", ".U16", ".S16", ""};
const char *const sass_reduction_text[2] = {"SIN", "EX2"};

bool sass_condition(unsigned flags, unsigned condition) {
  // Bit k: true when the flags are k (reference, section 2.3).
  static const uint16_t truth[32] = {
      0x0000, 0xBB44, 0x2222, 0x3366, 0x4411, 0x5555, 0xCC33, 0x7777, 0x8888, 0x33CC, 0xAAAA, 0xBBEE, 0xCC99, 0xDDDD, 0x44BB, 0xFFFF,
      0xFF00, 0xF0F0, 0x5050, 0xCCCC, 0x0000, 0x0000, 0x0000, 0x0000, 0x0000, 0x0000, 0x0000, 0x0000, 0x3333, 0xAFAF, 0x0F0F, 0x00FF,
  };
  return (truth[condition & 31] >> (flags & 15) & 1) != 0;
}

const StyleEntry *style_of_text(unsigned style, Slice text) {
  for (uint32_t i = 0; i < sass_style_entry_count; i++) {
    const StyleEntry *entry = &sass_style_entries[i];
    if (entry->style == style && slice_is(text, entry->text)) return entry;
  }
  return NULL;
}

// Every style lists all values of its bits.
const StyleEntry *style_of_word(unsigned style, uint64_t word) {
  const StyleEntry *found = NULL;
  for (uint32_t i = 0; i < sass_style_entry_count && found == NULL; i++) {
    const StyleEntry *entry = &sass_style_entries[i];
    if (entry->style == style && (entry->bits & sass_style_masks[style]) == (word & sass_style_masks[style])) found = entry;
  }
  ASSERT(found != NULL);
  return style_of_text(style, slice_of(found->text));
}

uint32_t sass_immediate(uint64_t word) { return (uint32_t)(word >> 34 << 6) | (uint32_t)(word >> 16 & 63); }

uint64_t sass_immediate_put(uint64_t word, uint32_t value) { return word | (uint64_t)(value >> 6) << 34 | (uint64_t)(value & 63) << 16; }
