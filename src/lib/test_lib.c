// The library's interface as a caller sees it: what works, what is refused and what the error says.
#include "lib/redoubt.h"

#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static RedoubtError error;

static const char scale_ptx[] = ".version 6.0\n.target sm_60\n.address_size 64\n"
                                ".visible .entry _Z5scalePfj(.param .u64 data, .param .u32 n)\n{\n"
                                "  .reg .pred %p;\n  .reg .b32 %r<5>;\n  .reg .b64 %rd<4>;\n  .reg .f32 %f<3>;\n"
                                "  ld.param.u64 %rd1, [data];\n  ld.param.u32 %r1, [n];\n  mov.u32 %r2, %tid.x;\n"
                                "  setp.ge.u32 %p, %r2, %r1;\n  @%p ret;\n"
                                "  mul.wide.u32 %rd2, %r2, 4;\n  add.u64 %rd3, %rd1, %rd2;\n"
                                "  ld.global.f32 %f1, [%rd3];\n  add.f32 %f2, %f1, %f1;\n  st.global.f32 [%rd3], %f2;\n  ret;\n}\n";

static void expect_error(const char *part) {
  if (strstr(error.text, part) == NULL) fail_msg("the error is '%s', without '%s'", error.text, part);
}

static RedoubtMachine *open_machine(const char *name) {
  RedoubtMachine *machine = redoubt_machine_open(name, &error);
  if (machine == NULL) fail_msg("%s", error.text);
  return machine;
}

static RedoubtProgram *open_scale(const RedoubtMachine *machine, const float *data, uint32_t n) {
  RedoubtArgument arguments[] = {{.type = "f32", .name = "data", .data = data, .count = 40}, {.type = "u32", .data = &n}};
  RedoubtLaunch launch = {.size = sizeof launch, .kernel = "scale", .block = {64, 1, 1}, .arguments = arguments, .argument_count = 2};
  return redoubt_ptx_open(machine, "scale.ptx", scale_ptx, &launch, &error);
}

static void test_machines(void **state) {
  (void)state;
  assert_null(redoubt_machine_open("fermi-gtx48", &error));
  expect_error("fermi-gtx480");
  assert_null(redoubt_machine_open("fermi-gtx48", NULL));
  RedoubtMachine *machine = open_machine("fermi-gtx480");
  assert_false(redoubt_machine_set(machine, "sm.countt", "2", &error));
  expect_error("sm.count");
  assert_false(redoubt_machine_protect(machine, "secdedd:rf", &error));
  assert_true(error.text[0] != '\0');
  uint32_t before, after, i = 0;
  const RedoubtStructure *structures = redoubt_machine_structures(machine, &before, &error);
  while (i < before && strcmp(structures[i].name, "rf") != 0) i++;
  assert_true(i < before);
  assert_int_equal(structures[i].bits, 15728640);
  assert_true(structures[i].can_be_protected);
  assert_true(redoubt_machine_protect(machine, "secded:rf", &error));
  assert_string_equal(error.text, "");
  assert_non_null(redoubt_machine_structures(machine, &after, &error));
  assert_true(after > before); // the check bits can be struck, too
  redoubt_machine_close(machine);
  RedoubtMachine *functional = open_machine("functional");
  assert_null(redoubt_machine_structures(functional, &after, &error));
  expect_error("no structures");
  redoubt_machine_close(functional);
  redoubt_machine_close(NULL);
  assert_string_equal(redoubt_builtin_machine(0), "ampere-a100");
  assert_null(redoubt_builtin_workload(100000));
}

