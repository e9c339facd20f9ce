// Unit tests of src/config: values, ranges, hints, machine files.
#include "config/config.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

typedef struct SetCase {
  const char *key, *value;
  const char *error; // NULL: accepted
} SetCase;

static const SetCase set_cases[] = {
    {"memory.bytes", "1048576", NULL},
    {"memory.bytes", "1M", NULL},
    {"memory.bytes", "2G", NULL},
    {"memory.bytes", "0x100000", NULL},
    {"memory.bytes", "1048575", "memory.bytes = 1048575: must be 1048576 to 274877906944 bytes"},
    {"memory.bytes", "1T", "memory.bytes = 1T: must be 1048576 to 274877906944 bytes"},
    {"memory.bytes", "99999999T", "memory.bytes = 99999999T: not a whole number"},
    {"memory.bytes", "-1", "memory.bytes = -1: not a whole number"},
    {"memory.bytes", "", "memory.bytes = : not a whole number"},
    {"memory.bytes", "12x", "memory.bytes = 12x: not a whole number"},
    {"memory.bytes", "99999999999999999999", "memory.bytes = 99999999999999999999: not a whole number"},
    {"limit.instructions", "18446744073709551615", NULL},
    {"machine.model", "functional", NULL},
    {"machine.model", "func", "machine.model = func: must be one of functional"},
    {"memory.byte", "1", "unknown parameter 'memory.byte'; did you mean 'memory.bytes'?"},
    {"zzzzzzzzzzzzzz", "1", "unknown parameter 'zzzzzzzzzzzzzz'; 'redoubt list params' shows all"},
};

static void values_are_checked(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(set_cases); i++) {
    const SetCase *test = &set_cases[i];
    Spec spec;
    Diags diags = {0};
    spec_default(&spec);
    bool ok = spec_set(&spec, test->key, test->value, NULL, 0, &diags);
    assert_int_equal(ok, test->error == NULL);
    if (test->error != NULL) assert_string_equal(diags.items[0].text, test->error);
    diags_free(&diags);
  }
}

static void values_arrive(void **state) {
  (void)state;
  Spec spec;
  Diags diags = {0};
  spec_default(&spec);
  for (uint32_t i = 0; i < param_count; i++) assert_int_equal(spec_get(&spec, i), param_info[i].initial);
  assert_true(spec_set(&spec, "sm.count", "7", NULL, 0, &diags));
  assert_int_equal(spec.sm_count, 7);
  assert_int_equal(spec.sm_threads, 1024);
}

static void builtin_machines_load(void **state) {
  (void)state;
  Arena *arena = arena_new();
  assert_true(builtin_machine_count > 0);
  for (uint32_t i = 0; i < builtin_machine_count; i++) {
    Spec spec;
    Diags diags = {0};
    assert_true(spec_load(&spec, arena, builtin_machines[i].name, &diags));
    assert_string_equal(spec.machine, builtin_machines[i].name);
  }
  Spec spec;
  Diags diags = {0};
  assert_false(spec_load(&spec, arena, "functionl", &diags));
  assert_string_equal(diags.items[0].text, "no machine 'functionl'; did you mean 'functional'?");
  diags_free(&diags);
  arena_free(arena);
}

static void files_report_every_wrong_line(void **state) {
  (void)state;
  char path[] = "test_config_XXXXXX.ini";
  int descriptor = mkstemps(path, 4);
  assert_true(descriptor >= 0);
  static const char text[] = "# a machine\n[sm]\ncount = 4 # four\nblocks = 0\n[block]\nthread = 5\nnonsense\n";
  assert_int_equal(write(descriptor, text, sizeof text - 1), sizeof text - 1);
  close(descriptor);
  Arena *arena = arena_new();
  Spec spec;
  Diags diags = {0};
  assert_false(spec_load(&spec, arena, path, &diags));
  unlink(path);
  assert_int_equal(spec.sm_count, 4);
  assert_int_equal(diags.count, 3);
  assert_int_equal(diags.items[0].line, 4);
  assert_string_equal(diags.items[0].text, "sm.blocks = 0: must be 1 to 64 blocks");
  assert_int_equal(diags.items[1].line, 6);
  assert_string_equal(diags.items[1].text, "unknown parameter 'block.thread'; did you mean 'block.threads'?");
  assert_int_equal(diags.items[2].line, 7);
  diags_free(&diags);
  arena_free(arena);
}

static void relations_are_checked(void **state) {
  (void)state;
  Spec spec;
  Diags diags = {0};
  spec_default(&spec);
  assert_true(spec_check(&spec, NULL, &diags));
  spec.memory_granule = 3;
  assert_false(spec_check(&spec, NULL, &diags));
  diags_free(&diags);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(values_are_checked),    cmocka_unit_test(values_arrive),
      cmocka_unit_test(builtin_machines_load), cmocka_unit_test(files_report_every_wrong_line),
      cmocka_unit_test(relations_are_checked),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
