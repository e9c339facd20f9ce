// Textures and matrix fragments: instructions whose lanes want many places each. They are carried out twice by the same pure functions
// (parts/sample.c, parts/fragment.c): first on a reader that only notes the lines they need, then, when these have come, on the
// lines. At most SIMT_GATHER_LINES lines at a time; lanes that need more follow in another round.
//
// Texture lines come through the texture cache, one look a cycle. Fragments keep their place among the memory instructions of the SM (the
// ring of ldst.c): at its head they read and write shared memory, a line a cycle, or ask the L2. Surfaces are in surface.c.
// Local memory does not hold fragments: PTX has wmma on global and shared memory only.
#include "isa/texture.h"
#include "machine/parts/fragment.h"
#include "machine/parts/sample.h"
#include "machine/simt/memop.h"
#include "machine/simt/operand.h"
#include "machine/simt/part.h"

enum { TAG_LINE = 1u << 15, TAG_LINE_SHIFT = 6 }; // CLIENT_TEXTURE: a line of a gather; otherwise a miss register

static Gather *gather_at(const Simt *m, uint32_t sm, uint32_t index) {
  return &m->at.gathers[sm * m->dims.gathers + index % m->dims.gathers];
}
static bool is_texture(const Instr *instr) { return op_info[instr->op].kind == KIND_TEXTURE; }
static bool is_store(const Instr *instr) { return (op_info[instr->op].flags & IT_DATA_IN) != 0; }
static bool is_surface(const Instr *instr) {
  unsigned operation = texture_field(instr->imm, TEXTURE_OPERATION, 4);
  return is_texture(instr) && operation > TEXTURE_TXQ && operation != TEXTURE_SUQ;
}

static uint32_t free_gather(const Simt *m, uint32_t sm) {
  uint32_t free = ~m->at.sms[sm].gathers_used;
  return free == 0 ? m->dims.gathers : min_u32((uint32_t)__builtin_ctz(free), m->dims.gathers);
}

bool gather_has_room(const Simt *m, uint32_t sm, const Instr *instr) {
  return is_surface(instr) ? ldst_has_room(m, sm) : free_gather(m, sm) < m->dims.gathers;
}

// ---- Lines -------------------------------------------------------------------------------------------

typedef struct Walk { // one run of the pure function
  Simt *m;
  uint32_t sm;
  Gather *gather;
  const Instr *instr;
  bool is_full; // more lines than there is room for
  bool failed;  // an address is one that its lane may not read
} Walk;

static uint32_t find_line(const Gather *gather, uint64_t line) {
  uint32_t i = 0;
  while (i < gather->count && gather->address[i] != line) i++;
  return i;
}

// The line's number; SIMT_GATHER_LINES: no room.
static uint32_t want_line(Walk *walk, uint64_t line, ByteMask bytes) {
  Gather *gather = walk->gather;
  uint32_t i = find_line(gather, line);
  if (i == SIMT_GATHER_LINES) walk->is_full = true;
  if (i == SIMT_GATHER_LINES) return i;
  if (i == gather->count) {
    gather->address[i] = line;
    gather->count++;
  }
  gather->bytes[i] = bytes_or(gather->bytes[i], bytes);
  return i;
}

static uint64_t line_address(uint64_t address) { return address & ~(uint64_t)(LINE_BYTES - 1); }

// Calls the stretch of each line that the bytes lie in.
typedef void (*Stretch)(Walk *walk, uint64_t line, uint32_t at, uint32_t bytes, uint8_t *data);
static void each_line(Walk *walk, uint64_t physical, uint32_t bytes, uint8_t *data, Stretch stretch) {
  while (bytes > 0) {
    uint32_t at = (uint32_t)physical & (LINE_BYTES - 1), step = min_u32(bytes, LINE_BYTES - at);
    stretch(walk, line_address(physical), at, step, data);
    physical += step;
    data += step;
    bytes -= step;
  }
}

static void note_stretch(Walk *walk, uint64_t line, uint32_t at, uint32_t bytes, uint8_t *data) {
  memset(data, 0, bytes);
  want_line(walk, line, bytes_from(at, bytes));
}

