// Cleaning of the control-flow graph: blocks are cut at branches and after their end, jumps to
// jumps are threaded, jumps to a bare return become returns (a guarded one does not end its
// block, so threads that leave early do not hide a reconvergence point), unreachable blocks go,
// straight lines merge. Source lines stay with the instructions.
#include "program/mir_internal.h"

static MirInstr *block_last(MirBlock *block) { return block->instrs.count == 0 ? NULL : &block->instrs.items[block->instrs.count - 1]; }

static bool is_jump(const MirInstr *instr) { return (mir_flags(instr) & (IT_BRANCH | IT_INDIRECT)) == IT_BRANCH; }

// Ends what runs off the function's end, so that every block has successors or an end.
static void close_end(MirFunction *function, Arena *arena) {
  if (function->blocks.count > 0) {
    MirInstr *last = block_last(&function->blocks.items[function->blocks.count - 1]);
    if (last != NULL && mir_ends_path(last)) return;
  }
  MirBlock *block = VEC_PUSH(&function->blocks, arena);
  MirInstr *end = VEC_PUSH(&block->instrs, arena);
  mir_rest(end);
  end->op = OP_RET;
}

// Blocks that end at their first branch or end of path. Remembers where each old block starts.
static void cut_blocks(MirFunction *function, Arena *arena, Arena *scratch) {
  uint32_t old_count = function->blocks.count;
  MirBlock *old = function->blocks.items;
  uint32_t *start = ARENA_ARRAY(scratch, uint32_t, old_count);
  memset(&function->blocks, 0, sizeof function->blocks);
  for (uint32_t b = 0; b < old_count; b++) {
    start[b] = function->blocks.count;
    MirBlock *block = VEC_PUSH(&function->blocks, arena);
    uint32_t first = 0, count = old[b].instrs.count;
    for (uint32_t i = 0; i < count; i++) {
      MirInstr *instr = &old[b].instrs.items[i];
      bool ends = mir_ends_path(instr), branches = (mir_flags(instr) & IT_BRANCH) != 0;
      if (i + 1 < count && !ends && !branches) continue;
      block->instrs.items = &old[b].instrs.items[first];
      block->instrs.count = block->instrs.capacity = i + 1 - first;
      if (branches && (mir_flags(instr) & IT_INDIRECT) != 0) block->indirect_targets = old[b].indirect_targets;
      first = i + 1;
      if (ends || first == count) break;
      block = VEC_PUSH(&function->blocks, arena);
    }
  }
  for (uint32_t b = 0; b < function->blocks.count; b++) {
    MirBlock *block = &function->blocks.items[b];
    MirInstr *last = block_last(block);
    if (last != NULL && is_jump(last)) last->target = start[last->target];
  }
  for (uint32_t b = 0; b < old_count; b++) {
    for (uint32_t t = 0; t < old[b].indirect_targets.count; t++) old[b].indirect_targets.items[t] = start[old[b].indirect_targets.items[t]];
  }
}

static bool is_lone_jump(const MirBlock *block) {
  return block->instrs.count == 1 && is_jump(&block->instrs.items[0]) && !mir_guarded(&block->instrs.items[0]);
}

// Where one step of a jump to block t leads: past an empty block or along a lone jump; t itself if
// the block does something.
static uint32_t next_target(const MirFunction *function, uint32_t t) {
  const MirBlock *block = &function->blocks.items[t];
  if (block->instrs.count == 0 && t + 1 < function->blocks.count) return t + 1;
  return is_lone_jump(block) ? block->instrs.items[0].target : t;
}

// By block: where a jump to it ends up. A ring of jumps ends at the block where a walk closed it.
// Every block is walked over once: `path` lists the blocks of a walk, which share its end.
static uint32_t *final_targets(const MirFunction *function, Arena *scratch) {
  uint32_t count = function->blocks.count;
  uint32_t *final = ARENA_ARRAY(scratch, uint32_t, count);
  uint32_t *path = ARENA_ARRAY(scratch, uint32_t, count);
  bool *walked = ARENA_ARRAY(scratch, bool, count);
  for (uint32_t b = 0; b < count; b++) {
    uint32_t length = 0, t = b;
    for (; !walked[t]; t = next_target(function, t)) {
      walked[t] = true;
      final[t] = t;
      path[length++] = t;
    }
    for (uint32_t i = 0; i < length; i++) final[path[i]] = final[t];
  }
  return final;
}

static void thread_jump(MirFunction *function, MirInstr *jump, const uint32_t *final) {
  jump->target = final[jump->target];
  const MirBlock *target = &function->blocks.items[jump->target];
  if (target->instrs.count != 1) return;
  const MirInstr *only = &target->instrs.items[0];
  if (mir_guarded(only) || (mir_flags(only) & (IT_RETURN | IT_EXITS)) == 0) return;
  jump->op = only->op;
  jump->mods = only->mods;
  jump->target = 0;
}

