// Colouring of aligned tuples: Chaitin and Briggs ("Improvements to Graph Coloring Register
// Allocation", 1994) with degrees counted in aligned places, after Smith, Ramsey and Holloway's
// generalisation; optimistic. A second order, by place in the code, is perfect for straight
// SSA-like code; the caller takes whichever fits.
#include "program/mir_internal.h"

#include <stdlib.h>

typedef struct Candidate {
  float score;
  VregId vreg;
} Candidate;

typedef struct Colouring {
  const Graph *graph;
  const Work *work;
  const Vreg *vregs;
  bool predicates;
  uint32_t count; // colours
  VregId *nodes;  // virtual registers of this kind that occur
  uint32_t node_count;
  uint32_t *degree; // by vreg: places that neighbours may take
  bool *removed;    // by vreg
  uint32_t *stamp, stamp_now;
  VregId *stack; // in order of removal
  uint32_t stack_count;
  VregVec low[4]; // by width: sure to find a place
  Arena *arena;
} Colouring;

static unsigned width_of(const Colouring *c, VregId v) { return c->vregs[v].width == 0 ? 1 : c->vregs[v].width; }
static unsigned width_class(unsigned width) { return width == 8 ? 3 : width == 4 ? 2 : width == 2 ? 1 : 0; }

// Aligned places for a value of this width.
static uint32_t places(unsigned width, uint32_t count) {
  static const uint8_t shift[4] = {0, 1, 2, 2};
  if (count < width) return 0;
  return width == 8 ? (count - 8) / 4 + 1 : count >> shift[width_class(width)];
}

// Places of a value of width `of` that one of width `by` can take away.
static uint32_t places_blocked(unsigned of, unsigned by) {
  static const uint8_t table[4][4] = {{1, 2, 4, 8}, {1, 1, 2, 4}, {1, 1, 1, 2}, {2, 2, 2, 3}};
  return table[width_class(of)][width_class(by)];
}

static bool takes_part(const Colouring *c, VregId v) {
  return (c->vregs[v].width == 0) == c->predicates && c->graph->first[v] != NONE && v != c->work->function->frame_pointer &&
         v != c->work->callee_frame;
}

// Calls visit-like code once per neighbouring vreg: fills `out`, returns how many.
static uint32_t neighbours(Colouring *c, VregId v, VregId *out) {
  const Live *live = c->graph->live;
  uint32_t count = 0;
  c->stamp_now++;
  for (uint32_t u = live->unit_base[v]; u < live->unit_base[v + 1]; u++) {
    for (uint32_t e = c->graph->start[u]; e < c->graph->start[u + 1]; e++) {
      VregId n = live->vreg_of[c->graph->adjacent[e]];
      if (c->stamp[n] == c->stamp_now || !takes_part(c, n)) continue;
      c->stamp[n] = c->stamp_now;
      out[count++] = n;
    }
  }
  return count;
}

static int compare_candidates(const void *left, const void *right) {
  const Candidate *a = left, *b = right;
  if (a->score != b->score) return a->score < b->score ? -1 : 1;
  return a->vreg < b->vreg ? -1 : a->vreg > b->vreg;
}

static void note_low(Colouring *c, VregId v) { *VEC_PUSH(&c->low[width_class(width_of(c, v))], c->arena) = v; }

static void remove_node(Colouring *c, VregId v, VregId *scratch) {
  c->removed[v] = true;
  c->stack[c->stack_count++] = v;
  uint32_t count = neighbours(c, v, scratch);
  for (uint32_t i = 0; i < count; i++) {
    VregId n = scratch[i];
    if (c->removed[n]) continue;
    uint32_t room = places(width_of(c, n), c->count), before = c->degree[n];
    c->degree[n] -= places_blocked(width_of(c, n), width_of(c, v));
    if (before >= room && c->degree[n] < room) note_low(c, n);
  }
}

static bool pop_low(Colouring *c, VregId *v) {
  for (unsigned k = 0; k < COUNT_OF(c->low); k++) {
    while (c->low[k].count > 0) {
      *v = c->low[k].items[--c->low[k].count];
      if (!c->removed[*v]) return true;
    }
  }
  return false;
}

// Order of removal: what surely fits first, then what is cheapest to spill.
static void simplify(Colouring *c) {
  VregId *scratch = ARENA_ARRAY(c->arena, VregId, c->graph->live->vreg_count);
  Candidate *candidates = ARENA_ARRAY(c->arena, Candidate, c->node_count);
  for (uint32_t i = 0; i < c->node_count; i++) {
    VregId v = c->nodes[i];
    uint32_t count = neighbours(c, v, scratch);
    c->degree[v] = c->work->reserve_r0 && !c->predicates ? places_blocked(width_of(c, v), 1) : 0;
    for (uint32_t k = 0; k < count; k++) c->degree[v] += places_blocked(width_of(c, v), width_of(c, scratch[k]));
    float score = work_is_temp(c->work, v) ? 1e30f : c->graph->cost[v] / (float)(c->degree[v] + 1);
    candidates[i] = (Candidate){score, v};
    if (c->degree[v] < places(width_of(c, v), c->count)) note_low(c, v);
  }
  qsort(candidates, c->node_count, sizeof *candidates, compare_candidates);
  uint32_t next = 0;
  while (c->stack_count < c->node_count) {
    VregId v;
    if (!pop_low(c, &v)) {
      while (c->removed[candidates[next].vreg]) next++;
      v = candidates[next].vreg;
    }
    remove_node(c, v, scratch);
  }
}

