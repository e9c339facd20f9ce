// What the passes of mir_finish() share. One Work per function; every pass reads and rewrites
// its MirFunction and leaves it valid.
//
//   mir_cfg.c       successors, dominators, loops, post-dominators
//   mir_clean.c     blocks cut, threaded and merged
//   mir_fold.c      copies and constants forwarded, dead code removed
//   mir_live.c      liveness of single 32-bit registers and predicates
//   mir_call.c      frames and values that live across calls
//   mir_schedule.c  instructions reordered inside blocks where that needs fewer registers
//   mir_coalesce.c  copies merged away
//   mir_graph.c     interference
//   mir_colour.c    physical registers for virtual ones
//   mir_spill.c     values moved to the frame, or made again where they are used
//   mir_emit.c      layout, reconvergence points, encoding
//   mir_finish.c    the order of all this; the Program
#ifndef REDOUBT_MIR_INTERNAL_H
#define REDOUBT_MIR_INTERNAL_H

#include "program/mir.h"

enum {
  NONE = 0xFFFFFFFF,
  TABLE_MARK = 0xFFFFFFFE, // target of an add that takes the address of its block's jump table
};

// ---- Operands ----------------------------------------------------------------------------------
typedef struct Operand {
  Vref *ref;
  uint8_t operand;   // as in OperandUse
  uint8_t registers; // 0 = predicate
  bool written;
} Operand;
// The virtual registers an instruction touches; constants, RZ and PT are left out.
unsigned mir_operands(MirInstr *instr, Operand operands[MAX_OPERANDS]);

static inline bool mir_guarded(const MirInstr *instr) { return instr->guard.vreg != VREG_NONE || instr->guard_negated; }
static inline uint32_t mir_flags(const MirInstr *instr) { return op_info[instr->op].flags; }
// Nothing after it in its block is reached.
static inline bool mir_ends_path(const MirInstr *instr) {
  return !mir_guarded(instr) && (mir_flags(instr) & (IT_BRANCH | IT_RETURN | IT_EXITS | IT_TRAPS)) != 0;
}
void mir_rest(MirInstr *instr); // rest values: nothing used, unguarded

// ---- Control-flow graph ------------------------------------------------------------------------
typedef struct Cfg {
  uint32_t count;              // blocks
  uint32_t *succ_start, *succ; // successors of b: succ[succ_start[b] .. succ_start[b + 1])
  uint32_t *pred_start, *pred;
  uint32_t *order; // reachable blocks in reverse postorder
  uint32_t order_count;
  uint32_t *order_of;             // inverse; NONE when unreachable
  uint32_t *idom;                 // immediate dominator; entry: itself; NONE when unreachable
  uint32_t *dom_first, *dom_size; // place in the dominator tree; what it dominates: dom_size places from there
  uint32_t *depth;                // loops around a block
} Cfg;
void cfg_build(Cfg *cfg, Arena *arena, const MirFunction *function);
bool cfg_dominates(const Cfg *cfg, uint32_t above, uint32_t below);
// Immediate post-dominator of every block, NONE where paths never meet.
uint32_t *cfg_post_dominators(const Cfg *cfg, Arena *arena, const MirFunction *function);
// Cuts blocks at branches, threads jumps, drops what cannot be reached, merges straight lines.
void cfg_clean(MirFunction *function, Arena *arena, Arena *scratch);

// ---- One function at work ------------------------------------------------------------------------
typedef struct Work {
  Arena *arena; // of the module: instructions, registers
  MirFunction *function;
  const MirModule *module;
  Diags *diags;
  VEC(bool) is_temp;   // by virtual register: helpers of spills; past the end: no
  VEC(uint32_t) homes; // by virtual register: its place in the frame + 1; 0 or past the end: none
  VregId callee_frame; // kernels: r0 as callees find it; VREG_NONE
  uint32_t limit;      // registers it may use
  bool reserve_r0;     // r0 carries the frame pointer, or passes it to callees
  bool has_calls;
  uint32_t frame_bytes; // so far: variables, then saves and spills
  uint32_t spill_loads, spill_stores;
  uint8_t *colour;                // by virtual register: first physical register or predicate
  uint32_t registers, predicates; // used
} Work;

VregId work_temp(Work *work, unsigned width); // a new register that must not be spilled
bool work_is_temp(const Work *work, VregId vreg);
uint32_t work_home(Work *work, VregId vreg); // its place in the frame, made at need
void work_need_frame(Work *work);            // from now on there is a frame pointer

