// Faulty SMs that help healthy ones.
//
// Paper: Durytskyy, Zahran and Karri, ICCD 2011, on hints of faulty SMs. An SM with a permanent fault is
// not switched off: it runs the same blocks as a healthy SM of its TPC, may not write memory, and sends what it does ahead of its partner as hints.
//
// Modelled: every unit of section II. The faulty SM mirrors its partner's blocks (hints_blocks.c). Its gathering unit makes hints of 104 bits: 6 SM,
// 2 type, 32 time stamp, 10 warp, 54 specific (hints_gather.c). A queue for 2,048 of them in each TPC, and a processing unit that compares
// time stamps (hints_queue.c). A disabling unit with a counter per type, a recovery period of 2,000 cycles, resynchronisation (hints_worth.c).
// Three types: blocks of instructions into the partner's L1, loads of the two SMs that are merged so that one reply goes to both, whichever
// comes first, lines that the faulty SM's own loads bring into the L2. A fourth, which the two bits leave free: constant and texture lines; off unless asked for.
//
// Our readings, where the paper leaves it open: the time stamp is taken when the hint is gathered. The distance is counted in instructions. A hint
// at the threshold stays in the queue. Types go off at the end of a period (Figure 4 can be read as at once: disable=now). A load is within the
// time of a hint if it is less than the threshold before or behind it. A mirror sees memory without its own global stores, or (view) with them.
// Not modelled: the wires between the SMs of a TPC take no time.
// Cost: the cells below; what mirrors and prefetches take of caches, network and DRAM arises in the machine. A resynchronisation stops both blocks
// for a cycle per register row of the block, the width of the register file's port, or for `resync` cycles.
#include "protect/hints.h"
#include "protect/protect_internal.h"

#include <stdlib.h>

// ---- Events --------------------------------------------------------------------------------------------

static Verdict on_launch(Hook *hook, HookMachine *machine, const LaunchEvent *event) {
  const Hints *own = hints_own(hook);
  uint64_t threads = (uint64_t)event->block[0] * event->block[1] * event->block[2];
  uint64_t *turn = hints_at(own, machine, CELLS_TURN, 0);
  turn[2] = max_u64(min_u64((threads + WARP_LANES - 1) / WARP_LANES, own->warps), 1);
  hints_begin(own, machine);
  // Its blocks are mirrors anyway. The SM as a whole is fenced off, too: no single cell lets anything of it out.
  for (uint32_t sm = 0; sm < own->sms; sm++) {
    if (hints_is_faulty(own, sm)) machine->act(machine, &(Action){.kind = ACTION_FENCE, .sm = sm, .on = true});
  }
  return VERDICT_PASS;
}

static Verdict on_fetch(Hook *hook, HookMachine *machine, FetchEvent *event) {
  const Hints *own = hints_own(hook);
  const Who *who = event->who;
  if (hints_is_faulty(own, who->sm)) hints_gather_fetch(hook, machine, who);
  else if (hints_is_helped(own, who->sm)) hints_wanted(own, machine, who->sm, WATCH_CODE, who->pc / own->code_block);
  return VERDICT_PASS;
}

static Verdict on_issue(Hook *hook, HookMachine *machine, const IssueEvent *event) {
  const Hints *own = hints_own(hook);
  const Who *who = event->who;
  bool helped = hints_is_helped(own, who->sm);
  if ((!helped && !hints_is_faulty(own, who->sm)) || who->warp >= own->warps) return VERDICT_PASS;
  uint64_t *at = hints_at(own, machine, CELLS_AT, (uint64_t)who->sm * own->warps + who->warp);
  at[0] = who->pc;
  at[1] = who->issue & UINT32_MAX;
  at[2] = 0;
  if (helped) hints_moved(hook, machine, who->sm);
  return VERDICT_PASS;
}

