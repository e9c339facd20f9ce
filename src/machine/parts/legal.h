// Whether a decoded instruction can be carried out at all. Programs hold only such; a damaged word may decode to another.
#ifndef REDOUBT_PARTS_LEGAL_H
#define REDOUBT_PARTS_LEGAL_H

#include "isa/isa.h"

// False: it names registers beyond the kernel's own, or an operand wider than a constant can be.
bool legal_for(const Instr *instr, uint32_t registers);

#endif