static void write_stretch(Walk *walk, uint64_t line, uint32_t at, uint32_t bytes, uint8_t *data) {
  uint32_t i = want_line(walk, line, bytes_from(at, bytes));
  if (i < SIMT_GATHER_LINES) memcpy((uint8_t *)walk->gather->line[i] + at, data, bytes);
}

static void read_stretch(Walk *walk, uint64_t line, uint32_t at, uint32_t bytes, uint8_t *data) {
  uint32_t i = find_line(walk->gather, line);
  if (i < walk->gather->count) memcpy(data, (const uint8_t *)walk->gather->line[i] + at, bytes);
  else memset(data, 0, bytes);
}

// ---- Textures ----------------------------------------------------------------------------------------

static bool note_texel(void *context, uint64_t address, void *to, uint32_t bytes) {
  Walk *walk = context;
  if (memory_at(walk->m->backing.memory, address, bytes) == NULL) return false;
  each_line(walk, physical_address(PHYSICAL_GLOBAL, address), bytes, to, note_stretch);
  return true;
}

static bool read_texel(void *context, uint64_t address, void *to, uint32_t bytes) {
  each_line(context, physical_address(PHYSICAL_GLOBAL, address), bytes, to, read_stretch);
  return true;
}

static bool sample(Walk *walk, unsigned lane, bool note) {
  Gather *gather = walk->gather;
  OperandRows at = operand_sources(walk->instr);
  unsigned registers = type_info[op_info[walk->instr->op].d].registers;
  SampleRows rows = {.handle = gather->source[at.first[OPERAND_A]],
                     .coordinates = gather->source[at.first[OPERAND_B]],
                     .gradients = gather->source[at.first[OPERAND_C]]};
  for (unsigned k = 0; k < 4; k++) rows.data[k] = gather->result[k * registers % SIMT_RESULT_ROWS];
  TextureReader reader = {.read = note ? note_texel : read_texel, .context = walk};
  AccessViolation violation;
  if (sample_lane(walk->m->environment, &reader, walk->instr, lane, &rows, &violation)) return true;
  if (note) simt_violation(walk->m, walk->sm, gather->uop.warp, gather->uop.pc, &violation, NULL);
  return false;
}

// ---- Fragments ---------------------------------------------------------------------------------------

static bool piece_place(Walk *walk, unsigned lane, uint64_t address, uint32_t bytes, uint64_t *physical) {
  MemAction action = is_store(walk->instr) ? ACTION_STORE : ACTION_LOAD;
  AddressQuery query = {&walk->gather->uop, op_info[walk->instr->op].space, bytes, action, true, true};
  if (address_of_one(walk->m, walk->sm, &query, lane, address, physical)) return true;
  walk->failed = true;
  return false;
}

static bool note_piece(void *context, unsigned lane, uint64_t address, uint32_t bytes, uint8_t *data) {
  uint64_t physical;
  if (!piece_place(context, lane, address, bytes, &physical)) return false;
  each_line(context, physical, bytes, data, note_stretch);
  return true;
}

static bool read_piece(void *context, unsigned lane, uint64_t address, uint32_t bytes, uint8_t *data) {
  uint64_t physical;
  if (!piece_place(context, lane, address, bytes, &physical)) return false;
  each_line(context, physical, bytes, data, read_stretch);
  return true;
}

static bool write_piece(void *context, unsigned lane, uint64_t address, uint32_t bytes, uint8_t *data) {
  uint64_t physical;
  if (!piece_place(context, lane, address, bytes, &physical)) return false;
  each_line(context, physical, bytes, data, write_stretch);
  return true;
}

// The lanes of a fragment instruction; the stride is that of the instruction's first lane.
static bool fragment(Walk *walk, uint32_t lanes, FragmentMove move) {
  Gather *gather = walk->gather;
  OperandRows at = operand_sources(walk->instr);
  uint32_t stride[WARP_LANES], first = (uint32_t)__builtin_ctz(gather->uop.mask | 1u << 31);
  for (unsigned i = 0; i < WARP_LANES; i++) stride[i] = gather->source[at.first[OPERAND_B]][first];
  Access access = {.space = op_info[walk->instr->op].space,
                   .wide = at.count[OPERAND_A] == 2,
                   .active = lanes,
                   .address = gather->source[at.first[OPERAND_A]]};
  FragmentWay way = {move, walk};
  if (is_store(walk->instr)) return fragment_store_by(&access, walk->instr, stride, gather->source[at.first[OPERAND_D]], way);
  return fragment_load_by(&access, walk->instr, stride, gather->result[0], way);
}

