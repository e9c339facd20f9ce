// Functions of the driver that are functions of the runtime under another name: a jump each, whatever their arguments. Variants for the
// default stream of a thread are the same, since work is done eagerly.
#if defined(__x86_64__)
#define JUMP "jmp "
#else
#define JUMP "b "
#endif

#define SAME(driver, runtime) \
  __asm__(".text\n.globl " #driver "\n.type " #driver ", %function\n" #driver ": " JUMP #runtime "\n.size " #driver ", . - " #driver "\n");
#include "cudart/driver_same.def"
#include "cudart/driver_streams.def"
#undef SAME
