// Variables: symbols with their initial data and relocations, the constant bank, and the layout
// of shared memory.
//
// Shared variables that only kernels name are laid out for each kernel by itself. Those that a
// device function names have one place for the whole module, from 0; a kernel that can reach
// such a function keeps its own variables behind them. Dynamic shared memory begins at the
// kernel's static size; where device functions name it, at the largest one of all kernels
// that can reach them, which then is the static size of each.
#include "ptx/lower.h"

// ---- Symbols -----------------------------------------------------------------------------------
static char *copy_name(Lower *lower, Slice name) { return arena_copy_text(lower->arena, name.at, name.length); }

uint32_t function_symbol(Lower *lower, uint32_t function) {
  LinkedFunction *linked = &lower->functions.items[function];
  if (linked->symbol == NO_SYMBOL) {
    linked->symbol = lower->mir->symbols.count;
    Symbol *symbol = VEC_PUSH(&lower->mir->symbols, lower->arena);
    symbol->name = copy_name(lower, linked->ptx->name);
    symbol->kind = SYMBOL_FUNCTION;
    symbol->bytes = 8;
    symbol->align = 8;
    symbol->function = function;
    lower->mir->functions.items[function].address_taken = true;
  }
  return linked->symbol;
}

static SymbolKind symbol_kind(const PtxVariable *variable) {
  switch (variable->type) {
  case PTX_TEXREF: return SYMBOL_TEXTURE;
  case PTX_SAMPLERREF: return SYMBOL_SAMPLER;
  case PTX_SURFREF: return SYMBOL_SURFACE;
  default: return variable->space == PTX_SPACE_TEX ? SYMBOL_TEXTURE : SYMBOL_VARIABLE;
  }
}

static void put_number(uint8_t *bytes, const PtxInitial *initial) {
  for (uint32_t i = 0; i < initial->bytes && i < 8; i++) bytes[initial->offset + i] = (uint8_t)(initial->bits >> (8 * i));
}

static void add_symbol(Lower *lower, const PtxVariable *variable) {
  Home home;
  if (home_find(&lower->homes, variable, &home)) return;
  bool in_const = variable->space == PTX_SPACE_CONST;
  home = (Home){.kind = in_const ? HOME_CONST : HOME_SYMBOL, .symbol = lower->mir->symbols.count};
  Symbol *symbol = VEC_PUSH(&lower->mir->symbols, lower->arena);
  symbol->name = copy_name(lower, variable->name);
  symbol->kind = symbol_kind(variable);
  symbol->space = in_const ? SPACE_CONST : SPACE_GLOBAL;
  symbol->bytes = symbol->kind == SYMBOL_VARIABLE ? variable->bytes : 8;
  symbol->align = variable->align ? variable->align : 1;
  symbol->managed = variable->managed;
  symbol->external = variable->linkage == PTX_EXTERN;
  if (in_const) {
    symbol->const_offset = (uint32_t)align_up(lower->mir->const_bytes, symbol->align);
    home.offset = symbol->const_offset;
    lower->mir->const_bytes = symbol->const_offset + (uint32_t)variable->bytes;
  }
  if (variable->initials.count && symbol->kind == SYMBOL_VARIABLE) {
    uint8_t *bytes = arena_alloc(lower->arena, (size_t)variable->bytes);
    for (uint32_t i = 0; i < variable->initials.count; i++) {
      if (!variable->initials.items[i].is_address) put_number(bytes, &variable->initials.items[i]);
    }
    symbol->initial = bytes;
  }
  home_set(&lower->homes, variable, home);
}

static bool is_symbol(const PtxVariable *variable) {
  return variable->space == PTX_SPACE_GLOBAL || variable->space == PTX_SPACE_CONST || variable->space == PTX_SPACE_TEX ||
         variable->type == PTX_TEXREF || variable->type == PTX_SAMPLERREF || variable->type == PTX_SURFREF;
}

