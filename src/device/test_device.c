// Unit tests of src/device: memory, modules with hand-made programs, launches that are refused.
#include "device/device_internal.h"

#include <setjmp.h>
#include <cmocka.h>

static Device *new_device(uint32_t address_bits) {
  Diags diags = {0};
  DeviceOptions options = {.address_bits = address_bits};
  Device *device = device_new(&options, &diags);
  assert_non_null(device);
  return device;
}

static void memory_is_checked(void **state) {
  (void)state;
  Device *device = new_device(64);
  DeviceAddress a = device_alloc(device, 100), b = device_alloc(device, 0);
  assert_int_not_equal(a, 0);
  assert_int_not_equal(b, 0);
  assert_int_equal(a % 256, 0);
  uint8_t bytes[100], got[100];
  for (int i = 0; i < 100; i++) bytes[i] = (uint8_t)(i * 7);
  assert_true(device_write(device, a, bytes, 100));
  assert_true(device_copy(device, a + 1, a, 50));
  assert_true(device_set(device, a + 90, 0xEE, 10));
  assert_true(device_read(device, got, a, 100));
  memmove(bytes + 1, bytes, 50);
  memset(bytes + 90, 0xEE, 10);
  assert_memory_equal(got, bytes, 100);
  assert_false(device_write(device, a + 1, bytes, 100));
  assert_non_null(strstr(device_error(device), "only 99 bytes are allocated there"));
  assert_false(device_read(device, got, 16, 1));
  assert_non_null(strstr(device_error(device), "where nothing is allocated"));
  assert_true(device_read(device, got, 16, 0));
  assert_false(device_release(device, a + 1));
  assert_true(device_release(device, a));
  assert_false(device_release(device, a));
  assert_int_equal(device_alloc(device, UINT64_C(1) << 40), 0);
  assert_non_null(strstr(device_error(device), "out of device memory"));
  device_free(device);
}

// ---- What hooks hear of the host --------------------------------------------------------------------
typedef struct Heard {
  HostEvent events[16];
  uint32_t count;
} Heard;

static Verdict hear(Hook *hook, HookMachine *machine, const HostEvent *event) {
  Heard *heard = hook->own;
  (void)machine;
  assert_true(heard->count < COUNT_OF(heard->events));
  heard->events[heard->count++] = *event;
  return VERDICT_PASS;
}

static void hooks_hear_the_host(void **state) {
  (void)state;
  Heard heard = {.count = 0};
  Hook hook = {.name = "listener", .kind = HOOK_OBSERVER, .own = &heard, .host = hear, .next_cycle = UINT64_MAX};
  HookChain chain = {.hooks = {&hook}, .count = 1};
  Diags diags = {0};
  Arena *arena = arena_new();
  Spec spec;
  assert_true(spec_load(&spec, arena, "gt200-rise", &diags)); // hooks need a machine with time
  spec.memory_granule = 1;
  Device *device = device_new(&(DeviceOptions){.spec = &spec, .hooks = &chain}, &diags);
  assert_non_null(device);
  chain.count = 0; // the device has its own list
  uint8_t bytes[64] = {0};
  DeviceAddress a = device_alloc(device, 256);
  assert_true(device_write(device, a, bytes, 64) && device_read(device, bytes, a + 8, 32) && device_copy(device, a + 128, a, 16));
  assert_false(device_read(device, bytes, a + 250, 32));
  assert_true(device_set(device, a, 1, 4) && device_release(device, a));
  assert_false(device_release(device, a));
  const HostEvent right[] = {{NULL, HOST_WRITES, a, 256}, {NULL, HOST_WRITES, a, 64},       {NULL, HOST_READS, a + 8, 32},
                             {NULL, HOST_READS, a, 16},   {NULL, HOST_WRITES, a + 128, 16}, {NULL, HOST_WRITES, a, 4},
                             {NULL, HOST_WRITES, a, 256}};
  assert_int_equal(heard.count, COUNT_OF(right));
  for (uint32_t i = 0; i < heard.count; i++) {
    assert_int_equal(heard.events[i].access, right[i].access);
    assert_int_equal(heard.events[i].address, right[i].address);
    assert_int_equal(heard.events[i].bytes, right[i].bytes);
  }
  device_free(device);
  arena_free(arena);
}

static void addresses_of_32_bits(void **state) {
  (void)state;
  Device *device = new_device(32);
  DeviceAddress a = device_alloc(device, 1 << 20);
  assert_true(a >= GLOBAL_BASE32 && a < UINT64_C(1) << 32);
  device_free(device);
}

// ---- Modules ------------------------------------------------------------------------------------

