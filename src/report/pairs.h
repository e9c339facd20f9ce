// Two journals, A and B, side by side: which of their faults are pairs, and what B changes against A, structure by structure and net.
// compare.c says it of two journals, matrix.c of many.
#ifndef REDOUBT_PAIRS_H
#define REDOUBT_PAIRS_H

#include "journal/statistics.h"
#include "report/report_internal.h"

typedef enum Pairing { PAIRED_FAULTS, PAIRED_PLACES, UNPAIRED } Pairing;

// Whose a structure is that at least one of the two has struck.
typedef enum Presence {
  STRUCK_IN_BOTH,
  ADDED_BY_A, // cells that B does not have: no fault can strike them there
  ADDED_BY_B,
  NOT_COMPARED // what the other one does in it is not known: in no sum
} Presence;

typedef struct StructurePairs {
  const StructureSummary *a, *b; // NULL: not struck there
  Presence presence;
  const char *why; // NOT_COMPARED: why
  double pairs, differ;
  PairedCounts counts[MEASURES]; // in both, in A alone, in B alone, in none
} StructurePairs;

typedef struct Pairs {
  const Report *a, *b;
  Pairing pairing;
  uint64_t moved[OUTCOME_COUNT][OUTCOME_COUNT];
  uint64_t same, places, differ; // same number: same bits and cycle; same bits at the same fraction; others
  uint64_t alone_a, alone_b;     // in one journal only, of structures that both could have
  StructurePairs *structures;
  uint32_t structure_count;
} Pairs;

bool have_common(const Report *a, const Report *b); // structures; else they cannot be compared
bool pairs_read(Pairs *pairs, const Report *a, const Report *b, Diags *diags);
const char *structure_pairs_name(const StructurePairs *structure);
bool is_paired(const Pairs *pairs, const StructurePairs *structure); // else its intervals are those of independent samples

// What a measure is in A and in B, and A less B. Not known: it cannot be compared.
typedef struct Change {
  Estimate a, b, removed;
} Change;
typedef enum ChangeUnit {
  UNIT_SHARE,  // of a structure: its AVF
  UNIT_POINTS, // AVF as a part of all bits of A that are compared: so harm in further cells of B adds up, and no AVF gets smaller by them
  UNIT_FIT
} ChangeUnit;
Change structure_change(const Pairs *pairs, const StructurePairs *structure, Measure measure, ChangeUnit unit);
// Of all structures but those that are not compared. In FIT: of those with a rate.
Change net_change(const Pairs *pairs, Measure measure, ChangeUnit unit);
bool structure_has_fit(const Pairs *pairs, const StructurePairs *structure);

// What B takes more than A, as shares of what A takes; of bits: of the chip's without protections.
typedef struct Cost {
  double time, bits, share_of_bits, energy; // bits: a number, too
  bool has_bits, has_energy;                // else not known: the journal is older, or the machine file gives no energies
} Cost;
Cost pairs_cost(const Pairs *pairs);

// Cells that one side alone has, since its protection needs them, and that its campaign has not struck: the net change lacks them.
typedef struct Unstruck {
  bool is_known;     // false: the journal is older and does not say
  const char *names; // "parity.rf,ecc.l2"; "" with bits: not recorded
  double bits;       // 0: there are none
} Unstruck;
Unstruck unstruck_cells(const Report *report, const Report *other);
// In one line: such cells, and structures that only one side has struck. "": the net change lacks nothing.
const char *net_lacks(const Pairs *pairs);

#endif