// ---- Rounds ------------------------------------------------------------------------------------------

// Notes or makes the lines of some lanes. False: one of them may not.
static bool walk_lanes(Walk *walk, uint32_t lanes) {
  if (!is_texture(walk->instr)) return fragment(walk, lanes, is_store(walk->instr) ? write_piece : note_piece);
  for (; lanes != 0; lanes &= lanes - 1) {
    if (!sample(walk, (unsigned)__builtin_ctz(lanes), true)) return false;
  }
  return true;
}

static void forget_lines(Gather *gather, uint32_t from) {
  for (uint32_t i = from; i < gather->count; i++) {
    gather->address[i] = 0;
    gather->bytes[i] = (ByteMask){{0, 0}};
    memset(gather->line[i], 0, sizeof gather->line[i]);
  }
  gather->count = min_u32(gather->count, from);
}

// As many lanes as find room for their lines.
static void begin_round(Simt *m, uint32_t sm, Gather *gather, const Instr *instr) {
  Walk walk = {.m = m, .sm = sm, .gather = gather, .instr = instr};
  forget_lines(gather, 0);
  gather->asked = gather->arrived = 0;
  gather->lanes = gather->left;
  gather->left = 0;
  gather->stage = MEM_REQUEST;
  if (gather->lanes == 0 || (walk_lanes(&walk, gather->lanes) && !walk.is_full)) return;
  uint32_t lanes = gather->lanes;
  forget_lines(gather, 0);
  gather->lanes = 0;
  for (; lanes != 0 && !simt_has_trapped(m); lanes &= lanes - 1) {
    uint32_t before = gather->count;
    walk.is_full = false;
    if (!walk_lanes(&walk, lanes & -lanes)) continue; // a hook has kept the launch going: without this lane
    if (walk.is_full) {
      forget_lines(gather, before);
      break;
    }
    gather->lanes |= lanes & -lanes;
  }
  gather->left = lanes;
}

static void release(Simt *m, uint32_t sm, Gather *gather, const Instr *instr) {
  uint64_t warps = part_warps(m, sm, &gather->uop, gather->uop.mask);
  uint32_t index = (uint32_t)(gather - &m->at.gathers[sm * m->dims.gathers]);
  writeback_rows(m, sm, &gather->uop, instr, gather->result, operand_results(instr).rows, NULL);
  warps_end_memory(m, sm, warps);
  part_ends(m, sm, &gather->uop);
  memset(gather, 0, sizeof *gather);
  m->at.sms[sm].gathers_used &= ~(1u << index);
  sm_wake(m, sm, simt_now(m) + 1);
}

// All lines have come: results of the round's lanes.
static void end_round(Simt *m, uint32_t sm, Gather *gather) {
  Instr scratch;
  const Instr *instr = simt_decode(m, gather->uop.pc, gather->uop.word, &scratch);
  if (instr == NULL) return;
  Walk walk = {.m = m, .sm = sm, .gather = gather, .instr = instr};
  uint64_t latency = is_texture(instr) ? m->spec->texture_latency : 1;
  if (!is_texture(instr) && gather->lanes != 0) fragment(&walk, gather->lanes, read_piece);
  for (uint32_t left = is_texture(instr) ? gather->lanes : 0; left != 0; left &= left - 1) {
    sample(&walk, (unsigned)__builtin_ctz(left), false);
  }
  if (gather->left != 0) {
    begin_round(m, sm, gather, instr);
    sm_wake(m, sm, simt_now(m) + 1);
    return;
  }
  gather->stage = MEM_DONE;
  gather->ready_at = simt_now(m) + latency + gather->uop.late;
  sm_wake(m, sm, gather->ready_at);
}

