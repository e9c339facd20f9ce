// Order of additions. Floating-point additions to memory give other last digits in another order, and a fault may change that order without touching a value. Such a
// wrong output is no SDC: a run without faults gives it, too, if its additions come in the struck run's order.
//
// Recorded, on a machine with time, are the atomic additions of floats to global memory as they come to their memory partition: from there on the order of
// requests to a line stays. The run without faults is carried out on the functional machine. An addition whose result nobody takes is held back until
// its turn has come, element by element; that is allowed, since no thread can tell. Where somebody else uses the element meanwhile, where additions with results come in another
// order, or where not the same additions come (instruction of a warp by instruction, lane by lane), it cannot be carried out.
#ifndef REDOUBT_ORDER_H
#define REDOUBT_ORDER_H

#include "campaign/target.h"

bool program_adds_floats(const Program *program); // to memory, atomically
// Can it be carried out for the target, with these protections? With those that send out blocks again or mirror them nobody can say which additions count.
bool order_is_known(const Target *target, const HookChain *protections);

typedef struct OrderLog OrderLog;
OrderLog *order_log_new(Arena *arena);
Hook *order_log_hook(OrderLog *log); // an observer, from the first launch on
void order_log_free(OrderLog *log);  // what it holds; NULL: nothing
// A run without faults, its additions in this order, gives these outputs to the last bit. In a process of its own: the target's device stays as it is.
bool order_explains(const OrderLog *log, const Target *target, const TargetOutputs *got);

#endif
