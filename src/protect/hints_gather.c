// The gathering unit of a faulty SM: what its caches and its memory unit do becomes hints.
//
// A fetch names a block of 64 bytes of instructions. A load's request names a line and which words of it: a hint for merging and one for the
// L2. A hint is completed with the program counter, the warp and the SM, and waits in the unit's register; the next one pushes it into the queue.
// When the queue is full, gathering stops.
#include "protect/hints.h"

// Limit study: so many of a hundred hints are wrong. A wrong block of instructions lies behind the program, where nothing can be fetched: another
// block of a small kernel would soon be wanted, and so be a good hint. A wrong line is one of those around, and is fetched.
static void spoil(const Hints *own, const HookMachine *machine, Hint *hint) {
  uint64_t draw = random_draw(own->wrong, machine->cycle * HINT_MOST_SMS + hint->sm, hint->type);
  if (random_below(draw, 100) >= own->wrong) return;
  uint64_t other = random_draw(own->wrong, draw, 1);
  if (hint->type == HINT_ICACHE) {
    hint->specific += ((uint64_t)machine->program->code_count * own->code_bytes / HINT_BLOCK_BYTES + 1) * HINT_BLOCK_BYTES;
  } else {
    hint->specific ^= (1 + random_below(other, 4095)) << 11; // another of the lines around
  }
}

static void gather(Hook *hook, HookMachine *machine, Hint hint) {
  const Hints *own = hints_own(hook);
  uint32_t tpc = hint.sm / own->tpc_sms;
  uint64_t *reg = hints_at(own, machine, CELLS_GATHER, hint.sm), *full = hints_at(own, machine, CELLS_FULL, hint.sm), cells[2];
  if (!hints_type_is_on(own, machine, own->partner[hint.sm], hint.type)) return;
  if (own->wrong > 0) spoil(own, machine, &hint);
  hint_pack(&hint, cells);
  // One fetch fills the buffer with several instructions of a block.
  if (hint.type == HINT_ICACHE && cells[0] == reg[0] && cells[1] == reg[1]) return;
  bool met = hint.type == HINT_MERGE && !own->asks && hints_meets(own, machine, &hint);
  if (met) {
    hints_count(machine, TALLY_HINTS_DELIVERED_ICACHE, hint.type, 1); // and has nothing to wait for
  } else if (own->perfect) {
    if (!hints_deliver(own, machine, &hint)) return;
    memcpy(reg, cells, sizeof cells);
  } else {
    if ((*full & FULL_GATHER) != 0 && !hints_push(own, machine, tpc, reg)) {
      hook_tally(machine, TALLY_HINTS_FULL, 1);
      return;
    }
    memcpy(reg, cells, sizeof cells);
    *full |= FULL_GATHER;
  }
  uint64_t *turn = hints_at(own, machine, CELLS_TURN, tpc);
  if (turn[1] == 0) { // the period begins with its first hint
    turn[1] = 1;
    *hints_at(own, machine, CELLS_PERIOD, tpc) = machine->cycle & HINT_MOST_PERIOD;
  }
  if (hint.type == HINT_MERGE && !own->asks && !met) hints_offer(own, machine, &hint);
  hints_count(machine, TALLY_HINTS_GENERATED_ICACHE, hint.type, 1);
  hints_aged(own, machine, hint.sm, TALLY_HINTS_AGED_0, 1);
  hints_moved(hook, machine, hint.sm);
}

void hints_gather_fetch(Hook *hook, HookMachine *machine, const Who *who) {
  const Hints *own = hints_own(hook);
  Hint hint = {.sm = who->sm, .type = HINT_ICACHE};
  if (!hints_partner_warp(own, machine, who, &hint.warp)) return;
  const uint64_t *at = hints_at(own, machine, CELLS_AT, (uint64_t)who->sm * own->warps + who->warp);
  bool has_issued = (at[2] & HINT_NOT_ISSUED) == 0;
  hint.specific = (uint64_t)who->pc * own->code_bytes / HINT_BLOCK_BYTES * HINT_BLOCK_BYTES;
  uint32_t pc = has_issued ? (uint32_t)at[0] : (uint32_t)(hint.specific / own->code_bytes);
  hint.stamp = own->order == ORDER_ISSUE ? (uint32_t)at[1] : pc;
  gather(hook, machine, hint);
}

static uint32_t first_word(const uint64_t mask[2]) {
  return (uint32_t)(mask[0] != 0 ? __builtin_ctzll(mask[0]) : mask[1] != 0 ? 64 + __builtin_ctzll(mask[1]) : 0) / 4;
}
static uint32_t last_word(const uint64_t mask[2]) {
  return (uint32_t)(mask[1] != 0 ? 127 - __builtin_clzll(mask[1]) : mask[0] != 0 ? 63 - __builtin_clzll(mask[0]) : 0) / 4;
}

uint64_t hints_range_of(const MemoryEvent *event) { return hint_range(event->address, first_word(event->mask), last_word(event->mask)); }

void hints_gather_request(Hook *hook, HookMachine *machine, const MemoryEvent *event) {
  const Hints *own = hints_own(hook);
  const Who *who = event->who;
  bool is_load = who->client == CLIENT_LOAD && event->address >> 48 == 0; // local memory is the SM's own
  bool is_other = who->client == CLIENT_CONSTANT || who->client == CLIENT_TEXTURE;
  Hint hint = {.sm = who->sm};
  if ((!is_load && !is_other) || !hints_partner_warp(own, machine, who, &hint.warp)) return;
  hint.stamp = own->order == ORDER_PC || who->issue == WHO_NO_NUMBER ? who->pc : (uint32_t)who->issue;
  if (is_other) {
    hint.type = HINT_OTHER;
    hint.specific = hint_range(event->address, 0, who->client == CLIENT_TEXTURE ? 1 : 0);
    gather(hook, machine, hint);
    return;
  }
  hint.specific = hints_range_of(event);
  // A load of the partner that is under way already answers the mirror's, too: the other half of merging.
  uint32_t partner = own->partner[who->sm];
  if (event->join != NULL && hints_type_is_on(own, machine, partner, HINT_MERGE)) *event->join = partner;
  hint.type = HINT_MERGE;
  gather(hook, machine, hint);
  hint.type = HINT_L2;
  gather(hook, machine, hint);
}
