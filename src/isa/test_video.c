// Video instructions as PTX writes them: opcode and selectors to row, imm and modifiers, and the results
// worked out by hand. The bodies' corner cases are in vectors/video.txt.
#include "isa/video.h"

#include <setjmp.h>
#include <cmocka.h>

enum { MAX_PARTS = 16 };

static bool parse(const char *text, Op *op, uint32_t *imm, uint16_t *mods) {
  Slice parts[MAX_PARTS];
  unsigned count = 0;
  while (count < MAX_PARTS) {
    const char *dot = strchr(text, '.');
    parts[count++] = (Slice){text, (uint32_t)(dot ? (size_t)(dot - text) : strlen(text))};
    if (!dot) break;
    text = dot + 1;
  }
  return video_parse(parts, count, op, imm, mods);
}

typedef struct VideoCase {
  const char *text, *d_select, *a_select, *b_select;
  uint32_t a, b, c, d;
} VideoCase;
static const VideoCase cases[] = {
    {"vabsdiff4.u32.u32.u32.add", "", "", "", 0x01020304, 0x04030201, 100, 108},
    {"vabsdiff4.u32.u32.u32.add", "b20", "", "", 0x01020304, 0x04030201, 100, 104},
    {"vadd4.u32.u32.u32.sat", "", "", "", 0xFF8001F0, 0x0180FE20, 0, 0xFFFFFFFF},
    {"vadd4.u32.u32.u32", "", "", "", 0xFF8001F0, 0x0180FE20, 0, 0x0000FF10},
    {"vadd4.s32.s32.s32.sat", "", "", "", 0x7F80FF01, 0x0180FF01, 0, 0x7F80FE02},
    {"vadd4.u32.u32.u32", "b10", "", "", 0x01010101, 0x02020202, 0xAABBCCDD, 0xAABB0303},
    {"vsub4.u32.u32.u32", "", "b7654", "b3210", 0x01010101, 0x05040302, 0, 0x04030201},
    {"vavrg4.u32.u32.u32", "", "", "", 0x01FF0000, 0x02FF0100, 0, 0x02FF0100},
    {"vavrg2.s32.s32.s32", "", "", "", 0xFFFF0003, 0xFFFE0004, 0, 0xFFFE0004},
    {"vmin2.s32.s32.s32", "", "", "", 0x7FFF8000, 0x80000001, 0, 0x80008000},
    {"vmax2.u32.u32.u32", "h1", "h01", "", 0x00050009, 0x00070001, 0xAAAABBBB, 0x0009BBBB},
    {"vset4.u32.u32.lt", "", "", "", 0x01020304, 0x02020205, 0, 0x01000001},
    {"vset2.s32.s32.ge.add", "", "", "", 0xFFFF0001, 0x00000001, 10, 11},
    {"vadd.s32.u32.s32.sat", "", "b0", "h0", 0x123456FF, 0x0000FFFF, 0, 254},
    {"vadd.u32.u32.u32.sat", "", "", "", 0xFFFFFFFF, 1, 0, 0xFFFFFFFF},
    {"vadd.u32.u32.u32", "", "", "", 0xFFFFFFFF, 1, 0, 0},
    {"vsub.s32.s32.s32.sat", "", "", "", 0x80000000, 1, 0, 0x80000000},
    {"vsub.u32.u32.u32.sat", "b1", "b0", "b0", 3, 5, 0xAABBCCDD, 0xAABB00DD},
    {"vabsdiff.s32.s32.s32.max", "", "", "", 0xFFFFFFFB, 5, 7, 10},
    {"vmin.s32.s32.s32.min", "", "h1", "h0", 0x80000000, 0x00000007, 3, 0xFFFF8000},
    {"vshl.u32.u32.u32.clamp", "", "", "", 1, 40, 0, 0},
    {"vshl.u32.u32.u32.wrap", "", "", "", 1, 40, 0, 256},
    {"vshl.u32.u32.u32.sat.clamp", "", "", "", 3, 31, 0, 0xFFFFFFFF},
    {"vshr.s32.s32.u32.clamp.add", "", "", "", 0x80000000, 99, 5, 4},
    {"vset.u32.u32.ne.add", "", "", "", 1, 2, 41, 42},
    {"vmad.s32.s32.s32.sat", "", "", "", 0x7FFFFFFF, 2, 0, 0x7FFFFFFF},
    {"vmad.u32.u32.u32.shr7", "", "b0", "b1", 0x000000FF, 0x0000FF00, 127, 509},
    {"vmad.u32.u32.u32.po.shr15", "", "", "", 0x8000, 1, 0x7FFF, 2},
};

