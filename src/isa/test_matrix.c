// Matrix instructions: every opcode of the chapter multiplied and compared with a plain triple loop,
// through memory for wmma and through the documented fragment layouts for mma.sync.
#include "isa/float.h"
#include "isa/matrix.h"

#include <setjmp.h>
#include <stdio.h>
#include <time.h>
#include <cmocka.h>

enum { MAX_PARTS = 16, IMAGE_BYTES = 64 * 64 * 8, ROW_WORDS = 8 * WARP_LANES };

static bool parse(const char *text, MatrixForm *form) {
  Slice parts[MAX_PARTS];
  unsigned count = 0;
  while (count < MAX_PARTS) {
    const char *dot = strchr(text, '.');
    parts[count++] = (Slice){text, (uint32_t)(dot ? (size_t)(dot - text) : strlen(text))};
    if (!dot) break;
    text = dot + 1;
  }
  return matrix_parse(parts, count, form);
}
static MatrixForm form_of(const char *text) {
  MatrixForm form;
  if (!parse(text, &form)) fail_msg("not parsed: %s", text);
  return form;
}

// ---- Forms -----------------------------------------------------------------------------------------
typedef struct FormCase {
  const char *text;
  unsigned d, a, b, c, steps;
} FormCase;
static const FormCase form_cases[] = {
    {"wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32", 8, 8, 8, 8, 1},
    {"wmma.mma.sync.aligned.col.row.m16n16k16.f16.f16", 4, 8, 8, 4, 1},
    {"wmma.mma.sync.aligned.row.row.m32n8k16.f16.f32", 4, 8, 8, 8, 1},
    {"wmma.mma.sync.aligned.row.row.m8n32k16.f32.f16", 8, 8, 8, 4, 1},
    {"wmma.mma.sync.aligned.row.col.m16n16k16.s32.u8.u8.s32", 8, 2, 2, 8, 1},
    {"wmma.mma.sync.aligned.row.col.m32n8k16.s32.s8.s8.s32.satfinite", 8, 4, 1, 8, 1},
    {"wmma.mma.sync.aligned.row.col.m8n32k16.s32.s8.s8.s32", 8, 1, 4, 8, 1},
    {"wmma.mma.sync.aligned.row.col.m16n16k16.f32.bf16.bf16.f32", 8, 4, 4, 8, 1},
    {"wmma.mma.sync.aligned.row.col.m8n32k16.f32.bf16.bf16.f32", 8, 2, 8, 8, 1},
    {"wmma.mma.sync.aligned.row.col.m32n8k16.f32.bf16.bf16.f32", 8, 8, 2, 8, 1},
    {"wmma.mma.sync.aligned.row.col.m16n16k8.f32.tf32.tf32.f32", 8, 4, 4, 8, 1},
    {"wmma.mma.sync.aligned.row.col.m8n8k4.f64.f64.f64.f64.rn", 4, 2, 2, 4, 1},
    {"wmma.mma.sync.aligned.row.col.m8n8k32.s32.s4.s4.s32", 2, 1, 1, 2, 1},
    {"wmma.mma.xor.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32", 2, 1, 1, 2, 1},
    {"mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32", 8, 2, 2, 8, 1},
    {"mma.sync.aligned.m8n8k4.col.row.f16.f16.f16.f16", 4, 2, 2, 4, 1},
    {"mma.sync.aligned.m8n8k4.col.row.f32.f16.f16.f16", 8, 2, 2, 4, 1},
    {"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", 4, 2, 1, 4, 1},
    {"mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16", 2, 2, 1, 2, 1},
    {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 4, 4, 2, 4, 1},
    {"mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", 2, 4, 2, 2, 1},
    {"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", 4, 4, 2, 4, 1},
    {"mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32", 4, 2, 1, 4, 1},
    {"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", 4, 4, 2, 4, 1},
    {"mma.sync.aligned.m8n8k16.row.col.s32.s8.u8.s32", 2, 1, 1, 2, 1},
    {"mma.sync.aligned.m16n8k16.row.col.satfinite.s32.s8.s8.s32", 4, 2, 1, 4, 1},
    {"mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32", 4, 4, 2, 4, 1},
    {"mma.sync.aligned.m16n8k64.row.col.s32.s4.u4.s32", 4, 4, 2, 4, 1},
    {"mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc", 4, 4, 2, 4, 1},
    {"mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", 4, 2, 2, 4, 1},
    {"mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64", 8, 4, 2, 8, 1},
    {"mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64", 8, 8, 4, 8, 1},
    {"mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64", 8, 8, 4, 8, 2},
    {"mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32", 4, 4, 2, 4, 1},
    {"wmma.load.a.sync.aligned.row.m16n16k16.global.f16", 8, 0, 0, 0, 1},
    {"wmma.load.b.sync.aligned.col.m16n16k16.shared.u8", 2, 0, 0, 0, 1},
    {"wmma.load.c.sync.aligned.row.m16n16k16.shared::cta.s32", 8, 0, 0, 0, 1},
    {"wmma.load.c.sync.aligned.col.m16n16k16.f16", 4, 0, 0, 0, 1},
    {"wmma.store.d.sync.aligned.row.m8n8k4.global.f64", 4, 0, 0, 0, 1},
    {"wmma.store.d.sync.aligned.row.m8n8k32.global.s32", 2, 0, 0, 0, 1},
    {"ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16", 4, 0, 0, 0, 1},
    {"ldmatrix.sync.aligned.m8n8.x1.b16", 1, 0, 0, 0, 1},
    {"stmatrix.sync.aligned.m8n8.x2.shared::cta.b16", 2, 0, 0, 0, 1},
    {"ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8", 2, 0, 0, 0, 1},
    {"ldmatrix.sync.aligned.m16n16.x2.trans.b8", 4, 0, 0, 0, 1},
    {"ldmatrix.sync.aligned.m16n16.x2.trans.shared.b8x16.b6x16_p32", 4, 0, 0, 0, 1},
    {"ldmatrix.sync.aligned.m8n16.x1.shared.b8x16.b4x16_p64", 1, 0, 0, 0, 1},
    {"ldmatrix.sync.aligned.m8n16.x4.shared::cta.b8x16.b6x16_p32", 4, 0, 0, 0, 1},
    {"stmatrix.sync.aligned.m16n8.x4.trans.shared.b8", 4, 0, 0, 0, 1},
    {"stmatrix.sync.aligned.m16n8.x1.trans.b8", 1, 0, 0, 0, 1},
    {"movmatrix.sync.aligned.m8n8.trans.b16", 1, 1, 0, 0, 1},
};
static const char *const bad_forms[] = {
    "wmma",
    "wmma.mma",
    "mma.sync",
    "mma.sync.aligned.m16n8k8",
    "mma.sp.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32",
    "mma.sync.aligned.m16n8k64.row.col.f32.e4m3.e4m3.f32",
    "wmma.load.a.sync.aligned.row.m16n16k17.f16",
    "wmma.load.d.sync.aligned.row.m16n16k16.f16",
    "wmma.load.a.sync.aligned.m16n16k16.f16",
    "mma.sync.aligned.m16n8k16.col.col.f32.f16.f16.f32",
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.bf16.f32",
    "mma.sync.aligned.m16n8k16.row.col.f16.bf16.bf16.f32",
    "mma.sync.aligned.m16n8k16.row.col.satfinite.f32.f16.f16.f32",
    "wmma.load.a.sync.aligned.col.m8n8k32.s4",
    "ldmatrix.sync.aligned.m8n8.x8.b16",
    "ldmatrix.sync.aligned.m8n8.x1.b8",
    "ldmatrix.sync.aligned.m16n16.x1.shared.b8",
    "ldmatrix.sync.aligned.m16n16.x4.trans.shared.b8",
    "ldmatrix.sync.aligned.m16n16.x1.trans.shared.b16",
    "ldmatrix.sync.aligned.m8n16.x1.shared.b8",
    "ldmatrix.sync.aligned.m8n16.x1.trans.shared.b8x16.b6x16_p32",
    "ldmatrix.sync.aligned.m8n16.x1.shared.b8x16",
    "ldmatrix.sync.aligned.m16n8.x1.trans.shared.b8",
    "stmatrix.sync.aligned.m16n8.x1.shared.b8",
    "stmatrix.sync.aligned.m16n8.x1.trans.shared.b8x16.b4x16_p64",
    "stmatrix.sync.aligned.m16n16.x1.trans.shared.b8",
    "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32.f32",
    "wmma.store.d.sync.aligned.row.m16n16k16.global.f32.f32",
    "mma.sync.aligned.m99999999n8k16.row.col.f32.f16.f16.f32",
    "mma.sync.aligned.mnk.row.col.f32.f16.f16.f32",
};
static void test_forms(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(form_cases); i++) {
    const FormCase *want = &form_cases[i];
    MatrixForm form = form_of(want->text);
    const OpInfo *row = &op_info[form.op];
    if (form.d != want->d || form.a != want->a || form.b != want->b || form.c != want->c || form.steps != want->steps)
      fail_msg("%s: %u %u %u %u", want->text, form.d, form.a, form.b, form.c);
    assert_int_equal(row->kind, KIND_MATRIX);
    assert_int_equal(type_info[row->d].registers, form.d);
    if (form.use == MATRIX_MMA) {
      assert_int_equal(type_info[row->a].registers, form.a);
      assert_int_equal(type_info[row->b].registers, form.b);
      assert_int_equal(type_info[row->c].registers, form.c);
      assert_non_null(lane_functions()[form.op]);
    } else if (form.use != MATRIX_MOVE) {
      assert_int_equal(row->space, form.space);
      assert_int_equal(!!(row->flags & IT_DATA_IN), form.use == MATRIX_STORE);
    }
  }
  for (size_t i = 0; i < COUNT_OF(bad_forms); i++) {
    MatrixForm form;
    if (parse(bad_forms[i], &form)) fail_msg("parsed: %s", bad_forms[i]);
  }
}

