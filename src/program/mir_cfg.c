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
  if (last != NULL && (mir_flags(last) & OP_BRANCH) != 0) {
    if ((mir_flags(last) & OP_INDIRECT) == 0) {
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

// Depth-first walk from `roots` along edges (start, to); fills order with reverse postorder.
static uint32_t reverse_postorder(Arena *arena, uint32_t count, const uint32_t *start, const uint32_t *to, const uint32_t *roots,
                                  uint32_t root_count, uint32_t *order) {
  bool *seen = ARENA_ARRAY(arena, bool, count);
  uint32_t *stack = ARENA_ARRAY(arena, uint32_t, count);
  uint32_t *next = ARENA_ARRAY(arena, uint32_t, count);
  uint32_t *post = ARENA_ARRAY(arena, uint32_t, count);
  uint32_t finished = 0;
  for (uint32_t r = 0; r < root_count; r++) {
    if (seen[roots[r]]) continue;
    uint32_t depth = 0;
    seen[roots[r]] = true;
    stack[depth] = roots[r];
    next[depth++] = start[roots[r]];
    while (depth > 0) {
      uint32_t b = stack[depth - 1];
      if (next[depth - 1] == start[b + 1]) {
        post[finished++] = b;
        depth--;
        continue;
      }
      uint32_t s = to[next[depth - 1]++];
      if (seen[s]) continue;
      seen[s] = true;
      stack[depth] = s;
      next[depth++] = start[s];
    }
  }
  for (uint32_t i = 0; i < finished; i++) order[i] = post[finished - 1 - i];
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

bool cfg_dominates(const Cfg *cfg, uint32_t above, uint32_t below) {
  while (cfg->order_of[below] > cfg->order_of[above]) below = cfg->idom[below];
  return above == below;
}

// Adds one to the depth of every block of the natural loop with this header.
static void mark_loop(Cfg *cfg, uint32_t header, uint32_t *mark, uint32_t *stack) {
  uint32_t top = 0;
  mark[header] = header + 1;
  cfg->depth[header]++;
  for (uint32_t e = cfg->pred_start[header]; e < cfg->pred_start[header + 1]; e++) {
    uint32_t p = cfg->pred[e];
    if (cfg->order_of[p] == NONE || !cfg_dominates(cfg, header, p) || mark[p] == header + 1) continue;
    mark[p] = header + 1;
    cfg->depth[p]++;
    stack[top++] = p;
  }
  while (top > 0) {
    uint32_t b = stack[--top];
    for (uint32_t e = cfg->pred_start[b]; e < cfg->pred_start[b + 1]; e++) {
      uint32_t p = cfg->pred[e];
      if (cfg->order_of[p] == NONE || mark[p] == header + 1) continue;
      mark[p] = header + 1;
      cfg->depth[p]++;
      stack[top++] = p;
    }
  }
}

static void build_loops(Cfg *cfg, Arena *arena) {
  uint32_t *mark = ARENA_ARRAY(arena, uint32_t, cfg->count);
  uint32_t *stack = ARENA_ARRAY(arena, uint32_t, cfg->count);
  for (uint32_t i = 0; i < cfg->order_count; i++) {
    uint32_t header = cfg->order[i];
    bool is_header = false;
    for (uint32_t e = cfg->pred_start[header]; e < cfg->pred_start[header + 1]; e++) {
      uint32_t p = cfg->pred[e];
      if (cfg->order_of[p] != NONE && cfg_dominates(cfg, header, p)) is_header = true;
    }
    if (is_header) mark_loop(cfg, header, mark, stack);
  }
}

void cfg_build(Cfg *cfg, Arena *arena, const MirFunction *function) {
  memset(cfg, 0, sizeof *cfg);
  cfg->count = function->blocks.count;
  build_edges(cfg, arena, function);
  cfg->order = ARENA_ARRAY(arena, uint32_t, cfg->count);
  cfg->order_of = ARENA_ARRAY(arena, uint32_t, cfg->count);
  cfg->idom = ARENA_ARRAY(arena, uint32_t, cfg->count);
  cfg->depth = ARENA_ARRAY(arena, uint32_t, cfg->count);
  const uint32_t entry = 0;
  cfg->order_count = reverse_postorder(arena, cfg->count, cfg->succ_start, cfg->succ, &entry, 1, cfg->order);
  for (uint32_t b = 0; b < cfg->count; b++) cfg->order_of[b] = NONE;
  for (uint32_t i = 0; i < cfg->order_count; i++) cfg->order_of[cfg->order[i]] = i;
  build_dominators(cfg);
  build_loops(cfg, arena);
}

// ---- Post-dominators -----------------------------------------------------------------------------
// Post-dominators towards `roots`, for blocks without a result so far. Marks what reaches a root.
static void post_dominate(const Cfg *cfg, Arena *arena, const uint32_t *roots, uint32_t root_count, bool *reached, uint32_t *result) {
  uint32_t count = cfg->count, exit = count;
  uint32_t *order = ARENA_ARRAY(arena, uint32_t, count);
  uint32_t *order_of = ARENA_ARRAY(arena, uint32_t, count + 1);
  uint32_t *ipdom = ARENA_ARRAY(arena, uint32_t, count + 1);
  uint32_t reachable = reverse_postorder(arena, count, cfg->pred_start, cfg->pred, roots, root_count, order);
  for (uint32_t b = 0; b <= count; b++) ipdom[b] = NONE;
  for (uint32_t i = 0; i < reachable; i++) order_of[order[i]] = i + 1;
  order_of[exit] = 0;
  ipdom[exit] = exit;
  for (uint32_t r = 0; r < root_count; r++) ipdom[roots[r]] = exit;
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t i = 0; i < reachable; i++) {
      uint32_t b = order[i], found = NONE;
      bool is_root = false;
      for (uint32_t r = 0; r < root_count; r++) is_root |= roots[r] == b;
      if (is_root) continue;
      for (uint32_t e = cfg->succ_start[b]; e < cfg->succ_start[b + 1]; e++) {
        uint32_t s = cfg->succ[e];
        if (ipdom[s] == NONE) continue;
        found = found == NONE ? s : intersect(ipdom, order_of, s, found);
      }
      if (found == ipdom[b]) continue;
      ipdom[b] = found;
      changed = true;
    }
  }
  for (uint32_t i = 0; i < reachable; i++) {
    uint32_t b = order[i];
    if (reached[b]) continue;
    reached[b] = true;
    result[b] = ipdom[b] == exit ? NONE : ipdom[b];
  }
}

// The last block that some threads leave the function in, by a guarded return or exit. NONE: none.
static uint32_t last_leaving(const Cfg *cfg, const MirFunction *function) {
  for (uint32_t b = cfg->count; b-- > 0;) {
    const MirBlock *block = &function->blocks.items[b];
    for (uint32_t i = 0; cfg->order_of[b] != NONE && i < block->instrs.count; i++) {
      if ((mir_flags(&block->instrs.items[i]) & (OP_RETURN | OP_EXITS)) != 0) return b;
    }
  }
  return NONE;
}

uint32_t *cfg_post_dominators(const Cfg *cfg, Arena *arena, const MirFunction *function) {
  uint32_t *result = ARENA_ARRAY(arena, uint32_t, cfg->count);
  bool *reached = ARENA_ARRAY(arena, bool, cfg->count);
  uint32_t *ends = ARENA_ARRAY(arena, uint32_t, cfg->count);
  uint32_t end_count = 0, main_end = NONE;
  for (uint32_t b = 0; b < cfg->count; b++) {
    result[b] = NONE;
    const MirInstr *last = last_instr(&function->blocks.items[b]);
    if (cfg->order_of[b] == NONE || last == NULL || !mir_ends_path(last) || (mir_flags(last) & OP_BRANCH) != 0) continue;
    ends[end_count++] = b;
    if ((mir_flags(last) & OP_TRAPS) == 0) main_end = b;
  }
  if (main_end == NONE) main_end = last_leaving(cfg, function); // a loop from which every thread leaves by a guarded exit
  if (main_end != NONE) post_dominate(cfg, arena, &main_end, 1, reached, result);
  if (end_count > 0) post_dominate(cfg, arena, ends, end_count, reached, result);
  // Endless loops: towards their last block.
  for (uint32_t b = cfg->count; b-- > 0;) {
    if (cfg->order_of[b] != NONE && !reached[b]) post_dominate(cfg, arena, &b, 1, reached, result);
  }
  return result;
}
