// What an instruction computes: operands resolved (signs, absolute values, inversions), the row of isa.def over 32 lanes,
// flags of the result. Float flags: Z for zero, S for negative, both for NaN (the condition NAN). Reference, sections 4 to 6;
// its arithmetic defects are not followed (docs/sass.md).
#include "sass/sass_internal.h"

static bool is_nan(uint32_t value) { return (value & 0x7FFFFFFF) > 0x7F800000; }

static void call(const LaneFunction *functions, unsigned op, SassLanes *lanes) {
  ASSERT(op < OP_COUNT && functions[op] != NULL);
  LaneOp operation = {.d = lanes->d, .a = lanes->a, .b = lanes->b, .c = lanes->c, .active = UINT32_MAX};
  functions[op](&operation);
}

// Most operands are taken as they are.
static void resolve_integers(const SassOperand *operand, bool extend, uint32_t row[WARP_LANES]) {
  bool invert = operand->invert, negate = operand->negate;
  if (!extend && !invert && !negate) return;
  for (unsigned i = 0; i < WARP_LANES; i++) {
    uint32_t value = extend ? (uint32_t)(int32_t)(int16_t)row[i] : row[i];
    value = invert ? ~value : value;
    row[i] = negate ? 0 - value : value;
  }
}

static uint32_t resolve_float(const SassOperand *operand, uint32_t value) {
  if (operand->absolute) value &= 0x7FFFFFFF;
  return operand->negate ? value ^ 0x80000000 : value;
}

static void resolve_floats(const SassOperand *operand, uint32_t row[WARP_LANES]) {
  const SassOperand own = *operand; // so that the rows cannot change it
  if (!own.absolute && !own.negate) return;
  for (unsigned i = 0; i < WARP_LANES; i++) row[i] = resolve_float(&own, row[i]);
}

static bool float_action(const SassInstr *instr) {
  switch (instr->action) {
  case SASS_DO_FLOAT_COMPARE:
  case SASS_DO_TO_FLOAT:
  case SASS_DO_COPY_FLOAT:
  case SASS_DO_RRO: return true;
  case SASS_DO_LANES: return op_info[instr->op].d == TYPE_f32;
  default: return false;
  }
}

static void resolve(const SassInstr *instr, SassLanes *lanes) {
  bool floats = float_action(instr) && instr->action != SASS_DO_TO_FLOAT;
  bool adds = instr->action >= SASS_DO_ADD && instr->action <= SASS_DO_ADD_CARRY;
  bool extend = adds && instr->narrow;
  if (floats) {
    resolve_floats(&instr->a, lanes->a);
    resolve_floats(&instr->b, lanes->b);
    resolve_floats(&instr->c, lanes->c);
  } else if (instr->action != SASS_DO_CONVERT) { // which negates after it has extended
    resolve_integers(&instr->a, extend, lanes->a);
    resolve_integers(&instr->b, extend, lanes->b);
  }
}

static uint8_t zero_sign(uint32_t value, bool narrow, bool show_sign) {
  uint32_t result = narrow ? value & 0xFFFF : value;
  bool sign = show_sign && (result >> (narrow ? 15 : 31)) != 0;
  return (uint8_t)((result == 0 ? SASS_FLAG_ZERO : 0) | (sign ? SASS_FLAG_SIGN : 0));
}

static uint8_t float_flags(uint32_t value) {
  if (is_nan(value)) return SASS_FLAG_ZERO | SASS_FLAG_SIGN;
  if ((value & 0x7FFFFFFF) == 0) return SASS_FLAG_ZERO;
  return (value >> 31) != 0 ? SASS_FLAG_SIGN : 0;
}

// The adder: carry is the bit above the width, overflow when operands of equal sign give another one. Saturation is the
// machine's own: all ones, no carry, no overflow.
static void add_lane(const SassInstr *instr, SassLanes *lanes, unsigned i, uint32_t a, uint32_t b) {
  bool narrow = instr->d.half != SASS_WHOLE;
  unsigned bits = narrow ? 16 : 32;
  uint64_t carry = instr->reads_carry ? lanes->carry >> i & 1 : 0;
  uint64_t mask = (UINT64_C(1) << bits) - 1;
  uint64_t sum = (a & mask) + (b & mask) + carry;
  uint32_t result = (uint32_t)(sum & mask);
  unsigned top = bits - 1;
  bool out = (sum >> bits & 1) != 0;
  bool overflow = ((~(a ^ b) & (a ^ result)) >> top & 1) != 0;
  if (instr->saturate && out != ((sum >> top & 1) != 0)) {
    result = (uint32_t)mask;
    out = overflow = false;
  }
  bool show_sign = instr->action != SASS_DO_MULTIPLY_ADD || instr->is_signed;
  lanes->d[i] = result;
  lanes->flags[i] = (uint8_t)(zero_sign(result, narrow, show_sign) | (out ? SASS_FLAG_CARRY : 0) | (overflow ? SASS_FLAG_OVERFLOW : 0));
}

// The same of 32 bits without carry and saturation, which most additions are; all lanes at once.
static void add_words(const SassInstr *instr, SassLanes *lanes, const uint32_t a[WARP_LANES], const uint32_t b[WARP_LANES]) {
  bool show_sign = instr->action != SASS_DO_MULTIPLY_ADD || instr->is_signed;
  uint32_t sign = show_sign ? SASS_FLAG_SIGN : 0, sums[WARP_LANES], flags[WARP_LANES];
  for (unsigned i = 0; i < WARP_LANES; i++) {
    uint32_t sum = a[i] + b[i], out = (a[i] & b[i]) | ((a[i] | b[i]) & ~sum), overflow = ~(a[i] ^ b[i]) & (a[i] ^ sum);
    sums[i] = sum;
    flags[i] = (sum == 0 ? SASS_FLAG_ZERO : 0u) | ((0 - (sum >> 31)) & sign) | ((0 - (out >> 31)) & SASS_FLAG_CARRY) |
               ((0 - (overflow >> 31)) & SASS_FLAG_OVERFLOW);
  }
  memcpy(lanes->d, sums, sizeof sums);
  for (unsigned i = 0; i < WARP_LANES; i++) lanes->flags[i] = (uint8_t)flags[i];
}

