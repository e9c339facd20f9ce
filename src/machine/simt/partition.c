// An L2 slice. Requests come in order out of a pipeline as long as the L2's latency, one a cycle. What the slice has is answered
// at once; what it has not is fetched from DRAM by sectors. Writes need no fetch: bytes written are valid (write-validate), and
// dirty lines go to DRAM when they are evicted (write-back). Atomics are performed here, on the line's data.
//
// Order. Requests for one line take effect in the order of their arrival. While a line has a miss register, every later
// request for it, of any kind, waits in the register's list; when data comes the list is served from its front, one request a
// cycle, and a request that needs further sectors fetches them first. Below, the queue to DRAM is in order and the controller
// keeps the order of requests for one line, so a fetch sees every write-back before it.
//
// No deadlock. A miss reserves its line (pins it), so data from DRAM always has a place; the queue to DRAM then drains without help
// from above, and replies leave by a network of their own.
//
// Without an L2 each register has a line buffer of its own, which goes to DRAM when the list is served; writes pass through.
#include "machine/simt/partition.h"

enum { NONE = UINT32_MAX };
enum { PREFETCHED = 1, MIRRORED = 2 }; // Mshr.prefetch: an action has asked for the line; a load of a mirror alone has

L2Slice l2_slice(Simt *m, uint32_t index) {
  PartitionState *state = &m->at.partitions[index];
  size_t first = (size_t)index * m->dims.l2_mshrs;
  return (L2Slice){.m = m,
                   .index = index,
                   .state = state,
                   .cache = cache_at(&m->dims.l2, m->at.l2_tags, m->at.l2, m->at.l2_data, (size_t)index * m->dims.l2_lines),
                   .mshrs = {m->rows, &m->at.l2_misses[first], &m->at.l2_mshrs[first], &state->used, m->dims.l2_mshrs},
                   .waiting = &m->at.l2_waiting[first * 2]};
}

static bool has_cache(const L2Slice *slice) { return slice->m->dims.l2.sets != 0; }

// ---- Addresses -------------------------------------------------------------------------------------
// A slice sees every so-manieth stretch of addresses. Its sets and tags go by the address without the slice's number.
static uint64_t local_of(const L2Slice *slice, uint64_t address) {
  unsigned shift = (unsigned)__builtin_ctzll(slice->m->spec->dram_interleave);
  uint64_t line = address & PHYSICAL_MASK & ~(uint64_t)(LINE_BYTES - 1);
  return (line >> shift) / slice->m->dims.partitions << shift | (line & ((UINT64_C(1) << shift) - 1));
}

static uint64_t physical_of(const L2Slice *slice, uint64_t local) {
  unsigned shift = (unsigned)__builtin_ctzll(slice->m->spec->dram_interleave);
  uint64_t stretch = (local >> shift) * slice->m->dims.partitions + slice->index;
  return (stretch << shift | (local & ((UINT64_C(1) << shift) - 1))) & PHYSICAL_MASK;
}

uint64_t l2_line_address(const L2Slice *slice, uint32_t line) {
  if (!has_cache(slice)) return slice->mshrs.lines[line].address; // the buffer of the register of that number
  return physical_of(slice, cache_line_address(&slice->cache, line));
}

bool l2_find(const L2Slice *slice, uint64_t address, uint32_t *line) {
  const ByteMask none = {{0, 0}};
  return has_cache(slice) && cache_find(&slice->cache, local_of(slice, address), none, line) != CACHE_MISS;
}

// ---- Lines -----------------------------------------------------------------------------------------
static uint64_t row_of(const L2Slice *slice, uint32_t line) { return (uint64_t)slice->index * slice->m->dims.l2_lines + line; }

static const Who *cells_packet(Simt *m, const Packet *packet) {
  return !cells_are_wanted(m) ? NULL : packet == NULL ? &m->nobody : who_packet(m, packet);
}

void l2_line_read(L2Slice *slice, const Packet *packet, uint32_t line, ByteMask bytes, uint32_t to[LINE_WORDS]) {
  uint32_t *data = slice->cache.data[line].word;
  if (cells_are_wanted(slice->m))
    cells_read(slice->m, cells_packet(slice->m, packet), REGION_L2, row_of(slice, line), bytes_words_any(bytes), data);
  bytes_copy(to, data, bytes);
}

