// Words <-> instructions <-> text: the examples of the reference, and random words.
#include "sass/sass.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

enum { RANDOM_WORDS = 400000 };

typedef struct Example {
  uint32_t low, high;
  unsigned words;
  char text[128];
} Example;

// Rows: words, tab, text, tab, remark.
static bool next_example(const char **at, Example *example) {
  if (**at == '\0') return false;
  *example = (Example){0};
  example->words = (unsigned)sscanf(*at, "%x %x", &example->low, &example->high);
  const char *text = strchr(*at, '\t') + 1;
  const char *end = strchr(text, '\t');
  if (text < *at + 16) example->words = 1, example->high = 0;
  memcpy(example->text, text, (size_t)(end - text));
  *at = strchr(end, '\n') + 1;
  return true;
}

static SassProgram *assemble(const char *text) {
  Diags diags = {0};
  SassProgram *program = sass_assemble("test.sass", text, strlen(text), &diags);
  for (uint32_t i = 0; i < diags.count; i++)
    print_message("%d:%d: %s: %s\n", diags.items[i].line, diags.items[i].column, text, diags.items[i].text);
  diags_free(&diags);
  return program;
}

static void assert_assembles(const char *text, uint32_t low, uint32_t high, unsigned words) {
  SassProgram *program = assemble(text);
  assert_non_null(program);
  assert_int_equal(program->count, words);
  assert_int_equal(program->words[0], low);
  if (words == 2) assert_int_equal(program->words[1], high);
  sass_program_free(program);
}

static void test_examples(void **state) {
  (void)state;
  Arena *arena = arena_new();
  Diags diags = {0};
  char *table = NULL;
  size_t bytes = 0;
  assert_true(file_read(arena, "tests/sass/examples.tsv", &table, &bytes, &diags));
  const char *at = strchr(table, '\n') + 1;
  unsigned count = 0;
  for (Example example; next_example(&at, &example); count++) {
    SassInstr instr;
    assert_true(sass_decode(example.low, example.high, &instr));
    assert_int_equal(instr.bytes, 4 * example.words);
    Text text = {0};
    sass_format(&instr, &text);
    assert_string_equal(text.at, example.text);
    text_free(&text);
    // The end marker (I[33:32] = 1) has no effect and no text: it is all that an example may lose.
    uint32_t high = (example.high & 3) == 1 ? example.high & ~1u : example.high;
    assert_assembles(example.text, example.low, high, example.words);
  }
  assert_int_equal(count, 62);
  diags_free(&diags);
  arena_free(arena);
}

// Everything that a machine looks at, apart from the words themselves and fields that only the encoder reads.
static void assert_same_operand(const SassOperand *a, const SassOperand *b) {
  assert_int_equal(a->kind, b->kind);
  assert_int_equal(a->half, b->half);
  assert_int_equal(a->type, b->type);
  assert_int_equal(a->zero, b->zero);
  assert_int_equal(a->negate, b->negate);
  assert_int_equal(a->absolute, b->absolute);
  assert_int_equal(a->invert, b->invert);
  assert_int_equal(a->value, b->value);
}

static bool uses_address(const SassInstr *instr) {
  return instr->a.kind == SASS_SHARED || instr->a.kind == SASS_ADDRESS || instr->access_bytes != 0;
}

