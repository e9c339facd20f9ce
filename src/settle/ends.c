// Marks of trials by state, in a hash table; see trial.h.
#include "settle/trial.h"

#include <stdlib.h>

enum { FIRST_ROOM = 1024, MOST_MARKS = 1 << 20, MOST_PENDING = 256, MOST_END_WORDS = 1 << 24, NO_END = UINT32_MAX };

typedef struct Mark {
  TrialLook look;
  uint32_t end; // NO_END: there is none
} Mark;

struct TrialEnds {
  Mark *marks; // by hash, then the next free one
  uint32_t room, count;
  Mark pending[MOST_PENDING]; // of the trial that is under way
  uint32_t pending_count;
  KnownEnd *ends;
  uint32_t end_room, end_count;
  uint64_t words; // of all ends
};

static Mark *marks_new(uint32_t room) {
  Mark *marks = malloc(room * sizeof *marks);
  ASSERT(marks != NULL);
  for (uint32_t i = 0; i < room; i++) marks[i].end = NO_END;
  return marks;
}

TrialEnds *trial_ends_new(void) {
  TrialEnds *ends = calloc(1, sizeof *ends);
  ASSERT(ends != NULL);
  ends->room = FIRST_ROOM;
  ends->marks = marks_new(ends->room);
  return ends;
}

void trial_ends_free(TrialEnds *ends) {
  if (ends == NULL) return;
  for (uint32_t i = 0; i < ends->end_count; i++) words_free(&ends->ends[i].words);
  free(ends->ends);
  free(ends->marks);
  free(ends);
}

void trial_ends_begin(TrialEnds *ends) { ends->pending_count = 0; }

static bool is_same(const TrialLook *a, const TrialLook *b) {
  return a->cycle == b->cycle && a->digest == b->digest && a->hash == b->hash && a->corrected == b->corrected;
}

// Its place, or the one that it would have.
static Mark *place_of(const TrialEnds *ends, const TrialLook *look) {
  uint32_t at = (uint32_t)(look->hash ^ look->digest ^ look->cycle) & (ends->room - 1);
  while (ends->marks[at].end != NO_END && !is_same(&ends->marks[at].look, look)) at = (at + 1) & (ends->room - 1);
  return &ends->marks[at];
}

const KnownEnd *trial_ends_find(const TrialEnds *ends, const TrialLook *look) {
  const Mark *mark = place_of(ends, look);
  return mark->end == NO_END ? NULL : &ends->ends[mark->end];
}

void trial_ends_mark(TrialEnds *ends, const TrialLook *look) {
  if (ends->pending_count < MOST_PENDING) ends->pending[ends->pending_count++].look = *look;
}

static void make_room(TrialEnds *ends) {
  if (2 * (ends->count + MOST_PENDING) < ends->room) return;
  Mark *old = ends->marks;
  uint32_t room = ends->room;
  ends->room *= 2;
  ends->marks = marks_new(ends->room);
  for (uint32_t i = 0; i < room; i++) {
    if (old[i].end != NO_END) *place_of(ends, &old[i].look) = old[i];
  }
  free(old);
}

static uint32_t add_end(TrialEnds *ends, const TrialHead *head, const WordList *words) {
  if (ends->end_count == ends->end_room) {
    ends->end_room = 2 * ends->end_room + 64;
    ends->ends = realloc(ends->ends, ends->end_room * sizeof *ends->ends);
    ASSERT(ends->ends != NULL);
  }
  KnownEnd *end = &ends->ends[ends->end_count];
  *end = (KnownEnd){.head = *head};
  for (uint32_t i = 0; i < head->count; i++) words_add(&end->words, words->items[i].address, words->items[i].value);
  ends->words += head->count;
  return ends->end_count++;
}

void trial_ends_add(TrialEnds *ends, const TrialHead *head, const WordList *words) {
  bool has_room = ends->count < MOST_MARKS && ends->words < MOST_END_WORDS;
  if (ends->pending_count == 0 || !has_room) return;
  uint32_t end = add_end(ends, head, words);
  make_room(ends);
  for (uint32_t i = 0; i < ends->pending_count; i++) {
    Mark *mark = place_of(ends, &ends->pending[i].look);
    ends->count += mark->end == NO_END;
    *mark = (Mark){ends->pending[i].look, end};
  }
  ends->pending_count = 0;
}