static void line_write(L2Slice *slice, const Packet *packet, uint32_t line, ByteMask bytes, const uint32_t from[LINE_WORDS]) {
  uint32_t *data = slice->cache.data[line].word;
  if (cells_are_wanted(slice->m)) {
    const Who *who = cells_packet(slice->m, packet);
    uint32_t words = bytes_words_any(bytes), parts = words & ~bytes_words_all(bytes);
    if (parts != 0) cells_read(slice->m, who, REGION_L2, row_of(slice, line), parts, data);
    bytes_copy(data, from, bytes);
    cells_written(slice->m, who, REGION_L2, row_of(slice, line), words, data);
  } else {
    bytes_copy(data, from, bytes);
  }
  cache_hold(&slice->cache, line, bytes);
}

// The packet's bytes, from its own data or from what has been made of them.
static void line_dirty(L2Slice *slice, const Packet *packet, uint32_t line, const uint32_t from[LINE_WORDS]) {
  line_write(slice, packet, line, packet->bytes, from);
  slice->cache.lines[line].dirty = bytes_or(slice->cache.lines[line].dirty, packet->bytes);
}

// A tag holds something while its line has bytes or is reserved for some; without an L2 there are no tags.
static bool tag_is_free(const L2Slice *slice, uint32_t line) {
  return !cache_line_valid(&slice->cache.lines[line]) && slice->cache.lines[line].pinned == 0;
}

static void tell_tag(L2Slice *slice, const Packet *packet, uint32_t line, bool taken) {
  Simt *m = slice->m;
  if (!has_cache(slice)) return;
  const Who *who = packet == NULL ? &m->nobody : who_packet(m, packet);
  (taken ? simt_take : simt_release)(m, who, REGION_L2_TAG, REGION_L2_TAG, row_of(slice, line));
}

void l2_line_drop(L2Slice *slice, uint32_t line) {
  CacheLine *at = &slice->cache.lines[line];
  if (places_are_wanted(slice->m) && !tag_is_free(slice, line)) tell_tag(slice, NULL, line, false);
  if (at->pinned != 0) at->pinned = 0;
  if (cache_line_valid(at)) cache_empty(at); // most pages of a large cache are never touched
}

bool l2_take_in(L2Slice *slice, uint64_t address, ByteMask bytes, const uint32_t data[LINE_WORDS]) {
  Simt *m = slice->m;
  uint32_t line;
  if (!l2_find(slice, address, &line)) {
    line = cache_victim(&slice->cache, local_of(slice, address));
    if (slice->cache.lines[line].pinned != 0) return false;
    l2_line_drop(slice, line);
    slice->cache.tags[line].tag = cache_tag(slice->cache.shape, local_of(slice, address));
    if (places_are_wanted(m)) tell_tag(slice, NULL, line, true);
  }
  line_write(slice, NULL, line, bytes, data);
  slice->cache.lines[line].pinned = 1;
  if (!cache_line_valid(&slice->cache.lines[line])) l2_line_drop(slice, line); // no whole sector
  else cache_touch(&slice->cache, line);
  return true;
}

// ---- The queue to DRAM -------------------------------------------------------------------------------
static bool below_is_full(const L2Slice *slice) { return packet_queue_full(&slice->state->below, slice->m->dims.l2_queue); }

// It is for a request, or (NULL) gives the slice's own bytes back.
static Packet *below_push(L2Slice *slice, PacketKind kind, uint64_t address, ByteMask bytes, const Packet *request) {
  uint32_t room = slice->m->dims.l2_queue;
  slice->m->at.core->controllers_at = 0;
  Packet *place = packet_queue_push(&slice->state->below, &slice->m->at.partition_belows[slice->index * room], room);
  if (request != NULL) {
    memcpy(place, request, offsetof(Packet, data));
    place->tag = place->op = place->mods = 0;
    place->lanes = 0;
  } else {
    uint64_t now = simt_now(slice->m);
    place->sent_at = now;
    place->since = (uint32_t)now;
    place->sm = PACKET_NO_SM;
    place->client = CLIENT_WRITE_BACK;
  }
  place->address = address;
  place->bytes = bytes;
  place->kind = (uint8_t)kind;
  place->partition = (uint16_t)slice->index;
  return place;
}

