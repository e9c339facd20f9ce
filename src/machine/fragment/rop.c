// Raster operations: results come over a crossbar of their own and go through caches to the frame. Four fragments share a line; lines are dealt
// over the raster operations. A result is written without a read of its line: caches know which bytes they have.
#include "machine/fragment/fragment_internal.h"

enum { LANDING_PER_CYCLE = 4 }; // see layout.c: cycles of crossing that the ring holds

bool rops_take(Fragment *m, const FragContext *context) {
  FragRing *ring = &m->core->result;
  if (ring->count >= m->dims.asked) return false;
  FragResult *result = &m->result[(ring->head + ring->count++) % m->dims.asked];
  *result = (FragResult){.place = context->place, .at = m->core->cycle + 1};
  memcpy(result->value, context->thread.output[OUTPUT_COLOR], 3 * sizeof(uint32_t));
  memcpy(&result->value[3], &context->thread.output[OUTPUT_DEPTH][2], sizeof(uint32_t));
  return true;
}

bool results_cross(Fragment *m) {
  FragCore *core = m->core;
  uint32_t size = m->dims.width * LANDING_PER_CYCLE;
  bool any = false;
  for (uint32_t i = 0; i < m->dims.width && core->result.count > 0; i++) {
    FragResult *result = &m->result[core->result.head % m->dims.asked];
    if (result->at > core->cycle || core->landing.count >= size) break;
    FragResult *landing = &m->landing[(core->landing.head + core->landing.count++) % size];
    *landing = *result;
    landing->at = core->cycle + 1;
    *result = (FragResult){0};
    core->result.head = (core->result.head + 1) % m->dims.asked;
    core->result.count--;
    any = true;
  }
  return any;
}

static void write_back(Fragment *m, CacheLine *lines, uint32_t index) {
  CacheLine *line = &lines[index];
  uint32_t address = (uint32_t)cache_line_address(&m->dims.cache, lines, index) & ((1u << FRAG_ADDRESS_BITS) - FRAG_LINE);
  for (uint32_t i = 0; i < FRAG_LINE; i++) {
    if ((line->dirty.half[0] >> i & 1) == 0) continue;
    uint8_t *to = frame_bytes(m, address + i, 1);
    if (to != NULL) *to = ((const uint8_t *)line->data)[i]; // NULL: a fault in the tag
  }
  m->stats->memory_writes++;
}

static void write_through(Fragment *m, uint32_t address, const uint32_t value[4]) {
  uint8_t *to = frame_bytes(m, address, FRAGMENT_TEXEL_BYTES);
  if (to != NULL) memcpy(to, value, FRAGMENT_TEXEL_BYTES);
}

static void write_result(Fragment *m, uint32_t address, const uint32_t value[4]) {
  uint32_t rop = address / FRAG_LINE % m->dims.rops, index;
  CacheLine *lines = &m->rcache[rop * cache_lines(&m->dims.cache)];
  ByteMask bytes = bytes_from(address % FRAG_LINE, FRAGMENT_TEXEL_BYTES);
  m->stats->rop_accesses++;
  if (cache_find(&m->dims.cache, lines, address, bytes, &index) == CACHE_MISS) {
    m->stats->rop_misses++;
    index = cache_victim(&m->dims.cache, lines, address);
    if (bytes_any(lines[index].dirty)) {
      write_back(m, lines, index);
      m->core->writes++;
    }
    lines[index] = (CacheLine){.tag = cache_tag(&m->dims.cache, address)};
  }
  CacheLine *line = &lines[index];
  memcpy((uint8_t *)line->data + address % FRAG_LINE, value, FRAGMENT_TEXEL_BYTES);
  line->valid = bytes_or(line->valid, bytes);
  line->dirty = bytes_or(line->dirty, bytes);
  line->used = m->core->cycle;
}

// Each raster operation takes one result a cycle, in the order of their coming.
bool rops_work(Fragment *m) {
  FragCore *core = m->core;
  uint32_t size = m->dims.width * LANDING_PER_CYCLE;
  uint64_t taken = 0; // raster operations that have worked in this cycle
  bool any = false;
  while (core->landing.count > 0) {
    FragResult *landing = &m->landing[core->landing.head % size];
    uint32_t x = landing->place.x % m->width, y = landing->place.y % m->height; // as they are, but after a fault
    uint32_t address = m->params.frame + (y * m->width + x) * FRAGMENT_TEXEL_BYTES;
    uint64_t rop = UINT64_C(1) << address / FRAG_LINE % m->dims.rops;
    if (landing->at > core->cycle || (taken & rop) != 0) break;
    taken |= rop;
    if (m->dims.is_perfect) write_through(m, address, landing->value);
    else write_result(m, address, landing->value);
    *landing = (FragResult){0};
    core->landing.head = (core->landing.head + 1) % size;
    core->landing.count--;
    core->left--;
    any = true;
  }
  return any;
}

void rops_flush(Fragment *m) {
  uint32_t count = cache_lines(&m->dims.cache);
  for (uint32_t rop = 0; rop < m->dims.rops; rop++) {
    CacheLine *lines = &m->rcache[rop * count];
    for (uint32_t i = 0; i < count; i++) {
      if (!bytes_any(lines[i].dirty)) continue;
      write_back(m, lines, i);
      lines[i].dirty = (ByteMask){{0, 0}};
    }
  }
}