// Nothing is written back.
static void throw_away(Simt *m, uint32_t sm, Gather *gather) {
  uint32_t index = (uint32_t)(gather - &m->at.gathers[sm * m->dims.gathers]);
  warps_end_memory(m, sm, part_warps(m, sm, &gather->uop, gather->uop.mask));
  part_ends(m, sm, &gather->uop);
  memset(gather, 0, sizeof *gather);
  m->at.sms[sm].gathers_used &= ~(1u << index);
  sm_wake(m, sm, simt_now(m) + 1);
}

static void line_arrived(Simt *m, uint32_t sm, Gather *gather, uint32_t line, const uint32_t *data) {
  if (gather->stage != MEM_REQUEST && gather->stage != MEM_WAIT) return;
  uint32_t scratch[LINE_WORDS];
  const uint32_t *seen = held_view(m, sm, gather->uop.warp, gather->address[line % SIMT_GATHER_LINES], data, scratch);
  memcpy(gather->line[line % SIMT_GATHER_LINES], seen, LINE_BYTES);
  gather->arrived++;
  if (warp_is_stopping(m, sm, gather->uop.warp)) {
    if (gather->arrived >= gather->count) throw_away(m, sm, gather);
    return;
  }
  if (gather->stage == MEM_WAIT && gather->arrived >= gather->count) end_round(m, sm, gather);
}

static void line_asked(Simt *m, uint32_t sm, Gather *gather) {
  if (gather->asked < gather->count) return;
  gather->stage = MEM_WAIT;
  if (gather->arrived >= gather->count) end_round(m, sm, gather);
}

// Lines that were asked for still come; stores wait for none.
void gather_abandon(Simt *m, uint32_t sm, uint32_t block_slot) {
  for (uint32_t left = m->at.sms[sm].gathers_used; left != 0; left &= left - 1) {
    Gather *gather = gather_at(m, sm, (uint32_t)__builtin_ctz(left));
    if (block_slot_of_warp(m, gather->uop.warp) != block_slot) continue;
    Instr scratch;
    const Instr *instr = simt_decode(m, gather->uop.pc, gather->uop.word, &scratch);
    bool awaits = gather->stage != MEM_DONE && gather->arrived < gather->asked && (instr == NULL || !is_store(instr));
    gather->stage = MEM_WAIT;
    gather->count = gather->asked;
    gather->left = 0;
    if (!awaits) throw_away(m, sm, gather);
  }
}

// ---- Taking ------------------------------------------------------------------------------------------

static void count_instruction(Simt *m, const Instr *instr) {
  bool is_shared = op_info[instr->op].space == SPACE_SHARED;
  if (is_texture(instr)) simt_count(m, STAT_TEXTURE_FETCHES, 1);
  else if (is_store(instr)) simt_count(m, is_shared ? STAT_STORES_SHARED : STAT_STORES_GLOBAL, 1);
  else simt_count(m, is_shared ? STAT_LOADS_SHARED : STAT_LOADS_GLOBAL, 1);
}

// What hooks see of a gather's place: coordinates of textures and surfaces, addresses of fragments; what they change counts.
static bool tell_place(Simt *m, uint32_t sm, Collector *collector, const Instr *instr) {
  if (__builtin_expect((m->wants & WANT_RESULT) == 0, 1)) return collector->uop.is_early == 0;
  OperandRows at = operand_sources(instr);
  unsigned operand = is_texture(instr) ? OPERAND_B : OPERAND_A;
  uint32_t rows = min_u32(at.count[operand], 2), place[2][WARP_LANES] = {{0}};
  memcpy(place, collector->row[at.first[operand]], rows * sizeof place[0]);
  if (!address_tell(m, sm, &collector->uop, instr, place)) return false;
  memcpy(collector->row[at.first[operand]], place, rows * sizeof place[0]);
  return true;
}