static void tell_evict(Simt *m, Packet *packet) {
  PacketStory story;
  const MemoryEvent *event = packet_story(m, packet, MEMORY_EVICT, &story);
  simt_obey(m, event->who, hook_tell_evict(m->listener, &m->hook_machine, event));
}

// Only with room below.
static void write_back(L2Slice *slice, uint32_t line) {
  ByteMask dirty = slice->cache.lines[line].dirty;
  if (!bytes_any(dirty)) return;
  Packet *packet = below_push(slice, PACKET_WRITE, l2_line_address(slice, line), dirty, NULL);
  l2_line_read(slice, packet, line, dirty, packet->data);
  if ((slice->m->wants & WANT_EVICT) != 0) tell_evict(slice->m, packet);
  slice->cache.lines[line].dirty = (ByteMask){{0, 0}};
}

// A line for an address that is not there. NONE: its victim cannot go now.
static uint32_t reserve(L2Slice *slice, uint64_t local) {
  uint32_t line = cache_victim(&slice->cache, local);
  if (slice->cache.lines[line].pinned != 0) return NONE;
  bool was_free = tag_is_free(slice, line);
  if (bytes_any(slice->cache.lines[line].dirty)) {
    if (below_is_full(slice)) return NONE;
    write_back(slice, line);
    simt_count(slice->m, STAT_L2_WRITEBACKS, 1);
  }
  if (places_are_wanted(slice->m) && !was_free) tell_tag(slice, NULL, line, false);
  line_gone(slice->m, PREFETCH_L2, row_of(slice, line));
  cache_begin(&slice->cache, line, local);
  return line;
}

// ---- Requests on lines that are there ------------------------------------------------------------------
static bool output_is_full(const L2Slice *slice) { return packet_queue_full(&slice->state->output, slice->m->dims.l2_queue); }

// The reply's place in the output queue: everything of the request but its data.
static Packet *reply_to(L2Slice *slice, const Packet *request, PacketKind kind) {
  uint32_t room = slice->m->dims.l2_queue;
  slice->m->at.core->replied_from[slice->index / 64] |= UINT64_C(1) << slice->index % 64;
  Packet *reply = packet_queue_push(&slice->state->output, &slice->m->at.partition_outputs[slice->index * room], room);
  memcpy(reply, request, offsetof(Packet, data));
  reply->kind = (uint8_t)kind;
  packet_enters(reply, STAGE_RETURN, simt_now(slice->m));
  return reply;
}

// 32 data of an atomic at a time, as rows of lanes: `size` bytes each, from byte `first` of the line on.
typedef struct AtomicRound {
  _Alignas(64) uint32_t old[2 * WARP_LANES];
  uint32_t b[2 * WARP_LANES], c[2 * WARP_LANES], fresh[2 * WARP_LANES];
} AtomicRound;

// The data of `size` bytes from byte `first` on, one per bit, that lie in the mask as a whole.
static uint32_t data_in(ByteMask bytes, uint32_t first, uint32_t size) {
  uint32_t words = bytes_words_all(bytes), active = 0;
  if (size == 4) return words;
  for (unsigned lane = 0; lane < WARP_LANES && first + lane * size < LINE_BYTES; lane++) {
    active |= (bytes_cover(bytes, bytes_from(first + lane * size, size)) ? 1u : 0u) << lane;
  }
  return active;
}

static void row_load(uint32_t *row, unsigned lane, const uint32_t *line, uint32_t at, uint32_t size) {
  uint64_t value = 0;
  memcpy(&value, (const uint8_t *)line + at, size);
  row_set(row, lane, size == 8 ? 2 : 1, value);
}

static bool is_atomic_row(uint16_t op) { return op < OP_COUNT && op_info[op].kind == KIND_ATOMIC; }

