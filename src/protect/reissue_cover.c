// Reissue for direct compute: which kernels can be covered.
//
// Both copies of a block must store the same bytes in a run without faults, and a block that runs again must find the memory that it found the first
// time. A kernel for which that cannot be seen in its code is not covered; docs/reissue.md lists the rules.
#include "isa/texture.h"
#include "protect/reissue_blocks.h"

typedef struct Cover {
  const Program *program;
  Text *why;
  uint64_t *seen; // a bit per function
} Cover;

static bool refuse(const Cover *cover, uint32_t pc, const char *what, const char *reason) {
  uint32_t line = cover->program->lines != NULL ? cover->program->lines[pc] : 0;
  text_add(cover->why, "%s", what);
  if (line != 0) text_add(cover->why, " in line %u", line);
  text_add(cover->why, ": %s", reason);
  return false;
}

static bool is_outside(Space space) { return space == SPACE_GLOBAL || space == SPACE_GENERIC; }

static const char *moving_register(const Instr *instr) {
  switch (instr->imm) {
  case SREG_CLOCK:
  case SREG_CLOCK_HI:
  case SREG_CLOCK64:
  case SREG_GLOBALTIMER:
  case SREG_GLOBALTIMER_LO:
  case SREG_GLOBALTIMER_HI: return "the copies read the clock at different times";
  case SREG_SMID:
  case SREG_WARPID: return "the copies run in different places";
  default: return NULL;
  }
}

static bool system_call(const Cover *cover, const Instr *instr, uint32_t pc) {
  switch (instr->op) {
  case OP_SYS_VPRINTF: return refuse(cover, pc, "printf", "what is printed cannot be taken back");
  case OP_SYS_MALLOC:
  case OP_SYS_FREE: return refuse(cover, pc, "malloc or free", "the heap is shared by all blocks");
  default: return true;
  }
}

static bool check_one(const Cover *cover, uint32_t pc) {
  const Instr *instr = &cover->program->decoded[pc];
  const OpInfo *info = &op_info[instr->op];
  const uint16_t fresh = MOD_VOLATILE | MOD_ORDERED;
  switch (info->kind) {
  case KIND_ATOMIC:
    return !is_outside(info->space) ||
           refuse(cover, pc, "atomic on global memory", "its order between blocks is not the same for both copies");
  case KIND_SREG: {
    const char *reason = moving_register(instr);
    return reason == NULL || refuse(cover, pc, sreg_info[instr->imm % SREG_COUNT].text, reason);
  }
  case KIND_LOAD:
    if ((instr->mods & fresh) == 0 || !is_outside(info->space)) return true;
    return refuse(cover, pc, "volatile or acquiring load", "the block waits for what another one stores in the same launch");
  case KIND_FENCE:
    return instr->op == OP_MEMBAR_CTA ||
           refuse(cover, pc, "membar.gl", "blocks communicate within the launch, and held stores are not seen");
  case KIND_TEXTURE: {
    unsigned operation = texture_field(instr->imm, TEXTURE_OPERATION, 4);
    bool is_atomic = operation == TEXTURE_SURED || operation == TEXTURE_SURED_P;
    return !is_atomic || refuse(cover, pc, "atomic on a surface", "its order between blocks is not the same for both copies");
  }
  case KIND_SYSTEM: return system_call(cover, instr, pc);
  default: return true;
  }
}

static bool check_function(const Cover *cover, uint32_t index);

// Whom it calls; of an indirect call that may be any function.
static bool check_called(const Cover *cover, const Instr *instr) {
  const Program *program = cover->program;
  bool is_indirect = (op_info[instr->op].flags & IT_INDIRECT) != 0;
  for (uint32_t i = 0; i < program->function_count; i++) {
    const Function *function = &program->functions[i];
    bool is_called = is_indirect ? !function->is_kernel : function->entry == instr->imm;
    if (is_called && !check_function(cover, i)) return false;
  }
  return true;
}

static bool check_function(const Cover *cover, uint32_t index) {
  const Function *function = &cover->program->functions[index];
  if ((cover->seen[index / 64] >> index % 64 & 1) != 0) return true;
  cover->seen[index / 64] |= UINT64_C(1) << index % 64;
  for (uint32_t pc = function->entry; pc < min_u32(function->end, cover->program->code_count); pc++) {
    const Instr *instr = &cover->program->decoded[pc];
    if (!check_one(cover, pc)) return false;
    if ((op_info[instr->op].flags & IT_CALLS) != 0 && !check_called(cover, instr)) return false;
  }
  return true;
}

bool reissue_covers(const Hook *hook, const Program *program, const char *kernel, Text *why) {
  (void)hook;
  const Function *function = program_function(program, kernel);
  if (function == NULL || program->decoded == NULL) {
    text_add(why, "its instructions are not known");
    return false;
  }
  Arena *scratch = arena_new();
  Cover cover = {program, why, ARENA_ARRAY(scratch, uint64_t, program->function_count / 64 + 1)};
  bool covered = check_function(&cover, (uint32_t)(function - program->functions));
  arena_free(scratch);
  return covered;
}
