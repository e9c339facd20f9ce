// Where the parts of an instruction lie in its 64 bits: read by the decoder, written by the encoder, named by the
// printer and the parser. One description for all four.
#ifndef REDOUBT_SASS_INTERNAL_H
#define REDOUBT_SASS_INTERNAL_H

#include "sass/sass.h"

// `width` bits of I from `low` on; width 0 = the instruction has no such part.
typedef struct Field {
  uint8_t low, width;
} Field;
static inline uint64_t field_mask(Field field) { return ((UINT64_C(1) << field.width) - 1) << field.low; }
static inline uint32_t field_get(uint64_t word, Field field) { return (uint32_t)((word & field_mask(field)) >> field.low); }
static inline uint64_t field_put(uint64_t word, Field field, uint32_t value) {
  return (word & ~field_mask(field)) | ((uint64_t)value << field.low & field_mask(field));
}

// When a register operand is a 16-bit half register.
typedef enum WidthRule {
  WIDTH_32,
  WIDTH_16,
  WIDTH_BIT,   // the layout's `wide` bit is 0
  WIDTH_TYPE,  // by the source type of a conversion
  WIDTH_VALUE, // never, but a constant operand is 16 bits when the `wide` bit is 0 (ISET)
  WIDTH_MAD    // sub-operations 0 to 2 of IMAD
} WidthRule;

// What an operand prints and parses as.
typedef enum OperandText {
  TEXT_NOTHING,
  TEXT_D,         // destination register
  TEXT_D_ADDRESS, // destination address register
  TEXT_A,
  TEXT_B,
  TEXT_C,
  TEXT_ADDRESS,      // Aa as a source
  TEXT_AMOUNT,       // b as a plain number (shift of R2A, addend of ADA)
  TEXT_GLOBAL,       // global14[a] or global14[Aa+a]
  TEXT_SHARED_STORE, // g[Aa+index]
  TEXT_DATA,         // c of a store
  TEXT_COMPARE,      // LT, EQ, ...
  TEXT_REDUCTION,    // SIN, EX2
  TEXT_FLAGS,        // the guard's predicate register (C2R)
  TEXT_CONSTANT,     // a as c[0x1] [index] (MVC)
  TEXT_TARGET,
  TEXT_BARRIER, // b0
  TEXT_THREADS,
  TEXT_IMMEDIATE, // the 32-bit immediate
} OperandText;
enum { MOST_OPERANDS = 4 };

// A suffix of the mnemonic stands for these bits, under its style's mask. Of entries of a style with the same text the
// first is canonical.
typedef struct StyleEntry {
  uint8_t style; // StyleId
  const char *text;
  uint64_t bits;
} StyleEntry;
enum { MAX_STYLES = 2 };

typedef struct Layout {
  Field d, a, b, c;                            // register fields
  Field a_shared, a_index, a_type;             // shared operand: selector, element index, element type
  Field b_const, b_index, c_const;             // constant operand: selector, index (c: its register field)
  Field b_immediate;                           // width 1: b is the 32-bit immediate of the format
  Field a_negate, b_negate, c_negate, inverts; // `inverts`: bit 0 of a, bit 1 of b
  Field absolute;
  Field b_literal; // b is the number in its field; where it lies in b or c, the text shows a register
  Field wide, is_signed, saturate, select, type, rounding;
  uint8_t d_width, a_width, b_width, c_width; // WidthRule
  bool six_bits;                              // of the a and c register fields the machine looks at 6 bits (FMAD)
  bool one_selector;                          // b_const selects a constant, c_const says that it is c (FMAD)
  uint64_t constant_rest;                     // bits that go with a constant operand (segment 1, selectors of NVIDIA's)
  uint64_t shared_rest;                       // likewise with a shared one
  bool c_is_d;                                // the third operand is the destination register
  bool literal_in_text;                       // the literal has a bit of its own and prints as a number
  bool literals;                              // obeys the literal rule (LONG ALU operations)
  bool uses_address;                          // names Aa itself, other than for a shared operand
  bool carry;                                 // reads the carry of the guard's predicate register
  bool guard_ignored;                         // ADA
  bool guard_never;                           // rests at condition 0, "never", which the machine does not look at
  bool guard_silent;                          // has no guard in the text (NOP)
  bool signed_immediate;                      // prints the immediate as a signed number (floats)
  uint8_t write;                              // SassWrite
  uint8_t texts[MOST_OPERANDS];               // OperandText
  uint8_t styles[MAX_STYLES];                 // StyleId
} Layout;

