// Modules: a program's variables placed in device memory, their addresses in BANK_SYMBOL.
//
// Invariants: symbol k's address is at symbol_bank + 8 * k. Constant variables have two addresses:
// kernels use the generic CONST_WINDOW + offset (or the offset alone, in the code), the host the
// place in device memory where the bank lies.
#include "device/device_internal.h"

#include <inttypes.h>

// The address that goes into initial data and BANK_SYMBOL. Non-generic addresses of constants
// are offsets into their space.
static uint64_t symbol_value(const Module *module, uint32_t index, bool generic) {
  const Symbol *symbol = &module->program->symbols[index];
  switch (symbol->kind) {
  case SYMBOL_FUNCTION: return FUNCTION_ADDRESS(module->program->functions[symbol->function].entry);
  case SYMBOL_VARIABLE:
    if (symbol->space == SPACE_CONST) return symbol->const_offset + (generic ? CONST_WINDOW : 0);
    return module->addresses[index];
  default: return 0; // textures are bound later
  }
}

static bool place_symbol(Module *module, uint32_t index, Diags *diags) {
  const Symbol *symbol = &module->program->symbols[index];
  if (symbol->external) return diags_add(diags, module->program->file, 0, 0, "'%s' is declared .extern but defined nowhere", symbol->name);
  if (symbol->kind != SYMBOL_VARIABLE) return true;
  if (symbol->space == SPACE_CONST) {
    module->addresses[index] = module->const_address + symbol->const_offset;
  } else {
    module->addresses[index] = memory_alloc(module->device->memory, max_u64(symbol->bytes, 1), max_u64(symbol->align, 256));
    if (module->addresses[index] == 0) {
      return diags_add(diags, module->program->file, 0, 0, "variable '%s' of %" PRIu64 " bytes does not fit into device memory",
                       symbol->name, symbol->bytes);
    }
    memory_note_write(module->device->memory, module->addresses[index], symbol->bytes); // zeros, if nothing else is said
  }
  if (symbol->initial == NULL || symbol->bytes == 0) return true;
  uint8_t *bytes = memory_at(module->device->memory, module->addresses[index], symbol->bytes);
  ASSERT(bytes != NULL);
  memcpy(bytes, symbol->initial, symbol->bytes);
  return true;
}

static void apply_relocation(Module *module, const Relocation *relocation) {
  const Program *program = module->program;
  ASSERT(relocation->owner < program->symbol_count && relocation->target < program->symbol_count);
  uint64_t value = (symbol_value(module, relocation->target, relocation->generic) + (uint64_t)relocation->addend) >> relocation->shift;
  uint8_t *place = memory_at(module->device->memory, module->addresses[relocation->owner] + relocation->offset, relocation->bytes);
  ASSERT(place != NULL && relocation->bytes <= sizeof value);
  memcpy(place, &value, relocation->bytes);
}

static bool place_all(Module *module, Diags *diags) {
  const Program *program = module->program;
  if (program->const_bytes > 0) {
    module->const_address = memory_alloc(module->device->memory, program->const_bytes, 256);
    if (module->const_address == 0) return diags_add(diags, program->file, 0, 0, "constants do not fit into device memory");
  }
  bool ok = true;
  for (uint32_t i = 0; i < program->symbol_count; i++) ok = place_symbol(module, i, diags) && ok;
  if (!ok) return false;
  for (uint32_t i = 0; i < program->relocation_count; i++) apply_relocation(module, &program->relocations[i]);
  for (uint32_t i = 0; i < program->symbol_count; i++) {
    uint64_t value = symbol_value(module, i, true);
    memcpy(module->symbol_bank + 8 * (size_t)i, &value, sizeof value);
  }
  int list = program_symbol(program, "__redoubt_launches"); // src/ptx/device_runtime.ptx
  if (list >= 0) module->launch_list = module->addresses[list];
  return true;
}

// ---- Addresses that caches know code and symbol banks by ---------------------------------------------
// None is used twice, so that what caches still hold of another program, or of the bank as it was, is not taken for this.
enum { CACHED_ALIGN = 256 };

