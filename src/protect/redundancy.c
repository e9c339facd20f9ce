// The holding buffer, comparing and voting; see redundancy.h.
#include "protect/redundancy.h"

enum { HELD_COPIES = 2, HELD_ROWS = 8, WORDS = 3, NO_ENTRY = UINT32_MAX };

// An entry's tag: state, block slot, warp, number of the instruction and of its part.
typedef enum EntryState { ENTRY_FREE, ENTRY_RESERVED, ENTRY_ONE, ENTRY_TWO } EntryState; // so many copies held
enum {
  STATE_BITS = 2,
  BLOCK_BITS = 8,
  WARP_BITS = 10,
  PART_BITS = 5,
  NUMBER_BITS = 40,
  WARP_AT = STATE_BITS + BLOCK_BITS,
  NUMBER_AT = WARP_AT + WARP_BITS,
  SHADOW_PART = (1 << PART_BITS) - 1 // in place of a part's number: the entry holds shadows of the instruction, whatever part they come for
};
enum { TAG_BITS = NUMBER_AT + NUMBER_BITS };
#define FIELD(bits) ((UINT64_C(1) << (bits)) - 1)

// One entry of the buffer, as pointers into the block.
typedef struct Held {
  uint64_t *tag;
  uint32_t (*words)[WORDS];                // per copy: threads that it holds, two predicate results
  uint32_t (*rows)[HELD_ROWS][WARP_LANES]; // per copy
} Held;

// A part's results by thread: what was computed twice lies in one place, whatever lanes it was on.
typedef struct Values {
  uint32_t threads; // that computed
  uint32_t count;   // of rows
  uint32_t predicates[2];
  uint32_t rows[HELD_ROWS][WARP_LANES]; // the first `count`: zeros for threads that did not, so that the same work leaves the same bytes
  uint32_t own[WARP_LANES];             // all ones at threads that did, else 0: for loops over whole rows
  uint8_t place[WARP_LANES];            // of each lane slot
} Values;

static uint8_t *region_at(const HookMachine *machine, uint16_t region) { return machine->block + machine->regions->items[region].base; }

static Held held_at(const Redundancy *at, const HookMachine *machine, uint32_t sm, uint32_t number) {
  size_t entry = (size_t)(sm % at->sms) * at->entries + number;
  return (Held){
      .tag = (uint64_t *)(void *)region_at(machine, at->tags) + entry,
      .words = (uint32_t(*)[WORDS])(void *)region_at(machine, at->words) + entry * HELD_COPIES,
      .rows = (uint32_t(*)[HELD_ROWS][WARP_LANES])(void *)region_at(machine, at->rows) + entry * HELD_COPIES,
  };
}

static EntryState tag_state(uint64_t tag) { return (EntryState)(tag & FIELD(STATE_BITS)); }
static void set_state(const Held *held, EntryState state) { *held->tag = (*held->tag & ~FIELD(STATE_BITS)) | (uint64_t)state; }

static uint64_t tag_of(uint32_t block_slot, uint32_t warp, uint64_t number, uint32_t part) {
  number = number << PART_BITS | (part & FIELD(PART_BITS));
  return (block_slot & FIELD(BLOCK_BITS)) << STATE_BITS | (warp & FIELD(WARP_BITS)) << WARP_AT | (number & FIELD(NUMBER_BITS)) << NUMBER_AT;
}

// Which part of which instruction, without the state. Warp-wide instructions (shuffles, votes, matrix multiplication) may issue in vain and wait for
// other lanes of their warp, so their number is their place in the program: the scoreboard lets only one
// instance of it be under way, and the next one finds the entry that was left behind.
static uint64_t make_tag(const Who *who, const Instr *instr, uint32_t part) {
  const OpInfo *info = &op_info[instr->op];
  bool warp_wide = info->kind == KIND_WARP || (info->kind == KIND_MATRIX && info->space == SPACE_NONE);
  return tag_of(who->block_slot, who->warp, warp_wide ? (uint64_t)who->pc << 1 | 1 : who->issue << 1, part);
}