static Verdict on_request(Hook *hook, HookMachine *machine, const MemoryEvent *event) {
  const Hints *own = hints_own(hook);
  const Who *who = event->who;
  if (hints_is_faulty(own, who->sm)) hints_gather_request(hook, machine, event);
  if (who->client != CLIENT_LOAD || !hints_is_helped(own, who->sm)) return VERDICT_PASS;
  hints_wanted(own, machine, who->sm, WATCH_LINE, event->address);
  hints_merge(own, machine, event);
  return VERDICT_PASS;
}

static Verdict on_trap(Hook *hook, HookMachine *machine, const TrapEvent *event) {
  if (hints_is_faulty(hints_own(hook), event->who->sm)) hook_tally(machine, TALLY_HINTS_TRAPS, 1);
  return VERDICT_PASS;
}

// The length of the queue since it was last looked at.
static void add_length(const Hints *own, const HookMachine *machine, uint32_t tpc) {
  uint64_t *turn = hints_at(own, machine, CELLS_TURN, tpc), since = turn[3];
  turn[3] = machine->cycle;
  if (since == 0 || since > machine->cycle) return;
  hook_tally(machine, TALLY_HINTS_QUEUE_LENGTH, hints_at(own, machine, CELLS_RING, tpc)[1] * (machine->cycle - since));
  hook_tally(machine, TALLY_HINTS_QUEUE_CYCLES, machine->cycle - since);
}

static void on_cycle(Hook *hook, HookMachine *machine) {
  const Hints *own = hints_own(hook);
  uint64_t next = UINT64_MAX;
  for (uint32_t tpc = 0; tpc < own->tpc_count; tpc++) {
    bool waits = false;
    add_length(own, machine, tpc);
    hints_process(own, machine, tpc);
    next = min_u64(next, hints_period(own, machine, tpc));
    for (uint32_t sm = tpc * own->tpc_sms; sm < min_u32((tpc + 1) * own->tpc_sms, own->sms); sm++) {
      waits |= hints_is_helped(own, sm) && (*hints_at(own, machine, CELLS_FULL, sm) & FULL_PROCESS) != 0;
    }
    if (waits || hints_at(own, machine, CELLS_TURN, tpc)[0] != 0) next = min_u64(next, machine->cycle + HINT_STEP);
  }
  hook_wake(hook, machine, next);
}

// ---- State ---------------------------------------------------------------------------------------------

static const CellsRow rows[CELLS_COUNT] = {
    [CELLS_QUEUE] = {"hints.queue", "hint queue", "half", "104-bit hints", 2, HINT_UNIT_BITS},
    [CELLS_RING] = {"hints.ring", "hint queue", "pointer", "front and length", 2, 15},
    [CELLS_PERIOD] = {"hints.period", "hint queue", "entry", "counter of the recovery period", 1, HINT_PERIOD_BITS},
    [CELLS_GATHER] = {"hints.gather", "hint registers", "half", "gathering unit", 2, HINT_UNIT_BITS},
    [CELLS_PROCESS] = {"hints.process", "hint registers", "half", "processing unit", 2, HINT_UNIT_BITS},
    [CELLS_FULL] = {"hints.full", "hint registers", "entry", "which of the two registers hold a hint", 1, 2},
    [CELLS_COUNTER] = {"hints.counter", "hint disabling unit", "entry", "up/down counter of a type", 1, HINT_COUNTER_BITS},
    [CELLS_ON] = {"hints.on", "hint disabling unit", "entry", "types that are on", 1, HINT_TYPES},
    [CELLS_BLOCK] = {"hints.block", "hint bookkeeping", "field", "block of a block slot; that of its partner, or what its mirror did", 2,
                     33},
    [CELLS_AT] = {"hints.at", "hint bookkeeping", "field", "where a warp is: program counter, instructions issued", 3, 32},
    [CELLS_TURN] = {"hints.turn", "hint bookkeeping", "field", "hints still to compare; for statistics", 4, 48},
    [CELLS_WATCH] = {"hints.watch", "hint bookkeeping", "field", "addresses whose use is awaited", 2, 50},
    [CELLS_SINCE] = {"hints.since", "hint bookkeeping", "entry", "cycle in which a mirror was last like its partner", 1, 48},
};