static void test_workloads(void **state) {
  (void)state;
  RedoubtMachine *machine = open_machine("functional");
  assert_null(redoubt_workload_open(machine, "vecad", "tiny", NULL, 1, &error));
  expect_error("vecadd");
  assert_null(redoubt_workload_open(machine, "vecadd", "huge", NULL, 1, &error));
  expect_error("tiny, small");
  assert_null(redoubt_workload_open(machine, "vecadd", "tiny", "m=3", 1, &error));
  assert_true(error.text[0] != '\0');
  RedoubtProgram *program = redoubt_workload_open(machine, "vecadd", "tiny", " n=100 ", 1, &error);
  assert_non_null(program);
  redoubt_machine_close(machine); // a program keeps what it needs
  RedoubtRun run;
  assert_int_equal(redoubt_output_count(program), 0);
  assert_true(redoubt_run(program, &run, &error));
  assert_true(run.passed && !run.trapped);
  assert_true(run.launches == 1 && run.thread_instructions > 100);
  RedoubtOutput output;
  assert_true(redoubt_output(program, 0, &output));
  assert_int_equal(output.count, 100);
  assert_false(redoubt_output(program, redoubt_output_count(program), &output));
  redoubt_program_close(program);
  redoubt_program_close(NULL);
}

static void test_ptx(void **state) {
  (void)state;
  float data[40];
  for (int i = 0; i < 40; i++) data[i] = (float)i;
  RedoubtMachine *machine = open_machine("functional");
  RedoubtProgram *program = open_scale(machine, data, 39);
  assert_non_null(program);
  data[1] = 100; // it was copied
  RedoubtRun run;
  RedoubtOutput output;
  for (int again = 0; again < 2; again++) { // every run begins with the same inputs
    assert_true(redoubt_run(program, &run, &error));
    assert_true(run.passed && redoubt_output(program, 0, &output));
    assert_string_equal(output.name, "data");
    assert_string_equal(output.type, "f32");
    const float *values = output.data;
    assert_true(values[0] == 0 && values[1] == 2 && values[38] == 76 && values[39] == 39);
  }
  redoubt_program_close(program);
  RedoubtLaunch launch = {.size = sizeof launch};
  assert_null(redoubt_ptx_open(machine, "scale.ptx", scale_ptx, &launch, &error));
  expect_error("takes 2 arguments, not 0");
  assert_null(redoubt_ptx_open(machine, "bad.ptx", "nonsense", &launch, &error));
  expect_error("bad.ptx:");
  launch.size = 0;
  assert_null(redoubt_ptx_open(machine, "scale.ptx", scale_ptx, &launch, &error));
  RedoubtArgument wrong[] = {{.type = "f32", .data = data, .count = 40}, {.type = "u64", .data = data}};
  launch = (RedoubtLaunch){.size = sizeof launch, .arguments = wrong, .argument_count = 2};
  assert_null(redoubt_ptx_open(machine, "scale.ptx", scale_ptx, &launch, &error));
  expect_error("8 bytes, but parameter 2");
  wrong[1].type = "f128";
  assert_null(redoubt_ptx_open(machine, "scale.ptx", scale_ptx, &launch, &error));
  expect_error("f128");
  redoubt_machine_close(machine);
}

// A program's violation is a result, not a failure of the call.
static void test_trap(void **state) {
  (void)state;
  RedoubtMachine *machine = open_machine("functional");
  assert_true(redoubt_machine_set(machine, "memory.granule", "1", &error));
  float data[40] = {0};
  RedoubtProgram *program = open_scale(machine, data, 64); // reads beyond the array
  assert_non_null(program);
  RedoubtRun run;
  assert_true(redoubt_run(program, &run, &error));
  assert_true(run.trapped && !run.passed);
  assert_non_null(strstr(run.note, "not allocated"));
  redoubt_program_close(program);
  redoubt_machine_close(machine);
}

