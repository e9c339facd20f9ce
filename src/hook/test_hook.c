// The chain: order of faults, protections and observers for bits that leave and bits that enter, the strongest verdict,
// who is asked what, cycles, and the regions that schemes add.
#include "hook/hook.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

// A hook that notes that it was called and says what it is told to.
typedef struct Probe {
  Text *calls;
  const char *letter;
  Verdict says;
} Probe;

static Verdict note(Hook *hook) {
  const Probe *probe = hook->own;
  text_add(probe->calls, "%s", probe->letter);
  return probe->says;
}
// Of every event of hook.def.
#define EVENT(name, ID, Event, direction, verdicts, moment) \
  static Verdict on_##name(Hook *hook, HookMachine *machine, Event *event) { return (void)machine, (void)event, note(hook); }
#define MOMENT(name, ID, moment) \
  static void on_##name(Hook *hook, HookMachine *machine) { (void)machine, note(hook); }
#include "hook/hook.def"
#undef EVENT
#undef MOMENT

static Hook full_hook(HookClass kind, Probe *probe) {
  return (Hook){
#define EVENT(name, ID, Event, direction, verdicts, moment) .name = on_##name,
#define MOMENT(name, ID, moment) .name = on_##name,
#include "hook/hook.def"
#undef EVENT
#undef MOMENT
      .name = "probe", .kind = kind, .own = probe};
}

// Two of each class, added in a mixed order: chain order is faults a b, protections p q, observers x y.
typedef struct Six {
  Text calls;
  Probe probes[6];
  Hook hooks[6];
  HookChain chain;
} Six;
enum { A, B, P, Q, X, Y };

static void make_six(Six *six) {
  static const char *const letters[] = {"a", "b", "p", "q", "x", "y"};
  static const int order[] = {X, P, A, Q, Y, B};
  *six = (Six){0};
  for (int i = 0; i < 6; i++) {
    six->probes[i] = (Probe){&six->calls, letters[i], VERDICT_PASS};
    six->hooks[i] = full_hook(i < P ? HOOK_FAULT : i < X ? HOOK_PROTECTION : HOOK_OBSERVER, &six->probes[i]);
    six->hooks[i].repeats = true;
  }
  for (int i = 0; i < 6; i++) assert_true(hook_chain_add(&six->chain, &six->hooks[order[i]]));
}

static void assert_calls(Six *six, const char *expected) {
  assert_string_equal(six->calls.at, expected);
  text_free(&six->calls);
}

