// Runs the test vectors of src/isa/vectors/*.txt through every build of the lane functions, with
// full and partial masks, and with d in the same registers as a source. Every ALU and ATOMIC row
// must have vectors.
// TEST_IN_RELEASE: there the compiler makes vectors of the loops.
//
// A line:   text [ftz] [sat] [imm=HEX] | a b c ps -> d pd        # comment
//   numbers are the bits in hexadecimal; "-" or nothing = absent; ps is 0 or 1; pd is pd0, or pd0 and
//   pd1 as two digits. {x,y,}rest in the text stands for several rows.
#include "isa/isa_internal.h"

#include <ctype.h>
#include <glob.h>
#include <setjmp.h>
#include <stdlib.h>

#include <cmocka.h>

typedef struct Vector {
  Op op;
  uint16_t mods;
  uint32_t imm;
  uint64_t source[3], result;
  bool ps;
  int pd[2]; // -1 = not said
  const char *file;
  int line;
} Vector;
typedef VEC(Vector) VectorVec;

typedef struct Vectors {
  Arena *arena;
  OpIndex *index;
  VectorVec all;
} Vectors;

// ---- Reading ---------------------------------------------------------------------------------------
static char *next_word(char **cursor) {
  char *at = *cursor;
  while (isspace((unsigned char)*at)) at++;
  if (*at == 0) return NULL;
  char *word = at;
  while (*at && !isspace((unsigned char)*at)) at++;
  if (*at) *at++ = 0;
  *cursor = at;
  return word;
}

static uint64_t number_of(const char *word, const char *file, int line) {
  if (!word || strcmp(word, "-") == 0) return 0;
  char *end;
  uint64_t value = strtoull(word, &end, 16);
  if (*end) fail_msg("%s:%d: '%s' is no hexadecimal number", file, line, word);
  return value;
}

static void add_rows(Vectors *vectors, const char *text, Vector vector) {
  const char *open = strchr(text, '{'), *close = open ? strchr(open, '}') : NULL;
  if (close) {
    for (const char *choice = open + 1; choice <= close; choice += strcspn(choice, ",}") + 1)
      add_rows(vectors, arena_format(vectors->arena, "%.*s%.*s%s", (int)(open - text), text, (int)strcspn(choice, ",}"), choice, close + 1),
               vector);
    return;
  }
  if (!op_find(vectors->index, slice_of(text), &vector.op)) fail_msg("%s:%d: no row '%s'", vector.file, vector.line, text);
  if (vector.mods & ~op_legal_mods(vector.op)) fail_msg("%s:%d: '%s' does not take these modifiers", vector.file, vector.line, text);
  *VEC_PUSH(&vectors->all, vectors->arena) = vector;
}

static void read_operands(char *inputs, char *outputs, Vector *vector) {
  for (unsigned i = 0; i < 3; i++) vector->source[i] = number_of(next_word(&inputs), vector->file, vector->line);
  vector->ps = number_of(next_word(&inputs), vector->file, vector->line) != 0;
  vector->result = number_of(next_word(&outputs), vector->file, vector->line);
  const char *pd = next_word(&outputs);
  for (unsigned i = 0; i < 2; i++) vector->pd[i] = pd && i < strlen(pd) && pd[i] != '-' ? pd[i] == '1' : -1;
  if (next_word(&inputs) || next_word(&outputs)) fail_msg("%s:%d: too many operands", vector->file, vector->line);
}

static void read_line(Vectors *vectors, const char *file, int line, char *text) {
  char *comment = strchr(text, '#');
  if (comment) *comment = 0;
  char *name = next_word(&text);
  if (!name) return;
  Vector vector = {.file = file, .line = line};
  char *word;
  while ((word = next_word(&text)) && strcmp(word, "|") != 0) {
    if (strcmp(word, "ftz") == 0) vector.mods |= MOD_FTZ;
    else if (strcmp(word, "sat") == 0) vector.mods |= MOD_SAT;
    else if (strncmp(word, "imm=", 4) == 0) vector.imm = (uint32_t)number_of(word + 4, file, line);
    else fail_msg("%s:%d: unknown modifier '%s'", file, line, word);
  }
  char *arrow = strstr(text, "->");
  if (!word || !arrow) {
    fail_msg("%s:%d: expected 'text mods | inputs -> outputs'", file, line);
    return;
  }
  *arrow = 0;
  read_operands(text, arrow + 2, &vector);
  add_rows(vectors, name, vector);
}

