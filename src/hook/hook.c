// The chain of hooks: its order, how verdicts combine, who is called when.
// Invariant: chain->hooks is sorted by HookClass, hooks of one class in the order they were added.
#include "hook/hook.h"

// ---- The chain -----------------------------------------------------------------------------------
bool hook_chain_add(HookChain *chain, Hook *hook) {
  if (chain->count == MAX_HOOKS) return false;
  uint32_t place = chain->count;
  while (place > 0 && chain->hooks[place - 1]->kind > hook->kind) {
    chain->hooks[place] = chain->hooks[place - 1];
    place--;
  }
  chain->hooks[place] = hook;
  chain->count++;
  return true;
}

bool hook_chain_clone(const HookChain *chain, const HookChain *given, HookChain *clone) {
  bool room = true;
  *clone = (HookChain){0};
  for (uint32_t i = 0; i < chain->count; i++) {
    if (chain->hooks[i]->kind == HOOK_PROTECTION) room = room && hook_chain_add(clone, chain->hooks[i]);
  }
  for (uint32_t i = 0; given != NULL && i < given->count; i++) room = room && hook_chain_add(clone, given->hooks[i]);
  return room;
}

void hook_chain_answers(const HookChain *chain, bool answers) {
  for (uint32_t i = 0; i < chain->count; i++) {
    if (chain->hooks[i]->kind == HOOK_PROTECTION) chain->hooks[i]->unanswered = !answers;
  }
}

bool hook_chain_is_unanswered(const HookChain *chain) {
  bool any = false;
  for (uint32_t i = 0; chain != NULL && i < chain->count; i++) any |= chain->hooks[i]->unanswered;
  return any;
}

uint32_t hook_chain_wants(const HookChain *chain) {
  uint32_t wants = 0;
  for (uint32_t i = 0; i < chain->count; i++) {
    const Hook *hook = chain->hooks[i];
#define EVENT(name, ID, Event, direction, verdicts, moment) wants |= hook->name != NULL ? (uint32_t)WANT_##ID : 0;
#define MOMENT(name, ID, moment) wants |= hook->name != NULL ? (uint32_t)WANT_##ID : 0;
#include "hook/hook.def"
#undef EVENT
#undef MOMENT
    if (hook->result != NULL && hook->repeats) wants |= WANT_REPEAT;
  }
  return wants;
}

uint32_t hook_chain_word_bits(const HookChain *chain) {
  uint32_t bits = 0;
  for (uint32_t i = 0; i < chain->count; i++) bits += chain->hooks[i]->word_bits;
  return bits;
}

uint32_t hook_chain_held_lines(const HookChain *chain) {
  uint32_t lines = 0;
  for (uint32_t i = 0; i < chain->count; i++) lines = max_u32(lines, chain->hooks[i]->held_lines);
  return lines;
}

bool hook_chain_lockstep(const HookChain *chain) {
  bool any = false;
  for (uint32_t i = 0; i < chain->count; i++) any |= chain->hooks[i]->lockstep;
  return any;
}

uint32_t hook_chain_actions(const HookChain *chain) {
  uint32_t actions = 0;
  for (uint32_t i = 0; i < chain->count; i++) actions |= chain->hooks[i]->actions;
  return actions;
}

MirrorWay hook_chain_mirrors(const HookChain *chain) {
  MirrorWay way = {0};
  for (uint32_t i = 0; i < chain->count; i++) {
    const MirrorWay *asked = &chain->hooks[i]->mirrors;
    if (asked->lines > way.lines) way.lines = asked->lines;
    if (asked->free_cycles > way.free_cycles) way.free_cycles = asked->free_cycles;
  }
  return way;
}

