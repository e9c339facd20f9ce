// What hooks are told of memory requests is true: on every workload and on machines of all kinds each request has one response, or its launch
// ends first; who it is for stays the same on its way; the cycles of its stages are its round trip; and what hooks say is obeyed.
#include "device/workload.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

// ---- A book of the requests of a launch ----------------------------------------------------------------

typedef struct Entry {
  Who who;
  uint64_t line, asked_at, arrived_at; // arrived_at: 0, not yet
  uint32_t word;                       // that its reply is to bring
  bool is_open;
} Entry;

enum { SLOTS = 1 << 16 };

typedef struct Book {
  Hook hook;
  Hook *with; // a protection beside it
  Entry *entries;
  uint32_t used;
  uint64_t launch, last_number;
  uint64_t asked[CLIENT_COUNT], answered[CLIENT_COUNT], left[CLIENT_COUNT]; // left: open when the launch ended
  uint64_t merged;                                                          // waiters beyond the first
  uint64_t served, dropped, stalled, held, worded;
} Book;

static Entry *entry_of(Book *book, uint64_t number) {
  for (uint64_t i = random_draw(number, 0, 0);; i++) {
    Entry *entry = &book->entries[i % SLOTS];
    if (entry->who.launch == 0 || entry->who.request == number) return entry;
  }
}

static Entry *known(Book *book, const Who *who) {
  Entry *entry = entry_of(book, who->request);
  assert_int_equal(entry->who.launch, book->launch);
  return entry;
}

static uint64_t total(const uint32_t stages[MEMORY_STAGES]) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < MEMORY_STAGES; i++) sum += stages[i];
  return sum;
}

static void assert_same_who(const Who *a, const Who *b) {
  assert_memory_equal(a, b, offsetof(Who, client));
  assert_int_equal(a->client, b->client);
}

static Verdict on_launch(Hook *hook, HookMachine *machine, const LaunchEvent *event) {
  Book *book = hook->own;
  (void)machine;
  memset(book->entries, 0, SLOTS * sizeof *book->entries);
  book->used = 0;
  book->last_number = 0;
  book->launch = event->who->launch;
  return VERDICT_PASS;
}

static Verdict on_request(Hook *hook, HookMachine *machine, const MemoryEvent *event) {
  Book *book = hook->own;
  const Who *who = event->who;
  bool is_evict = event->moment == MEMORY_EVICT;
  Entry *entry = entry_of(book, who->request);
  assert_int_equal(entry->who.launch, 0); // a new number
  assert_int_equal(who->launch, book->launch);
  assert_true(book->used++ < SLOTS / 2);
  assert_true(who->client > CLIENT_NONE && who->client < CLIENT_COUNT);
  assert_true((who->sm == WHO_NO_INDEX) == is_evict && (who->warp == WHO_NO_INDEX) == is_evict &&
              (who->block == WHO_NO_NUMBER) == is_evict);
  if (is_evict) assert_int_equal(who->client, CLIENT_WRITE_BACK);
  assert_int_equal(event->bytes, __builtin_popcountll(event->mask[0]) + __builtin_popcountll(event->mask[1]));
  bool writes = who->client == CLIENT_STORE || who->client == CLIENT_ATOMIC || who->client == CLIENT_WRITE_BACK;
  assert_int_equal(event->write, writes);
  assert_int_equal(event->data != NULL, writes);
  assert_int_equal(total(event->stages), 0);
  *entry = (Entry){.who = *who, .line = event->address, .asked_at = machine->cycle, .word = *event->word, .is_open = true};
  book->asked[who->client]++;
  return VERDICT_PASS;
}

