// Where operands and modifiers lie in each instruction form. Source: FlexGripPlus instruction reference, sections 2 and 4.
#include "sass/sass_internal.h"

#define BIT(n) (UINT64_C(1) << (n))
#define AT(low, width) \
  { (low), (width) }

// A shared first operand: where it is selected, its element type and index.
#define SHARED_LONG .a_shared = AT(53, 1), .a_type = AT(14, 2), .a_index = AT(9, 4)
#define SHARED_LONG_FLOAT .a_shared = AT(53, 1), .a_type = AT(14, 2), .a_index = AT(9, 5)
#define SHARED_SHORT .a_shared = AT(24, 1), .a_type = AT(13, 2), .a_index = AT(9, 4)
// A constant second operand at I[22:16]; segment 1 goes with it.
#define CONST_LONG .b_const = AT(23, 1), .b_index = AT(16, 7), .constant_rest = BIT(54)
#define CONST_FLOAT .b_const = AT(54, 1), .b_index = AT(16, 7), .constant_rest = BIT(23)
#define CONST_HALF .b_const = AT(23, 1), .b_index = AT(16, 6)

#define HALF_DAB .d = AT(2, 6), .a = AT(9, 6), .b = AT(16, 6), SHARED_SHORT, CONST_HALF, .write = SASS_WRITE_GPR32
#define LONG_DA .d = AT(2, 7), .a = AT(9, 7), .write = SASS_WRITE_GPR32
#define LONG_DAB LONG_DA, .b = AT(16, 7)
#define LONG_DA_ADD                                                                                                                    \
  LONG_DA, .b = AT(46, 7), .b_index = AT(46, 7), .wide = AT(58, 1), .saturate = AT(59, 1), .d_width = WIDTH_BIT, .a_width = WIDTH_BIT, \
           .b_width = WIDTH_BIT, SHARED_LONG, .literals = true
#define IMM_DA .d = AT(2, 7), .a = AT(9, 6), .b_immediate = AT(0, 1), .write = SASS_WRITE_GPR32
#define OWN_LITERAL .b_literal = AT(52, 1), .literal_in_text = true, .literals = true
#define TEXTS_DA .texts = {TEXT_D, TEXT_A}
#define TEXTS_DAB .texts = {TEXT_D, TEXT_A, TEXT_B}
#define TEXTS_DABC .texts = {TEXT_D, TEXT_A, TEXT_B, TEXT_C}
#define TEXTS_DAI .texts = {TEXT_D, TEXT_A, TEXT_IMMEDIATE}
#define TEXTS_DAIC .texts = {TEXT_D, TEXT_A, TEXT_IMMEDIATE, TEXT_C}
#define STYLES(first, second) .styles = {STYLE_##first, STYLE_##second}