// ---- Choosing colours --------------------------------------------------------------------------------
typedef struct Places {
  uint64_t blocked[4]; // by first register
} Places;
static bool is_blocked(const Places *places_, uint32_t at) { return (places_->blocked[at / 64] >> at % 64 & 1) != 0; }

static Places blocked_places(const Colouring *c, VregId v, const uint8_t *colours, const bool *done) {
  Places result = {{0, 0, 0, 0}};
  const Live *live = c->graph->live;
  for (uint32_t u = live->unit_base[v]; u < live->unit_base[v + 1]; u++) {
    uint32_t part = u - live->unit_base[v];
    for (uint32_t e = c->graph->start[u]; e < c->graph->start[u + 1]; e++) {
      uint32_t other = c->graph->adjacent[e];
      VregId n = live->vreg_of[other];
      if (!done[n]) continue;
      uint32_t taken = colours[n] + (other - live->unit_base[n]);
      if (taken >= part) result.blocked[(taken - part) / 64] |= UINT64_C(1) << (taken - part) % 64;
    }
  }
  if (c->work->reserve_r0 && !c->predicates) result.blocked[0] |= 1;
  return result;
}

// The lowest free place; single registers go beside taken ones, to keep pairs whole.
static uint32_t choose_place(const Colouring *c, VregId v, const Places *blocked, uint32_t wish) {
  unsigned width = width_of(c, v);
  uint32_t step = min_u32(width, 4), lowest = NONE;
  if (wish != NONE && wish % step == 0 && wish + width <= c->count && !is_blocked(blocked, wish)) return wish;
  for (uint32_t at = 0; at + width <= c->count; at += step) {
    if (is_blocked(blocked, at)) continue;
    if (width > 1 || c->predicates || is_blocked(blocked, at ^ 1) || (at ^ 1) >= c->count) return at;
    if (lowest == NONE) lowest = at;
  }
  return lowest;
}

// Colours nodes[order[..]]; what finds no place goes to failed.
static bool assign(const Colouring *c, const VregId *order, bool backwards, uint8_t *colours, VregVec *failed) {
  bool *done = ARENA_ARRAY(c->arena, bool, c->graph->live->vreg_count);
  failed->count = 0;
  for (uint32_t i = 0; i < c->node_count; i++) {
    VregId v = order[backwards ? c->node_count - 1 - i : i], partner = c->graph->partner[v];
    Places blocked = blocked_places(c, v, colours, done);
    uint32_t wish = partner != NONE && done[partner] && width_of(c, partner) == width_of(c, v) ? colours[partner] : NONE;
    uint32_t place = choose_place(c, v, &blocked, wish);
    if (place == NONE) {
      *VEC_PUSH(failed, c->arena) = v;
      continue;
    }
    colours[v] = (uint8_t)place;
    done[v] = true;
  }
  return failed->count == 0;
}

static int compare_u64(const void *left, const void *right) {
  uint64_t a, b;
  memcpy(&a, left, sizeof a);
  memcpy(&b, right, sizeof b);
  return a < b ? -1 : a > b;
}

// By first place in the code.
static VregId *code_order(const Colouring *c) {
  uint64_t *keys = ARENA_ARRAY(c->arena, uint64_t, c->node_count);
  VregId *order = ARENA_ARRAY(c->arena, VregId, c->node_count);
  for (uint32_t i = 0; i < c->node_count; i++) keys[i] = (uint64_t)c->graph->first[c->nodes[i]] << 32 | c->nodes[i];
  qsort(keys, c->node_count, sizeof *keys, compare_u64);
  for (uint32_t i = 0; i < c->node_count; i++) order[i] = (VregId)keys[i];
  return order;
}

bool colour_try(const Graph *graph, Arena *arena, const Work *work, bool predicates, uint32_t count, uint8_t *colours, VregVec *failed) {
  Arena *scratch = arena_new();
  uint32_t vreg_count = graph->live->vreg_count;
  Colouring c = {
      .graph = graph, .work = work, .vregs = work->function->vregs.items, .predicates = predicates, .count = count, .arena = scratch};
  c.nodes = ARENA_ARRAY(scratch, VregId, vreg_count);
  c.degree = ARENA_ARRAY(scratch, uint32_t, vreg_count);
  c.removed = ARENA_ARRAY(scratch, bool, vreg_count);
  c.stamp = ARENA_ARRAY(scratch, uint32_t, vreg_count);
  c.stack = ARENA_ARRAY(scratch, VregId, vreg_count);
  for (VregId v = 0; v < vreg_count; v++) {
    if (takes_part(&c, v)) c.nodes[c.node_count++] = v;
  }
  VregVec missed = {0};
  bool fits = assign(&c, code_order(&c), false, colours, &missed);
  if (!fits) {
    simplify(&c);
    fits = assign(&c, c.stack, true, colours, &missed);
  }
  failed->count = 0;
  for (uint32_t i = 0; i < missed.count; i++) *VEC_PUSH(failed, arena) = missed.items[i];
  arena_free(scratch);
  return fits;
}
