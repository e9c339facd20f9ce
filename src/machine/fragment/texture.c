// Texture reads: the caches of the pipelines, the crossbar and the memory behind it. A miss takes a place in the cache's queue and goes over the
// crossbar: one cycle in, the memory's time, one cycle out. A read of a line that is under way joins it.
#include "machine/fragment/fragment_internal.h"

#include <math.h>

// ---- Which texel -------------------------------------------------------------------------------------------------------

static uint32_t log2_up(uint32_t x) {
  uint32_t bits = 0;
  while ((1u << bits) < x) bits++;
  return bits;
}

uint32_t fragment_morton(uint32_t x, uint32_t y, uint32_t width, uint32_t height) {
  uint32_t x_bits = log2_up(width), y_bits = log2_up(height), at = 0, place = 0;
  for (uint32_t i = 0; i < 16; i++) {
    if (i < x_bits) place |= (x >> i & 1) << at++;
    if (i < y_bits) place |= (y >> i & 1) << at++;
  }
  return place;
}

uint64_t fragment_texture_bytes(uint32_t width, uint32_t height) {
  return ((uint64_t)FRAGMENT_TEXEL_BYTES << log2_up(width)) << log2_up(height);
}

// A coordinate as a texel: 0.0 to 1.0 repeats; texels of RECT are clamped. What is no number is 0.
static uint32_t nearest(float at, uint32_t size, bool is_rect) {
  if (!is_rect) at = (at - __builtin_floorf(at)) * (float)size;
  if (!(at > 0.0f)) return 0;
  return at < (float)size ? (uint32_t)at : size - 1;
}

void fragment_texel(const FragmentTexture *texture, const ShaderRead *read, uint32_t *x, uint32_t *y) {
  *x = nearest(read->at[0], texture->width, read->shape == SHAPE_RECT);
  *y = read->shape == SHAPE_1D ? 0 : nearest(read->at[1], texture->height, read->shape == SHAPE_RECT);
}

uint8_t *frame_bytes(const Fragment *m, uint32_t address, uint32_t bytes) {
  return memory_at(m->memory, memory_base(m->memory) + address, bytes);
}

// A line of a texture cache is there as a whole.
static const ByteMask whole_line = {{UINT64_MAX, 0}};
_Static_assert(FRAG_LINE == 64, "whole_line");

// ---- The cache -----------------------------------------------------------------------------------------------------------

static Cache cache_of(const Fragment *m, uint32_t cache) {
  uint32_t first = cache * cache_lines(&m->dims.cache);
  return (Cache){&m->dims.tcache, &m->tcache_tags[first], &m->tcache[first], &m->tcache_data[first]};
}

static void take_texel(Fragment *m, const CacheData *line, uint32_t address, float texel[4]) {
  tell_row(m, LOOKED_TCACHE, (uint64_t)(line - m->tcache_data), 0xFu << address % FRAG_LINE / 4, false);
  memcpy(texel, (const uint8_t *)line->word + address % FRAG_LINE, FRAGMENT_TEXEL_BYTES);
}

static void read_memory(Fragment *m, uint32_t address, void *bytes, uint32_t count) {
  tell_memory(m, address, count, false);
  const uint8_t *from = frame_bytes(m, address, count);
  if (from != NULL) memcpy(bytes, from, count);
  else memset(bytes, 0, count); // beyond what is allocated: only after a fault
}

bool crossbar_asks(Fragment *m, uint32_t from, uint32_t miss, uint32_t line_address) {
  FragRing *ring = &m->core->asked;
  if (ring->count >= m->dims.asked) return false;
  m->asked[(ring->head + ring->count++) % m->dims.asked] =
      (FragAsked){.address = line_address, .miss = (uint16_t)miss, .from = (uint8_t)from, .at = m->core->cycle + 1};
  return true;
}

// Puts the miss into the queue, or joins one. False: no place in the queue or in the crossbar.
static bool ask_for(Fragment *m, uint32_t pipe, uint32_t number, uint32_t line_address) {
  uint32_t cache = pipe / m->dims.sharing, waiter = 1u << (pipe % m->dims.sharing * m->dims.contexts + number);
  FragMiss *misses = &m->misses[cache * m->dims.misses], *fresh = NULL;
  for (uint32_t i = 0; i < m->dims.misses; i++) {
    if ((misses[i].valid & 1) == 0) {
      if (fresh == NULL) fresh = &misses[i];
    } else if (misses[i].address == line_address) {
      misses[i].waiters |= waiter;
      m->stats->merged++;
      return true;
    }
  }
  if (fresh == NULL || !crossbar_asks(m, cache, (uint32_t)(fresh - misses), line_address)) return false;
  *fresh = (FragMiss){.address = line_address, .waiters = waiter, .valid = 1};
  m->stats->misses++;
  return true;
}

// Of a pair in lockstep both ask for the same line in the same cycle, and the cache is looked up once.
static void count_read(Fragment *m, uint32_t pipe, uint32_t line_address) {
  FragStats *stats = m->stats;
  stats->reads++;
  if (!m->dims.lockstep) return;
  bool is_second = pipe % 2 == 1 && stats->looked_up.at == m->core->cycle + 1 && stats->looked_up.pipe == pipe - 1;
  if (is_second && stats->looked_up.line == line_address) stats->shared_reads++;
  stats->looked_up.at = m->core->cycle + 1;
  stats->looked_up.pipe = pipe;
  stats->looked_up.line = line_address;
}

