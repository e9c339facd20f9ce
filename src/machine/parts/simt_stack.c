// The SIMT stack; see simt_stack.h. Depth stays small: a divergence makes strictly smaller sets of
// lanes, so it can nest at most 31 times between two calls, two entries each.
#include "machine/parts/simt_stack.h"

void simt_start(SimtStack *stack, SimtEntry *entries, uint32_t pc, uint32_t mask) {
  stack->depth = 1;
  stack->alive = mask;
  entries[0] = (SimtEntry){.pc = pc, .reconverge = NO_RECONVERGE, .mask = mask};
}

static void drop_empty(SimtStack *stack, SimtEntry *entries) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < stack->depth; i++) {
    if (entries[i].mask != 0) entries[kept++] = entries[i];
  }
  memset(&entries[kept], 0, (stack->depth - kept) * sizeof *entries); // equal stacks have equal bytes
  stack->depth = kept;
}

// Adds a side of a divergence, unless it is already where the sides meet.
static void push_side(SimtStack *stack, SimtEntry *entries, SimtEntry side) {
  if (side.pc != side.reconverge && side.mask != 0) entries[stack->depth++] = side;
}

bool simt_diverge(SimtStack *stack, SimtEntry *entries, uint32_t taken, uint32_t target, uint32_t next, uint32_t reconverge) {
  if (stack->capacity - stack->depth < 2) return false;
  SimtEntry top = entries[stack->depth - 1];
  bool meets_anew = reconverge != NO_RECONVERGE && reconverge != top.reconverge;
  SimtEntry side = top;
  if (meets_anew) {
    entries[stack->depth - 1].pc = reconverge;
    side.kind = ENTRY_NORMAL;
    side.reconverge = reconverge;
  } else {
    stack->depth--; // the entry where the sides meet is there already, or there is none
  }
  side.pc = target;
  side.mask = taken;
  push_side(stack, entries, side);
  side.pc = next;
  side.mask = top.mask & ~taken;
  push_side(stack, entries, side);
  return true;
}

bool simt_split(SimtStack *stack, SimtEntry *entries, uint32_t lanes, uint32_t rest_pc) {
  if (stack->depth == stack->capacity) return false;
  SimtEntry split = entries[stack->depth - 1];
  SimtEntry rest = split;
  split.mask = lanes;
  rest.mask &= ~lanes;
  rest.pc = rest_pc;
  stack->depth--;
  push_side(stack, entries, rest);
  entries[stack->depth++] = split;
  return true;
}

bool simt_call(SimtStack *stack, SimtEntry *entries, uint32_t lanes, uint32_t target, uint32_t next) {
  if (stack->depth == stack->capacity) return false;
  entries[stack->depth - 1].pc = next;
  entries[stack->depth++] = (SimtEntry){.pc = target, .reconverge = NO_RECONVERGE, .mask = lanes, .kind = ENTRY_CALL};
  return true;
}

void simt_return(SimtStack *stack, SimtEntry *entries, uint32_t lanes) {
  uint32_t inside = lanes; // not yet at the entry of their activation
  for (uint32_t i = stack->depth; i-- > 0 && inside != 0;) {
    uint32_t here = entries[i].mask & inside;
    entries[i].mask &= ~inside;
    if (entries[i].kind == ENTRY_CALL) inside &= ~here;
  }
  stack->alive &= ~inside;
  drop_empty(stack, entries);
}

void simt_exit(SimtStack *stack, SimtEntry *entries, uint32_t lanes) {
  stack->alive &= ~lanes;
  for (uint32_t i = 0; i < stack->depth; i++) entries[i].mask &= ~lanes;
  drop_empty(stack, entries);
}

// Lanes that entries above `index` hold.
static uint32_t lanes_above(const SimtStack *stack, const SimtEntry *entries, uint32_t index) {
  uint32_t above = 0;
  for (uint32_t i = index + 1; i < stack->depth; i++) above |= entries[i].mask;
  return above;
}

static bool is_leaf(const SimtStack *stack, const SimtEntry *entries, uint32_t index) {
  return (lanes_above(stack, entries, index) & entries[index].mask) == 0;
}

static void move_to_top(SimtStack *stack, SimtEntry *entries, uint32_t index) {
  SimtEntry moved = entries[index];
  memmove(&entries[index], &entries[index + 1], (stack->depth - index - 1) * sizeof *entries);
  entries[stack->depth - 1] = moved;
}

bool simt_rotate(SimtStack *stack, SimtEntry *entries, bool but_top) {
  uint32_t end = stack->depth - (but_top ? 1 : 0);
  for (uint32_t i = 0; i < end; i++) {
    if (!entry_is_ready(&entries[i]) || !is_leaf(stack, entries, i)) continue;
    move_to_top(stack, entries, i);
    return true;
  }
  return false;
}

bool simt_release_waiting(SimtStack *stack, SimtEntry *entries) {
  if (stack->depth == stack->capacity) return false;
  for (uint32_t i = 0; i + 1 < stack->depth; i++) {
    uint32_t waiting = entries[i].mask & ~lanes_above(stack, entries, i);
    if (waiting == 0 || waiting == entries[i].mask || !entry_is_ready(&entries[i])) continue;
    SimtEntry released = entries[i];
    released.mask = waiting;
    entries[i].mask &= ~waiting;
    entries[stack->depth++] = released;
    return true;
  }
  return false;
}

uint32_t simt_waiting_at(const SimtStack *stack, const SimtEntry *entries, uint32_t pc, SyncPlace place) {
  uint32_t lanes = 0;
  for (uint32_t i = 0; i < stack->depth; i++) {
    if (entries[i].state != ENTRY_AT_WARP_SYNC || entries[i].place != place) continue;
    if (place == SYNC_BARRIER || entries[i].pc == pc) lanes |= entries[i].mask;
  }
  return lanes;
}

void simt_pass_sync(SimtStack *stack, SimtEntry *entries, uint32_t lanes) {
  for (uint32_t i = 0; i < stack->depth; i++) {
    SimtEntry *entry = &entries[i];
    if (entry->state != ENTRY_AT_WARP_SYNC || (entry->mask & lanes) == 0) continue;
    entry->state = ENTRY_READY;
    entry->pc++;
    if (entry->pc == entry->reconverge) entry->mask = 0;
  }
  drop_empty(stack, entries);
}

bool simt_force(SimtStack *stack, SimtEntry *entries) {
  for (uint32_t i = 0; i < stack->depth; i++) {
    if (entries[i].state != ENTRY_AT_WARP_SYNC) continue;
    entries[i].state = ENTRY_FORCED;
    return true;
  }
  return false;
}

bool simt_has_state(const SimtStack *stack, const SimtEntry *entries, EntryState state) {
  for (uint32_t i = 0; i < stack->depth; i++) {
    if (entries[i].state == state) return true;
  }
  return false;
}
