// Full redundancy: every warp instruction is carried out twice and compared.
//
// Paper: J. Tan and X. Fu, "RISE: Improving the Streaming Processors Reliability Against Soft Errors in GPGPUs", PACT 2012: the
// duplication of section 1 (58% slower on average) with the mechanism of section 3.1.3, without its counters. The warp stays
// selected and issues the same instruction again in the next slot; at write-back the first copy's results go
// to a holding buffer, the second copy's are compared with them. A mismatch issues the instruction once more, and the three vote
// per lane and register. The paper writes the first copy to the registers at once; here it waits one slot for its comparison,
// so that a wrong value is never seen and the third issue reads the operands that the first two read.
//
// Loads, stores, atomics and textures: what their copies compute is the address; it is compared, the access is made once.
// Not duplicated: control flow, barriers, fences and system calls, which have no result, and reads of clocks, which
// differ by nature. Copies that do not agree on which lanes execute end the launch: a further issue would take its mask from one
// of them. Not covered: register file, caches and everything else outside the units.
//
// State: per SM `slots` entries, taken at issue (none left: STALL) and freed when the last copy has been compared. A free entry
// is all zeros. Any bits are legal: an entry that a fault made unfindable costs a third issue.
// Cost: issue slots and unit time of the copies, the buffer's room. Comparators and voters take no time.
#include "protect/protect_internal.h"

enum { DEFAULT_SLOTS = 32, MOST_SLOTS = 256, HELD_COPIES = 2, HELD_ROWS = 8, WORDS = 3, NO_SLOT = UINT32_MAX };

// An entry's tag: state, block slot, warp, number of the instruction.
typedef enum SlotState { SLOT_FREE, SLOT_RESERVED, SLOT_ONE, SLOT_TWO } SlotState; // so many copies held
enum {
  STATE_BITS = 2,
  BLOCK_BITS = 8,
  WARP_BITS = 10,
  NUMBER_BITS = 40,
  WARP_AT = STATE_BITS + BLOCK_BITS,
  NUMBER_AT = WARP_AT + WARP_BITS
};
enum { TAG_BITS = NUMBER_AT + NUMBER_BITS };
#define FIELD(bits) ((UINT64_C(1) << (bits)) - 1)

typedef struct Dmr {
  uint32_t slots, sms;
  uint16_t tags, words, rows; // regions
} Dmr;

// One entry of the buffer, as pointers into the block.
typedef struct Held {
  uint64_t *tag;
  uint32_t (*words)[WORDS];                // per copy: mask of lanes, two predicate results
  uint32_t (*rows)[HELD_ROWS][WARP_LANES]; // per copy
} Held;

static uint8_t *region_at(const HookMachine *machine, uint16_t region) { return machine->block + machine->regions->items[region].base; }

static Held held_at(const Dmr *own, const HookMachine *machine, uint32_t sm, uint32_t slot) {
  size_t entry = (size_t)(sm % own->sms) * own->slots + slot;
  return (Held){
      .tag = (uint64_t *)(void *)region_at(machine, own->tags) + entry,
      .words = (uint32_t(*)[WORDS])(void *)region_at(machine, own->words) + entry * HELD_COPIES,
      .rows = (uint32_t(*)[HELD_ROWS][WARP_LANES])(void *)region_at(machine, own->rows) + entry * HELD_COPIES,
  };
}

static SlotState tag_state(uint64_t tag) { return (SlotState)(tag & FIELD(STATE_BITS)); }
static void set_state(const Held *held, SlotState state) { *held->tag = (*held->tag & ~FIELD(STATE_BITS)) | (uint64_t)state; }

