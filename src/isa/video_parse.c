// Opcodes and operand selectors of the video instructions -> row, imm and modifiers.
// Source: PTX ISA manual, "Video Instructions", syntax sections.
#include "isa/video.h"
#include "isa/parts.h"

// Default selectors, octal so that each digit is a lane: each lane of a with the same lane of b, all lanes of d.
enum {
  LANES4_DEFAULT = 03210u << VIDEO_A_LANES | 07654u << VIDEO_B_LANES,
  LANES2_DEFAULT = 010u << VIDEO_A_LANES | 032u << VIDEO_B_LANES,
};
#define MASK4_DEFAULT (0xFu << VIDEO_MASK)
#define MASK2_DEFAULT (0x3u << VIDEO_MASK)

typedef enum Family { SCALAR, SHIFT, MULTIPLY, SET, SIMD, SIMD_SET } Family;
typedef struct Opcode {
  const char *name;
  Op op;
  uint8_t family, lanes;
} Opcode;
static const Opcode opcodes[] = {
    {"vadd", OP_VADD, SCALAR, 1},         {"vsub", OP_VSUB, SCALAR, 1},        {"vabsdiff", OP_VABSDIFF, SCALAR, 1},
    {"vmin", OP_VMIN, SCALAR, 1},         {"vmax", OP_VMAX, SCALAR, 1},        {"vshl", OP_VSHL, SHIFT, 1},
    {"vshr", OP_VSHR, SHIFT, 1},          {"vmad", OP_VMAD, MULTIPLY, 1},      {"vset", OP_VSET, SET, 1},
    {"vadd2", OP_VADD2, SIMD, 2},         {"vsub2", OP_VSUB2, SIMD, 2},        {"vavrg2", OP_VAVRG2, SIMD, 2},
    {"vabsdiff2", OP_VABSDIFF2, SIMD, 2}, {"vmin2", OP_VMIN2, SIMD, 2},        {"vmax2", OP_VMAX2, SIMD, 2},
    {"vadd4", OP_VADD4, SIMD, 4},         {"vsub4", OP_VSUB4, SIMD, 4},        {"vavrg4", OP_VAVRG4, SIMD, 4},
    {"vabsdiff4", OP_VABSDIFF4, SIMD, 4}, {"vmin4", OP_VMIN4, SIMD, 4},        {"vmax4", OP_VMAX4, SIMD, 4},
    {"vset2", OP_VSET2_EQ, SIMD_SET, 2},  {"vset4", OP_VSET4_EQ, SIMD_SET, 4},
};
static const char *const comparisons[] = {"eq", "ne", "lt", "le", "gt", "ge"};
static const Op set2_rows[] = {OP_VSET2_EQ, OP_VSET2_NE, OP_VSET2_LT, OP_VSET2_LE, OP_VSET2_GT, OP_VSET2_GE};
static const Op set4_rows[] = {OP_VSET4_EQ, OP_VSET4_NE, OP_VSET4_LT, OP_VSET4_LE, OP_VSET4_GT, OP_VSET4_GE};

static bool next_type(Parts *parts, uint32_t signed_bit, uint32_t *imm) {
  if (next_is(parts, "u32")) return true;
  if (!next_is(parts, "s32")) return false;
  *imm |= signed_bit;
  return true;
}
static bool next_comparison(Parts *parts, unsigned *comparison) {
  for (*comparison = 0; *comparison < COUNT_OF(comparisons); ++*comparison)
    if (next_is(parts, comparisons[*comparison])) return true;
  return false;
}

// .add .min .max after the types and .sat.
static void scalar_secondary(Parts *parts, uint32_t *imm) {
  VideoSecondary secondary = next_is(parts, "add")   ? VIDEO_ADD
                             : next_is(parts, "min") ? VIDEO_MIN
                             : next_is(parts, "max") ? VIDEO_MAX
                                                     : VIDEO_MERGE;
  *imm |= (uint32_t)secondary << VIDEO_SECONDARY;
}

static bool parse_shift(Parts *parts, uint32_t *imm) {
  if (next_is(parts, "wrap")) *imm |= VIDEO_WRAP;
  else if (!next_is(parts, "clamp")) return false;
  scalar_secondary(parts, imm);
  return true;
}

static bool parse_set(Parts *parts, uint32_t *imm) {
  unsigned comparison;
  if (!next_comparison(parts, &comparison)) return false;
  *imm |= comparison << VIDEO_COMPARE;
  scalar_secondary(parts, imm);
  return true;
}

static bool parse_simd_set(Parts *parts, const Opcode *opcode, Op *op, uint32_t *imm) {
  unsigned comparison;
  if (!next_comparison(parts, &comparison)) return false;
  *op = (opcode->lanes == 2 ? set2_rows : set4_rows)[comparison];
  if (next_is(parts, "add")) *imm |= VIDEO_ACCUMULATE;
  return true;
}

static const Opcode *find_opcode(Slice name) {
  for (size_t i = 0; i < COUNT_OF(opcodes); i++)
    if (slice_is(name, opcodes[i].name)) return &opcodes[i];
  return NULL;
}