static Verdict on_arrival(Hook *hook, HookMachine *machine, const MemoryEvent *event) {
  Book *book = hook->own;
  Entry *entry = known(book, event->who);
  assert_true(entry->is_open && entry->arrived_at == 0);
  assert_same_who(event->who, &entry->who);
  assert_int_equal(event->data != NULL, event->write);
  assert_int_equal(event->waited, machine->cycle - entry->asked_at);
  assert_int_equal(total(event->stages), event->waited);
  assert_int_equal(event->stages[STAGE_QUEUE] + event->stages[STAGE_NETWORK] + event->stages[STAGE_SLICE], event->waited);
  entry->arrived_at = machine->cycle;
  return VERDICT_PASS;
}

static Verdict on_service(Hook *hook, HookMachine *machine, const MemoryEvent *event) {
  Book *book = hook->own;
  Entry *entry = known(book, event->who);
  assert_same_who(event->who, &entry->who);
  assert_true(event->waiter_count >= 1);
  assert_int_equal(event->waiters[0].request, event->who->request);
  assert_int_equal(total(event->stages), machine->cycle - entry->asked_at);
  assert_true(event->stages[STAGE_CONTROLLER] >= event->waited); // a request may be served twice, sector by sector
  assert_int_equal(event->stages[STAGE_RETURN], 0);
  const Region *queue = &machine->regions->items[region_find(machine->regions, "dramq.address")];
  assert_true(event->entry < queue->rows); // it is the entry that holds this address
  assert_int_equal(unit_get(queue, machine->block + queue->base + event->entry * queue->row_bytes), event->address);
  bool is_passing = event->write && event->who->sm != WHO_NO_INDEX; // a store where there is no L2: its reply went before
  for (uint32_t i = 0; i < event->waiter_count; i++) {
    Entry *waiter = known(book, &event->waiters[i]);
    assert_same_who(&waiter->who, &event->waiters[i]);
    assert_true(waiter->is_open || event->write); // without an L2 a store is answered before DRAM has it
    if (waiter->is_open && !is_passing) waiter->word = *event->word;
  }
  book->served++;
  book->merged += event->waiter_count - 1;
  return VERDICT_PASS;
}

// Waiters of a miss register in the SM are instructions of that SM, which may not have asked themselves.
static Verdict on_response(Hook *hook, HookMachine *machine, const MemoryEvent *event) {
  Book *book = hook->own;
  const Who *who = event->who;
  Entry *entry = known(book, who);
  assert_true(entry->is_open);
  entry->is_open = false;
  assert_same_who(who, &entry->who);
  assert_int_equal(event->waited, machine->cycle - entry->asked_at);
  assert_int_equal(total(event->stages), event->waited);
  if (who->sm != WHO_NO_INDEX) {
    uint64_t there = entry->asked_at + event->stages[STAGE_QUEUE] + event->stages[STAGE_NETWORK];
    assert_true(entry->arrived_at >= there && entry->arrived_at <= there + event->stages[STAGE_SLICE]);
  }
  for (uint32_t i = 0; i < event->waiter_count; i++) {
    assert_int_equal(event->waiters[i].sm, who->sm);
    assert_int_equal(event->waiters[i].request, who->request);
    assert_int_equal(event->waiters[i].client, who->client);
  }
  if (who->client == CLIENT_LOAD || who->client == CLIENT_TEXTURE || who->client == CLIENT_ATOMIC) assert_true(event->waiter_count >= 1);
  book->merged += event->waiter_count > 1 ? event->waiter_count - 1 : 0;
  book->worded += *event->word != 0;
  book->answered[who->client]++;
  return VERDICT_PASS;
}

static void on_finish(Hook *hook, HookMachine *machine) {
  Book *book = hook->own;
  (void)machine;
  for (uint32_t i = 0; i < SLOTS; i++) {
    if (book->entries[i].is_open) book->left[book->entries[i].who.client]++;
  }
}

// ---- Runs ------------------------------------------------------------------------------------------------

static void book_open(Book *book) {
  *book = (Book){.entries = calloc(SLOTS, sizeof(Entry))};
  assert_non_null(book->entries);
  book->hook = (Hook){.name = "book",
                      .kind = HOOK_OBSERVER,
                      .own = book,
                      .launch = on_launch,
                      .request = on_request,
                      .evict = on_request,
                      .arrival = on_arrival,
                      .service = on_service,
                      .response = on_response,
                      .finish = on_finish,
                      .next_cycle = UINT64_MAX};
}