static uint64_t shadow_tag(const PartOwner *owner) { return tag_of(owner->block_slot, owner->warp, owner->issue << 1, SHADOW_PART); }

// An entry's tag is this one, with any state but ENTRY_FREE.
static bool is_held(uint64_t of_entry, uint64_t tag) { return (of_entry ^ tag) - 1 < FIELD(STATE_BITS); }

// The entry of an instruction, else NO_ENTRY and the first free one.
static uint32_t look_up(const Redundancy *at, const HookMachine *machine, uint32_t sm, uint64_t tag, uint32_t *free_entry) {
  const uint64_t *tags = held_at(at, machine, sm, 0).tag;
  uint32_t count = at->entries, i = 0;
  while (i < count && tag_state(tags[i]) != ENTRY_FREE && !is_held(tags[i], tag)) i++;
  *free_entry = i < count && tag_state(tags[i]) == ENTRY_FREE ? i : NO_ENTRY;
  while (i < count && !is_held(tags[i], tag)) i++;
  return i < count ? i : NO_ENTRY;
}

// The entry of an instruction, else a free one with its tag put in, else NO_ENTRY.
static uint32_t find_entry(const Redundancy *at, const HookMachine *machine, uint32_t sm, uint64_t tag) {
  uint64_t *tags = held_at(at, machine, sm, 0).tag;
  uint32_t free_entry, entry = look_up(at, machine, sm, tag, &free_entry);
  if (entry != NO_ENTRY) return entry;
  if (free_entry != NO_ENTRY) tags[free_entry] = tag | ENTRY_RESERVED;
  return free_entry;
}

static void release(const Held *held, uint32_t rows) {
  *held->tag = 0;
  memset(held->words, 0, HELD_COPIES * sizeof *held->words);
  for (uint32_t copy = 0; copy < HELD_COPIES; copy++) memset(held->rows[copy], 0, rows * sizeof held->rows[copy][0]);
}

// ---- By thread -------------------------------------------------------------------------------------

// All ones where a bit is set: loops over rows mask with them, without a branch for each thread.
static void spread(uint32_t bits, uint32_t lanes[WARP_LANES]) {
#define BITS_4(n) 1u << (n), 2u << (n), 4u << (n), 8u << (n)
  static const uint32_t bit[WARP_LANES] = {BITS_4(0), BITS_4(4), BITS_4(8), BITS_4(12), BITS_4(16), BITS_4(20), BITS_4(24), BITS_4(28)};
#undef BITS_4
  for (uint32_t i = 0; i < WARP_LANES; i++) lanes[i] = (bits & bit[i]) != 0 ? UINT32_MAX : 0;
}

static void set_threads(Values *values, uint32_t threads) {
  values->threads = threads;
  spread(threads, values->own);
}

// Lane slot i computes thread i, wherever one does.
static bool is_plain(const ResultEvent *event, const uint32_t lanes[WARP_LANES]) {
  uint32_t off = 0;
  for (uint32_t i = 0; i < WARP_LANES; i++) off |= (event->thread[i] ^ i) & lanes[i];
  return off == 0;
}

// Where each lane slot's value lies: at its thread. Where threads of several warps have the same number, in the order of warp and number.
static void places_of(const ResultEvent *event, uint32_t slots, uint8_t place[WARP_LANES]) {
  uint32_t taken = 0, clash = 0;
  for (uint32_t left = slots; left != 0; left &= left - 1) {
    uint32_t i = (uint32_t)__builtin_ctz(left);
    place[i] = event->thread[i] % WARP_LANES;
    clash |= taken >> place[i] & 1;
    taken |= 1u << place[i];
  }
  if (clash == 0) return;
  for (uint32_t left = slots; left != 0; left &= left - 1) {
    uint32_t i = (uint32_t)__builtin_ctz(left), rank = 0;
    for (uint32_t others = slots; others != 0; others &= others - 1) {
      uint32_t k = (uint32_t)__builtin_ctz(others);
      uint32_t own = event->owner_of[i] * 32u + event->thread[i], other = event->owner_of[k] * 32u + event->thread[k];
      rank += other < own || (other == own && k < i) ? 1 : 0;
    }
    place[i] = (uint8_t)rank;
  }
}

