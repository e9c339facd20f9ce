// The self-check finds schemes that are wrong about themselves: schemes with a flag or a promise planted wrong, each in campaigns with other seeds. Of 20 such
// campaigns at least 19 must end with the fault that differs. Without a plant none may. tests/proof/verify.sh runs all 20 of each: test_verify CAMPAIGNS.
#include "campaign/campaign.h"
#include "protect/protect.h"
#include "settle/settle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

enum { WHOLE = 20, SAMPLE = TEST_STEP > 1 ? 1 : 2, LEAST = 19 };
static uint64_t campaigns = SAMPLE;

// A scheme made of parity, which it asks whether a register is right. `errors` outlives launches, in the block or (wrongly) outside it.
typedef struct Toy {
  Hook hook, parity;
  uint16_t errors; // region
  uint32_t own_errors;
  RegionLife life;
} Toy;

typedef struct Plant {
  const char *what; // is wrong
  const char *says; // the campaign, of where to look; NULL: nothing is wrong
  const char *workload, *model;
  uint64_t faults, verify;
  void (*plant)(Toy *toy);
} Plant;

// ---- Schemes -----------------------------------------------------------------------------------------

static Toy *toy_of(Hook *hook) { return (Toy *)(void *)hook; }
static Verdict asked(Toy *toy, HookMachine *machine, const CellEvent *event) { return toy->parity.read(&toy->parity, machine, event); }

static Verdict on_write(Hook *hook, HookMachine *machine, const CellEvent *event) {
  return toy_of(hook)->parity.write(&toy_of(hook)->parity, machine, event);
}

static Verdict on_read(Hook *hook, HookMachine *machine, const CellEvent *event) { return asked(toy_of(hook), machine, event); }

static bool attach(Hook *hook, HookLayout *layout, Diags *diags) {
  Toy *toy = toy_of(hook);
  const Region errors = {.name = "toy.errors",
                         .title = "errors",
                         .unit = "entry",
                         .meaning = "errors seen",
                         .dims = {{"gpu", 1}},
                         .dim_count = 1,
                         .units = 1,
                         .bits = 32,
                         .unit_bytes = 4};
  if (!toy->parity.attach(&toy->parity, layout, diags)) return false;
  if (toy->life != LIFE_OWN) toy->errors = hook_add_region(layout, &errors, toy->life, diags);
  return toy->errors != REGION_NONE;
}

// Parity whose flag says that it lets values pass.
static void passes_values(Toy *toy) { toy->hook.passes_values = true; }

// One that looks at addresses alone: one far from any memory ends the run as detected, before the access does.
static Verdict on_result(Hook *hook, HookMachine *machine, ResultEvent *event) {
  (void)hook;
  bool is_address = event->instr != NULL && op_info[event->instr->op].unit == UNIT_LDST && event->row_count == 2;
  for (uint32_t slot = 0; slot < WARP_LANES && is_address; slot++) {
    bool is_far = (event->mask >> slot & 1) != 0 && event->rows[WARP_LANES + slot] >> 16 != 0;
    if (!is_far) continue;
    ++*machine->detected;
    return VERDICT_HALT;
  }
  return VERDICT_PASS;
}
static void passes_addresses(Toy *toy) {
  toy->hook.read = NULL;
  toy->hook.write = NULL;
  toy->hook.result = on_result;
  toy->hook.passes_values = true;
}

static uint32_t *errors_at(const Toy *toy, const HookMachine *machine) {
  return (uint32_t *)(void *)(machine->block + machine->regions->items[toy->errors].base);
}

// Errors are only noted; the next launch is refused after one. It says that what it notes are check bits.
static Verdict note_error(Hook *hook, HookMachine *machine, const CellEvent *event) {
  Toy *toy = toy_of(hook);
  if (asked(toy, machine, event) == VERDICT_HALT) ++*errors_at(toy, machine);
  return VERDICT_PASS;
}
static Verdict refuse_launch(Hook *hook, HookMachine *machine, const LaunchEvent *event) {
  (void)event;
  return *errors_at(toy_of(hook), machine) > 0 ? VERDICT_HALT : VERDICT_PASS;
}
static void lives(Toy *toy, RegionLife life) {
  toy->hook.read = note_error;
  toy->hook.launch = refuse_launch;
  toy->life = life;
}
static void lives_as_cells(Toy *toy) { lives(toy, LIFE_CELLS); }
static void lives_as_machine(Toy *toy) { lives(toy, LIFE_MACHINE); }

// Three errors are forgiven, but they are counted in memory of the scheme's own.
static Verdict count_outside(Hook *hook, HookMachine *machine, const CellEvent *event) {
  Toy *toy = toy_of(hook);
  Verdict verdict = asked(toy, machine, event);
  return verdict == VERDICT_HALT && ++toy->own_errors <= 3 ? VERDICT_PASS : verdict;
}
static void counts_outside(Toy *toy) { toy->hook.read = count_outside; }

