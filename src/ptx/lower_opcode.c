// From an opcode as PTX spells it to its row: .ftz and .sat become modifiers, default roundings are
// written out, and where a row serves several types (add.b32 for s32 and u32) its spelling is
// tried. Results are remembered by text.
#include "ptx/lower.h"

#include <stdio.h>

enum { MAX_PARTS = 16, MAX_TEXT = 160, TYPE_TEXT = 16 };

// How the types of an opcode are respelt for one try.
typedef enum Respell {
  AS_WRITTEN,
  LAST_AS_BITS,     // add.s32 -> add.b32
  ALL_AS_BITS,      // selp, slct of several types
  FIRST_AS_BITS,    // slct.f32.s32 -> slct.b32.s32
  LAST_AS_UNSIGNED, // shr.b32 -> shr.u32
  LAST_AS_SIGNED,
  LAST_AS_B32,  // and.b16 -> and.b32
  FIRST_AS_B32, // slct.u16.s32 -> slct.b32.s32
  RESPELL_COUNT
} Respell;

bool find_row(Lower *lower, const char *text, Op *op) { return op_find(lower->index, slice_of(text), op); }

static bool is_float(PtxType type) { return (type >= PTX_F16 && type <= PTX_F64) && type != PTX_B128; }

// `floats`: the instruction only chooses among bits, so that floating types may be spelt as bits too.
static void respell_type(PtxType type, Respell respell, bool floats, bool first, bool last, char out[TYPE_TEXT]) {
  uint32_t bits = ptx_type_bits(type);
  snprintf(out, TYPE_TEXT, "%s", ptx_type_text(type));
  if (type == PTX_PRED || bits < 8 || (is_float(type) && !floats)) return;
  bool as_bits = (respell == LAST_AS_BITS && last) || respell == ALL_AS_BITS || (respell == FIRST_AS_BITS && first && !last);
  if (as_bits) snprintf(out, TYPE_TEXT, "b%u", bits);
  bool untyped = type == PTX_B8 || type == PTX_B16 || type == PTX_B32 || type == PTX_B64;
  if (respell == LAST_AS_UNSIGNED && last && untyped) snprintf(out, TYPE_TEXT, "u%u", bits);
  if (respell == LAST_AS_SIGNED && last && untyped) snprintf(out, TYPE_TEXT, "s%u", bits);
  bool as_word = (respell == LAST_AS_B32 && last) || (respell == FIRST_AS_B32 && first && !last);
  if (as_word && bits == 16) snprintf(out, TYPE_TEXT, "b32");
}

// The text of one try.
static void spell(const Slice *parts, uint32_t count, Respell respell, const char *rounding, char out[MAX_TEXT]) {
  bool floats = slice_is(parts[0], "selp") || slice_is(parts[0], "slct");
  PtxType types[MAX_PARTS] = {PTX_NO_TYPE};
  uint32_t first = count, last = count;
  for (uint32_t i = 1; i < count; i++) {
    if (!ptx_type_parse(parts[i], &types[i])) {
      types[i] = PTX_NO_TYPE;
      continue;
    }
    if (first == count) first = i;
    last = i;
  }
  size_t length = 0;
  for (uint32_t i = 0; i < count && length < MAX_TEXT - 20; i++) {
    char type[TYPE_TEXT] = "";
    if (types[i] != PTX_NO_TYPE) respell_type(types[i], respell, floats, i == first, i == last, type);
    const char *dot = i ? "." : "";
    int added = types[i] != PTX_NO_TYPE ? snprintf(out + length, MAX_TEXT - length, "%s%s", dot, type)
                                        : snprintf(out + length, MAX_TEXT - length, "%s%.*s", dot, (int)parts[i].length, parts[i].at);
    length += (size_t)added;
    if (i == 0) length += (size_t)snprintf(out + length, MAX_TEXT - length, "%s", rounding);
  }
}

static bool try_spellings(Lower *lower, const Slice *parts, uint32_t count, Opcode *opcode) {
  char text[MAX_TEXT];
  static const char *const roundings[] = {"", ".rn", ".approx"}; // the last: ex2.f32 and the like of PTX 1
  for (unsigned i = 0; i < COUNT_OF(roundings); i++) {
    for (unsigned respell = 0; respell < RESPELL_COUNT; respell++) {
      spell(parts, count, (Respell)respell, roundings[i], text);
      if (!op_find(lower->index, slice_of(text), &opcode->op)) continue;
      opcode->narrow_bits = respell == LAST_AS_B32 || respell == FIRST_AS_B32 ? 16 : 0;
      return true;
    }
  }
  return false;
}

static bool resolve(Lower *lower, const Slice *parts, uint32_t count, Opcode *opcode) {
  Slice kept[MAX_PARTS];
  uint32_t kept_count = 0;
  uint16_t mods = 0;
  opcode->type = PTX_NO_TYPE;
  for (uint32_t i = 0; i < count; i++) {
    PtxType type;
    if (i && ptx_type_parse(parts[i], &type)) opcode->type = type;
    if (i && slice_is(parts[i], "ftz")) {
      mods |= MOD_FTZ;
    } else if (i && slice_is(parts[i], "sat")) {
      mods |= MOD_SAT;
    } else {
      kept[kept_count++] = parts[i];
    }
  }
  if (try_spellings(lower, parts, count, opcode)) return true; // rows that are only .ftz or .sat
  if (!mods || !try_spellings(lower, kept, kept_count, opcode)) return false;
  opcode->mods = mods;
  return !(mods & ~op_legal_mods(opcode->op));
}

bool opcode_resolve(Lower *lower, const Slice *parts, uint32_t count, Opcode *opcode) {
  char text[MAX_TEXT];
  size_t length = 0;
  if (count > MAX_PARTS) return false;
  for (uint32_t i = 0; i < count; i++) {
    if (length + parts[i].length + 2 > MAX_TEXT) return false;
    if (i) text[length++] = '.';
    memcpy(text + length, parts[i].at, parts[i].length);
    length += parts[i].length;
  }
  uint32_t index;
  if (!name_map_find(&lower->opcode_names, 0, (Slice){text, (uint32_t)length}, &index)) {
    Opcode found = {.op = OP_COUNT};
    if (!resolve(lower, parts, count, &found)) found.op = OP_COUNT;
    index = lower->opcodes.count;
    *(Opcode *)VEC_PUSH(&lower->opcodes, lower->scratch) = found;
    name_map_set(&lower->opcode_names, 0, (Slice){arena_copy_text(lower->scratch, text, length), (uint32_t)length}, index);
  }
  *opcode = lower->opcodes.items[index];
  return opcode->op != OP_COUNT;
}

const char *opcode_nearest(Lower *lower, Slice text) {
  const char **candidates = ARENA_ARRAY(lower->scratch, const char *, OP_COUNT);
  for (unsigned i = 0; i < OP_COUNT; i++) candidates[i] = op_info[i].text;
  return text_nearest(arena_copy_text(lower->scratch, text.at, text.length), candidates, OP_COUNT);
}
