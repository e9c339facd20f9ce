// Linking: names of functions and variables across modules (PTX ISA, "Linking Directives"), and
// what each function calls and which shared variables it names.
//
// .visible, .weak, .common and .extern names meet; others stay private to their module. A .weak
// definition yields to any other; two .visible ones are an error. .common ones are one variable.
#include "ptx/lower.h"

// ---- Name maps ---------------------------------------------------------------------------------
static uint64_t name_hash(uint32_t scope, Slice name) { return hash_bytes(name.at, name.length, scope); }

static NameEntry *name_entry(const NameMap *map, uint32_t scope, Slice name) {
  uint32_t i = (uint32_t)name_hash(scope, name) & (map->capacity - 1);
  while (map->entries[i].used && !(map->entries[i].scope == scope && slice_equal(map->entries[i].name, name))) {
    i = (i + 1) & (map->capacity - 1);
  }
  return &map->entries[i];
}

bool name_map_find(const NameMap *map, uint32_t scope, Slice name, uint32_t *value) {
  if (!map->capacity) return false;
  const NameEntry *entry = name_entry(map, scope, name);
  if (entry->used) *value = entry->value;
  return entry->used;
}

static void name_map_grow(NameMap *map) {
  NameMap old = *map;
  map->capacity = old.capacity ? 2 * old.capacity : 64;
  map->entries = ARENA_ARRAY(map->arena, NameEntry, map->capacity);
  for (uint32_t i = 0; i < old.capacity; i++) {
    if (old.entries[i].used) *name_entry(map, old.entries[i].scope, old.entries[i].name) = old.entries[i];
  }
}

void name_map_set(NameMap *map, uint32_t scope, Slice name, uint32_t value) {
  if (4 * (map->count + 1) > 3 * map->capacity) name_map_grow(map);
  NameEntry *entry = name_entry(map, scope, name);
  if (!entry->used) map->count++;
  *entry = (NameEntry){name, scope, value, true};
}

// ---- Homes: keyed by the declaration's address, as bytes -------------------------------------------
bool home_find(const HomeMap *map, const PtxVariable *variable, Home *home) {
  Slice key = {(const char *)&variable, sizeof variable};
  uint32_t index;
  if (!name_map_find(&map->map, 0, key, &index)) return false;
  *home = map->homes.items[index];
  return true;
}

void home_set(HomeMap *map, const PtxVariable *variable, Home home) {
  Slice key = {arena_copy_text(map->map.arena, (const char *)&variable, sizeof variable), sizeof variable};
  uint32_t index;
  if (!name_map_find(&map->map, 0, key, &index)) {
    index = map->homes.count;
    (void)VEC_PUSH(&map->homes, map->map.arena);
    name_map_set(&map->map, 0, key, index);
  }
  map->homes.items[index] = home;
}

// ---- System calls ------------------------------------------------------------------------------
static const SystemCall system_calls[] = {
    {"vprintf", OP_SYS_VPRINTF, false},
    {"__assertfail", OP_SYS_ASSERTFAIL, true},
    {"malloc", OP_SYS_MALLOC, false},
    {"free", OP_SYS_FREE, false},
};

const SystemCall *system_call(Slice name) {
  for (size_t i = 0; i < COUNT_OF(system_calls); i++) {
    if (slice_is(name, system_calls[i].name)) return &system_calls[i];
  }
  return NULL;
}

// ---- Functions ---------------------------------------------------------------------------------
static bool place_error(Lower *lower, uint32_t module, PtxPlace place, const char *what, Slice name) {
  return diags_add(lower->diags, lower->modules[module]->file, (int)place.line, (int)place.column, "%s '%.*s'", what, (int)name.length,
                   name.at);
}

static void add_function(Lower *lower, uint32_t module, const PtxFunction *ptx) {
  uint32_t index;
  bool exported = ptx->linkage != PTX_LOCAL;
  if (exported && name_map_find(&lower->function_names, GLOBAL_SCOPE, ptx->name, &index)) {
    LinkedFunction *other = &lower->functions.items[index];
    if (ptx->linkage == PTX_WEAK) return;
    if (other->ptx->linkage != PTX_WEAK) {
      place_error(lower, module, ptx->place, "second definition of", ptx->name);
      return;
    }
    other->ptx = ptx;
    other->module = module;
    return;
  }
  index = lower->functions.count;
  LinkedFunction *function = VEC_PUSH(&lower->functions, lower->scratch);
  *function = (LinkedFunction){.ptx = ptx, .module = module, .symbol = NO_SYMBOL};
  function->shared_homes.map.arena = lower->scratch;
  name_map_set(&lower->function_names, exported ? GLOBAL_SCOPE : module, ptx->name, index);
}

bool link_function(const Lower *lower, uint32_t module, Slice name, uint32_t *index) {
  return name_map_find(&lower->function_names, module, name, index) || name_map_find(&lower->function_names, GLOBAL_SCOPE, name, index);
}

