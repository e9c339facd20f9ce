// Raster operations: results come over a crossbar of their own and go through caches to the frame. Four fragments share a line; lines are dealt
// over the raster operations. A result is written without a read of its line: caches know which bytes they have.
#include "machine/fragment/fragment_internal.h"

// Where a result goes. False: outside of the frame, or nowhere.
static bool target_of(const Fragment *m, const FragContext *context, FragPlace *place) {
  *place = context->place;
  if (!m->shader->scatters) return true;
  float x = __builtin_floorf(context->thread.target[0]), y = __builtin_floorf(context->thread.target[1]);
  if (!(x >= 0.0f && x < (float)m->width && y >= 0.0f && y < (float)m->height)) return false;
  *place = (FragPlace){(uint16_t)x, (uint16_t)y};
  return true;
}

bool rops_take(Fragment *m, const FragContext *context) {
  FragRing *ring = &m->core->result;
  FragPlace place;
  if (!target_of(m, context, &place)) {
    m->stats->killed++;
    return true;
  }
  if (ring->count >= m->dims.asked) return false;
  FragResult *result = &m->result[(ring->head + ring->count++) % m->dims.asked];
  *result = (FragResult){.place = place, .from = context->place, .at = m->core->cycle + 1};
  memcpy(result->value, context->thread.output[OUTPUT_COLOR], 3 * sizeof(uint32_t));
  memcpy(&result->value[3], &context->thread.output[OUTPUT_DEPTH][2], sizeof(uint32_t));
  return true;
}

// Where a result goes. Places are as they are, but after a fault.
static uint32_t address_of(Fragment *m, const FragResult *result, uint32_t *rop) {
  tell_row(m, LOOKED_FRAME, 0, 1, false);
  tell_row(m, LOOKED_ROW, 0, 1, false);
  uint32_t row = max_u32(m->core->frame_row, 1), x = result->place.x % row, y = result->place.y % m->height;
  uint32_t address = (m->core->frame + (y * row + x) * FRAGMENT_TEXEL_BYTES) & ((1u << FRAG_ADDRESS_BITS) - FRAGMENT_TEXEL_BYTES);
  *rop = address / FRAG_LINE % m->dims.rops;
  return address;
}

// In the order in which they came in; one whose raster operation has no room holds up those behind it.
bool results_cross(Fragment *m) {
  FragCore *core = m->core;
  bool any = false;
  for (uint32_t i = 0; i < m->dims.width && core->result.count > 0; i++) {
    FragResult *result = &m->result[core->result.head % m->dims.asked];
    uint32_t rop;
    address_of(m, result, &rop);
    FragRing *landing = &m->rops[rop].landing;
    if (result->at > core->cycle || landing->count >= m->dims.misses) break;
    FragResult *to = &m->landing[rop * m->dims.misses + (landing->head + landing->count++) % m->dims.misses];
    *to = *result;
    to->at = core->cycle + 1;
    *result = (FragResult){0};
    core->result.head = (core->result.head + 1) % m->dims.asked;
    core->result.count--;
    any = true;
  }
  return any;
}

// Lines are dealt over the raster operations, so the bits that name one are no part of an address within its cache.
static uint32_t inside(const Fragment *m, uint32_t address) { return address / FRAG_LINE / m->dims.rops * FRAG_LINE + address % FRAG_LINE; }

static Cache cache_of(const Fragment *m, uint32_t rop) {
  uint32_t first = rop * cache_lines(&m->dims.cache);
  return (Cache){&m->dims.cache, &m->rcache_tags[first], &m->rcache[first], &m->rcache_data[first]};
}

static void write_back(Fragment *m, uint32_t rop, uint32_t index) {
  Cache cache = cache_of(m, rop);
  const CacheLine *line = &cache.lines[index];
  tell_row(m, LOOKED_RCACHE, (uint64_t)(line - m->rcache), bytes_words_any(line->dirty) & 0xFFFF, false);
  uint32_t number = (uint32_t)cache_line_address(&cache, index) / FRAG_LINE * m->dims.rops + rop;
  uint32_t address = number * FRAG_LINE & ((1u << FRAG_ADDRESS_BITS) - FRAG_LINE);
  for (uint32_t i = 0; i < FRAG_LINE; i++) {
    if ((line->dirty.half[0] >> i & 1) == 0) continue;
    uint8_t *to = frame_bytes(m, address + i, 1);
    if (to != NULL) *to = ((const uint8_t *)cache.data[index].word)[i]; // NULL: a fault in the tag
  }
  for (uint32_t word = 0; word < FRAG_LINE / 4; word++) {
    if ((bytes_words_any(line->dirty) >> word & 1) != 0) tell_memory(m, address + 4 * word, 4, true);
  }
  m->stats->memory_writes++;
}

