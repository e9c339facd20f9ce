// libFuzzer entry: any text is assembled or refused with diagnostics; what it gives, and the bytes themselves taken as
// words, decode, print, assemble to their canonical words and execute.
#include "sass/sass.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_word(uint32_t low, uint32_t high) {
  SassInstr instr, again;
  sass_decode(low, high, &instr);
  uint32_t canonical[2];
  sass_encode(&instr, &canonical[0], &canonical[1]);
  sass_decode(canonical[0], canonical[1], &again);
  ASSERT(again.action == instr.action && again.legal == instr.legal && again.bytes == instr.bytes);
  Text text = {0};
  sass_format(&instr, &text);
  Diags diags = {0};
  SassProgram *program = sass_assemble("fuzz", text.at, text.length, &diags);
  ASSERT(program != NULL && program->count == instr.bytes / 4u && memcmp(program->words, canonical, instr.bytes) == 0);
  sass_program_free(program);
  diags_free(&diags);
  text_free(&text);
  if (instr.action > SASS_DO_TO_FLAGS) return;
  SassLanes lanes = {.carry = low};
  for (unsigned i = 0; i < WARP_LANES; i++) lanes.a[i] = low + i, lanes.b[i] = high - i, lanes.c[i] = low ^ high;
  sass_execute(&instr, lane_functions(), &lanes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Diags diags = {0};
  SassProgram *program = sass_assemble("fuzz", (const char *)data, size, &diags);
  ASSERT((program == NULL) == (diags.count > 0));
  if (program != NULL) {
    Text listing = {0};
    sass_disassemble(program, &listing);
    text_free(&listing);
  }
  sass_program_free(program);
  sass_program_free(sass_read_hex("fuzz", (const char *)data, size, &diags));
  diags_free(&diags);
  for (size_t at = 0; at + 8 <= size && at < 256; at += 8) {
    uint32_t words[2];
    memcpy(words, data + at, sizeof words);
    try_word(words[0], words[1]);
  }
  return 0;
}
