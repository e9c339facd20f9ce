// What the machines of the table say of themselves, and that nothing is attached to one that would never call it.
#include "machine/machine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static void machines_say_what_they_can(void **state) {
  (void)state;
  Spec spec;
  spec_default(&spec);
  spec.machine_model = MODEL_FUNCTIONAL;
  assert_true(machine_can(&spec, MACHINE_IS_WATCHED));
  assert_false(machine_can(&spec, MACHINE_HAS_TIME));
  assert_int_equal(machine_form(&spec), FORM_REDOUBT);
  spec.machine_model = MODEL_SIMT;
  assert_true(machine_can(&spec, MACHINE_HAS_TIME | MACHINE_TELLS_ACCESSES | MACHINE_TELLS_FREE | MACHINE_IS_FOLLOWED));
  assert_false(machine_can(&spec, MACHINE_HAS_TIME | MACHINE_IS_WATCHED)); // all of them, or no
  spec.scheduler_large_warp = 2;
  assert_false(machine_can(&spec, MACHINE_IS_FOLLOWED));
  spec.machine_model = MODEL_FLEXGRIP;
  assert_int_equal(machine_form(&spec), FORM_G80);
}

// What programs can name has a role on each machine that can be struck, and its shape is that of the role.
static void structures_have_roles(void **state) {
  (void)state;
  static const uint64_t models[] = {MODEL_SIMT, MODEL_FLEXGRIP};
  for (size_t i = 0; i < COUNT_OF(models); i++) {
    Diags diags = {0};
    Spec spec;
    spec_default(&spec);
    spec.machine_model = (uint32_t)models[i];
    Machine *machine = machine_new(&spec, NULL, &diags);
    assert_non_null(machine);
    const RegionTable *table = machine_regions(machine);
    uint16_t registers = region_with_role(table, REGION_ROLE_REGISTERS);
    assert_true(registers != REGION_NONE && registers == region_find(table, "rf"));
    assert_int_equal(table->items[registers].units, WARP_LANES);
    assert_int_equal(table->items[registers].flags >> REGION_ROLE_SHIFT, 0); // roles are no flags
    assert_int_equal(region_with_role(table, REGION_ROLE_SHARED), region_find(table, "shared"));
    assert_true(region_with_role(table, REGION_ROLE_INSTRUCTIONS) != REGION_NONE);
    assert_int_equal(region_shared_row(table), models[i] == MODEL_SIMT ? 128 : 1);
    uint16_t predicates = region_with_role(table, REGION_ROLE_PREDICATES);
    if (models[i] == MODEL_SIMT) assert_int_equal(table->items[predicates].bits, WARP_LANES);
    else assert_int_equal(predicates, REGION_NONE); // a row for each predicate there
    machine_free(machine);
    diags_free(&diags);
  }
}

static void machines_tell_their_accesses(void **state) {
  (void)state;
  Spec spec;
  spec_default(&spec);
  spec.machine_model = MODEL_SIMT;
  spec.sm_schedulers = 2;
  spec.ldst_coalescer = 1;
  spec.shared_banks = 32;
  MachineAccesses accesses = machine_accesses(&spec);
  assert_int_equal(accesses.line_words, 32);
  assert_int_equal(accesses.schedulers, 2);
  assert_true(accesses.joins_lanes);
  spec.ldst_coalescer = 0; // by half-warp
  assert_false(machine_accesses(&spec).joins_lanes);
  // Slower parts make an access longer: each alone.
  const struct {
    const char *key, *value;
  } slower[] = {{"l2.latency", "1000"}, {"dram.latency", "1000"},   {"dram.queue", "64"},         {"dram.rc", "400"},
                {"dram.ras", "400"},    {"network.latency", "999"}, {"clock.memory_khz", "1000"}, {"latency.cluster", "9999"}};
  for (size_t i = 0; i < COUNT_OF(slower); i++) {
    Spec slow = spec;
    Diags diags = {0};
    assert_true(spec_set(&slow, slower[i].key, slower[i].value, NULL, 0, &diags));
    if (machine_accesses(&slow).longest <= accesses.longest)
      fail_msg("%s=%s: %u cycles", slower[i].key, slower[i].value, (unsigned)accesses.longest);
  }
  uint64_t address[WARP_LANES] = {0, 128};
  assert_int_equal(accesses.shared_passes(&spec, address, 3, 4), 2); // two words of one bank
  address[1] = 4;
  assert_int_equal(accesses.shared_passes(&spec, address, 3, 4), 1);
}

static void hooks_need_time(void **state) {
  (void)state;
  Hook hook = {.name = "observer", .kind = HOOK_OBSERVER, .next_cycle = UINT64_MAX};
  HookChain chain = {.hooks = {&hook}, .count = 1};
  Diags diags = {0};
  Spec spec;
  spec_default(&spec);
  spec.machine = "functional";
  spec.machine_model = MODEL_FUNCTIONAL;
  assert_null(machine_new(&spec, &chain, &diags));
  assert_string_equal(diags.items[0].text, "machine 'functional' has no time: nothing can be attached to it");
  Machine *machine = machine_new(&spec, NULL, &diags);
  assert_non_null(machine);
  machine_free(machine);
  diags_free(&diags);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(machines_say_what_they_can), cmocka_unit_test(hooks_need_time),
                                     cmocka_unit_test(structures_have_roles), cmocka_unit_test(machines_tell_their_accesses)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