void l2_atomic_apply(const Simt *m, const Packet *packet, uint32_t line[LINE_WORDS]) {
  if (!is_atomic_row(packet->op)) return; // damaged on its way
  uint32_t size = type_info[op_info[packet->op].d].bits / 8u;
  for (uint32_t first = 0; first < LINE_BYTES; first += size * WARP_LANES) {
    AtomicRound round;
    uint32_t active = data_in(packet->bytes, first, size);
    if (active == 0) continue;
    memset(&round, 0, sizeof round);
    for (uint32_t left = active; left != 0; left &= left - 1) {
      unsigned lane = (unsigned)__builtin_ctz(left);
      uint32_t at = first + lane * size;
      row_load(round.old, lane, line, at, size);
      row_load(round.b, lane, packet->data, at, size);
      row_load(round.c, lane, packet->other, at, size);
    }
    LaneOp op = {.d = round.fresh, .a = round.old, .b = round.b, .c = round.c, .active = active, .mods = packet->mods};
    m->functions[packet->op](&op);
    for (uint32_t left = active; left != 0; left &= left - 1) {
      unsigned lane = (unsigned)__builtin_ctz(left);
      uint64_t value = row_get(round.fresh, lane, size == 8 ? 2 : 1);
      memcpy((uint8_t *)line + first + lane * size, &value, size);
    }
  }
}

static void perform_atomic(L2Slice *slice, const Packet *packet, uint32_t line) {
  uint32_t data[LINE_WORDS] = {0};
  l2_line_read(slice, packet, line, packet->bytes, data);
  memcpy(reply_to(slice, packet, PACKET_ATOMIC_REPLY)->data, data, sizeof data);
  if (!is_atomic_row(packet->op) || packet->quiet != 0) return; // damaged on its way, or without effect
  l2_atomic_apply(slice->m, packet, data);
  line_dirty(slice, packet, line, data);
}

// The line has what the request needs, and there is room for its reply.
static void perform(L2Slice *slice, const Packet *packet, uint32_t line) {
  if (packet->kind != PACKET_WRITE && packet->quiet == 0) line_used(slice->m, PREFETCH_L2, row_of(slice, line));
  if (packet->kind == PACKET_READ) {
    Packet *reply = reply_to(slice, packet, PACKET_READ_REPLY);
    l2_line_read(slice, packet, line, packet->bytes, reply->data);
    reply->split = backing_splits(&slice->m->backing, packet->address);
    if (reply->split != 0) bytes_copy(reply->other, slice->m->at.l2_rest[row_of(slice, line)].data, packet->bytes);
  } else if (packet->kind == PACKET_WRITE) {
    if (packet->quiet == 0) line_dirty(slice, packet, line, packet->data);
    reply_to(slice, packet, PACKET_WRITE_REPLY);
  } else {
    perform_atomic(slice, packet, line);
  }
}

static bool can_perform(const L2Slice *slice, const Packet *packet, uint32_t line) {
  return packet->kind == PACKET_WRITE || bytes_cover(cache_bytes(slice->cache.shape, &slice->cache.lines[line]), packet->bytes);
}

// ---- Misses ------------------------------------------------------------------------------------------
static uint32_t find_pending(const L2Slice *slice, uint64_t address) {
  uint32_t number = mshr_of_line(&slice->mshrs, address);
  return number < slice->mshrs.count ? number : NONE;
}

static uint32_t find_free(const L2Slice *slice) {
  uint32_t number = mshr_open(&slice->mshrs);
  return number < slice->mshrs.count ? number : NONE;
}

// A place for a request that waits.
static uint32_t find_place(const L2Slice *slice) {
  uint32_t count = slice->m->dims.l2_mshrs * 2;
  for (uint32_t w = 0; w * 64 < count; w++) {
    uint64_t open = ~slice->state->waiting[w];
    uint32_t place = open == 0 ? NONE : w * 64 + (uint32_t)__builtin_ctzll(open);
    if (place < count) return place;
  }
  return NONE;
}

static void begin_miss(L2Slice *slice, uint32_t number, uint64_t address, const Mshr *mshr) {
  mshr_begin(&slice->mshrs, number, address, mshr);
  slice->cache.lines[mshr->line].pinned = 1;
  slice->state->pending++;
}

static void keep_waiting(L2Slice *slice, Mshr *mshr, uint32_t place, const Packet *packet) {
  uint32_t waiters = mshr_waiters(mshr);
  packet_copy(&slice->waiting[place], packet);
  packet_enters(&slice->waiting[place], (MemoryStage)mshr->stage, simt_now(slice->m));
  slice->state->waiting[place / 64] |= UINT64_C(1) << place % 64;
  mshr->waiter[waiters] = place;
  mshr->waiters = (uint8_t)(waiters + 1);
}