static void read_file_lines(Vectors *vectors, const char *path) {
  Diags diags = {0};
  char *bytes;
  size_t count;
  if (!file_read(vectors->arena, path, &bytes, &count, &diags)) fail_msg("cannot read %s", path);
  const char *file = arena_copy_text(vectors->arena, path, strlen(path));
  int line = 1;
  for (char *at = bytes; at < bytes + count; line++) {
    char *end = strchr(at, '\n');
    if (!end) end = bytes + count;
    *end = 0;
    read_line(vectors, file, line, at);
    at = end + 1;
  }
  diags_free(&diags);
}

static int setup(void **state) {
  Vectors *vectors = calloc(1, sizeof *vectors);
  vectors->arena = arena_new();
  vectors->index = op_index_new(vectors->arena);
  glob_t files;
  if (glob("src/isa/vectors/*.txt", 0, NULL, &files) != 0) fail_msg("no vector files: run from the root of the repository");
  for (size_t i = 0; i < files.gl_pathc; i++) read_file_lines(vectors, files.gl_pathv[i]);
  globfree(&files);
  *state = vectors;
  return 0;
}

static int teardown(void **state) {
  Vectors *vectors = *state;
  arena_free(vectors->arena);
  free(vectors);
  return 0;
}

// ---- Running ---------------------------------------------------------------------------------------
// A small register file; sources have fixed rows, d has its own or shares theirs.
enum { ROWS = 16, ROW_D = 0, ROW_A = 4, ROW_B = 8, ROW_C = 12, OLD_VALUE = 0x5EEDF00D };
typedef struct Registers {
  uint32_t row[ROWS][WARP_LANES] __attribute__((aligned(64)));
} Registers;

typedef struct Case {
  const Vector *lanes[WARP_LANES];
  const LaneBuild *build;
  uint32_t active;
  unsigned d_row;
} Case;

static uint32_t mask_of(const Case *run, bool first_source) {
  uint32_t mask = 0;
  for (unsigned lane = 0; lane < WARP_LANES; lane++)
    mask |= (uint32_t)(first_source ? run->lanes[lane]->source[0] & 1 : run->lanes[lane]->ps) << lane;
  return mask;
}

static void fill(const Case *run, Registers *registers) {
  const OpInfo *row = &op_info[run->lanes[0]->op];
  const TypeId types[3] = {row->a, row->b, row->c};
  for (unsigned i = 0; i < ROWS; i++)
    for (unsigned lane = 0; lane < WARP_LANES; lane++) registers->row[i][lane] = OLD_VALUE + i;
  for (unsigned i = 0; i < 3; i++)
    for (unsigned lane = 0; lane < WARP_LANES; lane++)
      if (type_info[types[i]].registers)
        row_set(registers->row[ROW_A + 4 * i], lane, type_info[types[i]].registers, run->lanes[lane]->source[i]);
}

static void complain(const Case *run, unsigned lane, const char *what, uint64_t got, uint64_t expected) {
  const Vector *vector = run->lanes[lane];
  fail_msg("%s:%d: %s, build %s, lane %u, active %08x, d in row %u: %s is %llx, not %llx", vector->file, vector->line,
           op_info[vector->op].text, run->build->name, lane, run->active, run->d_row, what, (unsigned long long)got,
           (unsigned long long)expected);
}

static void check_predicates(const Case *run, const LaneOp *op, const uint32_t old[2]) {
  const OpInfo *row = &op_info[run->lanes[0]->op];
  for (unsigned lane = 0; lane < WARP_LANES; lane++)
    for (unsigned i = 0; i < 2; i++) {
      bool is_active = run->active >> lane & 1, got = op->pd[i] >> lane & 1;
      int expected = run->lanes[lane]->pd[i];
      if (i == 1 && expected < 0 && row->d == TYPE_pred && run->lanes[lane]->pd[0] >= 0) expected = !run->lanes[lane]->pd[0];
      if (!is_active) expected = old[i] >> lane & 1;
      if (expected >= 0 && got != (expected != 0)) complain(run, lane, i ? "pd1" : "pd0", got, (uint64_t)expected);
    }
}

