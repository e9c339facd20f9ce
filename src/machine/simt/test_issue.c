// Issue: hazards, time between instructions, hooks, limits, reasons for idleness, large warps.
#include "machine/simt/facts.h"
#include "machine/simt/test_front.h"

// Cycles from the issue of the first instruction to that of the second, when both are in the buffer.
static uint64_t gap(Front *front) {
  front_encode(front);
  front_build(front);
  uint64_t first = front_next_issue(front);
  return front_next_issue(front) - first;
}

static void open_with_latency(Front *front, uint64_t latency) {
  front_open(front);
  front->spec.latency_alu = latency;
}

static void independent_instructions_follow_at_once(void **state) {
  (void)state;
  Front front;
  open_with_latency(&front, 10);
  front_put_move(&front, 1, 5);
  front_put_add(&front, 2, 3, 1);
  assert_int_equal(gap(&front), 1);
  front_close(&front);
}

// A result is there `latency` cycles after the operands were: one cycle for them.
static void readers_wait_for_the_result(void **state) {
  (void)state;
  for (uint64_t latency = 1; latency <= 12; latency++) {
    Front front;
    open_with_latency(&front, latency);
    front_put_move(&front, 1, 5);
    front_put_add(&front, 2, 1, 1);
    assert_int_equal(gap(&front), latency + 1);
    front_close(&front);
  }
}

static void writers_wait_for_the_earlier_writer(void **state) {
  (void)state;
  Front front;
  open_with_latency(&front, 8);
  front_put_move(&front, 1, 5);
  front_put_move(&front, 1, 6);
  front_put(&front, OP_EXIT);
  assert_int_equal(gap(&front), 9);
  front_run(&front);
  assert_int_equal(front.kept[1].lane[3], 6);
  front_close(&front);
}

static void guards_wait_for_their_predicate(void **state) {
  (void)state;
  Front front;
  open_with_latency(&front, 7);
  Instr *setp = front_put(&front, OP_SETP_EQ_B32);
  setp->pd[0] = 2, setp->a = 1, setp->select = SELECT_IMM_B, setp->imm = 0;
  front_put_move(&front, 3, 6)->guard = 2;
  assert_int_equal(gap(&front), 9); // a cycle for the comparison's register, one for its way to the unit
  front_close(&front);
}

// With one bank the three operands of the first take three cycles; the writer of the last of them must not be faster.
static void writers_do_not_overtake_readers(void **state) {
  (void)state;
  Front front;
  open_with_latency(&front, 1);
  front.spec.collector_banks = 1;
  front_put_move(&front, 1, 10);
  front_put_move(&front, 2, 20);
  front_put_move(&front, 3, 30);
  for (uint32_t i = 0; i < 6; i++) front_put(&front, OP_NOP); // everything is there before what follows
  Instr *mad = front_put(&front, OP_MAD_LO_B32);
  mad->d[0] = 4, mad->a = 1, mad->b = 2, mad->c = 3;
  front_put_move(&front, 3, 99);
  front_put(&front, OP_EXIT);
  front_encode(&front);
  front_build(&front);
  front_run(&front);
  assert_int_equal(front.kept[4].lane[0], 230);
  assert_int_equal(front.kept[3].lane[0], 99);
  front_close(&front);
}

static void branches_take_their_latency(void **state) {
  (void)state;
  for (uint64_t latency = 3; latency <= 9; latency += 3) {
    Front front;
    front_open(&front);
    front.spec.latency_branch = latency;
    front_put_branch(&front, PRED_TRUE, false, 2, NO_RECONVERGE);
    front_put(&front, OP_TRAP);
    front_put_move(&front, 1, 5);
    assert_int_equal(gap(&front), latency);
    front_close(&front);
  }
}

// After a jump the instruction comes from the cache, `latency` cycles after the access in the branch's own cycle.
static void instructions_issue_when_they_have_arrived(void **state) {
  (void)state;
  for (uint64_t latency = 1; latency <= 6; latency++) {
    Front front;
    front_open(&front);
    front.spec.latency_branch = 1;
    front.spec.icache_latency = latency;
    front_put_branch(&front, PRED_TRUE, false, 2, NO_RECONVERGE);
    front_put(&front, OP_TRAP);
    front_put_move(&front, 1, 5);
    assert_int_equal(gap(&front), latency);
    front_close(&front);
  }
}

