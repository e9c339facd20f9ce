// Values in registers, predicates and shared memory (memory.c has global and local memory): who made them, who reads them, when they are gone.
//
// Every row of 32 lanes has a list of values; each lane lies in one of them. A read ties the reader to the value; a write ends it and begins
// another. When a value is gone and all its readers are decided, its time is summed by cause: until the last reader that matters it was ACE.
#include "ace/ace_internal.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { LARGE_PAGE = 2 << 20 };

// ---- Rows -----------------------------------------------------------------------------------------------

// Which of a region's lists a value lies in: its row, or the unit of its row.
typedef struct Place {
  uint32_t *head;
  uint64_t row;
  uint32_t unit, bits;
  uint16_t region;
} Place;

static uint32_t list_of(const Flow *flow, uint16_t region) { return region == flow->rf ? 0 : region == flow->predicates ? 1 : 2; }

static Place place_of(const Flow *flow, uint16_t region, uint64_t row, uint32_t unit) {
  uint32_t list = list_of(flow, region);
  uint64_t index = list == 1 ? row * MAX_PREDICATES + unit : row;
  return (Place){&flow->rows[list][index], row, unit, list == 1 ? 1 : 32, region};
}

static uint32_t begin_value(Flow *flow, const Place *place, uint32_t lanes, uint32_t time) {
  uint32_t index = value_new(flow, lanes, time);
  Value *value = &flow->values[index];
  value->row = (uint32_t)place->row;
  value->region = place->region;
  value->unit = (uint8_t)place->unit;
  value->next = *place->head;
  *place->head = index;
  return index;
}

// A row that is touched for the first time has been there, empty, from the beginning.
static void first_touch(Flow *flow, const Place *place) {
  if (*place->head != NOBODY) return;
  uint32_t index = begin_value(flow, place, UINT32_MAX, 0);
  flow->values[index].is_empty = true;
}

// ---- Reading --------------------------------------------------------------------------------------------

typedef struct Reading {
  uint32_t lanes, time, care;
  Role role;
  uint32_t node; // NOBODY: whoever it is matters
} Reading;

static Role role_of(const Node *node) { return node->is_memory ? ROLE_OUTPUT : ROLE_DATA; }

static void read_one(Flow *flow, uint32_t index, const Reading *reading) {
  Value *value = &flow->values[index];
  uint32_t lanes = reading->lanes & value->held;
  Source source = {index, lanes, reading->time, flow->all_reads_count ? UINT32_MAX : reading->care, reading->role == ROLE_WHOLE};
  Node *node = reading->node == NOBODY ? NULL : node_at(flow, reading->node);
  bool is_link = reading->role == ROLE_LINK || reading->role == ROLE_WHOLE;
  bool is_tied = is_link && node != NULL && node->source_count < NODE_SOURCES && !node->is_settled && !flow->all_reads_count;
  value_read(flow, value, lanes, reading->time);
  if (node_is_there(flow, value->maker)) node_at(flow, value->maker)->read |= node_at(flow, value->maker)->is_store ? 1 : lanes;
  if (!is_tied) {
    value_needed(flow, value, &source, lanes, !is_link ? reading->role : node == NULL ? ROLE_DATA : role_of(node), true);
    return;
  }
  node->sources[node->source_count++] = source;
  value->open++;
  if (node_is_there(flow, value->maker)) node_add(node_at(flow, value->maker), lanes);
  uint32_t decided = lanes & node->live; // by another of its results
  if (node->live != 0 && (source.is_whole || node->is_store)) decided = lanes;
  if (decided != 0) value_needed(flow, value, &source, decided, role_of(node), true);
}

static void read_place(Flow *flow, const Place *place, const Reading *reading) {
  first_touch(flow, place);
  for (uint32_t index = *place->head; index != NOBODY; index = flow->values[index].next) {
    if ((flow->values[index].held & reading->lanes) != 0) read_one(flow, index, reading);
  }
  flow_spread(flow);
}

// ---- Writing --------------------------------------------------------------------------------------------

static void end_lanes(Flow *flow, uint32_t index, uint32_t lanes, uint32_t time, AceCause cause) {
  Value *value = &flow->values[index];
  value_ended(flow, value, lanes, time, cause);
  value->held &= ~lanes;
  if (!node_is_there(flow, value->maker)) return;
  if (!node_at(flow, value->maker)->is_store) node_drop(flow, value->maker, lanes);
  else if (value->held == 0) node_drop(flow, value->maker, 1);
}

