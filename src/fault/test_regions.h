// A toy machine's structures, for the tests of faults.
#ifndef REDOUBT_FAULT_TEST_REGIONS_H
#define REDOUBT_FAULT_TEST_REGIONS_H

#include "hook/region.h"

// Two SMs with 4 warps: a register file of 8 rows each that tells its accesses, and a queue that does not.
// Functional units: SPs of 16 lanes, and a wide unit of 8.
enum { RF, WARPS, QUEUE, SP, WIDE, REGIONS, QUEUE_BASE = 2 * 8 * 128 + 64, BLOCK = QUEUE_BASE + 64 };

static const Region toy_regions[REGIONS] = {
    [RF] = {.name = "rf",
            .title = "registers",
            .unit = "lane",
            .meaning = "",
            .dims = {{"sm", 2}, {"reg", 8}},
            .dim_count = 2,
            .flags = REGION_HASHED | REGION_INJECTABLE | REGION_TRACED,
            .rows = 16,
            .units = 32,
            .bits = 32,
            .row_bytes = 128,
            .unit_bytes = 4},
    [WARPS] = {.name = "warp.pc",
               .title = "warp table",
               .unit = "",
               .meaning = "",
               .dims = {{"sm", 2}, {"warp", 4}},
               .dim_count = 2,
               .flags = REGION_HASHED | REGION_INJECTABLE,
               .rows = 8,
               .units = 1,
               .bits = 12,
               .base = 2048,
               .row_bytes = 2,
               .unit_bytes = 2},
    [QUEUE] = {.name = "queue",
               .title = "queue",
               .unit = "entry",
               .meaning = "",
               .dims = {{"place", 4}},
               .dim_count = 1,
               .flags = REGION_HASHED | REGION_INJECTABLE,
               .rows = 4,
               .units = 2,
               .bits = 12,
               .base = QUEUE_BASE,
               .row_bytes = 4,
               .unit_bytes = 2},
    [SP] = {.name = "unit.sp",
            .title = "outputs",
            .unit = "lane",
            .meaning = "",
            .dims = {{"sm", 2}, {"sp", 2}},
            .dim_count = 2,
            .flags = REGION_INJECTABLE | REGION_OUTPUT,
            .rows = 4,
            .units = 16,
            .bits = 32},
    [WIDE] = {.name = "unit.wide",
              .title = "outputs",
              .unit = "lane",
              .meaning = "",
              .dims = {{"sm", 2}},
              .dim_count = 1,
              .flags = REGION_INJECTABLE | REGION_OUTPUT,
              .rows = 2,
              .units = 8,
              .bits = 64},
};
static const RegionTable toy_table = {toy_regions, REGIONS, BLOCK};

#endif