static void each_scheduler_issues_one_of_its_own(void **state) {
  (void)state;
  Front front;
  front_open(&front);
  front.spec.sm_schedulers = 2;
  front.launch.block[0] = 128;
  for (uint32_t i = 0; i < 20; i++) front_put_move(&front, (uint8_t)(1 + i % 8), i);
  front_put(&front, OP_EXIT);
  front_encode(&front);
  front_build(&front);
  uint64_t most = 0, before = 0;
  while (!front_is_over(&front)) {
    uint64_t own[4];
    for (uint32_t i = 0; i < 4; i++) own[i] = simt_warp(&front.m, 0, i)->issued;
    front_step(&front);
    uint64_t issued = front_stat(&front, STAT_ISSUED) - before;
    before += issued;
    if (issued > most) most = issued;
    uint64_t by_scheduler[2] = {0, 0};
    for (uint32_t i = 0; i < 4; i++) {
      if (simt_warp(&front.m, 0, i)->issued > own[i]) by_scheduler[i % 2] += simt_warp(&front.m, 0, i)->issued - own[i];
    }
    assert_true(by_scheduler[0] <= 1 && by_scheduler[1] <= 1);
  }
  assert_int_equal(most, 2);
  assert_int_equal(before, 4 * 21);
  front_close(&front);
}

// Nobody's guard holds: the issue slot is taken, nothing else is.
static void empty_instructions_only_take_the_slot(void **state) {
  (void)state;
  Front front;
  open_with_latency(&front, 9);
  front_put_move(&front, 1, 5)->guard = 3; // predicates begin as false
  front_put_add(&front, 2, 1, 1);
  assert_int_equal(gap(&front), 1);
  assert_int_equal(front_stat(&front, STAT_WARP_INSTRUCTIONS), 2);
  assert_int_equal(front_stat(&front, STAT_THREAD_INSTRUCTIONS), 32);
  assert_int_equal(front_stat(&front, STAT_ACTIVE_0), 1);
  assert_int_equal(front_stat(&front, STAT_ACTIVE_32), 1);
  assert_int_equal(front.m.at.sms[0].collect_count, 1);
  front_close(&front);
}

// ---- Hooks -----------------------------------------------------------------------------------------

typedef struct Seen {
  uint32_t stalls, copies; // what to say
  uint32_t asked, results;
  uint64_t first_issue, result_issue[8];
  uint8_t copy[8];
  uint8_t lane_zero_on; // where thread 0 shall run
  uint8_t ran_on;
} Seen;

static Verdict on_issue(Hook *hook, HookMachine *machine, const IssueEvent *event) {
  Seen *seen = hook->own;
  (void)machine;
  if (event->who->pc != 0) return VERDICT_PASS;
  seen->asked++;
  seen->first_issue = event->who->issue;
  assert_int_equal(event->mask, UINT32_MAX);
  assert_int_equal(event->idle_lanes, 0);
  return seen->asked <= seen->stalls ? VERDICT_STALL : VERDICT_PASS;
}

static Verdict on_plan(Hook *hook, HookMachine *machine, PlanEvent *event) {
  (void)machine;
  if (event->who->pc == 0 && event->copy == 0) event->copies = (uint8_t)((Seen *)hook->own)->copies;
  return VERDICT_PASS;
}

static Verdict on_place(Hook *hook, HookMachine *machine, PlaceEvent *event) {
  uint32_t to = ((Seen *)hook->own)->lane_zero_on, warp = event->who->warp;
  (void)machine;
  if (event->who->pc != 0 || event->copy > 0) return VERDICT_PASS; // copies stay where the first was
  part_put(event->part, 0, warp, to, false);
  part_put(event->part, to, warp, 0, false);
  return VERDICT_PASS;
}

static Verdict on_result(Hook *hook, HookMachine *machine, ResultEvent *event) {
  Seen *seen = hook->own;
  (void)machine;
  if (event->who->pc != 0) return VERDICT_PASS;
  seen->result_issue[seen->results % 8] = event->who->issue;
  seen->copy[seen->results++ % 8] = event->copy;
  for (uint8_t slot = 0; slot < WARP_LANES; slot++) seen->ran_on = event->thread[slot] == 0 ? slot : seen->ran_on;
  return event->copy + 1 < event->copies ? VERDICT_HOLD : VERDICT_PASS;
}

