// Bits that instr_care says an instruction ignores are ignored by the row's own body: every row of arithmetic, with random operands and
// constants, each such bit turned over.
#include "isa/isa.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { ROUNDS = 40 };

typedef struct Values {
  uint32_t row[3][2 * WARP_LANES]; // a, b, c
  uint32_t ps, pa;
} Values;

static uint64_t draw(uint64_t *state) {
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return *state >> 31 ^ *state << 17;
}

// Small numbers, powers of two and all bits: constants as programs have them.
static uint32_t draw_constant(uint64_t *state) {
  uint32_t kind = draw(state) >> 3 & 3, value = (uint32_t)draw(state);
  return kind == 0 ? value : kind == 1 ? value % 70 : kind == 2 ? 1u << value % 32 : ~0u << value % 32;
}

static void run(const Instr *instr, const Values *values, uint32_t d[2 * WARP_LANES], uint32_t pd[2]) {
  LaneOp op = {.d = d,
               .a = values->row[0],
               .b = values->row[1],
               .c = values->row[2],
               .active = UINT32_MAX,
               .ps = values->ps,
               .pa = values->pa,
               .mods = instr->mods,
               .imm = instr->imm};
  memset(d, 0, 2 * WARP_LANES * sizeof *d);
  lane_functions()[instr->op](&op);
  pd[0] = op.pd[0];
  pd[1] = op.pd[1];
}

static TypeId type_of(const OpInfo *info, unsigned operand) {
  return operand == OPERAND_A ? info->a : operand == OPERAND_B ? info->b : info->c;
}

static void check_operand(const Instr *instr, const Values *values, unsigned operand) {
  const OpInfo *info = &op_info[instr->op];
  unsigned bits = 32 * type_info[type_of(info, operand)].registers;
  uint64_t care = instr_care(instr, operand);
  uint32_t right[2 * WARP_LANES], right_pd[2];
  run(instr, values, right, right_pd);
  for (unsigned bit = 0; bit < bits; bit++) {
    if ((care >> bit & 1) != 0) continue;
    Values turned = *values;
    for (unsigned lane = 0; lane < WARP_LANES; lane++) turned.row[operand - OPERAND_A][bit / 32 * WARP_LANES + lane] ^= 1u << bit % 32;
    uint32_t d[2 * WARP_LANES], pd[2];
    run(instr, &turned, d, pd);
    if (memcmp(d, right, sizeof d) != 0 || pd[0] != right_pd[0] || pd[1] != right_pd[1])
      fail_msg("%s: bit %u of operand %c matters (imm %08x, select %u)", info->text, bit, (int)('a' + operand - OPERAND_A), instr->imm,
               instr->select);
  }
}

static void check_row(Op op, uint64_t *state) {
  const OpInfo *info = &op_info[op];
  for (unsigned round = 0; round < ROUNDS; round++) {
    Instr instr = instr_rest(op);
    Values values = {.ps = (uint32_t)draw(state), .pa = (uint32_t)draw(state)};
    for (unsigned k = 0; k < 3; k++) {
      for (unsigned i = 0; i < 2 * WARP_LANES; i++) values.row[k][i] = (uint32_t)draw(state);
    }
    instr.imm = draw_constant(state);
    unsigned chosen = (unsigned)(draw(state) >> 5) % 4; // a, b, c or none is a constant
    bool has_constant = chosen < 3 && (info->flags & IT_IMM) == 0 && type_info[type_of(info, OPERAND_A + chosen)].registers > 0;
    if (has_constant) {
      instr.select = (uint8_t)(SELECT_IMM_A + chosen);
      uint64_t value = imm_value(type_of(info, OPERAND_A + chosen), instr.imm);
      for (unsigned lane = 0; lane < WARP_LANES; lane++) row_set(values.row[chosen], lane, 2, value);
    }
    if ((info->flags & IT_SAT) != 0 && (round & 1) != 0) instr.mods |= MOD_SAT;
    for (unsigned operand = OPERAND_A; operand <= OPERAND_C; operand++) {
      if (has_constant && operand == OPERAND_A + chosen) continue;
      if (type_info[type_of(info, operand)].registers > 0) check_operand(&instr, &values, operand);
    }
  }
}

static void test_ignored_bits_are_ignored(void **state) {
  uint64_t seed = 1;
  (void)state;
  for (uint32_t op = 0; op < OP_COUNT; op++) {
    if (op_info[op].kind == KIND_ALU && lane_functions()[op] != NULL && type_info[op_info[op].d].registers <= 2) check_row((Op)op, &seed);
  }
}

static Op find(const char *text) {
  for (uint32_t op = 0; op < OP_COUNT; op++) {
    if (strcmp(op_info[op].text, text) == 0) return (Op)op;
  }
  fail_msg("no %s", text);
  return OP_COUNT;
}

// And it does say so: what the rules are for.
static void test_known_masks(void **state) {
  (void)state;
  static const struct {
    const char *op;
    uint32_t imm;
    uint8_t select, operand;
    uint64_t care;
  } cases[] = {
      {"and.b32", 0xFF, SELECT_IMM_B, OPERAND_A, 0xFF},
      {"or.b32", 0xFF, SELECT_IMM_B, OPERAND_A, 0xFFFFFF00},
      {"shl.b32", 8, SELECT_IMM_B, OPERAND_A, 0x00FFFFFF},
      {"shr.b32", 8, SELECT_IMM_B, OPERAND_A, 0xFFFFFF00},
      {"shr.s32", 40, SELECT_IMM_B, OPERAND_A, 0x80000000},
      {"setp.lt.s32", 0, SELECT_IMM_B, OPERAND_A, 0x80000000},
      {"setp.lt.u32", 64, SELECT_IMM_B, OPERAND_A, 0xFFFFFFC0},
      {"setp.gt.u32", 63, SELECT_IMM_B, OPERAND_A, 0xFFFFFFC0},
      {"setp.lt.u32", 63, SELECT_IMM_A, OPERAND_B, 0xFFFFFFC0},
      {"setp.eq.b32", 0, SELECT_IMM_B, OPERAND_A, 0xFFFFFFFF},
      {"and.b32", 0xFF, SELECT_CONST_B, OPERAND_A, 0xFFFFFFFF}, // the constant's value is not in the instruction
      {"lop3.b32", 0xF0, SELECT_REGISTERS, OPERAND_B, 0},       // the table of "a"
      {"lop3.b32", 0xF0, SELECT_REGISTERS, OPERAND_A, 0xFFFFFFFF},
      {"cvt.u8.u32", 0, SELECT_REGISTERS, OPERAND_A, 0xFF},
      {"mul24.lo.u32", 0, SELECT_REGISTERS, OPERAND_A, 0xFFFFFF},
      {"add.b32", 0, SELECT_REGISTERS, OPERAND_A, 0xFFFFFFFF},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    Instr instr = instr_rest(find(cases[i].op));
    instr.imm = cases[i].imm;
    instr.select = cases[i].select;
    uint64_t care = instr_care(&instr, cases[i].operand);
    if (care != cases[i].care) fail_msg("%s: %llx", cases[i].op, (unsigned long long)care);
  }
  Instr store = instr_rest(find("st.global.b8"));
  assert_int_equal(instr_care(&store, OPERAND_D), 0xFF);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_ignored_bits_are_ignored), cmocka_unit_test(test_known_masks)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