// Which instruction, without the state. Warp-wide instructions (shuffles, votes, matrix multiplication) may issue in vain and wait for
// other lanes of their warp, so their number is their place in the program: the scoreboard lets only one
// instance of it be under way, and the next one finds the entry that was left behind.
static uint64_t make_tag(uint32_t warp, uint32_t block_slot, const Instr *instr, uint32_t pc, uint64_t issue) {
  const OpInfo *info = &op_info[instr->op];
  bool warp_wide = info->kind == KIND_WARP || (info->kind == KIND_MATRIX && info->space == SPACE_NONE);
  uint64_t number = warp_wide ? (uint64_t)pc << 1 | 1 : issue << 1;
  return (block_slot & FIELD(BLOCK_BITS)) << STATE_BITS | (warp & FIELD(WARP_BITS)) << WARP_AT | (number & FIELD(NUMBER_BITS)) << NUMBER_AT;
}

// The entry of an instruction, else a free one with its tag put in, else NO_SLOT.
static uint32_t find_slot(const Dmr *own, const HookMachine *machine, uint32_t sm, uint64_t tag) {
  uint64_t *tags = held_at(own, machine, sm, 0).tag;
  uint32_t free_slot = NO_SLOT;
  for (uint32_t i = 0; i < own->slots; i++) {
    if (tag_state(tags[i]) == SLOT_FREE) {
      if (free_slot == NO_SLOT) free_slot = i;
    } else if ((tags[i] & ~FIELD(STATE_BITS)) == tag) {
      return i;
    }
  }
  if (free_slot != NO_SLOT) tags[free_slot] = tag | SLOT_RESERVED;
  return free_slot;
}

static void release(const Held *held, uint32_t rows) {
  *held->tag = 0;
  memset(held->words, 0, HELD_COPIES * sizeof *held->words);
  for (uint32_t copy = 0; copy < HELD_COPIES; copy++) memset(held->rows[copy], 0, rows * sizeof held->rows[copy][0]);
}

// ---- Comparing and voting --------------------------------------------------------------------------
static uint32_t rows_of(const ResultEvent *event) { return min_u32(event->row_count, HELD_ROWS); }
static uint32_t predicate_of(const ResultEvent *event, uint32_t i) {
  return event->predicates == NULL ? 0 : event->predicates[i] & event->mask;
}

// All ones for lanes that executed, zeros for the others: loops over lanes then have no branches.
static void lanes_of_mask(uint32_t mask, uint32_t lanes[WARP_LANES]) {
  for (uint32_t lane = 0; lane < WARP_LANES; lane++) lanes[lane] = 0u - (mask >> lane & 1);
}

// Keeps a copy's results; lanes that do not execute as zeros, so that the same work leaves the same bytes.
static void hold(const Held *held, uint32_t copy, const ResultEvent *event) {
  uint32_t *words = held->words[copy], lanes[WARP_LANES];
  words[0] = event->mask;
  words[1] = predicate_of(event, 0);
  words[2] = predicate_of(event, 1);
  lanes_of_mask(event->mask, lanes);
  for (uint32_t r = 0; r < rows_of(event); r++) {
    const uint32_t *row = event->rows + r * WARP_LANES;
    uint32_t *to = held->rows[copy][r];
    for (uint32_t lane = 0; lane < WARP_LANES; lane++) to[lane] = row[lane] & lanes[lane];
  }
}

static bool same(const Held *held, uint32_t copy, const ResultEvent *event) {
  const uint32_t *words = held->words[copy];
  if (words[0] != event->mask || words[1] != predicate_of(event, 0) || words[2] != predicate_of(event, 1)) return false;
  uint32_t differ = 0, lanes[WARP_LANES];
  lanes_of_mask(event->mask, lanes);
  for (uint32_t r = 0; r < rows_of(event); r++) {
    const uint32_t *row = event->rows + r * WARP_LANES, *kept = held->rows[copy][r];
    for (uint32_t lane = 0; lane < WARP_LANES; lane++) differ |= (row[lane] ^ kept[lane]) & lanes[lane];
  }
  return differ == 0;
}

// The lane's value in two of three copies. False: all differ.
static bool vote_lane(const Held *held, uint32_t r, uint32_t lane, uint32_t *value) {
  uint32_t first = held->rows[0][r][lane], second = held->rows[1][r][lane];
  if (first == *value || second == *value) return true;
  *value = first;
  return first == second;
}