// The output's hash; what is left of requests at the end is in order.
static uint64_t run_with(const Workload *workload, const Spec *spec, Book *book, bool is_right) {
  Diags diags = {0};
  HookChain chain = {0};
  assert_true(hook_chain_add(&chain, &book->hook) && (book->with == NULL || hook_chain_add(&chain, book->with)));
  DeviceOptions options = {.spec = spec, .hooks = &chain};
  Device *device = device_new(&options, &diags);
  assert_non_null(device);
  WorkloadRun run = {0};
  assert_true(workload_start(&run, workload, SIZE_TINY, device, &diags));
  if (!workload->prepare(&run) || !workload->launch(&run)) fail_msg("%s on %s: %s", workload->name, spec->machine, device_error(device));
  if (is_right && !workload_check(&run, workload)) fail_msg("%s on %s: %s", workload->name, spec->machine, run.failure);
  uint64_t hash = 0;
  for (uint32_t i = 0; i < run.output_count; i++) {
    uint64_t bytes = run.outputs[i].count * element_bytes(run.outputs[i].type);
    uint8_t *copy = arena_alloc(run.arena, bytes + 1);
    assert_true(device_read(device, copy, run.outputs[i].address, bytes));
    hash = hash_bytes(copy, bytes, hash);
  }
  workload_finish(&run);
  device_free(device);
  diags_free(&diags);
  return hash;
}

static void load_spec(Spec *spec, Arena *arena, const char *machine, const char *key, const char *value) {
  Diags diags = {0};
  assert_true(spec_load(spec, arena, machine, &diags));
  if (key != NULL && !spec_set(spec, key, value, NULL, 0, &diags)) fail_msg("%s", diags.items[0].text);
  diags_free(&diags);
}

static const Workload *find(const char *name) {
  for (uint32_t i = 0; i < workload_count; i++) {
    if (strcmp(workloads[i]->name, name) == 0) return workloads[i];
  }
  fail_msg("no workload %s", name);
  return NULL;
}

static void requests_and_responses_pair(void **state) {
  (void)state;
  static const char *const machines[][3] = {{"fermi-gtx480", NULL},
                                            {"turing-rtx2060", NULL},
                                            {"tesla-hints", NULL},
                                            {"gt200-rise", NULL},
                                            {"fermi-gtx480", "l2.bytes", "0"},
                                            {"fermi-gtx480", "l2.bytes", "16384"},
                                            {"fermi-gtx480", "l1d.bytes", "0"},
                                            {"fermi-gtx480", "network.kind", "mesh"},
                                            {"fermi-gtx480", "dram.queue", "1"},
                                            {"turing-rtx2060", "scheduler.large_warp", "4"}};
  Book book;
  book_open(&book);
  for (size_t m = 0; m < COUNT_OF(machines); m++) {
    Arena *arena = arena_new();
    Spec spec;
    load_spec(&spec, arena, machines[m][0], machines[m][1], machines[m][2]);
    for (size_t w = m % TEST_STEP; w < workload_count; w += TEST_STEP) run_with(workloads[w], &spec, &book, true);
    arena_free(arena);
  }
  for (uint32_t client = CLIENT_INSTRUCTION; client < CLIENT_PREFETCH; client++) {
    assert_int_equal(book.asked[client], book.answered[client] + book.left[client]);
    print_message("%-12s %8llu requests, %8llu responses, %6llu ended with their launch\n", client_name((Client)client),
                  (unsigned long long)book.asked[client], (unsigned long long)book.answered[client], (unsigned long long)book.left[client]);
    assert_true(book.answered[client] > 100 / TEST_STEP);
    // A block waits for its accesses; what it fetched ahead, and what caches give back, it does not.
    bool may_be_left = client == CLIENT_INSTRUCTION || client == CLIENT_WRITE_BACK || client == CLIENT_CONSTANT;
    if (!may_be_left) assert_int_equal(book.left[client], 0);
  }
  assert_true(book.merged > 1000);
  assert_int_equal(book.worded, 0); // nobody has written a scheme word
  free(book.entries);
}

