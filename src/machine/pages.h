// Large stretches of memory whose pages the kernel gives out when they are first touched.
#ifndef REDOUBT_MACHINE_PAGES_H
#define REDOUBT_MACHINE_PAGES_H

#include <stddef.h>
#include <stdint.h>

// Zeroes a stretch of private anonymous memory, whose start is that of a page. Pages that were never touched are zero already and stay untouched.
void pages_zero(uint8_t *at, size_t bytes);

#endif
