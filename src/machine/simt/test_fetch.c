// Instruction fetch: hits, windows, misses through both levels, changes of flow, code that is not there.
#include "machine/simt/test_front.h"

// A program of moves into r1; ends with exit.
static uint32_t misses_of(const Front *front) {
  Mshrs mshrs = icache_mshrs_of(&front->m, 0);
  return mshr_in_use(&mshrs);
}

static void put_moves(Front *front, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) front_put_move(front, 1, i);
  front_put(front, OP_EXIT);
  front_encode(front);
}

// Cycles of fetch alone; issue takes nothing.
static void fetch_only(Front *front, uint64_t cycles) {
  for (uint64_t i = 0; i < cycles; i++) {
    dispatch_cycle(&front->m);
    for (uint32_t sm = 0; sm < front->m.dims.sms; sm++) {
      front_memory(front, sm);
      fetch_cycle(&front->m, sm);
    }
    front->m.at.core->cycle++;
  }
}

// Cycle in which the first instruction is there for issue.
static uint64_t first_arrival(Front *front) {
  while (simt_warp(&front->m, 0, 0)->buffered == 0) {
    assert_true(simt_now(&front->m) < 10000);
    fetch_only(front, 1);
  }
  return simt_warp(&front->m, 0, 0)->fetched_at;
}

// The first access misses both levels: second level, then memory, then the buffer.
static void cold_misses_go_to_memory(void **state) {
  (void)state;
  for (uint64_t latency = 20; latency <= 21; latency++) {
    Front front;
    front_open(&front);
    front.spec.icache2_latency = latency;
    put_moves(&front, 10);
    front_build(&front);
    fetch_only(&front, latency);
    assert_true(packet_queue_empty(&front.m.at.out_queues[0]));
    fetch_only(&front, 1);
    const Packet *packet = packet_queue_front(&front.m.at.out_queues[0], front.m.at.out_packets, front.m.dims.out);
    assert_non_null(packet);
    assert_int_equal(packet->sent_at, 1 + latency);
    assert_int_equal(packet->address, physical_address(PHYSICAL_CODE, 0));
    assert_int_equal(bytes_count(packet->bytes), LINE_BYTES);
    assert_int_equal(first_arrival(&front), 1 + latency + front.memory_latency + 1);
    assert_int_equal(front_stat(&front, STAT_ICACHE_MISSES), 1);
    assert_int_equal(front_stat(&front, STAT_ICACHE2_MISSES), 1);
    front_close(&front);
  }
}

static void second_level_answers_the_other_sm(void **state) {
  (void)state;
  for (uint32_t per_tpc = 1; per_tpc <= 2; per_tpc++) {
    Front front;
    front_open(&front);
    front.spec.sm_count = 2;
    front.spec.sm_per_tpc = per_tpc;
    front.spec.dispatch_interval = 200;
    front.launch.grid[0] = 2;
    put_moves(&front, 10);
    front_build(&front);
    fetch_only(&front, 300);
    assert_int_equal(simt_warp(&front.m, 1, 0)->buffered, 2);
    assert_int_equal(front_stat(&front, STAT_ICACHE2_MISSES), per_tpc == 2 ? 1 : 2);
    front_close(&front);
  }
}

static void second_level_hit_takes_its_latency(void **state) {
  (void)state;
  Front front;
  front_open(&front);
  put_moves(&front, 10);
  front_build(&front);
  fetch_only(&front, 200);
  memset(front.m.at.icache, 0, front.m.dims.icache_lines * sizeof(CacheLine)); // only the second level has it now
  uint64_t now = simt_now(&front.m);
  fetch_restart(&front.m, 0, 0, 0);
  assert_int_equal(first_arrival(&front), now + front.spec.icache2_latency + 1);
  assert_int_equal(front_stat(&front, STAT_ICACHE2_ACCESSES), 2);
  assert_int_equal(front_stat(&front, STAT_ICACHE2_MISSES), 1);
  front_close(&front);
}

// How many instructions an access gives: to the end of the window, as many as are decoded and fit.
static void windows_bound_an_access(void **state) {
  (void)state;
  static const struct {
    uint64_t instruction, fetch_bytes, decode, buffer;
    uint32_t pc, count;
  } cases[] = {
      {16, 32, 2, 2, 0, 2},  {16, 32, 2, 2, 1, 1},  {16, 32, 1, 2, 0, 1}, {16, 64, 4, 8, 0, 4},  {16, 64, 4, 8, 5, 3}, {16, 64, 8, 8, 4, 4},
      {16, 128, 8, 8, 0, 8}, {16, 128, 8, 3, 0, 3}, {16, 16, 4, 4, 3, 1}, {16, 128, 8, 8, 9, 2}, // 11 instructions in all
      {8, 16, 2, 2, 0, 2},   {8, 16, 2, 2, 1, 1},   {8, 32, 4, 8, 5, 3},  {8, 64, 8, 8, 0, 8},   {8, 128, 8, 8, 4, 7},
  };
  for (uint32_t i = 0; i < COUNT_OF(cases); i++) {
    Front front;
    front_open(&front);
    front.spec.front_instruction = cases[i].instruction;
    front.spec.front_fetch_bytes = cases[i].fetch_bytes;
    front.spec.front_decode = cases[i].decode;
    front.spec.front_buffer = cases[i].buffer;
    put_moves(&front, 10);
    front.kernel.entry = cases[i].pc;
    front_build(&front);
    first_arrival(&front);
    const SimtWarp *warp = simt_warp(&front.m, 0, 0);
    assert_int_equal(warp->buffered, cases[i].count);
    for (uint32_t k = 0; k < cases[i].count; k++) {
      assert_int_equal(simt_buffer(&front.m, 0, 0)[k].pc, cases[i].pc + k);
      assert_memory_equal(&simt_buffer(&front.m, 0, 0)[k].word, &front.code[cases[i].pc + k], INSTR_BYTES);
    }
    front_close(&front);
  }
}