const Layout sass_layouts[LAYOUT_COUNT] = {
    // ---- HALF
    [LAYOUT_MOV_HALF] = {.d = AT(2, 7),
                         .a = AT(9, 6),
                         SHARED_SHORT,
                         .wide = AT(15, 1),
                         .d_width = WIDTH_BIT,
                         .a_width = WIDTH_BIT,
                         .write = SASS_WRITE_GPR32,
                         TEXTS_DA,
                         STYLES(WIDE_15, NONE)},
    [LAYOUT_IADD_HALF] = {HALF_DAB, .b_negate = AT(22, 1), .wide = AT(15, 1), .d_width = WIDTH_BIT, .a_width = WIDTH_BIT,
                          .b_width = WIDTH_BIT, TEXTS_DAB, STYLES(WIDE_15, NONE)},
    [LAYOUT_ISUB_HALF] = {HALF_DAB, .wide = AT(15, 1), .d_width = WIDTH_BIT, .a_width = WIDTH_BIT, .b_width = WIDTH_BIT, TEXTS_DAB,
                          STYLES(WIDE_15, NONE)},
    [LAYOUT_IMUL_HALF] = {HALF_DAB, .is_signed = AT(15, 1), .a_width = WIDTH_16, .b_width = WIDTH_16, TEXTS_DAB, STYLES(PRODUCT_15, NONE)},
    [LAYOUT_IMAD_HALF] = {HALF_DAB, .a_width = WIDTH_16, .b_width = WIDTH_16, .c_is_d = true, TEXTS_DABC, STYLES(MAD_U16, NONE)},
    [LAYOUT_SFU_HALF] = {.d = AT(2, 6), .a = AT(9, 7), .write = SASS_WRITE_GPR32, TEXTS_DA},
    [LAYOUT_I2I_HALF] = {.d = AT(2, 6),
                         .a = AT(9, 6),
                         SHARED_SHORT,
                         .d_width = WIDTH_16,
                         .a_width = WIDTH_16,
                         .write = SASS_WRITE_GPR32,
                         TEXTS_DA,
                         STYLES(I2I_HALF, NONE)},
    [LAYOUT_FADD_HALF] = {HALF_DAB, .a_negate = AT(15, 1), .b_negate = AT(22, 1), TEXTS_DAB},
    [LAYOUT_FMUL_HALF] = {HALF_DAB, .a_negate = AT(15, 1), TEXTS_DAB},
    [LAYOUT_LOP_HALF] = {HALF_DAB, .d_width = WIDTH_16, .a_width = WIDTH_16, .b_width = WIDTH_16, TEXTS_DAB, STYLES(LOGIC_HALF, NONE)},
    [LAYOUT_FMAD_HALF] = {HALF_DAB, .c_is_d = true, TEXTS_DABC},
    [LAYOUT_NOP] = {.guard_silent = true, .guard_never = true, .write = SASS_WRITE_NOTHING},
    // ---- IMM
    [LAYOUT_MVI] = {.d = AT(2, 7),
                    .b_immediate = AT(0, 1),
                    .wide = AT(15, 1),
                    .d_width = WIDTH_BIT,
                    .write = SASS_WRITE_GPR32,
                    .texts = {TEXT_D, TEXT_IMMEDIATE},
                    STYLES(WIDE_15, NONE)},
    [LAYOUT_IADD_IMM] = {IMM_DA, SHARED_SHORT, .b_negate = AT(22, 1), .wide = AT(15, 1), .d_width = WIDTH_BIT, .a_width = WIDTH_BIT,
                         TEXTS_DAI, STYLES(WIDE_15, NONE)},
    [LAYOUT_ISUB_IMM] = {IMM_DA, SHARED_SHORT, .wide = AT(15, 1), .d_width = WIDTH_BIT, .a_width = WIDTH_BIT, TEXTS_DAI,
                         STYLES(WIDE_15, NONE)},
    [LAYOUT_IMUL_IMM] = {.d = AT(2, 6),
                         .a = AT(9, 6),
                         .b_immediate = AT(0, 1),
                         SHARED_SHORT,
                         .wide = AT(22, 1),
                         .is_signed = AT(15, 1),
                         .a_width = WIDTH_BIT,
                         .write = SASS_WRITE_GPR32,
                         TEXTS_DAI,
                         STYLES(PRODUCT_IMM, NONE)},
    [LAYOUT_IMAD_IMM] = {.d = AT(2, 6),
                         .a = AT(9, 6),
                         .b_immediate = AT(0, 1),
                         .a_shared = AT(13, 1),
                         .a_type = AT(13, 2),
                         .a_index = AT(9, 4),
                         .shared_rest = BIT(24),
                         .is_signed = AT(8, 1),
                         .a_width = WIDTH_16,
                         .c_is_d = true,
                         .write = SASS_WRITE_GPR32,
                         TEXTS_DAIC,
                         STYLES(MAD_IMM, NONE)},
    [LAYOUT_FLOAT_IMM] = {IMM_DA, SHARED_SHORT, .a_negate = AT(15, 1), .signed_immediate = true, TEXTS_DAI},
    [LAYOUT_FMAD_IMM] = {IMM_DA, SHARED_SHORT, .a_negate = AT(15, 1), .c_is_d = true, .signed_immediate = true, TEXTS_DAIC},
    [LAYOUT_ZERO_IMM] = {.d = AT(2, 7), .a = AT(9, 6), .write = SASS_WRITE_GPR32},
    // ---- LONG: moves
    [LAYOUT_C2R] = {.d = AT(2, 7), .carry = true, .write = SASS_WRITE_GPR32, .texts = {TEXT_D, TEXT_FLAGS}},
    [LAYOUT_A2R] = {.d = AT(2, 7), .uses_address = true, .write = SASS_WRITE_GPR32, .texts = {TEXT_D, TEXT_ADDRESS}},
    [LAYOUT_R2C] = {.a = AT(9, 7), .write = SASS_WRITE_NOTHING, .texts = {TEXT_A}},
    [LAYOUT_R2A] = {.d = AT(2, 7),
                    .a = AT(9, 6),
                    .b = AT(16, 7),
                    SHARED_LONG,
                    .write = SASS_WRITE_ADDRESS,
                    .texts = {TEXT_D_ADDRESS, TEXT_A, TEXT_AMOUNT}},
    [LAYOUT_R2G] = {.c = AT(46, 7),
                    .wide = AT(58, 1),
                    .c_width = WIDTH_BIT,
                    .uses_address = true,
                    .write = SASS_WRITE_SHARED,
                    .texts = {TEXT_SHARED_STORE, TEXT_DATA},
                    STYLES(STORE_SHARED, TO_INTEGER)},
    [LAYOUT_MOV_LONG] = {LONG_DA, SHARED_LONG_FLOAT, .wide = AT(58, 1), .d_width = WIDTH_BIT, .a_width = WIDTH_BIT, TEXTS_DA,
                         STYLES(WIDE_58, NONE)},
    [LAYOUT_MVC] = {.d = AT(2, 7),
                    .wide = AT(58, 1),
                    .type = AT(46, 2),
                    .d_width = WIDTH_BIT,
                    .constant_rest = BIT(54),
                    .write = SASS_WRITE_GPR32,
                    .texts = {TEXT_D, TEXT_CONSTANT},
                    STYLES(CONSTANT, NONE)},
    // ---- LONG: integers
    [LAYOUT_IADD_LONG] = {LONG_DA_ADD, .b_const = AT(24, 1), .constant_rest = BIT(54), .b_negate = AT(22, 1), TEXTS_DAB,
                          STYLES(SATURATE_58, NONE)},
    [LAYOUT_ISUB_LONG] = {LONG_DA_ADD, .b_const = AT(23, 1), .constant_rest = BIT(54), TEXTS_DAB, STYLES(SATURATE_58, NONE)},
    [LAYOUT_IADDC] = {LONG_DA_ADD, .b_const = AT(23, 1), .constant_rest = BIT(54), .carry = true, TEXTS_DAB, STYLES(SATURATE_58, NONE)},
    [LAYOUT_ISET] = {LONG_DAB, SHARED_LONG, CONST_LONG, .wide = AT(58, 1), .b_width = WIDTH_VALUE, .is_signed = AT(59, 1),
                     .select = AT(46, 3), .texts = {TEXT_D, TEXT_A, TEXT_B, TEXT_COMPARE}, STYLES(SIGN_58, NONE)},
    [LAYOUT_IMAX] = {LONG_DAB, SHARED_LONG, CONST_LONG, .wide = AT(58, 1), .is_signed = AT(59, 1), .d_width = WIDTH_BIT,
                     .a_width = WIDTH_BIT, .b_width = WIDTH_BIT, OWN_LITERAL, TEXTS_DAB, STYLES(SIGN_58, NONE)},
    [LAYOUT_SHIFT] = {LONG_DAB, SHARED_LONG, CONST_LONG, .wide = AT(58, 1), .is_signed = AT(59, 1), .d_width = WIDTH_BIT,
                      .a_width = WIDTH_BIT, OWN_LITERAL, TEXTS_DAB, STYLES(SIGN_58, NONE)},
    [LAYOUT_ZERO] = {LONG_DA},
    [LAYOUT_IMUL_LONG] = {LONG_DAB, SHARED_LONG, CONST_LONG, .wide = AT(48, 1), .is_signed = AT(47, 1), .a_width = WIDTH_BIT,
                          .b_width = WIDTH_BIT, OWN_LITERAL, TEXTS_DAB, STYLES(PRODUCT_47, NONE)},
    [LAYOUT_IMADC] = {LONG_DAB, .c = AT(46, 7), SHARED_LONG, CONST_LONG, .c_const = AT(24, 1), .a_width = WIDTH_MAD, .b_width = WIDTH_MAD,
                      .literals = true, .carry = true, TEXTS_DABC, STYLES(MAD_SUB, NONE)},
    [LAYOUT_IMAD_LONG] = {LONG_DAB, .c = AT(46, 7), SHARED_LONG, CONST_LONG, .c_const = AT(24, 1), .a_width = WIDTH_MAD,
                          .b_width = WIDTH_MAD, .literals = true, TEXTS_DABC, STYLES(MAD_SUB, NONE)},
    [LAYOUT_LOP_LONG] = {LONG_DAB, SHARED_LONG, CONST_LONG, .wide = AT(58, 1), .inverts = AT(48, 2), .select = AT(46, 2),
                         .d_width = WIDTH_BIT, .a_width = WIDTH_BIT, .b_width = WIDTH_BIT, OWN_LITERAL, TEXTS_DAB, STYLES(LOGIC, WIDE_58)},
    // ---- LONG: conversions and floats
    [LAYOUT_SFU_LONG] = {LONG_DA, TEXTS_DA},
    [LAYOUT_I2I_LONG] = {LONG_DA, SHARED_LONG, .a_negate = AT(61, 1), .absolute = AT(51, 2), .wide = AT(58, 1), .type = AT(46, 3),
                         .d_width = WIDTH_BIT, .a_width = WIDTH_TYPE, TEXTS_DA, STYLES(TO_INTEGER, SOURCE_TYPE)},
    [LAYOUT_I2I_ALIAS] = {LONG_DA, SHARED_LONG, .absolute = AT(51, 2), .wide = AT(58, 1), .type = AT(46, 3), .d_width = WIDTH_BIT,
                          .a_width = WIDTH_TYPE, TEXTS_DA, STYLES(TO_INTEGER, SOURCE_TYPE)},
    [LAYOUT_I2F] = {LONG_DA, SHARED_LONG, .type = AT(46, 3), .rounding = AT(49, 2), .a_width = WIDTH_TYPE, TEXTS_DA,
                    STYLES(FLOAT_OF, ROUNDING)},
    [LAYOUT_F2I] = {LONG_DA, SHARED_LONG, .wide = AT(58, 1), .is_signed = AT(59, 1), .rounding = AT(49, 2), .d_width = WIDTH_BIT, TEXTS_DA,
                    STYLES(OF_FLOAT, ROUNDING)},
    [LAYOUT_F2F] = {LONG_DA, SHARED_LONG, .a_negate = AT(61, 1), .absolute = AT(52, 1), TEXTS_DA, STYLES(FLOAT_FLOAT, NONE)},
    [LAYOUT_FADD_LONG] = {LONG_DA, .b = AT(46, 7), SHARED_LONG_FLOAT, .b_const = AT(24, 1), .b_index = AT(46, 8), .constant_rest = BIT(54),
                          .a_negate = AT(58, 1), .b_negate = AT(59, 1), .literals = true, TEXTS_DAB},
    [LAYOUT_FSET] = {LONG_DAB, SHARED_LONG_FLOAT, CONST_FLOAT, .select = AT(46, 3), .absolute = AT(52, 1),
                     .texts = {TEXT_D, TEXT_A, TEXT_B, TEXT_COMPARE}},
    [LAYOUT_RRO] = {LONG_DA, .texts = {TEXT_D, TEXT_A, TEXT_REDUCTION}},
    [LAYOUT_FMUL_LONG] = {LONG_DAB, SHARED_LONG_FLOAT, CONST_FLOAT, .a_negate = AT(58, 1), .b_negate = AT(59, 1), .rounding = AT(46, 2),
                          OWN_LITERAL, TEXTS_DAB, STYLES(TRUNCATE, NONE)},
    [LAYOUT_FMAD_LONG] = {LONG_DAB, .c = AT(46, 7), .six_bits = true, .one_selector = true, SHARED_LONG_FLOAT, CONST_FLOAT,
                          .c_const = AT(24, 1), .a_negate = AT(58, 1), .c_negate = AT(59, 1), .literals = true, TEXTS_DABC},
    // ---- LONG: addresses and memory
    [LAYOUT_ADA] = {.d = AT(2, 7),
                    .uses_address = true,
                    .guard_ignored = true,
                    .write = SASS_WRITE_ADDRESS,
                    .texts = {TEXT_D_ADDRESS, TEXT_ADDRESS, TEXT_AMOUNT}},
    [LAYOUT_LLD] = {LONG_DA},
    [LAYOUT_LST] = {.a = AT(9, 7), .write = SASS_WRITE_NEVER},
    [LAYOUT_GLD] = {LONG_DA, .uses_address = true, .texts = {TEXT_D, TEXT_GLOBAL}, STYLES(GLOBAL, NONE)},
    [LAYOUT_GST] = {.a = AT(9, 7),
                    .c = AT(2, 7),
                    .uses_address = true,
                    .write = SASS_WRITE_GLOBAL,
                    .texts = {TEXT_GLOBAL, TEXT_DATA},
                    STYLES(GLOBAL, NONE)},
    // ---- Control
    [LAYOUT_TARGET] = {.write = SASS_WRITE_NOTHING, .texts = {TEXT_TARGET}},
    [LAYOUT_PUSH] = {.guard_never = true, .write = SASS_WRITE_NOTHING, .texts = {TEXT_TARGET}},
    [LAYOUT_CALL] = {.guard_never = true, .write = SASS_WRITE_NOTHING, .texts = {TEXT_TARGET}, STYLES(NOINC, NONE)},
    [LAYOUT_FLOW] = {.write = SASS_WRITE_NOTHING},
    [LAYOUT_BAR] = {.guard_never = true, .write = SASS_WRITE_BARRIER, .texts = {TEXT_BARRIER, TEXT_THREADS}, STYLES(BARRIER, NONE)},
};