static void hooks_stall_copy_and_move(void **state) {
  (void)state;
  for (uint32_t copies = 1; copies <= 3; copies++) {
    for (uint32_t stalls = 0; stalls <= 2; stalls++) {
      Front front;
      Seen seen = {.copies = copies, .stalls = stalls, .lane_zero_on = 5};
      Hook hook = {.name = "test",
                   .kind = HOOK_PROTECTION,
                   .own = &seen,
                   .issue = on_issue,
                   .plan = on_plan,
                   .place = on_place,
                   .result = on_result};
      front_open(&front);
      front_put_move(&front, 1, 5);
      front_put_move(&front, 2, 6);
      front_put(&front, OP_EXIT);
      front_encode(&front);
      front_build(&front);
      front_hook(&front, &hook);
      uint64_t first = front_next_issue(&front);
      for (uint32_t i = 1; i < copies; i++) {
        assert_int_equal(front_next_issue(&front), first + i); // the next issue slots of the warp
        assert_int_equal(front_stat(&front, STAT_WARP_INSTRUCTIONS), 1);
      }
      assert_int_equal(front_next_issue(&front), first + copies);
      assert_int_equal(front_stat(&front, STAT_WARP_INSTRUCTIONS), 2);
      front_run(&front);
      assert_int_equal(seen.asked, stalls + 1);
      assert_int_equal(seen.results, copies);
      assert_int_equal(seen.ran_on, 5);
      for (uint32_t i = 0; i < copies; i++) {
        assert_int_equal(seen.result_issue[i], seen.first_issue);
        assert_int_equal(seen.copy[i], i);
      }
      assert_int_equal(front_stat(&front, STAT_ISSUED), 2 + copies);
      assert_int_equal(front_stat(&front, STAT_COPIES), copies - 1);
      assert_int_equal(front.kept[1].lane[31], 5);
      front_close(&front);
    }
  }
}

// ---- Limits and reasons ----------------------------------------------------------------------------

static void limit_ends_the_launch(void **state) {
  (void)state;
  Front front;
  front_open(&front);
  front_put_branch(&front, PRED_TRUE, false, 0, NO_RECONVERGE);
  front_encode(&front);
  front.environment.instruction_limit = 100;
  front_build(&front);
  front_run(&front);
  assert_int_equal(front.m.at.core->trapped, TRAP_LIMIT);
  assert_int_equal(front_stat(&front, STAT_WARP_INSTRUCTIONS), 100);
  front_close(&front);
}

static void damaged_words_trap(void **state) {
  (void)state;
  Front front;
  front_open(&front);
  front_put_move(&front, 1, 5);
  front_put(&front, OP_EXIT);
  front_encode(&front);
  front_build(&front);
  while (simt_warp(&front.m, 0, 0)->buffered == 0) front_step(&front);
  simt_buffer(&front.m, 0, 0)[1].word.low |= 0xFFF; // no such row
  front_run(&front);
  assert_int_equal(front.m.at.core->trapped, TRAP_ILLEGAL_INSTRUCTION);
  assert_int_equal(front.m.trap.pc, 1);
  front_close(&front);
}

static void reasons_say_what_warps_wait_for(void **state) {
  (void)state;
  Front front;
  open_with_latency(&front, 30);
  front.spec.sm_count = 2;
  front_put_move(&front, 1, 5);
  front_put_add(&front, 2, 1, 1);
  front_put(&front, OP_EXIT);
  front_encode(&front);
  front_build(&front);
  front.m.at.wake_at[1] = 0; // looks, and has no block
  front_step(&front);
  front_step(&front);
  assert_int_equal(front.m.at.sms[0].idle_reason, IDLE_FETCH);
  assert_int_equal(front.m.at.sms[1].idle_reason, IDLE_EMPTY);
  front_next_issue(&front);
  assert_int_equal(front.m.at.sms[0].idle_reason, IDLE_NONE);
  for (uint32_t i = 0; i < 10; i++) assert_false(front_step(&front));
  assert_int_equal(front.m.at.sms[0].idle_reason, IDLE_PIPELINE);
  front_close(&front);
}

// An SM whose only warp waits for a line of code is not called until the line comes.
static void waiting_sms_sleep(void **state) {
  (void)state;
  Front front;
  front_open(&front);
  front.memory_latency = 500;
  front_put(&front, OP_EXIT);
  front_encode(&front);
  front_build(&front);
  uint32_t awake = 0;
  while (!front_is_over(&front)) {
    awake += front.m.at.wake_at[0] <= simt_now(&front.m);
    front_step(&front);
  }
  assert_true(simt_now(&front.m) > 500);
  assert_true(awake < 20);
  front_close(&front);
}

// ---- Large warps -----------------------------------------------------------------------------------