// ---- Variables ---------------------------------------------------------------------------------
static void add_variable(Lower *lower, uint32_t module, const PtxVariable *variable) {
  if (variable->linkage == PTX_LOCAL || variable->linkage == PTX_EXTERN) return;
  uint32_t index;
  if (!name_map_find(&lower->variable_names, GLOBAL_SCOPE, variable->name, &index)) {
    index = lower->variables.count;
    *(const PtxVariable **)VEC_PUSH(&lower->variables, lower->scratch) = variable;
    name_map_set(&lower->variable_names, GLOBAL_SCOPE, variable->name, index);
    return;
  }
  const PtxVariable *other = lower->variables.items[index];
  bool both_common = variable->linkage == PTX_COMMON && other->linkage == PTX_COMMON;
  bool other_yields = other->linkage == PTX_WEAK || (other->linkage == PTX_COMMON && variable->linkage == PTX_VISIBLE);
  if (both_common ? variable->bytes > other->bytes : other_yields && variable->linkage != PTX_WEAK) {
    lower->variables.items[index] = variable;
  } else if (variable->linkage == PTX_VISIBLE && other->linkage == PTX_VISIBLE) {
    place_error(lower, module, variable->place, "second definition of", variable->name);
  }
}

const PtxVariable *link_variable(const Lower *lower, uint32_t module, const PtxVariable *variable) {
  (void)module;
  uint32_t index;
  if (variable->linkage == PTX_LOCAL) return variable;
  if (!name_map_find(&lower->variable_names, GLOBAL_SCOPE, variable->name, &index)) return variable;
  return lower->variables.items[index];
}

// ---- What a body refers to ------------------------------------------------------------------------
static void note_shared(Lower *lower, LinkedFunction *function, const PtxVariable *variable) {
  variable = link_variable(lower, function->module, variable);
  if (variable->count == 0 && variable->is_array) {
    function->uses_dynamic_shared = true;
    return;
  }
  for (uint32_t i = 0; i < function->shared.count; i++) {
    if (function->shared.items[i] == variable) return;
  }
  *(const PtxVariable **)VEC_PUSH(&function->shared, lower->scratch) = variable;
}

static void scan_operand(Lower *lower, LinkedFunction *function, const PtxOperand *operand) {
  if (operand->kind == PTX_NAME && operand->variable && operand->variable->space == PTX_SPACE_SHARED) {
    note_shared(lower, function, operand->variable);
  }
  for (uint32_t i = 0; i < operand->item_count; i++) scan_operand(lower, function, &operand->items[i]);
}

static void scan_call(Lower *lower, LinkedFunction *function, const PtxInstr *instr) {
  for (uint32_t i = 0; i < instr->operand_count; i++) {
    const PtxOperand *operand = &instr->operands[i];
    uint32_t callee;
    if (operand->kind == PTX_LIST) continue;
    if (operand->kind == PTX_REG) {
      function->calls_indirectly = true;
    } else if (operand->kind == PTX_NAME && link_function(lower, function->module, operand->text, &callee)) {
      *(uint32_t *)VEC_PUSH(&function->callees, lower->scratch) = callee;
    }
    return;
  }
}

static void scan_body(Lower *lower, LinkedFunction *function) {
  const PtxFunction *ptx = function->ptx;
  for (uint32_t i = 0; i < ptx->statements.count; i++) {
    const PtxStatement *statement = &ptx->statements.items[i];
    if (statement->kind != PTX_INSTR) continue;
    const PtxInstr *instr = &statement->instr;
    for (uint32_t k = 0; k < instr->operand_count; k++) scan_operand(lower, function, &instr->operands[k]);
    if (slice_is(instr->parts[0], "call")) scan_call(lower, function, instr);
  }
}

static void add_aliases(Lower *lower, uint32_t module) {
  const PtxModule *ptx = lower->modules[module];
  for (uint32_t i = 0; i < ptx->aliases.count; i++) {
    const PtxAlias *alias = &ptx->aliases.items[i];
    uint32_t index;
    if (link_function(lower, module, alias->target, &index)) {
      name_map_set(&lower->function_names, module, alias->name, index);
    } else {
      place_error(lower, module, alias->place, "no definition of the alias' target", alias->target);
    }
  }
}

static bool check_address_sizes(Lower *lower) {
  for (uint32_t m = 1; m < lower->module_count; m++) {
    if (lower->modules[m]->address_bits != lower->modules[0]->address_bits) {
      return diags_add(lower->diags, lower->modules[m]->file, 1, 1, "%u-bit addresses, but '%s' has %u-bit addresses",
                       lower->modules[m]->address_bits, lower->modules[0]->file, lower->modules[0]->address_bits);
    }
  }
  return true;
}

bool link_modules(Lower *lower) {
  uint32_t errors = lower->diags->count;
  check_address_sizes(lower);
  for (uint32_t m = 0; m < lower->module_count; m++) {
    const PtxModule *module = lower->modules[m];
    for (uint32_t i = 0; i < module->functions.count; i++) {
      if (module->functions.items[i]->has_body) add_function(lower, m, module->functions.items[i]);
    }
    for (uint32_t i = 0; i < module->variables.count; i++) add_variable(lower, m, module->variables.items[i]);
  }
  for (uint32_t m = 0; m < lower->module_count; m++) add_aliases(lower, m);
  for (uint32_t i = 0; i < lower->functions.count; i++) scan_body(lower, &lower->functions.items[i]);
  return lower->diags->count == errors;
}
