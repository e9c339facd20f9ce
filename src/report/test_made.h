// Journals for tests of the FMEDA: one structure each, its faults in stretches of outcomes.
#ifndef REDOUBT_TEST_MADE_H
#define REDOUBT_TEST_MADE_H

#include "report/fmeda.h"
#include "report/test_shelf.h"

enum { MOST_FAULTS = 4096, RUN_CYCLES = 1000 };

typedef struct Made {
  const char *protection, *model, *structure, *standing, *target, *arguments;
  uint64_t seed;
  const uint8_t *outcomes;
  const uint64_t *cycles;    // when it was detected; NULL: not known
  const int8_t *read;        // NULL: all are read
  const uint8_t *unanswered; // NULL: not known
  uint32_t count;
  double fit_per_mbit;
  StructureKind kind;
  const char *window;     // NULL: "all"
  const char *structures; // as asked for; NULL: `structure`
  const char *settings;   // further ones
  uint32_t chip_mbit;     // 0: not known
  uint32_t scheme_bits;
} Made;

static inline void put_faults(Journal *journal, const Made *made) {
  for (uint32_t i = 0; i < made->count; i++) {
    char fault[96];
    snprintf(fault, sizeof fault, "%s:%s[row=%u,bit=0]@100", made->model, made->structure, (unsigned)(i + 1000 * made->seed));
    FaultRow row = fault_row();
    row.id = row.class_of = i;
    row.fault = fault;
    row.model = made->model;
    row.region = 3;
    row.cycle = 100;
    row.launch = 1;
    row.outcome = made->outcomes[i];
    row.cycles = made->cycles == NULL ? 0 : made->cycles[i];
    row.read = made->read == NULL ? 1 : made->read[i];
    if (made->unanswered != NULL) row.unanswered = made->unanswered[i];
    shelf_put(journal, &row);
  }
}

// One structure of 2^20 bits: the rate per Mbit is its rate.
static inline void make(Shelf *shelf, const Made *made) {
  char settings[128];
  snprintf(settings, sizeof settings, "clock.core_khz=1000\n%s", made->settings == NULL ? "" : made->settings); // a cycle is a microsecond
  JournalMeta meta = {.target = made->target == NULL ? "made-up" : made->target,
                      .arguments = made->arguments == NULL ? "size=none\n" : made->arguments,
                      .machine = "somewhere",
                      .settings = settings,
                      .protection = made->protection,
                      .model = made->model,
                      .structures = made->structures == NULL ? made->structure : made->structures,
                      .window = made->window == NULL ? "all" : made->window,
                      .standing = made->standing,
                      .seed = made->seed,
                      .timeout = 10,
                      .shards = 1};
  StructureRow structure = {.region = 3, .name = made->structure, .title = "made up", .rows = 1 << 15, .units = 1, .bits = 32};
  structure.raw_fit_per_mbit = made->fit_per_mbit;
  structure.kind = (uint8_t)made->kind;
  Journal *journal = shelf_begin(&meta, &structure, 1, RUN_CYCLES, made->count);
  shelf_note(journal, NOTE_CHIP_BITS, (uint64_t)made->chip_mbit << 20);
  shelf_note(journal, NOTE_SCHEME_BITS, made->scheme_bits);
  put_faults(journal, made);
  shelf_end(shelf, journal, made->count);
}

static inline Fmeda *read_all(const Shelf *shelf, uint32_t tests, const FmedaOptions *options) {
  Diags diags = {0};
  Fmeda *fmeda = fmeda_read(shelf->reports, shelf->count, tests, options, &diags);
  if (fmeda == NULL) fail_msg("%s", diags.items[0].text);
  return fmeda;
}

// Outcomes in stretches: {count, outcome}, ended by a count of 0.
typedef struct Stretch {
  uint32_t count;
  Outcome outcome;
} Stretch;
static inline uint32_t lay(uint8_t *outcomes, const Stretch *stretches) {
  uint32_t count = 0;
  for (; stretches->count > 0; stretches++) {
    for (uint32_t i = 0; i < stretches->count; i++) outcomes[count++] = (uint8_t)stretches->outcome;
  }
  return count;
}

static inline const FmedaCell *cell_named(const Fmeda *fmeda, const char *structure, FmedaType type) {
  for (uint32_t i = 0; i < fmeda->cells.count; i++) {
    if (strcmp(fmeda->cells.items[i].structure, structure) == 0 && fmeda->cells.items[i].type == type) return &fmeda->cells.items[i];
  }
  fail_msg("no cell %s", structure);
  return NULL;
}

#endif
