// Flipped bits: what the block scheduler makes of them, that no flip of any cell harms the simulator, and that the accesses told to hooks say
// which flips are the same.
#include "machine/g80/test_machine.h"

enum { LIMIT_CYCLES = 60000, START = 1535 / 10 + 1 };

static const Vecadd adding = {10, 64, false}; // two passes on one SM

static void spec_of(Spec *spec, uint32_t sms) {
  spec_default(spec);
  spec->g80_sms = sms;
  spec->g80_arbiters = sms > 1; // without arbiters several SMs lose what they ask for
  spec->g80_cycle_limit = LIMIT_CYCLES;
}

static void flip(Machine *machine, const Site *site) {
  machine_block(machine)[site_byte(&machine_regions(machine)->items[site->region], site)] ^= site_mask(site);
}

static Site site_of(const Machine *machine, const char *text) {
  Diags diags = {0};
  Site site;
  assert_true(site_parse(machine_regions(machine), text, &site, &diags));
  diags_free(&diags);
  return site;
}

// Flips the bit in the cycle and runs on.
static G80Outcome outcome_of(const Machine *origin, const char *text, uint64_t cycle, G80Result *result, bool *right) {
  Machine *machine = machine_clone(origin, NULL, NULL);
  Site site = site_of(machine, text);
  assert_false(machine_run(machine, cycle));
  flip(machine, &site);
  assert_true(machine_run(machine, G80_NEVER));
  g80_result(machine, result);
  *right = vecadd_right(&adding, machine);
  machine_free(machine);
  return result->outcome;
}

// What each flip must do: the state machine is small enough to say it.
static void the_scheduler_obeys_its_bits(void **state) {
  (void)state;
  Spec spec;
  G80Result golden, result;
  bool right;
  spec_of(&spec, 1);
  Machine *machine = make_vecadd(&spec, &adding);
  outcome_of(machine, "bs_rdy[bit=0]", 5000, &golden, &right);
  assert_int_equal(golden.outcome, G80_DONE);
  assert_true(right);
  uint64_t calc = golden.start_ns / 10 + 1 + 3, check = calc + 1; // start, en, CALC_BLOCKS
  uint64_t second = golden.passes[0].done + 2;

  assert_int_equal(outcome_of(machine, "bs_state[bit=0]", 5000, &result, &right), G80_HANG); // 5: illegal, stays
  assert_int_equal(outcome_of(machine, "bs_state[bit=2]", 5000, &result, &right), G80_HANG); // IDLE: nobody starts it again
  assert_int_equal(outcome_of(machine, "bs_kernel_done[bit=0]", 5000, &result, &right), G80_DONE);
  assert_false(right);
  assert_int_equal(result.kernel_done_ns, 5000 * 10 - 5);
  assert_int_equal(outcome_of(machine, "bs_smp_reset_out[bit=0]", 5000, &result, &right), G80_HANG); // the SM is held in reset
  assert_int_equal(outcome_of(machine, "bs_smp_en_out[bit=0]", 5000, &result, &right), G80_DONE);
  assert_true(right && result.kernel_done_ns == golden.kernel_done_ns);
  assert_int_equal(outcome_of(machine, "bs_blocks_scheduled_cnt[bit=1]", 5000, &result, &right), G80_DONE); // 8 -> 10: the rest is lost
  assert_false(right);
  assert_true(result.kernel_done_ns < golden.kernel_done_ns);
  assert_int_equal(outcome_of(machine, "bs_shmem_params_out[bit=3]", 5000, &result, &right), G80_DONE);
  assert_true(right);

  // Wires: a flip lasts for its cycle.
  assert_int_equal(outcome_of(machine, "bs_grid_dimension[bit=1]", 5000, &result, &right), G80_DONE);
  assert_true(right && result.kernel_done_ns == golden.kernel_done_ns);
  assert_int_equal(outcome_of(machine, "bs_grid_dimension[bit=3]", second, &result, &right), G80_DONE); // 10 -> 2: done too early
  assert_false(right);
  assert_int_equal(result.kernel_done_ns, second * 10 - 5);
  assert_int_equal(outcome_of(machine, "bs_blocks_remaining[bit=3]", calc, &result, &right), G80_DONE); // 10 -> 2 blocks in the first pass
  assert_true(right && result.pass_count == 2 && result.passes[0].done < golden.passes[0].done);
  assert_int_equal(outcome_of(machine, "bs_threads_per_block_i[bit=6]", check, &result, &right), G80_DONE); // no warps in the first pass
  assert_false(right);
  assert_int_equal(outcome_of(machine, "bs_threads_per_block_i[bit=6]", calc, &result, &right), G80_DONE); // nobody looks
  assert_true(right && result.kernel_done_ns == golden.kernel_done_ns);
  machine_free(machine);
}

