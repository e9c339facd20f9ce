// The machines there are: for the table in machines.c and for those who make them.
#ifndef REDOUBT_MACHINES_H
#define REDOUBT_MACHINES_H

#include "machine/machine.h"

extern const MachineKind functional_machine; // functional/machine.c
extern const MachineKind simt_machine;       // simt/machine.c
extern const MachineKind g80_machine;        // g80/machine.c
extern const MachineKind fragment_machine;   // fragment/machine.c

#endif
