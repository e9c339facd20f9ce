// How many registers a thread owns: by our compiler, by the estimate, by what was given; and what follows for the SM.
#include "device/device_internal.h"

#include <setjmp.h>
#include <stdlib.h>
#include <cmocka.h>

static Spec spec_of(const char *source, const char *unit) {
  Spec spec;
  Diags diags = {0};
  spec_default(&spec);
  assert_true(spec_set(&spec, "sm.register_source", source, NULL, 0, &diags));
  assert_true(spec_set(&spec, "sm.register_unit", unit, NULL, 0, &diags));
  assert_true(spec_set(&spec, "sm.registers", "32768", NULL, 0, &diags));
  assert_true(spec_set(&spec, "limit.registers", "63", NULL, 0, &diags));
  assert_true(spec_check(&spec, NULL, &diags));
  return spec;
}

typedef struct Case {
  const char *source, *unit;
  uint32_t ours, given, threads;
  uint32_t count, owned; // of a thread, as the compiler says; in a launch
} Case;

static void counts_follow_the_source(void **state) {
  (void)state;
  static const Case cases[] = {
      {"ours", "1", 18, 30, 256, 18, 18},     {"ours", "4", 18, 30, 256, 18, 20},
      {"estimate", "1", 18, 30, 256, 25, 25}, // 5.5 + 1.1 x 18 = 25.3
      {"estimate", "4", 18, 30, 256, 25, 28}, {"given", "1", 18, 30, 256, 30, 30},
      {"given", "1", 18, 0, 256, 25, 25},   // nobody has given it
      {"given", "1", 18, 10, 256, 18, 18},  // our code needs its registers
      {"given", "1", 18, 200, 256, 63, 63}, // the machine has no more
      {"given", "1", 18, 40, 1024, 40, 32}, // 40 x 1,024 do not fit: a compiler for this machine would have used fewer
      {"given", "8", 18, 39, 800, 39, 40},    {"given", "8", 18, 39, 801, 39, 32},
      {"estimate", "1", 40, 0, 1024, 50, 40}, // ours do not fit either: the launch is refused elsewhere
      {"estimate", "4", 0, 0, 256, 0, 0},     // a program of another form
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    const Case *at = &cases[i];
    Spec spec = spec_of(at->source, at->unit);
    Function kernel = {.is_kernel = true, .registers = at->ours, .given_registers = at->given};
    assert_int_equal(device_registers(&spec, &kernel), at->count);
    assert_int_equal(launch_registers(&spec, &kernel, at->threads), at->owned);
  }
  Spec spec = spec_of("given", "1");
  Diags diags = {0};
  assert_true(spec_set(&spec, "sm.register_unit", "3", NULL, 0, &diags));
  assert_false(spec_check(&spec, NULL, &diags));
  diags_free(&diags);
}

// ---- A launch ---------------------------------------------------------------------------------------------

typedef struct Seen {
  uint32_t warp_rows, block_slots;
} Seen;

static Verdict on_launch(Hook *hook, HookMachine *machine, const LaunchEvent *event) {
  *(Seen *)hook->own = (Seen){machine->warp_rows, event->block_slots};
  return VERDICT_PASS;
}

static Seen launch(const char *source, uint32_t given) {
  static const char text[] = ".version 6.0\n.target sm_70\n.address_size 64\n"
                             ".visible .entry add(.param .u64 p)\n{\n.reg .b64 %a;\n.reg .b32 %b<2>;\n"
                             "ld.param.u64 %a, [p];\nld.global.u32 %b0, [%a];\nadd.u32 %b1, %b0, 5;\nst.global.u32 [%a], %b1;\nret;\n}\n";
  PtxSource ptx = {"add.ptx", text, sizeof text - 1};
  Seen seen = {0};
  Spec spec;
  Diags diags = {0};
  Arena *arena = arena_new();
  assert_true(spec_load(&spec, arena, "fermi-gtx480", &diags));
  assert_true(spec_set(&spec, "sm.register_source", source, NULL, 0, &diags));
  Hook hook = {.name = "looks on", .own = &seen, .launch = on_launch};
  HookChain chain = {{&hook}, 1};
  Device *device = device_new(&(DeviceOptions){.spec = &spec, .hooks = &chain}, &diags);
  assert_non_null(device);
  Module *module = device_load_ptx(device, &ptx, 1, &diags);
  assert_non_null(module);
  if (given != 0) module_give_registers(module, "add", given);
  module_give_registers(module, "another", 50); // not there
  DeviceAddress address = device_alloc(device, 4);
  const void *arguments[] = {&address};
  LaunchRequest request = {
      .module = module, .kernel = "add", .grid = {20, 1, 1}, .block = {256, 1, 1}, .arguments = arguments, .argument_count = 1};
  assert_true(device_launch(device, &request));
  const Function *kernel = program_function(module_program(module), "add");
  assert_int_equal(device_occupancy(device, kernel, 256, 0), seen.block_slots);
  device_free(device);
  arena_free(arena);
  return seen;
}

// The GTX 480 has 32,768 registers and room for 1,536 threads: six blocks of 256, if they own at most 21 registers each.
// Registers are handed out in twos, so that 21 are 22.
static void machines_give_what_is_owned(void **state) {
  (void)state;
  Seen ours = launch("ours", 40), estimated = launch("estimate", 40), given = launch("given", 40);
  assert_true(ours.warp_rows <= 6);
  assert_int_equal(ours.block_slots, 6);
  assert_true(estimated.warp_rows > ours.warp_rows && estimated.warp_rows < 16);
  assert_int_equal(estimated.block_slots, 6);
  assert_int_equal(given.warp_rows, 40);
  assert_int_equal(given.block_slots, 3);
  assert_int_equal(launch("given", 21).block_slots, 5);
  assert_int_equal(launch("given", 20).block_slots, 6);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(counts_follow_the_source),
      cmocka_unit_test(machines_give_what_is_owned),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