bool video_parse(const Slice *parts, unsigned count, Op *op, uint32_t *imm, uint16_t *mods) {
  const Opcode *opcode = count ? find_opcode(parts[0]) : NULL;
  if (!opcode) return false;
  Parts rest = {parts + 1, count - 1};
  bool is_set = opcode->family == SET || opcode->family == SIMD_SET, fine = true;
  *op = opcode->op;
  *mods = 0;
  *imm = opcode->lanes == 4 ? LANES4_DEFAULT | MASK4_DEFAULT : opcode->lanes == 2 ? LANES2_DEFAULT | MASK2_DEFAULT : 0;
  if (!is_set && !next_type(&rest, VIDEO_D_SIGNED, imm)) return false;
  if (!next_type(&rest, VIDEO_A_SIGNED, imm) || !next_type(&rest, VIDEO_B_SIGNED, imm)) return false;
  if (opcode->family == MULTIPLY && next_is(&rest, "po")) *imm |= VIDEO_PLUS_ONE;
  if (!is_set && next_is(&rest, "sat")) *mods |= MOD_SAT;
  switch ((Family)opcode->family) {
  case SCALAR: scalar_secondary(&rest, imm); break;
  case SHIFT: fine = !(*imm & VIDEO_B_SIGNED) && parse_shift(&rest, imm); break;
  case MULTIPLY: *imm |= (next_is(&rest, "shr7") ? 1u : next_is(&rest, "shr15") ? 2u : 0u) << VIDEO_SCALE; break;
  case SET: fine = parse_set(&rest, imm); break;
  case SIMD:
    if (next_is(&rest, "add")) *imm |= VIDEO_ACCUMULATE;
    break;
  case SIMD_SET: fine = parse_simd_set(&rest, opcode, op, imm); break;
  }
  bool both = opcode->family == SIMD && (*imm & VIDEO_ACCUMULATE) && (*mods & MOD_SAT);
  return fine && !both && rest.left == 0;
}

// ---- Operand selectors -----------------------------------------------------------------------
static bool select_part(VideoOperand operand, Slice selector, uint32_t *imm) {
  static const char *const names[] = {"", "b0", "b1", "b2", "b3", "h0", "h1"};
  static const uint8_t shifts[] = {VIDEO_D_PART, VIDEO_A_PART, VIDEO_B_PART};
  for (uint32_t part = VIDEO_B0; part <= VIDEO_H1; part++) {
    if (!slice_is(selector, names[part])) continue;
    *imm = (*imm & ~(7u << shifts[operand])) | part << shifts[operand];
    return true;
  }
  return false;
}

// ".b20": the mask 0101; digits fall, each below the number of lanes.
static bool select_mask(unsigned lanes, Slice selector, uint32_t *imm) {
  uint32_t mask = 0, above = lanes;
  for (uint32_t i = 1; i < selector.length; i++) {
    uint32_t digit = (uint32_t)(selector.at[i] - '0');
    if (selector.at[i] < '0' || digit >= above) return false;
    mask |= 1u << digit;
    above = digit;
  }
  *imm = (*imm & ~(0xFu << VIDEO_MASK)) | mask << VIDEO_MASK;
  return mask != 0;
}

// ".b7632": the leftmost digit is for the highest lane.
static bool select_lanes(unsigned lanes, unsigned shift, Slice selector, uint32_t *imm) {
  if (selector.length != lanes + 1) return false;
  for (unsigned i = 0; i < lanes; i++) {
    char digit = selector.at[lanes - i];
    if (digit < '0' || digit >= (char)('0' + 2 * lanes)) return false;
    *imm = (*imm & ~(7u << (shift + 3 * i))) | (uint32_t)(digit - '0') << (shift + 3 * i);
  }
  return true;
}

static unsigned row_lanes(Op op) {
  if (op >= OP_VSET2_EQ) return (op - OP_VSET2_EQ) % 2 ? 4 : 2;
  for (size_t i = 0; i < COUNT_OF(opcodes); i++)
    if (opcodes[i].op == op) return opcodes[i].lanes;
  return 1;
}

bool video_select(Op op, VideoOperand operand, Slice selector, uint32_t *imm) {
  unsigned lanes = row_lanes(op);
  if (lanes == 1) return (op != OP_VMAD || operand != VIDEO_OPERAND_D) && select_part(operand, selector, imm);
  if (selector.length < 2 || selector.at[0] != (lanes == 4 ? 'b' : 'h')) return false;
  if (operand == VIDEO_OPERAND_D) return select_mask(lanes, selector, imm);
  return select_lanes(lanes, operand == VIDEO_OPERAND_A ? VIDEO_A_LANES : VIDEO_B_LANES, selector, imm);
}

uint32_t video_negate(uint32_t imm, bool product, bool addend) {
  return imm | (product ? VIDEO_NEGATE_PRODUCT : 0) | (addend ? VIDEO_NEGATE_C : 0);
}
