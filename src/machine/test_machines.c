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
  const struct CMUnitTest tests[] = {cmocka_unit_test(machines_say_what_they_can), cmocka_unit_test(hooks_need_time)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
