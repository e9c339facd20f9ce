// Lowering of PTX to machine code on virtual registers: what its files share.
//
//   link.c           names across modules; variables and functions get their places
//   lower_data.c     symbols, initial data, constant bank, shared memory layout
//   lower.c          one function: registers, blocks, the walk over its statements
//   lower_opcode.c   opcode text -> row of isa.def
//   lower_operand.c  operands -> registers, immediates, constants
//   lower_*.c        instructions that need more than their row says, by topic
//
// Invariants: 8- and 16-bit registers are zero-extended in their 32-bit register. A register
// that is written once, with a constant, carries that constant as a fact, which its
// readers may fold. Guards are put on every instruction with an effect on a PTX register
// or on memory; pure definitions of temporaries go unguarded.
#ifndef REDOUBT_PTX_LOWER_H
#define REDOUBT_PTX_LOWER_H

#include "program/mir.h"
#include "ptx/ast.h"
#include "ptx/ptx.h"

// ---- Names -------------------------------------------------------------------------------------
// Hash map from (scope, bytes) to a number; lives in an arena.
typedef struct NameEntry {
  Slice name;
  uint32_t scope, value;
  bool used;
} NameEntry;
typedef struct NameMap {
  Arena *arena;
  NameEntry *entries;
  uint32_t count, capacity;
} NameMap;
bool name_map_find(const NameMap *map, uint32_t scope, Slice name, uint32_t *value);
void name_map_set(NameMap *map, uint32_t scope, Slice name, uint32_t value);

// ---- Variables ---------------------------------------------------------------------------------
typedef enum HomeKind {
  HOME_NONE,
  HOME_SYMBOL,   // .global, textures: address in BANK_SYMBOL
  HOME_CONST,    // .const: offset in BANK_CONST
  HOME_SHARED,   // offset in the block's shared memory
  HOME_FRAME,    // .local, parameters of device functions: offset in the frame
  HOME_PARAM,    // parameters of kernels: offset in BANK_PARAM
  HOME_ARGUMENT, // .param variables that are one call's argument or result: offset in the argument area
} HomeKind;

typedef struct Home {
  HomeKind kind;
  uint32_t offset; // bytes; HOME_SYMBOL: 0
  uint32_t symbol; // HOME_SYMBOL, HOME_CONST
} Home;

// Variables to homes, by the declaration's identity.
typedef struct HomeMap {
  NameMap map;
  VEC(Home) homes;
} HomeMap;
bool home_find(const HomeMap *map, const PtxVariable *variable, Home *home);
void home_set(HomeMap *map, const PtxVariable *variable, Home home);

// ---- The modules being compiled ----------------------------------------------------------------
// Functions that the device provides.
typedef struct SystemCall {
  const char *name;
  Op op;
  bool noreturn;
} SystemCall;

// A function as linked: where its definition is.
typedef struct LinkedFunction {
  const PtxFunction *ptx;
  uint32_t module;
  uint32_t symbol;                 // SYMBOL_FUNCTION once its address was taken; NO_SYMBOL before
  VEC(uint32_t) callees;           // direct, as linked
  VEC(const PtxVariable *) shared; // shared variables it names, as linked, each once
  bool calls_indirectly, uses_dynamic_shared;
  bool visited;         // scratch of walks over the call graph
  HomeMap shared_homes; // kernels: their own places for variables that only kernels name
} LinkedFunction;
enum { NO_SYMBOL = 0xFFFFFFFF, GLOBAL_SCOPE = 0xFFFFFFFF };

// A resolved opcode, remembered by its text.
typedef struct Opcode {
  Op op;
  uint16_t mods;
  uint8_t narrow_bits; // 16: a 32-bit row does the work of a 16-bit operation; 0 otherwise
  PtxType type;        // of its literals: the last type that is written
} Opcode;

typedef struct Lower {
  Arena *arena;   // of the MirModule
  Arena *scratch; // dies with the compilation
  Diags *diags;
  uint32_t parse_errors; // diags that the parser made: the first ones
  MirModule *mir;
  const OpIndex *index;
  PtxModule *const *modules;
  uint32_t module_count;
  VEC(LinkedFunction) functions; // in step with mir->functions
  NameMap function_names;        // (module or GLOBAL_SCOPE, name) -> index into functions
  NameMap variable_names;        // likewise -> index into variables
  VEC(const PtxVariable *) variables;
  HomeMap homes; // variables of module scope and static ones of functions
  NameMap opcode_names;
  VEC(Opcode) opcodes;
} Lower;

// Parses and lowers all of a compilation, up to mir_finish. False when anything was wrong.
bool ptx_lower(const PtxSource *sources, uint32_t count, MirModule *mir, Arena *scratch, Diags *diags);