static void test_inject(void **state) {
  (void)state;
  RedoubtMachine *machine = open_machine("fermi-gtx480");
  float data[40] = {0};
  for (int i = 0; i < 40; i++) data[i] = 1;
  RedoubtProgram *program = open_scale(machine, data, 40);
  RedoubtOutcome outcome;
  assert_false(redoubt_inject(program, "flip:rff[sm=0]@1", false, &outcome, &error));
  expect_error("rf");
  // Every load's result is struck on its way: an output of a unit that adds.
  assert_true(redoubt_inject(program, "stuck1:unit.sp[sm=0,sp=0,lane=3,bit=20]@0-", true, &outcome, &error));
  assert_string_equal(outcome.group, "sdc");
  assert_true(outcome.wrong_elements > 0 && outcome.fault_free_cycles > 0);
  assert_true(outcome.why[0] != '\0');
  assert_true(redoubt_inject(program, "flip:rf[sm=7,reg=900,lane=3,bit=20]@10", false, &outcome, &error));
  assert_string_equal(outcome.name, "masked");
  assert_string_equal(outcome.why, "");
  redoubt_program_close(program);
  redoubt_machine_close(machine);
}

// ---- Campaigns ---------------------------------------------------------------------------------------

static uint64_t told_total;
static bool tell(void *context, uint64_t done, uint64_t total) {
  told_total = total;
  return done == 0 || context == NULL;
}

static uint64_t count_group(RedoubtResults *results, const char *group) {
  RedoubtFault fault;
  uint64_t count = 0;
  while (redoubt_results_next(results, &fault, &error)) count += strcmp(fault.group, group) == 0;
  assert_string_equal(error.text, "");
  return count;
}

static void test_campaign(void **state) {
  (void)state;
  char folder[] = P_tmpdir "/redoubt-lib-XXXXXX", journal[64];
  assert_non_null(mkdtemp(folder));
  snprintf(journal, sizeof journal, "%s/a.db", folder);
  RedoubtMachine *machine = open_machine("fermi-gtx480");
  assert_true(redoubt_machine_set(machine, "sm.count", "1", &error)); // or few faults would hit what is in use
  RedoubtProgram *program = redoubt_workload_open(machine, "scalarprod", "tiny", NULL, 1, &error);
  RedoubtCampaign campaign = {.size = sizeof campaign, .journal = journal, .structures = "rf,unit.sp", .faults = 400, .seed = 1, .jobs = 2};
  campaign.progress = tell;
  campaign.context = "stops";
  assert_int_equal(redoubt_campaign(program, &campaign, &error), REDOUBT_STOPPED);
  RedoubtResults *results = redoubt_results_open(journal, &error);
  RedoubtShare share;
  assert_false(redoubt_results_complete(results));
  assert_false(redoubt_results_share(results, "rf", "sdc", 0.99, &share, &error));
  expect_error("unfinished");
  redoubt_results_close(results);
  campaign.context = NULL; // and is resumed
  assert_int_equal(redoubt_campaign(program, &campaign, &error), REDOUBT_COMPLETE);
  assert_int_equal(told_total, 400);
  results = redoubt_results_open(journal, &error);
  assert_true(redoubt_results_complete(results));
  assert_true(redoubt_results_share(results, "unit.sp", "masked", 0.95, &share, &error));
  assert_true(share.total == 200 && share.count < 200 && share.low < share.share && share.share < share.high);
  uint64_t masked = share.count;
  assert_true(redoubt_results_share(results, "rf", "masked", 0.95, &share, &error));
  assert_int_equal(count_group(results, "masked"), masked + share.count);
  assert_int_equal(count_group(results, "masked"), masked + share.count); // it begins again after the end
  assert_false(redoubt_results_share(results, NULL, "sdc", 0.95, &share, &error));
  expect_error("several structures");
  assert_false(redoubt_results_share(results, "l2", "sdc", 0.95, &share, &error));
  assert_false(redoubt_results_share(results, "rf", "nonsense", 0.95, &share, &error));
  redoubt_results_close(results);
  campaign.margin = 0.1;
  assert_int_equal(redoubt_campaign(program, &campaign, &error), REDOUBT_FAILED);
  expect_error("give one of them");
  campaign = (RedoubtCampaign){.size = sizeof campaign, .journal = journal, .structures = "shared", .faults = 10};
  assert_int_equal(redoubt_campaign(program, &campaign, &error), REDOUBT_FAILED); // another campaign's journal
  redoubt_program_close(program);
  redoubt_machine_close(machine);
  assert_null(redoubt_results_open("/nonexistent.db", &error));
  assert_true(error.text[0] != '\0');
  unlink(journal);
  char beside[80];
  snprintf(beside, sizeof beside, "%s-wal", journal), unlink(beside);
  snprintf(beside, sizeof beside, "%s-shm", journal), unlink(beside);
  assert_int_equal(rmdir(folder), 0);
}

