// Global and local memory: which store a load may have read, and what of it the host reads. A store is dead when nothing that it left in memory can
// be read any more, by kernels or by the host, and every load that may have read it is dead.
//
// Sound whatever the caches do. Within a launch a word of global memory keeps all stores to it: a load may have read any of them, but for those
// that its own SM has overwritten before. When the launch has ended, what was overwritten is gone. Stores of several SMs to one word all stay, since
// their order is not known. Local memory is its warp's alone, so that the later store counts at once.
// What reads memory in other ways (textures, system calls, loads whose instruction is not known) makes all stores of the launch count.
#include "ace/ace_internal.h"

#include <stdlib.h>

enum { FIRST_BUCKETS = 1024, FIRST_ROWS = 256, FIRST_ACCESSES = 64, LINE_SHIFT = 7 };
#define LOCAL_KEY (UINT64_C(1) << 63)

// ---- Rows: lines of global memory, words of a warp's local memory -----------------------------------------

static uint32_t bucket_of(const Memories *at, uint64_t key) {
  return (uint32_t)(key * UINT64_C(0x9E3779B97F4A7C15) >> 32) & (at->bucket_count - 1);
}

static uint32_t find_row(const Memories *at, uint64_t key) { // 0: none
  if (at->row_used == 0) return 0;
  uint32_t row = at->buckets[bucket_of(at, key)];
  while (row != 0 && at->rows[row].key != key) row = at->rows[row].next;
  return row;
}

static void grow_buckets(Memories *at) {
  free(at->buckets);
  at->bucket_count = at->bucket_count == 0 ? FIRST_BUCKETS : 2 * at->bucket_count;
  at->buckets = new_array(at->bucket_count, sizeof *at->buckets);
  for (uint32_t row = 1; row < at->row_room; row++) {
    if (at->rows[row].head == NOBODY) continue;
    uint32_t bucket = bucket_of(at, at->rows[row].key);
    at->rows[row].next = at->buckets[bucket];
    at->buckets[bucket] = row;
  }
}

static uint32_t add_row(Memories *at, uint64_t key) {
  if (at->row_used >= at->bucket_count) grow_buckets(at);
  if (at->row_free == 0) at->rows = pool_grow(at->rows, &at->row_room, &at->row_free, POOL_SHAPE(MemoryRow, FIRST_ROWS));
  uint32_t row = at->row_free, bucket = bucket_of(at, key);
  at->row_free = at->rows[row].next;
  at->rows[row] = (MemoryRow){.key = key, .next = at->buckets[bucket]};
  at->buckets[bucket] = row;
  at->row_used++;
  return row;
}

static void drop_row(Memories *at, uint32_t row) {
  uint32_t *link = &at->buckets[bucket_of(at, at->rows[row].key)];
  while (*link != row) link = &at->rows[*link].next;
  *link = at->rows[row].next;
  at->rows[row] = (MemoryRow){.next = at->row_free};
  at->row_free = row;
  at->row_used--;
}

// ---- Values -----------------------------------------------------------------------------------------------

static void leave_row(Flow *flow, uint32_t index) {
  Memories *at = &flow->memory;
  uint32_t row = flow->values[index].row, *link = &at->rows[row].head;
  while (*link != index) link = &flow->values[*link].next;
  *link = flow->values[index].next;
  flow->values[index].next = NOBODY;
  if (at->rows[row].head == NOBODY) drop_row(at, row);
}

// These words of it can be read no more.
static void end_words(Flow *flow, uint32_t index, uint32_t words) {
  Value *value = &flow->values[index];
  words &= value->held;
  value->held &= ~words;
  if (words == 0 || value->held != 0) return;
  uint32_t maker = value->maker;
  leave_row(flow, index);
  if (value->open == 0) value_settle(flow, index);
  node_drop(flow, maker, 1);
}

static void need_words(Flow *flow, uint32_t index, uint32_t words) {
  Value *value = &flow->values[index];
  Source source = {.value = index, .lanes = words, .care = UINT32_MAX, .is_whole = true};
  if ((words & value->held) != 0) value_needed(flow, value, &source, words & value->held, ROLE_DATA, true);
}

// A load may have read it.
static void link_words(Flow *flow, uint32_t index, uint32_t words, uint32_t load) {
  Value *value = &flow->values[index];
  Node *maker = node_at(flow, value->maker), *node = load == NOBODY ? NULL : node_at(flow, load);
  words &= value->held;
  if (words == 0) return;
  maker->read = 1;
  if (node == NULL || node->source_count == NODE_SOURCES || node->is_settled) {
    need_words(flow, index, words);
    return;
  }
  node->sources[node->source_count++] = (Source){.value = index, .lanes = words, .care = UINT32_MAX, .is_whole = true};
  value->open++;
  node_add(maker, 1);
  if (node->live != 0) need_words(flow, index, words);
}