static bool add_cells(Hints *own, HookLayout *layout, HintCells cells, Diags *diags) {
  Region wanted = protect_cells(&rows[cells], "sm", own->sms);
  if (cells == CELLS_QUEUE || cells == CELLS_RING || cells == CELLS_PERIOD || cells == CELLS_TURN)
    wanted.dims[0] = (RegionDim){"tpc", own->tpc_count};
  if (cells == CELLS_QUEUE) wanted.dims[wanted.dim_count++] = (RegionDim){"place", own->queue};
  if (cells == CELLS_COUNTER) wanted.dims[wanted.dim_count++] = (RegionDim){"type", HINT_TYPES};
  if (cells == CELLS_BLOCK) wanted.dims[wanted.dim_count++] = (RegionDim){"block_slot", own->block_slots};
  if (cells == CELLS_AT) wanted.dims[wanted.dim_count++] = (RegionDim){"warp", own->warps};
  if (cells == CELLS_WATCH) {
    wanted.dims[wanted.dim_count++] = (RegionDim){"kind", WATCH_KINDS};
    wanted.dims[wanted.dim_count++] = (RegionDim){"entry", HINT_WATCHES};
  }
  own->cells[cells] = hook_add_region(layout, &wanted, LIFE_LAUNCH, diags);
  return own->cells[cells] != REGION_NONE;
}

// The SMs of a TPC find together: each faulty one helps a healthy one, dealt out in turn.
static void pair_up(Hints *own, uint32_t first, uint32_t end) {
  uint32_t healthy[HINT_MOST_SMS], count = 0, next = 0;
  for (uint32_t sm = first; sm < end; sm++) {
    own->partner[sm] = HINT_NO_SM;
    if (!hints_is_faulty(own, sm)) healthy[count++] = sm;
  }
  for (uint32_t sm = first; sm < end && count > 0; sm++) {
    if (!hints_is_faulty(own, sm)) continue;
    uint32_t partner = healthy[next++ % count];
    own->partner[sm] = (uint16_t)partner;
    own->helper_rank[sm] = own->helpers[partner]++;
  }
}

static bool on_attach(Hook *hook, HookLayout *layout, Diags *diags) {
  Hints *own = hook->own;
  const HookShape *shape = hook_layout_shape(layout);
  own->sms = max_u32(shape->sms, 1);
  own->tpc_sms = max_u32(shape->tpc_sms, 1);
  own->code_bytes = shape->instruction_bytes == 0 ? INSTR_BYTES : shape->instruction_bytes;
  own->code_block = HINT_BLOCK_BYTES / own->code_bytes;
  own->warps = shape->warps;
  own->block_slots = shape->block_slots;
  if (own->sms > HINT_MOST_SMS)
    return diags_add(diags, NULL, 0, 0, "hints: 6 bits name at most %d SMs; this machine has %u", HINT_MOST_SMS, own->sms);
  own->tpc_count = (own->sms + own->tpc_sms - 1) / own->tpc_sms;
  uint64_t all = own->sms == HINT_MOST_SMS ? UINT64_MAX : (UINT64_C(1) << own->sms) - 1;
  if ((own->named & ~all) != 0) {
    return diags_add(diags, NULL, 0, 0, "hints: there is no SM %u; this machine has %u", 63 - (uint32_t)__builtin_clzll(own->named),
                     own->sms);
  }
  own->faulty = own->named;
  for (uint32_t tpc = 0; own->each && tpc < min_u32(own->tpcs, own->tpc_count); tpc++) {
    own->faulty |= UINT64_C(1) << (min_u32((tpc + 1) * own->tpc_sms, own->sms) - 1); // the last of each
  }
  if (own->faulty == all && own->each && own->tpc_sms == 1)
    return diags_add(
        diags, NULL, 0, 0,
        "hints: no healthy SM is left: one SM of every TPC is faulty, and TPCs of this machine have one SM each; give them more "
        "with --set sm.per_tpc=2, or take --machine tesla-hints");
  if (own->faulty == all) return diags_add(diags, NULL, 0, 0, "hints: no healthy SM is left");
  memset(own->helpers, 0, sizeof own->helpers);
  for (uint32_t sm = 0; sm < HINT_MOST_SMS; sm++) own->partner[sm] = HINT_NO_SM;
  for (uint32_t tpc = 0; tpc < own->tpc_count; tpc++) pair_up(own, tpc * own->tpc_sms, min_u32((tpc + 1) * own->tpc_sms, own->sms));
  for (uint32_t cells = 0; cells < CELLS_COUNT && !own->off; cells++) {
    if (!add_cells(own, layout, (HintCells)cells, diags)) return false;
  }
  return true;
}