// A line holds as many instructions as on the modelled GPU, and its cells hold half of each.
static void small_instructions_fill_a_line(void **state) {
  (void)state;
  for (uint32_t size = 8; size <= 16; size += 8) {
    Front front;
    front_open(&front);
    front.spec.front_instruction = size;
    put_moves(&front, 40);
    front_build(&front);
    for (uint32_t pc = 0; pc < 41; pc++) {
      fetch_restart(&front.m, 0, 0, pc);
      first_arrival(&front);
      assert_memory_equal(&simt_buffer(&front.m, 0, 0)[0].word, &front.code[pc], INSTR_BYTES);
    }
    assert_int_equal(front_stat(&front, STAT_ICACHE_MISSES), size == 8 ? 3 : 6);
    memset(front.m.at.icache, 0, front.m.dims.icache_lines * sizeof(CacheLine)); // now only the second level has them
    for (uint32_t pc = 0; pc < 41; pc++) {
      fetch_restart(&front.m, 0, 0, pc);
      first_arrival(&front);
      assert_memory_equal(&simt_buffer(&front.m, 0, 0)[0].word, &front.code[pc], INSTR_BYTES);
    }
    assert_int_equal(front_stat(&front, STAT_ICACHE2_MISSES), size == 8 ? 3 : 6);
    front_close(&front);
  }
}

// Of 8-byte instructions the cells have the low half at even places and the high half at odd ones: a flip comes there and nowhere else.
static void flips_reach_the_half_in_the_cells(void **state) {
  (void)state;
  Front front;
  front_open(&front);
  front.spec.front_instruction = 8;
  put_moves(&front, 10);
  front_build(&front);
  first_arrival(&front);
  Cache cache = icache_of(&front.m, 0);
  for (uint32_t pc = 0; pc < 10; pc++) {
    uint32_t index, bit = pc * 5 + 3;
    uint64_t line = physical_address(PHYSICAL_CODE, 0);
    assert_int_equal(cache_find(&cache, line, bytes_from(0, LINE_BYTES), &index), CACHE_HIT);
    front.m.at.icache_data[index].word[pc * 2 + bit / 32] ^= 1u << bit % 32;
    fetch_restart(&front.m, 0, 0, pc);
    first_arrival(&front);
    InstrWord wrong = front.code[pc];
    *(pc % 2 == 0 ? &wrong.low : &wrong.high) ^= UINT64_C(1) << bit;
    assert_memory_equal(&simt_buffer(&front.m, 0, 0)[0].word, &wrong, INSTR_BYTES);
  }
  front_close(&front);
}

// One access a cycle, in turn; all wait for the same miss and are served together when it comes.
static void warps_take_turns_and_share_a_miss(void **state) {
  (void)state;
  Front front;
  front_open(&front);
  front.launch.block[0] = 256;
  put_moves(&front, 40);
  front_build(&front);
  fetch_only(&front, 8);
  for (uint32_t i = 0; i < 8; i++) assert_int_equal(simt_warp(&front.m, 0, i)->fetch_wait, 1);
  assert_int_equal(misses_of(&front), 1);
  fetch_only(&front, 100);
  assert_int_equal(front_stat(&front, STAT_ICACHE_MISSES), 8);
  for (uint32_t i = 0; i < 8; i++) assert_int_equal(simt_warp(&front.m, 0, i)->buffered, 2);
  for (uint32_t i = 0; i < 8; i++) fetch_restart(&front.m, 0, i, 2);
  for (uint32_t i = 0; i < 8; i++) { // hits: one after the other
    fetch_only(&front, 1);
    uint32_t served = 0;
    for (uint32_t k = 0; k < 8; k++) served += simt_warp(&front.m, 0, k)->buffered > 0;
    assert_int_equal(served, i + 1);
  }
  front_close(&front);
}

