// G80 (sm_1.0) machine code: what a 32- or 64-bit word does, its text, and programs made of it.
//
// sass.def holds one row per instruction form. sass_decode is total: every one of the 2^64 words becomes a SassInstr
// that says what the machine does with it, because faults strike instruction words; encodings that the machine does not
// know decode to rows that do nothing, write zero or hang. Source: the FlexGripPlus instruction reference; docs/sass.md
// lists where its arithmetic is mended.
//
// Arithmetic is that of isa.def: sass_execute resolves half registers, signs and immediates around the lane functions.
// Bit numbers below are of I = high << 32 | low.
#ifndef REDOUBT_SASS_H
#define REDOUBT_SASS_H

#include "program/program.h"

// ---- The table -----------------------------------------------------------------------------------------------------
typedef enum SassFormat {
  SASS_HALF,   // I[0] = 0: 4 bytes, never guarded
  SASS_IMM,    // I[33:32] = 3: 8 bytes, 32-bit immediate, never guarded
  SASS_LONG,   // 8 bytes; guard, set-predicate, join
  SASS_CONTROL // I[1] = 1: flow; 8 bytes, or 4 when I[0] = 0
} SassFormat;

// What the machine has to do. Everything up to SASS_DO_RRO is pure: operands in, sass_execute, results out.
typedef enum SassAction {
  SASS_DO_NOTHING,   // NOP and the encodings that act as one (flags are written when asked for, as of the value 0)
  SASS_DO_ZERO,      // undecoded ALU operation: d = 0
  SASS_DO_MOVE,      // d = a
  SASS_DO_ADD,       // d = a + b (+ carry), with the adder's flags
  SASS_DO_SUBTRACT,  // d = b - a
  SASS_DO_ADD_CARRY, // d = a + b + carry of the guard's predicate register
  SASS_DO_COMPARE,   // d = compare(a, b) ? all ones : 0
  SASS_DO_FLOAT_COMPARE,
  SASS_DO_LANES,        // d = op(a, b, c)
  SASS_DO_MULTIPLY_ADD, // d = op(a, b) + c (+ carry for IMADC), with the adder's flags
  SASS_DO_LOGIC,
  SASS_DO_CONVERT, // between integers: extend, negate, absolute value
  SASS_DO_FROM_FLOAT,
  SASS_DO_TO_FLOAT,
  SASS_DO_COPY_FLOAT,   // copy, clear or flip the sign
  SASS_DO_RRO,          // range reduction: a copy, since the functions behind it take every argument
  SASS_DO_TO_ADDRESS,   // A[d] = a << b (R2A)
  SASS_DO_ADD_ADDRESS,  // A[d] = a + b (ADA); b is the signed amount
  SASS_DO_FROM_ADDRESS, // d = Aa (A2R)
  SASS_DO_FROM_FLAGS,   // d = flags of C[guard_register] (C2R)
  SASS_DO_TO_FLAGS,     // C[predicate] = low 4 bits of a (R2C)
  SASS_DO_LOAD_GLOBAL,  // d = global[a + Aa]
  SASS_DO_STORE_GLOBAL, // global[a + Aa] = c
  SASS_DO_STORE_SHARED, // shared[base + offset + Aa] = c
  SASS_DO_HANG_WARP,    // the store to local memory never completes
  SASS_DO_HANG,         // illegal control operation: EXEC waits for ever
  SASS_DO_BRANCH,
  SASS_DO_SSY,
  SASS_DO_CALL,
  SASS_DO_RETURN,
  SASS_DO_PBK,
  SASS_DO_BREAK,
  SASS_DO_BARRIER,
} SassAction;

// Timing classes; the cycles are the machine's affair (reference, section 10).
typedef enum SassRead {
  SASS_READ_OPERANDS, // by gpr_reads and zero_reads, and by a shared or constant operand
  SASS_READ_NOP,      // NOP
  SASS_READ_CONTROL,  // by whether the guard is "always"
  SASS_READ_ADDRESS,  // A2R, C2R
  SASS_READ_ADA,      // as ADDRESS, without the guard's predicate on lane group 0
  SASS_READ_GLOBAL,   // global load: serial over the active threads
} SassRead;

typedef enum SassExec {
  SASS_EXEC_MOVE, // moves, memory, NOPs
  SASS_EXEC_INTEGER,
  SASS_EXEC_CONVERT,
  SASS_EXEC_FSET,
  SASS_EXEC_FADD, // longer when an operand of a lane is negative: sass_fadd_subtracts
  SASS_EXEC_FMUL,
  SASS_EXEC_FMAD,
  SASS_EXEC_SFU,
  SASS_EXEC_BRANCH,
  SASS_EXEC_PUSH, // SSY, CAL, PBK
  SASS_EXEC_RETURN,
  SASS_EXEC_BREAK,
  SASS_EXEC_BARRIER,
  SASS_EXEC_NEVER, // illegal control operation
} SassExec;