static const uint8_t zeros[64];
static const uint8_t seven[4] = {7, 0, 0, 0};
enum { SYMBOL_TABLE, SYMBOL_SEVEN, SYMBOL_LIMITS, SYMBOL_KERNEL, SYMBOL_IMAGE, SYMBOLS };
static const Symbol symbols[SYMBOLS] = {
    [SYMBOL_TABLE] = {.name = "table", .kind = SYMBOL_VARIABLE, .space = SPACE_GLOBAL, .bytes = 64, .align = 8, .initial = zeros},
    [SYMBOL_SEVEN] =
        {.name = "seven", .kind = SYMBOL_VARIABLE, .space = SPACE_CONST, .bytes = 4, .align = 4, .const_offset = 16, .initial = seven},
    [SYMBOL_LIMITS] = {.name = "limits", .kind = SYMBOL_VARIABLE, .space = SPACE_CONST, .bytes = 8, .align = 8, .const_offset = 24},
    [SYMBOL_KERNEL] = {.name = "kernel", .kind = SYMBOL_FUNCTION, .function = 1},
    [SYMBOL_IMAGE] = {.name = "image", .kind = SYMBOL_TEXTURE},
};
static const Relocation relocations[] = {
    {.owner = SYMBOL_TABLE, .target = SYMBOL_TABLE, .offset = 8, .addend = 4, .bytes = 8, .generic = true},
    {.owner = SYMBOL_TABLE, .target = SYMBOL_SEVEN, .offset = 16, .addend = 0, .bytes = 8, .generic = true},
    {.owner = SYMBOL_TABLE, .target = SYMBOL_SEVEN, .offset = 24, .addend = -8, .bytes = 8, .generic = false},
    {.owner = SYMBOL_TABLE, .target = SYMBOL_KERNEL, .offset = 32, .addend = 0, .bytes = 8, .generic = true},
    {.owner = SYMBOL_TABLE, .target = SYMBOL_KERNEL, .offset = 40, .addend = 0, .bytes = 4, .generic = true},
    {.owner = SYMBOL_TABLE, .target = SYMBOL_KERNEL, .offset = 47, .addend = 0, .bytes = 1, .shift = 24, .generic = true},
    {.owner = SYMBOL_LIMITS, .target = SYMBOL_TABLE, .offset = 0, .addend = 0, .bytes = 8, .generic = true},
};
static const Param params[] = {{"a", 0, 8, 8, true}, {"n", 8, 4, 4, false}};
static const Function functions[] = {
    {.name = "helper", .entry = 0, .end = 1},
    {.name = "kernel",
     .is_kernel = true,
     .entry = 5,
     .end = 6,
     .registers = 16,
     .params = params,
     .param_count = 2,
     .param_bytes = 12,
     .shared_bytes = 1000},
    {.name = "greedy", .is_kernel = true, .entry = 6, .end = 7, .registers = 128},
    {.name = "bounded", .is_kernel = true, .entry = 7, .end = 8, .registers = 8, .max_threads = {16, 4, 0}},
    {.name = "exact", .is_kernel = true, .entry = 8, .end = 9, .registers = 8, .required_threads = {8, 4, 0}},
};

static Program *new_program(bool external) {
  Arena *arena = arena_new();
  Program *program = ARENA_NEW(arena, Program);
  Symbol *own = ARENA_ARRAY(arena, Symbol, SYMBOLS);
  memcpy(own, symbols, sizeof symbols);
  own[SYMBOL_LIMITS].external = external;
  *program = (Program){.arena = arena,
                       .file = "made.ptx",
                       .address_bits = 64,
                       .functions = functions,
                       .function_count = COUNT_OF(functions),
                       .symbols = own,
                       .symbol_count = SYMBOLS,
                       .relocations = relocations,
                       .relocation_count = COUNT_OF(relocations),
                       .const_bytes = 32};
  return program;
}

static uint64_t read_u64(Device *device, DeviceAddress address) {
  uint64_t value = 0;
  assert_true(device_read(device, &value, address, 8));
  return value;
}

static uint64_t bank_entry(const Module *module, uint32_t symbol) {
  uint64_t value;
  memcpy(&value, module->symbol_bank + 8 * symbol, 8);
  return value;
}

