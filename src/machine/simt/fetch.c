// Instruction fetch: from the L1 instruction cache into the buffers of the warps, one access a cycle.
//
// Warps take turns. An access gives the instructions from the warp's fetch address to the end of an aligned window of front.fetch_bytes,
// as many as are decoded at once and fit. A miss takes a miss register; after icache2.latency it has looked into the
// TPC's second level, and if the line is not there either it goes to memory as a packet. A line that
// arrives goes into both caches and at once to the warps that wait for it, so that no warp can starve.
// Buffers, lines and packets hold the encoded bits: what a warp issues is what came along this way.
#include "machine/simt/simt.h"

enum { PC_BITS = 24 }; // of a program counter in hardware; see state.def

static uint64_t bit_of(uint32_t warp) { return UINT64_C(1) << warp; }
static uint32_t fetch_place(const SimtWarp *at) { return at->fetch_pc & ((1u << PC_BITS) - 1); }
static uint32_t line_words(const Simt *m) { return m->dims.icache.line_bytes / 4; }
static ByteMask whole_line(const Simt *m) { return m->fetch.line; }
static uint32_t words_from(uint32_t first, uint32_t count) { return (uint32_t)(((UINT64_C(1) << count) - 1) << first); }
static uint64_t line_of(const Simt *m, uint32_t pc) {
  return physical_address(PHYSICAL_CODE, m->backing.code_base + (uint64_t)pc * m->dims.instruction_bytes) &
         ~(uint64_t)(m->dims.icache.line_bytes - 1);
}

void fetch_prepare(Simt *m) {
  uint32_t bytes = m->dims.icache.line_bytes, size = m->dims.instruction_bytes;
  uint32_t window = (uint32_t)min_u64(m->spec->front_fetch_bytes, bytes);
  m->fetch.line = bytes_from(0, bytes);
  m->fetch.last = bytes / size - 1;
  for (uint32_t i = 0; i <= m->fetch.last; i++) {
    uint32_t first = i * size, count = min_u32((window - first % window) / size, (bytes - first) / size);
    m->fetch.counts[i] = (uint8_t)max_u32(min_u32(count, (uint32_t)m->spec->front_decode), 1);
  }
}

void fetch_restart(Simt *m, uint32_t sm, uint32_t warp, uint32_t pc) {
  SimtWarp *at = simt_warp(m, sm, warp);
  SmState *state = &m->at.sms[sm];
  if (at->buffered > 0) memset(simt_buffer(m, sm, warp), 0, m->dims.buffer * sizeof(BufferEntry));
  at->buffered = at->head = at->arriving = 0;
  at->fetch_wait = 0;
  at->fetch_pc = pc;
  state->fetch_wants |= bit_of(warp);
  state->fetch_stalled &= ~bit_of(warp);
  m->at.starved[sm] &= ~bit_of(warp);
  sm_wake(m, sm, simt_now(m) + 1);
}

// ---- Into the buffer -------------------------------------------------------------------------------

// False: a hook wants it later.
static bool push(Simt *m, uint32_t sm, uint32_t warp, InstrWord word, uint32_t pc) {
  SimtWarp *at = simt_warp(m, sm, warp);
  const Who *who = NULL;
  if ((m->wants & WANT_FETCH) != 0) {
    FetchEvent event = {.who = who = who_scheduled(m, sm, warp, pc, WHO_NO_NUMBER), .word = &word};
    if (simt_obey(m, who, hook_tell_fetch(m->listener, &m->hook_machine, &event)) == VERDICT_STALL) return false;
  }
  uint32_t place = ring_next(at->head + (uint32_t)at->buffered, m->dims.buffer);
  BufferEntry *entry = &simt_buffer(m, sm, warp)[place];
  *entry = (BufferEntry){.word = word, .pc = pc, .valid = 1};
  if (cells_are_wanted(m)) {
    if (who == NULL) who = who_scheduled(m, sm, warp, pc, WHO_NO_NUMBER);
    tell_write_here(m, who, REGION_BUFFER, (uint64_t)(entry - m->at.buffers), 0xF, &entry->word);
  }
  at->buffered++;
  at->arriving++;
  return true;
}

