// Flipped bits: what the block scheduler makes of them, that no flip of any cell harms the simulator, and that flips
// between two events of the scheduler are the same.
#include "machine/g80/test_machine.h"

enum { LIMIT_CYCLES = 60000, START = 1535 / 10 + 1 };

static const Vecadd adding = {10, 64, false}; // two passes on one SM

static void spec_of(Spec *spec, uint32_t sms) {
  spec_default(spec);
  spec->g80_sms = sms;
  spec->g80_cycle_limit = LIMIT_CYCLES;
}

static void flip(G80Machine *machine, const Site *site) {
  g80_block(machine)[site_byte(&g80_regions(machine)->items[site->region], site)] ^= site_mask(site);
}

static Site site_of(const G80Machine *machine, const char *text) {
  Diags diags = {0};
  Site site;
  assert_true(site_parse(g80_regions(machine), text, &site, &diags));
  diags_free(&diags);
  return site;
}

// Flips the bit in the cycle and runs on.
static G80Outcome outcome_of(const G80Machine *origin, const char *text, uint64_t cycle, G80Result *result, bool *right) {
  G80Machine *machine = g80_clone(origin);
  Site site = site_of(machine, text);
  assert_false(g80_run(machine, cycle));
  flip(machine, &site);
  assert_true(g80_run(machine, G80_NEVER));
  g80_result(machine, result);
  *right = vecadd_right(&adding, machine);
  g80_free(machine);
  return result->outcome;
}

// What each flip must do: the state machine is small enough to say it.
static void the_scheduler_obeys_its_bits(void **state) {
  (void)state;
  Spec spec;
  G80Result golden, result;
  bool right;
  spec_of(&spec, 1);
  G80Machine *machine = make_vecadd(&spec, &adding);
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
  g80_free(machine);
}

// Permanent faults: the same bits, held.
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
      {"rf[register=0,lane=1,bit=9]", true, G80_DONE, false},
  };
  Spec spec;
  spec_of(&spec, 1);
  G80Machine *origin = make_vecadd(&spec, &adding);
  for (uint32_t i = 0; i < COUNT_OF(cases); i++) {
    G80Machine *machine = g80_clone(origin);
    Site site = site_of(machine, cases[i].site);
    G80Result result;
    g80_stick(machine, &site, cases[i].value);
    assert_true(g80_run(machine, G80_NEVER));
    g80_result(machine, &result);
    assert_int_equal(result.outcome, cases[i].outcome);
    assert_int_equal(vecadd_right(&adding, machine), cases[i].right);
    g80_free(machine);
  }
  g80_free(origin);
}

static void cells_are_named(void **state) {
  (void)state;
  static const uint32_t sms[] = {1, 3};
  for (uint32_t i = 0; i < COUNT_OF(sms); i++) {
    Spec spec;
    Diags diags = {0};
    spec_of(&spec, sms[i]);
    G80Machine *machine = make_vecadd(&spec, &adding);
    const RegionTable *table = g80_regions(machine);
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
    g80_free(machine);
    diags_free(&diags);
  }
}

// Barriers, divergence, calls for constants, special functions: whatever the kernels have.
static G80Machine *make_any(const Spec *spec, uint32_t kind) {
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
    G80Machine *machine = make_any(&spec, i / 9 % 4);
    const RegionTable *table = g80_regions(machine);
    for (uint32_t n = 0; n < 4; n++) {
      uint16_t region = (uint16_t)random_below(random_draw(7, i, 3 * n), table->count);
      Site site = region_site(table, region, random_below(random_draw(7, i, 3 * n + 1), region_bits(&table->items[region])));
      if (g80_run(machine, START + random_below(random_draw(7, i, 3 * n + 2), 12000))) break;
      flip(machine, &site);
    }
    assert_true(g80_run(machine, G80_NEVER));
    g80_free(machine);
  }
}

// From one event of the scheduler to the next a flip of its registers does the same at every cycle.
static void flips_between_events_agree(void **state) {
  (void)state;
  static const char *const sites[] = {"bs_blocks_scheduled_cnt[bit=0]", "bs_num_blocks_out[bit=1]", "bs_block_x_out[bit=5]",
                                      "bs_smp_reset_out[bit=0]",        "bs_state[bit=1]",          "bs_gprs_size_out[bit=2]"};
  Spec spec;
  spec_of(&spec, 1);
  G80Machine *machine = make_vecadd(&spec, &adding);
  for (uint32_t i = 0; i < 400; i++) assert_false(g80_run_to_scheduler_event(machine, G80_NEVER));
  uint64_t from = g80_cycle(machine);
  for (uint32_t i = 0; i < COUNT_OF(sites); i++) {
    G80Machine *early = g80_clone(machine), *late = g80_clone(machine);
    Site site = site_of(machine, sites[i]);
    assert_false(g80_run(early, from + 1));
    flip(early, &site);
    assert_false(g80_run_to_scheduler_event(late, from + 1));
    assert_false(g80_run_to_scheduler_event(late, G80_NEVER));
    flip(late, &site);
    bool ended = g80_run(early, G80_NEVER) && g80_run(late, G80_NEVER);
    assert_true(ended);
    G80Result a, b;
    g80_result(early, &a);
    g80_result(late, &b);
    assert_int_equal(a.outcome, b.outcome);
    if (a.outcome != G80_HANG) assert_int_equal(a.kernel_done_ns, b.kernel_done_ns);
    assert_memory_equal(a.global, b.global, G80_GLOBAL_BYTES);
    g80_free(early);
    g80_free(late);
  }
  g80_free(machine);
}