// ---- Verdicts --------------------------------------------------------------------------------------------

static Verdict stall_some(Hook *hook, HookMachine *machine, const MemoryEvent *event) {
  Book *book = hook->own;
  (void)event;
  return random_draw(1, machine->cycle, event->who->request) % 3 == 0 ? (book->stalled++, VERDICT_STALL) : VERDICT_PASS;
}

static Verdict hold_some(Hook *hook, HookMachine *machine, const MemoryEvent *event) {
  Book *book = hook->own;
  return random_draw(2, machine->cycle, event->who->request) % 4 != 0 ? (book->held++, VERDICT_HOLD) : VERDICT_PASS;
}

// Requests that were put off are told to observers once, when they go; results are the same, only later.
static void stalls_and_holds_only_take_time(void **state) {
  (void)state;
  static const char *const names[] = {"vecadd", "matmul", "histogram64", "bfs"};
  static const char *const machines[] = {"fermi-gtx480", "gt200-rise"};
  for (size_t i = 0; i < COUNT_OF(machines); i++) {
    Arena *arena = arena_new();
    Spec spec;
    Book book;
    book_open(&book);
    Hook slow = {
        .name = "slow", .kind = HOOK_PROTECTION, .own = &book, .request = stall_some, .arrival = hold_some, .next_cycle = UINT64_MAX};
    book.with = &slow;
    load_spec(&spec, arena, machines[i], NULL, NULL);
    for (size_t w = 0; w < COUNT_OF(names); w++) run_with(find(names[w]), &spec, &book, true);
    assert_true(book.stalled > 100 && book.held > 100);
    for (uint32_t client = 0; client < CLIENT_COUNT; client++) {
      assert_int_equal(book.asked[client], book.answered[client] + book.left[client]);
    }
    free(book.entries);
    arena_free(arena);
  }
}

static Verdict drop_writes(Hook *hook, HookMachine *machine, const MemoryEvent *event) {
  Book *book = hook->own;
  (void)machine;
  return event->write ? (book->dropped++, VERDICT_DROP) : VERDICT_PASS;
}

// What is dropped counts as answered: the launch ends as ever, and memory is as it was. Atomics still return what is there.
static void dropped_writes_leave_memory_alone(void **state) {
  (void)state;
  static const char *const machines[] = {"fermi-gtx480", "gt200-rise"};
  for (size_t i = 0; i < COUNT_OF(machines); i++) {
    Arena *arena = arena_new();
    Spec spec;
    load_spec(&spec, arena, machines[i], NULL, NULL);
    Book book;
    book_open(&book);
    Hook drop = {.name = "drop", .kind = HOOK_PROTECTION, .own = &book, .arrival = drop_writes, .next_cycle = UINT64_MAX};
    book.with = &drop;
    uint64_t once = run_with(find("vecadd"), &spec, &book, false);
    uint64_t stores = book.dropped;
    assert_int_equal(stores, book.asked[CLIENT_STORE]);
    assert_int_equal(run_with(find("vecadd"), &spec, &book, false), once);
    book.with = NULL;
    assert_true(run_with(find("vecadd"), &spec, &book, true) != once);
    book.with = &drop;
    run_with(find("hybridsort"), &spec, &book, false);
    assert_true(book.answered[CLIENT_ATOMIC] > 0 && book.asked[CLIENT_ATOMIC] == book.answered[CLIENT_ATOMIC]);
    free(book.entries);
    arena_free(arena);
  }
}

#ifndef REDOUBT_STRICT
static Verdict drop_request(Hook *hook, HookMachine *machine, const MemoryEvent *event) {
  (void)hook, (void)machine, (void)event;
  return VERDICT_DROP;
}