// From now on the warp has instructions, or will have them at `ready_at`.
static void arrive(Simt *m, uint32_t sm, uint32_t warp, uint64_t ready_at) {
  SimtWarp *at = simt_warp(m, sm, warp);
  SmState *state = &m->at.sms[sm];
  at->fetched_at = ready_at;
  if (front_may_fetch(m, at)) state->fetch_wants |= bit_of(warp);
  else state->fetch_wants &= ~bit_of(warp);
  state->waits[IDLE_FETCH] &= ~bit_of(warp);
  m->at.starved[sm] &= ~bit_of(warp);
  sm_wake(m, sm, ready_at);
}

// The instruction at byte `at` of a line of an SM's cache.
static InstrWord word_at(const Simt *m, uint64_t row, uint32_t at, uint32_t pc) {
  const uint8_t *data = (const uint8_t *)m->at.icache_data[row].word;
  if (m->dims.split == 0) {
    InstrWord word;
    memcpy(&word, data + at, sizeof word);
    return word;
  }
  uint64_t cells, beside;
  memcpy(&cells, data + at, sizeof cells);
  memcpy(&beside, (const uint8_t *)m->at.icache_rest[row].data + at, sizeof beside);
  return code_join(cells, beside, pc);
}

// Instructions of the warp's window that lie in the line; the line is number `index` of the SM's cache.
static void take_words(Simt *m, uint32_t sm, uint32_t warp, uint32_t index, uint64_t ready_at) {
  SimtWarp *at = simt_warp(m, sm, warp);
  uint32_t row = sm * m->dims.icache_lines + index;
  uint32_t pc = fetch_place(at), place = pc & m->fetch.last;
  uint32_t size = m->dims.instruction_bytes, first = place * size;
  uint32_t count = min_u32(min_u32(m->fetch.counts[place], m->dims.buffer - at->buffered), m->program->code_count - pc);
  Cache cache = icache_of(m, sm);
  cache_touch(&cache, index);
  line_used(m, PREFETCH_INSTRUCTION, row);
  if (cells_are_wanted(m))
    tell_read_here(m, who_sm(m, sm), REGION_ICACHE, row, words_from(first / 4, count * size / 4), m->at.icache_data[row].word);
  at->arriving = 0;
  for (uint32_t i = 0; i < count; i++) {
    InstrWord word = word_at(m, row, first + i * size, pc + i);
    if (!push(m, sm, warp, word, pc + i)) break;
    at->fetch_pc = pc + i + 1;
  }
  arrive(m, sm, warp, ready_at);
}

// ---- Misses ----------------------------------------------------------------------------------------

// `rests` lie beside its lines.
static uint32_t fill(Simt *m, const Cache *cache, CodeRest *rests, uint64_t address, const CodeWords *words) {
  uint32_t index = cache_victim(cache, address);
  cache_begin(cache, index, address);
  cache_hold(cache, index, whole_line(m));
  cache_touch(cache, index);
  memcpy(cache->data[index].word, words->data, cache->shape->line_bytes);
  if (m->dims.split != 0) memcpy(rests[index].data, words->rest, cache->shape->line_bytes);
  return index;
}

static uint32_t fill_first(Simt *m, uint32_t sm, uint64_t address, const CodeWords *words) {
  Cache cache = icache_of(m, sm);
  uint32_t base = sm * m->dims.icache_lines, victim = cache_victim(&cache, address);
  tag_replaced(m, sm, REGION_ICACHE_TAG, base + victim, cache_line_valid(&cache.lines[victim]));
  line_gone(m, PREFETCH_INSTRUCTION, base + victim);
  uint32_t index = fill(m, &cache, &m->at.icache_rest[m->dims.split * base], address, words);
  cells_written(m, cells_sm(m, sm), REGION_ICACHE, base + index, words_from(0, line_words(m)), cache.data[index].word);
  return index;
}

