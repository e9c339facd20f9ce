// libFuzzer entry: any text is parsed or refused with diagnostics; what it gives is carried out from states of any bits.
#include "shader/shader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void carry_out(const ShaderProgram *program, const ShaderState *state) {
  ShaderRead read;
  for (uint32_t i = 0; i < 1000; i++) {
    ShaderStep step = shader_step(program, state, &read);
    if (step == STEP_READS) shader_read(program, state, read.at);
    else if (step != STEP_ON) return;
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Diags diags = {0};
  ShaderProgram *program = shader_parse("fuzz", (const char *)data, size, &diags);
  ASSERT((program == NULL) == (diags.count > 0));
  diags_free(&diags);
  if (program == NULL) return 0;
  ShaderThread thread;
  ShaderVector temp[SHADER_TEMPS], input[SHADER_INPUTS];
  ShaderHalves half[SHADER_HALVES];
  static const ShaderVector constants[SHADER_MOST_CONSTANTS];
  ShaderState state = {&thread, temp, input, half, constants};
  shader_begin(&state);
  carry_out(program, &state);
  uint8_t *bytes = (uint8_t *)&thread; // no bool or enumeration is among its members
  for (size_t i = 0; i < sizeof thread; i++) bytes[i] = (uint8_t)(data[i % size] * (i + 1));
  thread.pc = (uint16_t)(thread.pc % (program->count + 1));
  carry_out(program, &state);
  shader_free(program);
  return 0;
}