static void take_code_address(Module *module) {
  module->code_at = module->device->code_end;
  module->device->code_end += align_up((uint64_t)module->program->code_count * module->device->spec.front_instruction, CACHED_ALIGN);
}

static void take_symbol_address(Module *module) {
  module->symbols_at = module->device->symbols_end;
  module->device->symbols_end += align_up(8 * (uint64_t)module->program->symbol_count, CACHED_ALIGN);
}

Module *device_load_program(Device *device, Program *program, Diags *diags) {
  Arena *arena = arena_new();
  Module *module = ARENA_NEW(arena, Module);
  *module = (Module){.device = device, .arena = arena, .program = program, .next = device->modules};
  module->addresses = ARENA_ARRAY(arena, DeviceAddress, program->symbol_count);
  module->symbol_bank = arena_alloc(arena, 8 * (size_t)program->symbol_count);
  device->modules = module;
  take_code_address(module);
  take_symbol_address(module);
  ProgramForm form = machine_form(&device->spec);
  bool fits = program->form == form || diags_add(diags, program->file, 0, 0, "machine '%s' runs %s, not %s", device->spec.machine,
                                                 program_form_text[form], program_form_text[program->form]);
  bool ok =
      !fits || program->address_bits == device->address_bits ||
      diags_add(diags, program->file, 0, 0, "has %u-bit addresses, the device %u-bit ones", program->address_bits, device->address_bits);
  if (fits && ok && place_all(module, diags)) return module;
  device_unload(device, module);
  return NULL;
}

static void keep_sources(Module *module, const PtxSource *sources, uint32_t count) {
  PtxSource *kept = ARENA_ARRAY(module->arena, PtxSource, count);
  for (uint32_t i = 0; i < count; i++) {
    kept[i] = (PtxSource){arena_copy_text(module->arena, sources[i].file, strlen(sources[i].file)),
                          arena_copy_text(module->arena, sources[i].text, sources[i].length), sources[i].length};
  }
  module->sources = kept;
  module->source_count = count;
}

Module *device_load_ptx(Device *device, const PtxSource *sources, uint32_t count, Diags *diags) {
  MirOptions options = {(uint32_t)device->spec.limit_registers, (uint32_t)device->spec.sm_registers};
  Program *program = ptx_compile(sources, count, &options, diags);
  Module *module = program == NULL ? NULL : device_load_program(device, program, diags);
  if (module != NULL && device->options.fits_registers) keep_sources(module, sources, count);
  return module;
}

// ---- Fewer registers -------------------------------------------------------------------------------

// Variables hold addresses of functions, which a variant has elsewhere.
static bool keeps_functions(const Program *program) {
  for (uint32_t i = 0; i < program->relocation_count; i++) {
    if (program->symbols[program->relocations[i].target].kind == SYMBOL_FUNCTION) return true;
  }
  return false;
}

static bool has_same_symbols(const Program *a, const Program *b) {
  bool same = a->symbol_count == b->symbol_count && a->const_bytes == b->const_bytes;
  for (uint32_t i = 0; i < a->symbol_count && same; i++) {
    const Symbol *one = &a->symbols[i], *other = &b->symbols[i];
    same = one->kind == other->kind && one->bytes == other->bytes && one->const_offset == other->const_offset &&
           strcmp(one->name, other->name) == 0;
  }
  return same;
}