// A verdict that its event does not allow: the launch ends, and one line says who said what.
static void illegal_verdicts_end_the_launch(void **state) {
  (void)state;
  Arena *arena = arena_new();
  Spec spec;
  load_spec(&spec, arena, "fermi-gtx480", NULL, NULL);
  Diags diags = {0};
  Hook crooked = {.name = "crooked", .kind = HOOK_PROTECTION, .request = drop_request, .next_cycle = UINT64_MAX};
  HookChain chain = {0};
  assert_true(hook_chain_add(&chain, &crooked));
  Device *device = device_new(&(DeviceOptions){.spec = &spec, .hooks = &chain}, &diags);
  assert_non_null(device);
  WorkloadRun run = {0};
  assert_true(workload_start(&run, find("vecadd"), SIZE_TINY, device, &diags));
  assert_true(find("vecadd")->prepare(&run));
  assert_false(find("vecadd")->launch(&run));
  assert_int_equal(device_trap(device)->kind, TRAP_REFUSED);
  assert_non_null(strstr(device_error(device), "'crooked' answered DROP to the event 'request', which allows PASS, STALL, HALT"));
  workload_finish(&run);
  device_free(device);
  diags_free(&diags);
  arena_free(arena);
}
#endif

// ---- The scheme word -------------------------------------------------------------------------------------

enum { WORD_BITS = 16, MARKED = 1 << (WORD_BITS - 1) };

static Verdict mark_request(Hook *hook, HookMachine *machine, const MemoryEvent *event) {
  (void)machine;
  hook_word_set(hook, event, (uint32_t)(event->who->request % (MARKED - 1)) + 1);
  return VERDICT_PASS;
}

static Verdict mark_service(Hook *hook, HookMachine *machine, const MemoryEvent *event) {
  (void)machine;
  hook_word_set(hook, event, MARKED | (uint32_t)min_u64(event->waited, MARKED - 1));
  return VERDICT_PASS;
}

// Those who waited when DRAM served them get what was written then; others get their own, or what a fetch that they joined later was marked with.
static Verdict check_word(Hook *hook, HookMachine *machine, const MemoryEvent *event) {
  Book *book = hook->own;
  const Entry *entry = known(book, event->who);
  (void)machine;
  bool has_own = entry->word == *event->word, joined_late = entry->word < MARKED && *event->word >= MARKED;
  assert_true(has_own || joined_late);
  assert_int_not_equal(*event->word, 0);
  book->served += *event->word >= MARKED;
  return VERDICT_PASS;
}

static void words_come_back_with_every_reply(void **state) {
  (void)state;
  static const char *const machines[][3] = {{"fermi-gtx480", NULL}, {"gt200-rise", NULL}, {"turing-rtx2060", "l2.bytes", "32768"}};
  for (size_t i = 0; i < COUNT_OF(machines); i++) {
    Arena *arena = arena_new();
    Spec spec;
    load_spec(&spec, arena, machines[i][0], machines[i][1], machines[i][2]);
    Book book;
    book_open(&book);
    Hook marks = {.name = "marks", .kind = HOOK_PROTECTION, .own = &book, .word_bits = WORD_BITS, .next_cycle = UINT64_MAX};
    marks.request = marks.evict = mark_request;
    marks.service = mark_service;
    marks.response = check_word;
    book.with = &marks;
    run_with(find("matmul"), &spec, &book, true);
    run_with(find("bfs"), &spec, &book, true);
    assert_true(book.served > 100 && book.worded > 100);
    free(book.entries);
    arena_free(arena);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(requests_and_responses_pair),       cmocka_unit_test(stalls_and_holds_only_take_time),
      cmocka_unit_test(dropped_writes_leave_memory_alone), cmocka_unit_test(words_come_back_with_every_reply),
#ifndef REDOUBT_STRICT // there the program stops
      cmocka_unit_test(illegal_verdicts_end_the_launch),
#endif
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