static void fill_second(Simt *m, uint32_t sm, uint64_t address, const CodeWords *words) {
  if (m->dims.icache2_lines == 0) return;
  uint32_t tpc = sm / (uint32_t)m->spec->sm_per_tpc, base = tpc * m->dims.icache2_lines;
  Cache cache = icache2_of(m, tpc);
  uint32_t index = fill(m, &cache, &m->at.icache2_rest[m->dims.split * base], address, words);
  cells_written(m, cells_sm(m, sm), REGION_ICACHE2, base + index, words_from(0, line_words(m)), cache.data[index].word);
}

// The line of a miss register is there: it goes into the L1 and to who waits for it. The register is free again.
static void complete(Simt *m, uint32_t sm, uint32_t number, const CodeWords *words) {
  SmState *state = &m->at.sms[sm];
  Mshrs mshrs = icache_mshrs_of(m, sm);
  Mshr mshr = mshrs.registers[number];
  uint64_t address = mshrs.lines[number].address;
  uint32_t index = fill_first(m, sm, address, words), waiters = mshr_waiters(&mshr);
  if (mshr.prefetch != 0) prefetch_filled(m, PREFETCH_INSTRUCTION, sm * m->dims.icache_lines + index, waiters > 0);
  mshr_end(&mshrs, number);
  m->at.icache_times[sm * m->dims.icache_mshrs + number] = 0;
  state->fetch_looks &= ~bit_of(number);
  state->fetch_stalled = 0;
  sm_wake(m, sm, simt_now(m) + 1);
  for (uint32_t i = 0; i < waiters; i++) {
    uint32_t warp = mshr.waiter[i] % m->dims.warps;
    SimtWarp *at = simt_warp(m, sm, warp);
    if (at->fetch_wait == 0) continue; // its flow has changed meanwhile
    at->fetch_wait = 0;
    state->fetch_wants |= bit_of(warp);
    bool is_it = line_of(m, fetch_place(at)) == address && fetch_place(at) < m->program->code_count;
    if (is_it && at->buffered < m->dims.buffer) take_words(m, sm, warp, index, simt_now(m) + 1);
  }
}

uint32_t fetch_waiters(Simt *m, uint32_t sm, const Packet *packet, Who waiters[MSHR_MOST_WAITERS]) {
  Mshrs mshrs = icache_mshrs_of(m, sm);
  uint32_t number = packet->tag % m->dims.icache_mshrs;
  const Mshr *mshr = &mshrs.registers[number];
  uint32_t count = mshr_valid(&mshrs, number) ? mshr_waiters(mshr) : 0, waiting = 0;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t warp = mshr->waiter[i] % m->dims.warps;
    const SimtWarp *at = simt_warp(m, sm, warp);
    if (at->fetch_wait != 0) waiters[waiting++] = *who_warp(m, sm, warp, fetch_place(at), WHO_NO_NUMBER); // else its flow has changed
  }
  return waiting;
}

bool fetch_reply(Simt *m, uint32_t sm, const Packet *packet) {
  uint32_t number = packet->tag % m->dims.icache_mshrs;
  Mshrs mshrs = icache_mshrs_of(m, sm);
  uint64_t address = mshrs.lines[number].address;
  bool awaited = mshr_valid(&mshrs, number) && m->at.icache_times[sm * m->dims.icache_mshrs + number] == UINT64_MAX;
  if (!awaited) return true; // nobody asked: a damaged packet
  uint32_t first = address % LINE_BYTES / 4;
  CodeWords line;
  memcpy(line.data, &packet->data[first], m->dims.icache.line_bytes);
  if (m->dims.split != 0) memcpy(line.rest, &packet->other[first], m->dims.icache.line_bytes);
  fill_second(m, sm, address, &line);
  complete(m, sm, number, &line);
  return true;
}