void gather_take(Simt *m, uint32_t sm, Collector *collector, const Instr *instr) {
  SmState *state = &m->at.sms[sm];
  if (!tell_place(m, sm, collector, instr)) {
    part_returns(m, sm, &collector->uop, instr, true);
    part_ends(m, sm, &collector->uop);
    return;
  }
  part_to_threads(m, sm, collector, NULL, 0);
  if (is_surface(instr)) {
    surface_take(m, sm, collector, instr);
    return;
  }
  uint32_t index = free_gather(m, sm);
  if (index >= m->dims.gathers) return;
  Gather *gather = gather_at(m, sm, index);
  gather->uop = collector->uop;
  gather->left = gather->uop.mask;
  memcpy(gather->source, collector->row, min_u32(collector->rows, SIMT_SOURCE_ROWS) * sizeof gather->source[0]);
  state->gathers_used |= 1u << index;
  if (gather->uop.mask != 0) count_instruction(m, instr);
  warps_begin_memory(m, sm, part_warps(m, sm, &gather->uop, gather->uop.mask));
  begin_round(m, sm, gather, instr);
  if (!is_texture(instr)) ldst_enqueue(m, sm, RING_GATHERS + index);
  sm_wake(m, sm, simt_now(m) + 1);
}

// ---- Fragments at the head of the ring ---------------------------------------------------------------

static uint64_t shared_row(const Simt *m, uint32_t sm, uint64_t address) {
  return (uint64_t)sm * m->dims.shared_rows + (address & PHYSICAL_MASK) / LINE_BYTES % m->dims.shared_rows;
}

static bool ask_line(Simt *m, uint32_t sm, uint32_t index) {
  Gather *gather = gather_at(m, sm, index);
  uint32_t i = gather->asked;
  if ((gather->address[i] & ADDRESS_SHARED) != 0) {
    uint64_t row = shared_row(m, sm, gather->address[i]);
    cells_read(m, cells_sm(m, sm), REGION_SHARED, row, bytes_words_any(gather->bytes[i]), m->at.shared[row].word);
    gather->asked++;
    line_arrived(m, sm, gather, i, m->at.shared[row].word);
    return true;
  }
  Packet packet;
  memset(&packet, 0, offsetof(Packet, data));
  packet.address = gather->address[i];
  packet.bytes = gather->bytes[i];
  packet.kind = PACKET_READ;
  packet.client = CLIENT_TEXTURE;
  packet_for_uop(m, sm, &gather->uop, &packet);
  packet.tag = (uint16_t)(TAG_LINE | i << TAG_LINE_SHIFT | index);
  if (!sm_send(m, sm, &packet)) return false;
  gather->asked++;
  simt_count(m, STAT_TRANSACTIONS_LOAD, 1);
  return true;
}

static bool write_line(Simt *m, uint32_t sm, Gather *gather) {
  uint32_t i = gather->asked;
  ByteMask bytes = gather->bytes[i];
  if ((gather->address[i] & ADDRESS_SHARED) != 0) {
    uint64_t row = shared_row(m, sm, gather->address[i]);
    uint32_t words = bytes_words_any(bytes), parts = words & ~bytes_words_all(bytes);
    if (parts != 0) cells_read(m, cells_sm(m, sm), REGION_SHARED, row, parts, m->at.shared[row].word);
    bytes_copy(m->at.shared[row].word, gather->line[i], bytes);
    cells_written(m, cells_sm(m, sm), REGION_SHARED, row, words, m->at.shared[row].word);
  } else {
    Packet packet = {.address = gather->address[i], .bytes = bytes};
    memcpy(packet.data, gather->line[i], sizeof packet.data);
    packet_for_uop(m, sm, &gather->uop, &packet);
    if (!memory_send_store(m, sm, &packet, part_warps(m, sm, &gather->uop, gather->uop.mask))) return false;
    l1d_written(m, sm, packet.address);
    simt_count(m, STAT_TRANSACTIONS_STORE, 1);
  }
  gather->asked++;
  return true;
}

static MemStep store_request(Simt *m, uint32_t sm, Gather *gather, const Instr *instr) {
  if (gather->asked < gather->count && !write_line(m, sm, gather)) return MEMORY_BLOCKED;
  if (gather->asked < gather->count) return MEMORY_AGAIN;
  if (gather->left != 0) {
    begin_round(m, sm, gather, instr);
    return MEMORY_AGAIN;
  }
  release(m, sm, gather, instr);
  return MEMORY_DONE;
}