void memory_unchain(Flow *flow, uint32_t index) {
  const Value *value = &flow->values[index];
  if (!node_is_there(flow, value->maker)) return;
  uint32_t *link = &node_at(flow, value->maker)->first_value;
  while (*link != NOBODY && *link != index) link = &flow->values[*link].sibling;
  if (*link == index) *link = value->sibling;
}

// Every value that is still in memory is needed, and so is what this launch stores from now on.
static void lose(Flow *flow) {
  Memories *at = &flow->memory;
  at->is_lost = true;
  for (uint32_t row = 1; row < at->row_room; row++) {
    for (uint32_t index = at->rows[row].head; index != NOBODY; index = flow->values[index].next) need_words(flow, index, UINT32_MAX);
  }
  flow_spread(flow);
}

void memory_retire(Flow *flow, Node *node) {
  for (uint32_t index = node->first_value, next; index != NOBODY; index = next) {
    Value *value = &flow->values[index];
    next = value->sibling;
    bool is_there = value->held != 0;
    value->held = 0;
    value->maker = value->sibling = NOBODY;
    if (is_there) leave_row(flow, index);
    if (value->open == 0) value_settle(flow, index);
  }
  node->first_value = NOBODY;
  if (node->access != 0) lose(flow); // it leaves the window before it has read
  memory_forget_access(flow, node);
}

// ---- What an instruction touches --------------------------------------------------------------------------

typedef struct Touching {
  const Flow *flow;
  const Node *node;
  Touch *items;
  uint32_t count;
} Touching;

static void touch(Touching *to, uint64_t key, uint32_t words, uint32_t whole) {
  uint32_t i = to->count;
  while (i > 0 && to->items[i - 1].key != key) i--;
  if (i == 0) {
    to->items[to->count++] = (Touch){key, words, whole};
    return;
  }
  to->items[i - 1].words |= words;
  to->items[i - 1].whole |= whole;
}

static Space resolve(Space space, uint64_t *address) {
  if (space != SPACE_GENERIC || *address >= GLOBAL_BASE32) return space == SPACE_GENERIC ? SPACE_GLOBAL : space;
  if (*address >= LOCAL_WINDOW && *address < LOCAL_WINDOW + 2 * WINDOW_BYTES) {
    *address -= LOCAL_WINDOW;
    return SPACE_LOCAL;
  }
  return SPACE_SHARED; // or constant: told otherwise
}

static void touch_lane(Touching *to, Space space, uint64_t address, uint32_t bytes, uint32_t thread) {
  space = resolve(space, &address);
  if (space == SPACE_GLOBAL) {
    uint32_t first = (uint32_t)(address >> 2 & 31), count = min_u32((uint32_t)((address & 3) + bytes + 3) / 4, 32 - first);
    uint32_t words = (uint32_t)(((UINT64_C(1) << count) - 1) << first);
    touch(to, address >> LINE_SHIFT, words, bytes >= 4 ? words : 0);
  } else if (space == SPACE_LOCAL) {
    for (uint64_t word = address >> 2; word <= (address + bytes - 1) >> 2; word++)
      touch(to, LOCAL_KEY | (uint64_t)to->node->warp << 32 | word, 1u << thread, bytes >= 4 ? 1u << thread : 0);
  }
}

static uint32_t lane_bytes(const Instr *instr) {
  const OpInfo *info = &op_info[instr->op];
  bool is_atomic = info->kind == KIND_ATOMIC;
  uint32_t bytes = (type_info[is_atomic ? info->a : info->d].bits + 7u) / 8u;
  return max_u32(min_u32(bytes, 8), 1) * (is_atomic ? 1 : mods_vector_count(instr->mods));
}

static uint32_t touch_all(Touching *to, const ResultEvent *event) {
  Space space = (Space)op_info[event->instr->op].space;
  uint32_t bytes = lane_bytes(event->instr), threads = 0;
  for (uint32_t left = event->mask & ~event->shadow; left != 0; left &= left - 1) {
    uint32_t slot = (uint32_t)__builtin_ctz(left), thread = event->thread == NULL ? slot : event->thread[slot] % WARP_LANES;
    touch_lane(to, space, event->rows[slot] | (uint64_t)event->rows[WARP_LANES + slot] << 32, bytes, thread);
    threads |= 1u << thread;
  }
  return threads;
}

// ---- Loads ------------------------------------------------------------------------------------------------

