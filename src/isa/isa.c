// The tables of isa.h, made from the .def files.
#include "isa/isa.h"

const TypeInfo type_info[TYPE_COUNT] = {
#define TYPE(id, text, bits, registers) [TYPE_##id] = {text, bits, registers},
#include "isa/types.def"
#undef TYPE
};

const char *const space_text[SPACE_COUNT] = {
    [SPACE_NONE] = "",       [SPACE_GENERIC] = "generic", [SPACE_GLOBAL] = "global", [SPACE_SHARED] = "shared",
    [SPACE_LOCAL] = "local", [SPACE_CONST] = "const",     [SPACE_PARAM] = "param",
};

const OpInfo op_info[OP_COUNT] = {
#define OP(id, text, kind, unit, flags, d, a, b, c, meaning, body) MEM(id, text, kind, unit, flags, NONE, d, a, b, c, meaning, body)
#define MEM(id, text, kind, unit, flags, space, d, a, b, c, meaning, body) \
  [OP_##id] = {#id, text, meaning, KIND_##kind, UNIT_##unit, SPACE_##space, TYPE_##d, TYPE_##a, TYPE_##b, TYPE_##c, flags},
#include "isa/isa.def"
#undef OP
#undef MEM
};

const SregInfo sreg_info[SREG_COUNT] = {
#define SREG(id, text, meaning) [SREG_##id] = {text, meaning},
#include "isa/sreg.def"
#undef SREG
};

_Static_assert(OP_COUNT <= 1 << 12, "an operation number has 12 bits in the encoding");
