// Which faults a campaign draws.
#ifndef REDOUBT_CAMPAIGN_INTERNAL_H
#define REDOUBT_CAMPAIGN_INTERNAL_H

#include "campaign/campaign.h"
#include "campaign/draw.h"
#include "campaign/golden.h"

enum { MOST_STRUCTURES = 256 };
// ---- A part of a structure (structure_part.c) ----------------------------------------------------------------
typedef struct StructurePart {
  bool is_part;                        // false: the whole structure
  bool is_held[REGION_MAX_DIMS + 2];   // by key: dimensions, unit, bit
  uint64_t value[REGION_MAX_DIMS + 2]; // of those
} StructurePart;
bool part_parse(const Region *region, const char *keys, StructurePart *part, Diags *diags); // "sm=1,lane=3]"
void part_shape(const Region *region, const StructurePart *part, uint64_t *rows, uint32_t *units, uint32_t *bits);
Site part_site(const RegionTable *table, uint16_t region, const StructurePart *part, uint64_t number); // its n-th bit
bool part_has_row(const Region *region, const StructurePart *part, uint64_t row);
uint32_t part_units(const Region *region, const StructurePart *part);               // of a row, as a mask
uint64_t part_hash(const Region *region, const StructurePart *part, uint64_t seed); // of its name: the same however its keys were ordered

// ---- Faults drawn (sample.c) ---------------------------------------------------------------------
typedef struct Population {
  uint16_t regions[MOST_STRUCTURES];
  uint64_t bits[MOST_STRUCTURES];
  StructurePart parts[MOST_STRUCTURES];
  uint64_t seeds[MOST_STRUCTURES]; // of a structure's draws: the campaign's, and its name
  uint16_t dealt[MOST_STRUCTURES]; // structures by their place in a round: the machine's, then those of a protection
  uint32_t count;
  uint32_t machine_count;       // that are the machine's; all of them if every one is a protection's
  uint64_t first_cycle, cycles; // when faults strike
  const char *kernel;           // all launches of this kernel, `cycles` in all; NULL: [first_cycle, first_cycle + cycles)
  const Golden *golden;
  Fault pattern; // model and its arguments
  uint64_t seed;
  bool every;                   // not drawn: fault i is the i-th bit of all structures, at a drawn time
  bool by_bits;                 // fault i strikes a bit drawn over all structures
  const struct UsedSpace *used; // places of faults that are drawn from what is used (used.h); NULL: drawn from all
} Population;
bool population_make(Population *population, const Golden *golden, const CampaignOptions *options, Diags *diags);
double population_size(const Population *population, uint32_t structure); // bits times cycles
uint64_t population_total(const Population *population);                  // bits of all structures
// Which structure a fault strikes: they are dealt evenly, to every shard too. What is said of all weighs them by their bits.
uint32_t population_structure(const Population *population, uint64_t id);
// Number of the fault within its structure. With that and the structure's name its draws are made, whatever else is struck. Of faults that
// are not dealt, its own number.
uint64_t population_number(const Population *population, uint64_t id);
uint64_t population_seed(const Population *population, uint32_t structure); // of the draws of its faults
// Numbers of all faults if the machine's structures get that many: a protection's own get as many each.
uint64_t population_dealt(const Population *population, uint64_t faults);
Fault population_draw(const Population *population, const RegionTable *table, uint64_t id);

// ---- A campaign under way (campaign.c) -------------------------------------------------------------
typedef struct Campaign {
  Target *target;
  const CampaignOptions *options;
  CampaignOptions asked; // these, with what was not said
  Arena *arena;
  Golden golden;
  Population population;
  struct UsedSpace *used; // of the batch that was drawn last (used.h); NULL: faults are drawn from all
  Arena *used_arena;      // which has it
  Journal *journal;
  CampaignProgress progress, told; // so far; when all of it was last on disk
  Draw *draws;                     // of the current batch, in order of id
  uint32_t draw_count;
  uint64_t first_id;
  Arena *batch_arena;
  VEC(Record) detected;               // of the current batch: what would have come of them is not known yet
  bool is_unanswered;                 // which is what is being found out
  uint32_t *class_first, *class_next; // by draw: the first and the next of its class that is to be told, from 1; 0: none
  uint64_t part_first, part_end;      // faults of other numbers are not ours
  uint8_t *known;                     // outcomes by id, from part_first on, that are in the journal; NOT_KNOWN: none
  uint64_t known_count;
  uint64_t sample_end; // faults of ours with smaller numbers are all known
  // By structure, what sequential stopping looks at: of the batches so far, whoever settled them; sure enough when this one began.
  uint64_t settled[MOST_STRUCTURES], bad[MOST_STRUCTURES];
  bool tight[MOST_STRUCTURES];
  uint32_t uncommitted;
  double committed_at; // by a clock, in seconds
  Listener listener;
  bool is_checked; // a second run without faults was the same
  bool stopped;
  bool differs; // the self-check has failed
  Diags *diags;
} Campaign;
bool campaign_report(Campaign *at); // tells what is on disk; false: it was stopped

// ---- Rows of faults (rows.c) -------------------------------------------------------------------------
enum { NOT_KNOWN = 0xFF };
bool rows_is_ours(const Campaign *at, uint64_t id);
uint8_t rows_outcome(const Campaign *at, uint64_t id); // of one that is in the journal, or NOT_KNOWN
void rows_know(Campaign *at, uint64_t id, uint8_t outcome);
bool rows_is_left(const Campaign *at, uint64_t id);                   // ours, and not there since an earlier run
void rows_count_settled(Campaign *at, uint64_t id, uint32_t outcome); // for sequential stopping
void rows_list_classes(Campaign *at, Arena *arena);
bool rows_put_seen(Campaign *at);
bool rows_take(void *context, const Record *told); // of a listener: what has become of a fault
bool rows_commit(Campaign *at);
uint64_t rows_cycles(const Campaign *at, const Record *record); // as its row has them: 0 where they are not known

// ---- The self-check (verify.c) -------------------------------------------------------------------------
struct Settling;
bool campaign_verify(Campaign *at, uint64_t total); // once all faults of ours are in the journal; total: of the whole campaign
// Decides them by the ways that simulate alone, whose list is that of at->options.
bool campaign_simulate(Campaign *at, struct Settling *settling, Draw *live, uint32_t count);

#endif