static void modules_are_placed(void **state) {
  (void)state;
  Device *device = new_device(64);
  Diags diags = {0};
  uint64_t before = memory_in_use(device_memory(device));
  Module *module = device_load_program(device, new_program(false), &diags);
  assert_non_null(module);
  DeviceAddress table, constant, code;
  uint64_t bytes;
  assert_true(module_symbol(module, "table", &table, &bytes));
  assert_int_equal(bytes, 64);
  assert_int_equal(read_u64(device, table), 0);
  assert_int_equal(read_u64(device, table + 8), table + 4);
  assert_int_equal(read_u64(device, table + 16), CONST_WINDOW + 16);
  assert_int_equal(read_u64(device, table + 24), 8);
  assert_int_equal(read_u64(device, table + 32), FUNCTION_ADDRESS(5));
  assert_int_equal(read_u64(device, table + 40), (FUNCTION_ADDRESS(5) & 0xFFFFFFFF) | FUNCTION_ADDRESS(5) >> 24 << 56);
  assert_true(module_symbol(module, "seven", &constant, &bytes));
  assert_int_equal(read_u64(device, constant) & 0xFFFFFFFF, 7);
  assert_true(module_symbol(module, "limits", &constant, &bytes));
  assert_int_equal(read_u64(device, constant), table);
  assert_true(module_symbol(module, "kernel", &code, &bytes));
  assert_int_equal(code, FUNCTION_ADDRESS(5));
  assert_false(module_symbol(module, "image", &code, &bytes));
  assert_false(module_symbol(module, "nowhere", &code, &bytes));
  assert_int_equal(bank_entry(module, SYMBOL_TABLE), table);
  assert_int_equal(bank_entry(module, SYMBOL_SEVEN), CONST_WINDOW + 16);
  assert_int_equal(bank_entry(module, SYMBOL_KERNEL), FUNCTION_ADDRESS(5));
  assert_true(device_unload(device, module));
  assert_int_equal(memory_in_use(device_memory(device)), before);
  device_free(device);
}

static void modules_are_refused(void **state) {
  (void)state;
  Device *device = new_device(64);
  Diags diags = {0};
  assert_null(device_load_program(device, new_program(true), &diags));
  assert_string_equal(diags.items[0].text, "'limits' is declared .extern but defined nowhere");
  Program *narrow = new_program(false);
  narrow->address_bits = 32;
  assert_null(device_load_program(device, narrow, &diags));
  assert_string_equal(diags.items[1].text, "has 32-bit addresses, the device 64-bit ones");
  diags_free(&diags);
  device_free(device);
}

static void textures_have_handles(void **state) {
  (void)state;
  Device *device = new_device(64);
  Diags diags = {0};
  Texture texture = {.shape = TEXTURE_2D};
  uint64_t first = device_texture_new(device, &texture), second = device_texture_new(device, &texture);
  assert_int_equal(first, 1);
  assert_int_equal(second, 2);
  assert_true(device_texture_release(device, first));
  assert_false(device_texture_release(device, first));
  assert_false(device_texture_release(device, 0));
  assert_null(device_texture(device, first));
  assert_non_null(device_texture(device, second));
  assert_int_equal(device_texture_new(device, &texture), first);
  Module *module = device_load_program(device, new_program(false), &diags);
  assert_int_equal(bank_entry(module, SYMBOL_IMAGE), 0);
  assert_true(module_bind_texture(module, "image", second));
  assert_int_equal(bank_entry(module, SYMBOL_IMAGE), second);
  assert_false(module_bind_texture(module, "table", second));
  assert_false(module_bind_texture(module, "nowhere", second));
  device_free(device);
}

// ---- Launches -------------------------------------------------------------------------------------

typedef struct LaunchCase {
  const char *kernel;
  uint32_t grid[3], block[3];
  uint32_t shared, arguments;
  bool cooperative;
  const char *error; // NULL: would run
} LaunchCase;

