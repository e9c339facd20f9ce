// From a module of machine code on virtual registers to a Program: every function by itself, then
// what depends on who calls whom.
#include "program/mir_internal.h"
#include "program/program_internal.h"

typedef struct Finish {
  MirModule *module;
  const MirOptions *options;
  Diags *diags;
  Arena *scratch;
  CodeVec code;
  Function *functions;
  uint32_t *limits;     // registers each function may use
  uint32_t frame_align; // of every frame
} Finish;

// ---- Limits --------------------------------------------------------------------------------------------
static uint32_t product_of(const uint32_t sizes[3]) {
  uint64_t product = 1;
  for (unsigned i = 0; i < 3; i++) product *= max_u32(1, sizes[i]);
  return (uint32_t)min_u64(product, 1u << 20);
}

// What .maxnreg and the occupancy directives leave to one thread.
static uint32_t kernel_limit(const MirFunction *kernel, const MirOptions *options) {
  uint32_t limit = options->max_registers == 0 ? MAX_REGISTERS : min_u32(options->max_registers, MAX_REGISTERS);
  if (kernel->max_registers != 0) limit = min_u32(limit, kernel->max_registers);
  bool required = kernel->required_threads[0] != 0, bounded = kernel->max_threads[0] != 0;
  if (required || bounded) {
    uint32_t threads = (uint32_t)align_up(product_of(required ? kernel->required_threads : kernel->max_threads), WARP_LANES);
    uint32_t registers = options->registers_per_sm == 0 ? 65536 : options->registers_per_sm;
    uint64_t share = registers / ((uint64_t)threads * max_u32(1, kernel->min_blocks));
    limit = min_u32(limit, max_u32(16, (uint32_t)(share & ~UINT64_C(7))));
  }
  return max_u32(limit, 16);
}

// Visits what a function may call, itself included; marks it with `mark`.
static void visit_callees(const MirModule *module, uint32_t function, uint32_t mark, uint32_t *marks) {
  if (marks[function] == mark) return;
  marks[function] = mark;
  const MirFunction *mir = &module->functions.items[function];
  for (uint32_t i = 0; i < mir->callees.count; i++) visit_callees(module, mir->callees.items[i], mark, marks);
  for (uint32_t f = 0; mir->has_indirect_calls && f < module->functions.count; f++) {
    if (module->functions.items[f].address_taken) visit_callees(module, f, mark, marks);
  }
}

static void find_limits(Finish *finish) {
  MirModule *module = finish->module;
  uint32_t count = module->functions.count;
  uint32_t *marks = ARENA_ARRAY(finish->scratch, uint32_t, count);
  uint32_t general = finish->options->max_registers == 0 ? MAX_REGISTERS : finish->options->max_registers;
  for (uint32_t f = 0; f < count; f++) finish->limits[f] = max_u32(16, min_u32(general, MAX_REGISTERS));
  for (uint32_t k = 0; k < count; k++) {
    if (!module->functions.items[k].is_kernel) continue;
    uint32_t limit = kernel_limit(&module->functions.items[k], finish->options);
    visit_callees(module, k, k + 1, marks);
    for (uint32_t f = 0; f < count; f++) {
      if (marks[f] == k + 1) finish->limits[f] = min_u32(finish->limits[f], limit);
    }
  }
}

// ---- One function --------------------------------------------------------------------------------------
// brx takes a program counter: index + the address of its jump table.
static void lower_indirect_branches(Work *work) {
  MirFunction *function = work->function;
  for (uint32_t b = 0; b < function->blocks.count; b++) {
    MirBlock *block = &function->blocks.items[b];
    if (block->indirect_targets.count == 0) continue;
    MirInstr branch = block->instrs.items[block->instrs.count - 1];
    MirInstr add;
    mir_rest(&add);
    add.op = OP_ADD_B32;
    add.d[0] = VREF(mir_vreg(function, work->arena, 1));
    add.a = branch.a;
    add.select = SELECT_IMM_B;
    add.target = TABLE_MARK;
    add.line = branch.line;
    branch.a = add.d[0];
    block->instrs.items[block->instrs.count - 1] = add;
    *VEC_PUSH(&block->instrs, work->arena) = branch;
  }
}

// Bytes that the function writes or reads past its frame: arguments of calls.
static uint32_t argument_bytes(const Work *work) {
  enum { WIDEST_ACCESS = 32, LEAST_AREA = 64 };
  uint32_t most = work->has_calls ? LEAST_AREA : 0;
  const MirFunction *function = work->function;
  for (uint32_t b = 0; b < function->blocks.count; b++) {
    const MirBlock *block = &function->blocks.items[b];
    for (uint32_t i = 0; i < block->instrs.count; i++) {
      const MirInstr *instr = &block->instrs.items[i];
      bool past = instr->a.vreg != VREG_NONE && instr->a.vreg == function->frame_pointer && (int32_t)instr->imm >= MIR_ARGUMENTS;
      if (past) most = max_u32(most, max_u32(LEAST_AREA, instr->imm - MIR_ARGUMENTS + WIDEST_ACCESS));
    }
  }
  return (uint32_t)align_up(most, 16);
}