static void write_through(Fragment *m, uint32_t address, const uint32_t value[4]) {
  uint8_t *to = frame_bytes(m, address, FRAGMENT_TEXEL_BYTES);
  if (to != NULL) memcpy(to, value, FRAGMENT_TEXEL_BYTES);
  tell_memory(m, address, FRAGMENT_TEXEL_BYTES, true);
}

// The line of an address, which goes into the cache if it is not there. Bytes that nobody has brought stay invalid.
static uint32_t line_of(Fragment *m, const Cache *cache, uint32_t rop, uint32_t address) {
  uint32_t index;
  if (cache_find(cache, inside(m, address), bytes_from(0, FRAG_LINE), &index) != CACHE_MISS) return index;
  m->stats->rop_misses++;
  index = cache_victim(cache, inside(m, address));
  if (bytes_any(cache->lines[index].dirty)) {
    write_back(m, rop, index);
    m->core->writes++;
  }
  cache_begin(cache, index, inside(m, address));
  cache_touch(cache, index);
  return index;
}

static void write_result(Fragment *m, uint32_t rop, uint32_t address, const uint32_t value[4]) {
  ByteMask bytes = bytes_from(address % FRAG_LINE, FRAGMENT_TEXEL_BYTES);
  m->stats->rop_accesses++;
  Cache cache = cache_of(m, rop);
  uint32_t index = line_of(m, &cache, rop, address);
  CacheLine *line = &cache.lines[index];
  memcpy((uint8_t *)cache.data[index].word + address % FRAG_LINE, value, FRAGMENT_TEXEL_BYTES);
  line->dirty = bytes_or(line->dirty, bytes);
  cache_hold(&cache, index, bytes);
  cache_touch(&cache, index);
  tell_row(m, LOOKED_RCACHE, (uint64_t)(line - m->rcache), 0xFu << address % FRAG_LINE / 4, true);
}

// ---- What the frame holds ----------------------------------------------------------------------------------------------

static bool ask_for_line(Fragment *m, uint32_t rop, uint32_t address) {
  FragRop *unit = &m->rops[rop];
  uint32_t line_address = address & ~(uint32_t)(FRAG_LINE - 1);
  if ((unit->waits & 1) != 0 && unit->address == line_address) return false; // under way
  if (crossbar_asks(m, m->dims.pipes + rop, 0, line_address)) unit->address = line_address, unit->waits = 1;
  return true;
}

// False: it is not in the cache yet. *any: something was done for it.
static bool read_old(Fragment *m, uint32_t rop, uint32_t address, uint32_t old[4], bool *any) {
  if (m->dims.is_perfect) {
    tell_memory(m, address, FRAGMENT_TEXEL_BYTES, false);
    const uint8_t *from = frame_bytes(m, address, FRAGMENT_TEXEL_BYTES);
    if (from != NULL) memcpy(old, from, FRAGMENT_TEXEL_BYTES);
    return true;
  }
  Cache cache = cache_of(m, rop);
  uint32_t index;
  if (cache_find(&cache, inside(m, address), bytes_from(address % FRAG_LINE, FRAGMENT_TEXEL_BYTES), &index) != CACHE_HIT) {
    *any = ask_for_line(m, rop, address) || *any;
    return false;
  }
  m->stats->rop_accesses++;
  cache_touch(&cache, index);
  tell_row(m, LOOKED_RCACHE, (uint64_t)(&cache.lines[index] - m->rcache), 0xFu << address % FRAG_LINE / 4, false);
  memcpy(old, (const uint8_t *)cache.data[index].word + address % FRAG_LINE, FRAGMENT_TEXEL_BYTES);
  return true;
}