// Of a plain part, whole rows at once.
static void values_of_plain(const ResultEvent *event, uint32_t slots, Values *values) {
  values->threads = slots;
  for (uint32_t r = 0; r < values->count; r++) {
    for (uint32_t i = 0; i < WARP_LANES; i++) values->rows[r][i] = event->rows[r * WARP_LANES + i] & values->own[i];
  }
  for (uint32_t k = 0; k < 2; k++) values->predicates[k] = event->predicates == NULL ? 0 : event->predicates[k] & slots;
  for (uint32_t i = 0; i < WARP_LANES; i++) values->place[i] = (uint8_t)i;
}

// Rows that do not count are left as they are.
static void clear_values(Values *values, uint32_t count) {
  values->threads = 0;
  values->count = count;
  memset(values->predicates, 0, sizeof values->predicates);
  memset(values->rows, 0, count * sizeof values->rows[0]);
  memset(values->place, 0, sizeof values->place);
}

static void values_of(const ResultEvent *event, Values *values) {
  uint32_t slots = event->mask & ~event->shadow;
  spread(slots, values->own);
  values->count = min_u32(event->row_count, HELD_ROWS);
  if (is_plain(event, values->own)) {
    values_of_plain(event, slots, values);
    return;
  }
  clear_values(values, values->count);
  places_of(event, slots, values->place);
  for (uint32_t left = slots; left != 0; left &= left - 1) {
    uint32_t i = (uint32_t)__builtin_ctz(left), to = values->place[i];
    values->threads |= 1u << to;
    for (uint32_t r = 0; r < values->count; r++) values->rows[r][to] = event->rows[r * WARP_LANES + i];
    for (uint32_t k = 0; k < 2 && event->predicates != NULL; k++) values->predicates[k] |= (event->predicates[k] >> i & 1) << to;
  }
  set_threads(values, values->threads);
}

// The event's results become these.
static void give_back(const Values *values, ResultEvent *event) {
  for (uint32_t left = event->mask & ~event->shadow; left != 0; left &= left - 1) {
    uint32_t i = (uint32_t)__builtin_ctz(left), from = values->place[i];
    for (uint32_t r = 0; r < values->count; r++) event->rows[r * WARP_LANES + i] = values->rows[r][from];
    for (uint32_t k = 0; k < 2 && event->predicates != NULL; k++) {
      event->predicates[k] = (event->predicates[k] & ~(1u << i)) | (values->predicates[k] >> from & 1) << i;
    }
  }
}

// ---- Comparing and voting --------------------------------------------------------------------------

// Adds what was computed to a copy that is held.
static void hold(const Held *held, const HookMachine *machine, uint32_t copy, const Values *values) {
  uint32_t *words = held->words[copy];
  hook_tally(machine, TALLY_REDUNDANCY_HELD, count_ones(values->threads));
  words[0] |= values->threads;
  for (uint32_t k = 0; k < 2; k++) words[1 + k] = (words[1 + k] & ~values->threads) | values->predicates[k];
  for (uint32_t r = 0; r < values->count; r++) {
    uint32_t *row = held->rows[copy][r];
    for (uint32_t i = 0; i < WARP_LANES; i++) row[i] = (row[i] & ~values->own[i]) | (values->rows[r][i] & values->own[i]);
  }
}

static bool same(const Held *held, uint32_t copy, const Values *values) {
  const uint32_t *words = held->words[copy];
  uint32_t differ = ((words[1] ^ values->predicates[0]) | (words[2] ^ values->predicates[1])) & values->threads;
  for (uint32_t r = 0; r < values->count; r++) {
    const uint32_t *row = held->rows[copy][r];
    for (uint32_t i = 0; i < WARP_LANES; i++) differ |= (values->rows[r][i] ^ row[i]) & values->own[i];
  }
  return differ == 0;
}

