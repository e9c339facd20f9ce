// Bodies of integer and logic rows that do not fit in an expression. Pure, total, free of
// undefined behaviour. Source: PTX ISA manual, "Integer Arithmetic Instructions", "Logic and Shift
// Instructions", "Extended-Precision Arithmetic Instructions".
#ifndef REDOUBT_ISA_INTEGER_H
#define REDOUBT_ISA_INTEGER_H

#include "isa/isa.h"

#endif
