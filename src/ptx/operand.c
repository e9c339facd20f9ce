// Operands of instructions (PTX ISA, "Instruction operands").
// Operands are built on the parser's stack and moved to the arena when their list is complete: only then
// does a name that still waits for its meaning have an address to be completed at.
#include "ptx/parser_internal.h"

static bool parse_operand(Parser *parser, PtxOperand *out);

static void push_operand(Parser *parser, const PtxOperand *operand) { *VEC_PUSH(&parser->operands, parser->scratch) = *operand; }

// Moves the operands from `first` on into the arena.
static PtxOperand *take_operands(Parser *parser, uint32_t first, uint32_t *count) {
  *count = parser->operands.count - first;
  parser->operands.count = first;
  if (*count == 0) return NULL;
  PtxOperand *items = ARENA_ARRAY(parser->arena, PtxOperand, *count);
  memcpy(items, parser->operands.items + first, *count * sizeof *items);
  for (uint32_t i = 0; i < *count; i++) {
    if (items[i].kind != PTX_LABEL || items[i].label != NO_LABEL) continue;
    *VEC_PUSH(&parser->pending, parser->scratch) =
        (Pending){.name = items[i].text, .place = items[i].place, .operand = &items[i], .must_be_label = parser->in_branch};
  }
  return items;
}

// One component of a vector register: 1 + index, 0 for anything else.
static uint8_t vector_part(Slice text) {
  static const char components[] = "xyzwrgba";
  if (text.length != 1) return 0;
  const char *found = strchr(components, text.at[0]);
  if (found == NULL || *found == '\0') return 0;
  return (uint8_t)(1 + (found - components) % 4);
}

// "b0", "h1", "b3210": what video instructions take of a register.
static bool is_selector(Slice text) {
  if (text.length < 2 || text.length > 5 || (text.at[0] != 'b' && text.at[0] != 'h')) return false;
  for (uint32_t i = 1; i < text.length; i++) {
    if (text.at[i] < '0' || text.at[i] > '7') return false;
  }
  return true;
}

// What may follow the name of a register: .x of a vector, or a video selector.
static void parse_suffix(Parser *parser, PtxOperand *out) {
  if (parser->token.kind != TOKEN_DOT_NAME) return;
  Slice suffix = parser->token.text;
  PtxPlace place = parser->token.place;
  const PtxRegister *reg = &parser->function->registers.items[out->reg];
  uint8_t part = vector_part(suffix);
  if (is_selector(suffix)) {
    out->selector = suffix;
  } else if (part != 0 && part <= reg->vector && reg->vector > 1) {
    out->part = part;
  } else {
    parser_error(parser, place, "register %s has no part %s", parser_quote(parser, reg->name), parser_quote(parser, suffix));
  }
  parser_advance(parser);
}

// + and - of a constant behind a name or base register.
static bool parse_addend(Parser *parser, PtxOperand *out) {
  while ((int)parser->token.kind == '+' || (int)parser->token.kind == '-') {
    bool minus = (int)parser->token.kind == '-';
    parser_advance(parser);
    PtxPlace place = parser->token.place;
    Constant value;
    if (!parse_product(parser, &value)) return false;
    if (value.kind != PTX_INT) return parser_error(parser, place, "an offset must be an integer");
    out->addend = (int64_t)(minus ? (uint64_t)out->addend - value.bits : (uint64_t)out->addend + value.bits);
  }
  return true;
}

// A special register or nothing known. The name token has been read; suffixes join it.
static void special_register(Parser *parser, PtxOperand *out) {
  if (parser->token.kind == TOKEN_DOT_NAME && parser->token.text.at == out->text.at + out->text.length + 1) {
    out->text.length += 1 + parser->token.text.length;
    parser_advance(parser);
  }
  out->kind = PTX_SREG_OPERAND;
  if (!sreg_known(out->text)) report_unknown(parser, out->text, out->place, false, NULL);
}

