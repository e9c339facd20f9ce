// See order.h.
#include "campaign/order.h"
#include "base/process.h"
#include "hook/action.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

enum { MOST_ROWS = 1 << 22, LINE = 128 };

// ---- Which additions count ---------------------------------------------------------------------------

static bool adds_floats(uint16_t op) {
  if (op >= OP_COUNT || op_info[op].kind != KIND_ATOMIC || (op_info[op].flags & IT_FLOAT) == 0) return false;
  return strstr(op_info[op].text, "add") != NULL;
}

bool program_adds_floats(const Program *program) {
  bool any = false;
  for (uint32_t pc = 0; program->decoded != NULL && pc < program->code_count && !any; pc++) any = adds_floats(program->decoded[pc].op);
  return any;
}

// ---- Results that nobody takes ------------------------------------------------------------------------
// Compilers write atomics with results that nothing reads. Found by following all ways from there on; what cannot be followed counts as read.

static uint8_t register_of(const Instr *instr, uint8_t operand) {
  if (operand < OPERAND_A) return instr->d[operand];
  return operand == OPERAND_A ? instr->a : operand == OPERAND_B ? instr->b : operand == OPERAND_C ? instr->c : REG_ZERO;
}

// What the instruction does with registers [first, first + count): reads some; or writes them all, whatever its guard says.
static void use_of(const Instr *instr, uint32_t first, uint32_t count, bool *reads, bool *overwrites) {
  OperandUse uses[MAX_OPERANDS];
  unsigned used = op_operands((Op)instr->op, instr->mods, (OperandSelect)instr->select, uses);
  *reads = *overwrites = false;
  for (unsigned i = 0; i < used; i++) {
    uint32_t at = register_of(instr, uses[i].operand);
    if (uses[i].predicate || uses[i].registers == 0 || at == REG_ZERO) continue;
    if (!uses[i].written) *reads |= at < first + count && first < at + uses[i].registers;
    else *overwrites |= at <= first && first + count <= at + uses[i].registers && instr->guard == PRED_TRUE;
  }
}

static bool is_taken(const Program *program, uint32_t pc) {
  const Instr *atomic = &program->decoded[pc];
  uint32_t first = atomic->d[0], count = type_info[op_info[atomic->op].d].registers, left = 0;
  if (first == REG_ZERO) return false;
  uint8_t *seen = calloc(program->code_count + 1, 1);
  uint32_t *ways = malloc((2 * program->code_count + 2) * sizeof *ways);
  ASSERT(seen != NULL && ways != NULL);
  bool taken = false;
  ways[left++] = pc + 1;
  while (left > 0 && !taken) {
    uint32_t at = ways[--left];
    if (at >= program->code_count || seen[at] != 0) continue;
    seen[at] = 1;
    const Instr *instr = &program->decoded[at];
    uint32_t flags = op_info[instr->op].flags;
    bool reads, overwrites, goes_on = (flags & IT_EXITS) == 0 || instr->guard != PRED_TRUE;
    use_of(instr, first, count, &reads, &overwrites);
    taken = reads || (flags & (IT_INDIRECT | IT_CALLS | IT_RETURN)) != 0;
    if (overwrites || taken) continue;
    bool branches = (flags & IT_BRANCH) != 0;
    if (branches) ways[left++] = instr->imm;
    if (goes_on && !(branches && instr->guard == PRED_TRUE)) ways[left++] = at + 1;
  }
  free(seen);
  free(ways);
  return taken;
}

bool order_is_known(const Target *target, const HookChain *protections) {
  const uint32_t others = ACTION_BIT(ACTION_REDISPATCH) | ACTION_BIT(ACTION_MIRROR) | ACTION_BIT(ACTION_DROP);
  bool is_ours = target->inject == NULL && machine_can(target->spec, MACHINE_IS_FOLLOWED);
  return is_ours && (protections == NULL || (hook_chain_actions(protections) & others) == 0);
}

// ---- The log -----------------------------------------------------------------------------------------

// A request: what one instruction of a warp adds to a line. Lanes that meet in an element come in requests of their own.
typedef struct Row {
  uint32_t launch, block, warp, bytes; // warp: index in the block; bytes: of an element
  uint64_t issue, line, mask[2];
} Row;

struct OrderLog {
  Hook hook;
  Row *items; // malloc: processes that fork share what they have
  uint32_t count, room;
  uint32_t block_warps; // of the current launch
  bool is_wanted;       // it adds floats
  bool is_lost;         // there are too many, or nobody knows whose they are
};

static Verdict on_launch(Hook *hook, HookMachine *machine, const LaunchEvent *event) {
  OrderLog *log = hook->own;
  log->block_warps = (event->block[0] * event->block[1] * event->block[2] + WARP_LANES - 1) / WARP_LANES;
  log->is_wanted = machine->program != NULL && program_adds_floats(machine->program);
  return VERDICT_PASS;
}