static const LaunchCase launch_cases[] = {
    {"kernel", {1, 1, 1}, {1024, 1, 1}, 0, 2, false, NULL},
    {"kernel", {1, 1, 1}, {1025, 1, 1}, 0, 2, false, "block of 1025 x 1 x 1 = 1025 threads: the limit is 1024"},
    {"kernel", {1, 1, 1}, {65536, 65536, 1}, 0, 2, false, "block of 65536 x 65536 x 1 = 4294967295 threads: the limit is 1024"},
    {"kernel", {1, 1, 1}, {1, 1, 64}, 0, 2, false, NULL},
    {"kernel", {1, 1, 1}, {1, 1, 65}, 0, 2, false, "block of 65 threads in z: the limit is 64"},
    {"kernel", {1, 1, 1}, {0, 1, 1}, 0, 2, false, "the block is empty: it must have at least 1 thread in each dimension"},
    {"kernel", {0, 1, 1}, {1, 1, 1}, 0, 2, false, "the grid is empty: it must have at least 1 block in each dimension"},
    {"kernel", {2147483647, 65535, 65535}, {1, 1, 1}, 0, 2, false, NULL},
    {"kernel", {2147483648u, 1, 1}, {1, 1, 1}, 0, 2, false, "grid of 2147483648 blocks in x: the limit is 2147483647"},
    {"kernel", {1, 65536, 1}, {1, 1, 1}, 0, 2, false, "grid of 1 x 65536 x 1 blocks: the limit in y and z is 65535"},
    {"kernel", {1, 1, 65536}, {1, 1, 1}, 0, 2, false, "grid of 1 x 1 x 65536 blocks: the limit in y and z is 65535"},
    {"kernel", {1, 1, 1}, {1, 1, 1}, 0, 1, false, "kernel 'kernel' takes 2 arguments, 1 given"},
    {"kernel", {1, 1, 1}, {1, 1, 1}, 0, 3, false, "kernel 'kernel' takes 2 arguments, 3 given"},
    {"kernel", {1, 1, 1}, {1, 1, 1}, 64528, 2, false, NULL},
    {"kernel",
     {1, 1, 1},
     {1, 1, 1},
     64529,
     2,
     false,
     "kernel 'kernel' needs 65537 bytes of shared memory (64529 of them dynamic): the limit is 65536"},
    {"kernel",
     {1, 1, 1},
     {1, 1, 1},
     UINT32_MAX,
     2,
     false,
     "kernel 'kernel' needs 4294968303 bytes of shared memory (4294967295 of them dynamic): the limit is 65536"},
    {"kernal", {1, 1, 1}, {1, 1, 1}, 0, 2, false, "no kernel 'kernal' in made.ptx; did you mean 'kernel'?"},
    {"helper", {1, 1, 1}, {1, 1, 1}, 0, 0, false, "no kernel 'helper' in made.ptx; the first of its 4 is 'kernel'"},
    {"greedy", {1, 1, 1}, {512, 1, 1}, 0, 0, false, NULL},
    {"greedy",
     {1, 1, 1},
     {513, 1, 1},
     0,
     0,
     false,
     "kernel 'greedy' needs 128 registers x 513 threads = 69632: an SM has 65536 (smaller block, or --max-registers)"},
    {"bounded", {1, 1, 1}, {64, 1, 1}, 0, 0, false, NULL},
    {"bounded", {1, 1, 1}, {65, 1, 1}, 0, 0, false, "block of 65 threads: kernel 'bounded' was compiled for at most 64 (.maxntid)"},
    {"exact", {1, 1, 1}, {8, 4, 1}, 0, 0, false, NULL},
    {"exact",
     {1, 1, 1},
     {4, 8, 1},
     0,
     0,
     false,
     "block of 4 x 8 x 1 threads: kernel 'exact' was compiled for exactly 8 x 4 x 1 (.reqntid)"},
    {"kernel", {480, 1, 1}, {32, 1, 1}, 0, 2, true, NULL},
    {"kernel", {481, 1, 1}, {32, 1, 1}, 0, 2, true, "cooperative launch of 481 blocks: 480 fit on the device at once"},
};

static void launches_are_checked(void **state) {
  (void)state;
  Device *device = new_device(64);
  Diags diags = {0};
  Module *module = device_load_program(device, new_program(false), &diags);
  for (size_t i = 0; i < COUNT_OF(launch_cases); i++) {
    const LaunchCase *test = &launch_cases[i];
    LaunchRequest request = {.module = module,
                             .kernel = test->kernel,
                             .dynamic_shared_bytes = test->shared,
                             .argument_count = test->arguments,
                             .cooperative = test->cooperative};
    memcpy(request.grid, test->grid, sizeof request.grid);
    memcpy(request.block, test->block, sizeof request.block);
    const Function *kernel;
    bool ok = launch_check(device, &request, &kernel);
    if (test->error == NULL && !ok) fail_msg("case %zu: %s", i, device_error(device));
    if (test->error == NULL) continue;
    assert_false(ok);
    assert_string_equal(device_error(device), test->error);
  }
  assert_int_equal(device_launch_count(device), 0);
  device_free(device);
}

static void occupancy(void **state) {
  (void)state;
  Device *device = new_device(64);
  assert_int_equal(device_occupancy(device, &functions[1], 1024, 0), 1);
  assert_int_equal(device_occupancy(device, &functions[1], 32, 0), 16);
  assert_int_equal(device_occupancy(device, &functions[1], 33, 0), 16);
  assert_int_equal(device_occupancy(device, &functions[1], 32, 31760), 2);
  assert_int_equal(device_occupancy(device, &functions[1], 32, 65000), 0);
  assert_int_equal(device_occupancy(device, &functions[2], 256, 0), 2);
  assert_int_equal(device_occupancy(device, &functions[2], 0, 0), 0);
  device_free(device);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(memory_is_checked),   cmocka_unit_test(addresses_of_32_bits),  cmocka_unit_test(modules_are_placed),
      cmocka_unit_test(modules_are_refused), cmocka_unit_test(textures_have_handles), cmocka_unit_test(launches_are_checked),
      cmocka_unit_test(occupancy),           cmocka_unit_test(hooks_hear_the_host),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