MemStep gather_request(Simt *m, uint32_t sm, uint32_t index) {
  Gather *gather = gather_at(m, sm, index);
  Instr scratch;
  const Instr *instr = simt_decode(m, gather->uop.pc, gather->uop.word, &scratch);
  if (instr == NULL || gather->stage == MEM_FREE || gather->stage == MEM_DONE) return MEMORY_DONE;
  if (is_store(instr)) return store_request(m, sm, gather, instr);
  if (gather->stage == MEM_WAIT) return MEMORY_BLOCKED; // another round is to come
  if (gather->asked < gather->count && !ask_line(m, sm, index)) return MEMORY_BLOCKED;
  bool is_last = gather->left == 0 && gather->asked >= gather->count;
  line_asked(m, sm, gather);
  return is_last ? MEMORY_DONE : MEMORY_AGAIN;
}

// ---- Textures ------------------------------------------------------------------------------------------

static uint64_t row_of(const Simt *m, uint32_t sm, uint32_t index) { return (uint64_t)sm * m->dims.texture_lines + index; }

static bool ask_miss(Simt *m, uint32_t sm, uint32_t index, uint32_t line) {
  Gather *gather = gather_at(m, sm, index);
  Mshrs mshrs = texture_mshrs_of(m, sm);
  uint32_t number;
  ByteMask whole = bytes_from(0, LINE_BYTES);
  MshrFind found = mshr_want(&mshrs, MSHR_MOST_WAITERS, gather->address[line], whole, index | line << 8, &number);
  if (found == MSHR_FULL) return false;
  if (found == MSHR_JOINED) return true;
  Packet packet;
  memset(&packet, 0, offsetof(Packet, data));
  packet.address = gather->address[line];
  packet.bytes = whole;
  packet.kind = PACKET_READ;
  packet.client = CLIENT_TEXTURE;
  packet_for_uop(m, sm, &gather->uop, &packet);
  packet.tag = (uint16_t)number;
  if (sm_send(m, sm, &packet)) return true;
  mshr_end(&mshrs, number);
  return false;
}

bool texture_prefetch(Simt *m, uint32_t sm, uint64_t address) {
  const PrefetchWay way = {PREFETCH_TEXTURE, PHYSICAL_GLOBAL, texture_of(m, sm), texture_mshrs_of(m, sm)};
  uint32_t number;
  return memory_prefetch(m, sm, &way, address, &number);
}

// One line of a texture instruction: from the cache, or asked for. False: not now.
static bool look_up(Simt *m, uint32_t sm, uint32_t index) {
  Gather *gather = gather_at(m, sm, index);
  Cache cache = texture_of(m, sm);
  uint32_t line = gather->asked, at = 0;
  if (line >= gather->count) return true;
  CacheFind found = cache_find(&cache, gather->address[line], bytes_from(0, LINE_BYTES), &at);
  if (found != CACHE_HIT && !ask_miss(m, sm, index, line)) return false;
  simt_count(m, STAT_TEXTURE_ACCESSES, 1);
  gather->asked++;
  if (found != CACHE_HIT) {
    simt_count(m, STAT_TEXTURE_MISSES, 1);
    return true;
  }
  cache_touch(&cache, at);
  line_used(m, PREFETCH_TEXTURE, row_of(m, sm, at));
  cells_read(m, cells_sm(m, sm), REGION_TEXTURE, row_of(m, sm, at), bytes_words_any(gather->bytes[line]), cache.data[at].word);
  line_arrived(m, sm, gather, line, cache.data[at].word);
  return true;
}

// The oldest texture instruction that still has lines to look up.
static uint32_t oldest_asking(const Simt *m, uint32_t sm) {
  uint32_t chosen = m->dims.gathers;
  for (uint32_t left = m->at.sms[sm].gathers_used; left != 0; left &= left - 1) {
    uint32_t i = (uint32_t)__builtin_ctz(left);
    const Gather *gather = gather_at(m, sm, i);
    Instr scratch;
    const Instr *instr = simt_decode(m, gather->uop.pc, gather->uop.word, &scratch);
    if (gather->stage != MEM_REQUEST || instr == NULL || !is_texture(instr)) continue;
    if (chosen == m->dims.gathers || gather->uop.issued_at < gather_at(m, sm, chosen)->uop.issued_at) chosen = i;
  }
  return chosen;
}