static void cells_are_named(void **state) {
  (void)state;
  static const uint32_t sms[] = {1, 3};
  for (uint32_t i = 0; i < COUNT_OF(sms); i++) {
    Spec spec;
    Diags diags = {0};
    spec_of(&spec, sms[i]);
    Machine *machine = make_vecadd(&spec, &adding);
    const RegionTable *table = machine_regions(machine);
    uint64_t registers = 0, wires = 0;
    assert_true(region_table_check(table, &diags));
    for (uint32_t j = 0; j < table->count; j++) {
      const Region *region = &table->items[j];
      if (strncmp(region->name, "bs_", 3) != 0) continue;
      *((region->flags & REGION_HASHED) != 0 ? &registers : &wires) += region_bits(region);
    }
    if (sms[i] == 1) { // the reference's sums
      assert_int_equal(registers, 288);
      assert_int_equal(wires, 124);
    }
    machine_free(machine);
    diags_free(&diags);
  }
}

// Barriers, divergence, calls for constants, special functions: whatever the kernels have.
static Machine *make_any(const Spec *spec, uint32_t kind) {
  static const char *const kernels[] = {"vecadd", "scalarprod", "gray", "nn"};
  static const G80Launch launches[] = {
      {.grid = {6, 1}, .block = {64, 1, 1}, .blocks_per_core = 8, .params = {0, 0x8000, 0x10000}},
      {.grid = {2, 1}, .block = {128, 1, 1}, .blocks_per_core = 2, .params = {0, 0x1000, 0x11000, 2, 128}},
      {.grid = {2, 2}, .block = {8, 8, 1}, .blocks_per_core = 3, .params = {0, 0x10000, 13, 16}},
      {.grid = {4, 1}, .block = {32, 1, 1}, .blocks_per_core = 2, .params = {0, 0x8000, 120, 0x41f00000, 0x42b40000}},
  };
  return make_kernel(spec, kernels[kind], &launches[kind]);
}

// Any cell, any time: the run ends in one of its ways.
static void no_flip_harms(void **state) {
  (void)state;
  static const uint32_t sms[] = {1, 2, 5};
  for (uint32_t i = 0; i < 450; i++) {
    Spec spec;
    spec_of(&spec, sms[i % 3]);
    spec.g80_sps = i / 3 % 3;
    Machine *machine = make_any(&spec, i / 9 % 4);
    const RegionTable *table = machine_regions(machine);
    for (uint32_t n = 0; n < 4; n++) {
      uint16_t region = (uint16_t)random_below(random_draw(7, i, 3 * n), table->count);
      Site site = region_site(table, region, random_below(random_draw(7, i, 3 * n + 1), region_bits(&table->items[region])));
      if (machine_run(machine, START + random_below(random_draw(7, i, 3 * n + 2), 12000))) break;
      flip(machine, &site);
    }
    assert_true(machine_run(machine, G80_NEVER));
    machine_free(machine);
  }
}

// A register that the next pass writes anew: until then the states differ, afterwards they are the same.
static void overwritten_flips_heal(void **state) {
  (void)state;
  for (uint32_t sms = 1; sms <= 2; sms++) {
    Spec spec;
    spec_of(&spec, sms);
    Vecadd v = {20, 64, false};
    Machine *golden = make_vecadd(&spec, &v), *faulty = machine_clone(golden, NULL, NULL);
    Site site = site_of(golden, "bs_block_x_out[bit=3]");
    G80Result result;
    assert_false(machine_run(golden, 5000));
    assert_false(machine_run(faulty, 5000));
    assert_int_equal(machine_hash(golden), machine_hash(faulty));
    flip(faulty, &site);
    assert_false(machine_run(golden, 6000));
    assert_false(machine_run(faulty, 6000));
    assert_int_not_equal(machine_hash(golden), machine_hash(faulty));
    for (g80_result(golden, &result); result.pass_count < 2; g80_result(golden, &result))
      assert_false(machine_run(golden, machine_now(golden) + 50));
    assert_false(machine_run(faulty, machine_now(golden)));
    assert_int_equal(machine_hash(golden), machine_hash(faulty));
    machine_free(faulty);
    machine_free(golden);
  }
}

// ---- Accesses --------------------------------------------------------------------------------------------------------
typedef struct Access {
  uint64_t cycle;
  uint16_t region;
  uint64_t row;
  uint32_t units;
  bool write;
} Access;
typedef struct AccessLog {
  Access *items;
  uint32_t count, room;
  uint8_t **wanted; // by region and row: those of the cells to be struck
} AccessLog;

static void note(AccessLog *log, const HookMachine *machine, const CellEvent *event, bool write) {
  if (log->wanted[event->region] == NULL || log->wanted[event->region][event->row] == 0) return;
  assert_true(log->count < log->room);
  log->items[log->count++] = (Access){machine->cycle, event->region, event->row, event->units, write};
}

static Verdict on_read(Hook *hook, HookMachine *machine, const CellEvent *event) {
  note(hook->own, machine, event, false);
  return VERDICT_PASS;
}

static Verdict on_write(Hook *hook, HookMachine *machine, const CellEvent *event) {
  note(hook->own, machine, event, true);
  return VERDICT_PASS;
}

