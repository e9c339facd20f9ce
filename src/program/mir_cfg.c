// The control-flow graph: successors from the last instruction of each block, dominators after
// Cooper, Harvey and Kennedy ("A Simple, Fast Dominance Algorithm", 2001), loops, post-dominators.
//
// Reconvergence wants the nearest block that every path reaches *or ends before*: threads that
// have left never come back to wait. So post-dominators are taken towards the function's last
// return; other ends do not count, unless a block can reach only those. Guarded returns end no block.
// They count only where there are no others: a kernel that ends with a loop has just the loop's guarded exit.
#include "program/mir_internal.h"

static const MirInstr *last_instr(const MirBlock *block) {
  return block->instrs.count == 0 ? NULL : &block->instrs.items[block->instrs.count - 1];
}

// Lists the successors of a block; at most two and the indirect targets.
static uint32_t list_successors(const MirFunction *function, uint32_t b, uint32_t *out) {
  const MirBlock *block = &function->blocks.items[b];
  const MirInstr *last = last_instr(block);
  uint32_t count = 0;
  if (last != NULL && (mir_flags(last) & IT_BRANCH) != 0) {
    if ((mir_flags(last) & IT_INDIRECT) == 0) {
      out[count++] = last->target;
    } else {
      for (uint32_t i = 0; i < block->indirect_targets.count; i++) out[count++] = block->indirect_targets.items[i];
    }
  }
  bool falls = last == NULL || !mir_ends_path(last);
  if (falls && b + 1 < function->blocks.count) out[count++] = b + 1;
  return count;
}

static void build_edges(Cfg *cfg, Arena *arena, const MirFunction *function) {
  uint32_t most = 0;
  for (uint32_t b = 0; b < cfg->count; b++) most += 2 + function->blocks.items[b].indirect_targets.count;
  cfg->succ_start = ARENA_ARRAY(arena, uint32_t, cfg->count + 1);
  cfg->pred_start = ARENA_ARRAY(arena, uint32_t, cfg->count + 2);
  cfg->succ = ARENA_ARRAY(arena, uint32_t, most);
  uint32_t edges = 0;
  for (uint32_t b = 0; b < cfg->count; b++) {
    cfg->succ_start[b] = edges;
    edges += list_successors(function, b, cfg->succ + edges);
  }
  cfg->succ_start[cfg->count] = edges;
  cfg->pred = ARENA_ARRAY(arena, uint32_t, edges);
  uint32_t *start = cfg->pred_start;
  for (uint32_t e = 0; e < edges; e++) start[cfg->succ[e] + 2]++;
  for (uint32_t b = 0; b < cfg->count; b++) start[b + 2] += start[b + 1];
  for (uint32_t b = 0; b < cfg->count; b++) {
    for (uint32_t e = cfg->succ_start[b]; e < cfg->succ_start[b + 1]; e++) cfg->pred[start[cfg->succ[e] + 1]++] = b;
  }
}

// Depth-first walks along edges (start, to). What one walk has seen, later ones leave out.
typedef struct Walk {
  const uint32_t *start, *to;
  bool *seen;
  uint32_t *stack, *next; // by depth: block, edge to take next
  uint32_t *order;        // of the last walk: reverse postorder
} Walk;

static Walk new_walk(Arena *arena, uint32_t count, const uint32_t *start, const uint32_t *to) {
  return (Walk){.start = start,
                .to = to,
                .seen = ARENA_ARRAY(arena, bool, count),
                .stack = ARENA_ARRAY(arena, uint32_t, count),
                .next = ARENA_ARRAY(arena, uint32_t, count),
                .order = ARENA_ARRAY(arena, uint32_t, count)};
}

// Walks from `roots`. Gives how many blocks were found; walk->order lists them.
static uint32_t reverse_postorder(Walk *walk, const uint32_t *roots, uint32_t root_count) {
  uint32_t finished = 0;
  for (uint32_t r = 0; r < root_count; r++) {
    if (walk->seen[roots[r]]) continue;
    uint32_t depth = 0;
    walk->seen[roots[r]] = true;
    walk->stack[depth] = roots[r];
    walk->next[depth++] = walk->start[roots[r]];
    while (depth > 0) {
      uint32_t b = walk->stack[depth - 1];
      if (walk->next[depth - 1] == walk->start[b + 1]) {
        walk->order[finished++] = b;
        depth--;
        continue;
      }
      uint32_t s = walk->to[walk->next[depth - 1]++];
      if (walk->seen[s]) continue;
      walk->seen[s] = true;
      walk->stack[depth] = s;
      walk->next[depth++] = walk->start[s];
    }
  }
  for (uint32_t i = 0; i < finished / 2; i++) {
    uint32_t other = walk->order[finished - 1 - i];
    walk->order[finished - 1 - i] = walk->order[i];
    walk->order[i] = other;
  }
  return finished;
}

