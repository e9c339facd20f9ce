// libFuzzer entry: any 16 bytes decode to nothing or to an instruction that can be printed, asked for its
// operands and encoded back to the same bytes.
#include "isa/isa.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  for (size_t at = 0; at + sizeof(InstrWord) <= size; at += sizeof(InstrWord)) {
    InstrWord word;
    memcpy(&word, data + at, sizeof word);
    Instr instr;
    if (!instr_decode(word, &instr)) continue;
    Text text = {0};
    instr_format(&instr, &text);
    text_free(&text);
    OperandUse uses[MAX_OPERANDS];
    ASSERT(op_operands((Op)instr.op, instr.mods, (OperandSelect)instr.select, uses) <= MAX_OPERANDS);
    InstrWord again = instr_encode(&instr);
    ASSERT(again.low == word.low && again.high == word.high);
  }
  return 0;
}