static Verdict on_arrival(Hook *hook, HookMachine *machine, const MemoryEvent *event) {
  OrderLog *log = hook->own;
  const Who *who = event->who;
  if (!log->is_wanted || log->is_lost || who->client != CLIENT_ATOMIC || who->pc >= machine->program->code_count) return VERDICT_PASS;
  uint16_t op = machine->program->decoded[who->pc].op;
  if (!adds_floats(op)) return VERDICT_PASS;
  if (log->count == log->room && log->room < MOST_ROWS) {
    log->room = log->room == 0 ? 1024 : 2 * log->room;
    log->items = realloc(log->items, log->room * sizeof *log->items);
    ASSERT(log->items != NULL);
  }
  log->is_lost = log->count == log->room || who->block >= UINT32_MAX || who->warp == WHO_NO_INDEX || who->issue == WHO_NO_NUMBER;
  if (log->is_lost) return VERDICT_PASS;
  Row row = {.launch = (uint32_t)who->launch, .block = (uint32_t)who->block, .warp = who->warp % log->block_warps, .issue = who->issue};
  row.bytes = type_info[op_info[op].d].bits / 8u;
  row.line = event->address;
  memcpy(row.mask, event->mask, sizeof row.mask);
  log->items[log->count++] = row;
  return VERDICT_PASS;
}

OrderLog *order_log_new(Arena *arena) {
  OrderLog *log = ARENA_NEW(arena, OrderLog);
  log->hook =
      (Hook){.name = "order", .kind = HOOK_OBSERVER, .own = log, .launch = on_launch, .arrival = on_arrival, .next_cycle = UINT64_MAX};
  return log;
}

Hook *order_log_hook(OrderLog *log) { return &log->hook; }
void order_log_free(OrderLog *log) {
  if (log != NULL) free(log->items);
}

// ---- The order of one launch ---------------------------------------------------------------------------

typedef struct Turn { // an addition to an element, as it came
  uint64_t address;
  uint32_t warp, number; // of the warp in the grid; how many such instructions of its own came before
  uint32_t at;           // row
} Turn;

typedef struct Held { // that has come too early
  uint32_t warp, number;
  uint64_t value;
  uint32_t next; // 1 + index; 0: none
} Held;

typedef struct Element {
  uint64_t address;
  uint32_t first, end, next; // turns; the next to come
  uint32_t held, last;       // 1 + index of the first and last that is held; 0: none
} Element;

typedef struct Forced {
  const OrderLog *log;
  Memory *memory;
  MachineWatch watch;
  uint32_t block_warps;
  Turn *turns;
  Element *elements;
  uint32_t turn_count, element_count;
  Held *held;
  uint32_t held_count, held_room;
  uint32_t *numbers; // by warp of the grid: instructions so far
  uint8_t *taken;    // by instruction: somebody reads its result
  uint32_t warps;
  bool is_lost;
} Forced;

static int by_warp(const void *left, const void *right) {
  const Row *a = *(const Row *const *)left, *b = *(const Row *const *)right;
  if (a->block != b->block) return a->block < b->block ? -1 : 1;
  if (a->warp != b->warp) return a->warp < b->warp ? -1 : 1;
  return a->issue < b->issue ? -1 : a->issue > b->issue;
}

static int by_address(const void *left, const void *right) {
  const Turn *a = left, *b = right;
  if (a->address != b->address) return a->address < b->address ? -1 : 1;
  return a->at < b->at ? -1 : a->at > b->at;
}

// Instructions of a warp are told apart by their numbers of issue, but a fault-free run has others: they count from 0.
static uint32_t *number_rows(const OrderLog *log, uint32_t launch) {
  const Row **rows = malloc((log->count + 1) * sizeof *rows);
  uint32_t *numbers = calloc(log->count + 1, sizeof *numbers), count = 0;
  ASSERT(rows != NULL && numbers != NULL);
  for (uint32_t i = 0; i < log->count; i++) {
    if (log->items[i].launch == launch) rows[count++] = &log->items[i];
  }
  qsort(rows, count, sizeof *rows, by_warp);
  for (uint32_t i = 1; i < count; i++) {
    const Row *before = rows[i - 1], *row = rows[i];
    bool same_warp = before->block == row->block && before->warp == row->warp;
    if (same_warp) numbers[row - log->items] = numbers[before - log->items] + (before->issue != row->issue);
  }
  free(rows);
  return numbers;
}

static bool covers(const Row *row, uint32_t byte) { return (row->mask[byte / 64] >> byte % 64 & 1) != 0; }

