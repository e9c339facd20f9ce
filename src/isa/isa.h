// What an instruction is and does. isa.def holds one row per operation and type; this header
// gives the tables derived from it, the decoded and the encoded form of an instruction, and
// the pure semantic functions. It knows nothing of time, memory systems or PTX files.
#ifndef REDOUBT_ISA_H
#define REDOUBT_ISA_H

#include "base/base.h"

enum { WARP_LANES = 32, REG_ZERO = 255, MAX_REGISTERS = 255, PRED_TRUE = 15, MAX_PREDICATES = 15 };

// ---- The tables --------------------------------------------------------------------------------
typedef enum TypeId {
#define TYPE(id, text, bits, registers) TYPE_##id,
#include "isa/types.def"
#undef TYPE
  TYPE_COUNT
} TypeId;

typedef struct TypeInfo {
  const char *text;
  uint16_t bits;
  uint8_t registers; // consecutive 32-bit registers a value takes
} TypeInfo;
extern const TypeInfo type_info[TYPE_COUNT];

// How an instruction is carried out: who reads its operands and what its body means.
typedef enum Kind {
  KIND_ALU,     // body: pure function of each lane's a, b, c -> d
  KIND_SREG,    // reads the special register numbered by imm
  KIND_LOAD,    // d[0..n) = memory[a + imm]
  KIND_STORE,   // memory[a + imm] = d[0..n)  (the d operands are sources)
  KIND_ATOMIC,  // body: new = f(old as a, b, c); d = old
  KIND_WARP,    // body: function of all lanes at once (shuffles, votes, matches, reductions)
  KIND_MATRIX,  // body: function of all lanes at once on register tuples; memory forms as LOAD/STORE
  KIND_TEXTURE, // texture fetch, gather, query; surface load and store
  KIND_CONTROL, // changes the program counter or the active mask
  KIND_BARRIER, // block barriers, warp barriers
  KIND_FENCE,   // orders memory; no data
  KIND_SYSTEM,  // calls out of the kernel: printf, malloc, free, assert; sleep
} Kind;

// The functional unit that carries an instruction out; how long it takes is the machine's affair.
typedef enum Unit {
  UNIT_ALU,  // 32-bit integer, logic, moves, compares
  UNIT_FP32, // single and half precision
  UNIT_FP64,
  UNIT_SFU,  // approximate functions, conversions to and from wide types
  UNIT_IMUL, // integer multiply
  UNIT_IDIV, // integer division (a long sequence on hardware)
  UNIT_LDST, // address generation, all memory spaces, atomics
  UNIT_TEX,
  UNIT_TENSOR,
  UNIT_BRANCH, // control flow, barriers
  UNIT_COUNT
} Unit;

// Memory spaces as instructions name them.
typedef enum Space { SPACE_NONE, SPACE_GENERIC, SPACE_GLOBAL, SPACE_SHARED, SPACE_LOCAL, SPACE_CONST, SPACE_PARAM, SPACE_COUNT } Space;
extern const char *const space_text[SPACE_COUNT];

// Properties of a row. Code asks for these, never for a certain instruction.
enum {
  IT_COMMUTES = 1u << 0,         // a and b may be exchanged
  IT_FLOAT = 1u << 1,            // accepts MOD_FTZ (flush subnormal inputs and results)
  IT_SAT = 1u << 2,              // accepts MOD_SAT (clamp to 0..1, NaN to 0; integers: to the type's range)
  IT_CARRY_IN = 1u << 3,         // reads ps as a carry
  IT_CARRY_OUT = 1u << 4,        // writes a carry to pd[0]
  IT_PRED_IN = 1u << 5,          // reads ps as a selector (selp) or a predicate operand (vote, bar.red)
  IT_PRED_OUT = 1u << 6,         // writes pd[0] and, where it is not PRED_TRUE, pd[1]
  IT_BRANCH = 1u << 7,           // target in imm or in register a; reconvergence in `reconverge`
  IT_CALLS = 1u << 8,            // calls a function
  IT_RETURN = 1u << 9,           // leaves the function (ret)
  IT_EXITS = 1u << 10,           // ends the thread
  IT_INDIRECT = 1u << 11,        // target in register a, not in imm
  IT_MOVE = 1u << 12,            // copies a to d unchanged: the allocator may coalesce it
  IT_PURE = 1u << 13,            // no effect but its results: may be removed when they are dead
  IT_VOLATILE_RESULT = 1u << 14, // differs each time it is read (clock)
  IT_WRITES_MEMORY = 1u << 15,
  IT_READS_MEMORY = 1u << 16,
  IT_MEMBER_MASK = 1u << 17, // its last used source (of a, b, c) is a member mask, unless MOD_FULL_MASK
  IT_DATA_IN = 1u << 18,     // the d operands are sources
  IT_TRAPS = 1u << 19,       // always traps (trap, brkpt)
  IT_IMM = 1u << 20,         // ALU, WARP: the body reads imm (a table, packed selectors); a, b, c are registers
  IT_KEEPS_NAN = 1u << 21,   // IT_FLOAT row whose NaN results keep their bits (abs, neg, copysign, moves)
};

