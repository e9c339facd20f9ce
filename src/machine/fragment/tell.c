// What hooks are told of the contexts: accesses of their registers, and instructions that have ended.
#include "machine/fragment/fragment_internal.h"

static Who who_of(const Fragment *m, uint32_t pipe, uint32_t number, uint32_t pc) {
  Who who = WHO_NOBODY;
  const FragContext *context = context_at(m, pipe, number);
  who.launch = m->launch->number;
  who.sm = pipe;
  who.warp = number;
  who.block = (uint64_t)context->place.y * m->width + context->place.x;
  who.block_slot = number;
  who.pc = pc;
  return who;
}

static void obey(Fragment *m, Verdict verdict) {
  if (verdict == VERDICT_HALT || m->machine.refused.hook != NULL) m->core->halted = 1;
}

static void tell(Fragment *m, const Who *who, uint32_t file, uint32_t index, uint32_t units, bool is_write) {
  bool is_temp = file == SHADER_TEMP;
  if ((!is_temp && file != SHADER_HALF) || units == 0) return;
  uint32_t count = is_temp ? SHADER_TEMPS : SHADER_HALVES;
  uint64_t row = ((uint64_t)who->sm * m->dims.contexts + who->warp) * count + index % count;
  CellEvent event = {.who = who, .region = is_temp ? m->temp_region : m->half_region, .units = units, .row = row};
  event.data = is_temp ? (uint8_t *)m->temp[row] : (uint8_t *)m->half[row];
  obey(m, is_write ? hooks_write(&m->hooks, &m->machine, &event) : hooks_read(&m->hooks, &m->machine, &event));
}

void tell_row(Fragment *m, FragLooked which, uint64_t row, uint32_t units, bool is_write) {
  if ((m->wants & WANT_CELLS) == 0 || units == 0) return;
  Who who = WHO_NOBODY;
  who.launch = m->launch->number;
  const Region *region = &m->regions.items[m->looked[which]];
  CellEvent event = {.who = &who, .region = m->looked[which], .units = units, .row = row};
  event.data = m->block + region->base + row * region->row_bytes;
  obey(m, is_write ? hooks_write(&m->hooks, &m->machine, &event) : hooks_read(&m->hooks, &m->machine, &event));
}

void tell_memory(Fragment *m, uint32_t address, uint32_t bytes, bool is_write) {
  if ((m->wants & WANT_CELLS) == 0 || frame_bytes(m, address, bytes) == NULL) return;
  uint16_t index = (uint16_t)(m->unit_region + 1); // as layout.c has it
  const Region *region = &m->regions.items[index];
  uint64_t row = (address - region->base) / FRAG_LINE;
  if (address < region->base || row >= region->rows) return;
  Who who = WHO_NOBODY;
  who.launch = m->launch->number;
  uint32_t units = ((1u << bytes / 4) - 1) << address % FRAG_LINE / 4;
  CellEvent event = {.who = &who, .region = index, .units = units, .row = row};
  event.data = m->machine.memory + region->base + row * FRAG_LINE;
  obey(m, is_write ? hooks_write(&m->hooks, &m->machine, &event) : hooks_read(&m->hooks, &m->machine, &event));
}

static void tell_range(Fragment *m, uint32_t address, uint64_t bytes, bool is_write) {
  for (uint64_t at = 0; at < bytes; at += FRAGMENT_TEXEL_BYTES) tell_memory(m, address + (uint32_t)at, FRAGMENT_TEXEL_BYTES, is_write);
}

void tell_whole_memory(Fragment *m, bool is_write) {
  if ((m->wants & WANT_CELLS) == 0) return;
  tell_range(m, m->params.frame, (uint64_t)m->width * m->height * FRAGMENT_TEXEL_BYTES, is_write);
  for (uint32_t i = 0; i < SHADER_TEXTURES; i++) {
    const FragmentTexture *texture = &m->params.texture[i];
    if (texture->width != 0) tell_range(m, texture->address, fragment_texture_bytes(texture->width, texture->height), is_write);
  }
}

void tell_begin(Fragment *m, uint32_t pipe, uint32_t number) {
  if ((m->wants & WANT_CELLS) == 0) return;
  Who who = who_of(m, pipe, number, WHO_NO_INDEX);
  for (uint32_t i = 0; i < SHADER_TEMPS; i++) tell(m, &who, SHADER_TEMP, i, 0xF, true);
  for (uint32_t i = 0; i < SHADER_HALVES; i++) tell(m, &who, SHADER_HALF, i, 0xF, true);
}