static bool check_calls(const Finish *finish, const MirFunction *function) {
  for (uint32_t b = 0; b < function->blocks.count; b++) {
    const MirBlock *block = &function->blocks.items[b];
    for (uint32_t i = 0; i < block->instrs.count; i++) {
      const MirInstr *instr = &block->instrs.items[i];
      if ((mir_flags(instr) & (IT_CALLS | IT_INDIRECT)) != IT_CALLS) continue;
      ASSERT(instr->target < finish->module->functions.count);
      const MirFunction *callee = &finish->module->functions.items[instr->target];
      if (callee->is_external)
        return diags_add(finish->diags, finish->module->file, (int)instr->line, 0, "%s calls %s, which is declared but defined nowhere",
                         function->name, callee->name);
    }
  }
  return true;
}

static bool finish_function(Finish *finish, uint32_t index) {
  MirFunction *function = &finish->module->functions.items[index];
  Function *result = &finish->functions[index];
  result->entry = result->end = finish->code.instrs.count;
  if (function->is_external) return true;
  Arena *scratch = arena_new();
  Work work = {.arena = scratch, .function = function, .module = finish->module, .diags = finish->diags, .callee_frame = VREG_NONE};
  work.limit = finish->limits[index];
  work.frame_bytes = function->local_bytes;
  cfg_clean(function, scratch, scratch);
  bool fine = check_calls(finish, function);
  if (fine) {
    if (function->frame_pointer != VREG_NONE || function->local_bytes > 0) work_need_frame(&work);
    mir_fold(&work);
    mir_schedule(&work);
    lower_indirect_branches(&work);
    mir_lower_calls(&work);
    fine = mir_allocate(&work);
  }
  if (fine) {
    work.frame_bytes = (uint32_t)align_up(work.frame_bytes, finish->frame_align);
    fine = mir_emit_code(&work, scratch, finish->scratch, &finish->code);
    result->end = finish->code.instrs.count;
    result->registers = work.registers;
    result->predicates = work.predicates;
    result->frame_bytes = work.frame_bytes + argument_bytes(&work);
    result->spill_loads = work.spill_loads;
    result->spill_stores = work.spill_stores;
  }
  arena_free(scratch);
  return fine;
}

static void describe_function(Function *result, const MirFunction *mir) {
  result->name = mir->name;
  result->source = mir->source;
  result->is_kernel = mir->is_kernel;
  result->shared_bytes = mir->shared_bytes;
  result->shared_align = mir->shared_align;
  result->barriers = mir->barriers;
  result->params = mir->params.items;
  result->param_count = mir->params.count;
  result->param_bytes = mir->param_bytes;
  memcpy(result->max_threads, mir->max_threads, sizeof result->max_threads);
  memcpy(result->cluster, mir->cluster, sizeof result->cluster);
  memcpy(result->required_threads, mir->required_threads, sizeof result->required_threads);
  result->min_blocks = mir->min_blocks;
}

// ---- The call graph ------------------------------------------------------------------------------------
typedef struct CallWalk {
  const MirModule *module;
  const Function *functions;
  uint8_t *state;  // 0 new, 1 on the path, 2 done
  uint32_t *stack; // deepest chain below and with a function
  bool *recursive;
} CallWalk;

static void walk_calls(CallWalk *walk, uint32_t f) {
  const MirFunction *mir = &walk->module->functions.items[f];
  walk->state[f] = 1;
  uint32_t deepest = 0;
  walk->recursive[f] |= mir->has_indirect_calls;
  for (uint32_t i = 0; i < walk->module->functions.count + mir->callees.count; i++) {
    bool direct = i < mir->callees.count;
    uint32_t callee = direct ? mir->callees.items[i] : i - mir->callees.count;
    if (!direct && !(mir->has_indirect_calls && walk->module->functions.items[callee].address_taken)) continue;
    if (walk->state[callee] == 0) walk_calls(walk, callee);
    if (walk->state[callee] == 1) walk->recursive[f] = true;
    walk->recursive[f] |= walk->recursive[callee];
    deepest = max_u32(deepest, walk->stack[callee]);
  }
  walk->stack[f] = walk->functions[f].frame_bytes + deepest;
  walk->state[f] = 2;
}