// ---- Options -------------------------------------------------------------------------------------------

typedef struct Reading {
  const ProtectArguments *arguments;
  const ProtectArgument *argument;
  Hints *own;
  Diags *diags;
} Reading;

static const char *const known[] = {"faulty",  "tpcs",   "use", "types", "order", "threshold", "queue", "period", "resync",
                                    "disable", "checks", "l2",  "merge", "view",  "free",      "wrong", "perfect"};

static bool refuse(const Reading *at, const char *what) {
  return diags_add(at->diags, NULL, 0, 0, "%s: %s must be %s", at->arguments->text, at->argument->key, what);
}

static bool number(const Reading *at, uint64_t least, uint64_t most, uint32_t *value) {
  uint64_t wide = 0;
  bool good = protect_number(at->arguments, at->argument, least, most, &wide, at->diags);
  if (good) *value = (uint32_t)wide;
  return good;
}

// One of these words; its place among them.
static bool choice(const Reading *at, const char *const *words, uint32_t count, const char *text, uint32_t *chosen) {
  const char *value = at->argument->value == NULL ? "" : at->argument->value;
  for (*chosen = 0; *chosen < count; ++*chosen) {
    if (strcmp(value, words[*chosen]) == 0) return true;
  }
  return refuse(at, text);
}

// "3", "1+5+27", "each", "none".
static bool read_faulty(const Reading *at) {
  const char *text = at->argument->value == NULL ? "" : at->argument->value,
             *wanted = "each, none, or numbers of SMs below 64 such as 1+5+27";
  Hints *own = at->own;
  own->each = strcmp(text, "each") == 0;
  own->named = 0;
  if (own->each || strcmp(text, "none") == 0) return true;
  while (true) {
    char *end;
    unsigned long sm = strtoul(text, &end, 10);
    if (*text < '0' || *text > '9' || sm >= HINT_MOST_SMS) return refuse(at, wanted);
    own->named |= UINT64_C(1) << sm;
    if (*end == '\0') return true;
    if (*end != '+') return refuse(at, wanted);
    text = end + 1;
  }
}

static bool read_types(const Reading *at) {
  static const char *const names[HINT_TYPES] = {"icache", "merge", "l2", "other"};
  const char *text = at->argument->value == NULL ? "" : at->argument->value;
  for (at->own->types = 0; true; text++) {
    size_t length = strcspn(text, "+");
    uint32_t type = 0;
    while (type < HINT_TYPES && !(strlen(names[type]) == length && memcmp(names[type], text, length) == 0)) type++;
    if (type == HINT_TYPES) return refuse(at, "icache, merge, l2, other, or several of them such as merge+l2");
    at->own->types |= 1u << type;
    text += length;
    if (*text == '\0') return true;
  }
}

