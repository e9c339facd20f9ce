// The ways to settle faults, in the order in which they are tried.
#include "settle/settle.h"

const Settler *const all_settlers[] = {&settle_def_use, &settle_free_places, &settle_decisions, &settle_outputs,  &settle_classes,
                                       &settle_follow,  &settle_trial,       &settle_returned,  &settle_simulate, NULL};

_Static_assert(sizeof all_settlers / sizeof *all_settlers - 1 <= MOST_SETTLERS, "a campaign has room for these");

bool settles_by_watching(const Settling *at) { return at->options->prune; }

void draw_read_by(Draw *draw, const Program *program, uint32_t pc) {
  if (program == NULL || pc >= program->code_count) return;
  draw->line = program->lines == NULL ? 0 : program->lines[pc];
  draw->pc = pc;
  draw->op = program->decoded == NULL ? OP_COUNT : program->decoded[pc].op;
}
