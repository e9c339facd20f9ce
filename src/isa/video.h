// Video instructions: scalar (vadd vsub vabsdiff vmin vmax vshl vshr vmad vset) and SIMD on two
// halves or four bytes (vadd2 ... vset4). What an opcode's parts and its operands' selectors say
// is packed into the instruction's imm; .sat is MOD_SAT. Every imm is legal for every row (any
// selector field picks something), so that a flipped bit is another instruction, not an error.
// Source: PTX ISA manual, "Video Instructions".
#ifndef REDOUBT_ISA_VIDEO_H
#define REDOUBT_ISA_VIDEO_H

#include "isa/isa.h"

// ---- Packing of imm ------------------------------------------------------------------------
// All rows: [0] d signed [1] a signed [2] b signed
// Scalar:   [5:3] selector of a [8:6] of b [11:9] of d (VideoPart) [13:12] secondary operation
//           [14] shift amount wraps [15] -(a * b) [16] -c [17] .po [19:18] vmad scale: 0, 7, 15
//           [22:20] comparison (VideoCompare)
// SIMD:     [3] .add: d = c + sum of the selected results, else merge them into c
//           [15:4] lanes of a, 3 bits each [27:16] lanes of b [31:28] mask of lanes of d
//           A lane selector counts the bytes (halves) of a from 0, then those of b.
typedef enum VideoPart { VIDEO_WHOLE, VIDEO_B0, VIDEO_B1, VIDEO_B2, VIDEO_B3, VIDEO_H0, VIDEO_H1 } VideoPart;
typedef enum VideoSecondary { VIDEO_MERGE, VIDEO_ADD, VIDEO_MIN, VIDEO_MAX } VideoSecondary;
typedef enum VideoCompare { VIDEO_EQ, VIDEO_NE, VIDEO_LT, VIDEO_LE, VIDEO_GT, VIDEO_GE } VideoCompare;
enum {
  VIDEO_D_SIGNED = 1u << 0,
  VIDEO_A_SIGNED = 1u << 1,
  VIDEO_B_SIGNED = 1u << 2,
  VIDEO_A_PART = 3,
  VIDEO_B_PART = 6,
  VIDEO_D_PART = 9,
  VIDEO_SECONDARY = 12,
  VIDEO_WRAP = 1u << 14,
  VIDEO_NEGATE_PRODUCT = 1u << 15,
  VIDEO_NEGATE_C = 1u << 16,
  VIDEO_PLUS_ONE = 1u << 17,
  VIDEO_SCALE = 18,
  VIDEO_COMPARE = 20,
  VIDEO_ACCUMULATE = 1u << 3,
  VIDEO_A_LANES = 4,
  VIDEO_B_LANES = 16,
  VIDEO_MASK = 28,
};

// What the operation does with the two selected values; the row passes it to its body.
typedef enum VideoOperation {
  VIDEO_OP_ADD,
  VIDEO_OP_SUB,
  VIDEO_OP_ABSDIFF,
  VIDEO_OP_MIN,
  VIDEO_OP_MAX,
  VIDEO_OP_AVERAGE,
  VIDEO_OP_SHL,
  VIDEO_OP_SHR,
  VIDEO_OP_SET,
  VIDEO_OP_SET_EQ,
  VIDEO_OP_SET_NE,
  VIDEO_OP_SET_LT,
  VIDEO_OP_SET_LE,
  VIDEO_OP_SET_GT,
  VIDEO_OP_SET_GE,
} VideoOperation;

// ---- Bodies --------------------------------------------------------------------------------
uint32_t video_scalar(VideoOperation operation, uint32_t a, uint32_t b, uint32_t c, uint32_t imm, bool saturate);
uint32_t video_multiply(uint32_t a, uint32_t b, uint32_t c, uint32_t imm, bool saturate); // vmad
uint32_t video_simd(VideoOperation operation, unsigned lanes, uint32_t a, uint32_t b, uint32_t c, uint32_t imm, bool saturate);

// ---- For the front end -----------------------------------------------------------------------
typedef enum VideoOperand { VIDEO_OPERAND_D, VIDEO_OPERAND_A, VIDEO_OPERAND_B } VideoOperand;

// From the opcode's dot parts, parts[0] being "vadd4" and the like: the row, imm with default
// selectors, and MOD_SAT. False: not a legal video opcode. Operands are d, a, b and, where present, c
// (register c; RZ when absent). imm holds the packing, so a, b and c must be registers.
bool video_parse(const Slice *parts, unsigned count, Op *op, uint32_t *imm, uint16_t *mods);
// Adds an operand's selector, as written without its dot ("b0", "h1", "b7632", "h10"); for d of the
// SIMD forms it is the mask. False: no such selector for this operand of this row.
bool video_select(Op op, VideoOperand operand, Slice selector, uint32_t *imm);
// The negations of vmad's operands: a and b share one sign.
uint32_t video_negate(uint32_t imm, bool product, bool addend);

#endif