// The thread's value in two of three copies. False: all differ.
static bool vote_thread(const Held *held, uint32_t r, uint32_t i, uint32_t *value) {
  uint32_t first = held->rows[0][r][i], second = held->rows[1][r][i];
  if (first == *value || second == *value) return true;
  *value = first;
  return first == second;
}

// Three copies vote; `values` become the majority's. False: there is none.
static bool vote(const Held *held, Values *values) {
  if ((values->threads & ~(held->words[0][0] & held->words[1][0])) != 0) return false;
  for (uint32_t r = 0; r < values->count; r++) {
    for (uint32_t i = 0; i < WARP_LANES; i++) {
      if ((values->threads >> i & 1) != 0 && !vote_thread(held, r, i, &values->rows[r][i])) return false;
    }
  }
  for (uint32_t k = 0; k < 2; k++) {
    uint32_t a = held->words[0][1 + k], b = held->words[1][1 + k], c = values->predicates[k];
    values->predicates[k] = ((a & b) | (a & c) | (b & c)) & values->threads;
  }
  return true;
}

bool redundancy_agrees_within(const ResultEvent *event) {
  for (uint32_t left = event->shadow; left != 0; left &= left - 1) {
    uint32_t i = (uint32_t)__builtin_ctz(left);
    for (uint32_t others = event->mask & ~event->shadow; others != 0; others &= others - 1) {
      uint32_t k = (uint32_t)__builtin_ctz(others), differ = 0;
      if (event->owner_of[i] != event->owner_of[k] || event->thread[i] != event->thread[k]) continue;
      for (uint32_t r = 0; r < event->row_count; r++) differ |= event->rows[r * WARP_LANES + i] ^ event->rows[r * WARP_LANES + k];
      for (uint32_t p = 0; p < 2 && event->predicates != NULL; p++) differ |= (event->predicates[p] >> i ^ event->predicates[p] >> k) & 1;
      if (differ != 0) return false;
    }
  }
  return true;
}

// ---- Results ---------------------------------------------------------------------------------------

// These threads are through. Others of the part may be held still.
static void settle(const Held *held, const Values *values) {
  if ((held->words[0][0] & ~values->threads) == 0) {
    release(held, values->count);
    return;
  }
  for (uint32_t copy = 0; copy < HELD_COPIES; copy++) {
    for (uint32_t k = 0; k < WORDS; k++) held->words[copy][k] &= ~values->threads;
    for (uint32_t r = 0; r < values->count; r++) {
      for (uint32_t i = 0; i < WARP_LANES; i++) held->rows[copy][r][i] &= ~values->own[i];
    }
  }
  if (held->words[1][0] == 0) set_state(held, ENTRY_ONE);
}

static Verdict give_up(const Held *held, HookMachine *machine, const Values *values) {
  release(held, values->count);
  ++*machine->detected;
  return VERDICT_HALT;
}

// The copies do not agree on which threads execute: a further issue would take its mask from one of them. Those of a copy may come in
// several results, in their order; what waits for its third issue is in the second copy's mask.
static bool threads_differ(const Held *held, const Values *values, uint32_t copy, bool is_last) {
  uint32_t first = held->words[0][0], other = copy == 1 ? held->words[1][0] & ~values->threads : 0;
  return (values->threads & ~first) != 0 || (is_last && (first & ~other) != values->threads);
}

// The third copy: a majority, or the end.
static Verdict last_copy(const Held *held, HookMachine *machine, ResultEvent *event, Values *values) {
  EntryState state = tag_state(*held->tag);
  bool has_two = state == ENTRY_TWO && (held->words[1][0] & values->threads) != 0;
  bool has_one = state >= ENTRY_ONE && !has_two && (state == ENTRY_ONE || held->words[1][0] != 0);
  bool differ = threads_differ(held, values, event->copy, event->is_last);
  bool good = !differ && ((has_one && same(held, 0, values)) || (has_two && vote(held, values)));
  if (!good) return give_up(held, machine, values);
  give_back(values, event);
  settle(held, values);
  ++*machine->corrected;
  return VERDICT_FIXED;
}

