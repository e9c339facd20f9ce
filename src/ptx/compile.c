// PTX text -> Program: parse every module, link, lower every function, finish.
#include "ptx/ptx.h"

#include "ptx/lower.h"

static void lower_modules(Lower *lower) {
  link_modules(lower);
  for (uint32_t i = 0; i < lower->functions.count; i++) {
    MirFunction *mir = VEC_PUSH(&lower->mir->functions, lower->arena);
    const PtxFunction *ptx = lower->functions.items[i].ptx;
    mir->name = arena_copy_text(lower->arena, ptx->name.at, ptx->name.length);
    mir->source = lower->functions.items[i].module;
    mir->is_kernel = ptx->is_entry;
    mir->frame_pointer = VREG_NONE;
  }
  lay_out_variables(lower);
  for (uint32_t i = 0; i < lower->functions.count; i++) lower_function(lower, i);
}

extern const char device_runtime_ptx[]; // device_runtime.ptx

// The sources, and the device runtime after them when one of them calls it.
static const PtxSource *with_device_runtime(const PtxSource *sources, uint32_t *count, Arena *scratch) {
  static const char prefix[] = "__cudaCDP2";
  bool called = false;
  for (uint32_t i = 0; i < *count && !called; i++) called = memmem(sources[i].text, sources[i].length, prefix, sizeof prefix - 1) != NULL;
  if (!called) return sources;
  PtxSource *all = ARENA_ARRAY(scratch, PtxSource, *count + 1);
  memcpy(all, sources, *count * sizeof *sources);
  all[(*count)++] = (PtxSource){"device runtime", device_runtime_ptx, strlen(device_runtime_ptx)};
  return all;
}

// The parsed and lowered modules; false when anything was wrong.
bool ptx_lower(const PtxSource *sources, uint32_t count, MirModule *mir, Arena *scratch, Diags *diags) {
  uint32_t errors = diags->count;
  if (count > 0) sources = with_device_runtime(sources, &count, scratch);
  PtxModule **modules = ARENA_ARRAY(scratch, PtxModule *, count);
  bool parsed = count > 0;
  for (uint32_t i = 0; i < count; i++) {
    modules[i] = ptx_parse(scratch, sources[i].file, sources[i].text, sources[i].length, diags);
    parsed = parsed && modules[i];
  }
  if (!parsed) return false;
  for (uint32_t i = 0; i < count; i++)
    *VEC_PUSH(&mir->files, mir->arena) = arena_copy_text(mir->arena, sources[i].file, strlen(sources[i].file));
  mir->file = mir->files.items[0];
  mir->address_bits = modules[0]->address_bits;
  Lower lower = {.arena = mir->arena, .scratch = scratch, .diags = diags, .mir = mir, .modules = modules, .module_count = count};
  lower.index = op_index_new(scratch);
  lower.function_names.arena = lower.variable_names.arena = lower.homes.map.arena = lower.opcode_names.arena = scratch;
  lower.parse_errors = diags->count;
  lower_modules(&lower);
  return diags->count == errors;
}

Program *ptx_compile(const PtxSource *sources, uint32_t count, const MirOptions *options, Diags *diags) {
  Arena *scratch = arena_new();
  MirModule mir = {.arena = arena_new()};
  Program *program = NULL;
  if (ptx_lower(sources, count, &mir, scratch, diags)) { program = mir_finish(&mir, options, diags); }
  if (!program) arena_free(mir.arena);
  arena_free(scratch);
  return program;
}

bool ptx_check(const PtxSource *source, Diags *diags) {
  Arena *scratch = arena_new();
  MirModule mir = {.arena = arena_new()};
  bool good = ptx_lower(source, 1, &mir, scratch, diags);
  arena_free(mir.arena);
  arena_free(scratch);
  return good;
}