// Without the set-predicate's addition (sets_predicate).
typedef enum SassWrite {
  SASS_WRITE_NOTHING,
  SASS_WRITE_GPR32,
  SASS_WRITE_GPR16,
  SASS_WRITE_DISCARD, // destination field 127
  SASS_WRITE_ADDRESS,
  SASS_WRITE_GLOBAL, // serial over the active threads
  SASS_WRITE_SHARED,
  SASS_WRITE_BARRIER,
  SASS_WRITE_NEVER, // LST
} SassWrite;

typedef enum SassRow {
#define SASS(id, ...) SASS_##id,
#include "sass/sass.def"
#undef SASS
  SASS_ROW_COUNT
} SassRow;

typedef struct SassRowInfo {
  const char *id;       // "IADD_LONG"
  const char *mnemonic; // "IADD"; "" for encodings without a text of their own
  SassFormat format;
  uint64_t mask, value; // the row is the first whose value == I & mask
  SassAction action;
  const char *meaning; // register-transfer sentence
} SassRowInfo;
extern const SassRowInfo sass_rows[SASS_ROW_COUNT];

// ---- One instruction -------------------------------------------------------------------------------------------------
typedef enum SassKind {
  SASS_NONE,
  SASS_GPR,       // value = register number, not reduced modulo anything; `half` says which 16 bits
  SASS_SHARED,    // value = byte offset from the block's base; + A[address] per thread when address != 0
  SASS_CONSTANT,  // value = byte address in constant memory
  SASS_IMMEDIATE, // value
  SASS_ADDRESS    // value = 1..4: A1..A4
} SassKind;

typedef enum SassHalf { SASS_WHOLE, SASS_LOW, SASS_HIGH } SassHalf;
typedef enum SassType { SASS_U8, SASS_U16, SASS_S16, SASS_U32 } SassType; // of shared and constant operands

typedef struct SassOperand {
  uint8_t kind;                  // SassKind
  uint8_t half;                  // SassHalf, of SASS_GPR: a 16-bit half register
  uint8_t type;                  // SassType, of SASS_SHARED and SASS_CONSTANT: how many bytes; all are zero-extended
  uint8_t field;                 // register field as encoded (7 bits)
  bool zero;                     // SASS_GPR as a source: field 124, reads as 0 whatever the register holds
  bool negate, absolute, invert; // applied by sass_execute
  uint32_t value;
} SassOperand;

enum { SASS_ZERO_FIELD = 124, SASS_DISCARD_FIELD = 127, SASS_ALWAYS = 15 };

typedef struct SassInstr {
  uint32_t low, high;                      // the words as they were given
  uint16_t row;                            // SassRow
  uint8_t format;                          // SassFormat
  uint8_t bytes;                           // 4 or 8
  uint8_t action;                          // SassAction
  bool legal;                              // has a text of its own; false for what is illegal, undecoded, unsupported or has no spelling
  bool join;                               // .S
  uint8_t guard_register, guard_condition; // C0..C3; SASS_ALWAYS where the machine takes no guard
  bool sets_predicate;
  uint8_t predicate; // C0..C3
  uint8_t address;   // Aa: 0 = none, 1..4
  bool reads_carry;  // IADDC, IMADC: of C[guard_register]
  // Operands. d: SASS_GPR (not written when `write` is SASS_WRITE_DISCARD), SASS_ADDRESS or SASS_NONE. Stores: c is the
  // data, a the address. SASS_ADDRESS sources are read from Aa.
  SassOperand d, a, b, c;
  uint32_t target;        // control: byte address
  uint32_t shared_offset; // SASS_DO_STORE_SHARED: bytes from the block's base
  uint8_t access_bytes;   // global and shared accesses: 1, 2 or 4
  bool access_signed;     // loads: extend the sign
  uint32_t increment;     // added to A4 after WRITE (I[25]); 0 = none
  // Arithmetic.
  uint16_t op; // Op of isa.def; OP_COUNT where the action needs none
  bool narrow; // 16-bit operands
  bool is_signed, saturate;
  uint8_t select; // comparisons: 1 less | 2 equal | 4 greater; LOP: 0 and, 1 or, 2 xor, 3 b
  // Timing.
  uint8_t read, exec, write;     // SassRead, SassExec, SassWrite
  uint8_t gpr_reads, zero_reads; // register operands that READ pays for; those among them with field 124
} SassInstr;

