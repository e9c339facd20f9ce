// Everything that the bodies of float.def and convert.def are made of. See float_core.h first.
#ifndef REDOUBT_FLOAT_H
#define REDOUBT_FLOAT_H

#include "isa/approx.h"
#include "isa/float_convert.h"
#include "isa/float_core.h"
#include "isa/float_half.h"

#endif
