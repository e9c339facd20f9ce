// The table of traps, from trap.def, and how a trap reads in one line.
#include "machine/machine.h"

const TrapInfo trap_info[TRAP_COUNT] = {
#define TRAP(id, name, text) [TRAP_##id] = {name, text},
#include "machine/trap.def"
#undef TRAP
};

// Limits of launches are no thread's.
static bool has_place(const Trap *trap) { return trap->function != NULL || trap->pc != 0 || trap->kind == TRAP_INVALID_PC; }

void trap_format(const Trap *trap, const Program *program, Text *out) {
  if (trap->kernel != NULL) text_add(out, "kernel %s: ", SHORT_NAME(trap->kernel));
  text_add(out, "%s", trap_info[trap->kind].text);
  if (trap->kind == TRAP_NONE) return;
  if (trap->kind == TRAP_ILLEGAL_ADDRESS || trap->kind == TRAP_MISALIGNED || trap->kind == TRAP_STACK_OVERFLOW) {
    if (trap->bytes != 0) {
      text_add(out, ": %u-byte %s%saccess at address 0x%llx", trap->bytes, space_text[trap->space], trap->space == SPACE_NONE ? "" : " ",
               (unsigned long long)trap->address);
    }
  }
  if (trap->note[0] != '\0') text_add(out, ": %s", trap->note);
  if (!has_place(trap)) return;
  text_add(out, "; block (%u,%u,%u), thread (%u,%u,%u)", trap->block[0], trap->block[1], trap->block[2], trap->thread[0], trap->thread[1],
           trap->thread[2]);
  if (trap->function != NULL && (trap->kernel == NULL || strcmp(trap->function, trap->kernel) != 0)) {
    text_add(out, ", function %s", SHORT_NAME(trap->function));
  }
  const char *file = program == NULL ? NULL : program_file_at(program, trap->pc);
  if (trap->line != 0) text_add(out, ", line %u of %s", trap->line, file != NULL ? file : "the PTX");
  text_add(out, ", pc %u", trap->pc);
}