static void add_turns(Forced *at, uint32_t launch) {
  const OrderLog *log = at->log;
  uint32_t *numbers = number_rows(log, launch), room = 0;
  for (uint32_t i = 0; i < log->count; i++) {
    const Row *row = &log->items[i];
    for (uint32_t byte = 0; row->launch == launch && byte < LINE; byte += row->bytes) {
      if (!covers(row, byte)) continue;
      if (at->turn_count == room) {
        room = room == 0 ? 1024 : 2 * room;
        at->turns = realloc(at->turns, room * sizeof *at->turns);
        ASSERT(at->turns != NULL);
      }
      at->turns[at->turn_count++] =
          (Turn){.address = row->line + byte, .warp = row->block * at->block_warps + row->warp, .number = numbers[i], .at = i};
    }
  }
  free(numbers);
  if (at->turn_count > 0) qsort(at->turns, at->turn_count, sizeof *at->turns, by_address);
}

static void add_elements(Forced *at) {
  at->elements = calloc(at->turn_count + 1, sizeof *at->elements);
  ASSERT(at->elements != NULL);
  for (uint32_t i = 0; i < at->turn_count; i++) {
    bool is_new = i == 0 || at->turns[i].address != at->turns[i - 1].address;
    if (is_new) at->elements[at->element_count++] = (Element){.address = at->turns[i].address, .first = i, .next = i};
    at->elements[at->element_count - 1].end = i + 1;
  }
}

// The first element at or behind the address; `element_count`: none.
static uint32_t find_from(const Forced *at, uint64_t address) {
  uint32_t low = 0, high = at->element_count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (at->elements[middle].address < address) low = middle + 1;
    else high = middle;
  }
  return low;
}

// ---- Carried out ---------------------------------------------------------------------------------------

// One lane's addition.
static bool apply(const Forced *at, const WatchedAtomic *atomic, uint64_t address, uint64_t value) {
  _Alignas(64) uint32_t old[2 * WARP_LANES] = {0}, b[2 * WARP_LANES] = {0}, c[2 * WARP_LANES] = {0}, fresh[2 * WARP_LANES] = {0};
  unsigned registers = atomic->bytes == 8 ? 2 : 1;
  uint8_t *place = memory_at(at->memory, address, atomic->bytes);
  uint64_t before = 0;
  if (place == NULL) return false;
  memcpy(&before, place, atomic->bytes);
  row_set(old, 0, registers, before);
  row_set(b, 0, registers, value);
  atomic->function(&(LaneOp){.d = fresh, .a = old, .b = b, .c = c, .active = 1, .mods = atomic->mods, .imm = atomic->imm});
  uint64_t after = row_get(fresh, 0, registers);
  memcpy(place, &after, atomic->bytes);
  return true;
}

static bool is_next(const Forced *at, const Element *element, uint32_t warp, uint32_t number) {
  const Turn *turn = &at->turns[element->next];
  return element->next < element->end && turn->warp == warp && turn->number == number;
}

static void hold(Forced *at, Element *element, uint32_t warp, uint32_t number, uint64_t value) {
  if (at->held_count == at->held_room) {
    at->held_room = at->held_room == 0 ? 1024 : 2 * at->held_room;
    at->held = realloc(at->held, at->held_room * sizeof *at->held);
    ASSERT(at->held != NULL);
  }
  at->held[at->held_count++] = (Held){.warp = warp, .number = number, .value = value};
  if (element->last != 0) at->held[element->last - 1].next = at->held_count;
  else element->held = at->held_count;
  element->last = at->held_count;
}

// Takes out the first that is held and whose turn it is. False: there is none.
static bool release(Forced *at, Element *element, uint64_t *value) {
  uint32_t before = 0;
  for (uint32_t i = element->held; i != 0; before = i, i = at->held[i - 1].next) {
    Held *held = &at->held[i - 1];
    if (!is_next(at, element, held->warp, held->number)) continue;
    *value = held->value;
    if (before == 0) element->held = held->next;
    else at->held[before - 1].next = held->next;
    if (element->last == i) element->last = before;
    return true;
  }
  return false;
}

static bool on_atomic(void *context, const WatchedAtomic *atomic) {
  Forced *at = context;
  uint32_t warp = atomic->block * at->block_warps + atomic->warp;
  if (at->is_lost || !adds_floats(atomic->op) || atomic->global == 0) return false;
  if (warp >= at->warps || atomic->global != atomic->lanes) { // some add to shared memory
    at->is_lost = true;
    return false;
  }
  uint32_t number = at->numbers[warp]++;
  bool has_result = at->taken[atomic->pc] != 0;
  for (uint32_t left = atomic->lanes; left != 0 && !at->is_lost; left &= left - 1) {
    unsigned lane = (unsigned)__builtin_ctz(left);
    uint32_t index = find_from(at, atomic->address[lane]);
    Element *element = &at->elements[index];
    uint64_t value = row_get(atomic->b, lane, atomic->bytes == 8 ? 2 : 1);
    bool is_there = index < at->element_count && element->address == atomic->address[lane];
    if (!is_there || (has_result && (element->held != 0 || !is_next(at, element, warp, number)))) at->is_lost = true;
    if (at->is_lost) break;
    if (has_result) {
      element->next++;
      continue;
    }
    hold(at, element, warp, number, value);
    while (!at->is_lost && release(at, element, &value)) {
      element->next++;
      at->is_lost = !apply(at, atomic, element->address, value);
    }
  }
  at->watch.stop = at->is_lost;
  return !has_result && !at->is_lost;
}