// Bits that enter a cell are encoded, then damaged; everything else is damaged, then checked. Observers come last.
static void test_order(void **state) {
  (void)state;
  static const char *const order[] = {"abpqxy", "abpqxy", "qpbaxy"};
  enum { NEITHER, LEAVES, ENTERS };
  Six six;
  HookMachine machine = {0};
  make_six(&six);
#define EVENT(name, ID, Event, direction, verdicts, moment) \
  hooks_##name(&six.chain, &machine, &(Event){0});          \
  assert_calls(&six, order[direction]);
#define MOMENT(name, ID, moment)      \
  hooks_##name(&six.chain, &machine); \
  assert_calls(&six, HOOK_EVENT_##ID == HOOK_EVENT_CYCLE ? "xyabpq" : order[NEITHER]); // those who only look come first
#include "hook/hook.def"
#undef EVENT
#undef MOMENT
}

// The strongest of those that are legal for the event.
#define MAY(verdict) (1u << VERDICT_##verdict)
static void test_strongest_verdict(void **state) {
  (void)state;
  Six six;
  HookMachine machine = {0};
  make_six(&six);
  for (Verdict first = VERDICT_PASS; first < VERDICT_COUNT; first++) {
    for (Verdict second = VERDICT_PASS; second < VERDICT_COUNT; second++) {
      six.probes[A].says = first;
      six.probes[Q].says = second;
      six.probes[X].says = VERDICT_HALT; // an observer's word counts for nothing
      Verdict strongest = first > second ? first : second;
#define EVENT(name, ID, Event, direction, verdicts, moment)                              \
  if ((((verdicts) | 1u) >> first & 1) != 0 && (((verdicts) | 1u) >> second & 1) != 0) { \
    assert_int_equal(hooks_##name(&six.chain, &machine, &(Event){0}), strongest);        \
    assert_null(machine.refused.hook);                                                   \
  }
#define MOMENT(name, ID, moment)
#include "hook/hook.def"
#undef EVENT
#undef MOMENT
    }
  }
  text_free(&six.calls);
}

// Whom machines tell: several hooks through one that walks the chain, in its order and with its verdict; a lone one itself, unless it lacks half of a pair.
static void test_listener(void **state) {
  (void)state;
  static const char *const order[] = {"abpqxy", "abpqxy", "qpbaxy"};
  enum { NEITHER, LEAVES, ENTERS };
  Six six;
  HookMachine machine = {0};
  Hook walker;
  make_six(&six);
  six.probes[X].says = VERDICT_HALT;
  Hook *listener = hook_chain_listener(&six.chain, &walker);
#define EVENT(name, ID, Event, direction, verdicts, moment)                                \
  six.probes[P].says = ((verdicts)&MAY(HALT)) != 0 ? VERDICT_HALT : VERDICT_PASS;          \
  assert_int_equal(hook_tell_##name(listener, &machine, &(Event){0}), six.probes[P].says); \
  assert_calls(&six, order[direction]);
#define MOMENT(name, ID, moment)
#include "hook/hook.def"
#undef EVENT
#undef MOMENT
  HookChain alone = {.hooks = {&six.hooks[P]}, .count = 1};
  assert_ptr_equal(hook_chain_listener(&alone, &walker), &six.hooks[P]);
  six.hooks[P].write = NULL;
  listener = hook_chain_listener(&alone, &walker);
  assert_int_equal(hook_tell_write(listener, &machine, &(CellEvent){0}), VERDICT_PASS);
  assert_null(six.calls.at);
  assert_int_equal(hook_tell_read(listener, &machine, &(CellEvent){0}), six.probes[P].says);
  assert_calls(&six, "p");
}

// Who detected is named: of several the first, whichever way the machine asks. Of another event it is whoever halts there.
static void halting_hooks_are_named(void **state) {
  (void)state;
  Six six;
  make_six(&six);
  six.hooks[P].name = "one";
  six.hooks[Q].name = "two";
  HookMachine machine = {0};
  Hook walker;
  const struct {
    Verdict p, q;
    const char *named;
  } cases[] = {{VERDICT_HALT, VERDICT_HALT, "one"}, {VERDICT_FIXED, VERDICT_HALT, "two"}, {VERDICT_HALT, VERDICT_PASS, "one"}};
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    six.probes[P].says = cases[i].p;
    six.probes[Q].says = cases[i].q;
    Hook *listener = hook_chain_listener(&six.chain, &walker);
    for (int way = 0; way < 2; way++) {
      Text name = {0};
      machine.halted = NULL;
      if (way == 0) assert_int_equal(hooks_read(&six.chain, &machine, &(CellEvent){0}), VERDICT_HALT);
      else assert_int_equal(hook_tell_read(listener, &machine, &(CellEvent){0}), VERDICT_HALT);
      hook_halt_format(&machine, &name);
      assert_string_equal(name.at, cases[i].named);
      text_free(&name);
    }
  }
  text_free(&six.calls);
}

#ifndef REDOUBT_STRICT
// A verdict that is not legal for its event counts as PASS and is noted, with the name of who said it.
static void test_illegal_verdicts(void **state) {
  (void)state;
  Six six;
  make_six(&six);
  six.hooks[Q].name = "crooked";
  for (Verdict said = VERDICT_PASS; said <= VERDICT_COUNT; said++) {
    six.probes[Q].says = said;
#define EVENT(name, ID, Event, direction, verdicts, moment)                          \
  if ((((verdicts) | 1u) >> said & 1) == 0) {                                        \
    HookMachine machine = {0};                                                       \
    assert_int_equal(hooks_##name(&six.chain, &machine, &(Event){0}), VERDICT_PASS); \
    assert_ptr_equal(machine.refused.hook, &six.hooks[Q]);                           \
    assert_string_equal(machine.refused.event, #name);                               \
    assert_int_equal(machine.refused.verdict, said);                                 \
  }
#define MOMENT(name, ID, moment)
#include "hook/hook.def"
#undef EVENT
#undef MOMENT
  }
  text_free(&six.calls);
  Text line = {0};
  hook_refusal_format(&(Refusal){&six.hooks[Q], "issue", VERDICT_HOLD}, &line);
  assert_string_equal(line.at, "'crooked' answered HOLD to the event 'issue', which allows PASS, STALL, HALT");
  text_free(&line);
  HookMachine machine = {0};
  six.probes[Q].says = VERDICT_REPEAT;
  six.hooks[Q].repeats = false;
  assert_int_equal(hooks_result(&six.chain, &machine, &(ResultEvent){0}), VERDICT_PASS);
  assert_ptr_equal(machine.refused.hook, &six.hooks[Q]);
  hook_refusal_format(&machine.refused, &line);
  assert_string_equal(line.at, "'crooked' answered REPEAT to the event 'result', which only a hook with Hook.repeats may");
  text_free(&line);
  text_free(&six.calls);
}
#else
static void test_illegal_verdicts(void **state) { (void)state; } // an ASSERT, which ends the program
#endif

static void test_absent_functions_are_skipped(void **state) {
  (void)state;
  HookMachine machine = {0};
  HookChain chain = {0};
  Hook empty = {.name = "empty", .kind = HOOK_PROTECTION};
  assert_true(hook_chain_add(&chain, &empty));
  assert_int_equal(hook_chain_wants(&chain), 0);
  assert_int_equal(hooks_read(&chain, &machine, &(CellEvent){0}), VERDICT_PASS);
  assert_int_equal(hooks_write(&chain, &machine, &(CellEvent){0}), VERDICT_PASS);
  assert_int_equal(hooks_result(&chain, &machine, &(ResultEvent){0}), VERDICT_PASS);
  hooks_cycle(&chain, &machine);
  hooks_span(&chain, &machine, &(SpanEvent){0});
  hooks_finish(&chain, &machine);
  assert_true(hooks_next_cycle(&chain, &machine) == UINT64_MAX);
  Hook writer = {.kind = HOOK_FAULT, .write = on_write}, issuer = {.kind = HOOK_OBSERVER, .issue = on_issue, .commit = on_commit};
  assert_true(hook_chain_add(&chain, &writer));
  assert_int_equal(hook_chain_wants(&chain), WANT_WRITE);
  assert_true(hook_chain_add(&chain, &issuer));
  assert_int_equal(hook_chain_wants(&chain), WANT_WRITE | WANT_ISSUE | WANT_COMMIT);
  while (chain.count < MAX_HOOKS) assert_true(hook_chain_add(&chain, &empty));
  assert_false(hook_chain_add(&chain, &empty));
}

static void strike(Hook *hook, HookMachine *machine) {
  (*(uint32_t *)hook->own)++;
  if (machine->cycle < 20) hook->next_cycle = machine->cycle + 10;
}

static void test_cycles(void **state) {
  (void)state;
  uint32_t early = 0, late = 0;
  Hook first = {.kind = HOOK_FAULT, .own = &early, .cycle = strike, .next_cycle = 5};
  Hook second = {.kind = HOOK_FAULT, .own = &late, .cycle = strike, .next_cycle = 12};
  HookChain chain = {0};
  hook_chain_add(&chain, &first);
  hook_chain_add(&chain, &second);
  HookMachine machine = {0};
  uint64_t seen[4];
  for (int i = 0; i < 4; i++) {
    machine.cycle = seen[i] = hooks_next_cycle(&chain, &machine);
    hooks_cycle(&chain, &machine);
  }
  assert_int_equal(seen[0], 5);
  assert_int_equal(seen[1], 12);
  assert_int_equal(seen[2], 15);
  assert_int_equal(seen[3], 22);
  assert_int_equal(early, 2);
  assert_int_equal(late, 2);
  assert_int_equal(hooks_next_cycle(&chain, &machine), 25);
  machine.cycle = 25;
  hooks_cycle(&chain, &machine);
  assert_true(hooks_next_cycle(&chain, &machine) == UINT64_MAX); // disarmed unless it arms itself
}

static void note_call(Hook *hook, HookMachine *machine) {
  note(hook);
  if (machine->cycle == 5) hook_wake(hook, machine, 9);
}

// Those who only look come first. A protection's wake-up lies in the block: another block, another time.
static void test_wake_ups(void **state) {
  (void)state;
  Six six;
  make_six(&six);
  for (int i = 0; i < 6; i++) {
    six.hooks[i].cycle = note_call;
    six.hooks[i].next_cycle = 5;
    six.hooks[i].name = six.probes[i].letter;
  }
  six.hooks[B].only_looks = true;
  Arena *arena = arena_new();
  HookLayout *layout = hook_layout_begin(arena, &(RegionTable){0}, &(HookShape){.sms = 1, .warps = 1, .block_slots = 1});
  assert_true(hook_layout_attach(layout, &six.chain, NULL));
  RegionTable table = hook_layout_finish(layout);
  assert_int_equal(table.count, 2);
  assert_int_equal(table.items[0].flags, REGION_HASHED);
  assert_int_equal(table.items[0].life, LIFE_MACHINE);
  uint64_t first[32] = {0}, second[32] = {0};
  assert_true(table.block_bytes <= sizeof first);
  HookMachine machine = {.block = (uint8_t *)first, .regions = &table}, other = {.block = (uint8_t *)second, .regions = &table};
  assert_true(hook_wakes_at(&six.hooks[P], &machine) == UINT64_MAX);
  hooks_begin(&six.chain, &machine);
  hooks_begin(&six.chain, &other);
  machine.cycle = 5;
  hooks_cycle(&six.chain, &machine);
  assert_calls(&six, "bxyapq");
  assert_int_equal(hooks_next_cycle(&six.chain, &machine), 9);
  assert_int_equal(hook_wakes_at(&six.hooks[P], &other), 5);
  assert_int_equal(six.hooks[P].next_cycle, 5);
  machine.cycle = 9;
  hooks_cycle(&six.chain, &machine);
  assert_calls(&six, "bxyapq");
  assert_true(hooks_next_cycle(&six.chain, &machine) == UINT64_MAX && hooks_next_cycle(&six.chain, &other) == 5);
  arena_free(arena);
}

static void test_chain_of_a_clone(void **state) {
  (void)state;
  Six six;
  make_six(&six);
  Hook fault = {.kind = HOOK_FAULT};
  HookChain given = {.hooks = {&fault}, .count = 1}, clone;
  assert_true(hook_chain_clone(&six.chain, &given, &clone));
  assert_int_equal(clone.count, 3);
  assert_true(clone.hooks[0] == &fault && clone.hooks[1] == &six.hooks[P] && clone.hooks[2] == &six.hooks[Q]);
  assert_true(hook_chain_clone(&six.chain, NULL, &clone));
  assert_int_equal(clone.count, 2);
}

// ---- Regions of schemes --------------------------------------------------------------------------
static bool add_one(Hook *hook, HookLayout *layout, Diags *diags) {
  const char *name = hook->own;
  char scratch[16];
  memcpy(scratch, name, strlen(name) + 1); // the layout must keep a copy
  Region wanted = {.name = scratch,
                   .title = "check bits",
                   .unit = "lane",
                   .meaning = "of a test",
                   .dims = {{"sm", hook_layout_shape(layout)->sms}, {"reg", 3}},
                   .dim_count = 2,
                   .units = 5,
                   .bits = 7,
                   .unit_bytes = 1};
  uint16_t index = hook_add_region(layout, &wanted, LIFE_LAUNCH, diags);
  memset(scratch, 'z', sizeof scratch);
  return index != REGION_NONE && index == hook_layout_regions(layout)->count - 1;
}

static void test_regions_of_schemes(void **state) {
  (void)state;
  const Region own_items[] = {{.name = "rf",
                               .title = "t",
                               .unit = "",
                               .meaning = "m",
                               .rows = 1,
                               .units = 1,
                               .bits = 64,
                               .base = 32,
                               .row_bytes = 8,
                               .unit_bytes = 8}};
  RegionTable own = {own_items, 1, 100};
  HookShape shape = {.sms = 2, .warps = 4, .block_slots = 1};
  char first_name[] = "ecc.a", second_name[] = "ecc.b";
  Hook first = {.kind = HOOK_PROTECTION, .own = first_name, .attach = add_one}, second = first;
  second.own = second_name;
  HookChain chain = {0};
  hook_chain_add(&chain, &first);
  hook_chain_add(&chain, &second);
  Arena *arena = arena_new();
  Diags diags = {0};
  HookLayout *layout = hook_layout_begin(arena, &own, &shape);
  assert_true(hook_layout_attach(layout, &chain, &diags));
  RegionTable table = hook_layout_finish(layout);
  assert_int_equal(table.count, 3);
  assert_true(region_table_check(&table, &diags));
  const Region *a = &table.items[region_find(&table, "ecc.a")], *b = &table.items[region_find(&table, "ecc.b")];
  assert_int_equal(a->base, 128);
  assert_int_equal(a->rows, 6);
  assert_int_equal(a->row_bytes, 5);
  assert_int_equal(a->flags, REGION_HASHED | REGION_INJECTABLE);
  assert_int_equal(a->owned_by_scheme, 1);
  assert_int_equal(b->owned_by_scheme, 2);
  assert_int_equal(b->base, 192);
  assert_int_equal(table.block_bytes, 256);
  assert_int_equal(table.items[0].owned_by_scheme, 0);
  second.own = first_name; // the same scheme twice
  assert_false(hook_layout_attach(hook_layout_begin(arena, &own, &shape), &chain, &diags));
  assert_non_null(strstr(diags.items[0].text, "'ecc.a' is there already"));
  diags_free(&diags);
  arena_free(arena);
}

// Each hook has its own bits of the scheme word; those who do not fit are refused.
static void test_words(void **state) {
  (void)state;
  Hook first = {.name = "first", .word_bits = 12}, second = {.name = "second", .word_bits = 20};
  HookChain chain = {0};
  assert_true(hook_chain_add(&chain, &first) && hook_chain_add(&chain, &second));
  assert_int_equal(hook_chain_word_bits(&chain), 32);
  Arena *arena = arena_new();
  Diags diags = {0};
  RegionTable none = {0};
  HookShape shape = {.sms = 1, .warps = 1, .block_slots = 1};
  assert_true(hook_layout_attach(hook_layout_begin(arena, &none, &shape), &chain, &diags));
  uint32_t word = 0;
  MemoryEvent event = {.word = &word};
  hook_word_set(&first, &event, 0xABC);
  hook_word_set(&second, &event, 0xFFF12345); // bits above its own are lost
  assert_int_equal(word, 0x12345ABC);
  assert_int_equal(hook_word_get(&first, &event), 0xABC);
  assert_int_equal(hook_word_get(&second, &event), 0x12345);
  hook_word_set(&first, &event, 0);
  assert_int_equal(word, 0x12345000);
  second.word_bits = 21;
  assert_false(hook_layout_attach(hook_layout_begin(arena, &none, &shape), &chain, &diags));
  assert_non_null(strstr(diags.items[0].text, "'second' finds no room in the scheme word"));
  diags_free(&diags);
  arena_free(arena);
}

// A scheme that cannot do without an event is refused where it is never told.
static void test_needs(void **state) {
  (void)state;
  Hook hook = {.name = "scheme", .kind = HOOK_PROTECTION, .needs = WANT_READ | WANT_RESULT, .next_cycle = UINT64_MAX};
  HookChain chain = {.hooks = {&hook}, .count = 1};
  Arena *arena = arena_new();
  Diags diags = {0};
  RegionTable none = {0};
  HookShape shape = {.sms = 1, .warps = 1, .block_slots = 1, .untold = WANT_BRANCH};
  assert_true(hook_layout_attach(hook_layout_begin(arena, &none, &shape), &chain, &diags));
  shape.untold |= WANT_RESULT;
  assert_false(hook_layout_attach(hook_layout_begin(arena, &none, &shape), &chain, &diags));
  assert_string_equal(diags.items[0].text, "'scheme' needs the event 'result', which this machine does not tell");
  diags_free(&diags);
  arena_free(arena);
}

static void wait_for(Hook *hook, HookMachine *machine) { (void)hook, (void)machine; }

// Those who only look do not keep a machine alive.
static void test_next_change(void **state) {
  (void)state;
  Hook fault = {.kind = HOOK_FAULT, .cycle = wait_for, .next_cycle = 70}, limit = fault;
  Hook observer = {.kind = HOOK_OBSERVER, .cycle = wait_for, .next_cycle = 30}, idle = {.kind = HOOK_FAULT, .next_cycle = 10};
  limit.next_cycle = 50;
  limit.only_looks = true;
  HookChain chain = {0};
  HookMachine machine = {0};
  assert_true(hook_chain_add(&chain, &observer) && hook_chain_add(&chain, &limit) && hook_chain_add(&chain, &idle));
  assert_true(hooks_next_cycle(&chain, &machine) == 30 && hooks_next_change(&chain, &machine) == UINT64_MAX);
  assert_true(hook_chain_add(&chain, &fault));
  assert_int_equal(hooks_next_change(&chain, &machine), 70);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_next_change),
      cmocka_unit_test(test_words),
      cmocka_unit_test(test_needs),
      cmocka_unit_test(test_order),
      cmocka_unit_test(test_strongest_verdict),
      cmocka_unit_test(test_listener),
      cmocka_unit_test(halting_hooks_are_named),
      cmocka_unit_test(test_illegal_verdicts),
      cmocka_unit_test(test_absent_functions_are_skipped),
      cmocka_unit_test(test_cycles),
      cmocka_unit_test(test_wake_ups),
      cmocka_unit_test(test_chain_of_a_clone),
      cmocka_unit_test(test_regions_of_schemes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