static void assert_equivalent(const SassInstr *a, const SassInstr *b) {
  assert_int_equal(a->format, b->format);
  assert_int_equal(a->bytes, b->bytes);
  assert_int_equal(a->action, b->action);
  assert_int_equal(a->legal, b->legal);
  assert_int_equal(a->join, b->join);
  assert_int_equal(a->guard_condition, b->guard_condition);
  if (a->guard_condition != 0 && a->guard_condition != SASS_ALWAYS) assert_int_equal(a->guard_register, b->guard_register);
  if (a->reads_carry) assert_int_equal(a->guard_register, b->guard_register);
  assert_int_equal(a->reads_carry, b->reads_carry);
  assert_int_equal(a->sets_predicate, b->sets_predicate);
  if (a->sets_predicate) assert_int_equal(a->predicate, b->predicate);
  if (uses_address(a)) assert_int_equal(a->address, b->address);
  assert_same_operand(&a->a, &b->a);
  assert_same_operand(&a->b, &b->b);
  assert_same_operand(&a->c, &b->c);
  assert_same_operand(&a->d, &b->d);
  assert_int_equal(a->target, b->target);
  assert_int_equal(a->shared_offset, b->shared_offset);
  assert_int_equal(a->access_bytes, b->access_bytes);
  assert_int_equal(a->access_signed, b->access_signed);
  assert_int_equal(a->op, b->op);
  assert_int_equal(a->narrow, b->narrow);
  assert_int_equal(a->is_signed, b->is_signed);
  assert_int_equal(a->saturate, b->saturate);
  assert_int_equal(a->select, b->select);
  assert_int_equal(a->read, b->read);
  assert_int_equal(a->exec, b->exec);
  assert_int_equal(a->write, b->write);
  assert_int_equal(a->gpr_reads, b->gpr_reads);
  assert_int_equal(a->zero_reads, b->zero_reads);
}

// Half of the words get the bits of a legal format and operation more often than chance would.
static uint64_t random_word(uint64_t index) {
  uint64_t word = random_draw(7, index, 0);
  uint64_t how = random_draw(7, index, 1);
  if ((how & 1) != 0) word &= random_draw(7, index, 2); // sparse
  if ((how & 6) == 2) word = (word & ~UINT64_C(0x300000002)) | 1;
  if ((how & 6) == 4) word = (word & ~UINT64_C(2)) | UINT64_C(0x300000001);
  return word;
}

static void test_encode_inverts_decode(void **state) {
  (void)state;
  uint32_t rows[SASS_ROW_COUNT] = {0};
  for (uint64_t i = 0; i < RANDOM_WORDS; i++) {
    uint64_t word = random_word(i);
    SassInstr instr, again;
    sass_decode((uint32_t)word, (uint32_t)(word >> 32), &instr);
    rows[instr.row]++;
    uint32_t low, high;
    sass_encode(&instr, &low, &high);
    sass_decode(low, high, &again);
    assert_equivalent(&instr, &again);
    uint32_t low2, high2;
    sass_encode(&again, &low2, &high2);
    assert_int_equal(low, low2);
    assert_int_equal(high, high2);
  }
  for (unsigned row = 0; row < SASS_ROW_COUNT; row++) {
    if (rows[row] == 0) print_message("%s never met\n", sass_rows[row].id);
    assert_int_not_equal(rows[row], 0);
  }
}

static void test_assembler_inverts_disassembler(void **state) {
  (void)state;
  for (uint64_t i = 0; i < RANDOM_WORDS; i++) {
    uint64_t word = random_word(i);
    SassInstr instr;
    sass_decode((uint32_t)word, (uint32_t)(word >> 32), &instr);
    uint32_t low, high;
    sass_encode(&instr, &low, &high);
    Text text = {0};
    sass_format(&instr, &text);
    assert_assembles(text.at, low, high, instr.bytes / 4u);
    text_free(&text);
  }
}

static void test_conditions(void **state) {
  (void)state;
  for (unsigned flags = 0; flags < 16; flags++) {
    bool zero = (flags & 1) != 0, sign = (flags & 2) != 0, carry = (flags & 4) != 0, overflow = (flags & 8) != 0;
    assert_int_equal(sass_condition(flags, 0), false);
    assert_int_equal(sass_condition(flags, 2), zero && !sign);
    assert_int_equal(sass_condition(flags, 5), !zero);
    assert_int_equal(sass_condition(flags, 10), zero);
    assert_int_equal(sass_condition(flags, 13), !(zero && !sign));
    assert_int_equal(sass_condition(flags, 15), true);
    assert_int_equal(sass_condition(flags, 16), overflow);
    assert_int_equal(sass_condition(flags, 17), carry);
    assert_int_equal(sass_condition(flags, 19), sign);
    assert_int_equal(sass_condition(flags, 31), !overflow);
    for (unsigned condition = 20; condition < 28; condition++) assert_false(sass_condition(flags, condition));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_examples),
      cmocka_unit_test(test_encode_inverts_decode),
      cmocka_unit_test(test_assembler_inverts_disassembler),
      cmocka_unit_test(test_conditions),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