// ---- What is refused ---------------------------------------------------------------------------------

// Every function with each of its pointers NULL: "machine" and so on is what the error names. NULL is fine where redoubt.h says so.
static void test_null(void **state) {
  (void)state;
  RedoubtMachine *machine = open_machine("functional");
  RedoubtProgram *program = redoubt_workload_open(machine, "vecadd", "tiny", NULL, 1, &error);
  RedoubtCampaign campaign = {.size = sizeof campaign, .journal = NULL}, none = {0};
  RedoubtLaunch launch = {.size = sizeof launch, .argument_count = 2}, unset = {0};
  RedoubtOutcome outcome;
  RedoubtRun run;
  uint32_t count;
#define REFUSED(call, named)                    \
  do {                                          \
    memset(&error, 'x', sizeof error.text - 1); \
    if (call) fail_msg("accepted: %s", #call);  \
    expect_error(named);                        \
  } while (0)
  REFUSED(redoubt_machine_open(NULL, &error), "name_or_file is NULL");
  REFUSED(redoubt_machine_set(NULL, "sm.count", "1", &error), "machine is NULL");
  REFUSED(redoubt_machine_set(machine, NULL, "1", &error), "key is NULL");
  REFUSED(redoubt_machine_set(machine, "sm.count", NULL, &error), "value is NULL");
  REFUSED(redoubt_machine_protect(NULL, "dmr", &error), "machine is NULL");
  REFUSED(redoubt_machine_protect(machine, NULL, &error), "scheme is NULL");
  REFUSED(redoubt_machine_structures(NULL, &count, &error), "machine is NULL");
  REFUSED(redoubt_machine_structures(machine, NULL, &error), "count is NULL");
  REFUSED(redoubt_workload_open(NULL, "vecadd", "tiny", NULL, 1, &error), "machine is NULL");
  REFUSED(redoubt_workload_open(machine, NULL, "tiny", NULL, 1, &error), "name is NULL");
  REFUSED(redoubt_workload_open(machine, "vecadd", NULL, NULL, 1, &error), "size is NULL");
  REFUSED(redoubt_ptx_open(NULL, "a.ptx", scale_ptx, &launch, &error), "machine is NULL");
  REFUSED(redoubt_ptx_open(machine, NULL, scale_ptx, &launch, &error), "name is NULL");
  REFUSED(redoubt_ptx_open(machine, "a.ptx", NULL, &launch, &error), "text is NULL");
  REFUSED(redoubt_ptx_open(machine, "a.ptx", scale_ptx, NULL, &error), "launch is NULL");
  REFUSED(redoubt_ptx_open(machine, "a.ptx", scale_ptx, &unset, &error), "size is not set");
  REFUSED(redoubt_ptx_open(machine, "a.ptx", scale_ptx, &launch, &error), "launch.arguments is NULL");
  REFUSED(redoubt_run(NULL, &run, &error), "program is NULL");
  REFUSED(redoubt_run(program, NULL, &error), "run is NULL");
  REFUSED(redoubt_inject(NULL, "flip:rf[reg=0]@0", false, &outcome, &error), "program is NULL");
  REFUSED(redoubt_inject(program, NULL, false, &outcome, &error), "fault is NULL");
  REFUSED(redoubt_inject(program, "flip:rf[reg=0]@0", false, NULL, &error), "outcome is NULL");
  REFUSED(redoubt_campaign(NULL, &campaign, &error) != REDOUBT_FAILED, "program is NULL");
  REFUSED(redoubt_campaign(program, NULL, &error) != REDOUBT_FAILED, "campaign is NULL");
  REFUSED(redoubt_campaign(program, &none, &error) != REDOUBT_FAILED, "must be set");
  REFUSED(redoubt_campaign(program, &campaign, &error) != REDOUBT_FAILED, "must be set");
  REFUSED(redoubt_results_open(NULL, &error), "journal is NULL");
  REFUSED(redoubt_results_next(NULL, &(RedoubtFault){0}, &error), "results is NULL");
  REFUSED(redoubt_results_share(NULL, "rf", "sdc", 0.9, &(RedoubtShare){0}, &error), "results is NULL");
  assert_false(redoubt_run(NULL, NULL, NULL)); // nobody wants to know why
  assert_int_equal(redoubt_output_count(NULL), 0);
  assert_false(redoubt_output(NULL, 0, &(RedoubtOutput){0}));
  assert_true(redoubt_run(program, &run, &error) && redoubt_output_count(program) > 0);
  assert_false(redoubt_output(program, 0, NULL));
  assert_false(redoubt_results_complete(NULL));
  redoubt_results_rewind(NULL);
  redoubt_results_close(NULL);
  redoubt_program_close(program);
  redoubt_machine_close(machine);
}

// Numbers that are not possible, in a struct: the campaign says what its numbers must be, wherever they come from.
static void test_numbers(void **state) {
  (void)state;
  RedoubtMachine *machine = open_machine("fermi-gtx480");
  RedoubtProgram *program = redoubt_workload_open(machine, "vecadd", "tiny", NULL, 1, &error);
  const RedoubtCampaign plain = {.size = sizeof plain, .journal = "/nonexistent/a.db"};
  RedoubtCampaign campaign = plain;
  REFUSED(redoubt_campaign(program, &campaign, &error) != REDOUBT_FAILED, "/nonexistent"); // the numbers are well
  for (uint32_t i = 0; i < 3; i++) {
    const double wrong[] = {-1, 2, NAN};
    campaign = plain;
    campaign.confidence = wrong[i];
    REFUSED(redoubt_campaign(program, &campaign, &error) != REDOUBT_FAILED, "must be a number between 0.5 and 1");
    campaign = plain;
    campaign.margin = wrong[i];
    REFUSED(redoubt_campaign(program, &campaign, &error) != REDOUBT_FAILED, "must be a number from 0.0001 to 0.5");
  }
  campaign = plain;
  campaign.faults = UINT64_MAX;
  REFUSED(redoubt_campaign(program, &campaign, &error) != REDOUBT_FAILED, "faults 18446744073709551615: must be 1 to 1000000000");
  campaign = plain;
  campaign.jobs = 100000;
  REFUSED(redoubt_campaign(program, &campaign, &error) != REDOUBT_FAILED, "jobs 100000: must be 1 to 256");
  const uint64_t sizes[] = {UINT64_MAX, UINT64_MAX / 4 + 2, (uint64_t)1 << 50}; // the second wraps to a few bytes
  for (uint32_t i = 0; i < 3; i++) {
    uint32_t n = 1;
    RedoubtArgument arguments[] = {{.type = "f32", .name = "data", .count = sizes[i]}, {.type = "u32", .data = &n}};
    RedoubtLaunch launch = {.size = sizeof launch, .arguments = arguments, .argument_count = 2};
    REFUSED(redoubt_ptx_open(machine, "a.ptx", scale_ptx, &launch, &error), "do not fit into the memory");
    launch.argument_count = UINT32_MAX; // of which there are two
    REFUSED(redoubt_ptx_open(machine, "a.ptx", scale_ptx, &launch, &error), "takes 2 arguments, not 4294967295");
  }
  redoubt_program_close(program);
  redoubt_machine_close(machine);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_machines), cmocka_unit_test(test_workloads), cmocka_unit_test(test_ptx),
                                     cmocka_unit_test(test_trap),     cmocka_unit_test(test_inject),    cmocka_unit_test(test_campaign),
                                     cmocka_unit_test(test_null),     cmocka_unit_test(test_numbers)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