typedef struct OpInfo {
  const char *id;      // "ADD_F32_RN"
  const char *text;    // canonical PTX spelling, "add.rn.f32": the front end looks it up by this
  const char *meaning; // register-transfer sentence for docs and traces
  Kind kind;
  Unit unit;
  Space space;       // of memory kinds
  TypeId d, a, b, c; // operand types; TYPE_none = operand unused
  uint32_t flags;
} OpInfo;

typedef enum Op {
#define OP(id, text, kind, unit, flags, d, a, b, c, meaning, body) OP_##id,
#define MEM(id, text, kind, unit, flags, space, d, a, b, c, meaning, body) OP_##id,
#include "isa/isa.def"
#undef OP
#undef MEM
  OP_COUNT
} Op;
extern const OpInfo op_info[OP_COUNT];

// Special registers (sreg.def): what S2R reads, by imm.
typedef enum SpecialRegister {
#define SREG(id, text, meaning) SREG_##id,
#include "isa/sreg.def"
#undef SREG
  SREG_COUNT
} SpecialRegister;
typedef struct SregInfo {
  const char *text, *meaning;
} SregInfo; // text as in PTX: "%tid.x"
extern const SregInfo sreg_info[SREG_COUNT];

// ---- One instruction ---------------------------------------------------------------------------
// Which operand the imm field stands for.
typedef enum OperandSelect {
  SELECT_REGISTERS, // a, b, c are registers
  SELECT_IMM_A,
  SELECT_IMM_B,
  SELECT_IMM_C, // 32-bit immediate; see imm_value()
  SELECT_CONST_A,
  SELECT_CONST_B,
  SELECT_CONST_C, // constant bank: imm = bank << 24 | byte offset
  SELECT_COUNT
} OperandSelect;

// Constant banks.
enum {
  BANK_PARAM = 0,  // kernel parameters of this launch
  BANK_CONST = 1,  // the module's .const variables
  BANK_SYMBOL = 2, // addresses of the module's variables and functions, 8 bytes each, set at load
  BANK_COUNT = 3
};

// Modifier bits (12). Low bits are common; the others depend on the kind.
enum {
  MOD_FTZ = 1u << 0,
  MOD_SAT = 1u << 1,
  // KIND_LOAD, KIND_STORE: number of elements, as log2 in bits 2..3 (1, 2, 4)
  MOD_VECTOR_SHIFT = 2,
  MOD_VECTOR_MASK = 3u << 2,
  // memory kinds: how it is cached and ordered (timing and ordering only)
  MOD_VOLATILE = 1u << 4,     // also relaxed, .cv, .wt: bypasses L1
  MOD_CACHE_GLOBAL = 1u << 5, // .cg: L2 only
  MOD_STREAMING = 1u << 6,    // .cs, .lu
  MOD_NON_COHERENT = 1u << 7, // .nc: texture path
  MOD_ADDRESS32 = 1u << 8,    // the address register is one 32-bit register, not a pair
  MOD_ORDERED = 1u << 9,      // acquire, release: orders other accesses before or after it
  // KIND_WARP, KIND_BARRIER
  MOD_FULL_MASK = 1u << 4, // member mask is all 32 lanes; its operand is unused
};

// Decoded form. Register fields hold physical numbers 0..254 or REG_ZERO; wide values name their
// lowest register. Unused register fields hold REG_ZERO, unused predicates PRED_TRUE.
typedef struct Instr {
  uint16_t op;
  uint16_t mods;
  uint8_t select; // OperandSelect
  uint8_t guard;  // predicate; PRED_TRUE = always
  bool guard_negated;
  uint8_t pd[2]; // destination predicates
  uint8_t ps;    // source predicate (IT_PRED_IN, IT_CARRY_IN); encoded in the c field
  bool ps_negated;
  uint8_t d[4]; // destinations; sources for IT_DATA_IN
  uint8_t a, b, c;
  uint32_t imm;        // immediate, constant reference, address offset, branch target, sreg
  uint32_t reconverge; // IT_BRANCH: instruction index where the paths meet, 24 bits (d[1..3])
} Instr;

// 128 bits, little-endian words. Layout (docs/instructions.md shows it):
//   low  [11:0] op [15:12] guard [16] negated [19:17] select [31:20] mods
//        [39:32] d0 [47:40] a [55:48] b [63:56] c, or ps | negated << 4
//   high [31:0] imm [39:32] d1 [47:40] d2 [55:48] d3 (or reconverge) [59:56] pd0 [63:60] pd1
//   Rows that read both c and ps (madc) hold ps in d1. An operand whose column is `pred` holds a
//   predicate's number.
typedef struct InstrWord {
  uint64_t low, high;
} InstrWord;
enum { INSTR_BYTES = 16, NO_RECONVERGE = 0xFFFFFF };

