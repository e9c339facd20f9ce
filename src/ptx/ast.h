// PTX as written: the parser's output and the lowering's input. Syntax only; which opcodes exist
// and what their operands must be is decided in lowering, from isa.def.
// Register and variable names are already resolved to declarations (scopes done by the parser).
// All slices point into the text that was parsed: it must outlive the module.
#ifndef REDOUBT_PTX_AST_H
#define REDOUBT_PTX_AST_H

#include "isa/isa.h"

typedef struct PtxPlace {
  uint32_t line, column;
} PtxPlace;

// Types as PTX spells them, .b forms kept apart from .u and .s.
typedef enum PtxType {
  PTX_NO_TYPE,
  PTX_PRED,
  PTX_B8,
  PTX_B16,
  PTX_B32,
  PTX_B64,
  PTX_B128,
  PTX_U8,
  PTX_U16,
  PTX_U32,
  PTX_U64,
  PTX_S8,
  PTX_S16,
  PTX_S32,
  PTX_S64,
  PTX_F16,
  PTX_F16X2,
  PTX_BF16,
  PTX_BF16X2,
  PTX_TF32,
  PTX_E4M3X2,
  PTX_E5M2X2,
  PTX_F32,
  PTX_F64,
  PTX_TEXREF,
  PTX_SAMPLERREF,
  PTX_SURFREF,
  PTX_TYPE_COUNT
} PtxType;
uint32_t ptx_type_bits(PtxType type);           // 1 for pred, 64 for texref and so on
bool ptx_type_parse(Slice text, PtxType *type); // "u32"
const char *ptx_type_text(PtxType type);

typedef enum PtxSpace {
  PTX_SPACE_NONE,
  PTX_SPACE_REG,
  PTX_SPACE_SREG,
  PTX_SPACE_CONST,
  PTX_SPACE_GLOBAL,
  PTX_SPACE_LOCAL,
  PTX_SPACE_PARAM,
  PTX_SPACE_SHARED,
  PTX_SPACE_TEX
} PtxSpace;

typedef enum PtxLinkage { PTX_LOCAL, PTX_EXTERN, PTX_VISIBLE, PTX_WEAK, PTX_COMMON } PtxLinkage;

// A part of an initialiser: bytes of a number (little-endian; small neighbours share one part of
// up to 8 bytes), or an address. What no part covers is zero.
typedef struct PtxInitial {
  uint64_t offset; // from the variable's start
  uint32_t bytes;
  bool is_address;
  uint64_t bits; // the number
  Slice symbol;  // the address's name
  int64_t addend;
  bool generic;  // generic(name)
  uint64_t mask; // 0xFF00(name) of PTX 7.1: (address & mask) >> trailing zeros of mask; all ones otherwise
} PtxInitial;

// A variable or parameter.
typedef struct PtxVariable {
  Slice name;
  PtxPlace place;
  PtxLinkage linkage;
  PtxSpace space;
  PtxType type;
  uint32_t vector; // 1, 2, 4
  uint32_t align;  // natural if not given
  uint64_t count;  // array elements in all; 1 for a scalar; 0 for [] (extern shared)
  bool is_array;
  bool is_pointer; // .ptr
  bool managed;    // .attribute(.managed)
  uint64_t bytes;  // count * vector * size; 0 for []
  uint32_t reg;    // .reg parameters of a function with a body: index into its registers
  VEC(PtxInitial) initials;
} PtxVariable;

// A declared register. %r<10> declares ten of them; those that are never named are left out.
typedef struct PtxRegister {
  Slice name;
  PtxType type;
  uint32_t vector; // .v2 .v4 registers of old PTX: 2 or 4, else 1
} PtxRegister;