static bool ask_memory(Simt *m, uint32_t sm, uint32_t number, uint64_t address) {
  Packet packet = {.kind = PACKET_READ, .client = CLIENT_INSTRUCTION, .tag = (uint16_t)number};
  packet.address = address & ~(uint64_t)(LINE_BYTES - 1);
  packet.bytes = bytes_from((uint32_t)(address % LINE_BYTES), m->dims.icache.line_bytes);
  const Mshr *mshr = &m->at.icache_mshrs[sm * m->dims.icache_mshrs + number];
  if (mshr->prefetch != 0 && mshr_waiters(mshr) == 0) {
    packet_for_nobody(&packet, PREFETCH_INSTRUCTION);
  } else {
    uint32_t warp = mshr->waiter[0] % m->dims.warps;
    packet_for_warp(m, sm, warp, fetch_place(simt_warp(m, sm, warp)), &packet);
  }
  return sm_send(m, sm, &packet);
}

// The second level has looked for the line.
static void look_second(Simt *m, uint32_t sm, uint32_t number) {
  uint64_t *time = &m->at.icache_times[sm * m->dims.icache_mshrs + number];
  uint64_t address = m->at.icache_misses[sm * m->dims.icache_mshrs + number].address;
  uint32_t tpc = sm / (uint32_t)m->spec->sm_per_tpc, base = tpc * m->dims.icache2_lines, index;
  Cache cache = icache2_of(m, tpc);
  if (cache_find(&cache, address, whole_line(m), &index) == CACHE_HIT) {
    uint32_t *line = cache.data[index].word;
    simt_count(m, STAT_ICACHE2_ACCESSES, 1);
    cache_touch(&cache, index);
    cells_read(m, cells_sm(m, sm), REGION_ICACHE2, base + index, words_from(0, line_words(m)), line);
    CodeWords words;
    memcpy(words.data, line, sizeof words.data);
    if (m->dims.split != 0) memcpy(words.rest, m->at.icache2_rest[base + index].data, sizeof words.rest);
    complete(m, sm, number, &words);
  } else if (ask_memory(m, sm, number, address)) {
    simt_count(m, STAT_ICACHE2_ACCESSES, m->dims.icache2_lines > 0);
    simt_count(m, STAT_ICACHE2_MISSES, m->dims.icache2_lines > 0);
    *time = UINT64_MAX;
    m->at.sms[sm].fetch_looks &= ~bit_of(number);
  } else {
    *time = simt_now(m) + 1;
    sm_wake(m, sm, *time);
  }
}

static void look_for_misses(Simt *m, uint32_t sm) {
  const uint64_t *times = &m->at.icache_times[sm * m->dims.icache_mshrs];
  uint64_t now = simt_now(m);
  for (uint64_t left = m->at.sms[sm].fetch_looks; left != 0; left &= left - 1) {
    uint32_t i = (uint32_t)__builtin_ctzll(left);
    if (times[i] <= now) look_second(m, sm, i);
    else sm_wake(m, sm, times[i]);
  }
}

// ---- The access ------------------------------------------------------------------------------------

// The second level looks for the line of a new miss register.
static void look_later(Simt *m, uint32_t sm, uint32_t number) {
  uint64_t at = simt_now(m) + (m->dims.icache2_lines > 0 ? m->spec->icache2_latency : 1);
  m->at.icache_times[sm * m->dims.icache_mshrs + number] = at;
  m->at.sms[sm].fetch_looks |= bit_of(number);
  sm_wake(m, sm, at);
}