// Total: every field of *instr says what the machine does with the word, legal or not. Returns instr->legal.
// `high` is the next word in memory; it is not looked at when I[0] = 0.
bool sass_decode(uint32_t low, uint32_t high, SassInstr *instr);
static inline uint32_t sass_word_bytes(uint32_t low) { return (low & 1) != 0 ? 8 : 4; }

// The canonical words of an instruction: decodes to the same effect, with every bit that has none at its rest value.
// Illegal instructions give back their own words.
void sass_encode(const SassInstr *instr, uint32_t *low, uint32_t *high);

// "IADD R3, R10, -R11;" as the examples of the reference; ".word 0x..., 0x...;" for illegal words.
void sass_format(const SassInstr *instr, Text *out);

// ---- Semantics -------------------------------------------------------------------------------------------------------
// Flags nibble: bit 0 zero, bit 1 sign, bit 2 carry, bit 3 overflow.
enum { SASS_FLAG_ZERO = 1, SASS_FLAG_SIGN = 2, SASS_FLAG_CARRY = 4, SASS_FLAG_OVERFLOW = 8 };
bool sass_condition(unsigned flags, unsigned condition);
extern const char *const sass_condition_text[32]; // NULL: no name (never true)

// Operand values of a warp's lanes as read: a whole register, 16 bits of a half register, bytes of memory (both
// zero-extended), the immediate. In `a` of SASS_DO_FROM_ADDRESS and SASS_DO_ADD_ADDRESS: the address register; of
// SASS_DO_FROM_FLAGS: the flags.
typedef struct SassLanes {
  uint32_t a[WARP_LANES], b[WARP_LANES], c[WARP_LANES];
  uint32_t carry;            // a bit per lane, for reads_carry
  uint32_t d[WARP_LANES];    // out; of 16-bit destinations the low half counts
  uint8_t flags[WARP_LANES]; // out, for sets_predicate
} SassLanes;
// Every action up to SASS_DO_TO_FLAGS, for all 32 lanes (the machine masks what it writes).
void sass_execute(const SassInstr *instr, const LaneFunction *functions, SassLanes *lanes);

// An operand as the register file stores it <-> as SassLanes holds it.
static inline uint32_t sass_half_get(uint32_t value, unsigned half) {
  return half == SASS_WHOLE ? value : half == SASS_LOW ? value & 0xFFFF : value >> 16;
}
static inline uint32_t sass_half_put(uint32_t old, uint32_t value, unsigned half) {
  if (half == SASS_WHOLE) return value;
  return half == SASS_LOW ? (old & 0xFFFF0000) | (value & 0xFFFF) : (old & 0xFFFF) | value << 16;
}
static inline unsigned sass_type_bytes(unsigned type) { return type == SASS_U8 ? 1 : type == SASS_U32 ? 4 : 2; }
// The lane's addition takes the adder's subtracting path, which is a cycle longer (an operand is negative).
bool sass_fadd_subtracts(const SassInstr *instr, uint32_t a, uint32_t b);

// ---- Programs --------------------------------------------------------------------------------------------------------
typedef struct SassProgram {
  Arena *arena;     // owns everything below
  const char *file; // as the user named it
  const char *name; // .entry; "kernel" when not said
  const uint32_t *words;
  const uint32_t *lines; // source line of each word
  uint32_t count;
  // What the file says of its launch; 0 where it says nothing.
  uint32_t gprs, shared_bytes, param_count, blocks_per_core;
  uint32_t block[3], grid[2];
  const uint32_t *constants; // words of constant memory, from address 0
  uint32_t constant_count;
  uint32_t constant_bytes; // that the host declares; 0: those of the words
} SassProgram;
enum { SASS_MAX_WORDS = 65536, SASS_MAX_PARAMS = 15, SASS_CONSTANT_WORDS = 2048 };

// NULL after errors, all of which are in diags. Files named .hex are words, all others assembly.
SassProgram *sass_read(const char *path, Diags *diags);
SassProgram *sass_read_text(const char *path, const char *text, size_t length, Diags *diags); // as if the file had this in it
SassProgram *sass_read_hex(const char *file, const char *text, size_t length, Diags *diags);
SassProgram *sass_assemble(const char *file, const char *text, size_t length, Diags *diags);
void sass_disassemble(const SassProgram *program, Text *out); // assembly that assembles to the same canonical words
void sass_write_hex(const SassProgram *program, Text *out);
Program *sass_to_program(SassProgram *program); // takes it over: program_free frees both
void sass_program_free(SassProgram *program);   // NULL is fine

#endif