static bool makes_addresses(const Instr *instr) {
  Kind kind = op_info[instr->op].kind;
  return kind == KIND_LOAD || kind == KIND_STORE || kind == KIND_ATOMIC || kind == KIND_TEXTURE || op_info[instr->op].space != SPACE_NONE;
}

// Registers of an operand, as bits from `first` on.
static bool registers_meet(const Instr *instr, const OperandUse *a, const OperandUse *b) {
  const uint8_t numbers[MAX_OPERANDS] = {instr->d[0], instr->d[1],  instr->d[2],  instr->d[3], instr->a,    instr->b,
                                         instr->c,    instr->pd[0], instr->pd[1], instr->ps,   instr->guard};
  uint32_t first = numbers[a->operand % MAX_OPERANDS], second = numbers[b->operand % MAX_OPERANDS];
  if (a->predicate != b->predicate) return false;
  if (a->predicate) return first == second && first < MAX_PREDICATES;
  return first != REG_ZERO && second != REG_ZERO && first < second + b->registers && second < first + a->registers;
}

static bool overwrites_source(const Instr *instr) {
  OperandUse uses[MAX_OPERANDS];
  unsigned count = op_operands((Op)instr->op, instr->mods, (OperandSelect)instr->select, uses), selected = MAX_OPERANDS;
  if (instr->select != SELECT_REGISTERS)
    selected = OPERAND_A + instr->select - (unsigned)(instr->select >= SELECT_CONST_A ? SELECT_CONST_A : SELECT_IMM_A);
  for (unsigned i = 0; i < count; i++) {
    for (unsigned k = 0; uses[i].written && k < count; k++) {
      if (!uses[k].written && uses[k].operand != selected && registers_meet(instr, &uses[i], &uses[k])) return true;
    }
  }
  return false;
}

// The registers do not hold its operands any more.
static bool cannot_repeat(const Redundancy *at, const Instr *instr) {
  return at->order == WRITE_FIRST && !makes_addresses(instr) && overwrites_source(instr);
}

static Verdict second_copy(const Redundancy *at, const Held *held, HookMachine *machine, const ResultEvent *event, const Values *values) {
  bool first_is_there = tag_state(*held->tag) >= ENTRY_ONE;
  bool differ = first_is_there && threads_differ(held, values, 1, event->is_last);
  if (first_is_there && !differ && same(held, 0, values)) {
    settle(held, values);
    hook_tally(machine, TALLY_REDUNDANCY_COMPARED, count_ones(values->threads));
    return at->order == WRITE_FIRST && !makes_addresses(event->instr) ? VERDICT_HOLD : VERDICT_PASS;
  }
  if (differ || cannot_repeat(at, event->instr)) return give_up(held, machine, values);
  hold(held, machine, first_is_there ? 1 : 0, values);
  set_state(held, first_is_there ? ENTRY_TWO : ENTRY_ONE);
  ++*machine->repeated;
  return VERDICT_REPEAT;
}

Verdict redundancy_result(const Redundancy *at, HookMachine *machine, ResultEvent *event) {
  if (event->copies < 2) return VERDICT_PASS; // not one of ours
  event->compared |= event->mask;
  uint32_t entry = find_entry(at, machine, event->who->sm, make_tag(event->who, event->instr, event->part));
  bool writes_first = at->order == WRITE_FIRST;
  if (entry == NO_ENTRY) { // faults in the buffer alone lead here
    if (event->copy == 0) return writes_first ? VERDICT_PASS : VERDICT_HOLD;
    ++*(event->copy == 1 ? machine->repeated : machine->detected);
    return event->copy == 1 ? VERDICT_REPEAT : VERDICT_HALT;
  }
  Held held = held_at(at, machine, event->who->sm, entry);
  Values values;
  values_of(event, &values);
  if (event->copy >= 2) return last_copy(&held, machine, event, &values);
  if (event->copy == 1) return second_copy(at, &held, machine, event, &values);
  hold(&held, machine, 0, &values);
  if (tag_state(*held.tag) < ENTRY_ONE) set_state(&held, ENTRY_ONE);
  return writes_first ? VERDICT_PASS : VERDICT_HOLD;
}