static void end_place(Flow *flow, const Place *place, uint32_t lanes, uint32_t time, AceCause cause) {
  for (uint32_t *link = place->head; *link != NOBODY;) {
    uint32_t index = *link, gone = flow->values[index].held & lanes;
    if (gone != 0) end_lanes(flow, index, gone, time, cause);
    if (flow->values[index].held != 0) {
      link = &flow->values[index].next;
      continue;
    }
    *link = flow->values[index].next;
    if (flow->values[index].open == 0) value_settle(flow, index);
  }
}

typedef struct Writing {
  uint32_t lanes, time;
  uint32_t node; // NOBODY: not known
  uint32_t pc, word;
  bool clears; // nobody wrote it: the place is empty from now on
} Writing;

static void write_place(Flow *flow, const Place *place, const Writing *writing) {
  first_touch(flow, place);
  end_place(flow, place, writing->lanes, writing->time, writing->clears ? ACE_UNREAD : ACE_OVERWRITTEN);
  uint32_t index = begin_value(flow, place, writing->lanes, writing->time);
  Value *value = &flow->values[index];
  value->is_empty = writing->clears;
  value->maker = writing->node;
  value->pc = writing->pc;
  value->word = (uint8_t)writing->word;
  if (writing->node != NOBODY) node_add(node_at(flow, writing->node), writing->lanes);
  flow_spread(flow);
}

// ---- Who it is --------------------------------------------------------------------------------------------

// Not where values are not followed.
static bool has_warp(const Flow *flow, const Who *who) { return flow->nodes != NULL && who->sm < flow->sms && who->warp < flow->warps; }

// Parts with a plan do not say the number of their instruction: the latest of the warp at that place in the program, if it is still under way.
static uint32_t find_by_pc(const Flow *flow, const uint32_t *recent, uint32_t warp, uint32_t pc) {
  uint32_t found = NOBODY;
  for (uint32_t i = 0; i < RECENT; i++) {
    uint32_t number = recent[i];
    if (!node_is_there(flow, number)) continue;
    const Node *node = node_at(flow, number);
    if (node->warp != warp || node->pc != pc || (node->mask & ~node->committed) == 0) continue;
    if (found != NOBODY) return NOBODY;
    found = number;
  }
  return found;
}

uint32_t flow_find(const Flow *flow, const Who *who) {
  if (!has_warp(flow, who) || who->pc == WHO_NO_INDEX) return NOBODY;
  uint32_t warp = who->sm * flow->warps + who->warp;
  const uint32_t *recent = &flow->recent[warp * RECENT];
  if (who->issue == WHO_NO_NUMBER) return find_by_pc(flow, recent, warp, who->pc);
  uint32_t number = recent[who->issue % RECENT];
  if (!node_is_there(flow, number)) return NOBODY;
  const Node *node = node_at(flow, number);
  return node->warp == warp && node->issue == who->issue && node->pc == who->pc ? number : NOBODY;
}

static const InstrRoles *roles_at(Flow *flow, uint32_t pc) {
  if (flow->program == NULL || flow->program->decoded == NULL || pc >= min_u32(flow->program->code_count, flow->role_room)) return NULL;
  InstrRoles *roles = &flow->roles[pc];
  if (!roles->is_known) instr_roles(&flow->program->decoded[pc], flow->follows_memory, roles);
  return roles;
}

// ---- Events -----------------------------------------------------------------------------------------------

bool flow_has(const Flow *flow, uint16_t region) {
  return region != REGION_NONE && (region == flow->rf || region == flow->predicates || region == flow->shared);
}

