// libFuzzer target: any bytes through the whole front end, down to encoded instructions. What compiles must be valid.
#include "ptx/ptx.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Diags diags = {0};
  PtxSource source = {"fuzz.ptx", (const char *)data, size};
  MirOptions options = {.max_registers = size % 2 == 0 ? 0 : 16};
  Program *program = ptx_compile(&source, 1, &options, &diags);
  ASSERT((program != NULL) == (diags.count == 0));
  if (program != NULL) {
    ASSERT(program_validate(program, &diags));
    program_free(program);
  }
  diags_free(&diags);
  return 0;
}