// ---- Shadows ---------------------------------------------------------------------------------------

// Results of an owner's threads in these lane slots, by thread.
static void values_of_owner(const ResultEvent *event, uint32_t owner, uint32_t slots, Values *values) {
  clear_values(values, min_u32(event->row_count, HELD_ROWS));
  for (uint32_t left = slots; left != 0; left &= left - 1) {
    uint32_t i = (uint32_t)__builtin_ctz(left), to = event->thread[i] % WARP_LANES;
    if (event->owner_of[i] != owner) continue;
    values->place[i] = (uint8_t)to;
    values->threads |= 1u << to;
    for (uint32_t r = 0; r < values->count; r++) values->rows[r][to] = event->rows[r * WARP_LANES + i];
    for (uint32_t k = 0; k < 2 && event->predicates != NULL; k++) values->predicates[k] |= (event->predicates[k] >> i & 1) << to;
  }
  set_threads(values, values->threads);
}

// Of these lane slots those that computed the threads of an owner.
static uint32_t slots_of_threads(const ResultEvent *event, uint32_t owner, uint32_t among, uint32_t threads) {
  uint32_t slots = 0;
  for (uint32_t left = event->mask & among; left != 0; left &= left - 1) {
    uint32_t i = (uint32_t)__builtin_ctz(left);
    if (event->owner_of[i] == owner && (threads >> event->thread[i] % WARP_LANES & 1) != 0) slots |= 1u << i;
  }
  return slots;
}

// The entry for shadows of this owner's instruction; false: there is none.
static bool find_shadows(const Redundancy *at, const HookMachine *machine, const ResultEvent *event, uint32_t owner, Held *held) {
  uint32_t free_entry, entry = look_up(at, machine, event->who->sm, shadow_tag(&event->owner[owner]), &free_entry);
  if (entry == NO_ENTRY) return false;
  *held = held_at(at, machine, event->who->sm, entry);
  return true;
}

static void drop_shadows(const Held *held, HookMachine *machine) {
  hook_tally(machine, TALLY_REDUNDANCY_UNUSED, count_ones(held->words[0][0]));
  release(held, HELD_ROWS);
}

// Shadows of this part wait for their threads. Those that come too late, or whose entry a fault has hidden, go.
static void keep_shadows(const Redundancy *at, HookMachine *machine, ResultEvent *event) {
  for (uint32_t owner = 0; owner < event->owners; owner++) {
    Held held;
    Values values;
    values_of_owner(event, owner, event->mask & event->shadow, &values);
    if (values.threads == 0) continue;
    if (!find_shadows(at, machine, event, owner, &held) || tag_state(*held.tag) != ENTRY_RESERVED) {
      hook_tally(machine, TALLY_REDUNDANCY_UNUSED, count_ones(values.threads));
      continue;
    }
    hold(&held, machine, 0, &values);
    set_state(&held, ENTRY_ONE);
    event->compared |= slots_of_threads(event, owner, event->shadow, values.threads);
  }
}

// Threads with what shadows have left for them. False: they differ, and the entry has both.
static bool agrees_with_shadows(const Held *held, HookMachine *machine, const Values *values) {
  Values both = *values;
  set_threads(&both, both.threads & held->words[0][0]);
  if (tag_state(*held->tag) == ENTRY_ONE && !same(held, 0, &both)) {
    hold(held, machine, 1, values);
    set_state(held, ENTRY_TWO);
    return false;
  }
  hook_tally(machine, TALLY_REDUNDANCY_COMPARED, count_ones(both.threads));
  held->words[0][0] &= ~both.threads;
  drop_shadows(held, machine); // those of threads that did not come
  return true;
}

