// Actions are state of the machine: clones carry what is queued and half done; free places do not matter; a copied block has its local memory.
#include "device/test_actions.h"

static const char *const machines[] = {"fermi-gtx480", "turing-rtx2060", "tesla-hints", "gt200-rise"};
static const char *const subjects[] = {"matmul", "convolution", "hotspot", "scalarprod"};

// ---- A scheme without state: what it asks for follows from the cycle ---------------------------------------

static uint32_t draw_at(const HookMachine *machine, uint32_t number, uint32_t bound) {
  return (uint32_t)random_below(random_draw(17, machine->cycle, number), bound);
}

static void act_by_cycle(Hook *hook, HookMachine *machine) {
  for (uint32_t i = 0; i < 3; i++) {
    const ActionKind kinds[] = {ACTION_MIRROR, ACTION_PREFETCH, ACTION_ABANDON, ACTION_COPY, ACTION_PREFETCH};
    Action action = {.kind = kinds[draw_at(machine, 8 * i, COUNT_OF(kinds))],
                     .sm = draw_at(machine, 8 * i + 1, TOY_SMS),
                     .block_slot = draw_at(machine, 8 * i + 2, 3),
                     .block = draw_at(machine, 8 * i + 3, 4),
                     .cache = (ActionCache)draw_at(machine, 8 * i + 4, PREFETCH_CACHES),
                     .from_sm = draw_at(machine, 8 * i + 5, TOY_SMS),
                     .from_block_slot = draw_at(machine, 8 * i + 6, 3),
                     .cycles = 20};
    uint32_t place = draw_at(machine, 8 * i + 7, 4096);
    action.address = action.cache == PREFETCH_INSTRUCTION ? action_code_address(place / 64) : GLOBAL_BASE64 + place * 32;
    if (action.kind != ACTION_ABANDON || machine->cycle % 7 == 0) machine->act(machine, &action);
  }
  hook_wake(hook, machine, machine->cycle + 11 + draw_at(machine, 99, 90));
}

static Verdict send_again(Hook *hook, HookMachine *machine, const BlockEvent *event) {
  Action action = {.kind = ACTION_REDISPATCH, .sm = event->who->sm, .block = event->who->block};
  (void)hook;
  if (event->stopped && !event->mirror) machine->act(machine, &action);
  return VERDICT_PASS;
}

static Verdict count_done(Hook *hook, HookMachine *machine, const ActionEvent *event) {
  (void)machine;
  *(uint64_t *)hook->own += event->done;
  return VERDICT_PASS;
}

static Hook scheme(uint64_t *done) {
  Hook hook = {.name = "toy", .kind = HOOK_PROTECTION, .own = done, .cycle = act_by_cycle, .next_cycle = 60};
  hook.actions = ((1u << ACTION_KINDS) - 1) & ~ACTION_BIT(ACTION_NONE);
  hook.block = send_again;
  hook.action = count_done;
  return hook;
}

// ---- Clones --------------------------------------------------------------------------------------------

enum { AHEAD = 331 };
typedef struct Cloner {
  Device *device;
  Machine *clone;
  Memory *memory;
  uint64_t until, hash, compared;
} Cloner;

static void drop_clone(Cloner *at) {
  machine_free(at->clone);
  memory_free(at->memory);
  at->clone = NULL;
  at->memory = NULL;
}

static void clone_ahead(Hook *hook, HookMachine *machine) {
  Cloner *at = hook->own;
  Machine *original = device_machine(at->device);
  if (at->clone != NULL && machine->cycle == at->until && machine_now(at->clone) == machine->cycle) {
    Text difference = {0};
    if (machine_diff(original, at->clone, &difference)) fail_msg("cycle %lu: %s", machine->cycle, difference.at);
    text_free(&difference);
    at->compared++;
  }
  if (at->clone != NULL) drop_clone(at);
  at->memory = memory_clone(device_memory(at->device), NULL);
  at->clone = machine_clone(original, at->memory, NULL);
  assert_int_equal(machine_hash(at->clone), machine_hash(original));
  at->until = machine->cycle + AHEAD;
  machine_run(at->clone, at->until);
  hook_wake(hook, machine, at->until);
}