static Access *new_access(Flow *flow, Node *node) {
  Memories *at = &flow->memory;
  if (at->access_free == 0) at->accesses = pool_grow(at->accesses, &at->access_room, &at->access_free, POOL_SHAPE(Access, FIRST_ACCESSES));
  node->access = at->access_free;
  Access *access = &at->accesses[node->access];
  at->access_free = access->next;
  return access;
}

void memory_forget_access(Flow *flow, Node *node) {
  if (node->access == 0) return;
  flow->memory.accesses[node->access].next = flow->memory.access_free;
  flow->memory.access_free = node->access;
  node->access = 0;
}

// Values that came after `since`. What its own SM has overwritten before, it does not see.
static void read_row(Flow *flow, const Touch *touch, uint32_t since, uint32_t load, uint32_t sm) {
  uint32_t row = find_row(&flow->memory, touch->key);
  if (row == 0) return;
  for (uint32_t index = flow->memory.rows[row].head; index != NOBODY; index = flow->values[index].next) {
    const Value *value = &flow->values[index];
    if (value->born <= since) continue;
    bool is_ordered = value->sm == sm && value->launch == flow->tally->launch_number;
    link_words(flow, index, touch->words & ~(is_ordered ? value->gone : 0), load);
  }
}

static bool reads_for_certain(const Flow *flow, const Node *node) {
  return op_info[flow->program->decoded[node->pc].op].kind == KIND_ATOMIC;
}

static void load(Flow *flow, uint32_t number, const ResultEvent *event) {
  Node *node = node_at(flow, number);
  if (node->access != 0) return; // another copy
  Access *access = new_access(flow, node);
  Touching touching = {.flow = flow, .node = node, .items = access->touches};
  touch_all(&touching, event);
  access->count = touching.count;
  access->since = flow->memory.serial;
  uint32_t reader = reads_for_certain(flow, node) ? NOBODY : number;
  for (uint32_t i = 0; i < access->count; i++) read_row(flow, &access->touches[i], 0, reader, node->warp / flow->warps);
  flow_spread(flow);
}

// What was stored while it was under way it may have read, too.
static void load_ended(Flow *flow, uint32_t number) {
  Node *node = node_at(flow, number);
  const Access *access = &flow->memory.accesses[node->access];
  uint32_t reader = reads_for_certain(flow, node) ? NOBODY : number;
  if (access->since != flow->memory.serial) {
    for (uint32_t i = 0; i < access->count; i++)
      read_row(flow, &flow->memory.accesses[node->access].touches[i], access->since, reader, UINT32_MAX);
  }
  memory_forget_access(flow, node);
}

// ---- Stores -----------------------------------------------------------------------------------------------

static void overwrite(Flow *flow, uint32_t row, const Touch *touch, uint32_t sm) {
  for (uint32_t index = flow->memory.rows[row].head, next; index != NOBODY; index = next) {
    Value *value = &flow->values[index];
    next = value->next;
    if ((touch->key & LOCAL_KEY) != 0) end_words(flow, index, touch->whole);
    else if (value->sm == sm || value->launch != flow->tally->launch_number) value->gone |= touch->whole;
  }
}

static void store_to(Flow *flow, uint32_t number, const Touch *touch) {
  Node *node = node_at(flow, number);
  uint32_t row = find_row(&flow->memory, touch->key), sm = node->warp / flow->warps;
  if (row != 0) overwrite(flow, row, touch, sm);
  row = find_row(&flow->memory, touch->key);
  if (row == 0) row = add_row(&flow->memory, touch->key);
  uint32_t index = value_new(flow, touch->words, ++flow->memory.serial);
  Value *value = &flow->values[index];
  value->region = REGION_NONE;
  value->maker = number;
  value->row = row;
  value->sm = sm;
  value->next = flow->memory.rows[row].head;
  flow->memory.rows[row].head = index;
  value->sibling = node->first_value;
  node->first_value = index;
  node_add(node, 1);
}

static void store(Flow *flow, uint32_t number, const ResultEvent *event) {
  Node *node = node_at(flow, number);
  Access *access = &flow->memory.scratch;
  Touching touching = {.flow = flow, .node = node, .items = access->touches};
  if (node->first_value != NOBODY) return; // another copy
  node->placed |= touch_all(&touching, event);
  uint64_t first = flow->memory.shown_first >> LINE_SHIFT, last = flow->memory.shown_last >> LINE_SHIFT;
  for (uint32_t i = 0; i < touching.count; i++) {
    store_to(flow, number, &access->touches[i]);
    bool is_shown = access->touches[i].key >= first && access->touches[i].key <= last && flow->memory.shown_last != 0;
    if (is_shown) node_needed(flow, number, 1, true);
  }
  flow_spread(flow);
}

// ---- Events -----------------------------------------------------------------------------------------------