// name[3]: the element's place in memory, or in mov and cvta its address.
static bool parse_index(Parser *parser, PtxOperand *out) {
  PtxPlace place = parser->token.place;
  const PtxVariable *variable = out->variable;
  parser_advance(parser);
  int64_t index;
  if (!parse_integer(parser, &index, "a constant index") || !parser_expect(parser, ']', "after the index")) return false;
  if (variable == NULL) return parser_error(parser, place, "%s is no array", parser_quote(parser, out->text));
  uint64_t stride = (uint64_t)variable->vector * (ptx_type_bits(variable->type) + 7) / 8;
  out->addend = (int64_t)((uint64_t)out->addend + (uint64_t)index * stride);
  if (parser->in_move) return true;
  PtxOperand base = *out;
  uint32_t first = parser->operands.count;
  base.addend = 0;
  push_operand(parser, &base);
  *out = (PtxOperand){.kind = PTX_ADDRESS, .place = base.place, .addend = out->addend};
  out->items = take_operands(parser, first, &out->item_count);
  return true;
}

static bool parse_name(Parser *parser, PtxOperand *out) {
  out->text = parser->token.text;
  parser_advance(parser);
  if (register_find(parser, out->text, &out->reg)) {
    out->kind = PTX_REG;
    parse_suffix(parser, out);
    return true;
  }
  const Symbol *symbol = symbol_find(parser, out->text);
  if (symbol == NULL && out->text.at[0] == '%') {
    special_register(parser, out);
    return true;
  }
  bool waits = symbol == NULL || symbol->kind == SYMBOL_LABEL || symbol->kind == SYMBOL_RANGE || parser->in_branch;
  out->kind = waits ? PTX_LABEL : PTX_NAME;
  out->label = waits ? NO_LABEL : 0;
  if (!waits) out->variable = symbol->variable;
  if (!waits && (int)parser->token.kind == '[') return parse_index(parser, out);
  return parse_addend(parser, out);
}

static bool parse_number(Parser *parser, PtxOperand *out) {
  Constant value;
  if (!parse_constant(parser, &value)) return false;
  out->kind = value.kind;
  out->bits = value.bits;
  out->is_unsigned = value.is_unsigned;
  return true;
}

// ", item" repeated up to `close`; the first item, if any, is already on the stack.
static bool parse_items(Parser *parser, int close, bool first_read, uint32_t first, PtxOperand *out) {
  for (bool more = first_read; (int)parser->token.kind != close || more; more = true) {
    if (more && !parser_accept(parser, ',')) break;
    PtxOperand item = {0};
    if (!parse_operand(parser, &item)) return false;
    push_operand(parser, &item);
  }
  out->items = take_operands(parser, first, &out->item_count);
  return parser_expect(parser, close, close == ']' ? "after the address" : "after the list");
}

static bool parse_vector(Parser *parser, PtxOperand *out) {
  out->kind = PTX_VECTOR;
  parser->open_braces++;
  parser_advance(parser);
  if (!parse_items(parser, '}', false, parser->operands.count, out)) return false;
  parser->open_braces--;
  return out->item_count > 0 ? true : parser_error(parser, out->place, "a vector operand must not be empty: '{}'");
}

static bool parse_list(Parser *parser, PtxOperand *out) {
  out->kind = PTX_LIST;
  parser_advance(parser);
  parser->in_call = false; // parentheses inside are constant expressions again
  bool ok = parse_items(parser, ')', false, parser->operands.count, out);
  parser->in_call = true;
  return ok;
}

static bool parse_address(Parser *parser, PtxOperand *out) {
  uint32_t first = parser->operands.count;
  parser_advance(parser);
  PtxOperand base = {.place = parser->token.place};
  bool named = parser->token.kind == TOKEN_NAME && !starts_constant(parser);
  if (named ? !parse_name(parser, &base) : !parse_number(parser, &base)) return false;
  if (base.kind == PTX_REG && !parse_addend(parser, &base)) return false;
  if (base.kind != PTX_REG && base.kind != PTX_NAME && base.kind != PTX_LABEL && base.kind != PTX_INT) {
    parser_error(parser, base.place, "an address needs a register, a variable or an integer");
  }
  if (base.kind == PTX_REG && ptx_type_bits(parser->function->registers.items[base.reg].type) == 64) parser->uses_address64 = true;
  out->kind = (int)parser->token.kind == ',' ? PTX_TEXTURE : PTX_ADDRESS;
  if (out->kind == PTX_ADDRESS) {
    out->addend = base.addend;
    base.addend = 0;
  }
  push_operand(parser, &base);
  return parse_items(parser, ']', true, first, out);
}