// "@p bra A; bra B; A:" becomes "@!p bra B; A:".
static void invert_jump(MirFunction *function, uint32_t b) {
  if (b + 2 >= function->blocks.count) return;
  MirInstr *last = block_last(&function->blocks.items[b]);
  MirBlock *middle = &function->blocks.items[b + 1];
  if (last == NULL || !is_jump(last) || !mir_guarded(last) || last->target != b + 2) return;
  if (!is_lone_jump(middle)) return;
  uint32_t target = middle->instrs.items[0].target;
  if (is_lone_jump(&function->blocks.items[target])) return; // a ring of jumps
  last->guard_negated = !last->guard_negated;
  last->target = target;
  middle->instrs.count = 0; // nobody else comes here: jumps to it were threaded
}

static void thread_jumps(MirFunction *function, Arena *scratch) {
  const uint32_t *final = final_targets(function, scratch);
  for (uint32_t b = 0; b < function->blocks.count; b++) {
    MirBlock *block = &function->blocks.items[b];
    MirInstr *last = block_last(block);
    if (last != NULL && is_jump(last)) thread_jump(function, last, final);
    for (uint32_t t = 0; t < block->indirect_targets.count; t++) block->indirect_targets.items[t] = final[block->indirect_targets.items[t]];
  }
  for (uint32_t b = 0; b < function->blocks.count; b++) {
    MirBlock *block = &function->blocks.items[b];
    invert_jump(function, b);
    MirInstr *last = block_last(block);
    if (last == NULL || !is_jump(last) || last->target <= b) continue;
    bool adjacent = true;
    for (uint32_t m = b + 1; adjacent && m < last->target; m++) adjacent = function->blocks.items[m].instrs.count == 0;
    if (adjacent) block->instrs.count--;
  }
}

static void append_block(MirFunction *function, Arena *arena, uint32_t to, uint32_t from) {
  MirBlock *target = &function->blocks.items[to], *source = &function->blocks.items[from];
  for (uint32_t i = 0; i < source->instrs.count; i++) *VEC_PUSH(&target->instrs, arena) = source->instrs.items[i];
  target->indirect_targets = source->indirect_targets;
}

// Drops unreachable blocks and joins each block with the next where nothing else leads there.
static bool compact(MirFunction *function, Arena *arena, Arena *scratch) {
  Cfg cfg;
  cfg_build(&cfg, scratch, function);
  uint32_t *new_index = ARENA_ARRAY(scratch, uint32_t, cfg.count);
  uint32_t kept = 0;
  for (uint32_t b = 0; b < cfg.count; b++) new_index[b] = NONE;
  for (uint32_t b = 0; b < cfg.count; b++) {
    if (cfg.order_of[b] == NONE) continue;
    // The block laid out before it, if b is only ever entered by falling out of that.
    bool one_way = kept > 0 && cfg.pred_start[b + 1] - cfg.pred_start[b] == 1;
    if (one_way) {
      MirBlock *before = &function->blocks.items[kept - 1];
      uint32_t pred = cfg.pred[cfg.pred_start[b]];
      MirInstr *last = block_last(before);
      bool falls = last == NULL || (mir_flags(last) & IT_BRANCH) == 0;
      if (new_index[pred] == kept - 1 && falls && cfg.succ_start[pred + 1] - cfg.succ_start[pred] == 1) {
        append_block(function, arena, kept - 1, b);
        new_index[b] = kept - 1;
        continue;
      }
    }
    new_index[b] = kept;
    function->blocks.items[kept++] = function->blocks.items[b];
  }
  bool changed = kept != function->blocks.count;
  function->blocks.count = kept;
  for (uint32_t b = 0; b < kept; b++) {
    MirBlock *block = &function->blocks.items[b];
    MirInstr *last = block_last(block);
    if (last != NULL && is_jump(last)) last->target = new_index[last->target];
    if (last == NULL || (mir_flags(last) & IT_INDIRECT) == 0 || (mir_flags(last) & IT_BRANCH) == 0) block->indirect_targets.count = 0;
    for (uint32_t t = 0; t < block->indirect_targets.count; t++)
      block->indirect_targets.items[t] = new_index[block->indirect_targets.items[t]];
  }
  return changed;
}

void cfg_clean(MirFunction *function, Arena *arena, Arena *scratch) {
  close_end(function, arena);
  cut_blocks(function, arena, scratch);
  for (unsigned round = 0; round < 8; round++) {
    thread_jumps(function, scratch);
    if (!compact(function, arena, scratch)) break;
  }
}