// A register that the next pass writes anew: until then the states differ, afterwards they are the same.
static void overwritten_flips_heal(void **state) {
  (void)state;
  for (uint32_t sms = 1; sms <= 2; sms++) {
    Spec spec;
    spec_of(&spec, sms);
    Vecadd v = {20, 64, false};
    G80Machine *golden = make_vecadd(&spec, &v), *faulty = g80_clone(golden);
    Site site = site_of(golden, "bs_block_x_out[bit=3]");
    G80Result result;
    assert_false(g80_run(golden, 5000));
    assert_false(g80_run(faulty, 5000));
    assert_int_equal(g80_hash(golden), g80_hash(faulty));
    flip(faulty, &site);
    assert_false(g80_run(golden, 6000));
    assert_false(g80_run(faulty, 6000));
    assert_int_not_equal(g80_hash(golden), g80_hash(faulty));
    for (g80_result(golden, &result); result.pass_count < 2; g80_result(golden, &result))
      assert_false(g80_run(golden, g80_cycle(golden) + 50));
    assert_false(g80_run(faulty, g80_cycle(golden)));
    assert_int_equal(g80_hash(golden), g80_hash(faulty));
    g80_free(faulty);
    g80_free(golden);
  }
}

// ---- Accesses --------------------------------------------------------------------------------------------------------
typedef struct Access {
  uint64_t cycle;
  uint16_t region;
  uint32_t row;
  bool write;
} Access;
typedef struct AccessLog {
  Access items[200000];
  uint32_t count;
} AccessLog;

static void note(void *own, uint64_t cycle, uint16_t region, uint32_t row, bool write) {
  AccessLog *log = own;
  assert_true(log->count < COUNT_OF(log->items));
  log->items[log->count++] = (Access){cycle, region, row, write};
}

// The first access of the cell in the cycle or later; the log's count: none.
static uint32_t next_access(const AccessLog *log, const Site *site, uint64_t cycle) {
  uint32_t i = 0;
  while (i < log->count && (log->items[i].cycle < cycle || log->items[i].region != site->region || log->items[i].row != site->row)) i++;
  return i;
}

static void run_flipped(G80Machine *machine, const Site *site, uint64_t cycle, G80Result *result) {
  assert_false(g80_run(machine, cycle));
  flip(machine, site);
  assert_true(g80_run(machine, G80_NEVER));
  g80_result(machine, result);
}

// A cell that is written before it is read does not matter; two flips before the same read are one.
static void check_accesses(uint32_t sms) {
  static AccessLog log;
  Spec spec;
  G80Result golden;
  spec_of(&spec, sms);
  G80Machine *origin = make_vecadd(&spec, &adding), *whole = g80_clone(origin), *one = g80_clone(origin), *other = g80_clone(origin);
  const RegionTable *table = g80_regions(origin);
  log.count = 0;
  g80_watch(whole, note, &log);
  assert_true(g80_run(whole, G80_NEVER));
  g80_result(whole, &golden);
  uint32_t dead = 0, live = 0;
  for (uint32_t i = 0; i < 1500; i++) {
    uint16_t region = (uint16_t)random_below(random_draw(9, i, 0), table->count);
    const Region *r = &table->items[region];
    bool clocked = (strncmp(r->name, "bs_", 3) == 0 || strncmp(r->name, "cfg_", 4) == 0) && (r->flags & REGION_HASHED) != 0;
    if (!clocked || g80_always_read(origin, region)) continue;
    Site site = region_site(table, region, random_below(random_draw(9, i, 1), region_bits(r)));
    uint64_t cycle = START + random_below(random_draw(9, i, 2), golden.cycles - 2);
    uint32_t next = next_access(&log, &site, cycle);
    G80Result a, b;
    g80_copy(one, origin);
    run_flipped(one, &site, cycle, &a);
    if (next == log.count || log.items[next].write) {
      assert_true(a.outcome == golden.outcome && a.kernel_done_ns == golden.kernel_done_ns);
      assert_memory_equal(a.global, golden.global, G80_GLOBAL_BYTES);
      dead++;
    } else {
      g80_copy(other, origin);
      run_flipped(other, &site, log.items[next].cycle, &b);
      assert_true(a.outcome == b.outcome && a.kernel_done_ns == b.kernel_done_ns);
      assert_memory_equal(a.global, b.global, G80_GLOBAL_BYTES);
      live++;
    }
  }
  assert_true(dead > 10 && live > 10);
  g80_free(one);
  g80_free(other);
  g80_free(whole);
  g80_free(origin);
}

static void accesses_tell_when_flips_matter(void **state) {
  (void)state;
  check_accesses(1);
  check_accesses(2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_scheduler_obeys_its_bits),
      cmocka_unit_test(stuck_bits_stay),
      cmocka_unit_test(cells_are_named),
      cmocka_unit_test(no_flip_harms),
      cmocka_unit_test(flips_between_events_agree),
      cmocka_unit_test(overwritten_flips_heal),
      cmocka_unit_test(accesses_tell_when_flips_matter),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