typedef enum StyleId {
#define STYLE(id, mask) STYLE_##id,
#include "sass/styles.def"
#undef STYLE
  STYLE_COUNT
} StyleId;

typedef enum LayoutId {
  LAYOUT_MOV_HALF,
  LAYOUT_IADD_HALF,
  LAYOUT_ISUB_HALF,
  LAYOUT_IMUL_HALF,
  LAYOUT_IMAD_HALF,
  LAYOUT_SFU_HALF,
  LAYOUT_I2I_HALF,
  LAYOUT_FADD_HALF,
  LAYOUT_FMUL_HALF,
  LAYOUT_LOP_HALF,
  LAYOUT_FMAD_HALF,
  LAYOUT_NOP,
  LAYOUT_MVI,
  LAYOUT_IADD_IMM,
  LAYOUT_ISUB_IMM,
  LAYOUT_IMUL_IMM,
  LAYOUT_IMAD_IMM,
  LAYOUT_FLOAT_IMM,
  LAYOUT_FMAD_IMM,
  LAYOUT_ZERO_IMM,
  LAYOUT_C2R,
  LAYOUT_A2R,
  LAYOUT_R2C,
  LAYOUT_R2A,
  LAYOUT_R2G,
  LAYOUT_MOV_LONG,
  LAYOUT_MVC,
  LAYOUT_IADD_LONG,
  LAYOUT_ISUB_LONG,
  LAYOUT_IADDC,
  LAYOUT_ISET,
  LAYOUT_IMAX,
  LAYOUT_SHIFT,
  LAYOUT_ZERO,
  LAYOUT_IMUL_LONG,
  LAYOUT_IMADC,
  LAYOUT_IMAD_LONG,
  LAYOUT_LOP_LONG,
  LAYOUT_SFU_LONG,
  LAYOUT_I2I_LONG,
  LAYOUT_I2I_ALIAS,
  LAYOUT_I2F,
  LAYOUT_F2I,
  LAYOUT_F2F,
  LAYOUT_FADD_LONG,
  LAYOUT_FSET,
  LAYOUT_RRO,
  LAYOUT_FMUL_LONG,
  LAYOUT_FMAD_LONG,
  LAYOUT_ADA,
  LAYOUT_LLD,
  LAYOUT_LST,
  LAYOUT_GLD,
  LAYOUT_GST,
  LAYOUT_TARGET,
  LAYOUT_PUSH,
  LAYOUT_CALL,
  LAYOUT_FLOW,
  LAYOUT_BAR,
  LAYOUT_COUNT
} LayoutId;

// What a row says beyond SassRowInfo.
typedef struct RowDetail {
  uint64_t rest;
  uint8_t layout;     // LayoutId
  uint16_t ops[2][2]; // Op by [signed][wide]; OP_COUNT = none
  uint8_t read, exec; // SassRead, SassExec
  uint8_t reads;      // most register operands that READ pays for
} RowDetail;
extern const RowDetail sass_row_details[SASS_ROW_COUNT];
extern const Layout sass_layouts[LAYOUT_COUNT];
extern const uint64_t sass_style_masks[STYLE_COUNT];
extern const StyleEntry sass_style_entries[];
extern const uint32_t sass_style_entry_count;