// Asks DRAM for the sectors that the request needs and the line does not have. Only with room below.
static void fetch(L2Slice *slice, uint32_t register_number, const Packet *packet) {
  Mshr *mshr = &slice->mshrs.registers[register_number];
  uint32_t sector = (uint32_t)slice->m->spec->l2_sector;
  ByteMask wanted = {{0, 0}};
  for (uint32_t first = 0; first < LINE_BYTES; first += sector) {
    ByteMask part = bytes_from(first, sector);
    if (bytes_any(bytes_and(packet->bytes, part))) wanted = bytes_or(wanted, part);
  }
  mshr->asked = bytes_but(wanted, cache_bytes(slice->cache.shape, &slice->cache.lines[mshr->line]));
  below_push(slice, PACKET_READ, slice->mshrs.lines[register_number].address, mshr->asked, packet)->tag = (uint16_t)register_number;
  simt_count(slice->m, STAT_L2_MISSES, packet->prefetch == 1 + PREFETCH_L2 ? 0 : 1);
}

// The request waits in a new miss register. `line`: where the line is already, or NONE.
static bool miss(L2Slice *slice, const Packet *packet, uint64_t local, uint32_t line) {
  uint32_t number = find_free(slice), place = find_place(slice);
  if (number == NONE || place == NONE || below_is_full(slice)) return false;
  bool is_new = line == NONE && has_cache(slice);
  if (!has_cache(slice)) line = number;
  else if (line == NONE) line = reserve(slice, local);
  if (line == NONE || below_is_full(slice)) return false; // the victim may have taken the last place
  Mshr fresh = {.stage = STAGE_MISS_REGISTER, .line = line};
  fresh.prefetch = is_new && packet->kind == PACKET_READ && packet->quiet != 0 ? MIRRORED : 0;
  if (places_are_wanted(slice->m) && tag_is_free(slice, line)) tell_tag(slice, packet, line, true);
  begin_miss(slice, number, physical_of(slice, local), &fresh);
  keep_waiting(slice, &slice->mshrs.registers[number], place, packet);
  fetch(slice, number, packet);
  return true;
}

static bool join(L2Slice *slice, Mshr *mshr, const Packet *packet) {
  uint32_t place = find_place(slice);
  if (place == NONE || mshr_waiters(mshr) >= MSHR_MOST_WAITERS) return false;
  keep_waiting(slice, mshr, place, packet);
  return true;
}

// ---- Those who wait ------------------------------------------------------------------------------------
static Packet *waiter_at(const L2Slice *slice, const Mshr *mshr, uint32_t index) {
  return &slice->waiting[mshr->waiter[index] % (slice->m->dims.l2_mshrs * 2)];
}

// Data that has come can be used from ready_at on: until then it is still DRAM's time.
static void data_is_there(const L2Slice *slice, const Mshr *mshr, Packet *waiter) {
  if (waiter->stage != STAGE_DRAM) return;
  uint64_t now = simt_now(slice->m), since = now - (uint32_t)((uint32_t)now - waiter->since);
  packet_enters(waiter, STAGE_MISS_REGISTER, min_u64(max_u64(mshr->ready_at, since), now));
}

static void all_enter(const L2Slice *slice, Mshr *mshr, MemoryStage stage) {
  uint32_t count = mshr_waiters(mshr);
  mshr->stage = (uint8_t)stage;
  for (uint32_t i = 0; i < count; i++) {
    data_is_there(slice, mshr, waiter_at(slice, mshr, i));
    packet_enters(waiter_at(slice, mshr, i), stage, simt_now(slice->m));
  }
}

static Mshr *register_of(const L2Slice *slice, const Packet *fetch) {
  uint32_t number = fetch->tag % slice->mshrs.count;
  return mshr_valid(&slice->mshrs, number) ? &slice->mshrs.registers[number] : NULL;
}

void l2_fetch_enters(Simt *m, const Packet *fetch, MemoryStage stage) {
  L2Slice slice = l2_slice(m, fetch->partition % m->dims.partitions);
  Mshr *mshr = register_of(&slice, fetch);
  if (mshr != NULL) all_enter(&slice, mshr, stage);
}

uint32_t l2_waiters(Simt *m, const Packet *fetch, Packet **first, Who *waiters) {
  L2Slice slice = l2_slice(m, fetch->partition % m->dims.partitions);
  const Mshr *mshr = register_of(&slice, fetch);
  uint32_t count = mshr == NULL ? 0 : mshr_waiters(mshr);
  *first = count == 0 ? NULL : waiter_at(&slice, mshr, 0);
  for (uint32_t i = 0; i < count; i++) waiters[i] = *who_packet(m, waiter_at(&slice, mshr, i));
  return count;
}