// Three copies vote; the event's rows and predicates become the majority's. False: there is none.
static bool vote(const Held *held, ResultEvent *event) {
  if (event->mask != held->words[0][0] || event->mask != held->words[1][0]) return false;
  for (uint32_t r = 0; r < rows_of(event); r++) {
    for (uint32_t lane = 0; lane < WARP_LANES; lane++) {
      if ((event->mask >> lane & 1) != 0 && !vote_lane(held, r, lane, event->rows + r * WARP_LANES + lane)) return false;
    }
  }
  for (uint32_t i = 0; i < 2 && event->predicates != NULL; i++) {
    uint32_t a = held->words[0][1 + i], b = held->words[1][1 + i], c = event->predicates[i];
    event->predicates[i] = (c & ~event->mask) | (((a & b) | (a & c) | (b & c)) & event->mask);
  }
  return true;
}

// ---- The hook --------------------------------------------------------------------------------------
static bool is_duplicated(const IssueEvent *event) {
  const OpInfo *info = &op_info[event->instr->op];
  if (event->mask == 0 || event->unit == UNIT_BRANCH || (info->flags & OP_VOLATILE_RESULT) != 0) return false;
  return info->kind != KIND_CONTROL && info->kind != KIND_BARRIER && info->kind != KIND_FENCE && info->kind != KIND_SYSTEM;
}

static Verdict dmr_issue(Hook *hook, HookMachine *machine, IssueEvent *event) {
  if (!is_duplicated(event)) return VERDICT_PASS;
  uint64_t tag = make_tag(event->who->warp, event->who->block_slot, event->instr, event->who->pc, event->who->issue);
  if (find_slot(hook->own, machine, event->who->sm, tag) == NO_SLOT) return VERDICT_STALL;
  event->copies = 2;
  return VERDICT_PASS;
}

static Verdict give_up(const Held *held, HookMachine *machine, const ResultEvent *event) {
  release(held, rows_of(event));
  ++*machine->detected;
  return VERDICT_HALT;
}

// The third copy: a majority, or the end.
static Verdict last_copy(const Held *held, HookMachine *machine, ResultEvent *event) {
  SlotState state = tag_state(*held->tag);
  bool good = (state == SLOT_ONE && same(held, 0, event)) || (state == SLOT_TWO && vote(held, event));
  if (!good) return give_up(held, machine, event);
  release(held, rows_of(event));
  ++*machine->corrected;
  return VERDICT_FIXED;
}

static Verdict dmr_result(Hook *hook, HookMachine *machine, ResultEvent *event) {
  const Dmr *own = hook->own;
  if (event->copies < 2) return VERDICT_PASS; // not one of ours
  uint32_t slot = find_slot(own, machine, event->who->sm,
                            make_tag(event->who->warp, event->who->block_slot, event->instr, event->who->pc, event->who->issue));
  if (slot == NO_SLOT) { // faults in the buffer alone lead here
    if (event->copy == 0) return VERDICT_HOLD;
    ++*(event->copy == 1 ? machine->replayed : machine->detected);
    return event->copy == 1 ? VERDICT_REPLAY : VERDICT_HALT;
  }
  Held held = held_at(own, machine, event->who->sm, slot);
  if (event->copy >= 2) return last_copy(&held, machine, event);
  if (event->copy == 0) {
    hold(&held, 0, event);
    set_state(&held, SLOT_ONE);
    return VERDICT_HOLD;
  }
  bool first_is_there = tag_state(*held.tag) >= SLOT_ONE;
  if (first_is_there && same(&held, 0, event)) {
    release(&held, rows_of(event));
    return VERDICT_PASS;
  }
  if (first_is_there && held.words[0][0] != event->mask) return give_up(&held, machine, event);
  hold(&held, first_is_there ? 1 : 0, event);
  set_state(&held, first_is_there ? SLOT_TWO : SLOT_ONE);
  ++*machine->replayed;
  return VERDICT_REPLAY;
}