bool texture_reads(Fragment *m, uint32_t pipe, uint32_t number, const ShaderRead *read, float texel[4]) {
  const FragmentTexture *texture = &m->params.texture[read->texture % SHADER_TEXTURES];
  uint32_t x, y;
  memset(texel, 0, 4 * sizeof(float));
  if (texture->width == 0) return true; // none is bound
  fragment_texel(texture, read, &x, &y);
  uint32_t address = texture->address + fragment_morton(x, y, texture->width, texture->height) * FRAGMENT_TEXEL_BYTES;
  address &= (1u << FRAG_ADDRESS_BITS) - FRAGMENT_TEXEL_BYTES;
  if (m->dims.has_perfect_textures) {
    m->stats->reads++;
    read_memory(m, address, texel, FRAGMENT_TEXEL_BYTES);
    return true;
  }
  Cache cache = cache_of(m, pipe / m->dims.sharing);
  uint32_t index, line_address = address & ~(uint32_t)(FRAG_LINE - 1);
  if (cache_find(&cache, address, whole_line, &index) == CACHE_HIT) {
    cache_touch(&cache, index);
    count_read(m, pipe, line_address);
    take_texel(m, &cache.data[index], address, texel);
    return true;
  }
  if (!ask_for(m, pipe, number, line_address)) return false; // again in the next cycle
  set_status(m, pipe, number, CONTEXT_WAITS);
  context_at(m, pipe, number)->texel = address;
  count_read(m, pipe, line_address);
  return false;
}

// ---- The crossbar and memory -----------------------------------------------------------------------------------------------

bool memory_takes(Fragment *m) {
  FragCore *core = m->core;
  uint32_t room = m->dims.memory_width;
  bool any = false;
  if (core->cycle < core->memory_at) return false;
  for (; room > 0 && core->writes > 0; room--) { // lines of raster operations, which were waiting longer
    core->writes--;
    any = true;
  }
  for (; room > 0 && core->asked.count > 0; room--) {
    FragAsked *asked = &m->asked[core->asked.head % m->dims.asked];
    if (asked->at > core->cycle || core->flying.count >= m->dims.flying) break;
    FragAsked *flying = &m->flying[(core->flying.head + core->flying.count++) % m->dims.flying];
    *flying = *asked;
    flying->at = core->cycle + m->dims.memory_latency + 1;
    core->asked.head = (core->asked.head + 1) % m->dims.asked;
    core->asked.count--;
    m->stats->memory_reads++;
    any = true;
  }
  if (any) core->memory_at = core->cycle + m->dims.memory_interval;
  return any;
}

static void fill(Fragment *m, uint32_t number, uint32_t address) {
  Cache cache = cache_of(m, number);
  uint32_t index = cache_victim(&cache, address);
  cache_begin(&cache, index, address);
  cache_hold(&cache, index, bytes_from(0, FRAG_LINE));
  cache_touch(&cache, index);
  read_memory(m, address, cache.data[index].word, FRAG_LINE);
  tell_row(m, LOOKED_TCACHE, (uint64_t)(&cache.lines[index] - m->tcache), 0xFFFF, true);
}

// The texel of a context that waited for a line which has come: its instruction ends.
static void wake(Fragment *m, uint32_t pipe, uint32_t number) {
  FragContext *context = context_at(m, pipe, number);
  if (status_of(m, pipe, number) != CONTEXT_WAITS) return; // a fault
  float texel[4];
  ShaderState state = state_of(m, pipe, number);
  uint32_t address = context->texel & ((1u << FRAG_ADDRESS_BITS) - FRAGMENT_TEXEL_BYTES);
  Cache cache = cache_of(m, pipe / m->dims.sharing);
  uint32_t index;
  bool is_there = cache_find(&cache, address, whole_line, &index) == CACHE_HIT;
  if (is_there) take_texel(m, &cache.data[index], address, texel);
  else read_memory(m, address, texel, FRAGMENT_TEXEL_BYTES); // a fault has moved it: the line goes past the cache
  uint32_t pc = context->thread.pc;
  ShaderInstr room;
  const ShaderInstr *instr = fetched(m, pc, &room); // NULL: a fault, which the next cycle finds
  if (instr != NULL) {
    shader_put(instr, &state, texel);
    tell_end(m, pipe, number, pc, instr);
  }
  set_status(m, pipe, number, CONTEXT_READY);
  m->stats->instructions++;
}

static void texture_filled(Fragment *m, const FragAsked *asked) {
  uint32_t cache = asked->from % (m->dims.pipes / m->dims.sharing);
  FragMiss *miss = &m->misses[cache * m->dims.misses + asked->miss % m->dims.misses];
  fill(m, cache, asked->address & ((1u << FRAG_ADDRESS_BITS) - FRAG_LINE));
  for (uint32_t i = 0; i < m->dims.sharing * m->dims.contexts && (miss->valid & 1) != 0; i++) {
    if ((miss->waiters >> i & 1) != 0) wake(m, cache * m->dims.sharing + i / m->dims.contexts, i % m->dims.contexts);
  }
  *miss = (FragMiss){0};
}

bool memory_replies(Fragment *m) {
  FragCore *core = m->core;
  bool any = false;
  while (core->flying.count > 0) {
    FragAsked *flying = &m->flying[core->flying.head % m->dims.flying];
    if (flying->at > core->cycle) break;
    FragAsked asked = *flying;
    if (asked.from < m->dims.pipes) texture_filled(m, &asked);
    else rop_filled(m, (asked.from - m->dims.pipes) % m->dims.rops, asked.address & ((1u << FRAG_ADDRESS_BITS) - FRAG_LINE));
    *flying = (FragAsked){0};
    core->flying.head = (core->flying.head + 1) % m->dims.flying;
    core->flying.count--;
    any = true;
  }
  return any;
}