void memory_addresses(Flow *flow, const ResultEvent *event) {
  const OpInfo *info = &op_info[event->instr->op];
  bool is_store = info->kind == KIND_STORE, reads = info->kind == KIND_LOAD || info->kind == KIND_ATOMIC;
  bool is_elsewhere = info->space == SPACE_SHARED || info->space == SPACE_CONST || info->space == SPACE_PARAM;
  if (flow->memory.is_lost || (!is_store && !reads) || is_elsewhere || event->row_count != 2) return;
  uint32_t number = flow_find(flow, event->who);
  bool is_known = number != NOBODY && event->owners <= 1;
  if (is_store && is_known) store(flow, number, event);
  else if (reads && is_known) load(flow, number, event);
  else if (reads) lose(flow);
}

void memory_commit(Flow *flow, uint32_t number) {
  Node *node = node_at(flow, number);
  if (node->access != 0) load_ended(flow, number);
  if (node->is_memory && (node->mask & ~node->placed) != 0) node_needed(flow, number, 1, true); // where it stored is not known
}

// Instructions that read memory and do not say where.
static bool reads_otherwise(const Program *program) {
  for (uint32_t pc = 0; pc < program->code_count; pc++) {
    const OpInfo *info = &op_info[program->decoded[pc].op];
    if (info->kind == KIND_SYSTEM || info->kind == KIND_TEXTURE) return true;
    if (info->kind == KIND_MATRIX && info->space != SPACE_NONE && info->space != SPACE_SHARED) return true;
  }
  return false;
}

void memory_launch(Flow *flow) {
  flow->memory.is_lost = false;
  bool is_told = flow->program != NULL && flow->program->decoded != NULL;
  if (flow->follows_memory && (!is_told || reads_otherwise(flow->program))) lose(flow);
}

// Local memory is gone, and so is what was overwritten.
void memory_finish(Flow *flow) {
  Memories *at = &flow->memory;
  for (uint32_t row = 1; row < at->row_room; row++) {
    bool is_local = (at->rows[row].key & LOCAL_KEY) != 0;
    for (uint32_t index = at->rows[row].head, next; index != NOBODY; index = next) {
      next = flow->values[index].next;
      end_words(flow, index, is_local ? UINT32_MAX : flow->values[index].gone);
    }
  }
  at->shown_first = at->shown_last = 0;
  flow_spread(flow);
}

// ---- The host ---------------------------------------------------------------------------------------------

typedef struct HostRange {
  uint64_t first, last; // bytes
  bool reads;
} HostRange;

static void host_row(Flow *flow, uint32_t row, const HostRange *range) {
  uint64_t start = flow->memory.rows[row].key << LINE_SHIFT;
  uint32_t some = 0, whole = 0;
  for (uint32_t i = 0; i < 32; i++) {
    uint64_t at = start + 4 * i;
    some |= (range->first <= at + 3 && range->last >= at ? 1u : 0u) << i;
    whole |= (range->first <= at && range->last >= at + 3 ? 1u : 0u) << i;
  }
  for (uint32_t index = flow->memory.rows[row].head, next; index != NOBODY; index = next) {
    next = flow->values[index].next;
    if (range->reads) need_words(flow, index, some);
    else end_words(flow, index, whole);
  }
}

void memory_host(Flow *flow, const HostEvent *event) {
  Memories *at = &flow->memory;
  if (!flow->follows_memory || event->bytes == 0) return;
  HostRange range = {event->address, event->address + min_u64(event->bytes - 1, UINT64_MAX - event->address), event->access != HOST_WRITES};
  if (event->access == HOST_SHOWS) at->shown_first = range.first, at->shown_last = range.last;
  uint64_t first = range.first >> LINE_SHIFT, last = range.last >> LINE_SHIFT;
  if (last - first < at->row_used) {
    for (uint64_t key = first; key <= last; key++) {
      uint32_t row = find_row(at, key);
      if (row != 0) host_row(flow, row, &range);
    }
  } else {
    for (uint32_t row = 1; row < at->row_room; row++) {
      if (at->rows[row].head != NOBODY && at->rows[row].key >= first && at->rows[row].key <= last) host_row(flow, row, &range);
    }
  }
  flow_spread(flow);
}

void memory_end(Flow *flow, bool host_sees) {
  Memories *at = &flow->memory;
  for (uint32_t row = 1; row < at->row_room; row++) {
    for (uint32_t index = at->rows[row].head, next; index != NOBODY; index = next) {
      next = flow->values[index].next;
      if (host_sees) need_words(flow, index, UINT32_MAX);
      end_words(flow, index, UINT32_MAX);
    }
  }
  flow_spread(flow);
}

void memory_close(Flow *flow) {
  free(flow->memory.buckets);
  free(flow->memory.rows);
  free(flow->memory.accesses);
}
