// The block scheduler: where blocks go, when, what they find there, and when they end.
#include "machine/simt/test_front.h"

enum { SMS = 5 };

static void open_grid(Front *front, uint32_t policy, uint32_t blocks) {
  front_open(front);
  front->spec.sm_count = SMS;
  front->spec.sm_blocks = 2;
  front->spec.dispatch_policy = policy;
  front->launch.grid[0] = blocks;
  front_put(front, OP_EXIT);
  front_encode(front);
}

// SMs that the first blocks go to, one digit each; nothing else runs.
static void dispatch_all(Front *front, char *sms) {
  Simt *m = &front->m;
  for (uint32_t i = 0; i < 3 * SMS; i++, m->at.core->cycle++) {
    uint32_t before[SMS], count = 0;
    for (uint32_t sm = 0; sm < SMS; sm++) before[sm] = m->at.sms[sm].resident;
    bool sent = dispatch_cycle(m);
    for (uint32_t sm = 0; sm < SMS; sm++) {
      if (m->at.sms[sm].resident == before[sm]) continue;
      *sms++ = (char)('0' + sm);
      count++;
    }
    assert_int_equal(count, sent);
  }
  *sms = '\0';
}

static void check_policy(uint32_t policy, const char *expected) {
  Front front;
  char sms[4 * SMS];
  open_grid(&front, policy, 20);
  front_build(&front);
  dispatch_all(&front, sms);
  assert_string_equal(sms, expected);
  assert_int_equal(dispatch_next(&front.m), UINT64_MAX); // blocks are left, but no room
  assert_int_equal(front.m.at.core->next_block, 2 * SMS);
  front_close(&front);
}

static void policies_choose_sms(void **state) {
  (void)state;
  check_policy(0, "0123401234");
  check_policy(1, "0011223344");
  check_policy(2, "0022441133");
}

static void random_follows_the_seed(void **state) {
  (void)state;
  char sms[3][4 * SMS];
  for (uint32_t i = 0; i < 3; i++) {
    Front front;
    open_grid(&front, 3, 20);
    front.spec.dispatch_seed = i == 2 ? 7 : 3;
    front_build(&front);
    dispatch_all(&front, sms[i]);
    assert_int_equal(strlen(sms[i]), 2 * SMS); // every place is filled in the end
    front_close(&front);
  }
  assert_string_equal(sms[0], sms[1]);
  assert_string_not_equal(sms[0], sms[2]);
}

static void interval_passes_between_blocks(void **state) {
  (void)state;
  Front front;
  open_grid(&front, 0, 3);
  front.spec.dispatch_interval = 4;
  front_build(&front);
  Simt *m = &front.m;
  m->at.core->dispatch_at = 10;
  for (uint64_t cycle = 1; cycle < 30; cycle++) {
    m->at.core->cycle = cycle;
    assert_int_equal(dispatch_cycle(m), cycle == 10 || cycle == 14 || cycle == 18);
  }
  front_close(&front);
}

static Verdict refuse_sm(Hook *hook, HookMachine *machine, const BlockEvent *event) {
  (void)machine;
  return !event->done && event->who->sm == *(uint32_t *)hook->own ? VERDICT_STALL : VERDICT_PASS;
}

static void hooks_keep_blocks_from_an_sm(void **state) {
  (void)state;
  Front front;
  char sms[4 * SMS];
  uint32_t broken = 2;
  Hook hook = {.name = "test", .kind = HOOK_PROTECTION, .own = &broken, .block = refuse_sm};
  open_grid(&front, 0, 20);
  front_build(&front);
  front_hook(&front, &hook);
  dispatch_all(&front, sms);
  assert_string_equal(sms, "01340134");
  assert_int_equal(dispatch_next(&front.m), simt_now(&front.m)); // asked again every cycle
  front_close(&front);
}