// A line that nobody but mirrors has asked for until now has come.
static void tell_filled(L2Slice *slice, const Mshr *mshr, uint32_t sm) {
  uint32_t wanted = 0;
  for (uint32_t i = 0; i < mshr_waiters(mshr); i++) wanted += waiter_at(slice, mshr, i)->quiet == 0;
  Mark *mark = &slice->m->at.l2_marks[row_of(slice, mshr->line)];
  mark->mirror = mshr->prefetch == MIRRORED;
  mark->sm = (uint16_t)sm;
  prefetch_filled(slice->m, PREFETCH_L2, row_of(slice, mshr->line), wanted > 0);
}

// The constant part of DRAM's latency, controller and pins, is spent here: a request that has had its burst no longer takes a place
// in the controller's queue.
void l2_fill(Simt *m, const Packet *packet, const uint32_t data[LINE_WORDS]) {
  L2Slice slice = l2_slice(m, packet->partition % m->dims.partitions);
  uint32_t number = packet->tag % m->dims.l2_mshrs;
  if (!mshr_valid(&slice.mshrs, number)) return;
  Mshr *mshr = &slice.mshrs.registers[number];
  line_write(&slice, packet, mshr->line, packet->bytes, data);
  if (backing_splits(&m->backing, slice.mshrs.lines[number].address))
    backing_rest(&m->backing, packet->address, packet->bytes, m->at.l2_rest[row_of(&slice, mshr->line)].data);
  mshr->word = packet->word;
  if (mshr->prefetch != 0 && m->dims.acts != 0) tell_filled(&slice, mshr, packet->sm);
  mshr->prefetch = 0;
  mshr->asked = (ByteMask){{0, 0}};
  mshr->ready_at = simt_now(m) + m->spec->dram_latency;
  slice.state->serving[number / 64] |= UINT64_C(1) << number % 64;
  slice_wake(m, slice.index, mshr->ready_at);
}

// ---- A cycle -----------------------------------------------------------------------------------------
// A register's list is served: the line stays, or without L2 goes down. Only with room below when there is no L2.
static void release(L2Slice *slice, uint32_t number) {
  Mshr *mshr = &slice->mshrs.registers[number];
  if (!has_cache(slice)) {
    write_back(slice, mshr->line);
    cache_empty(&slice->cache.lines[mshr->line]);
  }
  slice->cache.lines[mshr->line].pinned = 0;
  if (has_cache(slice)) cache_touch(&slice->cache, mshr->line);
  if (places_are_wanted(slice->m) && tag_is_free(slice, mshr->line)) tell_tag(slice, NULL, mshr->line, false);
  mshr_end(&slice->mshrs, number);
  slice->state->serving[number / 64] &= ~(UINT64_C(1) << number % 64);
  slice->state->pending--;
}

// The front of a register's list has been served. The last that came before a flush takes what was flushed along: whoever
// came after it must see memory as the flush left it.
static void leave(L2Slice *slice, Mshr *mshr) {
  uint32_t place = mshr->waiter[0];
  memset(&slice->waiting[place], 0, sizeof slice->waiting[place]);
  slice->state->waiting[place / 64] &= ~(UINT64_C(1) << place % 64);
  memmove(&mshr->waiter[0], &mshr->waiter[1], sizeof mshr->waiter - sizeof mshr->waiter[0]);
  mshr->waiter[MSHR_MOST_WAITERS - 1] = 0;
  mshr->waiters--;
  if (mshr->stale == 0) return;
  mshr->stale--;
  if (mshr->stale > 0) return;
  slice->cache.lines[mshr->line].valid = (ByteMask){{0, 0}};
  cache_hold(&slice->cache, mshr->line, (ByteMask){{0, 0}});
}