typedef enum PtxOperandKind {
  PTX_REG,          // reg; `part` set for %v.x of a vector register (1 + index), 0 otherwise
  PTX_SREG_OPERAND, // %tid.x and the rest; text = whole spelling
  PTX_INT,          // bits: two's complement; is_unsigned if a U suffix; negative literals sign-extended
  PTX_FLOAT32,      // 0f...: bits
  PTX_FLOAT64,      // 0d... or decimal: bits of the double
  PTX_NAME,         // variable, function, or other name used as a value, with addend (name+4)
  PTX_ADDRESS,      // [base + addend]: items[0] is the base (REG, NAME or INT)
  PTX_VECTOR,       // {a, b, c, d}
  PTX_TEXTURE,      // [handle, {coordinates}] or [tex, sampler, {coordinates}]: items in that order
  PTX_LABEL,        // label inside the function
  PTX_SINK,         // _
  PTX_PAIR,         // p|q
  PTX_LIST,         // (a, b): arguments and results of a call; call [results,] callee [, arguments] [, prototype]
} PtxOperandKind;

typedef struct PtxOperand PtxOperand;
struct PtxOperand {
  PtxOperandKind kind;
  PtxPlace place;
  bool negated; // !p, or -x before a register (tf32-free forms only)
  uint32_t reg; // PTX_REG: index into the function's registers
  uint8_t part;
  uint64_t bits;
  bool is_unsigned;
  int64_t addend;
  Slice text;                  // name as written
  Slice selector;              // video selector or mask behind a register: "b0", "h1", "b3210"; empty otherwise
  const PtxVariable *variable; // PTX_NAME: what it means, NULL for functions and unknown names
  uint32_t label;              // PTX_LABEL: index into the function's labels
  PtxOperand *items;
  uint32_t item_count;
};

typedef struct PtxInstr {
  PtxPlace place;
  Slice text;      // the whole opcode as written: "setp.lt.and.f32"
  Slice parts[16]; // split at dots: "setp" "lt" "and" "f32"; "mov" "b32"; "::" kept inside a part
  uint32_t part_count;
  bool has_guard, guard_negated;
  uint32_t guard; // register index
  PtxOperand *operands;
  uint32_t operand_count;
} PtxInstr;

typedef enum PtxStatementKind { PTX_INSTR, PTX_LABEL_HERE, PTX_BRANCH_TARGETS, PTX_CALL_PROTOTYPE, PTX_CALL_TARGETS } PtxStatementKind;

// .callprototype: the signature of an indirect call.
typedef struct PtxSignature {
  VEC(PtxVariable) results, params;
  bool noreturn;
} PtxSignature;

typedef struct PtxStatement {
  PtxStatementKind kind;
  PtxInstr instr;          // PTX_INSTR
  uint32_t label;          // PTX_LABEL_HERE, and the name of the three directives below
  VEC(uint32_t) targets;   // .branchtargets: labels
  VEC(Slice) functions;    // .calltargets: names of functions
  PtxSignature *signature; // .callprototype
} PtxStatement;

typedef struct PtxLabel {
  Slice name;
  PtxPlace place;
  bool defined;
  int32_t statement; // .branchtargets/.callprototype/.calltargets: index of that statement; -1 for code labels
} PtxLabel;

typedef struct PtxFunction {
  Slice name;
  PtxPlace place;
  PtxLinkage linkage;
  bool is_entry, has_body, noreturn;
  PtxSignature signature; // params; results only for .func
  VEC(PtxRegister) registers;
  VEC(PtxVariable *) variables; // .local, .shared, .param (call arguments), .const/.global in the body
  VEC(PtxLabel) labels;
  VEC(PtxStatement) statements;
  uint32_t max_registers; // .maxnreg
  uint32_t max_threads[3], required_threads[3], min_blocks, cluster[3];
} PtxFunction;

// .alias name, target: another name for a function.
typedef struct PtxAlias {
  Slice name, target;
  PtxPlace place;
} PtxAlias;

typedef struct PtxModule {
  const char *file;
  uint32_t version_major, version_minor;
  uint32_t sm;                  // 75 for sm_75
  uint32_t address_bits;        // without .address_size: 64 when a 64-bit register addresses memory, else 32
  VEC(PtxVariable *) variables; // module scope
  VEC(PtxFunction *) functions; // definitions and declarations
  VEC(PtxAlias) aliases;
} PtxModule;

// Parses a whole file. Errors go to diags and the rest is still parsed; NULL only when nothing
// could be made of it. Never crashes or hangs on any bytes (fuzzed).
PtxModule *ptx_parse(Arena *arena, const char *file, const char *text, size_t length, Diags *diags);

#endif