static void clear_entries(const Dmr *own, const HookMachine *machine, uint32_t sm, uint64_t mask, uint64_t tag) {
  for (uint32_t slot = 0; slot < own->slots; slot++) {
    Held held = held_at(own, machine, sm, slot);
    if (*held.tag != 0 && (*held.tag & mask) == tag) release(&held, HELD_ROWS);
  }
}

// Nothing is under way when a launch begins: what a trap or a fault left behind goes.
static Verdict dmr_launch(Hook *hook, HookMachine *machine, const LaunchEvent *event) {
  const Dmr *own = hook->own;
  (void)event;
  for (uint32_t sm = 0; sm < own->sms; sm++) clear_entries(own, machine, sm, 0, 0);
  return VERDICT_PASS;
}

// Nor of a block that has ended.
static Verdict dmr_block(Hook *hook, HookMachine *machine, const BlockEvent *event) {
  uint64_t field = FIELD(BLOCK_BITS) << STATE_BITS;
  if (event->done) clear_entries(hook->own, machine, event->who->sm, field, ((uint64_t)event->who->block_slot << STATE_BITS) & field);
  return VERDICT_PASS;
}

static bool dmr_attach(Hook *hook, HookLayout *layout, Diags *diags) {
  Dmr *own = hook->own;
  own->sms = max_u32(hook_layout_shape(layout)->sms, 1);
  Region tags = {.name = "dmr.tag",
                 .title = "redundancy buffer",
                 .unit = "entry",
                 .meaning = "which instruction an entry holds",
                 .dims = {{"sm", own->sms}, {"slot", own->slots}},
                 .dim_count = 2,
                 .units = 1,
                 .bits = TAG_BITS,
                 .unit_bytes = 8};
  Region words = {.name = "dmr.mask",
                  .title = "redundancy buffer",
                  .unit = "word",
                  .meaning = "lanes that executed, and predicate results",
                  .dims = {{"sm", own->sms}, {"slot", own->slots}, {"copy", HELD_COPIES}},
                  .dim_count = 3,
                  .units = WORDS,
                  .bits = 32,
                  .unit_bytes = 4};
  Region rows = {.name = "dmr.rows",
                 .title = "redundancy buffer",
                 .unit = "lane",
                 .meaning = "result registers",
                 .dims = {{"sm", own->sms}, {"slot", own->slots}, {"copy", HELD_COPIES}, {"row", HELD_ROWS}},
                 .dim_count = 4,
                 .units = WARP_LANES,
                 .bits = 32,
                 .unit_bytes = 4};
  own->tags = hook_add_region(layout, &tags, LIFE_LAUNCH, diags);
  if (own->tags == REGION_NONE) return false;
  own->words = hook_add_region(layout, &words, LIFE_LAUNCH, diags);
  own->rows = hook_add_region(layout, &rows, LIFE_LAUNCH, diags);
  return own->words != REGION_NONE && own->rows != REGION_NONE;
}

Hook *dmr_new(const ProtectArguments *arguments, Arena *arena, Diags *diags) {
  static const char *const known[] = {"slots"};
  uint64_t slots = DEFAULT_SLOTS;
  for (uint32_t i = 0; i < arguments->count; i++) {
    bool is_slots = strcmp(arguments->items[i].key, known[0]) == 0;
    if (!is_slots) protect_unknown(arguments, arguments->items[i].key, known, COUNT_OF(known), diags);
    if (!is_slots || !protect_number(arguments, &arguments->items[i], 1, MOST_SLOTS, &slots, diags)) return NULL;
  }
  Dmr *own = ARENA_NEW(arena, Dmr);
  own->slots = (uint32_t)slots;
  Hook *hook = ARENA_NEW(arena, Hook);
  *hook = (Hook){.name = "dmr",
                 .kind = HOOK_PROTECTION,
                 .own = own,
                 .attach = dmr_attach,
                 .launch = dmr_launch,
                 .block = dmr_block,
                 .issue = dmr_issue,
                 .replays = true,
                 .passes_values = true,
                 .result = dmr_result,
                 .next_cycle = UINT64_MAX};
  return hook;
}