void rop_filled(Fragment *m, uint32_t rop, uint32_t address) {
  Cache cache = cache_of(m, rop);
  uint32_t index = line_of(m, &cache, rop, address);
  CacheLine *line = &cache.lines[index];
  tell_memory(m, address, FRAG_LINE, false);
  const uint8_t *from = frame_bytes(m, address, FRAG_LINE);
  ByteMask there = cache_bytes(cache.shape, line);
  for (uint32_t i = 0; i < FRAG_LINE; i++) { // what was written meanwhile is newer
    if ((there.half[0] >> i & 1) == 0) ((uint8_t *)cache.data[index].word)[i] = from != NULL ? from[i] : 0;
  }
  uint32_t fresh = ~bytes_words_any(there) & 0xFFFF;
  cache_hold(&cache, index, bytes_from(0, FRAG_LINE));
  cache_touch(&cache, index);
  tell_row(m, LOOKED_RCACHE, (uint64_t)(line - m->rcache), fresh, true);
  m->rops[rop].waits = 0;
}

// ---- A result ----------------------------------------------------------------------------------------------------------

// Asks hooks what becomes of a result. False: it stays where it is. *any: something was done for it.
static bool ask_hooks(Fragment *m, uint32_t rop, uint32_t address, FragResult *landing, bool *writes, bool *any) {
  uint32_t old[4] = {0};
  uint32_t row = max_u32(m->core->frame_row, 1), x = landing->place.x % row, y = landing->place.y % m->height;
  Who who = WHO_NOBODY;
  who.launch = m->launch->number;
  who.block = (uint64_t)y * m->width + x;
  MergeEvent event = {.who = &who, .unit = rop, .x = x, .y = y, .width = m->width, .value = landing->value};
  event.from_x = m->shader->scatters ? landing->from.x : x;
  event.from_y = m->shader->scatters ? landing->from.y : y;
  Verdict verdict = hooks_merge(&m->hooks, &m->machine, &event);
  if (event.wants_old) {
    if (!read_old(m, rop, address, old, any)) return false;
    event.wants_old = false;
    event.old = old;
    verdict = hooks_merge(&m->hooks, &m->machine, &event);
  }
  if (verdict == VERDICT_HALT || m->machine.refused.hook != NULL) m->core->halted = 1;
  *writes = verdict == VERDICT_PASS;
  return verdict != VERDICT_HOLD;
}

// The oldest result of a raster operation. False: there is none, or it stays.
static bool rop_works(Fragment *m, uint32_t rop) {
  FragRing *ring = &m->rops[rop].landing;
  if (ring->count == 0) return false;
  FragResult *landing = &m->landing[rop * m->dims.misses + ring->head % m->dims.misses];
  uint32_t there;
  uint32_t address = address_of(m, landing, &there); // another raster operation's, after a fault: it goes through this cache all the same
  bool writes = true, any = false;
  if (landing->at > m->core->cycle) return false;
  if ((m->wants & WANT_MERGE) != 0 && !ask_hooks(m, rop, address, landing, &writes, &any)) return any;
  if (writes && m->dims.is_perfect) write_through(m, address, landing->value);
  else if (writes) write_result(m, rop, address, landing->value);
  *landing = (FragResult){0};
  ring->head = (ring->head + 1) % m->dims.misses;
  ring->count--;
  return true;
}

// Each takes one result a cycle.
bool rops_work(Fragment *m) {
  bool any = false;
  for (uint32_t rop = 0; rop < m->dims.rops; rop++) any = rop_works(m, rop) || any;
  return any;
}

// The frame goes to memory at the end: memory takes dirty lines at its own pace. The launch is over when it has the last.
bool rops_give_back(Fragment *m) {
  FragCore *core = m->core;
  uint32_t count = cache_lines(&m->dims.cache), all = m->dims.is_perfect ? 0 : count * m->dims.rops, room = m->dims.memory_width;
  if (core->cycle < core->memory_at || core->writes > 0) return false; // lines that were pushed out come first
  for (; core->flush < all && room > 0; core->flush++) {
    CacheLine *line = &m->rcache[core->flush];
    if (!bytes_any(line->dirty)) continue;
    write_back(m, core->flush / count, core->flush % count);
    line->dirty = (ByteMask){{0, 0}};
    core->memory_at = core->cycle + m->dims.memory_interval;
    room--;
  }
  if (core->flush >= all) {
    core->is_over = 1;
    tell_whole_memory(m, false); // the host may read it
  }
  return true;
}

void rops_flush(Fragment *m) {
  uint32_t count = cache_lines(&m->dims.cache);
  for (uint32_t i = 0; i < count * m->dims.rops; i++) {
    if (!bytes_any(m->rcache[i].dirty)) continue;
    write_back(m, i / count, i % count);
    m->rcache[i].dirty = (ByteMask){{0, 0}};
  }
}
