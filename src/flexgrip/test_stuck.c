// Permanent faults of the FlexGripPlus machine, by the fault hooks that every machine takes.
#include "fault/fault.h"
#include "machine/g80/test_machine.h"

enum { LIMIT_CYCLES = 60000 };
static const Vecadd adding = {10, 64, false}; // two passes on one SM

static Site site_of(const Machine *machine, const char *text) {
  Diags diags = {0};
  Site site;
  assert_true(site_parse(machine_regions(machine), text, &site, &diags));
  diags_free(&diags);
  return site;
}

static void stuck_bits_stay(void **state) {
  (void)state;
  static const struct {
    const char *site;
    bool value;
    G80Outcome outcome;
    bool right;
  } cases[] = {
      {"bs_smp_en_out[bit=0]", false, G80_HANG, false},       // the SM is never started
      {"bs_state[bit=2]", false, G80_HANG, false},            // SCHEDULE_WAIT is out of reach: back to IDLE
      {"bs_kernel_done[bit=0]", false, G80_HANG, false},      // nobody learns that it is done
      {"bs_kernel_done[bit=0]", true, G80_DONE, false},       // at once
      {"bs_num_blocks_out[bit=3]", false, G80_HANG, false},   // 8 blocks become none
      {"bs_grid_dimension[bit=3]", false, G80_DONE, false},   // 10 blocks become 2
      {"bs_blocks_remaining[bit=3]", false, G80_HANG, false}, // 2 blocks, then 0 instead of 8: back to IDLE
      {"bs_rdy[bit=0]", true, G80_DONE, true},
      {"ctl_state[bit=4]", true, G80_HANG, false},
      {"wp_state[warp=3,bit=0]", true, G80_HANG, false}, // never READY
      {"rf[reg=0,lane=1,bit=9]", true, G80_DONE, false},
  };
  Spec spec;
  spec_default(&spec);
  spec.g80_cycle_limit = LIMIT_CYCLES;
  Machine *origin = make_vecadd(&spec, &adding);
  for (uint32_t i = 0; i < COUNT_OF(cases); i++) {
    Arena *arena = arena_new();
    Fault fault = {.model = cases[i].value ? FAULT_STUCK1 : FAULT_STUCK0, .warp = FAULT_NO_WARP, .to = UINT64_MAX};
    fault.site = site_of(origin, cases[i].site);
    HookChain chain = {.hooks = {fault_hook(arena, &fault)}, .count = 1};
    Machine *machine = machine_clone(origin, NULL, &chain);
    G80Result result;
    assert_true(machine_run(machine, G80_NEVER));
    g80_result(machine, &result);
    assert_int_equal(result.outcome, cases[i].outcome);
    assert_int_equal(vecadd_right(&adding, machine), cases[i].right);
    machine_free(machine);
    arena_free(arena);
  }
  machine_free(origin);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(stuck_bits_stay)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
