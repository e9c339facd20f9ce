// docs/instructions.md, made from the tables: the layout of an instruction word and every row.
#include "isa/isa.h"

typedef struct Chapter {
  const char *title;
  unsigned first; // row; the chapter ends where the next one starts
} Chapter;

// Numbers the rows again, with a mark where each chapter starts.
enum {
#define CHAPTER(id, title) FIRST_##id, BEFORE_##id = FIRST_##id - 1,
#define OP(id, text, kind, unit, flags, d, a, b, c, meaning, body) NUMBER_##id,
#define MEM(id, text, kind, unit, flags, space, d, a, b, c, meaning, body) NUMBER_##id,
#include "isa/isa.def"
#undef CHAPTER
#undef OP
#undef MEM
};

static const Chapter chapters[] = {
#define CHAPTER(id, title) {title, FIRST_##id},
#define OP(id, text, kind, unit, flags, d, a, b, c, meaning, body)
#define MEM(id, text, kind, unit, flags, space, d, a, b, c, meaning, body)
#include "isa/isa.def"
#undef CHAPTER
#undef OP
#undef MEM
};

static const char *const unit_text[UNIT_COUNT] = {
    [UNIT_ALU] = "alu",   [UNIT_FP32] = "fp32", [UNIT_FP64] = "fp64", [UNIT_SFU] = "sfu",       [UNIT_IMUL] = "imul",
    [UNIT_IDIV] = "idiv", [UNIT_LDST] = "ldst", [UNIT_TEX] = "tex",   [UNIT_TENSOR] = "tensor", [UNIT_BRANCH] = "branch",
};

static const char introduction[] =
    "# Instructions\n"
    "\n"
    "Made from `src/isa/*.def`; do not edit. One row per operation and type. `.ftz` and `.sat` are modifiers.\n"
    "Columns d, a, b, c give the operand types; pd and ps are destination and source predicates.\n"
    "\n"
    "## Encoding\n"
    "\n"
    "An instruction is 128 bits, two little-endian 64-bit words. A word that is not exactly what the encoder would make of\n"
    "some instruction is illegal: unused registers are 255 (RZ), unused predicates 15 (PT), other unused fields 0.\n"
    "\n"
    "| word | bits | field |\n"
    "|---|---|---|\n"
    "| low | 11:0 | operation: the row's number |\n"
    "| low | 15:12 | guard predicate; 15 = always |\n"
    "| low | 16 | guard negated |\n"
    "| low | 19:17 | select: 0 = registers; 1, 2, 3 = imm stands for a, b, c; 4, 5, 6 = constant bank for a, b, c |\n"
    "| low | 31:20 | modifiers |\n"
    "| low | 39:32 | register d0 |\n"
    "| low | 47:40 | register (or predicate) a |\n"
    "| low | 55:48 | register b |\n"
    "| low | 63:56 | register c; or source predicate, bit 60 = negated |\n"
    "| high | 31:0 | imm: immediate, constant (bank << 24, byte offset), address offset, branch target, special register, table |\n"
    "| high | 39:32 | register d1; source predicate of rows that also read c |\n"
    "| high | 47:40 | register d2 |\n"
    "| high | 55:48 | register d3 |\n"
    "| high | 55:32 | branches: instruction where the paths meet again |\n"
    "| high | 59:56 | destination predicate pd0 |\n"
    "| high | 63:60 | destination predicate pd1 |\n"
    "\n"
    "Modifier bits: 0 `.ftz`, 1 `.sat`, 3:2 log2 of the vector's length, 4 volatile (warp and barrier instructions: all lanes\n"
    "are members), 5 `.cg`, 6 `.cs`, 7 `.nc`, 8 32-bit address, 9 acquire or release.\n";

static void add_type(TypeId type, Text *out) { text_add(out, "%s | ", type == TYPE_none ? " " : type_info[type].text); }

static void add_predicates(const OpInfo *row, Text *out) {
  const char *out_text = row->flags & IT_PRED_OUT ? "pd0, pd1" : row->flags & IT_CARRY_OUT ? "pd0" : "";
  const char *in_text = row->flags & (IT_PRED_IN | IT_CARRY_IN) ? "ps" : "";
  text_add(out, "%s%s%s | ", out_text, *out_text && *in_text ? ", " : "", in_text);
}

// A bar would end the table's cell.
static void add_escaped(const char *text, Text *out) {
  for (; *text; text++) text_add(out, *text == '|' ? "\\|" : "%c", *text);
}

static void add_row(const OpInfo *row, Text *out) {
  text_add(out, "| `%s` | ", row->text);
  add_type(row->d, out);
  add_type(row->a, out);
  add_type(row->b, out);
  add_type(row->c, out);
  add_predicates(row, out);
  text_add(out, "%s | ", unit_text[row->unit]);
  add_escaped(row->meaning, out);
  text_add(out, " |\n");
}

void instructions_markdown(Text *out) {
  text_add(out, "%s", introduction);
  for (size_t i = 0; i < COUNT_OF(chapters); i++) {
    unsigned end = i + 1 < COUNT_OF(chapters) ? chapters[i + 1].first : (unsigned)OP_COUNT;
    if (chapters[i].first == end) continue;
    text_add(out, "\n## %s\n\n| instruction | d | a | b | c | predicates | unit | meaning |\n|---|---|---|---|---|---|---|---|\n",
             chapters[i].title);
    for (unsigned op = chapters[i].first; op < end; op++) add_row(&op_info[op], out);
  }
}