// The one whose results have been there longest.
static void write_back(Simt *m, uint32_t sm) {
  Gather *chosen = NULL;
  for (uint32_t left = m->at.sms[sm].gathers_used; left != 0; left &= left - 1) {
    Gather *gather = gather_at(m, sm, (uint32_t)__builtin_ctz(left));
    if (gather->stage != MEM_DONE) continue;
    if (gather->ready_at > simt_now(m)) sm_wake(m, sm, gather->ready_at);
    if (chosen == NULL || gather->ready_at < chosen->ready_at) chosen = gather;
  }
  if (chosen == NULL || chosen->ready_at > simt_now(m)) return;
  Instr scratch;
  const Instr *instr = simt_decode(m, chosen->uop.pc, chosen->uop.word, &scratch);
  if (instr != NULL) release(m, sm, chosen, instr);
}

void gather_cycle(Simt *m, uint32_t sm) {
  if (m->at.sms[sm].gathers_used == 0) return;
  write_back(m, sm);
  uint32_t index = oldest_asking(m, sm);
  if (index >= m->dims.gathers || !look_up(m, sm, index)) return;
  line_asked(m, sm, gather_at(m, sm, index));
  sm_wake(m, sm, simt_now(m) + 1);
}

uint32_t gather_waiters(Simt *m, uint32_t sm, const Packet *packet, Who waiters[MSHR_MOST_WAITERS]) {
  if ((packet->tag & TAG_LINE) != 0) return 1; // whoever asked
  Mshrs mshrs = texture_mshrs_of(m, sm);
  uint32_t number = packet->tag % SIMT_TEXTURE_MSHRS;
  const Mshr *mshr = &mshrs.registers[number];
  uint32_t count = mshr_valid(&mshrs, number) ? mshr_waiters(mshr) : 0;
  for (uint32_t i = 0; i < count; i++) waiters[i] = *who_uop(m, sm, &gather_at(m, sm, mshr->waiter[i] & 0xFF)->uop);
  return count;
}

bool gather_reply(Simt *m, uint32_t sm, const Packet *packet) {
  if ((packet->tag & TAG_LINE) != 0) {
    uint32_t line = packet->tag >> TAG_LINE_SHIFT & (SIMT_GATHER_LINES - 1);
    line_arrived(m, sm, gather_at(m, sm, packet->tag & ((1u << TAG_LINE_SHIFT) - 1)), line, packet->data);
    return true;
  }
  Mshrs mshrs = texture_mshrs_of(m, sm);
  uint32_t number = packet->tag % SIMT_TEXTURE_MSHRS;
  if (!mshr_valid(&mshrs, number)) return true;
  const Mshr *mshr = &mshrs.registers[number];
  Cache cache = texture_of(m, sm);
  uint64_t address = mshrs.lines[number].address & PHYSICAL_MASK;
  uint32_t at = cache_victim(&cache, address);
  tag_replaced(m, sm, REGION_TEXTURE_TAG, row_of(m, sm, at), cache_line_valid(&cache.lines[at]));
  line_gone(m, PREFETCH_TEXTURE, row_of(m, sm, at));
  cache_begin(&cache, at, address);
  cache_hold(&cache, at, packet->bytes);
  cache_touch(&cache, at);
  memcpy(cache.data[at].word, packet->data, LINE_BYTES);
  cells_written(m, cells_sm(m, sm), REGION_TEXTURE, row_of(m, sm, at), UINT32_MAX, cache.data[at].word);
  uint32_t waiters = mshr_waiters(mshr);
  if (mshr->prefetch != 0) prefetch_filled(m, PREFETCH_TEXTURE, row_of(m, sm, at), waiters > 0);
  for (uint32_t i = 0; i < waiters; i++) {
    line_arrived(m, sm, gather_at(m, sm, mshr->waiter[i] & 0xFF), mshr->waiter[i] >> 8, packet->data);
  }
  mshr_end(&mshrs, number);
  return true;
}