static void blocks_find_their_place_clean(void **state) {
  (void)state;
  Front front;
  open_grid(&front, 1, 7);
  front.launch.grid[0] = 3, front.launch.grid[1] = 2;
  front.launch.block[0] = 40; // a warp of 32 threads and one of 8
  front_build(&front);
  Simt *m = &front.m;
  memset(m->at.registers, 0xFF, m->dims.register_rows * sizeof(RegisterRow));
  for (uint32_t i = 0; i < 5; i++, m->at.core->cycle++) assert_true(dispatch_cycle(m));
  const Block *block = &m->at.blocks[2 * m->dims.blocks + 0]; // number 4, on the third SM
  assert_int_equal(block->linear, 4);
  assert_int_equal(block->index[0], 1);
  assert_int_equal(block->index[1], 1);
  assert_int_equal(block->alive, 40);
  const SimtWarp *warp = simt_warp(m, 0, 3); // second warp of the first SM's second block
  assert_int_equal(warp->block_slot, 1);
  assert_int_equal(warp->index, 1);
  assert_int_equal(warp->warp.lanes, 0xFF);
  assert_int_equal(warp->warp.stack.alive, 0xFF);
  assert_int_equal(warp->register_base, 3 * FRONT_REGISTERS);
  for (uint32_t row = 0; row < 4 * FRONT_REGISTERS; row++) assert_int_equal(m->at.registers[row].lane[31], 0);
  assert_int_equal(m->at.registers[4 * FRONT_REGISTERS].lane[0], UINT32_MAX); // beyond the last warp
  assert_true(simt_warp(m, 0, 2)->age > simt_warp(m, 0, 1)->age);
  front_close(&front);
}

// A block that ends makes room for the next; what it leaves is zero.
static void blocks_end_and_others_follow(void **state) {
  (void)state;
  Front front;
  open_grid(&front, 0, 33);
  front_build(&front);
  front_run(&front);
  assert_int_equal(front.m.at.core->trapped, TRAP_NONE);
  assert_int_equal(front_stat(&front, STAT_BLOCKS), 33);
  assert_int_equal(front_stat(&front, STAT_WARPS), 33);
  assert_int_equal(front_stat(&front, STAT_WARP_INSTRUCTIONS), 33);
  assert_int_equal(front_stat(&front, STAT_THREAD_INSTRUCTIONS), 33 * 32);
  const uint8_t *warps = (const uint8_t *)front.m.at.warps, *entries = (const uint8_t *)front.m.at.entries;
  for (size_t i = 0; i < front.m.dims.warps * SMS * sizeof(SimtWarp); i++) assert_int_equal(warps[i], 0);
  for (size_t i = 0; i < (size_t)front.m.dims.warps * SMS * front.m.dims.stack * sizeof(SimtEntry); i++) assert_int_equal(entries[i], 0);
  assert_int_equal(front.m.at.core->resident, 0);
  front_close(&front);
}

// Threads have ended, but a result is still under way: the block stays until it is written.
static void blocks_wait_for_their_last_result(void **state) {
  (void)state;
  for (uint64_t latency = 20; latency <= 21; latency++) {
    Front front;
    front_open(&front);
    front.spec.latency_alu = latency;
    front_put_move(&front, 1, 5);
    front_put(&front, OP_EXIT);
    front_encode(&front);
    front_build(&front);
    uint64_t issued = front_next_issue(&front), end;
    while (!front_is_over(&front)) front_step(&front);
    end = simt_now(&front.m) - 1;
    assert_int_equal(end - issued, latency + 1); // collected one cycle after its issue, there `latency` later
    assert_int_equal(front.kept[1].lane[7], 5);
    front_close(&front);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(policies_choose_sms),
      cmocka_unit_test(random_follows_the_seed),
      cmocka_unit_test(interval_passes_between_blocks),
      cmocka_unit_test(hooks_keep_blocks_from_an_sm),
      cmocka_unit_test(blocks_find_their_place_clean),
      cmocka_unit_test(blocks_end_and_others_follow),
      cmocka_unit_test(blocks_wait_for_their_last_result),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
