// The table of statistics, from stat.def.
#include "machine/machine.h"

const StatInfo stat_info[STAT_COUNT] = {
#define STAT(id, name, unit, meaning) [STAT_##id] = {name, unit, meaning},
#include "machine/stat.def"
#undef STAT
};
