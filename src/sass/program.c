// G80 code as a program that devices load: one kernel, whose parameters are words.
#include "sass/sass.h"

// A place for each word of memory, so that a program counter is the number of a word. Second words of an instruction have none of their own.
static const ForeignInstr *describe(const SassProgram *sass) {
  ForeignInstr *all = ARENA_ARRAY(sass->arena, ForeignInstr, sass->count + 1);
  for (uint32_t i = 0; i < sass->count; i++) {
    SassInstr instr;
    Text text = {0};
    sass_decode(sass->words[i], i + 1 < sass->count ? sass->words[i + 1] : 0, &instr);
    sass_format(&instr, &text);
    all[i] = (ForeignInstr){.text = arena_copy_text(sass->arena, text.at, text.length),
                            .stores = instr.action == SASS_DO_STORE_GLOBAL || instr.action == SASS_DO_STORE_SHARED,
                            .is_global = instr.action == SASS_DO_STORE_GLOBAL,
                            .address = instr.a.kind == SASS_GPR ? (uint8_t)instr.a.value : UINT8_MAX};
    text_free(&text);
  }
  return all;
}

static uint64_t hash_of(const SassProgram *sass) {
  uint32_t sizes[] = {sass->gprs, sass->shared_bytes, sass->param_count, sass->blocks_per_core, sass->constant_bytes};
  uint64_t hash = hash_bytes(sizes, sizeof sizes, 0);
  if (sass->count > 0) hash = hash_bytes(sass->words, sass->count * sizeof *sass->words, hash);
  return sass->constant_count == 0 ? hash : hash_bytes(sass->constants, sass->constant_count * sizeof *sass->constants, hash);
}

Program *sass_to_program(SassProgram *sass) {
  Arena *arena = sass->arena;
  Program *program = ARENA_NEW(arena, Program);
  Function *kernel = ARENA_NEW(arena, Function);
  Param *params = ARENA_ARRAY(arena, Param, sass->param_count + 1);
  const char **files = ARENA_ARRAY(arena, const char *, 1);
  files[0] = sass->file;
  for (uint32_t i = 0; i < sass->param_count; i++)
    params[i] = (Param){.name = arena_format(arena, "word %u", i), .offset = 4 * i, .bytes = 4, .align = 4};
  *kernel = (Function){.name = sass->name,
                       .is_kernel = true,
                       .end = sass->count,
                       .registers = sass->gprs,
                       .shared_bytes = sass->shared_bytes,
                       .params = params,
                       .param_count = sass->param_count,
                       .param_bytes = 4 * sass->param_count};
  *program = (Program){.arena = arena,
                       .form = FORM_G80,
                       .file = sass->file,
                       .files = files,
                       .file_count = 1,
                       .address_bits = 32,
                       .lines = sass->lines,
                       .code_count = sass->count,
                       .functions = kernel,
                       .function_count = 1,
                       .hash = hash_of(sass),
                       .sass = sass,
                       .foreign = describe(sass)};
  return program;
}