static void read_predicates(Flow *flow, uint64_t row, uint32_t warp, uint32_t node, uint32_t mask) {
  PendingPredicates *pending = &flow->pending[warp];
  const InstrRoles *roles = roles_at(flow, pending->pc);
  for (uint32_t left = pending->units; left != 0; left &= left - 1) {
    uint32_t unit = (uint32_t)__builtin_ctz(left), care = 1;
    Role role = roles == NULL ? ROLE_CONTROL : instr_role(roles, unit, true, &care);
    bool is_link = role == ROLE_LINK || role == ROLE_WHOLE;
    uint32_t lanes = role == ROLE_LINK && node != NOBODY ? mask : UINT32_MAX;
    Reading reading = {lanes, pending->time, 1, is_link && node == NOBODY ? ROLE_DATA : role, node};
    if (role == ROLE_NONE) reading.role = ROLE_CONTROL;
    Place place = place_of(flow, flow->predicates, row, unit);
    read_place(flow, &place, &reading);
  }
  pending->is_there = false;
}

// Predicates are told before their instruction, and again if it is put off.
static void pend_predicates(Flow *flow, const CellEvent *event, uint32_t time) {
  const Who *who = event->who;
  if (!has_warp(flow, who) || who->pc == WHO_NO_INDEX) { // a write of some lanes follows
    flow->partial.row = event->row;
    flow->partial.unit = (uint32_t)__builtin_ctz(event->units);
    flow->partial.time = time;
    flow->partial.is_there = true;
    return;
  }
  uint32_t warp = who->sm * flow->warps + who->warp;
  PendingPredicates *pending = &flow->pending[warp];
  if (pending->is_there && pending->issue != who->issue) read_predicates(flow, event->row, warp, NOBODY, 0);
  *pending = (PendingPredicates){
      .issue = who->issue, .units = event->units & ((1u << MAX_PREDICATES) - 1), .time = time, .pc = who->pc, .is_there = true};
}

void flow_issue(Flow *flow, const IssueEvent *event) {
  const Who *who = event->who;
  if (!has_warp(flow, who)) return;
  uint32_t warp = who->sm * flow->warps + who->warp, number = flow_find(flow, who);
  const InstrRoles *roles = roles_at(flow, who->pc);
  if (number == NOBODY && event->mask != 0 && roles != NULL && roles->has_node) {
    number = node_new(flow, who, event->mask);
    node_at(flow, number)->is_store = roles->stores;
    node_at(flow, number)->is_memory = roles->to_memory;
    node_add(node_at(flow, number), event->mask); // until it is written back
    flow->recent[warp * RECENT + who->issue % RECENT] = number;
  }
  PendingPredicates *pending = &flow->pending[warp];
  if (pending->is_there) read_predicates(flow, warp, warp, pending->issue == who->issue ? number : NOBODY, event->mask);
}

void flow_commit(Flow *flow, const CommitEvent *event) {
  uint32_t number = flow_find(flow, event->who);
  if (number == NOBODY) return;
  Node *node = node_at(flow, number);
  uint32_t lanes = event->mask & node->mask & ~node->committed;
  node->committed |= lanes;
  if (flow->follows_memory && node->committed == node->mask) memory_commit(flow, number);
  if (!node->is_store) node_drop(flow, number, lanes);
  else if (lanes != 0 && node->committed == node->mask) node_drop(flow, number, 1);
  flow_spread(flow);
}

static void read_register(Flow *flow, const HookMachine *machine, const CellEvent *event, uint32_t time) {
  uint64_t rows = flow->row_count[0] / flow->sms, row = event->row % rows;
  uint32_t warp_rows = max_u32(machine->warp_rows, 1), care = UINT32_MAX;
  const Who *who = event->who;
  const InstrRoles *roles = who->pc == WHO_NO_INDEX ? NULL : roles_at(flow, who->pc);
  bool is_own = has_warp(flow, who) && row / warp_rows == who->warp;
  if (roles != NULL && has_warp(flow, who) && !is_own) return; // for a shadow: that thread itself reads the same later, and that counts
  Role role = roles == NULL || !is_own ? ROLE_DATA : instr_role(roles, (uint32_t)(row % warp_rows), false, &care);
  Reading reading = {event->units, time, care, role == ROLE_NONE ? ROLE_DATA : role, flow_find(flow, who)};
  if (role == ROLE_NONE) reading.care = UINT32_MAX;
  Place place = place_of(flow, event->region, event->row, 0);
  read_place(flow, &place, &reading);
}