static void clones_carry_actions(void **state) {
  (void)state;
  Arena *arena = arena_new();
  for (uint32_t i = 0; i < COUNT_OF(subjects); i++) {
    Spec spec;
    uint64_t done = 0, done_too = 0;
    toy_spec(&spec, arena, machines[i]);
    Cloner cloner = {0};
    Hook acts = scheme(&done), acts_too = scheme(&done_too);
    Hook looks = {.name = "cloner", .kind = HOOK_FAULT, .own = &cloner, .cycle = clone_ahead, .next_cycle = 100, .only_looks = true};
    const Workload *workload = workload_find(subjects[i]);
    ToyResult plain = toy_run(workload, &spec, &acts, NULL, NULL), looked = toy_run(workload, &spec, &acts_too, &looks, &cloner.device);
    assert_int_equal(plain.trap, TRAP_NONE);
    assert_int_equal(looked.output_hash, plain.output_hash);
    assert_int_equal(looked.cycles, plain.cycles);
    assert_true(cloner.compared > 3 && done > 10);
    if (cloner.clone != NULL) drop_clone(&cloner);
  }
  arena_free(arena);
}

// ---- Free places -----------------------------------------------------------------------------------------

typedef struct Striker {
  uint64_t seed, struck;
} Striker;

static void strike_what_is_free(Hook *hook, HookMachine *machine) {
  Striker *striker = hook->own;
  const RegionTable *regions = machine->regions;
  for (uint32_t i = 0; i < 600; i++) {
    uint32_t chosen = (uint32_t)random_below(random_draw(striker->seed, machine->cycle, 2 * i), regions->count);
    const Region *region = &regions->items[chosen];
    if (region_bits(region) == 0 || !region_is_on_chip(region)) continue;
    Site site =
        region_site(regions, (uint16_t)chosen, random_below(random_draw(striker->seed, machine->cycle, 2 * i + 1), region_bits(region)));
    if (!machine->is_free(machine, &site)) continue;
    machine->block[site_byte(region, &site)] ^= site_mask(&site);
    striker->struck += strncmp(region->name, "action.", 7) == 0 || strncmp(region->name, "owed.", 5) == 0;
  }
  hook_wake(hook, machine, machine->cycle + 23);
}

static void what_is_free_does_not_matter(void **state) {
  (void)state;
  Arena *arena = arena_new();
  for (uint32_t i = 0; i < COUNT_OF(subjects); i++) {
    Spec spec;
    uint64_t done = 0, done_too = 0;
    toy_spec(&spec, arena, machines[i]);
    Striker striker = {.seed = i};
    Hook acts = scheme(&done), acts_too = scheme(&done_too);
    Hook fault = {.name = "striker", .kind = HOOK_FAULT, .own = &striker, .cycle = strike_what_is_free, .next_cycle = 50};
    const Workload *workload = workload_find(subjects[i]);
    ToyResult plain = toy_run(workload, &spec, &acts, NULL, NULL), struck = toy_run(workload, &spec, &acts_too, &fault, NULL);
    assert_int_equal(struck.output_hash, plain.output_hash);
    assert_int_equal(struck.cycles, plain.cycles);
    assert_int_equal(done_too, done);
    assert_true(striker.struck > 100);
  }
  arena_free(arena);
}

// ---- Local memory of copies --------------------------------------------------------------------------------