// The first access of the cell in the cycle or later; the log's count: none.
static uint32_t next_access(const AccessLog *log, const Site *site, uint64_t cycle) {
  for (uint32_t i = 0; i < log->count; i++) {
    const Access *access = &log->items[i];
    bool same = access->region == site->region && access->row == site->row && (access->units >> site->unit & 1) != 0;
    if (same && access->cycle >= cycle) return i;
  }
  return log->count;
}

static void run_flipped(Machine *machine, const Site *site, uint64_t cycle, G80Result *result) {
  assert_false(machine_run(machine, cycle));
  flip(machine, site);
  assert_true(machine_run(machine, G80_NEVER));
  g80_result(machine, result);
}

// Cells of structures whose accesses are all there is to know, the scheduler's registers and those of a warp alike.
static bool draw_site(const RegionTable *table, uint64_t number, Site *site) {
  static const char *const often[] = {"rf",     "shared", "predicates", "wp_pc",        "wp_current",
                                      "wp_cta", "system", "stack_mask", "stack_pointer"};
  uint16_t region = (uint16_t)random_below(random_draw(9, number, 0), table->count);
  if (number % 3 == 0) region = region_find(table, often[random_below(random_draw(9, number, 0), COUNT_OF(often))]);
  const Region *r = &table->items[region];
  if ((r->flags & (REGION_TRACED | REGION_LOOKED_AT)) != REGION_TRACED) return false;
  // Of large tables the beginning, which is used.
  uint64_t rows = min_u64(r->rows, 64);
  *site = region_site(table, region, random_below(random_draw(9, number, 1), rows * r->units * r->bits));
  return true;
}

// A cell that is written before it is read does not matter; two flips before the same read are one.
static void check_accesses(uint32_t sms, uint32_t kernel) {
  enum { DRAWS = 900 };
  Spec spec;
  G80Result golden;
  spec_of(&spec, sms);
  Arena *arena = arena_new();
  Machine *origin = make_any(&spec, kernel);
  const RegionTable *table = machine_regions(origin);
  AccessLog log = {.room = 1 << 20, .wanted = ARENA_ARRAY(arena, uint8_t *, table->count)};
  log.items = ARENA_ARRAY(arena, Access, log.room);
  for (uint32_t i = 0; i < DRAWS; i++) {
    Site site;
    if (!draw_site(table, i, &site)) continue;
    uint8_t **rows = &log.wanted[site.region];
    if (*rows == NULL) *rows = arena_alloc(arena, table->items[site.region].rows);
    (*rows)[site.row] = 1;
  }
  Hook hook = {.name = "test", .kind = HOOK_OBSERVER, .own = &log, .read = on_read, .write = on_write, .next_cycle = UINT64_MAX};
  HookChain chain = {.hooks = {&hook}, .count = 1};
  Machine *whole = machine_clone(origin, NULL, &chain), *one = machine_clone(origin, NULL, NULL),
          *other = machine_clone(origin, NULL, NULL);
  assert_true(machine_run(whole, G80_NEVER));
  g80_result(whole, &golden);
  uint32_t dead = 0, live = 0, start = (uint32_t)machine_now(origin);
  for (uint32_t i = 0; i < DRAWS; i++) {
    Site site;
    G80Result a, b;
    if (!draw_site(table, i, &site)) continue;
    uint64_t cycle = start + random_below(random_draw(9, i, 2), golden.cycles - 2);
    uint32_t next = next_access(&log, &site, cycle);
    machine_copy(one, origin);
    run_flipped(one, &site, cycle, &a);
    bool is_dead = next == log.count || log.items[next].write;
    if (!is_dead) {
      machine_copy(other, origin);
      run_flipped(other, &site, log.items[next].cycle, &b);
    }
    const G80Result *same = is_dead ? &golden : &b;
    bool agrees = a.outcome == same->outcome && (a.kernel_done_ns == same->kernel_done_ns || a.outcome == G80_HANG) &&
                  memcmp(a.global, same->global, G80_GLOBAL_BYTES) == 0;
    Text name = {0};
    site_format(table, &site, &name);
    if (!agrees) fail_msg("%s before cycle %llu: %s", name.at, (unsigned long long)cycle, is_dead ? "matters" : "is not what is read");
    text_free(&name);
    *(is_dead ? &dead : &live) += 1;
  }
  assert_true(dead > 10 && live > 10);
  machine_free(one);
  machine_free(other);
  machine_free(whole);
  machine_free(origin);
  arena_free(arena);
}

static void accesses_tell_when_flips_matter(void **state) {
  (void)state;
  for (uint32_t kernel = 0; kernel < 4; kernel++) check_accesses(1 + kernel % 2, kernel);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_scheduler_obeys_its_bits),
      cmocka_unit_test(cells_are_named),
      cmocka_unit_test(no_flip_harms),
      cmocka_unit_test(overwritten_flips_heal),
      cmocka_unit_test(accesses_tell_when_flips_matter),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