// Registers, stack, shared memory and barriers with everything that may be called.
static void close_over_calls(Finish *finish) {
  MirModule *module = finish->module;
  uint32_t count = module->functions.count;
  CallWalk walk = {.module = module, .functions = finish->functions};
  walk.state = ARENA_ARRAY(finish->scratch, uint8_t, count);
  walk.stack = ARENA_ARRAY(finish->scratch, uint32_t, count);
  walk.recursive = ARENA_ARRAY(finish->scratch, bool, count);
  uint32_t *marks = ARENA_ARRAY(finish->scratch, uint32_t, count);
  Function *closed = ARENA_ARRAY(module->arena, Function, count);
  for (uint32_t f = 0; f < count; f++) {
    if (walk.state[f] == 0) walk_calls(&walk, f);
  }
  for (uint32_t f = 0; f < count; f++) {
    closed[f] = finish->functions[f];
    closed[f].stack_bytes = walk.stack[f];
    closed[f].recursive = walk.recursive[f];
    visit_callees(module, f, f + 1, marks);
    for (uint32_t g = 0; g < count; g++) {
      if (marks[g] != f + 1) continue;
      const Function *callee = &finish->functions[g];
      closed[f].registers = max_u32(closed[f].registers, callee->registers);
      closed[f].predicates = max_u32(closed[f].predicates, callee->predicates);
      closed[f].shared_bytes = max_u32(closed[f].shared_bytes, callee->shared_bytes);
      closed[f].shared_align = max_u32(closed[f].shared_align, callee->shared_align);
      closed[f].barriers = max_u32(closed[f].barriers, callee->barriers);
    }
  }
  finish->functions = closed;
}

// ---- The program ---------------------------------------------------------------------------------------
static bool encode_all(Finish *finish, Program *program) {
  uint32_t count = finish->code.instrs.count;
  InstrWord *words = ARENA_ARRAY(program->arena, InstrWord, count);
  Instr *decoded = ARENA_ARRAY(program->arena, Instr, count);
  uint32_t *lines = ARENA_ARRAY(program->arena, uint32_t, count);
  bool *hidden = ARENA_ARRAY(program->arena, bool, count);
  for (uint32_t i = 0; i < count; i++) {
    Instr *instr = &finish->code.instrs.items[i];
    if ((op_info[instr->op].flags & (IT_CALLS | IT_INDIRECT)) == IT_CALLS) instr->imm = finish->functions[instr->imm].entry;
    words[i] = instr_encode(instr);
    lines[i] = finish->code.lines.items[i];
    hidden[i] = finish->code.hidden.items[i];
    if (instr_decode(words[i], &decoded[i])) continue;
    return diags_add(finish->diags, program->file, (int)lines[i], 0, "%s has no encoding with these operands", op_info[instr->op].text);
  }
  program->code = words;
  program->decoded = decoded;
  program->lines = lines;
  program->hidden = hidden;
  program->code_count = count;
  return true;
}

static Program *make_program(Finish *finish) {
  MirModule *module = finish->module;
  Program *program = ARENA_NEW(module->arena, Program);
  program->arena = module->arena;
  program->file = module->file;
  program->files = module->files.items;
  program->file_count = module->files.count;
  program->address_bits = module->address_bits;
  program->symbols = module->symbols.items;
  program->symbol_count = module->symbols.count;
  program->relocations = module->relocations.items;
  program->relocation_count = module->relocations.count;
  program->const_bytes = module->const_bytes;
  if (!encode_all(finish, program)) return NULL;
  close_over_calls(finish);
  program->functions = finish->functions;
  program->function_count = module->functions.count;
  program->hash = program_hash(program);
  return program_validate(program, finish->diags) ? program : NULL;
}

Program *mir_finish(MirModule *module, const MirOptions *options, Diags *diags) {
  static const MirOptions defaults = {0, 0};
  Finish finish = {
      .module = module, .options = options == NULL ? &defaults : options, .diags = diags, .scratch = arena_new(), .frame_align = 16};
  uint32_t count = module->functions.count;
  finish.functions = ARENA_ARRAY(finish.scratch, Function, count);
  finish.limits = ARENA_ARRAY(finish.scratch, uint32_t, count);
  find_limits(&finish);
  for (uint32_t f = 0; f < count; f++) finish.frame_align = max_u32(finish.frame_align, module->functions.items[f].local_align);
  bool fine = true;
  for (uint32_t f = 0; f < count; f++) {
    describe_function(&finish.functions[f], &module->functions.items[f]);
    fine &= finish_function(&finish, f);
  }
  Program *program = fine ? make_program(&finish) : NULL;
  arena_free(finish.scratch);
  return program;
}
