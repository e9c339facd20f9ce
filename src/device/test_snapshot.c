// A machine saved in the middle of a launch and loaded goes on as the one that was never stopped.
#include "device/workload.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

enum { SAVED_AT = 900, ASTRAY = 700, AHEAD = 1300 };

typedef struct Keeper {
  Hook hook;
  Device **device;
  char path[64];
  Machine *copy;
  Memory *memory;
  uint64_t saved_hash;
  uint32_t compared;
} Keeper;

// At the first stop: save, let a clone run astray, load it back. At the second: the clone has to be where the machine is.
static void on_cycle(Hook *hook, HookMachine *machine) {
  Keeper *keeper = hook->own;
  Machine *original = device_machine(*keeper->device);
  Diags diags = {0};
  if (keeper->copy == NULL) {
    keeper->saved_hash = machine_hash(original);
    assert_true(machine_save(original, keeper->path, &diags));
    keeper->memory = memory_clone(device_memory(*keeper->device), &diags);
    keeper->copy = machine_clone(original, keeper->memory, NULL);
    machine_run(keeper->copy, machine->cycle + ASTRAY);
    assert_int_not_equal(machine_hash(keeper->copy), keeper->saved_hash);
    assert_true(machine_load(keeper->copy, keeper->path, &diags));
    assert_int_equal(machine_hash(keeper->copy), keeper->saved_hash);
    assert_int_equal(machine_now(keeper->copy), machine->cycle);
    hook->next_cycle = machine->cycle + AHEAD;
    return;
  }
  machine_run(keeper->copy, machine->cycle);
  Text text = {0};
  if (machine_diff(original, keeper->copy, &text)) fail_msg("%s", text.at);
  keeper->compared++;
}

static void save_load_continue(const char *name, const char *machine) {
  Arena *arena = arena_new();
  Diags diags = {0};
  Spec spec;
  assert_true(spec_load(&spec, arena, machine, &diags));
  bool is_g80 = strncmp(name, "g80.", 4) == 0;
  assert_true(spec_set(&spec, is_g80 ? "g80.sms" : "sm.count", "2", NULL, 0, &diags));
  Device *device = NULL;
  Keeper keeper = {.device = &device, .path = P_tmpdir "/redoubt-state-XXXXXX"};
  close(mkstemp(keeper.path));
  keeper.hook = (Hook){.name = "keeper", .kind = HOOK_OBSERVER, .own = &keeper, .cycle = on_cycle, .next_cycle = SAVED_AT};
  HookChain chain = {0};
  hook_chain_add(&chain, &keeper.hook);
  device = device_new(&(DeviceOptions){.spec = &spec, .hooks = &chain, .address_bits = is_g80 ? 32 : 64}, &diags);
  const Workload *workload = workload_find(name);
  WorkloadRun run = {0};
  assert_true(workload_start(&run, workload, SIZE_TINY, device, &diags));
  assert_true(workload->prepare(&run));
  assert_true(workload->launch(&run));
  assert_int_equal(keeper.compared, 1);
  machine_free(keeper.copy);
  memory_free(keeper.memory);
  unlink(keeper.path);
  workload_finish(&run);
  device_free(device);
  diags_free(&diags);
  arena_free(arena);
}

static void saved_machines_go_on(void **state) {
  (void)state;
  static const char *const machines[] = {"fermi-gtx480", "gt200-rise"}, *const subjects[] = {"matmul", "hybridsort"};
  static const char *const others[] = {"g80.gray", "g80.scalarprod", "g80.transpose"}; // of the FlexGripPlus machine
  for (size_t k = 0; k < COUNT_OF(machines); k++) {
    for (size_t i = 0; i < COUNT_OF(subjects); i++) save_load_continue(subjects[i], machines[k]);
  }
  for (size_t i = 0; i < COUNT_OF(others); i++) save_load_continue(others[i], "flexgrip-thesis");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(saved_machines_go_on)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