// With one miss register, warps at different lines wait for it and all come through.
static void full_miss_registers_only_delay(void **state) {
  (void)state;
  Front front;
  front_open(&front);
  front.spec.icache_mshrs = 1;
  front.spec.icache_bytes = 256; // two lines
  front.spec.icache_line = 128;
  front.spec.icache2_bytes = 0;
  front.launch.block[0] = 256;
  put_moves(&front, 100);
  front_build(&front);
  dispatch_cycle(&front.m);
  for (uint32_t i = 0; i < 8; i++) fetch_restart(&front.m, 0, i, 8 * i);
  fetch_only(&front, 8 * 60);
  for (uint32_t i = 0; i < 8; i++) {
    assert_int_equal(simt_warp(&front.m, 0, i)->buffered, 2);
    assert_int_equal(simt_buffer(&front.m, 0, i)[0].pc, 8 * i);
  }
  front_close(&front);
}

// Small lines: the right part of memory's 128 bytes is taken.
static void small_lines_hold_their_part(void **state) {
  (void)state;
  for (uint64_t line = 32; line <= 128; line *= 2) {
    Front front;
    front_open(&front);
    front.spec.icache_line = line;
    put_moves(&front, 60);
    front.kernel.entry = 21;
    front_build(&front);
    first_arrival(&front);
    assert_memory_equal(&simt_buffer(&front.m, 0, 0)[0].word, &front.code[21], INSTR_BYTES);
    front_close(&front);
  }
}

static void flow_changes_drop_what_is_under_way(void **state) {
  (void)state;
  Front front;
  front_open(&front);
  put_moves(&front, 60);
  front_build(&front);
  fetch_only(&front, 5); // a miss is under way
  fetch_restart(&front.m, 0, 0, 40);
  fetch_only(&front, 300);
  assert_int_equal(simt_warp(&front.m, 0, 0)->buffered, 2);
  assert_int_equal(simt_buffer(&front.m, 0, 0)[0].pc, 40);
  assert_int_equal(misses_of(&front), 0);
  front_close(&front);
}

// Fetching beyond the code is no error; executing there is.
static void code_that_is_not_there_traps_at_issue(void **state) {
  (void)state;
  Front front;
  front_open(&front);
  front_put_branch(&front, PRED_TRUE, false, 3, NO_RECONVERGE);
  front_put(&front, OP_EXIT);
  front_put(&front, OP_EXIT);
  front_put_move(&front, 1, 7);
  front_encode(&front);
  front_build(&front);
  front_run(&front);
  assert_int_equal(front.m.at.core->trapped, TRAP_INVALID_PC);
  assert_int_equal(front.m.trap.pc, 4);
  assert_int_equal(front_stat(&front, STAT_WARP_INSTRUCTIONS), 2); // branch and move
  front_close(&front);
}

static Verdict damage_word(Hook *hook, HookMachine *machine, FetchEvent *event) {
  (void)machine;
  if (event->who->pc != 1) return VERDICT_PASS;
  if ((*(uint32_t *)hook->own)++ < 3) return VERDICT_STALL;
  event->word->high ^= 1; // the immediate
  return VERDICT_PASS;
}

static void hooks_see_words_and_may_delay_them(void **state) {
  (void)state;
  Front front;
  uint32_t asked = 0;
  Hook hook = {.name = "test", .kind = HOOK_FAULT, .own = &asked, .fetch = damage_word};
  front_open(&front);
  front_put_move(&front, 1, 4);
  front_put_move(&front, 2, 8);
  front_put(&front, OP_EXIT);
  front_encode(&front);
  front_build(&front);
  front_hook(&front, &hook);
  front_run(&front);
  assert_int_equal(front.m.at.core->trapped, TRAP_NONE);
  assert_int_equal(asked, 4);
  assert_int_equal(front.kept[1].lane[0], 4);
  assert_int_equal(front.kept[2].lane[0], 9);
  front_close(&front);
}

// A buffer of four with accesses of two: filled as long as it has room, or only when it is empty.
static void buffers_are_refilled_when_told(void **state) {
  (void)state;
  for (uint32_t refill = FRONT_REFILL_ROOM; refill <= FRONT_REFILL_EMPTY; refill++) {
    Front front;
    front_open(&front);
    front.spec.front_buffer = 4;
    front.spec.front_refill = refill;
    put_moves(&front, 10);
    front_build(&front);
    fetch_only(&front, 300);
    assert_int_equal(simt_warp(&front.m, 0, 0)->buffered, refill == FRONT_REFILL_EMPTY ? 2 : 4);
    front_run(&front);
    assert_int_equal(front_stat(&front, STAT_WARP_INSTRUCTIONS), 11);
    front_close(&front);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(cold_misses_go_to_memory),
      cmocka_unit_test(second_level_answers_the_other_sm),
      cmocka_unit_test(second_level_hit_takes_its_latency),
      cmocka_unit_test(windows_bound_an_access),
      cmocka_unit_test(small_instructions_fill_a_line),
      cmocka_unit_test(flips_reach_the_half_in_the_cells),
      cmocka_unit_test(warps_take_turns_and_share_a_miss),
      cmocka_unit_test(full_miss_registers_only_delay),
      cmocka_unit_test(small_lines_hold_their_part),
      cmocka_unit_test(flow_changes_drop_what_is_under_way),
      cmocka_unit_test(code_that_is_not_there_traps_at_issue),
      cmocka_unit_test(hooks_see_words_and_may_delay_them),
      cmocka_unit_test(buffers_are_refilled_when_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
