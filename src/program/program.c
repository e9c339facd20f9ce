// The program: look-ups and identity.
#include "program/program_internal.h"

const char *const program_form_text[FORM_COUNT] = {
    [FORM_REDOUBT] = "PTX", [FORM_G80] = "G80 machine code", [FORM_SHADER] = "fragment programs"};

void program_text_at(const Program *program, uint32_t pc, Text *out) {
  if (program->decoded != NULL) instr_format(&program->decoded[pc], out);
  else text_add(out, "%s", program->foreign[pc].text);
}

bool program_stores_at(const Program *program, uint32_t pc, bool *is_global) {
  if (pc >= program->code_count) return false;
  if (program->decoded == NULL) return *is_global = program->foreign[pc].is_global, program->foreign[pc].stores;
  const OpInfo *info = &op_info[program->decoded[pc].op];
  *is_global = info->space == SPACE_GLOBAL || info->space == SPACE_GENERIC;
  return (info->flags & IT_WRITES_MEMORY) != 0;
}

const Function *program_function(const Program *program, const char *name) {
  for (uint32_t f = 0; f < program->function_count; f++) {
    if (strcmp(program->functions[f].name, name) == 0) return &program->functions[f];
  }
  return NULL;
}

// Functions lie in order; those without code (external ones) are empty ranges.
const Function *program_function_at(const Program *program, uint32_t pc) {
  uint32_t low = 0, high = program->function_count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (program->functions[middle].end <= pc) low = middle + 1;
    else high = middle;
  }
  if (low == program->function_count || pc < program->functions[low].entry) return NULL;
  return &program->functions[low];
}

const char *program_file_at(const Program *program, uint32_t pc) {
  const Function *function = program_function_at(program, pc);
  return function != NULL && function->source < program->file_count ? program->files[function->source] : program->file;
}

int program_symbol(const Program *program, const char *name) {
  for (uint32_t s = 0; s < program->symbol_count; s++) {
    if (strcmp(program->symbols[s].name, name) == 0) return (int)s;
  }
  return -1;
}

void program_free(Program *program) {
  if (program != NULL) arena_free(program->arena);
}

static uint64_t hash_text(const char *text, uint64_t seed) { return hash_bytes(text, strlen(text) + 1, seed); }

static uint64_t hash_function(const Function *function, uint64_t hash) {
  const uint32_t numbers[] = {
      function->is_kernel,   function->entry,       function->end,         function->registers,    function->predicates,
      function->frame_bytes, function->stack_bytes, function->recursive,   function->shared_bytes, function->shared_align,
      function->barriers,    function->param_count, function->param_bytes, function->min_blocks,
  };
  hash = hash_bytes(numbers, sizeof numbers, hash_text(function->name, hash));
  hash = hash_bytes(function->max_threads, sizeof function->max_threads, hash);
  hash = hash_bytes(function->required_threads, sizeof function->required_threads, hash);
  return function->cluster[0] == 0 ? hash : hash_bytes(function->cluster, sizeof function->cluster, hash);
}

static uint64_t hash_symbol(const Symbol *symbol, uint64_t hash) {
  const uint64_t numbers[] = {symbol->kind,    symbol->space,    symbol->bytes,        symbol->align,
                              symbol->managed, symbol->external, symbol->const_offset, symbol->function};
  hash = hash_bytes(numbers, sizeof numbers, hash_text(symbol->name, hash));
  return symbol->initial == NULL ? hash : hash_bytes(symbol->initial, symbol->bytes, hash);
}

// Over values, not structs: padding does not count.
uint64_t program_hash(const Program *program) {
  uint64_t hash = hash_bytes(program->code, sizeof(InstrWord) * program->code_count, program->address_bits);
  for (uint32_t f = 0; f < program->function_count; f++) hash = hash_function(&program->functions[f], hash);
  for (uint32_t s = 0; s < program->symbol_count; s++) hash = hash_symbol(&program->symbols[s], hash);
  for (uint32_t r = 0; r < program->relocation_count; r++) {
    const Relocation *relocation = &program->relocations[r];
    const uint64_t numbers[] = {relocation->owner, relocation->target, relocation->offset, (uint64_t)relocation->addend,
                                relocation->bytes, relocation->shift,  relocation->generic};
    hash = hash_bytes(numbers, sizeof numbers, hash);
  }
  return hash_bytes(&program->const_bytes, sizeof program->const_bytes, hash);
}

void program_give_registers(Program *program, const char *kernel, uint32_t count) {
  const Function *function = program_function(program, kernel);
  if (function == NULL || !function->is_kernel) return;
  Function *functions = ARENA_ARRAY(program->arena, Function, program->function_count);
  memcpy(functions, program->functions, program->function_count * sizeof *functions);
  functions[function - program->functions].given_registers = count;
  program->functions = functions;
}
