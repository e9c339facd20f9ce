// A workload's check must notice a single wrong word: for each declared output, words at several places are changed one at a time
// after the launches, and check() must fail for each and pass again when the word is put back.
#include "device/workload.h"

#include <inttypes.h>
#include <setjmp.h>
#include <cmocka.h>

enum { MOST_PLACES = 33, MOST_ELEMENT_BYTES = 8 };

static bool is_float(ElementType type) { return element_names[type][0] == 'f' || strcmp(element_names[type], "bf16") == 0; }

// One wrong bit. Of floats the highest bit of the exponent: what is left is far from what was there, whatever it was; low bits lie
// within the tolerances. Of all others the lowest and the highest bit in turn.
static uint32_t bit_to_flip(ElementType type, uint64_t place) {
  uint32_t bits = 8 * element_bytes(type);
  if (is_float(type)) return bits - 2;
  return place % 2 == 0 ? 0 : bits - 1;
}

static void flip_and_check(WorkloadRun *run, const Workload *workload, const WorkloadOutput *output, uint64_t index) {
  uint32_t bytes = element_bytes(output->type), bit = bit_to_flip(output->type, index);
  uint8_t word[MOST_ELEMENT_BYTES];
  DeviceAddress address = output->address + index * bytes;
  assert_true(device_read(run->device, word, address, bytes));
  word[bit / 8] ^= (uint8_t)(1u << bit % 8);
  assert_true(device_write(run->device, address, word, bytes));
  if (workload_check(run, workload))
    fail_msg("%s: bit %u of %s[%" PRIu64 "] is wrong and passes", workload->name, bit, output->name, index);
  word[bit / 8] ^= (uint8_t)(1u << bit % 8);
  assert_true(device_write(run->device, address, word, bytes));
}

// The first, the last, and places spread between.
static void flip_in(WorkloadRun *run, const Workload *workload, const WorkloadOutput *output) {
  assert_true(output->count > 0);
  uint64_t places = min_u64(output->count, MOST_PLACES);
  for (uint64_t i = 0; i < places; i++) { flip_and_check(run, workload, output, places == 1 ? 0 : i * (output->count - 1) / (places - 1)); }
  run->failure[0] = '\0';
  if (!workload_check(run, workload)) fail_msg("%s: fails with all words put back: %s", workload->name, run->failure);
}

static void wrong_words_are_noticed(void **state) {
  (void)state;
  for (uint32_t w = 0; w < workload_count; w++) {
    const Workload *workload = workloads[w];
    Diags diags = {0};
    Spec spec;
    spec_default(&spec);
    DeviceOptions options = {.spec = &spec};
    Device *device = device_new(&options, &diags);
    WorkloadRun run = {0};
    assert_true(workload_start(&run, workload, SIZE_TINY, device, &diags));
    if (!workload->prepare(&run) || !workload->launch(&run)) fail_msg("%s: %s", workload->name, device_error(device));
    if (!workload_check(&run, workload)) fail_msg("%s: %s", workload->name, run.failure);
    assert_true(run.output_count > 0);
    for (uint32_t i = 0; i < run.output_count; i++) flip_in(&run, workload, &run.outputs[i]);
    workload_finish(&run);
    device_free(device);
    diags_free(&diags);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(wrong_words_are_noticed)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