// ---- Products through memory: wmma.load, mma, wmma.store ------------------------------------------------
static void access_image(const MatrixForm *form, uint32_t stride, uint8_t *image, uint32_t *rows) {
  for (unsigned lane = 0; lane < WARP_LANES; lane++) {
    MatrixPiece pieces[MATRIX_MAX_PIECES];
    unsigned count = matrix_pieces(form->op, form->imm, lane, stride, pieces);
    for (unsigned i = 0; i < count; i++) {
      MatrixPiece piece = pieces[i];
      assert_int_equal(piece.source, lane);
      assert_int_equal(piece.offset % piece.bytes, 0);
      assert_true(piece.offset >= 0 && piece.offset + piece.bytes <= IMAGE_BYTES);
      for (unsigned byte = 0; byte < piece.bytes; byte++) {
        unsigned at = piece.byte + byte;
        uint32_t *word = &rows[(piece.reg + at / 4) * WARP_LANES + lane];
        if (form->use == MATRIX_LOAD) *word = (*word & ~(0xFFu << at % 4 * 8)) | (uint32_t)image[piece.offset + byte] << at % 4 * 8;
        else image[piece.offset + byte] = (uint8_t)(*word >> at % 4 * 8);
      }
    }
  }
}

// Small integers, so that every sum is exact in every type and the order does not matter.
static int small(unsigned row, unsigned column, unsigned salt) { return (int)(random_draw(salt, row, column) % 7) - 3; }

