// Explanations as people read them.
#include "explain/explain.h"

#include <inttypes.h>

// ---- Places --------------------------------------------------------------------------------------------------------

static void add_line(Slice line, Text *out) {
  for (uint32_t i = 0; i < line.length; i++) {
    bool blank = line.at[i] == ' ' || line.at[i] == '\t', before = i > 0 && (line.at[i - 1] == ' ' || line.at[i - 1] == '\t');
    if (!blank || !before) text_add(out, "%c", blank ? ' ' : line.at[i]);
  }
}

static void add_place(const Place *place, Text *out) {
  text_add(out, "cycle %" PRIu64, place->cycle);
  if (place->sm != UINT32_MAX) text_add(out, ", SM %u", place->sm);
  if (place->warp != UINT32_MAX) text_add(out, ", warp %u", place->warp);
  if (place->pc == UINT32_MAX) return;
  text_add(out, ", pc %u: %s", place->pc, place->text);
  if (place->line == 0) return;
  text_add(out, "   [line %u%s", place->line, place->ptx.length > 0 ? ": " : "");
  add_line(place->ptx, out);
  if (place->origin.file != NULL) {
    const char *slash = strrchr(place->origin.file, '/');
    text_add(out, "; %s:%u", slash == NULL ? place->origin.file : slash + 1, place->origin.line);
  }
  text_add(out, "]");
}

// ---- What became of the struck cells -------------------------------------------------------------------------------

static void add_access(const FaultRun *run, uint32_t index, Text *out) {
  const Access *access = &run->accesses[index];
  text_add(out, "%s\n  ", run->faults[index]);
  switch (access->fate) {
  case FATE_NOT_STRUCK: text_add(out, "never struck: the run was over after %" PRIu64 " cycles", run->golden_cycles); break;
  case FATE_NO_CELL: text_add(out, "nothing struck: the warps of that launch had no such register"); break;
  case FATE_NOT_TOLD: text_add(out, "accesses of this place are not told one by one; what follows is what it changed"); break;
  case FATE_READ:
    text_add(out, "next read at ");
    add_place(&access->at, out);
    if (access->reads > 1) text_add(out, "\n  read %" PRIu64 " times before it was overwritten or the launch ended", access->reads);
    break;
  case FATE_OVERWRITTEN:
    text_add(out, "masked: next overwritten at ");
    add_place(&access->at, out);
    break;
  case FATE_RESET:
    text_add(out, "masked: next overwritten as a block came or went, at ");
    add_place(&access->at, out);
    break;
  case FATE_RESULT:
    text_add(out, "strikes a result at ");
    add_place(&access->at, out);
    if (access->reads > 1) text_add(out, "\n  the first of %" PRIu64 " that pass while the fault lasts", access->reads);
    break;
  case FATE_IDLE:
    text_add(out, "masked: no result passed then");
    if (access->reads > 0) text_add(out, "; the next one does at ");
    if (access->reads > 0) add_place(&access->at, out);
    break;
  default: text_add(out, "masked: never accessed again (dead)");
  }
  if (access->unused) text_add(out, "\n  no thread owned it when it was struck");
  text_add(out, "\n");
}

// ---- The path ------------------------------------------------------------------------------------------------------

static void add_address(const FaultRun *run, const Step *step, Text *out) {
  if (step->address == 0) return;
  text_add(out, " at 0x%" PRIx64, step->address);
  for (uint32_t i = 0; i < run->outputs.count; i++) {
    const TargetOutput *output = &run->outputs.items[i];
    uint64_t bytes = element_bytes(output->type);
    if (step->address < output->address || step->address >= output->address + output->count * bytes) continue;
    text_add(out, " = %s[%" PRIu64 "]", output->name, (step->address - output->address) / bytes);
  }
}

static void add_step(const FaultRun *run, const Step *step, Text *out) {
  text_add(out, "  ");
  add_place(&step->at, out);
  text_add(out, "\n    ");
  switch (step->kind) {
  case STEP_REGISTER: text_add(out, "writes r%u", step->number); break;
  case STEP_PREDICATE: text_add(out, "writes p%u", step->number); break;
  case STEP_STORE_DATA: text_add(out, "stores r%u", step->number); break;
  case STEP_STORE_ADDRESS: text_add(out, "stores to the address in r%u", step->number); break;
  case STEP_PATH: text_add(out, "the warp takes another path from before here on; it is not followed further"); break;
  }
  if (step->known) {
    uint32_t lanes = (uint32_t)__builtin_popcount(step->lanes);
    text_add(out, ": lane %u ", step->lane);
    if (step->idle) text_add(out, "does not execute it, instead of 0x%08x", step->expected);
    else if (step->should_idle) text_add(out, "0x%08x, although it should not execute it", step->got);
    else text_add(out, "0x%08x instead of 0x%08x", step->got, step->expected);
    if (lanes > 1) text_add(out, " and %u more lane%s", lanes - 1, lanes == 2 ? "" : "s");
  }
  if (step->kind == STEP_STORE_DATA || step->kind == STEP_STORE_ADDRESS) add_address(run, step, out);
  text_add(out, "\n");
}

static bool was_read(const FaultRun *run) {
  for (uint32_t i = 0; i < run->fault_count; i++) {
    if (run->accesses[i].fate == FATE_READ) return true;
  }
  return false;
}

static void add_path(const FaultRun *run, Text *out) {
  if (run->different == 0) {
    if (run->judgement.outcome == OUTCOME_CORRECTED)
      text_add(out, "a protection put it right: nothing differs from the run without faults\n");
    else if (strcmp(outcome_info[run->judgement.outcome].group, "masked") != 0) text_add(out, "no value written to a register differs\n");
    else if (was_read(run)) text_add(out, "logically masked: no value that was written afterwards differs from the run without faults\n");
    return;
  }
  text_add(out, "first difference from the run without faults, and what follows:\n");
  for (uint32_t i = 0; i < run->step_count; i++) {
    if (i >= MOST_STEPS) text_add(out, "  ...\n");
    add_step(run, &run->steps[i], out);
  }
  text_add(out, "%" PRIu64 " values differ in all, %" PRIu64 " of them at stores", run->different, run->different_stores);
  bool same_output = run->judgement.wrong == 0 && strcmp(outcome_info[run->judgement.outcome].group, "due") != 0;
  text_add(out, same_output ? "; none of it reached the output\n" : "\n");
  if (run->log_full) text_add(out, "the run is long: later values were not compared\n");
}

void explanation_format(const FaultRun *run, Text *out) {
  for (uint32_t i = 0; i < run->fault_count; i++) add_access(run, i, out);
  add_path(run, out);
  if (run->output == NULL) return;
  text_add(out, "first wrong output: %s[%" PRIu64 "] is %.9g instead of %.9g\n", run->output, run->output_index, run->output_got,
           run->output_expected);
}