// Neither would know which blocks, or which copies, are its own.
static bool are_rivals(const Hook *one, const Hook *other, Diags *diags) {
  const uint32_t of_blocks = ACTION_BIT(ACTION_MIRROR) | ACTION_BIT(ACTION_ABANDON) | ACTION_BIT(ACTION_REDISPATCH) |
                             ACTION_BIT(ACTION_COPY) | ACTION_BIT(ACTION_FENCE) | ACTION_BIT(ACTION_HOLD);
  const char *both = NULL;
  if (one->kind != HOOK_PROTECTION || other->kind != HOOK_PROTECTION) return false;
  if (one->repeats && other->repeats) both = "compare copies of instructions and carry them out again";
  if ((one->actions & of_blocks) != 0 && (other->actions & of_blocks) != 0) both = "decide where blocks run";
  if (both != NULL) diags_add(diags, NULL, 0, 0, "%s and %s cannot go together: both %s; take one of them", one->name, other->name, both);
  return both != NULL;
}

bool hook_chain_served(const HookChain *chain, uint32_t offers, const char *machine, Diags *diags) {
  for (uint32_t i = 0; i < chain->count; i++) {
    Hook *hook = chain->hooks[i];
    if (hook->fit != NULL && !hook->fit(hook, offers, diags)) return false;
    uint32_t missing = hook->kind == HOOK_OBSERVER ? hook->actions : hook->actions & ~offers;
    if (missing == 0) continue;
    const char *name = action_names[(uint32_t)__builtin_ctz(missing) % ACTION_KINDS];
    if (hook->kind == HOOK_OBSERVER) return diags_add(diags, NULL, 0, 0, "%s only looks on, so it cannot %s", hook->name, name);
    return diags_add(diags, NULL, 0, 0, "%s needs a machine that can %s; machine '%s' cannot", hook->name, name, machine);
  }
  for (uint32_t i = 0; i < chain->count; i++) {
    for (uint32_t k = 0; k < i; k++) {
      if (are_rivals(chain->hooks[k], chain->hooks[i], diags)) return false;
    }
  }
  return true;
}

bool hook_chain_admits(const HookChain *chain, const Program *program, const LaunchEvent *event, Diags *diags) {
  for (uint32_t i = 0; i < chain->count; i++) {
    const Hook *hook = chain->hooks[i];
    if (hook->admits != NULL && !hook->admits(hook, program, event, diags)) return false;
  }
  return true;
}

// ---- Verdicts ------------------------------------------------------------------------------------
#define MAY(verdict) (1u << VERDICT_##verdict)
typedef enum Direction { NEITHER, LEAVES, ENTERS } Direction;

typedef struct EventInfo {
  const char *name;
  Direction direction;
  uint32_t verdicts; // bit v: verdict v is legal beside PASS
  bool is_moment;    // no event, no verdict
  const char *moment;
} EventInfo;

static const EventInfo event_info[HOOK_EVENTS] = {
#define EVENT(name, ID, Event, direction, verdicts, moment) [HOOK_EVENT_##ID] = {#name, direction, verdicts, false, moment},
#define MOMENT(name, ID, moment) [HOOK_EVENT_##ID] = {#name, NEITHER, 0, true, moment},
#include "hook/hook.def"
#undef EVENT
#undef MOMENT
};

static const char *const verdict_name[VERDICT_COUNT] = {"PASS", "FIXED", "STALL", "HOLD", "REPEAT", "DROP", "HALT"};

static void add_verdicts(uint32_t verdicts, Text *out) {
  text_add(out, "PASS");
  for (Verdict verdict = VERDICT_FIXED; verdict < VERDICT_COUNT; verdict++) {
    if ((verdicts >> verdict & 1) != 0) text_add(out, ", %s", verdict_name[verdict]);
  }
}

// The first that says something illegal is named.
static __attribute__((noinline, cold)) void refuse(HookMachine *machine, const Hook *hook, const EventInfo *info, Verdict verdict) {
#ifdef REDOUBT_STRICT
  const bool is_legal = false; // a verdict that is not legal for its event: see hook.def
  ASSERT(is_legal);
#endif
  if (machine->refused.hook == NULL) machine->refused = (Refusal){hook, info->name, verdict};
}

