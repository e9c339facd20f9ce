// Beyond the thesis: stuck-at faults, other structures than the block scheduler, and 1 to 16 SMs.
//
// Upsets in other structures are simulated one by one from the nearest snapshot until the machine is that of the fault-free
// run again; stuck-at faults from beginning to end.
#include "flexgrip/study_internal.h"

#include <inttypes.h>
#include <stdlib.h>

enum { APPS_CELLS = STUDY_CAMPAIGNS * 2, SM_STEPS = 5, BATCH = 16, MOST_CELLS = APPS_CELLS + SM_STEPS * STRUCTURE_COUNT * STUDY_MODELS };

static const char *const model_name[STUDY_MODELS] = {"upset", "stuck-at-0", "stuck-at-1"};

typedef struct Beyond {
  StudyCampaign *cells;
  uint32_t count;
  const StudyOptions *options;
} Beyond;

static void add_cell(Beyond *beyond, const StudyConfig *config, StudyStructure structure, StudyModel model) {
  ASSERT(beyond->count < MOST_CELLS);
  StudyCampaign *cell = &beyond->cells[beyond->count];
  cell->config = *config;
  cell->structure = structure;
  cell->model = model;
  cell->faults = beyond->options->faults;
  cell->stream = random_draw(beyond->options->seed, beyond->count++, 1);
}

static void add_row(const StudyCampaign *cell, double confidence, Text *out, Text *csv) {
  text_add(out, "%-10s %2u SM %3u blocks  %-18s %-10s", study_app_name[cell->config.app], cell->config.sms, study_blocks(&cell->config),
           study_structure_name[cell->structure], model_name[cell->model]);
  text_add(csv, "%s,%u,%u,%s,%s,%" PRIu64 ",%" PRIu64, study_app_name[cell->config.app], cell->config.sms, study_blocks(&cell->config),
           study_structure_name[cell->structure], model_name[cell->model], golden_bits(cell->golden), cell->all.total);
  for (uint32_t k = 0; k < CLASS_COUNT; k++) {
    uint64_t hits = study_tally_class(&cell->all, (StudyClass)k);
    Interval interval = wilson_interval(hits, cell->all.total, confidence);
    if (k != CLASS_MASKED)
      text_add(out, "  %5.1f (%4.1f to %4.1f)", 100 * (double)hits / (double)cell->all.total, 100 * interval.low, 100 * interval.high);
    text_add(csv, ",%" PRIu64 ",%.6f,%.6f", hits, interval.low, interval.high);
  }
  text_add(out, "\n");
  text_add(csv, "\n");
}

static void add_head(Text *out, const char *what) {
  text_add(out, "\n%s\n%-24s  %-18s %-10s  %-21s %-21s %s\n", what, "", "", "", "SDC %", "DUE %", "performance %");
}

static void add_cells(Beyond *beyond) {
  for (uint32_t i = 0; i < STUDY_CAMPAIGNS; i++) {
    add_cell(beyond, &study_configs[i], STRUCTURE_SCHEDULER, MODEL_STUCK_0);
    add_cell(beyond, &study_configs[i], STRUCTURE_SCHEDULER, MODEL_STUCK_1);
  }
  StudyConfig config = study_configs[1]; // the vector addition with 32 blocks
  for (config.sms = 1; config.sms <= 16; config.sms *= 2) {
    for (uint32_t structure = 0; structure < STRUCTURE_COUNT; structure++) {
      for (uint32_t model = 0; model < STUDY_MODELS; model++) add_cell(beyond, &config, (StudyStructure)structure, (StudyModel)model);
    }
  }
}

// A few at a time, because snapshots of many SMs take much memory.
bool study_beyond(const StudyOptions *options, Text *out, Text *csv, Diags *diags) {
  Beyond beyond = {.cells = calloc(MOST_CELLS, sizeof(StudyCampaign)), .options = options};
  ASSERT(beyond.cells != NULL);
  add_cells(&beyond);
  text_add(out, "Beyond the thesis: %u faults in each row, so that it ends in minutes (--faults N for more); intervals at %.4g%%.\n",
           options->faults, 100 * options->confidence);
  text_add(csv, "app,sms,blocks,structure,model,bits,faults,sdc,sdc_low,sdc_high,due,due_low,due_high,performance,performance_low,"
                "performance_high,masked,"
                "masked_low,masked_high\n");
  add_head(out, "Stuck-at faults of the block scheduler, the thesis's 16 configurations");
  bool good = true;
  for (uint32_t first = 0; first < beyond.count && good; first += BATCH) {
    uint32_t count = min_u32(BATCH, beyond.count - first);
    good = study_run(&beyond.cells[first], count, options->workers, diags);
    for (uint32_t i = first; i < first + count && good; i++) {
      if (i == APPS_CELLS) add_head(out, "The vector addition on 1 to 16 SMs: structures and fault models");
      add_row(&beyond.cells[i], options->confidence, out, csv);
    }
    study_campaigns_free(&beyond.cells[first], count);
  }
  free(beyond.cells);
  return good;
}