static void check_registers(const Case *run, const Registers *before, const Registers *after) {
  const OpInfo *row = &op_info[run->lanes[0]->op];
  unsigned width = type_info[row->d].registers;
  for (unsigned lane = 0; lane < WARP_LANES; lane++) {
    for (unsigned i = 0; i < ROWS; i++) {
      bool is_d = i >= run->d_row && i < run->d_row + width && run->active >> lane & 1;
      if (!is_d && after->row[i][lane] != before->row[i][lane])
        complain(run, lane, "another register", after->row[i][lane], before->row[i][lane]);
    }
    if (width == 0 || !(run->active >> lane & 1)) continue;
    uint64_t got = row_get(after->row[run->d_row], lane, width);
    if (got != run->lanes[lane]->result) complain(run, lane, "d", got, run->lanes[lane]->result);
  }
}

static void run_case(const Case *run) {
  Registers before, after;
  fill(run, &before);
  after = before;
  const Vector *first = run->lanes[0];
  const uint32_t old[2] = {0xA5A5A5A5, 0x3C3C3C3C};
  LaneOp op = {.d = after.row[run->d_row],
               .a = after.row[ROW_A],
               .b = after.row[ROW_B],
               .c = after.row[ROW_C],
               .active = run->active,
               .ps = mask_of(run, false),
               .pa = mask_of(run, true),
               .pd = {old[0], old[1]},
               .mods = first->mods,
               .imm = first->imm};
  run->build->functions[first->op](&op);
  check_registers(run, &before, &after);
  check_predicates(run, &op, old);
}

static bool same_instruction(const Vector *x, const Vector *y) { return x->op == y->op && x->mods == y->mods && x->imm == y->imm; }

// Lanes get the vectors [first, first + count) in turn.
static void run_vectors(const Vector *vectors, unsigned count, const LaneBuild *build) {
  static const uint32_t masks[] = {0xFFFFFFFF, 0x55555555, 0x0000FFFF, 0x80000001, 0};
  static const unsigned d_rows[] = {ROW_D, ROW_A, ROW_B, ROW_C, ROW_A + 1, ROW_A - 1, ROW_B + 1};
  for (size_t mask = 0; mask < COUNT_OF(masks); mask++)
    for (size_t i = 0; i < COUNT_OF(d_rows); i++) {
      Case run = {.build = build, .active = masks[mask], .d_row = d_rows[i]};
      for (unsigned lane = 0; lane < WARP_LANES; lane++) run.lanes[lane] = &vectors[lane % count];
      run_case(&run);
    }
}

static void vectors_agree_in_every_build(void **state) {
  const Vectors *vectors = *state;
  const Vector *items = vectors->all.items;
  for (unsigned number = 0; number < LANE_BUILDS; number++) {
    LaneBuild build = lane_build(number);
    if (!build.runs_here) continue;
    for (uint32_t first = 0, count; first < vectors->all.count; first += count) {
      for (count = 1; count < WARP_LANES && first + count < vectors->all.count;)
        if (same_instruction(&items[first], &items[first + count])) count++;
        else break;
      run_vectors(&items[first], count, &build);
    }
  }
}

static void every_row_has_vectors(void **state) {
  const Vectors *vectors = *state;
  unsigned seen[OP_COUNT] = {0}, missing = 0;
  for (uint32_t i = 0; i < vectors->all.count; i++) seen[vectors->all.items[i].op]++;
  for (unsigned op = 0; op < OP_COUNT; op++) {
    bool needs = op_info[op].kind == KIND_ALU || op_info[op].kind == KIND_ATOMIC;
    if (!needs || seen[op]) continue;
    print_error("no vector for %s\n", op_info[op].text);
    missing++;
  }
  assert_int_equal(missing, 0);
}

// A row with a body has a function in every build; the fastest build is one of them.
static void every_body_has_a_function(void **state) {
  (void)state;
  bool is_known = false;
  for (unsigned number = 0; number < LANE_BUILDS; number++) {
    LaneBuild build = lane_build(number);
    if (!build.functions) continue;
    is_known = is_known || build.functions == lane_functions();
    for (unsigned op = 0; op < OP_COUNT; op++) {
      bool needs = op_info[op].kind == KIND_ALU || op_info[op].kind == KIND_ATOMIC || op_info[op].kind == KIND_WARP;
      if (needs && !build.functions[op]) fail_msg("%s has no function", op_info[op].text);
    }
  }
  assert_true(is_known);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(vectors_agree_in_every_build),
      cmocka_unit_test(every_row_has_vectors),
      cmocka_unit_test(every_body_has_a_function),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