// ---- Relocations -------------------------------------------------------------------------------
static const PtxVariable *module_variable(const Lower *lower, uint32_t module, Slice name) {
  const PtxModule *ptx = lower->modules[module];
  for (uint32_t i = 0; i < ptx->variables.count; i++) {
    if (slice_equal(ptx->variables.items[i]->name, name)) return link_variable(lower, module, ptx->variables.items[i]);
  }
  return NULL;
}

// The symbol that an initialiser's name means.
static bool initial_target(Lower *lower, uint32_t module, const PtxInitial *initial, uint32_t *symbol) {
  const PtxVariable *variable = module_variable(lower, module, initial->symbol);
  Home home;
  if (variable && home_find(&lower->homes, variable, &home)) {
    *symbol = home.symbol;
    return true;
  }
  uint32_t function;
  if (!link_function(lower, module, initial->symbol, &function)) return false;
  *symbol = function_symbol(lower, function);
  return true;
}

static unsigned mask_shift(uint64_t mask) { return mask ? (unsigned)__builtin_ctzll(mask) & ~7u : 0; }

static void add_relocations(Lower *lower, uint32_t module, const PtxVariable *variable) {
  Home home;
  if (!home_find(&lower->homes, variable, &home)) return;
  for (uint32_t i = 0; i < variable->initials.count; i++) {
    const PtxInitial *initial = &variable->initials.items[i];
    uint32_t target;
    if (!initial->is_address) continue;
    if (!initial_target(lower, module, initial, &target)) {
      diags_add(lower->diags, lower->modules[module]->file, (int)variable->place.line, (int)variable->place.column,
                "unknown name '%.*s' in the initialiser of '%.*s'", (int)initial->symbol.length, initial->symbol.at,
                (int)variable->name.length, variable->name.at);
      continue;
    }
    Relocation *relocation = VEC_PUSH(&lower->mir->relocations, lower->arena);
    *relocation = (Relocation){.owner = home.symbol,
                               .target = target,
                               .offset = initial->offset,
                               .addend = initial->addend,
                               .bytes = (uint8_t)initial->bytes,
                               .shift = (uint8_t)mask_shift(initial->mask),
                               .generic = initial->generic};
  }
}

bool add_static_variable(Lower *lower, uint32_t module, const PtxVariable *variable) {
  if (!is_symbol(variable)) return false;
  add_symbol(lower, variable);
  add_relocations(lower, module, variable);
  return true;
}

// ---- Shared memory -----------------------------------------------------------------------------
static void clear_visited(Lower *lower) {
  for (uint32_t i = 0; i < lower->functions.count; i++) lower->functions.items[i].visited = false;
}

// Marks what a function may call, itself too. An indirect call may reach any device function.
static void mark_reachable(Lower *lower, uint32_t root) {
  VEC(uint32_t) work = {0};
  *(uint32_t *)VEC_PUSH(&work, lower->scratch) = root;
  bool all_marked = false;
  while (work.count) {
    LinkedFunction *function = &lower->functions.items[work.items[--work.count]];
    if (function->visited) continue;
    function->visited = true;
    for (uint32_t i = 0; i < function->callees.count; i++) *(uint32_t *)VEC_PUSH(&work, lower->scratch) = function->callees.items[i];
    if (!function->calls_indirectly || all_marked) continue;
    all_marked = true;
    for (uint32_t i = 0; i < lower->functions.count; i++) {
      if (!lower->functions.items[i].ptx->is_entry) *(uint32_t *)VEC_PUSH(&work, lower->scratch) = i;
    }
  }
}

static uint32_t place_shared(const PtxVariable *variable, uint32_t *bytes, uint32_t *align) {
  uint32_t own = variable->align ? variable->align : 1;
  uint32_t offset = (uint32_t)align_up(*bytes, own);
  *bytes = offset + (uint32_t)variable->bytes;
  *align = max_u32(*align, own);
  return offset;
}

