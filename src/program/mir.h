// Machine code before register allocation: machine instructions on virtual registers, in basic
// blocks. Front ends build it; mir_finish() turns a module of it into a Program:
//   control-flow graph -> post-dominators -> clean-up -> liveness -> coalescing and colouring
//   -> spills -> layout -> encoding -> validation.
#ifndef REDOUBT_MIR_H
#define REDOUBT_MIR_H

#include "program/program.h"

// A virtual register. Width 0 is a predicate; 1, 2, 4, 8 are consecutive 32-bit registers
// (aligned: 2 to 2, 4 and 8 to 4).
typedef uint32_t VregId;
enum { VREG_NONE = 0xFFFFFFFF }; // RZ as a register, PT as a predicate
typedef struct Vreg {
  uint8_t width;
} Vreg;

// One operand: a register of a virtual register. `part` picks the first 32-bit register used
// inside a tuple or pair: reading the high half of a 64-bit value is {v, 1}.
typedef struct Vref {
  VregId vreg;
  uint8_t part;
} Vref;
#define VREF_NONE ((Vref){VREG_NONE, 0})
#define VREF(v) ((Vref){(v), 0})

// Mirrors Instr field by field, with Vrefs for registers and blocks for branch targets.
typedef struct MirInstr {
  uint16_t op, mods;
  uint8_t select;
  Vref guard;
  bool guard_negated;
  Vref pd[2];
  Vref ps;
  bool ps_negated;
  Vref d[4], a, b, c;
  uint32_t imm;
  uint32_t target; // direct branch: block index; direct call: function index in the MirModule
  uint32_t line;   // source line
  bool hidden;     // an access of memory that the source does not show: saves, spills, arguments of calls
} MirInstr;

typedef struct MirBlock {
  VEC(MirInstr) instrs;
  // Successors follow from the last instruction: a branch's target if it is a branch, and the
  // next block in order unless the last instruction is an unguarded branch, ret, exit or trap.
  // For an indirect branch (brx): its possible targets. In MIR, register a of brx holds an index
  // into them; mir_finish makes the jump table and turns the index into a program counter.
  VEC(uint32_t) indirect_targets;
} MirBlock;

typedef struct MirFunction {
  const char *name;
  uint32_t source;             // number of the file it is from
  bool is_kernel, is_external; // external: declared, defined in no module
  bool address_taken;
  VEC(Vreg) vregs;
  VEC(MirBlock) blocks; // layout order; block 0 is the entry
  // Virtual register that holds the frame pointer (32-bit local address) during the function;
  // VREG_NONE when no frame is needed. mir_finish gives it its value at entry, and places
  // spills after local_bytes. Local variables live at frame_pointer + offset, offsets assigned
  // by the front end from 0 (a callee's parameters and results first).
  VregId frame_pointer;
  uint32_t local_bytes, local_align;
  VEC(Param) params;
  uint32_t param_bytes;
  uint32_t shared_bytes, shared_align;
  uint32_t barriers;
  uint32_t max_threads[3], required_threads[3], min_blocks, cluster[3];
  uint32_t max_registers; // .maxnreg; 0 = not given
  VEC(uint32_t) callees;  // direct calls, function indices
  bool has_indirect_calls;
} MirFunction;

typedef struct MirModule {
  Arena *arena; // becomes the Program's arena
  const char *file;
  VEC(const char *) files; // that are linked
  uint32_t address_bits;
  VEC(MirFunction) functions;
  VEC(Symbol) symbols;
  VEC(Relocation) relocations;
  uint32_t const_bytes;
} MirModule;

typedef struct MirOptions {
  uint32_t max_registers;    // --max-registers; 0 = 255, lowered by .maxnreg and occupancy directives
  uint32_t registers_per_sm; // for .minnctapersm; 0 = 65536
} MirOptions;

// Calling convention (real call stack; recursion works)
//   r0 of every activation that needs a frame holds its frame pointer: a 32-bit byte offset in
//   the thread's local memory, growing upwards, 16-byte aligned. At kernel entry it is 0.
//   Arguments and results lie in memory: the callee's parameters at callee frame + 0.., its
//   results right after them (each naturally aligned, in declaration order: parameters first).
//   So the callee's frame starts at the caller's argument area: CALL is preceded by
//   add r0, r0, caller_frame_bytes and followed by the inverse; both are made by mir_finish.
//   Front ends write arguments with st.local to [frame_pointer + MIR_ARGUMENTS + offset] and read
//   results there after the call; a callee reads its parameters at [frame_pointer + offset],
//   the first `param_bytes` of its local_bytes. No register survives a call but r0: mir_finish
//   saves what is live across one in the caller's frame.
//   An instruction whose a is the frame pointer and whose imm is MIR_ARGUMENTS or more (a load or
//   store, or an add that takes the address) gets the frame's final size in place of MIR_ARGUMENTS.
enum { MIR_ARGUMENTS = 1 << 24 };

// What front ends may rely on: a destination may share registers with a source (of the same
// width or not), so whoever carries an instruction out reads all its sources first. Virtual
// registers need not be in SSA form; guarded writes keep the old value where the guard fails.
// Kernels hold no frame pointer in a register: theirs is always 0.

Program *mir_finish(MirModule *module, const MirOptions *options, Diags *diags); // NULL on error
void mir_dump(const MirFunction *function, Text *out);

MirInstr *mir_emit(MirFunction *function, Arena *arena, uint32_t block); // appended, rest values set
VregId mir_vreg(MirFunction *function, Arena *arena, unsigned width);

#endif