// It looks through all registers by itself, now and then: nobody is told of that.
static void scrub(Hook *hook, HookMachine *machine) {
  Toy *toy = toy_of(hook);
  uint16_t rf = region_with_role(machine->regions, REGION_ROLE_REGISTERS);
  const Region *region = &machine->regions->items[rf];
  Verdict verdict = VERDICT_PASS;
  for (uint64_t row = 0; row < region->rows && verdict == VERDICT_PASS; row++) {
    const CellEvent event = {
        .region = rf, .units = UINT32_MAX, .row = row, .data = machine->block + region->base + row * region->row_bytes};
    verdict = asked(toy, machine, &event);
  }
  if (verdict == VERDICT_HALT) ++*errors_at(toy, machine);
  hook_wake(hook, machine, machine->cycle + 500);
}
static Verdict halt_on_error(Hook *hook, HookMachine *machine, const IssueEvent *event) {
  (void)event;
  return *errors_at(toy_of(hook), machine) > 0 ? VERDICT_HALT : VERDICT_PASS;
}
static void reads_untold(Toy *toy) {
  toy->hook.read = NULL;
  toy->hook.issue = halt_on_error;
  toy->hook.cycle = scrub;
  toy->hook.next_cycle = 500;
  toy->life = LIFE_MACHINE;
}

static void honest(Toy *toy) { (void)toy; }

// ---- Campaigns ---------------------------------------------------------------------------------------

static CampaignEnd run(const Plant *of, uint64_t seed, Text *said) {
  Arena *arena = arena_new();
  Diags diags = {0};
  Spec spec;
  char path[] = P_tmpdir "/redoubt-verify-XXXXXX";
  close(mkstemp(path));
  unlink(path);
  bool good = spec_load(&spec, arena, "fermi-gtx480", &diags) && spec_set(&spec, "sm.count", "2", NULL, 0, &diags) &&
              spec_set(&spec, "sm.registers", "8192", NULL, 0, &diags);
  assert_true(good);
  Toy toy = {.parity = *protect_new("parity", arena, &diags)};
  toy.hook = (Hook){.name = "toy", .kind = HOOK_PROTECTION, .signs = "", .attach = attach, .read = on_read, .write = on_write};
  toy.hook.next_cycle = UINT64_MAX;
  of->plant(&toy);
  HookChain chain = {.hooks = {&toy.hook}, .count = 1};
  CampaignOptions options = campaign_defaults();
  options.settlers = all_settlers;
  options.model = of->model;
  options.protection = "toy";
  options.protections = &chain;
  options.faults = of->faults;
  options.seed = seed;
  options.jobs = 2;
  options.verify = of->verify;
  options.journal = path;
  WorkloadChoice choice = {.workload = workload_find(of->workload), .size = SIZE_TINY, .seed = 1};
  CampaignEnd end = campaign_run(target_workload(arena, &choice, &spec, &diags), &options, &diags);
  for (uint32_t i = 0; i < diags.count; i++) diag_format(&diags.items[i], said);
  if (end == CAMPAIGN_DIFFERS) { // nobody goes on with it
    Diags again = {0};
    assert_int_equal(campaign_run(target_workload(arena, &choice, &spec, &again), &options, &again), CAMPAIGN_FAILED);
    assert_non_null(strstr(again.items[0].text, "its self-check has failed"));
    diags_free(&again);
  }
  unlink(path);
  diags_free(&diags);
  arena_free(arena);
  return end;
}

static const Plant plants[] = {
    {"nothing: parity", NULL, "matmul", "flip", 300, 10, honest},
    {"nothing: lasting state", NULL, "scan", "flip", 300, 10, lives_as_machine},
    {"passes_values: parity ends the run", "Hook.passes_values", "matmul", "flip", 300, VERIFY_WORDS, passes_values},
    {"passes_values: parity, bits in pairs and threes", "Hook.passes_values", "scan", "adjacent(3)", 300, VERIFY_WORDS, passes_values},
    {"passes_values: far addresses end the run", "Hook.passes_values", "hotspot", "flip", 1000, VERIFY_WORDS, passes_addresses},
    {"LIFE_CELLS: it tells more than check bits", "LIFE_CELLS", "scan", "flip", 600, VERIFY_WORDS, lives_as_cells},
    {"state outside the block", "state that it keeps outside", "matmul", "flip", 600, 50, counts_outside},
    {"cells that are read untold", "without being told", "matmul", "flip", 300, 50, reads_untold},
};

static void test_plants(void **state) {
  (void)state;
  uint32_t total = 0, all_found = 0;
  for (size_t i = 0; i < COUNT_OF(plants); i++) {
    uint32_t found = 0;
    for (uint64_t seed = 1; seed <= campaigns; seed++) {
      Text said = {0};
      CampaignEnd end = run(&plants[i], seed, &said);
      if (plants[i].says == NULL && end != CAMPAIGN_COMPLETE) fail_msg("%s, seed %u: %s", plants[i].what, (unsigned)seed, said.at);
      if (plants[i].says != NULL && end != CAMPAIGN_COMPLETE && end != CAMPAIGN_DIFFERS) fail_msg("%s: %s", plants[i].what, said.at);
      if (end == CAMPAIGN_DIFFERS && strstr(said.at, plants[i].says) == NULL) fail_msg("%s: %s", plants[i].what, said.at);
      found += end == CAMPAIGN_DIFFERS;
      text_free(&said);
    }
    print_message("%s: found in %u of %u\n", plants[i].what, found, (unsigned)campaigns);
    if (plants[i].says == NULL) continue;
    if (found * WHOLE < campaigns * LEAST) fail_msg("%s: found in %u of %u campaigns", plants[i].what, found, (unsigned)campaigns);
    total += (uint32_t)campaigns;
    all_found += found;
  }
  print_message("RESULT found %u of %u\n", all_found, total);
}

int main(int argc, char **argv) {
  if (argc > 1) campaigns = strtoul(argv[1], NULL, 10);
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_plants)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