static void miss(Simt *m, uint32_t sm, uint32_t warp, uint64_t address) {
  SmState *state = &m->at.sms[sm];
  Mshrs mshrs = icache_mshrs_of(m, sm);
  uint32_t number = 0;
  MshrFind found = mshr_want(&mshrs, MSHR_MOST_WAITERS, address, whole_line(m), warp, &number);
  if (found == MSHR_FULL) {
    state->fetch_stalled |= bit_of(warp);
    return;
  }
  simt_count(m, STAT_ICACHE_ACCESSES, 1);
  simt_count(m, STAT_ICACHE_MISSES, 1);
  simt_warp(m, sm, warp)->fetch_wait = 1;
  state->fetch_wants &= ~bit_of(warp);
  if (found == MSHR_NEW) look_later(m, sm, number);
}

bool fetch_prefetch(Simt *m, uint32_t sm, uint64_t address) {
  uint64_t pc = (address & ((UINT64_C(1) << PHYSICAL_SHIFT) - 1)) / INSTR_BYTES; // as hooks name code: the program's first is at 0
  bool is_code = (address & PHYSICAL_MASK) >> PHYSICAL_SHIFT == PHYSICAL_CODE && pc < m->program->code_count;
  uint32_t number = 0, index;
  if (!is_code) return false;
  uint64_t line = line_of(m, (uint32_t)pc);
  Cache cache = icache_of(m, sm);
  if (cache_find(&cache, line, whole_line(m), &index) == CACHE_HIT) return false;
  Mshrs mshrs = icache_mshrs_of(m, sm);
  if (mshr_prefetch(&mshrs, line, whole_line(m), &number) != MSHR_NEW) return false;
  look_later(m, sm, number);
  return true;
}

static void access_cache(Simt *m, uint32_t sm, uint32_t warp) {
  SimtWarp *at = simt_warp(m, sm, warp);
  uint64_t now = simt_now(m);
  uint32_t pc = fetch_place(at), index;
  if (at->buffered >= m->dims.buffer) {
    m->at.sms[sm].fetch_wants &= ~bit_of(warp);
    return;
  }
  if (pc >= m->program->code_count) { // no code: an entry that traps when it is issued; nothing follows it
    BufferEntry *entry = &simt_buffer(m, sm, warp)[(at->head + (uint32_t)at->buffered) % m->dims.buffer];
    *entry = (BufferEntry){.pc = pc, .valid = 1};
    at->buffered++;
    at->arriving = 1;
    arrive(m, sm, warp, now + m->spec->icache_latency);
    m->at.sms[sm].fetch_wants &= ~bit_of(warp);
    return;
  }
  uint64_t address = line_of(m, pc);
  Cache cache = icache_of(m, sm);
  CacheFind found = cache_find(&cache, address, whole_line(m), &index);
  if (found != CACHE_HIT) {
    miss(m, sm, warp, address);
    return;
  }
  simt_count(m, STAT_ICACHE_ACCESSES, 1);
  take_words(m, sm, warp, index, now + m->spec->icache_latency);
}

void fetch_cycle(Simt *m, uint32_t sm) {
  SmState *state = &m->at.sms[sm];
  uint64_t now = simt_now(m);
  if (state->fetch_looks != 0) look_for_misses(m, sm);
  uint64_t wants = state->fetch_wants & ~state->fetch_stalled;
  while (wants != 0) {
    uint64_t later = wants & (UINT64_MAX << (state->fetch_next % SIMT_MOST_WARPS));
    uint32_t warp = (uint32_t)__builtin_ctzll(later != 0 ? later : wants);
    state->fetch_next = (warp + 1) % SIMT_MOST_WARPS;
    const SimtWarp *at = simt_warp(m, sm, warp);
    if (at->fetched_at <= now) {
      access_cache(m, sm, warp);
      break;
    }
    sm_wake(m, sm, at->fetched_at); // an access of its is still under way
    wants &= ~bit_of(warp);
  }
  if ((state->fetch_wants & ~state->fetch_stalled) != 0) sm_wake(m, sm, now + 1);
}