typedef enum Kinds { F16, BF16, F32, F64, S32, U8, S8, U4, S4, B1 } Kinds;
static unsigned kind_bits(Kinds kind) { return (const unsigned[]){16, 16, 32, 64, 32, 8, 8, 4, 4, 1}[kind]; }

static void put(uint8_t *image, size_t index, Kinds kind, int value) {
  unsigned bits = kind_bits(kind);
  uint64_t raw = (uint64_t)(int64_t)value;
  if (kind == F16) raw = f32_to_f16((float)value, ROUND_RN);
  if (kind == BF16) raw = f32_to_bf16((float)value, ROUND_RN);
  if (kind == F32) raw = bits_of_f32((float)value);
  if (kind == F64) raw = bits_of_f64((double)value);
  for (unsigned bit = 0; bit < bits; bit++) {
    size_t at = index * bits + bit;
    image[at / 8] = (uint8_t)((image[at / 8] & ~(1u << at % 8)) | (unsigned)(raw >> bit & 1) << at % 8);
  }
}
static int get(const uint8_t *image, size_t index, Kinds kind) {
  uint64_t raw = 0;
  memcpy(&raw, image + index * kind_bits(kind) / 8, kind_bits(kind) / 8);
  if (kind == F16) return (int)f16_to_f32((uint16_t)raw);
  if (kind == F32) return (int)f32_of((uint32_t)raw);
  if (kind == F64) return (int)f64_of(raw);
  return (int)(uint32_t)raw;
}
static int value_of(Kinds kind, unsigned row, unsigned column, unsigned salt) {
  int value = small(row, column, salt);
  if (kind == B1) return value & 1;
  return kind == U8 || kind == U4 ? value + 3 : value;
}

typedef struct ProductCase {
  const char *shape;
  unsigned m, n, k;
  Kinds ab, c, d;
  const char *load_ab, *load_c, *store_d, *types;
} ProductCase;
static const ProductCase products[] = {
    {"m16n16k16", 16, 16, 16, F16, F32, F32, "f16", "f32", "f32", "f32.f32"},
    {"m16n16k16", 16, 16, 16, F16, F16, F32, "f16", "f16", "f32", "f32.f16"},
    {"m16n16k16", 16, 16, 16, F16, F16, F16, "f16", "f16", "f16", "f16.f16"},
    {"m16n16k16", 16, 16, 16, F16, F32, F16, "f16", "f32", "f16", "f16.f32"},
    {"m32n8k16", 32, 8, 16, F16, F32, F32, "f16", "f32", "f32", "f32.f32"},
    {"m8n32k16", 8, 32, 16, F16, F16, F16, "f16", "f16", "f16", "f16.f16"},
    {"m16n16k16", 16, 16, 16, BF16, F32, F32, "bf16", "f32", "f32", "f32.bf16.bf16.f32"},
    {"m32n8k16", 32, 8, 16, BF16, F32, F32, "bf16", "f32", "f32", "f32.bf16.bf16.f32"},
    {"m8n32k16", 8, 32, 16, BF16, F32, F32, "bf16", "f32", "f32", "f32.bf16.bf16.f32"},
    {"m16n16k16", 16, 16, 16, S8, S32, S32, "s8", "s32", "s32", "s32.s8.s8.s32"},
    {"m16n16k16", 16, 16, 16, U8, S32, S32, "u8", "s32", "s32", "s32.u8.u8.s32"},
    {"m32n8k16", 32, 8, 16, S8, S32, S32, "s8", "s32", "s32", "s32.s8.s8.s32.satfinite"},
    {"m8n32k16", 8, 32, 16, U8, S32, S32, "u8", "s32", "s32", "s32.u8.u8.s32"},
    {"m16n16k8", 16, 16, 8, F32, F32, F32, "tf32", "f32", "f32", "f32.tf32.tf32.f32"},
    {"m8n8k4", 8, 8, 4, F64, F64, F64, "f64", "f64", "f64", "f64.f64.f64.f64"},
    {"m8n8k32", 8, 8, 32, S4, S32, S32, "s4", "s32", "s32", "s32.s4.s4.s32"},
    {"m8n8k32", 8, 8, 32, U4, S32, S32, "u4", "s32", "s32", "s32.u4.u4.s32"},
    {"m8n8k128", 8, 8, 128, B1, S32, S32, "b1", "s32", "s32", "s32.b1.b1.s32"},
};