static void read_shared(Flow *flow, const CellEvent *event, uint32_t time) {
  uint32_t node = flow_find(flow, event->who);
  const InstrRoles *roles = event->who->pc == WHO_NO_INDEX ? NULL : roles_at(flow, event->who->pc);
  bool is_load = node != NOBODY && roles != NULL && !roles->stores && flow->program->decoded != NULL &&
                 op_info[flow->program->decoded[event->who->pc].op].kind == KIND_LOAD;
  Reading reading = {event->units, time, UINT32_MAX, is_load ? ROLE_WHOLE : ROLE_DATA, is_load ? node : NOBODY};
  Place place = place_of(flow, event->region, event->row, 0);
  read_place(flow, &place, &reading);
}

void flow_read(Flow *flow, const HookMachine *machine, const CellEvent *event) {
  uint32_t time = tally_time(flow->tally, machine);
  if (event->region == flow->predicates) pend_predicates(flow, event, time);
  else if (event->region == flow->rf) read_register(flow, machine, event, time);
  else read_shared(flow, event, time);
}

static uint32_t register_word(const Instr *instr, uint32_t number) {
  uint32_t registers = max_u32(type_info[op_info[instr->op].d].registers, 1);
  for (uint32_t operand = 0; operand < 4; operand++) {
    if (instr->d[operand] != REG_ZERO && number >= instr->d[operand] && number < instr->d[operand] + registers)
      return operand * registers + number - instr->d[operand];
  }
  return NODE_WORDS; // somewhere else
}

static bool is_nobody(const Who *who) { return who->pc == WHO_NO_INDEX; }

static void write_predicates(Flow *flow, const CellEvent *event, const Writing *writing) {
  uint32_t unit = (uint32_t)__builtin_ctz(event->units | 1u << (MAX_PREDICATES - 1));
  bool in_part =
      flow->partial.is_there && flow->partial.row == event->row && flow->partial.unit == unit && flow->partial.time == writing->time;
  flow->partial.is_there = false;
  for (uint32_t left = event->units & ((1u << MAX_PREDICATES) - 1); left != 0; left &= left - 1) {
    unit = (uint32_t)__builtin_ctz(left);
    Place place = place_of(flow, event->region, event->row, unit);
    Writing one = *writing;
    if (writing->node != NOBODY) {
      const Instr *instr = &flow->program->decoded[writing->pc];
      one.word = instr->pd[0] == unit ? 0 : 1;
      if (in_part) one.lanes = node_at(flow, writing->node)->mask;
      uint32_t index = *place.head; // a further part of the same instruction: what its first part wrote stays
      if (in_part && index != NOBODY && flow->values[index].maker == writing->node) one.lanes &= ~flow->values[index].held;
      if (one.lanes == 0) continue;
    } else if (in_part) { // which lanes is not known: the others pass through
      Reading reading = {UINT32_MAX, writing->time, 1, ROLE_DATA, NOBODY};
      read_place(flow, &place, &reading);
    }
    write_place(flow, &place, &one);
  }
}

void flow_write(Flow *flow, const HookMachine *machine, const CellEvent *event) {
  const Who *who = event->who;
  uint32_t time = tally_time(flow->tally, machine), number = flow_find(flow, who);
  Writing writing = {.lanes = event->units, .time = time, .node = number, .pc = who->pc, .clears = is_nobody(who)};
  if (event->region == flow->predicates) {
    writing.lanes = UINT32_MAX;
    write_predicates(flow, event, &writing);
    return;
  }
  Place place = place_of(flow, event->region, event->row, 0);
  if (event->region == flow->rf && number != NOBODY) {
    uint64_t rows = flow->row_count[0] / flow->sms, row = event->row % rows;
    uint32_t warp_rows = max_u32(machine->warp_rows, 1);
    if (row / warp_rows != who->warp) writing.node = NOBODY; // for another warp of the part
    else writing.word = register_word(&flow->program->decoded[who->pc], (uint32_t)(row % warp_rows));
  }
  if (event->region == flow->shared && number != NOBODY && !node_at(flow, number)->is_store)
    writing.node = NOBODY; // atomics: their operands count
  write_place(flow, &place, &writing);
}

// ---- Launches ---------------------------------------------------------------------------------------------

static uint64_t rows_of(const Tally *tally, uint16_t region, uint32_t lists) {
  return region == REGION_NONE ? 0 : tally->regions->items[region].rows * lists;
}