static Module *new_variant(Module *module, uint32_t limit) {
  Diags diags = {0};
  MirOptions options = {limit, (uint32_t)module->device->spec.sm_registers};
  Program *program = ptx_compile(module->sources, module->source_count, &options, &diags);
  diags_free(&diags);
  if (program == NULL || !has_same_symbols(program, module->program)) {
    program_free(program);
    return NULL;
  }
  for (uint32_t i = 0; i < module->program->function_count; i++) {
    const Function *function = &module->program->functions[i];
    if (function->given_registers != 0) program_give_registers(program, function->name, function->given_registers);
  }
  Module *variant = ARENA_NEW(module->arena, Module);
  *variant = *module;
  variant->program = program;
  variant->register_limit = limit;
  take_code_address(variant);
  take_symbol_address(variant);
  variant->next = module->variants;
  variant->variants = NULL;
  variant->symbol_bank = arena_alloc(module->arena, 8 * (size_t)program->symbol_count);
  memcpy(variant->symbol_bank, module->symbol_bank, 8 * (size_t)program->symbol_count); // textures are bound there
  for (uint32_t i = 0; i < program->symbol_count; i++) {
    uint64_t value = symbol_value(variant, i, true);
    if (program->symbols[i].kind == SYMBOL_FUNCTION) memcpy(variant->symbol_bank + 8 * (size_t)i, &value, sizeof value);
  }
  module->variants = variant;
  return variant;
}

Module *module_fitting(Module *module, const Function *kernel, uint64_t threads) {
  enum { REGISTER_STEP = 8 }; // so that few variants serve many sizes of blocks
  uint64_t rounded = align_up(threads, WARP_LANES), room = module->device->spec.sm_registers;
  if (rounded == 0 || kernel->registers * rounded <= room || module->sources == NULL || keeps_functions(module->program)) return module;
  uint32_t limit = (uint32_t)(room / rounded / REGISTER_STEP * REGISTER_STEP);
  if (limit < DEVICE_LEAST_REGISTERS) return module;
  Module *variant = module->variants;
  while (variant != NULL && variant->register_limit != limit) variant = variant->next;
  if (variant == NULL) variant = new_variant(module, limit);
  const Function *fewer = variant == NULL ? NULL : program_function(variant->program, kernel->name);
  return fewer != NULL && fewer->registers * rounded <= room ? variant : module;
}

const Function *device_fitting(Module *module, const Function *kernel, uint64_t threads) {
  const Module *fitting = module_fitting(module, kernel, threads);
  return fitting == module ? kernel : program_function(fitting->program, kernel->name);
}

bool device_unload(Device *device, Module *module) {
  device->error[0] = '\0';
  Module **link = &device->modules;
  while (*link != NULL && *link != module) link = &(*link)->next;
  if (*link == NULL) return device_fail(device, "the module is not loaded");
  *link = module->next;
  for (uint32_t i = 0; i < module->program->symbol_count; i++) {
    bool own = module->program->symbols[i].space != SPACE_CONST && module->addresses[i] != 0;
    if (own) memory_release(device->memory, module->addresses[i]);
  }
  if (module->const_address != 0) memory_release(device->memory, module->const_address);
  for (const Module *variant = module->variants; variant != NULL; variant = variant->next) program_free(variant->program);
  program_free(module->program);
  arena_free(module->arena);
  return true;
}

const Program *module_program(const Module *module) { return module->program; }

bool module_symbol(const Module *module, const char *name, DeviceAddress *address, uint64_t *bytes) {
  int index = program_symbol(module->program, name);
  if (index < 0) return device_fail(module->device, "no variable '%s' in %s", name, module->program->file);
  const Symbol *symbol = &module->program->symbols[index];
  if (symbol->kind == SYMBOL_VARIABLE) {
    *address = module->addresses[index];
    *bytes = symbol->bytes;
    return true;
  }
  if (symbol->kind != SYMBOL_FUNCTION) return device_fail(module->device, "'%s' is a texture or surface, not a variable", name);
  *address = symbol_value(module, (uint32_t)index, true);
  *bytes = 0;
  return true;
}

bool module_bind_texture(Module *module, const char *texref, uint64_t handle) {
  int index = program_symbol(module->program, texref);
  SymbolKind kind = index < 0 ? SYMBOL_VARIABLE : module->program->symbols[index].kind;
  if (kind == SYMBOL_VARIABLE || kind == SYMBOL_FUNCTION) {
    return device_fail(module->device, "no texture or surface reference '%s' in %s", texref, module->program->file);
  }
  uint8_t *place = module->symbol_bank + 8 * (size_t)index;
  if (memcmp(place, &handle, sizeof handle) != 0) take_symbol_address(module);
  memcpy(place, &handle, sizeof handle);
  return true;
}