static size_t place(unsigned row, unsigned column, bool by_column, unsigned stride) {
  return by_column ? (size_t)column * stride + row : (size_t)row * stride + column;
}

static void fill(uint8_t *image, Kinds kind, unsigned rows, unsigned columns, bool by_column, unsigned stride, unsigned salt) {
  memset(image, 0xEE, IMAGE_BYTES);
  for (unsigned row = 0; row < rows; row++)
    for (unsigned column = 0; column < columns; column++)
      put(image, place(row, column, by_column, stride), kind, value_of(kind, row, column, salt));
}

static int expected(const ProductCase *item, unsigned row, unsigned column) {
  int sum = value_of(item->c, row, column, 3);
  for (unsigned i = 0; i < item->k; i++) {
    int a = value_of(item->ab, row, i, 1), b = value_of(item->ab, i, column, 2);
    sum += item->ab == B1 ? a ^ b : a * b;
  }
  return sum;
}

// Strides: the padding keeps rows aligned.
static void check_product(const ProductCase *item, bool a_column, bool b_column, bool c_column) {
  static const char *const layout[] = {"row", "col"};
  static uint8_t image[IMAGE_BYTES];
  uint32_t a[ROW_WORDS] = {0}, b[ROW_WORDS] = {0}, c[ROW_WORDS] = {0}, d[ROW_WORDS] = {0};
  char text[128];
  unsigned pad = kind_bits(item->ab) < 8 ? 128 : 16, stride;
  snprintf(text, sizeof text, "wmma.load.a.sync.aligned.%s.%s.global.%s", layout[a_column], item->shape, item->load_ab);
  MatrixForm form = form_of(text);
  stride = (a_column ? item->m : item->k) + pad;
  fill(image, item->ab, item->m, item->k, a_column, stride, 1);
  access_image(&form, stride, image, a);
  snprintf(text, sizeof text, "wmma.load.b.sync.aligned.%s.%s.shared.%s", layout[b_column], item->shape, item->load_ab);
  form = form_of(text);
  stride = (b_column ? item->k : item->n) + pad;
  fill(image, item->ab, item->k, item->n, b_column, stride, 2);
  access_image(&form, stride, image, b);
  snprintf(text, sizeof text, "wmma.load.c.sync.aligned.%s.%s.%s", layout[c_column], item->shape, item->load_c);
  form = form_of(text);
  stride = form.default_stride;
  fill(image, item->c, item->m, item->n, c_column, stride, 3);
  access_image(&form, stride, image, c);
  snprintf(text, sizeof text, "wmma.mma.%ssync.aligned.%s.%s.%s.%s", item->ab == B1 ? "xor.popc." : "", layout[a_column], layout[b_column],
           item->shape, item->types);
  form = form_of(text);
  LaneOp op = {.d = d, .a = a, .b = b, .c = c, .active = ~0u, .imm = form.imm};
  lane_functions()[form.op](&op);
  snprintf(text, sizeof text, "wmma.store.d.sync.aligned.%s.%s.global.%s", layout[!c_column], item->shape, item->store_d);
  form = form_of(text);
  memset(image, 0xEE, sizeof image);
  access_image(&form, 40, image, d);
  for (unsigned row = 0; row < item->m; row++)
    for (unsigned column = 0; column < item->n; column++) {
      int have = get(image, place(row, column, !c_column, 40), item->d), want = expected(item, row, column);
      if (have != want) fail_msg("%s: (%u, %u) is %d, not %d", text, row, column, have, want);
    }
}