// Two warps take the two sides of a branch with complementary lanes: each side issues once for both.
static void run_divided(Front *front, uint32_t large_warp) {
  front_open(front);
  front->spec.scheduler_large_warp = large_warp;
  front->launch.block[0] = 64;
  Instr *lane = front_put(front, OP_S2R);
  lane->d[0] = 1, lane->imm = SREG_TID_X;
  Instr *half = front_put(front, OP_SHR_B32); // 0 in lanes 0..15 of warp 0, 1 in the others; 2 and 3 in warp 1
  half->d[0] = 2, half->a = 1, half->select = SELECT_IMM_B, half->imm = 4;
  Instr *part = front_put(front, OP_ADD_B32); // 1, 2, 3, 4: its second bit says who goes where
  part->d[0] = 2, part->a = 2, part->select = SELECT_IMM_B, part->imm = 1;
  Instr *bit = front_put(front, OP_AND_B32);
  bit->d[0] = 2, bit->a = 2, bit->select = SELECT_IMM_B, bit->imm = 2;
  Instr *setp = front_put(front, OP_SETP_NE_B32);
  setp->pd[0] = 0, setp->a = 2, setp->select = SELECT_IMM_B, setp->imm = 0;
  front_put_branch(front, 0, false, 11, 12);
  for (uint32_t i = 0; i < 4; i++) front_put_add(front, 3, 1, i + 100);
  front_put_branch(front, PRED_TRUE, false, 12, 12);
  front_put_add(front, 3, 1, 200);
  front_put(front, OP_EXIT);
  front_encode(front);
  front_build(front);
  front_run(front);
  assert_int_equal(front->m.at.core->trapped, TRAP_NONE);
  for (uint32_t thread = 0; thread < 64; thread++) {
    uint32_t expected = thread + ((((thread >> 4) + 1) & 2) != 0 ? 200 : 103);
    assert_int_equal(front->kept[thread / 32 * FRONT_REGISTERS + 3].lane[thread % 32], expected);
  }
}

static void large_warps_pack_complementary_lanes(void **state) {
  (void)state;
  Front apart, together;
  run_divided(&apart, 0);
  run_divided(&together, 2);
  assert_int_equal(front_stat(&apart, STAT_WARP_INSTRUCTIONS), front_stat(&together, STAT_WARP_INSTRUCTIONS));
  assert_int_equal(front_stat(&apart, STAT_THREAD_INSTRUCTIONS), front_stat(&together, STAT_THREAD_INSTRUCTIONS));
  assert_int_equal(front_stat(&apart, STAT_ACTIVE_16), 12);   // four adds and a branch, and one add, by two warps
  assert_int_equal(front_stat(&together, STAT_ACTIVE_16), 2); // only the branches, which are not packed
  assert_int_equal(front_stat(&together, STAT_ISSUED), front_stat(&apart, STAT_ISSUED) - 5);
  assert_int_equal(front_stat(&apart, STAT_INSTRUCTIONS_CONTROL), 6); // two branches and the exit, by two warps
  assert_int_equal(front_stat(&together, STAT_INSTRUCTIONS_CONTROL), 6);
  assert_int_equal(front_stat(&together, STAT_INSTRUCTIONS_ALU), front_stat(&together, STAT_WARP_INSTRUCTIONS) - 6);
  front_close(&apart);
  front_close(&together);
}

// ---- Warps that are known to be starved --------------------------------------------------------------

// A loop with a branch that some threads of every warp take: buffers run empty, flow changes, registers are waited for.
static void open_loop(Front *front, uint32_t policy) {
  front_open(front);
  front->spec.scheduler_policy = policy;
  front->spec.scheduler_active = 2;
  front->spec.sm_schedulers = 2;
  front->spec.latency_alu = 5;
  front->spec.front_decode = 1;
  front->spec.l2_bytes = 16384; // a small block
  front->launch.block[0] = 256;
  Instr *lane = front_put(front, OP_S2R);
  lane->d[0] = 1, lane->imm = SREG_LANEID;
  front_put_move(front, 2, 0);
  Instr *is_low = front_put(front, OP_SETP_LT_U32);
  is_low->pd[0] = 0, is_low->a = 1, is_low->select = SELECT_IMM_B, is_low->imm = 9;
  uint32_t start = front->program.code_count;
  front_put_add(front, 2, 2, 1);
  front_put_branch(front, 0, false, start + 4, start + 4);
  front_put_add(front, 3, 2, 7);
  front_put_add(front, 4, 1, 7);
  Instr *goes_on = front_put(front, OP_SETP_LT_U32);
  goes_on->pd[0] = 1, goes_on->a = 2, goes_on->select = SELECT_IMM_B, goes_on->imm = 12;
  front_put_branch(front, 1, false, start, start + 6);
  front_put(front, OP_EXIT);
  front_encode(front);
  front_build(front);
  facts_prepare(&front->m);
}