// Fields common to LONG and CONTROL words.
#define FIELD_GUARD_REGISTER ((Field){44, 2})
#define FIELD_GUARD_CONDITION ((Field){39, 5})
#define FIELD_SETS ((Field){38, 1})
#define FIELD_PREDICATE ((Field){36, 2})
#define FIELD_OUTPUT ((Field){35, 1})
#define FIELD_MARKER ((Field){32, 2})
#define FIELD_TARGET ((Field){9, 19})
#define FIELD_BARRIER ((Field){21, 4})
#define FIELD_THREADS ((Field){9, 12})
#define FIELD_STORE_INDEX ((Field){9, 13})
#define FIELD_STORE_SIZE ((Field){53, 3})
#define FIELD_ADA_AMOUNT ((Field){9, 14})
#define FIELD_REDUCTION ((Field){46, 1})
#define FIELD_INCREMENT ((Field){25, 1})
enum { MARKER_NORMAL = 0, MARKER_JOIN = 2, MARKER_IMM = 3 };

extern const char *const sass_compare_text[8];
extern const char *const sass_type_text[4];      // of shared operands: ".U8"
extern const char *const sass_reduction_text[2]; // "SIN", "EX2"

static inline const Layout *row_layout(unsigned row) { return &sass_layouts[sass_row_details[row].layout]; }
// Whether the literal rule turns register b into its number: I[52] in a LONG ALU word without address register.
static inline bool layout_literal(const Layout *layout, uint64_t word, unsigned address) {
  return layout->literals && address == 0 && (word >> 52 & 1) != 0;
}
uint32_t sass_immediate(uint64_t word); // of IMM words
uint64_t sass_immediate_put(uint64_t word, uint32_t value);
bool layout_narrow(const Layout *layout, unsigned rule, uint64_t word); // rule: WidthRule
SassOperand register_operand(uint32_t field, bool narrow);

// The canonical entry of the style for the bits of the word, and for a text (NULL: no such suffix).
const StyleEntry *style_of_word(unsigned style, uint64_t word);
const StyleEntry *style_of_text(unsigned style, Slice text);

// ---- Assembly --------------------------------------------------------------------------------------------------------
typedef enum WrittenKind {
  WRITTEN_REGISTER, // R1, R1L, R1H
  WRITTEN_OUTPUT,   // o[0x7f]
  WRITTEN_ADDRESS,  // A1
  WRITTEN_FLAGS,    // C1
  WRITTEN_SHARED,   // g [A1+0x2].U16
  WRITTEN_CONSTANT, // c[0x1][0x2]
  WRITTEN_NUMBER,   // 0x10, -3, 1.5
  WRITTEN_GLOBAL,   // global14[A1+R2]
  WRITTEN_NAME,     // LE, EX2, a label
  WRITTEN_BARRIER,  // b0
} WrittenKind;

// An operand as it was written.
typedef struct Written {
  uint8_t kind; // WrittenKind
  uint8_t half; // SassHalf
  uint8_t type; // SassType of WRITTEN_SHARED
  uint8_t address;
  bool negate, absolute, invert;
  bool is_register; // WRITTEN_GLOBAL: value is a register's number, not an address
  uint32_t value;   // register, index, number
  Slice name;
  int column;
} Written;

typedef struct Statement {
  const char *file;
  int line, column;
  Slice mnemonic; // with its suffixes
  bool guarded;
  uint8_t guard_register, guard_condition;
  int guard_column;
  Written operands[MOST_OPERANDS];
  uint32_t count;
} Statement;

// Reads mnemonic, guard and operands of [at, end), which is one line's part.
bool statement_parse(const char *at, const char *end, const char *line_start, Statement *statement, Diags *diags);
// The instruction that a statement means. *label: the name of its target, or empty when it is a number.
bool statement_bind(const Statement *statement, SassInstr *instr, Slice *label, Diags *diags);
bool number_parse(Slice text, uint32_t *value, bool *negative); // 12, 0x1f, -3, 1.5 (the bits of a float)

#endif
