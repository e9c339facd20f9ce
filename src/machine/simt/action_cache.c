// Prefetched lines: a mark beside each line says that it was brought before anybody wanted it and has not been used since. Hooks are told
// when such a line comes, when it is used for the first time, and when it goes unused.
#include "machine/simt/memop.h"
#include "machine/simt/partition.h"

// Addresses of instructions, as hooks make them.
_Static_assert(PHYSICAL_CODE == 2 && PHYSICAL_SHIFT == 48 && INSTR_BYTES == 16, "action_code_address");

typedef struct Marked { // a line with its mark
  Mark *mark;
  uint64_t address; // physical
} Marked;

static Marked in_sm(const Simt *m, Cache (*cache_of)(const Simt *m, uint32_t sm), Mark *marks, uint64_t line) {
  uint32_t count = max_u32(cache_lines(cache_of(m, 0).shape), 1);
  Cache cache = cache_of(m, (uint32_t)(line / count));
  return (Marked){&marks[line], cache_line_address(&cache, (uint32_t)(line % count)) & PHYSICAL_MASK};
}

// As hooks name code: the program's first instruction is at 0, and each takes INSTR_BYTES.
static uint64_t code_name(const Simt *m, uint64_t address) {
  uint64_t offset = (address - m->backing.code_base) & ((UINT64_C(1) << PHYSICAL_SHIFT) - 1);
  return physical_address(PHYSICAL_CODE, offset / m->dims.instruction_bytes * INSTR_BYTES);
}

static Marked marked(Simt *m, ActionCache cache, uint64_t line) {
  switch (cache) {
  case PREFETCH_INSTRUCTION: {
    Marked at = in_sm(m, icache_of, m->at.icache_marks, line);
    at.address = code_name(m, at.address);
    return at;
  }
  case PREFETCH_DATA: return in_sm(m, l1d_of, m->at.l1d_marks, line);
  case PREFETCH_CONSTANT: return in_sm(m, constant_of, m->at.constant_marks, line);
  case PREFETCH_TEXTURE: return in_sm(m, texture_of, m->at.texture_marks, line);
  default: {
    L2Slice slice = l2_slice(m, (uint32_t)(line / m->dims.l2_lines));
    return (Marked){&m->at.l2_marks[line], l2_line_address(&slice, (uint32_t)(line % m->dims.l2_lines))};
  }
  }
}

static uint32_t lines_per_sm(const Simt *m, ActionCache cache) {
  switch (cache) {
  case PREFETCH_INSTRUCTION: return m->dims.icache_lines;
  case PREFETCH_DATA: return m->dims.l1d_lines;
  case PREFETCH_CONSTANT: return m->dims.constant_lines;
  default: return m->dims.texture_lines;
  }
}

static void tell(Simt *m, ActionCache cache, uint64_t line, PrefetchStage stage) {
  if ((m->wants & WANT_PREFETCH) == 0) return;
  Who who = m->nobody;
  who.client = CLIENT_PREFETCH;
  Marked at = marked(m, cache, line);
  who.sm = cache == PREFETCH_L2 ? at.mark->sm : (uint32_t)(line / max_u32(lines_per_sm(m, cache), 1));
  bool mirror = cache == PREFETCH_L2 && at.mark->mirror != 0;
  if (mirror) who.client = CLIENT_LOAD;
  PrefetchEvent event = {.who = &who, .stage = stage, .cache = cache, .address = at.address, .mirror = mirror};
  simt_obey(m, &who, hooks_prefetch(&m->hooks, &m->hook_machine, &event));
}

void prefetch_filled(Simt *m, ActionCache cache, uint64_t line, bool is_wanted) {
  tell(m, cache, line, PREFETCH_FILLED);
  if (is_wanted) tell(m, cache, line, PREFETCH_USED);
  Mark *mark = marked(m, cache, line).mark;
  if (is_wanted) *mark = (Mark){0};
  else mark->fresh = 1;
}

void prefetch_passed(Simt *m, ActionCache cache, uint32_t sm, uint64_t address, bool is_wanted) {
  if ((m->wants & WANT_PREFETCH) == 0) return;
  Who who = m->nobody;
  who.client = CLIENT_PREFETCH;
  who.sm = sm;
  PrefetchEvent event = {.who = &who, .stage = PREFETCH_FILLED, .cache = cache, .address = address & PHYSICAL_MASK};
  simt_obey(m, &who, hooks_prefetch(&m->hooks, &m->hook_machine, &event));
  event.stage = is_wanted ? PREFETCH_USED : PREFETCH_EVICTED;
  simt_obey(m, &who, hooks_prefetch(&m->hooks, &m->hook_machine, &event));
}

// Its mark goes, if it has one.
static void lose_mark(Simt *m, ActionCache cache, uint64_t line, PrefetchStage stage) {
  Mark *mark = marked(m, cache, line).mark;
  if ((mark->fresh & 1) == 0) return;
  tell(m, cache, line, stage);
  *mark = (Mark){0};
}

void prefetch_used(Simt *m, ActionCache cache, uint64_t line) { lose_mark(m, cache, line, PREFETCH_USED); }
void prefetch_gone(Simt *m, ActionCache cache, uint64_t line) { lose_mark(m, cache, line, PREFETCH_EVICTED); }

bool l2_prefetch(Simt *m, uint32_t sm, uint64_t address) {
  if (m->dims.l2.sets == 0) return false;
  Packet packet = {.address = line_of(address), .bytes = bytes_from(0, LINE_BYTES), .kind = PACKET_READ};
  packet_for_nobody(&packet, PREFETCH_L2);
  return sm_send(m, sm, &packet);
}
