// What a trial tells, and trials that go the way of an earlier one. See trial.c.
#ifndef REDOUBT_TRIAL_H
#define REDOUBT_TRIAL_H

#include "settle/follow.h"

// What a worker tells of a fault: its outcome, or with settled == SETTLED_COUNT words that differ after the launch, or its trap.
typedef struct TrialHead {
  Record record;
  uint32_t launch, count;
  bool is_open;        // they are those that were left open: the others are known
  bool is_whole;       // the launch was the last and has come to its end: record.cycles is the time of the run
  bool is_corrected;   // then: a protection has put something right
  uint32_t settles_as; // Settled, of what is followed further
  // Nothing is told before the golden run has come to its end: then record says what it is if memory is the same, by this hash.
  bool is_waiting;
  uint64_t memory;
  Trap trap;
} TrialHead;
typedef VEC(TrialHead) TrialHeadVec;

// ---- Trials that have ended (ends.c) -------------------------------------------------------------------
// Two trials in the same state in the same cycle end alike. So a trial leaves a mark wherever its state is looked at; one that comes upon such a
// mark is over.
typedef struct TrialLook {
  uint64_t cycle;
  uint64_t digest;    // of the state, see machine_digest
  uint64_t hash;      // 0: it was not taken. Such marks tell that another trial was here in a state that may be the same
  uint64_t corrected; // so far: no part of the state
} TrialLook;
typedef struct KnownEnd {
  TrialHead head; // its record.id is that of the first
  WordList words;
} KnownEnd;
typedef struct TrialEnds TrialEnds;
TrialEnds *trial_ends_new(void);
void trial_ends_free(TrialEnds *ends);
void trial_ends_begin(TrialEnds *ends);                                             // the next trial
const KnownEnd *trial_ends_find(const TrialEnds *ends, const TrialLook *look);      // of an earlier one that was here; NULL: none was
void trial_ends_mark(TrialEnds *ends, const TrialLook *look);                       // this one was
void trial_ends_add(TrialEnds *ends, const TrialHead *head, const WordList *words); // it has ended so

#endif
