// libFuzzer entry: any text is a fault or refused with a diagnostic; what was understood is written as a text that means the same, and
// strikes inside its structure.
#include "fault/fault.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const Region regions[] = {
    {.name = "rf",
     .title = "",
     .unit = "lane",
     .meaning = "",
     .dims = {{"sm", 2}, {"reg", 8}},
     .dim_count = 2,
     .flags = REGION_INJECTABLE,
     .rows = 16,
     .units = 32,
     .bits = 32,
     .row_bytes = 128,
     .unit_bytes = 4},
    {.name = "warp.pc",
     .title = "",
     .unit = "",
     .meaning = "",
     .dims = {{"sm", 2}, {"warp", 4}},
     .dim_count = 2,
     .flags = REGION_INJECTABLE,
     .rows = 8,
     .units = 1,
     .bits = 12,
     .row_bytes = 2,
     .unit_bytes = 2},
    {.name = "unit.sp",
     .title = "",
     .unit = "lane",
     .meaning = "",
     .dims = {{"sm", 2}, {"sp", 2}},
     .dim_count = 2,
     .flags = REGION_INJECTABLE | REGION_OUTPUT,
     .rows = 4,
     .units = 16,
     .bits = 32},
};
static const RegionTable table = {regions, COUNT_OF(regions), 4096};

static void try_fault(const Fault *fault, Diags *diags) {
  Text text = {0}, again = {0};
  fault_format(&table, fault, &text);
  Fault same;
  ASSERT(fault_parse(&table, text.at, &same, diags));
  fault_format(&table, &same, &again);
  ASSERT(strcmp(text.at, again.at) == 0);
  text_free(&text);
  text_free(&again);
  Site bits[FAULT_MAX_BITS];
  HookMachine machine = {.regions = &table, .warp_rows = 2};
  uint32_t count = fault_bits(&table, &machine, fault, bits);
  ASSERT(count <= FAULT_MAX_BITS);
  for (uint32_t i = 0; i < count; i++) {
    const Region *region = &regions[bits[i].region];
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
  bool good = fault_parse(&table, text, &fault, &diags);
  ASSERT(good == (diags.count == 0));
  if (good) try_fault(&fault, &diags);
  diags_free(&diags);
  return 0;
}