void tell_reads(Fragment *m, uint32_t pipe, uint32_t number, const ShaderInstr *instr) {
  if ((m->wants & WANT_CELLS) == 0) return;
  Who who = who_of(m, pipe, number, context_at(m, pipe, number)->thread.pc);
  for (uint32_t i = 0; i < shader_op_info[instr->op].sources; i++) {
    const ShaderSource *source = &instr->source[i];
    uint32_t units = 0;
    for (uint32_t k = 0; k < 4; k++) units |= 1u << source->swizzle[k] % 4;
    tell(m, &who, source->file, source->index, units, false);
  }
}

// Components that the condition keeps from being written are told as read first: what they hold goes on.
static void tell_write(Fragment *m, const Who *who, const ShaderInstr *instr) {
  ShaderKind kind = shader_op_info[instr->op].kind;
  if (kind == SHADER_FLOW || kind == SHADER_KILL) return;
  if (instr->test != CODE_ANY) tell(m, who, instr->file, instr->index, instr->mask, false);
  tell(m, who, instr->file, instr->index, instr->mask, true);
}

// One of the units. The four components are the lanes of its outputs.
static Verdict tell_unit(Fragment *m, const Who *who, uint32_t unit, uint32_t mask, float result[4]) {
  static const PartOwner alone[1];
  static const uint8_t zeros[WARP_LANES];
  uint32_t rows[WARP_LANES] = {0};
  memcpy(rows, result, 4 * sizeof *rows);
  ResultEvent event = {.who = who, .region = m->unit_region, .row = (uint64_t)who->sm * m->dims.units + unit, .cycles = 1, .mask = mask};
  event.shadow = unit > 0 ? mask : 0;
  event.owner = alone;
  event.owners = 1;
  event.owner_of = event.thread = zeros;
  event.slots = 4;
  event.copy = (uint8_t)unit;
  event.copies = (uint8_t)(unit + 1);
  event.is_last = true;
  event.rows = rows;
  event.row_count = 1;
  Verdict verdict = hooks_result(&m->hooks, &m->machine, &event);
  if (unit == 0) memcpy(result, rows, 4 * sizeof *rows);
  return verdict;
}

bool tell_result(Fragment *m, uint32_t pipe, uint32_t number, const ShaderInstr *instr, float result[4]) {
  if ((m->wants & WANT_RESULT) == 0) return true;
  Who who = who_of(m, pipe, number, context_at(m, pipe, number)->thread.pc);
  float second[4];
  memcpy(second, result, sizeof second);
  Verdict verdict = tell_unit(m, &who, 0, instr->mask & 0xFu, result);
  if (m->dims.units > 1) {
    Verdict other = tell_unit(m, &who, 1, instr->mask & 0xFu, second);
    verdict = other > verdict ? other : verdict;
  }
  obey(m, verdict);
  if (verdict == VERDICT_REPEAT || verdict == VERDICT_HOLD) m->stats->repeats++;
  return verdict < VERDICT_STALL;
}

void tell_end(Fragment *m, uint32_t pipe, uint32_t number, uint32_t pc, const ShaderInstr *instr) {
  if ((m->wants & (WANT_CELLS | WANT_COMMIT)) == 0) return;
  Who who = who_of(m, pipe, number, pc);
  if ((m->wants & WANT_CELLS) != 0) tell_write(m, &who, instr);
  if ((m->wants & WANT_COMMIT) == 0) return;
  CommitEvent event = {.who = &who, .mask = 1, .issued_at = m->core->cycle};
  obey(m, hooks_commit(&m->hooks, &m->machine, &event));
}

bool tell_fragment(Fragment *m, uint32_t pipe, uint32_t number, FragPlace place, uint32_t copy) {
  if ((m->wants & WANT_BLOCK) == 0) return true;
  Who who = who_of(m, pipe, number, WHO_NO_INDEX);
  who.block = (uint64_t)place.y * m->width + place.x;
  BlockEvent event = {.who = &who, .copy = (uint8_t)copy};
  Verdict verdict = hooks_block(&m->hooks, &m->machine, &event);
  obey(m, verdict);
  return verdict == VERDICT_PASS;
}

void tell_fragment_end(Fragment *m, uint32_t pipe, uint32_t number) {
  if ((m->wants & WANT_BLOCK) == 0) return;
  Who who = who_of(m, pipe, number, WHO_NO_INDEX);
  BlockEvent event = {.who = &who, .done = true, .copy = context_at(m, pipe, number)->copy & 3};
  obey(m, hooks_block(&m->hooks, &m->machine, &event));
}
