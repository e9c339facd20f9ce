// libFuzzer target: any bytes through the PTX parser. It must neither crash, hang nor leak, and must
// say something about every file of which it makes nothing.
#include "ptx/ast.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// Touches every node, so that the sanitizers see a dangling one.
static uint64_t visit(const PtxOperand *operand) {
  uint64_t sum = operand->bits + operand->label + (uint64_t)operand->kind + operand->text.length;
  if (operand->text.length > 0) sum += (uint8_t)operand->text.at[operand->text.length - 1];
  if (operand->variable != NULL) sum += operand->variable->bytes + (uint64_t)operand->variable->place.line;
  for (uint32_t i = 0; i < operand->item_count; i++) sum += visit(&operand->items[i]);
  return sum;
}

static uint64_t visit_function(const PtxFunction *function) {
  uint64_t sum = function->signature.params.count;
  for (uint32_t i = 0; i < function->statements.count; i++) {
    const PtxStatement *statement = &function->statements.items[i];
    for (uint32_t k = 0; k < statement->instr.operand_count; k++) sum += visit(&statement->instr.operands[k]);
    for (uint32_t k = 0; k < statement->targets.count; k++) sum += statement->targets.items[k];
  }
  for (uint32_t i = 0; i < function->variables.count; i++) sum += function->variables.items[i]->bytes;
  return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Arena *arena = arena_new();
  Diags diags = {0};
  const PtxModule *module = ptx_parse(arena, "fuzz.ptx", (const char *)data, size, &diags);
  uint64_t sum = 0;
  for (uint32_t i = 0; module != NULL && i < module->functions.count; i++) sum += visit_function(module->functions.items[i]);
  volatile uint64_t sink = sum;
  (void)sink;
  ASSERT(module != NULL || diags.count > 0);
  diags_free(&diags);
  arena_free(arena);
  return 0;
}