static void place_functions_shared(Lower *lower) {
  uint32_t bytes = 0, align = 1;
  for (uint32_t i = 0; i < lower->functions.count; i++) {
    const LinkedFunction *function = &lower->functions.items[i];
    for (uint32_t k = 0; !function->ptx->is_entry && k < function->shared.count; k++) {
      Home home;
      if (home_find(&lower->homes, function->shared.items[k], &home)) continue;
      home_set(&lower->homes, function->shared.items[k],
               (Home){.kind = HOME_SHARED, .offset = place_shared(function->shared.items[k], &bytes, &align)});
    }
  }
}

// End of the fixed shared variables that a marked function names.
static uint32_t fixed_shared_end(const Lower *lower, uint32_t *align) {
  uint32_t end = 0;
  for (uint32_t i = 0; i < lower->functions.count; i++) {
    const LinkedFunction *function = &lower->functions.items[i];
    for (uint32_t k = 0; function->visited && k < function->shared.count; k++) {
      const PtxVariable *variable = function->shared.items[k];
      Home home;
      if (!home_find(&lower->homes, variable, &home)) continue;
      end = max_u32(end, home.offset + (uint32_t)variable->bytes);
      *align = max_u32(*align, variable->align);
    }
  }
  return end;
}

static bool reaches_dynamic_shared(const Lower *lower) {
  for (uint32_t i = 0; i < lower->functions.count; i++) {
    const LinkedFunction *function = &lower->functions.items[i];
    if (function->visited && !function->ptx->is_entry && function->uses_dynamic_shared) return true;
  }
  return false;
}

static void place_kernel_shared(Lower *lower, uint32_t kernel) {
  LinkedFunction *function = &lower->functions.items[kernel];
  MirFunction *mir = &lower->mir->functions.items[kernel];
  uint32_t align = 1;
  uint32_t bytes = fixed_shared_end(lower, &align);
  for (uint32_t i = 0; i < function->shared.count; i++) {
    const PtxVariable *variable = function->shared.items[i];
    Home home;
    if (home_find(&lower->homes, variable, &home)) continue;
    home_set(&function->shared_homes, variable, (Home){.kind = HOME_SHARED, .offset = place_shared(variable, &bytes, &align)});
  }
  mir->shared_bytes = bytes;
  mir->shared_align = align;
}

static void lay_out_shared(Lower *lower) {
  bool *dynamic = ARENA_ARRAY(lower->scratch, bool, lower->functions.count + 1);
  uint32_t common = 0;
  place_functions_shared(lower);
  for (uint32_t i = 0; i < lower->functions.count; i++) {
    if (!lower->functions.items[i].ptx->is_entry) continue;
    clear_visited(lower);
    mark_reachable(lower, i);
    place_kernel_shared(lower, i);
    dynamic[i] = reaches_dynamic_shared(lower);
    if (dynamic[i]) common = max_u32(common, (uint32_t)align_up(lower->mir->functions.items[i].shared_bytes, 16));
  }
  for (uint32_t i = 0; i < lower->functions.count; i++) {
    const LinkedFunction *function = &lower->functions.items[i];
    if (dynamic[i] || (!function->ptx->is_entry && function->uses_dynamic_shared)) lower->mir->functions.items[i].shared_bytes = common;
  }
}

bool lay_out_variables(Lower *lower) {
  uint32_t errors = lower->diags->count;
  for (uint32_t m = 0; m < lower->module_count; m++) {
    const PtxModule *module = lower->modules[m];
    for (uint32_t i = 0; i < module->variables.count; i++) {
      const PtxVariable *variable = module->variables.items[i];
      if (is_symbol(variable)) add_symbol(lower, link_variable(lower, m, variable));
    }
  }
  for (uint32_t m = 0; m < lower->module_count; m++) {
    const PtxModule *module = lower->modules[m];
    for (uint32_t i = 0; i < module->variables.count; i++) {
      const PtxVariable *variable = module->variables.items[i];
      if (is_symbol(variable) && link_variable(lower, m, variable) == variable) add_relocations(lower, m, variable);
    }
  }
  lay_out_shared(lower);
  return lower->diags->count == errors;
}