static void test_wmma(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(products); i++)
    for (unsigned layouts = 0; layouts < 8; layouts++) {
      bool a_column = layouts & 1, b_column = layouts & 2;
      if (kind_bits(products[i].ab) < 8 && (a_column || !b_column)) continue;
      check_product(&products[i], a_column, b_column, layouts & 4);
    }
}

// ---- mma.sync: element (lane, i) by the manual's formulas -------------------------------------------------
typedef struct SyncCase {
  const char *text;
  unsigned m, k;
  Kinds ab, cd;
  unsigned bits; // of an element of A and B
} SyncCase;
static const SyncCase sync_cases[] = {
    {"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", 16, 8, F16, F32, 16},
    {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 16, 16, F16, F32, 16},
    {"mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", 16, 16, F16, F16, 16},
    {"mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32", 16, 8, BF16, F32, 16},
    {"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", 16, 16, BF16, F32, 16},
    {"mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32", 16, 4, F32, F32, 32},
    {"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", 16, 8, F32, F32, 32},
    {"mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32", 8, 16, S8, S32, 8},
    {"mma.sync.aligned.m16n8k16.row.col.s32.u8.u8.s32", 16, 16, U8, S32, 8},
    {"mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", 16, 32, S8, S32, 8},
    {"mma.sync.aligned.m8n8k32.row.col.s32.s4.s4.s32", 8, 32, S4, S32, 4},
    {"mma.sync.aligned.m16n8k64.row.col.s32.u4.u4.s32", 16, 64, U4, S32, 4},
    {"mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc", 16, 256, B1, S32, 1},
    {"mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", 8, 4, F64, F64, 64},
    {"mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64", 16, 4, F64, F64, 64},
    {"mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64", 16, 8, F64, F64, 64},
};

// Element i of a lane: its bytes lie in order in the lane's registers.
static void put_element(uint32_t *rows, unsigned lane, unsigned i, Kinds kind, int value) {
  uint8_t bytes[32];
  for (unsigned reg = 0; reg < 8; reg++) memcpy(bytes + 4 * reg, &rows[reg * WARP_LANES + lane], 4);
  put(bytes, i, kind, value);
  for (unsigned reg = 0; reg < 8; reg++) memcpy(&rows[reg * WARP_LANES + lane], bytes + 4 * reg, 4);
}
static int get_element(const uint32_t *rows, unsigned lane, unsigned i, Kinds kind) {
  uint8_t bytes[32];
  for (unsigned reg = 0; reg < 8; reg++) memcpy(bytes + 4 * reg, &rows[reg * WARP_LANES + lane], 4);
  return get(bytes, i, kind);
}

static void check_sync(const SyncCase *item) {
  MatrixForm form = form_of(item->text);
  ProductCase product = {.m = item->m, .n = 8, .k = item->k, .ab = item->ab, .c = item->cd};
  uint32_t a[ROW_WORDS] = {0}, b[ROW_WORDS] = {0}, c[ROW_WORDS] = {0}, d[ROW_WORDS] = {0};
  unsigned w = item->bits < 32 ? 32 / item->bits : 1, halves = item->m / 8;
  for (unsigned lane = 0; lane < WARP_LANES; lane++) {
    unsigned g = lane / 4, t = lane % 4;
    for (unsigned i = 0; i < item->m * item->k / 32; i++) { // groups of w: rows g, g + 8, then 4w further in k
      unsigned row = g + 8 * (i / w % halves), kk = t * w + i % w + 4 * w * (i / (w * halves));
      put_element(a, lane, i, item->ab, value_of(item->ab, row, kk, 1));
    }
    for (unsigned i = 0; i < 8 * item->k / 32; i++)
      put_element(b, lane, i, item->ab, value_of(item->ab, t * w + i % w + 4 * w * (i / w), g, 2));
    for (unsigned i = 0; i < item->m / 4; i++) put_element(c, lane, i, item->cd, value_of(item->cd, g + 8 * (i / 2), 2 * t + i % 2, 3));
  }
  LaneOp op = {.d = d, .a = a, .b = b, .c = c, .active = ~0u, .imm = form.imm};
  lane_functions()[form.op](&op);
  for (unsigned lane = 0; lane < WARP_LANES; lane++)
    for (unsigned i = 0; i < item->m / 4; i++) {
      int have = get_element(d, lane, i, item->cd), want = expected(&product, lane / 4 + 8 * (i / 2), lane % 4 * 2 + i % 2);
      if (have != want) fail_msg("%s: lane %u element %u is %d, not %d", item->text, lane, i, have, want);
    }
}
static void test_mma_sync(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(sync_cases); i++) check_sync(&sync_cases[i]);
}