// The repeat of a part that did not agree with its shadows: these threads vote, the others must be as they were.
static bool vote_shadows(const Held *held, Values *values) {
  Values voting = *values, others = *values;
  set_threads(&voting, voting.threads & held->words[0][0]);
  set_threads(&others, others.threads & ~held->words[0][0]);
  if ((values->threads & ~held->words[1][0]) != 0 || !same(held, 1, &others) || !vote(held, &voting)) return false;
  for (uint32_t r = 0; r < values->count; r++) {
    for (uint32_t i = 0; i < WARP_LANES; i++) {
      if ((voting.threads >> i & 1) != 0) values->rows[r][i] = voting.rows[r][i];
    }
  }
  for (uint32_t k = 0; k < 2; k++)
    values->predicates[k] = (values->predicates[k] & ~voting.threads) | (voting.predicates[k] & voting.threads);
  return true;
}

static void give_back_owner(const Values *values, uint32_t owner, ResultEvent *event) {
  ResultEvent part = *event; // same rows, fewer lane slots
  part.mask = slots_of_threads(event, owner, UINT32_MAX, UINT32_MAX);
  give_back(values, &part);
}

bool redundancy_helped(const Redundancy *at, HookMachine *machine, ResultEvent *event, Verdict *verdict) {
  bool decided = false;
  *verdict = VERDICT_PASS;
  if (event->copy == 0 && (event->mask & event->shadow) != 0) keep_shadows(at, machine, event);
  for (uint32_t owner = 0; owner < event->owners; owner++) {
    Held held;
    Values values;
    if (!find_shadows(at, machine, event, owner, &held)) continue;
    values_of_owner(event, owner, event->mask & ~event->shadow, &values);
    if (values.threads == 0) continue; // guests, whose own instruction is still to come
    bool is_vote = event->copy > 0 && tag_state(*held.tag) == ENTRY_TWO;
    if (event->copies > 1 && !is_vote) {
      drop_shadows(&held, machine); // its copies are compared
      continue;
    }
    decided = true;
    event->compared |= slots_of_threads(event, owner, ~event->shadow, held.words[0][0]);
    if (is_vote && vote_shadows(&held, &values)) {
      give_back_owner(&values, owner, event);
      release(&held, values.count);
      ++*machine->corrected;
      *verdict = max_u32(*verdict, VERDICT_FIXED);
    } else if (is_vote || (!agrees_with_shadows(&held, machine, &values) && cannot_repeat(at, event->instr))) {
      *verdict = give_up(&held, machine, &values);
      return true;
    } else if (tag_state(*held.tag) == ENTRY_TWO) {
      *verdict = VERDICT_REPEAT;
    }
  }
  if (*verdict == VERDICT_REPEAT) ++*machine->repeated;
  return decided;
}

// ---- For schemes -----------------------------------------------------------------------------------

bool redundancy_covers(const Instr *instr) {
  const OpInfo *info = &op_info[instr->op];
  if (info->unit == UNIT_BRANCH || (info->flags & IT_VOLATILE_RESULT) != 0) return false;
  return info->kind != KIND_CONTROL && info->kind != KIND_BARRIER && info->kind != KIND_FENCE && info->kind != KIND_SYSTEM;
}

bool redundancy_reserve(const Redundancy *at, const HookMachine *machine, const PlanEvent *event) {
  return find_entry(at, machine, event->who->sm, make_tag(event->who, event->instr, event->number)) != NO_ENTRY;
}

uint32_t redundancy_entry(const Redundancy *at, const HookMachine *machine, const Who *who, const Instr *instr, uint32_t part) {
  return find_entry(at, machine, who->sm, make_tag(who, instr, part));
}