bool link_modules(Lower *lower);
// The variable that a declaration means after linking (an .extern finds its definition).
const PtxVariable *link_variable(const Lower *lower, uint32_t module, const PtxVariable *variable);
bool link_function(const Lower *lower, uint32_t module, Slice name, uint32_t *index);
const SystemCall *system_call(Slice name); // NULL: not one
uint32_t function_symbol(Lower *lower, uint32_t function);
bool lay_out_variables(Lower *lower);
bool add_static_variable(Lower *lower, uint32_t module, const PtxVariable *variable);
void layout_signature(const PtxSignature *signature, uint32_t *offsets, uint32_t *param_bytes, uint32_t *all_bytes);

// ---- One function ------------------------------------------------------------------------------
typedef enum FactKind { FACT_NONE, FACT_IMMEDIATE, FACT_CONSTANT } FactKind;

// What is known of a register that is written once.
typedef struct Fact {
  FactKind kind;
  uint64_t bits;      // FACT_IMMEDIATE
  uint32_t reference; // FACT_CONSTANT: bank << 24 | offset
} Fact;

typedef struct RegisterState {
  Vref ref;      // of a vector register: its first element; the others follow as vregs
  uint8_t width; // 32-bit registers of one element; 0 = predicate
  uint16_t bits;
  uint32_t definitions;
  uint32_t first_definition; // statement
  Fact fact;
  // An address of the form base + offset, good inside the block in which it was made.
  uint32_t base_register;
  int32_t base_offset;
  uint32_t base_block; // 0 = none; else block + 1
} RegisterState;

// A source operand: a register, a constant that may be folded, or both.
typedef struct Value {
  bool in_register;
  Vref ref;
  uint8_t width;
  uint16_t bits_wide; // of the PTX register; 0 for literals
  bool negated;       // predicates: !p
  Fact fact;
} Value;

typedef struct FunctionLowering {
  Lower *lower;
  uint32_t module, function; // indices
  const PtxFunction *ptx;
  MirFunction *mir;
  const PtxInstr *instr; // being lowered
  uint32_t statement;    // its index
  RegisterState *registers;
  uint32_t block;             // where instructions go
  VEC(uint32_t) label_blocks; // by label; labels made by the lowering follow those of the source
  VregId carry;               // CC.CF
  HomeMap homes;
  uint32_t first_error; // diags.count when the function began
} FunctionLowering;
typedef FunctionLowering Fn;

// Operands a, b, c of one instruction, at most one of them folded as immediate or constant.
typedef struct Sources {
  Value value[3];
  bool used[3];
  Vref refs[3];
  OperandSelect select;
  uint32_t imm;
} Sources;

void lower_function(Lower *lower, uint32_t function);
bool lower_instr_generic(Fn *fn, const PtxInstr *instr);
bool read_source(Fn *fn, const Opcode *opcode, const PtxOperand *operand, unsigned source, Sources *sources);
uint16_t legacy_flush(const Fn *fn, const Opcode *opcode); // what old targets add to mods
bool lower_row(Fn *fn, const PtxInstr *instr, const Opcode *opcode);
void place_arguments(Fn *fn); // lower_call.c
void place_in_frame(Fn *fn, const PtxVariable *variable);
void lower_entry(Fn *fn); // parameters in registers
void lower_return(Fn *fn, bool is_exit);
void bind_tuples(Fn *fn); // lower_tuple.c

bool complain(Fn *fn, PtxPlace place, const char *format, ...) __attribute__((format(printf, 3, 4)));
bool unsupported(Fn *fn, const PtxInstr *instr);
bool expect_operands(Fn *fn, const PtxInstr *instr, uint32_t least, uint32_t most);
bool has_part(const PtxInstr *instr, const char *text);
// The last part that is a type; PTX_NO_TYPE when there is none.
PtxType last_type(const PtxInstr *instr);

MirInstr *emit(Fn *fn, Op op);         // unguarded: pure definitions of temporaries
MirInstr *emit_guarded(Fn *fn, Op op); // under the instruction's guard
VregId temp(Fn *fn, unsigned width);
VregId frame_pointer(Fn *fn);
uint32_t new_label(Fn *fn);
void place_label(Fn *fn, uint32_t label);
void start_block(Fn *fn);

// lower_opcode.c
bool opcode_resolve(Lower *lower, const Slice *parts, uint32_t count, Opcode *opcode);
const char *opcode_nearest(Lower *lower, Slice text);
bool find_row(Lower *lower, const char *text, Op *op);
Op row(Fn *fn, const char *text); // a row that must exist

