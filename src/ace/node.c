// Whether the results of an instruction are needed, lane by lane. Both answers come from later instructions: a lane is live as soon as one that
// matters has read it, and dead when it can be read no more and everyone who has read it is dead. Each answer goes on to the instructions whose
// values this one has read. Work is queued in the nodes themselves, so that chains of any length need no stack.
//
// References of a lane: one until the instruction is written back, one for each row where a result still lies, one for each reader that is
// not decided. None left, and not live: dead. They are counted in binary, a mask of lanes for each digit.
#include "ace/ace_internal.h"

// ---- References ------------------------------------------------------------------------------------

static uint32_t lanes_in(const Node *node, uint32_t lanes) { return node->is_store ? (uint32_t)(lanes != 0) : lanes; }

void node_add(Node *node, uint32_t lanes) {
  if (node->is_store) {
    node->ref_count += lanes != 0;
    return;
  }
  for (uint32_t i = 0; i < REF_PLANES && lanes != 0; i++) {
    uint32_t carry = node->refs[i] & lanes;
    node->refs[i] ^= lanes;
    lanes = carry;
  }
  node->many |= lanes;
}

static uint32_t without_references(const Node *node) {
  if (node->is_store) return node->ref_count == 0;
  uint32_t some = node->many;
  for (uint32_t i = 0; i < REF_PLANES; i++) some |= node->refs[i];
  return ~some;
}

static void queue_dead(Flow *flow, uint32_t number, Node *node) {
  uint32_t mask = node->is_store ? 1 : node->mask;
  uint32_t lanes = without_references(node) & mask & ~node->live & ~node->dead & ~node->queued_dead;
  if (lanes == 0) return;
  if (node->queued_dead == 0) {
    node->next_dead = flow->dead_queue;
    flow->dead_queue = number;
  }
  node->queued_dead |= lanes;
}

void node_drop(Flow *flow, uint32_t number, uint32_t lanes) {
  if (!node_is_there(flow, number)) return;
  Node *node = node_at(flow, number);
  if (node->is_store) {
    node->ref_count -= lanes != 0;
  } else {
    lanes &= ~node->many;
    for (uint32_t i = 0; i < REF_PLANES && lanes != 0; i++) {
      uint32_t borrow = ~node->refs[i] & lanes;
      node->refs[i] ^= lanes;
      lanes = borrow;
    }
  }
  queue_dead(flow, number, node);
}

void node_needed(Flow *flow, uint32_t number, uint32_t lanes, bool is_sure) {
  if (!node_is_there(flow, number)) return;
  Node *node = node_at(flow, number);
  lanes = lanes_in(node, lanes) & ~node->live & ~node->queued_live;
  if (lanes == 0) return;
  if (is_sure) node->sure |= lanes;
  if (node->queued_live == 0) {
    node->next_live = flow->live_queue;
    flow->live_queue = number;
  }
  node->queued_live |= lanes;
}

// ---- Spreading --------------------------------------------------------------------------------------

// Which lanes of the value a source concerns when `lanes` of its node are decided; of one that looks at all lanes, all at the first (live) or at
// the last (dead).
static uint32_t lanes_of(const Node *node, const Source *source, uint32_t lanes, bool all_decided) {
  if (node->is_store) return lanes != 0 ? source->lanes : 0;
  if (source->is_whole) return all_decided ? source->lanes : 0;
  return source->lanes & lanes;
}

static void settle(Flow *flow, Node *node) {
  uint32_t mask = node->is_store ? 1 : node->mask;
  if (node->is_settled || ((node->live | node->dead) & mask) != mask) return;
  node->is_settled = true;
  for (uint32_t i = 0; i < node->source_count; i++) {
    Value *value = &flow->values[node->sources[i].value];
    value->open--;
    if (value->open == 0 && value->held == 0) value_settle(flow, node->sources[i].value);
  }
}

