// libFuzzer entry: any text is a fault or refused with a diagnostic; what was understood is written as a text that means the same, and
// strikes inside its structure.
#include "fault/fault.h"
#include "fault/test_regions.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_fault(const Fault *fault, Diags *diags) {
  Text text = {0}, again = {0};
  fault_format(&toy_table, fault, &text);
  Fault same;
  ASSERT(fault_parse(&toy_table, text.at, &same, diags));
  fault_format(&toy_table, &same, &again);
  ASSERT(strcmp(text.at, again.at) == 0);
  text_free(&text);
  text_free(&again);
  Site bits[FAULT_MAX_BITS];
  HookMachine machine = {.regions = &toy_table, .warp_rows = 2};
  uint32_t count = fault_bits(&toy_table, &machine, fault, bits);
  ASSERT(count <= FAULT_MAX_BITS);
  for (uint32_t i = 0; i < count; i++) {
    const Region *region = &toy_regions[bits[i].region];
    ASSERT(bits[i].row < region->rows && bits[i].unit < region->units && bits[i].bit < region->bits);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char text[256];
  size_t length = size < sizeof text ? size : sizeof text - 1;
  memcpy(text, data, length);
  text[length] = '\0';
  if (strstr(text, "pattern") != NULL && strchr(text, '/') != NULL) return 0; // opens no files but of this folder
  Diags diags = {0};
  Fault fault;
  bool good = fault_parse(&toy_table, text, &fault, &diags);
  ASSERT(good == (diags.count == 0));
  if (good) try_fault(&fault, &diags);
  diags_free(&diags);
  return 0;
}