// Nearest common ancestor in the (partial) dominator tree, by position in the order.
static uint32_t intersect(const uint32_t *idom, const uint32_t *order_of, uint32_t a, uint32_t b) {
  while (a != b) {
    while (order_of[a] > order_of[b]) a = idom[a];
    while (order_of[b] > order_of[a]) b = idom[b];
  }
  return a;
}

static void build_dominators(Cfg *cfg) {
  for (uint32_t b = 0; b < cfg->count; b++) cfg->idom[b] = NONE;
  cfg->idom[0] = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t i = 1; i < cfg->order_count; i++) {
      uint32_t b = cfg->order[i], found = NONE;
      for (uint32_t e = cfg->pred_start[b]; e < cfg->pred_start[b + 1]; e++) {
        uint32_t p = cfg->pred[e];
        if (cfg->idom[p] == NONE) continue;
        found = found == NONE ? p : intersect(cfg->idom, cfg->order_of, p, found);
      }
      if (found == cfg->idom[b]) continue;
      cfg->idom[b] = found;
      changed = true;
    }
  }
}

// Numbers the dominator tree so that the blocks below one are a range: a block comes after its
// immediate dominator in the order, so sizes add up backwards and ranges are dealt forwards.
static void number_dominators(Cfg *cfg, Arena *arena) {
  cfg->dom_first = ARENA_ARRAY(arena, uint32_t, cfg->count);
  cfg->dom_size = ARENA_ARRAY(arena, uint32_t, cfg->count);
  uint32_t *next = ARENA_ARRAY(arena, uint32_t, cfg->count);
  for (uint32_t i = cfg->order_count; i-- > 0;) {
    uint32_t b = cfg->order[i];
    cfg->dom_size[b]++;
    if (i > 0) cfg->dom_size[cfg->idom[b]] += cfg->dom_size[b];
  }
  for (uint32_t i = 0; i < cfg->order_count; i++) {
    uint32_t b = cfg->order[i];
    if (i > 0) {
      cfg->dom_first[b] = next[cfg->idom[b]];
      next[cfg->idom[b]] += cfg->dom_size[b];
    }
    next[b] = cfg->dom_first[b] + 1;
  }
}

bool cfg_dominates(const Cfg *cfg, uint32_t above, uint32_t below) {
  return cfg->dom_first[below] - cfg->dom_first[above] < cfg->dom_size[above];
}

// ---- Loops ---------------------------------------------------------------------------------------
// Natural loops with different headers are apart or one inside the other. So they are found from
// the inside out, and a loop that is found counts as one block, its header, for those around it
// (Tarjan 1974). Every edge is looked at once.
typedef struct LoopSearch {
  const Cfg *cfg;
  uint32_t *around; // by block: header of the innermost loop that holds it, other than its own; NONE
  uint32_t *group;  // by block: towards the header of the outermost loop found so far that holds it
  uint32_t *stack;
  bool *is_header;
} LoopSearch;

static uint32_t find_group(uint32_t *group, uint32_t b) {
  while (group[b] != b) b = group[b] = group[group[b]];
  return b;
}

// Follows an edge backwards, from whatever `header`'s loop holds.
static uint32_t reach_back(LoopSearch *search, uint32_t header, uint32_t from, uint32_t top) {
  if (search->cfg->order_of[from] == NONE) return top;
  uint32_t b = find_group(search->group, from);
  if (b == header) return top;
  search->around[b] = search->group[b] = header;
  search->stack[top] = b;
  return top + 1;
}

static void find_loop(LoopSearch *search, uint32_t header) {
  const Cfg *cfg = search->cfg;
  uint32_t top = 0;
  for (uint32_t e = cfg->pred_start[header]; e < cfg->pred_start[header + 1]; e++) {
    uint32_t p = cfg->pred[e];
    if (cfg->order_of[p] == NONE || !cfg_dominates(cfg, header, p)) continue;
    search->is_header[header] = true;
    top = reach_back(search, header, p, top);
  }
  while (top > 0) {
    uint32_t b = search->stack[--top];
    for (uint32_t e = cfg->pred_start[b]; e < cfg->pred_start[b + 1]; e++) top = reach_back(search, header, cfg->pred[e], top);
  }
}

static void build_loops(Cfg *cfg, Arena *arena) {
  LoopSearch search = {.cfg = cfg};
  search.around = ARENA_ARRAY(arena, uint32_t, cfg->count);
  search.group = ARENA_ARRAY(arena, uint32_t, cfg->count);
  search.stack = ARENA_ARRAY(arena, uint32_t, cfg->count);
  search.is_header = ARENA_ARRAY(arena, bool, cfg->count);
  for (uint32_t b = 0; b < cfg->count; b++) {
    search.around[b] = NONE;
    search.group[b] = b;
  }
  for (uint32_t i = cfg->order_count; i-- > 0;) find_loop(&search, cfg->order[i]);
  for (uint32_t i = 0; i < cfg->order_count; i++) {
    uint32_t b = cfg->order[i], around = search.around[b];
    cfg->depth[b] = (around == NONE ? 0 : cfg->depth[around]) + (search.is_header[b] ? 1 : 0);
  }
}

