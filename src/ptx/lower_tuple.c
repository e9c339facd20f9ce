// Tuples: operands that are consecutive registers (matrix fragments, texture coordinates).
#include "ptx/lower.h"

void bind_tuples(Fn *fn) { (void)fn; }
