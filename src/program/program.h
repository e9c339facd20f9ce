// The program: what the front ends make and the machines run. Immutable once made.
//
// All code of a module lies in one segment; a program counter is an instruction index into it.
// Variables have no address yet: the device places them at load and fills BANK_SYMBOL with
// their addresses, so code never needs relocation.
#ifndef REDOUBT_PROGRAM_H
#define REDOUBT_PROGRAM_H

#include "isa/isa.h"

// A parameter of a kernel or function: its place in BANK_PARAM (kernels) or in the frame.
typedef struct Param {
  const char *name;
  uint32_t offset, bytes, align;
  bool is_pointer; // declared .ptr, or 64-bit / address-sized integer
} Param;

typedef struct Function {
  const char *name;
  bool is_kernel;
  uint32_t source;          // number of the file in which its lines are counted
  uint32_t entry, end;      // instruction indices [entry, end)
  uint32_t registers;       // physical registers used by this function and all it may call
  uint32_t given_registers; // what NVIDIA's compiler uses, from machine code beside the PTX; 0 = not known
  uint32_t predicates;      // likewise
  uint32_t frame_bytes;     // local memory of one activation: variables, spills, call arguments
  uint32_t stack_bytes;     // local memory of a thread: deepest call chain; see `recursive`
  bool recursive;           // recursion or indirect calls: stack_bytes is one chain, the device adds its stack limit
  uint32_t shared_bytes;    // static shared memory (kernel: with all it may call)
  uint32_t shared_align;    // of the whole; dynamic shared memory starts at align_up(shared_bytes, 16)
  uint32_t barriers;        // highest barrier number used + 1; 16 when not known
  const Param *params;
  uint32_t param_count, param_bytes;
  uint32_t max_threads[3];            // .maxntid; 0 = not given
  uint32_t required_threads[3];       // .reqntid; 0 = not given
  uint32_t min_blocks;                // .minnctapersm
  uint32_t cluster[3];                // .reqnctapercluster: blocks of a cluster; 0 = not given
  uint32_t spill_loads, spill_stores; // static counts
} Function;

typedef enum SymbolKind { SYMBOL_VARIABLE, SYMBOL_FUNCTION, SYMBOL_TEXTURE, SYMBOL_SURFACE, SYMBOL_SAMPLER } SymbolKind;

// A module-scope name with an address. Symbol k's address is at BANK_SYMBOL offset 8 * k.
// Functions: the address is FUNCTION_ADDRESS(entry). Shared variables are not symbols: their
// offsets are in the code.
typedef struct Symbol {
  const char *name;
  SymbolKind kind;
  Space space; // SPACE_GLOBAL or SPACE_CONST for variables
  uint64_t bytes;
  uint32_t align;
  bool managed;
  bool external;          // .extern and found nowhere: the device refuses to load, naming it
  uint32_t const_offset;  // place in BANK_CONST for SPACE_CONST
  const uint8_t *initial; // NULL = zeros
  uint32_t function;      // SYMBOL_FUNCTION: index into functions
} Symbol;

// An address inside initial data: symbol[target] + addend goes to symbol[owner].initial + offset.
typedef struct Relocation {
  uint32_t owner, target;
  uint64_t offset;
  int64_t addend;
  uint8_t bytes; // 4 or 8 (or 1: byte `shift / 8` of it, from mask() initialisers)
  uint8_t shift;
  bool generic; // the generic address (same number for global memory)
} Relocation;

// What the words of a program are. A machine runs programs of one form.
typedef enum ProgramForm {
  FORM_REDOUBT, // instructions of isa.def, lowered from PTX
  FORM_G80,     // G80 machine code (src/sass)
  FORM_SHADER,  // fragment programs (src/shader)
  FORM_COUNT
} ProgramForm;
extern const char *const program_form_text[FORM_COUNT]; // what users call them

// What others than the machine want to know of an instruction that isa.def does not have.
typedef struct ForeignInstr {
  const char *text; // as its assembler writes it
  bool stores, is_global;
  uint8_t address; // stores: the register that holds it
} ForeignInstr;
struct SassProgram;
struct ShaderProgram;

typedef struct Program {
  Arena *arena; // owns everything below
  ProgramForm form;
  const char *file;         // for diagnostics: the first source's name
  const char *const *files; // of all that were linked
  uint32_t file_count;
  uint32_t address_bits; // 32 or 64
  const InstrWord *code;
  const Instr *decoded;  // memo of code[]; NULL in programs of another form, as code is
  const uint32_t *lines; // source line of each instruction; 0 = made by the compiler
  const bool *hidden;    // of each instruction: see MirInstr; NULL: none is
  uint32_t code_count;
  const Function *functions;
  uint32_t function_count;
  const Symbol *symbols;
  uint32_t symbol_count;
  const Relocation *relocations;
  uint32_t relocation_count;
  uint32_t const_bytes;               // size of BANK_CONST
  uint64_t hash;                      // of code, symbols and functions: journals and snapshots check it
  const struct SassProgram *sass;     // FORM_G80
  const struct ShaderProgram *shader; // FORM_SHADER
  bool scatters;                      // FORM_SHADER: results go to places that it computes
  const ForeignInstr *foreign;        // by instruction
} Program;

// ---- The address space ---------------------------------------------------------------------
// Generic addresses, the same for 32- and 64-bit programs. Everything below GLOBAL_BASE32 that
// is not a window is a trap, the null page above all.
#define SHARED_WINDOW UINT64_C(0x01000000)
#define LOCAL_WINDOW UINT64_C(0x02000000)
#define CONST_WINDOW UINT64_C(0x04000000)
#define PARAM_WINDOW UINT64_C(0x05000000)
#define CLUSTER_WINDOW UINT64_C(0x06000000) // shared memory of the blocks of a cluster, by rank; twice that
#define WINDOW_BYTES UINT64_C(0x01000000)   // LOCAL_WINDOW: twice that
#define GLOBAL_BASE32 UINT64_C(0x10000000)  // device memory of 32-bit programs
#define GLOBAL_BASE64 UINT64_C(0x200000000000)

// As an address of shared memory: the window without the start of the block's own.
#define CLUSTER_OFFSET (CLUSTER_WINDOW - SHARED_WINDOW)
enum { CLUSTER_RANK_SHIFT = 21, MOST_CLUSTER_BLOCKS = 16 };

// A code address as programs see it (function pointers): never a plausible data address.
#define CODE_BASE UINT64_C(0x08000000)
#define FUNCTION_ADDRESS(index) (CODE_BASE + (uint64_t)(index)*INSTR_BYTES)

const Function *program_function(const Program *program, const char *name);   // NULL: not there
const Function *program_function_at(const Program *program, uint32_t pc);     // NULL: outside
const char *program_file_at(const Program *program, uint32_t pc);             // in which its line is counted
int program_symbol(const Program *program, const char *name);                 // -1: not there
bool program_validate(const Program *program, Diags *diags);                  // after every pass that makes one
bool program_stores_at(const Program *program, uint32_t pc, bool *is_global); // an instruction that writes memory
// Says what NVIDIA's compiler uses for a kernel; unknown names are passed over. Only before the first launch: functions move.
void program_give_registers(Program *program, const char *kernel, uint32_t count);
void program_text_at(const Program *program, uint32_t pc, Text *out); // the instruction; pc is inside
void program_dump(const Program *program, Text *out);                 // `redoubt run --dump program`
void program_free(Program *program);

#endif