// A bit that is set says what the rest of the state says.
static void check_starved(const Front *front) {
  const Simt *m = &front->m;
  for (uint64_t left = m->at.starved[0]; left != 0; left &= left - 1) {
    uint32_t warp = (uint32_t)__builtin_ctzll(left);
    const SimtWarp *at = simt_warp(m, 0, warp);
    uint32_t level = at->warp.stack.depth - 1;
    assert_true((m->at.sms[0].present >> warp & 1) != 0 && (at->valid & 1) != 0 && level < m->dims.stack);
    const SimtEntry *top = &simt_entries(m, 0, warp)[level];
    assert_true(entry_is_ready(top) && top->mask != 0 && top->pc != top->reconverge);
    assert_true(at->buffered == 0 && at->fetch_pc == top->pc && at->has_rest == 0 && at->next_issue_at <= simt_now(m));
  }
}

// Flips a bit of what the front end decides by, as a fault does.
static void strike(Front *front, uint32_t number) {
  Simt *m = &front->m;
  uint32_t warp = number % m->dims.warps;
  SimtWarp *at = simt_warp(m, 0, warp);
  SimtEntry *entry = simt_entries(m, 0, warp);
  switch (number % 7) {
  case 0: entry->pc ^= 1; break;
  case 1: entry->mask ^= 2; break;
  case 2: entry->reconverge ^= 1; break;
  case 3: at->fetch_pc ^= 1; break;
  case 4: at->valid ^= 1; break;
  case 5: at->warp.stack.depth ^= 1; break;
  default: simt_scoreboard(m, 0, warp)->registers[0] ^= 4;
  }
  front_disturbed(m);
}

// Without the bits every warp is looked at: the state is the same in every cycle.
static void run_with_and_without(uint32_t policy, uint32_t faults) {
  Front with, without;
  uint64_t seen = 0;
  open_loop(&with, policy);
  open_loop(&without, policy);
  size_t bytes = (size_t)((uint8_t *)with.m.at.registers - with.m.block); // all of the front end
  for (uint32_t cycle = 0; cycle < 1000 && !front_is_over(&with); cycle++) {
    bool strikes = faults != 0 && cycle % 97 == faults;
    if (strikes) strike(&with, cycle / 97 + faults);
    if (strikes) strike(&without, cycle / 97 + faults);
    without.m.at.starved[0] = 0;
    front_step(&with);
    front_step(&without);
    check_starved(&with);
    seen |= with.m.at.starved[0];
    assert_memory_equal(with.m.block, without.m.block, bytes);
    assert_memory_equal(with.m.at.stats, without.m.at.stats, sizeof *with.m.at.stats);
  }
  assert_true(seen != 0);
  assert_memory_equal(with.m.at.registers, without.m.at.registers, sizeof(RegisterRow) * with.m.dims.register_rows);
  facts_free(&with.m);
  facts_free(&without.m);
  front_close(&with);
  front_close(&without);
}

static void starved_warps_need_not_be_looked_at(void **state) {
  (void)state;
  for (uint32_t policy = 0; policy < SCHEDULE_POLICIES; policy++) run_with_and_without(policy, 0);
}

static void nor_after_faults(void **state) {
  (void)state;
  for (uint32_t faults = 1; faults < 97; faults += 5) run_with_and_without(faults % 2 == 0 ? SCHEDULE_TWO_LEVEL : SCHEDULE_LRR, faults);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(independent_instructions_follow_at_once),
      cmocka_unit_test(readers_wait_for_the_result),
      cmocka_unit_test(writers_wait_for_the_earlier_writer),
      cmocka_unit_test(guards_wait_for_their_predicate),
      cmocka_unit_test(writers_do_not_overtake_readers),
      cmocka_unit_test(branches_take_their_latency),
      cmocka_unit_test(instructions_issue_when_they_have_arrived),
      cmocka_unit_test(each_scheduler_issues_one_of_its_own),
      cmocka_unit_test(empty_instructions_only_take_the_slot),
      cmocka_unit_test(hooks_stall_copy_and_move),
      cmocka_unit_test(limit_ends_the_launch),
      cmocka_unit_test(damaged_words_trap),
      cmocka_unit_test(reasons_say_what_warps_wait_for),
      cmocka_unit_test(waiting_sms_sleep),
      cmocka_unit_test(starved_warps_need_not_be_looked_at),
      cmocka_unit_test(nor_after_faults),
      cmocka_unit_test(large_warps_pack_complementary_lanes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