// mma.m8n8k4 on f16: four products; all layouts and accumulator types.
static void check_quads(bool a_column, bool b_column, bool c_f16, bool d_f16) {
  char text[96];
  snprintf(text, sizeof text, "mma.sync.aligned.m8n8k4.%s.%s.%s.f16.f16.%s", a_column ? "col" : "row", b_column ? "col" : "row",
           d_f16 ? "f16" : "f32", c_f16 ? "f16" : "f32");
  MatrixForm form = form_of(text);
  uint32_t a[ROW_WORDS] = {0}, b[ROW_WORDS] = {0}, c[ROW_WORDS] = {0}, d[ROW_WORDS] = {0};
  for (unsigned lane = 0; lane < WARP_LANES; lane++) {
    unsigned quad = lane / 4 % 4, half = lane / 16, x = lane % 4;
    for (unsigned i = 0; i < 4; i++) {
      unsigned row = 4 * half + (a_column ? i : x), column = 4 * half + (b_column ? x : i);
      put_element(a, lane, i, F16, small(row, a_column ? x : i, 10 + quad));
      put_element(b, lane, i, F16, small(b_column ? i : x, column, 20 + quad));
    }
    for (unsigned i = 0; i < 8; i++) {
      unsigned row = 4 * half + (c_f16 ? x : (lane & 1) + (i & 2)), column = c_f16 ? i : (i & 4) + (lane & 2) + (i & 1);
      put_element(c, lane, i, c_f16 ? F16 : F32, small(row, column, 30 + quad));
    }
  }
  LaneOp op = {.d = d, .a = a, .b = b, .c = c, .active = ~0u, .imm = form.imm};
  lane_functions()[form.op](&op);
  for (unsigned lane = 0; lane < WARP_LANES; lane++)
    for (unsigned i = 0; i < 8; i++) {
      unsigned quad = lane / 4 % 4, half = lane / 16;
      unsigned row = 4 * half + (d_f16 ? lane % 4 : (lane & 1) + (i & 2)), column = d_f16 ? i : (i & 4) + (lane & 2) + (i & 1);
      int want = small(row, column, 30 + quad);
      for (unsigned k = 0; k < 4; k++) want += small(row, k, 10 + quad) * small(k, column, 20 + quad);
      assert_int_equal(get_element(d, lane, i, d_f16 ? F16 : F32), want);
    }
}
static void test_mma_quads(void **state) {
  (void)state;
  for (unsigned i = 0; i < 16; i++) check_quads(i & 1, i & 2, i & 4, i & 8);
}

// ---- Rounding, saturation, NaN --------------------------------------------------------------------------
static uint32_t first_of(const char *text, uint32_t a, uint32_t b, uint32_t c, uint32_t active, uint32_t *last) {
  MatrixForm form = form_of(text);
  uint32_t ra[ROW_WORDS], rb[ROW_WORDS], rc[ROW_WORDS], rd[ROW_WORDS];
  for (unsigned i = 0; i < ROW_WORDS; i++) ra[i] = a, rb[i] = b, rc[i] = c, rd[i] = 0xDEADBEEF;
  LaneOp op = {.d = rd, .a = ra, .b = rb, .c = rc, .active = active, .imm = form.imm};
  lane_functions()[form.op](&op);
  if (last) *last = rd[WARP_LANES - 1];
  return rd[0];
}
typedef struct NumberCase {
  const char *text;
  uint32_t a, b, c, d;
} NumberCase;
static const NumberCase number_cases[] = {
    // 16 products of 1 onto 2^24, one by one: each is lost (2^24 + 1 ties to even)
    {"wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32", 0x3C003C00, 0x3C003C00, 0x4B800000, 0x4B800000},
    // the smallest f16 subnormal squared, 16 times
    {"wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32", 0x00010001, 0x00010001, 0, 0x29800000},
    // 65504 * 65504 * 16 fits f32, overflows f16
    {"wmma.mma.sync.aligned.row.col.m16n16k16.f16.f16", 0x7BFF7BFF, 0x7BFF7BFF, 0, 0x7C007C00},
    // f16 C and D: 2048 + 16 products of 1 = 2064, summed in f32 and rounded once
    {"wmma.mma.sync.aligned.row.col.m16n16k16.f16.f16", 0x3C003C00, 0x3C003C00, 0x68006800, 0x68086808},
    // infinity * 0 and a NaN with payload: canonical
    {"wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32", 0x7C007C00, 0, 0, 0x7FFFFFFF},
    {"wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32", 0, 0, 0xFFC12345, 0x7FFFFFFF},
    {"wmma.mma.sync.aligned.row.col.m16n16k16.f16.f16", 0x7C007C00, 0, 0, 0x7FFF7FFF},
    // -0 stays when all products are -0
    {"mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32", 0x80008000, 0x3F803F80, 0x80000000, 0x80000000},
    // tf32 ignores the low 13 bits
    {"mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32", 0x3F801FFF, 0x3F801FFF, 0, 0x40800000},
    // integers: modulo 2^32, and clamped
    {"wmma.mma.sync.aligned.row.col.m16n16k16.s32.s8.s8.s32", 0x7F7F7F7F, 0x7F7F7F7F, 0x7FFFFFFF, 0x8003F00F},
    {"wmma.mma.sync.aligned.row.col.m16n16k16.s32.s8.s8.s32.satfinite", 0x7F7F7F7F, 0x7F7F7F7F, 0x7FFFFFFF, 0x7FFFFFFF},
    {"wmma.mma.sync.aligned.row.col.m16n16k16.s32.s8.s8.s32.satfinite", 0x80808080, 0x7F7F7F7F, 0x80000000, 0x80000000},
    {"wmma.mma.sync.aligned.row.col.m16n16k16.s32.u8.u8.s32", 0xFFFFFFFF, 0xFFFFFFFF, 0, 16 * 255 * 255},
    {"mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32", 0xFFFFFFFF, 0x80808080, 1, (uint32_t)(1 - 32 * 255 * 128)},
    {"mma.sync.aligned.m16n8k64.row.col.s32.s4.u4.s32", 0x88888888, 0xFFFFFFFF, 0, (uint32_t)(-64 * 8 * 15)},
    {"mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc", 0x0F0F0F0F, 0xFFFFFFFF, 5, 133},
    {"mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc", 0xFFFFFFFF, 0xFFFFFFFF, 5, 5},
    // e4m3 1.5 (0x3C) times e5m2 2 (0x40), 32 times
    {"mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32", 0x3C3C3C3C, 0x40404040, 0, 0x42C00000},
};
static void test_numbers(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(number_cases); i++) {
    const NumberCase *item = &number_cases[i];
    uint32_t have = first_of(item->text, item->a, item->b, item->c, ~0u, NULL);
    if (have != item->d) fail_msg("%s %zu: %08x, not %08x", item->text, i, have, item->d);
  }
}