void hook_halt_format(const HookMachine *machine, Text *out) {
  if (machine->halted != NULL) text_add(out, "%s", machine->halted->name);
}

void hook_refusal_format(const Refusal *refused, Text *out) {
  uint32_t verdicts = 0;
  for (uint32_t i = 0; i < HOOK_EVENTS; i++) verdicts |= strcmp(event_info[i].name, refused->event) == 0 ? event_info[i].verdicts : 0;
  const char *said = (uint32_t)refused->verdict < VERDICT_COUNT ? verdict_name[refused->verdict] : "something unknown";
  text_add(out, "'%s' answered %s to the event '%s', which ", refused->hook->name, said, refused->event);
  if (refused->verdict == VERDICT_REPEAT && (verdicts >> VERDICT_REPEAT & 1) != 0) {
    text_add(out, "only a hook with Hook.repeats may");
    return;
  }
  text_add(out, "allows ");
  add_verdicts(verdicts, out);
}

static Verdict walker_read(Hook *walker, HookMachine *machine, const CellEvent *event);

// What one hook has said, beside what others said before it.
static Verdict combine(Verdict so_far, HookMachine *machine, const Hook *hook, HookEventId event, Verdict verdict) {
  if (hook->kind == HOOK_OBSERVER) return so_far;
  const EventInfo *info = &event_info[event];
  bool is_legal = (uint32_t)verdict < VERDICT_COUNT && (info->verdicts >> verdict & 1) != 0;
  if (!is_legal || (verdict == VERDICT_REPEAT && !hook->repeats)) {
    refuse(machine, hook, info, verdict);
    return so_far;
  }
  if (verdict == VERDICT_HALT && hook->unanswered) return so_far;
  if (verdict == VERDICT_HALT && so_far != VERDICT_HALT && hook->read != walker_read)
    machine->halted = hook; // the walker's hooks have said it
  return verdict < so_far ? so_far : verdict;
}

Verdict hook_said(HookMachine *machine, const Hook *hook, HookEventId event, Verdict verdict) {
  return combine(VERDICT_PASS, machine, hook, event, verdict);
}

// It does not happen now and is asked for again: observers, who are told what happens, hear of it then.
static inline bool is_put_off(HookEventId event, Verdict verdict) {
  return verdict == VERDICT_STALL || (event == HOOK_EVENT_ARRIVAL && verdict == VERDICT_HOLD);
}

bool result_at(const Region *outputs, const ResultEvent *event, uint64_t now, uint64_t cycle, OutputMoment *moment) {
  uint32_t turns = result_turns(outputs, event), width = (outputs->bits + 31) / 32;
  uint32_t groups = max_u32((event->row_count + width - 1) / width, 1);
  *moment = (OutputMoment){.turns = turns, .groups = groups, .width = width};
  if (now < cycle || now - cycle >= event->cycles) return false;
  uint64_t passed = event->cycles - 1 - (now - cycle);
  moment->turn = (uint32_t)((passed * turns + cycle % max_u64(turns / event->cycles, 1)) / event->cycles);
  moment->group = (uint32_t)(cycle % groups);
  return true;
}

const char *client_name(Client client) {
  static const char *const names[CLIENT_COUNT] = {"none",  "instruction", "constant",   "texture", "load",
                                                  "store", "atomic",      "write-back", "prefetch"};
  return (uint32_t)client < CLIENT_COUNT ? names[client] : "unknown";
}