static bool read_word(const Reading *at) {
  static const char *const uses[] = {"hints", "off"}, *const orders[] = {"pc", "issue"}, *const disables[] = {"period", "now", "never"},
                           *const ways[] = {"load", "prefetch"}, *const flags[] = {"no", "yes"}, *const merges[] = {"join", "ask"};
  const char *key = at->argument->key;
  uint32_t chosen = 0;
  bool good = false;
  if (strcmp(key, "use") == 0) good = choice(at, uses, 2, "hints or off", &chosen), at->own->off = chosen == 1;
  else if (strcmp(key, "order") == 0) good = choice(at, orders, 2, "pc or issue", &chosen), at->own->order = (HintOrder)chosen;
  else if (strcmp(key, "disable") == 0)
    good = choice(at, disables, 3, "period, now or never", &chosen), at->own->disable = (HintDisable)chosen;
  else if (strcmp(key, "l2") == 0) good = choice(at, ways, 2, "load or prefetch", &chosen), at->own->sends = chosen == 1;
  else if (strcmp(key, "merge") == 0) good = choice(at, merges, 2, "join or ask", &chosen), at->own->asks = chosen == 1;
  else if (strcmp(key, "perfect") == 0) good = choice(at, flags, 2, "yes or no", &chosen), at->own->perfect = chosen == 1;
  else protect_unknown(at->arguments, key, known, COUNT_OF(known), at->diags);
  return good;
}

static bool read_argument(const Reading *at) {
  const char *key = at->argument->key;
  Hints *own = at->own;
  if (strcmp(key, "faulty") == 0) return read_faulty(at);
  if (strcmp(key, "types") == 0) return read_types(at);
  if (strcmp(key, "tpcs") == 0) return number(at, 0, HINT_MOST_SMS, &own->tpcs);
  if (strcmp(key, "threshold") == 0) return number(at, 1, 1u << 30, &own->threshold);
  if (strcmp(key, "queue") == 0) return number(at, 1, HINT_MOST_QUEUE, &own->queue);
  if (strcmp(key, "period") == 0) return number(at, 1, HINT_MOST_PERIOD, &own->period);
  if (strcmp(key, "resync") == 0) return number(at, 0, ACTION_MOST_CYCLES, &own->resync);
  if (strcmp(key, "checks") == 0) return number(at, 1, 64, &own->checks);
  if (strcmp(key, "view") == 0) return number(at, 0, HINT_MOST_VIEW, &own->view);
  if (strcmp(key, "free") == 0) return number(at, 0, UINT16_MAX, &own->free);
  if (strcmp(key, "wrong") == 0) return number(at, 0, 100, &own->wrong);
  return read_word(at);
}

Hook *hints_new(const ProtectArguments *arguments, Arena *arena, Diags *diags) {
  Hints *own = ARENA_NEW(arena, Hints);
  *own = (Hints){.threshold = 64, .queue = 2048, .period = 2000, .checks = 4, .tpcs = HINT_MOST_SMS, .types = 7, .each = true};
  for (uint32_t i = 0; i < arguments->count; i++) {
    Reading at = {arguments, &arguments->items[i], own, diags};
    if (!read_argument(&at)) return NULL;
  }
  Hook *hook = ARENA_NEW(arena, Hook);
  *hook = (Hook){.name = "hints", .kind = HOOK_PROTECTION, .own = own, .attach = on_attach, .next_cycle = UINT64_MAX};
  bool has_faulty = own->named != 0 || (own->each && own->tpcs > 0);
  if (!has_faulty) return hook; // all SMs are healthy: nothing is told, and nothing is done
  hook->block = hints_block;
  hook->needs = WANT_BLOCK;
  hook->signs = own->off ? "" : NULL; // an SM without blocks is not counted
  if (own->off) return hook;
  hook->actions = ACTION_BIT(ACTION_PREFETCH) | ACTION_BIT(ACTION_FENCE) | ACTION_BIT(ACTION_MIRROR) | ACTION_BIT(ACTION_ABANDON) |
                  ACTION_BIT(ACTION_COPY);
  hook->mirrors = (MirrorWay){.lines = (uint16_t)own->view, .free_cycles = (uint16_t)own->free};
  hook->needs = WANT_LAUNCH | WANT_BLOCK | WANT_FETCH | WANT_ISSUE | WANT_REQUEST | WANT_PREFETCH | WANT_CYCLE;
  hook->launch = on_launch;
  hook->fetch = on_fetch;
  hook->issue = on_issue;
  hook->request = on_request;
  hook->prefetch = hints_prefetch;
  hook->action = hints_action;
  hook->trap = on_trap;
  hook->cycle = on_cycle;
  return hook;
}