// The next register in turn whose data can be used. *ready_at: when the next of the others can.
static uint32_t next_serving(const L2Slice *slice, uint64_t *ready_at) {
  uint32_t count = slice->m->dims.l2_mshrs, first = slice->state->serve_next, best = NONE, best_turn = NONE;
  uint64_t now = simt_now(slice->m);
  for (uint32_t w = 0; w * 64 < count; w++) {
    for (uint64_t left = slice->state->serving[w]; left != 0; left &= left - 1) {
      uint32_t number = w * 64 + (uint32_t)__builtin_ctzll(left);
      uint32_t turn = number >= first ? number - first : number + count - first;
      if (slice->mshrs.registers[number].ready_at > now) {
        *ready_at = min_u64(*ready_at, slice->mshrs.registers[number].ready_at);
      } else if (turn < best_turn) {
        best = number;
        best_turn = turn;
      }
    }
  }
  return best;
}

// One request that waited for data.
static bool serve(L2Slice *slice, uint64_t *ready_at) {
  if (slice->state->pending == 0) return false;
  uint32_t number = next_serving(slice, ready_at);
  if (number == NONE || output_is_full(slice)) return false;
  Mshr *mshr = &slice->mshrs.registers[number];
  if (mshr_waiters(mshr) == 0) { // prefetched, and nobody has come for it
    slice->state->serve_next = number + 1 == slice->m->dims.l2_mshrs ? 0 : number + 1;
    release(slice, number);
    return true;
  }
  Packet *packet = waiter_at(slice, mshr, 0);
  bool can = can_perform(slice, packet, mshr->line);
  if ((!can || !has_cache(slice)) && below_is_full(slice)) return false;
  slice->state->serve_next = number + 1 == slice->m->dims.l2_mshrs ? 0 : number + 1;
  if (!can) { // needs sectors that no one before it has fetched
    slice->state->serving[number / 64] &= ~(UINT64_C(1) << number % 64);
    all_enter(slice, mshr, STAGE_MISS_REGISTER);
    fetch(slice, number, packet);
    return true;
  }
  data_is_there(slice, mshr, packet);
  packet->word = mshr->word;
  perform(slice, packet, mshr->line);
  leave(slice, mshr);
  if (mshr->waiters == 0) release(slice, number);
  return true;
}

// A request for a line that has no miss register. False: it must wait.
static bool look_up(L2Slice *slice, const Packet *packet, uint64_t local) {
  uint32_t line = NONE;
  bool is_write = packet->kind == PACKET_WRITE;
  if (is_write && packet->quiet != 0) {
    reply_to(slice, packet, PACKET_WRITE_REPLY);
    return true;
  }
  if (!has_cache(slice)) {
    if (!is_write) return miss(slice, packet, local, NONE);
    if (below_is_full(slice)) return false;
    memcpy(below_push(slice, PACKET_WRITE, physical_of(slice, local), packet->bytes, packet)->data, packet->data, sizeof packet->data);
    reply_to(slice, packet, PACKET_WRITE_REPLY);
    return true;
  }
  CacheFind found = cache_find(&slice->cache, local, packet->bytes, &line);
  if (found != CACHE_HIT && !is_write) return miss(slice, packet, local, line);
  if (found == CACHE_MISS) line = reserve(slice, local);
  if (line == NONE) return false;
  if (places_are_wanted(slice->m) && tag_is_free(slice, line)) tell_tag(slice, packet, line, true);
  perform(slice, packet, line);
  cache_touch(&slice->cache, line);
  return true;
}

// What hooks say of a request that has come. DROP: it counts as answered; an atomic still returns what is there, a read is not touched.
typedef enum Entry { ENTRY_PASSES, ENTRY_WAITS, ENTRY_ENDS } Entry;

static Entry ask_entry(L2Slice *slice, Packet *packet, uint64_t *ready_at) {
  Simt *m = slice->m;
  PacketStory story;
  if ((m->wants & WANT_ARRIVAL) == 0 || packet->passed != 0) return ENTRY_PASSES;
  const MemoryEvent *event = packet_story(m, packet, MEMORY_ARRIVAL, &story);
  Verdict verdict = simt_obey(m, event->who, hook_tell_arrival(m->listener, &m->hook_machine, event));
  if (verdict == VERDICT_HOLD) {
    *ready_at = min_u64(*ready_at, simt_now(m) + 1);
    return ENTRY_WAITS;
  }
  packet->passed = 1;
  if (verdict == VERDICT_DROP && packet->kind == PACKET_ATOMIC) packet->op = OP_COUNT; // see perform_atomic
  return verdict == VERDICT_DROP && packet->kind == PACKET_WRITE ? ENTRY_ENDS : ENTRY_PASSES;
}