// Damaged imm: stays inside the rows, gives zeros where it does not fit; inactive lanes keep d.
static void test_any_imm(void **state) {
  (void)state;
  uint32_t last;
  assert_int_equal(first_of("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", 0, 0, 0x3F800000, 1, &last), 0x3F800000);
  assert_int_equal(last, 0xDEADBEEF);
  static uint32_t rows[4][ROW_WORDS];
  for (unsigned op = 0; op < OP_COUNT; op++) {
    if (op_info[op].kind != KIND_MATRIX) continue;
    for (unsigned draw = 0; draw < 2000; draw++) {
      uint32_t imm = draw < 1024 ? draw : (uint32_t)random_draw(7, op, draw);
      if (op_info[op].space == SPACE_NONE) {
        LaneOp lanes = {.d = rows[0], .a = rows[1], .b = rows[2], .c = rows[3], .active = (uint32_t)random_draw(8, op, draw), .imm = imm};
        lane_functions()[op](&lanes);
        continue;
      }
      MatrixPiece pieces[MATRIX_MAX_PIECES];
      unsigned count = matrix_pieces((Op)op, imm, draw % 32, (uint32_t)random_draw(9, op, draw), pieces);
      assert_in_range(count, 0, MATRIX_MAX_PIECES);
      for (unsigned i = 0; i < count; i++) {
        assert_in_range(pieces[i].source, 0, 31);
        assert_in_range(pieces[i].reg + (pieces[i].byte + pieces[i].bytes - 1) / 4, 0, type_info[op_info[op].d].registers - 1);
      }
    }
  }
}

// Elements made one by one are those of the whole product, for every product there is; each of their values is told once.
static uint32_t count_value(void *own, MatrixStage stage, unsigned step, unsigned word, uint32_t value) {
  (void)step, (void)word;
  ((unsigned *)own)[stage]++;
  return value;
}
static void test_inside(void **state) {
  (void)state;
  static uint32_t rows[4][ROW_WORDS];
  static MatrixInside inside;
  unsigned found = 0;
  for (unsigned op = 0; op < OP_COUNT; op++)
    for (uint32_t imm = 0; imm < 0x1000 && op_info[op].kind == KIND_MATRIX && op_info[op].space == SPACE_NONE; imm++) {
      LaneOp lanes = {.d = rows[0], .a = rows[1], .b = rows[2], .c = rows[3], .active = ~0u, .imm = imm | imm % 7 << 14};
      for (unsigned i = 0; i < 3 * ROW_WORDS; i++) (&rows[1][0])[i] = (uint32_t)random_draw(imm, op, i);
      if (!matrix_look_inside((Op)op, &lanes, &inside)) continue;
      found++;
      lane_functions()[op](&lanes);
      for (unsigned i = 0; i < (unsigned)inside.elements * WARP_LANES; i++) {
        unsigned told[2] = {0, 0}, lane = i % WARP_LANES, element = i / WARP_LANES, at = element * inside.bits / 32;
        uint64_t have = matrix_make_element(&inside, lane, element, count_value, told), want = rows[0][at * WARP_LANES + lane];
        if (inside.bits == 64) want |= (uint64_t)rows[0][(at + 1) * WARP_LANES + lane] << 32;
        if (inside.bits == 16) want = want >> element % 2 * 16 & 0xFFFF;
        if (have != want) fail_msg("%s imm %x: lane %u element %u", op_info[op].text, lanes.imm, lane, element);
        assert_int_equal(told[MATRIX_SUM], inside.steps * inside.words);
        assert_int_equal(told[MATRIX_PRODUCT], inside.words == 2 ? 0 : inside.steps);
      }
    }
  assert_true(found > 500);
}

