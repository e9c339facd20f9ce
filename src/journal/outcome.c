// Tables of outcomes and of how faults are settled.
#include "journal/journal.h"

const OutcomeInfo outcome_info[OUTCOME_COUNT] = {
#define OUTCOME(id, name, group, meaning) {name, group, meaning},
#include "journal/outcome.def"
#undef OUTCOME
};

const char *const settled_text[SETTLED_COUNT] = {"run", "hash", "block", "followed", "overwritten", "unread", "class"};
const char *const pattern_text[PATTERN_COUNT] = {"", "single", "row", "column", "block", "scattered"};