// An instruction of this row with every field at its rest value: registers REG_ZERO, predicates
// PRED_TRUE, imm, mods and reconverge 0.
Instr instr_rest(Op op);
InstrWord instr_encode(const Instr *instr);
// False for a word that is no legal instruction: unknown row, unused field not in its rest value,
// a register tuple that runs past R254, a modifier that the row does not take.
// instr_encode(instr_decode(w)) == w for every legal word.
bool instr_decode(InstrWord word, Instr *instr);

// Registers an instruction touches, in one place for liveness, scoreboards, printers, checks.
typedef struct OperandUse {
  uint8_t operand;   // 0..3 = d[operand], 4 = a, 5 = b, 6 = c, 7..8 = pd, 9 = ps, 10 = guard
  uint8_t registers; // consecutive registers; 0 for predicates
  bool predicate, written;
} OperandUse;
enum { OPERAND_D = 0, OPERAND_A = 4, OPERAND_B = 5, OPERAND_C = 6, OPERAND_PD = 7, OPERAND_PS = 9, OPERAND_GUARD = 10, MAX_OPERANDS = 11 };
// From row, mods, select and which operands are in use by the row. An operand taken by an immediate or
// constant, and operands that hold REG_ZERO / PRED_TRUE, are still listed: callers skip those.
unsigned op_operands(Op op, uint16_t mods, OperandSelect select, OperandUse uses[MAX_OPERANDS]);
unsigned mods_vector_count(uint16_t mods); // 1, 2 or 4
uint16_t op_legal_mods(Op op);             // every modifier bit the row may carry

// The value of an immediate for an operand of that type: 64-bit integers sign-extend, f64 takes imm
// as its upper half, narrower types take the low bits.
uint64_t imm_value(TypeId type, uint32_t imm);
bool imm_fits(TypeId type, uint64_t value, uint32_t *imm); // inverse, where it exists

// Bits of source operand a, b, c (or of the data that a store takes from d) that can change what it does; the others it ignores, whatever the other operands are.
// Of arithmetic and stores; all ones where nothing is known (masking.def). Addresses are not data: whoever asks knows operand a of a store.
uint64_t instr_care(const Instr *instr, unsigned operand);

// "@!p1 add.rn.ftz.f32 r4, r5, c[0][8]": for dumps and traces.
void instr_format(const Instr *instr, Text *out);

// The row with this canonical spelling. Build the index once per user; there are no globals.
typedef struct OpIndex OpIndex;
OpIndex *op_index_new(Arena *arena);
bool op_find(const OpIndex *index, Slice text, Op *op);

// ---- Semantics ---------------------------------------------------------------------------------
// Rows of 32 lanes as the register file stores them: value of lane i at [i]; the upper half of a
// 64-bit value at [32 + i]; register k of a tuple at [32 * k + i].
typedef struct LaneOp {
  uint32_t *d;
  const uint32_t *a, *b, *c;
  uint32_t active; // lanes that execute; others keep their d and pd
  uint32_t ps;     // source predicate of every lane, negation applied
  uint32_t pa;     // operand a of rows whose column a is `pred`: that predicate of every lane
  uint32_t pd[2];  // in: old values; out: new values
  uint16_t mods;
  uint32_t imm; // IT_IMM and KIND_MATRIX rows: the instruction's imm
} LaneOp;
typedef void (*LaneFunction)(LaneOp *op);
// For KIND_ALU; NULL otherwise. For KIND_ATOMIC the function computes new values from old (a),
// b and c with the types of d, a, b, c. For KIND_WARP and KIND_MATRIX (register forms) it is the
// whole instruction; there `ps` holds the predicate operand and the member mask is
// an ordinary operand row (all ones under MOD_FULL_MASK).
// The table is the fastest build that this processor can run; all give the same bits.
const LaneFunction *lane_functions(void);
unsigned lane_level(void); // which build that is: 0 baseline, 1 x86-64-v3, 2 x86-64-v4

// docs/instructions.md: the bit layout and every row, by chapter.
void instructions_markdown(Text *out);

// Lane values of one operand, for the few users that go lane by lane.
static inline uint64_t row_get(const uint32_t *row, unsigned lane, unsigned registers) {
  return registers == 2 ? row[lane] | (uint64_t)row[WARP_LANES + lane] << 32 : row[lane];
}
static inline void row_set(uint32_t *row, unsigned lane, unsigned registers, uint64_t value) {
  row[lane] = (uint32_t)value;
  if (registers == 2) row[WARP_LANES + lane] = (uint32_t)(value >> 32);
}

#endif