void cfg_build(Cfg *cfg, Arena *arena, const MirFunction *function) {
  memset(cfg, 0, sizeof *cfg);
  cfg->count = function->blocks.count;
  build_edges(cfg, arena, function);
  cfg->order_of = ARENA_ARRAY(arena, uint32_t, cfg->count);
  cfg->idom = ARENA_ARRAY(arena, uint32_t, cfg->count);
  cfg->depth = ARENA_ARRAY(arena, uint32_t, cfg->count);
  const uint32_t entry = 0;
  Walk walk = new_walk(arena, cfg->count, cfg->succ_start, cfg->succ);
  cfg->order_count = reverse_postorder(&walk, &entry, 1);
  cfg->order = walk.order;
  for (uint32_t b = 0; b < cfg->count; b++) cfg->order_of[b] = NONE;
  for (uint32_t i = 0; i < cfg->order_count; i++) cfg->order_of[cfg->order[i]] = i;
  build_dominators(cfg);
  number_dominators(cfg, arena);
  build_loops(cfg, arena);
}

// ---- Post-dominators -----------------------------------------------------------------------------
typedef struct PostDominators {
  const Cfg *cfg;
  Walk walk;          // against the edges
  uint32_t *order_of; // by block; the common exit has the index after the last block
  uint32_t *ipdom;    // the same; NONE so far
  bool *is_root;
} PostDominators;

// Post-dominators towards `roots`, for the blocks that reach one and reached no earlier one. All
// successors of such a block are such blocks, so that nothing else need be looked at.
static void post_dominate(PostDominators *post, const uint32_t *roots, uint32_t root_count) {
  const Cfg *cfg = post->cfg;
  uint32_t *ipdom = post->ipdom, exit = cfg->count;
  const uint32_t *order = post->walk.order;
  uint32_t reachable = reverse_postorder(&post->walk, roots, root_count);
  for (uint32_t i = 0; i < reachable; i++) post->order_of[order[i]] = i + 1;
  for (uint32_t r = 0; r < root_count; r++) {
    ipdom[roots[r]] = exit;
    post->is_root[roots[r]] = true;
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t i = 0; i < reachable; i++) {
      uint32_t b = order[i], found = NONE;
      if (post->is_root[b]) continue;
      for (uint32_t e = cfg->succ_start[b]; e < cfg->succ_start[b + 1]; e++) {
        uint32_t s = cfg->succ[e];
        if (ipdom[s] == NONE) continue;
        found = found == NONE ? s : intersect(ipdom, post->order_of, s, found);
      }
      if (found == ipdom[b]) continue;
      ipdom[b] = found;
      changed = true;
    }
  }
}

// The last block that some threads leave the function in, by a guarded return or exit. NONE: none.
static uint32_t last_leaving(const Cfg *cfg, const MirFunction *function) {
  for (uint32_t b = cfg->count; b-- > 0;) {
    const MirBlock *block = &function->blocks.items[b];
    for (uint32_t i = 0; cfg->order_of[b] != NONE && i < block->instrs.count; i++) {
      if ((mir_flags(&block->instrs.items[i]) & (IT_RETURN | IT_EXITS)) != 0) return b;
    }
  }
  return NONE;
}

uint32_t *cfg_post_dominators(const Cfg *cfg, Arena *arena, const MirFunction *function) {
  PostDominators post = {.cfg = cfg, .walk = new_walk(arena, cfg->count, cfg->pred_start, cfg->pred)};
  post.order_of = ARENA_ARRAY(arena, uint32_t, cfg->count + 1);
  post.ipdom = ARENA_ARRAY(arena, uint32_t, cfg->count + 1);
  post.is_root = ARENA_ARRAY(arena, bool, cfg->count);
  uint32_t *ends = ARENA_ARRAY(arena, uint32_t, cfg->count);
  uint32_t end_count = 0, main_end = NONE;
  for (uint32_t b = 0; b < cfg->count; b++) {
    post.ipdom[b] = NONE;
    const MirInstr *last = last_instr(&function->blocks.items[b]);
    if (cfg->order_of[b] == NONE || last == NULL || !mir_ends_path(last) || (mir_flags(last) & IT_BRANCH) != 0) continue;
    ends[end_count++] = b;
    if ((mir_flags(last) & IT_TRAPS) == 0) main_end = b;
  }
  if (main_end == NONE) main_end = last_leaving(cfg, function); // a loop from which every thread leaves by a guarded exit
  post.ipdom[cfg->count] = cfg->count;
  if (main_end != NONE) post_dominate(&post, &main_end, 1);
  if (end_count > 0) post_dominate(&post, ends, end_count);
  // Endless loops: towards their last block.
  for (uint32_t b = cfg->count; b-- > 0;) {
    if (cfg->order_of[b] != NONE && !post.walk.seen[b]) post_dominate(&post, &b, 1);
  }
  for (uint32_t b = 0; b < cfg->count; b++) {
    if (post.ipdom[b] == cfg->count) post.ipdom[b] = NONE;
  }
  return post.ipdom;
}
