// From a violation to a trap; see violation.h.
#include "machine/parts/violation.h"
#include "machine/parts/special.h"

#include <stdio.h>

// "12 bytes past the end of a 4096-byte allocation"
static void describe_nearby(const Memory *memory, uint64_t address, char note[256]) {
  uint64_t start, bytes;
  if (address < 4096) {
    snprintf(note, 256, "null pointer");
  } else if (!memory_near(memory, address, &start, &bytes)) {
    snprintf(note, 256, "nothing is allocated");
  } else if (address >= start && address < start + bytes) {
    snprintf(note, 256, "runs past the end of a %llu-byte allocation, %llu bytes into it", (unsigned long long)bytes,
             (unsigned long long)(address - start));
  } else if (address >= start + bytes) {
    snprintf(note, 256, "%llu bytes past the end of a %llu-byte allocation", (unsigned long long)(address - start - bytes),
             (unsigned long long)bytes);
  } else {
    snprintf(note, 256, "%llu bytes before the start of a %llu-byte allocation", (unsigned long long)(start - address),
             (unsigned long long)bytes);
  }
}

static void describe_space(const AccessViolation *violation, const MemoryView *view, char note[256]) {
  uint64_t address = violation->address;
  Space space = violation->space == SPACE_GENERIC ? generic_resolve(&address) : violation->space;
  const char *name = space_text[space];
  switch (space) {
  case SPACE_GLOBAL: describe_nearby(view->memory, violation->address, note); return;
  case SPACE_SHARED: snprintf(note, 256, "the block has %u bytes of %s memory", view->shared_bytes, name); return;
  case SPACE_LOCAL: snprintf(note, 256, "the thread has %u bytes of %s memory", view->local_bytes, name); return;
  case SPACE_CONST: snprintf(note, 256, "the module has %u bytes of %s memory", view->bank_bytes[BANK_CONST], name); return;
  case SPACE_PARAM: snprintf(note, 256, "the kernel has %u bytes of parameters", view->bank_bytes[BANK_PARAM]); return;
  default: return;
  }
}

void violation_describe(const AccessViolation *violation, const MemoryView *view, const char *note, Trap *trap) {
  *trap = (Trap){.kind = violation->kind, .space = violation->space, .address = violation->address, .bytes = violation->bytes};
  if (note != NULL) snprintf(trap->note, sizeof trap->note, "%s", note);
  if (violation->kind == TRAP_ILLEGAL_ADDRESS && (note == NULL || note[0] == '\0')) describe_space(violation, view, trap->note);
}

void violation_locate(const Launch *launch, const uint32_t block[3], uint32_t warp, unsigned lane, uint32_t pc, Trap *trap) {
  const Program *program = launch->program;
  trap->kernel = launch->kernel->name;
  memcpy(trap->block, block, sizeof trap->block);
  special_thread(launch, warp, lane, trap->thread);
  trap->pc = pc;
  if (pc >= program->code_count) return;
  if (program->lines != NULL) trap->line = program->lines[pc];
  const Function *function = program_function_at(program, pc);
  if (function != NULL) trap->function = function->name;
}

bool violation_outgrows(const AccessViolation *violation, const Launch *launch, uint32_t pc, bool through_frame, uint32_t frame,
                        uint64_t local_bytes) {
  if (violation->kind != TRAP_ILLEGAL_ADDRESS || violation->space != SPACE_LOCAL || !launch->kernel->recursive) return false;
  const Function *function = program_function_at(launch->program, pc);
  bool has_frame = function != NULL && !function->is_kernel && function->frame_bytes > 0; // a kernel's is at 0
  return through_frame || (has_frame && (uint64_t)frame + function->frame_bytes > local_bytes);
}
