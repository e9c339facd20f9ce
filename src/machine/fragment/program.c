// A fragment program as a Program that devices load: one kernel, whose argument is a FragmentParams.
#include "machine/fragment/fragment.h"

static uint64_t hash_of(const ShaderProgram *shader) {
  uint64_t hash = hash_bytes(&shader->count, sizeof shader->count, 0);
  for (uint32_t i = 0; i < shader->count; i++) { // members one by one: what lies between them is not said
    const ShaderInstr *instr = &shader->code[i];
    const uint32_t words[] = {instr->op,   instr->precision, instr->saturates, instr->sets_code, instr->file, instr->index,
                              instr->mask, instr->test,      instr->texture,   instr->shape,     instr->jump};
    hash = hash_bytes(words, sizeof words, hash_bytes(instr->test_swizzle, 4, hash));
    for (uint32_t k = 0; k < 3; k++) {
      const ShaderSource *source = &instr->source[k];
      const uint8_t bytes[] = {source->file,       source->index,  source->swizzle[0], source->swizzle[1], source->swizzle[2],
                               source->swizzle[3], source->negate, source->absolute,   source->is_indexed};
      hash = hash_bytes(bytes, sizeof bytes, hash);
    }
  }
  for (uint32_t i = 0; i < shader->constant_count; i++)
    hash = hash_bytes(shader->constants[i].value, sizeof shader->constants[i].value, hash);
  return hash;
}

static const ForeignInstr *describe(const ShaderProgram *shader) {
  ForeignInstr *items = ARENA_ARRAY(shader->arena, ForeignInstr, shader->count);
  for (uint32_t i = 0; i < shader->count; i++) items[i] = (ForeignInstr){.text = shader_op_info[shader->code[i].op].name};
  return items;
}

Program *fragment_program(const char *file, ShaderProgram *shader) {
  Arena *arena = shader->arena;
  Program *program = ARENA_NEW(arena, Program);
  Function *kernel = ARENA_NEW(arena, Function);
  Param *param = ARENA_NEW(arena, Param);
  uint32_t *lines = ARENA_ARRAY(arena, uint32_t, shader->count);
  const char **files = ARENA_ARRAY(arena, const char *, 1);
  files[0] = arena_copy_text(arena, file, strlen(file));
  for (uint32_t i = 0; i < shader->count; i++) lines[i] = shader->code[i].line;
  *param = (Param){.name = "frame and textures", .bytes = sizeof(FragmentParams), .align = 4};
  *kernel = (Function){.name = "fragment program",
                       .is_kernel = true,
                       .end = shader->count,
                       .registers = SHADER_TEMPS,
                       .params = param,
                       .param_count = 1,
                       .param_bytes = sizeof(FragmentParams)};
  *program = (Program){.arena = arena,
                       .form = FORM_SHADER,
                       .file = files[0],
                       .files = files,
                       .file_count = 1,
                       .address_bits = 32,
                       .lines = lines,
                       .code_count = shader->count,
                       .functions = kernel,
                       .function_count = 1,
                       .hash = hash_of(shader),
                       .shader = shader,
                       .scatters = shader->scatters,
                       .foreign = describe(shader)};
  return program;
}
