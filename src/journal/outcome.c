// Tables of words: outcomes, how faults are settled, kinds of structures.
#include "journal/journal.h"

const OutcomeInfo outcome_info[OUTCOME_COUNT] = {
#define OUTCOME(id, name, group, part, meaning) {name, group, part, meaning},
#include "journal/outcome.def"
#undef OUTCOME
};

const char *const settled_text[SETTLED_COUNT] = {"run", "hash", "block", "followed", "overwritten", "unread", "class"};
const Way settled_way[SETTLED_COUNT] = {WAY_SIMULATED, WAY_SIMULATED, WAY_FOLLOWED, WAY_FOLLOWED, WAY_UNREAD, WAY_UNREAD, WAY_CLASS};
const char *const way_text[WAY_COUNT] = {"unread", "class", "followed", "simulated"};
const char *const structure_kinds[KIND_COUNT] = {"", "cells", "output", "memory", "scheme"};
const char *const pattern_text[PATTERN_COUNT] = {"", "single", "row", "column", "block", "scattered"};
