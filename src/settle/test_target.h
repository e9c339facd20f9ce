// For tests of campaigns: PTX text and host code as a target. Four buffers of words lie in device memory; kernels take their addresses.
#ifndef REDOUBT_TEST_TARGET_H
#define REDOUBT_TEST_TARGET_H

#include "campaign/campaign.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

enum { TEST_BUFFERS = 4 };

typedef struct TestProgram TestProgram;
struct TestProgram {
  const char *text;                   // PTX
  bool (*host)(TestProgram *program); // all launches
  uint32_t grid, block, words;        // words of each buffer
  uint32_t outputs;                   // a bit per buffer
  uint64_t seed;                      // of what the buffers hold at first
  bool cooperative;
  Device *device;
  Module *module;
  DeviceAddress buffers[TEST_BUFFERS];
};

static inline bool test_start(Target *target, const HookChain *hooks, Diags *diags) {
  TestProgram *own = target->own;
  DeviceOptions options = {.spec = target->spec, .hooks = hooks, .launcher = target->launcher};
  PtxSource source = {"test.ptx", own->text, strlen(own->text)};
  own->device = device_new(&options, diags);
  if (own->device == NULL) return false;
  own->module = device_load_ptx(own->device, &source, 1, diags);
  if (own->module == NULL) return false;
  for (uint32_t i = 0; i < TEST_BUFFERS; i++) {
    own->buffers[i] = device_alloc(own->device, own->words * 4);
    for (uint32_t word = 0; word < own->words; word++) {
      uint32_t value = i == 0 ? (uint32_t)random_draw(own->seed, word, 0) : 0; // the first holds the input
      if (!device_write(own->device, own->buffers[i] + 4 * word, &value, 4)) return false;
    }
  }
  return true;
}

// Each kernel takes three buffers.
static inline bool test_launch(TestProgram *own, const char *kernel, uint32_t first, uint32_t second, uint32_t third) {
  const void *arguments[] = {&own->buffers[first], &own->buffers[second], &own->buffers[third]};
  LaunchRequest request = {.module = own->module,
                           .kernel = kernel,
                           .grid = {own->grid, 1, 1},
                           .block = {own->block, 1, 1},
                           .arguments = arguments,
                           .argument_count = 3,
                           .cooperative = own->cooperative};
  return device_launch(own->device, &request);
}

static inline bool test_run(Target *target) {
  TestProgram *own = target->own;
  return own->host(own);
}

static inline bool test_check(Target *target) {
  (void)target;
  return false;
}

static inline void test_outputs(Target *target, TargetOutputs *outputs, Arena *arena) {
  TestProgram *own = target->own;
  outputs->count = 0;
  for (uint32_t i = 0; i < TEST_BUFFERS; i++) {
    if ((own->outputs >> i & 1) == 0) continue;
    TargetOutput *output = &outputs->items[outputs->count++];
    *output = (TargetOutput){"buffer", ELEMENT_U32, own->words, 0, arena_alloc(arena, own->words * 4), own->buffers[i], NULL};
    device_read(own->device, output->bytes, output->address, own->words * 4);
  }
}

static inline Device *test_device(Target *target) { return ((TestProgram *)target->own)->device; }

static inline void test_finish(Target *target) {
  TestProgram *own = target->own;
  if (own->device != NULL) device_free(own->device);
  own->device = NULL;
}

static inline Target test_target(TestProgram *program, const Spec *spec) {
  return (Target){.name = "test",
                  .arguments = "",
                  .spec = spec,
                  .own = program,
                  .start = test_start,
                  .run = test_run,
                  .check = test_check,
                  .outputs = test_outputs,
                  .device = test_device,
                  .finish = test_finish};
}

static inline void test_fail(const Diags *diags, const char *what) {
  Text text = {0};
  for (uint32_t i = 0; i < diags->count; i++) diag_format(&diags->items[i], &text);
  fail_msg("%s: %s", what, text.at == NULL ? "" : text.at);
}

#endif
