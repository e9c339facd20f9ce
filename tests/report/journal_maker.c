// Makes a journal of made-up faults, for tests and measurements of reports: journal_maker FILE FAULTS [odd|PROTECTION] [DONE]
// Or FOLDER FAULTS parts N, shards N: the same campaign as N journals, FOLDER/0.db and so on.
// Outcomes, places and lines are drawn at random but always the same; nothing is simulated. "odd": texts that a page or a
// table could stumble over. DONE: how many of the faults are there; the campaign was stopped then.
#include "journal/journal.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { LAUNCHES = 4, LAUNCH_CYCLES = 25000, CYCLES = LAUNCHES * LAUNCH_CYCLES, LINES = 600, COMMIT_EVERY = 65536 };

static const StructureRow structures[] = {
    {.region = 3,
     .name = "rf",
     .title = "register file",
     .rows = 15 * 1024,
     .units = 32,
     .bits = 32,
     .used = 0.25,
     .raw_fit_per_mbit = 1200},
    {.region = 5, .name = "shared", .title = "shared memory", .rows = 15 * 384, .units = 32, .bits = 32, .raw_fit_per_mbit = 1200},
    {.region = 9, .name = "l2", .title = "L2 cache: lines", .rows = 6144, .units = 32, .bits = 32, .used = 0.6, .raw_fit_per_mbit = 1200},
    {.region = 11,
     .name = "stack.pc",
     .title = "SIMT stack: program counter",
     .rows = 720,
     .units = 128,
     .bits = 24,
     .raw_fit_per_mbit = 900},
};

static const JournalMeta made_up = {.target = "made-up",
                                    .arguments = "size=none\n",
                                    .machine = "fermi-gtx480",
                                    .settings = "sm.count=15\n",
                                    .protection = "none",
                                    .model = "flip",
                                    .structures = "rf,shared,l2,stack.pc",
                                    .window = "all",
                                    .seed = 1,
                                    .timeout = 10,
                                    .shards = 1};

static bool put_frame(Journal *journal, Diags *diags) {
  GoldenRow launches[LAUNCHES];
  for (uint32_t i = 0; i < LAUNCHES; i++) {
    launches[i] =
        (GoldenRow){.launch = i + 1, .kernel = i % 2 == 0 ? "first_kernel" : "second_kernel", .began_at = i * (uint64_t)LAUNCH_CYCLES};
    launches[i].cycles = LAUNCH_CYCLES;
    launches[i].thread_instructions = 3200000;
    launches[i].warp_instructions = 100000;
  }
  return journal_put_golden(journal, launches, LAUNCHES, diags) &&
         journal_put_structures(journal, structures, COUNT_OF(structures), diags) && journal_commit(journal, diags);
}

// Of a thousand faults 900 are masked and 25 SDCs, for all patterns of wrong elements; the others have every outcome but internal errors.
static uint8_t draw_outcome(uint64_t bits) {
  uint64_t share = random_below(bits, 1000);
  return share < 900 ? OUTCOME_MASKED : share < 925 ? OUTCOME_SDC : (uint8_t)(share % OUTCOME_INTERNAL);
}