void flow_open(Flow *flow, Tally *tally, const HookLayout *layout, const AceOptions *options) {
  const HookShape *shape = hook_layout_shape(layout);
  uint32_t needed = WANT_ISSUE | WANT_COMMIT | WANT_RESULT;
  *flow = (Flow){.tally = tally, .rf = REGION_NONE, .predicates = REGION_NONE, .shared = REGION_NONE, .oldest = 1};
  flow->all_reads_count = options->all_reads_count;
  flow->follows_memory = !options->all_reads_count && !options->memory_is_output;
  flow->sms = max_u32(shape->sms, 1);
  flow->warps = max_u32(shape->warps, 1);
  if ((shape->untold & needed) != 0) {
    flow->follows_memory = false;
    return;
  }
  flow->rf = region_with_role(tally->regions, REGION_ROLE_REGISTERS);
  flow->predicates = region_with_role(tally->regions, REGION_ROLE_PREDICATES);
  flow->shared = region_with_role(tally->regions, REGION_ROLE_SHARED);
  flow->window = 1;
  uint32_t wanted = options->window == 0 ? ACE_WINDOW : options->window;
  while (flow->window < wanted) flow->window *= 2;
  size_t bytes = align_up(flow->window * sizeof *flow->nodes, LARGE_PAGE);
  flow->nodes = aligned_alloc(LARGE_PAGE, bytes);
  ASSERT(flow->nodes != NULL);
  madvise(flow->nodes, bytes, MADV_HUGEPAGE); // fewer look-ups of pages; without it, only slower. node_new clears a node
  const uint16_t regions[3] = {flow->rf, flow->predicates, flow->shared};
  for (uint32_t i = 0; i < 3; i++) {
    flow->row_count[i] = rows_of(tally, regions[i], i == 1 ? MAX_PREDICATES : 1);
    flow->rows[i] = new_array(flow->row_count[i], sizeof **flow->rows);
    if (regions[i] != REGION_NONE && tally_wants(tally, regions[i])) tally->structures[tally->of_region[regions[i]]].is_followed = true;
  }
  flow->recent = new_array((size_t)flow->sms * flow->warps * RECENT, sizeof *flow->recent);
  flow->pending = new_array((size_t)flow->sms * flow->warps, sizeof *flow->pending);
}

void flow_close(Flow *flow) {
  for (uint32_t i = 0; i < 3; i++) free(flow->rows[i]);
  free(flow->nodes);
  free(flow->values);
  free(flow->times);
  free(flow->recent);
  free(flow->pending);
  free(flow->roles);
  free(flow->waiting);
  memory_close(flow);
}

void flow_launch(Flow *flow, const HookMachine *machine) {
  flow->program = machine->program;
  uint32_t count = machine->program == NULL ? 0 : machine->program->code_count;
  if (count > flow->role_room) {
    free(flow->roles);
    flow->roles = new_array(count, sizeof *flow->roles);
    flow->role_room = count;
  }
  for (uint32_t i = 0; i < count; i++) flow->roles[i].is_known = false;
  if (flow->newest > UINT32_MAX / 2 || flow->memory.serial > UINT32_MAX / 2) flow_decide_all(flow);
  memory_launch(flow);
}

void flow_finish(Flow *flow, const HookMachine *machine) {
  uint32_t time = tally_time(flow->tally, machine);
  if (flow->nodes == NULL) return;
  for (uint32_t list = 0; list < 3; list++) {
    for (uint64_t i = 0; i < flow->row_count[list]; i++) {
      if (flow->rows[list][i] == NOBODY) continue;
      Place place = {.head = &flow->rows[list][i]};
      end_place(flow, &place, UINT32_MAX, time, ACE_UNREAD);
    }
  }
  flow_spread(flow);
  memory_finish(flow);
  memset(flow->recent, 0, (size_t)flow->sms * flow->warps * RECENT * sizeof *flow->recent);
  memset(flow->pending, 0, (size_t)flow->sms * flow->warps * sizeof *flow->pending);
  if (!flow->follows_memory) flow_decide_all(flow);
}

void flow_decide_all(Flow *flow) {
  while (flow->oldest <= flow->newest) node_retire(flow);
  flow->oldest = 1;
  flow->newest = 0;
  flow->memory.serial = 0;
  flow->waiting_count = 0;
}