// lower_operand.c
unsigned type_width(PtxType type); // 32-bit registers
bool read_value(Fn *fn, const PtxOperand *operand, PtxType type, Value *value);
bool read_predicate(Fn *fn, const PtxOperand *operand, Value *value);
Value value_of_vref(Vref ref, unsigned width);
Value value_of_bits(uint64_t bits);
Vref value_register(Fn *fn, const Value *value, unsigned width); // materialises constants
bool read_register(Fn *fn, const PtxOperand *operand, PtxType type, unsigned width, Vref *ref);
bool write_register(Fn *fn, const PtxOperand *operand, unsigned width, Vref *ref);
bool write_predicate(Fn *fn, const PtxOperand *operand, Vref *ref);
Vref register_ref(Fn *fn, uint32_t reg, unsigned element);
const RegisterState *operand_state(const Fn *fn, const PtxOperand *operand);
Vref vref_part(Vref ref, unsigned part);
void settle_sources(Fn *fn, Op op, Sources *sources);
void put_sources(MirInstr *instr, const Sources *sources);
MirInstr *emit_alu(Fn *fn, Op op, Vref d, const Value *a, const Value *b, const Value *c);
MirInstr *emit_alu_guarded(Fn *fn, Op op, Vref d, const Value *a, const Value *b, const Value *c);
void set_fact(Fn *fn, const PtxOperand *operand, Fact fact);
bool variable_home(Fn *fn, const PtxOperand *operand, Home *home);
bool name_value(Fn *fn, const PtxOperand *operand, unsigned width, Value *value);
void move_value(Fn *fn, bool guarded, Vref d, unsigned width, const Value *value);
uint64_t literal_bits(const PtxOperand *operand, PtxType type);
bool operand_is_literal(const PtxOperand *operand);

// lower_memory.c
// An address as an instruction takes it: register and offset.
typedef struct Address {
  Space space;
  Vref base;      // VREF_NONE: absolute
  bool address32; // generic and global: the base is one register
  int64_t offset;
  bool constant; // in BANK_PARAM or BANK_CONST at `reference`
  uint32_t reference;
} Address;
bool read_address(Fn *fn, const PtxOperand *operand, PtxSpace space, Address *address);
void address_move(Address *address, int64_t bytes); // addresses wrap around
// Leaves a register and an offset that fits the instruction's field.
void settle_address(Fn *fn, Address *address);
Vref address_register(Fn *fn, Address *address); // the whole address in one register (or pair)
// What the dot parts of a memory opcode say.
typedef struct MemoryForm {
  PtxSpace space;
  PtxType type;
  uint32_t vector;
  uint16_t mods;
} MemoryForm;
bool memory_part(Slice part, MemoryForm *form); // false: not a part that memory opcodes have

// Handlers: one per base opcode that its row does not describe.
typedef bool (*Handler)(Fn *fn, const PtxInstr *instr);
typedef struct HandlerEntry {
  const char *base;
  Handler handler;
} HandlerEntry;
Handler handler_find(Slice base);
bool lower_load(Fn *fn, const PtxInstr *instr);
bool lower_store(Fn *fn, const PtxInstr *instr);
bool lower_mov(Fn *fn, const PtxInstr *instr);
bool lower_cvta(Fn *fn, const PtxInstr *instr);
bool lower_isspacep(Fn *fn, const PtxInstr *instr);
bool lower_add(Fn *fn, const PtxInstr *instr);
const PtxLabel *operand_label(const Fn *fn, const PtxOperand *operand);
bool lower_bra(Fn *fn, const PtxInstr *instr);
bool lower_brx(Fn *fn, const PtxInstr *instr);
bool lower_trap(Fn *fn, const PtxInstr *instr);
bool lower_ret(Fn *fn, const PtxInstr *instr);
bool lower_exit(Fn *fn, const PtxInstr *instr);
bool lower_bar(Fn *fn, const PtxInstr *instr);
bool lower_call(Fn *fn, const PtxInstr *instr);
bool lower_setp(Fn *fn, const PtxInstr *instr);
bool lower_set(Fn *fn, const PtxInstr *instr);
bool lower_atom(Fn *fn, const PtxInstr *instr);
bool lower_red(Fn *fn, const PtxInstr *instr);
bool lower_fence(Fn *fn, const PtxInstr *instr);
bool lower_hint(Fn *fn, const PtxInstr *instr);
bool lower_createpolicy(Fn *fn, const PtxInstr *instr);
bool lower_shfl(Fn *fn, const PtxInstr *instr);
bool lower_vote(Fn *fn, const PtxInstr *instr);
bool lower_members(Fn *fn, const PtxInstr *instr);
bool lower_bfi(Fn *fn, const PtxInstr *instr);
bool lower_lop3(Fn *fn, const PtxInstr *instr);
bool lower_video(Fn *fn, const PtxInstr *instr);
bool lower_matrix(Fn *fn, const PtxInstr *instr);
bool lower_texture(Fn *fn, const PtxInstr *instr);
bool lower_cvt(Fn *fn, const PtxInstr *instr);
bool lower_cp(Fn *fn, const PtxInstr *instr);
bool lower_mbarrier(Fn *fn, const PtxInstr *instr);
bool lower_arithmetic(Fn *fn, const PtxInstr *instr);
bool lower_cluster_barrier(Fn *fn, const PtxInstr *instr);
bool lower_mapa(Fn *fn, const PtxInstr *instr);
bool lower_getctarank(Fn *fn, const PtxInstr *instr);
bool lower_extreme(Fn *fn, const PtxInstr *instr);

#endif