// ---- ldmatrix, stmatrix, movmatrix -----------------------------------------------------------------------
static void test_ldmatrix(void **state) {
  (void)state;
  // Matrix i, row r starts at 1000 * i + 100 * r in lane 8i + r's address; element c is the byte offset 2c.
  MatrixForm plain = form_of("ldmatrix.sync.aligned.m8n8.x4.shared.b16"), trans = form_of("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16");
  MatrixPiece pieces[MATRIX_MAX_PIECES];
  for (unsigned lane = 0; lane < WARP_LANES; lane++) {
    assert_int_equal(matrix_pieces(plain.op, plain.imm, lane, 0, pieces), 4);
    for (unsigned i = 0; i < 4; i++) {
      assert_int_equal(pieces[i].reg, i);
      assert_int_equal(pieces[i].source, 8 * i + lane / 4);
      assert_int_equal(pieces[i].offset, 4 * (lane % 4));
      assert_int_equal(pieces[i].bytes, 4);
    }
    assert_int_equal(matrix_pieces(trans.op, trans.imm, lane, 0, pieces), 8);
    for (unsigned i = 0; i < 8; i++) {
      assert_int_equal(pieces[i].reg, i / 2);
      assert_int_equal(pieces[i].byte, 2 * (i % 2));
      assert_int_equal(pieces[i].source, 8 * (i / 2) + lane % 4 * 2 + i % 2);
      assert_int_equal(pieces[i].offset, 2 * (lane / 4));
      assert_int_equal(pieces[i].bytes, 2);
    }
  }
}
static void test_movmatrix(void **state) {
  (void)state;
  uint32_t a[WARP_LANES], d[WARP_LANES];
  for (uint32_t lane = 0; lane < WARP_LANES; lane++) {
    uint32_t g = lane / 4, t = lane % 4;
    a[lane] = (g << 8 | 2 * t) | (g << 8 | (2 * t + 1)) << 16;
  }
  LaneOp op = {.d = d, .a = a, .active = ~0u};
  lane_functions()[OP_MOVMATRIX](&op);
  for (uint32_t lane = 0; lane < WARP_LANES; lane++) {
    uint32_t g = lane / 4, t = lane % 4;
    assert_int_equal(d[lane], (2 * t << 8 | g) | ((2 * t + 1) << 8 | g) << 16);
  }
}

// An overlap of d with a source is read first.
static void test_alias(void **state) {
  (void)state;
  uint32_t rows[ROW_WORDS], apart[ROW_WORDS], factor[ROW_WORDS];
  MatrixForm form = form_of("wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32");
  for (unsigned i = 0; i < ROW_WORDS; i++) rows[i] = bits_of_f32((float)(int)i), factor[i] = 0x3C003C00;
  LaneOp op = {.d = apart, .a = factor, .b = factor, .c = rows, .active = ~0u, .imm = form.imm};
  lane_functions()[form.op](&op);
  op.d = rows;
  lane_functions()[form.op](&op);
  assert_memory_equal(rows, apart, sizeof rows);
}

static void test_speed(void **state) {
  (void)state;
  static uint32_t rows[4][ROW_WORDS];
  static const char *const texts[] = {
      "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32", "wmma.mma.sync.aligned.row.col.m16n16k16.s32.u8.u8.s32",
      "wmma.mma.sync.aligned.row.col.m16n16k16.f16.f16", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"};
  for (size_t i = 0; i < COUNT_OF(texts); i++) {
    MatrixForm form = form_of(texts[i]);
    LaneOp op = {.d = rows[0], .a = rows[1], .b = rows[2], .c = rows[3], .active = ~0u, .imm = form.imm};
    for (unsigned k = 0; k < ROW_WORDS; k++) rows[1][k] = rows[2][k] = 0x3C003C00;
    clock_t start = clock();
    for (unsigned k = 0; k < 20000; k++) lane_functions()[form.op](&op);
    print_message("%s: %.2f us\n", texts[i], (double)(clock() - start) / CLOCKS_PER_SEC / 20000 * 1e6);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_forms),   cmocka_unit_test(test_wmma),    cmocka_unit_test(test_mma_sync), cmocka_unit_test(test_mma_quads),
      cmocka_unit_test(test_numbers), cmocka_unit_test(test_any_imm), cmocka_unit_test(test_ldmatrix), cmocka_unit_test(test_movmatrix),
      cmocka_unit_test(test_alias),   cmocka_unit_test(test_speed),   cmocka_unit_test(test_inside),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