static void spread_live(Flow *flow, uint32_t number) {
  Node *node = node_at(flow, number);
  uint32_t lanes = node->queued_live;
  bool is_first = node->live == 0;
  node->queued_live = 0;
  node->live |= lanes;
  node->dead &= ~lanes; // cannot be: what is dead cannot be read any more
  for (uint32_t i = 0; i < node->source_count; i++) __builtin_prefetch(&flow->values[node->sources[i].value], 1);
  for (uint32_t i = 0; i < node->source_count && !node->is_settled; i++) {
    const Source *source = &node->sources[i];
    uint32_t concerned = lanes_of(node, source, lanes, is_first);
    bool is_sure = (node->sure & lanes) == lanes;
    Role role = node->is_memory ? ROLE_OUTPUT : ROLE_DATA;
    if (concerned != 0) value_needed(flow, &flow->values[source->value], source, concerned, role, is_sure);
  }
  settle(flow, node);
}

static void spread_dead(Flow *flow, uint32_t number) {
  Node *node = node_at(flow, number);
  uint32_t lanes = node->queued_dead & ~node->live & ~node->queued_live, mask = node->is_store ? 1 : node->mask;
  node->queued_dead = 0;
  node->dead |= lanes;
  bool is_last = lanes != 0 && (node->dead & mask) == mask;
  for (uint32_t i = 0; i < node->source_count && lanes != 0 && !node->is_settled; i++) {
    const Source *source = &node->sources[i];
    Value *value = &flow->values[source->value];
    uint32_t concerned = lanes_of(node, source, lanes, is_last);
    uint32_t later = source->is_whole || node->is_store ? (node->read != 0 ? concerned : 0) : concerned & node->read;
    value->later |= later;
    if (concerned != 0) node_drop(flow, value->maker, concerned);
  }
  settle(flow, node);
}

// Live first: what is found live is never dead.
void flow_spread(Flow *flow) {
  while (flow->live_queue != NOBODY || flow->dead_queue != NOBODY) {
    if (flow->live_queue != NOBODY) {
      uint32_t number = flow->live_queue;
      flow->live_queue = node_at(flow, number)->next_live;
      spread_live(flow, number);
      continue;
    }
    uint32_t number = flow->dead_queue;
    flow->dead_queue = node_at(flow, number)->next_dead;
    spread_dead(flow, number);
  }
}

// ---- The window ---------------------------------------------------------------------------------------

void node_retire(Flow *flow) {
  uint32_t number = flow->oldest;
  Node *node = node_at(flow, number);
  uint32_t mask = node->is_store ? 1 : node->mask, undecided = mask & ~node->live & ~node->dead;
  if (undecided != 0) {
    memset(node->care, 0xFF, sizeof node->care); // nor which bits of them
    node->predicates_needed = UINT32_MAX;
    node_needed(flow, number, undecided, false);
    flow_spread(flow);
  }
  tally_turn_to(flow->tally, node->launch);
  unit_retire(flow, node);
  tally_turn_to(flow->tally, flow->tally->launch_number);
  memory_retire(flow, node);
  flow->oldest++;
}

// The window is larger than the host's caches, and its nodes are taken and retired in turn: those that come soon are fetched early.
static void fetch_ahead(const Flow *flow) {
  enum { AHEAD = 8, LINE = 64 };
  const char *node = (const char *)node_at(flow, flow->newest + AHEAD);
  for (uint32_t at = 0; at < sizeof(Node); at += LINE) __builtin_prefetch(node + at, 1);
}

uint32_t node_new(Flow *flow, const Who *who, uint32_t mask) {
  fetch_ahead(flow);
  if (flow->newest - flow->oldest + 1 >= flow->window) node_retire(flow);
  uint32_t number = ++flow->newest;
  Node *node = node_at(flow, number);
  memset(node, 0, offsetof(Node, sources));
  node->issue = who->issue;
  node->warp = who->sm * flow->warps + who->warp;
  node->pc = who->pc;
  node->mask = mask;
  node->launch = flow->tally->launch_number;
  return number;
}
