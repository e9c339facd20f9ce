// Names: a hash table with chained buckets whose symbols form a stack, so that leaving a scope is
// popping its symbols, each of which is then the newest of its bucket.
//
// Labels may be used before they are defined, and belong to the block in which they stand. So every
// use waits in `pending` until its scope ends; what the scope does not define passes to the outer one.
#include "ptx/parser_internal.h"

#include <stdio.h>

enum { FIRST_BUCKETS = 256, MAX_CANDIDATES = 2000 };

static uint32_t bucket_of(const Symbols *symbols, Slice name) {
  return (uint32_t)hash_bytes(name.at, name.length, 0) & (symbols->bucket_count - 1);
}

static void grow_buckets(Parser *parser) {
  Symbols *symbols = &parser->symbols;
  symbols->bucket_count = symbols->bucket_count == 0 ? FIRST_BUCKETS : 4 * symbols->bucket_count;
  symbols->buckets = ARENA_ARRAY(parser->scratch, uint32_t, symbols->bucket_count);
  for (uint32_t i = 0; i < symbols->stack.count; i++) {
    uint32_t bucket = bucket_of(symbols, symbols->stack.items[i].name);
    symbols->stack.items[i].next = symbols->buckets[bucket];
    symbols->buckets[bucket] = i + 1;
  }
}

Symbol *symbol_find(Parser *parser, Slice name) {
  Symbols *symbols = &parser->symbols;
  if (symbols->bucket_count == 0) return NULL;
  for (uint32_t i = symbols->buckets[bucket_of(symbols, name)]; i != 0;) {
    Symbol *symbol = &symbols->stack.items[i - 1];
    if (slice_equal(symbol->name, name)) return symbol;
    i = symbol->next;
  }
  return NULL;
}

Symbol *symbol_find_here(Parser *parser, Slice name) {
  Symbol *symbol = symbol_find(parser, name);
  return symbol != NULL && symbol->depth == parser->depth ? symbol : NULL;
}