bool redundancy_expect(const Redundancy *at, const HookMachine *machine, uint32_t sm, const PartOwner *helped) {
  uint32_t free_entry, entry = look_up(at, machine, sm, shadow_tag(helped), &free_entry);
  if (entry != NO_ENTRY || free_entry == NO_ENTRY) return false;
  *held_at(at, machine, sm, free_entry).tag = shadow_tag(helped) | ENTRY_RESERVED;
  return true;
}

static void clear_entries(const Redundancy *at, const HookMachine *machine, uint32_t sm, uint64_t mask, uint64_t tag) {
  for (uint32_t entry = 0; entry < at->entries; entry++) {
    Held held = held_at(at, machine, sm, entry);
    if (*held.tag != 0 && (*held.tag & mask) == tag) release(&held, HELD_ROWS);
  }
}

void redundancy_clear(const Redundancy *at, const HookMachine *machine) {
  for (uint32_t sm = 0; sm < at->sms; sm++) clear_entries(at, machine, sm, 0, 0);
}

void redundancy_clear_block(const Redundancy *at, const HookMachine *machine, uint32_t sm, uint32_t block_slot) {
  uint64_t field = FIELD(BLOCK_BITS) << STATE_BITS;
  clear_entries(at, machine, sm, field, ((uint64_t)block_slot << STATE_BITS) & field);
}

void redundancy_rotate(PlaceEvent *event, uint32_t by) {
  uint32_t lanes = max_u32(min_u32(event->lanes, PART_SLOTS), 1), shift = redundancy_shift(by, lanes);
  const LanePart was = *event->part;
  LanePart now = {.filled = 0};
  if (PART_SLOTS % lanes != 0) return; // a last turn of some lanes only: a thread would have nowhere to go
  for (uint32_t i = 0; i < PART_SLOTS; i++) {
    uint32_t lane = i & (lanes - 1), to = i - lane + ((lane + shift) & (lanes - 1)), taken = was.filled >> i & 1; // lanes: a power of two
    now.warp[to] = (uint8_t)(was.warp[i] & (0 - taken));
    now.thread[to] = (uint8_t)(was.thread[i] & (0 - taken));
    now.filled |= taken << to;
    now.shadow |= (was.shadow >> i & taken) << to;
  }
  *event->part = now;
}

bool redundancy_attach(Redundancy *at, HookLayout *layout, Diags *diags) {
  at->sms = max_u32(hook_layout_shape(layout)->sms, 1);
  Region tags = {.name = at->tag_name,
                 .title = "redundancy buffer",
                 .unit = "entry",
                 .meaning = "which instruction an entry holds",
                 .dims = {{"sm", at->sms}, {"place", at->entries}},
                 .dim_count = 2,
                 .units = 1,
                 .bits = TAG_BITS,
                 .unit_bytes = 8};
  Region words = {.name = at->mask_name,
                  .title = "redundancy buffer",
                  .unit = "word",
                  .meaning = "threads that executed, and predicate results",
                  .dims = {{"sm", at->sms}, {"place", at->entries}, {"copy", HELD_COPIES}},
                  .dim_count = 3,
                  .units = WORDS,
                  .bits = 32,
                  .unit_bytes = 4};
  Region rows = {.name = at->rows_name,
                 .title = "redundancy buffer",
                 .unit = "lane",
                 .meaning = "result registers",
                 .dims = {{"sm", at->sms}, {"place", at->entries}, {"copy", HELD_COPIES}, {"row", HELD_ROWS}},
                 .dim_count = 4,
                 .units = WARP_LANES,
                 .bits = 32,
                 .unit_bytes = 4};
  at->tags = hook_add_region(layout, &tags, LIFE_LAUNCH, diags);
  if (at->tags == REGION_NONE) return false;
  at->words = hook_add_region(layout, &words, LIFE_LAUNCH, diags);
  at->rows = hook_add_region(layout, &rows, LIFE_LAUNCH, diags);
  return at->words != REGION_NONE && at->rows != REGION_NONE;
}