// Instructions of a block under reconstruction.
typedef VEC(MirInstr) MirInstrVec;
MirInstr *push_instr(Work *work, MirInstrVec *out, Op op, uint32_t line);
void push_frame_load(Work *work, MirInstrVec *out, Vref d, unsigned registers, uint32_t offset, uint32_t line);
// Under the guard of `like`, and with its line.
void push_frame_store(Work *work, MirInstrVec *out, Vref d, unsigned registers, uint32_t offset, const MirInstr *like);
void push_predicate_to_register(Work *work, MirInstrVec *out, Vref d, Vref predicate, uint32_t line);
void push_register_to_predicate(Work *work, MirInstrVec *out, Vref predicate, Vref a, uint32_t line);

// ---- Liveness ------------------------------------------------------------------------------------
// A unit is one 32-bit register of a virtual register, or a predicate.
typedef struct Live {
  uint32_t vreg_count, unit_count;
  uint32_t *unit_base;      // first unit of a vreg; [vreg_count] = unit_count
  uint32_t *vreg_of;        // by unit
  const bool *is_predicate; // by unit
  uint32_t global_count;    // units live into some block
  uint32_t *global_of;      // by unit; NONE
  uint32_t *unit_of;        // by global
  uint32_t words;           // of a set of globals
  uint64_t *in, *out;       // by block
} Live;
void live_number_units(Live *live, Arena *arena, const MirFunction *function); // the first fields alone
void live_build(Live *live, Arena *arena, MirFunction *function, const Cfg *cfg);

// Under which condition a live unit is needed: always, or where a guard holds that has not been
// written since (its version tells).
typedef struct Need {
  uint32_t guard; // predicate unit << 1 | negated; NEED_ALWAYS
  uint32_t version;
} Need;
enum { NEED_ALWAYS = 0xFFFFFFFF };

// A walk up a block: the units live after the instruction at hand.
typedef struct LiveScan {
  const Live *live;
  uint32_t *dense[2], count[2]; // [0] registers, [1] predicates
  uint32_t *where;              // by unit: place in dense; valid only if dense there holds the unit
  Need *need;                   // by unit
  uint32_t *version;            // by unit: writes seen of a predicate
} LiveScan;
void live_scan_init(LiveScan *scan, Arena *arena, const Live *live);
void live_scan_begin(LiveScan *scan, uint32_t block);
void live_scan_step(LiveScan *scan, const MirInstr *instr, const Operand *operands, unsigned count);
static inline bool live_has(const LiveScan *scan, uint32_t unit) {
  unsigned kind = scan->live->is_predicate[unit];
  uint32_t at = scan->where[unit];
  return at < scan->count[kind] && scan->dense[kind][at] == unit;
}
static inline uint32_t unit_of_ref(const Live *live, Vref ref) { return live->unit_base[ref.vreg] + ref.part; }
static inline unsigned operand_units(const Operand *operand) { return operand->registers == 0 ? 1 : operand->registers; }

// ---- Interference and colours --------------------------------------------------------------------
typedef struct Graph {
  const Live *live;
  uint32_t *start, *adjacent; // units; neighbours of u: adjacent[start[u] .. start[u + 1])
  uint32_t pressure[2];       // most units live at once: registers, predicates
  float *cost;                // by vreg: reads and writes weighted by loop depth
  uint32_t *first;            // by vreg: first instruction in layout order that names it
  uint32_t *partner;          // by vreg: another that a copy connects it with; NONE
} Graph;
void graph_build(Graph *graph, Arena *arena, Work *work, const Cfg *cfg, const Live *live);

// Tries to colour all of one kind (predicates or registers) with `count` colours. Fills colours;
// what found none is listed in failed.
typedef VEC(VregId) VregVec;
bool colour_try(const Graph *graph, Arena *arena, const Work *work, bool predicates, uint32_t count, uint8_t *colours, VregVec *failed);

// ---- Passes --------------------------------------------------------------------------------------
void mir_fold(Work *work);
void mir_schedule(Work *work);
void mir_lower_calls(Work *work);
void mir_coalesce(Work *work);
void mir_spill(Work *work, const VregId *vregs, uint32_t count);
bool mir_allocate(Work *work); // coalescing, colouring, spilling; fills colour, registers, predicates

// Encoded code of the whole module, in the program's arena once done.
typedef struct CodeVec {
  VEC(Instr) instrs;
  VEC(uint32_t) lines;
  VEC(bool) hidden;
} CodeVec;
// Appends the function's code. Calls still hold function indices in imm.
bool mir_emit_code(Work *work, Arena *scratch, Arena *code_arena, CodeVec *code);
bool mir_is_remakable(MirInstr *instr); // one unguarded instruction without register sources makes one value

#endif