// An access to an element of which something is held back would see too little.
static void on_touch(void *context, Space space, uint64_t address, uint32_t bytes, unsigned how) {
  Forced *at = context;
  (void)how;
  if (space != SPACE_GLOBAL) return;
  enum { WIDEST = 8 }; // of elements
  for (uint32_t i = find_from(at, address - min_u64(address, WIDEST - 1));
       i < at->element_count && at->elements[i].address < address + bytes; i++)
    at->is_lost |= at->elements[i].held != 0;
  at->watch.stop = at->is_lost;
}

static void on_step(void *context, const WatchedStep *step) { (void)context, (void)step; }
static void on_lost(void *context) { (void)context; } // what a run without faults sees of time is allowed, whatever it is

static void launch_forced(void *context, const MachineEnvironment *environment, const Launch *launch, Stats *stats, Trap *trap) {
  Forced *at = context;
  MachineEnvironment own = *environment;
  const uint32_t *grid = launch->grid, *block = launch->block;
  at->memory = environment->memory;
  at->block_warps = (block[0] * block[1] * block[2] + WARP_LANES - 1) / WARP_LANES;
  at->warps = grid[0] * grid[1] * grid[2] * at->block_warps;
  at->turn_count = at->element_count = at->held_count = 0;
  at->numbers = calloc(at->warps + 1, sizeof *at->numbers);
  ASSERT(at->numbers != NULL);
  at->taken = calloc(launch->program->code_count + 1, 1);
  ASSERT(at->taken != NULL);
  for (uint32_t pc = 0; pc < launch->program->code_count; pc++)
    at->taken[pc] = adds_floats(launch->program->decoded[pc].op) && is_taken(launch->program, pc);
  add_turns(at, (uint32_t)launch->number);
  add_elements(at);
  at->watch = (MachineWatch){.context = at, .touches_rare = true, .step = on_step, .touch = on_touch, .lost = on_lost, .atomic = on_atomic};
  own.watch = program_adds_floats(launch->program) ? &at->watch : NULL;
  functional_run(&own, launch, stats, trap);
  for (uint32_t i = 0; i < at->element_count; i++) at->is_lost |= at->elements[i].next != at->elements[i].end;
  at->is_lost |= trap->kind != TRAP_NONE;
  free(at->numbers);
  free(at->taken);
  free(at->turns);
  free(at->elements);
  free(at->held);
  at->turns = NULL;
  at->held = NULL;
  at->held_room = 0;
}

static void ignore_host(void *context, DeviceAddress from, uint64_t bytes) { (void)context, (void)from, (void)bytes; }

static bool is_same(const TargetOutputs *a, const TargetOutputs *b) {
  bool same = a->count == b->count;
  for (uint32_t i = 0; i < a->count && same; i++) {
    const TargetOutput *left = &a->items[i], *right = &b->items[i];
    same = left->count == right->count && left->type == right->type &&
           memcmp(left->bytes, right->bytes, left->count * element_bytes(left->type)) == 0;
  }
  return same;
}

static bool gives(const OrderLog *log, const Target *target, const TargetOutputs *got) {
  Arena *arena = arena_new();
  Diags diags = {0};
  Forced forced = {.log = log};
  Launcher launcher = {.context = &forced, .launch = launch_forced, .host_reads = ignore_host, .host_wrote = ignore_host};
  Target twin = *target;
  twin.launcher = &launcher;
  TargetOutputs outputs = {0};
  bool good = twin.start(&twin, NULL, &diags) && twin.run(&twin) && !forced.is_lost;
  if (good) twin.outputs(&twin, &outputs, arena);
  good = good && is_same(&outputs, got);
  diags_free(&diags);
  arena_free(arena);
  return good;
}

bool order_explains(const OrderLog *log, const Target *target, const TargetOutputs *got) {
  if (log == NULL || log->is_lost || log->count == 0) return false;
  pid_t child = process_fork(SIGKILL);
  if (child == 0) _exit(gives(log, target, got) ? 0 : 1);
  return child > 0 && process_end(child) == 0;
}