static uint32_t run(const char *text, const VideoCase *item, bool product, bool addend) {
  Op op;
  uint32_t imm, d[WARP_LANES] = {0}, a[WARP_LANES], b[WARP_LANES], c[WARP_LANES];
  uint16_t mods;
  if (!parse(text, &op, &imm, &mods)) fail_msg("not parsed: %s", text);
  const char *selects[] = {item->d_select, item->a_select, item->b_select};
  for (unsigned i = 0; i < 3; i++)
    if (*selects[i] && !video_select(op, (VideoOperand)i, slice_of(selects[i]), &imm)) fail_msg("%s: no selector %s", text, selects[i]);
  for (unsigned lane = 0; lane < WARP_LANES; lane++) a[lane] = item->a, b[lane] = item->b, c[lane] = item->c;
  LaneOp lanes = {.d = d, .a = a, .b = b, .c = c, .active = ~0u, .mods = mods, .imm = video_negate(imm, product, addend)};
  lane_functions()[op](&lanes);
  return d[0];
}

static void test_cases(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    uint32_t have = run(cases[i].text, &cases[i], false, false);
    if (have != cases[i].d) fail_msg("%zu %s: %08x, not %08x", i, cases[i].text, have, cases[i].d);
  }
}

static void test_negation(void **state) {
  (void)state;
  VideoCase item = {"", "", "", "", 6, 7, 50, 0};
  assert_int_equal(run("vmad.s32.s32.s32", &item, false, false), 92);
  assert_int_equal(run("vmad.s32.s32.s32", &item, true, false), 8);
  assert_int_equal(run("vmad.s32.s32.s32", &item, false, true), (uint32_t)-8);
}

static void test_refused(void **state) {
  (void)state;
  static const char *const texts[] = {"vadd",
                                      "vadd.u32",
                                      "vadd.u32.u32.u32.u32",
                                      "vadd.u32.f32.u32",
                                      "vadd.u32.u32.u32.add.sat",
                                      "vadd3.u32.u32.u32",
                                      "vadd4.u32.u32.u32.sat.add",
                                      "vset4.u32.u32",
                                      "vset4.u32.u32.lo",
                                      "vshl.u32.u32.u32",
                                      "vshl.u32.u32.s32.clamp",
                                      "vset.u32.u32.lt.sat",
                                      "vmad.u32.u32.u32.shr8",
                                      "vavrg.u32.u32.u32",
                                      ""};
  Op op;
  uint32_t imm;
  uint16_t mods;
  for (size_t i = 0; i < COUNT_OF(texts); i++)
    if (parse(texts[i], &op, &imm, &mods)) fail_msg("parsed: %s", texts[i]);
  static const char *const selectors[] = {"b4", "h2", "b", "", "b00", "x", "b321"};
  assert_true(parse("vadd.u32.u32.u32", &op, &imm, &mods));
  for (size_t i = 0; i < COUNT_OF(selectors); i++) assert_false(video_select(op, VIDEO_OPERAND_A, slice_of(selectors[i]), &imm));
  assert_true(parse("vadd4.u32.u32.u32", &op, &imm, &mods));
  for (size_t i = 0; i < COUNT_OF(selectors); i++) assert_false(video_select(op, VIDEO_OPERAND_B, slice_of(selectors[i]), &imm));
  static const char *const bad_masks[] = {"b4", "b00", "b01", "b", "h0"};
  for (size_t i = 0; i < COUNT_OF(bad_masks); i++) assert_false(video_select(op, VIDEO_OPERAND_D, slice_of(bad_masks[i]), &imm));
  assert_false(video_select(OP_VADD2, VIDEO_OPERAND_A, slice_of("h40"), &imm));
  assert_false(video_select(OP_VMAD, VIDEO_OPERAND_D, slice_of("b0"), &imm));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases), cmocka_unit_test(test_negation), cmocka_unit_test(test_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
