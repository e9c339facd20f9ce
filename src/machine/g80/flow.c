// Control flow of a warp: masks and the divergence stack (instruction reference, sections 7 and 8).
//
// The released RTL acts once per lane group on BRK and RET, which breaks BRK below 32 SPs and RET at 32, and lets one
// warp's end kill another that returns from a call. Here the control unit acts once per warp instruction, at every width.
#include "machine/g80/g80_internal.h"

typedef enum StackToken { TOKEN_SYNC, TOKEN_DIVERGE, TOKEN_CALL, TOKEN_BREAK } StackToken;
enum { STACK_USED = G80_STACK - 1 }; // a push that finds 31 entries is dropped

typedef struct StackEntry {
  uint32_t mask, token, pc;
} StackEntry;

static uint32_t *stack_cell(const G80Machine *m, RegionId id, uint32_t sm, uint32_t warp, uint32_t entry) {
  return table_words(m, id) + (size_t)(sm * G80_WARPS + (warp & 31)) * G80_STACK + (entry & (G80_STACK - 1));
}

static uint32_t entry_number(uint32_t sm, uint32_t warp, uint32_t entry) {
  return warp_number(sm, warp) * G80_STACK + (entry & (G80_STACK - 1));
}
static void put_entry(const G80Machine *m, RegionId id, uint32_t sm, const G80Job *job, uint32_t entry, uint32_t value) {
  *stack_cell(m, id, sm, job->warp, entry) = value;
  writes_for(m, id, entry_number(sm, job->warp, entry), 1, job);
}
static uint32_t get_entry(const G80Machine *m, RegionId id, uint32_t sm, const G80Job *job, uint32_t entry) {
  reads_for(m, id, entry_number(sm, job->warp, entry), 1, job);
  return *stack_cell(m, id, sm, job->warp, entry);
}
static void set_depth(const G80Machine *m, uint32_t sm, const G80Job *job, uint32_t depth) {
  *warp_cell(m, REGION_ID_stack_pointer, sm, job->warp) = depth;
  writes_for(m, REGION_ID_stack_pointer, warp_number(sm, job->warp), 1, job);
}

static uint32_t stack_depth(const G80Machine *m, uint32_t sm, const G80Job *job) {
  reads_for(m, REGION_ID_stack_pointer, warp_number(sm, job->warp), 1, job);
  return *warp_cell(m, REGION_ID_stack_pointer, sm, job->warp) & (G80_STACK - 1);
}

static void push(G80Machine *m, uint32_t sm, const G80Job *job, StackEntry entry) {
  uint32_t depth = stack_depth(m, sm, job);
  if (depth >= STACK_USED) return;
  put_entry(m, REGION_ID_stack_mask, sm, job, depth, entry.mask);
  put_entry(m, REGION_ID_stack_token, sm, job, depth, entry.token);
  put_entry(m, REGION_ID_stack_pc, sm, job, depth, entry.pc);
  set_depth(m, sm, job, depth + 1);
}

// The stack must not be empty.
static StackEntry pop(G80Machine *m, uint32_t sm, const G80Job *job) {
  uint32_t depth = (stack_depth(m, sm, job) - 1) & (G80_STACK - 1);
  set_depth(m, sm, job, depth);
  return (StackEntry){get_entry(m, REGION_ID_stack_mask, sm, job, depth), get_entry(m, REGION_ID_stack_token, sm, job, depth) & 3,
                      get_entry(m, REGION_ID_stack_pc, sm, job, depth)};
}

// .S: the instruction has its mask; then the warp goes on with the other side, or with all.
void flow_join(G80Machine *m, uint32_t sm, G80Job *job) {
  if (stack_depth(m, sm, job) == 0) {
    reads_for(m, REGION_ID_wp_initial, warp_number(sm, job->warp), 1, job);
    job->next_mask = job->active = *warp_cell(m, REGION_ID_wp_initial, sm, job->warp);
    return;
  }
  StackEntry entry = pop(m, sm, job);
  job->next_mask = entry.mask;
  if (entry.token != TOKEN_SYNC && stack_depth(m, sm, job) != 0) job->next_pc = entry.pc;
}

static FlowEffect branch(G80Machine *m, uint32_t sm, const SassInstr *instr, G80Job *job) {
  uint32_t taken = job->active;
  if (taken == 0) return FLOW_NONE;
  uint32_t others = job->current & ~taken, next = job->next_pc;
  job->next_pc = instr->target;
  if (others == 0) return FLOW_NONE;
  push(m, sm, job, (StackEntry){others, TOKEN_DIVERGE, next});
  job->next_mask = taken;
  return FLOW_PUSHED;
}

static FlowEffect go_back(G80Machine *m, uint32_t sm, G80Job *job) {
  StackEntry entry = pop(m, sm, job);
  job->next_mask = entry.mask;
  job->next_pc = entry.pc;
  return FLOW_POPPED;
}

static FlowEffect finish(G80Machine *m, uint32_t sm, G80Job *job) {
  if (stack_depth(m, sm, job) != 0) { // whatever lies on top; the guard is not looked at
    job->returns = 1;
    return go_back(m, sm, job);
  }
  job->next_mask = job->current & ~job->active;
  job->ends = job->next_mask == 0;
  return FLOW_NONE;
}

static FlowEffect leave_loop(G80Machine *m, uint32_t sm, G80Job *job) {
  bool all = job->active == job->current && job->current != 0;
  if (all && stack_depth(m, sm, job) != 0) return go_back(m, sm, job);
  job->next_mask = job->current & ~job->active; // they come back with the mask of PBK
  return FLOW_NONE;
}

FlowEffect flow_execute(G80Machine *m, uint32_t sm, const SassInstr *instr, G80Job *job) {
  switch ((SassAction)instr->action) {
  case SASS_DO_BRANCH: return branch(m, sm, instr, job);
  case SASS_DO_SSY: push(m, sm, job, (StackEntry){job->current, TOKEN_SYNC, instr->target}); return FLOW_PUSHED;
  case SASS_DO_PBK: push(m, sm, job, (StackEntry){job->current, TOKEN_BREAK, instr->target}); return FLOW_PUSHED;
  case SASS_DO_CALL:
    push(m, sm, job, (StackEntry){job->current, TOKEN_CALL, job->next_pc});
    job->next_pc = instr->target;
    return FLOW_PUSHED;
  case SASS_DO_RETURN: return finish(m, sm, job);
  case SASS_DO_BREAK: return leave_loop(m, sm, job);
  default: return FLOW_NONE;
  }
}
