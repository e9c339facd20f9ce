// What --observe ace adds to the total of a run: of each structure its bit-cycles by cause, of units lane-cycles, as numbers that studies take.
#include "cli/run.h"

typedef struct FigureName { // which causes a figure sums
  const char *name;
  uint32_t causes;
} FigureName;
#define BIT(id) (1u << ACE_##id)
static const FigureName figure_names[] = {
    {"ace", BIT(DATA) | BIT(ADDRESS) | BIT(CONTROL) | BIT(OUTPUT) | BIT(READ) | BIT(HELD) | BIT(UNDECIDED)},
    {"undecided", BIT(UNDECIDED)},
    {"compared", BIT(COMPARED)},
    {"dead", BIT(DEAD) | BIT(DEAD_LATER)},
    {"inactive", BIT(INACTIVE)},
    {"masked", BIT(MASKED)},
    {"unread", BIT(UNREAD) | BIT(OVERWRITTEN)},
    {"idle", BIT(EMPTY)},
};
#undef BIT

static void add(Run *run, const char *structure, const char *figure, double value) {
  AceFigure *at = VEC_PUSH(&run->result.ace, run->arena);
  char *name = arena_format(run->arena, "ace_%s_%s", strncmp(structure, "unit.", 5) == 0 ? structure + 5 : structure, figure);
  for (char *letter = name; *letter != '\0'; letter++) *letter = *letter == '.' ? '_' : *letter;
  *at = (AceFigure){name, value};
}

static double sum(const uint64_t by_cause[ACE_CAUSES], uint32_t causes) {
  uint64_t all = 0;
  for (uint32_t k = 0; k < ACE_CAUSES; k++) all += (causes >> k & 1) != 0 ? by_cause[k] : 0;
  return (double)all;
}

void ace_figures_take(Run *run, const Ace *ace) {
  run->result.ace.count = 0; // of repeats, the last
  for (uint32_t i = 0; i < ace_structure_count(ace); i++) {
    const AceStructure *structure = ace_structure(ace, i);
    if (structure->told == ACE_OUTSIDE) continue;
    AceSums sums = ace_sums(ace, i);
    double cycles = (double)ace_cycles(ace), parts = structure->is_output ? ACE_PARTS : 1;
    if (structure->is_output) add(run, structure->name, "lane_cycles", cycles * (double)structure->lanes);
    add(run, structure->name, "bit_cycles", cycles * (double)structure->bit_count);
    for (uint32_t k = 0; k < COUNT_OF(figure_names); k++) {
      const FigureName *figure = &figure_names[k];
      add(run, structure->name, figure->name, sum(structure->is_output ? sums.lanes : sums.bits, figure->causes) / parts);
    }
    if (structure->is_output) add(run, structure->name, "bits_ace", sum(sums.bits, figure_names[0].causes) / parts);
  }
}