// Each thread fills a local array and a word of shared memory with what only its block has, and checks them again and again.
static const char keeps[] =
    ".version 6.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry kernel(.param .u64 out) {\n"
    ".local .align 4 .b8 array[64];\n.shared .align 4 .b8 words[256];\n"
    ".reg .pred %p<9>;\n.reg .b32 %r<20>;\n.reg .b64 %rd<9>;\n"
    "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nmul.lo.u32 %r3, %r2, 1000;\nadd.u32 %r3, %r3, %r1;\n"
    "mov.u64 %rd1, array;\nmov.u32 %r4, 0;\n"
    "mov.u32 %r10, words;\nshl.b32 %r11, %r1, 2;\nadd.u32 %r10, %r10, %r11;\nst.shared.u32 [%r10], %r3;\n"
    "fill:\nand.b32 %r5, %r4, 15;\nmul.wide.u32 %rd2, %r5, 4;\nadd.u64 %rd2, %rd1, %rd2;\nadd.u32 %r6, %r3, %r4;\n"
    "st.local.u32 [%rd2], %r6;\nadd.u32 %r4, %r4, 1;\nsetp.lt.u32 %p1, %r4, 16;\n@%p1 bra fill;\n"
    "mov.u32 %r4, 0;\n"
    "look:\nand.b32 %r5, %r4, 15;\nmul.wide.u32 %rd2, %r5, 4;\nadd.u64 %rd2, %rd1, %rd2;\n"
    "ld.local.u32 %r7, [%rd2];\nadd.u32 %r6, %r3, %r4;\nsetp.ne.u32 %p2, %r7, %r6;\n@%p2 trap;\n"
    "add.u32 %r7, %r7, 16;\nst.local.u32 [%rd2], %r7;\nbar.sync 0;\n"
    "ld.shared.u32 %r8, [%r10];\nsetp.ne.u32 %p3, %r8, %r3;\n@%p3 trap;\n"
    "add.u32 %r4, %r4, 1;\nsetp.lt.u32 %p1, %r4, 200;\n@%p1 bra look;\n"
    "ld.param.u64 %rd3, [out];\nmad.lo.u32 %r9, %r2, 64, %r1;\nmul.wide.u32 %rd4, %r9, 4;\nadd.u64 %rd3, %rd3, %rd4;\n"
    "st.global.u32 [%rd3], %r7;\nret;\n}\n";
enum { THREADS = 64, BLOCKS = 8 };

// Blocks run on even SMs, mirrors of the block before them on the odd ones.
static Verdict mirror_another(Hook *hook, HookMachine *machine, const BlockEvent *event) {
  Toy *toy = hook->own;
  bool starts = !event->done && !event->stopped;
  if (starts && !event->mirror && event->who->sm % 2 == 1) return VERDICT_STALL;
  toy_note_block(toy, event);
  Action action = {.kind = ACTION_MIRROR, .sm = event->who->sm + 1, .block = (event->who->block + BLOCKS - 1) % BLOCKS};
  if (starts && !event->mirror) machine->act(machine, &action);
  return VERDICT_PASS;
}

static bool copy_each(Toy *toy, HookMachine *machine) {
  for (uint32_t i = 0; i < TOY_SMS * 2; i++) {
    uint32_t sm = i / 2, block_slot = i % 2, from = toy_draw(toy, TOY_SMS) & ~1u;
    if (toy->mirror[sm][block_slot] == 0 || toy->resident[from][block_slot] == 0) continue;
    Action action = {.kind = ACTION_COPY, .sm = sm, .block_slot = block_slot, .from_sm = from, .from_block_slot = block_slot};
    machine->act(machine, &action);
  }
  return true;
}

static void check_kept(const Spec *spec, uint64_t *copied) {
  Toy toy = {.seed = 5, .every = 700, .act = copy_each};
  toy_open(&toy, ACTION_BIT(ACTION_MIRROR) | ACTION_BIT(ACTION_COPY));
  toy.hook.block = mirror_another;
  ToyProgram program;
  toy_program_open(&program, spec, &toy.hook, keeps, BLOCKS * THREADS * 4);
  const void *arguments[] = {&program.out};
  if (!toy_program_launch(&program, BLOCKS, THREADS, arguments, 1)) fail_msg("%s: %s", spec->machine, device_error(program.device));
  uint32_t got[BLOCKS * THREADS];
  assert_true(device_read(program.device, got, program.out, sizeof got));
  for (uint32_t i = 0; i < BLOCKS * THREADS; i++) assert_int_equal(got[i], i / THREADS * 1000 + i % THREADS + 199 + 16);
  assert_int_equal(toy.traps, 0);
  *copied += toy.done[ACTION_COPY];
  device_free(program.device);
}

static void copies_have_their_local_memory(void **state) {
  (void)state;
  Arena *arena = arena_new();
  for (uint32_t i = 0; i < COUNT_OF(machines); i++) {
    Spec spec;
    uint64_t copied = 0;
    toy_spec(&spec, arena, machines[i]);
    check_kept(&spec, &copied);
    print_message("%s: %lu copies\n", machines[i], copied);
    assert_true(copied > 10);
  }
  arena_free(arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(clones_carry_actions),
      cmocka_unit_test(what_is_free_does_not_matter),
      cmocka_unit_test(copies_have_their_local_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