static bool put_fault(Journal *journal, uint64_t id, bool odd, Diags *diags) {
  const StructureRow *structure = &structures[random_below(random_draw(1, id, 0), COUNT_OF(structures))];
  uint64_t cycle = random_below(random_draw(1, id, 1), CYCLES);
  uint8_t outcome = draw_outcome(random_draw(1, id, 2));
  bool wrong = strcmp(outcome_info[outcome].group, "sdc") == 0, masked = outcome == OUTCOME_MASKED;
  char fault[128];
  snprintf(fault, sizeof fault, "flip:%s[sm=%u,row=%u,unit=%u,bit=%u]@%" PRIu64, structure->name,
           (unsigned)random_below(random_draw(1, id, 3), 15), (unsigned)random_below(random_draw(1, id, 4), structure->rows),
           (unsigned)random_below(random_draw(1, id, 5), structure->units), (unsigned)random_below(random_draw(1, id, 6), structure->bits),
           cycle);
  FaultRow row = fault_row();
  row.id = row.class_of = id;
  row.fault = fault;
  row.model = "flip";
  row.region = structure->region;
  row.sm = (int64_t)random_below(random_draw(1, id, 3), 15);
  row.bit = (int64_t)random_below(random_draw(1, id, 6), structure->bits);
  row.cycle = cycle;
  row.outcome = outcome;
  row.opcode = id % 3 == 0 ? "add.f32" : id % 3 == 1 ? "ld.global.b32" : "";
  row.pattern = wrong ? (uint8_t)(PATTERN_SINGLE + id % 5) : PATTERN_NONE;
  row.launch = (uint32_t)(cycle / LAUNCH_CYCLES) + 1;
  row.settled = masked ? (uint8_t)(SETTLED_HASH + random_below(random_draw(1, id, 7), 3)) : SETTLED_RUN;
  row.line = masked && row.settled != SETTLED_HASH ? 0 : 20 + (uint32_t)random_below(random_draw(1, id, 8), LINES);
  row.cycles = outcome == OUTCOME_TIMEOUT ? 10 * (uint64_t)CYCLES : CYCLES;
  row.wrong = wrong ? 1 + random_below(random_draw(1, id, 9), 4096) : 0;
  row.worst = wrong ? (id % 5 == 0 ? (double)INFINITY : random_unit_f64(random_draw(1, id, 10))) : 0;
  row.note = odd && id % 7 == 0 ? "</script><!--<script>alert(1)</script> \"quoted\", \xff \xc3\xa9 'x' & y"
             : masked           ? ""
             : wrong            ? "output 'sum'"
                                : "first_kernel: line 42: trap";
  return journal_put_fault(journal, &row, diags);
}

// A run of numbers, or every N-th, of the faults.
static bool write_piece(const char *folder, uint64_t faults, uint64_t piece, uint64_t pieces, bool is_part) {
  Diags diags = {0};
  char path[4096];
  snprintf(path, sizeof path, "%s/%" PRIu64 ".db", folder, piece);
  JournalMeta meta = made_up;
  uint64_t size = (faults + pieces - 1) / pieces, first = is_part ? piece * size : piece, step = is_part ? 1 : pieces;
  uint64_t end = is_part && first + size < faults ? first + size : faults;
  if (is_part) meta.first = first, meta.end = end;
  if (!is_part) meta.shard = piece, meta.shards = pieces;
  Journal *journal = journal_open(path, &meta, &diags);
  bool good = journal != NULL && put_frame(journal, &diags) && journal_begin(journal, &(JournalPlan){faults, 0, 0.99}, &diags);
  for (uint64_t i = first; i < end && good; i += step) good = put_fault(journal, i, false, &diags);
  good = good && journal_reached(journal, end, true, &diags) && journal_commit(journal, &diags);
  journal_close(journal);
  diags_free(&diags);
  return good;
}

static int write_pieces(char **argv) {
  uint64_t faults = strtoull(argv[2], NULL, 10), pieces = strtoull(argv[4], NULL, 10);
  for (uint64_t i = 0; i < pieces; i++) {
    if (!write_piece(argv[1], faults, i, pieces, strcmp(argv[3], "parts") == 0)) return 1;
  }
  return 0;
}

int main(int argc, char **argv) {
  Diags diags = {0};
  if (argc < 3) return 2;
  if (argc > 4 && (strcmp(argv[3], "parts") == 0 || strcmp(argv[3], "shards") == 0)) return write_pieces(argv);
  uint64_t faults = strtoull(argv[2], NULL, 10);
  bool odd = argc > 3 && strcmp(argv[3], "odd") == 0;
  JournalMeta meta = made_up;
  if (odd) meta.target = "</script><b>odd</b>";
  if (argc > 3 && !odd) meta.protection = argv[3];
  Journal *journal = journal_open(argv[1], &meta, &diags);
  uint64_t done = argc > 4 ? strtoull(argv[4], NULL, 10) : faults;
  bool good = journal != NULL && put_frame(journal, &diags) && journal_begin(journal, &(JournalPlan){faults, 0, 0.99}, &diags);
  for (uint64_t i = 0; i < done && good; i++) {
    good = put_fault(journal, i, odd, &diags) && ((i + 1) % COMMIT_EVERY != 0 || journal_commit(journal, &diags));
  }
  if (done == faults) good = good && journal_reached(journal, faults, true, &diags);
  good = good && journal_commit(journal, &diags);
  journal_close(journal);
  for (uint32_t i = 0; i < diags.count; i++) fprintf(stderr, "%s: %s\n", argv[1], diags.items[i].text);
  diags_free(&diags);
  return good ? 0 : 1;
}