// A miss register without a waiter. What is there or under way needs none. Nobody gets a reply.
static bool take_prefetch(L2Slice *slice, const Packet *packet, uint64_t local, uint32_t pending) {
  uint32_t line = NONE, number = find_free(slice);
  ByteMask whole = bytes_from(0, LINE_BYTES);
  bool is_missing = pending == NONE && has_cache(slice) && cache_find(&slice->cache, local, whole, &line) != CACHE_HIT;
  if (is_missing) {
    if (number == NONE || below_is_full(slice)) return false;
    if (line == NONE) line = reserve(slice, local);
    if (line == NONE || below_is_full(slice)) return false;
    if (places_are_wanted(slice->m) && tag_is_free(slice, line)) tell_tag(slice, packet, line, true);
    Mshr fresh = {.stage = STAGE_MISS_REGISTER, .prefetch = PREFETCHED, .line = line};
    begin_miss(slice, number, physical_of(slice, local), &fresh);
    Packet request = *packet;
    request.bytes = whole;
    fetch(slice, number, &request);
  }
  slice->m->at.core->packets -= slice->m->at.core->packets > 0;
  return true;
}

// The request at the front of the pipeline. *ready_at: when it gets there, if it is not there yet.
static bool accept(L2Slice *slice, uint64_t *ready_at) {
  Simt *m = slice->m;
  PacketQueue *queue = &slice->state->input;
  Packet *items = &m->at.partition_inputs[slice->index * m->dims.l2_inputs];
  Packet *packet = packet_queue_front(queue, items, m->dims.l2_inputs);
  if (packet == NULL) return false;
  InputTime *time = &m->at.partition_times[slice->index * m->dims.l2_inputs + (uint32_t)(packet - items)];
  if (time->ready_at > simt_now(m)) {
    *ready_at = min_u64(*ready_at, time->ready_at);
    return false;
  }
  if (output_is_full(slice)) return false;
  bool is_request = packet->kind == PACKET_READ || packet->kind == PACKET_WRITE || packet->kind == PACKET_ATOMIC;
  if (is_request) {
    Entry entry = ask_entry(slice, packet, ready_at);
    if (entry == ENTRY_WAITS) return false;
    uint64_t local = local_of(slice, packet->address);
    uint32_t pending = find_pending(slice, physical_of(slice, local));
    bool done = true;
    if (packet->prefetch == 1 + PREFETCH_L2) done = take_prefetch(slice, packet, local, pending);
    else if (entry == ENTRY_ENDS) reply_to(slice, packet, PACKET_WRITE_REPLY);
    else done = pending != NONE ? join(slice, &slice->mshrs.registers[pending], packet) : look_up(slice, packet, local);
    if (!done) return false;
    simt_count(m, STAT_L2_ACCESSES, packet->prefetch == 1 + PREFETCH_L2 ? 0 : 1);
  }
  time->ready_at = 0;
  packet_queue_pop(queue, items, m->dims.l2_inputs);
  return true;
}

bool partition_cycle(Simt *m, uint32_t partition, uint64_t *next) {
  uint64_t now = simt_now(m), ready_at = UINT64_MAX;
  L2Slice slice = l2_slice(m, partition);
  bool served = serve(&slice, &ready_at), accepted = accept(&slice, &ready_at);
  if (accepted) ready_at = min_u64(ready_at, max_u64(slice_front_at(m, partition), now + 1));
  // What waits for data, for room below or for room in the output is woken by whoever brings it.
  m->at.slices_at[partition] = served ? now + 1 : ready_at;
  *next = min_u64(*next, served || accepted ? now + 1 : ready_at);
  return served || accepted;
}

bool partitions_cycle(Simt *m, uint64_t *next) {
  uint32_t count = m->dims.partitions;
  bool moved = false;
  if (simt_now(m) >= m->at.core->slices_at) {
    for (uint32_t first = 0; first < count; first += TIMES_AT_ONCE) {
      for (uint32_t due = times_due(m, m->at.slices_at, first, count); due != 0; due &= due - 1)
        moved |= partition_cycle(m, first + (uint32_t)__builtin_ctz(due), next);
    }
    m->at.core->slices_at = times_least(m->at.slices_at, count);
  }
  *next = min_u64(*next, m->at.core->slices_at);
  return moved;
}