// ---- Walking the chain -----------------------------------------------------------------------------
// LEAVES and NEITHER: [faults, protections, observers]. Observers of what can be put off are asked whether it was.
#define FORWARDS(name, ID, verdicts, first)                                                                            \
  for (uint32_t i = (first); i < chain->count; i++) {                                                                  \
    Hook *hook = chain->hooks[i];                                                                                      \
    if (hook->name == NULL) continue;                                                                                  \
    if (CAN_BE_PUT_OFF(ID, verdicts) && hook->kind == HOOK_OBSERVER && is_put_off(HOOK_EVENT_##ID, verdict)) continue; \
    Verdict said = hook->name(hook, machine, event);                                                                   \
    if (said != VERDICT_PASS) verdict = combine(verdict, machine, hook, HOOK_EVENT_##ID, said);                        \
  }
#define CAN_BE_PUT_OFF(ID, verdicts) \
  (((verdicts)&MAY(STALL)) != 0 || HOOK_EVENT_##ID == HOOK_EVENT_ARRIVAL || HOOK_EVENT_##ID == HOOK_EVENT_MERGE)
// ENTERS: [protections, faults] last added first, then observers in their order.
#define BACKWARDS(name, ID, verdicts)                                                           \
  uint32_t observers = chain->count;                                                            \
  while (observers > 0 && chain->hooks[observers - 1]->kind == HOOK_OBSERVER) observers--;      \
  for (uint32_t i = observers; i-- > 0;) {                                                      \
    Hook *hook = chain->hooks[i];                                                               \
    if (hook->name == NULL) continue;                                                           \
    Verdict said = hook->name(hook, machine, event);                                            \
    if (said != VERDICT_PASS) verdict = combine(verdict, machine, hook, HOOK_EVENT_##ID, said); \
  }                                                                                             \
  FORWARDS(name, ID, verdicts, observers)
#define WALK_NEITHER(name, ID, verdicts) FORWARDS(name, ID, verdicts, 0)
#define WALK_LEAVES(name, ID, verdicts) FORWARDS(name, ID, verdicts, 0)
#define WALK_ENTERS(name, ID, verdicts) BACKWARDS(name, ID, verdicts)

#define EVENT(name, ID, Event, direction, verdicts, moment)                               \
  Verdict hooks_walk_##name(const HookChain *chain, HookMachine *machine, Event *event) { \
    Verdict verdict = VERDICT_PASS;                                                       \
    WALK_##direction(name, ID, verdicts) return verdict;                                  \
  }
#define MOMENT(name, ID, moment)
#include "hook/hook.def"
#undef EVENT
#undef MOMENT
#undef FORWARDS
#undef BACKWARDS

// The chain as one hook. What it says has been looked at already: hook_said finds nothing to refuse.
#define EVENT(name, ID, Event, direction, verdicts, moment) \
  static Verdict walker_##name(Hook *walker, HookMachine *machine, Event *event) { return hooks_walk_##name(walker->own, machine, event); }
#define MOMENT(name, ID, moment)
#include "hook/hook.def"
#undef EVENT
#undef MOMENT

Hook *hook_chain_listener(const HookChain *chain, Hook *walker) {
  Hook *only = chain->count == 1 ? chain->hooks[0] : NULL;
  if (only != NULL && (only->read == NULL) == (only->write == NULL) && (only->take == NULL) == (only->release == NULL)) return only;
  *walker = (Hook){.name = "chain",
                   .kind = HOOK_PROTECTION,
                   .own = (void *)(uintptr_t)chain,
                   .repeats = true,
#define EVENT(name, ID, Event, direction, verdicts, moment) .name = walker_##name,
#define MOMENT(name, ID, moment)
#include "hook/hook.def"
#undef EVENT
#undef MOMENT
                   .next_cycle = UINT64_MAX};
  return walker;
}

// ---- Wake-ups --------------------------------------------------------------------------------------
// In the block: 1 + the cycle, so that zeroed bytes are "never". NULL: not a protection, or one that no machine has attached.
static uint64_t *wake_in_block(const Hook *hook, const HookMachine *machine) {
  if (hook->wake == 0) return NULL;
  return (uint64_t *)(void *)(machine->block + machine->regions->items[hook->wake - 1].base);
}

void hook_wake(Hook *hook, HookMachine *machine, uint64_t cycle) {
  uint64_t *wake = wake_in_block(hook, machine);
  if (wake != NULL) *wake = cycle + 1;
  else hook->next_cycle = cycle;
}

uint64_t hook_wakes_at(const Hook *hook, const HookMachine *machine) {
  const uint64_t *wake = wake_in_block(hook, machine);
  return wake != NULL ? *wake - 1 : hook->next_cycle;
}

void hooks_begin(const HookChain *chain, HookMachine *machine) {
  for (uint32_t i = 0; i < chain->count; i++) {
    if (chain->hooks[i]->wake != 0) hook_wake(chain->hooks[i], machine, chain->hooks[i]->next_cycle);
  }
}

static bool only_looks(const Hook *hook) { return hook->kind == HOOK_OBSERVER || hook->only_looks; }

uint64_t hooks_next_cycle(const HookChain *chain, const HookMachine *machine) {
  uint64_t next = UINT64_MAX;
  for (uint32_t i = 0; i < chain->count; i++) {
    if (chain->hooks[i]->cycle != NULL) next = min_u64(next, hook_wakes_at(chain->hooks[i], machine));
  }
  return next;
}

uint32_t hooks_changing(const HookChain *chain, const HookMachine *machine) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < chain->count; i++) {
    const Hook *hook = chain->hooks[i];
    count += hook->cycle != NULL && !only_looks(hook) && hook_wakes_at(hook, machine) != UINT64_MAX;
  }
  return count;
}

uint64_t hooks_next_change(const HookChain *chain, const HookMachine *machine) {
  uint64_t next = UINT64_MAX;
  for (uint32_t i = 0; i < chain->count; i++) {
    const Hook *hook = chain->hooks[i];
    if (hook->cycle != NULL && !only_looks(hook)) next = min_u64(next, hook_wakes_at(hook, machine));
  }
  return next;
}

// A hook stays armed during its call, so that a clone that it takes is called in this cycle, too.
static void call_due(Hook *hook, HookMachine *machine) {
  if (hook->cycle == NULL || hook_wakes_at(hook, machine) > machine->cycle) return;
  hook->cycle(hook, machine);
  if (hook_wakes_at(hook, machine) <= machine->cycle) hook_wake(hook, machine, UINT64_MAX);
}

void hooks_cycle(const HookChain *chain, HookMachine *machine) {
  bool looked[MAX_HOOKS];
  for (uint32_t i = 0; i < chain->count; i++) {
    looked[i] = only_looks(chain->hooks[i]);
    if (looked[i]) call_due(chain->hooks[i], machine);
  }
  for (uint32_t i = 0; i < chain->count; i++) {
    if (!looked[i]) call_due(chain->hooks[i], machine);
  }
}

void hooks_finish(const HookChain *chain, HookMachine *machine) {
  for (uint32_t i = 0; i < chain->count; i++) {
    Hook *hook = chain->hooks[i];
    if (hook->finish != NULL) hook->finish(hook, machine);
  }
}

// ---- The table of docs/hooks.md --------------------------------------------------------------------
void hook_events_list(Text *out) {
  for (uint32_t i = 0; i < HOOK_EVENTS; i++) {
    const EventInfo *info = &event_info[i];
    text_add(out, "%-10s %s", info->name, info->moment);
    if (!info->is_moment) {
      text_add(out, ": ");
      add_verdicts(info->verdicts, out);
    }
    text_add(out, "\n");
  }
}

void hook_events_markdown(Text *out) {
  static const char *const direction_name[] = {"", "leave", "enter"};
  text_add(out, "| event | when | bits | verdicts |\n|---|---|---|---|\n");
  for (uint32_t i = 0; i < HOOK_EVENTS; i++) {
    const EventInfo *info = &event_info[i];
    text_add(out, "| `%s` | %s | %s | ", info->name, info->moment, direction_name[info->direction]);
    if (!info->is_moment) add_verdicts(info->verdicts, out);
    text_add(out, " |\n");
  }
}