// A sign before a register negates it; before anything else it belongs to a constant.
static bool parse_sign(Parser *parser, PtxOperand *out) {
  Lexer ahead = parser->lexer;
  Token next = lexer_next(&ahead);
  if (next.kind != TOKEN_NAME || slice_is(next.text, "WARP_SZ")) return parse_number(parser, out);
  parser_advance(parser);
  out->negated = true;
  if (!parse_name(parser, out)) return false;
  if (out->kind != PTX_REG && out->kind != PTX_SREG_OPERAND) {
    parser_error(parser, out->place, "only a register can be negated, not %s", parser_quote(parser, out->text));
  }
  return true;
}

// The whole of a vector register stands for the list of its elements.
static bool spread_vector(Parser *parser, PtxOperand *out) {
  if (out->kind != PTX_REG || out->part != 0) return true;
  uint32_t elements = parser->function->registers.items[out->reg].vector;
  if (elements <= 1) return true;
  uint32_t first = parser->operands.count;
  for (uint32_t i = 1; i <= elements; i++) {
    PtxOperand element = *out;
    element.part = (uint8_t)i;
    push_operand(parser, &element);
  }
  *out = (PtxOperand){.kind = PTX_VECTOR, .place = out->place, .text = out->text};
  out->items = take_operands(parser, first, &out->item_count);
  return true;
}

static bool parse_simple(Parser *parser, PtxOperand *out) {
  switch ((int)parser->token.kind) {
  case '[': return parse_address(parser, out);
  case '{': return parse_vector(parser, out);
  case '!':
  case '-': return parse_sign(parser, out);
  case '(':
    if (parser->in_call) return parse_list(parser, out);
    return parse_number(parser, out);
  case TOKEN_NAME:
    if (!slice_is(parser->token.text, "_")) {
      if (starts_constant(parser)) return parse_number(parser, out);
      return parse_name(parser, out) && spread_vector(parser, out);
    }
    out->kind = PTX_SINK;
    out->text = parser->token.text;
    parser_advance(parser);
    return true;
  default: return starts_constant(parser) ? parse_number(parser, out) : parser_expected(parser, "an operand");
  }
}

// p|q, or v|p of the texture and shuffle instructions.
static bool parse_pair(Parser *parser, PtxOperand *out) {
  uint32_t first = parser->operands.count;
  push_operand(parser, out);
  parser_advance(parser);
  PtxOperand second = {.place = parser->token.place};
  if (!parse_simple(parser, &second)) return false;
  push_operand(parser, &second);
  *out = (PtxOperand){.kind = PTX_PAIR, .place = out->place};
  out->items = take_operands(parser, first, &out->item_count);
  return true;
}

static bool parse_operand(Parser *parser, PtxOperand *out) {
  if (!parser_enter(parser)) return false;
  out->place = parser->token.place;
  bool ok = parse_simple(parser, out);
  if (ok && (int)parser->token.kind == '|') ok = parse_pair(parser, out);
  parser_leave(parser);
  return ok;
}

bool parse_operands(Parser *parser, PtxOperand **operands, uint32_t *count) {
  uint32_t first = parser->operands.count;
  if ((int)parser->token.kind != ';') {
    do {
      PtxOperand operand = {0};
      if (!parse_operand(parser, &operand)) {
        parser->operands.count = first;
        return false;
      }
      push_operand(parser, &operand);
    } while (parser_accept(parser, ','));
  }
  *operands = take_operands(parser, first, count);
  return true;
}