static void add_rows(const SassInstr *instr, SassLanes *lanes, const uint32_t a[WARP_LANES], const uint32_t b[WARP_LANES]) {
  if (instr->d.half == SASS_WHOLE && !instr->reads_carry && !instr->saturate) {
    add_words(instr, lanes, a, b);
    return;
  }
  for (unsigned i = 0; i < WARP_LANES; i++) add_lane(instr, lanes, i, a[i], b[i]);
}

static void execute_add(const SassInstr *instr, SassLanes *lanes) {
  uint32_t negative[WARP_LANES];
  if (instr->action == SASS_DO_SUBTRACT) {
    for (unsigned i = 0; i < WARP_LANES; i++) negative[i] = 0 - lanes->a[i];
  }
  add_rows(instr, lanes, instr->action == SASS_DO_SUBTRACT ? negative : lanes->a, lanes->b);
}

static void execute_multiply_add(const SassInstr *instr, const LaneFunction *functions, SassLanes *lanes) {
  call(functions, instr->op, lanes);
  add_rows(instr, lanes, lanes->d, lanes->c);
}

static void execute_compare(const SassInstr *instr, const LaneFunction *functions, SassLanes *lanes) {
  uint32_t truth = instr->select == 7 ? UINT32_MAX : 0;
  if (instr->op < OP_COUNT) {
    LaneOp operation = {.d = lanes->d, .a = lanes->a, .b = lanes->b, .c = lanes->c, .active = UINT32_MAX};
    functions[instr->op](&operation);
    truth = operation.pd[0];
  }
  for (unsigned i = 0; i < WARP_LANES; i++) {
    bool holds = (truth >> i & 1) != 0;
    lanes->d[i] = holds ? UINT32_MAX : 0;
    lanes->flags[i] = holds ? SASS_FLAG_SIGN : SASS_FLAG_ZERO;
  }
}

static void execute_convert(const SassInstr *instr, const LaneFunction *functions, SassLanes *lanes) {
  call(functions, instr->op, lanes);
  if (instr->a.negate) {
    memcpy(lanes->a, lanes->d, sizeof lanes->a);
    call(functions, OP_NEG_S32, lanes);
  }
  if (instr->a.absolute) {
    memcpy(lanes->a, lanes->d, sizeof lanes->a);
    call(functions, OP_ABS_S32, lanes);
  }
}

// Shifts of R2A are of any amount; ADA's amount is signed already.
static void execute_address(const SassInstr *instr, SassLanes *lanes) {
  for (unsigned i = 0; i < WARP_LANES; i++) {
    uint32_t amount = instr->b.value;
    if (instr->action == SASS_DO_TO_ADDRESS) {
      lanes->d[i] = amount > 31 ? 0 : lanes->a[i] << amount;
    } else {
      lanes->d[i] = lanes->a[i] + amount;
    }
  }
}

static void set_flags(const SassInstr *instr, SassLanes *lanes) {
  bool narrow = instr->d.half != SASS_WHOLE;
  bool show_sign = instr->action != SASS_DO_LANES || instr->is_signed;
  bool floats = float_action(instr);
  for (unsigned i = 0; i < WARP_LANES; i++) lanes->flags[i] = floats ? float_flags(lanes->d[i]) : zero_sign(lanes->d[i], narrow, show_sign);
}

void sass_execute(const SassInstr *instr, const LaneFunction *functions, SassLanes *lanes) {
  resolve(instr, lanes);
  switch (instr->action) {
  case SASS_DO_ADD:
  case SASS_DO_SUBTRACT:
  case SASS_DO_ADD_CARRY: execute_add(instr, lanes); return;
  case SASS_DO_MULTIPLY_ADD: execute_multiply_add(instr, functions, lanes); return;
  case SASS_DO_COMPARE:
  case SASS_DO_FLOAT_COMPARE: execute_compare(instr, functions, lanes); return;
  case SASS_DO_LOGIC:
    if (instr->select == 3) memcpy(lanes->a, lanes->b, sizeof lanes->a);
    call(functions, instr->op, lanes);
    break;
  case SASS_DO_LANES:
  case SASS_DO_TO_FLOAT:
  case SASS_DO_FROM_FLOAT: call(functions, instr->op, lanes); break;
  case SASS_DO_CONVERT: execute_convert(instr, functions, lanes); break;
  case SASS_DO_TO_ADDRESS:
  case SASS_DO_ADD_ADDRESS: execute_address(instr, lanes); break;
  case SASS_DO_NOTHING:
  case SASS_DO_ZERO: memset(lanes->d, 0, sizeof lanes->d); break;
  default: memcpy(lanes->d, lanes->a, sizeof lanes->d); break;
  }
  set_flags(instr, lanes);
  if (instr->action != SASS_DO_TO_FLAGS) return;
  for (unsigned i = 0; i < WARP_LANES; i++) lanes->flags[i] = lanes->d[i] & 15;
}

bool sass_fadd_subtracts(const SassInstr *instr, uint32_t a, uint32_t b) {
  return ((resolve_float(&instr->a, a) | resolve_float(&instr->b, b)) >> 31) != 0;
}