// Member number of a range that `name` would have with `prefix_length`; false if it is no such name.
static bool member_number(Slice name, uint32_t prefix_length, uint32_t *number) {
  if (name.length - prefix_length > 1 && name.at[prefix_length] == '0') return false;
  uint64_t value = 0;
  for (uint32_t i = prefix_length; i < name.length; i++) value = value * 10 + (uint64_t)(name.at[i] - '0');
  *number = (uint32_t)min_u64(value, UINT32_MAX);
  return true;
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The innermost range %r<n> of which `name` is a member, with its number.
static Symbol *range_find(Parser *parser, Slice name, uint32_t *number) {
  Symbol *best = NULL;
  uint32_t length = name.length;
  for (; length > 1 && name.length - length < 9 && is_digit(name.at[length - 1]); length--) {
    if (length > 2 && is_digit(name.at[length - 2]) && !parser->symbols.digit_ranges) continue;
    Symbol *symbol = symbol_find(parser, (Slice){name.at, length - 1});
    uint32_t value;
    if (symbol == NULL || symbol->kind != SYMBOL_RANGE || !member_number(name, length - 1, &value)) continue;
    if (value >= symbol->count || (best != NULL && best->depth >= symbol->depth)) continue;
    best = symbol;
    *number = value;
  }
  return best;
}

static bool redeclared(Parser *parser, Slice name, PtxPlace place, PtxPlace before) {
  return parser_error(parser, place, "%s is already declared at line %u", parser_quote(parser, name), before.line);
}

Symbol *symbol_add(Parser *parser, SymbolKind kind, Slice name, PtxPlace place) {
  Symbols *symbols = &parser->symbols;
  Symbol *before = symbol_find_here(parser, name);
  uint32_t number;
  if (before == NULL && kind == SYMBOL_REGISTER) {
    Symbol *range = range_find(parser, name, &number);
    if (range != NULL && range->depth == parser->depth) before = range;
  }
  if (before != NULL) {
    redeclared(parser, name, place, before->place);
    return NULL;
  }
  if (symbols->stack.count >= symbols->bucket_count) grow_buckets(parser);
  Symbol *symbol = VEC_PUSH(&symbols->stack, parser->scratch);
  uint32_t bucket = bucket_of(symbols, name);
  *symbol = (Symbol){.name = name, .kind = kind, .depth = parser->depth, .place = place, .next = symbols->buckets[bucket]};
  symbols->buckets[bucket] = symbols->stack.count;
  if (kind == SYMBOL_RANGE && is_digit(name.at[name.length - 1])) symbols->digit_ranges = true;
  return symbol;
}

static const char *nearest_name(Parser *parser, Slice name, bool label);

// ---- Scopes --------------------------------------------------------------------------------------
void scope_enter(Parser *parser) { parser->depth++; }

static void bind_label(const Pending *pending, uint32_t index) {
  if (pending->operand != NULL) pending->operand->label = index;
  if (pending->label != NULL) *pending->label = index;
}

// Binds what this scope defines; keeps the rest for the outer scope, or at the function's end passes it
// to the module, where it may still be a function or variable.
static void resolve_scope(Parser *parser, uint32_t first_pending) {
  uint32_t kept = first_pending;
  for (uint32_t i = first_pending; i < parser->pending.count; i++) {
    Pending pending = parser->pending.items[i];
    const Symbol *symbol = symbol_find_here(parser, pending.name);
    if (symbol != NULL && symbol->kind == SYMBOL_LABEL) {
      bind_label(&pending, symbol->index);
    } else if (parser->depth > 1) {
      parser->pending.items[kept++] = pending;
    } else if (pending.must_be_label) {
      report_unknown(parser, pending.name, pending.place, true, NULL);
    } else {
      if (parser->guesses < MAX_ERRORS && symbol_find(parser, pending.name) == NULL) {
        parser->guesses++;
        pending.nearest = nearest_name(parser, pending.name, false);
      }
      *VEC_PUSH(&parser->module_pending, parser->scratch) = pending;
    }
  }
  parser->pending.count = kept;
}

void scope_leave(Parser *parser, uint32_t first_symbol, uint32_t first_pending) {
  resolve_scope(parser, first_pending);
  Symbols *symbols = &parser->symbols;
  while (symbols->stack.count > first_symbol) {
    const Symbol *symbol = &symbols->stack.items[--symbols->stack.count];
    symbols->buckets[bucket_of(symbols, symbol->name)] = symbol->next;
  }
  parser->depth--;
}

// ---- Registers -----------------------------------------------------------------------------------
uint32_t register_add(Parser *parser, Slice name, PtxType type, uint32_t vector) {
  PtxRegister *reg = VEC_PUSH(&parser->function->registers, parser->arena);
  *reg = (PtxRegister){name, type, vector};
  return parser->function->registers.count - 1;
}

bool register_find(Parser *parser, Slice name, uint32_t *index) {
  Symbol *exact = symbol_find(parser, name);
  uint32_t number = 0;
  Symbol *range = range_find(parser, name, &number);
  if (exact != NULL && (range == NULL || exact->depth >= range->depth)) {
    *index = exact->index;
    return exact->kind == SYMBOL_REGISTER;
  }
  if (range == NULL) return false;
  uint32_t *member = &range->registers[number];
  if (*member == 0) *member = 1 + register_add(parser, name, range->type, range->vector);
  *index = *member - 1;
  return true;
}

// ---- Special registers ---------------------------------------------------------------------------
static const char *const sreg_names[] = {
#define SREG(id, text, meaning) text,
#include "isa/sreg.def"
#undef SREG
};

// Those of the PTX ISA that sreg.def does not name one by one; a '#' stands for a number.
static const char *const more_sregs[] = {
    "%tid",
    "%ntid",
    "%ctaid",
    "%nctaid",
    "%tid.w",
    "%ntid.w",
    "%ctaid.w",
    "%nctaid.w",
    "%envreg#",
    "%pm#",
    "%pm#_64",
    "%reserved_smem_offset_begin",
    "%reserved_smem_offset_end",
    "%reserved_smem_offset_cap",
    "%reserved_smem_offset_#",
    "%aggr_smem_size",
    "%is_explicit_cluster",
    "%cluster_ctarank",
    "%cluster_nctarank",
    "%current_graph_exec",
    "%clusterid.x",
    "%clusterid.y",
    "%clusterid.z",
    "%nclusterid.x",
    "%nclusterid.y",
    "%nclusterid.z",
    "%cluster_ctaid.x",
    "%cluster_ctaid.y",
    "%cluster_ctaid.z",
    "%cluster_nctaid.x",
    "%cluster_nctaid.y",
    "%cluster_nctaid.z",
};

static bool matches(Slice name, const char *pattern) {
  uint32_t i = 0;
  for (; *pattern != '\0'; pattern++) {
    if (*pattern != '#') {
      if (i == name.length || name.at[i++] != *pattern) return false;
      continue;
    }
    uint32_t start = i;
    while (i < name.length && is_digit(name.at[i]) && i - start < 2) i++;
    if (i == start) return false;
  }
  return i == name.length;
}

bool sreg_known(Slice name) {
  if (slice_is(name, "%zero")) return false; // sreg.def's own, not PTX
  for (size_t i = 0; i < COUNT_OF(sreg_names); i++) {
    if (slice_is(name, sreg_names[i])) return true;
  }
  for (size_t i = 0; i < COUNT_OF(more_sregs); i++) {
    if (matches(name, more_sregs[i])) return true;
  }
  return false;
}

// ---- Unknown names -------------------------------------------------------------------------------
// The name a symbol suggests in place of `name`; for a range, the member with the same number.
static const char *candidate(Parser *parser, const Symbol *symbol, Slice name) {
  if (symbol->kind != SYMBOL_RANGE) return arena_copy_text(parser->scratch, symbol->name.at, symbol->name.length);
  uint32_t length = name.length, number = 0;
  while (length > 1 && is_digit(name.at[length - 1])) length--;
  if (length < name.length) (void)member_number(name, length, &number);
  if (number >= symbol->count) number = symbol->count == 0 ? 0 : symbol->count - 1;
  return arena_format(parser->scratch, "%.*s%u", (int)symbol->name.length, symbol->name.at, number);
}

static const char *nearest_name(Parser *parser, Slice name, bool label) {
  const char *candidates[MAX_CANDIDATES + COUNT_OF(sreg_names)];
  size_t count = 0;
  const Symbols *symbols = &parser->symbols;
  for (uint32_t i = symbols->stack.count; i > 0 && count < MAX_CANDIDATES; i--) {
    const Symbol *symbol = &symbols->stack.items[i - 1];
    if (!label || symbol->kind == SYMBOL_LABEL) candidates[count++] = candidate(parser, symbol, name);
  }
  for (size_t i = 0; !label && name.at[0] == '%' && i < COUNT_OF(sreg_names); i++) candidates[count++] = sreg_names[i];
  return text_nearest(arena_copy_text(parser->scratch, name.at, name.length), candidates, count);
}

// %r12 where %r<10> was declared: says so. False when it is nothing like that.
static bool report_beyond_range(Parser *parser, Slice name, PtxPlace place) {
  uint32_t length = name.length, number;
  while (length > 1 && is_digit(name.at[length - 1])) length--;
  const Symbol *symbol = symbol_find(parser, (Slice){name.at, length});
  if (length == name.length || symbol == NULL || symbol->kind != SYMBOL_RANGE || !member_number(name, length, &number)) return false;
  const char *range = arena_format(parser->scratch, "%.*s<%u>", (int)length, name.at, symbol->count);
  parser_error(parser, place, "%s is not declared: %s at line %u ends before it", parser_quote(parser, name), range, symbol->place.line);
  return true;
}

void report_unknown(Parser *parser, Slice name, PtxPlace place, bool label, const char *guess) {
  if (parser->stopped || (!label && report_beyond_range(parser, name, place))) return;
  const char *nearest = guess != NULL ? guess : nearest_name(parser, name, label);
  const char *what = label ? "no such label in this function:" : name.at[0] == '%' ? "unknown register" : "unknown name";
  const char *quoted = parser_quote(parser, name);
  if (nearest == NULL) {
    parser_error(parser, place, "%s %s", what, quoted);
  } else {
    parser_error(parser, place, "%s %s; did you mean '%s'?", what, quoted, nearest);
  }
}

void resolve_module_names(Parser *parser) {
  for (uint32_t i = 0; i < parser->module_pending.count; i++) {
    const Pending *pending = &parser->module_pending.items[i];
    const Symbol *symbol = symbol_find(parser, pending->name);
    if (symbol == NULL) report_unknown(parser, pending->name, pending->place, false, pending->nearest);
    if (pending->operand == NULL) continue;
    pending->operand->kind = PTX_NAME;
    pending->operand->label = 0;
    pending->operand->variable = symbol == NULL ? NULL : symbol->variable;
  }
}
